/* Which NVIDIA GPUs there are, and what they say of themselves. */
#include "cuda_backend.h"

#include <stdlib.h>
#include <string.h>

enum status cuda_current(const struct backend *b, struct error *err)
{
    cu_result code = b->cu->CtxSetCurrent(b->context);
    return code == CU_OK ? STATUS_OK : cu_error(err, b->cu, code, "cuCtxSetCurrent");
}

/* A device property; 0 if the driver does not know it. */
static uint32_t attribute(const struct cu_api *cu, cu_device d, int what)
{
    int value = 0;
    if (cu->DeviceGetAttribute(&value, what, d) != CU_OK || value < 0)
        return 0;
    return (uint32_t)value;
}

/* "580.95.05" out of /proc/driver/nvidia/version, "" where there is none (WSL). */
static void kernel_driver_version(char *buf, size_t size)
{
    struct arena a = {0};
    char *text;
    size_t length;
    buf[0] = '\0';
    if (file_read(&a, "/proc/driver/nvidia/version", 1 << 16, &text, &length, NULL) == STATUS_OK) {
        /* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  date": the first word with a
         * dot between digits */
        text[strcspn(text, "\n")] = '\0';
        for (char *rest = text, *word = strtok_r(rest, " ", &rest); word;
             word = strtok_r(NULL, " ", &rest)) {
            size_t digits = strspn(word, "0123456789");
            if (digits > 0 && word[digits] == '.' && strspn(word, "0123456789.") == strlen(word)) {
                snprintf(buf, size, "%s", word);
                break;
            }
        }
    }
    arena_free(&a);
}

static bool describe(const struct cu_api *cu, int index, struct device_info *out)
{
    cu_device d;
    size_t bytes = 0;
    struct device_info info = {.kind = DEVICE_GPU};
    if (cu->DeviceGet(&d, index) != CU_OK ||
        cu->DeviceGetName(info.name, (int)sizeof info.name, d) != CU_OK ||
        cu->DeviceTotalMem(&bytes, d) != CU_OK)
        return false;
    info.name[sizeof info.name - 1] = '\0';
    snprintf(info.id, sizeof info.id, "cuda:%d", index);
    snprintf(info.api, sizeof info.api, "cuda");
    snprintf(info.vendor, sizeof info.vendor, "NVIDIA");
    char kernel[64];
    kernel_driver_version(kernel, sizeof kernel);
    snprintf(info.driver, sizeof info.driver, "%s%sCUDA %d.%d", kernel, kernel[0] ? ", " : "",
             cu->version / 1000, cu->version % 1000 / 10);
    snprintf(info.version, sizeof info.version, "compute capability %u.%u",
             attribute(cu, d, CU_DEVICE_MAJOR), attribute(cu, d, CU_DEVICE_MINOR));
    const struct nvrtc_api *nvrtc = nvrtc_load(cu->version / 1000, NULL);
    if (nvrtc)
        snprintf(info.compiler, sizeof info.compiler, "NVRTC %d.%d", nvrtc->major, nvrtc->minor);
    info.compute_units = attribute(cu, d, CU_DEVICE_MULTIPROCESSORS);
    info.clock_mhz = attribute(cu, d, CU_DEVICE_CLOCK_KHZ) / 1000;
    info.max_work_group = attribute(cu, d, CU_DEVICE_MAX_THREADS);
    info.max_work_group_axis[0] = attribute(cu, d, CU_DEVICE_MAX_BLOCK_X);
    info.max_work_group_axis[1] = attribute(cu, d, CU_DEVICE_MAX_BLOCK_Y);
    info.global_bytes = bytes;
    info.max_alloc_bytes = bytes;
    info.fp64 = true;
    info.subgroups = true;
    *out = info;
    return true;
}

static enum status cuda_enumerate(void (*found)(void *ctx, const struct device_info *),
                                  void (*problem)(void *ctx, const char *text), void *ctx,
                                  struct error *err)
{
    (void)err; /* nothing here stops the other APIs */
    const char *why;
    const struct cu_api *cu = cu_load(&why);
    if (!cu) {
        problem(ctx, why);
        return STATUS_OK;
    }
    if (!nvrtc_load(cu->version / 1000, &why))
        problem(ctx, why);
    int count = 0;
    if (cu->DeviceGetCount(&count) != CU_OK)
        count = 0;
    for (int i = 0; i < count; i++) {
        struct device_info info;
        if (describe(cu, i, &info)) {
            found(ctx, &info);
            continue;
        }
        char text[128];
        snprintf(text, sizeof text, "cuda: GPU %d does not tell its name and memory", i);
        problem(ctx, text);
    }
    return STATUS_OK;
}

