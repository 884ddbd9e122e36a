/* SPDX-License-Identifier: Apache-2.0 */
/* emit_grid.c: what a device answers at the points of a grid, where no host is at hand: spaces, and
 * what hangs on strings that are only known when the point runs. What is to be reported goes down
 * in a record, which the host says afterwards; what the host can say before goes down in the
 * argument area (asl_host_answers). For the rest a point asks: its question goes down in the log,
 * and the launch runs again with the host's reply. */
#include "emit.h"

#include <string.h>

bool emit_is_grid(const struct emit *e) { return !e->opt->host && !e->opt->surface; }

/* ---- strings that are only known at run time ------------------------------------------------- */

bool emit_is_listed(const struct emit *e, ir_value v)
{
    return emit_constant_string(e, v) || (emit_is_grid(e) && !e->makes_strings);
}

const char *emit_by_string(struct emit *e, ir_value v, emit_string_number *number, const void *ctx,
                           int otherwise)
{
    const char *s = emit_constant_string(e, v);
    if (s || !emit_is_grid(e))
        return emit_text(e, "%d", s ? number(e, ctx, s) : otherwise);
    unsigned id = e->name_count++;
    EMIT("int by_%u = %d;\nswitch (%s) {\n", id, otherwise, emit_int(e, v));
    for (uint32_t k = 0; k < e->program_strings; k++) {
        int x = number(e, ctx, e->out->strings[k]);
        if (x != otherwise)
            EMIT("case %u: by_%u = %d; break;\n", k, id, x);
    }
    EMIT("default: break;\n}\n");
    return emit_text(e, "by_%u", id);
}

static int raytype_bit(struct emit *e, const void *ctx, const char *s)
{
    (void)e;
    (void)ctx;
    return (int)asl_raytype_bit(s);
}

static bool raytype(struct emit *e, const struct ir_inst *i)
{
    enum { POINT_RAYTYPE = 62 };
    if (i->u.call->callee != BI_RAYTYPE || !emit_is_listed(e, i->operands[0]))
        return false;
    const char *bit = emit_by_string(e, i->operands[0], raytype_bit, NULL, 0);
    emit_set(e, i->result, "(A_BITS(%s) & %s) != 0", emit_point_word(e, POINT_RAYTYPE), bit);
    return true;
}

/* ---- what the host says before -------------------------------------------------------------- */

enum { MOST_WORDS = 1 << 20 }; /* of one answer */

static uint32_t answer(struct emit *e, struct asl_emitted_answer a)
{
    struct asl_emitted *o = e->out;
    struct asl_emitted_answer *list =
        emit_grow(e, o->answers, o->answer_count, &e->answers_cap, sizeof *list);
    a.word = (uint32_t)o->answer_words;
    o->answers = list;
    list[o->answer_count++] = a;
    o->answer_words += a.words;
    return a.word;
}

/* The number of a constant, or of what it says. */
static bool constant_word(struct emit *e, ir_value v, uint32_t *word)
{
    const struct ir_inst *d = e->defs[v];
    if (!d || d->op != IR_CONST)
        return false;
    *word = e->layer->types[v] == IR_S ? emit_string_id(e, d->u.k.s) : (uint32_t)d->u.k.i;
    return true;
}

/* Functions of one string or two that are only known at run time, and of constants: a row of their
 * results for every string that there is. */
