/* SPDX-License-Identifier: Apache-2.0 */
/* What device code calls without defining it: OpenCL C's work-item functions and builtins under
 * their Itanium-mangled names, and the intrinsics of other targets. Semantics: OpenCL C 1.2,
 * section 6.12. */
#include "soft.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- tables --------------------------------------------------------------------------------- */

struct item_function {
    const char *name;
    enum soft_item what;
    int axis; /* -1: the argument says */
};
static const struct item_function item_functions[] = {
    {"get_global_id", SOFT_ITEM_GLOBAL_ID, -1},
    {"get_local_id", SOFT_ITEM_LOCAL_ID, -1},
    {"get_group_id", SOFT_ITEM_GROUP_ID, -1},
    {"get_local_size", SOFT_ITEM_LOCAL_SIZE, -1},
    {"get_global_size", SOFT_ITEM_GLOBAL_SIZE, -1},
    {"get_num_groups", SOFT_ITEM_GROUPS, -1},
    {"get_global_offset", SOFT_ITEM_GLOBAL_OFFSET, -1},
    {"llvm.nvvm.read.ptx.sreg.tid.x", SOFT_ITEM_LOCAL_ID, 0},
    {"llvm.nvvm.read.ptx.sreg.tid.y", SOFT_ITEM_LOCAL_ID, 1},
    {"llvm.nvvm.read.ptx.sreg.tid.z", SOFT_ITEM_LOCAL_ID, 2},
    {"llvm.nvvm.read.ptx.sreg.ctaid.x", SOFT_ITEM_GROUP_ID, 0},
    {"llvm.nvvm.read.ptx.sreg.ctaid.y", SOFT_ITEM_GROUP_ID, 1},
    {"llvm.nvvm.read.ptx.sreg.ctaid.z", SOFT_ITEM_GROUP_ID, 2},
    {"llvm.nvvm.read.ptx.sreg.ntid.x", SOFT_ITEM_LOCAL_SIZE, 0},
    {"llvm.nvvm.read.ptx.sreg.ntid.y", SOFT_ITEM_LOCAL_SIZE, 1},
    {"llvm.nvvm.read.ptx.sreg.ntid.z", SOFT_ITEM_LOCAL_SIZE, 2},
    {"llvm.nvvm.read.ptx.sreg.nctaid.x", SOFT_ITEM_GROUPS, 0},
    {"llvm.nvvm.read.ptx.sreg.nctaid.y", SOFT_ITEM_GROUPS, 1},
    {"llvm.nvvm.read.ptx.sreg.nctaid.z", SOFT_ITEM_GROUPS, 2},
};

/* Barriers, and fences, which order nothing here: a work-item's accesses happen in its order. */
static const char *const barrier_functions[] = {"barrier", "work_group_barrier",
                                                "llvm.nvvm.barrier0", "llvm.nvvm.barrier.sync"};
static const char *const fence_functions[] = {"mem_fence",           "read_mem_fence",
                                              "write_mem_fence",     "llvm.nvvm.membar.cta",
                                              "llvm.nvvm.membar.gl", "llvm.nvvm.membar.sys"};

/* Functions that are an LLVM intrinsic of the argument's type, vectors included. */
static const struct {
    const char *name, *intrinsic;
} intrinsic_functions[] = {
    {"sqrt", "llvm.sqrt"},   {"native_sqrt", "llvm.sqrt"},  {"half_sqrt", "llvm.sqrt"},
    {"fabs", "llvm.fabs"},   {"floor", "llvm.floor"},       {"ceil", "llvm.ceil"},
    {"trunc", "llvm.trunc"}, {"rint", "llvm.rint"},         {"round", "llvm.round"},
    {"fma", "llvm.fma"},     {"copysign", "llvm.copysign"}, {"fmin", "llvm.minnum"},
    {"fmax", "llvm.maxnum"}, {"popcount", "llvm.ctpop"},
};

/* Functions that C's libm has, element by element; native_ and half_ forms too. */
static const char *const math_functions[] = {
    "sin",  "cos",   "tan",   "asin",  "acos",   "atan",   "atan2", "sinh",      "cosh", "tanh",
    "exp",  "exp2",  "exp10", "expm1", "log",    "log2",   "log10", "log1p",     "pow",  "fmod",
    "cbrt", "hypot", "erf",   "erfc",  "tgamma", "lgamma", "fdim",  "remainder",
};

