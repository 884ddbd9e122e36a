/* SPDX-License-Identifier: Apache-2.0 */
/* Random scenes, their reducer and their relations, without a device. */
#include "generate/offers.h"
#include "scenes.h"

#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SCENES = 60, READ = 1000 };

/* Which of the words a scene has; each must be in one of them. */
static void note_words(const struct text *scene, const char *const *words, size_t n, bool *seen)
{
    for (size_t i = 0; i < n; i++)
        seen[i] = seen[i] || strstr(scene->data, words[i]);
}
static void all_were_seen(const char *const *words, size_t n, const bool *seen)
{
    for (size_t i = 0; i < n; i++)
        if (!seen[i])
            fail_msg("no scene has %s", words[i]);
}

static void make(uint64_t seed, uint64_t number, struct text *t)
{
    struct error err = {0};
    *t = (struct text){0};
    if (scene_generate(seed, number, NULL, t, &err) != STATUS_OK)
        fail_msg("%s", err.msg);
}

static void is_pure(void **state)
{
    (void)state;
    struct text one, two, other;
    for (uint64_t i = 0; i < SCENES; i++) {
        const uint64_t seed = i * UINT64_C(0x123456789abcdef);
        make(seed, i, &one);
        make(seed, i, &two);
        assert_string_equal(one.data, two.data);
        make(seed, i + 1, &other);
        assert_string_not_equal(one.data, other.data);
        text_free(&other);
        make(seed + (UINT64_C(1) << 63), i, &other); /* every bit of a seed counts */
        assert_string_not_equal(one.data, other.data);
        text_free(&other);
        text_free(&one);
        text_free(&two);
    }
}

/* What the reader takes is what docs/reference/scenes.md allows; what scenes say of it is asked in
 * schema_test.c. */
static void loads(void **state)
{
    (void)state;
    static const char *const rays[] = {" occlusion(", "trace(P,", "trace(P +", "ambient_occlusion(",
                                       "getmessage(\\\"trace\\\""};
    enum { RAYS = sizeof rays / sizeof *rays };
    bool seen[RAYS] = {false};
    for (uint64_t i = 0; i < READ; i++) {
        struct text t;
        struct scene *s = NULL;
        struct error err = {0};
        char told[1536];
        make(11, i, &t);
        if (scene_load_memory("random.json", t.data, t.len, &s, &err) != STATUS_OK) {
            error_format(&err, told, sizeof told);
            fail_msg("scene %llu of seed 11: %s", (unsigned long long)i, told);
        }
        assert_true(scene_effective_count(s) > 0);
        note_words(&t, rays, RAYS, seen);
        scene_free(s);
        text_free(&t);
    }
    all_were_seen(rays, RAYS, seen);
}

/* Between them the dense scenes say each closure of protocol section 21 that has lobes. */
static void dense(void **state)
{
    (void)state;
    static const char *const words[] = {"diffuse(",
                                        "oren_nayar(",
                                        "burley_diffuse_bsdf(",
                                        "sheen_bsdf(",
                                        "translucent(",
                                        "phong(",
                                        "ward(",
                                        "microfacet(",
                                        "reflection(",
                                        "refraction(",
                                        "dielectric_bsdf(",
                                        "conductor_bsdf(",
                                        "generalized_schlick_bsdf(",
                                        "principled(",
                                        "transparent(",
                                        "subsurface(",
                                        "raytype(",
                                        "environment(",
                                        "texture(",
                                        "spline(",
                                        "splineinverse(",
                                        "transform(",
                                        "transformc(",
                                        "noise(",
                                        "calculatenormal(",
                                        "blackbody(",
                                        "wavelength_color(",
                                        "aastep("};
    enum { WORDS = sizeof words / sizeof *words };
    bool seen[WORDS] = {false};
    size_t materials = 0;
    for (uint32_t part = 0; part < SCENE_DENSE_PARTS; part++) {
        struct text t = {0};
        struct scene *s = NULL;
        struct error err = {0};
        assert_int_equal(scene_dense(part, NULL, &t, &err), STATUS_OK);
        if (scene_load_memory("dense.json", t.data, t.len, &s, &err) != STATUS_OK)
            fail_msg("dense scene %u: %s", part, err.msg);
        materials += s->material_count;
        note_words(&t, words, WORDS, seen);
        scene_free(s);
        text_free(&t);
    }
    all_were_seen(words, WORDS, seen);
    assert_true(materials > 60);
}

/* ---- each builtin in a scene ------------------------------------------------------------------ */

struct called {
    const struct asl_builtin_row *rows;
    size_t count;
    bool seen[512];
};

static void note_call(void *ctx, const char *builtin, struct src_pos at)
{
    struct called *c = ctx;
    (void)at;
    for (size_t i = 0; i < c->count; i++)
        c->seen[i] = c->seen[i] || strcmp(c->rows[i].name, builtin) == 0;
}

