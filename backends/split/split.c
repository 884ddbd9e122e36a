/* SPDX-License-Identifier: Apache-2.0 */
/* Several devices render one picture: bands as high as a work-group go to the members in turn, so
 * that each pixel has one owner and strict bits cannot depend on the split. A member gets all its
 * bands in one launch (K_ROW), so they may be fine. At first shares are equal; from the third
 * picture on they are as the members' rates were in the second (in the first, drivers still
 * compile). Every member is driven by a thread of its own. */
#include "front/device.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Bands that shares are divided into: the finer, the closer to the rates; yet they must come often
 * enough in a picture to even out what rows cost. */
enum { BANDS_MOST = 64, PERIODS_LEAST = 2, MEMBERS_MAX = 16 };

struct member {
    char id[sizeof((struct device_info *)0)->id];
    const struct backend_api *api;
    struct backend *backend;
    enum status status; /* of the call under way, with its error, time and result */
    struct error error;
    double device_s;
    uint64_t bytes;
    struct build_info build;
    int64_t *sums;
    uint32_t share;   /* bands of every period; 0: it is too slow to get one */
    uint64_t samples; /* of the picture under way, and the seconds that it spent on them */
    double busy_s;
};

struct backend {
    struct member members[MEMBERS_MAX];
    size_t count;
    enum math_mode mode;
    uint32_t band;          /* rows; 0 before the first launch after film_begin */
    uint32_t width, height; /* of the picture */
    unsigned pictures;      /* finished with this scene and program */
};

/* ---- ids ------------------------------------------------------------------------------------ */

/* Copies the next of the parts between '+'; where the rest begins, NULL after the last. */
static const char *part_next(const char *from, char *part, size_t size)
{
    size_t n = strcspn(from, "+");
    snprintf(part, size, "%.*s", (int)n, from);
    return from[n] == '+' ? from + n + 1 : NULL;
}

static uint64_t least(uint64_t a, uint64_t b) { return a && (!b || a < b) ? a : b; } /* 0: none */

static void info_join(struct device_info *all, const struct device_info *one, size_t count)
{
    if (count == 0) {
        *all = *one;
        snprintf(all->api, sizeof all->api, "split");
        return;
    }
    size_t used = strlen(all->id);
    snprintf(all->id + used, sizeof all->id - used, "+%s", one->id);
    used = strlen(all->name);
    snprintf(all->name + used, sizeof all->name - used, " + %s", one->name);
    if (strcmp(all->driver, one->driver) != 0)
        snprintf(all->driver, sizeof all->driver, "several");
    if (strcmp(all->vendor, one->vendor) != 0)
        snprintf(all->vendor, sizeof all->vendor, "several");
    if (all->kind != one->kind)
        all->kind = DEVICE_OTHER;
    all->compute_units += one->compute_units;
    all->max_work_group = (uint32_t)least(all->max_work_group, one->max_work_group);
    for (int i = 0; i < 2; i++)
        all->max_work_group_axis[i] =
            (uint32_t)least(all->max_work_group_axis[i], one->max_work_group_axis[i]);
    all->global_bytes = least(all->global_bytes, one->global_bytes);
    all->max_alloc_bytes = least(all->max_alloc_bytes, one->max_alloc_bytes);
    all->test_only = all->test_only || one->test_only;
}

/* Fails: as device_find; ARG (more than MEMBERS_MAX, or one twice). */
static enum status describe(const char *id, struct device_info *out, struct error *err)
{
    struct device_info all = {0}, one[MEMBERS_MAX];
    char part[256];
    size_t count = 0;
    for (const char *rest = id; rest; count++) {
        if (count == MEMBERS_MAX)
            return error_msg(err, STATUS_ARG, "%s: at most %d devices render together", id,
                             MEMBERS_MAX);
        rest = part_next(rest, part, sizeof part);
        if (!*part)
            return error_msg(err, STATUS_ARG, "%s: no device is named %s a '+'", id,
                             rest ? "before" : "behind");
        enum status st = device_find(part, &one[count], err);
        if (st)
            return st;
        for (size_t i = 0; i < count; i++)
            if (strcmp(one[i].id, one[count].id) == 0)
                return error_msg(err, STATUS_ARG, "%s: %s stands there twice", id, one[i].id);
        if (strlen(all.id) + strlen(one[count].id) + 2 > sizeof all.id)
            return error_msg(err, STATUS_ARG, "%s: the names are longer than %zu characters", id,
                             sizeof all.id - 1);
        info_join(&all, &one[count], count);
    }
    *out = all;
    return STATUS_OK;
}

