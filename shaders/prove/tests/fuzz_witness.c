/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_witness.c: libFuzzer target: the checker of witnesses. */
#include "shaders.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = {0};
    (void)asl_witness_check("fuzz", (const char *)data, size, NULL, NULL, &err);
    return 0;
}
