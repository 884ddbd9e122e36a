/* SPDX-License-Identifier: Apache-2.0 */
/* A lexer of C, and rules on its tokens. What a rule makes need not compile: the compiler says. */
#include "edits.h"

#include <ctype.h>
#include <string.h>

enum token_kind { TOKEN_NAME, TOKEN_NUMBER, TOKEN_MARK };

struct token {
    enum token_kind kind;
    size_t at, length;
    const char *file;
    uint32_t line;
    uint32_t region;   /* another one behind each #if, #else and #endif */
    uint32_t partner;  /* of a bracket: the other one's index, else 0 */
    uint32_t function; /* inside a function's braces: its name's index + 1, else 0 */
};

struct mutation {
    struct arena *arena;
    const char *text;
    struct token *tokens;
    size_t count;
    struct edit *edits;
    size_t edit_count, edit_room;
    const char *function; /* that the rules look at */
    bool failed;
};

/* ---- tokens --------------------------------------------------------------------------------- */

/* Longest first, for each beginning. */
static const char *const marks[] = {"<<=", ">>=", "...", "->", "++", "--", "<<", ">>",
                                    "<=",  ">=",  "==",  "!=", "&&", "||", "+=", "-=",
                                    "*=",  "/=",  "%=",  "&=", "|=", "^=", "##"};

static size_t mark_length(const char *p)
{
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        if (strncmp(p, marks[i], strlen(marks[i])) == 0)
            return strlen(marks[i]);
    return 1;
}

static size_t word_length(const char *p)
{
    size_t n = 0;
    while (isalnum((unsigned char)p[n]) || p[n] == '_')
        n++;
    return n;
}

static size_t number_length(const char *p)
{
    size_t n = 0;
    bool hex = p[0] == '0' && (p[1] == 'x' || p[1] == 'X');
    while (isalnum((unsigned char)p[n]) || p[n] == '.' ||
           ((p[n] == '+' || p[n] == '-') && n && strchr(hex ? "pP" : "eE", p[n - 1])))
        n++;
    return n;
}

static size_t quoted_length(const char *p)
{
    size_t n = 1;
    while (p[n] && p[n] != p[0])
        n += p[n] == '\\' && p[n + 1] ? 2 : 1;
    return p[n] ? n + 1 : n;
}

static size_t comment_length(const char *p)
{
    const char *end = p[1] == '*' ? strstr(p + 2, "*/") : strchr(p, '\n');
    return end ? (size_t)(end - p) + (p[1] == '*' ? 2 : 0) : strlen(p);
}

/* A directive with its continued lines, without its last end of line. */
static size_t directive_length(const char *p)
{
    size_t n = 0;
    while (p[n] && (p[n] != '\n' || (n && p[n - 1] == '\\'))) {
        if (p[n] == '/' && p[n + 1] == '*')
            n += comment_length(p + n);
        else
            n++;
    }
    return n;
}

static uint32_t lines_in(const char *p, size_t n)
{
    uint32_t lines = 0;
    for (size_t i = 0; i < n; i++)
        lines += p[i] == '\n';
    return lines;
}

/* `#line 12 "trace/instance.h"`: the place of the next line. */
static void follow_line(struct arena *a, const char *p, size_t n, uint32_t *line, const char **file)
{
    const char *name = memchr(p, '"', n);
    if (n < 6 || strncmp(p, "#line ", 6) != 0 || !name)
        return;
    const char *end = memchr(name + 1, '"', n - (size_t)(name + 1 - p));
    uint32_t number = 0;
    for (const char *digit = p + 6; isdigit((unsigned char)*digit); digit++)
        number = number * 10 + (uint32_t)(*digit - '0');
    *line = number - 1; /* its own end of line is counted */
    if (end)
        *file = arena_printf(a, "%.*s", (int)(end - name - 1), name + 1);
}

/* Does the directive begin or end a part of the text that a compiler may leave out? */
static bool is_conditional(const char *p)
{
    p += 1 + strspn(p + 1, " \t");
    return strncmp(p, "if", 2) == 0 || strncmp(p, "el", 2) == 0 || strncmp(p, "endif", 5) == 0;
}

