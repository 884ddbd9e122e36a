/* SPDX-License-Identifier: Apache-2.0 */
/* Rendering: replay, threads, jobs split in two, cancelling, the film's clamp, cameras, textures,
 * auxiliary passes. */
#include "numbers/random.h"
#include "path/path.h"
#include "tests/test_scene.h"
#include "textures/texture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct reference_picture rendered(const struct reference *r, const struct reference_job *job)
{
    struct reference_picture p;
    struct error err = {0};
    if (reference_render(r, job, &p, &err) != STATUS_OK)
        fail_msg("%s", err.msg);
    return p;
}

static void assert_same(const struct reference_picture *a, const struct reference_picture *b)
{
    size_t n = (size_t)a->width * a->height * sizeof(double);
    assert_memory_equal(a->beauty, b->beauty, 3 * n);
    assert_memory_equal(a->variance, b->variance, 3 * n);
    assert_memory_equal(a->albedo, b->albedo, 3 * n);
    assert_memory_equal(a->normal, b->normal, 3 * n);
    assert_memory_equal(a->depth, b->depth, n);
}

static const struct reference_job JOB = {.width = 21,
                                         .height = 13,
                                         .sample_begin = 3,
                                         .sample_count = 9,
                                         .max_depth = 6,
                                         .rr_depth = 3,
                                         .seed = 0x123456789abcdef};

/* The picture is the sum of its samples, bit by bit, and a sample is the sum of its vertices'
 * contributions. */
static void test_replay(void **state)
{
    (void)state;
    struct scene *s = test_cornell();
    struct reference *r = test_open(s);
    struct reference_picture p = rendered(r, &JOB);
    for (uint32_t y = 0; y < JOB.height; y++) {
        for (uint32_t x = 0; x < JOB.width; x++) {
            double sum[3] = {0}, squares = 0, depth = 0;
            for (uint32_t i = 0; i < JOB.sample_count; i++) {
                double L[3], again[3];
                struct path_vertex v[6];
                size_t n;
                reference_sample(r, &JOB, x, y, JOB.sample_begin + i, L, v, 6, &n);
                reference_sample(r, &JOB, x, y, JOB.sample_begin + i, again, NULL, 0, NULL);
                assert_memory_equal(L, again, sizeof L);
                assert_true(n >= 1 && n <= 6);
                double parts[3] = {0};
                for (size_t k = 0; k < n; k++) {
                    assert_int_equal(v[k].k, k + 1);
                    assert_int_equal(v[k].event == EVENT_SCATTER, k + 1 < n);
                    for (int c = 0; c < 3; c++) {
                        parts[c] += v[k].emitted[c] + v[k].direct[c];
                        double q = 1; /* roulette's compensation */
                        if (k + 1 < n && v[k].k >= JOB.rr_depth)
                            q = fmin(0.95, fmax(v[k].beta[0] * v[k].weight[0],
                                                fmax(v[k].beta[1] * v[k].weight[1],
                                                     v[k].beta[2] * v[k].weight[2])));
                        if (k + 1 < n) {
                            double beta = v[k].beta[c] * v[k].weight[c] / q;
                            assert_true(fabs(v[k + 1].beta[c] - beta) <= 1e-14 * beta);
                            assert_true(v[k + 1].direction[c] == v[k].wi[c]);
                        }
                    }
                }
                for (int c = 0; c < 3; c++) {
                    assert_true(fabs(parts[c] - L[c]) <= 1e-14 * L[c]);
                    sum[c] += L[c];
                }
                squares += L[0] * L[0];
                depth += v[0].event == EVENT_MISS ? 0 : v[0].t;
            }
            size_t at = (size_t)y * JOB.width + x;
            for (size_t c = 0; c < 3; c++)
                assert_true(p.beauty[3 * at + c] == sum[c] / JOB.sample_count);
            double mean = sum[0] / JOB.sample_count;
            double variance = (squares - JOB.sample_count * mean * mean) / (JOB.sample_count - 1);
            assert_true(fabs(p.variance[3 * at] - variance) <= 1e-12 * (squares + 1e-300));
            assert_true(p.depth[at] == depth / JOB.sample_count);
        }
    }
    reference_picture_free(&p);
    reference_picture_free(&p); /* twice is once */
    reference_close(r);
    test_scene_free(s);
}

static void test_threads(void **state)
{
    (void)state;
    struct scene *s = test_cornell();
    struct reference *r = test_open(s), *second = test_open(s);
    struct reference_job job = JOB;
    job.threads = 1;
    struct reference_picture one = rendered(r, &job);
    for (job.threads = 2; job.threads <= 3; job.threads++) {
        struct reference_picture more = rendered(r, &job);
        assert_same(&one, &more);
        reference_picture_free(&more);
    }
    struct reference_picture other = rendered(second, &job); /* another tree */
    assert_same(&one, &other);
    reference_picture_free(&other);
    /* two halves make the whole, but for the last bit of the means */
    struct reference_job half = job;
    half.sample_count = 4;
    struct reference_picture a = rendered(r, &half);
    half.sample_begin += 4;
    half.sample_count = 5;
    struct reference_picture b = rendered(r, &half);
    for (size_t i = 0; i < (size_t)job.width * job.height * 3; i++)
        assert_true(fabs((4 * a.beauty[i] + 5 * b.beauty[i]) / 9 - one.beauty[i]) <=
                    1e-14 * one.beauty[i]);
    /* another seed, another picture */
    job.seed++;
    other = rendered(r, &job);
    assert_memory_not_equal(one.beauty, other.beauty, 9 * 21 * sizeof(double));
    reference_picture_free(&one);
    reference_picture_free(&other);
    reference_picture_free(&a);
    reference_picture_free(&b);
    reference_close(r);
    reference_close(second);
    test_scene_free(s);
}

