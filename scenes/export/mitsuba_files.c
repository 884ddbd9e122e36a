/* SPDX-License-Identifier: Apache-2.0 */
/* Files beside a Mitsuba scene: meshes as PLY, pictures as EXR. */
#include "mitsuba.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum status no_memory(struct exporter *x)
{
    return x->status =
               error_msg(x->err, STATUS_MEMORY, "out of memory exporting %s", x->scene->name);
}

static const char *file_path(struct exporter *x, const char *name)
{
    return arena_printf(x->arena, "%s/%s", x->folder, name);
}

/* ---- meshes --------------------------------------------------------------------------------- */

/* One vertex of the file: always a place, and what else there is. `tangent`, of section 26, comes
 * with the bitangent's sign, its first corner's, and the vertex normal before anything is made of
 * it. */
struct vertex {
    const float *P, *normal, *uv, *color, *tangent, *sign, *total;
};

static void put_vertex(struct text *t, const struct vertex *v)
{
    text_append(t, (const char *)v->P, 12);
    if (v->normal)
        text_append(t, (const char *)v->normal, 12);
    if (v->uv) {
        const float down[2] = {v->uv[0], 1 - v->uv[1]};
        text_append(t, (const char *)down, 8);
    }
    if (v->color)
        text_append(t, (const char *)v->color, 12);
    if (v->tangent) {
        text_append(t, (const char *)v->tangent, 12);
        text_append(t, (const char *)v->sign, 4);
        text_append(t, (const char *)v->total, 12);
    }
}

/* Twice the area of a triangle times its normal. */
static void area_normal(const struct scene *s, const uint32_t t[3], double out[3])
{
    double e[2][3];
    for (int k = 0; k < 3; k++) {
        e[0][k] = (double)s->P[t[1]][k] - s->P[t[0]][k];
        e[1][k] = (double)s->P[t[2]][k] - s->P[t[0]][k];
    }
    for (int k = 0; k < 3; k++)
        out[k] = e[0][(k + 1) % 3] * e[1][(k + 2) % 3] - e[0][(k + 2) % 3] * e[1][(k + 1) % 3];
}

static double length(const double v[3]) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

/* The vertex normals of a triangle as Mitsuba has to get them. Section 4 of
 * docs/reference/protocol.md turns the shading normal to the side that the winding names, and takes
 * the geometric one where the sum is zero (files of scanners have such normals); Mitsuba does
 * neither. */
static void triangle_normals(const struct scene *s, const uint32_t t[3], float out[3][3])
{
    double ng[3];
    bool away = true, zero = true;
    area_normal(s, t, ng);
    double size = length(ng);
    for (int i = 0; i < 3; i++) {
        const float *n = s->N[t[i]];
        away = away && ng[0] * n[0] + ng[1] * n[1] + ng[2] * n[2] < 0;
        zero = zero && n[0] == 0 && n[1] == 0 && n[2] == 0;
    }
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            out[i][k] = zero && size > 0 ? (float)(ng[k] / size)
                        : away           ? -s->N[t[i]][k]
                                         : s->N[t[i]][k];
}

uint32_t mitsuba_triangle_material(const struct scene *s, size_t triangle)
{
    size_t behind = triangle < s->triangle_count ? 0 : scene_primitive_count(s) - s->triangle_count;
    return s->primitive_material[triangle + behind];
}

/* The share of the mesh's area where a vertex normal stands more than 45 degrees from the face. */
static double bent_share(const struct scene *s, size_t first, size_t end, uint32_t material,
                         uint8_t flags)
{
    double all = 0, bent = 0;
    for (size_t i = first; i < end; i++) {
        if (mitsuba_triangle_material(s, i) != material || s->triangle_flags[i] != flags)
            continue;
        double ng[3], least = 1;
        float N[3][3];
        area_normal(s, s->triangles[i], ng);
        triangle_normals(s, s->triangles[i], N);
        double size = length(ng);
        for (int k = 0; k < 3 && size > 0; k++) {
            const double n[3] = {(double)N[k][0], (double)N[k][1], (double)N[k][2]};
            double dot = n[0] * ng[0] + n[1] * ng[1] + n[2] * ng[2], long_n = length(n);
            least = fmin(least, long_n > 0 ? dot / (size * long_n) : 1);
        }
        all += size;
        bent += least < 0.70710678 ? size : 0;
    }
    return all > 0 ? bent / all : 0;
}

