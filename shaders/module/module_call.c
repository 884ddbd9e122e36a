/* SPDX-License-Identifier: Apache-2.0 */
/* module_call.c: calls: functions of the module, written in place; functions of C's mathematics,
 * which are builtins of ASL as in procedures; and LLVM's intrinsics. */
#include "module/writer.h"

#include <string.h>

enum { CALL_DEPTH = 64 };

#define A(...) asl_sprintf(w->c, __VA_ARGS__)

struct call {
    struct writer *w;
    struct instance *i;
    const struct module_value *v;
    const char *name; /* of an intrinsic: without llvm. and types */
};

static struct part *argument(const struct call *c, size_t k, size_t *n)
{
    return value_parts(c->w, c->i, c->v->ops[k], n);
}

/* ---- functions of the module ------------------------------------------------------------------------ */

static void inline_call(struct writer *w, struct instance *i, const struct module_value *v)
{
    struct module_function *f = v->callee->function;
    size_t n;
    if (f->busy)
        module_refuse(w->m, v->at, NULL, "@%s calls itself: there is no recursion", f->name);
    if (i->depth == CALL_DEPTH)
        module_refuse(w->m, v->at, NULL, "calls nest deeper than %d levels", (int)CALL_DEPTH);
    if (v->type->kind == MODULE_POINTER)
        module_refuse(w->m, v->at, NULL, "@%s gives back a pointer", f->name);
    struct instance *made = instance_new(w, f, i->depth + 1);
    for (size_t k = 0; k < v->count; k++) {
        struct module_parameter *x = &f->parameters[k];
        struct part *p = value_parts(w, i, v->ops[k], &n);
        if (x->by_value) {
            struct part *copy = ASL_NEW(w->c, struct part);
            uint64_t size = module_type_size(w->m, x->by_value, v->at);
            w->align = 0;
            *copy =
                (struct part){.kind = PART_POINTER, .object = object_new(w, OBJECT_LOCAL, size)};
            memory_copy(w, copy, p, size);
            p = copy;
        }
        made->values[x->value->id] = p;
    }
    made->result = value_parts(w, i, v, &n);
    f->busy = true;
    flow_write(w, made);
    f->busy = false;
    w->at = v->at;
}

/* ---- intrinsics ---------------------------------------------------------------------------------------- */

/* What changes no value. */
static bool is_silent(const char *name)
{
    static const char *const names[] = {"dbg.",           "lifetime.",
                                        "assume",         "donothing",
                                        "sideeffect",     "experimental.noalias.scope",
                                        "var.annotation", "invariant.",
                                        "pseudoprobe",    "prefetch"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strncmp(name, names[k], strlen(names[k])) == 0)
            return true;
    return false;
}

static bool is(const struct call *c, const char *name) { return strcmp(c->name, name) == 0; }

static uint64_t constant_argument(const struct call *c, size_t k, const char *what)
{
    size_t n;
    const struct part *p = argument(c, k, &n);
    if (p->kind != PART_INT || !p->constant)
        module_refuse(c->w->m, c->v->at, NULL, "%s that is not known", what);
    return p->value;
}

static bool memory_call(const struct call *c)
{
    struct writer *w = c->w;
    size_t n;
    bool copies = is(c, "memcpy") || is(c, "memmove") || is(c, "memcpy.inline");
    if ((!copies && !is(c, "memset")) || c->v->count < 3)
        return false;
    uint64_t bytes = constant_argument(c, 2, "a number of bytes");
    if (c->v->count > 3 && constant_argument(c, 3, "a flag"))
        module_refuse(w->m, c->v->at, NULL, "'volatile': shaders have no shared memory");
    w->align = c->v->align ? c->v->align : 1;
    if (copies)
        memory_copy(w, argument(c, 0, &n), argument(c, 1, &n), bytes);
    else
        memory_fill(w, argument(c, 0, &n), argument(c, 1, &n), bytes);
    return true;
}

/* smax and its like, of ints of all sizes. */
static bool choice_call(const struct call *c, size_t n, const struct part *to)
{
    static const struct {
        const char *name;
        enum module_predicate takes;
    } rows[] = {{"smax", ICMP_SGT}, {"smin", ICMP_SLT}, {"umax", ICMP_UGT}, {"umin", ICMP_ULT}};
    size_t m;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        if (!is(c, rows[r].name) || c->v->count != 2)
            continue;
        const struct part *a = argument(c, 0, &m), *b = argument(c, 1, &m);
        for (size_t k = 0; k < n; k++)
            part_choose(c->w, &to[k], compare_ints(c->w, rows[r].takes, &a[k], &b[k]), &a[k],
                        &b[k]);
        return true;
    }
    return false;
}

