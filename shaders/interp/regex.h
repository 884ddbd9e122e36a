/* regex.h: the regular expressions of ASL (docs/reference/asl.md, Regular expressions):
 * alternatives and quantifiers are tried in the order of the text, as in ECMAScript. */
#ifndef ASL_REGEX_H
#define ASL_REGEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REGEX_MAX_GROUPS = 32 };

enum regex_result { REGEX_NO, REGEX_YES, REGEX_BAD, REGEX_TOO_LONG };

/* Looks for `pattern` in s, or matches all of s when `whole`. On YES group i spans [begin[i],
 * end[i]), -1 when it took no part; *groups counts them, the whole match first. BAD: malformed
 * pattern, *why says how. TOO_LONG: more than `steps` steps of the matcher. */
enum regex_result regex_run(const char *pattern, const char *s, bool whole, uint64_t steps,
                            int32_t begin[REGEX_MAX_GROUPS], int32_t end[REGEX_MAX_GROUPS],
                            size_t *groups, const char **why);

#endif
