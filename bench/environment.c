/* SPDX-License-Identifier: Apache-2.0 */
/* What a figure was measured on. Whatever the system does not tell is left out, never guessed. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "sensors/offers.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* The first line of a small file; false if there is none. */
static bool first_line(const char *path, char *buf, size_t size)
{
    FILE *f = fopen(path, "re");
    bool ok = f && fgets(buf, (int)size, f);
    if (f)
        fclose(f);
    if (ok)
        buf[strcspn(buf, "\r\n")] = '\0';
    return ok && buf[0];
}

/* Likewise of a file in /sys. */
static bool sys_line(const char *file, char *buf, size_t size)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", sys_folder(), file);
    return first_line(path, buf, size);
}

/* The value of the first "key<space>:<space>value" line. */
static bool line_value(const char *path, const char *key, char separator, char *buf, size_t size)
{
    FILE *f = fopen(path, "re");
    char line[8192];
    bool found = false;
    while (f && !found && fgets(line, sizeof line, f)) {
        size_t n = strlen(key);
        char *value = strncmp(line, key, n) == 0 ? strchr(line, separator) : NULL;
        if (!value || line[n + strspn(line + n, " \t")] != separator)
            continue;
        value++;
        value += strspn(value, " \t\"");
        value[strcspn(value, "\r\n\"")] = '\0';
        snprintf(buf, size, "%s", value);
        found = true;
    }
    if (f)
        fclose(f);
    return found;
}

/* Which machine, without naming it: a hash of its identity. */
static void host(struct json_writer *w)
{
    char id[128] = "", name[128] = "", hex[33], text[320];
    gethostname(name, sizeof name - 1);
    (void)first_line("/etc/machine-id", id, sizeof id);
    int n = snprintf(text, sizeof text, "isophote %s %s", id, name);
    hash_bytes(text, (size_t)n, hex);
    hex[8] = '\0';
    json_key_string(w, "host", hex);
}

static void cpu(struct json_writer *w)
{
    char buf[256];
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    json_key(w, "cpu");
    json_begin_object(w);
    if (line_value("/proc/cpuinfo", "model name", ':', buf, sizeof buf))
        json_key_string(w, "model", buf);
    json_key_integer(w, "processors_online", online);
    json_key_integer(w, "threads_used", parallel_threads());
    if (sys_line("devices/system/cpu/smt/active", buf, sizeof buf))
        json_key_bool(w, "simultaneous_multithreading", buf[0] == '1');
    if (sys_line("devices/system/cpu/cpu0/cpufreq/scaling_governor", buf, sizeof buf))
        json_key_string(w, "governor", buf);
    if (sys_line("devices/system/cpu/cpu0/cpufreq/scaling_max_freq", buf, sizeof buf))
        json_key_number(w, "max_mhz", strtod(buf, NULL) / 1000);
    if (sys_line("devices/system/cpu/intel_pstate/no_turbo", buf, sizeof buf))
        json_key_bool(w, "turbo", buf[0] == '0');
    if (line_value("/proc/cpuinfo", "cpu MHz", ':', buf, sizeof buf))
        json_key_number(w, "mhz_now", strtod(buf, NULL));
    if (sys_line("devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", buf, sizeof buf))
        json_key_integer(w, "throttled_times", strtol(buf, NULL, 10));
    json_end_object(w);
}

static void memory(struct json_writer *w)
{
    static const struct {
        const char *key, *name;
    } rows[] = {{"MemTotal", "memory_bytes"}, {"MemAvailable", "memory_available_bytes"}};
    char buf[64];
    for (size_t i = 0; i < 2; i++)
        if (line_value("/proc/meminfo", rows[i].key, ':', buf, sizeof buf))
            json_key_integer(w, rows[i].name, 1024 * strtoll(buf, NULL, 10));
    if (sys_line("fs/cgroup/memory.max", buf, sizeof buf) && isdigit((unsigned char)buf[0]))
        json_key_integer(w, "memory_limit_bytes", strtoll(buf, NULL, 10));
    if (sys_line("fs/cgroup/cpu.max", buf, sizeof buf) && isdigit((unsigned char)buf[0]))
        json_key_string(w, "cpu_limit", buf); /* microseconds of processor time, period */
}

