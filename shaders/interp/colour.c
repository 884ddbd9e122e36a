/* SPDX-License-Identifier: Apache-2.0 */
/* colour.c: colour spaces, black bodies, spectral colours (docs/reference/asl.md, Colour). rgb is
 * linear with the primaries and white of ITU-R BT.709. */
#include "interp.h"

#include <math.h>
#include <string.h>

static const float cie[81][3] = {
#include "device/asl/cie.def"
};

/* Rows: X, Y, Z of rgb, from BT.709's primaries and OSL's white x = 0.3127, y = 0.3291; and its
 * inverse. */
static const float to_xyz[3][3] = {{0.412135323f, 0.357675003f, 0.180356796f},
                                   {0.212507276f, 0.715350005f, 0.0721427185f},
                                   {0.0193188433f, 0.119225001f, 0.949879128f}};
static const float from_xyz[3][3] = {{3.24297897f, -1.53833618f, -0.498919841f},
                                     {-0.968997953f, 1.87549198f, 0.0415445241f},
                                     {0.0556683244f, -0.204117189f, 1.05769816f}};
/* NTSC, 1953. */
static const float to_yiq[3][3] = {
    {0.299f, 0.587f, 0.114f}, {0.596f, -0.275f, -0.321f}, {0.212f, -0.523f, 0.311f}};
static const float from_yiq[3][3] = {
    {1, 0.9557f, 0.6199f}, {1, -0.2716f, -0.6469f}, {1, -1.1082f, 1.7051f}};

static void multiply(const float m[3][3], const dual in[3], dual out[3])
{
    dual r[3];
    for (size_t i = 0; i < 3; i++)
        r[i] = d_add(d_add(d_mul(d_const(m[i][0]), in[0]), d_mul(d_const(m[i][1]), in[1])),
                     d_mul(d_const(m[i][2]), in[2]));
    memcpy(out, r, sizeof r);
}

static dual larger(dual a, dual b) { return a.v < b.v ? b : a; }
static dual smaller(dual a, dual b) { return b.v < a.v ? b : a; }

/* Hue in [0,1) of a colour whose largest component is `max` and whose range is `delta` > 0. */
static dual hue(const dual c[3], dual max, dual delta)
{
    dual h;
    if (c[0].v == max.v)
        h = d_div(d_sub(c[1], c[2]), delta);
    else if (c[1].v == max.v)
        h = d_add(d_const(2), d_div(d_sub(c[2], c[0]), delta));
    else
        h = d_add(d_const(4), d_div(d_sub(c[0], c[1]), delta));
    h = d_mul(h, d_const(1.0f / 6.0f));
    return h.v < 0 ? d_add(h, d_const(1)) : h;
}

static void rgb_to_hsv(const dual c[3], dual out[3])
{
    dual max = larger(larger(c[0], c[1]), c[2]), min = smaller(smaller(c[0], c[1]), c[2]),
         delta = d_sub(max, min);
    dual h = d_const(0), s = d_const(0);
    if (max.v > 0)
        s = d_div(delta, max);
    if (s.v > 0)
        h = hue(c, max, delta);
    out[0] = h;
    out[1] = s;
    out[2] = max;
}

static void hsv_to_rgb(const dual c[3], dual out[3])
{
    dual v = c[2], s = c[1], one = d_const(1);
    if (s.v < 0.0001f) {
        out[0] = out[1] = out[2] = v;
        return;
    }
    dual h = d_mul(d_const(6), d_sub(c[0], d_const(floorf(c[0].v))));
    int i = isnan(h.v) ? 0 : (int)h.v; /* as the language has it: C leaves it open */
    dual f = d_sub(h, d_const((float)i));
    dual p = d_mul(v, d_sub(one, s)), q = d_mul(v, d_sub(one, d_mul(s, f)));
    dual t = d_mul(v, d_sub(one, d_mul(s, d_sub(one, f))));
    const dual table[6][3] = {{v, t, p}, {q, v, p}, {p, v, t}, {p, q, v}, {t, p, v}, {v, p, q}};
    memcpy(out, table[i < 0 || i > 5 ? 5 : i], 3 * sizeof *out);
}

