/* SPDX-License-Identifier: Apache-2.0 */
/* What programs that count say, against counts by hand and against vertices of recorded samples. */
#include "test_scenes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { SIDE = 8, SPP = 5, IMAGE_W = 128, IMAGE_H = 64 };

/* Devices whose programs are made from source, one of them of two films. */
static const char *const devices[] = {"native", "native+faulty:stuck-seed", "opencl:0"};

static struct render_job job_make(uint32_t width, uint32_t height, uint32_t spp)
{
    return (struct render_job){.width = width,
                               .height = height,
                               .sample_count = spp,
                               .max_depth = 4,
                               .rr_depth = 4,
                               .seed = 11,
                               .set.build = {.mode = MODE_STRICT}};
}

/* The device with the scene; NULL: it is not here. */
static struct device *loaded(const char *id, const struct scene *s)
{
    struct error err = {0};
    struct device *d = NULL;
    if (device_open(id, &d, &err) != STATUS_OK) {
        print_message("%s: %s\n", id, err.msg);
        return NULL;
    }
    must(device_load(d, s, BVH_AUTO, NULL, &err), &err);
    return d;
}

/* gcc takes a minute of -O3 for what counts; whole counts are the same. */
static void compile_quickly(void) { setenv("ISOPHOTE_CFLAGS", QUICK_FLAGS, 1); }
static void compile_well(void) { unsetenv("ISOPHOTE_CFLAGS"); }

/* By the program that counts alone. Valid as device_counts says. */
static const struct shading_counts *counted(struct device *d, const struct scene *s,
                                            const struct render_job *job, struct film *film)
{
    struct error err = {0};
    struct render_job counting = *job;
    counting.set.build.count_rays = true;
    compile_quickly();
    must(device_build(d, &counting.set.build, NULL, &err), &err);
    must(film_init(film, job->width, job->height, film_exponent(s), &err), &err);
    must(device_render(d, &counting, film, true, NULL, &err), &err);
    compile_well();
    assert_non_null(device_counts(d));
    return device_counts(d);
}

/* Before the camera a wall of two materials, whose shaders shine alone, so that each sample ends
 * there. Left asks its image once, right thrice, always for one texel of the first tile. */
#define ASK "texture(file, 0.1, 0.9, 0, 0, 0, 0, \\\"interp\\\", \\\"closest\\\")"
#define MATERIAL                                                                                   \
    "{\"type\": \"shader\", \"emission_bound\": 8, \"parameters\": {\"file\": \"%s\"}, "
static struct scene *wall(const char *image)
{
    char text[4096];
    (void)snprintf(
        text, sizeof text,
        "{\"isophote\": 1, \"camera\": {\"origin\": [0, 0, 4], \"target\": [0, 0, 0], \"fov\": 20},"
        "\"film\": {\"width\": 8, \"height\": 8}, \"environment\": {\"radiance\": 0.5},"
        "\"materials\": {\"left\": " MATERIAL
        "\"source\": \"surface a(string file = \\\"\\\") { float x = " ASK
        "; Ci = x * emission(); }\"}, \"right\": " MATERIAL
        "\"source\": \"surface b(string file = \\\"\\\") { float x = " ASK ", y = 0; "
        "for (int i = 0; i < 2; i++) y += x * " ASK "; Ci = y * emission(); }\"}},"
        "\"objects\": [{\"type\": \"rectangle\", \"material\": \"left\", \"transform\": "
        "[{\"translate\": [-1, 0, 0]}]}, {\"type\": \"rectangle\", \"material\": \"right\", "
        "\"transform\": [{\"translate\": [1, 0, 0]}]}]}",
        image, image);
    return scene_from_text(text);
}

static struct scene *wall_with_image(void)
{
    struct error err = {0};
    char image[64];
    float *texels = calloc(IMAGE_W * IMAGE_H, sizeof *texels);
    assert_non_null(texels);
    (void)snprintf(image, sizeof image, "render_statistics_test.%ld.exr", (long)getpid());
    const struct image_channel y = {"Y", texels, 1};
    must(image_write_exr(image, IMAGE_W, IMAGE_H, &y, 1, NULL, &err), &err);
    struct scene *s = wall(image);
    (void)remove(image);
    free(texels);
    return s;
}

