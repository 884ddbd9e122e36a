/* SPDX-License-Identifier: Apache-2.0 */
/* lower.c: a finished group becomes IR: layers, parameters, connections, statements. */
#include "lower.h"
#include "optimise/opt.h"

#include <stdlib.h>
#include <string.h>

/* ---- statements ----------------------------------------------------------------------------- */

static void statement(struct lower *l, const struct asl_stmt *s);

static void statements(struct lower *l, const struct asl_stmt *s)
{
    for (; s && !lower_ended(l); s = s->next)
        statement(l, s);
}

static ir_value condition(struct lower *l, const struct asl_expr *e)
{
    struct lrow v = lower_expr(l, e);
    return lower_truth(l, e->type, &v);
}

static void declaration(struct lower *l, const struct asl_decl *d)
{
    lower_at(l, d->at);
    const struct asl_symbol *s = d->symbol;
    bool derivs = (s->derivs & l->layer->mode) != 0;
    struct lplace p = lower_temp(l, s->type, derivs, s->name);
    if (d->init)
        lower_into(l, &p, d->init);
    else
        lower_zero(l, &p);
    l->bound[s->index] = p;
}

static void leave_unless(struct lower *l, const struct asl_expr *e, struct ir_inst *loop)
{
    struct ir_inst *i = lower_open(l, IR_IF, condition(l, e));
    lower_other(l, i);
    lower_break(l, IR_BREAK, loop);
    lower_close(l, i);
}

static void loop(struct lower *l, const struct asl_stmt *s)
{
    if (s->kind == S_FOR && s->init)
        statement(l, s->init);
    lower_at(l, s->at);
    struct ir_inst *outer = l->loop, *i = lower_open(l, IR_LOOP, 0);
    l->loop = i;
    if (s->kind != S_DO && s->e)
        leave_unless(l, s->e, i);
    statement(l, s->body);
    lower_other(l, i);
    if (s->kind == S_DO && s->e)
        leave_unless(l, s->e, i);
    if (s->kind == S_FOR && s->step)
        lower_effect(l, s->step);
    lower_close(l, i);
    l->loop = outer;
}

static void branch(struct lower *l, const struct asl_stmt *s)
{
    struct ir_inst *i = lower_open(l, IR_IF, condition(l, s->e));
    statement(l, s->body);
    lower_other(l, i);
    if (s->other)
        statement(l, s->other);
    lower_close(l, i);
}

static void leave_function(struct lower *l, const struct asl_stmt *s)
{
    if (s->e && l->ret)
        lower_into(l, l->ret, s->e);
    else if (s->e)
        lower_effect(l, s->e);
    lower_at(l, s->at);
    if (l->function)
        lower_break(l, IR_BREAK, l->function);
    else
        ir_append(l->b.block, ir_inst_new(&l->b, IR_RETURN, 0, 0, IR_I));
}

static void statement(struct lower *l, const struct asl_stmt *s)
{
    if (!s)
        return;
    lower_at(l, s->at);
    switch (s->kind) {
    case S_EXPR:
        lower_effect(l, s->e);
        break;
    case S_BLOCK:
        statements(l, s->body);
        break;
    case S_DECL:
        for (const struct asl_decl *d = s->decls; d; d = d->next)
            declaration(l, d);
        break;
    case S_IF:
        branch(l, s);
        break;
    case S_WHILE:
    case S_DO:
    case S_FOR:
        loop(l, s);
        break;
    case S_BREAK:
        lower_break(l, IR_BREAK, l->loop);
        break;
    case S_CONTINUE:
        lower_break(l, IR_CONTINUE, l->loop);
        break;
    case S_RETURN:
        leave_function(l, s);
        break;
    default:
        break;
    }
}

void lower_body(struct lower *l, const struct asl_function *f)
{
    if (f->body)
        statement(l, f->body);
}

/* ---- parameters ----------------------------------------------------------------------------- */

static const struct asl_formal *formal_at(const struct asl_layer *layer, size_t i)
{
    const struct asl_formal *a = layer->shader->fn->formals;
    while (a && i--)
        a = a->next;
    return a;
}

