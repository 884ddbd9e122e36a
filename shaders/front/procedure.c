/* SPDX-License-Identifier: Apache-2.0 */
/* procedure.c: a shader as a C99 function (docs/reference/procedures.md), token by token to ASL. No
 * byte of the file reaches a compiler of C: what is not rewritten here is refused here or by the
 * parser and checker of ASL. So a procedure can do what a shader can, and no more. */
#include "procedure.h"
#include "parse.h"

#include <string.h>

enum { PROCEDURE_PARAMS = 64, PROCEDURE_NESTING = 200 };

struct procedure_param {
    const struct asl_token *type, *name;
    bool pointer, point; /* point: the const struct procedure_point * */
};

struct procedure_function {
    const struct asl_token *name;
    struct procedure_param params[PROCEDURE_PARAMS];
    size_t count;
    struct procedure_function *next;
};

/* An open bracket of a body, and what closes it. */
struct procedure_bracket {
    const struct procedure_function *call; /* of a call to a function of the file */
    size_t argument;
    /* Variables that the call passes: `addresses` by address, the others as they are. */
    const struct asl_token *passed[2 * PROCEDURE_PARAMS];
    size_t addresses, others;
    bool control; /* of if, for or while: behind it no operand ends */
    bool triple;  /* { r, g, b }: becomes ( r, g, b ) */
    uint8_t kind; /* of the token that opened it */
};

struct procedure {
    struct asl_compile *c;
    struct asl_token *own_tokens; /* all of them; the list ends with TOK_END */
    const struct asl_token *t;    /* the next one */
    struct asl_tokens *out;
    struct procedure_function *functions, *own; /* own: whose body is read */
    const struct asl_token *entry;
    struct procedure_bracket open[PROCEDURE_NESTING];
    size_t depth;
    const struct asl_token *declared; /* the type of the declaration that is read */
    bool array;                       /* its last name is an array */
    bool failed;
};

static const char *const scalars[] = {"int", "float", NULL};
static const char *const triples[] = {"color", "point", "vector", "normal", NULL};
static const char suffix[] = "__c"; /* of names that mean something in ASL */

static const struct {
    const char *c, *asl;
    size_t count; /* of arguments */
} maths[] = {
    {"sqrtf", "sqrt", 1},   {"fabsf", "fabs", 1},   {"floorf", "floor", 1}, {"ceilf", "ceil", 1},
    {"truncf", "trunc", 1}, {"roundf", "round", 1}, {"fmodf", "fmod", 2},   {"fminf", "min", 2},
    {"fmaxf", "max", 2},    {"sinf", "sin", 1},     {"cosf", "cos", 1},     {"tanf", "tan", 1},
    {"asinf", "asin", 1},   {"acosf", "acos", 1},   {"atanf", "atan", 1},   {"atan2f", "atan2", 2},
    {"sinhf", "sinh", 1},   {"coshf", "cosh", 1},   {"tanhf", "tanh", 1},   {"expf", "exp", 1},
    {"exp2f", "exp2", 1},   {"expm1f", "expm1", 1}, {"logf", "log", 1},     {"log2f", "log2", 1},
    {"log10f", "log10", 1}, {"powf", "pow", 2},     {"cbrtf", "cbrt", 1},   {"minnumf", "min", 2},
    {"maxnumf", "max", 2}};
enum { MATHS = sizeof maths / sizeof *maths, MATHS_OF_LLVM = 2 /* the last, which C has not */ };

static const char *const members[] = {"P", "N", "Ng", "I", "dPdu", "dPdv", "time", "u", "v", NULL};

/* Words of C that no procedure has. */
static const char *const refused[] = {"auto",     "case",   "char",     "default", "double",
                                      "enum",     "extern", "goto",     "long",    "register",
                                      "restrict", "short",  "signed",   "sizeof",  "static",
                                      "struct",   "switch", "typedef",  "union",   "unsigned",
                                      "volatile", "_Bool",  "_Complex", "inline",  NULL};
static const char *const control[] = {"break", "continue", "do",    "else", "for",
                                      "if",    "return",   "while", NULL};

bool asl_procedure_is(const char *file)
{
    size_t n = strlen(file);
    return n > 2 && strcmp(file + n - 2, ".c") == 0;
}

