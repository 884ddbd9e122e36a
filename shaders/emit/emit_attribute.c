/* SPDX-License-Identifier: Apache-2.0 */
/* emit_attribute.c: what getattribute() is told at a hit (docs/reference/protocol.md section 18),
 * and geometry data. k_attribute of device/surface/shade.h has the words. */
#include "emit.h"

#include <string.h>

enum { COLORED = 11, COLOR = 12 };

static bool fits(const struct emit_attribute *a, struct asl_type t)
{
    if (a->string)
        return asl_is(t, ASL_STRING);
    if (a->n == 3)
        return asl_is_triple(t);
    return t.base == (a->kind == EMIT_INT ? ASL_INT : ASL_FLOAT) &&
           (uint32_t)t.array == (a->n == 1 ? 0 : a->n);
}

/* The names of that type; NULL: there is none. */
static const struct emit_attribute *find(const char *name, struct asl_type type)
{
    static const uint32_t one = 0x3F800000;
    static const struct emit_attribute rows[] = {
        {"osl:version", .n = 1, .kind = EMIT_INT, .value = 11300},
        {"path:ray_depth", .n = 1, .kind = EMIT_INT, .word = 0},
        {"object:index", .n = 1, .kind = EMIT_INT, .word = 1},
        {"shading:index", .n = 1, .kind = EMIT_INT, .word = 2},
        {"camera:resolution", .n = 2, .kind = EMIT_INT, .word = 3},
        {"camera:pixelaspect", .n = 1, .kind = EMIT_FLOAT, .value = one},
        {"camera:projection", .n = 1, .kind = EMIT_INT, .word = 5, .string = true},
        {"camera:fov", .n = 1, .kind = EMIT_FLOAT, .word = 6, .there = 6},
        {"camera:screen_window", .n = 4, .kind = EMIT_FLOAT, .word = 7},
        {"Cd", .n = 3, .kind = EMIT_FLOAT, .word = COLOR, .there = COLORED},
        {"s", .n = 1, .kind = EMIT_FLOAT, .word = 15},
        {"t", .n = 1, .kind = EMIT_FLOAT, .word = 16}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (strcmp(rows[k].name, name) == 0 && fits(&rows[k], type))
            return &rows[k];
    return NULL;
}

/* An argument that is a string of the text. */
static const char *known(struct emit *e, const struct ir_inst *i, uint32_t argument)
{
    const struct ir_arg *a = &i->u.call->args[argument];
    const char *text = a->is_place ? NULL : emit_constant_string(e, i->operands[a->first]);
    if (!text)
        emit_fail(e, STATUS_UNSUPPORTED, i->at,
                  "the name that getattribute() asks for must be known when the shader is compiled "
                  "for this device");
    return text;
}

const struct emit_attribute *emit_attribute_asked(struct emit *e, const struct ir_inst *i)
{
    const struct ir_call *c = i->u.call;
    const struct ir_arg *last = &c->args[c->arg_count - 2];
    const bool indexed = !last->is_place && last->type.base == ASL_INT;
    const uint32_t names = c->arg_count - 1 - indexed;
    const char *object = names == 2 ? known(e, i, 0) : "", *name = known(e, i, names - 1);
    int32_t index = -1;
    if (indexed && !emit_constant_int(e, i->operands[last->first], &index))
        index = 0; /* of nothing here are there several */
    return *object || index != -1 ? NULL : find(name, c->args[c->arg_count - 1].type);
}

const struct emit_attribute *emit_attribute_userdata(const struct ir_inst *i)
{
    const struct emit_attribute *a = find(i->u.user.name, i->u.user.type);
    return a && a->word == COLOR ? a : NULL;
}

void emit_projection_ids(struct emit *e, uint32_t id[EMIT_PROJECTIONS])
{
    static const char *const names[EMIT_PROJECTIONS] = {"perspective", "orthographic",
                                                        "equirectangular"};
    for (uint32_t k = 0; k < EMIT_PROJECTIONS; k++)
        id[k] = emit_string_id(e, names[k]);
}

/* Word k of it, as an int. */
static const char *word(struct emit *e, const struct emit_attribute *a, uint32_t k)
{
    if (a->value)
        return emit_text(e, "%uu", a->value);
    const char *w = emit_text(e, "k_attribute(s->g, %uu)", a->word + k);
    if (!a->string)
        return w;
    uint32_t id[EMIT_PROJECTIONS];
    emit_projection_ids(e, id);
    return emit_text(e, "(%s == 0u ? %uu : %s == 1u ? %uu : %uu)", w, id[0], w, id[1], id[2]);
}

static const char *there(struct emit *e, const struct emit_attribute *a)
{
    return a->there ? emit_text(e, "k_attribute(s->g, %uu) != 0u", a->there) : "1";
}

bool emit_attribute(struct emit *e, const struct ir_inst *i)
{
    const struct ir_call *c = i->u.call;
    if (c->callee != BI_GETATTRIBUTE)
        return false;
    const struct ir_arg *to = &c->args[c->arg_count - 1];
    const struct emit_attribute *a = emit_attribute_asked(e, i);
    if (!a) {
        emit_set(e, i->result, "A_I(0)");
        return true;
    }
    emit_hit_needed(e);
    emit_set(e, i->result, "A_I(%s)", there(e, a));
    EMIT("if (v%u) {\n", i->result);
    for (uint32_t d = 0; d < (to->derivs ? 3u : 1u); d++)
        for (uint32_t k = 0; k < a->n; k++)
            emit_store(e, i, &to->at, d * to->row + k, d ? EMIT_FLOAT : a->kind,
                       d ? "A_F(0.0f)"
                         : emit_text(e, a->kind == EMIT_INT ? "(int)%s" : "K_AS_FLOAT(%s)",
                                     word(e, a, k)));
    EMIT("}\n");
    return true;
}

bool emit_geometry_data(struct emit *e, const struct ir_inst *i)
{
    const struct emit_attribute *a = i->op == IR_USERDATA ? emit_attribute_userdata(i) : NULL;
    if (!a)
        return false;
    emit_hit_needed(e);
    emit_set(e, i->result, "A_I(%s)", there(e, a));
    for (uint32_t k = 1; k < i->result_count; k++)
        emit_set(e, i->result + k, "%s",
                 k <= a->n ? emit_text(e, "K_AS_FLOAT(%s)", word(e, a, k - 1)) : "A_F(0.0f)");
    return true;
}
