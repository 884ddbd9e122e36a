/* SPDX-License-Identifier: Apache-2.0 */
/* interp_expr.c: the value of every expression. */
#include "interp.h"

#include <math.h>
#include <string.h>

void asl_zero_value(struct asl_type t, union asl_slot *v)
{
    size_t n = asl_type_slots(t);
    if (t.base >= ASL_INT && t.base <= ASL_MATRIX) {
        memset(v, 0, n * sizeof *v);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        memset(&v[i], 0, sizeof v[i]);
        if (asl_type_scalar(t, i) == ASL_STRING)
            v[i].s = "";
        else if (asl_type_scalar(t, i) == ASL_CLOSURE)
            v[i].c = NULL;
    }
}

bool asl_truth(struct asl_type t, const union asl_slot *v)
{
    size_t n = asl_type_slots(t);
    switch (t.base) {
    case ASL_INT:
        return v[0].i != 0;
    case ASL_STRING:
        return v[0].s[0] != 0;
    case ASL_CLOSURE:
        return v[0].c != NULL;
    default:
        for (size_t i = 0; i < n; i++)
            if (v[i].f != 0)
                return true;
        return false;
    }
}

int32_t asl_float_to_int(float x)
{
    if (isnan(x))
        return 0;
    if (x >= 2147483648.0f)
        return INT32_MAX;
    if (x < -2147483648.0f)
        return INT32_MIN;
    return (int32_t)x;
}

void asl_store(const struct asl_place *to, const union asl_slot *v, uint32_t src_d)
{
    memcpy(to->v, v, to->n * sizeof *v);
    if (!to->d)
        return;
    if (src_d) {
        memcpy(to->v + to->d, v + src_d, to->n * sizeof *v);
        memcpy(to->v + 2 * (size_t)to->d, v + 2 * (size_t)src_d, to->n * sizeof *v);
    } else {
        for (size_t i = 0; i < to->n; i++)
            to->v[to->d + i].f = to->v[2 * (size_t)to->d + i].f = 0;
    }
}

static void zero_derivs(union asl_slot *out, size_t n)
{
    for (size_t i = 0; i < 2 * n; i++)
        out[n + i].f = 0;
}

/* One row of numbers (a value, or its derivatives) to another type. */
static void convert_row(struct asl_type from, struct asl_type to, const union asl_slot *in,
                        union asl_slot *out)
{
    size_t n = asl_type_slots(from), m = asl_type_slots(to);
    if (n == m && n > 1) {
        memcpy(out, in, n * sizeof *in);
        return;
    }
    float x = in[0].f;
    for (size_t i = 0; i < m; i++)
        out[i].f = to.base == ASL_MATRIX ? (i % 5 == 0 ? x : 0.0f) : x;
}

void asl_convert_value(struct asl_type from, struct asl_type to, const union asl_slot *in,
                       union asl_slot *out, bool in_derivs, bool out_derivs)
{
    size_t n = asl_type_slots(from), m = asl_type_slots(to);
    if (to.base == ASL_CLOSURE && from.base != ASL_CLOSURE) {
        out[0].c = NULL;
        return;
    }
    if (to.base == ASL_INT && from.base == ASL_FLOAT) {
        out[0].i = asl_float_to_int(in[0].f);
        return;
    }
    if (from.base == ASL_STRUCT || from.array || from.base == ASL_STRING ||
        from.base == ASL_CLOSURE || (from.base == ASL_INT && to.base == ASL_INT)) {
        memcpy(out, in, n * sizeof *in);
    } else if (from.base == ASL_INT) {
        union asl_slot x = {.f = (float)in[0].i};
        convert_row(asl_type_of(ASL_FLOAT), to, &x, out);
        if (out_derivs)
            zero_derivs(out, m);
        return;
    } else {
        convert_row(from, to, in, out);
    }
    if (!out_derivs)
        return;
    if (!in_derivs) {
        zero_derivs(out, m);
        return;
    }
    if (from.base == ASL_STRUCT || from.array) {
        memcpy(out + m, in + n, 2 * n * sizeof *in);
        return;
    }
    convert_row(from, to, in + n, out + m);
    convert_row(from, to, in + 2 * n, out + 2 * m);
}

