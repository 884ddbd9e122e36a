/* SPDX-License-Identifier: Apache-2.0 */
/* What bench/sensors calls of NVML, for machines without an NVIDIA board. NVML_MOCK: names of
 * boards, with ';' between them; a name that ends with '!' has no energy counter, with '-' one that
 * runs backwards. "down": nvmlInit fails. Each reading of energy is 2.5 J above the last. The UUID
 * of a board has its number from 1 as each digit; there is none with NVML_MOCK_OLD.
 * NVML_MOCK_REASONS: numbers in base 16 with ',' between them, one a reading, the last for ever; ""
 * begins again. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
EXPORT int nvmlInit_v2(void);
EXPORT int nvmlShutdown(void);
EXPORT const char *nvmlErrorString(int code);
EXPORT int nvmlDeviceGetCount_v2(unsigned *count);
EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, const char **device);
EXPORT int nvmlDeviceGetName(const char *device, char *name, unsigned size);
EXPORT int nvmlDeviceGetTotalEnergyConsumption(const char *device, unsigned long long *mj);
EXPORT int nvmlDeviceGetUUID(const char *device, char *uuid, unsigned size);
EXPORT int nvmlDeviceGetClockInfo(const char *device, int which, unsigned *mhz);
EXPORT int nvmlDeviceGetTemperature(const char *device, int which, unsigned *celsius);
EXPORT int nvmlDeviceGetCurrentClocksEventReasons(const char *device, unsigned long long *bits);
EXPORT int nvmlDeviceGetMemoryInfo(const char *device, unsigned long long memory[3]);

enum { SUCCESS, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, DRIVER_NOT_LOADED = 9 };

static const char *wish(void)
{
    const char *w = getenv("NVML_MOCK");
    return w ? w : "";
}

int nvmlInit_v2(void) { return strcmp(wish(), "down") == 0 ? DRIVER_NOT_LOADED : SUCCESS; }
int nvmlShutdown(void) { return SUCCESS; }

const char *nvmlErrorString(int code)
{
    return code == DRIVER_NOT_LOADED ? "Driver Not Loaded"
           : code == NOT_SUPPORTED   ? "Not Supported"
                                     : "Invalid Argument";
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
    *count = *wish() ? 1 : 0;
    for (const char *p = wish(); *p; p++)
        *count += *p == ';';
    return SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, const char **device)
{
    const char *p = wish();
    while (index-- && p)
        p = strchr(p, ';') ? strchr(p, ';') + 1 : NULL;
    *device = p;
    return p ? SUCCESS : INVALID_ARGUMENT;
}

int nvmlDeviceGetName(const char *device, char *name, unsigned size)
{
    size_t n = strcspn(device, ";!-");
    if (n >= size)
        return INVALID_ARGUMENT;
    memcpy(name, device, n);
    name[n] = '\0';
    return SUCCESS;
}

int nvmlDeviceGetTotalEnergyConsumption(const char *device, unsigned long long *mj)
{
    static unsigned long long total = 1ULL << 33;
    if (device[strcspn(device, ";!")] == '!')
        return NOT_SUPPORTED;
    total += device[strcspn(device, ";-")] == '-' ? -2500ULL : 2500;
    *mj = total;
    return SUCCESS;
}

int nvmlDeviceGetMemoryInfo(const char *device, unsigned long long memory[3])
{
    (void)device;
    memory[0] = 100;
    memory[1] = 58;
    memory[2] = 42;
    return SUCCESS;
}

int nvmlDeviceGetUUID(const char *device, char *uuid, unsigned size)
{
    int digit = 1;
    if (getenv("NVML_MOCK_OLD"))
        return NOT_SUPPORTED;
    for (const char *p = wish(); p < device; p++)
        digit += *p == ';';
    const int n = snprintf(uuid, size, "GPU-AAAAAAAA-AAAA-AAAA-AAAA-AAAAAAAAAAAA");
    for (char *c = uuid + 4; *c; c++)
        *c = *c == 'A' ? (char)('0' + digit) : *c;
    return n < (int)size ? SUCCESS : INVALID_ARGUMENT;
}

int nvmlDeviceGetClockInfo(const char *device, int which, unsigned *mhz)
{
    (void)device;
    *mhz = 1900;
    return which == 1 ? SUCCESS : INVALID_ARGUMENT; /* NVML_CLOCK_SM */
}

int nvmlDeviceGetTemperature(const char *device, int which, unsigned *celsius)
{
    (void)device;
    *celsius = 71;
    return which == 0 ? SUCCESS : INVALID_ARGUMENT; /* NVML_TEMPERATURE_GPU */
}

int nvmlDeviceGetCurrentClocksEventReasons(const char *device, unsigned long long *bits)
{
    static atomic_uint readings;
    const char *list = getenv("NVML_MOCK_REASONS");
    (void)device;
    *bits = 0;
    if (!list)
        return NOT_SUPPORTED;
    if (!*list)
        atomic_store(&readings, 0);
    else
        for (unsigned i = atomic_fetch_add(&readings, 1); i && strchr(list, ','); i--)
            list = strchr(list, ',') + 1;
    *bits = strtoull(list, NULL, 16);
    return SUCCESS;
}
