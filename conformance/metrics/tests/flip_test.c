/* SPDX-License-Identifier: Apache-2.0 */
/* FLIP against its authors' program, the package flip-evaluator 1.7 of PyPI.
 *
 * Without arguments: against values that it gave for the pairs made below. To print them again:
 *
 *     flip_test --write FOLDER && python3 conformance/metrics/tests/flip_oracle.py FOLDER
 *
 * With --oracle: runs it now ($ISOPHOTE_PYTHON, else python3) and compares the maps pixel by pixel;
 * 77 if that Python has no flip_evaluator.
 *
 * Tolerances. The package computes in float32.
 *
 *   HyAB    1e-4   500 * 2^-24 * a few operations: L*a*b* values stand near 100 and are made of
 *                  differences times 500
 *   FLIP    1e-4   1e-4^0.7 * 0.95 / (0.4 * 203^0.7), where two pictures agree; elsewhere the slope
 *                  of x^0.7 is small
 *   a pixel 2e-3   with the feature exponent, which makes a small x as large as x^0.2 at most
 *   a mean  2e-4   roundings of both signs average */
#include "metrics/metrics.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const double PIXEL_TOLERANCE = 2e-3, MEAN_TOLERANCE = 2e-4;

enum { SIDE = 96, PIXELS_MAX = SIDE * SIDE };

struct pictures {
    uint32_t width, height;
    bool hdr;
    double image[PIXELS_MAX * 3], reference[PIXELS_MAX * 3];
};

/* A number in [0, 1) for any three integers: the pairs are the same on every machine. */
static double noise(uint32_t x, uint32_t y, uint32_t z)
{
    const uint32_t counter[4] = {x, y, z, 0}, key[2] = {1, 2};
    uint32_t out[4];
    philox4x32(counter, key, out);
    return u01(out[0]);
}

/* What value both have at a pixel; filled by one function a pair. */
typedef void pair_fn(uint32_t x, uint32_t y, uint32_t c, double *image, double *reference);

static void gradient_noise(uint32_t x, uint32_t y, uint32_t c, double *image, double *reference)
{
    const double base[3] = {x / 96.0, y / 96.0, (x + y) / 192.0};
    *reference = base[c];
    *image = base[c] + 0.2 * (noise(x, y, c) - 0.5);
}

static void checker_shift(uint32_t x, uint32_t y, uint32_t c, double *image, double *reference)
{
    *reference = (x / 6 + y / 6) % 2 ? 0.8 : 0.1 * (c + 1);
    *image = ((x + 1) / 6 + y / 6) % 2 ? 0.8 : 0.1 * (c + 1);
}

static void color_shift(uint32_t x, uint32_t y, uint32_t c, double *image, double *reference)
{
    (void)x, (void)y;
    const double a[3] = {0.2, 0.5, 0.3}, b[3] = {0.25, 0.45, 0.32};
    *reference = a[c];
    *image = b[c];
}

static void opposite(uint32_t x, uint32_t y, uint32_t c, double *image, double *reference)
{
    (void)x, (void)y;
    *reference = c == 1; /* green against blue: the largest difference there is */
    *image = c == 2;
}

static void equal(uint32_t x, uint32_t y, uint32_t c, double *image, double *reference)
{
    *image = *reference = noise(x, y, c);
}

/* A window, a lamp and a dim room: six orders of magnitude. */
static void room(uint32_t x, uint32_t y, uint32_t c, double *image, double *reference)
{
    double dx = x - 30.0, dy = y - 40.0, lamp = 300 * exp(-(dx * dx + dy * dy) / 40);
    double window = x > 60 && x < 80 && y > 20 && y < 50 ? 12 + c : 0;
    *reference = 0.002 + 0.05 * (1 + sin(x * 0.2) * sin(y * 0.13)) + lamp + window;
    *image = *reference * (1 + 0.1 * (noise(x, y, c) - 0.5));
}

static void fireflies(uint32_t x, uint32_t y, uint32_t c, double *image, double *reference)
{
    *reference = 0.5 + 0.1 * c;
    *image = *reference * (0.8 + 0.4 * noise(x, y, c)) + (noise(x, y, 9) > 0.99 ? 50 : 0);
}

