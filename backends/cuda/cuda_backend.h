/* The inside of backends/cuda/. */
#ifndef ISOPHOTE_CUDA_BACKEND_H
#define ISOPHOTE_CUDA_BACKEND_H

#include "backend_api.h"
#include "cuda_api.h"
#include "kept.h"

enum { LAUNCHES_IN_FLIGHT = 4, STAGING_BYTES = 4 << 20 };

struct backend {
    const struct cu_api *cu;
    const struct nvrtc_api *nvrtc;
    cu_device device;
    cu_context context; /* the device's primary one */
    cu_stream stream;
    struct device_info info;
    int arch; /* 90: compute capability 9.0 */
    uint32_t max_grid[2];

    cu_pointer scene[SCENE_BUFFER_COUNT]; /* 0: empty */
    enum bvh_kind tree;                   /* of the scene; BVH_BINARY before the first */

    /* Compiled for one kind of tree each, which halves compile time and registers; made when
     * needed. */
    struct program {
        cu_module module; /* NULL: not made */
        cu_function kernels[ENTRY_COUNT];
        uint32_t threads; /* most in a block of k_render */
        uint32_t registers;
    } programs[BVH_COMPRESSED8 + 1];
    struct program_request request; /* of the last cuda_build */

    cu_pointer film;
    size_t film_pixels; /* that `film` has room for */
    void *staging[2];   /* pinned, STAGING_BYTES each; made at the first read */

    struct flight {
        struct k_launch *host; /* pinned: read by a copy that is queued */
        cu_pointer launch;
        cu_event begin, end;
        bool used;
    } flights[LAUNCHES_IN_FLIGHT];
    unsigned next_flight;
    double device_s; /* since film_begin */
};

/* cuda_device.c. Every entry of the table first makes the context current: the caller's thread may
 * change. */
enum status cuda_current(const struct backend *b, struct error *err);
void cuda_close(struct backend *b);

/* cuda_program.c */
/* The kernel compiled for `arch` (90), or for the newest architecture that this NVRTC knows below
 * it, as PTX that the driver finishes. In the arena; *info gets options and log, also on failure.
 * Needs no device. */
struct cuda_image {
    const void *data;
    size_t size;
    struct kept_resources resources;
};
enum status cuda_compile(const struct nvrtc_api *nvrtc, const struct program_request *request,
                         enum bvh_kind tree, int arch, bool ptx, struct arena *a,
                         struct cuda_image *out, struct build_info *info, struct error *err);
enum status cuda_build(struct backend *b, const struct program_request *request,
                       struct build_info *info, struct error *err);
/* The program for the scene's tree, compiled now if that kind is new. */
enum status cuda_program(struct backend *b, const struct program **out, struct error *err);
void cuda_programs_release(struct backend *b);

/* cuda_memory.c */
enum status cuda_upload(struct backend *b, const struct scene_buffers *buffers,
                        uint64_t *device_bytes, struct error *err);
void cuda_scene_release(struct backend *b);
enum status cuda_film_begin(struct backend *b, size_t pixels, bool poison, struct error *err);
enum status cuda_film_read(struct backend *b, int64_t *sums, size_t pixels, struct error *err);

/* cuda_launch.c */
enum status cuda_flights_open(struct backend *b, struct error *err);
void cuda_flights_close(struct backend *b);
enum status cuda_launch(struct backend *b, const struct k_launch *launch, const uint32_t grid[2],
                        const uint32_t work_group[2], struct error *err);
enum status cuda_finish(struct backend *b, double *device_s, struct error *err);
enum status cuda_run_words(struct backend *b, enum kernel_entry entry,
                           const struct k_launch *launch, const uint32_t *in, size_t in_words,
                           uint32_t *out, size_t out_words, size_t items, struct error *err);

#endif
