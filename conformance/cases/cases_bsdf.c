/* SPDX-License-Identifier: Apache-2.0 */
/* Level kernel, BSDFs: a device's samples and values against the reference's, pointwise and as
 * distributions. */
#include "answers.h"
#include "cases_kernel.h"
#include "metrics/offers.h"
#include "steps/offers.h"
#include "tally.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

/* ---- a scene of materials ------------------------------------------------------------ */

/* A scene in the making: its materials, each on a sphere of its own. */
struct material_list {
    struct text *materials, objects;
    int count;
};

static const double roughness[] = {0, 0.05, 0.1, 0.2, 0.4, 0.7, 1};
#define ROUGHNESSES (sizeof roughness / sizeof *roughness)

/* format: the fields of a material's JSON. */
__attribute__((format(printf, 2, 3))) static void material(struct material_list *l,
                                                           const char *format, ...)
{
    char fields[512];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(fields, sizeof fields, format, args);
    va_end(args);
    assert(length > 0 && (size_t)length < sizeof fields);
    (void)length;
    text_printf(l->materials, "%s\"m%d\": {%s}", l->count ? ", " : "", l->count, fields);
    text_printf(&l->objects,
                "%s{\"type\": \"sphere\", \"center\": [%d, 0, 0], \"radius\": 0.4, "
                "\"material\": \"m%d\"}",
                l->count ? ", " : "", l->count, l->count);
    l->count++;
}

/* Protocol section 7. */
static void materials_basic(struct material_list *l)
{
    static const double metallic[] = {0, 0.3, 1};
    material(l, "\"type\": \"diffuse\", \"reflectance\": [0.8, 0.5, 0.1]");
    material(l, "\"type\": \"diffuse\", \"reflectance\": 1");
    material(l, "\"type\": \"mirror\", \"reflectance\": [0.9, 0.8, 0.7]");
    material(l, "\"type\": \"dielectric\", \"ior\": 1.5");
    material(l, "\"type\": \"dielectric\", \"ior\": 1.33");
    material(l, "\"type\": \"dielectric\", \"ior\": 2.4");
    for (size_t i = 0; i < ROUGHNESSES; i++) {
        material(l,
                 "\"type\": \"rough_conductor\", \"eta\": [0.155, 0.43, 1.38], \"k\": [3.6, 2.46, "
                 "1.91], \"roughness\": %g",
                 roughness[i]);
        for (size_t m = 0; m < sizeof metallic / sizeof *metallic; m++)
            material(l,
                     "\"type\": \"principled\", \"base_color\": [0.8, 0.6, 0.3], \"metallic\": %g, "
                     "\"roughness\": %g, "
                     "\"specular\": 0.5",
                     metallic[m], roughness[i]);
    }
}

/* Lists of lobes (protocol section 28). */
static void materials_listed(struct material_list *l)
{
    for (size_t i = 0; i < ROUGHNESSES; i++) {
        material(l,
                 "\"type\": \"rough_conductor\", \"metal\": \"copper\", \"roughness\": %g, "
                 "\"anisotropy\": %g, \"rotation\": 0.15",
                 roughness[i], i % 2 ? 0.4 : 0.9);
        material(l,
                 "\"type\": \"principled\", \"base_color\": [0.8, 0.6, 0.3], \"roughness\": %g, "
                 "\"anisotropy\": 0.6, \"specular_tint\": 0.5, \"clearcoat\": 1, "
                 "\"clearcoat_gloss\": %g, \"sheen\": 1",
                 roughness[i], (double)i / 6);
        material(l,
                 "\"type\": \"principled\", \"base_color\": [0.3, 0.6, 0.8], \"roughness\": %g, "
                 "\"transmission\": %g, \"ior\": %g, \"opacity\": 0.75",
                 roughness[i], i % 2 ? 1.0 : 0.5, 1.2 + 0.3 * (double)i);
        material(l,
                 "\"type\": \"principled\", \"base_color\": [0.7, 0.3, 0.2], \"roughness\": %g, "
                 "\"specular_color\": [3, 1, 0.5], \"specular_weight\": 0.75, \"coat\": %g, "
                 "\"coat_roughness\": %g, \"fuzz\": [0.8, 0.4, 0.2], \"fuzz_roughness\": %g, "
                 "\"transmission\": 0.25, \"thin\": %s",
                 roughness[i], i % 2 ? 1.0 : 0.5, roughness[(i + 3) % 6], roughness[(i + 2) % 6],
                 i % 2 ? "true" : "false");
        material(l,
                 "\"type\": \"principled\", \"base_color\": [0.7, 0.5, 0.4], \"roughness\": %g, "
                 "\"subsurface\": %g",
                 roughness[i], i % 2 ? 1.0 : 0.4);
        material(l, "\"type\": \"rough_dielectric\", \"roughness\": %g", roughness[i]);
        material(l, "\"type\": \"sheen\", \"roughness\": %g", roughness[i]);
        material(l, "\"type\": \"oren_nayar\", \"sigma\": %g", 90 * roughness[i]);
        material(l, "\"type\": \"thin_dielectric\", \"ior\": %g", 1 + roughness[i]);
    }
    material(l, "\"type\": \"rough_dielectric\", \"roughness\": 0.4, \"ior\": 3");
}

