/* SPDX-License-Identifier: Apache-2.0 */
/* device.h: the run-time library of emitted shaders. device/portable.h stands before it.
 */
#include "math/lanes.h"
#include "math/math.h"

#include "asl/host.h"
#include "asl/noise.h"
#include "asl/pattern.h"
#include "asl/point.h"
#include "asl/texture.h"
