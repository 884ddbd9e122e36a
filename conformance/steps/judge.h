/* SPDX-License-Identifier: Apache-2.0 */
/* What image cases and conform_judge share: jobs, bits against native, statistics on pairs. */
#ifndef CONFORMANCE_JUDGE_H
#define CONFORMANCE_JUDGE_H

#include "conformance.h"
#include "metrics/offers.h"

/* A case fails when a hypothesis that holds for a right device has a smaller probability than this:
 * with a thousand cases a false alarm comes once in a hundred runs. */
#define JUDGE_LEVEL 1e-5

/* Relative systematic differences that are allowed. device: contraction and a vendor's libm change
 * each operation by a few roundings of 2^-24; a thousand operations a path that all err one way
 * stay below 2^-14. fast: approximate reciprocals, roots and functions, good to about 2^-21 each
 * and worse at the ends of their domains: 2^-10 is a tenth of a grey level. */
#define JUDGE_SYSTEMATIC_DEVICE 0x1p-14
#define JUDGE_SYSTEMATIC_FAST   0x1p-10

/* A job of about `width` pixels with the scene's aspect, depth, seed and roulette. */
void judge_job(const struct scene *s, uint32_t width, uint32_t spp, enum math_mode mode,
               struct render_job *job);

/* In mode fast a device may go down a light tree with other chances (protocol, section 24.1). The
 * mean is the same, but not that of clamped samples: a picture is then judged without its clamp,
 * which the other modes' have. If that is so of s, its clamp goes (the hash is then no other
 * scene's), and the answer is true. */
bool judge_without_clamp(struct scene *s, enum math_mode mode);

/* The reference's job of the same samples. */
struct reference_job reference_job_of(const struct render_job *job);

/* Renders on an open, loaded, built device into a new film, with poison, and checks its counts.
 * MISMATCH when they are wrong. */
enum status judge_render(struct device *d, const struct scene *s, const struct render_job *job,
                         struct film *film, struct error *err);

/* All that lockstep asks of a right device (loaded, built) before it knows the reference's values,
 * as a hash: each sample's film, and the records of the samples that are looked over at any rate. A
 * device that gives the same comes to the same judgement. */
enum status judge_records(struct device *d, const struct scene *s, const struct render_job *job,
                          char hex[33], struct error *err);

/* The native device's strict film of a job (its launch settings do not matter), kept for the next
 * call with the same job. Borrowed. */
enum status judge_native(const struct scene *s, const struct render_job *job,
                         const struct film **film, struct error *err);

/* First pixel and channel where bits differ; false if none. *count: how many pixels. */
struct bit_difference {
    size_t pixels;
    uint32_t x, y, channel; /* 3: the counts */
    double a, b;
};
bool judge_bits(const struct film *a, const struct film *b, struct bit_difference *out);

/* A film against another picture of the same samples: what rounding does not explain shows however
 * heavy the tails of the samples are, for both sides have the same ones (metrics.h, metric_z). */
struct pair_judgement {
    struct metric_z z;
    struct metric_power power; /* level 0: not asked for */
    double mse, relmse, psnr, ssim, flip;
    uint64_t tied, samples; /* left out by judge_pair_untied, of how many; else 0 */
    double *image; /* heap, as doubles; the reference's, rounded as a film is, is `truth` */
    struct reference_picture truth;
};
/* Against the reference, which renders all of the job's samples. */
enum status judge_pair(const struct scene *s, const struct render_job *job, const struct film *film,
                       double systematic, struct pair_judgement *out, struct error *err);
/* Where faces lie on one another, which of them is met is rounding's, which has its ways: the flips
 * there are not symmetric. p, what judge_pair found, becomes the judgement of the other samples:
 * those of paths of the reference's on which nothing ties (steps_tied), which leaves the choice to
 * random numbers that both sides share. The open device, ready for the job, renders those that
 * tie once more, which are taken off the film. Where nothing ties p stays. */
enum status judge_pair_untied(struct device *d, const struct scene *s, const struct render_job *job,
                              const struct film *film, double systematic, struct pair_judgement *p,
                              struct error *err);
/* What it would have noticed: p->power. */
enum status pair_judgement_power(const struct render_job *job, double systematic, double level,
                                 struct pair_judgement *p, struct error *err);
/* "; at level 1e-05 it notices ..."; nothing for a level of 0. */
void judge_power_text(const struct metric_power *p, char *buf, size_t size);
void pair_judgement_free(struct pair_judgement *p);
/* Fills p, but its pictures, from two pictures of job->width and height and of the same samples. */
enum status judge_measure(const struct render_job *job, const double *image, const double *expected,
                          double systematic, struct pair_judgement *p, struct error *err);

/* A film against native's strict picture, which is made of as many squares of it, drawn at random,
 * as the decision takes (squares.c). What p says of places is of the picture. */
struct square_judgement {
    struct pair_judgement p;         /* without pictures */
    double level;                    /* a smaller p.z.p is a FAIL */
    uint32_t looked, squares, looks; /* at so many squares of all, in so many steps */
};
enum status judge_squares(const struct scene *s, const struct render_job *job,
                          const struct film *film, double systematic, double level,
                          struct square_judgement *out, struct error *err);
/* One line: what was measured, or what is wrong; whom: the other side, "the reference". */
void pair_judgement_text(const struct pair_judgement *p, const char *whom, double systematic,
                         char *buf, size_t size);

#endif