/* The place of a layer's parameter. */
static struct lplace param_place(const struct lower *l, size_t layer, size_t param)
{
    const struct ir_param *p = &l->b.code->layers[layer].params[param];
    const struct ir_cell *c = &l->b.code->cells[p->cell];
    return (struct lplace){.cell = p->cell, .n = c->n, .d = c->derivs ? c->n : 0, .type = p->type};
}

static void copy_connection(struct lower *l, const struct asl_connection *k)
{
    struct lplace a = param_place(l, k->from_layer, k->from_param),
                  b = param_place(l, l->index, k->to_param);
    a.n = (uint32_t)asl_type_slots(k->from_type);
    b.n = (uint32_t)asl_type_slots(k->to_type);
    a.type = k->from_type;
    b.type = k->to_type;
    a.base += k->from_slot;
    b.base += k->to_slot;
    if (lower_is_aggregate(a.type)) {
        lower_copy(l, &b, &a);
        return;
    }
    struct lrow in = lower_load(l, &a, a.d != 0);
    struct lrow out = lower_convert(l, k->from_type, k->to_type, &in, b.d != 0);
    lower_store(l, &b, &out);
}

/* Does another layer of the code give the parameter? */
static bool is_brought(const struct lower *l, size_t param)
{
    return !l->opt->alone && l->layer->connected[param];
}

void lower_bring(struct lower *l, const struct asl_symbol *param)
{
    size_t p = 0;
    const struct asl_formal *a = l->layer->shader->fn->formals;
    for (; a && a->symbol != param; a = a->next)
        p++;
    if (!a || !is_brought(l, p))
        return;
    struct lplace flag = {.cell = l->pending[p], .n = 1, .type = asl_type_of(ASL_INT)};
    struct lrow pending = lower_load(l, &flag, false);
    struct ir_inst *i = lower_open(l, IR_IF, pending.v[0]);
    lower_zero(l, &flag);
    for (const struct asl_connection *k = l->layer->connections; k; k = k->next) {
        if (k->to_param != p)
            continue;
        struct ir_inst *pull = ir_inst_new(&l->b, IR_PULL, 0, 0, IR_I);
        pull->u.number = (uint32_t)k->from_layer;
        ir_append(l->b.block, pull);
        copy_connection(l, k);
    }
    lower_close(l, i);
}

static void store_slots(struct lower *l, const struct lplace *p, const union asl_slot *v)
{
    struct lplace one = *p;
    for (uint32_t i = 0; i < p->n; i++) {
        one.base = p->base + i;
        one.n = 1;
        struct lrow r = lower_row(l, 1, false);
        r.v[0] = ir_const(&l->b, ir_slot_type(p->type, i), v[i]);
        lower_store(l, &one, &r);
    }
}

static ir_value argument(struct lower *l, struct ir_arg_slot slot)
{
    uint32_t offset = ir_arg_new(&l->b, slot);
    struct ir_inst *i = ir_inst_new(&l->b, IR_ARG, 0, 1, slot.type);
    i->u.number = offset;
    ir_append(l->b.block, i);
    return i->result;
}

/* From the argument area; `v` is what the group gives now, or NULL. Of a layer alone it has the
 * derivatives too, of what others give. */
static void store_arguments(struct lower *l, const struct lplace *p, uint32_t param,
                            const union asl_slot *v)
{
    struct lplace one = *p;
    const bool changes = l->opt->alone && p->d;
    if (changes)
        one.d = 0;
    for (uint32_t i = 0; i < (changes ? 3 : 1) * p->n; i++) {
        const uint32_t row = i / p->n;
        struct ir_arg_slot slot = {.layer = l->index,
                                   .param = param,
                                   .slot = i,
                                   .type = row ? IR_F : ir_slot_type(p->type, i)};
        if (row)
            slot.value.f = 0;
        else if (v)
            slot.value = v[i];
        else if (slot.type == IR_S)
            slot.value.s = "";
        one.base = p->base + row * p->d + i % p->n;
        one.n = 1;
        struct lrow r = lower_row(l, 1, false);
        r.v[0] = argument(l, slot);
        lower_store(l, &one, &r);
    }
}

static void default_value(struct lower *l, const struct lplace *p, const struct asl_formal *a)
{
    if (a->init)
        lower_into(l, p, a->init);
    else
        lower_zero(l, p);
}

