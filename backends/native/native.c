/* SPDX-License-Identifier: Apache-2.0 */
/* The processor itself: the kernel compiled by the system's C compiler into a shared object,
 * work-groups spread over threads. */
#include "native.h"

#include "compiler.h"
#include "edits/edits.h"
#include "native_llvm.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A part of the kernel, loaded: by the system's linker or by LLVM's. Zeroed: not made. */
struct loaded {
    void *library;
    struct llvm_program *program;
};

struct backend {
    struct compiler compiler; /* program "": none was found */
    const char *fault;        /* of faults_list, or NULL */
    const struct edit *edit;  /* of a mutant, or NULL */
    bool quick;               /* a mutant, or what mutants are compared with */
    bool marked;              /* the latter with marks */
    unsigned threads;
    const void *buffers[SCENE_BUFFER_COUNT]; /* the front's, or `nothing` */
    uint64_t bytes;
    struct program_request request; /* the last one */
    struct loaded parts[PART_COUNT];
    void (*render[ENTRY_COUNT])(const void *const *, const struct k_launch *, long long *,
                                const uint32_t *, const uint32_t *); /* and stages */
    void (*trace)(const void *const *, const struct k_launch *, uint32_t *);
    void (*rows[ENTRY_COUNT])(const void *const *, const struct k_launch *, const uint32_t *,
                              uint32_t *, uint32_t); /* of arithmetic, probes, passes */
    long long *film;
    size_t film_pixels;
};

/* Mutants: one program of all parts. Functions but small ones stay apart and may be replaced when it
 * is linked, so that the text is compiled once, and of each mutant one function. */
static const char apart_flags[] = "-O2 -c -UK_PART -Dalways_inline=unused";
/* For comparing code: nothing is inlined. */
static const char compared_flags[] = "-O2 -c -UK_PART -fno-inline -Dalways_inline=unused";
static const char inlined_flags[] = "-O2 -c -UK_PART";

enum { MARKS_MOST = 65536 }; /* of a text */

static const _Alignas(64) uint32_t nothing[64]; /* stands for an empty buffer */

/* Who names a compiler or its flags wants it used. */
static bool source_asked(void)
{
    const char *compiler = getenv("ISOPHOTE_CC"), *flags = getenv("ISOPHOTE_CFLAGS");
    return (compiler && *compiler) || (flags && *flags);
}

enum status native_describe(const char *id, struct device_info *out, struct error *err)
{
    struct compiler c;
    struct error why = {0};
    struct device_info d = {.kind = DEVICE_CPU,
                            .fp64 = true,
                            .max_work_group = 65536,
                            .max_work_group_axis = {65536, 65536}};
    char features[33], llvm[96] = "";
    bool compiles = compiler_find(&c, &why) == STATUS_OK;
    const char *no_llvm = native_llvm_problem(llvm, sizeof llvm);
    if (!compiles && (no_llvm || source_asked()))
        return error_msg(err, STATUS_MISSING, "%s%s%s", why.msg, no_llvm ? "; without it: " : "",
                         no_llvm ? no_llvm : "");
    snprintf(d.id, sizeof d.id, "%s", id);
    snprintf(d.api, sizeof d.api, "native");
    processor_describe(d.name, sizeof d.name, &d.clock_mhz, features);
    snprintf(d.vendor, sizeof d.vendor, "%s",
             strstr(d.name, "AMD")     ? "AMD"
             : strstr(d.name, "Intel") ? "Intel"
                                       : "unknown");
    snprintf(d.driver, sizeof d.driver, "threads of this process");
    snprintf(d.version, sizeof d.version, "kernel %.12s", kernel_source_hash);
    snprintf(d.compiler, sizeof d.compiler, "%.60s%s%.60s", compiles ? c.version : "",
             compiles && !no_llvm ? "; " : "", llvm);
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
    if (st && (fault || source_asked() || native_llvm_problem(NULL, 0)))
        return st;
    if (st)
        c = (struct compiler){0};
    struct backend *b = calloc(1, sizeof *b);
    if (!b)
        return error_msg(err, STATUS_MEMORY, "out of memory for a device");
    b->compiler = c;
    b->fault = fault;
    b->request = program_request_make(MODE_STRICT);
    for (int i = 0; i < SCENE_BUFFER_COUNT; i++)
        b->buffers[i] = nothing;
    *out = b;
    return STATUS_OK;
}

