/* SPDX-License-Identifier: Apache-2.0 */
/* emit_call.c: calls of what device/asl/ has. */
#include "emit.h"

#include <ctype.h>
#include <string.h>

/* ---- results and arguments ------------------------------------------------------------------ */

struct args {
    struct emit *e;
    const struct ir_inst *i;
    const struct ir_call *c;
};

const char *emit_part(struct emit *e, const struct ir_inst *i, uint32_t a, uint32_t k, uint32_t d)
{
    const struct ir_arg *g = &i->u.call->args[a];
    if (g->n == 1)
        k = 0;
    if (d && !g->derivs)
        return "A_F(0.0f)";
    return emit_float(e, i->operands[g->first + d * g->n + k]);
}

static const char *part(const struct args *x, uint32_t a, uint32_t k, uint32_t d)
{
    return emit_part(x->e, x->i, a, k, d);
}

static const char *dual_part(const struct args *x, uint32_t a, uint32_t k)
{
    return emit_text(x->e, "a_dual(%s, %s, %s)", part(x, a, k, 0), part(x, a, k, 1),
                     part(x, a, k, 2));
}

static uint32_t slots(const struct args *x) { return x->i->result_count / (x->c->derivs ? 3 : 1); }

static bool all_values(const struct ir_call *c)
{
    for (uint32_t k = 0; k < c->arg_count; k++)
        if (c->args[k].is_place)
            return false;
    return true;
}

/* ---- functions of one number ---------------------------------------------------------------- */

const char *const emit_functions_of_one[BI_COUNT] = {
    [BI_SIN] = "sin",
    [BI_COS] = "cos",
    [BI_TAN] = "tan",
    [BI_ASIN] = "asin",
    [BI_ACOS] = "acos",
    [BI_ATAN] = "atan",
    [BI_SINH] = "sinh",
    [BI_COSH] = "cosh",
    [BI_TANH] = "tanh",
    [BI_EXP] = "exp",
    [BI_EXP2] = "exp2",
    [BI_EXPM1] = "expm1",
    [BI_LOG] = "log",
    [BI_LOG2] = "log2",
    [BI_LOG10] = "log10",
    [BI_LOGB] = "logb",
    [BI_INVERSESQRT] = "inversesqrt",
    [BI_CBRT] = "cbrt",
    [BI_ERF] = "erf",
    [BI_ERFC] = "erfc",
};

static bool function_one(const struct args *x)
{
    struct emit *e = x->e;
    const char *name = emit_functions_of_one[x->c->callee];
    if (!name || x->c->arg_count != 1)
        return false;
    uint32_t n = slots(x), r = x->i->result;
    for (uint32_t k = 0; k < n; k++) {
        const char *v = part(x, 0, k, 0);
        emit_set(e, r + k, "a_%s(%s)", name, v);
        if (!x->c->derivs)
            continue;
        EMIT("const af v%u_slope = a_slope_%s(%s, v%u);\n", r + k, name, v, r + k);
        for (uint32_t d = 1; d < 3; d++)
            emit_set(e, r + d * n + k, "a_chain(v%u_slope, %s)", r + k, part(x, 0, k, d));
    }
    return true;
}

/* ---- functions of several numbers, component by component ----------------------------------- */

