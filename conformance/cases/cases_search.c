/* SPDX-License-Identifier: Apache-2.0 */
/* image.search.SEED-NUMBER: a random scene, in all modes and over all trees, on a mutant and on the
 * text without an edit: one bit that differs is a FAIL. shader.search.SEED-NUMBER: grids of shaders in
 * mode strict, every fifth in all modes: the library's builtins at points that no case has, and
 * generated programs by turns. On the text without an edit nothing is compared: it tells which
 * functions it ran. */
#include "cases_image.h"
#include "cases_shader.h"
#include "generate/offers.h"
#include "scene_trial.h"
#include "steps/offers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 24, SAMPLES = 2, SIDE = 12, RANDOM_POINTS = 112 };
/* A grid of a mutant is a whole program to compile, and modes change little of the library. */
enum { LOOSE_EVERY = 5 };
static const char plain[] = "mutant:none", marked[] = "mutant:marked";

struct search {
    struct run_context *c;
    bool compares; /* the device is no text without an edit */
    bool loose;    /* grids: in modes device and fast too */
    char difference[512];
};

static enum status search_open(struct run_context *c, struct search *s, struct error *err)
{
    *s = (struct search){
        .c = c, .compares = strcmp(c->device_id, plain) != 0 && strcmp(c->device_id, marked) != 0};
    return case_of_mutant(c) ? STATUS_OK
                             : error_msg(err, STATUS_UNSUPPORTED,
                                         "a search compares a mutant with the text it was made of");
}

static enum status search_verdict(struct search *s, uint64_t seed, uint64_t number)
{
    s->c->result->replay = arena_printf(
        s->c->arena,
        "isophote conform --device %s --mutants-search %llu --seed %llu "
        "--filter '^%s$'",
        s->c->device_id, (unsigned long long)number + 1, (unsigned long long)seed, s->c->name);
    if (s->difference[0])
        return case_fail(s->c, "%s", s->difference);
    return s->compares ? case_pass(s->c, "the same bits as the text without an edit")
                       : case_pass(s->c, "compared with nothing: it is the text without an edit");
}

/* ---- scenes ---------------------------------------------------------------------------------- */

static enum status picture(struct device *d, const struct scene *s, const struct render_job *job,
                           struct film *film, struct error *err)
{
    TRY(device_load(d, s, job->set.load.bvh, NULL, err));
    TRY(device_build(d, &job->set.build, NULL, err));
    return judge_render(d, s, job, film, err);
}

static void note_bits(struct search *q, const struct render_job *job,
                      const struct bit_difference *b)
{
    (void)snprintf(
        q->difference, sizeof q->difference,
        "mode %s, tree %s: %zu pixels differ; first (%u,%u): %.9g, without the edit %.9g",
        math_mode_name(job->set.build.mode), bvh_kind_name(job->set.load.bvh), b->pixels, b->x,
        b->y, b->a, b->b);
}

static enum status compare_pictures(struct search *q, struct device *other, const struct scene *s,
                                    const struct render_job *job, struct error *err)
{
    struct film mine = {0}, right = {0};
    struct bit_difference b;
    enum status st = picture(q->c->device, s, job, &mine, err);
    if (st == STATUS_OK)
        q->c->compared += (uint64_t)job->width * job->height;
    if (st == STATUS_OK && other)
        st = picture(other, s, job, &right, err);
    if (st == STATUS_OK && other && judge_bits(&mine, &right, &b))
        note_bits(q, job, &b);
    film_free(&mine);
    film_free(&right);
    return st;
}

static enum status search_scene(struct search *q, struct device *other, const struct scene *s,
                                struct error *err)
{
    static const enum bvh_kind trees[] = {BVH_WIDE8, BVH_BINARY, BVH_COMPRESSED8, BVH_LINEAR};
    for (int mode = 0; mode < MODE_COUNT; mode++)
        for (size_t i = 0; i < sizeof trees / sizeof *trees && !q->difference[0]; i++) {
            struct render_job job;
            judge_job(s, WIDTH, SAMPLES, (enum math_mode)mode, &job);
            job.set.load.bvh = trees[i];
            TRY(compare_pictures(q, other, s, &job, err));
        }
    return STATUS_OK;
}

