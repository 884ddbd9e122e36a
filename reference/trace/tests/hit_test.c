/* SPDX-License-Identifier: Apache-2.0 */
/* Hits: Embree's candidates against brute force bit by bit, and each primitive's test against
 * textbook formulas in long double. */
#include "numbers/random.h"
#include "path/path.h"
#include "tests/test_scene.h"
#include "tests/test_statistics.h"
#include "trace/candidates.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct vec3 random_point(uint32_t stream, uint32_t i, double half)
{
    double u[4];
    test_numbers(stream, i, u);
    return vec3(half * (2 * u[0] - 1), half * (2 * u[1] - 1), half * (2 * u[2] - 1));
}

static struct vec3 random_direction(uint32_t stream, uint32_t i)
{
    double u[4];
    test_numbers(stream, i, u);
    return map_sphere(u[0], u[1]);
}

/* `n` triangles, n/4 spheres and n/4 disks about `center`, some of them twice, so that there are
 * ties. */
static struct scene *soup(uint32_t seed, uint32_t n, double extent, struct vec3 center)
{
    struct scene *s = test_scene_new();
    uint32_t m = test_diffuse(s, 0.5);
    for (uint32_t i = 0; i < n; i++) {
        struct vec3 a = add(center, random_point(seed, i / 2 * 2, 1));
        struct vec3 b = add(a, random_point(seed + 1, i / 2 * 2, extent));
        struct vec3 c = add(a, random_point(seed + 2, i / 2 * 2, extent));
        test_triangle(s, m, a, b, c);
    }
    for (uint32_t i = 0; i < n / 4; i++) {
        double u[4];
        test_numbers(seed + 3, i / 2 * 2, u);
        test_sphere(s, m, add(center, random_point(seed + 4, i / 2 * 2, 1)), extent * u[0] / 2);
    }
    for (uint32_t i = 0; i < n / 4; i++) {
        double u[4];
        test_numbers(seed + 5, i / 2 * 2, u);
        test_disk(s, m, add(center, random_point(seed + 6, i / 2 * 2, 1)),
                  random_direction(seed + 7, i / 2 * 2), extent * u[0]);
    }
    return s;
}

static uint32_t compare(const struct reference *r, struct vec3 o, struct vec3 d, double t_max)
{
    struct reference_hit brute, embree;
    double from[3], along[3];
    to_double(o, from), to_double(d, along);
    reference_hit_brute(r, from, along, t_max, &brute);
    reference_hit_closest(r, from, along, t_max, &embree);
    if (memcmp(&brute, &embree, sizeof brute) != 0)
        fail_msg(
            "from %.17g %.17g %.17g along %.17g %.17g %.17g: brute force %u at %.17g, Embree %u at "
            "%.17g",
            o.x, o.y, o.z, d.x, d.y, d.z, brute.primitive, brute.t, embree.primitive, embree.t);
    struct probe p = probe_make((struct ray){o, d});
    assert_int_equal(candidates_any(r->candidates, &p, t_max), brute.primitive != NO_PRIMITIVE);
    return brute.primitive;
}

static void soup_rays(double extent, struct vec3 center, uint32_t rays)
{
    struct scene *s = soup(100, 256, extent, center);
    struct reference *r = test_open(s);
    uint32_t hits = 0;
    for (uint32_t i = 0; i < rays; i++) {
        /* from inside, from outside, and from very far */
        double distance = i % 3 == 0 ? 1 : i % 3 == 1 ? 4 : 1e6;
        struct vec3 target = add(center, random_point(50, i, 1));
        struct vec3 o = add(center, random_point(51, i, distance));
        double t_max = i % 5 == 0 ? distance : INFINITY;
        hits += compare(r, o, normalize(sub(target, o)), t_max) != NO_PRIMITIVE;
        /* along an axis, with zeros in the direction */
        struct vec3 axis = i % 2 ? vec3(0, i % 4 == 1 ? 1 : -1, 0) : vec3(0, 0, -1);
        compare(r, sub(target, scale(3, axis)), axis, INFINITY);
        /* exactly at a vertex, in the rounding of doubles */
        struct vec3 vertex = from_float(s->P[i % s->vertex_count]);
        compare(r, o, normalize(sub(vertex, o)), INFINITY);
    }
    print_message("extent %g: %u of %u rays hit\n", extent, hits, rays);
    assert_true(hits > rays / 500);
    reference_close(r);
    test_scene_free(s);
}

static void test_soup(void **state)
{
    (void)state;
    soup_rays(0.3, vec3(0, 0, 0), 6000);
    soup_rays(0.01, vec3(0, 0, 0), 6000);
    soup_rays(2, vec3(0, 0, 0), 3000);
    soup_rays(0.3, vec3(1000, -2000, 500), 6000);
}

