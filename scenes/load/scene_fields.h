/* SPDX-License-Identifier: Apache-2.0 */
/* Checked reading of a scene's JSON: every failure names the file, line, column, key path and what
 * was expected. */
#ifndef ISOPHOTE_SCENES_SCENE_FIELDS_H
#define ISOPHOTE_SCENES_SCENE_FIELDS_H

#include "scenes.h"

/* A document being read: what every function below needs for its messages. */
struct document {
    const char *file; /* names the document, and relative paths stand beside it */
    struct error *err;
    struct arena arena; /* lives as long as the loading does */
};

enum status document_memory(struct document *d); /* out of memory */

/* "expected %s, found %s"; expected: "an array of three numbers" */
enum status expected(struct document *d, const struct json *v, const char *expected);

/* v is an object and has no keys but these (the list ends with NULL). A key that is not known is an
 * error that names the nearest one that is. */
enum status read_object(struct document *d, const struct json *v, const char *const *keys);
/* object[key], which must be there. */
enum status read_required(struct document *d, const struct json *object, const char *key,
                          const char *what, const struct json **out);

enum status read_number(struct document *d, const struct json *v, double lo, double hi,
                        double *out);
enum status read_integer(struct document *d, const struct json *v, int64_t lo, int64_t hi,
                         int64_t *out);
enum status read_vector(struct document *d, const struct json *v, size_t n, double lo, double hi,
                        double *out);
enum status read_string(struct document *d, const struct json *v, const char **out);
/* The index of v's string in `names` (ends with NULL). */
enum status read_choice(struct document *d, const struct json *v, const char *const *names,
                        int *out);
/* A number for all three channels, or [r, g, b]. */
enum status read_rgb(struct document *d, const struct json *v, double lo, double hi, float out[3]);

/* The same for object[key]; when it is absent *out keeps what it holds. */
enum status field_number(struct document *d, const struct json *object, const char *key, double lo,
                         double hi, double *out);
enum status field_float(struct document *d, const struct json *object, const char *key, double lo,
                        double hi, float *out);
enum status field_integer(struct document *d, const struct json *object, const char *key,
                          int64_t lo, int64_t hi, int64_t *out);
enum status field_vector(struct document *d, const struct json *object, const char *key, size_t n,
                         double lo, double hi, double *out);
enum status field_choice(struct document *d, const struct json *object, const char *key,
                         const char *const *names, int *out);
enum status field_rgb(struct document *d, const struct json *object, const char *key, double lo,
                      double hi, float out[3]);
enum status field_bool(struct document *d, const struct json *object, const char *key, bool *out);

/* The nearest of `names` (count of them) to `word`, or NULL when none is near. */
const char *nearest_name(const char *word, const char *const *names, size_t count);

/* The path of a file that the document names: beside the document, absolute, or "data:..." in the
 * folder of fetched data (docs/reference/scenes.md). */
enum status read_path(struct document *d, const struct json *v, const char **out);
/* The error for a file named at v that could not be read, from the error of reading it: a file of
 * "data:" that is absent is MISSING, with the command that gets it; any other absent file is IO.
 * Keeps other codes. */
enum status file_failed(struct document *d, const struct json *v, const struct error *why);

#endif
