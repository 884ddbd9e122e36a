/* SPDX-License-Identifier: Apache-2.0 */
/* emit_llvm.c: IR to the text of LLVM IR, in what versions 15 and 19 share (opaque pointers). It is
 * the wide text of emit_c.c again: values are rows of lanes, every region has a mask of the lanes
 * that are in it. Calls go to device/linked/shade_library.c, which is linked to it; masks and cells
 * that change are stack slots, which LLVM makes registers of. */
#include "emit_llvm.h"

#include <string.h>

/* ---- operations ----------------------------------------------------------------------------- */

/* kind: f, i: one instruction of that name; F, I: a function of the library on floats, ints; c, d:
 * a comparison of floats, ints. */
static const struct {
    uint8_t op;
    char kind;
    const char *name;
} ops[] = {
    {IR_IADD, 'i', "add"},        {IR_ISUB, 'i', "sub"},      {IR_IMUL, 'i', "mul"},
    {IR_IAND, 'i', "and"},        {IR_IXOR, 'i', "xor"},      {IR_IOR, 'i', "or"},
    {IR_IDIV, 'I', "al_idiv"},    {IR_IMOD, 'I', "al_imod"},  {IR_ISHL, 'I', "al_ishl"},
    {IR_ISHR, 'I', "al_ishr"},    {IR_ILT, 'd', "slt"},       {IR_ILE, 'd', "sle"},
    {IR_IGT, 'd', "sgt"},         {IR_IGE, 'd', "sge"},       {IR_IEQ, 'd', "eq"},
    {IR_INE, 'd', "ne"},          {IR_SEQ, 'd', "eq"},        {IR_FADD, 'f', "fadd"},
    {IR_FSUB, 'f', "fsub"},       {IR_FMUL, 'f', "fmul"},     {IR_FDIV, 'F', "al_fdiv"},
    {IR_FREM, 'F', "al_fmod"},    {IR_FLT, 'c', "olt"},       {IR_FLE, 'c', "ole"},
    {IR_FGT, 'c', "ogt"},         {IR_FGE, 'c', "oge"},       {IR_FEQ, 'c', "oeq"},
    {IR_FNE, 'c', "une"},         {IR_FABS, 'F', "al_abs"},   {IR_FSQRT, 'F', "al_fsqrt"},
    {IR_FFLOOR, 'F', "al_floor"}, {IR_FCEIL, 'F', "al_ceil"}, {IR_FROUND, 'F', "al_round"},
    {IR_FTRUNC, 'F', "al_trunc"},
};

static bool operation(struct llvm *l, const struct ir_inst *i)
{
    size_t n = 0;
    while (n < sizeof ops / sizeof *ops && ops[n].op != i->op)
        n++;
    if (n == sizeof ops / sizeof *ops)
        return false;
    char kind = ops[n].kind;
    bool floats = strchr("fFc", kind) != NULL;
    if (kind == 'i' && l->e.kinds[i->result] == EMIT_CONDITION) {
        ll_set(l, i->result,
               ll_let(l, "%s %s %s, %s", ops[n].name, l->b, ll_condition(l, i->operands[0]),
                      ll_condition(l, i->operands[1])));
        return true;
    }
    const char *x[2] = {0};
    for (uint32_t k = 0; k < i->operand_count && k < 2; k++)
        x[k] = floats ? ll_float(l, i->operands[k]) : ll_int(l, i->operands[k]);
    const char *type = floats ? l->f : l->i, *r;
    if (kind == 'F' || kind == 'I')
        r = ll_call(l, type, ops[n].name, i->operand_count, x);
    else if (kind == 'c' || kind == 'd')
        r = ll_let(l, "%s %s %s %s, %s", floats ? "fcmp" : "icmp", ops[n].name, type, x[0], x[1]);
    else
        r = ll_let(l, "%s%s %s %s, %s", ops[n].name, floats ? l->flags : "", type, x[0], x[1]);
    ll_set(l, i->result, r);
    return true;
}

