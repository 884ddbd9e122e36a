/* SPDX-License-Identifier: Apache-2.0 */
/* emit_llvm_surface.c: what a surface asks of the renderer, as LLVM IR: emit_surface.c and
 * emit_closure.c again. All of it goes through functions of device/linked/surface_library.c that
 * take the run as a pointer, so that the text knows neither address spaces nor layouts. Nodes of
 * closures are rows behind the module's cells. */
#include "emit_llvm.h"

#include <stdlib.h>
#include <string.h>

/* ---- the point and the run ------------------------------------------------------------------ */

static const char *of_type(struct llvm *l, const char *from, const char *x, const char *to)
{
    return strcmp(from, to) == 0 ? x : ll_let(l, "bitcast %s %s to %s", from, x, to);
}

const char *ll_surface_point(struct llvm *l, uint32_t w, const char *type)
{
    ll_declare(l, "float", "al_point", "ptr, i32");
    return of_type(l, "float", ll_let(l, "call float @al_point(ptr %%run, i32 %u)", w), type);
}

const char *ll_surface_argument(struct llvm *l, uint32_t k, const char *type)
{
    ll_declare(l, "i32", "al_argument", "ptr, i32");
    return of_type(l, "i32", ll_let(l, "call i32 @al_argument(ptr %%run, i32 %u)", k), type);
}

void ll_surface_turn(struct llvm *l, uint32_t loop)
{
    unsigned spent = ll_fresh_label(l), on = ll_fresh_label(l);
    ll_declare(l, "i32", "al_turn", "ptr, i32");
    const char *x =
        ll_let(l, "call i32 @al_turn(ptr %%run, i32 %u)", l->e.opt->first_loop + loop + 1);
    ll_branch(l, ll_let(l, "icmp ne i32 %s, 0", x), spent, on);
    ll_label(l, spent);
    L("ret void\n");
    ll_label(l, on);
}

static const char *as_type(struct llvm *l, ir_value v, bool is_float)
{
    return is_float ? ll_float(l, v) : ll_int(l, v);
}

static void set_zero(struct llvm *l, const struct ir_inst *i, uint32_t k)
{
    ll_set(l, i->result + k, "zeroinitializer");
}

/* ---- nodes ---------------------------------------------------------------------------------- */

struct node {
    struct llvm *l;
    uint32_t number, used; /* used: the row that counts copies, where there are many */
    bool many;
    const char *at; /* the copy that is stored to */
};

/* What is written goes to the walk of Ci, or back to the layer. */
static void turn_to_walk(struct llvm *l)
{
    struct text t = l->e.body;
    l->e.body = l->visits;
    l->visits = t;
}

static const char *copy_at(struct llvm *l, uint32_t row, const char *at)
{
    const char *first = ll_row_at(l, "%st", row);
    return at ? ll_let(l, "getelementptr i32, ptr %s, i32 %s", first, at) : first;
}

static struct node node_begin(struct llvm *l)
{
    struct node n = {.l = l, .number = l->e.node_count++, .many = l->e.loop_depth > 0};
    if (n.many) {
        n.used = l->rows++;
        l->e.node_loops++;
        text_printf(&l->resets, "%u ", n.used);
    }
    unsigned visit = ll_fresh_label(l);
    text_printf(&l->cases, "i32 %u, label %%L%u\n", n.number, visit);
    turn_to_walk(l);
    ll_label(l, visit);
    turn_to_walk(l);
    return n;
}

/* Takes a copy of the node: the closure's number. */
static const char *node_take(struct node *n)
{
    struct llvm *l = n->l;
    if (!n->many)
        return TEXT("%u", 1 + n->number * EMIT_NODE_COPIES);
    ll_declare(l, "i32", "al_node_take", "ptr, ptr");
    n->at = ll_let(l, "call i32 @al_node_take(ptr %%run, ptr %s)", ll_row_at(l, "%st", n->used));
    return ll_let(l, "add i32 %s, %u", n->at, 1 + n->number * EMIT_NODE_COPIES);
}

