/* SPDX-License-Identifier: Apache-2.0 */
/* bi_math.c: calling builtins, and the functions that work component by component. Functions of one
 * or more floats are computed in double and rounded once. */
#include "interp.h"

#include <float.h>
#include <math.h>
#include <string.h>

void asl_run_builtin(struct asl_run *r, const struct asl_expr *e, struct asl_place *args,
                     union asl_slot *out)
{
    enum asl_builtin_id id = e->builtin->id;
    r->cx->call_at = e->at;
    if (id <= BI_SMOOTH_LINEARSTEP)
        asl_bi_math(r, e, args, out);
    else if (id <= BI_TRANSFORMU)
        asl_bi_geometry(r, e, args, out);
    else if (id <= BI_TRANSFORMC)
        asl_bi_colour(r, e, args, out);
    else if (id <= BI_GETMATRIX)
        asl_bi_matrix(r, e, args, out);
    else if (id <= BI_SPLINEINVERSE)
        asl_bi_pattern(r, e, args, out);
    else if (id <= BI_BUMP)
        asl_bi_derivative(r, e, args, out);
    else if (id <= BI_REGEX_MATCH)
        asl_bi_string(r, e, args, out);
    else if (id <= BI_EXIT)
        asl_bi_state(r, e, args, out);
    else if (id <= BI_DICT_VALUE)
        asl_bi_dictionary(r, e, args, out);
    else if (id <= BI_BSSRDF)
        asl_bi_closure(r, e, args, out);
    else if (id <= BI_GETTEXTUREINFO)
        asl_bi_texture(r, e, args, out);
    else
        asl_bi_rays(r, e, args, out);
}

void asl_call_builtin(struct asl_run *r, const struct asl_expr *e, union asl_slot *out)
{
    struct asl_temp_mark mark = asl_temp_mark(r->cx);
    struct asl_place few[20], *args = few;
    if (e->arg_count > 20)
        args = asl_point_alloc(r, e->arg_count, sizeof *args);
    for (size_t i = 0; i < e->arg_count; i++) {
        const struct asl_expr *a = e->args[i];
        bool place = asl_writes(e, i) || a->type.array;
        if (place) {
            args[i] = asl_eval_any(r, a);
        } else {
            args[i] = (struct asl_place){
                .n = a->slots, .d = asl_wants(r, a) ? a->slots : 0, .type = a->type};
            args[i].v = asl_temp(r, asl_room(r, a));
            asl_eval(r, a, args[i].v);
        }
    }
    asl_run_builtin(r, e, args, out);
    if (r->cx->perturb)
        asl_perturb(r, e, args, out);
    asl_temp_release(r->cx, mark);
}

/* ---- functions of one number: value and slope ----------------------------------------------- */

struct slope {
    double v, d;
};

static dual chain(struct slope s, dual a)
{
    return (dual){(float)s.v, (float)(s.d * (double)a.dx), (float)(s.d * (double)a.dy)};
}

static struct slope logarithm(double x, double scale, double (*fn)(double))
{
    if (!(x >= (double)FLT_MIN)) /* also what is not a number */
        return (struct slope){fn((double)FLT_MIN), 0};
    return (struct slope){fn(x), scale / x};
}

