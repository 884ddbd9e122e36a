/* SPDX-License-Identifier: Apache-2.0 */
/* What bench/sensors calls of Level Zero's Sysman and of ROCm SMI, for machines without such cards.
 * There are two of each, of one name. CARDS_MOCK, words of it:
 *   old        the loader's Sysman does not start by itself, only with ZES_ENABLE_SYSMAN=1
 *   none       nothing starts
 *   reasons=X  throttle reasons of the second card, in base 16, as its library has them
 *   revision=N of AMD's metrics; 3 otherwise
 *   longer     the library fills more than the metrics that are known */
#include <level_zero/zes_api.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *wish(void)
{
    const char *w = getenv("CARDS_MOCK");
    return w ? w : "";
}

static unsigned long long number(const char *word, unsigned long long otherwise, int base)
{
    const char *at = strstr(wish(), word);
    return at ? strtoull(at + strlen(word), NULL, base) : otherwise;
}

/* ---- Sysman: handles are the numbers of cards and what they have, from 1 ------------------------ */

/* declared by newer headers alone */
ZE_APIEXPORT ze_result_t ZE_APICALL zesInit(uint32_t flags);
ZE_APIEXPORT ze_result_t ZE_APICALL zesDriverGet(uint32_t *count, zes_driver_handle_t *out);
ZE_APIEXPORT ze_result_t ZE_APICALL zesDeviceGet(zes_driver_handle_t driver, uint32_t *count,
                                                 zes_device_handle_t *out);

static uint32_t started;

static ze_result_t start(bool own)
{
    const char *asked = getenv("ZES_ENABLE_SYSMAN");
    const bool old = strstr(wish(), "old") != NULL;
    if (strstr(wish(), "none") || (own && old) || (!own && !(asked && *asked == '1')))
        return ZE_RESULT_ERROR_UNINITIALIZED;
    started++;
    return ZE_RESULT_SUCCESS;
}

ZE_APIEXPORT ze_result_t ZE_APICALL zesInit(uint32_t flags)
{
    (void)flags;
    return start(true);
}

ZE_APIEXPORT ze_result_t ZE_APICALL zeInit(ze_init_flags_t flags)
{
    (void)flags;
    return start(false);
}

static ze_result_t handles(uint32_t first, uint32_t there, uint32_t *count, void *out)
{
    if (!started)
        return ZE_RESULT_ERROR_UNINITIALIZED;
    if (*count > there)
        *count = there;
    for (uint32_t i = 0; i < *count; i++)
        ((uintptr_t *)out)[i] = first + i;
    return ZE_RESULT_SUCCESS;
}

ZE_APIEXPORT ze_result_t ZE_APICALL zesDriverGet(uint32_t *count, zes_driver_handle_t *out)
{
    return handles(1, 1, count, out);
}

ZE_APIEXPORT ze_result_t ZE_APICALL zeDriverGet(uint32_t *count, ze_driver_handle_t *out)
{
    return handles(1, 1, count, out);
}

ZE_APIEXPORT ze_result_t ZE_APICALL zesDeviceGet(zes_driver_handle_t driver, uint32_t *count,
                                                 zes_device_handle_t *out)
{
    (void)driver;
    return handles(1, 2, count, out);
}

ZE_APIEXPORT ze_result_t ZE_APICALL zeDeviceGet(ze_driver_handle_t driver, uint32_t *count,
                                                ze_device_handle_t *out)
{
    (void)driver;
    return handles(1, 2, count, out);
}

ZE_APIEXPORT ze_result_t ZE_APICALL zesDeviceGetProperties(zes_device_handle_t device,
                                                           zes_device_properties_t *out)
{
    if (out->stype != ZES_STRUCTURE_TYPE_DEVICE_PROPERTIES)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    snprintf(out->core.name, sizeof out->core.name, "Intel Card");
    memset(out->core.uuid.id, 0, sizeof out->core.uuid.id);
    out->core.uuid.id[15] = (uint8_t)(uintptr_t)device;
    return ZE_RESULT_SUCCESS;
}

