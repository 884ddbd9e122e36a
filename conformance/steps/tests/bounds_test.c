/* SPDX-License-Identifier: Apache-2.0 */
/* What a device promises of division and roots, and that bounds follow it. */
#include "base.h"
#include "steps/bounds.h"
#include "steps/vector.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct arithmetic of(const char *api, enum math_mode mode)
{
    struct device_info d = {.id = "a device"};
    snprintf(d.api, sizeof d.api, "%s", api);
    return arithmetic_of(&d, mode);
}

static void promises(void **state)
{
    (void)state;
    static const struct {
        const char *api;
        double divide_ulp, root_ulp; /* in mode device; correctly rounded: half an ulp */
    } rows[] = {
        {"native", 0.5, 0.5}, {"cuda", 0.5, 0.5}, {"faulty", 0.5, 0.5},
        {"opencl", 2.5, 3},   {"hip", 2.5, 3},    {"level_zero", 2.5, 3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arithmetic strict = of(rows[i].api, MODE_STRICT),
                          device = of(rows[i].api, MODE_DEVICE);
        assert_true(strict.divide == 1 && strict.root == 1);
        /* an ulp of x is at most 2^-23 |x|, two units roundoff */
        assert_true(device.divide == 2 * rows[i].divide_ulp);
        assert_true(device.root == 2 * rows[i].root_ulp);
    }
}

/* A quotient of two numbers that are one rounding off each: three roundings where division is
 * correctly rounded, one for each number and five ulp halves on OpenCL. */
static void roundings_are_counted(void **state)
{
    (void)state;
    const struct arithmetic rounded = of("native", MODE_DEVICE), opencl = of("opencl", MODE_DEVICE);
    assert_true(roundings(&rounded, 3, 1, 0) == 3 * 0x1p-24);
    assert_true(roundings(&opencl, 3, 1, 0) == (2 + 5) * 0x1p-24);
    assert_true(roundings(&opencl, 3, 0, 1) == (2 + 6) * 0x1p-24);
}

/* The lobe of a smooth metal at a grazing angle, where NVIDIA's OpenCL was 5.9e-5 off: its bound
 * grows with the accuracy of division alone, and stays far below what a mistake does. */
static void bounds_follow_the_device(void **state)
{
    (void)state;
    const struct arithmetic rounded = of("cuda", MODE_DEVICE), opencl = of("opencl", MODE_DEVICE);
    const double z = 0.017, x = sqrt(1 - z * z), wo[3] = {x, 0, z}, wi[3] = {-x, 0, z};
    struct ggx_bounds tight = ggx_bounds(&rounded, 0.09, wo, wi),
                      loose = ggx_bounds(&opencl, 0.09, wo, wi);
    assert_true(loose.density > tight.density && loose.density < 0.01);
    assert_true(loose.half > tight.half && loose.half < 1e-4);
    assert_true(loose.sampled_density > tight.sampled_density && loose.sampled_density < 0.01);
    assert_true(bsdf_roundings(&rounded) == 96 * 0x1p-24);
    assert_true(bsdf_roundings(&opencl) > 5.9e-6 && bsdf_roundings(&opencl) < 1e-4);

    /* h straight up, root alpha: D's own 32 roundings, and twice 8 / (s sqrt(q)) of the sum */
    const double up[3] = {0, 0, 1};
    struct ggx_bounds b = ggx_bounds(&rounded, 0.5, up, up);
    assert_true(fabs(b.density / 0x1p-24 - (32 + 2 * 2 * 8 / (2 * 0.5))) < 1e-9);
    assert_true(fabs(b.half / 0x1p-24 - 8) < 1e-9);
    b = ggx_bounds(&rounded, 1, up, up); /* no such lobe */
    assert_true(b.density == 0 && b.half == 0 && b.sampled_density == 0);
}

/* What an opacity below 1 lets straight through has no facet between its directions: h = 0 of what
 * is reflected. Bounds are numbers all the same, whatever the indices. */
static void straight_through_has_bounds(void **state)
{
    (void)state;
    const struct arithmetic rounded = of("native", MODE_DEVICE);
    const double uv[2] = {0.5, 0.5}, wo[3] = {-0.6, 0, 0.8}, wi[3] = {0.6, 0, -0.8};
    static const float indices[] = {1, 1.00005F, 1.0002F, 1.5F, 0.7F};
    for (size_t i = 0; i < sizeof indices / sizeof *indices; i++) {
        struct material m = {.type = MATERIAL_PRINCIPLED,
                             .base = {{0.5F, 0.5F, 0.5F}, -1},
                             .roughness = {.value = 0.03F, .texture = -1},
                             .ior = {.value = indices[i], .texture = -1},
                             .alpha_mode = ALPHA_BLEND,
                             .opacity = {.value = 0.5F, .texture = -1}};
        const struct scene s = {.materials = &m, .material_count = 1};
        assert_true(material_is_list(&m));
        for (int entering = 0; entering <= 1; entering++) {
            struct ggx_bounds b = scatter_bounds(&rounded, &s, 0, uv, entering, wo, wi);
            assert_true(b.density >= 0 && b.density <= 1);
            assert_true(b.sampled_density >= 0);
            assert_true(b.half >= 0 && isfinite(b.half));
        }
    }
}

/* G2 / G1 of GGX, Smith's with correlated heights, as Heitz gives it by Lambda (JCGT 3(2), 2014).
 */
static double masking(double alpha, const double wo[3], const double wi[3])
{
    double lambda[2];
    for (int i = 0; i < 2; i++) {
        double z = i ? wi[2] : wo[2], tan2 = (1 - z * z) / (z * z);
        lambda[i] = (sqrt(1 + alpha * alpha * tan2) - 1) / 2;
    }
    return (1 + lambda[0]) / (1 + lambda[0] + lambda[1]);
}

/* A facet that is off by as much as it may be moves the weight of a grazing direction by no more
 * than `grazing`, and by a tenth of that somewhere. */
static void grazing_weights(void **state)
{
    (void)state;
    const struct arithmetic rounded = of("native", MODE_DEVICE);
    const double uv[2] = {0.5, 0.5}, wo[3] = {0.6, 0, 0.8};
    double most = 0;
    struct material m = {.type = MATERIAL_ROUGH_CONDUCTOR,
                         .roughness = {.value = 0.6F, .texture = -1},
                         .ior = {.value = 1.5F, .texture = -1},
                         .eta = {1, 1, 1},
                         .k = {3, 3, 3}};
    const struct scene s = {.materials = &m, .material_count = 1};
    for (double z = 0.0005; z < 1; z *= 1.5) {
        const double wi[3] = {sqrt(1 - z * z), 0, z};
        struct ggx_bounds b = scatter_bounds(&rounded, &s, 0, uv, true, wo, wi);
        for (int sign = -1; sign <= 1; sign += 2) { /* turning h turns wi twice as much */
            double angle = asin(z) + sign * 2 * b.half;
            const double moved[3] = {cos(angle), 0, sin(angle)};
            double off = fabs(masking(0.36, wo, moved) / masking(0.36, wo, wi) - 1);
            assert_true(off <= b.grazing * (1 + 1e-3));
            most = fmax(most, off / b.grazing);
        }
    }
    assert_true(most > 0.1);
}

/* Index 1 reflects nothing, float32 a little: F of section 7 with 1 - c c and the root rounded. Not
 * so index 1.5, where roundings are relative. */
static void faint_reflections(void **state)
{
    (void)state;
    const struct arithmetic rounded = of("native", MODE_DEVICE);
    const double uv[2] = {0.5, 0.5};
    struct material m = {.type = MATERIAL_ROUGH_DIELECTRIC,
                         .roughness = {.value = 0.9F, .texture = -1},
                         .ior = {.value = 1, .texture = -1},
                         .opacity = {.value = 1, .texture = -1}};
    const struct scene s = {.materials = &m, .material_count = 1};
    double most = 0;
    for (int i = 1; i < 1000; i++) {
        float c = (float)i / 1000, ct = sqrtf(1 - (1 - c * c));
        float r = (c - ct) / (c + ct);
        double angle = acos((double)c);
        const double wo[3] = {sin(angle), 0, (double)c}, wi[3] = {-wo[0], 0, wo[2]};
        struct ggx_bounds b = scatter_bounds(&rounded, &s, 0, uv, true, wo, wi);
        assert_true(b.faint > 0 && (double)(r * r) / 0.05 <= b.faint);
        most = fmax(most, (double)(r * r));
        m.ior.value = 1.5F;
        assert_true(scatter_bounds(&rounded, &s, 0, uv, true, wo, wi).faint == 0);
        m.ior.value = 1;
    }
    assert_true(most > 0);
}

/* Section 16's reflectance of a metal, step by step; `real` float or double. */
#define METAL(real, root, name)                                                                    \
    static real name(real c, real eta, real k)                                                     \
    {                                                                                              \
        real c2 = c * c, s2 = 1 - c2, t0 = eta * eta - k * k - s2;                                 \
        real ab = root(t0 * t0 + 4 * (eta * eta) * (k * k));                                       \
        real q = root((ab + (t0 < 0 ? -t0 : t0)) / 2), a = t0 < 0 ? eta * k / q : q;               \
        real t1 = ab + c2, t2 = 2 * a * c, rs = (t1 - t2) / (t1 + t2);                             \
        real t3 = c2 * ab + s2 * s2, t4 = t2 * s2;                                                 \
        return (rs + rs * ((t3 - t4) / (t3 + t4))) / 2;                                            \
    }
METAL(float, sqrtf, metal_float)
METAL(double, sqrt, metal_double)

/* What float32 makes of it stays within the bound, which is no hundred times what happens where
 * next to nothing is reflected, and small where metals are. */
static void faint_metals(void **state)
{
    (void)state;
    const struct arithmetic rounded = of("native", MODE_DEVICE);
    static const float indices[][2] = {{1, 0.001F},     {1, 0},       {0.999F, 0.003F},
                                       {1.002F, 0.05F}, {0.2F, 3.5F}, {1.5F, 4}};
    for (size_t r = 0; r < sizeof indices / sizeof *indices; r++) {
        const float eta = indices[r][0], k = indices[r][1];
        const double eta3[3] = {(double)eta, (double)eta, (double)eta};
        const double k3[3] = {(double)k, (double)k, (double)k};
        double most = 0;
        for (int i = 1; i < 1000; i++) {
            float c = (float)i / 1000;
            double s = sqrt(1 - (double)c * (double)c), F = metal_double(c, eta, k);
            const double wo[3] = {s, 0, (double)c}, wi[3] = {-s, 0, (double)c};
            double bound = conductor_reflectance(&rounded, eta3, k3, wo, wi);
            double off = fabs((double)metal_float(c, eta, k) - F);
            assert_true(off <= bound);
            assert_true(r < 4 || bound < 2e-5);
            most = fmax(most, off / bound);
        }
        assert_true(most > 0.01);
    }
}

/* Places in textures by section 14's float32 against double: where scale, offset and turn make much
 * of roundings, the lookup stays within what texture_steps moves it by, and no multiple of it is
 * needed. */
static void places_in_textures(void **state)
{
    (void)state;
    static float texels[64];
    for (int i = 0; i < 64; i++)
        texels[i] = (float)((37 * i) % 64) / 64;
    static const struct {
        float scale[2], offset[2], turn[2];
    } rows[] = {{{1, 1}, {0, 0}, {0, 0}},
                {{0.05F, 0.3F}, {0, 0}, {0, 0}},
                {{20, -7}, {0.3F, 1000.25F}, {0, 0}},
                {{-3.4F, 0.12F}, {0.67F, 1000.25F}, {0.6F, 0.8F}},
                {{0.1F, 15}, {-2.8F, -1.5F}, {-0.28F, 0.96F}}};
    double largest = 0;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        struct texture t = {.image = {8, 8, 1, TEXEL_F32, false, texels}};
        memcpy(t.scale, rows[r].scale, sizeof t.scale);
        memcpy(t.offset, rows[r].offset, sizeof t.offset);
        memcpy(t.turn, rows[r].turn, sizeof t.turn);
        for (int i = 0; i < 1000; i++) {
            float u = (float)(i % 31) / 7 - 2, v = (float)(i % 37) / 9 - 2;
            float a = t.scale[0] * u, b = t.scale[1] * v, c = t.turn[0], s = t.turn[1];
            bool turned = c != 0 || s != 0;
            float x = ((turned ? c * a - s * b : a) + t.offset[0]) * 8 - 0.5F;
            float y = (1 - ((turned ? s * a + c * b : b) + t.offset[1])) * 8 - 0.5F;
            /* that place, looked up without a transform */
            struct texture plain = t;
            const double place[2] = {((double)x + 0.5) / 8, 1 - ((double)y + 0.5) / 8};
            const double uv[2] = {(double)u, (double)v};
            double step[2], here[4], moved[4], expected[4], room = 1e-9;
            plain.scale[0] = plain.scale[1] = 1;
            plain.offset[0] = plain.offset[1] = plain.turn[0] = plain.turn[1] = 0;
            texture_value(&plain, place, here);
            texture_value(&t, uv, expected);
            texture_steps(&t, uv, step);
            for (int k = 0; k < 2; k++) {
                double most = 0;
                for (int sign = -1; sign <= 1; sign += 2) {
                    double at[2] = {uv[0], uv[1]};
                    at[k] += sign * step[k];
                    texture_value(&t, at, moved);
                    most = fmax(most, fabs(moved[0] - expected[0]));
                }
                room += most;
            }
            assert_true(fabs(here[0] - expected[0]) <= room);
            largest = fmax(largest, fabs(here[0] - expected[0]) / room);
        }
    }
    assert_true(largest > 0.1); /* the bound is no ten times what happens */
}

