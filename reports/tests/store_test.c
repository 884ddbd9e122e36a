/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <sqlite3.h>

#include "report/tuning.h"
#include "sample_store.h"
#include "store/records.h"

static char folder[64], path_a[96], path_b[96];

static int folder_make(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/isophote-store-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path_a, sizeof path_a, "%s/a.sqlite", folder);
    snprintf(path_b, sizeof path_b, "%s/b.sqlite", folder);
    return 0;
}

static int folder_remove(void **state)
{
    (void)state;
    (void)unlink(path_a);
    (void)unlink(path_b);
    return rmdir(folder); /* fails when a journal or a temporary file was left behind */
}

static struct store *fresh(const char *path)
{
    struct error err = {0};
    struct store *s = NULL;
    (void)unlink(path);
    assert_int_equal(store_open(path, false, &s, &err), STATUS_OK);
    return s;
}

/* The export as text, heap. */
static char *exported(struct store *s)
{
    char *data = NULL;
    size_t size = 0;
    struct error err = {0};
    FILE *f = open_memstream(&data, &size);
    assert_int_equal(store_export(s, f, &err), STATUS_OK);
    fclose(f);
    return data;
}

static void round_trip_is_exact(void **state)
{
    (void)state;
    struct error err = {0};
    struct store *a = fresh(path_a), *b = fresh(path_b);
    assert_int_equal(sample_store_fill(a, 0.9, 3, &err), STATUS_OK);
    char *first = exported(a);
    assert_int_equal(store_import(b, "first.jsonl", first, strlen(first), &err), STATUS_OK);
    char *second = exported(b);
    assert_string_equal(first, second);
    /* into a store that has runs already: they come behind, and the rest keeps its run */
    assert_int_equal(store_import(a, "first.jsonl", first, strlen(first), &err), STATUS_OK);
    struct arena arena = {0};
    struct run_record *runs;
    struct bench_record *rows, *all;
    size_t n, row_count, all_count;
    assert_int_equal(store_runs(a, &arena, &runs, &n, &err), STATUS_OK);
    assert_int_equal(n, 6);
    assert_string_equal(runs[4].kind, "bench");
    assert_int_equal(store_bench_rows(a, &arena, runs[4].id, &rows, &row_count, &err), STATUS_OK);
    assert_int_equal(row_count, 12);
    assert_string_equal(rows[0].scene, "cornell");
    assert_int_equal(store_bench_rows(a, &arena, 0, &all, &all_count, &err), STATUS_OK);
    assert_int_equal(all_count, 2 * (12 + 6 * 96));
    arena_free(&arena);
    free(first);
    free(second);
    store_close(a);
    store_close(b);
}

static void numbers_survive(void **state)
{
    (void)state;
    struct error err = {0};
    struct store *a = fresh(path_a), *b = fresh(path_b);
    struct run_record run = {.kind = "bench",
                             .environment = " { \"a\" : [ 1 , 2.50, 1e-300 ], \"b\" : null } "};
    double odd = 0x1.23456789abcdfp+21;
    struct bench_record r = {.scene = "s\xe2\x98\x85\n\"",
                             .device = "d",
                             .mode = "strict",
                             .width = UINT32_MAX,
                             .verdict = VERDICT_PASS,
                             .samples_per_s = odd,
                             .interval = {odd / 3, odd * 3},
                             .noise = 1.0 / 3};
    assert_int_equal(store_add_run(a, &run, &err), STATUS_OK);
    assert_int_equal(store_add_bench(a, run.id, &r, &err), STATUS_OK);
    char *text = exported(a);
    assert_non_null(strstr(text, "\"environment\":{\"a\":[1,2.5,1e-300],\"b\":null}"));
    assert_int_equal(store_import(b, "x", text, strlen(text), &err), STATUS_OK);
    struct arena arena = {0};
    struct bench_record *rows;
    size_t n;
    assert_int_equal(store_bench_rows(b, &arena, 0, &rows, &n, &err), STATUS_OK);
    assert_int_equal(n, 1);
    assert_string_equal(rows[0].scene, r.scene);
    assert_memory_equal(&rows[0].samples_per_s, &odd, sizeof odd);
    assert_memory_equal(rows[0].interval, r.interval, sizeof r.interval);
    assert_int_equal(rows[0].width, UINT32_MAX);
    assert_null(rows[0].reason);
    arena_free(&arena);
    free(text);
    store_close(a);
    store_close(b);
}

