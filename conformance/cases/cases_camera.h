/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of level image that are about cameras, film and passes. */
#ifndef CONFORMANCE_CASES_CAMERA_H
#define CONFORMANCE_CASES_CAMERA_H

#include "case.h"

enum status image_camera(struct run_context *c, struct error *err);
enum status image_passes(struct run_context *c, struct error *err);

#endif
