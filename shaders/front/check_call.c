/* SPDX-License-Identifier: Apache-2.0 */
/* check_call.c: which function a call means, and what its arguments must be. */
#include "check.h"

#include <math.h>
#include <string.h>

/* One way to read a call. */
struct candidate {
    struct asl_function *function;
    const struct asl_builtin *builtin;
    const struct asl_overload *overload;
    struct asl_type ret;
    unsigned cost;
    int result; /* 32: the expected type, 16: converts to it or nothing is expected, 0: neither;
                   plus a preference */
    const struct asl_function *rival; /* another function that a list fits as well */
    const struct asl_function *twin;  /* another one that fits as well but for its result */
};

/* Can a value of this type go into a parameter that is written? */
static bool output_fits(const struct asl_expr *arg, struct asl_type formal)
{
    if (formal.base == ASL_UNKNOWN)
        return true;
    struct asl_type a = arg->type;
    if (a.array || formal.array)
        return asl_converts(a, formal, NULL);
    return asl_same_type(a, formal) || (asl_is_triple(a) && asl_is_triple(formal));
}

/* Types those parts of a list whose type does not depend on what is expected. */
static void type_plain_parts(struct asl_checker *k, struct asl_expr *list)
{
    for (size_t i = 0; i < list->arg_count; i++) {
        struct asl_expr *part = list->args[i];
        if (part->kind == E_LIST)
            type_plain_parts(k, part);
        else if (part->kind == E_NAME)
            asl_check_expr(k, part, asl_type_of(ASL_UNKNOWN));
    }
}

static bool list_fits(const struct asl_expr *list, struct asl_type t);

static bool part_fits(const struct asl_expr *part, struct asl_type t)
{
    if (part->kind == E_LIST)
        return list_fits(part, t);
    if (part->type.base == ASL_UNKNOWN || asl_is(t, ASL_CLOSURE))
        return true; /* of numbers only 0 makes a closure: asl_coerce() tells */
    return asl_converts(part->type, t, NULL);
}

/* Could asl_check_list() make a t of this list? Parts that are not typed yet fit anything. */
static bool list_fits(const struct asl_expr *list, struct asl_type t)
{
    size_t n = list->arg_count;
    if (t.base == ASL_UNKNOWN)
        return true;
    if (t.array || t.base == ASL_STRUCT) {
        size_t room = t.array < 0 ? n : t.array ? (size_t)t.array : t.st->field_count;
        bool fits = n <= room;
        for (size_t i = 0; fits && i < n; i++)
            fits = part_fits(list->args[i], t.array ? asl_element_type(t) : t.st->fields[i].type);
        return fits;
    }
    size_t parts = asl_is_triple(t) ? 3 : asl_is(t, ASL_MATRIX) ? 16 : 1;
    if (parts == 1 || n <= 1)
        return n == 1 && part_fits(list->args[0], t);
    bool space = asl_is(list->args[0]->type, ASL_STRING);
    if (n == 2 && parts == 16 && space && asl_is(list->args[1]->type, ASL_STRING))
        return true;
    bool fits = n == parts + space || (space && n == 2);
    for (size_t i = space; fits && i < n; i++)
        fits = part_fits(list->args[i], asl_type_of(ASL_FLOAT));
    return fits;
}

static bool argument_cost(const struct asl_expr *arg, struct asl_type formal, bool output,
                          unsigned *total)
{
    unsigned cost = 0;
    if (arg->kind == E_LIST && arg->type.base == ASL_UNKNOWN) {
        bool takes = formal.array || formal.base == ASL_STRUCT || asl_is_triple(formal) ||
                     formal.base == ASL_MATRIX || formal.base == ASL_UNKNOWN;
        return takes && !output && list_fits(arg, formal);
    }
    if (arg->type.base == ASL_VOID || (output && !output_fits(arg, formal)))
        return false;
    if (formal.base == ASL_UNKNOWN && formal.array == -1 && !arg->type.array &&
        arg->type.base != ASL_UNKNOWN)
        return false;
    if (!asl_converts(arg->type, formal, &cost))
        return false;
    *total += cost;
    return true;
}