static void scan(struct mutation *m)
{
    const char *t = m->text, *file = "";
    uint32_t line = 1, region = 0;
    for (size_t at = 0; t[at];) {
        const char *p = t + at;
        struct token k = {
            .kind = TOKEN_MARK, .at = at, .file = file, .line = line, .region = region};
        if (isspace((unsigned char)*p)) {
            line += *p == '\n';
            at++;
            continue;
        }
        if (*p == '/' && (p[1] == '*' || p[1] == '/')) {
            k.length = comment_length(p);
        } else if (*p == '#') {
            k.length = directive_length(p);
        } else if (*p == '"' || *p == '\'') {
            k.length = quoted_length(p);
        } else if (isdigit((unsigned char)*p) || (*p == '.' && isdigit((unsigned char)p[1]))) {
            k.kind = TOKEN_NUMBER;
            k.length = number_length(p);
        } else if (isalpha((unsigned char)*p) || *p == '_') {
            k.kind = TOKEN_NAME;
            k.length = word_length(p);
        } else {
            k.length = mark_length(p);
        }
        bool blank = (*p == '/' && (p[1] == '*' || p[1] == '/')) || *p == '#';
        line += lines_in(p, k.length);
        region += *p == '#' && is_conditional(p);
        if (*p == '#')
            follow_line(m->arena, p, k.length, &line, &file);
        if (!blank)
            m->tokens[m->count++] = k;
        at += k.length;
    }
}

static bool is(const struct mutation *m, size_t i, const char *what)
{
    const struct token *k = &m->tokens[i];
    return i < m->count && k->length == strlen(what) &&
           memcmp(m->text + k->at, what, k->length) == 0;
}

static bool is_one_of(const struct mutation *m, size_t i, const char *const *list)
{
    for (; *list; list++)
        if (is(m, i, *list))
            return true;
    return false;
}

/* Does the name before this bracket belong to a type? "struct A_N(axis) {" is no function. */
static bool names_type(const struct mutation *m, size_t bracket)
{
    return bracket >= 2 && (is(m, bracket - 2, "struct") || is(m, bracket - 2, "union") ||
                            is(m, bracket - 2, "enum"));
}

/* Partners of brackets, and what stands in functions: in braces that follow a ')' at the top. */
static bool pair(struct mutation *m)
{
    uint32_t *open = ARENA_ARRAY(m->arena, uint32_t, m->count + 1);
    size_t depth = 0, function = 0; /* the depth of its brace + 1, 0: in none */
    uint32_t name = 0;
    if (!open)
        return false;
    for (size_t i = 0; i < m->count; i++) {
        if (is(m, i, "(") || is(m, i, "[") || is(m, i, "{")) {
            if (!function && depth == 0 && is(m, i, "{") && i && is(m, i - 1, ")") &&
                m->tokens[i - 1].partner && !names_type(m, m->tokens[i - 1].partner)) {
                function = depth + 1;
                name = m->tokens[i - 1].partner;
                /* "A_N(fade)(AN t)": the name is what the macro is given */
                if (name > 1 && is(m, name - 1, ")") && m->tokens[name - 1].partner)
                    name = m->tokens[name - 1].partner + 2;
            }
            open[depth++] = (uint32_t)i;
        } else if ((is(m, i, ")") || is(m, i, "]") || is(m, i, "}")) && depth) {
            depth--;
            m->tokens[i].partner = open[depth];
            m->tokens[open[depth]].partner = (uint32_t)i;
            if (function == depth + 1)
                function = 0;
        }
        m->tokens[i].function = function ? name : 0;
    }
    return true;
}

/* ---- edits ---------------------------------------------------------------------------------- */

/* Tokens [first, last] become `now`, which lives as long as the arena. */
static void edit_add(struct mutation *m, const char *rule, size_t first, size_t last,
                     const char *now)
{
    const struct token *a = &m->tokens[first], *b = &m->tokens[last];
    if (m->edit_count == m->edit_room) {
        size_t room = m->edit_room ? 2 * m->edit_room : 1024;
        struct edit *more = ARENA_ARRAY(m->arena, struct edit, room);
        if (more && m->edit_count)
            memcpy(more, m->edits, m->edit_count * sizeof *more);
        m->edits = more;
        m->edit_room = room;
    }
    if (!m->edits || !now) {
        m->failed = true;
        m->edit_room = m->edit_count = 0;
        return;
    }
    m->edits[m->edit_count++] = (struct edit){.rule = rule,
                                              .offset = a->at,
                                              .length = b->at + b->length - a->at,
                                              .now = now,
                                              .file = a->file,
                                              .line = a->line,
                                              .function = m->function};
}

