/* SPDX-License-Identifier: Apache-2.0 */
/* Rays against random soups of primitives: both trees against brute force, bit for bit, and brute
 * force against double precision. */
#include "test_scenes.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* All trees are held against one run of brute force, and its order over each one's primitives by
 * some of the rays. */
enum { RAYS = 3000 / TEST_THINNING, AGAIN = RAYS / 10, IN = 8, OUT = 5 };

static float float_of(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, 4);
    return f;
}
static uint32_t bits_of(double x)
{
    float f = (float)x;
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}

/* Rays from around the soup and inside it; some along axes or exactly in a triangle's plane, some
 * that start on a vertex. */
static void rays_make(const struct scene *s, uint32_t seed, double center, double scale,
                      bool shadow, uint32_t *rows)
{
    uint32_t n = 0;
    for (size_t i = 0; i < RAYS; i++) {
        uint32_t *row = rows + IN * i;
        double d[3], o[3], len = 0, reach = i % 3 == 0 ? 0.9 : 3.0;
        for (int c = 0; c < 3; c++) {
            o[c] = center + scale * reach * (2 * test_random(seed, &n) - 1);
            d[c] = center + scale * (2 * test_random(seed, &n) - 1) - o[c];
        }
        if (i % 7 == 1)
            d[i % 3] = 0;
        if (i % 7 == 2)
            d[i % 3] = d[(i + 1) % 3] = 0;
        if (i % 7 == 3 && s->triangle_count > 0) /* aimed at a vertex */
            for (int c = 0; c < 3; c++)
                d[c] = (double)s->P[i % s->vertex_count][c] - o[c];
        if (i % 7 == 4 && s->triangle_count > 0) /* in the plane of a triangle */
            for (int c = 0; c < 3; c++) {
                const uint32_t *t = s->triangles[i % s->triangle_count];
                double e = (double)s->P[t[1]][c] - (double)s->P[t[0]][c];
                d[c] = e + (double)s->P[t[2]][c] - (double)s->P[t[0]][c];
                o[c] = (double)s->P[t[0]][c] - 2 * d[c];
            }
        for (int c = 0; c < 3; c++)
            len += d[c] * d[c];
        len = sqrt(len);
        if (!(len > 0)) {
            d[0] = len = 1;
        }
        for (int c = 0; c < 3; c++) {
            row[c] = bits_of(o[c]);
            row[3 + c] = bits_of(d[c] / len);
        }
        row[6] = shadow ? bits_of(scale * 2 * test_random(seed, &n)) : 0x7F800000u;
    }
}

static void brute_set(uint32_t *rows, uint32_t brute)
{
    for (size_t i = 0; i < RAYS; i++)
        rows[IN * i + 7] = brute;
}

/* What brute force says of the first `count` rays. */
static void brute_force(struct device *d, uint32_t *rows, size_t count, uint32_t *out)
{
    struct error err = {0};
    brute_set(rows, 1);
    must(device_probe(d, PROBE_HIT, rows, count, out, &err), &err);
    brute_set(rows, 0);
}

/* a: of a tree, or of brute force over its order. */
static void compare_bits(const uint32_t *a, const uint32_t *b, size_t count, uint32_t seed)
{
    for (size_t i = 0; i < count; i++)
        if (memcmp(a + OUT * i, b + OUT * i, 4 * OUT) != 0)
            fail_msg("soup %u, ray %zu: the tree finds primitive %u at %a (any %u), brute force %u "
                     "at %a (any %u)",
                     seed, i, a[OUT * i], (double)float_of(a[OUT * i + 1]), a[OUT * i + 4],
                     b[OUT * i], (double)float_of(b[OUT * i + 1]), b[OUT * i + 4]);
}

struct soup {
    size_t triangles, spheres, disks;
    float center, scale;
};
static const struct soup soups[] = {
    {1, 0, 0, 0, 1},          {0, 1, 0, 0, 1},         {0, 0, 2, 0, 1},
    {9, 2, 1, 0, 1},          {400, 20, 20, 0, 1},     {3000, 0, 0, 0, 1},
    {500, 10, 10, 100, 1},    {500, 10, 10, 0, 1e-4f}, {500, 10, 10, 0, 1e6f},
    {500, 10, 10, -3e4f, 10}, {0, 0, 900, 0, 1},       {40, 5, 300, 100, 0.5f},
};

