/* Triangles in their own space, as one model file, inline mesh, box or rectangle gives them. */
#ifndef ISOPHOTE_SCENES_MODEL_H
#define ISOPHOTE_SCENES_MODEL_H

#include "scenes.h"

/* How a model's own material maps to ours; strings end inside their arrays. */
struct model_material {
    char name[128];
    float base[3], emission[3];
    float metallic, roughness;
    uint32_t principled;  /* 0: diffuse */
    int32_t base_texture; /* index of a model_texture, -1 for none */
    int32_t
        metal_texture; /* glTF's metallic-roughness: roughness in G, metallic in B; -1 for none */
};

struct model_texture {
    char path[512];    /* as the model names it; "" when the image is inside the model */
    uint64_t bytes_at; /* offset in the mapping of an encoded image inside the model */
    uint64_t bytes;    /* its size; 0 when there is none */
    uint32_t width,
        height; /* of texels (RGBA, 8 bits) when the image inside is not encoded; else 0 */
    uint32_t wrap_u, wrap_v; /* enum texture_wrap */
};

/* Arrays are borrowed from the arena or the mapping that made them. N of length 0 means none. */
struct model {
    const float (*P)[3];
    const float (*N)[3];  /* NULL when no vertex has one */
    const float (*UV)[2]; /* NULL when no vertex has one */
    uint64_t vertex_count;
    const uint32_t (*triangles)[3];
    const uint8_t *flags; /* TRIANGLE_HAS_*, by triangle; NULL: all have what is not NULL above */
    const uint32_t *material; /* index into materials by triangle; NULL: no materials of its own */
    uint64_t triangle_count;
    const struct model_material *materials;
    uint64_t material_count;
    const struct model_texture *textures;
    uint64_t texture_count;
    const unsigned char *mapping; /* NULL, or what model_close unmaps */
    uint64_t mapping_size;
};

/* Reads a model file through Assimp in a child process of its own (docs/scenes.md says why), with a
 * budget of time and memory. Fails: MISSING, IO, PARSE (Assimp's words), TYPE (no triangles),
 * LIMIT, TIMEOUT, CANCELLED, MEMORY; a crash of the importer is PARSE. */
enum status model_import(const char *path, struct model *out, struct error *err);
struct import_budget {
    double seconds; /* of wall clock */
    uint64_t bytes; /* of address space beyond what this process has */
};
enum status model_import_within(const char *path, const struct import_budget *budget,
                                struct model *out, struct error *err);
void model_close(struct model *m);

/* [-1,1] scaled to [lo, hi]: 24 vertices, 12 triangles, outward, uv over each face. */
enum status model_box(struct arena *a, const double lo[3], const double hi[3], struct model *out);
/* [-1,1] x [-1,1] in z = 0, facing +z, u along x, v along y. */
enum status model_rectangle(struct arena *a, struct model *out);

/* Normals for smooth shading: at each place where vertices stand, the mean of the normals of the
 * triangles there, weighted by area (2 A n, summed). vertex_count of them, in the arena. */
float (*model_smooth_normals(struct arena *a, const struct model *m))[3];
/* The same with each triangle's 2 A n times its angle at the corner that stands there: weighted by
 * area and angle, so that how a face is cut into triangles matters less. */
float (*model_angle_normals(struct arena *a, const struct model *m))[3];
/* first[v]: the least vertex at v's coordinates; [vertex_count]. False: out of memory. */
bool model_weld(const struct model *m, uint32_t *first);

#endif
