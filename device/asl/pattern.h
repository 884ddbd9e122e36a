/* SPDX-License-Identifier: Apache-2.0 */
/* pattern.h: splines, colour spaces, geometry: the reference's formulas in its order, on duals. */

/* ---- splines -------------------------------------------------------------------------------- */

enum a_basis { A_CATMULL_ROM, A_BEZIER, A_BSPLINE, A_HERMITE, A_LINEAR, A_CONSTANT };

/* Coefficients of t^3, t^2, t, 1, in rows. */
K_CONST float a_bases[6][16] = {{-0.5f, 1.5f, -1.5f, 0.5f, 1.0f, -2.5f, 2.0f, -0.5f, -0.5f, 0.0f,
                                 0.5f, 0.0f, 0.0f, 1.0f, 0.0f, 0.0f},
                                {-1.0f, 3.0f, -3.0f, 1.0f, 3.0f, -6.0f, 3.0f, 0.0f, -3.0f, 3.0f,
                                 0.0f, 0.0f, 1.0f, 0.0f, 0.0f, 0.0f},
                                {-1.0f / 6, 0.5f, -0.5f, 1.0f / 6, 0.5f, -1.0f, 0.5f, 0.0f, -0.5f,
                                 0.0f, 0.5f, 0.0f, 1.0f / 6, 4.0f / 6, 1.0f / 6, 0.0f},
                                {2.0f, 1.0f, -2.0f, 1.0f, -3.0f, -2.0f, 3.0f, -1.0f, 0.0f, 1.0f,
                                 0.0f, 0.0f, 1.0f, 0.0f, 0.0f, 0.0f},
                                {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, -1.0f, 1.0f,
                                 0.0f, 0.0f, 1.0f, 0.0f, 0.0f},
                                {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f,
                                 0.0f, 0.0f, 1.0f, 0.0f, 0.0f}};

/* The knots of segment s, one of a row's lane each. Of few segments all are blended: a gather costs
 * as much as many blends. */
#define A_FEW_SEGMENTS 12
K_INLINE void a_spline_points(ai s, int segments, int step, const af *knots, int channels, af *p)
{
#if A_WIDTH > 1
    if (segments <= A_FEW_SEGMENTS) {
        A_UNROLL
        for (int i = 0; i < 4; i++)
            p[i] = knots[i * channels];
        for (int k = 1; k < segments; k++) {
            am here = s >= k;
            A_UNROLL
            for (int i = 0; i < 4; i++)
                p[i] = a_sel(here, knots[(k * step + i) * channels], p[i]);
        }
        return;
    }
#endif
    for (int i = 0; i < 4; i++)
        p[i] = a_gather(knots, (s * step + i) * channels);
}
/* Channel `channel` of the spline through `count` >= 4 knots: knots[i * channels + channel], their
 * derivatives `row` and 2 row further on, or none when row is 0. */
K_INLINE struct ad a_spline_here(int basis, struct ad x, int count, const af *knots, int channels,
                                 int channel, int row)
{
    int step = basis == A_BEZIER    ? 3
               : basis == A_HERMITE ? 2
                                    : 1,
        segments = (count - 4) / step + 1;
    am low = a_not(x.v >= 0.0f), high = x.v > 1.0f;
    x = a_dsel(high, a_still(A_F(1.0f)), x);
    x = a_dsel(low, a_still(A_F(0.0f)), x);
    x.v = a_sel(x.v == 0.0f, A_F(0.0f), x.v); /* 0 has no sign here */
    struct ad t = a_dscaled(x, a_to_float(A_I(segments))), sum = a_still(A_F(0.0f)), p[4];
    af v[4], dx[4], dy[4];
    ai s = a_to_int(t.v);
    s = a_seli(s >= segments, A_I(segments - 1), s);
    t = a_dsub(t, a_still(a_to_float(s)));
    a_spline_points(s, segments, step, knots + channel, channels, v);
    if (row) {
        a_spline_points(s, segments, step, knots + channel + row, channels, dx);
        a_spline_points(s, segments, step, knots + channel + 2 * row, channels, dy);
    }
    A_UNROLL
    for (int i = 0; i < 4; i++)
        p[i] = row ? a_dual(v[i], dx[i], dy[i]) : a_still(v[i]);
    A_UNROLL
    for (int r = 0; r < 4; r++) {
        struct ad k = a_dscale(A_F(a_bases[basis][4 * r]), p[0]);
        A_UNROLL
        for (int i = 1; i < 4; i++)
            k = a_dadd(k, a_dscale(A_F(a_bases[basis][4 * r + i]), p[i]));
        sum = r ? a_dadd(a_dmul(sum, t), k) : k;
    }
    return sum;
}