static enum status edited_compiler(const char *flags, struct compiler *c, struct error *err)
{
    TRY(compiler_find(c, err));
    snprintf(c->flags, sizeof c->flags, "%s", flags);
    return STATUS_OK;
}

enum status native_open_edited(const struct edit *edit, bool marked, struct backend **out,
                               struct error *err)
{
    struct compiler c;
    TRY(edited_compiler(apart_flags, &c, err));
    TRY(native_open(NULL, out, err));
    (*out)->compiler = c;
    (*out)->edit = edit;
    (*out)->quick = true;
    (*out)->marked = marked;
    return STATUS_OK;
}

/* What mutants compile of a request: every feature that needs no text of a scene's own, so that one
 * program serves many scenes. */
static void request_widen(struct program_request *r)
{
    r->features |= K_FEATURE_ALL & ~K_FEATURES_OF_TEXT;
    r->part = PART_RENDER;
}

enum status native_code_hash(const char *text, enum math_mode mode, enum code_form form,
                             char hash[33], struct error *err)
{
    struct compiler c;
    struct program_request r = program_request_make(mode);
    request_widen(&r);
    r.features = K_FEATURE_ALL;
    r.source = text;
    TRY(edited_compiler(form == CODE_APART ? compared_flags : inlined_flags, &c, err));
    return compiler_object_hash(&c, &r, hash, err);
}

static enum status open(const struct device_info *info, struct backend **out, struct error *err)
{
    (void)info;
    return native_open(NULL, out, err);
}

/* LLVM 15's code is a seventh faster than gcc 12's, and made in half the time
 * (docs/results/cpu.md).
 */
unsigned native_code_paths(const struct backend *b, enum code_path *fastest)
{
    bool llvm = !b->fault && !b->quick && !native_llvm_problem(NULL, 0);
    *fastest = llvm && !source_asked() ? CODE_LLVM : CODE_SOURCE;
    return (b->compiler.program[0] ? 1u << CODE_SOURCE : 0u) | (llvm ? 1u << CODE_LLVM : 0u);
}

/* Of all mutants' programs that this process has run. */
static unsigned char reached[MARKS_MOST];
static size_t reached_count;
static pthread_mutex_t reached_lock = PTHREAD_MUTEX_INITIALIZER;

void native_reached_take(void *library)
{
    const unsigned char *marks = dlsym(library, "isophote_reached");
    const unsigned *count = dlsym(library, "isophote_reached_count");
    if (!marks || !count || *count > MARKS_MOST)
        return;
    pthread_mutex_lock(&reached_lock);
    for (unsigned i = 0; i < *count; i++)
        reached[i] |= marks[i];
    reached_count = *count > reached_count ? *count : reached_count;
    pthread_mutex_unlock(&reached_lock);
}

size_t mutants_reached(const unsigned char **marks)
{
    *marks = reached;
    return reached_count;
}

static const char *abreast_problem(const struct backend *b, uint32_t features, uint32_t lights)
{
    enum code_path fastest;
    (void)native_code_paths(b, &fastest);
    return fastest != CODE_LLVM ? "the model abreast is made by code path llvm alone"
                                : native_llvm_abreast_problem(features, lights);
}

static void loaded_close(struct loaded *l)
{
    if (l->library) {
        native_reached_take(l->library);
        dlclose(l->library);
    }
    llvm_program_free(l->program);
    *l = (struct loaded){0};
}

static void parts_close(struct backend *b)
{
    for (int i = 0; i < PART_COUNT; i++)
        loaded_close(&b->parts[i]);
}

