/* SPDX-License-Identifier: Apache-2.0 */
/* Level kernel, lights and lookups: light samples, the environment, textures. */
#include "answers.h"
#include "cases_kernel.h"
#include "steps/offers.h"
#include "tally.h"

#include <math.h>
#include <string.h>

enum { LIGHT_ROWS = 4096, LOOKUP_ROWS = 4096 };

static void get(double *v, const uint32_t *row, size_t n)
{
    for (size_t i = 0; i < n; i++)
        v[i] = (double)float_of(row[i]);
}

static void put(uint32_t *row, const double *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        row[i] = word_of((float)v[i]);
}

/* ---- light samples -------------------------------------------------------------------------- */

struct light_question {
    const struct reference *reference;
    double Ng[3];
};

/* in: P 3, u 3; out: wi 3, distance, pdf, Le 3, side. Code: -1 cannot contribute, else the light.
 */
static int ask_light(void *ctx, const double *in, double *out)
{
    const struct light_question *q = ctx;
    uint32_t light;
    double u[3];
    for (int i = 0; i < 3; i++)
        u[i] = fmin(fmax(in[3 + i], 0), 1 - 0x1p-53);
    if (!reference_light_sample(q->reference, in, q->Ng, u, &light, out, out + 3, out + 4, out + 5))
        return -1;
    out[8] = vec_dot(out, q->Ng);
    return out[8] > 0 ? (int)light : -1;
}

static void compare_light(struct tally *t, const struct run_context *c, const uint32_t *in,
                          const uint32_t *out)
{
    const struct arithmetic arithmetic = arithmetic_of(c->info, MODE_DEVICE);
    const double direction = roundings(&arithmetic, 32, 1, 1);
    struct light_question q = {.reference = c->reference};
    double x[6], step[6], v[3];
    struct answer a;
    char where[256];
    get(x, in, 3);
    get(q.Ng, in + 3, 3);
    get(x + 3, in + 6, 3);
    for (int i = 0; i < 3; i++) {
        step[i] = 4 * ULP * fmax(vec_max_abs(x), 0x1p-20);
        step[3 + i] = 4 * ULP;
    }
    answer_spread(ask_light, &q, x, step, 6, 9, &a);
    snprintf(where, sizeof where,
             "P (%.9g, %.9g, %.9g), Ng (%.4g, %.4g, %.4g), u (%.9g, %.9g, %.9g)", x[0], x[1], x[2],
             q.Ng[0], q.Ng[1], q.Ng[2], x[3], x[4], x[5]);
    int code = out[0] ? (int)out[1] : -1;
    if (!answer_allows(&a, code, 9)) {
        if (a.code < 0 && code >= 0 && fabs(a.value[8]) <= a.spread[8] + direction)
            return; /* grazing: which side is a matter of rounding */
        if (code < 0 && fabs(a.value[8]) <= a.spread[8] + direction)
            return;
        tally_equal(t, code, a.code, "%s: light (-1: cannot contribute)", where);
        return;
    }
    t->compared++;
    if (code < 0)
        return;
    get(v, out + 2, 3);
    for (int i = 0; i < 3; i++)
        tally_near(t, v[i], a.value[i], a.spread[i] + direction, "%s: wi.%c", where, "xyz"[i]);
    get(v, out + 5, 2);
    tally_near(t, v[0], a.value[3],
               a.spread[3] + direction * (isfinite(a.value[3]) ? a.value[3] : 0), "%s: distance",
               where);
    tally_near(t, v[1], a.value[4],
               a.spread[4] +
                   (light_roundings(&arithmetic) + choice_roundings(&arithmetic, c->scene)) *
                       a.value[4],
               "%s: pdf", where);
    get(v, out + 7, 3);
    if (isinf(a.value[3])) { /* the environment: radiance at rounded map coordinates */
        double spread[4];
        environment_spread(&arithmetic, c->reference, a.value, spread);
        for (int i = 0; i < 3; i++)
            a.spread[5 + i] += spread[i];
    } else {
        double spread[3] = {0};
        uint32_t area_lights, primitive = light_primitive(c->scene, out[1], &area_lights);
        if (primitive != UINT32_MAX)
            emission_spread(&arithmetic, c->scene, primitive, x, a.value, a.value[3], spread);
        else if (out[1] - area_lights < c->scene->light_count)
            spot_spread(&arithmetic, &c->scene->lights[out[1] - area_lights], a.value, a.value[3],
                        spread);
        for (int i = 0; i < 3; i++)
            a.spread[5 + i] += spread[i];
    }
    for (int i = 0; i < 3; i++)
        tally_near(t, v[i], a.value[5 + i], a.spread[5 + i] + 32 * ULP * fabs(a.value[5 + i]),
                   "%s: Le.%c", where, "rgb"[i]);
}

