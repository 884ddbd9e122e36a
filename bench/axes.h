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

/* Values of "mode" and "bvh", which make lanes; without the axis, the job's own. At most 3 each. */
size_t axes_modes(const struct sweep_options *o, const struct render_job *job,
                  enum math_mode out[3]);
size_t axes_bvhs(const struct sweep_options *o, const struct render_job *job,
                 enum bvh_kind out[BVH_COUNT]);

/* All launch settings of a lane that the constraints leave, in a fixed order; *left_out counts
 * those they do not. In the arena. Fails: MEMORY, LIMIT (over 100000). */
enum status axes_settings(struct arena *a, const struct sweep_options *o,
                          const struct axis_context *c, struct launch_settings **out, size_t *count,
                          size_t *left_out, struct error *err);

#endif
