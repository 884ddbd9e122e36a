/* SPDX-License-Identifier: Apache-2.0 */
/* Shaders of scenes at random: closures, driven bases, networks. */
#include "scene_generator.h"

#include <string.h>

/* In the texts below @ stands for what is rolled:
 *   @c a colour        @k a constant colour   @f a number in [0, 1]   @r a roughness, 0 too
 *   @n a normal        @t a tangent           @e an index             @d a distribution
 *   @p a picture */
static void put_text(struct scene_generator *g, struct text *out, const char *format,
                     unsigned depth);

static void put_constant(struct scene_generator *g, struct text *out)
{
    text_printf(out, "color(%g, %g, %g)", scene_unit(g), scene_unit(g), scene_uniform(g, 0, 1));
}

/* ---- numbers and colours of a place --------------------------------------------------------- */

static const char *const floats[] = {
    "u",
    "v",
    "fabs(dot(normalize(I), N))",
    "noise(\"perlin\", P * 3) * 0.5 + 0.5",
    "noise(\"cell\", u * 8, v * 8)",
    "noise(\"simplex\", P * 2) * 0.5 + 0.5",
    "noise(\"hash\", floor(P * 4))",
    "pnoise(\"uperlin\", u * 8, v * 8, 4, 4)",
    "noise(\"gabor\", P * 2) * 0.3 + 0.5",
    "raytype(\"camera\") * 0.7 + 0.2",
    "isdiffuseray() ? 0.3 : 0.8",
    "isglossyray() ? 0.9 : 0.4",
    "raytype(\"reflection\") * 0.5",
    "raytype(\"refraction\") * 0.6 + 0.1",
    "backfacing() ? 0.2 : 0.7",
    "clamp(surfacearea(), 0, 1)",
    "smoothstep(0.2, 0.7, u)",
    "aastep(0.5, mod(u * 4, 1))",
    "mod(floor(u * 6) + floor(v * 6), 2)",
    "clamp(filterwidth(u) * 20, 0, 1)",
    "spline(\"catmull-rom\", u, 0.1, 0.2, 0.9, 0.4, 0.3)",
    "spline(\"linear\", v, 0.0, 0.3, 0.8, 0.2)",
    "spline(\"bezier\", u, 0.1, 0.9, 0.2, 0.6)",
    "spline(\"bspline\", v, 0.0, 0.5, 0.9, 0.2, 0.4)",
    "spline(\"constant\", u, 0.3, 0.1, 0.8, 0.6)",
    "splineinverse(\"linear\", u, 0.0, 0.3, 0.6, 1.0)",
    "luminance(@c)",
    "pow(u, 2.2)",
    "exp(-4 * v * v)",
    "0.5 + 0.5 * sin(20 * u)",
    "0.5 + 0.5 * cos(9 * P[0])",
    "fabs(atan2(P[1], P[0])) * 0.3",
    "acos(clamp(N[1], -1, 1)) * 0.3",
    "length(P) - floor(length(P))",
    "select(0.2, 0.9, u - 0.5)",
    "hypot(u - 0.5, v - 0.5)",
    "cbrt(v)",
    "inversesqrt(1 + v)",
    "erf(u)",
    "tanh(u + v)",
    "log2(1 + u)",
    "linearstep(0.2, 0.8, v)",
    "hash(P) * 2e-10 + 0.5",
    "fmod(v * 3, 1)",
    "degrees(u) * 0.01",
    "transform(\"world\", P)[0] * 0.1 + 0.5",
    "length(transform(matrix(u + 1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1), N)) * 0.3",
    "fabs(rotate(P, u, point(0, 0, 0), point(0, 1, 0.5))[1]) * 0.3",
    "clamp(fabs(Dx(tan(u)) + Dy(asin(v))) * 9, 0, 1)",
    "clamp(fabs(Dx(log(2 + u, 3)) + Dy(exp2(v))) * 9, 0, 1)",
    "clamp(fabs(Dx(sinh(u) + cosh(v)) + Dy(expm1(u) + log10(1 + v))) * 9, 0, 1)",
    "clamp(filterwidth(noise(\"simplex\", P * 3)) * 9, 0, 1)",
    "clamp(fabs(Dx(smooth_linearstep(0.2, 0.8, 0.1, u)) + Dy(atan2(v, u + 1))) * 9, 0, 1)",
    "determinant(matrix(u, 0, 0, 0, 0, v, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1))",
    NULL};

