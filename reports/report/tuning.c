/* SPDX-License-Identifier: Apache-2.0 */
#include "tuning.h"

#include <math.h>
#include <string.h>

#include "markup.h"
#include "store/offers.h"

bool tuning_same_setting(const struct bench_record *a, const struct bench_record *b)
{
    return a->work_group[0] == b->work_group[0] && a->work_group[1] == b->work_group[1] &&
           a->tile[0] == b->tile[0] && a->tile[1] == b->tile[1] && a->batch == b->batch &&
           text_order(a->bvh, b->bvh) == 0 && text_order(a->model, b->model) == 0;
}

static bool same_group(const struct bench_record *a, const struct bench_record *b)
{
    return text_order(a->scene, b->scene) == 0 && text_order(a->mode, b->mode) == 0 &&
           a->width == b->width && a->height == b->height && a->spp == b->spp &&
           a->max_depth == b->max_depth;
}

static enum status no_memory(struct error *err)
{
    return error_msg(err, STATUS_MEMORY, "out of memory for a tuning table");
}

static void group_judge(const struct bench_record *const *rows, struct tuning_group *g, bool *tied)
{
    g->best = SIZE_MAX;
    for (size_t i = 0; i < g->count; i++) {
        const struct bench_record *r = rows[g->rows[i]];
        if (r->verdict == VERDICT_PASS &&
            (g->best == SIZE_MAX || r->samples_per_s > rows[g->best]->samples_per_s))
            g->best = g->rows[i];
    }
    for (size_t i = 0; i < g->count && g->best != SIZE_MAX; i++) {
        const struct bench_record *r = rows[g->rows[i]];
        tied[i] = r->verdict == VERDICT_PASS &&
                  (g->rows[i] == g->best || r->interval[1] >= rows[g->best]->interval[0]);
        g->tied_count += tied[i];
    }
    g->tied = tied;
}

static enum status groups_find(struct arena *a, const struct bench_record *const *rows,
                               const size_t *devices, size_t count, struct tuning *t,
                               struct error *err)
{
    t->groups = ARENA_ARRAY(a, struct tuning_group, count);
    bool *done = ARENA_ARRAY(a, bool, count);
    if (!t->groups || !done)
        return no_memory(err);
    for (size_t i = 0; i < count; i++) {
        if (done[i])
            continue;
        size_t n = 0;
        for (size_t k = i; k < count; k++)
            n += !done[k] && devices[k] == devices[i] && same_group(rows[k], rows[i]);
        size_t *members = ARENA_ARRAY(a, size_t, n);
        bool *tied = ARENA_ARRAY(a, bool, n);
        if (!members || !tied)
            return no_memory(err);
        struct tuning_group *g = &t->groups[t->group_count++];
        g->rows = members;
        for (size_t k = i; k < count; k++)
            if (!done[k] && devices[k] == devices[i] && same_group(rows[k], rows[i])) {
                done[k] = true;
                members[g->count++] = k;
            }
        group_judge(rows, g, tied);
    }
    return STATUS_OK;
}

/* Share of a group's best rate that a setting reaches; 0 when it is not there or did not pass. */
static double setting_share(const struct bench_record *const *rows, const struct tuning_group *g,
                            const struct bench_record *setting)
{
    for (size_t i = 0; i < g->count; i++) {
        const struct bench_record *r = rows[g->rows[i]];
        if (r->verdict == VERDICT_PASS && tuning_same_setting(r, setting))
            return r->samples_per_s / rows[g->best]->samples_per_s;
    }
    return 0;
}

/* The best single setting for the groups listed: tries each setting of the first one. */
static void choice_find(const struct bench_record *const *rows, const struct tuning *t,
                        struct tuning_choice *c, double *shares)
{
    const struct tuning_group *first = &t->groups[c->groups[0]];
    for (size_t i = 0; i < first->count; i++) {
        double log_sum = 0;
        for (size_t k = 0; k < c->group_count; k++)
            log_sum += log(setting_share(rows, &t->groups[c->groups[k]], rows[first->rows[i]]));
        double mean = exp(log_sum / (double)c->group_count);
        if (mean > c->mean_share) {
            c->mean_share = mean;
            c->row = first->rows[i];
        }
    }
    for (size_t k = 0; k < c->group_count && c->mean_share > 0; k++)
        shares[k] = setting_share(rows, &t->groups[c->groups[k]], rows[c->row]);
    c->shares = shares;
}

