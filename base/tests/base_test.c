/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ctype.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base.h"

/* ---- status --------------------------------------------------------------------------------- */

static void statuses(void **state)
{
    (void)state;
    assert_string_equal(status_name(STATUS_OK), "OK");
    assert_string_equal(status_name(STATUS_INTERNAL), "INTERNAL");
    assert_string_equal(status_text(STATUS_ARG), "caller broke the contract");
    assert_string_equal(status_name((enum status)99), "?");
    assert_string_equal(status_name((enum status) - 1), "?");
}

static void errors(void **state)
{
    (void)state;
    struct error e = {.native = 5, .path = "old"};
    char buf[2048];
    struct src_pos pos = {"scene.json", 3, 14};
    assert_int_equal(error_set(&e, STATUS_TYPE, pos, "a %s", "number"), STATUS_TYPE);
    assert_int_equal(e.native, 0);
    error_format(&e, buf, sizeof buf);
    assert_string_equal(buf, "scene.json:3:14: error: a number");
    strcpy(e.path, "camera.fov");
    error_format(&e, buf, sizeof buf);
    assert_string_equal(buf, "scene.json:3:14: error: a number (at camera.fov)");
    error_format(&e, buf, 11);
    assert_string_equal(buf, "scene.json");

    assert_int_equal(error_msg(NULL, STATUS_IO, "unseen"), STATUS_IO);
    error_msg(&e, STATUS_IO, "first");
    error_msg(&e, STATUS_IO, "second: %s", e.msg); /* arguments may lie in *err */
    error_format(&e, buf, sizeof buf);
    assert_string_equal(buf, "error: second: first");
    error_msg(&e, STATUS_IO, "a\x1b[31m\nb"); /* input cannot repaint the terminal */
    assert_string_equal(e.msg, "a [31m b");
    error_set(&e, STATUS_IO, (struct src_pos){.file = "f"}, "%s", "");
    error_format(&e, buf, sizeof buf);
    assert_string_equal(buf, "f: error: a file could not be read or written");

    /* cut at a character, never inside one: 1023 bytes would end in the first half of U+00E9 */
    char odd[1402] = "x";
    for (size_t i = 0; i < 700; i++)
        memcpy(odd + 1 + 2 * i, "\xc3\xa9", 2);
    odd[1401] = '\0';
    error_msg(&e, STATUS_IO, "%s", odd);
    assert_int_equal(strlen(e.msg), 1023);
    error_msg(&e, STATUS_IO, "x%s", odd);
    assert_int_equal(strlen(e.msg), 1022);
}

/* ---- arena ---------------------------------------------------------------------------------- */

static void arena_aligned_and_zeroed(void **state)
{
    (void)state;
    struct arena a = {0};
    for (size_t i = 1; i < 3000; i++) {
        size_t align = (size_t)1 << (i % 13);
        unsigned char *p = arena_alloc(&a, i, 3, align);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % align, 0);
        for (size_t j = 0; j < 3 * i; j++)
            assert_int_equal(p[j], 0);
        memset(p, 0xff, 3 * i); /* a neighbour would see it */
    }
    assert_int_equal(a.total, 3 * (2999 * 3000 / 2));
    assert_int_equal((uintptr_t)arena_alloc(&a, 1, 1, 0) % _Alignof(max_align_t), 0);
    arena_free(&a);
    assert_int_equal(a.total, 0);
    assert_non_null(ARENA_NEW(&a, int));
    arena_free(&a);
}

static void arena_refuses(void **state)
{
    (void)state;
    struct arena a = {0};
    assert_null(arena_alloc(&a, SIZE_MAX, 2, 1));
    assert_null(arena_alloc(&a, SIZE_MAX / 2, 2, 16));
    assert_null(arena_alloc(&a, (size_t)1 << 32, (size_t)1 << 32, 16));
    assert_null(arena_alloc(&a, SIZE_MAX, 1, 1));
    assert_int_equal(a.total, 0);
    assert_non_null(arena_alloc(&a, 0, 8, 8));
    assert_non_null(arena_alloc(&a, 8, 0, 8));
    arena_free(&a);

    struct arena b = {.limit = 1000};
    assert_non_null(arena_alloc(&b, 600, 1, 1));
    assert_null(arena_alloc(&b, 401, 1, 1));
    assert_non_null(arena_alloc(&b, 400, 1, 1));
    assert_null(arena_alloc(&b, 0, 1, 1));
    assert_null(arena_strdup(&b, "more"));
    assert_null(arena_printf(&b, "%d", 5));
    arena_free(&b);
    assert_non_null(arena_alloc(&b, 1000, 1, 1)); /* the limit holds for one life */
    arena_free(&b);
}

