/* SPDX-License-Identifier: Apache-2.0 */
/* ir_eval.h: what the pure operations of ir_ops.def compute: for the engine and for folding. */
#ifndef ASL_IR_EVAL_H
#define ASL_IR_EVAL_H

#include "interp/interp.h"
#include "ir.h"

#include <math.h>
#include <string.h>

static inline int32_t ir_eval_division(int32_t a, int32_t b)
{
    return b == 0 ? 0 : b == -1 ? (int32_t)(0u - (uint32_t)a) : a / b;
}

static inline int32_t ir_eval_int(enum ir_op op, int32_t a, int32_t b)
{
    uint32_t ua = (uint32_t)a, ub = (uint32_t)b;
    switch (op) {
    case IR_IADD:
        return (int32_t)(ua + ub);
    case IR_ISUB:
        return (int32_t)(ua - ub);
    case IR_IMUL:
        return (int32_t)(ua * ub);
    case IR_IDIV:
        return ir_eval_division(a, b);
    case IR_IMOD:
        return b == 0 || b == -1 ? 0 : a % b;
    case IR_ISHL:
        return (int32_t)(ua << (ub & 31));
    case IR_ISHR:
        return a >> (ub & 31);
    case IR_IAND:
        return (int32_t)(ua & ub);
    case IR_IXOR:
        return (int32_t)(ua ^ ub);
    case IR_IOR:
        return (int32_t)(ua | ub);
    case IR_INEG:
        return (int32_t)(0u - ua);
    case IR_ICOMPL:
        return (int32_t)~ua;
    case IR_ILT:
        return a < b;
    case IR_ILE:
        return a <= b;
    case IR_IGT:
        return a > b;
    case IR_IGE:
        return a >= b;
    case IR_IEQ:
        return a == b;
    default: /* IR_INE */
        return a != b;
    }
}

static inline float ir_eval_float(enum ir_op op, float a, float b)
{
    switch (op) {
    case IR_FADD:
        return a + b;
    case IR_FSUB:
        return a - b;
    case IR_FMUL:
        return a * b;
    case IR_FDIV:
        return b == 0 ? 0 : a / b;
    case IR_FREM:
        return b == 0 ? 0 : fmodf(a, b);
    case IR_FNEG:
        return -a;
    case IR_FABS:
        return fabsf(a);
    case IR_FSQRT:
        return a > 0 ? sqrtf(a) : 0;
    case IR_FFLOOR:
        return floorf(a);
    case IR_FCEIL:
        return ceilf(a);
    case IR_FROUND:
        return roundf(a);
    default: /* IR_FTRUNC */
        return truncf(a);
    }
}

static inline int32_t ir_eval_compare(enum ir_op op, float a, float b)
{
    switch (op) {
    case IR_FLT:
        return a < b;
    case IR_FLE:
        return a <= b;
    case IR_FGT:
        return a > b;
    case IR_FGE:
        return a >= b;
    case IR_FEQ:
        return a == b;
    case IR_FNE:
        return a != b;
    case IR_FISNAN:
        return isnan(a) != 0;
    default: /* IR_FISINF */
        return isinf(a) != 0;
    }
}

/* Operands that the operation does not have are ignored. Not for IR_CONST. */
static inline union asl_slot ir_eval(enum ir_op op, union asl_slot a, union asl_slot b,
                                     union asl_slot c)
{
    union asl_slot r = {.s = NULL};
    if (op >= IR_IADD && op <= IR_INE)
        r.i = ir_eval_int(op, a.i, b.i);
    else if (op >= IR_FADD && op <= IR_FTRUNC)
        r.f = ir_eval_float(op, a.f, b.f);
    else if (op >= IR_FLT && op <= IR_FISINF)
        r.i = ir_eval_compare(op, a.f, b.f);
    else if (op == IR_I2F)
        r.f = (float)a.i;
    else if (op == IR_F2I)
        r.i = asl_float_to_int(a.f);
    else if (op == IR_SEQ)
        r.i = strcmp(a.s, b.s) == 0;
    else if (op == IR_SBOOL)
        r.i = a.s[0] != 0;
    else if (op == IR_CBOOL)
        r.i = a.c != NULL;
    else if (op == IR_SELECT)
        r = a.i != 0 ? b : c;
    return r;
}

#endif
