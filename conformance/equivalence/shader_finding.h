/* SPDX-License-Identifier: Apache-2.0 */
/* shader_finding.h: what is told of a program that differs: the smallest one, the place, the
 * command. */
#ifndef CONFORMANCE_SHADER_FINDING_H
#define CONFORMANCE_SHADER_FINDING_H

#include "generate/offers.h"
#include "shader_compare.h"

struct shader_finding {
    char reason[1800]; /* one line: input, operation, line, both values */
    char file[1024];   /* the reduced program; "" when it could not be written */
    struct asl_reduction reduction;
};
/* `name` is the source's (its #include files stand beside it). At most `seconds` are spent on
 * making it smaller. */
enum status shader_finding_make(const char *name, const char *text, size_t size, uint32_t variation,
                                const struct shader_setting *s,
                                const struct shader_difference *first,
                                const struct asl_globals *points, size_t count, double seconds,
                                struct shader_finding *out, struct error *err);

#endif
