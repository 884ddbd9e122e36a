/* SPDX-License-Identifier: Apache-2.0 */
#include "base.h"

#include <string.h>
#include <sys/resource.h>
#include <time.h>

double clock_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void clock_utc(char buf[32])
{
    time_t now = time(NULL);
    struct tm tm;
    gmtime_r(&now, &tm);
    strftime(buf, 32, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

size_t memory_peak(void)
{
    FILE *f = fopen("/proc/self/status", "re");
    char line[256];
    unsigned long kib = 0;
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "VmHWM: %lu kB", &kib) == 1) // NOLINT(cert-err34-c): the kernel's number
            break;
    if (f)
        fclose(f);
    struct rusage use;
    if (!kib && getrusage(RUSAGE_SELF, &use) == 0)
        kib = (unsigned long)use.ru_maxrss;
    return (size_t)kib * 1024;
}