static void materials_extreme(struct material_list *l)
{
    /* the conductor's: where eta eta - k k leaves little of a */
    material(l, "\"type\": \"rough_dielectric\", \"roughness\": 0.4, \"ior\": 0.1");
    material(l, "\"type\": \"rough_dielectric\", \"roughness\": 0.4, \"ior\": 1.001");
    material(l, "\"type\": \"rough_dielectric\", \"roughness\": 0.9, \"ior\": 1");
    material(l, "\"type\": \"dielectric\", \"ior\": 1");
    material(l, "\"type\": \"dielectric\", \"ior\": 1.0001");
    material(l, "\"type\": \"dielectric\", \"ior\": 0.1");
    material(l,
             "\"type\": \"rough_conductor\", \"eta\": [0.001, 0.001, 0.1], \"k\": [2, 0.5, 0.001], "
             "\"roughness\": 0.5");
    material(l, "\"type\": \"diffuse\", \"opacity\": 0.3");
}

/* One sphere a material: every type over its parameters. The conductor is gold (Johnson and Christy
 * 1972, at 650, 550, 450 nm). */
static void materials_json(struct text *t)
{
    struct material_list list = {.materials = t};
    text_puts(t, "{\"isophote\": 1, \"camera\": {\"type\": \"perspective\", \"origin\": [0, 0, 9], "
                 "\"target\": [0, 0, 0], "
                 "\"up\": [0, 1, 0], \"fov\": 40}, \"film\": {\"width\": 8, \"height\": 8}, "
                 "\"materials\": {");
    materials_basic(&list);
    materials_listed(&list);
    materials_extreme(&list);
    text_printf(t, "}, \"objects\": [%s], \"environment\": {\"radiance\": 1}}",
                list.objects.data ? list.objects.data : "");
    text_free(&list.objects);
}

enum status materials_scene(struct run_context *c, struct error *err)
{
    struct text t = {0};
    materials_json(&t);
    return case_materials(c, &t, err);
}

static enum status material_scene(struct run_context *c, struct error *err)
{
    enum status s = materials_scene(c, err);
    return s == STATUS_OK ? case_ready_to_probe(c, MODE_DEVICE, BVH_AUTO, err) : s;
}

static enum material_type type_of_case(const struct run_context *c)
{
    const char *name = strrchr(c->name, '.') + 1;
    int t = 0;
    while (t < MATERIAL_TYPE_COUNT && strcmp(material_type_name((enum material_type)t), name) != 0)
        t++;
    return (enum material_type)t;
}

static void put(uint32_t *row, const double *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        row[i] = word_of((float)v[i]);
}

static void get(double *v, const uint32_t *row, size_t n)
{
    for (size_t i = 0; i < n; i++)
        v[i] = (double)float_of(row[i]);
}

static void polar(double out[3], double z, double phi)
{
    double r = sqrt(fmax(0, 1 - z * z));
    out[0] = r * cos(phi);
    out[1] = r * sin(phi);
    out[2] = z;
}

/* ---- pointwise ----------------------------------------------------------------------- */

struct question {
    const struct reference *reference;
    uint32_t material;
    bool entering, side; /* side: the answer's code is the outcome */
};

