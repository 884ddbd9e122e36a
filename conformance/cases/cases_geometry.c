/* SPDX-License-Identifier: Apache-2.0 */
/* Level kernel, traversal: closest hits of a scene's geometry. */
#include "answers.h"
#include "cases_kernel.h"
#include "steps/offers.h"
#include "tally.h"

#include <string.h>

enum { HIT_IN = 8, HIT_OUT = 5, MOST_RAYS = 3072 };

/* Rays for brute force: rays times primitives. */
static const double BRUTE_TESTS = 1.5e8;

static double extent_of(const struct scene *s)
{
    double e = 0;
    for (int i = 0; i < 3; i++)
        e = fmax(e, s->bounds_max[i] - s->bounds_min[i]);
    return e > 0 ? e : 1;
}

/* A point of a primitive: inside, or with `corner` on a vertex or an edge of a triangle. */
static void point_of(const struct scene *s, uint32_t primitive, struct dice *d, bool corner,
                     double P[3])
{
    double n[3];
    if (primitive_is_triangle(s, primitive)) {
        double v[3][3];
        triangle_in_world(s, primitive, v);
        double q = sqrt(dice_u(d)), r = dice_u(d), b[3] = {1 - q, q * (1 - r), q * r};
        if (corner) {
            int k = (int)(dice_u(d) * 3);
            double edge = dice_u(d) < 0.5 ? 0 : dice_u(d);
            b[k] = 1 - edge;
            b[(k + 1) % 3] = edge;
            b[(k + 2) % 3] = 0;
        }
        for (int i = 0; i < 3; i++)
            P[i] = b[0] * v[0][i] + b[1] * v[1][i] + b[2] * v[2][i];
        return;
    }
    size_t i = primitive - s->triangle_count;
    if (i < s->sphere_count) {
        double c[3];
        vec_load(c, s->spheres[i].center);
        dice_direction(d, n);
        vec_madd(P, c, (double)s->spheres[i].radius, n);
        return;
    }
    const struct disk *disk = &s->disks[i - s->sphere_count];
    double c[3], f[3][3], r = (double)disk->radius * sqrt(dice_u(d)),
                          phi = 6.283185307179586 * dice_u(d);
    vec_load(c, disk->center);
    vec_load(n, disk->normal);
    vec_frame(n, f);
    vec_madd(P, c, r * cos(phi), f[0]);
    vec_madd(P, P, r * sin(phi), f[1]);
}

/* Ray i: through the box anywhere; at a point of a primitive from afar; at an edge or corner; along
 * an axis; from near a surface. */
static void make_ray(const struct scene *s, size_t i, struct dice *d, uint32_t *row)
{
    double o[3], dir[3], target[3], e = extent_of(s), t_max = INFINITY;
    uint32_t primitive = (uint32_t)(dice_u(d) * (double)scene_effective_count(s));
    for (int k = 0; k < 3; k++)
        o[k] = (s->bounds_min[k] + s->bounds_max[k]) / 2 + 1.5 * e * (dice_u(d) - 0.5);
    dice_direction(d, dir);
    switch (i % 6) {
    case 0:
        break;
    case 1:
    case 2:
        point_of(s, primitive, d, i % 6 == 2, target);
        vec_madd(dir, target, -1, o);
        break;
    case 3: { /* along an axis, at a corner or edge: zeros in the direction, ties in the tree */
        int axis = (int)(dice_u(d) * 3);
        point_of(s, primitive, d, dice_u(d) < 0.5, target);
        vec_copy(o, target);
        memset(dir, 0, sizeof dir);
        dir[axis] = dice_u(d) < 0.5 ? 1 : -1;
        o[axis] -= 2 * e * dir[axis];
        break;
    }
    default: /* from a surface, off it by more than rounding */
        point_of(s, primitive, d, false, o);
        vec_madd(o, o, 0x1p-14 * (e + vec_max_abs(o)), dir);
        break;
    }
    if (!(vec_length(dir) > 0))
        dir[0] = 1;
    vec_normalize(dir);
    if (i % 6 == 5)
        t_max = e * dice_u(d);
    for (int k = 0; k < 3; k++) {
        row[k] = word_of((float)o[k]);
        row[3 + k] = word_of((float)dir[k]);
    }
    row[6] = word_of((float)t_max);
}

static void read_vector(double v[3], const uint32_t *w)
{
    for (int i = 0; i < 3; i++)
        v[i] = (double)float_of(w[i]);
}

static void ray_text(char *buf, size_t size, const uint32_t *row)
{
    snprintf(buf, size, "ray o (%a, %a, %a) d (%a, %a, %a) t_max %g", (double)float_of(row[0]),
             (double)float_of(row[1]), (double)float_of(row[2]), (double)float_of(row[3]),
             (double)float_of(row[4]), (double)float_of(row[5]), (double)float_of(row[6]));
}

static int64_t id(uint32_t primitive) { return primitive == UINT32_MAX ? -1 : (int64_t)primitive; }

