/* SPDX-License-Identifier: Apache-2.0 */
/* isophote doctor: what is here, what is not, how to get it. */
#include "cli.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One thing that Isophote can use. `found` is what is there (NULL: nothing), `get` how to have it.
 */
struct finding {
    const char *what, *found, *get;
    bool needed; /* Isophote cannot do its main job without it */
    bool device; /* one of devices_list, or an API's: then `get` says why it is not here */
};
struct findings {
    struct arena *arena;
    struct finding rows[96];
    size_t count;
};

static void finding_put(struct findings *f, struct finding row)
{
    if (f->count < sizeof f->rows / sizeof *f->rows)
        f->rows[f->count++] = row;
}

static void find_add(struct findings *f, const char *what, bool needed, const char *found,
                     const char *get)
{
    finding_put(f, (struct finding){what, found, get, needed, false});
}

static void find_device(struct findings *f, const char *what, bool needed, const char *found,
                        const char *get)
{
    finding_put(f, (struct finding){what, found, get, needed, true});
}

/* Libraries that are opened at run time. */
static const struct {
    const char *what;
    bool needed;
    const char *names[4], *get;
} runtime_libraries[] = {
    {"Embree (the reference)", true, {"libembree3.so.3"}, "apt-get install libembree3-3"},
    {"OpenCL ICD loader", false, {"libOpenCL.so.1"}, "apt-get install ocl-icd-libopencl1"},
    {"CUDA driver", false, {"libcuda.so.1"}, "NVIDIA's driver, with a card"},
    {"NVRTC (CUDA compiler)",
     false,
     {"libnvrtc.so.13", "libnvrtc.so.12", "/usr/local/cuda/lib64/libnvrtc.so"},
     "NVIDIA's CUDA toolkit, or PyPI nvidia-cuda-nvrtc"},
    {"HIP runtime (AMD)",
     false,
     {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "/opt/rocm/lib/libamdhip64.so"},
     "apt-get install libamdhip64-5, or ROCm; ISOPHOTE_HIP_LIBRARY=nvidia or soft do without"},
};

static void find_libraries(struct findings *f)
{
    for (size_t i = 0; i < sizeof runtime_libraries / sizeof *runtime_libraries; i++) {
        const char *found = NULL;
        for (size_t k = 0; k < 4 && runtime_libraries[i].names[k] && !found; k++) {
            /* Never closed: NVRTC leaves memory behind when it is unloaded. */
            if (dlopen(runtime_libraries[i].names[k], RTLD_NOW | RTLD_LOCAL))
                found = runtime_libraries[i].names[k];
        }
        find_add(f, runtime_libraries[i].what, runtime_libraries[i].needed, found,
                 runtime_libraries[i].get);
    }
}

/* Libraries that this program is linked to, by the files the loader mapped. */
static void find_linked(struct findings *f)
{
    static const struct {
        const char *what, *file, *package;
    } linked[] = {
        {"OpenEXR", "libOpenEXR-", "libopenexr-dev"},
        {"Assimp", "libassimp", "libassimp-dev"},
        {"SQLite", "libsqlite3", "libsqlite3-dev"},
        {"libxml2", "libxml2", "libxml2-dev"},
        {"PCRE2", "libpcre2-8", "libpcre2-dev"},
        {"YAJL (JSON)", "libyajl", "libyajl-dev"},
        {"xxHash", "libxxhash", "libxxhash-dev"},
        {"Nettle", "libnettle", "nettle-dev"},
        {"libpng", "libpng", "libpng-dev"},
        {"libjpeg", "libjpeg", "libjpeg-dev"},
        {"libtiff", "libtiff", "libtiff-dev"},
        {"libwebp", "libwebp", "libwebp-dev"},
        {"giflib", "libgif", "libgif-dev"},
        {"Draco", "libdraco", "libdraco-dev"},
        {"meshoptimizer", "libmeshoptimizer", "libmeshoptimizer-dev"},
    };
    FILE *file = fopen("/proc/self/maps", "r");
    struct text all = {0};
    if (file) {
        char line[4096];
        while (fgets(line, sizeof line, file))
            text_puts(&all, line);
        fclose(file);
    }
    const char *maps = all.data;
    for (size_t i = 0; i < sizeof linked / sizeof *linked; i++) {
        const char *at = maps ? strstr(maps, linked[i].file) : NULL;
        const char *found = NULL;
        if (at) {
            const char *start = at, *end = strchr(at, '\n');
            while (start > maps && start[-1] != ' ' && start[-1] != '\n')
                start--;
            found = arena_strndup(f->arena, start, end ? (size_t)(end - start) : strlen(start));
        }
        find_add(f, linked[i].what, true, found,
                 arena_printf(f->arena, "apt-get install %s", linked[i].package));
    }
    text_free(&all);
}

/* First line of a command's output; NULL when it cannot run. */
static const char *first_line(struct arena *a, const char *command)
{
    char line[4096] = "";
    char *const argv[] = {(char *)"sh", (char *)"-c", (char *)(uintptr_t)command, NULL};
    int code = 0;
    if (child_run(argv, NULL, line, sizeof line, &code, NULL) != STATUS_OK || code != 0 || !line[0])
        return NULL;
    line[strcspn(line, "\n")] = 0;
    return arena_strdup(a, line);
}