/* Keeps a value in the node; what the walk knows it by. Constants are not kept. */
static const char *node_keep(struct node *n, ir_value v, bool is_float)
{
    struct llvm *l = n->l;
    const char *type = is_float ? "float" : "i32", *x;
    bool constant = l->e.defs[v] && l->e.defs[v]->op == IR_CONST;
    uint32_t row = l->rows;
    if (!constant) {
        l->rows += n->many ? EMIT_NODE_COPIES : 1;
        ll_store(l, type, as_type(l, v, is_float), copy_at(l, row, n->at));
    }
    turn_to_walk(l);
    x = constant ? as_type(l, v, is_float)
                 : ll_load(l, type, copy_at(l, row, n->many ? "%at" : NULL));
    turn_to_walk(l);
    return x;
}

__attribute__((format(printf, 2, 3))) static void node_visit(struct node *n, const char *fmt, ...)
{
    va_list ap;
    struct llvm *l = n->l;
    va_start(ap, fmt);
    const char *instruction = emit_vtext(&l->e, fmt, ap);
    va_end(ap);
    turn_to_walk(l);
    L("%s\n", instruction);
    turn_to_walk(l);
}

/* ---- components ----------------------------------------------------------------------------- */

struct list { /* of a call */
    struct text types, operands;
};
static void list_add(struct list *a, const char *type, const char *x)
{
    text_printf(&a->types, ", %s", type);
    text_printf(&a->operands, ", %s %s", type, x);
}

static void list_argument(struct list *to, struct node *n, const struct ir_inst *i,
                          const struct ir_arg *a)
{
    struct llvm *l = n->l;
    ir_value v = i->operands[a->first];
    if (a->is_place)
        emit_fail(&l->e, STATUS_UNSUPPORTED, i->at,
                  "%s() of what is no value cannot run on this device", i->u.call->name);
    if (a->type.base == ASL_STRING) {
        const char *x = node_keep(n, v, false);
        turn_to_walk(l);
        x = ll_let(l, "icmp eq i32 %s, %u", x, emit_string_id(&l->e, "beckmann"));
        list_add(to, "i32", ll_let(l, "zext i1 %s to i32", x));
        turn_to_walk(l);
        return;
    }
    bool is_float = l->e.layer->types[v] == IR_F;
    for (uint32_t k = 0; k < (a->n == 3 ? 3u : 1u); k++)
        list_add(to, is_float ? "float" : "i32", node_keep(n, i->operands[a->first + k], is_float));
}

/* Names with values behind the fixed arguments; only principled's mean anything. */
static void pairs(struct node *n, const struct ir_inst *i)
{
    struct llvm *l = n->l;
    const struct ir_call *c = i->u.call;
    ll_declare(l, "void", "al_pairs_start", "ptr");
    node_visit(n, "call void @al_pairs_start(ptr %%run)");
    for (uint32_t k = c->fixed; k + 1 < c->arg_count; k += 2) {
        const struct ir_arg *a = &c->args[k + 1];
        const char *key = emit_constant_string(&l->e, i->operands[c->args[k].first]);
        if (!key)
            emit_fail(
                &l->e, STATUS_UNSUPPORTED, i->at,
                "a name that is only known at run time cannot be given to %s() on this device",
                c->name);
        for (size_t p = 0; p < EMIT_PAIR_COUNT; p++) {
            if (strcmp(key, emit_pair_names[p]) != 0 || a->n != 1 ||
                (a->type.base != ASL_FLOAT && a->type.base != ASL_INT))
                continue;
            const char *x = node_keep(n, i->operands[a->first], a->type.base == ASL_FLOAT);
            turn_to_walk(l);
            if (a->type.base == ASL_INT)
                x = ll_let(l, "sitofp i32 %s to float", x);
            turn_to_walk(l);
            ll_declare(l, "void", TEXT("al_pair_%s", key), "ptr, float");
            node_visit(n, "call void @al_pair_%s(ptr %%run, float %s)", key, x);
        }
    }
}

static void component(struct llvm *l, const struct ir_inst *i)
{
    const struct ir_call *c = i->u.call;
    struct node n = node_begin(l);
    struct list list = {{0}, {0}};
    ll_set(l, i->result, node_take(&n));
    if (c->callee == BI_PRINCIPLED)
        pairs(&n, i);
    for (uint32_t k = 0; k < c->fixed; k++)
        list_argument(&list, &n, i, &c->args[k]);
    const char *name = TEXT("al_closure_%s_%u", c->name, c->fixed);
    ll_declare(l, "void", name, TEXT("ptr%s", list.types.data ? list.types.data : ""));
    node_visit(&n, "call void @%s(ptr %%run%s)\nbr label %%walk", name,
               list.operands.data ? list.operands.data : "");
    text_free(&list.types);
    text_free(&list.operands);
}

