/* SPDX-License-Identifier: Apache-2.0 */
/* A scene laid out as the kernel reads it: buffers, and the launch fields that depend on the scene
 * alone. */
#ifndef ISOPHOTE_LAYOUT_H
#define ISOPHOTE_LAYOUT_H

#include "api/offers.h"
#include "shade/offers.h"

struct layout {
    struct scene_buffers buffers; /* owned */
    struct k_launch launch;       /* environment, light and geometry fields; the rest is 0 */
    uint32_t features;            /* K_FEATURE_* that the scene needs */
    enum bvh_kind bvh; /* never BVH_AUTO; BVH_BINARY also where an eight-wide tree would be too deep
                          for the kernel's stack */
    uint64_t bvh_bytes, scene_bytes; /* nodes and leaves; everything else */
    double build_s, sah_cost;
    uint32_t material_count, texture_count; /* what probes may name */
    struct shade_scene shaders;             /* owned; its words are a buffer */
    struct tiled_level *images;             /* of materials, texture_count; heap */
    struct texture_cache *cache; /* held; behind the words of buffers by the bits `viewed`; NULL */
    uint32_t viewed;             /* 1u << enum scene_buffer */
};

/* Largest absolute coordinate that float32 tests can take without overflow (Part II, section 12).
 */
#define LAYOUT_COORDINATE_MAX 0x1p36

/* Primitives, those of instances each time, that BVH_LINEAR takes: a ray is tested against all. */
#define LAYOUT_LINEAR_MAX 65536u

/* kind: not BVH_AUTO. in_place: the device reads the buffers where they are, so that textures which
 * are read on demand need not be read for them. Fails: RANGE (a coordinate too large),
 * LIMIT, MEMORY, CANCELLED.
 */
enum status layout_build(const struct scene *s, enum bvh_kind kind, enum shade_way form,
                         bool in_place, struct layout *out, struct error *err);
/* Answers what the scene's shaders ask in tables behind a film: the buffers hold the replies then.
 * Fails: LIMIT, MEMORY. */
enum status layout_answer(struct layout *l, const uint32_t *tables, bool *asked, struct error *err);
/* What a kernel that counts keeps behind a film's tables (K_TALLY_*): how many words, where they
 * are, and what they say, of each film that a picture is made of. tally_read joins all tiles in the
 * first. It fails for want of memory alone. */
size_t tally_words(const struct layout *l);
void tally_place(const struct layout *l, struct k_launch *launch);
enum status tally_read(const struct layout *l, uint32_t *const *films, size_t film_count,
                       struct shading_counts *out, struct error *err);
void layout_free(struct layout *l);
/* Only the buffers. */
void layout_free_buffers(struct layout *l);

#endif
