/* SPDX-License-Identifier: Apache-2.0 */
/* shader.builtin.NAME: each overload of one builtin, called by a shader of its own at points whose
 * globals are its arguments, so that they take special values. shader.builtins.PART: an overload of
 * each builtin, many in one shader; strings that mean something are constants there, so that devices
 * can run them. Those of noise are called at points in rows too, and for their values alone: engines
 * that run several points at once compute what such points share once. */
#include "answers.h"
#include "cases_shader.h"
#include "generate/offers.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RANDOM = 240, CALM = 60, CALLS = 24 /* in one shader */ };
/* Binades of floats, with those of subnormal numbers; places in each; points at whole numbers. */
enum { BINADE_FIRST = -149, BINADES = 128 - BINADE_FIRST, PLACES = 8, WHOLE = 256 };
enum { EVERY = BINADES * PLACES + WHOLE };
enum { CELLS = 768 }; /* of noise alone */
enum { ROWS = 192, ROW = 16, GRID_WIDTH = 27, GRID_HEIGHT = 5 };

/* One overload; word: which of its strings, -1: one that is computed. */
struct call {
    const struct signature *s;
    int word;
};

/* ---- the shader ------------------------------------------------------------------------------ */

static unsigned count_words(const char *list)
{
    unsigned n = 1;
    while (list && (list = strchr(list, ' ')) != NULL) {
        list++;
        n++;
    }
    return n;
}

static void write_word(struct text *out, const char *list, unsigned k)
{
    for (k %= count_words(list); k > 0; k--)
        list = strchr(list, ' ') + 1;
    text_printf(out, "\"%.*s\"", (int)strcspn(list, " "), list);
}

/* Arguments come from globals, each from another one where there are enough. */
static void write_input(struct text *out, const struct call *call, unsigned number, unsigned i)
{
    const struct signature *s = call->s;
    static const char *const floats[] = {"u", "v", "P[0]", "P[1]", "P[2]", "I[0]", "I[1]", "I[2]"};
    static const char *const triples[] = {"P", "I", "N", "Ps"};
    static const char *const ints[] = {"int(u)", "int(v)", "int(P[0])", "int(P[1])"};
    static const char *const texts[] = {"u", "v", "P[0]", "P[1]"};
    enum asl_base b = s->arg[i].base;
    if (b == ASL_INT)
        text_puts(out, ints[i % 4]);
    else if (b == ASL_FLOAT)
        text_puts(out, floats[i % 8]);
    else if (b == ASL_STRING && call->word >= 0 && signature_words(s, i))
        write_word(out, signature_words(s, i), (unsigned)call->word * (i + 1) + i);
    else if (b == ASL_STRING)
        text_printf(out, "pick%u(%s)", number, texts[i % 4]);
    else if (b == ASL_CLOSURE)
        text_puts(out, i ? "diffuse(N)" : "emission()");
    else if (b == ASL_MATRIX)
        text_puts(out, "matrix(P[0], P[1], P[2], u, I[0], I[1], I[2], v, N[0], N[1], N[2], time, "
                       "Ps[0], Ps[1], Ps[2], dtime)");
    else
        text_puts(out, triples[i % 4]);
}

static const char *type_name(enum asl_base b)
{
    static const char *const names[] = {"float",  "void",   "int",          "float",
                                        "color",  "point",  "vector",       "normal",
                                        "matrix", "string", "closure color"};
    return names[b];
}

/* The strings that mean something to this builtin, and others; chosen by a number. */
static void write_pick(struct text *out, const struct signature *s, unsigned number)
{
    text_printf(out, "string pick%u(float x)\n{\n    int i = int(clamp(x, -40.0, 40.0)) & 15;\n",
                number);
    uint32_t k = 0;
    for (unsigned a = 0; a < s->count && k < 12; a++) {
        const char *list = signature_words(s, a);
        for (; list && *list && k < 12; list += strspn(list, " ")) {
            size_t n = strcspn(list, " ");
            text_printf(out, "    if (i == %u) return \"%.*s\";\n", k++, (int)n, list);
            list += n;
        }
    }
    static const char *const others[] = {"",       "a",  "b.c", "(l|o)+", "12.5e1z", " Hello World",
                                         "[a-z]+", "-7", "aab"};
    for (size_t i = 0; i < sizeof others / sizeof *others && k < 15; i++)
        text_printf(out, "    if (i == %u) return \"%s\";\n", k++, others[i]);
    text_puts(out, "    return \"common\";\n}\n");
}

static bool has_slope(const struct signature *s)
{
    bool numbers = s->result == ASL_FLOAT || is_triple(s->result);
    return numbers &&
           (strcmp(s->row->derivatives, "rule") == 0 || strcmp(s->row->derivatives, "inner") == 0 ||
            strcmp(s->row->derivatives, "zero") == 0);
}

