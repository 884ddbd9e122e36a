/* SPDX-License-Identifier: Apache-2.0 */
/* texture(), environment(), gettextureinfo(): texels, wraps, filters and levels against what
 * docs/reference/asl.md says, worked out here in other ways: tables, linear functions that filters
 * must reproduce, means. */
#include "shaders.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct world {
    struct arena arena;
    struct asl_image card, ramp, tall, set, squares, waves, parts, more[3], pages, paged[1];
    const struct asl_image *page_tiles[ASL_TILES];
    const struct asl_image *tiles[ASL_TILES];
    char said[512];
};

/* 4 x 2 RGBA: red is 10 row + column, green its negative, blue 0.5, alpha column / 4. */
static float card_texel(int x, int y, int c)
{
    const float v[4] = {(float)(10 * y + x), -(float)(10 * y + x), 0.5F, (float)x / 4};
    return v[c];
}

static const struct asl_image *find(void *ctx, const char *name)
{
    struct world *w = ctx;
    return strcmp(name, "card") == 0      ? &w->card
           : strcmp(name, "ramp") == 0    ? &w->ramp
           : strcmp(name, "tall") == 0    ? &w->tall
           : strcmp(name, "set") == 0     ? &w->set
           : strcmp(name, "squares") == 0 ? &w->squares
           : strcmp(name, "waves") == 0   ? &w->waves
           : strcmp(name, "parts") == 0   ? &w->parts
           : strcmp(name, "pages") == 0   ? &w->pages
                                          : NULL;
}

static void keep(void *ctx, enum asl_message kind, const char *to, const char *text)
{
    struct world *w = ctx;
    (void)kind, (void)to;
    strncat(w->said, text, sizeof w->said - strlen(w->said) - 2);
    strcat(w->said, "|");
}

