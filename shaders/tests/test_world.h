/* SPDX-License-Identifier: Apache-2.0 */
/* The renderer that the shaders of tests/ ask: its spaces and attributes, as asl_services have
 * them. */
#ifndef SHADERS_TEST_WORLD_H
#define SHADERS_TEST_WORLD_H

#include "shaders.h"

/* world and shader: identity; object: twice as large, moved by (1, 2, 3). */
bool test_space(void *ctx, const char *space, float m[16]);
/* int `answer`: 42; float `answer` of the object `earth`: the index and a half. */
bool test_attribute(void *ctx, const char *object, const char *name, int index,
                    struct asl_type type, union asl_slot *v);

#endif
