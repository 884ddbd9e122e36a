/* SPDX-License-Identifier: Apache-2.0 */
#include "light_tree.h"

#include <stdlib.h>
#include <string.h>

enum { BINS = 16 };

/* What the text calls V and W of some lights, and the box around them. */
struct gathered {
    struct vec3 lo, hi, V;
    double W;
    size_t count;
};

static const struct gathered nothing = {
    {INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}, {0, 0, 0}, 0, 0};

static void enclose(struct vec3 *lo, struct vec3 *hi, struct vec3 a, struct vec3 b)
{
    *lo = vec3(fmin(lo->x, a.x), fmin(lo->y, a.y), fmin(lo->z, a.z));
    *hi = vec3(fmax(hi->x, b.x), fmax(hi->y, b.y), fmax(hi->z, b.z));
}

static void gather_light(struct gathered *g, const struct light_bounds *l)
{
    enclose(&g->lo, &g->hi, l->lo, l->hi);
    g->V = add(g->V, scale(l->weight, l->axis));
    g->W += l->weight;
    g->count++;
}

static void gather(struct gathered *to, const struct gathered *from)
{
    enclose(&to->lo, &to->hi, from->lo, from->hi);
    to->V = add(to->V, from->V);
    to->W += from->W;
    to->count += from->count;
}

static double cost_of_side(const struct gathered *g)
{
    struct vec3 diagonal = sub(g->hi, g->lo);
    return dot(diagonal, diagonal) * (4 * g->W - 3 * length(g->V));
}

struct builder {
    const struct light_bounds *leaves;
    const uint32_t *lights;
    uint32_t *order, *scratch;
    struct light_tree *tree;
    size_t made;
    double total;
};

static struct vec3 center_of(const struct light_bounds *l) { return scale(0.5, add(l->lo, l->hi)); }

static double component(struct vec3 v, int axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }

struct split {
    int axis; /* -1: none */
    int plane;
    double lo, extent;
};

static int bin_of(const struct split *s, const struct light_bounds *l)
{
    double at = (component(center_of(l), s->axis) - s->lo) / s->extent;
    return (int)fmin(BINS - 1, floor(at * BINS));
}

/* The least cost of a plane across one axis; *best holds that of the axes before. */
static void try_axis(const struct builder *b, const uint32_t *order, size_t n, struct split axis,
                     struct split *best, double *best_cost)
{
    struct gathered bins[BINS], right[BINS], left = nothing;
    for (int i = 0; i < BINS; i++)
        bins[i] = nothing;
    for (size_t i = 0; i < n; i++) {
        const struct light_bounds *l = &b->leaves[order[i]];
        gather_light(&bins[bin_of(&axis, l)], l);
    }
    right[BINS - 1] = bins[BINS - 1];
    for (int i = BINS - 2; i >= 0; i--) {
        right[i] = right[i + 1];
        gather(&right[i], &bins[i]);
    }
    for (int plane = 1; plane < BINS; plane++) {
        gather(&left, &bins[plane - 1]);
        if (left.count == 0 || right[plane].count == 0)
            continue;
        double cost = cost_of_side(&left) + cost_of_side(&right[plane]);
        if (best->axis < 0 || cost < *best_cost * (1 - 0x1p-32)) {
            *best = axis;
            best->plane = plane;
            *best_cost = cost;
        }
    }
}

static struct split split_of(const struct builder *b, const uint32_t *order, size_t n)
{
    struct split best = {.axis = -1};
    double best_cost = 0;
    struct vec3 lo = nothing.lo, hi = nothing.hi;
    for (size_t i = 0; i < n; i++) {
        struct vec3 c = center_of(&b->leaves[order[i]]);
        enclose(&lo, &hi, c, c);
    }
    for (int axis = 0; axis < 3; axis++) {
        struct split s = {axis, 0, component(lo, axis), component(hi, axis) - component(lo, axis)};
        if (s.extent > 0)
            try_axis(b, order, n, s, &best, &best_cost);
    }
    return best;
}

/* cos(x + y), -1 beyond pi. */
static double cos_of_sum(double cx, double sx, double cy, double sy)
{
    return sx * cy + cx * sy < 0 ? -1 : cx * cy - sx * sy;
}

static double sine_of(double c) { return sqrt(fmax(0, 1 - c * c)); }

static void bound_directions(const struct builder *b, const uint32_t *order, size_t n,
                             struct light_bounds *out)
{
    struct vec3 V = {0, 0, 0};
    double W = 0;
    bool everywhere = false;
    out->cos_e = 1;
    for (size_t i = 0; i < n; i++) {
        const struct light_bounds *l = &b->leaves[order[i]];
        V = add(V, scale(l->weight, l->axis));
        W += l->weight;
        out->cos_e = fmin(out->cos_e, l->cos_e);
        everywhere |= l->cos_o == -1;
    }
    out->weight = W;
    double size = length(V);
    out->axis = vec3(0, 0, 0);
    out->cos_o = -1;
    if (everywhere || size <= 1e-6 * W)
        return;
    out->axis = scale(1 / size, V);
    out->cos_o = 1;
    for (size_t i = 0; i < n; i++) {
        const struct light_bounds *l = &b->leaves[order[i]];
        double c = clamp(dot(out->axis, l->axis), -1, 1);
        out->cos_o = fmin(out->cos_o, cos_of_sum(c, sine_of(c), l->cos_o, sine_of(l->cos_o)));
    }
    out->cos_o = fmax(-1, out->cos_o - 0x1p-20);
}

