/* SPDX-License-Identifier: Apache-2.0 */
/* A processor, by what Linux tells in /sys: cpufreq, the counters of thermal throttling, hwmon,
 * cooling devices (docs.kernel.org/admin-guide/pm/cpufreq, hwmon/sysfs-interface,
 * driver-api/thermal/sysfs-api) and the quota of a container (admin-guide/cgroup-v2). */
#include "source.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum row_kind {
    ROW_CLOCK,       /* kHz */
    ROW_TEMPERATURE, /* thousandths of a degree */
    ROW_ALARM,       /* above 0 while something is so */
    ROW_COUNTER      /* of times that something was so */
};
struct row {
    char path[256];
    const char *key; /* of a file with several lines "KEY NUMBER"; NULL: the file is the number */
    enum row_kind kind;
    enum throttle reason; /* of alarms and counters */
    int64_t begin;        /* of a counter */
};
struct host {
    struct row *rows;
    size_t count, cap, clocks;
    bool failed; /* out of memory */
};

enum { CLOCKS_MOST = 8 }; /* processors whose clocks are read: each reading disturbs one a little */

static bool row_read(const struct row *r, int64_t *out)
{
    char line[128], *end = line;
    FILE *f = fopen(r->path, "re");
    bool found = false;
    while (f && !found && fgets(line, sizeof line, f)) {
        const size_t n = r->key ? strlen(r->key) : 0;
        if (n && (strncmp(line, r->key, n) != 0 || line[n] != ' '))
            continue;
        const long long v = strtoll(line + n, &end, 10);
        found = end != line + n;
        *out = v;
        if (!r->key)
            break;
    }
    if (f)
        fclose(f);
    return found;
}

/* Of what is there and can be read. */
__attribute__((format(printf, 5, 6))) static void row_add(struct host *h, enum row_kind kind,
                                                          enum throttle reason, const char *key,
                                                          const char *format, ...)
{
    struct row r = {.kind = kind, .reason = reason, .key = key};
    int64_t value;
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(r.path, sizeof r.path, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof r.path || !row_read(&r, &value))
        return;
    if (h->count == h->cap) {
        const size_t cap = h->cap ? 2 * h->cap : 64;
        struct row *more = realloc(h->rows, cap * sizeof *more);
        if (!more) {
            h->failed = true;
            return;
        }
        h->rows = more;
        h->cap = cap;
    }
    h->rows[h->count++] = r;
}

/* ---- what there is ------------------------------------------------------------------------ */

static void add_processor(struct host *h, const char *folder)
{
    static const struct {
        const char *file;
        enum throttle reason;
    } counters[] = {{"core_throttle_count", THROTTLE_HEAT},
                    {"package_throttle_count", THROTTLE_HEAT},
                    {"core_power_limit_count", THROTTLE_POWER},
                    {"package_power_limit_count", THROTTLE_POWER}};
    const size_t before = h->count;
    if (h->clocks < CLOCKS_MOST)
        row_add(h, ROW_CLOCK, 0, NULL, "%s/cpufreq/scaling_cur_freq", folder);
    h->clocks += h->count - before;
    for (size_t k = 0; k < sizeof counters / sizeof *counters; k++)
        row_add(h, ROW_COUNTER, counters[k].reason, NULL, "%s/thermal_throttle/%s", folder,
                counters[k].file);
}

/* What stands in folder/file begins with one of the words. */
static bool is_one_of(const char *folder, const char *file, const char *const *words)
{
    char name[64];
    if (!sys_word(folder, file, name, sizeof name))
        return false;
    for (; *words; words++)
        if (strncmp(name, *words, strlen(*words)) == 0)
            return true;
    return false;
}

/* A chip that measures a processor. */
static void add_chip(struct host *h, const char *folder)
{
    static const char *const chips[] = {"coretemp", "k10temp", "zenpower", "cpu_thermal", NULL};
    if (!is_one_of(folder, "name", chips))
        return;
    for (int i = 1; i <= 64; i++) {
        row_add(h, ROW_TEMPERATURE, 0, NULL, "%s/temp%d_input", folder, i);
        row_add(h, ROW_ALARM, THROTTLE_HEAT, NULL, "%s/temp%d_crit_alarm", folder, i);
    }
    row_add(h, ROW_ALARM, THROTTLE_POWER, NULL, "%s/power1_cap_alarm", folder);
}

/* The kernel slows processors down to cool them. */
static void add_cooling(struct host *h, const char *folder)
{
    static const char *const types[] = {"Processor", "thermal-cpufreq", "cpufreq",
                                        "intel_powerclamp", NULL};
    if (is_one_of(folder, "type", types))
        row_add(h, ROW_ALARM, THROTTLE_HEAT, NULL, "%s/cur_state", folder);
}

/* Each folder of that name with a number behind it. */
static void each(struct host *h, const char *place, const char *name,
                 void (*add)(struct host *h, const char *folder))
{
    char path[200];
    if ((size_t)snprintf(path, sizeof path, "%s/%s", sys_folder(), place) >= sizeof path)
        return;
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));) {
        char folder[sizeof path + 64];
        const size_t n = strlen(name);
        if (strncmp(e->d_name, name, n) == 0 && e->d_name[n] >= '0' && e->d_name[n] <= '9' &&
            (size_t)snprintf(folder, sizeof folder, "%s/%s", path, e->d_name) < sizeof folder)
            add(h, folder);
    }
    if (d)
        closedir(d);
}

/* ---- the source --------------------------------------------------------------------------- */

static bool fits(const struct device_info *d) { return d->kind == DEVICE_CPU; }

static void host_close(void *state)
{
    struct host *h = state;
    free(h->rows);
    free(h);
}

static void *host_open(const struct device_info *d, char *why, size_t size)
{
    struct host *h = calloc(1, sizeof *h);
    (void)d;
    if (h) {
        each(h, "devices/system/cpu", "cpu", add_processor);
        each(h, "class/hwmon", "hwmon", add_chip);
        each(h, "class/thermal", "cooling_device", add_cooling);
        row_add(h, ROW_COUNTER, THROTTLE_QUOTA, "nr_throttled", "%s/fs/cgroup/cpu.stat",
                sys_folder());
    }
    if (h && !h->failed && h->count)
        return h;
    snprintf(why, size,
             h && !h->failed ? "%s tells no clocks, temperatures or throttling"
                             : "%s: out of memory",
             sys_folder());
    if (h)
        host_close(h);
    return NULL;
}

static void sample(void *state, enum sensor_moment moment, struct sensor_sample *out)
{
    struct host *h = state;
    double khz = 0;
    size_t clocks = 0;
    for (size_t i = 0; i < h->count; i++) {
        struct row *r = &h->rows[i];
        int64_t v;
        if ((r->kind == ROW_COUNTER && moment == MOMENT_WITHIN) || !row_read(r, &v))
            continue;
        switch (r->kind) {
        case ROW_CLOCK:
            khz += (double)v;
            clocks++;
            break;
        case ROW_TEMPERATURE:
            out->celsius = out->has_celsius && out->celsius * 1000 > (double)v ? out->celsius
                                                                               : (double)v / 1000;
            out->has_celsius = true;
            break;
        case ROW_ALARM:
            out->reasons |= v > 0 ? 1U << r->reason : 0;
            break;
        case ROW_COUNTER:
            if (moment == MOMENT_BEGIN)
                r->begin = v;
            else
                out->reasons |= v != r->begin ? 1U << r->reason : 0;
            break;
        }
    }
    out->mhz = clocks ? khz / (double)clocks / 1000 : 0;
}

const struct sensor_source sensor_host = {"/sys", fits, host_open, sample, host_close};
