/* SPDX-License-Identifier: Apache-2.0 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* strcasestr */
#endif
#include "meters.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

const double meter_update_s[] = {[METER_HOST_ENERGY] = 0.001, [METER_DEVICE_ENERGY] = 0.1};

/* ---- powercap --------------------------------------------------------------------------- */

/* One counter of microjoules, which begins again at 0 after its range. */
struct zone {
    char path[512];
    uint64_t range_uj, begin_uj;
};
enum { ZONES_MAX = 64 };

/* ---- NVML (docs.nvidia.com/deploy/nvml-api) --------------------------------------------- */

typedef struct nvml_device_s *nvml_device;
struct nvml_memory {
    unsigned long long total, free, used;
};
enum { NVML_SUCCESS = 0, NVML_NAME_SIZE = 96 };

#define NVML_FUNCTIONS(X)                                                                          \
    X(init, "nvmlInit_v2", int, (void))                                                            \
    X(shutdown, "nvmlShutdown", int, (void))                                                       \
    X(error, "nvmlErrorString", const char *, (int code))                                          \
    X(count, "nvmlDeviceGetCount_v2", int, (unsigned *count))                                      \
    X(handle, "nvmlDeviceGetHandleByIndex_v2", int, (unsigned index, nvml_device *out))            \
    X(name, "nvmlDeviceGetName", int, (nvml_device d, char *name, unsigned size))                  \
    X(energy, "nvmlDeviceGetTotalEnergyConsumption", int, (nvml_device d, unsigned long long *mj)) \
    X(memory, "nvmlDeviceGetMemoryInfo", int, (nvml_device d, struct nvml_memory * out))

struct nvml {
    void *library;
    /* NOLINTBEGIN(bugprone-macro-parentheses): declarators */
#define X(member, symbol, result, parameters) result(*member) parameters;
    NVML_FUNCTIONS(X)
#undef X
    /* NOLINTEND(bugprone-macro-parentheses) */
};

struct meters {
    struct meter_absence absence;
    struct zone zones[ZONES_MAX];
    size_t zone_count;
    struct nvml nvml;
    bool nvml_up;
    nvml_device board;
    unsigned long long begin_mj;
};

static bool present(const struct meters *m, enum meter which)
{
    return m->absence.why[which][0] == '\0';
}

__attribute__((format(printf, 3, 4))) static void absent(struct meters *m, enum meter which,
                                                         const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(m->absence.why[which], sizeof m->absence.why[which], format, args);
    va_end(args);
}

static const char *place(const char *variable, const char *otherwise)
{
    const char *s = getenv(variable);
    return s && *s ? s : otherwise;
}

/* ---- the host --------------------------------------------------------------------------- */

static bool read_word(const char *folder, const char *file, char *buf, size_t size)
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

static bool read_number(const char *folder, const char *file, uint64_t *out)
{
    char buf[64], *end = buf;
    if (!read_word(folder, file, buf, sizeof buf))
        return false;
    errno = EINVAL;
    unsigned long long v = strtoull(buf, &end, 10);
    if (end == buf)
        return false;
    *out = v;
    return true;
}

/* Packages, and memory (a package's counter does not hold it). "psys" holds packages once more, and
 * so do "core" and "uncore". */
static bool zone_counts(const char *name)
{
    return strncmp(name, "package", 7) == 0 || strcmp(name, "dram") == 0;
}

static void host_open(struct meters *m)
{
    const char *root = place("ISOPHOTE_POWERCAP", "/sys/class/powercap");
    DIR *d = opendir(root);
    if (!d) {
        absent(m, METER_HOST_ENERGY, "the system has no energy counters (%s: %s)", root,
               strerror(errno));
        return;
    }
    for (struct dirent *e; present(m, METER_HOST_ENERGY) && (e = readdir(d));) {
        char name[64];
        struct zone *z = &m->zones[m->zone_count];
        int n = snprintf(z->path, sizeof z->path, "%s/%s", root, e->d_name);
        /* "intel-rapl:0", "intel-rapl:0:1"; "intel-rapl-mmio:0" is package 0 by another way */
        if (strncmp(e->d_name, "intel-rapl:", 11) != 0 || n < 0 || (size_t)n >= sizeof z->path ||
            !read_word(z->path, "name", name, sizeof name) || !zone_counts(name))
            continue;
        if (!read_number(z->path, "energy_uj", &z->begin_uj) ||
            !read_number(z->path, "max_energy_range_uj", &z->range_uj))
            absent(m, METER_HOST_ENERGY, "%s/energy_uj cannot be read: %s%s", z->path,
                   strerror(errno), errno == EACCES ? " (Linux lets root alone read it)" : "");
        else if (++m->zone_count == ZONES_MAX)
            absent(m, METER_HOST_ENERGY, "more than %d counters in %s", ZONES_MAX, root);
    }
    closedir(d);
    if (present(m, METER_HOST_ENERGY) && m->zone_count == 0)
        absent(m, METER_HOST_ENERGY, "%s has no counter of a processor package", root);
}

/* ---- the board -------------------------------------------------------------------------- */

static void board_absent(struct meters *m, const char *what, const char *why)
{
    absent(m, METER_DEVICE_ENERGY, "%s: %s", what, why);
    absent(m, METER_DEVICE_MEMORY, "%s: %s", what, why);
}

