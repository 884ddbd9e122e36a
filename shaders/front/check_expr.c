/* SPDX-License-Identifier: Apache-2.0 */
/* check_expr.c: the type of every expression, and the conversions that the source leaves out. */
#include "check.h"

#include <string.h>

struct asl_expr *asl_make(struct asl_checker *k, enum asl_expr_kind kind, struct asl_loc at,
                          struct asl_type t)
{
    struct asl_expr *e = ASL_NEW(k->c, struct asl_expr);
    e->kind = (uint8_t)kind;
    e->op = OP_NONE;
    e->at = at;
    e->type = t;
    e->slots = (uint32_t)asl_type_slots(t);
    e->depth = 1;
    return e;
}

static void set_type(struct asl_expr *e, struct asl_type t)
{
    e->type = t;
    e->slots = (uint32_t)asl_type_slots(t);
}

static void spoil(struct asl_expr *e)
{
    e->kind = E_ERROR;
    e->a = e->b = e->c = NULL;
    e->arg_count = 0;
    set_type(e, asl_type_of(ASL_UNKNOWN));
}

static bool is_zero(const struct asl_expr *e)
{
    return (e->kind == E_INT && e->u.i == 0) || (e->kind == E_FLOAT && e->u.f == 0.0f);
}

static struct asl_expr *convert(struct asl_checker *k, struct asl_expr *e, struct asl_type t)
{
    struct asl_expr *x = asl_make(k, E_CONVERT, e->at, t);
    x->a = e;
    x->depth = (uint16_t)(e->depth + 1);
    return x;
}

static const char DROP_FRACTION[] = "write (int) to drop the fraction";

struct asl_expr *asl_coerce_stored(struct asl_checker *k, struct asl_expr *e, struct asl_type t,
                                   const char *what)
{
    if (!asl_is(e->type, ASL_FLOAT) || !asl_is(t, ASL_INT))
        return asl_coerce(k, e, t, what);
    asl_warn(k->c, e->at, DROP_FRACTION, "an int drops the fraction of this float");
    return convert(k, e, t);
}

struct asl_expr *asl_coerce(struct asl_checker *k, struct asl_expr *e, struct asl_type t,
                            const char *what)
{
    if (e->kind == E_LIST && e->type.base == ASL_UNKNOWN) {
        asl_check_list(k, e, t);
        return e;
    }
    if (e->type.base == ASL_UNKNOWN || t.base == ASL_UNKNOWN)
        return e;
    if (asl_same_type(e->type, t))
        return e;
    if (t.array == -1 && e->type.array &&
        asl_same_type(asl_element_type(t), asl_element_type(e->type)))
        return e;
    if (asl_is(t, ASL_CLOSURE) && is_zero(e))
        return convert(k, e, t);
    if (!asl_converts(e->type, t, NULL) || t.array) {
        const char *hint = NULL;
        if (asl_is(e->type, ASL_FLOAT) && asl_is(t, ASL_INT))
            hint = DROP_FRACTION;
        else if (asl_is_triple(e->type) && asl_is_scalar(t))
            hint = "take one component with [0], or luminance() or length()";
        else if (asl_is(t, ASL_STRING) && asl_is_numeric(e->type))
            hint = "format(\"%g\", x) makes a string";
        asl_error(k->c, e->at, hint, "cannot %s %s with a value of type %s", what,
                  asl_type_show(k, t), asl_type_show(k, e->type));
        spoil(e);
        return e;
    }
    return convert(k, e, t);
}

static void check_parts(struct asl_checker *k, struct asl_expr *e);

