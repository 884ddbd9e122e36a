/* SPDX-License-Identifier: Apache-2.0 */
/* asl_generate.h: well-typed ASL programs at random, for comparing translators with the
 * interpreter. A program is a pure function of its seed (Philox). docs/explanation/equivalence.md
 * says what programs look like and why comparing bits means something for them. */
#ifndef CONFORMANCE_ASL_GENERATE_H
#define CONFORMANCE_ASL_GENERATE_H

#include "base.h"

/* How builtins that are only bounded by units in the last place take part. */
enum asl_discipline {
    ASL_EXACT,  /* not at all: every operation of the program has one right result */
    ASL_SNAPPED /* each result is rounded to 10 bits before it is used; where the bound leaves open
                   to which, the shader sets its output `unsure` and the point is not compared */
};

/* What programs have: counts by row of asl_constructs.def, and by builtin and signature. */
struct asl_coverage;
enum status asl_coverage_new(struct arena *a, struct asl_coverage **out, struct error *err);
/* A table: construct, programs that have it; at the end how many rows there are and how many are
 * empty. */
void asl_coverage_print(const struct asl_coverage *c, bool only_missing, struct text *out);
/* Rows that no program has. */
size_t asl_coverage_missing(const struct asl_coverage *c);
size_t asl_coverage_programs(const struct asl_coverage *c);

struct asl_generate_options {
    bool numbers_only; /* no strings computed at run time, no closures: what devices can run */
    bool single;       /* no networks */
};
struct asl_generated {
    enum asl_discipline discipline;
    bool core, network, texts; /* texts: computes strings at run time */
};
/* Appends the program's source to *out, with the directives of shader_file.h. `coverage`, `opt` and
 * `what` may be NULL. Fails: MEMORY. */
enum status asl_generate(uint64_t seed, const struct asl_generate_options *opt, struct text *out,
                         struct asl_coverage *coverage, struct asl_generated *what,
                         struct error *err);

#endif
