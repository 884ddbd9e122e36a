/* SPDX-License-Identifier: Apache-2.0 */
#include "bounds.h"
#include "vector.h"

#include <string.h>

struct arithmetic arithmetic_of(const struct device_info *d, enum math_mode mode)
{
    static const char *const loose[] = {"opencl", "hip", "level_zero"};
    const struct arithmetic rounded = {1, 1}, opencl = {5, 6};
    for (size_t i = 0; i < sizeof loose / sizeof *loose && mode != MODE_STRICT; i++)
        if (strcmp(d->api, loose[i]) == 0)
            return opencl;
    return rounded;
}

double roundings(const struct arithmetic *a, double count, double divisions, double roots)
{
    return (count + divisions * (a->divide - 1) + roots * (a->root - 1)) * ULP;
}

enum { MAX_INPUTS = 64 };

struct spreading {
    answer_function fn;
    void *ctx;
    const double *step;
    size_t inputs, values;
};

/* spread: the sum over inputs of the larger change from `value` that moving the input from `at`
 * shows, where `code` stays. Other answers go to *others, unless it is NULL; at comes back as it
 * was. */
static void spread_about(const struct spreading *s, double *at, int code, const double *value,
                         double *spread, struct answer *others);

/* What lies beyond a decision: the first answer there, and how far those about it spread. */
static void other_note(const struct spreading *s, double *at, int code, const double *value,
                       struct answer *a)
{
    for (int k = 0; k < a->other_count; k++)
        if (a->other_codes[k] == code)
            return;
    if (a->other_count == ANSWER_CODES)
        return;
    int k = a->other_count++;
    a->other_codes[k] = code;
    memcpy(a->moved[k], value, sizeof a->moved[k]);
    spread_about(s, at, code, a->moved[k], a->moved_spread[k], NULL);
    /* what the device saw is within a step of the question, that is within two of this place */
    for (size_t v = 0; v < s->values; v++)
        a->moved_spread[k][v] *= 2;
}

static void spread_about(const struct spreading *s, double *at, int code, const double *value,
                         double *spread, struct answer *others)
{
    for (size_t i = 0; i < s->inputs; i++) {
        double change[ANSWER_VALUES] = {0}, was = at[i];
        for (int sign = -1; sign <= 1 && s->step[i] > 0; sign += 2) {
            double moved[ANSWER_VALUES] = {0};
            at[i] = was + sign * s->step[i];
            int found = s->fn(s->ctx, at, moved);
            for (size_t v = 0; found == code && v < s->values; v++)
                change[v] = fmax(change[v], fabs(moved[v] - value[v]));
            if (found != code && others)
                other_note(s, at, found, moved, others);
        }
        at[i] = was;
        for (size_t v = 0; v < s->values; v++)
            spread[v] += change[v];
    }
}

void answer_spread(answer_function fn, void *ctx, const double *in, const double *step,
                   size_t inputs, size_t values, struct answer *out)
{
    const struct spreading s = {fn, ctx, step, inputs, values};
    struct answer a = {0};
    double at[MAX_INPUTS];
    memcpy(at, in, inputs * sizeof *in);
    a.code = fn(ctx, in, a.value);
    spread_about(&s, at, a.code, a.value, a.spread, &a);
    *out = a;
}

static void become_other(struct answer *a, int k, size_t values)
{
    a->code = a->other_codes[k];
    for (size_t v = 0; v < values; v++) {
        a->value[v] = a->moved[k][v];
        a->spread[v] = a->moved_spread[k][v] + 256 * ULP * fabs(a->value[v]);
    }
}

bool answer_allows(struct answer *a, int code, size_t values)
{
    if (code == a->code)
        return true;
    for (int k = 0; k < a->other_count; k++)
        if (a->other_codes[k] == code) {
            become_other(a, k, values);
            return true;
        }
    return false;
}

bool answer_nearest(struct answer *a, int code, int mask, const double seen[3], size_t values)
{
    double least = (a->code & mask) == code ? vec_distance(a->value, seen) : INFINITY;
    int nearest = -1;
    for (int k = 0; k < a->other_count; k++) {
        const double d = vec_distance(a->moved[k], seen);
        if ((a->other_codes[k] & mask) == code && d < least)
            least = d, nearest = k;
    }
    if (nearest >= 0)
        become_other(a, nearest, values);
    return (a->code & mask) == code;
}

/* ---- primitives ---------------------------------------------------------------------- */

const struct sphere *sphere_of(const struct scene *s, uint32_t primitive)
{
    size_t i = primitive - s->triangle_count;
    return primitive >= s->triangle_count && i < s->sphere_count ? &s->spheres[i] : NULL;
}

static const struct disk *disk_of(const struct scene *s, uint32_t primitive)
{
    return &s->disks[primitive - s->triangle_count - s->sphere_count];
}

bool primitive_is_triangle(const struct scene *s, uint32_t primitive)
{
    return primitive < s->triangle_count || primitive >= scene_primitive_count(s);
}

/* Vertices of a triangle, in the order that they have in the world. *instance: NULL for none. */
static uint32_t corners_of(const struct scene *s, uint32_t primitive, uint32_t corner[3],
                           const struct instance **instance)
{
    uint32_t stored = scene_triangle_of(s, primitive, instance);
    bool exchange = *instance && instance_mirrors(*instance);
    for (int i = 0; i < 3; i++)
        corner[i] = s->triangles[stored][exchange && i > 0 ? 3 - i : i];
    return stored;
}

