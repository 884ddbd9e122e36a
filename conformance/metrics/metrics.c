/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics.h"

#include "statistics.h"

#include <math.h>
#include <stdlib.h>

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

struct comparison {
    uint32_t width, height;
    const struct metric_estimate *a, *b;
    double systematic;
    double chi_square[3]; /* by channel: the sum of z^2 over squares that are not quiet, */
    size_t cells[3];      /* and their number */
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

/* z of a rectangle of one channel; *quiet: both pictures agree exactly there. */
static double set_z(const struct comparison *c, uint32_t x0, uint32_t y0, uint32_t x1, uint32_t y1,
                    uint32_t channel, bool *quiet)
{
    double sum = 0, squares = 0, variance = 0, means = 0;
    for (uint32_t y = y0; y < y1; y++) {
        for (uint32_t x = x0; x < x1; x++) {
            size_t i = ((size_t)y * c->width + x) * 3 + channel;
            double d = c->a->mean[i] - c->b->mean[i];
            sum += d;
            squares += d * d;
            variance += known_variance(c, i);
            means += fabs(c->a->mean[i] + c->b->mean[i]) / 2;
        }
    }
    *quiet = squares == 0;
    double excess = fabs(sum) - c->systematic * means;
    return excess > 0 ? excess / sqrt(fmax(squares, variance)) : 0;
}

static void scan(struct comparison *c, uint32_t side)
{
    bool whole = side == 0;
    uint32_t step_x = whole ? c->width : side, step_y = whole ? c->height : side;
    for (uint32_t channel = 0; channel < 3; channel++) {
        for (uint32_t y = 0; y < c->height; y += step_y) {
            for (uint32_t x = 0; x < c->width; x += step_x) {
                bool quiet;
                uint32_t x1 = c->width - x < step_x ? c->width : x + step_x;
                uint32_t y1 = c->height - y < step_y ? c->height : y + step_y;
                double z = set_z(c, x, y, x1, y1, channel, &quiet);
                c->z.sets++;
                if (side == SQUARE && !quiet) {
                    c->cells[channel]++;
                    c->chi_square[channel] += z * z;
                }
                if (z > c->z.worst_z) {
                    c->z.worst_z = z;
                    c->z.x = x, c->z.y = y, c->z.size = side, c->z.channel = channel;
                }
            }
        }
    }
}

/* P(sum of n z^2 >= x) at most, metrics.h. */
static double square_sum_bound(double x, double n)
{
    return x > n ? exp(n / 2 * log(x / n) + (n - x) / 2) : 1;
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
    uint32_t larger = width > height ? width : height;
    for (uint32_t side = SQUARE; side < larger && side <= UINT32_MAX / 2; side *= 2)
        scan(&c, side);
    if (larger <= SQUARE)
        scan(&c, SQUARE); /* one square: the whole picture */
    else
        scan(&c, 0);
    look_at_pixels(&c);
    c.z.p_worst = fmin(1, PINELIS * normal_two_sided(c.z.worst_z) * (double)c.z.sets);
    c.z.p_chi = 1;
    for (int i = 0; i < 3; i++) {
        double p = 3 * square_sum_bound(c.chi_square[i], (double)c.cells[i]);
        if (i > 0 && p >= c.z.p_chi)
            continue;
        c.z.p_chi = fmin(1, p);
        c.z.chi_square = c.chi_square[i];
        c.z.cells = c.cells[i];
    }
    c.z.p = fmin(1, 2 * fmin(c.z.p_worst, c.z.p_chi));
    *out = c.z;
    return STATUS_OK;
}
