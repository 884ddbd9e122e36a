/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as an image: a picture of finite texels or an error. Seeds: scenes/library/textures and
 * scenes/tests/crashes/image-*. */
#include "scenes.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {.limit = (size_t)64 << 20};
    struct image im = {0};
    struct error err = {0};
    if (image_read_memory(&a, data, size, "fuzz", &im, &err) == STATUS_OK) {
        size_t n = (size_t)im.width * im.height * im.channels;
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += image_value(&im, i, false);
        if (n == 0 || !isfinite(sum))
            __builtin_trap();
    } else if (err.code == STATUS_OK || err.code == STATUS_INTERNAL || !err.msg[0] || im.texels) {
        __builtin_trap();
    }
    arena_free(&a);
    return 0;
}