static bool function_many(const struct args *x)
{
    struct emit *e = x->e;
    uint32_t n = slots(x), r = x->i->result;
    const char *name;
    switch (x->c->callee) {
    case BI_POW:
        name = "pow";
        break;
    case BI_ATAN2:
        name = "atan2";
        break;
    case BI_HYPOT:
        name = "hypot";
        break;
    case BI_LOG:
        name = "log_base";
        break;
    default:
        return false;
    }
    bool third = x->c->callee == BI_HYPOT;
    for (uint32_t k = 0; k < n; k++) {
        if (!x->c->derivs) {
            const char *z =
                third ? emit_text(e, ", %s", x->c->arg_count > 2 ? part(x, 2, k, 0) : "A_F(0.0f)")
                      : "";
            emit_set(e, r + k, "a_%s(%s, %s%s)", name, part(x, 0, k, 0), part(x, 1, k, 0), z);
            continue;
        }
        const char *z =
            third ? emit_text(e, ", %s",
                              x->c->arg_count > 2 ? dual_part(x, 2, k) : "a_still(A_F(0.0f))")
                  : "";
        EMIT("const struct ad v%u_d = a_%s_d(%s, %s%s);\n", r + k, name, dual_part(x, 0, k),
             dual_part(x, 1, k), z);
        emit_set(e, r + k, "v%u_d.v", r + k);
        emit_set(e, r + n + k, "v%u_d.dx", r + k);
        emit_set(e, r + 2 * n + k, "v%u_d.dy", r + k);
    }
    return true;
}

/* ---- noise ---------------------------------------------------------------------------------- */

enum { PERLIN, UPERLIN, SIMPLEX, USIMPLEX, CELL, HASH_NOISE, NO_NOISE };

/* NO_NOISE: gabor, and what is none. */
static int noise_named(const char *name)
{
    static const struct {
        const char *name;
        int kind;
    } names[] = {{"perlin", PERLIN}, {"snoise", PERLIN},   {"uperlin", UPERLIN},
                 {"noise", UPERLIN}, {"simplex", SIMPLEX}, {"usimplex", USIMPLEX},
                 {"cell", CELL},     {"hash", HASH_NOISE}};
    for (size_t k = 0; name && k < sizeof names / sizeof *names; k++)
        if (strcmp(names[k].name, name) == 0)
            return names[k].kind;
    return NO_NOISE;
}

static int noise_kind(const struct emit *e, const struct ir_inst *i)
{
    switch (i->u.call->callee) {
    case BI_SNOISE:
    case BI_PSNOISE:
        return PERLIN;
    case BI_CELLNOISE:
        return CELL;
    case BI_HASHNOISE:
        return HASH_NOISE;
    default:
        break;
    }
    const struct ir_arg *first = &i->u.call->args[0];
    return first->type.base != ASL_STRING
               ? UPERLIN
               : noise_named(emit_constant_string(e, i->operands[first->first]));
}

/* The function of one kind, number of dimensions, ...: written once. Its name. */
static const char *noise_variant(struct emit *e, int kind, uint32_t dims, bool periodic,
                                 uint32_t channels, bool derivs)
{
    const char *name =
        emit_text(e, "a_noise_%d_%u_%d_%u_%d", kind, dims, periodic, channels, derivs);
    if (e->variants.data && strstr(e->variants.data, emit_text(e, "%s(", name)))
        return name;
    struct text *t = &e->variants;
    text_printf(t, "#ifndef HAS_%s\n#define HAS_%s\nA_NOISE_CALL void %s(", name, name, name);
    for (uint32_t k = 0; k < dims; k++) {
        text_printf(t, "%saf x%u", k ? ", " : "", k);
        if (derivs)
            text_printf(t, ", af x%u_dx, af x%u_dy", k, k);
    }
    for (uint32_t k = 0; periodic && k < dims; k++)
        text_printf(t, ", af q%u", k);
    bool sloped = derivs && kind < CELL;
    text_printf(t, ", af *out)\n{\n%s p[4], r[3];\naf q[4];\n", sloped ? "struct ad" : "af");
    for (uint32_t k = 0; k < 4; k++) {
        const char *from = k < dims ? emit_text(e, "x%u", k) : "A_F(0.0f)";
        if (sloped && k < dims)
            text_printf(t, "p[%u] = a_dual(x%u, x%u_dx, x%u_dy);\n", k, k, k, k);
        else
            text_printf(t, "p[%u] = %s(%s);\n", k, sloped ? "a_still" : "", from);
        text_printf(t, "q[%u] = %s;\n", k,
                    periodic && k < dims ? emit_text(e, "q%u", k) : "A_F(1.0f)");
    }
    if (kind >= CELL)
        text_printf(t, "a_word_noise(%d, %u, p, %d, q, %u, r);\n", kind == CELL, dims, periodic,
                    channels);
    else
        text_printf(t, "a_%cgradient_noise(%d, %u, p, %d, q, %u, r);\n", sloped ? 'd' : 'v', kind,
                    dims, periodic, channels);
    for (uint32_t k = 0; k < channels; k++) {
        text_printf(t, "out[%u] = r[%u]%s;\n", k, k, sloped ? ".v" : "");
        for (uint32_t d = 0; derivs && d < 2; d++)
            text_printf(t, sloped ? "out[%u] = r[%u].%s;\n" : "out[%u] = A_F(0.0f);\n",
                        (d + 1) * channels + k, k, d ? "dy" : "dx");
    }
    text_printf(t, "}\n#endif\n");
    return name;
}

