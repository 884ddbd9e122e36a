/* SPDX-License-Identifier: Apache-2.0 */
/* The Level Zero driver in software: driver, device, contexts, memory. */
#include "ze_driver.h"

#include <stdlib.h>
#include <string.h>

struct driver soft_driver = {.lock = PTHREAD_MUTEX_INITIALIZER};
static int driver_handle, device_handle; /* their addresses are the handles */
enum { NANOSECONDS_A_TICK = 1 };

bool driver_wish(const char *name)
{
    const char *wish = getenv("ISOPHOTE_SOFT_ZE_FAULT");
    return wish && strcmp(wish, name) == 0;
}

bool driver_drops(const char *name, unsigned *asked)
{
    const char *wish = getenv("ISOPHOTE_SOFT_ZE_FAULT");
    size_t n = strlen(name);
    ++*asked;
    return wish && strncmp(wish, name, n) == 0 && wish[n] == ':' &&
           *asked == strtoul(wish + n + 1, NULL, 10);
}

ze_result_t result_of(enum status s)
{
    switch (s) {
    case STATUS_OK:
        return ZE_RESULT_SUCCESS;
    case STATUS_MEMORY:
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    case STATUS_LIMIT:
        return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    case STATUS_ARG:
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    case STATUS_UNSUPPORTED:
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    case STATUS_BUILD:
    case STATUS_MISSING:
        return ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
    case STATUS_DEVICE:
        return ZE_RESULT_ERROR_DEVICE_LOST;
    default:
        return ZE_RESULT_ERROR_UNKNOWN;
    }
}

/* ---- driver --------------------------------------------------------------------------------- */

