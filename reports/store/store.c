/* SPDX-License-Identifier: Apache-2.0 */
#include "store.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* "ISOP": SQLite's application_id, by which `file` and we know a store. */
enum { APPLICATION_ID = 0x49534f50, BUSY_MS = 60000 };

struct store {
    sqlite3 *db;
    char *path;
    int version; /* of the schema that the file has */
    sqlite3_stmt *insert[RECORD_COUNT];
};

const char *store_path(const struct store *s) { return s->path; }

/* ---- SQL ------------------------------------------------------------------------------------ */

static enum status sql_error(struct store *s, struct error *err, const char *doing)
{
    int code = sqlite3_errcode(s->db) & 0xff;
    enum status st = code == SQLITE_NOMEM                              ? STATUS_MEMORY
                     : code == SQLITE_BUSY || code == SQLITE_LOCKED    ? STATUS_TIMEOUT
                     : code == SQLITE_NOTADB || code == SQLITE_CORRUPT ? STATUS_TYPE
                                                                       : STATUS_IO;
    int system = code == SQLITE_CANTOPEN ? sqlite3_system_errno(s->db) : 0;
    error_msg(err, st, "%s: %s: %s", s->path, doing,
              code == SQLITE_NOTADB ? "the file is not a result store"
              : system              ? strerror(system)
                                    : sqlite3_errmsg(s->db));
    if (err)
        err->native = sqlite3_extended_errcode(s->db);
    return st;
}

static enum status sql_run(struct store *s, const char *sql, const char *doing, struct error *err)
{
    return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? STATUS_OK
                                                                   : sql_error(s, err, doing);
}

static enum status sql_integer(struct store *s, const char *sql, int64_t *out, struct error *err)
{
    sqlite3_stmt *q = NULL;
    enum status st = STATUS_OK;
    if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) != SQLITE_OK || sqlite3_step(q) != SQLITE_ROW)
        st = sql_error(s, err, "reading");
    else
        *out = sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    return st;
}

static const char *sql_type(enum field_type t)
{
    switch (t) {
    case FIELD_KEY:
    case FIELD_VERDICT:
    case FIELD_IMAGE:
        return "TEXT NOT NULL";
    case FIELD_U32:
    case FIELD_BOOL:
        return "INTEGER NOT NULL";
    case FIELD_REAL:
        return "REAL NOT NULL";
    case FIELD_BYTES:
        return "BLOB NOT NULL";
    default:
        return "TEXT";
    }
}

/* A column as it is added to a table that has rows: they get NULL, 0 or false. */
static void sql_added(struct text *t, const struct field *f)
{
    text_printf(t, "%s %s%s", f->name, sql_type(f->type),
                f->type == FIELD_TEXT || f->type == FIELD_JSON ? "" : " DEFAULT 0");
}

/* The table as SQLite keeps it at a version, when an earlier or the same version made it. */
static void sql_table(struct text *t, int kind, int made, int version)
{
    const struct record_layout *l = &record_layouts[kind];
    text_printf(t, "CREATE TABLE %s (row INTEGER PRIMARY KEY AUTOINCREMENT", l->table);
    if (kind != RECORD_RUN)
        text_puts(t, ", run INTEGER NOT NULL REFERENCES run(row)");
    for (size_t i = 0; i < l->count; i++)
        if (l->fields[i].since <= made)
            text_printf(t, ", %s %s", l->fields[i].name, sql_type(l->fields[i].type));
    for (size_t i = 0; i < l->count; i++)
        if (l->fields[i].since > made && l->fields[i].since <= version) {
            text_puts(t, ", ");
            sql_added(t, &l->fields[i]);
        }
    text_puts(t, ")");
}

static void sql_index(struct text *t, int kind)
{
    const char *table = record_layouts[kind].table;
    text_printf(t, "CREATE INDEX %s_run ON %s(run)", table, table);
}

