/* SPDX-License-Identifier: Apache-2.0 */
/* Passes, tone curves and denoising: names and files; curves against their formulas' known values;
 * Open Image Denoise, where it is, on noise whose truth is known. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memmem */
#endif
#include "scenes.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/isophote-passes-XXXXXX";

static void lists_of_passes(void **state)
{
    (void)state;
    struct error err = {0};
    unsigned bits = 0;
    assert_int_equal(passes_parse("direct,uv", &bits, &err), STATUS_OK);
    assert_int_equal(bits, 1u << PASS_DIRECT | 1u << PASS_UV);
    assert_int_equal(passes_parse("all", &bits, &err), STATUS_OK);
    assert_int_equal(bits, PASSES_ALL);
    assert_false(bits & 1u << PASS_DENOISED);
    assert_int_equal(passes_parse("all,denoised", &bits, &err), STATUS_OK);
    assert_int_equal(bits, PASSES_ALL | 1u << PASS_DENOISED);
    static const char *const bad[] = {"", "albedos", "uv,,depth", ",",
                                      "a-name-that-is-longer-than-any-pass-could-ever-be"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(passes_parse(bad[i], &bits, &err), STATUS_ARG);
        assert_non_null(strstr(err.msg, "bitangent"));
    }
}

/* What is written is there under its name, and a plain reader finds the beauty. */
static void files_hold_layers(void **state)
{
    (void)state;
    struct error err = {0};
    struct passes p;
    char path[128], *data;
    size_t size;
    struct arena a = {0};
    struct image im;
    snprintf(path, sizeof path, "%s/layers.exr", folder);
    assert_int_equal(passes_init(&p, 3, 2, PASSES_ALL | 1u << PASS_DENOISED, &err), STATUS_OK);
    for (int i = 0; i < PASS_COUNT; i++)
        for (unsigned k = 0; k < 6 * pass_infos[i].channels; k++)
            p.values[i][k] = (float)(100 * i + (int)k);
    assert_int_equal(passes_write_exr(&p, path, NULL, &err), STATUS_OK);
    assert_int_equal(file_read(&a, path, 1 << 20, &data, &size, &err), STATUS_OK);
    for (int i = 0; i < PASS_COUNT; i++)
        for (unsigned k = 0; k < pass_infos[i].channels; k++) {
            const char *layer = pass_infos[i].layers[k];
            assert_non_null(layer);
            assert_non_null(memmem(data, size, layer, strlen(layer) + 1));
        }
    assert_int_equal(image_read(&a, path, &im, &err), STATUS_OK);
    assert_true(im.width == 3 && im.height == 2 && im.channels == 3);
    assert_memory_equal(im.texels, p.values[PASS_BEAUTY], 18 * sizeof(float));
    arena_free(&a);
    passes_free(&p);
    passes_free(&p); /* again: nothing */
}

static void shaders_are_numbered(void **state)
{
    (void)state;
    struct shading wood = {.hash = "a"}, stone = {.hash = "b"}, same = {.hash = "a"};
    struct material m[5] = {
        {.shading = &stone}, {0}, {.shading = &wood}, {.shading = &same}, {.shading = &stone}};
    struct scene s = {.materials = m, .material_count = 5};
    uint32_t *ids = scene_shader_ids(&s);
    assert_non_null(ids);
    static const uint32_t expected[5] = {1, 0, 2, 2, 1};
    assert_memory_equal(ids, expected, sizeof expected);
    free(ids);
    /* 2^43 units for the largest coordinate's power of two */
    s.camera.origin[1] = -3;
    s.bounds_min[0] = 1, s.bounds_max[0] = 0; /* no primitives */
    assert_int_equal(passes_position_exponent(&s), 41);
    s.bounds_min[0] = -20, s.bounds_max[0] = 1;
    assert_int_equal(passes_position_exponent(&s), 38);
}

/* ---- tone curves ---------------------------------------------------------------------------- */

static double gray_of(enum tone t, double v, double exposure)
{
    const float rgb[3] = {(float)v, (float)v, (float)v};
    double out[3];
    tone_map(t, rgb, exposure, out);
    /* grey stays grey; rows of AgX's published matrices sum to 1 within 2e-4 */
    assert_true(fabs(out[0] - out[1]) < 1e-3 && fabs(out[1] - out[2]) < 1e-3);
    return out[1];
}

