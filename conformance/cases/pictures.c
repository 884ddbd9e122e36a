/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

#include <math.h>
#include <stdlib.h>

struct canvas {
    struct run_context *c;
    const char *mode;
    uint32_t width, height;
    uint8_t *rgb;
};

static enum status add(struct canvas *v, enum image_kind kind, const char *caption,
                       struct error *err)
{
    struct conform_result *r = v->c->result;
    const uint8_t *png;
    size_t size;
    enum status s = image_encode_png(v->c->arena, v->width, v->height, v->rgb, &png, &size, err);
    if (s != STATUS_OK)
        return s;
    if (!r->images)
        r->images = ARENA_ARRAY(v->c->arena, struct image_record, 4);
    if (!r->images || r->image_count == 4)
        return error_msg(err, STATUS_MEMORY, "no room for another picture");
    /* the scene does not live as long as the result */
    const char *scene = v->c->scene ? arena_strdup(v->c->arena, v->c->scene->name) : "";
    r->images[r->image_count++] = (struct image_record){.scene = scene,
                                                        .device = v->c->device_id,
                                                        .mode = v->mode,
                                                        .kind = kind,
                                                        .width = v->width,
                                                        .height = v->height,
                                                        .png = png,
                                                        .png_size = size,
                                                        .caption = caption};
    return STATUS_OK;
}

static uint8_t to_byte(double v) { return (uint8_t)(v > 0 ? v < 1 ? v * 255 + 0.5 : 255 : 0); }

static void canvas_tone(struct canvas *v, const double *image, double exposure)
{
    for (size_t i = 0; i < (size_t)v->width * v->height * 3; i++) {
        double x = image[i] * exposure;
        v->rgb[i] = to_byte(srgb_encode(x > 0 ? fmin(x, 1) : 0));
    }
}

static double luminance(const double *c) { return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2]; }

static void difference(struct canvas *v, const double *image, const double *reference, double full)
{
    for (size_t i = 0; i < (size_t)v->width * v->height; i++) {
        double d = (luminance(image + 3 * i) - luminance(reference + 3 * i)) / full;
        double a = sqrt(fmin(fabs(d), 1)); /* small ones show too */
        uint8_t *p = v->rgb + 3 * i;
        p[0] = to_byte(d < 0 ? 1 - a : 1);
        p[1] = to_byte(1 - a);
        p[2] = to_byte(d > 0 ? 1 - a : 1);
        if (!isfinite(d))
            p[0] = 255, p[1] = 0, p[2] = 255;
    }
}

static void significance(struct canvas *v, const double *image, const double *reference,
                         const double *variance)
{
    for (size_t i = 0; i < (size_t)v->width * v->height; i++) {
        double z = 0;
        for (size_t c = 3 * i; c < 3 * i + 3; c++) {
            double d = fabs(image[c] - reference[c]);
            if (d > 0)
                z = fmax(z, variance[c] > 0 ? d / sqrt(variance[c]) : 6);
        }
        double a = fmin(z / 6, 1);
        uint8_t *p = v->rgb + 3 * i;
        p[0] = to_byte(fmin(1, 2 * a));
        p[1] = to_byte(fmin(1, 2 * a));
        p[2] = to_byte(fmax(0, 2 * a - 1));
    }
}

enum status pictures_add(struct run_context *c, const char *mode, uint32_t width, uint32_t height,
                         const double *image, const double *reference, const double *variance,
                         struct error *err)
{
    size_t pixels = (size_t)width * height;
    struct canvas v = {c, mode, width, height, malloc(pixels * 3)};
    if (!v.rgb)
        return error_msg(err, STATUS_MEMORY, "out of memory for a picture");
    double mean = 0;
    for (size_t i = 0; i < pixels; i++)
        mean += luminance((reference ? reference : image) + 3 * i) / (double)pixels;
    if (!(mean > 0))
        mean = 1;
    char *caption =
        arena_printf(c->arena,
                     "device minus reference; full colour at %.3g, the reference's mean "
                     "luminance; blue too dark, red too bright, square-root scale",
                     mean);
    canvas_tone(&v, image, 0.18 / mean);
    enum status s = add(&v, IMAGE_PICTURE, "device", err);
    if (s == STATUS_OK && reference) {
        canvas_tone(&v, reference, 0.18 / mean);
        s = add(&v, IMAGE_REFERENCE, "expected", err);
    }
    if (s == STATUS_OK && reference) {
        difference(&v, image, reference, mean);
        s = add(&v, IMAGE_DIFFERENCE, caption ? caption : "device minus reference", err);
    }
    if (s == STATUS_OK && reference && variance) {
        significance(&v, image, reference, variance);
        s = add(&v, IMAGE_SIGNIFICANCE,
                "difference over its standard deviation: black 0, yellow 3, white 6 and more", err);
    }
    free(v.rgb);
    return s;
}
