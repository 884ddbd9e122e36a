/* SPDX-License-Identifier: Apache-2.0 */
/* What cameras/ offers.
 *   camera.h       rays
 *   film_filter.h  where in the film a sample lies
 */
#ifndef ISOPHOTE_REFERENCE_CAMERAS_OFFERS_H
#define ISOPHOTE_REFERENCE_CAMERAS_OFFERS_H

#include "camera.h"
#include "film_filter.h"

#endif
