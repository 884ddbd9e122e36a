/* SPDX-License-Identifier: Apache-2.0 */
/* Which OpenCL devices there are, and what they say of themselves. */
#include "opencl.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { PLATFORMS_MAX = 32, DEVICES_MAX = 256 };

/* Every device of every platform, in the loader's order, which is that of the .icd files: the index
 * is the N of opencl:N. */
struct device_list {
    struct {
        cl_platform_id platform;
        cl_device_id device;
    } at[DEVICES_MAX];
    size_t count;
    unsigned platforms;
};

/* A string property, trimmed, or "". */
static void device_text(const struct cl_api *cl, cl_device_id d, cl_device_info what, char *buf,
                        size_t size)
{
    char text[4096] = "";
    if (cl->GetDeviceInfo(d, what, sizeof text - 1, text, NULL) != CL_SUCCESS)
        text[0] = '\0';
    const char *from = text;
    while (isspace((unsigned char)*from))
        from++;
    snprintf(buf, size, "%s", from);
    for (size_t n = strlen(buf); n > 0 && isspace((unsigned char)buf[n - 1]);)
        buf[--n] = '\0';
}

static void platform_text(const struct cl_api *cl, cl_platform_id p, cl_platform_info what,
                          char *buf, size_t size)
{
    char text[4096] = "";
    if (cl->GetPlatformInfo(p, what, sizeof text - 1, text, NULL) != CL_SUCCESS)
        text[0] = '\0';
    snprintf(buf, size, "%s", text);
}

/* A number of up to 8 bytes; 0 if the device does not know it. */
static uint64_t device_number(const struct cl_api *cl, cl_device_id d, cl_device_info what)
{
    uint64_t value = 0; /* little-endian host: smaller types fill the low bytes */
    size_t size = 0;
    if (cl->GetDeviceInfo(d, what, sizeof value, &value, &size) != CL_SUCCESS ||
        size > sizeof value)
        return 0;
    return value;
}

static uint32_t clamp_u32(uint64_t v) { return v > UINT32_MAX ? UINT32_MAX : (uint32_t)v; }