static const char *tokens_text(struct mutation *m, size_t first, size_t last, size_t *length)
{
    const struct token *a = &m->tokens[first], *b = &m->tokens[last];
    *length = b->at + b->length - a->at;
    return m->text + a->at;
}

static const char *const words_of_statements[] = {
    "if",   "for",   "while", "switch", "return",   "case",   "sizeof", "do",
    "else", "break", "goto",  "const",  "continue", "struct", "enum",   NULL};

/* Does an operand end with this token? */
static bool ends_operand(const struct mutation *m, size_t i)
{
    const struct token *k = &m->tokens[i];
    if (k->kind == TOKEN_NAME)
        return !is_one_of(m, i, words_of_statements);
    return k->kind == TOKEN_NUMBER || is(m, i, ")") || is(m, i, "]");
}

/* ---- rules ---------------------------------------------------------------------------------- */

static const struct swap {
    const char *rule, *was, *now;
} swaps[] = {{"comparison", "<", "<="},   {"comparison", "<", ">="},  {"comparison", "<=", "<"},
             {"comparison", "<=", ">"},   {"comparison", ">", ">="},  {"comparison", ">", "<="},
             {"comparison", ">=", ">"},   {"comparison", ">=", "<"},  {"comparison", "==", "!="},
             {"comparison", "!=", "=="},  {"condition", "&&", "||"},  {"condition", "||", "&&"},
             {"operator", "+", "-"},      {"operator", "-", "+"},     {"operator", "*", "/"},
             {"operator", "/", "*"},      {"operator", "%", "/"},     {"operator", "<<", ">>"},
             {"operator", ">>", "<<"},    {"operator", "&", "|"},     {"operator", "|", "&"},
             {"operator", "^", "|"},      {"assignment", "+=", "-="}, {"assignment", "-=", "+="},
             {"assignment", "*=", "/="},  {"assignment", "/=", "*="}, {"assignment", "|=", "&="},
             {"assignment", "&=", "|="},  {"assignment", "^=", "|="}, {"assignment", "<<=", ">>="},
             {"assignment", ">>=", "<<="}};

static const struct swap names[] = {
    {"function", "k_min", "k_max"},   {"function", "k_max", "k_min"},
    {"function", "v3_add", "v3_sub"}, {"function", "v3_sub", "v3_add"},
    {"function", "v3_mul", "v3_add"}, {"function", "v3_cross", "v3_mul"},
    {"function", "k_sin", "k_cos"},   {"function", "k_cos", "k_sin"},
    {"function", "k_floor", ""},      {"function", "k_fabs", ""},
    {"function", "k_sqrt", ""},       {"function", "v3_normalize", ""},
    {"function", "v3_neg", ""},       {"function", "k_clamp01", ""}};

/* Binary operators, and names of functions that have a near relation; "": the argument alone. */
static void rule_swap(struct mutation *m, size_t i)
{
    if (m->tokens[i].kind == TOKEN_MARK && i && ends_operand(m, i - 1))
        for (size_t k = 0; k < sizeof swaps / sizeof swaps[0]; k++)
            if (is(m, i, swaps[k].was))
                edit_add(m, swaps[k].rule, i, i, swaps[k].now);
    if (m->tokens[i].kind == TOKEN_NAME && is(m, i + 1, "("))
        for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
            if (is(m, i, names[k].was))
                edit_add(m, names[k].rule, i, i, names[k].now);
}

/* -x, !x and ~x lose their sign; ++ and -- change places. */
static void rule_sign(struct mutation *m, size_t i)
{
    if ((is(m, i, "-") || is(m, i, "~")) && i && !ends_operand(m, i - 1))
        edit_add(m, "sign", i, i, "");
    else if (is(m, i, "!"))
        edit_add(m, "condition", i, i, "");
    else if (is(m, i, "++"))
        edit_add(m, "assignment", i, i, "--");
    else if (is(m, i, "--"))
        edit_add(m, "assignment", i, i, "++");
}

