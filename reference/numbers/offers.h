/* SPDX-License-Identifier: Apache-2.0 */
/* What numbers/ offers.
 *   random.h  random blocks and maps to directions
 *   vec.h     vectors of three doubles
 */
#ifndef ISOPHOTE_REFERENCE_NUMBERS_OFFERS_H
#define ISOPHOTE_REFERENCE_NUMBERS_OFFERS_H

#include "random.h"
#include "vec.h"

#endif