void asl_check_list(struct asl_checker *k, struct asl_expr *e, struct asl_type t)
{
    size_t want = t.array > 0 ? (size_t)t.array : t.array < 0 ? e->arg_count : 0;
    if (e->arg_count == 0 && !k->in_default)
        asl_error(k->c, e->at, "write the values, or leave the list out: the value is zero then",
                  "an empty list stands only as the default of a shader's parameter");
    if (t.base == ASL_UNKNOWN) {
        for (size_t i = 0; i < e->arg_count; i++)
            asl_check_expr(k, e->args[i], t);
        spoil(e);
        return;
    }
    if (!t.array &&
        (asl_is_triple(t) || asl_is(t, ASL_MATRIX))) { /* { r, g, b } constructs the value */
        e->kind = E_CONSTRUCT;
        e->type = t;
        check_parts(k, e);
        return;
    }
    if (!t.array && t.base != ASL_STRUCT) {
        if (e->arg_count == 1) { /* float x = { 1 } */
            asl_check_expr(k, e->args[0], t);
            e->args[0] = asl_coerce(k, e->args[0], t, "initialise");
            set_type(e, t);
            return;
        }
        asl_error(k->c, e->at, NULL, "a list of values cannot make a %s", asl_type_show(k, t));
        spoil(e);
        return;
    }
    if (!t.array)
        want = t.st->field_count;
    if (e->arg_count > want)
        asl_error(k->c, e->args[want]->at, NULL, "too many values: %s takes %zu",
                  asl_type_show(k, t), want);
    for (size_t i = 0; i < e->arg_count; i++) {
        struct asl_type item = t.array ? asl_element_type(t) : asl_type_of(ASL_UNKNOWN);
        if (!t.array && i < want)
            item = t.st->fields[i].type;
        if (e->args[i]->kind == E_LIST)
            asl_check_list(k, e->args[i], item);
        else {
            asl_check_expr(k, e->args[i], item);
            e->args[i] =
                asl_coerce(k, e->args[i], item, t.array ? "fill an element of" : "fill a field of");
        }
    }
    if (t.array < 0)
        t.array = e->arg_count ? (int32_t)e->arg_count : 1;
    set_type(e, t);
}

/* ---- places --------------------------------------------------------------------------------- */

static struct asl_symbol *root(const struct asl_expr *e)
{
    while (e && (e->kind == E_INDEX || e->kind == E_FIELD || e->kind == E_MELEM))
        e = e->a;
    return e && e->kind == E_SYMBOL ? e->symbol : NULL;
}

void asl_check_written(struct asl_checker *k, struct asl_expr *e, const char *what)
{
    if (e->type.base == ASL_UNKNOWN)
        return;
    struct asl_symbol *s = root(e);
    if (!s || !e->lvalue) {
        asl_error(k->c, e->at, NULL, "cannot %s this: it is a value, not a variable", what);
        return;
    }
    s->written = true;
    if (s->kind == SYM_PARAM && !s->output)
        asl_error(k->c, e->at, "declare it 'output', or copy it to a variable",
                  "cannot %s parameter '%s': it is not an output", what, s->name);
    else if (s->kind == SYM_FORMAL && !s->output) /* as in OSL, it may be done */
        asl_warn(k->c, e->at, "declare it 'output', or copy it to a variable",
                 "this changes parameter '%s' of the function, which is no output, and a variable "
                 "that is passed for it",
                 s->name);
    else if (s->kind == SYM_GLOBAL && s->global != GV_P && s->global != GV_N && s->global != GV_Ci)
        asl_warn(k->c, e->at, "copy it to a variable, unless all layers shall see the change",
                 "this changes the global variable '%s'", s->name);
}

static void check_name(struct asl_checker *k, struct asl_expr *e)
{
    struct asl_symbol *s = asl_lookup(k, e->name);
    if (s) {
        e->kind = E_SYMBOL;
        e->symbol = s;
        e->lvalue = true;
        s->used = true;
        set_type(e, s->type);
        if (!k->shader && s->kind == SYM_PARAM)
            asl_error(k->c, e->at, NULL, "'%s' is a shader's parameter: it is not known here",
                      e->name);
        return;
    }
    const char *near = NULL;
    for (size_t i = 0; i < CHECK_BUCKETS; i++)
        for (const struct asl_binding *b = k->buckets[i]; b; b = b->hidden)
            if (b->symbol)
                near = asl_nearest(e->name, near, b->name);
    const char *hint = near ? asl_sprintf(k->c, "did you mean '%s'?", near) : NULL;
    if (asl_lookup_function(k, e->name) || asl_builtin_find(e->name))
        hint = "it is a function: call it with ( )";
    asl_error(k->c, e->at, hint, "'%s' is not declared", e->name);
    spoil(e);
}

static int component(const char *name)
{
    if (name[0] == 0 || name[1] != 0)
        return -1;
    switch (name[0]) {
    case 'x':
    case 'r':
        return 0;
    case 'y':
    case 'g':
        return 1;
    case 'z':
    case 'b':
        return 2;
    default:
        return -1;
    }
}