void triangle_in_world(const struct scene *s, uint32_t primitive, double v[3][3])
{
    const struct instance *n;
    uint32_t corner[3];
    corners_of(s, primitive, corner, &n);
    for (int i = 0; i < 3; i++) {
        double p[3];
        vec_load(p, s->P[corner[i]]);
        for (int k = 0; k < 3; k++)
            v[i][k] = !n ? p[k]
                         : (double)n->to_world[k][0] * p[0] + (double)n->to_world[k][1] * p[1] +
                               (double)n->to_world[k][2] * p[2] + (double)n->to_world[k][3];
    }
}

bool primitive_has_colors(const struct scene *s, uint32_t primitive)
{
    const struct instance *n;
    uint32_t corner[3];
    return s->colors && primitive_is_triangle(s, primitive) &&
           s->triangle_flags[corners_of(s, primitive, corner, &n)] & TRIANGLE_HAS_COLORS;
}

/* Columns of M^-1 without the fourth, and det M's sign. */
static double inverse_columns(const struct instance *n, double column[3][3])
{
    double row[3][3];
    for (int i = 0; i < 3; i++)
        vec_load(row[i], n->to_world[i]);
    for (int i = 0; i < 3; i++)
        vec_cross(column[i], row[(i + 1) % 3], row[(i + 2) % 3]);
    double det = vec_dot(row[0], column[0]);
    for (int i = 0; i < 3; i++)
        vec_scale(column[i], 1 / det, column[i]);
    return det;
}

/* A vertex normal in the world: transpose(M^-1) n, to unit length. */
static void normal_in_world(const struct scene *s, const struct instance *n, uint32_t vertex,
                            double out[3])
{
    double column[3][3], v[3];
    vec_load(out, s->N[vertex]);
    if (!n || !(vec_length(out) > 0))
        return;
    vec_copy(v, out);
    inverse_columns(n, column);
    for (int i = 0; i < 3; i++)
        out[i] = vec_dot(column[i], v);
    vec_normalize(out);
}

double primitive_distortion(const struct scene *s, uint32_t primitive)
{
    const struct instance *n = scene_instance_of(s, primitive);
    double column[3][3], forth = 0, back = 0;
    if (!n)
        return 1;
    inverse_columns(n, column);
    for (int i = 0; i < 3; i++) {
        double row[3];
        vec_load(row, n->to_world[i]);
        forth = fmax(forth, fabs(row[0]) + fabs(row[1]) + fabs(row[2]));
        back = fmax(back, fabs(column[0][i]) + fabs(column[1][i]) + fabs(column[2][i]));
    }
    return 2 * forth * back;
}

/* Section 25's S, by axis. */
static void instance_mix(const struct instance *n, double S[3])
{
    double column[3][3];
    inverse_columns(n, column);
    for (int i = 0; i < 3; i++) {
        double row[3], sum = 0;
        vec_load(row, n->to_world[i]);
        for (int k = 0; k < 3; k++)
            for (int j = 0; j < 3; j++)
                sum += fabs(row[j] * column[k][j]);
        S[i] = fmax(0, sum - 1);
    }
}

/* By axis, the largest of the terms that place a triangle of an instance. */
static void placing_reach(const struct scene *s, const struct instance *n, const uint32_t corner[3],
                          double q[3])
{
    for (int k = 0; k < 3; k++) {
        q[k] = 0;
        for (int i = 0; i < 3; i++) {
            double sum = fabs((double)n->to_world[k][3]);
            for (int c = 0; c < 3; c++)
                sum += fabs((double)n->to_world[k][c] * (double)s->P[corner[i]][c]);
            q[k] = fmax(q[k], sum);
        }
    }
}

double primitive_extent(const struct scene *s, uint32_t primitive)
{
    double v[3][3], c[3];
    if (primitive_is_triangle(s, primitive)) {
        const struct instance *n;
        uint32_t corner[3];
        corners_of(s, primitive, corner, &n);
        if (n) {
            placing_reach(s, n, corner, c);
            return vec_max_abs(c);
        }
        triangle_in_world(s, primitive, v);
        return fmax(vec_max_abs(v[0]), fmax(vec_max_abs(v[1]), vec_max_abs(v[2])));
    }
    const struct sphere *sphere = sphere_of(s, primitive);
    vec_load(c, sphere ? sphere->center : disk_of(s, primitive)->center);
    return vec_max_abs(c) + (double)(sphere ? sphere->radius : disk_of(s, primitive)->radius);
}

/* X and e of a triangle or disk, and how much longer its instance makes A (section 13, 25). */
static double planar_reach(const struct scene *s, uint32_t primitive, const double P[3],
                           double X[3], double *blur)
{
    const struct instance *n;
    uint32_t corner[3];
    double v[3][3], S[3];
    *blur = 1;
    if (!primitive_is_triangle(s, primitive)) {
        const struct disk *disk = disk_of(s, primitive);
        for (int i = 0; i < 3; i++)
            X[i] = fabs((double)disk->center[i]) + fabs(P[i] - (double)disk->center[i]);
        return primitive_extent(s, primitive);
    }
    corners_of(s, primitive, corner, &n);
    if (!n) {
        triangle_in_world(s, primitive, v);
        for (int i = 0; i < 3; i++)
            X[i] = fmax(fabs(v[0][i]), fmax(fabs(v[1][i]), fabs(v[2][i])));
        return vec_max_abs(X);
    }
    placing_reach(s, n, corner, X);
    instance_mix(n, S);
    double most = vec_max_abs(X);
    for (int i = 0; i < 3; i++)
        X[i] += S[i] * most;
    *blur = 1 + vec_max_abs(S);
    return vec_max_abs(X);
}

