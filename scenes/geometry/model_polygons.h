/* SPDX-License-Identifier: Apache-2.0 */
/* Polygons of model files as triangles. */
#ifndef ISOPHOTE_SCENES_MODEL_POLYGONS_H
#define ISOPHOTE_SCENES_MODEL_POLYGONS_H

#include <stddef.h>
#include <stdint.h>

/* Cuts the polygon of n >= 3 corners, in space and about flat, into n - 2 triangles of its corners'
 * numbers 0 .. n - 1, wound as it is: by its ears (Meisters, "Polygons Have Ears", 1975), so that
 * those of a simple polygon, concave or not, do not overlap. One that crosses itself or has no area
 * gives n - 2 triangles, too. */
struct polygon_room {
    double (*at)[2]; /* [n] */
    uint32_t *ring;  /* [n] */
};
void polygon_cut(const float (*P)[3], size_t n, const struct polygon_room *room,
                 uint32_t (*triangles)[3]);

#endif
