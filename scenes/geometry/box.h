/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes along the axes, and where coordinates that lie far from 0 are counted from. */
#ifndef ISOPHOTE_SCENES_BOX_H
#define ISOPHOTE_SCENES_BOX_H

#include <stdbool.h>

/* Empty: lo above hi. */
struct box {
    double lo[3], hi[3];
};

extern const struct box box_empty;

/* p is left out unless it is finite. */
void box_add(struct box *b, const double p[3]);
/* False if no box that holds this one is far; what asks it of every point can stop early. */
bool box_may_be_far(const struct box *b);
/* 0 unless the box is far: a coordinate of its middle is beyond 16 half sides, of the longest. Then
 * the middle, rounded to a multiple of the least power of two above half that side, and to float32,
 * as devices have it: so float32 coordinates there less this are exact. */
void box_origin(const struct box *b, double origin[3]);

#endif
