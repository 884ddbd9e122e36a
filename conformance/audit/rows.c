/* SPDX-License-Identifier: Apache-2.0 */
/* A run of bench or sweep: its rates are its maker's word, its strict pictures are not. */
#include "audit.h"

#include <stdlib.h>
#include <string.h>

struct rows {
    struct bench_record *list;
    size_t count;
    const char *const *library; /* scenes that this program has */
    size_t library_count;
};
enum { PAIRS_MOST = 100000000 };

/* The path of a scene of that name; NULL: the submitter's own. */
static const char *scene_here(struct auditing *u, const struct rows *r, const char *name)
{
    for (size_t i = 0; i < r->library_count; i++) {
        const char *stem = path_stem(u->a, r->library[i]);
        if (stem && strcmp(stem, name) == 0)
            return r->library[i];
    }
    return NULL;
}

static bool is_strict_pass(const struct bench_record *b)
{
    return b->verdict == VERDICT_PASS && b->mode &&
           strcmp(b->mode, math_mode_name(MODE_STRICT)) == 0;
}

/* Is the film one of the row's scene, device and job? */
static bool is_of(const struct film_record *f, const struct render_job *job,
                  const struct bench_record *b)
{
    return strcmp(f->name, b->scene) == 0 && strcmp(f->device, b->device) == 0 &&
           job->width == b->width && job->height == b->height && job->sample_count == b->spp &&
           job->max_depth == b->max_depth;
}

static enum status row_check(struct auditing *u, const struct rows *r, const struct bench_record *b,
                             struct error *err)
{
    const struct identity *id =
        b->identity ? identity_find(u->identities, u->identity_count, b->identity) : NULL;
    const char *scene = scene_here(u, r, b->scene);
    u->out->passed += b->verdict == VERDICT_PASS;
    u->out->failed += b->verdict == VERDICT_FAIL || b->verdict == VERDICT_ERROR;
    u->out->skipped += b->verdict == VERDICT_SKIP;
    if (id && strcmp(id->kind, "render") == 0)
        return audit_identity(u, id, b->scene, b->device, scene, err);
    audit_finding(u, "keys", "a row of %s on %s has no key of its own", b->scene, b->device);
    return STATUS_OK;
}

/* A picture whose film is what its row says, and whose scene is here. */
static enum status film_match(struct auditing *u, const struct rows *r, const struct film_record *f,
                              bool *held, struct picture *out, bool *good, struct error *err)
{
    struct render_job job;
    struct error why = {0};
    struct scene *s = NULL;
    bool own = false;
    *good = false;
    if (film_job_read(f->job, &job, &why) != STATUS_OK || f->tile != TILE_SIDE) {
        audit_finding(u, "tiles", "%s on %s: the film is of no job: %.300s", f->name, f->device,
                      why.msg);
        return why.code == STATUS_MEMORY ? STATUS_MEMORY : STATUS_OK;
    }
    for (size_t i = 0; i < r->count; i++)
        if (is_strict_pass(&r->list[i]) && is_of(f, &job, &r->list[i])) {
            held[i] = true;
            own = own || (f->identity && r->list[i].identity &&
                          strcmp(f->identity, r->list[i].identity) == 0);
        }
    if (!own) {
        audit_finding(u, "tiles", "a film of %s on %s belongs to no row", f->name, f->device);
        return STATUS_OK;
    }
    const char *scene = scene_here(u, r, f->name);
    if (!scene)
        return STATUS_OK;
    TRY(scene_load(scene, &s, err));
    const char *text = film_job_text(u->a, &job, film_exponent(s));
    scene_free(s);
    *good = text && strcmp(text, f->job) == 0;
    if (text && !*good)
        audit_finding(u, "tiles", "%s on %s: the film is of another job, %.200s", f->name,
                      f->device, f->job);
    *out = (struct picture){f, scene, true, u->out->tiles, f->sums_size / sizeof(struct sum)};
    return text ? STATUS_OK : error_msg(err, STATUS_MEMORY, "out of memory for a film");
}

static int by_scene(const void *a, const void *b)
{
    const struct picture *p = a, *q = b;
    const int order = strcmp(p->f->name, q->f->name);
    return order ? order : strcmp(p->f->job, q->f->job);
}

static void notes(struct auditing *u, const struct rows *r, const bool *held)
{
    size_t own = 0, large = 0;
    for (size_t i = 0; i < r->count; i++) {
        const struct bench_record *b = &r->list[i];
        own += !scene_here(u, r, b->scene);
        if (!is_strict_pass(b) || held[i])
            continue;
        if (tile_count(b->width, b->height) > FILM_TILES_MOST)
            large++;
        else
            audit_finding(u, "tiles", "%s on %s passed in mode strict with no film of that job",
                          b->scene, b->device);
    }
    if (own)
        audit_note(u, "rows",
                   "%zu rows are of scenes of the submitter's own: they are not looked at", own);
    if (large)
        audit_note(u, "tiles", "%zu pictures are too large to have tiles", large);
    if (u->out->passed)
        audit_note(u, "rates", "%zu rates are the submitter's word: an audit times nothing",
                   u->out->passed);
}

enum status audit_rows(struct auditing *u, struct store *results, struct error *err)
{
    struct rows r = {0};
    size_t n = 0;
    TRY(store_bench_rows(results, u->a, 0, &r.list, &r.count, err));
    TRY(scene_library(u->a, true, &r.library, &r.library_count, err));
    if ((r.count + 1) * (u->film_count + 1) > PAIRS_MOST)
        return error_msg(err, STATUS_LIMIT, "%zu rows and %zu films are more than an audit takes",
                         r.count, u->film_count);
    struct picture *pictures = ARENA_ARRAY(u->a, struct picture, u->film_count);
    bool *held = ARENA_ARRAY(u->a, bool, r.count + 1);
    if (!pictures || !held)
        return error_msg(err, STATUS_MEMORY, "out of memory for %zu rows", r.count);
    if (u->case_count)
        audit_finding(u, "rows", "%zu verdicts are in a run that judges no cases", u->case_count);
    for (size_t i = 0; i < r.count; i++)
        TRY(row_check(u, &r, &r.list[i], err));
    for (size_t i = 0; i < u->film_count; i++) {
        bool good;
        TRY(film_match(u, &r, &u->films[i], held, &pictures[n], &good, err));
        n += good;
    }
    qsort(pictures, n, sizeof *pictures, by_scene);
    for (size_t i = 0; i < n; i++) {
        pictures[i].first = u->out->tiles;
        u->out->tiles += pictures[i].count;
    }
    u->out->cases = r.count;
    u->out->pictures = n;
    for (size_t i = 0; i < r.count; i++)
        u->out->unpictured += r.list[i].verdict == VERDICT_PASS && !held[i];
    notes(u, &r, held);
    return audit_pictures(u, pictures, n, err);
}