static void records_are_checked(void **state)
{
    (void)state;
    struct error err = {0};
    struct store *s = fresh(path_a);
    struct run_record run = {.kind = "bench"}, bad_run = {.kind = "bench", .environment = "{oops"};
    assert_int_equal(store_add_run(s, &bad_run, &err), STATUS_ARG);
    assert_int_equal(bad_run.id, 0);
    assert_int_equal(store_add_run(s, &run, &err), STATUS_OK);
    struct bench_record wrong = {
        .scene = "s", .device = "d", .mode = "fast", .verdict = VERDICT_FAIL, .samples_per_s = 1e6};
    assert_int_equal(store_add_bench(s, run.id, &wrong, &err), STATUS_ARG);
    wrong.verdict = VERDICT_PASS;
    wrong.samples_per_s = 0;
    assert_int_equal(store_add_bench(s, run.id, &wrong, &err), STATUS_ARG);
    wrong.samples_per_s = 1.0 / 0.0;
    assert_int_equal(store_add_bench(s, run.id, &wrong, &err), STATUS_ARG);
    struct case_record c = {.device = "d", .verdict = VERDICT_PASS};
    assert_int_equal(store_add_case(s, run.id, &c, &err), STATUS_ARG);
    assert_non_null(strstr(err.msg, "name"));
    c.name = "a.b.c";
    assert_int_equal(store_add_case(s, run.id + 7, &c, &err), STATUS_ARG);
    assert_non_null(strstr(err.msg, "no run"));
    struct image_record i = {.scene = "s", .device = "d", .png = "not a picture", .png_size = 13};
    assert_int_equal(store_add_image(s, run.id, &i, &err), STATUS_ARG);
    char *text = exported(s);
    const char *nl = strchr(text, '\n');
    assert_non_null(nl);
    assert_non_null(strchr(nl + 1, '\n'));
    assert_null(
        strchr(strchr(nl + 1, '\n') + 1, '\n')); /* the head and one run: nothing else went in */
    free(text);
    store_close(s);
}

static void write_file(const char *path, const void *data, size_t size)
{
    struct error err = {0};
    assert_int_equal(file_write(path, data, size, &err), STATUS_OK);
}

/* The identity of a case on a device with a compiler. */
static const struct identity *case_of(struct arena *a, const char *compiler, const char *name)
{
    struct identity *device = identity_new(a, "device"), *id = identity_new(a, "case");
    identity_add(device, "name", "a card");
    identity_add(device, "compiler", compiler);
    identity_add_of(id, identity_close(device, NULL));
    identity_add(id, "case", name);
    return identity_close(id, NULL);
}

static size_t count_of(const char *text, const char *word)
{
    size_t n = 0;
    for (const char *p = text; (p = strstr(p, word)); p++)
        n++;
    return n;
}

static void identities_stand_once_a_run(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct error err = {0};
    struct store *a = fresh(path_a), *b = fresh(path_b);
    struct run_record first = {.kind = "conform", .selection = "{\"list\":\"core\"}"},
                      second = {.kind = "conform"};
    const struct identity *one = case_of(&arena, "gcc", "image.one"),
                          *two = case_of(&arena, "gcc", "image.two");
    assert_int_equal(store_add_run(a, &first, &err), STATUS_OK);
    assert_int_equal(store_add_run(a, &second, &err), STATUS_OK);
    for (int i = 0; i < 2; i++) {
        const struct identity *ids[] = {one, two, one};
        for (int k = 0; k < 3; k++) {
            struct case_record c = {.name = ids[k]->parts[1].value,
                                    .device = "d",
                                    .verdict = VERDICT_SKIP,
                                    .skip = i ? "expected" : "unexpected",
                                    .listed = i == 0,
                                    .identity = ids[k]->key};
            int64_t run = i ? second.id : first.id;
            assert_int_equal(store_add_identity(a, run, ids[k], &err), STATUS_OK);
            assert_int_equal(store_add_case(a, run, &c, &err), STATUS_OK);
        }
    }
    char *text = exported(a);
    assert_int_equal(count_of(text, "{\"type\":\"identity\""), 2 * 3); /* two cases, one device */
    assert_int_equal(count_of(text, one->key), 2 * 3);
    assert_non_null(strstr(text, "\"selection\":{\"list\":\"core\"}"));
    assert_non_null(strstr(text, "\"skip\":\"unexpected\",\"listed\":true"));
    assert_int_equal(store_import(b, "x", text, strlen(text), &err), STATUS_OK);
    char *again = exported(b);
    assert_string_equal(text, again);
    free(again);
    /* parts that do not give their key */
    char *gcc = strstr(text, "gcc");
    assert_non_null(gcc);
    *gcc = 'i';
    struct store *c = fresh(path_b);
    assert_int_equal(store_import(c, "x", text, strlen(text), &err), STATUS_TYPE);
    assert_non_null(strstr(err.msg, "is not that of these parts"));
    struct case_record odd = {
        .name = "a", .device = "d", .verdict = VERDICT_PASS, .skip = "expected"};
    assert_int_equal(store_add_case(a, first.id, &odd, &err), STATUS_ARG);
    odd.verdict = VERDICT_SKIP;
    odd.skip = "perhaps";
    assert_int_equal(store_add_case(a, first.id, &odd, &err), STATUS_ARG);
    free(text);
    store_close(a);
    store_close(b);
    store_close(c);
    arena_free(&arena);
}

