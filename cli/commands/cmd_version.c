/* SPDX-License-Identifier: Apache-2.0 */
/* isophote --version: what this program is, in all that its results depend on. */
#include "cli.h"

#include "commit.h" /* cmake/commit.cmake */

struct version_command {
    bool json;
};

static int run(void *settings, const struct arguments *args)
{
    (void)args;
    if (!((struct version_command *)settings)->json) {
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

static const struct option options[] = {JSON_OPTION(offsetof(struct version_command, json))};
const struct command command_version = {
    .name = "version",
    .group = "what is here",
    .line = "say what this program is, in all that its results depend on",
    .usage = "isophote version [options]\nisophote --version [options]",
    .summary = "Says the program's version and commit (dirty: files were changed since), the "
               "kernel's identity, a hash of the text that devices compile, and the version of "
               "the protocol that it renders by.",
    COMMAND_OPTIONS(options),
    .settings_size = sizeof(struct version_command),
    .unlimited = true,
    .run = run,
};
