/* SPDX-License-Identifier: Apache-2.0 */
/* A device of the executor: its options, and what its checks found. */
#include "soft.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    enum soft_check check;
    const char *name, *text;
} checks[] = {
    {SOFT_BOUNDS, "bounds", "out of bounds"},
    {SOFT_FREED, "freed", "use after free"},
    {SOFT_UNINITIALISED, "uninitialised", "uninitialised read"},
    {SOFT_RACES, "races", "race"},
    {SOFT_WAITS, "waits", "missing wait"},
    {SOFT_ARGUMENTS, "arguments", "kernel argument"},
    {SOFT_OVERRUN, "overrun", "launch stopped"},
};
enum { CHECKS = sizeof checks / sizeof checks[0] };

const char *soft_check_name(enum soft_check c)
{
    for (size_t i = 0; i < CHECKS; i++)
        if (checks[i].check == c)
            return checks[i].name;
    return "unknown";
}

enum status soft_checks_parse(const char *text, unsigned *out, struct error *err)
{
    unsigned bits = 0;
    while (*text) {
        size_t length = strcspn(text, ",");
        unsigned bit = length == 3 && strncmp(text, "all", 3) == 0 ? SOFT_ALL : 0;
        for (size_t i = 0; i < CHECKS; i++)
            if ((checks[i].check & SOFT_ALL) && strlen(checks[i].name) == length &&
                strncmp(text, checks[i].name, length) == 0)
                bit = checks[i].check;
        if (bit == 0 && length > 0)
            return error_msg(err, STATUS_ARG,
                             "\"%.*s\" is no check: all, bounds, freed, uninitialised, races, "
                             "waits, arguments",
                             (int)(length > 60 ? 60 : length), text);
        bits |= bit;
        text += length + (text[length] == ',');
    }
    *out = bits;
    return STATUS_OK;
}

static enum status memory_parse(const char *text, uint64_t *bytes, struct error *err)
{
    char *end;
    unsigned long long v = strtoull(text, &end, 10);
    if (*end != '\0' || v == 0)
        return error_msg(err, STATUS_ARG, "ISOPHOTE_SOFT_MEMORY is \"%.60s\"; bytes are expected",
                         text);
    *bytes = v;
    return STATUS_OK;
}

static enum status watchdog_parse(const char *text, double *seconds, struct error *err)
{
    char *end;
    double v = strtod(text, &end);
    if (*end != '\0' || !(v > 0.0))
        return error_msg(err, STATUS_ARG,
                         "ISOPHOTE_SOFT_WATCHDOG is \"%.60s\"; seconds are expected", text);
    *seconds = v;
    return STATUS_OK;
}

static enum status group_parse(const char *text, unsigned *most, struct error *err)
{
    char *end;
    unsigned long v = strtoul(text, &end, 10);
    if (*end != '\0' || v == 0 || v > SOFT_GROUP_MAX)
        return error_msg(err, STATUS_ARG,
                         "ISOPHOTE_SOFT_KERNEL_GROUP is \"%.60s\"; 1 to %d work-items are expected",
                         text, SOFT_GROUP_MAX);
    *most = (unsigned)v;
    return STATUS_OK;
}

/* Appends to $ISOPHOTE_SOFT_FINDINGS, else prints. */
static void finding_tell(void *ctx, const struct soft_finding *f)
{
    (void)ctx;
    const char *path = getenv("ISOPHOTE_SOFT_FINDINGS");
    FILE *to = path && *path ? fopen(path, "a") : NULL;
    fprintf(to ? to : stderr, "soft: %s\n", f->text);
    if (to)
        fclose(to);
}

