/* SPDX-License-Identifier: Apache-2.0 */
/* bi_geometry.c: vectors, matrices, spaces, derivatives of positions. */
#include "interp.h"

#include <math.h>
#include <string.h>

dual d3_dot(struct dual3 a, struct dual3 b)
{
    return d_add(d_add(d_mul(a.x, b.x), d_mul(a.y, b.y)), d_mul(a.z, b.z));
}
struct dual3 d3_cross(struct dual3 a, struct dual3 b)
{
    return (struct dual3){d_sub(d_mul(a.y, b.z), d_mul(a.z, b.y)),
                          d_sub(d_mul(a.z, b.x), d_mul(a.x, b.z)),
                          d_sub(d_mul(a.x, b.y), d_mul(a.y, b.x))};
}
struct dual3 d3_scale(struct dual3 a, dual s)
{
    return (struct dual3){d_mul(a.x, s), d_mul(a.y, s), d_mul(a.z, s)};
}
struct dual3 d3_add(struct dual3 a, struct dual3 b)
{
    return (struct dual3){d_add(a.x, b.x), d_add(a.y, b.y), d_add(a.z, b.z)};
}
struct dual3 d3_sub(struct dual3 a, struct dual3 b)
{
    return (struct dual3){d_sub(a.x, b.x), d_sub(a.y, b.y), d_sub(a.z, b.z)};
}
dual d3_length(struct dual3 a) { return d_sqrt(d3_dot(a, a)); }
struct dual3 d3_normalize(struct dual3 a)
{
    dual l = d3_length(a);
    return (struct dual3){d_div(a.x, l), d_div(a.y, l), d_div(a.z, l)};
}

static struct dual3 negate(struct dual3 a)
{
    return (struct dual3){d_neg(a.x), d_neg(a.y), d_neg(a.z)};
}

static void put3(union asl_slot *out, bool derivs, struct dual3 a)
{
    asl_dual_put(out, 3, derivs, 0, a.x);
    asl_dual_put(out, 3, derivs, 1, a.y);
    asl_dual_put(out, 3, derivs, 2, a.z);
}

static void store3(const struct asl_place *p, struct dual3 a)
{
    asl_dual_store(p, 0, a.x);
    asl_dual_store(p, 1, a.y);
    asl_dual_store(p, 2, a.z);
}

static struct dual3 zero3(void) { return (struct dual3){{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}; }

/* ---- matrices ------------------------------------------------------------------------------- */

void asl_matrix_multiply(const float a[16], const float b[16], float out[16])
{
    float m[16];
    for (size_t i = 0; i < 4; i++) {
        for (size_t j = 0; j < 4; j++) {
            float s = a[4 * i] * b[j];
            for (size_t k = 1; k < 4; k++)
                s = s + a[4 * i + k] * b[4 * k + j];
            m[4 * i + j] = s;
        }
    }
    memcpy(out, m, sizeof m);
}

/* Gauss-Jordan with partial pivoting in double. */
static double eliminate(const float m[16], double inv[16])
{
    double a[4][8], det = 1;
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 8; j++)
            a[i][j] = j < 4 ? (double)m[4 * i + j] : j - 4 == i ? 1.0 : 0.0;
    for (size_t c = 0; c < 4; c++) {
        size_t pivot = c;
        for (size_t i = c + 1; i < 4; i++)
            if (fabs(a[i][c]) > fabs(a[pivot][c]))
                pivot = i;
        if (!(fabs(a[pivot][c]) > 0))
            return 0;
        if (pivot != c) {
            for (size_t j = 0; j < 8; j++) {
                double t = a[c][j];
                a[c][j] = a[pivot][j];
                a[pivot][j] = t;
            }
            det = -det;
        }
        double p = a[c][c];
        det *= p;
        for (size_t j = 0; j < 8; j++)
            a[c][j] /= p;
        for (size_t i = 0; i < 4; i++) {
            double f = a[i][c];
            for (size_t j = 0; i != c && j < 8; j++)
                a[i][j] -= f * a[c][j];
        }
    }
    for (size_t i = 0; inv && i < 4; i++)
        for (size_t j = 0; j < 4; j++)
            inv[4 * i + j] = a[i][4 + j];
    return det;
}

