/* SPDX-License-Identifier: Apache-2.0 */
#include "axes.h"

#include <stdlib.h>
#include <string.h>

enum { VALUES_MAX = 4096, SETTINGS_MAX = 100000, LANES_MAX = 1000 };

/* ---- reading values ------------------------------------------------------------------------- */

static bool read_u32(const char *s, const char **end, uint32_t *out)
{
    if (*s < '1' || *s > '9')
        return false;
    char *stop;
    unsigned long long v = strtoull(s, &stop, 10);
    *end = stop;
    *out = (uint32_t)v;
    return v <= UINT32_MAX;
}

static bool read_pair(const char *s, uint32_t out[2])
{
    uint32_t x, y;
    if (!read_u32(s, &s, &x) || *s != 'x' || !read_u32(s + 1, &s, &y) || *s)
        return false;
    out[0] = x;
    out[1] = y;
    return true;
}

/* Axes that make lanes, since they need a tree or a program of their own: each takes its value into
 * the settings. */
static bool mode_take(const char *v, struct settings *out)
{
    return math_mode_find(v, &out->build.mode);
}
static bool bvh_take(const char *v, struct settings *out)
{
    return bvh_kind_find(v, &out->load.bvh);
}
static bool model_take(const char *v, struct settings *out)
{
    return exec_model_find(v, &out->build.model);
}
static bool code_take(const char *v, struct settings *out)
{
    return code_path_find(v, &out->build.code);
}
static bool registers_take(const char *v, struct settings *out)
{
    uint32_t n = 0;
    const char *end;
    if (strcmp(v, "auto") != 0 && (!read_u32(v, &end, &n) || *end))
        return false;
    out->build.registers = n;
    return true;
}
static bool cache_take(const char *v, struct settings *out)
{
    return cache_preference_find(v, &out->build.cache);
}

static const struct {
    const char *name, *expected;
    bool (*lane)(const char *value, struct settings *out); /* NULL: an axis of a launch */
    const char *const defaults[8]; /* ends with NULL; work-group has a rule instead */
} axis_table[] = {
    {"work-group", "XxY, such as 8x4", NULL, {NULL}},
    {"tile", "XxY or all", NULL, {"all", "256x256", "64x64", "32x32", NULL}},
    {"batch", "a number from 1, or all", NULL, {"1", "4", "16", "all", NULL}},
    {"mode", "strict, device or fast", mode_take, {"strict", "device", "fast", NULL}},
    {"bvh", "bvh2, bvh8, bvh8c, none or auto", bvh_take, {"bvh2", "bvh8", "bvh8c", NULL}},
    {"model",
     "megakernel, separate, wavefront, abreast or auto",
     model_take,
     {"megakernel", "separate", "wavefront", "abreast", NULL}},
    {"code-path", "source, llvm or auto", code_take, {"source", "llvm", NULL}},
    {"registers",
     "a number from 1, or auto",
     registers_take,
     {"32", "48", "64", "72", "96", "128", "255", NULL}},
    {"cache", "l1, shared, equal or auto", cache_take, {"auto", "l1", "shared", "equal", NULL}},
};
enum { AXIS_COUNT = sizeof axis_table / sizeof axis_table[0] };

static int axis_index(const char *name)
{
    for (int i = 0; i < AXIS_COUNT; i++)
        if (strcmp(name, axis_table[i].name) == 0)
            return i;
    return -1;
}

static bool value_good(int axis, const char *v)
{
    uint32_t pair[2], n;
    const char *end, *name = axis_table[axis].name;
    struct settings ignored;
    if (axis_table[axis].lane)
        return axis_table[axis].lane(v, &ignored);
    if (strcmp(name, "work-group") != 0 && strcmp(v, "all") == 0)
        return true;
    if (strcmp(name, "batch") == 0)
        return read_u32(v, &end, &n) && !*end;
    return read_pair(v, pair);
}

static const struct sweep_axis *axis_find(const struct sweep_options *o, const char *name)
{
    for (size_t i = 0; i < o->axis_count; i++)
        if (strcmp(o->axes[i].name, name) == 0)
            return &o->axes[i];
    return NULL;
}

/* ---- constraints ------------------------------------------------------------------------ */

struct candidate {
    struct settings set;
    uint32_t tile[2]; /* the real one */
    const struct render_job *job;
};

static bool divides(const uint32_t a[2], const uint32_t b[2])
{
    return b[0] % a[0] == 0 && b[1] % a[1] == 0;
}

/* Whether a setting satisfies one constraint; *known false when there is no such constraint. A
 * setting without a work-group satisfies all. */
