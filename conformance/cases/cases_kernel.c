/* SPDX-License-Identifier: Apache-2.0 */
/* Level kernel: random numbers and arithmetic, and the table of the whole level. */
#include "cases_kernel.h"
#include "answers.h"
#include "tally.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A small scene of the library, for probes that need none. */
static enum status any_scene(struct run_context *c, enum math_mode mode, struct error *err)
{
    enum status s = case_library_scene(c, "furnace", err);
    return s == STATUS_OK ? case_ready_to_probe(c, mode, BVH_AUTO, err) : s;
}

/* ---- random numbers ------------------------------------------------------------------ */

/* Known answers of Random123 (Salmon et al.), as docs/reference/protocol.md section 3.1 has them;
 * then many counters against base's generator, which base_test holds against the same vectors. */
static enum status kernel_rng(struct run_context *c, struct error *err)
{
    static const struct {
        uint32_t in[6], out[4];
    } known[] = {
        {{0, 0, 0, 0, 0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{~0u, ~0u, ~0u, ~0u, ~0u, ~0u}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    enum { KNOWN = sizeof known / sizeof *known, EDGES = 6 * 32, ROWS = 1 << 16 };
    uint32_t *in = ARENA_ARRAY(c->arena, uint32_t, 6 * (size_t)ROWS), *out;
    struct tally t = {0};
    enum status s = any_scene(c, MODE_DEVICE, err);
    if (s != STATUS_OK)
        return s;
    if (!in)
        return error_msg(err, STATUS_MEMORY, "out of memory for the counters");
    for (size_t i = 0; i < ROWS; i++) {
        uint32_t *row = in + 6 * i;
        if (i < KNOWN) {
            memcpy(row, known[i].in, sizeof known[i].in);
        } else if (i < KNOWN + EDGES) { /* each bit of counter and key alone */
            size_t bit = i - KNOWN;
            row[bit / 32] = 1u << (bit % 32);
        } else if (i % 2) { /* as renders use it: small neighbours */
            const uint32_t n = (uint32_t)i;
            const uint32_t small[6] = {n % 97, n / 97 % 61, n % 7, n % 13, 1, 0};
            memcpy(row, small, sizeof small);
        } else {
            const uint32_t counter[4] = {(uint32_t)i, 1, 2, 3}, key[2] = {0x5eed, 0};
            philox4x32(counter, key, row);
            row[4] = row[0] * 2654435761u;
            row[5] = row[1] ^ 0x9e3779b9u;
        }
    }
    if ((s = case_probe(c, PROBE_RNG, in, ROWS, &out, err)) != STATUS_OK)
        return s;
    for (size_t i = 0; i < ROWS; i++) {
        uint32_t want[4];
        philox4x32(in + 6 * i, in + 6 * i + 4, want);
        if (i < KNOWN)
            memcpy(want, known[i].out, sizeof want);
        for (size_t k = 0; k < 4; k++)
            tally_equal(&t, out[4 * i + k], want[k],
                        "counter %08x %08x %08x %08x key %08x %08x, word %zu", in[6 * i],
                        in[6 * i + 1], in[6 * i + 2], in[6 * i + 3], in[6 * i + 4], in[6 * i + 5],
                        k);
    }
    return tally_verdict(&t, c);
}

/* ---- arithmetic ---------------------------------------------------------------------- */

static const float edges[] = {0.0f,
                              -0.0f,
                              1.0f,
                              -1.0f,
                              0x1p-126f,
                              -0x1p-126f,
                              0x1p-149f,
                              -0x1p-149f,
                              0x1.fffffep-127f,
                              0x1.fffffep127f,
                              -0x1.fffffep127f,
                              0x1.fffffep-1f,
                              0x1.000002p0f,
                              3.0f,
                              1.0f / 3.0f,
                              0x1p64f,
                              0x1p-64f,
                              0x1.8p1f,
                              1e10f};
enum { EDGE_COUNT = sizeof edges / sizeof *edges, MATH_ROWS = 1 << 15 };

/* Pairs: all edges with each other, then any bits (finite), then numbers near one. */
static void pair(size_t i, float *x, float *y)
{
    if (i < (size_t)EDGE_COUNT * EDGE_COUNT) {
        *x = edges[i / EDGE_COUNT];
        *y = edges[i % EDGE_COUNT];
        return;
    }
    const uint32_t counter[4] = {(uint32_t)i, 7, 0, 0}, key[2] = {0xa17, 0};
    uint32_t w[4];
    philox4x32(counter, key, w);
    if (i % 2) {
        *x = float_of(w[0] & 0x7f800000u) < INFINITY ? float_of(w[0]) : 1.5f;
        *y = float_of(w[1] & 0x7f800000u) < INFINITY ? float_of(w[1]) : -2.5f;
    } else {
        *x = (float)(u01(w[2]) * 4 - 2);
        *y = (float)(u01(w[3]) * 4 - 2);
    }
}

/* IEEE 754 says what each is; computed here in binary32 with no contraction (the build's
 * -ffp-contract=off). */
static float exact(enum probe_function f, float x, float y)
{
    volatile float product = x * y;
    switch (f) {
    case PROBE_ADD:
        return x + y;
    case PROBE_SUB:
        return x - y;
    case PROBE_MUL:
        return product;
    case PROBE_DIV:
        return x / y;
    case PROBE_SQRT:
        return sqrtf(x);
    case PROBE_FMA_LIKE:
        return product + x;
    default:
        return floorf(x);
    }
}

static const char *const function_names[] = {"x + y",   "x - y",       "x * y",    "x / y",
                                             "sqrt(x)", "x * y + x",   "floor(x)", "sin(x)",
                                             "cos(x)",  "atan2(x, y)", "acos(x)"};

static enum status kernel_math_exact(struct run_context *c, struct error *err)
{
    struct tally t = {0};
    enum status s = any_scene(c, MODE_STRICT, err);
    if (s != STATUS_OK)
        return s;
    uint32_t *in = ARENA_ARRAY(c->arena, uint32_t, 3 * (size_t)MATH_ROWS), *out;
    if (!in)
        return error_msg(err, STATUS_MEMORY, "out of memory for the operands");
    for (int f = PROBE_ADD; f <= PROBE_FLOOR; f++) {
        for (size_t i = 0; i < MATH_ROWS; i++) {
            float x, y;
            pair(i, &x, &y);
            in[3 * i] = (uint32_t)f;
            in[3 * i + 1] = word_of(x);
            in[3 * i + 2] = word_of(y);
        }
        if ((s = case_probe(c, PROBE_MATH, in, MATH_ROWS, &out, err)) != STATUS_OK)
            return s;
        for (size_t i = 0; i < MATH_ROWS; i++) {
            float x = float_of(in[3 * i + 1]), y = float_of(in[3 * i + 2]);
            float want = exact((enum probe_function)f, x, y), got = float_of(out[i]);
            bool both_nan = isnan(want) && isnan(got); /* IEEE leaves a NaN's bits open */
            tally_equal(&t, both_nan ? 0 : out[i], both_nan ? 0 : word_of(want),
                        "%s, x = %a, y = %a, bits (got %a, expected %a)", function_names[f],
                        (double)x, (double)y, (double)got, (double)want);
        }
    }
    return tally_verdict(&t, c);
}

/* The kernel's own functions over the domains that paths use, in the units they are used in: sin,
 * cos, atan2 and acos enter as directions and angles, so what counts is the absolute error beside
 * the result's own rounding. The oracle is the C library's double, good to 1e-15. Allowed:
 *
 *   4 u of the largest value
 *   4 u of the result
 *   |x| 2^-24: the argument's own, over argument reduction */
struct function_case {
    enum probe_function function;
    double low, high; /* of x; y alike */
    double largest;   /* |result| */
};
static const struct function_case functions[] = {{PROBE_SIN, -8.0, 8.0, 1},
                                                 {PROBE_COS, -8.0, 8.0, 1},
                                                 {PROBE_ATAN2, -4.0, 4.0, 3.14159265358979},
                                                 {PROBE_ACOS, -1.0, 1.0, 3.14159265358979}};

static double function_value(enum probe_function f, double x, double y)
{
    switch (f) {
    case PROBE_SIN:
        return sin(x);
    case PROBE_COS:
        return cos(x);
    case PROBE_ATAN2:
        return atan2(x, y);
    default:
        return acos(x);
    }
}

static enum status math_functions(struct run_context *c, enum math_mode mode, struct error *err)
{
    struct tally t = {0};
    enum { ROWS = 1 << 16 };
    enum status s = any_scene(c, mode, err);
    if (s != STATUS_OK)
        return s;
    uint32_t *in = ARENA_ARRAY(c->arena, uint32_t, 3 * (size_t)ROWS), *out;
    if (!in)
        return error_msg(err, STATUS_MEMORY, "out of memory for the operands");
    struct json_writer w = {0};
    json_begin_object(&w);
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++) {
        const struct function_case *f = &functions[k];
        double worst = 0;
        for (uint32_t i = 0; i < ROWS; i++) {
            const uint32_t counter[4] = {i, 3, 0, 0}, key[2] = {0xf2c, 0};
            uint32_t r[4];
            philox4x32(counter, key, r);
            double u = i < 257 ? i / 256.0 : u01(r[0]); /* ends and corners first */
            in[3 * i] = (uint32_t)f->function;
            in[3 * i + 1] = word_of((float)(f->low + (f->high - f->low) * u));
            in[3 * i + 2] = word_of((float)(f->low + (f->high - f->low) * u01(r[1])));
        }
        if ((s = case_probe(c, PROBE_MATH, in, ROWS, &out, err)) != STATUS_OK) {
            text_free(&w.out);
            return s;
        }
        answer_note(c, in, 3 * sizeof *in * ROWS, out, sizeof *out * ROWS);
        for (size_t i = 0; i < ROWS; i++) {
            double x = (double)float_of(in[3 * i + 1]), y = (double)float_of(in[3 * i + 2]);
            double want = function_value(f->function, x, y), got = (double)float_of(out[i]);
            double bound = 4 * 0x1p-24 * (f->largest + fabs(want));
            worst = fmax(worst, fabs(got - want));
            tally_near(&t, got, want, bound, "%s, x = %a, y = %a", function_names[f->function], x,
                       y);
        }
        json_key_number(&w, function_names[f->function], worst);
    }
    json_end_object(&w);
    case_detail(c, &w);
    (void)answer_given(c, 0); /* bits are held against the known ones besides: a bound is wide */
    return tally_verdict(&t, c);
}

static enum status kernel_math_strict(struct run_context *c, struct error *err)
{
    return math_functions(c, MODE_STRICT, err);
}

static enum status kernel_math_device(struct run_context *c, struct error *err)
{
    return math_functions(c, MODE_DEVICE, err);
}

static const struct case_row plain_rows[] = {
    {"kernel.rng.philox", "the generator: published vectors, then 65536 counters, every word",
     kernel_rng},
    {"kernel.math.exact", "strict: + - * / sqrt floor and no contraction, bit for bit",
     kernel_math_exact},
    {"kernel.math.functions-strict", "strict: sin, cos, atan2, acos within four units roundoff",
     kernel_math_strict},
    {"kernel.math.functions-device", "device: sin, cos, atan2, acos within four units roundoff",
     kernel_math_device},
    {"kernel.trees.strict",
     "irregular and instanced triangles, cutouts: every tree has brute force's bits", kernel_trees},
    {"kernel.trees.device", "device: every tree and brute force agree with the reference",
     kernel_trees},
    {"kernel.trees.fast", "fast: every tree and brute force agree with the reference",
     kernel_trees},
    {"kernel.bsdf-chi-square.diffuse", "sampled directions follow the reference's density",
     kernel_bsdf_chi_square},
    {"kernel.bsdf-chi-square.rough_conductor", "sampled directions follow the reference's density",
     kernel_bsdf_chi_square},
    {"kernel.bsdf-chi-square.principled", "sampled directions follow the reference's density",
     kernel_bsdf_chi_square},
    {"kernel.bsdf-chi-square.oren_nayar", "sampled directions follow the reference's density",
     kernel_bsdf_chi_square},
    {"kernel.bsdf-chi-square.rough_dielectric",
     "sampled directions, reflected and refracted, follow the reference's density",
     kernel_bsdf_chi_square},
    {"kernel.bsdf-chi-square.sheen", "sampled directions follow the reference's density",
     kernel_bsdf_chi_square},
    {"kernel.bsdf-step.diffuse", "samples and values are the reference's on the same numbers",
     kernel_bsdf_step},
    {"kernel.bsdf-step.mirror", "samples are the reference's on the same numbers",
     kernel_bsdf_step},
    {"kernel.bsdf-step.rough_conductor",
     "samples and values are the reference's on the same numbers", kernel_bsdf_step},
    {"kernel.bsdf-step.dielectric", "samples are the reference's on the same numbers",
     kernel_bsdf_step},
    {"kernel.bsdf-step.principled", "samples and values are the reference's on the same numbers",
     kernel_bsdf_step},
    {"kernel.bsdf-step.oren_nayar", "samples and values are the reference's on the same numbers",
     kernel_bsdf_step},
    {"kernel.bsdf-step.rough_dielectric",
     "samples and values are the reference's on the same numbers", kernel_bsdf_step},
    {"kernel.bsdf-step.thin_dielectric",
     "samples and values are the reference's on the same numbers", kernel_bsdf_step},
    {"kernel.bsdf-step.sheen", "samples and values are the reference's on the same numbers",
     kernel_bsdf_step},
    {"kernel.texels", "strict: every texel of 16 bits, half, linear and sRGB, has its value's bits",
     kernel_texels},
    {"kernel.bsdf-furnace.all",
     "mean weights are the albedos that quadrature of the reference gives, none above 1",
     kernel_bsdf_furnace},
    {"kernel.bsdf-furnace.white",
     "white materials return what the reference's do, over roughness and angle; none gives more "
     "than "
     "it gets but Burley's model, whose layers add up",
     kernel_bsdf_furnace_white},
    {"kernel.lights.fast",
     "fast: each light of a tree has the chance that its bounds give it, and is chosen as often",
     kernel_lights},
    {"kernel.values.materials", "strict: materials at the edges of their functions, bit for bit",
     kernel_values},
    {"kernel.values.dense-1",
     "strict: materials, lights, textures, surroundings and rays at edges, bit for bit",
     kernel_values},
    {"kernel.values.dense-2",
     "strict: materials, lights, textures, surroundings and rays at edges, bit for bit",
     kernel_values},
    {"kernel.values.dense-3",
     "strict: materials, lights, textures, surroundings and rays at edges, bit for bit",
     kernel_values},
    {"kernel.values.dense-4",
     "strict: materials, lights, textures, surroundings and rays at edges, bit for bit",
     kernel_values},
    {"kernel.values.dense-5",
     "strict: materials, lights, textures, surroundings and rays at edges, bit for bit",
     kernel_values},
    {"kernel.values.dense-6",
     "strict: materials, lights, textures, surroundings and rays at edges, bit for bit",
     kernel_values},
    {"kernel.values.dense-7",
     "strict: materials, lights, textures, surroundings and rays at edges, bit for bit",
     kernel_values},
    {"kernel.values.dense-8",
     "strict: materials, lights, textures, surroundings and rays at edges, bit for bit",
     kernel_values},
};
const struct case_table kernel_cases = CASE_TABLE(plain_rows);

static const struct case_row scene_rows[] = {
    {"kernel.hit",
     "closest hits: the tree's are brute force's, bit for bit in strict, and the reference's "
     "within rounding",
     kernel_hit},
    {"kernel.light", "light samples are the reference's on the same numbers", kernel_light},
    {"kernel.environment", "the environment's radiance and density are the reference's",
     kernel_environment},
    {"kernel.texture", "texture lookups are those of the protocol in double", kernel_texture},
    {"kernel.material", "samples and values of the scene's own materials are the reference's",
     kernel_material},
};
const struct case_table kernel_scene_cases = CASE_TABLE(scene_rows);
