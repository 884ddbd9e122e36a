/* SPDX-License-Identifier: Apache-2.0 */
/* The step-by-step look at a path: the reference's own paths, rounded to float32, must pass; each
 * field changed by a thousandth must be found, at its vertex. No device is involved. */
#include "steps/steps.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { WIDTH = 40, HEIGHT = 30, CAPACITY = 32 };

struct bench {
    struct scene *scene;
    struct reference *reference;
    struct steps *steps;
    struct render_job job;
    struct reference_job reference_job;
};

static void open_scene(struct bench *b, struct scene *scene)
{
    struct error err = {0};
    *b = (struct bench){.scene = scene};
    assert_int_equal(reference_open(b->scene, &b->reference, &err), STATUS_OK);
    b->job = (struct render_job){.width = WIDTH,
                                 .height = HEIGHT,
                                 .sample_count = 1,
                                 .max_depth = b->scene->max_depth,
                                 .rr_depth = 2,
                                 .seed = 77};
    b->reference_job = (struct reference_job){
        .width = WIDTH, .height = HEIGHT, .max_depth = b->job.max_depth, .rr_depth = 2, .seed = 77};
    const struct device_info device = {.api = "native"};
    assert_int_equal(steps_open(b->scene, b->reference, &device, &b->job, &b->steps, &err),
                     STATUS_OK);
}

static void open_bench(struct bench *b, const char *name)
{
    char path[512];
    struct error err = {0};
    struct scene *scene;
    snprintf(path, sizeof path, "%s/scenes/library/%s.json", SOURCE_DIR, name);
    if (scene_load(path, &scene, &err) != STATUS_OK)
        fail_msg("%s", err.msg);
    open_scene(b, scene);
}

static void open_text(struct bench *b, const char *text)
{
    struct error err = {0};
    struct scene *scene;
    if (scene_load_memory("steps.json", text, strlen(text), &scene, &err) != STATUS_OK)
        fail_msg("%s", err.msg);
    open_scene(b, scene);
}

static void close_bench(struct bench *b)
{
    steps_close(b->steps);
    reference_close(b->reference);
    scene_free(b->scene);
}

static void round_all(double *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        v[i] = (double)(float)v[i];
}

/* One sample as a float32 renderer would record it. */
static size_t rounded_path(const struct bench *b, uint32_t x, uint32_t y, struct path_vertex *v,
                           double L[3])
{
    size_t n;
    reference_sample(b->reference, &b->reference_job, x, y, 0, L, v, CAPACITY, &n);
    round_all(L, 3);
    for (size_t i = 0; i < n; i++) {
        round_all(v[i].origin, 3), round_all(v[i].direction, 3), round_all(&v[i].t, 1);
        round_all(v[i].P, 3), round_all(v[i].Ng, 3), round_all(v[i].Ns, 3), round_all(v[i].uv, 2);
        round_all(v[i].beta, 3), round_all(v[i].emitted, 3), round_all(v[i].light_wi, 3);
        round_all(&v[i].light_pdf_w, 1), round_all(v[i].direct, 3), round_all(v[i].wi, 3);
        round_all(&v[i].pdf_w, 1), round_all(v[i].weight, 3);
    }
    return n;
}

static const char *const scenes[] = {"cornell",   "glass",     "textured",  "hdri",   "medium",
                                     "thin-lens", "veach-mis", "enclosure", "lacquer"};
enum { CHANGED_SCENES = 5 }; /* the first of them */

static void right_paths_pass(void **state)
{
    (void)state;
    for (size_t s = 0; s < sizeof scenes / sizeof *scenes; s++) {
        struct bench b;
        double worst = 0;
        open_bench(&b, scenes[s]);
        for (uint32_t i = 0; i < WIDTH * HEIGHT; i += 3) {
            struct path_vertex v[CAPACITY];
            struct step_report r;
            double L[3];
            size_t n = rounded_path(&b, i % WIDTH, i / WIDTH, v, L);
            steps_check(b.steps, i % WIDTH, i / WIDTH, 0, v, n, L, &r);
            if (r.found)
                fail_msg("%s (%u,%u) vertex %u %s.%s: %.9g, device %.9g, margin %.3g", scenes[s],
                         i % WIDTH, i / WIDTH, r.k, r.stage, r.field, r.reference, r.device,
                         r.margin);
            assert_true(r.compared >= 3);
            worst = fmax(worst, r.worst);
        }
        assert_true(worst > 0); /* something was compared that is not exact */
        close_bench(&b);
    }
}

/* What is changed at one vertex, and what must be said of it. */
struct change {
    const char *field, *stage;
    size_t offset;
    bool vector;
};
#define FIELD(name, stage, vector)                                                                 \
    {                                                                                              \
#name, stage, offsetof(struct path_vertex, name), vector                                   \
    }