static const char *const colors[] = {
    "@k",
    "@k",
    "mix(@k, @k, @f)",
    "color(@f, @f, @f)",
    "color(\"hsv\", @f, 0.7, 0.8)",
    "color(\"hsl\", u, 0.6, 0.5)",
    "(color) noise(\"perlin\", P * 2) * 0.4 + 0.5",
    "(color) noise(\"cell\", P * 3)",
    "cellnoise(P * 2)",
    "(color) texture(\"@p\", u, v)",
    "(color) texture(\"@p\", u * 3, v * 2, \"wrap\", \"periodic\")",
    "(color) texture(\"@p\", u, v, \"interp\", \"cubic\")",
    "(color) texture(\"@p\", u, v, \"interp\", \"bicubic\", \"wrap\", \"mirror\")",
    "(color) texture(\"@p\", u * 2, v, \"interp\", \"closest\", \"wrap\", \"clamp\")",
    "(color) texture(\"@p\", u, v, \"blur\", 0.05, \"width\", 2.0)",
    "(color) environment(\"@p\", I)",
    "(color) environment(\"@p\", N * 7)",
    "(color) environment(\"@p\", reflect(I, N) * 0.001)",
    "clamp(transformc(\"rgb\", \"hsv\", @k), 0, 1)",
    "clamp(transformc(\"YIQ\", @k), 0, 1)",
    "clamp(transformc(\"XYZ\", \"rgb\", @k), 0, 1)",
    "clamp(blackbody(1500 + 8000 * u) * 1e-6, 0, 1)",
    "clamp(wavelength_color(400 + 300 * v), 0, 1)",
    "fabs(color(normalize(transform(matrix(1, 0, 1, 0, 0, 2, 0, 0, 0, 0, 1, 0, 3, 0, 0, 1), N))))",
    "0.5 + 0.5 * color(normalize(transform(\"common\", \"object\", I)))",
    "spline(\"catmull-rom\", u, @k, @k, @k, @k, @k)",
    "mod(floor(P[0] * 2) + floor(P[2] * 2), 2) * @k",
    "raytype(\"camera\") ? @k : @k",
    "smoothstep(color(0.1), color(0.9), @c)",
    "sqrt(@c)",
    "clamp(transformc(\"xyY\", \"rgb\", @k), 0, 1)",
    "clamp(transformc(\"rgb\", \"xyY\", 0.1 + @k), 0, 1)",
    "clamp(transformc(\"sRGB\", \"hsl\", @k), 0, 1)",
    "clamp(transformc(\"hsl\", \"sRGB\", @k), 0, 1)",
    "clamp(transformc(\"rgb\", \"XYZ\", @k), 0, 1)",
    "clamp(filterwidth((color) texture(\"@p\", u * 3, v)) * 9, 0, 1)",
    "clamp(filterwidth((color) texture(\"@p\", u, v, \"interp\", \"bicubic\")) * 9, 0, 1)",
    "max(@c, @k)",
    "1 - @c",
    NULL};

static const char *const normals[] = {
    "N",
    "N",
    "N",
    "N",
    "Ng",
    "normalize(N + 0.2 * vector(sin(P[0] * 9), 0, cos(P[2] * 9)))",
    "normalize(N + 0.3 * ((vector) noise(\"perlin\", P * 4)))",
    "faceforward(Ng, I)",
    "normalize(transform(matrix(1, 0, 0.2, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1), N))",
    "normalize(calculatenormal(P + 0.02 * sin(u * 30) * N))",
    NULL};

static void put_number(struct scene_generator *g, struct text *out, unsigned depth)
{
    if (depth == 0 || scene_chance(g, 45))
        text_printf(out, "%g", scene_unit(g));
    else
        put_text(g, out, scene_word(g, floats), depth - 1);
}

static void put_color(struct scene_generator *g, struct text *out, unsigned depth)
{
    if (depth == 0 || scene_chance(g, 35))
        put_constant(g, out);
    else
        put_text(g, out, scene_word(g, colors), depth - 1);
}

