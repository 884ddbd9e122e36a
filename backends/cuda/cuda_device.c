/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA as backends/gpu/ asks for it. */
#include "cuda_compile.h"
#include "cuda_llvm.h"

#include <stdlib.h>
#include <string.h>

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

static void cuda_describe(const struct gpu_driver *cu, gpu_device d, struct device_info *info,
                          char arch[GPU_ARCH_SIZE])
{
    const unsigned major = gpu_attribute_get(cu, d, GPU_MAJOR),
                   minor = gpu_attribute_get(cu, d, GPU_MINOR);
    snprintf(arch, GPU_ARCH_SIZE, "%u", 10 * major + minor);
    snprintf(info->vendor, sizeof info->vendor, "NVIDIA");
    char kernel[64];
    kernel_driver_version(kernel, sizeof kernel);
    snprintf(info->driver, sizeof info->driver, "%s%sCUDA %d.%d", kernel, kernel[0] ? ", " : "",
             cu->version / 1000, cu->version % 1000 / 10);
    snprintf(info->version, sizeof info->version, "compute capability %u.%u", major, minor);
    const struct nvrtc_api *nvrtc = nvrtc_load(cu->version / 1000, NULL);
    if (nvrtc)
        snprintf(info->compiler, sizeof info->compiler, "NVRTC %d.%d", nvrtc->major, nvrtc->minor);
}

static bool cuda_compiler_load(const struct gpu_driver *cu, const char **problem)
{
    return nvrtc_load(cu->version / 1000, problem) != NULL;
}

/* NVRTC of gpu_api's calls: loaded when they come. */
static const struct nvrtc_api *nvrtc_loaded(void) { return nvrtc_load(0, NULL); }

static enum status cuda_options_of(const char *arch, const struct program_request *request,
                                   char *options, size_t options_size, char *identity,
                                   size_t identity_size, struct error *err)
{
    if (request->code == CODE_LLVM)
        return cuda_llvm_options(request, (int)strtol(arch, NULL, 10), options, options_size,
                                 identity, identity_size, err);
    const struct nvrtc_api *n = nvrtc_loaded();
    snprintf(identity, identity_size, "NVRTC %d.%d arch %s", n->major, n->minor, arch);
    return cuda_options(n, request, (int)strtol(arch, NULL, 10), false, options, options_size, err);
}

static enum status cuda_compile_for(const char *arch, const struct program_request *request,
                                    struct arena *a, struct gpu_image *out, struct build_info *info,
                                    struct error *err)
{
    if (request->code == CODE_LLVM)
        return cuda_llvm_compile(request, (int)strtol(arch, NULL, 10), a, out, info, err);
    return cuda_compile(nvrtc_loaded(), request, (int)strtol(arch, NULL, 10), false, a, out, info,
                        err);
}

static const struct gpu_api cuda = {
    /* Twice the occupancy pays more than what 64 registers spill: docs/results/h200_levers.md. */
    .registers = 64,
    .pieces = true,
    /* Both for the tail of a launch: docs/results/h200_levers.md. */
    .slices = 4,
    /* Whose warps share what they fetch of a large kernel: likewise. */
    .step_group = {32, 32},
    .launch_samples = 1u << 21,
    .name = "cuda",
    .kept_suffix = ".cubin",
    .load = cu_load,
    .compiler_load = cuda_compiler_load,
    .describe = cuda_describe,
    .options = cuda_options_of,
    .compile = cuda_compile_for,
};

static enum status cuda_enumerate(void (*found)(void *ctx, const struct device_info *),
                                  void (*problem)(void *ctx, const char *text), void *ctx,
                                  struct error *err)
{
    (void)err;
    return gpu_enumerate(&cuda, found, problem, ctx);
}

static enum status cuda_open(const struct device_info *info, struct backend **out,
                             struct error *err)
{
    return gpu_open(&cuda, info, out, err);
}

static unsigned code_paths(const struct backend *b, enum code_path *fastest)
{
    (void)b;
    *fastest = CODE_SOURCE;
    return 1u << CODE_SOURCE | 1u << CODE_LLVM;
}

/* Measured over the library (docs/results/models.md). One kernel of all is the fastest where a vertex
 * is little code. Where materials, lights or trees differ much from path to path, queues win; where
 * rays cross borders, or texels are waited for among divisions that are rounded, rays of their own
 * do. */
static enum exec_model preferred_model(const struct backend *b, const struct program_request *r)
{
    const uint32_t features = r->features;
    const uint32_t various = K_FEATURE_LOBES | K_FEATURE_SHADERS | K_FEATURE_INSTANCES |
                             K_FEATURE_CUTOUTS | K_FEATURE_LIGHT_TREE | K_FEATURE_LAYERS |
                             K_FEATURE_NORMAL_MAPS,
                   waiting = K_FEATURE_TEXTURES | K_FEATURE_ENV_MAPS | K_FEATURE_DIELECTRIC;
    if (r->code == CODE_LLVM && strtol(b->arch, NULL, 10) < CUDA_LLVM_STAGES)
        return MODEL_MEGAKERNEL;
    if (features & K_FEATURE_MEDIA && !(features & (K_FEATURE_LAYERS | K_FEATURE_NORMAL_MAPS)))
        return MODEL_SEPARATE;
    if (features & various)
        return MODEL_WAVEFRONT;
    return features & waiting && r->mode != MODE_FAST ? MODEL_SEPARATE : MODEL_MEGAKERNEL;
}

const struct backend_api cuda_api = {
    .name = "cuda",
    .loads_driver = true,
    .takes_cache_preference = true,
    .code_paths = code_paths,
    .enumerate = cuda_enumerate,
    .open = cuda_open,
    .preferred_model = preferred_model,
    GPU_ENTRIES,
};
