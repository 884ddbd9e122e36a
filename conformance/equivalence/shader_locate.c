/* SPDX-License-Identifier: Apache-2.0 */
/* Where in a program values first differ: each assignment prints what it wrote. */
#include "shader_compare.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char probes[] =
    "void probe(int l, int x) { printf(\"@%d %d\\n\", l, x); }\n"
    "void probe(int l, float x) { printf(\"@%d %.9g\\n\", l, x); }\n"
    "void probe(int l, color x) { printf(\"@%d %.9g\\n\", l, x); }\n"
    "void probe(int l, matrix x) { printf(\"@%d %.9g\\n\", l, x); }\n"
    "void probe(int l, string x) { printf(\"@%d %s\\n\", l, x); }\n"
    "void probe(int l, closure color x) { printf(\"@%d %s\\n\", l, x); }\n";

/* The place that a statement writes, "x" of `float x = 1;` and "a[1]" of `a[1] += 2;`. */
static bool written_place(const char *line, size_t size, char *place, size_t room, bool *declares)
{
    size_t depth = 0, at = 0;
    for (; at + 1 < size; at++) {
        depth += line[at] == '(' || line[at] == '[';
        depth -= (line[at] == ')' || line[at] == ']') && depth;
        if (line[at] == '=' && depth == 0 && line[at + 1] != '=' && at &&
            !strchr("=!<>", line[at - 1]))
            break;
    }
    if (at + 1 >= size)
        return false;
    size_t end = at;
    while (end && strchr(" +-*/%&|^", line[end - 1]))
        end--;
    size_t begin = 0;
    while (begin < end && isspace((unsigned char)line[begin]))
        begin++;
    *declares = false;
    for (size_t i = begin, words = 0; i < end; i++) { /* type name */
        if (isalpha((unsigned char)line[i]) && (i == begin || line[i - 1] == ' ') && words++ > 0) {
            *declares = true;
            begin = i;
        }
    }
    size_t n = end - begin;
    if (*declares) /* float a [ 3 ] */
        n = strcspn(line + begin, " [=");
    if (n == 0 || n >= room || !(isalpha((unsigned char)line[begin]) || line[begin] == '_'))
        return false;
    memcpy(place, line + begin, n);
    place[n] = 0;
    return true;
}

/* Appends the program with probes in the lines that `probed` marks. */
static void instrument(const char *text, const bool *probed, struct text *out)
{
    uint32_t number = 1;
    bool begun = false;
    for (const char *p = text; *p; number++) {
        size_t n = strcspn(p, "\n");
        char place[128];
        bool declares;
        if (!begun && strncmp(p, "//!", 3) != 0 && *p != '#') {
            text_puts(out, probes);
            begun = true;
        }
        if (probed[number] && written_place(p, n, place, sizeof place, &declares))
            text_printf(out, declares ? "%.*s probe(%u, %s);\n" : "{ %.*s probe(%u, %s); }\n",
                        (int)n, p, number, place);
        else
            text_printf(out, "%.*s\n", (int)n, p);
        p += n + (p[n] == '\n');
    }
}

static bool compiles(const char *name, const struct text *t)
{
    struct arena a = {0};
    struct shader_file f;
    bool ok = t->data && shader_file_read(&a, name, t->data, t->len, 0, &f, NULL) == STATUS_OK;
    arena_free(&a);
    return ok;
}

/* Marks the lines whose statements can be watched. */
static void choose_lines(const char *name, const char *text, bool *probed, uint32_t lines)
{
    for (uint32_t i = 1; i <= lines; i++) {
        struct text t = {0};
        probed[i] = true;
        instrument(text, probed, &t);
        probed[i] = compiles(name, &t);
        text_free(&t);
    }
}

static const char *line_at(const char *text, uint32_t number)
{
    for (; number > 1 && *text; number--)
        text += strcspn(text, "\n") + 1;
    return text;
}

static enum status run_point(const struct shader_file *f, const struct shader_setting *s,
                             const char *engine, const struct asl_globals *g,
                             struct shade_result *r)
{
    struct shade_options o = {.outputs = s->all_layers ? f->all : f->last,
                              .mode = s->mode,
                              .level = s->level,
                              .bake = s->bake,
                              .fault = s->fault,
                              .threads = 1};
    struct shade_points p = {.globals = g, .count = 1};
    struct shade *shade = NULL;
    shader_world(&o);
    enum status st = shade_open(engine, f->group, &o, &shade, NULL);
    if (st == STATUS_OK)
        st = shade_run(shade, &p, r, NULL);
    shade_close(shade);
    return st;
}

static bool first_difference(const struct shade_result *want, const struct shade_result *have,
                             const char *text, struct shader_place *out)
{
    for (size_t i = 0; i < want->message_count && i < have->message_count; i++) {
        const char *a = want->messages[i].text, *b = have->messages[i].text;
        if (strcmp(a, b) == 0)
            continue;
        if (*a != '@')
            return false;
        char *value;
        out->line = (uint32_t)strtoul(a + 1, &value, 10);
        const char *line = line_at(text, out->line), *other = strchr(b, ' ');
        line += strspn(line, " ");
        (void)snprintf(out->statement, sizeof out->statement, "%.*s", (int)strcspn(line, "\n"),
                       line);
        (void)snprintf(out->expected, sizeof out->expected, "%.*s", (int)strcspn(value + 1, "\n"),
                       value + 1);
        if (*b == '@' && strtoul(b + 1, NULL, 10) == out->line && other)
            (void)snprintf(out->found, sizeof out->found, "%.*s", (int)strcspn(other + 1, "\n"),
                           other + 1);
        else
            (void)snprintf(out->found, sizeof out->found, "another statement");
        return true;
    }
    return false;
}

bool shader_locate(const char *name, const char *text, const struct shader_setting *s,
                   const struct asl_globals *point, struct shader_place *out)
{
    struct arena a = {0};
    struct shader_file f;
    struct shade_result want = {0}, have = {0};
    struct text t = {0};
    uint32_t lines = 1;
    bool found = false;
    for (const char *p = text; *p; p++)
        lines += *p == '\n';
    bool *probed = calloc(lines + 2, sizeof *probed);
    if (probed) {
        choose_lines(name, text, probed, lines);
        instrument(text, probed, &t);
        found = t.data && shader_file_read(&a, name, t.data, t.len, 0, &f, NULL) == STATUS_OK &&
                run_point(&f, s, "interp", point, &want) == STATUS_OK &&
                run_point(&f, s, s->engine, point, &have) == STATUS_OK &&
                first_difference(&want, &have, text, out);
    }
    shade_result_free(&want);
    shade_result_free(&have);
    text_free(&t);
    free(probed);
    arena_free(&a);
    return found;
}
