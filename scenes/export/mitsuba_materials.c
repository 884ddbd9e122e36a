/* SPDX-License-Identifier: Apache-2.0 */
/* Materials as BSDFs of Mitsuba 3, and their textures. Where the formulas differ, why it is so is a
 * note; docs/explanation/validation.md holds the evidence. */
#include "mitsuba.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CORRELATED_MASKING                                                                         \
    "Mitsuba masks microfacets by G1(wi) G1(wo), the protocol (section 7) by Smith's "             \
    "height-correlated G2, which is brighter at grazing angles (--plugins)"

bool mitsuba_needs_uv(const struct material *m)
{
    bool any = m->base.texture >= 0 || m->roughness.texture >= 0 || m->metallic.texture >= 0 ||
               m->specular.texture >= 0 || m->ior.texture >= 0 || m->normal_map.present ||
               m->emission_texture;
#define TEXTURED(name) any |= m->name.texture >= 0;
    MATERIAL_LIST_SCALARS(TEXTURED)
#undef TEXTURED
    return any;
}

bool mitsuba_is_brushed(const struct material *m)
{
    return (m->type == MATERIAL_PRINCIPLED || m->type == MATERIAL_ROUGH_CONDUCTOR) &&
           (m->anisotropy.value != 0 || m->anisotropy.texture >= 0);
}

/* ---- inputs --------------------------------------------------------------------------------- */

static const char *wrap_name(enum texture_wrap w)
{
    static const char *const names[] = {TEXTURE_WRAP_LIST(LIST_TEXT)};
    return names[w];
}

/* The texels times the input's value; clamped as section 7 of docs/reference/protocol.md clamps
 * what is looked up, unless `plugin`, which does so itself. */
static const char *write_texels(struct exporter *x, const struct texture *t, const float value[3],
                                uint32_t channels, uint32_t channel, bool plugin)
{
    const struct image *image = &t->image;
    size_t n = (size_t)image->width * image->height;
    const char *name = arena_printf(x->arena, "%s-texture%u.exr", x->stem, x->texture_files++);
    if (x->dry && name)
        return name;
    float *texels = malloc((n ? n * channels : 1) * sizeof *texels);
    if (!texels || !name) {
        free(texels);
        x->status = error_msg(x->err, STATUS_MEMORY, "out of memory exporting %s", x->scene->name);
        return "";
    }
    for (size_t i = 0; i < n; i++)
        for (uint32_t c = 0; c < channels; c++) {
            double v =
                value[c] * mitsuba_texel(image, (uint32_t)(i % image->width),
                                         (uint32_t)(i / image->width), channels == 1 ? channel : c);
            texels[i * channels + c] = (float)(plugin ? v : fmin(fmax(v, 0), 1));
        }
    mitsuba_write_exr(x, name, image->width, image->height, channels, texels);
    free(texels);
    return name;
}

/* Whether a product leaves [0,1] somewhere, so that clamping before or after interpolating matters.
 */
static bool leaves_unit_range(const struct texture *t, const float value[3], uint32_t channels,
                              uint32_t channel)
{
    if (t->filter == FILTER_NEAREST)
        return false;
    for (uint32_t y = 0; y < t->image.height; y++)
        for (uint32_t i = 0; i < t->image.width; i++)
            for (uint32_t c = 0; c < channels; c++) {
                double v = value[c] * mitsuba_texel(&t->image, i, y, channels == 1 ? channel : c);
                if (v < 0 || v > 1)
                    return true;
            }
    return false;
}

static void write_bitmap(struct exporter *x, const char *input, const char *file, const char *wrap,
                         const struct texture *t)
{
    text_printf(&x->xml,
                "      <texture name=\"%s\" type=\"bitmap\">\n"
                "        <string name=\"filename\" value=\"%s\"/>\n"
                "        <boolean name=\"raw\" value=\"true\"/>\n"
                "        <string name=\"format\" value=\"variant\"/>\n"
                "        <string name=\"wrap_mode\" value=\"%s\"/>\n"
                "        <string name=\"filter_type\" value=\"%s\"/>\n",
                input, mitsuba_escape(x, file), wrap,
                t->filter == FILTER_NEAREST ? "nearest" : "bilinear");
}

