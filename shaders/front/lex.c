/* SPDX-License-Identifier: Apache-2.0 */
/* lex.c: bytes into preprocessing tokens. A backslash at the end of a line joins it to the next
 * one, inside tokens too; comments are white space. */
#include "asl.h"

#include <string.h>

static const struct {
    const char *text;
    enum asl_tok kind;
} puncts[] = {
    /* longest first */
    {"...", TOK_ELLIPSIS},  {"<<=", TOK_SHL_ASSIGN}, {">>=", TOK_SHR_ASSIGN},
    {"##", TOK_HASHHASH},   {"++", TOK_INC},         {"--", TOK_DEC},
    {"<<", TOK_SHL},        {">>", TOK_SHR},         {"<=", TOK_LE},
    {">=", TOK_GE},         {"==", TOK_EQ},          {"!=", TOK_NE},
    {"&&", TOK_ANDAND},     {"||", TOK_OROR},        {"+=", TOK_ADD_ASSIGN},
    {"-=", TOK_SUB_ASSIGN}, {"*=", TOK_MUL_ASSIGN},  {"/=", TOK_DIV_ASSIGN},
    {"%=", TOK_MOD_ASSIGN}, {"&=", TOK_AND_ASSIGN},  {"|=", TOK_OR_ASSIGN},
    {"^=", TOK_XOR_ASSIGN}, {"(", TOK_LPAREN},       {")", TOK_RPAREN},
    {"[", TOK_LBRACKET},    {"]", TOK_RBRACKET},     {"{", TOK_LBRACE},
    {"}", TOK_RBRACE},      {",", TOK_COMMA},        {";", TOK_SEMI},
    {":", TOK_COLON},       {"?", TOK_QUESTION},     {".", TOK_DOT},
    {"#", TOK_HASH},        {"+", TOK_PLUS},         {"-", TOK_MINUS},
    {"*", TOK_STAR},        {"/", TOK_SLASH},        {"%", TOK_PERCENT},
    {"<", TOK_LT},          {">", TOK_GT},           {"&", TOK_AMP},
    {"|", TOK_PIPE},        {"^", TOK_CARET},        {"~", TOK_TILDE},
    {"!", TOK_NOT},         {"=", TOK_ASSIGN},
};
enum { PUNCT_COUNT = sizeof puncts / sizeof *puncts };

enum asl_tok asl_punct(const char *text, size_t len)
{
    for (size_t i = 0; i < PUNCT_COUNT; i++)
        if (strlen(puncts[i].text) == len && memcmp(puncts[i].text, text, len) == 0)
            return puncts[i].kind;
    return TOK_OTHER;
}

void asl_lex_open(struct asl_lexer *lx, struct asl_compile *c, const struct asl_source *src)
{
    *lx = (struct asl_lexer){.c = c, .src = src, .p = src->text, .end = src->text + src->size};
    if (src->size >= 3 && memcmp(src->text, "\xEF\xBB\xBF", 3) == 0)
        lx->p += 3; /* a byte order mark */
    lx->line_begin = lx->p;
    lx->line = 1;
    lx->at_start = true;
}

static bool is_name_start(int ch)
{
    return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || ch == '_';
}
static bool is_digit(int ch) { return ch >= '0' && ch <= '9'; }

/* Length of a line splice at p (backslash, newline), 0 if there is none. */
static size_t splice(const struct asl_lexer *lx, const char *p)
{
    if (p >= lx->end || *p != '\\')
        return 0;
    if (p + 1 < lx->end && p[1] == '\n')
        return 2;
    if (p + 2 < lx->end && p[1] == '\r' && p[2] == '\n')
        return 3;
    return 0;
}

static void skip_splices(struct asl_lexer *lx)
{
    for (size_t n; (n = splice(lx, lx->p)) != 0;) {
        lx->p += n;
        lx->line++;
        lx->line_begin = lx->p;
    }
}

