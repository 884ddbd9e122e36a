/* SPDX-License-Identifier: Apache-2.0 */
#include "test_world.h"

#include <math.h>
#include <string.h>

bool test_space(void *ctx, const char *space, float m[16])
{
    (void)ctx;
    static const float shifted[16] = {2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 1, 2, 3, 1};
    for (size_t i = 0; i < 16; i++)
        m[i] = strcmp(space, "object") == 0 ? shifted[i] : i % 5 == 0;
    return strcmp(space, "object") == 0 || strcmp(space, "world") == 0 ||
           strcmp(space, "shader") == 0;
}

bool test_attribute(void *ctx, const char *object, const char *name, int index,
                    struct asl_type type, union asl_slot *v)
{
    (void)ctx;
    if (strcmp(name, "answer") == 0 && type.base == ASL_INT && !*object && index == -1)
        v[0].i = 42;
    else if (strcmp(name, "answer") == 0 && type.base == ASL_FLOAT && strcmp(object, "earth") == 0)
        v[0].f = (float)index + 0.5f;
    else
        return false;
    return true;
}

bool test_trace(void *ctx, const struct asl_ray *ray, struct asl_traced *hit)
{
    (void)ctx;
    const float *d = ray->d;
    const float l = sqrtf(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]), t = -ray->P[2] / (d[2] / l);
    if (!(t > ray->mindist && t < ray->maxdist))
        return false;
    *hit = (struct asl_traced){.hitdist = t, .N = {0, 0, 1}, .Ng = {0, 0, d[2] < 0 ? 1 : -1}};
    for (int i = 0; i < 2; i++)
        hit->P[i] = ray->P[i] + t * (d[i] / l);
    hit->u = hit->P[0], hit->v = hit->P[1];
    return true;
}

float test_occlusion(void *ctx, const struct asl_ray *about, uint32_t samples)
{
    (void)ctx;
    return about->maxdist + 100 * (float)samples + 1000 * about->d[2] + 10000 * about->P[2];
}