double offset_extent(const struct scene *s, uint32_t primitive, const double o[3],
                     const double d[3], double t, const double P[3])
{
    double X[3], n[3], blur, least = fmax(vec_max_abs(P), 0x1p-20);
    if (sphere_of(s, primitive))
        return fmax(least, primitive_extent(s, primitive));
    double e = planar_reach(s, primitive, P, X, &blur);
    primitive_normal(s, primitive, P, n);
    double c = fabs(vec_dot(d, n));
    double H = fabs(n[0]) * X[0] + fabs(n[1]) * X[1] + fabs(n[2]) * X[2];
    if (c > 0)
        e = fmin(e, (vec_max_abs(o) + t) * blur + H / c);
    return fmax(least, e);
}

double primitive_area(const struct scene *s, uint32_t primitive)
{
    const double pi = 3.14159265358979323846;
    if (primitive_is_triangle(s, primitive)) {
        double v[3][3], e1[3], e2[3], n[3];
        triangle_in_world(s, primitive, v);
        vec_madd(e1, v[1], -1, v[0]);
        vec_madd(e2, v[2], -1, v[0]);
        vec_cross(n, e1, e2);
        return vec_length(n) / 2;
    }
    const struct sphere *sphere = sphere_of(s, primitive);
    double r = (double)(sphere ? sphere->radius : disk_of(s, primitive)->radius);
    return sphere ? 4 * pi * r * r : pi * r * r;
}

bool primitive_carrier(const struct scene *s, uint32_t primitive, const double o[3],
                       const double d[3], double *t)
{
    double n[3], p[3], f[3];
    const struct sphere *sphere = sphere_of(s, primitive);
    if (sphere) {
        double c[3], r = (double)sphere->radius;
        vec_load(c, sphere->center);
        vec_madd(f, o, -1, c);
        double b = -vec_dot(f, d), l[3];
        vec_madd(l, f, b, d);
        double disc = fmax(0, r * r - vec_dot(l, l)); /* a near miss counts as touching */
        double q = b + copysign(sqrt(disc), b), t0 = (vec_dot(f, f) - r * r) / q;
        if (q == 0)
            return false;
        double lo = fmin(t0, q), hi = fmax(t0, q);
        *t = lo > 0 ? lo : hi;
        return *t > 0;
    }
    if (primitive_is_triangle(s, primitive)) {
        double v[3][3], e1[3], e2[3];
        triangle_in_world(s, primitive, v);
        vec_madd(e1, v[1], -1, v[0]);
        vec_madd(e2, v[2], -1, v[0]);
        vec_cross(n, e1, e2);
        vec_copy(p, v[0]);
    } else {
        vec_load(n, disk_of(s, primitive)->normal);
        vec_load(p, disk_of(s, primitive)->center);
    }
    vec_madd(f, p, -1, o);
    double den = vec_dot(d, n);
    *t = vec_dot(f, n) / den;
    return den != 0 && *t > 0;
}

void primitive_normal(const struct scene *s, uint32_t primitive, const double P[3], double n[3])
{
    const struct sphere *sphere = sphere_of(s, primitive);
    if (primitive_is_triangle(s, primitive)) {
        double v[3][3], e1[3], e2[3];
        triangle_in_world(s, primitive, v);
        vec_madd(e1, v[1], -1, v[0]);
        vec_madd(e2, v[2], -1, v[0]);
        vec_cross(n, e1, e2);
    } else if (sphere) {
        double c[3];
        vec_load(c, sphere->center);
        vec_madd(n, P, -1, c);
    } else {
        vec_load(n, disk_of(s, primitive)->normal);
    }
    vec_normalize(n);
}

/* Distance of the origin from the segment a b, in the plane. */
static double segment_distance(const double a[2], const double b[2])
{
    double e[2] = {b[0] - a[0], b[1] - a[1]}, size = e[0] * e[0] + e[1] * e[1];
    double t = size > 0 ? fmin(fmax(-(a[0] * e[0] + a[1] * e[1]) / size, 0), 1) : 0;
    return hypot(a[0] + t * e[0], a[1] + t * e[1]);
}

double primitive_miss(const struct scene *s, uint32_t primitive, const double o[3],
                      const double d[3])
{
    double f[3][3], c[3], n[3];
    const struct sphere *sphere = sphere_of(s, primitive);
    vec_frame(d, f);
    if (primitive_is_triangle(s, primitive)) {
        double v[3][3], p[3][2], side[3], nearest = INFINITY;
        triangle_in_world(s, primitive, v);
        for (int i = 0; i < 3; i++) {
            vec_madd(v[i], v[i], -1, o);
            p[i][0] = vec_dot(v[i], f[0]);
            p[i][1] = vec_dot(v[i], f[1]);
        }
        for (int i = 0; i < 3; i++) {
            const double *a = p[i], *b = p[(i + 1) % 3];
            side[i] = a[0] * b[1] - a[1] * b[0];
            nearest = fmin(nearest, segment_distance(a, b));
        }
        bool inside = (side[0] >= 0 && side[1] >= 0 && side[2] >= 0) ||
                      (side[0] <= 0 && side[1] <= 0 && side[2] <= 0);
        return inside ? 0 : nearest;
    }
    vec_load(c, sphere ? sphere->center : disk_of(s, primitive)->center);
    vec_madd(c, c, -1, o);
    if (sphere) {
        double x = vec_dot(c, f[0]), y = vec_dot(c, f[1]);
        return fmax(0, hypot(x, y) - (double)sphere->radius);
    }
    /* a disk is an ellipse seen along the ray: its narrow axis along the projected normal */
    double r = (double)disk_of(s, primitive)->radius, q[3], t;
    vec_load(n, disk_of(s, primitive)->normal);
    double cosine = fabs(vec_dot(n, d));
    if (!primitive_carrier(s, primitive, o, d, &t))
        return INFINITY;
    vec_scale(q, t, d);
    vec_madd(q, q, -1, c);
    return fmax(0, vec_length(q) - r) * cosine;
}

