/* SPDX-License-Identifier: Apache-2.0 */
/* Hits of mode fast: what lies behind an edge that rounding leaves open may be met through it,
 * whatever its kind; what lies inside may not be missed, nor met where it is not. And the bounds
 * hold for the tests in floats, contracted or not. Decision margins, which other modes go by, are no
 * excuse for a hole or for what is behind a ray's end either. */
#include "base.h"
#include "scenes.h"
#include "steps/fast_hits.h"
#include "steps/margins.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* Down the axis z, in this order: a triangle with a corner on it, a triangle that is cut out, a disk,
 * a sphere and a wall. */
enum { TRIANGLE, HOLE, WALL, OTHER_WALL, SPHERE, DISK, NOTHING = -1 };
static const char text_of_bed[] =
    "{\"isophote\": 1, \"camera\": {\"origin\": [0, 2, 5], \"target\": [0, 0.5, 0], \"fov\": 40},"
    "\"materials\": {\"w\": {\"type\": \"diffuse\"},"
    "\"h\": {\"type\": \"diffuse\", \"opacity\": 0.25, \"alpha_mode\": \"mask\"}},"
    "\"objects\": [{\"type\": \"mesh\", \"material\": \"w\", \"vertices\": [[0, 0, 0], [1, -1, 0], "
    "[1, 1, 0]], \"triangles\": [[0, 1, 2]]},"
    "{\"type\": \"mesh\", \"material\": \"h\", \"vertices\": [[-3, -1, -0.5], [-2, -1, -0.5], "
    "[-2, 1, -0.5]], \"triangles\": [[0, 1, 2]]},"
    "{\"type\": \"mesh\", \"material\": \"w\", \"vertices\": [[-9, -9, -5], [9, -9, -5], [9, 8, "
    "-5], "
    "[-9, 8, -5]], \"triangles\": [[0, 1, 2], [0, 2, 3]]},"
    "{\"type\": \"disk\", \"material\": \"w\", \"center\": [0.125, 0, -1], \"normal\": [0, 0, 1], "
    "\"radius\": 0.5},"
    "{\"type\": \"sphere\", \"material\": \"w\", \"center\": [-0.25, 0, -3], \"radius\": 0.5}]}";

struct bed {
    struct scene *scene;
    struct reference *reference;
};

static int set_up(void **state)
{
    static struct bed b;
    struct error err = {0};
    if (scene_load_memory("bed.json", text_of_bed, strlen(text_of_bed), &b.scene, &err) !=
            STATUS_OK ||
        reference_open(b.scene, &b.reference, &err) != STATUS_OK)
        fail_msg("%s at %s", err.msg, err.path);
    *state = &b;
    return 0;
}

static int tear_down(void **state)
{
    struct bed *b = *state;
    reference_close(b->reference);
    scene_free(b->scene);
    return 0;
}

static const struct arithmetic opencl = {.divide = 5, .root = 6};

/* Of a ray down at (x, y) from z = 10, said to meet `primitive` at t. *missed: what it had to meet. */
static enum fast_hit judged(const struct bed *b, double x, double y, double t_max, int primitive,
                            double t, int *missed)
{
    const double o[3] = {x, y, 10}, d[3] = {0, 0, -1};
    struct reference_hit ref, h = {.primitive = UINT32_MAX};
    reference_hit_closest(b->reference, o, d, t_max, &ref);
    enum fast_hit judged = fast_hit_judge(&opencl, b->scene, b->reference, o, d, t_max,
                                          (uint32_t)primitive, t, &ref, &h);
    *missed = (int)h.primitive;
    return judged;
}

