/* SPDX-License-Identifier: Apache-2.0 */
#include "snapshot.h"

#include <stdlib.h>
#include <string.h>

int text_order(const char *a, const char *b) { return strcmp(a ? a : "", b ? b : ""); }

static int u32_order(uint32_t a, uint32_t b) { return (a > b) - (a < b); }

int bench_key_order(const struct bench_record *a, const struct bench_record *b)
{
    int c = text_order(a->scene, b->scene);
    c = c ? c : text_order(a->mode, b->mode);
    c = c ? c : text_order(a->bvh, b->bvh);
    c = c ? c : text_order(a->model, b->model);
    c = c ? c : u32_order(a->width, b->width);
    c = c ? c : u32_order(a->height, b->height);
    c = c ? c : u32_order(a->spp, b->spp);
    c = c ? c : u32_order(a->max_depth, b->max_depth);
    c = c ? c : u32_order(a->work_group[0], b->work_group[0]);
    c = c ? c : u32_order(a->work_group[1], b->work_group[1]);
    c = c ? c : u32_order(a->tile[0], b->tile[0]);
    c = c ? c : u32_order(a->tile[1], b->tile[1]);
    return c ? c : u32_order(a->batch, b->batch);
}

/* ---- columns ---------------------------------------------------------------------------- */

struct loader {
    struct arena *a;
    struct snapshot *out;
    struct store *store; /* that is read just now */
    bool all_runs;
    /* of each store: its runs' ids, and where they stand in out->runs */
    struct store_runs {
        int64_t *ids;
        size_t *at, count;
    } * stores;
    const struct store_runs *runs; /* of the store that is read just now */
    /* which column a run's device id means */
    struct link {
        size_t run, column;
        const char *id;
    } * links;
    size_t link_count, link_cap;
    struct snapshot_column *columns; /* all, before hiding */
    size_t column_count, column_cap;
    size_t identity_cap;
    size_t *shown; /* column -> index in out->columns, or SIZE_MAX */
};

static enum status no_memory(struct error *err)
{
    return error_msg(err, STATUS_MEMORY, "out of memory for a report");
}

static size_t run_index(const struct loader *l, int64_t id)
{
    size_t lo = 0, hi = l->runs->count;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (l->runs->ids[mid] < id)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < l->runs->count && l->runs->ids[lo] == id ? l->runs->at[lo] : SIZE_MAX;
}

static bool same_device(const struct snapshot_column *a, const struct snapshot_column *b)
{
    return text_order(a->device.id, b->device.id) == 0 &&
           text_order(a->device.name, b->device.name) == 0 && text_order(a->host, b->host) == 0;
}

static bool same_variant(const struct snapshot_column *a, const struct snapshot_column *b)
{
    return same_device(a, b) && text_order(a->device.driver, b->device.driver) == 0 &&
           text_order(a->device.version, b->device.version) == 0 &&
           text_order(a->device.compiler, b->device.compiler) == 0;
}

/* A larger array in the arena: the old one is left behind, so growth doubles. */
static void *array_grow(struct arena *a, void *old, size_t count, size_t *cap, size_t size)
{
    if (count < *cap)
        return old;
    size_t wanted = *cap ? 2 * *cap : 16;
    void *p = arena_alloc(a, wanted, size, 0);
    if (p && count)
        memcpy(p, old, count * size);
    if (p)
        *cap = wanted;
    return p;
}

static enum status column_link(struct loader *l, size_t run, const struct device_record *d,
                               size_t *column, struct error *err)
{
    struct snapshot_column c = {.device = *d, .host = l->out->runs[run].host, .run = run};
    size_t at = 0;
    while (at < l->column_count && !same_variant(&l->columns[at], &c))
        at++;
    if (at == l->column_count) {
        if (d->detail && json_parse(l->a, "detail", d->detail, strlen(d->detail), &c.detail, NULL))
            c.detail = NULL;
        l->columns = array_grow(l->a, l->columns, l->column_count, &l->column_cap, sizeof c);
        if (!l->columns)
            return no_memory(err);
        l->columns[l->column_count++] = c;
    }
    if (l->columns[at].run <= run) {
        l->columns[at].run = run;
        l->columns[at].device = *d;
    }
    l->links = array_grow(l->a, l->links, l->link_count, &l->link_cap, sizeof *l->links);
    if (!l->links)
        return no_memory(err);
    l->columns[at].asked |= text_order(l->out->runs[run].record.kind, "conform") == 0;
    l->links[l->link_count++] = (struct link){.run = run, .column = at, .id = d->id};
    *column = at;
    return STATUS_OK;
}

