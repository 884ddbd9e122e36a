/* SPDX-License-Identifier: Apache-2.0 */
/* Code path llvm: the kernel as SPIR-V, through clCreateProgramWithIL (OpenCL 2.1) or
 * clCreateProgramWithILKHR (cl_khr_il_program). */
#include "opencl.h"

#include <stdlib.h>
#include <string.h>

typedef cl_program(CL_API_CALL *create_with_il)(cl_context context, const void *il, size_t size,
                                                cl_int *code);

/* Not among the functions that every loader has: asked for when needed. */
static create_with_il creator_find(const struct backend *b)
{
    static const char prefix[] = "OpenCL ";
    void *f = NULL;
    double version = strncmp(b->platform_version, prefix, sizeof prefix - 1) == 0
                         ? strtod(b->platform_version + sizeof prefix - 1, NULL)
                         : 0.0;
    if (version >= 2.1)
        f = cl_symbol("clCreateProgramWithIL");
    if (!f)
        f = b->cl->GetExtensionFunctionAddressForPlatform(b->platform, "clCreateProgramWithILKHR");
    create_with_il out;
    memcpy(&out, &f, sizeof out);
    return out;
}

enum status opencl_program_from_spirv(const struct backend *b, const void *spirv, size_t size,
                                      cl_program *out, struct error *err)
{
    if (!b->info.spirv)
        return error_msg(err, STATUS_UNSUPPORTED,
                         "%s takes no SPIR-V, which code path llvm needs; code path source it has",
                         b->info.name);
    create_with_il create = creator_find(b);
    if (!create)
        return error_msg(err, STATUS_UNSUPPORTED,
                         "%s says it takes SPIR-V, but has no "
                         "clCreateProgramWithIL",
                         b->info.name);
    cl_int code;
    *out = create(b->context, spirv, size, &code);
    if (code == CL_SUCCESS)
        return STATUS_OK;
    *out = NULL;
    return cl_error(err, code, "clCreateProgramWithIL");
}