static const struct {
    const char *name; /* after atomic_ or atom_ */
    unsigned operation;
    bool one; /* inc and dec: the operand is 1 */
} atomic_functions[] = {
    {"add", LLVM_RMW_ADD, false}, {"sub", LLVM_RMW_SUB, false},   {"inc", LLVM_RMW_ADD, true},
    {"dec", LLVM_RMW_SUB, true},  {"xchg", LLVM_RMW_XCHG, false}, {"and", LLVM_RMW_AND, false},
    {"or", LLVM_RMW_OR, false},   {"xor", LLVM_RMW_XOR, false},
};

/* ---- a call on its way to being replaced ---------------------------------------------------- */

enum { CALL_ARGUMENTS_MAX = 4 };
struct builtin_call {
    const char *name;       /* plain: "sqrt" */
    const char *parameters; /* the mangled rest: "ff" */
    llvm_value arguments[CALL_ARGUMENTS_MAX];
    unsigned count;
    llvm_type type; /* of the result */
};

/* "_Z4sqrtf" -> "sqrt", "f". Other names stay as they are, without parameters. */
static void name_split(const char *mangled, char *name, size_t size, const char **parameters)
{
    *parameters = "";
    if (strncmp(mangled, "_Z", 2) == 0 && isdigit((unsigned char)mangled[2])) {
        char *rest = NULL;
        unsigned long length = strtoul(mangled + 2, &rest, 10);
        if (length < size && length <= strlen(rest)) {
            memcpy(name, rest, length);
            name[length] = '\0';
            *parameters = rest + length;
            return;
        }
    }
    snprintf(name, size, "%s", mangled);
}

static bool listed(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}
#define LISTED(names, name) listed(names, sizeof(names) / sizeof(names)[0], name)

static bool is_vector(const struct making *m, llvm_type t)
{
    return m->llvm->GetTypeKind(t) == LLVM_TYPE_VECTOR;
}
static llvm_type element_type(const struct making *m, llvm_type t)
{
    return is_vector(m, t) ? m->llvm->GetElementType(t) : t;
}
static bool is_float(const struct making *m, llvm_type t)
{
    unsigned kind = m->llvm->GetTypeKind(element_type(m, t));
    return kind == LLVM_TYPE_FLOAT || kind == LLVM_TYPE_DOUBLE;
}
/* The mangled letter of a type of the first parameter: 'j' of "Dv8_j" and of "jj". */
static char element_letter(const char *parameters)
{
    if (parameters[0] == 'D' && parameters[1] == 'v') {
        const char *at = strchr(parameters, '_');
        return at ? at[1] : '\0';
    }
    return parameters[0];
}
static bool is_unsigned(const char *parameters)
{
    char c = element_letter(parameters);
    return c != '\0' && strchr("htjmy", c) != NULL;
}

static llvm_value intrinsic_call(struct making *m, const char *name, llvm_type type,
                                 llvm_value *arguments, unsigned count)
{
    unsigned id = m->llvm->LookupIntrinsicID(name, strlen(name));
    return call_build(m, m->llvm->GetIntrinsicDeclaration(m->module, id, &type, 1), arguments,
                      count);
}

/* ---- groups of functions; each gives NULL when the call is none of its own ------------------ */

static llvm_value item_call(struct making *m, const struct builtin_call *c)
{
    const struct llvm_api *a = m->llvm;
    for (size_t i = 0; i < sizeof item_functions / sizeof item_functions[0]; i++) {
        const struct item_function *f = &item_functions[i];
        if (strcmp(f->name, c->name) != 0)
            continue;
        llvm_value axis =
            f->axis >= 0 ? a->ConstInt(m->i32, (unsigned)f->axis, 0) : c->arguments[0];
        llvm_value arguments[] = {a->ConstInt(m->i32, f->what, 0), axis};
        llvm_type types[] = {m->i32, m->i32};
        llvm_value v =
            call_build(m, runtime_function(m, "soft_item", m->i32, types, 2), arguments, 2);
        return c->type == m->i32 ? v : a->BuildCast(m->builder, LLVM_ZEXT, v, c->type, "");
    }
    return NULL;
}

