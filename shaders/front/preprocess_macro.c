/* SPDX-License-Identifier: Apache-2.0 */
/* preprocess_macro.c: macro expansion, and the arithmetic of #if. */
#include "preprocess.h"

#include <string.h>

/* Where tokens come from: a stack of tokens still to be read again (top last), then the file if
 * `file`. */
struct stream {
    struct asl_pp *pp;
    struct asl_tokens stack;
    bool file;
};

static void next(struct stream *s, struct asl_token *t)
{
    if (s->stack.count) {
        *t = s->stack.t[--s->stack.count];
    } else if (s->file) {
        asl_pp_read(s->pp, t);
    } else {
        *t = (struct asl_token){.kind = TOK_END, .text = ""};
    }
}

static void unread(struct stream *s, const struct asl_token *t)
{
    if (s->stack.count == 0 && s->file) {
        s->pp->back = *t;
        s->pp->pushed_back = true;
    } else {
        asl_pp_push(s->pp, &s->stack, t);
    }
}

static bool hidden(const struct asl_hideset *h, const struct asl_macro *m)
{
    for (; h; h = h->next)
        if (h->macro == m)
            return true;
    return false;
}

static const struct asl_hideset *hide(struct asl_pp *pp, const struct asl_hideset *h,
                                      const struct asl_macro *m)
{
    if (hidden(h, m))
        return h;
    struct asl_hideset *n = ASL_NEW(pp->c, struct asl_hideset);
    n->macro = m;
    n->next = h;
    return n;
}

static const struct asl_hideset *both(struct asl_pp *pp, const struct asl_hideset *a,
                                      const struct asl_hideset *b)
{
    const struct asl_hideset *r = NULL;
    for (; a; a = a->next)
        if (hidden(b, a->macro))
            r = hide(pp, r, a->macro);
    return r;
}

static const struct asl_hideset *unite(struct asl_pp *pp, const struct asl_hideset *a,
                                       const struct asl_hideset *b)
{
    for (; a; a = a->next)
        b = hide(pp, b, a->macro);
    return b;
}

static void stringize(struct asl_pp *pp, const struct asl_tokens *arg, struct asl_token *t)
{
    struct text s = {0};
    text_puts(&s, "\"");
    for (size_t i = 0; i < arg->count; i++) {
        const struct asl_token *a = &arg->t[i];
        if (i && a->space)
            text_puts(&s, " ");
        for (uint32_t k = 0; k < a->len; k++) {
            if (a->kind == TOK_STRING && (a->text[k] == '"' || a->text[k] == '\\'))
                text_puts(&s, "\\");
            text_append(&s, a->text + k, 1);
        }
    }
    text_puts(&s, "\"");
    t->kind = TOK_STRING;
    t->text = asl_strndup(pp->c, s.data ? s.data : "\"\"", s.len);
    t->len = (uint32_t)s.len;
    text_free(&s);
}

static void paste(struct asl_pp *pp, struct asl_token *left, const struct asl_token *right)
{
    if (right->placemarker)
        return;
    if (left->placemarker) {
        bool space = left->space;
        *left = *right;
        left->space = space;
        return;
    }
    size_t n = (size_t)left->len + right->len;
    char *text = asl_alloc(pp->c, n + 1, 1);
    memcpy(text, left->text, left->len);
    memcpy(text + left->len, right->text, right->len);
    struct asl_lexer lx;
    struct asl_token t, end;
    asl_lex_open(&lx, pp->c,
                 asl_source_new(pp->c, left->at.src ? left->at.src->name : "", text, n));
    lx.skipping = true;
    asl_lex_next(&lx, &t);
    asl_lex_next(&lx, &end);
    if (end.kind != TOK_END || t.len != n) {
        asl_error(pp->c, left->at, NULL, "## of '%.*s' and '%.*s' does not give one token",
                  (int)left->len, left->text, (int)right->len, right->text);
        return;
    }
    left->kind = t.kind;
    left->text = text;
    left->len = t.len;
    left->hidden = both(pp, left->hidden, right->hidden);
}

static int parameter(const struct asl_macro *m, const struct asl_token *t)
{
    if (t->kind != TOK_NAME || !m->function)
        return -1;
    for (size_t i = 0; i < m->param_count; i++)
        if (m->params[i].len == t->len && memcmp(m->params[i].text, t->text, t->len) == 0)
            return (int)i;
    if (m->variadic && asl_pp_is(t, "__VA_ARGS__"))
        return (int)m->param_count;
    return -1;
}

