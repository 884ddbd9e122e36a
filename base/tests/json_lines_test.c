/* SPDX-License-Identifier: Apache-2.0 */
/* Journals of JSON lines: what was written comes back; what is torn falls away; what somebody changed
 * is refused, and stays as it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base.h"

enum { LINES = 4, SEEN = 8 };
static char folder[512], path[600];

/* What was told, as it came. */
struct seen {
    size_t count;
    int64_t n[SEEN];
    char text[SEEN][128];
    const char *kind; /* the first line has no other; NULL: any */
};

static int folder_make(void **state)
{
    (void)state;
    if (scratch_make(folder, sizeof folder, NULL) != STATUS_OK)
        return -1;
    snprintf(path, sizeof path, "%s/a.journal", folder);
    return 0;
}

static int folder_remove(void **state)
{
    (void)state;
    scratch_remove(folder);
    return access(folder, F_OK) == 0 ? -1 : 0;
}

static enum status see(void *ctx, const struct json_line *l, struct error *err)
{
    struct seen *s = ctx;
    const struct json *n = l->value->type == JSON_OBJECT ? json_get(l->value, "n") : NULL;
    const struct json *kind = n ? json_get(l->value, "kind") : NULL;
    if (!n || !n->is_integer)
        return json_error(err, path, l->value, STATUS_RANGE, "no number");
    if (l->number == 1 && s->kind && (!kind || strcmp(kind->string, s->kind) != 0))
        return json_error(err, path, l->value, STATUS_RANGE, "of another kind");
    assert_int_equal(l->number, s->count + 1);
    assert_true(s->count < SEEN && l->size < sizeof s->text[0]);
    s->n[s->count] = n->integer;
    memcpy(s->text[s->count], l->text, l->size);
    s->text[s->count++][l->size] = '\0';
    return STATUS_OK;
}

static enum status add(struct json_lines *j, int64_t n, const char *more, struct error *err)
{
    struct json_writer w = {0};
    json_begin_object(&w);
    json_key_integer(&w, "n", n);
    json_key_string(&w, "kind", "sum\"}");
    if (more)
        json_key_string(&w, "more", more);
    json_end_object(&w);
    return json_lines_add(j, &w, true, err);
}

static char *whole(struct arena *a)
{
    char *data;
    size_t size;
    assert_int_equal(file_read(a, path, 0, &data, &size, NULL), STATUS_OK);
    return data;
}

/* A journal of `count` lines in the file; its bytes, and where each line ends. */
static char *made(struct arena *a, size_t count, size_t ends[])
{
    struct json_lines *j;
    struct seen s = {0};
    assert_int_equal(json_lines_open(path, false, see, &s, &j, NULL), STATUS_OK);
    assert_true(json_lines_none(j));
    for (size_t i = 0; i < count; i++)
        assert_int_equal(add(j, (int64_t)(10 * i), i % 2 ? "x" : NULL, NULL), STATUS_OK);
    assert_false(json_lines_none(j));
    json_lines_close(j);
    char *data = whole(a), *at = data;
    for (size_t i = 0; i < count; i++) {
        at = strchr(at, '\n') + 1;
        ends[i] = (size_t)(at - data);
    }
    assert_int_equal(*at, '\0');
    return data;
}

