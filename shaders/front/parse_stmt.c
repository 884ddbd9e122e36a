/* SPDX-License-Identifier: Apache-2.0 */
/* parse_stmt.c: statements, functions, structs, shaders, whole files; and how parsing goes on after
 * an error. */
#include "parse.h"

#include <string.h>

bool asl_word(const struct asl_token *t, const char *word)
{
    return t->kind == TOK_NAME && strlen(word) == t->len && memcmp(t->text, word, t->len) == 0;
}

static bool in_list(const struct asl_token *t, const char *const *words)
{
    for (; *words; words++)
        if (asl_word(t, *words))
            return true;
    return false;
}

/* Words of the language, and words that it keeps free for later versions. */
static const char *const keywords[] = {
    "and",   "break",       "closure",    "color",  "continue", "do",     "else", "float", "for",
    "if",    "illuminance", "illuminate", "int",    "matrix",   "normal", "not",  "or",    "output",
    "point", "public",      "return",     "string", "struct",   "vector", "void", "while", NULL};
static const char *const kept[] = {
    "bool",   "case",     "catch",   "char",      "class",    "const",  "delete",  "default",
    "double", "enum",     "extern",  "false",     "friend",   "goto",   "inline",  "long",
    "new",    "operator", "private", "protected", "short",    "signed", "sizeof",  "static",
    "switch", "template", "this",    "throw",     "true",     "try",    "typedef", "uniform",
    "union",  "unsigned", "varying", "virtual",   "volatile", NULL};

bool asl_is_reserved(const struct asl_token *t) { return in_list(t, keywords) || in_list(t, kept); }

const char *asl_token_name(struct asl_parser *p, const struct asl_token *t)
{
    if (t->kind == TOK_END)
        return "the end of the file";
    uint32_t n = t->len < 60 ? t->len : 60;
    if (t->kind == TOK_STRING)
        return "a string";
    return asl_sprintf(p->c, "'%.*s'%s", (int)n, t->text, n < t->len ? "..." : "");
}

bool asl_accept(struct asl_parser *p, enum asl_tok kind)
{
    if (asl_cur(p)->kind != kind)
        return false;
    p->i++;
    return true;
}

void asl_unexpected(struct asl_parser *p, const char *expected)
{
    const struct asl_token *t = asl_cur(p);
    const char *hint = NULL;
    if (in_list(t, kept))
        hint = "this word is kept for later versions of the language";
    if (!p->too_deep)
        asl_error(p->c, t->at, hint, "expected %s, found %s", expected, asl_token_name(p, t));
}

/* A missing token is reported after the last one that was read: there it belongs. */
bool asl_expect(struct asl_parser *p, enum asl_tok kind, const char *what, const char *where)
{
    if (asl_accept(p, kind))
        return true;
    const struct asl_token *t = asl_cur(p);
    struct asl_loc at = t->at;
    if (p->i > 0 && (t->start || t->kind == TOK_END) && p->t[p->i - 1].at.src) {
        at = p->t[p->i - 1].at;
        at.col += at.len;
        at.len = 1;
    }
    if (!p->too_deep)
        asl_error(p->c, at, NULL, "expected %s %s, found %s", what, where, asl_token_name(p, t));
    return false;
}

bool asl_enter(struct asl_parser *p)
{
    if (p->depth >= ASL_MAX_DEPTH) {
        if (!p->too_deep)
            asl_error(p->c, asl_cur(p)->at, "use variables or functions for parts of it",
                      "this nests deeper than %d levels", ASL_MAX_DEPTH);
        p->too_deep = true;
        p->i = p->count - 1;
        return false;
    }
    p->depth++;
    return true;
}

void asl_leave(struct asl_parser *p) { p->depth--; }

/* ---- types ---------------------------------------------------------------------------------- */

static struct asl_struct *find_struct(const struct asl_parser *p, const struct asl_token *t)
{
    for (struct asl_scope_struct *s = p->structs; s; s = s->next)
        if (s->st->name && strlen(s->st->name) == t->len &&
            memcmp(s->st->name, t->text, t->len) == 0)
            return s->st;
    return NULL;
}