/* Mitsuba's v runs down the picture: with w = 1 - v in, and 1 - v out, of section 7.2's map. */
static void write_uv_transform(struct exporter *x, const struct texture *t)
{
    bool turned = t->turn[0] != 0 || t->turn[1] != 0;
    double c = turned ? (double)t->turn[0] : 1, s = turned ? (double)t->turn[1] : 0;
    double su = (double)t->scale[0], sv = (double)t->scale[1];
    text_printf(&x->xml,
                "        <transform name=\"to_uv\"><matrix value=\"%.9g %.9g 0 %.9g  %.9g %.9g 0 "
                "%.9g  0 0 1 0  0 0 0 1\"/></transform>\n",
                c * su, s * sv, (double)t->offset[0] - s * sv, -s * su, c * sv,
                1 - c * sv - (double)t->offset[1]);
}

/* With the plugin, which wraps each axis by itself. */
static void write_placed(struct exporter *x, const char *input, const char *file,
                         const struct texture *t, bool unbounded)
{
    text_printf(&x->xml,
                "      <texture name=\"%s\" type=\"isophote_texture\">\n"
                "        <string name=\"wrap_u\" value=\"%s\"/>\n"
                "        <string name=\"wrap_v\" value=\"%s\"/>\n",
                input, wrap_name(t->wrap_u), wrap_name(t->wrap_v));
    if (x->cutoff > 0)
        text_printf(&x->xml, "        <float name=\"cutoff\" value=\"%.9g\"/>\n",
                    (double)x->cutoff);
    if (unbounded)
        text_puts(&x->xml, "        <boolean name=\"unbounded\" value=\"true\"/>\n");
    write_uv_transform(x, t);
    write_bitmap(x, "bitmap", file, "repeat", t);
    text_puts(&x->xml, "      </texture>\n      </texture>\n");
}

static void write_texture(struct exporter *x, const char *input, int32_t index,
                          const float value[3], uint32_t channels, uint32_t channel,
                          const char *title)
{
    const struct texture *t = &x->scene->textures[index];
    bool mixed = t->wrap_u != t->wrap_v;
    bool leaves = leaves_unit_range(t, value, channels, channel);
    bool plugin = x->options->plugins && (mixed || leaves || x->cutoff > 0);
    const char *file = write_texels(x, t, value, channels, channel, plugin);
    if (plugin) {
        write_placed(x, input, file, t, false);
        return;
    }
    if (mixed)
        mitsuba_differs(x, title,
                        "texture \"%s\" wraps by %s along u and by %s along v; Mitsuba's bitmap "
                        "wraps both alike (--plugins)",
                        t->name, wrap_name(t->wrap_u), wrap_name(t->wrap_v));
    if (leaves)
        mitsuba_differs(x, title,
                        "texture \"%s\" leaves [0,1]: the protocol clamps what it interpolated, "
                        "Mitsuba gets clamped texels (--plugins)",
                        t->name);
    write_bitmap(x, input, file, wrap_name(t->wrap_u), t);
    write_uv_transform(x, t);
    text_puts(&x->xml, "      </texture>\n");
}

static void write_rgb(struct exporter *x, const char *input, const float v[3])
{
    text_printf(&x->xml, "      <rgb name=\"%s\" value=\"%.9g, %.9g, %.9g\"/>\n", input,
                (double)v[0], (double)v[1], (double)v[2]);
}

static void write_color(struct exporter *x, const char *input, const struct color_input *c,
                        const char *title)
{
    if (x->colored) {
        text_printf(&x->xml, "      <texture name=\"%s\" type=\"isophote_colored\">\n", input);
        input = "texture";
    }
    if (c->texture >= 0)
        write_texture(x, input, c->texture, c->value, 3, 0, title);
    else
        write_rgb(x, input, c->value);
    if (x->colored)
        text_puts(&x->xml, "      </texture>\n");
}

static void write_scalar(struct exporter *x, const char *input, const struct scalar_input *c,
                         const char *title)
{
    if (c->texture >= 0)
        write_texture(x, input, c->texture, (const float[3]){c->value}, 1, c->channel, title);
    else
        text_printf(&x->xml, "      <float name=\"%s\" value=\"%.9g\"/>\n", input,
                    (double)c->value);
}