/* ---- distances of triangles from near ----------------------------------------------------------- */

/* a b - c d: as it is, and contracted in either way. */
static float crossed(float a, float b, float c, float d, int how)
{
    const float ab = a * b, cd = c * d;
    return how == 0 ? ab - cd : how == 1 ? fmaf(a, b, -cd) : -fmaf(c, d, -ab);
}
static float summed(const float a[3], const float b[3], int how)
{
    const float x = a[0] * b[0], y = a[1] * b[1], z = a[2] * b[2];
    return how == 0 ? (x + y) + z : fmaf(a[2], b[2], how == 1 ? fmaf(a[1], b[1], x) : x + y);
}
/* Section 4's distance along the plane's normal. */
static float plane_float(float v[3][3], const float o[3], const float d[3], int how)
{
    float e1[3], e2[3], to[3], n[3];
    for (int k = 0; k < 3; k++) {
        e1[k] = v[1][k] - v[0][k];
        e2[k] = v[2][k] - v[0][k];
        to[k] = v[0][k] - o[k];
    }
    for (int k = 0; k < 3; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        n[k] = crossed(e1[i], e2[j], e1[j], e2[i], how);
    }
    return summed(to, n, how) / summed(d, n, how);
}

static double unit(uint32_t *state) /* [-1, 1), of a linear congruence */
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) * 0x1p-23 - 1;
}

