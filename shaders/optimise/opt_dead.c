/* SPDX-License-Identifier: Apache-2.0 */
/* opt_dead.c: one walk against the order of execution: what nobody uses goes. Values, loads, stores
 * that no load reaches, derivatives of calls, branches and pulls that do nothing. */
#include "opt.h"

#include <string.h>

/* ---- sets of slots -------------------------------------------------------------------------- */

struct sweep {
    struct opt *o;
    size_t words;
    slot_set exit;  /* live where the layer ends */
    slot_set *left; /* by mark of a loop or block: live behind it */
    slot_set *next; /* by mark of a loop: live where its second block begins */
    uint32_t mark_cap, marks;
};

static slot_set set_empty(struct sweep *s) { return OPT_ARRAY(s->o, uint64_t, s->words); }
static slot_set set_copy(struct sweep *s, const uint64_t *from)
{
    slot_set r = set_empty(s);
    memcpy(r, from, s->words * sizeof *r);
    return r;
}
static void set_join(const struct sweep *s, slot_set a, const uint64_t *b)
{
    for (size_t i = 0; i < s->words; i++)
        a[i] |= b[i];
}

/* Cells that are too large to follow count as live always. */
static void read_place(const struct sweep *s, slot_set live, const struct ir_place *p, uint32_t n)
{
    uint32_t slot = opt_slot(s->o, p), first = s->o->slot_first[p->cell];
    if (slot != OPT_NONE)
        for (uint32_t k = 0; k < n; k++)
            slot_add(live, slot + k);
    else if (first != OPT_NONE)
        for (uint32_t k = 0; k < ir_cell_slots(&s->o->code->cells[p->cell]); k++)
            slot_add(live, first + k);
}

static bool place_is_live(const struct sweep *s, const uint64_t *live, const struct ir_place *p,
                          uint32_t n)
{
    uint32_t slot = opt_slot(s->o, p), first = s->o->slot_first[p->cell];
    if (first == OPT_NONE)
        return true;
    uint32_t count = slot != OPT_NONE ? n : ir_cell_slots(&s->o->code->cells[p->cell]);
    for (uint32_t k = 0; k < count; k++)
        if (slot_has(live, (slot != OPT_NONE ? slot : first) + k))
            return true;
    return false;
}

static void overwrite(const struct sweep *s, slot_set live, const struct ir_place *p, uint32_t n)
{
    uint32_t slot = opt_slot(s->o, p);
    for (uint32_t k = 0; slot != OPT_NONE && k < n; k++)
        slot_drop(live, slot + k);
}

static void read_arguments(const struct sweep *s, slot_set live, const struct ir_call *c)
{
    for (uint32_t k = 0; k < c->arg_count; k++) {
        const struct ir_arg *a = &c->args[k];
        for (uint32_t row = 0; a->is_place && row < (a->derivs ? 3u : 1u); row++) {
            struct ir_place p = a->at;
            p.base += row * a->row;
            read_place(s, live, &p, a->n);
        }
    }
}

/* Does a layer other than this one read the slot? */
static bool others_read(const struct opt *o, uint32_t cell, uint32_t slot, const uint64_t *own)
{
    uint32_t first = o->shared->first[cell], track = o->slot_first[cell];
    if (first == OPT_NONE)
        return false;
    uint32_t mine = own && track != OPT_NONE && slot_has(own, track + slot);
    return o->shared->readers[first + slot] > mine;
}

/* What other layers may look at once they run: `own` are this layer's reads. */
static void add_others(const struct sweep *s, slot_set live, const uint64_t *own, bool globals_only)
{
    const struct opt *o = s->o;
    for (uint32_t c = 0; c < o->code->cell_count; c++) {
        const struct ir_cell *cell = &o->code->cells[c];
        uint32_t track = o->slot_first[c];
        if (cell->scope == IR_LOCAL || track == OPT_NONE ||
            (cell->scope == IR_PARAM && (globals_only || cell->layer != o->index)))
            continue;
        for (uint32_t k = 0; k < ir_cell_slots(cell); k++)
            if ((!globals_only && cell->observed && (k < cell->n || cell->observed_changes)) ||
                others_read(o, c, k, own))
                slot_add(live, track + k);
    }
}