/* The column of a device id in a run; one that has no device record gets a column with its id
 * alone. */
static enum status column_find(struct loader *l, size_t run, const char *id, size_t *column,
                               struct error *err)
{
    for (size_t i = l->link_count; i-- > 0;)
        if (l->links[i].run == run && strcmp(l->links[i].id, id) == 0) {
            *column = l->links[i].column;
            return STATUS_OK;
        }
    struct device_record bare = {.id = id};
    return column_link(l, run, &bare, column, err);
}

/* ---- rows ------------------------------------------------------------------------------- */

/* One record of cases, benches or images on its way: where it belongs and what makes it the same as
 * another. */
struct candidate {
    size_t column, run;
    uint64_t order;
    bool sweep;
    const void *record;
};

static int place_order(const struct candidate *a, const struct candidate *b)
{
    if (a->column != b->column)
        return a->column < b->column ? -1 : 1;
    return (int)a->sweep - (int)b->sweep;
}

static int case_same(const struct candidate *a, const struct candidate *b)
{
    const struct case_record *x = a->record, *y = b->record;
    int c = text_order(x->name, y->name);
    return c ? c : place_order(a, b);
}

static int bench_same(const struct candidate *a, const struct candidate *b)
{
    int c = place_order(a, b);
    return c ? c : bench_key_order(a->record, b->record);
}

static int image_same(const struct candidate *a, const struct candidate *b)
{
    const struct image_record *x = a->record, *y = b->record;
    int c = text_order(x->scene, y->scene);
    c = c ? c : text_order(x->mode, y->mode);
    c = c ? c : place_order(a, b);
    return c ? c : (int)x->kind - (int)y->kind;
}

typedef int same_function(const struct candidate *, const struct candidate *);

#define SORT_BY(name, same)                                                                        \
    static int name(const void *a, const void *b)                                                  \
    {                                                                                              \
        const struct candidate *x = a, *y = b;                                                     \
        int c = same(x, y);                                                                        \
        return c ? c : (x->order > y->order) - (x->order < y->order);                              \
    }
SORT_BY(case_sort, case_same)
SORT_BY(bench_sort, bench_same)
SORT_BY(image_sort, image_same)

static int order_sort(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    return (x->order > y->order) - (x->order < y->order);
}

static const struct {
    same_function *same;
    int (*sort)(const void *, const void *);
} row_kinds[RECORD_COUNT] = {
    [RECORD_CASE] = {case_same, case_sort},
    [RECORD_BENCH] = {bench_same, bench_sort},
    [RECORD_IMAGE] = {image_same, image_sort},
};

static const char *record_device(enum record_kind kind, const void *record)
{
    return kind == RECORD_CASE    ? ((const struct case_record *)record)->device
           : kind == RECORD_BENCH ? ((const struct bench_record *)record)->device
                                  : ((const struct image_record *)record)->device;
}

/* What reports show: all kinds from cases on but films, whose sums are for an audit. */
enum { SHOWN_FIRST = RECORD_CASE, SHOWN_END = RECORD_FILM };

struct rows {
    struct candidate *items;
    size_t count;
};