bool asl_at_type(const struct asl_parser *p, bool structs)
{
    const struct asl_token *t = asl_cur(p);
    enum asl_base b;
    if (t->kind != TOK_NAME)
        return false;
    if (asl_base_from_name(t->text, t->len, &b) || asl_word(t, "closure"))
        return true;
    return structs && find_struct(p, t) != NULL;
}

struct asl_type asl_parse_type(struct asl_parser *p)
{
    const struct asl_token *t = asl_cur(p);
    struct asl_type type = {0};
    if (asl_word(t, "closure")) {
        p->i++;
        if (!asl_word(asl_cur(p), "color"))
            asl_unexpected(p, "'color' after 'closure'");
        else
            p->i++;
        type.base = ASL_CLOSURE;
        return type;
    }
    if (t->kind == TOK_NAME && asl_base_from_name(t->text, t->len, &type.base)) {
        p->i++;
        return type;
    }
    struct asl_struct *st = t->kind == TOK_NAME ? find_struct(p, t) : NULL;
    if (st) {
        type.base = ASL_STRUCT;
        type.st = st;
        p->i++;
        return type;
    }
    if (t->kind != TOK_NAME || asl_is_reserved(t)) {
        asl_unexpected(p, "a type");
        return type;
    }
    static const char *const names[] = {"int",    "float",  "color",  "point", "vector",
                                        "normal", "matrix", "string", "void",  NULL};
    char *name = asl_strndup(p->c, t->text, t->len);
    const char *near = NULL;
    for (const char *const *n = names; *n; n++)
        near = asl_nearest(name, near, *n);
    for (struct asl_scope_struct *s = p->structs; s; s = s->next)
        near = asl_nearest(name, near, s->st->name);
    asl_error(p->c, t->at, near ? asl_sprintf(p->c, "did you mean '%s'?", near) : NULL,
              "'%s' is no type", name);
    p->i++;
    return type;
}

int32_t asl_parse_array(struct asl_parser *p)
{
    if (asl_cur(p)->kind != TOK_LBRACKET || asl_ahead(p, 1)->kind == TOK_LBRACKET)
        return 0;
    p->i++;
    if (asl_accept(p, TOK_RBRACKET))
        return -1;
    struct asl_loc at = asl_cur(p)->at;
    struct asl_expr *e = asl_parse_assign(p);
    (void)asl_expect(p, TOK_RBRACKET, "']'", "after the array length");
    if (e->kind == E_ERROR)
        return 1;
    if (e->kind != E_INT || e->u.i <= 0) {
        asl_error(p->c, at, NULL, "an array length must be a whole number above 0");
        return 1;
    }
    if (e->u.i > ASL_MAX_ARRAY) {
        asl_error(p->c, at, NULL, "an array of more than %d elements is too large", ASL_MAX_ARRAY);
        return 1;
    }
    return e->u.i;
}

/* ---- recovery ------------------------------------------------------------------------------- */

/* After an error inside a statement: past its ';', or to the '}' that ends its block. */
static void sync_statement(struct asl_parser *p, size_t from)
{
    unsigned braces = 0;
    for (;; p->i++) {
        enum asl_tok k = (enum asl_tok)asl_cur(p)->kind;
        if (k == TOK_END)
            return;
        if (k == TOK_LBRACE)
            braces++;
        if (k == TOK_RBRACE) {
            if (braces == 0)
                break;
            braces--;
            if (braces == 0) {
                p->i++;
                return;
            }
        }
        if (k == TOK_SEMI && braces == 0) {
            p->i++;
            return;
        }
    }
    if (p->i == from && asl_cur(p)->kind != TOK_RBRACE)
        p->i++;
}

/* ---- statements ----------------------------------------------------------------------------- */

static struct asl_stmt *statement(struct asl_parser *p);
static struct asl_function *function(struct asl_parser *p, struct asl_type type,
                                     const struct asl_token *name);
static struct asl_struct *parse_struct(struct asl_parser *p);

static struct asl_stmt *stmt_new(struct asl_parser *p, enum asl_stmt_kind kind,
                                 const struct asl_token *at)
{
    struct asl_stmt *s = ASL_NEW(p->c, struct asl_stmt);
    s->kind = (uint8_t)kind;
    s->at = at->at;
    return s;
}

