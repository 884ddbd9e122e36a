/* SPDX-License-Identifier: Apache-2.0 */
/* text_code.c: instructions in LLVM's assembly language. */
#include "module/text.h"

#include <string.h>

static const struct {
    const char *name;
    enum module_op op;
} words[] = {{"ret", OPCODE_RET},
             {"br", OPCODE_BR},
             {"switch", OPCODE_SWITCH},
             {"unreachable", OPCODE_UNREACHABLE},
             {"fneg", OPCODE_FNEG},
             {"add", OPCODE_ADD},
             {"sub", OPCODE_SUB},
             {"mul", OPCODE_MUL},
             {"udiv", OPCODE_UDIV},
             {"sdiv", OPCODE_SDIV},
             {"urem", OPCODE_UREM},
             {"srem", OPCODE_SREM},
             {"shl", OPCODE_SHL},
             {"lshr", OPCODE_LSHR},
             {"ashr", OPCODE_ASHR},
             {"and", OPCODE_AND},
             {"or", OPCODE_OR},
             {"xor", OPCODE_XOR},
             {"fadd", OPCODE_FADD},
             {"fsub", OPCODE_FSUB},
             {"fmul", OPCODE_FMUL},
             {"fdiv", OPCODE_FDIV},
             {"frem", OPCODE_FREM},
             {"trunc", OPCODE_TRUNC},
             {"zext", OPCODE_ZEXT},
             {"sext", OPCODE_SEXT},
             {"fptoui", OPCODE_FPTOUI},
             {"fptosi", OPCODE_FPTOSI},
             {"uitofp", OPCODE_UITOFP},
             {"sitofp", OPCODE_SITOFP},
             {"bitcast", OPCODE_BITCAST},
             {"addrspacecast", OPCODE_ADDRSPACECAST},
             {"icmp", OPCODE_ICMP},
             {"fcmp", OPCODE_FCMP},
             {"phi", OPCODE_PHI},
             {"select", OPCODE_SELECT},
             {"freeze", OPCODE_FREEZE},
             {"call", OPCODE_CALL},
             {"alloca", OPCODE_ALLOCA},
             {"load", OPCODE_LOAD},
             {"store", OPCODE_STORE},
             {"getelementptr", OPCODE_GEP},
             {"extractelement", OPCODE_EXTRACTELEMENT},
             {"insertelement", OPCODE_INSERTELEMENT},
             {"shufflevector", OPCODE_SHUFFLE},
             {"extractvalue", OPCODE_EXTRACTVALUE},
             {"insertvalue", OPCODE_INSERTVALUE}};

/* Attributes and the like, up to a type. */
static void skip_to_type(struct reader *r)
{
    while (!ll_at_type(r)) {
        bool name = r->w.kind == WORD_NAME;
        if (!name && r->w.kind != WORD_NUMBER && r->w.kind != WORD_STRING && !ll_is_sign(r, "="))
            ll_wrong(r, "a type");
        if (ll_is_name(r, "volatile") || ll_is_name(r, "atomic"))
            module_refuse(r->m, r->w.at, NULL, "'%.*s': shaders have no shared memory",
                          (int)r->w.len, r->w.text);
        ll_next(r);
        if (name && ll_is_sign(r, "("))
            ll_skip_brackets(r);
    }
}

static struct module_block *block_named(struct reader *r, const char *text, size_t len)
{
    struct name *n = ll_name_of(r, &r->blocks, text, len);
    if (!n->is) {
        struct module_block *b = ASL_NEW(r->c, struct module_block);
        b->name = asl_strndup(r->c, text, len < 80 ? len : 80);
        b->at = r->w.at;
        n->is = b;
    }
    return n->is;
}

static struct module_block *block_reference(struct reader *r)
{
    if (r->w.kind != WORD_LOCAL)
        ll_wrong(r, "the name of a block");
    struct module_block *b = block_named(r, r->w.text, r->w.len);
    ll_next(r);
    return b;
}

static struct module_block *label(struct reader *r)
{
    ll_want_name(r, "label");
    return block_reference(r);
}

