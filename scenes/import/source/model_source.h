/* SPDX-License-Identifier: Apache-2.0 */
/* What a reader of model files finds, in the child process: meshes, where nodes place them,
 * materials, images, lights, cameras. model_source.c makes of it what the parent takes. A reader
 * that cannot go on calls source_refuse, which ends the child; memory lives as long as the child.
 */
#ifndef ISOPHOTE_SCENES_MODEL_SOURCE_H
#define ISOPHOTE_SCENES_MODEL_SOURCE_H

#include "geometry/offers.h"
#include "model_result.h"

/* One mesh with one material, as its reader sees it. */
struct source_mesh {
    const void *data; /* the reader's own */
    uint64_t vertex_count, face_count, triangle_count;
    uint32_t material;      /* in the order of source_material_begin; UINT32_MAX: none */
    uint8_t flags;          /* TRIANGLE_HAS_* */
    const float (*made)[3]; /* by source_write: normals of a mesh that has none; NULL: no such */
};
struct source_vertex { /* zeroed before it is filled; compared by its bytes */
    float P[3], N[3], UV[2];
    float color[3]; /* linear, 0 to 1 */
};
/* A list of meshes at one place. */
struct source_node {
    const uint32_t *meshes; /* nodes that share a list are instances of one group */
    uint32_t mesh_count;
    const char *name; /* of the list; may be NULL */
    struct transform to_model;
};

enum { SOURCE_NO_IMAGE = -1 };
/* Compared by its bytes: zero it first. */
struct source_texture {
    char file[512]; /* as scene files write it, beside the model; "" when inside the model */
    int32_t image;  /* from source_image; SOURCE_NO_IMAGE: a file */
    uint32_t wrap_u, wrap_v;              /* enum texture_wrap */
    uint32_t nearest;                     /* 1: no filter */
    uint32_t data;                        /* 1: not colours, so linear */
    double scale[2], offset[2], rotation; /* as scene files have them; scale 0: 1 */
};

struct source_names;

struct source {
    const char *path;
    int fd;
    enum model_layout layout;
    void (*refused)(struct source *s); /* for tests: called in place of ending the process, must
                                          not return */
    struct arena arena;
    struct arena scratch; /* of one step, which frees it; held here, since steps may be refused */
    void *held;           /* likewise: what a reader's step has of a library's, and what frees */
    void (*held_free)(void *held);
    double origin[3];   /* what vertices are relative to, in their nodes' spaces */
    bool float_places;  /* its reader has taken nodes' transforms for float32 */
    bool up_z;          /* the file says that z is up */
    bool makes_normals; /* meshes without normals get smooth ones where they suit */
    struct source_mesh *meshes;
    uint32_t mesh_count;
    struct source_node *nodes;
    size_t node_count, node_cap;
    /* Vertex i of a mesh; face i as three of its vertices, false if it is no triangle. */
    void (*vertex)(const struct source_mesh *m, uint64_t i, struct source_vertex *out);
    bool (*triangle)(const struct source_mesh *m, uint64_t i, uint64_t out[3]);
    /* Written by the functions below, or between begin and end. */
    struct json_writer materials, lights, cameras, notes;
    const char **material_name; /* by number */
    uint32_t material_count, material_cap;
    struct source_texture *textures;
    const char **texture_names;
    size_t texture_count, texture_cap;
    struct source_image {
        const void *data;
        uint64_t size;
    } * images;
    size_t image_count, image_cap;
    char **noted;
    size_t noted_count, noted_cap;
    uint64_t derived_texels;        /* by model_derived.c so far */
    struct source_names *names[3];  /* in use: of materials, textures, groups */
    struct json_writer description; /* by source_write, as is what follows */
    unsigned char *map;
    size_t map_size;
};

/* path, fd and layout are set, the rest is zero. */
void source_begin(struct source *s);
/* For a process that goes on: what s holds. */
void source_end(struct source *s);

/* Reports an error and ends the child. */
void source_refuse(struct source *s, enum status status, const char *fmt, ...)
    __attribute__((noreturn, format(printf, 3, 4)));
/* Zeroed memory; refuses when there is none. */
void *source_alloc(struct source *s, size_t count, size_t size);
/* The items, with room for one more than `count`. */
void *source_grown(struct source *s, void *items, size_t count, size_t *cap, size_t size);
/* A copy of the text, which may hold any bytes, with a NUL behind it; frees the text. Refuses when
 * the text has failed. */
void source_text(struct source *s, struct text *t, char **data, size_t *size);
/* "The model's X is not carried over": one line for each different text. */
void source_note(struct source *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

void source_add_node(struct source *s, const struct source_node *node);

/* Sets t->file from how the model names it: Windows' backslashes turned; when no such file stands
 * beside the model, one of that name without folders that does. */
void source_texture_file(struct source *s, struct source_texture *t, const char *path);
/* An encoded image inside the model: its number. */
int32_t source_image(struct source *s, const void *data, uint64_t size);
/* The name of the texture in the description: the same one for the same texture. */
const char *source_texture(struct source *s, const struct source_texture *t);

/* Between them the material's keys go to s->materials. A NULL name gets one. */
void source_material_begin(struct source *s, const char *name);
void source_material_end(struct source *s);
/* "key": [r, g, b], a number where all are the same; with a texture: {"texture", "scale"}. */
void source_color(struct json_writer *w, const char *key, const double rgb[3], const char *texture);
/* "key": number; with a texture {"texture", "channel", "scale"}; channel "r", "g", "b" or "a". */
void source_scalar(struct json_writer *w, const char *key, double value, const char *texture,
                   const char *channel);
/* A number that was a float, without digits that it never had. */
double source_float(float x);
double source_clamp(double x, double lo, double hi); /* NaN becomes lo */

/* In the model's space; directions of any length. What is no camera or light (not finite, no
 * direction, no intensity) is left out with a note. */
struct source_camera {
    const char *name;
    double origin[3], forward[3], up[3];
    double fov; /* degrees */
    bool fov_along_x;
    double height; /* > 0: orthographic, of this extent along y */
    double aspect; /* width over height; 0: unknown */
};
void source_camera(struct source *s, const struct source_camera *c);
enum source_light_type { SOURCE_POINT, SOURCE_SPOT, SOURCE_DIRECTIONAL };
struct source_light {
    const char *name;
    enum source_light_type type;
    double position[3], direction[3];
    double intensity[3]; /* a directional light's irradiance */
    double outer, inner; /* half angles of a spot's cone, degrees */
};
void source_light(struct source *s, const struct source_light *l);

/* Lays the result out and writes it. */
void source_write(struct source *s);

#endif
