/* isophote --version: what this program is, in all that its results depend on. */
#include "cli.h"

#include "commit.h" /* cmake/commit.cmake */

int cmd_version(int argc, char **argv)
{
    bool json = false;
    const struct option options[] = {
        {"--json", OPTION_FLAG, &json, NULL, "one JSON document on standard output", NULL},
    };
    const struct command_line line = {
        .usage = "isophote --version [options]",
        .summary = "Says the program's version and commit (dirty: files were changed since), the "
                   "kernel's identity, a\nhash of the text that devices compile, and the version of "
                   "the protocol that it renders by.",
        .options = options,
        .option_count = sizeof options / sizeof *options,
    };
    size_t args;
    int status = options_parse(argc, argv, &line, &args);
    if (status >= 0)
        return status;
    if (!json) {
        printf("isophote %s\ncommit %s%s\nkernel %s\nprotocol %s\n", ISOPHOTE_VERSION,
               ISOPHOTE_COMMIT, ISOPHOTE_DIRTY ? " (dirty)" : "", kernel_source_hash,
               ISOPHOTE_PROTOCOL);
        return EXIT_PASS;
    }
    struct json_writer w = {.pretty = true};
    json_begin_object(&w);
    json_key_string(&w, "version", ISOPHOTE_VERSION);
    json_key_string(&w, "commit", ISOPHOTE_COMMIT);
    json_key_bool(&w, "dirty", ISOPHOTE_DIRTY);
    json_key_string(&w, "kernel", kernel_source_hash);
    json_key_string(&w, "protocol", ISOPHOTE_PROTOCOL);
    json_end_object(&w);
    return json_print(&w) ? EXIT_PASS : EXIT_BAD_INPUT;
}
