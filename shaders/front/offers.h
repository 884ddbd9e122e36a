/* SPDX-License-Identifier: Apache-2.0 */
/* What front/ offers to the later stages.
 *   asl.h        sources, tokens, the tree, symbols
 *   check.h      conversions, as the checker has them
 *   group.h      shader groups
 *   modules.h    what it asks of module/, which
 *   parse.h      needs the words of the language,
 *   procedure.h  and the heads of procedures
 */
#ifndef ISOPHOTE_SHADERS_FRONT_OFFERS_H
#define ISOPHOTE_SHADERS_FRONT_OFFERS_H

#include "asl.h"
#include "check.h"
#include "group.h"
#include "modules.h"
#include "parse.h"
#include "procedure.h"

#endif