/* Radiance, normals: as they are interpolated. */
static void write_unbounded(struct exporter *x, const char *input, const struct texture *t,
                            const float value[3], const char *title)
{
    const char *file = write_texels(x, t, value, 3, 0, true);
    if (t->wrap_u != t->wrap_v && x->options->plugins) {
        write_placed(x, input, file, t, true);
        return;
    }
    if (t->wrap_u != t->wrap_v)
        mitsuba_differs(x, title,
                        "texture \"%s\" of its %s wraps by %s along u and by %s along v; "
                        "Mitsuba's bitmap wraps both alike (--plugins)",
                        t->name, input, wrap_name(t->wrap_u), wrap_name(t->wrap_v));
    write_bitmap(x, input, file, wrap_name(t->wrap_u), t);
    write_uv_transform(x, t);
    text_puts(&x->xml, "      </texture>\n");
}

void mitsuba_write_emission(struct exporter *x, const struct material *m)
{
    if (m->emission_texture)
        write_unbounded(x, "radiance", &x->scene->textures[m->emission_texture - 1], m->emission,
                        mitsuba_material_title(x, m));
    else
        write_rgb(x, "radiance", m->emission);
}

void mitsuba_write_normal_map(struct exporter *x, const struct material *m)
{
    static const float as_it_is[3] = {1, 1, 1};
    write_unbounded(x, "normal_map", &x->scene->textures[m->normal_map.texture], as_it_is,
                    mitsuba_material_title(x, m));
    text_printf(&x->xml, "      <float name=\"map_scale\" value=\"%.9g\"/>\n",
                (double)m->normal_map.scale);
}

/* ---- BSDFs ---------------------------------------------------------------------------------- */

bool mitsuba_is_passed(const struct material *m)
{
    return m->interface || m->medium.present || m->single_sided || m->alpha_mode == ALPHA_MASK;
}

static bool is_blended(const struct material *m)
{
    return m->alpha_mode == ALPHA_BLEND && (m->opacity.value != 1 || m->opacity.texture >= 0);
}

/* Opacity that is all or nothing: 1 where it reaches the cut-off. */
static void write_cutout(struct exporter *x, const struct material *m, const char *title)
{
    const struct scalar_input *o = &m->opacity;
    if (o->texture < 0) {
        text_printf(&x->xml, "      <float name=\"opacity\" value=\"%d\"/>\n",
                    o->value >= m->alpha_cutoff);
        return;
    }
    if (x->options->plugins) {
        x->cutoff = m->alpha_cutoff;
        write_scalar(x, "opacity", o, title);
        x->cutoff = 0;
        return;
    }
    mitsuba_differs(x, title,
                    "Mitsuba's mask lets a share of the rays pass, and knows no cut-off "
                    "(--plugins)");
    write_scalar(x, "opacity", o, title);
}

static void open_wrapper(struct exporter *x, const char *type, const char *id)
{
    if (x->open_bsdfs++)
        text_printf(&x->xml, "    <bsdf name=\"%s\" type=\"%s\">\n",
                    x->fronted ? "front" : "nested", type);
    else
        text_printf(&x->xml, "  <bsdf type=\"%s\" id=\"%s\">\n", type, id);
}

/* The elements around a material's BSDF and its own: opacity, sides. The outermost has the name. */
static void open_bsdf(struct exporter *x, uint32_t material, const char *type, bool two_sided)
{
    const struct material *m = &x->scene->materials[material];
    const char *title = mitsuba_material_title(x, m), *id = mitsuba_bsdf_id(x, material);
    bool single = m->single_sided && x->options->plugins;
    x->open_bsdfs = 0;
    if (is_blended(m) || m->alpha_mode == ALPHA_MASK) {
        open_wrapper(x, "mask", id);
        if (is_blended(m))
            write_scalar(x, "opacity", &m->opacity, title);
        else
            write_cutout(x, m, title);
    }
    if (single)
        open_wrapper(x, "isophote_single_sided", id);
    else if (two_sided)
        open_wrapper(x, "twosided", id);
    x->fronted = single;
    open_wrapper(x, type, id);
    x->fronted = false;
}