bool asl_matrix_inverse(const float m[16], float out[16])
{
    double inv[16];
    if (eliminate(m, inv) == 0)
        return false;
    for (size_t i = 0; i < 16; i++)
        out[i] = (float)inv[i];
    return true;
}

void asl_matrix_divisor(const float m[16], float out[16])
{
    if (!asl_matrix_inverse(m, out))
        for (size_t i = 0; i < 16; i++)
            out[i] = i % 5 == 0 ? 1.0f : 0.0f;
}

bool asl_space_matrix(struct asl_run *r, const char *space, float out[16])
{
    const struct asl_services *s = &r->cx->services;
    if (strcmp(space, "common") != 0 && s->space && s->space(s->ctx, space, out))
        return true;
    if (strcmp(space, "common") != 0 && strcmp(space, "world") != 0 &&
        (strcmp(space, "object") != 0 || s->space) && (strcmp(space, "shader") != 0 || s->space)) {
        asl_report(r, ASL_MSG_ERROR, "Unknown transformation \"%s\"", space);
        return false;
    }
    for (size_t i = 0; i < 16; i++)
        out[i] = i % 5 == 0 ? 1.0f : 0.0f;
    return true;
}

bool asl_space_pair(struct asl_run *r, const char *from, const char *to, float out[16])
{
    float a[16], b[16], inv[16];
    bool known = asl_space_matrix(r, from, a);
    if (!asl_space_matrix(r, to, b) || !known) /* both are asked: each reports itself */
        return false;
    asl_matrix_divisor(b, inv);
    asl_matrix_multiply(a, inv, out);
    return true;
}

static dual column(struct dual3 p, const float m[16], size_t c, float w)
{
    dual s = d_mul(p.x, d_const(m[c]));
    s = d_add(s, d_mul(p.y, d_const(m[4 + c])));
    s = d_add(s, d_mul(p.z, d_const(m[8 + c])));
    return w != 0 ? d_add(s, d_const(m[12 + c])) : s;
}

static struct dual3 transform(enum asl_base kind, struct dual3 p, const float m[16])
{
    float t[16];
    if (kind == ASL_NORMAL) {
        float inv[16];
        if (!asl_matrix_inverse(m, inv))
            return p;
        for (size_t i = 0; i < 16; i++)
            t[i] = inv[(i % 4) * 4 + i / 4];
        m = t;
    }
    float w = kind == ASL_POINT ? 1.0f : 0.0f;
    struct dual3 q = {column(p, m, 0, w), column(p, m, 1, w), column(p, m, 2, w)};
    if (kind != ASL_POINT)
        return q;
    dual h = column(p, m, 3, w);
    return (struct dual3){d_div(q.x, h), d_div(q.y, h), d_div(q.z, h)};
}

static void matrix_at(const struct asl_place *p, float m[16])
{
    for (size_t i = 0; i < 16; i++)
        m[i] = p->v[i].f;
}

static void bi_transform(struct asl_run *r, const struct asl_expr *e, struct asl_place *args,
                         union asl_slot *out)
{
    const struct asl_place *p = &args[e->arg_count - 1];
    float m[16];
    bool ok = true;
    if (args[0].type.base == ASL_MATRIX) {
        matrix_at(&args[0], m);
    } else {
        const char *to = args[e->arg_count - 2].v[0].s,
                   *from = e->arg_count == 3 ? args[0].v[0].s : "common";
        ok = asl_space_pair(r, from, to, m);
    }
    struct dual3 v = asl_dual3_at(p);
    put3(out, asl_wants(r, e), ok ? transform(e->type.base, v, m) : v);
}

