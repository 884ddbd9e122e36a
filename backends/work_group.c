/* The work-group that a device gets where nobody chose one. */
#include "backend_api.h"

void work_group_default(const struct device_info *info, struct launch_settings *s)
{
    uint32_t x = 8, y = 8;
    while ((uint64_t)x * y > info->max_work_group || x > info->max_work_group_axis[0] ||
           y > info->max_work_group_axis[1]) {
        if (x == 1 && y == 1)
            break;
        *(x > y ? &x : &y) /= 2;
    }
    if (s->work_group[0] == 0 || s->work_group[1] == 0) {
        s->work_group[0] = x;
        s->work_group[1] = y;
    }
}
