/* SPDX-License-Identifier: Apache-2.0 */
#include "skips.h"

#include "fields.h"

#include <fnmatch.h>

static enum status skip_read(const char *path, const struct json *v, struct skip *out,
                             struct error *err)
{
    struct skip k = {.at_most = -1};
    const struct field fields[] = {{"device", &k.device, NULL, true},
                                   {"case", &k.test, NULL, true},
                                   {"reason", &k.reason, NULL, true},
                                   {"at_most", NULL, &k.at_most, false}};
    enum status s = fields_read(path, v, "a skip", fields, sizeof fields / sizeof *fields, err);
    if (s == STATUS_OK)
        *out = k;
    return s;
}

enum status skips_read(struct arena *a, const char *path, struct skips *out, struct error *err)
{
    const struct json *list;
    enum status s = fields_list(a, path, "skips", &list, err);
    if (s != STATUS_OK)
        return s;
    struct skips k = {ARENA_ARRAY(a, struct skip, list->count), 0};
    if (!k.list)
        return error_msg(err, STATUS_MEMORY, "out of memory for %zu skips", list->count);
    for (const struct json *v = list->first; v; v = v->next)
        if ((s = skip_read(path, v, &k.list[k.count++], err)) != STATUS_OK)
            return s;
    *out = k;
    return STATUS_OK;
}

const struct skip *skip_find(const struct skips *k, const char *device, const char *test,
                             const char *reason)
{
    for (size_t i = 0; i < k->count; i++)
        if (fnmatch(k->list[i].device, device, 0) == 0 && fnmatch(k->list[i].test, test, 0) == 0 &&
            fnmatch(k->list[i].reason, reason, 0) == 0)
            return &k->list[i];
    return NULL;
}
