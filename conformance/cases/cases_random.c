/* SPDX-License-Identifier: Apache-2.0 */
/* image.random.SEED-NUMBER: a scene that the generator makes, by bits, steps and relations; and
 * image.relations.SCENE. What fails is made smaller and kept in a file. */
#include "answers.h"
#include "cases_image.h"
#include "generate/offers.h"
#include "scene_trial.h"
#include "steps/offers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char prefix[] = "image.random.", edges[] = "image.edges.";
/* image.edges.N: scenes/dense, then scenes of the generator, at random once and for all. */
static const char *const edge_scenes[] = {"arguments", "full", "lookups"};
enum { EDGE_SCENES = sizeof edge_scenes / sizeof *edge_scenes, DRAWN_SEED = 2311 };
/* scenes/dense: those that are written by hand, from image.dense.5 on. */
static const char *const written[] = {"everything", "more",  "attributes", "irregular",
                                      "footprints", "kinds", "procedures", "subimages",
                                      "limits",     "masks", "rays",       "builtins",
                                      "passages",   "plain", "slopes"};
static const double reduce_s = 60; /* half of a case's run budget */
/* Modes other than strict are programs of their own: compiled for every fourth scene on native. */
enum { LOOSE_EVERY = 4 };

/* ---- findings ------------------------------------------------------------------------------- */

struct showing {
    const struct scene_trial *trial;
    char kind[64];
};

static bool still_shows(void *ctx, const char *text, size_t size)
{
    const struct showing *s = ctx;
    struct scene_found f = {0};
    struct scene_trial t = *s->trial;
    t.only = s->kind;
    return scene_trial_run(&t, text, size, &f, NULL) == STATUS_OK && f.found &&
           strcmp(f.kind, s->kind) == 0;
}

/* The cache folder's findings/scene-NAME-HASH.json. */
static enum status write_scene(const char *name, const struct text *scene, char *path, size_t size,
                               struct error *err)
{
    char dir[3072], hex[33];
    TRY(cache_dir("findings", dir, sizeof dir, err));
    hash_bytes(scene->data, scene->len, hex);
    (void)snprintf(path, size, "%s/scene-%s-%.8s.json", dir, name, hex);
    return file_write(path, scene->data, scene->len, err);
}

/* The command that shows it again on the smaller scene. */
static const char *replay_command(struct run_context *c, const char *kind, const char *path)
{
    const char *id = shell_word(c->arena, c->device_id), *file = shell_word(c->arena, path);
    if (!id || !file)
        return NULL;
    if (strncmp(kind, "read", 4) == 0)
        return arena_printf(c->arena, "isophote scenes describe %s", file);
    const char *stem = path_stem(c->arena, path);
    return arena_printf(
        c->arena, "isophote conform %s --device %s --filter '^image[.](%s)[.]%s$'", file, id,
        strncmp(kind, "relation", 8) == 0 ? "relations" : "strict|lockstep", stem ? stem : "");
}

/* What is to blame, as cases of pictures have it. */
static void first_json(struct json_writer *w, const struct scene_found *f)
{
    if (!f->cause.stage[0])
        return;
    json_key(w, "first");
    json_begin_object(w);
    json_key_string(w, "stage", f->cause.stage);
    json_key_string(w, "field", f->cause.field);
    json_key_string(w, "function", f->cause.function);
    json_end_object(w);
}

static enum status fail_with_scene(struct run_context *c, const struct scene_trial *t,
                                   const char *name, const char *text, size_t size,
                                   const struct scene_found *f, struct error *err)
{
    struct showing s = {.trial = t};
    struct text small = {0};
    struct scene_reduction what = {0};
    char path[4096] = "";
    if (case_of_mutant(c)) { /* it is asked whether something shows, a thousand times */
        struct json_writer told = {0};
        json_begin_object(&told);
        first_json(&told, f);
        json_end_object(&told);
        case_detail(c, &told);
        return case_fail(c, "%s", f->text);
    }
    memcpy(s.kind, f->kind, sizeof s.kind);
    enum status st = scene_reduce(text, size, still_shows, &s, reduce_s, &small, &what, err);
    if (st == STATUS_MISMATCH) { /* not in a second run, which is a finding too: the whole scene */
        text_append(&small, text, size);
        st = small.failed ? STATUS_MEMORY : STATUS_OK;
    }
    if (st == STATUS_OK)
        st = write_scene(name, &small, path, sizeof path, err);
    text_free(&small);
    if (st != STATUS_OK)
        return st;
    struct json_writer w = {0};
    json_begin_object(&w);
    json_key_string(&w, "kind", f->kind);
    json_key_string(&w, "reduced", path);
    json_key_integer(&w, "bytes", (int64_t)size);
    json_key_integer(&w, "bytes_reduced", (int64_t)what.bytes_after);
    json_key_integer(&w, "tests", (int64_t)what.tests);
    json_key_bool(&w, "complete", what.complete);
    first_json(&w, f);
    json_end_object(&w);
    case_detail(c, &w);
    c->result->replay = replay_command(c, f->kind, path);
    return case_fail(c, "%s; made smaller: %s%s", f->text, path,
                     what.bytes_after ? "" : " (whole: it did not show in a second run)");
}

