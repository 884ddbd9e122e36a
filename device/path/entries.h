/* SPDX-License-Identifier: Apache-2.0 */
/* What the host starts: the film (protocol section 9), one work-item a pixel of the tile; a
 * recorded sample; probes; passes. */
#ifndef K_ENTRIES_H
#define K_ENTRIES_H
#ifdef K_STAGED
#include "path/batch.h"
#endif
#include "path/film.h"
#include "path/passes.h"
#include "path/probe.h"

/* enum program_part of backend_api.h; without it a program holds all entries. */
#ifdef K_PART
#define K_HAS_RENDER (K_PART == 0)
#define K_HAS_TRACE  (K_PART == 1)
#define K_HAS_PROBE  (K_PART == 2)
#define K_HAS_PASSES (K_PART == 3)
#define K_HAS_HIT    (K_PART == 4)
#else
#define K_HAS_RENDER 1
#define K_HAS_TRACE  1
#define K_HAS_PROBE  1
#define K_HAS_PASSES 1
#define K_HAS_HIT    1
#endif

/* Has an item of the work-group samples left? Where a vertex is much code the items of a group go
 * from vertex to vertex together, those that are through idly, so that its warps need the same
 * instructions at about the same time: they fill a multiprocessor's caches of instructions more
 * than once. (docs/results/h200_levers.md) */
K_FN int k_group_goes_on(int left) { return K_HAS(LOBES) ? K_ANY_OF_GROUP(left) : left; }

/* The samples of this work-item: from *i on, below what is returned. */
K_FN uint k_item_samples(K_GLOBAL const struct k_launch *L, uint x, uint *i)
{
    *i = K_FIRST_SAMPLE(L, x);
#if K_SLICED
    if (L->slices) {
        uint most = (L->sample_count + L->slices - 1) / L->slices;
        *i += most * K_SLICE;
        return *i + most < L->sample_count ? *i + most : L->sample_count;
    }
#endif
    return L->sample_count;
}

/* Pixel (x, y) of the tile. */
K_FN void k_render_item(const struct k_scene *sc, K_GLOBAL K_LONG *film, uint x, uint y)
{
    K_GLOBAL const struct k_launch *L = sc->launch;
    if (x >= L->tile_w || y >= L->tile_h)
        return;
    struct k_stream stream;
    stream.x = L->tile_x + x;
    stream.y = K_ROW(L, L->tile_y + y);
    stream.seed0 = L->seed[0];
    stream.seed1 = L->seed[1];
    if (FAULT_STALE_FILM(stream.y))
        return;
    struct k_sums sums = {0, 0, 0, 0};
#ifdef K_COUNT_RAYS
    K_LONG counts[K_COUNTS] = {0, 0, 0};
    struct k_scene counting = *sc;
    uint met[K_RUN_VERTICES];
    for (uint k = 0; k < K_RUN_VERTICES; k++)
        met[k] = 0u;
    counting.counts = counts;
    counting.met = met;
    counting.tally = (K_GLOBAL uint *)(film + 4 * ((size_t)L->width * L->height + L->batch_behind));
    sc = &counting;
#endif
    /* One loop over the vertices of all samples: a lane whose path has ended starts its next one
     * while its neighbours are still under way. */
    uint i, count_wanted = k_item_samples(L, x, &i), failed = 0;
    stream.sample = L->sample_begin + i;
    struct k_walk w = k_walk_start(sc, &stream);
    while (k_group_goes_on(i < count_wanted)) {
        if (i >= count_wanted)
            continue;
        if (k_walk_step(sc, &stream, &w, (K_GLOBAL struct k_vertex *)0))
            continue;
        failed = w.failed ? w.failed : failed;
        k_sums_add(L, &sums, k_path_result(sc, &stream, w.L));
        if (++i >= count_wanted)
            continue;
        stream.sample = L->sample_begin + i;
        w = k_walk_start(sc, &stream);
    }
#ifdef K_COUNT_RAYS
    sums.r = counts[K_COUNT_CLOSEST];
    sums.g = counts[K_COUNT_ANY];
    sums.b = counts[K_COUNT_NODES];
#endif
    k_sums_store(L, sums, failed, film + 4 * ((size_t)stream.y * L->width + stream.x));
}

