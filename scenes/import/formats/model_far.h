/* SPDX-License-Identifier: Apache-2.0 */
/* Text whose coordinates lie far from 0, for readers that would round them to float32 there. */
#ifndef ISOPHOTE_SCENES_MODEL_FAR_H
#define ISOPHOTE_SCENES_MODEL_FAR_H

#include "import/source/offers.h"

/* Where the points in lines "WORD x y z ..." are far from 0 (box.h), the text gets them less their
 * origin, and s->origin is that. Else, and where a line has no such numbers, *data and *size stay
 * what they are. Of the first `count` points only those count that are used. */
void bring_near(struct source *s, const char *word, const bool *used, size_t count, char **data,
                size_t *size);

#endif
