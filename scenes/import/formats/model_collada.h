/* SPDX-License-Identifier: Apache-2.0 */
/* Collada's text as Assimp 5.2.5 can read it. */
#ifndef ISOPHOTE_SCENES_MODEL_COLLADA_H
#define ISOPHOTE_SCENES_MODEL_COLLADA_H

#include "import/source/offers.h"

/* <skew>, on which Assimp aborts, becomes the <matrix> that it stands for; what is none is refused
 * with its line. */
void collada_mend(struct source *s, char **data, size_t *size);

#endif
