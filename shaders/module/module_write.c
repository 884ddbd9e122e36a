/* SPDX-License-Identifier: Apache-2.0 */
/* module_write.c: the shader that a module is: its entry, its parameters, its text. */
#include "module/writer.h"

#include <stdarg.h>
#include <string.h>

enum { WRITER_PASSES = 24 };

static const char described[] = "isophote_procedure"; /* the constant that holds the head in C */

bool asl_module_is(const char *file)
{
    size_t n = strlen(file);
    return n > 3 && (strcmp(file + n - 3, ".ll") == 0 || strcmp(file + n - 3, ".bc") == 0);
}

void module_refuse(struct module *m, struct asl_loc at, const char *hint, const char *fmt, ...)
{
    char text[400];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    asl_error(m->c, at, hint, "%s", text);
    longjmp(m->stop, 1);
}

void write_line_end(struct writer *w)
{
    text_puts(&w->code, "\n");
    if (w->code.failed)
        module_refuse(w->m, w->at, NULL, "out of memory");
    if (w->line_count == WRITER_LINES)
        module_refuse(w->m, w->at, NULL,
                      "the shader has more than %d statements, those of called functions at each "
                      "call",
                      (int)WRITER_LINES);
    w->lines =
        asl_grow(w->c, w->lines, w->line_count, &w->line_cap, w->line_count + 1, sizeof *w->lines);
    w->lines[w->line_count++] = w->at;
}

const char *write_variable(struct writer *w, bool real)
{
    const char *name = asl_sprintf(w->c, "v%u__c", w->names++);
    text_printf(&w->declared, "%s %s;\n", real ? "float" : "int", name);
    return name;
}

struct instance *instance_new(struct writer *w, struct module_function *f, unsigned depth)
{
    struct instance *i = ASL_NEW(w->c, struct instance);
    module_verify(w->m, f);
    i->f = f;
    i->depth = depth;
    i->values = ASL_ARRAY(w->c, struct part *, f->ids + 1);
    i->unsteady = ASL_ARRAY(w->c, bool, f->ids + 1);
    i->seen = ASL_ARRAY(w->c, uint32_t, f->ids + 1);
    return i;
}

/* ---- the head: what parameters there are ------------------------------------------------------------ */

struct head {
    const char *name;
    struct asl_procedure_input *inputs;
    size_t count;
    struct asl_tokens tokens; /* "shader name(parameters)", of a description */
    bool is_described;
};

static const struct module_global *description(const struct module *m)
{
    for (size_t k = 0; k < m->global_count; k++)
        if (strcmp(m->globals[k]->name, described) == 0)
            return m->globals[k];
    return NULL;
}

static void lex(struct asl_compile *c, const char *text, size_t size, const struct asl_loc *lines,
                size_t count, struct asl_loc other, struct asl_tokens *out)
{
    const struct asl_source *src = asl_source_new(c, other.src->name, text, size);
    struct asl_lexer lx;
    struct asl_token t;
    asl_lex_open(&lx, c, src);
    lx.skipping = true; /* what does not lex does not parse */
    for (asl_lex_next(&lx, &t); t.kind != TOK_END; asl_lex_next(&lx, &t)) {
        if (t.kind == TOK_NEWLINE)
            continue;
        t.at = t.at.line >= 1 && t.at.line <= count ? lines[t.at.line - 1] : other;
        out->t = asl_grow(c, out->t, out->count, &out->cap, out->count + 1, sizeof t);
        out->t[out->count++] = t;
    }
}

static void end_tokens(struct asl_compile *c, struct asl_tokens *out, struct asl_loc at)
{
    struct asl_token t = {.kind = TOK_END, .text = "", .at = at};
    out->t = asl_grow(c, out->t, out->count, &out->cap, out->count + 1, sizeof t);
    out->t[out->count++] = t;
}