static enum status rows_read(struct loader *l, enum record_kind kind, struct rows *out,
                             struct error *err)
{
    void *data;
    int64_t *runs;
    size_t n;
    enum status st = store_read(l->store, l->a, kind, 0, &data, &runs, &n, err);
    if (st)
        return st;
    struct candidate *items = ARENA_ARRAY(l->a, struct candidate, out->count + n);
    if (!items)
        return no_memory(err);
    if (out->count)
        memcpy(items, out->items, out->count * sizeof *items);
    out->items = items;
    for (size_t i = 0; i < n; i++) {
        struct candidate c = {.record = (char *)data + i * record_layouts[kind].size};
        c.run = run_index(l, runs[i]);
        if (c.run == SIZE_MAX)
            continue; /* a stranger's file without its run: nothing to say about where it is from */
        c.order = ((uint64_t)c.run << 32) + i; /* the newest run's stands */
        c.sweep = text_order(l->out->runs[c.run].record.kind, "sweep") == 0;
        st = column_find(l, c.run, record_device(kind, c.record), &c.column, err);
        if (st)
            return st;
        out->items[out->count++] = c;
    }
    return STATUS_OK;
}

/* Two records of one thing that happened once: of runs with one beginning, command and host, with the
 * same seconds. What they say of it has to be the same; else somebody changed one of them. */
static const char *contradiction(const struct loader *l, enum record_kind kind,
                                 const struct candidate *a, const struct candidate *b)
{
    const struct run_record *x = &l->out->runs[a->run].record, *y = &l->out->runs[b->run].record;
    if (a->run == b->run || text_order(x->started_utc, y->started_utc) != 0 ||
        text_order(x->command, y->command) != 0)
        return NULL;
    if (kind == RECORD_CASE) {
        const struct case_record *c = a->record, *d = b->record;
        const bool once = text_order(c->identity, d->identity) == 0 &&
                          c->compile_s == d->compile_s && c->run_s == d->run_s;
        return once && (c->verdict != d->verdict || c->waived != d->waived ||
                        text_order(c->skip, d->skip) != 0 || text_order(c->rerun, d->rerun) != 0)
                   ? c->name
                   : NULL;
    }
    if (kind == RECORD_BENCH) {
        const struct bench_record *c = a->record, *d = b->record;
        const bool once = text_order(c->identity, d->identity) == 0 &&
                          text_order(c->detail, d->detail) == 0 &&
                          text_order(c->phases, d->phases) == 0;
        return once && (c->verdict != d->verdict || c->samples_per_s != d->samples_per_s) ? c->scene
                                                                                          : NULL;
    }
    return NULL;
}

/* Of n rows, sorted. */
static enum status rows_agree(const struct loader *l, enum record_kind kind,
                              const struct candidate *items, size_t n, struct error *err)
{
    for (size_t first = 0, i = 0; i < n; i++) {
        if (row_kinds[kind].same(&items[first], &items[i]) != 0)
            first = i;
        for (size_t k = first; k < i; k++) {
            const char *what = contradiction(l, kind, &items[k], &items[i]);
            if (what)
                return error_msg(err, STATUS_MISMATCH,
                                 "the run that began at %s is here twice, and its two records of "
                                 "%.100s differ: one of them was changed",
                                 l->out->runs[items[i].run].record.started_utc, what);
        }
    }
    return STATUS_OK;
}

/* A case's newest record, of n of it. One key asks one question: where a run before gave the other verdict by it, that is
 * told as reruns that differ are, or whoever tries until it passes would be believed. */
static enum status case_newest(const struct loader *l, const struct candidate *items, size_t n,
                               struct candidate *out, struct error *err)
{
    *out = items[n - 1];
    const struct case_record *newest = out->record;
    const struct snapshot_run *runs = l->out->runs;
    for (size_t i = n - 1; i-- > 0;) {
        const struct case_record *c = items[i].record;
        if (!newest->identity || text_order(c->identity, newest->identity) != 0 ||
            c->verdict == newest->verdict ||
            (c->verdict != VERDICT_PASS && c->verdict != VERDICT_FAIL) ||
            (newest->verdict != VERDICT_PASS && newest->verdict != VERDICT_FAIL))
            continue;
        struct case_record *told = ARENA_NEW(l->a, struct case_record);
        if (!told)
            return no_memory(err);
        *told = *newest;
        told->rerun = rerun_name(RERUN_DIFFERED);
        told->reason = arena_printf(
            l->a, "%s in the run of %s, %s in the run of %s, by one key%s%s",
            verdict_name(c->verdict), runs[items[i].run].record.started_utc,
            verdict_name(newest->verdict), runs[out->run].record.started_utc,
            newest->reason && newest->reason[0] ? ": " : "", newest->reason ? newest->reason : "");
        if (!told->reason)
            return no_memory(err);
        out->record = told;
        return STATUS_OK;
    }
    return STATUS_OK;
}