static bool table(struct emit *e, const struct ir_inst *i)
{
    uint32_t *in = emit_alloc(e, i->operand_count + 1, sizeof *in), n = i->result_count;
    struct asl_emitted_answer a = {.operands = in, .strings = e->program_strings};
    switch (i->u.call->callee) {
    case BI_STRLEN:
    case BI_STARTSWITH:
    case BI_ENDSWITH:
    case BI_STOI:
    case BI_STOF:
    case BI_GETCHAR:
    case BI_HASH:
        break;
    default:
        return false;
    }
    for (uint32_t k = 0; k < i->operand_count; k++) {
        ir_value v = i->operands[k];
        if (constant_word(e, v, &in[k]))
            continue;
        if (e->layer->types[v] != IR_S || e->makes_strings || a.movers == 2)
            return false;
        a.moving[a.movers++] = k;
    }
    uint64_t words = (uint64_t)a.strings * (a.movers > 1 ? a.strings : 1) * n;
    if (!a.movers || words > MOST_WORDS)
        return false;
    if (a.movers == 1)
        a.moving[1] = a.moving[0];
    const char *at = emit_text(e, "(uint)%s", emit_int(e, i->operands[a.moving[0]]));
    if (a.movers > 1)
        at = emit_text(e, "(%s * %uu + (uint)%s)", at, a.strings,
                       emit_int(e, i->operands[a.moving[1]]));
    a.words = (uint32_t)words;
    a.call = emit_host_number(e, i);
    uint32_t word = answer(e, a);
    for (uint32_t k = 0; k < n; k++)
        emit_set(e, i->result + k, "%s(s->args[A_ANSWERS + %uu + %s * %uu])",
                 e->kinds[i->result + k] == EMIT_FLOAT ? "K_AS_FLOAT" : "(int)", word + k, at, n);
    return true;
}

/* ---- what the host says of a point ---------------------------------------------------------- */

/* Its row has `words` more, which begin at the text that comes back. */
static const char *row(struct emit *e, const struct ir_inst *i, uint32_t words,
                       const uint32_t *operands)
{
    struct asl_emitted *o = e->out;
    struct asl_emitted_row *list = emit_grow(e, o->rows, o->row_count, &e->rows_cap, sizeof *list);
    const uint32_t word = (uint32_t)o->row_words;
    o->rows = list;
    list[o->row_count++] = (struct asl_emitted_row){
        .call = emit_host_number(e, i), .word = word, .operands = operands};
    o->row_words += words;
    EMIT("const uint row_%u = A_POINT_ROW + %uu;\n", i->result, word);
    return emit_text(e, "row_%u", i->result);
}

/* Grids have no strings to give: only numbers. */
static bool has_strings(struct asl_type t)
{
    for (size_t k = 0; k < asl_type_slots(t); k++)
        if (asl_type_scalar(t, k) == ASL_STRING)
            return true;
    return false;
}

static bool userdata(struct emit *e, const struct ir_inst *i)
{
    if (i->op != IR_USERDATA)
        return false;
    const char *at = has_strings(i->u.user.type) ? NULL : row(e, i, i->result_count, NULL);
    for (uint32_t k = 0; k < i->result_count; k++) {
        bool is_float = e->kinds[i->result + k] == EMIT_FLOAT;
        if (at)
            emit_set(e, i->result + k,
                     is_float ? "K_AS_FLOAT(s->args[%s + %uu])" : "(int)s->args[%s + %uu]", at, k);
        else
            emit_set(e, i->result + k, is_float ? "A_F(0.0f)" : "A_I(0)");
    }
    return true;
}

static bool attribute(struct emit *e, const struct ir_inst *i)
{
    const struct ir_call *c = i->u.call;
    const struct ir_arg *to = &c->args[c->arg_count - 1];
    if (c->callee != BI_GETATTRIBUTE || has_strings(to->type))
        return false;
    uint32_t *in = emit_alloc(e, i->operand_count + 1, sizeof *in);
    for (uint32_t k = 0; k < i->operand_count; k++)
        if (!constant_word(e, i->operands[k], &in[k]))
            return false;
    const uint32_t rows = to->derivs ? 3 : 1;
    const char *at = row(e, i, 1 + to->n * rows, in);
    emit_set(e, i->result, "(int)s->args[%s]", at);
    EMIT("if (v%u) {\n", i->result);
    for (uint32_t d = 0; d < rows; d++)
        for (uint32_t k = 0; k < to->n; k++) {
            bool is_float = d || ir_slot_type(to->type, k) == IR_F;
            emit_store(
                e, i, &to->at, d * to->row + k, is_float ? EMIT_FLOAT : EMIT_INT,
                emit_text(e, is_float ? "K_AS_FLOAT(s->args[%s + %uu])" : "(int)s->args[%s + %uu]",
                          at, 1 + d * to->n + k));
        }
    EMIT("}\n");
    return true;
}