/* Is it a call of a noise? All but its kind. */
static bool noise_shape(const struct ir_inst *i, struct emit_noise *out)
{
    const struct ir_call *c = i->u.call;
    switch (c->callee) {
    case BI_NOISE:
    case BI_SNOISE:
    case BI_CELLNOISE:
    case BI_HASHNOISE:
    case BI_PNOISE:
    case BI_PSNOISE:
        break;
    default:
        return false;
    }
    struct emit_noise n = {.kind = NO_NOISE,
                           .periodic = c->callee == BI_PNOISE || c->callee == BI_PSNOISE,
                           .first = c->args[0].type.base == ASL_STRING};
    n.count = (c->fixed - n.first) / (n.periodic ? 2 : 1);
    for (uint32_t a = 0; a < n.count; a++)
        n.dims += c->args[n.first + a].n;
    *out = n;
    return n.dims <= 4;
}

static bool noise_exists(const struct emit_noise *n)
{
    bool simplex = n->kind == SIMPLEX || n->kind == USIMPLEX;
    return n->kind != NO_NOISE && !(n->periodic && simplex);
}

bool emit_noise_call(const struct emit *e, const struct ir_inst *i, struct emit_noise *out)
{
    if (!noise_shape(i, out))
        return false;
    out->kind = noise_kind(e, i);
    return noise_exists(out);
}

bool emit_gabor_call(const struct emit *e, const struct ir_inst *i, struct emit_gabor *out)
{
    static const uint32_t word[] = {[IR_GABOR_ANISOTROPIC] = 0,
                                    [IR_GABOR_DIRECTION] = 1,
                                    [IR_GABOR_BANDWIDTH] = 4,
                                    [IR_GABOR_IMPULSES] = 5,
                                    [IR_GABOR_FILTER] = 6};
    const struct ir_call *c = i->u.call;
    struct emit_gabor g = {.option = {[1] = {.otherwise = 1},
                                      [4] = {.otherwise = 1},
                                      [5] = {.otherwise = 16},
                                      [6] = {.otherwise = 1}}};
    if (!noise_shape(i, &g.noise) || !g.noise.first)
        return false;
    const char *kind = emit_constant_string(e, i->operands[c->args[0].first]);
    if (!kind || strcmp(kind, "gabor") != 0)
        return false;
    for (uint32_t a = c->fixed; a + 1 < c->arg_count; a += 2) {
        const struct ir_arg *v = &c->args[a + 1];
        const char *name = c->args[a].type.base == ASL_STRING
                               ? emit_constant_string(e, i->operands[c->args[a].first])
                               : NULL;
        enum ir_gabor_option option = ir_gabor_option(name, v->type);
        if (option == IR_GABOR_NONE)
            return false;
        for (uint32_t k = 0; k < (option == IR_GABOR_DIRECTION ? 3 : 1); k++) {
            g.option[word[option] + k].given = true;
            g.option[word[option] + k].value = i->operands[v->first + (v->n == 1 ? 0 : k)];
        }
    }
    *out = g;
    return true;
}

