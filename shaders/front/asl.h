/* SPDX-License-Identifier: Apache-2.0 */
/* asl.h: what the stages of the ASL compiler share: sources, tokens, the tree, symbols.
 * The order of reading: lex.c, preprocess.c, parse_*.c, check_*.c, derivs.c, interp_*.c. */
#ifndef ASL_H
#define ASL_H

#include "shaders.h"
#include <setjmp.h>

/* Deeper trees are refused with an error: every stage walks trees by recursion. */
#define ASL_MAX_DEPTH 900
/* Elements of one array, numbers of one variable: LLVM's time grows with their square. */
#define ASL_MAX_ARRAY 16384

/* ---- sources and places --------------------------------------------------------------------- */

struct asl_source {
    const char *name;
    const char *text; /* NUL-terminated */
    size_t size;
    int64_t line_delta; /* #line: shown line = line + line_delta */
    const uint32_t *line_start;
    size_t line_count;
    const struct asl_source *base; /* the source whose text this shares (after #line), or NULL */
};

struct asl_loc {
    const struct asl_source *src;
    uint32_t line, col, len; /* physical, from 1 */
};

/* ---- one compile ---------------------------------------------------------------------------- */

struct asl_quiet {
    const struct asl_source *src;
    uint32_t line;
    struct asl_quiet *next;
};

struct asl_compile {
    struct arena *arena;
    const struct asl_options *opt;
    struct asl_diags *diags;
    struct error *err;
    jmp_buf fail; /* out of memory or past a limit: status is in fail_status */
    enum status fail_status;
    size_t used, max_bytes;
    const char *shown_at; /* last place of an error, so that one place complains once */
    uint32_t shown_line, shown_col;
    struct asl_quiet *quiet; /* lines that #pragma osl nowarn covers */
    const struct asl_length *lengths;
    bool procedure; /* C, not ASL */
    bool silent;    /* a compiled file: `aslc` warned of it, and its #pragmas are gone */
};

