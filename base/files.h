/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of base/ that work on files offer to each other. */
#ifndef ISOPHOTE_FILES_H
#define ISOPHOTE_FILES_H

#include "base.h"

/* "cannot <what> <path>: <reason of errno e>" */
enum status io_error(struct error *err, enum status code, const char *what, const char *path,
                     int e);

/* file_write of pieces, one behind the other, with a mode of its own. synced: a power failure leaves
 * all of it, or what was there before; else it may be cut short. */
enum status file_write_as(const char *path, const struct file_piece *pieces, size_t count,
                          unsigned mode, bool synced, struct error *err);
/* Is it the user's own, so that what it holds may be believed? If not, that is noted, once. Fails:
 * IO. */
enum status cache_folder_check(const char *path, struct error *err);

/* Notes a temporary file or folder, before it is made, for the guardian; and that it is no longer
 * there. */
void guard_path(const char *path);
void guard_path_gone(const char *path);
void guard_begin(void);     /* starts the guardian */
void guard_clear_now(void); /* what is noted is cleared away; for a handler that ends the process */

#endif
