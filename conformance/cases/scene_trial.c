/* SPDX-License-Identifier: Apache-2.0 */
#include "scene_trial.h"
#include "generate/offers.h"
#include "steps/offers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 16, SAMPLES = 2, STATISTICAL_SAMPLES = 16 };

/* A thousand scenes bring several thousand tests: one false alarm in thousands of such nights. */
static const double relation_level = 1e-9;

void scene_trial_job(const struct scene_trial *t, const struct scene *s, enum math_mode mode,
                     struct render_job *job)
{
    judge_job(s, t->width ? t->width : WIDTH, t->samples ? t->samples : SAMPLES, mode, job);
}

static bool found(struct scene_found *f, const char *kind, const char *text)
{
    f->found = true;
    (void)snprintf(f->kind, sizeof f->kind, "%s", kind);
    (void)snprintf(f->text, sizeof f->text, "%s", text);
    return true;
}

/* ---- bits and steps ------------------------------------------------------------------------- */

static enum status load_and_render(const struct scene_trial *t, const struct scene *s,
                                   const struct render_job *job, bool bake, struct film *film,
                                   struct error *err)
{
    device_bake(t->device, bake);
    device_model(t->device, job->set.build.model);
    enum status st = device_load(t->device, s, job->set.load.bvh, NULL, err);
    device_bake(t->device, false);
    if (st == STATUS_OK)
        st = device_build(t->device, &job->set.build, NULL, err);
    return st == STATUS_OK ? judge_render(t->device, s, job, film, err) : st;
}

static void bits_text(const struct bit_difference *b, const struct film *f, const char *whom,
                      char *text, size_t size)
{
    static const char *const channels[] = {"R", "G", "B", "sample count"};
    (void)snprintf(text, size,
                   "%zu of %zu pixels differ from %s; first (%u,%u) %s: %.9g, there %.9g",
                   b->pixels, (size_t)f->width * f->height, whom, b->x, b->y, channels[b->channel],
                   b->a, b->b);
}

static enum status try_cause(const struct scene_trial *t, const struct scene *s,
                             const struct render_job *job, const struct bit_difference *b,
                             struct scene_found *f, struct error *err)
{
    const size_t len = strlen(f->text);
    TRY(judge_cause(t->device, s, job, b->x, b->y, &f->cause, err));
    (void)snprintf(f->text + len, sizeof f->text - len, "; %s", f->cause.text);
    return STATUS_OK;
}

/* Bits of all trees alike, and like native's. */
static enum status try_bits(const struct scene_trial *t, const struct scene *s,
                            const struct render_job *plain, struct scene_found *f,
                            struct error *err)
{
    static const enum bvh_kind trees[] = {BVH_BINARY, BVH_COMPRESSED8, BVH_AUTO};
    const struct film *native = NULL;
    struct film first = {0};
    char text[512], whom[64];
    struct bit_difference b;
    enum status st = STATUS_OK;
    if (!is_native(t->device_id))
        st = judge_native(s, plain, &native, err);
    for (size_t i = t->one_tree || (t->brief && native) ? 2 : 0;
         st == STATUS_OK && !f->found && i < sizeof trees / sizeof *trees; i++) {
        struct render_job job = *plain;
        struct film film = {0};
        job.set.load.bvh = trees[i];
        st = load_and_render(t, s, &job, false, &film, err);
        if (st == STATUS_OK)
            f->compared += (uint64_t)film.width * film.height;
        (void)snprintf(whom, sizeof whom, "%s, tree %s",
                       native ? "native's strict picture" : "those of tree bvh2",
                       bvh_kind_name(trees[i]));
        if (st == STATUS_OK && (native || (i > 0 && !t->one_tree)) &&
            judge_bits(&film, native ? native : &first, &b)) {
            bits_text(&b, &film, whom, text, sizeof text);
            found(f, "bits", text);
            if (native && !t->only) /* the reducer asks for the finding alone */
                st = try_cause(t, s, &job, &b, f, err);
        }
        if (i == 0 && !native) { /* what the others are held against */
            first = film;
        } else {
            film_free(&film);
        }
    }
    film_free(&first);
    return st;
}

static enum status try_steps(const struct scene_trial *t, const struct scene *s,
                             const struct render_job *job, struct scene_found *f, struct error *err)
{
    struct divergence d;
    char kind[64];
    TRY(device_load(t->device, s, BVH_AUTO, NULL, err));
    TRY(device_build(t->device, &job->set.build, NULL, err));
    TRY(conform_lockstep(t->device, s, job, UINT64_MAX, &d, err));
    f->compared += d.compared;
    if (!d.divergent)
        return STATUS_OK;
    (void)snprintf(kind, sizeof kind, "steps: %s", d.stage);
    found(f, kind, d.text);
    f->cause = d;
    return STATUS_OK;
}