static void rgb_to_hsl(const dual c[3], dual out[3])
{
    dual max = larger(larger(c[0], c[1]), c[2]), min = smaller(smaller(c[0], c[1]), c[2]),
         delta = d_sub(max, min);
    dual sum = d_add(max, min), l = d_mul(d_const(0.5f), sum), h = d_const(0), s = d_const(0);
    if (delta.v > 0) {
        s = d_div(delta, l.v > 0.5f ? d_sub(d_const(2), sum) : sum);
        h = hue(c, max, delta);
    }
    out[0] = h;
    out[1] = s;
    out[2] = l;
}

static void hsl_to_rgb(const dual c[3], dual out[3])
{
    /* through hsv: v = l + s min(l, 1 - l), s' = 2 (v - l) / v */
    dual l = c[2], rest = l.v <= 0.5f ? l : d_sub(d_const(1), l);
    dual v = d_add(l, d_mul(c[1], rest));
    dual s = v.v <= 0 ? d_const(0) : d_div(d_mul(d_const(2), d_sub(v, l)), v);
    const dual hsv[3] = {c[0], s, v};
    hsv_to_rgb(hsv, out);
}

static void xyz_to_xyy(const dual c[3], dual out[3])
{
    dual sum = d_add(d_add(c[0], c[1]), c[2]), y = c[1];
    dual x0 = d_div(c[0], sum), y0 = d_div(c[1], sum);
    out[0] = x0;
    out[1] = y0;
    out[2] = y;
}

static void xyy_to_xyz(const dual c[3], dual out[3])
{
    dual x = c[0], y = c[1], Y = c[2];
    dual k = d_div(Y, y), z = d_sub(d_sub(d_const(1), x), y);
    out[0] = d_mul(k, x);
    out[1] = Y;
    out[2] = d_mul(k, z);
}

static dual srgb_encode(dual x)
{
    if (x.v <= 0.0031308f)
        return d_mul(x, d_const(12.92f));
    double v = pow((double)x.v, 1 / 2.4), d = 1.055 / 2.4 * v / (double)x.v;
    return (dual){(float)(1.055 * v - 0.055), (float)(d * (double)x.dx), (float)(d * (double)x.dy)};
}

static dual srgb_decode(dual x)
{
    if (x.v <= 0.04045f)
        return d_div(x, d_const(12.92f));
    double b = ((double)x.v + 0.055) / 1.055, d = 2.4 / 1.055 * pow(b, 1.4);
    return (dual){(float)pow(b, 2.4), (float)(d * (double)x.dx), (float)(d * (double)x.dy)};
}

enum space { RGB, HSV, HSL, YIQ, XYZ, XYY, SRGB, SPACES };

static enum space space_of(const char *name)
{
    static const struct {
        const char *name;
        enum space space;
    } names[] = {{"rgb", RGB}, {"RGB", RGB}, {"linear", RGB}, {"hsv", HSV}, {"hsl", HSL},
                 {"YIQ", YIQ}, {"XYZ", XYZ}, {"xyz", XYZ},    {"xyY", XYY}, {"sRGB", SRGB}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i].name, name) == 0)
            return names[i].space;
    return SPACES;
}

bool asl_colour_transform(const char *from, const char *to, const dual in[3], dual out[3])
{
    enum space a = space_of(from), b = space_of(to);
    dual c[3] = {in[0], in[1], in[2]}, r[3];
    if (a == SPACES || b == SPACES)
        return false;
    if (a == b) {
        memcpy(out, c, sizeof c);
        return true;
    }
    memcpy(r, c, sizeof r);
    switch (a) {
    case HSV:
        hsv_to_rgb(c, r);
        break;
    case HSL:
        hsl_to_rgb(c, r);
        break;
    case YIQ:
        multiply(from_yiq, c, r);
        break;
    case XYZ:
        multiply(from_xyz, c, r);
        break;
    case XYY:
        xyy_to_xyz(c, r);
        multiply(from_xyz, r, r);
        break;
    case SRGB:
        for (size_t i = 0; i < 3; i++)
            r[i] = srgb_decode(c[i]);
        break;
    default:
        break;
    }
    memcpy(c, r, sizeof c);
    switch (b) {
    case HSV:
        rgb_to_hsv(c, r);
        break;
    case HSL:
        rgb_to_hsl(c, r);
        break;
    case YIQ:
        multiply(to_yiq, c, r);
        break;
    case XYZ:
        multiply(to_xyz, c, r);
        break;
    case XYY:
        multiply(to_xyz, c, r);
        xyz_to_xyy(r, r);
        break;
    case SRGB:
        for (size_t i = 0; i < 3; i++)
            r[i] = srgb_encode(c[i]);
        break;
    default:
        break;
    }
    memcpy(out, r, sizeof r);
    return true;
}