/* All that the block reads; with `leaves` also what the layers that it pulls may, and all that is
 * live where it is left. */
static void reads_of(const struct sweep *s, slot_set live, const struct ir_block *b, bool leaves)
{
    for (const struct ir_inst *i = b ? b->first : NULL; i; i = i->next) {
        if (i->op == IR_LOAD)
            read_place(s, live, &i->u.mem.from, 1);
        else if (i->op == IR_COPY)
            read_place(s, live, &i->u.mem.from, i->u.mem.count);
        else if (i->op == IR_CALL)
            read_arguments(s, live, i->u.call);
        else if (leaves && i->op == IR_PULL)
            add_others(s, live, NULL, true);
        else if (leaves && i->op == IR_RETURN)
            set_join(s, live, s->exit);
        else if (leaves && i->op == IR_BREAK && s->left[i->u.target->mark])
            set_join(s, live, s->left[i->u.target->mark]);
        else if (leaves && i->op == IR_CONTINUE && s->next[i->u.target->mark])
            set_join(s, live, s->next[i->u.target->mark]);
        reads_of(s, live, i->body, leaves);
        reads_of(s, live, i->other, leaves);
    }
}

/* ---- the sweep ------------------------------------------------------------------------------ */

static bool results_used(const struct opt *o, const struct ir_inst *i)
{
    for (uint32_t k = 0; k < i->result_count; k++)
        if (o->used[i->result + k])
            return true;
    return false;
}

static void gone(struct opt *o, struct ir_inst *i)
{
    for (uint32_t k = 0; o->witness && k < i->result_count; k++)
        text_printf(o->witness, "gone v%u unused\n", i->result + k);
    ir_remove(i);
    o->changed = true;
}

/* Rows of derivatives that nobody looks at, of the results and of the arguments. */
static void prune_call(struct opt *o, struct ir_inst *i)
{
    struct ir_call *c = i->u.call;
    uint32_t n = (uint32_t)asl_type_slots(c->type);
    bool wanted = false;
    for (uint32_t k = n; k < i->result_count; k++)
        wanted = wanted || o->used[i->result + k];
    if (c->derivs && !wanted) {
        for (uint32_t k = n; o->witness && k < i->result_count; k++)
            text_printf(o->witness, "gone v%u derivative\n", i->result + k);
        c->derivs = false;
        i->result_count = n;
        o->changed = true;
    }
    if (c->derivs || ir_call_takes_derivs(c))
        return;
    uint32_t to = 0;
    for (uint32_t k = 0; k < c->arg_count; k++) {
        struct ir_arg *a = &c->args[k];
        if (a->is_place) {
            struct ir_index *x = (struct ir_index *)(uintptr_t)a->at.index;
            for (uint32_t j = 0; j < a->at.index_count; j++) {
                i->operands[to] = i->operands[x[j].operand];
                x[j].operand = to++;
            }
        } else {
            for (uint32_t j = 0; j < a->n; j++)
                i->operands[to + j] = i->operands[a->first + j];
            a->first = to;
            to += a->n;
        }
        o->changed = o->changed || (a->derivs && !a->written);
        if (!a->written)
            a->derivs = false;
    }
    i->operand_count = to;
}

static bool call_is_needed(struct opt *o, struct ir_inst *i)
{
    return results_used(o, i) ||
           ir_call_effect((const struct ir_inst *const *)o->defs, i) != IR_EFFECT_NONE;
}

static bool pull_is_needed(const struct sweep *s, const uint64_t *live, uint32_t layer)
{
    const struct opt *o = s->o;
    if (!o->shared->quiet[layer])
        return true;
    for (uint32_t p = 0; p < o->code->layers[layer].param_count; p++) {
        uint32_t cell = o->code->layers[layer].params[p].cell, first = o->slot_first[cell];
        const struct ir_cell *c = &o->code->cells[cell];
        if (first == OPT_NONE || c->observed)
            return true;
        for (uint32_t k = 0; k < ir_cell_slots(c); k++)
            if (slot_has(live, first + k))
                return true;
    }
    return false;
}