/* ---- spaces --------------------------------------------------------------------------------- */

/* The spaces of a call: operands, or names where that is NO_OPERAND. */
enum { NO_OPERAND = -1 };
struct space_name {
    const char *name; /* NULL: not known yet */
    int operand;
};
struct pair {
    struct space_name from, to;
};
static bool space_names(struct emit *e, const struct ir_inst *i, struct pair *out)
{
    const struct ir_call *c = i->u.call;
    bool construct = c->callee == IRC_CONSTRUCT && c->type.base != ASL_COLOR;
    bool transform = c->callee == BI_TRANSFORM && c->args[0].type.base == ASL_STRING;
    if (!construct && !transform && c->callee != BI_GETMATRIX && c->callee != IRC_CONSTRUCT2)
        return false;
    const struct space_name common = {"common", NO_OPERAND};
    uint32_t names = c->callee == IRC_CONSTRUCT2 ? 2 : c->arg_count - 1;
    struct space_name name[2] = {common, common};
    for (uint32_t k = 0; k < names; k++) {
        uint32_t at = c->args[k].first;
        if (c->args[k].is_place)
            return false;
        if (!emit_is_listed(e, i->operands[at]))
            return false;
        name[k] = (struct space_name){emit_constant_string(e, i->operands[at]), (int)at};
    }
    bool to_one = names == 1 && transform;
    *out = (struct pair){to_one ? common : name[0], to_one ? name[0] : name[1]};
    return true;
}

/* The first word of what the host says of the two spaces, as an expression; NULL: there are too
 * many strings. */
static const char *space_word(struct emit *e, const struct ir_inst *i, const struct pair *p)
{
    enum { WORDS = 17 };
    const struct ir_call *c = i->u.call;
    size_t n = p->from.name ? 1 : e->program_strings, m = p->to.name ? 1 : e->program_strings;
    if (n * m * WORDS > MOST_WORDS)
        return NULL;
    const struct asl_emitted_answer a = {.space = true,
                                         .construct = c->callee == IRC_CONSTRUCT,
                                         .normal = c->type.base == ASL_NORMAL,
                                         .from = p->from.name,
                                         .to = p->to.name,
                                         .layer = e->layer_index,
                                         .strings = e->program_strings,
                                         .words = (uint32_t)(n * m * WORDS)};
    const char *word = emit_text(e, "A_ANSWERS + %uu", answer(e, a));
    if (!p->from.name)
        word = emit_text(e, "%s + %zuu * (uint)%s", word, m * WORDS,
                         emit_int(e, i->operands[p->from.operand]));
    if (!p->to.name)
        word = emit_text(e, "%s + %uu * (uint)%s", word, WORDS,
                         emit_int(e, i->operands[p->to.operand]));
    return word;
}

/* What a value becomes that is constructed in a space: as asl_construct_in_space has it. */
static void constructed(struct emit *e, const struct ir_inst *i, const char *m, const char *is)
{
    const struct ir_call *c = i->u.call;
    uint32_t r = i->result;
    if (c->type.base == ASL_MATRIX) {
        for (uint32_t k = 0; k < i->result_count; k++) {
            const char *sum = NULL;
            for (uint32_t x = 0; k < 16 && x < 4; x++) {
                const char *p = emit_text(e, "%s[%u] * %s", m, k / 4 * 4 + x,
                                          emit_part(e, i, 1, 4 * x + k % 4, 0));
                sum = sum ? emit_text(e, "(%s + %s)", sum, p) : p;
            }
            emit_set(e, r + k, "%s ? %s : %s", is, sum ? sum : "A_F(0.0f)",
                     emit_part(e, i, 1, k % 16, k / 16));
        }
        return;
    }
    for (uint32_t k = 0; k < i->result_count; k++) {
        uint32_t d = k / 3, x = k % 3;
        const char *in[3];
        for (uint32_t y = 0; y < 3; y++)
            in[y] = emit_part(e, i, 1, y, d);
        const char *sum = emit_text(e, "%s * %s[%u] + %s * %s[%u] + %s * %s[%u]", in[0], m, x,
                                    in[1], m, 4 + x, in[2], m, 8 + x);
        if (c->type.base == ASL_POINT && !d)
            sum = emit_text(e, "(%s) + %s[%u]", sum, m, 12 + x);
        emit_set(e, r + k, "%s == 1 ? %s : %s", is, sum, in[x]);
    }
}

