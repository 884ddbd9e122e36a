/* SPDX-License-Identifier: Apache-2.0 */
/* hand.c: shaders of this library as somebody would write them in C by hand, a point at a call through a pointer, as
 * renderers called shaders before they were compiled from a language (tools/experiments, c-shaders).
 *
 *   hand NAME WIDTH HEIGHT ITERATIONS    runs it over isophote shade's grid; prints seconds, then the sum of its output
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct point {
    float u, v, P[3];
};
typedef void shader(const struct point *at, float out[3]);

static float clamp(float x, float low, float high) { return x < low ? low : x > high ? high : x; }

/* shaders/bench/arith.asl */
static void arith(const struct point *at, float out[3])
{
    static const float tint[3] = {0.9f, 0.7f, 0.4f};
    const float gain = 1.5f;
    const float a = at->u * gain + at->v, b = a * a - 0.5f * at->v, c = (a + b) * (1 - at->u);
    const float add[3] = {a, b, c};
    for (int k = 0; k < 3; k++) {
        const float w = tint[k] * c + add[k];
        out[k] = clamp(w * w * (3 - 2 * w), 0, 1);
    }
}

/* shaders/bench/mandel.asl */
static void mandel(const struct point *at, float out[3])
{
    const int turns = 64;
    const float cx = at->u * 3 - 2.2f, cy = at->v * 2.6f - 1.3f;
    float x = 0, y = 0;
    int n = 0;
    while (n < turns && x * x + y * y < 4) {
        const float next = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = next;
        n++;
    }
    const float t = (float)n / (float)turns;
    out[0] = t;
    out[1] = t * t;
    out[2] = sqrtf(t);
}

static float dot(const float a[3], const float b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void normalize(float v[3])
{
    const float length = sqrtf(dot(v, v));
    for (int k = 0; k < 3; k++)
        v[k] = length > 0 ? v[k] / length : 0;
}
static float fraction(float x) { return x - floorf(x); }

/* shaders/bench/spherelight.asl */
static void spherelight(const struct point *at, float out[3])
{
    static const float center[3] = {0.5f, 0.5f, 4}, color[3] = {1, 0.9f, 0.7f};
    const float radius = 1, min_dist = 1, max_dist = 8, focus = 2;
    const int samples = 16;
    float to[3], sum[3] = {0, 0, 0};
    out[0] = out[1] = out[2] = 0;
    for (int k = 0; k < 3; k++)
        to[k] = center[k] - at->P[k];
    const float d2 = dot(to, to), r2 = radius * radius;
    if (d2 - r2 < 1e-4f)
        return;
    float falloff = 1;
    if (max_dist > min_dist && min_dist >= radius) {
        const float t = clamp((sqrtf(d2) - min_dist) / (max_dist - min_dist), 0, 1);
        falloff -= t * t * (3 - 2 * t);
    }
    const float cos_max = sqrtf(fmaxf(0, 1 - r2 / d2)), pdf = 1 / (6.2831853f * (1 - cos_max));
    for (int s = 0; s < samples; s++) {
        const float aside[3] = {fraction((float)s * 0.7548777f + 3 * at->u) - 0.5f,
                                fraction((float)s * 0.5698403f + 5 * at->v) - 0.5f, 0};
        float w[3], back[3];
        for (int k = 0; k < 3; k++)
            w[k] = to[k] + 2.4f * radius * aside[k];
        normalize(w);
        const float b = dot(w, to), disc = b * b - (d2 - r2);
        if (disc < 0 || b < 0)
            continue;
        for (int k = 0; k < 3; k++)
            back[k] = center[k] - (at->P[k] + w[k] * (b - sqrtf(disc)));
        float gain = falloff / pdf;
        if (focus > 0) {
            normalize(back);
            gain *= powf(clamp(dot(back, w), 0, 1), focus) * (1 + (1.5707963f - 1) * focus);
        }
        for (int k = 0; k < 3; k++)
            sum[k] += color[k] * gain;
    }
    for (int k = 0; k < 3; k++)
        out[k] = sum[k] / (float)samples;
}

static const struct {
    const char *name;
    shader *run;
} shaders[] = {{"arith", arith}, {"mandel", mandel}, {"spherelight", spherelight}};

static double seconds(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* From 1 to a million; else 0. */
static int number(const char *text)
{
    char *end;
    const long n = strtol(text, &end, 10);
    return *text && *end == '\0' && n >= 1 && n <= 1000000 ? (int)n : 0;
}

int main(int argc, char **argv)
{
    shader *volatile run = NULL; /* which one is not known when this is compiled */
    for (size_t i = 0; argc == 5 && i < sizeof shaders / sizeof *shaders; i++)
        if (strcmp(argv[1], shaders[i].name) == 0)
            run = shaders[i].run;
    if (!run)
        return (void)fprintf(stderr, "hand NAME WIDTH HEIGHT ITERATIONS\n"), 2;
    const int width = number(argv[2]), height = number(argv[3]), turns = number(argv[4]);
    const size_t count = (size_t)width * (size_t)height;
    struct point *at = calloc(count + 1, sizeof *at);
    float *out = calloc(3 * count + 1, sizeof *out);
    if (!at || !out || count == 0) {
        (void)fprintf(stderr, "hand: no memory, or no points\n");
        free(at);
        free(out);
        return 2;
    }
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            struct point *p = &at[(size_t)y * (size_t)width + (size_t)x];
            p->u = p->P[0] = width > 1 ? (float)x / (float)(width - 1) : 0.5f;
            p->v = p->P[1] = height > 1 ? (float)y / (float)(height - 1) : 0.5f;
            p->P[2] = 1;
        }
    const double begin = seconds();
    for (int t = 0; t < turns; t++)
        for (size_t i = 0; i < count; i++)
            run(&at[i], out + 3 * i);
    const double spent = seconds() - begin;
    double sum = 0;
    for (size_t i = 0; i < 3 * count; i++)
        sum += (double)out[i];
    (void)printf("%.9g %.9g\n", spent, sum);
    free(at);
    free(out);
    return 0;
}
