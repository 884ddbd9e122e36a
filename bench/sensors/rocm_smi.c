/* SPDX-License-Identifier: Apache-2.0 */
/* AMD's ROCm SMI (rocm.docs.amd.com/projects/rocm_smi_lib). */
#include "source.h"

#include <stdlib.h>
#include <string.h>

enum { RSMI_SUCCESS = 0, CARDS_MAX = 64 };

/* The beginning of rsmi_gpu_metrics_t: later versions of the library put more behind it. */
struct gpu_metrics {
    uint16_t structure_size;
    uint8_t format_revision, content_revision;
    uint16_t edge_c, hotspot_c, memory_c, regulators_c[3];
    uint16_t activity[3], socket_w;
    uint64_t energy, driver_ns;
    uint16_t mean_mhz[7], now_mhz[7]; /* the first is the compute units' */
    uint32_t throttle_of_chip;
    uint16_t fan, link[2];
    uint32_t activities[2];
    uint16_t hbm_c[4];
    uint64_t firmware_time;
    uint16_t voltage[3];
    uint64_t throttle; /* from content revision 3 up: bits that mean the same on every chip */
};
_Static_assert(offsetof(struct gpu_metrics, now_mhz) == 54, "as rocm_smi.h lays it out");
_Static_assert(offsetof(struct gpu_metrics, throttle_of_chip) == 68, "as rocm_smi.h lays it out");
_Static_assert(offsetof(struct gpu_metrics, throttle) == 112, "as rocm_smi.h lays it out");
union metrics_room {
    struct gpu_metrics m;
    unsigned char bytes[16384]; /* more than any version of the library fills */
};

/* Linux, drivers/gpu/drm/amd/pm/swsmu/inc/amdgpu_smu.h: SMU_THROTTLER_..._BIT, from first to last.
 * TEMP_HOTSPOT (36) is left out: RDNA 3 sets it nearly always. */
static const struct {
    unsigned first, last;
    enum throttle reason;
} throttle_bits[] = {
    {0, 7, THROTTLE_POWER},     /* PPT0 ... SPPT_APU */
    {16, 23, THROTTLE_CURRENT}, /* TDC_GFX ... APCC */
    {32, 35, THROTTLE_HEAT},    /* TEMP_GPU ... TEMP_EDGE */
    {37, 47, THROTTLE_HEAT},    /* TEMP_SOC ... PROCHOT_GFX */
};

struct functions {
    int (*init)(uint64_t flags);
    int (*shut_down)(void);
    int (*count)(uint32_t *count);
    int (*name)(uint32_t card, char *name, size_t size);
    int (*unique_id)(uint32_t card, uint64_t *id);
    int (*metrics)(uint32_t card, struct gpu_metrics *out);
};
#define SYMBOL(member, name, needed)                                                               \
    {                                                                                              \
        name, offsetof(struct functions, member), needed                                           \
    }
static const struct symbol symbols[] = {
    SYMBOL(init, "rsmi_init", true),
    SYMBOL(shut_down, "rsmi_shut_down", true),
    SYMBOL(count, "rsmi_num_monitor_devices", true),
    SYMBOL(name, "rsmi_dev_name_get", true),
    SYMBOL(unique_id, "rsmi_dev_unique_id_get", false),
    SYMBOL(metrics, "rsmi_dev_gpu_metrics_info_get", true),
};

struct amd_card {
    struct functions f;
    uint32_t card;
};

static bool fits(const struct device_info *d)
{
    return d->kind != DEVICE_CPU &&
           (sensor_vendor_is(d, "amd") || sensor_vendor_is(d, "advanced micro devices"));
}

static void close_card(void *state)
{
    struct amd_card *c = state;
    c->f.shut_down();
    free(c);
}

/* The UUID that HIP tells is the card's number as 16 hexadecimal digits, each a byte of text. */
static bool find(struct amd_card *c, const struct device_info *d, char *why, size_t size)
{
    struct card cards[CARDS_MAX];
    uint32_t all = 0, of[CARDS_MAX];
    size_t n = 0, found;
    const int code = c->f.count(&all);
    if (code != RSMI_SUCCESS) {
        snprintf(why, size, "ROCm SMI: rsmi_num_monitor_devices fails with %d", code);
        return false;
    }
    for (uint32_t i = 0; i < all && n < CARDS_MAX; i++) {
        uint64_t id = 0;
        char digits[17];
        cards[n] = (struct card){0};
        if (c->f.name(i, cards[n].name, sizeof cards[n].name) != RSMI_SUCCESS)
            continue;
        if (c->f.unique_id && c->f.unique_id(i, &id) == RSMI_SUCCESS && id) {
            snprintf(digits, sizeof digits, "%016llx", (unsigned long long)id);
            memcpy(cards[n].uuid, digits, 16);
        }
        of[n++] = i;
    }
    if (!sensor_card("ROCm SMI", cards, n, d, &found, why, size))
        return false;
    c->card = of[found];
    return true;
}

static void *open_card(const struct device_info *d, char *why, size_t size)
{
    struct amd_card *c = calloc(1, sizeof *c);
    if (!c) {
        snprintf(why, size, "out of memory");
        return NULL;
    }
    if (!sensor_library("ROCm SMI", sensor_place("ISOPHOTE_ROCM_SMI", "librocm_smi64.so"), symbols,
                        sizeof symbols / sizeof *symbols, &c->f, why, size)) {
        free(c);
        return NULL;
    }
    const int code = c->f.init(0);
    if (code != RSMI_SUCCESS) {
        snprintf(why, size, "ROCm SMI: rsmi_init fails with %d", code);
        free(c);
        return NULL;
    }
    if (find(c, d, why, size))
        return c;
    close_card(c);
    return NULL;
}

static bool told(uint16_t v) { return v != 0 && v != UINT16_MAX; }

static void sample(void *state, enum sensor_moment moment, struct sensor_sample *out)
{
    struct amd_card *c = state;
    union metrics_room room = {0};
    const struct gpu_metrics *m = &room.m;
    (void)moment;
    if (c->f.metrics(c->card, &room.m) != RSMI_SUCCESS)
        return;
    if (told(m->now_mhz[0]))
        out->mhz = m->now_mhz[0];
    const uint16_t celsius = told(m->hotspot_c) ? m->hotspot_c : m->edge_c;
    if (told(celsius)) {
        out->has_celsius = true;
        out->celsius = celsius;
    }
    if (m->format_revision != 1 || m->content_revision < 3 || m->throttle == UINT64_MAX)
        return;
    for (size_t i = 0; i < sizeof throttle_bits / sizeof *throttle_bits; i++)
        for (unsigned b = throttle_bits[i].first; b <= throttle_bits[i].last; b++)
            if (m->throttle >> b & 1)
                out->reasons |= 1U << throttle_bits[i].reason;
}

const struct sensor_source sensor_rocm_smi = {"ROCm SMI", fits, open_card, sample, close_card};