enum status kernel_light(struct run_context *c, struct error *err)
{
    struct tally t = {0};
    struct dice d = {.key = 0x119};
    enum status s = case_scene(c, err);
    if (s != STATUS_OK || (s = case_ready_to_probe(c, MODE_DEVICE, BVH_AUTO, err)) != STATUS_OK)
        return s;
    uint32_t *in = ARENA_ARRAY(c->arena, uint32_t, 9 * (size_t)LIGHT_ROWS), *out;
    if (!in)
        return error_msg(err, STATUS_MEMORY, "out of memory for the samples");
    for (size_t i = 0; i < LIGHT_ROWS; i++) {
        double P[3], Ng[3], u[3];
        for (int k = 0; k < 3; k++) {
            double low = c->scene->bounds_min[k], high = c->scene->bounds_max[k];
            P[k] = low <= high ? low + (high - low) * dice_u(&d) : dice_u(&d);
            u[k] = dice_u(&d);
        }
        dice_direction(&d, Ng);
        put(in + 9 * i, P, 3);
        put(in + 9 * i + 3, Ng, 3);
        put(in + 9 * i + 6, u, 3);
    }
    if ((s = case_probe(c, PROBE_LIGHT, in, LIGHT_ROWS, &out, err)) != STATUS_OK ||
        answer_given(c, 10 * (uint64_t)LIGHT_ROWS) || (s = case_reference(c, err)) != STATUS_OK)
        return s;
    for (size_t i = 0; i < LIGHT_ROWS; i++)
        compare_light(&t, c, in + 9 * i, out + 10 * i);
    return tally_verdict(&t, c);
}

/* ---- mode fast's chances ---------------------------------------------------------------------- */

/* Numbers that choose a light, at each of so many places. */
enum { LIGHTS = 60, PLACES = 32, CHOICES = 256, CHOICE_ROWS = PLACES * CHOICES };

/* Sixty lights in a room, every second one a spot: nodes of lights with boxes and cones. */
static enum status lights_scene(struct run_context *c, struct error *err)
{
    struct dice d = {.key = 0x11a};
    struct text t = {0};
    text_puts(&t, "{\"isophote\": 1, \"camera\": {\"origin\": [0, 0, 9], \"target\": [0, 0, 0]}, "
                  "\"render\": {\"light_choice\": \"tree\"}, \"materials\": {\"m\": {\"type\": "
                  "\"diffuse\"}}, \"objects\": [{\"type\": \"sphere\", \"radius\": 4, "
                  "\"material\": \"m\"}], \"lights\": [");
    for (int i = 0; i < LIGHTS; i++) {
        double v[3];
        dice_direction(&d, v);
        text_printf(&t, "%s{\"position\": [%.4f, %.4f, %.4f], \"intensity\": %.4f, ", i ? ", " : "",
                    8 * dice_u(&d) - 4, 8 * dice_u(&d) - 4, 8 * dice_u(&d) - 4,
                    exp(4 * dice_u(&d)));
        if (i % 2)
            text_printf(&t,
                        "\"type\": \"spot\", \"direction\": [%.4f, %.4f, %.4f], \"angle\": %.3f}",
                        v[0], v[1], v[2], 5 + 80 * dice_u(&d));
        else
            text_puts(&t, "\"type\": \"point\"}");
    }
    text_puts(&t, "]}");
    return case_materials(c, &t, err);
}

