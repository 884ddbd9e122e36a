/* SPDX-License-Identifier: Apache-2.0 */
/* Single-place edits, made by rule: of any text, and of the text that devices compile. */
#ifndef ISOPHOTE_EDITS_H
#define ISOPHOTE_EDITS_H

#include "backends.h"

/* One edit: `length` bytes at `offset` become `now`. */
struct edit {
    const char *rule; /* "comparison" */
    size_t offset, length;
    const char *now;  /* in the arena */
    const char *file; /* by the text's #line, in the arena */
    uint32_t line;
    const char *function; /* whose body it is in, in the arena */
    size_t twin;          /* of a file that stands in the text twice: the other offset, else 0 */
    const char *callee; /* whose first two arguments it exchanges, in the arena; NULL: no call's */
};
/* All edits of the bodies of functions in `text`, C as device/ has it, in the order of the text.
 * Directives, comments and what stands outside of functions are left alone. The same text gives
 * the same edits. Fails: MEMORY. */
enum status edits_list(struct arena *a, const char *text, struct edit **out, size_t *count,
                       struct error *err);
/* Bodies of functions, with their braces, in the order of the text. Helpers are those of math/, which
 * every other one calls. Fails: MEMORY. */
struct body {
    size_t at, length;
    bool helper;
};
enum status bodies_list(struct arena *a, const char *text, struct body **out, size_t *count,
                        struct error *err);
/* The one that the edit is in; NULL: none. */
const struct body *edit_body(const struct body *bodies, size_t count, const struct edit *e);
/* The text of the function that the edit is in, as it is or with the edit made: every other function
 * but its twin and helpers is only declared. In the arena; NULL when out of memory. */
char *edit_alone(struct arena *a, const char *text, const struct body *bodies, size_t count,
                 const struct edit *e, bool made);
/* The text with all functions before `place` only declared, but helpers. In the arena; NULL when out of
 * memory. */
char *text_behind(struct arena *a, const char *text, const struct body *bodies, size_t count,
                  size_t place);
/* The text with all functions but `callee` and helpers only declared, and behind each body of it one
 * more function, which calls it twice with the same values and writes what it gives: the second time
 * with the first two exchanged, where that is asked for. Only where no parameter is a pointer and
 * the first two are of one type. In the arena; NULL when out of memory. */
enum second_call { SECOND_CALL_NONE, SECOND_CALL_SAME, SECOND_CALL_EXCHANGED };
char *text_called_twice(struct arena *a, const char *text, const struct body *bodies, size_t count,
                        const char *callee, enum second_call second);
/* Where marks tell what ran: in front of each statement of a block. From `at` on, to the next stretch,
 * nothing runs unless mark `mark` was passed before. A helper has one mark, where it begins; one of a
 * line or two has none, which would cost more than the helper; nor do functions with a goto have more
 * than one. */
#define MARK_NONE UINT32_MAX
struct stretch {
    size_t at;
    uint32_t mark; /* or MARK_NONE */
    bool begins;   /* the mark stands here; else it is one from before a block, which has ended */
};
struct marks {
    const struct stretch *list; /* in the order of the text */
    size_t count;
    uint32_t mark_count;
};
/* Fails: MEMORY. */
enum status marks_list(struct arena *a, const char *text, struct marks *out, struct error *err);
/* The mark that is passed before the place runs, or MARK_NONE. */
uint32_t marks_at(const struct marks *m, size_t place);
/* The text from `begin` on with its marks: each sets its byte of `isophote_reached`, which has
 * `isophote_reached_count`, those of all the text. In the arena; NULL when out of memory. */
char *text_marked(struct arena *a, const char *text, size_t begin, const struct marks *places);
/* The text with functions that a linker may replace: `static` in front of them means "weak". helpers:
 * those, too. In the arena; NULL when out of memory. */
char *text_apart(struct arena *a, const char *text, bool helpers);
/* text with the edit made, at its twin's place too, in the arena; NULL when out of memory. */
char *edit_apply(struct arena *a, const char *text, const struct edit *e);

/* Edits of the kernel's text and that of the shaders' library, one after the other as a scene with
 * shaders has them; all stay until the process ends. What both include is edited in both. Fails:
 * MEMORY. */
struct device_text {
    const char *text;
    size_t kernel; /* bytes of it that are the kernel's */
    const struct edit *edits;
    size_t count;
    const struct body *bodies;
    size_t body_count;
};
enum status device_text_need(struct device_text *out, struct error *err);
/* Its marks. Fails: MEMORY. */
enum status device_marks_need(struct marks *out, struct error *err);
/* "mutant:12", "mutant:none", "mutant:marked": the latter two have no edit, the last has marks. */
bool mutant_is(const char *id);
bool mutant_is_marked(const char *id);
/* The edit that it names; NULL: none. Fails: MISSING, MEMORY. */
enum status mutant_edit(const char *id, const struct edit **out, struct error *err);
/* The edit as one of the library's text alone, which begins at `begin`; false: the kernel's text alone
 * has it. */
bool edit_in_library(const struct device_text *t, const struct edit *e, size_t begin,
                     struct edit *out);
/* Appends the shaders' library as the mutant has it.
 * Fails: MISSING, MEMORY. */
enum status mutant_library(const char *id, struct text *out, struct error *err);

#endif
