/* SPDX-License-Identifier: Apache-2.0 */
/* A module of some device's becomes one of this machine's: calling conventions, by-value structs,
 * work-group variables, and for each kernel an entry that C can call. */
#include "soft.h"

#include <stdlib.h>
#include <string.h>

llvm_value runtime_function(struct making *m, const char *name, llvm_type result,
                            llvm_type *parameters, unsigned count)
{
    llvm_value f = m->llvm->GetNamedFunction(m->module, name);
    if (f)
        return f;
    return m->llvm->AddFunction(m->module, name,
                                m->llvm->FunctionType(result, parameters, count, 0));
}

llvm_value call_build(struct making *m, llvm_value function, llvm_value *arguments, unsigned count)
{
    return m->llvm->BuildCall2(m->builder, m->llvm->GlobalGetValueType(function), function,
                               arguments, count, "");
}

/* ---- functions ------------------------------------------------------------------------------ */

static bool name_listed(const char *const *names, const char *name)
{
    for (; names && *names; names++)
        if (strcmp(*names, name) == 0)
            return true;
    return false;
}

/* !nvvm.annotations = {function, "kernel", 1}, ... */
static bool annotated(const struct making *m, llvm_value function)
{
    const struct llvm_api *a = m->llvm;
    enum { NODES_MAX = 256, OPERANDS_MAX = 16 };
    llvm_value nodes[NODES_MAX], operands[OPERANDS_MAX];
    unsigned count = a->GetNamedMetadataNumOperands(m->module, "nvvm.annotations");
    if (count == 0 || count > NODES_MAX)
        return false;
    a->GetNamedMetadataOperands(m->module, "nvvm.annotations", nodes);
    for (unsigned i = 0; i < count; i++) {
        unsigned n = a->GetMDNodeNumOperands(nodes[i]), length = 0;
        if (n < 3 || n > OPERANDS_MAX)
            continue;
        a->GetMDNodeOperands(nodes[i], operands);
        if (operands[0] != function)
            continue;
        for (unsigned k = 1; k + 1 < n; k += 2) {
            const char *word = operands[k] ? a->GetMDString(operands[k], &length) : NULL;
            if (word && length == 6 && memcmp(word, "kernel", 6) == 0)
                return true;
        }
    }
    return false;
}

static bool is_kernel(const struct making *m, llvm_value f, const char *const *kernels)
{
    unsigned cc = m->llvm->GetFunctionCallConv(f);
    size_t length;
    return cc == LLVM_CC_SPIR_KERNEL || cc == LLVM_CC_AMDGPU_KERNEL || cc == LLVM_CC_PTX_KERNEL ||
           name_listed(kernels, m->llvm->GetValueName2(f, &length)) || annotated(m, f);
}

/* optnone would leave -O0's code as it is; the others promise what checked code does not keep. */
static const char *const dropped_attributes[] = {
    "optnone", "noinline", "convergent", "readnone",     "readonly",   "writeonly", "argmemonly",
    "nofree",  "nosync",   "nounwind",   "speculatable", "willreturn", "norecurse",
};
enum { DROPPED_COUNT = sizeof dropped_attributes / sizeof dropped_attributes[0] };
static unsigned attribute_kind(const struct making *m, const char *name)
{
    return m->llvm->GetEnumAttributeKindForName(name, strlen(name));
}