static void arena_big_block_keeps_the_head(void **state)
{
    (void)state;
    struct arena a = {0};
    char *small = arena_alloc(&a, 16, 1, 16);
    assert_non_null(arena_alloc(&a, 10 << 20, 1, 16));
    char *next = arena_alloc(&a, 16, 1, 16);
    assert_true(next > small && next - small < 4096);
    arena_free(&a);
}

static void arena_strings(void **state)
{
    (void)state;
    struct arena a = {0};
    assert_string_equal(arena_strdup(&a, ""), "");
    assert_string_equal(arena_strdup(&a, "abc"), "abc");
    assert_string_equal(arena_strndup(&a, "abcdef", 3), "abc");
    assert_string_equal(arena_strndup(&a, "abc", 100), "abc");
    assert_string_equal(arena_printf(&a, "%s-%05d", "x", 42), "x-00042");
    arena_free(&a);
}

/* ---- text ----------------------------------------------------------------------------------- */

/* Words come back from the shell as they were. */
static void words_of_a_shell(void **state)
{
    (void)state;
    static const struct {
        const char *word, *want;
    } rows[] = {{"plain-1.json", "plain-1.json"},
                {"", "''"},
                {"a b", "'a b'"},
                {"it's", "'it'\\''s'"},
                {"$HOME", "'$HOME'"},
                {"`x`;rm", "'`x`;rm'"},
                {"~", "'~'"},
                {"\xc3\xa4", "'\xc3\xa4'"},
                {"a\nb", "$'a\\012b'"},
                {"\033[31m'\\1", "$'\\033[31m\\'\\\\1'"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct text t = {0};
        text_shell(&t, rows[i].word);
        assert_string_equal(t.data, rows[i].want);
        t.len = 0;
        text_puts(&t, "bash -c 'test \"$1\" = \"$2\"' x ");
        text_shell(&t, rows[i].word);
        text_puts(&t, " \"$WORD\"");
        struct text command = {0};
        text_puts(&command, "bash -c ");
        text_shell(&command, t.data);
        assert_int_equal(setenv("WORD", rows[i].word, 1), 0);
        assert_int_equal(system(command.data), 0); // NOLINT(cert-env33-c): what is tested
        text_free(&t);
        text_free(&command);
    }
}

static void what_terminals_show(void **state)
{
    (void)state;
    static const struct {
        const char *text, *line, *lines;
    } rows[] = {{"a b\xc3\xa4", "a b\xc3\xa4", "a b\xc3\xa4"},
                {"a\n\tb", "a\\x0a\\x09b", "a\n\tb"},
                {"\033]0;x\007\r\177", "\\x1b]0;x\\x07\\x0d\\x7f", "\\x1b]0;x\\x07\\x0d\\x7f"},
                {"\xc2\x9b"
                 "31m",
                 "\\x9b31m", "\\x9b31m"},
                // NOLINTNEXTLINE(misc-misleading-bidirectional): that is what must not be shown
                {"\xe2\x80\xae"
                 "exe",
                 "\\u202eexe", "\\u202eexe"},
                {"\x9b\xff\xc3", "\\x9b\\xff\\xc3", "\\x9b\\xff\\xc3"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int lines = 0; lines < 2; lines++) {
            struct text t = {0};
            text_shown(&t, rows[i].text, strlen(rows[i].text), lines);
            assert_string_equal(t.data, lines ? rows[i].lines : rows[i].line);
            text_free(&t);
        }
}

static void texts(void **state)
{
    (void)state;
    struct text t = {0};
    for (int i = 0; i < 1000; i++) {
        text_printf(&t, "%03d", i);
        text_puts(&t, ",");
        text_append(&t, "xyz", 1);
    }
    assert_false(t.failed);
    assert_int_equal(t.len, 5000);
    assert_int_equal(strlen(t.data), 5000);
    assert_string_equal(t.data + 4995, "999,x");
    text_append(&t, "a\0b", 3);
    assert_int_equal(t.len, 5003);
    text_append(&t, "x", SIZE_MAX - 100); /* fails before it reads */
    assert_true(t.failed);
    text_puts(&t, "more");
    assert_int_equal(t.len, 5003);
    text_free(&t);
    assert_null(t.data);
    text_append(&t, "", 0);
    assert_string_equal(t.data, "");
    text_free(&t);
}

/* ---- hash ----------------------------------------------------------------------------------- */

/* The empty input's value is the one in xxHash's own test vectors (XXH3_128bits, seed 0). */
static void hashes(void **state)
{
    (void)state;
    char a[33], b[33];
    hash_bytes("", 0, a);
    assert_string_equal(a, "99aa06d3014798d86001c324468d497f");
    unsigned char data[5000];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i * 7 + i / 256);
    hash_bytes(data, sizeof data, a);
    for (size_t step = 1; step < 3000; step = step * 3 + 1) {
        struct hash *h = hash_open();
        for (size_t i = 0; i < sizeof data; i += step)
            hash_add(h, data + i, sizeof data - i < step ? sizeof data - i : step);
        hash_close(h, b);
        assert_string_equal(a, b);
    }
    data[4999] ^= 1;
    hash_bytes(data, sizeof data, b);
    assert_string_not_equal(a, b);
    hash_close(NULL, b);
    assert_string_equal(b, "");
}

/* ---- philox --------------------------------------------------------------------------------- */

/* Known answers of the Random123 distribution (kat_vectors, philox4x32 10). */
static void philox_vectors(void **state)
{
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], want[4];
    } rows[] = {
        {{0}, {0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t out[4];
        philox4x32(rows[i].counter, rows[i].key, out);
        assert_memory_equal(out, rows[i].want, sizeof out);
        memcpy(out, rows[i].counter, sizeof out); /* in place */
        philox4x32(out, rows[i].key, out);
        assert_memory_equal(out, rows[i].want, sizeof out);
    }
}

static void u01_range(void **state)
{
    (void)state;
    assert_true(u01(0) == 0.0 && u01(255) == 0.0);
    assert_true(u01(256) == 1.0 / 16777216.0);
    assert_true(u01(0x80000000u) == 0.5);
    assert_true(u01(UINT32_MAX) == 1.0 - 1.0 / 16777216.0);
    assert_true((float)u01(UINT32_MAX) < 1.0f && (double)(float)u01(0x12345678) == u01(0x12345678));
}

/* ---- parallel ------------------------------------------------------------------------------- */

struct count {
    atomic_int *hits;
    size_t n;
    unsigned threads;
    atomic_int bad;
    uint64_t sums[8]; /* one a thread, without locks */
};

static void count_body(void *ctx, size_t i, unsigned thread)
{
    struct count *c = ctx;
    if (i >= c->n || thread >= c->threads) {
        atomic_fetch_add(&c->bad, 1);
        return;
    }
    atomic_fetch_add(&c->hits[i], 1);
    c->sums[thread] += i;
}

static void loop_each_once(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 2, 7, 64, 1000, 100003};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        for (unsigned threads = 1; threads <= 8; threads++) {
            size_t n = sizes[k];
            struct count c = {
                .hits = calloc(n + 1, sizeof(atomic_int)), .n = n, .threads = threads};
            assert_non_null(c.hits);
            parallel_for(n, threads, count_body, &c);
            uint64_t sum = 0;
            for (size_t i = 0; i < n; i++)
                assert_int_equal(atomic_load(&c.hits[i]), 1);
            for (size_t t = 0; t < 8; t++)
                sum += c.sums[t];
            assert_int_equal(sum, n ? (uint64_t)n * (n - 1) / 2 : 0);
            assert_int_equal(atomic_load(&c.bad), 0);
            free((void *)c.hits);
        }
    }
}