/* Rays between the plane of a face and that of its shading normal: the protocol (sections 4 and 6)
 * goes by the face, Mitsuba by the shading normal. Up to this share the difference was below 0.2 %
 * of a picture's light (docs/explanation/validation.md). */
static void note_bent(struct exporter *x, size_t first, size_t end, uint32_t material,
                      uint8_t flags)
{
    double share = x->dry ? bent_share(x->scene, first, end, material, flags) : 0;
    if (share > 0.25)
        mitsuba_differs(
            x, mitsuba_material_title(x, &x->scene->materials[material]),
            "vertex normals stand more than 45 degrees from the faces on %.0f %% of a "
            "mesh: rays between the two go by the face here, by the normal in Mitsuba (--plugins)",
            100 * share);
}

/* Mitsuba calls it vertex_NAME. */
static void write_attribute(struct text *t, const char *name, int count)
{
    for (int i = 0; i < count; i++)
        text_printf(t, "property float %s_%d\n", name, i);
}

/* What the vertices of a mesh have beside their place. */
struct ply_has {
    bool normals, uv, own_uv, colors, mapped;
};

/* The three vertices of triangle i. */
static void put_triangle(struct text *body, const struct scene *s, size_t i, struct ply_has has)
{
    static const float corners[3][2] = {{0, 0}, {1, 0}, {0, 1}}; /* (b1, b2): protocol, section 4 */
    static const float none[3] = {0};
    float N[3][3];
    if (has.normals)
        triangle_normals(s, s->triangles[i], N);
    const float(*tangents)[4] = has.mapped ? s->tangents[s->tangent_of[i]] : NULL;
    for (int k = 0; k < 3; k++) {
        uint32_t v = s->triangles[i][k];
        put_vertex(body, &(struct vertex){.P = s->P[v],
                                          .normal = has.normals ? N[k] : NULL,
                                          .uv = has.uv       ? s->UV[v]
                                                : has.own_uv ? corners[k]
                                                             : NULL,
                                          .color = has.colors ? s->colors[v] : NULL,
                                          .tangent = has.mapped ? tangents[k] : NULL,
                                          .sign = has.mapped ? &tangents[0][3] : NULL,
                                          .total = has.normals ? s->N[v] : none});
    }
}

static void write_ply_file(struct exporter *x, const char *name, struct ply_has has, size_t count,
                           const struct text *body)
{
    struct text file = {0};
    text_printf(&file, "ply\nformat binary_little_endian 1.0\nelement vertex %zu\n", 3 * count);
    text_puts(&file, "property float x\nproperty float y\nproperty float z\n");
    if (has.normals)
        text_puts(&file, "property float nx\nproperty float ny\nproperty float nz\n");
    if (has.uv || has.own_uv)
        text_puts(&file, "property float u\nproperty float v\n");
    write_attribute(&file, "color", has.colors ? 3 : 0);
    write_attribute(&file, "tangent", has.mapped ? 3 : 0);
    write_attribute(&file, "sign", has.mapped ? 1 : 0);
    write_attribute(&file, "total", has.mapped ? 3 : 0);
    text_printf(&file, "element face %zu\nproperty list uchar int vertex_indices\nend_header\n",
                count);
    text_append(&file, body->data, body->len);
    for (size_t i = 0; i < count; i++) {
        const uint32_t v[3] = {(uint32_t)(3 * i), (uint32_t)(3 * i + 1), (uint32_t)(3 * i + 2)};
        text_append(&file, "\3", 1);
        text_append(&file, (const char *)v, 12);
    }
    const char *path = file_path(x, name);
    if (file.failed || body->failed || !path)
        no_memory(x);
    else
        x->status = file_kind_check(path, "ply\n", 4, x->err);
    if (!x->status)
        x->status = file_write(path, file.data, file.len, x->err);
    text_free(&file);
}

