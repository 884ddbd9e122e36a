/* SPDX-License-Identifier: Apache-2.0 */
/* hipRTC of the HIP runtime in software: clang-15 as a child process. */
#include "hip_runtime.h"

#include "api/offers.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

#define X(member, name, result, parameters) EXPORT result hiprtc_##member parameters __asm__(name);
HIPRTC_FUNCTIONS(X)
#undef X

enum { RTC_OUT_OF_MEMORY = 1, RTC_INVALID_INPUT = 3, RTC_INVALID_OPTION = 5, RTC_COMPILATION = 6 };
enum { OPTIONS_MAX = 48, LOG_SIZE = 16384 };

/* device/prelude.h, as text. */
extern const char hip_prelude[];

struct hiprtc_program_s {
    char *source;
    struct arena arena;
    char *code; /* struct soft_code and bitcode */
    size_t code_size;
    char log[LOG_SIZE];
};

/* Are checks asked for? They judge what the program says: an optimiser makes loads out of copies,
 * and drops accesses. */
static bool checked(void)
{
    const char *checks = getenv("ISOPHOTE_SOFT_CHECKS");
    return checks && checks[0];
}

/* Clang's; what compiles otherwise for checks is another version, so that callers which keep its
 * code tell the two apart. */
hiprtc_result hiprtc_Version(int *major, int *minor)
{
    *major = 15;
    *minor = checked() ? 1 : 0;
    return 0;
}
const char *hiprtc_GetErrorString(hiprtc_result code)
{
    return code == 0                    ? "HIPRTC_SUCCESS"
           : code == RTC_OUT_OF_MEMORY  ? "HIPRTC_ERROR_OUT_OF_MEMORY"
           : code == RTC_INVALID_INPUT  ? "HIPRTC_ERROR_INVALID_INPUT"
           : code == RTC_INVALID_OPTION ? "HIPRTC_ERROR_INVALID_OPTION"
           : code == RTC_COMPILATION    ? "HIPRTC_ERROR_COMPILATION"
                                        : "HIPRTC_ERROR_INTERNAL_ERROR";
}
hiprtc_result hiprtc_CreateProgram(hiprtc_program *program, const char *source, const char *name,
                                   int headers, const char **header_sources,
                                   const char **header_names)
{
    (void)name;
    (void)header_sources;
    (void)header_names;
    if (!source || headers != 0)
        return RTC_INVALID_INPUT;
    struct hiprtc_program_s *p = calloc(1, sizeof *p);
    if (p)
        p->source = strdup(source);
    if (!p || !p->source) {
        free(p);
        return RTC_OUT_OF_MEMORY;
    }
    *program = p;
    return 0;
}
hiprtc_result hiprtc_DestroyProgram(hiprtc_program *program)
{
    free((*program)->source);
    arena_free(&(*program)->arena);
    free(*program);
    *program = NULL;
    return 0;
}

/* What concerns AMD's code generator alone is dropped: x86-64 rounds roots and quotients correctly
 * and keeps subnormals. */
static bool option_take(const char *option, const char **out)
{
    static const char *const dropped[] = {
        "--gpu-architecture=", "-fhip-fp32-correctly-rounded-divide-sqrt",
        "-fno-hip-fp32-correctly-rounded-divide-sqrt", "-fgpu-flush-denormals-to-zero",
        "-fno-gpu-flush-denormals-to-zero"};
    static const char *const taken[] = {"-D", "-O", "-std=", "-ffp-contract=", "-f", "-w",
                                        "-W", "-g", "-U"};
    *out = NULL;
    for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++)
        if (strncmp(option, dropped[i], strlen(dropped[i])) == 0)
            return true;
    for (size_t i = 0; i < sizeof taken / sizeof *taken && !*out; i++)
        if (strncmp(option, taken[i], strlen(taken[i])) == 0)
            *out = option;
    return *out != NULL;
}

