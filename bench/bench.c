/* SPDX-License-Identifier: Apache-2.0 */
/* bench_run: subjects become trials on lanes, repetitions go round. */
#include <string.h>

#include "trial.h"

enum { ROUND_LANES = 16 };

static bool same_lane(const struct bench_subject *a, const struct bench_subject *b)
{
    const struct render_job *x = &a->job, *y = &b->job;
    return strcmp(a->scene_path, b->scene_path) == 0 && strcmp(a->device, b->device) == 0 &&
           x->width == y->width && x->height == y->height && x->sample_begin == y->sample_begin &&
           x->sample_count == y->sample_count && x->max_depth == y->max_depth &&
           x->rr_depth == y->rr_depth && x->seed == y->seed && a->seed_given == b->seed_given &&
           x->set.build.mode == y->set.build.mode && x->set.load.bvh == y->set.load.bvh;
}

/* Subjects [begin, *end) that share at most ROUND_LANES lanes, timed in one round-robin. */
static enum status round_run(const struct bench_subject *subjects, size_t count, size_t begin,
                             size_t *end, struct row_sink *sink, struct error *err)
{
    struct arena *a = sink->a;
    struct lane *lanes = ARENA_ARRAY(a, struct lane, ROUND_LANES);
    struct trial *trials = ARENA_ARRAY(a, struct trial, count - begin);
    struct trial **order = ARENA_ARRAY(a, struct trial *, count - begin);
    size_t lane_count = 0, n = 0;
    if (!lanes || !trials || !order)
        return error_msg(err, STATUS_MEMORY, "out of memory");
    for (size_t i = begin; i < count; i++) {
        size_t k = 0;
        while (k < lane_count && !same_lane(lanes[k].subject, &subjects[i]))
            k++;
        if (k == ROUND_LANES)
            break;
        if (k == lane_count) {
            lanes[k] =
                (struct lane){.subject = &subjects[i], .work = rendering_work(a, &subjects[i])};
            if (!lanes[k].work.ctx)
                return error_msg(err, STATUS_MEMORY, "out of memory");
            lane_count++;
        }
        trials[n] = (struct trial){.lane = &lanes[k], .set = subjects[i].job.set};
        order[n] = &trials[n];
        n++;
    }
    enum status st = trials_run(order, n, 0, sink, err);
    for (size_t k = 0; k < lane_count; k++)
        lane_stop(&lanes[k]);
    *end = begin + n;
    return st;
}

enum status bench_run(const struct bench_subject *subjects, size_t count,
                      const struct bench_options *o, struct error *err)
{
    struct arena a = {0};
    struct row_sink sink = {.a = &a, .o = o};
    bench_limits_fill(o, &sink.limits);
    enum status st = STATUS_OK;
    for (size_t at = 0; at < count && !st;)
        st = round_run(subjects, count, at, &at, &sink, err);
    arena_free(&a);
    return st;
}