static slot_set sweep_block(struct sweep *s, struct ir_block *b, slot_set live);

static slot_set sweep_loop(struct sweep *s, struct ir_inst *i, slot_set live)
{
    slot_set turn = set_copy(s, live); /* what may be live where a turn begins */
    reads_of(s, turn, i->body, true);
    reads_of(s, turn, i->other, true);
    s->left[i->mark] = live;
    slot_set next = sweep_block(s, i->other, turn);
    s->next[i->mark] = set_copy(s, next);
    return sweep_block(s, i->body, next);
}

static slot_set sweep_if(struct sweep *s, struct ir_inst *i, slot_set live)
{
    slot_set yes = sweep_block(s, i->body, set_copy(s, live));
    slot_set no = sweep_block(s, i->other, live);
    set_join(s, no, yes);
    return no;
}

static void use_operands(struct opt *o, const struct ir_inst *i)
{
    for (uint32_t k = 0; k < i->operand_count; k++)
        o->used[i->operands[k]] = true;
}

/* ---- loops that end and leave nothing behind -------------------------------------------------- */

/* Where a loop counts: its one test, at the top of the body, leaves it by a comparison of an int
 * cell with a number; its second block adds a number to the cell. */
struct counting {
    const struct ir_inst *loop;
    uint32_t slot, cell;
    int32_t limit, step;
    enum ir_op op; /* stays while counter op limit */
};

static bool constant(const struct opt *o, ir_value v, int32_t *k)
{
    const struct ir_inst *i = o->defs[v];
    if (!i || i->op != IR_CONST)
        return false;
    *k = i->u.k.i;
    return true;
}

static bool loads(const struct opt *o, ir_value v, uint32_t slot)
{
    const struct ir_inst *i = o->defs[v];
    return i && i->op == IR_LOAD && opt_slot(o, &i->u.mem.from) == slot;
}

/* Stores to the counter's cell, in the block and those inside. */
static uint32_t stores_to(const struct ir_block *b, uint32_t cell)
{
    uint32_t n = 0;
    for (const struct ir_inst *i = b ? b->first : NULL; i; i = i->next) {
        if (i->op == IR_STORE || i->op == IR_COPY || i->op == IR_ZERO)
            n += i->u.mem.to.cell == cell;
        n += stores_to(i->body, cell) + stores_to(i->other, cell);
    }
    return n;
}

static bool is_break(const struct ir_block *b, const struct ir_inst *loop)
{
    return b && b->first && b->first == b->last && b->first->op == IR_BREAK &&
           b->first->u.target == loop;
}

/* The test: what stands before it in the body has no effect, as the loop has none. */
static bool counting_test(const struct opt *o, struct counting *c)
{
    const struct ir_inst *test = c->loop->body->first;
    while (test && test->op != IR_IF)
        test = test->next;
    if (!test || (test->body && test->body->first) || !is_break(test->other, c->loop))
        return false;
    const struct ir_inst *by = o->defs[test->operands[0]];
    if (!by || by->op < IR_ILT || by->op > IR_IGE || !constant(o, by->operands[1], &c->limit))
        return false;
    const struct ir_inst *load = o->defs[by->operands[0]];
    if (!load || load->op != IR_LOAD || load->in != c->loop->body ||
        o->code->cells[load->u.mem.from.cell].scope != IR_LOCAL)
        return false;
    c->op = (enum ir_op)by->op;
    c->cell = load->u.mem.from.cell;
    c->slot = opt_slot(o, &load->u.mem.from);
    return c->slot != OPT_NONE;
}

