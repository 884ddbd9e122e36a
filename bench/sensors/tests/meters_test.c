/* SPDX-License-Identifier: Apache-2.0 */
/* Energy and memory counters, read from a made-up folder and a library that stands for NVML. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "sensors/offers.h"

static char sys[64], folder[128]; /* the latter: of the counters */

static void put(const char *zone, const char *file, const char *text)
{
    char path[256];
    struct error err = {0};
    snprintf(path, sizeof path, "%s/%s", folder, zone);
    assert_int_equal(dir_make(path, &err), STATUS_OK);
    snprintf(path, sizeof path, "%s/%s/%s", folder, zone, file);
    assert_int_equal(file_write(path, text, strlen(text), &err), STATUS_OK);
}

static void zone(const char *name, const char *kind, const char *energy)
{
    put(name, "name", kind);
    put(name, "energy_uj", energy);
    put(name, "max_energy_range_uj", "1000000000\n");
}

static const struct device_info cpu = {.id = "native", .kind = DEVICE_CPU, .vendor = "Intel"};
static const struct device_info gpu = {
    .id = "cuda:0", .kind = DEVICE_GPU, .vendor = "NVIDIA", .name = "NVIDIA H200"};

/* Two packages and one's memory count; what is inside a package, or holds packages, does not. */
static void packages_and_memory_count_once(void **state)
{
    (void)state;
    struct meter_absence absence;
    struct meter_reading r;
    zone("intel-rapl:0", "package-0\n", "500000\n");
    zone("intel-rapl:0:0", "core\n", "100\n");
    zone("intel-rapl:0:1", "dram\n", "7000000\n");
    zone("intel-rapl:1", "package-1\n", "999000000\n");
    zone("intel-rapl:2", "psys\n", "5\n");
    zone("intel-rapl-mmio:0", "package-0\n", "500000\n");
    put("intel-rapl", "enabled", "1\n"); /* the control type itself */
    struct meters *m = meters_open(&cpu, &absence);
    assert_non_null(m);
    assert_string_equal(absence.why[METER_HOST_ENERGY], "");
    assert_string_equal(absence.why[METER_DEVICE_ENERGY],
                        "this device: its energy and memory are the host's");
    zone("intel-rapl:0", "package-0\n", "1500000\n");
    meters_begin(m);
    zone("intel-rapl:0", "package-0\n", "4500000\n"); /* + 3 J */
    zone("intel-rapl:0:0", "core\n", "2900000\n");
    zone("intel-rapl:0:1", "dram\n", "7250000\n");    /* + 0.25 J */
    zone("intel-rapl:1", "package-1\n", "2000000\n"); /* + 3 J, past the end of its range */
    zone("intel-rapl:2", "psys\n", "9000000\n");
    zone("intel-rapl-mmio:0", "package-0\n", "4500000\n");
    meters_end(m, &r);
    assert_true(fabs(r.joules[METER_HOST_ENERGY] - 6.25) < 1e-9);
    assert_true(r.joules[METER_DEVICE_ENERGY] < 0);
    assert_int_equal(r.device_used_bytes, 0);
    meters_close(m);
}

static void absent_is_said(void **state)
{
    (void)state;
    struct meter_absence absence;
    struct meter_reading r;
    setenv("ISOPHOTE_SYS", "/nonexistent", 1);
    struct meters *m = meters_open(&cpu, &absence);
    assert_non_null(
        strstr(absence.why[METER_HOST_ENERGY], "/nonexistent/class/powercap: No such file"));
    meters_begin(m);
    meters_end(m, &r);
    assert_true(r.joules[METER_HOST_ENERGY] < 0);
    meters_close(m);
    char empty[96];
    struct error err = {0};
    snprintf(empty, sizeof empty, "%s/empty", sys); /* with other things in it */
    assert_int_equal(dir_make(empty, &err), STATUS_OK);
    setenv("ISOPHOTE_SYS", empty, 1);
    snprintf(empty, sizeof empty, "%s/empty/class", sys);
    assert_int_equal(dir_make(empty, &err), STATUS_OK);
    snprintf(empty, sizeof empty, "%s/empty/class/powercap", sys);
    assert_int_equal(dir_make(empty, &err), STATUS_OK);
    snprintf(empty, sizeof empty, "%s/empty/class/powercap/dtpm", sys);
    assert_int_equal(dir_make(empty, &err), STATUS_OK);
    meters_close(meters_open(&cpu, &absence));
    assert_non_null(strstr(absence.why[METER_HOST_ENERGY], "no counter of a processor package"));
    setenv("ISOPHOTE_SYS", sys, 1);
    static const char *const bad[] = {"", "much\n"};
    for (size_t i = 0; i < 2; i++) {
        zone("intel-rapl:1", "package-1\n", bad[i]);
        meters_close(meters_open(&cpu, &absence));
        assert_non_null(strstr(absence.why[METER_HOST_ENERGY], "intel-rapl:1/energy_uj"));
    }
    zone("intel-rapl:1", "package-1\n", "3\n");
    /* a counter that goes away while it is used */
    m = meters_open(&cpu, &absence);
    meters_begin(m);
    zone("intel-rapl:1", "package-1\n", "");
    meters_end(m, &r);
    assert_true(r.joules[METER_HOST_ENERGY] < 0);
    meters_close(m);
    zone("intel-rapl:1", "package-1\n", "3\n");
    meters_end(NULL, &r);
    assert_true(r.joules[METER_HOST_ENERGY] < 0 && r.joules[METER_DEVICE_ENERGY] < 0);
}

