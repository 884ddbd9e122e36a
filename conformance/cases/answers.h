/* SPDX-License-Identifier: Apache-2.0 */
/* Known answers (answers.def): what a right device gives in a case, as a hash. A verdict follows
 * from what was asked, what the device gave, and how exact its API promises to be. The answers are
 * native's, which promises the most: who gives the same bits is as right, and need not be judged
 * again. Outside strict another device may well give others. */
#ifndef CONFORMANCE_ANSWERS_H
#define CONFORMANCE_ANSWERS_H

#include "case.h"

/* What a job's strict film depends on: the scene with its files, and the job's numbers. */
void answer_inputs(const struct scene *s, const struct render_job *job, char hex[33]);
/* The hash of what a strict case's device gives for these inputs; NULL if none is known. */
const char *answer_known(const char *name, const char *inputs);

/* Notes what the device was asked, in the case's scene, if it has one, and mode, and what it gave. */
void answer_note(struct run_context *c, const void *asked, size_t asked_size, const void *given,
                 size_t given_size);
/* The same for the job's films and records in lockstep, on the device as it is loaded and built. */
enum status answer_note_records(struct run_context *c, const struct render_job *job,
                                struct error *err);
/* All is asked that the case asks before it judges, `values` numbers. True: what was given is known
 * to be right, and the case has its PASS. False: it is to be judged. */
bool answer_given(struct run_context *c, uint64_t values);

#endif
