/* SPDX-License-Identifier: Apache-2.0 */
/* Noise of the run-time library of shaders, for rows of A_WIDTH points, as machine code that a
 * shader's own is linked with. Compiled by clang-15 when the program is built. */
// clang-format off
#define AL_NOISE_ALONE
#include "portable.h"
#include "asl/device.h"
#include "linked/shade_functions.h"
// clang-format on
