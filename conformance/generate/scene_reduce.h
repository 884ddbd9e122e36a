/* SPDX-License-Identifier: Apache-2.0 */
/* scene_reduce.h: makes a scene that shows something smaller for as long as it shows it (delta
 * debugging, Zeller and Hildebrandt 2002, on the tree of the file): entries and keys go, numbers
 * become round. It knows no format: what does not load any more does not show anything either. */
#ifndef CONFORMANCE_SCENE_REDUCE_H
#define CONFORMANCE_SCENE_REDUCE_H

#include "base.h"

/* Does the scene still show it? */
typedef bool scene_reduce_test(void *ctx, const char *text, size_t size);

struct scene_reduction {
    size_t tests, bytes_before, bytes_after;
    bool complete; /* nothing more can go; else the time was over */
};
/* Appends the smallest scene found. Fails: PARSE, MEMORY; MISMATCH when the scene does not show it
 * to begin with. */
enum status scene_reduce(const char *text, size_t size, scene_reduce_test *test, void *ctx,
                         double seconds, struct text *out, struct scene_reduction *what,
                         struct error *err);

#endif