void asl_bi_matrix(struct asl_run *r, const struct asl_expr *e, struct asl_place *args,
                   union asl_slot *out)
{
    float m[16];
    if (e->builtin->id == BI_GETMATRIX) {
        const char *to = e->arg_count == 3 ? args[1].v[0].s : "common";
        const struct asl_place *dest = &args[e->arg_count - 1];
        out[0].i = asl_space_pair(r, args[0].v[0].s, to, m);
        if (out[0].i) {
            union asl_slot v[16];
            for (size_t i = 0; i < 16; i++)
                v[i].f = m[i];
            asl_store(dest, v, 0);
        }
        return;
    }
    matrix_at(&args[0], m);
    if (e->builtin->id == BI_DETERMINANT) {
        asl_dual_put(out, 1, asl_wants(r, e), 0, d_const((float)eliminate(m, NULL)));
        return;
    }
    for (size_t i = 0; i < 16; i++)
        asl_dual_put(out, 16, asl_wants(r, e), i, d_const(m[(i % 4) * 4 + i / 4]));
}

/* ---- units ---------------------------------------------------------------------------------- */

static bool unit(const char *name, int *kind, double *scale)
{
    static const struct {
        const char *name;
        int kind;
        double scale;
    } units[] = {{"mm", 1, 0.001},        {"cm", 1, 0.01},   {"m", 1, 1},         {"km", 1, 1000},
                 {"in", 1, 0.0254},       {"ft", 1, 0.3048}, {"mi", 1, 1609.344}, {"s", 2, 1},
                 {"frames", 2, 1.0 / 24}, {"common", 0, 1},  {"world", 0, 1}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(units[i].name, name) == 0) {
            *kind = units[i].kind;
            *scale = units[i].scale;
            return true;
        }
    }
    return false;
}

bool asl_unit_ratio(const char *from, const char *to, float *ratio)
{
    int ka = 0, kb = 0;
    double a = 1, b = 1;
    if (!unit(from, &ka, &a) || !unit(to, &kb, &b) || (ka && kb && ka != kb))
        return false;
    *ratio = (float)(a / b);
    return true;
}

static void bi_transformu(struct asl_run *r, const struct asl_expr *e, struct asl_place *args,
                          union asl_slot *out)
{
    const char *from = e->arg_count == 3 ? args[0].v[0].s : "common",
               *to = args[e->arg_count - 2].v[0].s;
    float ratio = 1;
    dual x = asl_dual_at(&args[e->arg_count - 1], 0);
    if (asl_unit_ratio(from, to, &ratio))
        x = d_mul(x, d_const(ratio));
    else
        asl_report(r, ASL_MSG_ERROR, "transformu: cannot convert \"%s\" to \"%s\"", from, to);
    asl_dual_put(out, 1, asl_wants(r, e), 0, x);
}

/* ---- vectors -------------------------------------------------------------------------------- */

static struct dual3 reflect(struct dual3 i, struct dual3 n)
{
    return d3_sub(i, d3_scale(n, d_mul(d_const(2), d3_dot(n, i))));
}

static struct dual3 refract(struct dual3 i, struct dual3 n, dual eta)
{
    dual c = d3_dot(i, n), one = d_const(1);
    dual k = d_sub(one, d_mul(d_mul(eta, eta), d_sub(one, d_mul(c, c))));
    if (k.v < 0)
        return zero3();
    return d3_sub(d3_scale(i, eta), d3_scale(n, d_add(d_mul(eta, c), d_sqrt(k))));
}

static void fresnel(const struct asl_expr *e, struct asl_place *args)
{
    struct dual3 i = asl_dual3_at(&args[0]), n = asl_dual3_at(&args[1]), t = zero3();
    dual eta = asl_dual_at(&args[2], 0), one = d_const(1), c = d3_dot(i, n);
    if (c.v < 0)
        c = d_neg(c);
    dual kr = one, kt = d_const(0);
    dual g2 = d_add(d_sub(d_div(one, d_mul(eta, eta)), one), d_mul(c, c));
    if (g2.v >= 0) {
        dual g = d_sqrt(g2), beta = d_sub(g, c), sum = d_add(g, c);
        dual f = d_div(d_sub(d_mul(c, sum), one), d_add(d_mul(c, beta), one));
        dual q = d_div(beta, sum);
        kr = d_mul(d_mul(d_const(0.5f), d_add(one, d_mul(f, f))), d_mul(q, q));
        kt = d_mul(d_mul(d_sub(one, kr), eta), eta);
        t = refract(i, n, eta);
    }
    struct dual3 refl = reflect(i, n);
    asl_dual_store(&args[3], 0, kr);
    asl_dual_store(&args[4], 0, kt);
    if (e->arg_count > 5) {
        store3(&args[5], refl);
        store3(&args[6], t);
    }
}