static void queries_are_those_that_hands_count(void **state)
{
    (void)state;
    struct scene *s = wall_with_image();
    const struct render_job job = job_make(SIDE, SIDE, SPP);
    const uint64_t half = SIDE * SIDE / 2;
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        struct device *d = loaded(devices[i], s);
        if (!d)
            continue;
        struct film film = {0};
        const struct shading_counts *c = counted(d, s, &job, &film);
        assert_int_equal(c->texture_queries, half * SPP * (1 + 3));
        assert_int_equal(c->image_lookups, 0);
        for (size_t p = 0; p < SIDE * SIDE; p++)
            assert_int_equal(film.sums[4 * p], SPP); /* rays to the closest hit */
        assert_int_equal(c->material_count, 2);
        for (int m = 0; m < 2; m++) {
            assert_int_equal(c->hits[m].first, half);
            assert_int_equal(c->hits[m].combined, half * (SPP - 1));
            assert_int_equal(c->hits[m].other_shader + c->hits[m].other_parameters, 0);
        }
        assert_int_equal(shader_runs(&c->hits[0]), half);
        assert_int_equal(c->shader_tiles.tiles, 2 + 7); /* 128x64, then 64x32 to 1x1 */
        assert_int_equal(c->shader_tiles.tiles_read, 1);
        assert_int_equal(c->shader_tiles.bytes_read, 64 * 64 * sizeof(float));
        uint64_t bytes = 0;
        for (uint64_t w = IMAGE_W, h = IMAGE_H;; w = w > 1 ? w / 2 : 1, h = h > 1 ? h / 2 : 1) {
            bytes += w * h * sizeof(float);
            if (w * h == 1)
                break;
        }
        assert_int_equal(c->shader_tiles.bytes, bytes);
        film_free(&film);
        device_close(d);
    }
    scene_free(s);
}

/* ---- against recorded samples --------------------------------------------------------------- */

/* By the definition of struct shader_hits, from vertices. */
static void hits_of_pixel(struct device *d, const struct scene *s, const struct render_job *job,
                          uint32_t x, uint32_t y, struct shader_hits *hits)
{
    enum { MOST = 8 };
    struct error err = {0};
    struct path_vertex v[MOST];
    uint32_t met[MOST] = {0};
    for (uint32_t sample = 0; sample < job->sample_count; sample++) {
        size_t n = 0;
        must(device_trace(d, job, x, y, sample, NULL, v, MOST, &n, &err), &err);
        for (size_t k = 0; k < n; k++) {
            const uint32_t m = v[k].material;
            if (m >= s->material_count || !s->materials[m].shading)
                continue;
            struct shader_hits *h = &hits[m];
            if (met[k] == 0)
                h->first++;
            else if (met[k] == m + 1)
                h->combined++;
            else if (strcmp(s->materials[met[k] - 1].shading->hash,
                            s->materials[m].shading->hash) == 0)
                h->other_parameters++;
            else
                h->other_shader++;
            met[k] = m + 1;
        }
    }
}

static void runs_are_those_of_recorded_samples(void **state)
{
    (void)state;
    static const char *const scenes[] = {"shaded-wood", "shaded-rust"};
    for (size_t k = 0; k < sizeof scenes / sizeof *scenes; k++) {
        struct scene *s = scene_from_library(scenes[k]);
        struct render_job job = job_make(12, 9, SPP);
        struct device *d = device_ready("native", s, BVH_AUTO, MODE_STRICT);
        struct shader_hits *hits = calloc(s->material_count, sizeof *hits);
        assert_non_null(hits);
        for (uint32_t y = 0; y < job.height; y++)
            for (uint32_t x = 0; x < job.width; x++)
                hits_of_pixel(d, s, &job, x, y, hits);
        struct film film = {0};
        const struct shading_counts *c = counted(d, s, &job, &film);
        const struct shader_hits all = shader_hits_sum(c);
        assert_true(all.combined > 0 && shader_runs(&all) > all.first);
        for (size_t m = 0; m < s->material_count; m++)
            assert_memory_equal(&c->hits[m], &hits[m], sizeof *hits);
        film_free(&film);
        free(hits);
        device_close(d);
        scene_free(s);
    }
}

/* Two materials of one program, both in the only pixel. */
static void parameters_are_told_from_shaders(void **state)
{
    (void)state;
    static const char form[] =
        "{\"isophote\": 1, \"camera\": {\"origin\": [0, 0, 4], \"target\": [0, 0, 0], \"fov\": 20},"
        "\"film\": {\"width\": 1, \"height\": 1}, \"environment\": {\"radiance\": 0.5},"
        "\"materials\": {\"left\": {\"type\": \"shader\", \"emission_bound\": 8, \"source\": "
        "\"surface a(float k = 1) { Ci = k * emission(); }\"}, \"right\": {\"type\": \"shader\", "
        "\"emission_bound\": 8, \"parameters\": {\"k\": 2}, \"source\": "
        "\"surface a(float k = 1) { Ci = k * emission(); }\"}},"
        "\"objects\": [{\"type\": \"rectangle\", \"material\": \"left\", \"transform\": "
        "[{\"translate\": [-1, 0, 0]}]}, {\"type\": \"rectangle\", \"material\": \"right\", "
        "\"transform\": [{\"translate\": [1, 0, 0]}]}]}";
    struct scene *s = scene_from_text(form);
    const struct render_job job = job_make(1, 1, 64);
    struct device *d = loaded("native", s);
    struct film film = {0};
    const struct shader_hits all = shader_hits_sum(counted(d, s, &job, &film));
    assert_int_equal(all.combined + shader_runs(&all), 64);
    assert_int_equal(all.first, 1);
    assert_int_equal(all.other_shader, 0);
    assert_true(all.other_parameters > 10 && all.combined > 10);
    film_free(&film);
    device_close(d);
    scene_free(s);
}

/* ---- images of materials --------------------------------------------------------------------- */