static void put_text(struct scene_generator *g, struct text *out, const char *format,
                     unsigned depth)
{
    static const char *const pictures[] = {"tile.png", "veins.jpg", "blocks.exr", "town-facade.png",
                                           NULL};
    static const char *const indices[] = {
        "1.5", "1.33", "(backfacing() ? 1 / 1.5 : 1.5)", "0.7", "(backfacing() ? 1 / 2.4 : 2.4)",
        "1",   NULL};
    static const char *const tangents[] = {"dPdu", "dPdv", "vector(1, 0.2, 0)",
                                           "normalize(dPdu + N)", NULL};
    for (const char *p = format; *p; p++) {
        if (*p != '@') {
            text_append(out, p, 1);
            continue;
        }
        switch (*++p) {
        case 'c': /* in brackets: "1 - c" may be one, and stand before a product */
            text_puts(out, "(");
            put_color(g, out, depth);
            text_puts(out, ")");
            break;
        case 'k':
            put_constant(g, out);
            break;
        case 'f':
            text_puts(out, "(");
            put_number(g, out, depth);
            text_puts(out, ")");
            break;
        case 'r':
            if (scene_chance(g, 70))
                text_printf(out, "%g", scene_chance(g, 20) ? 0 : scene_uniform(g, 0.001, 1.2));
            else
                put_number(g, out, depth);
            break;
        case 'n':
            text_puts(out, scene_word(g, normals));
            break;
        case 't':
            text_puts(out, scene_word(g, tangents));
            break;
        case 'e':
            text_puts(out, scene_word(g, indices));
            break;
        case 'd':
            text_puts(out, scene_chance(g, 50) ? "ggx" : "beckmann");
            break;
        default:
            text_printf(out, "%s/%s", g->pictures, scene_word(g, pictures));
        }
    }
}

/* ---- rays of shaders ------------------------------------------------------------------------ */

/* Statements that darken `name` by what is around the point. Their dice are others: what else the
 * scene has does not hang on them. */
static void put_rays(struct scene_generator *g, struct text *out, const char *name)
{
    const struct dice others = g->dice;
    const double near = g->size * 0.05, far = g->size * 3;
    g->dice = g->rays;
    if (scene_chance(g, g->asking)) {
        switch (scene_roll(g, 6)) {
        case 0:
            text_printf(out, " %s *= 1 - 0.8 * occlusion(\"samples\", %u);", name,
                        1 + scene_roll(g, 5));
            break;
        case 1:
            text_printf(out, " %s *= 1 - 0.8 * occlusion(P, Ng, \"samples\", 2, \"maxdist\", %g);",
                        name, far);
            break;
        case 2:
            text_printf(out, " %s *= 1 - 0.6 * trace(P, reflect(I, N));", name);
            break;
        case 3:
            text_printf(out,
                        " %s *= trace(P + %g * N, vector(0.2, 1, 0.1), \"mindist\", %g, "
                        "\"maxdist\", %g) ? 0.4 : 0.9;",
                        name, near, near, far);
            break;
        case 4:
            text_printf(out,
                        " { float at = %g; if (trace(P, N)) getmessage(\"trace\", \"hitdist\", at);"
                        " %s *= %g / (%g + at); }",
                        far, name, far, far);
            break;
        default:
            text_printf(out,
                        " { normal met = 0; float x = 0; int hit = 0; trace(P, vector(0, 1, 0.3));"
                        " getmessage(\"trace\", \"hit\", hit); getmessage(\"trace\", \"u\", x);"
                        " if (getmessage(\"trace\", \"N\", met)) %s *= 0.5 + 0.4 * fabs(met[1]);"
                        " else %s *= hit ? x : 0.8; }",
                        name, name);
        }
    }
    g->rays = g->dice;
    g->dice = others;
}

static void put_ambient(struct scene_generator *g, struct text *out)
{
    if (dice_chance(&g->rays, g->asking / 3))
        text_printf(out, " + 0.3 * ambient_occlusion(\"samples\", %u)", 1 + dice_roll(&g->rays, 4));
}

