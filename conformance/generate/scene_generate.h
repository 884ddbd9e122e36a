/* SPDX-License-Identifier: Apache-2.0 */
/* scene_generate.h: valid scenes at random, over all that docs/reference/scenes.md can say. A scene
 * is a pure function of its seed and its number (Philox). docs/howto/random_scenes.md. */
#ifndef CONFORMANCE_SCENE_GENERATE_H
#define CONFORMANCE_SCENE_GENERATE_H

#include "base.h"

/* Appends the JSON of scene `number` of `seed`. pictures: the folder of the library's pictures, as
 * the scene's file will name it ("textures", or a whole path); its parent holds sky.hdr. NULL: of
 * this program's data. Fails: MEMORY, MISSING (this program's data). */
enum status scene_generate(uint64_t seed, uint64_t number, const char *pictures, struct text *out,
                           struct error *err);

/* Appends one of SCENE_DENSE_PARTS scenes that between them have every closure and every pattern
 * that random scenes are made of, each on an object of its own, under a sky, a lamp and a light. */
enum { SCENE_DENSE_PARTS = 4 };
enum status scene_dense(uint32_t part, const char *pictures, struct text *out, struct error *err);

#endif