static void give_value(struct lower *l, const struct lplace *p, const struct asl_formal *a,
                       uint32_t i)
{
    const struct asl_param *info = &l->layer->shader->info.params[i];
    const union asl_slot *v = l->layer->values[i];
    bool settable = !l->opt->bake && a->type.base != ASL_CLOSURE && a->type.base != ASL_STRUCT &&
                    !(l->opt->bake_strings && a->type.base == ASL_STRING);
    if (!settable && v) {
        store_slots(l, p, v);
    } else if (!settable) {
        default_value(l, p, a);
    } else if ((v && !l->opt->alone) || info->constant || !a->init) {
        store_arguments(l, p, i, v ? v : info->constant ? info->default_value : NULL);
    } else {
        struct ir_arg_slot is_set = {.layer = l->index, .param = i, .type = IR_I, .is_set = true};
        struct ir_inst *k = lower_open(l, IR_IF, argument(l, is_set));
        store_arguments(l, p, i, v);
        lower_other(l, k);
        default_value(l, p, a);
        lower_close(l, k);
    }
}

static void ask_userdata(struct lower *l, const struct lplace *p, const struct asl_formal *a,
                         uint32_t param)
{
    uint32_t n = p->n, results = 1 + n * (p->d ? 3 : 1);
    struct ir_inst *i = ir_inst_new(&l->b, IR_USERDATA, 0, results, IR_F);
    l->b.layer->types[i->result] = IR_I;
    for (uint32_t k = 0; k < n; k++)
        l->b.layer->types[i->result + 1 + k] = (uint8_t)ir_slot_type(p->type, k);
    i->u.user.name = a->name;
    i->u.user.type = p->type;
    i->u.user.derivs = p->d != 0;
    ir_append(l->b.block, i);
    struct lrow v = lower_row(l, n, p->d != 0);
    for (uint32_t k = 1; k < results; k++)
        v.v[k - 1] = i->result + k;
    struct ir_inst *found = lower_open(l, IR_IF, i->result);
    lower_store(l, p, &v);
    lower_other(l, found);
    give_value(l, p, a, param);
    lower_close(l, found);
}

static void start_params(struct lower *l)
{
    uint32_t i = 0;
    for (const struct asl_formal *a = l->layer->shader->fn->formals; a; a = a->next, i++) {
        struct lplace p = l->bound[a->symbol->index];
        lower_at(l, a->at);
        if (is_brought(l, i)) {
            struct lplace flag = {.cell = l->pending[i], .n = 1, .type = asl_type_of(ASL_INT)};
            struct lrow one = lower_row(l, 1, false);
            one.v[0] = ir_const_i(&l->b, 1);
            lower_store(l, &flag, &one);
        }
        bool whole = false;
        for (const struct asl_connection *k = l->layer->connections; k; k = k->next)
            whole = whole || (k->to_param == i && k->to_whole);
        if (whole)
            continue; /* brought when it is read */
        if (!l->layer->lockgeom[i])
            ask_userdata(l, &p, a, i);
        else
            give_value(l, &p, a, i);
    }
}

/* ---- layers --------------------------------------------------------------------------------- */

static void make_globals(struct lower *l)
{
    for (uint32_t g = 0; g < GV_COUNT; g++) {
        struct lplace p = lower_temp(l, asl_global_type((enum asl_global)g), g != GV_Ci,
                                     asl_global_name((enum asl_global)g));
        struct ir_cell *c = &l->b.code->cells[p.cell];
        c->scope = IR_GLOBAL;
        c->layer = g;
        l->b.code->global_cell[g] = p.cell;
    }
}

/* The cells of every layer's parameters: connections need those of earlier layers. */
static void make_params(struct lower *l, uint32_t index)
{
    const struct asl_layer *layer = l->group->layers[index];
    struct ir_layer *to = &l->b.code->layers[index];
    to->name = layer->name;
    to->shader = layer->shader->info.name;
    to->runs = true;
    to->param_count = (uint32_t)layer->shader->info.param_count;
    to->params = IR_ARRAY(&l->b, struct ir_param, to->param_count);
    l->index = index;
    for (uint32_t i = 0; i < to->param_count; i++) {
        const struct asl_formal *a = formal_at(layer, i);
        bool derivs = (a->symbol->derivs & layer->mode) != 0;
        lower_at(l, a->at);
        struct lplace p = lower_temp(l, a->type, derivs, a->name);
        struct ir_cell *c = &l->b.code->cells[p.cell];
        c->scope = IR_PARAM;
        to->params[i] = (struct ir_param){a->name, a->type, p.cell, a->output};
    }
}

