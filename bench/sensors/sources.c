/* SPDX-License-Identifier: Apache-2.0 */
/* What sources of sensors share. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* strcasestr */
#endif
#include "source.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *sensor_place(const char *variable, const char *otherwise)
{
    const char *s = getenv(variable);
    return s && *s ? s : otherwise;
}

const char *sys_folder(void) { return sensor_place("ISOPHOTE_SYS", "/sys"); }

bool sensor_vendor_is(const struct device_info *d, const char *word)
{
    return strcasestr(d->vendor, word) != NULL;
}

bool sys_word(const char *folder, const char *file, char *buf, size_t size)
{
    char path[640];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *f = fopen(path, "re");
    bool ok = f && fgets(buf, (int)size, f);
    int code = errno; /* of fopen or fgets, not of fclose */
    if (f)
        fclose(f);
    errno = code;
    if (ok)
        buf[strcspn(buf, "\n")] = '\0';
    return ok;
}

bool sys_number(const char *folder, const char *file, uint64_t *out)
{
    char buf[64], *end = buf;
    if (!sys_word(folder, file, buf, sizeof buf))
        return false;
    errno = EINVAL;
    unsigned long long v = strtoull(buf, &end, 10);
    if (end == buf)
        return false;
    *out = v;
    return true;
}

bool sensor_library(const char *what, const char *file, const struct symbol *symbols, size_t count,
                    void *functions, char *why, size_t size)
{
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(why, size, "%s cannot be loaded: %s", what, dlerror());
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        void *at = dlsym(library, symbols[i].name);
        if (!at && symbols[i].needed) {
            snprintf(why, size, "%s: it lacks %s", file, symbols[i].name);
            return false;
        }
        memcpy((char *)functions + symbols[i].offset, &at, sizeof at);
    }
    return true;
}

/* ---- which card --------------------------------------------------------------------------- */

/* Both as hexadecimal digits, whatever stands between them. */
static bool uuid_is(const char *text, const unsigned char id[16])
{
    char hex[33];
    size_t n = 0;
    for (size_t i = 0; i < 16; i++)
        snprintf(hex + 2 * i, 3, "%02x", id[i]);
    for (; *text; text++)
        if (*text != '-' && (n == 32 || *text != hex[n++]))
            return false;
    return n == 32;
}

bool sensor_card(const char *what, const struct card *cards, size_t count,
                 const struct device_info *d, size_t *found, char *why, size_t size)
{
    static const unsigned char none[16] = {0};
    size_t named = 0, told = 0;
    for (size_t i = 0; i < count; i++) {
        const bool has = memcmp(cards[i].uuid, none, sizeof none) != 0;
        told += has;
        if (d->uuid[0] && has && uuid_is(d->uuid, cards[i].uuid)) {
            *found = i;
            return true;
        }
        if (strcmp(cards[i].name, d->name) == 0) {
            *found = i;
            named++;
        }
    }
    if (d->uuid[0] && count && told == count)
        snprintf(why, size, "%s: none of its %zu cards has the UUID %s", what, count, d->uuid);
    else if (named == 1)
        return true;
    else if (named)
        snprintf(why, size, "%s: %zu cards are named '%.80s', and which of them this is, is open",
                 what, named, d->name);
    else
        snprintf(why, size, "%s: none of its %zu cards is named '%.80s'", what, count, d->name);
    return false;
}
