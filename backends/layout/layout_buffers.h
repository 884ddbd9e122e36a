/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of layout: one function a group of buffers. */
#ifndef ISOPHOTE_LAYOUT_BUFFERS_H
#define ISOPHOTE_LAYOUT_BUFFERS_H

#include "layout.h"

#include "bvh/bvh.h"

/* Zeroed memory for buffer `b` of `count` items of `size` bytes, padded to 64; *data NULL when
 * count is 0. */
enum status layout_take(struct layout *l, enum scene_buffer b, size_t count, size_t size,
                        void **data, struct error *err);

/* The same of words behind which the texture cache stands, if the layout has one. */
enum status layout_take_words(struct layout *l, enum scene_buffer b, size_t count, void **data,
                              struct error *err);
/* Are these texels among the cache's behind such words, and from which word on? */
bool layout_cached(const struct layout *l, const void *texels, uint32_t *word);

enum status layout_geometry(struct layout *l, const struct scene *s, struct error *err);
enum status layout_tree(struct layout *l, const struct scene *s, enum bvh_kind kind,
                        struct error *err);
/* Widens the box of a primitive (protocol section 13). */
void box_widen(struct bvh_box *b);
/* BUFFER_instances, but for the roots of their trees, and into boxes the box of each (section 25).
 * roots: the exact unions of the widened boxes of each prototype's triangles. */
enum status layout_instances(struct layout *l, const struct scene *s, const struct bvh_box *roots,
                             struct bvh_box *boxes, struct error *err);
enum status layout_materials(struct layout *l, const struct scene *s, struct error *err);
/* After layout_materials: normal maps, media, what counts as a hit. */
enum status layout_surfaces(struct layout *l, const struct scene *s, struct error *err);
enum status layout_textures(struct layout *l, const struct scene *s, struct error *err);
enum status layout_camera(struct layout *l, const struct scene *s, struct error *err);
/* After layout_materials: it says which shader each material runs. */
enum status layout_shaders(struct layout *l, const struct scene *s, enum shade_way form,
                           struct error *err);
/* Emission of a primitive: its material's, or the mean of a textured one (layout_emission.c). */
void layout_mean_emission(const struct scene *s, size_t primitive, double rgb[3]);
/* A light as the tree takes it (docs/reference/protocol.md section 24.1). */
struct light_leaf {
    double lo[3], hi[3], axis[3];
    double weight, cos_o, cos_e;
    uint32_t light;
};
/* The tree over these, which it reorders; fills in the extras' places (layout_light_tree.c). */
enum status layout_light_tree(struct layout *l, struct light_leaf *leaves, size_t count,
                              struct k_light_extra *extras, struct error *err);
/* After layout_materials and layout_textures: it fills in the densities. */
enum status layout_lights(struct layout *l, const struct scene *s, struct error *err);
/* After all others: adds to l->features what they did not (layout_features.c). */
void layout_features(struct layout *l, const struct scene *s);

#endif
