/* SPDX-License-Identifier: Apache-2.0 */
/* Delta debugging of ASL programs: tokens, brackets, the lists between them. */
#include "asl_reduce.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct token {
    const char *text;
    size_t size;
    bool line; /* a directive or a comment that is one: stands on a line of its own */
};
struct tokens {
    struct token *t;
    size_t count, cap;
};

struct reducer {
    struct arena arena; /* texts of tokens */
    struct tokens now;
    asl_reduce_test *test;
    void *ctx;
    double deadline;
    size_t tests;
    bool failed; /* out of memory */
};

/* ---- tokens ---------------------------------------------------------------------------------- */

static void add_token(struct reducer *r, struct tokens *to, struct token t)
{
    if (to->count == to->cap) {
        size_t cap = to->cap ? 2 * to->cap : 256;
        struct token *more = realloc(to->t, cap * sizeof *more);
        r->failed = r->failed || !more;
        if (!more)
            return;
        to->t = more;
        to->cap = cap;
    }
    to->t[to->count++] = t;
}

static size_t name_size(const char *p)
{
    size_t n = 0;
    while (isalnum((unsigned char)p[n]) || p[n] == '_' || p[n] == '.')
        n++;
    return n;
}

static size_t string_size(const char *p)
{
    size_t n = 1;
    while (p[n] && p[n] != '"' && p[n] != '\n')
        n += p[n] == '\\' && p[n + 1] ? 2 : 1;
    return n + (p[n] == '"');
}

static size_t line_size(const char *p)
{
    size_t n = 0;
    while (p[n] && (p[n] != '\n' || (n && p[n - 1] == '\\')))
        n++;
    return n;
}

static size_t operator_size(const char *p)
{
    static const char *const ops[] = {
        "<<=", ">>=", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
        "+=",  "-=",  "*=", "/=", "%=", "&=", "|=", "^=", "[[", "]]", "##"};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (strncmp(p, ops[i], strlen(ops[i])) == 0)
            return ops[i][0] == '[' || ops[i][0] == ']' ? 1 : strlen(ops[i]);
    return 1;
}

/* A point inside a name belongs to numbers only: "a.x" is three tokens. */
static size_t word_size(const char *p)
{
    if (isdigit((unsigned char)*p) || (*p == '.' && isdigit((unsigned char)p[1]))) {
        size_t n = name_size(p);
        if ((p[n] == '-' || p[n] == '+') && n && (p[n - 1] == 'e' || p[n - 1] == 'E') &&
            p[1] != 'x')
            n += 1 + name_size(p + n + 1);
        return n;
    }
    size_t n = 0;
    while (isalnum((unsigned char)p[n]) || p[n] == '_')
        n++;
    return n;
}

static void read_tokens(struct reducer *r, const char *p, struct tokens *to)
{
    bool start = true;
    while (*p) {
        struct token t = {.text = p};
        if (*p == '\n') {
            start = true;
            p++;
            continue;
        }
        if (isspace((unsigned char)*p)) {
            p++;
            continue;
        }
        if (*p == '/' && p[1] == '*') {
            const char *end = strstr(p + 2, "*/");
            p = end ? end + 2 : p + strlen(p);
            continue;
        }
        if (*p == '/' && p[1] == '/') {
            t.size = line_size(p);
            t.line = true;
            if (p[2] == '!')
                add_token(r, to, t);
        } else if (*p == '#' && start) {
            t.size = line_size(p);
            t.line = true;
            add_token(r, to, t);
        } else {
            t.size = *p == '"' ? string_size(p) : word_size(p);
            if (!t.size)
                t.size = operator_size(p);
            add_token(r, to, t);
        }
        p += t.size;
        start = false;
    }
}

static bool is(const struct token *t, const char *text)
{
    return strlen(text) == t->size && strncmp(t->text, text, t->size) == 0;
}

