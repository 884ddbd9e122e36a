/* SPDX-License-Identifier: Apache-2.0 */
/* module_text.c: LLVM's assembly language, of the versions 9 to 19: of what shaders are made of.
 * Pointers may have types or none; metadata and attributes but a few mean nothing here.
 * Its words are text_words.c's, types and values text_values.c's, instructions text_code.c's. */
#include "module/text.h"

#include <string.h>

static void body(struct reader *r)
{
    struct module_function *f = r->f;
    ll_want(r, "{");
    while (!ll_is_sign(r, "}")) {
        if (r->w.kind == WORD_END)
            ll_wrong(r, "'}'");
        if (r->w.kind == WORD_META) { /* #dbg_value(...) */
            ll_next(r);
            ll_skip_group(r);
        } else if (ll_is_name(r, "uselistorder") || ll_is_name(r, "uselistorder_bb")) {
            while (!ll_is_sign(r, "{") && r->w.kind != WORD_END)
                ll_next(r);
            ll_skip_brackets(r);
        } else if (r->w.kind == WORD_LABEL) {
            if (r->block)
                module_refuse(r->m, r->w.at, NULL, "the block before does not end");
            ll_count_name(r, r->w.text, r->w.len);
            ll_block_begin(r, r->w.text, r->w.len);
            ll_next(r);
        } else {
            ll_instruction(r);
        }
    }
    if (r->block || f->block_count == 0)
        ll_wrong(r, "an instruction that ends the block");
    for (size_t i = 0; i < NAMES; i++) {
        for (const struct name *n = r->values.chain[i]; n; n = n->next)
            if (((struct module_value *)n->is)->kind == VALUE_UNKNOWN)
                module_refuse(r->m, n->at, NULL, "%%%.*s is not defined",
                              (int)(n->len < 80 ? n->len : 80), n->text);
        for (const struct name *n = r->blocks.chain[i]; n; n = n->next)
            if (!((struct module_block *)n->is)->defined)
                module_refuse(r->m, n->at, NULL, "there is no block %%%.*s",
                              (int)(n->len < 80 ? n->len : 80), n->text);
    }
    ll_next(r);
}

static void parameter(struct reader *r, struct module_function *f, struct module_type *t,
                      size_t *types, size_t *cap)
{
    struct module_parameter x = {0};
    const struct module_type *of = ll_type(r);
    while (r->w.kind == WORD_NAME || r->w.kind == WORD_STRING || r->w.kind == WORD_NUMBER ||
           ll_is_sign(r, "=")) {
        bool copied = ll_is_name(r, "byval");
        ll_next(r);
        if (copied && ll_take_sign(r, "(")) {
            x.by_value = ll_type(r);
            ll_want(r, ")");
        } else if (ll_is_sign(r, "(")) {
            ll_skip_brackets(r);
        }
    }
    ll_type_push(r, t, types, of);
    struct module_value v = *ll_value_new(r, VALUE_ARGUMENT, of);
    v.id = f->ids++;
    if (r->w.kind == WORD_LOCAL) {
        ll_count_name(r, r->w.text, r->w.len);
        x.value = ll_define_local(r, r->w.text, r->w.len, &v);
        ll_next(r);
    } else {
        const char *text = ll_unnamed(r);
        x.value = ll_define_local(r, text, strlen(text), &v);
    }
    size_t n = (size_t)t->count - 1;
    f->parameters = asl_grow(r->c, f->parameters, n, cap, n + 1, sizeof x);
    f->parameters[n] = x;
}

static struct module_value *define_global(struct reader *r, enum module_value_kind kind)
{
    if (r->w.kind != WORD_GLOBAL)
        ll_wrong(r, "a name: @name");
    struct asl_loc at = r->w.at;
    struct module_value *v = ll_global_named(r, ll_type_new(r, MODULE_POINTER));
    if (v->kind != VALUE_UNKNOWN)
        module_refuse(r->m, at, NULL, "%s is defined a second time", v->name);
    v->kind = (uint8_t)kind;
    v->at = at;
    return v;
}

static void function(struct reader *r, bool defines)
{
    struct module *m = r->m;
    struct module_function *f = ASL_NEW(r->c, struct module_function);
    struct module_type *t = ll_type_new(r, MODULE_FUNCTION);
    size_t types = 0, cap = 0;
    f->external = true;
    ll_next(r);
    while (!ll_at_type(r)) {
        if (ll_is_name(r, "internal") || ll_is_name(r, "private"))
            f->external = false;
        bool name = r->w.kind == WORD_NAME;
        if (!name && r->w.kind != WORD_NUMBER && r->w.kind != WORD_META)
            ll_wrong(r, "a function's type");
        ll_next(r);
        if (name && ll_is_sign(r, "("))
            ll_skip_brackets(r);
    }
    /* Not ll_type(): the parenthesis behind the name is none of the type. */
    t->result = ll_type(r);
    struct module_value *v = define_global(r, VALUE_FUNCTION);
    v->function = f;
    f->name = v->name + 1;
    f->at = v->at;
    f->type = t;
    f->defined = defines;
    memset(&r->values, 0, sizeof r->values);
    memset(&r->blocks, 0, sizeof r->blocks);
    r->unnamed = 0;
    r->f = f;
    ll_want(r, "(");
    while (!ll_take_sign(r, ")")) {
        if (ll_take_sign(r, "..."))
            t->variadic = true;
        else
            parameter(r, f, t, &types, &cap);
        if (!ll_is_sign(r, ")"))
            ll_want(r, ",");
    }
    uint32_t line = r->behind;
    while (defines ? !ll_is_sign(r, "{") : r->w.at.line == line && r->w.kind != WORD_END) {
        if (r->w.kind == WORD_END)
            ll_wrong(r, "'{'");
        ll_next(r);
        if (ll_is_sign(r, "("))
            ll_skip_brackets(r);
    }
    if (defines)
        body(r);
    r->f = NULL;
    m->functions = asl_grow(r->c, m->functions, m->function_count, &m->function_cap,
                            m->function_count + 1, sizeof(struct module_function *));
    m->functions[m->function_count++] = f;
}