/* What the callback saw: threads that are not the test's may not fail it themselves. */
struct watch {
    atomic_int inside, met; /* calls at this moment; calls that met another */
    int calls;
    double last, least_left;
    bool in_range, cancel;
};

static void progress(void *ctx, double share, double left_s)
{
    struct watch *w = ctx;
    w->met += w->inside++ > 0;
    w->in_range &= share > 0 && share <= 1;
    w->least_left = fmin(w->least_left, left_s);
    w->last = fmax(w->last, share);
    w->calls++;
    if (w->cancel)
        cancel_requested = 1;
    w->inside--;
}

static void watched(const struct watch *w)
{
    assert_int_equal(w->met, 0);
    assert_true(w->in_range);
    if (!(w->least_left >= 0))
        fail_msg("%g seconds are left", w->least_left);
}

static void test_progress_and_cancel(void **state)
{
    (void)state;
    struct scene *s = test_cornell();
    struct reference *r = test_open(s);
    struct watch w = {.in_range = true};
    struct reference_job job = JOB;
    job.progress = progress;
    job.progress_ctx = &w;
    job.threads = 1;
    struct reference_picture p = rendered(r, &job);
    watched(&w);
    assert_true(w.calls > 5 && w.last == 1);
    reference_picture_free(&p);
    /* seconds of work after the first call, so that it cannot end while that call is held up */
    struct error err = {0};
    struct reference_picture untouched = {.width = 77};
    w = (struct watch){.in_range = true, .cancel = true};
    job.width = job.height = 512;
    job.threads = 3;
    enum status status = reference_render(r, &job, &untouched, &err);
    cancel_requested = 0;
    watched(&w);
    assert_int_equal(status, STATUS_CANCELLED);
    assert_true(w.last < 0.5);
    assert_int_equal(untouched.width, 77);
    assert_null(untouched.beauty);
    reference_close(r);
    test_scene_free(s);
}

/* What a picture's keeper got last, and when the picture is stopped. */
struct kept {
    struct reference_state state;
    uint64_t samples;
    uint32_t spp;
    atomic_int asked;
    int times, stop_at;
};
static bool keep_due(void *ctx)
{
    return atomic_fetch_add(&((struct kept *)ctx)->asked, 1) % 7 == 6;
}
static void kept_free(struct kept *k)
{
    free((void *)k->state.pixels);
    for (int i = 0; i < PASS_COUNT; i++)
        free((void *)k->state.more[i]);
    k->state = (struct reference_state){0};
}
static void keep(void *ctx, const struct reference_state *s, bool stopping)
{
    struct kept *k = ctx;
    const size_t pixels = (size_t)s->width * s->height;
    uint64_t before = k->samples;
    struct error err = {0};
    assert_int_equal(reference_state_check(s, k->spp, &k->samples, &err), STATUS_OK);
    assert_true(k->samples >= before);
    kept_free(k);
    k->state = *s;
    k->state.pixels = memcpy(malloc(pixels * s->pixel_size), s->pixels, pixels * s->pixel_size);
    for (int i = 0; i < PASS_COUNT; i++) {
        const size_t bytes = pixels * pass_infos[i].channels * sizeof(double);
        if (s->more[i])
            k->state.more[i] = memcpy(malloc(bytes), s->more[i], bytes);
    }
    if (!stopping && ++k->times == k->stop_at)
        cancel_requested = 15;
}

/* Stopped thrice and gone on from what was kept, a picture is to the bit that of one go: with all
 * passes, with an error target, with another number of threads. */
static void test_goes_on(void **state)
{
    (void)state;
    struct scene *s = test_cornell();
    struct reference *r = test_open(s);
    for (int target = 0; target < 2; target++) {
        struct reference_job job = JOB;
        struct error err = {0};
        job.sample_count = target ? 150 : 40;
        job.error_target = target ? 0.3 : 0;
        job.passes = PASSES_ALL;
        job.crop[0] = 2, job.crop[1] = 3, job.crop[2] = 12, job.crop[3] = 9;
        struct reference_picture want = rendered(r, &job), got = {0};
        struct kept k = {.spp = job.sample_count};
        struct reference_state from = {0};
        enum status st = STATUS_CANCELLED;
        int rounds = 0;
        job.keep_due = keep_due;
        job.keep = keep;
        job.keep_ctx = &k;
        for (; st == STATUS_CANCELLED; rounds++) {
            struct kept before = {.state = from = k.state};
            job.threads = 1 + (unsigned)rounds % 3;
            job.resumed = rounds ? &from : NULL;
            k.state = (struct reference_state){0};
            k.times = 0;
            k.stop_at = rounds < 3 ? 2 : -1;
            st = reference_render(r, &job, &got, &err);
            cancel_requested = 0;
            kept_free(&before);
        }
        assert_int_equal(st, STATUS_OK);
        assert_int_equal(rounds, 4);
        assert_same(&got, &want);
        for (int i = 0; i < PASS_COUNT; i++)
            if (want.more[i])
                assert_memory_equal(got.more[i], want.more[i],
                                    12 * 9 * pass_infos[i].channels * sizeof(double));
        if (target)
            assert_memory_equal(got.counts, want.counts, 12 * 9 * sizeof *want.counts);

        uint64_t samples;
        job.resumed = &k.state;
        job.width++; /* of another shape, of fewer samples, of none */
        job.crop[2]++;
        assert_int_equal(reference_render(r, &job, &got, &err), STATUS_ARG);
        job.crop[2]--;
        assert_int_equal(reference_state_check(&k.state, 1, &samples, &err), STATUS_RANGE);
        k.state.pixel_size--;
        assert_int_equal(reference_render(r, &job, &got, &err), STATUS_ARG);
        kept_free(&k);
        reference_picture_free(&want);
        reference_picture_free(&got);
    }
    reference_close(r);
    scene_free(s);
}

