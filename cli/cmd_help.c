/* isophote help: what commands there are, and how each is used. */
#include "cli.h"

static int run(void *settings, const struct arguments *args)
{
    (void)settings;
    if (args->count == 0) {
        commands_say(stdout);
        return EXIT_PASS;
    }
    const struct command *c = command_find(args->words[0]);
    if (!c)
        return command_unknown(args->words[0]);
    struct text t = {0};
    command_print_help(c, &t);
    (void)fputs(t.data ? t.data : "", stdout);
    text_free(&t);
    return EXIT_PASS;
}

const struct command command_help = {
    .name = "help",
    .group = "what is here",
    .line = "say what commands there are, or how one is used",
    .usage = "isophote help [COMMAND]",
    .summary = "Lists the commands, or says how one is used, as COMMAND --help does.",
    .argument = "COMMAND",
    .max_args = 1,
    .run = run,
};
