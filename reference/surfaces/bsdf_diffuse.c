/* SPDX-License-Identifier: Apache-2.0 */
#include "bsdf.h"

#include "numbers/offers.h"

struct vec3 diffuse_eval(const struct bsdf *b, struct vec3 wi, double *pdf_w)
{
    *pdf_w = wi.z / PI;
    return scale(1 / PI, b->base);
}

void diffuse_sample(const struct bsdf *b, const double u[3], struct bsdf_sample *out)
{
    out->wi = map_cosine(u[1], u[2]);
    out->pdf_w = out->wi.z / PI;
    out->weight = b->base;
}