static struct slope function1(enum asl_builtin_id id, float f)
{
    double x = (double)f;
    switch (id) {
    case BI_SIN:
        return isfinite(f) ? (struct slope){sin(x), cos(x)} : (struct slope){0, 0};
    case BI_COS:
        return isfinite(f) ? (struct slope){cos(x), -sin(x)} : (struct slope){1, 0};
    case BI_TAN: {
        double t = tan(x);
        return isfinite(f) ? (struct slope){t, 1 + t * t} : (struct slope){0, 0};
    }
    case BI_ASIN:
        if (!(fabs(x) < 1))
            return (struct slope){isnan(f) ? 0 : asin(x < 0 ? -1 : 1), 0};
        return (struct slope){asin(x), 1 / sqrt(1 - x * x)};
    case BI_ACOS:
        if (!(fabs(x) < 1))
            return (struct slope){isnan(f) ? acos(0) : acos(x < 0 ? -1 : 1), 0};
        return (struct slope){acos(x), -1 / sqrt(1 - x * x)};
    case BI_ATAN:
        return (struct slope){atan(x), 1 / (1 + x * x)};
    case BI_SINH:
        return (struct slope){sinh(x), cosh(x)};
    case BI_COSH:
        return (struct slope){cosh(x), sinh(x)};
    case BI_TANH: {
        double t = tanh(x);
        return (struct slope){t, 1 - t * t};
    }
    case BI_EXP:
        return (struct slope){exp(x), exp(x)};
    case BI_EXP2:
        return (struct slope){exp2(x), exp2(x) * 0.69314718055994530942};
    case BI_EXPM1:
        return (struct slope){expm1(x), exp(x)};
    case BI_LOG:
        return logarithm(x, 1, log);
    case BI_LOG2:
        return logarithm(x, 1.4426950408889634074, log2);
    case BI_LOG10:
        return logarithm(x, 0.43429448190325182765, log10);
    case BI_LOGB: {
        double m = fabs(x);
        return (struct slope){m >= (double)FLT_MIN ? logb(m) : logb((double)FLT_MIN), 0};
    }
    case BI_INVERSESQRT:
        if (!(x > 0))
            return (struct slope){0, 0};
        return (struct slope){1 / sqrt(x), -0.5 / (x * sqrt(x))};
    case BI_CBRT: {
        double c = cbrt(x);
        return (struct slope){c, x == 0 ? 0 : 1 / (3 * c * c)};
    }
    case BI_ABS:
    case BI_FABS:
        return (struct slope){fabs(x), x >= 0 ? 1 : -1};
    case BI_SIGN:
        return (struct slope){x > 0 ? 1 : x < 0 ? -1 : 0, 0};
    case BI_FLOOR:
        return (struct slope){floor(x), 0};
    case BI_CEIL:
        return (struct slope){ceil(x), 0};
    case BI_ROUND:
        return (struct slope){round(x), 0};
    case BI_TRUNC:
        return (struct slope){trunc(x), 0};
    case BI_ERF:
        return (struct slope){erf(x), 1.1283791670955125739 * exp(-x * x)};
    default: /* BI_ERFC */
        return (struct slope){erfc(x), -1.1283791670955125739 * exp(-x * x)};
    }
}

dual d_sqrt(dual a)
{
    if (!(a.v > 0))
        return d_const(0);
    float s = sqrtf(a.v);
    return (dual){s, a.dx / (2 * s), a.dy / (2 * s)};
}

dual d_select(bool second, dual a, dual b) { return second ? b : a; }

/* ---- functions of two and more -------------------------------------------------------------- */

static dual power(dual x, dual y)
{
    if (y.v == 0)
        return d_const(1);
    if (x.v == 0)
        return y.v == 1 ? (dual){0, x.dx, x.dy} : d_const(0);
    double a = (double)x.v, b = (double)y.v;
    if (a < 0 && b != floor(b))
        return d_const(0);
    double p = pow(a, b);
    if (isnan(p))
        return d_const(0);
    if (p > (double)FLT_MAX || p < -(double)FLT_MAX)
        return d_const(p > 0 ? FLT_MAX : -FLT_MAX);
    double dxdx = b * pow(a, b - 1), dy = a > 0 ? p * log(a) : 0;
    return (dual){(float)p, (float)(dxdx * (double)x.dx + dy * (double)y.dx),
                  (float)(dxdx * (double)x.dy + dy * (double)y.dy)};
}

static dual angle(dual y, dual x)
{
    double a = (double)y.v, b = (double)x.v, d = a * a + b * b;
    if (d == 0)
        return d_const(0);
    return (dual){(float)atan2(a, b), (float)((b * (double)y.dx - a * (double)x.dx) / d),
                  (float)((b * (double)y.dy - a * (double)x.dy) / d)};
}

static dual modulo(dual a, dual b)
{
    dual q = d_div(a, b);
    float v = a.v - b.v * floorf(q.v);
    return (dual){v, a.dx, a.dy};
}

