/* SPDX-License-Identifier: Apache-2.0 */
/* Trees over many kinds of box sets keep every invariant (bvh_verify.c), do not depend on the
 * number of threads, and are close to the best tree there is where that can be computed. */
#include "bvh/bvh.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The i-th number in [0,1) of stream `seed`. */
static float rnd(uint32_t seed, uint32_t i)
{
    uint32_t word[4];
    philox4x32((const uint32_t[4]){i / 4, 0, 0, 0}, (const uint32_t[2]){seed, 17}, word);
    return (float)u01(word[i % 4]);
}

static struct bvh_box box_around(float x, float y, float z, float size)
{
    return (struct bvh_box){{x - size, y - size, z - size}, {x + size, y + size, z + size}};
}

/* ---- sets of boxes ------------------------------------------------------------------------- */

static void set_random(struct bvh_box *b, size_t n)
{
    for (uint32_t i = 0; i < n; i++)
        b[i] = box_around(rnd(1, 4 * i), rnd(1, 4 * i + 1), rnd(1, 4 * i + 2),
                          0.01f * rnd(1, 4 * i + 3));
}

static void set_clustered(struct bvh_box *b, size_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        float cluster = (float)(i % 7),
              s = powf(10.0f, -cluster); /* each ten times smaller, all near one corner */
        b[i] = box_around(cluster + s * rnd(2, 4 * i), s * rnd(2, 4 * i + 1), s * rnd(2, 4 * i + 2),
                          0.1f * s);
    }
}

static void set_identical(struct bvh_box *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        b[i] = box_around(3.0f, -2.0f, 7.0f, 0.5f);
}

static void set_points(struct bvh_box *b, size_t n)
{
    for (uint32_t i = 0; i < n; i++)
        b[i] = box_around(rnd(3, 3 * i), rnd(3, 3 * i + 1), rnd(3, 3 * i + 2), 0.0f);
}

static void set_one_point(struct bvh_box *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        b[i] = box_around(1.0f, 1.0f, 1.0f, 0.0f);
}

static void set_collinear(struct bvh_box *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        b[i] = box_around(0.0f, (float)i, 0.0f, 0.0f);
}

static void set_plane(struct bvh_box *b, size_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        b[i] = box_around(rnd(4, 2 * i), rnd(4, 2 * i + 1), 0.0f, 0.001f);
        b[i].lo[2] = b[i].hi[2] = 5.0f;
    }
}

/* Each twice as far as the one before: binning can only cut off the last few, so depth must be
 * bounded otherwise. */
static void set_geometric(struct bvh_box *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        float x = ldexpf(1.0f, (int)(i % 250) - 125);
        b[i] = (struct bvh_box){{x, 0.0f, 0.0f}, {x, 0.0f, 0.0f}};
    }
}

static void set_huge(struct bvh_box *b, size_t n)
{
    for (uint32_t i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) {
            float x = (2.0f * rnd(5, 3 * i + (uint32_t)k) - 1.0f) * FLT_MAX;
            b[i].lo[k] = x < 0.0f ? x : 0.0f;
            b[i].hi[k] = x < 0.0f ? 0.0f : x;
        }
}

static void set_tiny(struct bvh_box *b, size_t n)
{
    for (uint32_t i = 0; i < n; i++) /* denormal extents */
        b[i] = box_around(FLT_TRUE_MIN * (float)(i % 100), 0.0f, 0.0f, 0.0f);
}

static void set_infinite(struct bvh_box *b, size_t n)
{
    set_random(b, n);
    for (size_t i = 0; i < n; i += 5) {
        b[i].lo[i % 3] = -INFINITY;
        if (i % 2)
            b[i].hi[i % 3] = INFINITY;
        if (i % 25 == 0)
            b[i].lo[(i + 1) % 3] = b[i].hi[(i + 1) % 3] = INFINITY;
    }
}

