/* SPDX-License-Identifier: Apache-2.0 */
/* What geometry/ offers.
 *   box.h             boxes and origins
 *   model.h           triangles in their own space
 *   model_polygons.h  polygons to triangles
 *   model_subdivide.h triangles to smaller ones
 *   transform.h       affine maps
 */
#ifndef ISOPHOTE_SCENES_GEOMETRY_OFFERS_H
#define ISOPHOTE_SCENES_GEOMETRY_OFFERS_H

#include "box.h"
#include "model.h"
#include "model_polygons.h"
#include "model_subdivide.h"
#include "transform.h"

#endif
