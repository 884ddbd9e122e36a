/* SPDX-License-Identifier: Apache-2.0 */
/* Camera rays (protocol sections 2, 14 and 23). */
#ifndef K_CAMERA_H
#define K_CAMERA_H
#include "math/random.h"
#include "scene/scene.h"

/* q(u) of a filter: `camera` begins with its table, if it has one. */
K_FN float k_filter_map(const struct k_scene *sc, float u)
{
    uint filter = sc->launch->filter;
    if (filter == K_FILTER_BOX)
        return 2.0f * u - 1.0f;
    if (filter == K_FILTER_TENT)
        return u < 0.5f ? K_SQRT(2.0f * u) - 1.0f : 1.0f - K_SQRT(2.0f * (1.0f - u));
    float y = u * (float)K_FILTER_CELLS, j = K_FLOOR(y);
    K_GLOBAL const float *T = sc->camera + (int)j;
    return T[0] + (T[1] - T[0]) * (y - j);
}

/* Where in the picture, along one axis, the number u puts a sample of a pixel. */
K_FN float k_film_position(const struct k_scene *sc, uint pixel, float u)
{
    if (K_HAS(CAMERAS) && sc->launch->filter_radius > 0.0f)
        return ((float)pixel + 0.5f) + sc->launch->filter_radius * k_filter_map(sc, u);
    return (float)pixel + u;
}

/* Uniform on the aperture's polygon, whose corners stand in `camera` behind the table. */
K_FN void k_sample_polygon(const struct k_scene *sc, float u, float v, float *x, float *y)
{
    float a = 2.0f * u - 1.0f, b = 2.0f * v - 1.0f;
    int wide = K_ABS(a) > K_ABS(b);
    float r = k_select(wide, a, b), other = k_select(wide, b, a);
    *x = 0.0f;
    *y = 0.0f;
    if (r == 0.0f)
        return;
    float eighth = 0.125f * (other / r), t = k_select(wide, eighth, 0.25f - eighth);
    if (r < 0.0f) {
        r = -r;
        t = t + 0.5f;
    }
    if (t < 0.0f)
        t = t + 1.0f;
    float n = (float)sc->launch->blades, w = t * n, i = k_min(K_FLOOR(w), n - 1.0f), f = w - i;
    K_GLOBAL const float *C = sc->camera + K_CAMERA_CORNERS + 2 * (int)i;
    *x = r * (C[0] + (C[2] - C[0]) * f);
    *y = r * (C[1] + (C[3] - C[1]) * f);
}

/* The ray through a point of the picture, in pixels; (u, v): the lens' numbers. */
K_FN void k_camera_through(const struct k_scene *sc, float px, float py, float u, float v,
                           struct k_vec3 *o, struct k_vec3 *d)
{
    K_GLOBAL const struct k_launch *L = sc->launch;
    struct k_vec3 right = v3_load(L->right), up = v3_load(L->up), forward = v3_load(L->forward);
    *o = v3_load(L->origin);
    if (K_HAS(CAMERAS) && L->camera_type == K_CAMERA_EQUIRECTANGULAR) {
        float st, ct, sp, cp;
        k_sincos(K_PI * (py / (float)L->height), &st, &ct);
        k_sincos(K_TWO_PI * (px / (float)L->width), &sp, &cp);
        struct k_vec3 side = v3_madd(v3_scale(right, -(st * sp)), up, ct);
        *d = v3_normalize(v3_madd(side, forward, -(st * cp)));
        return;
    }
    float a = ((2.0f * px) / (float)L->width - 1.0f) * L->tan_x;
    float b = (1.0f - (2.0f * py) / (float)L->height) * L->tan_y;
    if (K_HAS(CAMERAS) && L->camera_type == K_CAMERA_ORTHOGRAPHIC) {
        *o = v3_madd(v3_madd(*o, right, a), up, b);
        *d = v3_normalize(forward);
    } else {
        *d = v3_normalize(v3_madd(v3_madd(forward, right, a), up, b));
    }
    float radius = FAULT_IGNORED_LENS(L->lens_radius);
    if (radius > 0.0f) {
        float lx, ly, rx = radius, ry = radius;
        if (K_HAS(CAMERAS) && L->blades != 0u)
            k_sample_polygon(sc, u, v, &lx, &ly);
        else
            k_sample_disk(u, v, &lx, &ly);
        if (K_HAS(CAMERAS))
            rx = L->lens_x;
        struct k_vec3 focus = v3_madd(*o, *d, L->focus_distance / v3_dot(*d, forward));
        *o = v3_madd(v3_madd(*o, right, rx * lx), up, ry * ly);
        *d = v3_normalize(v3_sub(focus, *o));
    }
}

K_FN void k_camera_ray(const struct k_scene *sc, struct k_stream *stream, struct k_vec3 *o,
                       struct k_vec3 *d)
{
    struct k_numbers u = k_block(stream, 0);
    float px = k_film_position(sc, stream->x, u.u0), py = k_film_position(sc, stream->y, u.u1);
    k_camera_through(sc, px, py, u.u2, u.u3, o, d);
}

/* k of the scene's clamp of a sample, 1 where it does nothing. */
K_FN float k_clamp_factor(const struct k_scene *sc, struct k_vec3 L)
{
    float most = sc->launch->clamp, largest = v3_max(L);
    return K_HAS(CAMERAS) && most > 0.0f && largest > most ? most / largest : 1.0f;
}
K_FN struct k_vec3 k_sample_clamp(const struct k_scene *sc, struct k_vec3 L)
{
    return K_HAS(CAMERAS) ? v3_scale(L, k_clamp_factor(sc, L)) : L;
}

#endif
