/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the scene reader share while one scene is being loaded. */
#ifndef ISOPHOTE_SCENES_SCENE_LOADER_H
#define ISOPHOTE_SCENES_SCENE_LOADER_H

#include "cache/offers.h"
#include "geometry/offers.h"
#include "images/images.h"
#include "scene_fields.h"
#include "shaders.h"

enum normals_mode { NORMALS_FILE, NORMALS_FACE, NORMALS_SMOOTH, NORMALS_ANGLE };

/* A model file that objects name, read once for each layout. */
struct model_file {
    struct model_file *next;
    const char *path;
    enum model_layout layout;
    const struct json *named_by;
    struct model model;
    struct loaded_model *opened;
    const struct json *description;
    const struct json **materials; /* the description's, by number */
    uint32_t *scene_material;      /* by the same number; UINT32_MAX until one is made */
    uint32_t *scene_texture; /* by position in the description's textures; UINT32_MAX likewise */
};

/* Triangles that an object places: a file's, a part of one, or made here. */
struct loaded_model {
    struct loaded_model *next, *next_of_file;
    struct model_file *file; /* NULL: not from a file */
    uint64_t part;
    const struct json *named_by;
    struct model model;
    float (*smooth)[3];            /* made when an object asks for it */
    float (*angle)[3];             /* likewise, weighted by angles too */
    const uint32_t *face_material; /* the scene's, by triangle; NULL: none */
    struct box box;                /* of its finite vertices; scene_frame.c */
};

enum object_type {
    OBJECT_MESH,
    OBJECT_SPHERE,
    OBJECT_BOX,
    OBJECT_RECTANGLE,
    OBJECT_DISK,
    OBJECT_TERRAIN,
    OBJECT_PROCEDURE,
    OBJECT_INSTANCE
};

struct object {
    enum object_type type;
    const struct json *json;
    struct transform to_parent; /* of a model's P: with its origin */
    uint32_t material;          /* UINT32_MAX: the model's own */
    struct loaded_model *model;
    enum normals_mode normals;
    bool colorless;                      /* the model's vertex colours do not count */
    double center[3], normal[3], radius; /* sphere, disk */
    struct object_group *group;          /* instance */
};

struct object_totals {
    uint64_t vertices, triangles, spheres, disks, instances;
    bool normals, uv, colors; /* some triangle has them */
};

struct object_group {
    struct object *objects;
    size_t count;
    enum { GROUP_UNREAD, GROUP_READING, GROUP_READ } state;
    struct object_totals totals; /* with all that its instances stand for; no instances */
    const char *name;            /* NULL: the world */
    /* scene_instances.c */
    bool kept, reached;          /* instances of it stay instances; the world places it */
    uint32_t prototype;          /* if so, and some instance is reached; else UINT32_MAX */
    struct object_totals placed; /* what one placing of it puts into the world, unless it is kept */
    double placings, cost;       /* times it stands in the world; bytes that one placing takes */
    struct box box;              /* around the boxes of what it holds; scene_frame.c */
    double origin[3];            /* of that box: what a prototype's coordinates are relative to */
};

enum instancing { INSTANCING_AUTO, INSTANCING_FLATTEN, INSTANCING_TWO_LEVEL };

struct loader {
    struct document d;
    const struct json *root;
    struct scene *scene;
    struct texture *textures; /* grow in the document's arena; moved to the scene at the end */
    size_t texture_count, texture_cap;
    struct material *materials;
    size_t material_count, material_cap;
    struct shader_program *programs;
    struct loaded_model *models;
    struct model_file *files;
    struct model_file *bringing; /* while a material of its description is read; else NULL */
    struct object_group *groups; /* by position in "groups" */
    struct object_group objects;
    struct object_group **read; /* all groups, the world last; each after those it holds */
    size_t read_count;
    enum instancing instancing;
    int group_depth; /* of the groups being read; bounds the recursion over them everywhere */
};

enum { GROUP_DEPTH_MAX = 64 };

/* scene_camera.c */
enum status load_camera(struct loader *l, const struct json *v);
enum status load_film(struct loader *l, const struct json *v);
enum status load_render(struct loader *l, const struct json *v);

/* scene_lights.c */
enum status load_lights(struct loader *l, const struct json *v);
/* Each channel of what a light gives off is 0 or at least 1e-12. */
enum status read_emission(struct document *d, const struct json *v, float out[3]);

/* scene_materials.c: textures first, then materials, then the environment in any order. */
enum status load_textures(struct loader *l, const struct json *v);
enum status load_materials(struct loader *l, const struct json *v);
enum status load_environment(struct loader *l, const struct json *v);
/* Index of the named material. */
enum status find_material(struct loader *l, const struct json *name, uint32_t *out);
/* One entry, called `name` in the scene; it comes last in the loader's list. */
enum status load_texture(struct loader *l, const struct json *v, const char *name);
enum status load_material(struct loader *l, const struct json *v, const char *name);
enum status keep_materials(struct loader *l); /* out of the document's arena into the scene's */

