/* SPDX-License-Identifier: Apache-2.0 */
/* cases_image.h: what level image has in files of its own: cameras and passes; scenes at random,
 * image.random.SEED-NUMBER, whose cases come from a seed; and the search behind a list. */
#ifndef CONFORMANCE_CASES_IMAGE_H
#define CONFORMANCE_CASES_IMAGE_H

#include "case.h"

enum status image_camera(struct run_context *c, struct error *err);
enum status image_passes(struct run_context *c, struct error *err);

/* Is `word` "SEED-NUMBER", both of digits alone and below 2^64? */
bool random_word(const char *word, uint64_t *seed, uint64_t *number);
/* The cases of the first `scenes` scenes of `seed`. */
enum status random_cases(struct arena *a, uint32_t scenes, uint64_t seed,
                         const struct conform_case **out, size_t *count, struct error *err);
bool random_is_case(const char *name);
/* The row of such a case, NULL for other names. */
const struct case_row *random_row(const char *name);
/* image.dense.N, image.edges.N: every closure and pattern that random scenes are made of; the last one is
 * scenes/dense. */
enum status image_dense(struct run_context *c, struct error *err);
/* The scene of image.dense's part, from 0, as the case's scene. */
enum status dense_part_load(struct run_context *c, uint32_t part, struct error *err);
/* image.relations.SCENE: a scene against its other selves. */
enum status image_relations(struct run_context *c, struct error *err);

/* cases_search.c: what a mutant is asked that no case of the list noticed:
 * image.search.SEED-NUMBER, shader.search.SEED-NUMBER. They belong to no list. */
/* The first `each` of both kinds of `seed`. */
enum status search_cases(struct arena *a, uint32_t each, uint64_t seed,
                         const struct conform_case **out, size_t *count, struct error *err);
bool search_is_case(const char *name);
/* The row of such a case, NULL for other names. */
const struct case_row *search_row(const char *name);

#endif