/* One evaluation of the library's a_gabor: the place, periods and options in rows. */
static bool gabor(const struct args *x)
{
    struct emit *e = x->e;
    struct emit_gabor g;
    if (!emit_gabor_call(e, x->i, &g))
        return false;
    uint32_t n = slots(x), r = x->i->result, axis = 0, period = 0;
    EMIT("struct ad v%u_x[4], v%u_g[3];\naf v%u_q[4], v%u_o[%d];\n", r, r, r, r,
         EMIT_GABOR_OPTIONS);
    for (uint32_t a = 0; a < g.noise.count; a++)
        for (uint32_t k = 0; k < x->c->args[g.noise.first + a].n; k++)
            EMIT("v%u_x[%u] = %s;\n", r, axis++, dual_part(x, g.noise.first + a, k));
    for (; axis < 3; axis++)
        EMIT("v%u_x[%u] = a_still(A_F(0.0f));\n", r, axis);
    for (uint32_t a = 0; g.noise.periodic && a < g.noise.count; a++)
        for (uint32_t k = 0; k < x->c->args[g.noise.first + g.noise.count + a].n; k++)
            EMIT("v%u_q[%u] = %s;\n", r, period++,
                 part(x, g.noise.first + g.noise.count + a, k, 0));
    for (; period < 3; period++)
        EMIT("v%u_q[%u] = A_F(1.0f);\n", r, period);
    for (uint32_t k = 0; k < EMIT_GABOR_OPTIONS; k++) {
        ir_value v = g.option[k].value;
        const char *text =
            !g.option[k].given           ? emit_text(e, "A_F(%d.0f)", (int)g.option[k].otherwise)
            : e->layer->types[v] == IR_I ? emit_text(e, "a_to_float(%s)", emit_int(e, v))
                                         : emit_float(e, v);
        EMIT("v%u_o[%u] = %s;\n", r, k, text);
    }
    EMIT("a_gabor(v%u_x, %d, v%u_q, v%u_o, %u, %d, v%u_g);\n", r, g.noise.periodic, r, r, n,
         x->c->derivs, r);
    for (uint32_t k = 0; k < n; k++) {
        emit_set(e, r + k, "v%u_g[%u].v", r, k);
        if (x->c->derivs) {
            emit_set(e, r + n + k, "v%u_g[%u].dx", r, k);
            emit_set(e, r + 2 * n + k, "v%u_g[%u].dy", r, k);
        }
    }
    return true;
}

/* The statement that writes the noise to v<result>_r. */
static void noise_statement(const struct args *x, const struct emit_noise *call)
{
    struct emit *e = x->e;
    const uint32_t first = call->first, count = call->count;
    const bool derivs = x->c->derivs;
    EMIT("%s(", noise_variant(e, call->kind, call->dims, call->periodic, slots(x), derivs));
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t k = 0; k < x->c->args[first + a].n; k++)
            for (uint32_t d = 0; d < (derivs ? 3u : 1u); d++)
                EMIT("%s, ", part(x, first + a, k, d));
    for (uint32_t a = count; call->periodic && a < 2 * count; a++)
        for (uint32_t k = 0; k < x->c->args[first + a].n; k++)
            EMIT("%s, ", part(x, first + a, k, 0));
    EMIT("v%u_r);\n", x->i->result);
}

/* On a grid: of each kind that a string of the program names; others are reported. */
static bool noise_by_name(const struct args *x, struct emit_noise *call)
{
    struct emit *e = x->e;
    if (!emit_is_grid(e) || !call->first)
        return false;
    ir_value name = x->i->operands[x->c->args[0].first];
    const char *constant = emit_constant_string(e, name);
    if (!emit_is_listed(e, name) || (constant && strcmp(constant, "gabor") == 0))
        return false;
    for (uint32_t k = 0; !constant && k < e->program_strings; k++)
        if (strcmp(e->out->strings[k], "gabor") == 0)
            return false;
    EMIT("for (int k = 0; k < %u; k++) v%u_r[k] = 0.0f;\nswitch (%s) {\n", x->i->result_count,
         x->i->result, emit_int(e, name));
    for (uint32_t k = 0; !constant && k < e->program_strings; k++) {
        call->kind = noise_named(e->out->strings[k]);
        if (!noise_exists(call))
            continue;
        EMIT("case %u:\n", k);
        noise_statement(x, call);
        EMIT("break;\n");
    }
    EMIT("default:\n");
    emit_record(e, x->i);
    EMIT("}\n");
    return true;
}