static void check_field(struct asl_checker *k, struct asl_expr *e)
{
    asl_check_expr(k, e->a, asl_type_of(ASL_UNKNOWN));
    struct asl_type t = e->a->type;
    e->lvalue = e->a->lvalue;
    if (t.base == ASL_UNKNOWN) {
        spoil(e);
        return;
    }
    if (asl_is_triple(t)) {
        int c = component(e->name);
        bool colour = t.base == ASL_COLOR,
             letter_colour = c >= 0 && strchr("rgb", e->name[0]) != NULL;
        if (c < 0 || colour != letter_colour) {
            asl_error(k->c, e->at, NULL, "%s has no component '%s'; its components are %s",
                      asl_type_show(k, t), e->name, colour ? "r, g, b" : "x, y, z");
            spoil(e);
            return;
        }
        e->kind = E_INDEX;
        e->swizzle = true;
        e->b = asl_make(k, E_INT, e->at, asl_type_of(ASL_INT));
        e->b->u.i = c;
        set_type(e, asl_type_of(ASL_FLOAT));
        return;
    }
    if (t.base == ASL_STRUCT && !t.array) {
        const char *near = NULL;
        for (size_t i = 0; i < t.st->field_count; i++) {
            if (strcmp(t.st->fields[i].name, e->name) == 0) {
                e->u.field = (uint32_t)i;
                set_type(e, t.st->fields[i].type);
                return;
            }
            near = asl_nearest(e->name, near, t.st->fields[i].name);
        }
        asl_error(k->c, e->at, near ? asl_sprintf(k->c, "did you mean '%s'?", near) : NULL,
                  "struct '%s' has no field '%s'", t.st->name, e->name);
        spoil(e);
        return;
    }
    asl_error(k->c, e->at, NULL, "%s has no field '%s'", asl_type_show(k, t), e->name);
    spoil(e);
}

static void check_index(struct asl_checker *k, struct asl_expr *e)
{
    struct asl_type integer = asl_type_of(ASL_INT);
    asl_check_expr(k, e->b, integer);
    if (e->b->type.base != ASL_UNKNOWN && !asl_is(e->b->type, ASL_INT)) {
        asl_error(k->c, e->b->at, asl_is(e->b->type, ASL_FLOAT) ? DROP_FRACTION : NULL,
                  "an index must be an int, not %s", asl_type_show(k, e->b->type));
        spoil(e->b);
    }
    if (e->a->kind == E_INDEX) { /* m[i][j] of a matrix is one node */
        struct asl_expr *m = e->a->a;
        asl_check_expr(k, m, asl_type_of(ASL_UNKNOWN));
        if (asl_is(m->type, ASL_MATRIX)) {
            asl_check_expr(k, e->a->b, integer);
            if (e->a->b->type.base != ASL_UNKNOWN && !asl_is(e->a->b->type, ASL_INT))
                asl_error(k->c, e->a->b->at, NULL, "an index must be an int, not %s",
                          asl_type_show(k, e->a->b->type));
            e->kind = E_MELEM;
            e->c = e->b;
            e->b = e->a->b;
            e->a = m;
            e->lvalue = m->lvalue;
            set_type(e, asl_type_of(ASL_FLOAT));
            return;
        }
    }
    asl_check_expr(k, e->a, asl_type_of(ASL_UNKNOWN));
    struct asl_type t = e->a->type;
    e->lvalue = e->a->lvalue;
    if (t.base == ASL_UNKNOWN) {
        spoil(e);
    } else if (t.array) {
        set_type(e, asl_element_type(t));
        if (e->b->kind == E_INT && t.array > 0 && (e->b->u.i < 0 || e->b->u.i >= t.array))
            asl_warn(k->c, e->b->at, NULL,
                     "index %d is outside of the array (0 to %d); it will be clamped", e->b->u.i,
                     t.array - 1);
    } else if (asl_is_triple(t)) {
        set_type(e, asl_type_of(ASL_FLOAT));
        if (e->b->kind == E_INT && (e->b->u.i < 0 || e->b->u.i > 2))
            asl_warn(k->c, e->b->at, NULL,
                     "index %d is outside of the %s (0 to 2); it will be clamped", e->b->u.i,
                     asl_type_show(k, t));
    } else if (t.base == ASL_MATRIX) {
        asl_error(k->c, e->at, NULL, "a matrix takes two indices: m[row][column]");
        spoil(e);
    } else {
        asl_error(k->c, e->at, NULL, "%s has no elements or components", asl_type_show(k, t));
        spoil(e);
    }
}

/* ---- operators ------------------------------------------------------------------------------ */

