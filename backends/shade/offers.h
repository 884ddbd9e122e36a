/* SPDX-License-Identifier: Apache-2.0 */
/* What shade/ offers: shaders as programs of their own, and inside the kernel.
 *   shade_program.h  a group as a program for a device
 *   shade_scene.h    a scene's shaders joined to the kernel
 */
#ifndef ISOPHOTE_BACKENDS_SHADE_OFFERS_H
#define ISOPHOTE_BACKENDS_SHADE_OFFERS_H

#include "shade_program.h"
#include "shade_scene.h"

#endif