static void set_mixed_sizes(struct bvh_box *b, size_t n)
{
    for (uint32_t i = 0; i < n; i++)
        b[i] = box_around(rnd(6, 4 * i), rnd(6, 4 * i + 1), rnd(6, 4 * i + 2),
                          powf(2.0f, -20.0f * rnd(6, 4 * i + 3)));
}

static const struct {
    const char *name;
    void (*fill)(struct bvh_box *b, size_t n);
} sets[] = {
    {"random", set_random}, {"clustered", set_clustered}, {"identical", set_identical},
    {"points", set_points}, {"one point", set_one_point}, {"collinear", set_collinear},
    {"plane", set_plane},   {"geometric", set_geometric}, {"huge", set_huge},
    {"tiny", set_tiny},     {"infinite", set_infinite},   {"mixed sizes", set_mixed_sizes},
};
enum { SETS = sizeof sets / sizeof sets[0] };

static const size_t sizes[] = {1, 2, 3, 4, 5, 8, 9, 17, 64, 100, 1000, 20000};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

static struct bvh_box *boxes_new(size_t n)
{
    struct bvh_box *b = calloc(n + 1, sizeof *b);
    assert_non_null(b);
    return b;
}

/* A node's boxes waste no more than its grid has to: the grid's 255 steps span at least half of
 * what its children do, or have the least step there is. */
static void compressed_is_tight(const struct bvh8c *b)
{
    for (size_t i = 0; i < b->node_count; i++) {
        const struct bvh8c_node *n = &b->nodes[i];
        for (int k = 0; k < 3; k++) {
            unsigned most = 0;
            for (unsigned s = 0; s < 8; s++)
                most = n->meta[s] && n->hi[k][s] > most ? n->hi[k][s] : most;
            float step = ldexpf(1.0f, n->exponent[k] - 127);
            assert_true(
                most >= 127 || n->exponent[k] == 1 || n->origin[k] + step == n->origin[k] ||
                step <= 2.0f * (nextafterf(fabsf(n->origin[k]), INFINITY) - fabsf(n->origin[k])));
        }
    }
}

/* ---- tests --------------------------------------------------------------------------------- */

static void invariants_hold(void **state)
{
    (void)state;
    for (int set = 0; set < SETS; set++)
        for (int size = 0; size < SIZES; size++)
            for (unsigned leaf = 1; leaf <= 16; leaf = leaf == 1 ? 3 : leaf == 3 ? 4 : leaf * 2) {
                if (TEST_THINNING > 1 && sizes[size] > 1000 && leaf != 4)
                    continue; /* large sets but once */
                struct bvh_box *boxes = boxes_new(sizes[size]);
                sets[set].fill(boxes, sizes[size]);
                struct error err = {0};
                struct bvh2 tree;
                struct bvh8 wide;
                if (bvh2_build(boxes, sizes[size], leaf, &tree, &err) != STATUS_OK ||
                    bvh2_verify(&tree, boxes, &err) != STATUS_OK)
                    fail_msg("%s, %zu boxes, leaves of %u: %s", sets[set].name, sizes[size], leaf,
                             err.msg);
                uint32_t largest = 0;
                for (size_t i = 0; i < tree.node_count; i++)
                    largest = tree.nodes[i].count > largest ? tree.nodes[i].count : largest;
                assert_true(largest <= leaf);
                if (largest > 8) {
                    assert_int_equal(bvh8_collapse(&tree, (struct bvh8_quick){0}, &wide, &err),
                                     STATUS_ARG);
                } else {
                    if (bvh8_collapse(&tree, (struct bvh8_quick){0}, &wide, &err) != STATUS_OK ||
                        bvh8_verify(&wide, boxes, &err) != STATUS_OK)
                        fail_msg("%s, %zu boxes, leaves of %u, wide: %s", sets[set].name,
                                 sizes[size], leaf, err.msg);
                    assert_true(wide.depth <= tree.depth);
                    bvh8_free(&wide);
                    const struct bvh8_quick upper = {sizes[size] / 3,
                                                     sizes[size]}; /* but a third */
                    if (bvh8_collapse(&tree, upper, &wide, &err) != STATUS_OK ||
                        bvh8_verify(&wide, boxes, &err) != STATUS_OK)
                        fail_msg("%s, %zu boxes, leaves of %u, quick ones: %s", sets[set].name,
                                 sizes[size], leaf, err.msg);
                    bvh8_free(&wide);
                }
                struct bvh8c small;
                if (largest <= BVH8C_LEAF && isinf(tree.nodes[0].lo[0])) {
                    assert_int_equal(bvh8_compress(&tree, &small, &err), STATUS_RANGE);
                } else if (largest > BVH8C_LEAF) {
                    assert_int_equal(bvh8_compress(&tree, &small, &err), STATUS_ARG);
                } else {
                    if (bvh8_compress(&tree, &small, &err) != STATUS_OK ||
                        bvh8c_verify(&small, boxes, &err) != STATUS_OK)
                        fail_msg("%s, %zu boxes, leaves of %u, compressed: %s", sets[set].name,
                                 sizes[size], leaf, err.msg);
                    assert_true(small.depth <= tree.depth);
                    compressed_is_tight(&small);
                    bvh8c_free(&small);
                }
                bvh2_free(&tree);
                free(boxes);
            }
}

