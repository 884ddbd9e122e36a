/* SPDX-License-Identifier: Apache-2.0 */
/* HIP as backends/gpu/ asks for it. */
#include "hip_compile.h"
#include "hip_llvm.h"

#include <string.h>

static void hip_describe(const struct gpu_driver *hip, gpu_device d, struct device_info *info,
                         char arch[GPU_ARCH_SIZE])
{
    hip_arch(d, arch);
    /* HIP names no vendor. AMD's architectures are gfx*; another provider says what it stands on.
     */
    bool amd = hip_arch_is_amd(arch);
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

static enum status options_of(const char *arch, const struct program_request *request,
                              char *options, size_t options_size, char *identity,
                              size_t identity_size, struct error *err)
{
    return (request->code == CODE_LLVM ? hip_llvm_options : hip_options)(
        arch, request, options, options_size, identity, identity_size, err);
}

static enum status compile_for(const char *arch, const struct program_request *request,
                               struct arena *a, struct gpu_image *out, struct build_info *info,
                               struct error *err)
{
    return (request->code == CODE_LLVM ? hip_llvm_compile : hip_compile)(arch, request, a, out,
                                                                         info, err);
}

static const struct gpu_api hip = {
    .name = "hip",
    .kept_suffix = ".hsaco",
    .load = hip_load,
    .compiler_load = hip_compiler_load,
    .describe = hip_describe,
    .options = options_of,
    .compile = compile_for,
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

static unsigned code_paths(const struct backend *b, enum code_path *fastest)
{
    *fastest = CODE_SOURCE;
    return 1u << CODE_SOURCE | (hip_arch_is_amd(b->arch) ? 1u << CODE_LLVM : 0);
}

const struct backend_api hip_api = {
    .name = "hip",
    .loads_driver = true,
    .code_paths = code_paths,
    .enumerate = hip_enumerate,
    .open = hip_open,
    GPU_ENTRIES,
};