/* The byte at p after any splices, -1 at the end. */
static int peek(struct asl_lexer *lx)
{
    skip_splices(lx);
    return lx->p < lx->end ? (unsigned char)*lx->p : -1;
}

/* The byte after the current one, -1 at the end. */
static int peek2(const struct asl_lexer *lx)
{
    const char *p = lx->p + 1;
    for (size_t n; (n = splice(lx, p)) != 0;)
        p += n;
    return p < lx->end ? (unsigned char)*p : -1;
}

static struct asl_loc here(const struct asl_lexer *lx)
{
    return (struct asl_loc){lx->src, lx->line, (uint32_t)(lx->p - lx->line_begin) + 1, 1};
}

/* White space and comments; stops at a newline. */
static bool skip_blank(struct asl_lexer *lx)
{
    bool any = false;
    for (;;) {
        int ch = peek(lx);
        if (ch == ' ' || ch == '\t' || ch == '\r' || ch == '\f' || ch == '\v') {
            lx->p++;
        } else if (ch == '/' && peek2(lx) == '/') {
            while ((ch = peek(lx)) != -1 && ch != '\n')
                lx->p++;
        } else if (ch == '/' && peek2(lx) == '*') {
            struct asl_loc at = here(lx);
            lx->p++;
            (void)peek(lx);
            lx->p++;
            for (;;) {
                ch = peek(lx);
                if (ch == -1) {
                    if (!lx->skipping)
                        asl_error(lx->c, at, "close it with */", "this comment does not end");
                    break;
                }
                lx->p++;
                if (ch == '\n') {
                    lx->line++;
                    lx->line_begin = lx->p;
                } else if (ch == '*' && peek(lx) == '/') {
                    lx->p++;
                    break;
                }
            }
        } else {
            return any;
        }
        any = true;
    }
}

/* Takes the token from `begin` to the cursor; a copy without splices when there were some. */
static void finish(struct asl_lexer *lx, struct asl_token *t, const char *begin, uint32_t line)
{
    size_t n = (size_t)(lx->p - begin);
    if (lx->line == line) {
        t->text = begin;
    } else {
        char *d = asl_alloc(lx->c, n + 1, 1);
        size_t k = 0;
        for (const char *p = begin; p < lx->p;) {
            size_t s = splice(lx, p);
            if (s)
                p += s;
            else
                d[k++] = *p++;
        }
        t->text = d;
        n = k;
    }
    if (n > UINT32_MAX)
        asl_fail(lx->c, STATUS_LIMIT, t->at, "this token is longer than 4 GiB");
    t->len = (uint32_t)n;
    t->at.len = n < 200 ? (uint32_t)n : 200;
}

static void lex_string(struct asl_lexer *lx, struct asl_token *t)
{
    t->kind = TOK_STRING;
    lx->p++;
    for (;;) {
        int ch = peek(lx);
        if (ch == -1 || ch == '\n') {
            if (!lx->skipping)
                asl_error(lx->c, t->at, "close it with \" on the same line",
                          "this string does not end");
            return;
        }
        lx->p++;
        if (ch == '"')
            return;
        if (ch == '\\') {
            ch = peek(lx);
            if (ch != -1 && ch != '\n')
                lx->p++;
        }
    }
}

static void lex_name(struct asl_lexer *lx, struct asl_token *t)
{
    t->kind = TOK_NAME;
    for (int ch = peek(lx); is_name_start(ch) || is_digit(ch); ch = peek(lx))
        lx->p++;
}

/* A preprocessing number: checked when it is read as one. */
static void lex_number(struct asl_lexer *lx, struct asl_token *t)
{
    const char *begin = lx->p;
    int ch = peek(lx);
    t->kind = TOK_NUMBER;
    while (is_name_start(ch) || is_digit(ch) || ch == '.') {
        lx->p++;
        int next = peek(lx);
        /* a sign belongs to the number after e, but not in 0xe+1 */
        if ((ch == 'e' || ch == 'E') && (next == '+' || next == '-') &&
            !(lx->p - begin > 1 && begin[0] == '0' && (begin[1] == 'x' || begin[1] == 'X'))) {
            lx->p++;
            next = peek(lx);
        }
        ch = next;
    }
}