static enum status enumerate(void (*found)(void *ctx, const struct device_info *),
                             void (*problem)(void *ctx, const char *text), void *ctx,
                             struct error *err)
{
    (void)found; /* combinations are named, not listed */
    (void)problem;
    (void)ctx;
    (void)err;
    return STATUS_OK;
}

/* ---- all members at once -------------------------------------------------------------------- */

typedef void member_call(struct backend *b, struct member *m, void *argument);

struct call {
    struct backend *b;
    struct member *member;
    member_call *run;
    void *argument;
    pthread_t thread;
};
static void *call_run(void *ctx)
{
    struct call *c = ctx;
    c->run(c->b, c->member, c->argument);
    return NULL;
}

/* Calls run(b, member, argument) for each member at the same time, the first on this thread. The
 * first failure, with the member's name. Not parallel_for: a member may use that itself. */
static enum status members_call(struct backend *b, member_call *run, void *argument,
                                struct error *err)
{
    struct call calls[MEMBERS_MAX];
    bool started[MEMBERS_MAX] = {false};
    for (size_t i = 0; i < b->count; i++) {
        b->members[i].status = STATUS_OK;
        calls[i] = (struct call){b, &b->members[i], run, argument, 0};
        started[i] = i > 0 && pthread_create(&calls[i].thread, NULL, call_run, &calls[i]) == 0;
    }
    for (size_t i = 0; i < b->count; i++)
        if (!started[i])
            call_run(&calls[i]);
    for (size_t i = 0; i < b->count; i++)
        if (started[i])
            pthread_join(calls[i].thread, NULL);
    for (size_t i = 0; i < b->count; i++) {
        const struct member *m = &b->members[i];
        if (m->status == STATUS_OK)
            continue;
        enum status st = error_msg(err, m->status, "%s: %s", m->id, m->error.msg);
        if (err)
            err->native = m->error.native;
        return st;
    }
    return STATUS_OK;
}

static void split_close(struct backend *b)
{
    if (!b)
        return;
    for (size_t i = 0; i < b->count; i++)
        b->members[i].api->close(b->members[i].backend);
    free(b);
}

static enum status split_open(const struct device_info *info, struct backend **out,
                              struct error *err)
{
    struct backend *b = calloc(1, sizeof *b);
    if (!b)
        return error_msg(err, STATUS_MEMORY, "out of memory for devices");
    char part[256];
    enum status st = STATUS_OK;
    for (const char *rest = info->id; rest && st == STATUS_OK && b->count < MEMBERS_MAX;) {
        struct device_info one;
        struct member *m = &b->members[b->count];
        rest = part_next(rest, part, sizeof part);
        st = device_find(part, &one, err);
        if (st)
            break;
        memcpy(m->id, one.id, sizeof m->id);
        m->api = backend_of_id(one.id);
        st = m->api->open(&one, &m->backend, err);
        if (st == STATUS_OK)
            b->count++;
    }
    if (st) {
        split_close(b);
        return st;
    }
    *out = b;
    return STATUS_OK;
}

static enum bvh_kind preferred_bvh(const struct backend *b)
{
    return b->members[0].api->preferred_bvh(b->members[0].backend);
}

/* A new scene or program: rates are not known. */
static void shares_forget(struct backend *b)
{
    b->pictures = 0;
    for (size_t i = 0; i < b->count; i++) {
        b->members[i].share = 1;
        b->members[i].samples = 0;
        b->members[i].busy_s = 0;
    }
}

