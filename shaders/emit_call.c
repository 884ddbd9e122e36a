/* emit_call.c: calls of what shaders/device/ has. */
#include "emit.h"

#include <string.h>

/* ---- results and arguments ------------------------------------------------------------------ */

struct args {
    struct emit *e;
    const struct ir_inst *i;
    const struct ir_call *c;
};

/* Slot k of argument a as a float: its value (d 0), or its change in x (1) or y (2). A number
 * stands for all components of a triple. */
static const char *part(const struct args *x, uint32_t a, uint32_t k, uint32_t d)
{
    const struct ir_arg *g = &x->c->args[a];
    if (g->n == 1)
        k = 0;
    if (d && !g->derivs)
        return "A_F(0.0f)";
    return emit_float(x->e, x->i->operands[g->first + d * g->n + k]);
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

static const char *const one[BI_COUNT] = {
    [BI_SIN] = "sin",   [BI_COS] = "cos",   [BI_TAN] = "tan",
    [BI_ASIN] = "asin", [BI_ACOS] = "acos", [BI_ATAN] = "atan",
    [BI_SINH] = "sinh", [BI_COSH] = "cosh", [BI_TANH] = "tanh",
    [BI_EXP] = "exp",   [BI_EXP2] = "exp2", [BI_EXPM1] = "expm1",
    [BI_LOG] = "log",   [BI_LOG2] = "log2", [BI_LOG10] = "log10",
    [BI_LOGB] = "logb", [BI_SQRT] = "sqrt", [BI_INVERSESQRT] = "inversesqrt",
    [BI_CBRT] = "cbrt", [BI_ERF] = "erf",   [BI_ERFC] = "erfc"};

static bool function_one(const struct args *x)
{
    struct emit *e = x->e;
    const char *name = one[x->c->callee];
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

static int noise_kind(const struct args *x)
{
    static const struct {
        const char *name;
        int kind;
    } names[] = {{"perlin", PERLIN}, {"snoise", PERLIN},   {"uperlin", UPERLIN},
                 {"noise", UPERLIN}, {"simplex", SIMPLEX}, {"usimplex", USIMPLEX},
                 {"cell", CELL},     {"hash", HASH_NOISE}};
    switch (x->c->callee) {
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
    if (x->c->args[0].type.base != ASL_STRING)
        return UPERLIN;
    const char *s = emit_constant_string(x->e, x->i->operands[x->c->args[0].first]);
    for (size_t k = 0; s && k < sizeof names / sizeof *names; k++)
        if (strcmp(names[k].name, s) == 0)
            return names[k].kind;
    return NO_NOISE;
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
    text_printf(t, "A_CALL void %s(", name);
    for (uint32_t k = 0; k < dims; k++) {
        text_printf(t, "%saf x%u", k ? ", " : "", k);
        if (derivs)
            text_printf(t, ", af x%u_dx, af x%u_dy", k, k);
    }
    for (uint32_t k = 0; periodic && k < dims; k++)
        text_printf(t, ", af q%u", k);
    bool dual = derivs && kind < CELL;
    text_printf(t, ", af *out)\n{\n%s p[4], r[3];\naf q[4];\n", dual ? "struct ad" : "af");
    for (uint32_t k = 0; k < 4; k++) {
        const char *from = k < dims ? emit_text(e, "x%u", k) : "A_F(0.0f)";
        if (dual && k < dims)
            text_printf(t, "p[%u] = a_dual(x%u, x%u_dx, x%u_dy);\n", k, k, k, k);
        else
            text_printf(t, "p[%u] = %s(%s);\n", k, dual ? "a_still" : "", from);
        text_printf(t, "q[%u] = %s;\n", k,
                    periodic && k < dims ? emit_text(e, "q%u", k) : "A_F(1.0f)");
    }
    if (kind >= CELL)
        text_printf(t, "a_word_noise(%d, %u, p, %d, q, %u, r);\n", kind == CELL, dims, periodic,
                    channels);
    else
        text_printf(t, "a_%cgradient_noise(%d, %u, p, %d, q, %u, r);\n", dual ? 'd' : 'v', kind,
                    dims, periodic, channels);
    for (uint32_t k = 0; k < channels; k++) {
        text_printf(t, "out[%u] = r[%u]%s;\n", k, k, dual ? ".v" : "");
        for (uint32_t d = 0; derivs && d < 2; d++)
            text_printf(t, dual ? "out[%u] = r[%u].%s;\n" : "out[%u] = A_F(0.0f);\n",
                        (d + 1) * channels + k, k, d ? "dy" : "dx");
    }
    text_printf(t, "}\n");
    return name;
}

static bool noise(const struct args *x)
{
    struct emit *e = x->e;
    switch (x->c->callee) {
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
    int kind = noise_kind(x);
    bool periodic = x->c->callee == BI_PNOISE || x->c->callee == BI_PSNOISE;
    uint32_t first = x->c->args[0].type.base == ASL_STRING, count = x->c->fixed - first;
    if (kind == NO_NOISE || (periodic && (kind == SIMPLEX || kind == USIMPLEX)))
        return false;
    count = periodic ? count / 2 : count;
    uint32_t dims = 0, n = slots(x), r = x->i->result;
    for (uint32_t a = 0; a < count; a++)
        dims += x->c->args[first + a].n;
    if (dims > 4)
        return false;
    bool derivs = x->c->derivs;
    const char *name = noise_variant(e, kind, dims, periodic, n, derivs);
    EMIT("af v%u_r[%u];\n%s(", r, n * 3, name);
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t k = 0; k < x->c->args[first + a].n; k++)
            for (uint32_t d = 0; d < (derivs ? 3u : 1u); d++)
                EMIT("%s, ", part(x, first + a, k, d));
    for (uint32_t a = count; periodic && a < 2 * count; a++)
        for (uint32_t k = 0; k < x->c->args[first + a].n; k++)
            EMIT("%s, ", part(x, first + a, k, 0));
    EMIT("v%u_r);\n", r);
    for (uint32_t k = 0; k < x->i->result_count; k++)
        emit_set(e, r + k, "v%u_r[%u]", r, k);
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
        for (uint32_t k = 0; k < x->c->args[a].n && n < 4; k++)
            w[n++] = emit_bits(e, x->i->operands[x->c->args[a].first + k]);
    const char *list = w[0];
    for (uint32_t k = 1; k < n; k++)
        list = emit_text(e, "%s, %s", list, w[k]);
    emit_set(e, x->i->result, "A_INTS(a_hash%u(%s))", n, list);
    return true;
}

bool emit_device_call(struct emit *e, const struct ir_inst *i)
{
    struct args x = {e, i, i->u.call};
    if (x.c->callee >= BI_COUNT || !all_values(x.c))
        return false;
    return function_one(&x) || function_many(&x) || noise(&x) || hash(&x);
}
