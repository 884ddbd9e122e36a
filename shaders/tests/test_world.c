/* SPDX-License-Identifier: Apache-2.0 */
#include "test_world.h"

#include <string.h>

bool test_space(void *ctx, const char *space, float m[16])
{
    (void)ctx;
    static const float shifted[16] = {2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 1, 2, 3, 1};
    for (size_t i = 0; i < 16; i++)
        m[i] = strcmp(space, "object") == 0 ? shifted[i] : i % 5 == 0;
    return strcmp(space, "object") == 0 || strcmp(space, "world") == 0 ||
           strcmp(space, "shader") == 0;
}

bool test_attribute(void *ctx, const char *object, const char *name, int index,
                    struct asl_type type, union asl_slot *v)
{
    (void)ctx;
    if (strcmp(name, "answer") == 0 && type.base == ASL_INT && !*object && index == -1)
        v[0].i = 42;
    else if (strcmp(name, "answer") == 0 && type.base == ASL_FLOAT && strcmp(object, "earth") == 0)
        v[0].f = (float)index + 0.5f;
    else
        return false;
    return true;
}