/* ---- relations ------------------------------------------------------------------------------ */

static double *pixels_of(const struct film *film, bool mirrored, struct error *err)
{
    const size_t w = film->width, n = w * film->height;
    double *rgb = malloc(n * 3 * sizeof *rgb), *turned = malloc(n * 3 * sizeof *rgb);
    if (!rgb || !turned) {
        error_msg(err, STATUS_MEMORY, "out of memory for a picture");
        free(rgb);
        free(turned);
        return NULL;
    }
    metric_from_film(film, rgb);
    for (size_t i = 0; i < n; i++) {
        const size_t from = mirrored ? i - i % w + (w - 1 - i % w) : i;
        memcpy(turned + 3 * i, rgb + 3 * from, 3 * sizeof *rgb);
    }
    free(rgb);
    return turned;
}

/* Films whose units stand to one another as their light does hold the same numbers; else each
 * sample was rounded to another unit. */
static bool alike_exactly(const struct film *x, const struct film *y, int gain, char *text,
                          size_t size)
{
    const bool same_units = x->exponent - gain == y->exponent;
    const double unit = ldexp(1, gain - x->exponent), other = ldexp(1, -y->exponent);
    for (size_t i = 0, n = (size_t)x->width * x->height; i < n; i++)
        for (size_t c = 0; c < 4; c++) {
            const int64_t a = x->sums[4 * i + c], b = y->sums[4 * i + c];
            const double wide = (unit + other) / 2 * (double)(x->sums[4 * i + 3] & 0xffffffff);
            if (same_units || c == 3 ? a == b : fabs((double)a * unit - (double)b * other) <= wide)
                continue;
            (void)snprintf(
                text, size, "pixel (%zu,%zu) %s is %.17g, and %.17g in the other picture",
                i % x->width, i / x->width, c < 3 ? &"R\0G\0B"[2 * c] : "sample count",
                c < 3 ? (double)a * unit : (double)a, c < 3 ? (double)b * other : (double)b);
            return false;
        }
    return true;
}

static enum status alike_statistically(const struct film *x, const struct film *y,
                                       const struct scene_relation *r, uint32_t samples, char *text,
                                       size_t size, bool *alike, struct error *err)
{
    double *a = pixels_of(x, false, err), *b = a ? pixels_of(y, r->mirrored, err) : NULL;
    struct metric_z z = {.p = 1};
    enum status st = b ? STATUS_OK : STATUS_MEMORY;
    const struct metric_estimate one = {a, NULL, samples}, other = {b, NULL, samples};
    if (st == STATUS_OK)
        st = metric_z(x->width, x->height, &one, &other, JUDGE_SYSTEMATIC_DEVICE, &z, err);
    free(a);
    free(b);
    *alike = z.p >= relation_level;
    (void)snprintf(text, size, "p = %.2g, mean difference %.3g %.3g %.3g", z.p,
                   z.mean_difference[0], z.mean_difference[1], z.mean_difference[2]);
    return st;
}

/* The other scene by the relation; *out NULL: the relation does not hold for this one. */
static enum status other_scene(const struct scene_relation *r, const struct scene_trial *t,
                               const char *text, size_t size, struct scene **out, char *why,
                               size_t why_size, struct error *err)
{
    struct arena a = {0};
    struct scene_node *tree = NULL;
    struct text other = {0};
    struct error refused = {0};
    *out = NULL;
    enum status st = scene_tree_read(&a, text, size, &tree, err);
    if (st == STATUS_OK && (!r->apply || r->apply(&a, tree))) {
        scene_tree_write(tree, &other);
        st = other.failed ? error_msg(err, STATUS_MEMORY, "out of memory for a scene") : STATUS_OK;
        if (st == STATUS_OK && scene_load_memory(t->path, other.data, other.len, out, &refused))
            error_format(&refused, why, why_size);
    }
    text_free(&other);
    arena_free(&a);
    return st;
}

static bool has_shader(const struct scene *s)
{
    for (size_t i = 0; i < s->material_count; i++)
        if (s->materials[i].shading)
            return true;
    return false;
}

