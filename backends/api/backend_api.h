/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of backends/: what one API must provide (a driver may assume that the front,
 * backends.c, checked all arguments) and what all of them share. Not visible outside this folder.
 */
#ifndef ISOPHOTE_BACKEND_API_H
#define ISOPHOTE_BACKEND_API_H

#include "backends.h"

#include "device/launch.h"
#include <assert.h>

/* The scene as the kernel reads it: a fixed list of read-only buffers of 32-bit words
 * (device/buffers.def names them, in kernel argument order). Made by layout.c, uploaded as it is by
 * every API. An empty buffer has size 0; drivers hand the kernel a small dummy for it. */
enum scene_buffer {
#define SCENE_BUFFER(name, ctype, text) BUFFER_##name,
#include "device/buffers.def"
#undef SCENE_BUFFER
    SCENE_BUFFER_COUNT
};
struct scene_buffers {
    struct {
        const void *data; /* 64-byte aligned */
        size_t size;      /* bytes, a multiple of 64 */
    } at[SCENE_BUFFER_COUNT];
};

/* Entry points of the kernel source. Each takes the scene buffers in order, then a `const struct
 * k_launch *` (device/launch.h, fixed layout, by buffer), then its own buffers. */
enum kernel_entry {
    ENTRY_RENDER,     /* + film: int64 [pixels][4], added to */
    ENTRY_TRACE,      /* + records: float/uint words, one sample of one pixel by work-item 0 */
    ENTRY_ARITHMETIC, /* PROBE_RNG, PROBE_MATH: + in words, out words; one row a work-item */
    ENTRY_PROBE,      /* probes of a scene that follow no ray; as ENTRY_ARITHMETIC */
    ENTRY_PASSES,     /* as ENTRY_ARITHMETIC, the input unused; one pixel a work-item */
    ENTRY_HIT,        /* PROBE_HIT; as ENTRY_ARITHMETIC */
    /* The stages of a batch of paths, in the place of ENTRY_RENDER where the request is staged
     * (device/path/batch.h); as that. In this order, FLY to SHADOW once for each vertex. */
    ENTRY_START,
    ENTRY_FLY,
    ENTRY_SORT,
    ENTRY_OCCLUDE,
    ENTRY_SHADE,
    ENTRY_SHADOW,
    ENTRY_FILM,
    ENTRY_COUNT
};

/* Entries that are compiled together. Render, trace, probe and passes each hold a whole path tracer
 * or most of one, and compilers take seconds for it: so `build` makes the first part, and an API
 * makes the others when run_words first asks for them. Arithmetic is small: what strict mode asks
 * of a device is asked of the very program that will render. */
enum program_part {
    PART_RENDER, /* ENTRY_RENDER or the stages, ENTRY_ARITHMETIC */
    PART_TRACE,
    PART_PROBE,
    PART_PASSES,
    PART_HIT, /* with every feature but those of text: one program a tree, for all scenes */
    PART_COUNT
};
/* What of a staged PART_RENDER is compiled by itself where an API wants that: compilers make the
 * pieces beside each other, each is kept by itself, and scenes share those that are alike. In the
 * order of K_PIECE_*. */
enum program_piece {
    PIECE_WHOLE,
    PIECE_ENDS, /* ENTRY_START, ENTRY_SORT, ENTRY_FILM, ENTRY_ARITHMETIC */
    PIECE_FLY,
    PIECE_SHADE, /* and ENTRY_OCCLUDE */
    PIECE_SHADOW,
    PIECE_COUNT
};
static_assert(PIECE_ENDS == K_PIECE_ENDS && PIECE_FLY == K_PIECE_FLY &&
                  PIECE_SHADE == K_PIECE_SHADE && PIECE_SHADOW == K_PIECE_SHADOW,
              "the kernel's numbers");
extern const struct kernel_entry_info {
    const char *name; /* "k_render" */
    enum program_part part;
    bool whole, staged;       /* whether a program of the part has it, by program_request.staged */
    enum program_piece piece; /* of a staged program that has it */
} kernel_entries[ENTRY_COUNT];
struct program_request;
/* Has a program that is compiled for the request the entry? */
bool kernel_entry_in(const struct program_request *r, enum kernel_entry entry);
/* The names of such a program's entries, ending with NULL. */
void kernel_entries_of(const struct program_request *r, const char *names[ENTRY_COUNT + 1]);

/* What to compile. */
struct program_request {
    enum math_mode mode;
    const char *fault; /* NULL, or a name of faults_list */
    bool count_rays;   /* build_settings.count_rays */
    bool staged;       /* its model runs a path's stages one by one */
    bool abreast;      /* its model is MODEL_ABREAST: a film for the features alone */
    bool few_samples;  /* programs_for_few_samples */
    enum program_part part;
    enum program_piece piece;    /* of a staged one */
    uint32_t registers;          /* 0: no limit asked for */
    enum cache_preference cache; /* AUTO unless the API takes_cache_preference */
    enum code_path code;         /* one that the API takes, never CODE_AUTO */
    enum bvh_kind tree;          /* of the scene; BVH_AUTO: whatever tree each launch says */
    uint32_t features;           /* K_FEATURE_* of the scene */
    const char *source; /* the whole text: kernel_source, or that with the scene's shaders */
    char source_hash[33];
    const char *shaders; /* the scene's shaders as LLVM IR (shade_scene.h); NULL: there are none, or
                            only source can have them. The hash stands for it too. */
};
/* A request for kernel_source as it is, for any tree and a scene without features but
 * K_FEATURES_EXACT. */
