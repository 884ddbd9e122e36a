/* SPDX-License-Identifier: Apache-2.0 */
/* The Level Zero driver in software: modules, their logs, kernels. */
#include "ze_driver.h"

#include <stdlib.h>
#include <string.h>

/* ---- modules -------------------------------------------------------------------------------- */

struct build_log {
    char text[4096];
};

static bool is_spirv(const void *data, size_t size)
{
    uint32_t magic = 0;
    if (size >= sizeof magic)
        memcpy(&magic, data, sizeof magic);
    return magic == 0x07230203u;
}

static ze_result_t ZE_APICALL module_create(ze_context_handle_t context, ze_device_handle_t device,
                                            const ze_module_desc_t *desc, ze_module_handle_t *out,
                                            ze_module_build_log_handle_t *log_out)
{
    (void)context, (void)device;
    LOCKED;
    struct module *m = calloc(1, sizeof *m);
    struct build_log *log = calloc(1, sizeof *log);
    struct error err = {0};
    enum status s = m && log ? STATUS_OK : STATUS_MEMORY;
    bool spirv = desc->format == ZE_MODULE_FORMAT_IL_SPIRV;
    if (s == STATUS_OK && spirv != is_spirv(desc->pInputModule, desc->inputSize)) {
        s = error_msg(&err, STATUS_BUILD,
                      "the module is not of the format that it is said to have");
        snprintf(log->text, sizeof log->text, "%s", err.msg);
    }
    if (s == STATUS_OK)
        s = soft_module_load(soft_driver.executor, desc->pInputModule, desc->inputSize, NULL,
                             &m->code, log->text, sizeof log->text, &err);
    if (log_out && log) {
        *log_out = (ze_module_build_log_handle_t)log;
        log = NULL;
    }
    free(log);
    if (s != STATUS_OK) {
        free(m);
        return s == STATUS_BUILD && !spirv ? ZE_RESULT_ERROR_INVALID_NATIVE_BINARY : result_of(s);
    }
    *out = (ze_module_handle_t)m;
    return ZE_RESULT_SUCCESS;
}

void module_release(struct module *m)
{
    if (--m->users == 0 && m->destroyed) {
        soft_module_free(m->code);
        free(m);
    }
}