static void an_edge_is_open_to_what_is_behind(void **state)
{
    const struct {
        double x, y, t_max;
        int primitive;
        double t;
        enum fast_hit judged;
        int missed;
    } rows[] = {
        /* at the triangle's corner: it, or the disk behind, at its own distance alone */
        {0, 0, INFINITY, TRIANGLE, 10, FAST_HIT_STANDS, NOTHING},
        {0, 0, INFINITY, DISK, 11, FAST_HIT_STANDS, NOTHING},
        {0, 0, INFINITY, DISK, 11.001, FAST_HIT_ABSENT, NOTHING},
        {0, 0, 11, DISK, 11, FAST_HIT_ABSENT, NOTHING},
        /* but nothing behind the disk, and not nothing, unless the ray ends before */
        {0, 0, INFINITY, SPHERE, 13 - sqrt(0.1875), FAST_HIT_MISSES, DISK},
        {0, 0, INFINITY, OTHER_WALL, 15, FAST_HIT_MISSES, DISK},
        {0, 0, INFINITY, NOTHING, 0, FAST_HIT_MISSES, DISK},
        {0, 0, 10.5, NOTHING, 0, FAST_HIT_STANDS, NOTHING},
        /* inside the triangle: it alone */
        {0.25, 0, INFINITY, TRIANGLE, 10, FAST_HIT_STANDS, NOTHING},
        {0.25, 0, INFINITY, DISK, 11, FAST_HIT_MISSES, TRIANGLE},
        {0.25, 0, 10.5, NOTHING, 0, FAST_HIT_MISSES, TRIANGLE},
        {0.25, 0, INFINITY, TRIANGLE, 10.001, FAST_HIT_ABSENT, NOTHING},
        {-0.001, 0, INFINITY, TRIANGLE, 10, FAST_HIT_ABSENT, NOTHING},
        /* at the disk's rim, which the sphere is behind, and to both sides of it */
        {-0.375, 0, INFINITY, DISK, 11, FAST_HIT_STANDS, NOTHING},
        {-0.375, 0, INFINITY, SPHERE, 13 - sqrt(0.234375), FAST_HIT_STANDS, NOTHING},
        {-0.375, 0, INFINITY, OTHER_WALL, 15, FAST_HIT_MISSES, SPHERE},
        {-0.374, 0, INFINITY, SPHERE, 13 - sqrt(0.25 - 0.124 * 0.124), FAST_HIT_MISSES, DISK},
        {-0.376, 0, INFINITY, DISK, 11, FAST_HIT_ABSENT, NOTHING},
        /* at the sphere's rim, and to both sides */
        {-0.75, 0, INFINITY, SPHERE, 13, FAST_HIT_STANDS, NOTHING},
        {-0.75, 0, INFINITY, SPHERE, 12.9, FAST_HIT_ABSENT, NOTHING},
        {-0.75, 0, INFINITY, OTHER_WALL, 15, FAST_HIT_STANDS, NOTHING},
        {-0.749, 0, INFINITY, OTHER_WALL, 15, FAST_HIT_MISSES, SPHERE},
        {-0.751, 0, INFINITY, SPHERE, 13, FAST_HIT_ABSENT, NOTHING},
        /* its far side is behind its near side */
        {-0.5, 0, INFINITY, SPHERE, 13 - sqrt(0.1875), FAST_HIT_STANDS, NOTHING},
        {-0.5, 0, INFINITY, SPHERE, 13 + sqrt(0.1875), FAST_HIT_MISSES, SPHERE},
        /* a cut-out is met at its edge at most, and its hole is no gap */
        {-2.25, -0.5, INFINITY, HOLE, 10.5, FAST_HIT_HOLLOW, NOTHING},
        {-2.25, -0.5, INFINITY, OTHER_WALL, 15, FAST_HIT_STANDS, NOTHING},
        {-2.25, -0.5, INFINITY, NOTHING, 0, FAST_HIT_MISSES, OTHER_WALL},
        {-2, 0, INFINITY, HOLE, 10.5, FAST_HIT_STANDS, NOTHING},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int missed;
        enum fast_hit j = judged(*state, rows[i].x, rows[i].y, rows[i].t_max, rows[i].primitive,
                                 rows[i].t, &missed);
        if (j != rows[i].judged || missed != rows[i].missed)
            fail_msg("row %zu at (%g, %g): judged %d, missed %d", i, rows[i].x, rows[i].y, (int)j,
                     missed);
    }
}

/* From inside a sphere its far side is met, and nothing behind it. */
static void a_sphere_has_two_sides(void **state)
{
    const struct bed *b = *state;
    const double o[3] = {-0.25, 0, -3}, d[3] = {0, 0, -1};
    struct reference_hit ref, missed = {.primitive = UINT32_MAX};
    reference_hit_closest(b->reference, o, d, INFINITY, &ref);
    assert_int_equal(ref.primitive, SPHERE);
    assert_int_equal(
        fast_hit_judge(&opencl, b->scene, b->reference, o, d, INFINITY, SPHERE, 0.5, &ref, &missed),
        FAST_HIT_STANDS);
    assert_int_equal(fast_hit_judge(&opencl, b->scene, b->reference, o, d, INFINITY, SPHERE, 0.501,
                                    &ref, &missed),
                     FAST_HIT_ABSENT);
    assert_int_equal(fast_hit_judge(&opencl, b->scene, b->reference, o, d, INFINITY, OTHER_WALL, 2,
                                    &ref, &missed),
                     FAST_HIT_MISSES);
    assert_int_equal(missed.primitive, SPHERE);
}