A_CALL struct ad a_spline(int basis, struct ad x, int count, const af *knots, int channels,
                          int channel, int row)
{
    return a_spline_here(basis, x, count, knots, channels, channel, row);
}
/* Without derivatives. */
A_CALL af a_spline_value(int basis, af x, int count, const af *knots, int channels, int channel)
{
    return a_spline_here(basis, a_still(x), count, knots, channels, channel, 0).v;
}

/* The smallest x whose value reaches v, by halving. In float, where the reference halves in double:
 * of 64 halvings each middle is exact, or the ends are neighbours and the result stays. More would
 * go below 2^-64 where the values are not numbers, or cross v at a tiny x. */
A_CALL af a_spline_inverse(int basis, af v, int count, const af *knots)
{
    af lo = a_spline_value(basis, A_F(0.0f), count, knots, 1, 0);
    af hi = a_spline_value(basis, A_F(1.0f), count, knots, 1, 0);
    am rising = hi >= lo;
    am none = (rising & (v <= lo)) | (a_not(rising) & (v >= lo));
    am all = (rising & (v >= hi)) | (a_not(rising) & (v <= hi));
    af a = A_F(0.0f), b = A_F(1.0f);
    for (int i = 0; i < 64; i++) {
        af m = 0.5f * (a + b);
        af y = a_spline_value(basis, m, count, knots, 1, 0);
        am up = (rising & (y < v)) | (a_not(rising) & (y > v));
        if (!a_any((m != a) & (m != b)))
            break;
        a = a_sel(up, m, a);
        b = a_sel(up, b, m);
    }
    return a_sel(none, A_F(0.0f), a_sel(all, A_F(1.0f), b));
}

/* With its changes: those of v over the spline's slope at the result. */
A_CALL struct ad a_spline_inverse_d(int basis, struct ad v, int count, const af *knots)
{
    struct ad x = {a_spline_inverse(basis, v.v, count, knots), A_F(1.0f), A_F(0.0f)};
    af slope = a_spline(basis, x, count, knots, 1, 0, 0).dx;
    /* beyond the ends nothing follows v: a_fdiv by 0 is 0 */
    slope = a_sel((x.v <= 0.0f) | (x.v >= 1.0f), A_F(0.0f), slope);
    x.dx = a_fdiv(v.dx, slope);
    x.dy = a_fdiv(v.dy, slope);
    return x;
}

/* ---- colour spaces --------------------------------------------------------------------------- */

enum a_space { A_RGB, A_HSV, A_HSL, A_YIQ, A_XYZ, A_XYY, A_SRGB };

