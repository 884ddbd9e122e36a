/* SPDX-License-Identifier: Apache-2.0 */
/* few_exact.h against the test of one triangle after the other: what the filter and the test in
 * lanes are sure of has its bits, for rays that are made to be hard. */
#define K_MODE     0
#define K_FEATURES 0u
#include "trace/few_exact.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t state = 1;
static double drawn(void) /* -1 .. 1 */
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) * 0x1p-52 - 1;
}
static uint drawn_below(uint n) { return (uint)((drawn() + 1) * 0.5 * n) % n; }

/* ---- scenes: eight blocks of eight triangles below one node ---------------------------------- */

static struct tree {
    struct k_scene sc;
    struct k_launch launch;
    float node[K_NODE8_WORDS] __attribute__((aligned(64)));
    float blocks[8 * K_BLOCK_WORDS] __attribute__((aligned(64)));
    struct k_exact few;
    uint count;
    double scale, shift;
} T;

static void corner_put(uint triangle, uint corner, const float *v)
{
    float *b = T.blocks + K_BLOCK_WORDS * (triangle / 8) + triangle % 8;
    for (uint i = 0; i < 3; i++)
        b[24 * corner + 8 * i] = v[i];
}
static struct k_triangle triangle_of(uint id)
{
    return k_block_triangle(T.blocks + K_BLOCK_WORDS * (id / 8) + id % 8);
}

/* Two triangles from any of their corners, wound either way: a parallelogram, unless `off`. */
static void pair_put(const float v[4][3])
{
    for (uint half = 0; half < 2; half++) {
        const uint turn = drawn_below(3), wound = drawn_below(2);
        const uint at[3] = {half ? 3 : 0, wound ? 2 : 1, wound ? 1 : 2};
        for (uint i = 0; i < 3; i++)
            corner_put(T.count, i, v[at[(turn + i) % 3]]);
        T.count++;
    }
}
static void pair_at(const double *o, const double *e1, const double *e2, double off)
{
    float v[4][3];
    for (uint i = 0; i < 3; i++) {
        v[0][i] = (float)(T.scale * (T.shift + o[i]));
        v[1][i] = (float)(T.scale * (T.shift + o[i] + e1[i]));
        v[2][i] = (float)(T.scale * (T.shift + o[i] + e2[i]));
        v[3][i] = (float)((double)v[1][i] + v[2][i] - v[0][i] + off * T.scale);
    }
    pair_put(v);
}

enum { SOUP, BOXES, ROOM, THIN, KINDS };
static void soup_add(uint pairs, double size)
{
    for (uint p = 0; p < pairs; p++) {
        double o[3], e1[3], e2[3];
        for (uint i = 0; i < 3; i++) {
            o[i] = drawn();
            e1[i] = size * drawn();
            e2[i] = size * drawn();
        }
        pair_at(o, e1, e2, p % 3 == 1 ? 0.01 : 0);
    }
}
/* A box about the vertical by an angle: faces share edges, and may lie in each other's planes. */
static void box_add(const double *at, const double *half, double angle)
{
    const double c = cos(angle), s = sin(angle);
    const double axes[3][3] = {
        {c * half[0], 0, -s * half[0]}, {0, half[1], 0}, {s * half[2], 0, c * half[2]}};
    for (uint face = 0; face < 6; face++) {
        const double *n = axes[face / 2], *a = axes[(face / 2 + 1) % 3],
                     *b = axes[(face / 2 + 2) % 3];
        double o[3], e1[3], e2[3];
        for (uint i = 0; i < 3; i++) {
            o[i] = at[i] + (face & 1 ? n[i] : -n[i]) - a[i] - b[i];
            e1[i] = 2 * a[i];
            e2[i] = 2 * b[i];
        }
        pair_at(o, e1, e2, 0);
    }
}
static void scene_make(uint kind, double scale, double shift)
{
    memset(&T, 0, sizeof T);
    T.scale = scale;
    T.shift = shift;
    static const double middle[3] = {0, 0, 0}, whole[3] = {1, 1, 1};
    if (kind == ROOM || kind == BOXES)
        box_add(middle, whole, kind == ROOM ? 0 : 0.3);
    if (kind == ROOM || kind == BOXES)
        for (uint i = 0; i < 4; i++) {
            const double half[3] = {0.15 + 0.1 * drawn(), 0.3 + 0.1 * drawn(), 0.2 + 0.1 * drawn()};
            const double at[3] = {0.6 * drawn(), half[1] - 1, 0.6 * drawn()}; /* on the floor */
            box_add(at, half, 3 * drawn());
        }
    else
        soup_add(kind == SOUP ? 32 : 20, kind == SOUP ? 0.7 : 0.2);
    if (kind == THIN)
        for (uint i = 0; i < 12; i++) {
            const double o[3] = {drawn(), drawn(), drawn()}, e1[3] = {drawn(), drawn(), drawn()};
            const double e2[3] = {e1[0] + 0.2 * drawn(), e1[1], e1[2] + 0.2 * drawn()};
            if (i % 4 == 0)
                pair_at(o, e1, e1, 0); /* two corners are one */
            else
                pair_at(o, e1, e2, 0);
        }
    const uint blocks = (T.count + 7) / 8;
    for (uint i = T.count; i < 8 * blocks; i++) /* lanes left over repeat the first */
        for (uint w = 0; w < 72; w += 8)
            T.blocks[K_BLOCK_WORDS * (i / 8) + i % 8 + w] = T.blocks[K_BLOCK_WORDS * (i / 8) + w];
    for (uint i = 0; i < 8 * blocks; i++)
        ((uint *)(T.blocks + K_BLOCK_WORDS * (i / 8) + 72))[i % 8] = i < T.count ? i : i / 8 * 8;
    for (uint i = 0; i < 8; i++) {
        for (uint axis = 0; axis < 3; axis++) {
            T.node[8 * axis + i] = i < blocks ? -1.0f : INFINITY;
            T.node[24 + 8 * axis + i] = i < blocks ? 1.0f : -INFINITY;
        }
        ((uint *)(T.node + 48))[i] = K_LEAF | i;
    }
    T.launch.bvh = 8;
    T.launch.triangle_count = T.count;
    T.sc.launch = &T.launch;
    T.sc.nodes = T.node;
    T.sc.leaves = T.blocks;
    k_exact_make(&T.sc, &T.few);
}

