/* SPDX-License-Identifier: Apache-2.0 */
/* What formats/ offers: every reader but that of glTF. */
#ifndef ISOPHOTE_SCENES_FORMATS_H
#define ISOPHOTE_SCENES_FORMATS_H

#include "import/source/offers.h"

/* False when it is no PLY file that Assimp reads wrongly or rounds, and nothing was done but a note. */
bool source_read_ply(struct source *s);
void source_read_assimp(struct source *s);

#endif