struct ad3 {
    struct ad x, y, z;
};
K_INLINE struct ad3 a_dual3(struct ad x, struct ad y, struct ad z)
{
    struct ad3 r;
    r.x = x;
    r.y = y;
    r.z = z;
    return r;
}
K_INLINE struct ad a_dlarger(struct ad a, struct ad b) { return a_dsel(a.v < b.v, b, a); }
K_INLINE struct ad a_dsmaller(struct ad a, struct ad b) { return a_dsel(b.v < a.v, b, a); }
K_INLINE struct ad a_weigh(float a, float b, float c, struct ad3 v)
{
    return a_dadd(a_dadd(a_dscale(A_F(a), v.x), a_dscale(A_F(b), v.y)), a_dscale(A_F(c), v.z));
}
K_INLINE struct ad a_hue(struct ad3 c, struct ad max, struct ad delta)
{
    struct ad h = a_dadd(a_still(A_F(4.0f)), a_ddiv(a_dsub(c.x, c.y), delta));
    h = a_dsel(c.y.v == max.v, a_dadd(a_still(A_F(2.0f)), a_ddiv(a_dsub(c.z, c.x), delta)), h);
    h = a_dsel(c.x.v == max.v, a_ddiv(a_dsub(c.y, c.z), delta), h);
    h = a_dscaled(h, A_F(1.0f / 6.0f));
    return a_dsel(h.v < 0.0f, a_dadd(h, a_still(A_F(1.0f))), h);
}
K_FN struct ad3 a_rgb_to_hsv(struct ad3 c)
{
    struct ad max = a_dlarger(a_dlarger(c.x, c.y), c.z),
              min = a_dsmaller(a_dsmaller(c.x, c.y), c.z);
    struct ad delta = a_dsub(max, min), none = a_still(A_F(0.0f));
    struct ad s = a_dsel(max.v > 0.0f, a_ddiv(delta, max), none);
    return a_dual3(a_dsel(s.v > 0.0f, a_hue(c, max, delta), none), s, max);
}
K_FN struct ad3 a_hsv_to_rgb(struct ad3 c)
{
    struct ad v = c.z, s = c.y, one = a_still(A_F(1.0f));
    am grey = s.v < 0.0001f;
    struct ad h = a_dscale(A_F(6.0f), a_dsub(c.x, a_still(a_floor(c.x.v))));
    ai i = a_f2i(h.v);
    struct ad f = a_dsub(h, a_still(a_to_float(i)));
    struct ad p = a_dmul(v, a_dsub(one, s)), q = a_dmul(v, a_dsub(one, a_dmul(s, f)));
    struct ad t = a_dmul(v, a_dsub(one, a_dmul(s, a_dsub(one, f))));
    i = a_seli((i < 0) | (i > 5), A_I(5), i);
    struct ad r = a_dsel((i == 0) | (i == 5), v, a_dsel(i == 1, q, a_dsel(i == 4, t, p)));
    struct ad g = a_dsel((i == 1) | (i == 2), v, a_dsel(i == 0, t, a_dsel(i == 3, q, p)));
    struct ad b = a_dsel((i == 3) | (i == 4), v, a_dsel(i == 2, t, a_dsel(i == 5, q, p)));
    return a_dual3(a_dsel(grey, v, r), a_dsel(grey, v, g), a_dsel(grey, v, b));
}
K_FN struct ad3 a_rgb_to_hsl(struct ad3 c)
{
    struct ad max = a_dlarger(a_dlarger(c.x, c.y), c.z),
              min = a_dsmaller(a_dsmaller(c.x, c.y), c.z);
    struct ad delta = a_dsub(max, min), sum = a_dadd(max, min), none = a_still(A_F(0.0f));
    struct ad l = a_dscale(A_F(0.5f), sum);
    am some = delta.v > 0.0f;
    struct ad s = a_ddiv(delta, a_dsel(l.v > 0.5f, a_dsub(a_still(A_F(2.0f)), sum), sum));
    return a_dual3(a_dsel(some, a_hue(c, max, delta), none), a_dsel(some, s, none), l);
}
K_FN struct ad3 a_hsl_to_rgb(struct ad3 c)
{
    struct ad l = c.z, rest = a_dsel(l.v <= 0.5f, l, a_dsub(a_still(A_F(1.0f)), l));
    struct ad v = a_dadd(l, a_dmul(c.y, rest));
    struct ad s =
        a_dsel(v.v <= 0.0f, a_still(A_F(0.0f)), a_ddiv(a_dscale(A_F(2.0f), a_dsub(v, l)), v));
    return a_hsv_to_rgb(a_dual3(c.x, s, v));
}
/* 1.055 x^(1/2.4) - 0.055, and the inverse; the power of x in [0.003, 1] through logarithms in two
 * parts (a_pow). */