static bool among(const struct asl_token *t, const char *const *words)
{
    for (; *words; words++)
        if (asl_word(t, *words))
            return true;
    return false;
}

static bool same(const struct asl_token *a, const struct asl_token *b)
{
    return a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
}

static bool is_triple(const struct asl_token *t) { return among(t, triples); }
static bool is_type(const struct asl_token *t) { return among(t, scalars) || is_triple(t); }
static bool is_point(const struct asl_token *t) { return asl_word(t, "procedure_point"); }
static bool is_arrow(const struct asl_token *t)
{
    return t->kind == TOK_MINUS && t[1].kind == TOK_GT && !t[1].space;
}

static void refuse(struct procedure *p, const struct asl_token *t, const char *hint,
                   const char *what)
{
    if (p->failed)
        return;
    p->failed = true;
    if (t->kind == TOK_END)
        asl_error(p->c, t->at, hint, "%s", what);
    else
        asl_error(p->c, t->at, hint, "'%.*s': %s", (int)(t->len < 60 ? t->len : 60), t->text, what);
}

static void put(struct procedure *p, const struct asl_token *t)
{
    struct asl_tokens *o = p->out;
    o->t = asl_grow(p->c, o->t, o->count, &o->cap, o->count + 1, sizeof *t);
    o->t[o->count++] = *t;
}

static void put_text(struct procedure *p, const struct asl_token *at, enum asl_tok kind,
                     const char *text)
{
    struct asl_token t = *at;
    t.kind = (uint8_t)kind;
    t.text = text;
    t.len = (uint32_t)strlen(text);
    t.space = true;
    put(p, &t);
}

/* A name of the file: one that means something in ASL gets another. */
static void put_name(struct procedure *p, const struct asl_token *t)
{
    char *name = asl_strndup(p->c, t->text, t->len);
    size_t tail = sizeof suffix - 1;
    if (t->len > tail && strcmp(name + t->len - tail, suffix) == 0)
        refuse(p, t, NULL, "names do not end in __c here");
    if (asl_is_reserved(t) || asl_builtin_find(name) || asl_global_find(name) >= 0)
        put_text(p, t, TOK_NAME, asl_sprintf(p->c, "%s%s", name, suffix));
    else
        put(p, t);
}

static const struct procedure_function *find_function(const struct procedure *p,
                                                      const struct asl_token *name)
{
    for (const struct procedure_function *f = p->functions; f; f = f->next)
        if (same(f->name, name))
            return f;
    return NULL;
}

/* The parameter that is a pointer of that name. */
static const struct procedure_param *find_pointer(const struct procedure *p,
                                                  const struct asl_token *t)
{
    if (t->kind != TOK_NAME)
        return NULL;
    for (size_t i = 0; i < p->own->count; i++)
        if (p->own->params[i].pointer && same(p->own->params[i].name, t))
            return &p->own->params[i];
    return NULL;
}

/* ---- declarations at the top ---------------------------------------------------------------- */

static void constant(struct procedure *p);

/* DEFAULT(VALUES), which procedure.h makes nothing of; else 0. */
static void default_value(struct procedure *p, const struct asl_token *name,
                          const struct asl_token *triple)
{
    put_text(p, name, TOK_ASSIGN, "=");
    if (!asl_word(p->t, "DEFAULT") || p->t[1].kind != TOK_LPAREN) {
        put_text(p, name, TOK_NUMBER, "0");
        return;
    }
    size_t values = 0, want = triple ? 3 : 1;
    if (triple)
        put(p, triple);
    put(p, ++p->t);
    do {
        p->t++;
        if (p->t->kind == TOK_MINUS)
            put(p, p->t++);
        if (p->t->kind != TOK_NUMBER)
            break;
        constant(p);
        values++;
        if (p->t->kind == TOK_COMMA || p->t->kind == TOK_RPAREN)
            put(p, p->t);
    } while (p->t->kind == TOK_COMMA && !p->failed);
    if (p->t->kind != TOK_RPAREN || values != want)
        refuse(p, p->t, "DEFAULT(1.0f), of a triple DEFAULT(1.0f, 0.5f, 0.0f)",
               "a default is one constant, or three of a triple");
    else
        p->t++;
}

