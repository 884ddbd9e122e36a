/* SPDX-License-Identifier: Apache-2.0 */
/* shade_interp.c: the engines that run on the processor without translating to machine code, a
 * context a thread: `interp`, the reference interpreter, and `ir`, the optimised program. */
#include "shade_engine.h"

#include <stdlib.h>
#include <string.h>

/* Points that one turn of the parallel loop runs. */
enum { UNIT_POINTS = 64 };

struct thread_state {
    struct shade_asker asker; /* the point that runs */
    struct interp_run *run;
    struct asl_context *context;   /* of `interp` */
    struct asl_code_context *code; /* of `ir` */
    struct shade_log *log;
};

struct unit {
    struct shade_log log;
    struct text strings;  /* of outputs; words hold offsets into it until all have run */
    struct text failures; /* struct shade_failure, one after another */
};

struct interp_run {
    struct shade *shade;
    const struct shade_points *points;
    struct shade_result *out;
    struct thread_state *threads;
    struct unit *units;
    unsigned thread_count;
    bool aloud; /* the first iteration: messages and failures are kept */
    atomic_bool stop;
};

static void on_message(void *ctx, enum asl_message kind, const char *to, const char *text)
{
    struct thread_state *t = ctx;
    if (t->run->aloud)
        shade_log_message(t->log, t->asker.point, kind, to, text);
}

/* ---- the two machines ----------------------------------------------------------------------- */

struct ir_state { /* shade.state of `ir` */
    struct arena arena;
    struct asl_code *code;
    bool used; /* by a run */
};

static enum status machine_new(struct thread_state *t, const struct asl_context_options *o,
                               struct error *err)
{
    const struct shade *s = t->run->shade;
    const struct ir_state *ir = s->state;
    if (!ir)
        return asl_context_new(s->group, o, &t->context, err);
    enum status st = asl_code_context_new(ir->code, o, &t->code, err);
    if (st == STATUS_OK) /* parameters as they are now */
        asl_code_args_fill(ir->code, s->group, asl_code_context_args(t->code));
    return st;
}

static enum status machine_run(struct thread_state *t, struct error *err)
{
    return t->code ? asl_code_context_run(t->code, t->asker.globals, err)
                   : asl_context_run(t->context, t->asker.globals, err);
}

static const union asl_slot *machine_value(const struct thread_state *t, const char *name)
{
    return t->code ? asl_code_context_value(t->code, name, NULL, NULL)
                   : asl_context_value(t->context, name, NULL, NULL);
}

static uint64_t machine_steps(const struct thread_state *t)
{
    return t->code ? asl_code_context_steps(t->code) : asl_context_steps(t->context);
}

static void machine_free(struct thread_state *t)
{
    asl_code_context_free(t->code);
    asl_context_free(t->context);
}

/* An output's slot as a word; texts go to the unit's strings. */
static uint32_t slot_word(struct unit *u, enum asl_base scalar, union asl_slot v)
{
    if (scalar == ASL_FLOAT || scalar == ASL_INT)
        return (uint32_t)v.i;
    uint32_t at = (uint32_t)u->strings.len;
    if (scalar == ASL_STRING)
        text_puts(&u->strings, v.s);
    else
        asl_closure_print(v.c, &u->strings);
    text_append(&u->strings, "", 1);
    return at;
}

static void keep_outputs(struct thread_state *t, struct unit *u, size_t i)
{
    const struct shade_result *out = t->run->out;
    for (size_t k = 0; k < out->output_count; k++) {
        const struct shade_output *o = &out->outputs[k];
        const union asl_slot *v = machine_value(t, o->name);
        o->ran[i] = v != NULL;
        for (size_t j = 0; v && j < o->slots; j++)
            o->words[i * o->slots + j] = slot_word(u, asl_type_scalar(o->type, j), v[j]);
    }
}

static void unit_run(void *ctx, size_t index, unsigned thread)
{
    struct interp_run *run = ctx;
    struct thread_state *t = &run->threads[thread];
    struct unit *u = &run->units[index];
    const struct shade_points *p = run->points;
    size_t begin = index * UNIT_POINTS, end = begin + UNIT_POINTS;
    struct asl_globals g;
    t->log = &u->log;
    text_free(&u->strings); /* of the iteration before */
    for (size_t i = begin; i < (end < p->count ? end : p->count); i++) {
        if (run->stop || cancel_requested)
            return;
        shade_asker_set(&t->asker, i, &g);
        struct shade_failure f = {.point = t->asker.point};
        if (machine_run(t, &f.error) == STATUS_OK) {
            keep_outputs(t, u, i);
            continue;
        }
        if (run->aloud)
            text_append(&u->failures, (const char *)&f, sizeof f);
        if (!run->shade->opt.keep_going)
            run->stop = true;
    }
}

static enum status contexts_make(struct interp_run *run, struct error *err)
{
    enum status st = STATUS_OK;
    struct shade *s = run->shade;
    for (unsigned i = 0; st == STATUS_OK && i < run->thread_count; i++) {
        struct thread_state *t = &run->threads[i];
        t->run = run;
        t->asker = (struct shade_asker){.shade = s, .points = run->points};
        struct asl_context_options o = {.services = shade_services(&t->asker, on_message),
                                        .step_budget = s->opt.step_budget,
                                        .perturb = s->opt.perturb,
                                        .error_repeats = s->opt.error_repeats,
                                        .entry_layers = s->entry_layers};
        st = machine_new(t, &o, err);
        if (st == STATUS_OK && t->context && s->opt.perturb && s->opt.mode != MODE_STRICT)
            asl_context_contract(t->context, s->opt.perturb);
    }
    return st;
}