/* A store as the first schema made it: without the tables and columns that came later. */
static void make_first_schema(const char *path)
{
    sqlite3 *db;
    char sql[160];
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    for (int k = 0; k < RECORD_COUNT; k++) {
        const struct record_layout *l = &record_layouts[k];
        if (l->since > 1)
            (void)snprintf(sql, sizeof sql, "DROP TABLE %s", l->table);
        if (l->since > 1)
            assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
        for (size_t i = 0; i < l->count && l->since <= 1; i++)
            if (l->fields[i].since > 1) {
                (void)snprintf(sql, sizeof sql, "ALTER TABLE %s DROP COLUMN %s", l->table,
                               l->fields[i].name);
                assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
            }
    }
    assert_int_equal(sqlite3_exec(db, "PRAGMA user_version = 1", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void older_stores_are_read_and_brought_on(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct error err = {0};
    struct store *s = fresh(path_a);
    assert_int_equal(sample_store_fill(s, 0.9, 3, &err), STATUS_OK);
    char *before = exported(s);
    store_close(s);
    make_first_schema(path_a);
    /* read only: as it is */
    assert_int_equal(store_open(path_a, true, &s, &err), STATUS_OK);
    char *older = exported(s);
    store_close(s);
    assert_int_equal(count_of(older, "\"type\":\"identity\""), 0);
    assert_int_equal(count_of(older, "\"listed\":false"), count_of(older, "\"type\":\"case\""));
    assert_int_equal(count_of(older, "\n"), count_of(before, "\n") -
                                                count_of(before, "\"type\":\"identity\"") -
                                                count_of(before, "\"type\":\"film\""));
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path_a, &db), SQLITE_OK);
    assert_int_not_equal(sqlite3_exec(db, "SELECT key FROM identity", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    /* for writing: brought on, with all that was in it */
    assert_int_equal(store_open(path_a, false, &s, &err), STATUS_OK);
    char *brought = exported(s);
    assert_string_equal(brought, older);
    struct run_record run = {.kind = "conform"};
    const struct identity *id = case_of(&arena, "gcc", "image.one");
    struct case_record c = {
        .name = "image.one", .device = "d", .verdict = VERDICT_PASS, .identity = id->key};
    assert_int_equal(store_add_run(s, &run, &err), STATUS_OK);
    assert_int_equal(store_add_identity(s, run.id, id, &err), STATUS_OK);
    assert_int_equal(store_add_case(s, run.id, &c, &err), STATUS_OK);
    store_close(s);
    assert_int_equal(store_open(path_a, true, &s, &err), STATUS_OK);
    char *after = exported(s);
    assert_int_equal(count_of(after, id->key), 2);
    store_close(s);
    free(before);
    free(older);
    free(brought);
    free(after);
    arena_free(&arena);
}

static void strangers_are_refused(void **state)
{
    (void)state;
    struct error err = {0};
    struct store *s = NULL;
    (void)unlink(path_a);
    assert_int_equal(store_open(path_a, true, &s, &err), STATUS_MISSING);
    assert_int_equal(access(path_a, F_OK), -1);
    assert_int_equal(store_open(folder, false, &s, &err), STATUS_IO);
    char nowhere[256];
    (void)snprintf(nowhere, sizeof nowhere, "%s/no-such-folder/a.sqlite", folder);
    assert_int_equal(store_open(nowhere, false, &s, &err), STATUS_IO);
    assert_non_null(strstr(err.msg, "No such file or directory"));
    write_file(path_a, "this is a letter, not a database at all, and it is long enough to look at",
               70);
    assert_int_equal(store_open(path_a, false, &s, &err), STATUS_TYPE);
    sqlite3 *db;
    (void)unlink(path_a);
    assert_int_equal(sqlite3_open(path_a, &db), SQLITE_OK);
    sqlite3_exec(db, "CREATE TABLE mine (x)", NULL, NULL, NULL);
    sqlite3_close(db);
    assert_int_equal(store_open(path_a, false, &s, &err), STATUS_TYPE);
    store_close(fresh(path_a));
    assert_int_equal(sqlite3_open(path_a, &db), SQLITE_OK);
    sqlite3_exec(db, "PRAGMA user_version = 99", NULL, NULL, NULL);
    sqlite3_close(db);
    assert_int_equal(store_open(path_a, true, &s, &err), STATUS_UNSUPPORTED);
    assert_non_null(strstr(err.msg, "99"));
    assert_null(s);
}

/* A stranger's schema: what it holds besides our tables would run when we read or write. */
static void foreign_schemas_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *sql, *says;
    } rows[] = {
        {"CREATE TRIGGER quiet AFTER INSERT ON case_result BEGIN UPDATE case_result SET verdict = "
         "'PASS' WHERE row = new.row; END",
         "the trigger \"quiet\""},
        {"CREATE VIEW all_pass AS SELECT 1", "the view \"all_pass\""},
        {"ALTER TABLE case_result RENAME TO hidden; CREATE VIEW case_result AS SELECT row, run, "
         "name, "
         "device, 'PASS' AS verdict, reason, replay, detail, compile_s, run_s, waived FROM hidden",
         "\"hidden\""},
        {"CREATE TABLE more (x)", "the table \"more\""},
        {"CREATE INDEX by_name ON case_result(lower(name))", "the index \"by_name\""},
        {"ALTER TABLE bench ADD COLUMN extra TEXT DEFAULT (1)", "the table \"bench\""},
        {"DROP INDEX bench_run; CREATE INDEX bench_run ON bench(abs(run))",
         "the index \"bench_run\""},
        {"DROP TABLE image; CREATE VIRTUAL TABLE image USING fts4(x)", "image"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct error err = {0};
        struct store *s = NULL;
        sqlite3 *db;
        store_close(fresh(path_a));
        assert_int_equal(sqlite3_open(path_a, &db), SQLITE_OK);
        if (sqlite3_exec(db, rows[i].sql, NULL, NULL, NULL) != SQLITE_OK)
            fail_msg("%s: %s", rows[i].sql, sqlite3_errmsg(db));
        sqlite3_close(db);
        for (int read_only = 0; read_only < 2; read_only++) {
            assert_int_equal(store_open(path_a, read_only, &s, &err), STATUS_TYPE);
            assert_non_null(strstr(err.msg, rows[i].says));
            assert_null(s);
        }
    }
    /* what ANALYZE leaves is SQLite's */
    struct error err = {0};
    struct store *s = fresh(path_a);
    sqlite3 *db;
    assert_int_equal(sample_store_fill(s, 1, 1, &err), STATUS_OK);
    store_close(s);
    assert_int_equal(sqlite3_open(path_a, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "ANALYZE", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    assert_int_equal(store_open(path_a, true, &s, &err), STATUS_OK);
    store_close(s);
}

/* Rows that this program would not have written are not read either. */
static void foreign_rows_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *sql, *says;
    } rows[] = {
        {"UPDATE bench SET interval_high = samples_per_s / 2 WHERE verdict = 'PASS'", "interval"},
        {"UPDATE bench SET interval_low = samples_per_s * 2 WHERE verdict = 'PASS'", "interval"},
        {"UPDATE bench SET verdict = 'FAIL'", "carries a rate"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct error err = {0};
        struct arena a = {0};
        struct bench_record *records;
        size_t count;
        struct store *s = fresh(path_a);
        sqlite3 *db;
        assert_int_equal(sample_store_fill(s, 1, 1, &err), STATUS_OK);
        store_close(s);
        assert_int_equal(sqlite3_open(path_a, &db), SQLITE_OK);
        assert_int_equal(sqlite3_exec(db, rows[i].sql, NULL, NULL, NULL), SQLITE_OK);
        sqlite3_close(db);
        assert_int_equal(store_open(path_a, true, &s, &err), STATUS_OK);
        assert_int_equal(store_bench_rows(s, &a, 0, &records, &count, &err), STATUS_TYPE);
        assert_non_null(strstr(err.msg, "table bench, row "));
        assert_non_null(strstr(err.msg, rows[i].says));
        store_close(s);
        arena_free(&a);
    }
}

static void damaged_files_are_refused(void **state)
{
    (void)state;
    struct error err = {0};
    struct arena a = {0};
    struct store *s = fresh(path_a);
    char *data;
    size_t size, refused = 0;
    assert_int_equal(sample_store_fill(s, 1, 1, &err), STATUS_OK);
    store_close(s);
    assert_int_equal(file_read(&a, path_a, 0, &data, &size, &err), STATUS_OK);
    for (size_t page = 1; page < size / 4096; page++) { /* the start of each page, its header */
        memset(data + page * 4096, 0x5a, 8);
        write_file(path_a, data, size);
        s = NULL;
        if (store_open(path_a, true, &s, &err) != STATUS_OK) {
            assert_int_equal(err.code, STATUS_TYPE);
            assert_null(s);
            refused++;
        }
        store_close(s);
    }
    assert_true(refused > 0 && refused == size / 4096 - 1);
    arena_free(&a);
}

/* The first line counts the records: no end of a file can be missing unnoticed. */
static void files_cut_short_are_noticed(void **state)
{
    (void)state;
    struct error err = {0};
    struct store *a = fresh(path_a), *b = fresh(path_b);
    assert_int_equal(sample_store_fill(a, 0.9, 1, &err), STATUS_OK);
    char *text = exported(a);
    size_t whole = strlen(text), cuts = 0;
    for (size_t at = 1; at + 1 < whole; at++)
        if (text[at] == '\n') {
            enum status s = store_import(b, "cut.jsonl", text, at + 1, &err);
            assert_int_equal(s, STATUS_PARSE);
            assert_non_null(strstr(err.msg, "cut short"));
            cuts++;
        }
    assert_true(cuts > 3);
    struct arena arena = {0};
    struct run_record *runs;
    size_t n;
    assert_int_equal(store_runs(b, &arena, &runs, &n, &err), STATUS_OK);
    assert_int_equal(n, 0);
    assert_int_equal(store_import(b, "whole.jsonl", text, whole - 1, &err), STATUS_OK);
    free(text);
    arena_free(&arena);
    store_close(a);
    store_close(b);
}

static void imports_are_whole_or_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum status status;
        uint32_t line;
        const char *says;
    } rows[] = {
        {"", STATUS_PARSE, 1, "isophote-store"},
        {"{\"type\":\"run\"}", STATUS_TYPE, 1, "first line"},
        {"{\"type\":\"isophote-store\",\"schema\":6}", STATUS_UNSUPPORTED, 1, "version 6"},
        {"{\"type\":\"isophote-store\",\"schema\":1}\n{\"type\":\"run\",\"run\":1,\"kind\":"
         "\"bench\"}\n{\"type\":\"bench\",\"run\":2}",
         STATUS_TYPE, 3, "no run 2"},
        {"{\"type\":\"isophote-store\",\"schema\":1}\n{\"type\":\"run\",\"run\":1,\"kind\":"
         "\"bench\"}\n\n{\"type\":\"case\",",
         STATUS_PARSE, 4, ""},
        {"{\"type\":\"isophote-store\",\"schema\":1}\n{\"type\":\"run\",\"run\":1}", STATUS_TYPE, 2,
         "kind"},
        {"{\"type\":\"isophote-store\",\"schema\":1}\n{\"type\":\"run\",\"run\":1,\"kind\":\"x\","
         "\"oops\":1}",
         STATUS_TYPE, 2, "no such key"},
        {"{\"type\":\"isophote-store\",\"schema\":1}\n{\"type\":\"run\",\"run\":1,\"kind\":\"x\"}"
         "\n{\"type\":\"case\",\"run\":1,\"name\":\"a\",\"device\":\"d\",\"verdict\":\"GOOD\"}",
         STATUS_TYPE, 3, "PASS"},
        {"{\"type\":\"isophote-store\",\"schema\":1}\n{\"type\":\"run\",\"run\":1,\"kind\":\"x\"}"
         "\n{\"type\":\"bench\",\"run\":1,\"scene\":\"a\",\"device\":\"d\",\"mode\":\"m\","
         "\"verdict\":\"SKIP\",\"width\":-1}",
         STATUS_TYPE, 3, "integer"},
        {"{\"type\":\"isophote-store\",\"schema\":1}\n{\"type\":\"run\",\"run\":1,\"kind\":\"x\"}"
         "\n{\"type\":\"bench\",\"run\":1,\"scene\":\"a\",\"device\":\"d\",\"mode\":\"m\","
         "\"verdict\":\"FAIL\",\"samples_per_s\":5}",
         STATUS_TYPE, 3, "carries a rate"},
        {"{\"type\":\"isophote-store\",\"schema\":1}\n{\"type\":\"run\",\"run\":1,\"kind\":\"x\"}"
         "\n{\"type\":\"image\",\"run\":1,\"scene\":\"a\",\"device\":\"d\",\"kind\":\"picture\","
         "\"png\":\"%%%%\"}",
         STATUS_TYPE, 3, "base64"},
        {"{\"type\":\"isophote-store\",\"schema\":5}\n{\"type\":\"run\",\"run\":1,\"kind\":\"x\"}"
         "\n{\"type\":\"number_format\",\"run\":1,\"scene\":\"a\",\"format\":\"f\",\"bits\":8,"
         "\"us_per_sample\":1,\"times_double\":1,\"rmse\":-1}",
         STATUS_TYPE, 3, "no figures, or wrong ones"},
        {"{\"type\":\"isophote-store\",\"schema\":5}\n{\"type\":\"run\",\"run\":1,\"kind\":\"x\"}"
         "\n{\"type\":\"number_format\",\"run\":1,\"scene\":\"a\",\"format\":\"f\",\"bits\":8,"
         "\"reason\":\"no\",\"relmse\":1}",
         STATUS_TYPE, 3, "figures and a reason why not"},
        {"[]", STATUS_TYPE, 1, "object"},
    };
    struct store *s = fresh(path_a);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct error err = {0};
        assert_int_equal(store_import(s, "in.jsonl", rows[i].text, strlen(rows[i].text), &err),
                         rows[i].status);
        assert_int_equal(err.line, rows[i].line);
        assert_string_equal(err.file, "in.jsonl");
        assert_non_null(strstr(err.msg, rows[i].says));
        char *text = exported(s);
        assert_string_equal(text, "{\"type\":\"isophote-store\",\"schema\":5,\"records\":0}\n");
        free(text);
    }
    store_close(s);
}