/* Tokens as a text: a statement a line. */
static void write_tokens(const struct tokens *from, struct text *out)
{
    unsigned depth = 0, inside = 0;
    bool fresh = true;
    for (size_t i = 0; i < from->count; i++) {
        const struct token *t = &from->t[i];
        if (is(t, "}") && depth)
            depth--;
        if ((t->line || is(t, "}")) && !fresh && !inside) {
            text_puts(out, "\n");
            fresh = true;
        }
        if (fresh && !t->line)
            text_printf(out, "%*s", 4 * (int)depth, "");
        else if (!fresh && !is(t, ";") && !is(t, ",") && !is(t, ")"))
            text_puts(out, " ");
        text_append(out, t->text, t->size);
        inside += is(t, "(");
        inside -= is(t, ")") && inside;
        depth += is(t, "{");
        fresh = t->line || (!inside && (is(t, ";") || is(t, "{") || is(t, "}")));
        if (fresh)
            text_puts(out, "\n");
    }
    if (!fresh)
        text_puts(out, "\n");
}

/* ---- trying ---------------------------------------------------------------------------------- */

static bool out_of_time(const struct reducer *r)
{
    return r->failed || cancel_requested || clock_s() > r->deadline;
}

/* Without tokens [begin, end), `with` in their place; taken over when it still shows it. */
static bool try_edit(struct reducer *r, size_t begin, size_t end, const struct token *with,
                     size_t with_count)
{
    if (out_of_time(r))
        return false;
    struct tokens next = {0};
    for (size_t i = 0; i < begin; i++)
        add_token(r, &next, r->now.t[i]);
    for (size_t i = 0; i < with_count; i++)
        add_token(r, &next, with[i]);
    for (size_t i = end; i < r->now.count; i++)
        add_token(r, &next, r->now.t[i]);
    struct text t = {0};
    write_tokens(&next, &t);
    r->failed = r->failed || t.failed;
    r->tests++;
    bool good = !r->failed && t.data && r->test(r->ctx, t.data, t.len);
    text_free(&t);
    if (good) {
        free(r->now.t);
        r->now = next;
    } else {
        free(next.t);
    }
    return good;
}

static bool try_word(struct reducer *r, size_t begin, size_t end, const char *word)
{
    struct token t = {.text = word, .size = strlen(word)};
    if (end == begin + 1 && is(&r->now.t[begin], word))
        return false;
    return try_edit(r, begin, end, &t, 1);
}

/* ---- structure ------------------------------------------------------------------------------- */

static bool opens(const struct token *t) { return is(t, "(") || is(t, "{") || is(t, "["); }
static bool closes(const struct token *t) { return is(t, ")") || is(t, "}") || is(t, "]"); }

/* The token that closes the bracket at i; count when none does. */
static size_t matching(const struct tokens *k, size_t i)
{
    size_t depth = 0;
    for (; i < k->count; i++) {
        depth += opens(&k->t[i]);
        if (closes(&k->t[i]) && --depth == 0)
            return i;
    }
    return k->count;
}

/* The end of the element that begins at i in a list up to `end`: a statement with what follows its
 * block, a definition, a directive, or what stands between commas. */
static size_t element_end(const struct tokens *k, size_t i, size_t end, bool statements)
{
    for (size_t at = i; at < end; at++) {
        const struct token *t = &k->t[at];
        if (t->line)
            return at == i ? at + 1 : at;
        if (opens(t)) {
            bool block = is(t, "{");
            at = matching(k, at);
            if (at >= end)
                return end;
            const struct token *next = at + 1 < end ? &k->t[at + 1] : NULL;
            if (statements && block &&
                !(next && (is(next, "else") || is(next, ";") || is(next, "while") ||
                           is(next, ",") || is(next, ")"))))
                return at + 1;
        } else if (is(t, statements ? ";" : ",")) {
            return at + 1;
        }
    }
    return end;
}