/* Replaces m's body; args: param_count (+1 when variadic) lists. */
static void substitute(struct asl_pp *pp, const struct asl_macro *m, struct asl_tokens *args,
                       const struct asl_hideset *hs, const struct asl_token *use,
                       struct asl_tokens *out)
{
    size_t from = out->count;
    for (size_t i = 0; i < m->body_count; i++) {
        struct asl_token t = m->body[i];
        bool join = i > 0 && m->body[i - 1].kind == TOK_HASHHASH;
        bool joined = i + 1 < m->body_count && m->body[i + 1].kind == TOK_HASHHASH;
        if (t.kind == TOK_HASHHASH)
            continue;
        int p;
        if (m->function && t.kind == TOK_HASH && i + 1 < m->body_count &&
            (p = parameter(m, &m->body[i + 1])) >= 0) {
            stringize(pp, &args[p], &t);
            i++;
            joined = i + 1 < m->body_count && m->body[i + 1].kind == TOK_HASHHASH;
            p = -1;
        } else {
            p = parameter(m, &t);
        }
        if (p < 0 || !args) {
            if (join && out->count > from)
                paste(pp, &out->t[out->count - 1], &t);
            else
                asl_pp_push(pp, out, &t);
            continue;
        }
        struct asl_tokens expanded = {0};
        const struct asl_tokens *list = &args[p];
        if (!join && !joined) {
            asl_pp_expand_list(pp, args[p].t, args[p].count, &expanded);
            list = &expanded;
        }
        struct asl_token nothing = {.placemarker = true, .text = "", .space = t.space, .at = t.at};
        for (size_t k = 0; k < (list->count ? list->count : 1); k++) {
            struct asl_token a = list->count ? list->t[k] : nothing;
            if (k == 0)
                a.space = t.space;
            a.start = false;
            if (k == 0 && join && out->count > from)
                paste(pp, &out->t[out->count - 1], &a);
            else
                asl_pp_push(pp, out, &a);
        }
    }
    size_t kept = from;
    for (size_t i = from; i < out->count; i++) {
        struct asl_token t = out->t[i];
        if (t.placemarker)
            continue;
        t.hidden = unite(pp, hs, t.hidden);
        t.at = use->at; /* messages point at the use */
        out->t[kept++] = t;
    }
    out->count = kept;
    if (out->count > from)
        out->t[from].space = use->space;
}

/* The arguments of a call, after its '('. False when they are not closed. */
static bool collect(struct stream *s, const struct asl_macro *m, const struct asl_token *use,
                    struct asl_tokens *args, size_t want, struct asl_token *close)
{
    size_t k = 0, depth = 0;
    for (;;) {
        struct asl_token t;
        next(s, &t);
        if (t.kind == TOK_END) {
            unread(s, &t);
            asl_error(s->pp->c, use->at, NULL, "the arguments of macro '%s' are not closed by ')'",
                      m->name);
            return false;
        }
        if (t.kind == TOK_RPAREN && depth == 0) {
            *close = t;
            break;
        }
        if (t.kind == TOK_LPAREN)
            depth++;
        else if (t.kind == TOK_RPAREN)
            depth--;
        if (t.kind == TOK_COMMA && depth == 0 && !(m->variadic && k == m->param_count)) {
            k++;
            continue;
        }
        if (k < want)
            asl_pp_push(s->pp, &args[k], &t);
    }
    size_t given = k + 1;
    if (want == 0 && given == 1)
        given = 0; /* f() */
    size_t least = m->param_count;
    if (want == 1 && least == 0)
        least = 1; /* only "..." */
    if (given < least || (given > want && !(want == 0 && given == 0))) {
        asl_error(s->pp->c, use->at, NULL, "macro '%s' takes %zu argument%s, %zu given", m->name,
                  m->param_count, m->param_count == 1 ? "" : "s", given);
        return false;
    }
    return true;
}

static bool special(struct asl_pp *pp, struct asl_token *t)
{
    if (asl_pp_is(t, "__LINE__")) {
        t->text = asl_sprintf(pp->c, "%u", asl_pos(t->at).line);
        t->kind = TOK_NUMBER;
    } else if (asl_pp_is(t, "__FILE__")) {
        struct asl_token s = {.kind = TOK_STRING};
        const char *name = t->at.src ? t->at.src->name : "";
        s.text = asl_sprintf(pp->c, "\"%s\"", name);
        s.len = (uint32_t)strlen(s.text);
        t->text = asl_strndup(pp->c, s.text, s.len);
        t->kind = TOK_STRING;
    } else {
        return false;
    }
    t->len = (uint32_t)strlen(t->text);
    return true;
}