enum status tuning_find(struct arena *a, const struct bench_record *const *rows,
                        const size_t *devices, size_t count, struct tuning *out, struct error *err)
{
    struct tuning t = {0};
    enum status st = groups_find(a, rows, devices, count, &t, err);
    if (st)
        return st;
    t.choices = ARENA_ARRAY(a, struct tuning_choice, t.group_count);
    bool *done = ARENA_ARRAY(a, bool, t.group_count);
    if (!t.choices || !done)
        return no_memory(err);
    for (size_t i = 0; i < t.group_count; i++) {
        if (done[i] || t.groups[i].best == SIZE_MAX)
            continue;
        const size_t lead = t.groups[i].rows[0];
        size_t *groups = ARENA_ARRAY(a, size_t, t.group_count);
        double *shares = ARENA_ARRAY(a, double, t.group_count);
        if (!groups || !shares)
            return no_memory(err);
        struct tuning_choice c = {
            .device = devices[lead], .mode = rows[lead]->mode, .groups = groups};
        for (size_t k = i; k < t.group_count; k++) {
            size_t row = t.groups[k].rows[0];
            if (!done[k] && t.groups[k].best != SIZE_MAX && devices[row] == c.device &&
                text_order(rows[row]->mode, c.mode) == 0) {
                done[k] = true;
                groups[c.group_count++] = k;
            }
        }
        if (c.group_count < 2)
            continue;
        choice_find(rows, &t, &c, shares);
        if (c.mean_share > 0)
            t.choices[t.choice_count++] = c;
    }
    *out = t;
    return STATUS_OK;
}

/* ---- for a terminal --------------------------------------------------------------------- */

static void setting_text(struct text *t, const struct bench_record *r)
{
    text_printf(t, "%s", r->bvh ? r->bvh : "");
    if (r->work_group[0])
        text_printf(t, " work-group %ux%u", r->work_group[0], r->work_group[1]);
    if (r->tile[0])
        text_printf(t, " tile %ux%u", r->tile[0], r->tile[1]);
    if (r->batch)
        text_printf(t, " batch %u", r->batch);
}

enum { TIES_SHOWN = 8 };

static void group_text(struct text *t, const struct bench_record *const *rows,
                       const struct tuning_group *g)
{
    const struct bench_record *r = rows[g->best != SIZE_MAX ? g->best : g->rows[0]];
    char rate[32];
    text_printf(t, "%s on %s, %s: ", r->scene, r->device, r->mode);
    if (g->best == SIZE_MAX) {
        text_printf(t, "no setting gave a judged rate (%s: %.160s)\n", verdict_name(r->verdict),
                    r->reason ? r->reason : "");
        return;
    }
    text_printf(t, "best %s at ", rate_text(r->samples_per_s, rate));
    setting_text(t, r);
    size_t shown = 0;
    for (size_t i = 0; i < g->count && shown < TIES_SHOWN; i++)
        if (g->tied[i] && g->rows[i] != g->best) {
            text_puts(t, shown++ ? "; " : ", tied within noise with ");
            setting_text(t, rows[g->rows[i]]);
        }
    if (g->tied_count > shown + 1)
        text_printf(t, " and %zu more", g->tied_count - 1 - shown);
    text_puts(t, "\n");
}

static void choice_text(struct text *t, const struct bench_record *const *rows,
                        const struct tuning *tuning, const struct tuning_choice *c)
{
    text_printf(t, "one setting for all scenes on %s, %s: ", rows[c->row]->device, c->mode);
    setting_text(t, rows[c->row]);
    text_printf(t, " loses %.1f%% in the mean (", 100 * (1 - c->mean_share));
    for (size_t k = 0; k < c->group_count; k++)
        text_printf(t, "%s%s %.1f%%", k ? ", " : "", rows[tuning->groups[c->groups[k]].best]->scene,
                    100 * (1 - c->shares[k]));
    text_puts(t, ")\n");
}

enum status report_tuning(struct arena *a, const struct bench_record *rows, size_t count,
                          const char **out, struct error *err)
{
    const struct bench_record **pointers = ARENA_ARRAY(a, const struct bench_record *, count);
    size_t *devices = ARENA_ARRAY(a, size_t, count);
    struct tuning tuning;
    if (!pointers || !devices)
        return no_memory(err);
    for (size_t i = 0; i < count; i++) {
        pointers[i] = &rows[i];
        devices[i] = i;
        for (size_t k = 0; k < i; k++)
            if (text_order(rows[k].device, rows[i].device) == 0) {
                devices[i] = devices[k];
                break;
            }
    }
    enum status st = tuning_find(a, pointers, devices, count, &tuning, err);
    if (st)
        return st;
    struct text t = {0};
    for (size_t i = 0; i < tuning.group_count; i++)
        group_text(&t, pointers, &tuning.groups[i]);
    for (size_t i = 0; i < tuning.choice_count; i++)
        choice_text(&t, pointers, &tuning, &tuning.choices[i]);
    const char *copy = t.failed ? NULL : arena_strdup(a, t.data ? t.data : "");
    text_free(&t);
    if (!copy)
        return no_memory(err);
    *out = copy;
    return STATUS_OK;
}