/* Statements up to '}', which is taken; the struct names they declare go out of sight. */
static struct asl_stmt *block(struct asl_parser *p)
{
    struct asl_stmt *b = stmt_new(p, S_BLOCK, asl_cur(p));
    struct asl_scope_struct *structs = p->structs;
    struct asl_stmt **tail = &b->body;
    if (!asl_expect(p, TOK_LBRACE, "'{'", "to begin a block"))
        return b;
    struct asl_loc open = p->t[p->i - 1].at;
    while (asl_cur(p)->kind != TOK_RBRACE && asl_cur(p)->kind != TOK_END) {
        size_t i = p->i;
        *tail = statement(p);
        while (*tail)
            tail = &(*tail)->next;
        if (p->i == i)
            p->i++;
    }
    if (!asl_accept(p, TOK_RBRACE) && !p->too_deep)
        asl_error(p->c, open, "close it with '}'", "this block does not end");
    p->structs = structs;
    return b;
}

static void declare_one(struct asl_parser *p, struct asl_decl *d, const struct asl_token *name)
{
    d->name = asl_strndup(p->c, name->text, name->len);
    d->at = name->at;
    d->type.array = asl_parse_array(p);
    if (asl_accept(p, TOK_ASSIGN))
        d->init = asl_parse_initializer(p);
}

static const struct asl_token *declared_name(struct asl_parser *p)
{
    const struct asl_token *t = asl_cur(p);
    if (t->kind != TOK_NAME || asl_is_reserved(t)) {
        asl_unexpected(p, "a name");
        return NULL;
    }
    p->i++;
    return t;
}

static void end_statement(struct asl_parser *p, size_t errors)
{
    size_t i = p->i;
    if (p->c->diags->errors > errors || !asl_expect(p, TOK_SEMI, "';'", "after the statement")) {
        /* a ';' that is only missing needs no skipping when the next line begins a statement */
        if (asl_cur(p)->kind == TOK_SEMI)
            p->i++;
        else if (!(p->c->diags->errors == errors + 1 && asl_cur(p)->start && i == p->i))
            sync_statement(p, i);
    }
}

static struct asl_stmt *declaration(struct asl_parser *p)
{
    size_t errors = p->c->diags->errors;
    const struct asl_token *at = asl_cur(p);
    struct asl_type type = asl_parse_type(p);
    const struct asl_token *name = declared_name(p);
    struct asl_stmt *s = stmt_new(p, S_DECL, at);
    if (name && asl_cur(p)->kind == TOK_LPAREN) {
        s->function = function(p, type, name);
        s->kind = s->function ? S_FUNCTION : S_EMPTY;
        return s;
    }
    struct asl_decl **tail = &s->decls;
    while (name) {
        struct asl_decl *d = ASL_NEW(p->c, struct asl_decl);
        d->type = type;
        declare_one(p, d, name);
        *tail = d;
        tail = &d->next;
        name = asl_accept(p, TOK_COMMA) ? declared_name(p) : NULL;
    }
    end_statement(p, errors);
    return s;
}

/* A declaration begins with a type and a name; a type and '(' is a constructor. */
static bool at_declaration(const struct asl_parser *p)
{
    const struct asl_token *t = asl_cur(p);
    if (t->kind != TOK_NAME)
        return false;
    if (asl_word(t, "closure"))
        return true;
    if (asl_at_type(p, true))
        return asl_ahead(p, 1)->kind != TOK_LPAREN;
    return !asl_is_reserved(t) && asl_ahead(p, 1)->kind == TOK_NAME &&
           !asl_word(asl_ahead(p, 1), "and") && !asl_word(asl_ahead(p, 1), "or");
}

static struct asl_expr *parenthesised(struct asl_parser *p, const char *what)
{
    if (!asl_expect(p, TOK_LPAREN, "'('", what)) {
        return asl_expr_new(p, E_ERROR, asl_cur(p));
    }
    struct asl_expr *e = asl_parse_expr(p);
    (void)asl_expect(p, TOK_RPAREN, "')'", "after the condition");
    return e;
}

static struct asl_stmt *if_statement(struct asl_parser *p)
{
    struct asl_stmt *first = NULL, **tail = &first;
    for (;;) { /* else if chains are long in generated code: a loop, not recursion */
        struct asl_stmt *s = stmt_new(p, S_IF, asl_cur(p));
        p->i++;
        s->e = parenthesised(p, "after 'if'");
        s->body = statement(p);
        *tail = s;
        tail = &s->other;
        if (!asl_word(asl_cur(p), "else"))
            return first;
        p->i++;
        if (!asl_word(asl_cur(p), "if")) {
            *tail = statement(p);
            return first;
        }
    }
}

