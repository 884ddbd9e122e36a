/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a scene file: a scene or an error, and all memory given back. Files that it names
 * are not there. Seeds: scenes/library/ *.json and scenes/tests/crashes/scene-*. */
#include "scenes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct scene *s = NULL;
    memory_allow((uint64_t)1 << 30); /* what may be asked for must not end the fuzzer */
    struct error err = {0};
    char text[2048];
    if (scene_load_memory("/nonexistent/fuzz.json", (const char *)data, size, &s, &err) ==
        STATUS_OK) {
        size_t behind = s->prototype_triangle_count;
        for (size_t i = 0; i < scene_primitive_count(s) + behind; i++)
            if (s->primitive_material[i] >= s->material_count)
                __builtin_trap();
        for (size_t i = 0; i < s->triangle_count + behind; i++)
            for (int k = 0; k < 3; k++)
                if (s->triangles[i][k] >= s->vertex_count)
                    __builtin_trap();
        scene_free(s);
    } else {
        if (err.code == STATUS_OK || err.code == STATUS_INTERNAL || !err.msg[0] || s)
            __builtin_trap();
        error_format(&err, text, sizeof text);
    }
    return 0;
}