/* Rodrigues: v cos + (k x v) sin + k (k.v)(1 - cos). */
static struct dual3 rotate(struct dual3 v, dual angle, struct dual3 axis)
{
    struct dual3 k = d3_normalize(axis);
    double a = (double)angle.v;
    dual s = {(float)sin(a), (float)(cos(a) * (double)angle.dx),
              (float)(cos(a) * (double)angle.dy)};
    dual c = {(float)cos(a), (float)(-sin(a) * (double)angle.dx),
              (float)(-sin(a) * (double)angle.dy)};
    struct dual3 r = d3_scale(v, c);
    r = d3_add(r, d3_scale(d3_cross(k, v), s));
    return d3_add(r, d3_scale(k, d_mul(d3_dot(k, v), d_sub(d_const(1), c))));
}

static dual clamp01(dual t) { return t.v < 0 ? d_const(0) : t.v > 1 ? d_const(1) : t; }

void asl_bi_geometry(struct asl_run *r, const struct asl_expr *e, struct asl_place *args,
                     union asl_slot *out)
{
    bool derivs = asl_wants(r, e);
    enum asl_builtin_id id = e->builtin->id;
    if (id == BI_TRANSFORM) {
        bi_transform(r, e, args, out);
        return;
    }
    if (id == BI_TRANSFORMU) {
        bi_transformu(r, e, args, out);
        return;
    }
    if (id == BI_FRESNEL) {
        fresnel(e, args);
        return;
    }
    struct dual3 a = asl_dual3_at(&args[0]);
    struct dual3 b = e->arg_count > 1 && args[1].n == 3 ? asl_dual3_at(&args[1]) : zero3();
    switch (id) {
    case BI_DOT:
        asl_dual_put(out, 1, derivs, 0, d3_dot(a, b));
        break;
    case BI_CROSS:
        put3(out, derivs, d3_cross(a, b));
        break;
    case BI_LENGTH:
        asl_dual_put(out, 1, derivs, 0, d3_length(a));
        break;
    case BI_DISTANCE: {
        struct dual3 from = a, to = b;
        if (e->arg_count == 3) {
            struct dual3 q = asl_dual3_at(&args[2]), d = d3_sub(b, a);
            dual dd = d3_dot(d, d);
            from =
                dd.v == 0 ? a : d3_add(a, d3_scale(d, clamp01(d_div(d3_dot(d3_sub(q, a), d), dd))));
            to = q;
        }
        asl_dual_put(out, 1, derivs, 0, d3_length(d3_sub(to, from)));
        break;
    }
    case BI_NORMALIZE:
        put3(out, derivs, d3_normalize(a));
        break;
    case BI_FACEFORWARD: {
        const struct asl_place *ref = e->arg_count == 3 ? &args[2] : &r->cx->globals[GV_Ng];
        put3(out, derivs, d3_dot(b, asl_dual3_at(ref)).v > 0 ? negate(a) : a);
        break;
    }
    case BI_REFLECT:
        put3(out, derivs, reflect(a, b));
        break;
    case BI_REFRACT:
        put3(out, derivs, refract(a, b, asl_dual_at(&args[2], 0)));
        break;
    default: { /* BI_ROTATE */
        dual angle = asl_dual_at(&args[1], 0);
        struct dual3 p = asl_dual3_at(&args[2]);
        if (e->arg_count == 4)
            put3(out, derivs,
                 d3_add(rotate(d3_sub(a, p), angle, d3_sub(asl_dual3_at(&args[3]), p)), p));
        else
            put3(out, derivs, rotate(a, angle, p));
    }
    }
}