/* What a body keeps under its thread's number is its own while it runs. */
struct seats {
    atomic_int taken[4], bad;
};

static void sit(void *ctx, size_t i, unsigned thread)
{
    struct seats *s = ctx;
    (void)i;
    if (atomic_exchange(&s->taken[thread], 1))
        atomic_fetch_add(&s->bad, 1);
    nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    atomic_store(&s->taken[thread], 0);
}

static void thread_numbers_are_not_shared(void **state)
{
    (void)state;
    struct seats s = {0};
    parallel_for(256, 4, sit, &s);
    assert_int_equal(atomic_load(&s.bad), 0);
}

struct nest {
    atomic_int inner, bad;
};

static void nest_inner(void *ctx, size_t i, unsigned thread)
{
    struct nest *n = ctx;
    (void)i;
    atomic_fetch_add(&n->inner, 1);
    atomic_fetch_add(&n->bad, thread != 0);
}

static void nest_outer(void *ctx, size_t i, unsigned thread)
{
    (void)i;
    (void)thread;
    parallel_for(10, 4, nest_inner, ctx);
}

static void loop_nested(void **state)
{
    (void)state;
    struct nest n = {0};
    parallel_for(20, 4, nest_outer, &n);
    assert_int_equal(atomic_load(&n.inner), 200);
    assert_int_equal(atomic_load(&n.bad), 0);
}

