/* SPDX-License-Identifier: Apache-2.0 */
/* text.h: what the files of the reader of LLVM's assembly language share (module_text.c).
 * Words of the file are not copied: they end with it. What is read is allocated for the compile. All refuse what they
 * cannot read, with its place. */
#ifndef ASL_MODULE_TEXT_H
#define ASL_MODULE_TEXT_H

#include "module/module.h"

enum word_kind {
    WORD_END,
    WORD_NAME,   /* define, i32, float */
    WORD_LABEL,  /* name: */
    WORD_LOCAL,  /* %name */
    WORD_GLOBAL, /* @name */
    WORD_META,   /* !name, #dbg_value */
    WORD_GROUP,  /* #0, $comdat, ^0 */
    WORD_NUMBER,
    WORD_STRING,
    WORD_BYTES, /* c"..." */
    WORD_SIGN   /* one character, or ... */
};

struct word {
    enum word_kind kind;
    const char *text; /* of a name without its sign and quotes */
    size_t len;
    struct asl_loc at;
};

enum { NAMES = 1024, CONSTANT_NESTING = 200 };

struct name {
    const char *text;
    size_t len;
    void *is;
    struct asl_loc at; /* where it was first named */
    struct name *next;
};

struct names {
    struct name *chain[NAMES];
};

/* Where the reader is. */
struct cursor {
    const char *p, *line_begin;
    uint32_t line;
    struct word w;
};

struct reader {
    struct module *m;
    struct asl_compile *c;
    const char *p, *line_begin, *end;
    uint32_t line;
    struct word w;                               /* the next one */
    uint32_t behind;                             /* the line of the one before */
    struct names types, globals, values, blocks; /* the last two: of a function */
    struct module_function *f;
    struct module_block *block;
    uint64_t unnamed; /* number of the function's next value without a name */
    unsigned depth;
};

/* ---- text_words.c ---------------------------------------------------------------------------- */

static inline bool ll_digit(char ch) { return ch >= '0' && ch <= '9'; }

void ll_next(struct reader *r);

/* Where the reader is, and back to there. */
struct cursor ll_cursor(const struct reader *r);
void ll_go_back(struct reader *r, const struct cursor *to);

/* The next word is not `what` was expected. */
_Noreturn void ll_wrong(struct reader *r, const char *what);

/* Is it the next word; if so, behind it; it must be. */
bool ll_is_sign(const struct reader *r, const char *sign);
bool ll_is_name(const struct reader *r, const char *name);
bool ll_take_sign(struct reader *r, const char *sign);
bool ll_take_name(struct reader *r, const char *name);
void ll_want(struct reader *r, const char *sign);
void ll_want_name(struct reader *r, const char *name);

/* A whole number without a sign. */
uint64_t ll_want_count(struct reader *r);

/* The next word as messages have it, behind a sign. */
const char *ll_shown(struct reader *r, char sign);

/* The entry of a name: made when it is not there, with NULL in `is`. */
struct name *ll_name_of(struct reader *r, struct names *n, const char *text, size_t len);

/* Behind the bracket that is next, and all in it; the second, if one is next. */
void ll_skip_brackets(struct reader *r);
void ll_skip_group(struct reader *r);

/* ---- text_values.c: types, constants and operands --------------------------------------------- */

struct module_type *ll_type_new(struct reader *r, enum module_type_kind kind);

/* Appends a field, parameter or element; *cap: of t->of. */
void ll_type_push(struct reader *r, struct module_type *t, size_t *cap,
                  const struct module_type *of);

const struct module_type *ll_type(struct reader *r);

/* Is the next word the first of a type? */
bool ll_at_type(const struct reader *r);

/* Of the place of the next word. */
struct module_value *ll_value_new(struct reader *r, enum module_value_kind kind,
                                  const struct module_type *t);

/* Appends an operand; *cap: of v->ops. */
void ll_push(struct reader *r, struct module_value *v, size_t *cap, struct module_value *op);

/* A value of the type; the second reads its type too. */
struct module_value *ll_value(struct reader *r, const struct module_type *t);
struct module_value *ll_typed_value(struct reader *r);

/* @name, which may be defined later. */
struct module_value *ll_global_named(struct reader *r, const struct module_type *t);

/* ---- text_code.c: a function's instructions ----------------------------------------------------- */

void ll_block_begin(struct reader *r, const char *text, size_t len);
void ll_instruction(struct reader *r);

/* What has no name is numbered: a name that is a number counts; the next number as text. */
void ll_count_name(struct reader *r, const char *text, size_t len);
const char *ll_unnamed(struct reader *r);

/* v takes the name; what was used before it was defined becomes it. */
struct module_value *ll_define_local(struct reader *r, const char *text, size_t len,
                                     const struct module_value *v);

#endif
