/* SPDX-License-Identifier: Apache-2.0 */
#include "hip_llvm.h"

#include "api/offers.h"
#include "code_object.h"
#include "hip_compile.h"
#include "llvm/offers.h"

#include <stdlib.h>
#include <string.h>

/* What a request needs of LLVM. */
struct amd_job {
    const struct llvm_api *api;
    struct llvm_machine_choice machine;
    struct kernel_parts parts;
};

bool hip_arch_is_amd(const char *arch) { return strncmp(arch, "gfx", 3) == 0; }

/* The library that is asked for; where nothing is asked for and it does not know the architecture,
 * the newer one. */
static enum status machine_find(struct amd_job *job, const char *arch, uint32_t registers,
                                struct error *err)
{
    const char *problem, *wanted = getenv("ISOPHOTE_LLVM");
    job->api = llvm_load(&problem);
    if (!job->api)
        return error_msg(err, STATUS_UNSUPPORTED, "%s", problem);
    enum status s = llvm_amdgpu_machine(job->api, arch, registers, &job->machine, err);
    if (s == STATUS_OK || job->api->version >= 19 || (wanted && *wanted))
        return s;
    job->api = llvm_load_version(19, &problem);
    if (!job->api)
        return error_msg(err, STATUS_UNSUPPORTED,
                         "LLVM 15 does not know the architecture %.40s, and 19 is not here: %.300s",
                         arch, problem);
    return llvm_amdgpu_machine(job->api, arch, registers, &job->machine, err);
}

static enum status job_make(const char *arch, const struct program_request *request,
                            struct amd_job *job, struct error *err)
{
    *job = (struct amd_job){0};
    if (!hip_arch_is_amd(arch))
        return error_msg(err, STATUS_UNSUPPORTED,
                         "code path llvm of HIP is for AMD's architectures, not for \"%s\"", arch);
    enum status s = machine_find(job, arch, request->registers, err);
    return s == STATUS_OK ? kernel_parts_find(KERNEL_AMDGCN, request, &job->parts, err) : s;
}

enum status hip_llvm_options(const char *arch, const struct program_request *request, char *options,
                             size_t options_size, char *identity, size_t identity_size,
                             struct error *err)
{
    struct amd_job job;
    enum status s = job_make(arch, request, &job, err);
    if (s != STATUS_OK)
        return s;
    snprintf(options, options_size, "bitcode %.8s, %s, part %d, default<O3>, amdgpu-num-vgpr %u",
             job.parts.hash, math_mode_name(request->mode), (int)request->part, request->registers);
    kernel_parts_free(&job.parts);
    snprintf(identity, identity_size, "%s for %s", job.api->path, job.machine.cpu);
    return STATUS_OK;
}

/* Older linkers know older code object ABIs: one of LLVM 14 cannot link what LLVM 19 makes. */
static bool linker_is_too_old(int code, const struct build_info *info)
{
    return code != 0 && strstr(info->log, "unknown abi version");
}

/* ld.lld: LLVM's library has none, and a code object is a shared object. */
static enum status object_link(unsigned version, const char *object, const char *out,
                               struct build_info *info, struct error *err)
{
    char versioned[16];
    const char *wanted = getenv("ISOPHOTE_LLD");
    snprintf(versioned, sizeof versioned, "ld.lld-%u", version);
    const char *const names[] = {wanted && *wanted ? wanted : versioned, "ld.lld",
                                 "/opt/rocm/llvm/bin/ld.lld"};
    const size_t count = wanted && *wanted ? 1 : sizeof names / sizeof names[0];
    const char *too_old = NULL;
    enum status s = STATUS_MISSING;
    int code = 0;
    for (size_t i = 0; s == STATUS_MISSING && i < count; i++) {
        char *const argv[] = {(char *)names[i],
                              (char *)"-shared",
                              (char *)"--no-undefined",
                              (char *)object,
                              (char *)"-o",
                              (char *)out,
                              NULL};
        s = child_run(argv, NULL, info->log, sizeof info->log, &code, err);
        if (s == STATUS_OK && linker_is_too_old(code, info)) {
            too_old = names[i];
            s = STATUS_MISSING;
        }
    }
    if (s == STATUS_MISSING)
        return error_msg(err, s,
                         "no %s, which makes code objects%s%s%s; on Debian: apt-get install lld-%u",
                         names[0], too_old ? " (" : "", too_old ? too_old : "",
                         too_old ? " is too old)" : "", version);
    if (s == STATUS_OK && code != 0)
        return error_msg(err, STATUS_BUILD, "%s does not link the kernel (%d): %.500s", names[0],
                         code, info->log);
    return s;
}

/* A relocatable object to a code object, through files. */
static enum status image_make(unsigned version, const char *object, size_t size, struct arena *a,
                              struct gpu_image *out, struct build_info *info, struct error *err)
{
    char folder[3072], in[3200], linked[3200], *data = NULL;
    TRY(scratch_make(folder, sizeof folder, err));
    snprintf(in, sizeof in, "%s/kernel.o", folder);
    snprintf(linked, sizeof linked, "%s/kernel.hsaco", folder);
    enum status s = file_write(in, object, size, err);
    if (s == STATUS_OK)
        s = object_link(version, in, linked, info, err);
    if (s == STATUS_OK)
        s = file_read(a, linked, (size_t)1 << 30, &data, &out->size, err);
    scratch_remove(folder);
    out->data = data;
    return s;
}

enum status hip_llvm_compile(const char *arch, const struct program_request *request,
                             struct arena *a, struct gpu_image *out, struct build_info *info,
                             struct error *err)
{
    struct amd_job job;
    struct gpu_image image = {0};
    const char *keep[ENTRY_COUNT + 1];
    char identity[512], *object = NULL;
    size_t size;
    enum status s = hip_llvm_options(arch, request, info->options, sizeof info->options, identity,
                                     sizeof identity, err);
    if (s == STATUS_OK)
        s = job_make(arch, request, &job, err);
    if (s != STATUS_OK)
        return s;
    kernel_entries_of(request, keep);
    s = llvm_compile(job.api, &job.machine, job.parts.at, job.parts.count, keep, &object, &size,
                     err);
    kernel_parts_free(&job.parts);
    if (s == STATUS_OK)
        s = image_make(job.api->version, object, size, a, &image, info, err);
    free(object);
    if (s != STATUS_OK)
        return s;
    image.resources = hip_resources(&image, info->log);
    *out = image;
    return STATUS_OK;
}
