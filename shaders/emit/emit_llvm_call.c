/* SPDX-License-Identifier: Apache-2.0 */
/* emit_llvm_call.c: calls of the library that every device has (device/asl). */
#include "emit_llvm.h"

#include <string.h>

const char *ll_call(struct llvm *l, const char *type, const char *name, size_t count,
                    const char *const *operands)
{
    struct text types = {0}, list = {0};
    for (size_t k = 0; k < count; k++) {
        text_printf(&types, "%s%s", k ? ", " : "", type);
        text_printf(&list, "%s%s %s", k ? ", " : "", type, operands[k]);
    }
    ll_declare(l, type, name, types.data ? types.data : "");
    const char *r = ll_let(l, "call %s @%s(%s)", type, name, list.data ? list.data : "");
    text_free(&types);
    text_free(&list);
    return r;
}

const char *ll_part(const struct ll_args *x, uint32_t a, uint32_t k, uint32_t d)
{
    const struct ir_arg *g = &x->c->args[a];
    if (g->n == 1)
        k = 0;
    if (d && !g->derivs)
        return "zeroinitializer";
    return ll_float(x->l, x->i->operands[g->first + d * g->n + k]);
}
static uint32_t slots(const struct ll_args *x)
{
    return x->i->result_count / (x->c->derivs ? 3 : 1);
}

/* A row of floats for the library to read. */
struct rows {
    const char *at;
    uint32_t count;
};
static struct rows rows_new(struct llvm *l, uint32_t most)
{
    return (struct rows){ll_slot(l, l->f, most), 0};
}
static void rows_add(struct llvm *l, struct rows *r, const char *x)
{
    ll_store(l, l->f, x, ll_row_at(l, r->at, r->count++));
}
static void rows_add_dual(const struct ll_args *x, struct rows *r, uint32_t a, uint32_t k)
{
    for (uint32_t d = 0; d < 3; d++)
        rows_add(x->l, r, ll_part(x, a, k, d));
}
static void rows_add_triple(const struct ll_args *x, struct rows *r, uint32_t a)
{
    for (uint32_t k = 0; k < 3; k++)
        rows_add_dual(x, r, a, k);
}
/* Result k (of n) is the dual at out + 3 k. */
static void set_duals(const struct ll_args *x, const char *out, uint32_t n)
{
    struct llvm *l = x->l;
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t d = 0; d < (x->c->derivs ? 3u : 1u); d++)
            ll_set(l, x->i->result + d * n + k, ll_load(l, l->f, ll_row_at(l, out, 3 * k + d)));
}
static void call_rows(struct llvm *l, const char *name, const char *out, const char *before,
                      const struct rows *in)
{
    ll_declare(l, "void", name, TEXT("ptr, %sptr", before[0] ? "i32, " : ""));
    L("call void @%s(ptr %s, %sptr %s)\n", name, out, before, in->at);
}

static bool all_values(const struct ir_call *c)
{
    for (uint32_t k = 0; k < c->arg_count; k++)
        if (c->args[k].is_place)
            return false;
    return true;
}

static bool function_one(const struct ll_args *x)
{
    struct llvm *l = x->l;
    const char *name = emit_functions_of_one[x->c->callee];
    if (!name || x->c->arg_count != 1)
        return false;
    uint32_t n = slots(x), r = x->i->result;
    for (uint32_t k = 0; k < n; k++) {
        const char *v = ll_part(x, 0, k, 0);
        const char *value = ll_call(l, l->f, TEXT("al_%s", name), 1, &v);
        ll_set(l, r + k, value);
        if (!x->c->derivs)
            continue;
        const char *both[2] = {v, value};
        const char *slope = ll_call(l, l->f, TEXT("al_slope_%s", name), 2, both);
        for (uint32_t d = 1; d < 3; d++) {
            const char *chain[2] = {slope, ll_part(x, 0, k, d)};
            ll_set(l, r + d * n + k, ll_call(l, l->f, "al_chain", 2, chain));
        }
    }
    return true;
}

static bool function_many(const struct ll_args *x)
{
    struct llvm *l = x->l;
    const char *name = x->c->callee == BI_POW     ? "al_pow"
                       : x->c->callee == BI_ATAN2 ? "al_atan2"
                       : x->c->callee == BI_HYPOT ? "al_hypot"
                       : x->c->callee == BI_LOG   ? "al_log_base"
                                                  : NULL;
    if (!name)
        return false;
    uint32_t n = slots(x), r = x->i->result, count = x->c->callee == BI_HYPOT ? 3 : 2;
    for (uint32_t k = 0; k < n; k++) {
        if (!x->c->derivs) {
            const char *v[3] = {"zeroinitializer", "zeroinitializer", "zeroinitializer"};
            for (uint32_t a = 0; a < x->c->arg_count && a < count; a++)
                v[a] = ll_part(x, a, k, 0);
            ll_set(l, r + k, ll_call(l, l->f, name, count, v));
            continue;
        }
        struct rows in = rows_new(l, 9);
        const char *out = ll_slot(l, l->f, 3);
        for (uint32_t a = 0; a < count; a++)
            for (uint32_t d = 0; d < 3; d++)
                rows_add(l, &in, a < x->c->arg_count ? ll_part(x, a, k, d) : "zeroinitializer");
        call_rows(l, TEXT("%s_d", name), out, "", &in);
        for (uint32_t d = 0; d < 3; d++)
            ll_set(l, r + d * n + k, ll_load(l, l->f, ll_row_at(l, out, d)));
    }
    return true;
}

