/* SPDX-License-Identifier: Apache-2.0 */
/* parse.h: what the two files of the parser share. */
#ifndef ASL_PARSE_H
#define ASL_PARSE_H

#include "asl.h"

#define ASL_MAX_CHAIN 3000 /* terms of a + b + c + ...: such trees lean to the left */

struct asl_scope_struct { /* struct names in sight, innermost first */
    struct asl_struct *st;
    struct asl_scope_struct *next;
};

struct asl_parser {
    struct asl_compile *c;
    const struct asl_token *t;
    size_t count, i;
    unsigned depth;
    bool too_deep;
    struct asl_scope_struct *structs;
    struct asl_program *program;
    struct asl_top **top_tail;
};

static inline const struct asl_token *asl_cur(const struct asl_parser *p) { return &p->t[p->i]; }
static inline const struct asl_token *asl_ahead(const struct asl_parser *p, size_t n)
{
    return &p->t[p->i + n < p->count ? p->i + n : p->count - 1];
}
bool asl_word(const struct asl_token *t, const char *word);
bool asl_accept(struct asl_parser *p, enum asl_tok kind);
bool asl_expect(struct asl_parser *p, enum asl_tok kind, const char *what, const char *where);
void asl_unexpected(struct asl_parser *p, const char *expected);
const char *asl_token_name(struct asl_parser *p, const struct asl_token *t);
/* False once nesting is too deep; then the rest of the file is given up. */
bool asl_enter(struct asl_parser *p);
void asl_leave(struct asl_parser *p);
bool asl_is_reserved(const struct asl_token *t);
/* Does a type stand here? Struct names count when `structs`. */
bool asl_at_type(const struct asl_parser *p, bool structs);
struct asl_type asl_parse_type(struct asl_parser *p);
int32_t asl_parse_array(struct asl_parser *p); /* 0 when there is no [ */

struct asl_expr *asl_expr_new(struct asl_parser *p, enum asl_expr_kind kind,
                              const struct asl_token *at);
struct asl_expr *asl_parse_expr(struct asl_parser *p);   /* with commas */
struct asl_expr *asl_parse_assign(struct asl_parser *p); /* without */
struct asl_expr *asl_parse_initializer(struct asl_parser *p);

#endif
