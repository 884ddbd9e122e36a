/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_emit.c: libFuzzer target: what compiles becomes IR, which must verify, then every text that
 * the emitters write: C for devices, for rows of lanes and for a renderer's kernel, and LLVM IR.
 * What they refuse must say why. The first byte chooses how. */
#include "shaders.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct way {
    bool llvm;
    struct asl_emit_options opt;
} ways[] = {
    {false, {.wide = false}},
    {false, {.wide = true, .host = true}},
    {false, {.surface = true, .suffix = "_1"}},
    {true, {.wide = true, .host = true, .lanes = 8, .float_flags = ""}},
};

/* Are its brackets closed, outside strings and comments? */
static bool is_whole(const struct text *t)
{
    long depth = 0;
    for (size_t i = 0; i < t->len; i++) {
        char c = t->data[i];
        if (c == '"') {
            for (i++; i < t->len && t->data[i] != '"'; i++)
                i += t->data[i] == '\\';
            if (i >= t->len)
                return false;
        }
        depth += c == '{' || c == '(' || c == '[';
        depth -= c == '}' || c == ')' || c == ']';
        if (depth < 0)
            return false;
    }
    return depth == 0;
}

static void emit(struct asl_group *g, const struct way *w, int level, bool bake)
{
    static const char *const none[] = {NULL};
    struct arena a = {.limit = (size_t)256 << 20};
    struct error err = {0};
    struct text text = {0};
    struct asl_code *code = NULL;
    struct asl_emitted emitted = {0};
    struct asl_emit_options opt = w->opt;
    const struct asl_lower_options lower = {
        .level = level, .bake = bake, .bake_strings = true, .outputs = none};
    opt.outputs = opt.surface ? NULL : none;
    if (asl_lower(&a, g, &lower, &code, &err) == STATUS_OK) {
        enum status s = w->llvm ? asl_emit_llvm(&a, code, &opt, &text, &emitted, &err)
                                : asl_emit_c(&a, code, &opt, &text, &emitted, &err);
        if (s == STATUS_OK ? !w->llvm && !is_whole(&text) : !err.msg[0])
            abort();
    }
    text_free(&text);
    arena_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct asl_diags diags = {0};
    struct error err;
    struct asl_group *g = NULL;
    const struct asl_program *p = NULL;
    const struct asl_options opt = {.max_bytes = (size_t)64 << 20};
    if (size &&
        asl_compile(&a, "fuzz.asl", (const char *)data + 1, size - 1, &opt, &diags, &p, &err) ==
            STATUS_OK &&
        asl_group_new(&a, "fuzz", &g, &err) == STATUS_OK &&
        asl_group_layer(g, p, NULL, "layer", NULL, &err) == STATUS_OK &&
        asl_group_finish(g, &err) == STATUS_OK)
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
            emit(g, &ways[i], data[0] % 3, data[0] & 4);
    arena_free(&a);
    return 0;
}
