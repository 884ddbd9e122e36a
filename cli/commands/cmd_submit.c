/* SPDX-License-Identifier: Apache-2.0 */
/* isophote submit: one run as one file, for a stranger to audit. */
#include "cli.h"
#include "conformance.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct submit_command {
    const char *store, *out, *journal, *sign;
    uint32_t run;

    struct arena arena;
    struct archive archive;
    struct text results;
};

static const char *string_at(const struct json *o, const char *key)
{
    const struct json *v = json_get(o, key);
    return v && v->type == JSON_STRING ? v->string : NULL;
}

static enum status member_set(struct submit_command *c, enum archive_member m, const char *text,
                              struct error *err)
{
    if (!text)
        return error_msg(err, STATUS_MEMORY, "out of memory for %s", archive_member_name(m));
    c->archive.members[m].data = text;
    c->archive.members[m].size = strlen(text);
    return STATUS_OK;
}

static bool is_conform(const struct run_record *r) { return strcmp(r->kind, "conform") == 0; }

/* The run asked for, or the last one of conform. */
static enum status run_choose(struct submit_command *c, struct store *s,
                              const struct run_record **out, struct error *err)
{
    struct run_record *runs;
    size_t n;
    *out = NULL;
    TRY(store_runs(s, &c->arena, &runs, &n, err));
    for (size_t i = 0; i < n; i++)
        if (c->run ? runs[i].id == (int64_t)c->run : is_conform(&runs[i]))
            *out = &runs[i];
    if (!*out && c->run)
        return error_msg(err, STATUS_TYPE, "%s has no run %u", c->store, c->run);
    if (!*out)
        return error_msg(err, STATUS_TYPE, "%s has no run of conform; --run N packs another",
                         c->store);
    if (!is_conform(*out) && strcmp((*out)->kind, "bench") != 0 &&
        strcmp((*out)->kind, "sweep") != 0)
        return error_msg(err, STATUS_TYPE,
                         "%s: run %lld is of %s; expected conform, bench or sweep", c->store,
                         (long long)(*out)->id, (*out)->kind);
    return (*out)->selection || !is_conform(*out)
               ? STATUS_OK
               : error_msg(err, STATUS_TYPE,
                           "%s: the run does not say what it selected: it was made by an older "
                           "version",
                           c->store);
}

static enum status results_set(struct submit_command *c, struct store *s, int64_t run,
                               struct error *err)
{
    char *data = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&data, &size);
    enum status st = f ? store_export_run(s, run, f, err)
                       : error_msg(err, STATUS_MEMORY, "out of memory for the results");
    if (f && fclose(f) != 0 && st == STATUS_OK)
        st = error_msg(err, STATUS_MEMORY, "out of memory for the results");
    if (st == STATUS_OK)
        text_append(&c->results, data, size);
    free(data);
    if (st == STATUS_OK && c->results.failed)
        st = error_msg(err, STATUS_MEMORY, "out of memory for the results");
    c->archive.members[ARCHIVE_RESULTS].data = c->results.data;
    c->archive.members[ARCHIVE_RESULTS].size = c->results.len;
    return st;
}

static enum status rows_set(struct submit_command *c, const struct json *selection, const char *key,
                            enum archive_member m, struct error *err)
{
    const struct json *v = json_get(selection, key);
    struct json_writer w = {0};
    if (!v)
        return STATUS_OK;
    struct json plain = *v;
    plain.key = NULL;
    json_copy(&w, &plain);
    text_puts(&w.out, "\n");
    enum status st =
        member_set(c, m, w.out.failed ? NULL : arena_strdup(&c->arena, w.out.data), err);
    text_free(&w.out);
    return st;
}

/* The names of the list's cases, which must be those that the run judged. */
static enum status list_set(struct submit_command *c, const struct json *selection,
                            struct error *err)
{
    const char *list = string_at(selection, "list"), *hash = string_at(selection, "hash");
    const struct conform_options o = {.list = list};
    const struct conform_case *cases = NULL;
    size_t n = 0;
    char hex[33];
    struct text t = {0};
    /* scenes at random alone are of no list */
    const bool none = list && strcmp(list, "random") == 0;
    enum status st = none ? STATUS_OK : conform_select(&c->arena, &o, &cases, &n, err);
    for (size_t i = 0; st == STATUS_OK && i < n; i++)
        text_printf(&t, "%s\n", cases[i].name);
    if (st == STATUS_OK)
        st = conform_list_hash(cases, NULL, n, hex, err);
    if (st == STATUS_OK && (!hash || strcmp(hash, hex) != 0))
        st = error_msg(err, STATUS_TYPE,
                       "the list '%.100s' is not what it was when the run judged it",
                       list ? list : "");
    if (st == STATUS_OK)
        st = member_set(c, ARCHIVE_LIST,
                        t.failed ? NULL : arena_strdup(&c->arena, t.data ? t.data : ""), err);
    text_free(&t);
    return st;
}