/* Makes the node of a sum or product where `known`, the result without one, is negative. */
static void node_unless(struct node *n, const struct ir_inst *i, const char *known)
{
    struct llvm *l = n->l;
    const char *id = ll_slot(l, "i32", 1);
    unsigned make = ll_fresh_label(l), out = ll_fresh_label(l);
    const bool sum = i->op == IR_CADD;
    ll_store(l, "i32", known, id);
    ll_branch(l, ll_let(l, "icmp slt i32 %s, 0", known), make, out);
    ll_label(l, make);
    ll_store(l, "i32", node_take(n), id);
    if (sum) {
        const char *left = node_keep(n, i->operands[0], false),
                   *right = node_keep(n, i->operands[1], false);
        ll_declare(l, "void", "al_push_both", "ptr, i32, i32");
        node_visit(n, "call void @al_push_both(ptr %%run, i32 %s, i32 %s)\nbr label %%walk", left,
                   right);
    } else {
        const char *child = node_keep(n, i->operands[0], false), *w[3];
        for (int k = 0; k < 3; k++)
            w[k] = node_keep(n, i->operands[1 + k], true);
        ll_declare(l, "void", "al_push_scaled", "ptr, i32, float, float, float");
        node_visit(n,
                   "call void @al_push_scaled(ptr %%run, i32 %s, float %s, float %s, float %s)\n"
                   "br label %%walk",
                   child, w[0], w[1], w[2]);
    }
    ll_jump(l, out);
    ll_label(l, out);
    ll_set(l, i->result, ll_load(l, "i32", id));
}

static void sum(struct llvm *l, const struct ir_inst *i)
{
    struct node n = node_begin(l);
    const char *a = ll_int(l, i->operands[0]), *b = ll_int(l, i->operands[1]);
    const char *no_a = ll_let(l, "icmp eq i32 %s, 0", a), *no_b = ll_let(l, "icmp eq i32 %s, 0", b);
    const char *x = ll_let(l, "select i1 %s, i32 %s, i32 -1", no_b, a);
    node_unless(&n, i, ll_let(l, "select i1 %s, i32 %s, i32 %s", no_a, b, x));
}

static void product(struct llvm *l, const struct ir_inst *i)
{
    struct node n = node_begin(l);
    const char *none = NULL;
    for (int k = 0; k < 3; k++) {
        const char *zero = ll_let(l, "fcmp oeq float %s, 0.0", ll_float(l, i->operands[1 + k]));
        none = none ? ll_let(l, "and i1 %s, %s", none, zero) : zero;
    }
    const char *empty = ll_let(l, "icmp eq i32 %s, 0", ll_int(l, i->operands[0]));
    none = ll_let(l, "or i1 %s, %s", none, empty);
    node_unless(&n, i, ll_let(l, "select i1 %s, i32 0, i32 -1", none));
}

static bool closure(struct llvm *l, const struct ir_inst *i)
{
    if (i->op == IR_CALL && i->u.call->type.base == ASL_CLOSURE)
        component(l, i);
    else if (i->op == IR_CADD)
        sum(l, i);
    else if (i->op == IR_CMUL)
        product(l, i);
    else
        return false;
    return true;
}

void ll_surface_start(struct llvm *l)
{
    const char *p = l->resets.data;
    for (char *end; p && *p; p = end + 1)
        ll_store(l, "i32", "0", ll_row_at(l, "%st", (uint32_t)strtoul(p, &end, 10)));
}

