/* SPDX-License-Identifier: Apache-2.0 */
/* ray_order DEVICE SCENE SIDE: what sorting rays could win. Follows SIDE x SIDE camera rays over
 * some diffuse reflections, and has the device walk each generation's rays (closest hit and any
 * hit, by PROBE_HIT) in several orders, a launch each. Names each launch and what it found; a
 * profiler times them: ncu -k k_probe --metrics gpu__time_duration.sum ray_order cuda:0 SCENE 2048
 */
#include "backends.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { IN = 8, OUT = 5, BOUNCES = 3 }; /* words of a row of PROBE_HIT */

struct rays {
    uint32_t (*row)[IN], (*found)[OUT];
    size_t count;
};

struct key {
    uint64_t value;
    uint32_t ray;
};

static int compare_keys(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    return x->value != y->value ? (x->value < y->value ? -1 : 1)
                                : (x->ray > y->ray) - (x->ray < y->ray);
}

/* Bits of v spread to every third place. */
static uint64_t spread(uint32_t v)
{
    uint64_t r = 0;
    for (unsigned i = 0; i < 16; i++)
        r |= (uint64_t)(v >> i & 1) << 3 * i;
    return r;
}

/* The Morton code of a point of the unit cube, `bits` an axis. */
static uint64_t morton(const double p[3], unsigned bits)
{
    uint64_t r = 0;
    for (unsigned a = 0; a < 3; a++) {
        double cells = (double)(1u << bits), x = floor(p[a] * cells);
        r |= spread((uint32_t)fmin(fmax(x, 0), cells - 1)) << a;
    }
    return r;
}

/* ---- orders of a generation's rays ---------------------------------------------------------- */

enum order { AS_THEY_COME, SHUFFLED, BY_ORIGIN, BY_OCTANT, BY_BOTH, ORDERS };
static const char *const order_names[ORDERS] = {
    "as they come", "shuffled", "by origin (Morton, 10 bits an axis)",
    "by octant of direction, then origin",
    "by origin and direction (Morton, 5 and 3 bits an axis)"};

static void place_of(const struct scene *s, const uint32_t *row, double origin[3],
                     double direction[3])
{
    float f[6];
    memcpy(f, row, sizeof f);
    for (unsigned a = 0; a < 3; a++) {
        double low = s->bounds_min[a], high = s->bounds_max[a];
        origin[a] = high > low ? (f[a] - low) / (high - low) : 0;
        direction[a] = 0.5 + 0.5 * f[3 + a];
    }
}

static uint64_t key_of(const struct scene *s, enum order order, const uint32_t *row, uint32_t ray)
{
    double origin[3], direction[3];
    uint32_t words[4];
    place_of(s, row, origin, direction);
    switch (order) {
    case SHUFFLED:
        philox4x32((uint32_t[]){ray, 0, 0, 0}, (uint32_t[]){7, 7}, words);
        return words[0];
    case BY_ORIGIN:
        return morton(origin, 10);
    case BY_OCTANT:
        return morton(direction, 1) << 30 | morton(origin, 10);
    case BY_BOTH: /* cells of space, within them directions, within those space again */
        return (morton(origin, 5) << 9 | morton(direction, 3)) << 15 |
               (morton(origin, 10) & 0x7FFF);
    default:
        return ray;
    }
}

static enum status walk(struct device *d, const struct scene *s, struct rays *r, enum order order,
                        unsigned bounce, struct error *err)
{
    if (r->count == 0)
        return error_msg(err, STATUS_ARG, "no ray of bounce %u is left", bounce);
    struct key *keys = calloc(r->count, sizeof *keys);
    uint32_t(*row)[IN] = calloc(r->count, sizeof *row),
    (*found)[OUT] = calloc(r->count, sizeof *found);
    enum status st =
        keys && row && found ? STATUS_OK : error_msg(err, STATUS_MEMORY, "out of memory");
    if (st == STATUS_OK) {
        for (uint32_t i = 0; i < r->count; i++)
            keys[i] = (struct key){key_of(s, order, r->row[i], i), i};
        qsort(keys, r->count, sizeof *keys, compare_keys);
        for (size_t i = 0; i < r->count; i++)
            memcpy(row[i], r->row[keys[i].ray], sizeof *row);
        st = device_probe(d, PROBE_HIT, &row[0][0], r->count, &found[0][0], err);
    }
    size_t hits = 0;
    for (size_t i = 0; st == STATUS_OK && i < r->count; i++) {
        memcpy(r->found[keys[i].ray], found[i], sizeof *found);
        hits += found[i][0] != UINT32_MAX;
    }
    if (st == STATUS_OK)
        printf("bounce %u: %zu rays, %zu hit, %s\n", bounce, r->count, hits, order_names[order]);
    free(keys);
    free(row);
    free(found);
    return st;
}

/* ---- rays ------------------------------------------------------------------------------------ */

static void row_fill(uint32_t *row, const double o[3], const double d[3])
{
    float f[7] = {(float)o[0], (float)o[1], (float)o[2], (float)d[0],
                  (float)d[1], (float)d[2], INFINITY};
    memcpy(row, f, sizeof f);
    row[7] = 0;
}

