/* SPDX-License-Identifier: Apache-2.0 */
/* What report/ offers to the formats.
 *   report.h    one function a format
 *   headline.h  the first sentence
 *   tuning.h    which launch settings are best
 */
#ifndef ISOPHOTE_REPORTS_REPORT_OFFERS_H
#define ISOPHOTE_REPORTS_REPORT_OFFERS_H

#include "report.h"
#include "tuning.h"

#endif