static void target(struct reader *r, struct module_value *v, size_t *cap, struct module_block *b)
{
    v->to = asl_grow(r->c, v->to, v->to_count, cap, v->to_count + 1, sizeof *v->to);
    v->to[v->to_count++] = b;
}

static const struct module_type *int_type(struct reader *r, uint32_t bits)
{
    struct module_type *t = ll_type_new(r, MODULE_INT);
    t->bits = bits;
    return t;
}

static void branch(struct reader *r, struct module_value *v)
{
    size_t cap = 0, to = 0;
    if (ll_is_name(r, "label")) {
        target(r, v, &to, label(r));
        return;
    }
    ll_push(r, v, &cap, ll_typed_value(r));
    for (int i = 0; i < 2; i++) {
        ll_want(r, ",");
        target(r, v, &to, label(r));
    }
}

static void switch_(struct reader *r, struct module_value *v)
{
    size_t cap = 0, to = 0;
    ll_push(r, v, &cap, ll_typed_value(r));
    ll_want(r, ",");
    target(r, v, &to, label(r));
    ll_want(r, "[");
    while (!ll_take_sign(r, "]")) {
        ll_push(r, v, &cap, ll_typed_value(r));
        ll_want(r, ",");
        target(r, v, &to, label(r));
    }
}

static void phi(struct reader *r, struct module_value *v)
{
    size_t cap = 0, to = 0;
    skip_to_type(r);
    v->type = ll_type(r);
    do {
        ll_want(r, "[");
        ll_push(r, v, &cap, ll_value(r, v->type));
        ll_want(r, ",");
        target(r, v, &to, block_reference(r));
        ll_want(r, "]");
    } while (ll_take_sign(r, ","));
}

static void compare(struct reader *r, struct module_value *v)
{
    static const char *const ints[] = {"eq",  "ne",  "ugt", "uge", "ult",
                                       "ule", "sgt", "sge", "slt", "sle"};
    static const char *const floats[] = {"false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord",
                                         "uno",   "ueq", "ugt", "uge", "ult", "ule", "une", "true"};
    const char *const *names = v->op == OPCODE_ICMP ? ints : floats;
    size_t count = v->op == OPCODE_ICMP ? 10 : 16, k = count, cap = 0;
    while (r->w.kind == WORD_NAME && k == count) {
        for (k = 0; k < count && !ll_is_name(r, names[k]); k++)
            ;
        ll_next(r); /* a flag, or the predicate */
    }
    if (k == count)
        ll_wrong(r, "a predicate");
    v->predicate = (uint8_t)k;
    ll_push(r, v, &cap, ll_typed_value(r));
    ll_want(r, ",");
    ll_push(r, v, &cap, ll_value(r, v->ops[0]->type));
    const struct module_type *of = v->ops[0]->type, *bit = int_type(r, 1);
    if (of->kind == MODULE_VECTOR) {
        struct module_type *t = ll_type_new(r, MODULE_VECTOR);
        size_t none = 0;
        ll_type_push(r, t, &none, bit);
        t->count = of->count;
        bit = t;
    }
    v->type = bit;
}

/* Is the word a value's, or an attribute's before one? */
static bool at_value(const struct reader *r)
{
    static const char *const names[] = {"true",          "false",    "null",           "undef",
                                        "poison",        "none",     "getelementptr",  "bitcast",
                                        "addrspacecast", "inttoptr", "ptrtoint",       "splat",
                                        "blockaddress",  "asm",      "zeroinitializer"};
    if (r->w.kind != WORD_NAME)
        return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (ll_is_name(r, names[i]))
            return true;
    return false;
}

/* The least that is said. */
static void align_is(struct module_value *v, uint64_t align)
{
    if (align < 4 && align && (!v->align || align < v->align))
        v->align = (uint32_t)align;
    else if (!v->align)
        v->align = 4;
}

