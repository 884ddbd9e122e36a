/* device.h: the run-time library of emitted shaders. backends/kernel/portable.h stands before it.
 */
#include "host.h"
#include "lanes.h"
#include "math.h"
#include "noise.h"
#include "pattern.h"
#include "point.h"
#include "texture.h"
