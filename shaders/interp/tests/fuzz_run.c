/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_run.c: libFuzzer target: what compiles is run, with a small budget of steps and memory. */
#include "shaders.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void on_message(void *ctx, enum asl_message kind, const char *to, const char *text)
{
    struct text *t = ctx;
    (void)kind;
    if (t->len < 100000) {
        text_puts(t, to);
        text_puts(t, text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct asl_diags diags = {0};
    struct error err;
    struct text said = {0};
    struct asl_group *g = NULL;
    struct asl_context *cx = NULL;
    const struct asl_program *p = NULL;
    struct asl_options opt = {.max_bytes = (size_t)64 << 20};
    struct asl_context_options copt = {.step_budget = 2000, .max_bytes = (size_t)16 << 20};
    copt.services.ctx = &said;
    copt.services.message = on_message;
    if (asl_compile(&a, "fuzz.asl", (const char *)data, size, &opt, &diags, &p, &err) ==
            STATUS_OK &&
        asl_group_new(&a, "fuzz", &g, &err) == STATUS_OK &&
        asl_group_layer(g, p, NULL, "layer", NULL, &err) == STATUS_OK &&
        asl_group_finish(g, &err) == STATUS_OK &&
        asl_context_new(g, &copt, &cx, &err) == STATUS_OK) {
        struct asl_globals state = {.u = {0.5f, 1, 0}, .v = {0.25f, 0, 1}};
        state.P = (struct asl_dual3){{0.5f, 0.25f, 1}, {1, 0, 0}, {0, 1, 0}};
        state.N.v[2] = 1;
        (void)asl_context_run(cx, &state, &err);
        (void)asl_context_run(cx, &state, &err);
    }
    asl_context_free(cx);
    text_free(&said);
    arena_free(&a);
    return 0;
}