static void trees_agree_with_brute_force(void **state)
{
    (void)state;
    struct error err = {0};
    uint32_t *rows = malloc((size_t)RAYS * IN * 4), *tree = malloc((size_t)RAYS * OUT * 4),
             *brute = malloc((size_t)RAYS * OUT * 4);
    size_t hits = 0;
    for (uint32_t i = 0; i < sizeof soups / sizeof *soups; i++) {
        const struct soup *p = &soups[i];
        struct scene *s = scene_soup(i, p->triangles, p->spheres, p->disks, p->center, p->scale);
        for (int shadow = 0; shadow < 2; shadow++) {
            rays_make(s, 100 + i, (double)p->center, (double)p->scale, shadow, rows);
            for (int kind = BVH_BINARY; kind < BVH_COUNT; kind++) {
                struct device *d = device_ready("native", s, (enum bvh_kind)kind, MODE_STRICT);
                const bool first = kind == BVH_BINARY;
                brute_force(d, rows, first ? RAYS : AGAIN, first ? brute : tree);
                if (!first)
                    compare_bits(tree, brute, AGAIN, i);
                must(device_probe(d, PROBE_HIT, rows, RAYS, tree, &err), &err);
                compare_bits(tree, brute, RAYS, i);
                for (size_t k = 0; k < RAYS; k++)
                    hits += tree[OUT * k] != UINT32_MAX;
                device_close(d);
            }
        }
        scene_free(s);
    }
    assert_true(hits > RAYS); /* rays that meet nothing would show nothing */
    free(rows);
    free(tree);
    free(brute);
}

struct grove {
    size_t triangles, rounds, prototypes, instances;
    float scale;
};
static const struct grove groves[] = {
    {0, 0, 1, 1, 1},       {0, 0, 3, 40, 1},     {50, 4, 5, 100, 1},
    {300, 20, 9, 400, 30}, {9, 1, 6, 60, 1e-3f},
};

/* Trees of two levels: the hit is brute force's, which knows neither level. */
static void instances_agree_with_brute_force(void **state)
{
    (void)state;
    struct error err = {0};
    uint32_t *rows = malloc((size_t)RAYS * IN * 4), *tree = malloc((size_t)RAYS * OUT * 4),
             *brute = malloc((size_t)RAYS * OUT * 4);
    for (uint32_t i = 0; i < sizeof groves / sizeof *groves; i++) {
        const struct grove *p = &groves[i];
        struct scene *s =
            scene_instanced(50 + i, p->triangles, p->rounds, p->prototypes, p->instances, p->scale);
        size_t hits = 0, inside = 0, all = scene_effective_count(s);
        for (int shadow = 0; shadow < 2; shadow++) {
            rays_make(s, 200 + i, 0, (double)p->scale, shadow, rows);
            for (int kind = BVH_BINARY; kind < BVH_COUNT; kind++) {
                struct device *d = device_ready("native", s, (enum bvh_kind)kind, MODE_STRICT);
                const bool first = kind == BVH_BINARY;
                brute_force(d, rows, first ? RAYS : AGAIN, first ? brute : tree);
                if (!first)
                    compare_bits(tree, brute, AGAIN, 50 + i);
                must(device_probe(d, PROBE_HIT, rows, RAYS, tree, &err), &err);
                compare_bits(tree, brute, RAYS, 50 + i);
                for (size_t k = 0; k < RAYS; k++) {
                    uint32_t id = brute[OUT * k];
                    hits += id != UINT32_MAX;
                    inside += id != UINT32_MAX && id >= scene_primitive_count(s);
                    assert_true(id == UINT32_MAX || id < all);
                }
                device_close(d);
            }
        }
        print_message("%zu instances, %zu ids: %zu hits, %zu in instances\n", p->instances, all,
                      hits, inside);
        assert_true(inside >= (p->instances > 1 ? 200 : 1) / TEST_THINNING);
        scene_free(s);
    }
    free(rows);
    free(tree);
    free(brute);
}