static uint32_t common_divisor(uint32_t a, uint32_t b) { return b ? common_divisor(b, a % b) : a; }

/* Shares as the members' rates in the picture before. */
static void shares_learn(struct backend *b)
{
    double rate[MEMBERS_MAX], sum = 0;
    uint32_t bands = b->height / (PERIODS_LEAST * b->band), divisor = 0;
    bands = bands > BANDS_MOST ? BANDS_MOST : bands;
    if (bands < b->count)
        return;
    for (size_t i = 0; i < b->count; i++) {
        if (!(b->members[i].busy_s > 0))
            return;
        rate[i] = (double)b->members[i].samples / b->members[i].busy_s;
        sum += rate[i];
    }
    for (size_t i = 0; i < b->count; i++) {
        b->members[i].share = (uint32_t)lround(bands * rate[i] / sum);
        divisor = common_divisor(b->members[i].share, divisor);
    }
    for (size_t i = 0; i < b->count; i++)
        b->members[i].share /= divisor; /* not 0: the fastest member has at least one */
}

static void upload_one(struct backend *b, struct member *m, void *argument)
{
    (void)b;
    m->status = m->api->upload(m->backend, argument, &m->bytes, &m->error);
}
static enum status split_upload(struct backend *b, const struct scene_buffers *buffers,
                                uint64_t *device_bytes, struct error *err)
{
    struct scene_buffers all = *buffers;
    shares_forget(b);
    enum status st = members_call(b, upload_one, &all, err);
    *device_bytes = 0;
    for (size_t i = 0; i < b->count; i++)
        *device_bytes += b->members[i].bytes;
    return st;
}

static void build_one(struct backend *b, struct member *m, void *argument)
{
    const struct program_request *request = argument;
    (void)b;
    memset(&m->build, 0, sizeof m->build);
    m->status = m->api->build(m->backend, request, &m->build, &m->error);
}
static enum status split_build(struct backend *b, const struct program_request *request,
                               struct build_info *info, struct error *err)
{
    struct program_request all = *request;
    double start = clock_s();
    shares_forget(b);
    enum status st = members_call(b, build_one, &all, err);
    *info = b->members[0].build;
    info->compile_s = clock_s() - start;
    for (size_t i = 0; i < b->count; i++)
        info->cached = info->cached && b->members[i].build.cached;
    b->mode = request->mode;
    return st;
}

static void split_request(struct backend *b, const struct program_request *request)
{
    shares_forget(b);
    for (size_t i = 0; i < b->count; i++)
        b->members[i].api->request(b->members[i].backend, request);
    b->mode = request->mode;
}

/* ---- pictures ------------------------------------------------------------------------------- */

struct film_call {
    size_t pixels;
    bool poison;
};
static void film_begin_one(struct backend *b, struct member *m, void *argument)
{
    const struct film_call *f = argument;
    (void)b;
    m->status = m->api->film_begin(m->backend, f->pixels, f->poison, &m->error);
}
static enum status split_film_begin(struct backend *b, size_t pixels, bool poison,
                                    struct error *err)
{
    struct film_call f = {pixels, poison};
    bool whole = b->band > 0;
    for (size_t i = 0; i < b->count; i++)
        whole = whole && (b->members[i].samples > 0 || b->members[i].share == 0);
    if (whole && ++b->pictures == 2)
        shares_learn(b);
    for (size_t i = 0; i < b->count; i++) {
        b->members[i].samples = 0;
        b->members[i].busy_s = 0;
    }
    b->band = 0;
    return members_call(b, film_begin_one, &f, err);
}

/* Rows of every period, and those of a member: rows_own of them from rows_from on. */
static void rows_of(const struct backend *b, const struct member *m, struct k_launch *l)
{
    l->rows_all = 0;
    for (size_t i = 0; i < b->count; i++) {
        if (&b->members[i] == m)
            l->rows_from = l->rows_all;
        l->rows_all += b->members[i].share * b->band;
    }
    l->rows_own = m->share * b->band;
}