/* Numbers: 0 and 1 change places, a float grows by a hundredth, an integer by one. */
static void rule_constant(struct mutation *m, size_t i)
{
    size_t n;
    const char *t = tokens_text(m, i, i, &n);
    bool hex = n > 1 && (t[1] == 'x' || t[1] == 'X');
    bool real = !hex && (memchr(t, '.', n) || memchr(t, 'e', n) || t[n - 1] == 'f');
    if (m->tokens[i].kind != TOKEN_NUMBER || (i && is(m, i - 1, "case")))
        return;
    if (is(m, i, "0.0f"))
        edit_add(m, "constant", i, i, "1.0f");
    else if (is(m, i, "1.0f"))
        edit_add(m, "constant", i, i, "0.0f");
    else if (is(m, i, "0") || is(m, i, "0u"))
        edit_add(m, "constant", i, i, n == 1 ? "1" : "1u");
    else if (is(m, i, "1") || is(m, i, "1u"))
        edit_add(m, "constant", i, i, n == 1 ? "0" : "0u");
    else
        edit_add(m, "constant", i, i,
                 arena_printf(m->arena, real ? "(%.*s * 1.01f)" : "(%.*s + 1)", (int)n, t));
}

/* a[i] reads the next one. A declaration's [3] stays. */
static void rule_index(struct mutation *m, size_t i)
{
    size_t end = m->tokens[i].partner, n;
    if (!is(m, i, "[") || end <= i + 1 || i < 2 || !ends_operand(m, i - 1) ||
        m->tokens[i - 2].kind == TOKEN_NAME)
        return;
    const char *t = tokens_text(m, i + 1, end - 1, &n);
    edit_add(m, "index", i + 1, end - 1, arena_printf(m->arena, "(%.*s) + 1", (int)n, t));
}

static void rule_component(struct mutation *m, size_t i)
{
    static const char *const axes = "xyz";
    size_t n;
    if (!i || !is(m, i - 1, ".") || m->tokens[i].length != 1)
        return;
    const char *t = tokens_text(m, i, i, &n), *axis = strchr(axes, *t);
    if (axis)
        edit_add(m, "component", i, i, arena_printf(m->arena, "%c", axes[(axis - axes + 1) % 3]));
}

/* if (c), while (c): the other way round, and always. */
static void rule_condition(struct mutation *m, size_t i)
{
    size_t open = i + 1, n;
    if (!(is(m, i, "if") || is(m, i, "while")) || !is(m, open, "(") || !m->tokens[open].partner)
        return;
    size_t end = m->tokens[open].partner;
    const char *t = tokens_text(m, open, end, &n);
    edit_add(m, "condition", open, end, arena_printf(m->arena, "(!%.*s)", (int)n, t));
    if (is(m, i, "if"))
        edit_add(m, "condition", open, end, "(1)");
}

/* A factor or divisor that is one name or number falls away. */
static void rule_factor(struct mutation *m, size_t i)
{
    static const char *const goes_on[] = {"(", "[", ".", "->", "++", "--", "=", NULL};
    if (!(is(m, i, "*") || is(m, i, "/")) || !i || !ends_operand(m, i - 1) || i + 2 >= m->count ||
        m->tokens[i + 1].kind == TOKEN_MARK || is_one_of(m, i + 2, goes_on))
        return;
    edit_add(m, "factor", i, i + 1, "");
}

/* f(a, b, ...) with its first two arguments exchanged. */
static void rule_arguments(struct mutation *m, size_t i)
{
    size_t open = i + 1, comma[2] = {0}, commas = 0, na, nb;
    if (m->tokens[i].kind != TOKEN_NAME || !is(m, open, "(") || !m->tokens[open].partner ||
        is_one_of(m, i, words_of_statements))
        return;
    size_t end = m->tokens[open].partner;
    for (size_t k = open + 1; k < end && commas < 2; k++) {
        if (m->tokens[k].partner > k)
            k = m->tokens[k].partner;
        else if (is(m, k, ","))
            comma[commas++] = k;
    }
    if (!commas || comma[0] == open + 1)
        return;
    size_t last = (commas == 2 ? comma[1] : end) - 1;
    const char *a = tokens_text(m, open + 1, comma[0] - 1, &na);
    const char *b = tokens_text(m, comma[0] + 1, last, &nb);
    if (na == nb && memcmp(a, b, na) == 0)
        return;
    const char *callee = arena_strndup(m->arena, m->text + m->tokens[i].at, m->tokens[i].length);
    edit_add(m, "arguments", open + 1, last,
             callee ? arena_printf(m->arena, "%.*s, %.*s", (int)nb, b, (int)na, a) : NULL);
    if (!m->failed)
        m->edits[m->edit_count - 1].callee = callee;
}