static void make_layer(struct lower *l, uint32_t index)
{
    const struct asl_layer *layer = l->group->layers[index];
    const struct asl_program *p = layer->program;
    l->index = index;
    l->layer = layer;
    ir_builder_layer(&l->b, &l->b.code->layers[index]);
    l->bound = IR_ARRAY(&l->b, struct lplace, p->symbol_count);
    l->pending = IR_ARRAY(&l->b, uint32_t, layer->shader->info.param_count);
    uint32_t i = 0;
    for (const struct asl_formal *a = layer->shader->fn->formals; a; a = a->next, i++) {
        l->bound[a->symbol->index] = param_place(l, index, i);
        if (is_brought(l, i))
            l->pending[i] = lower_temp(l, asl_type_of(ASL_INT), false, "pending").cell;
    }
    for (size_t s = 0; s < p->symbol_count; s++) {
        const struct asl_symbol *g = p->symbols[s];
        if (g->kind != SYM_GLOBAL)
            continue;
        uint32_t cell = l->b.code->global_cell[g->global], n = l->b.code->cells[cell].n;
        l->bound[g->index] =
            (struct lplace){.cell = cell, .n = n, .d = g->global == GV_Ci ? 0 : n, .type = g->type};
    }
    witness_layer(l->b.witness, index);
    l->b.rule = "parameter";
    start_params(l);
    l->b.rule = "statement";
    lower_body(l, layer->shader->fn);
}

/* ---- what the caller asks for --------------------------------------------------------------- */

static void observe(struct lower *l, const char *name)
{
    struct asl_code *code = l->b.code;
    const char *dot = strchr(name, '.');
    bool found = false;
    for (uint32_t i = code->layer_count; i-- > 0 && !found;) {
        const struct ir_layer *layer = &code->layers[i];
        const char *param = name;
        if (dot) {
            size_t n = (size_t)(dot - name);
            if (strncmp(layer->name, name, n) != 0 || layer->name[n])
                continue;
            param = dot + 1;
        }
        for (uint32_t p = 0; p < layer->param_count; p++) {
            if (strcmp(layer->params[p].name, param) == 0) {
                code->cells[layer->params[p].cell].observed = true;
                code->cells[layer->params[p].cell].observed_changes = l->opt->alone;
                found = true;
            }
        }
    }
    int g = found || dot ? -1 : asl_global_find(name);
    if (g >= 0)
        code->cells[code->global_cell[g]].observed = true;
    else if (!found)
        ir_fail(&l->b, STATUS_MISSING, (struct src_pos){0}, "the group has no output '%s'", name);
}

static void observe_all(struct lower *l)
{
    struct asl_code *code = l->b.code;
    for (uint32_t i = 0; i < code->layer_count; i++)
        for (uint32_t p = 0; p < code->layers[i].param_count; p++)
            code->cells[code->layers[i].params[p].cell].observed = code->layers[i].params[p].output;
    for (uint32_t g = 0; g < GV_COUNT; g++)
        code->cells[code->global_cell[g]].observed = true;
}

static void make_entries(struct lower *l)
{
    struct asl_code *code = l->b.code;
    bool *entry = IR_ARRAY(&l->b, bool, code->layer_count);
    for (const char *const *e = l->opt->entry_layers; e && *e; e++) {
        long i = asl_group_find(l->group, *e);
        if (i < 0)
            ir_fail(&l->b, STATUS_MISSING, (struct src_pos){0}, "there is no layer '%s'", *e);
        entry[i] = true;
    }
    entry[code->layer_count - 1] = true;
    uint32_t *list = IR_ARRAY(&l->b, uint32_t, code->layer_count);
    const struct asl_group *g = l->group;
    for (size_t i = 0; i < g->entry_count; i++)
        list[code->entry_count++] = (uint32_t)g->entries[i];
    for (uint32_t i = 0; g->entry_count == 0 && i < code->layer_count; i++)
        if (entry[i])
            list[code->entry_count++] = i;
    code->entries = list;
}

