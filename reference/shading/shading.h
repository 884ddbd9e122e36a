/* SPDX-License-Identifier: Apache-2.0 */
/* Protocol Part III: shaders at a hit. */
#ifndef REFERENCE_SHADING_H
#define REFERENCE_SHADING_H

#include "lights/offers.h"
#include "shaders.h"
#include "surfaces/lobe.h"
#include "trace/offers.h"

#include <pthread.h>

/* A hit with its normals turned to wo's side, and what scatters there. */
struct surface {
    struct hit hit;
    bool backfacing;
    struct lobes lobes;
    struct vec3 normal;  /* what the vertex's record shows: the first lobe's, or N */
    struct vec3 emitted; /* by the shader, towards wo; found by hits only */
    bool asked;          /* the shader asked for rays */
};

/* How the path came here: what globals need besides the hit. */
struct arrival {
    struct ray ray;
    uint32_t k;
    struct ray dx, dy;         /* k = 1: the neighbours' rays */
    struct random_place place; /* the sample; k of its own is not looked at */
    uint32_t width, height;    /* of the picture */
    double length;             /* sum of t over the vertices up to this one */
    struct camera_footprint pixel;
    uint32_t raytype;    /* of asl_globals */
    const double *moved; /* struct reference_vertex's */
    bool mapped;         /* the hit's Ns is that of section 26 already, and the coat's is this */
    struct vec3 coat_normal;
    uint32_t contract;
};

/* One thread's interpreters. */
struct shader_thread;

struct shader_pool {
    const struct scene *scene;
    bool shaded;                         /* some material has a shader */
    const struct candidates *candidates; /* what rays of shaders meet; NULL: nothing */
    pthread_mutex_t mutex;               /* of all below */
    struct shader_thread *idle;
    enum status status; /* the first failure of a shader, if any */
    struct error error;
    struct asl_sayings said;
};
struct shader_pool *shader_pool_open(const struct scene *s); /* NULL: out of memory */
void shader_pool_close(struct shader_pool *p);               /* accepts NULL */
/* NULL when no material has a shader, and when out of memory: the pool then has that status. */
struct shader_thread *shader_thread_take(struct shader_pool *p);
void shader_thread_give(struct shader_pool *p, struct shader_thread *t); /* accepts NULL */
bool shader_pool_failed(struct shader_pool *p, struct error *err);

/* Ns at a hit whose material has a normal map, turned to wo's side (section 26). */
struct vec3 surface_mapped_normal(const struct scene *s, const struct hit *hit, struct vec3 wo);

/* What the surface does with light: its material, or what its shader says. `log` (may be NULL)
 * gets the shader's globals, outputs and lobes as text. */
void surface_shade(struct shader_thread *t, const struct scene *s,
                   const struct environment_table *environment, const struct arrival *from,
                   const struct hit *hit, struct surface *out, struct text *log);

/* The same without a log. `key` stands for all that it depends on (hash_bytes): what a shader made of
 * a place is remembered for as long as few others come, and not run again. */
void surface_shade_again(struct shader_thread *t, const struct scene *s,
                         const struct environment_table *environment, const struct arrival *from,
                         const struct hit *hit, const char key[33], struct surface *out);

/* The same for a material on the plane z = 0 about the origin, u along x and v along y; `entering`:
 * seen from outside; wo.z > 0. For tests. */
void surface_probe(struct shader_thread *t, const struct scene *s,
                   const struct environment_table *environment, uint32_t material, bool entering,
                   struct vec3 wo, const struct hit *hit, struct surface *out);

/* The coat's normal of section 28 at a hit, turned to wo's side. */
struct vec3 surface_coat_normal(const struct scene *s, const struct hit *hit, struct vec3 wo);

/* U and V of section 18: how P grows with u and v. Ng: as stored. */
void surface_axes(const struct scene *s, uint32_t primitive, struct vec3 Ng, struct vec3 *U,
                  struct vec3 *V);

/* The lobes of Ci and what it emits (closure_lobes.c). U: as struct placing has it; background:
 * radiance that background() stands for. */
struct vec3 lobes_of_closure(const struct asl_closure *Ci, struct vec3 N, struct vec3 U,
                             bool backfacing, struct vec3 background, struct lobes *out);

struct layer_inputs { /* of section 28's layers */
    bool present, thin;
    struct vec3 specular_color, fuzz, coat_normal;
    double specular_weight, coat, coat_roughness, fuzz_roughness;
};
/* A material's inputs at a point, within their bounds; those that its type does not have are what
 * they are by default. */
struct inputs {
    struct bsdf bsdf;  /* type, metallic, specular, eta, k; all of section 7's types */
    struct vec3 color; /* base colour, reflectance; times the vertices' colour */
    double roughness, specular_tint, anisotropy, rotation, sheen, sheen_tint, clearcoat,
        clearcoat_gloss, transmission, subsurface, ior, sigma;
    struct layer_inputs layers;
    bool backfacing;
};
struct inputs inputs_at(const struct scene *s, const struct material *m, const struct hit *hit,
                        struct vec3 tint, bool backfacing);
/* Their lobes with that weight, and what the weight leaves, going straight on. */
void lobes_of_inputs(const struct inputs *in, struct vec3 weight, const struct placing *at,
                     struct lobes *out);

/* The lobes of a material without a shader at a hit whose normals are turned (material_lobes.c).
 * tint: the vertices' colour there; coat_normal: of the coat, turned. */
void lobes_of_material(const struct scene *s, const struct material *m, const struct hit *hit,
                       struct vec3 tint, struct vec3 coat_normal, struct vec3 U, bool backfacing,
                       struct lobes *out);

#endif
