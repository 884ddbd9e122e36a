/* SPDX-License-Identifier: Apache-2.0 */
/* Which Level Zero devices there are, and what they say of themselves. */
#include "level_zero.h"
#include "llvm/offers.h"

#include <stdlib.h>
#include <string.h>

enum { DRIVERS_MAX = 16, DEVICES_MAX = 64 };

/* Every device of every driver, in the loader's order: the index is the N of level_zero:N. */
struct device_list {
    struct {
        ze_driver_handle_t driver;
        ze_device_handle_t device;
    } at[DEVICES_MAX];
    size_t count;
};

static void list_fill(const struct ze_api *ze, struct device_list *list)
{
    ze_driver_handle_t drivers[DRIVERS_MAX];
    uint32_t driver_count = DRIVERS_MAX;
    list->count = 0;
    if (ze->DriverGet(&driver_count, drivers) != ZE_RESULT_SUCCESS)
        return;
    for (uint32_t i = 0; i < driver_count && i < DRIVERS_MAX; i++) {
        ze_device_handle_t devices[DEVICES_MAX];
        uint32_t count = DEVICES_MAX;
        if (ze->DeviceGet(drivers[i], &count, devices) != ZE_RESULT_SUCCESS)
            continue;
        for (uint32_t k = 0; k < count && list->count < DEVICES_MAX; k++) {
            list->at[list->count].driver = drivers[i];
            list->at[list->count].device = devices[k];
            list->count++;
        }
    }
}

static uint32_t clamp_u32(uint64_t v) { return v > UINT32_MAX ? UINT32_MAX : (uint32_t)v; }

static uint64_t memory_bytes(const struct ze_api *ze, ze_device_handle_t device)
{
    enum { MEMORIES_MAX = 8 };
    ze_device_memory_properties_t memories[MEMORIES_MAX];
    uint32_t count = MEMORIES_MAX;
    uint64_t most = 0;
    memset(memories, 0, sizeof memories);
    for (int i = 0; i < MEMORIES_MAX; i++)
        memories[i].stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES;
    if (ze->DeviceGetMemoryProperties(device, &count, memories) != ZE_RESULT_SUCCESS)
        return 0;
    for (uint32_t i = 0; i < count && i < MEMORIES_MAX; i++)
        most = memories[i].totalSize > most ? memories[i].totalSize : most;
    return most;
}

static void identity_fill(const struct ze_api *ze, ze_driver_handle_t driver,
                          const ze_device_properties_t *p, struct device_info *info)
{
    ze_driver_properties_t d = {.stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES};
    ze_api_version_t version = 0;
    ze->DriverGetProperties(driver, &d);
    ze->DriverGetApiVersion(driver, &version);
    snprintf(info->name, sizeof info->name, "%.120s", p->name);
    uuid_print(p->uuid.id, info->uuid);
    if (p->vendorId == 0x8086)
        snprintf(info->vendor, sizeof info->vendor, "Intel");
    else
        snprintf(info->vendor, sizeof info->vendor, "vendor 0x%04x", p->vendorId);
    snprintf(info->driver, sizeof info->driver, "%u.%u.%u", d.driverVersion >> 24,
             d.driverVersion >> 16 & 0xFF, d.driverVersion & 0xFFFF);
    snprintf(info->version, sizeof info->version, "Level Zero %u.%u", ZE_MAJOR_VERSION(version),
             ZE_MINOR_VERSION(version));
}