/* Removes elements of the list [begin, end) in ever smaller runs; returns whether any went. */
static bool reduce_list(struct reducer *r, size_t begin, size_t end, bool statements)
{
    bool any = false;
    size_t count = 0;
    for (size_t i = begin; i < end; i = element_end(&r->now, i, end, statements))
        count++;
    for (size_t run = count; run > 0; run = run == 1 ? 0 : (run + 1) / 2) {
        for (size_t i = begin; i < end && !out_of_time(r);) {
            size_t stop = i;
            for (size_t n = 0; n < run && stop < end; n++)
                stop = element_end(&r->now, stop, end, statements);
            size_t first = i;
            if (!statements && stop == end && i > begin && is(&r->now.t[i - 1], ","))
                first = i - 1; /* the last one goes with the comma before it */
            if (try_edit(r, first, stop, NULL, 0)) {
                end -= stop - first;
                any = true;
            } else {
                i = element_end(&r->now, i, end, statements);
            }
        }
    }
    return any;
}

/* Every list of the program, outer ones first. */
static bool reduce_lists(struct reducer *r)
{
    bool any = reduce_list(r, 0, r->now.count, true);
    for (size_t i = 0; i < r->now.count && !out_of_time(r); i++) {
        if (!opens(&r->now.t[i]))
            continue;
        size_t end = matching(&r->now, i);
        bool braces = is(&r->now.t[i], "{");
        bool statements = false;
        for (size_t k = i + 1; braces && k < end; k++)
            statements = statements || is(&r->now.t[k], ";");
        if (end < r->now.count && end > i + 1 && reduce_list(r, i + 1, end, statements))
            any = true;
    }
    return any;
}

/* `if (c) { a } else { b }` becomes a's or b's statements, loops their bodies. */
static bool unwrap_blocks(struct reducer *r)
{
    bool any = false;
    for (size_t i = 0; i < r->now.count && !out_of_time(r); i++) {
        if (!is(&r->now.t[i], "{"))
            continue;
        size_t close = matching(&r->now, i), begin = i;
        if (close >= r->now.count)
            continue;
        while (begin > 0 && !is(&r->now.t[begin - 1], ";") && !is(&r->now.t[begin - 1], "{") &&
               !is(&r->now.t[begin - 1], "}") && !r->now.t[begin - 1].line) {
            begin--;
            if (is(&r->now.t[begin], ")")) { /* back over a header */
                size_t depth = 1;
                while (begin > 0 && depth) {
                    begin--;
                    depth += is(&r->now.t[begin], ")");
                    depth -= is(&r->now.t[begin], "(");
                }
            }
        }
        size_t n = close > i ? close - i - 1 : 0;
        struct token *inside = calloc(n + 1, sizeof *inside);
        if (!inside)
            return any;
        if (n > 0)
            memcpy(inside, &r->now.t[i + 1], n * sizeof *inside);
        size_t end = element_end(&r->now, begin, r->now.count, true);
        bool done = try_edit(r, begin, end > close ? end : close + 1, inside, n) ||
                    try_edit(r, begin, close + 1, inside, n);
        any = any || done;
        free(inside);
    }
    return any;
}

static bool is_operator(const struct token *t)
{
    static const char *const ops[] = {"+", "-",  "*",  "/",   "%",  "<<", ">>", "<",  "<=",
                                      ">", ">=", "==", "!=",  "&",  "|",  "^",  "&&", "||",
                                      "?", ":",  ",",  "and", "or", "=",  "+="};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (is(t, ops[i]))
            return true;
    return false;
}

/* In place of [begin, end) the operands inside (open, close), one after another. */
static bool try_operands(struct reducer *r, size_t begin, size_t end, size_t open, size_t close)
{
    for (size_t from = open + 1; from < close;) {
        size_t to = from;
        for (; to < close && !is_operator(&r->now.t[to]); to++)
            if (opens(&r->now.t[to]))
                to = matching(&r->now, to);
        if (to > from && to <= close) {
            size_t n = to - from;
            struct token *part = malloc(n * sizeof *part);
            if (!part)
                return false;
            memcpy(part, &r->now.t[from], n * sizeof *part);
            bool good = try_edit(r, begin, end, part, n);
            free(part);
            if (good)
                return true;
        }
        from = to + 1;
    }
    return false;
}

