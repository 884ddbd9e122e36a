/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics.h"

#include "statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t values(const struct metric_pair *p) { return (size_t)p->width * p->height * 3; }

static enum status check_picture(uint32_t width, uint32_t height, const double *v,
                                 struct error *err)
{
    if (width == 0 || height == 0)
        return error_msg(err, STATUS_ARG, "an empty picture");
    for (size_t i = 0; i < (size_t)width * height * 3; i++) {
        if (!isfinite(v[i]))
            return error_msg(err, STATUS_RANGE, "pixel (%zu, %zu) is not finite", i / 3 % width,
                             i / 3 / width);
    }
    return STATUS_OK;
}

static enum status check_pair(const struct metric_pair *p, struct error *err)
{
    enum status status = check_picture(p->width, p->height, p->image, err);
    return status == STATUS_OK ? check_picture(p->width, p->height, p->reference, err) : status;
}

static enum status check_exposure(const struct metric_pair *p, double exposure, struct error *err)
{
    if (!(exposure > 0))
        return error_msg(err, STATUS_ARG, "exposure %g is not positive", exposure);
    return check_pair(p, err);
}

void metric_from_film(const struct film *f, double *rgb)
{
    for (size_t i = 0; i < (size_t)f->width * f->height; i++) {
        double count = (double)(uint32_t)(uint64_t)f->sums[4 * i + 3];
        for (size_t c = 0; c < 3; c++)
            rgb[3 * i + c] =
                count > 0 ? ldexp((double)f->sums[4 * i + c] / count, -f->exponent) : 0;
    }
}

enum status metric_mse(const struct metric_pair *p, double *out, struct error *err)
{
    enum status status = check_pair(p, err);
    if (status != STATUS_OK)
        return status;
    double sum = 0;
    for (size_t i = 0; i < values(p); i++) {
        double d = p->image[i] - p->reference[i];
        sum += d * d;
    }
    *out = sum / (double)values(p);
    return STATUS_OK;
}

enum status metric_relmse(const struct metric_pair *p, double epsilon, double *out,
                          struct error *err)
{
    if (!(epsilon > 0))
        return error_msg(err, STATUS_ARG, "epsilon %g is not positive", epsilon);
    enum status status = check_pair(p, err);
    if (status != STATUS_OK)
        return status;
    double sum = 0;
    for (size_t i = 0; i < values(p); i++) {
        double r = p->reference[i], d = p->image[i] - r;
        sum += d * d / (r * r + epsilon);
    }
    *out = sum / (double)values(p);
    return STATUS_OK;
}

double metric_display(double linear, double exposure)
{
    double v = fmin(fmax(linear * exposure, 0), 1);
    return v <= 0.0031308 ? 12.92 * v : 1.055 * pow(v, 1 / 2.4) - 0.055;
}

enum status metric_psnr(const struct metric_pair *p, double exposure, double *out,
                        struct error *err)
{
    enum status status = check_exposure(p, exposure, err);
    if (status != STATUS_OK)
        return status;
    double sum = 0;
    for (size_t i = 0; i < values(p); i++) {
        double d =
            metric_display(p->image[i], exposure) - metric_display(p->reference[i], exposure);
        sum += d * d;
    }
    *out = -10 * log10(sum / (double)values(p));
    return STATUS_OK;
}

/* ---- SSIM ----------------------------------------------------------------------------------- */

enum { WINDOW = 11 };

static double luma(const double *rgb, double exposure)
{
    return metric_display(0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2], exposure);
}

static void gaussian_window(double g[WINDOW])
{
    double sum = 0;
    for (int i = 0; i < WINDOW; i++) {
        double d = i - 5.0; /* from the middle */
        sum += g[i] = exp(-d * d / (2 * 1.5 * 1.5));
    }
    for (int i = 0; i < WINDOW; i++)
        g[i] /= sum;
}