static bool needs_pick(const struct call *c)
{
    for (unsigned i = 0; i < c->s->count; i++)
        if (c->s->arg[i].base == ASL_STRING && !c->s->arg[i].output &&
            (c->word < 0 || !signature_words(c->s, i)))
            return true;
    return false;
}

/* Outputs of call 7 are r7, its slopes rx7 and ry7, and what it writes: o7_0 for argument 0. */
static void write_outputs(struct text *out, const struct signature *s, unsigned number, bool slopes)
{
    if (s->result != ASL_VOID)
        text_printf(out, ",\n    output %s r%u = %s", type_name(s->result), number,
                    s->result == ASL_STRING ? "\"\"" : "0");
    if (slopes && has_slope(s))
        text_printf(out, ",\n    output %s rx%u = 0, output %s ry%u = 0", type_name(s->result),
                    number, type_name(s->result), number);
    for (unsigned i = 0; i < s->count; i++)
        if (s->arg[i].output)
            text_printf(out, ",\n    output %s o%u_%u%s = %s", type_name(s->arg[i].base), number, i,
                        s->arg[i].array ? "[6]" : "",
                        s->arg[i].array ? (s->arg[i].base == ASL_STRING ? "{ \"\" }" : "{ 0 }")
                        : s->arg[i].base == ASL_STRING ? "\"\""
                                                       : "0");
}

static void write_call(struct text *out, const struct call *c, unsigned number, bool slopes)
{
    const struct signature *s = c->s;
    for (unsigned i = 0; i < s->count; i++)
        if (s->arg[i].array && !s->arg[i].output)
            text_printf(out, "    %s a%u_%u[6] = { %s, %s, 0.5, -1, %s, 2 };\n",
                        type_name(s->arg[i].base), number, i, is_triple(s->arg[i].base) ? "P" : "u",
                        is_triple(s->arg[i].base) ? "N" : "v",
                        is_triple(s->arg[i].base) ? "I" : "P[1]");
    text_puts(out, "    ");
    if (s->result != ASL_VOID)
        text_printf(out, "r%u = ", number);
    text_printf(out, "%s(", s->row->name);
    for (unsigned i = 0; i < s->count; i++) {
        text_puts(out, i ? ", " : "");
        if (s->arg[i].output)
            text_printf(out, "o%u_%u", number, i);
        else if (s->arg[i].array)
            text_printf(out, "a%u_%u", number, i);
        else if (s->arg[i].base == ASL_UNKNOWN)
            text_puts(out, strcmp(s->row->name, "arraylength") == 0 ? "pa0" : "pf0");
        else
            write_input(out, c, number, i);
    }
    text_puts(out, ");\n");
    if (slopes && has_slope(s))
        text_printf(out, "    rx%u = Dx(r%u);\n    ry%u = Dy(r%u);\n", number, number, number,
                    number);
}

static void write_shader_text(struct text *out, const struct call *calls, size_t count, bool slopes)
{
    text_printf(out, "// isophote: calls of %s%s\n", calls[0].s->row->name,
                count > 1 ? " and others" : "");
    for (unsigned i = 0; i < count; i++)
        if (needs_pick(&calls[i]))
            write_pick(out, calls[i].s, i);
    text_puts(out, "shader probe(float pf0 = 1, float pa0[3] = { 1 }");
    for (unsigned i = 0; i < count; i++)
        write_outputs(out, calls[i].s, i, slopes);
    text_puts(out, ")\n{\n");
    for (unsigned i = 0; i < count; i++)
        write_call(out, &calls[i], i, slopes);
    text_puts(out, "}\n");
}

/* ---- points ---------------------------------------------------------------------------------- */

static const float special[] = {
    0.0f,        -0.0f,       1.0f,        -1.0f,       0.5f,      -0.5f,    2.0f,      -3.0f,
    1e-40f,      -1e-40f,     FLT_MIN,     FLT_MAX,     -FLT_MAX,  INFINITY, -INFINITY, NAN,
    1.57079637f, 3.14159274f, 0.99999994f, 1.00000012f, 88.72284f, -104.0f,  1e10f,     255.5f};
enum { SPECIAL = sizeof special / sizeof *special };

/* All slots that shaders read as arguments. */
static float *slot(struct asl_globals *g, unsigned i)
{
    float *const slots[] = {&g->u.v,     &g->v.v,     &g->P.v[0], &g->P.v[1],
                            &g->P.v[2],  &g->I.v[0],  &g->I.v[1], &g->I.v[2],
                            &g->N.v[0],  &g->N.v[1],  &g->N.v[2], &g->Ps.v[0],
                            &g->Ps.v[1], &g->Ps.v[2], &g->time,   &g->dtime};
    return slots[i % 16];
}

/* A float of any exponent from 2^-20 to 2^20. */
static float any_float(struct dice *d)
{
    double m = 1 + (double)dice_roll(d, 1u << 24) * 0x1p-24;
    double v = ldexp(m, (int)dice_roll(d, 41) - 20);
    return (float)(dice_chance(d, 50) ? v : -v);
}