void ll_surface_walk(struct llvm *l)
{
    uint32_t cell = l->e.code->global_cell[GV_Ci];
    if (cell >= l->e.code->cell_count || !l->e.used[cell])
        return;
    /* Each sum leaves one number waiting while its left part is walked, a layer two. */
    uint32_t depth = 4 + 2 * l->e.node_count + EMIT_NODE_COPIES * l->e.node_loops;
    depth = depth < 64 ? depth : 64;
    const char *stack = ll_slot(l, "[4 x i32]", depth);
    ll_declare(l, "void", "al_walk_start", "ptr, ptr, i32, i32");
    ll_declare(l, "i32", "al_walk_next", "ptr");
    L("call void @al_walk_start(ptr %%run, ptr %s, i32 %u, i32 %s)\nbr label %%walk\nwalk:\n",
      stack, depth, ll_load(l, "i32", ll_cell_base(l, cell)));
    const char *id = ll_let(l, "call i32 @al_walk_next(ptr %%run)");
    unsigned go = ll_fresh_label(l), done = ll_fresh_label(l);
    ll_branch(l, ll_let(l, "icmp eq i32 %s, 0", id), done, go);
    ll_label(l, go);
    const char *x = ll_let(l, "sub i32 %s, 1", id);
    L("%%at = and i32 %s, %d\n", x, EMIT_NODE_COPIES - 1);
    const char *node = ll_let(l, "sdiv i32 %s, %d", x, EMIT_NODE_COPIES);
    L("switch i32 %s, label %%walk [\n%s]\n", node, l->cases.data ? l->cases.data : "");
    if (l->visits.data)
        text_append(&l->e.body, l->visits.data, l->visits.len);
    ll_label(l, done);
}

/* ---- images --------------------------------------------------------------------------------- */

static void set_option(struct llvm *l, const char *o, const char *key, bool is_int, const char *x)
{
    const char *fields[2];
    size_t n = emit_option_fields(key, fields);
    const char *type = is_int ? "i32" : "float";
    for (size_t k = 0; k < n; k++) {
        if (emit_option_is_int(fields[k]) != is_int)
            continue;
        ll_declare(l, "void", TEXT("al_texture_%s", fields[k]), TEXT("ptr, %s", type));
        L("call void @al_texture_%s(ptr %s, %s %s)\n", fields[k], o, type, x);
    }
}

static void missing_colour(const struct ll_args *x, const char *o, uint32_t argument)
{
    struct llvm *l = x->l;
    ll_declare(l, "void", "al_texture_missing", "ptr, float, float, float");
    L("call void @al_texture_missing(ptr %s, float %s, float %s, float %s)\n", o,
      ll_part(x, argument, 0, 0), ll_part(x, argument, 1, 0), ll_part(x, argument, 2, 0));
}

/* Pairs into o. */
static void options(const struct ll_args *x, const char *o)
{
    struct llvm *l = x->l;
    for (uint32_t k = x->c->fixed; k + 1 < x->c->arg_count; k += 2) {
        const struct ir_arg *a = &x->c->args[k + 1];
        const char *key = emit_option_key(&l->e, x->i, k);
        ir_value v = a->is_place ? 0 : x->i->operands[a->first];
        if (a->is_place)
            continue;
        if (a->type.base == ASL_STRING && strcmp(key, "subimage") == 0) {
            ll_declare(l, "void", "al_texture_named", "ptr, ptr, i32");
            L("call void @al_texture_named(ptr %%run, ptr %s, i32 %u)\n", o,
              emit_subimage_argument(&l->e, x->i, emit_constant_string(&l->e, v)));
        } else if (a->type.base == ASL_STRING)
            set_option(l, o, key, true,
                       TEXT("%d", emit_option_number(key, emit_constant_string(&l->e, v))));
        else if (a->type.base == ASL_INT && emit_option_counts(key))
            set_option(l, o, key, true, ll_int(l, v));
        else if (a->type.base == ASL_INT)
            set_option(l, o, key, false, ll_let(l, "sitofp i32 %s to float", ll_int(l, v)));
        else if (a->n == 1)
            set_option(l, o, key, false, ll_float(l, v));
        else if (a->n == 3 && strcmp(key, "missingcolor") == 0)
            missing_colour(x, o, k + 1);
    }
}