static void parameter(struct procedure *p, struct procedure_function *f, bool entry, bool emits)
{
    struct procedure_param *x = &f->params[f->count];
    bool constant = false;
    for (; asl_word(p->t, "const"); p->t++)
        constant = true;
    const struct asl_token *type = p->t;
    if (!is_type(type) && !is_point(type)) {
        refuse(p, type, "int, float, color, point, vector, normal, or const procedure_point *",
               "expected the type of a parameter");
        return;
    }
    p->t++;
    for (; asl_word(p->t, "const"); p->t++)
        constant = true;
    x->pointer = p->t->kind == TOK_STAR;
    p->t += x->pointer;
    while (x->pointer && asl_word(p->t, "const"))
        p->t++;
    x->point = is_point(type);
    x->type = type;
    x->name = p->t;
    if (p->t->kind != TOK_NAME) {
        refuse(p, p->t, x->pointer ? "there are no pointers to pointers" : NULL,
               "expected the name of a parameter");
        return;
    }
    p->t++;
    if (x->point && (!constant || !x->pointer || f->count != 0)) {
        refuse(p, type, "const procedure_point *NAME", "it is passed first, by a pointer to const");
        return;
    }
    if (p->t->kind == TOK_LBRACKET) {
        refuse(p, p->t, NULL, "arrays cannot be passed");
        return;
    }
    f->count++;
    if (x->point || !emits)
        return;
    if (entry && x->pointer && constant) {
        refuse(p, type, NULL, "an input of a procedure is passed by value");
        return;
    }
    char *name = asl_strndup(p->c, x->name->text, x->name->len);
    if (entry &&
        (asl_is_reserved(x->name) || asl_builtin_find(name) || asl_global_find(name) >= 0)) {
        refuse(p, x->name, "choose another name",
               "a parameter of a procedure is set by its name, and ASL has this one");
        return;
    }
    if (x->pointer && !constant)
        put_text(p, type, TOK_NAME, "output");
    put(p, type);
    put_name(p, x->name);
    if (entry)
        default_value(p, x->name, is_triple(type) ? type : NULL);
}

static void parameters(struct procedure *p, struct procedure_function *f, bool entry, bool emits)
{
    const struct asl_token *open = p->t;
    if (emits)
        put(p, p->t);
    p->t++;
    if (asl_word(p->t, "void") && p->t[1].kind == TOK_RPAREN)
        p->t++;
    while (!p->failed && p->t->kind != TOK_RPAREN) {
        if (f->count == PROCEDURE_PARAMS) {
            refuse(p, p->t, NULL, "a function has at most 64 parameters");
            return;
        }
        parameter(p, f, entry, emits);
        if (p->failed || p->t->kind == TOK_RPAREN)
            break;
        if (p->t->kind != TOK_COMMA) {
            refuse(p, p->t, NULL, "expected ',' or ')' after a parameter");
            return;
        }
        if (emits && !f->params[f->count - 1].point)
            put(p, p->t);
        p->t++;
    }
    if (p->failed)
        return;
    if (entry && (f->count == 0 || !f->params[0].point)) {
        refuse(p, open, "const procedure_point *NAME",
               "the first parameter of a procedure is the point");
        return;
    }
    if (emits)
        put(p, p->t);
    p->t++;
}

/* ---- bodies --------------------------------------------------------------------------------- */

/* Does what was put last end an operand, so that * and & behind it are operators of two? */
static bool after_operand(const struct procedure *p, bool cast)
{
    const struct asl_token *t = p->out->count ? &p->out->t[p->out->count - 1] : NULL;
    if (!t || cast)
        return false;
    return (t->kind == TOK_NAME && !among(t, control)) || t->kind == TOK_NUMBER ||
           t->kind == TOK_RPAREN || t->kind == TOK_RBRACKET;
}

static void bracket(struct procedure *p, struct procedure_bracket b)
{
    b.kind = p->t->kind;
    if (p->depth == PROCEDURE_NESTING) {
        refuse(p, p->t, NULL, "brackets nest deeper than 200 levels");
        return;
    }
    p->open[p->depth++] = b;
}

/* ASL passes variables themselves, C their values: the same as long as no other argument is the
 * address of the variable. Two addresses of one variable are refused too, so that names that differ
 * are variables that differ. */
