/* SPDX-License-Identifier: Apache-2.0 */
/* Intel's GPUs, by Level Zero's Sysman (oneapi-src.github.io/level-zero-spec, sysman). */
#include "source.h"

#include <dlfcn.h>
#include <level_zero/zes_api.h>
#include <stdlib.h>
#include <string.h>

enum { CARDS_MAX = 64, DOMAINS_MAX = 16 };

static const struct {
    zes_freq_throttle_reason_flags_t bit;
    enum throttle reason;
} reason_bits[] = {
    /* what software or a slower neighbour sets the range to is no throttling */
    {ZES_FREQ_THROTTLE_REASON_FLAG_AVE_PWR_CAP, THROTTLE_POWER},
    {ZES_FREQ_THROTTLE_REASON_FLAG_BURST_PWR_CAP, THROTTLE_POWER},
    {ZES_FREQ_THROTTLE_REASON_FLAG_CURRENT_LIMIT, THROTTLE_CURRENT},
    {ZES_FREQ_THROTTLE_REASON_FLAG_THERMAL_LIMIT, THROTTLE_HEAT},
    {ZES_FREQ_THROTTLE_REASON_FLAG_PSU_ALERT, THROTTLE_BRAKE},
};

struct functions {
    ze_result_t (*sysman_init)(uint32_t flags); /* of newer loaders, and their own handles: */
    ze_result_t (*sysman_drivers)(uint32_t *count, zes_driver_handle_t *out);
    ze_result_t (*sysman_devices)(zes_driver_handle_t, uint32_t *count, zes_device_handle_t *out);
    ze_result_t (*init)(ze_init_flags_t flags);
    ze_result_t (*drivers)(uint32_t *count, ze_driver_handle_t *out);
    ze_result_t (*devices)(ze_driver_handle_t, uint32_t *count, ze_device_handle_t *out);
    ze_result_t (*properties)(zes_device_handle_t, zes_device_properties_t *out);
    ze_result_t (*domains)(zes_device_handle_t, uint32_t *count, zes_freq_handle_t *out);
    ze_result_t (*domain)(zes_freq_handle_t, zes_freq_properties_t *out);
    ze_result_t (*state)(zes_freq_handle_t, zes_freq_state_t *out);
    ze_result_t (*thermometers)(zes_device_handle_t, uint32_t *count, zes_temp_handle_t *out);
    ze_result_t (*celsius)(zes_temp_handle_t, double *out);
};
#define SYMBOL(member, name, needed)                                                               \
    {                                                                                              \
        name, offsetof(struct functions, member), needed                                           \
    }
static const struct symbol symbols[] = {
    SYMBOL(sysman_init, "zesInit", false),
    SYMBOL(sysman_drivers, "zesDriverGet", false),
    SYMBOL(sysman_devices, "zesDeviceGet", false),
    SYMBOL(init, "zeInit", true),
    SYMBOL(drivers, "zeDriverGet", true),
    SYMBOL(devices, "zeDeviceGet", true),
    SYMBOL(properties, "zesDeviceGetProperties", true),
    SYMBOL(domains, "zesDeviceEnumFrequencyDomains", true),
    SYMBOL(domain, "zesFrequencyGetProperties", true),
    SYMBOL(state, "zesFrequencyGetState", true),
    SYMBOL(thermometers, "zesDeviceEnumTemperatureSensors", true),
    SYMBOL(celsius, "zesTemperatureGetState", true),
};

struct intel_card {
    struct functions f;
    zes_freq_handle_t domains[DOMAINS_MAX]; /* of the compute units */
    zes_temp_handle_t thermometers[DOMAINS_MAX];
    uint32_t domain_count, thermometer_count;
};

static const char *loader_file(void)
{
    return sensor_place("ISOPHOTE_SYSMAN", "libze_loader.so.1");
}

/* Loaders without zesInit want to be told by a variable before zeInit. With it, that variable would
 * make zesInit fail. */
void sensors_prepare(void)
{
    void *loader = dlopen(loader_file(), RTLD_NOW | RTLD_LOCAL);
    if (loader && !dlsym(loader, "zesInit"))
        (void)setenv("ZES_ENABLE_SYSMAN", "1", 0);
}

static bool fits(const struct device_info *d)
{
    return d->kind != DEVICE_CPU && sensor_vendor_is(d, "intel");
}