/* ---- the file ------------------------------------------------------------------------------------- */

static void global(struct reader *r)
{
    struct module *m = r->m;
    struct module_value *v = define_global(r, VALUE_GLOBAL);
    struct module_global *g = ASL_NEW(r->c, struct module_global);
    bool elsewhere = false;
    v->global = g;
    g->name = v->name + 1;
    g->at = v->at;
    ll_want(r, "=");
    while (!ll_is_name(r, "global") && !ll_is_name(r, "constant")) {
        if (r->w.kind != WORD_NAME)
            ll_wrong(r, "'global' or 'constant'");
        if (ll_is_name(r, "alias") || ll_is_name(r, "ifunc"))
            module_refuse(m, r->w.at, NULL, "'%.*s': a second name of a thing is not taken",
                          (int)r->w.len, r->w.text);
        elsewhere = elsewhere || ll_is_name(r, "external") || ll_is_name(r, "extern_weak");
        ll_next(r);
        if (ll_is_sign(r, "("))
            ll_skip_brackets(r);
    }
    g->constant = ll_is_name(r, "constant");
    ll_next(r);
    g->type = ll_type(r);
    if (!elsewhere)
        g->initial = ll_value(r, g->type);
    m->globals = asl_grow(r->c, m->globals, m->global_count, &m->global_cap, m->global_count + 1,
                          sizeof(struct module_global *));
    m->globals[m->global_count++] = g;
    while (ll_take_sign(r, ",")) {
        ll_next(r);
        if (r->w.kind == WORD_STRING || r->w.kind == WORD_NUMBER || r->w.kind == WORD_META)
            ll_next(r);
        else
            ll_skip_group(r);
    }
}

/* The byte order, and the sizes that programs differ in. */
static void target_line(struct reader *r)
{
    ll_next(r);
    bool layout = ll_is_name(r, "datalayout");
    ll_next(r);
    ll_want(r, "=");
    if (r->w.kind != WORD_STRING)
        ll_wrong(r, "a string");
    const char *p = r->w.text, *end = p + r->w.len;
    while (layout && p < end) {
        size_t n = 0;
        while (p + n < end && p[n] != '-')
            n++;
        if (n == 1 && *p == 'E')
            module_refuse(r->m, r->w.at, NULL, "a big-endian target is not taken");
        if (n >= 4 && memcmp(p, "p:32", 4) == 0)
            r->m->pointer_bits = 32;
        if (n >= 6 && memcmp(p, "i64:32", 6) == 0)
            r->m->long_align = 4;
        p += n + (p + n < end);
    }
    ll_next(r);
}

static void named_type(struct reader *r)
{
    struct name *n = ll_name_of(r, &r->types, r->w.text, r->w.len);
    struct asl_loc at = r->w.at;
    ll_next(r);
    ll_want(r, "=");
    ll_want_name(r, "type");
    if (ll_take_name(r, "opaque")) {
        if (!n->is) {
            struct module_type *t = ll_type_new(r, MODULE_STRUCT);
            t->opaque = true;
            n->is = t;
        }
        return;
    }
    const struct module_type *t = ll_type(r);
    struct module_type *known = n->is;
    if (!known) {
        n->is = (void *)t;
        return;
    }
    if (!known->opaque || t == known)
        module_refuse(r->m, at, NULL, "%%%.*s is defined a second time", (int)n->len, n->text);
    *known = *t;
}

/* A line at the top that means nothing here. */
static void skip_line(struct reader *r)
{
    uint32_t line;
    do {
        line = r->w.at.line;
        if (ll_is_sign(r, "{") || ll_is_sign(r, "("))
            ll_skip_brackets(r);
        else
            ll_next(r);
    } while (r->w.kind != WORD_END && r->w.at.line == line);
}

void module_text_read(struct module *m)
{
    struct reader *r = ASL_NEW(m->c, struct reader);
    *r = (struct reader){.m = m, .c = m->c, .p = m->src->text, .line = 1};
    r->end = r->p + m->src->size;
    r->line_begin = r->p;
    ll_next(r);
    while (r->w.kind != WORD_END) {
        if (ll_is_name(r, "define") || ll_is_name(r, "declare"))
            function(r, ll_is_name(r, "define"));
        else if (r->w.kind == WORD_GLOBAL)
            global(r);
        else if (r->w.kind == WORD_LOCAL)
            named_type(r);
        else if (ll_is_name(r, "target"))
            target_line(r);
        else if (ll_is_name(r, "module"))
            module_refuse(m, r->w.at, NULL, "assembly of the module is not taken");
        else if (ll_is_name(r, "source_filename") || ll_is_name(r, "attributes") ||
                 r->w.kind == WORD_META || r->w.kind == WORD_GROUP || ll_is_name(r, "uselistorder"))
            skip_line(r);
        else
            ll_wrong(r, "what a module of LLVM holds");
    }
    for (size_t i = 0; i < NAMES; i++)
        for (const struct name *n = r->globals.chain[i]; n; n = n->next)
            if (((struct module_value *)n->is)->kind == VALUE_UNKNOWN)
                module_refuse(m, n->at, NULL, "@%.*s is not defined",
                              (int)(n->len < 80 ? n->len : 80), n->text);
}