static void passes(struct procedure *p, const struct asl_token *t, bool address)
{
    struct procedure_bracket *b = &p->open[p->depth - 1];
    const struct asl_token **others = b->passed + PROCEDURE_PARAMS;
    size_t twice = 0;
    for (size_t i = 0; i < b->addresses; i++)
        twice += same(b->passed[i], t);
    for (size_t i = 0; i < b->others && address; i++)
        twice += same(others[i], t);
    if (twice)
        refuse(p, t, "copy it to a variable first",
               "what is passed by address is no other argument of the call");
    if (address)
        b->passed[b->addresses++] = t;
    else
        others[b->others++] = t;
}

/* The variable that an argument is, or a member of, as far as its first tokens tell. */
static const struct asl_token *whole_variable(const struct asl_token *t)
{
    for (;; t++) {
        if (t->kind == TOK_LPAREN && is_type(t + 1) && t[2].kind == TOK_RPAREN)
            t += 2;
        else if (t->kind != TOK_LPAREN && t->kind != TOK_STAR && t->kind != TOK_PLUS)
            break;
    }
    return t->kind == TOK_NAME && (t[1].kind == TOK_DOT || t[1].kind == TOK_COMMA ||
                                   t[1].kind == TOK_RPAREN || is_arrow(t + 1))
               ? t
               : NULL;
}

/* Where an argument for a function of the file begins: an address where it takes a pointer. */
static void argument(struct procedure *p)
{
    const struct procedure_bracket *b = &p->open[p->depth - 1];
    if (b->argument >= b->call->count)
        return; /* too many, which the checker tells */
    const struct procedure_param *want = &b->call->params[b->argument];
    if (!want->pointer) {
        const struct asl_token *variable = whole_variable(p->t);
        if (variable)
            passes(p, variable, false);
        return;
    }
    const struct asl_token *t = p->t;
    const struct asl_token *name = t + (t->kind == TOK_AMP);
    const struct procedure_param *own = find_pointer(p, name);
    bool whole =
        name->kind == TOK_NAME && (name[1].kind == TOK_COMMA || name[1].kind == TOK_RPAREN);
    if (want->point && whole && own && own->point && t == name) {
        p->t += 1 + (name[1].kind == TOK_COMMA);
        p->open[p->depth - 1].argument++;
        if (name[1].kind == TOK_COMMA)
            argument(p);
    } else if (!want->point && whole && (t == name) == (own && !own->point) &&
               !(own && own->point)) {
        passes(p, name, true);
        put_name(p, name);
        p->t = name + 1;
    } else {
        refuse(p, t, want->point ? NULL : "&NAME, or a parameter that is a pointer",
               want->point ? "expected the point that this function was given"
                           : "expected the address of a variable");
    }
}

static void pointer_use(struct procedure *p, const struct procedure_param *x)
{
    const struct asl_token *name = p->t;
    if (!is_arrow(name + 1)) {
        refuse(p, name, x->point ? "NAME->u" : "*NAME or NAME->r",
               "a pointer is followed, or passed on, and nothing else");
        return;
    }
    p->t += 3;
    if (!x->point) {
        put_name(p, name);
        put_text(p, name + 1, TOK_DOT, ".");
        put(p, p->t++);
        return;
    }
    if (!among(p->t, members)) {
        refuse(p, p->t, "P N Ng I dPdu dPdv u v time", "the point has no such member");
        return;
    }
    const struct asl_token *end = p->t + 1;
    while (end->kind == TOK_DOT && end[1].kind == TOK_NAME)
        end += 2;
    const struct asl_token *before = &p->out->t[p->out->count - 1];
    bool counted = before->kind == TOK_INC || before->kind == TOK_DEC;
    if (counted || end->kind == TOK_INC || end->kind == TOK_DEC || end->kind == TOK_ASSIGN ||
        (end->kind >= TOK_ADD_ASSIGN && end->kind <= TOK_SHR_ASSIGN))
        refuse(p, p->t, NULL, "the point is const");
    put(p, p->t++);
}

