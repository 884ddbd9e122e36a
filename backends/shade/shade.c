/* SPDX-License-Identifier: Apache-2.0 */
/* shade.c: the front of all engines that run shaders without a scene: arguments, outputs, grids,
 * messages. */
#include "shade_engine.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const struct shade_engine *const engines[] = {
    &shade_interp,  &shade_ir,      &shade_grid,    &shade_native, &shade_llvm,
    &shade_apis[0], &shade_apis[1], &shade_apis[2], &shade_apis[3]};
static_assert(SHADE_API_COUNT == 4, "all of them are in the list above");
enum { ENGINE_COUNT = sizeof engines / sizeof *engines };

const struct shade_engine_info *shade_engine_at(size_t index)
{
    return index < ENGINE_COUNT ? &engines[index]->info : NULL;
}

static enum status no_memory(struct error *err)
{
    return error_msg(err, STATUS_MEMORY, "out of memory");
}

/* ---- opening -------------------------------------------------------------------------------- */

/* The last layer that has the output `name`; *layer NULL for a global. */
static bool output_find(const struct asl_group *g, const char *name, struct asl_type *type,
                        const char **layer)
{
    const char *dot = strchr(name, '.'), *param = dot ? dot + 1 : name;
    for (size_t l = asl_group_layers(g); l-- > 0;) {
        const struct asl_shader_info *info = asl_group_layer_shader(g, l);
        *layer = asl_group_layer_name(g, l);
        size_t n = dot ? (size_t)(dot - name) : 0;
        if (dot && (strncmp(*layer, name, n) != 0 || (*layer)[n]))
            continue;
        for (size_t k = 0; k < info->param_count; k++) {
            if (strcmp(info->params[k].name, param) == 0 && info->params[k].output) {
                *type = info->params[k].type;
                return true;
            }
        }
    }
    *layer = NULL;
    *type = (struct asl_type){.base = ASL_CLOSURE};
    return strcmp(name, "Ci") == 0;
}

static enum status outputs_find(struct shade *s, struct error *err)
{
    size_t n = 0, entries = 0;
    while (s->opt.outputs && s->opt.outputs[n])
        n++;
    s->outputs = ARENA_ARRAY(&s->arena, struct shade_output, n);
    s->entry_layers = ARENA_ARRAY(&s->arena, const char *, n + 1);
    if (!s->outputs || !s->entry_layers)
        return no_memory(err);
    for (size_t i = 0; i < n; i++) {
        struct shade_output *o = &s->outputs[i];
        const char *layer;
        if (!output_find(s->group, s->opt.outputs[i], &o->type, &layer))
            return error_msg(err, STATUS_ARG, "no layer has an output '%s'", s->opt.outputs[i]);
        o->name = arena_strdup(&s->arena, s->opt.outputs[i]);
        o->slots = asl_type_slots(o->type);
        if (layer)
            s->entry_layers[entries++] = layer;
        if (!o->name)
            return no_memory(err);
    }
    s->output_count = n;
    s->opt.outputs = NULL;
    return STATUS_OK;
}

static enum status world_copy(struct shade *s, struct error *err)
{
    struct shade_options *o = &s->opt;
    struct shade_userdata *u = ARENA_ARRAY(&s->arena, struct shade_userdata, o->userdata_count);
    struct shade_space *p = ARENA_ARRAY(&s->arena, struct shade_space, o->space_count);
    bool ok = u && p;
    for (size_t i = 0; ok && i < o->userdata_count; i++) {
        u[i] = o->userdata[i];
        u[i].name = arena_strdup(&s->arena, u[i].name);
        ok = u[i].name != NULL;
    }
    for (size_t i = 0; ok && i < o->space_count; i++) {
        p[i] = o->spaces[i];
        p[i].name = arena_strdup(&s->arena, p[i].name);
        ok = p[i].name != NULL;
    }
    o->userdata = u;
    o->spaces = p;
    return ok ? STATUS_OK : no_memory(err);
}

/* "opencl:2": the engine `opencl` and 2; an engine of devices without a number means 0. */
static const struct shade_engine *engine_find(const char *id, unsigned *index)
{
    for (size_t i = 0; i < ENGINE_COUNT; i++) {
        size_t n = strlen(engines[i]->info.name);
        *index = 0;
        if (strncmp(id, engines[i]->info.name, n) != 0)
            continue;
        if (!id[n])
            return engines[i];
        char *end = NULL;
        unsigned long k = id[n] == ':' && id[n + 1] >= '0' && id[n + 1] <= '9'
                              ? strtoul(id + n + 1, &end, 10)
                              : 0;
        if (engines[i]->info.indexed && end && !*end && k < 1000) {
            *index = (unsigned)k;
            return engines[i];
        }
    }
    return NULL;
}

