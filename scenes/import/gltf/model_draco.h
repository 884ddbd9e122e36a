/* SPDX-License-Identifier: Apache-2.0 */
/* Meshes packed by Draco (KHR_draco_mesh_compression), whose library has no C functions. */
#ifndef ISOPHOTE_SCENES_MODEL_DRACO_H
#define ISOPHOTE_SCENES_MODEL_DRACO_H

#ifdef __cplusplus
extern "C" {
#else
#include <stdbool.h>
#endif
#include <stddef.h>
#include <stdint.h>

struct draco_mesh;

/* NULL: `why` says the reason, in the library's words. */
struct draco_mesh *draco_mesh_read(const void *data, size_t size, char why[128]);
void draco_mesh_free(struct draco_mesh *m);
uint64_t draco_mesh_vertices(const struct draco_mesh *m);
uint64_t draco_mesh_triangles(const struct draco_mesh *m);
/* 3 a triangle, below the number of vertices. */
void draco_mesh_indices(const struct draco_mesh *m, uint32_t *out);
/* The attribute of this unique id for all vertices, as so many components of a type of glTF's
 * (5120 to 5126). False: there is none, or its values do not fit. */
bool draco_mesh_attribute(const struct draco_mesh *m, uint32_t id, int type, int components,
                          void *out);

#ifdef __cplusplus
}
#endif

#endif
