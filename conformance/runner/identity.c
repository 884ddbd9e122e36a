/* SPDX-License-Identifier: Apache-2.0 */
#include "identity.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static enum status no_memory(struct error *err)
{
    return error_msg(err, STATUS_MEMORY, "out of memory for an identity");
}

const struct identity *identity_of_device(struct arena *a, const char *id,
                                          const struct device_info *d, struct error *err)
{
    struct identity *out = identity_new(a, "device");
    identity_add(out, "id", id);
    if (d) {
        identity_add(out, "api", d->api);
        identity_add(out, "name", d->name);
        identity_add(out, "vendor", d->vendor);
        identity_add(out, "driver", d->driver);
        identity_add(out, "version", d->version);
        identity_add(out, "compiler", d->compiler);
        identity_add(out, "uuid", d->uuid);
    }
    return identity_close(out, err);
}

const struct identity *identity_of_case(struct arena *a, const struct identity *program,
                                        const struct identity *environment,
                                        const struct identity *device, const char *name,
                                        const struct identity *inputs,
                                        const struct case_settings *settings, struct error *err)
{
    struct identity *out = identity_new(a, "case");
    identity_add_of(out, program);
    identity_add_of(out, device);
    identity_add_of(out, environment);
    identity_add(out, "case", name);
    if (inputs)
        identity_add_of(out, inputs);
    if (settings->from_scratch)
        identity_add(out, "known answers", "ignored");
    if (settings->model != MODEL_AUTO)
        identity_add(out, "model", exec_model_name(settings->model));
    return identity_close(out, err);
}

const struct identity *identity_of_program_file(struct arena *a, const char *path,
                                                struct error *err)
{
    char hex[33];
    errno = 0;
    input_file_hash(path, hex);
    if (!hex[0]) {
        error_msg(err, STATUS_MISSING, "the worker program %s cannot be read: %s", path,
                  strerror(errno));
        return NULL;
    }
    struct identity *out = identity_new(a, "program");
    identity_add(out, "build", hex);
    return identity_close(out, err);
}

const struct identity *identity_inner(const struct identity *id, const char *kind)
{
    for (size_t i = 0; id && i < id->count; i++)
        if (id->parts[i].of && strcmp(id->parts[i].of->kind, kind) == 0)
            return id->parts[i].of;
    return NULL;
}

/* ---- names of files ------------------------------------------------------------------------- */

/* Where files are named from, so that the same files have the same names on another machine. */
enum root { ROOT_PROGRAM, ROOT_DATA, ROOT_SCENE, ROOTS };
static const char *const root_names[ROOTS] = {"isophote:", "data:", ""};
struct roots {
    char path[ROOTS][PATH_MAX]; /* "" where there is none */
};
static const char absent[] = "absent";

static void roots_find(struct arena *a, const char *scene_path, struct roots *out)
{
    const char *program, *folder;
    char data[PATH_MAX];
    *out = (struct roots){0};
    if (data_path(a, "", &program, NULL) != STATUS_OK || !realpath(program, out->path[0]))
        out->path[ROOT_PROGRAM][0] = '\0';
    if (scene_data_dir(data, sizeof data, NULL) != STATUS_OK || !realpath(data, out->path[1]))
        out->path[ROOT_DATA][0] = '\0';
    folder = scene_path ? path_folder(a, scene_path) : NULL;
    if (!folder || !realpath(folder, out->path[ROOT_SCENE]))
        out->path[ROOT_SCENE][0] = '\0';
}

/* realpath of a file that need not be there, as far as its folder is. */
static const char *real_of(struct arena *a, const char *path)
{
    char real[PATH_MAX];
    if (realpath(path, real))
        return arena_strdup(a, real);
    const char *folder = path_folder(a, path);
    if (!folder || !realpath(folder, real))
        return path;
    return arena_printf(a, "%s/%s", strcmp(real, "/") == 0 ? "" : real, path_name(path));
}

