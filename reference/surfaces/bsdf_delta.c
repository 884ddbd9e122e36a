/* SPDX-License-Identifier: Apache-2.0 */
/* Lobes without a density: the mirror and the smooth dielectric. */
#include "bsdf.h"

void mirror_sample(const struct bsdf *b, struct vec3 wo, struct bsdf_sample *out)
{
    out->wi = vec3(-wo.x, -wo.y, wo.z);
    out->weight = b->base;
    out->delta = true;
}

/* Snell and Fresnel (Born and Wolf, Principles of Optics, 1.5.2); eta: the far side's index over
 * the near one's. */
void dielectric_sample(const struct bsdf *b, struct vec3 wo, const double u[3],
                       struct bsdf_sample *out)
{
    double eta = b->entering ? b->ior : 1 / b->ior;
    double c = wo.z, s2 = (1 - c * c) / (eta * eta), ct = 0, F = 1;
    if (s2 < 1) {
        ct = sqrt(1 - s2);
        double rs = (c - eta * ct) / (c + eta * ct), rp = (eta * c - ct) / (eta * c + ct);
        F = (rs * rs + rp * rp) / 2;
    }
    out->delta = true;
    if (u[0] < F) {
        out->wi = vec3(-wo.x, -wo.y, wo.z);
        out->weight = gray(1);
        return;
    }
    out->wi = vec3(-wo.x / eta, -wo.y / eta, -ct);
    out->weight = gray(1 / (eta * eta));
    out->transmitted = true;
}
