/* Camera, film and render settings of a scene file. */
#include "scene_loader.h"

#include <math.h>
#include <string.h>

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static void scale(double v[3], double s)
{
    for (int i = 0; i < 3; i++)
        v[i] *= s;
}

enum status load_camera(struct loader *l, const struct json *v)
{
    static const char *const keys[] = {"type",     "origin",      "target",         "up", "fov",
                                       "fov_axis", "lens_radius", "focus_distance", NULL};
    static const char *const types[] = {"perspective", NULL};
    static const char *const axes[] = {"x", "y", "smaller", "larger", NULL};
    struct document *d = &l->d;
    struct camera c = {.fov_axis = FOV_SMALLER};
    double target[3], up[3] = {0, 1, 0}, degrees = 45;
    int type = 0, axis = FOV_SMALLER;
    const struct json *origin_at, *target_at;
    TRY(read_object(d, v, keys));
    TRY(field_choice(d, v, "type", types, &type));
    TRY(read_required(d, v, "origin", "an array of 3 numbers", &origin_at));
    TRY(read_required(d, v, "target", "an array of 3 numbers", &target_at));
    TRY(read_vector(d, origin_at, 3, -1e9, 1e9, c.origin));
    TRY(read_vector(d, target_at, 3, -1e9, 1e9, target));
    TRY(field_vector(d, v, "up", 3, -1e9, 1e9, up));
    TRY(field_number(d, v, "fov", 1e-3, 179, &degrees));
    TRY(field_choice(d, v, "fov_axis", axes, &axis));
    TRY(field_number(d, v, "lens_radius", 0, 1e6, &c.lens_radius));

    for (int i = 0; i < 3; i++)
        c.forward[i] = target[i] - c.origin[i];
    double distance = sqrt(dot(c.forward, c.forward));
    if (!(distance > 1e-12))
        return json_error(d->err, d->file, target_at, STATUS_RANGE,
                          "the camera's target is its origin, expected another point");
    scale(c.forward, 1 / distance);
    double up_length = sqrt(dot(up, up));
    if (up_length > 0)
        scale(up, 1 / up_length);
    cross(c.forward, up, c.right);
    double sine = sqrt(dot(c.right, c.right));
    if (!(sine > 1e-6))
        return json_error(d->err, d->file, json_get(v, "up") ? json_get(v, "up") : v, STATUS_RANGE,
                          "\"up\" is zero or along the view, expected a vector across it");
    scale(c.right, 1 / sine);
    cross(c.right, c.forward, c.up);
    c.focus_distance = distance;
    TRY(field_number(d, v, "focus_distance", 1e-9, 1e9, &c.focus_distance));
    c.tan_half_fov = tan(degrees * (M_PI / 360));
    c.fov_axis = (enum fov_axis)axis;
    l->scene->camera = c;
    return STATUS_OK;
}

enum status load_film(struct loader *l, const struct json *v)
{
    static const char *const keys[] = {"width", "height", NULL};
    int64_t width = 512, height = 512;
    if (v) {
        TRY(read_object(&l->d, v, keys));
        TRY(field_integer(&l->d, v, "width", 1, IMAGE_SIDE_MAX, &width));
        TRY(field_integer(&l->d, v, "height", 1, IMAGE_SIDE_MAX, &height));
        if (width * height > IMAGE_PIXELS_MAX)
            return json_error(l->d.err, l->d.file, v, STATUS_LIMIT,
                              "found %lld x %lld pixels, expected at most 2^28", (long long)width,
                              (long long)height);
    }
    l->scene->width = (uint32_t)width;
    l->scene->height = (uint32_t)height;
    return STATUS_OK;
}

enum status load_render(struct loader *l, const struct json *v)
{
    static const char *const keys[] = {"spp", "max_depth", "rr_depth", "seed", NULL};
    int64_t spp = 64, max_depth = 8, rr_depth = 5, seed = 0;
    if (v) {
        TRY(read_object(&l->d, v, keys));
        TRY(field_integer(&l->d, v, "spp", 1, FILM_SAMPLES_MAX, &spp));
        TRY(field_integer(&l->d, v, "max_depth", 1, 65536, &max_depth));
        TRY(field_integer(&l->d, v, "rr_depth", 1, INT32_MAX, &rr_depth));
        TRY(field_integer(&l->d, v, "seed", 0, INT64_MAX, &seed));
    }
    struct scene *s = l->scene;
    s->spp = (uint32_t)spp;
    s->max_depth = (uint32_t)max_depth;
    s->rr_depth = (uint32_t)rr_depth;
    s->seed = (uint64_t)seed;
    return STATUS_OK;
}
