/* SPDX-License-Identifier: Apache-2.0 */
/* emit_host.c: what native emitted code asks of the host: builtins that device/asl/ lacks, by
 * the interpreter's own functions. Strings and closures are numbers to emitted code. */
#include "interp/interp.h"
#include "ir/offers.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct asl_host {
    struct asl_context cx;
    const struct asl_code *code;
    const struct asl_emitted *emitted;
    struct asl_expr **exprs; /* by call; NULL when it is no IR_CALL */
    struct asl_layer *names; /* by layer */
    struct asl_run *runs;
    struct asl_message_value **messages; /* by point of the stretch */
    const char **strings;
    uint32_t string_count, string_cap, fixed_strings;
    uint32_t *slots; /* hash table: 1 + id */
    uint32_t slot_count;
    const struct asl_closure **closures;
    uint32_t closure_count, closure_cap;
    struct error error;
    bool failed;
    size_t failed_point;
    uint32_t *asked; /* what asl_host_ask works in */
    size_t asked_cap;
};

static enum status no_memory(struct error *err)
{
    return error_msg(err, STATUS_MEMORY, "out of memory");
}

/* ---- strings and closures ------------------------------------------------------------------- */

static bool rehash(struct asl_host *h)
{
    uint32_t n = h->slot_count ? h->slot_count : 64;
    while (n < 4 * (h->string_count + 1))
        n *= 2;
    uint32_t *slots = calloc(n, sizeof *slots);
    if (!slots)
        return false;
    for (uint32_t i = 0; i < h->string_count; i++) {
        uint32_t at = hash_text(h->strings[i]) & (n - 1);
        while (slots[at])
            at = (at + 1) & (n - 1);
        slots[at] = i + 1;
    }
    free(h->slots);
    h->slots = slots;
    h->slot_count = n;
    return true;
}

static void fail(struct asl_host *h, const char *what)
{
    if (!h->failed)
        (void)error_msg(&h->error, STATUS_MEMORY, "%s", what);
    h->failed = true;
}

/* The text must live as long as the stretch. */
static uint32_t string_id(struct asl_host *h, const char *s)
{
    uint32_t at = hash_text(s) & (h->slot_count - 1);
    for (; h->slots[at]; at = (at + 1) & (h->slot_count - 1))
        if (strcmp(h->strings[h->slots[at] - 1], s) == 0)
            return h->slots[at] - 1;
    if (h->string_count == h->string_cap) {
        uint32_t cap = h->string_cap ? 2 * h->string_cap : 64;
        const char **more = realloc((void *)h->strings, cap * sizeof *more);
        if (!more) {
            fail(h, "out of memory");
            return 0;
        }
        h->strings = more;
        h->string_cap = cap;
    }
    h->strings[h->string_count++] = s;
    if (4 * (h->string_count + 1) > h->slot_count) {
        if (!rehash(h))
            fail(h, "out of memory");
    } else {
        h->slots[at] = h->string_count;
    }
    return h->string_count - 1;
}

uint32_t asl_host_string(struct asl_host *h, const char *text)
{
    uint32_t id = string_id(h, text);
    h->fixed_strings = h->string_count;
    return id;
}

const char *asl_host_layer(const struct asl_host *h) { return asl_context_layer(&h->cx); }
struct src_pos asl_host_place(const struct asl_host *h) { return asl_context_place(&h->cx); }

const char *asl_host_text(const struct asl_host *h, uint32_t id)
{
    return id < h->string_count ? h->strings[id] : "";
}

const struct asl_closure *asl_host_closure(const struct asl_host *h, uint32_t id)
{
    return id && id <= h->closure_count ? h->closures[id - 1] : NULL;
}

static uint32_t closure_id(struct asl_host *h, const struct asl_closure *c)
{
    if (!c)
        return 0;
    if (h->closure_count == h->closure_cap) {
        uint32_t cap = h->closure_cap ? 2 * h->closure_cap : 64;
        const struct asl_closure **more = realloc((void *)h->closures, cap * sizeof *more);
        if (!more) {
            fail(h, "out of memory");
            return 0;
        }
        h->closures = more;
        h->closure_cap = cap;
    }
    h->closures[h->closure_count++] = c;
    return h->closure_count;
}

static union asl_slot slot_of(const struct asl_host *h, enum ir_type t, uint32_t word)
{
    union asl_slot s = {.c = NULL};
    if (t == IR_S)
        s.s = asl_host_text(h, word);
    else if (t == IR_C)
        s.c = asl_host_closure(h, word);
    else
        s.i = (int32_t)word;
    return s;
}

static uint32_t word_of(struct asl_host *h, enum ir_type t, union asl_slot s)
{
    return t == IR_S ? string_id(h, s.s) : t == IR_C ? closure_id(h, s.c) : (uint32_t)s.i;
}