/* A statement that assigns or calls, or ends a round of a loop, falls away. */
static void rule_statement(struct mutation *m, size_t i)
{
    static const char *const begin[] = {";", "{", "}", ")", "else", NULL};
    static const char *const second[] = {"=",  "+=", "-=", "*=", "/=", "|=",  "&=",  "^=", ".",
                                         "->", "[",  "(",  "++", "--", "<<=", ">>=", NULL};
    bool leaves = is(m, i, "break") || is(m, i, "continue");
    if (!i || m->tokens[i].kind != TOKEN_NAME || !is_one_of(m, i - 1, begin) ||
        (!leaves && (is_one_of(m, i, words_of_statements) || !is_one_of(m, i + 1, second))))
        return;
    size_t k = i;
    while (k < m->count && !is(m, k, ";")) {
        if (is(m, k, ")") || is(m, k, "{") || is(m, k, "}"))
            return; /* the third part of a for, or no statement at all */
        if (m->tokens[k].partner > k)
            k = m->tokens[k].partner;
        k++;
    }
    if (k < m->count)
        edit_add(m, "statement", i, k, ";");
}

enum status edits_list(struct arena *a, const char *text, struct edit **out, size_t *count,
                       struct error *err)
{
    static void (*const rules[])(struct mutation *, size_t) = {
        rule_swap,      rule_sign,   rule_constant,  rule_index,    rule_component,
        rule_condition, rule_factor, rule_arguments, rule_statement};
    struct mutation m = {.arena = a, .text = text};
    m.tokens = ARENA_ARRAY(a, struct token, strlen(text) + 1);
    if (!m.tokens)
        return error_msg(err, STATUS_MEMORY, "out of memory for the kernel's tokens");
    scan(&m);
    if (!pair(&m))
        return error_msg(err, STATUS_MEMORY, "out of memory for the kernel's brackets");
    uint32_t name = 0;
    for (size_t i = 0; i < m.count && !m.failed; i++) {
        const struct token *f = m.tokens[i].function ? &m.tokens[m.tokens[i].function - 1] : NULL;
        if (f && m.tokens[i].function != name)
            m.function = arena_printf(a, "%.*s", (int)f->length, text + f->at);
        name = m.tokens[i].function;
        for (size_t r = 0; m.tokens[i].function && r < sizeof rules / sizeof rules[0]; r++)
            rules[r](&m, i);
    }
    if (m.failed)
        return error_msg(err, STATUS_MEMORY, "out of memory for the mutants");
    *out = m.edits;
    *count = m.edit_count;
    return STATUS_OK;
}

/* ---- functions ------------------------------------------------------------------------------ */

enum { SMALL = 160 }; /* bytes of the body of a helper without a mark */

static bool is_helper(const char *file) { return strncmp(file, "math/", 5) == 0; }

enum status bodies_list(struct arena *a, const char *text, struct body **out, size_t *count,
                        struct error *err)
{
    struct mutation m = {.arena = a, .text = text};
    size_t n = 0;
    m.tokens = ARENA_ARRAY(a, struct token, strlen(text) + 1);
    if (!m.tokens)
        return error_msg(err, STATUS_MEMORY, "out of memory for the kernel's tokens");
    scan(&m);
    struct body *bodies = pair(&m) ? ARENA_ARRAY(a, struct body, m.count + 1) : NULL;
    if (!bodies)
        return error_msg(err, STATUS_MEMORY, "out of memory for the kernel's functions");
    for (size_t i = 0; i < m.count; i++) {
        const struct token *k = &m.tokens[i], *end = &m.tokens[k->partner];
        if (k->function && k->partner > i && (!i || !m.tokens[i - 1].function)) {
            const size_t length = end->at + 1 - k->at;
            bodies[n++] = (struct body){k->at, length, is_helper(k->file)};
            i = k->partner;
        }
    }
    *out = bodies;
    *count = n;
    return STATUS_OK;
}