/* ---- closures ------------------------------------------------------------------------------- */

static const char *const closures[] = {
    "diffuse(@n)",
    "oren_nayar(@n, @f)",
    "translucent(@n)",
    "phong(@n, 3)",
    "phong(@n, 400 * @f)",
    "ward(@n, @t, @r, @r)",
    "microfacet(\"@d\", @n, @r, @e, 0)",
    "microfacet(\"@d\", @n, @r, @e, 1)",
    "microfacet(\"@d\", @n, @r, @e, 2)",
    "microfacet(\"@d\", @n, @t, @r, @r, @e, 0)",
    "microfacet(\"@d\", @n, @t, @r, @r, @e, 2)",
    "reflection(@n)",
    "reflection(@n, @e)",
    "refraction(@n, @e)",
    "transparent()",
    "oren_nayar_diffuse_bsdf(@n, @c, @f)",
    "burley_diffuse_bsdf(@n, @c, @f)",
    "sheen_bsdf(@n, @c, @f)",
    "dielectric_bsdf(@n, @t, @c, @c, @r, @r, 1.5, \"@d\")",
    "dielectric_bsdf(@n, @t, color(1), color(0), @r, @r, 1.4, \"@d\")",
    "conductor_bsdf(@n, @t, @r, @r, color(0.2, 0.9, 1.4), color(3.9, 2.4, 2.2), \"@d\")",
    "generalized_schlick_bsdf(@n, @t, @c, @c, @r, @r, @k, @k, 5, \"@d\")",
    "generalized_schlick_bsdf(@n, @t, color(1), color(0), @r, @r, @k, color(1), 3, \"@d\")",
    "generalized_schlick_bsdf(@n, @t, color(0), color(1), @r, @r, @k, @k, 5, \"@d\")",
    "translucent_bsdf(@n, @c)",
    "subsurface_bssrdf(@n, @c, @k, 0.0)",
    "subsurface(1.4, 0, color(0.1), @c)",
    "principled(@n, @c, @f, @f)",
    "principled(@n, @c, @f, @f, \"clearcoat\", @f, \"clearcoat_gloss\", @f)",
    "principled(@n, @c, @f, @f, \"sheen\", @f, \"sheen_tint\", @f, \"specular_tint\", @f)",
    "principled(@n, @c, 0.0, @f, \"transmission\", @f, \"ior\", 1.4)",
    "principled(@n, @c, @f, @f, \"subsurface\", @f)",
    "principled(@n, @c, @f, @f, \"anisotropy\", @f, \"rotation\", @f, \"specular\", @f)",
    "transparent_bsdf()",
    "diffuse(@n) + uniform_edf(0.3 * @k)",
    "diffuse(@n) + 0.2 * emission()",
    NULL};

static void put_leaf(struct scene_generator *g, struct text *out)
{
    put_text(g, out, scene_word(g, closures), 2);
}

static void put_closure(struct scene_generator *g, struct text *out)
{
    const uint32_t form = scene_roll(g, 10);
    if (form < 4) {
        put_leaf(g, out);
    } else if (form < 6) {
        put_text(g, out, "@c * ", 2);
        put_leaf(g, out);
    } else if (form < 8) {
        put_text(g, out, "@f * ", 2);
        put_leaf(g, out);
        put_text(g, out, " + 0.5 * ", 2);
        put_leaf(g, out);
    } else if (form < 9) {
        text_puts(out, "layer(");
        put_leaf(g, out);
        text_puts(out, ", ");
        put_leaf(g, out);
        text_puts(out, ")");
    } else {
        put_text(g, out, "0.4 * @c * ", 1);
        put_leaf(g, out);
        text_puts(out, " + 0.3 * layer(0.5 * ");
        put_leaf(g, out);
        text_puts(out, ", ");
        put_leaf(g, out);
        text_puts(out, ") + 0.2 * ");
        put_leaf(g, out);
    }
    if (scene_chance(g, 8))
        put_text(g, out, " + (0.3 * @k) * emission()", 0);
    if (scene_chance(g, 3))
        text_puts(out, " + 0.1 * holdout()");
}

/* ---- driven bases --------------------------------------------------------------------------- */

