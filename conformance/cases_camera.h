/* Cases of level image that are about cameras and film. */
#ifndef CONFORMANCE_CASES_CAMERA_H
#define CONFORMANCE_CASES_CAMERA_H

#include "case.h"

enum status image_camera(struct run_context *c, struct error *err);

#endif