/* Functions of ints of 32 bits that are among module_helpers. */
static bool bits_call(const struct call *c, size_t n, const struct part *to)
{
    struct writer *w = c->w;
    static const struct {
        const char *name;
        size_t count;
    } rows[] = {{"fshl", 3}, {"fshr", 3}, {"ctpop", 1}, {"ctlz", 1}, {"cttz", 1}, {"bswap", 1}};
    size_t m;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        if (!is(c, rows[r].name) || c->v->count < rows[r].count)
            continue;
        if (to->kind != PART_INT || to->bits != 32)
            module_refuse(w->m, c->v->at, NULL, "@llvm.%s is of i32 here", c->name);
        const struct part *a = argument(c, 0, &m), *b = a, *s = a;
        if (rows[r].count == 3) {
            b = argument(c, 1, &m);
            s = argument(c, 2, &m);
        }
        for (size_t k = 0; k < n; k++)
            if (rows[r].count == 3)
                write_line(w, "%s = %s__c(%s, %s, %s);", to[k].lo, c->name, a[k].lo, b[k].lo,
                           s[k].lo);
            else
                write_line(w, "%s = %s__c(%s);", to[k].lo, c->name, a[k].lo);
        return true;
    }
    return false;
}

static bool absolute_call(const struct call *c, size_t n, const struct part *to)
{
    struct writer *w = c->w;
    size_t m;
    if (!is(c, "abs") || c->v->count != 2)
        return false;
    const struct part *a = argument(c, 0, &m);
    for (size_t k = 0; k < n; k++) {
        struct part zero = {.kind = PART_INT, .bits = a[k].bits}, minus = a[k];
        part_constant(w, &zero, 0);
        minus.constant = false;
        part_variable(w, &minus);
        int_write(w, OPCODE_SUB, &zero, &a[k], &minus);
        part_choose(w, &to[k], compare_ints(w, ICMP_SLT, &a[k], &zero), &minus, &a[k]);
    }
    return true;
}

/* uadd.sat, uadd.with.overflow and their like. */
static bool overflow_call(const struct call *c, const struct part *to)
{
    static const struct {
        const char *name;
        enum module_op op;
        bool with_sign;
    } rows[] = {{"uadd", OPCODE_ADD, false},
                {"usub", OPCODE_SUB, false},
                {"sadd", OPCODE_ADD, true},
                {"ssub", OPCODE_SUB, true}};
    struct writer *w = c->w;
    size_t n, r = 0;
    while (r < 4 && strncmp(c->name, rows[r].name, 4) != 0)
        r++;
    const char *kind = r < 4 ? c->name + 4 : "";
    bool sat = strcmp(kind, ".sat") == 0;
    if ((!sat && strcmp(kind, ".with.overflow") != 0) || c->v->count != 2)
        return false;
    const struct part *a = argument(c, 0, &n), *b = argument(c, 1, &n);
    if (!sat && n != 1)
        module_refuse(w->m, c->v->at, NULL, "@llvm.%s is of numbers here, not of vectors", c->name);
    bool adds = rows[r].op == OPCODE_ADD;
    for (size_t k = 0; k < n; k++) {
        struct part sum = {.kind = PART_INT, .bits = a[k].bits}, zero = sum, most = sum;
        struct part over = {.kind = PART_INT, .bits = 1}, minus = over;
        part_variable(w, &sum);
        part_variable(w, &over);
        part_variable(w, &minus);
        part_constant(w, &zero, 0);
        int_write(w, rows[r].op, &a[k], &b[k], &sum);
        if (!rows[r].with_sign) {
            write_line(w, "%s = %s;", over.lo,
                       adds ? compare_ints(w, ICMP_ULT, &sum, &a[k])
                            : compare_ints(w, ICMP_ULT, &a[k], &b[k]));
            part_constant(w, &most, adds ? UINT64_MAX : 0);
        } else { /* the sum is less than a, and b is not negative; or the other way */
            write_line(w, "%s = %s;", minus.lo, compare_ints(w, ICMP_SLT, &b[k], &zero));
            write_line(w, "%s = (%s) != %s;", over.lo,
                       compare_ints(w, adds ? ICMP_SLT : ICMP_SGT, &sum, &a[k]), minus.lo);
            struct part low = zero, high = zero;
            uint64_t top = (uint64_t)1 << (a[k].bits - 1);
            part_constant(w, &low, top);
            part_constant(w, &high, top - 1);
            part_variable(w, &most);
            part_choose(w, &most, compare_ints(w, ICMP_SLT, &a[k], &zero), &low, &high);
        }
        if (sat) {
            part_choose(w, &to[k], over.lo, &most, &sum);
        } else {
            part_assign(w, &to[0], &sum);
            part_assign(w, &to[1], &over);
        }
    }
    return true;
}

