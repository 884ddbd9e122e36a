/* SPDX-License-Identifier: Apache-2.0 */
#include "llvm_compile.h"

#include "llvm_lanes.h"
#include "llvm_spaces.h"

#include <stdlib.h>
#include <string.h>

struct compiling {
    const struct llvm_api *llvm;
    const struct llvm_machine_choice *choice;
    llvm_context context;
    llvm_module module;
    llvm_machine machine; /* NULL where there is no code generator */
    llvm_layout layout;   /* the machine's, else that of the first part */
    llvm_builder builder;
    llvm_value divide, root; /* functions, where the choice calls them */
    const char *name;        /* of the first function to keep */
    struct error *err;
    char diagnosis[400]; /* LLVM's first complaint of the code */
};

/* Without a handler LLVM would end the process over what a target cannot have. */
static void diagnosis_take(llvm_diagnosis d, void *ctx)
{
    struct compiling *c = ctx;
    if (c->llvm->GetDiagInfoSeverity(d) != LLVM_DIAGNOSIS_ERROR || c->diagnosis[0])
        return;
    char *text = c->llvm->GetDiagInfoDescription(d);
    snprintf(c->diagnosis, sizeof c->diagnosis, "%s", text);
    c->llvm->DisposeMessage(text);
}

struct llvm_machine_choice llvm_host_machine(const struct llvm_api *api)
{
    return (struct llvm_machine_choice){
        .architecture = LLVM_HOST_ARCHITECTURE,
        .triple = api->host_triple,
        .cpu = api->host_cpu,
        .features = api->host_features,
        .far = true,
    };
}

struct llvm_machine_choice llvm_nvptx_machine(const struct llvm_api *api, int arch)
{
    static const struct {
        int arch;
        const char *cpu, *ptx;
        unsigned since; /* version of LLVM */
    } known[] = {{90, "sm_90", "+ptx78", 16}, {86, "sm_86", "+ptx71", 0},
                 {80, "sm_80", "+ptx70", 0},  {75, "sm_75", "+ptx63", 0},
                 {70, "sm_70", "+ptx63", 0},  {60, "sm_60", "+ptx50", 0},
                 {50, "sm_50", "+ptx40", 0}};
    size_t i = 0;
    while (i + 1 < sizeof known / sizeof known[0] &&
           (known[i].arch > arch || known[i].since > api->version))
        i++;
    return (struct llvm_machine_choice){
        .architecture = "NVPTX",
        .triple = "nvptx64-nvidia-cuda",
        .cpu = known[i].cpu,
        .features = known[i].ptx,
        .makes = LLVM_MAKES_ASSEMBLY,
        .gpu = true,
    };
}

enum status llvm_amdgpu_machine(const struct llvm_api *api, const char *arch, uint32_t registers,
                                struct llvm_machine_choice *out, struct error *err)
{
    /* LLVM's User Guide for the AMDGPU back end, "Processors", of versions 15 and 19 */
    static const struct {
        const char *cpu;
        unsigned since;
    } known[] = {{"gfx900", 0},   {"gfx906", 0},   {"gfx908", 0},  {"gfx90a", 0},  {"gfx942", 17},
                 {"gfx1010", 0},  {"gfx1011", 0},  {"gfx1012", 0}, {"gfx1030", 0}, {"gfx1031", 0},
                 {"gfx1032", 0},  {"gfx1033", 0},  {"gfx1034", 0}, {"gfx1035", 0}, {"gfx1036", 0},
                 {"gfx1100", 0},  {"gfx1101", 0},  {"gfx1102", 0}, {"gfx1103", 0}, {"gfx1150", 17},
                 {"gfx1151", 17}, {"gfx1200", 18}, {"gfx1201", 18}};
    enum {
        FULL_GROUP_REGISTERS = 64, /* of a work-item in a work-group of 1024 (RDNA) */
        AMD_PRIVATE = 5            /* the same guide, "Address Spaces" */
    };
    size_t length = strcspn(arch, ":"), i = 0;
    while (i < sizeof known / sizeof known[0] &&
           (strlen(known[i].cpu) != length || strncmp(known[i].cpu, arch, length) != 0))
        i++;
    if (i == sizeof known / sizeof known[0] || known[i].since > api->version)
        return error_msg(err, STATUS_UNSUPPORTED, "LLVM %u does not know the architecture %.40s",
                         api->version, arch);
    *out = (struct llvm_machine_choice){
        .architecture = "AMDGPU",
        .triple = "amdgcn-amd-amdhsa",
        .cpu = known[i].cpu,
        /* LLVM would move arrays of work-items to LDS, times the 1024 that a group may have: the
         * whole 64 KiB on gfx1030, so that one group has a compute unit for itself. */
        .features = "-promote-alloca",
        .gpu = true,
        .private_space = AMD_PRIVATE,
    };
    if (!registers)
        return STATUS_OK;
    out->attributes[0].key = "amdgpu-num-vgpr";
    snprintf(out->attributes[0].value, sizeof out->attributes[0].value, "%u", registers);
    out->attributes[1].key = "amdgpu-flat-work-group-size";
    snprintf(out->attributes[1].value, sizeof out->attributes[1].value, "1,%d",
             registers > FULL_GROUP_REGISTERS ? 256 : 1024);
    return STATUS_OK;
}

