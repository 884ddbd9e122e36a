/* SPDX-License-Identifier: Apache-2.0 */
/* completion.c: what bash, zsh and fish read to complete command lines, of the rows of the commands.
 */
#include "cli.h"

#include <string.h>

/* ---- what a value is ------------------------------------------------------------------------ */

enum value {
    VALUE_TEXT,
    VALUE_WORDS,
    VALUE_FILE,
    VALUE_FOLDER,
    VALUE_DEVICE,
    VALUE_SCENE,
    VALUE_COMMAND
};

static const struct {
    const char *name;
    enum value value;
} value_names[] = {
    {"FILE", VALUE_FILE},   {"FOLDER", VALUE_FOLDER}, {"ID", VALUE_DEVICE},
    {"SCENE", VALUE_SCENE}, {"SHADER", VALUE_FILE},   {"COMMAND", VALUE_COMMAND},
};

/* By how it is written in the help: the first `n` letters of `name`. */
static enum value value_of(const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof value_names / sizeof *value_names; i++)
        if (strlen(value_names[i].name) == n && strncmp(name, value_names[i].name, n) == 0)
            return value_names[i].value;
    return VALUE_TEXT;
}

/* The k-th value of an option, from 0: false when it has none. */
static bool value_at(const struct option *o, size_t k, const char **name, size_t *n,
                     enum value *value)
{
    char buffer[256];
    const char *p = o->value ? o->value : "";
    for (size_t i = 0; i < k; i++)
        p += strcspn(p, " "), p += strspn(p, " ");
    *name = p;
    *n = strcspn(p, " ");
    *value = *option_words(o, buffer, sizeof buffer) && k == 0 ? VALUE_WORDS : value_of(p, *n);
    return *n != 0;
}

/* Words of a list one after another; the length of each. */
static size_t word_next(const char **p)
{
    *p += strspn(*p, " ");
    return strcspn(*p, " ");
}

/* In single quotes, as all three shells read it. `more` are letters to put a backslash before. */
static void quoted(const char *s, const char *more, bool fish, struct text *out)
{
    for (; *s; s++)
        if (*s == '\'')
            text_puts(out, fish ? "\\'" : "'\\''");
        else if (strchr(more, *s) || (fish && *s == '\\'))
            text_printf(out, "\\%c", *s);
        else
            text_append(out, s, 1);
}

#define DEVICES_SH "devices 2>/dev/null | sed -n '/^not here/d; s/^\\([^ ]\\{1,\\}\\) .*/\\1/p'"
#define SCENES_SH  "scenes 2>/dev/null | sed -n 's/^\\([^ ]\\{1,\\}\\) .*/\\1/p'"

/* ---- bash ----------------------------------------------------------------------------------- */

static const char bash_head[] =
    "# bash completion for isophote; made by isophote help --completion bash\n"
    "_isophote_words() { mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$cur\"); }\n"
    "_isophote_files() { mapfile -t COMPREPLY < <(compgen -f -- \"$cur\"); compopt -o filenames "
    "2>/dev/null; }\n"
    "_isophote_folders() { mapfile -t COMPREPLY < <(compgen -d -- \"$cur\"); compopt -o filenames "
    "2>/dev/null; }\n"
    "_isophote_devices() { _isophote_words \"reference $(\"$program\" " DEVICES_SH ")\"; }\n"
    "_isophote_scenes()\n"
    "{\n"
    "    mapfile -t COMPREPLY < <(compgen -f -- \"$cur\"; compgen -W \"$(\"$program\" " SCENES_SH
    ")\" -- \"$cur\")\n"
    "    compopt -o filenames 2>/dev/null\n"
    "}\n"
    "_isophote()\n"
    "{\n"
    "    local program=${COMP_WORDS[0]} command=${COMP_WORDS[1]} cur=${COMP_WORDS[COMP_CWORD]} "
    "at=$COMP_CWORD\n"
    "    local colon=\n"
    "    COMPREPLY=()\n"
    "    # bash parts words at = and :\n"
    "    if [ \"$cur\" = : ]; then colon=${COMP_WORDS[at - 1]}: cur=$colon at=$((at - 1))\n"
    "    elif [ \"${COMP_WORDS[at - 1]}\" = : ]; then colon=${COMP_WORDS[at - 2]}: cur=$colon$cur "
    "at=$((at - 2)); fi\n"
    "    if [ \"$cur\" = = ]; then cur=\n"
    "    elif [ \"${COMP_WORDS[at - 1]}\" = = ]; then at=$((at - 1)); fi\n"
    "    _isophote_find\n"
    "    [ -z \"$colon\" ] || COMPREPLY=(\"${COMPREPLY[@]#\"$colon\"}\")\n"
    "}\n"
    "_isophote_find()\n"
    "{\n";