static void call(struct reader *r, struct module_value *v)
{
    size_t cap = 0;
    skip_to_type(r);
    const struct module_type *t = ll_type(r);
    v->of = t->kind == MODULE_FUNCTION ? t : NULL;
    v->type = v->of ? t->result : t;
    if (ll_is_name(r, "asm"))
        module_refuse(r->m, r->w.at, NULL, "inline assembly is not taken");
    if (r->w.kind != WORD_GLOBAL)
        module_refuse(r->m, r->w.at, NULL, "a call of what is known when the shader runs");
    v->callee = ll_global_named(r, ll_type_new(r, MODULE_POINTER));
    struct module_type *made = ll_type_new(r, MODULE_FUNCTION);
    size_t parameters = 0;
    made->result = v->type;
    ll_want(r, "(");
    if (!ll_is_sign(r, ")"))
        do {
            const struct module_type *of = ll_type(r);
            while (!at_value(r) && of->kind != MODULE_METADATA) {
                bool aligned = ll_is_name(r, "align");
                ll_next(r);
                if (aligned && r->w.kind == WORD_NUMBER)
                    align_is(v, ll_want_count(r));
                else if (ll_is_sign(r, "("))
                    ll_skip_brackets(r);
            }
            ll_type_push(r, made, &parameters, of);
            ll_push(r, v, &cap, ll_value(r, of));
        } while (ll_take_sign(r, ","));
    ll_want(r, ")");
    uint32_t line = r->behind;
    if (!v->of)
        v->of = made;
    while (r->w.at.line == line && (r->w.kind == WORD_GROUP || r->w.kind == WORD_NAME ||
                                    r->w.kind == WORD_STRING || ll_is_sign(r, "["))) {
        if (ll_is_sign(r, "["))
            module_refuse(r->m, r->w.at, NULL, "operand bundles are not taken");
        ll_next(r);
        ll_skip_group(r);
    }
}

static void indices(struct reader *r, struct module_value *v)
{
    uint32_t *list = ASL_ARRAY(r->c, uint32_t, 64);
    while (ll_is_sign(r, ",")) {
        struct cursor before = ll_cursor(r);
        ll_next(r);
        if (r->w.kind != WORD_NUMBER) { /* metadata behind the instruction */
            ll_go_back(r, &before);
            break;
        }
        uint64_t k = ll_want_count(r);
        if (v->index_count == 64 || k >= UINT32_MAX)
            ll_wrong(r, "fewer and smaller indices");
        list[v->index_count++] = (uint32_t)k;
    }
    v->indices = list;
    if (v->index_count == 0)
        ll_wrong(r, "an index");
}

static void shuffle_mask(struct reader *r, struct module_value *v)
{
    ll_want(r, ",");
    struct module_value *mask = ll_typed_value(r);
    const struct module_type *t = mask->type;
    if (t->kind != MODULE_VECTOR || t->of[0]->kind != MODULE_INT || t->of[0]->bits != 32 ||
        (mask->kind != VALUE_AGGREGATE && mask->kind != VALUE_ZERO))
        ll_wrong(r, "a constant mask");
    module_scalars(r->m, t, r->w.at);
    uint32_t *list = ASL_ARRAY(r->c, uint32_t, t->count);
    for (size_t k = 0; k < t->count && mask->kind == VALUE_AGGREGATE; k++)
        list[k] = mask->ops[k]->kind == VALUE_INT ? (uint32_t)mask->ops[k]->bits : 0;
    v->indices = list;
    v->index_count = (size_t)t->count;
    struct module_type *made = ll_type_new(r, MODULE_VECTOR);
    size_t none = 0;
    if (v->ops[0]->type->kind != MODULE_VECTOR)
        ll_wrong(r, "two vectors");
    ll_type_push(r, made, &none, v->ops[0]->type->of[0]);
    made->count = t->count;
    v->type = made;
}

/* type value, or type value, type value, as many as there are. */
static void operands(struct reader *r, struct module_value *v, size_t least, bool more)
{
    size_t cap = 0;
    ll_push(r, v, &cap, ll_typed_value(r));
    while (v->count < least || (more && ll_is_sign(r, ","))) {
        struct cursor before = ll_cursor(r);
        ll_want(r, ",");
        if (v->count >= least && !ll_at_type(r)) {
            ll_go_back(r, &before);
            return;
        }
        ll_push(r, v, &cap, ll_typed_value(r));
    }
}

static const struct module_type *part_type(struct reader *r, const struct module_value *v)
{
    const struct module_type *t = v->ops[0]->type;
    for (size_t i = 0; i < v->index_count && t; i++)
        t = module_element(t, v->indices[i]);
    if (!t || v->ops[0]->type->kind == MODULE_VECTOR)
        ll_wrong(r, "indices of a part");
    return t;
}