/* Are the arguments from `first` on names, each with a value? */
static bool are_pairs(const struct asl_expr *e, size_t first)
{
    for (size_t i = first; i < e->arg_count; i += 2)
        if (!asl_is(e->args[i]->type, ASL_STRING))
            return false;
    return (e->arg_count - first) % 2 == 0;
}

static bool try_function(const struct asl_expr *e, struct asl_function *f, struct candidate *out)
{
    *out = (struct candidate){.function = f, .ret = f->type};
    if (f->component ? e->arg_count < f->formal_count : f->formal_count != e->arg_count)
        return false;
    size_t i = 0;
    for (const struct asl_formal *a = f->formals; a; a = a->next, i++)
        if (!argument_cost(e->args[i], a->type, a->output, &out->cost))
            return false;
    return are_pairs(e, f->formal_count);
}

static bool try_overload(const struct asl_expr *e, const struct asl_builtin *b,
                         const struct asl_overload *o, struct candidate *out)
{
    *out = (struct candidate){.builtin = b, .overload = o, .ret = o->ret};
    if (e->arg_count < o->count || (e->arg_count > o->count && !o->tail))
        return false;
    for (size_t i = 0; i < o->count; i++)
        if (!argument_cost(e->args[i], o->args[i], (o->outputs >> i) & 1, &out->cost))
            return false;
    if (o->tail == '.') {
        if (!are_pairs(e, o->count))
            return false;
    } else if (o->tail == 'A') {
        for (size_t i = o->count; i < e->arg_count; i++)
            if (!argument_cost(e->args[i], o->args[o->count - 1], false, &out->cost))
                return false;
    }
    return true;
}

/* When the result decides and nothing else does: the earlier the better. */
static int preference(struct asl_type t)
{
    static const uint8_t order[] = {ASL_STRUCT, ASL_CLOSURE, ASL_STRING, ASL_MATRIX, ASL_NORMAL,
                                    ASL_POINT,  ASL_VECTOR,  ASL_COLOR,  ASL_INT,    ASL_FLOAT};
    for (int i = 0; i < (int)sizeof order; i++)
        if (order[i] == t.base)
            return i + 1;
    return 0;
}

static int result_rank(struct asl_type ret, struct asl_type expected)
{
    if (expected.base == ASL_UNKNOWN)
        return 16 + preference(ret);
    if (asl_same_type(ret, expected))
        return 32;
    return (asl_converts(ret, expected, NULL) ? 16 : 0) + preference(ret);
}

static bool better(const struct candidate *a, const struct candidate *b)
{
    if (a->cost != b->cost)
        return a->cost < b->cost;
    return a->result > b->result;
}

static bool has_list(const struct asl_expr *call)
{
    for (size_t i = 0; i < call->arg_count; i++)
        if (call->args[i]->kind == E_LIST && call->args[i]->type.base == ASL_UNKNOWN)
            return true;
    return false;
}

/* Of functions that cost the same, only the type that is expected decides what a list means. */
static bool rivals(const struct candidate *a, const struct candidate *b)
{
    return a->cost == b->cost && (a->result == 32) == (b->result == 32) &&
           !asl_same_signature(a->function, b->function);
}

/* Functions of one block that cost the same, neither of which gives what is expected. */
static bool twins(const struct candidate *a, const struct candidate *b)
{
    return a->cost == b->cost && a->result < 32 && a->result / 16 == b->result / 16 &&
           a->function->parent == b->function->parent &&
           !asl_same_type(a->function->type, b->function->type);
}

/* Finds the cheapest reading; earlier ones win ties: inner functions, outer ones, builtins in table
 * order. A function is not seen inside its own body. */