/* Which inputs of which bases an output may set, and its type and value. */
static const struct {
    const char *input, *types, *type, *value;
} drives[] = {
    {"base_color", "principled", "color", "@c"},
    {"reflectance", "diffuse mirror oren_nayar sheen", "color", "@c"},
    {"roughness", "rough_conductor rough_dielectric principled sheen", "float", "@f"},
    {"anisotropy", "rough_conductor principled", "float", "@f"},
    {"rotation", "rough_conductor principled", "float", "@f"},
    {"metallic", "principled", "float", "@f"},
    {"specular", "principled", "float", "@f"},
    {"specular_tint", "principled", "float", "@f"},
    {"sheen", "principled", "float", "@f"},
    {"sheen_tint", "principled", "float", "@f"},
    {"clearcoat", "principled", "float", "@f"},
    {"clearcoat_gloss", "principled", "float", "@f"},
    {"transmission", "principled", "float", "@f"},
    {"eta", "rough_conductor", "color", "0.2 + @c"},
    {"k", "rough_conductor", "color", "4 * @c"},
    {"ior", " dielectric rough_dielectric thin_dielectric principled", "float", "1 + @f"},
    {"sigma", "oren_nayar", "float", "@f"},
    {"normal", NULL, "normal", "@n"},
    {"opacity", NULL, "color", "@c"},
    {"opacity", NULL, "float", "@f"},
    {"emission", NULL, "color", "@k * @f"},
    {"subsurface", "principled", "float", "@f"},
};
enum { DRIVES = sizeof drives / sizeof *drives };

static bool has_word(const char *words, const char *word)
{
    const size_t n = strlen(word);
    for (const char *p = words; (p = strstr(p, word)) != NULL; p += n)
        if ((p == words || p[-1] == ' ') && (p[n] == 0 || p[n] == ' '))
            return true;
    return false;
}

static void put_source(struct scene_generator *g, const struct text *t)
{
    g->w.out.failed = g->w.out.failed || t->failed;
    json_key_string(&g->w, "source", t->data ? t->data : "");
}

static void put_driven(struct scene_generator *g, uint32_t i)
{
    const char *type = scene_word(g, scene_types);
    bool chosen[DRIVES] = {false};
    struct text t = {0};
    char output[16];
    unsigned n = 0;
    for (size_t k = 0; k < DRIVES; k++) {
        const bool fits = !drives[k].types || has_word(drives[k].types, type),
                   twice =
                       k > 0 && chosen[k - 1] && strcmp(drives[k].input, drives[k - 1].input) == 0;
        chosen[k] = fits && !twice && scene_chance(g, drives[k].types ? 45 : 12);
        n += chosen[k];
    }
    if (n == 0)
        chosen[17] = true; /* the normal */
    text_printf(&t, "surface m%u(", i);
    n = 0;
    for (size_t k = 0; k < DRIVES; k++)
        if (chosen[k])
            text_printf(&t, "%soutput %s o%zu = 0", n++ ? ", " : "", drives[k].type, k);
    text_puts(&t, ") {");
    for (size_t k = 0; k < DRIVES; k++)
        if (chosen[k]) {
            text_printf(&t, " o%zu = ", k);
            put_text(g, &t, drives[k].value, 2);
            text_puts(&t, ";");
            if (drives[k].value[0] == '@' && drives[k].value[1] != 'n') {
                (void)snprintf(output, sizeof output, "o%zu", k);
                put_rays(g, &t, output);
            }
        }
    text_puts(&t, " }");
    put_source(g, &t);
    text_free(&t);
    json_key(&g->w, "base");
    json_begin_object(&g->w);
    json_key_string(&g->w, "type", type);
    scene_put_inputs(g, type, true, true);
    json_end_object(&g->w);
    json_key(&g->w, "drive");
    json_begin_object(&g->w);
    for (size_t k = 0; k < DRIVES; k++)
        if (chosen[k]) {
            (void)snprintf(output, sizeof output, "o%zu", k);
            json_key_string(&g->w, drives[k].input, output);
        }
    json_end_object(&g->w);
}

/* ---- networks ------------------------------------------------------------------------------- */