/* ---- rays ------------------------------------------------------------------------------------ */

static struct k_vec3 corner_drawn(uint *id)
{
    *id = drawn_below(T.count);
    const struct k_triangle t = triangle_of(*id);
    return drawn() < 0 ? t.v0 : drawn() < 0 ? t.v1 : t.v2;
}
/* A point of a triangle: anywhere, on an edge, or a corner. */
static struct k_vec3 point_drawn(uint *id)
{
    struct k_vec3 c = corner_drawn(id);
    const struct k_triangle t = triangle_of(*id);
    const uint how = drawn_below(4);
    double a = 0.5 * (drawn() + 1), b = how == 1 ? 0 : 0.5 * (drawn() + 1) * (1 - a);
    if (how == 0)
        return c;
    if (how == 2) /* on the edge that parallelograms share */
        b = 1 - a;
    return v3((float)(t.v0.x + a * ((double)t.v1.x - t.v0.x) + b * ((double)t.v2.x - t.v0.x)),
              (float)(t.v0.y + a * ((double)t.v1.y - t.v0.y) + b * ((double)t.v2.y - t.v0.y)),
              (float)(t.v0.z + a * ((double)t.v1.z - t.v0.z) + b * ((double)t.v2.z - t.v0.z)));
}
static struct k_vec3 space_drawn(double reach)
{
    return v3((float)(T.scale * (T.shift + reach * drawn())),
              (float)(T.scale * (T.shift + reach * drawn())),
              (float)(T.scale * (T.shift + reach * drawn())));
}

/* How far rays start from what they leave: section 13, for rays that meet it well. */
static float offset_of(struct k_vec3 p, struct k_triangle t)
{
    const struct k_vec3 reach = v3_most(v3_most(v3_abs(t.v0), v3_abs(t.v1)), v3_abs(t.v2));
    return 0x1p-19f * k_max(v3_max_abs(p), v3_max(reach));
}