static bool counting_step(const struct opt *o, struct counting *c)
{
    for (const struct ir_inst *i = c->loop->other ? c->loop->other->first : NULL; i; i = i->next) {
        if (i->op != IR_STORE || i->u.mem.to.cell != c->cell)
            continue;
        const struct ir_inst *by = o->defs[i->operands[i->operand_count - 1]];
        if (opt_slot(o, &i->u.mem.to) != c->slot || !by || by->in != c->loop->other ||
            (by->op != IR_IADD && by->op != IR_ISUB) || !loads(o, by->operands[0], c->slot) ||
            !constant(o, by->operands[1], &c->step))
            return false;
        if (by->op == IR_ISUB)
            c->step = c->step == INT32_MIN ? 0 : -c->step;
        return true;
    }
    return false;
}

/* It ends, and no sum passes the range of int. */
static bool counts_to_an_end(const struct opt *o, const struct ir_inst *loop)
{
    struct counting c = {.loop = loop};
    if (!counting_test(o, &c) || !counting_step(o, &c) ||
        stores_to(loop->body, c.cell) + stores_to(loop->other, c.cell) != 1)
        return false;
    const int64_t last = (int64_t)c.limit + c.step;
    return last >= INT32_MIN && last <= INT32_MAX &&
           (c.op == IR_ILT || c.op == IR_ILE ? c.step > 0 : c.step < 0);
}

/* Has the block no effect but values of slots that nobody reads behind the loop? `loop`: breaks
 * may go no further. */
static bool has_no_effect(const struct sweep *s, const struct ir_block *b, const uint64_t *live,
                          const struct ir_inst *loop)
{
    for (const struct ir_inst *i = b ? b->first : NULL; i; i = i->next) {
        switch (i->op) {
        case IR_STORE:
        case IR_COPY:
        case IR_ZERO:
            if (place_is_live(s, live, &i->u.mem.to, i->op == IR_STORE ? 1 : i->u.mem.count))
                return false;
            break;
        case IR_CALL:
            if (ir_call_effect((const struct ir_inst *const *)s->o->defs, i) != IR_EFFECT_NONE)
                return false;
            break;
        case IR_LOOP:
            if (!counts_to_an_end(s->o, i))
                return false;
            break;
        case IR_RETURN:
        case IR_PULL:
        case IR_INDEX:
        case IR_USERDATA:
            return false;
        case IR_BREAK:
        case IR_CONTINUE: {
            const struct ir_block *in = i->in;
            while (in && in->owner && in->owner != i->u.target && in->owner != loop)
                in = in->owner->in;
            if (!in || in->owner != i->u.target)
                return false;
            break;
        }
        default:
            break;
        }
        if (!has_no_effect(s, i->body, live, loop) || !has_no_effect(s, i->other, live, loop))
            return false;
    }
    return true;
}

static bool loop_is_idle(const struct sweep *s, const struct ir_inst *i, const uint64_t *live)
{
    return counts_to_an_end(s->o, i) && has_no_effect(s, i->body, live, i) &&
           has_no_effect(s, i->other, live, i);
}

/* ---- an instruction ---------------------------------------------------------------------------- */

/* False when the instruction is not needed; else *live is what is live in front of it. */
static bool sweep_inst(struct sweep *s, struct ir_inst *i, slot_set *live)
{
    struct opt *o = s->o;
    switch (i->op) {
    case IR_LOAD:
        if (!results_used(o, i))
            return false;
        read_place(s, *live, &i->u.mem.from, 1);
        return true;
    case IR_STORE:
        if (!place_is_live(s, *live, &i->u.mem.to, 1))
            return false;
        overwrite(s, *live, &i->u.mem.to, 1);
        return true;
    case IR_COPY:
    case IR_ZERO:
        if (!place_is_live(s, *live, &i->u.mem.to, i->u.mem.count))
            return false;
        overwrite(s, *live, &i->u.mem.to, i->u.mem.count);
        if (i->op == IR_COPY)
            read_place(s, *live, &i->u.mem.from, i->u.mem.count);
        return true;
    case IR_CALL:
        if (!call_is_needed(o, i))
            return false;
        prune_call(o, i);
        read_arguments(s, *live, i->u.call);
        return true;
    case IR_PULL:
        if (!pull_is_needed(s, *live, i->u.number))
            return false;
        add_others(s, *live, NULL, true);
        return true;
    case IR_IF:
        *live = sweep_if(s, i, *live);
        return i->body->first || i->other->first;
    case IR_LOOP:
        if (loop_is_idle(s, i, *live)) {
            witness_unreachable(o->witness, i->body);
            witness_unreachable(o->witness, i->other);
            return false;
        }
        *live = sweep_loop(s, i, *live);
        return true;
    case IR_BLOCK:
        s->left[i->mark] = set_copy(s, *live);
        *live = sweep_block(s, i->body, *live);
        return i->body->first != NULL;
    case IR_BREAK:
        *live = set_copy(s, s->left[i->u.target->mark]);
        return true;
    case IR_CONTINUE:
        *live = set_copy(s, s->next[i->u.target->mark]);
        return true;
    case IR_RETURN:
        *live = set_copy(s, s->exit);
        return true;
    case IR_INDEX:
        return true;
    default:
        return results_used(o, i);
    }
}

