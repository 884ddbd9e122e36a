/* SPDX-License-Identifier: Apache-2.0 */
/* FLIP, LDR and HDR. The names follow the papers' sections: colour pipeline (4.1), feature pipeline
 * (4.2), the two together (4.3). */
#include "metrics.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

struct color {
    double c[3];
};

/* A picture as three planes. */
struct planes {
    size_t width, height;
    double *p[3];
};

/* ---- colour spaces (CIE; illuminant D65 as the sRGB matrix has it) ------------------- */

static const double RGB_TO_XYZ[3][3] = {
    {10135552.0 / 24577794, 8788810.0 / 24577794, 4435075.0 / 24577794},
    {2613072.0 / 12288897, 8788810.0 / 12288897, 887015.0 / 12288897},
    {1425312.0 / 73733382, 8788810.0 / 73733382, 70074185.0 / 73733382}};

static double white(int i) { return RGB_TO_XYZ[i][0] + RGB_TO_XYZ[i][1] + RGB_TO_XYZ[i][2]; }

/* XYZ over the white point. */
static struct color xyz_of(struct color rgb)
{
    struct color out;
    for (int i = 0; i < 3; i++)
        out.c[i] = (RGB_TO_XYZ[i][0] * rgb.c[0] + RGB_TO_XYZ[i][1] * rgb.c[1] +
                    RGB_TO_XYZ[i][2] * rgb.c[2]) /
                   white(i);
    return out;
}

/* Back again, by Cramer's rule. */
static struct color rgb_of(struct color xyz)
{
    const double(*m)[3] = RGB_TO_XYZ;
    double v[3];
    for (int i = 0; i < 3; i++)
        v[i] = xyz.c[i] * white(i);
    double cofactor[3][3], det = 0;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            int a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
            cofactor[i][j] = m[a][c] * m[b][d] - m[a][d] * m[b][c];
        }
    }
    for (int j = 0; j < 3; j++)
        det += m[0][j] * cofactor[0][j];
    struct color out;
    for (int j = 0; j < 3; j++)
        out.c[j] = (cofactor[0][j] * v[0] + cofactor[1][j] * v[1] + cofactor[2][j] * v[2]) / det;
    return out;
}

/* The linear opponent space YyCxCz. */
static struct color opponent_of(struct color rgb)
{
    struct color v = xyz_of(rgb);
    return (struct color){{116 * v.c[1] - 16, 500 * (v.c[0] - v.c[1]), 200 * (v.c[1] - v.c[2])}};
}

static struct color rgb_of_opponent(struct color o)
{
    double y = (o.c[0] + 16) / 116;
    return rgb_of((struct color){{o.c[1] / 500 + y, y, y - o.c[2] / 200}});
}

static double lab_curve(double t)
{
    const double delta = 6.0 / 29;
    return t > delta * delta * delta ? cbrt(t) : t / (3 * delta * delta) + 4.0 / 29;
}

/* L*a*b*, with the Hunt effect: chroma grows with lightness. */
static struct color hunt_lab_of(struct color rgb)
{
    struct color v = xyz_of(rgb);
    double x = lab_curve(v.c[0]), y = lab_curve(v.c[1]), z = lab_curve(v.c[2]);
    double L = 116 * y - 16;
    return (struct color){{L, 0.01 * L * 500 * (x - y), 0.01 * L * 200 * (y - z)}};
}

/* ---- filters ------------------------------------------------------------------------- */

enum { RADIUS_MAX = 512 };

struct kernel {
    int radius;
    double w[2 * RADIUS_MAX + 1];
};

static size_t at_border(ptrdiff_t i, size_t n) /* the edge is repeated */
{
    return i < 0 ? 0 : (size_t)i >= n ? n - 1 : (size_t)i;
}

/* out = in convolved along x, or along y. (Correlation: our odd kernels only enter by their
 * squares.) */
static void convolve(const struct planes *size, const double *in, const struct kernel *k,
                     bool along_y, double *out)
{
    size_t w = size->width, h = size->height;
    for (size_t y = 0; y < h; y++) {
        for (size_t x = 0; x < w; x++) {
            double sum = 0;
            for (int i = -k->radius; i <= k->radius; i++) {
                size_t from = along_y ? at_border((ptrdiff_t)y + i, h) * w + x
                                      : y * w + at_border((ptrdiff_t)x + i, w);
                sum += k->w[i + k->radius] * in[from];
            }
            out[y * w + x] = sum;
        }
    }
}

