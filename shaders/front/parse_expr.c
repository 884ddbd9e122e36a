/* SPDX-License-Identifier: Apache-2.0 */
/* parse_expr.c: expressions, by recursive descent and precedence climbing. */
#include "parse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *text, *function;
} ops[] = {
    [OP_ADD] = {"+", "__operator__add__"},
    [OP_SUB] = {"-", "__operator__sub__"},
    [OP_MUL] = {"*", "__operator__mul__"},
    [OP_DIV] = {"/", "__operator__div__"},
    [OP_MOD] = {"%", "__operator__mod__"},
    [OP_SHL] = {"<<", "__operator__shl__"},
    [OP_SHR] = {">>", "__operator__shr__"},
    [OP_LT] = {"<", "__operator__lt__"},
    [OP_LE] = {"<=", "__operator__le__"},
    [OP_GT] = {">", "__operator__gt__"},
    [OP_GE] = {">=", "__operator__ge__"},
    [OP_EQ] = {"==", "__operator__eq__"},
    [OP_NE] = {"!=", "__operator__neq__"},
    [OP_BITAND] = {"&", "__operator__bitand__"},
    [OP_XOR] = {"^", "__operator__xor__"},
    [OP_BITOR] = {"|", "__operator__bitor__"},
    [OP_AND] = {"&&", NULL},
    [OP_OR] = {"||", NULL},
    [OP_NEG] = {"-", "__operator__neg__"},
    [OP_COMPL] = {"~", "__operator__compl__"},
    [OP_NOT] = {"!", "__operator__not__"},
    [OP_NONE] = {"", NULL},
};

const char *asl_op_text(enum asl_op op) { return ops[op].text; }
const char *asl_op_function(enum asl_op op) { return ops[op].function; }

struct asl_expr *asl_expr_new(struct asl_parser *p, enum asl_expr_kind kind,
                              const struct asl_token *at)
{
    struct asl_expr *e = ASL_NEW(p->c, struct asl_expr);
    e->kind = (uint8_t)kind;
    e->op = OP_NONE;
    e->at = at->at;
    e->depth = 1;
    return e;
}

static struct asl_expr *join(struct asl_parser *p, struct asl_expr *e)
{
    unsigned d = 0;
    if (e->a && e->a->depth > d)
        d = e->a->depth;
    if (e->b && e->b->depth > d)
        d = e->b->depth;
    if (e->c && e->c->depth > d)
        d = e->c->depth;
    for (size_t i = 0; i < e->arg_count; i++)
        if (e->args[i]->depth > d)
            d = e->args[i]->depth;
    if (d + 1 > ASL_MAX_CHAIN) {
        bool told = e->kind == E_ERROR || (e->a && e->a->kind == E_ERROR) ||
                    (e->b && e->b->kind == E_ERROR) || (e->c && e->c->kind == E_ERROR);
        for (size_t i = 0; i < e->arg_count; i++)
            told = told || e->args[i]->kind == E_ERROR;
        if (!told)
            asl_error(p->c, e->at, "use variables for parts of it",
                      "this expression nests deeper than %d levels", ASL_MAX_CHAIN);
        e->kind = E_ERROR;
        e->a = e->b = e->c = NULL;
        e->arg_count = 0;
        d = ASL_MAX_CHAIN - 1;
    }
    e->depth = (uint16_t)(d + 1);
    return e;
}