static void curves(void **state)
{
    (void)state;
    for (int t = 0; t < TONE_COUNT; t++) {
        double before = -1;
        for (int i = -120; i <= 120; i++) { /* 2^-15 to 2^15: rising, in [0, 1] */
            double v = gray_of((enum tone)t, exp2(i / 8.0), 1);
            assert_true(v >= before - 1e-12 && v >= 0 && v <= 1);
            before = v;
        }
        assert_true(before > 0.99);
        assert_true(gray_of((enum tone)t, 0, 1) < 0.01);
        assert_true(fabs(gray_of((enum tone)t, 0.3, 2) - gray_of((enum tone)t, 0.6, 1)) < 1e-6);
        const float odd[3] = {NAN, -3, INFINITY};
        double out[3];
        tone_map((enum tone)t, odd, 1, out);
        for (int c = 0; c < 3; c++)
            assert_true(out[c] >= 0 && out[c] <= 1);
    }
    assert_true(fabs(gray_of(TONE_LINEAR, 0.18, 1) - srgb_encode(0.18)) < 1e-7);
    assert_true(fabs(gray_of(TONE_LINEAR, 1.5, 1) - 1) < 1e-12);
    assert_true(fabs(gray_of(TONE_REINHARD, 1, 1) - srgb_encode(0.5)) < 1e-6);
    /* Hable's white is 11.2 before his exposure of 2; his curve takes 2 * 0.18 to 0.1316 of white
     */
    assert_true(fabs(gray_of(TONE_FILMIC, 5.6, 1) - 1) < 1e-6);
    assert_true(gray_of(TONE_FILMIC, 5.5, 1) < 1);
    /* AgX puts middle grey near the middle of the display's range (its sigmoid's fit gives 0.4967
     * there), the ends of its logarithmic scale at 0 and 1 within the fit's 0.0024 */
    assert_true(fabs(gray_of(TONE_AGX, 0.18, 1) - 0.4967) < 0.001);
    assert_true(gray_of(TONE_AGX, 16.29, 1) > 0.995);
    const float red[3] = {4, 0.1F, 0.1F};
    double out[3];
    tone_map(TONE_AGX, red, 1, out);
    assert_true(out[0] > out[1] && out[1] > 0.1); /* bright red pales */
}

/* ---- denoising ------------------------------------------------------------------------------ */

static void denoise_is_missing(void **state)
{
    (void)state;
    const char *own = getenv("ISOPHOTE_OIDN");
    char kept[4096];
    struct error err = {0};
    float v[3] = {0};
    snprintf(kept, sizeof kept, "%s", own ? own : "");
    setenv("ISOPHOTE_OIDN", "/nowhere/libOpenImageDenoise.so.2", 1);
    assert_int_equal(denoise_find(&err), STATUS_MISSING);
    assert_non_null(strstr(err.msg, "/nowhere/"));
    assert_non_null(strstr(err.msg, "pyoidn"));
    assert_int_equal(denoise_picture(1, 1, v, NULL, NULL, v, &err), STATUS_MISSING);
    setenv("ISOPHOTE_OIDN", "libm.so.6", 1); /* a library that is another */
    assert_int_equal(denoise_find(&err), STATUS_MISSING);
    assert_non_null(strstr(err.msg, "oidn"));
    if (own)
        setenv("ISOPHOTE_OIDN", kept, 1);
    else
        unsetenv("ISOPHOTE_OIDN");
}

/* A ramp with an edge, under exponential noise as strong as the light: what comes out is at least
 * four times nearer to the truth, no darker on the whole, and sharp where the albedo is. */
static void noise_goes(void **state)
{
    (void)state;
    enum { W = 128, H = 96, N = W * H };
    struct error err = {0};
    if (denoise_find(&err) != STATUS_OK) {
        print_message("SKIP: %s\n", err.msg);
        skip();
    }
    float *truth = calloc(3 * N, sizeof *truth), *noisy = calloc(3 * N, sizeof *noisy);
    float *albedo = calloc(3 * N, sizeof *albedo), *normal = calloc(3 * N, sizeof *normal);
    float *out = calloc(3 * N, sizeof *out);
    assert_true(truth && noisy && albedo && normal && out);
    for (uint32_t i = 0; i < N; i++) {
        const uint32_t counter[4] = {i, 0, 0, 0}, key[2] = {77, 0};
        uint32_t w[4];
        philox4x32(counter, key, w);
        normal[3 * i + 2] = 1;
        for (uint32_t c = 0; c < 3; c++) {
            albedo[3 * i + c] = i % W < W / 2 ? 0.2F : 0.8F;
            truth[3 * i + c] = albedo[3 * i + c] * (0.5F + (float)(i / W) / H);
            noisy[3 * i + c] = truth[3 * i + c] * (float)-log1p(-u01(w[c]));
        }
    }
    if (denoise_picture(W, H, noisy, albedo, normal, out, &err) != STATUS_OK)
        fail_msg("%s", err.msg);
    double before = 0, after = 0, mean = 0, expected = 0, edge = 0;
    for (size_t i = 0; i < 3 * N; i++) {
        before += pow((double)noisy[i] - (double)truth[i], 2);
        after += pow((double)out[i] - (double)truth[i], 2);
        mean += (double)out[i] / (3 * N), expected += (double)truth[i] / (3 * N);
    }
    for (size_t y = 0; y < H; y++)
        edge += ((double)out[3 * (y * W + W / 2)] - (double)out[3 * (y * W + W / 2 - 1)]) / H;
    assert_true(after * 16 < before);
    assert_true(fabs(mean - expected) < 0.05 * expected);
    assert_true(edge > 0.4); /* of 0.6 */
    free(truth), free(noisy), free(albedo), free(normal), free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_of_passes),      cmocka_unit_test(files_hold_layers),
        cmocka_unit_test(shaders_are_numbered), cmocka_unit_test(curves),
        cmocka_unit_test(denoise_is_missing),   cmocka_unit_test(noise_goes),
    };
    char command[128];
    if (!mkdtemp(folder))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    snprintf(command, sizeof command, "%s/layers.exr", folder);
    unlink(command);
    rmdir(folder);
    return failed;
}