static void node_make(const struct builder *b, const uint32_t *order, size_t n,
                      struct light_node *node)
{
    struct vec3 lo = nothing.lo, hi = nothing.hi;
    for (size_t i = 0; i < n; i++)
        enclose(&lo, &hi, b->leaves[order[i]].lo, b->leaves[order[i]].hi);
    *node = (struct light_node){.bounds = {.lo = lo, .hi = hi}};
    bound_directions(b, order, n, &node->bounds);
    node->center = center_of(&node->bounds);
    node->half = scale(0.5, sub(hi, lo));
    if (!is_zero(node->half))
        node->half = add(node->half, gray(0x1p-20 * fmax(max_abs(lo), max_abs(hi))));
    node->phi = 0x1p40 * (node->bounds.weight / b->total);
}

/* Keeps the order on each side; returns how many are on the left. */
static size_t partition(struct builder *b, uint32_t *order, size_t n, const struct split *s)
{
    size_t left = 0, right = 0;
    for (size_t i = 0; i < n; i++) {
        if (bin_of(s, &b->leaves[order[i]]) < s->plane)
            order[left++] = order[i];
        else
            b->scratch[right++] = order[i];
    }
    memcpy(order + left, b->scratch, right * sizeof *order);
    return left;
}

static void build(struct builder *b, uint32_t *order, size_t n)
{
    struct light_node *node = &b->tree->nodes[b->made++];
    node_make(b, order, n, node);
    if (n == 1) {
        node->light = b->lights[order[0]];
        b->tree->places[node->light] = (uint32_t)(order - b->order);
        return;
    }
    struct split s = split_of(b, order, n);
    size_t left = s.axis < 0 ? n / 2 : partition(b, order, n, &s);
    node->left_leaves = (uint32_t)left;
    build(b, order, left);
    build(b, order + left, n - left);
}

enum status light_tree_build(const struct light_bounds *leaves, const uint32_t *lights,
                             size_t count, size_t light_count, struct light_tree *out,
                             struct error *err)
{
    struct light_tree t = {.nodes = calloc(2 * count + 1, sizeof *t.nodes),
                           .places = calloc(light_count + 1, sizeof *t.places)};
    struct builder b = {.leaves = leaves,
                        .lights = lights,
                        .order = calloc(count + 1, sizeof *b.order),
                        .scratch = calloc(count + 1, sizeof *b.scratch),
                        .tree = &t};
    bool made = t.nodes && t.places && b.order && b.scratch;
    if (made && count > 0) {
        for (size_t i = 0; i < count; i++) {
            b.order[i] = (uint32_t)i;
            b.total += leaves[i].weight;
        }
        build(&b, b.order, count);
        t.node_count = b.made;
    }
    free(b.order);
    free(b.scratch);
    if (!made) {
        light_tree_free(&t);
        return error_msg(err, STATUS_MEMORY, "no memory for a tree of %zu lights", count);
    }
    *out = t;
    return STATUS_OK;
}

void light_tree_free(struct light_tree *t)
{
    free(t->nodes);
    free(t->places);
    *t = (struct light_tree){0};
}

static struct vec3 absolute(struct vec3 v) { return vec3(fabs(v.x), fabs(v.y), fabs(v.z)); }

/* The cosine that bounds what the node, V away, emits towards P; 0: nothing. moved: what is added to
 * the cosine from which on it does. */
static double emission_bound(const struct light_node *n, struct vec3 V, double nearest2,
                             double moved)
{
    const struct light_bounds *b = &n->bounds;
    if (b->cos_o == -1)
        return 1;
    struct vec3 farthest = add(absolute(V), n->half);
    double ahead = dot(absolute(b->axis), n->half) - dot(V, b->axis);
    double distance2 = fmax(ahead > 0 ? nearest2 : dot(farthest, farthest), ahead * ahead);
    double distance = sqrt(distance2);
    if (ahead >= distance * b->cos_o)
        return 1;
    double beyond = ahead * b->cos_o + sqrt(fmax(0, distance2 - ahead * ahead)) * sine_of(b->cos_o);
    return beyond > distance * (b->cos_e + moved) ? fmax(beyond / distance, 0x1p-20) : 0;
}

/* How much of its light the node may send to P; with slack the least and the most of what another
 * rounding of cosines and quotients gives, out[0] and out[1]. */