static void nothing_gives_an_empty_root(void **state)
{
    (void)state;
    struct error err = {0};
    struct bvh2 tree;
    struct bvh8 wide;
    assert_int_equal(bvh2_build(NULL, 0, 4, &tree, &err), STATUS_OK);
    assert_int_equal(bvh8_collapse(&tree, (struct bvh8_quick){0}, &wide, &err), STATUS_OK);
    assert_int_equal(bvh2_verify(&tree, NULL, &err), STATUS_OK);
    assert_int_equal(bvh8_verify(&wide, NULL, &err), STATUS_OK);
    assert_true(tree.nodes[0].lo[0] > tree.nodes[0].hi[0]);
    assert_int_equal(wide.node_count, 1);
    bvh8_free(&wide);
    bvh2_free(&tree);
}

static void bad_arguments_are_refused(void **state)
{
    (void)state;
    struct error err = {0};
    struct bvh_box one = box_around(0.0f, 0.0f, 0.0f, 1.0f);
    struct bvh2 tree = {.depth = 123};
    assert_int_equal(bvh2_build(&one, 1, 0, &tree, &err), STATUS_ARG);
    assert_int_equal(bvh2_build(&one, 1, 17, &tree, &err), STATUS_ARG);
    assert_int_equal(bvh2_build(&one, (size_t)INT32_MAX + 1, 4, &tree, &err), STATUS_LIMIT);
    assert_int_equal(tree.depth, 123);
    bvh2_free(NULL);
    bvh8_free(NULL);
}

static void tree_does_not_depend_on_threads(void **state)
{
    (void)state;
    const size_t n = 100000; /* several levels of the parallel top */
    struct bvh_box *boxes = boxes_new(n);
    for (int set = 0; set < SETS; set++) {
        sets[set].fill(boxes, n);
        struct bvh2 first = {0};
        static const char *const threads[] = {"1", "7", "2", "3"};
        for (int i = 0; i < (TEST_THINNING > 1 ? 2 : 4); i++) {
            struct error err = {0};
            struct bvh2 tree;
            assert_int_equal(setenv("ISOPHOTE_THREADS", threads[i], 1), 0);
            if (bvh2_build(boxes, n, 4, &tree, &err) != STATUS_OK)
                fail_msg("%s", err.msg);
            if (i == 0) {
                first = tree;
                if (bvh2_verify(&tree, boxes, &err) != STATUS_OK)
                    fail_msg("%s: %s", sets[set].name, err.msg);
                continue;
            }
            assert_int_equal(tree.node_count, first.node_count);
            assert_memory_equal(tree.nodes, first.nodes, first.node_count * sizeof *first.nodes);
            assert_memory_equal(tree.order, first.order, n * sizeof *first.order);
            assert_true(tree.depth == first.depth && tree.sah_cost == first.sah_cost);
            bvh2_free(&tree);
        }
        bvh2_free(&first);
    }
    unsetenv("ISOPHOTE_THREADS");
    free(boxes);
}

