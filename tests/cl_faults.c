/* SPDX-License-Identifier: Apache-2.0 */
/* An OpenCL layer (OPENCL_LAYERS, of the loaders): the drivers below it misbehave as asked, in the
 * words of the devices in software (docs/contributor/software_devices.md), as far as OpenCL has
 * them.
 *
 *   ISOPHOTE_SOFT_FAULT
 *     lost:N      at the Nth launch of the process the device is lost, which the wait for that
 *                 launch says, and every later call on the queue
 *     trap:N      the kernel of the Nth launch traps, as it does on a driver for CPUs
 *     hang:N      it never ends
 *     memory:N    the Nth buffer finds no memory
 *     wrong:N     from the Nth launch on, of all processes that count in $ISOPHOTE_SOFT_COUNT, a
 *                 file, a bit of what is read back is wrong
 *     once:N      of that launch alone
 *   ISOPHOTE_SOFT_WATCHDOG    seconds; a launch that took longer ends as one of a lost device
 *   ISOPHOTE_SOFT_MEMORY      bytes that the device says it has
 *   ISOPHOTE_SOFT_CL_FAULT    what a device says of itself
 *     platform, device    of OpenCL 1.1
 *     none                there is none
 *     gone                not available
 *     compiler            it has none
 *     endian              big-endian
 *     embedded            without 64-bit integers */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl_layer.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static const cl_icd_dispatch *below;
static cl_icd_dispatch own;
static atomic_uint launches, buffers;
static atomic_bool lost, wrong;

/* Is this the `count`th time that calls for the fault? */
static bool due(const char *fault, unsigned count)
{
    const char *wish = getenv("ISOPHOTE_SOFT_FAULT");
    const size_t n = strlen(fault);
    return wish && strncmp(wish, fault, n) == 0 && wish[n] == ':' &&
           strtoul(wish + n + 1, NULL, 10) == count;
}

/* Launches of all processes, one byte each in a file. */
static unsigned counted(void)
{
    const char *path = getenv("ISOPHOTE_SOFT_COUNT");
    FILE *f = path ? fopen(path, "ae") : NULL;
    long n = 0;
    if (f && fputc('.', f) != EOF && fflush(f) == 0)
        n = ftell(f);
    if (f)
        fclose(f);
    return (unsigned)n;
}

static bool says(const char *fault)
{
    const char *wish = getenv("ISOPHOTE_SOFT_CL_FAULT");
    return wish && strcmp(wish, fault) == 0;
}

/* ---- what is said --------------------------------------------------------------------------- */

static cl_int answer(const void *value, size_t bytes, size_t size, void *out, size_t *size_ret)
{
    if (out && size < bytes)
        return CL_INVALID_VALUE;
    if (out)
        memcpy(out, value, bytes);
    if (size_ret)
        *size_ret = bytes;
    return CL_SUCCESS;
}

static const char old_version[] = "OpenCL 1.1 old";

static cl_int CL_API_CALL platform_info(cl_platform_id p, cl_platform_info what, size_t size,
                                        void *out, size_t *size_ret)
{
    if (what == CL_PLATFORM_VERSION && says("platform"))
        return answer(old_version, sizeof old_version, size, out, size_ret);
    return below->clGetPlatformInfo(p, what, size, out, size_ret);
}

static cl_int CL_API_CALL device_ids(cl_platform_id p, cl_device_type type, cl_uint count,
                                     cl_device_id *out, cl_uint *count_ret)
{
    return says("none") ? CL_DEVICE_NOT_FOUND
                        : below->clGetDeviceIDs(p, type, count, out, count_ret);
}

static cl_int CL_API_CALL device_info(cl_device_id d, cl_device_info what, size_t size, void *out,
                                      size_t *size_ret)
{
    static const char embedded[] = "EMBEDDED_PROFILE", none[] = "";
    const cl_bool no = CL_FALSE;
    const char *memory = getenv("ISOPHOTE_SOFT_MEMORY");
    const cl_ulong bytes = memory ? strtoull(memory, NULL, 10) : 0;
    if (what == CL_DEVICE_VERSION && says("device"))
        return answer(old_version, sizeof old_version, size, out, size_ret);
    if ((what == CL_DEVICE_AVAILABLE && says("gone")) ||
        (what == CL_DEVICE_COMPILER_AVAILABLE && says("compiler")) ||
        (what == CL_DEVICE_ENDIAN_LITTLE && says("endian")))
        return answer(&no, sizeof no, size, out, size_ret);
    if (what == CL_DEVICE_PROFILE && says("embedded"))
        return answer(embedded, sizeof embedded, size, out, size_ret);
    if (what == CL_DEVICE_EXTENSIONS && says("embedded"))
        return answer(none, sizeof none, size, out, size_ret);
    if (what == CL_DEVICE_GLOBAL_MEM_SIZE && memory)
        return answer(&bytes, sizeof bytes, size, out, size_ret);
    return below->clGetDeviceInfo(d, what, size, out, size_ret);
}

