/* SPDX-License-Identifier: Apache-2.0 */
/* Smoothing groups of 3DS: Assimp 5.2.5 makes normals of them, but smooths faces of no group with
 * all that touch them. */
#ifndef ISOPHOTE_SCENES_MODEL_3DS_H
#define ISOPHOTE_SCENES_MODEL_3DS_H

#include "import/source/offers.h"

/* What the faces of one mesh and one material say, in the file's order: that is a mesh of
 * Assimp's. */
struct smoothing_3ds {
    uint32_t faces;
    bool says;  /* the mesh has groups at all */
    bool *flat; /* faces of none */
};
/* The file's lists in the order of Assimp's meshes; *count of them. Changes the data so that Assimp
 * smooths no face of a group with one of none. */
const struct smoothing_3ds *read_smoothing_3ds(struct source *s, char *data, size_t size,
                                               size_t *count);

#endif
