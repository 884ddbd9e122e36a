/* SPDX-License-Identifier: Apache-2.0 */
/* Running one case: the frame around a case function, and the worker process that reports it. */
#include "cases/case.h"
#include "result_text.h"
#include "steps/offers.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void case_compiling(struct run_context *c, bool compiling)
{
    double now = clock_s();
    if (compiling == c->compiling)
        return;
    *(c->compiling ? &c->result->compile_s : &c->result->run_s) += now - c->phase_start;
    c->phase_start = now;
    c->compiling = compiling;
    const char *line = compiling ? "{\"phase\":\"compile\"}\n" : "{\"phase\":\"run\"}\n";
    if (c->report >= 0)
        write_full(c->report, line, strlen(line)); /* a closed pipe shows at the result */
}

enum status case_device(struct run_context *c, struct error *err)
{
    if (c->device)
        return STATUS_OK;
    enum status s = device_open(c->device_id, &c->device, err);
    if (s == STATUS_OK)
        c->info = device_describe(c->device);
    return s;
}

enum status case_scene(struct run_context *c, struct error *err)
{
    if (c->scene)
        return STATUS_OK;
    if (!c->scene_path)
        return error_msg(err, STATUS_INTERNAL, "the case has no scene");
    return scene_load(c->scene_path, &c->scene, err);
}

static void forget_scene(struct run_context *c)
{
    reference_close(c->reference);
    c->reference = NULL;
    scene_free(c->scene);
    c->scene = NULL;
}

enum status case_library_scene(struct run_context *c, const char *name, struct error *err)
{
    forget_scene(c);
    TRY(data_path(c->arena, arena_printf(c->arena, "scenes/library/%s.json", name), &c->scene_path,
                  err));
    return case_scene(c, err);
}

enum status case_reference(struct run_context *c, struct error *err)
{
    if (c->reference)
        return STATUS_OK;
    enum status s = case_scene(c, err);
    if (s == STATUS_OK)
        s = case_device(c,
                        err); /* first: Embree's libtbb is not the one that Intel's driver needs */
    return s == STATUS_OK ? reference_open(c->scene, &c->reference, err) : s;
}

static enum status scene_onto_device(struct run_context *c, enum bvh_kind bvh, struct error *err)
{
    enum status s = case_scene(c, err);
    if (s == STATUS_OK)
        s = case_device(c, err);
    if (s == STATUS_OK)
        device_model(c->device, c->model);
    return s == STATUS_OK ? device_load(c->device, c->scene, bvh, NULL, err) : s;
}

static enum status kernel_build(struct run_context *c, enum math_mode mode, struct error *err)
{
    c->mode = mode;
    case_compiling(c, true);
    const struct build_settings settings = {.mode = mode, .model = c->model};
    enum status s = device_build(c->device, &settings, NULL, err);
    case_compiling(c, false);
    return s;
}

enum status case_ready(struct run_context *c, enum math_mode mode, enum bvh_kind bvh,
                       struct error *err)
{
    enum status s = scene_onto_device(c, bvh, err);
    return s == STATUS_OK ? kernel_build(c, mode, err) : s;
}

enum status case_ready_to_probe(struct run_context *c, enum math_mode mode, enum bvh_kind bvh,
                                struct error *err)
{
    enum status s = case_device(c, err);
    if (s == STATUS_OK)
        s = kernel_build(c, mode, err);
    return s == STATUS_OK ? scene_onto_device(c, bvh, err) : s;
}

enum status case_materials(struct run_context *c, struct text *t, struct error *err)
{
    forget_scene(c);
    enum status s = t->failed ? error_msg(err, STATUS_MEMORY, "out of memory for the materials")
                              : scene_load_memory("materials of the case.json", t->data, t->len,
                                                  &c->scene, err);
    text_free(t);
    return s;
}

static void verdict_set(struct run_context *c, enum verdict v, const char *fmt, va_list ap)
{
    char text[2048];
    vsnprintf(text, sizeof text, fmt, ap);
    c->result->verdict = v;
    c->result->reason = arena_strdup(c->arena, text);
}