/* As texture_place of emit_surface.c has it. */
static void texture_place(const struct ll_args *x, const char *st)
{
    struct llvm *l = x->l;
    bool given = x->c->fixed == 7;
    const char *d[4];
    for (uint32_t k = 0; k < 4; k++) /* dsdx, dtdx, dsdy, dtdy */
        d[k] = given ? ll_part(x, 3 + k, 0, 0) : ll_part(x, 1 + k % 2, 0, 1 + k / 2);
    for (uint32_t k = 0; k < 4; k++)
        ll_store(l, "float", d[k], ll_row_at(l, st, 4 + k));
    for (uint32_t k = 0; k < 2; k++)
        ll_store(l, "float", ll_part(x, 1 + k, 0, 0), ll_row_at(l, st, k));
    ll_declare(l, "float", "al_larger", "float, float");
    for (uint32_t k = 0; k < 2; k++)
        ll_store(l, "float", ll_let(l, "call float @al_larger(float %s, float %s)", d[k], d[k + 2]),
                 ll_row_at(l, st, 2 + k));
}

static void environment_place(const struct ll_args *x, const char *o, const char *st)
{
    struct llvm *l = x->l;
    bool given = x->c->fixed == 4;
    const char *R = ll_slot(l, "float", 9);
    for (uint32_t d = 0; d < 3; d++)
        for (uint32_t k = 0; k < 3; k++)
            ll_store(l, "float", given ? ll_part(x, 1 + d, k, 0) : ll_part(x, 1, k, d),
                     ll_row_at(l, R, 3 * d + k));
    ll_declare(l, "void", "al_environment_place", "ptr, ptr, ptr");
    L("call void @al_environment_place(ptr %s, ptr %s, ptr %s)\n", o, R, st);
}

/* Is there an image at that word of the argument area? */
static const char *image_is_there(struct llvm *l, uint32_t word)
{
    ll_declare(l, "i32", "al_texture_fact", "ptr, i32, i32");
    return ll_let(l, "icmp ne i32 %s, 0",
                  ll_let(l, "call i32 @al_texture_fact(ptr %%run, i32 %u, i32 0)", word));
}

static bool image(struct llvm *l, const struct ir_inst *i)
{
    const struct ir_call *c = i->u.call;
    const struct ll_args x = {l, i, c};
    if (c->callee != BI_TEXTURE && c->callee != BI_ENVIRONMENT)
        return false;
    uint32_t n = i->result_count / (c->derivs ? 3 : 1), word = emit_image_argument(&l->e, i);
    enum { TEXTURE_WORDS = 16 }; /* room for struct a_texture */
    const char *o = ll_slot(l, "i32", TEXTURE_WORDS), *st = ll_slot(l, "float", 8),
               *out = ll_slot(l, "float", 12);
    const bool changes = emit_image_changes(c);
    const struct ir_arg *alpha = emit_image_alpha(c);
    ll_declare(l, "void", "al_texture_start", "ptr, i32");
    L("call void @al_texture_start(ptr %s, i32 %u)\n", o, n);
    options(&x, o);
    if (c->callee == BI_TEXTURE)
        texture_place(&x, st);
    else
        environment_place(&x, o, st);
    l->there = NULL;
    if (emit_has_subimage(&l->e, i)) {
        ll_declare(l, "i32", "al_texture_there", "ptr, i32, ptr");
        l->there =
            ll_let(l, "icmp ne i32 %s, 0",
                   ll_let(l, "call i32 @al_texture_there(ptr %%run, i32 %u, ptr %s)", word, o));
    }
    ll_declare(l, "void", "al_texture_lookup", "ptr, i32, ptr, ptr, ptr");
    L("call void @al_texture_lookup(ptr %%run, i32 %u, ptr %s, ptr %s, ptr %s)\n", word, o, st,
      out);
    if (changes) {
        ll_declare(l, "void", "al_texture_changes", "ptr, i32, ptr, ptr, ptr");
        L("call void @al_texture_changes(ptr %%run, i32 %u, ptr %s, ptr %s, ptr %s)\n", word, o, st,
          ll_row_at(l, out, 4));
    }
    for (uint32_t d = 0; d < (c->derivs ? 3u : 1u); d++)
        for (uint32_t k = 0; k < n; k++) {
            if (d == 0 || changes)
                ll_set(l, i->result + d * n + k, ll_load(l, "float", ll_row_at(l, out, 4 * d + k)));
            else
                set_zero(l, i, d * n + k);
        }
    const struct ir_arg *message = emit_image_message(c);
    const char *there = l->there ? l->there : image_is_there(l, word);
    const char *fine = message ? "1" : there; /* nothing is to be said */
    for (uint32_t k = c->fixed; k + 1 < c->arg_count; k += 2)
        if (emit_pair_is_wrong(&l->e, i, k))
            fine = "0";
    if (strcmp(fine, "1") != 0) {
        unsigned none = ll_fresh_label(l), go = ll_fresh_label(l);
        ll_branch(l, fine, go, none);
        ll_label(l, none);
        ll_surface_message(l, i, EMIT_NAMES, NULL);
        ll_jump(l, go);
        ll_label(l, go);
    }
    if (message)
        ll_cell_store(l, i, &message->at, 0, "i32",
                      ll_let(l, "select i1 %s, i32 %u, i32 %u", there, emit_string_id(&l->e, ""),
                             emit_string_id(&l->e, EMIT_NO_SUCH_IMAGE)));
    for (uint32_t d = 0; alpha && d < (alpha->derivs ? 3u : 1u); d++)
        ll_cell_store(l, i, &alpha->at, d * alpha->row, "float",
                      d && !changes ? "zeroinitializer"
                                    : ll_load(l, "float", ll_row_at(l, out, 4 * d + 3)));
    return true;
}

