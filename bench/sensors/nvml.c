/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA's management library (docs.nvidia.com/deploy/nvml-api). */
#include "source.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct nvml_device_s *nvml_device;
struct nvml_usage {
    unsigned long long total, free, used;
};
enum { NVML_SUCCESS = 0, NVML_CLOCK_SM = 1, NVML_TEMPERATURE_GPU = 0, BOARDS_MAX = 64 };

struct functions {
    int (*init)(void);
    int (*shutdown)(void);
    const char *(*error)(int code);
    int (*count)(unsigned *count);
    int (*handle)(unsigned index, nvml_device *out);
    int (*name)(nvml_device d, char *name, unsigned size);
    int (*uuid)(nvml_device d, char *uuid, unsigned size);
    int (*energy)(nvml_device d, unsigned long long *millijoules);
    int (*memory)(nvml_device d, struct nvml_usage *out);
    int (*clock)(nvml_device d, int which, unsigned *mhz);
    int (*temperature)(nvml_device d, int which, unsigned *celsius);
    int (*reasons)(nvml_device d, unsigned long long *bits);
    int (*events)(nvml_device d, unsigned long long *bits); /* its newer name */
};
#define SYMBOL(member, name, needed)                                                               \
    {                                                                                              \
        name, offsetof(struct functions, member), needed                                           \
    }
static const struct symbol symbols[] = {
    SYMBOL(init, "nvmlInit_v2", true),
    SYMBOL(shutdown, "nvmlShutdown", true),
    SYMBOL(error, "nvmlErrorString", true),
    SYMBOL(count, "nvmlDeviceGetCount_v2", true),
    SYMBOL(handle, "nvmlDeviceGetHandleByIndex_v2", true),
    SYMBOL(name, "nvmlDeviceGetName", true),
    SYMBOL(uuid, "nvmlDeviceGetUUID", false),
    SYMBOL(energy, "nvmlDeviceGetTotalEnergyConsumption", true),
    SYMBOL(memory, "nvmlDeviceGetMemoryInfo", true),
    SYMBOL(clock, "nvmlDeviceGetClockInfo", false),
    SYMBOL(temperature, "nvmlDeviceGetTemperature", false),
    SYMBOL(reasons, "nvmlDeviceGetCurrentClocksThrottleReasons", false),
    SYMBOL(events, "nvmlDeviceGetCurrentClocksEventReasons", false),
};

/* nvml.h: nvmlClocksEventReason... An idle board, clocks that the user set and boards that keep
 * step are no throttling. */
static const struct {
    unsigned long long bit;
    enum throttle reason;
} reason_bits[] = {
    {0x04, THROTTLE_POWER},    /* SwPowerCap */
    {0x08, THROTTLE_SLOWDOWN}, /* HwSlowdown: by heat, by the power brake or by too much power */
    {0x20, THROTTLE_HEAT},     /* SwThermalSlowdown */
    {0x40, THROTTLE_HEAT},     /* HwThermalSlowdown */
    {0x80, THROTTLE_BRAKE},    /* HwPowerBrakeSlowdown */
};

struct nvml_board {
    struct functions f;
    nvml_device device;
};

/* "GPU-00112233-4455-..." */
static void uuid_read(const char *text, unsigned char out[16])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char id[16] = {0};
    size_t n = 0;
    for (const char *c = strncmp(text, "GPU-", 4) == 0 ? text + 4 : text; *c; c++) {
        const char *at = strchr(digits, tolower((unsigned char)*c));
        if (*c == '-')
            continue;
        if (!at || n == 32)
            return;
        id[n / 2] = (unsigned char)(id[n / 2] << 4 | (at - digits));
        n++;
    }
    if (n == 32)
        memcpy(out, id, sizeof id);
}

static bool board_find(struct nvml_board *b, const struct device_info *d, char *why, size_t size)
{
    struct card cards[BOARDS_MAX];
    nvml_device devices[BOARDS_MAX];
    unsigned all = 0;
    size_t n = 0, found;
    int code = b->f.count(&all);
    if (code != NVML_SUCCESS) {
        snprintf(why, size, "NVML: %s", b->f.error(code));
        return false;
    }
    for (unsigned i = 0; i < all && n < BOARDS_MAX; i++) {
        char uuid[128] = "";
        cards[n] = (struct card){0};
        if (b->f.handle(i, &devices[n]) != NVML_SUCCESS ||
            b->f.name(devices[n], cards[n].name, sizeof cards[n].name) != NVML_SUCCESS)
            continue;
        if (b->f.uuid && b->f.uuid(devices[n], uuid, sizeof uuid) == NVML_SUCCESS)
            uuid_read(uuid, cards[n].uuid);
        n++;
    }
    if (!sensor_card("NVML", cards, n, d, &found, why, size))
        return false;
    b->device = devices[found];
    return true;
}

struct nvml_board *nvml_board_open(const struct device_info *d, char *why, size_t size)
{
    struct nvml_board *b = calloc(1, sizeof *b);
    if (!b) {
        snprintf(why, size, "out of memory");
        return NULL;
    }
    if (!sensor_library("NVML", sensor_place("ISOPHOTE_NVML", "libnvidia-ml.so.1"), symbols,
                        sizeof symbols / sizeof *symbols, &b->f, why, size)) {
        free(b);
        return NULL;
    }
    const int code = b->f.init();
    if (code != NVML_SUCCESS) {
        snprintf(why, size, "nvmlInit: %s", b->f.error(code));
        free(b);
        return NULL;
    }
    if (board_find(b, d, why, size))
        return b;
    nvml_board_close(b);
    return NULL;
}

void nvml_board_close(struct nvml_board *b)
{
    if (b)
        b->f.shutdown();
    free(b);
}

const char *nvml_energy(struct nvml_board *b, unsigned long long *millijoules)
{
    const int code = b->f.energy(b->device, millijoules);
    return code == NVML_SUCCESS ? NULL : b->f.error(code);
}

const char *nvml_memory(struct nvml_board *b, uint64_t *used)
{
    struct nvml_usage m = {0};
    const int code = b->f.memory(b->device, &m);
    *used = m.used;
    return code == NVML_SUCCESS ? NULL : b->f.error(code);
}

/* ---- the source --------------------------------------------------------------------------- */

static bool fits(const struct device_info *d)
{
    return d->kind != DEVICE_CPU && sensor_vendor_is(d, "nvidia");
}

static void *open_board(const struct device_info *d, char *why, size_t size)
{
    return nvml_board_open(d, why, size);
}

static void sample(void *state, enum sensor_moment moment, struct sensor_sample *out)
{
    struct nvml_board *b = state;
    unsigned mhz, celsius;
    unsigned long long bits = 0;
    (void)moment;
    if (b->f.clock && b->f.clock(b->device, NVML_CLOCK_SM, &mhz) == NVML_SUCCESS)
        out->mhz = mhz;
    if (b->f.temperature &&
        b->f.temperature(b->device, NVML_TEMPERATURE_GPU, &celsius) == NVML_SUCCESS) {
        out->has_celsius = true;
        out->celsius = celsius;
    }
    int (*reasons)(nvml_device, unsigned long long *) = b->f.reasons ? b->f.reasons : b->f.events;
    if (!reasons || reasons(b->device, &bits) != NVML_SUCCESS)
        return;
    for (size_t i = 0; i < sizeof reason_bits / sizeof *reason_bits; i++)
        if (bits & reason_bits[i].bit)
            out->reasons |= 1U << reason_bits[i].reason;
}

static void close_board(void *state) { nvml_board_close(state); }

const struct sensor_source sensor_nvml = {"NVML", fits, open_board, sample, close_board};