/* Runs clang over files in `folder`; the bitcode is then in folder/kernel.bc. */
static hiprtc_result clang_run(struct hiprtc_program_s *p, const char *folder, int options,
                               const char **option)
{
    static const char *const fixed[] = {"-x",
                                        "cuda",
                                        "--cuda-gpu-arch=sm_60",
                                        "--cuda-device-only",
                                        "-nocudainc",
                                        "-nocudalib",
                                        "-emit-llvm",
                                        "-c",
                                        "-w",
                                        "-include",
                                        "prelude.h"};
    const char *clang = getenv("ISOPHOTE_SOFT_CLANG"), *taken;
    char *argv[OPTIONS_MAX + 24];
    char place[4200], source[4200], object[4200];
    size_t n = 0;
    struct error err = {0};
    int code = 0;
    snprintf(place, sizeof place, "-I%s", folder);
    snprintf(source, sizeof source, "%s/kernel.hip", folder);
    snprintf(object, sizeof object, "%s/kernel.bc", folder);
    argv[n++] = (char *)(clang && clang[0] ? clang : "clang-15");
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        argv[n++] = (char *)fixed[i];
    for (int i = 0; i < options; i++) {
        if (i >= OPTIONS_MAX || !option_take(option[i], &taken)) {
            snprintf(p->log, sizeof p->log, "unknown option %s", option[i]);
            return RTC_INVALID_OPTION;
        }
        if (taken && checked() && strncmp(taken, "-O", 2) == 0)
            taken = NULL;
        if (taken)
            argv[n++] = (char *)taken;
    }
    if (checked()) {
        argv[n++] = (char *)"-O0";
        argv[n++] = (char *)"-Xclang";
        argv[n++] = (char *)"-disable-O0-optnone";
    }
    argv[n++] = place;
    argv[n++] = source;
    argv[n++] = (char *)"-o";
    argv[n++] = object;
    argv[n] = NULL;
    if (child_run(argv, folder, p->log, sizeof p->log, &code, &err) != STATUS_OK) {
        snprintf(p->log, sizeof p->log, "%s (apt-get install clang-15)", err.msg);
        return RTC_COMPILATION;
    }
    return code == 0 ? 0 : RTC_COMPILATION;
}

static hiprtc_result code_take(struct hiprtc_program_s *p, const char *path)
{
    struct soft_code head = {.magic = "SOFTHIP"};
    struct error err = {0};
    char *bitcode;
    size_t size;
    head.magic[7] = '1';
    if (file_read(&p->arena, path, (size_t)1 << 30, &bitcode, &size, &err) != STATUS_OK) {
        snprintf(p->log, sizeof p->log, "%s", err.msg);
        return RTC_COMPILATION;
    }
    p->code = arena_alloc(&p->arena, sizeof head + size, 1, 0);
    if (!p->code)
        return RTC_OUT_OF_MEMORY;
    head.size = size;
    memcpy(p->code, &head, sizeof head);
    memcpy(p->code + sizeof head, bitcode, size);
    p->code_size = sizeof head + size;
    return 0;
}

hiprtc_result hiprtc_CompileProgram(hiprtc_program p, int options, const char **option)
{
    static const char *const names[] = {"prelude.h", "kernel.hip", "kernel.bc"};
    const char *const texts[] = {hip_prelude, p->source};
    const char *fault = getenv("ISOPHOTE_SOFT_HIP_FAULT");
    char folder[3072], path[3200];
    struct error err = {0};
    if (fault && strcmp(fault, "compiler") == 0)
        raise(SIGABRT); /* as ROCm 5.2's does with an architecture it does not know */
    if (scratch_make(folder, sizeof folder, &err) != STATUS_OK) {
        snprintf(p->log, sizeof p->log, "%s", err.msg);
        return RTC_COMPILATION;
    }
    hiprtc_result code = 0;
    for (int i = 0; i < 2 && code == 0; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        if (file_write(path, texts[i], strlen(texts[i]), &err) != STATUS_OK) {
            snprintf(p->log, sizeof p->log, "%s", err.msg);
            code = RTC_COMPILATION;
        }
    }
    if (code == 0)
        code = clang_run(p, folder, options, option);
    snprintf(path, sizeof path, "%s/%s", folder, names[2]);
    if (code == 0)
        code = code_take(p, path);
    scratch_remove(folder);
    return code;
}
hiprtc_result hiprtc_GetProgramLogSize(hiprtc_program p, size_t *size)
{
    *size = strlen(p->log) + 1;
    return 0;
}
hiprtc_result hiprtc_GetProgramLog(hiprtc_program p, char *log)
{
    memcpy(log, p->log, strlen(p->log) + 1);
    return 0;
}
hiprtc_result hiprtc_GetCodeSize(hiprtc_program p, size_t *size)
{
    *size = p->code_size;
    return 0;
}
hiprtc_result hiprtc_GetCode(hiprtc_program p, char *code)
{
    memcpy(code, p->code, p->code_size);
    return 0;
}
