/* isophote export and isophote import: a store as JSON Lines, and back. */
#include "cli.h"

#include <string.h>
#include <unistd.h>

#include "reports.h"

static enum status export_file(struct store *store, const char *path, struct error *err)
{
    char tmp[4096];
    enum status st = file_temp_name(path, tmp, sizeof tmp, err);
    if (st)
        return st;
    FILE *out = fopen(tmp, "wb");
    if (!out) {
        file_discard(tmp);
        return error_msg(err, STATUS_IO, "%s: cannot be written", path);
    }
    struct error e = {0};
    st = store_export(store, out, &e);
    if (st)
        error_msg(err, st, "%s: %s", path, e.msg);
    if (fclose(out) != 0 && !st)
        st = error_msg(err, STATUS_IO, "%s: cannot be written", path);
    if (!st)
        return file_commit(tmp, path, err);
    file_discard(tmp);
    return st;
}

int cmd_export(int argc, char **argv)
{
    const char *store_name = NULL, *out = "-";
    const struct option options[] = {
        {"--store", OPTION_STRING, &store_name, "FILE", "the result store to read", NULL},
        {"-o", OPTION_STRING, &out, "FILE", "the file to write (default: standard output)", NULL},
    };
    const struct command_line line = {
        .usage = "isophote export --store FILE [-o results.jsonl]",
        .summary = "Writes a result store as JSON Lines, one record a line (docs/results.md).",
        .options = options,
        .option_count = sizeof options / sizeof *options,
    };
    size_t args;
    int status = options_parse(argc, argv, &line, &args);
    if (status >= 0)
        return status;
    struct error err = {0};
    struct store *store;
    if (!store_name) {
        error_msg(&err, STATUS_ARG, "export needs --store FILE");
        return report_error(&err, false);
    }
    if (store_open(store_name, true, &store, &err))
        return report_error(&err, false);
    enum status st =
        strcmp(out, "-") == 0 ? store_export(store, stdout, &err) : export_file(store, out, &err);
    store_close(store);
    return st ? report_error(&err, false) : EXIT_PASS;
}

int cmd_import(int argc, char **argv)
{
    const char *store_name = NULL;
    const struct option options[] = {
        {"--store", OPTION_STRING, &store_name, "FILE",
         "the result store to add to; made if it is not there", NULL},
    };
    const struct command_line line = {
        .usage = "isophote import FILE... --store FILE",
        .summary = "Adds the runs of JSON Lines files (docs/results.md) to a result store: all "
                   "records of a file or\n"
                   "none. Results of several machines come together in one store this way.",
        .options = options,
        .option_count = sizeof options / sizeof *options,
        .min_args = 1,
        .max_args = SIZE_MAX,
    };
    size_t args;
    int status = options_parse(argc, argv, &line, &args);
    if (status >= 0)
        return status;
    struct error err = {0};
    struct store *store = NULL;
    struct arena a = {0};
    enum status st = STATUS_OK;
    bool made = false;
    size_t taken = 0;
    if (!store_name)
        st = error_msg(&err, STATUS_ARG, "import needs --store FILE");
    for (size_t i = 1; i <= args && !st; i++) {
        char *data = NULL;
        size_t size = 0;
        st = file_read(&a, argv[i], 0, &data, &size, &err);
        if (!st && !store) {
            made = access(store_name, F_OK) != 0;
            st = store_open(store_name, false, &store, &err);
        }
        if (!st)
            st = store_import(store, argv[i], data, size, &err);
        taken += !st;
        arena_free(&a);
    }
    store_close(store);
    if (made && taken == 0)
        unlink(store_name); /* nothing is in it */
    return st ? report_error(&err, false) : EXIT_PASS;
}
