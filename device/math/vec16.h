/* SPDX-License-Identifier: Apache-2.0 */
/* Sixteen floats at once, for sixteen rays: vector types of the compilers that make bitcode
 * (K_LINKED). A mask has all bits of a lane set, or none. */
#ifndef K_VEC16_H
#define K_VEC16_H
#include "math/vec.h"

typedef float k_f16 __attribute__((vector_size(64)));
typedef int k_mask16 __attribute__((vector_size(64)));

K_FN k_f16 f16_load(const float *p) { return *(const k_f16 *)p; }
K_FN k_f16 f16_splat(float x) { return (k_f16){0} + x; }
K_FN k_mask16 i16_splat(int x) { return (k_mask16){0} + x; }
K_FN k_f16 f16_select(k_mask16 m, k_f16 a, k_f16 b)
{
    return (k_f16)((m & (k_mask16)a) | (~m & (k_mask16)b));
}
K_FN k_f16 f16_min(k_f16 a, k_f16 b) { return f16_select(a < b, a, b); }
K_FN k_f16 f16_max(k_f16 a, k_f16 b) { return f16_select(a > b, a, b); }
/* |a|, and a with its sign changed where that of b is set. */
K_FN k_f16 f16_abs(k_f16 a) { return (k_f16)((k_mask16)a & i16_splat(0x7FFFFFFF)); }
K_FN k_f16 f16_turn(k_f16 a, k_f16 b)
{
    return (k_f16)((k_mask16)a ^ ((k_mask16)b & i16_splat(-0x7FFFFFFF - 1)));
}
#endif
