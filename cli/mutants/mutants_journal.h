/* SPDX-License-Identifier: Apache-2.0 */
/* The journal of a run of mutants: JSON Lines. The first says which run it is, each other one thing
 * that became known of a mutant, written as it does, so that a run that was ended goes on. */
#ifndef ISOPHOTE_CLI_MUTANTS_JOURNAL_H
#define ISOPHOTE_CLI_MUTANTS_JOURNAL_H

#include "base.h"

struct mutants_journal;

/* Opens and locks; `head` is the first line, without its end. resume: each line that is there is
 * told, and stays; a torn last one falls away. Else the file begins anew. Fails: IO, PARSE, LIMIT
 * (another run writes it), TYPE (its first line is another: of another run), what `line` says. */
enum status mutants_journal_open(const char *path, bool resume, const char *head,
                                 enum status (*line)(void *ctx, const struct json *fact,
                                                     struct error *err),
                                 void *ctx, struct mutants_journal **out, struct error *err);
/* Appends what w holds as a line, and frees it. j NULL: nothing is kept. Fails: IO, MEMORY. */
enum status mutants_journal_add(struct mutants_journal *j, struct json_writer *w,
                                struct error *err);
void mutants_journal_close(struct mutants_journal *j); /* accepts NULL */

#endif
