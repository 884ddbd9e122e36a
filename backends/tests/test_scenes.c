/* SPDX-License-Identifier: Apache-2.0 */
#include "test_scenes.h"

#include <assert.h>
#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

void must(enum status st, const struct error *err)
{
    char text[2048];
    if (st == STATUS_OK)
        return;
    error_format(err, text, sizeof text);
    fail_msg("%s: %s", status_name(st), text);
}

struct scene *scene_from_text(const char *json)
{
    struct error err = {0};
    struct scene *s = NULL;
    must(scene_load_memory("test.json", json, strlen(json), &s, &err), &err);
    return s;
}

struct scene *scene_from_library(const char *name)
{
    char path[512];
    struct error err = {0};
    struct scene *s = NULL;
    snprintf(path, sizeof path, "%s/scenes/library/%s.json", SOURCE_DIR, name);
    must(scene_load(path, &s, &err), &err);
    return s;
}

double test_random(uint32_t seed, uint32_t *counter)
{
    uint32_t c[4] = {(*counter)++, 0, 0, 0}, key[2] = {seed, 0x7E57}, out[4];
    philox4x32(c, key, out);
    return u01(out[0]);
}

static float between(uint32_t seed, uint32_t *n, double lo, double hi)
{
    return (float)(lo + (hi - lo) * test_random(seed, n));
}

/* One triangle of a kind that the traversal finds hard, by i: ordinary, flat along an axis, a
 * sliver, far smaller and far larger than the rest, sharing an edge with the one before. */
static void triangle_make(struct scene *s, size_t i, uint32_t seed, uint32_t *n, float center,
                          float scale)
{
    float(*p)[3] = s->P + 3 * i;
    double size = i % 8 == 3 ? 1e-4 : i % 8 == 4 ? 2.0 : 0.3;
    for (int c = 0; c < 3; c++) {
        float at = between(seed, n, -1, 1);
        for (int v = 0; v < 3; v++)
            p[v][c] = center + scale * (at + between(seed, n, -size, size));
    }
    if (i % 8 == 1)
        p[1][i % 3] = p[2][i % 3] = p[0][i % 3];
    if (i % 8 == 2)
        for (int c = 0; c < 3; c++)
            p[2][c] = p[1][c] + 1e-4f * (p[2][c] - p[1][c]);
    if (i % 8 == 5 && i > 0)
        for (int c = 0; c < 3; c++) {
            p[0][c] = p[-2][c];
            p[1][c] = p[-1][c];
        }
    if (i % 64 == 6)
        memcpy(p[2], p[1], sizeof p[2]); /* no area at all */
    for (uint32_t v = 0; v < 3; v++)
        s->triangles[i][v] = (uint32_t)(3 * i) + v;
}

static void bounds_add(struct scene *s, const float *p, float r)
{
    for (int c = 0; c < 3; c++) {
        s->bounds_min[c] = fmin(s->bounds_min[c], (double)p[c] - (double)r);
        s->bounds_max[c] = fmax(s->bounds_max[c], (double)p[c] + (double)r);
    }
}