/* In [1/16, 1/2). */
static float slope(struct dice *d) { return 0.0625f + (float)dice_roll(d, 7 << 16) * 0x1p-20f; }

/* In [-1/2, 1/2). */
static float any_slope(struct dice *d) { return (float)dice_roll(d, 1 << 20) * 0x1p-20f - 0.5f; }

static bool can_be_special(const struct signature *s)
{
    /* bits of NaN are nobody's business, and arrays of half a million words are no test */
    return !strstr(s->row->name, "noise") && strcmp(s->row->name, "hash") != 0;
}

/* Every binade at its first number, the ones next to that, and others within: where a function
 * changes from one formula to the next lies in one of them. Then numbers that are whole, or halves.
 * The arguments of a point are of one size, or of any two, with slopes. */
static size_t fill_binades(struct asl_globals *p, uint64_t salt)
{
    struct dice d;
    dice_seed(&d, 79 + salt);
    for (unsigned i = 0; i < EVERY; i++, p++) {
        const bool whole = i >= BINADES * PLACES;
        *p = (struct asl_globals){.surfacearea = 1, .raytype = 1};
        for (unsigned k = 0; k < 16; k++) {
            const int own = (int)(i / PLACES), other = (int)dice_roll(&d, BINADES),
                      e = BINADE_FIRST + (k % 2 && i % 2 ? other : own);
            const unsigned place = k % 2 ? dice_roll(&d, PLACES) : i % PLACES;
            float v = ldexpf(1, e);
            if (whole)
                v = (float)dice_roll(&d, i % 3 ? 24 : 1u << 26) * (i % 2 ? 1 : 0.5f);
            else if (place == 1)
                v = nextafterf(v, 0);
            else if (place == 2)
                v = nextafterf(v, INFINITY);
            else if (place > 2)
                v = ldexpf(1 + (float)dice_roll(&d, 1 << 23) * 0x1p-23f, e);
            *slot(p, k) = dice_chance(&d, 50) ? v : -v;
        }
        struct asl_dual3 *const triples[] = {&p->P, &p->I, &p->N, &p->Ps};
        p->u.dx = any_slope(&d), p->u.dy = any_slope(&d);
        p->v.dx = any_slope(&d), p->v.dy = any_slope(&d);
        for (unsigned k = 0; k < 12; k++) {
            triples[k / 3]->dx[k % 3] = any_slope(&d);
            triples[k / 3]->dy[k % 3] = any_slope(&d);
        }
    }
    return EVERY;
}

/* Noise changes its formula at whole numbers, and takes others for corners, cells and periods: so
 * arguments of both signs within some cells, whole ones and halves, those next to them, large ones. */
static float cell_float(struct dice *d)
{
    const float whole = (float)((int)dice_roll(d, 33) - 16);
    switch (dice_roll(d, 8)) {
    case 0:
        return dice_chance(d, 50) ? whole : whole * 0.5f;
    case 1:
        return nextafterf(whole, dice_chance(d, 50) ? INFINITY : -INFINITY);
    case 2:
        return (float)((int)dice_roll(d, 1u << 21) - (1 << 20)) + 0.25f * (float)dice_roll(d, 4);
    default:
        return ((float)dice_roll(d, 1 << 20) - 0x1p19f) * 0x1p-16f; /* in [-8, 8) */
    }
}

static size_t fill_cells(struct asl_globals *p, uint64_t salt)
{
    struct dice d;
    dice_seed(&d, 80 + salt);
    for (size_t i = 0; i < CELLS; i++) {
        p[i] = (struct asl_globals){.surfacearea = 1, .raytype = 1};
        for (unsigned k = 0; k < 16; k++)
            *slot(&p[i], k) = cell_float(&d);
    }
    return CELLS;
}