static void xyz_to_positive_rgb(const double xyz[3], double scale, float out[3])
{
    for (size_t i = 0; i < 3; i++) {
        double v = 0;
        for (size_t k = 0; k < 3; k++)
            v += (double)from_xyz[i][k] * xyz[k];
        v *= scale;
        out[i] = v > 0 ? (float)v : 0;
    }
}

/* Planck's exitance per wavelength, W m^-2 m^-1: c1 / (l^5 (exp(c2 / (l T)) - 1)), c1 = 2 pi h c^2,
 * c2 = h c / k. */
void asl_blackbody(float kelvin, float out[3])
{
    double xyz[3] = {0, 0, 0};
    out[0] = out[1] = out[2] = 0;
    if (!(kelvin > 0))
        return;
    for (int i = 0; i < 81; i++) {
        double l = (380.0 + 5.0 * i) * 1e-9;
        double m =
            3.741771852e-16 / (l * l * l * l * l * expm1(1.438776877e-2 / (l * (double)kelvin)));
        for (size_t k = 0; k < 3; k++)
            xyz[k] += m * (double)cie[i][k] * 5e-9;
    }
    xyz_to_positive_rgb(xyz, 1, out);
}

/* The matching functions, linearly between the table's rows, as rgb; scaled so that the spectrum
 * stays near 0..1. */
void asl_wavelength(float nm, float out[3])
{
    double xyz[3], at = ((double)nm - 380.0) / 5.0;
    out[0] = out[1] = out[2] = 0;
    if (!(at >= 0 && at <= 80))
        return;
    int i = (int)at;
    if (i > 79)
        i = 79;
    for (size_t k = 0; k < 3; k++)
        xyz[k] = (double)cie[i][k] + (at - i) * ((double)cie[i + 1][k] - (double)cie[i][k]);
    xyz_to_positive_rgb(xyz, 1 / 2.52, out);
}

void asl_bi_colour(struct asl_run *r, const struct asl_expr *e, struct asl_place *args,
                   union asl_slot *out)
{
    bool derivs = asl_wants(r, e);
    enum asl_builtin_id id = e->builtin->id;
    if (id == BI_LUMINANCE) {
        dual s = d_mul(d_const(0.212507276f), asl_dual_at(&args[0], 0));
        s = d_add(s, d_mul(d_const(0.715350005f), asl_dual_at(&args[0], 1)));
        s = d_add(s, d_mul(d_const(0.0721427185f), asl_dual_at(&args[0], 2)));
        asl_dual_put(out, 1, derivs, 0, s);
        return;
    }
    dual res[3];
    if (id == BI_BLACKBODY || id == BI_WAVELENGTH_COLOR) {
        float c[3];
        if (id == BI_BLACKBODY)
            asl_blackbody(args[0].v[0].f, c);
        else
            asl_wavelength(args[0].v[0].f, c);
        for (size_t i = 0; i < 3; i++)
            res[i] = d_const(c[i]);
    } else {
        const struct asl_place *c = &args[e->arg_count - 1];
        const char *from = e->arg_count == 3 ? args[0].v[0].s : "rgb",
                   *to = args[e->arg_count - 2].v[0].s;
        dual in[3] = {asl_dual_at(c, 0), asl_dual_at(c, 1), asl_dual_at(c, 2)};
        memcpy(res, in, sizeof res);
        if (!asl_colour_transform(from, to, in, res))
            asl_report(r, ASL_MSG_ERROR,
                       "Unknown color space transformation \"%.60s\" -> \"%.60s\"", from, to);
    }
    for (size_t i = 0; i < 3; i++)
        asl_dual_put(out, 3, derivs, i, res[i]);
}
