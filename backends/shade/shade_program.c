/* SPDX-License-Identifier: Apache-2.0 */
/* shade_program.c: groups as device programs. */
#include "shade_program.h"

#include "api/offers.h"
#include "edits/edits.h"
#include "shade_words.h"

#include <stdlib.h>
#include <string.h>

static enum status no_memory(struct error *err)
{
    return error_msg(err, STATUS_MEMORY, "out of memory");
}

/* ---- the program ---------------------------------------------------------------------------- */

const char shade_wide_preamble[] = "#if defined(__AVX512F__)\n#define A_WIDTH 16\n"
                                   "#elif defined(__AVX__)\n#define A_WIDTH 8\n"
                                   "#else\n#define A_WIDTH 4\n#endif\n";

typedef enum status emit_function(struct arena *a, const struct asl_code *code,
                                  const struct asl_emit_options *opt, struct text *text,
                                  struct asl_emitted *out, struct error *err);

/* Is the mistake that is asked for one of the device library? */
static bool of_library(const struct shade *s)
{
    const struct asl_fault *f = s->opt.fault ? asl_fault_find(s->opt.fault) : NULL;
    return (f && f->found_by) || (s->opt.fault && mutant_is(s->opt.fault));
}

static enum status lower(const struct shade *s, struct shade_program *p, const char *const *outputs,
                         struct error *err)
{
    struct asl_lower_options o = {.level = (int)s->opt.level,
                                  .bake = s->opt.bake,
                                  .stay_in_loops = s->opt.stay_in_loops,
                                  .bake_strings = true,
                                  .outputs = outputs,
                                  .entry_layers = s->entry_layers,
                                  .fault = of_library(s) ? NULL : s->opt.fault};
    return asl_lower(&p->arena, s->group, &o, &p->code, err);
}

/* Variables stand on the stack of the thread that runs the points: as many as a row has, or a group
 * of OpenCL's work-items on a processor. */
static enum status room_check(const struct asl_emitted *e, struct error *err)
{
    enum { POINTS = 16 };
    const uint64_t bytes = 4 * POINTS * e->cell_words;
    char need[32], room[32];
    if (bytes <= stack_room())
        return STATUS_OK;
    return error_msg(err, STATUS_LIMIT,
                     "the variables of the shaders take %s at %d points together; there is room "
                     "for %s (the engine interp has more)",
                     memory_text(bytes, need), POINTS, memory_text(stack_room(), room));
}

/* A kernel of one work-item takes an H200 2 to 3 microseconds, in which each of 2^20 points does about
 * so many sums (docs/results/published.md). */
enum { UNIFORM_LEAST = 96 };

static bool uniform_is_worth(const struct shade *s, const struct shade_program *p)
{
    const uint32_t least = s->opt.uniform_least ? s->opt.uniform_least : UNIFORM_LEAST;
    return p->host || p->emitted.uniform_cost >= least;
}

/* Lowers the group and writes its text with `o`, between `before` and `after`. */
static enum status program_write(const struct shade *s, const char *const *before,
                                 struct asl_emit_options *o, emit_function *emit, const char *after,
                                 struct shade_program *out, struct error *err)
{
    struct shade_program p = {.host = o->host};
    const char **outputs = ARENA_ARRAY(&p.arena, const char *, s->output_count + 1);
    enum status st = outputs ? STATUS_OK : no_memory(err);
    for (size_t i = 0; outputs && i < s->output_count; i++)
        outputs[i] = s->outputs[i].name;
    if (st == STATUS_OK)
        st = lower(s, &p, outputs, err);
    for (; *before; before++)
        text_puts(&p.source, *before);
    o->outputs = outputs;
    const size_t begin = p.source.len;
    if (st == STATUS_OK)
        st = emit(&p.arena, p.code, o, &p.source, &p.emitted, err);
    if (st == STATUS_OK && o->uniform && !uniform_is_worth(s, &p)) {
        o->uniform = false;
        p.source.len = begin;
        st = emit(&p.arena, p.code, o, &p.source, &p.emitted, err);
    }
    if (st == STATUS_OK)
        st = room_check(&p.emitted, err);
    text_puts(&p.source, after);
    if (st == STATUS_OK && p.source.failed)
        st = no_memory(err);
    if (st != STATUS_OK) {
        shade_program_free(&p);
        return st;
    }
    hash_bytes(p.source.data, p.source.len, p.hash);
    *out = p;
    return STATUS_OK;
}

const char *const shade_form_names[SHADE_FORM_COUNT] = {"rows", "copies", "point"};

