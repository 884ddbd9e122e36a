/* SPDX-License-Identifier: Apache-2.0 */
/* Paths abreast, on processors (docs/reference/models.md): what a thread's batch of paths is between
 * the stages of its vertices, slot by slot. A path that has ended leaves its slot to the next
 * sample. */
#ifndef K_SLOTS_H
#define K_SLOTS_H
#include "light/light.h"
#include "math/random.h"

#define K_SLOTS      256u
#define K_SLOT_LANES 16u
#define K_LAMP_WORDS 17u
#define K_SLOTS_ROOM (K_SLOTS + K_SLOT_LANES) /* with slots that fill up lanes */

struct k_slots3 {
    float x[K_SLOTS_ROOM], y[K_SLOTS_ROOM], z[K_SLOTS_ROOM];
};
struct k_slots {
    uint live[K_SLOTS_ROOM];                                     /* is there a path? */
    uint x[K_SLOTS_ROOM], y[K_SLOTS_ROOM], sample[K_SLOTS_ROOM]; /* whose it is */
    uint k[K_SLOTS_ROOM];                                        /* its vertices so far */
    struct k_slots3 o, d;                                        /* the ray to the next */
    struct k_slots3 beta, L;
    float pdf_prev[K_SLOTS_ROOM];
    uint primitive[K_SLOTS_ROOM]; /* what that ray met, as struct k_hit has it */
    float t[K_SLOTS_ROOM], b1[K_SLOTS_ROOM], b2[K_SLOTS_ROOM];
    const float *corners[K_SLOTS_ROOM];
    uint shadow[K_SLOTS_ROOM];      /* does a light sample wait for its ray? */
    struct k_slots3 from, wi, part; /* it, as struct k_shadow_ray has it */
    float distance[K_SLOTS_ROOM];
    uint begin[K_SLOTS_ROOM]; /* slots whose paths begin */
    /* the lights, as k_lamp_of reads them; C from the last on that can be chosen is infinite */
    float lamps[K_LAMP_WORDS][K_LIGHTS_ABREAST], lamps_cdf[K_LIGHTS_ABREAST];
} __attribute__((aligned(64)));

K_FN struct k_vec3 k_slots_get(const struct k_slots3 *a, uint i)
{
    return v3(a->x[i], a->y[i], a->z[i]);
}
K_FN void k_slots_put(struct k_slots3 *a, uint i, struct k_vec3 v)
{
    a->x[i] = v.x;
    a->y[i] = v.y;
    a->z[i] = v.z;
}

#define K_SLOTS_FN __attribute__((visibility("default")))
/* The paths of slots begin[0 .. count) begin: x, y and sample say which. count: a multiple of
 * K_SLOT_LANES, since what is left over would be rounded otherwise in mode fast. */
K_SLOTS_FN void k_slots_start(const struct k_scene *sc, struct k_slots *s, uint count);
/* All that a vertex does but its rays, for the paths of slots 0 .. count; a multiple too. */
K_SLOTS_FN void k_slots_shade(const struct k_scene *sc, struct k_slots *s, uint count);
/* The same where no triangle has normals. */
K_SLOTS_FN void k_slots_shade_flat(const struct k_scene *sc, struct k_slots *s, uint count);

#endif