/* ---- places --------------------------------------------------------------------------------- */

/* Evaluates an index and keeps it inside 0..limit-1; one outside is reported. */
static uint32_t index_value(struct asl_run *r, const struct asl_expr *e, size_t limit,
                            const struct asl_expr *whole)
{
    union asl_slot v[3] = {0};
    asl_eval(r, e, v);
    int32_t i = v[0].i;
    if (i >= 0 && (size_t)i < limit)
        return (uint32_t)i;
    const struct asl_expr *a = whole->a;
    asl_report_index(r, i,
                     a->kind == E_SYMBOL  ? a->symbol->name
                     : a->kind == E_FIELD ? a->name
                                          : "value",
                     limit, asl_pos(whole->at));
    return i < 0 ? 0 : (uint32_t)(limit - 1);
}

static bool has_place(const struct asl_expr *e)
{
    while (e->kind == E_INDEX || e->kind == E_FIELD || e->kind == E_MELEM)
        e = e->a;
    return e->kind == E_SYMBOL;
}

struct asl_place asl_eval_any(struct asl_run *r, const struct asl_expr *e)
{
    if (has_place(e))
        return asl_eval_place(r, e);
    struct asl_place p = {.type = e->type, .n = e->slots, .d = asl_wants(r, e) ? e->slots : 0};
    p.v = asl_temp(r, asl_room(r, e));
    asl_eval(r, e, p.v);
    return p;
}

struct asl_place asl_eval_place(struct asl_run *r, const struct asl_expr *e)
{
    struct asl_place p;
    if (e->kind == E_SYMBOL) {
        if (e->symbol->kind == SYM_PARAM)
            asl_pull(r, e->symbol);
        p = r->places[e->symbol->index];
        return p;
    }
    p = asl_eval_any(r, e->a);
    if (e->kind == E_FIELD) {
        const struct asl_field *f = &e->a->type.st->fields[e->u.field];
        p.v += f->offset;
        p.type = f->type;
    } else if (e->kind == E_MELEM) {
        uint32_t row = index_value(r, e->b, 4, e), column = index_value(r, e->c, 4, e);
        p.v += row * 4 + column;
        p.type = e->type;
    } else if (p.type.array) {
        struct asl_type one = asl_element_type(p.type);
        size_t n = asl_type_slots(one);
        size_t count = n ? p.n / n : 0;
        p.v += index_value(r, e->b, count, e) * n;
        p.type = one;
    } else {
        p.v += index_value(r, e->b, 3, e);
        p.type = e->type;
    }
    p.n = (uint32_t)asl_type_slots(p.type);
    return p;
}

static void load(const struct asl_place *p, bool derivs, union asl_slot *out)
{
    memcpy(out, p->v, p->n * sizeof *out);
    if (!derivs)
        return;
    if (p->d) {
        memcpy(out + p->n, p->v + p->d, p->n * sizeof *out);
        memcpy(out + 2 * (size_t)p->n, p->v + 2 * (size_t)p->d, p->n * sizeof *out);
    } else {
        zero_derivs(out, p->n);
    }
}

/* ---- operators ------------------------------------------------------------------------------ */

/* Of ints and floats alike: both are doubles. */
static bool compare(enum asl_op op, double a, double b)
{
    switch (op) {
    case OP_LT:
        return a < b;
    case OP_LE:
        return a <= b;
    case OP_GT:
        return a > b;
    case OP_GE:
        return a >= b;
    case OP_EQ:
        return a == b;
    default:
        return a != b;
    }
}

