/* SPDX-License-Identifier: Apache-2.0 */
/* isophote import --check. */
#ifndef ISOPHOTE_CLI_IMPORT_CHECK_H
#define ISOPHOTE_CLI_IMPORT_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/* Imports and renders every model among the paths, files or folders, each in a process of its own:
 * a table on standard output, or one JSON document; with a store, a run of cases
 * "import.FORMAT.file". Returns the exit status: 1 if one was imported and does not give a picture.
 */
int import_check(char **paths, size_t count, const char *store, bool json);

#endif
