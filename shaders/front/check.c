/* SPDX-License-Identifier: Apache-2.0 */
/* check.c: names in their scopes, declarations, statements, functions, shaders. */
#include "check.h"

#include <string.h>

/* ---- scopes --------------------------------------------------------------------------------- */

static uint32_t bucket_of(const char *name) { return hash_text(name) % CHECK_BUCKETS; }

static void scope_open(struct asl_checker *k)
{
    k->scope++;
    if (k->scope >= CHECK_SCOPES)
        asl_fail(k->c, STATUS_LIMIT, (struct asl_loc){0}, "blocks nest too deeply");
    k->scope_names[k->scope] = NULL;
}

static void scope_close(struct asl_checker *k)
{
    for (struct asl_binding *b = k->scope_names[k->scope]; b; b = b->in_scope) {
        k->buckets[bucket_of(b->name)] = b->hidden;
        if (b->symbol && !b->symbol->used && b->symbol->kind == SYM_LOCAL && k->c->opt->warn_all)
            asl_warn(k->c, b->symbol->at, NULL, "variable '%s' is never used", b->name);
    }
    k->scope--;
}

static struct asl_binding *find(const struct asl_checker *k, const char *name, bool function)
{
    for (struct asl_binding *b = k->buckets[bucket_of(name)]; b; b = b->hidden)
        if (strcmp(b->name, name) == 0 && (b->function != NULL) == function)
            return b;
    return NULL;
}

struct asl_symbol *asl_lookup(const struct asl_checker *k, const char *name)
{
    const struct asl_binding *b = find(k, name, false);
    return b ? b->symbol : NULL;
}

struct asl_function *asl_lookup_function(const struct asl_checker *k, const char *name)
{
    const struct asl_binding *b = find(k, name, true);
    return b ? b->function : NULL;
}

bool asl_hides_function(const struct asl_checker *k, const char *name)
{
    for (struct asl_binding *b = k->buckets[bucket_of(name)]; b; b = b->hidden)
        if (strcmp(b->name, name) == 0)
            return b->symbol != NULL;
    return false;
}

static void bind(struct asl_checker *k, const char *name, struct asl_symbol *s,
                 struct asl_function *f)
{
    struct asl_binding *b = ASL_NEW(k->c, struct asl_binding);
    struct asl_binding **bucket = &k->buckets[bucket_of(name)];
    *b = (struct asl_binding){name, s, f, k->scope, *bucket, k->scope_names[k->scope]};
    *bucket = b;
    k->scope_names[k->scope] = b;
}

const char *asl_type_show(struct asl_checker *k, struct asl_type t)
{
    char *buf = asl_alloc(k->c, ASL_TYPE_TEXT_SIZE, 1);
    return asl_type_text(t, buf, ASL_TYPE_TEXT_SIZE);
}

struct asl_symbol *asl_symbol_new(struct asl_checker *k, const char *name,
                                  enum asl_symbol_kind kind, struct asl_type type,
                                  struct asl_loc at)
{
    struct asl_symbol *s = ASL_NEW(k->c, struct asl_symbol);
    s->name = name;
    s->kind = kind;
    s->type = type;
    s->at = at;
    s->owner = k->fn;
    struct asl_program *p = k->program;
    p->symbols = asl_grow(k->c, p->symbols, p->symbol_count, &k->symbol_cap, p->symbol_count + 1,
                          sizeof(struct asl_symbol *));
    s->index = (uint32_t)p->symbol_count;
    p->symbols[p->symbol_count++] = s;
    return s;
}

/* Global variables belong to the scope that a shader's parameters and its body share. */
static bool beside_globals(const struct asl_checker *k, const struct asl_symbol *s)
{
    bool outermost = s->kind == SYM_PARAM || (k->fn == k->shader && k->scope == k->body_scope);
    return k->shader && !k->shader->is_core && outermost;
}

/* A new name in the scope; complains of a second one in the same scope. */
static void declare(struct asl_checker *k, struct asl_symbol *s)
{
    const struct asl_binding *old = find(k, s->name, false);
    if (old && old->scope == k->scope) {
        asl_error(k->c, s->at, NULL, "'%s' is declared twice in this scope", s->name);
        asl_note(k->c, old->symbol->at, "it was declared here");
    } else if (k->c->opt->warn_all && old && old->symbol->kind != SYM_GLOBAL) {
        asl_warn(k->c, s->at, NULL, "'%s' hides an outer '%s'", s->name, s->name);
    } else if (asl_global_find(s->name) >= 0 && beside_globals(k, s)) {
        asl_warn(k->c, s->at, "give it another name: OSL takes no second one in this scope",
                 "'%s' hides the global variable", s->name);
    } else if (asl_global_find(s->name) >= 0 && s->kind == SYM_LOCAL && k->c->opt->warn_all) {
        asl_warn(k->c, s->at, NULL, "'%s' hides the global variable", s->name);
    }
    bind(k, s->name, s, NULL);
}

