/* SPDX-License-Identifier: Apache-2.0 */
/* A glTF 2 document while the child reads it (Khronos, "glTF 2.0 Specification", 2021). */
#ifndef ISOPHOTE_SCENES_MODEL_GLTF_H
#define ISOPHOTE_SCENES_MODEL_GLTF_H

#include "import/source/offers.h"

enum { GLTF_DEPTH_MAX = 256 }; /* of nodes in nodes */

/* A top-level array by index. */
struct gltf_items {
    const struct json **at;
    uint32_t count;
};
struct gltf_bytes {
    const unsigned char *data;
    uint64_t size;
};

enum { GLTF_TRIANGLES = 4, GLTF_STRIP, GLTF_FAN }; /* modes of primitives */
enum { GLTF_BYTE = 5120, GLTF_UBYTE, GLTF_SHORT, GLTF_USHORT, GLTF_UINT = 5125, GLTF_FLOAT };
struct gltf_accessor {
    const unsigned char *data; /* NULL: there is none */
    uint64_t stride, count;
    int type;       /* of a component */
    int components; /* 1 to 4, or 16 */
    bool normalized;
};

/* What an accessor's elements are where Draco packed them; data NULL: they stand in the file. */
struct gltf_packed {
    void *data;
    uint64_t count;
    int type; /* of a component */
};

/* Source meshes. */
struct gltf_list {
    const uint32_t *meshes;
    uint32_t count;
};

struct gltf {
    struct source *s;
    const struct json *root;
    struct gltf_bytes file, bin; /* bin: a GLB's second chunk */
    struct gltf_items accessors, views, meshes, nodes, materials, textures, images, samplers,
        cameras, lights, skins;
    struct gltf_items buffers;
    struct gltf_bytes *image_bytes; /* of images in data: URIs, likewise */
    struct gltf_bytes *buffer;      /* read when first used; data NULL before */
    struct gltf_bytes *unpacked;    /* of views that are packed, likewise */
    struct gltf_packed *packed;     /* of each accessor */
    const struct json *material;    /* that is being written */
    bool *colored;                  /* materials that some primitive with COLOR_0 has */
    uint32_t *uv_set;               /* of each material: which TEXCOORD_ its textures go by */
    struct gltf_bytes ramp;         /* an image of two texels; data NULL: not made yet */
    struct gltf_coordinates **coordinates; /* of each material (model_gltf_coordinates.c) */
    struct gltf_variant **variants;        /* of each material, for vertices with alpha */
    struct gltf_list *lists;               /* of each mesh, in its own pose */
    bool *visited;                         /* nodes */
    const struct json **parent; /* of nodes; NULL: not asked for yet (model_gltf_pose.c) */
};

/* Refuses the document: what is wrong at v. */
void gltf_bad(struct gltf *g, const struct json *v, const char *expected) __attribute__((noreturn));
/* object[key], which must be of this type when it is there; NULL when it is not. */
const struct json *gltf_get(struct gltf *g, const struct json *object, const char *key,
                            enum json_type type);
double gltf_number(struct gltf *g, const struct json *object, const char *key, double absent);
/* count numbers; untouched when absent. */
void gltf_numbers(struct gltf *g, const struct json *object, const char *key, int count,
                  double *out);
bool gltf_flag(struct gltf *g, const struct json *object, const char *key);
const char *gltf_text(struct gltf *g, const struct json *object, const char *key);
/* The item that object[key] counts; NULL when absent. */
const struct json *gltf_item(struct gltf *g, const struct json *object, const char *key,
                             const struct gltf_items *items);
/* The item that the number v counts. */
const struct json *gltf_index(struct gltf *g, const struct json *v, const struct gltf_items *items);
/* A non-negative integer. */
uint64_t gltf_size(struct gltf *g, const struct json *object, const char *key, uint64_t absent);
const struct json *gltf_extension(struct gltf *g, const struct json *object, const char *name);
/* Of a primitive with n indices, or vertices without them: how many triangles, and the vertices of
 * one; indices->data may be NULL. */
uint64_t gltf_triangle_count(int mode, uint64_t n);
void gltf_triangle(int mode, const struct gltf_accessor *indices, uint64_t i, uint64_t out[3]);
struct transform gltf_node_transform(struct gltf *g, const struct json *node);

/* model_gltf_buffers.c */

/* The bytes of a buffer view, unpacked. */
struct gltf_bytes gltf_view(struct gltf *g, const struct json *view);
/* The bytes of a data: URI; data NULL when it is another. */
struct gltf_bytes gltf_data_uri(struct gltf *g, const struct json *at, const char *uri);
/* A file's name from a URI: %20 becomes a space. */
const char *gltf_uri_path(struct gltf *g, const char *uri);

/* model_gltf_draco.c: fills `packed`. */
void gltf_unpack_primitives(struct gltf *g);

/* The accessor object[key] with this many components (16: a matrix); data NULL when absent. */
struct gltf_accessor gltf_accessor_of(struct gltf *g, const struct json *object, const char *key,
                                      int components);
/* Component c of element i. */
double gltf_value(const struct gltf_accessor *a, uint64_t i, int c);

/* model_gltf_pose.c: P and N of a primitive as the weights of its morph targets (NULL: none) and
 * the joints of its skin (NULL: none) place them; with a skin, in the model's space. */
void gltf_pose(struct gltf *g, const struct json *primitive, const struct json *weights,
               const struct json *skin, struct gltf_accessor *P, struct gltf_accessor *N);
bool gltf_has_joints(struct gltf *g, const struct json *mesh);

/* model_gltf_coordinates.c: a texture by TEXCOORD_from as one by TEXCOORD_to, for all meshes of the
 * material: exactly where one set is the other scaled and moved; else as a new image, if no two
 * places of the surface share one of `to`. directed: what it holds goes by the directions of u and
 * v. False: t is as it was. */
bool gltf_move(struct gltf *g, const struct json *material, uint32_t from, uint32_t to,
               bool directed, struct source_texture *t);
bool gltf_can_move(struct gltf *g, const struct json *material, uint32_t from, uint32_t to);

/* model_gltf_materials.c: all of them into the description; sets uv_set first. */
void gltf_read_materials(struct gltf *g);
/* The material with its opacity times alpha: its number. */
uint32_t gltf_faded_material(struct gltf *g, const struct json *material, double alpha);
/* The material with an opacity that goes by texture coordinates, those of gltf_fading_coordinates;
 * UINT32_MAX if it needs coordinates for something else. */
uint32_t gltf_fading_material(struct gltf *g, const struct json *material);
void gltf_fading_coordinates(double alpha, float uv[2]);

/* The reader. False when the file is not glTF 2, and nothing was done but a note. */
bool source_read_gltf(struct source *s);

#endif