/* A process that adds `n` rows to a run of its own. */
static void add_rows(const char *path, int n)
{
    struct error err = {0};
    struct store *s;
    struct run_record run = {.kind = "conform"};
    if (store_open(path, false, &s, &err) || store_add_run(s, &run, &err))
        _exit(1);
    for (int i = 0; i < n; i++) {
        char name[32];
        snprintf(name, sizeof name, "a.b.%d", i);
        struct case_record c = {.name = name, .device = "d", .verdict = VERDICT_PASS};
        if (store_add_case(s, run.id, &c, &err))
            _exit(2);
    }
    store_close(s);
    _exit(0);
}

static void processes_share_a_store(void **state)
{
    (void)state;
    enum { PROCESSES = 4, ROWS = 12 };
    (void)unlink(path_a); /* who comes first makes it */
    pid_t children[PROCESSES];
    for (int i = 0; i < PROCESSES; i++)
        if ((children[i] = fork()) == 0)
            add_rows(path_a, ROWS);
    for (int i = 0; i < PROCESSES; i++) {
        int status = -1;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    struct error err = {0};
    struct store *s;
    assert_int_equal(store_open(path_a, true, &s, &err), STATUS_OK);
    char *text = exported(s);
    size_t lines = 0;
    for (const char *p = text; (p = strchr(p, '\n')); p++)
        lines++;
    assert_int_equal(lines, 1 + PROCESSES * (1 + ROWS));
    free(text);
    store_close(s);
}

/* ---- comparing -------------------------------------------------------------------------- */

static size_t compared(double old_factor, unsigned old_broken, double new_factor,
                       unsigned new_broken, double threshold, char *out, size_t size)
{
    struct error err = {0};
    struct store *a = fresh(path_a), *b = fresh(path_b);
    struct text t = {0};
    size_t findings = SIZE_MAX;
    assert_int_equal(sample_store_fill(a, old_factor, old_broken, &err), STATUS_OK);
    assert_int_equal(sample_store_fill(b, new_factor, new_broken, &err), STATUS_OK);
    assert_int_equal(report_compare(a, b, threshold, false, &t, &findings, &err), STATUS_OK);
    snprintf(out, size, "%s", t.data);
    t.len = 0;
    size_t again = SIZE_MAX;
    assert_int_equal(report_compare(a, b, threshold, true, &t, &again, &err), STATUS_OK);
    assert_int_equal(again, findings);
    struct arena arena = {0};
    const struct json *root;
    assert_int_equal(json_parse(&arena, "compare", t.data, t.len, &root, &err), STATUS_OK);
    assert_int_equal(json_get(root, "findings")->integer, findings);
    arena_free(&arena);
    text_free(&t);
    store_close(a);
    store_close(b);
    return findings;
}

static void compare_gates(void **state)
{
    (void)state;
    static char out[65536];
    assert_int_equal(compared(1, 2, 1, 2, 0.05, out, sizeof out), 0);
    assert_non_null(strstr(out, "0 regressions"));
    /* two more failures */
    assert_int_equal(compared(1, 2, 1, 4, 0.05, out, sizeof out), 2);
    assert_non_null(strstr(
        out, "worse    image.strict.glass on pthread-AMD EPYC 9B14, PoCL 3.1: PASS -> FAIL"));
    assert_non_null(strstr(
        out, "worse    image.strict.veach-mis on pthread-AMD EPYC 9B14, PoCL 3.1: PASS -> FAIL"));
    /* better is no finding */
    assert_int_equal(compared(1, 2, 1, 0, 0.05, out, sizeof out), 0);
    assert_non_null(strstr(out, "2 better"));
    /* one device 20% slower on its three scenes; 25% faster the other way round */
    assert_int_equal(compared(1, 2, 0.8, 2, 0.05, out, sizeof out), 3);
    assert_non_null(strstr(out, "3 slower"));
    assert_int_equal(compared(0.8, 2, 1, 2, 0.05, out, sizeof out), 0);
    assert_non_null(strstr(out, "3 faster"));
    /* 4% at a threshold of 4.5%: the intervals reach over the threshold, nobody can tell */
    assert_int_equal(compared(1, 2, 0.96, 2, 0.045, out, sizeof out), 0);
    assert_non_null(strstr(out, "3 ambiguous"));
}

static void add_case(struct store *s, const struct run_record *run, const char *name,
                     enum verdict v)
{
    struct error err = {0};
    const struct case_record c = {.name = name, .device = "d", .verdict = v, .reason = "r"};
    assert_int_equal(store_add_case(s, run->id, &c, &err), STATUS_OK);
}

/* What was right and is gone is a regression; what was wrong may go, or be wrong in another way. */
static void compare_counts_what_is_gone(void **state)
{
    (void)state;
    struct error err = {0};
    struct store *old = fresh(path_a), *new = fresh(path_b);
    struct store *both[2] = {old, new};
    struct run_record runs[2] = {{.kind = "conform"}, {.kind = "conform"}};
    const struct device_record device = {.id = "d", .api = "d", .name = "D", .kind = "cpu"};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(store_add_run(both[i], &runs[i], &err), STATUS_OK);
        assert_int_equal(store_add_device(both[i], runs[i].id, &device, &err), STATUS_OK);
        add_case(both[i], &runs[i], "image.kept", VERDICT_PASS);
    }
    add_case(old, &runs[0], "image.right-gone", VERDICT_PASS);
    add_case(old, &runs[0], "image.wrong-gone", VERDICT_FAIL);
    add_case(old, &runs[0], "image.wrong-otherwise", VERDICT_FAIL);
    add_case(new, &runs[1], "image.wrong-otherwise", VERDICT_ERROR);
    add_case(old, &runs[0], "image.mended", VERDICT_ERROR);
    add_case(new, &runs[1], "image.mended", VERDICT_PASS);
    struct text t = {0};
    size_t findings;
    assert_int_equal(report_compare(old, new, 0.05, false, &t, &findings, &err), STATUS_OK);
    assert_int_equal(findings, 1);
    assert_non_null(strstr(t.data, "image.right-gone on D: PASS -> absent"));
    assert_non_null(strstr(t.data, "better   image.mended"));
    assert_null(strstr(t.data, "better   image.wrong-otherwise"));
    text_free(&t);
    store_close(old);
    store_close(new);
}

