/* SPDX-License-Identifier: Apache-2.0 */
/* Which GPUs an API has, what they say of themselves, and opening one. */
#include "gpu.h"

#include <stdlib.h>
#include <string.h>

enum status gpu_select(const struct backend *b, struct error *err)
{
    gpu_result code = b->driver->select(b->device, b->context);
    return code == GPU_OK ? STATUS_OK : gpu_error(err, b->driver, code, GPU_CALL_select);
}

static bool describe(const struct gpu_api *api, const struct gpu_driver *driver, int index,
                     struct device_info *out, gpu_device *device, char arch[GPU_ARCH_SIZE])
{
    gpu_device d;
    size_t bytes = 0;
    struct device_info info = {.kind = DEVICE_GPU};
    if (driver->DeviceGet(&d, index) != GPU_OK ||
        driver->DeviceGetName(info.name, (int)sizeof info.name, d) != GPU_OK ||
        driver->DeviceTotalMem(&bytes, d) != GPU_OK)
        return false;
    info.name[sizeof info.name - 1] = '\0';
    snprintf(info.id, sizeof info.id, "%s:%d", api->name, index);
    snprintf(info.api, sizeof info.api, "%s", api->name);
    info.compute_units = gpu_attribute_get(driver, d, GPU_MULTIPROCESSORS);
    info.clock_mhz = gpu_attribute_get(driver, d, GPU_CLOCK_KHZ) / 1000;
    info.max_work_group = gpu_attribute_get(driver, d, GPU_MAX_THREADS);
    info.max_work_group_axis[0] = gpu_attribute_get(driver, d, GPU_MAX_BLOCK_X);
    info.max_work_group_axis[1] = gpu_attribute_get(driver, d, GPU_MAX_BLOCK_Y);
    info.global_bytes = bytes;
    info.max_alloc_bytes = bytes;
    info.fp64 = true;
    info.subgroups = true;
    unsigned char uuid[16] = {0};
    if (driver->device_uuid && driver->device_uuid(uuid, d) == GPU_OK)
        uuid_print(uuid, info.uuid);
    api->describe(driver, d, &info, arch);
    *out = info;
    *device = d;
    return true;
}

enum status gpu_enumerate(const struct gpu_api *api,
                          void (*found)(void *ctx, const struct device_info *),
                          void (*problem)(void *ctx, const char *text), void *ctx)
{
    const char *why;
    const struct gpu_driver *driver = api->load(&why);
    if (!driver) { /* nothing here stops the other APIs */
        problem(ctx, why);
        return STATUS_OK;
    }
    if (!api->compiler_load(driver, &why))
        problem(ctx, why);
    int count = 0;
    if (driver->DeviceGetCount(&count) != GPU_OK)
        count = 0;
    for (int i = 0; i < count; i++) {
        struct device_info info;
        gpu_device device;
        char arch[GPU_ARCH_SIZE] = "";
        if (describe(api, driver, i, &info, &device, arch)) {
            found(ctx, &info);
            continue;
        }
        char text[128];
        snprintf(text, sizeof text, "%s: GPU %d does not tell its name and memory", api->name, i);
        problem(ctx, text);
    }
    return STATUS_OK;
}

/* The number behind "cuda:", -1 if the id is another's or names no device. */
static int index_of(const struct gpu_api *api, const struct gpu_driver *driver, const char *id,
                    int *count)
{
    size_t n = strlen(api->name);
    if (driver->DeviceGetCount(count) != GPU_OK)
        *count = 0;
    if (strncmp(id, api->name, n) != 0 || id[n] != ':' || id[n + 1] < '0' || id[n + 1] > '9')
        return -1;
    char *end = NULL;
    unsigned long index = strtoul(id + n + 1, &end, 10);
    return *end == '\0' && index < (unsigned long)*count ? (int)index : -1;
}

static enum status stream_open(struct backend *b, struct error *err)
{
    gpu_result code = b->driver->StreamCreate(&b->stream, GPU_STREAM_NOT_BLOCKING);
    if (code == GPU_OK)
        return STATUS_OK;
    b->stream = NULL;
    return gpu_error(err, b->driver, code, GPU_CALL_StreamCreate);
}

enum status gpu_open(const struct gpu_api *api, const struct device_info *info,
                     struct backend **out, struct error *err)
{
    const char *why;
    const struct gpu_driver *driver = api->load(&why);
    if (!driver || !api->compiler_load(driver, &why))
        return error_msg(err, STATUS_MISSING, "%s", why);
    int count = 0, index = index_of(api, driver, info->id, &count);
    if (index < 0)
        return error_msg(err, STATUS_MISSING, "there is no device %s; the driver has %d", info->id,
                         count);
    struct backend *b = calloc(1, sizeof *b);
    if (!b)
        return error_msg(err, STATUS_MEMORY, "no memory for a device");
    b->api = api;
    b->driver = driver;
    b->request = program_request_make(MODE_STRICT);
    if (!describe(api, driver, index, &b->info, &b->device, b->arch)) {
        free(b);
        return error_msg(err, STATUS_DEVICE, "%s does not describe itself", info->id);
    }
    b->max_grid[0] = gpu_attribute_get(driver, b->device, GPU_MAX_GRID_X);
    b->max_grid[1] = gpu_attribute_get(driver, b->device, GPU_MAX_GRID_Y);
    gpu_result code = driver->retain(b->device, &b->context);
    if (code != GPU_OK) {
        free(b);
        return gpu_error(err, driver, code, GPU_CALL_retain);
    }
    enum status s = gpu_select(b, err);
    if (s == STATUS_OK)
        s = stream_open(b, err);
    if (s == STATUS_OK)
        s = gpu_flights_open(b, err);
    if (s != STATUS_OK) {
        gpu_close(b);
        return s;
    }
    *out = b;
    return STATUS_OK;
}

void gpu_close(struct backend *b)
{
    if (!b)
        return;
    const struct gpu_driver *driver = b->driver;
    driver->select(b->device, b->context); /* a lost device refuses; its handles go all the same */
    if (b->stream)
        driver->StreamSynchronize(b->stream);
    gpu_programs_release(b);
    gpu_scene_release(b);
    gpu_flights_close(b);
    if (b->film)
        driver->MemFree(b->film);
    for (int i = 0; i < 2; i++)
        if (b->staging[i])
            driver->MemFreeHost(b->staging[i]);
    if (b->stream)
        driver->StreamDestroy(b->stream);
    driver->unselect();
    driver->release(b->device);
    free(b);
}

enum bvh_kind gpu_preferred_bvh(const struct backend *b)
{
    (void)b;
    return BVH_BINARY; /* eight lanes of one work-item do not share a GPU's lanes */
}

/* 64 work-items a group (two warps of NVIDIA's, one wavefront of AMD's), square enough that
 * neighbours see the same nodes; fewer where the kernel needs more registers than such a group has;
 * more where they share what they fetch of the kernel itself. */
void gpu_defaults(const struct backend *b, struct launch_settings *s)
{
    uint32_t threads = b->programs[PART_RENDER].least_threads;
    if (s->work_group[0] && s->work_group[1])
        return;
    uint32_t width = b->api->step_group[0], height = b->api->step_group[1];
    while (threads && height > 1 && threads < width * height)
        height /= 2;
    if (b->request.features & K_FEATURE_LOBES && width) {
        s->work_group[0] = width;
        s->work_group[1] = height;
    } else {
        s->work_group[0] = 8;
        s->work_group[1] = threads && threads < 64 ? 4 : 8;
    }
}

uint64_t gpu_launch_samples(const struct backend *b)
{
    return b->api->launch_samples * b->info.compute_units;
}