static void expand_stream(struct stream *s, struct asl_tokens *out)
{
    struct asl_pp *pp = s->pp;
    for (;;) {
        struct asl_token t;
        next(s, &t);
        if (t.kind == TOK_END)
            break;
        const struct asl_macro *m = t.kind == TOK_NAME ? asl_pp_macro(pp, t.text, t.len) : NULL;
        if (!m || hidden(t.hidden, m)) {
            if (t.kind == TOK_NAME && t.len == 8 && t.text[0] == '_')
                (void)special(pp, &t);
            asl_pp_push(pp, out, &t);
            continue;
        }
        struct asl_tokens body = {0};
        if (!m->function) {
            substitute(pp, m, NULL, hide(pp, t.hidden, m), &t, &body);
        } else {
            struct asl_token paren;
            next(s, &paren);
            if (paren.kind != TOK_LPAREN) {
                unread(s, &paren);
                asl_pp_push(pp, out, &t);
                continue;
            }
            size_t want = m->param_count + m->variadic;
            struct asl_tokens *args = ASL_ARRAY(pp->c, struct asl_tokens, want + 1);
            struct asl_token close = {0};
            if (!collect(s, m, &t, args, want, &close))
                continue;
            substitute(pp, m, args, hide(pp, both(pp, t.hidden, close.hidden), m), &t, &body);
        }
        /* The tokens are read again; a token pushed back by a lookahead cannot be below them,
         * because the stack was empty then and is empty now. */
        for (size_t i = body.count; i-- > 0;)
            asl_pp_push(pp, &s->stack, &body.t[i]);
    }
}

void asl_pp_expand_list(struct asl_pp *pp, const struct asl_token *t, size_t n,
                        struct asl_tokens *out)
{
    if (pp->nesting >= 100) {
        asl_error(pp->c, n ? t[0].at : (struct asl_loc){0}, NULL,
                  "macro arguments nest deeper than 100 levels");
        return;
    }
    pp->nesting++;
    struct stream s = {.pp = pp};
    for (size_t i = n; i-- > 0;)
        asl_pp_push(pp, &s.stack, &t[i]);
    expand_stream(&s, out);
    pp->nesting--;
}

void asl_pp_expand(struct asl_pp *pp, struct asl_tokens *out)
{
    struct stream s = {.pp = pp, .file = true};
    expand_stream(&s, out);
    struct asl_token end = {.kind = TOK_END, .text = "end of file"};
    end.at = (struct asl_loc){pp->file->lx.src, pp->file->lx.line,
                              (uint32_t)(pp->file->lx.p - pp->file->lx.line_begin) + 1, 1};
    asl_pp_push(pp, out, &end);
}

/* ---- #if ------------------------------------------------------------------------------------ */

struct condition {
    struct asl_compile *c;
    const struct asl_token *t;
    size_t n, i;
    struct asl_loc at;
    unsigned depth;
    bool failed, dead; /* dead: the value is not used, so a division by zero does not matter */
};

static void cond_error(struct condition *k, const char *what)
{
    if (!k->failed)
        asl_error(k->c, k->i < k->n ? k->t[k->i].at : k->at, NULL, "%s in the expression of #if",
                  what);
    k->failed = true;
}

static int64_t cond_binary(struct condition *k, int level);

static int64_t cond_number(struct condition *k, const struct asl_token *t)
{
    uint64_t v = 0;
    uint32_t i = 0;
    unsigned base = 10;
    if (t->len > 2 && t->text[0] == '0' && (t->text[1] | 32) == 'x') {
        base = 16;
        i = 2;
    }
    for (; i < t->len; i++) {
        int ch = t->text[i] | 32;
        unsigned d = ch >= '0' && ch <= '9'   ? (unsigned)(t->text[i] - '0')
                     : ch >= 'a' && ch <= 'f' ? (unsigned)(ch - 'a') + 10
                                              : 99;
        if (ch == 'l' || ch == 'u')
            break;
        if (d >= base) {
            cond_error(k, "expected a whole number");
            return 0;
        }
        v = v * base + d;
    }
    return (int64_t)v;
}

