/* SPDX-License-Identifier: Apache-2.0 */
/* Anything at all as a code object. */
#include "hip/code_object.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct code_object c;
    if (code_object_read(data, size, &c, NULL) == STATUS_OK)
        code_object_find(&c, "k_render");
    return 0;
}