static double box_surface(const struct bvh_box *b)
{
    double x = (double)b->hi[0] - (double)b->lo[0], y = (double)b->hi[1] - (double)b->lo[1],
           z = (double)b->hi[2] - (double)b->lo[2];
    return 2.0 * (x * y + y * z + z * x);
}

/* Least cost of any binary tree over n boxes: over all subsets, over all ways to cut one in two. */
static double best_cost(const struct bvh_box *boxes, unsigned n, unsigned max_leaf)
{
    static double cost[1 << 9], area[1 << 9];
    for (unsigned set = 1; set < 1u << n; set++) {
        struct bvh_box all = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
        unsigned members = 0;
        for (unsigned i = 0; i < n; i++) {
            if (!(set >> i & 1))
                continue;
            members++;
            for (int k = 0; k < 3; k++) {
                all.lo[k] = fminf(all.lo[k], boxes[i].lo[k]);
                all.hi[k] = fmaxf(all.hi[k], boxes[i].hi[k]);
            }
        }
        area[set] = box_surface(&all);
        cost[set] = members <= max_leaf ? area[set] * members : INFINITY;
        for (unsigned part = (set - 1) & set; part > 0; part = (part - 1) & set)
            cost[set] = fmin(cost[set], area[set] + cost[part] + cost[set & ~part]);
    }
    return cost[(1 << n) - 1] / area[(1 << n) - 1];
}

/* Greedy splits at bin borders are not optimal; how far they may be is known by measurement only:
 * over these 600 sets the worst ratio is 1.13 and the mean 1.007; the bounds leave room for other
 * binning, not for a wrong area or sign. */
static void cost_is_near_the_best(void **state)
{
    (void)state;
    double sum = 0.0, worst = 0.0;
    unsigned count = 0;
    for (uint32_t seed = 0; seed < 200; seed++)
        for (unsigned leaf = 1; leaf <= 4; leaf += leaf) {
            struct bvh_box boxes[9];
            unsigned n = 2 + seed % 7;
            for (uint32_t i = 0; i < n; i++)
                boxes[i] =
                    box_around(rnd(100 + seed, 4 * i), rnd(100 + seed, 4 * i + 1),
                               rnd(100 + seed, 4 * i + 2), 0.2f * rnd(100 + seed, 4 * i + 3));
            struct bvh2 tree;
            struct error err = {0};
            assert_int_equal(bvh2_build(boxes, n, leaf, &tree, &err), STATUS_OK);
            double ratio = tree.sah_cost / best_cost(boxes, n, leaf);
            assert_true(ratio > 1.0 - 1e-12); /* nothing beats the best */
            sum += ratio;
            worst = ratio > worst ? ratio : worst;
            count++;
            bvh2_free(&tree);
        }
    print_message("cost over the best: mean %.4f, worst %.4f, %u sets\n", sum / count, worst,
                  count);
    assert_true(worst <= 1.3);
    assert_true(sum / count <= 1.03);
}

