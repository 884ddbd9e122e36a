/* SPDX-License-Identifier: Apache-2.0 */
/* What the driver's compiler made, kept on disk: the kernel's programs and those beside it. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* environ */
#endif
#include "opencl.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Settings from the environment that steer a driver's compiler (Intel: CL_CONFIG_, PoCL: POCL_). */
static bool environment_matters(const char *setting)
{
    return strncmp(setting, "CL_CONFIG_", 10) == 0 ||
           (strncmp(setting, "POCL_", 5) == 0 && strncmp(setting, "POCL_CACHE_DIR=", 15) != 0);
}

void opencl_kept_key(const struct backend *b, struct opencl_kept *k, const char *source_hash,
                     const char *options, const void *spirv, size_t size)
{
    struct hash *h = hash_open();
    const char *const parts[] = {"opencl program 2", source_hash,        options,
                                 b->info.name,       b->info.vendor,     b->info.driver,
                                 b->info.version,    b->platform_version};
    *k = (struct opencl_kept){.bytes = 0};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        hash_add(h, parts[i], strlen(parts[i]) + 1);
    if (spirv)
        hash_add(h, spirv, size);
    for (char **setting = environ; *setting; setting++)
        if (environment_matters(*setting))
            hash_add(h, *setting, strlen(*setting) + 1);
    hash_close(h, k->key);
}

cl_program opencl_kept_take(const struct backend *b, struct opencl_kept *k, const char *options)
{
    struct arena a = {0};
    const void *data;
    size_t size;
    char path[4096];
    cl_program program = NULL;
    if (kernel_cache_path(k->key, ".clbin", path, sizeof path, NULL) == STATUS_OK &&
        kept_read(&a, path, k->key, &data, &size, &k->resources)) {
        const unsigned char *binary = data;
        cl_int status = CL_SUCCESS, code;
        program = b->cl->CreateProgramWithBinary(b->context, 1, &b->device, &size, &binary, &status,
                                                 &code);
        if (code != CL_SUCCESS || status != CL_SUCCESS ||
            b->cl->BuildProgram(program, 1, &b->device, options, NULL, NULL) != CL_SUCCESS) {
            if (program)
                b->cl->ReleaseProgram(program);
            program = NULL;
        }
    }
    k->bytes = program ? size : 0;
    arena_free(&a);
    return program;
}

int opencl_kept_lock(const struct opencl_kept *k)
{
    char path[4096];
    return kernel_cache_path(k->key, ".clbin", path, sizeof path, NULL) == STATUS_OK
               ? cache_lock(path, k->key)
               : -1;
}

void opencl_kept_put(const struct backend *b, struct opencl_kept *k, cl_program program)
{
    size_t size = 0;
    char path[4096];
    if (kernel_cache_path(k->key, ".clbin", path, sizeof path, NULL) != STATUS_OK ||
        b->cl->GetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL) !=
            CL_SUCCESS ||
        size <= k->bytes)
        return;
    unsigned char *binary = malloc(size);
    if (binary && b->cl->GetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary,
                                        (void *)&binary, NULL) == CL_SUCCESS)
        kept_write(path, k->key, binary, size, &k->resources);
    free(binary);
    k->bytes = size;
}

/* PoCL compiles each shape of work-group when it is first launched, into the folder of its files,
 * and a program's binary is what was there when it was first asked for. So another program of the
 * same text, which PoCL finds compiled, is asked, and kept if it holds more. */
void opencl_kept_again(const struct backend *b, struct opencl_kept *k, const char *source,
                       const char *options)
{
    cl_int code = CL_SUCCESS;
    if (!b->compiles_shapes || !k->bytes)
        return;
    cl_program all = b->cl->CreateProgramWithSource(b->context, 1, &source, NULL, &code);
    if (code != CL_SUCCESS)
        return;
    if (b->cl->BuildProgram(all, 1, &b->device, options, NULL, NULL) == CL_SUCCESS)
        opencl_kept_put(b, k, all);
    b->cl->ReleaseProgram(all);
}