struct llvm_machine_choice llvm_spir_machine(void)
{
    return (struct llvm_machine_choice){
        .triple = "spir64-unknown-unknown",
        .cpu = "spir64",
        .features = "",
        .makes = LLVM_MAKES_BITCODE,
        .call_convention = LLVM_CC_SPIR_FUNC,
    };
}

static enum status machine_open(struct compiling *c)
{
    const struct llvm_api *a = c->llvm;
    if (!c->choice->architecture)
        return STATUS_OK;
    llvm_target target;
    char *message = NULL;
    enum status s = llvm_target_ready(a, c->choice->architecture, c->err);
    if (s != STATUS_OK)
        return s;
    if (a->GetTargetFromTriple(c->choice->triple, &target, &message))
        return llvm_error(c->err, a, STATUS_UNSUPPORTED, NULL, message, c->choice->triple);
    c->machine = a->CreateTargetMachine(
        target, c->choice->triple, c->choice->cpu, c->choice->features, LLVM_OPTIMISE_MORE,
        c->choice->far ? LLVM_RELOCATE_FAR : LLVM_RELOCATE_PIC,
        c->choice->far ? LLVM_CODE_MODEL_FAR : LLVM_CODE_MODEL_DEFAULT);
    if (!c->machine)
        return error_msg(c->err, STATUS_UNSUPPORTED, "LLVM has no machine for %s",
                         c->choice->triple);
    c->layout = a->CreateTargetDataLayout(c->machine);
    return STATUS_OK;
}

/* clang wrote down for which processor it compiled; the machine found is what counts. */
static void functions_retarget(const struct compiling *c, llvm_module m)
{
    static const char *const names[] = {"target-cpu", "target-features", "tune-cpu",
                                        "min-legal-vector-width", "prefer-vector-width"};
    const struct llvm_api *a = c->llvm;
    for (llvm_value f = a->GetFirstFunction(m); f; f = a->GetNextFunction(f))
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            a->RemoveStringAttributeAtIndex(f, (unsigned)LLVM_FUNCTION_INDEX, names[i],
                                            (unsigned)strlen(names[i]));
}

/* ---- what a part does not say --------------------------------------------------------------- */

typedef void (*instruction_visitor)(const struct compiling *c, llvm_value function, llvm_value i);

static void instructions_visit(const struct compiling *c, llvm_module m, instruction_visitor visit)
{
    const struct llvm_api *a = c->llvm;
    for (llvm_value f = a->GetFirstFunction(m); f; f = a->GetNextFunction(f))
        for (llvm_block b = a->GetFirstBasicBlock(f); b; b = a->GetNextBasicBlock(b))
            for (llvm_value i = a->GetFirstInstruction(b), next; i; i = next) {
                next = a->GetNextInstruction(i);
                visit(c, f, i);
            }
}

/* Text has its stack slots where pointers that name no memory point; some targets have memory of
 * its own for them. */
