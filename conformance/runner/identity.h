/* SPDX-License-Identifier: Apache-2.0 */
/* Identities of what conformance judges: devices, and the files that a case read. */
#ifndef CONFORMANCE_IDENTITY_H
#define CONFORMANCE_IDENTITY_H

#include "conformance.h"

/* Hashes of files as they are now, each asked for once. */
struct input_hashes {
    struct known_input {
        const char *path;
        char hash[33];
        struct known_input *next;
    } * first;
};
/* The same files as in `before` (of the kind "inputs", made for the scene at scene_path or another
 * place that holds the same), with the bytes that they have now. */
const struct identity *identity_inputs_now(struct arena *a, struct input_hashes *hashes,
                                           const char *scene_path, const struct identity *before,
                                           struct error *err);
/* What a case's verdict depends on; device and inputs as of conformance.h, inputs may be NULL. */
const struct identity *identity_of_case(struct arena *a, const struct identity *program,
                                        const struct identity *environment,
                                        const struct identity *device, const char *name,
                                        const struct identity *inputs,
                                        const struct case_settings *settings, struct error *err);
/* The program at `path`, by its bytes. */
const struct identity *identity_of_program_file(struct arena *a, const char *path,
                                                struct error *err);
/* The inner identity of a kind, NULL if there is none. */
const struct identity *identity_inner(const struct identity *id, const char *kind);

#endif
