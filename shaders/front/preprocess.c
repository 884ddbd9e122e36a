/* SPDX-License-Identifier: Apache-2.0 */
/* preprocess.c: directives, macros (Prosser's algorithm: every token carries the macros that may
 * not expand in it again), #include. One pass from bytes to the tokens that the parser reads. Macro
 * expansion itself is in preprocess_macro.c. */
#include "preprocess.h"

#include <stdlib.h>
#include <string.h>

/* The header that published OSL shaders include: all it declares is built in. */
static const char standard_header[] = "stdosl.h";

static const char predefined[] =
    "#define __ISOPHOTE_ASL__ 1\n#define OSL_VERSION_MAJOR 1\n#define OSL_VERSION_MINOR 13\n"
    "#define OSL_VERSION_PATCH 0\n#define OSL_VERSION 11300\n"
    "#define M_PI 3.1415926535897932\n#define M_PI_2 1.5707963267948966\n#define M_PI_4 "
    "0.7853981633974483\n"
    "#define M_2_PI 0.6366197723675813\n#define M_1_PI 0.3183098861837907\n"
    "#define M_2PI 6.2831853071795865\n#define M_4PI 12.566370614359173\n"
    "#define M_2_SQRTPI 1.1283791670955126\n#define M_E 2.7182818284590452\n#define M_LN2 "
    "0.6931471805599453\n"
    "#define M_LN10 2.3025850929940457\n#define M_LOG2E 1.4426950408889634\n"
    "#define M_LOG10E 0.4342944819032518\n#define M_SQRT2 1.4142135623730950\n"
    "#define M_SQRT1_2 0.7071067811865475\n";

struct asl_macro *asl_pp_macro(struct asl_pp *pp, const char *name, size_t len)
{
    for (struct asl_macro *m = pp->macros[hash_fnv(name, len) % PP_BUCKETS]; m; m = m->next)
        if (m->defined && m->len == len && memcmp(m->name, name, len) == 0)
            return m;
    return NULL;
}

bool asl_pp_is(const struct asl_token *t, const char *word)
{
    return t->kind == TOK_NAME && strlen(word) == t->len && memcmp(t->text, word, t->len) == 0;
}

void asl_pp_push(struct asl_pp *pp, struct asl_tokens *list, const struct asl_token *t)
{
    list->t = asl_grow(pp->c, list->t, list->count, &list->cap, list->count + 1, sizeof *t);
    list->t[list->count++] = *t;
}

/* The rest of the directive's line. */
static void read_line(struct asl_pp *pp, struct asl_tokens *line)
{
    line->count = 0;
    for (;;) {
        struct asl_token t;
        asl_lex_next(&pp->file->lx, &t);
        if (t.kind == TOK_NEWLINE || t.kind == TOK_END)
            return;
        t.start = false;
        asl_pp_push(pp, line, &t);
    }
}

static bool same_tokens(const struct asl_token *a, const struct asl_token *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (a[i].kind != b[i].kind || a[i].len != b[i].len ||
            memcmp(a[i].text, b[i].text, a[i].len) != 0)
            return false;
    return true;
}

/* One parameter of a macro; false: an error was said. */
static bool define_param(struct asl_compile *c, struct asl_macro *m, const struct asl_token *t,
                         size_t *cap)
{
    if (t->kind == TOK_ELLIPSIS) {
        m->variadic = true;
        return true;
    }
    if (t->kind != TOK_NAME) {
        asl_error(c, t->at, NULL, "expected the name of a macro parameter, found '%.*s'",
                  (int)t->len, t->text);
        return false;
    }
    for (size_t k = 0; k < m->param_count; k++)
        if (m->params[k].len == t->len && memcmp(m->params[k].text, t->text, t->len) == 0)
            asl_error(c, t->at, NULL, "macro parameter '%.*s' stands twice", (int)t->len, t->text);
    m->params = asl_grow(c, m->params, m->param_count, cap, m->param_count + 1, sizeof *t);
    m->params[m->param_count++] = *t;
    return true;
}

/* The parameters of a macro from token *i on, behind its '(', past the ')'; false: an error was
 * said. */
static bool define_params(struct asl_compile *c, struct asl_macro *m, const struct asl_tokens *line,
                          size_t *i)
{
    size_t cap = 0;
    while (*i < line->count) {
        const struct asl_token *t = &line->t[(*i)++];
        if (t->kind == TOK_RPAREN && m->param_count == 0 && !m->variadic)
            return true;
        if (!define_param(c, m, t, &cap))
            return false;
        if (*i >= line->count)
            break;
        t = &line->t[(*i)++];
        if (t->kind == TOK_RPAREN)
            return true;
        if (t->kind != TOK_COMMA || m->variadic) {
            asl_error(c, t->at, NULL, "expected ')' after the macro's parameters, found '%.*s'",
                      (int)t->len, t->text);
            return false;
        }
    }
    asl_error(c, m->at, NULL, "the parameters of macro '%s' are not closed by ')'", m->name);
    return false;
}