/* Cosines from rough reciprocal roots of a part in 2^11, a few of them in a row, and 2^-9 that the
 * text gives for good measure (light/light_wide.h). */
static const double CHANCE_SLACK = 0x1p-7;

/* How many of these chances are not those of a tree that is gone down `width` nodes at a time. */
static void chances_off(const struct run_context *c, const uint32_t *in, const uint32_t *out,
                        unsigned width, struct tally *t)
{
    for (size_t i = 0; i < LIGHT_ROWS; i++) {
        double P[3], Ng[3], pdf, chance[2];
        if (!out[10 * i])
            continue;
        get(P, in + 9 * i, 3);
        get(Ng, in + 9 * i + 3, 3);
        get(&pdf, out + 10 * i + 6, 1);
        reference_light_chance_wide(c->reference, out[10 * i + 1], P, Ng, width, CHANCE_SLACK,
                                    chance);
        tally_near(t, pdf, (chance[0] + chance[1]) / 2,
                   (chance[1] - chance[0]) / 2 + 32 * ULP * chance[1],
                   "P (%.9g, %.9g, %.9g), Ng (%.4g, %.4g, %.4g): the chance of light %u, %u nodes "
                   "at a time",
                   P[0], P[1], P[2], Ng[0], Ng[1], Ng[2], out[10 * i + 1], width);
    }
}

/* And how many lights are not chosen as often as their chance says. Going down a tree cuts [0, 1)
 * into one interval for each light, whatever the order of its sides and however many nodes at a time:
 * so of numbers that stand evenly there, n meet an interval as long as c, n being c CHOICES rounded up
 * or down. The number that is left goes down with some roundings, which move the ends. */
static void choices_off(const struct run_context *c, const uint32_t *in, const uint32_t *out,
                        unsigned width, struct tally *t)
{
    const double moved = CHOICES * 0x1p-20;
    for (size_t place = 0; place < PLACES; place++) {
        const uint32_t *at = in + 9 * CHOICES * place, *chosen = out + 10 * CHOICES * place;
        uint32_t count[LIGHTS] = {0};
        double P[3], Ng[3], chance[2];
        get(P, at, 3);
        get(Ng, at + 3, 3);
        for (size_t i = 0; i < CHOICES; i++)
            if (chosen[10 * i + 1] < LIGHTS)
                count[chosen[10 * i + 1]]++;
        for (uint32_t light = 0; light < LIGHTS; light++) {
            reference_light_chance_wide(c->reference, light, P, Ng, width, CHANCE_SLACK, chance);
            const double least = floor(fmax(CHOICES * chance[0] - moved, 0)),
                         most = chance[1] > 0 ? ceil(CHOICES * chance[1] + moved) : 0;
            tally_equal(
                t, count[light], (int64_t)fmin(fmax(count[light], least), most),
                "P (%.9g, %.9g, %.9g), Ng (%.4g, %.4g, %.4g): how many of %d numbers choose "
                "light %u, %u nodes at a time",
                P[0], P[1], P[2], Ng[0], Ng[1], Ng[2], (int)CHOICES, light, width);
        }
    }
}

/* A place and its normal: any, along an axis, as walls have it, or none, in a medium. */
static void put_place(struct dice *d, size_t i, uint32_t *row)
{
    double P[3], Ng[3];
    for (int k = 0; k < 3; k++)
        P[k] = 8 * dice_u(d) - 4;
    dice_direction(d, Ng);
    if (i % 8 == 0) {
        const double side = Ng[i / 8 % 3] < 0 ? -1 : 1;
        Ng[0] = Ng[1] = Ng[2] = 0;
        Ng[i / 8 % 3] = side;
    }
    if (i % 8 == 4)
        Ng[0] = Ng[1] = Ng[2] = 0;
    put(row, P, 3);
    put(row + 3, Ng, 3);
}