static struct asl_stmt *for_statement(struct asl_parser *p)
{
    size_t errors = p->c->diags->errors;
    struct asl_stmt *s = stmt_new(p, S_FOR, asl_cur(p));
    p->i++;
    if (!asl_expect(p, TOK_LPAREN, "'('", "after 'for'")) {
        sync_statement(p, p->i);
        return s;
    }
    if (asl_accept(p, TOK_SEMI)) {
        ;
    } else if (at_declaration(p)) {
        s->init = declaration(p);
    } else {
        s->init = stmt_new(p, S_EXPR, asl_cur(p));
        s->init->e = asl_parse_expr(p);
        (void)asl_expect(p, TOK_SEMI, "';'", "in 'for'");
    }
    if (asl_cur(p)->kind != TOK_SEMI)
        s->e = asl_parse_expr(p);
    (void)asl_expect(p, TOK_SEMI, "';'", "in 'for'");
    if (asl_cur(p)->kind != TOK_RPAREN)
        s->step = asl_parse_expr(p);
    if (!asl_expect(p, TOK_RPAREN, "')'", "after 'for (...'") && p->c->diags->errors > errors)
        while (asl_cur(p)->kind != TOK_LBRACE && asl_cur(p)->kind != TOK_SEMI &&
               asl_cur(p)->kind != TOK_END && asl_cur(p)->kind != TOK_RBRACE)
            p->i++;
    s->body = statement(p);
    return s;
}

static struct asl_stmt *simple_statement(struct asl_parser *p)
{
    size_t errors = p->c->diags->errors;
    const struct asl_token *t = asl_cur(p);
    struct asl_stmt *s;
    if (asl_word(t, "break") || asl_word(t, "continue")) {
        s = stmt_new(p, asl_word(t, "break") ? S_BREAK : S_CONTINUE, t);
        p->i++;
    } else if (asl_word(t, "return")) {
        s = stmt_new(p, S_RETURN, t);
        p->i++;
        if (asl_cur(p)->kind != TOK_SEMI)
            s->e = asl_parse_initializer(p);
    } else {
        s = stmt_new(p, S_EXPR, t);
        s->e = asl_parse_expr(p);
        s->at = s->e->at;
    }
    end_statement(p, errors);
    return s;
}

static struct asl_stmt *statement(struct asl_parser *p)
{
    const struct asl_token *t = asl_cur(p);
    struct asl_stmt *s;
    if (!asl_enter(p))
        return stmt_new(p, S_EMPTY, t);
    if (t->kind == TOK_SEMI) {
        s = stmt_new(p, S_EMPTY, t);
        p->i++;
    } else if (t->kind == TOK_LBRACE) {
        s = block(p);
    } else if (asl_word(t, "if")) {
        s = if_statement(p);
    } else if (asl_word(t, "while")) {
        s = stmt_new(p, S_WHILE, t);
        p->i++;
        s->e = parenthesised(p, "after 'while'");
        s->body = statement(p);
    } else if (asl_word(t, "do")) {
        s = stmt_new(p, S_DO, t);
        p->i++;
        s->body = statement(p);
        if (asl_word(asl_cur(p), "while")) {
            p->i++;
            s->e = parenthesised(p, "after 'while'");
            (void)asl_expect(p, TOK_SEMI, "';'", "after 'do ... while (...)'");
        } else {
            asl_unexpected(p, "'while' after the body of 'do'");
            s->e = asl_expr_new(p, E_ERROR, t);
        }
    } else if (asl_word(t, "for")) {
        s = for_statement(p);
    } else if (asl_word(t, "struct")) {
        s = stmt_new(p, S_STRUCT, t);
        (void)parse_struct(p);
    } else if (at_declaration(p)) {
        s = declaration(p);
    } else if (asl_word(t, "else")) {
        asl_error(p->c, t->at, NULL, "'else' without 'if'");
        p->i++;
        s = statement(p);
    } else {
        s = simple_statement(p);
    }
    asl_leave(p);
    return s;
}