static void image(struct world *w, struct asl_image *out, uint32_t width, uint32_t height,
                  uint32_t channels, float (*value)(int x, int y, int c))
{
    float *t = ARENA_ARRAY(&w->arena, float, (size_t)width *height *channels);
    for (uint32_t y = 0, at = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            for (uint32_t c = 0; c < channels; c++)
                t[at++] = value((int)x, (int)y, (int)c);
    assert_int_equal(asl_image_build(&w->arena, width, height, channels, t, out, NULL), STATUS_OK);
}

static float ramp_texel(int x, int y, int c)
{
    (void)c;
    return 3 * (float)x - 2 * (float)y;
}

static float tall_texel(int x, int y, int c)
{
    (void)c;
    return (float)((x * 7 + y * 13) % 11);
}

enum { SIDE = 256 }; /* of squares and waves */

/* x^2, y^2 and xy from the middle of the image: what a filter makes of them tells its variances. */
static float squares_texel(int x, int y, int c)
{
    const double dx = x + 0.5 - SIDE / 2, dy = y + 0.5 - SIDE / 2;
    return (float)(c == 0 ? dx * dx : c == 1 ? dy * dy : dx * dy);
}

/* A sum of waves that fit the image: lengths of 10 to 60 texels in several directions. */
static double waves_at(double x, double y)
{
    static const int k[][2] = {{4, 3}, {-7, 5}, {2, -11}, {13, 9}, {17, -16}, {0, 25}, {21, 2}};
    double sum = 0;
    for (size_t i = 0; i < sizeof k / sizeof *k; i++)
        sum += sin(2 * M_PI * (k[i][0] * x + k[i][1] * y) / SIDE + (double)i);
    return sum / 7;
}
static float waves_texel(int x, int y, int c)
{
    (void)c;
    return (float)waves_at(x + 0.5, y + 0.5);
}

/* Runs "out = code" at u, v with a step of du in x, and gives the four numbers of `out`. */
static void run(struct world *w, const char *code, float u, float v, float du, float out[4])
{
    char text[1024];
    struct arena a = {0};
    struct asl_diags diags = {0};
    const struct asl_program *p;
    struct asl_group *g;
    struct asl_context *c;
    struct error err = {0};
    snprintf(text, sizeof text,
             "shader s(output float out[4] = {0, 0, 0, 0}) { color c = 0; float f = 0; %s\n"
             "out[0] = c[0]; out[1] = c[1]; out[2] = c[2]; out[3] = f; }",
             code);
    if (asl_compile(&a, "t", text, strlen(text), NULL, &diags, &p, &err) != STATUS_OK)
        fail_msg("%s: %s", code, err.msg);
    assert_int_equal(asl_group_new(&a, "g", &g, &err), STATUS_OK);
    assert_int_equal(asl_group_layer(g, p, NULL, "l", NULL, &err), STATUS_OK);
    assert_int_equal(asl_group_finish(g, &err), STATUS_OK);
    const struct asl_context_options o = {.services = {.ctx = w, .message = keep, .image = find}};
    assert_int_equal(asl_context_new(g, &o, &c, &err), STATUS_OK);
    struct asl_globals at = {.u = {u, du, 0}, .v = {v, 0, 0}};
    at.I.v[0] = u, at.I.v[1] = v, at.I.v[2] = -1;
    w->said[0] = 0;
    assert_int_equal(asl_context_run(c, &at, &err), STATUS_OK);
    const union asl_slot *value = asl_context_value(c, "out", NULL, NULL);
    for (int i = 0; i < 4; i++)
        out[i] = value[i].f;
    asl_context_free(c);
    arena_free(&a);
}

static void expect(struct world *w, const char *code, float u, float v, float du,
                   const float want[4])
{
    float got[4];
    run(w, code, u, v, du, got);
    for (int i = 0; i < 4; i++)
        if (!(fabsf(got[i] - want[i]) <= 2e-6F * (1 + fabsf(want[i]))))
            fail_msg("%s at %g %g: number %d is %.9g, expected %.9g", code, (double)u, (double)v, i,
                     (double)got[i], (double)want[i]);
}

static void world_open(struct world *w)
{
    memset(w, 0, sizeof *w);
    image(w, &w->card, 4, 2, 4, card_texel);
    image(w, &w->ramp, 16, 16, 1, ramp_texel);
    image(w, &w->tall, 3, 7, 1, tall_texel);
    image(w, &w->squares, SIDE, SIDE, 3, squares_texel);
    image(w, &w->waves, SIDE, SIDE, 1, waves_texel);
    w->tiles[0] = &w->card; /* 1001 */
    w->tiles[32] = &w->ramp;
    w->tiles[99] = &w->tall;
    w->set = w->card;
    w->set.tiles = w->tiles;
}

static void test_sets(void **state)
{
    (void)state;
    struct world w;
    world_open(&w);
    static const struct {
        const char *one;
        float column, row;
    } tiles[] = {{"card", 0, 0}, {"ramp", 2, 3}, {"tall", 9, 9}};
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++) {
        char whole[200], part[200];
        float want[4], got[4];
        static const char form[] =
            "string said = \"x\"; c = texture(\"%s\", %g + u, %g + v, \"wrap\", \"mirror\", "
            "\"errormessage\", said, \"alpha\", f); f += Dx(c[0]) + strlen(said);";
        (void)snprintf(part, sizeof part, form, tiles[i].one, 0.0, 0.0);
        (void)snprintf(whole, sizeof whole, form, "set", (double)tiles[i].column,
                       (double)tiles[i].row);
        run(&w, part, 0.375F, 0.75F, 0.125F, want);
        run(&w, whole, 0.375F, 0.75F, 0.125F, got);
        assert_memory_equal(got, want, sizeof got);
    }
    /* where there is none, and beyond the set */
    static const float places[][2] = {{1, 0}, {-1, 0}, {10, 0}, {0, 10}, {0, -0.8F}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        expect(&w,
               "c = texture(\"set\", u, v, \"missingcolor\", color(1, 2, 3), \"alpha\", f, "
               "\"missingalpha\", 4);",
               places[i][0] + 0.5F, places[i][1] + 0.5F, 0, (float[]){1, 2, 3, 4});
    expect(&w,
           "int n[2]; f = gettextureinfo(\"set\", \"resolution\", n); c = color(n[0], n[1], 0);", 0,
           0, 0, (float[]){4, 2, 0, 1});
    assert_string_equal(w.said, "");
    arena_free(&w.arena);
}

static void test_texels(void **state)
{
    (void)state;
    struct world w;
    world_open(&w);
    for (int y = 0; y < 2; y++)
        for (int x = 0; x < 4; x++) {
            const float want[4] = {card_texel(x, y, 0), card_texel(x, y, 1), 0.5F,
                                   card_texel(x, y, 3)};
            float u = ((float)x + 0.5F) / 4, v = ((float)y + 0.5F) / 2; /* the first row is v = 0 */
            expect(&w, "c = texture(\"card\", u, v, \"interp\", \"linear\", \"alpha\", f);", u, v,
                   0, want);
            expect(&w, "c = texture(\"card\", u, v, \"alpha\", f, \"interp\", \"closest\");",
                   u + 0.1F, v - 0.2F, 0, want);
        }
    assert_string_equal(w.said, "");
    /* floats, channels, one channel for three, channels that are not there */
    expect(&w, "f = texture(\"card\", u, v, \"firstchannel\", 1, \"interp\", \"linear\");", 0.125F,
           0.75F, 0, (float[]){0, 0, 0, -10});
    expect(&w, "c = texture(\"ramp\", u, v, \"interp\", \"closest\");", 0.03F, 0.97F, 0,
           (float[]){-30, -30, -30, 0});
    expect(&w,
           "c = texture(\"card\", u, v, \"firstchannel\", 2, \"fill\", 7, \"interp\", "
           "\"closest\");",
           0.3F, 0.2F, 0, (float[]){0.5F, 0.25F, 7, 0});
    /* alpha is the third channel after the first one: that is not there any more */
    expect(&w,
           "c = texture(\"card\", u, v, \"firstchannel\", 2, \"fill\", 7, \"interp\", "
           "\"closest\", \"alpha\", f);",
           0.3F, 0.2F, 0, (float[]){0.5F, 0.25F, 7, 1});
    expect(&w, "c = texture(\"card\", u, v, \"interp\", \"closest\", \"alpha\", f);", 0.3F, 0.2F, 0,
           (float[]){1, -1, 0.5F, 0.25F});
    arena_free(&w.arena);
}

static void test_wraps(void **state)
{
    (void)state;
    struct world w;
    world_open(&w);
    static const struct {
        const char *wrap;
        float red[12]; /* columns -4 .. 7 */
    } rows[] = {{"black", {0, 0, 0, 0, 0, 1, 2, 3, 0, 0, 0, 0}},
                {"default", {0, 0, 0, 0, 0, 1, 2, 3, 0, 0, 0, 0}},
                {"clamp", {0, 0, 0, 0, 0, 1, 2, 3, 3, 3, 3, 3}},
                {"periodic", {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3}},
                {"mirror", {3, 2, 1, 0, 0, 1, 2, 3, 3, 2, 1, 0}}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int x = -4; x < 8; x++) {
            char code[256];
            float got[4];
            snprintf(code, sizeof code,
                     "c = texture(\"card\", u, v, \"swrap\", \"%s\", \"interp\", \"closest\");",
                     rows[i].wrap);
            run(&w, code, ((float)x + 0.5F) / 4, 0.25F, 0, got);
            if (got[0] != rows[i].red[x + 4])
                fail_msg("%s, column %d: %g", rows[i].wrap, x, (double)got[0]);
        }
    /* half a texel beyond the edge: half of the edge's, half black */
    expect(&w, "f = texture(\"card\", u, v, \"interp\", \"linear\");", 1, 0.25F, 0,
           (float[]){0, 0, 0, 1.5F});
    expect(&w, "f = texture(\"card\", u, v, \"interp\", \"linear\", \"wrap\", \"periodic\");",
           1e30F, 0.25F, 0, (float[]){0, 0, 0, 1.5F}); /* too far away: column 0, from its edge */
    arena_free(&w.arena);
}

/* Linear and cubic filters reproduce linear functions, at every place and on every level. */
static void test_filters(void **state)
{
    (void)state;
    struct world w;
    world_open(&w);
    static const char *const names[] = {"linear", "cubic", "smartcubic"};
    for (size_t i = 0; i < 3; i++)
        for (int k = 0; k < 12; k++) {
            char code[256];
            float u = 0.3F + 0.03F * (float)k, v = 0.7F - 0.02F * (float)k, got[4];
            float want = 3 * (16 * u - 0.5F) - 2 * (16 * v - 0.5F);
            for (int level = 0; level < 2; level++) { /* a footprint of 1 or 2 texels */
                snprintf(code, sizeof code,
                         "f = texture(\"ramp\", u, v, \"interp\", \"%s\", \"wrap\", \"clamp\");",
                         names[i]);
                run(&w, code, u, v, (float)(1 << level) / 16, got);
                assert_true(fabsf(got[3] - want) <= 1e-5F);
            }
            /* as three halves: between levels 0 and 1 */
            run(&w, "f = texture(\"ramp\", u, v, \"blur\", 1.5 / 16, \"wrap\", \"clamp\");", u, v,
                0, got);
            assert_true(fabsf(got[3] - want) <= 1e-5F);
        }
    arena_free(&w.arena);
}

/* A footprint of the whole image sees its mean; of 3 x 7, the mean of the last level's chain. */
static void test_levels(void **state)
{
    (void)state;
    struct world w;
    world_open(&w);
    double mean = 0;
    for (int y = 0; y < 16; y++)
        for (int x = 0; x < 16; x++)
            mean += (double)ramp_texel(x, y, 0) / 256;
    expect(&w, "f = texture(\"ramp\", u, v, \"wrap\", \"periodic\");", 0.1F, 0.2F, 2,
           (float[]){0, 0, 0, (float)mean});
    expect(&w, "f = texture(\"ramp\", u, v, 1, 0, 0, 0, \"wrap\", \"clamp\");", 0.1F, 0.2F, 0,
           (float[]){0, 0, 0, (float)mean});
    expect(&w, "f = texture(\"ramp\", u, v, \"width\", 0, \"interp\", \"closest\");", 0.1F, 0.2F, 9,
           (float[]){0, 0, 0, ramp_texel(1, 3, 0)});
    /* half of the 4 x 2 card along s is two texels, along t one: levels 1 and 0 */
    expect(&w, "f = texture(\"card\", u, v, 0.5, 0, 0, 0, \"wrap\", \"clamp\");", 0.125F, 0.25F, 0,
           (float[]){0, 0, 0, (0 + 1 + 10 + 11) / 4.0F});
    expect(&w, "f = texture(\"card\", u, v, 0, 0.5, 0, 0, \"wrap\", \"clamp\");", 0.125F, 0.25F, 0,
           (float[]){0, 0, 0, 0});
    expect(&w, "f = texture(\"card\", u, v, 0, 0, 0, 0.5, \"wrap\", \"clamp\");", 0.125F, 0.25F, 0,
           (float[]){0, 0, 0, 0});
    assert_int_equal(w.tall.level_count, 3); /* 3 x 7, 1 x 3, 1 x 1 */
    assert_int_equal(w.tall.levels[1].height, 3);
    /* row 1 of 1 x 3 covers rows 2 to 4 of 7 */
    double sum = 0;
    for (int y = 2; y < 5; y++)
        for (int x = 0; x < 3; x++)
            sum += (double)tall_texel(x, y, 0);
    assert_true(fabs((double)w.tall.levels[1].texels[1] - sum / 9) < 1e-6);
    arena_free(&w.arena);
}

/* Dx() of lookups: of linear functions their slope, whatever the filter and level; of any image the
 * limit of differences. */
static void test_changes(void **state)
{
    (void)state;
    struct world w;
    world_open(&w);
    static const char *const names[] = {"linear", "cubic", "smartcubic"};
    char code[256];
    for (size_t i = 0; i < 3; i++)
        for (int level = 0; level < 2; level++) {
            float du = (float)(1 << level) / 16, x = 3 * 16 * du, y = -2 * 16 * du;
            snprintf(code, sizeof code,
                     "c = texture(\"ramp\", u, v, \"interp\", \"%s\", \"wrap\", \"clamp\"); "
                     "c = Dx(c); f = Dx(texture(\"ramp\", v, u, \"wrap\", \"clamp\"));",
                     names[i]);
            expect(&w, code, 0.4F, 0.55F, du, (float[]){x, x, x, y});
        }
    /* between levels 0 and 1; the changes that are given */
    expect(&w,
           "f = Dx(texture(\"ramp\", u, v, \"wrap\", \"clamp\", \"blur\", 0.5 / 16)); c[0] = "
           "Dx(texture(\"ramp\", 0.4, 0.4, 0.125, 0.25, 0.5, 0, \"width\", 0.1)); c[1] = "
           "Dy(texture(\"ramp\", 0.4, 0.4, 0.125, 0.25, 0.5, 0, \"width\", 0.1));",
           0.4F, 0.55F, 1.0F / 16, (float[]){48 * 0.125F - 32 * 0.25F, 24, 0, 3});
    /* alpha has its own: a quarter a column; what does not vary, nearest texels, no image */
    expect(&w,
           "float a; c = texture(\"card\", u, 0.5, \"interp\", \"linear\", \"alpha\", a, "
           "\"width\", 0); c = Dx(c); f = Dx(a);",
           0.5F, 0, 0.01F, (float[]){0.04F, -0.04F, 0, 0.01F});
    expect(&w,
           "float a; c = texture(\"none\", u, v, \"alpha\", a, \"missingcolor\", color(1)); f = "
           "Dx(a) + Dx(texture(\"ramp\", v, v)); c = Dx(c) + Dx((color) texture(\"card\", u, v, "
           "\"interp\", \"closest\"));",
           0.5F, 0.5F, 0.01F, (float[]){0, 0, 0, 0});
    /* third derivatives of the spline are below 10 * 8 * 7^3, so that a quotient of differences is
     * off by less than h^2/6 of that, and by two roundings of 2^-24 * 10 over 2h */
    const float h = 0x1p-9F, tolerance = h * h / 6 * 80 * 343 + 0x1p-23F * 10 / (2 * h);
    for (int turned = 0; turned < 2; turned++)
        for (int k = 0; k < 24; k++) {
            float u = 0.02F + 0.04F * (float)k, v = 0.97F - 0.035F * (float)k, a[4], b[4], got[4];
            const char *at = turned ? "v, u" : "u, v";
            snprintf(code, sizeof code,
                     "f = texture(\"tall\", %s, \"wrap\", \"mirror\", \"width\", 0);", at);
            run(&w, code, u - h, v, 1, a);
            run(&w, code, u + h, v, 1, b);
            snprintf(code, sizeof code,
                     "f = Dx(texture(\"tall\", %s, \"wrap\", \"mirror\", \"width\", 0));", at);
            run(&w, code, u, v, 1, got);
            if (!(fabsf(got[3] - (b[3] - a[3]) / (2 * h)) <= tolerance))
                fail_msg("Dx at %g %g: %g, differences give %g", (double)u, (double)v,
                         (double)got[3], (double)((b[3] - a[3]) / (2 * h)));
        }
    arena_free(&w.arena);
}

/* ---- long footprints ------------------------------------------------------------------------ */

/* The changes of (s, t) in x and in y whose ellipse has these diameters, in texels, and the longer
 * one's direction; `spin` moves the two vectors along the ellipse. */
static void ellipse(double longer, double shorter, double turn, double spin, double J[4])
{
    const double a = longer / SIDE, b = shorter / SIDE, c = cos(turn), s = sin(turn);
    for (int k = 0; k < 2; k++) {
        const double p = cos(spin + k * M_PI / 2), q = sin(spin + k * M_PI / 2);
        J[2 * k] = a * p * c - b * q * s;
        J[2 * k + 1] = a * p * s + b * q * c;
    }
}

static void look_long(struct world *w, const char *image, double s, double t, const double J[4],
                      const char *pairs, float out[4])
{
    char code[512];
    (void)snprintf(code, sizeof code,
                   "c = texture(\"%s\", u, v, %.9g, %.9g, %.9g, %.9g, \"wrap\", \"periodic\"%s); f "
                   "= c[0];",
                   image, J[0], J[1], J[2], J[3], pairs);
    run(w, code, (float)s, (float)t, 0, out);
}

/* The places along the longer axis have the variance that it lacks: (longer^2 - shorter^2)/4. What is
 * read at a place adds, for squares alone, its own: linear between texels at most 1/4, each level
 * above (4^l - 1)/12 and at most 4^l/4. */
static void test_variance(void **state)
{
    static const struct {
        double longer, shorter;
        int level;
    } rows[] = {{3, 1, 0},  {9, 0.5, 0}, {20, 1, 0},  {30.5, 1, 0}, {1.01, 1, 0},
                {12, 2, 1}, {40, 2, 1},  {1.9, 0, 0}, {28, 4, 2}};
    (void)state;
    struct world w;
    world_open(&w);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int k = 0; k < 24; k++) {
            const double turn = 0.13 + k * M_PI / 12, c = cos(turn), s = sin(turn);
            const double shorter = rows[i].shorter < 1 ? 1 : rows[i].shorter;
            const double want = (rows[i].longer * rows[i].longer - shorter * shorter) / 4;
            const double four = pow(4, rows[i].level), least = (four - 1) / 12, most = four / 4;
            double J[4];
            float got[4];
            ellipse(rows[i].longer, rows[i].shorter, turn, 0.4 * k, J);
            look_long(&w, "squares", 0.5, 0.5, J, ", \"anisotropic\", 48", got);
            const double slack = 1e-4 * (1 + want);
            const double x = (double)got[0] - want * c * c, y = (double)got[1] - want * s * s;
            if (!(x >= least - slack && x <= least + most + slack && y >= least - slack &&
                  y <= least + most + slack && fabs((double)got[2] - want * c * s) <= slack))
                fail_msg("%g x %g, turned %g: variances %g %g %g, wanted %g %g %g", rows[i].longer,
                         rows[i].shorter, turn, (double)got[0], (double)got[1], (double)got[2],
                         want * c * c, want * s * s, want * c * s);
        }
    arena_free(&w.arena);
}

