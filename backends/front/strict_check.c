/* SPDX-License-Identifier: Apache-2.0 */
/* Does a device's arithmetic do what strict mode asks for? Asked by running it, since drivers'
 * answers are not always true. */
#include "device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RANDOM_ROWS = 4096 };

struct property {
    enum probe_function function;
    const char *text;
};
static const struct property properties[] = {
    {PROBE_ADD, "correctly rounded addition with subnormal numbers"},
    {PROBE_SUB, "correctly rounded subtraction with subnormal numbers"},
    {PROBE_MUL, "correctly rounded multiplication with subnormal results"},
    {PROBE_DIV, "correctly rounded division"},
    {PROBE_SQRT, "correctly rounded square roots"},
    {PROBE_FMA_LIKE, "x * y + x without contraction"},
    {PROBE_DOT, "a dot product without contraction"},
    {PROBE_CROSS, "a cross product without contraction"},
    {PROBE_MADD, "a vector's multiple and sum without contraction"},
    {PROBE_LANES, "x * y + x in eight lanes without contraction"},
    {PROBE_FLOOR, "floor"},
};

static float bits_float(uint32_t u)
{
    float f;
    memcpy(&f, &u, 4);
    return f;
}
static uint32_t float_bits(float f)
{
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}

/* Here and now: IEEE 754 binary32, no contraction (compiled with -ffp-contract=off), volatile
 * against folding. */
static float host_result(enum probe_function f, float x, float y)
{
    volatile float a = x, b = y, r, other;
    switch (f) {
    case PROBE_ADD:
        r = a + b;
        break;
    case PROBE_SUB:
        r = a - b;
        break;
    case PROBE_MUL:
        r = a * b;
        break;
    case PROBE_DIV:
        r = a / b;
        break;
    case PROBE_SQRT:
        r = sqrtf(a);
        break;
    case PROBE_FMA_LIKE:
    case PROBE_LANES:
        r = a * b;
        r = r + a;
        break;
    case PROBE_DOT:
        r = a * b;
        other = b * b;
        other = r + other;
        r = other + r;
        break;
    case PROBE_CROSS:
        r = a * b;
        other = b * b;
        r = r - other;
        break;
    case PROBE_MADD:
        r = b * b;
        r = a + r;
        break;
    default:
        r = floorf(a);
    }
    return r;
}

/* Operands: pairs where sloppy division or roots go wrong, subnormals, then random bits of moderate
 * exponents. */
static const uint32_t hard[][2] = {
    {0x3F800000, 0x40400000}, {0x3F800001, 0x3F7FFFFF}, {0x3F7FFFFF, 0x3F800001},
    {0x40490FDB, 0x402DF854}, {0x3F800000, 0x3FFFFFFF}, {0x00000001, 0x3F800000},
    {0x00000001, 0x40000000}, {0x007FFFFF, 0x3F000000}, {0x00800000, 0x3F7FFFFF},
    {0x00800001, 0x40000000}, {0x80000001, 0x3FC00000}, {0x00400000, 0x00400000},
    {0x00800000, 0x807FFFFF}, {0x1A000000, 0x1A000001}, {0x20000001, 0x1F800001},
    {0x7E800001, 0x3F7FFFFF}, {0x3F800001, 0x3F800001}, {0x3F800003, 0x3F7FFFFD},
    {0x4B7FFFFF, 0x3F000001}, {0xBF800001, 0x33800000}, {0x3EAAAAAB, 0x40400000},
    {0x3DCCCCCD, 0x41200000}, {0x41200000, 0x3DCCCCCD}, {0x0DA24260, 0x1E3CE508},
    {0x7149F2CA, 0x5D5E0B6B},
};

static void operands_make(uint32_t i, uint32_t out[2])
{
    const uint32_t known = sizeof hard / sizeof *hard;
    if (i < known) {
        memcpy(out, hard[i], sizeof hard[i]);
        return;
    }
    uint32_t counter[4] = {i, 0, 0, 0}, key[2] = {0x57121C7u, 0}, r[4];
    philox4x32(counter, key, r);
    for (int k = 0; k < 2; k++) /* exponents -32 .. 31 */
        out[k] = (r[k] & 0x807FFFFFu) | ((95 + (r[2 + k] & 63)) << 23);
}

enum status device_check_strict(struct device *d, struct error *err)
{
    const size_t count = sizeof properties / sizeof *properties, rows = count * RANDOM_ROWS;
    uint32_t *in = malloc(rows * 3 * 4), *out = malloc(rows * 4);
    if (!in || !out) {
        free(in);
        free(out);
        return error_msg(err, STATUS_MEMORY, "out of memory for the strict check");
    }
    for (size_t i = 0; i < rows; i++) {
        in[3 * i] = properties[i / RANDOM_ROWS].function;
        operands_make(i % RANDOM_ROWS, in + 3 * i + 1);
        if (in[3 * i] == PROBE_SQRT)
            in[3 * i + 1] &= 0x7FFFFFFFu;
    }
    enum status st = device_probe(d, PROBE_MATH, in, rows, out, err);
    for (size_t i = 0; st == STATUS_OK && i < rows; i++) {
        float x = bits_float(in[3 * i + 1]), y = bits_float(in[3 * i + 2]);
        uint32_t right = float_bits(host_result((enum probe_function)in[3 * i], x, y));
        if (out[i] != right)
            st = error_msg(err, STATUS_UNSUPPORTED,
                           "%s lacks %s, which strict needs: of %a and %a it makes %a, not %a",
                           d->info.id, properties[i / RANDOM_ROWS].text, (double)x, (double)y,
                           (double)bits_float(out[i]), (double)bits_float(right));
    }
    free(in);
    free(out);
    return st;
}