static bool satisfies(const struct candidate *c, const char *constraint, bool *known)
{
    const uint32_t *wg = c->set.launch.work_group, *tile = c->tile;
    const uint32_t picture[2] = {c->job->width, c->job->height};
    uint64_t items = (uint64_t)wg[0] * wg[1];
    uint32_t limit;
    const char *end;
    *known = true;
    if (strncmp(constraint, "items<=", 7) == 0 && read_u32(constraint + 7, &end, &limit) && !*end)
        return !wg[0] || items <= limit;
    if (strncmp(constraint, "items>=", 7) == 0 && read_u32(constraint + 7, &end, &limit) && !*end)
        return !wg[0] || items >= limit;
    if (strcmp(constraint, "x>=y") == 0)
        return wg[0] >= wg[1];
    if (strcmp(constraint, "y>=x") == 0)
        return wg[1] >= wg[0];
    if (strcmp(constraint, "square") == 0)
        return wg[0] == wg[1];
    if (strcmp(constraint, "divides-tile") == 0)
        return !wg[0] || divides(wg, tile);
    if (strcmp(constraint, "divides-picture") == 0)
        return !wg[0] || divides(wg, picture);
    *known = false;
    return false;
}

enum status axes_check(const struct sweep_options *o, struct error *err)
{
    for (size_t i = 0; i < o->axis_count; i++) {
        const struct sweep_axis *x = &o->axes[i];
        int at = axis_index(x->name);
        if (at < 0)
            return error_msg(err, STATUS_TYPE,
                             "axis '%s': expected work-group, tile, batch, mode, bvh, model, "
                             "code-path, registers, cache or, alone, number-format",
                             x->name);
        if (axis_find(o, x->name) != x)
            return error_msg(err, STATUS_TYPE, "axis '%s' is given twice", x->name);
        if (x->values && (x->count == 0 || x->count > VALUES_MAX))
            return error_msg(err, STATUS_TYPE, "axis '%s' has %zu values: expected 1 to %d",
                             x->name, x->count, VALUES_MAX);
        for (size_t k = 0; x->values && k < x->count; k++)
            if (!value_good(at, x->values[k]))
                return error_msg(err, STATUS_TYPE, "axis %s, value '%s': expected %s", x->name,
                                 x->values[k], axis_table[at].expected);
    }
    const struct render_job job = {.width = 1, .height = 1};
    const struct candidate c = {.job = &job};
    for (size_t i = 0; i < o->constraint_count; i++) {
        bool known;
        (void)satisfies(&c, o->constraints[i], &known);
        if (!known)
            return error_msg(err, STATUS_TYPE,
                             "constraint '%s': expected items<=N, items>=N, x>=y, y>=x, square, "
                             "divides-tile or divides-picture",
                             o->constraints[i]);
    }
    return STATUS_OK;
}

/* ---- axes that make lanes --------------------------------------------------------------- */

/* Values of an axis: given, default, or none. */
static size_t axis_values(const struct sweep_options *o, const char *name, const char *const **out)
{
    const struct sweep_axis *x = axis_find(o, name);
    if (!x)
        return 0;
    if (x->values) {
        *out = x->values;
        return x->count;
    }
    size_t n = 0;
    *out = axis_table[axis_index(name)].defaults;
    while ((*out)[n])
        n++;
    return n;
}

/* Settings that are all uint32_t or enumerations: no bytes but theirs. */
static bool settings_equal(const struct settings *a, const struct settings *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

enum status axes_lanes(struct arena *a, const struct sweep_options *o, const struct settings *own,
                       struct settings **out, size_t *count, struct error *err)
{
    struct settings *list = ARENA_NEW(a, struct settings);
    size_t n = 1;
    if (list)
        *list = *own;
    for (int axis = 0; axis < AXIS_COUNT && list; axis++) {
        const char *const *values;
        size_t value_count =
            axis_table[axis].lane ? axis_values(o, axis_table[axis].name, &values) : 0;
        if (value_count == 0)
            continue;
        if (n * value_count > LANES_MAX)
            return error_msg(err, STATUS_LIMIT,
                             "%zu modes, trees and programs: at most %d in a sweep",
                             n * value_count, LANES_MAX);
        struct settings *more = ARENA_ARRAY(a, struct settings, n * value_count);
        size_t kept = 0;
        for (size_t i = 0; i < n * value_count && more; i++) {
            struct settings l = list[i / value_count];
            bool seen = !axis_table[axis].lane(values[i % value_count], &l);
            for (size_t k = 0; k < kept; k++)
                seen = seen || settings_equal(&more[k], &l);
            if (!seen)
                more[kept++] = l;
        }
        list = more;
        n = kept;
    }
    if (!list)
        return error_msg(err, STATUS_MEMORY, "out of memory for the lanes of a sweep");
    *out = list;
    *count = n;
    return STATUS_OK;
}

/* ---- axes of a launch ------------------------------------------------------------------- */

struct pairs {
    uint32_t (*at)[2];
    size_t count, cap;
};

static bool pair_add(struct arena *a, struct pairs *p, uint32_t x, uint32_t y)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->at[i][0] == x && p->at[i][1] == y)
            return true;
    if (p->count == p->cap) {
        size_t cap = p->cap ? 2 * p->cap : 64;
        uint32_t(*more)[2] = arena_alloc(a, cap, sizeof *more, 0);
        if (!more)
            return false;
        if (p->count)
            memcpy(more, p->at, p->count * sizeof *more);
        p->at = more;
        p->cap = cap;
    }
    p->at[p->count][0] = x;
    p->at[p->count++][1] = y;
    return true;
}

