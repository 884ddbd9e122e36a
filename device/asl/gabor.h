/* SPDX-License-Identifier: Apache-2.0 */
/* gabor.h: Gabor noise of docs/reference/asl.md (Noise), a whole row of points at a time: lanes that have no
 * impulse left wait for the others. */

/* exp(x) for x <= 0; 0 for what is not a number. */
K_FN af a_gabor_fall(af x)
{
    am in = x > -87.0f;
    af y = a_min(a_sel(in, x, A_F(0.0f)), A_F(0.0f));
    af n = a_floor(y * 1.44269502f + 0.5f);
    af r = (y - n * 0.693145752f) - n * 1.42860677e-06f;
    af p =
        (((0.00139425974f * r + 0.00836939272f) * r + 0.0416663811f) * r + 0.166665152f) * r + 0.5f;
    return a_sel(in, (1.0f + (r + (r * r) * p)) * a_power_of_two(a_to_int(n)), A_F(0.0f));
}

/* cos(2 pi t) */
K_FN af a_gabor_wave(af t)
{
    af c = 0.25f - a_abs(t - a_floor(t + 0.5f)), z = c * c;
    af p = (((38.9940796f * z + -76.478569f) * z + 81.5979767f) * z + -41.34161f) * z + 6.28318501f;
    return c * p;
}

/* The next number of the generator, in lanes of m. */
K_INLINE af a_gabor_draw(au *s, am m)
{
    au next = *s * 3039177861u;
    *s = A_UINTS(a_seli(m, A_INTS(next), A_INTS(*s)));
    return a_uint_to_float(next) * 2.32830644e-10f;
}

K_INLINE af a_gabor_dot(const af *a, const af *b)
{
    return (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2];
}

struct a_gabor_state {
    af radius, beta, none;
    af anisotropic;
    af direction[3], length;
    ai cell[3], period[3];
    af rest[3];
    af X[3], Y[3], n[3];
    am filter;
    af e, T, det, r, c, XX, XY, YY;
    int periodic, derivs;
};

K_FN void a_gabor_filter(struct a_gabor_state *g, am wanted)
{
    af N[3], nn, D, root;
    N[0] = g->X[1] * g->Y[2] - g->X[2] * g->Y[1];
    N[1] = g->X[2] * g->Y[0] - g->X[0] * g->Y[2];
    N[2] = g->X[0] * g->Y[1] - g->X[1] * g->Y[0];
    nn = a_gabor_dot(N, N);
    g->XX = a_gabor_dot(g->X, g->X);
    g->XY = a_gabor_dot(g->X, g->Y);
    g->YY = a_gabor_dot(g->Y, g->Y);
    g->T = 0.25f * (g->XX + g->YY);
    g->filter = wanted & (nn >= 1e-6f) & (g->T <= 1e15f);
    g->e = 2.0f * g->beta;
    g->det = 0.0625f * nn;
    D = (1.0f + g->e * g->T) + (g->e * g->e) * g->det;
    D = a_sel(g->filter, D, A_F(1.0f));
    g->r = 1.0f / D;
    g->c = 1.0f / a_root(D);
    root = a_root(a_sel(g->filter, nn, A_F(1.0f)));
    for (int i = 0; i < 3; i++)
        g->n[i] = N[i] / root;
}

/* What an impulse of frequency w and phase p adds at the place k from it. */
K_FN struct ad a_gabor_impulse(const struct a_gabor_state *g, const af *k, af kk, const af *w, af p)
{
    af wk = a_gabor_dot(w, k), wX = a_gabor_dot(w, g->X), wY = a_gabor_dot(w, g->Y);
    af kX = a_gabor_dot(k, g->X), kY = a_gabor_dot(k, g->Y);
    af h = g->beta * kk, t = wk + p, uX = wX, uY = wY;
    struct ad v;
    if (a_any(g->filter)) {
        af kn = a_gabor_dot(k, g->n), wn = a_gabor_dot(w, g->n), q = 0.25f * g->e;
        af wide = g->beta * (kn * kn + g->c * (kk - kn * kn)) +
                  (19.7392082f * g->r) * (0.25f * (wX * wX + wY * wY) +
                                          (g->e * g->det) * (a_gabor_dot(w, w) - wn * wn));
        af turn =
            (g->r * ((1.0f + g->e * g->T) * (wk - wn * kn) - q * (wX * kX + wY * kY)) + wn * kn) +
            p;
        h = a_sel(g->filter, wide, h);
        t = a_sel(g->filter, turn, t);
        uX = a_sel(g->filter, g->r * ((1.0f + q * g->YY) * wX - (q * g->XY) * wY), wX);
        uY = a_sel(g->filter, g->r * ((1.0f + q * g->XX) * wY - (q * g->XY) * wX), wY);
    }
    af E = g->c * a_gabor_fall(-h), cosine = a_gabor_wave(t);
    v.v = E * cosine;
    v.dx = A_F(0.0f);
    v.dy = A_F(0.0f);
    if (g->derivs) {
        af sine = a_gabor_wave(t - 0.25f), narrow = (2.0f * g->beta) * g->c;
        v.dx = -(E * ((narrow * kX) * cosine + (6.28318548f * uX) * sine));
        v.dy = -(E * ((narrow * kY) * cosine + (6.28318548f * uY) * sine));
    }
    return v;
}

