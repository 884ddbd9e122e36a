/* SPDX-License-Identifier: Apache-2.0 */
/* Kept trees are the trees that building gives; what is spoilt is built again. */
#include "layout/kept_tree.h"

#include "api/kept.h"
#include "backends.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { COUNT = KEPT_TREE_LEAST + 100 };

static struct bvh_box *boxes_random(void)
{
    struct bvh_box *boxes = malloc(COUNT * sizeof *boxes);
    uint32_t state = 1;
    assert_non_null(boxes);
    for (size_t i = 0; i < COUNT; i++)
        for (int k = 0; k < 3; k++) {
            state = state * 1664525u + 1013904223u;
            boxes[i].lo[k] = (float)(state >> 8) * 0x1p-24f;
            boxes[i].hi[k] = boxes[i].lo[k] + 0.01f;
        }
    return boxes;
}

static void tree_make(const struct bvh_box *boxes, unsigned max_leaf, struct bvh2 *out)
{
    struct error err = {0};
    if (kept_tree(boxes, COUNT, max_leaf, out, &err) != STATUS_OK)
        fail_msg("%s", err.msg);
    assert_int_equal(bvh2_verify(out, boxes, &err), STATUS_OK);
}

static void trees_equal(const struct bvh2 *a, const struct bvh2 *b)
{
    assert_int_equal(a->node_count, b->node_count);
    assert_int_equal(a->primitive_count, b->primitive_count);
    assert_int_equal(a->depth, b->depth);
    assert_memory_equal(&a->sah_cost, &b->sah_cost, sizeof a->sah_cost);
    assert_memory_equal(a->nodes, b->nodes, a->node_count * sizeof *a->nodes);
    assert_memory_equal(a->order, b->order, a->primitive_count * sizeof *a->order);
}

/* How many files, and the path of the only one. */
static int files_count(const char *folder, char *path, size_t size)
{
    char command[256];
    int count = 0;
    snprintf(command, sizeof command, "find %s -name '*.bvh2'", folder);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    while (fgets(path, (int)size, f))
        count++;
    pclose(f);
    path[strcspn(path, "\n")] = '\0';
    return count;
}

static void kept_trees_are_built_ones(void **state)
{
    (void)state;
    char folder[] = "/tmp/isophote-trees-XXXXXX", path[256] = "", command[64];
    struct bvh_box *boxes = boxes_random();
    struct bvh2 built, made, read;
    assert_non_null(mkdtemp(folder));
    setenv("ISOPHOTE_CACHE", folder, 1);
    tree_make(boxes, 4, &built); /* nothing is kept unless asked for */
    assert_int_equal(files_count(folder, path, sizeof path), 0);
    trees_keep(true);
    tree_make(boxes, 4, &made);
    assert_int_equal(files_count(folder, path, sizeof path), 1);
    tree_make(boxes, 4, &read);
    trees_equal(&made, &built);
    trees_equal(&read, &built);
    bvh2_free(&read);

    /* A file that is whole is believed: that shows that it is read. */
    struct arena a = {0};
    struct kept_resources none = {0};
    char key[33] = "";
    const void *data;
    size_t size;
    memcpy(key, strrchr(path, '/') + 1, 32);
    assert_true(kept_read(&a, path, key, &data, &size, &none));
    char *other = malloc(size);
    assert_non_null(other);
    memcpy(other, data, size);
    other[16] ^= 1; /* the depth */
    kept_write(path, key, other, size, &none);
    struct error err = {0};
    assert_int_equal(kept_tree(boxes, COUNT, 4, &read, &err), STATUS_OK);
    assert_int_not_equal(read.depth, built.depth);
    bvh2_free(&read);

    /* Cut or of another length, it is not. */
    kept_write(path, key, data, size - 4, &none);
    tree_make(boxes, 4, &read);
    trees_equal(&read, &built);
    bvh2_free(&read);
    assert_int_equal(truncate(path, 1000), 0);
    tree_make(boxes, 4, &read);
    trees_equal(&read, &built);
    bvh2_free(&read);

    /* Nor with a bit flipped, wherever; and it is made again. */
    char *whole, hash[33], again[33];
    size_t bytes;
    assert_int_equal(file_read(&a, path, 0, &whole, &bytes, NULL), STATUS_OK);
    hash_bytes(whole, bytes, hash);
    for (size_t i = 0; i < 24; i++) {
        char *file;
        const size_t at = i < 12 ? i * 10 : (bytes - 1) * (i - 11) / 12; /* the header, then all */
        whole[at] = (char)(whole[at] ^ 1 << i % 8);
        assert_int_equal(file_write(path, whole, bytes, &err), STATUS_OK);
        whole[at] = (char)(whole[at] ^ 1 << i % 8);
        tree_make(boxes, 4, &read);
        trees_equal(&read, &built);
        bvh2_free(&read);
        struct arena b = {0};
        assert_int_equal(file_read(&b, path, 0, &file, &size, NULL), STATUS_OK);
        hash_bytes(file, size, again);
        assert_string_equal(again, hash);
        arena_free(&b);
    }

    /* Other leaves, other boxes: other trees. */
    tree_make(boxes, 2, &read);
    assert_int_equal(files_count(folder, path, sizeof path), 2);
    bvh2_free(&read);
    boxes[COUNT - 1].hi[2] += 0.5f;
    tree_make(boxes, 4, &read);
    assert_int_equal(files_count(folder, path, sizeof path), 3);
    bvh2_free(&read);

    trees_keep(false);
    bvh2_free(&built);
    bvh2_free(&made);
    arena_free(&a);
    free(other);
    free(boxes);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(kept_trees_are_built_ones)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