/* Mode fast may go down a light tree several nodes at a time: processors take eight. What is not
 * judged elsewhere is how good its chances are: any that add up give a right picture, with noise. And
 * a light that is chosen by another's chance makes a picture wrong by no more than both differ. */
enum status kernel_lights(struct run_context *c, struct error *err)
{
    struct tally wide = {0}, narrow = {0};
    struct dice d = {.key = 0x11b};
    uint32_t *in = ARENA_ARRAY(c->arena, uint32_t, 9 * (size_t)LIGHT_ROWS), *out;
    uint32_t *choices = ARENA_ARRAY(c->arena, uint32_t, 9 * (size_t)CHOICE_ROWS), *chosen;
    TRY(lights_scene(c, err));
    TRY(case_ready_to_probe(c, MODE_FAST, BVH_AUTO, err));
    if (!in || !choices)
        return error_msg(err, STATUS_MEMORY, "out of memory for the samples");
    for (size_t i = 0; i < LIGHT_ROWS; i++) {
        double u[3];
        put_place(&d, i, in + 9 * i);
        for (int k = 0; k < 3; k++)
            u[k] = dice_u(&d);
        put(in + 9 * i + 6, u, 3);
    }
    for (size_t i = 0; i < CHOICE_ROWS; i++) {
        if (i % CHOICES == 0)
            put_place(&d, i / CHOICES, choices + 9 * i);
        else
            memcpy(choices + 9 * i, choices + 9 * (i - 1), 9 * sizeof *choices);
        const double u[3] = {((double)(i % CHOICES) + 0.5) / CHOICES, 0.5, 0.5};
        put(choices + 9 * i + 6, u, 3);
    }
    TRY(case_probe(c, PROBE_LIGHT, in, LIGHT_ROWS, &out, err));
    TRY(case_probe(c, PROBE_LIGHT, choices, CHOICE_ROWS, &chosen, err));
    TRY(case_reference(c, err));
    chances_off(c, in, out, 8, &wide);
    choices_off(c, choices, chosen, 8, &wide);
    chances_off(c, in, out, 2, &narrow);
    choices_off(c, choices, chosen, 2, &narrow);
    return tally_verdict(narrow.failures < wide.failures ? &narrow : &wide, c);
}

/* ---- the environment ----------------------------------------------------------------- */

enum status kernel_environment(struct run_context *c, struct error *err)
{
    struct tally t = {0};
    struct dice d = {.key = 0xe27};
    enum status s = case_scene(c, err);
    if (s != STATUS_OK)
        return s;
    if (c->scene->environment.type == ENVIRONMENT_NONE)
        return case_skip(c, "the scene has no environment");
    if ((s = case_ready_to_probe(c, MODE_DEVICE, BVH_AUTO, err)) != STATUS_OK)
        return s;
    uint32_t *in = ARENA_ARRAY(c->arena, uint32_t, 3 * (size_t)LOOKUP_ROWS), *out;
    if (!in)
        return error_msg(err, STATUS_MEMORY, "out of memory for the directions");
    for (size_t i = 0; i < LOOKUP_ROWS; i++) {
        double v[3];
        dice_direction(&d, v);
        if (i < 27 && i != 13) { /* axes, edges and corners of a cube */
            const size_t digits[3] = {i % 3, i / 3 % 3, i / 9};
            for (int k = 0; k < 3; k++)
                v[k] = (double)digits[k] - 1;
            vec_normalize(v);
        }
        put(in + 3 * i, v, 3);
    }
    if ((s = case_probe(c, PROBE_ENVIRONMENT, in, LOOKUP_ROWS, &out, err)) != STATUS_OK ||
        answer_given(c, 4 * (uint64_t)LOOKUP_ROWS) || (s = case_reference(c, err)) != STATUS_OK)
        return s;
    const struct arithmetic arithmetic = arithmetic_of(c->info, MODE_DEVICE);
    const double relative = roundings(&arithmetic, 64, 4, 2);
    for (size_t i = 0; i < LOOKUP_ROWS; i++) {
        double v[3], got[4], want[4], spread[4];
        get(v, in + 3 * i, 3);
        get(got, out + 4 * i, 4);
        reference_environment(c->reference, v, want, &want[3]);
        environment_spread(&arithmetic, c->reference, v, spread);
        for (int k = 0; k < 4; k++)
            tally_near(&t, got[k], want[k], spread[k] + relative * fabs(want[k]) + 1e-36,
                       "d (%.9g, %.9g, %.9g): %s", v[0], v[1], v[2],
                       (const char *[]){"L.r", "L.g", "L.b", "pdf"}[k]);
    }
    return tally_verdict(&t, c);
}