/* What two runs were made of, before what they say. */
static void compare_says_first_what_differs(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct error err = {0};
    struct store *both[2] = {fresh(path_a), fresh(path_b)};
    for (int i = 0; i < 2; i++) {
        struct run_record run = {.kind = "conform"};
        const struct device_record device = {.id = "opencl:0",
                                             .name = "Card",
                                             .driver = i ? "3.2" : "3.1",
                                             .compiler = i ? "LLVM 19" : "LLVM 15"};
        assert_int_equal(store_add_run(both[i], &run, &err), STATUS_OK);
        assert_int_equal(store_add_device(both[i], run.id, &device, &err), STATUS_OK);
        for (int k = 0; k < 2; k++) {
            struct identity *program = identity_new(&arena, "program"),
                            *environment = identity_new(&arena, "environment"),
                            *id = identity_new(&arena, "case");
            identity_add(program, "version", "0.1.0");
            identity_add(environment, "POCL_WORK_GROUP_METHOD", i ? "cbs" : NULL);
            identity_add_of(id, identity_close(program, NULL));
            identity_add_of(id, identity_close(environment, NULL));
            identity_add(id, "case", k ? "image.a" : "image.b");
            const struct identity *whole = identity_close(id, NULL);
            const struct case_record c = {.name = k ? "image.a" : "image.b",
                                          .device = "opencl:0",
                                          .verdict = VERDICT_PASS,
                                          .compile_s = i ? 3 : 1,
                                          .identity = whole->key};
            assert_int_equal(store_add_identity(both[i], run.id, whole, &err), STATUS_OK);
            assert_int_equal(store_add_case(both[i], run.id, &c, &err), STATUS_OK);
        }
    }
    struct text t = {0};
    size_t findings;
    assert_int_equal(report_compare(both[0], both[1], 0.05, false, &t, &findings, &err), STATUS_OK);
    static const char first[] =
        "differs on Card, 3.1: driver was 3.1, is 3.2\n"
        "differs on Card, 3.1: compiler was LLVM 15, is LLVM 19\n"
        "differs on Card, 3.1: environment POCL_WORK_GROUP_METHOD was not there, is cbs (2 "
        "results)\n"
        "compile time on Card, 3.1: was 2 s, is 6 s, of 2 cases\n"
        "verdicts: 2 same";
    if (strncmp(t.data, first, sizeof first - 1) != 0)
        fail_msg("%s", t.data);
    t.len = 0;
    assert_int_equal(report_compare(both[0], both[1], 0.05, true, &t, &findings, &err), STATUS_OK);
    const struct json *root, *list;
    assert_int_equal(json_parse(&arena, "compare", t.data, t.len, &root, &err), STATUS_OK);
    list = json_get(root, "differences");
    assert_int_equal(list->count, 3);
    assert_string_equal(json_get(list->first, "what")->string, "driver was 3.1, is 3.2");
    assert_true(json_get(json_get(root, "compile_s")->first, "new")->number == 6);
    text_free(&t);
    store_close(both[0]);
    store_close(both[1]);
    arena_free(&arena);
}