static int32_t int_op(enum asl_op op, int32_t a, int32_t b)
{
    uint32_t ua = (uint32_t)a, ub = (uint32_t)b;
    switch (op) {
    case OP_ADD:
        return (int32_t)(ua + ub);
    case OP_SUB:
        return (int32_t)(ua - ub);
    case OP_MUL:
        return (int32_t)(ua * ub);
    case OP_DIV:
        return b == 0 ? 0 : b == -1 ? (int32_t)(0u - ua) : a / b;
    case OP_MOD:
        return b == 0 || b == -1 ? 0 : a % b;
    case OP_SHL:
        return (int32_t)(ua << (ub & 31));
    case OP_SHR:
        return a >> (ub & 31);
    case OP_BITAND:
        return (int32_t)(ua & ub);
    case OP_XOR:
        return (int32_t)(ua ^ ub);
    case OP_BITOR:
        return (int32_t)(ua | ub);
    default:
        return compare(op, a, b);
    }
}

static dual float_op(enum asl_op op, dual a, dual b)
{
    switch (op) {
    case OP_ADD:
        return d_add(a, b);
    case OP_SUB:
        return d_sub(a, b);
    case OP_MUL:
        return d_mul(a, b);
    case OP_DIV:
        return d_div(a, b);
    default: /* the exact remainder; the derivative is a's */
        return b.v == 0 ? d_const(0) : (dual){fmodf(a.v, b.v), a.dx, a.dy};
    }
}

static void matrix_of(const struct asl_expr *e, const union asl_slot *v, float m[16])
{
    for (size_t i = 0; i < 16; i++)
        m[i] = e->type.base == ASL_MATRIX ? v[i].f : i % 5 == 0 ? v[0].f : 0.0f;
}

/* A product with, or a quotient by, a number scales every element; else matrices multiply. */
static void matrix_op(const struct asl_expr *e, const union asl_slot *a, const union asl_slot *b,
                      union asl_slot *out)
{
    float x[16], y[16], z[16], inv[16];
    bool number_a = e->a->type.base != ASL_MATRIX, number_b = e->b->type.base != ASL_MATRIX;
    matrix_of(e->a, a, x);
    matrix_of(e->b, b, y);
    if (e->op == OP_DIV && !number_b) {
        asl_matrix_divisor(y, inv);
        memcpy(y, inv, sizeof y);
    }
    if (number_a || (number_b && e->op == OP_MUL)) {
        float s = number_a ? a[0].f : b[0].f;
        const float *m = number_a ? y : x;
        for (size_t i = 0; i < 16; i++)
            z[i] = m[i] * s;
    } else if (number_b) {
        for (size_t i = 0; i < 16; i++)
            z[i] = b[0].f == 0 ? 0 : x[i] / b[0].f;
    } else {
        asl_matrix_multiply(x, y, z);
    }
    for (size_t i = 0; i < 16; i++)
        out[i].f = z[i];
}

static const struct asl_closure *closure_new(struct asl_run *r, enum asl_closure_kind kind,
                                             const struct asl_closure *a,
                                             const struct asl_closure *b)
{
    struct asl_closure *c = asl_point_alloc(r, 1, sizeof *c);
    c->kind = kind;
    c->a = a;
    c->b = b;
    return c;
}

static void closure_op(struct asl_run *r, const struct asl_expr *e, const union asl_slot *a,
                       const union asl_slot *b, union asl_slot *out)
{
    if (e->op == OP_ADD) {
        out[0].c = !a[0].c   ? b[0].c
                   : !b[0].c ? a[0].c
                             : closure_new(r, CLOSURE_ADD, a[0].c, b[0].c);
        return;
    }
    bool left = e->a->type.base == ASL_CLOSURE;
    const struct asl_closure *c = left ? a[0].c : b[0].c;
    const union asl_slot *w = left ? b : a;
    if (!c || (w[0].f == 0 && w[1].f == 0 && w[2].f == 0)) {
        out[0].c = NULL;
        return;
    }
    struct asl_closure *m = (struct asl_closure *)(void *)closure_new(r, CLOSURE_MUL, c, NULL);
    for (size_t i = 0; i < 3; i++)
        m->weight[i] = w[i].f;
    out[0].c = m;
}