/* The checks see what is wrong: each mistake below must be found. */
static void verification_finds_mistakes(void **state)
{
    (void)state;
    enum { N = 500 };
    struct bvh_box *boxes = boxes_new(N);
    set_random(boxes, N);
    struct error err = {0};
    struct bvh2 tree;
    struct bvh8 wide;
    assert_int_equal(bvh2_build(boxes, N, 4, &tree, &err), STATUS_OK);
    assert_int_equal(bvh8_collapse(&tree, (struct bvh8_quick){0}, &wide, &err), STATUS_OK);
    size_t leaf = 2, inner = 2;
    while (tree.nodes[leaf].count == 0)
        leaf++;
    while (tree.nodes[inner].count > 0)
        inner++;
    struct bvh2_node node = tree.nodes[leaf];
#define MUST_FIND(change, undo)                                                                    \
    do {                                                                                           \
        change;                                                                                    \
        assert_int_equal(bvh2_verify(&tree, boxes, &err), STATUS_MISMATCH);                        \
        undo;                                                                                      \
        assert_int_equal(bvh2_verify(&tree, boxes, &err), STATUS_OK);                              \
    } while (0)
    MUST_FIND(tree.nodes[leaf].hi[1] = nextafterf(node.hi[1], -1.0f), tree.nodes[leaf] = node);
    MUST_FIND(tree.nodes[leaf].count--, tree.nodes[leaf] = node);
    MUST_FIND(tree.nodes[leaf].count = 17, tree.nodes[leaf] = node);
    uint32_t id = tree.order[3];
    MUST_FIND(tree.order[3] = tree.order[4], tree.order[3] = id);
    MUST_FIND(tree.order[3] = N, tree.order[3] = id);
    node = tree.nodes[inner];
    MUST_FIND(tree.nodes[inner].first = 0, tree.nodes[inner] = node);
    MUST_FIND(tree.nodes[inner].first = (uint32_t)tree.node_count, tree.nodes[inner] = node);
    MUST_FIND(tree.nodes[inner].lo[0] -= 1.0f, tree.nodes[inner] = node);
    MUST_FIND(tree.depth++, tree.depth--);
    double cost = tree.sah_cost;
    MUST_FIND(tree.sah_cost *= 1.001, tree.sah_cost = cost);
#undef MUST_FIND
    struct bvh8_node first = wide.nodes[0];
#define MUST_FIND(change)                                                                          \
    do {                                                                                           \
        change;                                                                                    \
        assert_int_equal(bvh8_verify(&wide, boxes, &err), STATUS_MISMATCH);                        \
        wide.nodes[0] = first;                                                                     \
        assert_int_equal(bvh8_verify(&wide, boxes, &err), STATUS_OK);                              \
    } while (0)
    MUST_FIND(wide.nodes[0].lo_z[2] = nextafterf(first.lo_z[2], 2.0f));
    MUST_FIND(wide.nodes[0].child[0] = 0);
    MUST_FIND(wide.nodes[0].child[0] = wide.nodes[0].child[1]);
    MUST_FIND((wide.nodes[0].lo_x[0] = INFINITY, wide.nodes[0].hi_x[0] = -INFINITY));
#undef MUST_FIND
    struct bvh2 fine;
    struct bvh8c small;
    assert_int_equal(bvh2_build(boxes, N, BVH8C_LEAF, &fine, &err), STATUS_OK);
    assert_int_equal(bvh8_compress(&fine, &small, &err), STATUS_OK);
    struct bvh8c_node kept = small.nodes[0];
    unsigned at = 0;
    while (!(kept.inner >> at & 1u))
        at++;
#define MUST_FIND(change)                                                                          \
    do {                                                                                           \
        change;                                                                                    \
        assert_int_equal(bvh8c_verify(&small, boxes, &err), STATUS_MISMATCH);                      \
        small.nodes[0] = kept;                                                                     \
        assert_int_equal(bvh8c_verify(&small, boxes, &err), STATUS_OK);                            \
    } while (0)
    MUST_FIND(small.nodes[0].hi[2][at] /= 2);
    MUST_FIND(small.nodes[0].child++);
    MUST_FIND(small.nodes[0].inner ^= (uint8_t)(1u << at));
    MUST_FIND(small.nodes[0].meta[at] = 0x20);
    MUST_FIND(small.nodes[0].exponent[1]--);
#undef MUST_FIND
    bvh8c_free(&small);
    bvh2_free(&fine);
    bvh8_free(&wide);
    bvh2_free(&tree);
    free(boxes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(invariants_hold),
        cmocka_unit_test(nothing_gives_an_empty_root),
        cmocka_unit_test(bad_arguments_are_refused),
        cmocka_unit_test(tree_does_not_depend_on_threads),
        cmocka_unit_test(cost_is_near_the_best),
        cmocka_unit_test(verification_finds_mistakes),
    };
    return cmocka_run_group_tests_name("bvh", tests, NULL, NULL);
}
