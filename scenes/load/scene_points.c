/* SPDX-License-Identifier: Apache-2.0 */
/* A group of shaders run at many points when a scene is loaded. On the host, by the interpreter, before
 * anything is known of devices: so all of them get the same geometry. */
#include "scene_loader.h"

#include <string.h>

enum { CHUNK = 1024 };
static const uint64_t steps_max = 1 << 24; /* of one point, as loops of a surface have */

struct worker {
    const struct shader_images *images;
    struct asl_context *context;
    size_t point;               /* that is run */
    char said[256];             /* what error() said there; empty: nothing */
    struct point_failure first; /* of those this worker had */
};

struct running {
    const struct point_runs *runs;
    struct worker *workers;
};

static void message(void *ctx, enum asl_message kind, const char *to, const char *text)
{
    struct worker *w = ctx;
    (void)to;
    if (kind == ASL_MSG_ERROR && !w->said[0])
        snprintf(w->said, sizeof w->said, "%s:%u: %s", asl_context_place(w->context).file,
                 asl_context_place(w->context).line, text);
}

static bool object_space(void *ctx, const char *space, float m[16])
{
    (void)ctx;
    for (int i = 0; i < 16; i++)
        m[i] = i % 5 == 0;
    return strcmp(space, "object") == 0 || strcmp(space, "shader") == 0;
}

static bool attribute(void *ctx, const char *object, const char *name, int index,
                      struct asl_type type, union asl_slot *value)
{
    const struct worker *w = ctx;
    if (object[0] || index != -1 || strcmp(name, "point:index") != 0 || type.base != ASL_INT ||
        type.array)
        return false;
    value->i = (int32_t)w->point;
    return true;
}

static const struct asl_image *image(void *ctx, const char *name)
{
    return shader_images_find(((const struct worker *)ctx)->images, name);
}

static const char *fault_of_image(void *ctx, const char *name)
{
    return shader_images_fault(((const struct worker *)ctx)->images, name);
}

static void keep_failure(struct worker *w, size_t at, enum status status, const struct error *why)
{
    w->first.at = at;
    w->first.status = status;
    if (why->line && why->file[0])
        snprintf(w->first.why, sizeof w->first.why, "%.200s:%u: %.280s", why->file, why->line,
                 why->msg);
    else
        snprintf(w->first.why, sizeof w->first.why, "%.500s", why->msg);
}

static void run_point(const struct point_runs *r, struct worker *w, size_t i)
{
    struct asl_globals g;
    struct error why = {0};
    if (!r->globals(r->ctx, i, &g))
        return;
    w->said[0] = 0;
    w->point = i;
    enum status s = asl_context_run(w->context, &g, &why);
    if (s == STATUS_OK && w->said[0])
        s = error_msg(&why, STATUS_TYPE, "the shader says: %s", w->said);
    if (s == STATUS_OK)
        s = r->take(r->ctx, i, w->context, &why);
    if (s != STATUS_OK)
        keep_failure(w, i, s, &why);
}

/* A stretch of points. Those before a worker's first failure are all run: the first of all does not go
 * by how many workers there are. */
static void run_chunk(void *ctx, size_t chunk, unsigned thread)
{
    struct running *j = ctx;
    struct worker *w = &j->workers[thread];
    const size_t first = chunk * CHUNK, left = j->runs->count - first;
    struct error why = {0};
    if (cancel_requested)
        return;
    const struct asl_context_options options = {.services = {.ctx = w,
                                                             .message = message,
                                                             .space = object_space,
                                                             .attribute = attribute,
                                                             .image = image,
                                                             .image_fault = fault_of_image},
                                                .step_budget = steps_max,
                                                .error_repeats = true};
    if (!w->context && asl_context_new(j->runs->group, &options, &w->context, &why) != STATUS_OK) {
        if (first < w->first.at)
            keep_failure(w, first, why.code, &why);
        return;
    }
    for (size_t i = first; i < first + (left < CHUNK ? left : CHUNK) && i < w->first.at; i++)
        run_point(j->runs, w, i);
}

enum status run_at_points(struct document *d, const struct point_runs *r,
                          struct point_failure *first)
{
    const unsigned threads = parallel_threads();
    struct running j = {r, ARENA_ARRAY(&d->arena, struct worker, threads)};
    if (!j.workers)
        return document_memory(d);
    for (unsigned t = 0; t < threads; t++)
        j.workers[t] = (struct worker){.images = r->images, .first = {.at = SIZE_MAX}};
    parallel_for((r->count + CHUNK - 1) / CHUNK, threads, run_chunk, &j);
    *first = j.workers[0].first;
    for (unsigned t = 0; t < threads; t++) {
        if (j.workers[t].first.at < first->at)
            *first = j.workers[t].first;
        asl_context_free(j.workers[t].context);
    }
    return cancel_requested ? error_msg(d->err, STATUS_CANCELLED, "stopped while %s", r->doing)
                            : STATUS_OK;
}