static void body_of(struct reader *r, struct module_value *v)
{
    size_t cap = 0;
    switch (v->op) {
    case OPCODE_RET:
        if (!ll_take_name(r, "void"))
            ll_push(r, v, &cap, ll_typed_value(r));
        return;
    case OPCODE_BR:
        branch(r, v);
        return;
    case OPCODE_SWITCH:
        switch_(r, v);
        return;
    case OPCODE_UNREACHABLE:
        return;
    case OPCODE_ICMP:
    case OPCODE_FCMP:
        compare(r, v);
        return;
    case OPCODE_PHI:
        phi(r, v);
        return;
    case OPCODE_CALL:
        call(r, v);
        return;
    case OPCODE_SELECT:
        skip_to_type(r);
        operands(r, v, 3, false);
        v->type = v->ops[1]->type;
        return;
    case OPCODE_ALLOCA:
        skip_to_type(r);
        v->of = ll_type(r);
        v->type = ll_type_new(r, MODULE_POINTER);
        if (ll_is_sign(r, ",")) {
            struct cursor before = ll_cursor(r);
            ll_next(r);
            if (ll_at_type(r))
                ll_push(r, v, &cap, ll_typed_value(r));
            else
                ll_go_back(r, &before);
        }
        return;
    case OPCODE_LOAD:
        skip_to_type(r);
        v->type = ll_type(r);
        ll_want(r, ",");
        ll_push(r, v, &cap, ll_typed_value(r));
        return;
    case OPCODE_STORE:
        skip_to_type(r);
        operands(r, v, 2, false);
        return;
    case OPCODE_GEP:
        skip_to_type(r);
        v->of = ll_type(r);
        ll_want(r, ",");
        operands(r, v, 1, true);
        v->type = v->ops[0]->type;
        return;
    case OPCODE_EXTRACTELEMENT:
        operands(r, v, 2, false);
        if (v->ops[0]->type->kind != MODULE_VECTOR)
            ll_wrong(r, "a vector");
        v->type = v->ops[0]->type->of[0];
        return;
    case OPCODE_INSERTELEMENT:
        operands(r, v, 3, false);
        v->type = v->ops[0]->type;
        return;
    case OPCODE_SHUFFLE:
        operands(r, v, 2, false);
        shuffle_mask(r, v);
        return;
    case OPCODE_EXTRACTVALUE:
    case OPCODE_INSERTVALUE:
        operands(r, v, v->op == OPCODE_INSERTVALUE ? 2 : 1, false);
        indices(r, v);
        v->type = v->op == OPCODE_INSERTVALUE ? v->ops[0]->type : part_type(r, v);
        if (v->op == OPCODE_INSERTVALUE && !module_same_type(part_type(r, v), v->ops[1]->type))
            ll_wrong(r, "a part of that type");
        return;
    default:
        break;
    }
    skip_to_type(r);
    ll_push(r, v, &cap, ll_typed_value(r));
    v->type = v->ops[0]->type;
    if (v->op >= OPCODE_TRUNC && v->op <= OPCODE_ADDRSPACECAST) {
        ll_want_name(r, "to");
        v->type = ll_type(r);
    } else if (v->op != OPCODE_FNEG && v->op != OPCODE_FREEZE) {
        ll_want(r, ",");
        ll_push(r, v, &cap, ll_value(r, v->type));
    }
}

/* What follows an instruction and means nothing: ", align 4, !dbg !5". */
static void skip_rest(struct reader *r, struct module_value *v)
{
    while (ll_take_sign(r, ",")) {
        if (r->w.kind == WORD_META) {
            ll_next(r);
            if (r->w.kind == WORD_META)
                ll_next(r);
            ll_skip_group(r);
        } else if (ll_take_name(r, "align")) {
            align_is(v, ll_want_count(r));
        } else if (ll_take_name(r, "addrspace")) {
            ll_skip_group(r);
        } else {
            ll_wrong(r, "the end of the instruction");
        }
    }
}

