/* SPDX-License-Identifier: Apache-2.0 */
/* shade_interp.c: the engines that run on the processor without translating to machine code, a
 * context a thread: `interp`, the reference interpreter, `ir`, the optimised program, and `grid`,
 * the same with each instruction over many points. */
#include "shade_engine.h"

#include <stdlib.h>
#include <string.h>

/* Points that one turn of the parallel loop runs; of `grid`, that a grid has. */
enum { UNIT_POINTS = 64, GRID_POINTS = 256 };

struct thread_state {
    struct shade_asker asker; /* the point that runs */
    struct interp_run *run;
    struct asl_context *context;   /* of `interp` */
    struct asl_code_context *code; /* of `ir` */
    struct asl_grid *grid;         /* of `grid` */
    struct asl_globals *globals;   /* likewise, of its points */
    size_t first;                  /* likewise, the first one's number */
    struct shade_log *log;
};

struct interp_run {
    struct shade *shade;
    const struct shade_points *points;
    struct shade_result *out;
    struct thread_state *threads;
    struct shade_unit *units;
    unsigned thread_count;
    size_t unit_points;
    bool aloud; /* the first iteration: messages and failures are kept */
    atomic_bool stop;
};

static void on_message(void *ctx, enum asl_message kind, const char *to, const char *text)
{
    struct thread_state *t = ctx;
    if (t->run->aloud)
        shade_log_message(t->log, t->asker.point, kind, to, text, t->run->shade->opt.error_repeats);
}

/* ---- the two machines ----------------------------------------------------------------------- */

struct ir_state { /* shade.state of `ir` and of `grid` */
    struct arena arena;
    struct asl_code *code;
    bool used; /* by a run */
    bool grid;
};

/* A builtin runs for that point of the grid: services are asked by it. */
static void grid_enter(void *ctx, size_t point)
{
    struct thread_state *t = ctx;
    t->asker.point = t->first + point;
    t->asker.globals = &t->globals[point];
}

static enum status grid_new(struct thread_state *t, const struct asl_context_options *o,
                            struct error *err)
{
    const struct shade *s = t->run->shade;
    const struct ir_state *ir = s->state;
    const size_t points = t->run->unit_points;
    t->globals = calloc(points, sizeof *t->globals);
    if (!t->globals)
        return error_msg(err, STATUS_MEMORY, "out of memory for %zu points", points);
    TRY(asl_grid_new(ir->code, o, points, grid_enter, t, &t->grid, err));
    asl_code_args_fill(ir->code, s->group, asl_grid_args(t->grid));
    return STATUS_OK;
}

static enum status machine_new(struct thread_state *t, const struct asl_context_options *o,
                               struct error *err)
{
    const struct shade *s = t->run->shade;
    const struct ir_state *ir = s->state;
    if (!ir)
        return asl_context_new(s->group, o, &t->context, err);
    if (ir->grid)
        return grid_new(t, o, err);
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
    return t->grid   ? asl_grid_steps(t->grid)
           : t->code ? asl_code_context_steps(t->code)
                     : asl_context_steps(t->context);
}

static void machine_free(struct thread_state *t)
{
    asl_grid_free(t->grid);
    free(t->globals);
    asl_code_context_free(t->code);
    asl_context_free(t->context);
}

/* An output's slot as a word; texts go to the unit's strings. */
static uint32_t slot_word(struct shade_unit *u, enum asl_base scalar, union asl_slot v)
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

static void keep_outputs(struct thread_state *t, struct shade_unit *u, size_t i)
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

static void failed(struct interp_run *run, struct shade_unit *u, const struct shade_failure *f)
{
    if (run->aloud)
        text_append(&u->failures, (const char *)f, sizeof *f);
    if (!run->shade->opt.keep_going)
        run->stop = true;
}

/* Point `point` of the grid is point i of the run. */
static enum status grid_keep(struct thread_state *t, struct shade_unit *u, size_t point, size_t i)
{
    const struct shade_result *out = t->run->out;
    for (size_t k = 0; k < out->output_count; k++) {
        const struct shade_output *o = &out->outputs[k];
        union asl_slot few[32], *v = o->slots > 32 ? calloc(o->slots, sizeof *v) : few;
        if (!v)
            return STATUS_MEMORY;
        o->ran[i] = asl_grid_value(t->grid, o->name, point, v, o->slots);
        for (size_t j = 0; o->ran[i] && j < o->slots; j++)
            o->words[i * o->slots + j] = slot_word(u, asl_type_scalar(o->type, j), v[j]);
        if (v != few)
            free(v);
    }
    return STATUS_OK;
}

