/* SPDX-License-Identifier: Apache-2.0 */
/* The regular expressions of ASL (docs/reference/asl.md, Regular expressions), by PCRE2. */
#ifndef ASL_REGEX_H
#define ASL_REGEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum regex_result { REGEX_NO, REGEX_YES, REGEX_BAD, REGEX_TOO_LONG };

/* Looks for `pattern` in s, or matches all of s when `whole`. On YES spans[2i] and spans[2i + 1]
 * are where the whole match (i = 0) and group i begin and end, -1 when the group took no part;
 * *groups counts them, the whole match too; those beyond `room` are left out. BAD: malformed
 * pattern; TOO_LONG: a match beyond the limits of steps, depth or memory; *why says how, as text
 * for a message. */
struct regex_why {
    char text[200];
};
enum regex_result regex_run(const char *pattern, const char *s, bool whole, int32_t (*spans)[2],
                            size_t room, size_t *groups, struct regex_why *why);

#endif
