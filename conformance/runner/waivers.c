/* SPDX-License-Identifier: Apache-2.0 */
#include "waivers.h"

#include "fields.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

int version_compare(const char *a, const char *b)
{
    while (*a || *b) {
        if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
            while (*a == '0')
                a++;
            while (*b == '0')
                b++;
            size_t n = strspn(a, "0123456789"), m = strspn(b, "0123456789");
            if (n != m)
                return n < m ? -1 : 1;
            int c = strncmp(a, b, n);
            if (c)
                return c < 0 ? -1 : 1;
            a += n;
            b += m;
        } else {
            if (*a != *b)
                return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
            a++;
            b++;
        }
    }
    return 0;
}

static bool is_date(const char *s)
{
    static const char shape[] = "dddd-dd-dd";
    if (strlen(s) != sizeof shape - 1)
        return false;
    for (size_t i = 0; shape[i]; i++)
        if (shape[i] == 'd' ? !isdigit((unsigned char)s[i]) : s[i] != '-')
            return false;
    int month = 10 * (s[5] - '0') + s[6] - '0', day = 10 * (s[8] - '0') + s[9] - '0';
    return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

static enum status waiver_read(const char *path, const struct json *v, const char *today,
                               struct waiver *out, struct error *err)
{
    struct waiver w = {0};
    const struct field fields[] = {
        {"device", &w.device, NULL, true},          {"driver_min", &w.driver_min, NULL, false},
        {"driver_max", &w.driver_max, NULL, false}, {"case", &w.test, NULL, true},
        {"reason", &w.reason, NULL, true},          {"expires", &w.expires, NULL, true}};
    enum status s = fields_read(path, v, "a waiver", fields, sizeof fields / sizeof *fields, err);
    if (s != STATUS_OK)
        return s;
    if (!is_date(w.expires))
        return json_error(err, path, json_get(v, "expires"), STATUS_TYPE,
                          "expected a date as 2027-01-31, found \"%s\"", w.expires);
    w.expired = strcmp(w.expires, today) < 0;
    *out = w;
    return STATUS_OK;
}

enum status waivers_read(struct arena *a, const char *path, const char *today, struct waivers *out,
                         struct error *err)
{
    const struct json *list;
    enum status s = fields_list(a, path, "waivers", &list, err);
    if (s != STATUS_OK)
        return s;
    struct waivers w = {ARENA_ARRAY(a, struct waiver, list->count), 0, 0};
    if (!w.list)
        return error_msg(err, STATUS_MEMORY, "out of memory for %zu waivers", list->count);
    for (const struct json *v = list->first; v; v = v->next) {
        if ((s = waiver_read(path, v, today, &w.list[w.count], err)) != STATUS_OK)
            return s;
        w.expired += w.list[w.count++].expired;
    }
    *out = w;
    return STATUS_OK;
}

const struct waiver *waiver_find(const struct waivers *w, const char *device, const char *name,
                                 const char *driver, const char *test)
{
    for (size_t i = 0; i < w->count; i++) {
        const struct waiver *v = &w->list[i];
        if (v->expired || fnmatch(v->test, test, 0) != 0)
            continue;
        if (fnmatch(v->device, device, 0) != 0 && fnmatch(v->device, name, 0) != 0)
            continue;
        if (v->driver_min && version_compare(driver, v->driver_min) < 0)
            continue;
        if (v->driver_max && version_compare(driver, v->driver_max) > 0)
            continue;
        return v;
    }
    return NULL;
}