/* umul.with.overflow and smul.with.overflow, of at most 32 bits: by the product of 64. */
static bool product_call(const struct call *c, const struct part *to)
{
    struct writer *w = c->w;
    bool with_sign = is(c, "smul.with.overflow");
    size_t n;
    if ((!with_sign && !is(c, "umul.with.overflow")) || c->v->count != 2)
        return false;
    const struct part *x[2] = {argument(c, 0, &n), argument(c, 1, &n)};
    if (n != 1 || x[0]->bits > 32)
        module_refuse(w->m, c->v->at, NULL, "@llvm.%s is of i32 here", c->name);
    struct part wide[2], product = {.kind = PART_INT, .bits = 64}, back = product;
    enum module_op extend = with_sign ? OPCODE_SEXT : OPCODE_ZEXT;
    for (int k = 0; k < 2; k++) {
        wide[k] = product;
        part_variable(w, &wide[k]);
        convert_write(w, extend, x[k], &wide[k]);
    }
    part_variable(w, &product);
    part_variable(w, &back);
    int_write(w, OPCODE_MUL, &wide[0], &wide[1], &product);
    convert_write(w, OPCODE_TRUNC, &product, &to[0]);
    convert_write(w, extend, &to[0], &back);
    write_line(w, "%s = %s;", to[1].lo, compare_ints(w, ICMP_NE, &product, &back));
    return true;
}

static bool reduce_call(const struct call *c, const struct part *to)
{
    static const struct {
        const char *name;
        enum module_op op;
    } rows[] = {{"add", OPCODE_ADD}, {"mul", OPCODE_MUL},   {"and", OPCODE_AND},  {"or", OPCODE_OR},
                {"xor", OPCODE_XOR}, {"fadd", OPCODE_FADD}, {"fmul", OPCODE_FMUL}};
    static const char *const chosen[] = {"smax", "smin", "umax", "umin"};
    static const enum module_predicate takes[] = {ICMP_SGT, ICMP_SLT, ICMP_UGT, ICMP_ULT};
    struct writer *w = c->w;
    size_t n, m, r = 0;
    if (strncmp(c->name, "vector.reduce.", 14) != 0 || c->v->count == 0)
        return false;
    const char *name = c->name + 14;
    const struct part *x = argument(c, c->v->count - 1, &n);
    for (size_t k = 0; k < 4; k++)
        if (strcmp(name, chosen[k]) == 0) {
            part_assign(w, to, &x[0]);
            for (size_t e = 1; e < n; e++)
                part_choose(w, to, compare_ints(w, takes[k], &x[e], to), &x[e], to);
            return true;
        }
    while (r < sizeof rows / sizeof *rows && strcmp(name, rows[r].name) != 0)
        r++;
    if (r == sizeof rows / sizeof *rows)
        return false;
    if (rows[r].op >= OPCODE_FADD) { /* from a first value on, in order */
        part_assign(w, to, argument(c, 0, &m));
        for (size_t e = 0; e < n; e++)
            write_line(w, rows[r].op == OPCODE_FADD ? "%s = %s + %s;" : "%s = %s * %s;", to->lo,
                       to->lo, x[e].lo);
        return true;
    }
    struct part so_far = x[0];
    for (size_t e = 1; e < n; e++) {
        struct part one = *to;
        part_variable(w, &one);
        int_write(w, rows[r].op, &so_far, &x[e], &one);
        so_far = one;
    }
    part_assign(w, to, &so_far);
    return true;
}