static void name(struct procedure *p)
{
    const struct asl_token *t = p->t;
    const struct procedure_param *x = find_pointer(p, t);
    if (x) {
        pointer_use(p, x);
        return;
    }
    if (among(t, control)) {
        put(p, t);
        p->t++;
        return;
    }
    if (among(t, refused) || is_point(t)) {
        refuse(p, t, NULL, "procedures do not have this of C");
        return;
    }
    if (asl_word(t, "const")) {
        p->t++;
        return;
    }
    if (is_type(t)) {
        p->declared = t;
        p->array = false;
        if (t[1].kind == TOK_STAR) {
            refuse(p, t + 1, NULL, "variables are no pointers here");
            return;
        }
        put(p, t);
        p->t++;
        return;
    }
    if (t[1].kind != TOK_LPAREN) {
        put_name(p, t);
        p->t++;
        return;
    }
    const struct procedure_function *f = find_function(p, t);
    if (f) {
        put_name(p, t);
        put(p, t + 1);
        p->t++;
        bracket(p, (struct procedure_bracket){.call = f});
        p->t++;
        if (!p->failed)
            argument(p);
        return;
    }
    for (size_t i = 0; i < MATHS - MATHS_OF_LLVM; i++)
        if (asl_word(t, maths[i].c)) {
            put_text(p, t, TOK_NAME, maths[i].asl);
            p->t++;
            return;
        }
    refuse(p, t, "procedures call functions of their own file, and those of procedure.h",
           "there is no such function");
}

static void constant(struct procedure *p)
{
    const struct asl_token *t = p->t;
    bool hex = t->len > 1 && t->text[0] == '0' && (t->text[1] == 'x' || t->text[1] == 'X');
    bool real = false, single = false;
    for (uint32_t i = 0; i < t->len && !hex; i++) {
        char ch = t->text[i];
        real = real || ch == '.' || ch == 'e' || ch == 'E';
        single = single || ch == 'f' || ch == 'F';
    }
    if (real && !single)
        refuse(p, t, "write f behind it", "a constant of type double");
    else if (!real && !hex && single)
        refuse(p, t, "write a point before f", "no constant of C");
    else if (!real && !hex && t->len > 1 && t->text[0] == '0')
        refuse(p, t, "write it in decimal or hexadecimal", "an octal constant");
    else if ((hex && t->len >= 10 && (t->len > 10 || t->text[2] > '7')) ||
             (!real && !hex &&
              (t->len > 10 || (t->len == 10 && memcmp(t->text, "2147483647", 10) > 0))))
        refuse(p, t, NULL, "it is no int");
    put(p, t);
    p->t++;
}

/* { of a list of three values becomes TYPE ( */
static void open_triple(struct procedure *p, const struct asl_token *type)
{
    put(p, type);
    put_text(p, p->t, TOK_LPAREN, "(");
    bracket(p, (struct procedure_bracket){.triple = true});
    p->t++;
}

/* True where what is closed is no operand. */
static bool close(struct procedure *p)
{
    const struct asl_token *t = p->t;
    struct procedure_bracket b = p->open[--p->depth];
    enum asl_tok want = b.kind == TOK_LPAREN   ? TOK_RPAREN
                        : b.kind == TOK_LBRACE ? TOK_RBRACE
                                               : TOK_RBRACKET;
    if (t->kind != want)
        refuse(p, t, NULL, "it closes no bracket that is open here");
    if (b.triple) {
        if (b.argument != 2)
            refuse(p, t, NULL, "three values make a colour, a point or a vector");
        put_text(p, t, TOK_RPAREN, ")");
    } else {
        put(p, t);
    }
    p->t++;
    return b.control;
}

/* A parenthesis: a cast, a compound literal, a pointer that is followed, or a bracket. True for a
 * cast, behind which * follows a pointer. */
static bool parenthesis(struct procedure *p)
{
    const struct asl_token *t = p->t;
    if (is_type(t + 1) && t[2].kind == TOK_RPAREN) {
        if (t[3].kind == TOK_LBRACE && is_triple(t + 1)) {
            p->t += 3;
            open_triple(p, t + 1);
            return false;
        }
        if (is_triple(t + 1)) {
            refuse(p, t + 1, NULL, "C casts no struct");
            return false;
        }
        for (size_t i = 0; i < 3; i++)
            put(p, p->t++);
        return true;
    }
    if (t[1].kind == TOK_STAR && find_pointer(p, t + 2) && !find_pointer(p, t + 2)->point &&
        t[3].kind == TOK_RPAREN) {
        put_name(p, t + 2);
        p->t += 4;
        return false;
    }
    const struct asl_token *before = &p->out->t[p->out->count - 1];
    bool heads = asl_word(before, "if") || asl_word(before, "for") || asl_word(before, "while");
    bracket(p, (struct procedure_bracket){.control = heads});
    put(p, t);
    p->t++;
    return false;
}