/* The mean of the waves about (x, y), weighted as a pixel's Gaussian, exp(-2 r^2), is where the
 * changes J carry it: a sum over the pixel's plane, of 60 x 60 places up to 2.5 pixels away. */
static double footprint_mean(double x, double y, const double J[4])
{
    double sum = 0, total = 0;
    for (int j = 0; j < 60; j++)
        for (int i = 0; i < 60; i++) {
            const double p = (i + 0.5) / 12 - 2.5, q = (j + 0.5) / 12 - 2.5;
            const double weight = exp(-2 * (p * p + q * q));
            sum += weight *
                   waves_at(x + SIDE * (J[0] * p + J[2] * q), y + SIDE * (J[1] * p + J[3] * q));
            total += weight;
        }
    return sum / total;
}

/* Against that mean: the error's root mean square over places, footprints and directions is a
 * fifteenth of the contrast (whose root mean square is 0.27), and less than a fifth of what one round
 * place has. */
static void test_footprints(void **state)
{
    static const double sizes[][2] = {{6, 1}, {16, 2}, {24, 1}, {9, 2}, {32, 4}};
    (void)state;
    struct world w;
    world_open(&w);
    double square[2] = {0, 0};
    int count = 0;
    for (int k = 0; k < 120; k++, count++) {
        const double *size = sizes[k % 5], x = (k * 37) % SIDE + 0.3, y = (k * 91) % SIDE + 0.8;
        double J[4];
        ellipse(size[0], size[1], 0.61 * k, 0.27 * k, J);
        const double want = footprint_mean(x, y, J);
        for (int round = 0; round < 2; round++) {
            float got[4];
            look_long(&w, "waves", x / SIDE, y / SIDE, J,
                      round ? ", \"anisotropic\", 1" : ", \"anisotropic\", 32", got);
            square[round] += pow((double)got[3] - want, 2);
        }
    }
    const double longer = sqrt(square[0] / count), rounded = sqrt(square[1] / count);
    print_message("rms error along the axis %.4f, of one place %.4f\n", longer, rounded);
    assert_true(longer < 0.018);
    assert_true(longer < rounded / 5);
    arena_free(&w.arena);
}