static void close_bsdf(struct exporter *x)
{
    for (; x->open_bsdfs; x->open_bsdfs--)
        text_puts(&x->xml, "  </bsdf>\n");
}

static void write_index(struct exporter *x, const char *input, const struct material *m,
                        const char *title)
{
    if (m->ior.texture >= 0)
        mitsuba_differs(x, title,
                        "Mitsuba takes no textured index of refraction: the factor alone "
                        "is written");
    text_printf(&x->xml, "      <float name=\"%s\" value=\"%.9g\"/>\n", input,
                (double)m->ior.value);
}

static void write_ior(struct exporter *x, const struct material *m, const char *title)
{
    write_index(x, "int_ior", m, title);
    text_puts(&x->xml, "      <float name=\"ext_ior\" value=\"1\"/>\n");
}

static double alpha_of(struct exporter *x, const struct material *m, const char *title)
{
    double r = m->roughness.value;
    if (m->roughness.texture >= 0 && title)
        mitsuba_differs(x, title,
                        "Mitsuba interpolates alpha, the protocol roughness, whose square "
                        "alpha is, and which is smooth below 0.032: the factor alone is written");
    return fmax(r * r, 0.001);
}

static bool is_given(const struct scalar_input *c) { return c->value != 0 || c->texture >= 0; }

static void write_conductor(struct exporter *x, uint32_t material, const char *title)
{
    const struct material *m = &x->scene->materials[material];
    bool plugin = x->options->plugins;
    /* the plugin turns its frame to the side that is seen: twosided would not mirror it */
    open_bsdf(x, material, plugin ? "isophote_conductor" : "roughconductor", !plugin);
    write_rgb(x, "eta", m->eta);
    write_rgb(x, "k", m->k);
    if (plugin) {
        write_scalar(x, "roughness", &m->roughness, title);
        write_scalar(x, "anisotropic", &m->anisotropy, title);
        write_scalar(x, "rotation", &m->rotation, title);
    } else {
        mitsuba_differs(x, title, "%s", CORRELATED_MASKING);
        if (is_given(&m->anisotropy))
            mitsuba_differs(x, title, "anisotropy is not exported (--plugins)");
        text_printf(&x->xml,
                    "      <string name=\"distribution\" value=\"ggx\"/>\n"
                    "      <float name=\"alpha\" value=\"%.9g\"/>\n",
                    alpha_of(x, m, title));
    }
    close_bsdf(x);
}

/* The least of a texture's channel. */
static double least_texel(const struct texture *t, uint32_t channel)
{
    double least = INFINITY;
    for (uint32_t y = 0; y < t->image.height; y++)
        for (uint32_t i = 0; i < t->image.width; i++)
            least = fmin(least, mitsuba_texel(&t->image, i, y, channel));
    return least;
}

/* Alpha as a number, or by the plugin that squares a texture: where none of it is below 0.001,
 * which is smooth (section 28). No `title`: what differs was said. */
static void write_alpha(struct exporter *x, const char *input, const struct material *m,
                        const char *title)
{
    const struct scalar_input *r = &m->roughness;
    const struct texture *t = r->texture >= 0 ? &x->scene->textures[r->texture] : NULL;
    double least = t ? r->value * least_texel(t, r->channel) : 1;
    if (!t || !x->options->plugins || least * least < 0.001) {
        text_printf(&x->xml, "      <float name=\"%s\" value=\"%.9g\"/>\n", input,
                    alpha_of(x, m, title));
        return;
    }
    text_printf(&x->xml, "      <texture name=\"%s\" type=\"isophote_alpha\">\n", input);
    write_scalar(x, "roughness", r, title);
    text_puts(&x->xml, "      </texture>\n");
}