static slot_set sweep_block(struct sweep *s, struct ir_block *b, slot_set live)
{
    for (struct ir_inst *i = b->last, *prev; i; i = prev) {
        prev = i->prev;
        if (!sweep_inst(s, i, &live)) {
            gone(s->o, i);
            continue;
        }
        use_operands(s->o, i);
    }
    return live;
}

static uint32_t number_targets(struct ir_block *b, uint32_t n)
{
    for (struct ir_inst *i = b ? b->first : NULL; i; i = i->next) {
        if (i->op == IR_LOOP || i->op == IR_BLOCK)
            i->mark = n++;
        n = number_targets(i->body, n);
        n = number_targets(i->other, n);
    }
    return n;
}

void opt_find_defs(struct opt *o, struct ir_block *b)
{
    for (struct ir_inst *i = b ? b->first : NULL; i; i = i->next) {
        for (uint32_t k = 0; k < i->result_count; k++)
            o->defs[i->result + k] = i;
        opt_find_defs(o, i->body);
        opt_find_defs(o, i->other);
    }
}

void opt_dead(struct opt *o)
{
    opt_track(o);
    opt_values(o);
    opt_find_defs(o, &o->b.layer->body);
    if (o->value_cap) /* a shader may have no values */
        memset(o->used, 0, o->value_cap * sizeof *o->used);
    struct sweep s = {.o = o, .words = o->slot_count / 64 + 1};
    uint32_t targets = number_targets(&o->b.layer->body, 0);
    s.left = (slot_set *)opt_scratch(o, targets + 1, sizeof *s.left);
    s.next = (slot_set *)opt_scratch(o, targets + 1, sizeof *s.next);
    slot_set own = set_empty(&s);
    reads_of(&s, own, &o->b.layer->body, false);
    s.exit = set_empty(&s);
    add_others(&s, s.exit, own, false);
    (void)sweep_block(&s, &o->b.layer->body, set_copy(&s, s.exit));
}

/* ---- layers --------------------------------------------------------------------------------- */

struct survey {
    struct opt *o;
    bool *mine; /* by shared slot: this layer reads it */
    uint32_t layer;
    bool quiet;
};

static void survey_read(struct survey *v, const struct ir_place *p, uint32_t n)
{
    uint32_t first = v->o->shared->first[p->cell];
    if (first == OPT_NONE)
        return;
    uint32_t slots = ir_cell_slots(&v->o->code->cells[p->cell]);
    uint32_t from = p->index_count ? 0 : p->base, to = p->index_count ? slots : p->base + n;
    for (uint32_t k = from; k < to; k++)
        v->mine[first + k] = true;
}

static void survey_write(struct survey *v, const struct ir_place *p)
{
    if (v->o->code->cells[p->cell].scope == IR_GLOBAL)
        v->quiet = false;
}

static void survey_call(struct survey *v, const struct ir_inst *i)
{
    const struct ir_call *c = i->u.call;
    bool writes = false;
    for (uint32_t k = 0; k < c->arg_count; k++) {
        const struct ir_arg *a = &c->args[k];
        for (uint32_t row = 0; a->is_place && row < (a->derivs ? 3u : 1u); row++) {
            struct ir_place p = a->at;
            p.base += row * a->row;
            survey_read(v, &p, a->n);
        }
        if (a->written)
            survey_write(v, &a->at);
        writes = writes || a->written;
    }
    if (writes || ir_call_effect((const struct ir_inst *const *)v->o->defs, i) != IR_EFFECT_NONE)
        v->quiet = false;
}