static void star(struct procedure *p, bool cast)
{
    const struct asl_token *t = p->t;
    const struct procedure_param *x = find_pointer(p, t + 1);
    if (after_operand(p, cast)) {
        put(p, t);
        p->t++;
    } else if (!x || x->point || is_arrow(t + 2) || t[2].kind == TOK_INC || t[2].kind == TOK_DEC ||
               t[2].kind == TOK_LBRACKET || t[2].kind == TOK_DOT) {
        refuse(p, t, "*NAME of a parameter that is a pointer", "this pointer cannot be followed");
    } else {
        put_name(p, t + 1);
        p->t += 2;
    }
}

static void comma(struct procedure *p)
{
    struct procedure_bracket *b = &p->open[p->depth - 1];
    put(p, p->t);
    p->t++;
    p->array = false;
    b->argument++;
    if (b->triple && p->t->kind == TOK_RBRACE)
        b->argument--; /* a comma at the end, which ASL's constructors do not have */
    if (b->triple && p->t->kind == TOK_RBRACE)
        p->out->count--;
    if (b->call)
        argument(p);
}

static bool body_token(struct procedure *p, bool cast)
{
    const struct asl_token *t = p->t;
    switch (t->kind) {
    case TOK_NAME:
        name(p);
        return false;
    case TOK_NUMBER:
        constant(p);
        return false;
    case TOK_STRING:
        refuse(p, t, NULL, "procedures have no strings");
        return false;
    case TOK_LPAREN:
        return parenthesis(p);
    case TOK_LBRACE:
    case TOK_LBRACKET:
        p->array = p->array || t->kind == TOK_LBRACKET;
        bracket(p, (struct procedure_bracket){0});
        break;
    case TOK_RPAREN:
    case TOK_RBRACE:
    case TOK_RBRACKET:
        return close(p);
    case TOK_STAR:
        star(p, cast);
        return false;
    case TOK_AMP:
        if (!after_operand(p, cast))
            refuse(p, t, NULL, "an address is taken for a function of the file alone");
        break;
    case TOK_COMMA:
        comma(p);
        return false;
    case TOK_DOT: /* a member, whose name is no variable */
        put(p, t);
        p->t++;
        if (p->t->kind == TOK_NAME)
            put(p, p->t++);
        return false;
    case TOK_ASSIGN:
        put(p, t);
        p->t++;
        if (p->t->kind == TOK_LBRACE && p->declared && is_triple(p->declared) && !p->array)
            open_triple(p, p->declared);
        return false;
    case TOK_SEMI:
        p->declared = NULL;
        break;
    default:
        break;
    }
    put(p, t);
    p->t++;
    return false;
}

static void body(struct procedure *p)
{
    const struct asl_token *open = p->t;
    bool cast = false;
    p->depth = 0;
    p->declared = NULL;
    do {
        if (p->t->kind == TOK_END) {
            refuse(p, open, "close it with '}'", "this body does not end");
            return;
        }
        cast = body_token(p, cast);
    } while (p->depth && !p->failed);
}

