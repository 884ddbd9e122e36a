/* SPDX-License-Identifier: Apache-2.0 */
/* The store's insides, for the other files of this folder. */
#ifndef ISOPHOTE_REPORTS_STORE_H
#define ISOPHOTE_REPORTS_STORE_H

#include "records.h"

/* Every record of one kind in the order of adding, as an array of its struct. runs (may be NULL)
 * gets the run id of each (RECORD_RUN: its own). run 0: all. Everything in the arena. */
enum status store_read(struct store *s, struct arena *a, enum record_kind kind, int64_t run,
                       void **out, int64_t **runs, size_t *count, struct error *err);

/* One transaction around several inserts, or around several reads that must show one moment. */
enum status store_begin(struct store *s, struct error *err);
enum status store_begin_read(struct store *s, struct error *err);
enum status store_insert(struct store *s, enum record_kind kind, int64_t run, const void *record,
                         int64_t *id, struct error *err);
enum status store_commit(struct store *s, struct error *err);
void store_rollback(struct store *s);

const char *store_path(const struct store *s);

#endif