static ze_result_t ZE_APICALL module_destroy(ze_module_handle_t handle)
{
    LOCKED;
    struct module *m = (struct module *)handle;
    if (m->users == 0) {
        soft_module_free(m->code);
        free(m);
        return ZE_RESULT_SUCCESS;
    }
    m->destroyed = true;
    if (driver_checks(SOFT_FREED))
        soft_finding_add(soft_driver.executor, SOFT_FREED,
                         "a module is destroyed that %zu kernels and queued launches use",
                         m->users);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL module_native(ze_module_handle_t handle, size_t *size, uint8_t *out)
{
    LOCKED;
    const void *data;
    size_t have;
    soft_module_native(((struct module *)handle)->code, &data, &have);
    if (out && *size < have)
        return ZE_RESULT_ERROR_INVALID_SIZE;
    if (out)
        memcpy(out, data, have);
    *size = have;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL module_kernel_names(ze_module_handle_t handle, uint32_t *count,
                                                  const char **names)
{
    LOCKED;
    const struct soft_module *m = ((struct module *)handle)->code;
    uint32_t have = (uint32_t)soft_module_kernel_count(m);
    for (uint32_t i = 0; names && i < *count && i < have; i++)
        names[i] = soft_module_kernel(m, i)->name;
    *count = have;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL module_global(ze_module_handle_t handle, const char *name,
                                            size_t *size, void **out)
{
    LOCKED;
    size_t have = 0;
    void *p = soft_module_variable(((struct module *)handle)->code, name, &have);
    if (!p)
        return ZE_RESULT_ERROR_INVALID_GLOBAL_NAME;
    if (size)
        *size = have;
    if (out)
        *out = p;
    return ZE_RESULT_SUCCESS;
}

void module_table(ze_module_dditable_t *t)
{
    t->pfnCreate = module_create;
    t->pfnDestroy = module_destroy;
    t->pfnGetNativeBinary = module_native;
    t->pfnGetKernelNames = module_kernel_names;
    t->pfnGetGlobalPointer = module_global;
}

static ze_result_t ZE_APICALL log_string(ze_module_build_log_handle_t handle, size_t *size,
                                         char *out)
{
    const struct build_log *log = (const struct build_log *)handle;
    size_t have = strlen(log->text) + 1;
    if (out && *size < have)
        return ZE_RESULT_ERROR_INVALID_SIZE;
    if (out)
        memcpy(out, log->text, have);
    *size = have;
    return ZE_RESULT_SUCCESS;
}
static ze_result_t ZE_APICALL log_destroy(ze_module_build_log_handle_t handle)
{
    free(handle);
    return ZE_RESULT_SUCCESS;
}

void build_log_table(ze_module_build_log_dditable_t *t)
{
    t->pfnDestroy = log_destroy;
    t->pfnGetString = log_string;
}

/* ---- kernels -------------------------------------------------------------------------------- */

static ze_result_t ZE_APICALL kernel_create(ze_module_handle_t handle, const ze_kernel_desc_t *desc,
                                            ze_kernel_handle_t *out)
{
    LOCKED;
    struct module *m = (struct module *)handle;
    const struct soft_kernel *code = soft_module_find(m->code, desc->pKernelName);
    if (!code)
        return ZE_RESULT_ERROR_INVALID_KERNEL_NAME;
    struct kernel *k = calloc(1, sizeof *k);
    struct value *values = calloc(code->argument_count + 1, sizeof *values);
    if (!k || !values) {
        free(k);
        free(values);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    *k = (struct kernel){.module = m, .code = code, .group = {1, 1, 1}, .values = values};
    m->users++;
    *out = (ze_kernel_handle_t)k;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL kernel_destroy(ze_kernel_handle_t handle)
{
    LOCKED;
    struct kernel *k = (struct kernel *)handle;
    for (size_t i = 0; i < k->code->argument_count; i++)
        free(k->values[i].data);
    free(k->values);
    module_release(k->module);
    free(k);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL kernel_group_size(ze_kernel_handle_t handle, uint32_t x, uint32_t y,
                                                uint32_t z)
{
    LOCKED;
    struct kernel *k = (struct kernel *)handle;
    if (x == 0 || y == 0 || z == 0 || x > SOFT_GROUP_MAX || y > SOFT_GROUP_MAX ||
        z > SOFT_GROUP_MAX || (uint64_t)x * y * z > SOFT_GROUP_MAX)
        return ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION;
    k->group[0] = x;
    k->group[1] = y;
    k->group[2] = z;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL kernel_suggest(ze_kernel_handle_t handle, uint32_t x, uint32_t y,
                                             uint32_t z, uint32_t *group_x, uint32_t *group_y,
                                             uint32_t *group_z)
{
    (void)handle, (void)y, (void)z;
    *group_x = 1;
    while (*group_x < 64 && x % (2 * *group_x) == 0)
        *group_x *= 2;
    *group_y = *group_z = 1;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL kernel_argument(ze_kernel_handle_t handle, uint32_t index,
                                              size_t size, const void *data)
{
    LOCKED;
    struct kernel *k = (struct kernel *)handle;
    bool told = driver_checks(SOFT_ARGUMENTS);
    if (index >= k->code->argument_count) {
        if (told)
            soft_finding_add(soft_driver.executor, SOFT_ARGUMENTS,
                             "argument %u of %s, which has %zu", index, k->code->name,
                             k->code->argument_count);
        return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX;
    }
    const struct soft_argument *a = &k->code->arguments[index];
    if (a->kind == SOFT_LOCAL ? size == 0 || data != NULL : size != a->size) {
        if (told)
            soft_finding_add(soft_driver.executor, SOFT_ARGUMENTS,
                             "argument %u of %s has %zu bytes; %zu were set%s", index,
                             k->code->name, a->size, size,
                             a->kind == SOFT_LOCAL && data ? ", with a value" : "");
        return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE;
    }
    unsigned char *copy = NULL;
    if (a->kind != SOFT_LOCAL) { /* no data: a NULL pointer */
        copy = calloc(1, size);
        if (!copy)
            return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
        if (data)
            memcpy(copy, data, size);
    }
    free(k->values[index].data);
    k->values[index] = (struct value){copy, size};
    return ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL kernel_properties(ze_kernel_handle_t handle,
                                                ze_kernel_properties_t *p)
{
    LOCKED;
    const struct kernel *k = (const struct kernel *)handle;
    p->numKernelArgs = (uint32_t)k->code->argument_count;
    p->requiredGroupSizeX = p->requiredGroupSizeY = p->requiredGroupSizeZ = 0;
    p->requiredNumSubGroups = p->requiredSubgroupSize = 0;
    p->maxSubgroupSize = 1;
    p->maxNumSubgroups = soft_kernel_group(soft_driver.executor);
    p->localMemSize = (uint32_t)k->code->local_bytes;
    p->privateMemSize = p->spillMemSize = 0; /* the machine's stack: not known */
    memset(&p->uuid, 0, sizeof p->uuid);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL kernel_name(ze_kernel_handle_t handle, size_t *size, char *out)
{
    const struct kernel *k = (const struct kernel *)handle;
    size_t have = strlen(k->code->name) + 1;
    if (out && *size < have)
        return ZE_RESULT_ERROR_INVALID_SIZE;
    if (out)
        memcpy(out, k->code->name, have);
    *size = have;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL kernel_indirect(ze_kernel_handle_t handle,
                                              ze_kernel_indirect_access_flags_t flags)
{
    (void)handle, (void)flags;
    return ZE_RESULT_SUCCESS;
}

void kernel_table(ze_kernel_dditable_t *t)
{
    t->pfnCreate = kernel_create;
    t->pfnDestroy = kernel_destroy;
    t->pfnSetGroupSize = kernel_group_size;
    t->pfnSuggestGroupSize = kernel_suggest;
    t->pfnSetArgumentValue = kernel_argument;
    t->pfnGetProperties = kernel_properties;
    t->pfnGetName = kernel_name;
    t->pfnSetIndirectAccess = kernel_indirect;
}