static enum status engine_unknown(const char *id, struct error *err)
{
    struct text t = {0};
    for (size_t i = 0; i < ENGINE_COUNT; i++)
        text_printf(&t, "%s%s%s", i ? ", " : "", engines[i]->info.name,
                    engines[i]->info.indexed ? "[:n]" : "");
    enum status st = error_msg(err, STATUS_ARG, "there is no engine '%s'; there are: %s", id,
                               t.data ? t.data : "");
    text_free(&t);
    return st;
}

enum status shade_open(const char *id, const struct asl_group *group,
                       const struct shade_options *opt, struct shade **out, struct error *err)
{
    unsigned index;
    const struct shade_engine *engine = engine_find(id, &index);
    if (!engine)
        return engine_unknown(id, err);
    struct shade *s = calloc(1, sizeof *s);
    if (!s)
        return no_memory(err);
    s->engine = engine;
    s->group = group;
    if (opt)
        s->opt = *opt;
    if (!s->opt.threads)
        s->opt.threads = parallel_threads();
    s->info.threads = s->opt.threads;
    s->info.engine = arena_strdup(&s->arena, id);
    enum status st = s->info.engine ? outputs_find(s, err) : no_memory(err);
    if (st == STATUS_OK)
        st = world_copy(s, err);
    if (st == STATUS_OK)
        st = engine->open(s, index, err);
    if (st == STATUS_OK)
        *out = s;
    else
        shade_close(s);
    return st;
}

void shade_close(struct shade *s)
{
    if (!s)
        return;
    s->engine->close(s);
    arena_free(&s->arena);
    free(s);
}

const struct shade_info *shade_describe(const struct shade *s) { return &s->info; }

const struct shade_output *shade_outputs(const struct shade *s, size_t *count)
{
    *count = s->output_count;
    return s->outputs;
}

/* ---- running -------------------------------------------------------------------------------- */

static enum status points_check(const struct shade *s, struct shade_points *p, struct error *err)
{
    if (!p->iterations)
        p->iterations = 1;
    if (!p->globals) {
        size_t all = (size_t)p->grid.width * p->grid.height;
        if (!all || p->first >= all)
            return error_msg(err, STATUS_ARG, "the grid has no such points");
        if (!p->count)
            p->count = all - p->first;
        if (p->count > all - p->first)
            return error_msg(err, STATUS_ARG, "more points than the grid has");
    } else if (p->first || !p->count) {
        return error_msg(err, STATUS_ARG, "an array of points starts at 0 and is not empty");
    }
    if (s->output_count && p->count > (size_t)1 << 28)
        return error_msg(err, STATUS_LIMIT, "%zu points are too many to keep; at most 2^28",
                         p->count);
    return STATUS_OK;
}

static enum status outputs_make(const struct shade *s, struct shade_result *r, struct error *err)
{
    r->outputs = ARENA_ARRAY(&r->arena, struct shade_output, s->output_count);
    if (!r->outputs)
        return no_memory(err);
    r->output_count = s->output_count;
    uint64_t bytes = 0;
    for (size_t i = 0; i < s->output_count; i++)
        bytes += r->count * (s->outputs[i].slots * sizeof *s->outputs[i].words + 1);
    TRY(memory_plan(bytes, err, "the outputs of %zu points", r->count));
    for (size_t i = 0; i < s->output_count; i++) {
        struct shade_output *o = &r->outputs[i];
        *o = s->outputs[i];
        if (o->slots && r->count > SIZE_MAX / sizeof *o->words / o->slots)
            return no_memory(err);
        o->name = arena_strdup(&r->arena, o->name);
        o->words = arena_alloc(&r->arena, r->count * o->slots, sizeof *o->words, 64);
        o->ran = ARENA_ARRAY(&r->arena, uint8_t, r->count);
        if (!o->name || !o->words || !o->ran)
            return no_memory(err);
    }
    return STATUS_OK;
}

enum status shade_run(struct shade *s, const struct shade_points *points, struct shade_result *out,
                      struct error *err)
{
    struct shade_points p = *points;
    struct shade_result r = {0};
    enum status st = points_check(s, &p, err);
    r.count = p.count;
    if (st == STATUS_OK)
        st = outputs_make(s, &r, err);
    if (st == STATUS_OK)
        st = s->engine->run(s, &p, &r, err);
    if (st == STATUS_OK)
        *out = r;
    else
        shade_result_free(&r);
    return st;
}
