/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks and throttle reasons, from a made-up /sys and from libraries that stand for NVML, Level
 * Zero's Sysman and ROCm SMI. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "sensors/offers.h"

enum {
    HEAT = 1 << THROTTLE_HEAT,
    SLOWDOWN = 1 << THROTTLE_SLOWDOWN,
    BRAKE = 1 << THROTTLE_BRAKE,
    POWER = 1 << THROTTLE_POWER,
    CURRENT = 1 << THROTTLE_CURRENT,
    QUOTA = 1 << THROTTLE_QUOTA
};

static const struct device_info cpu = {.id = "native", .kind = DEVICE_CPU, .vendor = "Intel"};

static void sleep_ms(long ms)
{
    const struct timespec t = {.tv_nsec = ms * 1000000};
    nanosleep(&t, NULL);
}

static struct sensor_reading reading(struct sensors *s, long ms)
{
    struct sensor_reading r;
    sensors_begin(s);
    sleep_ms(ms);
    sensors_end(s, &r);
    return r;
}

/* ---- a processor --------------------------------------------------------------------------- */

static char sys[64];

/* "a/b/c" in the made-up folder; NULL takes it away. */
static void put(const char *path, const char *text)
{
    char full[256];
    struct error err = {0};
    assert_true((size_t)snprintf(full, sizeof full, "%s/%s", sys, path) < sizeof full);
    for (char *c = full + strlen(sys) + 1; (c = strchr(c, '/')) != NULL; *c++ = '/') {
        *c = '\0';
        assert_int_equal(dir_make(full, &err), STATUS_OK);
    }
    if (text)
        assert_int_equal(file_write(full, text, strlen(text), &err), STATUS_OK);
    else
        (void)unlink(full);
}

static void clean(void)
{
    char command[192];
    snprintf(command, sizeof command, "rm -rf '%s' && mkdir '%s'", sys, sys);
    assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c): a fixed command */
}

#define CPU(n) "devices/system/cpu/cpu" #n

static void processor(void)
{
    clean();
    put(CPU(0) "/cpufreq/scaling_cur_freq", "3000000\n");
    put(CPU(1) "/cpufreq/scaling_cur_freq", "2000000\n");
    put("devices/system/cpu/cpufreq/scaling_cur_freq", "9000000\n"); /* no processor */
    put(CPU(0) "/thermal_throttle/core_throttle_count", "7\n");
    put(CPU(1) "/thermal_throttle/package_throttle_count", "11\n");
    put(CPU(1) "/thermal_throttle/core_power_limit_count", "2\n");
    put("class/hwmon/hwmon0/name", "nvme\n");
    put("class/hwmon/hwmon0/temp1_input", "99000\n");
    put("class/hwmon/hwmon0/temp1_crit_alarm", "1\n");
    put("class/hwmon/hwmon1/name", "coretemp\n");
    put("class/hwmon/hwmon1/temp1_input", "61000\n");
    put("class/hwmon/hwmon1/temp2_input", "64500\n");
    put("class/hwmon/hwmon1/temp2_crit_alarm", "0\n");
    put("class/hwmon/hwmon1/power1_cap_alarm", "0\n");
    put("class/thermal/cooling_device0/type", "Fan\n");
    put("class/thermal/cooling_device0/cur_state", "3\n");
    put("class/thermal/cooling_device1/type", "intel_powerclamp\n");
    put("class/thermal/cooling_device1/cur_state", "-1\n");
    put("class/thermal/cooling_device2/type", "thermal-cpufreq-0\n");
    put("class/thermal/cooling_device2/cur_state", "0\n");
    put("fs/cgroup/cpu.stat", "usage_usec 5\nnr_throttled_burst 9\nnr_throttled 4\n");
}

