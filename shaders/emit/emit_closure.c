/* SPDX-License-Identifier: Apache-2.0 */
/* emit_closure.c: closures in a renderer's kernel, which has no heap. Each instruction that makes a
 * component, a sum or a product owns a node in the point's state; a closure is the number of one, 0
 * the empty closure. An instruction outside loops runs at most once a point: its node is a few
 * variables. One in a loop has EMIT_NODE_COPIES of them, taken in turn. a_lobes walks Ci from left
 * to right and hands each component to a function of the renderer's (device/surface/closure.h):
 *
 *   k_closure_NAME_COUNT(c, weight, arguments...)    COUNT fixed arguments: floats, ints, k_vec3,
 *                                                    strings as "is it beckmann", closures by
 *                                                    number
 */
#include "emit.h"

#include <string.h>

/* ---- nodes ---------------------------------------------------------------------------------- */

struct node {
    struct emit *e;
    uint32_t number, fields;
    bool many;
};

static struct node node_begin(struct emit *e)
{
    struct node n = {.e = e, .number = e->node_count++, .many = e->loop_depth > 0};
    text_printf(&e->visits, "case %u: {\n", n.number);
    if (n.many) {
        text_printf(&e->nodes, "uint n%u_used;\n", n.number);
        text_printf(&e->resets, "s->n%u_used = 0u;\n", n.number);
        e->node_loops++;
    }
    return n;
}

/* Keeps a value in the node: what a_lobes reads it by. Constants are not kept. */
static const char *node_keep(struct node *n, ir_value v)
{
    struct emit *e = n->e;
    bool is_float = e->layer->types[v] == IR_F;
    const char *value = is_float ? emit_float(e, v) : emit_int(e, v);
    if (e->defs[v] && e->defs[v]->op == IR_CONST)
        return value;
    uint32_t f = n->fields++;
    text_printf(&e->nodes, "%s n%u_%u%s;\n", is_float ? "af" : "ai", n->number, f,
                n->many ? emit_text(e, "[%d]", EMIT_NODE_COPIES) : "");
    EMIT("s->n%u_%u%s = %s;\n", n->number, f, n->many ? "[at]" : "", value);
    return emit_text(e, "s->n%u_%u%s", n->number, f, n->many ? "[at]" : "");
}

/* Opens the block in which the node's values are stored: *id becomes the closure's number. */
static void node_store_begin(struct node *n, ir_value result, const char *unless)
{
    struct emit *e = n->e;
    EMIT("ai v%u = %s;\n", result, unless ? unless : "0");
    if (unless)
        EMIT("if (v%u < 0) {\n", result);
    else
        EMIT("{\n");
    if (!n->many) {
        EMIT("v%u = %u;\n", result, 1 + n->number * EMIT_NODE_COPIES);
        return;
    }
    EMIT("uint at = s->n%u_used < %uu ? s->n%u_used++ : 0u;\n", n->number, EMIT_NODE_COPIES,
         n->number);
    EMIT("if (s->n%u_used == %uu) s->failed = A_TOO_MANY_CLOSURES;\n", n->number, EMIT_NODE_COPIES);
    EMIT("v%u = %u + (int)at;\n", result, 1 + n->number * EMIT_NODE_COPIES);
}

/* ---- components ----------------------------------------------------------------------------- */

const char *const emit_pair_names[EMIT_PAIR_COUNT] = {
    "specular",  "specular_tint",   "anisotropy",   "rotation",   "sheen", "sheen_tint",
    "clearcoat", "clearcoat_gloss", "transmission", "subsurface", "ior"};

static const char *argument(struct node *n, const struct ir_inst *i, const struct ir_arg *a)
{
    struct emit *e = n->e;
    ir_value v = i->operands[a->first];
    if (a->is_place)
        emit_fail(e, STATUS_UNSUPPORTED, i->at,
                  "%s() of what is no value cannot run on this device", i->u.call->name);
    if (a->type.base == ASL_STRING) {
        const char *s = emit_constant_string(e, v);
        if (!s || strcmp(s, "beckmann") == 0)
            emit_component(e, "=beckmann");
        if (s)
            return strcmp(s, "beckmann") == 0 ? "1" : "0";
        return emit_text(e, "(%s == %u)", node_keep(n, v), emit_string_id(e, "beckmann"));
    }
    if (a->n != 3)
        return node_keep(n, v);
    const char *x = node_keep(n, v), *y = node_keep(n, i->operands[a->first + 1]);
    return emit_text(e, "v3(%s, %s, %s)", x, y, node_keep(n, i->operands[a->first + 2]));
}