enum { TRIANGLES = 64 };
/* Triangles down to slivers a thousand times as long as wide, whose normals turn most. */
static struct scene *slivers(float v[TRIANGLES][3][3], uint32_t *seed)
{
    char text[32768];
    size_t n = 0;
    n += (size_t)snprintf(
        text, sizeof text,
        "{\"isophote\": 1, \"camera\": {\"origin\": [0, 0, 9], \"target\": [0, 0, 0]}, "
        "\"materials\": {\"m\": "
        "{\"type\": \"diffuse\"}}, \"objects\": [{\"type\": \"mesh\", \"material\": "
        "\"m\", \"vertices\": [");
    for (int i = 0; i < TRIANGLES; i++) {
        const double width = pow(10, -3.0 * i / TRIANGLES);
        for (int k = 0; k < 3; k++) {
            v[i][0][k] = (float)unit(seed);
            v[i][1][k] = (float)unit(seed);
            v[i][2][k] = (float)((double)v[i][1][k] + width * unit(seed));
        }
        for (int c = 0; c < 3; c++)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s[%.9g, %.9g, %.9g]",
                                  i + c ? ", " : "", (double)v[i][c][0], (double)v[i][c][1],
                                  (double)v[i][c][2]);
    }
    n += (size_t)snprintf(text + n, sizeof text - n, "], \"triangles\": [");
    for (int i = 0; i < TRIANGLES; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s[%d, %d, %d]", i ? ", " : "", 3 * i,
                              3 * i + 1, 3 * i + 2);
    n += (size_t)snprintf(text + n, sizeof text - n, "]}]}");
    struct scene *scene;
    struct error err = {0};
    if (scene_load_memory("slivers.json", text, n, &scene, &err) != STATUS_OK)
        fail_msg("%s at %s", err.msg, err.path);
    return scene;
}