/* ---- structs, functions, shaders ------------------------------------------------------------ */

static struct asl_struct *parse_struct(struct asl_parser *p)
{
    p->i++; /* struct */
    struct asl_struct *st = ASL_NEW(p->c, struct asl_struct);
    const struct asl_token *name = declared_name(p);
    st->name = name ? asl_strndup(p->c, name->text, name->len) : "?";
    st->at = asl_cur(p)->at;
    size_t cap = 0, slots = 0;
    if (!asl_expect(p, TOK_LBRACE, "'{'", "to begin the fields of a struct")) {
        sync_statement(p, p->i);
        return st;
    }
    while (asl_cur(p)->kind != TOK_RBRACE && asl_cur(p)->kind != TOK_END) {
        size_t errors = p->c->diags->errors, i0 = p->i;
        struct asl_loc at = asl_cur(p)->at;
        struct asl_type type = asl_parse_type(p);
        if (type.base == ASL_VOID)
            asl_error(p->c, at, NULL, "a field cannot be void");
        const struct asl_token *field = declared_name(p);
        while (field) {
            st->fields = asl_grow(p->c, st->fields, st->field_count, &cap, st->field_count + 1,
                                  sizeof *st->fields);
            struct asl_field *f = &st->fields[st->field_count];
            *f = (struct asl_field){asl_strndup(p->c, field->text, field->len), type,
                                    (uint32_t)slots, field->at};
            for (size_t i = 0; i < st->field_count; i++)
                if (strcmp(st->fields[i].name, f->name) == 0)
                    asl_error(p->c, field->at, NULL, "struct '%s' has two fields named '%s'",
                              st->name, f->name);
            f->type.array = asl_parse_array(p);
            if (f->type.array < 0) {
                asl_error(p->c, field->at, "write a length",
                          "an array in a struct must have a length");
                f->type.array = 1;
            }
            st->field_count++;
            slots += asl_type_slots(f->type);
            if (slots > (size_t)1 << 26) {
                asl_error(p->c, field->at, NULL, "struct '%s' is too large", st->name);
                slots = 0;
            }
            field = asl_accept(p, TOK_COMMA) ? declared_name(p) : NULL;
        }
        end_statement(p, errors);
        if (p->i == i0)
            p->i++;
    }
    st->slots = slots;
    if (st->field_count == 0)
        asl_error(p->c, st->at, NULL, "struct '%s' has no fields", st->name);
    (void)asl_expect(p, TOK_RBRACE, "'}'", "after the fields of a struct");
    (void)asl_expect(p, TOK_SEMI, "';'", "after a struct");
    if (name && find_struct(p, name)) {
        for (struct asl_scope_struct *s = p->structs; s; s = s->next)
            if (strcmp(s->st->name, st->name) == 0) {
                asl_error(p->c, name->at, NULL, "struct '%s' is declared twice", st->name);
                asl_note(p->c, s->st->at, "it was declared here");
                return st;
            }
    }
    struct asl_scope_struct *s = ASL_NEW(p->c, struct asl_scope_struct);
    s->st = st;
    s->next = p->structs;
    p->structs = s;
    struct asl_top *top = ASL_NEW(p->c, struct asl_top);
    top->st = st;
    *p->top_tail = top;
    p->top_tail = &top->next;
    return st;
}

/* [[ type name = value, ... ]]; the values are checked and folded later. */
static void metadata(struct asl_parser *p, struct asl_decl **out)
{
    while (*out)
        out = &(*out)->next;
    if (asl_cur(p)->kind != TOK_LBRACKET || asl_ahead(p, 1)->kind != TOK_LBRACKET)
        return;
    p->i += 2;
    while (asl_cur(p)->kind != TOK_RBRACKET && asl_cur(p)->kind != TOK_END) {
        struct asl_decl *d = ASL_NEW(p->c, struct asl_decl);
        d->type = asl_parse_type(p);
        const struct asl_token *name = asl_cur(p);
        if (name->kind != TOK_NAME) { /* reserved words are allowed as names here */
            asl_unexpected(p, "the name of a metadatum");
            break;
        }
        p->i++;
        declare_one(p, d, name);
        if (!d->init)
            asl_error(p->c, d->at, NULL, "metadatum '%s' needs a value", d->name);
        *out = d;
        out = &d->next;
        if (!asl_accept(p, TOK_COMMA))
            break;
    }
    bool closed = true;
    for (int k = 0; closed && k < 2; k++)
        closed = asl_expect(p, TOK_RBRACKET, "']]'", "after the metadata");
    if (!closed)
        while (asl_cur(p)->kind == TOK_RBRACKET)
            p->i++;
}

