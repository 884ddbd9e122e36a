/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 sums and their tree. */
#include "reports.h"

#include <nettle/sha2.h>
#include <string.h>

void sum_of(const void *data, size_t size, struct sum *out)
{
    struct sha256_ctx c;
    sha256_init(&c);
    sha256_update(&c, size, data);
    sha256_digest(&c, sizeof out->bytes, out->bytes);
}

void sum_hex(const struct sum *s, char hex[65])
{
    for (size_t i = 0; i < sizeof s->bytes; i++)
        (void)snprintf(hex + 2 * i, 3, "%02x", s->bytes[i]);
}

static void sum_marked(uint8_t mark, const void *data, size_t size, struct sum *out)
{
    struct sha256_ctx c;
    sha256_init(&c);
    sha256_update(&c, 1, &mark);
    sha256_update(&c, size, data);
    sha256_digest(&c, sizeof out->bytes, out->bytes);
}

void sum_leaf(const void *data, size_t size, struct sum *out) { sum_marked(0, data, size, out); }

/* The left half is the largest power of two below count. */
void sum_tree(const struct sum *leaves, size_t count, struct sum *out)
{
    struct sum halves[2];
    size_t left = 1;
    if (count == 0) {
        sum_of("", 0, out);
        return;
    }
    if (count == 1) {
        *out = leaves[0];
        return;
    }
    while (2 * left < count)
        left *= 2;
    sum_tree(leaves, left, &halves[0]);
    sum_tree(leaves + left, count - left, &halves[1]);
    sum_marked(1, halves, sizeof halves, out);
}

void film_root(const char *job, uint32_t tile, const struct sum *sums, size_t count, char hex[65])
{
    struct sum tree;
    struct sha256_ctx c;
    char lines[160], tree_hex[65];
    sum_tree(sums, count, &tree);
    sum_hex(&tree, tree_hex);
    int n = snprintf(lines, sizeof lines, "\ntile %u\ntiles %zu\ntree %s\n", tile, count, tree_hex);
    sha256_init(&c);
    sha256_update(&c, 16, (const uint8_t *)"isophote film 1\n");
    sha256_update(&c, strlen(job), (const uint8_t *)job);
    sha256_update(&c, (size_t)n, (const uint8_t *)lines);
    sha256_digest(&c, sizeof tree.bytes, tree.bytes);
    sum_hex(&tree, hex);
}