static const struct {
    const char *name;
    pair_fn *fill;
    uint32_t width, height;
    bool hdr;
    double mean, start, stop; /* as flip-evaluator 1.7 gave them */
} pairs[] = {
    {"checker", checker_shift, SIDE, SIDE, false, 0.24051009, 0, 0},
    {"color", color_shift, SIDE, SIDE, false, 0.27830088, 0, 0},
    {"equal", equal, SIDE, SIDE, false, 0, 0, 0},
    {"fireflies", fireflies, SIDE, SIDE, true, 0.04631045, 1.854423, 1.854423},
    {"gradient", gradient_noise, SIDE, SIDE, false, 0.11105892, 0, 0},
    {"narrow", gradient_noise, 7, 61, false, 0.16896371, 0, 0},
    {"opposite", opposite, SIDE, SIDE, false, 1, 0, 0},
    {"room", room, SIDE, SIDE, true, 0.02974368, -7.145831, 5.127628},
    {"roomnarrow", room, 91, 13, true, 0.02451679, 4.376999, 5.348642},
};
enum { PAIRS = sizeof pairs / sizeof *pairs };

static void pair_fill(size_t which, struct pictures *p)
{
    p->width = pairs[which].width;
    p->height = pairs[which].height;
    p->hdr = pairs[which].hdr;
    for (uint32_t y = 0; y < p->height; y++) {
        for (uint32_t x = 0; x < p->width; x++) {
            for (uint32_t c = 0; c < 3; c++) {
                size_t i = ((size_t)y * p->width + x) * 3 + c;
                pairs[which].fill(x, y, c, &p->image[i], &p->reference[i]);
                /* both programs read the same float32 numbers */
                p->image[i] = (double)(float)(p->hdr ? p->image[i] : fmin(fmax(p->image[i], 0), 1));
                p->reference[i] = (double)(float)p->reference[i];
            }
        }
    }
}

static double pair_flip(const struct pictures *p, double *map, struct metric_exposures *e)
{
    const struct metric_pair pair = {p->width, p->height, p->image, p->reference};
    struct error err = {0};
    double mean = -1;
    *e = (struct metric_exposures){0};
    enum status status = p->hdr ? metric_flip_hdr(&pair, METRIC_FLIP_PPD, &mean, map, e, &err)
                                : metric_flip_ldr(&pair, 1, METRIC_FLIP_PPD, &mean, map, &err);
    if (status != STATUS_OK)
        fail_msg("%s", err.msg);
    return mean;
}

static struct pictures pictures;
static double map[PIXELS_MAX];

static void test_committed_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < PAIRS; i++) {
        struct metric_exposures e;
        pair_fill(i, &pictures);
        double mean = pair_flip(&pictures, map, &e);
        print_message("%-10s mean %.6f, flip-evaluator %.6f\n", pairs[i].name, mean, pairs[i].mean);
        assert_true(fabs(mean - pairs[i].mean) <= MEAN_TOLERANCE);
        if (pairs[i].hdr) {
            assert_true(fabs(e.start - pairs[i].start) <= 1e-5);
            assert_true(fabs(e.stop - pairs[i].stop) <= 1e-5);
        }
    }
}

static void test_ends_of_the_scale(void **state)
{
    (void)state;
    struct metric_exposures e;
    pair_fill(2, &pictures);
    assert_string_equal(pairs[2].name, "equal");
    assert_true(pair_flip(&pictures, map, &e) == 0);
    for (int i = 0; i < PIXELS_MAX; i++)
        assert_true(map[i] == 0);
    /* uniform green against uniform blue has no features and the largest colour difference */
    pair_fill(6, &pictures);
    assert_true(fabs(pair_flip(&pictures, map, &e) - 1) <= 1e-12);
}

static void test_bad_arguments(void **state)
{
    (void)state;
    double one[3] = {1, 1, 1}, bad[3] = {1, NAN, 1}, mean = 42;
    const struct metric_pair good = {1, 1, one, one}, empty = {0, 1, one, one},
                             nan = {1, 1, bad, one};
    assert_int_equal(metric_flip_ldr(&good, 1, METRIC_FLIP_PPD, &mean, NULL, NULL), STATUS_OK);
    assert_true(mean == 0);
    mean = 42;
    assert_int_equal(metric_flip_ldr(&empty, 1, METRIC_FLIP_PPD, &mean, NULL, NULL), STATUS_ARG);
    assert_int_equal(metric_flip_ldr(&good, 0, METRIC_FLIP_PPD, &mean, NULL, NULL), STATUS_ARG);
    assert_int_equal(metric_flip_ldr(&good, 1, 0, &mean, NULL, NULL), STATUS_ARG);
    assert_int_equal(metric_flip_ldr(&good, 1, 1e9, &mean, NULL, NULL), STATUS_ARG);
    assert_int_equal(metric_flip_hdr(&nan, METRIC_FLIP_PPD, &mean, NULL, NULL, NULL), STATUS_RANGE);
    assert_true(mean == 42);
}

/* ---- the package itself -------------------------------------------------------------- */