/* One scalar function of C's libm for each element. */
static llvm_value math_call(struct making *m, const struct builtin_call *c)
{
    const struct llvm_api *a = m->llvm;
    const char *name = strncmp(c->name, "native_", 7) == 0 ? c->name + 7
                       : strncmp(c->name, "half_", 5) == 0 ? c->name + 5
                                                           : c->name;
    if (!LISTED(math_functions, name) || !is_float(m, c->type))
        return NULL;
    llvm_type element = element_type(m, c->type), types[CALL_ARGUMENTS_MAX];
    char symbol[32];
    snprintf(symbol, sizeof symbol, "%s%s", name,
             a->GetTypeKind(element) == LLVM_TYPE_FLOAT ? "f" : "");
    for (unsigned i = 0; i < c->count; i++)
        types[i] = element;
    llvm_value f = runtime_function(m, symbol, element, types, c->count);
    if (!is_vector(m, c->type))
        return call_build(m, f, (llvm_value *)c->arguments, c->count);
    llvm_value out = a->GetUndef(c->type);
    for (unsigned lane = 0; lane < a->GetVectorSize(c->type); lane++) {
        llvm_value index = a->ConstInt(m->i32, lane, 0), scalars[CALL_ARGUMENTS_MAX];
        for (unsigned i = 0; i < c->count; i++)
            scalars[i] = a->BuildExtractElement(m->builder, c->arguments[i], index, "");
        out =
            a->BuildInsertElement(m->builder, out, call_build(m, f, scalars, c->count), index, "");
    }
    return out;
}

/* min, max, clamp of numbers, as 6.12.3 and 6.12.4 define them. */
static llvm_value smaller(struct making *m, const struct builtin_call *c, llvm_value x,
                          llvm_value y, bool larger)
{
    const struct llvm_api *a = m->llvm;
    llvm_value first = larger ? x : y, second = larger ? y : x; /* y < x: min is y, max stays x */
    llvm_value swap =
        is_float(m, c->type)
            ? a->BuildFCmp(m->builder, LLVM_REAL_OLT, first, second, "")
            : a->BuildICmp(m->builder, is_unsigned(c->parameters) ? LLVM_INT_ULT : LLVM_INT_SLT,
                           first, second, "");
    return a->BuildSelect(m->builder, swap, y, x, "");
}
/* A number as a vector of it where the result is one. */
static llvm_value splat(struct making *m, llvm_value x, llvm_type type)
{
    const struct llvm_api *a = m->llvm;
    if (a->TypeOf(x) == type || !is_vector(m, type))
        return x;
    llvm_value out = a->GetUndef(type);
    for (unsigned lane = 0; lane < a->GetVectorSize(type); lane++)
        out = a->BuildInsertElement(m->builder, out, x, a->ConstInt(m->i32, lane, 0), "");
    return out;
}
static llvm_value order_call(struct making *m, const struct builtin_call *c)
{
    bool clamp = strcmp(c->name, "clamp") == 0, max = strcmp(c->name, "max") == 0;
    if ((!clamp && !max && strcmp(c->name, "min") != 0) || c->count != (clamp ? 3 : 2))
        return NULL;
    llvm_value y = splat(m, c->arguments[1], c->type);
    if (!clamp)
        return smaller(m, c, c->arguments[0], y, max);
    return smaller(m, c, smaller(m, c, c->arguments[0], y, true),
                   splat(m, c->arguments[2], c->type), false);
}

static llvm_value integer_call(struct making *m, const struct builtin_call *c)
{
    const struct llvm_api *a = m->llvm;
    if (is_float(m, c->type) || is_vector(m, c->type))
        return NULL;
    llvm_value no = a->ConstInt(a->Int1TypeInContext(m->context), 0, 0);
    if (strcmp(c->name, "clz") == 0)
        return intrinsic_call(m, "llvm.ctlz", c->type, (llvm_value[]){c->arguments[0], no}, 2);
    if (strcmp(c->name, "ctz") == 0)
        return intrinsic_call(m, "llvm.cttz", c->type, (llvm_value[]){c->arguments[0], no}, 2);
    if (strcmp(c->name, "rotate") == 0)
        return intrinsic_call(m, "llvm.fshl", c->type,
                              (llvm_value[]){c->arguments[0], c->arguments[0], c->arguments[1]}, 3);
    if (strcmp(c->name, "mul_hi") == 0 || strcmp(c->name, "mul24") == 0 ||
        strcmp(c->name, "mad24") == 0) {
        unsigned bits = a->GetIntTypeWidth(c->type);
        if (c->name[3] != '_') /* 24 bits: the whole product is allowed where it fits */
            return NULL;
        llvm_type wide = a->IntTypeInContext(m->context, 2 * bits);
        unsigned widen = is_unsigned(c->parameters) ? LLVM_ZEXT : LLVM_SEXT;
        llvm_value x = a->BuildCast(m->builder, widen, c->arguments[0], wide, "");
        llvm_value y = a->BuildCast(m->builder, widen, c->arguments[1], wide, "");
        llvm_value high = a->BuildLShr(m->builder, a->BuildMul(m->builder, x, y, ""),
                                       a->ConstInt(wide, bits, 0), "");
        return a->BuildCast(m->builder, LLVM_TRUNC, high, c->type, "");
    }
    return NULL;
}