static void not_allowed(struct asl_checker *k, struct asl_expr *e, struct asl_type l,
                        struct asl_type r)
{
    if (l.base != ASL_UNKNOWN && r.base != ASL_UNKNOWN) {
        const char *hint = NULL;
        if (l.base == ASL_STRING && r.base == ASL_STRING && e->op == OP_ADD)
            hint = "concat(a, b) joins strings";
        asl_error(k->c, e->at, hint, "operator %s is not defined for %s and %s",
                  asl_op_text((enum asl_op)e->op), asl_type_show(k, l), asl_type_show(k, r));
    }
    spoil(e);
}

/* The type of arithmetic on two triples of different kinds, or of a difference of points. */
static struct asl_type triple_result(enum asl_op op, struct asl_type l, struct asl_type r)
{
    if (op == OP_SUB && l.base == ASL_POINT && r.base == ASL_POINT)
        return asl_type_of(ASL_VECTOR);
    if (op == OP_ADD && r.base == ASL_POINT && (l.base == ASL_VECTOR || l.base == ASL_NORMAL))
        return r;
    return l;
}

static void both_to(struct asl_checker *k, struct asl_expr *e, struct asl_type t)
{
    e->a = asl_coerce(k, e->a, t, "compute");
    e->b = asl_coerce(k, e->b, t, "compute");
}

/* The type of arithmetic on two scalars. */
static struct asl_type scalar_result(struct asl_type l, struct asl_type r)
{
    return asl_type_of(l.base == ASL_INT && r.base == ASL_INT ? ASL_INT : ASL_FLOAT);
}

static void check_arithmetic(struct asl_checker *k, struct asl_expr *e, struct asl_type l,
                             struct asl_type r)
{
    enum asl_op op = (enum asl_op)e->op;
    struct asl_type t;
    if (asl_is_scalar(l) && asl_is_scalar(r)) {
        t = scalar_result(l, r);
        both_to(k, e, t);
    } else if (asl_is_triple(l) && asl_is_triple(r)) {
        t = triple_result(op, l, r);
    } else if ((asl_is_triple(l) && asl_is_scalar(r)) || (asl_is_scalar(l) && asl_is_triple(r))) {
        t = asl_is_triple(l) ? l : r;
        both_to(k, e, t);
    } else if ((op == OP_MUL || op == OP_DIV) && asl_is_numeric(l) && asl_is_numeric(r) &&
               !asl_is_triple(l) && !asl_is_triple(r)) { /* a matrix and a number or a matrix */
        t = asl_type_of(ASL_MATRIX);
        if (asl_is(l, ASL_INT))
            e->a = asl_coerce(k, e->a, asl_type_of(ASL_FLOAT), "compute");
        if (asl_is(r, ASL_INT))
            e->b = asl_coerce(k, e->b, asl_type_of(ASL_FLOAT), "compute");
    } else {
        not_allowed(k, e, l, r);
        return;
    }
    set_type(e, t);
}

static bool truth_value(struct asl_type t)
{
    return t.array == 0 && t.base != ASL_VOID && t.base != ASL_STRUCT;
}

/* A binary operator on structs: a call of the function that defines it. */
static void check_overloaded(struct asl_checker *k, struct asl_expr *e, struct asl_type l,
                             struct asl_type r)
{
    enum asl_op op = (enum asl_op)e->op;
    struct asl_type types[2] = {l, r};
    struct asl_function *f = asl_operator(k, op, types, 2);
    if (!f) {
        asl_error(k->c, e->at, asl_sprintf(k->c, "define %s()", asl_op_function(op)),
                  "operator %s is not defined for %s and %s", asl_op_text(op), asl_type_show(k, l),
                  asl_type_show(k, r));
        spoil(e);
        return;
    }
    struct asl_expr **args = ASL_ARRAY(k->c, struct asl_expr *, 2);
    args[0] = e->a;
    args[1] = e->b;
    e->kind = E_CALL;
    e->name = f->name;
    e->a = e->b = NULL;
    e->args = args;
    e->arg_count = 2;
    e->function = f;
    for (struct asl_formal *a = f->formals; a; a = a->next, args++)
        *args = asl_coerce(k, *args, a->type, "pass");
    asl_check_returns(k, f, e->at);
    set_type(e, f->type);
}

/* A closure times a colour or a number, in either order. */
static void check_scaled(struct asl_checker *k, struct asl_expr *e, struct asl_type l,
                         struct asl_type r)
{
    struct asl_expr **w = asl_is(l, ASL_CLOSURE) ? &e->b : &e->a;
    struct asl_type wt = (*w)->type;
    if (!asl_is(wt, ASL_COLOR) && !asl_is_scalar(wt)) {
        not_allowed(k, e, l, r);
        return;
    }
    *w = asl_coerce(k, *w, asl_type_of(ASL_COLOR), "scale");
    set_type(e, asl_type_of(ASL_CLOSURE));
}

