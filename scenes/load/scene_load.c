/* SPDX-License-Identifier: Apache-2.0 */
/* The scene reader: one JSON document, top level first. */
#include "scene_loader.h"

#include <stdlib.h>
#include <string.h>

enum { FORMAT_VERSION = 1 };
static const size_t document_max = (size_t)64 << 20; /* larger meshes belong into model files */

static enum status read_document(struct loader *l, const char *data, size_t size)
{
    static const char *const keys[] = {"isophote",   "camera", "film",    "render",      "textures",
                                       "materials",  "groups", "objects", "environment", "about",
                                       "instancing", "lights", NULL};
    static const char *const instancings[] = {"auto", "flatten", "two-level", NULL};
    struct document *d = &l->d;
    const struct json *version, *camera, *objects;
    int64_t number;
    if (size > document_max)
        return error_set(d->err, STATUS_LIMIT, (struct src_pos){.file = d->file},
                         "the scene file has %zu bytes, expected at most 64 MiB: put large meshes "
                         "into model files",
                         size);
    TRY(json_parse(&d->arena, d->file, data, size, &l->root, d->err));
    if (l->root->type != JSON_OBJECT)
        return expected(d, l->root, "an object, the scene");
    TRY(read_required(d, l->root, "isophote", "the version of the format, 1", &version));
    TRY(read_integer(d, version, FORMAT_VERSION, FORMAT_VERSION, &number));
    TRY(read_object(d, l->root, keys));
    const struct json *about = json_get(l->root, "about");
    if (about && about->type != JSON_STRING)
        return expected(d, about, "a string");
    const struct json *instancing = json_get(l->root, "instancing");
    int how = INSTANCING_AUTO;
    if (instancing)
        TRY(read_choice(d, instancing, instancings, &how));
    l->instancing = (enum instancing)how;
    TRY(read_required(d, l->root, "camera", "an object", &camera));
    TRY(read_required(d, l->root, "objects", "an array of objects", &objects));
    TRY(load_camera(l, camera));
    TRY(load_film(l, json_get(l->root, "film")));
    return load_render(l, json_get(l->root, "render"));
}

/* What a limit does not hold for is said. */
static void tell_of_whole_textures(const struct shader_images *s)
{
    char text[512];
    if (s->whole == 0 || !note_say)
        return;
    (void)snprintf(
        text, sizeof text,
        "--texture-memory: %zu of the textures can be read whole only, beside the limit: "
        "%s%s",
        s->whole, s->first_whole, s->whole > 1 ? " and others" : "");
    note_say(text);
}

static enum status name_scene(struct scene *s, const char *path)
{
    s->path = arena_strdup(&s->arena, path);
    s->name = path_stem(&s->arena, path);
    return s->path && s->name ? STATUS_OK : STATUS_MEMORY;
}

static enum status load(struct loader *l, const char *data, size_t size)
{
    struct scene *s = l->scene;
    struct scene_times *t = &s->times;
    double start = clock_s(), now;
    s->shader_images.cache = texture_memory_allowed() ? &s->cache : NULL;
    if (name_scene(s, l->d.file) != STATUS_OK)
        return document_memory(&l->d);
    TRY(read_document(l, data, size));
    t->configuration_s += (now = clock_s()) - start;
    start = now;
    TRY(load_textures(l, json_get(l->root, "textures")));
    TRY(load_environment(l, json_get(l->root, "environment")));
    t->textures_s = (now = clock_s()) - start;
    start = now;
    TRY(load_materials(l, json_get(l->root, "materials")));
    t->materials_s = (now = clock_s()) - start;
    start = now;
    TRY(load_objects(l, json_get(l->root, "groups"), json_get(l->root, "objects")));
    t->objects_s = (now = clock_s()) - start;
    start = now;
    choose_frame(l);
    TRY(load_lights(l, json_get(l->root, "lights")));
    TRY(flatten_objects(l));
    TRY(keep_materials(l));
    TRY(measure_shadings(l));
    TRY(check_media(l));
    TRY(load_tangents(l));
    t->geometry_s = clock_s() - start;
    hash_scene(s);
    tell_of_whole_textures(&s->shader_images);
    return texture_cache_check(s->cache, l->d.err);
}

enum status scene_load_memory(const char *path, const char *data, size_t size, struct scene **out,
                              struct error *err)
{
    struct loader l = {.d = {.file = path, .err = err}};
    l.scene = calloc(1, sizeof *l.scene);
    if (!l.scene)
        return document_memory(&l.d);
    enum status s = load(&l, data, size);
    close_models(&l);
    arena_free(&l.d.arena);
    if (s == STATUS_OK)
        *out = l.scene;
    else
        scene_free(l.scene);
    return s;
}

enum status scene_load(const char *path, struct scene **out, struct error *err)
{
    struct arena a = {0};
    char *data;
    size_t size;
    double start = clock_s();
    enum status s = input_file_read(&a, path, document_max, &data, &size, err);
    double read_s = clock_s() - start;
    if (s == STATUS_OK)
        s = scene_load_memory(path, data, size, out, err);
    if (s == STATUS_OK)
        (*out)->times.configuration_s += read_s;
    arena_free(&a);
    return s;
}

void scene_free(struct scene *s)
{
    if (!s)
        return;
    texture_cache_release(s->cache);
    arena_free(&s->arena);
    free(s);
}