static dual step(dual edge, dual x) { return d_const(x.v < edge.v ? 0 : 1); }

static dual d_min(dual a, dual b) { return b.v < a.v ? b : a; }
static dual d_max(dual a, dual b) { return a.v < b.v ? b : a; }
static dual clamp(dual x, dual lo, dual hi) { return d_max(d_min(x, hi), lo); }

static dual linearstep(dual lo, dual hi, dual x)
{
    if (lo.v == hi.v)
        return step(lo, x);
    return d_div(d_sub(clamp(x, lo, hi), lo), d_sub(hi, lo));
}

static dual smoothstep(dual lo, dual hi, dual x)
{
    if (x.v < lo.v)
        return d_const(0);
    if (x.v >= hi.v)
        return d_const(1);
    dual t = d_div(d_sub(x, lo), d_sub(hi, lo));
    return d_mul(d_mul(t, t), d_sub(d_const(3), d_mul(d_const(2), t)));
}

static dual ramp(dual q, dual r) { return d_mul(d_mul(d_div(d_const(0.5f), r), q), q); }

static dual smooth_linearstep(dual lo, dual hi, dual x, dual eps)
{
    if (lo.v == hi.v)
        return step(lo, x);
    dual w = d_div(d_const(1), d_sub(hi, lo)), one = d_const(1);
    dual e = d_mul(eps, w), y = d_mul(d_sub(x, lo), w), twice = d_mul(d_const(2), e);
    if (y.v <= -e.v)
        return d_const(0);
    if (y.v >= e.v && y.v <= 1 - e.v)
        return y;
    if (y.v >= 1 + e.v)
        return one;
    if (y.v < e.v)
        return ramp(d_add(y, e), twice);
    return d_sub(one, ramp(d_sub(d_add(one, e), y), twice));
}

static dual mix(dual x, dual y, dual a)
{
    return d_add(d_mul(x, d_sub(d_const(1), a)), d_mul(y, a));
}

static dual function_many(enum asl_builtin_id id, const dual *a, size_t count)
{
    switch (id) {
    case BI_SQRT:
        return d_sqrt(a[0]);
    case BI_RADIANS:
        return d_mul(a[0], d_const(0.017453292519943295f));
    case BI_DEGREES:
        return d_mul(a[0], d_const(57.29577951308232f));
    case BI_POW:
        return power(a[0], a[1]);
    case BI_ATAN2:
        return angle(a[0], a[1]);
    case BI_LOG:
        return d_div(chain(function1(BI_LOG, a[0].v), a[0]),
                     chain(function1(BI_LOG, a[1].v), a[1]));
    case BI_FMOD:
        return a[1].v == 0 ? d_const(0) : (dual){fmodf(a[0].v, a[1].v), a[0].dx, a[0].dy};
    case BI_MOD:
        return modulo(a[0], a[1]);
    case BI_MIN:
        return d_min(a[0], a[1]);
    case BI_MAX:
        return d_max(a[0], a[1]);
    case BI_CLAMP:
        return clamp(a[0], a[1], a[2]);
    case BI_MIX:
        return mix(a[0], a[1], a[2]);
    case BI_SELECT:
        return d_select(a[2].v != 0, a[0], a[1]);
    case BI_STEP:
        return step(a[0], a[1]);
    case BI_LINEARSTEP:
        return linearstep(a[0], a[1], a[2]);
    case BI_SMOOTHSTEP:
        return smoothstep(a[0], a[1], a[2]);
    case BI_SMOOTH_LINEARSTEP:
        return smooth_linearstep(a[0], a[1], a[2], a[3]);
    default: { /* BI_HYPOT */
        double z = count > 2 ? (double)a[2].v : 0, x = (double)a[0].v, y = (double)a[1].v;
        double h = sqrt(x * x + y * y + z * z);
        if (h == 0)
            return d_const(0);
        double dx =
            x * (double)a[0].dx + y * (double)a[1].dx + (count > 2 ? z * (double)a[2].dx : 0);
        double dy =
            x * (double)a[0].dy + y * (double)a[1].dy + (count > 2 ? z * (double)a[2].dy : 0);
        return (dual){(float)h, (float)(dx / h), (float)(dy / h)};
    }
    }
}