enum status shade_program_make(const struct shade *s, bool wide, bool host,
                               struct shade_program *out, struct error *err)
{
    struct text broken = {0};
    enum status st = STATUS_OK;
    const bool mutant = s->opt.fault && mutant_is(s->opt.fault);
    /* of a mutant, who compiles for the host makes the edit, in one function of the program */
    if (of_library(s) && !(mutant && host))
        st = mutant ? mutant_library(s->opt.fault, &broken, err)
                    : asl_device_source_broken(s->opt.fault, &broken, err);
    const char *const before[] = {
        portable_source, wide ? shade_wide_preamble : "#define A_WIDTH 1\n",
        host ? "#define A_HOST\n" : "", broken.data ? broken.data : asl_device_source, NULL};
    struct asl_emit_options o = {.wide = wide,
                                 .host = host,
                                 .copies = wide && s->opt.form == SHADE_COPIES,
                                 .uniform = !s->opt.stay_at_points};
    if (st == STATUS_OK)
        st = program_write(s, before, &o, asl_emit_c, asl_entry_source, out, err);
    if (st == STATUS_OK)
        out->library = strlen(before[0]) + strlen(before[1]) + strlen(before[2]);
    text_free(&broken);
    return st;
}

enum status shade_program_make_llvm(const struct shade *s, unsigned lanes,
                                    struct shade_program *out, struct error *err)
{
    const char *const before[] = {NULL};
    struct asl_emit_options o = {.wide = true,
                                 .host = true,
                                 .uniform = !s->opt.stay_at_points,
                                 .lanes = lanes,
                                 .float_flags = shade_float_flags[s->opt.mode]};
    return program_write(s, before, &o, asl_emit_llvm, "", out, err);
}

bool shade_program_bakes(const struct shade *s)
{
    for (size_t l = 0; l < asl_group_layers(s->group); l++) {
        const struct asl_shader_info *info = asl_group_layer_shader(s->group, l);
        for (size_t k = 0; k < info->param_count; k++)
            if (info->params[k].type.base == ASL_STRING && !info->params[k].output)
                return true;
    }
    return s->opt.bake;
}

void shade_program_free(struct shade_program *p)
{
    text_free(&p->source);
    shade_strings_free(&p->strings);
    arena_free(&p->arena);
    *p = (struct shade_program){0};
}

/* ---- what it reads -------------------------------------------------------------------------- */

/* The words of parameters, then those that an emitted program has behind them. */
static enum status args_place(const struct shade *s, struct shade_program *p,
                              const union asl_slot *area, struct shade_words *w, struct error *err)
{
    const struct asl_emitted *x = &p->emitted;
    size_t n = asl_code_args(p->code), words = n + x->image_count + x->answer_words + 2;
    uint32_t at;
    enum status st = shade_words_take(w, words + (p->host ? x->uniform_words : 0), &at, err);
    for (size_t i = 0; st == STATUS_OK && i < n; i++) {
        struct asl_code_arg arg = asl_code_arg_at(p->code, i);
        bool string = !arg.is_set && asl_type_scalar(arg.type, arg.slot) == ASL_STRING;
        w->words[i] = string ? shade_string_id(&p->strings, area[i].s) : (uint32_t)area[i].i;
    }
    for (size_t i = 0; st == STATUS_OK && i < x->image_count; i++) {
        at = 0;
        if (s->opt.images)
            st = shade_words_emitted(w, s->opt.images, &x->images[i], &at, err);
        w->words[n + i] = at;
    }
    return st;
}

static enum status args_fill(const struct shade *s, struct shade_program *p, struct arena *a,
                             struct shade_input *in, struct error *err)
{
    size_t n = asl_code_args(p->code);
    union asl_slot *area = ARENA_ARRAY(a, union asl_slot, n);
    struct shade_words w = {0};
    if (!area)
        return no_memory(err);
    if (!p->strings.count) {
        p->strings.arena = &p->arena;
        for (size_t i = 0; i < p->emitted.string_count; i++)
            (void)shade_string_id(&p->strings, p->emitted.strings[i]);
    }
    asl_code_args_fill(p->code, s->group, area);
    enum status st = args_place(s, p, area, &w, err);
    if (st == STATUS_OK) {
        in->answers = n + p->emitted.image_count;
        in->uniform = p->emitted.uniform_first;
        in->rows = in->answers + p->emitted.answer_words;
        in->arg_words = w.count;
        in->args = ARENA_ARRAY(a, uint32_t, w.count);
        if (in->args)
            memcpy(in->args, w.words, w.count * sizeof *in->args);
        st = in->args && !p->strings.failed ? STATUS_OK : no_memory(err);
    }
    shade_words_free(&w);
    return st;
}