static void eval_binary(struct asl_run *r, const struct asl_expr *e, union asl_slot *out)
{
    struct asl_temp_mark mark = asl_temp_mark(r->cx);
    union asl_slot *a = asl_temp(r, asl_room(r, e->a));
    asl_eval(r, e->a, a);
    enum asl_op op = (enum asl_op)e->op;
    if (op == OP_AND || op == OP_OR) {
        bool first = asl_truth(e->a->type, a);
        if (first == (op == OP_AND)) {
            union asl_slot *b = asl_temp(r, asl_room(r, e->b));
            asl_eval(r, e->b, b);
            first = asl_truth(e->b->type, b);
        }
        out[0].i = first;
        asl_temp_release(r->cx, mark);
        return;
    }
    union asl_slot *b = asl_temp(r, asl_room(r, e->b));
    asl_eval(r, e->b, b);
    size_t n = e->a->slots;
    if (op >= OP_LT && op <= OP_NE) {
        if (e->a->type.base == ASL_INT) {
            out[0].i = int_op(op, a[0].i, b[0].i);
        } else if (e->a->type.base == ASL_STRING) {
            out[0].i = (strcmp(a[0].s, b[0].s) == 0) == (op == OP_EQ);
        } else if (n == 1) {
            out[0].i = compare(op, a[0].f, b[0].f);
        } else { /* equal when all components are */
            bool same = true;
            for (size_t i = 0; i < n; i++)
                same = same && a[i].f == b[i].f;
            out[0].i = same == (op == OP_EQ);
        }
    } else if (e->type.base == ASL_INT) {
        out[0].i = int_op(op, a[0].i, b[0].i);
    } else if (e->type.base == ASL_CLOSURE) {
        closure_op(r, e, a, b, out);
    } else if (e->type.base == ASL_MATRIX) {
        matrix_op(e, a, b, out);
        if (asl_wants(r, e))
            zero_derivs(out, 16);
    } else {
        bool derivs = asl_wants(r, e);
        struct asl_place pa = {a, e->a->slots, asl_wants(r, e->a) ? e->a->slots : 0, e->a->type};
        struct asl_place pb = {b, e->b->slots, asl_wants(r, e->b) ? e->b->slots : 0, e->b->type};
        for (size_t i = 0; i < e->slots; i++) {
            dual x = asl_dual_at(&pa, i), y = asl_dual_at(&pb, i), z = float_op(op, x, y);
            if (r->cx->contract)
                z = asl_perturb_operation(r, op, x, y, z);
            asl_dual_put(out, e->slots, derivs, i, z);
        }
    }
    asl_temp_release(r->cx, mark);
}

static void eval_unary(struct asl_run *r, const struct asl_expr *e, union asl_slot *out)
{
    struct asl_temp_mark mark = asl_temp_mark(r->cx);
    union asl_slot *a = asl_temp(r, asl_room(r, e->a));
    asl_eval(r, e->a, a);
    if (e->op == OP_NOT) {
        out[0].i = !asl_truth(e->a->type, a);
    } else if (e->type.base == ASL_INT) {
        uint32_t u = (uint32_t)a[0].i;
        out[0].i = (int32_t)(e->op == OP_NEG ? 0u - u : ~u);
    } else {
        for (size_t i = 0; i < asl_room(r, e); i++)
            out[i].f = -a[i].f;
    }
    asl_temp_release(r->cx, mark);
}

/* ---- assignments ---------------------------------------------------------------------------- */

static void eval_assign(struct asl_run *r, const struct asl_expr *e, union asl_slot *out)
{
    struct asl_temp_mark mark = asl_temp_mark(r->cx);
    const struct asl_expr *value = e->op == OP_NONE ? e->b : e->c;
    struct asl_place p = asl_eval_place(r, e->a);
    const struct asl_place *held = r->held;
    if (e->op != OP_NONE)
        r->held = &p;
    union asl_slot *v = asl_temp(r, asl_room(r, value));
    asl_eval(r, value, v);
    r->held = held;
    if (p.n > value->slots) /* arrays of other lengths */
        p.n = value->slots;
    asl_store(&p, v, asl_wants(r, value) ? value->slots : 0);
    memcpy(out, v, e->slots * sizeof *v);
    if (asl_wants(r, e)) {
        if (asl_wants(r, value))
            memcpy(out + e->slots, v + value->slots, 2 * (size_t)e->slots * sizeof *v);
        else
            zero_derivs(out, e->slots);
    }
    asl_temp_release(r->cx, mark);
}