/* ---- no gaps -------------------------------------------------------------------------------- */

/* From within a closed body every ray hits, also those aimed at its edges and vertices, whatever is
 * contracted: in every mode, by every tree. */
static void neighbours_leave_no_gap(void **state)
{
    (void)state;
    struct error err = {0};
    struct scene *s = scene_from_text(
        "{\"isophote\": 1, \"camera\": {\"origin\": [0, 0, 0], \"target\": [0, 0, -1]}, "
        "\"materials\": {\"m\": {\"type\": \"diffuse\"}}, \"objects\": [{\"type\": \"box\", "
        "\"material\": \"m\", \"transform\": [{\"scale\": [1, 1.5, 2]}, {\"rotate\": {\"axis\": "
        "[1, "
        "2, 3], \"angle\": 37}}, {\"translate\": [0.3, 0.2, 0.1]}]}]}");
    uint32_t *rows = malloc((size_t)RAYS * IN * 4), *hit = malloc((size_t)RAYS * OUT * 4), n = 0;
    for (size_t i = 0; i < RAYS; i++) {
        const uint32_t *t = s->triangles[i % s->triangle_count];
        const float *a = s->P[t[i / 7 % 3]], *b = s->P[t[(i / 7 + 1) % 3]];
        double along = i % 5 ? test_random(9, &n) : 0, o[3], d[3], len = 0;
        for (int c = 0; c < 3; c++) {
            o[c] = (s->bounds_min[c] + s->bounds_max[c]) / 2 + test_random(9, &n) - 0.5;
            d[c] = (double)a[c] + along * ((double)b[c] - (double)a[c]) - o[c];
            len += d[c] * d[c];
        }
        for (int c = 0; c < 3; c++) {
            rows[IN * i + (size_t)c] = bits_of(o[c]);
            rows[IN * i + 3 + (size_t)c] = bits_of(d[c] / sqrt(len));
        }
        rows[IN * i + 6] = 0x7F800000u;
    }
    brute_set(rows, 0);
    for (int mode = MODE_STRICT; mode <= MODE_FAST; mode++)
        for (int kind = BVH_BINARY; kind < BVH_COUNT; kind++) {
            struct device *d = device_ready("native", s, (enum bvh_kind)kind, (enum math_mode)mode);
            must(device_probe(d, PROBE_HIT, rows, RAYS, hit, &err), &err);
            for (size_t i = 0; i < RAYS; i++)
                if (hit[OUT * i] == UINT32_MAX)
                    fail_msg("mode %s, tree %d: ray %zu passes between triangles",
                             math_mode_name((enum math_mode)mode), kind, i);
            device_close(d);
        }
    scene_free(s);
    free(rows);
    free(hit);
}

/* ---- double precision, by another method ---------------------------------------------------- */

/* Moller and Trumbore's test. *margin: how far inside the triangle, in barycentric weight; negative
 * outside. False where the triangle is seen nearly edge-on. */
static bool triangle_double(const struct scene *s, size_t id, const double o[3], const double d[3],
                            double *t, double *margin)
{
    double e1[3], e2[3], p[3], q[3], r[3], longest = 0, det = 0, u = 0, w = 0;
    const uint32_t *v = s->triangles[id];
    for (int c = 0; c < 3; c++) {
        e1[c] = (double)s->P[v[1]][c] - (double)s->P[v[0]][c];
        e2[c] = (double)s->P[v[2]][c] - (double)s->P[v[0]][c];
        r[c] = o[c] - (double)s->P[v[0]][c];
        longest = fmax(longest, fmax(fabs(e1[c]), fabs(e2[c])));
    }
    for (int c = 0; c < 3; c++) {
        int a = (c + 1) % 3, b = (c + 2) % 3;
        p[c] = d[a] * e2[b] - d[b] * e2[a];
        q[c] = r[a] * e1[b] - r[b] * e1[a];
        det += e1[c] * p[c];
    }
    if (fabs(det) < 1e-2 * longest * longest)
        return false;
    *t = 0;
    for (int c = 0; c < 3; c++) {
        u += r[c] * p[c] / det;
        w += d[c] * q[c] / det;
        *t += e2[c] * q[c] / det;
    }
    *margin = fmin(u, fmin(w, 1 - u - w));
    return true;
}