static bool image_facts(struct llvm *l, const struct ir_inst *i)
{
    if (i->u.call->callee != BI_GETTEXTUREINFO)
        return false;
    const struct emit_facts f = emit_image_facts(&l->e, i);
    uint32_t word = emit_image_argument(&l->e, i);
    const char *there = image_is_there(l, word);
    for (uint32_t k = 0; k < f.count; k++) {
        const char *type = f.kind == EMIT_INT ? "i32" : "float", *x;
        if (f.string)
            x = TEXT("%u", emit_string_id(&l->e, f.string));
        else
            x = ll_let(l, "call i32 @al_texture_fact(ptr %%run, i32 %u, i32 %u)", word, f.words[k]);
        if (f.kind == EMIT_FLOAT)
            x = ll_let(l, "bitcast i32 %s to float", x);
        for (uint32_t d = 0; d < (f.to->derivs ? 3u : 1u); d++) {
            uint32_t slot = d * f.to->row + k;
            const char *now = d ? "zeroinitializer" : x;
            if (!f.always)
                now = ll_let(l, "select i1 %s, %s %s, %s %s", there, type, now, type,
                             ll_cell_load(l, i, &f.to->at, slot, type));
            ll_cell_store(l, i, &f.to->at, slot, type, now);
        }
    }
    ll_set(l, i->result, f.always ? "1" : f.count ? ll_let(l, "zext i1 %s to i32", there) : "0");
    return true;
}

/* ---- rays ----------------------------------------------------------------------------------- */

static const char *ray_number(struct llvm *l, const struct ir_inst *i, const char *name,
                              const char *otherwise)
{
    ir_value v;
    if (!emit_ray_option(&l->e, i, name, &v))
        return otherwise;
    return l->e.layer->types[v] == IR_I ? ll_let(l, "sitofp i32 %s to float", ll_int(l, v))
                                        : ll_float(l, v);
}

static void traced_message(struct llvm *l, const struct ir_inst *i)
{
    const struct emit_traced from = emit_traced_message(&l->e, i);
    const struct ir_arg *to = &i->u.call->args[2];
    if (!from.n) {
        ll_set(l, i->result, "0");
        return;
    }
    ll_declare(l, "i32", "al_traced", "ptr, i32");
    const char *got = ll_let(l, "call i32 @al_traced(ptr %%run, i32 %u)", from.kind != EMIT_INT);
    const char *there = ll_let(l, "icmp ne i32 %s, 0", got);
    const char *type = from.kind == EMIT_INT ? "i32" : "float";
    for (uint32_t d = 0; d < (to->derivs ? 3u : 1u); d++)
        for (uint32_t k = 0; k < from.n; k++) {
            const uint32_t slot = d * to->row + k;
            const char *x = ll_let(l, "call i32 @al_traced(ptr %%run, i32 %u)", from.word + k);
            if (from.kind == EMIT_FLOAT)
                x = d ? "0.0" : ll_let(l, "bitcast i32 %s to float", x);
            x = ll_let(l, "select i1 %s, %s %s, %s %s", there, type, x, type,
                       ll_cell_load(l, i, &to->at, slot, type));
            ll_cell_store(l, i, &to->at, slot, type, x);
        }
    ll_set(l, i->result, got);
}