/* Contrast sensitivity, as sums of Gaussians a sqrt(pi/b) exp(-pi^2 d^2 / b), d in degrees (the
 * paper's table 1). */
struct gaussian {
    double a, b;
};
static const struct gaussian SENSITIVITY[3][2] = {{{1, 0.0047}, {0, 1e-5}},       /* achromatic */
                                                  {{1, 0.0053}, {0, 1e-5}},       /* red-green */
                                                  {{34.1, 0.04}, {13.5, 0.025}}}; /* blue-yellow */

static int sensitivity_radius(double ppd)
{
    return (int)ceil(3 * sqrt(0.04 / (2 * PI * PI)) * ppd);
}

/* plane = plane filtered; t: room for three planes. */
static void filter_sensitivity(const struct planes *size, double *plane, int channel, double ppd,
                               double *const t[3])
{
    size_t n = size->width * size->height;
    double total = 0;
    memset(t[2], 0, n * sizeof(double));
    for (int g = 0; g < 2; g++) {
        struct gaussian s = SENSITIVITY[channel][g];
        struct kernel k = {.radius = sensitivity_radius(ppd)};
        if (s.a == 0)
            continue;
        double line = 0, height = s.a * sqrt(PI / s.b);
        for (int i = -k.radius; i <= k.radius; i++) {
            double d = i / ppd;
            line += k.w[i + k.radius] = exp(-PI * PI * d * d / s.b);
        }
        total += height * line * line;
        convolve(size, plane, &k, false, t[0]);
        convolve(size, t[0], &k, true, t[1]);
        for (size_t i = 0; i < n; i++)
            t[2][i] += height * t[1][i];
    }
    for (size_t i = 0; i < n; i++)
        plane[i] = t[2][i] / total;
}

/* A Gaussian of the feature pipeline and its first or second derivative: positive weights sum to 1,
 * negative to -1. */
static void feature_kernel(double ppd, int derivative, struct kernel *k)
{
    double sigma = 0.5 * 0.082 * ppd, positive = 0, negative = 0;
    k->radius = (int)ceil(3 * sigma);
    for (int i = -k->radius; i <= k->radius; i++) {
        double g = exp(-i * i / (2 * sigma * sigma));
        if (derivative == 1)
            g *= -i;
        else if (derivative == 2)
            g *= i * i / (sigma * sigma) - 1;
        k->w[i + k->radius] = g;
        *(g > 0 ? &positive : &negative) += fabs(g);
    }
    for (int i = 0; i <= 2 * k->radius; i++)
        k->w[i] /= k->w[i] > 0 ? positive : negative > 0 ? negative : 1;
}

/* Length of the gradient (derivative 1: edges) or of the pair of second derivatives (2: points) of
 * a plane. */
static void filter_feature(const struct planes *size, const double *plane, double ppd,
                           int derivative, double *const t[3], double *out)
{
    struct kernel smooth = {0}, change = {0};
    feature_kernel(ppd, 0, &smooth);
    feature_kernel(ppd, derivative, &change);
    convolve(size, plane, &change, false, t[0]);
    convolve(size, t[0], &smooth, true, t[1]);
    convolve(size, plane, &smooth, false, t[0]);
    convolve(size, t[0], &change, true, t[2]);
    for (size_t i = 0; i < size->width * size->height; i++)
        out[i] = sqrt(t[1][i] * t[1][i] + t[2][i] * t[2][i]);
}

/* ---- the two pipelines --------------------------------------------------------------- */

static double hyab(struct color a, struct color b)
{
    return fabs(a.c[0] - b.c[0]) + hypot(a.c[1] - b.c[1], a.c[2] - b.c[2]);
}

/* The colour difference in [0, 1]: the power of HyAB, small values stretched over most of the
 * range. */
static double color_difference(struct color rgb_a, struct color rgb_b)
{
    const double qc = 0.7, pc = 0.4, pt = 0.95;
    const struct color green = {{0, 1, 0}}, blue = {{0, 0, 1}};
    double most = pow(hyab(hunt_lab_of(green), hunt_lab_of(blue)), qc);
    double e = pow(hyab(hunt_lab_of(rgb_a), hunt_lab_of(rgb_b)), qc);
    return e < pc * most ? pt / (pc * most) * e
                         : pt + (e - pc * most) / (most - pc * most) * (1 - pt);
}

