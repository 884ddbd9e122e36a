/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_front.c: libFuzzer target: any bytes through the preprocessor, parser and checker. */
#include "shaders.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct asl_diags diags = {0};
    struct error err;
    struct text out = {0};
    const struct asl_program *p = NULL;
    struct asl_options opt = {.warn_all = true, .max_bytes = (size_t)64 << 20};
    if (asl_compile(&a, "fuzz.asl", (const char *)data, size, &opt, &diags, &p, &err) == STATUS_OK)
        asl_program_dump(p, true, &out);
    asl_diags_print(&diags, &out);
    text_free(&out);
    arena_free(&a);
    return 0;
}
