/* SPDX-License-Identifier: Apache-2.0 */
/* What fills a material's closed surfaces: by numbers, or by a volume shader that is asked once, when
 * the scene is loaded (docs/reference/scenes.md, Media by a shader). */
#include "scene_loader.h"

#include <math.h>
#include <string.h>

static const double rate_max = 1e9, g_max = 0.99;

/* Protocol, section 27: as good as even. */
static float mean_cosine(double g) { return fabs(g) < 0.001 ? 0 : (float)g; }

static enum status load_numbers(struct loader *l, const struct json *v, struct medium *out)
{
    static const char *const keys[] = {"density", "albedo", "g", "absorption", NULL};
    struct document *d = &l->d;
    const struct json *at;
    double g = 0;
    TRY(read_object(d, v, keys));
    if (!json_get(v, "absorption"))
        TRY(read_required(d, v, "density", "the extinction per unit of length", &at));
    TRY(field_rgb(d, v, "absorption", 0, rate_max, out->absorption));
    TRY(field_float(d, v, "density", 0, rate_max, &out->density));
    TRY(field_rgb(d, v, "albedo", 0, 1, out->albedo));
    TRY(field_number(d, v, "g", -g_max, g_max, &g));
    out->g = mean_cosine(g);
    return STATUS_OK;
}

/* ---- by a shader ---------------------------------------------------------------------------- */

enum { PROBES = 8 }; /* the medium is the same everywhere: it is asked for at several places */

struct probe {
    struct medium medium;
    size_t components;
    enum status status; /* of the last component, and why it is not OK */
    struct error why;
};

/* Rates per unit of length. The protocol's density and g are the same in all channels: what goes
 * beyond the least extinction is absorption, and what scatters has to fit within it. */
static enum status take_rates(const float albedo[3], const double extinction[3], float g,
                              struct medium *out, struct error *why)
{
    double least = INFINITY, scatters = 0;
    if (!(fabsf(g) <= (float)g_max))
        return error_msg(why, STATUS_RANGE, "the anisotropy is %g, expected -0.99 to 0.99",
                         (double)g);
    for (int c = 0; c < 3; c++) {
        if (!(albedo[c] >= 0 && albedo[c] <= 1))
            return error_msg(why, STATUS_RANGE, "the albedo is (%g, %g, %g), expected 0 to 1",
                             (double)albedo[0], (double)albedo[1], (double)albedo[2]);
        if (!(extinction[c] >= 0 && extinction[c] <= rate_max))
            return error_msg(why, STATUS_RANGE, "the extinction is (%g, %g, %g), expected 0 to 1e9",
                             extinction[0], extinction[1], extinction[2]);
        least = fmin(least, extinction[c]);
        scatters = fmax(scatters, albedo[c] * extinction[c]);
    }
    if (scatters > least)
        return error_msg(
            why, STATUS_UNSUPPORTED,
            "one channel scatters %g per unit of length, more than the %g of another's "
            "extinction: media have one density",
            scatters, least);
    *out = (struct medium){.present = true, .density = scatters > 0 ? (float)least : 0};
    for (int c = 0; c < 3; c++) {
        out->albedo[c] =
            extinction[c] > least ? (float)(albedo[c] * extinction[c] / least) : albedo[c];
        out->absorption[c] = (float)(scatters > 0 ? extinction[c] - least : extinction[c]);
    }
    out->g = mean_cosine((double)g);
    return STATUS_OK;
}

static void numbers_of(const struct asl_closure_arg *a, float out[3])
{
    for (size_t c = 0; c < 3; c++)
        out[c] = a->value[c].f;
}

/* anisotropic_vdf(albedo, extinction, anisotropy) */
static enum status take_anisotropic(const struct asl_closure_arg *a, struct medium *out,
                                    struct error *why)
{
    float albedo[3], rate[3];
    numbers_of(&a[0], albedo);
    numbers_of(&a[1], rate);
    return take_rates(albedo, (const double[3]){rate[0], rate[1], rate[2]}, a[2].value->f, out,
                      why);
}

/* medium_vdf(albedo, transmission_depth, transmission_color, anisotropy, ior, priority): white light
 * has that colour after that depth. */
static enum status take_transmission(const struct asl_closure_arg *a, struct medium *out,
                                     struct error *why)
{
    float albedo[3], color[3];
    double rate[3];
    const float depth = a[1].value->f;
    numbers_of(&a[0], albedo);
    numbers_of(&a[2], color);
    if (!(depth > 0 && isfinite(depth)))
        return error_msg(why, STATUS_RANGE, "the transmission depth is %g, expected more than 0",
                         (double)depth);
    for (int c = 0; c < 3; c++) {
        if (!(color[c] > 0 && color[c] <= 1))
            return error_msg(why, STATUS_RANGE,
                             "the transmission colour is (%g, %g, %g), expected more than 0, at "
                             "most 1",
                             (double)color[0], (double)color[1], (double)color[2]);
        rate[c] = -log((double)color[c]) / (double)depth;
    }
    return take_rates(albedo, rate, a[3].value->f, out, why);
}