static bool body_has(const struct body *b, size_t place)
{
    return place > b->at && place - b->at < b->length;
}

const struct body *edit_body(const struct body *bodies, size_t count, const struct edit *e)
{
    for (size_t i = 0; i < count; i++)
        if (body_has(&bodies[i], e->offset))
            return &bodies[i];
    return NULL;
}

/* ---- marks ---------------------------------------------------------------------------------- */

struct marking {
    const struct mutation *m;
    struct stretch *list;
    size_t count;
    uint32_t marks;
    uint32_t *outer; /* marks in force around the open blocks */
};

static void stretch_add(struct marking *k, size_t at, uint32_t mark, bool begins)
{
    k->list[k->count++] = (struct stretch){at, mark, begins};
}

/* Behind the token, in front of the next one; beside that where a compiler may leave out one of them. */
static uint32_t mark_add(struct marking *k, size_t behind)
{
    const struct token *t = &k->m->tokens[behind];
    const bool together = t[1].region == t->region;
    stretch_add(k, together ? t->at + t->length : t[1].at, k->marks, true);
    return k->marks++;
}

/* Braces of statements, and no initialiser's or struct's. */
static bool opens_block(const struct mutation *m, size_t i)
{
    static const char *const before[] = {")", ";", "{", "}", "else", "do", ":", NULL};
    if (!is(m, i, "{") || !is_one_of(m, i - 1, before))
        return false;
    for (size_t k = i + 1; k < m->tokens[i].partner; k++) {
        if (is(m, k, ";"))
            return true;
        if (m->tokens[k].partner > k && !is(m, k, "{"))
            k = m->tokens[k].partner;
    }
    return false;
}

/* Does a statement begin here that a mark may stand in front of? */
static bool begins_statement(const struct mutation *m, size_t i)
{
    static const char *const others[] = {"else", "case", "default", "}", NULL};
    return !is_one_of(m, i, others) && !(is(m, i, "while") && is(m, i - 1, "}"));
}

static bool has_goto(const struct mutation *m, size_t brace)
{
    for (size_t i = brace; i < m->tokens[brace].partner; i++)
        if (is(m, i, "goto"))
            return true;
    return false;
}

/* The statements of a function's blocks. What a bracket of another kind encloses runs with its
 * statement. */
static void mark_blocks(struct marking *k, size_t brace)
{
    const struct mutation *m = k->m;
    const size_t end = m->tokens[brace].partner;
    size_t depth = 0;
    uint32_t mark = MARK_NONE;
    for (size_t i = brace; i <= end; i++) {
        if (i == brace || opens_block(m, i)) {
            k->outer[depth++] = mark;
        } else if (is(m, i, "}")) {
            mark = k->outer[--depth];
            stretch_add(k, m->tokens[i].at + 1, mark, false);
        } else if (is(m, i, "case") || is(m, i, "default")) { /* looked at with the switch */
            stretch_add(k, m->tokens[i].at, mark = k->outer[depth - 1], false);
            while (i < end && !is(m, i, ":"))
                i++;
        } else if (m->tokens[i].partner > i) {
            i = m->tokens[i].partner;
            continue;
        } else if (!is(m, i, ";")) {
            continue;
        }
        if (i < end && begins_statement(m, i + 1))
            mark = mark_add(k, i);
    }
}

enum status marks_list(struct arena *a, const char *text, struct marks *out, struct error *err)
{
    struct mutation m = {.arena = a, .text = text};
    struct marking k = {.m = &m};
    m.tokens = ARENA_ARRAY(a, struct token, strlen(text) + 1);
    if (!m.tokens)
        return error_msg(err, STATUS_MEMORY, "out of memory for the kernel's tokens");
    scan(&m);
    if (pair(&m)) {
        k.list = ARENA_ARRAY(a, struct stretch, 2 * m.count + 1);
        k.outer = ARENA_ARRAY(a, uint32_t, m.count + 1);
    }
    if (!k.list || !k.outer)
        return error_msg(err, STATUS_MEMORY, "out of memory for the kernel's marks");
    for (size_t i = 0; i < m.count; i++) {
        const struct token *t = &m.tokens[i], *end = &m.tokens[t->partner];
        if (!t->function || t->partner <= i || (i && m.tokens[i - 1].function))
            continue;
        const bool helper = is_helper(t->file);
        if (!helper && !has_goto(&m, i))
            mark_blocks(&k, i);
        else if (!helper || end->at + 1 - t->at > SMALL)
            mark_add(&k, i);
        stretch_add(&k, end->at + 1, MARK_NONE, false);
        i = t->partner;
    }
    *out = (struct marks){k.list, k.count, k.marks};
    return STATUS_OK;
}

