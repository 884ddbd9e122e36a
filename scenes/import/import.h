/* SPDX-License-Identifier: Apache-2.0 */
/* What import/ offers: model files as triangles (geometry/model.h), read in a child process. */
#ifndef ISOPHOTE_SCENES_IMPORT_H
#define ISOPHOTE_SCENES_IMPORT_H

#include "geometry/offers.h"

/* Reads a model file in a child process of its own (docs/reference/scenes.md says why), with a
 * budget of time and memory. Fails: MISSING, IO, PARSE (the reader's words), TYPE (no triangles),
 * UNSUPPORTED, LIMIT, TIMEOUT, CANCELLED, MEMORY; a crash of the reader is PARSE. */
enum status model_import(const char *path, enum model_layout layout, struct model *out,
                         struct error *err);
struct import_budget {
    double seconds; /* of wall clock */
    uint64_t bytes; /* of address space beyond what this process has */
};
enum status model_import_within(const char *path, enum model_layout layout,
                                const struct import_budget *budget, struct model *out,
                                struct error *err);
void model_close(struct model *m);

/* Between its own files: model_child.c, in the child: reads path and leaves a result
 * (source/model_result.h) in the shared memory fd. */
void import_in_child(const char *path, enum model_layout layout, int fd);
/* model_import.c, in the parent: what the child left, checked, and mapped until model_close. */
enum status import_take(int fd, const char *path, struct model *out, struct error *err);

#endif
