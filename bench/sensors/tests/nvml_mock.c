/* SPDX-License-Identifier: Apache-2.0 */
/* What bench/meters.c calls of NVML, for machines without an NVIDIA board. NVML_MOCK: names of
 * boards, with ';' between them; a name that ends with '!' has no energy counter, with '-' one that
 * runs backwards. "down": nvmlInit fails. Each reading of energy is 2.5 J above the last. */
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