static void put_layer(struct scene_generator *g, const char *name, const struct text *t)
{
    json_begin_object(&g->w);
    json_key_string(&g->w, "name", name);
    put_source(g, t);
    json_end_object(&g->w);
}

static void put_network(struct scene_generator *g)
{
    struct text first = {0}, last = {0};
    put_text(
        g, &first,
        "shader first(float scale = 3, output color c = 0, output float f = 0) { c = @c; f = @f "
        "* 0.9;",
        2);
    put_rays(g, &first, "c");
    put_rays(g, &first, "f");
    text_puts(&first, " }");
    text_puts(&last, "surface last(color c = 0.5, float f = 0.2, output color tint = 0) { "
                     "if (isconnected(f)) tint = c * f; Ci = (0.2 + 0.8 * c) * ");
    put_leaf(g, &last);
    put_text(g, &last, " + f * diffuse(@n); }", 1);
    json_key(&g->w, "layers");
    json_begin_array(&g->w);
    put_layer(g, "a", &first);
    put_layer(g, "b", &last);
    json_end_array(&g->w);
    json_key(&g->w, "connections");
    json_begin_array(&g->w);
    json_begin_array(&g->w);
    json_string(&g->w, "a.c");
    json_string(&g->w, "b.c");
    json_end_array(&g->w);
    if (scene_chance(g, 70)) {
        json_begin_array(&g->w);
        json_string(&g->w, scene_chance(g, 50) ? "a.f" : "a.c[1]");
        json_string(&g->w, "b.f");
        json_end_array(&g->w);
    }
    json_end_array(&g->w);
    text_free(&first);
    text_free(&last);
}

/* ---- the library's shaders ------------------------------------------------------------------ */

/* A file of shaders/library, with a parameter of its own. */
static void put_file(struct scene_generator *g, const char *name, const char *color,
                     const char *number, double most)
{
    char file[4096];
    (void)snprintf(file, sizeof file, "%s/../../../shaders/library/%s.asl", g->pictures, name);
    json_key_string(&g->w, "shader", file);
    if (scene_chance(g, 30))
        return;
    json_key(&g->w, "parameters");
    json_begin_object(&g->w);
    scene_put_vector(g, color, (double[]){scene_unit(g), scene_unit(g), scene_unit(g)}, 3);
    json_key_number(&g->w, number, scene_uniform(g, 0, most));
    json_end_object(&g->w);
}

/* A surface, or a pattern that a surface takes its colour from. */
static void put_library(struct scene_generator *g)
{
    if (scene_chance(g, 50)) {
        put_file(g, "principled", "base_color", "metallic", 1);
        return;
    }
    json_key(&g->w, "layers");
    json_begin_array(&g->w);
    json_begin_object(&g->w);
    json_key_string(&g->w, "name", "board");
    put_file(g, "checker", "even", "scale", 30);
    json_end_object(&g->w);
    json_begin_object(&g->w);
    json_key_string(&g->w, "name", "paint");
    put_file(g, "principled", "emission_color", "metallic", 1);
    json_end_object(&g->w);
    json_end_array(&g->w);
    json_key(&g->w, "connections");
    json_begin_array(&g->w);
    json_begin_array(&g->w);
    json_string(&g->w, "board.Cout");
    json_string(&g->w, "paint.base_color");
    json_end_array(&g->w);
    json_end_array(&g->w);
}

/* ---- declared closures ---------------------------------------------------------------------- */

