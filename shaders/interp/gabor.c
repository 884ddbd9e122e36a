/* gabor.c: Gabor noise (Lagae, Lefebvre, Drettakis, Dutre: "Procedural noise using sparse Gabor
 * convolution", 2009; Lagae, Drettakis: "Filtering solid Gabor noise", 2011), as docs/asl.md
 * (Noise) fixes it: the number of impulses in a cell, their places, frequencies and phases come
 * from the hash of the cell. */
#include "interp.h"

#include <math.h>

static const float pi = 3.14159265358979323846f;

struct gabor_state {
    const struct asl_gabor *options;
    float a, radius, mean;
    dual y[3];        /* the place, in cells */
    float step[2][3]; /* its changes over one step, before the division by the radius */
};

static float draw(uint32_t *s)
{
    *s = *s * 1664525u + 1013904223u;
    return (float)(*s >> 8) * (1.0f / 16777216.0f);
}

static float f_exp(float x) { return (float)exp((double)x); }

static unsigned poisson(uint32_t *s, float mean)
{
    float g = f_exp(-mean), t = draw(s);
    unsigned n = 0;
    while (t > g && n < 100) {
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
    float b = 2 * pi * draw(s), cb = (float)cos((double)b), sb = (float)sin((double)b);
    if (o->anisotropic == 2) {
        const float *d = o->direction;
        float l = sqrtf(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        w[0] = l * cb;
        w[1] = l * sb;
        w[2] = 0;
        return;
    }
    float z = 2 * draw(s) - 1, r = sqrtf(1 - z * z);
    w[0] = r * cb;
    w[1] = r * sb;
    w[2] = z;
}

static float fading(const struct gabor_state *g, const float w[3])
{
    float sum = 0;
    if (!g->options->filter)
        return 1;
    for (size_t i = 0; i < 2; i++) {
        const float *s = g->step[i];
        float d = w[0] * s[0] + w[1] * s[1] + w[2] * s[2];
        sum = sum + d * d;
    }
    return f_exp(-(pi * pi / 2) * sum);
}

static dual impulse(const struct gabor_state *g, const dual k[3], const float w[3], float phase)
{
    dual q = d_add(d_add(d_mul(k[0], k[0]), d_mul(k[1], k[1])), d_mul(k[2], k[2]));
    if (!(q.v <= g->radius * g->radius))
        return d_const(0);
    dual e = d_mul(d_const(-(pi * g->a * g->a)), q);
    float ev = f_exp(e.v);
    e = (dual){ev, ev * e.dx, ev * e.dy};
    dual t = d_add(d_add(d_mul(d_const(w[0]), k[0]), d_mul(d_const(w[1]), k[1])),
                   d_mul(d_const(w[2]), k[2]));
    t = d_add(d_mul(d_const(2 * pi), t), d_const(phase));
    float s = (float)sin((double)t.v);
    t = (dual){(float)cos((double)t.v), -s * t.dx, -s * t.dy};
    return d_mul(d_mul(e, t), d_const(fading(g, w)));
}

static dual cell(const struct gabor_state *g, const float corner[3], const int offset[3],
                 unsigned channel)
{
    uint32_t words[4];
    for (size_t i = 0; i < 3; i++)
        words[i] = (uint32_t)asl_float_to_int(corner[i]) + (uint32_t)offset[i];
    words[3] = channel;
    uint32_t s = asl_hash_words(words, 4);
    dual sum = d_const(0);
    for (unsigned n = poisson(&s, g->mean); n > 0; n--) {
        dual k[3];
        float w[3];
        for (size_t i = 0; i < 3; i++) {
            float q = draw(&s);
            k[i] = d_mul(d_const(g->radius),
                         d_sub(d_sub(d_sub(g->y[i], d_const(corner[i])), d_const((float)offset[i])),
                               d_const(q)));
        }
        frequency(g->options, &s, w);
        float phase = 2 * pi * draw(&s);
        sum = d_add(sum, impulse(g, k, w, phase));
    }
    return sum;
}

void asl_gabor_eval(const struct asl_gabor *o, const dual x[3], unsigned channels, dual *out)
{
    struct gabor_state g = {.options = o};
    float B = (float)exp2((double)o->bandwidth), corner[3];
    g.a = 2 * ((B - 1) / (B + 1)) * sqrtf(pi / 0.69314718055994530942f);
    g.radius = sqrtf(-(float)log(0.02) / pi) / g.a;
    g.mean = o->impulses / (1.33333f * pi);
    float density = o->impulses / (1.33333f * pi * g.radius * g.radius * g.radius);
    float variance = 1 / (4 * sqrtf(2) * g.a * g.a * g.a);
    float scale = 0.5f / (3 * sqrtf(variance) * sqrtf(density));
    for (size_t i = 0; i < 3; i++) {
        g.y[i] = d_div(x[i], d_const(g.radius));
        corner[i] = floorf(g.y[i].v);
        g.step[0][i] = x[i].dx;
        g.step[1][i] = x[i].dy;
    }
    for (unsigned c = 0; c < channels; c++) {
        dual sum = d_const(0);
        for (int z = -1; z <= 1; z++)
            for (int y = -1; y <= 1; y++)
                for (int i = -1; i <= 1; i++) {
                    const int offset[3] = {i, y, z};
                    sum = d_add(sum, cell(&g, corner, offset, c));
                }
        out[c] = d_mul(sum, d_const(scale));
    }
}
