/* SPDX-License-Identifier: Apache-2.0 */
/* shade_math.h: functions of device/math/math.h as C functions, for their test: one lane, and
 * rows of lanes. shade_math.c is compiled once for each. */
#ifndef ISOPHOTE_SHADE_MATH_H
#define ISOPHOTE_SHADE_MATH_H

enum { SHADE_MATH_LANES = 16 };
/* "sin": NULL when there is none. */
float (*shade_math_find(const char *name))(float x);
void (*shade_math_find_row(const char *name))(const float *x, float *out);
float shade_math_atan2(float y, float x);
float shade_math_hypot(float x, float y);
float shade_math_pow(float x, float y);
float shade_math_fmod(float x, float y);

#endif