/* What surfaces call is asked of their programs. A volume's is gone when its medium is known. */
static void note_scene(struct called *c, const char *name, const char *data, size_t size)
{
    struct scene *s = NULL;
    struct error err = {0};
    if (scene_load_memory(name, data, size, &s, &err) != STATUS_OK)
        fail_msg("%s: %s", name, err.msg);
    for (size_t i = 0; i < s->material_count; i++) {
        struct asl_survey survey = {.ctx = c, .call = note_call};
        const struct shading *sh = s->materials[i].shading;
        if (sh)
            assert_int_equal(asl_group_survey(sh->group, &survey, &err), STATUS_OK);
        for (size_t k = 0; s->materials[i].medium.present && k < c->count; k++)
            c->seen[k] =
                c->seen[k] || (strstr(c->rows[k].name, "_vdf") && strstr(data, c->rows[k].name));
    }
    scene_free(s);
}

/* A scene of the lists image.dense and image.edges calls each builtin: in mode strict every device
 * gives native's bits there, and native is in step with the reference. */
static void builtins(void **state)
{
    (void)state;
    /* The first writes a file in the folder where conform runs; shader_test has it on devices. */
    static const char *const without[] = {"fprintf"};
    struct called c = {0};
    struct arena a = {0};
    struct error err = {0};
    const char *folder;
    size_t wrong = 0;
    c.rows = asl_builtin_rows(&c.count);
    assert_in_range(c.count, 100, sizeof c.seen / sizeof *c.seen);
    for (uint32_t part = 0; part < SCENE_DENSE_PARTS; part++) {
        struct text t = {0};
        assert_int_equal(scene_dense(part, NULL, &t, &err), STATUS_OK);
        note_scene(&c, "dense.json", t.data, t.len);
        text_free(&t);
    }
    assert_int_equal(data_path(&a, "scenes/dense", &folder, &err), STATUS_OK);
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
        const char *end = strrchr(e->d_name, '.'), *path;
        char *data;
        size_t size;
        if (!end || strcmp(end, ".json") != 0)
            continue;
        assert_non_null(path = arena_printf(&a, "%s/%s", folder, e->d_name));
        assert_int_equal(file_read(&a, path, 0, &data, &size, &err), STATUS_OK);
        note_scene(&c, path, data, size);
    }
    (void)closedir(dir);
    for (size_t i = 0; i < c.count; i++) {
        bool excused = strcmp(c.rows[i].derivatives, "refused") == 0;
        for (size_t k = 0; k < sizeof without / sizeof *without; k++)
            excused = excused || strcmp(c.rows[i].name, without[k]) == 0;
        if (c.seen[i] == excused)
            print_error("%s is called by %s scene\n", c.rows[i].name, excused ? "a" : "no");
        wrong += c.seen[i] == excused;
    }
    assert_int_equal(wrong, 0);
    arena_free(&a);
}

/* A tree that was read and written is the same scene. */
static void trees_keep(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 10; i++) {
        struct arena a = {0};
        struct text t, again = {0};
        struct scene *s = NULL, *other = NULL;
        struct scene_node *tree = NULL;
        make(5, i, &t);
        assert_int_equal(scene_tree_read(&a, t.data, t.len, &tree, NULL), STATUS_OK);
        scene_tree_write(scene_tree_copy(&a, tree), &again);
        assert_int_equal(scene_load_memory("a.json", t.data, t.len, &s, NULL), STATUS_OK);
        assert_int_equal(scene_load_memory("a.json", again.data, again.len, &other, NULL),
                         STATUS_OK);
        assert_string_equal(s->hash, other->hash);
        scene_free(s);
        scene_free(other);
        text_free(&t);
        text_free(&again);
        arena_free(&a);
    }
}

/* ---- relations ------------------------------------------------------------------------------ */

/* Every relation holds for some of the scenes, and then the other scene loads and is another. */
static void relations_apply(void **state)
{
    (void)state;
    const struct scene_relation *r;
    for (size_t k = 0; (r = scene_relation_at(k)); k++) {
        unsigned applied = 0;
        for (uint64_t i = 0; i < 200 && applied < 2 && r->apply; i++) {
            struct arena a = {0};
            struct text t, other = {0};
            struct scene_node *tree = NULL;
            struct error err = {0};
            make(23, i, &t);
            assert_int_equal(scene_tree_read(&a, t.data, t.len, &tree, NULL), STATUS_OK);
            if (r->apply(&a, tree)) {
                struct scene *s = NULL;
                scene_tree_write(tree, &other);
                if (scene_load_memory("other.json", other.data, other.len, &s, &err) != STATUS_OK)
                    fail_msg("%s on scene %llu: %s", r->name, (unsigned long long)i, err.msg);
                assert_string_not_equal(t.data, other.data);
                scene_free(s);
                applied++;
            }
            text_free(&t);
            text_free(&other);
            arena_free(&a);
        }
        if (r->apply && !applied)
            fail_msg("%s holds for no scene", r->name);
    }
}