/* Drops rows of hidden columns and all but the newest of each key; the rest stands in sorted order.
 */
static enum status rows_reduce(const struct loader *l, enum record_kind kind, struct rows *r,
                               struct error *err)
{
    size_t n = 0;
    for (size_t i = 0; i < r->count; i++)
        if (l->shown[r->items[i].column] != SIZE_MAX) {
            r->items[n] = r->items[i];
            r->items[n++].column = l->shown[r->items[i].column];
        }
    l->out->hidden += r->count - n;
    if (n)
        qsort(r->items, n, sizeof *r->items, row_kinds[kind].sort);
    TRY(rows_agree(l, kind, r->items, n, err));
    size_t kept = 0;
    for (size_t first = 0, i = 0; i < n; i++) {
        if (i + 1 < n && row_kinds[kind].same(&r->items[i], &r->items[i + 1]) == 0)
            continue;
        struct candidate newest = r->items[i];
        if (kind == RECORD_CASE)
            TRY(case_newest(l, &r->items[first], i + 1 - first, &newest, err));
        r->items[kept++] = newest;
        first = i + 1;
    }
    r->count = kept;
    if (kind == RECORD_BENCH && kept)
        qsort(r->items, kept, sizeof *r->items, order_sort);
    for (size_t i = 0; i < kept; i++)
        l->out->runs[r->items[i].run].shown = true;
    return STATUS_OK;
}

/* ---- hiding and naming columns ---------------------------------------------------------- */

static enum status columns_show(struct loader *l, struct error *err)
{
    l->shown = ARENA_ARRAY(l->a, size_t, l->column_count);
    l->out->columns = ARENA_ARRAY(l->a, struct snapshot_column, l->column_count);
    if (!l->shown || !l->out->columns)
        return no_memory(err);
    for (size_t i = 0; i < l->column_count; i++) {
        bool newest = true;
        for (size_t k = 0; k < l->column_count; k++)
            if (k != i && same_device(&l->columns[i], &l->columns[k]) &&
                (l->columns[k].run > l->columns[i].run ||
                 (l->columns[k].run == l->columns[i].run && k > i)))
                newest = false;
        l->shown[i] = SIZE_MAX;
        if (newest || l->all_runs) {
            l->shown[i] = l->out->column_count;
            l->out->columns[l->out->column_count++] = l->columns[i];
        }
    }
    return STATUS_OK;
}

static bool label_taken(const struct snapshot *s, size_t i)
{
    for (size_t k = 0; k < s->column_count; k++)
        if (k != i && strcmp(s->columns[k].label, s->columns[i].label) == 0)
            return true;
    return false;
}

/* A device's own name and driver; where that is not enough with id, version, compiler, host, and at
 * last the column's number. */
static enum status columns_name(struct arena *a, struct snapshot *s, struct error *err)
{
    bool *taken = ARENA_ARRAY(a, bool, s->column_count);
    if (!taken)
        return no_memory(err);
    for (size_t i = 0; i < s->column_count; i++) {
        const struct device_record *d = &s->columns[i].device;
        const bool named = d->name && d->name[0], driven = d->driver && d->driver[0];
        s->columns[i].label = !named   ? d->id
                              : driven ? arena_printf(a, "%s, %s", d->name, d->driver)
                                       : d->name;
        if (!s->columns[i].label)
            return no_memory(err);
    }
    for (int step = 0; step < 5; step++) {
        for (size_t i = 0; i < s->column_count; i++)
            taken[i] = label_taken(s, i);
        for (size_t i = 0; i < s->column_count; i++) {
            const struct snapshot_column *c = &s->columns[i];
            char number[24];
            snprintf(number, sizeof number, "#%zu", i + 1);
            const char *more[] = {c->device.id, c->device.version, c->device.compiler, c->host,
                                  number};
            if (!taken[i] || !more[step] || !more[step][0] || strcmp(more[step], c->label) == 0)
                continue;
            s->columns[i].label = arena_printf(a, "%s, %s", c->label, more[step]);
            if (!s->columns[i].label)
                return no_memory(err);
        }
    }
    return STATUS_OK;
}

