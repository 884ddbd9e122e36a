/* SPDX-License-Identifier: Apache-2.0 */
/* shade_api.c: the engines of devices, `opencl:n`, `cuda:n` ...: emitted shaders, one work-item a
 * point, through whatever API runs the device (struct backend_api, job_build). */
#include "device.h"
#include "shade/offers.h"

#include <stdlib.h>
#include <string.h>

struct state {
    const struct backend_api *api;
    struct backend *backend;
    struct shade_program program;
    struct job_program *job; /* of the program's source */
};

/* ---- building ------------------------------------------------------------------------------- */

/* "FILE:12:5: error: text" (clang's kind) or "FILE(12): error: text" (NVRTC's), at `line`. */
static bool line_place(const char *line, struct error *err)
{
    size_t name = strcspn(line, ":(\n");
    bool clang = line[name] == ':';
    if (!name || (!clang && line[name] != '('))
        return false;
    char *end;
    unsigned long row = strtoul(line + name + 1, &end, 10), col = 0;
    if (end == line + name + 1 || *end != (clang ? ':' : ')'))
        return false;
    if (clang)
        col = strtoul(end + 1, &end, 10);
    else
        end++;
    if (strncmp(end, ": error", 7) != 0)
        return false;
    snprintf(err->file, sizeof err->file, "%.*s", (int)name, line);
    err->line = (uint32_t)row;
    err->col = (uint32_t)col;
    return true;
}

/* The first error of a compiler's log as the error's place. */
static void log_place(const char *log, struct error *err)
{
    for (const char *line = log; line && err; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (line_place(line, err))
            return;
    }
}

static enum status build(struct shade *s, struct state *t, struct error *err)
{
    struct job_source source = {.text = t->program.source.data,
                                .entry = "asl_points",
                                .once = t->program.emitted.uniform_words ? "asl_uniform" : NULL,
                                .mode = s->opt.mode};
    struct build_info info = {0};
    snprintf(source.hash, sizeof source.hash, "%s", t->program.hash);
    t->api->job_release(t->backend, t->job);
    t->job = NULL;
    double begin = clock_s();
    enum status st = t->api->job_build(t->backend, &source, &t->job, &info, err);
    s->info.compile_s = clock_s() - begin;
    s->info.cached = info.cached;
    if (st == STATUS_BUILD)
        log_place(info.log, err);
    return st;
}

static enum status translate(struct shade *s, struct state *t, struct error *err)
{
    struct shade_program p;
    double begin = clock_s();
    enum status st = shade_program_make(s, false, false, &p, err);
    if (st != STATUS_OK)
        return st;
    s->info.translate_s = clock_s() - begin;
    bool same = t->job && strcmp(p.hash, t->program.hash) == 0;
    shade_program_free(&t->program);
    t->program = p;
    s->info.uniform_operations = p.emitted.uniform_operations;
    s->info.uniform_words = p.emitted.uniform_words;
    return same ? STATUS_OK : build(s, t, err);
}

static enum status api_open(struct shade *s, unsigned index, struct error *err)
{
    char id[32];
    struct device_info info;
    struct state *t = calloc(1, sizeof *t);
    if (!t)
        return error_msg(err, STATUS_MEMORY, "out of memory");
    s->state = t;
    snprintf(id, sizeof id, "%s:%u", s->engine->info.name, index);
    enum status st = device_find(id, &info, err);
    if (st != STATUS_OK)
        return st;
    t->api = backend_of_id(info.id);
    if (!t->api || !t->api->job_build)
        return error_msg(err, STATUS_UNSUPPORTED, "%s runs no shaders without a scene", info.id);
    st = t->api->open(&info, &t->backend, err);
    if (st != STATUS_OK)
        return st;
    snprintf(s->info.device, sizeof s->info.device, "%s", info.name);
    return translate(s, t, err);
}

static void api_close(struct shade *s)
{
    struct state *t = s->state;
    if (!t)
        return;
    if (t->backend) {
        t->api->job_release(t->backend, t->job);
        t->api->close(t->backend);
    }
    shade_program_free(&t->program);
    free(t);
}

/* ---- running -------------------------------------------------------------------------------- */

static enum status launch(void *ctx, const struct shade_device_launch *l, struct error *err)
{
    const struct shade *s = ctx;
    const struct state *t = s->state;
    const size_t log_bytes = l->k->log_words * sizeof *l->log;
    /* in the order of asl_points' parameters (device/asl/entry.h) */
    const struct job_buffer buffers[] = {
        {l->k, NULL, sizeof *l->k, "the launch settings"},
        {l->args, NULL, l->arg_words * sizeof *l->args, "the argument area"},
        {NULL, NULL, l->uniform_words * sizeof *l->args, "what is the same at all points"},
        {l->grid, NULL, l->grid_floats * sizeof *l->grid, "the grid"},
        {l->points, NULL, l->point_words * sizeof *l->points, "the points"},
        {NULL, l->out, l->out_words * sizeof *l->out, "the outputs"},
        {l->failed, l->failed, 2 * sizeof *l->failed, "the failures"},
        {l->log, l->log, log_bytes, "the messages"},
    };
    return t->api->job_run(t->backend, t->job, buffers, sizeof buffers / sizeof *buffers,
                           l->k->count, s->opt.work_group, l->iterations, l->seconds, err);
}

static enum status api_run(struct shade *s, const struct shade_points *points,
                           struct shade_result *out, struct error *err)
{
    struct state *t = s->state;
    enum status st = shade_program_bakes(s) ? translate(s, t, err) : STATUS_OK;
    return st == STATUS_OK ? shade_device_run(s, &t->program, points, launch, s, out, err) : st;
}

#define ENGINE(name, text)                                                                         \
    {                                                                                              \
        .info = {name, text, true}, .open = api_open, .run = api_run, .close = api_close           \
    }
const struct shade_engine shade_apis[SHADE_API_COUNT] = {
    ENGINE("opencl", "emitted OpenCL C, one work-item a point"),
    ENGINE("cuda", "the same text as CUDA, through NVRTC"),
    ENGINE("hip", "the same text as HIP, through hipRTC"),
    ENGINE("level_zero", "the same text as OpenCL C, through clang-15 and SPIR-V"),
};