static void test_bad_jobs(void **state)
{
    (void)state;
    struct scene *s = test_scene_new();
    struct reference *r = test_open(s);
    struct reference_picture p = {0};
    struct error err;
    struct reference_job job = JOB;
    job.width = 0;
    assert_int_equal(reference_render(r, &job, &p, &err), STATUS_ARG);
    job = JOB;
    job.sample_count = 0;
    assert_int_equal(reference_render(r, &job, &p, &err), STATUS_ARG);
    job = JOB;
    job.max_depth = 0;
    assert_int_equal(reference_render(r, &job, &p, &err), STATUS_ARG);
    job = JOB;
    job.sample_begin = UINT32_MAX;
    assert_int_equal(reference_render(r, &job, &p, &err), STATUS_ARG);
    assert_null(p.beauty);
    reference_close(r);
    test_scene_free(s);
}

/* Vertices beyond the caller's room are left out; the sample is the same. */
static void test_truncated_log(void **state)
{
    (void)state;
    struct scene *s = test_cornell();
    struct reference *r = test_open(s);
    struct reference_job job = JOB;
    job.rr_depth = 100;
    struct path_vertex two[3], all[6];
    memset(&two[2], 0x5a, sizeof two[2]);
    struct path_vertex guard = two[2];
    double L[3], full[3];
    size_t n, m, longest = 0;
    for (uint32_t i = 0; i < 64; i++) {
        reference_sample(r, &job, 10, 6, i, full, all, 6, &m);
        reference_sample(r, &job, 10, 6, i, L, two, 2, &n);
        assert_memory_equal(L, full, sizeof L);
        assert_int_equal(n, m < 2 ? m : 2);
        assert_memory_equal(two, all, n * sizeof *two);
        assert_memory_equal(&two[2], &guard, sizeof guard);
        longest = m > longest ? m : longest;
    }
    assert_int_equal(longest, 6);
    reference_close(r);
    test_scene_free(s);
}

/* Section 9: E = 36 - k for M = m 2^k; a sample above 2^(46 - E) is clamped to it, below 0 or not
 * finite it adds 0. */
static void test_film_limit(void **state)
{
    (void)state;
    struct scene *s = test_scene_new();
    test_emitter(s, 5); /* 5 = 0.625 2^3: E = 33, the limit 8192 */
    test_quad(s, 0, vec3(-9, -9, -2), vec3(18, 0, 0), vec3(0, 18, 0));
    struct reference *r = test_open(s);
    struct vec3 v = film_value(r, vec3(8191, 8193, -1));
    assert_true(v.x == 8191 && v.y == 8192 && v.z == 0);
    v = film_value(r, vec3(9000, -0.1, 1e300));
    assert_true(v.x == 8192 && v.y == 0 && v.z == 8192);
    assert_true(is_zero(film_value(r, vec3(1, NAN, 1))));
    assert_true(is_zero(film_value(r, vec3(1, 1, INFINITY))));
    reference_close(r);
    test_scene_free(s);
}

/* A rounded picture is the mean of whole numbers of the film's unit, each the nearest to a sample.
 */
static void test_rounded(void **state)
{
    (void)state;
    struct scene *s = test_cornell();
    struct reference *r = test_open(s);
    const struct reference_job job = {
        .width = 8, .height = 6, .sample_count = 3, .max_depth = 5, .rr_depth = 3, .rounded = true};
    const int E = film_exponent(s);
    struct reference_picture p;
    struct error err = {0};
    double moved = 0;
    if (reference_render(r, &job, &p, &err) != STATUS_OK)
        fail_msg("%s", err.msg);
    for (uint32_t i = 0; i < job.width * job.height; i++) {
        double sum[3] = {0}, L[3];
        for (uint32_t sample = 0; sample < job.sample_count; sample++) {
            reference_sample(r, &job, i % job.width, i / job.width, sample, L, NULL, 0, NULL);
            for (int c = 0; c < 3; c++) {
                sum[c] += nearbyint(ldexp(L[c], E));
                moved = fmax(moved, fabs(ldexp(L[c], E) - nearbyint(ldexp(L[c], E))));
            }
        }
        for (int c = 0; c < 3; c++)
            assert_true(p.beauty[3 * i + (size_t)c] == ldexp(sum[c], -E) / job.sample_count);
    }
    assert_true(moved > 0.4 && moved <= 0.5);
    reference_picture_free(&p);
    reference_close(r);
    test_scene_free(s);
}