enum { PLAIN, ACROSS, FROM_SURFACE, TO_EDGES, IN_PLANE, ALONG_AXES, FAR_AWAY, RAYS };
static void ray_make(uint kind, struct k_vec3 *o, struct k_vec3 *d)
{
    uint id, other;
    *o = kind == FAR_AWAY ? space_drawn(10) : space_drawn(0.9);
    struct k_vec3 to = space_drawn(0.9);
    if (kind == TO_EDGES || kind == FAR_AWAY)
        to = point_drawn(&id);
    if (kind == ACROSS) { /* as paths do, from well inside a triangle */
        const struct k_triangle t = triangle_of(drawn_below(T.count));
        const float a = (float)(0.4 + 0.2 * drawn()), b = (float)(0.2 + 0.1 * drawn());
        const struct k_vec3 p = v3_madd(v3_madd(v3_scale(t.v0, 1.0f - a - b), t.v1, a), t.v2, b);
        struct k_vec3 n = v3_cross(v3_sub(t.v1, t.v0), v3_sub(t.v2, t.v0));
        n = v3_scale(n, 1.0f / k_max(v3_max_abs(n), 1e-30f));
        n = v3_scale(n, 1.0f / k_max(sqrtf(v3_dot(n, n)), 1e-30f));
        to = v3_add(p, space_drawn(1));
        if (v3_dot(v3_sub(to, p), n) < 0.0f)
            n = v3_neg(n);
        *o = v3_madd(p, n, offset_of(p, t));
    }
    if (kind == FROM_SURFACE || kind == IN_PLANE) {
        const struct k_vec3 p = point_drawn(&id);
        const struct k_triangle t = triangle_of(id);
        struct k_vec3 n = v3_cross(v3_sub(t.v1, t.v0), v3_sub(t.v2, t.v0));
        const float n2 = v3_dot(n, n);
        n = v3_scale(n, n2 > 0.0f ? (drawn() < 0 ? -1.0f : 1.0f) / sqrtf(n2) : 0.0f);
        *o = v3_madd(p, n, offset_of(p, t));
        to = drawn() < 0 ? point_drawn(&other) : v3_add(*o, space_drawn(1));
        if (kind == IN_PLANE) {
            to = v3_add(v3_sub(drawn() < 0 ? t.v1 : t.v2, p), t.v0);
            if (drawn() < 0)
                *o = v3_sub(p, v3_scale(v3_sub(to, p), (float)(1 + drawn())));
        }
    }
    *d = v3_sub(to, *o);
    if (kind == ALONG_AXES) {
        const uint axis = drawn_below(3);
        d->x = axis == 0 ? d->x : drawn() < 0 ? 0.0f : -0.0f;
        d->y = axis == 1 ? d->y : 0.0f;
        d->z = axis == 2 ? d->z : drawn() < 0 ? 0.0f : d->z;
    }
    const double length = sqrt((double)d->x * d->x + (double)d->y * d->y + (double)d->z * d->z);
    *d = length > 0 ? v3((float)(d->x / length), (float)(d->y / length), (float)(d->z / length))
                    : v3(0.0f, 1.0f, 0.0f);
}

/* ---- what is compared ------------------------------------------------------------------------ */

static struct k_best nearest(struct k_vec3 o, struct k_vec3 d, float t_max)
{
    const struct k_ray r = k_ray_make(o, d);
    struct k_best best = k_best_none(t_max);
    for (uint id = 0; id < T.count; id++)
        k_try_triangle(&T.sc, &r, triangle_of(id), id, t_max, &best);
    return best;
}
static bool same(float a, float b) { return memcmp(&a, &b, 4) == 0; }

struct tally {
    uint rays, sure, hits;
};
static void sixteen_agree(const struct k_vec3 *o, const struct k_vec3 *d, const float *t_max,
                          struct tally *tally)
{
    struct k_exact_rays r;
    struct k_exact_starts starts;
    k_f16 until;
    for (int i = 0; i < 16; i++) {
        r.ox[i] = o[i].x;
        r.oy[i] = o[i].y;
        r.oz[i] = o[i].z;
        r.dx[i] = d[i].x;
        r.dy[i] = d[i].y;
        r.dz[i] = d[i].z;
        until[i] = t_max[i];
    }
    const struct k_exact_found f = k_exact_closest(&T.few, r, &starts);
    const struct k_exact_lit l = k_exact_shadow(&T.few, r, until, &starts);
    for (int i = 0; i < 16; i++) {
        const struct k_hit want = k_best_finish(nearest(o[i], d[i], K_INF));
        const bool blocked = nearest(o[i], d[i], t_max[i]).primitive != K_NONE;
        tally->rays += 2;
        tally->sure += (f.sure[i] != 0) + (l.sure[i] != 0);
        tally->hits += want.primitive != K_NONE;
        if (l.sure[i] && (l.lit[i] != 0) == blocked)
            fail_msg("a shadow ray up to %a is %s", t_max[i], blocked ? "blocked" : "not blocked");
        if (!f.sure[i])
            continue;
        if ((uint)f.id[i] != want.primitive || !same(f.t[i], want.t) ||
            (want.primitive != K_NONE && (!same(f.b1[i], want.b1) || !same(f.b2[i], want.b2))))
            fail_msg("triangle %d at %a, not %d at %a", f.id[i], f.t[i], (int)want.primitive,
                     want.t);
    }
}

