/* SPDX-License-Identifier: Apache-2.0 */
/* shade_math.c: the device library compiled for the test, with A_WIDTH lanes. */
#include "portable.h"

#include "math/lanes.h"
#include "math/math.h"

#include "shade_math.h"
#include <string.h>

#define FUNCTIONS(X)                                                                               \
    X(sin)                                                                                         \
    X(cos)                                                                                         \
    X(tan)                                                                                         \
    X(asin)                                                                                        \
    X(acos)                                                                                        \
    X(atan)                                                                                        \
    X(sinh)                                                                                        \
    X(cosh)                                                                                        \
    X(tanh)                                                                                        \
    X(exp)                                                                                         \
    X(exp2)                                                                                        \
    X(expm1)                                                                                       \
    X(log)                                                                                         \
    X(log2)                                                                                        \
    X(log10)                                                                                       \
    X(inversesqrt)                                                                                 \
    X(cbrt)                                                                                        \
    X(erf)                                                                                         \
    X(erfc)

#if A_WIDTH == 1
#define X(name)                                                                                    \
    static float one_##name(float x) { return a_##name(x); }
FUNCTIONS(X)
#undef X
float (*shade_math_find(const char *name))(float x)
{
#define X(f)                                                                                       \
    if (strcmp(name, #f) == 0)                                                                     \
        return one_##f;
    FUNCTIONS(X)
#undef X
    return NULL;
}
float shade_math_atan2(float y, float x) { return a_atan2(y, x); }
float shade_math_hypot(float x, float y) { return a_hypot(x, y, 0.0f); }
float shade_math_pow(float x, float y) { return a_pow(x, y); }
float shade_math_fmod(float x, float y) { return a_fmod(x, y); }
#else
#define X(name)                                                                                    \
    static void row_##name(const float *x, float *out)                                             \
    {                                                                                              \
        af v;                                                                                      \
        memcpy(&v, x, sizeof v);                                                                   \
        v = a_##name(v);                                                                           \
        memcpy(out, &v, sizeof v);                                                                 \
    }
FUNCTIONS(X)
#undef X
void (*shade_math_find_row(const char *name))(const float *x, float *out)
{
#define X(f)                                                                                       \
    if (strcmp(name, #f) == 0)                                                                     \
        return row_##f;
    FUNCTIONS(X)
#undef X
    return NULL;
}
#endif