static double margin(const struct bed *b, double x, double y, double t_max, int primitive)
{
    const double o[3] = {x, y, 10}, d[3] = {0, 0, -1};
    struct reference_hit ref;
    reference_hit_closest(b->reference, o, d, t_max, &ref);
    return margin_hit(&opencl, b->scene, b->reference, o, d, t_max, (uint32_t)primitive, &ref);
}

static void margins_are_of_what_is_met(void **state)
{
    const struct bed *b = *state;
    assert_true(margin(b, -2.25, -0.5, INFINITY, HOLE) > 1);
    assert_true(margin(b, -3.5, 0, 14, OTHER_WALL) > 1);
    assert_true(margin(b, -3.5, 0, 14.999, OTHER_WALL) > 1);
    assert_true(margin(b, -3.5, 0, 15, OTHER_WALL) <= 1); /* 0 < t < t_max, by rounding */
    assert_true(margin(b, 0, 0, INFINITY, DISK) <= 1);    /* beside the corner */
    assert_true(margin(b, 0.25, 0, INFINITY, DISK) > 1);
    assert_true(margin(b, 0, 0, INFINITY, SPHERE) > 1);
}

/* Far from the origin a shift within the bound, here 0.95, crosses many small faces: squares an eighth
 * wide, beside each other as the ray sees them, at depths that rounding cannot swap. Two of them lie
 * deeper than all others, so that only a small shift comes from one to the other. */
static void margins_find_what_is_smaller_than_they(void **state)
{
    enum { CELLS = 9, MIDDLE = CELLS / 2, HERE = MIDDLE * CELLS + MIDDLE };
    static const double far = 1e6, wide = 0.125;
    struct text t = {0};
    struct bed b;
    struct error err = {0};
    (void)state;
    text_puts(&t, "{\"isophote\": 1, \"camera\": {\"origin\": [0, 2, 5], \"target\": [0, 0, 0], "
                  "\"fov\": 40}, \"materials\": {\"w\": {\"type\": \"diffuse\"}}, \"objects\": [");
    for (int i = 0; i < CELLS * CELLS; i++)
        text_printf(
            &t,
            "{\"type\": \"rectangle\", \"material\": \"w\", \"transform\": [{\"scale\": %g}, "
            "{\"translate\": [%.10g, %g, %d]}]}, ",
            wide / 2, far + i % CELLS * wide, i / CELLS * wide,
            i == HERE       ? -800
            : i == HERE + 1 ? -700
                            : -100);
    text_puts(&t, "{\"type\": \"sphere\", \"material\": \"w\", \"radius\": 1}]}");
    if (scene_load_memory("far.json", t.data, t.len, &b.scene, &err) != STATUS_OK ||
        reference_open(b.scene, &b.reference, &err) != STATUS_OK)
        fail_msg("%s at %s", err.msg, err.path);
    const double x = far + MIDDLE * wide + 0.01, y = MIDDLE * wide; /* in the middle one's half */
    assert_true(margin(&b, x, y, INFINITY, 2 * HERE) == 0);
    assert_true(margin(&b, x, y, INFINITY, 2 * HERE + 2) <= 0.25);
    assert_true(margin(&b, x + wide, y, INFINITY, 2 * HERE) <= 0.25);
    assert_true(margin(&b, x, y, INFINITY, NOTHING) <= 1); /* half of them are 0.56 wide */
    assert_true(margin(&b, x - 2, y, INFINITY, 2 * HERE) > 1);
    reference_close(b.reference);
    scene_free(b.scene);
    text_free(&t);
}

/* ---- the tests in floats ----------------------------------------------------------------------- */

