/* SPDX-License-Identifier: Apache-2.0 */
/* derivs.c: which symbols and expressions carry derivatives. Those that a derivative operator looks
 * at do, and all that flows into them; nothing else pays. Done twice: bit 1 for the program alone,
 * bit 2 as if every output parameter were looked at, which is how a layer runs when a later layer
 * needs the derivatives of its outputs. */
#include "asl.h"

#include <string.h>

struct marker {
    struct asl_program *p;
    uint8_t bit;
    bool changed;
};

static void mark(struct marker *m, struct asl_expr *e);

static void mark_symbol(struct marker *m, struct asl_symbol *s)
{
    if (!(s->derivs & m->bit) && asl_has_floats(s->type)) {
        s->derivs |= m->bit;
        m->changed = true;
    }
}

static struct asl_symbol *root(const struct asl_expr *e)
{
    while (e && (e->kind == E_INDEX || e->kind == E_FIELD || e->kind == E_MELEM))
        e = e->a;
    return e && e->kind == E_SYMBOL ? e->symbol : NULL;
}

static bool needs(const struct marker *m, const struct asl_expr *place)
{
    const struct asl_symbol *s = root(place);
    return s && (s->derivs & m->bit);
}

static void mark(struct marker *m, struct asl_expr *e)
{
    if (!e || (e->derivs & m->bit) || !asl_has_floats(e->type))
        return;
    e->derivs |= m->bit;
    m->changed = true;
    switch (e->kind) {
    case E_SYMBOL:
        mark_symbol(m, e->symbol);
        break;
    case E_CALL:
        if (e->function) {
            e->function->derivs |= m->bit;
        } else if (strcmp(e->builtin->deriv, "zero") != 0 && !asl_takes_derivs(e->builtin)) {
            for (size_t i = 0; i < e->arg_count; i++)
                mark(m, e->args[i]);
        }
        break;
    case E_CONSTRUCT:
    case E_LIST:
        for (size_t i = 0; i < e->arg_count; i++)
            mark(m, e->args[i]);
        break;
    case E_TERNARY:
        mark(m, e->b);
        mark(m, e->c);
        break;
    case E_COMMA:
        mark(m, e->b);
        break;
    case E_ASSIGN:
        mark(m, e->a);
        mark(m, e->op == OP_NONE ? e->b : e->c);
        break;
    default:
        mark(m, e->a);
        if (e->kind == E_BINARY)
            mark(m, e->b);
        break;
    }
}

static void visit(struct marker *m, struct asl_expr *e);

static void visit_call(struct marker *m, struct asl_expr *e)
{
    if (e->function) {
        size_t i = 0;
        for (struct asl_formal *a = e->function->formals; a; a = a->next, i++) {
            if (a->symbol->derivs & m->bit)
                mark(m, e->args[i]);
            if (asl_shows_changes(a, e->args[i]) && needs(m, e->args[i]))
                mark_symbol(m, a->symbol);
        }
        return;
    }
    const struct asl_overload *o = e->overload;
    bool all = asl_takes_derivs(e->builtin);
    if ((e->builtin->id == BI_NOISE || e->builtin->id == BI_PNOISE) &&
        e->args[0]->type.base == ASL_STRING) /* gabor noise filters by them */
        all = e->args[0]->kind != E_STRING || strcmp(e->args[0]->u.s, "gabor") == 0;
    for (size_t i = 0; i < o->count; i++)
        if (((o->outputs >> i) & 1) && needs(m, e->args[i]) &&
            strcmp(e->builtin->deriv, "zero") != 0)
            all = true;
    for (size_t i = 0; all && i < e->arg_count; i++)
        mark(m, e->args[i]);
    if (e->builtin->id == BI_DISPLACE || e->builtin->id == BI_BUMP) {
        for (size_t i = 0; i < m->p->symbol_count; i++) {
            struct asl_symbol *s = m->p->symbols[i];
            if (s->kind == SYM_GLOBAL && (s->global == GV_P || s->global == GV_N))
                mark_symbol(m, s);
        }
    }
}

static void visit(struct marker *m, struct asl_expr *e)
{
    if (!e)
        return;
    if (e->kind == E_ASSIGN && needs(m, e->a)) {
        mark(m, e->a);
        mark(m, e->op == OP_NONE ? e->b : e->c);
    } else if (e->kind == E_INCDEC && needs(m, e->a)) {
        mark(m, e->a);
    } else if (e->kind == E_CALL) {
        visit_call(m, e);
    }
    visit(m, e->a);
    if (!(e->kind == E_ASSIGN && e->op != OP_NONE)) /* b is inside c */
        visit(m, e->b);
    visit(m, e->c);
    for (size_t i = 0; i < e->arg_count; i++)
        visit(m, e->args[i]);
}

static void visit_function(struct marker *m, struct asl_function *f);

static void visit_stmts(struct marker *m, struct asl_stmt *s, struct asl_function *f)
{
    for (; s; s = s->next) {
        for (struct asl_decl *d = s->decls; d; d = d->next) {
            if (d->init && (d->symbol->derivs & m->bit))
                mark(m, d->init);
            visit(m, d->init);
        }
        if (s->kind == S_RETURN && (f->derivs & m->bit))
            mark(m, s->e);
        if (s->kind == S_FUNCTION)
            visit_function(m, s->function);
        visit(m, s->e);
        visit(m, s->step);
        visit_stmts(m, s->init, f);
        visit_stmts(m, s->body, f);
        const struct asl_stmt *chain = s;
        while (chain->kind == S_IF && chain->other &&
               chain->other->kind == S_IF) { /* else if, without recursion */
            chain = chain->other;
            visit(m, chain->e);
            visit_stmts(m, chain->body, f);
        }
        visit_stmts(m, chain->other, f);
    }
}

static void visit_function(struct marker *m, struct asl_function *f)
{
    for (struct asl_formal *a = f->formals; a; a = a->next) {
        if (f->is_shader && a->output && m->bit == 2)
            mark_symbol(m, a->symbol);
        if (a->init && (a->symbol->derivs & m->bit))
            mark(m, a->init);
        visit(m, a->init);
    }
    if (f->body)
        visit_stmts(m, f->body->body, f);
}

void asl_mark_derivs(struct asl_compile *c, struct asl_program *p)
{
    (void)c;
    for (uint8_t bit = 1; bit <= 2; bit++) {
        struct marker m = {.p = p, .bit = bit};
        do {
            m.changed = false;
            for (struct asl_top *t = p->tops; t; t = t->next)
                if (t->fn)
                    visit_function(&m, t->fn);
        } while (m.changed);
    }
}