/* ---- calls ---------------------------------------------------------------------------------- */

static enum ir_type arg_type(const struct ir_arg *a, uint32_t slot)
{
    return slot < a->n ? ir_slot_type(a->type, slot) : IR_F;
}

static void run_call(struct asl_host *h, struct asl_run *r, const struct ir_inst *i,
                     const struct asl_expr *e, const union asl_slot *in, uint32_t *rows,
                     union asl_slot *out)
{
    const struct ir_call *c = i->u.call;
    struct asl_place *args = asl_point_alloc(r, c->arg_count + 1, sizeof *args);
    uint32_t *row = rows;
    for (uint32_t k = 0; k < c->arg_count; k++) {
        const struct ir_arg *a = &c->args[k];
        uint32_t n = a->n * (a->derivs ? 3 : 1);
        args[k] = (struct asl_place){.n = a->n, .d = a->derivs ? a->n : 0, .type = a->type};
        if (!a->is_place) {
            args[k].v = (union asl_slot *)in + a->first;
            continue;
        }
        args[k].v = asl_point_alloc(r, n, sizeof *args[k].v);
        for (uint32_t s = 0; s < n; s++)
            args[k].v[s] = slot_of(h, arg_type(a, s), row[s]);
        row += n;
    }
    ir_call_run(r, c, e, args, out);
    row = rows;
    for (uint32_t k = 0; k < c->arg_count; k++) {
        const struct ir_arg *a = &c->args[k];
        uint32_t n = a->n * (a->derivs ? 3 : 1);
        for (uint32_t s = 0; a->is_place && a->written && s < n; s++)
            row[s] = word_of(h, arg_type(a, s), args[k].v[s]);
        row += a->is_place ? n : 0;
    }
}

static void run_userdata(struct asl_host *h, struct asl_run *r, const struct ir_inst *i,
                         union asl_slot *out)
{
    const struct asl_services *s = &h->cx.services;
    size_t n = asl_type_slots(i->u.user.type);
    union asl_slot *v = asl_point_alloc(r, 3 * n, sizeof *v);
    asl_zero_value(i->u.user.type, v);
    out[0].i = s->userdata && s->userdata(s->ctx, i->u.user.name, i->u.user.type, v);
    memcpy(out + 1, v, (i->u.user.derivs ? 3 : 1) * n * sizeof *v);
}

static void run_closure(struct asl_run *r, const struct ir_inst *i, const union asl_slot *in,
                        union asl_slot *out)
{
    out[0].c = NULL;
    if (i->op == IR_CADD && (!in[0].c || !in[1].c)) {
        out[0] = in[0].c ? in[0] : in[1];
        return;
    }
    if (i->op == IR_CMUL && (!in[0].c || (in[1].f == 0 && in[2].f == 0 && in[3].f == 0)))
        return;
    struct asl_closure *c = asl_point_alloc(r, 1, sizeof *c);
    c->kind = i->op == IR_CADD ? CLOSURE_ADD : CLOSURE_MUL;
    c->a = in[0].c;
    c->b = i->op == IR_CADD ? in[1].c : NULL;
    for (int k = 0; i->op == IR_CMUL && k < 3; k++)
        c->weight[k] = in[1 + k].f;
    out[0].c = c;
}

static void run_index(struct asl_run *r, const struct ir_inst *i, int32_t v)
{
    asl_report_index(r, v, i->u.index.name, i->u.index.limit, i->at);
}

void asl_host_call(struct asl_host *h, size_t point, const struct asl_globals *g, uint32_t call,
                   uint32_t *io, uint32_t *rows)
{
    const struct asl_emitted_host *x = &h->emitted->hosts[call];
    const struct ir_inst *i = x->inst;
    const struct ir_layer *l = &h->code->layers[x->layer];
    struct asl_run *r = &h->runs[x->layer];
    struct asl_context *cx = &h->cx;
    cx->state = *g;
    cx->messages = h->messages[point];
    cx->err = &h->error;
    cx->stack = __builtin_frame_address(0);
    if (h->failed)
        return;
    struct asl_temp_mark mark = asl_temp_mark(cx);
    if (setjmp(cx->fail)) {
        h->failed = true;
        h->failed_point = point;
        return;
    }
    union asl_slot *in = asl_temp(r, i->operand_count + i->result_count + 48u),
                   *out = in + i->operand_count;
    for (uint32_t k = 0; k < i->operand_count; k++)
        in[k] = slot_of(h, (enum ir_type)l->types[i->operands[k]], io[k]);
    if (i->op == IR_CALL)
        run_call(h, r, i, h->exprs[call], in, rows, out);
    else if (i->op == IR_USERDATA)
        run_userdata(h, r, i, out);
    else if (i->op == IR_INDEX)
        run_index(r, i, in[0].i);
    else
        run_closure(r, i, in, out);
    for (uint32_t k = 0; i->op != IR_INDEX && k < i->result_count; k++)
        io[k] = word_of(h, (enum ir_type)l->types[i->result + k], out[k]);
    asl_temp_release(cx, mark);
    h->messages[point] = cx->messages;
}