/* Components that a prototype declares (protocol, section 21): the prototype, and a call. */
static const char *const declared[][2] = {
    {"microfacet_ggx(normal N, float ag)", "microfacet_ggx(@n, @r)"},
    {"microfacet_ggx(normal N, float ag, float eta)", "microfacet_ggx(@n, @r, @e)"},
    {"microfacet_ggx_aniso(normal N, vector T, float ax, float ay)",
     "microfacet_ggx_aniso(@n, @t, @r, @r)"},
    {"microfacet_multi_ggx(normal N, float ag, color C)", "microfacet_multi_ggx(@n, @r, @k)"},
    {"microfacet_multi_ggx_aniso(normal N, vector T, float ax, float ay, color C)",
     "microfacet_multi_ggx_aniso(@n, @t, @r, @r, @k)"},
    {"microfacet_beckmann(normal N, float ab)", "microfacet_beckmann(@n, @r)"},
    {"microfacet_beckmann(normal N, float ab, float eta)", "microfacet_beckmann(@n, @r, @e)"},
    {"microfacet_beckmann_aniso(normal N, vector T, float ax, float ay)",
     "microfacet_beckmann_aniso(@n, @t, @r, @r)"},
    {"ashikhmin_shirley(normal N, vector T, float ax, float ay)",
     "ashikhmin_shirley(@n, @t, @r, @r)"},
    {"microfacet_ggx_refraction(normal N, float ag, float eta)",
     "microfacet_ggx_refraction(@n, @r, @e)"},
    {"microfacet_beckmann_refraction(normal N, float ab, float eta)",
     "microfacet_beckmann_refraction(@n, @r, @e)"},
    {"microfacet_ggx_fresnel(normal N, float ag, float eta, color C, color Cspec0)",
     "microfacet_ggx_fresnel(@n, @r, @e, @k, @k)"},
    {"microfacet_multi_ggx_fresnel(normal N, float ag, float eta, color C, color Cspec0)",
     "microfacet_multi_ggx_fresnel(@n, @r, @e, @k, @k)"},
    {"microfacet_ggx_aniso_fresnel(normal N, vector T, float ax, float ay, float eta, color C, "
     "color Cspec0)",
     "microfacet_ggx_aniso_fresnel(@n, @t, @r, @r, @e, @k, @k)"},
    {"microfacet_multi_ggx_aniso_fresnel(normal N, vector T, float ax, float ay, float eta, color "
     "C, color Cspec0)",
     "microfacet_multi_ggx_aniso_fresnel(@n, @t, @r, @r, @e, @k, @k)"},
    {"microfacet_f82_tint(string distribution, vector N, vector T, float ax, float ay, color f0, "
     "color f82)",
     "microfacet_f82_tint(\"@d\", @n, @t, @r, @r, @k, @k)"},
    {"microfacet_multi_ggx_glass(normal N, float ag, float eta, color C)",
     "microfacet_multi_ggx_glass(@n, @r, @e, @k)"},
    {"microfacet_multi_ggx_glass_fresnel(normal N, float ag, float eta, color C, color Cspec0)",
     "microfacet_multi_ggx_glass_fresnel(@n, @r, @e, @k, @k)"},
    {"principled_diffuse(normal N, float roughness)", "principled_diffuse(@n, @f)"},
    {"principled_sheen(normal N)", "0.5 * diffuse(@n) + principled_sheen(@n)"},
    {"principled_clearcoat(normal N, float clearcoat, float clearcoat_roughness)",
     "diffuse(@n) + principled_clearcoat(@n, @f, @f)"},
    {"sheen(normal N, float roughness)", "sheen(@n, @f)"},
    {"ashikhmin_velvet(normal N, float sigma)", "ashikhmin_velvet(@n, @f)"},
    {"bssrdf(string method, normal N, vector radius, color albedo)",
     "@k * bssrdf(\"random_walk\", @n, vector(1), @k)"},
};
enum { DECLARED = sizeof declared / sizeof *declared };

static void put_prototype(struct text *out, size_t i)
{
    text_printf(out, "closure color %s [[int builtin = 1]];\n", declared[i][0]);
}

/* ---- one ------------------------------------------------------------------------------------ */