static void slot_place(const struct compiling *c, llvm_value function, llvm_value i)
{
    const struct llvm_api *a = c->llvm;
    (void)function;
    if (a->GetInstructionOpcode(i) != LLVM_ALLOCA || a->GetPointerAddressSpace(a->TypeOf(i)) != 0)
        return;
    a->PositionBuilderBefore(c->builder, i);
    llvm_value slot = a->BuildAlloca(c->builder, a->GetAllocatedType(i), "");
    a->SetAlignment(slot, a->GetAlignment(i));
    a->ReplaceAllUsesWith(i, a->BuildCast(c->builder, LLVM_ADDRSPACE_CAST, slot, a->TypeOf(i), ""));
    a->InstructionEraseFromParent(i);
}

static bool has_own_convention(const struct llvm_api *a, llvm_value function)
{
    return a->GetFunctionCallConv(function) != LLVM_CC_C || a->GetIntrinsicID(function) != 0;
}

static void call_adapt(const struct compiling *c, llvm_value function, llvm_value i)
{
    const struct llvm_api *a = c->llvm;
    (void)function;
    if (a->GetInstructionOpcode(i) != LLVM_CALL || a->GetInstructionCallConv(i) != LLVM_CC_C)
        return;
    llvm_value called = a->IsAFunction(a->GetCalledValue(i));
    if (called && a->GetIntrinsicID(called) == 0)
        a->SetInstructionCallConv(i, c->choice->call_convention);
}

static void part_adapt(const struct compiling *c, llvm_module m)
{
    const struct llvm_api *a = c->llvm;
    if (c->choice->private_space)
        instructions_visit(c, m, slot_place);
    if (!c->choice->call_convention)
        return;
    instructions_visit(c, m, call_adapt);
    for (llvm_value f = a->GetFirstFunction(m); f; f = a->GetNextFunction(f))
        if (!has_own_convention(a, f))
            a->SetFunctionCallConv(f, c->choice->call_convention);
}

/* OpenCL's tables are seen outside their part, and each part has its own copy of those that both
 * include. (Elsewhere tables are static: what is seen there, a part gives to the others.) */
static void tables_hide(const struct compiling *c, llvm_module m)
{
    const struct llvm_api *a = c->llvm;
    if (c->choice->makes != LLVM_MAKES_BITCODE)
        return;
    for (llvm_value g = a->GetFirstGlobal(m); g; g = a->GetNextGlobal(g))
        if (a->GetLinkage(g) == LLVM_EXTERNAL_LINKAGE && a->IsGlobalConstant(g) &&
            a->GetInitializer(g))
            a->SetLinkage(g, LLVM_INTERNAL_LINKAGE);
}

/* ---- the stages ----------------------------------------------------------------------------- */

static enum status module_verify(const struct compiling *c, llvm_module m, const char *what)
{
    char *message = NULL;
    if (c->llvm->VerifyModule(m, LLVM_RETURN_STATUS, &message))
        return llvm_error(c->err, c->llvm, STATUS_BUILD, NULL, message, what);
    c->llvm->DisposeMessage(message);
    return STATUS_OK;
}

static bool name_listed(const char *const *names, const char *name)
{
    for (; *names; names++)
        if (strcmp(*names, name) == 0)
            return true;
    return false;
}

/* A function's body is read when something that is linked calls it: of a library of a thousand
 * functions a shader calls ten. */
static enum status library_open(struct compiling *c, const struct llvm_part *part,
                                const char *const *keep, llvm_buffer buffer, llvm_module *out)
{
    const struct llvm_api *a = c->llvm;
    if (a->GetBitcodeModuleInContext2(c->context, buffer, out)) {
        *out = NULL;
        return error_msg(c->err, STATUS_BUILD, "%s: %s", part->name, c->diagnosis);
    }
    for (llvm_value f = a->GetFirstFunction(*out); f; f = a->GetNextFunction(f)) {
        size_t length;
        if (!a->IsDeclaration(f) && a->GetLinkage(f) == LLVM_EXTERNAL_LINKAGE &&
            !name_listed(keep, a->GetValueName2(f, &length)))
            a->SetLinkage(f, LLVM_LINK_ONCE_LINKAGE);
    }
    return STATUS_OK;
}