static void eval_incdec(struct asl_run *r, const struct asl_expr *e, union asl_slot *out)
{
    struct asl_temp_mark mark = asl_temp_mark(r->cx);
    struct asl_place p = asl_eval_place(r, e->a);
    if (!e->prefix)
        load(&p, asl_wants(r, e), out);
    for (size_t i = 0; i < p.n; i++) {
        if (e->type.base == ASL_INT)
            p.v[i].i = (int32_t)((uint32_t)p.v[i].i + (uint32_t)e->u.value);
        else
            p.v[i].f = p.v[i].f + (float)e->u.value;
    }
    if (e->prefix)
        load(&p, asl_wants(r, e), out);
    asl_temp_release(r->cx, mark);
}

/* ---- calls ---------------------------------------------------------------------------------- */

/* Variables and their fields are passed themselves; elements, components and other values as
 * copies, and those of outputs are copied back when the function has ended. */
static void eval_call(struct asl_run *r, const struct asl_expr *e, union asl_slot *out)
{
    const struct asl_function *f = e->function;
    struct asl_context *cx = r->cx;
    struct asl_temp_mark mark = asl_temp_mark(cx);
    asl_step(r, e->at);
    asl_check_stack(r, e->at);
    struct asl_place passed[64], *given = passed, *back = NULL;
    size_t count = e->arg_count, copies = 0;
    if (count > 64)
        given = asl_point_alloc(r, count, sizeof *given);
    size_t i = 0;
    for (const struct asl_formal *a = f->formals; a; a = a->next, i++) {
        const struct asl_expr *arg = e->args[i];
        bool derivs = (a->symbol->derivs & r->mode) != 0;
        struct asl_place p = (a->output && has_place(arg)) || asl_passed_itself(arg)
                                 ? asl_eval_place(r, arg)
                                 : asl_eval_any(r, arg);
        bool reference = asl_passed_itself(arg) && !(derivs && !p.d);
        if (!reference && has_place(arg)) { /* a copy */
            struct asl_place copy = p;
            copy.v = asl_temp(r, (size_t)p.n * (derivs ? 3 : 1));
            copy.d = derivs ? p.n : 0;
            load(&p, derivs, copy.v);
            if (asl_shows_changes(a, arg)) {
                if (!back)
                    back = asl_point_alloc(r, 2 * count, sizeof *back);
                back[copies++] = p;
                back[copies++] = copy;
            }
            p = copy;
        }
        p.type = a->type.array < 0 || a->type.base == ASL_UNKNOWN ? p.type : a->type;
        given[i] = p;
    }
    i = 0;
    for (const struct asl_formal *a = f->formals; a; a = a->next, i++)
        r->places[a->symbol->index] = given[i];
    uint32_t n = (uint32_t)asl_type_slots(f->type);
    struct asl_place ret = {.n = n, .d = n, .type = f->type, .v = asl_temp(r, 3 * (size_t)n)};
    asl_zero_value(f->type, ret.v);
    zero_derivs(ret.v, n);
    struct asl_place *old = r->ret;
    r->ret = n ? &ret : NULL;
    if (f->body)
        (void)asl_exec(r, f->body);
    r->ret = old;
    for (size_t k = 0; k < copies; k += 2)
        asl_store(&back[k], back[k + 1].v, back[k + 1].d);
    memcpy(out, ret.v, asl_room(r, e) * sizeof *out);
    asl_temp_release(cx, mark);
}

/* ---- constructors --------------------------------------------------------------------------- */

