/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures for the report: what a device rendered, what it should have, and how they differ. */
#ifndef CONFORMANCE_PICTURES_H
#define CONFORMANCE_PICTURES_H

#include "case.h"

/* Adds to c->result: the device's picture, the reference's, the signed difference in false colour
 * (blue: too dark, white: equal, red: too bright; full colour at the mean luminance of the
 * reference), and, with variance (of the difference's mean, per pixel and channel), the
 * significance map (|d| over its standard deviation: black 0, yellow 3, white 6 and beyond). With
 * no reference: the device's picture alone. All
 * [h][w][3]. Pictures share one exposure: the reference's mean luminance is shown as 0.18. */
enum status pictures_add(struct run_context *c, const char *mode, uint32_t width, uint32_t height,
                         const double *image, const double *reference, const double *variance,
                         struct error *err);

#endif
