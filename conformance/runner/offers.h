/* SPDX-License-Identifier: Apache-2.0 */
/* What runner/ offers to an audit.
 *   identity.h  identities of cases and of the files that they read
 *   skips.h     expected SKIPs
 *   waivers.h   known failures
 */
#ifndef CONFORMANCE_RUNNER_OFFERS_H
#define CONFORMANCE_RUNNER_OFFERS_H

#include "identity.h"
#include "skips.h"
#include "waivers.h"

#endif