static bool resolve(struct asl_checker *k, const struct asl_expr *e, struct asl_type expected,
                    struct candidate *best, bool *known)
{
    bool found = false;
    struct candidate c;
    struct asl_function *first = asl_lookup_function(k, e->name);
    struct asl_function *running = NULL;
    *known = first != NULL;
    for (struct asl_function *f = first; f; f = f->next_overload) {
        if (!try_function(e, f, &c))
            continue;
        if (f->busy) {
            running = f;
            continue;
        }
        c.result = result_rank(c.ret, expected);
        if (found && has_list(e) && rivals(&c, best)) {
            best->rival = f;
        } else {
            const struct candidate old = *best;
            if (!found || better(&c, best))
                *best = c;
            if (found && twins(&c, &old))
                best->twin = best->function == f ? old.function : f;
        }
        found = true;
    }
    const struct asl_builtin *b = asl_builtin_find(e->name);
    *known = *known || b;
    for (size_t i = 0; b && i < b->overload_count; i++) {
        if (!try_overload(e, b, &b->overloads[i], &c))
            continue;
        c.result = result_rank(c.ret, expected);
        if (!found || better(&c, best))
            *best = c;
        found = true;
    }
    if (!found && running) /* no other function is meant: recursion, which the caller reports */
        try_function(e, running, best);
    return found || running;
}

static void show_signature(struct text *t, const struct asl_overload *o)
{
    char buf[ASL_TYPE_TEXT_SIZE];
    text_puts(t, "(");
    for (size_t i = 0; i < o->count; i++) {
        if (i)
            text_puts(t, ", ");
        if ((o->outputs >> i) & 1)
            text_puts(t, "output ");
        text_puts(t, o->args[i].base == ASL_UNKNOWN ? "any type"
                                                    : asl_type_text(o->args[i], buf, sizeof buf));
    }
    if (o->tail)
        text_puts(t, o->count ? ", ..." : "...");
    text_puts(t, ")");
}

static void no_match(struct asl_checker *k, struct asl_expr *e, bool known)
{
    if (!known) {
        const char *near = NULL, *hint = NULL;
        for (size_t i = 0; i < BI_COUNT; i++) {
            const struct asl_builtin *b = asl_builtin_at(i);
            if (!b->declared)
                near = asl_nearest(e->name, near, b->name);
            else if (strcmp(b->name, e->name) == 0)
                hint = asl_sprintf(k->c,
                                   "a prototype declares it: closure color %s(...) "
                                   "[[ int builtin = 1 ]];",
                                   b->name);
        }
        for (size_t i = 0; i < CHECK_BUCKETS; i++)
            for (const struct asl_binding *b = k->buckets[i]; b; b = b->hidden)
                if (b->function)
                    near = asl_nearest(e->name, near, b->name);
        if (!hint && near)
            hint = asl_sprintf(k->c, "did you mean '%s'?", near);
        asl_error(k->c, e->at, hint, "there is no function '%s'", e->name);
        return;
    }
    struct text args = {0}, hint = {0};
    for (size_t i = 0; i < e->arg_count; i++) {
        text_puts(&args, i ? ", " : "");
        text_puts(&args, e->args[i]->kind == E_LIST ? "{...}" : asl_type_show(k, e->args[i]->type));
    }
    unsigned shown = 0;
    for (struct asl_function *f = asl_lookup_function(k, e->name); f && shown < 6;
         f = f->next_overload, shown++) {
        text_printf(&hint, "%s%s(", shown ? ", " : "it takes ", f->name);
        for (const struct asl_formal *a = f->formals; a; a = a->next)
            text_printf(&hint, "%s%s%s", a == f->formals ? "" : ", ", a->output ? "output " : "",
                        asl_type_show(k, a->type));
        text_puts(&hint, ")");
    }
    const struct asl_builtin *b = asl_builtin_find(e->name);
    for (size_t i = 0; b && i < b->overload_count && shown < 6; i++, shown++) {
        text_puts(&hint, shown ? ", " : "it takes ");
        show_signature(&hint, &b->overloads[i]);
    }
    if (b && b->overload_count > 6)
        text_puts(&hint, ", ...");
    asl_error(k->c, e->at, hint.data ? asl_strndup(k->c, hint.data, hint.len) : NULL,
              "'%s' cannot be called with (%s)", e->name, args.data ? args.data : "");
    text_free(&args);
    text_free(&hint);
}