static size_t fill_points(const struct signature *s, struct asl_globals *p, uint64_t salt)
{
    struct dice d;
    size_t n = 0;
    dice_seed(&d, 77 + salt);
    if (!can_be_special(s))
        n += fill_cells(p, salt);
    for (size_t i = 0; i < (size_t)SPECIAL * SPECIAL && can_be_special(s); i++, n++) {
        p[n] = (struct asl_globals){.surfacearea = 1, .raytype = 1u << (i % 8)};
        for (unsigned k = 0; k < 16; k++)
            *slot(&p[n], k) = special[(k % 2 ? i / SPECIAL : i + k / 2) % SPECIAL];
    }
    if (can_be_special(s))
        n += fill_binades(p + n, salt);
    for (size_t i = 0; i < RANDOM; i++, n++) {
        p[n] = (struct asl_globals){.surfacearea = 1, .raytype = 1u << (i % 8)};
        for (unsigned k = 0; k < 16; k++)
            *slot(&p[n], k) = i % 2 ? any_float(&d) : (float)dice_roll(&d, 1 << 20) * 0x1p-18f;
    }
    for (size_t i = 0; i < CALM; i++, n++) { /* where slopes are tame: all in [1/4, 3/4] */
        p[n] = (struct asl_globals){.surfacearea = 1, .raytype = 1};
        for (unsigned k = 0; k < 16; k++)
            *slot(&p[n], k) = 0.25f + (float)dice_roll(&d, 1 << 20) * 0x1p-21f;
        p[n].u.dx = slope(&d);
        p[n].v.dy = -slope(&d);
        for (unsigned k = 0; k < 3; k++) {
            p[n].P.dx[k] = slope(&d);
            p[n].I.dy[k] = slope(&d);
            p[n].N.dx[k] = -slope(&d);
        }
    }
    /* noise has the same bits everywhere, wherever its arguments go */
    for (size_t i = 0; i < n && !can_be_special(s); i++) {
        struct asl_dual3 *const triples[] = {&p[i].P, &p[i].I, &p[i].N, &p[i].Ps};
        p[i].u.dy = any_slope(&d);
        p[i].v.dx = any_slope(&d);
        for (unsigned k = 0; k < 12; k++) {
            triples[k / 3]->dx[k % 3] += any_slope(&d);
            triples[k / 3]->dy[k % 3] += any_slope(&d);
        }
    }
    return n;
}

/* Rows of points that move along their first argument (a call's second one, where a word is first) by
 * a step of their own, forward or back, by less than a cell of noise or by many; every fifth row
 * bends, by the next component. What else there is stays, negative or not, and in half of the rows
 * whole, as periods are. */
static size_t fill_rows(struct asl_globals *p, uint64_t salt)
{
    static const float steps[] = {0.0f,   0x1p-5f, 0.11f,  0.29f, 0.53f,    0.97f, 1.4f,   2.3f,
                                  -0.13f, -0.31f,  -0.61f, -1.1f, -0x1p-6f, -2.7f, 17.25f, 3e8f};
    const unsigned count = sizeof steps / sizeof *steps;
    /* slots of u, P, N, or of v, I, Ps (write_input); and without N and Ps, which are periods */
    static const unsigned moving[] = {1u | 1u << 2 | 1u << 8, 1u << 1 | 1u << 5 | 1u << 11,
                                      1u | 1u << 2, 1u << 1 | 1u << 5};
    struct dice d;
    dice_seed(&d, 78 + salt);
    for (size_t row = 0; row < ROWS; row++) {
        const unsigned moves = moving[row / count % 4];
        float base[16];
        for (unsigned k = 0; k < 16; k++)
            base[k] = (row + row / count / 2) % 2 && k > 4 && !(moves & 1u << k)
                          ? (float)dice_roll(&d, 9)
                          : (float)((int)dice_roll(&d, 1 << 16) - (1 << 15)) * 0x1p-11f;
        for (size_t x = 0; x < ROW; x++, p++) {
            const float by = (float)x * steps[row % count];
            *p = (struct asl_globals){.surfacearea = 1, .raytype = 1};
            for (unsigned k = 0; k < 16; k++)
                *slot(p, k) = base[k] + (moves & 1u << k ? by : 0);
            if (row % 5 == 4) {
                p->P.v[1 + row / 5 % 2] += (float)x * 0.17f;
                p->I.v[1 + row / 5 % 2] -= (float)x * 0.23f;
            }
        }
    }
    return (size_t)ROWS * ROW;
}

enum { POINTS_MOST = SPECIAL * SPECIAL + EVERY + CELLS + RANDOM + CALM + ROWS * ROW };

/* ---- judging --------------------------------------------------------------------------------- */

/* Numbers apart: units in the last place of the expected one. */
static double ulps_apart(double expected, double found, double scale)
{
    int e;
    (void)frexp(fmax(fabs(expected), scale), &e);
    return fabs(expected - found) / ldexp(1, e - 24 > -149 ? e - 24 : -149);
}

static double as_number(float f) { return isinf(f) ? copysign(0x1p128, (double)f) : (double)f; }

/* "probe.rx7" */
static const char *name_of(const struct shade_output *o)
{
    const char *dot = strrchr(o->name, '.');
    return dot ? dot + 1 : o->name;
}

static bool is_slope(const struct shade_output *o)
{
    const char *name = name_of(o);
    return name[0] == 'r' && (name[1] == 'x' || name[1] == 'y');
}

/* The number of the call that gave it; that of Ci: 0. */
static size_t call_of(const struct shade_output *o)
{
    const char *name = name_of(o);
    return strtoul(name + strcspn(name, "0123456789"), NULL, 10);
}

/* The point as rotate() turns it about an axis from a = N (write_input): what it computes is
 * bounded by parts of q - a and then moved by a, so that the result may be nothing but their
 * rounding. Each of the terms of Rodrigues' formula is at most |q - a|. */
