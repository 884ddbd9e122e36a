/* SPDX-License-Identifier: Apache-2.0 */
/* regex.c: PCRE2, set to read patterns as ECMAScript does wherever it has an option for that. */
#include "regex.h"

#include <stdio.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/* A point of a shader may ask for any match: these bound what one costs. */
enum { STEPS = 1000000, DEPTH = 100000, HEAP_KIB = 64 << 10, PATTERN_BYTES = 1 << 16 };

static void say(struct regex_why *why, int code, const char *where, size_t at)
{
    PCRE2_UCHAR words[160];
    if (pcre2_get_error_message(code, words, sizeof words) < 0)
        words[0] = 0;
    if (where)
        snprintf(why->text, sizeof why->text, "%s %s %zu", (const char *)words, where, at);
    else
        snprintf(why->text, sizeof why->text, "%s", (const char *)words);
}

static pcre2_code *compile(const char *pattern, struct regex_why *why)
{
    /* \x and \u, empty classes, groups that took no part, $ and . are ECMAScript's; bytes stay
     * bytes. */
    const uint32_t options = PCRE2_ALT_BSUX | PCRE2_ALLOW_EMPTY_CLASS | PCRE2_MATCH_UNSET_BACKREF |
                             PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_UTF | PCRE2_NEVER_UCP;
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);
    if (!context) {
        say(why, PCRE2_ERROR_NOMEMORY, NULL, 0);
        return NULL;
    }
    pcre2_set_newline(context, PCRE2_NEWLINE_ANYCRLF);
    pcre2_set_max_pattern_length(context, PATTERN_BYTES);
    int code = 0;
    PCRE2_SIZE at = 0;
    pcre2_code *made =
        pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, options, &code, &at, context);
    pcre2_compile_context_free(context);
    if (!made)
        say(why, code, "at byte", at);
    return made;
}

static enum regex_result match(const pcre2_code *made, const char *s, bool whole,
                               pcre2_match_data *found, struct regex_why *why)
{
    pcre2_match_context *limits = pcre2_match_context_create(NULL);
    int n = PCRE2_ERROR_NOMEMORY;
    if (limits && found) {
        pcre2_set_match_limit(limits, STEPS);
        pcre2_set_depth_limit(limits, DEPTH);
        pcre2_set_heap_limit(limits, HEAP_KIB);
        n = pcre2_match(made, (PCRE2_SPTR)s, PCRE2_ZERO_TERMINATED, 0,
                        whole ? PCRE2_ANCHORED | PCRE2_ENDANCHORED : 0, found, limits);
    }
    pcre2_match_context_free(limits);
    if (n > 0 || n == PCRE2_ERROR_NOMATCH)
        return n > 0 ? REGEX_YES : REGEX_NO;
    if (n == PCRE2_ERROR_MATCHLIMIT || n == PCRE2_ERROR_DEPTHLIMIT || n == PCRE2_ERROR_HEAPLIMIT)
        snprintf(why->text, sizeof why->text, "the match takes too many steps");
    else
        say(why, n, NULL, 0);
    return REGEX_TOO_LONG;
}

enum regex_result regex_run(const char *pattern, const char *s, bool whole, int32_t (*spans)[2],
                            size_t room, size_t *groups, struct regex_why *why)
{
    pcre2_code *made = compile(pattern, why);
    if (!made)
        return REGEX_BAD;
    pcre2_match_data *found = pcre2_match_data_create_from_pattern(made, NULL);
    enum regex_result result = match(made, s, whole, found, why);
    if (result == REGEX_YES) {
        const PCRE2_SIZE *at = pcre2_get_ovector_pointer(found);
        *groups = pcre2_get_ovector_count(found);
        for (size_t i = 0; i < *groups && i < room; i++)
            for (size_t k = 0; k < 2; k++)
                spans[i][k] = at[2 * i + k] == PCRE2_UNSET ? -1 : (int32_t)at[2 * i + k];
    }
    pcre2_match_data_free(found);
    pcre2_code_free(made);
    return result;
}