static bool noise(const struct ll_args *x)
{
    struct llvm *l = x->l;
    struct emit_noise call;
    if (!emit_noise_call(&l->e, x->i, &call))
        return false;
    const uint32_t first = call.first, count = call.count, dims = call.dims, n = slots(x);
    const bool periodic = call.periodic;
    const int kind = call.kind;
    struct rows in = rows_new(l, 16);
    const char *out = ll_slot(l, l->f, 9);
    for (uint32_t a = 0; a < (periodic ? 2 * count : count); a++)
        for (uint32_t k = 0; k < x->c->args[first + a].n; k++)
            for (uint32_t d = 0; d < (a < count ? 3u : 1u); d++)
                rows_add(l, &in, ll_part(x, first + a, k, d));
    const char *name =
        TEXT("al_noise_%d_%u_%d_%u_%d", kind, dims, periodic, n > 1 ? 3u : 1u, x->c->derivs);
    call_rows(l, name, out, "", &in);
    for (uint32_t k = 0; k < x->i->result_count; k++)
        ll_set(l, x->i->result + k, ll_load(l, l->f, ll_row_at(l, out, k)));
    return true;
}

/* Rows for al_gabor: three coordinates with their changes, three periods, the options. */
static bool gabor(const struct ll_args *x)
{
    struct llvm *l = x->l;
    struct emit_gabor g;
    if (!emit_gabor_call(&l->e, x->i, &g))
        return false;
    const uint32_t first = g.noise.first, count = g.noise.count, n = slots(x);
    struct rows in = rows_new(l, 22);
    const char *out = ll_slot(l, l->f, 9);
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t k = 0; k < x->c->args[first + a].n && in.count < 9; k++)
            rows_add_dual(x, &in, first + a, k);
    while (in.count < 9)
        rows_add(l, &in, "zeroinitializer");
    for (uint32_t a = count; g.noise.periodic && a < 2 * count; a++)
        for (uint32_t k = 0; k < x->c->args[first + a].n && in.count < 12; k++)
            rows_add(l, &in, ll_part(x, first + a, k, 0));
    while (in.count < 12)
        rows_add(l, &in, ll_float_splat(l, 1));
    for (uint32_t k = 0; k < EMIT_GABOR_OPTIONS; k++) {
        ir_value v = g.option[k].value;
        rows_add(l, &in,
                 !g.option[k].given ? ll_float_splat(l, g.option[k].otherwise)
                 : l->e.layer->types[v] == IR_I
                     ? ll_let(l, "sitofp %s %s to %s", l->i, ll_int(l, v), l->f)
                     : ll_float(l, v));
    }
    const char *name = TEXT("al_gabor_%d_%u_%d", g.noise.periodic, n, x->c->derivs);
    call_rows(l, name, out, "", &in);
    set_duals(x, out, n);
    return true;
}

static bool hash(const struct ll_args *x)
{
    struct llvm *l = x->l;
    const char *w[4] = {0};
    size_t n = 0;
    if (x->c->callee != BI_HASH || x->c->args[0].type.base == ASL_STRING)
        return false;
    for (uint32_t a = 0; a < x->c->arg_count; a++)
        for (uint32_t k = 0; k < x->c->args[a].n && n < 4; k++) {
            w[n] = ll_int(l, x->i->operands[x->c->args[a].first + k]);
            if (x->c->args[a].type.base != ASL_INT)
                w[n] = ll_call(l, l->i, "al_hashed", 1, &w[n]);
            n++;
        }
    ll_set(l, x->i->result, ll_call(l, l->i, TEXT("al_hash%zu", n), n, w));
    return true;
}

/* The knots as a pointer; *row: rows from a knot to its change, 0 for none. NULL when the host must
 * see to it. */