/* Functions of floats, each of whose arguments has as many as the result. */
static bool float_call(const struct call *c, size_t n, const struct part *to)
{
    struct writer *w = c->w;
    const char *builtin = NULL;
    size_t m, count = c->v->count;
    bool adds = is(c, "fmuladd"), sign = is(c, "copysign") || is(c, "copysignf");
    size_t wanted = adds ? 3 : sign ? 2 : 0;
    if (!wanted)
        builtin = asl_procedure_math(c->name, &wanted);
    if (!wanted || count != wanted || n == 0)
        return false;
    const struct part *x[3] = {NULL};
    for (size_t k = 0; k < count; k++) {
        x[k] = argument(c, k, &m);
        if (m != n || x[k]->kind != PART_FLOAT || to->kind != PART_FLOAT)
            return false;
    }
    for (size_t k = 0; k < n; k++) {
        const char *a = x[0][k].lo, *b = count > 1 ? x[1][k].lo : NULL;
        if (adds)
            write_line(w, "%s = %s * %s + %s;", to[k].lo, a, b, x[2][k].lo);
        else if (sign)
            write_line(w, "%s = copysign__c(%s, %s);", to[k].lo, a, b);
        else if (strcmp(builtin, "min") == 0 || strcmp(builtin, "max") == 0)
            /* of a number and none it is the number, whichever comes first: operands change places */
            write_line(w, "%s = isnan(%s) ? %s : %s(%s, %s);", to[k].lo, a, b, builtin, a, b);
        else if (b)
            write_line(w, "%s = %s(%s, %s);", to[k].lo, builtin, a, b);
        else
            write_line(w, "%s = %s(%s);", to[k].lo, builtin, a);
    }
    return true;
}

static bool saturating_call(const struct call *c, size_t n, const struct part *to)
{
    bool with_sign = is(c, "fptosi.sat");
    size_t m;
    if ((!with_sign && !is(c, "fptoui.sat")) || c->v->count != 1)
        return false;
    const struct part *a = argument(c, 0, &m);
    if (to->bits != 32 && to->bits != 64)
        module_refuse(c->w->m, c->v->at, NULL, "@llvm.%s gives i32 or i64 here", c->name);
    for (size_t k = 0; k < n; k++)
        convert_write(c->w, with_sign ? OPCODE_FPTOSI : OPCODE_FPTOUI, &a[k], &to[k]);
    return true;
}

/* llvm.sqrt.v2f32 is sqrt: the types behind are no part of the name. */
static const char *stem(struct writer *w, const char *name)
{
    char *s = asl_strndup(w->c, name, strlen(name));
    for (char *dot; (dot = strrchr(s, '.')) != NULL; *dot = 0) {
        const char *t = dot + 1;
        t += *t == 'v' || *t == 'n' ? strspn(t, "vnx0123456789") : 0;
        bool type = (*t == 'i' || *t == 'f' || *t == 'p') && t[1] >= '0' && t[1] <= '9';
        if (!type)
            break;
    }
    return s;
}

void call_write(struct writer *w, struct instance *i, const struct module_value *v)
{
    const struct module_function *f = v->callee->function;
    struct call c = {w, i, v, f->name};
    size_t n, m;
    if (f->defined) {
        inline_call(w, i, v);
        return;
    }
    bool intrinsic = strncmp(f->name, "llvm.", 5) == 0;
    if (intrinsic && is_silent(f->name + 5))
        return;
    if (intrinsic)
        c.name = stem(w, f->name + 5);
    if (memory_call(&c))
        return;
    if (intrinsic && is(&c, "expect") && v->count) {
        parts_rename(w, i, v, argument(&c, 0, &m), m);
        return;
    }
    if (v->type->kind != MODULE_VOID && v->type->kind != MODULE_POINTER) {
        const struct part *to = value_parts(w, i, v, &n);
        if (float_call(&c, n, to))
            return;
        if (intrinsic && n &&
            (choice_call(&c, n, to) || bits_call(&c, n, to) || absolute_call(&c, n, to) ||
             overflow_call(&c, to) || product_call(&c, to) || reduce_call(&c, to) ||
             saturating_call(&c, n, to)))
            return;
    }
    bool fused = strcmp(c.name, "fma") == 0 || strcmp(c.name, "fmaf") == 0;
    module_refuse(w->m, v->at,
                  fused ? "compile with -ffp-contract=off, and write a * b + c"
                        : "shaders call functions of their own module, and those of mathematics",
                  "@%s: ASL has no such function", f->name);
}