static double turned_size(const struct signature *s, const struct asl_globals *g)
{
    double largest = 0;
    for (int i = 0; s->count == 4 && strcmp(s->row->name, "rotate") == 0 && i < 3; i++)
        largest = fmax(largest, fabs((double)g->P.v[i] - (double)g->N.v[i]));
    return isfinite(largest) ? largest : 0;
}

/* The largest component of an inexact triple that is bounded as a whole. */
static double scale_of(const struct signature *s, const struct shade_output *o, size_t point,
                       const struct asl_globals *g)
{
    double largest = is_slope(o) ? 0 : turned_size(s, g);
    bool whole = s->bound > 0 && o->slots == 3 && s->arg[0].base != s->result;
    whole = whole || strcmp(s->row->name, "transformc") == 0 || strcmp(s->row->name, "rotate") == 0;
    for (size_t k = 0; whole && k < o->slots; k++) {
        float f;
        memcpy(&f, &o->words[point * o->slots + k], sizeof f);
        largest = isfinite(f) ? fmax(largest, fabs((double)f)) : largest;
    }
    return largest;
}

struct builtin_judge {
    const struct signature *s; /* whose output is looked at */
    bool exact;                /* the engine's builtins are the interpreter's */
    struct run_context *c;     /* whose answer is noted; NULL: none */
    const char *program;
    uint64_t values, open;
    double worst;
    char difference[512];
};

/* Bits; or units in the last place where the table bounds them. */
static bool value_agrees(struct builtin_judge *j, const struct shade_output *want,
                         const struct shade_output *have, const struct asl_globals *points,
                         size_t point, size_t k)
{
    uint32_t a = want->words[point * want->slots + k], b = have->words[point * have->slots + k];
    float x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    if (a == b || (isnan(x) && isnan(y)))
        return true;
    if (j->exact || j->s->bound == 0)
        return false;
    if (isnan(x) || isnan(y))
        return false;
    double allowed =
        (double)j->s->bound * 0x1p23; /* ulp column, half a unit of the interpreter's */
    if (is_slope(want))
        allowed = 64;
    double apart =
        ulps_apart(as_number(x), as_number(y), scale_of(j->s, want, point, &points[point]));
    if (!is_slope(want))
        j->worst = fmax(j->worst, apart);
    return apart <= allowed;
}

static void note(struct builtin_judge *j, const char *engine, const struct shade_result *want,
                 const struct shade_result *have, size_t output, size_t point, size_t k,
                 const struct asl_globals *g)
{
    const struct shade_output *a = &want->outputs[output], *b = &have->outputs[output];
    uint32_t x = a->words[point * a->slots + k], y = b->words[point * b->slots + k];
    float fx, fy;
    memcpy(&fx, &x, sizeof fx);
    memcpy(&fy, &y, sizeof fy);
    enum asl_base scalar = asl_type_scalar(a->type, k);
    int n = snprintf(j->difference, sizeof j->difference,
                     "%s(%s), %s[%zu] at u %.9g, v %.9g, P %.9g %.9g %.9g, I %.9g %.9g %.9g: ",
                     j->s->row->name, j->s->row->signatures, a->name, k, (double)g->u.v,
                     (double)g->v.v, (double)g->P.v[0], (double)g->P.v[1], (double)g->P.v[2],
                     (double)g->I.v[0], (double)g->I.v[1], (double)g->I.v[2]);
    if (n < 0 || (size_t)n >= sizeof j->difference)
        return;
    if (scalar == ASL_STRING || scalar == ASL_CLOSURE)
        (void)snprintf(j->difference + n, sizeof j->difference - (size_t)n,
                       "%s gives \"%.60s\", the interpreter \"%.60s\"", engine, have->strings[y],
                       want->strings[x]);
    else
        (void)snprintf(j->difference + n, sizeof j->difference - (size_t)n,
                       "%s gives %.9g (0x%08x), the interpreter %.9g (0x%08x)", engine,
                       scalar == ASL_INT ? (double)(int32_t)y : (double)fy, y,
                       scalar == ASL_INT ? (double)(int32_t)x : (double)fx, x);
}