static enum status cuda_open(const struct device_info *info, struct backend **out,
                             struct error *err)
{
    const char *why;
    const struct cu_api *cu = cu_load(&why);
    if (!cu)
        return error_msg(err, STATUS_MISSING, "%s", why);
    const struct nvrtc_api *nvrtc = nvrtc_load(cu->version / 1000, &why);
    if (!nvrtc)
        return error_msg(err, STATUS_MISSING, "%s", why);
    char *end = NULL;
    unsigned long index = strncmp(info->id, "cuda:", 5) == 0 ? strtoul(info->id + 5, &end, 10) : 0;
    int count = 0;
    cu->DeviceGetCount(&count);
    if (!end || *end != '\0' || index >= (unsigned long)count)
        return error_msg(err, STATUS_MISSING, "there is no device %s; CUDA has %d", info->id,
                         count);
    struct backend *b = calloc(1, sizeof *b);
    if (!b)
        return error_msg(err, STATUS_MEMORY, "no memory for a device");
    b->cu = cu;
    b->nvrtc = nvrtc;
    b->tree = BVH_BINARY;
    enum status s = STATUS_OK;
    cu_result code = cu->DeviceGet(&b->device, (int)index);
    if (code != CU_OK || !describe(cu, (int)index, &b->info)) {
        s = code != CU_OK ? cu_error(err, cu, code, "cuDeviceGet")
                          : error_msg(err, STATUS_DEVICE, "%s does not describe itself", info->id);
        free(b);
        return s;
    }
    b->arch = (int)(attribute(cu, b->device, CU_DEVICE_MAJOR) * 10 +
                    attribute(cu, b->device, CU_DEVICE_MINOR));
    b->max_grid[0] = attribute(cu, b->device, CU_DEVICE_MAX_GRID_X);
    b->max_grid[1] = attribute(cu, b->device, CU_DEVICE_MAX_GRID_Y);
    code = cu->DevicePrimaryCtxRetain(&b->context, b->device);
    if (code != CU_OK) {
        s = cu_error(err, cu, code, "cuDevicePrimaryCtxRetain");
        free(b);
        return s;
    }
    s = cuda_current(b, err);
    if (s == STATUS_OK) {
        code = cu->StreamCreate(&b->stream, CU_STREAM_NOT_BLOCKING);
        if (code != CU_OK) {
            b->stream = NULL;
            s = cu_error(err, cu, code, "cuStreamCreate");
        }
    }
    if (s == STATUS_OK)
        s = cuda_flights_open(b, err);
    if (s != STATUS_OK) {
        cuda_close(b);
        return s;
    }
    *out = b;
    return STATUS_OK;
}

void cuda_close(struct backend *b)
{
    if (!b)
        return;
    if (b->cu->CtxSetCurrent(b->context) == CU_OK) {
        if (b->stream)
            b->cu->StreamSynchronize(b->stream);
        cuda_programs_release(b);
        cuda_scene_release(b);
        cuda_flights_close(b);
        if (b->film)
            b->cu->MemFree(b->film);
        for (int i = 0; i < 2; i++)
            if (b->staging[i])
                b->cu->MemFreeHost(b->staging[i]);
        if (b->stream)
            b->cu->StreamDestroy(b->stream);
        b->cu->CtxSetCurrent(NULL);
    }
    b->cu->DevicePrimaryCtxRelease(b->device);
    free(b);
}

static enum bvh_kind cuda_preferred_bvh(const struct backend *b)
{
    (void)b;
    return BVH_BINARY; /* eight lanes of one work-item do not share a GPU's lanes */
}

/* Two warps a group, square enough that neighbours see the same nodes; fewer where the kernel needs
 * more registers than such a group has. */
static void cuda_defaults(const struct backend *b, struct launch_settings *s)
{
    uint32_t threads = b->programs[b->tree].threads;
    if (s->work_group[0] == 0 || s->work_group[1] == 0) {
        s->work_group[0] = 8;
        s->work_group[1] = threads && threads < 64 ? 4 : 8;
    }
}

const struct backend_api cuda_api = {
    .name = "cuda",
    .enumerate = cuda_enumerate,
    .open = cuda_open,
    .close = cuda_close,
    .preferred_bvh = cuda_preferred_bvh,
    .upload = cuda_upload,
    .build = cuda_build,
    .film_begin = cuda_film_begin,
    .launch = cuda_launch,
    .finish = cuda_finish,
    .film_read = cuda_film_read,
    .run_words = cuda_run_words,
    .defaults = cuda_defaults,
};
