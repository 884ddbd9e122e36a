/* SPDX-License-Identifier: Apache-2.0 */
/* Exponentials of plain numbers: those of ASL's library. Functions, which need not be copied to
 * wherever they are used. */
#ifndef K_EXPONENTIAL_H
#define K_EXPONENTIAL_H
#include "math/lanes.h"
#include "math/math.h"
#include "portable.h"

K_CALL float k_pow(float x, float y) { return a_pow(x, y); }
K_CALL float k_exp(float x) { return a_exp(x); }
K_CALL float k_log(float x) { return a_log(x); }

#endif