/* From a version, 0 for an empty file, to ours. */
static void sql_bring(struct text *t, int from)
{
    for (int k = 0; k < RECORD_COUNT; k++) {
        const struct record_layout *l = &record_layouts[k];
        if (l->since > from) {
            sql_table(t, k, STORE_SCHEMA_VERSION, STORE_SCHEMA_VERSION);
            text_puts(t, ";\n");
            if (k != RECORD_RUN) {
                sql_index(t, k);
                text_puts(t, ";\n");
            }
            continue;
        }
        for (size_t i = 0; i < l->count; i++)
            if (l->fields[i].since > from) {
                text_printf(t, "ALTER TABLE %s ADD COLUMN ", l->table);
                sql_added(t, &l->fields[i]);
                text_puts(t, ";\n");
            }
    }
    text_printf(t, "PRAGMA application_id = %d; PRAGMA user_version = %d;", APPLICATION_ID,
                STORE_SCHEMA_VERSION);
}

/* ---- opening ---------------------------------------------------------------------------- */

/* Whose file it is: 0 an empty one, else the schema's version. */
static enum status schema_version(struct store *s, int64_t *version, struct error *err)
{
    int64_t application = 0, tables = 0;
    /* One moment's answers: another process may be making the tables. */
    enum status st = sql_run(s, "SAVEPOINT whose", "reading whose it is", err);
    if (!st)
        st = sql_integer(s, "PRAGMA application_id", &application, err);
    if (!st)
        st = sql_integer(s, "PRAGMA user_version", version, err);
    if (!st)
        st = sql_integer(s, "SELECT count(*) FROM sqlite_master", &tables, err);
    if (!st)
        st = sql_run(s, "RELEASE whose", "reading whose it is", err);
    if (st)
        return st;
    if (application != APPLICATION_ID && (tables != 0 || *version != 0 || application != 0))
        return error_msg(err, STATUS_TYPE, "%s: an SQLite file, but not a result store of isophote",
                         s->path);
    if (application == APPLICATION_ID && *version < 1)
        return error_msg(err, STATUS_TYPE, "%s: a result store without a schema version", s->path);
    if (*version > STORE_SCHEMA_VERSION)
        return error_msg(err, STATUS_UNSUPPORTED,
                         "%s: schema version %lld, this program knows versions up to %d", s->path,
                         (long long)*version, STORE_SCHEMA_VERSION);
    return STATUS_OK;
}

/* Is it what SQLite itself keeps: its counter of AUTOINCREMENT, what ANALYZE notes? */
static bool is_sqlites(const char *type, const char *name, const char *sql)
{
    return strcmp(sql, "CREATE TABLE sqlite_sequence(name,seq)") == 0 ||
           (strcmp(type, "table") == 0 && strncmp(name, "sqlite_stat", 11) == 0);
}

/* Is it a table or index as a store of that version has it, whichever version made it first? */
static bool is_ours(const char *type, const char *name, const char *sql, int version)
{
    const bool index = strcmp(type, "index") == 0;
    struct text t = {0};
    bool found = false;
    for (int k = 0; k < RECORD_COUNT && !found; k++) {
        const struct record_layout *l = &record_layouts[k];
        char own[80];
        snprintf(own, sizeof own, "%s%s", l->table, index ? "_run" : "");
        if (strcmp(name, own) != 0 || (index && k == RECORD_RUN) || l->since > version)
            continue;
        for (int made = l->since; made <= version && !found; made++) {
            t.len = 0;
            if (index)
                sql_index(&t, k);
            else
                sql_table(&t, k, made, version);
            found = !t.failed && strcmp(sql, t.data) == 0;
        }
    }
    text_free(&t);
    return found;
}

/* What a stranger put into the schema runs when we read or write: there must be nothing that no
 * version of this program writes. */
static enum status schema_check(struct store *s, int version, struct error *err)
{
    sqlite3_stmt *q = NULL;
    int step = SQLITE_ERROR;
    enum status st = STATUS_OK;
    if (sqlite3_prepare_v2(s->db, "SELECT type, name, coalesce(sql, '') FROM sqlite_master", -1, &q,
                           NULL) == SQLITE_OK)
        while (!st && (step = sqlite3_step(q)) == SQLITE_ROW) {
            const char *word[3];
            for (int i = 0; i < 3; i++)
                word[i] = (const char *)sqlite3_column_text(q, i);
            if (!word[0] || !word[1] || !word[2])
                st = error_msg(err, STATUS_MEMORY, "out of memory");
            else if (!is_ours(word[0], word[1], word[2], version) &&
                     !is_sqlites(word[0], word[1], word[2]))
                st = error_msg(err, STATUS_TYPE,
                               "%s: holds the %s \"%.80s\" in a form that isophote does not write; "
                               "it is not opened, as such a thing may change what is read",
                               s->path, word[0], word[1]);
        }
    if (!st && step != SQLITE_DONE)
        st = sql_error(s, err, "reading its schema");
    sqlite3_finalize(q);
    return st;
}

