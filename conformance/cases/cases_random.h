/* SPDX-License-Identifier: Apache-2.0 */
/* cases_random.h: scenes at random, image.random.SEED-NUMBER. Its cases come from a seed. */
#ifndef CONFORMANCE_CASES_RANDOM_H
#define CONFORMANCE_CASES_RANDOM_H

#include "case.h"

/* The cases of the first `scenes` scenes of `seed`. */
enum status random_cases(struct arena *a, uint32_t scenes, uint64_t seed,
                         const struct conform_case **out, size_t *count, struct error *err);
bool random_is_case(const char *name);
/* The row of such a case, NULL for other names. */
const struct case_row *random_row(const char *name);
/* image.dense.N: every closure and pattern that random scenes are made of; the last one is
 * scenes/dense. */
enum status image_dense(struct run_context *c, struct error *err);
/* image.relations.SCENE: a scene against its other selves. */
enum status image_relations(struct run_context *c, struct error *err);

#endif