static bool is_name(const struct token *t)
{
    return isalpha((unsigned char)*t->text) || *t->text == '_';
}

static bool reduce_expressions(struct reducer *r)
{
    static const char *const simple[] = {"0", "1", "0.5", "u"};
    bool any = false;
    for (size_t i = 0; i < r->now.count && !out_of_time(r); i++) {
        if (!is(&r->now.t[i], "("))
            continue;
        size_t close = matching(&r->now, i);
        if (close >= r->now.count)
            break;
        size_t begin = i > 0 && is_name(&r->now.t[i - 1]) ? i - 1 : i;
        bool done = false;
        for (size_t k = 0; k < sizeof simple / sizeof *simple && !done; k++)
            done = try_word(r, begin, close + 1, simple[k]);
        done = done || try_operands(r, begin, close + 1, i, close);
        any = any || done;
        if (done && i > 0)
            i = begin ? begin - 1 : 0;
    }
    return any;
}

/* `= value` goes, or the value becomes 0; operands of what has no brackets of its own. */
static bool reduce_values(struct reducer *r)
{
    bool any = false;
    for (size_t i = 0; i + 1 < r->now.count && !out_of_time(r); i++) {
        if (!is(&r->now.t[i], "=") && !is(&r->now.t[i], "return"))
            continue;
        size_t end = i + 1;
        for (; end < r->now.count && !is(&r->now.t[end], ";") && !is(&r->now.t[end], ",") &&
               !closes(&r->now.t[end]);
             end++)
            if (opens(&r->now.t[end]))
                end = matching(&r->now, end);
        if (end >= r->now.count)
            break;
        bool done =
            (is(&r->now.t[i], "=") && try_edit(r, i, end, NULL, 0)) ||
            (end > i + 2 && (try_word(r, i + 1, end, "0") || try_word(r, i + 1, end, "u"))) ||
            (end > i + 2 && try_operands(r, i + 1, end, i, end));
        any = any || done;
    }
    return any;
}

static bool reduce_literals(struct reducer *r)
{
    bool any = false;
    for (size_t i = 0; i < r->now.count && !out_of_time(r); i++) {
        const struct token *t = &r->now.t[i];
        if (*t->text == '"')
            any = try_word(r, i, i + 1, "\"\"") || any;
        else if (isdigit((unsigned char)*t->text) && t->size > 1)
            any = try_word(r, i, i + 1, "1") || try_word(r, i, i + 1, "2") || any;
        else if (is(t, "-") || is(t, "!") || is(t, "~"))
            any = try_edit(r, i, i + 1, NULL, 0) || any;
    }
    return any;
}

/* ---- all ------------------------------------------------------------------------------------- */

enum status asl_reduce(const char *text, size_t size, asl_reduce_test *test, void *ctx,
                       double seconds, struct text *out, struct asl_reduction *what,
                       struct error *err)
{
    struct reducer r = {.test = test, .ctx = ctx, .deadline = clock_s() + seconds};
    char *copy = arena_strndup(&r.arena, text, size);
    enum status st = STATUS_OK;
    r.failed = !copy;
    if (copy)
        read_tokens(&r, copy, &r.now);
    size_t before = r.now.count;
    if (!r.failed && !try_edit(&r, 0, 0, NULL, 0)) /* as it is */
        st = error_msg(err, STATUS_MISMATCH, "the program does not show what is to be reduced");
    bool again = st == STATUS_OK;
    while (again && !out_of_time(&r)) {
        again = reduce_lists(&r);
        again = unwrap_blocks(&r) || again;
        again = reduce_values(&r) || again;
        again = reduce_expressions(&r) || again;
        again = reduce_literals(&r) || again;
    }
    *what = (struct asl_reduction){r.tests, before, r.now.count, !again};
    if (st == STATUS_OK && !r.failed)
        write_tokens(&r.now, out);
    if (r.failed || out->failed)
        st = error_msg(err, STATUS_MEMORY, "out of memory while a program is reduced");
    free(r.now.t);
    arena_free(&r.arena);
    return st;
}
