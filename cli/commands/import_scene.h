/* SPDX-License-Identifier: Apache-2.0 */
/* A model file as a scene that is well exposed: scene_import, and looks at its picture. */
#ifndef ISOPHOTE_CLI_IMPORT_SCENE_H
#define ISOPHOTE_CLI_IMPORT_SCENE_H

#include "reference.h"

/* A small picture of the reference's. */
struct import_picture {
    double bright; /* luminance that 9 of 10 pixels that are not black do not exceed */
    bool finite;   /* all of them */
    double shown;  /* the share of them that show a surface */
};
enum status import_look(const char *path, const char *text, size_t size, struct import_picture *out,
                        struct error *err);

/* scene_import with `options`, which are changed until its picture is neither dark nor blown out:
 * the model's own lights, whose units differ from program to program, are scaled, and where they do
 * not reach what the camera sees light is added; beside them stands a dim sky. A camera of the
 * model's that sees nothing of it, or a speck, gives way to one that does, unless it was asked for
 * by name. A light_scale that is given stays. *how says what was done, NULL for nothing. */
enum status import_exposed(struct arena *a, const char *model, const char *scene,
                           struct scene_import_options *options, struct scene_import *out,
                           struct import_picture *picture, const char **how, struct error *err);

#endif