/* Auxiliary passes: what stands in front of the camera. */
static void test_passes(void **state)
{
    (void)state;
    struct scene *s = test_scene_new();
    uint32_t red = test_material(s, (struct material){.base = {{0.5F, 0.25F, 0.125F}, -1}});
    test_quad(s, red, vec3(-9, -9, -2), vec3(0, 18, 0),
              vec3(18, 0, 0)); /* Ng away from the camera */
    s->camera.tan_half_fov = 0.001;
    struct reference_job job = {.width = 2, .height = 2, .sample_count = 4, .max_depth = 1};
    struct reference_picture p = test_render(s, &job);
    assert_true(p.albedo[0] == 0.5 && p.albedo[1] == 0.25 && p.albedo[2] == 0.125);
    assert_true(fabs(p.normal[2] - 1) < 1e-12); /* turned to the viewer */
    assert_true(fabs(p.depth[0] - 2) < 1e-5);
    assert_true(p.variance[0] == 0 && p.beauty[0] == 0);
    reference_picture_free(&p);
    s->triangle_count = 0; /* nothing there */
    p = test_render(s, &job);
    assert_true(p.albedo[0] == 0 && p.normal[2] == 0 && p.depth[0] == 0);
    reference_picture_free(&p);
    test_scene_free(s);
}

/* ---- passes, error target ------------------------------------------------------------------- */

static void test_all_passes(void **state)
{
    (void)state;
    struct scene *s = test_cornell();
    struct reference *r = test_open(s);
    struct reference_job job = JOB, shallow = JOB;
    struct error err = {0};
    struct passes passes;
    job.passes = PASSES_ALL;
    shallow.max_depth = 2;
    struct reference_picture plain = rendered(r, &JOB), all = rendered(r, &job),
                             two = rendered(r, &shallow);
    assert_same(&plain, &all);
    assert_int_equal(reference_passes(r, &all, PASSES_ALL, &passes, &err), STATUS_OK);
    for (size_t i = 0; i < 3 * (size_t)job.width * job.height; i++) {
        /* paths of at most two edges are what a depth of two leaves */
        assert_true(fabs(all.more[PASS_DIRECT][i] - two.beauty[i]) <= 1e-14 * two.beauty[i]);
        assert_true(passes.values[PASS_BEAUTY][i] == (float)plain.beauty[i]);
        assert_true(passes.values[PASS_INDIRECT][i] ==
                    (float)(plain.beauty[i] - all.more[PASS_DIRECT][i]));
    }
    for (size_t i = 0; i < (size_t)job.width * job.height; i++) {
        assert_true(passes.values[PASS_SAMPLES][i] == 9);
        assert_true(passes.values[PASS_SHADER][i] <= 0);
    }
    passes_free(&passes);
    assert_int_equal(reference_passes(r, &plain, 1u << PASS_UV, &passes, &err), STATUS_ARG);
    assert_non_null(strstr(err.msg, "uv"));
    reference_picture_free(&plain);
    reference_picture_free(&all);
    reference_picture_free(&two);
    reference_close(r);
    test_scene_free(s);
}

/* One sample a pixel on a sphere: the passes are closed forms of one another. */
static void test_passes_on_a_sphere(void **state)
{
    (void)state;
    struct scene *s = test_scene_new();
    struct error err = {0};
    test_sphere(s, test_diffuse(s, 0.5), vec3(0, 0, -3), 1);
    test_constant(s, 1);
    struct reference *r = test_open(s);
    struct reference_job job = {.width = 24,
                                .height = 24,
                                .sample_count = 1,
                                .max_depth = 1,
                                .rr_depth = 9,
                                .passes = PASSES_ALL};
    struct reference_picture p = rendered(r, &job);
    struct passes a;
    size_t hits = 0;
    assert_int_equal(reference_passes(r, &p, PASSES_ALL, &a, &err), STATUS_OK);
    for (size_t i = 0; i < 24 * 24; i++) {
        struct vec3 n = from_float(a.values[PASS_NORMAL] + 3 * i),
                    t = from_float(a.values[PASS_TANGENT] + 3 * i),
                    b = from_float(a.values[PASS_BITANGENT] + 3 * i),
                    P = from_float(a.values[PASS_POSITION] + 3 * i);
        if (a.values[PASS_MATERIAL][i] < 0) {
            assert_true(is_zero(n) && is_zero(t) && is_zero(b) && is_zero(P));
            assert_true(a.values[PASS_DEPTH][i] == 0 && a.values[PASS_BEAUTY][3 * i] == 1);
            continue;
        }
        hits++;
        assert_true(a.values[PASS_MATERIAL][i] == 0 && a.values[PASS_BEAUTY][3 * i] == 0);
        assert_true(length(sub(sub(P, vec3(0, 0, -3)), n)) < 1e-6);
        assert_true(fabs(length(P) - (double)a.values[PASS_DEPTH][i]) < 1e-6);
        /* u runs along the circle of latitude about z, v towards +z */
        struct vec3 around = normalize(vec3(-n.y, n.x, 0));
        assert_true(length(sub(t, around)) < 1e-6);
        assert_true(length(sub(b, cross(n, t))) < 1e-6 && b.z > 0);
        double v = (double)a.values[PASS_UV][2 * i + 1];
        assert_true(fabs(cos(PI * (1 - v)) - n.z) < 1e-6);
    }
    assert_true(hits > 40 && hits < 24 * 24);
    passes_free(&a);
    reference_picture_free(&p);
    reference_close(r);
    test_scene_free(s);
}

/* The mean of the pass ao over a picture of one point of the ground, where a disk of radius R stands
 * at height h: under a cosine density it hides R^2/(R^2 + h^2) of the sky. */