/* ---- what is done --------------------------------------------------------------------------- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static cl_mem CL_API_CALL buffer_create(cl_context c, cl_mem_flags flags, size_t size, void *host,
                                        cl_int *code)
{
    if (!due("memory", atomic_fetch_add(&buffers, 1) + 1))
        return below->clCreateBuffer(c, flags, size, host, code);
    if (code)
        *code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    return NULL;
}

static cl_int CL_API_CALL launch(cl_command_queue q, cl_kernel k, cl_uint axes,
                                 const size_t *offset, const size_t *global, const size_t *local,
                                 cl_uint waits, const cl_event *wait, cl_event *event)
{
    if (atomic_load(&lost))
        return CL_INVALID_COMMAND_QUEUE;
    const unsigned count = atomic_fetch_add(&launches, 1) + 1;
    if (due("trap", count))
        __builtin_trap();
    while (due("hang", count))
        pause();
    const unsigned all = counted();
    const char *wish = getenv("ISOPHOTE_SOFT_FAULT"), *watchdog = getenv("ISOPHOTE_SOFT_WATCHDOG");
    if (all && wish && strncmp(wish, "wrong:", 6) == 0)
        atomic_store(&wrong, all >= strtoul(wish + 6, NULL, 10));
    if (all && due("once", all))
        atomic_store(&wrong, true);
    const double begin = now();
    cl_int code =
        below->clEnqueueNDRangeKernel(q, k, axes, offset, global, local, waits, wait, event);
    if (code == CL_SUCCESS && watchdog)
        code = below->clFinish(q);
    if (due("lost", count) || (watchdog && now() - begin > strtod(watchdog, NULL)))
        atomic_store(&lost, true);
    return code;
}

static cl_int CL_API_CALL finish(cl_command_queue q)
{
    const cl_int code = below->clFinish(q);
    return atomic_load(&lost) ? CL_OUT_OF_RESOURCES : code;
}

static cl_int CL_API_CALL wait_for(cl_uint count, const cl_event *events)
{
    const cl_int code = below->clWaitForEvents(count, events);
    return atomic_load(&lost) ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : code;
}

static cl_int CL_API_CALL event_info(cl_event e, cl_event_info what, size_t size, void *out,
                                     size_t *size_ret)
{
    const cl_int code = CL_OUT_OF_RESOURCES;
    if (what == CL_EVENT_COMMAND_EXECUTION_STATUS && atomic_load(&lost))
        return answer(&code, sizeof code, size, out, size_ret);
    return below->clGetEventInfo(e, what, size, out, size_ret);
}

static cl_int CL_API_CALL read_buffer(cl_command_queue q, cl_mem m, cl_bool blocking, size_t offset,
                                      size_t size, void *to, cl_uint waits, const cl_event *wait,
                                      cl_event *event)
{
    if (atomic_load(&lost))
        return CL_INVALID_COMMAND_QUEUE;
    const cl_int code =
        below->clEnqueueReadBuffer(q, m, blocking, offset, size, to, waits, wait, event);
    if (code == CL_SUCCESS && blocking && size && atomic_load(&wrong))
        ((unsigned char *)to)[size / 2] ^= 1;
    return code;
}

static cl_int CL_API_CALL write_buffer(cl_command_queue q, cl_mem m, cl_bool blocking,
                                       size_t offset, size_t size, const void *from, cl_uint waits,
                                       const cl_event *wait, cl_event *event)
{
    return atomic_load(&lost) ? CL_INVALID_COMMAND_QUEUE
                              : below->clEnqueueWriteBuffer(q, m, blocking, offset, size, from,
                                                            waits, wait, event);
}

/* ---- the layer ------------------------------------------------------------------------------ */

EXPORT cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t size, void *out,
                                         size_t *size_ret)
{
    static const char name[] = "isophote faults";
    const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    if (what == CL_LAYER_API_VERSION)
        return answer(&version, sizeof version, size, out, size_ret);
    return what == CL_LAYER_NAME ? answer(name, sizeof name, size, out, size_ret)
                                 : CL_INVALID_VALUE;
}

EXPORT cl_int CL_API_CALL clInitLayer(cl_uint count, const cl_icd_dispatch *target,
                                      cl_uint *count_ret, const cl_icd_dispatch **layer)
{
    const cl_uint entries = sizeof own / sizeof own.clGetPlatformIDs;
    if (!target || !count_ret || !layer || count < entries)
        return CL_INVALID_VALUE;
    below = target;
    own = *target;
    own.clGetPlatformInfo = platform_info;
    own.clGetDeviceIDs = device_ids;
    own.clGetDeviceInfo = device_info;
    own.clCreateBuffer = buffer_create;
    own.clEnqueueNDRangeKernel = launch;
    own.clFinish = finish;
    own.clWaitForEvents = wait_for;
    own.clGetEventInfo = event_info;
    own.clEnqueueReadBuffer = read_buffer;
    own.clEnqueueWriteBuffer = write_buffer;
    *count_ret = entries;
    *layer = &own;
    return CL_SUCCESS;
}