static const char *const bash_values[] = {
    [VALUE_TEXT] = ":",
    [VALUE_WORDS] = "_isophote_words",
    [VALUE_FILE] = "_isophote_files",
    [VALUE_FOLDER] = "_isophote_folders",
    [VALUE_DEVICE] = "_isophote_devices",
    [VALUE_SCENE] = "_isophote_scenes",
    [VALUE_COMMAND] = "_isophote_words \"$commands\"",
};

static void command_names(struct text *out)
{
    const char *between = "";
    for (size_t i = 0; commands[i]; i++)
        if (commands[i]->group) {
            text_printf(out, "%s%s", between, commands[i]->name);
            between = " ";
        }
}

/* The patterns "render:-o | render:--preview" of one row, and what completes its k-th value. */
static void bash_value(const struct command *c, const struct option *o, size_t k, struct text *out)
{
    char buffer[256];
    const char *name, *between = "";
    size_t n;
    enum value value;
    if (!value_at(o, k, &name, &n, &value))
        return;
    text_puts(out, "    ");
    for (const char *p = o->names; (n = word_next(&p)) != 0; p += n) {
        text_printf(out, "%s%s:%.*s", between, c->name, (int)n, p);
        between = " | ";
    }
    text_printf(out, ") %s", bash_values[value]);
    if (value == VALUE_WORDS)
        text_printf(out, " \"%s\"", option_words(o, buffer, sizeof buffer));
    text_puts(out, "; return ;;\n");
}

static void bash(struct text *out)
{
    const struct option *o;
    text_puts(out, bash_head);
    text_puts(out, "    local commands=\"");
    command_names(out);
    text_puts(out, "\"\n    if ((at == 1)); then _isophote_words \"$commands --version --help\"; "
                   "return; fi\n");
    for (size_t k = 0; k < 4; k++) {
        text_printf(out, "    ((at <= %zu)) || case $command:${COMP_WORDS[at - %zu]} in\n", k + 1,
                    k + 1);
        for (size_t i = 0; commands[i]; i++)
            for (size_t j = 0; (o = command_option(commands[i], j)) != NULL; j++)
                if (commands[i]->group)
                    bash_value(commands[i], o, k, out);
        text_puts(out, "    esac\n");
    }
    text_puts(out, "    case $command in\n");
    for (size_t i = 0; commands[i]; i++) {
        const struct command *c = commands[i];
        if (!c->group)
            continue;
        text_printf(out, "    %s)\n        [[ $cur != -* ]] || { _isophote_words \"", c->name);
        for (size_t j = 0; (o = command_option(c, j)) != NULL; j++)
            text_printf(out, "%s ", o->names);
        text_puts(out, "--help\"; return; }\n");
        if (c->verbs)
            text_printf(out, "        ((at != 2)) || { _isophote_words \"%s\"; return; }\n",
                        c->verbs);
        text_printf(
            out, "        %s ;;\n",
            bash_values[c->argument ? value_of(c->argument, strlen(c->argument)) : VALUE_TEXT]);
    }
    text_puts(out, "    esac\n}\ncomplete -F _isophote isophote\n");
}

/* ---- zsh ------------------------------------------------------------------------------------ */

static const char *const zsh_values[] = {
    [VALUE_TEXT] = " ",
    [VALUE_WORDS] = "",
    [VALUE_FILE] = "_files",
    [VALUE_FOLDER] = "_files -/",
    [VALUE_DEVICE] = "_isophote_devices",
    [VALUE_SCENE] = "_isophote_scenes",
    [VALUE_COMMAND] = "_isophote_commands",
};

static void zsh_option(const struct option *o, struct text *out)
{
    char buffer[256];
    const char *name;
    size_t n, length;
    enum value value;
    for (const char *p = o->names; (n = word_next(&p)) != 0; p += n) {
        bool equals = strncmp(p, "--", 2) == 0 && o->value && !strchr(o->value, ' ');
        text_printf(out, " \\\n            '*%.*s%s[", (int)n, p, equals ? "=" : "");
        quoted(o->help, "[]:", false, out);
        text_puts(out, "]");
        for (size_t k = 0; value_at(o, k, &name, &length, &value); k++) {
            text_puts(out, ":");
            for (size_t i = 0; i < length; i++)
                text_printf(out, name[i] == ':' ? "\\%c" : "%c", name[i]);
            text_puts(out, ":");
            text_puts(out, zsh_values[value]);
            if (value == VALUE_WORDS)
                text_printf(out, "(%s)", option_words(o, buffer, sizeof buffer));
        }
        text_puts(out, "'");
    }
}

