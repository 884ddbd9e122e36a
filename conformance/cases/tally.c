/* SPDX-License-Identifier: Apache-2.0 */
#include "tally.h"
#include "answers.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

static void describe(struct tally *t, const char *values, const char *fmt, va_list ap)
{
    if (t->failures++)
        return;
    int n = vsnprintf(t->text, sizeof t->text, fmt, ap);
    if (n > 0 && (size_t)n < sizeof t->text)
        snprintf(t->text + n, sizeof t->text - (size_t)n, ": %s", values);
}

bool tally_near(struct tally *t, double got, double want, double bound, const char *fmt, ...)
{
    double error = fabs(got - want);
    t->compared++;
    if (got == want || error <= bound) {
        if (got != want && bound > 0)
            t->worst = fmax(t->worst, error / bound);
        return true;
    }
    char values[160];
    snprintf(values, sizeof values, "%.9g, expected %.9g within %.3g", got, want, bound);
    va_list ap;
    va_start(ap, fmt);
    describe(t, values, fmt, ap);
    va_end(ap);
    return false;
}

bool tally_equal(struct tally *t, int64_t got, int64_t want, const char *fmt, ...)
{
    t->compared++;
    if (got == want)
        return true;
    char values[96];
    snprintf(values, sizeof values, "%lld, expected %lld", (long long)got, (long long)want);
    va_list ap;
    va_start(ap, fmt);
    describe(t, values, fmt, ap);
    va_end(ap);
    return false;
}

enum status tally_verdict(struct tally *t, struct run_context *c)
{
    c->compared += t->compared;
    if (t->failures)
        return case_fail(c, "%s; %zu of %llu comparisons wrong", t->text, t->failures,
                         (unsigned long long)t->compared);
    return case_pass(c, "%llu comparisons, worst %.2f of its bound",
                     (unsigned long long)t->compared, t->worst);
}

uint32_t word_of(float f)
{
    uint32_t w;
    memcpy(&w, &f, sizeof w);
    return w;
}

float float_of(uint32_t w)
{
    float f;
    memcpy(&f, &w, sizeof f);
    return f;
}

double dice_u(struct dice *d)
{
    if (d->used == 0) {
        const uint32_t counter[4] = {d->row++, 0, 0, 0}, key[2] = {d->key, 0x15090e};
        philox4x32(counter, key, d->words);
        d->used = 4;
    }
    return u01(d->words[--d->used]);
}

void dice_direction(struct dice *d, double out[3])
{
    double z = 2 * dice_u(d) - 1, phi = 6.283185307179586 * dice_u(d), r = sqrt(fmax(0, 1 - z * z));
    out[0] = r * cos(phi);
    out[1] = r * sin(phi);
    out[2] = z;
}

enum status case_probe(struct run_context *c, enum probe probe, const uint32_t *in, size_t rows,
                       uint32_t **out, struct error *err)
{
    uint32_t *words = ARENA_ARRAY(c->arena, uint32_t, rows * probe_shapes[probe].out_words);
    if (!words)
        return error_msg(err, STATUS_MEMORY, "out of memory for %zu rows", rows);
    const struct probe_shape *shape = &probe_shapes[probe];
    memset(words, 0xa5, rows * shape->out_words * sizeof *words); /* nothing stale passes */
    enum status s = device_probe(c->device, probe, in, rows, words, err);
    if (s != STATUS_OK)
        return s;
    answer_note(c, shape->name, strlen(shape->name), NULL, 0);
    answer_note(c, in, rows * shape->in_words * sizeof *in, words,
                rows * shape->out_words * sizeof *words);
    *out = words;
    return STATUS_OK;
}
