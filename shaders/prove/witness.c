/* SPDX-License-Identifier: Apache-2.0 */
/* witness.c: writing what each step of translation did, and checking what was written. */
#include "witness.h"

#include "ir/offers.h"
#include "witness_moved.h"

#include <stdlib.h>
#include <string.h>

/* ---- writing -------------------------------------------------------------------------------- */

static const char heading[] = "isophote-witness 1\n";

void witness_begin(struct text *out, const char *step)
{
    if (!out)
        return;
    if (out->len == 0)
        text_puts(out, heading);
    text_printf(out, "step %s\n", step);
}

void witness_layer(struct text *out, uint32_t layer)
{
    if (out)
        text_printf(out, "layer %u\n", layer);
}

void witness_ir(struct text *out, const struct asl_code *code)
{
    if (!out || !code)
        return;
    text_puts(out, "ir\n");
    asl_code_print(code, out);
    text_puts(out, ".\n");
}

void witness_unreachable(struct text *out, const struct ir_block *b)
{
    for (const struct ir_inst *i = out && b ? b->first : NULL; i; i = i->next) {
        for (uint32_t k = 0; k < i->result_count; k++)
            text_printf(out, "gone v%u unreachable\n", i->result + k);
        witness_unreachable(out, i->body);
        witness_unreachable(out, i->other);
    }
}

/* ---- rules ---------------------------------------------------------------------------------- */

enum fact { NOTHING, DEF, PUT, GONE, MOVE };
enum check { NONE, SAMPLE, CALL, LOAD, SAME, INDEX, CLOSURE, LOOP };

static const struct rule {
    const char *name;
    enum fact fact;
    enum check check;
} rules[] = {
#define RULE(name, fact, check, meaning) {name, fact, check},
#include "witness.def"
#undef RULE
};

static const struct rule *find_rule(const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strlen(rules[i].name) == n && strncmp(rules[i].name, name, n) == 0)
            return &rules[i];
    return NULL;
}

/* ---- reading -------------------------------------------------------------------------------- */

enum { MAX_LAYERS = 1 << 16 };

struct value {               /* of one layer, in one step */
    const struct rule *rule; /* NULL: no fact */
    uint32_t put;            /* PUT: what stands for it */
    uint32_t line;
    const struct ir_inst *before, *after;
    union asl_slot sample;
    bool sampled;
};

struct checker {
    const char *file, *p, *end;
    uint32_t line;
    struct arena arena; /* of all steps: code, facts */
    struct asl_code *before, *after;
    struct value **values; /* by layer of this step */
    uint32_t *counts;
    bool first;   /* the step that lowers */
    bool outward; /* the step that moves work out of loops */
    struct ir_fold fold;
    struct error *err;
    enum status status;
    size_t facts, steps;
};