static const char *spline_knots(const struct ll_args *x, uint32_t channels, bool derivs,
                                uint32_t *count, uint32_t *row)
{
    struct llvm *l = x->l;
    const struct ir_arg *last = &x->c->args[x->c->arg_count - 1];
    *row = 0;
    if (last->is_place) {
        int32_t want = (int32_t)(last->n / channels);
        *count = (uint32_t)want;
        for (uint32_t k = 0; k < last->at.index_count; k++) {
            int32_t fixed;
            if (!emit_constant_int(&l->e, x->i->operands[last->at.index[k].operand], &fixed))
                return NULL;
        }
        if (x->c->arg_count == 4 &&
            !emit_constant_int(&l->e, x->i->operands[x->c->args[2].first], &want))
            return NULL;
        if (want < 4 || (uint32_t)want > *count)
            return NULL;
        uint32_t base;
        (void)ll_slot_of(l, x->i, &last->at, 0, &base);
        *count = (uint32_t)want;
        *row = derivs && last->derivs ? last->row : 0;
        return ll_row_at(l, ll_cell_base(l, last->at.cell), base);
    }
    *count = x->c->arg_count - 2;
    if (*count < 4)
        return NULL;
    bool any = false;
    for (uint32_t a = 2; a < x->c->arg_count; a++)
        any = any || (derivs && x->c->args[a].derivs);
    *row = any ? *count * channels : 0;
    struct rows in = rows_new(l, *count * channels * (any ? 3 : 1));
    for (uint32_t d = 0; d < (any ? 3u : 1u); d++)
        for (uint32_t k = 0; k < *count * channels; k++)
            rows_add(l, &in, ll_part(x, 2 + k / channels, k % channels, d));
    return in.at;
}

static bool spline(const struct ll_args *x)
{
    struct llvm *l = x->l;
    bool inverse = x->c->callee == BI_SPLINEINVERSE;
    if ((x->c->callee != BI_SPLINE && !inverse) || x->c->args[0].is_place || x->c->args[1].is_place)
        return false;
    int basis = emit_spline_basis(emit_constant_string(&l->e, x->i->operands[x->c->args[0].first]));
    uint32_t n = slots(x), r = x->i->result, count, row;
    if (basis < 0)
        return false;
    const char *knots = spline_knots(x, n, x->c->derivs && !inverse, &count, &row);
    if (!knots)
        return false;
    if (inverse) {
        const char *out = ll_slot(l, l->f, 3);
        struct rows at = rows_new(l, 3);
        for (uint32_t d = 0; d < 3; d++)
            rows_add(l, &at, d && !x->c->derivs ? "zeroinitializer" : ll_part(x, 1, 0, d));
        ll_declare(l, "void", "al_spline_inverse", "ptr, i32, ptr, i32, ptr");
        L("call void @al_spline_inverse(ptr %s, i32 %d, ptr %s, i32 %u, ptr %s)\n", out, basis,
          at.at, count, knots);
        for (uint32_t d = 0; d < (x->c->derivs ? 3u : 1u); d++)
            ll_set(l, r + d, ll_load(l, l->f, ll_row_at(l, out, d)));
        return true;
    }
    ll_declare(l, "void", "al_spline", "ptr, i32, ptr, i32, ptr, i32, i32, i32");
    for (uint32_t k = 0; k < n; k++) {
        struct rows at = rows_new(l, 3);
        const char *out = ll_slot(l, l->f, 3);
        for (uint32_t d = 0; d < 3; d++)
            rows_add(l, &at, d && !x->c->derivs ? "zeroinitializer" : ll_part(x, 1, 0, d));
        L("call void @al_spline(ptr %s, i32 %d, ptr %s, i32 %u, ptr %s, i32 %u, i32 %u, i32 %u)\n",
          out, basis, at.at, count, knots, n, k, row);
        for (uint32_t d = 0; d < (x->c->derivs ? 3u : 1u); d++)
            ll_set(l, r + d * n + k, ll_load(l, l->f, ll_row_at(l, out, d)));
    }
    return true;
}

static bool colour(const struct ll_args *x)
{
    struct llvm *l = x->l;
    uint32_t last = x->c->arg_count - 1;
    bool construct = x->c->callee == IRC_CONSTRUCT;
    if (!emit_is_colour_change(x->c))
        return false;
    int space[2] = {0, 0};
    for (uint32_t k = 0; k < 2; k++) {
        bool named = k == 0 ? construct || last == 2 : !construct;
        uint32_t a = k == 0 ? 0 : last - 1;
        if (named)
            space[k] =
                emit_colour_space(emit_constant_string(&l->e, x->i->operands[x->c->args[a].first]));
    }
    if (space[0] < 0 || space[1] < 0)
        return false;
    struct rows in = rows_new(l, 9);
    const char *out = ll_slot(l, l->f, 9);
    rows_add_triple(x, &in, last);
    ll_declare(l, "void", "al_colour_transform", "ptr, i32, i32, ptr");
    L("call void @al_colour_transform(ptr %s, i32 %d, i32 %d, ptr %s)\n", out, space[0], space[1],
      in.at);
    set_duals(x, out, 3);
    return true;
}