static bool operation_of_one(struct llvm *l, const struct ir_inst *i)
{
    const char *magnitude;
    switch (i->op) {
    case IR_INEG:
        ll_set(l, i->result,
               ll_let(l, "sub %s zeroinitializer, %s", l->i, ll_int(l, i->operands[0])));
        return true;
    case IR_ICOMPL:
        ll_set(l, i->result,
               ll_let(l, "xor %s %s, %s", l->i, ll_int(l, i->operands[0]), ll_int_splat(l, -1)));
        return true;
    case IR_FNEG:
        ll_set(l, i->result, ll_let(l, "fneg %s %s", l->f, ll_float(l, i->operands[0])));
        return true;
    case IR_FISNAN: /* by bits: modes that assume there is none do not decide it */
    case IR_FISINF:
        magnitude = ll_let(l, "and %s %s, %s", l->i, ll_float_bits(l, ll_float(l, i->operands[0])),
                           ll_int_splat(l, 0x7FFFFFFF));
        ll_set(l, i->result,
               ll_let(l, "icmp %s %s %s, %s", i->op == IR_FISNAN ? "ugt" : "eq", l->i, magnitude,
                      ll_int_splat(l, 0x7F800000)));
        return true;
    case IR_I2F:
        ll_set(l, i->result,
               ll_let(l, "sitofp %s %s to %s", l->i, ll_int(l, i->operands[0]), l->f));
        return true;
    case IR_F2I:
        ll_declare(l, l->i, "al_f2i", l->f);
        ll_set(l, i->result,
               ll_let(l, "call %s @al_f2i(%s %s)", l->i, l->f, ll_float(l, i->operands[0])));
        return true;
    case IR_SBOOL:
    case IR_CBOOL:
        ll_set(l, i->result,
               ll_let(l, "icmp ne %s %s, %s", l->i, ll_int(l, i->operands[0]),
                      ll_int_splat(l, i->op == IR_SBOOL ? (int32_t)emit_string_id(&l->e, "") : 0)));
        return true;
    case IR_SELECT: {
        const char *c = ll_condition(l, i->operands[0]);
        bool floats = l->e.kinds[i->result] == EMIT_FLOAT;
        const char *t = floats ? l->f : l->i;
        const char *a = floats ? ll_float(l, i->operands[1]) : ll_int(l, i->operands[1]);
        const char *b = floats ? ll_float(l, i->operands[2]) : ll_int(l, i->operands[2]);
        ll_set(l, i->result, ll_let(l, "select %s %s, %s %s, %s %s", l->b, c, t, a, t, b));
        return true;
    }
    default:
        return false;
    }
}

/* ---- instructions --------------------------------------------------------------------------- */

static const char *point_word(struct llvm *l, uint32_t w, const char *type)
{
    l->e.point_words[w] = true;
    if (ll_is_surface(l))
        return ll_surface_point(l, w, type);
    return ll_load(l, type,
                   ll_let(l, "getelementptr i8, ptr %%run, i64 %u", RUN_POINT + w * 4 * l->lanes));
}

static const char *argument_word(struct llvm *l, uint32_t k)
{
    if (ll_is_surface(l))
        return ll_surface_argument(l, k, l->i);
    const char *args =
        ll_load(l, "ptr", ll_let(l, "getelementptr i8, ptr %%run, i64 %d", RUN_ARGS));
    const char *x = ll_load(l, "i32", ll_let(l, "getelementptr i32, ptr %s, i64 %u", args, k));
    const char *one = ll_let(l, "insertelement %s poison, i32 %s, i32 0", l->i, x);
    return ll_let(l, "shufflevector %s %s, %s poison, <%u x i32> zeroinitializer", l->i, one, l->i,
                  l->lanes);
}

static void argument(struct llvm *l, ir_value v, uint32_t k)
{
    const char *x = argument_word(l, k);
    if (l->e.kinds[v] == EMIT_CONDITION)
        x = ll_let(l, "icmp ne %s %s, zeroinitializer", l->i, x);
    ll_set_bits(l, v, x);
}

