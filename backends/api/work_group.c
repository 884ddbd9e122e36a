/* SPDX-License-Identifier: Apache-2.0 */
/* Work-groups: what a device gets where nobody chose one, and what it takes. */
#include "backend_api.h"

void work_group_default(const struct device_info *info, struct launch_settings *s)
{
    if (s->work_group[0] && s->work_group[1])
        return;
    for (int i = 0; i < 2; i++)
        for (s->work_group[i] = 8;
             s->work_group[i] > 1 && s->work_group[i] > info->max_work_group_axis[i];)
            s->work_group[i] /= 2;
    work_group_fit(s->work_group, info->max_work_group ? info->max_work_group : 1);
}

void work_group_fit(uint32_t g[2], uint64_t most)
{
    while (most && (uint64_t)g[0] * g[1] > most)
        g[g[0] > g[1] ? 0 : 1] /= 2;
}

enum status work_group_check(const struct device_info *info, const uint32_t g[2],
                             const char *kernel, uint64_t kernel_most, struct error *err)
{
    unsigned long long items = (unsigned long long)g[0] * g[1];
    if (g[0] > info->max_work_group_axis[0] || g[1] > info->max_work_group_axis[1])
        return error_msg(err, STATUS_UNSUPPORTED,
                         "work-group %ux%u: %s takes at most %u in x and %u in y", g[0], g[1],
                         info->name, info->max_work_group_axis[0], info->max_work_group_axis[1]);
    if (kernel_most && (items > info->max_work_group || items > kernel_most))
        return error_msg(err, STATUS_UNSUPPORTED,
                         "work-group %ux%u has %llu work-items; %s takes at most %u, %s %llu", g[0],
                         g[1], items, info->name, info->max_work_group, kernel,
                         (unsigned long long)kernel_most);
    if (items > info->max_work_group)
        return error_msg(err, STATUS_UNSUPPORTED,
                         "work-group %ux%u has %llu work-items; %s takes at most %u", g[0], g[1],
                         items, info->name, info->max_work_group);
    return STATUS_OK;
}
