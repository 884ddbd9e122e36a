/* SPDX-License-Identifier: Apache-2.0 */
/* What store/ offers to what reads stores.
 *   snapshot.h  a store's newest records, as reports show them
 *   store.h     the open store
 */
#ifndef ISOPHOTE_REPORTS_STORE_OFFERS_H
#define ISOPHOTE_REPORTS_STORE_OFFERS_H

#include "snapshot.h"
#include "store.h"

#endif
