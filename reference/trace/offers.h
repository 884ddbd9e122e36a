/* SPDX-License-Identifier: Apache-2.0 */
/* What trace/ offers.
 *   candidates.h  closest and any hits through Embree
 *   hit.h         the exact tests
 *   rays.h        ambient occlusion, and rays of shaders
 */
#ifndef ISOPHOTE_REFERENCE_TRACE_OFFERS_H
#define ISOPHOTE_REFERENCE_TRACE_OFFERS_H

#include "candidates.h"
#include "hit.h"
#include "rays.h"

#endif