static void sphere_bounds(const struct arithmetic *a, const struct sphere *sphere,
                          const double Ng[3], struct hit_bounds *b)
{
    const double pi = 3.14159265358979323846;
    double r = (double)sphere->radius, rim = sqrt(Ng[0] * Ng[0] + Ng[1] * Ng[1]);
    b->P = fmin(b->P, 2 * r);
    b->Ng = b->Ns = b->P / r + roundings(a, 8, 1, 1);
    b->uv[0] = fmin(1, b->Ng / (2 * pi * fmax(rim, 1e-12)) + roundings(a, 8, 1, 0));
    b->uv[1] = fmin(b->Ng / fmax(rim, 1e-12), sqrt(2 * b->Ng)) / pi + roundings(a, 8, 0, 1);
}

/* Of the normal that three make whose weights are off by `weight`. */
static double normal_bound(const struct arithmetic *a, const struct scene *s,
                           const struct instance *in, const uint32_t id[3], double weight,
                           double distortion)
{
    double sum[3] = {0}, least = 1, spread = 0;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < i; k++) {
            double x[3], y[3];
            normal_in_world(s, in, id[i], x);
            normal_in_world(s, in, id[k], y);
            vec_madd(sum, x, -1, y);
            spread = fmax(spread, vec_length(sum));
            vec_madd(sum, x, 1, y);
            least = fmin(least, vec_length(sum) / 2);
        }
    double bound = (2 * weight * spread + roundings(a, 16, 1, 1)) / fmax(least, 1e-3);
    if (in) /* each turned by a matrix that was rounded, and to unit length again */
        bound += roundings(a, 8 * distortion, 1, 1) / fmax(least, 1e-3);
    return bound;
}

/* Of the texture coordinates likewise. */
static double uv_bound(const struct scene *s, uint32_t stored, const uint32_t id[3], double weight)
{
    double spread = 2, size = 1;
    if (s->triangle_flags[stored] & TRIANGLE_HAS_UV) {
        spread = size = 0;
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 2; k++) {
                double x = (double)s->UV[id[i]][k], y = (double)s->UV[id[(i + 1) % 3]][k];
                spread = fmax(spread, 2 * fabs(x - y));
                size = fmax(size, fabs(x));
            }
    }
    return weight * spread + 8 * ULP * size;
}

/* May section 4 measure along the plane's normal? It does where t is less than a 16th of the
 * triangle's extent along the largest axis of d, in units of t; a 15th leaves room for rounding. */
static bool is_near(const double v[3][3], const double d[3], const double P[3], double t)
{
    int axis = 0;
    for (int k = 1; k < 3; k++)
        axis = fabs(d[k]) > fabs(d[axis]) ? k : axis;
    double least = INFINITY, most = -INFINITY;
    for (int i = 0; i < 3; i++) {
        const double z = t + (v[i][axis] - P[axis]) / d[axis];
        least = fmin(least, z);
        most = fmax(most, z);
    }
    return t < (most - least) / 15;
}

/* S: the largest coordinate that takes part. */
static void triangle_bounds(const struct arithmetic *a, const struct scene *s, uint32_t primitive,
                            const double d[3], const double P[3], double S, double cosine, double t,
                            struct hit_bounds *b)
{
    double v[3][3], e1[3], e2[3], e3[3], n[3];
    triangle_in_world(s, primitive, v);
    vec_madd(e1, v[1], -1, v[0]);
    vec_madd(e2, v[2], -1, v[0]);
    vec_madd(e3, v[2], -1, v[1]);
    vec_cross(n, e1, e2);
    double l1 = vec_length(e1), l2 = vec_length(e2), l3 = vec_length(e3), area2 = vec_length(n);
    double longest = fmax(l1, fmax(l2, l3));
    double weight = fmin(1, b->position / cosine * longest / area2) + roundings(a, 8, 1, 0);
    b->P = fmin(weight * longest, longest) + b->position / cosine + 8 * ULP * S;
    const double opposite[3] = {l3, l2, l1};
    double along = 0;
    for (int i = 0; i < 3; i++) {
        double from[3];
        vec_madd(from, v[i], -1, P);
        along += b->position * opposite[i] / (area2 * cosine) * fabs(vec_dot(from, d));
    }
    b->t = fmin(b->P, along + 8 * ULP * S) + roundings(a, 8, 1, 0) * t;
    if (is_near(v, d, P, t)) {
        double to[3];
        vec_madd(to, v[0], -1, P);
        b->t += 8 * ULP * l1 * l2 / (area2 * cosine) * vec_length(to);
    }
    b->Ng = 16 * ULP * l1 * l2 / area2 + roundings(a, 8, 1, 1);
    const struct instance *in;
    uint32_t id[3], stored = corners_of(s, primitive, id, &in);
    if (in) /* vertices that four roundings place: edges are off by eight, on both sides */
        b->Ng += 32 * ULP * S * longest / area2;
    b->Ns = b->Ng;
    if (s->triangle_flags[stored] & TRIANGLE_HAS_NORMALS)
        b->Ns = normal_bound(a, s, in, id, weight, primitive_distortion(s, primitive));
    b->uv[0] = b->uv[1] = uv_bound(s, stored, id, weight);
}

