/* SPDX-License-Identifier: Apache-2.0 */
/* backends: devices that render. One function table per API (struct backend_api), one portable
 * kernel source (kernel/) that all of them compile, one front (this header) that checks arguments
 * and drives a job.
 *
 * Life of a device: devices_list -> device_open -> device_load -> device_build -> device_render
 * (many) -> device_close. No driver type crosses this header. A device is used by one thread at a
 * time. */
#ifndef ISOPHOTE_BACKENDS_H
#define ISOPHOTE_BACKENDS_H

#include "scenes.h"
#include "shaders.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what there is -------------------------------------------------------------------------- */

enum device_kind { DEVICE_CPU, DEVICE_GPU, DEVICE_OTHER };

struct device_info {
    char id[64];  /* "native", "opencl:0", "null", "faulty:lost-cosine" */
    char api[16]; /* "native", "opencl", "cuda" ... : a key in reports */
    char name[128], vendor[64], driver[96], version[96], compiler[128];
    char uuid[40]; /* of the very card, as "00112233-4455-..."; "" where the driver tells none */
    enum device_kind kind;
    uint32_t compute_units, clock_mhz;
    uint32_t max_work_group;         /* work-items in one group */
    uint32_t max_work_group_axis[2]; /* per axis */
    uint64_t global_bytes, max_alloc_bytes;
    bool fp64, subgroups, spirv;
    bool test_only; /* null, faulty: not in devices_list unless asked for by id */
};

/* All devices found, in the order native, then each API's. test_only ones are left out unless
 * `with_test_devices`. problems: one line for each API or driver that is there but does not work,
 * or is not there, with how to get it. */
enum status devices_list(struct arena *a, bool with_test_devices, struct device_info **out,
                         size_t *count, const char *const **problems, size_t *problem_count,
                         struct error *err);
/* An id, or a part of a device's name (case does not matter, must match one device only: TYPE if
 * several). MISSING if none, naming what there is. With "/source" or "/llvm" behind it, that code
 * path is what CODE_AUTO means for the device; a column of its own in reports. Several joined by
 * '+' ("cuda:0+cuda:1") are one device that gives each of them bands of rows (strict: the same
 * bits). */
enum status device_find(const char *wanted, struct device_info *out, struct error *err);

/* ---- settings ------------------------------------------------------------------------------- */

#define MATH_MODE_LIST(X)                                                                          \
    X(STRICT, "strict")                                                                            \
    X(DEVICE, "device")                                                                            \
    X(FAST, "fast")
enum math_mode {
#define X(name, text) MODE_##name,
    MATH_MODE_LIST(X)
#undef X
        MODE_COUNT
};
/* auto: what the device runs best, said in the result. none: every primitive in turn */
#define BVH_KIND_LIST(X)                                                                           \
    X(AUTO, "auto")                                                                                \
    X(BINARY, "bvh2")                                                                              \
    X(WIDE8, "bvh8")                                                                               \
    X(COMPRESSED8, "bvh8c")                                                                        \
    X(LINEAR, "none")
enum bvh_kind {
#define X(name, text) BVH_##name,
    BVH_KIND_LIST(X)
#undef X
        BVH_COUNT
};
/* How a path's stages are run: all by one kernel; each by a kernel of its own, for a batch of paths
 * between them in memory; the same by queues of the paths that are under way, sorted by what they
 * met. abreast: by processors, in lanes. restricted: one kernel, in which materials' shaders are
 * programs of calls of their masters. auto: what the device runs the scene best with, said in the result. */
#define EXEC_MODEL_LIST(X)                                                                         \
    X(AUTO, "auto")                                                                                \
    X(MEGAKERNEL, "megakernel")                                                                    \
    X(SEPARATE, "separate")                                                                        \
    X(WAVEFRONT, "wavefront")                                                                      \
    X(ABREAST, "abreast")                                                                          \
    X(RESTRICTED, "restricted")
enum exec_model {
#define X(name, text) MODEL_##name,
    EXEC_MODEL_LIST(X)
#undef X
        MODEL_COUNT
};
/* What a device's compiler is handed: the kernel's source, or what LLVM made of it when this
 * program was built (SPIR-V). Auto: source where the API takes it. */