static enum status try_relation(const struct scene_trial *t, const struct scene_relation *r,
                                const struct scene *s, const char *text, size_t size,
                                struct scene_found *f, struct error *err)
{
    struct scene *other = NULL;
    struct film one = {0}, two = {0};
    struct render_job job;
    char kind[64], told[512] = "", line[1024];
    bool alike = true;
    (void)snprintf(kind, sizeof kind, "relation: %s", r->name);
    if ((t->only && strcmp(t->only, kind) != 0) || (r->bake && !has_shader(s)))
        return STATUS_OK;
    enum status st = other_scene(r, t, text, size, &other, told, sizeof told, err);
    if (st != STATUS_OK || (!other && !*told))
        return st;
    judge_job(s, WIDTH, r->kind == RELATION_EXACT ? SAMPLES : STATISTICAL_SAMPLES, MODE_STRICT,
              &job);
    if (other)
        st = load_and_render(t, s, &job, false, &one, err);
    if (r->kind == RELATION_ALIKE)
        job.seed ^= UINT64_C(0x5eed00000000);
    if (st == STATUS_OK && other)
        st = load_and_render(t, other, &job, r->bake, &two, err);
    if (st == STATUS_OK && other && r->kind == RELATION_EXACT)
        alike = alike_exactly(&one, &two, r->gain, told, sizeof told);
    else if (st == STATUS_OK && other)
        st = alike_statistically(&one, &two, r, job.sample_count, told, sizeof told, &alike, err);
    if (st == STATUS_OK) {
        f->relations++;
        f->compared += (uint64_t)job.width * job.height;
    }
    if (st == STATUS_OK && (!other || !alike)) {
        (void)snprintf(line, sizeof line, "%s (%s) gives %s: %s", r->name, r->text,
                       other ? "another picture" : "a scene that is refused", told);
        found(f, kind, line);
    }
    film_free(&one);
    film_free(&two);
    scene_free(other);
    return st;
}

static enum status try_relations(const struct scene_trial *t, const struct scene *s,
                                 const char *text, size_t size, struct scene_found *f,
                                 struct error *err)
{
    const struct scene_relation *r;
    for (size_t i = 0; !f->found && (r = scene_relation_at(i)); i++)
        TRY(try_relation(t, r, s, text, size, f, err));
    return STATUS_OK;
}

/* ---- a scene -------------------------------------------------------------------------------- */

/* *out is NULL, and found, where the reader refuses it. A file that is to be fetched first is no
 * refusal: STATUS_MISSING. */
static enum status read_scene(const struct scene_trial *t, const char *text, size_t size,
                              struct scene **out, struct scene_found *f, struct error *err)
{
    struct error refused = {0};
    char told[512], line[1024], kind[64];
    *out = NULL;
    enum status st = scene_load_memory(t->path, text, size, out, &refused);
    if (st == STATUS_MISSING) {
        *err = refused;
        return st;
    }
    if (st == STATUS_OK)
        return st;
    error_format(&refused, told, sizeof told);
    (void)snprintf(kind, sizeof kind, "read: %.50s", refused.msg);
    (void)snprintf(line, sizeof line,
                   "the reader refuses the scene, or the generator made one that it should not: %s",
                   told);
    found(f, kind, line);
    return STATUS_OK;
}

static bool is_asked(const struct scene_trial *t, const char *kind)
{
    return !t->only || strncmp(t->only, kind, strlen(kind)) == 0;
}

static enum status try_scene(const struct scene_trial *t, const struct scene *s, const char *text,
                             size_t size, struct scene_found *f, struct error *err)
{
    struct render_job job;
    const bool native = is_native(t->device_id);
    struct error why = {0};
    scene_trial_job(t, s, MODE_STRICT, &job);
    enum status st = is_asked(t, "bits") ? try_bits(t, s, &job, f, &why) : STATUS_OK;
    if (st == STATUS_UNSUPPORTED) { /* no device for strict: the other modes are judged */
        f->strict = false;
        (void)snprintf(f->why, sizeof f->why, "%.255s", why.msg);
        st = STATUS_OK;
    } else if (st != STATUS_OK && err) {
        *err = why;
    }
    if (st == STATUS_OK && !f->found && native && is_asked(t, "steps"))
        st = try_steps(t, s, &job, f, err);
    if (st == STATUS_OK && !f->found && (native ? t->loose : !t->brief) && is_asked(t, "steps")) {
        scene_trial_job(t, s, MODE_DEVICE, &job);
        st = try_steps(t, s, &job, f, err);
    }
    if (st == STATUS_OK && !f->found && native && !t->brief && is_asked(t, "relation"))
        st = try_relations(t, s, text, size, f, err);
    return st;
}

typedef enum status trial(const struct scene_trial *t, const struct scene *s, const char *text,
                          size_t size, struct scene_found *f, struct error *err);

static enum status run_trial(trial *run, const struct scene_trial *t, const char *text, size_t size,
                             struct scene_found *out, struct error *err)
{
    *out = (struct scene_found){.strict = true};
    struct scene *s;
    enum status st = read_scene(t, text, size, &s, out, err);
    if (s)
        st = run(t, s, text, size, out, err);
    scene_free(s);
    return st;
}

enum status scene_trial_run(const struct scene_trial *t, const char *text, size_t size,
                            struct scene_found *out, struct error *err)
{
    return run_trial(try_scene, t, text, size, out, err);
}

enum status scene_trial_relations(const struct scene_trial *t, const char *text, size_t size,
                                  struct scene_found *out, struct error *err)
{
    return run_trial(try_relations, t, text, size, out, err);
}