/* All devices of all drivers, as Sysman's handles. */
static uint32_t devices_all(const struct functions *f, zes_device_handle_t *out, char *why,
                            size_t size)
{
    zes_driver_handle_t drivers[CARDS_MAX];
    uint32_t driver_count = CARDS_MAX, n = 0;
    const bool own = f->sysman_init && f->sysman_drivers && f->sysman_devices &&
                     f->sysman_init(0) == ZE_RESULT_SUCCESS;
    ze_result_t code = own ? ZE_RESULT_SUCCESS : f->init(0);
    if (code == ZE_RESULT_SUCCESS)
        code = own ? f->sysman_drivers(&driver_count, drivers)
                   : f->drivers(&driver_count, (ze_driver_handle_t *)drivers);
    if (code != ZE_RESULT_SUCCESS) {
        snprintf(why, size, "Level Zero Sysman does not start: 0x%x", (unsigned)code);
        return 0;
    }
    for (uint32_t i = 0; i < driver_count && n < CARDS_MAX; i++) {
        uint32_t count = CARDS_MAX - n;
        code =
            own ? f->sysman_devices(drivers[i], &count, out + n)
                : f->devices((ze_driver_handle_t)drivers[i], &count, (ze_device_handle_t *)out + n);
        n += code == ZE_RESULT_SUCCESS ? count : 0;
    }
    return n;
}

static bool find(struct intel_card *c, const struct device_info *d, zes_device_handle_t *out,
                 char *why, size_t size)
{
    zes_device_handle_t devices[CARDS_MAX];
    struct card cards[CARDS_MAX];
    size_t n = 0, found;
    why[0] = '\0';
    const uint32_t all = devices_all(&c->f, devices, why, size);
    ze_result_t refused = ZE_RESULT_SUCCESS;
    for (uint32_t i = 0; i < all; i++) {
        zes_device_properties_t p = {.stype = ZES_STRUCTURE_TYPE_DEVICE_PROPERTIES,
                                     .core.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
        const ze_result_t code = c->f.properties(devices[i], &p);
        if (code != ZE_RESULT_SUCCESS) {
            refused = code;
            continue;
        }
        cards[n] = (struct card){0};
        snprintf(cards[n].name, sizeof cards[n].name, "%.127s", p.core.name);
        memcpy(cards[n].uuid, p.core.uuid.id, sizeof cards[n].uuid);
        devices[n++] = devices[i];
    }
    if (n == 0 && refused)
        snprintf(why, size, "Level Zero Sysman: the driver refuses with 0x%x", (unsigned)refused);
    if (why[0] || !sensor_card("Level Zero Sysman", cards, n, d, &found, why, size))
        return false;
    *out = devices[found];
    return true;
}

static void *open_card(const struct device_info *d, char *why, size_t size)
{
    zes_device_handle_t device;
    struct intel_card *c = calloc(1, sizeof *c);
    if (!c) {
        snprintf(why, size, "out of memory");
        return NULL;
    }
    if (!sensor_library("Level Zero's loader", loader_file(), symbols,
                        sizeof symbols / sizeof *symbols, &c->f, why, size) ||
        !find(c, d, &device, why, size)) {
        free(c);
        return NULL;
    }
    zes_freq_handle_t domains[DOMAINS_MAX];
    uint32_t count = DOMAINS_MAX;
    const ze_result_t code = c->f.domains(device, &count, domains);
    for (uint32_t i = 0; code == ZE_RESULT_SUCCESS && i < count; i++) {
        zes_freq_properties_t p = {.stype = ZES_STRUCTURE_TYPE_FREQ_PROPERTIES};
        if (c->f.domain(domains[i], &p) == ZE_RESULT_SUCCESS && p.type == ZES_FREQ_DOMAIN_GPU)
            c->domains[c->domain_count++] = domains[i];
    }
    c->thermometer_count = DOMAINS_MAX;
    if (c->f.thermometers(device, &c->thermometer_count, c->thermometers) != ZE_RESULT_SUCCESS)
        c->thermometer_count = 0;
    if (c->domain_count || c->thermometer_count)
        return c;
    snprintf(why, size, "Level Zero Sysman tells no clock and no temperature of this card (0x%x)",
             (unsigned)code);
    free(c);
    return NULL;
}

static void sample(void *state, enum sensor_moment moment, struct sensor_sample *out)
{
    struct intel_card *c = state;
    double mhz = 0;
    uint32_t clocks = 0;
    (void)moment;
    for (uint32_t i = 0; i < c->domain_count; i++) {
        zes_freq_state_t s = {.stype = ZES_STRUCTURE_TYPE_FREQ_STATE};
        if (c->f.state(c->domains[i], &s) != ZE_RESULT_SUCCESS)
            continue;
        if (s.actual > 0) { /* negative: not known */
            mhz += s.actual;
            clocks++;
        }
        for (size_t k = 0; k < sizeof reason_bits / sizeof *reason_bits; k++)
            if (s.throttleReasons & reason_bits[k].bit)
                out->reasons |= 1U << reason_bits[k].reason;
    }
    out->mhz = clocks ? mhz / clocks : 0;
    for (uint32_t i = 0; i < c->thermometer_count; i++) {
        double celsius;
        if (c->f.celsius(c->thermometers[i], &celsius) != ZE_RESULT_SUCCESS ||
            (out->has_celsius && celsius <= out->celsius))
            continue;
        out->has_celsius = true;
        out->celsius = celsius;
    }
}

static void close_card(void *state) { free(state); }

const struct sensor_source sensor_sysman = {"Level Zero Sysman", fits, open_card, sample,
                                            close_card};