static bool ray(struct llvm *l, const struct ir_inst *i)
{
    if (!emit_is_ray(i))
        return false;
    const struct ll_args x = {l, i, i->u.call};
    emit_component(&l->e, "trace");
    if (i->u.call->callee == BI_GETMESSAGE) {
        traced_message(l, i);
        return true;
    }
    const bool traces = i->u.call->callee == BI_TRACE, here = i->u.call->fixed == 0;
    const char *in = ll_slot(l, "float", 8);
    for (uint32_t k = 0; !here && k < 6; k++)
        ll_store(l, "float", ll_part(&x, k / 3, k % 3, 0), ll_row_at(l, in, k));
    ll_store(l, "float", traces ? ray_number(l, i, "mindist", "0.0") : "0.0", ll_row_at(l, in, 6));
    ll_store(l, "float", ray_number(l, i, "maxdist", "0x46293E5940000000"), ll_row_at(l, in, 7));
    if (traces) {
        ll_declare(l, "i32", "al_ray", "ptr, ptr");
        ll_set(l, i->result, ll_let(l, "call i32 @al_ray(ptr %%run, ptr %s)", in));
        return true;
    }
    const char *name = here ? "al_occlusion_here" : "al_occlusion";
    ir_value samples;
    const char *count = emit_ray_option(&l->e, i, "samples", &samples) ? ll_int(l, samples) : "16";
    ll_declare(l, "float", name, "ptr, ptr, i32");
    ll_set(l, i->result, ll_let(l, "call float @%s(ptr %%run, ptr %s, i32 %s)", name, in, count));
    for (uint32_t k = 1; k < i->result_count; k++)
        set_zero(l, i, k);
    return true;
}

/* ---- attributes ----------------------------------------------------------------------------- */

static const char *attribute_raw(struct llvm *l, uint32_t word)
{
    emit_component(&l->e, "trace");
    ll_declare(l, "i32", "al_attribute", "ptr, i32");
    return ll_let(l, "call i32 @al_attribute(ptr %%run, i32 %u)", word);
}

static const char *attribute_word(struct llvm *l, const struct emit_attribute *a, uint32_t k)
{
    const char *x = a->value ? TEXT("%u", a->value) : attribute_raw(l, a->word + k);
    if (a->string) {
        uint32_t id[EMIT_PROJECTIONS];
        emit_projection_ids(&l->e, id);
        const char *second = ll_let(l, "icmp eq i32 %s, 1", x);
        second = ll_let(l, "select i1 %s, i32 %u, i32 %u", second, id[1], id[2]);
        const char *first = ll_let(l, "icmp eq i32 %s, 0", x);
        return ll_let(l, "select i1 %s, i32 %u, i32 %s", first, id[0], second);
    }
    return a->kind == EMIT_FLOAT ? ll_let(l, "bitcast i32 %s to float", x) : x;
}

/* i1. */
static const char *attribute_there(struct llvm *l, const struct emit_attribute *a)
{
    return a->there ? ll_let(l, "icmp ne i32 %s, 0", attribute_raw(l, a->there)) : "true";
}

static bool attribute(struct llvm *l, const struct ir_inst *i)
{
    const struct ir_call *c = i->u.call;
    if (c->callee != BI_GETATTRIBUTE)
        return false;
    const struct ir_arg *to = &c->args[c->arg_count - 1];
    const struct emit_attribute *a = emit_attribute_asked(&l->e, i);
    if (!a) {
        set_zero(l, i, 0);
        return true;
    }
    const char *there = attribute_there(l, a);
    for (uint32_t d = 0; d < (to->derivs ? 3u : 1u); d++)
        for (uint32_t k = 0; k < a->n; k++) {
            const uint32_t slot = d * to->row + k;
            const char *type = d || a->kind == EMIT_FLOAT ? "float" : "i32";
            const char *x = d ? "0.0" : attribute_word(l, a, k);
            x = ll_let(l, "select i1 %s, %s %s, %s %s", there, type, x, type,
                       ll_cell_load(l, i, &to->at, slot, type));
            ll_cell_store(l, i, &to->at, slot, type, x);
        }
    ll_set(l, i->result, ll_let(l, "zext i1 %s to i32", there));
    return true;
}

