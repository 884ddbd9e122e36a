/* SPDX-License-Identifier: Apache-2.0 */
/* A source of clocks and throttle reasons, and what sources share. */
#ifndef ISOPHOTE_BENCH_SENSOR_SOURCE_H
#define ISOPHOTE_BENCH_SENSOR_SOURCE_H

#include "sensors/offers.h"

/* What a source tells at one time. */
struct sensor_sample {
    double mhz;       /* 0: not told */
    uint32_t reasons; /* bits 1 << enum throttle */
    bool has_celsius;
    double celsius;
};

enum sensor_moment { MOMENT_BEGIN, MOMENT_WITHIN, MOMENT_END };

struct sensor_source {
    const char *name;
    bool (*fits)(const struct device_info *d);
    /* NULL: absent, and why says so. */
    void *(*open)(const struct device_info *d, char *why, size_t size);
    /* Counters are set to their begin at MOMENT_BEGIN and looked at at MOMENT_END alone. */
    void (*sample)(void *state, enum sensor_moment moment, struct sensor_sample *out);
    void (*close)(void *state);
};
extern const struct sensor_source sensor_host, sensor_nvml, sensor_sysman, sensor_rocm_smi;

/* ---- small files ------------------------------------------------------------------------- */

/* The first line of folder/file, without its end. False: errno says why. */
bool sys_word(const char *folder, const char *file, char *buf, size_t size);
bool sys_number(const char *folder, const char *file, uint64_t *out);

/* ---- libraries --------------------------------------------------------------------------- */

/* The value of a variable, or what holds without. */
const char *sensor_place(const char *variable, const char *otherwise);
bool sensor_vendor_is(const struct device_info *d, const char *word);

/* Symbols of a library: pointers in a struct, by their offset in it. */
struct symbol {
    const char *name;
    size_t offset;
    bool needed;
};
/* Loads it and fills in the pointers. The library stays: drivers do not take well to being
 * unloaded. False: why. */
bool sensor_library(const char *what, const char *file, const struct symbol *symbols, size_t count,
                    void *functions, char *why, size_t size);

/* The card that is the device: the one with its UUID; where either tells none, the only one of its
 * name. */
struct card {
    char name[128];
    unsigned char uuid[16]; /* zero: not told */
};
/* False: why, with `what` before it. */
bool sensor_card(const char *what, const struct card *cards, size_t count,
                 const struct device_info *d, size_t *found, char *why, size_t size);

/* ---- NVML, for meters too ----------------------------------------------------------------- */

struct nvml_board;
struct nvml_board *nvml_board_open(const struct device_info *d, char *why, size_t size);
/* NULL, or why it cannot be read. */
const char *nvml_energy(struct nvml_board *b, unsigned long long *millijoules);
const char *nvml_memory(struct nvml_board *b, uint64_t *used);
void nvml_board_close(struct nvml_board *b); /* accepts NULL */

#endif