/* Does the ray's line pass through the ball around a triangle? */
static bool passes_near(const struct scene *s, size_t id, const double o[3], const double d[3])
{
    const float *v0 = s->P[s->triangles[id][0]];
    double radius2 = 0, along = 0, dist2 = 0;
    for (int v = 1; v < 3; v++) {
        double e2 = 0;
        for (int c = 0; c < 3; c++)
            e2 += pow((double)s->P[s->triangles[id][v]][c] - (double)v0[c], 2);
        radius2 = fmax(radius2, e2);
    }
    for (int c = 0; c < 3; c++)
        along += ((double)v0[c] - o[c]) * d[c];
    for (int c = 0; c < 3; c++)
        dist2 += pow((double)v0[c] - o[c] - along * d[c], 2);
    return dist2 < 1.01 * radius2;
}

enum opinion { CLEAR_MISS, CLEAR_HIT, DOUBTFUL };

/* What double precision says of the whole scene. Doubtful: a candidate nearer than the hit, or
 * none, is on an edge, edge-on, or at the origin, or two hits are within 1e-3. */
static enum opinion scene_double(const struct scene *s, const double o[3], const double d[3],
                                 uint32_t *id, double *nearest)
{
    double doubt = HUGE_VAL;
    *nearest = HUGE_VAL;
    *id = UINT32_MAX;
    for (size_t k = 0; k < s->triangle_count; k++) {
        double t, margin;
        if (!triangle_double(s, k, o, d, &t, &margin)) {
            if (passes_near(s, k, o, d))
                return DOUBTFUL;
        } else if (t > 1e-3 && margin > 1e-3) {
            doubt = fmin(doubt, fmax(t, *nearest));
            if (t < *nearest) {
                *nearest = t;
                *id = (uint32_t)k;
            }
        } else if (t > -1e-3 && margin > -1e-3) {
            doubt = fmin(doubt, t);
        }
    }
    if (doubt < *nearest + 1e-3)
        return DOUBTFUL;
    return *id == UINT32_MAX ? CLEAR_MISS : CLEAR_HIT;
}

/* The bound on t: A = v - o is off by 2^-24 of a distance of at most 1 + t here; over the sine of
 * the angle to the surface (1e-2 at least, by the test on det) that is below 2^-17 (1 + t), and
 * barycentric rounding moves the point in the plane by less. */
static void hits_agree_with_double(void **state)
{
    (void)state;
    enum { MESH = 64 };
    struct error err = {0};
    struct scene *s = scene_soup(4, MESH, 0, 0, 0, 1);
    uint32_t n = 0, id;
    for (size_t v = 0; v < s->vertex_count; v++) /* well-shaped ones only */
        for (int c = 0; c < 3; c++)
            s->P[v][c] =
                (float)(0.6 * sin(17.0 * (double)(v / 3) + c) + 0.5 * (test_random(5, &n) - 0.5));
    struct device *d = device_ready("native", s, BVH_WIDE8, MODE_STRICT);
    uint32_t *rows = malloc((size_t)RAYS * IN * 4), *out = malloc((size_t)RAYS * OUT * 4);
    size_t seen[3] = {0};
    rays_make(s, 7, 0, 1, false, rows);
    brute_set(rows, 0);
    must(device_probe(d, PROBE_HIT, rows, RAYS, out, &err), &err);
    for (size_t i = 0; i < RAYS; i++) {
        double o[3], dir[3], nearest;
        for (size_t c = 0; c < 3; c++) {
            o[c] = (double)float_of(rows[IN * i + c]);
            dir[c] = (double)float_of(rows[IN * i + 3 + c]);
        }
        enum opinion op = scene_double(s, o, dir, &id, &nearest);
        seen[op]++;
        if (op == DOUBTFUL)
            continue;
        assert_int_equal(out[OUT * i], id);
        if (op == CLEAR_HIT)
            assert_true(fabs((double)float_of(out[OUT * i + 1]) - nearest) <
                        0x1p-17 * (1 + nearest));
    }
    if (seen[CLEAR_HIT] < RAYS / 10 || seen[CLEAR_MISS] < RAYS / 10)
        fail_msg("only %zu hits and %zu misses of %d rays were clear", seen[CLEAR_HIT],
                 seen[CLEAR_MISS], RAYS);
    device_close(d);
    scene_free(s);
    free(rows);
    free(out);
}

