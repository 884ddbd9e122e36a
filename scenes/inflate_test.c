/* Streams that zlib made in all its ways, whole and damaged. */
#include "base.h"
#include "inflate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <libdeflate.h>
#include <zlib.h>

enum { SIZE_MAX_HERE = 600000, KINDS = 5, WAYS = 8, PARTS_MAX = 7 };

struct packed {
    unsigned char *bytes; /* INFLATE_BEHIND more can be read */
    size_t size;
};

/* 0 noise on waves, 1 any bytes, 2 all the same, 3 pixels of 6 bytes that repeat, 4 few values. */
static void make_data(int kind, unsigned char *to, size_t size)
{
    uint64_t random = 5;
    for (size_t i = 0; i < size; i++) {
        random = random * 6364136223846793005ULL + 1442695040888963407ULL;
        unsigned dice = (unsigned)(random >> 40);
        to[i] = (unsigned char)(kind == 0   ? (i % 2 ? dice : i / 3000 + dice % 3)
                                : kind == 1 ? dice
                                : kind == 2 ? 77
                                : kind == 3 ? i % 6 * (i / 9999)
                                            : (dice % 64 == 0 ? dice : dice % 4));
    }
}

static struct packed pack(int way, const unsigned char *data, size_t size)
{
    static const struct {
        int level, strategy, flush; /* every 100,000 bytes */
    } ways[WAYS] = {{0, Z_DEFAULT_STRATEGY, Z_NO_FLUSH},   {1, Z_DEFAULT_STRATEGY, Z_NO_FLUSH},
                    {6, Z_DEFAULT_STRATEGY, Z_NO_FLUSH},   {9, Z_DEFAULT_STRATEGY, Z_SYNC_FLUSH},
                    {6, Z_DEFAULT_STRATEGY, Z_FULL_FLUSH}, {6, Z_FIXED, Z_NO_FLUSH},
                    {6, Z_HUFFMAN_ONLY, Z_NO_FLUSH},       {6, Z_RLE, Z_NO_FLUSH}};
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, ways[way].level, Z_DEFLATED, 15, 6, ways[way].strategy),
                     Z_OK);
    size_t room = size + size / 8 + 4096;
    struct packed p = {.bytes = calloc(room + INFLATE_BEHIND, 1)};
    z.next_out = p.bytes;
    z.avail_out = (uInt)room;
    for (size_t at = 0; at <= size; at += 100000) {
        size_t n = size - at < 100000 ? size - at : 100000;
        z.next_in = (Bytef *)(uintptr_t)(data + at);
        z.avail_in = (uInt)n;
        deflate(&z, n < 100000 ? Z_FINISH : ways[way].flush);
        assert_int_equal(z.avail_in, 0);
    }
    p.size = z.total_out;
    assert_int_equal(deflateEnd(&z), Z_OK);
    return p;
}

/* How many pieces came of it; what came is right. */
static size_t expect_parts(struct packed p, const unsigned char *data, size_t size, unsigned count,
                           unsigned threads)
{
    struct arena a = {0};
    struct inflate_piece pieces[PARTS_MAX];
    struct inflate_job j = {.packed = p.bytes, .packed_size = p.size, .size = size};
    size_t n = inflate_in_parts(&a, &j, count, threads, pieces), at = 0;
    for (size_t i = 0; i < n; at += pieces[i++].size) {
        assert_true(pieces[i].size <= size - at);
        assert_memory_equal(pieces[i].bytes, data + at, pieces[i].size);
    }
    assert_true(n == 0 || at == size);
    arena_free(&a);
    return n;
}

