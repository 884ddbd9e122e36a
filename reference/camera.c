#include "camera.h"

#include "random.h"

/* Tangents of half the fields of view of a width x height picture. scenes.h has the same few lines
 * for the back ends; an oracle reads the protocol itself. */
static void view_tangents(const struct camera *c, uint32_t width, uint32_t height, double *tan_x,
                          double *tan_y)
{
    double t = c->tan_half_fov, aspect = (double)width / height;
    bool along_x = c->fov_axis == FOV_X || (c->fov_axis == FOV_SMALLER && width <= height) ||
                   (c->fov_axis == FOV_LARGER && width >= height);
    *tan_x = along_x ? t : t * aspect;
    *tan_y = along_x ? t / aspect : t;
}

double camera_pixel(const struct camera *c, uint32_t width, uint32_t height)
{
    double tan_x, tan_y;
    view_tangents(c, width, height, &tan_x, &tan_y);
    return 2 * tan_y / height;
}

struct ray camera_ray(const struct camera *c, uint32_t width, uint32_t height, uint32_t x,
                      uint32_t y, const double u[4])
{
    double tan_x, tan_y;
    view_tangents(c, width, height, &tan_x, &tan_y);
    double px = x + u[0], py = y + u[1];
    double a = (2 * px / width - 1) * tan_x, b = (1 - 2 * py / height) * tan_y;

    struct vec3 right = from_double(c->right), up = from_double(c->up);
    struct vec3 forward = from_double(c->forward), origin = from_double(c->origin);
    struct vec3 d = normalize(add(forward, add(scale(a, right), scale(b, up))));
    if (!(c->lens_radius > 0))
        return (struct ray){origin, d};

    double lx, ly;
    map_disk(u[2], u[3], &lx, &ly);
    struct vec3 focus = add(origin, scale(c->focus_distance / dot(d, forward), d));
    struct vec3 lens = add(scale(lx * c->lens_radius, right), scale(ly * c->lens_radius, up));
    struct vec3 o = add(origin, lens);
    return (struct ray){o, normalize(sub(focus, o))};
}