static enum status part_parse(struct compiling *c, const struct llvm_part *part, llvm_buffer buffer,
                              llvm_module *out)
{
    const struct llvm_api *a = c->llvm;
    char *message = NULL;
    if (a->ParseIRInContext(c->context, buffer, out, &message)) {
        *out = NULL;
        return llvm_error(c->err, a, STATUS_BUILD, NULL, message, part->name);
    }
    enum status s = module_verify(c, *out, part->name);
    if (s != STATUS_OK) {
        a->DisposeModule(*out);
        *out = NULL;
    }
    return s;
}

/* Adapting looks at each instruction, for which all bodies have to be there. */
static bool is_opened(const struct compiling *c, const struct llvm_part *part)
{
    return part->library && !c->choice->private_space && !c->choice->call_convention;
}

static enum status part_read(struct compiling *c, const struct llvm_part *part,
                             const char *const *keep, llvm_module *out)
{
    const struct llvm_api *a = c->llvm;
    llvm_buffer buffer =
        a->CreateMemoryBufferWithMemoryRangeCopy(part->data, part->size, part->name);
    const bool opened = is_opened(c, part);
    TRY(opened ? library_open(c, part, keep, buffer, out) : part_parse(c, part, buffer, out));
    if (!c->layout)
        c->layout = a->CreateTargetData(a->GetDataLayoutStr(*out));
    a->SetTarget(*out, c->choice->triple);
    a->SetModuleDataLayout(*out, c->layout);
    functions_retarget(c, *out);
    if (opened)
        return STATUS_OK;
    part_adapt(c, *out);
    tables_hide(c, *out);
    return STATUS_OK;
}

/* The first part takes in the others; libraries come last, when it is known what is called. */
static enum status parts_link(struct compiling *c, const struct llvm_part *parts, size_t count,
                              const char *const *keep)
{
    for (int libraries = 0; libraries < 2; libraries++)
        for (size_t i = 0; i < count; i++) {
            llvm_module m;
            if (is_opened(c, &parts[i]) != (libraries == 1))
                continue;
            TRY(part_read(c, &parts[i], keep, &m));
            if (!c->module)
                c->module = m;
            else if (c->llvm->LinkModules2(c->module, m)) /* which frees it in any case */
                return error_msg(c->err, STATUS_BUILD, "%s does not link with the rest%s%s",
                                 parts[i].name, c->diagnosis[0] ? ": " : "", c->diagnosis);
        }
    return STATUS_OK;
}

static void attributes_add(const struct compiling *c, llvm_value function)
{
    for (size_t i = 0; i < sizeof c->choice->attributes / sizeof c->choice->attributes[0]; i++) {
        const char *key = c->choice->attributes[i].key, *value = c->choice->attributes[i].value;
        if (key)
            c->llvm->AddAttributeAtIndex(
                function, (unsigned)LLVM_FUNCTION_INDEX,
                c->llvm->CreateStringAttribute(c->context, key, (unsigned)strlen(key), value,
                                               (unsigned)strlen(value)));
    }
}

/* How floats are computed is said of functions too, and code that is written as text does not say
 * it: it is computed as what is kept is. A function that inlines one that says less says less from
 * then on: NVIDIA's kernel would lose its approximate divisions and roots, and its contraction. */
static void arithmetic_agree(const struct compiling *c)
{
    static const char *const keys[] = {"unsafe-fp-math",          "approx-func-fp-math",
                                       "no-signed-zeros-fp-math", "no-trapping-math",
                                       "denormal-fp-math",        "denormal-fp-math-f32"};
    const struct llvm_api *a = c->llvm;
    const unsigned at = (unsigned)LLVM_FUNCTION_INDEX;
    llvm_value from = a->GetNamedFunction(c->module, c->name);
    for (llvm_value f = a->GetFirstFunction(c->module); from && f; f = a->GetNextFunction(f))
        for (size_t i = 0; i < sizeof keys / sizeof keys[0] && a->GetFirstBasicBlock(f); i++) {
            const unsigned length = (unsigned)strlen(keys[i]);
            llvm_attribute said = a->GetStringAttributeAtIndex(from, at, keys[i], length);
            if (said && !a->GetStringAttributeAtIndex(f, at, keys[i], length))
                a->AddAttributeAtIndex(f, at, said);
        }
}

