/* SPDX-License-Identifier: Apache-2.0 */
/* shade_native.c: the engines `native` and `llvm`: emitted C for rows of points, compiled by the
 * system's compiler, or emitted LLVM IR, compiled by LLVM with no compiler; run by threads. What
 * the run-time library lacks is asked of the host. */
#include "compiler.h"
#include "edits/edits.h"
#include "native.h"
#include "shade/offers.h"
#include "shade_llvm.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct a_host { /* as device/asl/host.h has it */
    void *ctx;
    void (*call)(void *ctx, uint32_t call, uint32_t point, uint32_t *io, uint32_t *rows);
};
typedef void uniform_function(const uint32_t *args, uint32_t *out);
typedef uint32_t points_function(const struct a_host *host, const struct shade_launch *k,
                                 const uint32_t *args, const float *grid, const uint32_t *points,
                                 uint32_t *out, uint32_t begin, uint32_t end, uint32_t *failed);

struct native {
    struct compiler compiler;
    struct shade_program program;
    bool by_llvm;
    void *library;             /* of the system's compiler */
    struct llvm_program *code; /* of LLVM */
    uniform_function *uniform; /* NULL: nothing is left to it */
    points_function *run;
};

/* ---- building ------------------------------------------------------------------------------- */

static const char *mode_options(enum math_mode mode)
{
    switch (mode) {
    case MODE_STRICT:
        return "-DK_MODE=0 -ffp-contract=off";
    case MODE_DEVICE:
        return "-DK_MODE=1 -ffp-contract=fast";
    default: /* no new order of operations: the library's sums of two parts depend on it */
        return "-DK_MODE=2 -ffp-contract=fast -fno-signed-zeros -freciprocal-math";
    }
}

static void library_close(struct native *n)
{
    if (n->library) {
        native_reached_take(n->library);
        dlclose(n->library);
    }
}

static enum status take(struct native *n, void *library, struct error *err)
{
    void *p = dlsym(library, "asl_points");
    if (!p) {
        dlclose(library);
        return error_msg(err, STATUS_BUILD, "the compiled shader has no entry");
    }
    library_close(n);
    n->library = library;
    memcpy(&n->run, &p, sizeof p);
    p = dlsym(library, "asl_uniform");
    memcpy(&n->uniform, &p, sizeof p);
    return STATUS_OK;
}

/* Left to itself gcc blends rows of 16 in halves of 256 bits, through memory, for many processors
 * that have AVX-512. */
#ifdef __x86_64__
#define WHOLE_ROWS "-mprefer-vector-width=512 "
#else
#define WHOLE_ROWS ""
#endif

enum { OPTIONS_MAX = 768 };

static enum status options_make(enum math_mode mode, const char *more, char options[OPTIONS_MAX],
                                struct error *err)
{
    const char *extra = getenv("ISOPHOTE_CFLAGS");
    int length =
        snprintf(options, OPTIONS_MAX,
                 "-std=gnu11 -O2 -march=native " WHOLE_ROWS "-fno-math-errno -fno-trapping-math "
                 "-fno-strict-aliasing -fwrapv -fvisibility=hidden -fPIC %s -w %s %s",
                 more, mode_options(mode), extra ? extra : "");
    return length >= 0 && length < OPTIONS_MAX
               ? STATUS_OK
               : error_msg(err, STATUS_LIMIT, "ISOPHOTE_CFLAGS is too long");
}

enum status native_grid_code_hash(const char *library, enum math_mode mode, enum code_form form,
                                  char hash[33], struct error *err)
{
    struct compiler c;
    char options[OPTIONS_MAX];
    struct text t = {0};
    TRY(compiler_find(&c, err));
    TRY(options_make(mode, form == CODE_INLINED ? "-c" : "-c -fno-inline -Dalways_inline=unused",
                     options, err));
    text_printf(&t, "%s%s#define A_HOST\n%s", portable_source, shade_wide_preamble, library);
    enum status st = t.failed ? error_msg(err, STATUS_MEMORY, "out of memory for a shader")
                              : compiler_text_hash(&c, options, t.data, hash, err);
    text_free(&t);
    return st;
}