/* A closed mesh with shared vertices: no ray from inside escapes, whatever edge it is aimed at. */
static void test_watertight(void **state)
{
    (void)state;
    enum { N = 12 };
    struct scene *s = test_scene_new();
    uint32_t m = test_diffuse(s, 0.5);
    struct vec3 p[N + 1][2 * N + 1];
    for (int j = 0; j <= N; j++)
        for (int i = 0; i <= 2 * N; i++)
            p[j][i] = vec3(sin(PI * j / N) * cos(PI * (i % (2 * N)) / N),
                           sin(PI * j / N) * sin(PI * (i % (2 * N)) / N), cos(PI * j / N));
    for (int i = 0; i <= 2 * N; i++) {
        p[0][i] = vec3(0, 0, 1);
        p[N][i] = vec3(0, 0, -1);
    }
    for (int j = 0; j < N; j++) {
        for (int i = 0; i < 2 * N; i++) {
            if (j > 0)
                test_triangle(s, m, p[j][i], p[j + 1][i], p[j][i + 1]);
            if (j < N - 1)
                test_triangle(s, m, p[j][i + 1], p[j + 1][i], p[j + 1][i + 1]);
        }
    }
    struct reference *r = test_open(s);
    for (uint32_t k = 0; k < 20000; k++) {
        double u[4];
        test_numbers(60, k, u);
        struct vec3 o = random_point(61, k, 0.4);
        const float(*P)[3] = (const float(*)[3])s->P;
        size_t at = (size_t)(u[0] * (double)s->triangle_count) * 3;
        struct vec3 a = from_float(P[at]), b = from_float(P[at + 1]);
        struct vec3 target = k % 4 == 0 ? a : lerp(a, b, u[1]); /* vertices and edges */
        struct vec3 d = normalize(sub(target, o));
        assert_int_not_equal(compare(r, o, d, INFINITY), NO_PRIMITIVE);
    }
    reference_close(r);
    test_scene_free(s);
}

struct long3 {
    long double x, y, z;
};

static struct long3 widen(struct vec3 v) { return (struct long3){v.x, v.y, v.z}; }