static void eval_list(struct asl_run *r, const struct asl_expr *e, union asl_slot *out)
{
    bool derivs = asl_wants(r, e);
    asl_zero_value(e->type, out);
    if (derivs)
        zero_derivs(out, e->slots);
    size_t k = 0;
    for (size_t i = 0; i < e->arg_count; i++) {
        const struct asl_expr *a = e->args[i];
        struct asl_temp_mark mark = asl_temp_mark(r->cx);
        union asl_slot *v = asl_temp(r, asl_room(r, a));
        asl_eval(r, a, v);
        memcpy(out + k, v, a->slots * sizeof *v);
        if (derivs && asl_wants(r, a)) {
            memcpy(out + e->slots + k, v + a->slots, a->slots * sizeof *v);
            memcpy(out + 2 * (size_t)e->slots + k, v + 2 * (size_t)a->slots, a->slots * sizeof *v);
        }
        k += a->slots;
        asl_temp_release(r->cx, mark);
    }
}

void asl_construct_in_space(struct asl_run *r, const struct asl_expr *e, const char *space,
                            union asl_slot *out)
{
    float m[16] = {0}, x[16];
    if (e->type.base == ASL_COLOR) {
        dual in[3], res[3];
        struct asl_place p = {out, 3, asl_wants(r, e) ? 3 : 0, e->type};
        for (size_t i = 0; i < 3; i++)
            in[i] = asl_dual_at(&p, i);
        if (!asl_colour_transform(space, "rgb", in, res)) {
            asl_report(r, ASL_MSG_ERROR, "Unknown color space transformation \"%.60s\" -> \"RGB\"",
                       space);
            return;
        }
        for (size_t i = 0; i < 3; i++)
            asl_dual_put(out, 3, asl_wants(r, e), i, res[i]);
        return;
    }
    if (!asl_space_matrix(r, space, m))
        return;
    if (e->type.base == ASL_MATRIX) {
        float a[16], res[16];
        for (size_t i = 0; i < 16; i++)
            a[i] = out[i].f;
        asl_matrix_multiply(m, a, res);
        for (size_t i = 0; i < 16; i++)
            out[i].f = res[i];
        return;
    }
    size_t rows = asl_wants(r, e) ? 3 : 1;
    float inv[16];
    if (e->type.base == ASL_NORMAL) { /* by the transposed inverse */
        if (!asl_matrix_inverse(m, inv))
            return;
        for (size_t i = 0; i < 16; i++)
            m[i] = inv[(i % 4) * 4 + i / 4];
    }
    for (size_t k = 0; k < rows; k++) {
        for (size_t c = 0; c < 3; c++) {
            x[c] = out[3 * k].f * m[c] + out[3 * k + 1].f * m[4 + c] + out[3 * k + 2].f * m[8 + c];
            if (e->type.base == ASL_POINT && k == 0)
                x[c] = x[c] + m[12 + c];
        }
        for (size_t c = 0; c < 3; c++)
            out[3 * k + c].f = x[c];
    }
}

void asl_construct_between(struct asl_run *r, const char *from, const char *to, union asl_slot *out)
{
    float m[16];
    bool ok = asl_space_pair(r, from, to, m);
    for (size_t i = 0; i < 16; i++)
        out[i].f = ok ? m[i] : i % 5 == 0 ? 1.0f : 0.0f;
}

static void eval_construct(struct asl_run *r, const struct asl_expr *e, union asl_slot *out)
{
    struct asl_temp_mark mark = asl_temp_mark(r->cx);
    bool derivs = asl_wants(r, e), space = e->args[0]->type.base == ASL_STRING;
    const char *name = "";
    size_t first = 0, parts = e->slots;
    if (space) {
        union asl_slot s[3];
        asl_eval(r, e->args[0], s);
        name = s[0].s;
        first = 1;
        if (e->type.base == ASL_MATRIX && e->arg_count == 2 &&
            e->args[1]->type.base == ASL_STRING) {
            asl_eval(r, e->args[1], s);
            r->cx->call_at = e->at;
            asl_construct_between(r, name, s[0].s, out);
            if (derivs)
                zero_derivs(out, parts);
            asl_temp_release(r->cx, mark);
            return;
        }
    }
    bool one = e->arg_count - first == 1;
    for (size_t i = 0; i < (one ? 1 : parts); i++) {
        const struct asl_expr *a = e->args[first + i];
        union asl_slot v[3];
        asl_eval(r, a, v);
        dual x = {v[0].f, asl_wants(r, a) ? v[1].f : 0, asl_wants(r, a) ? v[2].f : 0};
        if (one && e->type.base == ASL_MATRIX)
            for (size_t k = 0; k < 16; k++)
                asl_dual_put(out, 16, derivs, k, k % 5 == 0 ? x : d_const(0));
        else if (one)
            for (size_t k = 0; k < parts; k++)
                asl_dual_put(out, parts, derivs, k, x);
        else
            asl_dual_put(out, parts, derivs, i, x);
    }
    if (space) {
        r->cx->call_at = e->at;
        asl_construct_in_space(r, e, name, out);
    }
    asl_temp_release(r->cx, mark);
}