static bool noise(const struct args *x)
{
    struct emit *e = x->e;
    struct emit_noise call;
    if (!noise_shape(x->i, &call))
        return false;
    size_t before = e->body.len;
    EMIT("af v%u_r[%u];\n", x->i->result, slots(x) * 3);
    if (emit_noise_call(e, x->i, &call)) {
        noise_statement(x, &call);
    } else if (!noise_by_name(x, &call)) {
        e->body.len = before;
        return false;
    }
    for (uint32_t k = 0; k < x->i->result_count; k++)
        emit_set(e, x->i->result + k, "v%u_r[%u]", x->i->result, k);
    return true;
}

static bool hash(const struct args *x)
{
    struct emit *e = x->e;
    const char *w[4] = {0};
    uint32_t n = 0;
    if (x->c->callee != BI_HASH || x->c->args[0].type.base == ASL_STRING)
        return false;
    for (uint32_t a = 0; a < x->c->arg_count; a++)
        for (uint32_t k = 0; k < x->c->args[a].n && n < 4; k++) {
            const ir_value v = x->i->operands[x->c->args[a].first + k];
            w[n++] = x->c->args[a].type.base == ASL_INT
                         ? emit_int(e, v)
                         : emit_text(e, "a_hashed(%s)", emit_float(e, v));
        }
    const char *list = w[0];
    for (uint32_t k = 1; k < n; k++)
        list = emit_text(e, "%s, %s", list, w[k]);
    emit_set(e, x->i->result, "A_INTS(a_hash%u(%s))", n, list);
    return true;
}

/* ---- splines -------------------------------------------------------------------------------- */

int emit_spline_basis(const char *name)
{
    static const char *const names[] = {"catmull-rom", "bezier", "bspline",
                                        "hermite",     "linear", "constant"};
    for (int k = 0; name && k < 6; k++)
        if (strcmp(names[k], name) == 0)
            return k;
    return -1;
}

/* The knots as an expression: a cell's row, or an array that is written here. *row: slots from a
 * knot to its derivative, 0 for none. NULL when the host must see to it. */
static const char *spline_knots(const struct args *x, uint32_t channels, bool derivs,
                                uint32_t *count, uint32_t *row)
{
    struct emit *e = x->e;
    const struct ir_arg *last = &x->c->args[x->c->arg_count - 1];
    *row = 0;
    if (last->is_place) {
        bool dynamic;
        const char *slot = emit_slot(e, x->i, &last->at, 0, &dynamic);
        int32_t want = (int32_t)(last->n / channels);
        *count = (uint32_t)want;
        if (dynamic || (x->c->arg_count == 4 &&
                        !emit_constant_int(e, x->i->operands[x->c->args[2].first], &want)))
            return NULL;
        if (want < 4 || (uint32_t)want > *count)
            return NULL;
        *count = (uint32_t)want;
        *row = derivs && last->derivs ? last->row : 0;
        return emit_text(e, "&%s[%s]", emit_cell(e, last->at.cell), slot);
    }
    *count = x->c->arg_count - 2;
    if (*count < 4)
        return NULL;
    bool any = false;
    for (uint32_t a = 2; a < x->c->arg_count; a++)
        any = any || (derivs && x->c->args[a].derivs);
    *row = any ? *count * channels : 0;
    const char *name = emit_text(e, "v%u_knots", x->i->result);
    EMIT("af %s[%u];\n", name, *count * channels * (any ? 3 : 1));
    for (uint32_t d = 0; d < (any ? 3u : 1u); d++)
        for (uint32_t k = 0; k < *count * channels; k++)
            EMIT("%s[%u] = %s;\n", name, d * *row + k, part(x, 2 + k / channels, k % channels, d));
    return name;
}