K_FN struct ad a_srgb_encode(struct ad x)
{
    struct ad low = a_dscaled(x, A_F(12.92f)), high;
    am in = x.v > 0.0031308f;
    af y = a_sel(in, x.v, A_F(1.0f)), p = a_pow(y, A_F(0.416666657f));
    /* 1/2.4 is 9.934107e-09 above that float */
    p = p + p * (a_log(y) * 9.934107e-09f);
    af d = 0.43958333f * p / y;
    high.v = 1.055f * p - 0.055f;
    high.dx = d * x.dx;
    high.dy = d * x.dy;
    return a_dsel(x.v <= 0.0031308f, low, high);
}
K_FN struct ad a_srgb_decode(struct ad x)
{
    struct ad low = a_ddiv(x, a_still(A_F(12.92f))), high;
    am in = x.v > 0.04045f;
    af b = (a_sel(in, x.v, A_F(1.0f)) + 0.055f) / 1.055f;
    af p = a_pow(b, A_F(2.4000001f)); /* 2.4 is 9.536743e-08 below */
    p = p - p * (a_log(b) * 9.536743e-08f);
    af d = 2.27488152f * a_pow(b, A_F(1.4f));
    high.v = p;
    high.dx = d * x.dx;
    high.dy = d * x.dy;
    return a_dsel(x.v <= 0.04045f, low, high);
}
A_CALL struct ad3 a_colour_transform(int from, int to, struct ad3 c)
{
    if (from == to)
        return c;
    if (from == A_HSV)
        c = a_hsv_to_rgb(c);
    else if (from == A_HSL)
        c = a_hsl_to_rgb(c);
    else if (from == A_YIQ)
        c = a_dual3(a_weigh(1.0f, 0.9557f, 0.6199f, c), a_weigh(1.0f, -0.2716f, -0.6469f, c),
                    a_weigh(1.0f, -1.1082f, 1.7051f, c));
    else if (from == A_SRGB)
        c = a_dual3(a_srgb_decode(c.x), a_srgb_decode(c.y), a_srgb_decode(c.z));
    if (from == A_XYY) {
        struct ad k = a_ddiv(c.z, c.y), z = a_dsub(a_dsub(a_still(A_F(1.0f)), c.x), c.y);
        c = a_dual3(a_dmul(k, c.x), c.z, a_dmul(k, z));
    }
    if (from == A_XYZ || from == A_XYY)
        c = a_dual3(a_weigh(3.24297897f, -1.53833618f, -0.498919841f, c),
                    a_weigh(-0.968997953f, 1.87549198f, 0.0415445241f, c),
                    a_weigh(0.0556683244f, -0.204117189f, 1.05769816f, c));
    if (to == A_HSV)
        return a_rgb_to_hsv(c);
    if (to == A_HSL)
        return a_rgb_to_hsl(c);
    if (to == A_YIQ)
        return a_dual3(a_weigh(0.299f, 0.587f, 0.114f, c), a_weigh(0.596f, -0.275f, -0.321f, c),
                       a_weigh(0.212f, -0.523f, 0.311f, c));
    if (to == A_SRGB)
        return a_dual3(a_srgb_encode(c.x), a_srgb_encode(c.y), a_srgb_encode(c.z));
    if (to == A_XYZ || to == A_XYY)
        c = a_dual3(a_weigh(0.412135323f, 0.357675003f, 0.180356796f, c),
                    a_weigh(0.212507276f, 0.715350005f, 0.0721427185f, c),
                    a_weigh(0.0193188433f, 0.119225001f, 0.949879128f, c));
    if (to == A_XYY) {
        struct ad sum = a_dadd(a_dadd(c.x, c.y), c.z);
        c = a_dual3(a_ddiv(c.x, sum), a_ddiv(c.y, sum), c.y);
    }
    return c;
}

/* ---- geometry -------------------------------------------------------------------------------- */