/* With S the largest coordinate involved, u the unit roundoff, the operations of protocol 13:
 *
 *   quantity      error                       from
 *   position      16 u S                      of an edge, seen along the ray: vertices relative to
 *                                             the origin are rounded (2 u S each), sheared (two
 *                                             products, two sums) and crossed; the sphere's
 *                                             l = f + b d, the disk's q = o + t d - c: as many
 *     in instance times primitive_distortion  all that is so in the group's space
 *   P, t          position / cos              a shift across the ray moves the point along it
 *   t  triangle   sum over the vertices of    t is the mean of the vertices' ways along the ray by
 *                   weight_i |<v_i - P, d>|     their weights, each off by an edge's shift,
 *                                               weight_i = position |e_i| / (|e1 x e2| cos), e_i
 *                                               opposite to v_i; no more than the point is off
 *     near it   and 8 u |v_0 - P|           section 4's distance along e1 x e2: rounded edges and
 *                 |e1||e2| / (|e1 x e2| cos)  products turn it, a sliver's most
 *   weights       P / least height            of a triangle
 *   Ng  triangle  16 u |e1||e2| / |e1 x e2|   rounded edges, a cross product, a normalisation
 *       sphere    P / r                       the point's shift over the radius
 *   Ns, uv        weights times differences   interpolated between what the corners have
 *
 * And so many roundings of themselves: points, distances and weights end with one division, a
 * sphere's with one root too; normals are normalised. */
void hit_bounds(const struct arithmetic *a, const struct scene *s, uint32_t primitive,
                const double o[3], const double d[3], double t, const double P[3],
                const double Ng[3], struct hit_bounds *out)
{
    double S = fmax(fmax(vec_max_abs(o), vec_max_abs(P)), primitive_extent(s, primitive));
    double cosine = fmax(fabs(vec_dot(d, Ng)), 1e-6);
    struct hit_bounds b = {.position = 16 * ULP * S * primitive_distortion(s, primitive)};
    b.P = b.position / cosine + roundings(a, 8, 1, 1) * S;
    b.t = b.P + roundings(a, 8, 1, 1) * t;
    const struct sphere *sphere = sphere_of(s, primitive);
    if (sphere) {
        sphere_bounds(a, sphere, Ng, &b);
    } else if (primitive_is_triangle(s, primitive)) {
        triangle_bounds(a, s, primitive, d, P, S, cosine, t, &b);
    } else {
        b.Ng = b.Ns = 8 * ULP;
        b.uv[0] = b.uv[1] = b.P / (double)disk_of(s, primitive)->radius + roundings(a, 16, 2, 1);
    }
    *out = b;
}

double emitter_cosine_error(const struct arithmetic *a, const struct scene *s, uint32_t primitive,
                            const double o[3], const double d[3], double t, double *cosine)
{
    double P[3], n[3];
    struct hit_bounds b;
    vec_madd(P, o, t, d);
    primitive_normal(s, primitive, P, n);
    hit_bounds(a, s, primitive, o, d, t, P, n, &b);
    *cosine = fabs(vec_dot(n, d));
    const double S = fmax(fmax(vec_max_abs(o), vec_max_abs(P)), primitive_extent(s, primitive));
    return b.Ng + 8 * ULP * S / t + roundings(a, 8, 1, 1);
}

/* ---- materials ------------------------------------------------------------------------------ */

uint32_t light_primitive(const struct scene *s, uint32_t light, uint32_t *count)
{
    *count = 0;
    for (size_t id = 0; id < scene_primitive_count(s); id++)
        if (material_emits(&s->materials[s->primitive_material[id]]) && (*count)++ == light)
            return (uint32_t)id;
    return UINT32_MAX;
}

/* The share of a spot's intensity at cosine c. */
static double spot_share(const struct light *l, double c)
{
    double outer = cos(l->angle), t = (c - outer) / fmax(cos(l->inner_angle) - outer, 1e-6);
    t = fmin(fmax(t, 0), 1);
    return t * t * (3 - 2 * t);
}

/* The cosine is a sum of products of a normalised direction, and cos(angle) is rounded. */
void spot_spread(const struct arithmetic *a, const struct light *l, const double d[3], double t,
                 double spread[3])
{
    double axis[3], error = roundings(a, 16, 1, 1), most = 0;
    spread[0] = spread[1] = spread[2] = 0;
    if (l->type != LIGHT_SPOT)
        return;
    vec_load(axis, l->direction);
    double c = -vec_dot(d, axis), share = spot_share(l, c);
    for (int sign = -1; sign <= 1; sign += 2)
        most = fmax(most, fabs(spot_share(l, c + sign * error) - share));
    for (int k = 0; k < 3; k++)
        spread[k] = (double)l->intensity[k] / (t * t) * most;
}

/* uv of section 4 at a point of the primitive. */
static void uv_at(const struct scene *s, uint32_t primitive, const double P[3], double uv[2])
{
    const double pi = 3.14159265358979323846;
    const struct sphere *sphere = sphere_of(s, primitive);
    double c[3], n[3];
    if (primitive < s->triangle_count) { /* weights are areas seen along the normal */
        double v[3][3], e1[3], e2[3], f[3], x[3], b[3];
        triangle_in_world(s, primitive, v);
        vec_madd(e1, v[1], -1, v[0]);
        vec_madd(e2, v[2], -1, v[0]);
        vec_madd(f, P, -1, v[0]);
        vec_cross(n, e1, e2);
        vec_cross(x, f, e2);
        b[1] = vec_dot(x, n) / vec_dot(n, n);
        vec_cross(x, e1, f);
        b[2] = vec_dot(x, n) / vec_dot(n, n);
        b[0] = 1 - b[1] - b[2];
        for (int i = 0; i < 2; i++) {
            bool has_uv = s->triangle_flags[primitive] & TRIANGLE_HAS_UV;
            uv[i] = has_uv ? 0 : b[1 + i];
            for (int k = 0; k < 3 && has_uv; k++)
                uv[i] += b[k] * (double)s->UV[s->triangles[primitive][k]][i];
        }
        return;
    }
    if (sphere) {
        vec_load(c, sphere->center);
        vec_madd(n, P, -1, c);
        vec_normalize(n);
        uv[0] = atan2(n[1], n[0]) / (2 * pi);
        uv[0] += uv[0] < 0;
        uv[1] = 1 - acos(fmin(fmax(n[2], -1), 1)) / pi;
        return;
    }
    double frame[3][3], q[3];
    const struct disk *disk = disk_of(s, primitive);
    vec_load(c, disk->center);
    vec_load(n, disk->normal);
    vec_madd(q, P, -1, c);
    vec_frame(n, frame);
    for (int i = 0; i < 2; i++)
        uv[i] = 0.5 + 0.5 * vec_dot(q, frame[i]) / (double)disk->radius;
}