static struct asl_expr *number(struct asl_parser *p)
{
    const struct asl_token *t = asl_cur(p);
    struct asl_expr *e = asl_expr_new(p, E_INT, t);
    bool negative = p->i > 0 && p->t[p->i - 1].kind == TOK_MINUS;
    p->i++;
    char buf[256];
    if (t->len >= sizeof buf) {
        asl_error(p->c, t->at, NULL, "this number has more than %zu characters", sizeof buf - 1);
        e->kind = E_ERROR;
        return e;
    }
    memcpy(buf, t->text, t->len);
    buf[t->len] = 0;
    char *end;
    bool hex = buf[0] == '0' && (buf[1] == 'x' || buf[1] == 'X');
    if (hex || !strpbrk(buf, ".eEfF")) {
        errno = 0;
        unsigned long long v = strtoull(buf, &end, hex ? 16 : 10);
        unsigned long long limit = hex ? 0xFFFFFFFFull : 2147483648ull;
        if (*end || (hex && end == buf + 1)) {
            asl_error(p->c, t->at, NULL, "'%s' is no number", buf);
            e->kind = E_ERROR;
        } else if (errno || v > limit) {
            asl_error(p->c, t->at, "write it with a point for a float",
                      "%s does not fit in 32 bits", buf);
            e->kind = E_ERROR;
        } else if (!hex && !negative && v == 2147483648ull) {
            asl_warn(p->c, t->at, "write it with a point for a float",
                     "2147483648 does not fit in an int: it is -2147483648");
        }
        uint32_t bits = (uint32_t)v;
        memcpy(&e->u.i, &bits, sizeof bits);
        return e;
    }
    e->kind = E_FLOAT;
    e->u.f = strtof(buf, &end);
    if (end != buf && (*end == 'f' || *end == 'F'))
        end++;
    if (*end || end == buf) {
        asl_error(p->c, t->at, NULL, "'%s' is no number", buf);
        e->kind = E_ERROR;
    } else if (e->u.f > 3.402823466e38f) {
        asl_warn(p->c, t->at, NULL, "%s is larger than any float: it is infinite", buf);
    }
    return e;
}

static struct asl_expr *string(struct asl_parser *p)
{
    const struct asl_token *t = asl_cur(p);
    struct asl_expr *e = asl_expr_new(p, E_STRING, t);
    const char *s = asl_string_value(p->c, t);
    p->i++;
    if (asl_cur(p)->kind == TOK_STRING) { /* "a" "b" is "ab" */
        struct text all = {0};
        text_puts(&all, s);
        while (asl_cur(p)->kind == TOK_STRING) {
            text_puts(&all, asl_string_value(p->c, asl_cur(p)));
            p->i++;
        }
        s = asl_strndup(p->c, all.data ? all.data : "", all.len);
        text_free(&all);
    }
    e->u.s = s;
    return e;
}

/* Arguments up to the closing token, which is taken. */
static void arguments(struct asl_parser *p, struct asl_expr *e, enum asl_tok close,
                      const char *where)
{
    size_t cap = 0;
    bool braces = close == TOK_RBRACE;
    if (asl_accept(p, close))
        return;
    for (;;) {
        if (braces && asl_cur(p)->kind == TOK_RBRACE && e->arg_count) { /* a comma at the end */
            p->i++;
            return;
        }
        struct asl_expr *a = asl_parse_initializer(p);
        e->args = asl_grow(p->c, e->args, e->arg_count, &cap, e->arg_count + 1,
                           sizeof(struct asl_expr *));
        e->args[e->arg_count++] = a;
        if (asl_accept(p, TOK_COMMA))
            continue;
        (void)asl_expect(p, close, braces ? "'}'" : "')'", where);
        return;
    }
}

struct asl_expr *asl_parse_initializer(struct asl_parser *p)
{
    if (asl_cur(p)->kind != TOK_LBRACE)
        return asl_parse_assign(p);
    const struct asl_token *t = asl_cur(p);
    struct asl_expr *e = asl_expr_new(p, E_LIST, t);
    if (!asl_enter(p)) {
        e->kind = E_ERROR;
        return e;
    }
    p->i++;
    arguments(p, e, TOK_RBRACE, "to end the list of values");
    asl_leave(p);
    return join(p, e);
}

static struct asl_expr *primary(struct asl_parser *p)
{
    const struct asl_token *t = asl_cur(p);
    struct asl_expr *e;
    switch (t->kind) {
    case TOK_NUMBER:
        return number(p);
    case TOK_STRING:
        return string(p);
    case TOK_LPAREN:
        p->i++;
        e = asl_parse_expr(p);
        e->paren = true;
        if (e->kind == E_COMMA)
            asl_warn(p->c, e->at, "write the type before it: color(r, g, b)",
                     "a comma inside parentheses: all but the last value are dropped");
        (void)asl_expect(p, TOK_RPAREN, "')'", "to close '('");
        return e;
    case TOK_NAME:
        if (asl_at_type(p, false) ||
            (asl_at_type(p, true) && asl_ahead(p, 1)->kind == TOK_LPAREN)) {
            e = asl_expr_new(p, E_CONSTRUCT, t);
            e->type = asl_parse_type(p);
            if (!asl_expect(p, TOK_LPAREN, "'('", "to construct a value of this type")) {
                e->kind = E_ERROR;
                return e;
            }
            arguments(p, e, TOK_RPAREN, "after the arguments");
            return join(p, e);
        }
        if (asl_is_reserved(t))
            break;
        e = asl_expr_new(p, E_NAME, t);
        e->name = asl_strndup(p->c, t->text, t->len);
        p->i++;
        if (asl_accept(p, TOK_LPAREN)) {
            e->kind = E_CALL;
            arguments(p, e, TOK_RPAREN, "after the arguments");
            return join(p, e);
        }
        return e;
    default:
        break;
    }
    asl_unexpected(p, "an expression");
    e = asl_expr_new(p, E_ERROR, t);
    return e;
}

