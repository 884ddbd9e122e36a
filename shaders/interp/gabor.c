/* SPDX-License-Identifier: Apache-2.0 */
/* gabor.c: Gabor noise (Lagae, Lefebvre, Drettakis, Dutre: "Procedural noise using sparse Gabor
 * convolution", 2009; Lagae, Drettakis: "Filtering solid Gabor noise", 2011), as
 * docs/reference/asl.md (Noise) fixes it. The impulses are those of OSL. The filter is the paper's
 * (equations 6 and 10) worked out for the plane of the two steps, where no matrix is left. */
#include "interp.h"

#include <math.h>

struct gabor_state {
    const struct asl_gabor *options;
    const float *period; /* of three axes, or NULL */
    float radius, beta;  /* beta: pi a a, the falling off of an impulse */
    float none;          /* the share of cells without an impulse */
    float x[2][3];       /* the changes of the place over one step in x and y */
    float floor[3], rest[3];
    bool filter;
    float n[3];            /* across both steps, of length 1; 0 without a filter */
    float e, T, det, r, c; /* of the filter, named as in the specification */
    float XX, XY, YY;      /* products of the steps */
};

static float dot(const float *a, const float *b)
{
    return (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2];
}

/* exp(x) for x <= 0; 0 for what is not a number. */
static float fall(float x)
{
    if (!(x > -87))
        return 0;
    x = x > 0 ? 0 : x;
    float n = floorf(x * 1.44269502f + 0.5f);
    float r = (x - n * 0.693145752f) - n * 1.42860677e-06f;
    float p =
        (((0.00139425974f * r + 0.00836939272f) * r + 0.0416663811f) * r + 0.166665152f) * r + 0.5f;
    return ldexpf(1 + (r + (r * r) * p), (int)n);
}

/* cos(2 pi t): the sine of what is left to a quarter of a turn. */
static float wave(float t)
{
    float c = 0.25f - fabsf(t - floorf(t + 0.5f)), z = c * c;
    float p =
        (((38.9940796f * z + -76.478569f) * z + 81.5979767f) * z + -41.34161f) * z + 6.28318501f;
    return c * p;
}

static float draw(uint32_t *s)
{
    *s = *s * 3039177861u;
    return (float)*s * (1.0f / 4294967296.0f);
}

static unsigned poisson(uint32_t *s, float none)
{
    float t = draw(s);
    unsigned n = 0;
    while (t > none) {
        n++;
        t = t * draw(s);
    }
    return n;
}

static void frequency(const struct asl_gabor *o, uint32_t *s, float w[3])
{
    if (o->anisotropic == 1) {
        for (size_t i = 0; i < 3; i++)
            w[i] = o->direction[i];
        return;
    }
    float b = draw(s), cosine = wave(b), sine = wave(b - 0.25f), length, z = 0;
    if (o->anisotropic == 0) {
        z = 2 * draw(s) - 1;
        length = sqrtf(1 - z * z);
    } else {
        length = sqrtf(dot(o->direction, o->direction));
    }
    w[0] = length * cosine;
    w[1] = length * sine;
    w[2] = z;
}

/* What an impulse of frequency w and phase p (in turns) at the place k from it adds. */
static dual impulse(const struct gabor_state *g, const float k[3], const float w[3], float p)
{
    const float *X = g->x[0], *Y = g->x[1];
    float kk = dot(k, k), wk = dot(w, k);
    float wX = dot(w, X), wY = dot(w, Y), kX = dot(k, X), kY = dot(k, Y);
    float h = g->beta * kk, t = wk + p, uX = wX, uY = wY;
    if (g->filter) {
        float kn = dot(k, g->n), wn = dot(w, g->n), q = 0.25f * g->e;
        h = g->beta * (kn * kn + g->c * (kk - kn * kn)) +
            (19.7392082f * g->r) *
                (0.25f * (wX * wX + wY * wY) + (g->e * g->det) * (dot(w, w) - wn * wn));
        t = (g->r * ((1 + g->e * g->T) * (wk - wn * kn) - q * (wX * kX + wY * kY)) + wn * kn) + p;
        uX = g->r * ((1 + q * g->YY) * wX - (q * g->XY) * wY);
        uY = g->r * ((1 + q * g->XX) * wY - (q * g->XY) * wX);
    }
    float E = g->c * fall(-h), cosine = wave(t), sine = wave(t - 0.25f);
    float narrow = (2 * g->beta) * g->c;
    return (dual){E * cosine, -(E * ((narrow * kX) * cosine + (6.28318548f * uX) * sine)),
                  -(E * ((narrow * kY) * cosine + (6.28318548f * uY) * sine))};
}

