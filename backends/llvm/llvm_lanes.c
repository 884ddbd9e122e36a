/* SPDX-License-Identifier: Apache-2.0 */
#include "llvm_lanes.h"

#include <string.h>

static enum status passes_run(const struct llvm_api *a, llvm_module m, llvm_machine machine,
                              const char *passes, struct error *err)
{
    llvm_passes options = a->CreatePassBuilderOptions();
    llvm_failure failure = a->RunPasses(m, passes, machine, options);
    a->DisposePassBuilderOptions(options);
    return failure ? llvm_error(err, a, STATUS_BUILD, failure, NULL, "LLVM's passes for lanes")
                   : STATUS_OK;
}

/* What clang says of the accesses in the loop's own text, of all of them, whatever function they
 * were inlined from: they belong to the group of accesses that the loop names as its own. */
static void accesses_join(const struct llvm_api *a, llvm_context context, llvm_value function)
{
    static const char name[] = "llvm.access.group";
    const unsigned kind = a->GetMDKindIDInContext(context, name, sizeof name - 1);
    llvm_value group = NULL;
    for (int set = 0; set < 2; set++)
        for (llvm_block b = a->GetFirstBasicBlock(function); b; b = a->GetNextBasicBlock(b))
            for (llvm_value i = a->GetFirstInstruction(b); i; i = a->GetNextInstruction(i)) {
                const unsigned opcode = a->GetInstructionOpcode(i);
                if (opcode != LLVM_LOAD && opcode != LLVM_STORE && opcode != LLVM_CALL)
                    continue;
                if (set && group)
                    a->SetMetadata(i, kind, group);
                else if (!group)
                    group = a->GetMetadata(i, kind);
            }
}

/* The first stack slot, NULL: none. */
static llvm_value slot_find(const struct llvm_api *a, llvm_value function)
{
    for (llvm_block b = a->GetFirstBasicBlock(function); b; b = a->GetNextBasicBlock(b))
        for (llvm_value i = a->GetFirstInstruction(b); i; i = a->GetNextInstruction(i))
            if (a->GetInstructionOpcode(i) == LLVM_ALLOCA)
                return i;
    return NULL;
}

/* As wide as the loops are: LLVM else keeps to 256 bits on most processors that have 512. */
static void width_allow(const struct llvm_api *a, llvm_context context, llvm_value function)
{
    static const char *const keys[] = {"prefer-vector-width", "min-legal-vector-width"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        a->AddAttributeAtIndex(
            function, (unsigned)LLVM_FUNCTION_INDEX,
            a->CreateStringAttribute(context, keys[i], (unsigned)strlen(keys[i]), "512", 3));
}

enum status llvm_lanes_prepare(const struct llvm_api *a, llvm_context context, llvm_module m,
                               llvm_machine machine, const char *const *names, struct error *err)
{
    /* The vectoriser takes branches, no switches, and no vectors, of which some stand for parts of
     * structures. */
    static const char simplest[] =
        "function(sroa,early-cse,simplifycfg,loop(loop-unroll-full),sroa,"
        "early-cse,simplifycfg,instcombine,%s,scalarizer,sroa,instcombine)";
    char passes[sizeof simplest + 16];
    snprintf(passes, sizeof passes, simplest, a->version > 15 ? "lower-switch" : "lowerswitch");
    /* ipsccp first: what the scene does not need would be much to inline */
    TRY(passes_run(a, m, machine, "ipsccp,globaldce,always-inline,globaldce", err));
    for (const char *const *n = names; *n; n++)
        accesses_join(a, context, a->GetNamedFunction(m, *n));
    TRY(passes_run(a, m, machine, passes, err));
    for (const char *const *n = names; *n; n++) {
        llvm_value function = a->GetNamedFunction(m, *n);
        if (slot_find(a, function))
            return error_msg(err, STATUS_BUILD,
                             "%s keeps memory of its own in each turn, so turns cannot go abreast",
                             *n);
        width_allow(a, context, function);
    }
    return STATUS_OK;
}