/* The best of the functions of this name, if it beats *best_cost. */
static void find_operator(const struct asl_checker *k, const char *name,
                          const struct asl_type *types, size_t n, struct asl_function **best,
                          unsigned *best_cost)
{
    for (struct asl_function *f = asl_lookup_function(k, name); f; f = f->next_overload) {
        unsigned total = 0;
        size_t i = 0;
        bool ok = f->formal_count == n && !f->busy;
        for (const struct asl_formal *a = f->formals; ok && a; a = a->next, i++) {
            unsigned cost = 0;
            ok = !a->output && asl_converts(types[i], a->type, &cost);
            total += cost;
        }
        if (ok && (!*best || total < *best_cost)) {
            *best = f;
            *best_cost = total;
        }
    }
}

struct asl_function *asl_operator(struct asl_checker *k, enum asl_op op,
                                  const struct asl_type *types, size_t n)
{
    struct asl_function *best = NULL;
    unsigned cost = 0;
    if (!asl_op_function(op))
        return NULL;
    find_operator(k, asl_op_function(op), types, n, &best, &cost);
    if (op == OP_NE) /* as OSL's manual calls it; its compiler knows the other name */
        find_operator(k, "__operator__ne__", types, n, &best, &cost);
    if (best)
        best->used = true;
    return best;
}

void asl_check_returns(struct asl_checker *k, const struct asl_function *f, struct asl_loc at)
{
    if (f->type.base == ASL_VOID || f->type.base == ASL_UNKNOWN || f->returns || f->busy)
        return;
    asl_error(k->c, at, "end it with a return", "function '%s' has no return: it gives no %s",
              f->name, asl_type_show(k, f->type));
    asl_note(k->c, f->at, "it is defined here");
}

/* A number that the text spells out. */
static bool spelt_number(const struct asl_expr *e, double *out)
{
    double sign = 1;
    for (; e->kind == E_UNARY || e->kind == E_CONVERT; e = e->a)
        if (e->kind == E_UNARY && e->op == OP_NEG)
            sign = -sign;
    if (e->kind == E_INT || e->kind == E_FLOAT)
        *out = sign * (e->kind == E_INT ? (double)e->u.i : (double)e->u.f);
    return e->kind == E_INT || e->kind == E_FLOAT;
}

static void check_texture_value(struct asl_checker *k, const struct asl_expr *e,
                                const struct asl_texture_option *o, const struct asl_expr *value)
{
    double x;
    if (o->idle) {
        asl_warn(k->c, value->at, "remove it", "\"%s\" changes nothing of an image", o->key);
    } else if (o->flat && e->builtin->id == BI_ENVIRONMENT) {
        asl_warn(k->c, value->at, "remove it",
                 "\"%s\" changes nothing: environment() wraps around and ends at the poles",
                 o->key);
    } else if (strcmp(o->key, "subimage") == 0) {
        if (spelt_number(value, &x) && x < 0)
            asl_error(k->c, value->at, "0 or more, or a name", "there is no subimage %g", x);
    } else if (o->words && value->kind == E_STRING && !asl_texture_word(o, value->u.s)->name) {
        const char *near = NULL;
        for (const struct asl_texture_word *w = o->words; w->name; w++)
            near = asl_nearest(value->u.s, near, w->name);
        asl_error(k->c, value->at,
                  o->wraps ? "black, clamp, default, mirror, periodic"
                           : "closest, cubic, linear, smartcubic",
                  near ? "\"%s\" has no value \"%.60s\": did you mean \"%s\"?"
                       : "\"%s\" has no value \"%.60s\"",
                  o->key, value->u.s, near);
    }
}