static struct asl_expr *postfix(struct asl_parser *p)
{
    struct asl_expr *e = primary(p);
    for (;;) {
        const struct asl_token *t = asl_cur(p);
        /* "]]" that closes a metadata block is not an index; "[[" cannot open one here either */
        if (t->kind == TOK_LBRACKET && !(asl_ahead(p, 1)->kind == TOK_LBRACKET)) {
            struct asl_expr *x = asl_expr_new(p, E_INDEX, t);
            p->i++;
            x->a = e;
            x->b = asl_parse_expr(p);
            (void)asl_expect(p, TOK_RBRACKET, "']'", "after the index");
            e = join(p, x);
        } else if (t->kind == TOK_DOT) {
            p->i++;
            const struct asl_token *n = asl_cur(p);
            struct asl_expr *x = asl_expr_new(p, E_FIELD, n);
            if (n->kind != TOK_NAME) {
                asl_unexpected(p, "the name of a field or component after '.'");
                x->kind = E_ERROR;
                return x;
            }
            x->name = asl_strndup(p->c, n->text, n->len);
            x->a = e;
            p->i++;
            e = join(p, x);
        } else if (t->kind == TOK_INC || t->kind == TOK_DEC) {
            struct asl_expr *x = asl_expr_new(p, E_INCDEC, t);
            x->a = e;
            x->u.value = t->kind == TOK_INC ? 1 : -1;
            p->i++;
            e = join(p, x);
        } else {
            return e;
        }
    }
}

/* "(" type ")" that is a cast, not a parenthesised constructor. */
static bool at_cast(struct asl_parser *p)
{
    if (asl_cur(p)->kind != TOK_LPAREN)
        return false;
    size_t i = p->i;
    p->i++;
    bool cast = false;
    if (asl_at_type(p, false)) {
        size_t words = asl_word(asl_cur(p), "closure") ? 2 : 1;
        cast = asl_ahead(p, words)->kind == TOK_RPAREN;
    }
    p->i = i;
    return cast;
}

static struct asl_expr *unary(struct asl_parser *p)
{
    const struct asl_token *t = asl_cur(p);
    if (!asl_enter(p))
        return asl_expr_new(p, E_ERROR, t);
    struct asl_expr *e;
    enum asl_op op = t->kind == TOK_MINUS                       ? OP_NEG
                     : t->kind == TOK_TILDE                     ? OP_COMPL
                     : t->kind == TOK_NOT || asl_word(t, "not") ? OP_NOT
                                                                : OP_NONE;
    if (op != OP_NONE) {
        e = asl_expr_new(p, E_UNARY, t);
        e->op = (uint8_t)op;
        p->i++;
        e->a = unary(p);
        e = join(p, e);
    } else if (t->kind == TOK_PLUS) {
        p->i++;
        e = unary(p);
    } else if (t->kind == TOK_INC || t->kind == TOK_DEC) {
        e = asl_expr_new(p, E_INCDEC, t);
        e->prefix = true;
        e->u.value = t->kind == TOK_INC ? 1 : -1;
        p->i++;
        e->a = unary(p);
        e = join(p, e);
    } else if (at_cast(p)) {
        e = asl_expr_new(p, E_CAST, t);
        p->i++;
        e->type = asl_parse_type(p);
        p->i++;
        e->a = unary(p);
        e = join(p, e);
    } else {
        e = postfix(p);
    }
    asl_leave(p);
    return e;
}

