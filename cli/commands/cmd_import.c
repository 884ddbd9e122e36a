/* SPDX-License-Identifier: Apache-2.0 */
/* isophote import: a model file as a scene; JSON Lines into a result store. */
#include "cli.h"
#include "import_check.h"
#include "import_scene.h"

#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "reports.h"

struct import_command {
    const char *store, *out, *camera, *up;
    double light_scale;
    bool check, json;
};

/* ---- a store -------------------------------------------------------------------------------- */

static int import_store(const char *store_name, char **files, size_t count)
{
    struct error err = {0};
    struct store *store = NULL;
    struct arena a = {0};
    enum status st = STATUS_OK;
    bool made = false;
    size_t taken = 0;
    for (size_t i = 0; i < count && !st; i++) {
        char *data = NULL;
        size_t size = 0;
        st = file_read(&a, files[i], 0, &data, &size, &err);
        if (!st && !store) {
            made = access(store_name, F_OK) != 0;
            st = store_open(store_name, false, &store, &err);
        }
        if (!st)
            st = store_import(store, files[i], data, size, &err);
        taken += !st;
        arena_free(&a);
    }
    store_close(store);
    if (made && taken == 0)
        unlink(store_name); /* nothing is in it */
    return st ? report_error(&err, false) : EXIT_PASS;
}

/* ---- a scene -------------------------------------------------------------------------------- */

static bool print_json(const char *model, const char *out, const struct scene_import *s,
                       const struct scene_import_options *o, const char *how)
{
    struct json_writer w = {.pretty = true};
    json_begin_object(&w);
    json_key_string(&w, "model", model);
    json_key_string(&w, "scene", out);
    json_key_integer(&w, "triangles", (int64_t)s->triangles);
    json_key_integer(&w, "materials", (int64_t)s->materials);
    json_key_integer(&w, "textures", (int64_t)s->textures);
    json_key_integer(&w, "lights", (int64_t)s->lights);
    json_key_string(&w, "camera", s->own_camera ? "model" : "made");
    json_key_string(&w, "light", s->own_lights ? "model" : "made");
    json_key_number(&w, "light_scale", o->light_scale > 0 ? o->light_scale : 1);
    json_key_string(&w, "exposure", how);
    json_key(&w, "files");
    json_begin_array(&w);
    for (size_t i = 0; i < s->file_count; i++)
        json_string(&w, s->files[i]);
    json_end_array(&w);
    json_key(&w, "not_carried_over");
    json_begin_array(&w);
    for (size_t i = 0; i < s->note_count; i++)
        json_string(&w, s->notes[i]);
    json_end_array(&w);
    json_end_object(&w);
    return json_print(&w);
}

static void print_text(const char *out, const struct scene_import *s, bool sky, const char *how)
{
    printf("wrote %s: %zu triangle%s, %zu material%s, %zu texture%s, %zu light%s without surface; "
           "camera %s, light %s%s\n",
           out, s->triangles, s->triangles == 1 ? "" : "s", s->materials,
           s->materials == 1 ? "" : "s", s->textures, s->textures == 1 ? "" : "s", s->lights,
           s->lights == 1 ? "" : "s", s->own_camera ? "of the model" : "made here",
           s->own_lights ? "of the model" : "made here", sky ? " and a dim sky" : "");
    if (how)
        printf("added: %s\n", how);
    for (size_t i = 0; i < s->file_count; i++)
        printf("wrote %s\n", s->files[i]);
    for (size_t i = 0; i < s->note_count; i++)
        printf("not carried over: %s\n", s->notes[i]);
}

