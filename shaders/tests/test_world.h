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

/* The plane z = 0 is there, and nothing else. */
bool test_trace(void *ctx, const struct asl_ray *ray, struct asl_traced *hit);
/* What was asked for, as a number: maxdist + 100 samples + 1000 n.z + 10000 P.z. */
float test_occlusion(void *ctx, const struct asl_ray *about, uint32_t samples);

#endif