/* Neighbouring triangles leave no gap: rays at a closed, finely divided sphere from its centre all
 * hit it. */
static void meshes_are_watertight(void **state)
{
    (void)state;
    enum { N = 48, GRID = (N + 1) * (N + 1) };
    struct error err = {0};
    struct scene *s = scene_soup(1, 2 * N * N, 0, 0, 0, 1);
    for (int j = 0; j <= N; j++)
        for (int i = 0; i <= N; i++) {
            double theta = 3.14159265358979 * j / N,
                   phi = 6.28318530717959 * (i % N) / N; /* the seam closes exactly */
            double r = j == 0 || j == N ? 0 : sin(theta);
            float *p = s->P[j * (N + 1) + i];
            p[0] = (float)(0.7 * r * cos(phi));
            p[1] = (float)(0.7 * r * sin(phi));
            p[2] = (float)(0.7 * cos(theta));
        }
    for (uint32_t j = 0, k = 0; j < N; j++)
        for (uint32_t i = 0; i < N; i++, k += 2) {
            uint32_t a = j * (N + 1) + i, b = a + 1, c = a + N + 1, e = c + 1;
            memcpy(s->triangles[k], (uint32_t[3]){a, c, b}, 12);
            memcpy(s->triangles[k + 1], (uint32_t[3]){b, c, e}, 12);
        }
    uint32_t *rows = malloc((size_t)RAYS * IN * 4), *out = malloc((size_t)RAYS * OUT * 4), n = 0;
    for (size_t i = 0; i < RAYS; i++) {
        double d[3], len = 0;
        const float *p = s->P[(i * 13) % GRID], *q = s->P[((i * 13) % GRID + 1) % GRID];
        double f = i % 2 ? test_random(3, &n) : 0; /* at vertices and at points of edges */
        for (int c = 0; c < 3; c++) {
            d[c] = (double)p[c] + f * ((double)q[c] - (double)p[c]);
            len += d[c] * d[c];
        }
        for (int c = 0; c < 3; c++) {
            rows[IN * i + (size_t)c] = bits_of(0.01 * (c + 1));
            rows[IN * i + 3 + (size_t)c] = bits_of(len > 0 ? d[c] / sqrt(len) : c == 0);
        }
        rows[IN * i + 6] = 0x7F800000u;
        rows[IN * i + 7] = 0;
    }
    for (int kind = BVH_BINARY; kind < BVH_COUNT; kind++) {
        struct device *d = device_ready("native", s, (enum bvh_kind)kind, MODE_STRICT);
        must(device_probe(d, PROBE_HIT, rows, RAYS, out, &err), &err);
        for (size_t i = 0; i < RAYS; i++)
            if (out[OUT * i] == UINT32_MAX || out[OUT * i + 4] != 1)
                fail_msg("ray %zu leaves a closed mesh", i);
        device_close(d);
    }
    scene_free(s);
    free(rows);
    free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_agree_with_brute_force),
        cmocka_unit_test(neighbours_leave_no_gap),
        cmocka_unit_test(instances_agree_with_brute_force),
        cmocka_unit_test(hits_agree_with_double),
        cmocka_unit_test(meshes_are_watertight),
    };
    return cmocka_run_group_tests_name("hits", tests, NULL, NULL);
}