static uint32_t *put_floats(uint32_t *to, const float *f, size_t n)
{
    memcpy(to, f, n * sizeof *f);
    return to + n;
}

static uint32_t *put_dual3(uint32_t *to, const struct asl_dual3 *x)
{
    to = put_floats(to, x->v, 3);
    to = put_floats(to, x->dx, 3);
    return put_floats(to, x->dy, 3);
}

/* In the order of device/asl/point.h. */
static void pack_point(uint32_t *to, const struct asl_globals *g)
{
    const float u[6] = {g->u.v, g->u.dx, g->u.dy, g->v.v, g->v.dx, g->v.dy};
    const float rest[3] = {g->time, g->dtime, g->surfacearea};
    to = put_dual3(to, &g->P);
    to = put_dual3(to, &g->I);
    to = put_dual3(to, &g->N);
    to = put_dual3(to, &g->Ps);
    to = put_floats(to, g->Ng, 3);
    to = put_floats(to, g->dPdu, 3);
    to = put_floats(to, g->dPdv, 3);
    to = put_floats(to, g->dPdtime, 3);
    to = put_floats(to, g->dPdz, 3);
    to = put_floats(to, u, 6);
    to = put_floats(to, rest, 3);
    to[0] = g->backfacing;
    to[1] = g->flip_handedness;
    to[2] = g->raytype;
}

static enum status points_fill(const struct shade_points *points, struct arena *a,
                               struct shade_input *in, struct error *err)
{
    const struct shade_grid *g = &points->grid;
    in->launch.listed = points->globals != NULL;
    if (points->globals) {
        in->point_words = points->count * SHADE_POINT_WORDS;
        in->points = ARENA_ARRAY(a, uint32_t, in->point_words);
        in->grid = ARENA_ARRAY(a, float, 1);
        in->grid_floats = 1;
        for (size_t i = 0; in->points && i < points->count; i++)
            pack_point(in->points + i * SHADE_POINT_WORDS, &points->globals[i]);
        in->launch.width = 1;
        return in->points && in->grid ? STATUS_OK : no_memory(err);
    }
    struct shade_grid plain = *g;
    struct asl_globals at = {0};
    plain.vary_p = plain.vary_u = plain.vary_v = false;
    in->grid_floats = (size_t)g->width + SHADE_GRID_PAD + g->height;
    in->grid = ARENA_ARRAY(a, float, in->grid_floats);
    if (!in->grid)
        return no_memory(err);
    for (size_t x = 0; x < g->width; x++) {
        shade_grid_globals(&plain, x, &at);
        in->grid[x] = at.u.v;
    }
    for (size_t y = 0; y < g->height; y++) {
        shade_grid_globals(&plain, y * g->width, &at);
        in->grid[g->width + SHADE_GRID_PAD + y] = at.v.v;
    }
    in->launch.width = g->width;
    in->launch.du = at.u.dx;
    in->launch.dv = at.v.dy;
    in->launch.px = at.P.dx[0];
    in->launch.py = at.P.dy[1];
    in->launch.vary = (g->vary_p ? 1u : 0u) | (g->vary_u ? 2u : 0u) | (g->vary_v ? 4u : 0u);
    return STATUS_OK;
}

enum status shade_input_make(const struct shade *s, struct shade_program *p,
                             const struct shade_points *points, struct arena *a,
                             struct shade_input *out, struct error *err)
{
    struct shade_input in = {0};
    uint64_t budget = s->opt.step_budget ? s->opt.step_budget : 100000000;
    if (points->count > UINT32_MAX || points->first > UINT32_MAX - points->count)
        return error_msg(err, STATUS_LIMIT, "at most 2^32 points in one run");
    in.launch.first = (uint32_t)points->first;
    in.launch.count = (uint32_t)points->count;
    in.launch.raytype = points->grid.raytype;
    in.launch.budget = budget < UINT32_MAX ? (uint32_t)budget : UINT32_MAX;
    enum status st = args_fill(s, p, a, &in, err);
    if (st == STATUS_OK)
        st = points_fill(points, a, &in, err);
    if (st == STATUS_OK)
        *out = in;
    return st;
}

void shade_program_failure(const struct shade *s, const struct shade_program *p, uint32_t failed,
                           size_t point, struct shade_failure *out)
{
    const struct asl_emitted_loop *l = &p->emitted.loops[failed - 1];
    uint64_t budget = s->opt.step_budget ? s->opt.step_budget : 100000000;
    *out = (struct shade_failure){.point = point};
    (void)error_set(&out->error, STATUS_TIMEOUT, l->at,
                    "layer '%s' ran %llu steps at one point and was stopped: does a loop not end?",
                    l->layer, (unsigned long long)budget);
}
