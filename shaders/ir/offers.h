/* SPDX-License-Identifier: Apache-2.0 */
/* What ir/ offers to what makes, changes and reads IR.
 *   ir.h        the representation
 *   ir_build.h  making it
 *   ir_eval.h   what pure operations compute
 *   ir_fold.h   calls of constants
 *   ir_run.h    the interpreter's builtins, called from IR
 */
#ifndef ISOPHOTE_SHADERS_IR_OFFERS_H
#define ISOPHOTE_SHADERS_IR_OFFERS_H

#include "ir.h"
#include "ir_build.h"
#include "ir_eval.h"
#include "ir_fold.h"
#include "ir_run.h"

#endif
