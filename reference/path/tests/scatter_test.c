/* SPDX-License-Identifier: Apache-2.0 */
/* reference_scatter remembers what a shader made of a place: whoever asks, in whatever order, gets
 * the bits of who asks once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "reference.h"
#include "scenes.h"

/* Closures that depend on all that a question may change: place, neighbours, side, random numbers. */
static const char text[] =
    "{\"isophote\": 1, \"camera\": {\"origin\": [0, 0, 4], \"target\": [0, 0, 0], \"fov\": 20},"
    "\"film\": {\"width\": 8, \"height\": 8}, \"materials\": {\"m\": {\"type\": \"shader\", "
    "\"source\": \"surface m() { color c = noise(7 * P + 3 * I) * (1 + filterwidth(u)); "
    "Ci = c * diffuse(N) + 0.3 * u * microfacet(\\\"ggx\\\", N, 0.2 + 0.5 * v, 1.5, 0) + "
    "(0.2 + c + Dx(P)[0] + dot(dPdu, vector(1, 2, 3)) + (raytype(\\\"camera\\\") ? 0.25 : 0)) * "
    "emission(); }\"}}, "
    "\"objects\": [{\"type\": \"rectangle\", \"material\": \"m\"}]}";

enum { PLACES = 3, MOTIONS = 3, CONTRACTS = 3, QUESTIONS = 2 * PLACES * MOTIONS * CONTRACTS };

static struct scene *scene;

static struct reference *opened(void)
{
    struct reference *r = NULL;
    struct error err = {0};
    if (reference_open(scene, &r, &err) != STATUS_OK)
        fail_msg("%s", err.msg);
    return r;
}

/* Question i of QUESTIONS, each about another place, motion, contraction or kind of ray. */
static void ask(const struct reference *r, int i, bool has_wi, bool has_u,
                struct reference_scattered *out)
{
    static const double wi[3] = {0.48, 0.6, 0.64}, u[3] = {0.3, 0.6, 0.1};
    const struct reference_job job = {.width = 8, .height = 8, .sample_count = 1};
    double moved[REFERENCE_MOTIONS] = {0};
    const int place = i % PLACES, motion = i / PLACES % MOTIONS;
    struct reference_vertex v = {.x = 3,
                                 .y = 4,
                                 .k = 1,
                                 .t = 4,
                                 .length = 4,
                                 .raytype = i < QUESTIONS / 2 ? 1 : 2,
                                 .contract = (uint32_t)(i / (PLACES * MOTIONS) % CONTRACTS)};
    if (motion == 1)
        moved[GLOBAL_P_CHANGES] = 0x1p-10;
    if (motion == 2)
        moved[GLOBAL_TANGENTS] = 0x1p-10;
    v.moved = motion ? moved : NULL;
    v.P[0] = 0.1 * place, v.P[1] = 0.2;
    v.origin[0] = v.P[0], v.origin[1] = v.P[1], v.origin[2] = 4;
    v.direction[2] = -1;
    v.Ng[2] = v.Ns[2] = 1;
    v.uv[0] = 0.5 + v.P[0] / 2, v.uv[1] = 0.6;
    reference_scatter(r, &job, &v, has_wi ? wi : NULL, has_u ? u : NULL, out);
}

/* What both were asked for. */
static bool same(const struct reference_scattered *a, const struct reference_scattered *b, bool wi,
                 bool u)
{
    return memcmp(a->emitted, b->emitted, sizeof a->emitted) == 0 && a->lit == b->lit &&
           a->least == b->least && a->through == b->through &&
           (!wi || memcmp(a->F, b->F, sizeof a->F) == 0) &&
           (!u || (memcmp(a->wi, b->wi, sizeof a->wi) == 0 &&
                   memcmp(a->weight, b->weight, sizeof a->weight) == 0 && a->ok == b->ok));
}

static void answers_do_not_depend_on_what_was_asked_before(void **state)
{
    (void)state;
    struct reference_scattered first[QUESTIONS], got;
    struct reference *many = opened();
    for (int i = 0; i < QUESTIONS; i++) { /* a reference that was asked nothing before */
        struct reference *fresh = opened();
        ask(fresh, i, true, true, &first[i]);
        reference_close(fresh);
        assert_true(first[i].ok && first[i].lit);
        for (int j = 0; j < i; j++) /* each depends on all that differs */
            assert_memory_not_equal(first[i].emitted, first[j].emitted, sizeof first[i].emitted);
    }
    for (int turn = 0; turn < 3; turn++)
        for (int n = 0; n < QUESTIONS; n++) {
            const int i = turn == 1 ? QUESTIONS - 1 - n : n;
            ask(many, i, true, true, &got);
            assert_true(same(&got, &first[i], true, true));
            ask(many, i, false, true, &got);
            assert_true(same(&got, &first[i], false, true));
            ask(many, i, true, false, &got);
            assert_true(same(&got, &first[i], true, false));
        }
    reference_close(many);
}

int main(void)
{
    struct error err = {0};
    if (scene_load_memory("scatter.json", text, strlen(text), &scene, &err) != STATUS_OK) {
        print_error("%s\n", err.msg);
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_do_not_depend_on_what_was_asked_before),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scene_free(scene);
    return failed;
}