static void inst(struct llvm *l, const struct ir_inst *i)
{
    static const uint8_t state_words[IR_STATE_COUNT] = {62, 60, 61, 59, 48, 49, 50};
    if (emit_is_uniform(&l->e, i)) {
        uint32_t word;
        for (ir_value v = i->result; v < i->result + i->result_count; v++)
            if (emit_uniform_word(&l->e, v, &word))
                argument(l, v, l->e.out->uniform_first + word);
        return;
    }
    switch (i->op) {
    case IR_CONST:
        return;
    case IR_ARG:
        argument(l, i->result, i->u.number);
        return;
    case IR_STATE:
        ll_set(l, i->result,
               point_word(l, state_words[i->u.number],
                          l->e.kinds[i->result] == EMIT_FLOAT ? l->f : l->i));
        return;
    case IR_LOAD:
        ll_set(l, i->result,
               ll_cell_load(l, i, &i->u.mem.from, 0,
                            l->e.kinds[i->result] == EMIT_FLOAT ? l->f : l->i));
        return;
    case IR_STORE: {
        ir_value v = i->operands[i->operand_count - 1];
        bool is_float = l->e.layer->types[v] == IR_F;
        ll_cell_store(l, i, &i->u.mem.to, 0, is_float ? l->f : l->i,
                      is_float ? ll_float(l, v) : ll_int(l, v));
        return;
    }
    case IR_COPY:
        ll_copy(l, i);
        return;
    case IR_ZERO:
        ll_zero(l, i);
        return;
    case IR_PULL:
        if (ll_is_surface(l)) {
            L("call void @layer_%u%s(ptr %%run, ptr %%st)\n", i->u.number, l->e.suffix);
            return;
        }
        L("call void @layer_%u(ptr %%run, ptr %%st, %s %s)\n", i->u.number, l->b, ll_mask_now(l));
        return;
    case IR_IF:
    case IR_LOOP:
    case IR_BLOCK:
    case IR_BREAK:
    case IR_CONTINUE:
    case IR_RETURN:
        ll_control(l, i);
        return;
    case IR_INDEX:
        ll_index(l, i);
        return;
    default:
        break;
    }
    if (operation(l, i) || operation_of_one(l, i) || (i->op == IR_CALL && ll_device_call(l, i)) ||
        (ll_is_surface(l) && (ll_surface_inst(l, i) || ll_surface_question(l, i))))
        return;
    if (ll_is_surface(l))
        emit_fail(&l->e, STATUS_UNSUPPORTED, i->at, "%s() cannot run on this device",
                  emit_call_name(i));
    ll_host(l, i);
}

void ll_block(struct llvm *l, const struct ir_block *b)
{
    for (const struct ir_inst *i = b->first; i; i = i->next)
        inst(l, i);
}

/* ---- layers --------------------------------------------------------------------------------- */

/* The text of a function whose body stands in e.body: its stack slots come first. */
static void function_close(struct llvm *l, struct text *to, const char *head)
{
    text_printf(to, "%s {\nentry:\n", head);
    if (l->slots.data)
        text_append(to, l->slots.data, l->slots.len);
    if (l->e.body.data)
        text_append(to, l->e.body.data, l->e.body.len);
    text_puts(to, "}\n");
    if (l->slots.failed || l->e.body.failed)
        to->failed = true;
    text_free(&l->slots);
    text_free(&l->e.body);
    l->slots = l->e.body = (struct text){0};
}

static uint32_t ran_row(uint32_t layer) { return layer; } /* flags stand before the cells */

static void cells_declare(struct llvm *l, uint32_t layer)
{
    for (uint32_t c = 0; c < l->e.code->cell_count; c++) {
        const struct ir_cell *cell = &l->e.code->cells[c];
        if (cell->scope == IR_LOCAL && cell->layer == layer && l->e.homes[c])
            text_printf(&l->slots, "%%c%u = alloca [%u x %s], align %d\n", c,
                        ir_cell_slots(cell) ? ir_cell_slots(cell) : 1, l->i, ll_row_align(l));
    }
}