/* in: wo 3, u 3, uv 2; out: wi 3, weight 3, pdf, delta. Code: 0 fails, 1 reflected, 2 through. */
static int ask_sample(void *ctx, const double *in, double *out)
{
    const struct question *q = ctx;
    double wo[3], u[3];
    bool delta = false;
    vec_copy(wo, in); /* as long as the device has it: 1 - c^2 shows it */
    for (int i = 0; i < 3; i++)
        u[i] = fmin(fmax(in[3 + i], 0), 1 - 0x1p-53);
    if (!(wo[2] > 0) || !reference_bsdf_sample(q->reference, q->material, in + 6, q->entering, wo,
                                               u, out, out + 3, out + 6, &delta))
        return 0;
    out[7] = delta;
    return !(vec_max(out + 3) > 0) ? 0
           : out[2] < 0            ? 2
                                   : 1; /* no light: the path ends all the same */
}

/* in: wo 3, wi 3, uv 2; out: f 3, pdf. Code: 1 when both are above the surface. */
static int ask_eval(void *ctx, const double *in, double *out)
{
    const struct question *q = ctx;
    double wo[3], wi[3];
    vec_copy(wo, in);
    vec_copy(wi, in + 3);
    vec_normalize(wo);
    vec_normalize(wi);
    reference_bsdf_eval(q->reference, q->material, in + 6, wo, wi, out, out + 3);
    return wo[2] > 0 && wi[2] > 0;
}

static void fill_steps(const struct run_context *c, uint32_t material, double *step,
                       const double uv[2])
{
    for (int i = 0; i < 6; i++)
        step[i] =
            4 *
            ULP; /* inputs are exact; the roundings of a normalisation and of the lobes' choice */
    material_texture_steps(c->scene, &c->scene->materials[material], uv, step + 6);
}

static void compare_sample(struct tally *t, const struct run_context *c, const uint32_t *in,
                           const uint32_t *out)
{
    const struct arithmetic arithmetic = arithmetic_of(c->info, MODE_DEVICE);
    struct question q = {c->reference, in[0], in[3] != 0, true};
    double x[8], step[8], wi[3], weight[3];
    struct answer a;
    get(x, in + 4, 3);
    get(x + 3, in + 7, 3);
    get(x + 6, in + 1, 2);
    get(wi, out + 2, 3);
    get(weight, out + 5, 3);
    fill_steps(c, in[0], step, x + 6);
    /* the lobe number against a probability that is computed */
    step[3] = roundings(&arithmetic, 16, 1, 0) +
              choice_step(&arithmetic, c->scene, in[0], x + 6, in[3] != 0, x[2]);
    if (material_is_list(&c->scene->materials[in[0]]))
        step[3] = material_roundings(&arithmetic, &c->scene->materials[in[0]]);
    step[4] = root_step(&arithmetic);
    answer_spread(ask_sample, &q, x, step, 8, 8, &a);
    int code = !out[0] || !(vec_max(weight) > 0) ? 0 : wi[2] < 0 ? 2 : 1;
    const char *name = c->scene->materials[in[0]].name;
    char where[256];
    snprintf(where, sizeof where,
             "material %s, wo (%.9g, %.9g, %.9g), u (%.9g, %.9g, %.9g), uv (%g, %g)%s", name, x[0],
             x[1], x[2], x[3], x[4], x[5], x[6], x[7], q.entering ? "" : ", leaving");
    const struct ggx_bounds ggx =
        scatter_bounds(&arithmetic, c->scene, in[0], x + 6, in[3] != 0, x, code ? wi : a.value);
    if (!answer_allows(&a, code, 8)) {
        /* light or none where there is next to nothing */
        bool none = (code == 0 || a.code == 0) && vec_max(code ? weight : a.value + 3) <= ggx.faint;
        none ? (void)t->compared++
             : tally_equal(t, code, a.code, "%s: outcome (0 none, 1 reflected, 2 through)", where);
        return;
    }
    t->compared++;
    if (code == 0)
        return;
    double relative =
        material_roundings(&arithmetic, &c->scene->materials[in[0]]) + ggx.sampled_density;
    tally_equal(t, out[1], a.value[7] != 0, "%s: delta", where);
    for (int i = 0; i < 3; i++)
        tally_near(t, wi[i], a.value[i],
                   a.spread[i] + direction_roundings(&arithmetic) + 2 * ggx.half, "%s: wi.%c",
                   where, "xyz"[i]);
    for (int i = 0; i < 3; i++)
        tally_near(t, weight[i], a.value[3 + i],
                   a.spread[3 + i] + (relative + ggx.grazing) * fabs(a.value[3 + i]) + ggx.faint +
                       1e-36,
                   "%s: weight.%c", where, "rgb"[i]);
    double pdf;
    get(&pdf, out + 8, 1);
    tally_near(t, pdf, a.value[6], a.spread[6] + relative * a.value[6] + 1e-36, "%s: pdf", where);
}