/* select(a, b, c): b where c is true; for vectors: where its highest bit is set (6.12.6). */
static llvm_value select_call(struct making *m, const struct builtin_call *c)
{
    const struct llvm_api *a = m->llvm;
    if (strcmp(c->name, "select") != 0 || c->count != 3)
        return NULL;
    llvm_type type = a->TypeOf(c->arguments[2]);
    llvm_value condition = a->BuildICmp(m->builder, is_vector(m, type) ? LLVM_INT_SLT : LLVM_INT_NE,
                                        c->arguments[2], a->ConstNull(type), "");
    return a->BuildSelect(m->builder, condition, c->arguments[1], c->arguments[0], "");
}

/* isnan, isinf ... : 1 for scalars, all bits for vectors. */
static llvm_value class_call(struct making *m, const struct builtin_call *c)
{
    const struct llvm_api *a = m->llvm;
    if (strcmp(c->name, "isnan") != 0 || c->count != 1)
        return NULL;
    llvm_value x = c->arguments[0];
    llvm_value is = a->BuildFCmp(m->builder, LLVM_REAL_UNO, x, x, "");
    return a->BuildCast(m->builder, is_vector(m, c->type) ? LLVM_SEXT : LLVM_ZEXT, is, c->type, "");
}

/* convert_TYPE without _sat and without a rounding mode (or with the one that it has anyway). */
static llvm_value convert_call(struct making *m, const struct builtin_call *c)
{
    const struct llvm_api *a = m->llvm;
    if (strncmp(c->name, "convert_", 8) != 0 || c->count != 1)
        return NULL;
    const char *to = c->name + 8;
    const char *mode = strchr(to, '_');
    llvm_type from_type = a->TypeOf(c->arguments[0]);
    bool from_float = is_float(m, from_type), to_float = is_float(m, c->type);
    if (mode && strcmp(mode, to_float ? "_rte" : "_rtz") != 0)
        return NULL;
    bool to_unsigned = to[0] == 'u', from_unsigned = is_unsigned(c->parameters);
    unsigned opcode;
    if (from_float && to_float) {
        unsigned from_kind = a->GetTypeKind(element_type(m, from_type));
        unsigned to_kind = a->GetTypeKind(element_type(m, c->type));
        opcode = from_kind == to_kind          ? LLVM_BIT_CAST
                 : to_kind == LLVM_TYPE_DOUBLE ? LLVM_FP_EXT
                                               : LLVM_FP_TRUNC;
    } else if (from_float) {
        opcode = to_unsigned ? LLVM_FP_TO_UI : LLVM_FP_TO_SI;
    } else if (to_float) {
        opcode = from_unsigned ? LLVM_UI_TO_FP : LLVM_SI_TO_FP;
    } else {
        unsigned from_bits = a->GetIntTypeWidth(element_type(m, from_type));
        unsigned to_bits = a->GetIntTypeWidth(element_type(m, c->type));
        opcode = from_bits == to_bits  ? LLVM_BIT_CAST
                 : to_bits < from_bits ? LLVM_TRUNC
                 : from_unsigned       ? LLVM_ZEXT
                                       : LLVM_SEXT;
    }
    return a->BuildCast(m->builder, opcode, c->arguments[0], c->type, "");
}

static llvm_value atomic_call(struct making *m, const struct builtin_call *c)
{
    const struct llvm_api *a = m->llvm;
    const char *name = strncmp(c->name, "atomic_", 7) == 0 ? c->name + 7
                       : strncmp(c->name, "atom_", 5) == 0 ? c->name + 5
                                                           : NULL;
    if (!name || c->count < 1 || is_float(m, c->type))
        return NULL;
    if (strcmp(name, "cmpxchg") == 0 && c->count == 3) {
        llvm_value pair =
            a->BuildAtomicCmpXchg(m->builder, c->arguments[0], c->arguments[1], c->arguments[2],
                                  LLVM_ORDER_SEQUENTIAL, LLVM_ORDER_SEQUENTIAL, 0);
        return a->BuildExtractValue(m->builder, pair, 0, "");
    }
    unsigned operation = 0;
    bool known = false, one = false;
    for (size_t i = 0; !known && i < sizeof atomic_functions / sizeof atomic_functions[0]; i++)
        if (strcmp(atomic_functions[i].name, name) == 0) {
            known = true;
            operation = atomic_functions[i].operation;
            one = atomic_functions[i].one;
        }
    if (strcmp(name, "min") == 0 || strcmp(name, "max") == 0) {
        bool max = name[1] == 'a';
        size_t length = strlen(c->parameters); /* "PU3AS1Vjj": the value's letter is the last */
        bool without_sign = length > 0 && is_unsigned(c->parameters + length - 1);
        known = true;
        operation = without_sign ? (max ? LLVM_RMW_UMAX : LLVM_RMW_UMIN)
                                 : (max ? LLVM_RMW_MAX : LLVM_RMW_MIN);
    }
    if (!known || (!one && c->count != 2))
        return NULL;
    llvm_value operand = one ? a->ConstInt(c->type, 1, 0) : c->arguments[1];
    return a->BuildAtomicRMW(m->builder, operation, c->arguments[0], operand, LLVM_ORDER_SEQUENTIAL,
                             0);
}

