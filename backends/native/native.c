/* The processor itself: the kernel compiled by the system's C compiler into a shared object,
 * work-groups spread over threads. */
#include "native.h"

#include "compiler.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct backend {
    struct compiler compiler;
    const char *fault; /* of faults_list, or NULL */
    unsigned threads;
    const void *buffers[SCENE_BUFFER_COUNT]; /* the front's, or `nothing` */
    uint64_t bytes;
    void *library;
    void (*render)(const void *const *, const struct k_launch *, long long *, const uint32_t *,
                   const uint32_t *);
    void (*trace)(const void *const *, const struct k_launch *, uint32_t *);
    void (*probe)(const void *const *, const struct k_launch *, const uint32_t *, uint32_t *,
                  uint32_t);
    long long *film;
    size_t film_pixels;
};

static const _Alignas(64) uint32_t nothing[64]; /* stands for an empty buffer */

enum status native_describe(const char *id, struct device_info *out, struct error *err)
{
    struct compiler c;
    struct device_info d = {.kind = DEVICE_CPU,
                            .fp64 = true,
                            .max_work_group = 65536,
                            .max_work_group_axis = {65536, 65536}};
    char features[33];
    enum status st = compiler_find(&c, err);
    if (st)
        return st;
    snprintf(d.id, sizeof d.id, "%s", id);
    snprintf(d.api, sizeof d.api, "native");
    processor_describe(d.name, sizeof d.name, &d.clock_mhz, features);
    snprintf(d.vendor, sizeof d.vendor, "%s",
             strstr(d.name, "AMD")     ? "AMD"
             : strstr(d.name, "Intel") ? "Intel"
                                       : "unknown");
    snprintf(d.driver, sizeof d.driver, "threads of this process");
    snprintf(d.version, sizeof d.version, "kernel %.12s", kernel_source_hash);
    snprintf(d.compiler, sizeof d.compiler, "%s", c.version);
    d.compute_units = parallel_threads();
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    d.global_bytes = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
    d.max_alloc_bytes = d.global_bytes;
    *out = d;
    return STATUS_OK;
}

static enum status enumerate(void (*found)(void *ctx, const struct device_info *),
                             void (*problem)(void *ctx, const char *text), void *ctx,
                             struct error *err)
{
    struct device_info d;
    struct error why = {0};
    (void)err;
    if (native_describe("native", &d, &why) == STATUS_OK)
        found(ctx, &d);
    else
        problem(ctx, why.msg);
    return STATUS_OK;
}

enum status native_open(const char *fault, struct backend **out, struct error *err)
{
    struct compiler c;
    enum status st = compiler_find(&c, err);
    if (st)
        return st;
    struct backend *b = calloc(1, sizeof *b);
    if (!b)
        return error_msg(err, STATUS_MEMORY, "out of memory for a device");
    b->compiler = c;
    b->fault = fault;
    for (int i = 0; i < SCENE_BUFFER_COUNT; i++)
        b->buffers[i] = nothing;
    *out = b;
    return STATUS_OK;
}

static enum status open(const struct device_info *info, struct backend **out, struct error *err)
{
    (void)info;
    return native_open(NULL, out, err);
}

void native_close(struct backend *b)
{
    if (!b)
        return;
    if (b->library)
        dlclose(b->library);
    free(b->film);
    free(b);
}

enum bvh_kind native_preferred_bvh(const struct backend *b)
{
    (void)b;
    return BVH_WIDE8;
}

enum status native_upload(struct backend *b, const struct scene_buffers *buffers,
                          uint64_t *device_bytes, struct error *err)
{
    (void)err;
    *device_bytes = 0;
    for (int i = 0; i < SCENE_BUFFER_COUNT; i++) {
        b->buffers[i] = buffers->at[i].size ? buffers->at[i].data : nothing;
        *device_bytes += buffers->at[i].size;
    }
    return STATUS_OK;
}

/* Function `name` of the library as a function pointer, by way of its bytes: ISO C has no cast from
 * one to the other. */
static bool symbol_find(void *library, const char *name, void *function)
{
    void *p = dlsym(library, name);
    memcpy(function, &p, sizeof p);
    return p != NULL;
}