static enum status journal_set(struct submit_command *c, struct error *err)
{
    const char *path = c->journal ? c->journal : arena_printf(&c->arena, "%s.journal", c->store);
    char *data;
    size_t size;
    if (!path)
        return error_msg(err, STATUS_MEMORY, "out of memory for the journal");
    if (!c->journal && access(path, F_OK) != 0)
        return STATUS_OK;
    TRY(file_read(&c->arena, path, (size_t)1 << 30, &data, &size, err));
    c->archive.members[ARCHIVE_JOURNAL].data = data;
    c->archive.members[ARCHIVE_JOURNAL].size = size;
    return STATUS_OK;
}

static enum status pack(struct submit_command *c, struct store *s, struct error *err)
{
    const struct run_record *run;
    const struct json *selection;
    TRY(run_choose(c, s, &run, err));
    TRY(results_set(c, s, run->id, err));
    if (run->environment)
        TRY(member_set(c, ARCHIVE_ENVIRONMENT, arena_printf(&c->arena, "%s\n", run->environment),
                       err));
    if (!is_conform(run))
        return STATUS_OK;
    TRY(json_parse(&c->arena, "selection", run->selection, strlen(run->selection), &selection,
                   err));
    if (selection->type != JSON_OBJECT)
        return error_msg(err, STATUS_TYPE, "%s: the run's selection is no object", c->store);
    TRY(list_set(c, selection, err));
    TRY(rows_set(c, selection, "waiver_rows", ARCHIVE_WAIVERS, err));
    TRY(rows_set(c, selection, "skip_rows", ARCHIVE_SKIPS, err));
    return journal_set(c, err);
}

/* The archive and its signature: nothing is written unless both are made. */
static enum status files_write(struct submit_command *c, const struct text *out, bool force,
                               struct error *err)
{
    char scratch[3072] = "";
    const char *signature = NULL, *path = NULL;
    enum signing_scheme scheme;
    size_t size = 0;
    enum status st = STATUS_OK;
    if (c->sign) {
        st = scratch_make(scratch, sizeof scratch, err);
        if (st == STATUS_OK)
            st = signing_make(&c->arena, c->sign, out->data, out->len, scratch, &scheme, &signature,
                              &size, err);
        scratch_remove(scratch);
        if (st == STATUS_OK &&
            !(path = arena_printf(&c->arena, "%s%s", c->out, signing_ending(scheme))))
            st = error_msg(err, STATUS_MEMORY, "out of memory for a signature");
        if (st == STATUS_OK)
            st = output_replaces(path, FILE_SIGNATURE, force, err);
    }
    if (st == STATUS_OK)
        st = file_write(c->out, out->data, out->len, err);
    if (st == STATUS_OK && path)
        st = file_write(path, signature, size, err);
    if (st == STATUS_OK) {
        struct sum sum;
        char hex[65];
        sum_of(out->data, out->len, &sum);
        sum_hex(&sum, hex);
        printf("%s: %zu bytes, SHA-256 %s\n", c->out, out->len, hex);
        if (path)
            printf("%s: its signature\n", path);
    }
    return st;
}

static int run(void *settings, const struct arguments *args)
{
    struct submit_command *c = settings;
    struct store *s = NULL;
    struct text out = {0};
    struct error err = {0};
    enum status st = STATUS_OK;
    if (!c->store || !c->out)
        st = error_msg(&err, STATUS_ARG, "submit needs --store FILE and -o FILE");
    if (st == STATUS_OK)
        st = store_open(c->store, true, &s, &err);
    if (st == STATUS_OK)
        st = pack(c, s, &err);
    if (st == STATUS_OK)
        st = archive_write(&c->archive, &out, &err);
    if (st == STATUS_OK)
        st = files_write(c, &out, args->force, &err);
    store_close(s);
    text_free(&out);
    text_free(&c->results);
    arena_free(&c->arena);
    return st ? report_error(&err, false) : EXIT_PASS;
}

#define AT(member) offsetof(struct submit_command, member)
static const struct option options[] = {
    {"--store", OPTION_STRING, AT(store), "FILE", .help = "the result store that holds the run",
     .reads = true},
    {"-o", OPTION_STRING, AT(out), "FILE", .help = "the archive to write", .writes = FILE_ARCHIVE},
    {"--run", OPTION_COUNT, AT(run), "N",
     .help = "the run of the store to pack: of conform, bench or sweep",
     .otherwise = "the last one of conform"},
    {"--journal", OPTION_STRING, AT(journal), "FILE", .help = "the run's journal",
     .otherwise = "the store's name with .journal, if it is there", .reads = true},
    {"--sign", OPTION_STRING, AT(sign), "KEY",
     .help = "sign the archive with a key of OpenSSH (FILE.sig, by ssh-keygen -Y) or of minisign "
             "(FILE.minisig)",
     .reads = true},
};
const struct command command_submit = {
    .name = "submit",
    .group = "results",
    .line = "pack a run for a stranger to audit",
    .usage = "isophote submit --store FILE -o FILE",
    .summary = "Packs one run: its results with their keys, the sums of the tiles of its strict "
               "pictures, environment, and of conform list, waivers, expected skips and journal "
               "(docs/reference/archive.md). The same run gives the same bytes.",
    .examples = "isophote submit --store out/mine.db -o out/mine.tar\n"
                "isophote submit --store out/mine.db -o out/mine.tar --sign ~/.ssh/id_ed25519",
    COMMAND_OPTIONS(options),
    .settings_size = sizeof(struct submit_command),
    .run = run,
};