/* ---- textures ------------------------------------------------------------------------ */

static int ask_texture(void *ctx, const double *in, double *out)
{
    double rgba[4];
    texture_value(ctx, in, rgba);
    memcpy(out, rgba, 3 * sizeof *out);
    return 0;
}

enum status kernel_texture(struct run_context *c, struct error *err)
{
    struct tally t = {0};
    struct dice d = {.key = 0x7e7};
    enum status s = case_scene(c, err);
    if (s != STATUS_OK)
        return s;
    if (c->scene->texture_count == 0)
        return case_skip(c, "the scene has no textures");
    if ((s = case_ready_to_probe(c, MODE_DEVICE, BVH_AUTO, err)) != STATUS_OK)
        return s;
    uint32_t *in = ARENA_ARRAY(c->arena, uint32_t, 3 * (size_t)LOOKUP_ROWS), *out;
    if (!in)
        return error_msg(err, STATUS_MEMORY, "out of memory for the coordinates");
    for (size_t i = 0; i < LOOKUP_ROWS; i++) {
        const uint32_t k = (uint32_t)(i % c->scene->texture_count);
        const struct image *m = &c->scene->textures[k].image;
        double uv[2] = {5 * dice_u(&d) - 2, 5 * dice_u(&d) - 2};
        if (i % 4 == 1) { /* centres of texels: no interpolation */
            uv[0] = (floor(uv[0] * m->width) + 0.5) / m->width;
            uv[1] = (floor(uv[1] * m->height) + 0.5) / m->height;
        } else if (i % 4 == 2 && i < 64) {
            uv[0] = (double)(i / 4 % 3);
            uv[1] = (double)(i / 12 % 3);
        }
        in[3 * i] = k;
        put(in + 3 * i + 1, uv, 2);
    }
    if ((s = case_probe(c, PROBE_TEXTURE, in, LOOKUP_ROWS, &out, err)) != STATUS_OK ||
        answer_given(c, 3 * (uint64_t)LOOKUP_ROWS))
        return s;
    for (size_t i = 0; i < LOOKUP_ROWS; i++) {
        struct texture *x = &c->scene->textures[in[3 * i]];
        double uv[2], step[2], got[3];
        struct answer a;
        get(uv, in + 3 * i + 1, 2);
        get(got, out + 3 * i, 3);
        texture_steps(x, uv, step);
        answer_spread(ask_texture, x, uv, step, 2, 3, &a);
        for (int k = 0; k < 3; k++)
            tally_near(
                &t, got[k], a.value[k], a.spread[k] + 16 * ULP * fabs(a.value[k]) + 4 * ULP * 1e-3,
                "texture %s, uv (%.9g, %.9g): %c", x->name ? x->name : "?", uv[0], uv[1], "rgb"[k]);
    }
    return tally_verdict(&t, c);
}

/* ---- texels of 16 bits --------------------------------------------------------------- */

enum { VALUES = 65536 };