static void compare_eval(struct tally *t, const struct run_context *c, const uint32_t *in,
                         const uint32_t *out)
{
    const struct arithmetic arithmetic = arithmetic_of(c->info, MODE_DEVICE);
    struct question q = {c->reference, in[0], true, false};
    double x[8], step[8], f[4];
    struct answer a;
    get(x, in + 3, 6);
    get(x + 6, in + 1, 2);
    get(f, out, 4);
    fill_steps(c, in[0], step, x + 6);
    answer_spread(ask_eval, &q, x, step, 8, 4, &a);
    struct ggx_bounds ggx = scatter_bounds(&arithmetic, c->scene, in[0], x + 6, true, x, x + 3);
    double relative = material_roundings(&arithmetic, &c->scene->materials[in[0]]) + ggx.density;
    for (int i = 0; i < 4; i++)
        tally_near(t, f[i], a.value[i],
                   a.spread[i] + relative * fabs(a.value[i]) +
                       (i < 3 ? ggx.faint * a.value[3] : 0) + 1e-36,
                   "material %s, wo (%.9g, %.9g, %.9g), wi (%.9g, %.9g, %.9g), uv (%g, %g): %s",
                   c->scene->materials[in[0]].name, x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7],
                   i < 3 ? (const char *[]){"f.r", "f.g", "f.b"}[i] : "pdf");
}

/* `rows` random questions over the materials that `wanted` marks; values too where a material has
 * them. Sets the verdict. */
static enum status compare_materials(struct run_context *c, const bool *wanted, size_t rows,
                                     double uv_range, struct error *err)
{
    struct tally t = {0};
    struct dice d = {.key = 0xb5df};
    size_t n = 0;
    uint32_t *in = ARENA_ARRAY(c->arena, uint32_t, 10 * rows),
             *eval = ARENA_ARRAY(c->arena, uint32_t, 9 * rows), *sampled, *valued;
    if (!in || !eval)
        return error_msg(err, STATUS_MEMORY, "out of memory for %zu rows", rows);
    for (size_t i = 0; n < rows; i++) {
        uint32_t m = (uint32_t)(i % c->scene->material_count);
        if (!wanted[m])
            continue;
        uint32_t *s = in + 10 * n, *e = eval + 9 * n;
        double wo[3], wi[3], u[3],
            uv[2] = {uv_range * (2 * dice_u(&d) - 0.5), uv_range * (2 * dice_u(&d) - 0.5)};
        double z = dice_u(&d);
        polar(wo, i % 16 == 15 ? 1e-3 + 0.05 * z : fmax(z, 1e-3),
              2 * PI * dice_u(&d)); /* grazing ones too */
        for (int k = 0; k < 3; k++)
            u[k] = dice_u(&d);
        s[0] = e[0] = m;
        put(s + 1, uv, 2);
        put(e + 1, uv, 2);
        s[3] = i / c->scene->material_count % 2;
        put(s + 4, wo, 3);
        put(s + 7, u, 3);
        /* half of the evaluations near the mirror direction, where rough lobes are */
        if (i % 2) {
            double spread = 2 * material_alpha(c->scene, m, uv) * dice_u(&d);
            dice_direction(&d, wi);
            for (int k = 0; k < 3; k++)
                wi[k] = (k < 2 ? -wo[k] : wo[k]) + spread * wi[k];
            vec_normalize(wi);
            wi[2] = fmax(fabs(wi[2]), 1e-3);
            vec_normalize(wi);
        } else {
            polar(wi, fmax(dice_u(&d), 1e-3), 2 * PI * dice_u(&d));
        }
        put(e + 3, wo, 3);
        put(e + 6, wi, 3);
        n++;
    }
    enum status s = case_probe(c, PROBE_BSDF_SAMPLE, in, rows, &sampled, err);
    if (s != STATUS_OK ||
        (s = case_probe(c, PROBE_BSDF_EVAL, eval, rows, &valued, err)) != STATUS_OK ||
        answer_given(c, 13 * rows) || (s = case_reference(c, err)) != STATUS_OK)
        return s;
    for (size_t i = 0; i < rows; i++)
        compare_sample(&t, c, in + 10 * i, sampled + 9 * i);
    for (size_t i = 0; i < rows; i++)
        compare_eval(&t, c, eval + 9 * i, valued + 4 * i);
    return tally_verdict(&t, c);
}

