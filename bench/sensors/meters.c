/* SPDX-License-Identifier: Apache-2.0 */
/* Energy and memory in use. */
#include "source.h"

#include <dirent.h>
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

struct meters {
    struct meter_absence absence;
    struct zone zones[ZONES_MAX];
    size_t zone_count;
    struct nvml_board *board; /* NULL: there is none */
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

/* ---- the host --------------------------------------------------------------------------- */

/* Packages, and memory (a package's counter does not hold it). "psys" holds packages once more, and
 * so do "core" and "uncore". */
static bool zone_counts(const char *name)
{
    return strncmp(name, "package", 7) == 0 || strcmp(name, "dram") == 0;
}

static void host_open(struct meters *m)
{
    char root[256];
    snprintf(root, sizeof root, "%s/class/powercap", sys_folder());
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
            !sys_word(z->path, "name", name, sizeof name) || !zone_counts(name))
            continue;
        if (!sys_number(z->path, "energy_uj", &z->begin_uj) ||
            !sys_number(z->path, "max_energy_range_uj", &z->range_uj))
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

static void board_open(struct meters *m, const struct device_info *d)
{
    if (d->kind == DEVICE_CPU) {
        board_absent(m, "this device", "its energy and memory are the host's");
        return;
    }
    if (!sensor_nvml.fits(d)) {
        board_absent(m, "this device", "no counter of its vendor's is known to this program");
        return;
    }
    char why[160];
    m->board = nvml_board_open(d, why, sizeof why);
    if (!m->board) {
        absent(m, METER_DEVICE_ENERGY, "%s", why);
        absent(m, METER_DEVICE_MEMORY, "%s", why);
        return;
    }
    uint64_t used;
    const char *energy = nvml_energy(m->board, &m->begin_mj),
               *memory = nvml_memory(m->board, &used);
    if (energy)
        absent(m, METER_DEVICE_ENERGY, "NVML's energy counter: %s", energy);
    if (memory)
        absent(m, METER_DEVICE_MEMORY, "NVML's memory: %s", memory);
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
        if (!sys_number(m->zones[i].path, "energy_uj", &m->zones[i].begin_uj))
            absent(m, METER_HOST_ENERGY, "%s went away", m->zones[i].path);
    if (present(m, METER_DEVICE_ENERGY) && nvml_energy(m->board, &m->begin_mj))
        absent(m, METER_DEVICE_ENERGY, "NVML's energy counter went away");
}

static double host_joules(const struct meters *m)
{
    double uj = 0;
    for (size_t i = 0; i < m->zone_count; i++) {
        const struct zone *z = &m->zones[i];
        uint64_t end;
        if (!sys_number(z->path, "energy_uj", &end))
            return -1;
        uj += (double)(end >= z->begin_uj ? end - z->begin_uj : z->range_uj - z->begin_uj + end);
    }
    return uj * 1e-6;
}

void meters_end(struct meters *m, struct meter_reading *out)
{
    unsigned long long mj;
    *out = (struct meter_reading){.joules = {-1, -1}};
    if (!m)
        return;
    if (present(m, METER_DEVICE_ENERGY) && !nvml_energy(m->board, &mj) && mj >= m->begin_mj)
        out->joules[METER_DEVICE_ENERGY] = (double)(mj - m->begin_mj) * 1e-3;
    if (present(m, METER_DEVICE_MEMORY) && nvml_memory(m->board, &out->device_used_bytes))
        out->device_used_bytes = 0;
    if (present(m, METER_HOST_ENERGY))
        out->joules[METER_HOST_ENERGY] = host_joules(m);
}

void meters_close(struct meters *m)
{
    if (m)
        nvml_board_close(m->board);
    free(m);
}