#define CODE_PATH_LIST(X)                                                                          \
    X(AUTO, "auto")                                                                                \
    X(SOURCE, "source")                                                                            \
    X(LLVM, "llvm")
enum code_path {
#define X(name, text) CODE_##name,
    CODE_PATH_LIST(X)
#undef X
        CODE_COUNT
};
/* What a multiprocessor's fast memory is preferred for, where a device divides it: the cache of
 * global memory, memory that a work-group shares (of which the kernel has none), or both alike. */
#define CACHE_LIST(X)                                                                              \
    X(AUTO, "auto")                                                                                \
    X(L1, "l1")                                                                                    \
    X(SHARED, "shared")                                                                            \
    X(EQUAL, "equal")
enum cache_preference {
#define X(name, text) CACHE_##name,
    CACHE_LIST(X)
#undef X
        CACHE_COUNT
};

/* The names, and what has a name; false: there is none so named. */
const char *math_mode_name(enum math_mode m);
const char *bvh_kind_name(enum bvh_kind b);
const char *exec_model_name(enum exec_model m);
const char *code_path_name(enum code_path c);
const char *cache_preference_name(enum cache_preference c);
bool math_mode_find(const char *name, enum math_mode *out);
bool bvh_kind_find(const char *name, enum bvh_kind *out);
bool exec_model_find(const char *name, enum exec_model *out);
bool code_path_find(const char *name, enum code_path *out);
bool cache_preference_find(const char *name, enum cache_preference *out);

/* The identity of the text that devices compile as the kernel: strict bits of two programs with the
 * same one are the same, unless a compiler is wrong. */
extern const char kernel_source_hash[33];

/* A zeroed struct means the device's own choice for each. */
/* How a scene is laid out on a device. */
struct load_settings {
    enum bvh_kind bvh;
    bool bake; /* for device_bake: its shaders have their parameters as constants */
};
/* What a program is compiled for. */
struct build_settings {
    enum math_mode mode;
    enum exec_model model;
    enum code_path code;
    uint32_t registers; /* most registers a work-item, where a compiler takes such a limit (CUDA,
                           HIP, NVIDIA's OpenCL); 0: the device's default */
    enum cache_preference cache; /* CUDA only: UNSUPPORTED elsewhere */
    bool count_rays; /* the film's red, green and blue get no radiance but numbers (of each pixel,
                        in integers): rays to the closest hit, rays to any, nodes of the tree that
                        both read; device_counts has what shaders did. A kernel from source;
                        counting costs the others nothing */
};
/* How a picture is cut into launches. Strict pictures do not depend on it. */
struct launch_settings {
    uint32_t work_group[2]; /* work-items; {0,0}: the device's default */
    uint32_t tile[2];       /* pixels of one launch; {0,0}: the whole picture; edges are cut */
    uint32_t batch;         /* samples a pixel in one launch; 0: the device's default */
    uint32_t tile_order;    /* 0: rows; 1: reversed; 2: a fixed shuffle */
    uint32_t paths;         /* of a batch, where stages are kernels of their own: a row at least, an
                               eighth of the device's memory at most; 0: the device's default */
    unsigned threads;       /* native only; 0: parallel_threads() */
};
/* All that is chosen for a device's work on a scene. */
struct settings {
    struct load_settings load;
    struct build_settings build;
    struct launch_settings launch;
};

/* How far device_passes came: whole rows from the top, and some samples of the strip of rows behind
 * them, where there are any. */
struct passes_state {
    unsigned bits; /* as asked for */
    uint32_t rows;
    struct passes values; /* of which these rows count */
    uint32_t strip_samples;
    size_t sum_count, material_count; /* of the strip; 0 without strip_samples */
    const int64_t *sums;
    const uint32_t *materials;
};
/* Whoever keeps what a job has done so far. All is called by the thread that runs the job, while
 * it waits for the device anyway. `stopping`: the job will end now, at a request or a limit. */
struct render_keeper {
    void *ctx;
    bool (*due)(void *ctx); /* is it time to keep it? Not asked when stopping */
    /* All samples so far, with those that the job was resumed with. */
    void (*film)(void *ctx, const struct film *so_far, bool stopping);
    void (*passes)(void *ctx, const struct passes_state *so_far, bool stopping);
};

