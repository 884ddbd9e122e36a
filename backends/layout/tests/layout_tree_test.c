/* SPDX-License-Identifier: Apache-2.0 */
/* A tree of so many nodes that several tasks lay it: each triangle stands in one leaf, with its own
 * corners, and each node is reached once. */
#include "bvh/bvh.h"
#include "layout/layout.h"
#include "tests/test_scenes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct scene *terrain(void)
{
    return scene_from_text(
        "{\"isophote\": 1, \"camera\": {\"origin\": [0, 1, 3], \"target\": [0, 0, 0], "
        "\"fov\": 30}, \"environment\": {\"radiance\": 1}, \"materials\": {\"m\": "
        "{\"type\": \"diffuse\"}}, \"objects\": [{\"type\": \"terrain\", \"cells\": 640, "
        "\"material\": \"m\"}]}");
}

static void corners_are(const struct scene *s, uint32_t triangle, const float *at, size_t step)
{
    for (size_t i = 0; i < 9; i++)
        assert_true(at[step * i] == s->P[s->triangles[triangle][i / 3]][i % 3]);
}

static void wide_leaves(void **state)
{
    (void)state;
    struct error err = {0};
    struct layout l;
    struct scene *s = terrain();
    must(layout_build(s, BVH_WIDE8, SHADE_AREAS, false, &l, &err), &err);
    const struct bvh8_node *nodes = l.buffers.at[BUFFER_nodes].data;
    const float *blocks = l.buffers.at[BUFFER_leaves].data;
    const size_t count = l.buffers.at[BUFFER_nodes].size / sizeof *nodes;
    assert_true(l.bvh == BVH_WIDE8 && count > 3 * 4096);
    uint8_t *met = calloc(s->triangle_count, 1), *reached = calloc(count, 1);
    assert_non_null(met);
    assert_non_null(reached);
    reached[0] = 1;
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < 8; k++) {
            const struct bvh8_node *n = &nodes[i];
            if (n->count[k] == 0) {
                if (n->lo_x[k] <= n->hi_x[k])
                    assert_true(n->child[k] < count && ++reached[n->child[k]] == 1);
                continue;
            }
            const float *block = blocks + (size_t)K_BLOCK_WORDS * (n->child[k] & K_LEAF_INDEX);
            uint32_t ids[8];
            memcpy(ids, block + 72, sizeof ids);
            for (uint32_t lane = 0; lane < n->count[k]; lane++) {
                assert_true(ids[lane] < s->triangle_count && ++met[ids[lane]] == 1);
                corners_are(s, ids[lane], block + lane, 8);
            }
        }
    for (size_t i = 0; i < s->triangle_count; i++)
        assert_int_equal(met[i], 1);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(reached[i], 1);
    free(met);
    free(reached);
    layout_free(&l);
    scene_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wide_leaves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