/* One sample with its vertices. */
K_FN void k_trace_item(const struct k_scene *sc, K_GLOBAL uint *out)
{
    K_GLOBAL const struct k_launch *L = sc->launch;
    struct k_stream stream;
    stream.x = L->trace_x;
    stream.y = L->trace_y;
    stream.sample = L->sample_begin;
    stream.seed0 = L->seed[0];
    stream.seed1 = L->seed[1];
    uint count;
    struct k_vec3 v = k_path(sc, &stream, (K_GLOBAL struct k_vertex *)(out + K_TRACE_HEADER_WORDS),
                             L->trace_capacity, &count);
    out[0] = K_AS_UINT(v.x);
    out[1] = K_AS_UINT(v.y);
    out[2] = K_AS_UINT(v.z);
    out[3] = count;
}

#define K_HEAR(sc, film)                                                                           \
    (sc).messages =                                                                                \
        (sc).launch->messages                                                                      \
            ? (K_GLOBAL uint *)((film) + 4 * (size_t)(sc).launch->width * (sc).launch->height)     \
            : (K_GLOBAL uint *)0
#define K_HEAR_NOTHING(sc) (sc).messages = (K_GLOBAL uint *)0

#if defined(K_NATIVE)

#define SCENE_BUFFER(name, type, text) sc.name = (const type *)buffers[at++];
#define K_SCENE_FROM_BUFFERS                                                                       \
    struct k_scene sc;                                                                             \
    int at = 0;
#define K_EXPORT __attribute__((visibility("default")))

#if K_HAS_RENDER && !defined(K_STAGED) && !defined(K_ABREAST)
/* All items of work-group `group` of size `size`. */
K_EXPORT void k_render(const void *const *buffers, const struct k_launch *launch, long long *film,
                       const uint *group, const uint *size);
void k_render(const void *const *buffers, const struct k_launch *launch, long long *film,
              const uint *group, const uint *size)
{
    K_SCENE_FROM_BUFFERS
#include "buffers.def"
    sc.launch = launch;
    K_HEAR(sc, film);
    for (uint y = 0; y < size[1]; y++)
        for (uint x = 0; x < size[0]; x++)
            k_render_item(&sc, film, group[0] * size[0] + x, group[1] * size[1] + y);
}
#endif
#if K_HAS_RENDER && K_HAS_PIECE(ENDS)
K_EXPORT void k_arithmetic(const void *const *buffers, const struct k_launch *launch,
                           const uint *in, uint *out, uint row);
void k_arithmetic(const void *const *buffers, const struct k_launch *launch, const uint *in,
                  uint *out, uint row)
{
    (void)buffers;
    k_arithmetic_item(launch, in, out, row);
}
#endif
#if K_HAS_TRACE
K_EXPORT void k_trace(const void *const *buffers, const struct k_launch *launch, uint *out);
void k_trace(const void *const *buffers, const struct k_launch *launch, uint *out)
{
    K_SCENE_FROM_BUFFERS
#include "buffers.def"
    sc.launch = launch;
    K_HEAR_NOTHING(sc);
    k_trace_item(&sc, out);
}
#endif
#if K_HAS_PROBE
K_EXPORT void k_probe(const void *const *buffers, const struct k_launch *launch, const uint *in,
                      uint *out, uint row);
void k_probe(const void *const *buffers, const struct k_launch *launch, const uint *in, uint *out,
             uint row)
{
    K_SCENE_FROM_BUFFERS
#include "buffers.def"
    sc.launch = launch;
    K_HEAR_NOTHING(sc);
    k_probe_item(&sc, in, out, row);
}
#endif
#if K_HAS_HIT
K_EXPORT void k_hit(const void *const *buffers, const struct k_launch *launch, const uint *in,
                    uint *out, uint row);
