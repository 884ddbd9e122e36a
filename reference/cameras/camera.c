/* SPDX-License-Identifier: Apache-2.0 */
#include "camera.h"

#include "numbers/offers.h"

/* Tangents of half the fields of view of a width x height picture (orthographic: half its
 * extents). scenes.h has the same few lines for the back ends; an oracle reads the protocol
 * itself. */
static void view_tangents(const struct camera *c, uint32_t width, uint32_t height, double *tan_x,
                          double *tan_y)
{
    double t = c->tan_half_fov, aspect = (double)width / height;
    bool along_x = c->fov_axis == FOV_X || (c->fov_axis == FOV_SMALLER && width <= height) ||
                   (c->fov_axis == FOV_LARGER && width >= height);
    *tan_x = along_x ? t : t * aspect;
    *tan_y = along_x ? t / aspect : t;
}

struct camera_footprint camera_footprint(const struct camera *c, uint32_t width, uint32_t height)
{
    double tan_x, tan_y;
    view_tangents(c, width, height, &tan_x, &tan_y);
    switch (c->type) {
    case CAMERA_ORTHOGRAPHIC:
        return (struct camera_footprint){2 * tan_y / height, 0};
    case CAMERA_EQUIRECTANGULAR:
        return (struct camera_footprint){0, PI / height};
    case CAMERA_PERSPECTIVE:
        break;
    }
    return (struct camera_footprint){0, 2 * tan_y / height};
}

void map_polygon(double u, double v, uint32_t n, double rotation, double *x, double *y)
{
    double dx, dy;
    map_disk(u, v, &dx, &dy);
    double r = hypot(dx, dy), turns = atan2(dy, dx) / (2 * PI);
    double w = (turns < 0 ? turns + 1 : turns) * n, i = fmin(floor(w), n - 1), f = w - i;
    double from = 2 * PI * i / n + rotation, to = 2 * PI * (i + 1) / n + rotation;
    *x = r * ((1 - f) * cos(from) + f * cos(to));
    *y = r * ((1 - f) * sin(from) + f * sin(to));
}

static struct ray through_lens(const struct camera *c, struct ray ray, const double u[2])
{
    struct vec3 right = from_double(c->right), up = from_double(c->up);
    double lx, ly;
    if (c->blades >= 3)
        map_polygon(u[0], u[1], c->blades, c->blade_rotation, &lx, &ly);
    else
        map_disk(u[0], u[1], &lx, &ly);
    double squeeze = c->anamorphic > 0 ? c->anamorphic : 1;
    double along = c->focus_distance / dot(ray.d, from_double(c->forward));
    struct vec3 focus = add(ray.o, scale(along, ray.d));
    struct vec3 lens =
        add(scale(lx * c->lens_radius / squeeze, right), scale(ly * c->lens_radius, up));
    struct vec3 o = add(ray.o, lens);
    return (struct ray){o, normalize(sub(focus, o))};
}

struct ray camera_ray(const struct camera *c, uint32_t width, uint32_t height,
                      const double position[2], const double lens[2])
{
    struct vec3 right = from_double(c->right), up = from_double(c->up);
    struct vec3 forward = from_double(c->forward), origin = from_double(c->origin);
    if (c->type == CAMERA_EQUIRECTANGULAR) {
        double theta = PI * position[1] / height, phi = 2 * PI * position[0] / width;
        struct vec3 d = add(scale(-sin(theta) * sin(phi), right),
                            add(scale(cos(theta), up), scale(-sin(theta) * cos(phi), forward)));
        return (struct ray){origin, normalize(d)};
    }
    double tan_x, tan_y;
    view_tangents(c, width, height, &tan_x, &tan_y);
    double a = (2 * position[0] / width - 1) * tan_x, b = (1 - 2 * position[1] / height) * tan_y;
    struct vec3 across = add(scale(a, right), scale(b, up));
    struct ray ray = c->type == CAMERA_ORTHOGRAPHIC
                         ? (struct ray){add(origin, across), normalize(forward)}
                         : (struct ray){origin, normalize(add(forward, across))};
    return c->lens_radius > 0 ? through_lens(c, ray, lens) : ray;
}