/* What has no long footprint is looked up as with "anisotropic" 1, bit for bit. */
static void test_no_long_footprint(void **state)
{
    static const double none[][4] = {{0, 0, 0, 0},                   /* nothing changes */
                                     {0.5 / SIDE, 0, 0, 0.1 / SIDE}, /* within a texel */
                                     {0.7 / SIDE, 0.7 / SIDE, 0, 0}, /* the same, along a line */
                                     {1e30, 0, 0, 1e-30},            /* beyond all images */
                                     {3e38, 3e38, 3e38, 3e38},       /* beyond all numbers */
                                     {(double)NAN, 0.1, 0, 0.1},     /* none */
                                     {(double)INFINITY, 0, 0, 0}};
    static const char *const ways[] = {"anisotropic\", 0", "anisotropic\", -5",
                                       "anisotropic\", 32, \"interp\", \"closest"};
    const double J[4] = {0.1, 0, 0, 0.01};
    (void)state;
    struct world w;
    world_open(&w);
    float one[4], got[4];
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        char code[2][512];
        for (int k = 0; k < 2; k++)
            (void)snprintf(code[k], sizeof *code,
                           "float huge = 3e38 * (1 + u), d[4] = {%.9g, %.9g, %.9g, %.9g}; if (%d) "
                           "d[0] = huge * 10 %s; c = texture(\"waves\", u, v, d[0], d[1], d[2], "
                           "d[3], \"wrap\", \"mirror\", \"anisotropic\", %d, \"alpha\", f);",
                           isfinite(none[i][0]) ? none[i][0] : 0.0, none[i][1], none[i][2],
                           none[i][3], !isfinite(none[i][0]), isnan(none[i][0]) ? "* 0" : "",
                           k ? 32 : 1);
        run(&w, code[0], 0.37F, 0.61F, 0, one);
        run(&w, code[1], 0.37F, 0.61F, 0, got);
        assert_memory_equal(got, one, sizeof got);
        assert_true(isfinite(got[0]));
    }
    for (size_t i = 0; i < 3; i++) {
        char pairs[128];
        (void)snprintf(pairs, sizeof pairs, ", \"%s%s", ways[i], i == 2 ? "\"" : "");
        look_long(&w, "waves", 0.37, 0.61, J,
                  i == 2 ? ", \"interp\", \"closest\", \"anisotropic\", 1" : ", \"anisotropic\", 1",
                  one);
        look_long(&w, "waves", 0.37, 0.61, J, pairs, got);
        assert_memory_equal(got, one, sizeof got);
    }
    /* a round footprint has one place, and the level of its side */
    look_long(&w, "waves", 0.37, 0.61, (double[]){8.0 / SIDE, 0, 0, 8.0 / SIDE},
              ", \"anisotropic\", 32", got);
    look_long(&w, "waves", 0.37, 0.61, (double[]){8.0 / SIDE, 0, 0, 8.0 / SIDE},
              ", \"anisotropic\", 1", one);
    assert_memory_equal(got, one, sizeof got);
    arena_free(&w.arena);
}

