/* SPDX-License-Identifier: Apache-2.0 */
/* isophote help: what commands there are, and how each is used, in whatever form. */
#include "cli.h"

#include <limits.h>
#include <string.h>

struct help_command {
    bool man, markdown, files;
    const char *completion, *write;
};

static enum status write_file(const char *folder, const char *path, struct text *t,
                              struct error *err)
{
    char name[PATH_MAX];
    enum status s = STATUS_OK;
    if ((size_t)snprintf(name, sizeof name, "%s/%s", folder, path) >= sizeof name)
        s = error_msg(err, STATUS_ARG, "%s: the name is too long", folder);
    char *slash = strrchr(name, '/');
    *slash = 0;
    if (s == STATUS_OK)
        s = dir_make(name, err);
    *slash = '/';
    if (s == STATUS_OK)
        s = t->failed ? error_msg(err, STATUS_MEMORY, "out of memory")
                      : file_write(name, t->data, t->len, err);
    text_free(t);
    return s;
}

/* FOLDER/man/isophote*.1, and FOLDER/completion/ as an installation's folder of data has it. */
static enum status write_all(const char *folder, struct error *err)
{
    char path[128];
    struct text t = {0};
    manual_page(NULL, &t);
    enum status s = write_file(folder, "man/isophote.1", &t, err);
    for (size_t i = 0; s == STATUS_OK && commands[i]; i++)
        if (commands[i]->group) {
            snprintf(path, sizeof path, "man/isophote-%s.1", commands[i]->name);
            manual_page(commands[i], &t);
            s = write_file(folder, path, &t, err);
        }
    for (const struct completion *c = completions; s == STATUS_OK && c->shell; c++) {
        snprintf(path, sizeof path, "completion/%s", c->path);
        c->print(&t);
        s = write_file(folder, path, &t, err);
    }
    return s;
}

static int run(void *settings, const struct arguments *args)
{
    const struct help_command *h = settings;
    const struct command *c = args->count ? command_find(args->words[0]) : NULL;
    struct error err = {0};
    struct text t = {0};
    int forms = h->man + h->markdown + h->files + (h->completion != NULL) + (h->write != NULL);
    if (args->count && !c)
        return command_unknown(args->words[0]);
    if (forms > 1 || (c && forms > h->man)) {
        error_msg(&err, STATUS_ARG,
                  "help gives one form at a time, and of one command its help or its --man");
        return report_error(&err, false);
    }
    if (h->write)
        return write_all(h->write, &err) == STATUS_OK ? EXIT_PASS : report_error(&err, false);
    if (h->man)
        manual_page(c, &t);
    else if (h->files)
        for (size_t i = 0; commands[i]; i++)
            files_print(commands[i], &t);
    else if (h->markdown)
        manual_markdown(&t);
    else if (c)
        command_print_help(c, &t);
    else if (!h->completion)
        commands_say(stdout);
    for (const struct completion *i = completions; h->completion && i->shell; i++)
        if (strcmp(h->completion, i->shell) == 0)
            i->print(&t);
    (void)fputs(t.data ? t.data : "", stdout);
    text_free(&t);
    return EXIT_PASS;
}

#define AT(member) offsetof(struct help_command, member)
static const struct option options[] = {
    {"--man", OPTION_FLAG, AT(man), .help = "as a manual page, for man -l -"},
    {"--completion", OPTION_WORD, AT(completion), "SHELL",
     .help = "what completes command lines in a shell", .words = "bash zsh fish"},
    {"--markdown", OPTION_FLAG, AT(markdown),
     .help = "all commands as the page docs/reference/options.md"},
    {"--files", OPTION_FLAG, AT(files),
     .help = "the options that name files, a line each: what is read, what is written"},
    {"--write", OPTION_STRING, AT(write), "FOLDER",
     .help = "all manual pages and completions as files below FOLDER"},
};
const struct command command_help = {
    .name = "help",
    .group = "what is here",
    .line = "say what commands there are, or how one is used",
    .usage = "isophote help [COMMAND] [--man]\n"
             "isophote help --completion SHELL | --markdown | --files | --write FOLDER",
    .summary = "Lists the commands, or says how one is used, as COMMAND --help does.",
    .examples = "isophote help render\n"
                "isophote help conform --man | man -l -\n"
                "source <(isophote help --completion bash)",
    .argument = "COMMAND",
    COMMAND_OPTIONS(options),
    .settings_size = sizeof(struct help_command),
    .max_args = 1,
    .unlimited = true,
    .run = run,
};
