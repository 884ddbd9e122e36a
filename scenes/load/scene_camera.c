/* SPDX-License-Identifier: Apache-2.0 */
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

static const char *const camera_types[] = {CAMERA_TYPE_LIST(LIST_TEXT) NULL};

/* Keys that not every type of camera has: bits 1 << enum camera_type. */
static enum status check_keys(struct document *d, const struct json *v, enum camera_type type)
{
    enum {
        FLAT = 1 << CAMERA_PERSPECTIVE | 1 << CAMERA_ORTHOGRAPHIC /* has a film plane and a lens */
    };
    static const struct {
        const char *key;
        int types;
    } rows[] = {{"fov", 1 << CAMERA_PERSPECTIVE},
                {"height", 1 << CAMERA_ORTHOGRAPHIC},
                {"fov_axis", FLAT},
                {"lens_radius", FLAT},
                {"focus_distance", FLAT},
                {"blades", FLAT},
                {"blade_rotation", FLAT},
                {"anamorphic", FLAT}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct json *at = json_get(v, rows[i].key);
        if (at && !(rows[i].types & 1 << type))
            return json_error(d->err, d->file, at, STATUS_TYPE,
                              "a camera of type \"%s\" has no \"%s\"", camera_types[type],
                              rows[i].key);
    }
    return STATUS_OK;
}

static enum status load_aperture(struct document *d, const struct json *v, struct camera *c)
{
    int64_t blades = 0;
    double rotation = 0;
    c->anamorphic = 1;
    TRY(field_number(d, v, "lens_radius", 0, 1e6, &c->lens_radius));
    TRY(field_number(d, v, "focus_distance", 1e-9, 1e9, &c->focus_distance));
    TRY(field_integer(d, v, "blades", 0, CAMERA_BLADES_MAX, &blades));
    if (blades == 1 || blades == 2)
        return json_error(d->err, d->file, json_get(v, "blades"), STATUS_RANGE,
                          "found %d blades, expected 0 (round) or 3 to %d", (int)blades,
                          CAMERA_BLADES_MAX);
    TRY(field_number(d, v, "blade_rotation", -3600, 3600, &rotation));
    TRY(field_number(d, v, "anamorphic", 0.01, 100, &c->anamorphic));
    c->blades = (uint32_t)blades;
    c->blade_rotation = rotation * (M_PI / 180);
    return STATUS_OK;
}

enum status load_camera(struct loader *l, const struct json *v)
{
    static const char *const keys[] = {"type",   "origin",   "target",         "up",
                                       "fov",    "fov_axis", "lens_radius",    "focus_distance",
                                       "height", "blades",   "blade_rotation", "anamorphic",
                                       NULL};
    static const char *const axes[] = {FOV_AXIS_LIST(LIST_TEXT) NULL};
    struct document *d = &l->d;
    struct camera c = {.fov_axis = FOV_SMALLER};
    double target[3], up[3] = {0, 1, 0}, degrees = 45, height = 1;
    int type = 0, axis = FOV_SMALLER;
    const struct json *origin_at, *target_at;
    TRY(read_object(d, v, keys));
    TRY(field_choice(d, v, "type", camera_types, &type));
    TRY(check_keys(d, v, (enum camera_type)type));
    TRY(read_required(d, v, "origin", "an array of 3 numbers", &origin_at));
    TRY(read_required(d, v, "target", "an array of 3 numbers", &target_at));
    TRY(read_vector(d, origin_at, 3, -1e9, 1e9, c.origin));
    TRY(read_vector(d, target_at, 3, -1e9, 1e9, target));
    TRY(field_vector(d, v, "up", 3, -1e9, 1e9, up));
    TRY(field_number(d, v, "fov", 1e-3, 179, &degrees));
    TRY(field_choice(d, v, "fov_axis", axes, &axis));
    if (type == CAMERA_ORTHOGRAPHIC) {
        const struct json *height_at;
        TRY(read_required(d, v, "height", "the film's extent in the world", &height_at));
        TRY(read_number(d, height_at, 1e-6, 1e9, &height));
    }

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
    TRY(load_aperture(d, v, &c));
    c.tan_half_fov = type == CAMERA_ORTHOGRAPHIC ? height / 2 : tan(degrees * (M_PI / 360));
    c.fov_axis = (enum fov_axis)axis;
    c.type = (enum camera_type)type;
    l->scene->camera = c;
    return STATUS_OK;
}

