/* SPDX-License-Identifier: Apache-2.0 */
/* help.c: what --help prints, of the rows of a command; and the words that messages are made of. */
#include "cli.h"

#include <string.h>

enum { HELP_COLUMN = 28, LINE_END = 80 };

const char *const exit_statuses[][2] = {
    {"0", "pass"},
    {"1", "a finding"},
    {"2", "bad use or input"},
    {"77", "nothing could be judged"},
    {"130", "interrupted; 143: ended by SIGTERM; 129: by SIGHUP"},
    {NULL, NULL},
};

/* ---- words ---------------------------------------------------------------------------------- */

void words_print(const char *words, const char *last, struct text *out)
{
    for (const char *p = words; *p;) {
        size_t n = strcspn(p, " ");
        const char *next = p + n + strspn(p + n, " ");
        if (p != words && *next)
            text_puts(out, ", ");
        else if (p != words)
            text_printf(out, " %s ", last);
        text_append(out, p, n);
        p = next;
    }
}

/* Levenshtein's distance; names that are long are far. */
static size_t distance(const char *a, const char *b, size_t n)
{
    size_t row[64], m = strlen(a);
    if (m >= 64 || n >= 64)
        return 64;
    for (size_t i = 0; i <= m; i++)
        row[i] = i;
    for (size_t k = 1; k <= n; k++) {
        size_t corner = row[0];
        row[0] = k;
        for (size_t i = 1; i <= m; i++) {
            size_t change = corner + (a[i - 1] != b[k - 1]), least = row[i - 1] + 1;
            corner = row[i];
            least = row[i] + 1 < least ? row[i] + 1 : least;
            row[i] = change < least ? change : least;
        }
    }
    return row[m];
}

void nearest_print(const char *name, const char *names, struct text *out)
{
    struct text near = {0};
    size_t best = strlen(name) / 3 + 1;
    for (const char *p = names; *p; p += strcspn(p, " "), p += strspn(p, " ")) {
        size_t n = strcspn(p, " "), d = distance(name, p, n);
        if (d < best)
            text_free(&near);
        if (d < best || (d == best && near.data)) {
            text_printf(&near, "%s%.*s", near.data ? " " : "", (int)n, p);
            best = d;
        }
    }
    if (near.data) {
        text_puts(out, "; is ");
        words_print(near.data, "or", out);
        text_puts(out, " meant?");
    }
    text_free(&near);
}

void wrap_print(const char *text, size_t indent, struct text *out)
{
    size_t column = indent;
    while (*text) {
        size_t n = strcspn(text, " \n");
        if (column > indent && column + 1 + n > LINE_END) {
            text_printf(out, "\n%*s", (int)indent, "");
            column = indent;
        }
        text_printf(out, "%s%.*s", column > indent ? " " : "", (int)n, text);
        column += n + (column > indent);
        text += n;
        if (*text == '\n') {
            text_printf(out, "\n%*s", (int)indent, "");
            column = indent;
        }
        text += *text != 0;
    }
    text_puts(out, "\n");
}

/* ---- options -------------------------------------------------------------------------------- */

const char *option_default(const struct option *o)
{
    return o->otherwise ? o->otherwise : o->preset;
}

void option_print_names(const struct option *o, struct text *out)
{
    for (const char *p = o->names; *p; p += strspn(p, " ")) {
        size_t n = strcspn(p, " ");
        text_printf(out, "%s%.*s", p == o->names ? "" : ", ", (int)n, p);
        p += n;
    }
    if (o->value)
        text_printf(out, " %s", o->value);
}

void option_print_meaning(const struct option *o, struct text *out)
{
    char buffer[256];
    const char *words = option_words(o, buffer, sizeof buffer);
    bool taken = *words && o->type != OPTION_STRING && o->type != OPTION_LIST;
    text_puts(out, o->help);
    if (taken) {
        text_puts(out, ": ");
        words_print(words, o->type == OPTION_WORDS ? "and" : "or", out);
    }
}

void option_print_help(const struct option *o, struct text *out)
{
    option_print_meaning(o, out);
    if (option_default(o))
        text_printf(out, " (default: %s)", option_default(o));
}

static void print_row(const char *left, const char *right, struct text *out)
{
    text_puts(out, "  ");
    if (strlen(left) + 4 <= HELP_COLUMN) {
        text_printf(out, "%-*s", HELP_COLUMN - 2, left);
    } else {
        wrap_print(left, 2, out);
        text_printf(out, "%*s", HELP_COLUMN, "");
    }
    wrap_print(right, HELP_COLUMN, out);
}

static void print_options(const struct command *c, size_t first, size_t end, const char *heading,
                          struct text *out)
{
    const struct option *o;
    if (first == end || !command_option(c, first))
        return;
    text_printf(out, "\n%s\n", heading);
    for (size_t i = first; i < end && (o = command_option(c, i)) != NULL; i++) {
        struct text left = {0}, right = {0};
        option_print_names(o, &left);
        option_print_help(o, &right);
        if (left.data && right.data)
            print_row(left.data, right.data, out);
        text_free(&left);
        text_free(&right);
    }
}

void command_print_help(const struct command *c, struct text *out)
{
    const char *lead = "usage: ";
    for (const char *p = c->usage; *p; p += *p == '\n') {
        size_t n = strcspn(p, "\n");
        text_printf(out, "%s%.*s\n", lead, (int)n, p);
        p += n;
        lead = "       ";
    }
    text_puts(out, "\n");
    wrap_print(c->summary, 0, out);
    print_options(c, 0, c->option_count, "options", out);
    print_options(c, c->option_count, SIZE_MAX, "options that mean the same everywhere", out);
    print_row("-h, --help", "show this text", out);
    for (const char *p = c->examples ? c->examples : ""; *p; p += *p == '\n') {
        size_t n = strcspn(p, "\n");
        text_printf(out, "%s  %.*s\n", p == c->examples ? "\nexamples\n" : "", (int)n, p);
        p += n;
    }
    text_puts(out, "\nexit status:");
    for (size_t i = 0; exit_statuses[i][0]; i++)
        text_printf(out, "%s %s %s", i ? ";" : "", exit_statuses[i][0], exit_statuses[i][1]);
    text_puts(out, "\n");
}

/* ---- all commands --------------------------------------------------------------------------- */

const struct command *command_find(const char *name)
{
    for (size_t i = 0; commands[i]; i++)
        if (strcmp(name, commands[i]->name) == 0)
            return commands[i];
    return NULL;
}

void commands_say(FILE *out)
{
    const char *group = "";
    (void)fputs("usage: isophote COMMAND [options]     isophote help COMMAND\n", out);
    for (size_t i = 0; commands[i]; i++) {
        const struct command *c = commands[i];
        if (!c->group)
            continue;
        if (strcmp(c->group, group) != 0)
            (void)fprintf(out, "\n%s\n", c->group);
        (void)fprintf(out, "  %-9s %s\n", c->name, c->line);
        group = c->group;
    }
    (void)fprintf(out, "\nisophote %s; documentation: README.md and docs/\n", ISOPHOTE_VERSION);
}

int command_unknown(const char *name)
{
    struct text names = {0}, near = {0};
    for (size_t i = 0; commands[i]; i++)
        if (commands[i]->group)
            text_printf(&names, "%s ", commands[i]->name);
    nearest_print(name, names.data ? names.data : "", &near);
    (void)fprintf(stderr, "isophote: unknown command '%s'%s\n'isophote help' lists the commands\n",
                  name, near.data ? near.data : "");
    text_free(&names);
    text_free(&near);
    return EXIT_BAD_INPUT;
}