/* Parameters after '(' up to ')'. */
static void formals(struct asl_parser *p, struct asl_function *f)
{
    struct asl_formal **tail = &f->formals;
    if (asl_accept(p, TOK_RPAREN))
        return;
    while (asl_cur(p)->kind != TOK_RPAREN && asl_cur(p)->kind != TOK_END &&
           asl_cur(p)->kind != TOK_LBRACE) {
        struct asl_formal *a = ASL_NEW(p->c, struct asl_formal);
        if (asl_word(asl_cur(p), "output")) {
            a->output = true;
            p->i++;
        }
        struct asl_loc at = asl_cur(p)->at;
        a->type = asl_parse_type(p);
        if (a->type.base == ASL_VOID) {
            asl_error(p->c, at, NULL, "a parameter cannot be void");
            a->type.base = ASL_UNKNOWN;
        }
        const struct asl_token *name = declared_name(p);
        if (!name) {
            while (asl_cur(p)->kind != TOK_COMMA && asl_cur(p)->kind != TOK_RPAREN &&
                   asl_cur(p)->kind != TOK_LBRACE && asl_cur(p)->kind != TOK_END)
                p->i++;
        } else {
            struct asl_decl d = {.type = a->type};
            declare_one(p, &d, name);
            a->name = d.name;
            a->at = d.at;
            a->type = d.type;
            a->init = d.init;
            struct asl_decl *meta = NULL;
            metadata(p, &meta);
            a->metadata = meta;
            *tail = a;
            tail = &a->next;
            f->formal_count++;
        }
        if (!asl_accept(p, TOK_COMMA))
            break;
        while (
            asl_accept(p, TOK_COMMA)) /* published shaders have such: nothing stands between them */
            ;
    }
    if (!asl_expect(p, TOK_RPAREN, "')'", "after the parameters"))
        while (asl_cur(p)->kind != TOK_LBRACE && asl_cur(p)->kind != TOK_SEMI &&
               asl_cur(p)->kind != TOK_END && asl_cur(p)->kind != TOK_RBRACE)
            p->i++;
}

static bool has_metadatum(const struct asl_decl *d, const char *name)
{
    for (; d; d = d->next)
        if (strcmp(d->name, name) == 0)
            return true;
    return false;
}

/* NULL: a prototype, `int f(int a);`, which declares nothing that its definition does not; but
 * `closure color f(normal N) [[int builtin = 1]];` declares a component of the renderer's. */
static struct asl_function *function(struct asl_parser *p, struct asl_type type,
                                     const struct asl_token *name)
{
    struct asl_function *f = ASL_NEW(p->c, struct asl_function);
    f->name = asl_strndup(p->c, name->text, name->len);
    f->at = name->at;
    f->type = type;
    struct asl_scope_struct *structs = p->structs;
    p->i++; /* ( */
    formals(p, f);
    struct asl_decl *meta = NULL;
    metadata(p, &meta);
    bool prototype = asl_accept(p, TOK_SEMI);
    if (asl_cur(p)->kind == TOK_LBRACE && !prototype)
        f->body = block(p);
    else if (!prototype)
        asl_unexpected(p, "'{' to begin the function's body");
    p->structs = structs;
    f->component = prototype && type.base == ASL_CLOSURE && has_metadatum(meta, "builtin");
    f->returns = f->component;
    return prototype && !f->component ? NULL : f;
}

static bool shader_kind(const struct asl_token *t, enum asl_shader_kind *kind)
{
    static const char *const names[] = {"shader", "surface", "displacement", "volume", "light"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (asl_word(t, names[i])) {
            *kind = (enum asl_shader_kind)i;
            return true;
        }
    }
    return false;
}

static void add_top(struct asl_parser *p, struct asl_function *f)
{
    struct asl_top *top = ASL_NEW(p->c, struct asl_top);
    top->fn = f;
    *p->top_tail = top;
    p->top_tail = &top->next;
}