struct render_job {
    uint32_t width, height; /* of the whole picture */
    uint32_t crop[4];       /* x, y, width, height of the part to make; width 0: all of it */
    uint32_t sample_begin, sample_count;
    uint32_t max_depth, rr_depth;
    uint64_t seed;
    struct settings set; /* load, build: as the device was loaded and built */
    double timeout_s;    /* 0: none; looked at between launches */
    void (*progress)(void *ctx, double share, double left_s);
    void *progress_ctx;
    const struct render_keeper *keeper; /* NULL: nothing is kept */
    /* The film holds samples of this job already, those of each pixel from sample_begin on: what
     * is missing is added, and no output is poisoned. In strict mode the bits are those of a job
     * that was not interrupted, whatever device and settings made them. */
    bool resumed;
    const struct passes_state *passes_resumed; /* of the same job; NULL: none */
    bool time_stages; /* each stage of a model that has them is waited for, and timed */
};

/* Seconds of the stages of paths (docs/reference/models.md), each waited for. */
struct stage_times {
    double start, fly, sort, occlude, shade, shadow, film;
};
#define STAGE_TIMES_COUNT 7

/* Seconds by phase; device_s from the device's own events where it has them, else negative.
 * first_launch_s: one work-group and one sample in a shape that the built program was not yet
 * launched in, before the render, for drivers that compile at the first launch; else 0. */
struct render_times {
    double first_launch_s, launch_setup_s, render_s, device_s, readback_s;
    uint32_t launches;
    uint32_t work_group[2], tile[2], batch; /* what was really used */
    enum bvh_kind bvh;
    struct stage_times stages; /* render_job.time_stages */
};

/* What a scene's shaders came to; all zero where no material runs one. An operation is an
 * instruction of the IR that is no constant. Images are those that shaders read, each once, a tile
 * of a set is one; their bytes are as the device reads them, all levels. */
struct shading_stats {
    size_t groups;   /* materials with shaders */
    size_t programs; /* texts that differ: groups alike but for parameters share one */
    size_t masters;  /* compiled shaders; each file once */
    size_t instances, instances_run; /* layers of groups: all, and those that an output needs */
    size_t ops_before, ops_after, symbols_before, symbols_after; /* of all groups */
    size_t derivs_before, derivs_after; /* of the symbols: that keep derivatives */
    size_t images;
    size_t image_levels, image_levels_given; /* of the images: all, and those that files held */
    uint64_t image_bytes;
    double optimise_s; /* to the IR, and its optimisation */
    double emit_s;     /* to the text that compilers read */
};

/* What a kernel that counts (build_settings.count_rays) found. A tile has 64 x 64 texels, fewer at
 * an image's edges; bytes are as the device reads them. */
struct tile_counts {
    uint64_t tiles, tiles_read, bytes, bytes_read;
};
/* Hits whose shader ran. One is combined where the pixel's last sample that met a shader at the
 * same vertex of its path met that of the same material: both could have run together. Else a run
 * of hits begins, because of what is named: it is the pixel's first, or another shader's, or the
 * same shader's with other parameters. */
struct shader_hits {
    uint64_t combined, first, other_shader, other_parameters;
};
struct shading_counts {
    uint64_t texture_queries;                     /* texture() and environment() of shaders */
    uint64_t image_lookups;                       /* images of materials */
    struct tile_counts shader_tiles, image_tiles; /* of levels of shaders' images; of materials' */
    size_t material_count;
    struct shader_hits *hits; /* by material */
};
/* Adds up those of all materials. */
struct shader_hits shader_hits_sum(const struct shading_counts *c);
static inline uint64_t shader_runs(const struct shader_hits *h)
{
    return h->first + h->other_shader + h->other_parameters;
}

/* What a job took, by counting and by timing its stages, in programs of their own. Where one cannot
 * be had, `why` says so, and its numbers are 0. */
struct render_statistics {
    struct shading_counts counts;
    int64_t rays[3]; /* to the closest hit, to any; nodes of the tree */
    struct stage_times stages;
    double stages_s;                   /* of the render that they are of */
    struct texture_cache_counts cache; /* until then, of textures on demand; limit 0: none are */
    char why_no_counts[256], why_no_stages[256];
};

/* Their members, into an object that is open. counts: NULL where nothing was counted. */
void shading_stats_write(struct json_writer *w, const struct shading_stats *s,
                         const struct shading_counts *counts);