void texture_steps(const struct texture *t, const double uv[2], double step[2])
{
    bool turned = t->turn[0] != 0 || t->turn[1] != 0;
    double reach[2];
    for (int i = 0; i < 2; i++)
        reach[i] = fabs((double)t->scale[i] * uv[i]) + fabs((double)t->offset[i]);
    for (int i = 0; i < 2; i++)
        step[i] = (turned ? 8 * (reach[0] + reach[1] + 1) : 5 * (reach[i] + 1)) * ULP /
                  fmax(1e-6, fabs((double)t->scale[i]));
}

/* texture: its index, < 0: none. */
static void texture_steps_add(const struct scene *s, int64_t texture, const double uv[2],
                              double step[2])
{
    double own[2];
    if (texture < 0)
        return;
    texture_steps(&s->textures[texture], uv, own);
    for (int i = 0; i < 2; i++)
        step[i] = fmax(step[i], own[i]);
}

void material_texture_steps(const struct scene *s, const struct material *m, const double uv[2],
                            double step[2])
{
    const struct material_layers *y = &m->layers;
    const struct scalar_input *const scalars[] = {&m->roughness, &m->metallic, &m->specular,
                                                  &m->ior,
#define FIELD(name) &m->name,
                                                  MATERIAL_LIST_SCALARS(FIELD)
#undef FIELD
#define FIELD(name) &y->name,
                                                      MATERIAL_LAYER_SCALARS(FIELD)
#undef FIELD
    };
    const struct color_input *const colors[] = {&m->base, &y->specular_color, &y->fuzz};
    const size_t layers = y->present ? 0 : 4; /* what is not there is not filled in */
    for (int i = 0; i < 2; i++)
        step[i] = 4 * ULP * fmax(1, fabs(uv[i]));
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars - layers; i++)
        texture_steps_add(s, scalars[i]->texture, uv, step);
    for (size_t i = 0; i < (y->present ? 3 : 1); i++)
        texture_steps_add(s, colors[i]->texture, uv, step);
    texture_steps_add(s, m->normal_map.present ? (int64_t)m->normal_map.texture : -1, uv, step);
    texture_steps_add(s, y->coat_normal_map.present ? (int64_t)y->coat_normal_map.texture : -1, uv,
                      step);
    texture_steps_add(s, (int64_t)m->emission_texture - 1, uv, step);
}

void emission_spread(const struct arithmetic *a, const struct scene *s, uint32_t primitive,
                     const double o[3], const double d[3], double t, double spread[3])
{
    const struct material *m = &s->materials[s->primitive_material[primitive]];
    spread[0] = spread[1] = spread[2] = 0;
    if (!m->emission_texture)
        return;
    const struct texture *x = &s->textures[m->emission_texture - 1];
    struct hit_bounds b;
    double P[3], n[3], uv[2], step[2], here[4], moved[4];
    vec_madd(P, o, t, d);
    primitive_normal(s, primitive, P, n);
    hit_bounds(a, s, primitive, o, d, t, P, n, &b);
    uv_at(s, primitive, P, uv);
    texture_steps(x, uv, step);
    texture_value(x, uv, here);
    for (int i = 0; i < 4; i++) {
        double at[2] = {uv[0], uv[1]}, by = b.uv[i / 2] + step[i / 2];
        at[i / 2] += i % 2 ? -by : by;
        texture_value(x, at, moved);
        for (int c = 0; c < 3; c++)
            spread[c] += (double)m->emission[c] * fabs(moved[c] - here[c]);
    }
}

static double scalar_expected(const struct scene *s, const struct scalar_input *in,
                              const double uv[2], double low, double high)
{
    double v = (double)in->value, c[4];
    if (in->texture >= 0 && v != 0) {
        texture_value(&s->textures[in->texture], uv, c);
        v *= c[in->channel];
    }
    return fmin(fmax(v, low), high);
}

static bool has_coat(const struct material *m)
{
    return material_is_list(m) && m->type == MATERIAL_PRINCIPLED &&
           (m->clearcoat.value != 0 || m->clearcoat.texture >= 0);
}

double material_alpha(const struct scene *s, uint32_t material, const double uv[2])
{
    const struct material *m = &s->materials[material];
    bool list = material_is_list(m);
    double r = scalar_expected(s, &m->roughness, uv, 0, 1), alpha = r * r;
    if (list && m->type == MATERIAL_ROUGH_DIELECTRIC)
        return alpha < 0.001 ? 1 : fmin(alpha, 0.9999); /* 1 would say that there is no facet */
    if (m->type != MATERIAL_ROUGH_CONDUCTOR && m->type != MATERIAL_PRINCIPLED)
        return 1;
    if (list)
        alpha *= sqrt(1 - 0.9 * scalar_expected(s, &m->anisotropy, uv, 0, 1));
    alpha = fmax(alpha, 0.001);
    if (list && m->layers.present && (m->layers.coat.value != 0 || m->layers.coat.texture >= 0)) {
        double coat = scalar_expected(s, &m->layers.coat_roughness, uv, 0, 1);
        alpha = fmin(alpha, fmax(coat * coat, 0.001));
    }
    if (has_coat(m))
        alpha = fmin(alpha, 0.1 - 0.099 * scalar_expected(s, &m->clearcoat_gloss, uv, 0, 1));
    return alpha;
}