/* A mutant, or the text that mutants are compared with: the library is the head of the program. */
static enum status build_mutant(const struct shade *s, const struct native *n, void **library,
                                struct build_info *info, struct error *err)
{
    const struct shade_program *p = &n->program;
    const struct edit *e = NULL;
    struct device_text t;
    struct edit here;
    struct text marked = {0};
    struct edited_text program = {.text = p->source.data,
                                  .hash = p->hash,
                                  .head = p->library + strlen(asl_device_source),
                                  .helpers = true};
    char options[OPTIONS_MAX];
    TRY(options_make(s->opt.mode, "-c -Dalways_inline=unused", options, err));
    TRY(device_text_need(&t, err));
    TRY(mutant_edit(s->opt.fault, &e, err));
    if (e && edit_in_library(&t, e, p->library, &here))
        program.edit = &here;
    enum status st = STATUS_OK;
    if (mutant_is_marked(s->opt.fault)) {
        text_append(&marked, p->source.data, p->library);
        st = mutant_library(s->opt.fault, &marked, err);
        program.marked_head = marked.data;
    }
    if (st == STATUS_OK)
        st = compiler_load_edited_text(&n->compiler, options, &program, library, info, err);
    text_free(&marked);
    return st;
}

static enum status build(struct shade *s, struct native *n, struct error *err)
{
    char options[OPTIONS_MAX];
    struct build_info info = {0};
    TRY(options_make(s->opt.mode, "-shared", options, err));
    double begin = clock_s();
    void *library = NULL;
    enum status st = s->opt.fault && mutant_is(s->opt.fault)
                         ? build_mutant(s, n, &library, &info, err)
                         : compiler_load_text(&n->compiler, options, n->program.source.data,
                                              n->program.hash, &library, &info, err);
    if (st == STATUS_OK)
        st = take(n, library, err);
    s->info.compile_s = clock_s() - begin;
    s->info.cached = info.cached;
    return st;
}

static enum status build_llvm(struct shade *s, struct native *n, struct error *err)
{
    struct build_info info = {0};
    struct llvm_program *code = NULL;
    enum status st = shade_llvm_build(s, &n->program, &code, &info, err);
    s->info.compile_s = info.compile_s;
    s->info.cached = info.cached;
    if (st != STATUS_OK)
        return st;
    void *p = llvm_program_symbol(code, "asl_points");
    llvm_program_free(n->code);
    n->code = code;
    memcpy(&n->run, &p, sizeof p);
    void *uniform = llvm_program_symbol(code, "asl_uniform");
    memcpy(&n->uniform, &uniform, sizeof uniform);
    return p ? STATUS_OK : error_msg(err, STATUS_BUILD, "the compiled shader has no entry");
}

/* A program of the group as it is now, in place of the one before. */
static enum status translate(struct shade *s, struct native *n, struct error *err)
{
    struct shade_program p;
    double begin = clock_s();
    enum status st = n->by_llvm ? shade_llvm_program(s, &p, err)
                                : shade_program_make(s, s->opt.form != SHADE_POINT, true, &p, err);
    if (st != STATUS_OK)
        return st;
    s->info.translate_s = clock_s() - begin;
    bool same = n->run && strcmp(p.hash, n->program.hash) == 0;
    shade_program_free(&n->program);
    n->program = p;
    s->info.uniform_operations = p.emitted.uniform_operations;
    s->info.uniform_words = p.emitted.uniform_words;
    return same ? STATUS_OK : n->by_llvm ? build_llvm(s, n, err) : build(s, n, err);
}

static enum status grids_open(struct shade *s, unsigned index, struct error *err)
{
    (void)index;
    struct native *n = calloc(1, sizeof *n);
    if (!n)
        return error_msg(err, STATUS_MEMORY, "out of memory");
    s->state = n;
    enum status st = compiler_find(&n->compiler, err);
    (void)snprintf(s->info.device, sizeof s->info.device, "%s", n->compiler.version);
    return st == STATUS_OK ? translate(s, n, err) : st;
}

static enum status llvm_open(struct shade *s, unsigned index, struct error *err)
{
    (void)index;
    struct native *n = calloc(1, sizeof *n);
    if (!n)
        return error_msg(err, STATUS_MEMORY, "out of memory");
    s->state = n;
    n->by_llvm = true;
    const char *problem = native_llvm_problem(s->info.device, sizeof s->info.device);
    if (problem)
        return error_msg(err, STATUS_UNSUPPORTED, "%s", problem);
    return translate(s, n, err);
}

static void grids_close(struct shade *s)
{
    struct native *n = s->state;
    if (!n)
        return;
    library_close(n);
    llvm_program_free(n->code);
    shade_program_free(&n->program);
    free(n);
}