static bool parse_name(const char *name, const char *prefix, uint64_t *seed, uint64_t *number)
{
    return strncmp(name, prefix, strlen(prefix)) == 0 &&
           random_word(name + strlen(prefix), seed, number);
}

static const char image_prefix[] = "image.search.", shader_prefix[] = "shader.search.";

static enum status image_search(struct run_context *c, struct error *err)
{
    struct search q;
    struct text text = {0};
    struct device *other = NULL;
    struct error refused = {0};
    uint64_t seed, number;
    TRY(search_open(c, &q, err));
    if (!parse_name(c->name, image_prefix, &seed, &number))
        return error_msg(err, STATUS_TYPE, "there is no case %s", c->name);
    TRY(case_device(c, err));
    enum status st = scene_generate(seed, number, NULL, &text, err);
    if (st == STATUS_OK &&
        scene_load_memory("search.json", text.data, text.len, &c->scene, &refused) != STATUS_OK)
        st = case_skip(c, "the generator's scene is refused: %s", refused.msg);
    if (st == STATUS_OK && c->scene && q.compares)
        st = device_open(plain, &other, err);
    if (st == STATUS_OK && c->scene)
        st = search_scene(&q, other, c->scene, err);
    device_close(other);
    text_free(&text);
    return st == STATUS_OK && c->scene ? search_verdict(&q, seed, number) : st;
}

/* ---- shaders --------------------------------------------------------------------------------- */

static bool same_words(enum asl_base scalar, const struct shade_result *a, uint32_t x,
                       const struct shade_result *b, uint32_t y)
{
    float fx, fy;
    memcpy(&fx, &x, sizeof fx);
    memcpy(&fy, &y, sizeof fy);
    if (scalar == ASL_STRING || scalar == ASL_CLOSURE)
        return x < a->string_count && y < b->string_count
                   ? strcmp(a->strings[x], b->strings[y]) == 0
                   : x == y;
    return x == y || (scalar != ASL_INT && isnan(fx) && isnan(fy)); /* no NaN's bits are defined */
}

static void compare_outputs(struct search *q, const struct shade_result *mine,
                            const struct shade_result *right, enum math_mode mode)
{
    for (size_t k = 0; k < mine->output_count && !q->difference[0]; k++) {
        const struct shade_output *a = &mine->outputs[k], *b = &right->outputs[k];
        const size_t words = mine->count * a->slots;
        for (size_t i = 0; i < words && !q->difference[0]; i++) {
            const size_t point = i / a->slots, slot = i % a->slots;
            if (a->ran[point] != b->ran[point] ||
                !same_words(asl_type_scalar(a->type, slot), mine, a->words[i], right, b->words[i]))
                (void)snprintf(
                    q->difference, sizeof q->difference,
                    "mode %s: %.100s[%zu] at point %zu is 0x%08x, without the edit 0x%08x",
                    math_mode_name(mode), a->name, slot, point, a->words[i], b->words[i]);
        }
        q->c->compared += words;
    }
    if (!q->difference[0] && (mine->message_count != right->message_count ||
                              mine->failure_count != right->failure_count))
        (void)snprintf(q->difference, sizeof q->difference,
                       "mode %s: %zu messages and %zu failed points, without the edit %zu and %zu",
                       math_mode_name(mode), mine->message_count, mine->failure_count,
                       right->message_count, right->failure_count);
}

static enum status run_grid(const struct shader_file *f, const char *mutant, enum math_mode mode,
                            const struct shade_points *points, struct shade_result *out,
                            struct error *err)
{
    struct shade_options o = {.outputs = f->all,
                              .mode = mode,
                              .level = 2,
                              .fault = mutant,
                              .threads = 1,
                              .step_budget = 300000};
    struct shade *shade = NULL;
    shader_world(&o);
    enum status st = shade_open("native", f->group, &o, &shade, err);
    if (st == STATUS_OK)
        st = shade_run(shade, points, out, err);
    shade_close(shade);
    return st;
}