/* Puts the macro in the place of one of its name. */
static void macro_keep(struct asl_pp *pp, struct asl_macro *m)
{
    struct asl_macro *old = asl_pp_macro(pp, m->name, m->len);
    if (old) {
        if (old->function != m->function || old->param_count != m->param_count ||
            old->variadic != m->variadic || old->body_count != m->body_count ||
            !same_tokens(old->params, m->params, m->param_count) ||
            !same_tokens(old->body, m->body, m->body_count)) {
            asl_warn(pp->c, m->at, "#undef it first", "macro '%s' is defined anew, differently",
                     m->name);
            if (old->at.src)
                asl_note(pp->c, old->at, "it was defined here");
        }
        old->defined = false;
    }
    struct asl_macro **bucket = &pp->macros[hash_fnv(m->name, m->len) % PP_BUCKETS];
    m->next = *bucket;
    *bucket = m;
}

static void define(struct asl_pp *pp, struct asl_loc at, const struct asl_tokens *line)
{
    struct asl_compile *c = pp->c;
    if (line->count == 0 || line->t[0].kind != TOK_NAME) {
        asl_error(c, line->count ? line->t[0].at : at, "write #define NAME text",
                  "#define needs a name");
        return;
    }
    const struct asl_token *name = &line->t[0];
    if (asl_pp_is(name, "defined") || asl_pp_is(name, "__VA_ARGS__")) {
        asl_error(c, name->at, NULL, "'%.*s' cannot be a macro", (int)name->len, name->text);
        return;
    }
    struct asl_macro *m = ASL_NEW(c, struct asl_macro);
    m->name = asl_strndup(c, name->text, name->len);
    m->len = name->len;
    m->at = name->at;
    m->defined = true;
    size_t i = 1;
    if (i < line->count && line->t[i].kind == TOK_LPAREN && !line->t[i].space) {
        m->function = true;
        i++;
        if (!define_params(c, m, line, &i))
            return;
    }
    m->body_count = line->count - i;
    m->body = ASL_ARRAY(c, struct asl_token, m->body_count + 1);
    if (m->body_count)
        memcpy(m->body, line->t + i, m->body_count * sizeof *m->body);
    for (size_t k = 0; k < m->body_count; k++) {
        if (m->body[k].kind == TOK_HASHHASH && (k == 0 || k + 1 == m->body_count)) {
            asl_error(c, m->body[k].at, NULL,
                      "## joins two tokens: it cannot stand at an end of a macro");
            return;
        }
    }
    macro_keep(pp, m);
}

static void file_push(struct asl_pp *pp, const struct asl_source *src, struct asl_loc at)
{
    if (pp->depth >= 200) {
        asl_error(pp->c, at, "does the file include itself? guard it with #pragma once",
                  "#include nests deeper than 200 files");
        pp->give_up = true;
        return;
    }
    struct asl_pp_file *f = ASL_NEW(pp->c, struct asl_pp_file);
    f->up = pp->file;
    f->conditions = pp->conditions;
    asl_lex_open(&f->lx, pp->c, src);
    pp->file = f;
    pp->depth++;
}

static void note_included(struct asl_compile *c, const char *path, bool system)
{
    struct asl_diags *d = c->diags;
    for (const struct asl_included *i = d->included; i; i = i->next)
        if (strcmp(i->path, path) == 0)
            return;
    struct asl_included *i = ASL_NEW(c, struct asl_included);
    i->path = path;
    i->system = system;
    if (d->included)
        d->included_last->next = i;
    else
        d->included = i;
    d->included_last = i;
}

static bool file_open(struct asl_pp *pp, const char *path, bool system, struct asl_loc at)
{
    char *data;
    size_t size;
    struct error err = {0};
    enum status s = input_file_read(pp->c->arena, path, (size_t)256 << 20, &data, &size, &err);
    if (s == STATUS_MISSING || s == STATUS_IO)
        return false;
    if (s != STATUS_OK)
        asl_fail(pp->c, s, at, "%s: %s", path, err.msg);
    const char *name = asl_strndup(pp->c, path, strlen(path));
    note_included(pp->c, name, system);
    for (size_t i = 0; i < pp->once_count; i++)
        if (strcmp(pp->once[i], path) == 0)
            return true;
    file_push(pp, asl_source_new(pp->c, name, data, size), at);
    return true;
}

