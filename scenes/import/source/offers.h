/* SPDX-License-Identifier: Apache-2.0 */
/* What source/ offers to the readers of model files.
 *   model_derived.h  textures computed from others
 *   model_result.h   what passes from the child to the parent
 *   model_source.h   what a reader finds
 */
#ifndef ISOPHOTE_SCENES_IMPORT_SOURCE_OFFERS_H
#define ISOPHOTE_SCENES_IMPORT_SOURCE_OFFERS_H

#include "model_derived.h"
#include "model_result.h"
#include "model_source.h"

#endif