/* The window whose top left corner is at (x, y). a, b: display luminances, rows of `width`. */
static double window_ssim(const double *a, const double *b, size_t width, size_t x, size_t y,
                          const double g[WINDOW])
{
    double ma = 0, mb = 0, aa = 0, bb = 0, ab = 0;
    for (size_t j = 0; j < WINDOW; j++) {
        for (size_t i = 0; i < WINDOW; i++) {
            size_t at = (y + j) * width + x + i;
            double w = g[i] * g[j];
            ma += w * a[at];
            mb += w * b[at];
        }
    }
    for (size_t j = 0; j < WINDOW; j++) {
        for (size_t i = 0; i < WINDOW; i++) {
            size_t at = (y + j) * width + x + i;
            double w = g[i] * g[j], da = a[at] - ma, db = b[at] - mb;
            aa += w * da * da;
            bb += w * db * db;
            ab += w * da * db;
        }
    }
    const double c1 = 0.01 * 0.01, c2 = 0.03 * 0.03;
    return (2 * ma * mb + c1) * (2 * ab + c2) / ((ma * ma + mb * mb + c1) * (aa + bb + c2));
}

enum status metric_ssim(const struct metric_pair *p, double exposure, double *out,
                        struct error *err)
{
    if (p->width < WINDOW || p->height < WINDOW)
        return error_msg(err, STATUS_ARG, "SSIM takes %d x %d pixels at least, not %u x %u", WINDOW,
                         WINDOW, p->width, p->height);
    enum status status = check_exposure(p, exposure, err);
    if (status != STATUS_OK)
        return status;
    size_t pixels = (size_t)p->width * p->height;
    double *a = calloc(pixels, sizeof *a), *b = calloc(pixels, sizeof *b);
    if (!a || !b) {
        free(a);
        free(b);
        return error_msg(err, STATUS_MEMORY, "no memory for SSIM");
    }
    for (size_t i = 0; i < pixels; i++) {
        a[i] = luma(p->image + 3 * i, exposure);
        b[i] = luma(p->reference + 3 * i, exposure);
    }
    double g[WINDOW] = {0}, sum = 0;
    gaussian_window(g);
    size_t across = p->width - WINDOW + 1, down = p->height - WINDOW + 1;
    for (size_t y = 0; y < down; y++)
        for (size_t x = 0; x < across; x++)
            sum += window_ssim(a, b, p->width, x, y, g);
    *out = sum / ((double)across * (double)down);
    free(a);
    free(b);
    return STATUS_OK;
}

/* ---- is it noise? -------------------------------------------------------------------- */

/* 2 e^3 / 9 (Pinelis 1994). */
static const double PINELIS = 4.463452649486199;
enum { SQUARE = 8 };

/* Sums over a set of pixels of one channel: of the difference d, of d^2, of known variances, of the
 * mean m; of picture a, and its products. */
struct moments {
    double d, dd, v, m, a, aa, da;
};

struct comparison {
    uint32_t width, height;
    const struct metric_estimate *a, *b;
    double systematic;
    double brighter;         /* picture a is looked at as if it were 1 + this times as bright */
    uint32_t across, down;   /* squares */
    struct moments *squares; /* [3][down][across] */
    double chi_square[3];    /* by channel: the sum of z^2 over squares that are not quiet, */
    size_t cells[3];         /* and their number */
    struct metric_z z;
};

/* Variance of the difference of the means at one value. */
static double known_variance(const struct comparison *c, size_t i)
{
    double v = 0;
    if (c->a->variance)
        v += c->a->variance[i] / (double)c->a->samples;
    if (c->b->variance)
        v += c->b->variance[i] / (double)c->b->samples;
    return v;
}

/* Does a pixel belong to this share of all, scattered evenly? What is in a share is in larger ones. */
static bool is_among(size_t pixel, double share)
{
    const uint32_t h = (uint32_t)pixel * UINT32_C(2654435769); /* Weyl's sequence by 2^32 / phi */
    return h * 0x1p-32 < share;
}