#define CASE_ENDS(name, verdict)                                                                   \
    enum status name(struct run_context *c, const char *fmt, ...)                                  \
    {                                                                                              \
        va_list ap;                                                                                \
        va_start(ap, fmt);                                                                         \
        verdict_set(c, verdict, fmt, ap);                                                          \
        va_end(ap);                                                                                \
        return STATUS_OK;                                                                          \
    }
CASE_ENDS(case_pass, VERDICT_PASS)
CASE_ENDS(case_fail, VERDICT_FAIL)
CASE_ENDS(case_skip, VERDICT_SKIP)
#undef CASE_ENDS

void case_detail(struct run_context *c, struct json_writer *w)
{
    if (!w->out.failed && w->out.data)
        c->result->detail = arena_strdup(c->arena, w->out.data);
    text_free(&w->out);
}

enum status case_film(struct run_context *c, const struct render_job *job, const struct film *film,
                      struct error *err)
{
    struct film_record *r = ARENA_NEW(c->arena, struct film_record);
    if (!r)
        return error_msg(err, STATUS_MEMORY, "out of memory for the sums of a film");
    TRY(film_record_fill(c->arena, job, film, r, err));
    c->result->films = r; /* of several settings the last one's, where bits differ */
    c->result->film_count = 1;
    return STATUS_OK;
}

bool is_native(const char *id) { return strcmp(id, "native") == 0; }

bool case_of_mutant(const struct run_context *c)
{
    return strncmp(c->device_id, "mutant:", 7) == 0;
}

static enum verdict verdict_of(enum status s)
{
    switch (s) {
    case STATUS_UNSUPPORTED:
    case STATUS_MISSING:
        return VERDICT_SKIP;
    case STATUS_MISMATCH:
    case STATUS_BUILD: /* a kernel that the device's compiler refuses is the device's failure */
        return VERDICT_FAIL;
    default:
        return VERDICT_ERROR;
    }
}

/* Of a text with marks: which of them the case passed, four a digit, as the detail's first
 * member. */
static void tell_reached(struct arena *a, struct conform_result *r)
{
    const unsigned char *marks;
    const size_t count = mutants_reached(&marks);
    const char *more = r->detail && r->detail[0] == '{' && r->detail[1] != '}' ? r->detail + 1 : "";
    struct text t = {0};
    text_puts(&t, "{\"reached\":\"");
    for (size_t i = 0; i < count; i += 4) {
        unsigned digit = 0;
        for (size_t k = 0; k < 4 && i + k < count; k++)
            digit |= (unsigned)(marks[i + k] != 0) << k;
        text_printf(&t, "%x", digit);
    }
    text_printf(&t, "\"%s%s", more[0] ? "," : "}", more);
    if (!t.failed)
        r->detail = arena_strdup(a, t.data);
    text_free(&t);
}

static enum status run_case(struct arena *a, const char *name, const char *scene,
                            const char *device, const struct case_settings *settings, int report,
                            struct conform_result *out, struct error *err)
{
    const struct case_row *row = suite_row(name);
    if (!row)
        return error_msg(err, STATUS_TYPE, "there is no case %s", name);
    struct conform_result r = {.verdict = VERDICT_ERROR};
    struct run_context c = {.arena = a,
                            .name = name,
                            .device_id = device,
                            .scene_path = scene,
                            .from_scratch = settings->from_scratch,
                            .model = settings->model,
                            .result = &r,
                            .report = report,
                            .phase_start = clock_s()};
    struct error e = {0};
    enum status s = row->run(&c, &e);
    case_answer_close(&c);
    if (s == STATUS_CANCELLED) {
        if (err)
            *err = e;
    } else if (s != STATUS_OK) {
        char text[sizeof e.msg + sizeof e.file + 256];
        error_format(&e, text, sizeof text);
        r.verdict = verdict_of(s);
        r.reason = arena_strdup(a, e.file[0] ? text : e.msg);
    } else if (r.verdict == VERDICT_PASS && c.compared == 0) {
        r.verdict = VERDICT_ERROR;
        r.reason = "the case compared nothing";
    } else if (r.verdict == VERDICT_ERROR && !r.reason) {
        r.reason = "the case came to no verdict";
    }
    reference_close(c.reference);
    scene_free(c.scene);
    device_close(c.device);
    if (strcmp(device, "mutant:marked") == 0)
        tell_reached(a, &r);
    *(c.compiling ? &r.compile_s : &r.run_s) += clock_s() - c.phase_start;
    if (s == STATUS_CANCELLED)
        return s;
    if (!r.replay && r.verdict != VERDICT_PASS && r.verdict != VERDICT_SKIP) {
        bool plain =
            strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") ==
            strlen(name);
        const char *id = shell_word(a, device), *path = scene ? shell_word(a, scene) : "";
        r.replay = plain && id && path
                       ? arena_printf(a, "isophote conform --device %s --filter '^%s$'%s%s", id,
                                      name, scene ? " --scene " : "", path)
                       : NULL;
    }
    *out = r;
    return STATUS_OK;
}

