/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_ir.c: libFuzzer target: the text form of IR. What the reader accepts prints and reads back
 * alike, and runs. */
#include "shaders.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(struct arena *a, const struct asl_code *code)
{
    struct text one = {0}, two = {0};
    struct asl_code *back = NULL;
    struct error err = {0};
    asl_code_print(code, &one);
    if (!one.failed && asl_code_read(a, "again", one.data, one.len, &back, &err) == STATUS_OK) {
        asl_code_print(back, &two);
        if (!two.failed && strcmp(one.data, two.data) != 0)
            abort();
    } else if (err.code != STATUS_MEMORY && !one.failed) {
        abort();
    }
    text_free(&one);
    text_free(&two);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {.limit = (size_t)64 << 20};
    struct error err = {0};
    struct asl_code *code = NULL;
    if (asl_code_read(&a, "fuzz", (const char *)data, size, &code, &err) == STATUS_OK) {
        struct asl_code_context *cx = NULL;
        const struct asl_context_options opt = {.step_budget = 1000, .max_bytes = 16 << 20};
        check_text(&a, code);
        if (asl_code_context_new(code, &opt, &cx, &err) == STATUS_OK) {
            struct asl_globals state = {.u = {0.5f, 1, 0}};
            (void)asl_code_context_run(cx, &state, &err);
            (void)asl_code_context_run(cx, &state, &err);
        }
        asl_code_context_free(cx);
    }
    arena_free(&a);
    return 0;
}