static const struct change changes[] = {
    FIELD(t, "traversal", false),   FIELD(P, "surface", true),
    FIELD(Ng, "surface", true),     FIELD(Ns, "surface", true),
    FIELD(uv, "surface", false),    FIELD(emitted, "light", true),
    FIELD(light_wi, "light", true), FIELD(light_pdf_w, "light", false),
    FIELD(direct, "shader", true),  FIELD(wi, "shader", true),
    FIELD(weight, "shader", true),  FIELD(pdf_w, "shader", false),
};

static void every_change_is_found(void **state)
{
    (void)state;
    for (size_t s = 0; s < CHANGED_SCENES; s++) {
        struct bench b;
        open_bench(&b, scenes[s]);
        for (size_t c = 0; c < sizeof changes / sizeof *changes; c++) {
            size_t tried = 0, found = 0;
            for (uint32_t i = 0; i < WIDTH * HEIGHT; i += 7) {
                struct path_vertex v[CAPACITY];
                struct step_report r;
                double L[3];
                size_t n = rounded_path(&b, i % WIDTH, i / WIDTH, v, L), k = i % 2;
                if (k >= n || v[k].event == EVENT_MISS)
                    continue;
                double *at = (double *)(void *)((char *)&v[k] + changes[c].offset);
                /* the change: a thousandth of the largest component, where there is something */
                int most = 0;
                for (int j = 1; changes[c].vector && j < 3; j++)
                    if (fabs(at[j]) > fabs(at[most]))
                        most = j;
                if (at[most] == 0)
                    continue;
                at[most] *= 1.001;
                steps_check(b.steps, i % WIDTH, i / WIDTH, 0, v, n, L, &r);
                tried++;
                found += r.found && r.k == k + 1 && strcmp(r.stage, changes[c].stage) == 0;
                if (r.found && r.k < k + 1)
                    fail_msg("%s: %s changed at vertex %zu, found at %u %s.%s", scenes[s],
                             changes[c].field, k + 1, r.k, r.stage, r.field);
            }
            /* glass scatters by delta lobes; where a field is in use, nearly all changes show (a
             * grazing hit may not) */
            if (tried > 10 && found < tried * 9 / 10)
                fail_msg("%s: %s changed %zu times, found %zu times", scenes[s], changes[c].field,
                         tried, found);
        }
        close_bench(&b);
    }
}

/* Wrong decisions: another primitive, another light, no shadow, a path that goes on or ends. */
static void wrong_decisions_are_found(void **state)
{
    (void)state;
    struct bench b;
    size_t primitives = 0, shadows = 0, ends = 0, lights = 0;
    open_bench(&b, "cornell");
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i += 5) {
        struct path_vertex v[CAPACITY], w[CAPACITY];
        struct step_report r;
        double L[3];
        uint32_t x = i % WIDTH, y = i / WIDTH;
        size_t n = rounded_path(&b, x, y, v, L);
        if (v[0].primitive == UINT32_MAX)
            continue;
        memcpy(w, v, sizeof w);
        w[0].primitive = (v[0].primitive + 3) % (uint32_t)scene_primitive_count(b.scene);
        w[0].material = b.scene->primitive_material[w[0].primitive];
        steps_check(b.steps, x, y, 0, w, n, L, &r);
        primitives += r.found && r.k == 1 && strcmp(r.field, "primitive") == 0;
        assert_true(r.found);
        if (v[0].visible) {
            memcpy(w, v, sizeof w);
            w[0].visible = 0;
            memset(w[0].direct, 0, sizeof w[0].direct);
            steps_check(b.steps, x, y, 0, w, n, L, &r);
            shadows++;
            assert_true(r.found && r.k == 1 && strcmp(r.stage, "shadow") == 0);
        }
        if (v[0].light != UINT32_MAX) {
            memcpy(w, v, sizeof w);
            w[0].light ^= 1;
            steps_check(b.steps, x, y, 0, w, n, L, &r);
            lights += r.found && strcmp(r.field, "light") == 0;
        }
        if (n > 1) {
            steps_check(b.steps, x, y, 0, v, n - 1, L, &r);
            assert_true(r.found && strcmp(r.field, "length") == 0);
            ends++;
        }
    }
    assert_true(primitives > 100 && shadows > 50 && ends > 50 && lights > 50);
    close_bench(&b);
}