/* s: the scene that was rendered, NULL: shaders are not told one by one; samples: how many. */
void render_statistics_write(struct json_writer *w, const struct render_statistics *r,
                             const struct scene *s, double samples);
/* Seconds of rays, and of surfaces and their shaders; the other stages start paths, sort them and
 * write the film. */
static inline double stages_tracing_s(const struct stage_times *t)
{
    return t->fly + t->occlude + t->shadow;
}
static inline double stages_other_s(const struct stage_times *t)
{
    return t->start + t->sort + t->film;
}

struct load_times {
    struct shading_stats shading;
    double bvh_build_s, upload_s;
    uint64_t bvh_bytes, scene_bytes, device_bytes;
    double sah_cost;   /* of the tree used, in units of one triangle test, node cost 1; an instance
                          costs what its prototype's tree does */
    enum bvh_kind bvh; /* the tree used */
};

struct build_info {
    enum exec_model model; /* that it is compiled for */
    double compile_s;
    bool cached;       /* the compiled kernel came from a cache of ours */
    char options[512]; /* flags handed to the device's compiler */
    char log[2048];    /* what it said, cut */
    uint32_t registers, stack_bytes, spill_bytes; /* 0 where the driver does not tell */
};

/* ---- a device ------------------------------------------------------------------------------- */

struct device;

enum status device_open(const char *id, struct device **out, struct error *err);
void device_close(struct device *d); /* accepts NULL; frees everything of it */
const struct device_info *device_describe(const struct device *d);

/* Whether device_load keeps the trees of large scenes in the cache folder and takes them from
 * there, for many processes that load the same scenes. Off at first, so that load_times say what
 * building takes. For the whole process; call it before any device_load. */
void trees_keep(bool keep);

/* Whether programs built from now on are for pictures of few samples, as those of a verdict are:
 * what compiles soonest is best then, and CUDA's compiler leaves undone much of what makes long text
 * quick. Off at first. For the whole process; call it before any device_build. */
void programs_for_few_samples(bool few);

/* Scenes loaded from now on have the parameters of their shaders in the program (each change
 * compiles again), or, as at first, in a buffer that the program reads. Strict
 * pictures of all devices agree either way; the two ways agree with each other where no function
 * with an ulp bound (docs/reference/asl.md, section 20) is folded: what the compiler folds it
 * rounds correctly. */
void device_bake(struct device *d, bool bake);
/* Scenes loaded from now on are for that model: it must be said before device_load where programs
 * will be built for MODEL_RESTRICTED, which lays shaders out in its own way, and again for others
 * after it. UNSUPPORTED from device_load names the layer that the model does not take. */
void device_model(struct device *d, enum exec_model model);
/* Builds the acceleration structure, lays the scene out and uploads it; replaces a scene loaded
 * before. The scene may be freed afterwards. Fails: LIMIT (larger than the device, with both
 * numbers), MEMORY, DEVICE, CANCELLED. */
enum status device_load(struct device *d, const struct scene *s, enum bvh_kind bvh,
                        struct load_times *times, struct error *err);
/* Compiles the kernel for what `settings` says of mode, code path and registers. UNSUPPORTED names
 * the code path that a device does not take, or the property that it lacks for `strict` (found by
 * running probes, not by asking only). BUILD carries the compiler's log. */
enum status device_build(struct device *d, const struct build_settings *settings,
                         struct build_info *info, struct error *err);
/* Adds the job's samples to the film, which must have the size of the picture, or of the crop, and
 * film_exponent(scene). A device's own film is as large as the picture. ARG if a resumed job's film
 * is not a part of the job.
 * Outputs on the device are poisoned first when `poison`. On failure the film is untouched. */
enum status device_render(struct device *d, const struct render_job *job, struct film *film,
                          bool poison, struct render_times *times, struct error *err);
/* The most work-items of a group that the built program takes: the device's limit, or the driver's
 * for this program where that is less. No device_render without a work-group of its own takes more.
 */
enum status device_group_most(struct device *d, uint32_t *most, struct error *err);
/* What the last device_render counted, where the program counts; else NULL. Valid until the next
 * one, and until a scene is loaded. */