static const char *name_of(struct arena *a, const struct roots *r, const char *path)
{
    const char *real = real_of(a, path);
    for (int i = 0; real && i < ROOTS; i++) {
        size_t n = strlen(r->path[i]);
        if (n && strncmp(real, r->path[i], n) == 0 && real[n] == '/')
            return arena_printf(a, "%s%s", root_names[i], real + n + 1);
    }
    return real;
}

static const char *path_of(struct arena *a, const struct roots *r, const char *name)
{
    for (int i = 0; i < ROOTS; i++) {
        size_t n = strlen(root_names[i]);
        if (name[0] != '/' && strncmp(name, root_names[i], n) == 0)
            return arena_printf(a, "%s/%s", r->path[i], name + n);
    }
    return name;
}

struct named_input {
    const char *name, *hash;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct named_input *)a)->name, ((const struct named_input *)b)->name);
}

const struct identity *identity_of_inputs(struct arena *a, const char *scene_path,
                                          const char *lines, size_t size, struct error *err)
{
    struct input_file *inputs;
    size_t count;
    struct roots *r = ARENA_NEW(a, struct roots);
    if (!r) {
        no_memory(err);
        return NULL;
    }
    if (inputs_list(a, lines, size, &inputs, &count, err) != STATUS_OK)
        return NULL;
    roots_find(a, scene_path, r);
    struct named_input *named = ARENA_ARRAY(a, struct named_input, count + 1);
    bool has_scene = !scene_path;
    size_t n = 0;
    for (size_t i = 0; named && i < count; i++) {
        has_scene = has_scene || strcmp(inputs[i].path, scene_path) == 0;
        named[n++] = (struct named_input){name_of(a, r, inputs[i].path), inputs[i].hash};
    }
    if (named && !has_scene) { /* it ended before it came to read it */
        char *hash = arena_alloc(a, 1, 33, 1);
        if (hash)
            input_file_hash(scene_path, hash);
        named[n++] = (struct named_input){name_of(a, r, scene_path), hash ? hash : ""};
    }
    struct identity *out = named ? identity_new(a, "inputs") : NULL;
    bool good = out != NULL;
    for (size_t i = 0; i < n; i++)
        good = good && named[i].name;
    if (good)
        qsort(named, n, sizeof *named, by_name);
    for (size_t i = 0; good && i < n; i++)
        if (i == 0 || strcmp(named[i].name, named[i - 1].name) != 0)
            identity_add(out, named[i].name, named[i].hash[0] ? named[i].hash : absent);
    return identity_close(good ? out : NULL, err);
}

static const char *hash_now(struct arena *a, struct input_hashes *hashes, const char *path)
{
    for (const struct known_input *k = hashes->first; k; k = k->next)
        if (strcmp(k->path, path) == 0)
            return k->hash;
    struct known_input *k = ARENA_NEW(a, struct known_input);
    if (!k || !(k->path = arena_strdup(a, path)))
        return NULL;
    input_file_hash(path, k->hash);
    if (!k->hash[0])
        memcpy(k->hash, absent, sizeof absent);
    k->next = hashes->first;
    hashes->first = k;
    return k->hash;
}

const struct identity *identity_inputs_now(struct arena *a, struct input_hashes *hashes,
                                           const char *scene_path, const struct identity *before,
                                           struct error *err)
{
    struct roots *r = ARENA_NEW(a, struct roots);
    struct identity *out = r ? identity_new(a, before->kind) : NULL;
    if (r)
        roots_find(a, scene_path, r);
    for (size_t i = 0; out && i < before->count; i++) {
        const char *path = path_of(a, r, before->parts[i].name);
        const char *hash = path ? hash_now(a, hashes, path) : NULL;
        if (hash)
            identity_add(out, before->parts[i].name, hash);
        else
            out = NULL;
    }
    return identity_close(out, err);
}