enum status native_build(struct backend *b, const struct program_request *request,
                         struct build_info *info, struct error *err)
{
    struct program_request r = {.mode = request->mode,
                                .fault = b->fault ? b->fault : request->fault};
    char path[4096];
    enum status st = compiler_build(&b->compiler, &r, path, sizeof path, info, err);
    if (st)
        return st;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library && info->cached) { /* a damaged file in the cache */
        unlink(path);
        info->cached = false;
        st = compiler_build(&b->compiler, &r, path, sizeof path, info, err);
        if (st)
            return st;
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    if (!library)
        return error_msg(err, STATUS_BUILD, "the compiled kernel does not load: %s", dlerror());
    struct backend found = *b;
    if (!symbol_find(library, "k_render", &found.render) ||
        !symbol_find(library, "k_trace", &found.trace) ||
        !symbol_find(library, "k_probe", &found.probe)) {
        dlclose(library);
        return error_msg(err, STATUS_BUILD, "the compiled kernel %s lacks an entry", path);
    }
    if (b->library)
        dlclose(b->library);
    *b = found;
    b->library = library;
    return STATUS_OK;
}

enum status native_film_begin(struct backend *b, size_t pixels, bool poison, struct error *err)
{
    if (pixels != b->film_pixels) {
        long long *film = malloc(pixels * 4 * sizeof *film);
        if (!film)
            return error_msg(err, STATUS_MEMORY, "out of memory for a film of %zu pixels", pixels);
        free(b->film);
        b->film = film;
        b->film_pixels = pixels;
    }
    memset(b->film, poison ? 0xFF : 0, pixels * 4 * sizeof *b->film);
    return STATUS_OK;
}

struct grid {
    const struct backend *b;
    const struct k_launch *launch;
    uint32_t groups_x, work_group[2];
};
static void group_run(void *ctx, size_t i, unsigned thread)
{
    const struct grid *g = ctx;
    uint32_t group[2] = {(uint32_t)(i % g->groups_x), (uint32_t)(i / g->groups_x)};
    (void)thread;
    g->b->render(g->b->buffers, g->launch, g->b->film, group, g->work_group);
}

enum status native_launch(struct backend *b, const struct k_launch *launch, const uint32_t grid[2],
                          const uint32_t work_group[2], struct error *err)
{
    struct grid g = {b, launch, grid[0] / work_group[0], {work_group[0], work_group[1]}};
    (void)err;
    parallel_for((size_t)g.groups_x * (grid[1] / work_group[1]), b->threads, group_run, &g);
    return STATUS_OK;
}

enum status native_finish(struct backend *b, double *device_s, struct error *err)
{
    (void)b;
    (void)err;
    *device_s = -1;
    return STATUS_OK;
}

enum status native_film_read(struct backend *b, int64_t *sums, size_t pixels, struct error *err)
{
    (void)err;
    static_assert(sizeof(long long) == sizeof(int64_t), "layout");
    memcpy(sums, b->film, pixels * 4 * sizeof *sums);
    return STATUS_OK;
}

struct rows {
    const struct backend *b;
    const struct k_launch *launch;
    const uint32_t *in;
    uint32_t *out;
};
static void row_run(void *ctx, size_t i, unsigned thread)
{
    const struct rows *r = ctx;
    (void)thread;
    r->b->probe(r->b->buffers, r->launch, r->in, r->out, (uint32_t)i);
}

enum status native_run_words(struct backend *b, enum kernel_entry entry,
                             const struct k_launch *launch, const uint32_t *in, size_t in_words,
                             uint32_t *out, size_t out_words, size_t items, struct error *err)
{
    (void)in_words;
    (void)out_words;
    (void)err;
    if (entry == ENTRY_TRACE) {
        b->trace(b->buffers, launch, out);
    } else {
        struct rows r = {b, launch, in, out};
        parallel_for(items, b->threads, row_run, &r);
    }
    return STATUS_OK;
}

void native_defaults(const struct backend *b, struct launch_settings *s)
{
    (void)b;
    s->work_group[0] = 16;
    s->work_group[1] = 16;
}

void native_set_threads(struct backend *b, unsigned threads) { b->threads = threads; }

const struct backend_api native_api = {
    .name = "native",
    .keeps_host_memory = true,
    .enumerate = enumerate,
    .open = open,
    NATIVE_FUNCTIONS,
};