/* Powers of two up to the first that covers the picture: what is beyond has idle items alone. Those
 * over the device's limits are in it, so that the report shows them refused. Then shapes that are
 * no powers of two, and the first size over the limit in one row. */
static bool work_groups_default(struct arena *a, const struct axis_context *c, struct pairs *p)
{
    static const uint32_t odd[][2] = {{3, 3},   {5, 7},  {7, 5},  {12, 8},
                                      {24, 10}, {31, 1}, {33, 3}, {48, 4}};
    bool ok = true;
    for (uint64_t y = 1; y < 2ull * c->job.height && y <= 65536; y *= 2)
        for (uint64_t x = 1; x < 2ull * c->job.width && x <= 65536; x *= 2)
            ok = ok && pair_add(a, p, (uint32_t)x, (uint32_t)y);
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++)
        ok = ok && pair_add(a, p, odd[i][0], odd[i][1]);
    uint32_t over = c->device.max_work_group;
    if (over && over < 65536)
        ok = ok && pair_add(a, p, over + 1, 1);
    return ok;
}

static enum status pair_axis(struct arena *a, const struct sweep_options *o,
                             const struct axis_context *c, const char *name, struct pairs *out,
                             struct error *err)
{
    const struct sweep_axis *x = axis_find(o, name);
    const char *const *values;
    bool groups = strcmp(name, "work-group") == 0;
    const uint32_t *own = groups ? c->job.set.launch.work_group : c->job.set.launch.tile;
    bool ok = true;
    if (!x) {
        ok = pair_add(a, out, own[0], own[1]);
    } else if (groups && !x->values) {
        ok = work_groups_default(a, c, out);
    } else {
        size_t n = axis_values(o, name, &values);
        for (size_t i = 0; i < n && ok; i++) {
            uint32_t v[2] = {c->job.width, c->job.height}; /* "all" */
            (void)read_pair(values[i], v);
            ok = pair_add(a, out, v[0], v[1]);
        }
    }
    return ok ? STATUS_OK : error_msg(err, STATUS_MEMORY, "out of memory for the axis %s", name);
}

static enum status batch_axis(struct arena *a, const struct sweep_options *o,
                              const struct axis_context *c, struct pairs *out, struct error *err)
{
    const char *const *values;
    size_t n = axis_values(o, "batch", &values);
    bool ok = n ? true : pair_add(a, out, c->job.set.launch.batch, 0);
    for (size_t i = 0; i < n && ok; i++) {
        uint32_t v = c->job.sample_count;
        const char *end;
        if (strcmp(values[i], "all") != 0)
            (void)read_u32(values[i], &end, &v);
        if (v > c->job.sample_count)
            v = c->job.sample_count; /* more in one launch than there are is all */
        ok = pair_add(a, out, v, 0);
    }
    return ok ? STATUS_OK : error_msg(err, STATUS_MEMORY, "out of memory for the axis batch");
}

static bool keeps(const struct sweep_options *o, const struct axis_context *c,
                  const struct settings *l)
{
    struct candidate k = {.set = *l, .job = &c->job};
    const uint32_t picture[2] = {c->job.width, c->job.height};
    for (int i = 0; i < 2; i++)
        k.tile[i] =
            l->launch.tile[i] && l->launch.tile[i] < picture[i] ? l->launch.tile[i] : picture[i];
    for (size_t i = 0; i < o->constraint_count; i++) {
        bool known;
        if (!satisfies(&k, o->constraints[i], &known))
            return false;
    }
    return true;
}

enum status axes_settings(struct arena *a, const struct sweep_options *o,
                          const struct axis_context *c, struct settings **out, size_t *count,
                          size_t *left_out, struct error *err)
{
    struct pairs groups = {0}, tiles = {0}, batches = {0};
    enum status st = pair_axis(a, o, c, "work-group", &groups, err);
    st = st ? st : pair_axis(a, o, c, "tile", &tiles, err);
    st = st ? st : batch_axis(a, o, c, &batches, err);
    if (st)
        return st;
    size_t all = groups.count * tiles.count;
    if (all > SETTINGS_MAX || all * batches.count > SETTINGS_MAX)
        return error_msg(err, STATUS_LIMIT, "%zu x %zu x %zu settings: at most %d", groups.count,
                         tiles.count, batches.count, SETTINGS_MAX);
    all *= batches.count;
    struct settings *list = ARENA_ARRAY(a, struct settings, all);
    size_t n = 0;
    if (!list)
        return error_msg(err, STATUS_MEMORY, "out of memory for %zu settings", all);
    for (size_t b = 0; b < batches.count; b++)
        for (size_t t = 0; t < tiles.count; t++)
            for (size_t g = 0; g < groups.count; g++) {
                struct settings l = c->job.set;
                memcpy(l.launch.work_group, groups.at[g], sizeof l.launch.work_group);
                memcpy(l.launch.tile, tiles.at[t], sizeof l.launch.tile);
                l.launch.batch = batches.at[b][0];
                if (keeps(o, c, &l))
                    list[n++] = l;
            }
    *out = list;
    *count = n;
    *left_out = all - n;
    return STATUS_OK;
}
