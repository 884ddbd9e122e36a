/* SPDX-License-Identifier: Apache-2.0 */
/* The OpenCL loader's functions, found at run time: nothing links to it, so the program runs where
 * there is none and can say so. */
#ifndef ISOPHOTE_CL_API_H
#define ISOPHOTE_CL_API_H

#include "base.h"

#define CL_TARGET_OPENCL_VERSION          300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS /* clCreateCommandQueue: what 1.2 devices have */
#include <CL/cl.h>

/* OpenCL 1.2 only; newer devices keep all of them. */
#define CL_FUNCTIONS(X)                                                                            \
    X(GetPlatformIDs)                                                                              \
    X(GetPlatformInfo)                                                                             \
    X(GetDeviceIDs)                                                                                \
    X(GetDeviceInfo)                                                                               \
    X(CreateContext)                                                                               \
    X(ReleaseContext)                                                                              \
    X(CreateCommandQueue)                                                                          \
    X(ReleaseCommandQueue)                                                                         \
    X(CreateBuffer)                                                                                \
    X(ReleaseMemObject)                                                                            \
    X(CreateProgramWithSource)                                                                     \
    X(CreateProgramWithBinary)                                                                     \
    X(BuildProgram)                                                                                \
    X(GetProgramInfo)                                                                              \
    X(GetProgramBuildInfo)                                                                         \
    X(ReleaseProgram)                                                                              \
    X(CreateKernel)                                                                                \
    X(SetKernelArg)                                                                                \
    X(GetKernelWorkGroupInfo)                                                                      \
    X(ReleaseKernel)                                                                               \
    X(EnqueueNDRangeKernel)                                                                        \
    X(EnqueueReadBuffer)                                                                           \
    X(EnqueueWriteBuffer)                                                                          \
    X(EnqueueFillBuffer)                                                                           \
    X(Flush)                                                                                       \
    X(Finish)                                                                                      \
    X(WaitForEvents)                                                                               \
    X(GetEventInfo)                                                                                \
    X(GetExtensionFunctionAddressForPlatform)                                                      \
    X(GetEventProfilingInfo)                                                                       \
    X(ReleaseEvent)

struct cl_api { /* NOLINTBEGIN(bugprone-macro-parentheses): declarators */
#define X(name) __typeof__(cl##name) *name;
    CL_FUNCTIONS(X)
#undef X
}; /* NOLINTEND(bugprone-macro-parentheses) */

/* The loader, opened at the first call and kept for the life of the process; NULL if it is not here
 * or lacks a function, with *problem saying what and how to get it. Thread-safe. */
const struct cl_api *cl_load(const char **problem);

/* A function of the loader that not all have; NULL if this one has not, or is not opened. */
void *cl_symbol(const char *name);

/* "CL_OUT_OF_RESOURCES"; "unknown" for codes that are not OpenCL 1.2's. */
const char *cl_code_name(cl_int code);

/* error_msg for a call that failed: MEMORY for the codes that mean it, else DEVICE; err->native =
 * code. */
enum status cl_error(struct error *err, cl_int code, const char *call);

#endif