static void put(const char *data, size_t size)
{
    FILE *f = fopen(path, "wb"); /* file_write would wait for the disk */
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

/* It is refused at that line (0: at any), with that status, and nothing of it is lost. */
static void refused(const char *data, size_t size, enum status want, uint32_t line)
{
    struct arena a = {0};
    struct json_lines *j = NULL;
    struct seen s = {0};
    struct error err = {0};
    put(data, size);
    assert_int_equal(json_lines_open(path, true, see, &s, &j, &err), want);
    assert_null(j);
    if (line)
        assert_int_equal(err.line, line);
    assert_string_equal(err.file, path);
    assert_memory_equal(whole(&a), data, size + 1);
    arena_free(&a);
}

static void what_was_written_comes_back(void **state)
{
    (void)state;
    struct arena a = {0};
    struct json_lines *j;
    size_t ends[LINES], begin = 0;
    char *data = made(&a, LINES, ends), before[33] = "", want[33];
    struct seen s = {.kind = "sum\"}"};
    /* the sum is that of the line before and of the line's own bytes, reckoned here */
    for (size_t i = 0; i < LINES; i++) {
        static const char tail[] = ",\"sum\":\"\"}\n";
        const size_t own = ends[i] - begin - 32 - strlen(tail);
        const char *sum = data + ends[i] - 3 - 32;
        const char *both = arena_printf(&a, "%s%.*s", before, (int)own, data + begin);
        hash_bytes(both, strlen(both), want);
        assert_memory_equal(sum, want, 32);
        strcpy(before, want);
        begin = ends[i];
    }
    assert_int_equal(json_lines_open(path, true, see, &s, &j, NULL), STATUS_OK);
    assert_int_equal(s.count, LINES);
    assert_string_equal(s.text[0], "{\"n\":0,\"kind\":\"sum\\\"}\"");
    assert_string_equal(s.text[3], "{\"n\":30,\"kind\":\"sum\\\"}\",\"more\":\"x\"");
    assert_int_equal(add(j, 7, NULL, NULL), STATUS_OK);
    json_lines_close(j);
    assert_memory_equal(whole(&a), data, ends[LINES - 1]);
    s = (struct seen){0};
    assert_int_equal(json_lines_open(path, true, see, &s, &j, NULL), STATUS_OK);
    assert_int_equal(s.count, LINES + 1);
    assert_int_equal(s.n[LINES], 7);
    json_lines_close(j);
    s = (struct seen){0};
    assert_int_equal(json_lines_open(path, false, see, &s, &j, NULL), STATUS_OK);
    assert_int_equal(s.count, 0);
    json_lines_close(j);
    assert_string_equal(whole(&a), "");
    json_lines_close(NULL);
    arena_free(&a);
}

/* Cut at every byte: whole lines stay, and the next one stands behind them. */
static void a_torn_line_falls_away(void **state)
{
    (void)state;
    struct arena a = {0};
    size_t ends[LINES];
    char *data = made(&a, LINES, ends);
    for (size_t cut = 0; cut <= ends[LINES - 1]; cut++) {
        struct json_lines *j;
        struct seen s = {0};
        size_t left = 0;
        while (left < LINES && ends[left] <= cut)
            left++;
        put(data, cut);
        assert_int_equal(json_lines_open(path, true, see, &s, &j, NULL), STATUS_OK);
        assert_int_equal(s.count, left);
        assert_int_equal(json_lines_none(j), left == 0);
        assert_int_equal(add(j, 99, NULL, NULL), STATUS_OK);
        json_lines_close(j);
        s = (struct seen){0};
        assert_int_equal(json_lines_open(path, true, see, &s, &j, NULL), STATUS_OK);
        assert_int_equal(s.count, left + 1);
        assert_int_equal(s.n[left], 99);
        json_lines_close(j);
    }
    /* a block of the last line did not reach the disk, though its end did; nor one further up */
    for (size_t i = 1; i < LINES; i++) {
        char *holed = arena_strndup(&a, data, ends[LINES - 1]);
        memset(holed + ends[i - 1] + 4, 0, 20);
        if (i < LINES - 1) {
            refused(holed, ends[LINES - 1], STATUS_PARSE, (uint32_t)i + 1);
            continue;
        }
        struct json_lines *j;
        struct seen s = {0};
        put(holed, ends[LINES - 1]);
        assert_int_equal(json_lines_open(path, true, see, &s, &j, NULL), STATUS_OK);
        assert_int_equal(s.count, LINES - 1);
        json_lines_close(j);
        assert_memory_equal(whole(&a), data, ends[LINES - 2]);
    }
    arena_free(&a);
}

/* Every byte as another one, every line away, twice or elsewhere. What is told as if nothing had
 * happened is what was written, up to a last line that is no JSON any more. */
static void an_edited_line_is_noticed(void **state)
{
    (void)state;
    struct arena a = {0};
    size_t ends[LINES];
    char *data = made(&a, LINES, ends);
    const size_t size = ends[LINES - 1];
    size_t noticed = 0;
    for (size_t at = 0; at < size; at++)
        for (int way = 0; way < 4; way++) {
            struct json_lines *j = NULL;
            struct seen s = {0};
            struct error err = {0};
            char *other = arena_strndup(&a, data, size);
            other[at] = way == 3 ? '\n' : (char)(other[at] ^ 1 << way);
            if (other[at] == data[at])
                continue;
            put(other, size);
            const enum status st = json_lines_open(path, true, see, &s, &j, &err);
            if (st == STATUS_OK) {
                /* the end of the last but one makes one line of two: then both fall */
                assert_true(at + 1 >= ends[LINES - 2]);
                assert_int_equal(s.count, at < ends[LINES - 2] ? LINES - 2 : LINES - 1);
                for (size_t i = 0; i < s.count; i++)
                    assert_int_equal(s.n[i], 10 * i);
                json_lines_close(j);
                continue;
            }
            noticed++;
            assert_true(st == STATUS_TYPE || st == STATUS_PARSE || st == STATUS_RANGE);
            assert_memory_equal(whole(&a), other, size);
        }
    assert_true(noticed > 3 * ends[LINES - 2]);
    for (size_t i = 0; i < LINES; i++) {
        const size_t begin = i ? ends[i - 1] : 0, n = ends[i] - begin;
        const char *less = arena_printf(&a, "%.*s%s", (int)begin, data, data + ends[i]);
        const char *twice = arena_printf(&a, "%.*s%s", (int)ends[i], data, data + begin);
        if (i < LINES - 1) { /* without its last line it is what it once was */
            refused(less, size - n, STATUS_TYPE, (uint32_t)i + 1);
            const size_t next = ends[i + 1] - ends[i];
            const char *swapped =
                arena_printf(&a, "%.*s%.*s%.*s%s", (int)begin, data, (int)next, data + ends[i],
                             (int)n, data + begin, data + ends[i + 1]);
            refused(swapped, size, STATUS_TYPE, (uint32_t)i + 1);
        }
        refused(twice, size + n, STATUS_TYPE, (uint32_t)i + 2);
    }
    refused("{\"n\":1}\n", 8, STATUS_TYPE, 1); /* no sum at all */
    arena_free(&a);
}

/* The other process loses nothing, whether this one would have begun anew or not. */
static void one_process_writes(void **state)
{
    (void)state;
    struct arena a = {0};
    struct error err = {0};
    struct json_lines *j = NULL;
    struct seen s = {0};
    int begun[2], end[2], status = 1;
    char c = 0;
    assert_int_equal(pipe(begun), 0);
    assert_int_equal(pipe(end), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        close(end[1]); /* or it waits for itself when the test has failed */
        const bool good = json_lines_open(path, false, see, &s, &j, NULL) == STATUS_OK &&
                          add(j, 1, NULL, NULL) == STATUS_OK && write(begun[1], "b", 1) == 1;
        (void)!read(end[0], &c, 1);
        _exit(good && add(j, 2, NULL, NULL) == STATUS_OK ? 0 : 1);
    }
    close(begun[1]);
    assert_int_equal(read(begun[0], &c, 1), 1);
    for (int resume = 0; resume < 2; resume++) {
        assert_int_equal(json_lines_open(path, resume, see, &s, &j, &err), STATUS_LIMIT);
        assert_non_null(strstr(err.msg, "another run is writing this journal"));
        assert_int_equal(s.count, 0);
    }
    assert_int_equal(write(end[1], "e", 1), 1);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(json_lines_open(path, true, see, &s, &j, &err), STATUS_OK);
    assert_int_equal(s.count, 2);
    json_lines_close(j);
    close(begun[0]);
    close(end[0]);
    close(end[1]);
    arena_free(&a);
}

/* RLIMIT_FSIZE for a disk that fills up in the middle of a line and has room again for less. */
static void a_full_disk_keeps_what_fits(void **state)
{
    (void)state;
    struct json_lines *j;
    struct seen s = {0};
    struct error err = {0};
    if (access("/dev/full", W_OK) == 0) {
        assert_int_equal(json_lines_open("/dev/full", true, see, &s, &j, &err), STATUS_OK);
        assert_int_equal(add(j, 1, NULL, &err), STATUS_IO);
        assert_non_null(strstr(err.msg, "/dev/full: No space left"));
        assert_true(json_lines_none(j));
        json_lines_close(j);
    }
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct rlimit lim = {400, 400};
        char large[512];
        memset(large, 'x', sizeof large);
        large[sizeof large - 1] = '\0';
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &lim);
        _exit(json_lines_open(path, false, see, &s, &j, NULL) == STATUS_OK &&
                      add(j, 1, NULL, NULL) == STATUS_OK && add(j, 2, large, NULL) == STATUS_IO &&
                      add(j, 3, NULL, NULL) == STATUS_OK
                  ? 0
                  : 1);
    }
    int status = 1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(json_lines_open(path, true, see, &s, &j, &err), STATUS_OK);
    assert_int_equal(s.count, 2);
    assert_int_equal(s.n[1], 3);
    json_lines_close(j);
}

