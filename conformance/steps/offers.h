/* SPDX-License-Identifier: Apache-2.0 */
/* What steps/ offers: a path in step with the reference, bounds, verdicts on pictures.
 *   blame.h    the stage and the function behind a picture that is wrong
 *   bounds.h   how far float32 may be off in one step
 *   fast_hits.h  hits of mode fast that rounding leaves open
 *   judge.h    verdicts on pictures
 *   margins.h  decisions that rounding may take
 *   vector.h   three-vectors
 */
#ifndef ISOPHOTE_CONFORMANCE_STEPS_OFFERS_H
#define ISOPHOTE_CONFORMANCE_STEPS_OFFERS_H

#include "blame.h"
#include "bounds.h"
#include "fast_hits.h"
#include "judge.h"
#include "margins.h"
#include "vector.h"

#endif