static int import_model(const struct import_command *c, const char *model)
{
    struct arena a = {0};
    struct error err = {0};
    struct scene_import s;
    struct import_picture picture;
    const char *how;
    /* printers' files stand on z by custom */
    struct scene_import_options o = {.camera = c->camera,
                                     .light_scale = c->light_scale,
                                     .up_z =
                                         c->up ? strcmp(c->up, "z") == 0 : path_ends(model, ".stl"),
                                     .up_y = c->up && strcmp(c->up, "y") == 0};
    enum status st = import_exposed(&a, model, c->out, &o, &s, &picture, &how, &err);
    if (!st)
        st = file_write(c->out, s.text, s.size, &err);
    bool printed = true;
    if (!st && c->json)
        printed = print_json(model, c->out, &s, &o, how);
    else if (!st)
        print_text(c->out, &s, o.sky > 0, how);
    arena_free(&a);
    return st ? report_error(&err, false) : printed ? EXIT_PASS : EXIT_BAD_INPUT;
}

/* ---- the command ---------------------------------------------------------------------------- */

static enum status check_use(const struct import_command *c, size_t files, struct error *err)
{
    bool model = !c->store && !c->check;
    if (model && !c->out)
        return error_msg(err, STATUS_ARG,
                         "import needs -o scene.json for a model, --store FILE for JSON Lines, or "
                         "--check for many models");
    if (!model && (c->out || c->camera || c->up || c->light_scale > 0))
        return error_msg(err, STATUS_ARG, "-o, --camera, --up and --light-scale go with one model");
    if (model && files != 1)
        return error_msg(err, STATUS_ARG, "-o takes one model, found %zu", files);
    return STATUS_OK;
}

static int run(void *settings, const struct arguments *args)
{
    const struct import_command *c = settings;
    struct error err = {0};
    if (check_use(c, args->count, &err))
        return report_error(&err, false);
    if (c->check)
        return import_check(args->words, args->count, c->store, c->json);
    return c->store ? import_store(c->store, args->words, args->count)
                    : import_model(c, args->words[0]);
}

#define AT(member) offsetof(struct import_command, member)
static const struct option options[] = {
    {"-o", OPTION_STRING, AT(out), "FILE", .help = "the scene file to write for a model",
     .writes = FILE_SCENE},
    {"--camera", OPTION_STRING, AT(camera), "NAME", .help = "which of the model's cameras",
     .otherwise = "its first; without any, one that frames it"},
    {"--up", OPTION_WORD, AT(up), "AXIS",
     .help = "where up is for a camera and a lamp that are made here", .otherwise = "y; z for STL",
     .words = "y z"},
    {"--light-scale", OPTION_ABOVE_ZERO, AT(light_scale), "X",
     .help = "factor on the model's own lights",
     .otherwise = "1, or what exposes the picture well"},
    {"--check", OPTION_FLAG, AT(check),
     .help = "models and folders of them: import and render each small, write nothing but a table"},
    {"--store", OPTION_STRING, AT(store), "FILE",
     .help = "the result store to add to; made if it is not there", .writes = FILE_STORE},
    JSON_OPTION(AT(json)),
};
const struct command command_import = {
    .name = "import",
    .group = "results",
    .line = "make a scene of a model file, or read JSON Lines into a result store",
    .usage = "isophote import MODEL -o SCENE.json [options]\n"
             "isophote import --check MODEL|FOLDER... [--store FILE]\n"
             "isophote import FILE.jsonl... --store FILE",
    .summary = "Writes a scene file (docs/reference/scenes.md) for a model: glTF 2, OBJ, PLY, STL, "
               "3DS, Collada, FBX and whatever else Assimp reads. Its geometry stays in the "
               "model's file; images inside it are written to the folder SCENE.textures. What is "
               "not carried over is listed.\n"
               "Or adds the runs of JSON Lines files (docs/reference/store.md) to a result store: "
               "all records of a file or none. Results of several machines come together in one "
               "store this way.",
    .examples = "isophote import helmet.glb -o helmet.json && isophote render helmet.json -o "
                "helmet.png\n"
                "isophote import --check models/ --store out/models.db\n"
                "isophote import other-machine.jsonl --store out/mine.db",
    .argument = "FILE",
    .reads = true,
    COMMAND_OPTIONS(options),
    .settings_size = sizeof(struct import_command),
    .min_args = 1,
    .max_args = SIZE_MAX,
    .run = run,
};
