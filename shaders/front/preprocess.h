/* SPDX-License-Identifier: Apache-2.0 */
/* preprocess.h: what the two files of the preprocessor share. */
#ifndef ASL_PREPROCESS_H
#define ASL_PREPROCESS_H

#include "asl.h"

struct asl_macro {
    const char *name;
    uint32_t len;
    bool function, variadic, defined;
    struct asl_loc at;
    struct asl_token *params, *body;
    size_t param_count, body_count;
    struct asl_macro *next;
};

struct asl_condition {
    struct asl_loc at;
    bool active, taken, else_seen, outer_active;
    struct asl_condition *outer;
};

struct asl_pp_file {
    struct asl_lexer lx;
    struct asl_condition *conditions; /* those open where the file began */
    struct asl_pp_file *up;
};

enum { PP_BUCKETS = 1024 };

struct asl_pp {
    struct asl_compile *c;
    struct asl_macro *macros[PP_BUCKETS];
    struct asl_pp_file *file;
    struct asl_condition *conditions;
    unsigned depth, nesting;
    const char **once;
    size_t once_count, once_cap;
    bool give_up;
    bool pushed_back;
    struct asl_token back;
};

struct asl_macro *asl_pp_macro(struct asl_pp *pp, const char *name, size_t len);
bool asl_pp_is(const struct asl_token *t, const char *word);
void asl_pp_push(struct asl_pp *pp, struct asl_tokens *list, const struct asl_token *t);
void asl_pp_read(struct asl_pp *pp, struct asl_token *t);
/* Expands all that the current file (and what it includes) holds; the list ends with TOK_END. */
void asl_pp_expand(struct asl_pp *pp, struct asl_tokens *out);
/* Expands a list on its own. */
void asl_pp_expand_list(struct asl_pp *pp, const struct asl_token *t, size_t n,
                        struct asl_tokens *out);

#endif