uint32_t marks_at(const struct marks *m, size_t place)
{
    size_t low = 0, high = m->count; /* stretches before `low` begin at the place or before it */
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (m->list[mid].at <= place)
            low = mid + 1;
        else
            high = mid;
    }
    return low ? m->list[low - 1].mark : MARK_NONE;
}

/* ---- texts ---------------------------------------------------------------------------------- */

/* A text that is made of another one. */
struct made {
    struct text text;
    const char *from;
    size_t at; /* bytes of it that were looked at */
};

static void made_keep(struct made *m, size_t end)
{
    text_append(&m->text, m->from + m->at, end - m->at);
    m->at = end;
}

static void made_declare(struct made *m, const struct body *b)
{
    made_keep(m, b->at);
    text_puts(&m->text, ";");
    m->at += b->length;
}

/* With what is left, in the arena; NULL when out of memory. */
static char *made_end(struct made *m, struct arena *a)
{
    text_puts(&m->text, m->from + m->at);
    char *all = m->text.failed ? NULL : arena_strndup(a, m->text.data, m->text.len);
    text_free(&m->text);
    return all;
}

char *edit_alone(struct arena *a, const char *text, const struct body *bodies, size_t count,
                 const struct edit *e, bool made)
{
    const size_t places[2] = {e->offset, e->twin};
    struct made m = {.from = text};
    for (size_t i = 0; i < count; i++) {
        const struct body *b = &bodies[i];
        size_t place = SIZE_MAX;
        for (int k = 0; k < 2; k++)
            if (body_has(b, places[k]))
                place = places[k];
        if (place == SIZE_MAX && !b->helper) {
            made_declare(&m, b);
        } else if (place != SIZE_MAX && made) {
            made_keep(&m, place);
            text_puts(&m.text, e->now);
            m.at += e->length;
        }
    }
    return made_end(&m, a);
}

char *text_behind(struct arena *a, const char *text, const struct body *bodies, size_t count,
                  size_t place)
{
    struct made m = {.from = text};
    for (size_t i = 0; i < count && bodies[i].at < place; i++)
        if (!bodies[i].helper)
            made_declare(&m, &bodies[i]);
    return made_end(&m, a);
}

/* Tokens [first, end) of a parameter that is a value with a name. */
static bool is_value(const struct mutation *m, size_t first, size_t end)
{
    if (end < first + 2 || m->tokens[end - 1].kind != TOKEN_NAME)
        return false;
    for (size_t i = first; i < end; i++)
        if (m->tokens[i].kind != TOKEN_NAME) /* a pointer, an array, a call of a macro */
            return false;
    return true;
}

/* One more function, which calls that whose '{' is token `brace`, of this name. */
static void put_two_calls(struct text *t, struct mutation *m, size_t brace, const char *callee,
                          enum second_call second)
{
    enum { MOST = 8 };
    const size_t close = brace - 1, open = m->tokens[close].partner;
    size_t first[MOST], end[MOST], n = 0, length[2], all;
    if (second == SECOND_CALL_NONE || !brace || !is(m, close, ")") || !open ||
        !is(m, open - 1, callee))
        return;
    for (size_t i = open + 1; i < close && n < MOST; i++) {
        first[n] = i;
        while (i < close && !is(m, i, ","))
            i++;
        end[n] = i;
        if (!is_value(m, first[n], end[n]) || ++n == MOST)
            return;
    }
    if (n < 2)
        return;
    const char *types[2];
    for (size_t i = 0; i < 2; i++)
        types[i] = tokens_text(m, first[i], end[i] - 2, &length[i]);
    if (length[0] != length[1] || memcmp(types[0], types[1], length[0]) != 0)
        return;
    const char *parameters = tokens_text(m, open + 1, close - 1, &all);
    text_printf(t, "\n__attribute__((used)) void isophote_pair(%.*s, void *isophote_to)\n{\n",
                (int)all, parameters);
    for (int call = 0; call < 2; call++) {
        const bool exchanged = call && second == SECOND_CALL_EXCHANGED;
        struct text made = {0};
        text_printf(&made, "%s(", callee);
        for (size_t i = 0; i < n; i++) {
            const struct token *k = &m->tokens[end[exchanged && i < 2 ? 1 - i : i] - 1];
            text_printf(&made, "%s%.*s", i ? ", " : "", (int)k->length, m->text + k->at);
        }
        text_puts(&made, ")");
        text_printf(t, "    ((__typeof__(%s) *)isophote_to)[%d] = %s;\n",
                    made.failed ? "" : made.data, call, made.failed ? "" : made.data);
        t->failed = t->failed || made.failed;
        text_free(&made);
    }
    text_puts(t, "}\n");
}