static void describe(const struct cl_api *cl, cl_platform_id p, cl_device_id d, size_t index,
                     struct device_info *out)
{
    char name[128], platform[128], version[256], extensions[4096], il[256];
    struct device_info info = {.kind = DEVICE_OTHER};
    snprintf(info.id, sizeof info.id, "opencl:%zu", index);
    snprintf(info.api, sizeof info.api, "opencl");
    device_text(cl, d, CL_DEVICE_NAME, name, sizeof name);
    platform_text(cl, p, CL_PLATFORM_NAME, platform, sizeof platform);
    /* Two drivers may show one processor under one name; with the platform's it is unique. */
    snprintf(info.name, sizeof info.name, "%.70s, %.50s", name, platform);
    device_text(cl, d, CL_DEVICE_VENDOR, info.vendor, sizeof info.vendor);
    device_text(cl, d, CL_DRIVER_VERSION, info.driver, sizeof info.driver);
    device_text(cl, d, CL_DEVICE_VERSION, info.version, sizeof info.version);
    platform_text(cl, p, CL_PLATFORM_VERSION, version, sizeof version);
    snprintf(info.compiler, sizeof info.compiler, "%.127s", version);
    uint64_t type = device_number(cl, d, CL_DEVICE_TYPE);
    if (type & CL_DEVICE_TYPE_CPU)
        info.kind = DEVICE_CPU;
    else if (type & CL_DEVICE_TYPE_GPU)
        info.kind = DEVICE_GPU;
    info.compute_units = clamp_u32(device_number(cl, d, CL_DEVICE_MAX_COMPUTE_UNITS));
    info.clock_mhz = clamp_u32(device_number(cl, d, CL_DEVICE_MAX_CLOCK_FREQUENCY));
    info.max_work_group = clamp_u32(device_number(cl, d, CL_DEVICE_MAX_WORK_GROUP_SIZE));
    size_t axis[16] = {0};
    if (cl->GetDeviceInfo(d, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof axis, axis, NULL) == CL_SUCCESS)
        for (int k = 0; k < 2; k++)
            info.max_work_group_axis[k] = clamp_u32(axis[k]);
    info.global_bytes = device_number(cl, d, CL_DEVICE_GLOBAL_MEM_SIZE);
    info.max_alloc_bytes = device_number(cl, d, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    info.fp64 = device_number(cl, d, CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
    device_text(cl, d, CL_DEVICE_EXTENSIONS, extensions, sizeof extensions);
    device_text(cl, d, CL_DEVICE_IL_VERSION, il, sizeof il);
    info.subgroups = strstr(extensions, "subgroups") != NULL ||
                     device_number(cl, d, CL_DEVICE_MAX_NUM_SUB_GROUPS) != 0;
    info.spirv = strstr(il, "SPIR-V") != NULL;
    enum { UUID_KHR = 0x106A }; /* CL_DEVICE_UUID_KHR, of newer headers than Debian's */
    unsigned char uuid[16] = {0};
    if (strstr(extensions, "cl_khr_device_uuid") &&
        cl->GetDeviceInfo(d, UUID_KHR, sizeof uuid, uuid, NULL) == CL_SUCCESS)
        uuid_print(uuid, info.uuid);
    *out = info;
}

/* Is "OpenCL 1.1 ..." older than 1.2? */
static bool version_old(const char *version)
{
    static const char before[] = "OpenCL ";
    char *end = NULL;
    if (strncmp(version, before, strlen(before)) != 0)
        return true;
    const unsigned long major = strtoul(version + strlen(before), &end, 10),
                        minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;
    return major < 1 || (major == 1 && minor < 2);
}

/* Why a device cannot be used, in `text`. One of OpenCL 1.1 has not all the functions that are
 * called, nor has its platform, whose table of functions the loader looks them up in. */
static bool unusable(const struct cl_api *cl, cl_device_id d, const struct device_info *info,
                     char *text, size_t size)
{
    const bool old = version_old(info->version), old_platform = version_old(info->compiler);
    const char *why = old || old_platform                                   ? "too old"
                      : !device_number(cl, d, CL_DEVICE_AVAILABLE)          ? "not available"
                      : !device_number(cl, d, CL_DEVICE_COMPILER_AVAILABLE) ? "without a compiler"
                                                                            : NULL;
    if (!why)
        return false;
    int n = snprintf(text, size, "opencl: %s (%s) is %s", info->id, info->name, why);
    if ((old || old_platform) && n > 0 && (size_t)n < size)
        snprintf(text + n, size - (size_t)n, ": %s is \"%.96s\", and 1.2 or newer is needed",
                 old ? "it" : "its platform", old ? info->version : info->compiler);
    return true;
}

/* The loader's platforms. The Khronos loader cuts OCL_ICD_FILENAMES at its first colon in place, in
 * the environment itself, so that processes started later would see the first driver only: the
 * variable is put back. */
static cl_uint platforms_find(const struct cl_api *cl, cl_platform_id platforms[PLATFORMS_MAX])
{
    const char *names = getenv("OCL_ICD_FILENAMES");
    char *kept = names ? strdup(names) : NULL;
    cl_uint count = 0;
    if (cl->GetPlatformIDs(PLATFORMS_MAX, platforms, &count) != CL_SUCCESS)
        count = 0;
    if (kept)
        setenv("OCL_ICD_FILENAMES", kept, 1);
    free(kept);
    return count > PLATFORMS_MAX ? PLATFORMS_MAX : count;
}

static void list_fill(const struct cl_api *cl, struct device_list *list,
                      void (*problem)(void *ctx, const char *text), void *ctx)
{
    cl_platform_id platforms[PLATFORMS_MAX];
    cl_uint platform_count = platforms_find(cl, platforms);
    list->count = 0;
    list->platforms = platform_count;
    for (cl_uint p = 0; p < platform_count; p++) {
        cl_device_id devices[DEVICES_MAX];
        cl_uint count = 0;
        cl_int code =
            cl->GetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, DEVICES_MAX, devices, &count);
        if ((code != CL_SUCCESS || count == 0) && problem) {
            char name[128], text[320];
            platform_text(cl, platforms[p], CL_PLATFORM_NAME, name, sizeof name);
            snprintf(text, sizeof text, "opencl: the platform \"%s\" has no devices: %s (%d)%s",
                     name, code == CL_SUCCESS ? "none found" : cl_code_name(code), code,
                     strcmp(name, "rusticl") == 0
                         ? "; Mesa shows those that RUSTICL_ENABLE names: RUSTICL_ENABLE=llvmpipe "
                           "for the one on the processor"
                         : "");
            problem(ctx, text);
        }
        for (cl_uint d = 0; code == CL_SUCCESS && d < count && d < DEVICES_MAX; d++) {
            if (list->count == DEVICES_MAX)
                return;
            list->at[list->count].platform = platforms[p];
            list->at[list->count].device = devices[d];
            list->count++;
        }
    }
}

enum status opencl_enumerate(void (*found)(void *ctx, const struct device_info *),
                             void (*problem)(void *ctx, const char *text), void *ctx,
                             struct error *err)
{
    (void)err; /* nothing here stops the other APIs */
    const char *why;
    const struct cl_api *cl = cl_load(&why);
    if (!cl) {
        problem(ctx, why);
        return STATUS_OK;
    }
    struct device_list list;
    list_fill(cl, &list, problem, ctx);
    for (size_t i = 0; i < list.count; i++) {
        struct device_info info;
        describe(cl, list.at[i].platform, list.at[i].device, i, &info);
        char text[400];
        if (unusable(cl, list.at[i].device, &info, text, sizeof text))
            problem(ctx, text);
        else
            found(ctx, &info);
    }
    if (list.platforms == 0)
        problem(ctx, "opencl: the loader finds no platform; a driver is missing, for example (on "
                     "Debian, for the CPU) apt-get install pocl-opencl-icd");
    opencl_installed_problems(problem, ctx);
    return STATUS_OK;
}

enum status opencl_open(const struct device_info *info, struct backend **out, struct error *err)
{
    const char *why;
    const struct cl_api *cl = cl_load(&why);
    if (!cl)
        return error_msg(err, STATUS_MISSING, "%s", why);
    struct device_list list;
    list_fill(cl, &list, NULL, NULL);
    char *end = NULL;
    unsigned long index =
        strncmp(info->id, "opencl:", 7) == 0 ? strtoul(info->id + 7, &end, 10) : 0;
    if (!end || *end != '\0' || index >= list.count)
        return error_msg(err, STATUS_MISSING, "there is no device %s; OpenCL has %zu", info->id,
                         list.count);
    struct backend *b = calloc(1, sizeof *b);
    if (!b)
        return error_msg(err, STATUS_MEMORY, "no memory for a device");
    b->cl = cl;
    b->request = program_request_make(MODE_STRICT);
    b->platform = list.at[index].platform;
    b->device = list.at[index].device;
    describe(cl, b->platform, b->device, index, &b->info);
    platform_text(cl, b->platform, CL_PLATFORM_VERSION, b->platform_version,
                  sizeof b->platform_version);
    char extensions[4096], profile[64];
    device_text(cl, b->device, CL_DEVICE_EXTENSIONS, extensions, sizeof extensions);
    device_text(cl, b->device, CL_DEVICE_PROFILE, profile, sizeof profile);
    b->little_endian = device_number(cl, b->device, CL_DEVICE_ENDIAN_LITTLE) != 0;
    b->int64 = strcmp(profile, "EMBEDDED_PROFILE") != 0 || strstr(extensions, "cles_khr_int64");
    b->rounds_divide_sqrt = (device_number(cl, b->device, CL_DEVICE_SINGLE_FP_CONFIG) &
                             CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
    b->nvidia = strstr(extensions, "cl_nv_compiler_options") != NULL;
    char platform[128];
    platform_text(cl, b->platform, CL_PLATFORM_NAME, platform, sizeof platform);
    b->compiles_shapes = strcmp(platform, "Portable Computing Language") == 0;
    b->shares_memory = b->info.kind == DEVICE_CPU;

    char why_not[400];
    if (unusable(cl, b->device, &b->info, why_not, sizeof why_not)) {
        opencl_close(b);
        return error_msg(err, STATUS_MISSING, "%s", why_not);
    }
    cl_int code;
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                                (cl_context_properties)b->platform, 0};
    enum status s = STATUS_OK;
    b->context = cl->CreateContext(properties, 1, &b->device, NULL, NULL, &code);
    if (code != CL_SUCCESS) {
        b->context = NULL;
        s = cl_error(err, code, "clCreateContext");
    }
    if (s == STATUS_OK) {
        b->queue = cl->CreateCommandQueue(b->context, b->device, CL_QUEUE_PROFILING_ENABLE, &code);
        if (code != CL_SUCCESS) {
            b->queue = NULL;
            s = cl_error(err, code, "clCreateCommandQueue");
        }
    }
    if (s == STATUS_OK)
        s = opencl_buffer(b, CL_MEM_READ_WRITE, 4096, NULL, "a buffer", &b->nothing, err);
    for (int i = 0; s == STATUS_OK && i < LAUNCHES_IN_FLIGHT; i++)
        s = opencl_buffer(b, CL_MEM_READ_ONLY, sizeof(struct k_launch), NULL, "the launch settings",
                          &b->flights[i].launch, err);
    if (s != STATUS_OK) {
        opencl_close(b);
        return s;
    }
    *out = b;
    return STATUS_OK;
}

void opencl_close(struct backend *b)
{
    if (!b)
        return;
    if (b->queue)
        b->cl->Finish(b->queue);
    opencl_shapes_keep(b);
    opencl_programs_release(b);
    opencl_scene_release(b);
    for (int i = 0; i < LAUNCHES_IN_FLIGHT; i++) {
        if (b->flights[i].event)
            b->cl->ReleaseEvent(b->flights[i].event);
        if (b->flights[i].launch)
            b->cl->ReleaseMemObject(b->flights[i].launch);
    }
    if (b->film)
        b->cl->ReleaseMemObject(b->film);
    if (b->nothing)
        b->cl->ReleaseMemObject(b->nothing);
    if (b->queue)
        b->cl->ReleaseCommandQueue(b->queue);
    if (b->context)
        b->cl->ReleaseContext(b->context);
    free(b);
}

/* Measured (opencl_test.c does not; isophote sweep does): eight lanes at once pay on CPUs. */
enum bvh_kind opencl_preferred_bvh(const struct backend *b)
{
    return b->info.kind == DEVICE_CPU ? BVH_WIDE8 : BVH_BINARY;
}

void opencl_defaults(const struct backend *b, struct launch_settings *s)
{
    work_group_default(&b->info, s);
}

/* Whether a device takes SPIR-V is said when it is built for it. */
static unsigned code_paths(const struct backend *b, enum code_path *fastest)
{
    (void)b;
    *fastest = CODE_SOURCE;
    return 1u << CODE_SOURCE | 1u << CODE_LLVM;
}

const struct backend_api opencl_api = {
    .name = "opencl",
    .loads_driver = true,
    .keeps_host_memory = true,
    .code_paths = code_paths,
    .enumerate = opencl_enumerate,
    .open = opencl_open,
    .close = opencl_close,
    .preferred_bvh = opencl_preferred_bvh,
    .upload = opencl_upload,
    .build = opencl_build,
    .request = opencl_request,
    .film_begin = opencl_film_begin,
    .launch = opencl_launch,
    .finish = opencl_finish,
    .film_read = opencl_film_read,
    .run_words = opencl_run_words,
    .group_most = opencl_group_most,
    .defaults = opencl_defaults,
    .job_build = opencl_job_build,
    .job_run = opencl_job_run,
    .job_release = opencl_job_release,
};