/* A footprint longer than it may be is made wider; an edge and a blur have two sides. */
static void test_long_limits(void **state)
{
    (void)state;
    struct world w;
    world_open(&w);
    static const struct {
        double longer, shorter, other; /* the same as with `other` for the shorter */
        const char *pairs;
    } rows[] = {{32, 1, 8, ", \"anisotropic\", 4"},
                {32, 0, 16, ", \"anisotropic\", 2"},
                {128, 0, 2, ", \"anisotropic\", 1000"}, /* at most 64 */
                {64, 0, 2, ", \"anisotropic\", 32"}};
    float a[4], b[4];
    double J[4];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int k = 0; k < 2; k++) { /* along s, along t */
            ellipse(rows[i].longer, rows[i].shorter, 0, 0, J);
            const double thin[4] = {k ? 0 : J[0], k ? J[0] : 0, k ? J[3] : 0, k ? 0 : J[3]};
            ellipse(rows[i].longer, rows[i].other, 0, 0, J);
            const double wide[4] = {k ? 0 : J[0], k ? J[0] : 0, k ? J[3] : 0, k ? 0 : J[3]};
            look_long(&w, "waves", 0.37, 0.61, thin, rows[i].pairs, a);
            look_long(&w, "waves", 0.37, 0.61, wide, ", \"anisotropic\", 64", b);
            assert_true(fabsf(a[3] - b[3]) < 4e-6F);
        }
    /* factors, and a blur beside nothing, are changes as well */
    look_long(&w, "waves", 0.37, 0.61, (double[]){4.0 / SIDE, 0, 0, 1.0 / SIDE},
              ", \"anisotropic\", 32, \"swidth\", 2, \"twidth\", 3", a);
    look_long(&w, "waves", 0.37, 0.61, (double[]){8.0 / SIDE, 0, 0, 3.0 / SIDE},
              ", \"anisotropic\", 32", b);
    assert_true(fabsf(a[3] - b[3]) < 4e-6F);
    look_long(&w, "waves", 0.37, 0.61, (double[]){0, 0, 0, 0},
              ", \"anisotropic\", 32, \"sblur\", 8.0 / 256, \"tblur\", 2.0 / 256", a);
    look_long(&w, "waves", 0.37, 0.61, (double[]){8.0 / SIDE, 0, 0, 2.0 / SIDE},
              ", \"anisotropic\", 32", b);
    assert_true(fabsf(a[3] - b[3]) < 4e-6F);
    look_long(&w, "waves", 0.37, 0.61, (double[]){3.0 / SIDE, 0, 0, 0},
              ", \"anisotropic\", 32, \"blur\", 4.0 / 256", a); /* 3, 4, 5 */
    look_long(&w, "waves", 0.37, 0.61, (double[]){5.0 / SIDE, 0, 0, 4.0 / SIDE},
              ", \"anisotropic\", 32", b);
    assert_true(fabsf(a[3] - b[3]) < 4e-6F);
    arena_free(&w.arena);
}

/* Dx() is the limit of differences, the footprint being what it is. */
static void test_long_changes(void **state)
{
    const float h = 0x1p-12F;
    (void)state;
    struct world w;
    world_open(&w);
    for (int k = 0; k < 40; k++) {
        double J[4];
        char code[512];
        float a[4], b[4], got[4];
        const float u = 0.02F + 0.024F * (float)k, v = 0.97F - 0.021F * (float)k;
        ellipse(k % 2 ? 21 : 12, k % 3 ? 2 : 0.4, 0.3 * k, 0.2 * k, J);
        look_long(&w, "waves", (double)(u - h), (double)v, J, ", \"anisotropic\", 32", a);
        look_long(&w, "waves", (double)(u + h), (double)v, J, ", \"anisotropic\", 32", b);
        /* with changes that are given, Dx is S_s*dsdx + S_t*dtdx: t stands still in these */
        (void)snprintf(code, sizeof code,
                       "float x = texture(\"waves\", u, v, %.9g, %.9g, %.9g, %.9g, \"wrap\", "
                       "\"periodic\", \"anisotropic\", 32); f = Dx(x) * %.9g - Dy(x) * %.9g;",
                       J[0], J[1], J[2], J[3], J[3], J[1]);
        run(&w, code, u, v, 0, got);
        const double area = J[0] * J[3] - J[1] * J[2];
        const double slope = (double)got[3] / area, want = (double)(b[3] - a[3]) / (2 * (double)h);
        /* linear filters have edges where a texel's middle is passed: few places in many */
        if (!(fabs(slope - want) <= 1.5 + 0.05 * fabs(want)))
            fail_msg("at %g %g: %g, differences give %g", (double)u, (double)v, slope, want);
    }
    arena_free(&w.arena);
}

