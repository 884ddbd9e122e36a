/* SPDX-License-Identifier: Apache-2.0 */
/* writer.h: what the files share that write a module as a shader in ASL. The functions that the
 * shader calls are written where they are called, each time with variables of their own, so that
 * pointers are known when it is written. It is written several times: what is learnt about memory,
 * whose variables are declared at the top, counts the next time, until nothing new is learnt. */
#ifndef ASL_MODULE_WRITER_H
#define ASL_MODULE_WRITER_H

#include "module/module.h"

/* ---- memory: module_memory.c ------------------------------------------------------------------ */

enum object_kind { OBJECT_LOCAL, OBJECT_POINT, OBJECT_OUTPUT, OBJECT_GLOBAL, OBJECT_NULL };
enum { WORD_INT = 1, WORD_FLOAT = 2 };

/* What a pointer may point into: words of 32 bits, each a variable of its own, or all of them an
 * array where a word is chosen when the shader runs. */
struct object {
    enum object_kind kind;
    uint64_t size;  /* bytes */
    uint8_t *kinds; /* of each word: WORD_*, how it was used */
    bool moving;    /* used by a variable index */
    bool bytes;     /* variable offsets are in bytes, not in words */
    uint32_t high;  /* words that are used end here */
    const struct module_global *global;
    uint32_t *image;    /* a global's words */
    const char *name;   /* of an output */
    enum asl_base type; /* of an output; guessed: as it is used */
    bool guessed;
    uint32_t number;
};

/* A scalar of a value: an int of up to 32 bits, kept without sign (32: with), one of up to 64 in
 * two, a float, or a pointer. Texts are variables or constants of ASL. */
struct part {
    enum { PART_INT, PART_FLOAT, PART_POINTER } kind;
    uint32_t bits; /* of an int */
    bool constant;
    uint64_t value;      /* of a constant */
    const char *lo, *hi; /* hi: of ints over 32 bits */
    /* A pointer: offset bytes into the object, and `moving` words or bytes more, if not NULL. */
    struct object *object;
    int64_t offset;
    const char *moving;
    bool odd; /* it may move by bytes, not words */
};

/* A function as it is written at one place. */
struct instance {
    struct module_function *f;
    struct part **values;  /* by id; NULL: not named yet */
    bool *unsteady;        /* by id: a pointer that is not always at one place */
    uint32_t *seen, stamp; /* by id: pointers that are looked at */
    struct part *result;
    const char *next; /* the variable that says which block comes next */
    unsigned depth;
};

enum { WRITER_LINES = 1 << 17, WRITER_OBJECTS = 4096, WRITER_NESTING = 250 };

struct writer {
    struct module *m;
    struct asl_compile *c;
    struct text head, declared, code;
    struct asl_loc *lines; /* the place of each line of `code` */
    size_t line_count, line_cap;
    struct asl_loc at; /* of what is written now */
    uint32_t names;
    struct object **objects;
    size_t object_count, object_cap, object_next;
    struct object **globals;
    size_t global_count, global_cap;
    struct object *null;  /* what null points to */
    unsigned depth;       /* of pointers that come from one another */
    uint32_t align;       /* of the places of this instruction, as the module says; 0: natural */
    unsigned nest;        /* of statements, where one is written now */
    bool learnt, writing; /* writing: all is learnt, this is the last time */
};

/* A line of the shader. */
#define write_line(w, ...) (text_printf(&(w)->code, __VA_ARGS__), write_line_end(w))
void write_line_end(struct writer *w);
/* A new variable, declared at the top. */
const char *write_variable(struct writer *w, bool real);

struct object *object_new(struct writer *w, enum object_kind kind, uint64_t size);
struct object *object_of_global(struct writer *w, const struct module_global *g);
/* Of an output that nothing describes: as it was used. */
enum asl_base object_output_type(const struct object *o);
/* Variables and values of the objects, at the top. */
void objects_declare(struct writer *w);
/* A scalar of memory, `at` bytes behind the pointer; to becomes the part (its kind and bits are
 * set), or is written. */
void memory_load(struct writer *w, const struct part *p, int64_t at, struct part *to);
void memory_store(struct writer *w, const struct part *p, int64_t at, const struct part *from);
void memory_copy(struct writer *w, const struct part *to, const struct part *from, uint64_t bytes);
void memory_fill(struct writer *w, const struct part *to, const struct part *byte, uint64_t bytes);
/* The pointer that a value of the instance is. */
struct part *pointer_part(struct writer *w, struct instance *i, const struct module_value *v);
/* What a pointer's instruction computes when it is reached. */
void pointer_write(struct writer *w, struct instance *i, const struct module_value *v);
/* The variable part of p as its object counts it: text that `to` holds from now on. */
const char *pointer_moves(struct writer *w, const struct part *p);

/* ---- values: module_values.c ------------------------------------------------------------------ */

/* The scalars of a value, in order; *count of them. */
struct part *value_parts(struct writer *w, struct instance *i, const struct module_value *v,
                         size_t *count);
/* What a type's scalars are, as parts with no text. */
struct part *parts_of_type(struct writer *w, const struct module_type *t, size_t *count,
                           struct asl_loc at);
/* Bytes from the beginning of a value to each of its scalars. */
uint64_t *part_offsets(struct writer *w, const struct module_type *t, size_t count,
                       struct asl_loc at);
void part_variable(struct writer *w, struct part *p);
void part_constant(struct writer *w, struct part *p, uint64_t value);
/* to = from, whose kinds are the same. */
/* An operation of two scalars, as its instruction has it. */
void int_write(struct writer *w, enum module_op op, const struct part *a, const struct part *b,
               const struct part *to);
/* Text of a condition. */
const char *compare_ints(struct writer *w, enum module_predicate p, const struct part *a,
                         const struct part *b);
/* A conversion of a scalar. */
void convert_write(struct writer *w, enum module_op op, const struct part *a,
                   const struct part *to);
/* to = condition ? a : b */
void part_choose(struct writer *w, const struct part *to, const char *condition,
                 const struct part *a, const struct part *b);
/* v is `parts` of other values: no new variables, but where v has some already. */
void parts_rename(struct writer *w, struct instance *i, const struct module_value *v,
                  const struct part *parts, size_t n);
void part_assign(struct writer *w, const struct part *to, const struct part *from);
const char *int_text(struct writer *w, uint32_t bits);
const char *float_text(struct writer *w, uint32_t bits);
void value_write(struct writer *w, struct instance *i, const struct module_value *v);
/* The functions of ASL that values are written with. */
extern const char module_helpers[];

/* ---- calls: module_call.c ---------------------------------------------------------------------- */

void call_write(struct writer *w, struct instance *i, const struct module_value *v);

/* ---- control flow: module_flow.c ---------------------------------------------------------------- */

void flow_write(struct writer *w, struct instance *i);

/* ---- module_write.c ------------------------------------------------------------------------------- */

struct instance *instance_new(struct writer *w, struct module_function *f, unsigned depth);

#endif