static double open_share(double R, double h, float distance, bool interface)
{
    struct scene *s = test_scene_new();
    struct error err = {0};
    double sum = 0;
    test_disk(s, test_diffuse(s, 0.5), vec3(0, 0, 0), vec3(0, 0, 1), 100);
    test_disk(s, test_diffuse(s, 0.5), vec3(0, 0, h), vec3(0, 0, 1), R);
    s->materials[1].interface = interface;
    test_camera(s, vec3(5, 0, h / 2), vec3(0, 0, 0), vec3(0, 0, 1), 1e-6);
    s->ao_distance = distance;
    struct reference *r = test_open(s);
    struct reference_job job = {.width = 8,
                                .height = 8,
                                .sample_count = 1000,
                                .max_depth = 1,
                                .rr_depth = 9,
                                .passes = 1u << PASS_AO};
    struct reference_picture p = rendered(r, &job);
    struct passes a;
    assert_int_equal(reference_passes(r, &p, 1u << PASS_AO, &a, &err), STATUS_OK);
    for (size_t i = 0; i < 64; i++)
        sum += (double)a.values[PASS_AO][i];
    passes_free(&a);
    reference_picture_free(&p);
    reference_close(r);
    test_scene_free(s);
    return sum / 64;
}

static void test_ambient_occlusion(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        const double R = 0.5 + i, h = 1.5, hidden = R * R / (R * R + h * h);
        /* five standard deviations of 64000 rays */
        assert_true(fabs(1 - hidden - open_share(R, h, 1e6F, false)) <
                    5 * sqrt(hidden * (1 - hidden) / 64000));
        assert_true(open_share(R, h, 1.499F, false) == 1);
        assert_true(open_share(R, h, 1e6F, true) == 1); /* interfaces hide nothing */
    }
}

/* Pixels stop at 32, 64 ... samples, alike for any number of threads; a target out of reach changes
 * nothing; the error that is left is about what was asked for. */
static void test_error_target(void **state)
{
    (void)state;
    struct scene *s = test_cornell();
    struct reference *r = test_open(s);
    struct reference_job job = {
        .width = 16, .height = 16, .sample_count = 600, .max_depth = 4, .rr_depth = 9, .seed = 5};
    struct reference_picture plain = rendered(r, &job);
    job.error_target = 1e-9;
    struct reference_picture never = rendered(r, &job);
    assert_same(&plain, &never);
    job.error_target = 0.08;
    job.threads = 1;
    struct reference_picture one = rendered(r, &job);
    job.threads = 3;
    struct reference_picture three = rendered(r, &job);
    assert_same(&one, &three);
    const size_t pixels = 16 * 16;
    assert_memory_equal(one.counts, three.counts, pixels * sizeof *one.counts);
    job.error_target = 0.16;
    struct reference_picture coarse = rendered(r, &job);
    size_t stopped = 0, sum = 0, coarse_sum = 0;
    for (size_t i = 0; i < pixels; i++) {
        uint32_t n = one.counts[i];
        assert_true(n == 600 || (n >= 32 && (n & (n - 1)) == 0));
        assert_int_equal(never.counts[i], 600);
        stopped += n < 600;
        sum += n, coarse_sum += coarse.counts[i];
    }
    assert_true(stopped > pixels / 4 && coarse_sum < sum && sum < 600 * pixels);
    /* against an independent picture with sixteen times the samples: the standardised error of the
     * pixels that stopped is 1 at most, but for the caveat of section 29, for which a half more is
     * allowed */
    job = (struct reference_job){.width = 16,
                                 .height = 16,
                                 .sample_count = 9600 / TEST_THINNING,
                                 .max_depth = 4,
                                 .rr_depth = 9,
                                 .seed = 6};
    struct reference_picture truth = rendered(r, &job);
    double M = 0, squares = 0;
    for (size_t i = 0; i < pixels; i++)
        M += luminance(from_double(truth.beauty + 3 * i)) / (double)pixels;
    for (size_t i = 0; i < pixels; i++) {
        double Y = luminance(from_double(truth.beauty + 3 * i));
        double e = (luminance(from_double(one.beauty + 3 * i)) - Y) / (0.08 * (Y + M) / 2);
        squares += one.counts[i] < 600 ? e * e / (double)stopped : 0;
    }
    assert_true(squares > 0.05 && squares < 1.5);
    reference_picture_free(&plain), reference_picture_free(&never);
    reference_picture_free(&one), reference_picture_free(&three);
    reference_picture_free(&coarse), reference_picture_free(&truth);
    reference_close(r);
    test_scene_free(s);
}

/* Chances of k of n when each comes with chance q. */
static void binomial(double q, uint32_t n, double *chance)
{
    for (uint32_t k = 0; k <= n; k++)
        chance[k] = exp(lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0) + k * log(q) +
                        (n - k) * log1p(-q));
}

/* Section 29's rule on one pixel whose samples are v with chance q, else 0, worked out: the chances
 * of each number of hits, round by round, without those that have stopped. Adds to *mean (over v)
 * and *count what they come to. */
static void stopped(double q, double T, uint32_t all, double *mean, double *count)
{
    enum { MOST = 512 };
    double now[MOST + 1], next[MOST + 1], more[MOST + 1];
    *mean = *count = 0;
    binomial(q, 32, now);
    for (uint32_t n = 32;; n *= 2) {
        for (uint32_t k = 0; k <= n; k++) {
            double p = (double)k / n;
            if (n < all && sqrt(p * (1 - p) / (n - 1)) > T * p)
                continue;
            *mean += now[k] * p, *count += now[k] * n;
            now[k] = 0;
        }
        if (n == all)
            return;
        binomial(q, n, more);
        for (uint32_t k = 0; k <= 2 * n; k++) {
            next[k] = 0;
            for (uint32_t j = k > n ? k - n : 0; j <= n && j <= k; j++)
                next[k] += now[j] * more[k - j];
        }
        memcpy(now, next, sizeof now);
    }
}

