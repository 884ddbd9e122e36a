/* SPDX-License-Identifier: Apache-2.0 */
/* Measures of how two pictures differ, each with its formula, its epsilon and its source.
 *
 * Pictures are linear radiance, doubles, row-major [height][width][3], row 0 on top, all values
 * finite. Every function fails with ARG for an empty picture or a parameter out of its domain,
 * RANGE for a value that is not finite, MEMORY; outputs are then untouched. Judging a value is not
 * done here. */
#ifndef CONFORMANCE_METRICS_H
#define CONFORMANCE_METRICS_H

#include "scenes.h"

struct metric_pair {
    uint32_t width, height;
    const double *image, *reference;
};

/* Means of a film as doubles, width*height*3: sum / (count 2^exponent); 0 where there are no
 * samples. */
void metric_from_film(const struct film *f, double *rgb);

/* Mean squared error: (1/3N) sum (x - r)^2. Radiance squared, >= 0. */
enum status metric_mse(const struct metric_pair *p, double *out, struct error *err);

/* Relative mean squared error: (1/3N) sum (x - r)^2 / (r^2 + epsilon), epsilon > 0, radiance
 * squared (Rousselle, Knaus and Zwicker, "Adaptive Sampling and Reconstruction using Greedy Error
 * Minimization", 2011, whose epsilon is 0.01). Reports print the epsilon beside the value. */
#define METRIC_RELMSE_EPSILON 0.01
enum status metric_relmse(const struct metric_pair *p, double epsilon, double *out,
                          struct error *err);

/* The tone map of PSNR, SSIM and LDR-FLIP: clamp(exposure x, 0, 1), encoded by IEC 61966-2-1
 * (sRGB). */
double metric_display(double linear, double exposure);

/* Peak signal-to-noise ratio of the display values d = metric_display: -10 log10((1/3N) sum (d(x) -
 * d(r))^2), decibels, peak 1. +infinity for equal pictures. exposure > 0. */
enum status metric_psnr(const struct metric_pair *p, double exposure, double *out,
                        struct error *err);

/* Structural similarity (Wang, Bovik, Sheikh and Simoncelli, "Image Quality Assessment: From Error
 * Visibility to Structural Similarity", IEEE TIP 13(4), 2004, equation 13): Gaussian window 11x11
 * of sigma 1.5 with weights that sum to 1, K1 = 0.01, K2 = 0.03, L = 1, alpha = beta = gamma = 1,
 * averaged over all windows that lie inside the picture (equation 17), on the display value of the
 * luminance, metric_display(0.2126 r + 0.7152 g + 0.0722 b). In [-1, 1]; 1 for equal pictures. ARG
 * below 11 x 11. */
enum status metric_ssim(const struct metric_pair *p, double exposure, double *out,
                        struct error *err);

/* FLIP (Andersson, Nilsson, Akenine-Moeller, Oskarsson, Astroem and Fairchild, "FLIP: A Difference
 * Evaluator for Alternating Images", HPG 2020) of the pictures clamp(exposure x, 0, 1), as shown on
 * the paper's display: 0.7 m away, 0.7 m wide, 3840 pixels, which is METRIC_FLIP_PPD pixels a
 * degree. *mean is the average of the map, in [0, 1]; 0 for equal pictures. map: [height][width],
 * or NULL. */
#define METRIC_FLIP_PPD 67.02064327658225
enum status metric_flip_ldr(const struct metric_pair *p, double exposure, double pixels_per_degree,
                            double *mean, double *map, struct error *err);

/* HDR-FLIP (the same authors but two, "Visualizing Errors in Rendered High Dynamic Range Images",
 * Eurographics short papers 2021): the largest LDR-FLIP, pixel by pixel, over exposures start ..
 * stop in stops, both pictures tone mapped by Narkowicz' fit of ACES after the paper's 0.6
 * pre-scale. The exposures, evenly spaced, come from the reference; Y is the luminance:
 *
 *     x     = the larger solution of tonemap(x) = 0.85
 *     start = log2(x / Ymax)
 *     stop  = log2(x / max(Ymedian, epsilon)),   the lower median
 *     count = max(2, ceil(stop - start))
 *     epsilon = 2^-23, FLT_EPSILON in the authors' program
 *
 * A black reference has start = stop = 0. Negative radiance counts as 0. */
