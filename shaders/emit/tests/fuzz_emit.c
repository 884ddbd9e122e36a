/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_emit.c: libFuzzer target: what compiles becomes IR, which must verify, then every text that
 * the emitters write: C for devices, for rows of lanes and for a renderer's kernel, and LLVM IR.
 * What they refuse must say why. What a surface asks of the host, and says through it, is then
 * asked with words that no kernel would give. The first byte chooses how. */
#include "shaders.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct way {
    bool llvm;
    struct asl_emit_options opt;
} ways[] = {
    {false, {.wide = false}},
    {false, {.wide = true, .host = true, .uniform = true}},
    {false, {.surface = true, .suffix = "_1"}},
    {true, {.wide = true, .host = true, .uniform = true, .lanes = 8, .float_flags = ""}},
    {true, {.surface = true, .suffix = "_1", .float_flags = ""}},
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

/* Small numbers, which may be those of strings, and any other. */
static uint32_t next_word(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state & 0x100 ? *state >> 28 : *state;
}

static void fill(uint32_t *words, size_t n, uint32_t *state)
{
    for (size_t k = 0; k < n; k++)
        words[k] = next_word(state);
}

/* As backends/shade does it with what hits leave behind the film. */
static void ask(const struct asl_code *code, const struct asl_emitted *x, uint32_t seed)
{
    enum { RESULTS = 64 };
    static const struct asl_globals none;
    const struct asl_context_options opt = {.max_bytes = (size_t)16 << 20, .error_repeats = true};
    struct asl_host *h = NULL;
    struct error err;
    size_t point;
    if (asl_host_new(code, x, &opt, &h, &err) != STATUS_OK)
        return;
    for (size_t i = 0; i < x->host_count && !asl_host_failed(h, &point, &err); i++) {
        const struct asl_emitted_host *q = &x->hosts[i];
        uint32_t *words = q->copies ? malloc((q->words + RESULTS) * sizeof *words) : NULL;
        uint32_t *reply = words ? malloc((q->reply + 1) * sizeof *reply) : NULL;
        for (int turn = 0; reply && turn < 4; turn++) {
            fill(words, q->words + RESULTS, &seed);
            if (q->reply) {
                asl_host_ask(h, &none, (uint32_t)i, words, q->words - 1, reply);
            } else if (!q->follows) {
                asl_host_begin(h);
                asl_host_call(h, 0, &none, (uint32_t)i, words, words + q->operands);
            }
        }
        free(reply);
        free(words);
    }
    asl_host_free(h);
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
        if (s == STATUS_OK && w->opt.surface && !w->llvm)
            ask(code, &emitted, (uint32_t)text.len);
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