static llvm_value plain_call(struct making *m, const struct builtin_call *c)
{
    for (size_t i = 0; i < sizeof intrinsic_functions / sizeof intrinsic_functions[0]; i++)
        if (strcmp(intrinsic_functions[i].name, c->name) == 0)
            return intrinsic_call(m, intrinsic_functions[i].intrinsic, c->type,
                                  (llvm_value *)c->arguments, c->count);
    if (strcmp(c->name, "mad") == 0 && c->count == 3)
        return m->llvm->BuildFAdd(
            m->builder, m->llvm->BuildFMul(m->builder, c->arguments[0], c->arguments[1], ""),
            c->arguments[2], "");
    return NULL;
}

static llvm_value (*const groups[])(struct making *, const struct builtin_call *) = {
    item_call,   plain_call, math_call,    order_call,  integer_call,
    select_call, class_call, convert_call, atomic_call,
};

/* ---- all calls ------------------------------------------------------------------------------ */

static bool runtime_has(const char *name)
{
    for (const struct runtime_symbol *s = runtime_symbols; s->name; s++)
        if (strcmp(s->name, name) == 0)
            return true;
    return false;
}

/* Replaces one call of the undefined function; false when nothing here knows it. */
static bool call_replace(struct making *m, llvm_value call, const char *mangled)
{
    const struct llvm_api *a = m->llvm;
    char name[128];
    struct builtin_call c = {.name = name, .type = a->TypeOf(call)};
    name_split(mangled, name, sizeof name, &c.parameters);
    c.count = (unsigned)a->GetNumOperands(call) - 1; /* the callee is the last */
    if (c.count > CALL_ARGUMENTS_MAX)
        return false;
    for (unsigned i = 0; i < c.count; i++)
        c.arguments[i] = a->GetOperand(call, i);
    a->PositionBuilderBefore(m->builder, call);
    if (LISTED(barrier_functions, name)) {
        call_build(m, runtime_function(m, "soft_barrier", m->void_type, NULL, 0), NULL, 0);
    } else if (!LISTED(fence_functions, name)) {
        llvm_value value = NULL;
        for (size_t i = 0; !value && i < sizeof groups / sizeof groups[0]; i++)
            value = groups[i](m, &c);
        if (!value)
            return false;
        a->ReplaceAllUsesWith(call, value);
    }
    a->InstructionEraseFromParent(call);
    return true;
}

static enum status function_replace(struct making *m, llvm_value f)
{
    const struct llvm_api *a = m->llvm;
    size_t length;
    const char *name = a->GetValueName2(f, &length);
    for (llvm_use use; (use = a->GetFirstUse(f)) != NULL;) {
        llvm_value user = a->GetUser(use);
        if (!a->IsAInstruction(user) || a->GetInstructionOpcode(user) != LLVM_CALL ||
            !call_replace(m, user, name))
            return error_msg(m->err, STATUS_BUILD,
                             "device code calls %s, which nothing here defines", name);
    }
    return STATUS_OK;
}

enum status builtins_lower(struct making *m)
{
    const struct llvm_api *a = m->llvm;
    size_t length;
    for (llvm_value f = a->GetFirstFunction(m->module), next; f; f = next) {
        next = a->GetNextFunction(f);
        const char *name = a->GetValueName2(f, &length);
        bool foreign = strncmp(name, "llvm.nvvm.", 10) == 0;
        if (!a->IsDeclaration(f) || runtime_has(name) || (a->GetIntrinsicID(f) != 0 && !foreign))
            continue;
        enum status s = function_replace(m, f);
        if (s != STATUS_OK)
            return s;
        a->DeleteFunction(f);
    }
    return STATUS_OK;
}