void k_hit(const void *const *buffers, const struct k_launch *launch, const uint *in, uint *out,
           uint row)
{
    K_SCENE_FROM_BUFFERS
#include "buffers.def"
    sc.launch = launch;
    K_HEAR_NOTHING(sc);
    k_hit_item(&sc, in, out, row);
}
#endif
#if K_HAS_PASSES
K_EXPORT void k_passes(const void *const *buffers, const struct k_launch *launch, const uint *in,
                       uint *out, uint item);
void k_passes(const void *const *buffers, const struct k_launch *launch, const uint *in, uint *out,
              uint item)
{
    K_SCENE_FROM_BUFFERS
#include "buffers.def"
    sc.launch = launch;
    K_HEAR_NOTHING(sc);
    (void)in;
    k_passes_item(&sc, out, item);
}
#endif

#else

/* OpenCL, CUDA and HIP: the buffers are kernel arguments in order. */
#ifdef K_OPENCL
/* The hint says that work-items compute with eight lanes already. Intel's compiler otherwise makes
 * a second kernel, sixteen work-items wide: thrice the compile time, and a fifth of the speed where
 * it is used. */
#define K_KERNEL   __kernel __attribute__((vec_type_hint(float8)))
#define K_ITEM_X   ((uint)get_global_id(0))
#define K_ITEM_Y   ((uint)get_global_id(1))
#define K_GROUP_X  ((uint)get_local_size(0))
#define K_GROUP_Y  ((uint)get_local_size(1))
#define K_GROUP_AT (uint) get_group_id(0), (uint)get_group_id(1)
#define K_IN_GROUP ((uint)(get_local_id(1) * get_local_size(0) + get_local_id(0)))
#else
#if defined(K_REGISTERS) && (defined(__HIP__) || defined(__HIPCC_RTC__))
#define K_KERNEL extern "C" __attribute__((amdgpu_num_vgpr(K_REGISTERS))) __global__
#else
#define K_KERNEL extern "C" __global__
#endif
#define K_ITEM_X   (blockIdx.x * blockDim.x + threadIdx.x)
#define K_ITEM_Y   (blockIdx.y * blockDim.y + threadIdx.y)
#define K_GROUP_X  blockDim.x
#define K_GROUP_Y  blockDim.y
#define K_GROUP_AT blockIdx.x, blockIdx.y
#define K_IN_GROUP (threadIdx.y * blockDim.x + threadIdx.x)
#endif

#if K_HAS_RENDER && !defined(K_STAGED) && !defined(K_ABREAST)
K_KERNEL void k_render(
#define SCENE_BUFFER(name, type, text) K_GLOBAL const type *name##_,
#include "buffers.def"
#undef SCENE_BUFFER
    K_GLOBAL const struct k_launch *launch, K_GLOBAL K_LONG *film)
{
    struct k_scene sc;
#define SCENE_BUFFER(name, type, text) sc.name = name##_;
#include "buffers.def"
#undef SCENE_BUFFER
    sc.launch = launch;
    K_HEAR(sc, film);
    k_render_item(&sc, film, K_ITEM_X, K_ITEM_Y);
}
#endif

#if K_HAS_RENDER && K_HAS_PIECE(ENDS)
K_KERNEL void k_arithmetic(
#define SCENE_BUFFER(name, type, text) K_GLOBAL const type *name##_,
#include "buffers.def"
#undef SCENE_BUFFER
    K_GLOBAL const struct k_launch *launch, K_GLOBAL const uint *in, K_GLOBAL uint *out)
{
    if (K_ITEM_X < launch->rows)
        k_arithmetic_item(launch, in, out, K_ITEM_X);
}
#endif

