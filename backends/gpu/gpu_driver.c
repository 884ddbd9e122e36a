/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"

#include <dlfcn.h>

static void *column_find(void *library, int column, const char *cuda, const char *hip)
{
    return dlsym(library, column == 0 ? cuda : hip);
}

const char *gpu_driver_bind(struct gpu_driver *driver, void *library, int column)
{
#define X(member, cuda, hip, parameters)                                                           \
    *(void **)&driver->member = column_find(library, column, cuda, hip);                           \
    if (!driver->member)                                                                           \
        return column == 0 ? (cuda) : (hip);
    GPU_FUNCTIONS(X)
#undef X
    *(void **)&driver->device_uuid =
        column_find(library, column, "cuDeviceGetUuid", "hipDeviceGetUuid");
    return NULL;
}

/* What to make of an error that a user may well meet. */
static const char *hint_of(gpu_result code)
{
    enum {
        UNAVAILABLE = 46,
        ILLEGAL_ADDRESS = 700,
        ASSERT = 710,
        HARDWARE_STACK = 714,
        LAUNCH_FAILED = 719
    };
    switch (code) {
    case GPU_LAUNCH_TIMEOUT:
        return "; the system's watchdog ended a launch that took too long: smaller ones (--tile, "
               "--batch) may pass";
    case UNAVAILABLE:
        return "; another process may have it to itself (compute mode \"exclusive process\": "
               "nvidia-smi -q -d COMPUTE)";
    case ILLEGAL_ADDRESS:
    case ASSERT:
    case HARDWARE_STACK:
    case LAUNCH_FAILED:
        return "; the device is lost to this process";
    default:
        return "";
    }
}

enum status gpu_error(struct error *err, const struct gpu_driver *driver, gpu_result code,
                      enum gpu_call call)
{
    enum status s =
        error_msg(err, code == GPU_OUT_OF_MEMORY ? STATUS_MEMORY : STATUS_DEVICE,
                  "%s failed: %s (%d): %s%s", driver->call_names[call], driver->error_name(code),
                  code, driver->error_text(code), hint_of(code));
    if (err)
        err->native = code;
    return s;
}

uint32_t gpu_attribute_get(const struct gpu_driver *driver, gpu_device device,
                           enum gpu_attribute what)
{
    int value = 0;
    if (driver->DeviceGetAttribute(&value, driver->attributes[what], device) != GPU_OK || value < 0)
        return 0;
    return (uint32_t)value;
}