/* A domain of the compute units and one of the memory. */
ZE_APIEXPORT ze_result_t ZE_APICALL zesDeviceEnumFrequencyDomains(zes_device_handle_t device,
                                                                  uint32_t *count,
                                                                  zes_freq_handle_t *out)
{
    return handles((uint32_t)(uintptr_t)device * 10, 2, count, out);
}

ZE_APIEXPORT ze_result_t ZE_APICALL zesFrequencyGetProperties(zes_freq_handle_t domain,
                                                              zes_freq_properties_t *out)
{
    out->type = (uintptr_t)domain % 10 ? ZES_FREQ_DOMAIN_MEMORY : ZES_FREQ_DOMAIN_GPU;
    return ZE_RESULT_SUCCESS;
}

ZE_APIEXPORT ze_result_t ZE_APICALL zesFrequencyGetState(zes_freq_handle_t domain,
                                                         zes_freq_state_t *out)
{
    out->actual = (uintptr_t)domain == 20 ? 1450 : 9999;
    out->throttleReasons = (uintptr_t)domain == 20
                               ? (zes_freq_throttle_reason_flags_t)number("reasons=", 0, 16)
                               : 0xff;
    return ZE_RESULT_SUCCESS;
}

ZE_APIEXPORT ze_result_t ZE_APICALL zesDeviceEnumTemperatureSensors(zes_device_handle_t device,
                                                                    uint32_t *count,
                                                                    zes_temp_handle_t *out)
{
    return handles((uint32_t)(uintptr_t)device * 10, 2, count, out);
}

ZE_APIEXPORT ze_result_t ZE_APICALL zesTemperatureGetState(zes_temp_handle_t thermometer,
                                                           double *out)
{
    *out = 40 + (double)(uintptr_t)thermometer;
    return ZE_RESULT_SUCCESS;
}

/* ---- ROCm SMI ---------------------------------------------------------------------------------- */

#define EXPORT __attribute__((visibility("default")))
EXPORT int rsmi_init(uint64_t flags);
EXPORT int rsmi_shut_down(void);
EXPORT int rsmi_num_monitor_devices(uint32_t *count);
EXPORT int rsmi_dev_name_get(uint32_t card, char *name, size_t size);
EXPORT int rsmi_dev_unique_id_get(uint32_t card, uint64_t *id);
EXPORT int rsmi_dev_gpu_metrics_info_get(uint32_t card, unsigned char *out);

int rsmi_init(uint64_t flags)
{
    (void)flags;
    return strstr(wish(), "none") ? 8 : 0; /* RSMI_STATUS_INIT_ERROR */
}

int rsmi_shut_down(void) { return 0; }

int rsmi_num_monitor_devices(uint32_t *count)
{
    *count = 2;
    return 0;
}

int rsmi_dev_name_get(uint32_t card, char *name, size_t size)
{
    (void)card;
    snprintf(name, size, "AMD Card");
    return 0;
}

int rsmi_dev_unique_id_get(uint32_t card, uint64_t *id)
{
    *id = 0x0123456789abcde0 + card;
    return 0;
}

/* By the offsets of rsmi_gpu_metrics_t. */
int rsmi_dev_gpu_metrics_info_get(uint32_t card, unsigned char *out)
{
    const uint16_t hotspot = 88, mhz = 2100;
    const uint64_t reasons = card == 1 ? number("reasons=", 0, 16) : UINT64_MAX - 1;
    memset(out, 0xff, strstr(wish(), "longer") ? 4096 : 120);
    out[2] = 1;
    out[3] = (unsigned char)number("revision=", 3, 10);
    memcpy(out + 6, &hotspot, sizeof hotspot);
    memcpy(out + 54, &mhz, sizeof mhz);
    memcpy(out + 112, &reasons, sizeof reasons);
    return 0;
}