static void sleep_body(void *ctx, size_t i, unsigned thread)
{
    (void)ctx;
    (void)i;
    (void)thread;
    usleep(50000);
}

static void loop_overlaps(void **state)
{
    (void)state;
    double t = clock_s();
    parallel_for(8, 8, sleep_body, NULL);
    assert_true(clock_s() - t < 0.35); /* one after another would be 0.4 s */
}

static double numbers_part(const void *ctx, size_t begin, size_t end)
{
    const double *of = ctx;
    double sum = 0.0;
    assert_true(begin < end);
    for (size_t i = begin; i < end; i++)
        sum += of[i];
    return sum;
}

/* Whole numbers have one sum; thirds have one for any number of threads. */
static void sums(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 16383, 16384, 16385, 256 * 16384 + 1};
    double *of = malloc(sizes[5] * sizeof *of);
    assert_non_null(of);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const size_t n = sizes[k];
        for (size_t i = 0; i < n; i++)
            of[i] = (double)i;
        const double all = (double)n * ((double)n - 1.0) / 2.0;
        assert_true(parallel_sum(n, numbers_part, of) == all);
        double by[3];
        for (size_t i = 0; i < n; i++)
            of[i] = 1.0 / (3.0 + (double)i);
        for (size_t t = 0; t < 3; t++) {
            setenv("ISOPHOTE_THREADS", t == 0 ? "1" : t == 1 ? "2" : "7", 1);
            by[t] = parallel_sum(n, numbers_part, of);
        }
        unsetenv("ISOPHOTE_THREADS");
        assert_true(by[0] == by[1] && by[0] == by[2]);
    }
    free(of);
}

static void thread_count(void **state)
{
    (void)state;
    setenv("ISOPHOTE_THREADS", "3", 1);
    assert_int_equal(parallel_threads(), 3);
    setenv("ISOPHOTE_THREADS", "999999", 1);
    assert_int_equal(parallel_threads(), 1024);
    unsetenv("ISOPHOTE_THREADS");
    unsigned n = parallel_threads();
    assert_true(n >= 1);
    static const char *const bad[] = {"0", "-4", "x", "2x", ""};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        setenv("ISOPHOTE_THREADS", bad[i], 1);
        assert_int_equal(parallel_threads(), n);
    }
    unsetenv("ISOPHOTE_THREADS");
}

/* ---- clock ---------------------------------------------------------------------------------- */

static void clocks(void **state)
{
    (void)state;
    double t = clock_s();
    usleep(20000);
    double dt = clock_s() - t;
    assert_true(dt >= 0.02 && dt < 5);
    char buf[32];
    clock_utc(buf);
    for (size_t i = 0; i < 20; i++) {
        char kind = "dddd-dd-ddTdd:dd:ddZ"[i];
        assert_true(kind == 'd' ? isdigit((unsigned char)buf[i]) : buf[i] == kind);
    }
    assert_int_equal(strlen(buf), 20);
    assert_true(strncmp(buf, "2026", 4) >= 0);
    size_t before = memory_peak(), grow = 64 << 20;
    char *p = malloc(grow);
    assert_non_null(p);
    memset(p, 1, grow);
    assert_int_equal(p[grow / 2], 1);
    size_t after = memory_peak();
    free(p);
    assert_true(after - before > grow / 2 && after - before < 16 * grow); /* sanitizers shadow */
    assert_true(memory_peak() >
                after - (1 << 20)); /* stays, within the kernel's batched counters */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statuses),
        cmocka_unit_test(errors),
        cmocka_unit_test(arena_aligned_and_zeroed),
        cmocka_unit_test(arena_refuses),
        cmocka_unit_test(arena_big_block_keeps_the_head),
        cmocka_unit_test(arena_strings),
        cmocka_unit_test(texts),
        cmocka_unit_test(words_of_a_shell),
        cmocka_unit_test(what_terminals_show),
        cmocka_unit_test(hashes),
        cmocka_unit_test(philox_vectors),
        cmocka_unit_test(u01_range),
        cmocka_unit_test(loop_each_once),
        cmocka_unit_test(thread_numbers_are_not_shared),
        cmocka_unit_test(loop_nested),
        cmocka_unit_test(sums),
        cmocka_unit_test(loop_overlaps),
        cmocka_unit_test(thread_count),
        cmocka_unit_test(clocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