/* Each value of 16 bits is somewhere in it; those that are no finite half are 0. */
static bool make_all_values(struct arena *a, enum texel_format format, uint32_t channels, bool srgb,
                            struct texture *out)
{
    static const uint32_t heights[] = {0, 256, 0, 86, 64}; /* 256 columns of so many channels */
    uint32_t height = heights[channels];
    size_t n = (size_t)256 * height * channels;
    uint16_t *t = ARENA_ARRAY(a, uint16_t, n);
    for (size_t i = 0; t && i < n; i++) {
        t[i] = (uint16_t)(i % VALUES);
        if (format == TEXEL_F16 && (t[i] >> 10 & 31) == 31)
            t[i] = 0;
    }
    *out = (struct texture){.name = format == TEXEL_F16 ? "half"
                                    : srgb              ? "sRGB"
                                                        : "linear",
                            .image = {256, height, channels, format, srgb, t},
                            .filter = FILTER_NEAREST,
                            .scale = {1, 1}};
    return t != NULL;
}

/* IEEE 754 binary16, and section 12's table. */
static float value_of_bits(const struct image *im, unsigned bits)
{
    if (im->format == TEXEL_U16)
        return (float)(im->srgb ? srgb_decode(bits / 65535.0) : bits / 65535.0);
    int exponent = (int)(bits >> 10 & 31), m = (int)(bits & 1023);
    double v = exponent ? ldexp(1024 + m, exponent - 25) : ldexp(m, -24);
    return (float)(bits >> 15 ? -v : v);
}

/* One texture at the centres of its texels. */
static enum status texels_of_texture(struct run_context *c, uint32_t k, struct tally *t,
                                     struct error *err)
{
    const struct image *m = &c->scene->textures[k].image;
    size_t rows = (size_t)m->width * m->height;
    uint32_t *in = ARENA_ARRAY(c->arena, uint32_t, 3 * rows), *out;
    if (!in)
        return error_msg(err, STATUS_MEMORY, "out of memory for the coordinates");
    for (size_t i = 0; i < rows; i++) {
        size_t row = i / m->width, column = i % m->width;
        double uv[2] = {((double)column + 0.5) / m->width, 1 - ((double)row + 0.5) / m->height};
        in[3 * i] = k;
        put(in + 3 * i + 1, uv, 2);
    }
    enum status s = case_probe(c, PROBE_TEXTURE, in, (uint32_t)rows, &out, err);
    for (size_t i = 0; s == STATUS_OK && i < 3 * rows; i++) {
        size_t at = m->channels == 1 ? i / 3 : i / 3 * m->channels + i % 3;
        unsigned bits = ((const uint16_t *)m->texels)[at];
        tally_equal(t, out[i], word_of(value_of_bits(m, bits)),
                    "%s of %u channels, texel %zu, channel %zu: value 0x%04x",
                    c->scene->textures[k].name, m->channels, i / 3, i % 3, bits);
    }
    return s;
}

enum status kernel_texels(struct run_context *c, struct error *err)
{
    enum { FORMS = 3 * 3 };
    static const uint32_t channels[] = {1, 3, 4};
    struct tally t = {0};
    enum status s = case_library_scene(c, "furnace", err);
    if (s != STATUS_OK)
        return s;
    struct texture *all = ARENA_ARRAY(&c->scene->arena, struct texture, FORMS);
    for (uint32_t i = 0; i < FORMS; i++)
        if (!all || !make_all_values(&c->scene->arena, i < 3 ? TEXEL_F16 : TEXEL_U16,
                                     channels[i % 3], i >= 6, &all[i]))
            return error_msg(err, STATUS_MEMORY, "out of memory for the textures");
    c->scene->textures = all;
    c->scene->texture_count = FORMS;
    if ((s = case_ready_to_probe(c, MODE_STRICT, BVH_AUTO, err)) != STATUS_OK)
        return s;
    for (uint32_t i = 0; i < FORMS && s == STATUS_OK; i++)
        s = texels_of_texture(c, i, &t, err);
    return s == STATUS_OK ? tally_verdict(&t, c) : s;
}