static void importance_within(const struct light_node *n, struct vec3 P, struct vec3 g,
                              double slack, double out[2])
{
    struct vec3 V = sub(n->center, P), outside = sub(absolute(V), n->half);
    struct vec3 nearest = vec3(fmax(outside.x, 0), fmax(outside.y, 0), fmax(outside.z, 0));
    double nearest2 = dot(nearest, nearest), half2 = dot(n->half, n->half), facing = 1;
    double Q = fmax(sqrt((nearest2 + half2 / 64) * (dot(V, V) + half2 / 2)), 0x1p-80);
    if (!is_zero(g)) {
        double above = dot(V, g) + dot(absolute(g), n->half);
        facing = above > 0 ? above / sqrt(fmax(Q, above * above)) : 0;
    }
    for (int most = 0; most < 2; most++) {
        const double by = most ? slack : -slack;
        const bool cut = n->bounds.cos_o != -1;
        double e = emission_bound(n, V, nearest2, -by);
        e = cut ? fmin(fmax(e + by, 0), 1) : e;
        double f = is_zero(g) ? facing : fmin(fmax(facing * (1 + by) + by * 0x1p-8, 0), 1);
        out[most] = n->phi * e * f / Q * (1 + by);
    }
}

static double importance(const struct light_node *n, struct vec3 P, struct vec3 g)
{
    double both[2];
    importance_within(n, P, g, 0, both);
    return both[0];
}

/* The chances of the sides of an inner node; false where neither can send anything. */
static bool side_chances(const struct light_node *n, struct vec3 P, struct vec3 g, double chance[2])
{
    double left = importance(n + 1, P, g);
    double right = importance(n + 2 * (size_t)n->left_leaves, P, g);
    if (!(left + right > 0))
        return false;
    chance[0] = left / (left + right);
    chance[1] = right / (left + right);
    return true;
}

bool light_tree_choose(const struct light_tree *t, struct vec3 P, struct vec3 g, double u,
                       uint32_t *light, double *chance)
{
    const struct light_node *n = t->nodes;
    double h[2];
    *chance = 1;
    if (t->node_count == 0)
        return false;
    while (n->left_leaves) {
        if (!side_chances(n, P, g, h))
            return false;
        bool left = u < h[0] || !(h[1] > 0);
        u = fmin(left ? u / h[0] : (u - h[0]) / h[1], 1 - 0x1p-53);
        *chance *= h[!left];
        n += left ? 1 : 2 * (size_t)n->left_leaves;
    }
    *light = n->light;
    return true;
}

double light_tree_chance(const struct light_tree *t, struct vec3 P, struct vec3 g, uint32_t light)
{
    const struct light_node *n = t->nodes;
    uint32_t place = t->places[light];
    double chance = 1, h[2];
    while (n->left_leaves) {
        if (!side_chances(n, P, g, h))
            return 0;
        if (place < n->left_leaves) {
            chance *= h[0];
            n += 1;
        } else {
            chance *= h[1];
            place -= n->left_leaves;
            n += 2 * (size_t)n->left_leaves;
        }
    }
    return chance;
}

/* ---- more than two sides at once ------------------------------------------------------------- */

enum { WIDEST = 16 };

/* A node of the tree with its leaves, the first of which stands at `first`. */
struct span {
    const struct light_node *node;
    uint32_t leaves, first;
};

/* `root` opened until there are `width` nodes: the one with most leaves next, of equals the first. */
static unsigned spans_of(struct span root, unsigned width, struct span out[WIDEST])
{
    unsigned count = 1;
    out[0] = root;
    while (count < width) {
        unsigned widest = 0;
        for (unsigned i = 1; i < count; i++)
            if (out[i].leaves > out[widest].leaves)
                widest = i;
        const struct span s = out[widest];
        const uint32_t left = s.node->left_leaves;
        if (!left)
            break;
        for (unsigned i = count++; i > widest + 1; i--)
            out[i] = out[i - 1];
        out[widest] = (struct span){s.node + 1, left, s.first};
        out[widest + 1] = (struct span){s.node + 2 * (size_t)left, s.leaves - left, s.first + left};
    }
    return count;
}

void light_tree_chance_wide(const struct light_tree *t, struct vec3 P, struct vec3 g,
                            uint32_t light, unsigned width, double slack, double chance[2])
{
    const uint32_t place = t->places[light];
    struct span at = {t->nodes, (uint32_t)(t->node_count / 2 + 1), 0}, lane[WIDEST];
    chance[0] = chance[1] = 1;
    while (at.node->left_leaves) {
        const unsigned count = spans_of(at, width < WIDEST ? width : WIDEST, lane);
        double sum[2] = {0, 0}, own[2] = {0, 0};
        for (unsigned i = 0; i < count; i++) {
            double both[2];
            importance_within(lane[i].node, P, g, slack, both);
            if (place >= lane[i].first && place - lane[i].first < lane[i].leaves) {
                at = lane[i];
                own[0] = both[0];
                own[1] = both[1];
            } else {
                sum[0] += both[0];
                sum[1] += both[1];
            }
        }
        chance[0] *= own[0] > 0 ? own[0] / (own[0] + sum[1]) : 0;
        chance[1] *= own[1] > 0 ? own[1] / (own[1] + sum[0]) : 0;
    }
}