/* ---- running -------------------------------------------------------------------------------- */

struct worker {
    struct shade_asker asker; /* the point that called */
    struct asl_globals globals;
    struct native_run *run;
    struct asl_host *host;
    uint32_t *out; /* rows of a unit */
    size_t begin;  /* of the unit that runs */
    struct shade_unit *unit;
};

struct native_run {
    struct shade *shade;
    struct native *native;
    const struct shade_points *points;
    struct shade_input input;
    struct shade_result *out;
    struct worker *workers;
    struct shade_unit *units;
    size_t unit_points;
    bool direct; /* one output of numbers: rows are its words */
    bool aloud;
    atomic_bool stop;
};

static void on_message(void *ctx, enum asl_message kind, const char *to, const char *text)
{
    struct worker *w = ctx;
    if (w->run->aloud)
        shade_log_message(&w->unit->log, w->asker.point, kind, to, text,
                          w->run->shade->opt.error_repeats);
}

static void on_call(void *ctx, uint32_t call, uint32_t i, uint32_t *io, uint32_t *rows)
{
    struct worker *w = ctx;
    shade_asker_set(&w->asker, i, &w->globals);
    asl_host_call(w->host, i - w->begin, w->asker.globals, call, io, rows);
}

static uint32_t output_word(struct worker *w, enum asl_base scalar, uint32_t word)
{
    if (scalar == ASL_FLOAT || scalar == ASL_INT)
        return word;
    struct text *t = &w->unit->strings;
    uint32_t at = (uint32_t)t->len;
    if (scalar == ASL_STRING)
        text_puts(t, asl_host_text(w->host, word));
    else
        asl_closure_print(asl_host_closure(w->host, word), t);
    text_append(t, "", 1);
    return at;
}

/* Rows of points [begin, end) into the outputs. */
static void keep_outputs(struct worker *w, const uint32_t *rows, size_t begin, size_t end)
{
    const struct shade_result *out = w->run->out;
    size_t stride = w->run->native->program.emitted.out_words, at = 0;
    for (size_t k = 0; k < out->output_count; k++) {
        const struct shade_output *o = &out->outputs[k];
        memset(o->ran + begin, 1, end - begin);
        for (size_t i = begin; !w->run->direct && i < end; i++)
            for (size_t j = 0; j < o->slots; j++)
                o->words[i * o->slots + j] = output_word(w, asl_type_scalar(o->type, j),
                                                         rows[(i - begin) * stride + at + j]);
        at += o->slots;
    }
}

static void fail_point(struct worker *w, const struct shade_failure *f)
{
    struct native_run *run = w->run;
    if (run->aloud)
        text_append(&w->unit->failures, (const char *)f, sizeof *f);
    if (!run->shade->opt.keep_going)
        run->stop = true;
}

/* Runs [begin, end); a group with a point that fails runs again, a point at a time. */
static void stretch_run(struct worker *w, const struct a_host *host, size_t begin, size_t end)
{
    const struct native_run *run = w->run;
    const struct native *n = run->native;
    const struct shade_input *in = &run->input;
    size_t stride = n->program.emitted.out_words;
    while (begin < end && !run->stop) {
        uint32_t failed[2] = {0, 0};
        uint32_t *rows = run->direct ? run->out->outputs[0].words + begin * stride : w->out;
        asl_host_begin(w->host);
        w->begin = begin;
        size_t done = n->run(host, &in->launch, in->args, in->grid, in->points, rows,
                             (uint32_t)begin, (uint32_t)end, failed);
        struct shade_failure f = {0};
        if (asl_host_failed(w->host, &f.point, &f.error)) {
            f.point += run->points->first + begin;
            fail_point(w, &f);
        } else if (!failed[0]) {
            keep_outputs(w, rows, begin, done);
        } else if (done - failed[1] > 1) {
            keep_outputs(w, rows, begin, failed[1]);
            shade_log_cut(&w->unit->log, run->points->first + failed[1]);
            for (size_t i = failed[1]; i < done; i++)
                stretch_run(w, host, i, i + 1);
        } else {
            keep_outputs(w, rows, begin, failed[1]);
            shade_program_failure(run->shade, &n->program, failed[0],
                                  run->points->first + failed[1], &f);
            fail_point(w, &f);
        }
        begin = done;
    }
}

