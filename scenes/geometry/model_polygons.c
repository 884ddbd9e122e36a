/* SPDX-License-Identifier: Apache-2.0 */
#include "model_polygons.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Along the axis that the polygon's normal (Newell's) is nearest to, counter-clockwise. False: it
 * has no area. */
static bool project(const float (*P)[3], size_t n, double (*at)[2])
{
    double normal[3] = {0};
    int axis = 0;
    for (size_t i = 0; i < n; i++) {
        const float *p = P[i], *q = P[i + 1 < n ? i + 1 : 0];
        for (int c = 0; c < 3; c++) {
            int j = (c + 1) % 3, k = (c + 2) % 3;
            normal[c] += ((double)p[j] - (double)q[j]) * ((double)p[k] + (double)q[k]);
        }
    }
    for (int c = 1; c < 3; c++)
        axis = fabs(normal[c]) > fabs(normal[axis]) ? c : axis;
    int x = (axis + 1) % 3, y = (axis + 2) % 3;
    for (size_t i = 0; i < n; i++) {
        at[i][0] = (double)P[i][normal[axis] < 0 ? y : x];
        at[i][1] = (double)P[i][normal[axis] < 0 ? x : y];
    }
    return fabs(normal[axis]) > 0;
}

/* Twice the area to the left of a, b, c. */
static double turn(const double a[2], const double b[2], const double c[2])
{
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

static bool same(const double a[2], const double b[2]) { return a[0] == b[0] && a[1] == b[1]; }

/* What is left of the polygon: `count` corners in `ring`. */
struct rest {
    const double (*at)[2];
    uint32_t *ring;
    size_t count;
};
static const double *corner(const struct rest *r, size_t i) { return r->at[r->ring[i]]; }
static size_t next(const struct rest *r, size_t i) { return i + 1 < r->count ? i + 1 : 0; }
static size_t previous(const struct rest *r, size_t i) { return i > 0 ? i - 1 : r->count - 1; }
static double turn_at(const struct rest *r, size_t i)
{
    return turn(corner(r, previous(r, i)), corner(r, i), corner(r, next(r, i)));
}

/* Can corner i be cut off? strict: also where another corner lies on the cut's triangle's border, a
 * corner without a turn not at all. */
static bool is_ear(const struct rest *r, size_t i, bool strict)
{
    const double *a = corner(r, previous(r, i)), *b = corner(r, i), *c = corner(r, next(r, i));
    double area = turn(a, b, c);
    if (strict ? !(area > 0) : !(area >= 0))
        return false;
    for (size_t k = 0; k < r->count; k++) {
        const double *p = corner(r, k);
        if (same(p, a) || same(p, b) || same(p, c) || turn_at(r, k) > 0)
            continue; /* where the polygon turns left nothing of it reaches in first */
        double u = turn(a, b, p), v = turn(b, c, p), w = turn(c, a, p);
        if (strict ? u >= 0 && v >= 0 && w >= 0 : u > 0 && v > 0 && w > 0)
            return false;
    }
    return true;
}

/* The next ear from corner `from` on; that corner where there is none. */
static size_t find_ear(const struct rest *r, size_t from)
{
    for (int strict = 1; strict >= 0; strict--) {
        size_t i = from;
        for (size_t k = 0; k < r->count; k++, i = next(r, i))
            if (is_ear(r, i, strict))
                return i;
    }
    return from;
}

static bool is_convex(const struct rest *r)
{
    bool convex = true;
    for (size_t i = 0; i < r->count && convex; i++)
        convex = turn_at(r, i) > 0;
    return convex;
}

void polygon_cut(const float (*P)[3], size_t n, const struct polygon_room *room,
                 uint32_t (*triangles)[3])
{
    struct rest r = {(const double(*)[2])room->at, room->ring, n};
    bool fan = !project(P, n, room->at);
    for (size_t i = 0; i < n; i++)
        r.ring[i] = (uint32_t)i;
    fan = fan || is_convex(&r);
    size_t at = 1;
    for (size_t made = 0; made < n - 2; made++) {
        at = fan || r.count == 3 ? 1 : find_ear(&r, at);
        uint32_t *t = triangles[made];
        t[0] = r.ring[previous(&r, at)];
        t[1] = r.ring[at];
        t[2] = r.ring[next(&r, at)];
        if (fan) { /* from the first corner, without moving the rest each time */
            t[0] = 0;
            t[1] = (uint32_t)made + 1;
            t[2] = (uint32_t)made + 2;
            continue;
        }
        r.count--;
        memmove(r.ring + at, r.ring + at + 1, (r.count - at) * sizeof *r.ring);
        at = at < r.count ? at : 0;
    }
}