static void a_processor_tells(void **state)
{
    (void)state;
    struct sensor_source_told told;
    processor();
    struct sensors *s = sensors_open(&cpu, &told);
    assert_non_null(s);
    assert_string_equal(told.name, "/sys");
    assert_string_equal(told.absent, "");
    struct sensor_reading r = reading(s, 10);
    assert_int_equal(r.reasons, 0);
    assert_true(r.clock_samples >= 1 && r.mean_mhz == 2500 && r.least_mhz == 2500);
    assert_true(r.has_celsius && r.hottest_c == 64.5);
    static const struct {
        const char *path, *now;
        uint32_t reasons;
        enum clocks clocks;
        bool lasts; /* else what happened before this repetition is past */
    } rows[] = {
        {CPU(0) "/thermal_throttle/core_throttle_count", "8\n", HEAT, CLOCKS_THROTTLED, false},
        {CPU(1) "/thermal_throttle/package_throttle_count", "12\n", HEAT, CLOCKS_THROTTLED, false},
        {CPU(1) "/thermal_throttle/core_power_limit_count", "3\n", POWER, CLOCKS_CAPPED, false},
        {"fs/cgroup/cpu.stat", "nr_throttled 5\n", QUOTA, CLOCKS_CAPPED, false},
        {"class/hwmon/hwmon1/temp2_crit_alarm", "1\n", HEAT, CLOCKS_THROTTLED, true},
        {"class/hwmon/hwmon1/power1_cap_alarm", "1\n", POWER, CLOCKS_CAPPED, true},
        {"class/thermal/cooling_device1/cur_state", "20\n", HEAT, CLOCKS_THROTTLED, true},
        {"class/thermal/cooling_device2/cur_state", "1\n", HEAT, CLOCKS_THROTTLED, true},
        /* not ours, or not a number */
        {"class/hwmon/hwmon0/temp1_crit_alarm", "2\n", 0, CLOCKS_FREE, true},
        {"class/thermal/cooling_device0/cur_state", "4\n", 0, CLOCKS_FREE, true},
        {CPU(0) "/thermal_throttle/core_throttle_count", "\n", 0, CLOCKS_FREE, true},
        {CPU(0) "/thermal_throttle/core_throttle_count", NULL, 0, CLOCKS_FREE, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sensors_begin(s);
        put(rows[i].path, rows[i].now);
        sensors_end(s, &r);
        if (r.reasons != rows[i].reasons)
            fail_msg("%s: reasons %x", rows[i].path, r.reasons);
        assert_int_equal(clocks_of(r.reasons), rows[i].clocks);
        r = reading(s, 0);
        assert_int_equal(r.reasons, rows[i].lasts ? rows[i].reasons : 0);
        if (rows[i].lasts)
            put(rows[i].path, "0\n");
    }
    /* what comes and goes while it runs */
    sensors_begin(s);
    put("class/hwmon/hwmon1/temp2_crit_alarm", "1\n");
    put("class/hwmon/hwmon1/temp2_input", "101000\n");
    put(CPU(0) "/cpufreq/scaling_cur_freq", "1000000\n");
    sleep_ms(150);
    put("class/hwmon/hwmon1/temp2_crit_alarm", "0\n");
    put("class/hwmon/hwmon1/temp2_input", "64500\n");
    sensors_end(s, &r);
    assert_int_equal(r.reasons, HEAT);
    assert_true(r.hottest_c == 101 && r.least_mhz == 1500);
    sensors_close(s);
}

static void nothing_is_said_to_be_absent(void **state)
{
    (void)state;
    struct sensor_source_told told;
    clean();
    struct sensors *s = sensors_open(&cpu, &told);
    assert_non_null(s);
    assert_string_equal(told.name, "");
    assert_non_null(strstr(told.absent, "tells no clocks"));
    assert_non_null(strstr(told.absent, sys));
    struct sensor_reading r = reading(s, 5);
    assert_true(r.reasons == 0 && r.clock_samples == 0 && !r.has_celsius);
    sensors_close(s);
    sensors_begin(NULL);
    sensors_end(NULL, &r);
    sensors_close(NULL);
    const struct device_info other = {.kind = DEVICE_GPU, .vendor = "Imagination"};
    sensors_close(sensors_open(&other, &told));
    assert_non_null(strstr(told.absent, "no sensors of its vendor's"));
}

/* ---- cards --------------------------------------------------------------------------------- */

static const struct device_info nvidia = {.kind = DEVICE_GPU,
                                          .vendor = "NVIDIA Corporation",
                                          .name = "NVIDIA H200",
                                          .uuid = "22222222-2222-2222-2222-222222222222"},
                                intel = {.kind = DEVICE_GPU,
                                         .vendor = "Intel(R) Corporation",
                                         .name = "Intel Card",
                                         .uuid = "00000000-0000-0000-0000-000000000002"},
                                /* the text "0123456789abcde1" */
    amd = {.kind = DEVICE_GPU,
           .vendor = "Advanced Micro Devices, Inc.",
           .name = "AMD Card",
           .uuid = "30313233-3435-3637-3839-616263646531"};

static void reasons_by_name(void **state)
{
    (void)state;
    static const struct {
        const struct device_info *device;
        const char *source, *variable, *wish;
        uint32_t reasons;
    } rows[] = {
        /* nvml.h */
        {&nvidia, "NVML", "NVML_MOCK_REASONS", "0", 0},
        {&nvidia, "NVML", "NVML_MOCK_REASONS", "1", 0},   /* idle */
        {&nvidia, "NVML", "NVML_MOCK_REASONS", "2", 0},   /* clocks that the user set */
        {&nvidia, "NVML", "NVML_MOCK_REASONS", "10", 0},  /* boards that keep step */
        {&nvidia, "NVML", "NVML_MOCK_REASONS", "100", 0}, /* clocks of a display */
        {&nvidia, "NVML", "NVML_MOCK_REASONS", "4", POWER},
        {&nvidia, "NVML", "NVML_MOCK_REASONS", "8", SLOWDOWN},
        {&nvidia, "NVML", "NVML_MOCK_REASONS", "20", HEAT},
        {&nvidia, "NVML", "NVML_MOCK_REASONS", "48", HEAT | SLOWDOWN},
        {&nvidia, "NVML", "NVML_MOCK_REASONS", "88", BRAKE | SLOWDOWN},
        /* zes_api.h */
        {&intel, "Level Zero Sysman", "CARDS_MOCK", "reasons=0", 0},
        {&intel, "Level Zero Sysman", "CARDS_MOCK", "reasons=1", POWER},
        {&intel, "Level Zero Sysman", "CARDS_MOCK", "reasons=2", POWER},
        {&intel, "Level Zero Sysman", "CARDS_MOCK", "reasons=4", CURRENT},
        {&intel, "Level Zero Sysman", "CARDS_MOCK", "reasons=8", HEAT},
        {&intel, "Level Zero Sysman", "CARDS_MOCK", "reasons=10", BRAKE},
        {&intel, "Level Zero Sysman", "CARDS_MOCK", "reasons=60", 0}, /* ranges */
        /* amdgpu_smu.h */
        {&amd, "ROCm SMI", "CARDS_MOCK", "reasons=0", 0},
        {&amd, "ROCm SMI", "CARDS_MOCK", "reasons=1", POWER},
        {&amd, "ROCm SMI", "CARDS_MOCK", "reasons=1 longer", POWER},
        {&amd, "ROCm SMI", "CARDS_MOCK", "reasons=1 revision=2", 0}, /* not of that time */
        {&amd, "ROCm SMI", "CARDS_MOCK", "reasons=10000", CURRENT},
        {&amd, "ROCm SMI", "CARDS_MOCK", "reasons=100000000", HEAT},
        {&amd, "ROCm SMI", "CARDS_MOCK", "reasons=1000000000", 0}, /* hotspot of RDNA 3 */
        {&amd, "ROCm SMI", "CARDS_MOCK", "reasons=800000000000", HEAT},
        {&amd, "ROCm SMI", "CARDS_MOCK", "reasons=ffffffffffffffff", 0}, /* not told */
    };
    setenv("NVML_MOCK", "NVIDIA H200;NVIDIA H200", 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sensor_source_told told;
        setenv(rows[i].variable, rows[i].wish, 1);
        struct sensors *s = sensors_open(rows[i].device, &told);
        if (strcmp(told.name, rows[i].source) != 0)
            fail_msg("row %zu: %s", i, told.absent);
        const struct sensor_reading r = reading(s, 0);
        if (r.reasons != rows[i].reasons)
            fail_msg("%s %s: reasons %x", rows[i].source, rows[i].wish, r.reasons);
        const double mhz = rows[i].device == &nvidia  ? 1900
                           : rows[i].device == &intel ? 1450
                                                      : 2100,
                     celsius = rows[i].device == &nvidia  ? 71
                               : rows[i].device == &intel ? 61
                                                          : 88;
        assert_true(r.clock_samples && r.mean_mhz == mhz);
        assert_true(r.has_celsius && r.hottest_c == celsius);
        sensors_close(s);
    }
    unsetenv("CARDS_MOCK");
}

/* Free at both ends and held down between. */
static void throttling_within_a_repetition(void **state)
{
    (void)state;
    struct sensor_source_told told;
    setenv("NVML_MOCK", "NVIDIA H200;NVIDIA H200", 1);
    struct sensors *s = sensors_open(&nvidia, &told);
    setenv("NVML_MOCK_REASONS", "", 1);
    (void)reading(s, 0);
    setenv("NVML_MOCK_REASONS", "0,40,0", 1);
    struct sensor_reading r = reading(s, 60);
    assert_int_equal(r.reasons, HEAT);
    assert_true(r.clock_samples >= 2);
    r = reading(s, 20);
    assert_int_equal(r.reasons, 0);
    sensors_close(s);
}

static void which_card_it_is(void **state)
{
    (void)state;
    struct device_info other = nvidia, unnamed = nvidia, amd_of_old = amd;
    snprintf(other.uuid, sizeof other.uuid, "99999999-9999-9999-9999-999999999999");
    unnamed.uuid[0] = '\0';
    amd_of_old.uuid[0] = '\0';
    static const struct device_info wrong_intel = {
        .kind = DEVICE_GPU, .vendor = "Intel", .name = "Another"};
    const struct {
        const struct device_info *device;
        const char *boards, *cards, *absent;
    } rows[] = {
        {&nvidia, "NVIDIA H200;NVIDIA H200", "", ""},
        {&nvidia, "NVIDIA T4;NVIDIA H200", "", ""},
        {&other, "NVIDIA H200;NVIDIA H200", "", "none of its 2 cards has the UUID 99999999"},
        {&unnamed, "NVIDIA H200;NVIDIA H200", "", "2 cards are named 'NVIDIA H200'"},
        {&unnamed, "NVIDIA T4;NVIDIA H200", "", ""},
        {&nvidia, "down", "", "nvmlInit: Driver Not Loaded"},
        {&intel, "", "", ""},
        {&intel, "", "old", ""},
        {&intel, "", "none", "Sysman does not start: 0x78000001"},
        {&wrong_intel, "", "", "none of its 2 cards is named 'Another'"},
        {&amd, "", "", ""},
        {&amd_of_old, "", "", "2 cards are named 'AMD Card'"},
        {&amd, "", "none", "rsmi_init fails with 8"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sensor_source_told told;
        setenv("NVML_MOCK", rows[i].boards, 1);
        setenv("CARDS_MOCK", rows[i].cards, 1);
        setenv("ZES_ENABLE_SYSMAN", "1", 1);
        if (strcmp(rows[i].cards, "old") != 0)
            unsetenv("ZES_ENABLE_SYSMAN");
        struct sensors *s = sensors_open(rows[i].device, &told);
        if (rows[i].absent[0] ? !strstr(told.absent, rows[i].absent) : told.absent[0] != '\0')
            fail_msg("row %zu: '%s'", i, told.absent);
        assert_int_equal(told.name[0] == '\0', rows[i].absent[0] != '\0');
        sensors_close(s);
    }
    /* libraries that are not there, or others */
    static const char *const variables[] = {"ISOPHOTE_NVML", "ISOPHOTE_SYSMAN",
                                            "ISOPHOTE_ROCM_SMI"};
    static const struct device_info *const devices[] = {&nvidia, &intel, &amd};
    for (size_t i = 0; i < 3; i++) {
        struct sensor_source_told told;
        char kept[512];
        snprintf(kept, sizeof kept, "%s", getenv(variables[i]));
        setenv(variables[i], "/nonexistent/library.so", 1);
        sensors_close(sensors_open(devices[i], &told));
        assert_non_null(strstr(told.absent, "cannot be loaded: /nonexistent/library.so"));
        setenv(variables[i], "libm.so.6", 1);
        sensors_close(sensors_open(devices[i], &told));
        assert_non_null(strstr(told.absent, "libm.so.6: it lacks "));
        setenv(variables[i], kept, 1);
    }
}

/* Drivers whose loader has no zesInit are told by the variable; others must not be. */
static void drivers_are_told_before(void **state)
{
    (void)state;
    unsetenv("ZES_ENABLE_SYSMAN");
    sensors_prepare();
    assert_null(getenv("ZES_ENABLE_SYSMAN"));
    const char *mock = getenv("ISOPHOTE_SYSMAN");
    char kept[512];
    snprintf(kept, sizeof kept, "%s", mock);
    setenv("ISOPHOTE_SYSMAN", "libm.so.6", 1);
    sensors_prepare();
    assert_string_equal(getenv("ZES_ENABLE_SYSMAN"), "1");
    setenv("ISOPHOTE_SYSMAN", kept, 1);
}

static void reasons_in_words(void **state)
{
    (void)state;
    char text[128], little[8];
    throttle_text(0, text, sizeof text);
    assert_string_equal(text, "");
    throttle_text(POWER | HEAT, text, sizeof text);
    assert_string_equal(text, "too hot, power cap");
    throttle_text((1U << THROTTLE_COUNT) - 1, text, sizeof text);
    assert_string_equal(text, "too hot, hardware slowdown, power brake, power cap, current limit, "
                              "processor quota");
    throttle_text((1U << THROTTLE_COUNT) - 1, little, sizeof little);
    assert_string_equal(little, "too hot");
}

int main(void)
{
    snprintf(sys, sizeof sys, "/tmp/isophote-sensors-XXXXXX");
    if (!mkdtemp(sys))
        return 99;
    setenv("ISOPHOTE_SYS", sys, 1);
    setenv("ISOPHOTE_NVML", NVML_MOCK, 1);
    setenv("ISOPHOTE_SYSMAN", CARDS_MOCK, 1);
    setenv("ISOPHOTE_ROCM_SMI", CARDS_MOCK, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_processor_tells), cmocka_unit_test(nothing_is_said_to_be_absent),
        cmocka_unit_test(reasons_by_name),   cmocka_unit_test(throttling_within_a_repetition),
        cmocka_unit_test(which_card_it_is),  cmocka_unit_test(drivers_are_told_before),
        cmocka_unit_test(reasons_in_words),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[160];
    snprintf(command, sizeof command, "rm -rf '%s'", sys);
    return system(command) == 0 ? failed : 98; /* NOLINT(cert-env33-c): a fixed command */
}
