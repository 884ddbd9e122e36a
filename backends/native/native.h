/* SPDX-License-Identifier: Apache-2.0 */
/* The native device's own entry points, which `faulty` shares. */
#ifndef ISOPHOTE_NATIVE_H
#define ISOPHOTE_NATIVE_H

#include "api/offers.h"

extern const struct backend_api native_api;

/* What native_api.enumerate tells of this machine, with another id. Fails: MISSING (no compiler).
 */
enum status native_describe(const char *id, struct device_info *out, struct error *err);
/* Opens it with a mistake of faults_list compiled in, or NULL. */
enum status native_open(const char *fault, struct backend **out, struct error *err);

/* Opens it with an edit of the text of kernel and shaders' library (mutant.h), which stays where it
 * is, or NULL for none. It is compiled from source, quickly rather than well, once for all scenes
 * without shaders. */
struct edit;
enum status native_open_edited(const struct edit *edit, bool marked, struct backend **out,
                               struct error *err);
/* A hash of the machine code of the text's functions that are not static: with nothing inlined, or
 * with what they call. Fails: BUILD (the compiler refuses it), IO, MISSING. */
enum code_form { CODE_APART, CODE_INLINED };
enum status native_code_hash(const char *text, enum math_mode mode, enum code_form form,
                             char hash[33], struct error *err);
/* The same of the shaders' library as grids on the processor compile it, for rows of points. */
enum status native_grid_code_hash(const char *library, enum math_mode mode, enum code_form form,
                                  char hash[33], struct error *err);

void native_close(struct backend *b);
unsigned native_code_paths(const struct backend *b, enum code_path *fastest);
enum bvh_kind native_preferred_bvh(const struct backend *b);
enum status native_upload(struct backend *b, const struct scene_buffers *buffers,
                          uint64_t *device_bytes, struct error *err);
enum status native_build(struct backend *b, const struct program_request *request,
                         struct build_info *info, struct error *err);
void native_request(struct backend *b, const struct program_request *request);
enum status native_film_begin(struct backend *b, size_t pixels, bool poison, struct error *err);
enum status native_launch(struct backend *b, enum kernel_entry entry, const struct k_launch *launch,
                          const uint32_t grid[2], const uint32_t work_group[2], struct error *err);
enum status native_finish(struct backend *b, double *device_s, struct error *err);
enum status native_film_read(struct backend *b, int64_t *sums, size_t pixels, struct error *err);
enum status native_run_words(struct backend *b, enum kernel_entry entry,
                             const struct k_launch *launch, const uint32_t *in, size_t in_words,
                             uint32_t *out, size_t out_words, size_t items, struct error *err);
void native_defaults(const struct backend *b, struct launch_settings *s);
void native_set_threads(struct backend *b, unsigned threads);

/* All of struct backend_api but name, flags, enumerate and open. */
#define NATIVE_FUNCTIONS                                                                           \
    .close = native_close, .code_paths = native_code_paths, .preferred_bvh = native_preferred_bvh, \
    .upload = native_upload, .build = native_build, .request = native_request,                     \
    .film_begin = native_film_begin, .launch = native_launch, .finish = native_finish,             \
    .film_read = native_film_read, .run_words = native_run_words, .defaults = native_defaults,     \
    .set_threads = native_set_threads

/* Takes over which marks a library of mutant:marked has passed, before it is closed. */
void native_reached_take(void *library);

#endif
