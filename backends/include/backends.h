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

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what there is ----------------------------------------------------------------------------
 */

enum device_kind { DEVICE_CPU, DEVICE_GPU, DEVICE_OTHER };

struct device_info {
    char id[48];  /* "native", "opencl:0", "null", "faulty:lost-cosine" */
    char api[16]; /* "native", "opencl", "cuda" ... : a key in reports */
    char name[128], vendor[64], driver[96], version[96], compiler[128];
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
 * several). MISSING if none, naming what there is. */
enum status device_find(const char *wanted, struct device_info *out, struct error *err);

/* ---- settings
 * ------------------------------------------------------------------------------------ */

enum math_mode { MODE_STRICT, MODE_DEVICE, MODE_FAST };
enum bvh_kind {
    BVH_AUTO,
    BVH_BINARY,
    BVH_WIDE8,
    BVH_COMPRESSED8
}; /* auto: what the device runs best, said in the result */
enum exec_model { MODEL_MEGAKERNEL };

const char *math_mode_name(enum math_mode m);   /* "strict" */
const char *bvh_kind_name(enum bvh_kind b);     /* "auto", "bvh2", "bvh8", "bvh8c" */
const char *exec_model_name(enum exec_model m); /* "megakernel" */

/* A zeroed struct means the device's own choice for each. */
struct launch_settings {
    enum math_mode mode;
    enum bvh_kind bvh;
    enum exec_model model;
    uint32_t work_group[2]; /* work-items; {0,0}: the device's default */
    uint32_t tile[2];       /* pixels of one launch; {0,0}: the whole picture; edges are cut */
    uint32_t batch;         /* samples a pixel in one launch; 0: the device's default */
    uint32_t tile_order; /* 0: rows; 1: reversed; 2: a fixed shuffle. Strict pictures do not depend
                            on it */
    unsigned threads;    /* native only; 0: parallel_threads() */
};

struct render_job {
    uint32_t width, height;
    uint32_t sample_begin, sample_count;
    uint32_t max_depth, rr_depth;
    uint64_t seed;
    struct launch_settings launch;
    double timeout_s; /* 0: none; looked at between launches */
    void (*progress)(void *ctx, double share, double left_s);
    void *progress_ctx;
};

/* Seconds by phase; device_s from the device's own events where it has them, else negative. */
struct render_times {
    double launch_setup_s, render_s, device_s, readback_s;
    uint32_t launches;
    uint32_t work_group[2], tile[2], batch; /* what was really used */
    enum bvh_kind bvh;
};

struct load_times {
    double bvh_build_s, upload_s;
    uint64_t bvh_bytes, scene_bytes, device_bytes;
    double sah_cost; /* of the tree used, in units of one triangle test, node cost 1 */
};

struct build_info {
    double compile_s;
    bool cached;       /* the compiled kernel came from a cache of ours */
    char options[512]; /* flags handed to the device's compiler */
    char log[2048];    /* what it said, cut */
    uint32_t registers, stack_bytes, spill_bytes; /* 0 where the driver does not tell */
};

/* ---- a device
 * ---------------------------------------------------------------------------------------- */

struct device;

enum status device_open(const char *id, struct device **out, struct error *err);
void device_close(struct device *d); /* accepts NULL; frees everything of it */
const struct device_info *device_describe(const struct device *d);

/* Builds the acceleration structure, lays the scene out and uploads it; replaces a scene loaded
 * before. The scene may be freed afterwards. Fails: LIMIT (larger than the device, with both
 * numbers), MEMORY, DEVICE, CANCELLED. */
enum status device_load(struct device *d, const struct scene *s, enum bvh_kind bvh,
                        struct load_times *times, struct error *err);
/* Compiles the kernel for a mode. UNSUPPORTED names the property that a device lacks for `strict`
 * (found by running probes, not by asking only). BUILD carries the compiler's log. */
enum status device_build(struct device *d, enum math_mode mode, struct build_info *info,
                         struct error *err);
/* Adds the job's samples to the film, which must have the picture's size and film_exponent(scene).
 * Outputs on the device are poisoned first when `poison`. On failure the film is untouched. */
enum status device_render(struct device *d, const struct render_job *job, struct film *film,
                          bool poison, struct render_times *times, struct error *err);
/* One sample with its vertices, from the same kernel compiled with recording on. `L` before the
 * film's rounding. */
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
    PROBE_FMA_LIKE /* x*y+x unfused */,
    PROBE_FLOOR,
    PROBE_SIN,
    PROBE_COS,
    PROBE_ATAN2,
    PROBE_ACOS,
    PROBE_FUNCTION_COUNT
};
extern const struct probe_shape {
    const char *name;
    uint32_t in_words, out_words;
} probe_shapes[PROBE_COUNT];
enum status device_probe(struct device *d, enum probe probe, const uint32_t *in, size_t rows,
                         uint32_t *out, struct error *err);

/* ---- mistakes, for testing the suite itself
 * ------------------------------------------------------------ */

/* `faulty:NAME` is the native device with one mistake compiled in. */
struct fault {
    const char *name; /* "lost-cosine" */
    const char *text; /* what is wrong */
};
const struct fault *faults_list(size_t *count);

#ifdef __cplusplus
}
#endif
#endif