#if K_HAS_TRACE
K_KERNEL void k_trace(
#define SCENE_BUFFER(name, type, text) K_GLOBAL const type *name##_,
#include "buffers.def"
#undef SCENE_BUFFER
    K_GLOBAL const struct k_launch *launch, K_GLOBAL uint *out)
{
    struct k_scene sc;
#define SCENE_BUFFER(name, type, text) sc.name = name##_;
#include "buffers.def"
#undef SCENE_BUFFER
    sc.launch = launch;
    K_HEAR_NOTHING(sc);
    if (K_ITEM_X == 0)
        k_trace_item(&sc, out);
}
#endif

#if K_HAS_PROBE
K_KERNEL void k_probe(
#define SCENE_BUFFER(name, type, text) K_GLOBAL const type *name##_,
#include "buffers.def"
#undef SCENE_BUFFER
    K_GLOBAL const struct k_launch *launch, K_GLOBAL const uint *in, K_GLOBAL uint *out)
{
    struct k_scene sc;
#define SCENE_BUFFER(name, type, text) sc.name = name##_;
#include "buffers.def"
#undef SCENE_BUFFER
    sc.launch = launch;
    K_HEAR_NOTHING(sc);
    if (K_ITEM_X < launch->rows)
        k_probe_item(&sc, in, out, K_ITEM_X);
}
#endif

#if K_HAS_HIT
K_KERNEL void k_hit(
#define SCENE_BUFFER(name, type, text) K_GLOBAL const type *name##_,
#include "buffers.def"
#undef SCENE_BUFFER
    K_GLOBAL const struct k_launch *launch, K_GLOBAL const uint *in, K_GLOBAL uint *out)
{
    struct k_scene sc;
#define SCENE_BUFFER(name, type, text) sc.name = name##_;
#include "buffers.def"
#undef SCENE_BUFFER
    sc.launch = launch;
    K_HEAR_NOTHING(sc);
    if (K_ITEM_X < launch->rows)
        k_hit_item(&sc, in, out, K_ITEM_X);
}
#endif

#if K_HAS_PASSES
K_KERNEL void k_passes(
#define SCENE_BUFFER(name, type, text) K_GLOBAL const type *name##_,
#include "buffers.def"
#undef SCENE_BUFFER
    K_GLOBAL const struct k_launch *launch, K_GLOBAL const uint *in, K_GLOBAL uint *out)
{
    struct k_scene sc;
#define SCENE_BUFFER(name, type, text) sc.name = name##_;
#include "buffers.def"
#undef SCENE_BUFFER
    sc.launch = launch;
    K_HEAR_NOTHING(sc);
    if (K_ITEM_X < launch->rows)
        k_passes_item(&sc, out, K_ITEM_X);
}
#endif

#endif

#if K_HAS_RENDER && defined(K_STAGED)
#if K_HAS_PIECE(ENDS)
#define K_STAGE         k_start_all
#define K_STAGE_RUNS(b) k_batch_start(&sc, &(b))
#include "path/stage.def"
#define K_STAGE         k_sort_all
#define K_STAGE_RUNS(b) k_batch_sort(&sc, &(b))
#include "path/stage.def"
#define K_STAGE         k_film_all
#define K_STAGE_RUNS(b) k_batch_film(&sc, &(b), film)
#include "path/stage.def"
#endif
#if K_HAS_PIECE(FLY)
#define K_STAGE         k_fly_all
#define K_STAGE_RUNS(b) k_batch_fly(&sc, &(b))
#include "path/stage.def"
#endif
#if K_HAS_PIECE(SHADE)
#define K_STAGE         k_occlude_all
#define K_STAGE_RUNS(b) k_batch_occlude(&sc, &(b))
#include "path/stage.def"
#define K_STAGE         k_shade_all
#define K_STAGE_RUNS(b) k_batch_shade(&sc, &(b))
#include "path/stage.def"
#endif
#if K_HAS_PIECE(SHADOW)
#define K_STAGE         k_shadow_all
#define K_STAGE_RUNS(b) k_batch_shadow(&sc, &(b))
#include "path/stage.def"
#endif
#endif
#undef SCENE_BUFFER
#endif
