/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles and cases that the submitter could not foresee, made again. */
#include "audit.h"
#include "cases/case.h"
#include "steps/offers.h"

#include <stdlib.h>
#include <string.h>

double audit_unseen(uint64_t tiles, uint64_t forged, uint64_t drawn)
{
    double p = 1;
    if (forged > tiles || drawn > tiles - forged)
        return 0;
    for (uint64_t i = 0; i < drawn && p > 0; i++)
        p *= (double)(tiles - forged - i) / (double)(tiles - i);
    return p;
}

uint64_t audit_forged_most(uint64_t tiles, uint64_t drawn, double level)
{
    uint64_t low = 0, high = tiles; /* unseen(low) >= level; it falls with what is forged */
    while (low < high) {
        const uint64_t middle = high - (high - low) / 2;
        if (audit_unseen(tiles, middle, drawn) >= level)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* ---- drawing -------------------------------------------------------------------------------- */

struct draws {
    struct sum seed;
    const char *what;
    uint64_t count;
};

/* Uniform below n: SHA-256 in counter mode; words of the last, cut part are passed over. */
static uint64_t draw_below(struct draws *d, uint64_t n)
{
    const uint64_t most = UINT64_MAX - UINT64_MAX % n;
    for (;;) {
        char hex[65], text[160];
        struct sum s;
        uint64_t word = 0;
        sum_hex(&d->seed, hex);
        int len = snprintf(text, sizeof text, "isophote audit 1\n%s\n%s\n%llu\n", hex, d->what,
                           (unsigned long long)d->count++);
        sum_of(text, (size_t)len, &s);
        for (int i = 0; i < 8; i++)
            word |= (uint64_t)s.bytes[i] << 8 * i;
        if (word < most)
            return word % n;
    }
}

/* k different numbers below n, as marks: Floyd's algorithm (Bentley, Floyd: "A sample of brilliance",
 * CACM 1987). */
static void draw_marks(struct draws *d, uint64_t n, uint64_t k, bool *marks)
{
    for (uint64_t j = n - (k < n ? k : n); j < n; j++) {
        uint64_t t = draw_below(d, j + 1);
        marks[marks[t] ? j : t] = true;
    }
}

/* ---- tiles ---------------------------------------------------------------------------------- */

static enum status tile_check(struct auditing *u, struct device *d, const struct scene *s,
                              const struct render_job *whole, const struct film_record *f,
                              uint64_t tile, struct error *err)
{
    struct render_job job = *whole;
    struct film film;
    struct sum sum;
    uint32_t place[4];
    if (!tile_place(job.width, job.height, tile, place))
        return error_msg(err, STATUS_INTERNAL, "%s has no tile %llu", f->name,
                         (unsigned long long)tile);
    memcpy(job.crop, place, sizeof job.crop);
    TRY(judge_render(d, s, &job, &film, err));
    enum status st = tile_sum(&film, 0, 0, place, &sum, err);
    film_free(&film);
    TRY(st);
    u->out->drawn++;
    if (memcmp(&sum, (const struct sum *)f->sums + tile, sizeof sum) == 0)
        return STATUS_OK;
    u->out->wrong++;
    audit_finding(u, "tiles", "%s on %s: the tile at (%u,%u) has other bits than %s renders",
                  f->name, f->device, place[0], place[1], u->o->device);
    return STATUS_OK;
}

/* ---- films ---------------------------------------------------------------------------------- */

static bool keeps_film(const char *name)
{
    return strncmp(name, "image.strict.", 13) == 0 || challenge_row(name);
}

/* Is it the picture that the case judges, and can it be made here? */
static enum status picture_find(struct auditing *u, const struct film_record *f, bool *out,
                                const char **path, struct error *err)
{
    const struct conform_case *known = audit_known(u, f->name);
    struct scene *s = NULL;
    struct render_job job;
    *out = false;
    if (!known)
        return STATUS_OK;
    TRY(case_picture(f->name, known->scene, &s, &job, err));
    const char *text = s ? film_job_text(u->a, &job, film_exponent(s)) : NULL;
    *out = text && f->tile == TILE_SIDE && strcmp(text, f->job) == 0;
    *path = known->scene;
    if (!s)
        audit_finding(u, "tiles", "%s has a film, and is no case that keeps one", f->name);
    else if (!*out)
        audit_finding(u, "tiles", "%s on %s: the film is of another job, %.200s", f->name,
                      f->device, f->job);
    scene_free(s);
    return text || !s ? STATUS_OK : error_msg(err, STATUS_MEMORY, "out of memory for a film");
}

static int film_order(const void *a, const void *b)
{
    const struct film_record *const f = *(const struct film_record *const *)a,
                                    *const g = *(const struct film_record *const *)b;
    int order = strcmp(f->name, g->name);
    if (!order)
        order = strcmp(f->device, g->device);
    return order ? order : f < g ? -1 : 1;
}

/* Films against verdicts: each strict PASS has one, each film has its verdict. */
static enum status films_match(struct auditing *u, const struct film_record ***by_name,
                               struct error *err)
{
    const struct film_record **films = ARENA_ARRAY(u->a, const struct film_record *, u->film_count);
    size_t *held = ARENA_ARRAY(u->a, size_t, u->case_count);
    if (!films || !held)
        return error_msg(err, STATUS_MEMORY, "out of memory for %zu films", u->film_count);
    for (size_t i = 0; i < u->film_count; i++) {
        const struct film_record *f = films[i] = &u->films[i];
        const struct case_record *c = audit_case(u, f->name, f->device);
        if (!c || !c->identity || !f->identity || strcmp(c->identity, f->identity) != 0)
            audit_finding(u, "tiles", "a film of %s on %s belongs to no verdict", f->name,
                          f->device);
        if (c)
            held[c - u->cases]++;
    }
    for (size_t i = 0; i < u->case_count; i++) {
        const struct case_record *c = &u->cases[i];
        if (c->verdict == VERDICT_PASS && keeps_film(c->name) && held[i] != 1)
            audit_finding(u, "tiles", "%s on %s passed with %zu films; expected one", c->name,
                          c->device, held[i]);
        u->out->unpictured += c->verdict == VERDICT_PASS;
    }
    qsort(films, u->film_count, sizeof *films, film_order);
    *by_name = films;
    return STATUS_OK;
}

/* The pictures of PASSes that can be rendered here, ordered so that each scene is loaded once. */
static enum status pictures_list(struct auditing *u, struct picture **out, size_t *count,
                                 struct error *err)
{
    const struct film_record **films = NULL, *last = NULL;
    struct picture *list = ARENA_ARRAY(u->a, struct picture, u->film_count);
    size_t n = 0;
    TRY(films_match(u, &films, err));
    if (!list)
        return error_msg(err, STATUS_MEMORY, "out of memory for %zu films", u->film_count);
    for (size_t i = 0; i < u->film_count; i++) {
        const struct film_record *f = films[i];
        const struct case_record *c = audit_case(u, f->name, f->device);
        struct picture p = {f, NULL, false, u->out->tiles, f->sums_size / sizeof(struct sum)};
        bool good = false;
        if (!c || c->verdict != VERDICT_PASS ||
            (last && strcmp(last->name, f->name) == 0 && strcmp(last->device, f->device) == 0))
            continue;
        if (n && strcmp(list[n - 1].f->name, f->name) == 0 &&
            strcmp(list[n - 1].f->job, f->job) == 0 && list[n - 1].f->tile == f->tile)
            good = true, p.scene = list[n - 1].scene;
        else
            TRY(picture_find(u, f, &good, &p.scene, err));
        last = f;
        if (!good)
            continue;
        list[n++] = p;
        u->out->tiles += p.count;
        u->out->pictures++;
        u->out->unpictured--;
        if (cancel_requested)
            return error_msg(err, STATUS_CANCELLED, "stopped");
    }
    *out = list;
    *count = n;
    return STATUS_OK;
}

/* ---- rendering ------------------------------------------------------------------------------ */

/* What is on the device: of several pictures of one scene the next finds it there. */
struct stage {
    struct device *device;
    struct scene *scene;
    struct render_job job;
    const struct film_record *of;
};

static enum status picture_load(struct stage *g, const char *device, const struct picture *p,
                                struct error *err)
{
    if (!g->device)
        TRY(device_open(device, &g->device, err));
    if (g->of && strcmp(g->of->name, p->f->name) == 0 && strcmp(g->of->job, p->f->job) == 0)
        return STATUS_OK;
    scene_free(g->scene);
    g->scene = NULL;
    g->of = NULL;
    if (p->of_row) {
        TRY(scene_load(p->scene, &g->scene, err));
        TRY(film_job_read(p->f->job, &g->job, err));
    } else {
        TRY(case_picture(p->f->name, p->scene, &g->scene, &g->job, err));
    }
    TRY(device_load(g->device, g->scene, BVH_AUTO, NULL, err));
    TRY(device_build(g->device, &(struct build_settings){.mode = MODE_STRICT}, NULL, err));
    g->of = p->f;
    return STATUS_OK;
}

static enum status picture_check(struct auditing *u, struct stage *g, const struct picture *p,
                                 const bool *marks, struct error *err)
{
    for (size_t i = 0; i < p->count; i++) {
        if (!marks[i])
            continue;
        TRY(picture_load(g, u->o->device, p, err));
        TRY(tile_check(u, g->device, g->scene, &g->job, p->f, i, err));
        if (cancel_requested)
            return error_msg(err, STATUS_CANCELLED, "stopped");
    }
    return STATUS_OK;
}

enum status audit_pictures(struct auditing *u, const struct picture *list, size_t count,
                           struct error *err)
{
    struct stage stage = {0};
    if (!count)
        return STATUS_OK;
    bool *marks = calloc(u->out->tiles, 1);
    if (!marks)
        return error_msg(err, STATUS_MEMORY, "out of memory for %llu tiles",
                         (unsigned long long)u->out->tiles);
    struct draws draws = {u->o->seed, "tiles", 0}, more = {u->o->seed, "challenge", 0};
    draw_marks(&draws, u->out->tiles, u->o->tiles, marks);
    for (size_t i = 0; i < count; i++)
        if (u->o->challenge && challenge_has(u->o->challenge, list[i].f->name))
            marks[list[i].first + draw_below(&more, list[i].count)] = true; /* one at least */
    enum status st = STATUS_OK;
    for (size_t i = 0; st == STATUS_OK && i < count; i++)
        st = picture_check(u, &stage, &list[i], marks + list[i].first, err);
    device_close(stage.device);
    scene_free(stage.scene);
    free(marks);
    return st;
}

enum status audit_tiles(struct auditing *u, struct error *err)
{
    struct picture *list = NULL;
    size_t count = 0;
    TRY(pictures_list(u, &list, &count, err));
    return audit_pictures(u, list, count, err);
}

/* ---- cases ---------------------------------------------------------------------------------- */

struct again {
    struct auditing *u;
    const bool *marks; /* by case */
    const struct device_info *here;
};

static bool wanted(void *ctx, const char *device, const struct conform_case *c)
{
    const struct again *r = ctx;
    (void)device;
    for (size_t i = 0; i < r->u->case_count; i++)
        if (r->marks[i] && strcmp(r->u->cases[i].name, c->name) == 0)
            return true;
    return false;
}

static bool same(const char *a, const char *b) { return strcmp(a ? a : "", b ? b : "") == 0; }

/* Did it pass on a device of the make that the auditor's is of? */
static bool passed_on_such(const struct again *r, const char *name)
{
    const struct auditing *u = r->u;
    for (size_t i = 0; i < u->case_count; i++) {
        if (!r->marks[i] || strcmp(u->cases[i].name, name) != 0)
            continue;
        for (size_t d = 0; d < u->device_count; d++) {
            const struct device_record *had = &u->devices[d];
            if (strcmp(had->id, u->cases[i].device) == 0 && same(had->api, r->here->api) &&
                same(had->name, r->here->name) && same(had->driver, r->here->driver) &&
                same(had->version, r->here->version) && same(had->compiler, r->here->compiler))
                return true;
        }
    }
    return false;
}

static void each(void *ctx, size_t done, size_t total, const char *device,
                 const struct conform_case *c, const struct conform_result *result)
{
    struct again *r = ctx;
    (void)done, (void)total;
    if (result->verdict == VERDICT_SKIP) {
        audit_note(r->u, "cases", "%s cannot be run again on %s: %.200s", c->name, device,
                   result->reason ? result->reason : "");
        return;
    }
    const bool such = passed_on_such(r, c->name);
    r->u->out->rerun++;
    r->u->out->rerun_elsewhere += !such;
    if (result->verdict != VERDICT_PASS)
        audit_finding(r->u, "cases", "%s passed in the archive; on %s%s it is %s: %.300s", c->name,
                      device, such ? "" : ", another device,", verdict_name(result->verdict),
                      result->reason ? result->reason : "");
}

enum status audit_cases(struct auditing *u, struct error *err)
{
    uint64_t n = 0;
    size_t *passed = ARENA_ARRAY(u->a, size_t, u->case_count);
    bool *drawn = ARENA_ARRAY(u->a, bool, u->case_count + 1),
         *marks = ARENA_ARRAY(u->a, bool, u->case_count + 1);
    struct conform_summary sum;
    struct device_info here;
    if (!passed || !drawn || !marks)
        return error_msg(err, STATUS_MEMORY, "out of memory for %zu cases", u->case_count);
    for (size_t i = 0; i < u->case_count; i++)
        if (u->cases[i].verdict == VERDICT_PASS && audit_known(u, u->cases[i].name))
            passed[n++] = i;
    if (!n || !u->o->cases)
        return STATUS_OK;
    TRY(device_find(u->o->device, &here, err));
    struct draws draws = {u->o->seed, "cases", 0};
    draw_marks(&draws, n, u->o->cases, drawn);
    for (uint64_t i = 0; i < n; i++)
        marks[passed[i]] = drawn[i];
    struct again r = {u, marks, &here};
    const struct conform_options o = {.devices = &u->o->device,
                                      .device_count = 1,
                                      .list = "all",
                                      .challenge = u->challenge,
                                      .programs = u->selected_by.programs,
                                      .random_scenes = u->selected_by.random_scenes,
                                      .random_seed = u->selected_by.random_seed,
                                      .program = u->o->program,
                                      .environment = u->o->environment,
                                      .worker = u->o->worker,
                                      .each = each,
                                      .wanted = wanted,
                                      .each_ctx = &r};
    return conform_run(&o, &sum, err);
}
