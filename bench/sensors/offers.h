/* SPDX-License-Identifier: Apache-2.0 */
/* What a repetition costs beside time, and what held its clocks down, by what the system and the
 * drivers tell. What cannot be read is absent, with the reason, and never 0.
 * $ISOPHOTE_SYS: another folder than /sys. $ISOPHOTE_NVML, $ISOPHOTE_SYSMAN, $ISOPHOTE_ROCM_SMI:
 * other libraries than libnvidia-ml.so.1, libze_loader.so.1, librocm_smi64.so. */
#ifndef ISOPHOTE_BENCH_SENSORS_H
#define ISOPHOTE_BENCH_SENSORS_H

#include "bench.h"

/* The folder of what Linux tells: /sys. */
const char *sys_folder(void);

/* ---- meters: what it costs ------------------------------------------------------------------
 *   host energy    all processor packages and their memory, of all processes: Linux' powercap class
 *                  (RAPL; docs.kernel.org/power/powercap)
 *   device energy, memory in use
 *                  a whole NVIDIA board, of all processes: NVML, which its driver brings */

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
/* For a device that is open. NULL when out of memory. */
struct meters *meters_open(const struct device_info *d, struct meter_absence *absence);
void meters_begin(struct meters *m); /* accepts NULL, as the others do */
void meters_end(struct meters *m, struct meter_reading *out);
void meters_close(struct meters *m);

/* ---- sensors: clocks, and what holds them down ---------------------------------------------- */

/* A cap is a limit that a device may keep up for ever: its steady state. The others end with what
 * causes them. */
#define THROTTLE_LIST(X)                                                                           \
    X(HEAT, "too hot", false)                                                                      \
    X(SLOWDOWN, "hardware slowdown", false)                                                        \
    X(BRAKE, "power brake", false)                                                                 \
    X(POWER, "power cap", true)                                                                    \
    X(CURRENT, "current limit", true)                                                              \
    X(QUOTA, "processor quota", true)
enum throttle {
#define X(name, text, cap) THROTTLE_##name,
    THROTTLE_LIST(X)
#undef X
        THROTTLE_COUNT
};
enum clocks { CLOCKS_FREE, CLOCKS_CAPPED, CLOCKS_THROTTLED };
enum clocks clocks_of(uint32_t reasons); /* bits 1 << enum throttle */
/* "too hot, power cap" */
void throttle_text(uint32_t reasons, char *text, size_t size);

/* Of one repetition; plain, for it crosses from worker to parent. */
struct sensor_reading {
    uint32_t reasons;
    uint32_t clock_samples;     /* 0: no clock was told */
    double mean_mhz, least_mhz; /* of them */
    bool has_celsius;
    double hottest_c;
};

/* Which source there is for a device, or why there is none; plain likewise. */
struct sensor_source_told {
    char name[32]; /* "": none, and `absent` says why */
    char absent[256];
};

struct sensors;
/* Before any driver is loaded: what drivers must be told so that their sensors work. */
void sensors_prepare(void);
/* For a device that is open: a processor's /sys, a card's NVML, Level Zero Sysman or ROCm SMI. NULL
 * when out of memory. */
struct sensors *sensors_open(const struct device_info *d, struct sensor_source_told *told);
/* From begin to end a thread reads them: after 2 ms, then at twice the time, each 100 ms at last. */
void sensors_begin(struct sensors *s); /* accepts NULL, as the others do */
void sensors_end(struct sensors *s, struct sensor_reading *out);
void sensors_close(struct sensors *s);

#endif