static bool geometry_data(struct llvm *l, const struct ir_inst *i)
{
    const struct emit_attribute *a = i->op == IR_USERDATA ? emit_attribute_userdata(i) : NULL;
    if (!a)
        return false;
    ll_set(l, i->result, ll_let(l, "zext i1 %s to i32", attribute_there(l, a)));
    for (uint32_t k = 1; k < i->result_count; k++)
        ll_set(l, i->result + k, k <= a->n ? attribute_word(l, a, k - 1) : "0.0");
    return true;
}

/* ---- the rest ------------------------------------------------------------------------------- */

static bool userdata(struct llvm *l, const struct ir_inst *i)
{
    uint32_t word;
    if (i->op != IR_USERDATA)
        return false;
    bool found = emit_userdata_word(i, &word);
    ll_set(l, i->result, found ? "1" : "0");
    for (uint32_t k = 1; k < i->result_count; k++) {
        if (found)
            ll_set(l, i->result + k, ll_surface_point(l, word + k - 1, "float"));
        else
            set_zero(l, i, k);
    }
    return true;
}

/* A value that is its own result: of spaces, which are common, and where there is no such colour. */
static bool stays(struct llvm *l, const struct ir_inst *i)
{
    const struct ir_call *c = i->u.call;
    const struct ll_args x = {l, i, c};
    const bool lost = emit_is_lost_colour(&l->e, i);
    if (!lost && !emit_is_space_change(c))
        return false;
    uint32_t last = c->arg_count - 1, n = c->args[last].n;
    for (uint32_t k = 0; k < i->result_count; k++)
        ll_set(l, i->result + k, ll_part(&x, last, k % n, k / n));
    if (lost || !emit_spaces_are_known(&l->e, i))
        ll_surface_message(l, i, EMIT_NAMES, NULL);
    return true;
}

static bool matrix_between(struct llvm *l, const struct ir_inst *i)
{
    const struct ir_call *c = i->u.call;
    const struct ir_arg *to = &c->args[c->arg_count - 1];
    bool known;
    if (!emit_is_matrix_between(&l->e, i, &known))
        return false;
    if (!known)
        ll_surface_message(l, i, EMIT_NAMES, NULL);
    if (c->callee == IRC_CONSTRUCT2) {
        for (uint32_t k = 0; k < i->result_count; k++)
            ll_set(l, i->result + k, k < 16 && k % 5 == 0 ? "1.0" : "0.0");
        return true;
    }
    ll_set(l, i->result, known ? "1" : "0");
    for (uint32_t d = 0; known && d < (to->derivs ? 3u : 1u); d++)
        for (uint32_t k = 0; k < 16; k++)
            ll_cell_store(l, i, &to->at, d * to->row + k, "float",
                          d == 0 && k % 5 == 0 ? "1.0" : "0.0");
    return true;
}

static bool spectrum(struct llvm *l, const struct ir_inst *i)
{
    const struct ir_call *c = i->u.call;
    const struct ll_args x = {l, i, c};
    if (!emit_is_spectrum(c))
        return false;
    const char *name = c->callee == BI_BLACKBODY ? "al_blackbody" : "al_wavelength",
               *out = ll_slot(l, "float", 3);
    ll_declare(l, "void", name, "ptr, float");
    L("call void @%s(ptr %s, float %s)\n", name, out, ll_part(&x, 0, 0, 0));
    for (uint32_t k = 0; k < i->result_count; k++) {
        if (k < 3)
            ll_set(l, i->result + k, ll_load(l, "float", ll_row_at(l, out, k)));
        else
            set_zero(l, i, k);
    }
    return true;
}

static bool heard(struct llvm *l, const struct ir_inst *i)
{
    if (emit_is_message(i))
        ll_surface_message(l, i, EMIT_ALL, NULL);
    else
        return false;
    return true;
}

bool ll_surface_inst(struct llvm *l, const struct ir_inst *i)
{
    if (closure(l, i))
        return true;
    if (i->op != IR_CALL)
        return geometry_data(l, i) || userdata(l, i);
    return ray(l, i) || image(l, i) || image_facts(l, i) || spectrum(l, i) || stays(l, i) ||
           matrix_between(l, i) || ll_message(l, i) || attribute(l, i) || heard(l, i);
}