/* ---- the reference --------------------------------------------------------------------------- */

/* In mode fast: what the device met is there within its bounds, and it missed nothing that rounding
 * does not leave open. */
static void compare_fast(const struct run_context *c, const struct arithmetic *arithmetic,
                         struct tally *t, const uint32_t *row, const uint32_t *out,
                         const char *what, const struct reference_hit *h, size_t *flips)
{
    const double t_max = (double)float_of(row[6]), at = (double)float_of(out[1]);
    const bool met = out[0] != UINT32_MAX;
    double o[3], d[3];
    char text[320];
    struct reference_hit missed = *h;
    read_vector(o, row);
    read_vector(d, row + 3);
    ray_text(text, sizeof text, row);
    if (met && out[0] >= scene_effective_count(c->scene)) {
        tally_equal(t, id(out[0]), id(h->primitive), "%s, %s: primitive", what, text);
        return;
    }
    const struct fast_meeting m =
        met ? fast_meet(arithmetic, c->scene, out[0], o, d, at) : (struct fast_meeting){0};
    const enum fast_hit judged =
        fast_hit_judge(arithmetic, c->scene, c->reference, o, d, t_max, out[0], at, h, &missed);
    if (judged == FAST_HIT_ABSENT) {
        tally_equal(t, id(out[0]), id(h->primitive),
                    "%s, %s: t %.9g of what is at %.9g within %.3g, %.3g inside its rim within "
                    "%.3g: primitive",
                    what, text, at, m.t, m.t_off, m.inside, m.inside_off);
        return;
    }
    if (judged != FAST_HIT_STANDS) {
        tally_equal(t, id(out[0]), id(missed.primitive), "%s, %s: primitive%s", what, text,
                    judged == FAST_HIT_HOLLOW ? ", which is cut out there" : "");
        return;
    }
    t->compared++;
    *flips += h->primitive != out[0];
    if (!met)
        return;
    tally_near(t, at, m.t, m.t_off, "%s, %s: t", what, text);
    for (int i = 0; i < 2 && primitive_is_triangle(c->scene, out[0]); i++)
        tally_near(t, (double)float_of(out[2 + i]), m.b[i], m.inside_off, "%s, %s: b%d", what, text,
                   i + 1);
}

/* Against the reference: the same primitive and t within bounds, or a benign flip. */
static void compare_reference(const struct run_context *c, const struct arithmetic *arithmetic,
                              struct tally *t, const uint32_t *row, const uint32_t *out,
                              const char *what, size_t *flips)
{
    double o[3], d[3], t_max = (double)float_of(row[6]);
    struct reference_hit h;
    struct hit_bounds b;
    char text[320];
    read_vector(o, row);
    read_vector(d, row + 3);
    reference_hit_closest(c->reference, o, d, t_max, &h);
    if (c->mode == MODE_FAST) {
        compare_fast(c, arithmetic, t, row, out, what, &h, flips);
        return;
    }
    ray_text(text, sizeof text, row);
    if (h.primitive != out[0]) {
        double margin =
            out[0] != UINT32_MAX && out[0] >= scene_effective_count(c->scene)
                ? INFINITY
                : margin_hit(arithmetic, c->scene, c->reference, o, d, t_max, out[0], &h);
        if (margin > 1)
            tally_equal(t, id(out[0]), id(h.primitive), "%s, %s: primitive (decision margin %.3g)",
                        what, text, margin);
        else
            ++*flips;
        t->compared++;
        return;
    }
    t->compared++;
    if (h.primitive == UINT32_MAX)
        return;
    hit_bounds(arithmetic, c->scene, h.primitive, o, d, h.t, h.P, h.Ng, &b);
    tally_near(t, (double)float_of(out[1]), h.t, b.t, "%s, %s: t", what, text);
}

static size_t rays_of(const struct scene *s)
{
    return (size_t)fmin(MOST_RAYS, fmax(48, BRUTE_TESTS / (double)scene_effective_count(s)));
}

/* Rays of the scene, and the answers of its first trees: the fourth is none, a linear search. */
enum { TREES = 3, KINDS = 4 };
static const enum bvh_kind kinds[KINDS] = {BVH_BINARY, BVH_WIDE8, BVH_COMPRESSED8, BVH_LINEAR};
struct hits {
    size_t rays, kinds;
    uint32_t *in, *tree[KINDS];
};

static enum status hits_of_trees(struct run_context *c, struct hits *h, struct error *err)
{
    struct dice d = {.key = 0x417};
    h->in = ARENA_ARRAY(c->arena, uint32_t, h->rays * HIT_IN);
    if (!h->in)
        return error_msg(err, STATUS_MEMORY, "out of memory for %zu rays", h->rays);
    for (size_t i = 0; i < h->rays; i++)
        make_ray(c->scene, i, &d, h->in + HIT_IN * i);
    for (size_t k = 0; k < h->kinds; k++) {
        if (k)
            TRY(device_load(c->device, c->scene, kinds[k], NULL, err));
        TRY(case_probe(c, PROBE_HIT, h->in, h->rays, &h->tree[k], err));
    }
    return STATUS_OK;
}