/* Section 29's bias, exactly: a black card that lets a share of the sky through, of one pixel. What
 * a sample finds is all or nothing. */
static void test_error_target_bias(void **state)
{
    (void)state;
    enum { PICTURES = 6000 / TEST_THINNING };
    static const char *const opacities[] = {"0.975", "0.75"};
    for (int i = 0; i < 2; i++) {
        struct text t = {0};
        struct scene *s;
        struct error err;
        text_printf(&t,
                    "{\"isophote\": 1, \"camera\": {\"origin\": [0, 0, 1], \"target\": [0, 0, 0], "
                    "\"fov\": 30}, \"environment\": {\"radiance\": 1}, \"materials\": {\"m\": "
                    "{\"type\": \"diffuse\", \"reflectance\": 0, \"opacity\": %s}}, \"objects\": "
                    "[{\"type\": \"disk\", \"radius\": 9, \"material\": \"m\"}]}",
                    opacities[i]);
        if (scene_load_memory("card.json", t.data, t.len, &s, &err) != STATUS_OK)
            fail_msg("%s", err.msg);
        struct reference *r = test_open(s);
        struct reference_job job = {.width = 1,
                                    .height = 1,
                                    .sample_count = 512,
                                    .max_depth = 3,
                                    .rr_depth = 9,
                                    .threads = 1,
                                    .error_target = i ? 0.03 : 0.2};
        double o = strtod(opacities[i], NULL), truth = 1 - o;
        double q = truth / (truth + 0.05 * o); /* section 20: lobes' chances */
        double mean, count, sum = 0, squares = 0, counts = 0, counts2 = 0;
        stopped(q, job.error_target, job.sample_count, &mean, &count);
        mean *= truth / q;
        for (uint32_t k = 0; k < PICTURES; k++) {
            job.seed = k;
            struct reference_picture p = rendered(r, &job);
            double n = p.counts[0];
            sum += p.beauty[0] / PICTURES, squares += p.beauty[0] * p.beauty[0] / PICTURES;
            counts += n / PICTURES, counts2 += n * n / PICTURES;
            reference_picture_free(&p);
        }
        double error = sqrt((squares - sum * sum) / PICTURES);
        double counts_error = sqrt((counts2 - counts * counts) / PICTURES);
        if (!(fabs(sum - mean) <= 4 * error && fabs(counts - count) <= 4 * counts_error))
            fail_msg("opacity %g: mean %g +- %g, worked out %g; samples %g +- %g, worked out %g", o,
                     sum, error, mean, counts, counts_error, count);
        /* T^2 (2 - g m / s), relative, to first order: of two values that is T^2 / (1 - q) */
        double first = pow(job.error_target, 2) / (1 - q) * truth;
        assert_true(sum - truth > 8 / sqrt(TEST_THINNING) * error && mean - truth > 0.5 * first &&
                    mean - truth < 1.5 * first);
        reference_close(r);
        scene_free(s);
        text_free(&t);
    }
}

/* A sphere that is noisy before a sky that is not: pixels of the sky stop after the first round,
 * but those that touch the sphere go on with it. */
static void test_neighbours_go_on(void **state)
{
    (void)state;
    enum { W = 20 };
    struct scene *s = test_scene_new();
    test_sphere(s, test_diffuse(s, 0.5), vec3(0.3, 0.2, -4), 1);
    test_disk(s, test_emitter(s, 30), vec3(0, 5, 4), vec3(0, -1, -1), 0.2);
    test_constant(s, 1);
    struct reference *r = test_open(s);
    const struct reference_job job = {.width = W,
                                      .height = W,
                                      .sample_count = 256,
                                      .max_depth = 2,
                                      .rr_depth = 9,
                                      .error_target = 1e-4};
    struct reference_picture p = rendered(r, &job);
    size_t kept = 0, stopped = 0;
    for (int i = 0; i < W * W; i++) {
        bool noisy = false;
        for (int k = 0; k < 9; k++) {
            int x = i % W + k % 3 - 1, y = i / W + k / 3 - 1;
            if (x >= 0 && x < W && y >= 0 && y < W)
                noisy |= p.variance[3 * (y * W + x)] > 0;
        }
        if (!noisy)
            assert_int_equal(p.counts[i], 32);
        kept += noisy && p.variance[3 * (size_t)i] == 0 && p.counts[i] == 256;
        stopped += !noisy;
    }
    assert_true(kept > 8 && stopped > 100);
    reference_picture_free(&p);
    reference_close(r);
    test_scene_free(s);
}

static void test_crop(void **state)
{
    (void)state;
    struct scene *s = test_cornell();
    struct reference *r = test_open(s);
    struct reference_job job = JOB;
    struct reference_picture whole = rendered(r, &job);
    const uint32_t crop[4] = {4, 3, 9, 7};
    memcpy(job.crop, crop, sizeof crop);
    struct reference_picture part = rendered(r, &job);
    assert_true(part.width == 9 && part.height == 7);
    for (size_t y = 0; y < 7; y++) {
        size_t at = (y + 3) * JOB.width + 4;
        assert_memory_equal(part.beauty + 27 * y, whole.beauty + 3 * at, 27 * sizeof(double));
        assert_memory_equal(part.depth + 9 * y, whole.depth + at, 9 * sizeof(double));
    }
    struct error err = {0};
    struct reference_picture none;
    job.crop[0] = 13;
    assert_int_equal(reference_render(r, &job, &none, &err), STATUS_ARG);
    assert_non_null(strstr(err.msg, "crop"));
    reference_picture_free(&whole);
    reference_picture_free(&part);
    reference_close(r);
    test_scene_free(s);
}

