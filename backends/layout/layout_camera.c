/* SPDX-License-Identifier: Apache-2.0 */
/* Film and aperture as the kernel reads them (protocol section 23). */
#include "layout_buffers.h"

#include <math.h>
#include <string.h>

/* h of the table, and its integral from 0 to t. */
static double filter_density(enum pixel_filter filter, double t)
{
    if (filter == PIXEL_GAUSSIAN)
        return exp(-4.5 * t * t);
    return 0.35875 + 0.48829 * cos(M_PI * t) + 0.14128 * cos(2 * M_PI * t) +
           0.01168 * cos(3 * M_PI * t);
}

static double filter_integral(enum pixel_filter filter, double t)
{
    if (filter == PIXEL_GAUSSIAN)
        return sqrt(M_PI / 18) * erf(3 * M_SQRT1_2 * t);
    return 0.35875 * t + (0.48829 * sin(M_PI * t) + 0.14128 / 2 * sin(2 * M_PI * t) +
                          0.01168 / 3 * sin(3 * M_PI * t)) /
                             M_PI;
}

/* t >= 0 below which the share `s` of the filter's half from 0 to 1 lies: Newton's steps, kept
 * between bounds. */
static double filter_place(enum pixel_filter filter, double s)
{
    const double wanted = s * filter_integral(filter, 1);
    double low = 0, high = 1, t = s;
    for (int i = 0; i < 200 && high - low > 0; i++) {
        double excess = filter_integral(filter, t) - wanted;
        if (excess > 0)
            high = t;
        else
            low = t;
        double next = t - excess / filter_density(filter, t);
        if (!(next > low && next < high))
            next = 0.5 * (low + high);
        if (next == t)
            break;
        t = next;
    }
    return t;
}

static void table_make(enum pixel_filter filter, float *T)
{
    const int half = K_FILTER_CELLS / 2;
    for (int i = 0; i <= half; i++) {
        double t = i == half ? 1 : i == 0 ? 0 : filter_place(filter, (double)i / half);
        T[half + i] = (float)t;
        T[half - i] = -(float)t;
    }
}

static void corners_make(const struct camera *c, float *out)
{
    for (uint32_t i = 0; i <= c->blades; i++) {
        double phi = 2 * M_PI * (i % c->blades) / c->blades + c->blade_rotation;
        out[2 * i] = (float)cos(phi);
        out[2 * i + 1] = (float)sin(phi);
    }
}

enum status layout_camera(struct layout *l, const struct scene *s, struct error *err)
{
    static const uint32_t types[] = {[CAMERA_PERSPECTIVE] = K_CAMERA_PERSPECTIVE,
                                     [CAMERA_ORTHOGRAPHIC] = K_CAMERA_ORTHOGRAPHIC,
                                     [CAMERA_EQUIRECTANGULAR] = K_CAMERA_EQUIRECTANGULAR};
    const struct camera *c = &s->camera;
    const double anamorphic = c->anamorphic > 0 ? c->anamorphic : 1;
    const bool table = s->filter_radius > 0 && s->filter >= PIXEL_GAUSSIAN;
    l->launch.camera_type = types[c->type];
    l->launch.filter = table                     ? K_FILTER_TABLE
                       : s->filter == PIXEL_TENT ? K_FILTER_TENT
                                                 : K_FILTER_BOX;
    l->launch.filter_radius = scene_default_filter(s) ? 0 : (float)s->filter_radius;
    l->launch.blades = c->blades;
    l->launch.lens_x = (float)(c->lens_radius / anamorphic);
    l->launch.clamp = s->clamp;
    if (c->type != CAMERA_PERSPECTIVE || c->blades > 0 || anamorphic != 1 ||
        !scene_default_filter(s) || s->clamp > 0)
        l->features |= K_FEATURE_CAMERAS;
    if (!table && c->blades == 0)
        return STATUS_OK;
    void *data;
    enum status st = layout_take(l, BUFFER_camera, K_CAMERA_CORNERS + 2 * (CAMERA_BLADES_MAX + 1),
                                 sizeof(float), &data, err);
    if (st)
        return st;
    float *out = data;
    memset(out, 0, (K_CAMERA_CORNERS + 2 * (CAMERA_BLADES_MAX + 1)) * sizeof *out);
    if (table)
        table_make(s->filter, out);
    if (c->blades)
        corners_make(c, out + K_CAMERA_CORNERS);
    return STATUS_OK;
}