/* Runs once a point. */
static void layer_one(struct llvm *l, uint32_t index, struct text *to)
{
    struct emit *e = &l->e;
    struct ir_layer *y = emit_layer_begin(e, index);
    cells_declare(l, index);
    const char *flag = ll_row_at(l, "%st", ran_row(index));
    unsigned run = ll_fresh_label(l), none = ll_fresh_label(l);
    ll_branch(l, ll_let(l, "icmp eq i32 %s, 0", ll_load(l, "i32", flag)), run, none);
    ll_label(l, none);
    L("ret void\n");
    ll_label(l, run);
    ll_store(l, "i32", "1", flag);
    ll_region(l, &y->body, 0);
    L("ret void\n");
    function_close(
        l, to,
        TEXT("define internal void @layer_%u%s(ptr %%run, ptr noalias %%st)", index, e->suffix));
}

static void layer(struct llvm *l, uint32_t index, struct text *to)
{
    struct emit *e = &l->e;
    struct ir_layer *y = emit_layer_begin(e, index);
    text_printf(&l->slots, "%%m0 = alloca %s, align 4\n%%off = alloca %s, align 4\n", l->b, l->b);
    cells_declare(l, index);
    /* Lanes in which it ran already stay out. */
    const char *flag = ll_let(l, "getelementptr %s, ptr %%st, i64 %u", l->i, ran_row(index));
    const char *ran = ll_let(l, "trunc %s %s to %s", l->i, ll_load(l, l->i, flag), l->b);
    const char *m = ll_mask_and(l, "%mask", ll_mask_not(l, ran));
    ll_store(l, l->b, m, "%m0");
    ll_store(l, l->b, "zeroinitializer", "%off");
    unsigned run = ll_fresh_label(l), none = ll_fresh_label(l);
    ll_branch(l, ll_mask_any(l, m), run, none);
    ll_label(l, none);
    L("ret void\n");
    ll_label(l, run);
    ll_store(l, l->i, ll_let(l, "sext %s %s to %s", l->b, ll_mask_or(l, ran, m), l->i), flag);
    ll_region(l, &y->body, 0);
    L("ret void\n");
    function_close(l, to,
                   TEXT("define internal void @layer_%u(ptr %%run, ptr noalias %%st, %s %%mask)",
                        index, l->b));
}

static bool uniform_write(struct emit *e, const struct ir_inst *i)
{
    struct llvm *l = (struct llvm *)e; /* whose first member it is */
    const size_t begin = e->body.len;
    if (i->op != IR_CALL)
        inst(l, i);
    else if (!ll_device_call(l, i)) {
        e->body.len = begin;
        return false;
    }
    return true;
}

static void uniform_keep(struct emit *e, ir_value v, uint32_t k)
{
    struct llvm *l = (struct llvm *)e;
    const char *x = ll_let(l, "extractelement %s %s, i32 0", l->i, ll_int(l, v));
    ll_store(l, "i32", x, ll_let(l, "getelementptr i32, ptr %%out, i64 %u", k));
}

/* As a_uniform of emit_c.c: a function for each layer, as values are numbered in each of them. */
static void uniform_write_all(struct llvm *l, struct text *to)
{
    static const struct emit_uniform by = {uniform_write, uniform_keep};
    struct emit *e = &l->e;
    const uint32_t layers = e->opt->uniform ? e->code->layer_count : 0;
    e->uniforms = emit_alloc(e, layers + 1u, sizeof *e->uniforms);
    for (uint32_t k = 0; k < layers; k++) {
        emit_layer_begin(e, k);
        emit_uniform_layer(e, &by);
        L("ret void\n");
        function_close(l, to, TEXT("define internal void @uniform_%u(ptr %%run, ptr %%out)", k));
    }
    for (uint32_t k = 0; k < layers; k++)
        L("call void @uniform_%u(ptr %%run, ptr %%out)\n", k);
    L("ret void\n");
    function_close(l, to, "define void @al_uniform(ptr %run, ptr %out)");
    if (!layers)
        e->uniforms = NULL;
}

