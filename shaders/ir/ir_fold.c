/* SPDX-License-Identifier: Apache-2.0 */
/* ir_fold.c: calls of constants, run once by the interpreter's own code. */
#include "ir_fold.h"

#include "ir_run.h"

#include <setjmp.h>
#include <string.h>

static void on_message(void *ctx, enum asl_message kind, const char *to, const char *text)
{
    (void)kind;
    (void)to;
    (void)text;
    ((struct ir_fold *)ctx)->said = true;
}

/* Does every engine give the interpreter's bits? */
static bool keeps_bits(const struct ir_call *c)
{
    if (c->type.base == ASL_STRING || c->type.base == ASL_INT)
        return true;
    return c->callee < BI_COUNT && strcmp(asl_builtin_at(c->callee)->ulp, "0") == 0;
}

bool ir_call_is_function(const struct ir_call *c)
{
    for (uint32_t k = 0; k < c->arg_count; k++)
        if (c->args[k].is_place || c->args[k].type.base == ASL_CLOSURE)
            return false;
    return c->type.base != ASL_CLOSURE && c->type.base != ASL_VOID && c->callee != BI_RAYTYPE &&
           c->callee != BI_OCCLUSION && c->callee != IRC_CONSTRUCT2 &&
           (c->callee != IRC_CONSTRUCT || c->type.base == ASL_COLOR) &&
           (c->callee != BI_TRANSFORM || c->args[0].type.base != ASL_STRING);
}

static bool foldable(const struct ir_fold *f, struct ir_inst *const *defs, const struct ir_inst *i)
{
    const struct ir_call *c = i->u.call;
    if (!ir_call_is_function(c))
        return false;
    for (uint32_t k = 0; k < i->operand_count; k++)
        if (defs[i->operands[k]]->op != IR_CONST)
            return false;
    if (f->exact && !keeps_bits(c))
        return false;
    return ir_call_effect((const struct ir_inst *const *)defs, i) != IR_EFFECT_ORDER;
}

static bool fold_open(struct ir_fold *f)
{
    if (f->ready)
        return true;
    const struct asl_context_options opt = {.services = {.ctx = f, .message = on_message}};
    if (asl_context_open(&f->cx, &opt, NULL) != STATUS_OK)
        return false;
    f->layer.name = "";
    f->run = (struct asl_run){.cx = &f->cx, .layer = &f->layer, .mode = 1};
    return f->ready = true;
}

/* False when it fails or says something: then it is left to happen when the shader runs. */
static bool evaluate(struct ir_fold *f, struct ir_inst *const *defs, const struct ir_inst *i,
                     union asl_slot *out)
{
    const struct ir_call *c = i->u.call;
    struct asl_globals zero = {0};
    asl_context_start(&f->cx, &zero, NULL);
    memset(f->cx.said, 0, sizeof f->cx.said);
    f->said = false;
    if (setjmp(f->cx.fail))
        return false;
    struct asl_place *args = asl_point_alloc(&f->run, c->arg_count + 1, sizeof *args);
    union asl_slot *v = asl_temp(&f->run, i->operand_count);
    for (uint32_t k = 0; k < i->operand_count; k++)
        v[k] = defs[i->operands[k]]->u.k;
    for (uint32_t k = 0; k < c->arg_count; k++) {
        const struct ir_arg *a = &c->args[k];
        args[k] = (struct asl_place){v + a->first, a->n, a->derivs ? a->n : 0, a->type};
    }
    const struct asl_expr *e = ir_call_expr(&f->cx.point, c, (struct src_pos){0});
    if (!e)
        return false;
    ir_call_run(&f->run, c, e, args, out);
    return !f->said;
}

bool ir_fold_call(struct ir_fold *f, struct ir_inst *const *defs, const struct ir_inst *i,
                  union asl_slot *out)
{
    return foldable(f, defs, i) && i->result_count <= IR_FOLD_RESULTS_MAX && fold_open(f) &&
           evaluate(f, defs, i, out);
}

void ir_fold_close(struct ir_fold *f)
{
    if (f->ready)
        asl_context_close(&f->cx);
    f->ready = false;
}