/* Brings the operands of == and != to one type; false: they cannot be compared. */
static bool make_comparable(struct asl_checker *k, struct asl_expr *e, struct asl_type l,
                            struct asl_type r)
{
    if ((asl_is(l, ASL_STRING) && asl_is(r, ASL_STRING)) || (asl_is_triple(l) && asl_is_triple(r)))
        return true;
    if (asl_is_scalar(l) && asl_is_scalar(r)) {
        both_to(k, e, scalar_result(l, r));
        return true;
    }
    if (asl_is_numeric(l) && asl_is_numeric(r) && (asl_is_scalar(l) || asl_is_scalar(r))) {
        both_to(k, e, asl_is_scalar(l) ? r : l);
        return true;
    }
    return asl_is(l, ASL_MATRIX) && asl_is(r, ASL_MATRIX);
}

/* The operators whose result is an int: comparisons, logic, bits and shifts. */
static void check_to_int(struct asl_checker *k, struct asl_expr *e, struct asl_type l,
                         struct asl_type r)
{
    bool allowed;
    switch ((enum asl_op)e->op) {
    case OP_EQ:
    case OP_NE:
        allowed = make_comparable(k, e, l, r);
        break;
    case OP_LT:
    case OP_LE:
    case OP_GT:
    case OP_GE:
        allowed = asl_is_scalar(l) && asl_is_scalar(r);
        if (allowed)
            both_to(k, e, scalar_result(l, r));
        break;
    case OP_AND:
    case OP_OR:
        allowed = truth_value(l) && truth_value(r);
        break;
    default: /* bits and shifts */
        allowed = asl_is(l, ASL_INT) && asl_is(r, ASL_INT);
        break;
    }
    if (allowed)
        set_type(e, asl_type_of(ASL_INT));
    else
        not_allowed(k, e, l, r);
}

/* Types a binary operator whose operands are typed. */
static void check_binary_typed(struct asl_checker *k, struct asl_expr *e)
{
    struct asl_type l = e->a->type, r = e->b->type;
    enum asl_op op = (enum asl_op)e->op;
    if (l.base == ASL_UNKNOWN || r.base == ASL_UNKNOWN) {
        spoil(e);
        return;
    }
    if (op != OP_AND && op != OP_OR && (asl_is(l, ASL_STRUCT) || asl_is(r, ASL_STRUCT))) {
        check_overloaded(k, e, l, r);
        return;
    }
    switch (op) {
    case OP_ADD:
        if (asl_is(l, ASL_CLOSURE) && asl_is(r, ASL_CLOSURE))
            set_type(e, l);
        else
            check_arithmetic(k, e, l, r);
        return;
    case OP_MUL:
        if (asl_is(l, ASL_CLOSURE) || asl_is(r, ASL_CLOSURE))
            check_scaled(k, e, l, r);
        else
            check_arithmetic(k, e, l, r);
        return;
    case OP_SUB:
    case OP_DIV:
        check_arithmetic(k, e, l, r);
        return;
    case OP_MOD:
        check_arithmetic(k, e, l, r);
        if (e->type.base == ASL_MATRIX)
            not_allowed(k, e, l, r);
        return;
    default:
        check_to_int(k, e, l, r);
        return;
    }
}