struct ggx_bounds ggx_bounds(const struct arithmetic *a, double alpha, const double wo[3],
                             const double wi[3])
{
    struct ggx_bounds b = {0};
    double h[3];
    if (alpha >= 1)
        return b;
    vec_madd(h, wo, 1, wi);
    double size = vec_length(h);
    vec_normalize(h);
    double root = sqrt(h[0] * h[0] + h[1] * h[1] + alpha * alpha * h[2] * h[2]);
    b.density = fmin(1, roundings(a, 32, 5, 4) + 2 * 2 * 8 * ULP / (size * root));
    b.half = roundings(a, 8, 3, 5) * root / alpha;
    b.sampled_density = fmin(1, b.density + 4 * b.half / root);
    return b;
}

static double fresnel_expected(double eta, double c)
{
    double s2 = (1 - c * c) / (eta * eta);
    if (s2 >= 1)
        return 1;
    double ct = sqrt(1 - s2), rs = (c - eta * ct) / (c + eta * ct);
    double rp = (eta * c - ct) / (eta * c + ct);
    return 0.5 * (rs * rs + rp * rp);
}

static double between(double eta, double c, double ct)
{
    double rs = (c - eta * ct) / (c + eta * ct), rp = (eta * c - ct) / (eta * c + ct);
    return 0.5 * (rs * rs + rp * rp);
}

/* The operations of protocol 16, in its order:
 *
 *   rounds                        times  of
 *   c c                               1  c c / eta^2
 *   1 - c c                           1  s2
 *   eta, which is 1 / ior             2  s2, whose divisor has it twice
 *   eta eta, and the quotient         2  s2
 *   1 - s2                            1  1
 * These are errors of the root's argument: where that is small, ct and F turn on it. Then
 *   eta and its product               2  the difference and the sum in rs and rp
 *   the difference, the sum           1  each
 * which makes six, absolutely, for they nearly cancel near ior 1: |rs| e + e^2 / 2 in F. */
struct refraction_bounds refraction_bounds(const struct arithmetic *a, double eta, double c)
{
    const double s2 = (1 - c * c) / (eta * eta), k = 1 - s2;
    const double off = ULP * (c * c / (eta * eta) + 1) + roundings(a, 5, 3, 0) * fmin(s2, 1);
    const double low = sqrt(fmax(0, k - off)), high = sqrt(fmax(0, k + off));
    const double ct = sqrt(fmax(0, k)), F = fresnel_expected(eta, c);
    struct refraction_bounds b = {.ct = fmax(high - ct, ct - low) + roundings(a, 1, 0, 1) * ct};
    const double at_low = k - off <= 0 ? 1 : between(eta, c, low);
    const double at_high = high > 0 ? between(eta, c, high) : 1;
    const double r = sqrt(2 * F), e = roundings(a, 6, 2, 0);
    b.F = fmax(fabs(at_low - F), fabs(at_high - F)) + 2 * r * e + e * e;
    return b;
}

static struct refraction_bounds facet_bounds(const struct arithmetic *a, double eta,
                                             const double wo[3], const double wi[3], double *F)
{
    double h[3];
    vec_madd(h, wo, 1, wi);
    vec_normalize(h);
    double c = fmin(fabs(vec_dot(wo, h)), 1);
    *F = fresnel_expected(eta, c);
    return refraction_bounds(a, eta, c);
}

double facet_reflectance(const struct arithmetic *a, double eta, const double wo[3],
                         const double wi[3])
{
    double F, off = facet_bounds(a, eta, wo, wi, &F).F;
    return off / fmax(F, 1e-30);
}

double faint_weight(const struct arithmetic *a, double eta, const double wo[3], const double wi[3])
{
    double F, off = facet_bounds(a, eta, wo, wi, &F).F;
    return F < off ? off / LEAST_SHARE : 0;
}

/* The coat's density has 1 / <wo, h>, and nothing that it cancels against. With H = wo + wi
 *
 *     <wo, h> = |H| / 2 + (|wo|^2 - |wi|^2) / (2 |H|),
 *
 * whose second part is 0 for unit directions. But directions are rounded:
 *
 *   as it is given                2  of a direction's square, which is 1
 *   on its way into the frame     2  the same
 * 8 for both directions, over |H|^2 where <wo, h> is measured by |H| / 2. */
static double coat_density(const double wo[3], const double wi[3])
{
    double H[3];
    vec_madd(H, wo, 1, wi);
    return fmin(1, 8 * ULP / fmax(vec_dot(H, H), 1e-12));
}

static double conductor_expected(double eta, double k, double c2, double s2)
{
    double t0 = eta * eta - k * k - s2, ab = hypot(t0, 2 * eta * k);
    double q = sqrt(0.5 * (ab + fabs(t0))), a = t0 < 0 && q > 0 ? eta * k / q : q;
    double t1 = ab + c2, t2 = 2 * a * sqrt(c2), t3 = c2 * ab + s2 * s2, t4 = t2 * s2;
    return 0.5 * (t1 - t2) / (t1 + t2) * (1 + (t3 - t4) / (t3 + t4));
}

/* F turns on t0 where that is little beside what it is made of, like a dielectric's at its critical
 * angle. The operations of protocol 16:
 *
 *   rounds                        times  of
 *   <wo, h>, and its square       8 + 1  c c, which h's normalisation is in
 *   1 - c c, two differences          3  s2
 *   eta eta, two differences          3  eta^2
 *   k k, two differences              3  k^2
 * That was t0. After it:
 *   t1 and t2                         6  themselves, two of them roots, one a quotient; they nearly
 *                                        cancel in rs where there is little to reflect with (eta
 *                                        near 1, k near 0)
 *   rs                                1  itself
 *   rp                                   rs times what is below 1 */