/* What another target's code generator was told means nothing here. */
static void attributes_clear(const struct making *m, llvm_value f)
{
    static const char *const texts[] = {"target-cpu", "target-features", "tune-cpu",
                                        "frame-pointer", "uniform-work-group-size"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        m->llvm->RemoveStringAttributeAtIndex(f, (unsigned)LLVM_FUNCTION_INDEX, texts[i],
                                              (unsigned)strlen(texts[i]));
    for (size_t i = 0; i < DROPPED_COUNT; i++)
        m->llvm->RemoveEnumAttributeAtIndex(f, (unsigned)LLVM_FUNCTION_INDEX,
                                            attribute_kind(m, dropped_attributes[i]));
}

enum status instructions_visit(struct making *m, llvm_value function, visitor visit)
{
    const struct llvm_api *a = m->llvm;
    for (llvm_block b = a->GetFirstBasicBlock(function); b; b = a->GetNextBasicBlock(b))
        for (llvm_value i = a->GetFirstInstruction(b), next; i; i = next) {
            next = a->GetNextInstruction(i);
            enum status s = visit(m, function, i);
            if (s != STATUS_OK)
                return s;
        }
    return STATUS_OK;
}

static unsigned byval_kind(const struct making *m) { return attribute_kind(m, "byval"); }

static enum status call_plain(struct making *m, llvm_value function, llvm_value i)
{
    (void)function;
    const struct llvm_api *a = m->llvm;
    if (a->GetInstructionOpcode(i) != LLVM_CALL)
        return STATUS_OK;
    llvm_value callee = a->GetCalledValue(i);
    if (!a->IsAFunction(callee))
        return error_msg(m->err, STATUS_BUILD,
                         "%s calls a pointer; only functions can be called here",
                         a->GetValueName2(function, &(size_t){0}));
    if (a->GetIntrinsicID(callee) != 0)
        return STATUS_OK;
    a->SetInstructionCallConv(i, LLVM_CC_C);
    /* `tail` promises that the callee reads no private memory of the caller: of a by-value struct
     * that held for the copy which the call made, and parameter_copy has the callee make it. */
    a->SetTailCall(i, 0);
    for (unsigned k = 1; k <= (unsigned)a->GetNumOperands(i) - 1; k++)
        a->RemoveCallSiteEnumAttribute(i, k, byval_kind(m));
    for (size_t k = 0; k < DROPPED_COUNT; k++)
        a->RemoveCallSiteEnumAttribute(i, (unsigned)LLVM_FUNCTION_INDEX,
                                       attribute_kind(m, dropped_attributes[k]));
    return STATUS_OK;
}

/* A by-value struct: the callee makes the copy, so that it is an object of the callee's own. */
static void parameter_copy(struct making *m, llvm_value f, unsigned index)
{
    const struct llvm_api *a = m->llvm;
    llvm_attribute attribute = a->GetEnumAttributeAtIndex(f, index + 1, byval_kind(m));
    if (!attribute)
        return;
    llvm_type type = a->GetTypeAttributeValue(attribute);
    llvm_value parameter = a->GetParam(f, index);
    a->RemoveEnumAttributeAtIndex(f, index + 1, byval_kind(m));
    if (!a->GetFirstUse(parameter))
        return;
    a->PositionBuilderBefore(m->builder, a->GetFirstInstruction(a->GetEntryBasicBlock(f)));
    llvm_value copy = a->BuildAlloca(m->builder, type, "copy");
    llvm_value flat = copy;
    if (a->TypeOf(copy) != a->TypeOf(parameter))
        flat = a->BuildCast(m->builder, LLVM_ADDRSPACE_CAST, copy, a->TypeOf(parameter), "");
    a->ReplaceAllUsesWith(parameter, flat);
    unsigned id = a->LookupIntrinsicID("llvm.memcpy", 11);
    llvm_type types[] = {a->TypeOf(copy), a->TypeOf(parameter), m->i64};
    llvm_value memcpy_function = a->GetIntrinsicDeclaration(m->module, id, types, 3);
    llvm_value arguments[] = {copy, parameter,
                              a->ConstInt(m->i64, a->ABISizeOfType(m->layout, type), 0),
                              a->ConstInt(a->Int1TypeInContext(m->context), 0, 0)};
    call_build(m, memcpy_function, arguments, 4);
}

/* ---- work-group variables ------------------------------------------------------------------- */

struct local {
    llvm_value global;
    size_t offset;
};
enum { LOCALS_MAX = 256, LOCAL_SPACE = 3 };
static _Thread_local struct {
    struct local at[LOCALS_MAX];
    size_t count;
} locals; /* of the module in the making */

static enum status locals_place(struct making *m)
{
    const struct llvm_api *a = m->llvm;
    size_t top = 0;
    locals.count = 0;
    for (int dynamic = 0; dynamic < 2; dynamic++) /* extern arrays come last, at one place */
        for (llvm_value g = a->GetFirstGlobal(m->module); g; g = a->GetNextGlobal(g)) {
            if (a->GetPointerAddressSpace(a->TypeOf(g)) != LOCAL_SPACE ||
                (a->IsDeclaration(g) != 0) != dynamic)
                continue;
            if (locals.count == LOCALS_MAX)
                return error_msg(m->err, STATUS_BUILD, "more than %d work-group variables",
                                 LOCALS_MAX);
            llvm_type type = a->GlobalGetValueType(g);
            size_t align = a->GetAlignment(g);
            align = align < 16 ? 16 : align;
            size_t at = (top + align - 1) & ~(align - 1);
            locals.at[locals.count].global = g;
            locals.at[locals.count++].offset = at;
            if (!dynamic)
                top = at + (size_t)a->ABISizeOfType(m->layout, type);
        }
    m->out->local_bytes = (top + 15) & ~(size_t)15;
    if (top > SOFT_LOCAL_MAX)
        return error_msg(m->err, STATUS_BUILD, "work-group variables of %zu bytes; %d is the most",
                         top, SOFT_LOCAL_MAX);
    return STATUS_OK;
}

static const struct local *local_find(llvm_value v)
{
    for (size_t i = 0; i < locals.count; i++)
        if (locals.at[i].global == v)
            return &locals.at[i];
    return NULL;
}

static bool mentions_local(const struct making *m, llvm_value v)
{
    if (local_find(v))
        return true;
    if (!m->llvm->IsAConstantExpr(v))
        return false;
    for (int i = 0; i < m->llvm->GetNumOperands(v); i++)
        if (mentions_local(m, m->llvm->GetOperand(v, (unsigned)i)))
            return true;
    return false;
}

/* A constant that holds a work-group variable's address, as instructions at the builder's place;
 * NULL for a form that is not known. */
static llvm_value local_expand(struct making *m, llvm_value v)
{
    const struct llvm_api *a = m->llvm;
    const struct local *local = local_find(v);
    if (local) {
        llvm_value f = runtime_function(m, "soft_local", m->pointer, (llvm_type[]){m->i64}, 1);
        llvm_value offset = a->ConstInt(m->i64, local->offset, 0);
        return a->BuildCast(m->builder, LLVM_ADDRSPACE_CAST, call_build(m, f, &offset, 1),
                            a->TypeOf(v), "");
    }
    if (!mentions_local(m, v))
        return v;
    enum { OPERANDS_MAX = 32 };
    llvm_value operands[OPERANDS_MAX];
    int n = a->GetNumOperands(v);
    if (n < 1 || n > OPERANDS_MAX)
        return NULL;
    for (int i = 0; i < n; i++) {
        operands[i] = local_expand(m, a->GetOperand(v, (unsigned)i));
        if (!operands[i])
            return NULL;
    }
    unsigned opcode = a->GetConstOpcode(v);
    if (opcode == LLVM_GEP)
        return a->BuildGEP2(m->builder, a->GetGEPSourceElementType(v), operands[0], operands + 1,
                            (unsigned)n - 1, "");
    if (n == 1)
        return a->BuildCast(m->builder, (int)opcode, operands[0], a->TypeOf(v), "");
    return NULL;
}

static enum status locals_replace(struct making *m, llvm_value function, llvm_value i)
{
    const struct llvm_api *a = m->llvm;
    bool phi = a->GetInstructionOpcode(i) == LLVM_PHI;
    for (int k = 0; k < a->GetNumOperands(i); k++) {
        llvm_value operand = a->GetOperand(i, (unsigned)k);
        if (!a->IsAConstant(operand) || !mentions_local(m, operand))
            continue;
        a->PositionBuilderBefore(
            m->builder, phi ? a->GetBasicBlockTerminator(a->GetIncomingBlock(i, (unsigned)k)) : i);
        llvm_value expanded = local_expand(m, operand);
        if (!expanded)
            return error_msg(m->err, STATUS_BUILD,
                             "%s uses a work-group variable in a constant of unknown form",
                             a->GetValueName2(function, &(size_t){0}));
        a->SetOperand(i, (unsigned)k, expanded);
    }
    return STATUS_OK;
}

/* ---- kernels -------------------------------------------------------------------------------- */

static struct soft_argument argument_describe(const struct making *m, llvm_value f, unsigned index)
{
    const struct llvm_api *a = m->llvm;
    llvm_type type = a->TypeOf(a->GetParam(f, index));
    struct soft_argument out = {.kind = SOFT_VALUE};
    llvm_attribute byval = a->GetEnumAttributeAtIndex(f, index + 1, byval_kind(m));
    if (byval)
        type = a->GetTypeAttributeValue(byval);
    else if (a->GetTypeKind(type) == LLVM_TYPE_POINTER)
        out.kind = a->GetPointerAddressSpace(type) == LOCAL_SPACE ? SOFT_LOCAL : SOFT_GLOBAL;
    out.size = (size_t)a->ABISizeOfType(m->layout, type);
    out.align = a->ABIAlignmentOfType(m->layout, type);
    return out;
}

static enum status kernel_describe(struct making *m, llvm_value f, struct soft_kernel *out)
{
    unsigned count = m->llvm->CountParams(f);
    size_t length;
    struct soft_argument *arguments = ARENA_ARRAY(&m->out->arena, struct soft_argument, count);
    const char *name = arena_strdup(&m->out->arena, m->llvm->GetValueName2(f, &length));
    if (!arguments || !name)
        return error_msg(m->err, STATUS_MEMORY, "out of memory for a kernel");
    for (unsigned i = 0; i < count; i++)
        arguments[i] = argument_describe(m, f, i);
    *out = (struct soft_kernel){.name = name, .arguments = arguments, .argument_count = count};
    return STATUS_OK;
}

enum status kernel_entry_write(struct making *m, const struct soft_kernel *k)
{
    const struct llvm_api *a = m->llvm;
    char name[512];
    snprintf(name, sizeof name, "%s.entry", k->name);
    llvm_value kernel = a->GetNamedFunction(m->module, k->name);
    llvm_value f = runtime_function(m, name, m->void_type, (llvm_type[]){m->pointer}, 1);
    llvm_value *values = calloc(k->argument_count + 1, sizeof(llvm_value));
    if (!values)
        return error_msg(m->err, STATUS_MEMORY, "out of memory for a kernel");
    a->PositionBuilderAtEnd(m->builder, a->AppendBasicBlockInContext(m->context, f, ""));
    for (unsigned i = 0; i < k->argument_count; i++) {
        llvm_value index = a->ConstInt(m->i64, i, 0);
        llvm_value slot = a->BuildGEP2(m->builder, m->pointer, a->GetParam(f, 0), &index, 1, "");
        llvm_value at = a->BuildLoad2(m->builder, m->pointer, slot, "");
        llvm_type type = a->TypeOf(a->GetParam(kernel, i));
        bool by_address = k->arguments[i].kind == SOFT_VALUE &&
                          a->GetTypeKind(type) == LLVM_TYPE_POINTER; /* was byval */
        values[i] = by_address ? a->TypeOf(at) == type
                                     ? at
                                     : a->BuildCast(m->builder, LLVM_ADDRSPACE_CAST, at, type, "")
                               : a->BuildLoad2(m->builder, type, at, "");
    }
    call_build(m, kernel, values, (unsigned)k->argument_count);
    a->BuildRetVoid(m->builder);
    a->SetLinkage(kernel, LLVM_INTERNAL_LINKAGE);
    free(values);
    return STATUS_OK;
}

/* Functions looked at so far; those in it do not reach the barrier, or are being looked at. */
struct walk {
    llvm_value *seen;
    size_t count, capacity;
};

static bool walk_enter(struct walk *w, llvm_value f)
{
    for (size_t i = 0; i < w->count; i++)
        if (w->seen[i] == f)
            return false;
    if (w->count == w->capacity) {
        size_t capacity = w->capacity ? 2 * w->capacity : 64;
        llvm_value *seen = realloc(w->seen, capacity * sizeof(llvm_value));
        if (!seen)
            return false;
        w->seen = seen;
        w->capacity = capacity;
    }
    w->seen[w->count++] = f;
    return true;
}

static bool reaches_barrier(const struct making *m, llvm_value f, llvm_value barrier,
                            struct walk *w)
{
    const struct llvm_api *a = m->llvm;
    if (f == barrier)
        return true;
    if (!walk_enter(w, f))
        return false;
    for (llvm_block b = a->GetFirstBasicBlock(f); b; b = a->GetNextBasicBlock(b))
        for (llvm_value i = a->GetFirstInstruction(b); i; i = a->GetNextInstruction(i))
            if (a->GetInstructionOpcode(i) == LLVM_CALL &&
                reaches_barrier(m, a->GetCalledValue(i), barrier, w))
                return true;
    return false;
}

/* ---- variables ------------------------------------------------------------------------------ */

/* Module-scope variables get names that can be looked up, so that their bounds are known. */
static enum status variables_name(struct making *m)
{
    const struct llvm_api *a = m->llvm;
    size_t count = 0, length;
    for (llvm_value g = a->GetFirstGlobal(m->module); g; g = a->GetNextGlobal(g))
        count++;
    m->out->variables = ARENA_ARRAY(&m->out->arena, struct variable, count);
    if (!m->out->variables)
        return error_msg(m->err, STATUS_MEMORY, "out of memory for variables");
    for (llvm_value g = a->GetFirstGlobal(m->module); g; g = a->GetNextGlobal(g)) {
        const char *name = a->GetValueName2(g, &length);
        if (local_find(g) || strncmp(name, "llvm.", 5) == 0)
            continue;
        if (a->IsDeclaration(g))
            return error_msg(m->err, STATUS_BUILD, "the variable %s is nowhere defined", name);
        char own[32];
        if (length == 0) {
            snprintf(own, sizeof own, "soft.variable.%zu", m->out->variable_count);
            a->SetValueName2(g, own, strlen(own));
        }
        a->SetLinkage(g, LLVM_EXTERNAL_LINKAGE);
        struct variable *v = &m->out->variables[m->out->variable_count++];
        v->name = arena_strdup(&m->out->arena, a->GetValueName2(g, &length));
        v->size = (size_t)a->ABISizeOfType(m->layout, a->GlobalGetValueType(g));
        v->constant = a->IsGlobalConstant(g) != 0;
        if (!v->name)
            return error_msg(m->err, STATUS_MEMORY, "out of memory for variables");
    }
    return STATUS_OK;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static enum status kernels_find(struct making *m, const char *const *kernels)
{
    const struct llvm_api *a = m->llvm;
    size_t count = 0;
    for (llvm_value f = a->GetFirstFunction(m->module); f; f = a->GetNextFunction(f))
        count += !a->IsDeclaration(f) && is_kernel(m, f, kernels);
    m->out->kernels = ARENA_ARRAY(&m->out->arena, struct soft_kernel, count);
    m->out->entries = ARENA_ARRAY(&m->out->arena, kernel_entry, count);
    if (!m->out->kernels || !m->out->entries)
        return error_msg(m->err, STATUS_MEMORY, "out of memory for kernels");
    for (llvm_value f = a->GetFirstFunction(m->module); f; f = a->GetNextFunction(f)) {
        if (a->IsDeclaration(f) || !is_kernel(m, f, kernels))
            continue;
        enum status s = kernel_describe(m, f, &m->out->kernels[m->out->kernel_count]);
        if (s != STATUS_OK)
            return s;
        m->out->kernel_count++;
    }
    if (m->out->kernel_count == 0)
        return error_msg(m->err, STATUS_BUILD, "the module has no kernel");
    return STATUS_OK;
}

enum status module_lower(struct making *m, const char *const *kernels)
{
    const struct llvm_api *a = m->llvm;
    enum status s = kernels_find(m, kernels);
    if (s == STATUS_OK)
        s = locals_place(m);
    if (s == STATUS_OK)
        s = variables_name(m);
    for (llvm_value f = a->GetFirstFunction(m->module); s == STATUS_OK && f;
         f = a->GetNextFunction(f)) {
        if (a->GetIntrinsicID(f) != 0)
            continue;
        a->SetFunctionCallConv(f, LLVM_CC_C);
        attributes_clear(m, f);
        if (a->IsDeclaration(f))
            continue;
        s = instructions_visit(m, f, call_plain);
        for (unsigned i = 0; s == STATUS_OK && i < a->CountParams(f); i++)
            parameter_copy(m, f, i);
        if (s == STATUS_OK)
            s = instructions_visit(m, f, locals_replace);
    }
    if (s == STATUS_OK)
        s = builtins_lower(m);
    llvm_value barrier = a->GetNamedFunction(m->module, "soft_barrier");
    for (size_t i = 0; s == STATUS_OK && i < m->out->kernel_count; i++) {
        struct soft_kernel *k = &m->out->kernels[i];
        k->local_bytes = m->out->local_bytes;
        struct walk w = {0};
        k->barriers =
            barrier && reaches_barrier(m, a->GetNamedFunction(m->module, k->name), barrier, &w);
        free(w.seen);
    }
    return s;
}