static bool nvml_load(struct meters *m)
{
    const char *file = place("ISOPHOTE_NVML", "libnvidia-ml.so.1");
    m->nvml.library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!m->nvml.library) {
        board_absent(m, "NVML cannot be loaded", dlerror());
        return false;
    }
#define X(member, symbol, result, parameters)                                                      \
    *(void **)&m->nvml.member = dlsym(m->nvml.library, symbol);                                    \
    if (!m->nvml.member) {                                                                         \
        board_absent(m, file, "it lacks " symbol);                                                 \
        return false;                                                                              \
    }
    NVML_FUNCTIONS(X)
#undef X
    int code = m->nvml.init();
    if (code != NVML_SUCCESS) {
        board_absent(m, "nvmlInit", m->nvml.error(code));
        return false;
    }
    m->nvml_up = true;
    return true;
}

/* The one board of the device's name. The driver's order of devices is not NVML's, so among several
 * of one name there is no telling. */
static bool board_find(struct meters *m, const char *name)
{
    unsigned count = 0, found = 0;
    char why[160];
    int code = m->nvml.count(&count);
    for (unsigned i = 0; code == NVML_SUCCESS && i < count; i++) {
        char its[NVML_NAME_SIZE] = "";
        nvml_device board;
        if (m->nvml.handle(i, &board) != NVML_SUCCESS ||
            m->nvml.name(board, its, sizeof its) != NVML_SUCCESS || strcmp(its, name) != 0)
            continue;
        m->board = board;
        found++;
    }
    if (found == 1)
        return true;
    if (code != NVML_SUCCESS)
        snprintf(why, sizeof why, "%s", m->nvml.error(code));
    else if (found)
        snprintf(why, sizeof why, "%u boards are named '%.80s', and which of them this is, is open",
                 found, name);
    else
        snprintf(why, sizeof why, "none of its %u boards is named '%.80s'", count, name);
    board_absent(m, "NVML", why);
    return false;
}

static void board_open(struct meters *m, const struct device_info *d)
{
    if (d->kind == DEVICE_CPU) {
        board_absent(m, "this device", "its energy and memory are the host's");
        return;
    }
    if (!strcasestr(d->vendor, "nvidia")) {
        board_absent(m, "this device", "no counter of its vendor's is known to this program");
        return;
    }
    if (!nvml_load(m) || !board_find(m, d->name))
        return;
    struct nvml_memory memory;
    int code = m->nvml.energy(m->board, &m->begin_mj);
    if (code != NVML_SUCCESS)
        absent(m, METER_DEVICE_ENERGY, "NVML's energy counter: %s", m->nvml.error(code));
    code = m->nvml.memory(m->board, &memory);
    if (code != NVML_SUCCESS)
        absent(m, METER_DEVICE_MEMORY, "NVML's memory: %s", m->nvml.error(code));
}

/* ---- readings --------------------------------------------------------------------------- */

struct meters *meters_open(const struct device_info *d, struct meter_absence *absence)
{
    struct meters *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    host_open(m);
    board_open(m, d);
    *absence = m->absence;
    return m;
}

void meters_begin(struct meters *m)
{
    if (!m)
        return;
    for (size_t i = 0; present(m, METER_HOST_ENERGY) && i < m->zone_count; i++)
        if (!read_number(m->zones[i].path, "energy_uj", &m->zones[i].begin_uj))
            absent(m, METER_HOST_ENERGY, "%s went away", m->zones[i].path);
    if (present(m, METER_DEVICE_ENERGY) && m->nvml.energy(m->board, &m->begin_mj) != NVML_SUCCESS)
        absent(m, METER_DEVICE_ENERGY, "NVML's energy counter went away");
}

static double host_joules(const struct meters *m)
{
    double uj = 0;
    for (size_t i = 0; i < m->zone_count; i++) {
        const struct zone *z = &m->zones[i];
        uint64_t end;
        if (!read_number(z->path, "energy_uj", &end))
            return -1;
        uj += (double)(end >= z->begin_uj ? end - z->begin_uj : z->range_uj - z->begin_uj + end);
    }
    return uj * 1e-6;
}

void meters_end(struct meters *m, struct meter_reading *out)
{
    unsigned long long mj;
    struct nvml_memory memory;
    *out = (struct meter_reading){.joules = {-1, -1}};
    if (!m)
        return;
    if (present(m, METER_DEVICE_ENERGY) && m->nvml.energy(m->board, &mj) == NVML_SUCCESS &&
        mj >= m->begin_mj)
        out->joules[METER_DEVICE_ENERGY] = (double)(mj - m->begin_mj) * 1e-3;
    if (present(m, METER_DEVICE_MEMORY) && m->nvml.memory(m->board, &memory) == NVML_SUCCESS)
        out->device_used_bytes = memory.used;
    if (present(m, METER_HOST_ENERGY))
        out->joules[METER_HOST_ENERGY] = host_joules(m);
}

void meters_close(struct meters *m)
{
    if (m && m->nvml_up)
        m->nvml.shutdown(); /* the library stays: drivers do not take well to being unloaded */
    free(m);
}