/* False for a device that does not describe itself. */
static bool describe(const struct ze_api *ze, ze_driver_handle_t driver, ze_device_handle_t device,
                     size_t index, struct device_info *out)
{
    ze_device_properties_t p = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    ze_device_compute_properties_t c = {.stype = ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES};
    ze_device_module_properties_t m = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES};
    struct device_info info = {.kind = DEVICE_OTHER};
    if (ze->DeviceGetProperties(device, &p) != ZE_RESULT_SUCCESS ||
        ze->DeviceGetComputeProperties(device, &c) != ZE_RESULT_SUCCESS ||
        ze->DeviceGetModuleProperties(device, &m) != ZE_RESULT_SUCCESS)
        return false;
    snprintf(info.id, sizeof info.id, "level_zero:%zu", index);
    snprintf(info.api, sizeof info.api, "level_zero");
    identity_fill(ze, driver, &p, &info);
    snprintf(info.compiler, sizeof info.compiler, "SPIR-V to %u.%u",
             ZE_MAJOR_VERSION(m.spirvVersionSupported), ZE_MINOR_VERSION(m.spirvVersionSupported));
    info.kind = p.type == ZE_DEVICE_TYPE_GPU   ? DEVICE_GPU
                : p.type == ZE_DEVICE_TYPE_CPU ? DEVICE_CPU
                                               : DEVICE_OTHER;
    info.compute_units =
        clamp_u32((uint64_t)p.numSlices * p.numSubslicesPerSlice * p.numEUsPerSubslice);
    info.clock_mhz = p.coreClockRate;
    info.max_work_group = c.maxTotalGroupSize;
    info.max_work_group_axis[0] = c.maxGroupSizeX;
    info.max_work_group_axis[1] = c.maxGroupSizeY;
    info.global_bytes = memory_bytes(ze, device);
    info.max_alloc_bytes = p.maxMemAllocSize;
    info.fp64 = (m.flags & ZE_DEVICE_MODULE_FLAG_FP64) != 0;
    info.subgroups = c.numSubGroupSizes > 0;
    info.spirv = true;
    *out = info;
    return true;
}

static enum status level_zero_enumerate(void (*found)(void *ctx, const struct device_info *),
                                        void (*problem)(void *ctx, const char *text), void *ctx,
                                        struct error *err)
{
    (void)err; /* nothing here stops the other APIs */
    const char *why;
    char text[512];
    const struct ze_api *ze = ze_load(&why);
    if (!ze) {
        problem(ctx, why);
        return STATUS_OK;
    }
    struct device_list list;
    list_fill(ze, &list);
    if (list.count == 0)
        problem(ctx, "level_zero: the drivers that are here find no device");
    if (list.count > 0 && kernel_module_problem(KERNEL_SPIRV)) {
        snprintf(text, sizeof text, "level_zero: %s", kernel_module_problem(KERNEL_SPIRV));
        problem(ctx, text);
        return STATUS_OK;
    }
    for (size_t i = 0; i < list.count; i++) {
        struct device_info info;
        if (describe(ze, list.at[i].driver, list.at[i].device, i, &info)) {
            found(ctx, &info);
        } else {
            snprintf(text, sizeof text, "level_zero: level_zero:%zu does not describe itself", i);
            problem(ctx, text);
        }
    }
    return STATUS_OK;
}

/* ---- opening -------------------------------------------------------------------------------- */

/* The first group of queues that computes. */
static enum status queue_group_find(struct backend *b, struct error *err)
{
    enum { GROUPS_MAX = 16 };
    ze_command_queue_group_properties_t groups[GROUPS_MAX];
    uint32_t count = GROUPS_MAX;
    memset(groups, 0, sizeof groups);
    for (int i = 0; i < GROUPS_MAX; i++)
        groups[i].stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES;
    ze_result_t code = b->ze->DeviceGetCommandQueueGroupProperties(b->device, &count, groups);
    if (code != ZE_RESULT_SUCCESS)
        return ze_error(err, code, "zeDeviceGetCommandQueueGroupProperties");
    for (uint32_t i = 0; i < count && i < GROUPS_MAX; i++)
        if (groups[i].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE) {
            b->queue_group = i;
            return STATUS_OK;
        }
    return error_msg(err, STATUS_UNSUPPORTED, "%s has no queue that computes", b->info.name);
}

static void clock_describe(struct backend *b)
{
    ze_device_properties_t p = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2};
    if (b->ze->DeviceGetProperties(b->device, &p) != ZE_RESULT_SUCCESS)
        return;
    b->ticks_per_second = p.timerResolution; /* this version of the structure: ticks a second */
    b->tick_mask = p.kernelTimestampValidBits >= 64
                       ? UINT64_MAX
                       : (UINT64_C(1) << p.kernelTimestampValidBits) - 1;
    b->largest_alloc = p.maxMemAllocSize;
    for (int i = 0; i < 16; i++)
        snprintf(b->device_uuid + 2 * i, 3, "%02x", p.uuid.id[i]);
}