static struct color color_at(const struct planes *p, size_t i)
{
    return (struct color){{p->p[0][i], p->p[1][i], p->p[2][i]}};
}

static struct color clamp_color(struct color c)
{
    for (int i = 0; i < 3; i++)
        c.c[i] = fmin(fmax(c.c[i], 0), 1);
    return c;
}

/* Everything a map needs room for. */
struct flip {
    double ppd;
    struct planes a, b; /* linear RGB in [0, 1], then YyCxCz */
    double *edge[2], *point[2];
    double *t[3];
    double *room;
};

enum { FLIP_PLANES = 3 + 3 + 2 + 2 + 3 };

static enum status flip_open(struct flip *f, uint32_t width, uint32_t height, double ppd,
                             struct error *err)
{
    *f = (struct flip){.ppd = ppd, .a = {.width = width, .height = height}};
    f->b = f->a;
    size_t n = (size_t)width * height;
    f->room = malloc(n * FLIP_PLANES * sizeof(double));
    if (!f->room)
        return error_msg(err, STATUS_MEMORY, "no memory for FLIP of %u x %u pixels", width, height);
    double **const planes[FLIP_PLANES] = {
        &f->a.p[0],  &f->a.p[1],   &f->a.p[2],   &f->b.p[0], &f->b.p[1], &f->b.p[2], &f->edge[0],
        &f->edge[1], &f->point[0], &f->point[1], &f->t[0],   &f->t[1],   &f->t[2]};
    for (size_t i = 0; i < FLIP_PLANES; i++)
        *planes[i] = f->room + i * n;
    return STATUS_OK;
}

/* From linear RGB to what both pipelines give of one picture: filtered YyCxCz, edges, points. */
static void flip_prepare(struct flip *f, struct planes *p, double *edge, double *point)
{
    size_t n = p->width * p->height;
    for (size_t i = 0; i < n; i++) {
        struct color o = opponent_of(color_at(p, i));
        for (int c = 0; c < 3; c++)
            p->p[c][i] = o.c[c];
    }
    /* The feature pipeline sees the achromatic channel in [0, 1]: (Yy + 16) / 116. Its kernels have
     * no constant part, so that only the factor matters; it is taken out of the results. */
    filter_feature(p, p->p[0], f->ppd, 1, f->t, edge);
    filter_feature(p, p->p[0], f->ppd, 2, f->t, point);
    for (int c = 0; c < 3; c++)
        filter_sensitivity(p, p->p[c], c, f->ppd, f->t);
}

/* The map of f->a against f->b, pixel by pixel the larger of it and what is there. Spoils a and b.
 */
static void flip_map(struct flip *f, double *map)
{
    flip_prepare(f, &f->a, f->edge[0], f->point[0]);
    flip_prepare(f, &f->b, f->edge[1], f->point[1]);
    for (size_t i = 0; i < f->a.width * f->a.height; i++) {
        struct color a = clamp_color(rgb_of_opponent(color_at(&f->a, i)));
        struct color b = clamp_color(rgb_of_opponent(color_at(&f->b, i)));
        double feature =
            fmax(fabs(f->edge[0][i] - f->edge[1][i]), fabs(f->point[0][i] - f->point[1][i])) / 116;
        double e = pow(color_difference(a, b), 1 - sqrt(feature / sqrt(2)));
        map[i] = fmax(map[i], e);
    }
}

static enum status flip_check(const struct metric_pair *p, double ppd, struct error *err)
{
    if (p->width == 0 || p->height == 0)
        return error_msg(err, STATUS_ARG, "an empty picture");
    if (!(ppd > 0) || sensitivity_radius(ppd) > RADIUS_MAX)
        return error_msg(err, STATUS_ARG,
                         "%g pixels a degree: FLIP takes more than 0 and up to 3500", ppd);
    for (size_t i = 0; i < (size_t)p->width * p->height * 3; i++) {
        if (!isfinite(p->image[i]) || !isfinite(p->reference[i]))
            return error_msg(err, STATUS_RANGE, "pixel (%zu, %zu) is not finite", i / 3 % p->width,
                             i / 3 / p->width);
    }
    return STATUS_OK;
}

