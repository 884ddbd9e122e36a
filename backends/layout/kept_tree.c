/* SPDX-License-Identifier: Apache-2.0 */
#include "kept_tree.h"

#include "api/offers.h"
#include "backends.h"

#include <stdlib.h>
#include <string.h>

static bool keeps;

void trees_keep(bool keep) { keeps = keep; }

/* A file's payload: this, the nodes, the order. */
struct tree_header {
    uint64_t nodes, primitives;
    uint64_t depth;
    double sah_cost;
};

static bool key_make(const struct bvh_box *boxes, size_t count, unsigned max_leaf, char key[33])
{
    struct hash *h = hash_open();
    if (!h)
        return false;
    hash_add(h, bvh_sources, strlen(bvh_sources));
    hash_add(h, &max_leaf, sizeof max_leaf);
    hash_add(h, boxes, count * sizeof *boxes);
    hash_close(h, key);
    return true;
}

static bool tree_read(const char *path, const char key[33], size_t count, struct bvh2 *out)
{
    struct arena a = {0};
    struct kept_resources unused;
    struct tree_header h;
    const void *data;
    size_t size;
    bool whole = kept_read(&a, path, key, &data, &size, &unused) && size >= sizeof h;
    if (whole) {
        memcpy(&h, data, sizeof h);
        const size_t rest = size - sizeof h;
        whole = h.primitives == count && h.nodes > 0 && h.nodes <= rest / sizeof *out->nodes &&
                rest == h.nodes * sizeof *out->nodes + count * sizeof *out->order;
    }
    struct bvh2 t = {0};
    if (whole) {
        const char *nodes = (const char *)data + sizeof h;
        t = (struct bvh2){.nodes = malloc(h.nodes * sizeof *t.nodes),
                          .node_count = h.nodes,
                          .order = malloc(count * sizeof *t.order),
                          .primitive_count = count,
                          .depth = (uint32_t)h.depth,
                          .sah_cost = h.sah_cost};
        whole = t.nodes && t.order;
        if (whole) {
            memcpy(t.nodes, nodes, h.nodes * sizeof *t.nodes);
            memcpy(t.order, nodes + h.nodes * sizeof *t.nodes, count * sizeof *t.order);
            *out = t;
        } else {
            bvh2_free(&t);
        }
    }
    arena_free(&a);
    return whole;
}

static void tree_write(const char *path, const char key[33], const struct bvh2 *t)
{
    const struct tree_header h = {t->node_count, t->primitive_count, t->depth, t->sah_cost};
    const size_t nodes = t->node_count * sizeof *t->nodes,
                 order = t->primitive_count * sizeof *t->order;
    char *data = malloc(sizeof h + nodes + order);
    if (!data)
        return;
    memcpy(data, &h, sizeof h);
    memcpy(data + sizeof h, t->nodes, nodes);
    memcpy(data + sizeof h + nodes, t->order, order);
    kept_write(path, key, data, sizeof h + nodes + order, &(struct kept_resources){0});
    free(data);
}

enum status kept_tree(const struct bvh_box *boxes, size_t count, unsigned max_leaf,
                      struct bvh2 *out, struct error *err)
{
    char key[33], folder[4096], path[4200];
    if (!keeps || count < KEPT_TREE_LEAST || !key_make(boxes, count, max_leaf, key) ||
        cache_dir("trees", folder, sizeof folder, NULL) != STATUS_OK)
        return bvh2_build(boxes, count, max_leaf, out, err);
    snprintf(path, sizeof path, "%s/%s.bvh2", folder, key);
    if (tree_read(path, key, count, out))
        return STATUS_OK;
    enum status s = bvh2_build(boxes, count, max_leaf, out, err);
    if (s == STATUS_OK)
        tree_write(path, key, out);
    return s;
}
