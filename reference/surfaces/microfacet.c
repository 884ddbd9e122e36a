/* SPDX-License-Identifier: Apache-2.0 */
#include "microfacet.h"

double ggx_d(double alpha, struct vec3 h)
{
    double a2 = alpha * alpha, d = h.z * h.z * (a2 - 1) + 1;
    return a2 / (PI * d * d);
}

static double lambda(double alpha, struct vec3 w)
{
    double tan2 = (w.x * w.x + w.y * w.y) / (w.z * w.z);
    return (sqrt(1 + alpha * alpha * tan2) - 1) / 2;
}

double ggx_g1(double alpha, struct vec3 w) { return 1 / (1 + lambda(alpha, w)); }

double ggx_g2(double alpha, struct vec3 wo, struct vec3 wi)
{
    return 1 / (1 + lambda(alpha, wo) + lambda(alpha, wi));
}

struct vec3 ggx_sample(double ax, double ay, struct vec3 wo, double u, double v)
{
    struct vec3 vh = normalize(vec3(ax * wo.x, ay * wo.y, wo.z));
    double length2 = vh.x * vh.x + vh.y * vh.y;
    struct vec3 T1 = length2 > 0 ? scale(1 / sqrt(length2), vec3(-vh.y, vh.x, 0)) : vec3(1, 0, 0);
    struct vec3 T2 = cross(vh, T1);
    double r = sqrt(u), phi = 2 * PI * v;
    double t1 = r * cos(phi), t2 = r * sin(phi), s = (1 + vh.z) / 2;
    t2 = (1 - s) * sqrt(fmax(0, 1 - t1 * t1)) + s * t2;
    double up = sqrt(fmax(0, 1 - t1 * t1 - t2 * t2));
    struct vec3 n = add(add(scale(t1, T1), scale(t2, T2)), scale(up, vh));
    return normalize(vec3(ax * n.x, ay * n.y, fmax(0, n.z)));
}

double ggx_pdf(double alpha, struct vec3 wo, struct vec3 h)
{
    return ggx_g1(alpha, wo) * ggx_d(alpha, h) / (4 * wo.z);
}