static void test_missing(void **state)
{
    (void)state;
    struct world w;
    world_open(&w);
    expect(&w, "c = texture(\"none\", u, v, \"alpha\", f); c = c + texture(\"none\", u, v);", 0, 0,
           0, (float[]){0, 0, 0, 0});
    assert_string_equal(w.said, "texture: there is no image \"none\"|");
    expect(&w,
           "c = texture(\"none\", u, v, \"missingcolor\", color(1, 2, 3), \"missingalpha\", "
           "0.25, \"alpha\", f);",
           0, 0, 0, (float[]){1, 2, 3, 0.25F});
    assert_string_equal(w.said, ""); /* who says what a missing image is has no error */
    expect(&w, "c = texture(\"none\", u, v, \"missingalpha\", 1);", 0, 0, 0, (float[]){0, 0, 0, 0});
    assert_string_equal(w.said, "");
    /* who asks for the message is told, and nothing is reported */
    expect(&w,
           "string s = \"x\", t = s; c = texture(\"none\", u, v, \"errormessage\", s) + "
           "texture(\"card\", u, v, \"errormessage\", t); c = color(s == \"there is no such "
           "image\", t "
           "== \"\", 0);",
           0, 0, 0, (float[]){1, 1, 0, 0});
    assert_string_equal(w.said, "");
    arena_free(&w.arena);
}

static void test_facts(void **state)
{
    (void)state;
    struct world w;
    world_open(&w);
    expect(&w,
           "int r[2]; int ok = gettextureinfo(\"card\", \"resolution\", r); int n; ok += "
           "gettextureinfo(\"card\", \"channels\", n); c = color(r[0], r[1], n); f = ok;",
           0, 0, 0, (float[]){4, 2, 4, 2});
    expect(&w,
           "int e = 5; int ok = gettextureinfo(\"none\", \"exists\", e); string t; int no = "
           "gettextureinfo(\"none\", \"type\", t) + gettextureinfo(\"card\", \"weight\", e); c = "
           "color(e, ok, no); ok = gettextureinfo(\"card\", \"type\", t); f = t == \"Plain "
           "Texture\";",
           0, 0, 0, (float[]){0, 1, 0, 1});
    /* means: of the card's columns 0..3 and rows 0, 10; of one channel, which has no alpha */
    expect(&w,
           "int ok = gettextureinfo(\"card\", \"averagecolor\", c) + gettextureinfo(\"card\", "
           "\"averagealpha\", f); float a[3]; color d = c; ok += gettextureinfo(\"ramp\", "
           "\"averagecolor\", a) + 2 * gettextureinfo(\"none\", \"averagecolor\", d); string t; if "
           "(d == c && a[2] == 7.5 && gettextureinfo(\"ramp\", \"texturetype\", t)) c[2] += ok;",
           0, 0, 0, (float[]){6.5F, -6.5F, 3.5F, 0.375F});
    assert_string_equal(w.said, "");
    arena_free(&w.arena);
}

static float sky_texel(int x, int y, int c) { return c == 0 ? (float)x : (float)y; }

/* The middle column is +z, a quarter is +x; the middle row the horizon. */
static void test_environment(void **state)
{
    (void)state;
    struct world w;
    world_open(&w);
    image(&w, &w.card, 8, 4, 3, sky_texel);
    const char *look = "vector d = 0; if (u > 0.5) d = vector(1, 0, 0); else if (u < -0.5) d = "
                       "vector(0, -3, 0); else d = vector(0, 0, 2); c = environment(\"card\", d, "
                       "\"interp\", \"linear\");";
    expect(&w, look, 0, 0, 0, (float[]){3.5F, 1.5F, 1.5F, 0}); /* +z: between columns 3 and 4 */
    expect(&w, look, 1, 0, 0, (float[]){1.5F, 1.5F, 1.5F, 0}); /* +x */
    float down[4];
    run(&w, look, -1, 0, 0, down);
    assert_true(down[1] == 3); /* the last row, clamped */
    arena_free(&w.arena);
}

/* Names and values that are known at run time alone: what is none is reported, and left out; what
 * has no effect on an environment is not looked at. */
static void test_pairs(void **state)
{
    static const struct {
        const char *call, *said;
    } rows[] = {
        {"texture(\"card\", u, v, \"wrap\", w)", "texture: \"wrap\" has no value \"repeat\"|"},
        {"texture(\"card\", u, v, \"interp\", w, \"twrap\", w)",
         "texture: \"interp\" has no value \"repeat\"|texture: \"twrap\" has no value "
         "\"repeat\"|"},
        {"texture(\"card\", u, v, w, 1)", "texture: there is no option \"repeat\"|"},
        {"environment(\"card\", I, w, w)", "environment: there is no option \"repeat\"|"},
        {"environment(\"card\", I, swrap, w, time, 1)", ""},
        {"texture(\"card\", u, v, swrap, 1)", "texture: \"swrap\" takes a string, not int|"},
        {"texture(\"card\", u, v, time, 1, empty, 2, swrap, \"clamp\")", ""},
        {"texture(\"card\", u, v, alpha, f)",
         "texture: \"alpha\" writes only where its name is a literal|"},
        {"texture(\"card\", u, v, \"subimage\", empty)", ""},
        {"texture(\"card\", u, v, \"subimage\", w)",
         "texture: the image \"card\" has no such subimage \"repeat\": its file has 1|"},
        {"texture(\"card\", u, v, \"subimage\", 1 + int(u))",
         "texture: the image \"card\" has no such subimage: its file has 1|"},
        {"texture(\"card\", u, v, \"subimage\", int(u), \"anisotropic\", int(u))", ""},
        {"texture(\"card\", u, v, anisotropic, 1.5)",
         "texture: \"anisotropic\" takes a int, not float|"},
        {"environment(\"card\", I, \"subimage\", int(u) - 1)",
         "environment: the image \"card\" has no such subimage: its file has 1|"},
        {"environment(\"card\", I, anisotropic, 1.5)",
         "environment: \"anisotropic\" takes a int, not float|"},
        {"texture(\"none\", u, v, \"wrap\", w)",
         "texture: \"wrap\" has no value \"repeat\"|texture: there is no image \"none\"|"},
        {"texture(\"none\", u, v, \"wrap\", w, \"missingalpha\", 1)",
         "texture: \"wrap\" has no value \"repeat\"|"},
    };
    (void)state;
    struct world w;
    world_open(&w);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char code[512];
        float got[4];
        snprintf(code, sizeof code,
                 "string w = \"repeat\", swrap = \"swrap\", time = \"time\", empty = \"\", alpha = "
                 "\"alpha\", anisotropic = \"anisotropic\"; f = 7; c = %s;",
                 rows[k].call);
        run(&w, code, 0.5F, 0.5F, 0, got);
        assert_string_equal(w.said, rows[k].said);
        assert_true(got[3] == 7); /* nothing is written */
    }
    /* an unknown wrap is black, whose outside is `fill`; an unknown option changes nothing */
    expect(&w,
           "string w = \"repeat\"; c = texture(\"card\", u, v, \"wrap\", w, w, 3, \"fill\", 5);", 9,
           9, 0, (float[]){5, 5, 5, 0});
    assert_string_equal(w.said, "texture: \"wrap\" has no value \"repeat\"|texture: there is no "
                                "option \"repeat\"|");
    arena_free(&w.arena);
}

