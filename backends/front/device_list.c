/* SPDX-License-Identifier: Apache-2.0 */
/* Which devices there are, and which one is meant. */
#include "device.h"
#include "driver_probe.h"

#include <ctype.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct listing {
    struct arena *arena;
    struct device_info *devices;
    const char **problems;
    size_t count, capacity, problem_count, problem_capacity;
    bool failed;
};

/* Room for one more in an arena array; false when out of memory. */
static bool array_grow(struct arena *a, void **array, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return true;
    size_t more = *capacity ? 2 * *capacity : 16;
    void *p = arena_alloc(a, more, size, 0);
    if (!p)
        return false;
    if (count)
        memcpy(p, *array, count * size);
    *array = p;
    *capacity = more;
    return true;
}

static void device_found(void *ctx, const struct device_info *d)
{
    struct listing *l = ctx;
    void *array = l->devices;
    if (!array_grow(l->arena, &array, l->count, &l->capacity, sizeof *l->devices)) {
        l->failed = true;
        return;
    }
    l->devices = array;
    l->devices[l->count++] = *d;
}

static void problem_found(void *ctx, const char *text)
{
    struct listing *l = ctx;
    void *array = l->problems;
    char *copy = arena_strdup(l->arena, text);
    if (!copy || !array_grow(l->arena, &array, l->problem_count, &l->problem_capacity,
                             sizeof *l->problems)) {
        l->failed = true;
        return;
    }
    l->problems = array;
    for (size_t i = 0; i < l->problem_count; i++)
        if (strcmp(l->problems[i], text) == 0)
            return; /* native and faulty lack the same compiler */
    l->problems[l->problem_count++] = copy;
}

/* The APIs that this process has asked for their devices. */
static atomic_uint asked;

static unsigned api_bit(const struct backend_api *api)
{
    for (unsigned i = 0; backend_list[i]; i++)
        if (backend_list[i] == api)
            return 1u << i;
    return 0;
}

static enum status api_list(const struct backend_api *api, struct listing *l, struct error *err)
{
    size_t first = l->count;
    atomic_fetch_or(&asked, api_bit(api));
    enum status st = api->enumerate(device_found, problem_found, l, err);
    if (st == STATUS_OK && l->failed)
        st = error_msg(err, STATUS_MEMORY, "out of memory for the list of devices");
    for (size_t i = first; i < l->count; i++)
        l->devices[i].test_only = api->test_only;
    return st;
}

/* What an API has, where its driver may be one that ends whoever asks: a list goes on without it.
 * The probe is for a process that has not asked yet: drivers do not survive a fork. */
static enum status api_list_safely(const struct backend_api *api, struct listing *l,
                                   struct error *err)
{
    char why[512];
    if (api->loads_driver && !(atomic_load(&asked) & api_bit(api)) &&
        !driver_survives(api, why, sizeof why)) {
        problem_found(l, why);
        return l->failed ? error_msg(err, STATUS_MEMORY, "out of memory for the list of devices")
                         : STATUS_OK;
    }
    return api_list(api, l, err);
}

enum status devices_list(struct arena *a, bool with_test_devices, struct device_info **out,
                         size_t *count, const char *const **problems, size_t *problem_count,
                         struct error *err)
{
    struct listing l = {.arena = a};
    for (int i = 0; backend_list[i]; i++) {
        if (backend_list[i]->test_only && !with_test_devices)
            continue;
        enum status st = api_list_safely(backend_list[i], &l, err);
        if (st)
            return st;
    }
    *out = l.devices;
    *count = l.count;
    if (problems)
        *problems = l.problems;
    if (problem_count)
        *problem_count = l.problem_count;
    return STATUS_OK;
}

/* "cuda:0+cuda:1" */
static bool is_several(const char *id) { return strchr(id, '+') != NULL; }

const struct backend_api *backend_of_id(const char *id)
{
    if (is_several(id))
        return &split_api;
    for (int i = 0; backend_list[i]; i++) {
        size_t n = strlen(backend_list[i]->name);
        if (strncmp(id, backend_list[i]->name, n) == 0 && (id[n] == '\0' || id[n] == ':'))
            return backend_list[i];
    }
    return NULL;
}

static bool contains_nocase(const char *text, const char *part)
{
    for (; *text; text++) {
        size_t i = 0;
        while (part[i] && tolower((unsigned char)text[i]) == tolower((unsigned char)part[i]))
            i++;
        if (!part[i])
            return true;
    }
    return false;
}

