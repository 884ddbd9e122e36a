/* SPDX-License-Identifier: Apache-2.0 */
/* compile.c: the stages in their order, and what the outside may ask of a program. */
#include "asl.h"
#include "modules.h"
#include "procedure.h"

#include <string.h>

/* Where the text of a source ends. */
static struct asl_loc end_of(const struct asl_source *src)
{
    struct asl_loc at = {.src = src, .line = 1, .col = 1, .len = 1};
    for (const char *p = src->text; p < src->text + src->size; p++) {
        at.line += *p == '\n';
        at.col = *p == '\n' ? 1 : at.col + 1;
    }
    return at;
}

static void parse_and_check(struct asl_compile *c, const struct asl_tokens *tokens,
                            const struct asl_program **out)
{
    struct asl_program *p = asl_parse(c, tokens);
    p->tokens = *tokens;
    asl_check(c, p);
    if (c->diags->errors == 0) {
        asl_mark_derivs(c, p);
        *out = p;
    }
}

/* The stages; comes back here with a status when memory runs out. */
static enum status run_stages(struct asl_compile *c, const char *file, const char *text,
                              size_t size, struct asl_tokens *tokens,
                              const struct asl_program **out)
{
    if (setjmp(c->fail))
        return c->fail_status;
    char *copy = asl_strndup(c, text, size);
    char *name = asl_strndup(c, file, strlen(file));
    size_t length = strlen(copy);
    const struct asl_source *src = asl_source_new(c, name, copy, length);
    if (asl_module_is(name)) {
        c->silent = true; /* nobody wrote its statements */
        asl_module_read(c, asl_source_new(c, name, copy, size), tokens);
        if (c->diags->errors)
            return STATUS_OK;
        if (out)
            parse_and_check(c, tokens, out);
        asl_diags_sort(c);
        return STATUS_OK;
    }
    if (length < size)
        asl_error(c, end_of(src), "is this a text file?", "a character 0");
    c->procedure = asl_procedure_is(name);
    struct asl_tokens written = {0};
    asl_preprocess_file(c, src, c->procedure ? &written : tokens);
    if (c->procedure)
        asl_procedure_read(c, &written, tokens);
    if (c->procedure && c->diags->errors)
        out = NULL; /* the parser would tell the same again */
    if (out)
        parse_and_check(c, tokens, out);
    asl_diags_sort(c);
    return STATUS_OK;
}

static enum status first_error(const struct asl_diags *diags, struct error *err)
{
    const struct asl_diag *d = diags->first;
    while (d && d->severity != ASL_ERROR)
        d = d->next;
    return error_set(err, STATUS_TYPE, d ? d->pos : (struct src_pos){0}, "%s",
                     d ? d->text : "errors");
}

static enum status run(struct arena *a, const char *file, const char *text, size_t size,
                       const struct asl_options *opt, struct asl_diags *diags,
                       struct asl_tokens *tokens, const struct asl_program **out, struct error *err)
{
    static const struct asl_options none = {0};
    struct asl_compile c = {.arena = a, .opt = opt ? opt : &none, .diags = diags, .err = err};
    c.max_bytes = c.opt->max_bytes ? c.opt->max_bytes : (size_t)1 << 30;
    char *data = NULL;
    enum status s =
        text ? STATUS_OK : input_file_read(a, file, (size_t)256 << 20, &data, &size, err);
    text = text ? text : data;
    c.silent = s == STATUS_OK && asl_object_is(text, size);
    if (s == STATUS_OK)
        s = run_stages(&c, file, text, size, tokens, out);
    return s != STATUS_OK || diags->errors == 0 ? s : first_error(diags, err);
}

static enum status check_again(struct asl_compile *c, const struct asl_tokens *tokens,
                               const struct asl_program **out)
{
    if (setjmp(c->fail))
        return c->fail_status;
    parse_and_check(c, tokens, out);
    return STATUS_OK;
}

enum status asl_program_resize(struct arena *a, const struct asl_program *p,
                               const struct asl_length *lengths, const struct asl_program **out,
                               struct error *err)
{
    static const struct asl_options none = {0};
    struct asl_diags diags = {0};
    struct asl_compile c = {.arena = a,
                            .opt = &none,
                            .diags = &diags,
                            .err = err,
                            .max_bytes = (size_t)1 << 30,
                            .lengths = lengths};
    enum status s = check_again(&c, &p->tokens, out);
    return s != STATUS_OK || diags.errors == 0 ? s : first_error(&diags, err);
}

enum status asl_compile(struct arena *a, const char *file, const char *text, size_t size,
                        const struct asl_options *opt, struct asl_diags *diags,
                        const struct asl_program **out, struct error *err)
{
    struct asl_tokens tokens = {0};
    return run(a, file, text, size, opt, diags, &tokens, out, err);
}

enum status asl_preprocess(struct arena *a, const char *file, const char *text, size_t size,
                           const struct asl_options *opt, struct asl_diags *diags, struct text *out,
                           struct error *err)
{
    struct asl_tokens tokens = {0};
    enum status s = run(a, file, text, size, opt, diags, &tokens, NULL, err);
    if (s != STATUS_OK)
        return s;
    struct src_pos last = {0};
    for (size_t i = 0; i + 1 < tokens.count; i++) {
        const struct asl_token *t = &tokens.t[i];
        struct src_pos pos = asl_pos(t->at);
        if (!last.file || strcmp(pos.file, last.file) != 0 || pos.line < last.line ||
            pos.line > last.line + 8)
            text_printf(out, "%s#line %u \"%s\"\n", i ? "\n" : "", pos.line, pos.file);
        else
            for (; last.line < pos.line; last.line++)
                text_puts(out, "\n");
        if (i && last.line == pos.line && t->space)
            text_puts(out, " ");
        else if (i && last.line == pos.line) /* tokens that expansion brought together stay apart */
            text_puts(out, t->kind == TOK_NAME || t->kind == TOK_NUMBER ? " " : "");
        text_append(out, t->text, t->len);
        last = pos;
    }
    text_puts(out, "\n");
    return out->failed ? error_msg(err, STATUS_MEMORY, "out of memory") : STATUS_OK;
}

size_t asl_program_shaders(const struct asl_program *p) { return p->shader_count; }

const struct asl_shader_info *asl_program_shader(const struct asl_program *p, size_t index)
{
    return index < p->shader_count ? &p->shaders[index]->info : NULL;
}
