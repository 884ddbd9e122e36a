/* SPDX-License-Identifier: Apache-2.0 */
/* Triangles of models cut into smaller ones. */
#ifndef ISOPHOTE_SCENES_MODEL_SUBDIVIDE_H
#define ISOPHOTE_SCENES_MODEL_SUBDIVIDE_H

#include "model.h"

/* How long an edge is. Of its ends alone, the same for both orders of them: so triangles agree
 * about the edges that they share, and no cracks come about. An edge that is not finite is not cut,
 * nor one whose middle float32 cannot tell from an end. */
struct edge_measure {
    double (*length)(const void *ctx, const float a[3], const float b[3]);
    const void *ctx;
    double most;
};

/* m with its edges longer than `most` cut in their middles, and their halves, until there are none.
 * Ends that share a middle's edge share the middle. N (any length, but 0 counts as none) at a middle
 * is the unit mean of the ends', all else the mean.
 *   out     in the arena: P, N, UV, colors, triangles, flags, material as m has them, and origin
 *   parent  in the arena: [out->triangle_count], the triangle of m that it is a part of
 * Fails: LIMIT (more than `limit` triangles, or 2^32 - 1 vertices), MEMORY, CANCELLED, without a
 * place. */
enum status model_subdivide(struct arena *a, const struct model *m,
                            const struct edge_measure *measure, uint64_t limit, struct model *out,
                            uint32_t **parent, struct error *err);

#endif