/* "what there is": ids, then problems, for a message. */
static void listing_describe(const struct listing *l, bool by_name, char *buf, size_t size)
{
    size_t used = 0;
    buf[0] = '\0';
    for (size_t i = 0; i < l->count && used < size; i++) {
        int n = by_name
                    ? snprintf(buf + used, size - used, "%s%s (%s)", i ? ", " : "",
                               l->devices[i].id, l->devices[i].name)
                    : snprintf(buf + used, size - used, "%s%s", i ? ", " : "", l->devices[i].id);
        used += n > 0 ? (size_t)n : 0;
    }
    for (size_t i = 0; i < l->problem_count && used < size; i++) {
        int n = snprintf(buf + used, size - used, "%s%s", used ? "; " : "", l->problems[i]);
        used += n > 0 ? (size_t)n : 0;
    }
    if (!used)
        snprintf(buf, size, "no device at all");
}

static enum status find_by_id(const struct backend_api *api, const char *wanted,
                              struct device_info *out, struct error *err)
{
    struct arena a = {0};
    struct listing l = {.arena = &a};
    char there[768];
    enum status st = api_list(api, &l, err);
    for (size_t i = 0; st == STATUS_OK && i < l.count; i++) {
        if (strcmp(l.devices[i].id, wanted) == 0) {
            *out = l.devices[i];
            arena_free(&a);
            return STATUS_OK;
        }
    }
    if (st == STATUS_OK) {
        listing_describe(&l, false, there, sizeof there);
        st = error_msg(err, STATUS_MISSING, "no device %s; there is: %s", wanted, there);
    }
    arena_free(&a);
    return st;
}

enum code_path device_id_code(const char *id, size_t *bare)
{
    const char *slash = strrchr(id, '/');
    *bare = slash ? (size_t)(slash - id) : strlen(id);
    enum code_path code;
    if (slash && code_path_find(slash + 1, &code) && code != CODE_AUTO)
        return code;
    *bare = strlen(id);
    return CODE_AUTO;
}

/* "cuda:0/llvm": the device without its code path, its id with it. */
static enum status find_with_code(const char *wanted, size_t bare, struct device_info *out,
                                  struct error *err)
{
    char device[256];
    if (is_several(wanted) || bare >= sizeof device)
        return error_msg(err, STATUS_ARG, "%s: a code path is one device's", wanted);
    snprintf(device, sizeof device, "%.*s", (int)bare, wanted);
    struct device_info info;
    enum status st = device_find(device, &info, err);
    if (st)
        return st;
    size_t used = strlen(info.id);
    if (used + strlen(wanted + bare) >= sizeof info.id)
        return error_msg(err, STATUS_ARG, "%s: the id is longer than %zu characters", wanted,
                         sizeof info.id - 1);
    snprintf(info.id + used, sizeof info.id - used, "%s", wanted + bare);
    *out = info;
    return STATUS_OK;
}

enum status device_find(const char *wanted, struct device_info *out, struct error *err)
{
    if (!wanted || !*wanted)
        return error_msg(err, STATUS_ARG, "no device named");
    size_t bare;
    if (device_id_code(wanted, &bare) != CODE_AUTO)
        return find_with_code(wanted, bare, out, err);
    if (is_several(wanted))
        return split_api.describe(wanted, out, err);
    const struct backend_api *api = backend_of_id(wanted);
    if (api && api->describe)
        return api->describe(wanted, out, err);
    if (api)
        return find_by_id(api, wanted, out, err);
    struct arena a = {0};
    struct listing l = {.arena = &a};
    enum status st = STATUS_OK;
    for (int i = 0; backend_list[i] && st == STATUS_OK; i++)
        if (!backend_list[i]->test_only)
            st = api_list_safely(backend_list[i], &l, err);
    const struct device_info *match = NULL;
    size_t matches = 0;
    for (size_t i = 0; st == STATUS_OK && i < l.count; i++) {
        if (contains_nocase(l.devices[i].name, wanted)) {
            match = &l.devices[i];
            matches++;
        }
    }
    char there[768];
    if (st == STATUS_OK)
        listing_describe(&l, true, there, sizeof there);
    if (st == STATUS_OK && matches == 0)
        st = error_msg(err, STATUS_MISSING, "no device is called %s; there is: %s", wanted, there);
    else if (st == STATUS_OK && matches > 1)
        st = error_msg(err, STATUS_TYPE, "%zu devices have %s in their names; give an id: %s",
                       matches, wanted, there);
    else if (st == STATUS_OK)
        *out = *match;
    arena_free(&a);
    return st;
}
