/* HIP as backends/gpu/ asks for it. */
#include "hip_compile.h"

#include <string.h>

static void hip_describe(const struct gpu_driver *hip, gpu_device d, struct device_info *info,
                         char arch[GPU_ARCH_SIZE])
{
    hip_arch(d, arch);
    /* HIP names no vendor. AMD's architectures are gfx*; another provider says what it stands on.
     */
    bool amd = strncmp(arch, "gfx", 3) == 0;
    snprintf(info->vendor, sizeof info->vendor, "%s",
             amd                            ? "AMD"
             : strncmp(arch, "sm_", 3) == 0 ? "NVIDIA (through HIP)"
                                            : "Isophote");
    if (!amd && strncmp(arch, "sm_", 3) != 0)
        info->kind = DEVICE_CPU;
    const unsigned version = (unsigned)hip->version; /* 50221153: 5.2.21153 */
    snprintf(info->driver, sizeof info->driver, "HIP %u.%u.%u", version / 10000000,
             version / 100000 % 100, version % 100000);
    snprintf(info->version, sizeof info->version, "%.95s", arch[0] ? arch : "architecture unknown");
    const struct hiprtc_api *rtc = hiprtc_load(NULL);
    if (rtc)
        snprintf(info->compiler, sizeof info->compiler, "hipRTC %d.%d", rtc->major, rtc->minor);
}

static bool hip_compiler_load(const struct gpu_driver *hip, const char **problem)
{
    (void)hip;
    return hiprtc_load(problem) != NULL;
}

static const struct gpu_api hip = {
    .name = "hip",
    .kept_suffix = ".hsaco",
    .load = hip_load,
    .compiler_load = hip_compiler_load,
    .describe = hip_describe,
    .options = hip_options,
    .compile = hip_compile,
};

static enum status hip_enumerate(void (*found)(void *ctx, const struct device_info *),
                                 void (*problem)(void *ctx, const char *text), void *ctx,
                                 struct error *err)
{
    (void)err;
    return gpu_enumerate(&hip, found, problem, ctx);
}

static enum status hip_open(const struct device_info *info, struct backend **out, struct error *err)
{
    return gpu_open(&hip, info, out, err);
}

const struct backend_api hip_api = {
    .name = "hip", .enumerate = hip_enumerate, .open = hip_open, GPU_ENTRIES};