/* PROCEDURE(NAME, PARAMETERS), which procedure.h makes the same as NAME(PARAMETERS). */
static void function(struct procedure *p)
{
    const struct asl_token *first = p->t;
    bool named = asl_word(first, "PROCEDURE") && first[1].kind == TOK_LPAREN &&
                 first[2].kind == TOK_NAME && first[3].kind == TOK_COMMA;
    bool hidden = false;
    for (; asl_word(p->t, "static") || asl_word(p->t, "inline"); p->t++)
        hidden = hidden || asl_word(p->t, "static");
    const struct asl_token *type = p->t, *called = p->t + (p->t->kind != TOK_END);
    if (named) {
        called = first + 2;
        static const char paren[] = "(";
        struct asl_token *comma = &p->own_tokens[first + 3 - p->own_tokens];
        comma->kind = TOK_LPAREN;
        comma->text = paren;
    } else if ((!is_type(type) && !asl_word(type, "void")) || called->kind != TOK_NAME ||
               called[1].kind != TOK_LPAREN) {
        refuse(p, first, "#define names constants; types are those of procedure.h",
               "only functions stand at the top of a procedure");
        return;
    }
    struct procedure_function *f = ASL_NEW(p->c, struct procedure_function);
    f->name = called;
    p->t = called + 1;
    size_t end = 1; /* a prototype, or a body? */
    while (p->t[end].kind != TOK_RPAREN && p->t[end].kind != TOK_END)
        end++;
    bool prototype = p->t[end].kind == TOK_RPAREN && p->t[end + 1].kind == TOK_SEMI;
    bool entry = !hidden && !prototype;
    if (entry && p->entry) {
        refuse(p, called, "write static before all functions but one",
               "a file is one procedure, and this is a second");
        return;
    }
    if (entry && !named && !asl_word(type, "void")) {
        refuse(p, type, "void NAME(const procedure_point *, ...)",
               "a procedure gives nothing back");
        return;
    }
    if (entry) {
        p->entry = called;
        put_text(p, called, TOK_NAME, "shader");
        put(p, called);
    } else if (!prototype) {
        put(p, type);
        put_name(p, called);
    }
    parameters(p, f, entry, !prototype);
    if (p->failed)
        return;
    if (prototype) {
        p->t++;
        return;
    }
    f->next = p->functions; /* its own body may name it: that recursion ASL tells */
    p->functions = f;
    p->own = f;
    if (p->t->kind == TOK_LBRACE)
        body(p);
    else
        refuse(p, p->t, NULL, "expected '{' and the function's body");
}

/* Five tokens are looked ahead at most: the end stands there as often. */
static struct procedure *procedure_new(struct asl_compile *c, const struct asl_tokens *in,
                                       struct asl_tokens *out)
{
    struct asl_token *t = ASL_ARRAY(c, struct asl_token, in->count + 5);
    memcpy(t, in->t, in->count * sizeof *t);
    for (size_t i = 0; i < 5; i++)
        t[in->count + i] = in->t[in->count - 1];
    struct procedure *p = ASL_NEW(c, struct procedure);
    *p = (struct procedure){.c = c, .own_tokens = t, .t = t, .out = out};
    return p;
}

void asl_procedure_read(struct asl_compile *c, const struct asl_tokens *in, struct asl_tokens *out)
{
    struct procedure *p = procedure_new(c, in, out);
    while (!p->failed && p->t->kind != TOK_END)
        function(p);
    if (!p->entry)
        refuse(p, p->t, "void NAME(const procedure_point *, ...)",
               "there is no procedure: a function without static");
    put(p, &p->own_tokens[in->count]);
}

const char *asl_procedure_head(struct asl_compile *c, const struct asl_tokens *in,
                               struct asl_tokens *out, struct asl_procedure_input **inputs,
                               size_t *count)
{
    struct procedure *p = procedure_new(c, in, out);
    struct procedure_function *f = ASL_NEW(c, struct procedure_function);
    const struct asl_token *name = p->t;
    if (name->kind != TOK_NAME || name[1].kind != TOK_LPAREN) {
        refuse(p, name, "NAME(const procedure_point *NAME, ...)",
               "expected the head of a procedure");
        return NULL;
    }
    put_text(p, name, TOK_NAME, "shader");
    put(p, name);
    p->t++;
    parameters(p, f, true, true);
    if (!p->failed && p->t->kind != TOK_END)
        refuse(p, p->t, NULL, "more than the head of a procedure");
    if (p->failed)
        return NULL;
    struct asl_procedure_input *list = ASL_ARRAY(c, struct asl_procedure_input, f->count + 1);
    for (size_t i = 0; i < f->count; i++) {
        const struct procedure_param *x = &f->params[i];
        list[i].name = asl_strndup(c, x->name->text, x->name->len);
        list[i].pointer = x->pointer;
        list[i].point = x->point;
        if (!x->point)
            (void)asl_base_from_name(x->type->text, x->type->len, &list[i].type);
    }
    *inputs = list;
    *count = f->count;
    return asl_strndup(c, name->text, name->len);
}

const char *asl_procedure_math(const char *name, size_t *count)
{
    for (size_t i = 0; i < MATHS; i++) {
        size_t n = strlen(maths[i].c) - 1;
        if (strncmp(name, maths[i].c, n) == 0 && (!name[n] || strcmp(name + n, "f") == 0)) {
            *count = maths[i].count;
            return maths[i].asl;
        }
    }
    return NULL;
}