/* A path that lost count of where it is, that is not weakened, or is weakened too much. */
static void wrong_ways_are_found(void **state)
{
    (void)state;
    struct bench b;
    size_t lists = 0, betas = 0, shadows = 0;
    open_bench(&b, "medium");
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i += 5) {
        struct path_vertex v[CAPACITY], w[CAPACITY];
        struct step_report r;
        double L[3];
        uint32_t x = i % WIDTH, y = i / WIDTH;
        size_t n = rounded_path(&b, x, y, v, L), k = n > 1;
        memcpy(w, v, sizeof w);
        w[k].media = v[k].media ? 0 : 1;
        steps_check(b.steps, x, y, 0, w, n, L, &r);
        lists += r.found && r.k == k + 1 && strcmp(r.field, "media") == 0;
        assert_true(r.found);
        memcpy(w, v, sizeof w);
        w[k].beta[2] *= 1.0001;
        steps_check(b.steps, x, y, 0, w, n, L, &r);
        betas += r.found && r.k == k + 1 && strcmp(r.field, "beta") == 0;
        if (v[k].visible) {
            memcpy(w, v, sizeof w);
            w[k].visible = 0;
            memset(w[k].direct, 0, sizeof w[k].direct);
            steps_check(b.steps, x, y, 0, w, n, L, &r);
            shadows += r.found && r.k == k + 1 && strcmp(r.stage, "shadow") == 0;
            assert_true(r.found);
        }
    }
    if (lists < 200 || betas < 200 || shadows < 50)
        fail_msg("found %zu lists, %zu throughputs, %zu shadows", lists, betas, shadows);
    close_bench(&b);
}

static const char haze[] =
    "{\"isophote\": 1, \"camera\": {\"origin\": [0, 0, 0], \"target\": [0, 0, 1], \"fov\": 40},"
    " \"film\": {\"width\": 40, \"height\": 30}, \"render\": {\"spp\": 1, \"max_depth\": 12},"
    " \"materials\": {\"haze\": {\"type\": \"interface\","
    " \"medium\": {\"density\": 4, \"albedo\": 0.99, \"g\": 0.99}}},"
    " \"objects\": [{\"type\": \"sphere\", \"center\": [0, 0, 0], \"radius\": 5, \"material\": "
    "\"haze\"}],"
    " \"environment\": {\"radiance\": 1}}";

/* Directions that drifted off length one by 32 roundings: a device's density is of the cosine that
 * it sampled. A density that is off by a tenth is still found. */
static void drifted_directions_pass(void **state)
{
    (void)state;
    struct bench b;
    size_t drifted = 0, wrong = 0;
    open_text(&b, haze);
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i += 5) {
        struct path_vertex v[CAPACITY];
        struct step_report r;
        double L[3];
        uint32_t x = i % WIDTH, y = i / WIDTH;
        size_t n = rounded_path(&b, x, y, v, L);
        if (n < 2 || v[n - 2].event != EVENT_SCATTER)
            continue;
        struct path_vertex *last = &v[n - 2];
        for (int c = 0; c < 3; c++) {
            last->wi[c] = (double)(float)(last->wi[c] * (1 + 32 * 0x1p-24));
            last[1].direction[c] = last->wi[c];
        }
        steps_check(b.steps, x, y, 0, v, n, L, &r);
        if (r.found)
            fail_msg("(%u,%u) vertex %u %s.%s: %.9g, device %.9g, margin %.3g", x, y, r.k, r.stage,
                     r.field, r.reference, r.device, r.margin);
        drifted++;
        last->pdf_w *= 1.1;
        steps_check(b.steps, x, y, 0, v, n, L, &r);
        wrong += r.found && r.k == n - 1 && strcmp(r.field, "pdf_w") == 0;
    }
    if (drifted < 100 || wrong < drifted)
        fail_msg("%zu drifted, %zu wrong ones found", drifted, wrong);
    close_bench(&b);
}

/* A generator that counts wrong is told from a wrong camera. */
static void blame_of_the_generator(void **state)
{
    (void)state;
    struct bench b;
    struct path_vertex v[CAPACITY];
    struct step_report r;
    double L[3];
    size_t n;
    open_bench(&b, "cornell");
    reference_sample(b.reference, &b.reference_job, 20, 15, 1, L, v, CAPACITY, &n);
    steps_check(b.steps, 20, 15, 0, v, n, L, &r);
    assert_true(r.found && strcmp(r.stage, "rng") == 0);
    reference_sample(b.reference, &b.reference_job, 20, 15, 0, L, v, CAPACITY, &n);
    v[0].direction[0] += 0.01;
    steps_check(b.steps, 20, 15, 0, v, n, L, &r);
    assert_true(r.found && strcmp(r.stage, "camera") == 0 && r.k == 1);
    /* and the sum at the end */
    reference_sample(b.reference, &b.reference_job, 20, 15, 0, L, v, CAPACITY, &n);
    L[1] = L[1] * 1.001 + 0.001;
    steps_check(b.steps, 20, 15, 0, v, n, L, &r);
    assert_true(r.found && strcmp(r.stage, "sum") == 0);
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_paths_pass),          cmocka_unit_test(every_change_is_found),
        cmocka_unit_test(wrong_decisions_are_found), cmocka_unit_test(wrong_ways_are_found),
        cmocka_unit_test(drifted_directions_pass),   cmocka_unit_test(blame_of_the_generator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