static float ten(int x, int y, int c) { return (float)(10 + c + 0 * (x + y)); }
static float twenty(int x, int y, int c) { return (float)(20 + c + 0 * (x + y)); }

/* A file "parts" of four subimages of other sizes and channels: tens stand for the first, twenties
 * for number 1, "left"; 2 is the card, "card"; 3 cannot be read. A set "pages": tile 1001 is that
 * file, 1002 has two subimages, twenties and tens. */
static void subimages_make(struct world *w)
{
    image(w, &w->parts, 9, 7, 3, ten);
    image(w, &w->more[0], 8, 11, 1, twenty);
    image(w, &w->more[1], 4, 2, 4, card_texel);
    w->more[0].subimage_name = "left";
    w->more[1].subimage_name = "card";
    w->more[2].subimage_name = "broken";
    w->parts.subimage_count = 4;
    w->parts.more = w->more;
    w->parts.subimage_name = "first";
    static struct asl_image other;
    image(w, &other, 9, 9, 3, twenty);
    image(w, &w->paged[0], 9, 9, 3, ten);
    w->paged[0].subimage_name = "left too";
    other.subimage_count = 2;
    other.more = w->paged;
    w->page_tiles[0] = &w->parts;
    w->page_tiles[1] = &other;
    w->pages = w->parts;
    w->pages.more = NULL;
    w->pages.tiles = w->page_tiles;
}

static void test_subimages(void **state)
{
#define NO_SUCH(image, name, has)                                                                  \
    "texture: the image \"" image "\" has no such subimage" name ": " has "|"
    static const struct {
        const char *call;
        float u, want[4];
        const char *said;
    } rows[] = {
        {"texture(\"parts\", u, v, \"alpha\", f)", 0.5F, {10, 11, 12, 1}, ""},
        {"texture(\"parts\", u, v, \"subimage\", 1, \"alpha\", f)", 0.5F, {20, 20, 20, 1}, ""},
        {"texture(\"parts\", u, v, \"subimage\", int(4 * u), \"interp\", \"closest\", \"alpha\", "
         "f)",
         0.5F,
         {12, -12, 0.5F, 0.5F},
         ""},
        {"texture(\"parts\", u, v, \"subimage\", \"left\", \"subimage\", \"card\", \"interp\", "
         "\"closest\", \"alpha\", f)",
         0.5F,
         {12, -12, 0.5F, 0.5F},
         ""},
        {"texture(\"parts\", u, v, \"subimage\", \"card\", \"subimage\", 1)",
         0.5F,
         {20, 20, 20, 0},
         ""},
        {"texture(\"parts\", u, v, \"subimage\", name)", 0.5F, {20, 20, 20, 0}, ""},
        {"texture(\"parts\", u, v, \"subimage\", \"first\")", 0.5F, {10, 11, 12, 0}, ""},
        {"texture(\"parts\", u, v, \"subimage\", 1, \"subimage\", \"\")",
         0.5F,
         {10, 11, 12, 0},
         ""},
        /* none, and one that cannot be read */
        {"texture(\"parts\", u, v, \"subimage\", 4, \"alpha\", f)",
         0.5F,
         {0, 0, 0, 0},
         NO_SUCH("parts", "", "its file has 4")},
        {"texture(\"parts\", u, v, \"subimage\", 3)",
         0.5F,
         {0, 0, 0, 0},
         NO_SUCH("parts", "", "its file has 4")},
        {"texture(\"parts\", u, v, \"subimage\", int(u) - 1)",
         0.5F,
         {0, 0, 0, 0},
         NO_SUCH("parts", "", "its file has 4")},
        {"texture(\"parts\", u, v, \"subimage\", \"right\")",
         0.5F,
         {0, 0, 0, 0},
         NO_SUCH("parts", " \"right\"", "its file has 4")},
        {"texture(\"parts\", u, v, \"subimage\", 9, \"missingcolor\", color(3, 4, 5), "
         "\"missingalpha\", 6, \"alpha\", f)",
         0.5F,
         {3, 4, 5, 6},
         ""},
        {"texture(\"parts\", u, v, \"subimage\", 9, \"errormessage\", name); f = strlen(name)",
         0.5F,
         {0, 0, 0, 22},
         ""},
        /* sets: the first image's names; what one image lacks and another has is not reported */
        {"texture(\"pages\", u, v, \"subimage\", 1)", 0.5F, {20, 20, 20, 0}, ""},
        {"texture(\"pages\", u, v, \"subimage\", 1)", 1.5F, {10, 11, 12, 0}, ""},
        {"texture(\"pages\", u, v, \"subimage\", \"left\")", 1.5F, {10, 11, 12, 0}, ""},
        {"texture(\"pages\", u, v, \"subimage\", 2, \"missingcolor\", color(3, 4, 5))",
         1.5F,
         {3, 4, 5, 0},
         ""},
        {"texture(\"pages\", u, v, \"subimage\", 2)", 1.5F, {0, 0, 0, 0}, ""},
        {"texture(\"pages\", u, v, \"subimage\", 7)",
         1.5F,
         {0, 0, 0, 0},
         NO_SUCH("pages", "", "its files have at most 4")},
        {"texture(\"pages\", u, v, \"subimage\", \"left too\")",
         1.5F,
         {0, 0, 0, 0},
         NO_SUCH("pages", " \"left too\"", "its files have at most 4")},
        {"environment(\"parts\", vector(0, 0, -1), \"subimage\", \"left\")",
         0.5F,
         {20, 20, 20, 0},
         ""},
        {"color(gettextureinfo(\"parts\", \"subimages\", n), n, 0)", 0.5F, {1, 4, 0, 0}, ""},
        {"color(gettextureinfo(\"card\", \"subimages\", n), n, 0)", 0.5F, {1, 1, 0, 0}, ""}};
#undef NO_SUCH
    (void)state;
    struct world w;
    world_open(&w);
    subimages_make(&w);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char code[512];
        float got[4];
        snprintf(code, sizeof code, "string name = \"left\"; int n = 7; c = %s;", rows[k].call);
        run(&w, code, rows[k].u, 0.5F, 0, got);
        assert_string_equal(w.said, rows[k].said);
        for (int c = 0; c < 4; c++)
            if (!(fabsf(got[c] - rows[k].want[c]) <= 1e-5F))
                fail_msg("%s: %d is %g, not %g", rows[k].call, c, (double)got[c],
                         (double)rows[k].want[c]);
    }
    arena_free(&w.arena);
}