static enum status load_filter(struct document *d, const struct json *v, struct scene *s)
{
    static const char *const keys[] = {"type", "radius", NULL};
    static const char *const types[] = {PIXEL_FILTER_LIST(LIST_TEXT) NULL};
    static const double radii[] = {0.5, 1, 1.5, 1.5};
    int type = PIXEL_BOX;
    const struct json *type_at;
    TRY(read_object(d, v, keys));
    TRY(read_required(d, v, "type", "the filter's name", &type_at));
    TRY(read_choice(d, type_at, types, &type));
    s->filter = (enum pixel_filter)type;
    s->filter_radius = radii[type];
    return field_number(d, v, "radius", 0.01, 32, &s->filter_radius);
}

static enum status load_crop(struct document *d, const struct json *v, struct scene *s)
{
    double rect[4];
    TRY(read_vector(d, v, 4, 0, IMAGE_SIDE_MAX, rect));
    for (int i = 0; i < 4; i++) {
        s->crop[i] = (uint32_t)rect[i];
        if (rect[i] != (double)s->crop[i])
            return json_error(d->err, d->file, v, STATUS_TYPE,
                              "found %g in \"crop\", expected whole numbers of pixels", rect[i]);
    }
    if (s->crop[2] == 0 || s->crop[3] == 0 || s->crop[0] + s->crop[2] > s->width ||
        s->crop[1] + s->crop[3] > s->height)
        return json_error(d->err, d->file, v, STATUS_RANGE,
                          "found a crop of %u x %u pixels at (%u, %u), expected a part of the "
                          "film's %u x %u that is not empty",
                          s->crop[2], s->crop[3], s->crop[0], s->crop[1], s->width, s->height);
    return STATUS_OK;
}

enum status load_film(struct loader *l, const struct json *v)
{
    static const char *const keys[] = {"width", "height", "filter", "crop", NULL};
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
    const struct json *filter = v ? json_get(v, "filter") : NULL;
    const struct json *crop = v ? json_get(v, "crop") : NULL;
    if (filter)
        TRY(load_filter(&l->d, filter, l->scene));
    return crop ? load_crop(&l->d, crop, l->scene) : STATUS_OK;
}

static const char *const choices[] = {LIGHT_CHOICE_LIST(LIST_TEXT) NULL};
static const char *const heuristics[] = {MIS_LIST(LIST_TEXT) NULL};

enum status load_render(struct loader *l, const struct json *v)
{
    static const char *const keys[] = {"spp", "max_depth", "rr_depth",    "seed", "light_choice",
                                       "mis", "clamp",     "ao_distance", NULL};
    int choice = LIGHT_CHOICE_POWER, mis = MIS_POWER;
    int64_t spp = 64, max_depth = 8, rr_depth = 5, seed = 0;
    if (v) {
        TRY(read_object(&l->d, v, keys));
        TRY(field_integer(&l->d, v, "spp", 1, FILM_SAMPLES_MAX, &spp));
        TRY(field_integer(&l->d, v, "max_depth", 1, 65536, &max_depth));
        TRY(field_integer(&l->d, v, "rr_depth", 1, INT32_MAX, &rr_depth));
        TRY(field_integer(&l->d, v, "seed", 0, INT64_MAX, &seed));
        TRY(field_float(&l->d, v, "clamp", 1e-6, 1e12, &l->scene->clamp));
        TRY(field_float(&l->d, v, "ao_distance", 1e-6, 1e12, &l->scene->ao_distance));
        TRY(field_choice(&l->d, v, "light_choice", choices, &choice));
        TRY(field_choice(&l->d, v, "mis", heuristics, &mis));
    }
    struct scene *s = l->scene;
    s->spp = (uint32_t)spp;
    s->max_depth = (uint32_t)max_depth;
    s->rr_depth = (uint32_t)rr_depth;
    s->seed = (uint64_t)seed;
    s->light_choice = (enum light_choice)choice;
    s->mis = (enum mis_heuristic)mis;
    return STATUS_OK;
}

/* Which of two words, or `own` where none is given; -1: neither. */
static int word_of_two(const char *const words[2], const char *word, int own)
{
    if (!word)
        return own;
    return strcmp(word, words[0]) == 0 ? 0 : strcmp(word, words[1]) == 0 ? 1 : -1;
}

enum status scene_set_sampling(struct scene *s, const char *light_choice, const char *mis,
                               struct error *err)
{
    const int choice = word_of_two(choices, light_choice, (int)s->light_choice);
    const int heuristic = word_of_two(heuristics, mis, (int)s->mis);
    if (choice < 0)
        return error_msg(err, STATUS_ARG, "light choice '%s': expected power or tree",
                         light_choice);
    if (heuristic < 0)
        return error_msg(err, STATUS_ARG, "MIS heuristic '%s': expected power or balance", mis);
    s->light_choice = (enum light_choice)choice;
    s->mis = (enum mis_heuristic)heuristic;
    hash_scene(s);
    return STATUS_OK;
}