void native_close(struct backend *b)
{
    if (!b)
        return;
    parts_close(b);
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
static bool symbol_find(const struct loaded *l, const char *name, void *function)
{
    void *p = l->program ? llvm_program_symbol(l->program, name) : dlsym(l->library, name);
    memcpy(function, &p, sizeof p);
    return p != NULL;
}

static enum status part_build(struct backend *b, enum program_part part, struct build_info *info,
                              struct error *err)
{
    struct loaded made = {0};
    const struct program_request asked = program_request_of_part(&b->request, part);
    struct program_request request = asked; /* of a mutant one program has all parts */
    enum status st;
    if (b->quick) {
        request_widen(&request);
        st = compiler_load_edited(&b->compiler, &request, b->edit, b->marked, &made.library, info,
                                  err);
    } else {
        st = request.code == CODE_LLVM
                 ? native_llvm_build(&request, &made.program, info, err)
                 : compiler_load(&b->compiler, &request, &made.library, info, err);
    }
    if (st)
        return st;
    void *const functions[ENTRY_COUNT] = {[ENTRY_TRACE] = &b->trace,
                                          [ENTRY_ARITHMETIC] = &b->rows[ENTRY_ARITHMETIC],
                                          [ENTRY_PROBE] = &b->rows[ENTRY_PROBE],
                                          [ENTRY_PASSES] = &b->rows[ENTRY_PASSES],
                                          [ENTRY_HIT] = &b->rows[ENTRY_HIT]};
    bool whole = true;
    for (int i = 0; i < ENTRY_COUNT; i++)
        if (kernel_entry_in(&asked, (enum kernel_entry)i))
            whole = symbol_find(&made, kernel_entries[i].name,
                                functions[i] ? functions[i] : (void *)&b->render[i]) &&
                    whole;
    if (!whole) {
        loaded_close(&made);
        return error_msg(err, STATUS_BUILD, "the compiled kernel lacks an entry");
    }
    b->parts[part] = made;
    return STATUS_OK;
}

enum status native_build(struct backend *b, const struct program_request *request,
                         struct build_info *info, struct error *err)
{
    native_request(b, request);
    return part_build(b, PART_RENDER, info, err);
}

void native_request(struct backend *b, const struct program_request *request)
{
    parts_close(b);
    b->request = *request;
    b->request.tree = BVH_AUTO; /* one program for all trees: a processor loses nothing by it */
    if (b->fault)
        b->request.fault = b->fault;
}

/* Compiles a part that is run for the first time. */
static enum status part_need(struct backend *b, enum program_part part, struct error *err)
{
    struct build_info info = {0};
    bool made = b->parts[part].library || b->parts[part].program;
    return made ? STATUS_OK : part_build(b, part, &info, err);
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
    enum kernel_entry entry;
    const struct k_launch *launch;
    uint32_t groups_x, work_group[2];
};
static void group_run(void *ctx, size_t i, unsigned thread)
{
    const struct grid *g = ctx;
    uint32_t group[2] = {(uint32_t)(i % g->groups_x), (uint32_t)(i / g->groups_x)};
    (void)thread;
    g->b->render[g->entry](g->b->buffers, g->launch, g->b->film, group, g->work_group);
}

enum status native_launch(struct backend *b, enum kernel_entry entry, const struct k_launch *launch,
                          const uint32_t grid[2], const uint32_t work_group[2], struct error *err)
{
    struct grid g = {b, entry, launch, grid[0] / work_group[0], {work_group[0], work_group[1]}};
    enum status st = part_need(b, PART_RENDER, err);
    if (st)
        return st;
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
    void (*run)(const void *const *, const struct k_launch *, const uint32_t *, uint32_t *,
                uint32_t);
};
static void row_run(void *ctx, size_t i, unsigned thread)
{
    const struct rows *r = ctx;
    (void)thread;
    r->run(r->b->buffers, r->launch, r->in, r->out, (uint32_t)i);
}

enum status native_run_words(struct backend *b, enum kernel_entry entry,
                             const struct k_launch *launch, const uint32_t *in, size_t in_words,
                             uint32_t *out, size_t out_words, size_t items, struct error *err)
{
    enum program_part part = kernel_entries[entry].part;
    (void)in_words;
    (void)out_words;
    enum status st = part_need(b, part, err);
    if (st)
        return st;
    if (entry == ENTRY_TRACE) {
        b->trace(b->buffers, launch, out);
    } else {
        struct rows r = {b, launch, in, out, b->rows[entry]};
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
    .reads_in_place = true,
    .enumerate = enumerate,
    .open = open,
    .abreast_problem = abreast_problem,
    NATIVE_FUNCTIONS,
};