/* ---- constants ------------------------------------------------------------------------------ */

static bool constant_into(const struct asl_expr *e, union asl_slot *out);

static bool constant_convert(const struct asl_expr *e, union asl_slot *out)
{
    union asl_slot in[16];
    size_t n = e->a->slots;
    if (n == 0 || n > 16 || e->a->type.array || e->type.array || !constant_into(e->a, in))
        return false;
    enum asl_base from = e->a->type.base, to = e->type.base;
    if (to == ASL_CLOSURE) {
        out[0].c = NULL;
    } else if (to == ASL_INT || to == ASL_STRING || to == ASL_STRUCT) {
        return false; /* casts of float to int are left to the interpreter */
    } else {
        float x = from == ASL_INT ? (float)in[0].i : in[0].f;
        for (size_t i = 0; i < e->slots; i++)
            out[i].f = n > 1 ? in[i].f : to == ASL_MATRIX ? (i % 5 == 0 ? x : 0.0f) : x;
    }
    return true;
}

static bool constant_into(const struct asl_expr *e, union asl_slot *out)
{
    switch (e->kind) {
    case E_INT:
        out[0].i = e->u.i;
        return true;
    case E_FLOAT:
        out[0].f = e->u.f;
        return true;
    case E_STRING:
        out[0].s = e->u.s;
        return true;
    case E_CONVERT:
        return constant_convert(e, out);
    case E_UNARY:
        if (e->op != OP_NEG || !constant_into(e->a, out) || asl_is(e->a->type, ASL_MATRIX))
            return false;
        if (e->type.base == ASL_INT) {
            out[0].i = (int32_t)(0u - (uint32_t)out[0].i);
        } else {
            for (size_t i = 0; i < e->slots; i++)
                out[i].f = -out[i].f;
        }
        return true;
    case E_CONSTRUCT:
    case E_LIST: {
        size_t k = 0;
        if (e->arg_count && e->args[0]->type.base == ASL_STRING && e->type.base != ASL_STRUCT &&
            e->type.base != ASL_STRING)
            return false; /* a space name: depends on the renderer */
        for (size_t i = 0; i < e->arg_count; i++) {
            size_t n = e->args[i]->slots;
            if (k + n > e->slots || !constant_into(e->args[i], out + k))
                return false;
            k += n;
        }
        return k == e->slots || (e->kind == E_LIST && e->type.array && e->type.base != ASL_STRING);
    }
    default:
        return false;
    }
}

const union asl_slot *asl_constant(struct asl_compile *c, const struct asl_expr *e)
{
    if (e->slots == 0 || e->slots > 1u << 20)
        return NULL;
    union asl_slot *v = ASL_ARRAY(c, union asl_slot, e->slots);
    return constant_into(e, v) ? v : NULL;
}

/* ---- declarations and statements ------------------------------------------------------------ */

static void check_stmt(struct asl_checker *k, struct asl_stmt *s);

static void check_list_of(struct asl_checker *k, struct asl_stmt *s)
{
    for (; s; s = s->next)
        check_stmt(k, s);
}

/* An initial value of a variable or a parameter. */
static struct asl_expr *check_init(struct asl_checker *k, struct asl_expr *init,
                                   struct asl_type *type, const char *name)
{
    if (init->kind == E_LIST) {
        if (type->array < 0)
            type->array = init->arg_count ? (int32_t)init->arg_count : 1;
        asl_check_list(k, init, *type);
        return init;
    }
    asl_check_expr(k, init, *type);
    if (type->array < 0 && init->type.array > 0 && init->type.base == type->base)
        type->array = init->type.array;
    if (type->array > 0 && init->type.array == 0 && init->type.base != ASL_UNKNOWN) {
        asl_error(k->c, init->at, "write { ... } around the elements",
                  "array '%s' needs a list of values", name);
        return init;
    }
    return asl_coerce_stored(k, init, *type, "initialise");
}