static enum status search_shader(void *ctx, const struct shader_file *f,
                                 const struct asl_globals *points, size_t count, struct error *err)
{
    struct search *q = ctx;
    const struct shade_points p = {.globals = points, .count = count};
    const int modes = q->loose ? MODE_COUNT : MODE_STRICT + 1;
    for (int mode = 0; mode < modes && !q->difference[0]; mode++) {
        struct shade_result mine = {0}, right = {0};
        struct error why = {0};
        enum status st = run_grid(f, q->c->device_id, (enum math_mode)mode, &p, &mine, &why);
        if (st == STATUS_OK) /* beside marks too: mutants find it compiled */
            st = run_grid(f, plain, (enum math_mode)mode, &p, &right, &why);
        if (st == STATUS_OK && q->compares)
            compare_outputs(q, &mine, &right, (enum math_mode)mode);
        else if (st == STATUS_OK)
            q->c->compared += mine.count;
        shade_result_free(&mine);
        shade_result_free(&right);
        if (st == STATUS_UNSUPPORTED) /* no engine for this shader: the others are asked */
            return STATUS_OK;
        if (st != STATUS_OK) {
            if (err)
                *err = why;
            return st;
        }
    }
    return STATUS_OK;
}

static enum status search_program(struct search *q, uint64_t seed, struct error *err)
{
    struct arena a = {0};
    struct text text = {0};
    struct shader_file f;
    struct asl_globals *points = NULL;
    size_t count = 0;
    enum status st = asl_generate(seed, NULL, &text, NULL, NULL, err);
    if (st == STATUS_OK)
        st = shader_file_read(&a, "search.asl", text.data, text.len, 0, &f, err);
    if (st == STATUS_OK)
        st = shader_points(&a, SIDE, RANDOM_POINTS, true, &points, &count, err);
    if (st == STATUS_OK)
        st = search_shader(q, &f, points, count, err);
    text_free(&text);
    arena_free(&a);
    return st;
}

/* Even numbers: a part of the builtins; odd ones: a program. */
static enum status shader_search(struct run_context *c, struct error *err)
{
    struct search q;
    uint64_t seed, number;
    TRY(search_open(c, &q, err));
    if (!parse_name(c->name, shader_prefix, &seed, &number))
        return error_msg(err, STATUS_TYPE, "there is no case %s", c->name);
    q.loose = number % LOOSE_EVERY == 0;
    const uint64_t dice = (seed * 2654435761u + number) * 1024 + 1024; /* none that a case has */
    if (number % 2)
        TRY(search_program(&q, dice, err));
    else
        TRY(shader_builtins_elsewhere(c->arena, (unsigned)(number / 2 % SHADER_BUILTIN_PARTS), dice,
                                      q.difference, search_shader, &q, err));
    if (c->compared == 0)
        return case_skip(c, "no engine runs its shaders");
    return search_verdict(&q, seed, number);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static const struct case_row rows[] = {
    {image_prefix, "a mutant: a random scene has the bits of the text without an edit",
     image_search},
    {shader_prefix, "a mutant: grids of shaders have the bits of the text without an edit",
     shader_search}};
enum { KINDS = sizeof rows / sizeof *rows };

static bool is_of(const char *name, size_t kind)
{
    return strncmp(name, rows[kind].name, strlen(rows[kind].name)) == 0;
}

bool search_is_case(const char *name) { return search_row(name) != NULL; }

const struct case_row *search_row(const char *name)
{
    uint64_t seed, number;
    for (size_t k = 0; k < KINDS; k++)
        if (is_of(name, k) && parse_name(name, rows[k].name, &seed, &number))
            return &rows[k];
    return NULL;
}

enum status search_cases(struct arena *a, uint32_t each, uint64_t seed,
                         const struct conform_case **out, size_t *count, struct error *err)
{
    const size_t total = (size_t)each * KINDS;
    struct conform_case *list = ARENA_ARRAY(a, struct conform_case, total + 1);
    for (size_t i = 0; list && i < total; i++) {
        const struct case_row *row = &rows[i % KINDS];
        const char *name =
            arena_printf(a, "%s%llu-%zu", row->name, (unsigned long long)seed, i / KINDS);
        const char *level = i % KINDS ? "shader" : "image";
        if (!name)
            return error_msg(err, STATUS_MEMORY, "out of memory for %zu searches", total);
        list[i] = (struct conform_case){name, level, row->text, NULL, false};
    }
    if (!list)
        return error_msg(err, STATUS_MEMORY, "out of memory for %zu searches", total);
    *out = list;
    *count = total;
    return STATUS_OK;
}