/* What a system's header includes is the system's. */
static bool is_system(const struct asl_compile *c, const char *path)
{
    for (const struct asl_included *i = c->diags->included; i; i = i->next)
        if (strcmp(i->path, path) == 0)
            return i->system;
    return false;
}

static void include(struct asl_pp *pp, struct asl_loc at, struct asl_tokens *line)
{
    struct asl_compile *c = pp->c;
    struct asl_tokens expanded = {0};
    if (line->count && line->t[0].kind == TOK_NAME) {
        asl_pp_expand_list(pp, line->t, line->count, &expanded);
        line = &expanded;
    }
    const char *name = NULL;
    bool quoted = false;
    if (line->count && line->t[0].kind == TOK_STRING && line->t[0].len > 2) {
        name = asl_strndup(c, line->t[0].text + 1, line->t[0].len - 2);
        quoted = true;
    } else if (line->count && line->t[0].kind == TOK_LT) {
        struct text s = {0};
        size_t i = 1;
        for (; i < line->count && line->t[i].kind != TOK_GT; i++) {
            if (i > 1 && line->t[i].space)
                text_puts(&s, " ");
            text_append(&s, line->t[i].text, line->t[i].len);
        }
        if (i < line->count && s.len)
            name = asl_strndup(c, s.data, s.len);
        text_free(&s);
    }
    if (!name) {
        asl_error(c, at, NULL, "expected #include \"file\" or #include <file>");
        return;
    }
    const char *last = strrchr(name, '/');
    last = last ? last + 1 : name;
    if (strcmp(last, standard_header) == 0 ||
        (c->procedure && (strcmp(last, "procedure.h") == 0 || strcmp(name, "math.h") == 0)))
        return;
    bool system = !quoted || is_system(c, pp->file->lx.src->name);
    if (quoted || name[0] == '/') {
        const char *path = path_beside(c->arena, pp->file->lx.src->name, name);
        if (path && file_open(pp, path, system, at))
            return;
    }
    for (const char *const *d = c->opt->include_dirs; d && *d; d++)
        if (file_open(pp, asl_sprintf(c, "%s/%s", *d, name), system, at))
            return;
    const char *ours = asl_sprintf(c, "shaders/headers/%s", name);
    struct error err = {.msg = "-I FOLDER names a folder to look in"};
    if (data_path(c->arena, ours, &ours, &err) == STATUS_OK && file_open(pp, ours, true, at))
        return;
    asl_error(c, line->t[0].at, asl_sprintf(c, "%s", err.msg), "cannot open the include file '%s'",
              name);
    pp->give_up = c->diags->errors > 1000;
}

static void line_directive(struct asl_pp *pp, struct asl_loc at, const struct asl_tokens *line)
{
    struct asl_tokens t = {0};
    asl_pp_expand_list(pp, line->t, line->count, &t);
    long number = 0;
    bool ok = t.count >= 1 && t.t[0].kind == TOK_NUMBER;
    for (size_t i = 0; ok && i < t.t[0].len; i++) {
        char ch = t.t[0].text[i];
        ok = ch >= '0' && ch <= '9' && number < 200000000;
        number = number * 10 + (ch - '0');
    }
    if (!ok || number <= 0 || (t.count > 1 && t.t[1].kind != TOK_STRING)) {
        asl_error(pp->c, at, NULL, "expected #line NUMBER or #line NUMBER \"file\"");
        return;
    }
    struct asl_lexer *lx = &pp->file->lx;
    struct asl_source *s = ASL_NEW(pp->c, struct asl_source);
    *s = *lx->src;
    s->base = lx->src->base ? lx->src->base : lx->src;
    s->line_delta = (int64_t)number - (int64_t)lx->line;
    if (t.count > 1)
        s->name = asl_string_value(pp->c, &t.t[1]);
    lx->src = s;
}

static void condition_push(struct asl_pp *pp, struct asl_loc at, bool value)
{
    struct asl_condition *k = ASL_NEW(pp->c, struct asl_condition);
    k->at = at;
    k->outer = pp->conditions;
    k->outer_active = !pp->conditions || pp->conditions->active;
    k->active = k->outer_active && value;
    k->taken = k->active;
    pp->conditions = k;
}

