/* SPDX-License-Identifier: Apache-2.0 */
/* Waivers: known failures, each for a device pattern, a driver range, a case pattern, with a reason
 * and an expiry. The file (docs/reference/conformance.md):
 *
 *     {"waivers": [{"device": "opencl:*", "driver_min": "3.0", "driver_max": "3.1",
 *                   "case": "image.strict.*", "reason": "...", "expires": "2027-01-31"}]}
 *
 * Patterns are fnmatch(3) globs; device matches the id or the device's name. */
#ifndef CONFORMANCE_WAIVERS_H
#define CONFORMANCE_WAIVERS_H

#include "base.h"

struct waiver {
    const char *device, *test, *driver_min, *driver_max, *reason, *expires;
    bool expired;
};
struct waivers {
    struct waiver *list;
    size_t count, expired;
};
/* today: "2026-11-21". Fails: MISSING, IO, PARSE, TYPE (each with place and key path). */
enum status waivers_read(struct arena *a, const char *path, const char *today, struct waivers *out,
                         struct error *err);
/* The first waiver that applies, or NULL; expired ones never do. name and driver may be "". */
const struct waiver *waiver_find(const struct waivers *w, const char *device, const char *name,
                                 const char *driver, const char *test);
/* Orders version strings by their runs of digits as numbers and the rest as text: "3.9" < "3.10".
 */
int version_compare(const char *a, const char *b);

#endif
