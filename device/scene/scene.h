/* SPDX-License-Identifier: Apache-2.0 */
/* The scene's buffers as the kernel holds them. */
#ifndef K_SCENE_H
#define K_SCENE_H
#include "launch.h"
#include "math/vec.h"

struct k_scene {
#define SCENE_BUFFER(name, type, text) K_GLOBAL const type *name;
#include "buffers.def"
#undef SCENE_BUFFER
    K_GLOBAL const struct k_launch *launch;
#ifdef K_COUNT_RAYS
    K_LONG *counts;       /* [K_COUNTS], of this work-item */
    K_GLOBAL uint *tally; /* of all work-items: K_TALLY_* */
    uint *met; /* [K_RUN_VERTICES]: 1 + the material whose shader last ran at each vertex */
#endif
    K_GLOBAL uint *messages; /* tables of k_say; 0: nobody listens */
#ifdef K_LANES
    int flat;                       /* no triangle has normals */
    const float *lamps, *lamps_cdf; /* of the lights, path/slots.h */
#endif
};

/* What the kernel is counting when it is compiled with K_COUNT_RAYS: the film's red, green and blue
 * then hold these. */
#define K_COUNT_CLOSEST 0
#define K_COUNT_ANY     1
#define K_COUNT_NODES   2 /* read by rays of both kinds */
#define K_COUNTS        3
#ifdef K_COUNT_RAYS
#define K_COUNT(sc, what) ((void)(sc)->counts[what]++)
#else
#define K_COUNT(sc, what) ((void)0)
#endif

#ifdef K_COUNT_RAYS
/* One more of number i, which takes two words. */
K_FN void k_tally_up(K_GLOBAL uint *tally, uint i)
{
    if (K_COUNT_UP(tally, i) == 0xFFFFFFFFu)
        (void)K_COUNT_UP(tally, i + 1u);
}
/* The tile of texel (x, y) was read; first: the word where its level, so wide, begins. */
K_FN void k_tally_tile(K_GLOBAL uint *tiles, uint first, uint width, uint x, uint y)
{
    const uint across = (width + K_TILE_SIDE - 1u) / K_TILE_SIDE;
    const uint bit = first + y / K_TILE_SIDE * across + x / K_TILE_SIDE;
    K_OR(tiles + bit / 32u, 1u << (bit & 31u));
}
/* A shader runs at vertex k. It could have run together with the pixel's last sample that met one
 * there, if that was of the same material. */
K_FN void k_tally_hit(const struct k_scene *sc, uint k, uint material)
{
    uint kind = K_HIT_FIRST;
    if (k <= K_RUN_VERTICES) {
        const uint before = sc->met[k - 1u];
        sc->met[k - 1u] = material + 1u;
        if (before == material + 1u)
            kind = K_HIT_COMBINED;
        else if (before != 0u)
            kind = sc->materials[before - 1u].shader == sc->materials[material].shader
                       ? K_HIT_OTHER_PLACE
                       : K_HIT_OTHER_SHADER;
    }
    k_tally_up(sc->tally, K_TALLY_MATERIALS + 2u * (K_HIT_KINDS * material + kind));
}
#endif

/* The three vertices of a triangle. */
struct k_triangle {
    struct k_vec3 v0, v1, v2;
};
K_FN struct k_triangle k_triangle_load(const struct k_scene *sc, uint id)
{
    K_GLOBAL const uint *v = sc->triangles + 3 * (size_t)id;
    struct k_triangle t;
    t.v0 = v3_load(sc->positions + 3 * (size_t)v[0]);
    t.v1 = v3_load(sc->positions + 3 * (size_t)v[1]);
    t.v2 = v3_load(sc->positions + 3 * (size_t)v[2]);
    return t;
}
K_FN uint k_triangle_flags(const struct k_scene *sc, uint id)
{
    uint flags = (sc->triangle_flags[id >> 2] >> (8u * (id & 3u))) & 0xFFu;
#ifdef K_LANES
    flags = sc->flat ? flags & ~1u : flags;
#endif
    return flags;
}

#endif
