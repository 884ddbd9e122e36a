/* SPDX-License-Identifier: Apache-2.0 */
#include "import_scene.h"

#include <math.h>
#include <stdlib.h>

enum { LOOK_WIDTH = 40, LOOK_HEIGHT = 30, LOOK_SPP = 4, LOOK_DEPTH = 6 };
/* Of `bright`: beyond, a picture shows little; in the middle, white is not yet clipped. */
static const double dark = 0.05, blown_out = 1.5, well = 0.8;
/* Beside a model's own lights: shadows and what lies behind are not black. */
static const double dim_sky = 0.05;
/* A model in less of its own camera's picture is not what that camera was meant for: Blender, say,
 * puts the one of its empty scene into every file. */
static const double speck = 0.01;

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void judge(const struct reference_picture *p, struct import_picture *out)
{
    double y[LOOK_WIDTH * LOOK_HEIGHT];
    size_t pixels = (size_t)p->width * p->height, n = 0, shown = 0;
    out->finite = true;
    for (size_t i = 0; i < pixels; i++) {
        const double *c = p->beauty + 3 * i;
        double luminance = 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2];
        out->finite &= isfinite(luminance) != 0;
        shown += p->depth[i] > 0;
        if (luminance > 0)
            y[n++] = luminance;
    }
    out->shown = (double)shown / (double)pixels;
    qsort(y, n, sizeof *y, ascending);
    out->bright = n ? y[n * 9 / 10] : 0;
}

enum status import_look(const char *path, const char *text, size_t size, struct import_picture *out,
                        struct error *err)
{
    struct scene *s = NULL;
    struct reference *r = NULL;
    struct reference_picture p = {0};
    enum status st = scene_load_memory(path, text, size, &s, err);
    if (st == STATUS_OK)
        st = reference_open(s, &r, err);
    if (st == STATUS_OK) {
        struct reference_job job = {.width = LOOK_WIDTH,
                                    .height = LOOK_HEIGHT,
                                    .sample_count = LOOK_SPP,
                                    .max_depth = LOOK_DEPTH,
                                    .rr_depth = LOOK_DEPTH};
        st = reference_render(r, &job, &p, err);
    }
    if (st == STATUS_OK) {
        judge(&p, out);
        reference_picture_free(&p);
    }
    reference_close(r);
    scene_free(s);
    return st;
}

static enum status attempt(struct arena *a, const char *model, const char *scene,
                           const struct scene_import_options *options, struct scene_import *out,
                           struct import_picture *picture, struct error *err)
{
    enum status st = scene_import(a, model, scene, options, out, err);
    return st == STATUS_OK ? import_look(scene, out->text, out->size, picture, err) : st;
}

/* Two digits. */
static double rounded(double x)
{
    char text[32];
    snprintf(text, sizeof text, "%.2g", x);
    return strtod(text, NULL);
}

/* One more thing that was done. */
static void also(struct arena *a, const char **how, const char *what)
{
    *how = *how ? arena_printf(a, "%s; %s", *how, what) : what;
}

static enum status expose(struct arena *a, const char *model, const char *scene,
                          struct scene_import_options *options, struct scene_import *out,
                          struct import_picture *picture, const char **how, struct error *err)
{
    enum status st = attempt(a, model, scene, options, out, picture, err);
    if (st == STATUS_OK && picture->shown < speck && out->own_camera && !options->camera) {
        options->frame = true;
        also(a, how,
             picture->shown > 0 ? "a camera: the model is a speck to its own"
                                : "a camera: the model's own sees none of it");
        st = attempt(a, model, scene, options, out, picture, err);
    }
    if (st != STATUS_OK || options->light_scale > 0)
        return st;
    bool own = out->own_lights && picture->bright > 0;
    if (own && (picture->bright < dark || picture->bright > blown_out)) {
        options->light_scale = rounded(well / picture->bright);
        also(a, how,
             arena_printf(a, "the model's lights times %g, for a picture that is well exposed",
                          options->light_scale));
        st = attempt(a, model, scene, options, out, picture, err);
    } else if (out->own_lights && !own) {
        options->studio = true;
        also(a, how, "a lamp and a gray sky: the model's lights do not reach what its camera sees");
        st = attempt(a, model, scene, options, out, picture, err);
    }
    if (st != STATUS_OK || picture->bright >= dark)
        return st;
    /* inside a room, say */
    options->headlight = out->radius > 0 ? out->radius * out->radius : 1;
    st = attempt(a, model, scene, options, out, picture, err);
    if (st != STATUS_OK || picture->bright < 1e-9)
        return st;
    options->headlight = rounded(options->headlight * well / picture->bright);
    also(a, how, "a light where the camera stands: no other reaches what it sees");
    return attempt(a, model, scene, options, out, picture, err);
}

enum status import_exposed(struct arena *a, const char *model, const char *scene,
                           struct scene_import_options *options, struct scene_import *out,
                           struct import_picture *picture, const char **how, struct error *err)
{
    *how = NULL;
    enum status st = expose(a, model, scene, options, out, picture, how, err);
    if (st != STATUS_OK || !out->own_lights || options->studio)
        return st;
    options->sky = dim_sky;
    return attempt(a, model, scene, options, out, picture, err);
}