static ze_result_t one_handle(uint32_t *count, void **handles, void *handle)
{
    if (!count)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (*count > 0 && handles)
        handles[0] = handle;
    *count = 1;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL driver_get(uint32_t *count, ze_driver_handle_t *drivers)
{
    return one_handle(count, (void **)drivers, &driver_handle);
}
static ze_result_t ZE_APICALL driver_version(ze_driver_handle_t driver, ze_api_version_t *version)
{
    (void)driver;
    *version = ZE_API_VERSION_1_3;
    return ZE_RESULT_SUCCESS;
}
static ze_result_t ZE_APICALL driver_properties(ze_driver_handle_t driver,
                                                ze_driver_properties_t *p)
{
    (void)driver;
    memset(&p->uuid, 0, sizeof p->uuid);
    memcpy(p->uuid.id, "isophote soft", 13);
    p->driverVersion = (1u << 24) + driver_wish("newer");
    return ZE_RESULT_SUCCESS;
}
static ze_result_t ZE_APICALL driver_extensions(ze_driver_handle_t driver, uint32_t *count,
                                                ze_driver_extension_properties_t *p)
{
    (void)driver, (void)p;
    *count = 0;
    return ZE_RESULT_SUCCESS;
}

void driver_table(ze_driver_dditable_t *t)
{
    t->pfnGet = driver_get;
    t->pfnGetApiVersion = driver_version;
    t->pfnGetProperties = driver_properties;
    t->pfnGetExtensionProperties = driver_extensions;
}

/* ---- device --------------------------------------------------------------------------------- */

static ze_result_t ZE_APICALL device_get(ze_driver_handle_t driver, uint32_t *count,
                                         ze_device_handle_t *devices)
{
    (void)driver;
    if (driver_wish("none") && count) {
        *count = 0;
        return ZE_RESULT_SUCCESS;
    }
    return one_handle(count, (void **)devices, &device_handle);
}
static ze_result_t ZE_APICALL device_sub_devices(ze_device_handle_t device, uint32_t *count,
                                                 ze_device_handle_t *devices)
{
    (void)device, (void)devices;
    *count = 0;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL device_properties(ze_device_handle_t device,
                                                ze_device_properties_t *p)
{
    (void)device;
    LOCKED;
    p->type = ZE_DEVICE_TYPE_CPU;
    p->vendorId = 0;
    p->deviceId = 1;
    p->flags = ZE_DEVICE_PROPERTY_FLAG_INTEGRATED;
    p->subdeviceId = 0;
    p->coreClockRate = 0;
    p->maxMemAllocSize = soft_device_memory(soft_driver.executor, NULL);
    p->maxHardwareContexts = 1;
    p->maxCommandQueuePriority = 0;
    p->numThreadsPerEU = 1;
    p->physicalEUSimdWidth = 1;
    p->numEUsPerSubslice = parallel_threads();
    p->numSubslicesPerSlice = 1;
    p->numSlices = 1;
    p->timerResolution = p->stype == ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2
                             ? 1000000000u / NANOSECONDS_A_TICK
                             : NANOSECONDS_A_TICK;
    p->timestampValidBits = TIMESTAMP_BITS;
    p->kernelTimestampValidBits = TIMESTAMP_BITS;
    memset(&p->uuid, 0, sizeof p->uuid);
    memcpy(p->uuid.id, "isophote soft 0", 15);
    snprintf(p->name, sizeof p->name, "Isophote's software device%s",
             soft_device_checks(soft_driver.executor) ? ", checked" : "");
    return ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL device_compute(ze_device_handle_t device,
                                             ze_device_compute_properties_t *p)
{
    (void)device;
    p->maxTotalGroupSize = SOFT_GROUP_MAX;
    p->maxGroupSizeX = p->maxGroupSizeY = p->maxGroupSizeZ = SOFT_GROUP_MAX;
    p->maxGroupCountX = p->maxGroupCountY = p->maxGroupCountZ = UINT32_MAX;
    p->maxSharedLocalMemory = SOFT_LOCAL_MAX;
    p->numSubGroupSizes = 0;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL device_module(ze_device_handle_t device,
                                            ze_device_module_properties_t *p)
{
    (void)device;
    p->spirvVersionSupported = ZE_MAKE_VERSION(1, 2);
    p->flags = ZE_DEVICE_MODULE_FLAG_FP64 | ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS;
    p->fp16flags = 0;
    p->fp32flags = p->fp64flags = ZE_DEVICE_FP_FLAG_DENORM | ZE_DEVICE_FP_FLAG_INF_NAN |
                                  ZE_DEVICE_FP_FLAG_ROUND_TO_NEAREST |
                                  ZE_DEVICE_FP_FLAG_ROUNDED_DIVIDE_SQRT;
    p->maxArgumentsSize = 4096;
    p->printfBufferSize = 0;
    memset(&p->nativeKernelSupported, 0, sizeof p->nativeKernelSupported);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL device_queue_groups(ze_device_handle_t device, uint32_t *count,
                                                  ze_command_queue_group_properties_t *p)
{
    (void)device;
    if (*count > 0 && p) {
        p[0].flags = ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE |
                     ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY;
        p[0].maxMemoryFillPatternSize = 128;
        p[0].numQueues = 16;
    }
    *count = 1;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL device_memories(ze_device_handle_t device, uint32_t *count,
                                              ze_device_memory_properties_t *p)
{
    (void)device;
    LOCKED;
    if (*count > 0 && p) {
        p[0].flags = 0;
        p[0].maxClockRate = 0;
        p[0].maxBusWidth = 64;
        p[0].totalSize = soft_device_memory(soft_driver.executor, NULL);
        snprintf(p[0].name, sizeof p[0].name, "host memory");
    }
    *count = 1;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL device_memory_access(ze_device_handle_t device,
                                                   ze_device_memory_access_properties_t *p)
{
    (void)device;
    p->hostAllocCapabilities = p->deviceAllocCapabilities = p->sharedSingleDeviceAllocCapabilities =
        p->sharedCrossDeviceAllocCapabilities =
            ZE_MEMORY_ACCESS_CAP_FLAG_RW | ZE_MEMORY_ACCESS_CAP_FLAG_ATOMIC;
    p->sharedSystemAllocCapabilities = 0;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL device_status(ze_device_handle_t device)
{
    (void)device;
    return ZE_RESULT_SUCCESS;
}

void device_table(ze_device_dditable_t *t)
{
    t->pfnGet = device_get;
    t->pfnGetSubDevices = device_sub_devices;
    t->pfnGetProperties = device_properties;
    t->pfnGetComputeProperties = device_compute;
    t->pfnGetModuleProperties = device_module;
    t->pfnGetCommandQueueGroupProperties = device_queue_groups;
    t->pfnGetMemoryProperties = device_memories;
    t->pfnGetMemoryAccessProperties = device_memory_access;
    t->pfnGetStatus = device_status;
}

/* ---- contexts ------------------------------------------------------------------------------- */

static ze_result_t ZE_APICALL context_create(ze_driver_handle_t driver,
                                             const ze_context_desc_t *desc,
                                             ze_context_handle_t *out)
{
    (void)driver, (void)desc;
    struct context *c = calloc(1, sizeof *c);
    if (!c)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    *out = (ze_context_handle_t)c;
    return ZE_RESULT_SUCCESS;
}
static ze_result_t ZE_APICALL context_destroy(ze_context_handle_t context)
{
    free(context);
    return ZE_RESULT_SUCCESS;
}
static ze_result_t ZE_APICALL context_status(ze_context_handle_t context)
{
    (void)context;
    return ZE_RESULT_SUCCESS;
}

void context_table(ze_context_dditable_t *t)
{
    t->pfnCreate = context_create;
    t->pfnDestroy = context_destroy;
    t->pfnGetStatus = context_status;
}

/* ---- memory --------------------------------------------------------------------------------- */

static ze_result_t memory_alloc(enum soft_memory kind, size_t size, size_t align, void **out)
{
    LOCKED;
    if (size == 0)
        return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
    if (align & (align - 1))
        return ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT;
    return result_of(soft_alloc(soft_driver.executor, kind, size, align, out, NULL));
}

static ze_result_t ZE_APICALL alloc_device(ze_context_handle_t context,
                                           const ze_device_mem_alloc_desc_t *desc, size_t size,
                                           size_t align, ze_device_handle_t device, void **out)
{
    (void)context, (void)desc, (void)device;
    return memory_alloc(SOFT_DEVICE_MEMORY, size, align, out);
}
static ze_result_t ZE_APICALL alloc_host(ze_context_handle_t context,
                                         const ze_host_mem_alloc_desc_t *desc, size_t size,
                                         size_t align, void **out)
{
    (void)context, (void)desc;
    return memory_alloc(SOFT_HOST_MEMORY, size, align, out);
}
static ze_result_t ZE_APICALL alloc_shared(ze_context_handle_t context,
                                           const ze_device_mem_alloc_desc_t *device_desc,
                                           const ze_host_mem_alloc_desc_t *host_desc, size_t size,
                                           size_t align, ze_device_handle_t device, void **out)
{
    (void)context, (void)device_desc, (void)host_desc, (void)device;
    return memory_alloc(SOFT_SHARED_MEMORY, size, align, out);
}
static ze_result_t ZE_APICALL memory_free(ze_context_handle_t context, void *p)
{
    (void)context;
    LOCKED;
    return result_of(soft_free(soft_driver.executor, p, NULL));
}

static ze_result_t ZE_APICALL memory_properties(ze_context_handle_t context, const void *p,
                                                ze_memory_allocation_properties_t *out,
                                                ze_device_handle_t *device)
{
    (void)context;
    LOCKED;
    static const ze_memory_type_t types[] = {[SOFT_DEVICE_MEMORY] = ZE_MEMORY_TYPE_DEVICE,
                                             [SOFT_HOST_MEMORY] = ZE_MEMORY_TYPE_HOST,
                                             [SOFT_SHARED_MEMORY] = ZE_MEMORY_TYPE_SHARED};
    struct soft_allocation a;
    bool known = soft_allocation_find(soft_driver.executor, p, &a);
    out->type = known ? types[a.kind] : ZE_MEMORY_TYPE_UNKNOWN;
    out->id = known ? a.id : 0;
    out->pageSize = known ? 4096 : 0;
    if (device)
        *device = known && a.kind != SOFT_HOST_MEMORY ? (ze_device_handle_t)&device_handle : NULL;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL memory_range(ze_context_handle_t context, const void *p, void **base,
                                           size_t *size)
{
    (void)context;
    LOCKED;
    struct soft_allocation a;
    if (!soft_allocation_find(soft_driver.executor, p, &a))
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    if (base)
        *base = a.base;
    if (size)
        *size = a.size;
    return ZE_RESULT_SUCCESS;
}

void memory_table(ze_mem_dditable_t *t)
{
    t->pfnAllocDevice = alloc_device;
    t->pfnAllocHost = alloc_host;
    t->pfnAllocShared = alloc_shared;
    t->pfnFree = memory_free;
    t->pfnGetAllocProperties = memory_properties;
    t->pfnGetAddressRange = memory_range;
}
