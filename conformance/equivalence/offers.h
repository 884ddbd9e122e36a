/* SPDX-License-Identifier: Apache-2.0 */
/* What equivalence/ offers: translations of shaders held against the interpreter.
 *   shader_compare.h  a group on an engine, value by value
 *   shader_finding.h  what is told of a program that differs
 */
#ifndef ISOPHOTE_CONFORMANCE_EQUIVALENCE_OFFERS_H
#define ISOPHOTE_CONFORMANCE_EQUIVALENCE_OFFERS_H

#include "shader_compare.h"
#include "shader_finding.h"

#endif
