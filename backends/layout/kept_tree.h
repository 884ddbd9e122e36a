/* SPDX-License-Identifier: Apache-2.0 */
/* Binary trees kept on disk (trees_keep of backends.h). */
#ifndef ISOPHOTE_KEPT_TREE_H
#define ISOPHOTE_KEPT_TREE_H

#include "bvh/bvh.h"

/* bvh2_build, or what it made of the same boxes in an earlier process. Small trees are always
 * built. Fails as bvh2_build does. */
enum status kept_tree(const struct bvh_box *boxes, size_t count, unsigned max_leaf,
                      struct bvh2 *out, struct error *err);
/* Below so many boxes, building takes less than a tenth of a second. */
enum { KEPT_TREE_LEAST = 32768 };

#endif