K_INLINE ai a_gabor_word(const struct a_gabor_state *g, int axis, int offset)
{
    ai i = a_iadd(g->cell[axis], A_I(offset));
    return g->periodic ? a_wrap(i, g->period[axis]) : i;
}

K_FN void a_gabor_cell(const struct a_gabor_state *g, const int *offset, int channel,
                       struct ad *sum)
{
    au s = a_hash4(a_gabor_word(g, 0, offset[0]), a_gabor_word(g, 1, offset[1]),
                   a_gabor_word(g, 2, offset[2]), A_I(channel));
    s = A_UINTS(a_seli(s == 0u, A_I(1), A_INTS(s)));
    af t = a_gabor_draw(&s, A_ALL);
    ai count = A_I(0);
    for (am more = t > g->none; a_any(more); more = more & (t > g->none)) {
        count = count + a_int(more);
        t = a_sel(more, t * a_gabor_draw(&s, more), t);
    }
    for (int j = 0; a_any(count > j); j++) {
        af k[3], w[3];
        for (int i = 2; i >= 0; i--)
            k[i] = g->radius * ((g->rest[i] - (float)offset[i]) - a_gabor_draw(&s, A_ALL));
        am turned = g->anisotropic != 1.0f, all = g->anisotropic == 0.0f;
        af b = a_gabor_draw(&s, turned), z = 2.0f * a_gabor_draw(&s, all) - 1.0f;
        af phase = a_gabor_draw(&s, A_ALL), kk = a_gabor_dot(k, k);
        am in = (count > j) & (kk < g->radius * g->radius);
        if (!a_any(in))
            continue;
        af length = a_sel(all, a_root(1.0f - z * z), g->length);
        w[0] = a_sel(turned, length * a_gabor_wave(b), g->direction[0]);
        w[1] = a_sel(turned, length * a_gabor_wave(b - 0.25f), g->direction[1]);
        w[2] = a_sel(turned, a_sel(all, z, A_F(0.0f)), g->direction[2]);
        struct ad v = a_gabor_impulse(g, k, kk, w, phase);
        *sum = a_dsel(in, a_dadd(*sum, v), *sum);
    }
}

/* Is a cell farther away than an impulse reaches? With room for rounding. */
K_INLINE int a_gabor_is_far(const struct a_gabor_state *g, const int *offset)
{
    af far = A_F(0.0f);
    for (int i = 0; i < 3; i++) {
        af d = offset[i] < 0 ? g->rest[i] : offset[i] > 0 ? 1.0f - g->rest[i] : A_F(0.0f);
        far = far + d * d;
    }
    return !a_any(a_not(far > 1.001f));
}

/* x: three coordinates; period: of three axes; options: anisotropic, direction, bandwidth,
 * impulses, do_filter. */
A_CALL void a_gabor(const struct ad *x, int periodic, const af *period, const af *options,
                    int channels, int derivs, struct ad *out)
{
    struct a_gabor_state g;
    af bandwidth = a_sel(options[4] > 0.01f, a_min(options[4], A_F(100.0f)), A_F(0.01f));
    af impulses = a_sel(options[5] > 1.0f, a_min(options[5], A_F(32.0f)), A_F(1.0f));
    af b = a_gabor_fall(-0.693147182f * bandwidth);
    af a = 4.25786829f * ((1.0f - b) / (1.0f + b)), scale = a_root(0.91461283f / impulses);
    g.radius = 1.11590123f / a;
    g.beta = (3.14159274f * a) * a;
    g.none = a_gabor_fall(-(impulses / 4.18877983f));
    g.anisotropic = options[0];
    g.periodic = periodic;
    g.derivs = derivs;
    for (int i = 0; i < 3; i++) {
        af y = x[i].v / g.radius, floor = a_floor(y);
        g.cell[i] = a_f2i(floor);
        g.rest[i] = y - floor;
        g.period[i] = a_whole_period(period[i]);
        g.direction[i] = options[1 + i];
        g.X[i] = x[i].dx;
        g.Y[i] = x[i].dy;
    }
    g.length = a_root(a_gabor_dot(g.direction, g.direction));
    a_gabor_filter(&g, options[6] != 0.0f);
    for (int c = 0; c < channels; c++) {
        struct ad sum = a_still(A_F(0.0f));
        for (int at = 0; at < 27; at++) {
            const int offset[3] = {at % 3 - 1, at / 3 % 3 - 1, at / 9 - 1};
            if (!a_gabor_is_far(&g, offset))
                a_gabor_cell(&g, offset, c, &sum);
        }
        out[c] = a_dual(sum.v * scale, sum.dx * scale, sum.dy * scale);
    }
}