static void zsh(struct text *out)
{
    const struct option *o;
    text_puts(out, "#compdef isophote\n"
                   "# zsh completion for isophote; made by isophote help --completion zsh\n"
                   "_isophote_devices()\n{\n    local -a found\n"
                   "    found=(reference ${(f)\"$(isophote " DEVICES_SH ")\"})\n"
                   "    compadd -a found\n}\n"
                   "_isophote_scenes()\n{\n    local -a found\n"
                   "    found=(${(f)\"$(isophote " SCENES_SH ")\"})\n"
                   "    compadd -a found\n    _files\n}\n"
                   "_isophote_commands()\n{\n    local -a found\n    found=(\n");
    for (size_t i = 0; commands[i]; i++)
        if (commands[i]->group) {
            text_printf(out, "        '%s:", commands[i]->name);
            quoted(commands[i]->line, "", false, out);
            text_puts(out, "'\n");
        }
    text_puts(out,
              "    )\n    _describe command found\n}\n"
              "_isophote()\n{\n"
              "    if ((CURRENT == 2)); then\n        _isophote_commands\n        return\n    fi\n"
              "    local command=$words[2]\n"
              "    shift words\n    ((CURRENT--))\n"
              "    case $command in\n");
    for (size_t i = 0; commands[i]; i++) {
        const struct command *c = commands[i];
        if (!c->group)
            continue;
        text_printf(out, "    %s)\n        _arguments", c->name);
        for (size_t j = 0; (o = command_option(c, j)) != NULL; j++)
            zsh_option(o, out);
        text_puts(out, " \\\n            '--help[show how the command is used]'");
        if (c->verbs)
            text_printf(out, " \\\n            '1:what:(%s)'", c->verbs);
        if (c->argument)
            text_printf(out, " \\\n            '*:%s:%s'", c->argument,
                        zsh_values[value_of(c->argument, strlen(c->argument))]);
        text_puts(out, " ;;\n");
    }
    text_puts(out, "    esac\n}\n_isophote \"$@\"\n");
}

/* ---- fish ----------------------------------------------------------------------------------- */

static const char *const fish_values[] = {
    [VALUE_TEXT] = " -x",
    [VALUE_WORDS] = " -x",
    [VALUE_FILE] = " -r -F",
    [VALUE_FOLDER] = " -x -a '(__fish_complete_directories)'",
    [VALUE_DEVICE] = " -x -a '(__isophote_devices)'",
    [VALUE_SCENE] = " -r -F -a '(__isophote_scenes)'",
    [VALUE_COMMAND] = " -x -a '(__isophote_commands)'",
};

/* fish completes the first value of an option that takes several. */
static void fish_option(const struct command *c, const struct option *o, struct text *out)
{
    char buffer[256];
    const char *name;
    size_t n, length;
    enum value value;
    for (const char *p = o->names; (n = word_next(&p)) != 0; p += n) {
        const char *kind = p[1] == '-' ? "-l" : n == 2 ? "-s" : "-o";
        size_t dashes = p[1] == '-' ? 2 : 1;
        text_printf(out, "complete -c isophote -n '__isophote_is %s' %s %.*s", c->name, kind,
                    (int)(n - dashes), p + dashes);
        if (value_at(o, 0, &name, &length, &value))
            text_puts(out, fish_values[value]);
        if (o->value && value == VALUE_WORDS)
            text_printf(out, " -a '%s'", option_words(o, buffer, sizeof buffer));
        text_puts(out, " -d '");
        quoted(o->help, "", true, out);
        text_puts(out, "'\n");
    }
}

static void fish(struct text *out)
{
    const struct option *o;
    text_puts(out,
              "# fish completion for isophote; made by isophote help --completion fish\n"
              "function __isophote_is\n    set -l words (commandline -opc)\n"
              "    test (count $words) -ge 2; and test $words[2] = $argv[1]\nend\n"
              "function __isophote_devices\n    echo reference\n    isophote " DEVICES_SH "\nend\n"
              "function __isophote_scenes\n    isophote " SCENES_SH "\nend\n"
              "function __isophote_commands\n    string split ' ' '");
    command_names(out);
    text_puts(out, "'\nend\ncomplete -c isophote -f\n");
    for (size_t i = 0; commands[i]; i++) {
        const struct command *c = commands[i];
        if (!c->group)
            continue;
        text_printf(out, "complete -c isophote -n __fish_use_subcommand -a %s -d '", c->name);
        quoted(c->line, "", true, out);
        text_puts(out, "'\n");
        for (size_t j = 0; (o = command_option(c, j)) != NULL; j++)
            fish_option(c, o, out);
        if (c->verbs)
            text_printf(out, "complete -c isophote -n '__isophote_is %s' -a '%s'\n", c->name,
                        c->verbs);
        if (!c->argument)
            continue;
        const char *how = fish_values[value_of(c->argument, strlen(c->argument))];
        how += strncmp(how, " -r", 3) == 0 || strncmp(how, " -x", 3) == 0 ? 3 : 0;
        text_printf(out, "complete -c isophote -n '__isophote_is %s'%s\n", c->name, how);
    }
}

/* ---- all ------------------------------------------------------------------------------------ */

const struct completion completions[] = {
    {"bash", "bash-completion/completions/isophote", bash},
    {"zsh", "zsh/site-functions/_isophote", zsh},
    {"fish", "fish/vendor_completions.d/isophote.fish", fish},
    {NULL, NULL, NULL},
};
