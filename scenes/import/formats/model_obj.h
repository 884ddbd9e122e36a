/* SPDX-License-Identifier: Apache-2.0 */
/* What Assimp 5.2.5 does not tell of OBJ (Alias/Wavefront, "Object Files", appendix B1): smoothing
 * groups, and which vertices faces use. */
#ifndef ISOPHOTE_SCENES_MODEL_OBJ_H
#define ISOPHOTE_SCENES_MODEL_OBJ_H

#include "import/source/offers.h"

/* Lines must not go on behind their ends. Where a file has statements "s N" and faces without
 * normals, those get some, as further text: at a vertex the mean over the faces of one group that
 * name it, by area and angle; none (0, 0, 0) where smoothing is off, as it is before the first
 * statement. False if the file says nothing of smoothing. In other files, *data and *size stay what
 * they are. */
bool obj_smooth(struct source *s, char **data, size_t *size);
/* Of each line "v ..." whether a face names it, in s->scratch. */
const bool *obj_used(struct source *s, const char *data, size_t size, size_t *count);

#endif
