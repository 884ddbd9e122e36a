/* SPDX-License-Identifier: Apache-2.0 */
/* Scenes that the tests of this folder make in memory, and small helpers around a device. */
#ifndef ISOPHOTE_TEST_SCENES_H
#define ISOPHOTE_TEST_SCENES_H

#include "backends.h"

/* ISOPHOTE_CFLAGS where the compiler is not what is tested: strict bits and whole counts are the same,
 * in a third of its time and less. Functions stay apart, as mutants' do. */
#define QUICK_FLAGS "-O1 -Dalways_inline=unused"

/* A scene from JSON text; fails the running test if it does not load. */
struct scene *scene_from_text(const char *json);
/* A scene of scenes/library. */
struct scene *scene_from_library(const char *name);

/* `triangles` random triangles (a share of them degenerate, axis-aligned, tiny or huge), spheres
 * and disks, all of one diffuse material, in a box of half side `scale` about `center`. Owned by
 * the caller: scene_free. */
struct scene *scene_soup(uint32_t seed, size_t triangles, size_t spheres, size_t disks,
                         float center, float scale);

/* A soup of which `prototypes` runs of triangles, of growing length, are placed by `instances`
 * transforms: turned, mirrored, stretched unevenly, sheared, tiny, coincident; the rest is the
 * world. */
struct scene *scene_instanced(uint32_t seed, size_t triangles, size_t rounds, size_t prototypes,
                              size_t instances, float scale);

/* Random numbers in [0, 1) for tests: Philox of (seed, counter). */
double test_random(uint32_t seed, uint32_t *counter);

/* Fails the running test, with the message, unless st is STATUS_OK. */
void must(enum status st, const struct error *err);

struct device *device_ready(const char *id, const struct scene *s, enum bvh_kind bvh,
                            enum math_mode mode);

#endif