static void transformed(struct emit *e, const struct ir_inst *i, const char *m, const char *is)
{
    static const char axis[] = "xyz";
    static const char *const rows[] = {"v", "dx", "dy"};
    const struct ir_call *c = i->u.call;
    uint32_t last = c->arg_count - 1, r = i->result;
    const char *parts[3];
    for (uint32_t k = 0; k < 3; k++)
        parts[k] = emit_text(e, "a_dual(%s, %s, %s)", emit_part(e, i, last, k, 0),
                             emit_part(e, i, last, k, 1), emit_part(e, i, last, k, 2));
    EMIT("struct ad3 v%u_t = a_dual3(%s, %s, %s);\nif (%s == 1) v%u_t = a_transform(%d, v%u_t, "
         "%s);\n",
         r, parts[0], parts[1], parts[2], is, r, c->type.base == ASL_POINT, r, m);
    for (uint32_t k = 0; k < i->result_count; k++)
        emit_set(e, r + k, "v%u_t.%c.%s", r, axis[k % 3], rows[k / 3]);
}

static bool spaces(struct emit *e, const struct ir_inst *i)
{
    const struct ir_call *c = i->u.call;
    const struct ir_arg *to = &c->args[c->arg_count - 1];
    struct pair names;
    const char *word = space_names(e, i, &names) ? space_word(e, i, &names) : NULL;
    if (!word)
        return false;
    uint32_t r = i->result;
    const char *m = emit_text(e, "m_%u", r), *is = emit_text(e, "is_%u", r);
    EMIT("af %s[16];\nconst int %s = (int)s->args[%s];\n"
         "for (int k = 0; k < 16; k++) %s[k] = K_AS_FLOAT(s->args[%s + 1u + (uint)k]);\n"
         "if (%s == 0)\n",
         m, is, word, m, word, is);
    emit_record(e, i);
    if (c->callee == IRC_CONSTRUCT)
        constructed(e, i, m, is);
    else if (c->callee == BI_TRANSFORM)
        transformed(e, i, m, is);
    else if (c->callee == IRC_CONSTRUCT2)
        for (uint32_t k = 0; k < i->result_count; k++)
            emit_set(e, r + k, "%s", k >= 16 ? "A_F(0.0f)" : emit_text(e, "%s[%u]", m, k));
    if (c->callee != BI_GETMATRIX)
        return true;
    emit_set(e, r, "%s", is);
    EMIT("if (%s) {\n", is);
    for (uint32_t k = 0; k < 16u * (to->derivs ? 3 : 1); k++)
        emit_store(e, i, &to->at, k / 16 * to->row + k % 16, EMIT_FLOAT,
                   k < 16 ? emit_text(e, "%s[%u]", m, k) : "A_F(0.0f)");
    EMIT("}\n");
    return true;
}

/* ---- what the host is asked while points run ------------------------------------------------ */

static bool arg_has(const struct ir_arg *a, enum asl_base base)
{
    for (size_t k = 0; k < asl_type_slots(a->type); k++)
        if (asl_type_scalar(a->type, k) == base)
            return true;
    return false;
}

bool emit_makes_strings(const struct ir_layer *l, const struct ir_block *b)
{
    for (const struct ir_inst *i = b ? b->first : NULL; i; i = i->next) {
        const struct ir_call *c = i->op == IR_CALL ? i->u.call : NULL;
        if (emit_makes_strings(l, i->body) || emit_makes_strings(l, i->other))
            return true;
        /* these write strings that the program has */
        if (!c || c->callee == BI_TEXTURE || c->callee == BI_ENVIRONMENT ||
            c->callee == BI_GETTEXTUREINFO || c->callee == BI_GETMESSAGE)
            continue;
        for (uint32_t k = 0; k < i->result_count; k++)
            if (l->types[i->result + k] == IR_S)
                return true;
        for (uint32_t k = 0; k < c->arg_count; k++)
            if (c->args[k].is_place && c->args[k].written && arg_has(&c->args[k], ASL_STRING))
                return true;
    }
    return false;
}

