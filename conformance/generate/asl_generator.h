/* SPDX-License-Identifier: Apache-2.0 */
/* asl_generator.h: the inside of the generator of ASL programs: dice, types, names in scope. */
#ifndef CONFORMANCE_ASL_GENERATOR_H
#define CONFORMANCE_ASL_GENERATOR_H

#include "asl_generate.h"
#include "shaders.h"

enum asl_construct {
#define CONSTRUCT(id, section, text) CONSTRUCT_##id,
#include "asl_constructs.def"
#undef CONSTRUCT
    CONSTRUCT_COUNT
};

/* ---- dice ------------------------------------------------------------------------------------ */

struct dice {
    uint32_t counter[4], key[2], word[4];
    unsigned left;
};
void dice_seed(struct dice *d, uint64_t seed);
uint32_t dice_roll(struct dice *d, uint32_t sides); /* 0 .. sides-1 */
bool dice_chance(struct dice *d, unsigned percent);

/* ---- builtins -------------------------------------------------------------------------------- */

enum { MAX_SIGNATURE_ARGS = 20 };
struct argument {
    enum asl_base base; /* ASL_UNKNOWN: any type */
    bool array, output;
};
/* One overload, as builtins.def writes it. */
struct signature {
    const struct asl_builtin_row *row;
    enum asl_base result;
    bool generic; /* the result alone tells this overload from others */
    char tail;    /* 0, '+', '*', '.' */
    unsigned count;
    struct argument arg[MAX_SIGNATURE_ARGS];
    float bound; /* of its floats: relative, 0 when they are exact */
};
/* All of them, refused builtins apart; built once, thread-safe. */
const struct signature *signatures_all(size_t *count);
/* The strings that mean something as an argument, separated by blanks; NULL: any. */
const char *signature_words(const struct signature *s, unsigned argument);
/* Nothing that expressions call: exit() and the printing functions are constructs with writers of
 * their own, nodes of dictionaries have other numbers on other engines. */
bool signature_is_special(const struct signature *s);

/* ---- names in scope -------------------------------------------------------------------------- */

enum { MAX_VARS = 160, MAX_FIELDS = 4, MAX_STRUCTS = 3, MAX_FUNCTIONS = 12, MAX_FORMALS = 4 };

struct kind { /* a type of the program */
    enum asl_base base;
    int array; /* 0, or a length */
    int st;    /* of ASL_STRUCT: which */
};
struct variable {
    char name[16];
    struct kind kind;
    bool writable;
};
struct field {
    char name[16];
    struct kind kind;
};
struct structure {
    char name[16];
    unsigned count;
    struct field field[MAX_FIELDS];
};
struct function {
    char name[16];
    struct kind result;
    unsigned count;
    struct kind formal[MAX_FORMALS];
    bool output[MAX_FORMALS];
    bool nested; /* visible in the shader that is being written only */
    bool cast;   /* overloaded by its result: a call says which */
};

struct generator {
    struct dice dice;
    struct text *out;
    struct asl_generate_options opt;
    struct asl_generated what;
    struct variable vars[MAX_VARS];
    size_t var_count;
    struct structure structs[MAX_STRUCTS];
    unsigned struct_count;
    struct function functions[MAX_FUNCTIONS];
    unsigned function_count;
    unsigned names;  /* for new ones */
    int budget;      /* nodes of expressions left */
    unsigned indent; /* blocks around */
    unsigned loops;  /* loops around */
    unsigned calls;  /* of functions that may still be written down */
    unsigned prints; /* that may still be */
    bool in_function, in_shader, macros, operators;
    bool *constructs; /* of this program */
    bool *signatures;
};

static inline struct kind kind_of(enum asl_base b) { return (struct kind){.base = b}; }
static inline bool is_triple(enum asl_base b) { return b >= ASL_COLOR && b <= ASL_NORMAL; }
static inline bool same_kind(struct kind a, struct kind b)
{
    return a.base == b.base && a.array == b.array && (a.base != ASL_STRUCT || a.st == b.st);
}
uint32_t roll(struct generator *g, uint32_t sides);
bool chance(struct generator *g, unsigned percent);
void cover(struct generator *g, enum asl_construct c);
/* Adds a finished program's rows. */
void coverage_add(struct asl_coverage *c, const bool *construct, const bool *signature);
void put(struct generator *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const char *kind_name(const struct generator *g, struct kind k); /* without the array's length */
/* The variable of that kind, chosen at random among the visible; NULL when there is none. */
const struct variable *pick_variable(struct generator *g, struct kind k, bool writable);
/* "name", "name[i]", "name.x", "name.field" ... of base type `base`, into place; false when there
 * is none. Its index has no effects. */
bool pick_place(struct generator *g, enum asl_base base, bool writable, char place[64]);
struct variable *declare(struct generator *g, const char *prefix, struct kind k, bool writable);

/* ---- expressions ----------------------------------------------------------------------------- */

/* Writes an expression of exactly this type. */
void write_expression(struct generator *g, struct kind k, int depth);
/* As the type's condition. */
void write_condition(struct generator *g, int depth);
void write_literal(struct generator *g, enum asl_base base);
void write_string_literal(struct generator *g);
/* A value for a declaration: an expression or a list. */
void write_initial(struct generator *g, struct kind k, int depth);
/* A call of a builtin with this result as an expression; false when none fits here. */
bool write_builtin_call(struct generator *g, enum asl_base result, int depth);
/* Statements that make arguments for an overload, call it, and keep what it gives. */
void write_builtin_statement(struct generator *g);
/* Dx(f(e)) and the like, rounded as the discipline wants. */
bool write_derivative(struct generator *g, enum asl_base result, int depth);
/* "name(args)" of a function of the program; false when none fits. */
bool write_function_call(struct generator *g, struct kind result, int depth);
/* Formats: "fmt", values. Each ends with what closes the call. */
void write_format(struct generator *g);
void write_keep(struct generator *g, const char *name, struct kind k);

#endif