/* How many of a member's rows are above row y. */
static uint32_t rows_above(const struct k_launch *l, uint32_t y)
{
    uint32_t rest = y % l->rows_all, in = rest < l->rows_from ? 0 : rest - l->rows_from;
    return y / l->rows_all * l->rows_own + (in < l->rows_own ? in : l->rows_own);
}

struct launch_call {
    enum kernel_entry entry;
    const struct k_launch *launch;
    const uint32_t *grid, *work_group;
};
/* The member's rows of a tile. */
static void launch_one(struct backend *b, struct member *m, void *argument)
{
    const struct launch_call *c = argument;
    struct k_launch l = *c->launch;
    rows_of(b, m, &l);
    if (l.rows_own == 0)
        return;
    l.tile_y = rows_above(&l, c->launch->tile_y);
    l.tile_h = rows_above(&l, c->launch->tile_y + c->launch->tile_h) - l.tile_y;
    if (l.tile_h == 0)
        return;
    uint32_t wg = c->work_group[1];
    const uint32_t grid[2] = {c->grid[0], (l.tile_h + wg - 1) / wg * wg};
    double start = clock_s();
    m->status = m->api->launch(m->backend, c->entry, &l, grid, c->work_group, &m->error);
    m->busy_s += clock_s() - start;
    if (c->entry == ENTRY_RENDER || c->entry == ENTRY_START)
        m->samples += (uint64_t)l.tile_w * l.tile_h * l.sample_count;
}
static enum status split_launch(struct backend *b, enum kernel_entry entry,
                                const struct k_launch *launch, const uint32_t grid[2],
                                const uint32_t work_group[2], struct error *err)
{
    b->band = work_group[1];
    b->width = launch->width;
    b->height = launch->height;
    struct launch_call c = {entry, launch, grid, work_group};
    return members_call(b, launch_one, &c, err);
}

static void finish_one(struct backend *b, struct member *m, void *argument)
{
    (void)b;
    (void)argument;
    double start = clock_s();
    m->status = m->api->finish(m->backend, &m->device_s, &m->error);
    m->busy_s += clock_s() - start;
}
/* They work at the same time: the longest counts, where all of them tell. */
static enum status split_finish(struct backend *b, double *device_s, struct error *err)
{
    enum status st = members_call(b, finish_one, NULL, err);
    *device_s = 0;
    for (size_t i = 0; i < b->count && *device_s >= 0; i++)
        *device_s = b->members[i].device_s < 0           ? -1
                    : b->members[i].device_s > *device_s ? b->members[i].device_s
                                                         : *device_s;
    return st;
}

static void read_one(struct backend *b, struct member *m, void *argument)
{
    const size_t *pixels = argument;
    (void)b;
    m->status = m->api->film_read(m->backend, m->sums, *pixels, &m->error);
}
static size_t split_films(const struct backend *b) { return b->count; }

static enum status split_film_read(struct backend *b, int64_t *sums, size_t pixels,
                                   struct error *err)
{
    enum status st = STATUS_OK;
    for (size_t i = 0; i < b->count && st == STATUS_OK; i++) {
        b->members[i].sums = malloc(pixels * 4 * sizeof *sums);
        if (!b->members[i].sums)
            st = error_msg(err, STATUS_MEMORY, "out of memory for a film of %zu pixels", pixels);
    }
    if (st == STATUS_OK)
        st = members_call(b, read_one, &pixels, err);
    if (st == STATUS_OK && b->band == 0) /* nothing was launched */
        memcpy(sums, b->members[0].sums, pixels * 4 * sizeof *sums);
    for (size_t i = 0; i < b->count && st == STATUS_OK && b->band; i++) {
        struct k_launch l = {0};
        rows_of(b, &b->members[i], &l);
        uint32_t rows = rows_above(&l, b->height);
        for (uint32_t j = 0; j < rows; j++) {
            size_t at = 4 * (size_t)K_ROW(&l, j) * b->width;
            memcpy(sums + at, b->members[i].sums + at, 4 * b->width * sizeof *sums);
        }
    }
    const size_t picture = (size_t)b->width * b->height;
    for (size_t i = 0; st == STATUS_OK && b->band && i < b->count && pixels > picture; i++) {
        size_t behind = 4 * (pixels - picture);
        memcpy(sums + 4 * picture + i * behind, b->members[i].sums + 4 * picture,
               behind * sizeof *sums);
    }
    for (size_t i = 0; i < b->count; i++) {
        free(b->members[i].sums);
        b->members[i].sums = NULL;
    }
    return st;
}