/* Keys that are only known when the shader runs write nothing. */
static void check_texture(struct asl_checker *k, struct asl_expr *e)
{
    for (size_t i = e->overload->count; i + 1 < e->arg_count; i += 2) {
        const struct asl_expr *key = e->args[i];
        struct asl_expr *value = e->args[i + 1];
        if (key->kind != E_STRING || !key->u.s[0]) /* OSL passes over pairs of an empty name */
            continue;
        const struct asl_texture_option *o = asl_texture_option(key->u.s);
        if (!o)
            asl_error(
                k->c, key->at,
                "alpha, anisotropic, blur, errormessage, fill, firstchannel, interp, missingalpha, "
                "missingcolor, sblur, subimage, swidth, swrap, tblur, twidth, twrap, width, "
                "wrap",
                "%s() has no option \"%.60s\"", e->name, key->u.s);
        else if (o->written && i + 1 >= 32)
            asl_error(k->c, key->at, "put it before the others", "too many pairs before \"%s\"",
                      o->key);
        else if (!asl_texture_takes(o, value->type))
            asl_error(k->c, value->at, NULL, "\"%s\" %s a %s, not %s", o->key,
                      o->written ? "writes" : "takes", asl_type_show(k, asl_type_of(o->base)),
                      asl_type_show(k, value->type));
        else if (o->written)
            e->writes |= 1u << (i + 1);
        else
            check_texture_value(k, e, o, value);
        if (o && o->written)
            asl_check_written(k, value, "write to");
    }
}

/* The pairs of trace() and occlusion(): their names are known now, and so is what stands behind
 * `shade` and `traceset`, of which there is nothing but the default. */
static void check_rays(struct asl_checker *k, struct asl_expr *e)
{
    static const struct {
        const char *key;
        enum asl_base base;
        bool trace, occlusion;
        double least, most;
    } options[] = {{"mindist", ASL_FLOAT, true, false, 0, INFINITY},
                   {"maxdist", ASL_FLOAT, true, true, 0, INFINITY},
                   {"samples", ASL_INT, false, true, 1, ASL_OCCLUSION_RAYS},
                   {"shade", ASL_INT, true, false, 0, 0},
                   {"traceset", ASL_STRING, true, false, 0, 0}};
    const size_t rows = sizeof options / sizeof *options;
    const bool trace = e->builtin->id == BI_TRACE;
    for (size_t i = e->overload->count; i + 1 < e->arg_count; i += 2) {
        const struct asl_expr *key = e->args[i], *value = e->args[i + 1];
        size_t at = 0;
        double x;
        while (key->kind == E_STRING && at < rows &&
               (strcmp(key->u.s, options[at].key) != 0 ||
                !(trace ? options[at].trace : options[at].occlusion)))
            at++;
        if (key->kind != E_STRING || at == rows) {
            asl_error(k->c, key->at,
                      trace ? "mindist, maxdist, shade, traceset" : "maxdist, samples",
                      "%s() has no option %s%s%s", e->name, key->kind == E_STRING ? "\"" : "",
                      key->kind == E_STRING ? key->u.s : "that is known only when it runs",
                      key->kind == E_STRING ? "\"" : "");
            continue;
        }
        const bool number = options[at].base != ASL_STRING;
        if (!asl_is(value->type, options[at].base) &&
            !(options[at].base == ASL_FLOAT && asl_is(value->type, ASL_INT)))
            asl_error(k->c, value->at, NULL, "\"%s\" takes a %s, not %s", key->u.s,
                      asl_type_show(k, asl_type_of(options[at].base)),
                      asl_type_show(k, value->type));
        else if (!number && (value->kind != E_STRING || value->u.s[0]))
            asl_error(k->c, value->at, "\"\"", "scenes have no sets of objects to trace");
        else if (number && !spelt_number(value, &x) && options[at].most == 0)
            asl_error(k->c, value->at, "0", "a traced ray runs no shader");
        else if (number && spelt_number(value, &x) &&
                 !(x >= options[at].least && x <= options[at].most))
            asl_error(k->c, value->at, NULL,
                      options[at].most == 0     ? "a traced ray runs no shader: \"%s\" must be 0"
                      : isinf(options[at].most) ? "\"%s\" must not be negative"
                                                : "\"%s\" must be from 1 to 256",
                      key->u.s);
    }
}

