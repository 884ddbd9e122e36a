/* SPDX-License-Identifier: Apache-2.0 */
/* isophote devices: what can render here. */
#include "cli.h"

static void device_json(struct json_writer *w, const struct device_info *d)
{
    json_begin_object(w);
    json_key_string(w, "id", d->id);
    json_key_string(w, "api", d->api);
    json_key_string(w, "name", d->name);
    json_key_string(w, "vendor", d->vendor);
    json_key_string(w, "driver", d->driver);
    json_key_string(w, "version", d->version);
    json_key_string(w, "compiler", d->compiler);
    json_key_string(w, "kind",
                    d->kind == DEVICE_CPU   ? "cpu"
                    : d->kind == DEVICE_GPU ? "gpu"
                                            : "other");
    json_key_integer(w, "compute_units", d->compute_units);
    json_key_integer(w, "clock_mhz", d->clock_mhz);
    json_key_integer(w, "max_work_group", d->max_work_group);
    json_key(w, "max_work_group_axis");
    json_begin_array(w);
    json_integer(w, d->max_work_group_axis[0]);
    json_integer(w, d->max_work_group_axis[1]);
    json_end_array(w);
    json_key_integer(w, "global_bytes", (int64_t)d->global_bytes);
    json_key_integer(w, "max_alloc_bytes", (int64_t)d->max_alloc_bytes);
    json_key_bool(w, "fp64", d->fp64);
    json_key_bool(w, "subgroups", d->subgroups);
    json_key_bool(w, "spirv", d->spirv);
    json_end_object(w);
}

struct devices_command {
    bool json, all;
};

static int run(void *settings, const struct arguments *args)
{
    const struct devices_command *c = settings;
    (void)args;
    struct arena a = {0};
    struct error err = {0};
    struct device_info *devices;
    const char *const *problems;
    size_t count, problem_count;
    if (devices_list(&a, c->all, &devices, &count, &problems, &problem_count, &err) != STATUS_OK) {
        arena_free(&a);
        return report_error(&err, true);
    }
    int status = count ? EXIT_PASS : EXIT_NOTHING_RAN;
    if (c->json) {
        struct json_writer w = {.pretty = true};
        json_begin_object(&w);
        json_key(&w, "devices");
        json_begin_array(&w);
        for (size_t i = 0; i < count; i++)
            device_json(&w, &devices[i]);
        json_end_array(&w);
        json_key(&w, "problems");
        json_begin_array(&w);
        for (size_t i = 0; i < problem_count; i++)
            json_string(&w, problems[i]);
        json_end_array(&w);
        json_end_object(&w);
        if (!json_print(&w))
            status = EXIT_BAD_INPUT;
    } else {
        for (size_t i = 0; i < count; i++) {
            const struct device_info *d = &devices[i];
            printf("%-12s %s\n%-12s %s; %s; %s\n%-12s %u compute units, work-groups to %u (%u x "
                   "%u), %.1f GiB\n",
                   d->id, d->name, "", d->vendor, d->driver, d->version, "", d->compute_units,
                   d->max_work_group, d->max_work_group_axis[0], d->max_work_group_axis[1],
                   (double)d->global_bytes / 1073741824.0);
        }
        for (size_t i = 0; i < problem_count; i++)
            printf("not here: %s\n", problems[i]);
    }
    arena_free(&a);
    return status;
}

static const struct option options[] = {
    JSON_OPTION(offsetof(struct devices_command, json)),
    {"--test-devices", OPTION_FLAG, offsetof(struct devices_command, all),
     .help = "also those that only test the suite: null and faulty:*"},
};
const struct command command_devices = {
    .name = "devices",
    .group = "what is here",
    .line = "list the devices found, and what is missing",
    .usage = "isophote devices [options]",
    .summary = "Lists the devices that can render here, and what is missing or broken. The "
               "reference renderer (`--device reference`) is always there and not listed.",
    COMMAND_OPTIONS(options),
    .settings_size = sizeof(struct devices_command),
    .run = run,
};
