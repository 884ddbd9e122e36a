/* Inside of layout: one function a group of buffers. */
#ifndef ISOPHOTE_LAYOUT_BUFFERS_H
#define ISOPHOTE_LAYOUT_BUFFERS_H

#include "layout.h"

/* Zeroed memory for buffer `b` of `count` items of `size` bytes, padded to 64; *data NULL when
 * count is 0. */
enum status layout_take(struct layout *l, enum scene_buffer b, size_t count, size_t size,
                        void **data, struct error *err);

enum status layout_geometry(struct layout *l, const struct scene *s, struct error *err);
enum status layout_tree(struct layout *l, const struct scene *s, enum bvh_kind kind,
                        struct error *err);
enum status layout_materials(struct layout *l, const struct scene *s, struct error *err);
/* After layout_materials: normal maps, media, what counts as a hit. */
enum status layout_surfaces(struct layout *l, const struct scene *s, struct error *err);
enum status layout_textures(struct layout *l, const struct scene *s, struct error *err);
enum status layout_camera(struct layout *l, const struct scene *s, struct error *err);
/* After layout_materials: it fills in the densities. */
enum status layout_lights(struct layout *l, const struct scene *s, struct error *err);

#endif
