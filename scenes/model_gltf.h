/* A glTF 2 document while the child reads it (Khronos, "glTF 2.0 Specification", 2021). */
#ifndef ISOPHOTE_SCENES_MODEL_GLTF_H
#define ISOPHOTE_SCENES_MODEL_GLTF_H

#include "model_source.h"

/* A top-level array by index. */
struct gltf_items {
    const struct json **at;
    uint32_t count;
};
struct gltf_bytes {
    const unsigned char *data;
    uint64_t size;
};

struct gltf {
    struct source *s;
    const struct json *root;
    struct gltf_bytes file, bin; /* bin: a GLB's second chunk */
    struct gltf_items accessors, views, meshes, nodes, materials, textures, images, samplers,
        cameras, lights;
    struct gltf_items buffers;
    struct gltf_bytes *image_bytes; /* of images in data: URIs, likewise */
    struct gltf_bytes *buffer;      /* read when first used; data NULL before */
    bool *colored;                  /* materials that some primitive with COLOR_0 has */
    uint32_t *uv_set;               /* of each material: which TEXCOORD_ its textures go by */
    const uint32_t **lists;         /* source meshes of each mesh, and how many */
    uint32_t *list_count;
    bool *visited; /* nodes */
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
const struct json *gltf_extension(struct gltf *g, const struct json *object, const char *name);
/* The bytes of a buffer view. */
struct gltf_bytes gltf_view(struct gltf *g, const struct json *view);
/* The bytes of a data: URI; data NULL when it is another. */
struct gltf_bytes gltf_data_uri(struct gltf *g, const struct json *at, const char *uri);
/* A file's name from a URI: %20 becomes a space. */
const char *gltf_uri_path(struct gltf *g, const char *uri);

/* model_gltf_materials.c: all of them into the description; sets uv_set first. */
void gltf_read_materials(struct gltf *g);

#endif