/* Each hit of a wall that fills the picture looks its image up once, and goes on to the sky. */
static void lookups_of_materials_are_counted(void **state)
{
    (void)state;
    struct error err = {0};
    char image[64], text[1024];
    float texels[70 * 3] = {0};
    (void)snprintf(image, sizeof image, "render_statistics_test.%ld.m.exr", (long)getpid());
    const struct image_channel y = {"Y", texels, 1};
    must(image_write_exr(image, 70, 3, &y, 1, NULL, &err), &err);
    (void)snprintf(
        text, sizeof text,
        "{\"isophote\": 1, \"camera\": {\"origin\": [0, 0, 4], \"target\": [0, 0, 0], \"fov\": 10},"
        "\"film\": {\"width\": 8, \"height\": 8}, \"environment\": {\"radiance\": 0.5},"
        "\"textures\": {\"t\": {\"file\": \"%s\", \"filter\": \"nearest\"}},"
        "\"materials\": {\"m\": {\"type\": \"diffuse\", \"reflectance\": {\"texture\": \"t\"}}},"
        "\"objects\": [{\"type\": \"rectangle\", \"material\": \"m\"}]}",
        image);
    struct scene *s = scene_from_text(text);
    (void)remove(image);
    const struct render_job job = job_make(SIDE, SIDE, SPP);
    struct device *d = loaded("native", s);
    struct film film = {0};
    const struct shading_counts *c = counted(d, s, &job, &film);
    const struct tile_counts *t = &c->image_tiles;
    assert_int_equal(c->image_lookups, SIDE * SIDE * SPP);
    assert_int_equal(c->texture_queries, 0);
    assert_int_equal(t->tiles, 2); /* 64x3 and 6x3 */
    assert_int_equal(t->tiles_read,
                     1); /* a wall from -1 to 1, of which 0.7 is seen: u is .33 to .67 */
    assert_int_equal(t->bytes, 70 * 3 * 4);
    assert_int_equal(t->bytes_read, 64 * 3 * 4);
    film_free(&film);
    device_close(d);
    scene_free(s);
}

/* ---- what is not counted is not there, and stages are timed ----------------------------------- */

static void pictures_stay_and_stages_are_timed(void **state)
{
    (void)state;
    struct error err = {0};
    struct scene *s = scene_from_library("shaded-wood");
    struct render_job job = job_make(32, 32, 4);
    struct device *d = device_ready("native", s, BVH_AUTO, MODE_STRICT);
    struct film before = {0}, after = {0};
    must(film_init(&before, 32, 32, film_exponent(s), &err), &err);
    must(film_init(&after, 32, 32, film_exponent(s), &err), &err);
    must(device_render(d, &job, &before, true, NULL, &err), &err);
    assert_null(device_counts(d));
    struct render_statistics r;
    compile_quickly();
    must(device_statistics(d, &job, &r, &err), &err);
    compile_well();
    assert_string_equal(r.why_no_counts, "");
    assert_true(r.rays[0] > 0 && r.counts.hits);
    const struct stage_times *t = &r.stages;
    assert_string_equal(r.why_no_stages, "");
    assert_true(t->start > 0 && t->fly > 0 && t->shade > 0 && t->shadow > 0 && t->film > 0);
    assert_true(t->sort == 0 && t->occlude == 0);
    const double all = stages_tracing_s(t) + t->shade + stages_other_s(t);
    assert_true(all <= r.stages_s && all > r.stages_s / 2);
    job.set.build.model = MODEL_SEPARATE; /* as it was left */
    struct render_times times;
    must(device_render(d, &job, &after, true, &times, &err), &err);
    assert_true(times.stages.fly == 0);
    assert_null(device_counts(d));
    assert_memory_equal(before.sums, after.sums, 4 * sizeof *before.sums * 32 * 32);
    film_free(&before);
    film_free(&after);
    render_statistics_free(&r);
    device_close(d);
    scene_free(s);
}

/* A code path whose kernels do not count says why, and times its stages. */
static void devices_without_say_why(void **state)
{
    (void)state;
    struct error err = {0};
    struct scene *s = scene_from_library("cornell");
    const struct render_job job = job_make(4, 4, 1);
    struct device *d = loaded("native/llvm", s);
    struct render_statistics r;
    if (!d)
        skip();
    const enum status st = device_statistics(d, &job, &r, &err);
    must(st, &err);
    assert_true(r.why_no_counts[0] != 0);
    assert_string_equal(r.why_no_stages, "");
    assert_true(r.stages_s > 0 && r.stages.fly > 0 && r.stages.shade > 0);
    render_statistics_free(&r);
    device_close(d);
    scene_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queries_are_those_that_hands_count),
        cmocka_unit_test(runs_are_those_of_recorded_samples),
        cmocka_unit_test(parameters_are_told_from_shaders),
        cmocka_unit_test(lookups_of_materials_are_counted),
        cmocka_unit_test(pictures_stay_and_stages_are_timed),
        cmocka_unit_test(devices_without_say_why),
    };
    return cmocka_run_group_tests_name("render_statistics", tests, NULL, NULL);
}