static void grid_unit_run(struct interp_run *run, struct thread_state *t, struct shade_unit *u,
                          size_t begin, size_t end)
{
    struct shade_failure f = {0};
    struct asl_globals room;
    for (size_t i = begin; i < end; i++) {
        shade_asker_set(&t->asker, i, &room);
        t->first = i == begin ? t->asker.point : t->first;
        t->globals[i - begin] = *t->asker.globals;
    }
    grid_enter(t, 0);
    enum status st = asl_grid_run(t->grid, t->globals, end - begin, &f.error);
    for (size_t i = begin; i < end && st == STATUS_OK; i++)
        st = grid_keep(t, u, i - begin, i);
    if (st == STATUS_OK)
        return;
    f.point = t->asker.point;
    failed(run, u, &f);
}

static void unit_run(void *ctx, size_t index, unsigned thread)
{
    struct interp_run *run = ctx;
    struct thread_state *t = &run->threads[thread];
    struct shade_unit *u = &run->units[index];
    const struct shade_points *p = run->points;
    size_t begin = index * run->unit_points, end = begin + run->unit_points;
    struct asl_globals g;
    t->log = &u->log;
    text_free(&u->strings); /* of the iteration before */
    if (t->grid) {
        if (!run->stop && !cancel_requested)
            grid_unit_run(run, t, u, begin, end < p->count ? end : p->count);
        return;
    }
    for (size_t i = begin; i < (end < p->count ? end : p->count); i++) {
        if (run->stop || cancel_requested)
            return;
        shade_asker_set(&t->asker, i, &g);
        struct shade_failure f = {.point = t->asker.point};
        if (machine_run(t, &f.error) == STATUS_OK) {
            keep_outputs(t, u, i);
            continue;
        }
        failed(run, u, &f);
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
                                        .error_repeats = true, /* the log looks at points */
                                        .entry_layers = s->entry_layers};
        st = machine_new(t, &o, err);
        if (st == STATUS_OK && t->context && s->opt.perturb && s->opt.mode != MODE_STRICT)
            asl_context_contract(t->context, s->opt.perturb);
    }
    return st;
}

static void note_work(const struct interp_run *run, const struct asl_grid *g)
{
    struct shade_info *info = &run->shade->info;
    if (!g)
        return;
    const struct asl_grid_work w = asl_grid_worked(g);
    info->work.varying += w.varying;
    info->work.uniform += w.uniform;
    info->work.spared += w.spared;
    info->work_points += w.points;
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
    for (unsigned i = 0; st == STATUS_OK && i < run->thread_count; i++) {
        run->out->steps += machine_steps(&run->threads[i]);
        note_work(run, run->threads[i].grid);
    }
    return st;
}

static enum status interp_run(struct shade *s, const struct shade_points *points,
                              struct shade_result *out, struct error *err)
{
    const struct ir_state *ir = s->state;
    const size_t unit_points = ir && ir->grid ? GRID_POINTS : UNIT_POINTS,
                 units = (points->count + unit_points - 1) / unit_points;
    struct interp_run run = {.shade = s, .points = points, .out = out, .unit_points = unit_points};
    run.thread_count = s->opt.threads < units ? s->opt.threads : (unsigned)units;
    run.threads = calloc(run.thread_count, sizeof *run.threads);
    run.units = calloc(units, sizeof *run.units);
    enum status st = STATUS_OK;
    if (!run.threads || !run.units)
        st = error_msg(err, STATUS_MEMORY, "out of memory");
    if (st == STATUS_OK)
        st = run_all(&run, units, err);
    if (st == STATUS_OK)
        st = shade_units_collect(run.units, units, run.unit_points, s->opt.error_repeats, run.out,
                                 err);
    for (unsigned i = 0; run.threads && i < run.thread_count; i++)
        machine_free(&run.threads[i]);
    shade_units_free(run.units, units);
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
                                  .stay_in_loops = s->opt.stay_in_loops,
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

static enum status grid_open(struct shade *s, unsigned index, struct error *err)
{
    TRY(ir_open(s, index, err));
    ((struct ir_state *)s->state)->grid = true;
    (void)snprintf(s->info.device, sizeof s->info.device,
                   "the optimised program, interpreted over grids of %d points", GRID_POINTS);
    return STATUS_OK;
}

const struct shade_engine shade_grid = {
    .info = {"grid", "the optimised program, each instruction over a grid of points"},
    .open = grid_open,
    .run = ir_run,
    .close = ir_close,
};