bool emit_can_ask(const struct emit *e, const struct ir_inst *i)
{
    const struct ir_call *c = i->op == IR_CALL ? i->u.call : NULL;
    if (e->opt->host || !c || c->callee == BI_SETMESSAGE || c->callee == BI_GETMESSAGE)
        return false;
    for (uint32_t k = 0; k < i->operand_count; k++)
        if (e->layer->types[i->operands[k]] == IR_C)
            return false;
    for (uint32_t k = 0; k < i->result_count; k++)
        if (e->layer->types[i->result + k] == IR_C)
            return false;
    for (uint32_t k = 0; k < c->arg_count; k++)
        if (arg_has(&c->args[k], ASL_CLOSURE))
            return false;
    return true;
}

uint32_t emit_reply_words(const struct emit *e, const struct ir_inst *i, uint32_t number)
{
    const struct ir_call *c = i->u.call;
    uint32_t n = i->result_count;
    for (uint32_t k = 0; k < c->arg_count; k++)
        if (c->args[k].is_place && c->args[k].written)
            n += c->args[k].n * (c->args[k].derivs ? 3 : 1);
    ((struct asl_emitted_host *)e->out->hosts)[number].reply = n;
    return n;
}

void emit_reply_take(struct emit *e, const struct ir_inst *i, const char *words, const char *reply)
{
    const struct ir_call *c = i->u.call;
    uint32_t at = i->result_count;
    EMIT("if (%s) {\n", reply);
    for (uint32_t k = 0; k < c->arg_count; k++) {
        const struct ir_arg *a = &c->args[k];
        for (uint32_t d = 0; a->is_place && a->written && d < (a->derivs ? 3u : 1u); d++) {
            bool dynamic;
            const char *slot = emit_slot(e, i, &a->at, d * a->row, &dynamic);
            EMIT("for (int k = 0; k < %u; k++) a_put%s(&%s[%s + k], 0, %s[%s + %uu + (uint)k]);\n",
                 a->n, emit_cell_is_int(e, a->at.cell) ? "i" : "", emit_cell(e, a->at.cell), slot,
                 words, reply, at);
            at += a->n;
        }
    }
    EMIT("}\n");
    for (uint32_t k = 0; k < i->result_count; k++)
        emit_set(e, i->result + k,
                 e->kinds[i->result + k] == EMIT_FLOAT ? "%s ? K_AS_FLOAT(%s[%s + %uu]) : 0.0f"
                                                       : "%s ? (int)%s[%s + %uu] : 0",
                 reply, words, reply, k);
}

bool emit_ask(struct emit *e, const struct ir_inst *i)
{
    if (!emit_is_grid(e) || !emit_can_ask(e, i))
        return false;
    const uint32_t number = emit_host_number(e, i), words = emit_reply_words(e, i, number);
    const char *reply = emit_text(e, "reply_%u", e->name_count++);
    e->asks = true;
    EMIT("const uint %s = a_reply(s, %uu);\nif (!%s) {\n", reply, words, reply);
    emit_record_as(e, i, number | ASL_ASKED);
    EMIT("a_wait(s);\n} else {\n");
    emit_record_as(e, i, number); /* what there is to say, in its place */
    EMIT("}\n");
    emit_reply_take(e, i, "s->args", reply);
    return true;
}

bool emit_grid_call(struct emit *e, const struct ir_inst *i)
{
    if (!emit_is_grid(e))
        return false;
    if (i->op != IR_CALL)
        return userdata(e, i);
    return attribute(e, i) || emit_image(e, i) || emit_image_answer(e, i) || raytype(e, i) ||
           table(e, i) || spaces(e, i) || emit_message(e, i);
}