static void check_special(struct asl_checker *k, struct asl_expr *e)
{
    switch (e->builtin->id) {
    case BI_TRACE:
    case BI_OCCLUSION:
        check_rays(k, e);
        break;
    case BI_PRINTF:
    case BI_FORMAT:
    case BI_ERROR:
    case BI_WARNING:
        asl_check_format(k, e, 0);
        break;
    case BI_FPRINTF:
        asl_check_format(k, e, 1);
        break;
    case BI_ARRAYLENGTH:
        if (!e->args[0]->type.array)
            asl_error(k->c, e->args[0]->at, NULL, "arraylength() takes an array, not %s",
                      asl_type_show(k, e->args[0]->type));
        break;
    case BI_ISCONNECTED:
        if (!asl_root_symbol(e->args[0]))
            asl_error(k->c, e->args[0]->at, NULL, "isconnected() takes a variable");
        break;
    case BI_TEXTURE:
    case BI_ENVIRONMENT:
        check_texture(k, e);
        break;
    default:
        break;
    }
}

/* As in OSL, without a warning: a builtin fills an array that is a parameter of the function
 * without `output`. */
static void check_filled(struct asl_checker *k, struct asl_expr *arg)
{
    if (arg->kind == E_SYMBOL && arg->symbol->kind == SYM_FORMAL && arg->type.array)
        arg->symbol->written = true;
    else
        asl_check_written(k, arg, "pass to an output:");
}

/* As in OSL a value may be given to an output, but for one that the text spells out. */
static void check_lost(struct asl_checker *k, struct asl_expr *arg)
{
    bool spelt = arg->kind == E_INT || arg->kind == E_FLOAT || arg->kind == E_STRING;
    if (spelt || arg->type.array)
        asl_check_written(k, arg, "pass to an output:");
    else if (arg->type.base != ASL_UNKNOWN)
        asl_warn(k->c, arg->at, "give it a variable",
                 "what the function writes to this output is lost: it is a value, no variable");
}

/* Array-typed arguments of any length keep their type; others are converted. */
static void fix_arguments(struct asl_checker *k, struct asl_expr *e)
{
    if (e->function) {
        size_t i = 0;
        for (const struct asl_formal *a = e->function->formals; a; a = a->next, i++) {
            if (a->output && !asl_root_symbol(e->args[i]))
                check_lost(k, e->args[i]);
            if (asl_shows_changes(a, e->args[i]) && output_fits(e->args[i], a->type))
                asl_check_written(k, e->args[i], "pass to an output:");
            else
                e->args[i] = asl_coerce(k, e->args[i], a->type, "pass");
        }
        return;
    }
    const struct asl_overload *o = e->overload;
    for (size_t i = 0; i < e->arg_count; i++) {
        if (i < o->count && ((o->outputs >> i) & 1)) {
            check_filled(k, e->args[i]);
        } else if (i < o->count || o->tail == 'A') {
            struct asl_type t = o->args[i < o->count ? i : (size_t)o->count - 1];
            if (t.base != ASL_UNKNOWN)
                e->args[i] = asl_coerce(k, e->args[i], t, "pass");
        } else if (e->args[i]->kind == E_LIST && e->args[i]->type.base == ASL_UNKNOWN) {
            asl_error(k->c, e->args[i]->at, NULL, "a list of values cannot stand here");
        }
    }
}

/* Of a closure's keywords that stand twice the last counts, as in OSL. */
static void closure_keywords(struct asl_checker *k, struct asl_expr *e, size_t first)
{
    size_t kept = first;
    for (size_t i = first; i + 1 < e->arg_count; i += 2) {
        bool again = false;
        for (size_t j = i + 2; j + 1 < e->arg_count && !again; j += 2)
            again = e->args[i]->kind == E_STRING && e->args[j]->kind == E_STRING &&
                    strcmp(e->args[i]->u.s, e->args[j]->u.s) == 0;
        if (again) {
            asl_warn(k->c, e->args[i]->at, "remove it",
                     "'%.60s' stands again later in the call of '%s': this value is not used",
                     e->args[i]->u.s, e->name);
            continue;
        }
        e->args[kept++] = e->args[i];
        e->args[kept++] = e->args[i + 1];
    }
    e->arg_count = kept;
}

