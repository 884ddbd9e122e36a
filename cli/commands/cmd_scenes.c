/* isophote scenes: the library's, what one holds, and a small picture of it. */
#include "cli.h"

#include <string.h>

struct scenes_command {
    const char *out, *device, *width, *spp;
    bool json;
};

/* ---- the list ------------------------------------------------------------------------------- */

static const char *scene_name_of(struct arena *a, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    const char *s = arena_strndup(a, name, dot ? (size_t)(dot - name) : strlen(name));
    return s ? s : "";
}

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
        const char *name = scene_name_of(a, paths[i]), *about = NULL;
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

enum { FACTS_MAX = 16 };
struct facts {
    struct fact {
        const char *what;
        size_t count;
    } rows[FACTS_MAX];
    size_t types[MATERIAL_TYPE_COUNT], shaders; /* materials of each type; and with a shader */
};

static void facts_fill(const struct scene *s, struct facts *f)
{
    size_t emitting = 0, media = 0, textures = s->texture_count;
    for (size_t i = 0; i < s->material_count; i++) {
        const struct material *m = &s->materials[i];
        f->shaders += m->shading != NULL;
        f->types[m->type] += m->shading == NULL;
        emitting += material_emits(m);
        media += m->medium.present;
    }
    const struct fact rows[] = {
        {"triangles", scene_effective_triangles(s)},
        {"spheres", s->sphere_count},
        {"disks", s->disk_count},
        {"groups", s->prototype_count},
        {"instances", s->instance_count},
        {"materials", s->material_count},
        {"emitting_materials", emitting},
        {"media", media},
        {"textures", textures},
        {"lights_without_surface", s->light_count},
        {"dropped_triangles", s->dropped_degenerate},
    };
    _Static_assert(sizeof rows <= sizeof f->rows, "too many facts");
    memcpy(f->rows, rows, sizeof rows);
}

static const char *const cameras[] = {
    [CAMERA_PERSPECTIVE] = "perspective",
    [CAMERA_ORTHOGRAPHIC] = "orthographic",
    [CAMERA_EQUIRECTANGULAR] = "equirectangular",
};
static const char *const environments[] = {
    [ENVIRONMENT_NONE] = "none",
    [ENVIRONMENT_CONSTANT] = "constant",
    [ENVIRONMENT_MAP] = "map",
};

static void describe_text(const struct scene *s, const char *about, const struct facts *f)
{
    struct text t = {0};
    wrap_print(about, 0, &t);
    printf("%s\n%s\n%-24s%s\n%-24s%ux%u pixels, %u samples a pixel, max depth %u\n", s->name,
           t.data ? t.data : "", "file", s->path, "picture", s->width, s->height, s->spp,
           s->max_depth);
    text_free(&t);
    printf("%-24s%s\n%-24s%s\n", "camera", cameras[s->camera.type], "environment",
           environments[s->environment.type]);
    if (scene_effective_count(s))
        printf("%-24s%.4g x %.4g x %.4g\n", "extent", s->bounds_max[0] - s->bounds_min[0],
               s->bounds_max[1] - s->bounds_min[1], s->bounds_max[2] - s->bounds_min[2]);
    for (const struct fact *r = f->rows; r->what; r++) {
        if (!r->count)
            continue;
        char what[32];
        snprintf(what, sizeof what, "%s", r->what);
        for (char *p = what; (p = strchr(p, '_')) != NULL;)
            *p = ' ';
        printf("%-24s%zu", what, r->count);
        const char *between = ": ";
        for (int i = 0; strcmp(r->what, "materials") == 0 && i <= MATERIAL_TYPE_COUNT; i++) {
            size_t n = i < MATERIAL_TYPE_COUNT ? f->types[i] : f->shaders;
            if (n)
                printf("%s%zu %s", between, n,
                       i < MATERIAL_TYPE_COUNT ? material_type_name((enum material_type)i)
                                               : "shader");
            between = n ? ", " : between;
        }
        printf("\n");
    }
    printf("%-24s%s\n", "hash", s->hash);
}