/* The head that the module describes, as C has it. */
static void read_description(struct module *m, const struct module_global *g, struct head *h)
{
    const struct module_value *v = g->initial;
    const struct module_type *t = g->type;
    if (!v || v->kind != VALUE_AGGREGATE || t->kind != MODULE_ARRAY ||
        t->of[0]->kind != MODULE_INT || t->of[0]->bits != 8)
        module_refuse(m, g->at, NULL, "@%s is no constant text", described);
    char *text = ASL_ARRAY(m->c, char, v->count + 1);
    size_t n = 0;
    for (size_t k = 0; k < v->count; k++)
        if (v->ops[k]->bits)
            text[n++] = (char)v->ops[k]->bits;
    struct asl_tokens in = {0};
    lex(m->c, text, n, NULL, 0, g->at, &in);
    end_tokens(m->c, &in, g->at);
    unsigned errors = (unsigned)m->c->diags->errors;
    h->is_described = true;
    h->name = asl_procedure_head(m->c, &in, &h->tokens, &h->inputs, &h->count);
    if (!h->name || m->c->diags->errors > errors)
        longjmp(m->stop, 1);
}

static struct module_function *entry(struct module *m, const struct head *h)
{
    struct module_function *found = NULL;
    for (size_t k = 0; k < m->function_count; k++) {
        struct module_function *f = m->functions[k];
        if (!f->defined || (h->is_described ? strcmp(f->name, h->name) != 0 : !f->external))
            continue;
        if (found)
            module_refuse(m, f->at, "make all functions but one internal (static in C)",
                          "@%s is a second function that others see: which is the shader?",
                          f->name);
        found = f;
    }
    if (!found && h->is_described)
        module_refuse(m, (struct asl_loc){m->src, 1, 1, 1}, NULL,
                      "@%s, which @%s describes, is not defined", h->name, described);
    if (!found)
        module_refuse(m, (struct asl_loc){m->src, 1, 1, 1}, NULL,
                      "the module defines no function that others see");
    if (found->type->result->kind != MODULE_VOID)
        module_refuse(m, found->at, NULL, "@%s gives something back: a shader does not",
                      found->name);
    if (found->type->variadic)
        module_refuse(m, found->at, NULL, "@%s takes any number of arguments", found->name);
    return found;
}

static bool all_floats(const struct part *p, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (p[k].kind != PART_FLOAT)
            return false;
    return n > 0;
}

/* A name for a parameter that nothing describes: the module's, else argN. */
static const char *plain_name(struct writer *w, const struct module_value *v, size_t number,
                              const struct head *h)
{
    const char *name = v->name + 1;
    size_t n = 0;
    while ((name[n] >= 'a' && name[n] <= 'z') || (name[n] >= 'A' && name[n] <= 'Z') ||
           name[n] == '_' || (n && name[n] >= '0' && name[n] <= '9'))
        n++;
    const char *rest = name + n;
    char *kept = asl_strndup(w->c, name, n);
    struct asl_token t = {.kind = TOK_NAME, .text = kept, .len = (uint32_t)n};
    bool good = n && (!*rest || strcmp(rest, ".coerce") == 0 || strcmp(rest, ".coerce0") == 0) &&
                !asl_is_reserved(&t) && !asl_builtin_find(kept) && asl_global_find(kept) < 0 &&
                !(n > 3 && strcmp(kept + n - 3, "__c") == 0);
    for (size_t k = 0; good && k < h->count; k++)
        good = strcmp(h->inputs[k].name, kept) != 0;
    return good ? kept : asl_sprintf(w->c, "arg%zu", number);
}

/* What the parameters are, where nothing describes them: by their types. */
static void guess_head(struct writer *w, const struct module_function *f, struct head *h)
{
    size_t n;
    h->name = f->name;
    h->inputs = ASL_ARRAY(w->c, struct asl_procedure_input, f->type->count + 1);
    h->count = 0;
    for (size_t k = 0; k < f->type->count; k++) {
        const struct module_parameter *x = &f->parameters[k];
        struct asl_procedure_input *in = &h->inputs[h->count];
        *in = (struct asl_procedure_input){.name = plain_name(w, x->value, k, h)};
        const struct part *p = parts_of_type(w, x->value->type, &n, f->at);
        if (x->value->type->kind == MODULE_POINTER) {
            in->point = k == 0;
            in->pointer = k == 0 || !x->by_value;
            in->type = ASL_COLOR; /* of an output: at most */
        } else if (n == 1 && p->kind == PART_FLOAT) {
            in->type = ASL_FLOAT;
        } else if (n == 1 && p->kind == PART_INT && p->bits == 32) {
            in->type = ASL_INT;
        } else if (n == 3 && all_floats(p, n)) {
            in->type = ASL_COLOR;
        } else if (n == 2 && all_floats(p, n) && k + 1 < f->type->count &&
                   f->parameters[k + 1].value->type->kind == MODULE_FLOAT) {
            in->type = ASL_COLOR; /* <2 x float>, float: as processors of x86-64 are given it */
            k++;
        } else {
            module_refuse(w->m, f->at, "describe the parameters: docs/reference/modules.md",
                          "parameter %s is of type %s", x->value->name,
                          module_type_text(w->c, x->value->type));
        }
        h->count++;
    }
}