static void answer_space(struct asl_host *h, const struct asl_emitted_answer *a, const char *from,
                         const char *to, uint32_t *words)
{
    struct asl_run *r = &h->runs[a->layer];
    float m[16], inverse[16];
    bool known = a->construct ? asl_space_matrix(r, from, m) : asl_space_pair(r, from, to, m);
    bool exists = known && (!a->normal || asl_matrix_inverse(m, inverse));
    words[0] = exists ? 1 : known ? 2 : 0;
    for (int k = 0; k < 16; k++) {
        float x = !exists ? (float)(k % 5 == 0) : a->normal ? inverse[k % 4 * 4 + k / 4] : m[k];
        memcpy(&words[1 + k], &x, sizeof x);
    }
}

static void answer_spaces(struct asl_host *h, const struct asl_emitted_answer *a, uint32_t *words)
{
    uint32_t n = a->from ? 1 : a->strings, m = a->to || a->construct ? 1 : a->strings;
    for (uint32_t f = 0; f < n; f++)
        for (uint32_t t = 0; t < m; t++, words += 17)
            answer_space(h, a, a->from ? a->from : h->strings[f], a->to ? a->to : h->strings[t],
                         words);
}

static void answer_strings(struct asl_host *h, const struct asl_emitted_answer *a, uint32_t *words)
{
    static const struct asl_globals none;
    const struct ir_inst *i = h->emitted->hosts[a->call].inst;
    uint32_t n = a->movers > 1 ? a->strings * a->strings : a->strings;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t io[16] = {0};
        assert(i->operand_count <= 16 && i->result_count <= 16);
        memcpy(io, a->operands, i->operand_count * sizeof *io);
        io[a->moving[1]] = k % a->strings;
        io[a->moving[0]] = a->movers > 1 ? k / a->strings : k;
        asl_host_begin(h);
        asl_host_call(h, 0, &none, a->call, io, io);
        memcpy(words + (size_t)k * i->result_count, io, i->result_count * sizeof *io);
    }
}

/* What is not said has not been said. */
struct silence {
    bool repeats;
    void (*message)(void *, enum asl_message, const char *, const char *);
};

static struct silence silence_begin(struct asl_context *cx)
{
    struct silence s = {cx->error_repeats, cx->services.message};
    cx->error_repeats = true;
    cx->services.message = NULL;
    return s;
}

static void silence_end(struct asl_context *cx, struct silence s)
{
    cx->error_repeats = s.repeats;
    cx->services.message = s.message;
}

void asl_host_answers(struct asl_host *h, uint32_t *words)
{
    const struct asl_emitted *x = h->emitted;
    struct silence s = silence_begin(&h->cx);
    for (size_t k = 0; k < x->answer_count; k++) {
        const struct asl_emitted_answer *a = &x->answers[k];
        (a->space ? answer_spaces : answer_strings)(h, a, words + a->word);
    }
    silence_end(&h->cx, s);
}

/* Strings that the call made stay; so do their numbers. */
static void strings_keep(struct asl_host *h)
{
    for (uint32_t k = h->fixed_strings; k < h->string_count && !h->failed; k++)
        if (!(h->strings[k] = arena_strdup(&h->cx.arena, h->strings[k]))) {
            h->strings[k] = "";
            fail(h, "out of memory");
        }
    h->fixed_strings = h->string_count;
}

void asl_host_ask(struct asl_host *h, const struct asl_globals *g, uint32_t call,
                  const uint32_t *words, size_t count, uint32_t *reply)
{
    const struct ir_inst *i = h->emitted->hosts[call].inst;
    const struct ir_call *c = i->u.call;
    const size_t rows = count - i->operand_count,
                 head = i->operand_count > i->result_count ? i->operand_count : i->result_count;
    asl_host_begin(h);
    if (h->asked_cap < head + rows) {
        uint32_t *more = realloc(h->asked, 2 * (head + rows) * sizeof *more);
        if (!more) {
            fail(h, "out of memory");
            return;
        }
        h->asked = more;
        h->asked_cap = 2 * (head + rows);
    }
    uint32_t *row = h->asked + head;
    memcpy(h->asked, words, i->operand_count * sizeof *words);
    memcpy(row, words + i->operand_count, rows * sizeof *words);
    struct silence s = silence_begin(&h->cx);
    h->cx.speaker = NULL;
    asl_host_call(h, 0, g, call, h->asked, row);
    silence_end(&h->cx, s);
    strings_keep(h);
    memcpy(reply, h->asked, i->result_count * sizeof *reply);
    reply += i->result_count;
    for (uint32_t k = 0; k < c->arg_count; k++) {
        const struct ir_arg *a = &c->args[k];
        const size_t n = a->is_place ? a->n * (a->derivs ? 3u : 1u) : 0;
        if (a->is_place && a->written) {
            memcpy(reply, row, n * sizeof *reply);
            reply += n;
        }
        row += n;
    }
}