/* ---- cases ---------------------------------------------------------------------------------- */

static bool digits(const char **at, uint64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoull(*at, &end, 10);
    const bool are = **at >= '0' && **at <= '9' && errno == 0;
    *at = end;
    return are;
}

bool random_word(const char *word, uint64_t *seed, uint64_t *number)
{
    return digits(&word, seed) && *word++ == '-' && digits(&word, number) && *word == 0;
}

enum status conform_random_scene(const char *word, struct text *out, struct error *err)
{
    uint64_t seed, number;
    if (!random_word(word, &seed, &number))
        return error_msg(err, STATUS_ARG,
                         "'%s': expected SEED-NUMBER, both from 0 to 2^64 - 1, as of the case "
                         "image.random.SEED-NUMBER",
                         word);
    return scene_generate(seed, number, NULL, out, err);
}

static bool parse_name(const char *name, uint64_t *seed, uint64_t *number)
{
    return strncmp(name, prefix, sizeof prefix - 1) == 0 &&
           random_word(name + sizeof prefix - 1, seed, number);
}

static enum status judge_random(struct run_context *c, struct error *err)
{
    struct text text = {0};
    struct scene_found f;
    uint64_t seed, number;
    if (!parse_name(c->name, &seed, &number))
        return error_msg(err, STATUS_TYPE, "there is no case %s", c->name);
    TRY(case_device(c, err));
    enum status s = scene_generate(seed, number, NULL, &text, err);
    const char *name = c->name + sizeof prefix - 1;
    const struct scene_trial t = {.device = c->device,
                                  .device_id = c->device_id,
                                  .loose = number % LOOSE_EVERY == 0,
                                  .path = arena_printf(c->arena, "random-%s.json", name)};
    if (s == STATUS_OK && !t.path)
        s = error_msg(err, STATUS_MEMORY, "out of memory for a scene's name");
    if (s == STATUS_OK)
        s = scene_trial_run(&t, text.data, text.len, &f, err);
    if (s == STATUS_OK) {
        c->compared += f.compared;
        s = f.found ? fail_with_scene(c, &t, name, text.data, text.len, &f, err)
                    : case_pass(c, "%llu values, %u relations%s%s", (unsigned long long)f.compared,
                                f.relations, f.strict ? "" : "; not in mode strict: ", f.why);
    }
    text_free(&text);
    return s;
}

/* Which scene a case has. The text of one of DENSE's parts, or EDGES', from 0. */
struct part {
    bool edge;
    uint32_t number;
};

static struct part part_of(const struct run_context *c)
{
    return (struct part){strncmp(c->name, edges, sizeof edges - 1) == 0,
                         (uint32_t)strtoul(strrchr(c->name, '.') + 1, NULL, 10) - 1};
}

/* Its file in scenes/dense; NULL: it is made. */
static const char *file_of(struct part part)
{
    if (part.edge)
        return part.number < EDGE_SCENES ? edge_scenes[part.number] : NULL;
    return part.number < SCENE_DENSE_PARTS ? NULL : written[part.number - SCENE_DENSE_PARTS];
}

/* The text of its scene, and the path beside which its files stand. pictures: NULL, or the folder of
 * textures as shaders are to name it. */
static enum status dense_scene(struct run_context *c, struct part part, const char *pictures,
                               const char **path, struct text *out, struct error *err)
{
    const char *name = file_of(part);
    char *data, file[64];
    size_t size;
    if (!name) {
        TRY(data_path(c->arena, "scenes/library/textures", path, err));
        *path = arena_printf(c->arena, "%s/../dense.json", *path);
        if (!*path)
            return error_msg(err, STATUS_MEMORY, "out of memory for a scene's name");
        return part.edge ? scene_generate(DRAWN_SEED, part.number - EDGE_SCENES, pictures, out, err)
                         : scene_dense(part.number, pictures, out, err);
    }
    (void)snprintf(file, sizeof file, "scenes/dense/%s.json", name);
    TRY(data_path(c->arena, file, path, err));
    TRY(input_file_read(c->arena, *path, (size_t)1 << 20, &data, &size, err));
    text_append(out, data, size);
    return out->failed ? error_msg(err, STATUS_MEMORY, "out of memory for a scene") : STATUS_OK;
}