/* The values of an input, which the next parameters of the function are. */
static void bind_value(struct writer *w, struct instance *i, const struct asl_procedure_input *in,
                       size_t *at)
{
    const struct module_function *f = i->f;
    size_t have = 0, want = in->type == ASL_INT || in->type == ASL_FLOAT ? 1 : 3;
    while (have < want) {
        size_t n;
        if (*at == f->type->count)
            module_refuse(w->m, f->at, NULL, "@%s has no parameter for %s", f->name, in->name);
        const struct module_parameter *x = &f->parameters[(*at)++];
        struct part *p = parts_of_type(w, x->value->type, &n, f->at);
        if (p->kind == PART_POINTER && have == 0 && want == 3) { /* a copy of it */
            *p = (struct part){.kind = PART_POINTER, .object = object_new(w, OBJECT_LOCAL, 12)};
            for (int64_t k = 0; k < 3; k++) {
                struct part c = {.kind = PART_FLOAT,
                                 .lo = asl_sprintf(w->c, "%s[%lld]", in->name, (long long)k)};
                memory_store(w, p, 4 * k, &c);
            }
            i->values[x->value->id] = p;
            return;
        }
        for (size_t k = 0; k < n; k++, have++) {
            bool fits = in->type == ASL_INT ? p[k].kind == PART_INT && p[k].bits == 32
                                            : p[k].kind == PART_FLOAT;
            if (have >= want || !fits)
                module_refuse(w->m, f->at, NULL, "parameter %s of type %s is no part of %s",
                              x->value->name, module_type_text(w->c, x->value->type), in->name);
            p[k].lo = want == 3 ? asl_sprintf(w->c, "%s[%zu]", in->name, have) : in->name;
        }
        i->values[x->value->id] = p;
    }
}

static void bind(struct writer *w, struct instance *i, struct head *h)
{
    const struct module_function *f = i->f;
    size_t at = 0;
    w->at = f->at;
    if (h->count == 0 || !h->inputs[0].point)
        module_refuse(w->m, f->at, NULL, "the first parameter of @%s is the point, by a pointer",
                      f->name);
    for (size_t k = 0; k < h->count; k++) {
        const struct asl_procedure_input *in = &h->inputs[k];
        if (!in->pointer) {
            bind_value(w, i, in, &at);
            continue;
        }
        if (at == f->type->count || f->parameters[at].value->type->kind != MODULE_POINTER)
            module_refuse(w->m, f->at, NULL, "@%s has no pointer for %s", f->name, in->name);
        struct part *p = ASL_NEW(w->c, struct part);
        bool scalar = in->type == ASL_INT || in->type == ASL_FLOAT;
        *p = (struct part){.kind = PART_POINTER};
        p->object = object_new(w, in->point ? OBJECT_POINT : OBJECT_OUTPUT,
                               in->point ? 84
                               : scalar  ? 4
                                         : 12);
        p->object->name = in->name;
        p->object->type = in->type;
        p->object->guessed = !h->is_described;
        i->values[f->parameters[at++].value->id] = p;
    }
    if (at != f->type->count)
        module_refuse(w->m, f->at, NULL, "@%s has more parameters than %s describes", f->name,
                      h->is_described ? described : "its head");
}