static void judge_results(struct builtin_judge *j, const char *engine,
                          const struct shade_result *want, const struct shade_result *have,
                          const struct asl_globals *points, const struct call *calls)
{
    for (size_t o = 0; o < want->output_count && !*j->difference; o++) {
        const struct shade_output *a = &want->outputs[o], *b = &have->outputs[o];
        j->s = calls[call_of(a)].s;
        for (size_t i = 0; i < want->count && !*j->difference; i++) {
            if (is_slope(a) && j->s->bound > 0 && i + CALM < want->count)
                continue; /* next to poles and branches a slope has no bound */
            for (size_t k = 0; k < a->slots; k++) {
                enum asl_base scalar = asl_type_scalar(a->type, k);
                uint32_t x = a->words[i * a->slots + k], y = b->words[i * b->slots + k];
                bool same = scalar == ASL_STRING || scalar == ASL_CLOSURE
                                ? strcmp(want->strings[x], have->strings[y]) == 0
                            : scalar == ASL_INT ? x == y
                                                : value_agrees(j, a, b, points, i, k);
                j->values++;
                if (!same) {
                    note(j, engine, want, have, o, i, k, &points[i]);
                    break;
                }
            }
        }
    }
    for (size_t i = 0; i < want->message_count && !*j->difference; i++)
        if (i >= have->message_count || strcmp(want->messages[i].text, have->messages[i].text) != 0)
            (void)snprintf(j->difference, sizeof j->difference,
                           "%s says \"%.100s\", the interpreter \"%.100s\"", engine,
                           i < have->message_count ? have->messages[i].text : "",
                           want->messages[i].text);
}

static enum status run_probe(const struct shader_file *f, const struct shader_setting *s,
                             const struct shade_points *points, struct shade_result *out,
                             struct error *err)
{
    struct shade_options o = {
        .outputs = f->all, .mode = MODE_STRICT, .level = s->level, .fault = s->fault, .threads = 1};
    struct shade *shade = NULL;
    shader_world(&o);
    enum status st = shade_open(s->engine, f->group, &o, &shade, err);
    if (st == STATUS_OK)
        st = shade_run(shade, points, out, err);
    shade_close(shade);
    return st;
}

/* A device's bits, for the known answer: the bounds of builtins are wide, and mode strict has one
 * result. What is a NaN is left open, and texts are compared as they are. */
static void note_answer(struct builtin_judge *j, const struct shade_result *have)
{
    for (size_t o = 0; o < have->output_count; o++) {
        const struct shade_output *out = &have->outputs[o];
        const size_t count = have->count * out->slots;
        for (size_t i = 0; i < count; i++) {
            const enum asl_base scalar = asl_type_scalar(out->type, i % out->slots);
            float x;
            memcpy(&x, &out->words[i], sizeof x);
            if (scalar == ASL_STRING || scalar == ASL_CLOSURE)
                out->words[i] = 0;
            else if (scalar != ASL_INT && isnan(x))
                out->words[i] = 0x7fc00000;
        }
        answer_note(j->c, j->program, strlen(j->program), out->words, count * sizeof *out->words);
    }
}

/* Both engines' results at those points; `globals` are what they hold. */
static enum status judge_points(struct builtin_judge *j, const struct shader_file *f,
                                const struct shader_setting *s, const struct shade_points *points,
                                const struct asl_globals *globals, const struct call *calls,
                                struct error *err)
{
    struct shade_result want = {0}, have = {0};
    const struct shader_setting reference = {.engine = "interp"};
    enum status st = run_probe(f, s, points, &have, err); /* first: it may be that it cannot */
    if (st == STATUS_OK)
        st = run_probe(f, &reference, points, &want, err);
    if (st == STATUS_OK)
        judge_results(j, s->engine, &want, &have, globals, calls);
    if (st == STATUS_OK && j->c)
        note_answer(j, &have);
    shade_result_free(&want);
    shade_result_free(&have);
    return st;
}

/* Values alone, at points in rows: such as are given, and of grids. */
static enum status judge_rows(struct builtin_judge *j, const struct shader_file *f,
                              const struct shader_setting *s, struct asl_globals *room,
                              const struct call *calls, struct error *err)
{
    const struct shade_grid grids[] = {
        {.width = GRID_WIDTH, .height = GRID_HEIGHT, .scale = {2.9, -5.3}, .vary_p = true},
        {.width = GRID_WIDTH,
         .height = GRID_HEIGHT,
         .center = true,
         .scale = {-31, 7},
         .vary_u = true},
        {.width = 1, .height = GRID_HEIGHT, .offset = {-0.3, 4}, .vary_v = true}};
    struct shade_points points = {.globals = room, .count = fill_rows(room, 0)};
    enum status st = judge_points(j, f, s, &points, room, calls, err);
    for (size_t i = 0; st == STATUS_OK && !*j->difference && i < sizeof grids / sizeof *grids;
         i++) {
        points = (struct shade_points){.grid = grids[i]};
        for (size_t k = 0; k < (size_t)grids[i].width * grids[i].height; k++)
            shade_grid_globals(&grids[i], k, &room[k]);
        st = judge_points(j, f, s, &points, room, calls, err);
    }
    return st;
}

/* A colour that is all that is asked for is written down a row at a time. alone: what f's list of
 * outputs becomes. */
static void ask_colour_alone(struct shader_file *f, const struct call *calls, size_t count,
                             bool rows, const char *alone[2])
{
    if (!rows || count != 1 || !is_triple(calls[0].s->result))
        return;
    alone[0] = f->all[0];
    alone[1] = NULL;
    f->all = alone;
}

