/* SPDX-License-Identifier: Apache-2.0 */
/* Protocol section 8: one camera path. */
#ifndef REFERENCE_PATH_H
#define REFERENCE_PATH_H

#include "cameras/offers.h"
#include "lights/offers.h"
#include "media.h"
#include "reference.h"
#include "shading/shading.h"
#include "trace/offers.h"

struct reference {
    const struct scene *scene;
    struct candidates *candidates;
    struct lights lights;
    double build_s;
    struct shader_pool *shaders;
    struct film_filter filter;
    bool media; /* there are media or interfaces */
    struct media_list camera_media;
    double film_limit; /* 2^(46 - E): a sample's channels are clamped to it (section 9) */
};

/* What the auxiliary passes show of the first vertex; zero on a miss. */
struct first_vertex {
    struct vec3 albedo, normal;
    struct vec3 U, V; /* section 18 */
    double depth;
    double open; /* ambient occlusion: 1 where the sample's ray is free; if the job asks */
};

struct path_log {
    struct path_vertex *vertices;
    size_t capacity, count;
    struct text *shading; /* gets what shaders did at each vertex; may be NULL */
};

/* L of one sample before the film's clamp. log may be NULL; shaders only where no material has
 * any. */
struct vec3 path_radiance(const struct reference *r, const struct reference_job *job,
                          struct shader_thread *shaders, uint32_t x, uint32_t y, uint32_t sample,
                          struct first_vertex *first, struct path_log *log);

/* k of the scene's clamp, 1 where it does nothing. */
double clamp_factor(const struct reference *r, struct vec3 L);
/* What the film adds of L: the scene's clamp; then 0 for a value that is not finite, else clamped
 * to [0, limit]. */
struct vec3 film_value(const struct reference *r, struct vec3 L);

#endif