static void put_direct(struct scene_generator *g, uint32_t i)
{
    struct text t = {0};
    const uint32_t own = scene_chance(g, 15) ? scene_roll(g, DECLARED) : DECLARED;
    if (own < DECLARED)
        put_prototype(&t, own);
    text_printf(
        &t, "surface m%u(color tint = 0.8, float amount = 0.5, int turns = 2) { color c = tint;",
        i);
    if (scene_chance(g, 30))
        text_puts(&t, " float seen = 1; color found = 0; if (getattribute(\"nothing\", found)) c = "
                      "found; for (int i = 0; i < turns; i++) seen *= 0.9; c *= seen;");
    put_rays(g, &t, "c");
    text_puts(&t, scene_chance(g, 30) ? " Ci = (amount * c) * " : " Ci = ");
    const bool many = scene_chance(g, 20);
    if (many)
        text_puts(&t, "(u < amount ? ");
    if (own < DECLARED)
        put_text(g, &t, declared[own][1], 1);
    else
        put_closure(g, &t);
    if (many) {
        text_puts(&t, " : ");
        put_leaf(g, &t);
        text_puts(&t, ")");
    }
    put_ambient(g, &t);
    text_puts(&t, "; }");
    put_source(g, &t);
    text_free(&t);
    if (scene_chance(g, 50)) {
        json_key(&g->w, "parameters");
        json_begin_object(&g->w);
        const double c[3] = {scene_unit(g), scene_unit(g), scene_unit(g)};
        scene_put_vector(g, "tint", c, 3);
        json_key_number(&g->w, "amount", scene_unit(g));
        json_key_integer(&g->w, "turns", scene_roll(g, 5));
        json_end_object(&g->w);
    }
}

void scene_put_shader(struct scene_generator *g, uint32_t i)
{
    const uint32_t form = scene_roll(g, 11);
    if (form < 5)
        put_direct(g, i);
    else if (form < 8)
        put_driven(g, i);
    else if (form < 10)
        put_network(g);
    else
        put_library(g);
}

/* ---- all of them ---------------------------------------------------------------------------- */

/* The i-th surface of those that say all of the tables above: a closure each, then three numbers
 * each, two colours each, and the declared closures; false behind the last. */
static bool put_surface(struct scene_generator *g, struct text *out, uint32_t name, size_t i)
{
    enum {
        CLOSURES = sizeof closures / sizeof *closures - 1,
        FLOATS = sizeof floats / sizeof *floats - 1,
        COLORS = sizeof colors / sizeof *colors - 1,
        BY_FLOATS = (FLOATS + 2) / 3,
        BY_COLORS = (COLORS + 1) / 2
    };
    if (i >= CLOSURES + BY_FLOATS + BY_COLORS && i < CLOSURES + BY_FLOATS + BY_COLORS + DECLARED)
        put_prototype(out, i - CLOSURES - BY_FLOATS - BY_COLORS);
    text_printf(out, "surface m%u() { ", name);
    if (i < CLOSURES) {
        text_puts(out, "Ci = ");
        put_text(g, out, closures[i], 1);
    } else if (i < CLOSURES + BY_FLOATS) {
        text_puts(out, "Ci = color(");
        for (size_t k = 0; k < 3; k++) {
            text_puts(out, k ? ", " : "");
            put_text(g, out, floats[(3 * (i - CLOSURES) + k) % FLOATS], 1);
        }
        text_puts(out, ") * diffuse(N)");
    } else if (i < CLOSURES + BY_FLOATS + BY_COLORS) {
        const size_t first = 2 * (i - CLOSURES - BY_FLOATS);
        text_puts(out, "Ci = (0.5 * (");
        put_text(g, out, colors[first], 1);
        text_puts(out, ") + 0.5 * (");
        put_text(g, out, colors[(first + 1) % COLORS], 1);
        text_puts(out, ")) * diffuse(N)");
    } else if (i < CLOSURES + BY_FLOATS + BY_COLORS + DECLARED) {
        text_puts(out, "Ci = ");
        put_text(g, out, declared[i - CLOSURES - BY_FLOATS - BY_COLORS][1], 1);
    } else {
        return false;
    }
    return true;
}

bool scene_put_surfaces(struct scene_generator *g, uint32_t part, uint32_t parts, uint32_t *count)
{
    uint32_t n = 0;
    bool any = true;
    json_key(&g->w, "materials");
    json_begin_object(&g->w);
    for (size_t i = part; any; i += parts) {
        struct text t = {0};
        char name[16];
        any = put_surface(g, &t, n, i);
        text_puts(&t, "; }");
        if (any) {
            (void)snprintf(name, sizeof name, "m%u", n++);
            json_key(&g->w, name);
            json_begin_object(&g->w);
            json_key_string(&g->w, "type", "shader");
            put_source(g, &t);
            json_end_object(&g->w);
        }
        text_free(&t);
    }
    json_end_object(&g->w);
    *count = n;
    return n > 0;
}
