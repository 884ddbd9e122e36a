/* SPDX-License-Identifier: Apache-2.0 */
/* The result of a case as one JSON object: what goes through a worker's pipe and into the journal.
 */
#ifndef CONFORMANCE_RESULT_TEXT_H
#define CONFORMANCE_RESULT_TEXT_H

#include "conformance.h"

/* The sums of its films' tiles, into the object that conform_result_write has filled. */
void result_films_write(struct json_writer *w, const struct conform_result *r);
/* From such an object; strings and pictures in the arena. TYPE says what is wrong. */
enum status result_read(struct arena *a, const char *file, const struct json *object,
                        struct conform_result *out, struct error *err);

#endif