static void unit_run(void *ctx, size_t index, unsigned thread)
{
    struct native_run *run = ctx;
    struct worker *w = &run->workers[thread];
    size_t begin = index * run->unit_points, end = begin + run->unit_points;
    struct a_host host = {w, on_call};
    if (run->stop || cancel_requested)
        return;
    w->unit = &run->units[index];
    text_free(&w->unit->strings); /* of the iteration before */
    stretch_run(w, &host, begin, end < run->points->count ? end : run->points->count);
}

static enum status workers_make(struct native_run *run, unsigned threads, struct error *err)
{
    const struct shade_strings *strings = &run->native->program.strings;
    for (unsigned i = 0; i < threads; i++) {
        struct worker *w = &run->workers[i];
        w->run = run;
        w->asker = (struct shade_asker){.shade = run->shade, .points = run->points};
        struct asl_context_options o = {.services = shade_services(&w->asker, on_message),
                                        .error_repeats = true}; /* the log looks at points */
        enum status st = asl_host_new(run->native->program.code, &run->native->program.emitted, &o,
                                      &w->host, err);
        if (st != STATUS_OK)
            return st;
        for (size_t k = run->native->program.emitted.string_count; k < strings->count; k++)
            (void)asl_host_string(w->host, strings->text[k]);
        w->out = malloc((run->unit_points * run->native->program.emitted.out_words + 1) *
                        sizeof *w->out);
        if (!w->out)
            return error_msg(err, STATUS_MEMORY, "out of memory");
    }
    return STATUS_OK;
}

/* Multiples of the widest row of lanes; at most what a host holds. */
static size_t points_of_unit(size_t count, unsigned threads)
{
    size_t n = count / ((size_t)threads * 16) / 64 * 64;
    return n < 64 ? 64 : n > ASL_HOST_POINTS ? ASL_HOST_POINTS : n;
}

static enum status run_all(struct native_run *run, unsigned threads, struct error *err)
{
    size_t units = (run->points->count + run->unit_points - 1) / run->unit_points;
    run->units = calloc(units, sizeof *run->units);
    run->workers = calloc(threads, sizeof *run->workers);
    enum status st = run->units && run->workers ? workers_make(run, threads, err)
                                                : error_msg(err, STATUS_MEMORY, "out of memory");
    for (uint32_t k = 0; st == STATUS_OK && k < run->points->iterations && !run->stop; k++) {
        run->aloud = k == 0;
        double begin = clock_s();
        if (run->native->uniform)
            run->native->uniform(run->input.args, run->input.args + run->input.uniform);
        parallel_for(units, threads, unit_run, run);
        run->out->run_s += clock_s() - begin;
        if (cancel_requested)
            st = error_msg(err, STATUS_CANCELLED, "stopped");
    }
    if (st == STATUS_OK)
        st = shade_units_collect(run->units, units, run->unit_points, run->shade->opt.error_repeats,
                                 run->out, err);
    for (unsigned i = 0; run->workers && i < threads; i++) {
        asl_host_free(run->workers[i].host);
        free(run->workers[i].out);
    }
    shade_units_free(run->units, units);
    free(run->workers);
    free(run->units);
    return st;
}

static enum status native_run(struct shade *s, const struct shade_points *points,
                              struct shade_result *out, struct error *err)
{
    struct native_run run = {.shade = s, .native = s->state, .points = points, .out = out};
    struct arena a = {0};
    enum status st = shade_program_bakes(s) ? translate(s, run.native, err) : STATUS_OK;
    if (st == STATUS_OK)
        st = shade_input_make(s, &run.native->program, points, &a, &run.input, err);
    run.direct = out->output_count == 1;
    for (size_t j = 0; run.direct && j < out->outputs[0].slots; j++) {
        enum asl_base b = asl_type_scalar(out->outputs[0].type, j);
        run.direct = b == ASL_FLOAT || b == ASL_INT;
    }
    run.unit_points = points_of_unit(points->count, s->opt.threads);
    if (st == STATUS_OK)
        st = run_all(&run, s->opt.threads, err);
    arena_free(&a);
    return st;
}

const struct shade_engine shade_native = {
    .info = {"native", "emitted C by the system's compiler, threads and vectors"},
    .open = grids_open,
    .run = native_run,
    .close = grids_close,
};

const struct shade_engine shade_llvm = {
    .info = {"llvm",
             "emitted LLVM IR, compiled in memory; threads and vectors, no compiler needed"},
    .open = llvm_open,
    .run = native_run,
    .close = grids_close,
};