static void survey_block(struct survey *v, const struct ir_block *b)
{
    for (const struct ir_inst *i = b ? b->first : NULL; i; i = i->next) {
        if (i->op == IR_LOAD)
            survey_read(v, &i->u.mem.from, 1);
        else if (i->op == IR_COPY)
            survey_read(v, &i->u.mem.from, i->u.mem.count);
        else if (i->op == IR_CALL)
            survey_call(v, i);
        else if (i->op == IR_INDEX)
            v->quiet = false;
        else if (i->op == IR_PULL)
            v->quiet = v->quiet && v->o->shared->quiet[i->u.number];
        if (i->op == IR_STORE || i->op == IR_COPY || i->op == IR_ZERO)
            survey_write(v, &i->u.mem.to);
        survey_block(v, i->body);
        survey_block(v, i->other);
    }
}

static void *round_memory(struct opt *o, size_t count, size_t size)
{
    void *p = arena_alloc(&o->round, count, size, 0);
    if (!p)
        ir_fail(&o->b, STATUS_MEMORY, o->b.at, "out of memory");
    return p;
}

void opt_survey(struct opt *o)
{
    struct asl_code *code = o->code;
    struct opt_shared *sh = round_memory(o, 1, sizeof *sh);
    o->shared = sh;
    sh->first = round_memory(o, code->cell_count, sizeof *sh->first);
    sh->quiet = round_memory(o, code->layer_count, sizeof *sh->quiet);
    uint32_t n = 0;
    for (uint32_t i = 0; i < code->cell_count; i++) {
        bool shared = code->cells[i].scope != IR_LOCAL;
        sh->first[i] = shared ? n : OPT_NONE;
        n += shared ? ir_cell_slots(&code->cells[i]) : 0;
    }
    sh->readers = round_memory(o, n, sizeof *sh->readers);
    struct survey v = {.o = o, .mine = round_memory(o, n, sizeof *v.mine)};
    for (uint32_t l = 0; l < code->layer_count; l++) {
        struct ir_layer *layer = &code->layers[l];
        memset(v.mine, 0, n);
        v.layer = l;
        v.quiet = true;
        o->b.layer = layer;
        opt_values(o);
        opt_find_defs(o, &layer->body);
        survey_block(&v, &layer->body);
        for (uint32_t p = 0; p < layer->param_count; p++)
            v.quiet = v.quiet && !code->cells[layer->params[p].cell].observed;
        sh->quiet[l] = v.quiet;
        for (uint32_t k = 0; k < n; k++)
            sh->readers[k] += v.mine[k];
    }
}

static void mark_pulled(const struct ir_block *b, bool *runs)
{
    for (const struct ir_inst *i = b ? b->first : NULL; i; i = i->next) {
        if (i->op == IR_PULL)
            runs[i->u.number] = true;
        mark_pulled(i->body, runs);
        mark_pulled(i->other, runs);
    }
}

bool opt_dead_layers(struct opt *o)
{
    struct asl_code *code = o->code;
    bool *runs = OPT_ARRAY(o, bool, code->layer_count), some = false;
    for (uint32_t i = 0; i < code->entry_count; i++)
        runs[code->entries[i]] = true;
    for (uint32_t l = code->layer_count; l-- > 0;) /* layers pull earlier ones only */
        if (runs[l])
            mark_pulled(&code->layers[l].body, runs);
    for (uint32_t l = 0; l < code->layer_count; l++) {
        struct ir_layer *layer = &code->layers[l];
        if (runs[l] || !layer->runs)
            continue;
        layer->runs = false;
        witness_layer(o->witness, l);
        witness_unreachable(o->witness, &layer->body);
        layer->body.first = layer->body.last = NULL;
        some = true;
    }
    return some;
}