static struct tally rays_agree(uint kind, uint count)
{
    struct tally tally = {0, 0, 0};
    for (uint n = 0; n < count; n += 16) {
        struct k_vec3 o[16], d[16];
        float t_max[16];
        for (uint i = 0; i < 16; i++) {
            ray_make(kind, &o[i], &d[i]);
            const struct k_best met = nearest(o[i], d[i], K_INF); /* about as far as that, or any */
            t_max[i] = drawn() < 0 && met.primitive != K_NONE
                           ? met.t * (drawn() < 0 ? 1.0001f : 0.9999f)
                           : (float)(T.scale * (1 + drawn()));
        }
        sixteen_agree(o, d, t_max, &tally);
    }
    return tally;
}

/* Most rays are not left to the tree, of those that are not made to be hard. */
static void hits_are_those_of_the_test(void **unused)
{
    (void)unused;
    static const double scales[] = {1, 1e-3, 3e4}, shifts[] = {0, 0, 5};
    static const double least[KINDS] = {0.5, 0.85, 0.9, 0};
    uint taken[KINDS] = {0};
    for (uint kind = 0; kind < KINDS; kind++)
        for (uint n = 0; n < 18; n++) {
            scene_make(kind, scales[n % 3], shifts[n / 3 % 3]);
            if (T.few.count == 0)
                continue;
            taken[kind]++;
            for (uint rays = 0; rays < RAYS; rays++) {
                const struct tally t = rays_agree(rays, 1600);
                if (rays <= ACROSS && shifts[n / 3 % 3] == 0 && t.sure < least[kind] * t.rays)
                    fail_msg("scene %u, rays %u: sure of %u of %u", kind, rays, t.sure, t.rays);
                assert_true(t.hits > 0);
            }
        }
    for (uint kind = 0; kind < KINDS; kind++)
        assert_true(taken[kind] > 0);
}

/* What is no ray is never sure; nor is one whose direction has another length. */
static void odd_rays_are_left_to_the_tree(void **unused)
{
    (void)unused;
    static const float odd[] = {NAN, INFINITY, -INFINITY, 1e31f, 4.0f};
    scene_make(ROOM, 1, 0);
    assert_true(T.few.count > 0);
    for (uint which = 0; which < 6; which++)
        for (uint n = 0; n < 5; n++) {
            struct k_exact_rays r = {0};
            struct k_exact_starts starts;
            for (int i = 0; i < 16; i++) {
                float v[6] = {0.1f, 0.2f, 0.3f, 0.6f, 0.0f, 0.8f};
                if (!(n == 4 && which < 3)) /* a coordinate may be 4 */
                    v[which] = odd[n];
                else
                    v[3] = v[5] = 0.0f;
                r.ox[i] = v[0];
                r.oy[i] = v[1];
                r.oz[i] = v[2];
                r.dx[i] = v[3];
                r.dy[i] = v[4];
                r.dz[i] = v[5];
            }
            const struct k_exact_found f = k_exact_closest(&T.few, r, &starts);
            const struct k_exact_lit l = k_exact_shadow(&T.few, r, f16_splat(1.0f), &starts);
            assert_int_equal(i16_bits(f.sure) | i16_bits(l.sure), 0);
        }
}

/* Scenes that the bounds say nothing of are not taken. */
static void odd_scenes_are_left_to_the_tree(void **unused)
{
    (void)unused;
    static const double scales[] = {1, 1e9, 1e-9};
    for (uint n = 0; n < 3; n++) {
        scene_make(ROOM, scales[n], 0);
        assert_int_equal(T.few.count > 0, n == 0);
    }
    scene_make(ROOM, 1, 0);
    static const float line[3][3] = {{0, 0, 0}, {0.1f, 0.2f, 0.3f}, {0.2f, 0.4f, 0.6f}};
    for (uint i = 0; i < 3; i++) /* no area */
        corner_put(5, i, line[i]);
    k_exact_make(&T.sc, &T.few);
    assert_int_equal(T.few.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hits_are_those_of_the_test),
        cmocka_unit_test(odd_rays_are_left_to_the_tree),
        cmocka_unit_test(odd_scenes_are_left_to_the_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