static void what_is_no_journal_stays(void **state)
{
    (void)state;
    struct arena a = {0};
    struct error err = {0};
    struct json_lines *j = NULL;
    struct seen s = {.kind = "another"};
    char other[600];
    size_t ends[LINES];
    static const char notes[] = "Buy milk.\n", two[] = "Buy milk.\nAnd bread.\n",
                      json[] = "{\"answer\":42}\n";
    refused(notes, strlen(notes), STATUS_PARSE, 1);
    refused(two, strlen(two), STATUS_PARSE, 1);
    refused(json, strlen(json), STATUS_RANGE, 1); /* told by `line`, not by its missing sum */
    assert_int_equal(json_lines_open(path, true, see, &s, &j, &err), STATUS_RANGE);
    char *data = made(&a, LINES, ends);
    assert_int_equal(json_lines_open(path, true, see, &s, &j, &err), STATUS_RANGE);
    assert_string_equal(err.msg, "of another kind");
    assert_string_equal(whole(&a), data);
    assert_int_equal(json_lines_open(folder, true, see, &s, &j, &err), STATUS_IO);
    snprintf(other, sizeof other, "%s/no/a.journal", folder);
    assert_int_equal(json_lines_open(other, true, see, &s, &j, &err), STATUS_IO);
    assert_null(j);
    /* what cannot be cut or synced is written to all the same */
    snprintf(other, sizeof other, "%s/pipe", folder);
    assert_int_equal(mkfifo(other, 0600), 0);
    const char *const streams[] = {"/dev/null", other};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(json_lines_open(streams[i], true, see, &s, &j, &err), STATUS_OK);
        assert_int_equal(add(j, 1, NULL, &err), STATUS_OK);
        json_lines_close(j);
    }
    arena_free(&a);
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_make, folder_remove)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(what_was_written_comes_back), IN_FOLDER(a_torn_line_falls_away),
        IN_FOLDER(an_edited_line_is_noticed),   IN_FOLDER(one_process_writes),
        IN_FOLDER(a_full_disk_keeps_what_fits), IN_FOLDER(what_is_no_journal_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
