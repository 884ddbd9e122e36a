/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are one object with one array of flat objects: waivers, expected SKIPs. */
#ifndef CONFORMANCE_FIELDS_H
#define CONFORMANCE_FIELDS_H

#include "base.h"

/* One key of such an object: a string that is not empty, or where `count` is set a whole number >=
 * 0. */
struct field {
    const char *key, **text;
    int64_t *count;
    bool required;
};
/* `what`: "a waiver". Fails: TYPE with place and key path. Targets are set as keys are found. */
enum status fields_read(const char *path, const struct json *v, const char *what,
                        const struct field *fields, size_t n, struct error *err);
/* The file's array, {"KEY": [...]}. Fails: MISSING, IO, PARSE, TYPE. */
enum status fields_list(struct arena *a, const char *path, const char *key, const struct json **out,
                        struct error *err);

#endif