static int spline_basis(struct emit *e, const void *ctx, const char *name)
{
    (void)e;
    (void)ctx;
    return emit_spline_basis(name);
}

/* The results; `zero` is what stands before each. */
static void spline_set(const struct args *x, const char *basis, const char *zero, const char *knots,
                       uint32_t count, uint32_t row)
{
    struct emit *e = x->e;
    bool inverse = x->c->callee == BI_SPLINEINVERSE;
    uint32_t n = slots(x), r = x->i->result;
    if (inverse && x->c->derivs) {
        EMIT("const struct ad v%u_s = a_spline_inverse_d(%s, %s, %u, %s);\n", r, basis,
             dual_part(x, 1, 0), count, knots);
        emit_set(e, r, "%sv%u_s.v", zero, r);
        emit_set(e, r + 1, "%sv%u_s.dx", zero, r);
        emit_set(e, r + 2, "%sv%u_s.dy", zero, r);
        return;
    }
    if (inverse) {
        emit_set(e, r, "%sa_spline_inverse(%s, %s, %u, %s)", zero, basis, part(x, 1, 0, 0), count,
                 knots);
        return;
    }
    for (uint32_t k = 0; k < n; k++) {
        if (!x->c->derivs) {
            emit_set(e, r + k, "%sa_spline_value(%s, %s, %u, %s, %u, %u)", zero, basis,
                     part(x, 1, 0, 0), count, knots, n, k);
            continue;
        }
        EMIT("const struct ad v%u_s = a_spline(%s, %s, %u, %s, %u, %u, %u);\n", r + k, basis,
             dual_part(x, 1, 0), count, knots, n, k, row);
        emit_set(e, r + k, "%sv%u_s.v", zero, r + k);
        emit_set(e, r + n + k, "%sv%u_s.dx", zero, r + k);
        emit_set(e, r + 2 * n + k, "%sv%u_s.dy", zero, r + k);
    }
}

static bool spline(const struct args *x)
{
    struct emit *e = x->e;
    bool inverse = x->c->callee == BI_SPLINEINVERSE;
    if (x->c->callee != BI_SPLINE && !inverse)
        return false;
    uint32_t n = slots(x), r = x->i->result, count, row;
    if (x->c->args[0].is_place || x->c->args[1].is_place)
        return false;
    ir_value name = x->i->operands[x->c->args[0].first];
    const char *constant = emit_constant_string(e, name);
    bool known = constant && emit_spline_basis(constant) >= 0;
    if (!known && (!emit_is_grid(e) || !emit_is_listed(e, name)))
        return false;
    const char *knots = spline_knots(x, n, x->c->derivs && !inverse, &count, &row);
    if (!knots)
        return false;
    const char *basis = emit_by_string(e, name, spline_basis, NULL, -1);
    const char *zero = "";
    if (!known) {
        EMIT("const int v%u_b = %s < 0 ? 0 : %s;\nif (%s < 0)\n", r, basis, basis, basis);
        emit_record(e, x->i);
        zero = emit_text(e, "%s < 0 ? 0.0f : ", basis);
        basis = emit_text(e, "v%u_b", r);
    }
    spline_set(x, basis, zero, knots, count, row);
    return true;
}

/* ---- functions of triples ------------------------------------------------------------------- */

int emit_colour_space(const char *name)
{
    static const struct {
        const char *name;
        int space;
    } names[] = {{"rgb", 0}, {"RGB", 0}, {"linear", 0}, {"hsv", 1}, {"hsl", 2},
                 {"YIQ", 3}, {"XYZ", 4}, {"xyz", 4},    {"xyY", 5}, {"sRGB", 6}};
    for (size_t k = 0; name && k < sizeof names / sizeof *names; k++)
        if (strcmp(names[k].name, name) == 0)
            return names[k].space;
    return -1;
}