static void find_struct(struct lower *l, const struct asl_struct ***list, uint32_t *cap,
                        const struct asl_struct *st)
{
    struct asl_code *code = l->b.code;
    for (uint32_t i = 0; *list && i < code->struct_count; i++)
        if ((*list)[i] == st)
            return;
    for (size_t i = 0; i < st->field_count; i++) /* those inside come first */
        if (st->fields[i].type.st)
            find_struct(l, list, cap, st->fields[i].type.st);
    if (!*list || code->struct_count == *cap) {
        *cap = *cap ? 2 * *cap : 16;
        const struct asl_struct **more = ir_alloc(&l->b, *cap, sizeof *more);
        if (*list)
            memcpy((void *)more, (const void *)*list, code->struct_count * sizeof *more);
        *list = more;
    }
    (*list)[code->struct_count++] = st;
}

static void list_structs(struct lower *l)
{
    const struct asl_struct **list = NULL;
    uint32_t cap = 0;
    for (uint32_t i = 0; i < l->b.code->cell_count; i++)
        if (l->b.code->cells[i].asl.base == ASL_STRUCT)
            find_struct(l, &list, &cap, l->b.code->cells[i].asl.st);
    l->b.code->structs = list;
}

static void make_group(struct lower *l)
{
    struct asl_code *code = l->b.code;
    code->layer_count = (uint32_t)l->group->layer_count;
    code->layers = IR_ARRAY(&l->b, struct ir_layer, code->layer_count);
    make_globals(l);
    for (uint32_t i = 0; i < code->layer_count; i++)
        make_params(l, i);
    make_entries(l);
    for (const char *const *o = l->opt->outputs; o && *o; o++)
        observe(l, *o);
    if (!l->opt->outputs)
        observe_all(l);
    for (uint32_t i = 0; i < code->layer_count; i++)
        make_layer(l, i);
    list_structs(l);
}

/* What the values of the group leave of code that reads them. */
static enum status bake(struct asl_code *code, const struct asl_group *g,
                        const struct asl_lower_options *opt, struct error *err)
{
    union asl_slot *values = ARENA_ARRAY(code->arena, union asl_slot, code->arg_count + 1);
    if (!values)
        return error_msg(err, STATUS_MEMORY, "out of memory");
    asl_code_args_fill(code, g, values);
    return opt_run(code, opt, values, err);
}

enum status asl_lower(struct arena *a, const struct asl_group *g,
                      const struct asl_lower_options *opt, struct asl_code **out, struct error *err)
{
    struct asl_lower_options own = opt ? *opt : (struct asl_lower_options){0};
    own.bake = own.bake && !own.bake_keeps_bits;
    if (!g->finished)
        return error_msg(err, STATUS_ARG, "the group is not finished");
    struct lower *l = calloc(1, sizeof *l);
    struct asl_code *code = ARENA_NEW(a, struct asl_code);
    if (!l || !code) {
        free(l);
        return error_msg(err, STATUS_MEMORY, "out of memory");
    }
    code->arena = a;
    code->name = g->name;
    l->opt = &own;
    l->group = g;
    l->stack = __builtin_frame_address(0);
    l->b = (struct ir_builder){.arena = a, .code = code, .err = err};
    l->b.witness = l->opt->witness;
    l->b.rule = "parameter";
    witness_begin(l->b.witness, "lower");
    l->b.max_ops = l->opt->max_ops ? l->opt->max_ops : 2000000;
    enum status s = STATUS_OK;
    if (setjmp(l->b.fail))
        s = l->b.status;
    else
        make_group(l);
    witness_ir(l->b.witness, s == STATUS_OK ? code : NULL);
    free(l);
    if (s == STATUS_OK)
        s = opt_run(code, &own, NULL, err);
    if (s == STATUS_OK && opt && opt->bake && !own.bake)
        s = bake(code, g, &own, err);
    if (s == STATUS_OK && own.fault)
        s = asl_code_break(code, own.fault, err);
    if (s == STATUS_OK)
        *out = code;
    return s;
}