K_INLINE struct ad a_d3dot(struct ad3 a, struct ad3 b)
{
    return a_dadd(a_dadd(a_dmul(a.x, b.x), a_dmul(a.y, b.y)), a_dmul(a.z, b.z));
}
K_INLINE struct ad3 a_d3sub(struct ad3 a, struct ad3 b)
{
    return a_dual3(a_dsub(a.x, b.x), a_dsub(a.y, b.y), a_dsub(a.z, b.z));
}
K_INLINE struct ad3 a_d3add(struct ad3 a, struct ad3 b)
{
    return a_dual3(a_dadd(a.x, b.x), a_dadd(a.y, b.y), a_dadd(a.z, b.z));
}
K_INLINE struct ad3 a_d3scale(struct ad3 a, struct ad s)
{
    return a_dual3(a_dmul(a.x, s), a_dmul(a.y, s), a_dmul(a.z, s));
}
K_INLINE struct ad a_droot(struct ad a)
{
    am above = a.v > 0.0f;
    af s = a_root(a_sel(above, a.v, A_F(1.0f)));
    return a_dsel(above, a_dual(s, a.dx / (2.0f * s), a.dy / (2.0f * s)), a_still(A_F(0.0f)));
}
K_INLINE struct ad3 a_d3normalize(struct ad3 a)
{
    struct ad l = a_droot(a_d3dot(a, a));
    return a_dual3(a_ddiv(a.x, l), a_ddiv(a.y, l), a_ddiv(a.z, l));
}
/* The distance of q from the segment a b. */
K_FN struct ad a_segment_distance(struct ad3 a, struct ad3 b, struct ad3 q)
{
    struct ad3 d = a_d3sub(b, a);
    struct ad dd = a_d3dot(d, d), t = a_ddiv(a_d3dot(a_d3sub(q, a), d), dd);
    t = a_dsel(t.v < 0.0f, a_still(A_F(0.0f)), a_dsel(t.v > 1.0f, a_still(A_F(1.0f)), t));
    struct ad3 near = a_d3add(a, a_d3scale(d, t));
    am point = dd.v == 0.0f;
    near =
        a_dual3(a_dsel(point, a.x, near.x), a_dsel(point, a.y, near.y), a_dsel(point, a.z, near.z));
    struct ad3 r = a_d3sub(q, near);
    return a_droot(a_d3dot(r, r));
}
/* Rodrigues: v cos + (k x v) sin + k (k.v)(1 - cos). */
K_FN struct ad3 a_rotate(struct ad3 v, struct ad angle, struct ad3 axis)
{
    struct ad3 k = a_d3normalize(axis), r;
    struct ad s, c;
    s.v = a_sin(angle.v);
    c.v = a_cos(angle.v);
    s.dx = c.v * angle.dx;
    s.dy = c.v * angle.dy;
    c.dx = -s.v * angle.dx;
    c.dy = -s.v * angle.dy;
    struct ad3 cross = a_dual3(a_dsub(a_dmul(k.y, v.z), a_dmul(k.z, v.y)),
                               a_dsub(a_dmul(k.z, v.x), a_dmul(k.x, v.z)),
                               a_dsub(a_dmul(k.x, v.y), a_dmul(k.y, v.x)));
    r = a_d3add(a_d3scale(v, c), a_d3scale(cross, s));
    return a_d3add(r, a_d3scale(k, a_dmul(a_d3dot(k, v), a_dsub(a_still(A_F(1.0f)), c))));
}
/* Column c of the product of the row p with a matrix; with w the last row is added. */
K_INLINE struct ad a_column(struct ad3 p, const af *m, int c, int w)
{
    struct ad s = a_dscaled(p.x, m[c]);
    s = a_dadd(s, a_dscaled(p.y, m[4 + c]));
    s = a_dadd(s, a_dscaled(p.z, m[8 + c]));
    return w ? a_dadd(s, a_still(m[12 + c])) : s;
}
K_FN struct ad3 a_transform(int point, struct ad3 p, const af *m)
{
    struct ad3 q =
        a_dual3(a_column(p, m, 0, point), a_column(p, m, 1, point), a_column(p, m, 2, point));
    if (!point)
        return q;
    struct ad h = a_column(p, m, 3, 1);
    return a_dual3(a_ddiv(q.x, h), a_ddiv(q.y, h), a_ddiv(q.z, h));
}

/* ---- matrices: in doubles, of one point, where no interpreter can be asked ------------------ */

#if A_WIDTH == 1 && (!defined(K_OPENCL) || defined(cl_khr_fp64) || defined(__opencl_c_fp64))
#define A_HAS_DOUBLES
/* Gauss-Jordan, the largest pivot of the column, as the reference's. inv: 16, only if the
 * determinant, which is returned, is not 0. */
A_CALL double a_eliminate(const af *m, double *inv)
{
    double a[4][8], det = 1;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 8; j++)
            a[i][j] = j < 4 ? (double)m[4 * i + j] : (double)(j - 4 == i);
    for (int c = 0; c < 4; c++) {
        int pivot = c;
        for (int i = c + 1; i < 4; i++) {
            double x = a[i][c], y = a[pivot][c];
            pivot = (x < 0 ? -x : x) > (y < 0 ? -y : y) ? i : pivot;
        }
        if (!(a[pivot][c] > 0 || a[pivot][c] < 0))
            return 0;
        for (int j = 0; j < 8 && pivot != c; j++) {
            double t = a[c][j];
            a[c][j] = a[pivot][j];
            a[pivot][j] = t;
        }
        det = pivot != c ? -det : det;
        double p = a[c][c];
        det = det * p;
        for (int j = 0; j < 8; j++)
            a[c][j] = a[c][j] / p;
        for (int i = 0; i < 4; i++) {
            double f = a[i][c];
            for (int j = 0; i != c && j < 8; j++)
                a[i][j] = a[i][j] - f * a[c][j];
        }
    }
    for (int i = 0; i < 16; i++)
        inv[i] = a[i >> 2][4 + (i & 3)];
    return det;
}
K_FN af a_determinant(const af *m)
{
    double inv[16];
    return (af)a_eliminate(m, inv);
}
/* 1 in place of what does not exist; returns whether it does. */
K_FN int a_inverse(const af *m, af *out)
{
    double inv[16];
    int is = a_eliminate(m, inv) != 0;
    for (int i = 0; i < 16; i++)
        out[i] = is ? (af)inv[i] : i % 5 == 0 ? 1.0f : 0.0f;
    return is;
}
K_FN struct ad3 a_transform_normal(struct ad3 p, const af *m)
{
    af inv[16], t[16];
    if (!a_inverse(m, inv))
        return p;
    for (int i = 0; i < 16; i++)
        t[i] = inv[(i & 3) * 4 + (i >> 2)];
    return a_transform(0, p, t);
}
#endif