/* A damaged file is noticed before its rows are believed, where that takes no time. */
static enum status pages_check(struct store *s, off_t bytes, struct error *err)
{
    enum { QUICK = 16 << 20 };
    sqlite3_stmt *q = NULL;
    enum status st = STATUS_OK;
    if (bytes > QUICK)
        return STATUS_OK;
    if (sqlite3_prepare_v2(s->db, "PRAGMA quick_check(1)", -1, &q, NULL) != SQLITE_OK ||
        sqlite3_step(q) != SQLITE_ROW) {
        st = sql_error(s, err, "checking");
    } else {
        const char *said = (const char *)sqlite3_column_text(q, 0);
        if (!said || strcmp(said, "ok") != 0)
            st = error_msg(err, STATUS_TYPE, "%s: the file is damaged: %.200s", s->path,
                           said ? said : "out of memory");
    }
    sqlite3_finalize(q);
    return st;
}

/* Nothing of the file's own runs, and nothing in it makes SQLite take much memory. */
static void defend(sqlite3 *db)
{
    static const struct {
        int option, value;
    } options[] = {{SQLITE_DBCONFIG_DEFENSIVE, 1},      {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                   {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}, {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
                   {SQLITE_DBCONFIG_DQS_DML, 0},        {SQLITE_DBCONFIG_DQS_DDL, 0}};
    static const struct {
        int limit, value;
    } limits[] = {{SQLITE_LIMIT_ATTACHED, 0},
                  {SQLITE_LIMIT_LENGTH, 1 << 30},
                  {SQLITE_LIMIT_SQL_LENGTH, 1 << 16},
                  {SQLITE_LIMIT_EXPR_DEPTH, 50},
                  {SQLITE_LIMIT_TRIGGER_DEPTH, 1}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        (void)sqlite3_db_config(db, options[i].option, options[i].value, (int *)NULL);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        (void)sqlite3_limit(db, limits[i].limit, limits[i].value);
}

static enum status schema_make(struct store *s, struct error *err)
{
    enum status st = store_begin(s, err); /* from here on nobody else creates it */
    if (st)
        return st;
    int64_t version = 0;
    st = schema_version(s, &version, err);
    if (!st && version < STORE_SCHEMA_VERSION) {
        struct text sql = {0};
        sql_bring(&sql, (int)version);
        st = sql.failed ? error_msg(err, STATUS_MEMORY, "out of memory")
                        : sql_run(s, sql.data, "making the tables", err);
        text_free(&sql);
    }
    if (!st)
        return store_commit(s, err);
    store_rollback(s);
    return st;
}

enum status store_open(const char *path, bool read_only, struct store **out, struct error *err)
{
    struct stat info;
    bool there = stat(path, &info) == 0;
    if (!there && (read_only || errno != ENOENT))
        return error_msg(err, errno == ENOENT ? STATUS_MISSING : STATUS_IO, "%s: %s", path,
                         errno == ENOENT ? "there is no such store" : strerror(errno));
    if (there && !S_ISREG(info.st_mode))
        return error_msg(err, STATUS_IO, "%s: is not a file", path);
    struct store *s = calloc(1, sizeof *s);
    char *copy = strdup(path);
    if (!s || !copy) {
        free(s);
        free(copy);
        return error_msg(err, STATUS_MEMORY, "out of memory");
    }
    s->path = copy;
    int flags = read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    enum status st = STATUS_OK;
    int64_t version = 0;
    if (sqlite3_open_v2(path, &s->db, flags, NULL) != SQLITE_OK) {
        st = sql_error(s, err, "opening");
    } else {
        defend(s->db);
        sqlite3_extended_result_codes(s->db, 1);
        sqlite3_busy_timeout(s->db, BUSY_MS);
        st = sql_run(
            s,
            "PRAGMA foreign_keys = ON; PRAGMA synchronous = NORMAL; PRAGMA cell_size_check = ON; "
            "PRAGMA mmap_size = 0",
            "opening", err);
    }
    if (!st && !read_only && sqlite3_db_readonly(s->db, "main") == 1)
        st = error_msg(err, STATUS_IO, "%s: cannot be written", path);
    if (!st)
        st = schema_version(s, &version, err);
    if (!st && version == 0 && read_only)
        st = error_msg(err, STATUS_TYPE, "%s: an empty file, not a result store", path);
    if (!st && version > 0)
        st = schema_check(s, (int)version, err);
    if (!st && there)
        st = pages_check(s, info.st_size, err);
    if (!st && !read_only && version < STORE_SCHEMA_VERSION) {
        st = schema_make(s, err);
        version = STORE_SCHEMA_VERSION;
    }
    s->version = (int)version;
    if (st) {
        store_close(s);
        if (!there && stat(path, &info) == 0 && info.st_size == 0)
            (void)unlink(path);
        return st;
    }
    *out = s;
    return STATUS_OK;
}

void store_close(struct store *s)
{
    if (!s)
        return;
    for (int k = 0; k < RECORD_COUNT; k++)
        sqlite3_finalize(s->insert[k]);
    sqlite3_close(s->db);
    free(s->path);
    free(s);
}

/* ---- writing ---------------------------------------------------------------------------- */

enum status store_begin(struct store *s, struct error *err)
{
    return sql_run(s, "BEGIN IMMEDIATE", "waiting for the store", err);
}

enum status store_begin_read(struct store *s, struct error *err)
{
    return sql_run(s, "BEGIN", "reading", err);
}

enum status store_commit(struct store *s, struct error *err)
{
    enum status st = sql_run(s, "COMMIT", "writing", err);
    if (st)
        store_rollback(s);
    return st;
}

void store_rollback(struct store *s)
{
    if (!sqlite3_get_autocommit(s->db))
        (void)sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
}

static enum status insert_prepare(struct store *s, enum record_kind kind, struct error *err)
{
    if (s->insert[kind])
        return STATUS_OK;
    const struct record_layout *l = &record_layouts[kind];
    struct text sql = {0};
    text_printf(&sql, "INSERT INTO %s (%s", l->table, kind == RECORD_RUN ? "" : "run, ");
    for (size_t i = 0; i < l->count; i++)
        text_printf(&sql, "%s%s", i ? ", " : "", l->fields[i].name);
    text_puts(&sql, kind == RECORD_RUN ? ") VALUES (?" : ") VALUES (?, ?");
    for (size_t i = 1; i < l->count; i++)
        text_puts(&sql, ", ?");
    text_puts(&sql, ")");
    enum status st = STATUS_OK;
    if (sql.failed)
        st = error_msg(err, STATUS_MEMORY, "out of memory");
    else if (sqlite3_prepare_v3(s->db, sql.data, -1, SQLITE_PREPARE_PERSISTENT, &s->insert[kind],
                                NULL) != SQLITE_OK)
        st = sql_error(s, err, "preparing to write");
    text_free(&sql);
    return st;
}

/* scratch holds the compact form of JSON fields until the statement has run. */
static enum status field_bind(struct arena *scratch, sqlite3_stmt *q, int at, const struct field *f,
                              const char *value, struct error *err)
{
    const char *text;
    double number;
    uint32_t word;
    bool flag;
    int choice;
    switch (f->type) {
    case FIELD_TEXT:
    case FIELD_KEY:
        memcpy(&text, value, sizeof text);
        sqlite3_bind_text(q, at, text, -1, SQLITE_STATIC); /* NULL binds NULL */
        break;
    case FIELD_JSON:
        memcpy(&text, value, sizeof text);
        if (text) {
            enum status st = json_compact(scratch, f->name, text, &text, err);
            if (st)
                return st;
        }
        sqlite3_bind_text(q, at, text, -1, SQLITE_STATIC);
        break;
    case FIELD_VERDICT:
    case FIELD_IMAGE:
        memcpy(&choice, value, sizeof choice);
        text = f->type == FIELD_VERDICT ? verdict_name((enum verdict)choice)
                                        : image_kind_name((enum image_kind)choice);
        sqlite3_bind_text(q, at, text, -1, SQLITE_STATIC);
        break;
    case FIELD_U32:
        memcpy(&word, value, sizeof word);
        sqlite3_bind_int64(q, at, word);
        break;
    case FIELD_REAL:
        memcpy(&number, value, sizeof number);
        sqlite3_bind_double(q, at, number);
        break;
    case FIELD_BOOL:
        memcpy(&flag, value, sizeof flag);
        sqlite3_bind_int(q, at, flag);
        break;
    case FIELD_BYTES: {
        const void *data;
        size_t size;
        memcpy(&data, value, sizeof data);
        memcpy(&size, value + sizeof data, sizeof size);
        sqlite3_bind_blob64(q, at, data, size, SQLITE_STATIC);
        break;
    }
    }
    return STATUS_OK;
}

enum status store_insert(struct store *s, enum record_kind kind, int64_t run, const void *record,
                         int64_t *id, struct error *err)
{
    enum status st = record_check(kind, record, err);
    if (!st)
        st = insert_prepare(s, kind, err);
    if (st)
        return st;
    const struct record_layout *l = &record_layouts[kind];
    sqlite3_stmt *q = s->insert[kind];
    struct arena scratch = {0};
    int at = 1;
    if (kind != RECORD_RUN)
        sqlite3_bind_int64(q, at++, run);
    for (size_t i = 0; i < l->count && !st; i++)
        st = field_bind(&scratch, q, at++, &l->fields[i],
                        (const char *)record + l->fields[i].offset, err);
    if (!st && sqlite3_step(q) != SQLITE_DONE) {
        st = sql_error(s, err, "writing");
        if (sqlite3_extended_errcode(s->db) == SQLITE_CONSTRAINT_FOREIGNKEY)
            st = error_msg(err, STATUS_ARG, "%s: there is no run %lld", s->path, (long long)run);
    }
    if (!st && id)
        *id = sqlite3_last_insert_rowid(s->db);
    sqlite3_reset(q);
    sqlite3_clear_bindings(q);
    arena_free(&scratch);
    return st;
}

static enum status add(struct store *s, enum record_kind kind, int64_t run, const void *record,
                       int64_t *id, struct error *err)
{
    enum status st = store_begin(s, err);
    if (st)
        return st;
    int64_t row = 0;
    st = store_insert(s, kind, run, record, &row, err);
    if (st) {
        store_rollback(s);
        return st;
    }
    st = store_commit(s, err);
    if (!st && id)
        *id = row;
    return st;
}

enum status store_add_run(struct store *s, struct run_record *r, struct error *err)
{
    return add(s, RECORD_RUN, 0, r, &r->id, err);
}

/* Is it with the run already? */
static enum status identity_known(struct store *s, int64_t run, const char *key, bool *known,
                                  struct error *err)
{
    char sql[160];
    int64_t n = 0;
    snprintf(sql, sizeof sql, "SELECT count(*) FROM identity WHERE run = %lld AND key = '%.32s'",
             (long long)run, key);
    enum status st = sql_integer(s, sql, &n, err);
    *known = n > 0;
    return st;
}

enum status store_add_identity(struct store *s, int64_t run, const struct identity *id,
                               struct error *err)
{
    bool known = false;
    struct json_writer w = {0};
    TRY(identity_known(s, run, id->key, &known, err));
    if (known)
        return STATUS_OK;
    for (size_t i = 0; i < id->count; i++)
        if (id->parts[i].of)
            TRY(store_add_identity(s, run, id->parts[i].of, err));
    identity_parts_write(&w, id);
    const struct identity_record r = {.key = id->key, .kind = id->kind, .parts = w.out.data};
    enum status st = w.out.failed ? error_msg(err, STATUS_MEMORY, "out of memory for an identity")
                                  : add(s, RECORD_IDENTITY, run, &r, NULL, err);
    text_free(&w.out);
    return st;
}

enum status store_add_device(struct store *s, int64_t run, const struct device_record *d,
                             struct error *err)
{
    return add(s, RECORD_DEVICE, run, d, NULL, err);
}

enum status store_add_case(struct store *s, int64_t run, const struct case_record *c,
                           struct error *err)
{
    return add(s, RECORD_CASE, run, c, NULL, err);
}

enum status store_add_bench(struct store *s, int64_t run, const struct bench_record *b,
                            struct error *err)
{
    return add(s, RECORD_BENCH, run, b, NULL, err);
}

enum status store_add_image(struct store *s, int64_t run, const struct image_record *i,
                            struct error *err)
{
    return add(s, RECORD_IMAGE, run, i, NULL, err);
}

enum status store_add_film(struct store *s, int64_t run, const struct film_record *f,
                           struct error *err)
{
    return add(s, RECORD_FILM, run, f, NULL, err);
}

enum status store_add_number_format(struct store *s, int64_t run,
                                    const struct number_format_record *r, struct error *err)
{
    return add(s, RECORD_NUMBER_FORMAT, run, r, NULL, err);
}

/* ---- reading ---------------------------------------------------------------------------- */

/* A stranger's store may hold anything: what does not fit is TYPE, with its place. */
static enum status field_load(struct store *s, struct arena *a, sqlite3_stmt *q, int at,
                              const struct record_layout *l, const struct field *f, char *value,
                              struct error *err)
{
    const char *text = (const char *)sqlite3_column_text(q, at);
    long long integer = sqlite3_column_int64(q, at);
    bool ok = true;
    switch (f->type) {
    case FIELD_TEXT:
    case FIELD_KEY:
    case FIELD_JSON: {
        const char *copy = text ? arena_strdup(a, text) : NULL;
        if (text && !copy)
            return error_msg(err, STATUS_MEMORY, "out of memory");
        ok = text || f->type != FIELD_KEY;
        memcpy(value, &copy, sizeof copy);
        break;
    }
    case FIELD_VERDICT: {
        enum verdict v = VERDICT_ERROR;
        ok = text && verdict_parse(text, &v);
        memcpy(value, &v, sizeof v);
        break;
    }
    case FIELD_IMAGE: {
        enum image_kind k = IMAGE_PICTURE;
        ok = text && image_kind_parse(text, &k);
        memcpy(value, &k, sizeof k);
        break;
    }
    case FIELD_U32: {
        uint32_t word = (uint32_t)integer;
        ok = integer >= 0 && integer <= UINT32_MAX;
        memcpy(value, &word, sizeof word);
        break;
    }
    case FIELD_REAL: {
        double number = sqlite3_column_double(q, at);
        memcpy(value, &number, sizeof number);
        break;
    }
    case FIELD_BOOL: {
        bool flag = integer != 0;
        memcpy(value, &flag, sizeof flag);
        break;
    }
    case FIELD_BYTES: {
        size_t size = (size_t)sqlite3_column_bytes(q, at);
        const void *data = sqlite3_column_blob(q, at);
        void *copy = arena_alloc(a, size ? size : 1, 1, 1);
        if (!copy)
            return error_msg(err, STATUS_MEMORY, "out of memory");
        if (size)
            memcpy(copy, data, size);
        memcpy(value, &copy, sizeof copy);
        memcpy(value + sizeof copy, &size, sizeof size);
        break;
    }
    }
    return ok ? STATUS_OK
              : error_msg(err, STATUS_TYPE, "%s: table %s, row %lld: column %s holds \"%.40s\"",
                          s->path, l->table, (long long)sqlite3_column_int64(q, 0), f->name,
                          text ? text : "NULL");
}

static enum status rows_load(struct store *s, struct arena *a, sqlite3_stmt *q,
                             enum record_kind kind, char *rows, int64_t *runs, size_t capacity,
                             size_t *count, struct error *err)
{
    const struct record_layout *l = &record_layouts[kind];
    int step = SQLITE_DONE;
    size_t n = 0;
    while (n < capacity && (step = sqlite3_step(q)) == SQLITE_ROW) {
        char *row = rows + n * l->size;
        runs[n] = sqlite3_column_int64(q, 1);
        for (size_t i = 0; i < l->count; i++) {
            enum status st =
                field_load(s, a, q, (int)i + 2, l, &l->fields[i], row + l->fields[i].offset, err);
            if (st)
                return st;
        }
        if (kind == RECORD_RUN)
            memcpy(row + offsetof(struct run_record, id), &runs[n], sizeof runs[n]);
        struct error why = {0};
        if (record_check(kind, row, &why) != STATUS_OK)
            return error_msg(err, STATUS_TYPE, "%s: table %s, row %lld: %s", s->path, l->table,
                             (long long)sqlite3_column_int64(q, 0), why.msg);
        n++;
    }
    if (step != SQLITE_DONE && step != SQLITE_ROW)
        return sql_error(s, err, "reading");
    *count = n;
    return STATUS_OK;
}

enum status store_read(struct store *s, struct arena *a, enum record_kind kind, int64_t run,
                       void **out, int64_t **runs, size_t *count, struct error *err)
{
    const struct record_layout *l = &record_layouts[kind];
    const char *run_column = kind == RECORD_RUN ? "row" : "run";
    struct text sql = {0};
    if (l->since > s->version) { /* an older store has none */
        *out = arena_alloc(a, 0, l->size, 0);
        if (runs)
            *runs = ARENA_ARRAY(a, int64_t, 0);
        *count = 0;
        return *out ? STATUS_OK : error_msg(err, STATUS_MEMORY, "out of memory");
    }
    text_printf(&sql, "SELECT count(*) FROM %s WHERE %lld IN (0, %s)", l->table, (long long)run,
                run_column);
    int64_t rows = 0;
    enum status st = sql.failed ? error_msg(err, STATUS_MEMORY, "out of memory")
                                : sql_integer(s, sql.data, &rows, err);
    sql.len = 0;
    text_printf(&sql, "SELECT row, %s", run_column);
    for (size_t i = 0; i < l->count; i++)
        text_printf(&sql, ", %s", l->fields[i].since > s->version ? "NULL" : l->fields[i].name);
    text_printf(&sql, " FROM %s WHERE %lld IN (0, %s) ORDER BY row", l->table, (long long)run,
                run_column);
    sqlite3_stmt *q = NULL;
    if (!st && sql.failed)
        st = error_msg(err, STATUS_MEMORY, "out of memory");
    if (!st && sqlite3_prepare_v2(s->db, sql.data, -1, &q, NULL) != SQLITE_OK)
        st = sql_error(s, err, "reading");
    /* Rows that another process adds between the two questions wait for the next reader. */
    char *data = st ? NULL : arena_alloc(a, (size_t)rows, l->size, 0);
    int64_t *ids = st ? NULL : ARENA_ARRAY(a, int64_t, (size_t)rows);
    size_t n = 0;
    if (!st && (!data || !ids))
        st = error_msg(err, STATUS_MEMORY, "out of memory for %lld rows", (long long)rows);
    if (!st)
        st = rows_load(s, a, q, kind, data, ids, (size_t)rows, &n, err);
    sqlite3_finalize(q);
    text_free(&sql);
    if (st)
        return st;
    *out = data;
    if (runs)
        *runs = ids;
    *count = n;
    return STATUS_OK;
}

enum status store_runs(struct store *s, struct arena *a, struct run_record **out, size_t *count,
                       struct error *err)
{
    void *rows;
    enum status st = store_read(s, a, RECORD_RUN, 0, &rows, NULL, count, err);
    if (!st)
        *out = rows;
    return st;
}

enum status store_bench_rows(struct store *s, struct arena *a, int64_t run,
                             struct bench_record **out, size_t *count, struct error *err)
{
    void *rows;
    enum status st = store_read(s, a, RECORD_BENCH, run, &rows, NULL, count, err);
    if (!st)
        *out = rows;
    return st;
}

enum status store_devices(struct store *s, struct arena *a, int64_t run, struct device_record **out,
                          size_t *count, struct error *err)
{
    void *rows;
    enum status st = store_read(s, a, RECORD_DEVICE, run, &rows, NULL, count, err);
    if (!st)
        *out = rows;
    return st;
}

enum status store_cases(struct store *s, struct arena *a, int64_t run, struct case_record **out,
                        size_t *count, struct error *err)
{
    void *rows;
    enum status st = store_read(s, a, RECORD_CASE, run, &rows, NULL, count, err);
    if (!st)
        *out = rows;
    return st;
}

enum status store_identities(struct store *s, struct arena *a, int64_t run,
                             struct identity_record **out, size_t *count, struct error *err)
{
    void *rows;
    enum status st = store_read(s, a, RECORD_IDENTITY, run, &rows, NULL, count, err);
    if (!st)
        *out = rows;
    return st;
}

enum status store_films(struct store *s, struct arena *a, int64_t run, struct film_record **out,
                        size_t *count, struct error *err)
{
    void *rows;
    enum status st = store_read(s, a, RECORD_FILM, run, &rows, NULL, count, err);
    if (!st)
        *out = rows;
    return st;
}