/* Edges from the first corner, and their cross product. */
static void edges_of(float v[3][3], double e1[3], double e2[3], double normal[3])
{
    double corner[3];
    vec_load(corner, v[0]);
    vec_load(e1, v[1]);
    vec_load(e2, v[2]);
    vec_madd(e1, e1, -1, corner);
    vec_madd(e2, e2, -1, corner);
    vec_cross(normal, e1, e2);
}

/* Rays from near slivers: none is off by more than its bound, which is no more than fifty times what
 * is seen. */
static void near_distances_have_bounds(void **state)
{
    (void)state;
    enum { RAYS = 200 };
    const struct arithmetic rounded = of("native", MODE_DEVICE);
    float v[TRIANGLES][3][3];
    uint32_t seed = 7;
    struct scene *scene = slivers(v, &seed);
    double worst = 0;
    for (uint32_t i = 0; i < TRIANGLES; i++)
        for (int ray = 0; ray < RAYS; ray++) {
            double e1[3], e2[3], normal[3], P[3], to[3], from[3], along[3];
            const double b1 = (unit(&seed) + 1) / 2, b2 = (1 - b1) * (unit(&seed) + 1) / 2;
            const double near = 0.01 * (unit(&seed) + 1);
            float o[3], d[3];
            edges_of(v[i], e1, e2, normal);
            for (int k = 0; k < 3; k++)
                along[k] = unit(&seed);
            const double length = vec_length(along);
            for (int k = 0; k < 3; k++) {
                d[k] = (float)(along[k] / length);
                along[k] = (double)d[k];
                o[k] = (float)((double)v[i][0][k] + b1 * e1[k] + b2 * e2[k] - near * along[k]);
                from[k] = (double)o[k];
                to[k] = (double)v[i][0][k] - from[k];
            }
            const double area = vec_length(normal), falls = vec_dot(along, normal);
            const double t = vec_dot(to, normal) / falls;
            double least = INFINITY, farthest = -INFINITY;
            const int axis = fabsf(d[0]) >= fmaxf(fabsf(d[1]), fabsf(d[2])) ? 0
                             : fabsf(d[1]) >= fabsf(d[2])                   ? 1
                                                                            : 2;
            for (int c = 0; c < 3; c++) {
                const double z = ((double)v[i][c][axis] - from[axis]) / along[axis];
                least = fmin(least, z);
                farthest = fmax(farthest, z);
            }
            if (!(t > 0 && t < (farthest - least) / 16) || fabs(falls) < 0.1 * area)
                continue;
            for (int k = 0; k < 3; k++) {
                P[k] = from[k] + t * along[k];
                normal[k] /= area;
            }
            struct hit_bounds b;
            hit_bounds(&rounded, scene, i, from, along, t, P, normal, &b);
            for (int how = 0; how < 3; how++) {
                const double off = fabs((double)plane_float(v[i], o, d, how) - t);
                if (!(off <= b.t))
                    fail_msg("triangle %u, ray %d: t %g is off by %g, bound %g", i, ray, t, off,
                             b.t);
                worst = fmax(worst, off / b.t);
            }
        }
    if (!(worst > 0.02))
        fail_msg("the worst is %g of its bound", worst);
    scene_free(scene);
}