static void check_decl(struct asl_checker *k, struct asl_decl *d)
{
    if (d->type.base == ASL_VOID) {
        asl_error(k->c, d->at, NULL, "variable '%s' cannot be void", d->name);
        d->type.base = ASL_UNKNOWN;
    }
    if (d->init)
        d->init = check_init(k, d->init, &d->type, d->name);
    if (d->type.array < 0) {
        asl_error(k->c, d->at, "write its length", "array '%s' has no length", d->name);
        d->type.array = 1;
    }
    if (asl_type_slots(d->type) > ASL_MAX_ARRAY) {
        asl_error(k->c, d->at, NULL, "'%s' holds %zu numbers; a variable holds at most %d", d->name,
                  asl_type_slots(d->type), ASL_MAX_ARRAY);
        d->type = asl_type_of(ASL_UNKNOWN);
    }
    d->symbol = asl_symbol_new(k, d->name, SYM_LOCAL, d->type, d->at);
    d->symbol->written = d->init != NULL;
    declare(k, d->symbol);
}

static void check_return(struct asl_checker *k, struct asl_stmt *s)
{
    struct asl_function *f = k->fn;
    if (s->e && f->is_shader) {
        asl_error(k->c, s->e->at, NULL,
                  "a shader returns no value: it writes its output parameters");
        return;
    }
    f->returns = true;
    if (!s->e) {
        if (!f->is_shader && f->type.base != ASL_VOID)
            asl_error(k->c, s->at, NULL, "function '%s' must return a value of type %s", f->name,
                      asl_type_show(k, f->type));
        return;
    }
    if (s->e->kind == E_LIST) {
        asl_check_list(k, s->e, f->type);
        return;
    }
    asl_check_expr(k, s->e, f->type);
    if (f->type.base == ASL_VOID) {
        if (s->e->type.base != ASL_VOID)
            asl_error(k->c, s->e->at, NULL, "function '%s' is void: it returns no value", f->name);
        return;
    }
    s->e = asl_coerce(k, s->e, f->type, "return");
}

/* Does every way through s end in a return? */
static bool always_returns(const struct asl_stmt *s)
{
    for (; s; s = s->next) {
        if (s->kind == S_RETURN)
            return true;
        if (s->kind == S_BLOCK && always_returns(s->body))
            return true;
        if (s->kind == S_IF) {
            const struct asl_stmt *i = s;
            bool all = true;
            while (all && i && i->kind == S_IF) {
                all = always_returns(i->body) && i->other;
                i = i->other;
            }
            if (all && always_returns(i))
                return true;
        }
        if (s->kind == S_DO && always_returns(s->body))
            return true;
    }
    return false;
}

bool asl_same_signature(const struct asl_function *a, const struct asl_function *b)
{
    const struct asl_formal *x = a->formals, *y = b->formals;
    for (; x && y; x = x->next, y = y->next)
        if (!asl_same_type(x->type, y->type))
            return false;
    return !x && !y && asl_same_type(a->type, b->type);
}

/* The overload of `b` with these parameters, any triple for a triple. */
static const struct asl_overload *overload_like(const struct asl_builtin *b,
                                                const struct asl_function *f)
{
    for (size_t i = 0; b && i < b->overload_count; i++) {
        const struct asl_overload *o = &b->overloads[i];
        size_t n = 0;
        for (const struct asl_formal *a = f->formals; a && n < o->count; a = a->next) {
            bool alike = asl_same_type(a->type, o->args[n]) ||
                         (asl_is_triple(a->type) && asl_is_triple(o->args[n]));
            n += alike ? 1 : ASL_MAX_ARGS + 1;
        }
        if (n == o->count && n == f->formal_count)
            return o;
    }
    return NULL;
}

void asl_check_function(struct asl_checker *k, struct asl_function *f)
{
    if (f->component) {
        const struct asl_builtin *b = asl_builtin_row_of(f->name);
        f->row = overload_like(b, f);
        if (f->row && !b->declared)
            return; /* it is there without a prototype */
    }
    struct asl_function *outer = k->fn;
    unsigned loops = k->loops;
    const struct asl_binding *old = find(k, f->name, true);
    f->parent = outer;
    f->id = (uint32_t)k->function_count++;
    f->next_overload = old ? old->function : NULL;
    for (const struct asl_binding *b = old; b && b->scope == k->scope; b = b->hidden)
        if (b->function && strcmp(b->name, f->name) == 0 && asl_same_signature(b->function, f)) {
            if (asl_warn(k->c, f->at, NULL,
                         "function '%s' is defined twice with the same parameters and result",
                         f->name))
                asl_note(k->c, b->function->at, "it was defined here");
            break;
        }
    if (f->type.array)
        asl_error(k->c, f->at, NULL, "a function cannot return an array");
    bind(k, f->name, NULL, f);
    k->fn = f;
    k->loops = 0;
    f->busy = true;
    scope_open(k);
    for (struct asl_formal *a = f->formals; a; a = a->next) {
        if (a->init)
            asl_error(k->c, a->at, NULL,
                      "parameters of functions have no defaults; those of shaders do");
        a->symbol = asl_symbol_new(k, a->name, SYM_FORMAL, a->type, a->at);
        a->symbol->output = a->output;
        declare(k, a->symbol);
    }
    if (f->body) {
        scope_open(k);
        check_list_of(k, f->body->body);
        scope_close(k);
    }
    scope_close(k);
    f->busy = false;
    k->fn = outer;
    k->loops = loops;
    if (f->type.base != ASL_VOID && f->type.base != ASL_UNKNOWN && f->body &&
        !always_returns(f->body->body))
        asl_warn(k->c, f->at, "add a return at its end",
                 "function '%s' may end without a value; it is then zero", f->name);
}