/* ---- the whole -------------------------------------------------------------------------- */

static const struct json *parsed(struct arena *a, const char *text)
{
    const struct json *v = NULL;
    if (!text || json_parse(a, "detail", text, strlen(text), &v, NULL) || v->type != JSON_OBJECT)
        return NULL;
    return v;
}

/* A run of one of the stores on its way to its place. */
struct placed_run {
    const struct run_record *record;
    const char *when;
    size_t store, index;
};

/* Runs of several stores stand by their time, those of one as they were added: where a clock was set back, a run
 * counts as begun with the one before it. */
static int placed_order(const void *a, const void *b)
{
    const struct placed_run *x = a, *y = b;
    int c = text_order(x->when, y->when);
    c = c ? c : (x->store > y->store) - (x->store < y->store);
    return c ? c : (x->index > y->index) - (x->index < y->index);
}

static void run_fill(struct loader *l, const struct run_record *record, struct snapshot_run *r)
{
    r->record = *record;
    const char *env = record->environment;
    if (env && json_parse(l->a, "environment", env, strlen(env), &r->environment, NULL))
        r->environment = NULL;
    const struct json *host = r->environment && r->environment->type == JSON_OBJECT
                                  ? json_get(r->environment, "host")
                                  : NULL;
    r->host = host && host->type == JSON_STRING ? host->string : "";
    r->selection = parsed(l->a, record->selection);
}

static enum status runs_load(struct loader *l, struct store *const *stores, size_t count,
                             struct error *err)
{
    struct placed_run *all = NULL;
    size_t total = 0, cap = 0;
    l->stores = ARENA_ARRAY(l->a, struct store_runs, count);
    if (!l->stores)
        return no_memory(err);
    for (size_t k = 0; k < count; k++) {
        struct store_runs *r = &l->stores[k];
        void *data;
        TRY(store_read(stores[k], l->a, RECORD_RUN, 0, &data, &r->ids, &r->count, err));
        const struct run_record *records = data;
        if (!(r->at = ARENA_ARRAY(l->a, size_t, r->count)))
            return no_memory(err);
        const char *latest = NULL;
        for (size_t i = 0; i < r->count; i++) {
            if (text_order(records[i].started_utc, latest) > 0)
                latest = records[i].started_utc;
            if (!(all = array_grow(l->a, all, total, &cap, sizeof *all)))
                return no_memory(err);
            all[total++] = (struct placed_run){&records[i], latest, k, i};
        }
    }
    if (count > 1 && total)
        qsort(all, total, sizeof *all, placed_order);
    l->out->runs = ARENA_ARRAY(l->a, struct snapshot_run, total);
    if (!l->out->runs)
        return no_memory(err);
    for (size_t i = 0; i < total; i++) {
        l->stores[all[i].store].at[all[i].index] = i;
        run_fill(l, all[i].record, &l->out->runs[i]);
        l->out->runs[i].store = all[i].store;
    }
    l->out->run_count = total;
    return STATUS_OK;
}

/* What identities the stores have; inner ones before what names them. */
static enum status identities_load(struct loader *l, struct error *err)
{
    void *data;
    size_t n;
    TRY(store_read(l->store, l->a, RECORD_IDENTITY, 0, &data, NULL, &n, err));
    const struct identity_record *records = data;
    for (size_t i = 0; i < n; i++) {
        const struct json *parts = parsed(l->a, records[i].parts);
        const struct identity *id;
        struct snapshot *s = l->out;
        if (!parts || identity_find(s->identities, s->identity_count, records[i].key))
            continue;
        enum status st = identity_read(l->a, "parts", records[i].kind, records[i].key, parts,
                                       s->identities, s->identity_count, &id, err);
        if (st == STATUS_TYPE)
            continue; /* a stranger's: it identifies nothing */
        if (st)
            return st;
        s->identities = array_grow(l->a, (void *)s->identities, s->identity_count, &l->identity_cap,
                                   sizeof *s->identities);
        if (!s->identities)
            return no_memory(err);
        s->identities[s->identity_count++] = id;
    }
    return STATUS_OK;
}