/* Since Linux 5.10 energy_uj is mode 0400. */
static void root_alone_may_read(void **state)
{
    (void)state;
    struct meter_absence absence;
    char path[256];
    uid_t me = geteuid();
    snprintf(path, sizeof path, "%s/intel-rapl:0/energy_uj", folder);
    assert_int_equal(chmod(path, 0), 0);
    assert_int_equal(chmod(sys, 0755), 0);
    if (me == 0) /* who may read all */
        assert_int_equal(seteuid(65534), 0);
    meters_close(meters_open(&cpu, &absence));
    assert_int_equal(seteuid(me), 0);
    assert_int_equal(chmod(path, 0600), 0);
    assert_non_null(strstr(absence.why[METER_HOST_ENERGY], "Linux lets root alone read it"));
}

static void board_of_that_name(void **state)
{
    (void)state;
    struct meter_absence absence;
    struct meter_reading r;
    setenv("NVML_MOCK", "NVIDIA T4;NVIDIA H200;NVIDIA T4", 1);
    struct meters *m = meters_open(&gpu, &absence);
    for (int i = 0; i < METER_COUNT; i++)
        assert_string_equal(absence.why[i], "");
    for (int i = 0; i < 3; i++) {
        meters_begin(m);
        meters_end(m, &r);
        assert_true(fabs(r.joules[METER_DEVICE_ENERGY] - 2.5) < 1e-12);
        assert_int_equal(r.device_used_bytes, 42);
    }
    meters_close(m);
}

/* As it does when the driver is loaded again. */
static void counter_that_runs_backwards(void **state)
{
    (void)state;
    struct meter_absence absence;
    struct meter_reading r;
    setenv("NVML_MOCK", "NVIDIA H200-", 1);
    struct meters *m = meters_open(&gpu, &absence);
    assert_string_equal(absence.why[METER_DEVICE_ENERGY], "");
    meters_begin(m);
    meters_end(m, &r);
    assert_true(r.joules[METER_DEVICE_ENERGY] < 0);
    meters_close(m);
}

static void board_that_cannot_be_told(void **state)
{
    (void)state;
    static const struct {
        const char *boards, *energy, *memory; /* why absent; "" not */
    } rows[] = {
        {"NVIDIA H200;NVIDIA H200", "2 cards are named 'NVIDIA H200'", "2 cards"},
        {"NVIDIA T4", "none of its 1 cards is named 'NVIDIA H200'", "none"},
        {"", "none of its 0 cards", "none"},
        {"down", "nvmlInit: Driver Not Loaded", "Driver Not Loaded"},
        {"NVIDIA H200!", "Not Supported", ""},
    };
    struct meter_absence absence;
    struct meter_reading r;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        setenv("NVML_MOCK", rows[i].boards, 1);
        struct meters *m = meters_open(&gpu, &absence);
        assert_non_null(strstr(absence.why[METER_DEVICE_ENERGY], rows[i].energy));
        assert_non_null(strstr(absence.why[METER_DEVICE_MEMORY], rows[i].memory));
        assert_int_equal(absence.why[METER_DEVICE_MEMORY][0] == '\0', rows[i].memory[0] == '\0');
        meters_begin(m);
        meters_end(m, &r);
        assert_true(r.joules[METER_DEVICE_ENERGY] < 0);
        meters_close(m);
    }
    static const char *const libraries[] = {"/nonexistent/libnvidia-ml.so.1", "libm.so.6"};
    static const char *const why[] = {"NVML cannot be loaded", "it lacks nvmlInit_v2"};
    for (size_t i = 0; i < 2; i++) {
        setenv("ISOPHOTE_NVML", libraries[i], 1);
        meters_close(meters_open(&gpu, &absence));
        assert_non_null(strstr(absence.why[METER_DEVICE_ENERGY], why[i]));
    }
    setenv("ISOPHOTE_NVML", NVML_MOCK, 1);
    const struct device_info other = {.kind = DEVICE_GPU, .vendor = "Advanced Micro Devices"};
    meters_close(meters_open(&other, &absence));
    assert_non_null(strstr(absence.why[METER_DEVICE_ENERGY], "no counter of its vendor's"));
}

int main(void)
{
    struct error err = {0};
    snprintf(sys, sizeof sys, "/tmp/isophote-meters-XXXXXX");
    if (!mkdtemp(sys))
        return 99;
    snprintf(folder, sizeof folder, "%s/class", sys);
    if (dir_make(folder, &err))
        return 99;
    snprintf(folder, sizeof folder, "%s/class/powercap", sys);
    if (dir_make(folder, &err))
        return 99;
    setenv("ISOPHOTE_SYS", sys, 1);
    setenv("ISOPHOTE_NVML", NVML_MOCK, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packages_and_memory_count_once),
        cmocka_unit_test(absent_is_said),
        cmocka_unit_test(root_alone_may_read),
        cmocka_unit_test(board_of_that_name),
        cmocka_unit_test(board_that_cannot_be_told),
        cmocka_unit_test(counter_that_runs_backwards),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[160];
    snprintf(command, sizeof command, "rm -rf '%s'", sys);
    return system(command) == 0 ? failed : 98; /* NOLINT(cert-env33-c): a fixed command */
}