enum status kernel_bsdf_step(struct run_context *c, struct error *err)
{
    enum status s = material_scene(c, err);
    if (s != STATUS_OK)
        return s;
    bool *wanted = ARENA_ARRAY(c->arena, bool, c->scene->material_count);
    for (size_t i = 0; wanted && i < c->scene->material_count; i++)
        wanted[i] = c->scene->materials[i].type == type_of_case(c);
    if (!wanted)
        return error_msg(err, STATUS_MEMORY, "out of memory");
    return compare_materials(c, wanted, 8192, 0, err);
}

/* The scene's own materials, with their textures; not those that run shaders: a probe's row is no
 * hit, so there is no globals' block (docs/reference/asl.md) to run them on. */
enum status kernel_material(struct run_context *c, struct error *err)
{
    enum status s = case_scene(c, err);
    if (s != STATUS_OK || (s = case_ready_to_probe(c, MODE_DEVICE, BVH_AUTO, err)) != STATUS_OK)
        return s;
    if (c->scene->material_count == 0)
        return case_skip(c, "the scene has no materials");
    bool *wanted = ARENA_ARRAY(c->arena, bool, c->scene->material_count), any = false;
    for (size_t i = 0; wanted && i < c->scene->material_count; i++)
        any |= wanted[i] = c->scene->materials[i].shading == NULL;
    if (!wanted)
        return error_msg(err, STATUS_MEMORY, "out of memory");
    if (!any)
        return case_skip(c, "all materials run shaders: image.* judges them, at hits");
    return compare_materials(c, wanted, 4096, 1, err);
}

/* ---- distributions ------------------------------------------------------------------- */

/* Cells over a hemisphere about a direction r in it, wo's mirror direction or the refracted one:
 * rings in the angle psi from r, their edges where a GGX lobe of that alpha has its quantiles (psi
 * about 2 alpha sqrt(q / (1 - q))), mixed with even rings for wide lobes; sectors in azimuth. */
enum { RINGS = 20, SECTORS = 12, CELLS = RINGS * SECTORS, NODES = 24 };

struct grid {
    double edge[RINGS + 1];
    double axis[3][3]; /* s, t, the direction in the middle */
    double side;       /* 1: of the hemisphere above the surface; -1: of the one below */
};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void grid_make(struct grid *g, const double r[3], double alpha)
{
    vec_frame(r, g->axis);
    g->side = r[2] < 0 ? -1 : 1;
    for (int i = 0; i <= RINGS; i++) {
        if (i % 2) {
            double q = (double)i / (RINGS + 1);
            g->edge[i] = fmin(PI, 2 * alpha * sqrt(q / (1 - q)));
        } else {
            g->edge[i] = PI * i / RINGS;
        }
    }
    qsort(g->edge, RINGS + 1, sizeof *g->edge, by_value);
}

static int grid_cell(struct grid *g, const double w[3])
{
    double l[3];
    vec_to_local(l, g->axis, w);
    double psi = acos(fmin(fmax(l[2], -1), 1)), phi = atan2(l[1], l[0]);
    if (psi < 0.1) /* acos is blunt there */
        psi = asin(fmin(1, sqrt(l[0] * l[0] + l[1] * l[1])));
    int ring = 0, sector = (int)((phi + PI) / (2 * PI) * SECTORS);
    while (ring < RINGS - 1 && psi >= g->edge[ring + 1])
        ring++;
    return ring * SECTORS + (sector < 0 ? 0 : sector >= SECTORS ? SECTORS - 1 : sector);
}

/* Gauss-Legendre nodes and weights on [0, 1], four a panel. */
static const double gauss_node[] = {0.06943184420297371, 0.33000947820757187, 0.6699905217924281,
                                    0.9305681557970263};
static const double gauss_weight[] = {0.17392742256872692, 0.32607257743127307, 0.32607257743127307,
                                      0.17392742256872692};