static void test_whole(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 7, 300, 70000, 300001};
    unsigned char *data = malloc(SIZE_MAX_HERE);
    struct inflater *f = inflater_new();
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            struct inflate_job jobs[WAYS];
            struct packed p[WAYS];
            make_data(kind, data, sizes[k]);
            for (int way = 0; way < WAYS; way++) {
                p[way] = pack(way, data, sizes[k]);
                jobs[way] = (struct inflate_job){.packed = p[way].bytes,
                                                 .packed_size = p[way].size,
                                                 .out = malloc(sizes[k]),
                                                 .size = sizes[k]};
            }
            inflate_together(f, jobs, WAYS);
            for (int way = 0; way < WAYS; way++) {
                if (!jobs[way].ok || memcmp(jobs[way].out, data, sizes[k]) != 0)
                    fail_msg("kind %d, way %d, %zu bytes: %s", kind, way, sizes[k],
                             jobs[way].ok ? "other bytes" : "refused");
                jobs[way].size--; /* there is more than was said */
            }
            inflate_together(f, jobs, WAYS);
            for (int way = 0; way < WAYS; way++) {
                assert_false(jobs[way].ok);
                free(jobs[way].out);
                free(p[way].bytes);
            }
        }
    inflater_free(f);
    free(data);
}

static void test_parts(void **state)
{
    (void)state;
    unsigned char *data = malloc(SIZE_MAX_HERE);
    for (int kind = 0; kind < KINDS; kind++)
        for (int way = 0; way < WAYS; way++) {
            size_t most = 0;
            make_data(kind, data, SIZE_MAX_HERE);
            struct packed p = pack(way, data, SIZE_MAX_HERE);
            for (unsigned count = 1; count <= PARTS_MAX; count++) {
                size_t n = expect_parts(p, data, SIZE_MAX_HERE, count, 1 + count / 2);
                most = n > most ? n : most;
            }
            /* Matches that reach far back are few in noise, and none where there are no matches. */
            if ((kind == 0 && way != 0 && way != 5) || (kind == 4 && way == 6))
                assert_int_equal(most, PARTS_MAX);
            if (expect_parts(p, data, SIZE_MAX_HERE - 1, 5, 2) != 0)
                fail_msg("a stream that is too long was taken");
            free(p.bytes);
        }
    make_data(0, data, 100);
    struct packed p = pack(2, data, 100);
    expect_parts(p, data, 100, PARTS_MAX, 2);
    free(p.bytes);
    free(data);
}

/* Bits are turned over and ends cut off: what is taken, libdeflate takes too, and it is the same.
 */
static void test_damage(void **state)
{
    (void)state;
    enum { SIZE = 60000 };
    unsigned char *data = malloc(SIZE), *out = malloc(SIZE), *right = malloc(SIZE);
    struct inflater *f = inflater_new();
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    unsigned random = 1;
    for (int k = 0; k < KINDS * WAYS; k++) {
        make_data(k % KINDS, data, SIZE);
        struct packed p = pack(k / KINDS, data, SIZE);
        for (int turn = 0; turn < 8; turn++) {
            random = random * 1664525 + 1013904223;
            size_t at = turn < 2 ? random >> 8 & 63 : (random >> 1) % p.size;
            struct packed q = {.bytes = calloc(p.size + INFLATE_BEHIND, 1), .size = p.size};
            memcpy(q.bytes, p.bytes, p.size);
            if (at >= p.size)
                at = p.size - 1;
            q.bytes[at] ^= (unsigned char)(1 << turn % 8);
            if (turn == 7)
                q.size = at;
            struct inflate_job j = {
                .packed = q.bytes, .packed_size = q.size, .out = out, .size = SIZE};
            inflate_together(f, &j, 1);
            bool ok = libdeflate_zlib_decompress(d, q.bytes, q.size, right, SIZE, NULL) ==
                      LIBDEFLATE_SUCCESS;
            if (j.ok && !(ok && memcmp(out, right, SIZE) == 0))
                fail_msg("kind %d, way %d, byte %zu: taken", k % KINDS, k / KINDS, at);
            if (expect_parts(q, data, SIZE, 1 + (unsigned)turn % PARTS_MAX, 2) != 0)
                assert_true(ok);
            free(q.bytes);
        }
        free(p.bytes);
    }
    libdeflate_free_decompressor(d);
    inflater_free(f);
    free(right);
    free(out);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_whole), cmocka_unit_test(test_parts),
                                       cmocka_unit_test(test_damage)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