/* Mitsuba's roughdielectric alone, or with its masking put right. */
static void write_rough_dielectric(struct exporter *x, uint32_t material, const char *title)
{
    const struct material *m = &x->scene->materials[material];
    double r = m->roughness.value;
    if (m->roughness.texture < 0 && r * r < 0.001) {
        open_bsdf(x, material, "dielectric", false);
        write_ior(x, m, title);
        close_bsdf(x);
        return;
    }
    if (x->options->plugins) {
        open_bsdf(x, material, "isophote_correlated", false);
        write_alpha(x, "masking_alpha", m, NULL);
        text_puts(&x->xml, "      <bsdf name=\"separable\" type=\"roughdielectric\">\n");
        x->open_bsdfs++;
    } else {
        mitsuba_differs(x, title, "%s", CORRELATED_MASKING);
        open_bsdf(x, material, "roughdielectric", false);
    }
    write_ior(x, m, title);
    text_puts(&x->xml, "      <string name=\"distribution\" value=\"ggx\"/>\n");
    write_alpha(x, "alpha", m, title);
    close_bsdf(x);
}

static void write_principled(struct exporter *x, uint32_t material, const char *title)
{
    const struct material *m = &x->scene->materials[material];
    /* Mitsuba's names of what section 28 adds. */
    const struct {
        const char *name;
        const struct scalar_input *input;
    } extras[] = {{"spec_tint", &m->specular_tint},
                  {"anisotropic", &m->anisotropy},
                  {"sheen", &m->sheen},
                  {"sheen_tint", &m->sheen_tint},
                  {"clearcoat", &m->clearcoat},
                  {"clearcoat_gloss", &m->clearcoat_gloss},
                  {"spec_trans", &m->transmission},
                  {"flatness", &m->subsurface}};
    bool more = is_given(&m->specular_tint) || is_given(&m->anisotropy) || is_given(&m->sheen) ||
                is_given(&m->clearcoat) || is_given(&m->transmission) || is_given(&m->subsurface);
    bool plugin = x->options->plugins;
    if (m->layers.present)
        mitsuba_differs(x, title,
                        "coat, fuzz, specular_color, specular_weight and thin are not exported");
    if (more && !plugin)
        mitsuba_differs(x, title,
                        "specular_tint, anisotropy, sheen, clearcoat, transmission and subsurface "
                        "are formulas of Mitsuba's own there (--plugins)");
    if (!plugin) {
        mitsuba_differs(x, title, "%s", CORRELATED_MASKING);
        if (m->metallic.texture >= 0 || m->metallic.value < 1)
            mitsuba_differs(x, title,
                            "Mitsuba's principled reflects by the exact Fresnel formula of a "
                            "dielectric, the protocol's by Schlick's from F0 = 0.08 specular "
                            "(--plugins)");
        if (m->specular.texture >= 0)
            mitsuba_differs(x, title,
                            "Mitsuba takes no textured specular: the factor alone is "
                            "written");
    }
    open_bsdf(x, material,
              !plugin ? "principled"
              : more  ? "isophote_principled_lobes"
                      : "isophote_principled",
              !plugin || !more);
    write_color(x, "base_color", &m->base, title);
    write_scalar(x, "metallic", &m->metallic, title);
    write_scalar(x, "roughness", &m->roughness, title);
    if (plugin) {
        write_scalar(x, "specular", &m->specular, title);
        if (more) {
            write_index(x, "ior", m, title);
            write_scalar(x, "rotation", &m->rotation, title);
        }
    } else if (is_given(&m->transmission)) /* Mitsuba takes one of the two */
        text_printf(&x->xml, "      <float name=\"eta\" value=\"%.9g\"/>\n", (double)m->ior.value);
    else
        text_printf(&x->xml, "      <float name=\"specular\" value=\"%.9g\"/>\n",
                    (double)m->specular.value);
    for (size_t i = 0; more && i < sizeof extras / sizeof *extras; i++)
        write_scalar(x, extras[i].name, extras[i].input, title);
    close_bsdf(x);
}

/* A material that reflects its colour; `scalar` may be NULL. */
static void write_colored(struct exporter *x, uint32_t material, const char *type,
                          const char *color_name, const char *scalar_name,
                          const struct scalar_input *scalar)
{
    const struct material *m = &x->scene->materials[material];
    const char *title = mitsuba_material_title(x, m);
    open_bsdf(x, material, type, true);
    write_color(x, color_name, &m->base, title);
    if (scalar)
        write_scalar(x, scalar_name, scalar, title);
    close_bsdf(x);
}