static void check_unary(struct asl_checker *k, struct asl_expr *e, struct asl_type expected)
{
    asl_check_expr(k, e->a, e->op == OP_NOT ? asl_type_of(ASL_UNKNOWN) : expected);
    struct asl_type t = e->a->type;
    if (t.base == ASL_UNKNOWN) {
        spoil(e);
        return;
    }
    struct asl_function *f =
        asl_is(t, ASL_STRUCT) ? asl_operator(k, (enum asl_op)e->op, &t, 1) : NULL;
    if (f) {
        struct asl_expr **args = ASL_ARRAY(k->c, struct asl_expr *, 1);
        args[0] = e->a;
        e->kind = E_CALL;
        e->name = f->name;
        e->a = NULL;
        e->args = args;
        e->arg_count = 1;
        e->function = f;
        asl_check_returns(k, f, e->at);
        set_type(e, f->type);
        return;
    }
    if (e->op == OP_NEG && asl_is(t, ASL_CLOSURE)) { /* its product with -1 */
        e->kind = E_BINARY;
        e->op = OP_MUL;
        e->b = asl_make(k, E_FLOAT, e->at, asl_type_of(ASL_FLOAT));
        e->b->u.f = -1;
        e->b = convert(k, e->b, asl_type_of(ASL_COLOR));
        set_type(e, t);
        return;
    }
    bool ok = e->op == OP_NOT     ? truth_value(t)
              : e->op == OP_COMPL ? asl_is(t, ASL_INT)
                                  : asl_is_numeric(t);
    if (!ok) {
        asl_error(k->c, e->at, NULL, "operator %s is not defined for %s",
                  asl_op_text((enum asl_op)e->op), asl_type_show(k, t));
        spoil(e);
        return;
    }
    set_type(e, e->op == OP_NOT ? asl_type_of(ASL_INT) : t);
    if (e->op == OP_NEG && t.base == ASL_POINT)
        set_type(e, asl_type_of(ASL_POINT));
}

static void check_ternary(struct asl_checker *k, struct asl_expr *e, struct asl_type expected)
{
    asl_check_condition(k, e->a, "'?'");
    asl_check_expr(k, e->b, expected);
    asl_check_expr(k, e->c, expected);
    struct asl_type l = e->b->type, r = e->c->type, t = l;
    if (l.base == ASL_UNKNOWN || r.base == ASL_UNKNOWN) {
        spoil(e);
        return;
    }
    if (asl_same_type(l, r) && !l.array) {
        ;
    } else if (asl_is(l, ASL_CLOSURE) && is_zero(e->c)) {
        ;
    } else if (asl_is(r, ASL_CLOSURE) && is_zero(e->b)) {
        t = r;
    } else if (!l.array && !r.array && asl_converts(r, l, NULL)) {
        ;
    } else if (!l.array && !r.array && asl_converts(l, r, NULL)) {
        t = r;
    } else {
        asl_error(k->c, e->at, NULL, "the two results of '? :' do not go together: %s and %s",
                  asl_type_show(k, l), asl_type_show(k, r));
        spoil(e);
        return;
    }
    e->b = asl_coerce(k, e->b, t, "choose");
    e->c = asl_coerce(k, e->c, t, "choose");
    set_type(e, t);
}

static void check_assign(struct asl_checker *k, struct asl_expr *e)
{
    asl_check_expr(k, e->a, asl_type_of(ASL_UNKNOWN));
    struct asl_type t = e->a->type;
    if (e->b->kind == E_LIST && e->op == OP_NONE)
        asl_check_list(k, e->b, t);
    else
        asl_check_expr(k, e->b, t);
    asl_check_written(k, e->a, "assign to");
    if (t.base == ASL_UNKNOWN || e->b->type.base == ASL_UNKNOWN) {
        spoil(e);
        return;
    }
    if (e->op == OP_NONE && t.array > 0 && e->b->type.array > 0 &&
        asl_same_type(asl_element_type(t), asl_element_type(e->b->type))) {
        set_type(e, e->b->type); /* of other lengths: as many elements as both have */
        return;
    }
    if (t.array && (t.array < 0 || !asl_same_type(t, e->b->type))) {
        asl_error(k->c, e->at, NULL, "cannot assign %s to %s", asl_type_show(k, e->b->type),
                  asl_type_show(k, t));
        spoil(e);
        return;
    }
    if (e->op == OP_NONE) {
        e->b = asl_coerce_stored(k, e->b, t, "fill");
    } else { /* c is the whole right side: held op b */
        struct asl_expr *held = asl_make(k, E_HELD, e->a->at, t);
        if (asl_is(t, ASL_STRUCT) && asl_passed_itself(e->a)) {
            held = asl_make(k, E_SYMBOL, e->a->at, t);
            *held = *e->a;
        }
        struct asl_expr *v = asl_make(k, E_BINARY, e->at, t);
        v->op = e->op;
        v->a = held;
        v->b = e->b;
        v->depth = (uint16_t)(e->b->depth + 1);
        check_binary_typed(k, v);
        e->c = asl_coerce_stored(k, v, t, "fill");
        if (e->c->type.base == ASL_UNKNOWN) {
            spoil(e);
            return;
        }
    }
    set_type(e, t);
}