static enum status run_all(struct interp_run *run, size_t units, struct error *err)
{
    enum status st = contexts_make(run, err);
    for (uint32_t k = 0; st == STATUS_OK && k < run->points->iterations; k++) {
        run->aloud = k == 0;
        double begin = clock_s();
        parallel_for(units, run->thread_count, unit_run, run);
        run->out->run_s += clock_s() - begin;
        if (cancel_requested)
            st = error_msg(err, STATUS_CANCELLED, "stopped");
        if (run->stop)
            break;
    }
    for (unsigned i = 0; st == STATUS_OK && i < run->thread_count; i++)
        run->out->steps += machine_steps(&run->threads[i]);
    return st;
}

static enum status results_collect(const struct interp_run *run, size_t units, struct error *err)
{
    struct shade_log *logs = calloc(units, sizeof *logs);
    const struct text **strings = calloc(units, sizeof *strings),
                      **failures = calloc(units, sizeof *failures);
    enum status st = STATUS_OK;
    if (!logs || !strings || !failures)
        st = error_msg(err, STATUS_MEMORY, "out of memory");
    for (size_t i = 0; st == STATUS_OK && i < units; i++) {
        logs[i] = run->units[i].log;
        strings[i] = &run->units[i].strings;
        failures[i] = &run->units[i].failures;
    }
    if (st == STATUS_OK)
        st = shade_strings_number(strings, UNIT_POINTS, run->out, err);
    if (st == STATUS_OK)
        st = shade_logs_collect(logs, units, run->shade->opt.error_repeats, run->out, err);
    if (st == STATUS_OK)
        st = shade_failures_collect(failures, units, run->out, err);
    free(logs);
    free((void *)strings);
    free((void *)failures);
    return st;
}

static enum status interp_run(struct shade *s, const struct shade_points *points,
                              struct shade_result *out, struct error *err)
{
    size_t units = (points->count + UNIT_POINTS - 1) / UNIT_POINTS;
    struct interp_run run = {.shade = s, .points = points, .out = out};
    run.thread_count = s->opt.threads < units ? s->opt.threads : (unsigned)units;
    run.threads = calloc(run.thread_count, sizeof *run.threads);
    run.units = calloc(units, sizeof *run.units);
    enum status st = STATUS_OK;
    if (!run.threads || !run.units)
        st = error_msg(err, STATUS_MEMORY, "out of memory");
    if (st == STATUS_OK)
        st = run_all(&run, units, err);
    if (st == STATUS_OK)
        st = results_collect(&run, units, err);
    for (unsigned i = 0; run.threads && i < run.thread_count; i++)
        machine_free(&run.threads[i]);
    for (size_t i = 0; run.units && i < units; i++) {
        text_free(&run.units[i].log.text);
        text_free(&run.units[i].strings);
        text_free(&run.units[i].failures);
    }
    free(run.threads);
    free(run.units);
    return st;
}

static enum status interp_open(struct shade *s, unsigned index, struct error *err)
{
    (void)index;
    (void)err;
    (void)snprintf(s->info.device, sizeof s->info.device, "the reference interpreter");
    return STATUS_OK;
}

static void interp_close(struct shade *s) { (void)s; }

const struct shade_engine shade_interp = {
    .info = {"interp", "the reference interpreter, which defines what a program means"},
    .open = interp_open,
    .run = interp_run,
    .close = interp_close,
};

static enum status ir_lower(struct shade *s, struct error *err)
{
    struct ir_state *ir = s->state;
    const char **outputs = ARENA_ARRAY(&s->arena, const char *, s->output_count + 1);
    struct asl_lower_options o = {.level = (int)s->opt.level,
                                  .bake = s->opt.bake,
                                  .outputs = outputs,
                                  .entry_layers = s->entry_layers,
                                  .fault = s->opt.fault};
    if (!outputs)
        return error_msg(err, STATUS_MEMORY, "out of memory");
    for (size_t i = 0; i < s->output_count; i++)
        outputs[i] = s->outputs[i].name;
    arena_free(&ir->arena);
    double begin = clock_s();
    enum status st = asl_lower(&ir->arena, s->group, &o, &ir->code, err);
    s->info.translate_s = clock_s() - begin;
    return st;
}

static enum status ir_open(struct shade *s, unsigned index, struct error *err)
{
    (void)index;
    (void)snprintf(s->info.device, sizeof s->info.device, "the optimised program, interpreted");
    s->state = ARENA_NEW(&s->arena, struct ir_state);
    return s->state ? ir_lower(s, err) : error_msg(err, STATUS_MEMORY, "out of memory");
}

/* Baked parameters may have changed since the run before. */
static enum status ir_run(struct shade *s, const struct shade_points *points,
                          struct shade_result *out, struct error *err)
{
    struct ir_state *ir = s->state;
    enum status st = ir->used && s->opt.bake ? ir_lower(s, err) : STATUS_OK;
    ir->used = true;
    return st == STATUS_OK ? interp_run(s, points, out, err) : st;
}

static void ir_close(struct shade *s)
{
    struct ir_state *ir = s->state;
    if (ir)
        arena_free(&ir->arena);
}

const struct shade_engine shade_ir = {
    .info = {"ir", "the optimised program, run instruction by instruction"},
    .open = ir_open,
    .run = ir_run,
    .close = ir_close,
};
