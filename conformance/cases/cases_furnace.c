/* SPDX-License-Identifier: Apache-2.0 */
/* Level kernel, the white furnace: which share of white light materials that absorb nothing return,
 * over roughness and angle. What is missing is lost by models of single scattering; reports plot it
 * (docs/reference/store.md, `furnace`). */
#include "cases_kernel.h"
#include "tally.h"

#include <math.h>
#include <string.h>

static const double PI = 3.14159265358979323846;
static const double roughnesses[] = {0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1};
static const double angles[] = {0, 30, 60, 85};
enum {
    ROUGHNESSES = sizeof roughnesses / sizeof *roughnesses,
    ANGLES = sizeof angles / sizeof *angles,
    DRAWS = 3 << 12
};

/* A material that absorbs nothing. Fields of a scene's material; %g is the roughness times
 * `scale`. */
static const struct white {
    const char *name, *fields;
    double scale;
    bool inside;    /* light arrives in the material */
    bool conserves; /* returns no more than it gets. Two published models do not: Burley's adds its
                       layers, Oren and Nayar's qualitative one sends 1 % too much at grazing angles
                       when it is nearly smooth (docs/explanation/validation.md). */
} whites[] = {
    {"rough conductor",
     "\"type\": \"rough_conductor\", \"eta\": 0.001, \"k\": 100, \"roughness\": %g", 1, false,
     true},
    {"rough conductor, anisotropy 1",
     "\"type\": \"rough_conductor\", \"eta\": 0.001, \"k\": 100, \"anisotropy\": 1, "
     "\"roughness\": %g",
     1, false, true},
    {"rough dielectric, ior 1.5", "\"type\": \"rough_dielectric\", \"ior\": 1.5, \"roughness\": %g",
     1, false, true},
    {"rough dielectric, from inside",
     "\"type\": \"rough_dielectric\", \"ior\": 1.5, \"roughness\": %g", 1, true, true},
    {"Oren-Nayar, sigma 90 times it", "\"type\": \"oren_nayar\", \"reflectance\": 1, \"sigma\": %g",
     90, false, false},
    {"sheen", "\"type\": \"sheen\", \"reflectance\": 1, \"roughness\": %g", 1, false, true},
    {"principled", "\"type\": \"principled\", \"base_color\": 1, \"roughness\": %g", 1, false,
     false},
    {"principled, clearcoat and sheen 1",
     "\"type\": \"principled\", \"base_color\": 1, \"clearcoat\": 1, \"sheen\": 1, "
     "\"roughness\": %g",
     1, false, false},
};
enum { WHITES = sizeof whites / sizeof *whites, PLACES = ROUGHNESSES * ANGLES };

/* Material i * ROUGHNESSES + r is whites[i] at roughnesses[r]. */
static enum status white_scene(struct run_context *c, struct error *err)
{
    struct text t = {0};
    text_puts(&t, "{\"isophote\": 1, \"camera\": {\"origin\": [0, 0, 9], \"target\": [0, 0, 0]}, "
                  "\"film\": {\"width\": 8, \"height\": 8}, \"environment\": {\"radiance\": 1}, "
                  "\"materials\": {");
    for (int m = 0; m < WHITES * ROUGHNESSES; m++) {
        const struct white *w = &whites[m / ROUGHNESSES];
        const char *number = strstr(w->fields, "%g");
        text_printf(&t, "%s\"m%d\": {%.*s%.17g%s}", m ? ", " : "", m, (int)(number - w->fields),
                    w->fields, w->scale * roughnesses[m % ROUGHNESSES], number + 2);
    }
    text_puts(&t, "}, \"objects\": [");
    for (int m = 0; m < WHITES * ROUGHNESSES; m++)
        text_printf(&t,
                    "%s{\"type\": \"sphere\", \"center\": [%d, 0, 0], \"radius\": 0.4, "
                    "\"material\": \"m%d\"}",
                    m ? ", " : "", m, m);
    text_puts(&t, "]}");
    enum status s = case_materials(c, &t, err);
    if (s == STATUS_OK)
        s = case_reference(c, err);
    return s == STATUS_OK ? case_ready_to_probe(c, MODE_DEVICE, BVH_AUTO, err) : s;
}