static void parse_shader(struct asl_parser *p, enum asl_shader_kind kind)
{
    struct asl_function *f = ASL_NEW(p->c, struct asl_function);
    p->i++;
    const struct asl_token *name = declared_name(p);
    f->is_shader = true;
    f->kind = kind;
    f->type = asl_type_of(ASL_VOID);
    f->name = name ? asl_strndup(p->c, name->text, name->len) : "?";
    f->at = p->t[p->i - 1].at;
    struct asl_decl *meta = NULL;
    metadata(p, &meta);
    if (asl_expect(p, TOK_LPAREN, "'('", "after the shader's name")) {
        formals(p, f);
        metadata(p, &meta);
    }
    f->metadata = meta;
    if (asl_cur(p)->kind == TOK_LBRACE)
        f->body = block(p);
    else
        asl_unexpected(p, "'{' to begin the shader's body");
    add_top(p, f);
}

/* The core language: "var x; x = 5;". Every variable is an int output of a shader named after the
 * file. */
static void parse_core(struct asl_parser *p)
{
    struct asl_function *f = ASL_NEW(p->c, struct asl_function);
    const char *name = path_name(p->program->file);
    f->is_shader = f->is_core = true;
    f->type = asl_type_of(ASL_VOID);
    f->name = asl_strndup(p->c, name, strcspn(name, "."));
    f->at = asl_cur(p)->at;
    f->body = stmt_new(p, S_BLOCK, asl_cur(p));
    struct asl_formal **last = &f->formals;
    struct asl_stmt **tail = &f->body->body;
    while (asl_cur(p)->kind != TOK_END) {
        size_t i = p->i, errors = p->c->diags->errors;
        if (asl_word(asl_cur(p), "var")) {
            p->i++;
            const struct asl_token *n = declared_name(p);
            if (n) {
                struct asl_formal *a = ASL_NEW(p->c, struct asl_formal);
                a->name = asl_strndup(p->c, n->text, n->len);
                a->at = n->at;
                a->type = asl_type_of(ASL_INT);
                a->output = true;
                *last = a;
                last = &a->next;
                f->formal_count++;
            }
            end_statement(p, errors);
        } else if (asl_word(asl_cur(p), "skip")) {
            p->i++;
            end_statement(p, errors);
        } else {
            *tail = statement(p);
            while (*tail)
                tail = &(*tail)->next;
        }
        if (p->i == i)
            p->i++;
    }
    add_top(p, f);
}

struct asl_program *asl_parse(struct asl_compile *c, const struct asl_tokens *t)
{
    struct asl_program *program = ASL_NEW(c, struct asl_program);
    struct asl_parser p = {.c = c, .t = t->t, .count = t->count, .program = program};
    p.top_tail = &program->tops;
    program->file = t->t[t->count - 1].at.src->name;
    if (asl_word(asl_cur(&p), "var") && asl_ahead(&p, 1)->kind == TOK_NAME) {
        parse_core(&p);
        return program;
    }
    while (asl_cur(&p)->kind != TOK_END) {
        const struct asl_token *at = asl_cur(&p);
        enum asl_shader_kind kind;
        size_t i = p.i;
        if (at->kind == TOK_SEMI || asl_word(at, "public")) {
            p.i++;
        } else if (asl_word(at, "struct")) {
            (void)parse_struct(&p);
        } else if (shader_kind(at, &kind) && asl_ahead(&p, 1)->kind == TOK_NAME) {
            parse_shader(&p, kind);
        } else if (at_declaration(&p)) {
            struct asl_type type = asl_parse_type(&p);
            const struct asl_token *name = declared_name(&p);
            if (name && asl_cur(&p)->kind == TOK_LPAREN) {
                struct asl_function *f = function(&p, type, name);
                if (f)
                    add_top(&p, f);
            } else {
                if (name)
                    asl_error(c, name->at, "declare it inside the shader, or as a parameter",
                              "variables cannot be declared outside of shaders and functions");
                sync_statement(&p, p.i);
            }
        } else {
            asl_unexpected(&p, "a shader, a function or a struct");
            sync_statement(&p, p.i);
        }
        if (p.i == i)
            p.i++;
    }
    return program;
}