/* Each triangle has vertices of its own: what a vertex carries may depend on its triangle. */
void mitsuba_write_ply(struct exporter *x, const struct prototype *prototype, uint32_t material,
                       uint8_t flags, const char **name)
{
    const struct scene *s = x->scene;
    size_t first = prototype ? prototype->first : 0;
    size_t end = prototype ? first + prototype->count : s->triangle_count;
    struct ply_has has = {.normals = flags & TRIANGLE_HAS_NORMALS, .uv = flags & TRIANGLE_HAS_UV};
    has.own_uv = !has.uv && mitsuba_needs_uv(&s->materials[material]);
    has.colors = flags & TRIANGLE_HAS_COLORS && x->options->plugins;
    has.mapped = s->materials[material].normal_map.present && x->options->plugins && s->tangent_of;
    struct text body = {0};
    size_t count = 0;
    for (size_t i = first; i < end; i++) {
        if (mitsuba_triangle_material(s, i) != material || s->triangle_flags[i] != flags)
            continue;
        count++;
        if (!x->dry)
            put_triangle(&body, s, i, has);
    }
    *name = "";
    if (has.normals && !x->options->plugins)
        note_bent(x, first, end, material, flags);
    if (count)
        *name = prototype ? arena_printf(x->arena, "%s-group%zu-mesh%u-%u.ply", x->stem,
                                         (size_t)(prototype - s->prototypes), material, flags)
                          : arena_printf(x->arena, "%s-mesh%u-%u.ply", x->stem, material, flags);
    if (!*name) {
        *name = "";
        no_memory(x);
    }
    if (count && !x->dry && !x->status)
        write_ply_file(x, *name, has, count, &body);
    text_free(&body);
}

/* ---- pictures -------------------------------------------------------------------------------- */

double mitsuba_texel(const struct image *image, uint32_t x, uint32_t y, uint32_t channel)
{
    if (channel == 3 && image->channels < 4)
        return 1;
    size_t at = (size_t)y * image->width + x;
    at = at * image->channels + (image->channels >= 3 ? channel : 0);
    return image_value(image, at, channel < 3);
}

void mitsuba_write_exr(struct exporter *x, const char *name, uint32_t width, uint32_t height,
                       uint32_t channels, const float *texels)
{
    if (x->dry || x->status)
        return;
    const char *path = file_path(x, name);
    const struct image_channel rgb[3] = {
        {"R", texels, 3}, {"G", texels + 1, 3}, {"B", texels + 2, 3}};
    const struct image_channel gray = {"Y", texels, 1};
    if (!path)
        no_memory(x);
    else
        x->status = file_kind_check(path, "\x76\x2f\x31\x01", 4, x->err);
    if (!x->status && path)
        x->status = image_write_exr(path, width, height, channels == 1 ? &gray : rgb, channels,
                                    NULL, x->err);
}

/* Section 5.1 of docs/reference/protocol.md interpolates between rows at v = (j + 1/2)/H; Mitsuba's
 * rows stand at v = j/(H - 1), the first and the last on the poles. A map of 2 H + 1 rows has all
 * places where ours bends among its own: odd rows are ours, even ones the means of their
 * neighbours. Columns stand alike. */
void mitsuba_write_environment(struct exporter *x, const char *name)
{
    const struct environment *env = &x->scene->environment;
    const struct image *map = &env->map;
    if (x->dry || x->status)
        return;
    uint32_t rows = 2 * map->height + 1;
    float *texels = malloc((size_t)rows * map->width * 3 * sizeof *texels);
    if (!texels) {
        no_memory(x);
        return;
    }
    for (uint32_t r = 0; r < rows; r++) {
        uint32_t below = r / 2 < map->height ? r / 2 : map->height - 1;
        uint32_t above = r % 2 || r == 0 ? below : r / 2 - 1;
        for (uint32_t i = 0; i < map->width; i++)
            for (uint32_t c = 0; c < 3; c++)
                texels[((size_t)r * map->width + i) * 3 + c] =
                    (float)(0.5 * env->radiance[c] *
                            (mitsuba_texel(map, i, above, c) + mitsuba_texel(map, i, below, c)));
    }
    mitsuba_write_exr(x, name, map->width, rows, 3, texels);
    free(texels);
}