/* Means over the draws of one place. */
struct returned {
    double device, reference;
    double device_error, error; /* standard errors of random draws: of device, of the difference */
};

/* Power of white light in a sample: refraction changes radiance by 1/eta^2, power not. */
static double power(const struct material *m, bool entering, double down, const double weight[3])
{
    double ior = (double)m->ior.value, eta2 = entering ? ior * ior : 1 / (ior * ior);
    return (weight[0] + weight[1] + weight[2]) / 3 * (down < 0 ? eta2 : 1);
}

static double reference_power(const struct run_context *c, const uint32_t *in)
{
    double uv[2] = {0.5, 0.5}, wo[3], u[3], wi[3], weight[3], pdf;
    bool delta;
    for (int i = 0; i < 3; i++) {
        wo[i] = (double)float_of(in[4 + i]);
        u[i] = (double)float_of(in[7 + i]);
    }
    if (!reference_bsdf_sample(c->reference, in[0], uv, in[3] != 0, wo, u, wi, weight, &pdf,
                               &delta))
        return 0;
    return power(&c->scene->materials[in[0]], in[3] != 0, wi[2], weight);
}

static double device_power(const struct run_context *c, const uint32_t *in, const uint32_t *out)
{
    const double weight[3] = {(double)float_of(out[5]), (double)float_of(out[6]),
                              (double)float_of(out[7])};
    return out[0] ? power(&c->scene->materials[in[0]], in[3] != 0, (double)float_of(out[4]), weight)
                  : 0;
}

/* Coordinate k of point i of a sequence that fills the cube evenly, so that curves through means of
 * them are smooth: multiples of powers of the inverse of the root of x^4 = x + 1 (a Kronecker
 * sequence). */
static double point(size_t i, int k)
{
    static const double root = 1.2207440846057596;
    double at = 0.5 + (double)(i + 1) / pow(root, k + 1);
    return at - floor(at);
}

/* The number of sample i that chooses the lobe, and what a sample by it counts for. Lobes are
 * chosen by their reflectance at wo; where that misjudges them, few samples of a lobe weigh much (a
 * rough dielectric from within, which lets most light out at slopes that wo does not see): a third
 * of the numbers each goes to the two ends of [0,1]. */
static double lobe_number(size_t i, double *count)
{
    static const double end = 0.05;
    const size_t part = i % 3;
    const double size = part == 1 ? 1 - 2 * end : end;
    *count = 3 * size;
    return (part == 0 ? 0 : part == 1 ? end : 1 - end) + size * point(i, 0);
}

/* A float below 1. */
static uint32_t number_word(double u) { return word_of((float)(floor(u * 0x1p24) * 0x1p-24)); }

/* Of the mean of DRAWS numbers with this sum and this sum of squares. */
static double standard_error(double sum, double squares)
{
    double mean = sum / DRAWS;
    return sqrt(fmax(0, squares / DRAWS - mean * mean) / DRAWS);
}

/* The samples of one material at all places, and what they come to. */
struct measurement {
    const struct run_context *c;
    const uint32_t *in, *out;
    struct returned *r;
};

static void measure_place(void *ctx, size_t place, unsigned thread)
{
    const struct measurement *m = ctx;
    double device = 0, reference = 0, squares = 0, device_squares = 0;
    (void)thread;
    for (size_t i = place * DRAWS; i < (place + 1) * DRAWS; i++) {
        double count;
        lobe_number(i % DRAWS, &count);
        double x = count * device_power(m->c, m->in + 10 * i, m->out + 9 * i),
               y = count * reference_power(m->c, m->in + 10 * i);
        device += x;
        device_squares += x * x;
        reference += y;
        squares += (x - y) * (x - y);
    }
    m->r[place] =
        (struct returned){device / DRAWS, reference / DRAWS, standard_error(device, device_squares),
                          standard_error(device - reference, squares)};
}

/* One material of the table at all places: rows of PROBE_BSDF_SAMPLE, on numbers that the reference
 * gets too. */