static int level_of(const struct asl_token *t, enum asl_op *op)
{
    static const struct {
        uint8_t tok, op, level;
    } table[] = {
        {TOK_OROR, OP_OR, 1},   {TOK_ANDAND, OP_AND, 2}, {TOK_PIPE, OP_BITOR, 3},
        {TOK_CARET, OP_XOR, 4}, {TOK_AMP, OP_BITAND, 5}, {TOK_EQ, OP_EQ, 6},
        {TOK_NE, OP_NE, 6},     {TOK_LT, OP_LT, 7},      {TOK_LE, OP_LE, 7},
        {TOK_GT, OP_GT, 7},     {TOK_GE, OP_GE, 7},      {TOK_SHL, OP_SHL, 8},
        {TOK_SHR, OP_SHR, 8},   {TOK_PLUS, OP_ADD, 9},   {TOK_MINUS, OP_SUB, 9},
        {TOK_STAR, OP_MUL, 10}, {TOK_SLASH, OP_DIV, 10}, {TOK_PERCENT, OP_MOD, 10},
    };
    if (t->kind == TOK_NAME) {
        *op = asl_word(t, "or") ? OP_OR : OP_AND;
        return asl_word(t, "or") ? 1 : asl_word(t, "and") ? 2 : 0;
    }
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (table[i].tok == t->kind) {
            *op = (enum asl_op)table[i].op;
            return table[i].level;
        }
    }
    return 0;
}

/* Binary operators that bind tighter than `level`. */
static struct asl_expr *binary(struct asl_parser *p, int level)
{
    struct asl_expr *e = unary(p);
    for (;;) {
        enum asl_op op = OP_NONE;
        const struct asl_token *t = asl_cur(p);
        int l = level_of(t, &op);
        if (l == 0 || l <= level)
            return e;
        struct asl_expr *x = asl_expr_new(p, E_BINARY, t);
        x->op = (uint8_t)op;
        p->i++;
        x->a = e;
        x->b = binary(p, l);
        e = join(p, x);
    }
}

static enum asl_op assign_op(enum asl_tok t, bool *is)
{
    *is = true;
    switch (t) {
    case TOK_ASSIGN:
        return OP_NONE;
    case TOK_ADD_ASSIGN:
        return OP_ADD;
    case TOK_SUB_ASSIGN:
        return OP_SUB;
    case TOK_MUL_ASSIGN:
        return OP_MUL;
    case TOK_DIV_ASSIGN:
        return OP_DIV;
    case TOK_MOD_ASSIGN:
        return OP_MOD;
    case TOK_AND_ASSIGN:
        return OP_BITAND;
    case TOK_OR_ASSIGN:
        return OP_BITOR;
    case TOK_XOR_ASSIGN:
        return OP_XOR;
    case TOK_SHL_ASSIGN:
        return OP_SHL;
    case TOK_SHR_ASSIGN:
        return OP_SHR;
    default:
        *is = false;
        return OP_NONE;
    }
}

struct asl_expr *asl_parse_assign(struct asl_parser *p)
{
    const struct asl_token *t = asl_cur(p);
    if (!asl_enter(p))
        return asl_expr_new(p, E_ERROR, t);
    struct asl_expr *e = binary(p, 0);
    t = asl_cur(p);
    bool assign;
    enum asl_op op = assign_op((enum asl_tok)t->kind, &assign);
    if (t->kind == TOK_QUESTION) {
        struct asl_expr *x = asl_expr_new(p, E_TERNARY, t);
        p->i++;
        x->a = e;
        x->b = asl_parse_expr(p);
        (void)asl_expect(p, TOK_COLON, "':'", "in '? :'");
        x->c = asl_parse_assign(p);
        e = join(p, x);
    } else if (assign) {
        struct asl_expr *x = asl_expr_new(p, E_ASSIGN, t);
        x->op = (uint8_t)op;
        p->i++;
        x->a = e;
        x->b = asl_parse_initializer(p);
        e = join(p, x);
    }
    asl_leave(p);
    return e;
}

struct asl_expr *asl_parse_expr(struct asl_parser *p)
{
    struct asl_expr *e = asl_parse_assign(p);
    while (asl_cur(p)->kind == TOK_COMMA) {
        struct asl_expr *x = asl_expr_new(p, E_COMMA, asl_cur(p));
        p->i++;
        x->a = e;
        x->b = asl_parse_assign(p);
        e = join(p, x);
    }
    return e;
}