/* Integrals over a cell: of the reference's density, and of f cos into f_cos. Six panels of four
 * nodes both ways; rings that do not begin at the axis in log psi, where both a lobe's tail and a
 * wide lobe are smooth. */
static double integrate_cell(const struct run_context *c, uint32_t material, const double wo[3],
                             struct grid *g, int cell, double f_cos[3])
{
    const double uv[2] = {0.5, 0.5};
    double lo = g->edge[cell / SECTORS], hi = g->edge[cell / SECTORS + 1], sum = 0;
    const int panels = NODES / 4;
    for (int i = 0; i < NODES && hi > lo; i++) {
        const int panel_x = i / 4;
        double x = (panel_x + gauss_node[i % 4]) / panels;
        double psi = lo > 0 ? lo * pow(hi / lo, x) : hi * x,
               slope = lo > 0 ? psi * log(hi / lo) : hi;
        const double sine = sin(psi), cosine = cos(psi);
        for (int k = 0; k < NODES; k++) {
            const int panel_y = k / 4;
            double y = (panel_y + gauss_node[k % 4]) / panels;
            double phi = -PI + 2 * PI * (cell % SECTORS + y) / SECTORS;
            double l[3] = {sine * cos(phi), sine * sin(phi), cosine}, wi[3], f[3], pdf;
            double w = gauss_weight[i % 4] * gauss_weight[k % 4] * 16 / (NODES * NODES) * slope *
                       (2 * PI / SECTORS) * sine;
            vec_to_world(wi, g->axis, l);
            if (!(wi[2] * g->side > 0))
                continue;
            reference_bsdf_eval(c->reference, material, uv, wo, wi, f, &pdf);
            sum += pdf * w;
            for (int j = 0; j < 3; j++)
                f_cos[j] += f[j] * fabs(wi[2]) * w;
        }
    }
    return sum;
}

/* Does light go through it, other than straight? */
static bool refracts(const struct material *m)
{
    return m->type == MATERIAL_ROUGH_DIELECTRIC || m->transmission.value > 0;
}

/* The grids of a material seen from wo, entering: returns 1, or 2 where light is refracted. Normals
 * that turn by an angle turn reflected light by twice that, refracted light by (1 - 1/ior) of it
 * (at normal incidence). */
static size_t grids_make(const struct scene *s, uint32_t material, const double wo[3],
                         struct grid g[2])
{
    const struct material *m = &s->materials[material];
    const double uv[2] = {0.5, 0.5}, alpha = material_alpha(s, material, uv);
    const double mirrored[3] = {-wo[0], -wo[1], wo[2]};
    grid_make(&g[0], mirrored, alpha);
    if (!refracts(m))
        return 1;
    const double ior = m->ior.value;
    double bent[3] = {-wo[0] / ior, -wo[1] / ior,
                      -sqrt(fmax(0, 1 - (1 - wo[2] * wo[2]) / (ior * ior)))};
    vec_normalize(bent); /* beyond the critical angle: along the surface, whose other side it is */
    grid_make(&g[1], bent, alpha * fmax(5e-4, fabs(1 - 1 / ior) / 2));
    g[1].side = -1;
    return 2;
}

/* Expected share of each cell of the grids; returns their sum. */
static double integrate(const struct run_context *c, uint32_t material, const double wo[3],
                        struct grid *g, size_t grids, double *cells, double f_cos[3])
{
    double total = 0;
    f_cos[0] = f_cos[1] = f_cos[2] = 0;
    for (size_t k = 0; k < grids; k++)
        for (int cell = 0; cell < CELLS; cell++)
            total += cells[k * CELLS + (size_t)cell] =
                integrate_cell(c, material, wo, &g[k], cell, f_cos);
    return total;
}

/* Samples of one material from one direction: rows of PROBE_BSDF_SAMPLE. */
static enum status draw(struct run_context *c, uint32_t material, const double wo[3], size_t n,
                        uint32_t key, uint32_t **out, struct error *err)
{
    struct dice d = {.key = key};
    uint32_t *in = ARENA_ARRAY(c->arena, uint32_t, 10 * n);
    const double uv[2] = {0.5, 0.5};
    if (!in)
        return error_msg(err, STATUS_MEMORY, "out of memory for %zu samples", n);
    for (size_t i = 0; i < n; i++) {
        double u[3] = {dice_u(&d), dice_u(&d), dice_u(&d)};
        in[10 * i] = material;
        put(in + 10 * i + 1, uv, 2);
        in[10 * i + 3] = 1;
        put(in + 10 * i + 4, wo, 3);
        put(in + 10 * i + 7, u, 3);
    }
    return case_probe(c, PROBE_BSDF_SAMPLE, in, n, out, err);
}