/* What nobody outside calls may be inlined and dropped. */
static void functions_hide(const struct compiling *c, const char *const *keep)
{
    const struct llvm_api *a = c->llvm;
    for (llvm_value f = a->GetFirstFunction(c->module); f; f = a->GetNextFunction(f)) {
        size_t length;
        if (!a->GetFirstBasicBlock(f))
            continue;
        if (name_listed(keep, a->GetValueName2(f, &length)))
            attributes_add(c, f);
        else
            a->SetLinkage(f, LLVM_INTERNAL_LINKAGE);
    }
}

static void module_dump(const struct compiling *c, const char *stage)
{
    const char *folder = getenv("ISOPHOTE_LLVM_DUMP");
    if (!folder || !*folder)
        return;
    char path[1024];
    snprintf(path, sizeof path, "%s/%s-%s-%s.ll", folder, c->choice->cpu, c->name, stage);
    char *text = c->llvm->PrintModuleToString(c->module);
    struct error err;
    if (file_write(path, text, strlen(text), &err) != STATUS_OK)
        fprintf(stderr, "llvm: %s\n", err.msg);
    c->llvm->DisposeMessage(text);
}

static enum status module_optimise(const struct compiling *c)
{
    const struct llvm_api *a = c->llvm;
    /* ipsccp: what the kernel is told becomes constants, so that what this program does not need is
     * gone before anything is spent on it. NVIDIA's assembler optimises again, and drivers SPIR-V:
     * what O3 adds to O1 is in the machine code either way (docs/contributor/llvm.md). */
    static const char *const made[] = {
        [LLVM_MAKES_OBJECT] = "ipsccp,globaldce,default<O3>",
        [LLVM_MAKES_ASSEMBLY] = "ipsccp,globaldce,default<O1>",
        [LLVM_MAKES_BITCODE] = "ipsccp,globaldce",
    };
    /* Each once, where O3 has most of them five to eight times. Functions are made small before they
     * are inlined, since their size decides whether they are. */
    static const char few[] =
        "ipsccp,globaldce,function(sroa,early-cse,simplifycfg),cgscc(inline),globaldce,"
        "function(sroa,early-cse<memssa>,simplifycfg,instcombine,loop-mssa(loop-rotate,licm),"
        "loop(indvars,loop-deletion,loop-unroll-full),sroa,gvn,instcombine,dse,adce,simplifycfg)";
    const char *passes = c->choice->optimised ? few : made[c->choice->makes];
    llvm_passes options = a->CreatePassBuilderOptions();
    llvm_failure failure = a->RunPasses(c->module, passes, c->machine, options);
    a->DisposePassBuilderOptions(options);
    return failure ? llvm_error(c->err, a, STATUS_BUILD, failure, NULL, "LLVM's optimiser")
                   : STATUS_OK;
}

static bool is_root(const struct llvm_api *a, llvm_value i)
{
    static const char name[] = "llvm.sqrt.f32";
    size_t length;
    llvm_value called = a->IsAFunction(a->GetCalledValue(i));
    const char *is = called ? a->GetValueName2(called, &length) : "";
    return strcmp(is, name) == 0;
}

static void arithmetic_call(const struct compiling *c, llvm_value function, llvm_value i)
{
    const struct llvm_api *a = c->llvm;
    const unsigned opcode = a->GetInstructionOpcode(i);
    (void)function;
    if (a->GetTypeKind(a->TypeOf(i)) != LLVM_TYPE_FLOAT)
        return;
    llvm_value called = opcode == LLVM_FDIV                    ? c->divide
                        : opcode == LLVM_CALL && is_root(a, i) ? c->root
                                                               : NULL;
    if (!called)
        return;
    const unsigned count = a->CountParams(called);
    llvm_value arguments[2] = {a->GetOperand(i, 0), a->GetOperand(i, 1)};
    a->PositionBuilderBefore(c->builder, i);
    a->ReplaceAllUsesWith(
        i, a->BuildCall2(c->builder, a->GlobalGetValueType(called), called, arguments, count, ""));
    a->InstructionEraseFromParent(i);
}

/* Gives `function` its block and opens it. */
static void body_open(const struct compiling *c, llvm_value function)
{
    const struct llvm_api *a = c->llvm;
    a->SetLinkage(function, LLVM_INTERNAL_LINKAGE);
    a->PositionBuilderAtEnd(c->builder, a->AppendBasicBlockInContext(c->context, function, ""));
}