static void write_pairs(const char *folder)
{
    for (size_t i = 0; i < PAIRS; i++) {
        char path[4096];
        pair_fill(i, &pictures);
        snprintf(path, sizeof path, "%s/%s.pair", folder, pairs[i].name);
        FILE *f = fopen(path, "wb");
        if (!f)
            fail_msg("%s: %s", path, strerror(errno));
        fprintf(f, "%s %u %u\n", pictures.hdr ? "HDR" : "LDR", pictures.width, pictures.height);
        const double *both[2] = {pictures.image, pictures.reference};
        for (int p = 0; p < 2; p++) {
            for (size_t v = 0; v < (size_t)pictures.width * pictures.height * 3; v++) {
                float value = (float)both[p][v];
                assert_int_equal(fwrite(&value, sizeof value, 1, f), 1);
            }
        }
        assert_int_equal(fclose(f), 0);
    }
}

static void compare_map(const char *folder, size_t which, double oracle_mean, double start,
                        double stop, long count)
{
    struct metric_exposures e;
    static float theirs[PIXELS_MAX];
    char path[4096];
    pair_fill(which, &pictures);
    double mean = pair_flip(&pictures, map, &e), worst = 0;
    size_t n = (size_t)pictures.width * pictures.height;
    snprintf(path, sizeof path, "%s/%s.map", folder, pairs[which].name);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_int_equal(fread(theirs, sizeof *theirs, n, f), n);
    fclose(f);
    for (size_t i = 0; i < n; i++)
        worst = fmax(worst, fabs(map[i] - (double)theirs[i]));
    print_message("%-10s mean %.6f, theirs %.6f; worst pixel %.2e\n", pairs[which].name, mean,
                  oracle_mean, worst);
    assert_true(worst <= PIXEL_TOLERANCE);
    assert_true(fabs(mean - oracle_mean) <= MEAN_TOLERANCE);
    if (pictures.hdr) {
        print_message("%-10s exposures %.6f .. %.6f, theirs %.6f .. %.6f\n", "", e.start, e.stop,
                      start, stop);
        assert_true(fabs(e.start - start) <= 1e-5 && fabs(e.stop - stop) <= 1e-5);
        assert_int_equal(e.count, count);
    }
}

static const char *python(void)
{
    const char *p = getenv("ISOPHOTE_PYTHON");
    return p && *p ? p : "python3";
}

static void test_oracle(void **state)
{
    (void)state;
    char folder[] = "/tmp/isophote-flip-XXXXXX", command[4096];
    assert_non_null(mkdtemp(folder));
    write_pairs(folder);
    snprintf(command, sizeof command, "'%s' '%s/conformance/metrics/tests/flip_oracle.py' '%s'",
             python(), SOURCE_DIR, folder);
    FILE *f = popen(command, "r"); // NOLINT(cert-env33-c): a test's own command line
    assert_non_null(f);
    char line[256];
    size_t seen = 0;
    while (fgets(line, sizeof line, f)) {
        /* NAME mean start stop count */
        char *at = strchr(line, ' ');
        assert_non_null(at);
        *at++ = '\0';
        double mean = strtod(at, &at), start = strtod(at, &at), stop = strtod(at, &at);
        long count = strtol(at, &at, 10);
        assert_true(*at == '\n');
        size_t i = 0;
        while (i < PAIRS && strcmp(pairs[i].name, line) != 0)
            i++;
        assert_true(i < PAIRS);
        compare_map(folder, i, mean, start, stop, count);
        seen++;
    }
    assert_int_equal(pclose(f), 0);
    assert_int_equal(seen, PAIRS);
    for (size_t i = 0; i < PAIRS; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s.pair", folder, pairs[i].name);
        unlink(path);
        snprintf(path, sizeof path, "%s/%s.map", folder, pairs[i].name);
        unlink(path);
    }
    rmdir(folder);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--write") == 0) {
        write_pairs(argv[2]);
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "--oracle") == 0) {
        char command[4096];
        snprintf(command, sizeof command, "'%s' -c 'import flip_evaluator, numpy' 2>/dev/null",
                 python());
        if (system(command) != 0) { // NOLINT(cert-env33-c)
            printf("SKIP: %s has no flip_evaluator; ./test installs it, or set ISOPHOTE_PYTHON\n",
                   python());
            return 77;
        }
        const struct CMUnitTest tests[] = {cmocka_unit_test(test_oracle)};
        return cmocka_run_group_tests(tests, NULL, NULL);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_committed_values),
        cmocka_unit_test(test_ends_of_the_scale),
        cmocka_unit_test(test_bad_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