/* Is all that it does a matter of directions above the surface? */
static bool is_opaque(const struct material *m)
{
    return m->type != MATERIAL_MIRROR && m->type != MATERIAL_DIELECTRIC &&
           m->type != MATERIAL_THIN_DIELECTRIC && !refracts(m) &&
           (m->alpha_mode == ALPHA_OPAQUE || m->opacity.value == 1);
}

/* Lobes narrow one way only are finer than the grid, whose cells are round. */
static bool is_resolved(const struct scene *s, uint32_t material)
{
    const double uv[2] = {0.5, 0.5};
    return s->materials[material].anisotropy.value == 0 || material_alpha(s, material, uv) > 0.02;
}

/* Has it a density of directions, one that the grids resolve? What goes straight on beside it is a
 * cell of its own. */
static bool is_counted(const struct run_context *c, uint32_t material)
{
    const struct material *m = &c->scene->materials[material];
    return m->type == type_of_case(c) && (is_opaque(m) || refracts(m)) &&
           is_resolved(c->scene, material);
}

static const double cosines[] = {0.98, 0.7, 0.35, 0.1};
enum { ANGLES = sizeof cosines / sizeof *cosines, DRAWS = 1 << 14 };

/* One material from one direction, the device's samples there, and what they come to. */
struct view {
    const struct run_context *c;
    uint32_t material, angle;
    double wo[3], f_cos[3];
    uint32_t *samples;
    struct chi_square t;
};

/* The views of all wanted materials, `turn` the azimuth of the first direction; the device draws. */
static enum status views_draw(struct run_context *c, const bool *wanted, double turn, uint32_t key,
                              struct view **out, size_t *count, struct error *err)
{
    const uint32_t all = ANGLES * (uint32_t)c->scene->material_count;
    struct view *views = ARENA_ARRAY(c->arena, struct view, all);
    size_t n = 0;
    if (!views)
        return error_msg(err, STATUS_MEMORY, "out of memory for %u directions", all);
    for (uint32_t i = 0; i < all; i++) {
        const uint32_t m = i / ANGLES, k = i % ANGLES;
        if (!wanted[m])
            continue;
        struct view *v = &views[n++];
        *v = (struct view){.c = c, .material = m, .angle = k};
        polar(v->wo, cosines[k], turn + k);
        for (int j = 0; j < 3; j++)
            v->wo[j] = (double)(float)v->wo[j];
        TRY(draw(c, m, v->wo, DRAWS, key + 64 * m + k, &v->samples, err));
    }
    *out = views;
    *count = n;
    return STATUS_OK;
}

/* Counts of the device's samples in the cells of the grids against the reference's density; the
 * last cell has those that fail and those of delta lobes. */
static void count_directions(void *ctx, size_t index, unsigned thread)
{
    struct view *v = (struct view *)ctx + index;
    struct grid g[2];
    double wi[3], share[2 * CELLS];
    double expected[2 * CELLS + 1], observed[2 * CELLS + 1] = {0};
    (void)thread;
    const size_t grids = grids_make(v->c->scene, v->material, v->wo, g), cells = grids * CELLS;
    double total = integrate(v->c, v->material, v->wo, g, grids, share, v->f_cos);
    for (size_t i = 0; i < DRAWS; i++) {
        const uint32_t *row = v->samples + 9 * i;
        get(wi, row + 2, 3);
        const size_t below = grids == 2 && wi[2] < 0;
        const bool counts = row[0] && !row[1];
        observed[counts ? below * CELLS + (size_t)grid_cell(&g[below], wi) : cells]++;
    }
    for (size_t i = 0; i < cells; i++)
        expected[i] = share[i] * DRAWS;
    expected[cells] = fmax(0, 1 - total) * DRAWS;
    chi_square_test(observed, expected, cells + 1, 5, &v->t);
}