/* Calls in one shader, whose arguments may all be special, or none. rows: at points in rows. */
static enum status judge_calls(struct run_context *c, struct builtin_judge *j,
                               const struct shader_setting *s, const struct call *calls,
                               size_t call_count, bool rows, struct error *err)
{
    struct arena a = {0};
    struct shader_file f;
    const char *alone[2];
    struct text text = {0};
    struct asl_globals *points = ARENA_ARRAY(&a, struct asl_globals, POINTS_MOST);
    enum status st = points ? STATUS_OK : error_msg(err, STATUS_MEMORY, "out of memory for points");
    write_shader_text(&text, calls, call_count, !rows);
    j->program = text.data;
    if (st == STATUS_OK)
        st = shader_file_read(&a, "builtin.asl", text.data, text.len, 0, &f, err);
    if (st == STATUS_OK)
        ask_colour_alone(&f, calls, call_count, rows, alone);
    if (st == STATUS_OK && rows) {
        st = judge_rows(j, &f, s, points, calls, err);
    } else if (st == STATUS_OK) {
        const struct shade_points p = {.globals = points,
                                       .count = fill_points(calls[0].s, points, 0)};
        st = judge_points(j, &f, s, &p, points, calls, err);
    }
    if (*j->difference) {
        struct json_writer w = {0};
        json_begin_object(&w);
        json_key_string(&w, "program", text.data);
        json_end_object(&w);
        case_detail(c, &w);
    }
    text_free(&text);
    arena_free(&a);
    return st;
}

struct builtin_count {
    size_t calls, unsupported;
    char why[256]; /* the first that the engine cannot run */
};

/* The same; where the engine cannot run all, each half alone. */
static enum status judge_halves(struct run_context *c, struct builtin_judge *j,
                                const struct shader_setting *s, const struct call *calls,
                                size_t count, bool rows, struct builtin_count *n, struct error *err)
{
    struct error why = {0};
    enum status st = judge_calls(c, j, s, calls, count, rows, &why);
    if (st == STATUS_UNSUPPORTED && count > 1) {
        const size_t half = count / 2;
        TRY(judge_halves(c, j, s, calls, half, rows, n, err));
        return *j->difference ? STATUS_OK
                              : judge_halves(c, j, s, calls + half, count - half, rows, n, err);
    }
    n->calls += count;
    if (st == STATUS_UNSUPPORTED) {
        if (!n->unsupported++)
            (void)snprintf(n->why, sizeof n->why, "%.250s", why.msg);
        st = STATUS_OK;
    }
    if (st != STATUS_OK && err)
        *err = why;
    return st;
}

static enum status verdict_of(struct run_context *c, const struct builtin_judge *j,
                              const struct builtin_count *n)
{
    c->compared += j->values;
    if (*j->difference)
        return case_fail(c, "%s", j->difference);
    if (n->calls && n->unsupported == n->calls)
        return case_skip(c, "%s", n->why);
    (void)answer_given(c, 0);
    return case_pass(
        c, "%zu overloads, %llu values, worst %.3g ulp, %zu overloads not for this engine",
        n->calls, (unsigned long long)j->values, j->worst, n->unsupported);
}

