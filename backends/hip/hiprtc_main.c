/* SPDX-License-Identifier: Apache-2.0 */
/* isophote-hiprtc SOURCE OBJECT OPTION...: hipRTC as a program, so that what breaks inside it
 * breaks a process of its own. The library is found as the HIP back end finds it. Standard error
 * gets the compiler's log. Exit status 1: SOURCE does not compile; 2: it could not be tried. */
#include "hip_api.h"

#include <stdlib.h>

static int fail(int status, const char *text)
{
    fprintf(stderr, "isophote-hiprtc: %s\n", text);
    return status;
}

static void log_print(const struct hiprtc_api *rtc, hiprtc_program program)
{
    size_t size = 0;
    char *log = NULL;
    if (rtc->GetProgramLogSize(program, &size) == 0 && size > 1)
        log = calloc(size + 1, 1);
    if (log && rtc->GetProgramLog(program, log) == 0)
        fprintf(stderr, "%s\n", log);
    free(log);
}

static int object_write(const struct hiprtc_api *rtc, hiprtc_program program, const char *path)
{
    struct error err = {0};
    size_t size = 0;
    hiprtc_result code = rtc->GetCodeSize(program, &size);
    char *object = code == 0 && size > 0 ? malloc(size) : NULL;
    if (object)
        code = rtc->GetCode(program, object);
    int status = 0;
    if (!object || code != 0)
        status = fail(1, "hipRTC gives no code object");
    else if (file_write(path, object, size, &err) != STATUS_OK)
        status = fail(2, err.msg);
    free(object);
    return status;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return fail(2, "usage: isophote-hiprtc SOURCE OBJECT OPTION...");
    const char *why;
    const struct hiprtc_api *rtc = hiprtc_load(&why);
    if (!rtc)
        return fail(2, why);
    struct arena a = {0};
    struct error err = {0};
    char *source;
    size_t size;
    if (file_read(&a, argv[1], (size_t)1 << 30, &source, &size, &err) != STATUS_OK)
        return fail(2, err.msg);
    hiprtc_program program = NULL;
    hiprtc_result code = rtc->CreateProgram(&program, source, "kernel.hip", 0, NULL, NULL);
    if (code == 0)
        code = rtc->CompileProgram(program, argc - 3, (const char **)argv + 3);
    log_print(rtc, program);
    int status =
        code == 0 ? object_write(rtc, program, argv[2]) : fail(1, rtc->GetErrorString(code));
    if (program)
        rtc->DestroyProgram(&program);
    arena_free(&a);
    return status;
}