enum status conform_run_case(struct arena *a, const char *name, const char *scene,
                             const char *device, struct conform_result *out, struct error *err)
{
    return run_case(a, name, scene, device, &(struct case_settings){0}, -1, out, err);
}

static enum status answer(const char *name, const char *scene, const char *device,
                          const struct case_settings *settings, int fd, struct error *err)
{
    struct arena a = {0};
    struct conform_result r;
    enum status s = run_case(&a, name, scene, device, settings, fd, &r, err);
    if (s == STATUS_OK) {
        struct json_writer w = {0};
        json_begin_object(&w);
        json_key(&w, "result");
        json_begin_object(&w);
        conform_result_write(&w, &r, true);
        result_films_write(&w, &r);
        json_end_object(&w);
        json_end_object(&w);
        text_puts(&w.out, "\n");
        if (w.out.failed)
            s = error_msg(err, STATUS_MEMORY, "out of memory for the result");
        else if (!write_full(fd, w.out.data, w.out.len))
            s = error_msg(err, STATUS_IO, "the report pipe: %s", strerror(errno));
        text_free(&w.out);
    }
    arena_free(&a);
    return s;
}

/* The requests of standard input, to its end. */
static enum status answer_requests(const char *device, const struct case_settings *settings, int fd,
                                   struct error *err)
{
    enum status s = STATUS_OK;
    char *line = NULL;
    size_t room = 0;
    for (ssize_t n; s == STATUS_OK && (n = getline(&line, &room, stdin)) > 0;) {
        struct arena a = {0};
        const struct json *o, *name, *scene = NULL;
        s = json_parse(&a, "a worker's request", line, (size_t)n, &o, err);
        if (s == STATUS_OK && !((name = json_get(o, "case")) && name->type == JSON_STRING &&
                                (!(scene = json_get(o, "scene")) || scene->type == JSON_STRING)))
            s = error_msg(err, STATUS_TYPE, "a worker's request is not {\"case\":NAME}: %s", line);
        if (s == STATUS_OK)
            s = answer(name->string, scene ? scene->string : NULL, device, settings, fd, err);
        arena_free(&a);
    }
    free(line);
    return s;
}

enum status conform_worker(const char *name, const char *scene, const char *device,
                           const struct case_settings *settings, int fd, bool stays,
                           struct error *err)
{
    struct device *kept = NULL;
    trees_keep(true); /* the next worker loads the same scenes */
    programs_for_few_samples(true);
    inputs_watch(fd);
    /* A driver keeps its state (a CUDA device's context) while somebody has the device open. One
     * that cannot be opened is the cases' to tell. */
    if (stays && device_open(device, &kept, NULL) != STATUS_OK)
        kept = NULL;
    enum status s = answer(name, scene, device, settings, fd, err);
    if (s == STATUS_OK && stays)
        s = answer_requests(device, settings, fd, err);
    device_close(kept);
    return s;
}
