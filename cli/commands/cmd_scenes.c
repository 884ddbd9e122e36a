/* SPDX-License-Identifier: Apache-2.0 */
/* isophote scenes: the library's, what one holds, a small picture of it, and scenes at random. */
#include "cli.h"
#include "conformance.h"

#include <string.h>

struct scenes_command {
    const char *out, *device, *width, *spp;
    bool json;
};

/* ---- the list ------------------------------------------------------------------------------- */

/* What a scene file says of itself; "" when it says nothing. */
static enum status scene_about(struct arena *a, const char *path, const char **about,
                               struct error *err)
{
    char *data;
    size_t size;
    const struct json *root, *text;
    enum status s = file_read(a, path, 0, &data, &size, err);
    if (s == STATUS_OK)
        s = json_parse(a, path, data, size, &root, err);
    if (s == STATUS_OK) {
        text = json_get(root, "about");
        *about = text && text->type == JSON_STRING ? text->string : "";
    }
    return s;
}

/* Up to its first ". ". */
static const char *first_sentence(struct arena *a, const char *text)
{
    const char *end = strstr(text, ". ");
    return end ? arena_strndup(a, text, (size_t)(end - text) + 1) : text;
}

/* *written: whether the JSON document was; json_print says when it was not. */
static enum status list(const struct scenes_command *c, struct arena *a, bool *written,
                        struct error *err)
{
    const char *const *paths;
    size_t count;
    struct json_writer w = {.pretty = true};
    enum status s = scene_library(a, true, &paths, &count, err);
    json_begin_object(&w);
    json_key(&w, "scenes");
    json_begin_array(&w);
    for (size_t i = 0; s == STATUS_OK && i < count; i++) {
        const char *name = path_stem(a, paths[i]), *about = NULL;
        s = scene_about(a, paths[i], &about, err);
        if (s == STATUS_OK && c->json) {
            json_begin_object(&w);
            json_key_string(&w, "name", name);
            json_key_string(&w, "file", paths[i]);
            json_key_string(&w, "about", about);
            json_end_object(&w);
        } else if (s == STATUS_OK) {
            struct text t = {0};
            const char *first = first_sentence(a, about);
            wrap_print(first ? first : "", 22, &t);
            printf("%-20s  %s", name, t.data ? t.data : "\n");
            text_free(&t);
        }
    }
    json_end_array(&w);
    json_end_object(&w);
    if (s == STATUS_OK && c->json)
        *written = json_print(&w);
    text_free(&w.out);
    return s;
}

/* ---- one scene ------------------------------------------------------------------------------ */

/* What is said of a scene, in words or as a number. */
struct fact {
    const char *key, *text; /* NULL: the number */
    size_t number;
    bool always; /* for people too, when it is 0 */
};
enum { FACTS_MAX = 40 };

static size_t facts_fill(struct arena *a, const struct scene *s, const char *about,
                         struct fact facts[FACTS_MAX])
{
    static const char *const cameras[] = {CAMERA_TYPE_LIST(LIST_TEXT)};
    static const char *const environments[] = {"none", "constant", "map"};
    size_t emitting = 0, media = 0, shaders = 0, types[MATERIAL_TYPE_COUNT] = {0};
    for (size_t i = 0; i < s->material_count; i++) {
        const struct material *m = &s->materials[i];
        shaders += m->shading != NULL;
        types[m->type] += m->shading == NULL;
        emitting += material_emits(m);
        media += m->medium.present;
    }
    const struct fact rows[] = {
        {"name", s->name, 0, true},
        {"file", s->path, 0, true},
        {"about", about, 0, true},
        {"hash", s->hash, 0, true},
        {"width", NULL, s->width, true},
        {"height", NULL, s->height, true},
        {"spp", NULL, s->spp, true},
        {"max_depth", NULL, s->max_depth, true},
        {"camera", cameras[s->camera.type], 0, true},
        {"environment", environments[s->environment.type], 0, true},
        {"triangles", NULL, scene_effective_triangles(s), true},
        {"dropped_triangles", NULL, s->dropped_degenerate, false},
        {"spheres", NULL, s->sphere_count, false},
        {"disks", NULL, s->disk_count, false},
        {"groups", NULL, s->prototype_count, false},
        {"instances", NULL, s->instance_count, false},
        {"lights_without_surface", NULL, s->light_count, false},
        {"textures", NULL, s->texture_count, false},
        {"media", NULL, media, false},
        {"materials", NULL, s->material_count, true},
        {"emitting_materials", NULL, emitting, false},
        {"shader_materials", NULL, shaders, false},
    };
    size_t n = sizeof rows / sizeof *rows;
    _Static_assert(sizeof rows / sizeof *rows + MATERIAL_TYPE_COUNT <= FACTS_MAX, "too many");
    memcpy(facts, rows, sizeof rows);
    for (int i = 0; i < MATERIAL_TYPE_COUNT; i++, n++) {
        const char *key =
            arena_printf(a, "%s_materials", material_type_name((enum material_type)i));
        facts[n] = (struct fact){key ? key : "", NULL, types[i], false};
    }
    return n;
}