/* Names with values behind the fixed arguments; only principled's mean anything. */
static void pairs(struct node *n, const struct ir_inst *i)
{
    struct emit *e = n->e;
    const struct ir_call *c = i->u.call;
    text_puts(&e->visits, "struct k_principled_pairs pairs = k_principled_defaults();\n");
    for (uint32_t k = c->fixed; k + 1 < c->arg_count; k += 2) {
        const char *key = emit_constant_string(e, i->operands[c->args[k].first]);
        if (!key)
            emit_fail(
                e, STATUS_UNSUPPORTED, i->at,
                "a name that is only known at run time cannot be given to %s() on this device",
                c->name);
        const struct ir_arg *a = &c->args[k + 1];
        for (size_t p = 0; p < EMIT_PAIR_COUNT; p++)
            if (strcmp(key, emit_pair_names[p]) == 0 && a->n == 1 &&
                (a->type.base == ASL_FLOAT || a->type.base == ASL_INT)) {
                emit_component(e, emit_text(e, "%s.%s", c->name, key));
                text_printf(&e->visits, "pairs.%s = %s%s;\n", key,
                            a->type.base == ASL_INT ? "(float)" : "",
                            node_keep(n, i->operands[a->first]));
            }
    }
}

static void component(struct emit *e, const struct ir_inst *i)
{
    const struct ir_call *c = i->u.call;
    bool principled = c->callee == BI_PRINCIPLED;
    struct node n = node_begin(e);
    emit_component(e, emit_text(e, "%s", c->name));
    node_store_begin(&n, i->result, NULL);
    if (principled)
        pairs(&n, i);
    struct text call = {0};
    text_printf(&call, "if (k_closure_counts(&w)) k_closure_%s_%u(c, w", c->name, c->fixed);
    for (uint32_t k = 0; k < c->fixed; k++)
        text_printf(&call, ", %s", argument(&n, i, &c->args[k]));
    text_printf(&call, "%s);\nbreak; }\n", principled ? ", &pairs" : "");
    if (call.data)
        text_append(&e->visits, call.data, call.len);
    text_free(&call);
    EMIT("}\n");
}

static bool makes_component(const struct ir_inst *i)
{
    return i->op == IR_CALL && i->u.call->type.base == ASL_CLOSURE;
}

bool emit_closure(struct emit *e, const struct ir_inst *i)
{
    if (makes_component(i)) {
        component(e, i);
        return true;
    }
    if (i->op != IR_CADD && i->op != IR_CMUL)
        return false;
    bool sum = i->op == IR_CADD;
    struct node n = node_begin(e);
    const char *a = emit_int(e, i->operands[0]);
    if (sum) {
        const char *b = emit_int(e, i->operands[1]);
        node_store_begin(&n, i->result,
                         emit_text(e, "%s == 0 ? %s : %s == 0 ? %s : -1", a, b, b, a));
        const char *left = node_keep(&n, i->operands[0]), *right = node_keep(&n, i->operands[1]);
        text_printf(&e->visits,
                    "k_closures_push(c, %s, w);\nk_closures_push(c, %s, w);\nbreak; }\n", right,
                    left);
    } else {
        const char *w[3];
        for (int k = 0; k < 3; k++)
            w[k] = emit_float(e, i->operands[1 + k]);
        node_store_begin(&n, i->result,
                         emit_text(e,
                                   "%s == 0 || (%s == 0.0f && %s == 0.0f && %s == 0.0f) ? 0 : -1",
                                   a, w[0], w[1], w[2]));
        const char *child = node_keep(&n, i->operands[0]);
        for (int k = 0; k < 3; k++)
            w[k] = node_keep(&n, i->operands[1 + k]);
        text_printf(&e->visits, "k_closures_push(c, %s, v3_mul(w, v3(%s, %s, %s)));\nbreak; }\n",
                    child, w[0], w[1], w[2]);
    }
    EMIT("}\n");
    return true;
}

void emit_closure_walk(struct emit *e, struct text *out)
{
    uint32_t cell = e->code->global_cell[GV_Ci];
    bool any = cell < e->code->cell_count && e->used[cell];
    text_printf(out, "#define A_HAS_CLOSURES%s %d\n", e->suffix, any);
    if (!any)
        return;
    /* Each sum leaves one number waiting while its left part is walked, a layer two. */
    uint32_t depth = 4 + 2 * e->node_count + EMIT_NODE_COPIES * e->node_loops;
    text_printf(out,
                "A_CALL void a_lobes%s(const struct a_state%s *s, struct k_closures *c)\n{\n"
                "struct k_closure_item stack[%u];\nstruct k_vec3 w;\nint id;\n"
                "k_closures_start(c, stack, %uu, s->c%u[0]);\n"
                "while (k_closures_pop(c, &id, &w)) {\nint at = (id - 1) & %d;\n(void)at;\n"
                "switch ((id - 1) / %d) {\n",
                e->suffix, e->suffix, depth < 64 ? depth : 64, depth < 64 ? depth : 64, cell,
                EMIT_NODE_COPIES - 1, EMIT_NODE_COPIES);
    if (e->visits.data)
        text_append(out, e->visits.data, e->visits.len);
    text_puts(out, "default: break;\n}\n}\n}\n");
}