/* The squares' moments, where that share of picture a's pixels is black. */
static void measure_squares(struct comparison *c, double black)
{
    memset(c->squares, 0, (size_t)3 * c->across * c->down * sizeof *c->squares);
    for (uint32_t y = 0; y < c->height; y++)
        for (uint32_t x = 0; x < c->width; x++) {
            const size_t pixel = (size_t)y * c->width + x;
            const bool dark = black > 0 && is_among(pixel, black);
            for (size_t channel = 0; channel < 3; channel++) {
                const size_t i = 3 * pixel + channel;
                struct moments *s =
                    &c->squares[(channel * c->down + y / SQUARE) * c->across + x / SQUARE];
                const double a = dark ? 0 : c->a->mean[i], d = a - c->b->mean[i];
                s->d += d;
                s->dd += d * d;
                s->v += known_variance(c, i);
                s->m += fabs(a + c->b->mean[i]) / 2;
                s->a += a;
                s->aa += a * a;
                s->da += d * a;
            }
        }
}

static enum status open_comparison(struct comparison *c, struct error *err)
{
    c->across = (c->width + SQUARE - 1) / SQUARE;
    c->down = (c->height + SQUARE - 1) / SQUARE;
    c->squares = calloc((size_t)3 * c->across * c->down, sizeof *c->squares);
    return c->squares ? STATUS_OK : error_msg(err, STATUS_MEMORY, "no memory to compare pictures");
}

/* z of a rectangle of squares of one channel; *quiet: both pictures agree exactly there. */
static double set_z(const struct comparison *c, uint32_t x0, uint32_t y0, uint32_t x1, uint32_t y1,
                    uint32_t channel, bool *quiet)
{
    const double e = c->brighter;
    double sum = 0, squares = 0, variance = 0, means = 0;
    for (uint32_t y = y0; y < y1; y++)
        for (uint32_t x = x0; x < x1; x++) {
            const struct moments *s = &c->squares[((size_t)channel * c->down + y) * c->across + x];
            sum += s->d + e * s->a;
            squares += s->dd + 2 * e * s->da + e * e * s->aa;
            variance += s->v;
            means += s->m + e * s->a / 2;
        }
    *quiet = squares == 0;
    double excess = fabs(sum) - c->systematic * means;
    return excess > 0 ? excess / sqrt(fmax(squares, variance)) : 0;
}

/* side: of the sets, in squares; 0: the whole picture. */
static void scan(struct comparison *c, uint32_t side)
{
    const uint32_t step_x = side ? side : c->across, step_y = side ? side : c->down;
    for (uint32_t channel = 0; channel < 3; channel++)
        for (uint32_t y = 0; y < c->down; y += step_y)
            for (uint32_t x = 0; x < c->across; x += step_x) {
                bool quiet;
                uint32_t x1 = c->across - x < step_x ? c->across : x + step_x;
                uint32_t y1 = c->down - y < step_y ? c->down : y + step_y;
                double z = set_z(c, x, y, x1, y1, channel, &quiet);
                c->z.sets++;
                if (side == 1 && !quiet) {
                    c->cells[channel]++;
                    c->chi_square[channel] += z * z;
                }
                if (z > c->z.worst_z) {
                    c->z.worst_z = z;
                    c->z.x = SQUARE * x, c->z.y = SQUARE * y, c->z.size = SQUARE * side;
                    c->z.channel = channel;
                }
            }
}

/* P(sum of n z^2 >= x) at most, metrics.h. */
static double square_sum_bound(double x, double n)
{
    return x > n ? exp(n / 2 * log(x / n) + (n - x) / 2) : 1;
}

/* c->z's probabilities, by the squares. */
static void judge_squares(struct comparison *c)
{
    const uint32_t larger = c->across > c->down ? c->across : c->down;
    memset(c->chi_square, 0, sizeof c->chi_square);
    memset(c->cells, 0, sizeof c->cells);
    c->z = (struct metric_z){.p_chi = 1};
    for (uint32_t side = 1; side == 1 || side < larger; side *= 2)
        scan(c, side);
    if (larger > 1) /* else the one square is the whole picture */
        scan(c, 0);
    c->z.p_worst = fmin(1, PINELIS * normal_two_sided(c->z.worst_z) * (double)c->z.sets);
    for (int i = 0; i < 3; i++) {
        double p = 3 * square_sum_bound(c->chi_square[i], (double)c->cells[i]);
        if (i > 0 && p >= c->z.p_chi)
            continue;
        c->z.p_chi = fmin(1, p);
        c->z.chi_square = c->chi_square[i];
        c->z.cells = c->cells[i];
    }
    c->z.p = fmin(1, 2 * fmin(c->z.p_worst, c->z.p_chi));
}