/* One that only a plugin has. */
static void write_plugin(struct exporter *x, uint32_t material, const char *type, const char *name,
                         const struct scalar_input *scalar, const char *title)
{
    if (!x->options->plugins)
        mitsuba_differs(x, title, "Mitsuba has nothing like it: diffuse is written (--plugins)");
    write_colored(x, material, x->options->plugins ? type : "diffuse", "reflectance", name,
                  x->options->plugins ? scalar : NULL);
}

/* What every type may have, and Mitsuba has not. */
static void note_surface(struct exporter *x, const struct material *m, const char *title)
{
    if (m->single_sided && !x->options->plugins)
        mitsuba_differs(x, title, "Mitsuba's surfaces stop rays from both sides (--plugins)");
    if (m->normal_map.present && !x->options->plugins)
        mitsuba_differs(x, title,
                        "Mitsuba's normal maps stand in another tangent frame, and treat "
                        "normals that face away otherwise: none is written (--plugins)");
    /* One that has a single side emits to that side alone in both. */
    if (material_emits(m) && m->alpha_mode == ALPHA_MASK)
        mitsuba_differs(x, title, "Mitsuba's lights shine where their surface is not there");
    if (x->volumetric && (is_blended(m) || m->type == MATERIAL_THIN_DIELECTRIC))
        mitsuba_differs(x, title,
                        "in a scene that needs Mitsuba's volpath (media, cut-outs, single "
                        "sides) passing straight through is no vertex of the path there");
}

static bool has_colors(const struct scene *s, uint32_t material)
{
    bool any = false;
    for (size_t i = 0; i < s->triangle_count + s->prototype_triangle_count && !any; i++)
        any = s->triangle_flags[i] & TRIANGLE_HAS_COLORS &&
              mitsuba_triangle_material(s, i) == material;
    return any;
}

void mitsuba_write_bsdf(struct exporter *x, uint32_t material)
{
    const struct material *m = &x->scene->materials[material];
    const char *title = mitsuba_material_title(x, m);
    x->colored = x->options->plugins && has_colors(x->scene, material);
    note_surface(x, m, title);
    if (m->interface) {
        text_printf(&x->xml, "  <bsdf type=\"null\" id=\"%s\"/>\n", mitsuba_bsdf_id(x, material));
        return;
    }
    if (m->shading) {
        mitsuba_differs(x, title, "Mitsuba runs no ASL: %s is written",
                        m->shading->has_base ? "the base, with what the scene file gives it,"
                                             : "a gray diffuse material");
        if (!m->shading->has_base) {
            static const float gray[3] = {0.5F, 0.5F, 0.5F};
            open_bsdf(x, material, "diffuse", true);
            write_rgb(x, "reflectance", gray);
            close_bsdf(x);
            return;
        }
    }
    switch (m->type) {
    case MATERIAL_DIFFUSE:
        write_colored(x, material, "diffuse", "reflectance", NULL, NULL);
        return;
    case MATERIAL_MIRROR: /* no eta and k: reflects everything */
        write_colored(x, material, "conductor", "specular_reflectance", NULL, NULL);
        return;
    case MATERIAL_ROUGH_CONDUCTOR:
        write_conductor(x, material, title);
        return;
    case MATERIAL_DIELECTRIC:
    case MATERIAL_THIN_DIELECTRIC: /* both sum what goes to and fro within: 2 F/(1 + F) */
        open_bsdf(x, material, m->type == MATERIAL_DIELECTRIC ? "dielectric" : "thindielectric",
                  false);
        write_ior(x, m, title);
        close_bsdf(x);
        return;
    case MATERIAL_PRINCIPLED:
        write_principled(x, material, title);
        return;
    case MATERIAL_OREN_NAYAR:
        write_plugin(x, material, "isophote_oren_nayar", "sigma", &m->sigma, title);
        return;
    case MATERIAL_ROUGH_DIELECTRIC:
        write_rough_dielectric(x, material, title);
        return;
    case MATERIAL_SHEEN:
        write_plugin(x, material, "isophote_sheen", "roughness", &m->roughness, title);
        return;
    case MATERIAL_TYPE_COUNT:
        break;
    }
}
