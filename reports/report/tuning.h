/* SPDX-License-Identifier: Apache-2.0 */
/* Which launch settings are best: sets tied within noise, and what one setting for all scenes would
 * cost. */
#ifndef ISOPHOTE_REPORTS_TUNING_H
#define ISOPHOTE_REPORTS_TUNING_H

#include "reports.h"

/* Rows whose rates differ by their setting alone: one job (scene, size, samples, depth), device and
 * mode. A setting is work-group, tile, batch, BVH and execution model. */
struct tuning_group {
    const size_t *rows; /* indices into the rows given */
    size_t count;
    size_t best;      /* row index; SIZE_MAX when no row passed */
    const bool *tied; /* by position in rows: the interval reaches the best one's */
    size_t tied_count;
};
/* One setting for all groups of a device and mode: the one with the largest geometric mean of its
 * share of each group's best. */
struct tuning_choice {
    size_t row;    /* a row that has the setting */
    size_t device; /* as given in devices */
    const char *mode;
    const size_t *groups; /* indices of the groups it spans, two at least */
    const double *shares; /* of the best rate there; 1 - share is the loss */
    size_t group_count;
    double mean_share;
};
struct tuning {
    struct tuning_group *groups;
    struct tuning_choice *choices;
    size_t group_count, choice_count;
};
/* devices[i]: a number that tells row i's device from others. Everything in the arena. Fails:
 * MEMORY. */
enum status tuning_find(struct arena *a, const struct bench_record *const *rows,
                        const size_t *devices, size_t count, struct tuning *out, struct error *err);
bool tuning_same_setting(const struct bench_record *a, const struct bench_record *b);

#endif
