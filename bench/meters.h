/* SPDX-License-Identifier: Apache-2.0 */
/* What a repetition costs beside time, by counters that the system and the driver keep.
 *   host energy    all processor packages and their memory, of all processes: Linux' powercap class
 *                  (RAPL; docs.kernel.org/power/powercap)
 *   device energy, memory in use
 *                  a whole NVIDIA board, of all processes: NVML, which its driver brings
 * What cannot be read is absent, with the reason, and never 0. */
#ifndef ISOPHOTE_BENCH_METERS_H
#define ISOPHOTE_BENCH_METERS_H

#include "bench.h"

enum meter { METER_HOST_ENERGY, METER_DEVICE_ENERGY, METER_DEVICE_MEMORY, METER_COUNT };

/* What is there of each; a plain struct, for it crosses from worker to parent. */
struct meter_absence {
    char why[METER_COUNT][192]; /* "": it can be read */
};

/* Of one repetition. */
struct meter_reading {
    double joules[METER_DEVICE_ENERGY + 1]; /* by enum meter; negative: absent */
    uint64_t device_used_bytes;             /* at its end; 0: absent */
};

/* How often a counter moves: what is shorter cannot be measured with it. RAPL: about 1 ms (Intel
 * SDM volume 3, section 15.10.3); NVML: 20 to 100 ms, by the board. */
extern const double meter_update_s[METER_DEVICE_ENERGY + 1];
enum {
    METER_UPDATES_LEAST = 10
}; /* in a repetition: then an end of it is off by a tenth at most */

struct meters;
/* For a device that is open. $ISOPHOTE_POWERCAP: another folder than /sys/class/powercap;
 * $ISOPHOTE_NVML: another library than libnvidia-ml.so.1. NULL when out of memory. */
struct meters *meters_open(const struct device_info *d, struct meter_absence *absence);
void meters_begin(struct meters *m); /* accepts NULL, as the others do */
void meters_end(struct meters *m, struct meter_reading *out);
void meters_close(struct meters *m);

#endif