/* Either map of a pair: over given exposures, with or without the tone map. */
static enum status flip_pair(const struct metric_pair *p, double ppd,
                             const struct metric_exposures *exposures, double (*tone)(double),
                             double *mean, double *map, struct error *err)
{
    struct flip f;
    size_t n = (size_t)p->width * p->height;
    assert(n > 0);
    enum status status = flip_open(&f, p->width, p->height, ppd, err);
    if (status != STATUS_OK)
        return status;
    double *worst = calloc(n, sizeof *worst);
    if (!worst) {
        free(f.room);
        return error_msg(err, STATUS_MEMORY, "no memory for a FLIP map");
    }
    for (uint32_t e = 0; e < exposures->count; e++) {
        double step = exposures->count > 1
                          ? (exposures->stop - exposures->start) / (exposures->count - 1)
                          : 0;
        double factor = exp2(exposures->start + e * step);
        for (size_t i = 0; i < n * 3; i++) {
            f.a.p[i % 3][i / 3] = fmin(tone(fmax(p->image[i], 0) * factor), 1);
            f.b.p[i % 3][i / 3] = fmin(tone(fmax(p->reference[i], 0) * factor), 1);
        }
        flip_map(&f, worst);
    }
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += worst[i];
    *mean = sum / (double)n;
    if (map)
        memcpy(map, worst, n * sizeof *worst);
    free(worst);
    free(f.room);
    return STATUS_OK;
}

static double tone_none(double x) { return x; }

enum status metric_flip_ldr(const struct metric_pair *p, double exposure, double pixels_per_degree,
                            double *mean, double *map, struct error *err)
{
    enum status status = flip_check(p, pixels_per_degree, err);
    if (status != STATUS_OK)
        return status;
    if (!(exposure > 0))
        return error_msg(err, STATUS_ARG, "exposure %g is not positive", exposure);
    const struct metric_exposures one = {log2(exposure), log2(exposure), 1};
    return flip_pair(p, pixels_per_degree, &one, tone_none, mean, map, err);
}

/* ---- HDR-FLIP ------------------------------------------------------------------------ */

/* Narkowicz' ACES fit (a x^2 + b x) / (c x^2 + d x + e), x pre-scaled by 0.6. */
static const double ACES_A = 0.36 * 2.51, ACES_B = 0.6 * 0.03, ACES_C = 0.36 * 2.43,
                    ACES_D = 0.6 * 0.59, ACES_E = 0.14;

static double tone_aces(double x)
{
    if (x > 1e150) /* its limit; x^2 would overflow */
        return ACES_A / ACES_C;
    return x * (ACES_A * x + ACES_B) / (x * (ACES_C * x + ACES_D) + ACES_E);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static enum status exposures_of(const struct metric_pair *p, struct metric_exposures *out,
                                struct error *err)
{
    size_t n = (size_t)p->width * p->height;
    assert(n > 0);
    double *Y = malloc(n * sizeof *Y);
    if (!Y)
        return error_msg(err, STATUS_MEMORY, "no memory for %zu luminances", n);
    for (size_t i = 0; i < n; i++) {
        const double *c = p->reference + 3 * i;
        Y[i] = fmax(0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2], 0);
    }
    qsort(Y, n, sizeof *Y, compare_doubles);
    double most = Y[n - 1], median = fmax(Y[n / 2], 0x1p-23);
    free(Y);
    *out = (struct metric_exposures){0, 0, 2};
    if (!(most > 0))
        return STATUS_OK;
    /* tone_aces(x) = t: (A - t C) x^2 + (B - t D) x - t E = 0 */
    const double t = 0.85;
    double a = ACES_A - t * ACES_C, b = ACES_B - t * ACES_D, c = -t * ACES_E;
    double x = (-b + sqrt(b * b - 4 * a * c)) / (2 * a);
    out->start = log2(x / most);
    out->stop = log2(x / median);
    out->count = (uint32_t)fmax(2, ceil(out->stop - out->start));
    return STATUS_OK;
}

enum status metric_flip_hdr(const struct metric_pair *p, double pixels_per_degree, double *mean,
                            double *map, struct metric_exposures *exposures, struct error *err)
{
    struct metric_exposures e = {0};
    enum status status = flip_check(p, pixels_per_degree, err);
    if (status == STATUS_OK)
        status = exposures_of(p, &e, err);
    if (status == STATUS_OK)
        status = flip_pair(p, pixels_per_degree, &e, tone_aces, mean, map, err);
    if (status == STATUS_OK && exposures)
        *exposures = e;
    return status;
}
