/* SPDX-License-Identifier: Apache-2.0 */
/* Triangles in their own space, as one model file, inline mesh, box or rectangle gives them. */
#ifndef ISOPHOTE_SCENES_MODEL_H
#define ISOPHOTE_SCENES_MODEL_H

#include "scenes.h"

/* One mesh of a model file, in its own space: ranges of the model's arrays. Its triangles count
 * vertices from first_vertex. */
struct model_part {
    uint64_t first_vertex, vertex_count, first_triangle, triangle_count;
    uint32_t material; /* position among the description's materials; UINT32_MAX: it has none */
    uint32_t flags;    /* TRIANGLE_HAS_* of all its triangles */
};

/* An image file inside a model: bytes of the mapping. */
struct model_image {
    uint64_t bytes_at, bytes;
};

/* What is asked of a model file: its nodes' triangles placed in one space, or each of its meshes
 * once, where nothing is placed yet. */
enum model_layout { MODEL_WHOLE, MODEL_PARTS };

/* Arrays are borrowed from the arena or the mapping that made them. */
struct model {
    const float (*P)[3];
    const float (*N)[3];      /* NULL when no vertex has one */
    const float (*UV)[2];     /* NULL when no vertex has one */
    const float (*colors)[3]; /* linear, 0 to 1; NULL when no vertex has one */
    uint64_t vertex_count;
    double origin[3]; /* what P is relative to: 0 unless the model stands far from there */
    const uint32_t (*triangles)[3];
    const uint8_t *flags; /* TRIANGLE_HAS_*, by triangle; NULL: all have what is not NULL above */
    const uint32_t *material; /* position among the description's materials by triangle; NULL: no
                                 materials of its own */
    uint64_t triangle_count;
    uint64_t material_count; /* of the numbers above */
    /* What else the file says, as JSON in the words of scene files: "textures" and "materials" (in
     * the order that the numbers above count), "groups" and "objects" (of MODEL_PARTS),
     * "cameras", "lights" and "notes", an array of texts about what has no counterpart in a scene.
     * A texture may have "image", an index of images, in place of "file". NULL for what is not from
     * a file. */
    const char *description;
    uint64_t description_size;
    const struct model_image *images;
    uint64_t image_count;
    const struct model_part *parts; /* of MODEL_PARTS */
    uint64_t part_count;
    const unsigned char *mapping; /* NULL, or what model_close unmaps */
    uint64_t mapping_size;
};

/* One part as a model: a view, valid as long as m is, not to be closed. */
struct model model_part(const struct model *m, uint64_t part);

/* [-1,1] scaled to [lo, hi]: 24 vertices, 12 triangles, outward, uv over each face. */
enum status model_box(struct arena *a, const double lo[3], const double hi[3], struct model *out);
/* [-1,1] x [-1,1] in z = 0, facing +z, u along x and v along y. */
enum status model_rectangle(struct arena *a, struct model *out);
/* About the origin: a sphere of `cells` (4 at least) around and half as many from pole to pole, and a
 * disk of as many sectors. */
enum status model_ball(struct arena *a, double radius, uint32_t cells, struct model *out);
enum status model_plate(struct arena *a, const double normal[3], double radius, uint32_t cells,
                        struct model *out);
/* A landscape: heights over a grid of cells x cells squares on [-1,1] x [-1,1], facing +z, u along
 * x and v along y; two triangles a square. */
struct terrain {
    uint32_t cells, octaves, seed;
    double height, frequency; /* of the largest hills: at most about it and as many along a side */
    bool flat;                /* no normals */
};
enum status model_terrain(struct arena *a, const struct terrain *t, struct model *out);

/* Normals for smooth shading: at each place where vertices stand, the mean of the normals of the
 * triangles there, weighted by area (2 A n, summed). vertex_count of them, in the arena. */
float (*model_smooth_normals(struct arena *a, const struct model *m))[3];
/* The same with each triangle's 2 A n times its angle at the corner that stands there: weighted by
 * area and angle, so that how a face is cut into triangles matters less. */
float (*model_angle_normals(struct arena *a, const struct model *m))[3];
/* The same, but a vertex takes from the others at its place only those whose own faces stand within
 * 50 degrees of its own: where faces share no vertices edges stay, and what lies back to back on
 * the same places does not cancel. */
float (*model_crease_normals(struct arena *a, const struct model *m))[3];
/* The angle between two edges that leave a corner, radians. */
double model_corner_angle(const double a[3], const double b[3]);
/* first[v]: the least vertex at v's coordinates; [vertex_count]. False: out of memory. */
bool model_weld(const struct model *m, uint32_t *first);

#endif
