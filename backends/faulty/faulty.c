/* SPDX-License-Identifier: Apache-2.0 */
/* `faulty:NAME`: the native device with one mistake compiled in. Everything else is native's. */
#include "native/native.h"

#include <string.h>

static enum status enumerate(void (*found)(void *ctx, const struct device_info *),
                             void (*problem)(void *ctx, const char *text), void *ctx,
                             struct error *err)
{
    struct device_info d;
    struct error why = {0};
    size_t count;
    const struct fault *faults = faults_list(&count);
    (void)err;
    if (native_describe("faulty", &d, &why) != STATUS_OK) {
        problem(ctx, why.msg);
        return STATUS_OK;
    }
    for (size_t i = 0; i < count; i++) {
        snprintf(d.id, sizeof d.id, "faulty:%s", faults[i].name);
        snprintf(d.api, sizeof d.api, "faulty");
        snprintf(d.name, sizeof d.name, "mistake: %s", faults[i].name);
        found(ctx, &d);
    }
    return STATUS_OK;
}

static enum status open(const struct device_info *info, struct backend **out, struct error *err)
{
    const char *name = strchr(info->id, ':');
    size_t count;
    const struct fault *faults = faults_list(&count);
    for (size_t i = 0; name && i < count; i++)
        if (strcmp(faults[i].name, name + 1) == 0)
            return native_open(faults[i].name, out, err);
    return error_msg(err, STATUS_MISSING, "no mistake is called %s", info->id);
}

const struct backend_api faulty_api = {
    .name = "faulty",
    .test_only = true,
    .keeps_host_memory = true,
    .enumerate = enumerate,
    .open = open,
    NATIVE_FUNCTIONS,
};
