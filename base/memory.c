/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory this process may have, asked before any large piece is taken: the system would
 * promise more than there is, and end somebody when it is used. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "base.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define SHARE(bytes) ((bytes) / 10 * 9) /* of what is free: others need some too */

/* ---- what there is -------------------------------------------------------------------------- */

/* The number behind `key` at the start of a line, or (key "") that the file starts with; UINT64_MAX:
 * it holds none, as where a limit is "max". */
static uint64_t number_in(const char *path, const char *key)
{
    char line[256];
    uint64_t found = UINT64_MAX;
    FILE *f = fopen(path, "re");
    while (f && found == UINT64_MAX && fgets(line, sizeof line, f)) {
        size_t n = strlen(key);
        char *end = line + n;
        if (strncmp(line, key, n) != 0)
            continue;
        unsigned long long v = strtoull(line + n, &end, 10);
        if (end != line + n)
            found = v;
    }
    if (f)
        (void)fclose(f);
    return found;
}

static uint64_t resident(void)
{
    uint64_t kib = number_in("/proc/self/status", "VmRSS:");
    return kib == UINT64_MAX ? 0 : kib * 1024;
}

/* What a control group has left, in which files that were read count but can be dropped. */
static uint64_t group_left(const char *folder, const char *limit, const char *use)
{
    char path[PATH_MAX + 128];
    (void)snprintf(path, sizeof path, "%s/%s", folder, limit);
    uint64_t most = number_in(path, "");
    (void)snprintf(path, sizeof path, "%s/%s", folder, use);
    uint64_t used = number_in(path, "");
    (void)snprintf(path, sizeof path, "%s/memory.stat", folder);
    uint64_t dropped = number_in(path, "inactive_file ");
    if (most == UINT64_MAX || used == UINT64_MAX)
        return UINT64_MAX;
    used -= dropped < used ? dropped : 0;
    return used < most ? most - used : 0;
}

/* Of this process' group and all above it, of either version (cgroups(7)). */
static uint64_t groups_left(void)
{
    char line[PATH_MAX], folder[PATH_MAX + 32];
    uint64_t least = UINT64_MAX;
    FILE *f = fopen("/proc/self/cgroup", "re");
    while (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        const bool second = strncmp(line, "0::", 3) == 0;
        char *own = second ? line + 3 : strstr(line, ":memory:");
        if (!own)
            continue;
        own += second ? 0 : strlen(":memory:");
        for (;;) {
            (void)snprintf(folder, sizeof folder, "/sys/fs/cgroup%s%s", second ? "" : "/memory",
                           own);
            uint64_t left =
                second ? group_left(folder, "memory.max", "memory.current")
                       : group_left(folder, "memory.limit_in_bytes", "memory.usage_in_bytes");
            least = left < least ? left : least;
            char *slash = strrchr(own, '/');
            if (!slash || !*own)
                break;
            *slash = '\0';
        }
    }
    if (f)
        (void)fclose(f);
    return least;
}

static uint64_t memory_left(void)
{
    uint64_t kib = number_in("/proc/meminfo", "MemAvailable:"), least = groups_left();
    uint64_t machine = kib == UINT64_MAX
                           ? (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE)
                           : kib * 1024;
    struct rlimit r;
    uint64_t size = number_in("/proc/self/status", "VmSize:");
    if (getrlimit(RLIMIT_AS, &r) == 0 && r.rlim_cur != RLIM_INFINITY && size != UINT64_MAX) {
        uint64_t left = r.rlim_cur > size * 1024 ? r.rlim_cur - size * 1024 : 0;
        least = left < least ? left : least;
    }
    return machine < least ? machine : least;
}

/* ---- what is allowed ------------------------------------------------------------------------ */

static _Atomic uint64_t allowed;

void memory_allow(uint64_t bytes)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%llu", (unsigned long long)bytes);
    atomic_store(&allowed, bytes);
    (void)setenv("ISOPHOTE_MEMORY", text, 1); /* for workers */
}

bool memory_read(const char *text, uint64_t *bytes)
{
    char *end;
    double v = strtod(text, &end);
    const char *units = "KMGT", *unit = *end ? strchr(units, *end) : NULL;
    if (end == text || !(v > 0) || (*end && !unit))
        return false;
    if (unit) {
        for (long i = unit - units; i >= 0; i--)
            v *= 1024;
        end += strcmp(end + 1, "iB") == 0 ? 3 : 1;
    }
    if (*end || !(v >= 1) || !(v < 0x1p62))
        return false;
    *bytes = (uint64_t)v;
    return true;
}

uint64_t memory_allowed(void)
{
    uint64_t bytes = atomic_load(&allowed);
    if (bytes)
        return bytes;
    const char *wish = getenv("ISOPHOTE_MEMORY");
    if (!wish || !memory_read(wish, &bytes))
        bytes = resident() + SHARE(memory_left());
    atomic_store(&allowed, bytes);
    return bytes;
}

uint64_t memory_room(void)
{
    const uint64_t most = memory_allowed(), used = resident();
    return used < most ? most - used : 0;
}

const char *memory_text(uint64_t bytes, char text[32])
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double v = (double)bytes;
    size_t i = 0;
    for (; v >= 1024 && i + 1 < sizeof units / sizeof *units; i++)
        v /= 1024;
    (void)snprintf(text, 32, i ? "%.1f %s" : "%.0f %s", v, units[i]);
    return text;
}

enum status memory_plan_at(uint64_t bytes, struct src_pos at, struct error *err, const char *fmt,
                           ...)
{
    static const uint64_t small = 1 << 20;
    const uint64_t most = bytes < small ? 0 : memory_allowed(), used = most ? resident() : 0;
    if (!most || (used < most && bytes <= most - used))
        return STATUS_OK;
    char what[512], texts[3][32];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    return error_set(
        err, STATUS_LIMIT, at, "%s: %s beside the %s in use, and the limit is %s (--memory)", what,
        memory_text(bytes, texts[0]), memory_text(used, texts[1]), memory_text(most, texts[2]));
}

/* ---- large pieces --------------------------------------------------------------------------- */

void *memory_large(size_t bytes)
{
    const size_t huge = (size_t)2 << 20;
    if (bytes < 4 * huge)
        return aligned_alloc(64, (bytes + 63) & ~(size_t)63);
    void *p = aligned_alloc(huge, (bytes + huge - 1) & ~(huge - 1));
    if (p)
        madvise(p, bytes, MADV_HUGEPAGE); /* a wish: nothing depends on it */
    return p;
}