/* ---- derivatives ---------------------------------------------------------------------------- */

/* cross(Dx(p), Dy(p)), toward the side that the surface faces. */
static struct dual3 surface_normal(const struct asl_run *r, struct dual3 p)
{
    struct dual3 dx = {d_const(p.x.dx), d_const(p.y.dx), d_const(p.z.dx)};
    struct dual3 dy = {d_const(p.x.dy), d_const(p.y.dy), d_const(p.z.dy)};
    struct dual3 n = d3_cross(dx, dy);
    return r->cx->state.flip_handedness ? negate(n) : n;
}

static void displace(struct asl_run *r, const struct asl_expr *e, struct asl_place *args)
{
    struct asl_place *P = &r->cx->globals[GV_P], *N = &r->cx->globals[GV_N];
    const struct asl_place *amount = &args[e->arg_count - 1];
    struct dual3 n = asl_dual3_at(N), p = asl_dual3_at(P), offset;
    const char *space = e->arg_count == 2 ? args[0].v[0].s : NULL;
    float m[16];
    if (amount->n == 1) {
        dual s = asl_dual_at(amount, 0);
        if (space)
            s = d_mul(
                s,
                d3_length(asl_space_pair(r, "common", space, m) ? transform(ASL_NORMAL, n, m) : n));
        offset = d3_scale(n, s);
    } else {
        offset = asl_dual3_at(amount);
        if (space && asl_space_pair(r, space, "common", m))
            offset = transform(ASL_VECTOR, offset, m);
    }
    p = d3_add(p, offset);
    if (e->builtin->id == BI_DISPLACE)
        store3(P, p);
    store3(N, d3_normalize(surface_normal(r, p)));
}

static float width(dual x) { return d_sqrt(d_const(x.dx * x.dx + x.dy * x.dy)).v; }

void asl_bi_derivative(struct asl_run *r, const struct asl_expr *e, struct asl_place *args,
                       union asl_slot *out)
{
    bool derivs = asl_wants(r, e);
    size_t n = e->slots;
    switch (e->builtin->id) {
    case BI_DX:
    case BI_DY:
    case BI_FILTERWIDTH:
        for (size_t i = 0; i < n; i++) {
            dual x = asl_dual_at(&args[0], i);
            float v = e->builtin->id == BI_DX ? x.dx : e->builtin->id == BI_DY ? x.dy : width(x);
            asl_dual_put(out, n, derivs, i, d_const(v));
        }
        break;
    case BI_DZ: {
        const struct asl_expr *a = e->args[0];
        bool position =
            a->kind == E_SYMBOL && a->symbol->kind == SYM_GLOBAL && a->symbol->global == GV_P;
        for (size_t i = 0; i < n; i++)
            asl_dual_put(out, n, derivs, i, d_const(position ? r->cx->state.dPdz[i] : 0));
        break;
    }
    case BI_AREA:
        asl_dual_put(out, 1, derivs, 0,
                     d_const(d3_length(surface_normal(r, asl_dual3_at(&args[0]))).v));
        break;
    case BI_CALCULATENORMAL: {
        struct dual3 m = surface_normal(r, asl_dual3_at(&args[0]));
        put3(out, derivs, m);
        break;
    }
    case BI_AASTEP: {
        float edge = args[0].v[0].f, s = args[1].v[0].f;
        float dedge = width(asl_dual_at(&args[0], 0)), ds = width(asl_dual_at(&args[1], 0));
        if (e->arg_count == 3)
            ds = args[2].v[0].f;
        if (e->arg_count == 4) {
            dedge = args[2].v[0].f;
            ds = args[3].v[0].f;
        }
        float w = fabsf(dedge) + fabsf(ds), low = edge - 0.5f * w;
        float ramp = d_div(d_const(s - low), d_const(w)).v;
        float v = s <= low ? 0 : s >= edge + 0.5f * w ? 1 : ramp;
        asl_dual_put(out, 1, derivs, 0, d_const(v));
        break;
    }
    default:
        displace(r, e, args);
    }
}