static enum status measure(struct run_context *c, uint32_t white, struct returned *r,
                           struct error *err)
{
    const size_t rows = (size_t)PLACES * DRAWS;
    uint32_t *in = ARENA_ARRAY(c->arena, uint32_t, 10 * rows), *out;
    if (!in)
        return error_msg(err, STATUS_MEMORY, "out of memory for %zu samples", rows);
    for (size_t i = 0; i < rows; i++) {
        uint32_t *row = in + 10 * i;
        size_t place = i / DRAWS;
        double theta = angles[place % ANGLES] * PI / 180;
        double count;
        const double wo[3] = {sin(theta) * cos(0.4), sin(theta) * sin(0.4), cos(theta)};
        row[0] = white * ROUGHNESSES + (uint32_t)(place / ANGLES);
        row[1] = row[2] = word_of(0.5F);
        row[3] = !whites[white].inside;
        for (int k = 0; k < 3; k++) {
            row[4 + k] = word_of((float)wo[k]);
            row[7 + k] = number_word(point(i % DRAWS, k));
        }
        row[7] = number_word(lobe_number(i % DRAWS, &count));
    }
    enum status s = case_probe(c, PROBE_BSDF_SAMPLE, in, rows, &out, err);
    if (s != STATUS_OK)
        return s;
    struct measurement m = {c, in, out, r};
    parallel_for(PLACES, 0, measure_place, &m);
    return STATUS_OK;
}

static void judge(struct tally *t, const struct white *w, const struct returned *r)
{
    for (int place = 0; place < PLACES; place++) {
        double roughness = roughnesses[place / ANGLES], angle = angles[place % ANGLES];
        /* Equal numbers give equal samples up to rounding, 2^-24 a step, which 1e-4 covers, but
         * where a number stands at an edge between lobes: 5 standard errors of those. */
        double bound = 5 * r[place].error + 1e-4 * (1 + r[place].reference);
        tally_near(t, r[place].device, r[place].reference, bound,
                   "%s, roughness %g, %g degrees: share of light returned", w->name, roughness,
                   angle);
        if (w->conserves)
            tally_near(t, fmax(r[place].device, 1), 1, 5 * r[place].device_error + 1e-4,
                       "%s, roughness %g, %g degrees: returns more than it gets", w->name,
                       roughness, angle);
    }
}

static void numbers(struct json_writer *w, const char *key, const double *v, size_t count)
{
    json_key(w, key);
    json_begin_array(w);
    for (size_t i = 0; i < count; i++)
        json_number(w, v[i]);
    json_end_array(w);
}

/* [angle][roughness], to four digits: more is noise. */
static void shares(struct json_writer *w, const char *key, const struct returned *r, bool device)
{
    json_key(w, key);
    json_begin_array(w);
    for (int a = 0; a < ANGLES; a++) {
        json_begin_array(w);
        for (int i = 0; i < ROUGHNESSES; i++) {
            const struct returned *p = &r[i * ANGLES + a];
            json_number(w, round((device ? p->device : p->reference) * 1e4) / 1e4);
        }
        json_end_array(w);
    }
    json_end_array(w);
}

enum status kernel_bsdf_furnace_white(struct run_context *c, struct error *err)
{
    struct tally t = {0};
    struct json_writer w = {0};
    struct returned r[PLACES] = {{0}};
    enum status s = white_scene(c, err);
    if (s != STATUS_OK)
        return s;
    json_begin_object(&w);
    json_key(&w, "furnace");
    json_begin_object(&w);
    numbers(&w, "roughness", roughnesses, ROUGHNESSES);
    numbers(&w, "degrees", angles, ANGLES);
    json_key(&w, "materials");
    json_begin_array(&w);
    for (uint32_t i = 0; i < WHITES && s == STATUS_OK; i++) {
        if ((s = measure(c, i, r, err)) != STATUS_OK)
            break;
        judge(&t, &whites[i], r);
        json_begin_object(&w);
        json_key_string(&w, "name", whites[i].name);
        shares(&w, "returned", r, true);
        shares(&w, "reference", r, false);
        json_end_object(&w);
    }
    json_end_array(&w);
    json_end_object(&w);
    json_end_object(&w);
    if (s == STATUS_OK)
        case_detail(c, &w);
    text_free(&w.out);
    return s == STATUS_OK ? tally_verdict(&t, c) : s;
}