/* ---- kinds of numbers: of a host, and no device's -------------------------------------------- */

static enum status formats_read(struct loader *l, struct rows *out, struct error *err)
{
    void *data;
    int64_t *runs;
    size_t n;
    TRY(store_read(l->store, l->a, RECORD_NUMBER_FORMAT, 0, &data, &runs, &n, err));
    const struct number_format_record *records = data;
    struct candidate *items = ARENA_ARRAY(l->a, struct candidate, out->count + n);
    if (!items)
        return no_memory(err);
    if (out->count)
        memcpy(items, out->items, out->count * sizeof *items);
    out->items = items;
    for (size_t i = 0; i < n; i++) {
        struct candidate c = {.record = &records[i], .run = run_index(l, runs[i])};
        if (c.run == SIZE_MAX)
            continue;
        c.order = ((uint64_t)c.run << 32) + i;
        while (text_order(l->out->runs[c.column].host, l->out->runs[c.run].host) != 0)
            c.column++; /* the first run of that host */
        items[out->count++] = c;
    }
    return STATUS_OK;
}

static int format_same(const struct candidate *a, const struct candidate *b)
{
    const struct number_format_record *x = a->record, *y = b->record;
    int c = (a->column > b->column) - (a->column < b->column);
    c = c ? c : text_order(x->scene, y->scene);
    c = c ? c : u32_order(x->width, y->width);
    c = c ? c : u32_order(x->height, y->height);
    c = c ? c : u32_order(x->spp, y->spp);
    c = c ? c : u32_order(x->max_depth, y->max_depth);
    c = c ? c : u32_order(x->bits, y->bits);
    return c ? c : text_order(x->format, y->format);
}
SORT_BY(format_sort, format_same)

static enum status formats_keep(struct loader *l, const struct rows *rows, struct error *err)
{
    struct snapshot *s = l->out;
    s->formats = ARENA_ARRAY(l->a, struct snapshot_number_format, rows->count);
    if (!s->formats)
        return no_memory(err);
    if (rows->count)
        qsort(rows->items, rows->count, sizeof *rows->items, format_sort);
    for (size_t i = 0; i < rows->count; i++) {
        const struct candidate *c = &rows->items[i];
        if (i + 1 < rows->count && format_same(c, c + 1) == 0)
            continue;
        s->formats[s->format_count++] =
            (struct snapshot_number_format){.record = c->record, .run = c->run};
        s->runs[c->run].shown = true;
    }
    return STATUS_OK;
}

static enum status devices_load(struct loader *l, struct error *err)
{
    void *data;
    int64_t *runs;
    size_t n;
    enum status st = store_read(l->store, l->a, RECORD_DEVICE, 0, &data, &runs, &n, err);
    const struct device_record *records = data;
    for (size_t i = 0; i < n && !st; i++) {
        size_t run = run_index(l, runs[i]), column;
        if (run != SIZE_MAX)
            st = column_link(l, run, &records[i], &column, err);
    }
    return st;
}

static enum status matrix_make(struct arena *a, struct snapshot *s, struct error *err)
{
    s->names = ARENA_ARRAY(a, const char *, s->case_count);
    if (!s->names)
        return no_memory(err);
    for (size_t i = 0; i < s->case_count; i++)
        if (i == 0 || strcmp(s->cases[i].record->name, s->cases[i - 1].record->name) != 0)
            s->names[s->name_count++] = s->cases[i].record->name;
    s->matrix = ARENA_ARRAY(a, const struct snapshot_case *, s->name_count * s->column_count);
    if (!s->matrix)
        return no_memory(err);
    size_t name = 0;
    for (size_t i = 0; i < s->case_count; i++) {
        const struct snapshot_case *c = &s->cases[i];
        if (strcmp(s->names[name], c->record->name) != 0)
            name++;
        s->matrix[name * s->column_count + c->column] = c;
        if (case_is_code_object(c->record->name))
            continue; /* no device was judged */
        struct snapshot_column *column = &s->columns[c->column];
        column->count[c->record->verdict]++;
        column->waived += c->record->waived && c->record->verdict != VERDICT_PASS;
        column->cases++;
    }
    return STATUS_OK;
}