static void operating_system(struct json_writer *w)
{
    char buf[8192];
    struct utsname u;
    if (line_value("/etc/os-release", "PRETTY_NAME", '=', buf, sizeof buf))
        json_key_string(w, "os", buf);
    if (uname(&u) == 0) {
        json_key_string(w, "kernel", u.release);
        json_key_string(w, "machine", u.machine);
    }
    if (line_value("/proc/cpuinfo", "flags", ':', buf, sizeof buf) && strstr(buf, "hypervisor"))
        json_key_bool(w, "virtual_machine", true);
}

/* Celsius, by the names that the system gives its sensors. */
static void temperatures(struct json_writer *w)
{
    char path[320], type[64], value[64];
    json_key(w, "temperatures_c");
    json_begin_object(w);
    for (int i = 0; i < 32; i++) {
        snprintf(path, sizeof path, "class/thermal/thermal_zone%d/temp", i);
        if (!sys_line(path, value, sizeof value))
            continue;
        snprintf(path, sizeof path, "class/thermal/thermal_zone%d/type", i);
        if (!sys_line(path, type, sizeof type))
            snprintf(type, sizeof type, "zone");
        snprintf(path, sizeof path, "%s %d", type, i);
        json_key_number(w, path, strtod(value, NULL) / 1000);
    }
    json_end_object(w);
}

static void load(struct json_writer *w)
{
    double averages[3];
    if (getloadavg(averages, 3) != 3)
        return;
    json_key(w, "load_average");
    json_begin_array(w);
    for (int i = 0; i < 3; i++)
        json_number(w, averages[i]);
    json_end_array(w);
}

/* Shared libraries of this process that have to do with the figures: their file names carry their
 * versions. */
static void libraries(struct json_writer *w)
{
    static const char *const words[] = {"libembree", "libsqlite3", "libassimp", "libOpenEXR",
                                        "libxxhash", "libpng",     "libjpeg",   "libtiff",
                                        "libwebp",   "libc.so",    "libyajl"};
    FILE *f = fopen("/proc/self/maps", "re");
    char line[1024], last[1024] = "", real[PATH_MAX];
    json_key(w, "libraries");
    json_begin_array(w);
    while (f && fgets(line, sizeof line, f)) {
        char *path = strchr(line, '/');
        bool wanted = false;
        for (size_t i = 0; path && i < sizeof words / sizeof words[0]; i++)
            wanted = wanted || strstr(path, words[i]);
        if (!wanted)
            continue;
        path[strcspn(path, "\r\n")] = '\0';
        if (strcmp(path, last) == 0)
            continue;
        snprintf(last, sizeof last, "%s", path);
        const char *name = realpath(path, real) ? strrchr(real, '/') : NULL;
        json_string(w, name ? name + 1 : path);
    }
    json_end_array(w);
    if (f)
        fclose(f);
}

static void program(struct json_writer *w)
{
    json_key(w, "build");
    json_begin_object(w);
#ifdef __clang__
    json_key_string(w, "compiler", "clang " __clang_version__);
#else
    json_key_string(w, "compiler", "gcc " __VERSION__);
#endif
#ifdef __OPTIMIZE__
    json_key_bool(w, "optimised", true);
#else
    json_key_bool(w, "optimised", false);
#endif
#ifdef NDEBUG
    json_key_bool(w, "assertions", false);
#else
    json_key_bool(w, "assertions", true);
#endif
#ifdef __SANITIZE_ADDRESS__
    json_key_bool(w, "address_sanitizer", true);
#endif
    json_end_object(w);
}

/* Variables that change what drivers and we do: those of an identity. */
static void variables(struct json_writer *w)
{
    struct arena a = {0};
    const struct identity *id = identity_environment(&a, NULL);
    json_key(w, "variables");
    if (id)
        identity_parts_write(w, id);
    else
        w->out.failed = true;
    arena_free(&a);
}

const char *environment_json(struct arena *a)
{
    struct json_writer w = {0};
    char when[32];
    clock_utc(when);
    json_begin_object(&w);
    host(&w);
    json_key_string(&w, "utc", when);
    cpu(&w);
    memory(&w);
    operating_system(&w);
    program(&w);
    libraries(&w);
    load(&w);
    temperatures(&w);
    variables(&w);
    json_end_object(&w);
    const char *s = w.out.failed ? NULL : arena_strdup(a, w.out.data);
    text_free(&w.out);
    return s;
}