/* The member that made row y of the last picture; before any the first. */
static size_t owner_of(const struct backend *b, uint32_t y)
{
    for (size_t i = 0; i < b->count && b->band; i++) {
        struct k_launch l = {0};
        rows_of(b, &b->members[i], &l);
        if (l.rows_own && rows_above(&l, y + 1) > rows_above(&l, y))
            return i;
    }
    return 0;
}

static const char *row_owner(const struct backend *b, uint32_t y)
{
    return b->band ? b->members[owner_of(b, y)].id : NULL;
}

/* A pixel's owner traces it; else the first member answers. Strict arithmetic is asked of all: they
 * must agree to the bit. */
static enum status split_run_words(struct backend *b, enum kernel_entry entry,
                                   const struct k_launch *launch, const uint32_t *in,
                                   size_t in_words, uint32_t *out, size_t out_words, size_t items,
                                   struct error *err)
{
    struct member *m = &b->members[entry == ENTRY_TRACE ? owner_of(b, launch->trace_y) : 0];
    enum status st =
        m->api->run_words(m->backend, entry, launch, in, in_words, out, out_words, items, err);
    if (st || entry != ENTRY_ARITHMETIC || b->mode != MODE_STRICT)
        return st;
    uint32_t *other = malloc(out_words * sizeof *other);
    if (!other)
        return error_msg(err, STATUS_MEMORY, "out of memory for %zu words", out_words);
    for (size_t i = 1; i < b->count && st == STATUS_OK; i++) {
        m = &b->members[i];
        memcpy(other, out, out_words * sizeof *other);
        st = m->api->run_words(m->backend, entry, launch, in, in_words, other, out_words, items,
                               err);
        if (st == STATUS_OK && memcmp(other, out, out_words * sizeof *other) != 0)
            st = error_msg(err, STATUS_UNSUPPORTED,
                           "%s and %s give different bits in strict arithmetic", b->members[0].id,
                           m->id);
    }
    free(other);
    return st;
}

static enum status group_most(struct backend *b, uint32_t *most, struct error *err)
{
    for (size_t i = 0; i < b->count; i++) {
        uint32_t one = 0;
        struct member *m = &b->members[i];
        if (m->api->group_most)
            TRY(m->api->group_most(m->backend, &one, err));
        *most = (uint32_t)least(one, *most);
    }
    return STATUS_OK;
}

static void defaults(const struct backend *b, struct launch_settings *s)
{
    b->members[0].api->defaults(b->members[0].backend, s);
}

static void set_threads(struct backend *b, unsigned threads)
{
    for (size_t i = 0; i < b->count; i++)
        if (b->members[i].api->set_threads)
            b->members[i].api->set_threads(b->members[i].backend, threads);
}

const struct backend_api split_api = {
    .name = "split",
    .keeps_host_memory = true, /* a member may */
    .enumerate = enumerate,
    .describe = describe,
    .open = split_open,
    .close = split_close,
    .preferred_bvh = preferred_bvh,
    .upload = split_upload,
    .build = split_build,
    .request = split_request,
    .film_begin = split_film_begin,
    .launch = split_launch,
    .finish = split_finish,
    .film_read = split_film_read,
    .films = split_films,
    .row_owner = row_owner,
    .run_words = split_run_words,
    .group_most = group_most,
    .defaults = defaults,
    .set_threads = set_threads,
};
