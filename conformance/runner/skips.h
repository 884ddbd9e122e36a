/* SPDX-License-Identifier: Apache-2.0 */
/* Expected SKIPs: what a run may leave unjudged, and why. With such a list every other SKIP is a
 * finding, so that a device which suddenly cannot be opened does not pass. The file
 * (docs/reference/conformance.md):
 *
 *     {"skips": [{"device": "level_zero:*", "case": "kernel.texture.*",
 *                 "reason": "the scene has no textures", "at_most": 60}]}
 *
 * Patterns are fnmatch(3) globs; at_most counts cases of one device, absent: any number. */
#ifndef CONFORMANCE_SKIPS_H
#define CONFORMANCE_SKIPS_H

#include "base.h"

struct skip {
    const char *device, *test, *reason;
    int64_t at_most; /* -1: any number */
};
struct skips {
    struct skip *list;
    size_t count;
};
/* Fails: MISSING, IO, PARSE, TYPE (each with place and key path). */
enum status skips_read(struct arena *a, const char *path, struct skips *out, struct error *err);
/* The first row that fits, or NULL. */
const struct skip *skip_find(const struct skips *k, const char *device, const char *test,
                             const char *reason);

#endif
