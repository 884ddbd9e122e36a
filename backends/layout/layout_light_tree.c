/* SPDX-License-Identifier: Apache-2.0 */
/* The light tree (protocol section 24.1), built in double precision and stored in float32. */
#include "layout_buffers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = 16 };

struct box {
    double lo[3], hi[3];
};
static const struct box box_empty = {{INFINITY, INFINITY, INFINITY},
                                     {-INFINITY, -INFINITY, -INFINITY}};

static void box_add(struct box *b, const double lo[3], const double hi[3])
{
    for (int k = 0; k < 3; k++) {
        b->lo[k] = fmin(b->lo[k], lo[k]);
        b->hi[k] = fmax(b->hi[k], hi[k]);
    }
}

static double box_diagonal2(const struct box *b)
{
    double x = b->hi[0] - b->lo[0], y = b->hi[1] - b->lo[1], z = b->hi[2] - b->lo[2];
    return x * x + y * y + z * z;
}

static double vector_length(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/* Box, W and V of the text for some lights. */
struct pile {
    struct box box;
    double V[3], W;
    size_t count;
};

static struct pile pile_empty(void) { return (struct pile){.box = box_empty}; }

static void pile_add_light(struct pile *p, const struct light_leaf *l)
{
    box_add(&p->box, l->lo, l->hi);
    for (int k = 0; k < 3; k++)
        p->V[k] += l->axis[k] * l->weight;
    p->W += l->weight;
    p->count++;
}

static void pile_add(struct pile *p, const struct pile *q)
{
    box_add(&p->box, q->box.lo, q->box.hi);
    for (int k = 0; k < 3; k++)
        p->V[k] += q->V[k];
    p->W += q->W;
    p->count += q->count;
}

static double pile_cost(const struct pile *p)
{
    return box_diagonal2(&p->box) * (4 * p->W - 3 * vector_length(p->V));
}

struct plane {
    int axis, bin; /* lights in lower bins go left; axis -1: there is none */
    double lo, extent, cost;
};

static double leaf_center(const struct light_leaf *l, int axis)
{
    return (l->lo[axis] + l->hi[axis]) * 0.5;
}

static int leaf_bin(const struct light_leaf *l, const struct plane *p)
{
    double at = (leaf_center(l, p->axis) - p->lo) / p->extent;
    return (int)fmin(BINS - 1, floor(at * BINS));
}

struct tree_builder {
    struct light_leaf *leaves, *spare;
    struct k_light_node *nodes;
    struct k_light_extra *extras;
    uint32_t area_count, made;
    double total;
};

static void planes_try(const struct light_leaf *leaves, size_t n, struct plane p,
                       struct plane *best)
{
    struct pile bins[BINS], right[BINS], left = pile_empty();
    for (int i = 0; i < BINS; i++)
        bins[i] = pile_empty();
    for (size_t i = 0; i < n; i++)
        pile_add_light(&bins[leaf_bin(&leaves[i], &p)], &leaves[i]);
    right[BINS - 1] = bins[BINS - 1];
    for (int i = BINS - 2; i > 0; i--) {
        right[i] = right[i + 1];
        pile_add(&right[i], &bins[i]);
    }
    for (p.bin = 1; p.bin < BINS; p.bin++) {
        pile_add(&left, &bins[p.bin - 1]);
        if (left.count == 0 || left.count == n)
            continue;
        p.cost = pile_cost(&left) + pile_cost(&right[p.bin]);
        if (best->axis < 0 || p.cost < best->cost * (1 - 0x1p-32))
            *best = p;
    }
}

static struct plane plane_find(const struct light_leaf *leaves, size_t n)
{
    struct plane best = {.axis = -1};
    for (int axis = 0; axis < 3; axis++) {
        double lo = INFINITY, hi = -INFINITY;
        for (size_t i = 0; i < n; i++) {
            lo = fmin(lo, leaf_center(&leaves[i], axis));
            hi = fmax(hi, leaf_center(&leaves[i], axis));
        }
        if (hi - lo > 0)
            planes_try(leaves, n, (struct plane){.axis = axis, .lo = lo, .extent = hi - lo}, &best);
    }
    return best;
}

static double sine_of(double c) { return sqrt(fmax(0, 1 - c * c)); }

/* The cone about the lights' axes: *cos_o, and a in axis; 0 and -1 where there is none. */
static void cone_find(const struct light_leaf *leaves, size_t n, const struct pile *all,
                      double axis[3], double *cos_o)
{
    double l = vector_length(all->V);
    bool everywhere = l <= 1e-6 * all->W;
    for (size_t i = 0; i < n; i++)
        everywhere |= leaves[i].cos_o == -1;
    axis[0] = axis[1] = axis[2] = 0;
    *cos_o = -1;
    if (everywhere)
        return;
    double least = 1;
    for (int k = 0; k < 3; k++)
        axis[k] = all->V[k] * (1 / l);
    for (size_t i = 0; i < n; i++) {
        const double *a = leaves[i].axis;
        double c = axis[0] * a[0] + axis[1] * a[1] + axis[2] * a[2];
        c = fmin(1, fmax(-1, c));
        double s = sine_of(c), cj = leaves[i].cos_o, sj = sine_of(cj);
        least = fmin(least, s * cj + c * sj < 0 ? -1 : c * cj - s * sj);
    }
    *cos_o = fmax(-1, least - 0x1p-20);
}

static void node_store(struct tree_builder *b, const struct light_leaf *leaves, size_t n,
                       struct k_light_node *node)
{
    struct pile all = pile_empty();
    double cos_e = 1, cos_o, axis[3], largest = 0, half[3] = {0};
    for (size_t i = 0; i < n; i++) {
        pile_add_light(&all, &leaves[i]);
        cos_e = fmin(cos_e, leaves[i].cos_e);
    }
    cone_find(leaves, n, &all, axis, &cos_o);
    for (int k = 0; k < 3; k++)
        largest = fmax(largest, fmax(fabs(all.box.lo[k]), fabs(all.box.hi[k])));
    for (int k = 0; k < 3 && box_diagonal2(&all.box) > 0; k++)
        half[k] = (all.box.hi[k] - all.box.lo[k]) * 0.5 + 0x1p-20 * largest;
    if (b->made == 1)
        b->total = all.W;
    *node = (struct k_light_node){
        .extent2 = (float)(half[0] * half[0] + half[1] * half[1] + half[2] * half[2]),
        .phi = (float)(0x1p40 * (all.W / b->total)),
        .cos_o = (float)cos_o,
        .sin_o = (float)sine_of(cos_o),
        .cos_e = (float)cos_e,
    };
    for (int k = 0; k < 3; k++) {
        node->center[k] = (float)((all.box.lo[k] + all.box.hi[k]) * 0.5);
        node->extent[k] = (float)half[k];
        node->axis[k] = (float)axis[k];
    }
}

/* Left of the plane, then right of it, each in order; returns how many are left. */
static size_t leaves_part(struct tree_builder *b, struct light_leaf *leaves, size_t n,
                          const struct plane *p)
{
    size_t left = 0, right = 0;
    for (size_t i = 0; i < n; i++)
        *(leaf_bin(&leaves[i], p) < p->bin ? &leaves[left++] : &b->spare[right++]) = leaves[i];
    memcpy(leaves + left, b->spare, right * sizeof *leaves);
    return left;
}

/* Bounded in depth: each split by a plane leaves at most 15/16 of an axis' extent to either side,
 * and float32 has but so many places. */
static void node_build(struct tree_builder *b, struct light_leaf *leaves, size_t n)
{
    struct k_light_node *node = &b->nodes[b->made++];
    node_store(b, leaves, n, node);
    if (n == 1) {
        node->link = K_LEAF | leaves[0].light;
        if (leaves[0].light < b->area_count)
            b->extras[leaves[0].light].place = (uint32_t)(leaves - b->leaves);
        return;
    }
    struct plane p = plane_find(leaves, n);
    size_t left = p.axis < 0 ? n / 2 : leaves_part(b, leaves, n, &p);
    node->link = (uint32_t)left;
    node_build(b, leaves, left);
    node_build(b, leaves + left, n - left);
}

/* A node of the binary tree that a lane of the wide one stands for. */
struct lane {
    uint32_t node, leaves, first; /* first: the place of its first leaf */
};
static bool lane_opens(const struct k_light_node *nodes, const struct lane *l)
{
    return !(nodes[l->node].link & K_LEAF);
}

/* The lanes of the wide node over `root`, from the left: while there is room, the one with most
 * lights is opened. How many. */
static unsigned lanes_gather(const struct k_light_node *nodes, struct lane root,
                             struct lane lane[K_WIDE_LIGHTS])
{
    unsigned count = 1;
    lane[0] = root;
    while (count < K_WIDE_LIGHTS) {
        unsigned most = 0;
        for (unsigned i = 1; i < count; i++)
            most = lane[i].leaves > lane[most].leaves ? i : most;
        const struct lane l = lane[most];
        if (!lane_opens(nodes, &l))
            break;
        uint32_t left = nodes[l.node].link;
        memmove(&lane[most + 2], &lane[most + 1], (count - most - 1) * sizeof *lane);
        lane[most] = (struct lane){l.node + 1, left, l.first};
        lane[most + 1] = (struct lane){l.node + 2 * left, l.leaves - left, l.first + left};
        count++;
    }
    return count;
}

/* Eight nodes, transposed. */
static void wide_store(const struct k_light_node eight[K_WIDE_LIGHTS], struct k_light_node *to)
{
    enum { WORDS = sizeof *to / sizeof(uint32_t) };
    uint32_t in[K_WIDE_LIGHTS][WORDS], out[WORDS][K_WIDE_LIGHTS];
    memcpy(in, eight, sizeof in);
    for (size_t lane = 0; lane < K_WIDE_LIGHTS; lane++)
        for (size_t word = 0; word < WORDS; word++)
            out[word][lane] = in[lane][word];
    memcpy(to, out, sizeof out);
}

/* Lays the wide tree over `root` out from place `at` on, if `to` is not NULL; where it ends. */
static uint32_t wide_build(const struct k_light_node *nodes, struct lane root,
                           struct k_light_node *to, uint32_t at)
{
    struct lane lane[K_WIDE_LIGHTS];
    struct k_light_node eight[K_WIDE_LIGHTS] = {0};
    unsigned count = lanes_gather(nodes, root, lane);
    uint32_t end = at + K_WIDE_LIGHTS;
    for (unsigned i = 0; i < K_WIDE_LIGHTS; i++) {
        eight[i].first = UINT32_MAX;
        eight[i].cos_o = -1;
        if (i >= count)
            continue;
        eight[i] = nodes[lane[i].node];
        eight[i].first = lane[i].first;
        if (lane_opens(nodes, &lane[i])) {
            eight[i].link = end;
            end = wide_build(nodes, lane[i], to, end);
        }
    }
    if (to)
        wide_store(eight, to + at);
    return end;
}

enum status layout_light_tree(struct layout *l, struct light_leaf *leaves, size_t count,
                              struct k_light_extra *extras, struct error *err)
{
    void *to;
    const struct lane all = {.leaves = (uint32_t)count};
    if (count == 0)
        return layout_take(l, BUFFER_light_nodes, 0, sizeof(struct k_light_node), &to, err);
    size_t binary = 2 * count - 1;
    struct tree_builder b = {.leaves = leaves,
                             .spare = malloc(count * sizeof *leaves),
                             .nodes = malloc(binary * sizeof *b.nodes),
                             .extras = extras,
                             .area_count = l->launch.area_light_count};
    if (!b.spare || !b.nodes) {
        free(b.spare);
        free(b.nodes);
        return error_msg(err, STATUS_MEMORY, "out of memory for the light tree");
    }
    node_build(&b, leaves, count);
    uint32_t end = wide_build(b.nodes, all, NULL, (uint32_t)binary);
    enum status st = layout_take(l, BUFFER_light_nodes, end, sizeof *b.nodes, &to, err);
    if (st == STATUS_OK) {
        memcpy(to, b.nodes, binary * sizeof *b.nodes);
        wide_build(b.nodes, all, to, (uint32_t)binary);
        l->launch.light_tree = 1 + (uint32_t)binary;
    }
    free(b.spare);
    free(b.nodes);
    return st;
}