static void compare_needs_something_in_common(void **state)
{
    (void)state;
    struct error err = {0};
    struct store *a = fresh(path_a), *b = fresh(path_b);
    struct text t = {0};
    size_t findings = 5;
    assert_int_equal(sample_store_fill(a, 1, 0, &err), STATUS_OK);
    assert_int_equal(report_compare(a, b, 0.05, false, &t, &findings, &err), STATUS_MISSING);
    assert_int_equal(findings, 5);
    assert_null(t.data);
    store_close(a);
    store_close(b);
}

static void intervals_decide(void **state)
{
    (void)state;
    const double base[2] = {98, 102}, fast[2] = {120, 124}, slow[2] = {80, 83},
                 near_base[2] = {99, 103}, wide[2] = {90, 118};
    assert_int_equal(rate_compare(fast, base, 0.05), RATE_FASTER);
    assert_int_equal(rate_compare(slow, base, 0.05), RATE_SLOWER);
    assert_int_equal(rate_compare(base, fast, 0.05), RATE_SLOWER);
    assert_int_equal(rate_compare(near_base, base, 0.06), RATE_SAME);
    assert_int_equal(rate_compare(wide, base, 0.05), RATE_AMBIGUOUS);
    assert_int_equal(rate_compare(fast, base, 0.3), RATE_SAME);
    const double none[2] = {0, 0};
    assert_int_equal(rate_compare(none, base, 0.05), RATE_AMBIGUOUS);
}

