/* The journal of a conformance run: JSON lines, each synced to disk before the next case starts, so
 * that an interrupted run goes on where it stopped. The first line names the program that wrote it:
 * verdicts of another build are not taken. */
#ifndef CONFORMANCE_JOURNAL_H
#define CONFORMANCE_JOURNAL_H

#include "conformance.h"

struct journal;

/* Opens and locks. resume: keeps what is there (a torn last line, from a crash in the middle of a
 * write, is cut off); else starts empty. program: identity of the build and settings, compared with
 * the first line's. Fails: IO, PARSE (a bad line that is not the last), TYPE (another program's
 * journal, not a journal), LIMIT (locked by another run). */
enum status journal_open(const char *path, const char *program, bool resume, struct journal **out,
                         struct error *err);
void journal_close(struct journal *j); /* accepts NULL */
/* What an earlier run found, or NULL. scene_hash: of the scene file as it is now, "" without one;
 * must match. */
const struct conform_result *journal_find(const struct journal *j, const char *name,
                                          const char *device, const char *scene_hash);
enum status journal_add(struct journal *j, const char *name, const char *device,
                        const char *scene_hash, const struct conform_result *r, struct error *err);

#endif
