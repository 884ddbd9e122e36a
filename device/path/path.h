/* SPDX-License-Identifier: Apache-2.0 */
/* The path (protocol sections 6 and 8): the stages of its vertices, one after the other. */
#ifndef K_PATH_H
#define K_PATH_H
#include "path/stages.h"

/* What a path does at a point that it came to, before it asks for light there. 0: it ends. */
K_FN int k_walk_meet(const struct k_scene *sc, struct k_stream *stream, struct k_walk *w,
                     struct k_interaction *x, struct k_scatter *scatter,
                     K_GLOBAL struct k_vertex *rec)
{
    const uint max_depth = FAULT_EXTRA_BOUNCE(sc->launch->max_depth);
    k_stage_emission(sc, w, x, rec);
    k_stage_face(sc, x, rec);
    x->shaded = (!x->inside) & k_is_shaded(sc, x->s.material);
    const int last = w->k >= max_depth;
    if (last && !x->shaded && !rec)
        return 0;
    if (K_HAS(MEDIA) && !x->inside && sc->materials[x->s.material].interface_)
        return 0; /* one passage too many */
    return k_stage_material(sc, stream, w, x, scatter, rec) && !last;
}

/* To the next vertex: 0 when the path ends there. Where `rec` is not 0 the vertex is written to it.
 */
K_FN int k_walk_step(const struct k_scene *sc, struct k_stream *stream, struct k_walk *w,
                     K_GLOBAL struct k_vertex *rec)
{
    struct k_interaction x;
    struct k_scatter scatter;
    struct k_shadow_ray ray;
    if (!k_stage_fly(sc, stream, w, &x, rec)) {
        k_stage_environment(sc, w, rec);
        return 0;
    }
    if (!k_walk_meet(sc, stream, w, &x, &scatter, rec))
        return 0;
    k_stage_light(sc, stream, w, &x, &scatter, &ray, rec);
    if (ray.ok)
        k_stage_shadow(sc, &w->L, &ray, rec);
    return k_stage_scatter(sc, stream, w, &x, &scatter, rec);
}

/* One sample: its radiance before the film. Where `record` is not 0, each vertex is written to it
 * (at most `capacity`) and *vertices counts them. */
K_FN struct k_vec3 k_path_result(const struct k_scene *sc, const struct k_stream *stream,
                                 struct k_vec3 L)
{
    L = k_sample_clamp(sc, L);
    return v3(FAULT_FLUSHED_TAIL(L.x, stream->x + 977u * stream->y + 7919u * stream->sample), L.y,
              L.z);
}
K_FN struct k_vec3 k_path(const struct k_scene *sc, struct k_stream *stream,
                          K_GLOBAL struct k_vertex *record, uint capacity, uint *vertices)
{
    struct k_walk w = k_walk_start(sc, stream);
    while (k_walk_step(sc, stream, &w,
                       record && w.k < capacity ? record + w.k : (K_GLOBAL struct k_vertex *)0))
        ;
    *vertices = w.k;
    return k_path_result(sc, stream, w.L);
}

#endif