/* Section 14's cosine of a triangle's point as seen from o, all in float. */
static float cosine_float(float v[3][3], const float o[3], float b1, float b2, int how)
{
    float e1[3], e2[3], n[3], d[3];
    for (int k = 0; k < 3; k++) {
        const float a = v[0][k] * ((1 - b1) - b2), b = v[1][k] * b1, c = v[2][k] * b2;
        const float at = how == 0 ? (a + b) + c : fmaf(v[2][k], b2, fmaf(v[1][k], b1, a));
        e1[k] = v[1][k] - v[0][k];
        e2[k] = v[2][k] - v[0][k];
        d[k] = at - o[k];
    }
    for (int k = 0; k < 3; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        n[k] = crossed(e1[i], e2[j], e1[j], e2[i], how);
    }
    const float area = 1 / sqrtf(summed(n, n, how)), near = 1 / sqrtf(summed(d, d, how));
    for (int k = 0; k < 3; k++) {
        n[k] *= area;
        d[k] *= near;
    }
    return summed(n, d, how);
}

/* Slivers that emit, seen from nearly their planes: no cosine is off by more than its bound, which
 * is no more than fifty times what is seen. */
static void edge_on_cosines_have_bounds(void **state)
{
    (void)state;
    enum { POINTS = 500 };
    const struct arithmetic rounded = of("native", MODE_DEVICE);
    float v[TRIANGLES][3][3];
    uint32_t seed = 11;
    struct scene *scene = slivers(v, &seed);
    double worst = 0;
    for (uint32_t i = 0; i < TRIANGLES; i++)
        for (int point = 0; point < POINTS; point++) {
            double e1[3], e2[3], n[3], d[3], corner[3], from[3], seen;
            const double b1 = (unit(&seed) + 1) / 2, b2 = (1 - b1) * (unit(&seed) + 1) / 2;
            const float f1 = (float)b1, f2 = (float)b2;
            const double x = 3 * unit(&seed), y = 3 * unit(&seed), off = 1e-5 * unit(&seed);
            float o[3];
            edges_of(v[i], e1, e2, n);
            vec_normalize(n);
            vec_load(corner, v[i][0]);
            for (int k = 0; k < 3; k++)
                o[k] = (float)(corner[k] + x * e1[k] + y * e2[k] + off * n[k]);
            vec_load(from, o);
            vec_madd(d, corner, (double)f1, e1);
            vec_madd(d, d, (double)f2, e2);
            vec_madd(d, d, -1, from);
            const double length = vec_length(d);
            vec_scale(d, 1 / length, d);
            const double cosine = vec_dot(n, d);
            const double error = emitter_cosine_error(&rounded, scene, i, from, d, length, &seen);
            assert_true(fabs(seen - fabs(cosine)) <= 1e-9);
            for (int how = 0; how < 3; how++) {
                const double is = (double)cosine_float(v[i], o, f1, f2, how);
                if (!(fabs(is - cosine) <= error))
                    fail_msg("triangle %u, point %d: cosine %g is off by %g, bound %g", i, point,
                             cosine, is - cosine, error);
                worst = fmax(worst, fabs(is - cosine) / error);
            }
        }
    if (!(worst > 0.02))
        fail_msg("the worst is %g of its bound", worst);
    scene_free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(promises),
        cmocka_unit_test(roundings_are_counted),
        cmocka_unit_test(bounds_follow_the_device),
        cmocka_unit_test(straight_through_has_bounds),
        cmocka_unit_test(near_distances_have_bounds),
        cmocka_unit_test(edge_on_cosines_have_bounds),
        cmocka_unit_test(grazing_weights),
        cmocka_unit_test(faint_reflections),
        cmocka_unit_test(faint_metals),
        cmocka_unit_test(places_in_textures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
