/* SPDX-License-Identifier: Apache-2.0 */
/* shader.generator.programs: the generator against the front end and the interpreter alone. */
#include "cases_shader.h"
#include "generate/offers.h"

#include <stdlib.h>
#include <string.h>

enum { PROGRAMS = 1000, RUN_EVERY = 6 };

/* The text through the preprocessor and back gives the same tree. */
static enum status check_round_trip(const char *name, const struct text *program, struct error *err)
{
    struct arena a = {0};
    struct asl_diags diags = {0};
    const struct asl_program *p = NULL;
    struct text plain = {0}, once = {0}, again = {0};
    enum status st = asl_compile(&a, name, program->data, program->len, NULL, &diags, &p, err);
    if (st == STATUS_OK) {
        asl_program_dump(p, true, &once);
        st = asl_preprocess(&a, name, program->data, program->len, NULL, &diags, &plain, err);
    }
    if (st == STATUS_OK)
        st = asl_compile(&a, name, plain.data, plain.len, NULL, &diags, &p, err);
    if (st == STATUS_OK) {
        asl_program_dump(p, true, &again);
        if (!once.data || !again.data || strcmp(once.data, again.data) != 0)
            st = error_msg(err, STATUS_MISMATCH,
                           "%s: the preprocessed text gives another tree than the source", name);
    }
    text_free(&plain);
    text_free(&once);
    text_free(&again);
    arena_free(&a);
    return st;
}

static bool is_nan(uint32_t bits) { return (bits & 0x7fffffffu) > 0x7f800000u; }

/* All points on two threads in one run, and one by one from the last to the first. */
static enum status check_order(struct run_context *c, const struct shader_file *f,
                               struct error *err)
{
    struct arena a = {0};
    struct asl_globals *points = NULL;
    size_t count = 0;
    struct shade_result all = {0};
    struct shade *shade = NULL, *single = NULL;
    struct shade_options o = {.outputs = f->all, .threads = 2, .step_budget = 2000000};
    shader_world(&o);
    enum status st = shader_points(&a, 9, 60, true, &points, &count, err);
    struct shade_points p = {.globals = points, .count = count};
    if (st == STATUS_OK && (st = shade_open("interp", f->group, &o, &shade, err)) == STATUS_OK)
        st = shade_run(shade, &p, &all, err);
    o.threads = 1;
    if (st == STATUS_OK && all.failure_count)
        st = error_msg(err, STATUS_MISMATCH, "%s: %s", f->name, all.failures[0].error.msg);
    if (st == STATUS_OK)
        st = shade_open("interp", f->group, &o, &single, err);
    for (size_t i = count; st == STATUS_OK && i-- > 0;) {
        struct shade_result one = {0};
        p = (struct shade_points){.globals = &points[i], .count = 1};
        st = shade_run(single, &p, &one, err);
        for (size_t k = 0; st == STATUS_OK && k < one.output_count; k++) {
            const struct shade_output *x = &one.outputs[k], *y = &all.outputs[k];
            for (size_t s = 0; s < x->slots && st == STATUS_OK; s++) {
                enum asl_base scalar = asl_type_scalar(x->type, s);
                uint32_t b = y->words[i * y->slots + s];
                bool same = scalar == ASL_STRING || scalar == ASL_CLOSURE
                                ? strcmp(one.strings[x->words[s]], all.strings[b]) == 0
                                : x->words[s] == b ||
                                      (scalar == ASL_FLOAT && is_nan(b) && is_nan(x->words[s]));
                c->compared++;
                if (!same)
                    st = error_msg(err, STATUS_MISMATCH,
                                   "%s: %s at point %zu depends on threads or order", f->name,
                                   x->name, i);
            }
        }
        shade_result_free(&one);
    }
    shade_result_free(&all);
    shade_close(shade);
    shade_close(single);
    arena_free(&a);
    return st;
}

static enum status check_program(struct run_context *c, uint64_t seed,
                                 struct asl_coverage *coverage, struct error *err)
{
    struct text t = {0}, again = {0};
    struct arena a = {0};
    struct shader_file f;
    char name[48];
    (void)snprintf(name, sizeof name, "generated-%llu.asl", (unsigned long long)seed);
    enum status st = asl_generate(seed, NULL, &t, coverage, NULL, err);
    if (st == STATUS_OK)
        st = asl_generate(seed, NULL, &again, NULL, NULL, err);
    if (st == STATUS_OK && strcmp(t.data, again.data) != 0)
        st = error_msg(err, STATUS_MISMATCH, "%s: the seed gives two programs", name);
    if (st == STATUS_OK)
        st = shader_file_read(&a, name, t.data, t.len, 0, &f, err);
    if (st == STATUS_OK && seed % RUN_EVERY == 0)
        st = check_round_trip(name, &t, err);
    if (st == STATUS_OK && seed % RUN_EVERY == 0)
        st = check_order(c, &f, err);
    text_free(&t);
    text_free(&again);
    arena_free(&a);
    return st == STATUS_TYPE ? error_msg(err, STATUS_MISMATCH,
                                         "a generated program does not "
                                         "compile; see `isophote shade`")
                             : st;
}

enum status shader_generator_case(struct run_context *c, struct error *err)
{
    struct asl_coverage *coverage = NULL;
    enum status st = asl_coverage_new(c->arena, &coverage, err);
    double begin = clock_s();
    if (!is_native(c->device_id))
        return case_skip(c, "the processor generates; it is judged once, with the native device");
    for (uint64_t seed = 0; st == STATUS_OK && seed < PROGRAMS; seed++)
        st = check_program(c, seed, coverage, err);
    if (st != STATUS_OK)
        return st;
    size_t missing = asl_coverage_missing(coverage);
    if (missing) {
        struct text t = {0};
        asl_coverage_print(coverage, true, &t);
        st = case_fail(c, "%zu constructs are in none of %d programs:\n%.800s", missing, PROGRAMS,
                       t.data ? t.data : "");
        text_free(&t);
        return st;
    }
    return case_pass(c, "%d programs, every construct covered; %.0f a minute", PROGRAMS,
                     PROGRAMS * 60 / (clock_s() - begin));
}