/* Points start with their globals; Ci with nothing. */
static void globals_write(struct llvm *l)
{
    static const struct {
        uint8_t word, dual;
    } from[GV_COUNT] = {
        [GV_P] = {0, 1},   [GV_I] = {9, 1},     [GV_N] = {18, 1},    [GV_Ps] = {27, 1},
        [GV_Ng] = {36, 0}, [GV_dPdu] = {39, 0}, [GV_dPdv] = {42, 0}, [GV_dPdtime] = {45, 0},
        [GV_u] = {51, 1},  [GV_v] = {54, 1},    [GV_time] = {57, 0}, [GV_dtime] = {58, 0}};
    for (int g = 0; g < GV_COUNT; g++) {
        uint32_t cell = l->e.code->global_cell[g];
        if (cell >= l->e.code->cell_count || !l->e.used[cell])
            continue;
        const struct ir_cell *c = &l->e.code->cells[cell];
        for (uint32_t k = 0; k < ir_cell_slots(c); k++) {
            bool given = g != GV_Ci && (k < c->n || from[g].dual);
            ll_store(l, l->i, given ? point_word(l, from[g].word + k, l->i) : "zeroinitializer",
                     ll_row_at(l, ll_cell_base(l, cell), k));
        }
    }
}

static void shade_write(struct llvm *l, struct text *to)
{
    struct emit *e = &l->e;
    text_printf(&l->slots, "%%st = alloca [%u x %s], align 64\n", l->rows ? l->rows : 1, l->i);
    for (uint32_t k = 0; k < e->code->layer_count; k++)
        ll_store(l, l->i, "zeroinitializer",
                 ll_let(l, "getelementptr %s, ptr %%st, i64 %u", l->i, ran_row(k)));
    globals_write(l);
    const char *mask = ll_let(l, "trunc %s %%ints to %s", l->i, l->b);
    for (uint32_t k = 0; k < e->code->entry_count; k++)
        L("call void @layer_%u(ptr %%run, ptr %%st, %s %s)\n", e->code->entries[k], l->b, mask);
    uint32_t words = 0, at = 0;
    for (size_t k = 0; e->opt->outputs && e->opt->outputs[k]; k++) {
        uint32_t cell = 0;
        words += emit_output_cell(e, e->opt->outputs[k], &cell)->n;
    }
    text_printf(&l->slots, "%%rows = alloca [%u x %s], align 64\n", words ? words : 1, l->i);
    ll_declare(l, "void", "al_put_rows", "ptr, i32, i32, ptr");
    for (size_t k = 0; e->opt->outputs && e->opt->outputs[k]; k++) {
        uint32_t cell = 0;
        const struct ir_cell *c = emit_output_cell(e, e->opt->outputs[k], &cell);
        for (uint32_t j = 0; j < c->n; j++)
            ll_store(l, l->i, ll_load(l, l->i, ll_row_at(l, ll_cell_base(l, cell), j)),
                     ll_row_at(l, "%rows", at++));
    }
    L("call void @al_put_rows(ptr %%out, i32 %%n, i32 %u, ptr %%rows)\n", words);
    L("ret void\n");
    e->out->out_words = words;
    function_close(l, to,
                   TEXT("define void @al_shade(ptr %%run, %s %%ints, i32 %%n, ptr %%out)", l->i));
}