static bool condition_value(struct asl_pp *pp, struct asl_loc at, const struct asl_tokens *line)
{
    struct asl_tokens resolved = {0}, expanded = {0};
    for (size_t i = 0; i < line->count; i++) {
        struct asl_token t = line->t[i];
        if (asl_pp_is(&t, "defined")) {
            size_t k = i + 1;
            bool paren = k < line->count && line->t[k].kind == TOK_LPAREN;
            k += paren;
            if (k >= line->count || line->t[k].kind != TOK_NAME ||
                (paren && (k + 1 >= line->count || line->t[k + 1].kind != TOK_RPAREN))) {
                asl_error(pp->c, t.at, NULL, "expected defined NAME or defined(NAME)");
                return false;
            }
            t.kind = TOK_NUMBER;
            t.text = asl_pp_macro(pp, line->t[k].text, line->t[k].len) ? "1" : "0";
            t.len = 1;
            i = k + paren;
        }
        asl_pp_push(pp, &resolved, &t);
    }
    asl_pp_expand_list(pp, resolved.t, resolved.count, &expanded);
    return asl_pp_condition(pp->c, expanded.t, expanded.count, at);
}

static const char *line_text(struct asl_pp *pp, const struct asl_tokens *line)
{
    struct text s = {0};
    for (size_t i = 0; i < line->count; i++) {
        if (i && line->t[i].space)
            text_puts(&s, " ");
        text_append(&s, line->t[i].text, line->t[i].len);
    }
    const char *r = asl_strndup(pp->c, s.data ? s.data : "", s.len);
    text_free(&s);
    return r;
}

/* What #pragma error "text" says: the text, or the line as it stands. */
static const char *pragma_text(struct asl_pp *pp, const struct asl_tokens *line)
{
    const struct asl_token *t = line->count == 2 ? &line->t[1] : NULL;
    return t && t->kind == TOK_STRING && t->len >= 2 ? asl_strndup(pp->c, t->text + 1, t->len - 2)
                                                     : line_text(pp, line);
}

/* Directives that conditions are made of; true when `name` was one of them. */
static bool conditional(struct asl_pp *pp, const struct asl_token *name, struct asl_tokens *line)
{
    struct asl_compile *c = pp->c;
    struct asl_condition *k = pp->conditions;
    bool own = k && k != pp->file->conditions; /* opened in this file */
    if (asl_pp_is(name, "ifdef") || asl_pp_is(name, "ifndef")) {
        bool active = !k || k->active;
        if (active && (line->count == 0 || line->t[0].kind != TOK_NAME))
            asl_error(c, name->at, NULL, "#%.*s needs a name", (int)name->len, name->text);
        bool is = line->count && line->t[0].kind == TOK_NAME &&
                  asl_pp_macro(pp, line->t[0].text, line->t[0].len);
        condition_push(pp, name->at, is == asl_pp_is(name, "ifdef"));
        return true;
    }
    if (asl_pp_is(name, "if")) {
        condition_push(pp, name->at, (!k || k->active) && condition_value(pp, name->at, line));
        return true;
    }
    if (asl_pp_is(name, "elif") || asl_pp_is(name, "else")) {
        if (!own) {
            asl_error(c, name->at, NULL, "#%.*s without #if", (int)name->len, name->text);
            return true;
        }
        if (k->else_seen) {
            asl_error(c, name->at, NULL, "#%.*s after #else", (int)name->len, name->text);
            return true;
        }
        bool is_else = asl_pp_is(name, "else");
        k->else_seen = is_else;
        k->active =
            k->outer_active && !k->taken && (is_else || condition_value(pp, name->at, line));
        k->taken = k->taken || k->active;
        return true;
    }
    if (asl_pp_is(name, "endif")) {
        if (!own)
            asl_error(c, name->at, NULL, "#endif without #if");
        else
            pp->conditions = k->outer;
        return true;
    }
    return false;
}

