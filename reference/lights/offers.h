/* SPDX-License-Identifier: Apache-2.0 */
/* What lights/ offers.
 *   environment.h  maps and constant surroundings
 *   light.h        choosing and sampling lights, densities
 */
#ifndef ISOPHOTE_REFERENCE_LIGHTS_OFFERS_H
#define ISOPHOTE_REFERENCE_LIGHTS_OFFERS_H

#include "environment.h"
#include "light.h"

#endif