static float dot(const float a[3], const float b[3], bool contracted)
{
    return contracted ? fmaf(a[2], b[2], fmaf(a[1], b[1], a[0] * b[0]))
                      : (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2];
}
static void cross(float out[3], const float a[3], const float b[3], bool contracted)
{
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        float behind = a[k] * b[j];
        out[i] = contracted ? fmaf(a[j], b[k], -behind) : a[j] * b[k] - behind;
    }
}
static void from(float out[3], const float a[3], const float b[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = a[i] - b[i];
}

/* t and, of triangles, both coordinates, as JGT 1997 and the protocol have the tests. */
static void triangle_floats(const struct scene *s, uint32_t id, const float o[3], const float d[3],
                            bool contracted, float out[3])
{
    float e1[3], e2[3], p[3], q[3], at[3];
    const float *v0 = s->P[s->triangles[id][0]];
    from(e1, s->P[s->triangles[id][1]], v0);
    from(e2, s->P[s->triangles[id][2]], v0);
    from(at, o, v0);
    cross(p, d, e2, contracted);
    cross(q, at, e1, contracted);
    float inverse = 1 / dot(e1, p, contracted);
    out[0] = dot(e2, q, contracted) * inverse;
    out[1] = dot(at, p, contracted) * inverse;
    out[2] = dot(d, q, contracted) * inverse;
}
static float sphere_float(const struct sphere *s, const float o[3], const float d[3],
                          bool contracted)
{
    float f[3], l[3];
    from(f, o, s->center);
    float b = -dot(f, d, contracted);
    for (int i = 0; i < 3; i++)
        l[i] = contracted ? fmaf(d[i], b, f[i]) : f[i] + d[i] * b;
    float disc = s->radius * s->radius - dot(l, l, contracted);
    float root = sqrtf(fmaxf(disc, 0)), q = b < 0 ? b - root : b + root;
    float p = (dot(f, f, contracted) - s->radius * s->radius) / q, first = fminf(p, q);
    return first > 0 ? first : fmaxf(p, q);
}
static float disk_float(const struct disk *k, const float o[3], const float d[3], bool contracted)
{
    float way[3];
    from(way, k->center, o);
    return dot(way, k->normal, contracted) / dot(d, k->normal, contracted);
}

static double unit(uint32_t *state) /* [-1, 1), of a linear congruence */
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) * 0x1p-23 - 1;
}

/* Rays from anywhere about at anything: none is off by more than its bound, and bounds are no more
 * than fifty times what is seen. */
static void bounds_hold_for_floats(void **state)
{
    const struct bed *b = *state;
    static const uint32_t of[] = {TRIANGLE, WALL, SPHERE, DISK};
    uint32_t seed = 1;
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        double worst = 0;
        for (int i = 0; i < 20000; i++) {
            float o[3], d[3], got[3] = {0};
            double from_o[3], along[3], size = 0;
            for (int c = 0; c < 3; c++) {
                o[c] = (float)(10 * unit(&seed));
                double aim = (c < 2 ? unit(&seed) : -2.5 + 2.5 * unit(&seed)) - (double)o[c];
                along[c] = aim;
                size += aim * aim;
            }
            for (int c = 0; c < 3; c++) {
                d[c] = (float)(along[c] / sqrt(size));
                from_o[c] = (double)o[c];
                along[c] = (double)d[c];
            }
            const struct fast_meeting m = fast_meet(&opencl, b->scene, of[k], from_o, along, 0);
            if (!(m.inside >= 0) || !(m.t > 0))
                continue;
            for (int contracted = 0; contracted < 2; contracted++) {
                if (of[k] == SPHERE)
                    got[0] = sphere_float(&b->scene->spheres[0], o, d, contracted);
                else if (of[k] == DISK)
                    got[0] = disk_float(&b->scene->disks[0], o, d, contracted);
                else
                    triangle_floats(b->scene, of[k], o, d, contracted, got);
                const double off[3] = {fabs((double)got[0] - m.t), fabs((double)got[1] - m.b[0]),
                                       fabs((double)got[2] - m.b[1])};
                const double bound[3] = {m.t_off, m.inside_off, m.inside_off};
                for (int c = 0; c < (of[k] < SPHERE ? 3 : 1); c++) {
                    if (!(off[c] <= bound[c]))
                        fail_msg("primitive %u, ray %d: %d is off by %g, bound %g", of[k], i, c,
                                 off[c], bound[c]);
                    worst = fmax(worst, off[c] / bound[c]);
                }
            }
        }
        if (!(worst > 0.02))
            fail_msg("primitive %u: the worst is %g of its bound", of[k], worst);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_edge_is_open_to_what_is_behind),
        cmocka_unit_test(a_sphere_has_two_sides),
        cmocka_unit_test(margins_are_of_what_is_met),
        cmocka_unit_test(margins_find_what_is_smaller_than_they),
        cmocka_unit_test(bounds_hold_for_floats),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