static bool describe_json(const struct scene *s, const char *about, const struct facts *f)
{
    struct json_writer w = {.pretty = true};
    json_begin_object(&w);
    json_key_string(&w, "name", s->name);
    json_key_string(&w, "file", s->path);
    json_key_string(&w, "about", about);
    json_key_string(&w, "hash", s->hash);
    json_key_integer(&w, "width", s->width);
    json_key_integer(&w, "height", s->height);
    json_key_integer(&w, "spp", s->spp);
    json_key_integer(&w, "max_depth", s->max_depth);
    json_key_string(&w, "camera", cameras[s->camera.type]);
    json_key_string(&w, "environment", environments[s->environment.type]);
    json_key(&w, "bounds");
    json_begin_array(&w);
    for (int i = 0; i < 6 && scene_effective_count(s); i++)
        json_number(&w, i < 3 ? s->bounds_min[i] : s->bounds_max[i - 3]);
    json_end_array(&w);
    json_key(&w, "counts");
    json_begin_object(&w);
    for (const struct fact *r = f->rows; r->what; r++)
        json_key_integer(&w, r->what, (int64_t)r->count);
    json_end_object(&w);
    json_key(&w, "material_types");
    json_begin_object(&w);
    for (int i = 0; i < MATERIAL_TYPE_COUNT; i++)
        if (f->types[i])
            json_key_integer(&w, material_type_name((enum material_type)i), (int64_t)f->types[i]);
    if (f->shaders)
        json_key_integer(&w, "shader", (int64_t)f->shaders);
    json_end_object(&w);
    json_end_object(&w);
    return json_print(&w);
}

static enum status describe(const struct scenes_command *c, struct arena *a, const char *name,
                            bool *written, struct error *err)
{
    const char *path, *about;
    struct scene *scene = NULL;
    struct facts f = {0};
    enum status s = scene_resolve(a, name, &path, err);
    if (s == STATUS_OK)
        s = scene_load(path, &scene, err);
    if (s == STATUS_OK)
        s = scene_about(a, path, &about, err);
    if (s == STATUS_OK) {
        facts_fill(scene, &f);
        if (c->json)
            *written = describe_json(scene, about, &f);
        else
            describe_text(scene, about, &f);
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

static int run(void *settings, const struct arguments *args)
{
    const struct scenes_command *c = settings;
    const char *what = args->count ? args->words[0] : "list";
    struct error err = {0};
    struct arena a = {0};
    enum status s;
    bool written = true;
    bool is_list = strcmp(what, "list") == 0, is_thumbnail = strcmp(what, "thumbnail") == 0;
    if (!is_list && !is_thumbnail && strcmp(what, "describe") != 0)
        s = error_msg(&err, STATUS_ARG, "scenes %s: expected list, describe or thumbnail", what);
    else if (args->count != (is_list ? args->count != 0 : 2))
        s = error_msg(&err, STATUS_ARG, "scenes %s takes %s", what,
                      is_list ? "no scene" : "a scene");
    else if (is_thumbnail != (c->out != NULL))
        s = error_msg(&err, STATUS_ARG,
                      "scenes thumbnail needs -o FILE; list and describe take none");
    else if (is_thumbnail)
        return thumbnail(c, args->words[1]);
    else
        s = is_list ? list(c, &a, &written, &err) : describe(c, &a, args->words[1], &written, &err);
    arena_free(&a);
    if (s != STATUS_OK)
        return report_error(&err, false);
    return written ? EXIT_PASS : EXIT_BAD_INPUT;
}

#define AT(member) offsetof(struct scenes_command, member)
static const struct option options[] = {
    {"-o", OPTION_STRING, AT(out), "FILE", .help = "of thumbnail: where the picture goes"},
    {"--device", OPTION_STRING, AT(device), "ID", .help = "of thumbnail: what renders it",
     .preset = "native"},
    {"--width", OPTION_STRING, AT(width), "W", .help = "of thumbnail: pixels", .preset = "160"},
    {"--spp", OPTION_STRING, AT(spp), "N", .help = "of thumbnail: samples a pixel", .preset = "64"},
    JSON_OPTION(AT(json)),
};
const struct command command_scenes = {
    .name = "scenes",
    .group = "what is here",
    .line = "list the scenes of the library, say what one holds, or draw it small",
    .usage = "isophote scenes [list] [--json]\n"
             "isophote scenes describe SCENE [--json]\n"
             "isophote scenes thumbnail SCENE -o FILE.png [options]",
    .summary = "Lists the scenes that come with Isophote, each with what its file says of it. "
               "`describe` says what a scene holds: its picture, camera, lights, materials and "
               "numbers of things. `thumbnail` renders it small.\n"
               "A scene is a name of that list, or a file.",
    .examples = "isophote scenes\n"
                "isophote scenes describe cornell --json\n"
                "isophote scenes thumbnail my-scene.json -o my-scene.png",
    .argument = "SCENE",
    .verbs = "list describe thumbnail",
    COMMAND_OPTIONS(options),
    .settings_size = sizeof(struct scenes_command),
    .max_args = 2,
    .run = run,
};