static const char plain[] =
    "{\"isophote\": 1, \"camera\": {\"origin\": [1, 2, 5], \"target\": [0, 0, 0]},"
    "\"materials\": {\"a\": {\"type\": \"diffuse\", \"emission\": 2}, \"b\": {\"type\": "
    "\"diffuse\"}},"
    "\"lights\": [{\"type\": \"point\", \"position\": [1, 3, 0], \"intensity\": 6}],"
    "\"objects\": [{\"type\": \"sphere\", \"material\": \"a\", \"center\": [1, 0, 0]},"
    "{\"type\": \"rectangle\", \"material\": \"b\"}]}";

static struct scene *by_relation(const char *name)
{
    const struct scene_relation *r = NULL;
    struct arena a = {0};
    struct text t = {0};
    struct scene_node *tree = NULL;
    struct scene *s = NULL;
    for (size_t k = 0; (r = scene_relation_at(k)) && strcmp(r->name, name) != 0;)
        k++;
    if (!r)
        fail_msg("there is no relation %s", name);
    assert_int_equal(scene_tree_read(&a, plain, sizeof plain - 1, &tree, NULL), STATUS_OK);
    assert_true(r && r->apply(&a, tree));
    scene_tree_write(tree, &t);
    assert_int_equal(scene_load_memory("plain.json", t.data, t.len, &s, NULL), STATUS_OK);
    text_free(&t);
    arena_free(&a);
    return s;
}

/* What they do to a scene of a light, a lamp and a wall. */
static void relations_mean(void **state)
{
    (void)state;
    struct scene *s = by_relation("brightness");
    assert_true(s->materials[0].emission[0] == 16 && s->lights[0].intensity[0] == 48);
    scene_free(s);
    s = by_relation("size");
    assert_true(s->spheres[0].radius == 4 && s->spheres[0].center[0] == 4);
    assert_true(s->lights[0].intensity[0] == 96 && s->camera.origin[2] == 20);
    scene_free(s);
    s = by_relation("mirror");
    assert_true(s->spheres[0].center[0] == -1 && s->camera.origin[0] == -1);
    scene_free(s);
    s = by_relation("turn"); /* x goes to y, y to z, z to x */
    assert_true(s->spheres[0].center[1] == 1 && s->camera.origin[0] == 5 &&
                s->camera.origin[1] == 1 && s->camera.origin[2] == 2);
    scene_free(s);
    s = by_relation("split-lights");
    assert_int_equal(s->light_count, 2);
    assert_true(s->lights[0].intensity[0] == 3 && s->lights[1].intensity[0] == 3);
    scene_free(s);
    s = by_relation("cut");
    assert_int_equal(s->triangle_count, 4);
    scene_free(s);
}

/* ---- the reducer ---------------------------------------------------------------------------- */

static bool has_spot(void *ctx, const char *text, size_t size)
{
    struct scene *s = NULL;
    bool spot = false;
    ++*(size_t *)ctx;
    if (scene_load_memory("small.json", text, size, &s, NULL) != STATUS_OK)
        return false;
    for (size_t i = 0; i < s->light_count; i++)
        spot = spot || s->lights[i].type == LIGHT_SPOT;
    scene_free(s);
    return spot;
}

/* All that is left of a scene with a spot is what the reader wants of one. */
static void reduces(void **state)
{
    (void)state;
    unsigned reduced = 0;
    for (uint64_t i = 0; i < 60 && reduced < 2; i++) {
        struct text t, small = {0};
        struct scene_reduction what = {0};
        size_t asked = 0;
        make(31, i, &t);
        if (has_spot(&asked, t.data, t.len)) {
            assert_int_equal(scene_reduce(t.data, t.len, has_spot, &asked, 60, &small, &what, NULL),
                             STATUS_OK);
            assert_true(what.complete && has_spot(&asked, small.data, small.len));
            assert_null(strstr(small.data, "material"));
            assert_null(strstr(small.data, "\"type\": \"point\""));
            assert_true(what.bytes_after < 400 && what.bytes_after < what.bytes_before);
            reduced++;
        }
        text_free(&t);
        text_free(&small);
    }
    assert_int_equal(reduced, 2);
    struct text small = {0};
    struct scene_reduction what;
    size_t asked = 0;
    assert_int_equal(
        scene_reduce(plain, sizeof plain - 1, has_spot, &asked, 9, &small, &what, NULL),
        STATUS_MISMATCH);
    assert_int_equal(scene_reduce("{", 1, has_spot, &asked, 9, &small, &what, NULL), STATUS_PARSE);
    text_free(&small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_pure),        cmocka_unit_test(loads),
        cmocka_unit_test(trees_keep),     cmocka_unit_test(dense),
        cmocka_unit_test(builtins),       cmocka_unit_test(relations_apply),
        cmocka_unit_test(relations_mean), cmocka_unit_test(reduces)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