/* A hash knows the names in a shader's text, so that these are such as do not depend on where the
 * library stands. */
static enum status part_load(struct run_context *c, struct part part, struct error *err)
{
    struct text text = {0};
    const char *path = NULL;
    enum status s = dense_scene(c, part, "textures", &path, &text, err);
    if (s == STATUS_OK)
        s = scene_load_memory(path, text.data, text.len, &c->scene, err);
    text_free(&text);
    return s;
}

enum status dense_part_load(struct run_context *c, uint32_t part, struct error *err)
{
    return part_load(c, (struct part){false, part}, err);
}

/* Trees know nothing of what these scenes are full of, and each is a kernel to compile. An object of
 * tens has few pixels, and a branch in its material fewer. */
static struct scene_trial dense_trial(const struct run_context *c)
{
    return (struct scene_trial){.device = c->device,
                                .device_id = c->device_id,
                                .brief = true,
                                .one_tree = true,
                                .width = 80,
                                .samples = 4};
}

/* Notes what the device gives. */
static enum status dense_note(struct run_context *c, uint64_t *pixels, struct error *err)
{
    struct render_job job;
    struct film film;
    char inputs[33], hash[33];
    enum status s = part_load(c, part_of(c), err);
    if (s == STATUS_OK)
        s = case_ready(c, MODE_STRICT, BVH_AUTO, err);
    if (s != STATUS_OK)
        return s;
    const struct scene_trial t = dense_trial(c);
    scene_trial_job(&t, c->scene, MODE_STRICT, &job);
    TRY(judge_render(c->device, c->scene, &job, &film, err));
    answer_inputs(c->scene, &job, inputs);
    film_hash(&film, hash);
    film_free(&film);
    answer_note(c, inputs, sizeof inputs, hash, sizeof hash);
    *pixels = (uint64_t)job.width * job.height;
    return STATUS_OK;
}

enum status image_dense(struct run_context *c, struct error *err)
{
    struct text text = {0};
    struct scene_found f;
    uint64_t pixels;
    TRY(dense_note(c, &pixels, err));
    if (answer_given(c, pixels))
        return STATUS_OK;
    struct scene_trial t = dense_trial(c);
    enum status s = dense_scene(c, part_of(c), NULL, &t.path, &text, err);
    if (s == STATUS_OK)
        s = scene_trial_run(&t, text.data, text.len, &f, err);
    if (s == STATUS_OK) {
        c->compared += f.compared;
        s = f.found    ? fail_with_scene(c, &t, "dense", text.data, text.len, &f, err)
            : f.strict ? case_pass(c, "%llu values", (unsigned long long)f.compared)
                       : case_skip(c, "%s", f.why);
    }
    text_free(&text);
    return s;
}

enum status image_relations(struct run_context *c, struct error *err)
{
    char *text;
    size_t size;
    struct scene_found f;
    TRY(case_device(c, err));
    TRY(input_file_read(c->arena, c->scene_path, (size_t)64 << 20, &text, &size, err));
    const struct scene_trial t = {
        .device = c->device, .device_id = c->device_id, .path = c->scene_path};
    TRY(scene_trial_relations(&t, text, size, &f, err));
    c->compared += f.compared;
    if (f.found)
        return case_fail(c, "%s", f.text);
    if (!f.relations)
        return case_skip(c, "no relation holds for this scene");
    return case_pass(c, "%u relations hold", f.relations);
}

static const struct case_row row = {prefix, "a random scene: read, bits, steps, relations",
                                    judge_random};

bool random_is_case(const char *name) { return strncmp(name, prefix, sizeof prefix - 1) == 0; }

const struct case_row *random_row(const char *name)
{
    uint64_t seed, number;
    return parse_name(name, &seed, &number) ? &row : NULL;
}

enum status random_cases(struct arena *a, uint32_t scenes, uint64_t seed,
                         const struct conform_case **out, size_t *count, struct error *err)
{
    struct conform_case *list = ARENA_ARRAY(a, struct conform_case, scenes + (size_t)1);
    for (uint32_t i = 0; list && i < scenes; i++) {
        const char *name = arena_printf(a, "%s%llu-%u", prefix, (unsigned long long)seed, i);
        if (!name)
            list = NULL;
        else
            list[i] = (struct conform_case){name, "image", row.text, NULL, false};
    }
    if (!list)
        return error_msg(err, STATUS_MEMORY, "out of memory for %u random scenes", scenes);
    *out = list;
    *count = scenes;
    return STATUS_OK;
}