/* Globals and layers, then what the renderer asks for: words of outputs, or Ci walked. */
static void surface_write(struct llvm *l, struct text *to)
{
    struct emit *e = &l->e;
    for (uint32_t k = 0; k < e->code->layer_count; k++)
        ll_store(l, "i32", "0", ll_row_at(l, "%st", ran_row(k)));
    globals_write(l);
    ll_surface_start(l);
    for (uint32_t k = 0; k < e->code->entry_count; k++)
        L("call void @layer_%u%s(ptr %%run, ptr %%st)\n", e->code->entries[k], e->suffix);
    uint32_t at = 0;
    for (size_t k = 0; e->opt->outputs && e->opt->outputs[k]; k++) {
        uint32_t cell = 0;
        const struct ir_cell *c = emit_output_cell(e, e->opt->outputs[k], &cell);
        for (uint32_t j = 0; j < c->n; j++)
            ll_store(l, "i32", ll_load(l, "i32", ll_row_at(l, ll_cell_base(l, cell), j)),
                     ll_row_at(l, "%out", at++));
    }
    e->out->out_words = at;
    if (!at)
        ll_surface_walk(l);
    L("ret void\n");
    text_printf(&l->slots, "%%st = alloca [%u x i32], align 4\n", l->rows ? l->rows : 1);
    function_close(l, to, TEXT("define internal void @surface%s(ptr %%run, ptr %%out)", e->suffix));
}

/* What device/linked/shade_code.c asks of a group. */
static void entries_write(const struct llvm *l, struct text *out)
{
    uint64_t used = 0;
    for (uint32_t w = 0; w < EMIT_POINT_WORDS; w++)
        used |= (uint64_t)l->e.point_words[w] << w;
    text_printf(out, "@al_point_used = constant i64 %llu\n", (unsigned long long)used);
    text_printf(out, "define i32 @al_out_words() {\nret i32 %zu\n}\n", l->e.out->out_words);
}

static void module_write(struct llvm *l, struct text *out)
{
    struct emit *e = &l->e;
    struct text functions = {0};
    emit_begin(e);
    l->cell_at = emit_alloc(e, e->code->cell_count + 1, sizeof *l->cell_at);
    l->rows = e->code->layer_count;
    for (uint32_t c = 0; c < e->code->cell_count; c++)
        if (e->code->cells[c].scope != IR_LOCAL) {
            l->cell_at[c] = l->rows;
            l->rows += ir_cell_slots(&e->code->cells[c]);
        }
    ll_messages_declare(l);
    if (!ll_is_surface(l))
        uniform_write_all(l, &functions);
    for (uint32_t k = 0; k < e->code->layer_count; k++)
        (ll_is_surface(l) ? layer_one : layer)(l, k, &functions);
    (ll_is_surface(l) ? surface_write : shade_write)(l, &functions);
    if (!ll_is_surface(l))
        entries_write(l, out);
    if (l->declared == &l->own_declared && l->declared->data)
        text_append(out, l->declared->data, l->declared->len);
    if (functions.data)
        text_append(out, functions.data, functions.len);
    bool failed = functions.failed || l->declared->failed || out->failed;
    text_free(&functions);
    if (failed)
        emit_fail(e, STATUS_MEMORY, (struct src_pos){0}, "out of memory");
}

enum status asl_emit_llvm(struct arena *a, const struct asl_code *code,
                          const struct asl_emit_options *opt, struct text *text,
                          struct asl_emitted *out, struct error *err)
{
    struct asl_emitted emitted = {0};
    struct llvm l = {
        .e = {.code = code,
              .opt = opt,
              .arena = a,
              .err = err,
              .out = &emitted,
              .suffix = opt->suffix ? opt->suffix : ""},
        .lanes = opt->surface ? 1 : opt->lanes,
        .flags = opt->float_flags ? opt->float_flags : "",
    };
    l.declared = opt->declared ? opt->declared : &l.own_declared;
    if (!setjmp(l.e.fail)) {
        bool one = l.lanes == 1;
        l.f = one ? "float" : emit_text(&l.e, "<%u x float>", l.lanes);
        l.i = one ? "i32" : emit_text(&l.e, "<%u x i32>", l.lanes);
        l.b = one ? "i1" : emit_text(&l.e, "<%u x i1>", l.lanes);
        module_write(&l, text);
        *out = emitted;
    }
    text_free(&l.slots);
    text_free(&l.own_declared);
    text_free(&l.visits);
    text_free(&l.cases);
    text_free(&l.resets);
    text_free(&l.e.body);
    return l.e.status;
}