static const char *triple(const struct args *x, uint32_t a)
{
    return emit_text(x->e, "a_dual3(%s, %s, %s)", dual_part(x, a, 0), dual_part(x, a, 1),
                     dual_part(x, a, 2));
}

/* The call's result is the triple of duals `text`. */
static void set_triple(const struct args *x, const char *text)
{
    static const char axis[] = "xyz";
    struct emit *e = x->e;
    uint32_t r = x->i->result;
    EMIT("const struct ad3 v%u_t = %s;\n", r, text);
    for (uint32_t k = 0; k < 3; k++) {
        emit_set(e, r + k, "v%u_t.%c.v", r, axis[k]);
        if (x->c->derivs) {
            emit_set(e, r + 3 + k, "v%u_t.%c.dx", r, axis[k]);
            emit_set(e, r + 6 + k, "v%u_t.%c.dy", r, axis[k]);
        }
    }
}

static int colour_space(struct emit *e, const void *ctx, const char *name)
{
    (void)e;
    (void)ctx;
    return emit_colour_space(name);
}

/* The number of the space that argument a names; -1: unknown. */
static const char *space_of(const struct args *x, uint32_t a)
{
    return emit_by_string(x->e, x->i->operands[x->c->args[a].first], colour_space, NULL, -1);
}

static bool colour(const struct args *x)
{
    uint32_t last = x->c->arg_count - 1;
    bool construct = x->c->callee == IRC_CONSTRUCT;
    if (!emit_is_colour_change(x->c))
        return false;
    struct emit *e = x->e;
    uint32_t r = x->i->result;
    for (uint32_t k = 0; k < last && e->makes_strings; k++)
        if (!emit_is_listed(e, x->i->operands[x->c->args[k].first]))
            return false;
    const char *from = construct || last == 2 ? space_of(x, 0) : "0";
    const char *to = construct ? "0" : space_of(x, last - 1);
    if (isdigit((unsigned char)*from) && isdigit((unsigned char)*to)) {
        set_triple(x, emit_text(e, "a_colour_transform(%s, %s, %s)", from, to, triple(x, last)));
        return true;
    }
    if (!emit_is_grid(e))
        return false;
    EMIT("struct ad3 v%u_c = %s;\nif (%s >= 0 && %s >= 0)\nv%u_c = a_colour_transform(%s, %s, "
         "v%u_c);\nelse\n",
         r, triple(x, last), from, to, r, from, to, r);
    emit_record(e, x->i);
    set_triple(x, emit_text(e, "v%u_c", r));
    return true;
}

static bool geometry(const struct args *x)
{
    struct emit *e = x->e;
    uint32_t n = x->c->arg_count, r = x->i->result;
    if (x->c->callee == BI_ROTATE && n == 3) {
        set_triple(x, emit_text(e, "a_rotate(%s, %s, %s)", triple(x, 0), dual_part(x, 1, 0),
                                triple(x, 2)));
        return true;
    }
    if (x->c->callee == BI_ROTATE) {
        EMIT("const struct ad3 v%u_o = %s;\n", r, triple(x, 2));
        set_triple(x, emit_text(e,
                                "a_d3add(a_rotate(a_d3sub(%s, v%u_o), %s, a_d3sub(%s, v%u_o)), "
                                "v%u_o)",
                                triple(x, 0), r, dual_part(x, 1, 0), triple(x, 3), r, r));
        return true;
    }
    if (x->c->callee == BI_DISTANCE && n == 3) {
        EMIT("const struct ad v%u_d = a_segment_distance(%s, %s, %s);\n", r, triple(x, 0),
             triple(x, 1), triple(x, 2));
        emit_set(e, r, "v%u_d.v", r);
        if (x->c->derivs) {
            emit_set(e, r + 1, "v%u_d.dx", r);
            emit_set(e, r + 2, "v%u_d.dy", r);
        }
        return true;
    }
    return false;
}

