/* SPDX-License-Identifier: Apache-2.0 */
#include "hip_compile.h"

#include "api/offers.h"
#include "code_object.h"

#include <string.h>

enum { ARGUMENTS_MAX = 24 };

/* What a work-group of 1024 leaves each work-item of an AMD GPU: RDNA 64 vector registers (1024 a
 * lane, sixteen wavefronts of 32 on each of two SIMDs), CDNA 128. */
enum { FULL_GROUP_REGISTERS = 64 };

/* What each mode means to hipRTC, which is clang: contraction is on and subnormals are kept unless
 * said otherwise. ROCm 5.2's ignores the option for roots, so that the kernel mends them itself
 * (device/portable.h). */
static const char *mode_flags(enum math_mode mode)
{
    switch (mode) {
    case MODE_STRICT:
        return "-ffp-contract=off -fhip-fp32-correctly-rounded-divide-sqrt "
               "-fno-gpu-flush-denormals-to-zero";
    case MODE_DEVICE:
        return "-ffp-contract=on -fhip-fp32-correctly-rounded-divide-sqrt "
               "-fno-gpu-flush-denormals-to-zero";
    default:
        return "-ffp-contract=fast -fno-hip-fp32-correctly-rounded-divide-sqrt "
               "-fgpu-flush-denormals-to-zero -freciprocal-math -fno-signed-zeros";
    }
}

enum status hip_options(const char *arch, const struct program_request *request, char *options,
                        size_t options_size, char *identity, size_t identity_size,
                        struct error *err)
{
    const char *why;
    const struct hiprtc_api *rtc = hiprtc_load(&why);
    if (!rtc)
        return error_msg(err, STATUS_MISSING, "%s", why);
    if (!arch[0] || strchr(arch, ' '))
        return error_msg(err, STATUS_UNSUPPORTED,
                         "the device does not tell its architecture (gcnArchName)");
    char registers[80] = "";
    if (request->registers)
        snprintf(registers, sizeof registers, " -DK_REGISTERS=%u%s", request->registers,
                 request->registers > FULL_GROUP_REGISTERS ? " --gpu-max-threads-per-block=256"
                                                           : "");
    char defines[256];
    enum status s = program_defines(request, defines, sizeof defines, err);
    if (s != STATUS_OK)
        return s;
    int n = snprintf(options, options_size, "--gpu-architecture=%s -std=c++17 -O3 %s %s%s", arch,
                     defines, mode_flags(request->mode), registers);
    if (n < 0 || (size_t)n >= options_size)
        return error_msg(err, STATUS_LIMIT, "hipRTC's options are too long");
    snprintf(identity, identity_size, "hipRTC %d.%d of %s", rtc->major, rtc->minor,
             hip_library_name());
    return STATUS_OK;
}

/* isophote-hiprtc's words and end, as an error. */
static enum status child_error(const char *arch, int code, const char *log, struct error *err)
{
    if (code < 0)
        return error_msg(err, STATUS_BUILD,
                         "hipRTC broke down (signal %d) compiling for %s, which is what it does "
                         "with an architecture that it does not know; it said: %.300s",
                         -code, arch, log[0] ? log : "nothing");
    return error_msg(err, code == 2 ? STATUS_MISSING : STATUS_BUILD,
                     "hipRTC does not compile the kernel for %s: %.700s", arch,
                     log[0] ? log : "it says nothing");
}

static enum status child_compile(const char *arch, const char *source, const char *object,
                                 const char *folder, struct build_info *info, struct error *err)
{
    char tool[4096], words[sizeof info->options];
    char *argv[ARGUMENTS_MAX] = {tool, (char *)source, (char *)object}, *save = NULL;
    size_t n = 3;
    enum status s = helper_path("isophote-hiprtc", tool, sizeof tool, err);
    if (s != STATUS_OK)
        return s;
    snprintf(words, sizeof words, "%s", info->options);
    for (char *word = strtok_r(words, " ", &save); word && n + 1 < ARGUMENTS_MAX;
         word = strtok_r(NULL, " ", &save))
        argv[n++] = word;
    int code = 0;
    s = child_run(argv, folder, info->log, sizeof info->log, &code, err);
    return s == STATUS_OK && code != 0 ? child_error(arch, code, info->log, err) : s;
}

struct kept_resources hip_resources(const struct gpu_image *image, const char *log)
{
    struct code_object object;
    if (code_object_read(image->data, image->size, &object, NULL) != STATUS_OK)
        return resources_read(log);
    struct kept_resources most = {0};
    for (size_t i = 0; i < object.kernel_count; i++) {
        const struct code_object_kernel *k = &object.kernels[i];
        uint32_t spills = 4 * (k->vgpr_spills + k->sgpr_spills);
        most.registers = k->vgprs > most.registers ? k->vgprs : most.registers;
        most.stack_bytes =
            k->scratch_bytes > most.stack_bytes ? k->scratch_bytes : most.stack_bytes;
        most.spill_bytes = spills > most.spill_bytes ? spills : most.spill_bytes;
    }
    return most;
}

enum status hip_compile(const char *arch, const struct program_request *request, struct arena *a,
                        struct gpu_image *out, struct build_info *info, struct error *err)
{
    char folder[3072], source[3200], object[3200], identity[256];
    struct gpu_image image = {0};
    char *data = NULL;
    TRY(hip_options(arch, request, info->options, sizeof info->options, identity, sizeof identity,
                    err));
    TRY(scratch_make(folder, sizeof folder, err));
    snprintf(source, sizeof source, "%s/kernel.hip", folder);
    snprintf(object, sizeof object, "%s/kernel.hsaco", folder);
    enum status s = file_write(source, request->source, strlen(request->source), err);
    if (s == STATUS_OK)
        s = child_compile(arch, source, object, folder, info, err);
    if (s == STATUS_OK)
        s = file_read(a, object, (size_t)1 << 30, &data, &image.size, err);
    scratch_remove(folder);
    if (s != STATUS_OK)
        return s;
    if (kernel_cache_path(request->source_hash, ".hip", source, sizeof source, NULL) == STATUS_OK)
        file_write(source, request->source, strlen(request->source), NULL); /* to be read */
    image.data = data;
    image.resources = hip_resources(&image, info->log);
    *out = image;
    return STATUS_OK;
}