static void directive(struct asl_pp *pp, struct asl_loc at)
{
    struct asl_compile *c = pp->c;
    struct asl_tokens line = {0};
    bool active = !pp->conditions || pp->conditions->active;
    read_line(pp, &line);
    if (line.count == 0)
        return;
    struct asl_token name = line.t[0];
    struct asl_tokens rest = {line.t + 1, line.count - 1, line.count - 1};
    if (conditional(pp, &name, &rest) || !active)
        return;
    if (asl_pp_is(&name, "define")) {
        define(pp, at, &rest);
    } else if (asl_pp_is(&name, "undef")) {
        struct asl_macro *m = NULL;
        if (rest.count == 0 || rest.t[0].kind != TOK_NAME)
            asl_error(c, name.at, NULL, "#undef needs a name");
        else
            m = asl_pp_macro(pp, rest.t[0].text, rest.t[0].len);
        if (m)
            m->defined = false;
    } else if (asl_pp_is(&name, "include")) {
        include(pp, name.at, &rest);
    } else if (asl_pp_is(&name, "line")) {
        line_directive(pp, name.at, &rest);
    } else if (asl_pp_is(&name, "error")) {
        asl_error(c, name.at, NULL, "#error %s", line_text(pp, &rest));
    } else if (asl_pp_is(&name, "warning")) {
        asl_warn(c, name.at, NULL, "#warning %s", line_text(pp, &rest));
    } else if (asl_pp_is(&name, "pragma")) {
        if (rest.count && asl_pp_is(&rest.t[0], "once")) {
            pp->once = asl_grow(c, pp->once, pp->once_count, &pp->once_cap, pp->once_count + 1,
                                sizeof *pp->once);
            pp->once[pp->once_count++] = pp->file->lx.src->name;
        } else if (rest.count && asl_pp_is(&rest.t[0], "error")) {
            asl_error(c, name.at, NULL, "%s", pragma_text(pp, &rest));
        } else if (rest.count && asl_pp_is(&rest.t[0], "warning")) {
            asl_warn(c, name.at, NULL, "%s", pragma_text(pp, &rest));
        } else if (rest.count > 1 && asl_pp_is(&rest.t[0], "osl") &&
                   asl_pp_is(&rest.t[1], "nowarn")) {
            asl_warn_off(c, name.at);
        } else if (c->opt->warn_all && !(rest.count && asl_pp_is(&rest.t[0], "osl"))) {
            asl_warn(c, name.at, NULL, "this #pragma is unknown and does nothing");
        }
    } else {
        asl_error(c, name.at, NULL, "'#%.*s' is no directive", (int)name.len, name.text);
    }
}

/* Skips what a false condition covers; ends at a directive or at the end of the file. */
static void skip_group(struct asl_pp *pp)
{
    struct asl_lexer *lx = &pp->file->lx;
    lx->skipping = true;
    while (pp->conditions && !pp->conditions->active) {
        struct asl_token t;
        asl_lex_next(lx, &t);
        if (t.kind == TOK_END)
            break;
        if (t.start && t.kind == TOK_HASH)
            directive(pp, t.at);
    }
    lx->skipping = false;
}

/* The next token of the file; directives are obeyed on the way. END at the end of everything. */
void asl_pp_read(struct asl_pp *pp, struct asl_token *t)
{
    for (;;) {
        if (pp->pushed_back) {
            *t = pp->back;
            pp->pushed_back = false;
            return;
        }
        if (pp->conditions && !pp->conditions->active)
            skip_group(pp);
        asl_lex_next(&pp->file->lx, t);
        if (t->kind == TOK_NEWLINE)
            continue;
        if (t->kind == TOK_HASH && t->start) {
            directive(pp, t->at);
            if (pp->give_up) {
                t->kind = TOK_END;
                return;
            }
            continue;
        }
        if (t->kind != TOK_END)
            return;
        while (pp->conditions && pp->conditions != pp->file->conditions) {
            asl_error(pp->c, pp->conditions->at, "end it with #endif",
                      "this condition does not end");
            pp->conditions = pp->conditions->outer;
        }
        if (!pp->file->up)
            return;
        pp->file = pp->file->up;
        pp->depth--;
    }
}

static void run_text(struct asl_pp *pp, const char *name, const char *text)
{
    struct asl_tokens ignored = {0};
    file_push(pp, asl_source_new(pp->c, name, text, strlen(text)), (struct asl_loc){0});
    struct asl_pp_file *up = pp->file->up;
    pp->file->up = NULL;
    asl_pp_expand(pp, &ignored);
    pp->file = up;
    pp->depth--;
}

void asl_preprocess_file(struct asl_compile *c, const struct asl_source *src,
                         struct asl_tokens *out)
{
    struct asl_pp *pp = ASL_NEW(c, struct asl_pp);
    pp->c = c;
    run_text(pp, "<built in>", predefined);
    for (const char *const *d = c->opt->defines; d && *d; d++) {
        const char *eq = strchr(*d, '=');
        char *text = eq ? asl_sprintf(c, "#define %.*s %s\n", (int)(eq - *d), *d, eq + 1)
                        : asl_sprintf(c, "#define %s 1\n", *d);
        run_text(pp, "<command line>", text);
    }
    file_push(pp, src, (struct asl_loc){0});
    if (c->opt->header) {
        const char *text = asl_sprintf(c, "#include \"%s\"\n", c->opt->header);
        file_push(pp, asl_source_new(c, "<command line>", text, strlen(text)), (struct asl_loc){0});
    }
    asl_pp_expand(pp, out);
}