enum status kernel_bsdf_chi_square(struct run_context *c, struct error *err)
{
    struct view *views;
    size_t tests;
    double least = 1, level = 1e-5;
    enum status s = material_scene(c, err);
    if (s != STATUS_OK)
        return s;
    bool *wanted = ARENA_ARRAY(c->arena, bool, c->scene->material_count);
    for (uint32_t m = 0; wanted && m < c->scene->material_count; m++)
        wanted[m] = is_counted(c, m);
    if (!wanted)
        return error_msg(err, STATUS_MEMORY, "out of memory");
    if ((s = views_draw(c, wanted, 0.7, 0xc41, &views, &tests, err)) != STATUS_OK ||
        answer_given(c, 9 * tests * DRAWS) || (s = case_reference(c, err)) != STATUS_OK)
        return s;
    parallel_for(tests, 0, count_directions, views);
    for (size_t i = 0; i < tests; i++) {
        const struct view *v = &views[i];
        const struct chi_square *t = &v->t;
        c->compared += t->cells;
        least = fmin(least, t->p);
        if (t->p < level_share(level, tests))
            return case_fail(c,
                             "material %s, cos %.2f: chi-square %.1f over %zu cells, p = %.2g, "
                             "level %.2g (Sidak, %zu tests); %s, "
                             "ring %zu sector %zu has %.0f samples, expected %.1f",
                             c->scene->materials[v->material].name, cosines[v->angle], t->statistic,
                             t->cells, t->p, level_share(level, tests), tests,
                             t->worst >= CELLS ? "below" : "above", t->worst % CELLS / SECTORS,
                             t->worst % SECTORS, t->worst_observed, t->worst_expected);
    }
    return case_pass(c, "%zu tests of %d samples each, least p %.3g (level %.2g together)", tests,
                     (int)DRAWS, least, level);
}

static void integrate_view(void *ctx, size_t index, unsigned thread)
{
    struct view *v = (struct view *)ctx + index;
    struct grid g[2];
    double share[2 * CELLS];
    (void)thread;
    integrate(v->c, v->material, v->wo, g, grids_make(v->c->scene, v->material, v->wo, g), share,
              v->f_cos);
}

/* A white furnace for each material: the mean weight of the device's samples is the integral of the
 * reference's f cos, within 5 standard errors, and above 1 for no physical material. */
enum status kernel_bsdf_furnace(struct run_context *c, struct error *err)
{
    struct tally t = {0};
    struct view *views;
    size_t count;
    enum status s = material_scene(c, err);
    if (s != STATUS_OK)
        return s;
    bool *wanted = ARENA_ARRAY(c->arena, bool, c->scene->material_count);
    for (uint32_t m = 0; wanted && m < c->scene->material_count; m++)
        wanted[m] = is_opaque(&c->scene->materials[m]);
    if (!wanted)
        return error_msg(err, STATUS_MEMORY, "out of memory");
    if ((s = views_draw(c, wanted, 0.3, 0xf00, &views, &count, err)) != STATUS_OK ||
        answer_given(c, 9 * count * DRAWS) || (s = case_reference(c, err)) != STATUS_OK)
        return s;
    parallel_for(count, 0, integrate_view, views);
    for (const struct view *v = views; v < views + count; v++) {
        const struct material *material = &c->scene->materials[v->material];
        double sum[3] = {0}, squares[3] = {0};
        for (const uint32_t *row = v->samples; row < v->samples + 9 * (size_t)DRAWS; row += 9)
            for (size_t j = 0; row[0] && j < 3; j++) {
                double w = (double)float_of(row[5 + j]);
                sum[j] += w;
                squares[j] += w * w;
            }
        for (int j = 0; j < 3; j++) {
            double mean = sum[j] / DRAWS,
                   error = sqrt(fmax(0, squares[j] / DRAWS - mean * mean) / DRAWS);
            /* 5 standard errors, and 1e-4 for the quadrature (its own step error is below that) */
            tally_near(&t, mean, v->f_cos[j], 5 * error + 1e-4 + 1e-3 * v->f_cos[j],
                       "material %s, cos %.2f: mean weight.%c", material->name, cosines[v->angle],
                       "rgb"[j]);
            if (material->type != MATERIAL_PRINCIPLED) /* whose lobes are not coupled: at grazing
                                                          angles it sends out more */
                tally_near(&t, fmax(mean, 1), 1, 5 * error + 1e-4,
                           "material %s, cos %.2f: mean weight.%c above 1", material->name,
                           cosines[v->angle], "rgb"[j]);
        }
    }
    return tally_verdict(&t, c);
}