static void check_incdec(struct asl_checker *k, struct asl_expr *e)
{
    const char *name = e->u.value > 0 ? "++" : "--";
    asl_check_expr(k, e->a, asl_type_of(ASL_UNKNOWN));
    asl_check_written(k, e->a, e->u.value > 0 ? "increment" : "decrement");
    if (e->a->type.base != ASL_UNKNOWN && !asl_is_scalar(e->a->type) &&
        !asl_is_triple(e->a->type)) {
        asl_error(k->c, e->at, NULL, "operator %s is not defined for %s", name,
                  asl_type_show(k, e->a->type));
        spoil(e);
        return;
    }
    set_type(e, e->a->type);
}

static void check_cast(struct asl_checker *k, struct asl_expr *e)
{
    struct asl_type t = e->type;
    asl_check_expr(k, e->a, t);
    struct asl_type from = e->a->type;
    e->kind = E_CONVERT;
    if (from.base == ASL_UNKNOWN || t.base == ASL_UNKNOWN) {
        spoil(e);
        return;
    }
    bool ok = asl_converts(from, t, NULL) || (asl_is(from, ASL_FLOAT) && asl_is(t, ASL_INT)) ||
              (asl_is(t, ASL_CLOSURE) && is_zero(e->a));
    if (!ok || from.array) {
        asl_error(k->c, e->at,
                  asl_is_triple(from) && asl_is_scalar(t) ? "take one component with [0]" : NULL,
                  "cannot cast %s to %s", asl_type_show(k, from), asl_type_show(k, t));
        spoil(e);
        return;
    }
    set_type(e, t);
}

/* type(...): a conversion, or a value made of parts, maybe given in a named space. */
/* A constructor of anything but a struct. */
static void check_parts(struct asl_checker *k, struct asl_expr *e)
{
    struct asl_type t = e->type, number = asl_type_of(ASL_FLOAT);
    size_t n = e->arg_count;
    bool bad = false;
    for (size_t i = 0; i < n; i++) {
        if (e->args[i]->kind == E_LIST)
            asl_check_list(k, e->args[i], number);
        else
            asl_check_expr(k, e->args[i], n == 1 ? t : number);
        bad = bad || e->args[i]->type.base == ASL_UNKNOWN;
    }
    if (bad) {
        spoil(e);
        return;
    }
    size_t parts = asl_is_triple(t) ? 3 : asl_is(t, ASL_MATRIX) ? 16 : 1;
    bool space = n > 0 && asl_is(e->args[0]->type, ASL_STRING) && parts > 1;
    if (n == 1 && !space) { /* a conversion */
        e->kind = E_CAST;
        e->a = e->args[0];
        struct asl_type from = e->a->type;
        bool ok = (asl_converts(from, t, NULL) || (asl_is(from, ASL_FLOAT) && asl_is(t, ASL_INT)) ||
                   (asl_is(t, ASL_CLOSURE) && is_zero(e->a))) &&
                  !from.array;
        e->arg_count = 0;
        e->kind = E_CONVERT;
        if (!ok) {
            asl_error(k->c, e->at, NULL, "cannot make %s of %s", asl_type_show(k, t),
                      asl_type_show(k, from));
            spoil(e);
            return;
        }
        set_type(e, t);
        return;
    }
    size_t given = n - space;
    bool two_spaces =
        space && asl_is(t, ASL_MATRIX) && n == 2 && asl_is(e->args[1]->type, ASL_STRING);
    if (n == 0 || (!two_spaces && given != parts && !(given == 1 && space))) {
        asl_error(k->c, e->at, NULL, "%s takes %zu values%s, %zu given", asl_type_show(k, t), parts,
                  parts > 1 ? " or one, maybe after the name of a space" : "", given);
        spoil(e);
        return;
    }
    for (size_t i = space; i < n && !two_spaces; i++)
        e->args[i] = asl_coerce(k, e->args[i], number, "fill");
    set_type(e, t);
}

static void check_construct(struct asl_checker *k, struct asl_expr *e)
{
    struct asl_type t = e->type;
    if (!asl_is(t, ASL_STRUCT)) {
        check_parts(k, e);
        return;
    }
    e->kind = E_LIST;
    if (e->arg_count != t.st->field_count)
        asl_error(k->c, e->at, NULL, "struct '%s' takes %zu values, %zu given", t.st->name,
                  t.st->field_count, e->arg_count);
    asl_check_list(k, e, t);
}