/* Zeroed memory of the compile; does not return when there is none. */
void *asl_alloc(struct asl_compile *c, size_t count, size_t size);
#define ASL_NEW(c, type)      ((type *)asl_alloc((c), 1, sizeof(type)))
#define ASL_ARRAY(c, type, n) ((type *)asl_alloc((c), (n), sizeof(type)))
char *asl_strndup(struct asl_compile *c, const char *s, size_t n);
char *asl_sprintf(struct asl_compile *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Doubles *cap until it holds `need` elements. */
void *asl_grow(struct asl_compile *c, void *old, size_t count, size_t *cap, size_t need,
               size_t size);
_Noreturn void asl_fail(struct asl_compile *c, enum status s, struct asl_loc at, const char *fmt,
                        ...) __attribute__((format(printf, 4, 5)));

void asl_error(struct asl_compile *c, struct asl_loc at, const char *hint, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* False: #pragma osl nowarn covers the place, nothing is said. */
bool asl_warn(struct asl_compile *c, struct asl_loc at, const char *hint, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* No warnings of the line that follows `at`. */
void asl_warn_off(struct asl_compile *c, struct asl_loc at);
void asl_note(struct asl_compile *c, struct asl_loc at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
struct src_pos asl_pos(struct asl_loc at);
void asl_diags_sort(struct asl_compile *c);
const struct asl_source *asl_source_new(struct asl_compile *c, const char *name, const char *text,
                                        size_t size);
/* The candidate nearest to `name` by edit distance, or NULL when none is near. */
const char *asl_nearest(const char *name, const char *best, const char *candidate);

/* ---- tokens --------------------------------------------------------------------------------- */

enum asl_tok {
    TOK_END,
    TOK_NEWLINE, /* only inside the preprocessor */
    TOK_NAME,
    TOK_NUMBER, /* a preprocessing number; the parser reads it */
    TOK_STRING, /* text includes the quotes */
    TOK_OTHER,  /* a byte that starts no token */
    TOK_PUNCT,  /* first of the punctuators */
    TOK_LPAREN = TOK_PUNCT,
    TOK_RPAREN,
    TOK_LBRACKET,
    TOK_RBRACKET,
    TOK_LBRACE,
    TOK_RBRACE,
    TOK_META_OPEN, /* [[ : made by the parser out of two brackets */
    TOK_META_CLOSE,
    TOK_COMMA,
    TOK_SEMI,
    TOK_COLON,
    TOK_QUESTION,
    TOK_DOT,
    TOK_ELLIPSIS,
    TOK_HASH,
    TOK_HASHHASH,
    TOK_PLUS,
    TOK_MINUS,
    TOK_STAR,
    TOK_SLASH,
    TOK_PERCENT,
    TOK_INC,
    TOK_DEC,
    TOK_SHL,
    TOK_SHR,
    TOK_LT,
    TOK_LE,
    TOK_GT,
    TOK_GE,
    TOK_EQ,
    TOK_NE,
    TOK_AMP,
    TOK_PIPE,
    TOK_CARET,
    TOK_TILDE,
    TOK_NOT,
    TOK_ANDAND,
    TOK_OROR,
    TOK_ASSIGN,
    TOK_ADD_ASSIGN,
    TOK_SUB_ASSIGN,
    TOK_MUL_ASSIGN,
    TOK_DIV_ASSIGN,
    TOK_MOD_ASSIGN,
    TOK_AND_ASSIGN,
    TOK_OR_ASSIGN,
    TOK_XOR_ASSIGN,
    TOK_SHL_ASSIGN,
    TOK_SHR_ASSIGN
};

struct asl_hideset {
    const struct asl_macro *macro;
    const struct asl_hideset *next;
};

struct asl_token {
    uint8_t kind;
    bool space; /* white space before it */
    bool start; /* first of its line */
    bool placemarker;
    uint32_t len;
    const char *text;
    struct asl_loc at;
    const struct asl_hideset *hidden;
};

struct asl_tokens {
    struct asl_token *t;
    size_t count, cap;
};

struct asl_lexer {
    struct asl_compile *c;
    const struct asl_source *src;
    const char *p, *end, *line_begin;
    uint32_t line;
    bool at_start;
    bool skipping; /* inside a false #if: no complaints about what is skipped */
};

void asl_lex_open(struct asl_lexer *lx, struct asl_compile *c, const struct asl_source *src);
void asl_lex_next(struct asl_lexer *lx, struct asl_token *t);
/* The kind of the punctuator that text[0..len) is, TOK_OTHER if it is none. */
enum asl_tok asl_punct(const char *text, size_t len);
/* Whole files through the preprocessor: what the parser reads; ends with TOK_END. */
void asl_preprocess_file(struct asl_compile *c, const struct asl_source *src,
                         struct asl_tokens *out);
/* #if's expression. */
bool asl_pp_condition(struct asl_compile *c, const struct asl_token *t, size_t n,
                      struct asl_loc at);
/* Decodes a string literal's text (with quotes) into bytes. */
const char *asl_string_value(struct asl_compile *c, const struct asl_token *t);

/* ---- the tree ------------------------------------------------------------------------------- */

struct asl_field {
    const char *name;
    struct asl_type type;
    uint32_t offset; /* slots */
    struct asl_loc at;
};

struct asl_struct {
    const char *name;
    struct asl_field *fields;
    size_t field_count;
    size_t slots;
    struct asl_loc at;
};

enum asl_op {
    OP_ADD,
    OP_SUB,
    OP_MUL,
    OP_DIV,
    OP_MOD,
    OP_SHL,
    OP_SHR,
    OP_LT,
    OP_LE,
    OP_GT,
    OP_GE,
    OP_EQ,
    OP_NE,
    OP_BITAND,
    OP_XOR,
    OP_BITOR,
    OP_AND,
    OP_OR,
    OP_NEG,
    OP_COMPL,
    OP_NOT,
    OP_NONE /* plain assignment */
};
const char *asl_op_text(enum asl_op op);     /* "+" */
const char *asl_op_function(enum asl_op op); /* "__operator__add__", NULL if none */

enum asl_expr_kind {
    E_ERROR, /* stands for what did not parse or check; complains no more */
    E_INT,
    E_FLOAT,
    E_STRING,
    E_NAME, /* from the parser; the checker makes it E_SYMBOL */
    E_SYMBOL,
    E_INDEX, /* a[b]: an array's element, or a triple's component */
    E_MELEM, /* a[b][c] of a matrix */
    E_FIELD, /* a.name: field `field` of a struct */
    E_UNARY,
    E_BINARY,
    E_TERNARY,   /* a ? b : c */
    E_ASSIGN,    /* a = b, a op= b */
    E_INCDEC,    /* value: +1 or -1; prefix */
    E_CALL,      /* name(args): function or builtin */
    E_CONSTRUCT, /* type(args) */
    E_CONVERT,   /* a to type, a legal implicit or explicit conversion */
    E_CAST,      /* (type) a, from the parser; the checker makes it E_CONVERT */
    E_LIST,      /* { args } */
    E_COMMA,     /* a, b */
    E_HELD       /* inside c of `a op= b`: the value that a held */
};

struct asl_expr {
    uint8_t kind, op;
    bool prefix, lvalue, paren;
    uint8_t
        derivs;   /* bits: 1 needed in this program, 2 needed when outputs must carry derivatives */
    bool swizzle; /* written .x: an E_INDEX with a constant index */
    uint16_t depth;
    struct asl_type type;
    uint32_t slots; /* of the value, once checked (0 for an array of unknown length) */
    struct asl_loc at;
    union {
        int32_t i;
        float f;
        const char *s;
        int32_t value;
        uint32_t field;
    } u;
    const char *name;
    struct asl_symbol *symbol;
    struct asl_function *function;
    const struct asl_builtin *builtin;
    const struct asl_overload *overload;
    struct asl_expr *a, *b, *c;
    struct asl_expr **args;
    size_t arg_count;
    uint32_t writes; /* E_CALL of a builtin: bit i: argument i, a pair's value, is written */
};

enum asl_stmt_kind {
    S_EMPTY,
    S_EXPR,
    S_BLOCK,
    S_DECL, /* variables */
    S_IF,
    S_WHILE,
    S_DO,
    S_FOR,
    S_BREAK,
    S_CONTINUE,
    S_RETURN,
    S_FUNCTION, /* a nested function's definition: nothing happens when it is reached */
    S_STRUCT
};

struct asl_decl { /* one variable of a declaration */
    const char *name;
    struct asl_type type;
    struct asl_loc at;
    struct asl_expr *init;
    struct asl_symbol *symbol;
    struct asl_decl *next;
};

struct asl_stmt {
    uint8_t kind;
    uint16_t depth;
    struct asl_loc at;
    struct asl_expr *e, *step;     /* condition or expression; for's step */
    struct asl_stmt *init;         /* for's initialisation */
    struct asl_stmt *body, *other; /* first statement of a block; then; else */
    struct asl_decl *decls;
    struct asl_function *function;
    struct asl_stmt *next;
};

enum asl_symbol_kind { SYM_LOCAL, SYM_PARAM, SYM_GLOBAL, SYM_FORMAL };

struct asl_symbol {
    const char *name;
    enum asl_symbol_kind kind;
    struct asl_type type;
    struct asl_loc at;
    uint32_t index;  /* of its place in a layer */
    uint32_t global; /* SYM_GLOBAL: which */
    bool output, used, written;
    uint8_t derivs; /* as of expressions */
    struct asl_function *owner;
};

struct asl_formal {
    const char *name;
    struct asl_type type;
    bool output;
    struct asl_loc at;
    struct asl_expr *init; /* shader parameters */
    struct asl_decl *metadata;
    struct asl_symbol *symbol;
    struct asl_formal *next;
};

struct asl_function {
    const char *name;
    struct asl_type type; /* what it returns */
    struct asl_loc at;
    struct asl_formal *formals;
    size_t formal_count;
    struct asl_stmt *body;
    bool is_shader, returns, busy, used;
    bool is_core;   /* a core program, whose variables are its parameters */
    bool component; /* a prototype that declares a closure component of the renderer's */
    const struct asl_overload *row; /* what it is in builtins.def; NULL: the renderers lack it */
    uint8_t derivs;                 /* of the returned value */
    enum asl_shader_kind kind;
    struct asl_decl *metadata;
    struct asl_function *next_overload; /* older or outer functions of the same name */
    struct asl_function *parent;
    uint32_t id;
};

struct asl_shader {
    struct asl_shader_info info;
    struct asl_function *fn;
};

struct asl_top { /* a file in order, for dumps */
    struct asl_function *fn;
    struct asl_struct *st;
    struct asl_top *next;
};

struct asl_program {
    const char *file;
    struct asl_tokens tokens;    /* what it was parsed from */
    struct asl_symbol **symbols; /* by index; one layer stores one place for each */
    size_t symbol_count;
    struct asl_top *tops;
    struct asl_shader **shaders;
    size_t shader_count;
};

/* ---- stages --------------------------------------------------------------------------------- */

/* The length that a group gives a parameter T x[] of a shader. */
struct asl_length {
    const char *shader, *param;
    int32_t length;
    const struct asl_length *next;
};
/* The program once more, with these lengths; it lives in the arena. */
enum status asl_program_resize(struct arena *a, const struct asl_program *p,
                               const struct asl_length *lengths, const struct asl_program **out,
                               struct error *err);

struct asl_program *asl_parse(struct asl_compile *c, const struct asl_tokens *t);
void asl_check(struct asl_compile *c, struct asl_program *p);
/* Marks the symbols and expressions that must carry derivatives. */
void asl_mark_derivs(struct asl_compile *c, struct asl_program *p);

/* ---- types ---------------------------------------------------------------------------------- */

static inline struct asl_type asl_type_of(enum asl_base b) { return (struct asl_type){.base = b}; }
static inline bool asl_is_triple_base(enum asl_base b) { return b >= ASL_COLOR && b <= ASL_NORMAL; }
static inline bool asl_is_triple(struct asl_type t)
{
    return t.array == 0 && asl_is_triple_base(t.base);
}
static inline bool asl_is_scalar(struct asl_type t) /* int or float */
{
    return t.array == 0 && (t.base == ASL_INT || t.base == ASL_FLOAT);
}
static inline bool asl_is(struct asl_type t, enum asl_base b)
{
    return t.array == 0 && t.base == b;
}
static inline bool asl_is_numeric(struct asl_type t)
{
    return t.array == 0 && t.base >= ASL_INT && t.base <= ASL_MATRIX;
}
bool asl_same_type(struct asl_type a, struct asl_type b);
/* Is there an implicit conversion? `cost` (may be NULL) is its price in overload resolution. */
bool asl_converts(struct asl_type from, struct asl_type to, unsigned *cost);
bool asl_has_floats(struct asl_type t);
struct asl_type asl_element_type(struct asl_type t);
/* The variable that e is, or is a part of; NULL: neither. */
const struct asl_symbol *asl_root_symbol(const struct asl_expr *e);
/* Is an argument passed itself: a variable or a field of one? */
bool asl_passed_itself(const struct asl_expr *arg);
/* Do changes that a function makes to its parameter show in the argument? */
bool asl_shows_changes(const struct asl_formal *a, const struct asl_expr *arg);
bool asl_base_from_name(const char *name, size_t len, enum asl_base *out);

/* ---- builtins ------------------------------------------------------------------------------- */

enum asl_builtin_id {
#define BUILTIN(id, name, sigs, deriv, ulp, text) BI_##id,
#define BUILTIN_SECTION(text)
#include "builtins.def"
#undef BUILTIN
#undef BUILTIN_DECLARED
#undef BUILTIN_INTERNAL
#undef BUILTIN_SECTION
    BI_COUNT
};

#define ASL_MAX_ARGS 18

struct asl_overload {
    struct asl_type ret;
    uint8_t count;    /* of fixed arguments */
    uint8_t tail;     /* 0: none; '.' key and value pairs; '*' anything; 'A' more of the last one */
    bool returns_any; /* unused by checking */
    struct asl_type args[ASL_MAX_ARGS];
    uint32_t outputs; /* bit i: argument i is written */
};

struct asl_builtin {
    enum asl_builtin_id id;
    const char *name, *sigs, *deriv, *ulp, *text;
    const struct asl_overload *overloads;
    size_t overload_count;
    bool declared; /* a closure component that programs see where a prototype declares it */
};

/* Does a builtin look at the derivatives of its arguments, whether its own are wanted or not? */
bool asl_takes_derivs(const struct asl_builtin *b);

/* Does the call of a builtin write its argument i? */
static inline bool asl_writes(const struct asl_expr *call, size_t i)
{
    return i < call->overload->count ? (call->overload->outputs >> i) & 1
                                     : i < 32 && (call->writes >> i) & 1;
}

/* Built once, on first use; NULL when the name is none. Thread-safe. find: what every program sees;
 * row_of: also components that a prototype must declare. */
const struct asl_builtin *asl_builtin_find(const char *name);
const struct asl_builtin *asl_builtin_row_of(const char *name);
const struct asl_builtin *asl_builtin_at(size_t i);

/* ---- pairs of texture() and environment(): texture_pairs.c ---------------------------------- */

/* Numbered as struct a_texture of device/asl/texture.h has them. */
enum asl_wrap { ASL_WRAP_BLACK, ASL_WRAP_CLAMP, ASL_WRAP_PERIODIC, ASL_WRAP_MIRROR };
enum asl_filter { ASL_FILTER_SMART, ASL_FILTER_CLOSEST, ASL_FILTER_LINEAR, ASL_FILTER_CUBIC };

/* How many times as long as wide the footprint of a lookup is at most, unless "anisotropic" says so;
 * and the most that it can say. */
enum { ASL_ANISOTROPIC = 1, ASL_ANISOTROPIC_MAX = 64 };

/* A string that an option may be, and its asl_wrap or asl_filter. */
struct asl_texture_word {
    const char *name;
    int number;
};
struct asl_texture_option {
    const char *key;
    enum asl_base base; /* of the value: asl_texture_takes */
    const struct asl_texture_word
        *words;   /* ends with name NULL, whose number is the default; NULL: not of words */
    bool wraps;   /* words are of asl_wrap */
    bool flat;    /* environment() does not look at it */
    bool written; /* the value is a variable */
    bool idle;    /* OSL has it, and it changes nothing of an image */
};
/* NULL: there is none. "" is one, which is idle. */
const struct asl_texture_option *asl_texture_option(const char *key);
/* A float may be an int, a colour any triple, a subimage a string. */
bool asl_texture_takes(const struct asl_texture_option *o, struct asl_type t);
/* Of an option of words: the word, or the default where `name` is none of them. */
const struct asl_texture_word *asl_texture_word(const struct asl_texture_option *o,
                                                const char *name);
/* What a run reports of a pair that the checker has not seen whole: the option or NULL, the type of
 * the value, whether the call writes it, and its string; NULL: it is none, or is not known yet. What has no effect in `id`, BI_TEXTURE or BI_ENVIRONMENT, fits. */
enum asl_pair_fault {
    ASL_PAIR_FITS,
    ASL_PAIR_NO_OPTION,
    ASL_PAIR_TYPE,      /* the option takes another one */
    ASL_PAIR_UNWRITTEN, /* it writes, and its name was not known to the checker */
    ASL_PAIR_VALUE      /* none of the option's words */
};
enum asl_pair_fault asl_pair_fault(enum asl_builtin_id id, const struct asl_texture_option *o,
                                   struct asl_type t, bool written, const char *value);

/* Global variables: index into the list, -1 if the name is none. */
int asl_global_find(const char *name);

enum asl_global {
    GV_P,
    GV_I,
    GV_N,
    GV_Ng,
    GV_u,
    GV_v,
    GV_dPdu,
    GV_dPdv,
    GV_Ps,
    GV_time,
    GV_dtime,
    GV_dPdtime,
    GV_Ci,
    GV_COUNT
};
const char *asl_global_name(enum asl_global g);
struct asl_type asl_global_type(enum asl_global g);

#endif