void asl_host_row(struct asl_host *h, const struct asl_globals *g, uint32_t *words)
{
    enum { OPERANDS = 4 }; /* of getattribute(), the place aside */
    const struct asl_emitted *x = h->emitted;
    for (size_t k = 0; k < x->row_count; k++) {
        const struct asl_emitted_row *row = &x->rows[k];
        const uint32_t n = x->hosts[row->call].operands;
        uint32_t io[OPERANDS], *at = words + row->word;
        asl_host_begin(h);
        if (!row->operands) {
            asl_host_call(h, 0, g, row->call, at, at);
            continue;
        }
        assert(n && n <= OPERANDS);
        memcpy(io, row->operands, n * sizeof *io);
        asl_host_call(h, 0, g, row->call, io, at + 1);
        at[0] = io[0];
    }
}

bool asl_host_spoke(const struct asl_host *h) { return h->cx.speaker != NULL; }

bool asl_host_failed(const struct asl_host *h, size_t *point, struct error *err)
{
    if (h->failed) {
        *err = h->error;
        *point = h->failed_point;
    }
    return h->failed;
}

/* ---- life ----------------------------------------------------------------------------------- */

void asl_host_begin(struct asl_host *h)
{
    static const struct asl_globals none;
    asl_context_start(&h->cx, &none, &h->error);
    memset((void *)h->messages, 0, ASL_HOST_POINTS * sizeof *h->messages);
    h->closure_count = 0;
    h->failed = false;
    if (h->string_count > h->fixed_strings) { /* the others lay in the points' memory */
        h->string_count = h->fixed_strings;
        memset(h->slots, 0, h->slot_count * sizeof *h->slots);
        if (!rehash(h))
            fail(h, "out of memory");
    }
}

static enum status make_calls(struct asl_host *h, struct error *err)
{
    struct arena *a = &h->cx.arena;
    h->exprs = ARENA_ARRAY(a, struct asl_expr *, h->emitted->host_count);
    h->names = ARENA_ARRAY(a, struct asl_layer, h->code->layer_count);
    h->runs = ARENA_ARRAY(a, struct asl_run, h->code->layer_count);
    h->messages = ARENA_ARRAY(a, struct asl_message_value *, ASL_HOST_POINTS);
    if (!h->exprs || !h->names || !h->runs || !h->messages)
        return no_memory(err);
    for (uint32_t l = 0; l < h->code->layer_count; l++) {
        h->names[l].name = h->code->layers[l].name;
        h->names[l].mode = 1;
        h->runs[l] = (struct asl_run){.cx = &h->cx,
                                      .layer = &h->names[l],
                                      .shader = h->code->layers[l].shader,
                                      .index = l,
                                      .mode = 1};
    }
    for (size_t k = 0; k < h->emitted->host_count; k++) {
        const struct ir_inst *i = h->emitted->hosts[k].inst;
        if (i->op == IR_CALL && !(h->exprs[k] = ir_call_expr(a, i->u.call, i->at)))
            return no_memory(err);
    }
    return STATUS_OK;
}

enum status asl_host_new(const struct asl_code *code, const struct asl_emitted *emitted,
                         const struct asl_context_options *opt, struct asl_host **out,
                         struct error *err)
{
    struct asl_host *h = calloc(1, sizeof *h);
    if (!h)
        return no_memory(err);
    h->code = code;
    h->emitted = emitted;
    enum status s = asl_context_open(&h->cx, opt, err);
    h->cx.group_name = code->name;
    if (s == STATUS_OK)
        s = make_calls(h, err);
    if (s == STATUS_OK && !rehash(h))
        s = no_memory(err);
    for (size_t i = 0; s == STATUS_OK && i < emitted->string_count; i++)
        (void)asl_host_string(h, emitted->strings[i]);
    if (s == STATUS_OK && h->failed)
        s = no_memory(err);
    if (s != STATUS_OK) {
        asl_host_free(h);
        return s;
    }
    *out = h;
    return STATUS_OK;
}

void asl_host_free(struct asl_host *h)
{
    if (!h)
        return;
    asl_context_close(&h->cx);
    free((void *)h->strings);
    free(h->slots);
    free((void *)h->closures);
    free(h->asked);
    free(h);
}