enum status shader_builtin_case(struct run_context *c, const char *builtin, struct error *err)
{
    struct shader_setting s;
    struct builtin_judge j = {0};
    struct builtin_count n = {0};
    size_t count;
    const struct signature *all = signatures_all(&count);
    TRY(shader_case_setting(c, &s, err));
    j.exact = strcmp(s.engine, "ir") == 0;
    s.level = 2;
    for (size_t i = 0; i < count && !*j.difference; i++)
        if (strcmp(all[i].row->name, builtin) == 0)
            TRY(judge_halves(c, &j, &s, &(struct call){&all[i], -1}, 1, false, &n, err));
    return verdict_of(c, &j, &n);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static bool has_closures(const struct signature *s)
{
    bool any = s->result == ASL_CLOSURE || s->result == ASL_STRING;
    for (unsigned k = 0; k < s->count; k++)
        any = any || s->arg[k].base == ASL_CLOSURE;
    return any;
}

/* Tame ones have as many texts as they have dimensions and results: all overloads, but one triple
 * stands for the others. Of the rest an overload with each string, in turn: the builtin's number
 * says which comes first. */
static bool is_asked(const struct signature *s, size_t overload, size_t count, size_t turn)
{
    if (!can_be_special(s))
        return !is_triple(s->result) || s->result == ASL_COLOR;
    return overload == turn % count;
}

static unsigned words_of(const struct signature *s)
{
    unsigned words = 1;
    for (unsigned k = 0; k < s->count; k++)
        if (signature_words(s, k))
            words = count_words(signature_words(s, k));
    return words;
}

/* The calls of builtins, tame: of those whose arguments are never special; plain: of those that need
 * no closures and no strings that are computed, as many devices have neither. */
static size_t list_calls(struct call *out, bool tame, bool plain)
{
    size_t count, n = 0, rows = 0;
    const struct signature *all = signatures_all(&count);
    for (size_t i = 0, next; i < count; i = next, rows++) {
        unsigned words = 1;
        for (next = i; next < count && all[next].row == all[i].row; next++) {
            const unsigned here = words_of(&all[next]);
            words = here > words ? here : words;
        }
        for (unsigned k = 0; k < words && shader_builtin_computes(all[i].row); k++)
            for (size_t o = i; o < next; o++) {
                const struct call call = {&all[o], (int)k};
                const bool again = !can_be_special(call.s) && k >= words_of(call.s);
                if (again || can_be_special(call.s) == tame ||
                    (has_closures(call.s) || needs_pick(&call)) == plain ||
                    !is_asked(call.s, o - i, next - i, rows + k))
                    continue;
                if (out)
                    out[n] = call;
                n++;
            }
    }
    return n;
}

/* What is done with one of a part's shaders. rows: at points in rows. */
typedef enum status with_calls(void *ctx, const struct call *calls, size_t count, bool rows,
                               struct error *err);

/* The shaders of a part, until *enough. */
static enum status each_of_part(struct arena *a, unsigned part, const char *enough,
                                with_calls *with, void *ctx, struct error *err)
{
    size_t shaders = 0;
    for (unsigned kind = 0; kind < 6 && !*enough; kind++) { /* the last two: in rows */
        const bool rows = kind > 3, tame = rows || kind & 1, plain = kind == 5 || kind & 2;
        const size_t count = list_calls(NULL, tame, plain);
        struct call *calls = ARENA_ARRAY(a, struct call, count + 1);
        if (!calls)
            return error_msg(err, STATUS_MEMORY, "out of memory for calls");
        (void)list_calls(calls, tame, plain);
        for (size_t at = 0; at < count && !*enough; at += CALLS, shaders++)
            if (shaders % SHADER_BUILTIN_PARTS == part)
                TRY(with(ctx, calls + at, count - at < CALLS ? count - at : CALLS, rows, err));
        /* a colour alone is written down in another way, a row at a time */
        for (size_t at = 0; at < count && rows && !*enough; at++)
            if (is_triple(calls[at].s->result)) {
                if (shaders++ % SHADER_BUILTIN_PARTS == part)
                    TRY(with(ctx, calls + at, 1, rows, err));
                break;
            }
    }
    return STATUS_OK;
}

struct judging_part {
    struct run_context *c;
    struct shader_setting s;
    struct builtin_judge j;
    struct builtin_count n;
};

static enum status judge_one(void *ctx, const struct call *calls, size_t count, bool rows,
                             struct error *err)
{
    struct judging_part *p = ctx;
    return judge_halves(p->c, &p->j, &p->s, calls, count, rows, &p->n, err);
}

enum status shader_builtins_case(struct run_context *c, unsigned part, struct error *err)
{
    struct judging_part p = {.c = c, .j = {.c = c}};
    TRY(shader_case_setting(c, &p.s, err));
    p.j.exact = strcmp(p.s.engine, "ir") == 0;
    p.s.level = 2;
    TRY(each_of_part(c->arena, part, p.j.difference, judge_one, &p, err));
    return verdict_of(c, &p.j, &p.n);
}

/* ---- other points ---------------------------------------------------------------------------- */

struct asking {
    uint64_t salt;
    shader_asked *asked;
    void *ctx;
};

static enum status ask_one(void *ctx, const struct call *calls, size_t count, bool rows,
                           struct error *err)
{
    const struct asking *k = ctx;
    struct arena a = {0};
    struct shader_file f;
    const char *alone[2];
    struct text text = {0};
    struct asl_globals *points = ARENA_ARRAY(&a, struct asl_globals, POINTS_MOST);
    enum status st = points ? STATUS_OK : error_msg(err, STATUS_MEMORY, "out of memory for points");
    write_shader_text(&text, calls, count, !rows);
    if (st == STATUS_OK)
        st = shader_file_read(&a, "builtin.asl", text.data, text.len, 0, &f, err);
    if (st == STATUS_OK)
        ask_colour_alone(&f, calls, count, rows, alone);
    if (st == STATUS_OK)
        st = k->asked(k->ctx, &f, points,
                      rows ? fill_rows(points, k->salt) : fill_points(calls[0].s, points, k->salt),
                      err);
    text_free(&text);
    arena_free(&a);
    return st;
}

enum status shader_builtins_elsewhere(struct arena *a, unsigned part, uint64_t salt,
                                      const char *enough, shader_asked *asked, void *ctx,
                                      struct error *err)
{
    struct asking k = {salt, asked, ctx};
    return each_of_part(a, part, enough, ask_one, &k, err);
}