/* The native device's: LLVM, else a C compiler; that too if it was asked for. */
static void find_compiler(struct findings *f)
{
    static const char *const libraries[] = {"libLLVM-15.so.1", "libLLVM.so.19.1"};
    const char *wanted = getenv("ISOPHOTE_CC"), *llvm = getenv("ISOPHOTE_LLVM"), *found = NULL;
    if (llvm && strchr(llvm, '/') && dlopen(llvm, RTLD_NOW | RTLD_LOCAL))
        found = llvm;
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries && !found; i++)
        if (dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL))
            found = libraries[i];
    find_add(f, "LLVM (native, code path llvm)", false, found, "apt-get install libllvm15");
    bool needed = !found;
    found = NULL;
    if (wanted && *wanted) {
        found =
            access(wanted, X_OK) == 0 ? arena_printf(f->arena, "%s (ISOPHOTE_CC)", wanted) : NULL;
        find_add(f, "C compiler (native device)", true, found,
                 "set ISOPHOTE_CC to a compiler that can be run, or unset it");
        return;
    }
    found = first_line(
        f->arena,
        "cc --version 2>/dev/null || gcc --version 2>/dev/null || clang --version 2>/dev/null");
    find_add(f, "C compiler (native device)", needed, found, "apt-get install gcc libc6-dev");
}

static void find_places(struct findings *f)
{
    char dir[4096];
    struct error err = {0};
    bool ok = cache_dir("", dir, sizeof dir, &err) == STATUS_OK && access(dir, W_OK) == 0;
    find_add(f, "cache folder", true, ok ? arena_strdup(f->arena, dir) : NULL,
             "make it writable, or set ISOPHOTE_CACHE to a folder that is");
    const char *const *paths;
    size_t count = 0;
    const char *data = NULL;
    ok = scene_library(f->arena, false, &paths, &count, &err) == STATUS_OK &&
         data_path(f->arena, "scenes/library", &data, &err) == STATUS_OK;
    find_add(f, "data folder", true,
             ok ? arena_printf(f->arena, "%zu scenes in %s", count, data) : NULL,
             arena_strdup(f->arena, err.msg));
}

static void find_devices(struct findings *f, size_t *devices)
{
    struct error err = {0};
    struct device_info *list;
    const char *const *problems;
    size_t count, problem_count;
    *devices = 0;
    if (devices_list(f->arena, false, &list, &count, &problems, &problem_count, &err) !=
        STATUS_OK) {
        find_device(f, "devices", true, NULL, arena_strdup(f->arena, err.msg));
        return;
    }
    *devices = count;
    for (size_t i = 0; i < count; i++)
        find_device(f, arena_printf(f->arena, "device %s", list[i].id), false,
                    arena_printf(f->arena, "%s; %s", list[i].name, list[i].driver), NULL);
    for (size_t i = 0; i < problem_count; i++) { /* "api: what is wrong; what mends it" */
        const char *colon = strstr(problems[i], ": ");
        int api = colon ? (int)(colon - problems[i]) : 0;
        find_device(f, arena_printf(f->arena, "device %.*s", api, problems[i]), false, NULL,
                    colon ? colon + 2 : problems[i]);
    }
}

static bool print_json(const struct findings *f, size_t devices)
{
    struct json_writer w = {.pretty = true};
    json_begin_object(&w);
    json_key(&w, "findings");
    json_begin_array(&w);
    for (const struct finding *r = f->rows; r < f->rows + f->count; r++) {
        json_begin_object(&w);
        json_key_string(&w, "what", r->what);
        json_key_bool(&w, "device", r->device);
        json_key_bool(&w, "needed", r->needed);
        json_key_string(&w, "found", r->found);
        json_key_string(&w, "get", r->get);
        json_end_object(&w);
    }
    json_end_array(&w);
    json_key_integer(&w, "devices", (int64_t)devices);
    json_end_object(&w);
    return json_print(&w);
}

static void print_text(const struct findings *f, size_t devices)
{
    for (const struct finding *r = f->rows; r < f->rows + f->count; r++)
        if (r->found)
            printf("ok       %-30s %s\n", r->what, r->found);
        else
            printf("%s  %-30s %s%s\n", r->needed ? "MISSING" : "absent ", r->what,
                   r->device ? "" : "to get it: ", r->get);
    printf("%zu device%s can render here, beside the reference\n", devices,
           devices == 1 ? "" : "s");
}

struct doctor_command {
    bool json;
};

static int run(void *settings, const struct arguments *args)
{
    const struct doctor_command *c = settings;
    struct arena a = {0};
    struct findings f = {.arena = &a};
    size_t devices, missing = 0;
    (void)args;
    find_linked(&f);
    find_places(&f);
    find_devices(&f, &devices); /* before Embree: reference/trace/embree.h */
    find_compiler(&f);
    find_libraries(&f);
    for (size_t i = 0; i < f.count; i++)
        missing += f.rows[i].needed && !f.rows[i].found;
    int status = devices == 0 ? EXIT_NOTHING_RAN : missing ? EXIT_FINDING : EXIT_PASS;
    if (!c->json)
        print_text(&f, devices);
    else if (!print_json(&f, devices))
        status = EXIT_BAD_INPUT;
    arena_free(&a);
    return status;
}

static const struct option options[] = {JSON_OPTION(offsetof(struct doctor_command, json))};
const struct command command_doctor = {
    .name = "doctor",
    .group = "what is here",
    .line = "say what is installed, what is not, and how to get it",
    .usage = "isophote doctor [options]",
    .summary = "Says for each library and device what is here, and for what is not how to get it. "
               "For a device that is not here it says why.\n"
               "Exit status 0 when a device can render and all that Isophote needs is here, 1 when "
               "something that it needs is MISSING, 77 when no device can render.",
    COMMAND_OPTIONS(options),
    .settings_size = sizeof(struct doctor_command),
    .run = run,
};