/* scene_surface.c: what a material of any type says of its surface's sides, normals and inside:
 * "sides", "normal_map" and "medium". */
#define SURFACE_KEYS "sides", "medium" /* every type */
enum status load_surface(struct loader *l, const struct json *v, struct material *m);
enum status load_normal_map(struct loader *l, const struct json *v, struct normal_map *out);
/* Position of the named entry of "textures". */
enum status find_texture(struct loader *l, const struct json *name, uint32_t *out);

/* scene_tangents.c: of triangles with a normal map; after keep_materials. */
enum status load_tangents(struct loader *l);

/* scene_media.c: the surfaces of media are closed; after keep_materials. */
enum status check_media(struct loader *l);

/* scene_shaders.c: what a material of type "shader" at v runs; m holds its base. */
enum status load_shading(struct loader *l, const struct json *v, struct material *m);
/* The finished group that v's keys name; the group and its only layer are called `name`. signature:
 * what it is made of is appended, as text. */
#define SHADER_GROUP_KEYS "shader", "source", "parameters", "layers", "connections"
enum status load_shader_group(struct loader *l, const struct json *v, const char *name,
                              const struct asl_group **out, struct text *signature);
/* The area of the primitives of every shaded material; after keep_materials. */
enum status measure_shadings(struct loader *l);

/* scene_models.c: models, and what they bring. part: NULL for the whole model. */
struct loaded_model *add_model(struct loader *l, const struct json *named_by);
enum status open_model(struct loader *l, const struct json *file, const struct json *part,
                       struct loaded_model **out);
/* Whether a material of the model's file has this key. */
bool model_brings(const struct loaded_model *m, const char *key);
/* The scene's material for a model's own one, made on its first use. */
enum status adopt_material(struct loader *l, struct loaded_model *m, uint32_t own, uint32_t *out);
/* While a model's material is read: the texture of that name in its description, and the image of
 * that number inside the model. */
enum status bring_texture(struct loader *l, const struct json *name, uint32_t *out);
enum status bring_image(struct loader *l, const struct json *at, enum color_space space,
                        struct image *out);
void close_models(struct loader *l);

/* scene_objects.c: reads objects, groups and their models. */
enum status load_objects(struct loader *l, const struct json *groups, const struct json *objects);

/* t += more, saturating far above every limit. */
void totals_add(struct object_totals *t, const struct object_totals *more);
/* What an object that is no instance stands for. */
struct object_totals object_own_totals(const struct object *o);

/* scene_points.c: a group of shaders, run by the interpreter at points 0 to count - 1, on all threads.
 * A shader may ask for the number: getattribute("point:index", i). */
struct point_runs {
    const struct asl_group *group;
    const struct shader_images *images;
    size_t count;
    const char *doing; /* "displacing vertices", for who stops it */
    void *ctx;
    bool (*globals)(const void *ctx, size_t i, struct asl_globals *out); /* false: not run there */
    /* Takes what a run gives. Points come in any order, and at once. */
    enum status (*take)(void *ctx, size_t i, const struct asl_context *c, struct error *why);
};
struct point_failure {
    size_t at; /* the least; SIZE_MAX: none */
    enum status status;
    char why[512];
};
/* Fails: MEMORY, CANCELLED. What goes wrong at a point is `first`. */
enum status run_at_points(struct document *d, const struct point_runs *r,
                          struct point_failure *first);

/* scene_medium.c: a material's "medium" at v. */
enum status load_medium(struct loader *l, const struct json *v, struct medium *out);

/* scene_procedure.c: triangles that a shader makes. */
enum status load_procedure(struct loader *l, const struct json *v, struct object *o);

/* scene_displacement.c: the object's mesh, of its own, is cut into triangles, in the space of its
 * parent, and a shader moves their vertices: v, its "displacement". */
enum status load_displacement(struct loader *l, const struct json *v, struct object *o);

/* scene_instances.c: which groups become prototypes; docs/reference/scenes.md has the rule. Fills
 * in `kept`, `placed` and `prototype`, and the scene's prototype_count. */
enum status choose_prototypes(struct loader *l);

/* scene_frame.c: fills in the scene's frame_origin; after load_objects. */
void choose_frame(struct loader *l);

/* scene_flatten.c: places every object in the world, and the camera in the scene's frame. */
enum status flatten_objects(struct loader *l);

/* scene_hash.c */
void hash_scene(struct scene *s);

#endif