/* The call of a declared component, whose arguments fit, becomes that of its row in builtins.def,
 * else of the builtin COMPONENT. */
static void call_component(struct asl_checker *k, struct asl_expr *e)
{
    if (e->function->row) {
        e->builtin = asl_builtin_row_of(e->function->name);
        e->overload = e->function->row;
        e->function = NULL;
        return;
    }
    struct asl_expr **args = ASL_ARRAY(k->c, struct asl_expr *, e->arg_count + 1);
    struct asl_expr *name = ASL_NEW(k->c, struct asl_expr);
    *name = (struct asl_expr){.kind = E_STRING, .at = e->at, .u = {.s = e->function->name}};
    asl_check_expr(k, name, asl_type_of(ASL_STRING));
    args[0] = name;
    for (size_t i = 0; i < e->arg_count; i++)
        args[1 + i] = e->args[i];
    e->args = args;
    e->arg_count++;
    e->function = NULL;
    e->builtin = asl_builtin_at(BI_COMPONENT);
    e->overload = e->builtin->overloads;
}

/* A call that two functions fit alike: an error when nothing says which, else a warning. */
static void check_ambiguity(struct asl_checker *k, const struct asl_expr *e,
                            const struct candidate *c)
{
    if (c->rival) {
        asl_error(k->c, e->at, "write the type before the list", "the call of '%s' is ambiguous",
                  e->name);
        asl_note(k->c, c->function->at, "the list fits this function");
        asl_note(k->c, c->rival->at, "and this one");
    } else if (c->twin && c->ret.base == ASL_STRUCT && c->twin->type.base == ASL_STRUCT) {
        asl_error(k->c, e->at, "assign it to a variable of the struct that is meant",
                  "the call of '%s' is ambiguous", e->name);
        asl_note(k->c, c->function->at, "this function fits");
        asl_note(k->c, c->twin->at, "and this one");
    } else if (c->twin && asl_warn(k->c, e->at, "a cast says which is meant",
                                   "the call of '%s' is ambiguous", e->name)) {
        asl_note(k->c, c->function->at, "this function is called");
        asl_note(k->c, c->twin->at, "this one fits as well");
    }
}

void asl_check_call(struct asl_checker *k, struct asl_expr *e, struct asl_type expected)
{
    if (e->function || e->builtin)
        return;
    bool bad = false;
    for (size_t i = 0; i < e->arg_count; i++) {
        if (e->args[i]->kind == E_LIST) { /* typed by the parameter it meets */
            type_plain_parts(k, e->args[i]);
            continue;
        }
        asl_check_expr(k, e->args[i], asl_type_of(ASL_UNKNOWN));
        bad = bad || e->args[i]->type.base == ASL_UNKNOWN;
    }
    struct candidate c = {0};
    bool known = false;
    if (asl_hides_function(k, e->name)) {
        asl_error(k->c, e->at, "give one of the two another name",
                  "'%s' is a variable here, no function", e->name);
        bad = known = true;
    }
    bool found = !known && resolve(k, e, expected, &c, &known);
    if (bad || !found) {
        if (!bad || !known)
            no_match(k, e, known);
        e->kind = E_ERROR;
        e->type = asl_type_of(ASL_UNKNOWN);
        e->slots = 0;
        e->arg_count = 0;
        return;
    }
    if (c.function && c.function->busy) {
        asl_error(k->c, e->at, "use a loop", "function '%s' calls itself: recursion is not allowed",
                  e->name);
        e->kind = E_ERROR;
        e->type = asl_type_of(ASL_UNKNOWN);
        return;
    }
    check_ambiguity(k, e, &c);
    e->function = c.function;
    e->builtin = c.builtin;
    e->overload = c.overload;
    e->type = c.ret;
    e->slots = (uint32_t)asl_type_slots(c.ret);
    if (c.function) {
        c.function->used = true;
        asl_check_returns(k, c.function, e->at);
    }
    fix_arguments(k, e);
    if (c.function && c.function->component)
        closure_keywords(k, e, c.function->formal_count);
    else if (c.builtin && c.overload->tail == '.' && asl_is(c.ret, ASL_CLOSURE))
        closure_keywords(k, e, c.overload->count);
    if (c.function && c.function->component)
        call_component(k, e);
    if (c.builtin) {
        if (strcmp(c.builtin->deriv, "refused") == 0)
            asl_error(k->c, e->at, NULL, "%s() is not supported: %s", e->name, c.builtin->text);
        check_special(k, e);
    }
}