static enum status queue_open(struct backend *b, struct error *err)
{
    ze_context_desc_t context = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_result_t code = b->ze->ContextCreate(b->driver, &context, &b->context);
    if (code != ZE_RESULT_SUCCESS)
        return ze_error(err, code, "zeContextCreate");
    enum status s = queue_group_find(b, err);
    if (s != STATUS_OK)
        return s;
    ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                     .ordinal = b->queue_group,
                                     .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
                                     .priority = ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
    code = b->ze->CommandQueueCreate(b->context, b->device, &queue, &b->queue);
    if (code != ZE_RESULT_SUCCESS)
        return ze_error(err, code, "zeCommandQueueCreate");
    ze_command_list_desc_t list = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
                                   .commandQueueGroupOrdinal = b->queue_group};
    code = b->ze->CommandListCreate(b->context, b->device, &list, &b->list);
    return code == ZE_RESULT_SUCCESS ? STATUS_OK : ze_error(err, code, "zeCommandListCreate");
}

static enum status level_zero_open(const struct device_info *info, struct backend **out,
                                   struct error *err)
{
    const char *why;
    const struct ze_api *ze = ze_load(&why);
    if (!ze)
        return error_msg(err, STATUS_MISSING, "%s", why);
    struct device_list list;
    list_fill(ze, &list);
    char *end = NULL;
    unsigned long index =
        strncmp(info->id, "level_zero:", 11) == 0 ? strtoul(info->id + 11, &end, 10) : 0;
    if (!end || *end != '\0' || index >= list.count)
        return error_msg(err, STATUS_MISSING, "there is no device %s; Level Zero has %zu", info->id,
                         list.count);
    struct backend *b = calloc(1, sizeof *b);
    if (!b)
        return error_msg(err, STATUS_MEMORY, "no memory for a device");
    b->ze = ze;
    b->request = program_request_make(MODE_STRICT);
    b->driver = list.at[index].driver;
    b->device = list.at[index].device;
    enum status s = describe(ze, b->driver, b->device, index, &b->info)
                        ? STATUS_OK
                        : error_msg(err, STATUS_DEVICE, "%s does not describe itself", info->id);
    clock_describe(b);
    if (s == STATUS_OK)
        s = queue_open(b, err);
    if (s == STATUS_OK)
        s = level_zero_alloc(b, 4096, "a buffer", &b->nothing, err);
    if (s == STATUS_OK)
        s = level_zero_flights_open(b, err);
    if (s != STATUS_OK) {
        level_zero_close(b);
        return s;
    }
    *out = b;
    return STATUS_OK;
}

void level_zero_close(struct backend *b)
{
    if (!b)
        return;
    const struct ze_api *ze = b->ze;
    if (b->queue)
        ze->CommandQueueSynchronize(b->queue, UINT64_MAX);
    level_zero_programs_release(b);
    level_zero_scene_release(b);
    level_zero_flights_close(b);
    if (b->film)
        ze->MemFree(b->context, b->film);
    if (b->nothing)
        ze->MemFree(b->context, b->nothing);
    if (b->list)
        ze->CommandListDestroy(b->list);
    if (b->queue)
        ze->CommandQueueDestroy(b->queue);
    if (b->context)
        ze->ContextDestroy(b->context);
    free(b);
}

/* Eight lanes of one work-item do not share a GPU's lanes. */
static enum bvh_kind level_zero_preferred_bvh(const struct backend *b)
{
    return b->info.kind == DEVICE_CPU ? BVH_WIDE8 : BVH_BINARY;
}

static void level_zero_defaults(const struct backend *b, struct launch_settings *s)
{
    work_group_default(&b->info, s);
}

static unsigned code_paths(const struct backend *b, enum code_path *fastest)
{
    (void)b;
    *fastest = CODE_LLVM;
    return 1u << CODE_LLVM;
}

const struct backend_api level_zero_api = {
    .name = "level_zero",
    .loads_driver = true,
    .code_paths = code_paths,
    .enumerate = level_zero_enumerate,
    .open = level_zero_open,
    .close = level_zero_close,
    .preferred_bvh = level_zero_preferred_bvh,
    .upload = level_zero_upload,
    .build = level_zero_build,
    .request = level_zero_request,
    .film_begin = level_zero_film_begin,
    .launch = level_zero_launch,
    .finish = level_zero_finish,
    .film_read = level_zero_film_read,
    .run_words = level_zero_run_words,
    .group_most = level_zero_program_group,
    .defaults = level_zero_defaults,
    .job_build = level_zero_job_build,
    .job_run = level_zero_job_run,
    .job_release = level_zero_job_release,
};
