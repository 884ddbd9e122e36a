/* SPDX-License-Identifier: Apache-2.0 */
/* Known answers: the film hashes of strict pictures, which never change (answers.def). */
#ifndef CONFORMANCE_ANSWERS_H
#define CONFORMANCE_ANSWERS_H

#include "conformance.h"

/* What a job's strict film depends on: the scene with its files, and the job's numbers. */
void answer_inputs(const struct scene *s, const struct render_job *job, char hex[33]);
/* The film's hash (film_hash) that a case has for these inputs; NULL if none is known. */
const char *answer_known(const char *name, const char *inputs);

#endif
