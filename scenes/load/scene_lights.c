/* SPDX-License-Identifier: Apache-2.0 */
/* Lights without a surface: points, spots, directional lights. */
#include "scene_loader.h"

#include <math.h>
#include <string.h>

static const double emission_max = 1e12, emission_min = 1e-12;

enum status read_emission(struct document *d, const struct json *v, float out[3])
{
    float rgb[3];
    TRY(read_rgb(d, v, 0, emission_max, rgb));
    for (int c = 0; c < 3; c++)
        if (rgb[c] > 0 && rgb[c] < (float)emission_min) /* what 1e-12 is read as */
            return json_error(d->err, d->file, v, STATUS_RANGE,
                              "found an emission of %.9g, expected 0 or at least %g",
                              (double)rgb[c], emission_min);
    for (int c = 0; c < 3; c++)
        out[c] = rgb[c];
    return STATUS_OK;
}

static enum status required_emission(struct document *d, const struct json *v, const char *key,
                                     const char *what, float out[3])
{
    const struct json *at;
    TRY(read_required(d, v, key, what, &at));
    return read_emission(d, at, out);
}

static enum status required_point(struct document *d, const struct json *v, const char *key,
                                  double out[3])
{
    const struct json *at;
    TRY(read_required(d, v, key, "an array of 3 numbers", &at));
    return read_vector(d, at, 3, -1e9, 1e9, out);
}

/* out = direction / |direction|, which must have a length. */
static enum status unit_direction(struct document *d, const struct json *at,
                                  const double direction[3], float out[3])
{
    double length = sqrt(direction[0] * direction[0] + direction[1] * direction[1] +
                         direction[2] * direction[2]);
    if (!(length > 1e-12))
        return json_error(d->err, d->file, at, STATUS_RANGE,
                          "the light shines nowhere, expected a direction with a length");
    for (int i = 0; i < 3; i++)
        out[i] = (float)(direction[i] / length);
    return STATUS_OK;
}

static enum status load_point(struct document *d, const struct json *v, double position[3],
                              struct light *l)
{
    static const char *const keys[] = {"type", "position", "intensity", NULL};
    TRY(read_object(d, v, keys));
    TRY(required_point(d, v, "position", position));
    return required_emission(d, v, "intensity", "watts per steradian", l->intensity);
}

static enum status load_spot(struct document *d, const struct json *v, double position[3],
                             struct light *l)
{
    static const char *const keys[] = {"type",      "position", "target",      "direction",
                                       "intensity", "angle",    "inner_angle", NULL};
    const struct json *target = json_get(v, "target"), *direction = json_get(v, "direction"), *at;
    double way[3], degrees, inner = 0;
    TRY(read_object(d, v, keys));
    TRY(required_point(d, v, "position", position));
    if (!target == !direction)
        return json_error(d->err, d->file, v, STATUS_TYPE,
                          "found %s \"target\" and \"direction\", expected one of them",
                          target ? "both" : "neither");
    TRY(read_vector(d, target ? target : direction, 3, -1e9, 1e9, way));
    for (int i = 0; i < 3 && target; i++)
        way[i] -= position[i];
    TRY(unit_direction(d, target ? target : direction, way, l->direction));
    TRY(read_required(d, v, "angle", "the outer half angle in degrees", &at));
    TRY(read_number(d, at, 0.01, 90, &degrees));
    TRY(field_number(d, v, "inner_angle", 0, 90, &inner));
    if (inner > degrees)
        return json_error(d->err, d->file, json_get(v, "inner_angle"), STATUS_RANGE,
                          "\"inner_angle\" is %.9g and \"angle\" %.9g, expected inner <= outer",
                          inner, degrees);
    l->angle = degrees * (M_PI / 180);
    l->inner_angle = inner * (M_PI / 180);
    return required_emission(d, v, "intensity", "watts per steradian on the axis", l->intensity);
}

static enum status load_directional(struct document *d, const struct json *v, double position[3],
                                    struct light *l)
{
    (void)position;
    static const char *const keys[] = {"type", "direction", "irradiance", NULL};
    double way[3];
    TRY(read_object(d, v, keys));
    TRY(required_point(d, v, "direction", way));
    TRY(unit_direction(d, json_get(v, "direction"), way, l->direction));
    return required_emission(d, v, "irradiance", "watts per square metre across the direction",
                             l->intensity);
}

static enum status load_light(struct document *d, const struct json *v, const double frame[3],
                              struct light *out)
{
    static const char *const types[] = {LIGHT_TYPE_LIST(LIST_TEXT) NULL};
    static enum status (*const load[])(struct document *, const struct json *, double[3],
                                       struct light *) = {load_point, load_spot, load_directional};
    const struct json *type_at;
    int type;
    double position[3];
    if (v->type != JSON_OBJECT)
        return expected(d, v, "an object");
    TRY(read_required(d, v, "type", "the type of the light", &type_at));
    TRY(read_choice(d, type_at, types, &type));
    *out = (struct light){.type = (enum light_type)type};
    memcpy(position, frame, sizeof position);
    TRY(load[type](d, v, position, out));
    for (int i = 0; i < 3; i++)
        out->position[i] = (float)(position[i] - frame[i]);
    return STATUS_OK;
}

enum status load_lights(struct loader *l, const struct json *v)
{
    struct scene *s = l->scene;
    if (!v)
        return STATUS_OK;
    if (v->type != JSON_ARRAY)
        return expected(&l->d, v, "an array of lights");
    s->lights = ARENA_ARRAY(&s->arena, struct light, v->count);
    if (!s->lights)
        return document_memory(&l->d);
    for (const struct json *light = v->first; light; light = light->next)
        TRY(load_light(&l->d, light, s->frame_origin, &s->lights[s->light_count++]));
    return STATUS_OK;
}