enum { VALUES_COLUMN = 28 }; /* behind rough_dielectric_materials, the longest key */

static void describe_text(const struct scene *s, const struct fact *facts, size_t count)
{
    for (const struct fact *f = facts; f < facts + count; f++) {
        struct text t = {0};
        if (!f->always && f->number == 0)
            continue;
        for (const char *p = f->key; *p; p++)
            putchar(*p == '_' ? ' ' : *p);
        printf("%*s", VALUES_COLUMN - (int)strlen(f->key), "");
        if (f->text)
            wrap_print(f->text, VALUES_COLUMN, &t);
        else
            text_printf(&t, "%zu\n", f->number);
        (void)fputs(t.data ? t.data : "\n", stdout);
        text_free(&t);
    }
    if (scene_effective_count(s))
        printf("%-*s%.4g x %.4g x %.4g\n", VALUES_COLUMN, "extent",
               s->bounds_max[0] - s->bounds_min[0], s->bounds_max[1] - s->bounds_min[1],
               s->bounds_max[2] - s->bounds_min[2]);
}

static bool describe_json(const struct scene *s, const struct fact *facts, size_t count)
{
    struct json_writer w = {.pretty = true};
    json_begin_object(&w);
    for (const struct fact *f = facts; f < facts + count; f++)
        if (f->text)
            json_key_string(&w, f->key, f->text);
        else
            json_key_integer(&w, f->key, (int64_t)f->number);
    json_key(&w, "bounds");
    json_begin_array(&w);
    for (int i = 0; i < 6 && scene_effective_count(s); i++)
        json_number(&w, i < 3 ? s->bounds_min[i] : s->bounds_max[i - 3]);
    json_end_array(&w);
    json_end_object(&w);
    return json_print(&w);
}

static enum status describe(const struct scenes_command *c, struct arena *a, const char *name,
                            bool *written, struct error *err)
{
    const char *path, *about;
    struct scene *scene = NULL;
    struct fact facts[FACTS_MAX];
    enum status s = scene_resolve(a, name, &path, err);
    if (s == STATUS_OK)
        s = scene_load(path, &scene, err);
    if (s == STATUS_OK)
        s = scene_about(a, path, &about, err);
    if (s == STATUS_OK) {
        size_t n = facts_fill(a, scene, about, facts);
        if (c->json)
            *written = describe_json(scene, facts, n);
        else
            describe_text(scene, facts, n);
    }
    scene_free(scene);
    return s;
}

/* ---- the command ---------------------------------------------------------------------------- */

/* What `isophote render` makes of the same words. */
static int thumbnail(const struct scenes_command *c, const char *name)
{
    const char *words[] = {"render", name,   "--device", c->device, "--width", c->width,
                           "--spp",  c->spp, "-o",       c->out,    "--json"};
    return command_run(&command_render, c->json ? 11 : 10, (char **)words);
}

static bool said_json(const char *out)
{
    struct json_writer w = {.pretty = true};
    json_begin_object(&w);
    json_key_string(&w, "scene", out);
    json_end_object(&w);
    return json_print(&w);
}