enum status soft_options_environment(struct soft_options *out, struct error *err)
{
    struct soft_options o = {0};
    const char *wanted = getenv("ISOPHOTE_SOFT_CHECKS"), *bytes = getenv("ISOPHOTE_SOFT_MEMORY"),
               *seconds = getenv("ISOPHOTE_SOFT_WATCHDOG"),
               *group = getenv("ISOPHOTE_SOFT_KERNEL_GROUP");
    enum status s = wanted ? soft_checks_parse(wanted, &o.checks, err) : STATUS_OK;
    if (s == STATUS_OK && bytes && *bytes)
        s = memory_parse(bytes, &o.memory_bytes, err);
    if (s == STATUS_OK && seconds && *seconds)
        s = watchdog_parse(seconds, &o.launch_budget_s, err);
    if (s == STATUS_OK && group && *group)
        s = group_parse(group, &o.kernel_group, err);
    if (s == STATUS_OK)
        *out = o;
    return s;
}

enum status soft_device_open(const struct soft_options *o, struct soft_device **out,
                             struct error *err)
{
    const char *problem;
    const struct llvm_api *llvm = llvm_load(&problem);
    if (!llvm)
        return error_msg(err, STATUS_MISSING, "%s", problem);
    struct soft_device *d = calloc(1, sizeof *d);
    if (!d)
        return error_msg(err, STATUS_MEMORY, "out of memory for a device");
    d->llvm = llvm;
    d->options = *o;
    pthread_mutex_init(&d->lock, NULL);
    if (!d->options.report)
        d->options.report = finding_tell;
    /* What is looked for in shadows is looked for by one thread: findings do not depend on luck. */
    d->worker_count = d->options.checks & (SOFT_RACES | SOFT_WAITS | SOFT_UNINITIALISED) ? 1
                      : d->options.threads ? d->options.threads
                                           : parallel_threads();
    d->workers = workers_make(d->worker_count, d->options.checks);
    uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    d->memory.limit = d->options.memory_bytes ? d->options.memory_bytes : machine / 2;
    if (!d->workers) {
        soft_device_close(d);
        return error_msg(err, STATUS_MEMORY, "out of memory for a device");
    }
    *out = d;
    return STATUS_OK;
}

unsigned soft_device_checks(const struct soft_device *d) { return d->options.checks; }
unsigned soft_kernel_group(const struct soft_device *d)
{
    return d->options.kernel_group ? d->options.kernel_group : SOFT_GROUP_MAX;
}
uint64_t soft_device_memory(const struct soft_device *d, uint64_t *used)
{
    if (used)
        *used = d->memory.used;
    return d->memory.limit;
}

/* ---- findings ------------------------------------------------------------------------------- */

void soft_finding_add(struct soft_device *d, enum soft_check check, const char *fmt, ...)
{
    struct soft_finding f = {.check = check};
    const char *what = "finding";
    for (size_t i = 0; i < CHECKS; i++)
        if (checks[i].check == check)
            what = checks[i].text;
    int n = snprintf(f.text, sizeof f.text, "%s: ", what);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(f.text + n, sizeof f.text - (size_t)n, fmt, ap);
    va_end(ap);
    pthread_mutex_lock(&d->lock);
    if (d->finding_count < SOFT_FINDINGS_MAX) {
        d->findings[d->finding_count] = f;
        d->options.report(d->options.report_ctx, &f);
    }
    d->finding_count++;
    pthread_mutex_unlock(&d->lock);
}

bool finding_is_new(struct soft_device *d, const struct soft_module *m, uint32_t place,
                    enum soft_check check)
{
    bool new = true;
    pthread_mutex_lock(&d->lock);
    for (size_t i = 0; i < d->seen_count; i++)
        new &= d->seen[i].module != m || d->seen[i].place != place || d->seen[i].check != check;
    if (new && d->seen_count == d->seen_capacity) {
        size_t capacity = d->seen_capacity ? 2 * d->seen_capacity : 64;
        struct seen *grown = realloc(d->seen, capacity * sizeof *grown);
        if (grown) {
            d->seen = grown;
            d->seen_capacity = capacity;
        }
    }
    if (new && d->seen_count < d->seen_capacity)
        d->seen[d->seen_count++] = (struct seen){m, place, check};
    pthread_mutex_unlock(&d->lock);
    return new;
}

const struct soft_finding *soft_findings(const struct soft_device *d, size_t *count)
{
    *count = d->finding_count;
    return d->findings;
}
