/* SPDX-License-Identifier: Apache-2.0 */
/* Programs run as children: compilers mostly, which may crash and must not take this process along.
 */
#ifndef ISOPHOTE_CHILD_H
#define ISOPHOTE_CHILD_H

#include "base.h"

/* Runs argv (ends with NULL; argv[0] is looked up in PATH) with an empty standard input; its
 * standard output and error go to `out` (cut at size - 1 bytes). *exit_code is minus the signal's
 * number when a signal ended it. MISSING if the program cannot be started. */
enum status child_run(char *const argv[], char *out, size_t size, int *exit_code,
                      struct error *err);

#endif