void ll_block_begin(struct reader *r, const char *text, size_t len)
{
    struct module_function *f = r->f;
    struct module_block *b = block_named(r, text, len);
    if (b->defined)
        module_refuse(r->m, r->w.at, NULL, "a second block of the name %s", b->name);
    b->defined = true;
    b->at = r->w.at;
    f->blocks = asl_grow(r->c, f->blocks, f->block_count, &f->block_cap, f->block_count + 1,
                         sizeof *f->blocks);
    f->blocks[f->block_count++] = b;
    r->block = b;
}

/* The number that a name is, else UINT64_MAX. */
static uint64_t number_of(const char *text, size_t len)
{
    uint64_t n = 0;
    for (size_t i = 0; i < len; i++) {
        if (!ll_digit(text[i]) || n > UINT32_MAX)
            return UINT64_MAX;
        n = n * 10 + (uint64_t)(text[i] - '0');
    }
    return len ? n : UINT64_MAX;
}

void ll_count_name(struct reader *r, const char *text, size_t len)
{
    uint64_t n = number_of(text, len);
    if (n != UINT64_MAX)
        r->unnamed = n + 1;
}

const char *ll_unnamed(struct reader *r)
{
    return asl_sprintf(r->c, "%llu", (unsigned long long)r->unnamed++);
}

struct module_value *ll_define_local(struct reader *r, const char *text, size_t len,
                                     const struct module_value *v)
{
    struct name *n = ll_name_of(r, &r->values, text, len);
    struct module_value *known = n->is;
    if (known && known->kind != VALUE_UNKNOWN)
        module_refuse(r->m, v->at, NULL, "%%%.*s is defined a second time",
                      (int)(len < 80 ? len : 80), text);
    if (known && !module_same_type(known->type, v->type))
        module_refuse(r->m, v->at, NULL, "%s is of type %s, and was used as %s", known->name,
                      module_type_text(r->c, v->type), module_type_text(r->c, known->type));
    struct module_value *kept = known ? known : ASL_NEW(r->c, struct module_value);
    *kept = *v;
    kept->name = asl_sprintf(r->c, "%%%.*s", (int)(len < 80 ? len : 80), text);
    n->is = kept;
    return kept;
}

void ll_instruction(struct reader *r)
{
    struct word result = {0};
    if (r->w.kind == WORD_LOCAL) {
        result = r->w;
        ll_next(r);
        ll_want(r, "=");
    }
    while (ll_is_name(r, "tail") || ll_is_name(r, "musttail") || ll_is_name(r, "notail"))
        ll_next(r);
    size_t k = 0;
    while (k < sizeof words / sizeof *words && !ll_is_name(r, words[k].name))
        k++;
    if (k == sizeof words / sizeof *words)
        module_refuse(r->m, r->w.at, NULL, "'%.*s': shaders do not have this instruction",
                      (int)(r->w.len < 60 ? r->w.len : 60), r->w.text);
    if (!r->block) {
        const char *text = ll_unnamed(r);
        ll_block_begin(r, text, strlen(text));
    }
    struct module_value v = *ll_value_new(r, VALUE_INSTRUCTION, ll_type_new(r, MODULE_VOID));
    v.op = (uint8_t)words[k].op;
    ll_next(r);
    body_of(r, &v);
    skip_rest(r, &v);
    v.block = r->block;
    struct module_value *kept;
    if (v.type->kind == MODULE_VOID) {
        if (result.text)
            module_refuse(r->m, result.at, NULL, "%%%.*s names nothing", (int)result.len,
                          result.text);
        kept = ASL_NEW(r->c, struct module_value);
        *kept = v;
        kept->name = words[k].name;
    } else if (result.text) {
        ll_count_name(r, result.text, result.len);
        kept = ll_define_local(r, result.text, result.len, &v);
    } else {
        const char *text = ll_unnamed(r);
        kept = ll_define_local(r, text, strlen(text), &v);
    }
    struct module_block *b = r->block;
    kept->order = (uint32_t)b->count;
    kept->id = r->f->ids++;
    b->code = asl_grow(r->c, b->code, b->count, &b->cap, b->count + 1, sizeof *b->code);
    b->code[b->count++] = kept;
    if (v.op <= OPCODE_UNREACHABLE)
        r->block = NULL;
}
