/* SPDX-License-Identifier: Apache-2.0 */
/* What metrics/ offers.
 *   metrics.h     how two pictures differ
 *   statistics.h  tests of hypotheses
 */
#ifndef ISOPHOTE_CONFORMANCE_METRICS_OFFERS_H
#define ISOPHOTE_CONFORMANCE_METRICS_OFFERS_H

#include "metrics.h"
#include "statistics.h"

#endif