/* Against brute force's, and the reference's. strict: the former to the bit. */
static enum status compare_hits(struct run_context *c, const struct hits *h, bool strict,
                                struct tally *t, size_t *flips, struct error *err)
{
    const struct arithmetic arithmetic = arithmetic_of(c->info, c->mode);
    uint32_t *brute;
    TRY(case_reference(c, err));
    TRY(device_load(c->device, c->scene, BVH_BINARY, NULL, err));
    for (size_t i = 0; i < h->rays; i++)
        h->in[HIT_IN * i + 7] = 1;
    TRY(case_probe(c, PROBE_HIT, h->in, h->rays, &brute, err));
    for (size_t i = 0; i < h->rays; i++)
        compare_reference(c, &arithmetic, t, h->in + HIT_IN * i, brute + HIT_OUT * i,
                          "brute force on the device", flips);
    for (size_t k = 0; k < h->kinds; k++) {
        for (size_t i = 0; i < h->rays; i++) {
            const uint32_t *got = h->tree[k] + HIT_OUT * i, *want = brute + HIT_OUT * i;
            static const char *const fields[] = {"primitive", "t", "b1", "b2", "any hit"};
            char text[320];
            ray_text(text, sizeof text, h->in + HIT_IN * i);
            tally_equal(t, got[4], got[0] != UINT32_MAX, "%s, %s: any hit", bvh_kind_name(kinds[k]),
                        text);
            if (!strict) {
                compare_reference(c, &arithmetic, t, h->in + HIT_IN * i, got,
                                  bvh_kind_name(kinds[k]), flips);
                continue;
            }
            for (size_t f = 0; f < (want[0] == UINT32_MAX ? 1 : 4); f++)
                tally_equal(t, f ? (int64_t)got[f] : id(got[f]), f ? (int64_t)want[f] : id(want[f]),
                            "%s against brute force, %s: %s", bvh_kind_name(kinds[k]), text,
                            fields[f]);
        }
    }
    return STATUS_OK;
}

enum status kernel_hit(struct run_context *c, struct error *err)
{
    struct tally t = {0};
    enum status s = case_scene(c, err);
    if (s != STATUS_OK)
        return s;
    double primitives = (double)scene_effective_count(c->scene);
    if (primitives == 0)
        return case_skip(c, "the scene has no primitives");
    struct hits h = {.rays = rays_of(c->scene), .kinds = TREES};
    size_t flips = 0;
    bool strict = true;
    s = case_ready_to_probe(c, MODE_STRICT, BVH_BINARY, err);
    if (s == STATUS_UNSUPPORTED) { /* then the tree and brute force may round apart */
        strict = false;
        s = case_ready_to_probe(c, MODE_DEVICE, BVH_BINARY, err);
    }
    if (s != STATUS_OK || (s = hits_of_trees(c, &h, err)) != STATUS_OK)
        return s;
    if (answer_given(c, h.rays * HIT_OUT * TREES)) /* brute force's bits, where that was judged */
        return STATUS_OK;
    if ((s = compare_hits(c, &h, strict, &t, &flips, err)) != STATUS_OK)
        return s;
    s = tally_verdict(&t, c);
    if (c->result->verdict == VERDICT_PASS)
        case_pass(c,
                  "%zu rays, %.0f primitives: every tree %s; worst t %.2f of its bound, %zu "
                  "benign flips against the reference",
                  h.rays, primitives,
                  strict ? "gives brute force's bits" : "agrees with the reference", t.worst,
                  flips);
    return s;
}

/* Every tree in a mode: their texts differ by mode, and pictures are made by one of them. */
enum status kernel_trees(struct run_context *c, struct error *err)
{
    static const char *const scenes[] = {"../dense/irregular", "leaves", "scale-torture"};
    enum { SCENES = sizeof scenes / sizeof *scenes };
    const char *word = strrchr(c->name, '.') + 1;
    const enum math_mode mode = strcmp(word, "fast") == 0     ? MODE_FAST
                                : strcmp(word, "device") == 0 ? MODE_DEVICE
                                                              : MODE_STRICT;
    struct tally t = {0};
    size_t flips = 0;
    for (size_t i = 0; i < SCENES; i++) {
        TRY(case_library_scene(c, scenes[i], err));
        struct hits h = {.rays = rays_of(c->scene), .kinds = KINDS};
        TRY(case_ready_to_probe(c, mode, BVH_BINARY, err));
        TRY(hits_of_trees(c, &h, err));
        TRY(compare_hits(c, &h, mode == MODE_STRICT, &t, &flips, err));
    }
    enum status s = tally_verdict(&t, c);
    if (c->result->verdict == VERDICT_PASS)
        case_pass(c, "%d scenes: worst %.2f of its bound, %zu benign flips against the reference",
                  SCENES, t.worst, flips);
    return s;
}