/* Through the middles of pixels, 8 x 4 of them after one another, as a warp has them. */
static void camera_rays(const struct scene *s, uint32_t side, struct rays *r)
{
    double tx, ty;
    camera_tangents(&s->camera, side, side, &tx, &ty);
    r->count = (size_t)side * side;
    for (uint32_t i = 0; i < r->count; i++) {
        uint32_t block = i / 32, x = block % (side / 8) * 8 + i % 8,
                 y = block / (side / 8) * 4 + i % 32 / 8;
        double a = tx * (2 * (x + 0.5) / side - 1), b = ty * (1 - 2 * (y + 0.5) / side), d[3];
        double scale = 1 / sqrt(1 + a * a + b * b);
        for (unsigned k = 0; k < 3; k++)
            d[k] = scale * (s->camera.forward[k] + a * s->camera.right[k] + b * s->camera.up[k]);
        row_fill(r->row[i], s->camera.origin, d);
    }
}

/* The geometric normal of a triangle, towards the side that -d is on; false: not a triangle. */
static bool normal_of(const struct scene *s, uint32_t primitive, const float d[3], double n[3])
{
    if (primitive >= s->triangle_count)
        return false;
    const uint32_t *t = s->triangles[primitive];
    double a[3], b[3], length = 0, facing = 0;
    for (unsigned k = 0; k < 3; k++) {
        a[k] = (double)s->P[t[1]][k] - s->P[t[0]][k];
        b[k] = (double)s->P[t[2]][k] - s->P[t[0]][k];
    }
    for (unsigned k = 0; k < 3; k++)
        n[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
    for (unsigned k = 0; k < 3; k++) {
        length += n[k] * n[k];
        facing += n[k] * d[k];
    }
    length = (facing > 0 ? -1 : 1) * sqrt(length);
    for (unsigned k = 0; k < 3; k++)
        n[k] /= length;
    return true;
}

/* Each ray that hit a triangle goes on in a direction by the cosine: a point of the unit sphere
 * about the tip of the normal. Those that left are gone: the others close ranks, as in a wavefront.
 */
static void reflect(const struct scene *s, struct rays *r, unsigned bounce)
{
    size_t count = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        float f[6], t;
        double n[3], o[3], d[3], length = 0;
        uint32_t words[4];
        memcpy(f, r->row[i], sizeof f);
        memcpy(&t, &r->found[i][1], sizeof t);
        if (r->found[i][0] == UINT32_MAX || !normal_of(s, r->found[i][0], f + 3, n))
            continue;
        philox4x32((uint32_t[]){i, bounce, 0, 0}, (uint32_t[]){1, 2}, words);
        double z = 2 * u01(words[0]) - 1, phi = 2 * M_PI * u01(words[1]), flat = sqrt(1 - z * z);
        double sphere[3] = {flat * cos(phi), flat * sin(phi), z};
        for (unsigned k = 0; k < 3; k++) {
            o[k] = f[k] + (double)t * f[3 + k] + 1e-4 * scene_radius(s) * n[k];
            d[k] = n[k] + sphere[k];
            length += d[k] * d[k];
        }
        for (unsigned k = 0; k < 3; k++)
            d[k] /= sqrt(length);
        row_fill(r->row[count++], o, d);
    }
    r->count = count;
}

static enum status measure(struct device *d, const struct scene *s, uint32_t side,
                           struct error *err)
{
    struct rays r = {calloc((size_t)side * side, sizeof *r.row),
                     calloc((size_t)side * side, sizeof *r.found), 0};
    enum status st = r.row && r.found ? STATUS_OK : error_msg(err, STATUS_MEMORY, "out of memory");
    if (st == STATUS_OK) {
        camera_rays(s, side, &r);
        st = walk(d, s, &r, AS_THEY_COME, 0, err);
    }
    for (unsigned bounce = 1; st == STATUS_OK && bounce <= BOUNCES; bounce++) {
        reflect(s, &r, bounce);
        for (enum order o = AS_THEY_COME; st == STATUS_OK && o < ORDERS; o++)
            st = walk(d, s, &r, o, bounce, err);
    }
    free(r.row);
    free(r.found);
    return st;
}

int main(int argc, char **argv)
{
    struct error err = {0};
    struct device *d = NULL;
    struct scene *s = NULL;
    uint32_t side = argc == 4 ? (uint32_t)strtoul(argv[3], NULL, 10) : 0;
    if (side < 8 || side % 8 || side > 8192) {
        fprintf(stderr, "usage: ray_order DEVICE SCENE SIDE, SIDE a multiple of 8 up to 8192\n");
        return 2;
    }
    struct build_settings settings = {.mode = MODE_FAST, .registers = 64};
    enum status st = scene_load(argv[2], &s, &err);
    if (st == STATUS_OK)
        st = device_open(argv[1], &d, &err);
    if (st == STATUS_OK)
        st = device_load(d, s, BVH_BINARY, NULL, &err);
    if (st == STATUS_OK)
        st = device_build(d, &settings, NULL, &err);
    if (st == STATUS_OK)
        st = measure(d, s, side, &err);
    if (st != STATUS_OK)
        fprintf(stderr, "ray_order: %s\n", err.msg);
    device_close(d);
    scene_free(s);
    return st == STATUS_OK ? 0 : 2;
}