const struct shading_counts *device_counts(const struct device *d);
/* Renders the job twice again, in programs that count and that have stages, and builds them: the
 * device has another program then. The picture is not changed by either; counts are those of the
 * job's samples. */
enum status device_statistics(struct device *d, const struct render_job *job,
                              struct render_statistics *out, struct error *err);
void render_statistics_free(struct render_statistics *s); /* takes zeroed ones */
/* The id of the device that made that row of the last picture: a member's, where several render
 * together; else, and before any picture, the device's own. Valid until the next device_render. */
const char *device_row_owner(const struct device *d, uint32_t y);
/* What the scene's shaders printed and reported in renders since it was loaded: lines of
 * asl_sayings_print. Of one statement 64 different texts are kept, 4 of long ones. */
void device_messages(const struct device *d, struct text *out);
/* The passes named by bits (1u << enum pass, of PASSES_ALL) of the job's samples, in a program of
 * their own that is compiled when first asked for; a device made of several uses the first. *out is
 * freed by passes_free. In strict mode PASS_BEAUTY has the film's bits. */
enum status device_passes(struct device *d, const struct render_job *job, unsigned bits,
                          struct passes *out, struct error *err);
/* One sample with its vertices, from the same kernel compiled with recording on. `L` before the
 * film's rounding. A device made of several asks the owner of the pixel's row. */
enum status device_trace(struct device *d, const struct render_job *job, uint32_t x, uint32_t y,
                         uint32_t sample, double L[3], struct path_vertex *vertices,
                         size_t capacity, size_t *count, struct error *err);

/* Single parts of the kernel run on the device, for conformance cases. Rows of 32-bit words, `in`
 * and `out` of the widths below; f: a float's bits. */
enum probe {
    PROBE_RNG,         /* in: counter[4] key[2]; out: word[4] */
    PROBE_MATH,        /* in: function (enum probe_function), x f, y f; out: r f */
    PROBE_HIT,         /* in: o[3] f, d[3] f, t_max f, brute (1: all primitives, 0: the BVH); out:
                          primitive, t f, b1 f, b2 f, any-hit (0/1) */
    PROBE_BSDF_SAMPLE, /* in: material, uv[2] f, entering, wo[3] f, u[3] f; out: ok, delta, wi[3] f,
                          weight[3] f, pdf f */
    PROBE_BSDF_EVAL,   /* in: material, uv[2] f, wo[3] f, wi[3] f; out: f[3] f, pdf f */
    PROBE_LIGHT, /* in: P[3] f, Ng[3] f, u[3] f; out: ok, light, wi[3] f, distance f, pdf f, Le[3] f
                  */
    PROBE_TEXTURE,     /* in: texture, uv[2] f; out: rgb[3] f */
    PROBE_ENVIRONMENT, /* in: d[3] f; out: L[3] f, pdf f */
    PROBE_COUNT
};
enum probe_function {
    PROBE_ADD,
    PROBE_SUB,
    PROBE_MUL,
    PROBE_DIV,
    PROBE_SQRT,
    PROBE_FMA_LIKE, /* x*y+x */
    PROBE_FLOOR,
    PROBE_SIN,
    PROBE_COS,
    PROBE_ATAN2,
    PROBE_ACOS,
    /* What the kernel's text is made of, since a compiler may contract one form and not another.
     * Each operation is rounded for itself. */
    PROBE_DOT,   /* (x y + y y) + x y, of vectors of three */
    PROBE_CROSS, /* x y - y y, of vectors of three */
    PROBE_MADD,  /* x + y y, of vectors of three */
    PROBE_LANES, /* x y + x, of eight lanes */
    PROBE_FUNCTION_COUNT
};
extern const struct probe_shape {
    const char *name;
    uint32_t in_words, out_words;
} probe_shapes[PROBE_COUNT];
/* A device that writes behind its rows is told as STATUS_MISMATCH. */
enum status device_probe(struct device *d, enum probe probe, const uint32_t *in, size_t rows,
                         uint32_t *out, struct error *err);

/* ---- shaders without a scene ---------------------------------------------------------------- */

struct shade;

/* An engine that shade_open knows, and one line that says what it is. */
struct shade_engine_info {
    const char *name, *text;
    bool indexed; /* its ids end with ":" and a device's number, as in devices_list */
};
/* NULL from the first index on that has none. */
const struct shade_engine_info *shade_engine_at(size_t index);