/* ---- tuning --------------------------------------------------------------------------------- */

static void tuning_finds_ties_and_one_setting(void **state)
{
    (void)state;
    /* two scenes, three settings: 8x8 is best on a, 16x16 on b; 4x4 is never best, yet close on
     * both */
    static const struct {
        const char *scene;
        uint32_t x;
        double rate;
    } rows[] = {{"a", 8, 100}, {"a", 16, 50}, {"a", 4, 90},
                {"b", 8, 40},  {"b", 16, 80}, {"b", 4, 76}};
    struct bench_record records[7];
    const struct bench_record *pointers[7];
    size_t devices[7] = {0};
    for (size_t i = 0; i < 6; i++)
        records[i] = (struct bench_record){.scene = rows[i].scene,
                                           .device = "d",
                                           .mode = "fast",
                                           .work_group = {rows[i].x, rows[i].x},
                                           .verdict = VERDICT_PASS,
                                           .samples_per_s = rows[i].rate,
                                           .interval = {0.97 * rows[i].rate, 1.03 * rows[i].rate}};
    records[6] = records[0];
    records[6].work_group[0] = 64;
    records[6].verdict = VERDICT_SKIP;
    records[6].samples_per_s = records[6].interval[0] = records[6].interval[1] = 0;
    for (size_t i = 0; i < 7; i++)
        pointers[i] = &records[i];
    struct arena a = {0};
    struct tuning t;
    assert_int_equal(tuning_find(&a, pointers, devices, 7, &t, NULL), STATUS_OK);
    assert_int_equal(t.group_count, 2);
    assert_int_equal(t.groups[0].count, 4);
    assert_int_equal(t.groups[0].best, 0);
    assert_int_equal(t.groups[0].tied_count, 1); /* 90 * 1.03 is below 97 */
    assert_int_equal(t.groups[1].best, 4);
    assert_int_equal(t.groups[1].tied_count, 2); /* 76 * 1.03 reaches 77.6 */
    assert_int_equal(t.choice_count, 1);
    assert_int_equal(records[t.choices[0].row].work_group[0], 4);
    assert_true(t.choices[0].mean_share > 0.924 && t.choices[0].mean_share < 0.925); /* geometric */
    assert_true(t.choices[0].shares[0] > 0.899 && t.choices[0].shares[0] < 0.901);
    assert_true(t.choices[0].shares[1] > 0.949 && t.choices[0].shares[1] < 0.951);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip_is_exact),
        cmocka_unit_test(numbers_survive),
        cmocka_unit_test(records_are_checked),
        cmocka_unit_test(identities_stand_once_a_run),
        cmocka_unit_test(older_stores_are_read_and_brought_on),
        cmocka_unit_test(strangers_are_refused),
        cmocka_unit_test(foreign_schemas_are_refused),
        cmocka_unit_test(foreign_rows_are_refused),
        cmocka_unit_test(damaged_files_are_refused),
        cmocka_unit_test(files_cut_short_are_noticed),
        cmocka_unit_test(imports_are_whole_or_nothing),
        cmocka_unit_test(processes_share_a_store),
        cmocka_unit_test(compare_gates),
        cmocka_unit_test(compare_counts_what_is_gone),
        cmocka_unit_test(compare_says_first_what_differs),
        cmocka_unit_test(compare_needs_something_in_common),
        cmocka_unit_test(intervals_decide),
        cmocka_unit_test(tuning_finds_ties_and_one_setting),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