/* The matrix that is argument a, as an array v<result>_m. */
static void matrix(const struct args *x, uint32_t a)
{
    struct emit *e = x->e;
    EMIT("af v%u_m[16];\n", x->i->result);
    for (uint32_t k = 0; k < 16; k++)
        EMIT("v%u_m[%u] = %s;\n", x->i->result, k, part(x, a, k, 0));
}

void emit_needs_doubles(struct emit *e, const struct ir_inst *i)
{
    EMIT("\n#ifndef A_HAS_DOUBLES\n#error \"%s() needs double precision, which this "
         "device lacks\"\n#endif\n",
         i->u.call->name);
    e->line = (struct src_pos){0};
}

static bool matrices(const struct args *x)
{
    struct emit *e = x->e;
    uint32_t r = x->i->result;
    bool transform = x->c->callee == BI_TRANSFORM && x->c->args[0].type.base == ASL_MATRIX;
    bool normal = transform && x->c->type.base == ASL_NORMAL;
    if (!transform && x->c->callee != BI_DETERMINANT && x->c->callee != IRC_INVERSE)
        return false;
    if (!transform || normal) {
        if (e->opt->host)
            return false;
        emit_needs_doubles(e, x->i);
    }
    matrix(x, 0);
    if (transform) {
        const char *how = normal ? "a_transform_normal("
                                 : emit_text(e, "a_transform(%d, ", x->c->type.base == ASL_POINT);
        set_triple(x, emit_text(e, "%s%s, v%u_m)", how, triple(x, 1), r));
        return true;
    }
    if (x->c->callee == IRC_INVERSE)
        EMIT("af v%u_i[16];\n(void)a_inverse(v%u_m, v%u_i);\n", r, r, r);
    for (uint32_t k = 0; k < x->i->result_count; k++)
        emit_set(e, r + k, "%s",
                 k >= slots(x)                 ? "A_F(0.0f)"
                 : x->c->callee == IRC_INVERSE ? emit_text(e, "v%u_i[%u]", r, k)
                                               : emit_text(e, "a_determinant(v%u_m)", r));
    return true;
}

static bool metal(const struct args *x)
{
    struct emit *e = x->e;
    if (x->c->callee != BI_ARTISTIC_IOR || x->c->args[0].is_place || x->c->args[1].is_place)
        return false;
    uint32_t id = e->metal_count++;
    for (uint32_t k = 0; k < 3; k++) {
        EMIT("af metal%u_n%u, metal%u_k%u;\na_artistic_ior(%s, %s, &metal%u_n%u, &metal%u_k%u);\n",
             id, k, id, k, part(x, 0, k, 0), part(x, 1, k, 0), id, k, id, k);
        for (uint32_t a = 2; a < 4; a++) {
            const struct ir_arg *to = &x->c->args[a];
            emit_store(e, x->i, &to->at, k, EMIT_FLOAT,
                       emit_text(e, "metal%u_%c%u", id, a == 2 ? 'n' : 'k', k));
            for (uint32_t d = 1; to->derivs && d < 3; d++)
                emit_store(e, x->i, &to->at, d * to->row + k, EMIT_FLOAT, "A_F(0.0f)");
        }
    }
    return true;
}

bool emit_device_call(struct emit *e, const struct ir_inst *i)
{
    struct args x = {e, i, i->u.call};
    if (x.c->callee < BI_COUNT && (spline(&x) || metal(&x)))
        return true;
    if (!all_values(x.c))
        return false;
    if (matrices(&x))
        return true;
    if (x.c->callee >= BI_COUNT)
        return colour(&x);
    return function_one(&x) || function_many(&x) || noise(&x) || gabor(&x) || hash(&x) ||
           colour(&x) || geometry(&x);
}