struct scene *scene_soup(uint32_t seed, size_t triangles, size_t spheres, size_t disks,
                         float center, float scale)
{
    struct scene *s =
        scene_from_text("{\"isophote\": 1, \"camera\": {\"type\": \"perspective\", \"origin\": [0, "
                        "0, 4], \"target\": [0, 0, 0], \"up\": [0, 1, 0],"
                        " \"fov\": 40}, \"materials\": {\"m\": {\"type\": \"diffuse\", "
                        "\"reflectance\": 0.5}}, \"objects\": [{\"type\": \"sphere\","
                        " \"center\": [0, 0, 0], \"radius\": 1, \"material\": \"m\"}], "
                        "\"environment\": {\"radiance\": 1}}");
    uint32_t n = 0;
    struct arena *a = &s->arena;
    s->triangle_count = triangles;
    s->vertex_count = 3 * triangles;
    s->sphere_count = spheres;
    s->disk_count = disks;
    s->P = arena_alloc(a, 3 * triangles, sizeof *s->P, 0);
    s->triangles = arena_alloc(a, triangles, sizeof *s->triangles, 0);
    s->triangle_flags = arena_alloc(a, triangles, 1, 0);
    s->spheres = ARENA_ARRAY(a, struct sphere, spheres);
    s->disks = ARENA_ARRAY(a, struct disk, disks);
    s->primitive_material = ARENA_ARRAY(a, uint32_t, triangles + spheres + disks);
    for (int c = 0; c < 3; c++) {
        s->bounds_min[c] = HUGE_VAL;
        s->bounds_max[c] = -HUGE_VAL;
    }
    for (size_t i = 0; i < triangles; i++) {
        triangle_make(s, i, seed, &n, center, scale);
        for (int v = 0; v < 3; v++)
            bounds_add(s, s->P[3 * i + (size_t)v], 0);
    }
    for (size_t i = 0; i < spheres + disks; i++) {
        float c[3], r = scale * between(seed, &n, 0.02, 0.3);
        double z = 2 * test_random(seed, &n) - 1, phi = 6.283185307 * test_random(seed, &n),
               rho = sqrt(1 - z * z);
        for (int k = 0; k < 3; k++)
            c[k] = center + scale * between(seed, &n, -1, 1);
        bounds_add(s, c, r);
        if (i < spheres) {
            memcpy(s->spheres[i].center, c, sizeof c);
            s->spheres[i].radius = r;
        } else {
            struct disk *d = &s->disks[i - spheres];
            memcpy(d->center, c, sizeof c);
            d->radius = r;
            d->normal[0] = (float)(rho * cos(phi));
            d->normal[1] = (float)(rho * sin(phi));
            d->normal[2] = (float)z;
        }
    }
    return s;
}

/* Row-major 3x4: a random rotation-like matrix times what makes it hard, by i. */
static void transform_make(float m[3][4], size_t i, uint32_t seed, uint32_t *n, float scale)
{
    double a[3][3];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            a[r][c] = (r == c) + (i % 4 == 0 ? 0 : 1) * (test_random(seed, n) - 0.5);
    double by[3] = {1, 1, 1};
    if (i % 5 == 1)
        by[0] = -1;
    if (i % 5 == 2)
        by[1] = 0.05, by[2] = 3;
    if (i % 7 == 3)
        by[0] = by[1] = by[2] = 1e-3;
    if (i % 7 == 4)
        by[0] = by[1] = by[2] = -20;
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++)
            m[r][c] = (float)(a[r][c] * by[c]);
        m[r][3] = between(seed, n, -1, 1) * scale;
    }
}

struct scene *scene_instanced(uint32_t seed, size_t triangles, size_t rounds, size_t prototypes,
                              size_t instances, float scale)
{
    assert(prototypes > 0);
    size_t placed = 0;
    for (size_t i = 0; i < prototypes; i++)
        placed += 1 + i * i * 7;
    struct scene *s = scene_soup(seed, triangles + placed, rounds, rounds, 0, scale);
    uint32_t n = 0;
    s->prototypes = ARENA_ARRAY(&s->arena, struct prototype, prototypes);
    s->instances = ARENA_ARRAY(&s->arena, struct instance, instances);
    assert_true(s->prototypes && s->instances);
    s->triangle_count = triangles;
    s->prototype_triangle_count = placed;
    s->prototype_count = prototypes;
    s->instance_count = instances;
    uint32_t at = (uint32_t)triangles, id = (uint32_t)scene_primitive_count(s);
    for (uint32_t i = 0; i < prototypes; i++) {
        s->prototypes[i] = (struct prototype){.name = "p", .first = at, .count = 1 + i * i * 7};
        at += s->prototypes[i].count;
    }
    for (size_t i = 0; i < instances; i++) {
        struct instance *o = &s->instances[i];
        o->prototype = (uint32_t)(i % prototypes);
        transform_make(o->to_world, i, seed + 1, &n, scale);
        if (i % 9 == 8 && i > prototypes) { /* as one before: every hit is a tie */
            memcpy(o->to_world, s->instances[i - prototypes].to_world, sizeof o->to_world);
            o->prototype = s->instances[i - prototypes].prototype;
        }
        o->first_id = id;
        id += s->prototypes[o->prototype].count;
    }
    return s;
}

struct device *device_ready(const char *id, const struct scene *s, enum bvh_kind bvh,
                            enum math_mode mode)
{
    struct error err = {0};
    struct device *d = NULL;
    must(device_open(id, &d, &err), &err);
    if (s)
        must(device_load(d, s, bvh, NULL, &err), &err);
    must(device_build(d, &(struct build_settings){.mode = mode}, NULL, &err), &err);
    return d;
}