/* The longest of the table's that is there, or a character that is no token. */
static void lex_punct(struct asl_lexer *lx, struct asl_token *t)
{
    t->kind = TOK_OTHER;
    char buf[3] = {0};
    size_t n = 0;
    const char *q = lx->p;
    while (n < 3 && q < lx->end) {
        size_t s = splice(lx, q);
        if (s) {
            q += s;
            continue;
        }
        buf[n++] = *q++;
    }
    for (size_t i = 0; i < PUNCT_COUNT; i++) {
        size_t len = strlen(puncts[i].text);
        if (len > n || memcmp(puncts[i].text, buf, len) != 0)
            continue;
        t->kind = (uint8_t)puncts[i].kind;
        for (size_t k = 0; k < len; k++) {
            (void)peek(lx);
            lx->p++;
        }
        return;
    }
    lx->p++;
    while (lx->p < lx->end && (*lx->p & 0xC0) == 0x80) /* the rest of a UTF-8 character */
        lx->p++;
}

void asl_lex_next(struct asl_lexer *lx, struct asl_token *t)
{
    *t = (struct asl_token){.start = lx->at_start};
    t->space = skip_blank(lx);
    int ch = peek(lx);
    t->at = here(lx);
    const char *begin = lx->p;
    uint32_t line = lx->line;
    if (ch == -1) {
        t->kind = TOK_END;
        t->text = "";
        return;
    }
    if (ch == '\n') {
        t->kind = TOK_NEWLINE;
        t->text = lx->p++;
        t->len = 1;
        lx->line++;
        lx->line_begin = lx->p;
        lx->at_start = true;
        return;
    }
    lx->at_start = false;
    if (is_name_start(ch))
        lex_name(lx, t);
    else if (is_digit(ch) || (ch == '.' && is_digit(peek2(lx))))
        lex_number(lx, t);
    else if (ch == '"')
        lex_string(lx, t);
    else
        lex_punct(lx, t);
    finish(lx, t, begin, line);
}

const char *asl_string_value(struct asl_compile *c, const struct asl_token *t)
{
    char *d = asl_alloc(c, (size_t)t->len + 1, 1);
    size_t k = 0;
    const char *p = t->text + 1, *end = t->text + t->len;
    if (end > p && end[-1] == '"')
        end--;
    while (p < end) {
        if (*p != '\\' || p + 1 >= end) {
            d[k++] = *p++;
            continue;
        }
        p++;
        char ch = *p++;
        static const char from[] = "nrtbfva\\\"'?", to[] = "\n\r\t\b\f\v\a\\\"'?";
        const char *f = memchr(from, ch, sizeof from - 1);
        int value = -1;
        if (f) {
            value = (unsigned char)to[f - from];
        } else if (ch >= '0' && ch <= '7') {
            value = ch - '0';
            for (int i = 0; i < 2 && p < end && *p >= '0' && *p <= '7'; i++)
                value = value * 8 + (*p++ - '0');
            value &= 255;
        } else if (ch == 'x' && p < end && hex_digit(*p) >= 0) {
            value = 0;
            while (p < end && hex_digit(*p) >= 0)
                value = (value * 16 + hex_digit(*p++)) & 255;
        }
        if (value < 0) {
            asl_warn(c, t->at, "write \\\\ for a backslash",
                     "\\%c is no escape sequence; the backslash is dropped",
                     ch >= 32 && ch < 127 ? ch : '?');
            value = (unsigned char)ch;
        }
        if (value == 0) {
            asl_error(c, t->at, NULL, "a string cannot hold the character 0");
            break;
        }
        d[k++] = (char)value;
    }
    d[k] = 0;
    return d;
}