void asl_check_condition(struct asl_checker *k, struct asl_expr *e, const char *where)
{
    asl_check_expr(k, e, asl_type_of(ASL_UNKNOWN));
    if (e->type.base != ASL_UNKNOWN && !truth_value(e->type))
        asl_error(k->c, e->at, NULL, "%s cannot be the condition of %s", asl_type_show(k, e->type),
                  where);
    if (e->kind == E_ASSIGN && !e->paren)
        asl_warn(k->c, e->at, "write == to compare, or put it in ( ) if it is meant",
                 "an assignment is used as a condition");
}

/* Does the name mean the language's own function, not one of the shader? */
static bool is_of_language(const struct asl_checker *k, const char *name)
{
    const struct asl_function *f = asl_lookup_function(k, name);
    return (!f || f->component) && !asl_hides_function(k, name);
}

/* ambient_occlusion(pairs...): light that is not blocked, (1 - occlusion(pairs...)) * emission(). */
static bool is_open_light(const struct asl_checker *k, const struct asl_expr *e)
{
    return !e->function && !e->builtin && strcmp(e->name, "ambient_occlusion") == 0 &&
           !asl_lookup_function(k, e->name) && !asl_hides_function(k, e->name) &&
           is_of_language(k, "occlusion") && is_of_language(k, "emission");
}

static struct asl_expr *spelt(struct asl_checker *k, const struct asl_expr *at, struct asl_expr as)
{
    struct asl_expr *x = ASL_NEW(k->c, struct asl_expr);
    *x = as;
    x->at = at->at;
    x->depth = at->depth;
    return x;
}

static void spell_open_light(struct asl_checker *k, struct asl_expr *e)
{
    struct asl_expr asked = *e;
    asked.name = "occlusion";
    struct asl_expr *one = spelt(k, e, (struct asl_expr){.kind = E_FLOAT, .u = {.f = 1.0f}});
    struct asl_expr *open = spelt(
        k, e, (struct asl_expr){.kind = E_BINARY, .op = OP_SUB, .a = one, .b = spelt(k, e, asked)});
    struct asl_expr *light =
        spelt(k, e, (struct asl_expr){.kind = E_CALL, .op = OP_NONE, .name = "emission"});
    *e = (struct asl_expr){.kind = E_BINARY,
                           .op = OP_MUL,
                           .a = open,
                           .b = light,
                           .at = e->at,
                           .depth = e->depth,
                           .paren = e->paren};
}

void asl_check_expr(struct asl_checker *k, struct asl_expr *e, struct asl_type expected)
{
    switch (e->kind) {
    case E_INT:
        set_type(e, asl_type_of(ASL_INT));
        break;
    case E_FLOAT:
        set_type(e, asl_type_of(ASL_FLOAT));
        break;
    case E_STRING:
        set_type(e, asl_type_of(ASL_STRING));
        break;
    case E_NAME:
        check_name(k, e);
        break;
    case E_INDEX:
        if (e->type.base == ASL_UNKNOWN)
            check_index(k, e);
        break;
    case E_FIELD:
        if (e->type.base == ASL_UNKNOWN)
            check_field(k, e);
        break;
    case E_UNARY:
        check_unary(k, e, expected);
        break;
    case E_BINARY: {
        bool arithmetic = e->op <= OP_MOD;
        struct asl_type want = arithmetic ? expected : asl_type_of(ASL_UNKNOWN);
        asl_check_expr(k, e->a, want);
        asl_check_expr(k, e->b, want);
        check_binary_typed(k, e);
        break;
    }
    case E_TERNARY:
        check_ternary(k, e, expected);
        break;
    case E_ASSIGN:
        check_assign(k, e);
        break;
    case E_INCDEC:
        check_incdec(k, e);
        break;
    case E_CALL:
        if (is_open_light(k, e)) {
            spell_open_light(k, e);
            asl_check_expr(k, e, expected);
        } else {
            asl_check_call(k, e, expected);
        }
        break;
    case E_CONSTRUCT:
        check_construct(k, e);
        break;
    case E_CAST:
        check_cast(k, e);
        break;
    case E_LIST:
        if (expected.base != ASL_UNKNOWN) {
            asl_check_list(k, e, expected);
        } else {
            asl_error(k->c, e->at, NULL, "a list of values cannot stand here");
            asl_check_list(k, e, expected);
        }
        break;
    case E_COMMA:
        asl_check_expr(k, e->a, asl_type_of(ASL_UNKNOWN));
        asl_check_expr(k, e->b, expected);
        set_type(e, e->b->type);
        break;
    default: /* typed already, or E_ERROR */
        break;
    }
}
