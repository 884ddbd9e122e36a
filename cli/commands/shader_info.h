/* SPDX-License-Identifier: Apache-2.0 */
/* What a compiled shader takes and gives, as text: `isophote aslc --info`. */
#ifndef ISOPHOTE_SHADER_INFO_H
#define ISOPHOTE_SHADER_INFO_H

#include "base.h"
#include "shaders.h"

struct shader_info_options {
    const char *const *folders; /* where shaders are looked for besides; ends with NULL */
    const char *param;          /* only this parameter; NULL: all, after the shader's own line */
    bool verbose;               /* a line for each default and each metadatum */
};
/* Prints the parameters of `name`: a file, or one with .aso, .osl or .asl left out. json: an object
 * goes there instead, with all metadata, or with an error; NULL: text. Returns the exit status,
 * having said what is wrong. */
int shader_info_print(const char *name, const struct shader_info_options *opt,
                      struct json_writer *json);

#endif
