/* SPDX-License-Identifier: Apache-2.0 */
/* The run-time library of shaders as bitcode, for rows of A_WIDTH points: what a compiler is to
 * look into. shade_code.c has the rest. Compiled by clang-15 when the program is built
 * (CMakeLists.txt). */
// clang-format off
#define AL_INLINED
#include "portable.h"
#include "asl/device.h"
#include "linked/shade_functions.h"
// clang-format on