static int64_t cond_unary(struct condition *k)
{
    if (k->failed || k->i >= k->n) {
        cond_error(k, "expected a value");
        return 0;
    }
    if (k->depth >= 200) {
        cond_error(k, "too deep nesting");
        return 0;
    }
    const struct asl_token *t = &k->t[k->i++];
    int64_t v = 0;
    k->depth++;
    switch (t->kind) {
    case TOK_NUMBER:
        v = cond_number(k, t);
        break;
    case TOK_NAME: /* not a macro: 0 */
        break;
    case TOK_LPAREN:
        v = cond_binary(k, 0);
        if (k->i < k->n && k->t[k->i].kind == TOK_RPAREN)
            k->i++;
        else
            cond_error(k, "expected ')'");
        break;
    case TOK_NOT:
        v = !cond_unary(k);
        break;
    case TOK_TILDE:
        v = ~cond_unary(k);
        break;
    case TOK_MINUS:
        v = (int64_t)(0 - (uint64_t)cond_unary(k));
        break;
    case TOK_PLUS:
        v = cond_unary(k);
        break;
    default:
        k->i--;
        cond_error(k, "expected a value");
    }
    k->depth--;
    return v;
}

static int cond_level(enum asl_tok t)
{
    switch (t) {
    case TOK_OROR:
        return 1;
    case TOK_ANDAND:
        return 2;
    case TOK_PIPE:
        return 3;
    case TOK_CARET:
        return 4;
    case TOK_AMP:
        return 5;
    case TOK_EQ:
    case TOK_NE:
        return 6;
    case TOK_LT:
    case TOK_LE:
    case TOK_GT:
    case TOK_GE:
        return 7;
    case TOK_SHL:
    case TOK_SHR:
        return 8;
    case TOK_PLUS:
    case TOK_MINUS:
        return 9;
    case TOK_STAR:
    case TOK_SLASH:
    case TOK_PERCENT:
        return 10;
    default:
        return 0;
    }
}

static int64_t cond_apply(struct condition *k, enum asl_tok op, int64_t a, int64_t b)
{
    uint64_t ua = (uint64_t)a, ub = (uint64_t)b;
    switch (op) {
    case TOK_OROR:
        return a || b;
    case TOK_ANDAND:
        return a && b;
    case TOK_PIPE:
        return a | b;
    case TOK_CARET:
        return a ^ b;
    case TOK_AMP:
        return a & b;
    case TOK_EQ:
        return a == b;
    case TOK_NE:
        return a != b;
    case TOK_LT:
        return a < b;
    case TOK_LE:
        return a <= b;
    case TOK_GT:
        return a > b;
    case TOK_GE:
        return a >= b;
    case TOK_SHL:
        return (int64_t)(ua << (ub & 63));
    case TOK_SHR:
        return a >> (ub & 63);
    case TOK_PLUS:
        return (int64_t)(ua + ub);
    case TOK_MINUS:
        return (int64_t)(ua - ub);
    case TOK_STAR:
        return (int64_t)(ua * ub);
    default:
        if (b == 0) {
            if (!k->dead)
                cond_error(k, "division by zero");
            return 0;
        }
        if (b == -1)
            return op == TOK_SLASH ? (int64_t)(0 - ua) : 0;
        return op == TOK_SLASH ? a / b : a % b;
    }
}

/* Operators of at least `level`, and the conditional operator at level 0. */
static int64_t cond_binary(struct condition *k, int level)
{
    int64_t a = cond_unary(k);
    while (!k->failed && k->i < k->n) {
        enum asl_tok op = (enum asl_tok)k->t[k->i].kind;
        int l = cond_level(op);
        if (l == 0 || l <= level)
            break;
        k->i++;
        bool dead = k->dead;
        k->dead = dead || (op == TOK_OROR && a) || (op == TOK_ANDAND && !a);
        int64_t b = cond_binary(k, l);
        a = cond_apply(k, op, a, b);
        k->dead = dead;
    }
    if (level == 0 && !k->failed && k->i < k->n && k->t[k->i].kind == TOK_QUESTION) {
        bool dead = k->dead;
        k->i++;
        if (k->depth++ >= 200)
            cond_error(k, "too deep nesting");
        k->dead = dead || !a;
        int64_t b = cond_binary(k, 0);
        if (k->i < k->n && k->t[k->i].kind == TOK_COLON)
            k->i++;
        else
            cond_error(k, "expected ':'");
        k->dead = dead || a;
        int64_t d = cond_binary(k, 0);
        k->dead = dead;
        k->depth--;
        a = a ? b : d;
    }
    return a;
}

bool asl_pp_condition(struct asl_compile *c, const struct asl_token *t, size_t n, struct asl_loc at)
{
    struct condition k = {.c = c, .t = t, .n = n, .at = at};
    if (n == 0) {
        asl_error(c, at, NULL, "#if needs an expression");
        return false;
    }
    int64_t v = cond_binary(&k, 0);
    if (!k.failed && k.i < n)
        cond_error(&k, "unexpected text");
    return !k.failed && v != 0;
}