static struct long3 minus(struct long3 a, struct long3 b)
{
    return (struct long3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static struct long3 times(struct long3 a, struct long3 b) /* cross product */
{
    return (struct long3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static long double inner(struct long3 a, struct long3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

/* Moeller and Trumbore 1997: 0 for no hit; *margin: how near to an edge. */
static long double textbook_triangle(const struct vec3 v[3], struct vec3 o, struct vec3 d,
                                     long double *margin)
{
    struct long3 e1 = minus(widen(v[1]), widen(v[0])), e2 = minus(widen(v[2]), widen(v[0]));
    struct long3 p = times(widen(d), e2), t = minus(widen(o), widen(v[0])), q = times(t, e1);
    long double det = inner(e1, p), b1 = inner(t, p) / det, b2 = inner(widen(d), q) / det;
    *margin = fminl(b1, fminl(b2, 1 - b1 - b2));
    return *margin > 0 ? inner(e2, q) / det : 0;
}

/* The roots of t^2 + 2 b t + c, by the school formula. */
static long double textbook_sphere(struct vec3 c, double radius, struct vec3 o, struct vec3 d,
                                   long double *margin)
{
    struct long3 f = minus(widen(o), widen(c)), dir = widen(d);
    long double a = inner(dir, dir), b = inner(f, dir),
                k = inner(f, f) - (long double)radius * radius;
    *margin = b * b - a * k;
    if (*margin < 0)
        return 0;
    long double t0 = (-b - sqrtl(*margin)) / a, t1 = (-b + sqrtl(*margin)) / a;
    *margin = fminl(*margin, fminl(fabsl(t0), fabsl(t1)));
    return t0 > 0 ? t0 : t1 > 0 ? t1 : 0;
}

static long double textbook_disk(const struct disk *disk, struct vec3 o, struct vec3 d,
                                 long double *margin)
{
    struct long3 n = widen(from_float(disk->normal)), c = widen(from_float(disk->center));
    long double t = inner(minus(c, widen(o)), n) / inner(widen(d), n);
    struct long3 q = {o.x + t * d.x - c.x, o.y + t * d.y - c.y, o.z + t * d.z - c.z};
    long double r = disk->radius;
    *margin = r * r - inner(q, q);
    return t > 0 && *margin >= 0 ? t : 0;
}

static void test_textbook(void **state)
{
    (void)state;
    struct scene *s = soup(300, 64, 1, vec3(0, 0, 0));
    size_t compared[3] = {0};
    for (uint32_t i = 0; i < 200000; i++) {
        struct ray ray = {random_point(301, i, 2), random_direction(302, i)};
        struct probe p = probe_make(ray);
        uint32_t id = i % (uint32_t)scene_primitive_count(s);
        size_t kind = id < s->triangle_count ? 0 : id < s->triangle_count + s->sphere_count ? 1 : 2;
        struct crossing c;
        long double margin, t;
        if (kind == 0) {
            struct vec3 v[3];
            triangle_vertices(s, id, v);
            t = textbook_triangle(v, ray.o, ray.d, &margin);
        } else if (kind == 1) {
            const struct sphere *sphere = &s->spheres[id - s->triangle_count];
            t = textbook_sphere(from_float(sphere->center), (double)sphere->radius, ray.o, ray.d,
                                &margin);
        } else {
            t = textbook_disk(&s->disks[id - s->triangle_count - s->sphere_count], ray.o, ray.d,
                              &margin);
        }
        if (fabsl(margin) < 1e-9L || fabsl(t) > 1e6L)
            continue; /* too near an edge to say */
        bool hit = primitive_hit(s, id, &p, INFINITY, &c);
        assert_int_equal(hit, t > 0);
        if (!hit)
            continue;
        assert_true(fabsl(c.t - t) < 1e-9L * (1 + t));
        compared[kind]++;
        /* the surface point lies on the ray, and so does the normal's claim */
        struct hit h = hit_at(s, &p, &c);
        struct vec3 on_ray = add(ray.o, scale(c.t, ray.d));
        assert_true(length(sub(h.P, on_ray)) < 1e-6 * (1 + c.t)); /* disks: float32 normals */
        assert_true(fabs(length(h.Ng) - 1) < 1e-6);
    }
    for (int k = 0; k < 3; k++) {
        print_message("kind %d: %zu hits compared\n", k, compared[k]);
        assert_true(compared[k] > 300);
    }
    test_scene_free(s);
}

static void near(double v, double expected)
{
    if (!(fabs(v - expected) < 1e-7))
        fail_msg("%.12g, expected %.12g", v, expected);
}

/* Coordinates, normals and offsets where they can be seen at a glance. */
static void test_surface(void **state)
{
    (void)state;
    struct scene *s = test_scene_new();
    uint32_t m = test_diffuse(s, 0.5);
    test_triangle(s, m, vec3(0, 0, 0), vec3(4, 0, 0), vec3(0, 4, 0));
    test_triangle(s, m, vec3(10, 0, 0), vec3(14, 0, 0), vec3(10, 4, 0));
    test_sphere(s, m, vec3(0, 0, 10), 2);
    test_disk(s, m, vec3(20, 0, 0), vec3(0, 0, 1), 2);
    s->UV = arena_alloc(&s->arena, 6, sizeof *s->UV, 0);
    s->N = arena_alloc(&s->arena, 6, sizeof *s->N, 0);
    s->triangle_flags[1] = TRIANGLE_HAS_UV | TRIANGLE_HAS_NORMALS;
    for (int i = 0; i < 3; i++) {
        s->UV[3 + i][0] = (float)(5 + i);
        s->UV[3 + i][1] = (float)(7 * i);
        s->N[3 + i][2] = -1; /* against Ng: turned round */
    }
    s->N[4][0] = 1;
    struct reference *r = test_open(s);
    const double down[3] = {0, 0, -1}, up[3] = {0, 0, 1};
    struct reference_hit h;
    reference_hit_closest(r, (double[3]){1, 2, 5}, down, INFINITY, &h);
    assert_int_equal(h.primitive, 0);
    near(h.t, 5), near(h.uv[0], 0.25), near(h.uv[1], 0.5), near(h.Ng[2], 1), near(h.Ns[2], 1);
    near(h.P[0], 1), near(h.P[1], 2), near(h.P[2], 0);
    reference_hit_closest(r, (double[3]){1, 2, -5}, up, INFINITY, &h); /* from behind: the same */
    near(h.t, 5), near(h.Ng[2], 1);
    reference_hit_closest(r, (double[3]){11, 2, 5}, down, INFINITY, &h);
    assert_int_equal(h.primitive, 1); /* weights 1/4, 1/4, 1/2 */
    near(h.uv[0], 0.25 * 5 + 0.25 * 6 + 0.5 * 7), near(h.uv[1], 0.25 * 7 + 0.5 * 14);
    near(h.Ns[0], -0.25 / sqrt(1 + 0.0625)), near(h.Ns[2], 1 / sqrt(1 + 0.0625));
    for (int bent = 0; bent < 2; bent++) { /* counts from 2^-10 off right angles */
        for (int i = 3; i < 6; i++)
            s->N[i][0] = 1, s->N[i][2] = bent ? -0x1.1p-10F : -0x1p-11F;
        reference_hit_closest(r, (double[3]){11, 2, 5}, down, INFINITY, &h);
        near(h.Ns[0], bent ? -1 / sqrt(1 + 0x1.21p-20) : 0), near(h.Ns[2], bent ? 0x1.1p-10 : 1);
    }
    reference_hit_closest(r, (double[3]){-5, 0, 10}, (double[3]){1, 0, 0}, INFINITY, &h);
    assert_int_equal(h.primitive, 2);
    near(h.t, 3), near(h.Ng[0], -1), near(h.uv[0], 0.5), near(h.uv[1], 0.5);
    reference_hit_closest(r, (double[3]){0, 0, 10}, (double[3]){0, -1, 0}, INFINITY, &h);
    near(h.t, 2), near(h.uv[0], 0.75), near(h.Ng[1], -1); /* from inside; Ng stays outward */
    reference_hit_closest(r, (double[3]){0, 0, 10}, up, INFINITY, &h);
    near(h.uv[1], 1);
    reference_hit_closest(r, (double[3]){21, 1, 5}, down, INFINITY, &h);
    assert_int_equal(h.primitive, 3); /* frame about +z: s = (1, 0, 0), t = (0, 1, 0) */
    near(h.uv[0], 0.75), near(h.uv[1], 0.75), near(h.t, 5);
    reference_hit_closest(r, (double[3]){1, 2, 5}, down, 5, &h); /* t < t_max, strictly */
    assert_int_equal(h.primitive, NO_PRIMITIVE);
    reference_close(r);
    test_scene_free(s);

    struct vec3 P = offset_point(vec3(1, -8, 3), 2, vec3(0, 1, 0));
    near(P.y, -8 + 8 * 0x1p-19);
    assert_true(offset_point(vec3(1, -8, 3), 16, vec3(0, 1, 0)).y == -8 + 16 * 0x1p-19);
    assert_true(offset_point(vec3(0, 0, 0), 0, vec3(1, 0, 0)).x == 0x1p-39);
}

static void test_ties(void **state)
{
    (void)state;
    struct scene *s = test_scene_new();
    uint32_t m = test_diffuse(s, 0.5);
    for (int i = 0; i < 9; i++) /* nine times the same, under Embree's own order */
        test_quad(s, m, vec3(-1, -1, -3), vec3(2, 0, 0), vec3(0, 2, 0));
    for (int i = 0; i < 5; i++)
        test_sphere(s, m, vec3(0, 5, -3), 0.5);
    for (int i = 0; i < 5; i++)
        test_disk(s, m, vec3(5, 0, -3), vec3(0, 0, 1), 1);
    struct reference *r = test_open(s);
    assert_int_equal(compare(r, vec3(0.5, -0.25, 0), vec3(0, 0, -1), INFINITY), 0);
    assert_int_equal(compare(r, vec3(-0.5, 0.25, 0), vec3(0, 0, -1), INFINITY), 1);
    assert_int_equal(compare(r, vec3(0, 0, 0), vec3(0, 0, -1), INFINITY), 0); /* on the diagonal */
    assert_int_equal(compare(r, vec3(0, 5, 0), vec3(0, 0, -1), INFINITY), 18);
    assert_int_equal(compare(r, vec3(5, 0, 0), vec3(0, 0, -1), INFINITY), 23);
    assert_int_equal(compare(r, vec3(9, 9, 0), vec3(0, 0, -1), INFINITY), NO_PRIMITIVE);
    /* one after the other: a quad is two triangles, of which the ray meets the first */
    const double o[3] = {0.5, -0.25, 0}, d[3] = {0, 0, -1};
    struct reference_hit at, next;
    reference_hit_closest(r, o, d, INFINITY, &at);
    for (uint32_t i = 2; i < 18; i += 2, at = next) {
        reference_hit_next(r, o, d, &at, INFINITY, &next);
        assert_int_equal(next.primitive, i);
        assert_true(next.t == at.t);
    }
    reference_hit_next(r, o, d, &at, INFINITY, &next);
    assert_int_equal(next.primitive, NO_PRIMITIVE);
    reference_close(r);
    test_scene_free(s);
}

static void test_empty(void **state)
{
    (void)state;
    struct scene *s = test_scene_new();
    struct reference *r = test_open(s);
    assert_int_equal(compare(r, vec3(0, 0, 0), vec3(0, 0, -1), INFINITY), NO_PRIMITIVE);
    reference_close(r);
    reference_close(NULL);
    test_scene_free(s);
}

static void test_cancelled_build(void **state)
{
    (void)state;
    struct scene *s = soup(400, 1024, 0.1, vec3(0, 0, 0));
    struct reference *r = NULL;
    struct error err;
    cancel_requested = 1;
    enum status status = reference_open(s, &r, &err);
    cancel_requested = 0;
    assert_int_equal(status, STATUS_CANCELLED);
    assert_null(r);
    test_scene_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_textbook),
        cmocka_unit_test(test_surface),
        cmocka_unit_test(test_ties),
        cmocka_unit_test(test_soup),
        cmocka_unit_test(test_watertight),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_cancelled_build),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