char *text_called_twice(struct arena *a, const char *text, const struct body *bodies, size_t count,
                        const char *callee, enum second_call second)
{
    struct mutation m = {.arena = a, .text = text};
    struct made made = {.from = text};
    size_t token = 0;
    m.tokens = ARENA_ARRAY(a, struct token, strlen(text) + 1);
    if (!m.tokens)
        return NULL;
    scan(&m);
    if (!pair(&m))
        return NULL;
    for (size_t i = 0; i < count; i++) {
        const struct body *b = &bodies[i];
        while (token < m.count && m.tokens[token].at < b->at)
            token++;
        const size_t open = token ? m.tokens[token - 1].partner : 0;
        if (open && is(&m, open - 1, callee)) {
            made_keep(&made, b->at + b->length);
            put_two_calls(&made.text, &m, token, callee, second);
        } else if (!b->helper) {
            made_declare(&made, b);
        }
    }
    return made_end(&made, a);
}

char *text_marked(struct arena *a, const char *text, size_t begin, const struct marks *places)
{
    static const char shown[] = "__attribute__((visibility(\"default\")))";
    struct made m = {.from = text, .at = begin};
    text_printf(&m.text,
                "%s unsigned char isophote_reached[%zu];\n"
                "%s const unsigned isophote_reached_count = %zu;\n",
                shown, (size_t)places->mark_count + 1, shown, (size_t)places->mark_count);
    for (size_t i = 0; i < places->count; i++) {
        const struct stretch *s = &places->list[i];
        if (s->at <= begin || !s->begins)
            continue;
        made_keep(&m, s->at);
        text_printf(&m.text, "isophote_reached[%u]=1;", (unsigned)s->mark);
    }
    return made_end(&m, a);
}

char *text_apart(struct arena *a, const char *text, bool helpers)
{
    static const char *const means[2] = {"#undef static\n#undef inline\n#define static "
                                         "__attribute__((weak))\n#define inline\n",
                                         "#undef static\n#undef inline\n"};
    struct made m = {.from = text};
    text_puts(&m.text, means[0]);
    for (const char *line = text, *next; *line; line = next) {
        const char *end = strchr(line, '\n'), *name = strchr(line, '"');
        next = end ? end + 1 : line + strlen(line);
        if (strncmp(line, "#line ", 6) == 0 && name && name < next) {
            made_keep(&m, (size_t)(line - text));
            text_puts(&m.text, means[!helpers && is_helper(name + 1)]);
        }
    }
    return made_end(&m, a);
}

static char *edit_once(struct arena *a, const char *text, const struct edit *e)
{
    size_t n = strlen(text), more = strlen(e->now);
    char *made = arena_alloc(a, n - e->length + more + 1, 1, 1);
    if (!made)
        return NULL;
    memcpy(made, text, e->offset);
    memcpy(made + e->offset, e->now, more);
    memcpy(made + e->offset + more, text + e->offset + e->length, n - e->offset - e->length + 1);
    return made;
}

char *edit_apply(struct arena *a, const char *text, const struct edit *e)
{
    struct edit other = *e;
    other.offset = e->twin;
    if (e->twin && e->twin < strlen(text)) /* it stands behind: the first offset stays right */
        text = edit_once(a, text, &other);
    return text ? edit_once(a, text, e) : NULL;
}
