/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_module.c: libFuzzer target: any bytes as a module; what is read runs, at two points. */
#include "shaders.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void run(struct arena *a, const struct asl_program *p)
{
    struct asl_group *g = NULL;
    struct asl_context *cx = NULL;
    struct error err;
    const struct asl_context_options o = {.step_budget = 100000};
    const struct asl_globals at[] = {{.surfacearea = 1}, {.u = {0.7f, 0, 0}, .P = {{3, -2, 1}}}};
    if (asl_group_new(a, "fuzz", &g, &err) || asl_group_layer(g, p, NULL, "l", NULL, &err) ||
        asl_group_finish(g, &err) || asl_context_new(g, &o, &cx, &err))
        return;
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        (void)asl_context_run(cx, &at[i], &err);
    asl_context_free(cx);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct asl_diags diags = {0};
    struct error err;
    struct text out = {0};
    const struct asl_program *p = NULL;
    const struct asl_options opt = {.max_bytes = (size_t)64 << 20};
    const char *name = size > 4 && data[0] == 'B' && data[1] == 'C' ? "fuzz.bc" : "fuzz.ll";
    if (asl_compile(&a, name, (const char *)data, size, &opt, &diags, &p, &err) == STATUS_OK)
        run(&a, p);
    asl_diags_print(&diags, &out);
    text_free(&out);
    arena_free(&a);
    return 0;
}