/* After the optimiser, which would inline them. */
static void arithmetic_calls(struct compiling *c)
{
    const struct llvm_api *a = c->llvm;
    llvm_type f = a->FloatTypeInContext(c->context), two[] = {f, f};
    c->divide = a->AddFunction(c->module, "k_divide", a->FunctionType(f, two, 2, 0));
    c->root = a->AddFunction(c->module, "k_root", a->FunctionType(f, two, 1, 0));
    instructions_visit(c, c->module, arithmetic_call);
    body_open(c, c->divide);
    a->BuildRet(c->builder,
                a->BuildFDiv(c->builder, a->GetParam(c->divide, 0), a->GetParam(c->divide, 1), ""));
    body_open(c, c->root);
    llvm_value x = a->GetParam(c->root, 0),
               sqrt = a->GetIntrinsicDeclaration(
                   c->module, a->LookupIntrinsicID("llvm.sqrt", strlen("llvm.sqrt")), &f, 1);
    a->BuildRet(c->builder,
                a->BuildCall2(c->builder, a->GlobalGetValueType(sqrt), sqrt, &x, 1, ""));
}

static enum status module_emit(const struct compiling *c, char **out, size_t *size)
{
    const struct llvm_api *a = c->llvm;
    llvm_buffer buffer = NULL;
    char *message = NULL;
    unsigned kind = c->choice->makes == LLVM_MAKES_ASSEMBLY ? LLVM_ASSEMBLY_FILE : LLVM_OBJECT_FILE;
    if (c->choice->makes == LLVM_MAKES_BITCODE)
        buffer = a->WriteBitcodeToMemoryBuffer(c->module);
    else if (a->TargetMachineEmitToMemoryBuffer(c->machine, c->module, kind, &message, &buffer))
        return llvm_error(c->err, a, STATUS_BUILD, NULL, message, "LLVM's code generator");
    if (c->diagnosis[0]) {
        a->DisposeMemoryBuffer(buffer);
        return error_msg(c->err, STATUS_BUILD, "LLVM's code generator: %s", c->diagnosis);
    }
    *size = a->GetBufferSize(buffer);
    *out = malloc(*size + 1); /* text ends with a NUL */
    if (*out) {
        memcpy(*out, a->GetBufferStart(buffer), *size);
        (*out)[*size] = '\0';
    }
    a->DisposeMemoryBuffer(buffer);
    return *out ? STATUS_OK
                : error_msg(c->err, STATUS_MEMORY, "out of memory for a compiled kernel");
}

enum status llvm_compile(const struct llvm_api *api, const struct llvm_machine_choice *machine,
                         const struct llvm_part *parts, size_t count, const char *const *keep,
                         char **out, size_t *size, struct error *err)
{
    struct compiling c = {.llvm = api, .choice = machine, .err = err, .name = keep[0]};
    *out = NULL;
    c.context = llvm_context_open(api);
    c.builder = api->CreateBuilderInContext(c.context);
    api->ContextSetDiagnosticHandler(c.context, diagnosis_take, &c);
    enum status s = machine_open(&c);
    if (s == STATUS_OK)
        s = parts_link(&c, parts, count, keep);
    if (s == STATUS_OK) {
        module_dump(&c, "1-linked");
        arithmetic_agree(&c);
        functions_hide(&c, keep);
        s = module_verify(&c, c.module, "the linked module");
    }
    if (s == STATUS_OK && machine->lanes)
        s = llvm_lanes_prepare(api, c.context, c.module, c.machine, keep, err);
    if (s == STATUS_OK)
        s = module_optimise(&c);
    if (s == STATUS_OK && machine->gpu)
        llvm_spaces_tell(api, c.context, c.module);
    if (s == STATUS_OK && machine->calls_arithmetic)
        arithmetic_calls(&c);
    if (s == STATUS_OK) {
        module_dump(&c, "2-optimised");
        s = module_emit(&c, out, size);
    }
    api->DisposeBuilder(c.builder);
    if (c.module)
        api->DisposeModule(c.module);
    if (c.layout)
        api->DisposeTargetData(c.layout);
    if (c.machine)
        api->DisposeTargetMachine(c.machine);
    api->ContextDispose(c.context);
    return s;
}