struct program_request program_request_make(enum math_mode mode);
/* What is compiled for one part of what was requested for all. A probe runs no shader, so it asks
 * for the kernel without them: one program for all scenes that are alike but for their shaders, and
 * of PART_HIT, which is little code, one for all scenes. */
struct program_request program_request_of_part(const struct program_request *all,
                                               enum program_part part);
/* What is compiled for one piece of a staged request: the features that its stages look at, and the
 * text of shaders where it runs them. */
struct program_request program_request_of_piece(const struct program_request *all,
                                                enum program_piece piece);
/* Do two requests ask for the same program, whatever their part? */
bool program_request_equal(const struct program_request *a, const struct program_request *b);
/* The request as definitions for a compiler of the source, joined by blanks: "-DK_MODE=0 -DK_BVH=2
 * ..." */
enum status program_defines(const struct program_request *r, char *buf, size_t size,
                            struct error *err);
/* request->shaders with the flags of its mode (shade_float_flags); the caller frees it. */
enum status program_shaders(const struct program_request *r, struct text *out, struct error *err);
/* What LLVM may do with a shader's sums and products, in each mode: " contract". */
extern const char *const shade_float_flags[3];
/* Stands for them in the text of program_request.shaders. */
#define SHADE_FLAGS_MARK " $"
/* Fills s->work_group where it is not set: 8x8 work-items, halved until the device takes them. */
void work_group_default(const struct device_info *info, struct launch_settings *s);
/* Halves the longer side until the group has at most `most` work-items; 0: any number. */
void work_group_fit(uint32_t g[2], uint64_t most);
/* Whether the device takes it. kernel: what this kernel is called in the refusal, and the most
 * work-items that it takes; 0: not known. */
enum status work_group_check(const struct device_info *info, const uint32_t g[2],
                             const char *kernel, uint64_t kernel_most, struct error *err);
/* The value of K_BVH and of k_launch.bvh for a tree; 0 for BVH_AUTO. */
unsigned bvh_define(enum bvh_kind tree);

struct backend; /* one opened device of one API */

/* A program beside the kernel, for shaders without a scene (shade_api.c): one entry of a text in
 * the kernel's dialect, run over work-items in one dimension, whose arguments are buffers. It may
 * write those that have no `in`, or an `out`. */
struct job_source {
    const char *text;
    char hash[33];     /* of the text */
    const char *entry; /* "asl_points" */
    /* "asl_uniform": an entry of the same arguments that one work-item runs before each launch of
     * the other; NULL: none */
    const char *once;
    enum math_mode mode;
};
struct job_buffer {
    const void *in; /* copied to the device before the first launch; NULL: nothing is */
    void *out;      /* copied back after the last one; NULL: nothing is */
    size_t bytes;   /* 0: the kernel gets a buffer all the same */
    const char *what;
};
enum { JOB_BUFFERS_MAX = 16 };
struct job_program; /* an API's */

