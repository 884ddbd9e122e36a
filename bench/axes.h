/* SPDX-License-Identifier: Apache-2.0 */
/* The space of a sweep: values of its axes for one lane, and what constraints leave of their
 * product. */
#ifndef ISOPHOTE_BENCH_AXES_H
#define ISOPHOTE_BENCH_AXES_H

#include "bench.h"

/* What the values of an axis may depend on. */
struct axis_context {
    struct device_info device;
    struct render_job job; /* complete */
};

/* Checks names, values and constraints. Fails: TYPE. */
enum status axes_check(const struct sweep_options *o, struct error *err);

/* The job's own settings `own` with every value of the axes that make lanes (mode, bvh, code-path,
 * registers, cache), each combination once; the last axis changes fastest. In the arena. Fails:
 * MEMORY, LIMIT (over 1000). */
enum status axes_lanes(struct arena *a, const struct sweep_options *o, const struct settings *own,
                       struct settings **out, size_t *count, struct error *err);

/* All launch settings of a lane that the constraints leave, in a fixed order; *left_out counts
 * those they do not. In the arena. Fails: MEMORY, LIMIT (over 100000). */
enum status axes_settings(struct arena *a, const struct sweep_options *o,
                          const struct axis_context *c, struct settings **out, size_t *count,
                          size_t *left_out, struct error *err);

#endif
