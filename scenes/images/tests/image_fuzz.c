/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as an image and its levels: finite texels or an error. Seeds: scenes/library/textures
 * and scenes/tests/crashes/image-*. */
#include "images/images.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {.limit = (size_t)64 << 20};
    struct image_file file = {0};
    const struct image_levels *l = &file.first;
    struct error err = {0};
    if (image_read_memory_file(&a, data, size, "fuzz", COLOR_AUTO, true, &file, &err) ==
        STATUS_OK) {
        if (l->count == 0 || file.count == 0 || file.count > IMAGE_PARTS_MAX)
            __builtin_trap();
        for (uint32_t k = 0; k < l->count; k++) {
            const struct image *im = &l->level[k];
            size_t n = (size_t)im->width * im->height * im->channels;
            double sum = 0;
            for (size_t i = 0; i < n; i++)
                sum += image_value(im, i, false);
            if (n == 0 || !isfinite(sum))
                __builtin_trap();
        }
        for (uint32_t k = 1; file.more && k < file.count; k++)
            if (file.more[k - 1].count > IMAGE_LEVELS_MAX || !file.more[k - 1].name ||
                (file.more[k - 1].count == 0 && !file.more[k - 1].ended[0]))
                __builtin_trap();
    } else if (err.code == STATUS_OK || err.code == STATUS_INTERNAL || !err.msg[0] || file.count) {
        __builtin_trap();
    }
    arena_free(&a);
    return 0;
}