static uint32_t cell_word(const struct gabor_state *g, size_t axis, int offset)
{
    int64_t i = (int64_t)asl_float_to_int(g->floor[axis]) + offset;
    uint32_t word = (uint32_t)i;
    if (g->period) {
        int32_t whole = asl_float_to_int(floorf(g->period[axis])), m;
        int32_t at = (int32_t)word;
        whole = whole < 1 ? 1 : whole;
        m = at % whole;
        word = (uint32_t)(m < 0 ? m + whole : m);
    }
    return word;
}

static void add_cell(const struct gabor_state *g, const int offset[3], unsigned channel, dual *sum)
{
    uint32_t words[4] = {cell_word(g, 0, offset[0]), cell_word(g, 1, offset[1]),
                         cell_word(g, 2, offset[2]), channel};
    uint32_t s = asl_hash_words(words, 4);
    s = s ? s : 1;
    for (unsigned n = poisson(&s, g->none); n > 0; n--) {
        float k[3], w[3];
        for (size_t i = 3; i-- > 0;)
            k[i] = g->radius * ((g->rest[i] - (float)offset[i]) - draw(&s));
        frequency(g->options, &s, w);
        float phase = draw(&s);
        if (dot(k, k) < g->radius * g->radius)
            *sum = d_add(*sum, impulse(g, k, w, phase));
    }
}

static void set_filter(struct gabor_state *g)
{
    const float *X = g->x[0], *Y = g->x[1];
    const float N[3] = {X[1] * Y[2] - X[2] * Y[1], X[2] * Y[0] - X[0] * Y[2],
                        X[0] * Y[1] - X[1] * Y[0]};
    float nn = dot(N, N);
    g->XX = dot(X, X);
    g->XY = dot(X, Y);
    g->YY = dot(Y, Y);
    g->T = 0.25f * (g->XX + g->YY);
    g->filter = g->options->filter && nn >= 1e-6f && g->T <= 1e15f;
    g->r = g->c = 1;
    if (!g->filter)
        return;
    g->e = 2 * g->beta;
    g->det = 0.0625f * nn;
    float D = (1 + g->e * g->T) + (g->e * g->e) * g->det;
    g->r = 1 / D;
    g->c = 1 / sqrtf(D);
    for (size_t i = 0; i < 3; i++)
        g->n[i] = N[i] / sqrtf(nn);
}

void asl_gabor_eval(const struct asl_gabor *o, const dual x[3], const float *period,
                    unsigned channels, dual *out)
{
    struct gabor_state g = {.options = o, .period = period};
    float b = fall(-0.693147182f * o->bandwidth), a = 4.25786829f * ((1 - b) / (1 + b));
    g.radius = 1.11590123f / a;
    g.beta = (3.14159274f * a) * a;
    g.none = fall(-(o->impulses / 4.18877983f));
    float scale = sqrtf(0.91461283f / o->impulses);
    for (size_t i = 0; i < 3; i++) {
        float y = x[i].v / g.radius;
        g.floor[i] = floorf(y);
        g.rest[i] = y - g.floor[i];
        g.x[0][i] = x[i].dx;
        g.x[1][i] = x[i].dy;
    }
    set_filter(&g);
    for (unsigned c = 0; c < channels; c++) {
        dual sum = d_const(0);
        for (int z = -1; z <= 1; z++)
            for (int y = -1; y <= 1; y++)
                for (int i = -1; i <= 1; i++) {
                    const int offset[3] = {i, y, z};
                    add_cell(&g, offset, c, &sum);
                }
        out[c] = (dual){sum.v * scale, sum.dx * scale, sum.dy * scale};
    }
}