static enum status rows_keep(struct loader *l, const struct rows *rows, struct error *err)
{
    struct snapshot *s = l->out;
    const struct rows *c = &rows[RECORD_CASE], *b = &rows[RECORD_BENCH], *m = &rows[RECORD_IMAGE];
    s->cases = ARENA_ARRAY(l->a, struct snapshot_case, c->count);
    s->benches = ARENA_ARRAY(l->a, struct snapshot_bench, b->count);
    s->images = ARENA_ARRAY(l->a, struct snapshot_image, m->count);
    if (!s->cases || !s->benches || !s->images)
        return no_memory(err);
    for (size_t i = 0; i < c->count; i++)
        s->cases[s->case_count++] = (struct snapshot_case){
            .record = c->items[i].record, .column = c->items[i].column, .run = c->items[i].run};
    for (size_t i = 0; i < b->count; i++) {
        const struct bench_record *r = b->items[i].record;
        s->benches[s->bench_count++] = (struct snapshot_bench){.record = r,
                                                               .phases = parsed(l->a, r->phases),
                                                               .detail = parsed(l->a, r->detail),
                                                               .column = b->items[i].column,
                                                               .run = b->items[i].run,
                                                               .sweep = b->items[i].sweep};
    }
    for (size_t i = 0; i < m->count; i++)
        s->images[s->image_count++] = (struct snapshot_image){
            .record = m->items[i].record, .column = m->items[i].column, .run = m->items[i].run};
    return matrix_make(l->a, s, err);
}

bool case_is_code_object(const char *name)
{
    static const char prefix[] = "code-object.";
    return strncmp(name, prefix, sizeof prefix - 1) == 0;
}

static const char *string_at(const struct json *v, const char *key)
{
    const struct json *c = v ? json_get(v, key) : NULL;
    return c && c->type == JSON_STRING ? c->string : NULL;
}

/* The program that made a case's result; NULL: it is not told. */
static const struct identity *program_of(const struct snapshot *s, const struct case_record *c)
{
    const struct identity *id =
        c->identity ? identity_find(s->identities, s->identity_count, c->identity) : NULL;
    for (size_t i = 0; id && i < id->count; i++)
        if (id->parts[i].of && strcmp(id->parts[i].of->kind, "program") == 0)
            return id->parts[i].of;
    return NULL;
}

/* Of one text, whoever built it; of trees with changes that no commit has, the same bytes. */
static bool same_program(const struct identity *a, const struct identity *b)
{
    static const char *const text[] = {"version", "commit", "dirty", "kernel", "protocol"};
    if (!a || !b || strcmp(a->key, b->key) == 0)
        return true;
    for (size_t i = 0; i < a->count; i++) {
        const char *name = a->parts[i].name, *other = NULL;
        bool counts = false;
        for (size_t k = 0; k < sizeof text / sizeof *text; k++)
            counts = counts || strcmp(name, text[k]) == 0;
        for (size_t k = 0; k < b->count; k++)
            if (strcmp(b->parts[k].name, name) == 0)
                other = b->parts[k].value;
        if (counts && text_order(a->parts[i].value, other) != 0)
            return false;
        if (counts && strcmp(name, "dirty") == 0 && strcmp(a->parts[i].value, "no") != 0)
            return false; /* their keys differ */
    }
    return true;
}

/* The list of the newest run that has one, whether all the runs had it, and what of it was judged,
 * where. */
