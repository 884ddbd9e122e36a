/* SPDX-License-Identifier: Apache-2.0 */
/* The journal of a conformance run: JSON lines (json_lines_open of base.h), each synced to disk before
 * the next case starts, so that an interrupted run goes on where it stopped. Every result names the
 * key of its identity, and the identities stand in lines of their own, each once and before what
 * names it. */
#ifndef CONFORMANCE_JOURNAL_H
#define CONFORMANCE_JOURNAL_H

#include "conformance.h"

struct journal;
struct journal_entry {
    const char *name, *device;
    struct conform_result result;     /* with its identity */
    uint32_t run;                     /* from 1: one run of a case that was not at its end; 0: the
                                         case's result */
    const struct journal_entry *next; /* an older one, of whatever case */
};

/* resume: keeps what is there; else starts empty. Fails: as json_lines_open, TYPE also for what is
 * not a journal of this version. */
enum status journal_open(const char *path, bool resume, struct journal **out, struct error *err);
void journal_close(struct journal *j); /* accepts NULL */
/* The newest result of a case on a device: of the whole journal, or of what is older than `after`.
 * NULL if there is none. */
const struct journal_entry *journal_find(const struct journal *j, const char *name,
                                         const char *device, const struct journal_entry *after);
/* r->identity may not be NULL. */
enum status journal_add(struct journal *j, const char *name, const char *device, uint32_t run,
                        const struct conform_result *r, struct error *err);

#endif