/* What the geometry carries under a name: one number, or as many as the wanted type has slots. */
struct shade_userdata {
    const char *name;
    size_t count;
    float v[16];
};

struct shade_space {
    const char *name;
    float to_common[16]; /* row-major, p' = p M */
};

/* Zeroed is valid: last layer only, all threads. */
/* How the engine `native` compiles a shader: for rows of points, for rows with copies of branches
 * that all points of a row take, or for one point. The bits are the same. */
enum shade_form { SHADE_ROWS, SHADE_COPIES, SHADE_POINT, SHADE_FORM_COUNT };
extern const char *const shade_form_names[SHADE_FORM_COUNT];

struct shade_options {
    const char *const *outputs; /* "Cout", "layer.Cout", "Ci", in the order of the result; ends with
                                   NULL; NULL: none. Their layers run at every point */
    enum math_mode mode;        /* engines that translate; others are always strict */
    unsigned level;             /* 0 to 2: how much translating engines optimise */
    enum shade_form form;       /* of the engine native; others have one */
    bool bake;                  /* parameters become constants: reparam compiles again */
    bool stay_in_loops;         /* nothing is moved out of loops (asl_lower_options) */
    bool stay_at_points;        /* engines that compile: each point does what is the same at all */
    uint32_t uniform_least;     /* devices: unless that takes as long as so many sums; 0: 96 */
    unsigned threads;           /* engines of the processor; 0: parallel_threads() */
    uint32_t work_group;        /* engines of devices; 0: the device's choice */
    uint64_t step_budget;       /* interpreters: steps of one point; 0: 100 million */
    uint32_t perturb;           /* interp: as asl_context_options has it, in other modes than
                                 * strict as asl_context_contract has it; others ignore it */
    const char *fault;          /* engines that translate: a mistake of asl_fault_at, or NULL */
    bool error_repeats;         /* texts of errors and warnings come each time */
    bool keep_going;            /* after a point that failed; else the run stops there */
    /* What getattribute() and parameters with lockgeom=0 find, before the data of the grid. Before
     * these come the attributes of the grid (docs/reference/asl.md, Running). */
    const struct shade_userdata *userdata;
    size_t userdata_count;
    const struct shader_images *images; /* what texture() finds; NULL: none */
    const struct shade_space *spaces;
    size_t space_count;
};

/* A grid without geometry (docs/reference/asl.md, Running): point i is x = i mod width, y = i /
 * width. u = x/(width-1), or (x+0.5)/width when `center`, times scale, plus offset; v alike. P =
 * (u, v, 1). */
struct shade_grid {
    uint32_t width, height;
    bool center;
    double offset[2], scale[2];  /* scale {0,0} counts as {1,1} */
    bool vary_p, vary_u, vary_v; /* derivatives of P, u, v that vary over the grid */
    uint32_t raytype;            /* asl_raytype_bit() */
};
void shade_grid_globals(const struct shade_grid *g, size_t point, struct asl_globals *out);

struct shade_points {
    const struct asl_globals *globals; /* `count` of them, or NULL: points of the grid */
    struct shade_grid grid;
    size_t first, count; /* of the grid: count 0 means all from `first`; of globals: first is 0 */
    uint32_t iterations; /* the same again, for timing; 0 counts as 1. The last one's results stay,
                            the first one's messages */
};

struct shade_output {
    const char *name;
    struct asl_type type;
    size_t slots;    /* of one point */
    uint32_t *words; /* [count][slots]: bits of floats, ints, indices of `strings` for strings and
                        closures (as asl_closure_print shows them) */
    uint8_t *ran;    /* [count]: 0 where the output's layer did not run; then its words are 0 */
};

struct shade_message {
    size_t point;
    enum asl_message kind;
    const char *to, *text; /* as asl_services.message has them */
};

struct shade_failure {
    size_t point;
    struct error error; /* TIMEOUT, MEMORY, LIMIT: with file and line */
};

/* Everything lives in `arena`. Strings are numbered in the order of outputs, points and slots, so
 * that two engines which agree give the same words. Messages stand in the order of points; texts of
 * errors and warnings come once a run unless error_repeats is set. */
