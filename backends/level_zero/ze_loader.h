/* SPDX-License-Identifier: Apache-2.0 */
/* The Level Zero loader's functions, found at run time: nothing links to it, so the program runs
 * where there is none and can say so. */
#ifndef ISOPHOTE_ZE_LOADER_H
#define ISOPHOTE_ZE_LOADER_H

#include "base.h"

#include <level_zero/ze_api.h>

/* Level Zero 1.0 only; newer drivers keep all of them. */
#define ZE_FUNCTIONS(X)                                                                            \
    X(Init)                                                                                        \
    X(DriverGet)                                                                                   \
    X(DriverGetApiVersion)                                                                         \
    X(DriverGetProperties)                                                                         \
    X(DeviceGet)                                                                                   \
    X(DeviceGetProperties)                                                                         \
    X(DeviceGetComputeProperties)                                                                  \
    X(DeviceGetModuleProperties)                                                                   \
    X(DeviceGetMemoryProperties)                                                                   \
    X(DeviceGetCommandQueueGroupProperties)                                                        \
    X(ContextCreate)                                                                               \
    X(ContextDestroy)                                                                              \
    X(CommandQueueCreate)                                                                          \
    X(CommandQueueDestroy)                                                                         \
    X(CommandQueueExecuteCommandLists)                                                             \
    X(CommandQueueSynchronize)                                                                     \
    X(CommandListCreate)                                                                           \
    X(CommandListDestroy)                                                                          \
    X(CommandListClose)                                                                            \
    X(CommandListReset)                                                                            \
    X(CommandListAppendBarrier)                                                                    \
    X(CommandListAppendMemoryCopy)                                                                 \
    X(CommandListAppendMemoryFill)                                                                 \
    X(CommandListAppendLaunchKernel)                                                               \
    X(EventPoolCreate)                                                                             \
    X(EventPoolDestroy)                                                                            \
    X(EventCreate)                                                                                 \
    X(EventDestroy)                                                                                \
    X(EventHostReset)                                                                              \
    X(EventQueryKernelTimestamp)                                                                   \
    X(FenceCreate)                                                                                 \
    X(FenceDestroy)                                                                                \
    X(FenceHostSynchronize)                                                                        \
    X(FenceReset)                                                                                  \
    X(MemAllocDevice)                                                                              \
    X(MemAllocHost)                                                                                \
    X(MemFree)                                                                                     \
    X(ModuleCreate)                                                                                \
    X(ModuleDestroy)                                                                               \
    X(ModuleGetNativeBinary)                                                                       \
    X(ModuleBuildLogGetString)                                                                     \
    X(ModuleBuildLogDestroy)                                                                       \
    X(KernelCreate)                                                                                \
    X(KernelDestroy)                                                                               \
    X(KernelGetProperties)                                                                         \
    X(KernelSetGroupSize)                                                                          \
    X(KernelSetArgumentValue)

struct ze_api { /* NOLINTBEGIN(bugprone-macro-parentheses): declarators */
#define X(name) __typeof__(ze##name) *name;
    ZE_FUNCTIONS(X)
#undef X
}; /* NOLINTEND(bugprone-macro-parentheses) */

/* The loader with its drivers initialised, opened at the first call and kept for the life of the
 * process; NULL if it is not here, lacks a function or finds no driver, with *problem saying what
 * and how to get it. Thread-safe. */
const struct ze_api *ze_load(const char **problem);

/* "ZE_RESULT_ERROR_DEVICE_LOST"; "unknown" for codes of newer versions. */
const char *ze_code_name(ze_result_t code);

/* error_msg for a call that failed: MEMORY for the codes that mean it, else DEVICE; err->native =
 * code. */
enum status ze_error(struct error *err, ze_result_t code, const char *call);

#endif