/* Where environment() looks: in double. */
static void direction_place(const double R[3], double st[2])
{
    const double s = atan2(R[0], -R[2]) / (2 * M_PI);
    st[0] = s < 0 ? s + 1 : s;
    st[1] = acos(R[1] / sqrt(R[0] * R[0] + R[1] * R[1] + R[2] * R[2])) / M_PI;
}

/* A long footprint of directions is that of the places which they mean: texture() there, with changes
 * by differences in double, gives the same; and one place, however wide, does not. */
static void test_long_environment(void **state)
{
    static const double rows[][9] = {/* R, dRdx, dRdy */
                                     {0.3, 0.2, -0.9, 0.1, 0, 0.02, 0, 0.01, 0.002},
                                     {-1.5, 0.4, 0.7, 0.01, 0.2, 0.01, 0.02, 0, 0.01},
                                     {0.2, -0.6, 0.3, 0.02, 0.03, -0.09, 0.01, 0, 0},
                                     {0.8, 0.9, -0.2, 0.001, 0.001, 0.002, 0.1, -0.05, 0.08}};
    (void)state;
    struct world w;
    double other = 0;
    world_open(&w);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const double *r = rows[k], h = 1e-6;
        double st[2], d[2][2];
        direction_place(r, st);
        for (int side = 0; side < 2; side++) {
            double a[2], b[2], more[3], less[3];
            for (int c = 0; c < 3; c++) {
                more[c] = r[c] + h * r[3 + 3 * side + c];
                less[c] = r[c] - h * r[3 + 3 * side + c];
            }
            direction_place(more, a);
            direction_place(less, b);
            for (int c = 0; c < 2; c++)
                d[side][c] = (a[c] - b[c]) / (2 * h);
        }
        char code[900];
        float got[4], one[4], want[4];
        for (int n = 1; n <= 16; n += 15) {
            snprintf(
                code, sizeof code,
                "c = environment(\"waves\", vector(%.9g, %.9g, %.9g), vector(%.9g, %.9g, %.9g), "
                "vector(%.9g, %.9g, %.9g), \"anisotropic\", %d);",
                r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8], n);
            run(&w, code, 0, 0, 0, n == 1 ? one : got);
        }
        snprintf(code, sizeof code,
                 "c = texture(\"waves\", %.9g, %.9g, %.9g, %.9g, %.9g, %.9g, \"anisotropic\", 16, "
                 "\"swrap\", \"periodic\", \"twrap\", \"clamp\");",
                 st[0], st[1], d[0][0], d[0][1], d[1][0], d[1][1]);
        run(&w, code, 0, 0, 0, want);
        if (!(fabsf(got[0] - want[0]) <= 1e-5F))
            fail_msg("footprint %zu: %g, not %g", k, (double)got[0], (double)want[0]);
        other += (double)fabsf(one[0] - want[0]);
    }
    assert_true(other > 0.1);
    /* at a pole there is one place */
    float pole[4], round[4];
    run(&w,
        "c = environment(\"waves\", vector(0, 1, 0), vector(0.1, 0, 0), vector(0, 0, 0.01), "
        "\"anisotropic\", 16);",
        0, 0, 0, pole);
    run(&w, "c = environment(\"waves\", vector(0, 1, 0), vector(0.1, 0, 0), vector(0, 0, 0.01));",
        0, 0, 0, round);
    assert_true(pole[0] == round[0]);
    arena_free(&w.arena);
}

static void refused(const char *code, const char *words)
{
    struct arena a = {0};
    struct asl_diags diags = {0};
    const struct asl_program *p;
    struct error err = {0};
    assert_int_equal(asl_compile(&a, "t", code, strlen(code), NULL, &diags, &p, &err), STATUS_TYPE);
    if (!strstr(err.msg, words))
        fail_msg("%s: %s", code, err.msg);
    arena_free(&a);
}

static void test_refused(void **state)
{
    (void)state;
    refused("shader s() { color c = texture3d(\"x\", P); }", "texture3d() is not supported");
    refused("shader s() { int i = pointcloud_write(\"a\", P); }",
            "pointcloud_write() is not supported");
    refused("shader s() { int i = pointcloud_search(\"x\", P, 1, 5); }", "not supported");
    refused("shader s() { float f = texture(\"x\", u, v, \"alpha\", 0.5); }", "not a variable");
    refused("shader s() { int a; float f = texture(\"x\", u, v, \"alpha\", a); }",
            "writes a float");
    refused("shader s() { float f; color c = texture(\"x\", u, v, \"errormessage\", f); }",
            "writes a string");
    refused("shader s() { float f = texture(\"x\", u, v, \"wrap\"); }", "cannot be called");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texels),
        cmocka_unit_test(test_sets),
        cmocka_unit_test(test_wraps),
        cmocka_unit_test(test_filters),
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_subimages),
        cmocka_unit_test(test_long_environment),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_variance),
        cmocka_unit_test(test_footprints),
        cmocka_unit_test(test_no_long_footprint),
        cmocka_unit_test(test_long_limits),
        cmocka_unit_test(test_long_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