struct backend_api {
    const char
        *name; /* "opencl": stable, a key in reports; ids are this name, or begin with it and ':' */
    bool test_only;
    bool loads_driver; /* somebody else's code runs when its devices are listed */
    bool takes_cache_preference;
    /* upload may keep the buffers' pointers: the front leaves them alone until the next upload or
     * close. */
    bool keeps_host_memory;
    bool reads_in_place; /* and reads them there itself, by threads of this process */
    /* The code paths that `build` takes, as bits 1u << CODE_..., and which of them is faster; NULL:
     * source alone. */
    unsigned (*code_paths)(const struct backend *b, enum code_path *fastest);
    /* Calls found() for each device, and problem() for each thing that is missing or broken. */
    enum status (*enumerate)(void (*found)(void *ctx, const struct device_info *),
                             void (*problem)(void *ctx, const char *text), void *ctx,
                             struct error *err);
    /* Where ids are not listed, what one stands for. For several devices as one, "cuda:0+cuda:1",
     * it is joined from its members' own: sums of units, least of limits. */
    enum status (*describe)(const char *id, struct device_info *out, struct error *err);
    enum status (*open)(const struct device_info *info, struct backend **out, struct error *err);
    void (*close)(struct backend *b);
    enum bvh_kind (*preferred_bvh)(const struct backend *b);
    /* By mode, features and code of the request, here AUTO where it is the device's choice. NULL:
     * the megakernel. */
    enum exec_model (*preferred_model)(const struct backend *b, const struct program_request *r);
    /* NULL, or why it does not take MODEL_ABREAST for them, or for so many lights. NULL instead of
     * it: it never does. Who takes it prefers it. */
    const char *(*abreast_problem)(const struct backend *b, uint32_t features, uint32_t lights);
    /* Copies the buffers to the device (waits); replaces earlier ones. *device_bytes: what the
     * device now holds. */
    enum status (*upload)(struct backend *b, const struct scene_buffers *buffers,
                          uint64_t *device_bytes, struct error *err);
    /* Remembers the request for all parts and compiles PART_RENDER of it. */
    enum status (*build)(struct backend *b, const struct program_request *request,
                         struct build_info *info, struct error *err);
    /* Remembers the request and forgets the programs made so far: each part is compiled when it is
     * first run. For a new scene on a device that was built before. The request's text stays where
     * it is until the next request. */
    void (*request)(struct backend *b, const struct program_request *request);
    /* Film memory for `pixels` pixels, set to zero, or every byte to 0xFF when poison. The kernel
     * stores at a job's first batch (k_launch.accumulate 0) and adds at later ones, so a pixel that
     * nobody wrote keeps what this left. */
    enum status (*film_begin)(struct backend *b, size_t pixels, bool poison, struct error *err);
    /* Runs ENTRY_RENDER, or a stage of what was requested, over a grid of grid[0] x grid[1]
     * work-items in groups of work_group (grid is a multiple of it; the kernel ignores items outside
     * the tile). Returns when done or queued; `finish` waits. Fails UNSUPPORTED for a work-group
     * size the device refuses. */
    enum status (*launch)(struct backend *b, enum kernel_entry entry, const struct k_launch *launch,
                          const uint32_t grid[2], const uint32_t work_group[2], struct error *err);
    /* Waits; *device_s gets the sum of device event times since film_begin, or a negative number.
     */
    enum status (*finish)(struct backend *b, double *device_s, struct error *err);
    enum status (*film_read)(struct backend *b, int64_t *sums, size_t pixels, struct error *err);
    /* Films that the picture is made of; NULL: one. Pixels behind the picture's (tables of what
     * shaders say) are in each of them, and film_read gives them one film after another. */
    size_t (*films)(const struct backend *b);
    /* The id of the device that made that row of the last picture; NULL: this one makes all. */
    const char *(*row_owner)(const struct backend *b, uint32_t y);
    /* Any entry but ENTRY_RENDER, `items` work-items in one dimension: copies in, runs, copies out.
     * May be called before any upload (probes that need no scene). */
    enum status (*run_words)(struct backend *b, enum kernel_entry entry,
                             const struct k_launch *launch, const uint32_t *in, size_t in_words,
                             uint32_t *out, size_t out_words, size_t items, struct error *err);
    /* The most work-items that a group of ENTRY_RENDER, or of any stage, takes, as the driver says of
     * the compiled program, which may be fewer than the device does; 0: it does not say. Compiles
     * what `request` only asked for. NULL: programs take what the device takes. */
    enum status (*group_most)(struct backend *b, uint32_t *most, struct error *err);
    /* Defaults that this device runs well; called after upload and group_most. The front makes
     * groups smaller that have more work-items than the program takes. */
    void (*defaults)(const struct backend *b, struct launch_settings *s);
    /* Samples of one launch where nobody says: long enough that its last groups, which run while
     * most of the device is idle, do not count, and some tenths of a second at most. NULL or 0: by
     * the device's kind. */
    uint64_t (*launch_samples)(const struct backend *b);
    /* Threads for the launches to come, 0: parallel_threads(). NULL where there are none to set. */
    void (*set_threads)(struct backend *b, unsigned threads);
    /* All three, or NULL where programs beside the kernel cannot be run. BUILD: info->log holds the
     * compiler's words. job_release comes before close. */
    enum status (*job_build)(struct backend *b, const struct job_source *source,
                             struct job_program **out, struct build_info *info, struct error *err);
    /* `iterations` launches of at least `items` work-items (the entry ignores those beyond) in
     * groups of `group`, 0: the API's choice. Waits; *seconds gets the launches' time added. */
    enum status (*job_run)(struct backend *b, struct job_program *p,
                           const struct job_buffer *buffers, size_t count, size_t items,
                           uint32_t group, uint32_t iterations, double *seconds, struct error *err);
    void (*job_release)(struct backend *b, struct job_program *p); /* takes NULL */
};

extern const struct backend_api split_api; /* whose ids hold a '+'; not in the list */
extern const struct backend_api
    *const backend_list[]; /* ends with NULL; backend_list.c, which CMake writes */

/* The kernel source as one string with its includes resolved, made at build time from kernel/
 * (embed.cmake). */
extern const char kernel_source[];

/* device_info's uuid of 16 bytes: "" when all are 0. */
void uuid_print(const unsigned char id[16], char out[40]);

/* "-DK_FAULT_LOST_COSINE" for a name of faults_list, "" for NULL. */
const char *fault_define(const char *name);

/* Where a compiled kernel is kept: cache_dir("kernels")/KEY SUFFIX. The key is a hash of all that
 * matters. */
enum status kernel_cache_path(const char *key_hex, const char *suffix, char *buf, size_t size,
                              struct error *err);

#endif