static void check_scoped(struct asl_checker *k, struct asl_stmt *s)
{
    if (!s)
        return;
    scope_open(k);
    check_stmt(k, s);
    scope_close(k);
}

static void check_loop_body(struct asl_checker *k, struct asl_stmt *s)
{
    k->loops++;
    check_scoped(k, s);
    k->loops--;
}

/* An expression statement that does nothing is most likely a mistake. */
static bool has_effect(const struct asl_expr *e)
{
    switch (e->kind) {
    case E_ERROR:
    case E_ASSIGN:
    case E_INCDEC:
    case E_CALL:
        return true;
    case E_COMMA:
        return has_effect(e->a) || has_effect(e->b);
    case E_TERNARY:
        return has_effect(e->b) || has_effect(e->c);
    case E_BINARY:
        return (e->op == OP_AND || e->op == OP_OR) && has_effect(e->b);
    case E_CONVERT:
        return has_effect(e->a);
    default:
        return false;
    }
}

static void check_stmt(struct asl_checker *k, struct asl_stmt *s)
{
    switch (s->kind) {
    case S_EXPR:
        asl_check_expr(k, s->e, asl_type_of(ASL_UNKNOWN));
        if (!has_effect(s->e))
            asl_warn(k->c, s->e->at,
                     s->e->kind == E_BINARY && s->e->op == OP_EQ ? "did you mean '='?" : NULL,
                     "this statement does nothing");
        break;
    case S_BLOCK:
        scope_open(k);
        check_list_of(k, s->body);
        scope_close(k);
        break;
    case S_DECL:
        for (struct asl_decl *d = s->decls; d; d = d->next)
            check_decl(k, d);
        break;
    case S_IF: /* a chain of else if, in a loop */
        for (;;) {
            asl_check_condition(k, s->e, "'if'");
            check_scoped(k, s->body);
            if (!s->other || s->other->kind != S_IF) {
                check_scoped(k, s->other);
                break;
            }
            s = s->other;
        }
        break;
    case S_WHILE:
        asl_check_condition(k, s->e, "'while'");
        check_loop_body(k, s->body);
        break;
    case S_DO:
        check_loop_body(k, s->body);
        asl_check_condition(k, s->e, "'while'");
        break;
    case S_FOR:
        scope_open(k);
        if (s->init)
            check_stmt(k, s->init);
        if (s->e)
            asl_check_condition(k, s->e, "'for'");
        if (s->step)
            asl_check_expr(k, s->step, asl_type_of(ASL_UNKNOWN));
        check_loop_body(k, s->body);
        scope_close(k);
        break;
    case S_BREAK:
    case S_CONTINUE:
        if (k->loops == 0)
            asl_error(k->c, s->at, NULL, "'%s' outside of a loop",
                      s->kind == S_BREAK ? "break" : "continue");
        break;
    case S_RETURN:
        check_return(k, s);
        break;
    case S_FUNCTION:
        asl_check_function(k, s->function);
        break;
    default:
        break;
    }
}

/* ---- shaders -------------------------------------------------------------------------------- */

static const struct asl_metadata *check_metadata(struct asl_checker *k, struct asl_decl *d)
{
    struct asl_metadata *first = NULL, **tail = &first;
    for (; d; d = d->next) {
        if (!d->init)
            continue;
        d->init = check_init(k, d->init, &d->type, d->name);
        struct asl_metadata *m = ASL_NEW(k->c, struct asl_metadata);
        m->name = d->name;
        m->type = d->type;
        if (d->init->type.base != ASL_UNKNOWN && !(m->value = asl_constant(k->c, d->init))) {
            asl_error(k->c, d->at, NULL, "the value of metadatum '%s' is not a constant", d->name);
            continue;
        }
        *tail = m;
        tail = (struct asl_metadata **)(void *)&m->next;
    }
    return first;
}