static bool geometry(const struct ll_args *x)
{
    struct llvm *l = x->l;
    uint32_t n = x->c->arg_count;
    const char *out;
    struct rows in;
    if (x->c->callee == BI_ROTATE) {
        in = rows_new(l, 30);
        out = ll_slot(l, l->f, 9);
        rows_add_triple(x, &in, 0);
        rows_add_triple(x, &in, n == 3 ? 2 : 3);
        rows_add_dual(x, &in, 1, 0);
        if (n != 3)
            rows_add_triple(x, &in, 2);
        call_rows(l, n == 3 ? "al_rotate" : "al_rotate_about", out, "", &in);
        set_duals(x, out, 3);
        return true;
    }
    if (x->c->callee == BI_DISTANCE && n == 3) {
        in = rows_new(l, 27);
        out = ll_slot(l, l->f, 3);
        for (uint32_t a = 0; a < 3; a++)
            rows_add_triple(x, &in, a);
        call_rows(l, "al_segment_distance", out, "", &in);
        set_duals(x, out, 1);
        return true;
    }
    if (x->c->callee == BI_TRANSFORM && x->c->args[0].type.base == ASL_MATRIX &&
        x->c->type.base != ASL_NORMAL) {
        in = rows_new(l, 25);
        out = ll_slot(l, l->f, 9);
        rows_add_triple(x, &in, 1);
        for (uint32_t k = 0; k < 16; k++)
            rows_add(l, &in, ll_part(x, 0, k, 0));
        call_rows(l, "al_transform", out, x->c->type.base == ASL_POINT ? "i32 1, " : "i32 0, ",
                  &in);
        set_duals(x, out, 3);
        return true;
    }
    return false;
}

/* What needs an inverse, in doubles: at a hit. In rows the host is asked. */
static bool inverses(const struct ll_args *x)
{
    struct llvm *l = x->l;
    const bool normal = x->c->callee == BI_TRANSFORM && x->c->args[0].type.base == ASL_MATRIX &&
                        x->c->type.base == ASL_NORMAL,
               inverse = x->c->callee == IRC_INVERSE;
    if (!ll_is_surface(l) || !(normal || inverse || x->c->callee == BI_DETERMINANT))
        return false;
    struct rows in = rows_new(l, 25);
    const char *out = ll_slot(l, l->f, 16);
    if (normal)
        rows_add_triple(x, &in, 1);
    for (uint32_t k = 0; k < 16; k++)
        rows_add(l, &in, ll_part(x, 0, k, 0));
    call_rows(l,
              normal    ? "al_transform_normal"
              : inverse ? "al_inverse"
                        : "al_determinant",
              out, "", &in);
    if (normal) {
        set_duals(x, out, 3);
        return true;
    }
    for (uint32_t k = 0; k < x->i->result_count; k++)
        ll_set(l, x->i->result + k,
               k < slots(x) ? ll_load(l, l->f, ll_row_at(l, out, k)) : "zeroinitializer");
    return true;
}

/* Index and extinction of a metal, by its colours at two angles. */
static bool metal(const struct ll_args *x)
{
    struct llvm *l = x->l;
    if (x->c->callee != BI_ARTISTIC_IOR || x->c->args[0].is_place || x->c->args[1].is_place)
        return false;
    ll_declare(l, "void", "al_artistic_ior", TEXT("ptr, %s, %s", l->f, l->f));
    for (uint32_t k = 0; k < 3; k++) {
        const char *out = ll_slot(l, l->f, 2);
        L("call void @al_artistic_ior(ptr %s, %s %s, %s %s)\n", out, l->f, ll_part(x, 0, k, 0),
          l->f, ll_part(x, 1, k, 0));
        for (uint32_t a = 2; a < 4; a++) {
            const struct ir_arg *to = &x->c->args[a];
            ll_cell_store(l, x->i, &to->at, k, l->f, ll_load(l, l->f, ll_row_at(l, out, a - 2)));
            for (uint32_t d = 1; to->derivs && d < 3; d++)
                ll_cell_store(l, x->i, &to->at, d * to->row + k, l->f, "zeroinitializer");
        }
    }
    return true;
}

bool ll_device_call(struct llvm *l, const struct ir_inst *i)
{
    struct ll_args x = {l, i, i->u.call};
    if (x.c->callee < BI_COUNT && (spline(&x) || metal(&x)))
        return true;
    if (!all_values(x.c))
        return false;
    if (x.c->callee >= BI_COUNT)
        return colour(&x) || inverses(&x);
    return function_one(&x) || function_many(&x) || noise(&x) || gabor(&x) || hash(&x) ||
           colour(&x) || geometry(&x) || inverses(&x);
}