double conductor_reflectance(const struct arithmetic *a, const double eta[3], const double k[3],
                             const double wo[3], const double wi[3])
{
    double h[3], worst = 0;
    vec_madd(h, wo, 1, wi);
    vec_normalize(h);
    const double c = fmin(fabs(vec_dot(wo, h)), 1), c2 = c * c, s2 = 1 - c2;
    for (int i = 0; i < 3; i++) {
        const double eta2 = eta[i] * eta[i], k2 = k[i] * k[i];
        const double off = roundings(a, 9, 1, 1) * c2 + ULP * (3 * s2 + 3 * eta2 + 3 * k2);
        const double F = conductor_expected(eta[i], k[i], c2, s2);
        for (int sign = -1; sign <= 1; sign += 2)
            worst = fmax(worst, fabs(conductor_expected(eta[i], k[i], c2, s2 + sign * off) - F));
    }
    return worst + roundings(a, 7, 1, 2);
}

struct ggx_bounds scatter_bounds(const struct arithmetic *a, const struct scene *s,
                                 uint32_t material, const double uv[2], bool entering,
                                 const double wo[3], const double wi[3])
{
    const struct material *m = &s->materials[material];
    double alpha = material_alpha(s, material, uv), bent[3], h[3];
    double ior = scalar_expected(s, &m->ior, uv, 0.1, 10), eta = entering ? ior : 1 / ior;
    if (m->type == MATERIAL_DIELECTRIC) /* what goes through: twice half, as it is used */
        return (struct ggx_bounds){.half =
                                       wi[2] < 0 ? 0.5 * refraction_bounds(a, eta, wo[2]).ct : 0};
    if (!material_is_list(m) || wi[2] >= 0) {
        struct ggx_bounds b = ggx_bounds(a, alpha, wo, wi);
        if (m->type == MATERIAL_ROUGH_CONDUCTOR && wi[2] > 0) {
            double eta3[3], k3[3];
            for (int c = 0; c < 3; c++)
                eta3[c] = (double)m->eta[c], k3[c] = (double)m->k[c];
            b.faint = conductor_reflectance(a, eta3, k3, wo, wi) /
                      (material_is_list(m) ? LEAST_SHARE : 1);
        }
        if (m->type == MATERIAL_ROUGH_DIELECTRIC && wi[2] > 0) { /* F alone makes f */
            double F = facet_reflectance(a, eta, wo, wi);
            b.density = fmin(1, b.density + F);
            b.sampled_density = fmin(1, b.sampled_density + F);
            b.faint = faint_weight(a, eta, wo, wi);
        }
        if (alpha < 1)
            b.grazing = (2 * b.half + 8 * ULP) / fmax(fabs(wi[2]), 1e-12);
        if (has_coat(m)) {
            b.density = fmin(1, b.density + coat_density(wo, wi));
            b.sampled_density = fmin(1, b.sampled_density + coat_density(wo, wi));
        }
        return b;
    }
    vec_scale(bent, eta, wi);
    struct ggx_bounds b = ggx_bounds(a, alpha, wo, bent);
    if (fabs(eta - 1) < 0.0001)
        return (struct ggx_bounds){0};
    if (alpha >= 1) { /* smooth: the root's argument is 1 less a square */
        b.half = roundings(a, 4, 1, 1) * (1 + 1 / (eta * eta * fmax(-wi[2], 1e-12)));
        return b;
    }
    vec_madd(h, wo, eta, wi);
    double size = fmax(vec_length(h), 1e-12);
    vec_normalize(h);
    double c = fabs(vec_dot(wo, h)), d = fmax(fabs(vec_dot(wi, h)), 1e-12), i = 1 / eta;
    double j = fmax(fabs(c - eta * d), 1e-12), left = fmax(1 - fresnel_expected(eta, c), 1e-12);
    /* relative, for a facet that is off by one */
    double bend = 2 * (1 + eta * i * i * c / d) / j + (1 + i * i * c / d) / d + 4 / (left * d);
    double off = roundings(a, 8, 1, 1) * (1 + eta) / size;
    b.density = fmin(1, b.density + bend * off + roundings(a, 16, 4, 1) / left);
    b.sampled_density = fmin(1, b.sampled_density + bend * b.half + b.density);
    b.half *= fmax(1, (fabs(i * c - d) + i + i * i * c / d) / 2);
    b.half += roundings(a, 4, 1, 1) * (1 + i * i / d);
    return b;
}

double choice_step(const struct arithmetic *a, const struct scene *s, uint32_t material,
                   const double uv[2], bool entering, double c)
{
    const struct material *m = &s->materials[material];
    double ior = scalar_expected(s, &m->ior, uv, 0.1, 10);
    if (m->type != MATERIAL_DIELECTRIC)
        return 0;
    return refraction_bounds(a, entering ? ior : 1 / ior, fmin(c, 1)).F;
}

double material_roundings(const struct arithmetic *a, const struct material *m)
{
    return material_is_list(m) ? roundings(a, 512, 40, 20) : bsdf_roundings(a);
}

double bsdf_roundings(const struct arithmetic *a) { return roundings(a, 96, 10, 6); }
double direction_roundings(const struct arithmetic *a) { return roundings(a, 64, 4, 4); }
double root_step(const struct arithmetic *a) { return roundings(a, 4, 0, 2); }
double choice_roundings(const struct arithmetic *a, const struct scene *s)
{
    return s->light_choice == LIGHT_CHOICE_TREE ? roundings(a, 64 * 16, 64 * 2, 64 * 3) : 0;
}
double light_roundings(const struct arithmetic *a) { return roundings(a, 64, 4, 2); }
