/* SPDX-License-Identifier: Apache-2.0 */
/* shader_file.h: a shader's source as a group that can run. Comments that begin with //! say what
 * is not in the language; others mean nothing here:
 *
 *   //! param NAME VALUE            a value for the next layer
 *   //! layer SHADER NAME           a layer: the shader of that name in this file
 *   //! connect A.OUTPUT B.PARAM    as `isophote shade --connect`
 *   //! special                     points that hold infinities, NaN and -0 count, too
 *   //! error ..., //! fails ...    the file is about what is refused; nothing runs
 *
 * Without layers the group is the file's last shader. */
#ifndef CONFORMANCE_SHADER_FILE_H
#define CONFORMANCE_SHADER_FILE_H

#include "shaders.h"

struct shader_file {
    const char *name, *text;
    size_t size;
    const struct asl_program *program;
    struct asl_group *group;
    const char *const *last; /* outputs of the last layer, and Ci; ends with NULL */
    const char *const *all;  /* of all layers, "layer.name" */
    size_t layers;
    bool special; /* see there */
    bool snapped; /* some layer has the output `unsure`: asl_generate.h */
};
/* `variation` 0: the parameters' own values; else numbers and triples that nothing sets or connects
 * are moved at random by this seed. Everything lives in the arena. Fails: TYPE (with the place) and
 * what asl_compile and asl_group_* fail with. */
enum status shader_file_read(struct arena *a, const char *name, const char *text, size_t size,
                             uint32_t variation, struct shader_file *out, struct error *err);
/* Is the text about what is refused? */
bool shader_file_refused(const char *text);

#endif