/* The default of a parameter; one that is declared T x[] may get its length from the group. */
static void check_default(struct asl_checker *k, const struct asl_function *shader,
                          struct asl_formal *a)
{
    if (a->type.array < 0)
        for (const struct asl_length *l = k->c->lengths; l; l = l->next) /* the newest first */
            if (strcmp(l->shader, shader->name) == 0 && strcmp(l->param, a->name) == 0) {
                a->type.array = l->length;
                if (a->init->kind == E_LIST && a->init->arg_count > (size_t)l->length)
                    a->init->arg_count = (uint32_t)l->length; /* not used: a value is set */
                break;
            }
    k->in_default = true;
    a->init = check_init(k, a->init, &a->type, a->name);
    k->in_default = false;
}

static void check_shader(struct asl_checker *k, struct asl_function *f, size_t *cap)
{
    struct asl_program *p = k->program;
    struct asl_shader *s = ASL_NEW(k->c, struct asl_shader);
    struct asl_param *params = ASL_ARRAY(k->c, struct asl_param, f->formal_count);
    for (size_t i = 0; i < p->shader_count; i++)
        if (strcmp(p->shaders[i]->info.name, f->name) == 0)
            asl_error(k->c, f->at, NULL, "shader '%s' is defined twice", f->name);
    s->fn = f;
    k->fn = k->shader = f;
    f->id = (uint32_t)k->function_count++;
    s->info.name = f->name;
    s->info.kind = f->kind;
    s->info.metadata = check_metadata(k, f->metadata);
    scope_open(k);
    size_t n = 0;
    for (struct asl_formal *a = f->formals; a; a = a->next, n++) {
        if (a->output && a->type.array < 0)
            asl_error(k->c, a->at, "write its length", "output array '%s' has no length", a->name);
        bool any_length = a->type.array < 0;
        if (a->init)
            check_default(k, f, a);
        else if (!f->is_core)
            asl_error(k->c, a->at, "write '= value'", "parameter '%s' has no default value",
                      a->name);
        a->symbol = asl_symbol_new(k, a->name, SYM_PARAM, a->type, a->at);
        a->symbol->output = a->output;
        declare(k, a->symbol);
        params[n] = (struct asl_param){.name = a->name,
                                       .type = a->type,
                                       .output = a->output,
                                       .any_length = any_length && a->type.array > 0};
        params[n].metadata = check_metadata(k, a->metadata);
        params[n].default_value =
            a->init && a->init->type.base != ASL_UNKNOWN ? asl_constant(k->c, a->init) : NULL;
        params[n].constant = params[n].default_value || !a->init;
    }
    s->info.params = params;
    s->info.param_count = n;
    if (f->body) {
        scope_open(k);
        k->body_scope = k->scope;
        check_list_of(k, f->body->body);
        scope_close(k);
    }
    scope_close(k);
    k->fn = k->shader = NULL;
    p->shaders = asl_grow(k->c, p->shaders, p->shader_count, cap, p->shader_count + 1,
                          sizeof(struct asl_shader *));
    p->shaders[p->shader_count++] = s;
}

void asl_check(struct asl_compile *c, struct asl_program *p)
{
    struct asl_checker *k = ASL_NEW(c, struct asl_checker);
    k->c = c;
    k->program = p;
    for (int g = 0; g < GV_COUNT; g++) {
        k->globals[g] = asl_symbol_new(k, asl_global_name((enum asl_global)g), SYM_GLOBAL,
                                       asl_global_type((enum asl_global)g), (struct asl_loc){0});
        k->globals[g]->global = (uint32_t)g;
        bind(k, k->globals[g]->name, k->globals[g], NULL);
    }
    scope_open(k);
    size_t cap = 0;
    for (struct asl_top *t = p->tops; t; t = t->next) {
        if (t->fn && t->fn->is_shader)
            check_shader(k, t->fn, &cap);
        else if (t->fn)
            asl_check_function(k, t->fn);
    }
    scope_close(k);
    if (p->shader_count == 0 && c->diags->errors == 0)
        asl_error(c, (struct asl_loc){0},
                  "a shader looks like: shader name(float x = 1, output color c = 0) { c = x; }",
                  "%s holds no shader", p->file);
}