/* ---- functions of ints ---------------------------------------------------------------------- */

static int32_t integer(enum asl_builtin_id id, const struct asl_place *args)
{
    int32_t a = args[0].v[0].i, b = args[1].v[0].i;
    switch (id) {
    case BI_MOD: {
        if (b == 0 || b == -1)
            return b == 0 ? a : 0;
        int32_t m = a % b;
        return m != 0 && (m < 0) != (b < 0) ? m + b : m;
    }
    case BI_MIN:
        return b < a ? b : a;
    case BI_MAX:
        return a < b ? b : a;
    default: { /* BI_CLAMP */
        int32_t hi = args[2].v[0].i, m = hi < a ? hi : a;
        return m < b ? b : m;
    }
    }
}

static void closure_mix(struct asl_run *r, struct asl_place *args, union asl_slot *out)
{
    const struct asl_closure *part[2];
    for (size_t k = 0; k < 2; k++) {
        float w[3];
        for (size_t i = 0; i < 3; i++) {
            float a = asl_dual_at(&args[2], i).v;
            w[i] = k ? a : 1 - a;
        }
        part[k] = args[k].v[0].c;
        if (part[k] && (w[0] != 0 || w[1] != 0 || w[2] != 0)) {
            struct asl_closure *m = asl_point_alloc(r, 1, sizeof *m);
            m->kind = CLOSURE_MUL;
            m->a = part[k];
            memcpy(m->weight, w, sizeof w);
            part[k] = m;
        } else {
            part[k] = NULL;
        }
    }
    if (part[0] && part[1]) {
        struct asl_closure *s = asl_point_alloc(r, 1, sizeof *s);
        s->kind = CLOSURE_ADD;
        s->a = part[0];
        s->b = part[1];
        out[0].c = s;
    } else {
        out[0].c = part[0] ? part[0] : part[1];
    }
}

void asl_bi_math(struct asl_run *r, const struct asl_expr *e, struct asl_place *args,
                 union asl_slot *out)
{
    enum asl_builtin_id id = e->builtin->id;
    bool derivs = asl_wants(r, e);
    size_t n = e->slots, count = e->arg_count;
    if (id == BI_SINCOS) {
        for (size_t i = 0; i < args[0].n; i++) {
            dual x = asl_dual_at(&args[0], i);
            asl_dual_store(&args[1], i, chain(function1(BI_SIN, x.v), x));
            asl_dual_store(&args[2], i, chain(function1(BI_COS, x.v), x));
        }
        return;
    }
    if (id == BI_ISNAN || id == BI_ISINF || id == BI_ISFINITE) {
        float x = args[0].v[0].f;
        out[0].i = id == BI_ISNAN   ? isnan(x) != 0
                   : id == BI_ISINF ? isinf(x) != 0
                                    : isfinite(x) != 0;
        return;
    }
    if (e->type.base == ASL_CLOSURE) {
        closure_mix(r, args, out);
        return;
    }
    if (e->type.base == ASL_INT) {
        if (id == BI_ABS || id == BI_FABS)
            out[0].i =
                args[0].v[0].i < 0 ? (int32_t)(0u - (uint32_t)args[0].v[0].i) : args[0].v[0].i;
        else
            out[0].i = integer(id, args);
        return;
    }
    bool one = count == 1 && id != BI_RADIANS && id != BI_DEGREES && id != BI_SQRT;
    for (size_t i = 0; i < n; i++) {
        dual a[4];
        for (size_t k = 0; k < count && k < 4; k++) {
            if (args[k].type.base == ASL_INT)
                a[k] = d_const(args[k].v[0].i != 0);
            else
                a[k] = asl_dual_at(&args[k], i);
        }
        asl_dual_put(out, n, derivs, i,
                     one ? chain(function1(id, a[0].v), a[0]) : function_many(id, a, count));
    }
}