static void look_at_pixels(struct comparison *c)
{
    size_t n = (size_t)c->width * c->height * 3, with_variance = 0, over2 = 0, over3 = 0;
    for (size_t i = 0; i < n; i++) {
        double d = c->a->mean[i] - c->b->mean[i], v = known_variance(c, i);
        c->z.mean_difference[i % 3] += d / ((double)n / 3);
        if (!(v > 0))
            continue;
        with_variance++;
        over2 += fabs(d) > 2 * sqrt(v);
        over3 += fabs(d) > 3 * sqrt(v);
    }
    c->z.beyond2 = with_variance ? (double)over2 / (double)with_variance : NAN;
    c->z.beyond3 = with_variance ? (double)over3 / (double)with_variance : NAN;
}

static enum status check_estimate(uint32_t width, uint32_t height, const struct metric_estimate *e,
                                  struct error *err)
{
    if (e->samples == 0)
        return error_msg(err, STATUS_ARG, "an estimate from no samples");
    enum status status = check_picture(width, height, e->mean, err);
    if (status == STATUS_OK && e->variance)
        status = check_picture(width, height, e->variance, err);
    return status;
}

enum status metric_z(uint32_t width, uint32_t height, const struct metric_estimate *a,
                     const struct metric_estimate *b, double systematic, struct metric_z *out,
                     struct error *err)
{
    if (!(systematic >= 0))
        return error_msg(err, STATUS_ARG, "a systematic difference of %g", systematic);
    enum status status = check_estimate(width, height, a, err);
    if (status == STATUS_OK)
        status = check_estimate(width, height, b, err);
    if (status != STATUS_OK)
        return status;
    struct comparison c = {
        .width = width, .height = height, .a = a, .b = b, .systematic = systematic};
    status = open_comparison(&c, err);
    if (status != STATUS_OK)
        return status;
    measure_squares(&c, 0);
    judge_squares(&c);
    look_at_pixels(&c);
    free(c.squares);
    *out = c.z;
    return STATUS_OK;
}

/* ---- what would have been noticed ---------------------------------------------------- */

/* Is an error of that size? */
typedef bool notices(struct comparison *c, double size, double level);

static bool notices_brightness(struct comparison *c, double size, double level)
{
    bool all = true;
    for (int sign = -1; sign <= 1; sign += 2) {
        c->brighter = sign * size;
        judge_squares(c);
        all &= c->z.p < level;
    }
    c->brighter = 0;
    return all;
}

static bool notices_black(struct comparison *c, double share, double level)
{
    measure_squares(c, share);
    judge_squares(c);
    return c->z.p < level;
}

/* The least size from `least` to 1 that is noticed, to a part in 32; INFINITY: none. */
static double least_noticed(struct comparison *c, notices *is_noticed, double least, double level)
{
    double size = least;
    while (size < 1 && !is_noticed(c, size, level))
        size *= 2;
    if (size >= 1 && !is_noticed(c, size = 1, level))
        return INFINITY;
    double below = size / 2;
    while (size > least && size - below > size / 32) {
        const double middle = (below + size) / 2;
        if (is_noticed(c, middle, level))
            size = middle;
        else
            below = middle;
    }
    return size;
}

enum status metric_power(uint32_t width, uint32_t height, const struct metric_estimate *a,
                         const struct metric_estimate *b, double systematic, double level,
                         struct metric_power *out, struct error *err)
{
    struct metric_z z;
    enum status status =
        metric_z(width, height, a, b, systematic, &z, err); /* asks for sound input */
    struct comparison c = {
        .width = width, .height = height, .a = a, .b = b, .systematic = systematic};
    if (status == STATUS_OK)
        status = open_comparison(&c, err);
    if (status != STATUS_OK)
        return status;
    *out = (struct metric_power){.level = level};
    measure_squares(&c, 0);
    out->radiance = least_noticed(&c, notices_brightness, 0x1p-24, level);
    out->pixels = least_noticed(&c, notices_black, 1 / ((double)width * height), level);
    free(c.squares);
    return STATUS_OK;
}