struct shade_result {
    struct arena arena;
    size_t count; /* points */
    struct shade_output *outputs;
    size_t output_count;
    const char *const *strings;
    size_t string_count;
    struct shade_message *messages;
    size_t message_count;
    struct shade_failure *failures;
    size_t failure_count;
    double run_s;   /* all iterations, without any set-up, compiling or copying of results */
    uint64_t steps; /* of interpreters; else 0 */
};
void shade_result_free(struct shade_result *r); /* takes NULL */

struct shade_info {
    const char *engine; /* as it was asked for */
    char device[128];   /* what runs it */
    unsigned threads;
    double translate_s; /* group to the text that a compiler reads */
    double compile_s;   /* that compiler, and loading what it made */
    bool cached;
    /* Of engines that compile: instructions that run once for a grid, and words that they leave to
     * its points (asl_emitted). Of others 0. */
    size_t uniform_operations, uniform_words;
    struct asl_grid_work work; /* of `grid`: what its runs did; of others 0 */
    uint64_t work_points;      /* that it ran, each as often as it did */
};

/* Engine "interp", "native", "opencl:0" ... Fails: ARG (no such engine, naming those that are; no
 * such output), MISSING (the device), UNSUPPORTED (what a device cannot do, with the place), BUILD
 * (with the place in the shader where the compiler names one), MEMORY, LIMIT. */
enum status shade_open(const char *engine, const struct asl_group *group,
                       const struct shade_options *opt, struct shade **out, struct error *err);
void shade_close(struct shade *s); /* takes NULL */
const struct shade_info *shade_describe(const struct shade *s);
/* The wanted outputs, their types and slots; words and ran are NULL. */
const struct shade_output *shade_outputs(const struct shade *s, size_t *count);
/* Values that asl_group_reparam set since then count. *out is filled when OK, also when points
 * failed; it must be freed. Fails: CANCELLED, MEMORY, LIMIT (more than 2^28 points with outputs),
 * DEVICE. */
enum status shade_run(struct shade *s, const struct shade_points *points, struct shade_result *out,
                      struct error *err);

/* ---- mistakes, for testing the suite itself ------------------------------------------------- */

/* `faulty:NAME` is the native device with one mistake compiled in. */
struct fault {
    const char *name; /* "lost-cosine" */
    const char *text; /* what is wrong */
};
const struct fault *faults_list(size_t *count);

/* `mutant:K` is the native device with the K-th edit of the text that devices compile (the kernel's,
 * then the shaders' library), made by rule at one place of one function; `mutant:none` the same
 * compiled without an edit. Numbers hold for one mutants_text_hash. */
struct mutant {
    const char *rule;      /* "comparison" */
    const char *file;      /* below device/ */
    const char *function;  /* that the edit is in */
    const char *was, *now; /* text; `now` may be "" */
    uint32_t line;
    bool of_kernel, of_library; /* which of the two has it: both, where both include the file */
    uint32_t mark, twin_mark;   /* that are passed before its place runs, of mutants_reached */
    bool marked; /* else nothing tells whether it ran: small functions of math/ have no marks */
};
enum status mutants_count(size_t *count, struct error *err);
enum status mutant_find(struct arena *a, size_t k, struct mutant *out, struct error *err);
enum status mutants_text_hash(char hash[33], struct error *err);
/* Which marks of the text programs of `mutant:marked` that this process has closed have passed, by
 * number; how many are known. Grids of shaders have those of the library. */
size_t mutants_reached(const unsigned char **marks);
/* What the compiler makes of a mutant on this machine. */
struct mutant_code {
    bool compiles;
    bool built; /* is the place in any text that is compiled here, in any mode? */
    /* is the kernel's code that without the edit? Others than strict are asked where strict's is */
    bool same[MODE_COUNT];
    bool same_in_grids; /* and that of grids of shaders in all modes; true where they lack it */
    /* does it exchange the first two arguments of a function that gives the same for both orders?
     * The compiler proves it in every text and mode that has the function: a second call with them
     * exchanged is the same machine code as one with the same order. */
    bool commutes;
};
/* Compares the machine code of the function, whatever it calls. May be called from several threads
 * after mutants_count. Fails: MISSING (no C compiler), IO. */
enum status mutant_look(size_t k, struct mutant_code *out, struct error *err);

#ifdef __cplusplus
}
#endif
#endif
