/* SPDX-License-Identifier: Apache-2.0 */
/* survey.c: what the shaders of a group can reach, found without running them. */
#include "group.h"

#include <stdlib.h>

struct walk {
    struct asl_survey *survey;
    const struct asl_function **seen; /* heap */
    size_t seen_count, seen_cap;
    bool failed;
};

static void walk_statement(struct walk *w, const struct asl_stmt *s);

/* True the first time. */
static bool first_visit(struct walk *w, const struct asl_function *f)
{
    for (size_t i = 0; i < w->seen_count; i++)
        if (w->seen[i] == f)
            return false;
    if (w->seen_count == w->seen_cap) {
        size_t cap = w->seen_cap ? 2 * w->seen_cap : 64;
        void *more = realloc((void *)w->seen, cap * sizeof *w->seen);
        if (!more) {
            w->failed = true;
            return false;
        }
        w->seen = more;
        w->seen_cap = cap;
    }
    w->seen[w->seen_count++] = f;
    return true;
}

static void walk_expression(struct walk *w, const struct asl_expr *e)
{
    if (!e)
        return;
    if (e->kind == E_STRING && w->survey->string)
        w->survey->string(w->survey->ctx, e->u.s);
    if (e->kind == E_SYMBOL && e->symbol->kind == SYM_GLOBAL && e->symbol->global == GV_Ci)
        w->survey->uses_Ci = true;
    if (e->kind == E_CALL && e->builtin && e->builtin->id == BI_DISPLACE)
        w->survey->moves_P = true;
    if (e->kind == E_CALL && e->builtin && w->survey->call)
        w->survey->call(w->survey->ctx, e->builtin->name, asl_pos(e->at));
    if (e->kind == E_CALL && e->function && first_visit(w, e->function))
        walk_statement(w, e->function->body);
    walk_expression(w, e->a);
    walk_expression(w, e->b);
    walk_expression(w, e->c);
    for (size_t i = 0; i < e->arg_count; i++)
        walk_expression(w, e->args[i]);
}

static void walk_statement(struct walk *w, const struct asl_stmt *s)
{
    for (; s; s = s->next) {
        walk_expression(w, s->e);
        walk_expression(w, s->step);
        for (const struct asl_decl *d = s->decls; d; d = d->next)
            walk_expression(w, d->init);
        walk_statement(w, s->init);
        walk_statement(w, s->body);
        walk_statement(w, s->other);
    }
}

static void walk_values(struct walk *w, const struct asl_layer *l)
{
    for (size_t i = 0; i < l->shader->info.param_count; i++) {
        const struct asl_param *p = &l->shader->info.params[i];
        size_t n = l->values[i] ? asl_type_slots(p->type) : 0;
        for (size_t k = 0; k < n; k++)
            if (asl_type_scalar(p->type, k) == ASL_STRING && w->survey->string)
                w->survey->string(w->survey->ctx, l->values[i][k].s);
    }
}

static bool writes_P(const struct asl_program *p)
{
    for (size_t i = 0; i < p->symbol_count; i++)
        if (p->symbols[i]->kind == SYM_GLOBAL && p->symbols[i]->global == GV_P &&
            p->symbols[i]->written)
            return true;
    return false;
}

static void walk_layer(struct walk *w, const struct asl_layer *l)
{
    walk_values(w, l);
    w->survey->moves_P |= writes_P(l->program);
    if (!first_visit(w, l->shader->fn))
        return;
    for (const struct asl_formal *f = l->shader->fn->formals; f; f = f->next)
        walk_expression(w, f->init);
    walk_statement(w, l->shader->fn->body);
}

static enum status walk_layers(const struct asl_group *g, size_t begin, size_t end,
                               struct asl_survey *survey, struct error *err)
{
    struct walk w = {.survey = survey};
    survey->uses_Ci = survey->moves_P = false;
    for (size_t i = begin; i < end; i++)
        walk_layer(&w, g->layers[i]);
    free((void *)w.seen);
    return w.failed ? error_msg(err, STATUS_MEMORY, "out of memory") : STATUS_OK;
}

enum status asl_group_survey(const struct asl_group *g, struct asl_survey *survey,
                             struct error *err)
{
    return walk_layers(g, 0, g->layer_count, survey, err);
}

enum status asl_group_survey_layer(const struct asl_group *g, size_t layer,
                                   struct asl_survey *survey, struct error *err)
{
    return walk_layers(g, layer, layer < g->layer_count ? layer + 1 : layer, survey, err);
}