/* ---- cameras -------------------------------------------------------------------------------- */

static void near(double v, double expected)
{
    if (!(fabs(v - expected) < 1e-12))
        fail_msg("%.15g, expected %.15g", v, expected);
}

static void test_camera_rays(void **state)
{
    (void)state;
    struct scene *s = test_scene_new();
    struct camera *c = &s->camera; /* along -z, right is +x, up is +y */
    c->tan_half_fov = 0.5;
    const double none[2] = {0};
    const struct {
        enum fov_axis axis;
        uint32_t w, h;
        double tan_x, tan_y;
    } views[] = {{FOV_X, 40, 20, 0.5, 0.25},     {FOV_Y, 40, 20, 1, 0.5},
                 {FOV_SMALLER, 40, 20, 1, 0.5},  {FOV_LARGER, 40, 20, 0.5, 0.25},
                 {FOV_SMALLER, 20, 40, 0.5, 1},  {FOV_LARGER, 20, 40, 0.25, 0.5},
                 {FOV_SMALLER, 30, 30, 0.5, 0.5}};
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        c->fov_axis = views[i].axis;
        /* the top left corner of the picture is the top left corner of pixel (0, 0) */
        const double w = views[i].w, h = views[i].h;
        struct ray ray = camera_ray(c, views[i].w, views[i].h, none, none);
        near(ray.d.x / -ray.d.z, -views[i].tan_x);
        near(ray.d.y / -ray.d.z, views[i].tan_y);
        near(length(ray.d), 1);
        ray = camera_ray(c, views[i].w, views[i].h, (const double[2]){w / 2, h / 2}, none);
        near(ray.d.z, -1);
        /* half a pixel right of and below the middle */
        ray = camera_ray(c, views[i].w, views[i].h, (const double[2]){w / 2 + 0.5, h / 2 + 0.5},
                         none);
        near(ray.d.x / -ray.d.z, views[i].tan_x / views[i].w);
        near(ray.d.y / -ray.d.z, -views[i].tan_y / views[i].h);
    }
    /* A lens: rays start on it and meet at the plane of focus, where the pinhole's ray goes. */
    struct camera lens = *c;
    lens.lens_radius = 0.25;
    lens.focus_distance = 3;
    double widest = 0;
    for (uint32_t i = 0; i < 200; i++) {
        double u[4];
        random_block(5, i, 0, 0, 0, u);
        const double at[2] = {7 + u[0], 21 + u[1]};
        struct ray pinhole = camera_ray(c, 30, 30, at, u + 2),
                   ray = camera_ray(&lens, 30, 30, at, u + 2);
        near(ray.o.z, 0);
        widest = fmax(widest, length(ray.o));
        struct vec3 focus = add(ray.o, scale(-3 / ray.d.z, ray.d));
        struct vec3 sharp = scale(-3 / pinhole.d.z, pinhole.d);
        near(focus.x, sharp.x);
        near(focus.y, sharp.y);
    }
    assert_true(widest > 0.24 && widest <= 0.25);
    test_scene_free(s);
}

/* ---- textures ------------------------------------------------------------------------------- */

static double red_at(const struct texture *t, double u, double v)
{
    return texture_lookup(t, (const double[2]){u, v}).x;
}