static void visit(void *ctx, const char *name, const float weight[3],
                  const struct asl_closure_arg *args, size_t count)
{
    struct probe *p = ctx;
    const bool rates = strcmp(name, "anisotropic_vdf") == 0,
               depth = strcmp(name, "medium_vdf") == 0;
    p->components++;
    if ((!rates || count < 3) && (!depth || count < 6))
        p->status =
            error_msg(&p->why, STATUS_TYPE,
                      "%s() is no volume, expected anisotropic_vdf() or medium_vdf()", name);
    else if (!(weight[0] >= 1 && weight[0] <= 1 && weight[1] >= 1 && weight[1] <= 1 &&
               weight[2] >= 1 && weight[2] <= 1)) /* nor NaN */
        p->status =
            error_msg(&p->why, STATUS_UNSUPPORTED,
                      "%s() has the weight (%g, %g, %g), expected 1: what it weighs are its "
                      "arguments",
                      name, (double)weight[0], (double)weight[1], (double)weight[2]);
    else
        p->status = rates ? take_anisotropic(args, &p->medium, &p->why)
                          : take_transmission(args, &p->medium, &p->why);
}

static enum status take(void *ctx, size_t i, const struct asl_context *c, struct error *why)
{
    static const float one[3] = {1, 1, 1};
    struct probe *p = &((struct probe *)ctx)[i];
    const union asl_slot *ci = asl_context_value(c, "Ci", NULL, NULL);
    asl_closure_visit(ci ? ci->c : NULL, one, visit, p);
    if (p->components != 1)
        return error_msg(why, STATUS_TYPE,
                         "Ci has %zu closures, expected one: anisotropic_vdf() or medium_vdf()",
                         p->components);
    return p->status == STATUS_OK ? STATUS_OK : error_msg(why, p->status, "%s", p->why.msg);
}

/* Places, normals and coordinates that nothing has in common. */
static bool globals_of(const void *ctx, size_t i, struct asl_globals *out)
{
    (void)ctx;
    const float t = (float)i;
    *out = (struct asl_globals){.raytype = asl_raytype_bit("camera")};
    out->u.v = t / PROBES;
    out->v.v = 1 - t * t / (PROBES * PROBES);
    for (int c = 0; c < 3; c++) {
        out->P.v[c] = (t + 1) * (float)(c + 1) * (i % 2 ? -0.7F : 0.9F);
        out->I.v[c] = i % 3 == (size_t)c ? -1 : 0;
        out->N.v[c] = out->Ng[c] = (i + 1) % 3 == (size_t)c ? 1 : 0;
    }
    out->Ps = out->P;
    return true;
}

static enum status load_volume(struct loader *l, const struct json *v, struct medium *out)
{
    static const char *const keys[] = {SHADER_GROUP_KEYS, NULL};
    struct document *d = &l->d;
    struct text signature = {0}; /* the scene's hash has the numbers */
    const struct asl_group *group;
    struct shader_images images = {0};
    struct point_failure first;
    struct probe probes[PROBES];
    memset(probes, 0, sizeof probes);
    TRY(read_object(d, v, keys));
    const enum status s = load_shader_group(l, v, "medium", &group, &signature);
    text_free(&signature);
    TRY(s);
    TRY(shader_images_load(&d->arena, d->file, group, &images, d->err));
    const struct point_runs runs = {.group = group,
                                    .images = &images,
                                    .count = PROBES,
                                    .doing = "asking for a medium",
                                    .ctx = probes,
                                    .globals = globals_of,
                                    .take = take};
    TRY(run_at_points(d, &runs, &first));
    if (first.at != SIZE_MAX)
        return json_error(d->err, d->file, v, first.status, "%s", first.why);
    for (int i = 1; i < PROBES; i++)
        if (memcmp(&probes[i].medium, &probes[0].medium, sizeof *out) != 0)
            return json_error(d->err, d->file, v, STATUS_UNSUPPORTED,
                              "the medium differs from place to place, expected a shader that asks "
                              "for no point: media are the same everywhere");
    *out = probes[0].medium;
    return STATUS_OK;
}

enum status load_medium(struct loader *l, const struct json *v, struct medium *out)
{
    *out = (struct medium){.present = true, .albedo = {0.8F, 0.8F, 0.8F}};
    const bool shader = json_get(v, "shader") || json_get(v, "source") || json_get(v, "layers");
    return shader ? load_volume(l, v, out) : load_numbers(l, v, out);
}