/* ---- metals --------------------------------------------------------------------------------- */

/* One channel of artistic_ior: index n and extinction k of reflectance r and edge tint g. */
K_FN void a_artistic_ior(af r, af g, af *n, af *k)
{
    r = a_sel(r < 0.0f, A_F(0.0f), a_sel(r > 0.99f, A_F(0.99f), r));
    g = a_sel(g < 0.0f, A_F(0.0f), a_sel(g > 1.0f, A_F(1.0f), g));
    af s = a_fsqrt(r);
    *n = g * ((1.0f - r) / (1.0f + r)) + (1.0f - g) * ((1.0f + s) / (1.0f - s));
    af k2 = (r * (*n + 1.0f) * (*n + 1.0f) - (*n - 1.0f) * (*n - 1.0f)) / (1.0f - r);
    *k = a_fsqrt(k2);
}

/* ---- light of the spectrum: in doubles, of one point, where no interpreter can be asked ----- */

#ifdef A_HAS_DOUBLES
K_CONST float a_cie[81][3] = {
#include "asl/cie.def"
};
/* XYZ times scale as rgb, 0 where it would be negative. */
K_FN void a_positive_rgb(const double xyz[3], double scale, float out[3])
{
    const float from[9] = {3.24297897f,   -1.53833618f,  -0.498919841f, -0.968997953f, 1.87549198f,
                           0.0415445241f, 0.0556683244f, -0.204117189f, 1.05769816f};
    for (int c = 0; c < 3; c++) {
        double v = 0;
        for (int k = 0; k < 3; k++)
            v = v + (double)from[3 * c + k] * xyz[k];
        v = v * scale;
        out[c] = v > 0 ? (float)v : 0.0f;
    }
}
/* e^x - 1 for 0 <= x < 700: x = n ln 2 + r, and of r the series, whose next term is below 2^-57. */
K_FN double a_expm1_doubles(double x)
{
    const double inverses[13] = {1.0,
                                 1.0 / 2,
                                 1.0 / 6,
                                 1.0 / 24,
                                 1.0 / 120,
                                 1.0 / 720,
                                 1.0 / 5040,
                                 1.0 / 40320,
                                 1.0 / 362880,
                                 1.0 / 3628800,
                                 1.0 / 39916800,
                                 1.0 / 479001600,
                                 1.0 / 6227020800.0};
    const int n = (int)(x * 1.44269504088896341 + 0.5);
    /* ln 2 in two parts, the first of which has room for n */
    const double r = (x - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;
    double p = 0, two = (double)K_AS_FLOAT((uint)(127 + (n >> 3)) << 23);
    for (int k = 12; k >= 0; k--)
        p = (p + inverses[k]) * r;
    two = two * two;
    two = two * two;
    two = two * two * (double)(1 << (n & 7));
    return two * p + (two - 1);
}
/* Planck's law over the table, as the reference sums it. */
A_CALL void a_blackbody(float kelvin, float out[3])
{
    double xyz[3] = {0, 0, 0};
    for (int i = 0; i < 81 && kelvin > 0.0f; i++) {
        const double l = (380.0 + 5.0 * i) * 1e-9, x = 1.438776877e-2 / (l * (double)kelvin);
        if (!(x < 700))
            continue;
        const double m = 3.741771852e-16 / (l * l * l * l * l * a_expm1_doubles(x));
        for (int c = 0; c < 3; c++)
            xyz[c] = xyz[c] + m * (double)a_cie[i][c] * 5e-9;
    }
    a_positive_rgb(xyz, 1, out);
}
/* The matching functions at a wavelength in nm, linearly between the table's rows. */
A_CALL void a_wavelength(float nm, float out[3])
{
    double xyz[3] = {0, 0, 0}, at = ((double)nm - 380.0) / 5.0;
    if (at >= 0 && at <= 80) {
        int i = (int)at;
        i = i > 79 ? 79 : i;
        for (int c = 0; c < 3; c++)
            xyz[c] =
                (double)a_cie[i][c] + (at - i) * ((double)a_cie[i + 1][c] - (double)a_cie[i][c]);
    }
    a_positive_rgb(xyz, 1 / 2.52, out);
}
#endif