/* ---- all ------------------------------------------------------------------------------------ */

static void eval_loaded(struct asl_run *r, const struct asl_expr *e, union asl_slot *out)
{
    struct asl_temp_mark mark = asl_temp_mark(r->cx);
    struct asl_place p = asl_eval_place(r, e);
    if (p.n > e->slots)
        p.n = e->slots;
    load(&p, asl_wants(r, e), out);
    asl_temp_release(r->cx, mark);
}

static void eval_ternary(struct asl_run *r, const struct asl_expr *e, union asl_slot *out)
{
    struct asl_temp_mark mark = asl_temp_mark(r->cx);
    union asl_slot *c = asl_temp(r, asl_room(r, e->a));
    asl_eval(r, e->a, c);
    const struct asl_expr *v = asl_truth(e->a->type, c) ? e->b : e->c;
    asl_temp_release(r->cx, mark);
    asl_eval(r, v, out);
    if (asl_wants(r, e) && !asl_wants(r, v))
        zero_derivs(out, e->slots);
}

static void eval_convert(struct asl_run *r, const struct asl_expr *e, union asl_slot *out)
{
    struct asl_temp_mark mark = asl_temp_mark(r->cx);
    union asl_slot *a = asl_temp(r, asl_room(r, e->a));
    asl_eval(r, e->a, a);
    asl_convert_value(e->a->type, e->type, a, out, asl_wants(r, e->a), asl_wants(r, e));
    asl_temp_release(r->cx, mark);
}

static void eval_comma(struct asl_run *r, const struct asl_expr *e, union asl_slot *out)
{
    struct asl_temp_mark mark = asl_temp_mark(r->cx);
    asl_eval(r, e->a, asl_temp(r, asl_room(r, e->a)));
    asl_temp_release(r->cx, mark);
    asl_eval(r, e->b, out);
}

void asl_eval(struct asl_run *r, const struct asl_expr *e, union asl_slot *out)
{
    switch (e->kind) {
    case E_INT:
        out[0].i = e->u.i;
        break;
    case E_FLOAT:
        out[0].f = e->u.f;
        if (asl_wants(r, e))
            out[1].f = out[2].f = 0;
        break;
    case E_STRING:
        out[0].s = e->u.s;
        break;
    case E_SYMBOL:
    case E_INDEX:
    case E_FIELD:
    case E_MELEM:
        eval_loaded(r, e, out);
        break;
    case E_HELD:
        load(r->held, asl_wants(r, e), out);
        break;
    case E_UNARY:
        eval_unary(r, e, out);
        break;
    case E_BINARY:
        eval_binary(r, e, out);
        break;
    case E_TERNARY:
        eval_ternary(r, e, out);
        break;
    case E_ASSIGN:
        eval_assign(r, e, out);
        break;
    case E_INCDEC:
        eval_incdec(r, e, out);
        break;
    case E_CALL:
        if (e->function)
            eval_call(r, e, out);
        else
            asl_call_builtin(r, e, out);
        break;
    case E_CONSTRUCT:
        eval_construct(r, e, out);
        break;
    case E_LIST:
        eval_list(r, e, out);
        break;
    case E_CONVERT:
        eval_convert(r, e, out);
        break;
    case E_COMMA:
        eval_comma(r, e, out);
        break;
    default:
        asl_run_fail(r, STATUS_INTERNAL, e->at, "an expression of kind %d cannot be evaluated",
                     e->kind);
    }
}