static bool fail(struct checker *c, uint32_t line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static bool fail(struct checker *c, uint32_t line, const char *fmt, ...)
{
    va_list ap;
    struct src_pos at = {c->file, line, 1};
    va_start(ap, fmt);
    c->status = error_setv(c->err, STATUS_TYPE, at, fmt, ap);
    va_end(ap);
    return false;
}

/* The next line without its end; false at the end of the text. */
static bool next_line(struct checker *c, const char **line, size_t *n)
{
    if (c->p >= c->end)
        return false;
    *line = c->p;
    const char *stop = memchr(c->p, '\n', (size_t)(c->end - c->p));
    *n = (size_t)((stop ? stop : c->end) - c->p);
    c->p = stop ? stop + 1 : c->end;
    c->line++;
    return true;
}

static bool begins(const char *line, size_t n, const char *word)
{
    size_t m = strlen(word);
    return n >= m && strncmp(line, word, m) == 0;
}

/* "v12": the number, and *p behind it and a blank. */
static bool read_value(const char **p, const char *end, uint32_t *v)
{
    uint64_t x = 0;
    const char *s = *p;
    if (s >= end || *s++ != 'v')
        return false;
    const char *digits = s;
    for (; s < end && *s >= '0' && *s <= '9' && x < UINT32_MAX; s++)
        x = 10 * x + (uint64_t)(*s - '0');
    if (s == digits || x >= 1u << 23)
        return false;
    *v = (uint32_t)x;
    *p = s + (s < end && *s == ' ');
    return true;
}

static struct value *value_at(struct checker *c, uint32_t layer, uint32_t v)
{
    if (v >= c->counts[layer]) {
        uint32_t n = v + v / 2 + 64;
        struct value *more = ARENA_ARRAY(&c->arena, struct value, n);
        if (!more)
            return NULL;
        if (c->counts[layer])
            memcpy(more, c->values[layer], c->counts[layer] * sizeof *more);
        c->values[layer] = more;
        c->counts[layer] = n;
    }
    return &c->values[layer][v];
}

static bool read_fact(struct checker *c, uint32_t layer, const char *line, size_t n)
{
    const char *end = line + n, *p = memchr(line, ' ', n);
    enum fact kind = begins(line, n, "def ")    ? DEF
                     : begins(line, n, "put ")  ? PUT
                     : begins(line, n, "gone ") ? GONE
                     : begins(line, n, "move ") ? MOVE
                                                : NOTHING;
    uint32_t v = 0, w = 0;
    if (!kind || !p || (p++, !read_value(&p, end, &v)) || (kind == PUT && !read_value(&p, end, &w)))
        return fail(c, c->line, "expected def, put, gone or move and values, found '%.*s'",
                    (int)(n > 60 ? 60 : n), line);
    size_t length = 0;
    while (p + length < end && p[length] != ' ')
        length++;
    const struct rule *r = find_rule(p, length);
    if (!r || r->fact != kind)
        return fail(c, c->line, "there is no such rule: '%.*s'", (int)(end - p > 60 ? 60 : end - p),
                    p);
    if ((kind == MOVE) != c->outward)
        return fail(c, c->line, "%s",
                    c->outward ? "a step outward moves values alone"
                               : "values move in steps outward alone");
    struct value *x = value_at(c, layer, v);
    if (!x)
        return fail(c, c->line, "out of memory");
    if (x->rule && !(x->rule->fact == DEF && kind != DEF))
        return fail(c, c->line, "v%u has two facts", v);
    x->rule = r;
    x->put = w;
    x->line = c->line;
    c->facts++;
    return true;
}

static bool read_ir(struct checker *c)
{
    const char *from = c->p, *line = NULL;
    size_t n = 0;
    uint32_t first = c->line + 1;
    while (next_line(c, &line, &n))
        if (n == 1 && *line == '.')
            break;
    if (!line || n != 1 || *line != '.')
        return fail(c, c->line, "the IR ends with a line that holds a point");
    c->status =
        ir_read_lines(&c->arena, c->file, from, (size_t)(line - from), first, &c->after, c->err);
    return c->status == STATUS_OK;
}

static bool read_step(struct checker *c, const char *name, size_t n)
{
    bool lower = n == 5 && strncmp(name, "lower", n) == 0;
    c->outward = n == 7 && strncmp(name, "outward", n) == 0;
    if (lower != c->first ||
        (!lower && !c->outward && !(n == 7 && strncmp(name, "forward", n) == 0) &&
         !(n == 4 && strncmp(name, "dead", n) == 0)))
        return fail(c, c->line, "expected step %s",
                    c->first ? "lower" : "forward, dead or outward");
    uint32_t layer = UINT32_MAX;
    c->values = (struct value **)arena_alloc(&c->arena, MAX_LAYERS, sizeof *c->values, 0);
    c->counts = ARENA_ARRAY(&c->arena, uint32_t, MAX_LAYERS);
    if (!c->values || !c->counts)
        return fail(c, c->line, "out of memory");
    const char *line;
    while (next_line(c, &line, &n)) {
        if (n == 2 && strncmp(line, "ir", 2) == 0)
            return read_ir(c);
        if (begins(line, n, "layer ")) {
            layer = 0;
            for (const char *d = line + 6; d < line + n && layer < MAX_LAYERS; d++)
                layer = *d >= '0' && *d <= '9' ? 10 * layer + (uint32_t)(*d - '0') : MAX_LAYERS;
            if (layer >= MAX_LAYERS || n == 6)
                return fail(c, c->line, "layer %u", layer);
        } else if (layer == UINT32_MAX) {
            return fail(c, c->line, "facts need a layer before them");
        } else if (!read_fact(c, layer, line, n)) {
            return false;
        }
    }
    return fail(c, c->line, "the step has no IR");
}

/* ---- replaying ------------------------------------------------------------------------------ */

static union asl_slot random_slot(uint32_t v, uint32_t trial, enum ir_type t)
{
    static const float floats[] = {0, 1, -1, 0.5f, 3, -2.25f, 1e-30f, 7e20f, -0.0f, 1234.5f};
    static const char *const texts[] = {"", "a", "text"};
    uint32_t words[2] = {v, trial}, h = asl_hash_words(words, 2);
    union asl_slot r = {.s = NULL};
    if (t == IR_I)
        r.i = h % 3 ? (int32_t)(h >> 8 & 15) - 4 : (int32_t)h;
    else if (t == IR_F)
        r.f = h % 3 ? floats[h / 3 % 10] : (float)(h >> 8) / 65536.0f - 100;
    else if (t == IR_S)
        r.s = texts[h % 3];
    return r;
}

static bool is_pure(const struct ir_inst *i) { return i->op > IR_CONST && i->op < IR_CADD; }

static struct value *resolved(struct checker *c, uint32_t layer, uint32_t v)
{
    struct value *x = v < c->counts[layer] ? &c->values[layer][v] : NULL;
    for (int turns = 0; x && x->rule && x->rule->fact == PUT && turns < 1 << 20; turns++)
        x = x->put < c->counts[layer] ? &c->values[layer][x->put] : NULL;
    return x;
}

static void sample(struct checker *c, uint32_t layer, const struct ir_layer *l,
                   const struct ir_block *b, uint32_t trial, bool after)
{
    for (const struct ir_inst *i = b ? b->first : NULL; i; i = i->next) {
        for (uint32_t k = 0; k < i->result_count; k++) {
            struct value *x = &c->values[layer][i->result + k];
            union asl_slot in[3] = {{.s = NULL}, {.s = NULL}, {.s = NULL}};
            if (after && x->before)
                continue; /* its sample is that of the step before */
            for (uint32_t o = 0; is_pure(i) && o < i->operand_count; o++)
                in[o] = c->values[layer][i->operands[o]].sample;
            bool flag = i->op == IR_STATE &&
                        (i->u.number == IR_BACKFACING || i->u.number == IR_FLIP_HANDEDNESS);
            x->sample = i->op == IR_CONST ? i->u.k
                        : is_pure(i)      ? ir_eval((enum ir_op)i->op, in[0], in[1], in[2])
                                          : random_slot(i->result + k, trial,
                                                        (enum ir_type)l->types[i->result + k]);
            if (flag)
                x->sample.i &= 1;
        }
        sample(c, layer, l, i->body, trial, after);
        sample(c, layer, l, i->other, trial, after);
    }
}

static bool same_sample(enum ir_type t, union asl_slot a, union asl_slot b)
{
    return ir_same_slot(t, a, b) || (t == IR_F && isnan(a.f) && isnan(b.f));
}

static bool same_work(struct checker *c, uint32_t layer, const struct ir_inst *a,
                      const struct ir_inst *b)
{
    if (a->op != b->op || a->operand_count != b->operand_count ||
        a->result_count != b->result_count)
        return false;
    for (uint32_t k = 0; k < a->operand_count; k++)
        if (resolved(c, layer, a->operands[k]) != resolved(c, layer, b->operands[k]))
            return false;
    if (a->op == IR_ARG || a->op == IR_STATE)
        return a->u.number == b->u.number;
    return a->op != IR_CALL ||
           (a->u.call->callee == b->u.call->callee && a->u.call->overload == b->u.call->overload);
}

/* Runs the call again: its operands, looked up, must be constants. */
static bool replay_call(struct checker *c, uint32_t layer, const struct value *x,
                        const struct value *now, uint32_t v)
{
    struct ir_inst copy = *x->before;
    union asl_slot out[IR_FOLD_RESULTS_MAX] = {{.s = NULL}};
    ir_value operands[256];
    if (!c->before || copy.op != IR_CALL || copy.operand_count > 256 || !now->after ||
        now->after->op != IR_CONST)
        return fail(c, x->line, "v%u is no call that became a constant", v);
    struct ir_inst **defs =
        (struct ir_inst **)arena_alloc(&c->arena, c->counts[layer], sizeof *defs, 0);
    if (!defs)
        return fail(c, x->line, "out of memory");
    for (uint32_t k = 0; k < copy.operand_count; k++) {
        const struct value *o = resolved(c, layer, copy.operands[k]);
        const struct ir_inst *d = o ? (o->after ? o->after : o->before) : NULL;
        if (!d || d->op != IR_CONST)
            return fail(c, x->line, "an argument of v%u is no constant", v);
        operands[k] = d->result;
        defs[d->result] = (struct ir_inst *)(uintptr_t)d;
    }
    copy.operands = operands;
    bool ok = ir_fold_call(&c->fold, defs, &copy, out);
    enum ir_type t = (enum ir_type)c->before->layers[layer].types[v];
    if (!ok || !same_sample(t, out[v - x->before->result], now->after->u.k))
        return fail(c, x->line, "v%u: the call gives another constant", v);
    return true;
}

static bool replay(struct checker *c, uint32_t layer, uint32_t v)
{
    const struct value *x = &c->values[layer][v], *now = resolved(c, layer, v);
    const struct ir_inst *old = x->before;
    const struct value *to = x->put < c->counts[layer] ? &c->values[layer][x->put] : NULL;
    if (!now || !to || (!now->after && !(now->rule && now->rule->fact == GONE)))
        return fail(c, x->line, "v%u is put in the place of v%u and is not there", x->put, v);
    if (!old)
        return fail(c, x->line, "v%u was not there before", v);
    const struct ir_inst *new = to->before ? to->before : to->after;
    switch (x->rule->check) {
    case CALL:
        return replay_call(c, layer, x, now, v);
    case LOAD:
        if (old->op != IR_LOAD)
            return fail(c, x->line, "v%u was no load", v);
        return true;
    case INDEX:
        if (old->op != IR_INDEX || resolved(c, layer, old->operands[0]) != now)
            return fail(c, x->line, "v%u was no index of v%u", v, x->put);
        return true;
    case CLOSURE: {
        bool one = now->after && now->after->op == IR_CONST && now->after->u.k.c == NULL;
        for (uint32_t k = 0; k < old->operand_count; k++)
            one = one || resolved(c, layer, old->operands[k]) == now;
        if ((old->op != IR_CADD && old->op != IR_CMUL) || !one)
            return fail(c, x->line, "v%u was no sum or product of closures", v);
        return true;
    }
    case SAME:
        if (!new || !same_work(c, layer, old, new))
            return fail(c, x->line, "v%u and v%u are not the same work", v, x->put);
        return true;
    default:
        return true;
    }
}

/* Rules that hold for all operands are tried on some. */
static bool try_samples(struct checker *c, uint32_t layer)
{
    if (!c->before) /* the step that lowers: no rules to try */
        return true;
    const struct ir_layer *b = &c->before->layers[layer], *a = &c->after->layers[layer];
    for (uint32_t trial = 0; trial < 6; trial++) {
        sample(c, layer, b, &b->body, trial, false);
        sample(c, layer, a, &a->body, trial, true);
        for (uint32_t v = 0; v < c->counts[layer]; v++) {
            const struct value *x = &c->values[layer][v];
            if (!x->rule || x->rule->check != SAMPLE)
                continue;
            const struct value *to = &c->values[layer][x->put];
            if (!to->before && !to->after)
                continue; /* went with its block */
            /* operands that other rules replaced are looked up: their samples may differ */
            union asl_slot in[3] = {{.s = NULL}, {.s = NULL}, {.s = NULL}}, want = x->sample;
            for (uint32_t o = 0; is_pure(x->before) && o < x->before->operand_count; o++) {
                const struct value *r = resolved(c, layer, x->before->operands[o]);
                in[o] = r ? r->sample : in[o];
            }
            if (is_pure(x->before))
                want = ir_eval((enum ir_op)x->before->op, in[0], in[1], in[2]);
            if (!is_pure(x->before) ||
                !same_sample((enum ir_type)b->types[v], want, resolved(c, layer, v)->sample))
                return fail(c, x->line, "v%u and v%u differ: rule %s does not hold", v, x->put,
                            x->rule->name);
        }
    }
    return true;
}

/* ---- checking ------------------------------------------------------------------------------- */

static bool enter(struct checker *c, uint32_t layer, const struct ir_block *b, bool after)
{
    for (const struct ir_inst *i = b ? b->first : NULL; i; i = i->next) {
        for (uint32_t k = 0; k < i->result_count; k++) {
            struct value *x = value_at(c, layer, i->result + k);
            if (!x)
                return fail(c, c->line, "out of memory");
            *(after ? &x->after : &x->before) = i;
        }
        if (!enter(c, layer, i->body, after) || !enter(c, layer, i->other, after))
            return false;
    }
    return true;
}

static bool kept(struct checker *c, uint32_t layer, uint32_t v, const struct value *x)
{
    const struct ir_inst *a = x->before, *b = x->after;
    if (!c->before || a->op != b->op ||
        c->before->layers[layer].types[v] != c->after->layers[layer].types[v])
        return fail(c, c->line, "layer %u: v%u became another operation without a word", layer, v);
    if (a->operand_count != b->operand_count)
        return fail(c, c->line, "layer %u: v%u has more or fewer operands without a word", layer,
                    v);
    for (uint32_t k = 0; k < a->operand_count; k++)
        if (resolved(c, layer, a->operands[k]) != resolved(c, layer, b->operands[k]))
            return fail(c, c->line, "layer %u: v%u has other operands without a word", layer, v);
    if (a->op == IR_CALL &&
        (a->u.call->callee != b->u.call->callee || a->u.call->overload != b->u.call->overload))
        return fail(c, c->line, "layer %u: v%u calls another function without a word", layer, v);
    if (a->op == IR_CONST &&
        !ir_same_slot((enum ir_type)c->after->layers[layer].types[v], a->u.k, b->u.k))
        return fail(c, c->line, "layer %u: constant v%u changed without a word", layer, v);
    return true;
}

/* Of a step outward: that nothing but what it names moved, and that it may. */
static bool check_moves(struct checker *c, uint32_t layer)
{
    const size_t n = c->counts[layer] + 1;
    const struct ir_inst **defs =
        (const struct ir_inst **)arena_alloc(&c->arena, n, sizeof *defs, 0);
    bool *moved = ARENA_ARRAY(&c->arena, bool, n);
    if (!defs || !moved)
        return fail(c, c->line, "out of memory");
    for (uint32_t v = 0; v < c->counts[layer]; v++) {
        const struct value *x = &c->values[layer][v];
        defs[v] = x->before;
        moved[v] = x->rule != NULL;
        if (x->before && moved[v] != moved[x->before->result])
            return fail(c, c->line, "layer %u: v%u and v%u are of one call", layer, v,
                        x->before->result);
    }
    struct witness_moved m = {
        .before = c->before, .after = c->after, .layer = layer, .defs = defs, .moved = moved};
    return witness_moved_only(&m) || fail(c, c->line, "layer %u: %s", layer, m.message);
}

static bool check_layer(struct checker *c, uint32_t layer)
{
    if (c->before && !enter(c, layer, &c->before->layers[layer].body, false))
        return false;
    if (!enter(c, layer, &c->after->layers[layer].body, true))
        return false;
    for (uint32_t v = 0; v < c->counts[layer]; v++) {
        const struct value *x = &c->values[layer][v];
        enum fact f = x->rule ? x->rule->fact : NOTHING;
        if (!x->before && !x->after && (f == DEF || f == PUT || f == MOVE))
            return fail(c, x->line, "layer %u has no v%u", layer, v);
        if (x->after && f != DEF && (c->first || !x->before))
            return fail(c, c->line, "layer %u: nothing says what v%u stands for", layer, v);
        if (x->after && (f == PUT || f == GONE))
            return fail(c, x->line, "layer %u: v%u is still there", layer, v);
        if (!x->after && x->before && f != PUT && f != GONE)
            return fail(c, c->line, "layer %u: v%u vanished without a word", layer, v);
        if (x->before && f == DEF)
            return fail(c, x->line, "layer %u: v%u was there already", layer, v);
        if (x->before && x->after && !kept(c, layer, v, x))
            return false;
        if (f == PUT && !replay(c, layer, v))
            return false;
    }
    return c->outward ? check_moves(c, layer) : try_samples(c, layer);
}

static bool check_step(struct checker *c)
{
    if (c->after->layer_count > MAX_LAYERS ||
        (c->before && c->before->layer_count != c->after->layer_count))
        return fail(c, c->line, "the number of layers changed");
    for (uint32_t l = 0; l < c->after->layer_count; l++)
        if (!check_layer(c, l))
            return false;
    c->steps++;
    c->before = c->after;
    c->first = false;
    return true;
}

static bool check_all(struct checker *c)
{
    const char *line;
    size_t n;
    if (!next_line(c, &line, &n) || n + 1 != strlen(heading) || strncmp(line, heading, n) != 0)
        return fail(c, 1, "expected 'isophote-witness 1'");
    while (next_line(c, &line, &n)) {
        if (!begins(line, n, "step "))
            return fail(c, c->line, "expected a step");
        if (!read_step(c, line + 5, n - 5) || !check_step(c))
            return false;
    }
    return c->steps ? true : fail(c, c->line, "no steps");
}

enum status asl_witness_check(const char *file, const char *text, size_t size, size_t *steps,
                              size_t *facts, struct error *err)
{
    struct checker *c = calloc(1, sizeof *c);
    if (!c)
        return error_msg(err, STATUS_MEMORY, "out of memory");
    *c = (struct checker){.file = file, .p = text, .end = text + size, .first = true, .err = err};
    bool ok = check_all(c);
    enum status s = ok ? STATUS_OK : c->status;
    if (ok && steps)
        *steps = c->steps;
    if (ok && facts)
        *facts = c->facts;
    ir_fold_close(&c->fold);
    arena_free(&c->arena);
    free(c);
    return s;
}
