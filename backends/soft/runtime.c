/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that compiled code may call, by name. */
#include "soft.h"

#include <math.h>
#include <string.h>

static uint32_t soft_item(uint32_t what, uint32_t axis)
{
    const struct worker *w = worker_self;
    const struct launch *l = w->launch;
    bool size =
        what == SOFT_ITEM_LOCAL_SIZE || what == SOFT_ITEM_GROUPS || what == SOFT_ITEM_GLOBAL_SIZE;
    if (axis > 2)
        return size; /* OpenCL C 1.2, 6.12.1: sizes are 1, ids 0 */
    switch (what) {
    case SOFT_ITEM_LOCAL_ID:
        return w->local[axis];
    case SOFT_ITEM_GROUP_ID:
        return w->group[axis];
    case SOFT_ITEM_LOCAL_SIZE:
        return l->group[axis];
    case SOFT_ITEM_GROUPS:
        return l->groups[axis];
    case SOFT_ITEM_GLOBAL_ID:
        return l->offset[axis] + w->group[axis] * l->group[axis] + w->local[axis];
    case SOFT_ITEM_GLOBAL_SIZE:
        return l->groups[axis] * l->group[axis];
    case SOFT_ITEM_GLOBAL_OFFSET:
        return l->offset[axis];
    default:
        return 0;
    }
}

static void soft_barrier(void)
{
    struct worker *w = worker_self;
    if (w->fiber)
        fiber_yield(w, (uint32_t)(uintptr_t)__builtin_return_address(0));
}

static void *soft_local(uint64_t offset) { return worker_self->local_bytes + offset; }

/* NOLINTBEGIN(bugprone-macro-parentheses): names of functions */
#define SELF(name)                                                                                 \
    {                                                                                              \
#name, (void *)name                                                                        \
    }
/* Both widths of a function of C's libm. */
#define MATH(name)                                                                                 \
    {#name, (void *)(double (*)(double))name}, { #name "f", (void *)(float (*)(float))name##f }
#define MATH2(name)                                                                                \
    {#name, (void *)(double (*)(double, double))name},                                             \
    {                                                                                              \
#name "f", (void *)(float (*)(float, float))name##f                                        \
    }
/* NOLINTEND(bugprone-macro-parentheses) */

static float exp10_float(float x) { return powf(10.0f, x); }
static double exp10_double(double x) { return pow(10.0, x); }

const struct runtime_symbol runtime_symbols[] = {
    SELF(soft_item),
    SELF(soft_barrier),
    SELF(soft_local),
    SELF(soft_check),
    SELF(soft_memory_copy),
    SELF(soft_memory_set),
    SELF(soft_shadow_move),
    SELF(soft_shadow_return),
    SELF(soft_returned_check),
    SELF(soft_private_enter),
    SELF(soft_private_leave),
    SELF(soft_private_make),
    {"memcpy", (void *)memcpy},
    {"memmove", (void *)memmove},
    {"memset", (void *)memset},
    MATH(sqrt),
    MATH(fabs),
    MATH(floor),
    MATH(ceil),
    MATH(trunc),
    MATH(rint),
    MATH(round),
    MATH(sin),
    MATH(cos),
    MATH(tan),
    MATH(asin),
    MATH(acos),
    MATH(atan),
    MATH(sinh),
    MATH(cosh),
    MATH(tanh),
    MATH(exp),
    MATH(exp2),
    MATH(expm1),
    MATH(log),
    MATH(log2),
    MATH(log10),
    MATH(log1p),
    MATH(cbrt),
    MATH(erf),
    MATH(erfc),
    MATH(tgamma),
    MATH(lgamma),
    MATH2(atan2),
    MATH2(pow),
    MATH2(fmod),
    MATH2(hypot),
    MATH2(fdim),
    MATH2(remainder),
    MATH2(fmin),
    MATH2(fmax),
    MATH2(copysign),
    {"exp10", (void *)exp10_double},
    {"exp10f", (void *)exp10_float},
    {"fma", (void *)(double (*)(double, double, double))fma},
    {"fmaf", (void *)(float (*)(float, float, float))fmaf},
    {NULL, NULL},
};
