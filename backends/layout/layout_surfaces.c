/* SPDX-License-Identifier: Apache-2.0 */
/* What materials of all types share: normal maps and tangents, media, and where paths start in
 * them (docs/reference/protocol.md sections 26 and 27). */
#include "layout_buffers.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* ---- media ---------------------------------------------------------------------------------- */

static double dot3(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Solid angle of a triangle from the origin (Van Oosterom and Strackee, IEEE TBME 30(2), 1983). */
static double solid_angle(double v[3][3])
{
    double la = sqrt(dot3(v[0], v[0])), lb = sqrt(dot3(v[1], v[1])), lc = sqrt(dot3(v[2], v[2]));
    double triple = v[0][0] * (v[1][1] * v[2][2] - v[1][2] * v[2][1]) +
                    v[0][1] * (v[1][2] * v[2][0] - v[1][0] * v[2][2]) +
                    v[0][2] * (v[1][0] * v[2][1] - v[1][1] * v[2][0]);
    double below =
        la * lb * lc + dot3(v[0], v[1]) * lc + dot3(v[1], v[2]) * la + dot3(v[2], v[0]) * lb;
    return 2 * atan2(triple, below);
}

/* One medium about the camera. */
struct around {
    double winding, lo[3], hi[3];
};

static void around_add_box(struct around *a, const float *p, double extent)
{
    for (int c = 0; c < 3; c++) {
        a->lo[c] = fmin(a->lo[c], (double)p[c] - extent);
        a->hi[c] = fmax(a->hi[c], (double)p[c] + extent);
    }
}

static void around_add(struct around *a, const struct scene *s, size_t id)
{
    double v[3][3];
    if (id >= s->triangle_count) {
        const struct sphere *sphere = &s->spheres[id - s->triangle_count];
        double r = (double)sphere->radius, D[3];
        for (int c = 0; c < 3; c++)
            D[c] = s->camera.origin[c] - (double)sphere->center[c];
        a->winding += sqrt(dot3(D, D)) < r;
        around_add_box(a, sphere->center, r);
        return;
    }
    for (int k = 0; k < 3; k++) {
        const float *p = s->P[s->triangles[id][k]];
        for (int c = 0; c < 3; c++)
            v[k][c] = (double)p[c] - s->camera.origin[c];
        around_add_box(a, p, 0);
    }
    a->winding += solid_angle(v) / (4 * pi);
}

/* Of triangle i of a prototype the material's medium, 0 for none. */
static uint32_t medium_of(const struct scene *s, const struct k_material *materials, size_t i)
{
    return materials[s->primitive_material[i + s->sphere_count + s->disk_count]].medium;
}

static void place_point(const struct instance *n, const double p[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = ((double)n->to_world[i][0] * p[0] + (double)n->to_world[i][1] * p[1]) +
                 (double)n->to_world[i][2] * p[2] + (double)n->to_world[i][3];
}

/* The share of W of an instance about which the camera may be. */
static double instance_winding(const struct scene *s, const struct k_material *materials,
                               const struct instance *n, uint32_t number)
{
    const struct prototype *p = &s->prototypes[n->prototype];
    bool mirrors = instance_mirrors(n);
    double w = 0;
    for (size_t i = p->first; i < (size_t)p->first + p->count; i++) {
        double v[3][3];
        if (medium_of(s, materials, i) != number)
            continue;
        for (int k = 0; k < 3; k++) {
            const float *from = s->P[s->triangles[i][mirrors && k ? 3 - k : k]];
            place_point(n, (double[3]){(double)from[0], (double)from[1], (double)from[2]}, v[k]);
            for (int c = 0; c < 3; c++)
                v[k][c] -= s->camera.origin[c];
        }
        w += solid_angle(v);
    }
    return w / (4 * pi);
}

/* own: the boxes of the prototype's media, in its space. */
static void around_add_instance(struct around *all, size_t count, const struct around *own,
                                const struct scene *s, const struct k_material *materials,
                                const struct instance *n)
{
    for (size_t m = 0; m < count; m++) {
        double lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY};
        bool within = own[m].lo[0] <= own[m].hi[0];
        if (!within)
            continue;
        for (unsigned corner = 0; corner < 8; corner++) {
            double p[3], q[3];
            for (unsigned c = 0; c < 3; c++)
                p[c] = corner >> c & 1 ? own[m].hi[c] : own[m].lo[c];
            place_point(n, p, q);
            for (int c = 0; c < 3; c++) {
                lo[c] = fmin(lo[c], q[c]);
                hi[c] = fmax(hi[c], q[c]);
            }
        }
        for (int c = 0; c < 3; c++) {
            const double O = s->camera.origin[c];
            within = within && O >= lo[c] && O <= hi[c];
            all[m].lo[c] = fmin(all[m].lo[c], lo[c]);
            all[m].hi[c] = fmax(all[m].hi[c], hi[c]);
        }
        if (within)
            all[m].winding += instance_winding(s, materials, n, (uint32_t)m + 1);
    }
}

static void around_clear(struct around *a, size_t count)
{
    for (size_t i = 0; i < count; i++)
        a[i] =
            (struct around){0, {INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
}

static void around_add_instances(struct around *all, size_t count, const struct scene *s,
                                 const struct k_material *materials)
{
    for (uint32_t p = 0; p < s->prototype_count; p++) {
        const struct prototype *of = &s->prototypes[p];
        struct around own[MEDIA_MAX];
        bool any = false;
        around_clear(own, count);
        for (size_t i = of->first; i < (size_t)of->first + of->count; i++) {
            uint32_t number = medium_of(s, materials, i);
            for (int k = 0; number && k < 3; k++)
                around_add_box(&own[number - 1], s->P[s->triangles[i][k]], 0);
            any = any || number;
        }
        for (size_t i = 0; any && i < s->instance_count; i++)
            if (s->instances[i].prototype == p)
                around_add_instance(all, count, own, s, materials, &s->instances[i]);
    }
}

static double around_volume(const struct around *a)
{
    return (a->hi[0] - a->lo[0]) * (a->hi[1] - a->lo[1]) * (a->hi[2] - a->lo[2]);
}

/* The media about the camera, the largest box first, as the kernel lists them; number: of each
 * material's medium. */
static uint32_t camera_media(const struct scene *s, const struct k_material *materials,
                             size_t count)
{
    struct around all[MEDIA_MAX];
    uint32_t list = 0;
    around_clear(all, count);
    for (size_t id = 0; id < s->triangle_count + s->sphere_count; id++) {
        uint32_t number = materials[s->primitive_material[id]].medium;
        if (number)
            around_add(&all[number - 1], s, id);
    }
    around_add_instances(all, count, s, materials);
    for (;;) {
        size_t largest = count;
        for (size_t i = 0; i < count; i++)
            if (all[i].winding > 0.5 &&
                (largest == count || around_volume(&all[i]) > around_volume(&all[largest])))
                largest = i;
        if (largest == count)
            return list;
        list = list << 8 | (uint32_t)(largest + 1);
        all[largest].winding = 0;
    }
}

static enum status layout_media(struct layout *l, const struct scene *s,
                                struct k_material *materials, struct error *err)
{
    size_t count = 0, at = 0;
    for (size_t i = 0; i < s->material_count; i++) {
        count += s->materials[i].medium.present;
        l->launch.media |= s->materials[i].medium.present || s->materials[i].interface;
    }
    void *data;
    enum status st = layout_take(l, BUFFER_media, count, sizeof(struct k_medium), &data, err);
    if (st)
        return st;
    struct k_medium *media = data;
    for (size_t i = 0; i < s->material_count; i++) {
        const struct medium *m = &s->materials[i].medium;
        materials[i].interface_ = s->materials[i].interface;
        if (!m->present)
            continue;
        media[at] = (struct k_medium){.density = m->density, .g = m->g, .material = (uint32_t)i};
        memcpy(media[at].albedo, m->albedo, sizeof media->albedo);
        memcpy(media[at].absorption, m->absorption, sizeof media->absorption);
        materials[i].medium = (uint32_t)++at;
    }
    if (l->launch.media)
        l->features |= K_FEATURE_MEDIA;
    if (count)
        l->launch.camera_media = camera_media(s, materials, count);
    return STATUS_OK;
}

/* ---- hits that do not count ------------------------------------------------------------------ */

static void layout_cutouts(struct layout *l, const struct scene *s, struct k_material *materials)
{
    for (size_t i = 0; i < s->material_count; i++) {
        const struct material *m = &s->materials[i];
        materials[i].cutout = (m->single_sided ? K_CUTOUT_SINGLE : 0) |
                              (m->alpha_mode == ALPHA_MASK ? K_CUTOUT_MASK : 0);
        materials[i].mask = (struct k_scalar){.value = m->opacity.value,
                                              .texture = m->opacity.texture,
                                              .channel = m->opacity.channel};
        materials[i].alpha_cutoff = m->alpha_cutoff;
        if (materials[i].cutout) {
            l->launch.cutouts = 1;
            l->features |= K_FEATURE_CUTOUTS;
        }
    }
}

/* ---- normal maps ---------------------------------------------------------------------------- */

static enum status layout_normal_maps(struct layout *l, const struct scene *s,
                                      struct k_material *materials, struct error *err)
{
    void *data;
    enum status st;
    for (size_t i = 0; i < s->material_count; i++) {
        const struct normal_map *m = &s->materials[i].normal_map;
        materials[i].normal_map = m->present ? (int32_t)m->texture : -1;
        materials[i].normal_scale = m->scale;
        if (m->present)
            l->features |= K_FEATURE_NORMAL_MAPS;
    }
    if (!s->tangent_count)
        return STATUS_OK;
    size_t triangles = s->triangle_count + s->prototype_triangle_count;
    st = layout_take(l, BUFFER_tangent_of, triangles, 4, &data, err);
    if (st)
        return st;
    memcpy(data, s->tangent_of, 4 * triangles);
    st = layout_take(l, BUFFER_tangents, s->tangent_count, sizeof *s->tangents, &data, err);
    if (st == STATUS_OK)
        memcpy(data, s->tangents, s->tangent_count * sizeof *s->tangents);
    return st;
}

enum status layout_surfaces(struct layout *l, const struct scene *s, struct error *err)
{
    /* Ours to finish: the buffer was made by layout_materials. */
    struct k_material *materials = (struct k_material *)l->buffers.at[BUFFER_materials].data;
    if (!materials)
        return STATUS_OK;
    layout_cutouts(l, s, materials);
    enum status st = layout_normal_maps(l, s, materials, err);
    return st ? st : layout_media(l, s, materials, err);
}