struct metric_exposures {
    double start, stop;
    uint32_t count;
};
enum status metric_flip_hdr(const struct metric_pair *p, double pixels_per_degree, double *mean,
                            double *map, struct metric_exposures *exposures /* or NULL */,
                            struct error *err);

/* ---- is it noise? -------------------------------------------------------------------- */

/* A picture estimated from random samples. */
struct metric_estimate {
    const double *mean;     /* [height][width][3] */
    const double *variance; /* unbiased variance of one sample, the same shape; NULL: not known */
    uint64_t samples;       /* per pixel */
};

/* How two pictures that were rendered with independent random numbers differ: more than noise
 * explains?
 *
 * With d the difference of the means at a pixel and channel, and B a set of pixels of one channel,
 *
 *     z(B) = max(0, |sum d| - systematic sum |m|) / sqrt(max(sum d^2, sum v))
 *     m    = the mean of both
 *     v    = variance_a / samples_a + variance_b / samples_b; 0 where a variance is not known
 *
 * The sets are all squares of 8, 16, 32 ... pixels of grids that start at the top left, and the
 * whole picture.
 *
 * Assumed of equal renderers: pixels independent; d distributed symmetrically about zero, which
 * holds exactly when both have the same number of samples. Nothing else: no normal distribution, no
 * finite fourth moment. For then the signs of d are independent fair coins given |d|, and Pinelis
 * ("Extremal Probabilistic Problems and Hotelling's T^2 Test under a Symmetry Condition", Annals of
 * Statistics 22(1), 1994) bounds P(z >= x) by (2 e^3 / 9) times the normal tail, for any d.
 * (Fireflies make z small, not large: they stand in the denominator.) With different sample counts
 * symmetry is only approached as both counts grow; then give both the variance of the picture with
 * more samples: it has seen the rare bright samples that the other one lacks.
 *
 *   p_worst  that bound for the largest z, times the number of sets and channels (Bonferroni)
 *   p_chi    three times the least p(x) of a channel, x the sum of z^2 over its n 8x8 squares. The
 *            channels of a sample are one path's and not independent (in gray scenes they are the
 *            same number), so each has its own sum
 *   p        min(1, 2 min(p_worst, p_chi)): the probability at most that two equal renderers
 *            differ so
 *
 * p(x) = (x / n)^(n / 2) exp((n - x) / 2) for x > n is Markov's inequality with the best l of
 * E exp(l z^2) <= (1 - 2 l)^(-1/2), since coins' exponential moments are below the normal's,
 * E exp(s z) <= exp(s^2 / 2). Squares where both pictures agree exactly count in p_worst's number
 * but not in n.
 *
 * systematic >= 0: relative difference that is allowed (rounding of float32 against double): 0 for
 * none. Power: a difference in one channel of a set B shows when it exceeds about 5.5 standard
 * errors of B's mean difference, if B has 64 pixels or more (z cannot pass sqrt(|B|); pictures
 * smaller than that can never fail). */
struct metric_z {
    double p, p_worst, p_chi;
    double worst_z;
    uint32_t x, y, size, channel; /* the set with worst_z; size: its side; 0: the whole picture */
    double chi_square;            /* the sum of z^2, and n, of the channel with the least p_chi */
    size_t cells, sets;
    double mean_difference[3]; /* of the whole picture, a - b */
    /* Shares of pixels and channels with |d| / sqrt(v) beyond 2 and 3, where v > 0; normal
     * distributions give 0.0455 and 0.0027. To look at, not to judge by: at few samples a pixel is
     * far from normal. NaN when no variance is known. */
    double beyond2, beyond3;
};
enum status metric_z(uint32_t width, uint32_t height, const struct metric_estimate *a,
                     const struct metric_estimate *b, double systematic, struct metric_z *out,
                     struct error *err);

/* The least errors that metric_z would have noticed in picture a, on this very noise: with them
 * beside what the pictures differ by, p is below `level`. INFINITY: none up to 1 (a black picture, or
 * fewer than 64 pixels). */
struct metric_power {
    double level;
    double radiance; /* everything brighter by this share, and also everything darker */
    double pixels;   /* this share of the pixels, scattered evenly, black */
};
enum status metric_power(uint32_t width, uint32_t height, const struct metric_estimate *a,
                         const struct metric_estimate *b, double systematic, double level,
                         struct metric_power *out, struct error *err);

#endif