static void test_textures(void **state)
{
    (void)state;
    /* 4 x 2, row 0 on top: 0 1 2 3 / 10 11 12 13 */
    float values[8] = {0, 1, 2, 3, 10, 11, 12, 13};
    struct texture t = {
        .image = {.width = 4, .height = 2, .channels = 1, .format = TEXEL_F32, .texels = values},
        .filter = FILTER_NEAREST,
        .scale = {1, 1}};
    /* v = 0 is the bottom */
    near(red_at(&t, 0.1, 0.1), 10);
    near(red_at(&t, 0.1, 0.9), 0);
    near(red_at(&t, 0.9, 0.9), 3);
    near(texture_lookup(&t, (const double[2]){0.9, 0.1}).z, 13); /* one channel makes gray */
    /* beyond the edge: one texel to the right, and two to the left */
    const struct {
        enum texture_wrap wrap;
        double right, left, far_left;
    } wraps[3] = {{WRAP_REPEAT, 0, 2, 3}, {WRAP_MIRROR, 3, 1, 0}, {WRAP_CLAMP, 3, 0, 0}};
    for (int i = 0; i < 3; i++) {
        t.wrap_u = t.wrap_v = wraps[i].wrap;
        near(red_at(&t, 1.1, 0.9), wraps[i].right);
        near(red_at(&t, -0.4, 0.9), wraps[i].left);
        near(red_at(&t, -2.1, 0.9), i == 1 ? 0 : wraps[i].far_left);
        near(red_at(&t, 0.1, 1.3), i == 0 ? 10 : 0);
    }
    /* bilinear: texel centres are exact, the middle of four is their mean, edges wrap */
    t.filter = FILTER_BILINEAR;
    t.wrap_u = t.wrap_v = WRAP_REPEAT;
    near(red_at(&t, 0.125, 0.75), 0);
    near(red_at(&t, 0.5, 0.5), (1 + 2 + 11 + 12) / 4.0);
    near(red_at(&t, 0, 0.75), 1.5); /* between 3 and 0 */
    near(red_at(&t, 0.25 * 0.5 + 0.25 * 0.3, 0.75), 0.3);
    t.wrap_u = WRAP_CLAMP;
    near(red_at(&t, 0, 0.75), 0);
    t.scale[0] = 2;
    t.offset[0] = 0.25F;
    near(red_at(&t, 0.125, 0.75), 1.5); /* u = 0.5 */
    /* what is no place becomes 0: the left edge, and the top one (y = 0), each by itself */
    t.scale[0] = 1;
    t.offset[0] = 0;
    t.filter = FILTER_NEAREST;
    near(red_at(&t, NAN, 0.1), 10);
    near(red_at(&t, 1e9, 0.9), 0);
    near(red_at(&t, 0.6, INFINITY), 2);
    near(red_at(&t, -0x1p20, -0x1p20), 0);
    /* bytes: linear and sRGB (IEC 61966-2-1: 188 of 255 is half the light, to half a step) */
    uint8_t bytes[4] = {188, 0, 255, 7};
    t = (struct texture){.image = {.width = 1, .height = 1, .channels = 4, .texels = bytes},
                         .scale = {1, 1}};
    near(red_at(&t, 0.5, 0.5), 188 / 255.0);
    t.image.srgb = true;
    assert_true(fabs(red_at(&t, 0.5, 0.5) - 0.5) < 0.005);
    near(red_at(&t, 0.5, 0.5), pow((188 / 255.0 + 0.055) / 1.055, 2.4));
    bytes[0] = 10; /* the linear part */
    near(red_at(&t, 0.5, 0.5), 10 / 255.0 / 12.92);
    struct vec3 c = texture_lookup(&t, (const double[2]){0.5, 0.5});
    near(c.y, 0);
    near(c.z, 1);
}

/* Turned by r about (0, 0) after the scale and before the offset; alpha as a channel. */
static void test_turned_textures(void **state)
{
    (void)state;
    float values[16 * 4]; /* 4 x 4: red = column + 10 row from the top, alpha = 100 + that */
    for (int i = 0; i < 16; i++)
        for (int c = 0; c < 4; c++)
            values[4 * i + c] = (float)((c == 3 ? 100 : 0) + i % 4 + 10 * (i / 4));
    struct texture t = {
        .image = {.width = 4, .height = 4, .channels = 4, .format = TEXEL_F32, .texels = values},
        .filter = FILTER_NEAREST,
        .scale = {1, 1},
        .turn = {0, 1}};            /* 90 degrees: (u, v) -> (-v, u) */
    near(red_at(&t, 0.9, 0.1), 3);  /* (-0.1, 0.9): last column, top row */
    near(red_at(&t, 0.1, 0.3), 32); /* (-0.3, 0.1) */
    t.offset[0] = 0.25F;
    near(red_at(&t, 0.9, 0.1), 0); /* (0.15, 0.9) */
    t.offset[0] = 0;
    t.scale[0] = 0.5F;
    near(red_at(&t, 0.9, 0.1), 23); /* (-0.1, 0.45) */
    /* the closed form of a turn by 30 degrees, on a ramp that bilinear filtering continues */
    t.filter = FILTER_BILINEAR;
    t.scale[0] = 1;
    t.turn[0] = (float)cos(M_PI / 6);
    t.turn[1] = 0.5F;
    double u = 0.5 * cos(M_PI / 6) - 0.3 * 0.5, v = 0.5 * 0.5 + 0.3 * cos(M_PI / 6);
    double ramp = 4 * u - 0.5 + 10 * (4 * (1 - v) - 0.5);
    assert_true(fabs(red_at(&t, 0.5, 0.3) - ramp) < 1e-5); /* cos 30 is a float: 4e-8, times 40 */
    assert_true(fabs(texture_channel(&t, (const double[2]){0.5, 0.3}, 3) - ramp - 100) < 1e-5);
    near(texture_channel(&t, (const double[2]){0.5, 0.3}, 1), red_at(&t, 0.5, 0.3));
    /* alpha is never decoded; 1 where there is none */
    uint8_t bytes[4] = {188, 0, 255, 51};
    t = (struct texture){
        .image = {.width = 1, .height = 1, .channels = 4, .srgb = true, .texels = bytes},
        .scale = {1, 1}};
    near(texture_channel(&t, (const double[2]){0.5, 0.5}, 3), 0.2);
    t.image.channels = 3;
    near(texture_channel(&t, (const double[2]){0.5, 0.5}, 3), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_replay),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_progress_and_cancel),
        cmocka_unit_test(test_goes_on),
        cmocka_unit_test(test_bad_jobs),
        cmocka_unit_test(test_truncated_log),
        cmocka_unit_test(test_film_limit),
        cmocka_unit_test(test_rounded),
        cmocka_unit_test(test_passes),
        cmocka_unit_test(test_all_passes),
        cmocka_unit_test(test_passes_on_a_sphere),
        cmocka_unit_test(test_ambient_occlusion),
        cmocka_unit_test(test_error_target),
        cmocka_unit_test(test_error_target_bias),
        cmocka_unit_test(test_neighbours_go_on),
        cmocka_unit_test(test_crop),
        cmocka_unit_test(test_camera_rays),
        cmocka_unit_test(test_textures),
        cmocka_unit_test(test_turned_textures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
