/* SPDX-License-Identifier: Apache-2.0 */
/* dump.c: a readable form of the tree. */
#include "asl.h"

#include <string.h>

struct dump {
    struct text *out;
    bool types;
};

static void expr(struct dump *d, const struct asl_expr *e);

static void type(struct dump *d, struct asl_type t)
{
    char buf[ASL_TYPE_TEXT_SIZE];
    text_puts(d->out, asl_type_text(t, buf, sizeof buf));
}

static void quoted(struct text *out, const char *s)
{
    text_puts(out, "\"");
    for (; *s; s++) {
        if (*s == '\n')
            text_puts(out, "\\n");
        else if (*s == '\t')
            text_puts(out, "\\t");
        else if (*s == '"' || *s == '\\')
            text_printf(out, "\\%c", *s);
        else
            text_append(out, s, 1);
    }
    text_puts(out, "\"");
}

static void arguments(struct dump *d, const struct asl_expr *e)
{
    for (size_t i = 0; i < e->arg_count; i++) {
        text_puts(d->out, " ");
        expr(d, e->args[i]);
    }
}

static const char *operation_name(const struct asl_expr *e)
{
    switch (e->kind) {
    case E_INDEX:
        return "[]";
    case E_MELEM:
        return "[][]";
    case E_TERNARY:
        return "?:";
    case E_COMMA:
        return ",";
    case E_INCDEC:
        if (e->u.value > 0)
            return e->prefix ? "++x" : "x++";
        return e->prefix ? "--x" : "x--";
    default:
        return asl_op_text((enum asl_op)e->op);
    }
}

static void operation(struct dump *d, const struct asl_expr *e)
{
    text_printf(d->out, "(%s%s", operation_name(e), e->kind == E_ASSIGN ? "=" : "");
    const struct asl_expr *parts[3] = {e->a, e->b, e->kind == E_ASSIGN ? NULL : e->c};
    for (size_t i = 0; i < 3; i++) {
        if (parts[i]) {
            text_puts(d->out, " ");
            expr(d, parts[i]);
        }
    }
    text_puts(d->out, ")");
}

static void expr(struct dump *d, const struct asl_expr *e)
{
    struct text *out = d->out;
    if (!d->types && e->kind == E_CONVERT && e->a) { /* conversions that the source does not show */
        expr(d, e->a);
        return;
    }
    switch (e->kind) {
    case E_INT:
        text_printf(out, "%d", e->u.i);
        return;
    case E_FLOAT:
        text_printf(out, "%.9g", (double)e->u.f);
        break;
    case E_STRING:
        quoted(out, e->u.s);
        return;
    case E_SYMBOL:
        text_puts(out, e->symbol->name);
        break;
    case E_HELD:
        text_puts(out, "held");
        break;
    case E_CALL:
        text_printf(out, "(%s", e->name);
        arguments(d, e);
        text_puts(out, ")");
        break;
    case E_CONSTRUCT:
    case E_LIST:
        text_puts(out, "(");
        type(d, e->type);
        arguments(d, e);
        text_puts(out, ")");
        break;
    case E_CONVERT:
        text_puts(out, "(to ");
        expr(d, e->a);
        text_puts(out, ")");
        break;
    case E_FIELD:
        text_puts(out, "(. ");
        expr(d, e->a);
        text_printf(out, " %s)", e->a->type.st ? e->a->type.st->fields[e->u.field].name : e->name);
        break;
    default:
        operation(d, e);
    }
    if (d->types) {
        text_puts(out, ":");
        type(d, e->type);
        if (e->derivs & 1)
            text_puts(out, "'");
    }
}

static void indent(struct dump *d, unsigned depth)
{
    for (unsigned i = 0; i < depth && i < 100; i++)
        text_puts(d->out, "  ");
}

static void function(struct dump *d, const struct asl_function *f, unsigned depth);

static void statements(struct dump *d, const struct asl_stmt *s, unsigned depth)
{
    for (; s; s = s->next) {
        static const char *const names[] = {"empty",  "do",       "block", "let",   "if",
                                            "while",  "do-while", "for",   "break", "continue",
                                            "return", "",         "struct"};
        if (s->kind == S_FUNCTION) {
            function(d, s->function, depth);
            continue;
        }
        for (const struct asl_decl *v = s->decls; v; v = v->next) {
            indent(d, depth);
            text_puts(d->out, "let ");
            type(d, v->type);
            text_printf(d->out, " %s%s", v->name,
                        v->symbol && (v->symbol->derivs & 1) && d->types ? "'" : "");
            if (v->init) {
                text_puts(d->out, " = ");
                expr(d, v->init);
            }
            text_puts(d->out, "\n");
        }
        if (s->kind == S_DECL)
            continue;
        indent(d, depth);
        text_puts(d->out, names[s->kind]);
        if (s->e) {
            text_puts(d->out, " ");
            expr(d, s->e);
        }
        text_puts(d->out, "\n");
        if (s->init) {
            indent(d, depth);
            text_puts(d->out, "first\n");
            statements(d, s->init, depth + 1);
        }
        if (s->step) {
            indent(d, depth);
            text_puts(d->out, "step ");
            expr(d, s->step);
            text_puts(d->out, "\n");
        }
        statements(d, s->body, depth + 1);
        if (s->other) {
            indent(d, depth);
            text_puts(d->out, "else\n");
            statements(d, s->other, depth + 1);
        }
    }
}

static void function(struct dump *d, const struct asl_function *f, unsigned depth)
{
    static const char *const kinds[] = {"shader", "surface", "displacement", "volume", "light"};
    indent(d, depth);
    if (f->is_shader) {
        text_puts(d->out, kinds[f->kind]);
    } else {
        text_puts(d->out, "function ");
        type(d, f->type);
    }
    text_printf(d->out, " %s\n", f->name);
    for (const struct asl_formal *a = f->formals; a; a = a->next) {
        indent(d, depth + 1);
        text_puts(d->out, a->output ? "output " : "param ");
        type(d, a->type);
        text_printf(d->out, " %s%s", a->name,
                    a->symbol && (a->symbol->derivs & 1) && d->types ? "'" : "");
        if (a->init) {
            text_puts(d->out, " = ");
            expr(d, a->init);
        }
        text_puts(d->out, "\n");
    }
    if (f->body)
        statements(d, f->body->body, depth + 1);
}

void asl_program_dump(const struct asl_program *p, bool types, struct text *out)
{
    struct dump d = {out, types};
    for (const struct asl_top *t = p->tops; t; t = t->next) {
        if (t->st) {
            text_printf(out, "struct %s\n", t->st->name);
            for (size_t i = 0; i < t->st->field_count; i++) {
                text_puts(out, "  ");
                type(&d, t->st->fields[i].type);
                text_printf(out, " %s\n", t->st->fields[i].name);
            }
        } else {
            function(&d, t->fn, 0);
        }
    }
}
