/* SPDX-License-Identifier: Apache-2.0 */
/* Embree 3, loaded when the first reference is opened, so that the program links to no TBB.
 *
 * Why: Embree and Intel's OpenCL runtime both need libtbb.so.12, and a process holds one library of
 * that name. Debian's is older than what Intel's runtime was built for; the newer serves both. So
 * whoever uses both opens its device first (the OpenCL drivers then bring the newer one), and a
 * reference afterwards. */
#ifndef REFERENCE_EMBREE_H
#define REFERENCE_EMBREE_H

#include "base.h"

#include <embree3/rtcore.h>

#define EMBREE_FUNCTIONS(X)                                                                        \
    X(rtcNewDevice)                                                                                \
    X(rtcReleaseDevice)                                                                            \
    X(rtcGetDeviceError)                                                                           \
    X(rtcSetDeviceMemoryMonitorFunction)                                                           \
    X(rtcNewScene)                                                                                 \
    X(rtcReleaseScene)                                                                             \
    X(rtcSetSceneFlags)                                                                            \
    X(rtcSetSceneProgressMonitorFunction)                                                          \
    X(rtcCommitScene)                                                                              \
    X(rtcNewGeometry)                                                                              \
    X(rtcReleaseGeometry)                                                                          \
    X(rtcAttachGeometry)                                                                           \
    X(rtcCommitGeometry)                                                                           \
    X(rtcSetGeometryUserData)                                                                      \
    X(rtcSetGeometryUserPrimitiveCount)                                                            \
    X(rtcSetGeometryBoundsFunction)                                                                \
    X(rtcSetGeometryIntersectFunction)                                                             \
    X(rtcSetGeometryOccludedFunction)                                                              \
    X(rtcIntersect1)                                                                               \
    X(rtcOccluded1)

struct embree_functions {
#define X(name) __typeof__(name) *name; // NOLINT(bugprone-macro-parentheses)
    EMBREE_FUNCTIONS(X)
#undef X
};
extern struct embree_functions embree; /* filled by embree_load */

/* Safe from any thread, and again. Fails: MISSING with how to get it. */
enum status embree_load(struct error *err);

#endif