/* ---- formats -------------------------------------------------------------------------------- */

size_t asl_format_spec(const char *p, char *letter)
{
    size_t n = strspn(p, "-+ #0");
    n += strspn(p + n, "0123456789");
    if (p[n] == '.') {
        n++;
        n += strspn(p + n, "0123456789");
    }
    *letter = p[n];
    if (n > 40)
        return 0;
    return p[n] && strchr("diouxXcfFgGeEs%", p[n]) ? n + 1 : 0;
}

enum asl_base asl_format_wants(char conversion)
{
    if (strchr("diouxXc", conversion))
        return ASL_INT;
    if (strchr("fFgGeE", conversion))
        return ASL_FLOAT;
    return conversion == 's' ? ASL_STRING : ASL_UNKNOWN;
}

static bool fits_format(enum asl_base want, struct asl_type t)
{
    switch (want) {
    case ASL_INT:
        return t.base == ASL_INT;
    case ASL_FLOAT:
        return t.base >= ASL_FLOAT && t.base <= ASL_MATRIX;
    case ASL_STRING:
        return t.base == ASL_STRING || t.base == ASL_CLOSURE;
    default:
        return false;
    }
}

void asl_check_format(struct asl_checker *k, const struct asl_expr *call, size_t format_arg)
{
    const struct asl_expr *f = call->args[format_arg];
    size_t next = format_arg + 1;
    for (size_t i = next; i < call->arg_count; i++)
        if (call->args[i]->type.base == ASL_STRUCT)
            asl_error(k->c, call->args[i]->at, "print its fields", "a struct cannot be printed");
    if (f->kind != E_STRING) { /* compared when it runs */
        if (k->c->opt->warn_all)
            asl_warn(k->c, f->at, NULL,
                     "the format is no literal: it is checked only when it runs");
        return;
    }
    for (const char *p = f->u.s; *p;) {
        if (*p++ != '%')
            continue;
        char letter;
        size_t n = asl_format_spec(p, &letter);
        if (n == 0) {
            asl_error(k->c, f->at,
                      "use %d %i %o %x %X %u %c, %f %g %e, %s, or %% for a percent sign",
                      "'%%%.*s' is no conversion", (int)strcspn(p, " %\n\t"), p);
            return;
        }
        p += n;
        if (letter == '%')
            continue;
        if (next >= call->arg_count) {
            asl_error(k->c, f->at, NULL, "the format asks for more values than the %zu given",
                      call->arg_count - format_arg - 1);
            return;
        }
        const struct asl_expr *a = call->args[next++];
        enum asl_base want = asl_format_wants(letter);
        if (a->type.base != ASL_UNKNOWN && a->type.base != ASL_STRUCT &&
            !fits_format(want, a->type))
            asl_error(k->c, a->at,
                      want == ASL_INT     ? "use %g for numbers with a fraction"
                      : want == ASL_FLOAT ? "use %d for int, %s for strings"
                                          : "use %d or %g",
                      "'%%%c' prints %s, not %s", letter,
                      want == ASL_INT     ? "int"
                      : want == ASL_FLOAT ? "float, triples and matrices"
                                          : "string",
                      asl_type_show(k, a->type));
    }
    if (next < call->arg_count)
        asl_error(k->c, call->args[next]->at, NULL, "the format has no place for this value");
}