static void list_count(struct snapshot *s)
{
    s->same_list = true;
    for (size_t i = s->run_count; i-- > 0;) {
        const struct json *selection = s->runs[i].shown ? s->runs[i].selection : NULL;
        const char *list = string_at(selection, "list"), *hash = string_at(selection, "hash");
        const struct json *cases = selection ? json_get(selection, "cases") : NULL;
        if (!list || !hash || !cases || !cases->is_integer || cases->integer < 0) {
            s->same_list = s->same_list && !(s->runs[i].shown &&
                                             text_order(s->runs[i].record.kind, "conform") == 0);
            continue;
        }
        if (!s->list) {
            s->list = list;
            s->list_hash = hash;
            s->list_cases = (size_t)cases->integer;
        } else if (strcmp(hash, s->list_hash) != 0) {
            s->same_list = false;
        }
    }
    for (size_t n = 0; n < s->name_count; n++) {
        bool judged = false, listed = false;
        for (size_t c = 0; c < s->column_count; c++) {
            const struct snapshot_case *x = s->matrix[n * s->column_count + c];
            if (!x || case_is_code_object(s->names[n]))
                continue;
            struct snapshot_column *column = &s->columns[c];
            const struct outcome o = outcome_of_case(x->record);
            outcome_add(&column->outcomes, &o);
            column->listed += x->record->listed;
            const struct identity *program = x->record->listed ? program_of(s, x->record) : NULL;
            column->program = column->program ? column->program : program;
            column->mixed = column->mixed || !same_program(column->program, program);
            column->forgiven += o.counts == COUNTS_NEUTRAL && x->record->verdict != VERDICT_SKIP;
            column->unexplained += x->record->listed && x->record->verdict == VERDICT_SKIP &&
                                   text_order(x->record->skip, "expected") != 0;
            listed = listed || x->record->listed;
            judged = judged || o.judged;
        }
        s->judged += judged;
        s->judged_listed += judged && listed;
    }
    for (size_t c = 0; c < s->column_count; c++) {
        struct snapshot_column *column = &s->columns[c];
        column->whole = s->list && s->same_list && s->list_cases > 0 &&
                        column->listed == s->list_cases && !column->mixed;
        s->mixed = s->mixed || column->mixed;
        column->conformant = column->whole && column->unexplained == 0 && column->forgiven == 0 &&
                             outcome_end(&column->outcomes) == RUN_GREEN;
    }
}

/* One store's devices, identities and rows. */
static enum status store_load(struct loader *l, struct rows rows[RECORD_COUNT], struct error *err)
{
    TRY(devices_load(l, err));
    TRY(identities_load(l, err));
    for (int k = SHOWN_FIRST; k < SHOWN_END; k++)
        TRY(rows_read(l, (enum record_kind)k, &rows[k], err));
    return formats_read(l, &rows[RECORD_NUMBER_FORMAT], err);
}

enum status snapshot_load(struct store *const *stores, size_t count, struct arena *a, bool all_runs,
                          struct snapshot *out, struct error *err)
{
    struct snapshot snap = {0};
    struct loader l = {.a = a, .out = &snap, .all_runs = all_runs};
    struct rows rows[RECORD_COUNT] = {0};
    enum status st = STATUS_OK;
    size_t begun = 0;
    while (begun < count && !st)
        if (!(st = store_begin_read(stores[begun], err)))
            begun++;
    if (!st)
        st = runs_load(&l, stores, count, err);
    for (size_t i = 0; i < count && !st; i++) {
        l.store = stores[i];
        l.runs = &l.stores[i];
        st = store_load(&l, rows, err);
    }
    while (begun > 0)
        store_rollback(stores[--begun]);
    if (!st)
        st = columns_show(&l, err);
    for (int k = SHOWN_FIRST; k < SHOWN_END && !st; k++)
        st = rows_reduce(&l, (enum record_kind)k, &rows[k], err);
    if (!st)
        st = columns_name(a, &snap, err);
    if (!st)
        st = rows_keep(&l, rows, err);
    if (!st)
        st = formats_keep(&l, &rows[RECORD_NUMBER_FORMAT], err);
    if (!st)
        list_count(&snap);
    if (!st)
        *out = snap;
    return st;
}
