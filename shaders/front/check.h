/* SPDX-License-Identifier: Apache-2.0 */
/* check.h: what the files of the checker share. */
#ifndef ASL_CHECK_H
#define ASL_CHECK_H

#include "asl.h"

struct asl_binding {
    const char *name;
    struct asl_symbol *symbol; /* one of the two */
    struct asl_function *function;
    unsigned scope;
    struct asl_binding *hidden;   /* same bucket, older */
    struct asl_binding *in_scope; /* same scope, older */
};

enum { CHECK_BUCKETS = 2048, CHECK_SCOPES = ASL_MAX_DEPTH * 2 + 16 };

struct asl_checker {
    struct asl_compile *c;
    struct asl_program *program;
    struct asl_binding *buckets[CHECK_BUCKETS];
    struct asl_binding *scope_names[CHECK_SCOPES];
    unsigned scope;
    struct asl_function *fn;     /* the function or shader whose body this is */
    struct asl_function *shader; /* the shader, if any */
    struct asl_symbol *globals[GV_COUNT];
    unsigned loops;
    size_t symbol_cap, function_count;
    bool reachable;
    bool in_default;     /* of a shader's parameter */
    unsigned body_scope; /* of the shader */
};

struct asl_symbol *asl_lookup(const struct asl_checker *k, const char *name);
/* The innermost function of that name; outer ones and overloads follow by next_overload. */
struct asl_function *asl_lookup_function(const struct asl_checker *k, const char *name);
/* Is the innermost thing of that name a variable? */
bool asl_hides_function(const struct asl_checker *k, const char *name);
struct asl_symbol *asl_symbol_new(struct asl_checker *k, const char *name,
                                  enum asl_symbol_kind kind, struct asl_type type,
                                  struct asl_loc at);
const char *asl_type_show(struct asl_checker *k, struct asl_type t);

/* Types e; `expected` steers overloads that differ by their result, UNKNOWN: nothing is expected.
 */
void asl_check_expr(struct asl_checker *k, struct asl_expr *e, struct asl_type expected);
/* e as a value of type t: e itself or an E_CONVERT around it. Complains "cannot <what> X to Y". */
struct asl_expr *asl_coerce(struct asl_checker *k, struct asl_expr *e, struct asl_type t,
                            const char *what);
/* The same for what is stored in a variable: there an int takes a float, with a warning. */
struct asl_expr *asl_coerce_stored(struct asl_checker *k, struct asl_expr *e, struct asl_type t,
                                   const char *what);
/* Types a list of values { ... } as a value of type t. */
void asl_check_list(struct asl_checker *k, struct asl_expr *e, struct asl_type t);
void asl_check_call(struct asl_checker *k, struct asl_expr *e, struct asl_type expected);
/* Reports a call at `at` of a function that should give a value and has no return. */
void asl_check_returns(struct asl_checker *k, const struct asl_function *f, struct asl_loc at);
/* The same parameters and the same result? */
bool asl_same_signature(const struct asl_function *a, const struct asl_function *b);
void asl_check_condition(struct asl_checker *k, struct asl_expr *e, const char *where);
void asl_check_written(struct asl_checker *k, struct asl_expr *e, const char *what);
void asl_check_function(struct asl_checker *k, struct asl_function *f);
struct asl_expr *asl_make(struct asl_checker *k, enum asl_expr_kind kind, struct asl_loc at,
                          struct asl_type t);
/* The value of a constant expression; NULL when it is none. */
const union asl_slot *asl_constant(struct asl_compile *c, const struct asl_expr *e);
/* The user function that overloads an operator for these operands, or NULL. */
struct asl_function *asl_operator(struct asl_checker *k, enum asl_op op,
                                  const struct asl_type *types, size_t n);
/* Compares a literal format string with what it is given. */
void asl_check_format(struct asl_checker *k, const struct asl_expr *call, size_t format_arg);
/* The base type that a conversion such as %d asks for: ASL_INT, ASL_FLOAT, ASL_STRING; UNKNOWN:
 * none such. */
enum asl_base asl_format_wants(char conversion);
/* Reads one conversion after '%': length in characters without '%', 0 when malformed. `out` gets
 * the letter. */
size_t asl_format_spec(const char *p, char *letter);

#endif