static enum status at_random(const struct scenes_command *c, const char *word, bool *written,
                             struct error *err)
{
    struct text t = {0};
    enum status s = conform_random_scene(word, &t, err);
    if (s == STATUS_OK)
        s = file_write(c->out, t.data, t.len, err);
    text_free(&t);
    if (s == STATUS_OK && c->json)
        *written = said_json(c->out);
    else if (s == STATUS_OK)
        printf("wrote %s\n", c->out);
    return s;
}

/* What it needs beside the verb. */
static enum status words_check(const struct scenes_command *c, const char *what, bool alone,
                               const struct arguments *args, struct error *err)
{
    static const char *const verbs[] = {"list", "describe", "thumbnail", "random"};
    const bool writes = strcmp(what, "thumbnail") == 0 || strcmp(what, "random") == 0;
    bool known = false;
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        known = known || strcmp(what, verbs[i]) == 0;
    if (!known)
        return error_msg(err, STATUS_ARG, "scenes %s: expected list, describe, thumbnail or random",
                         what);
    if (args->count != (alone ? args->count != 0 : 2))
        return error_msg(err, STATUS_ARG, "scenes %s takes %s", what,
                         alone ? "no scene" : "a scene");
    if (writes != (c->out != NULL))
        return error_msg(err, STATUS_ARG,
                         "scenes thumbnail and scenes random need -o FILE; list and describe take "
                         "none");
    return STATUS_OK;
}

static int run(void *settings, const struct arguments *args)
{
    const struct scenes_command *c = settings;
    const char *what = args->count ? args->words[0] : "list";
    struct error err = {0};
    struct arena a = {0};
    bool written = true;
    const bool is_list = strcmp(what, "list") == 0;
    enum status s = words_check(c, what, is_list, args, &err);
    if (s == STATUS_OK && strcmp(what, "thumbnail") == 0)
        return thumbnail(c, args->words[1]);
    if (s == STATUS_OK && strcmp(what, "random") == 0)
        s = at_random(c, args->words[1], &written, &err);
    else if (s == STATUS_OK)
        s = is_list ? list(c, &a, &written, &err) : describe(c, &a, args->words[1], &written, &err);
    arena_free(&a);
    if (s != STATUS_OK)
        return report_error(&err, false);
    return written ? EXIT_PASS : EXIT_BAD_INPUT;
}

#define AT(member) offsetof(struct scenes_command, member)
static const struct option options[] = {
    {"-o", OPTION_STRING, AT(out), "FILE", .help = "where the picture goes; of random, the scene",
     .writes = FILE_PICTURE | FILE_SCENE},
    {"--device", OPTION_STRING, AT(device), "ID", .help = "of thumbnail: what renders it",
     .preset = "native"},
    {"--width", OPTION_STRING, AT(width), "W", .help = "of thumbnail: pixels", .preset = "160"},
    {"--spp", OPTION_STRING, AT(spp), "N", .help = "of thumbnail: samples a pixel", .preset = "64"},
    JSON_OPTION(AT(json)),
};
const struct command command_scenes = {
    .name = "scenes",
    .group = "what is here",
    .line = "list the scenes of the library, say what one holds, draw it small, or make one",
    .usage = "isophote scenes [list] [--json]\n"
             "isophote scenes describe SCENE [--json]\n"
             "isophote scenes thumbnail SCENE -o FILE.png [options]\n"
             "isophote scenes random SEED-NUMBER -o FILE.json",
    .summary =
        "Lists the scenes that come with Isophote, each with what its file says of it. "
        "`describe` says what a scene holds: its picture, camera, lights, materials and "
        "numbers of things. `thumbnail` renders it small. `random` writes the scene that the "
        "case image.random.SEED-NUMBER judges (docs/howto/random_scenes.md).\n"
        "A scene is a name of that list, or a file.",
    .examples = "isophote scenes\n"
                "isophote scenes describe cornell --json\n"
                "isophote scenes thumbnail my-scene.json -o my-scene.png\n"
                "isophote scenes random 7-12 -o random.json",
    .argument = "SCENE",
    .reads = true,
    .verbs = "list describe thumbnail random",
    COMMAND_OPTIONS(options),
    .settings_size = sizeof(struct scenes_command),
    .max_args = 2,
    .run = run,
};
