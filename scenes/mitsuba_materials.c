/* Materials as BSDFs of Mitsuba 3, and their textures. Where the formulas differ, why it is so is a
 * note; docs/validation.md holds the evidence. */
#include "mitsuba.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CORRELATED_MASKING                                                                         \
    "Mitsuba masks microfacets by G1(wi) G1(wo), the protocol (section 7) by Smith's "             \
    "height-correlated G2, which is brighter at grazing angles (--plugins)"

static bool is_textured(const struct material *m)
{
    return m->base.texture >= 0 || m->roughness.texture >= 0 || m->metallic.texture >= 0;
}

bool mitsuba_needs_uv(const struct material *m) { return is_textured(m); }

/* ---- inputs -----------------------------------------------------------------------------------
 */

static const char *wrap_name(enum texture_wrap w)
{
    return w == WRAP_REPEAT ? "repeat" : w == WRAP_MIRROR ? "mirror" : "clamp";
}

/* The texels times the input's value; clamped as section 7 of docs/protocol.md clamps what is
 * looked up, unless `plugin`, which does so itself. */
static const char *write_texels(struct exporter *x, const struct texture *t, const float value[3],
                                uint32_t channels, uint32_t channel, bool plugin)
{
    const struct image *image = &t->image;
    size_t n = (size_t)image->width * image->height;
    const char *name = arena_printf(x->arena, "%s-texture%u.exr", x->stem, x->texture_files++);
    if (x->dry && name)
        return name;
    float *texels = malloc(n * channels * sizeof *texels);
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

/* Ours: y = 1 - (scale v + offset) down the picture; Mitsuba has w = 1 - v. */
static void write_uv_transform(struct exporter *x, const struct texture *t)
{
    text_printf(&x->xml,
                "        <transform name=\"to_uv\"><matrix value=\"%.9g 0 0 %.9g  0 %.9g 0 %.9g  "
                "0 0 1 0  0 0 0 1\"/></transform>\n",
                (double)t->scale[0], (double)t->offset[0], (double)t->scale[1],
                1.0 - (double)t->scale[1] - (double)t->offset[1]);
}

static void write_texture(struct exporter *x, const char *input, int32_t index,
                          const float value[3], uint32_t channels, uint32_t channel,
                          const char *title)
{
    const struct texture *t = &x->scene->textures[index];
    bool mixed = t->wrap_u != t->wrap_v;
    bool leaves = leaves_unit_range(t, value, channels, channel);
    bool plugin = x->options->plugins && (mixed || leaves);
    const char *file = write_texels(x, t, value, channels, channel, plugin);
    if (plugin) {
        text_printf(&x->xml,
                    "      <texture name=\"%s\" type=\"isophote_texture\">\n"
                    "        <string name=\"wrap_u\" value=\"%s\"/>\n"
                    "        <string name=\"wrap_v\" value=\"%s\"/>\n",
                    input, wrap_name(t->wrap_u), wrap_name(t->wrap_v));
        write_uv_transform(x, t);
        write_bitmap(x, "bitmap", file, "repeat", t);
        text_puts(&x->xml, "      </texture>\n      </texture>\n");
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
    if (c->texture >= 0)
        write_texture(x, input, c->texture, c->value, 3, 0, title);
    else
        write_rgb(x, input, c->value);
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

/* ---- BSDFs --------------------------------------------------------------------------------------
 */

static void open_bsdf(struct exporter *x, uint32_t material, const char *type, bool two_sided)
{
    const char *id = mitsuba_bsdf_id(x, material);
    if (two_sided)
        text_printf(&x->xml, "  <bsdf type=\"twosided\" id=\"%s\">\n    <bsdf type=\"%s\">\n", id,
                    type);
    else
        text_printf(&x->xml, "  <bsdf type=\"%s\" id=\"%s\">\n", type, id);
}

static void close_bsdf(struct exporter *x, bool two_sided)
{
    text_puts(&x->xml, two_sided ? "    </bsdf>\n  </bsdf>\n" : "  </bsdf>\n");
}

static void write_conductor(struct exporter *x, uint32_t material, const char *title)
{
    const struct material *m = &x->scene->materials[material];
    open_bsdf(x, material, x->options->plugins ? "isophote_conductor" : "roughconductor", true);
    write_rgb(x, "eta", m->eta);
    write_rgb(x, "k", m->k);
    if (x->options->plugins) {
        write_scalar(x, "roughness", &m->roughness, title);
    } else {
        double r = m->roughness.value;
        mitsuba_differs(x, title, "%s", CORRELATED_MASKING);
        if (m->roughness.texture >= 0)
            mitsuba_differs(x, title,
                            "Mitsuba interpolates alpha, the protocol roughness, whose "
                            "square alpha is: the mean roughness is written");
        text_printf(&x->xml,
                    "      <string name=\"distribution\" value=\"ggx\"/>\n"
                    "      <float name=\"alpha\" value=\"%.9g\"/>\n",
                    fmax(r * r, 0.001));
    }
    close_bsdf(x, true);
}

static void write_principled(struct exporter *x, uint32_t material, const char *title)
{
    const struct material *m = &x->scene->materials[material];
    if (!x->options->plugins) {
        mitsuba_differs(x, title, "%s", CORRELATED_MASKING);
        if (m->metallic.texture >= 0 || m->metallic.value < 1)
            mitsuba_differs(
                x, title,
                "Mitsuba's principled reflects by the exact Fresnel formula of a "
                "dielectric, the protocol's by Schlick's from F0 = 0.08 specular (--plugins)");
    }
    open_bsdf(x, material, x->options->plugins ? "isophote_principled" : "principled", true);
    write_color(x, "base_color", &m->base, title);
    write_scalar(x, "metallic", &m->metallic, title);
    write_scalar(x, "roughness", &m->roughness, title);
    text_printf(&x->xml, "      <float name=\"specular\" value=\"%.9g\"/>\n", (double)m->specular);
    close_bsdf(x, true);
}

void mitsuba_write_bsdf(struct exporter *x, uint32_t material)
{
    const struct material *m = &x->scene->materials[material];
    const char *title = mitsuba_material_title(x, m);
    if (m->shading) {
        mitsuba_differs(x, title, "Mitsuba runs no ASL: %s is written",
                        m->shading->has_base ? "the base, with what the scene file gives it,"
                                             : "a gray diffuse material");
        if (!m->shading->has_base) {
            static const struct color_input gray = {{0.5f, 0.5f, 0.5f}, -1};
            open_bsdf(x, material, "diffuse", true);
            write_color(x, "reflectance", &gray, title);
            close_bsdf(x, true);
            return;
        }
    }
    switch (m->type) {
    case MATERIAL_DIFFUSE:
        open_bsdf(x, material, "diffuse", true);
        write_color(x, "reflectance", &m->base, title);
        close_bsdf(x, true);
        return;
    case MATERIAL_MIRROR: /* no eta and k: reflects everything */
        open_bsdf(x, material, "conductor", true);
        write_color(x, "specular_reflectance", &m->base, title);
        close_bsdf(x, true);
        return;
    case MATERIAL_ROUGH_CONDUCTOR:
        write_conductor(x, material, title);
        return;
    case MATERIAL_DIELECTRIC:
        open_bsdf(x, material, "dielectric", false);
        text_printf(&x->xml,
                    "      <float name=\"int_ior\" value=\"%.9g\"/>\n"
                    "      <float name=\"ext_ior\" value=\"1\"/>\n",
                    (double)m->ior);
        close_bsdf(x, false);
        return;
    case MATERIAL_PRINCIPLED:
        write_principled(x, material, title);
        return;
    case MATERIAL_TYPE_COUNT:
        break;
    }
}
