/* SPDX-License-Identifier: Apache-2.0 */
/* What api/ offers: the table that every API fills, and what their rooms share.
 *   backend_api.h  the table of functions, buffers, entries, requests
 *   kept.h         files of compiled kernels
 */
#ifndef ISOPHOTE_BACKENDS_API_OFFERS_H
#define ISOPHOTE_BACKENDS_API_OFFERS_H

#include "backend_api.h"
#include "kept.h"

#endif