/* "shader name(parameters)" of what nothing describes; outputs as they were used. */
static void write_head(const struct writer *w, const struct head *h, struct text *out)
{
    static const char *const types[] = {
        [ASL_INT] = "int", [ASL_FLOAT] = "float", [ASL_COLOR] = "color"};
    struct asl_token t = {.kind = TOK_NAME, .text = h->name, .len = (uint32_t)strlen(h->name)};
    size_t n = strspn(h->name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    bool good = n == t.len && n && strchr("0123456789", h->name[0]) == NULL && !asl_is_reserved(&t);
    text_printf(out, "shader %s(", good ? h->name : "module");
    for (size_t k = 1; k < h->count; k++) {
        const struct asl_procedure_input *in = &h->inputs[k];
        enum asl_base type = in->type;
        for (size_t o = 0; in->pointer && o < w->object_count; o++)
            if (w->objects[o]->kind == OBJECT_OUTPUT && w->objects[o]->name == in->name)
                type = object_output_type(w->objects[o]);
        text_printf(out, "%s%s%s %s = 0", k > 1 ? ", " : "", in->pointer ? "output " : "",
                    types[type], in->name);
    }
    text_puts(out, ")");
}

/* ---- the text ------------------------------------------------------------------------------------------ */

static void write_once(struct writer *w, struct module_function *f, struct head *h)
{
    w->declared.len = w->code.len = 0;
    w->line_count = 0;
    w->names = 0;
    w->object_next = 0;
    w->learnt = false;
    w->nest = w->depth = 0;
    struct instance *i = instance_new(w, f, 0);
    bind(w, i, h);
    f->busy = true;
    flow_write(w, i);
    f->busy = false;
}

static void write_shader(struct writer *w, struct asl_tokens *out)
{
    struct module *m = w->m;
    struct head h = {0};
    const struct module_global *g = description(m);
    if (g)
        read_description(m, g, &h);
    struct module_function *f = entry(m, &h);
    w->at = f->at;
    if (!g)
        guess_head(w, f, &h);
    unsigned passes = 0;
    do {
        if (++passes > WRITER_PASSES)
            module_refuse(m, f->at, NULL, "how memory is used is too involved");
        write_once(w, f, &h);
    } while (w->learnt);
    objects_declare(w);
    lex(m->c, module_helpers, strlen(module_helpers), NULL, 0, f->at, out);
    if (g) {
        for (size_t k = 0; k < h.tokens.count; k++) {
            out->t = asl_grow(m->c, out->t, out->count, &out->cap, out->count + 1, sizeof *out->t);
            out->t[out->count++] = h.tokens.t[k];
        }
    } else {
        write_head(w, &h, &w->head);
    }
    text_puts(&w->head, "{");
    const char *kept[3];
    const struct text *texts[] = {&w->head, &w->declared, &w->code};
    for (size_t k = 0; k < 3; k++) {
        if (texts[k]->failed)
            module_refuse(m, f->at, NULL, "out of memory");
        kept[k] = asl_strndup(m->c, texts[k]->data ? texts[k]->data : "", texts[k]->len);
        lex(m->c, kept[k], texts[k]->len, k == 2 ? w->lines : NULL, k == 2 ? w->line_count : 0,
            f->at, out);
    }
    lex(m->c, "}", 1, NULL, 0, f->at, out);
    end_tokens(m->c, out, f->at);
}

static void read_and_write(struct module *m, struct writer *w, struct asl_tokens *out)
{
    if (setjmp(m->stop)) /* told already */
        return;
    if (module_is_bits(m->src->text, m->src->size))
        module_bits_read(m);
    else
        module_text_read(m);
    write_shader(w, out);
}

static void free_texts(struct writer *w)
{
    text_free(&w->head);
    text_free(&w->declared);
    text_free(&w->code);
}

void asl_module_read(struct asl_compile *c, const struct asl_source *src, struct asl_tokens *out)
{
    struct module *m = ASL_NEW(c, struct module);
    struct writer *w = ASL_NEW(c, struct writer);
    *m = (struct module){.c = c, .src = src, .pointer_bits = 64, .long_align = 8};
    *w = (struct writer){.m = m, .c = c, .null = ASL_NEW(c, struct object)};
    w->null->kind = OBJECT_NULL;
    w->null->kinds = ASL_ARRAY(c, uint8_t, 1);
    jmp_buf outer;
    memcpy(&outer, &c->fail, sizeof outer);
    if (setjmp(c->fail)) { /* out of memory: the texts are on the heap */
        memcpy(&c->fail, &outer, sizeof outer);
        free_texts(w);
        longjmp(c->fail, 1);
    }
    read_and_write(m, w, out);
    memcpy(&c->fail, &outer, sizeof outer);
    free_texts(w);
}
