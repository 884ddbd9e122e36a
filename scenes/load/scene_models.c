/* SPDX-License-Identifier: Apache-2.0 */
/* Model files that a scene names: each is read once; the materials and textures that they bring are
 * made when an object uses them, by the same reader as the scene's own. */
#include "scene_loader.h"

#include "import/import.h"

#include <string.h>

static struct model_file *add_file(struct loader *l, const struct json *named_by, const char *path,
                                   enum model_layout layout)
{
    struct model_file *f = ARENA_NEW(&l->d.arena, struct model_file);
    if (f) {
        *f = (struct model_file){
            .next = l->files, .path = path, .layout = layout, .named_by = named_by};
        l->files = f;
    }
    return f;
}

/* The description comes from a process that read a file from anywhere: nothing in it is believed.
 */
static enum status read_description(struct loader *l, struct model_file *f)
{
    struct document *d = &l->d;
    const struct model *m = &f->model;
    struct error why;
    if (json_parse(&d->arena, f->path, m->description, m->description_size, &f->description,
                   &why) != STATUS_OK)
        return json_error(d->err, d->file, f->named_by, STATUS_PARSE,
                          "the importer's description of %s cannot be read: %s", f->path, why.msg);
    const struct json *materials = json_get(f->description, "materials"),
                      *textures = json_get(f->description, "textures");
    if (!materials || materials->type != JSON_OBJECT || !textures ||
        textures->type != JSON_OBJECT || materials->count < m->material_count)
        return json_error(d->err, d->file, f->named_by, STATUS_PARSE,
                          "the importer's description of %s is not whole", f->path);
    f->materials = ARENA_ARRAY(&d->arena, const struct json *, materials->count);
    f->scene_material = ARENA_ARRAY(&d->arena, uint32_t, materials->count);
    f->scene_texture = ARENA_ARRAY(&d->arena, uint32_t, textures->count);
    if (!f->materials || !f->scene_material || !f->scene_texture)
        return document_memory(d);
    for (const struct json *v = materials->first; v; v = v->next) {
        f->materials[v->index] = v;
        f->scene_material[v->index] = UINT32_MAX;
    }
    memset(f->scene_texture, 0xFF, textures->count * sizeof *f->scene_texture);
    return STATUS_OK;
}

/* NULL on failure, with the status. */
static struct model_file *open_file(struct loader *l, const struct json *at,
                                    enum model_layout layout, enum status *status)
{
    const char *path;
    struct error why;
    struct model model;
    if ((*status = read_path(&l->d, at, &path)) != STATUS_OK)
        return NULL;
    for (struct model_file *f = l->files; f; f = f->next)
        if (f->layout == layout && strcmp(f->path, path) == 0)
            return f;
    if (model_import(path, layout, &model, &why) != STATUS_OK) {
        *status = file_failed(&l->d, at, &why);
        return NULL;
    }
    struct model_file *f = add_file(l, at, path, layout);
    if (!f) {
        model_close(&model);
        *status = document_memory(&l->d);
        return NULL;
    }
    f->model = model;
    *status = read_description(l, f);
    return *status == STATUS_OK ? f : NULL;
}

struct loaded_model *add_model(struct loader *l, const struct json *named_by)
{
    struct loaded_model *m = ARENA_NEW(&l->d.arena, struct loaded_model);
    if (m) {
        m->named_by = named_by;
        m->next = l->models;
        l->models = m;
    }
    return m;
}

enum status open_model(struct loader *l, const struct json *file, const struct json *part,
                       struct loaded_model **out)
{
    struct document *d = &l->d;
    enum status status;
    int64_t number = 0;
    if (part)
        TRY(read_integer(d, part, 0, UINT32_MAX, &number));
    struct model_file *f = open_file(l, file, part ? MODEL_PARTS : MODEL_WHOLE, &status);
    if (!f)
        return status;
    if (part && (uint64_t)number >= f->model.part_count)
        return json_error(d->err, d->file, part, STATUS_RANGE,
                          "found %lld, expected one of the model's %llu parts, from 0",
                          (long long)number, (unsigned long long)f->model.part_count);
    for (struct loaded_model *m = f->opened; m; m = m->next_of_file)
        if (m->part == (uint64_t)number) {
            *out = m;
            return STATUS_OK;
        }
    if (part && f->model.parts[number].triangle_count == 0)
        return json_error(d->err, d->file, part, STATUS_TYPE,
                          "the part has no triangles, expected at least one");
    struct loaded_model *m = add_model(l, file);
    if (!m)
        return document_memory(d);
    m->file = f;
    m->part = (uint64_t)number;
    m->model = part ? model_part(&f->model, m->part) : f->model;
    m->model.mapping = NULL; /* the file's to close */
    m->next_of_file = f->opened;
    f->opened = m;
    *out = m;
    return STATUS_OK;
}

/* ---- what models bring ---------------------------------------------------------------------- */

static const char *brought_name(struct loader *l, const struct model_file *f, const char *name)
{
    return arena_printf(&l->d.arena, "%s:%s", path_name(f->path), name);
}

bool model_brings(const struct loaded_model *m, const char *key)
{
    for (uint64_t i = 0; m->file && i < m->model.material_count; i++)
        if (json_get(m->file->materials[i], key))
            return true;
    return false;
}

enum status bring_texture(struct loader *l, const struct json *name, uint32_t *out)
{
    struct model_file *f = l->bringing;
    const struct json *v = name->type == JSON_STRING
                               ? json_get(json_get(f->description, "textures"), name->string)
                               : NULL;
    if (!v)
        return expected(&l->d, name, "the name of a texture");
    if (f->scene_texture[v->index] == UINT32_MAX) {
        const char *full = brought_name(l, f, v->key);
        if (!full)
            return document_memory(&l->d);
        TRY(load_texture(l, v, full));
        f->scene_texture[v->index] = (uint32_t)l->texture_count - 1;
    }
    *out = f->scene_texture[v->index];
    return STATUS_OK;
}

enum status bring_image(struct loader *l, const struct json *at, enum color_space space,
                        struct image *out)
{
    const struct model *m = &l->bringing->model;
    int64_t number;
    struct error why;
    TRY(read_integer(&l->d, at, 0, (int64_t)m->image_count - 1, &number));
    const struct model_image *i = &m->images[number];
    if (image_read_memory_as(&l->scene->arena, m->mapping + i->bytes_at, i->bytes,
                             "inside the model", space, out, &why) != STATUS_OK)
        return file_failed(&l->d, at, &why);
    return STATUS_OK;
}

enum status adopt_material(struct loader *l, struct loaded_model *m, uint32_t own, uint32_t *out)
{
    struct model_file *f = m->file;
    if (f->scene_material[own] == UINT32_MAX) {
        const struct json *root = l->root;
        struct error *err = l->d.err, why;
        const char *file = l->d.file, *name = brought_name(l, f, f->materials[own]->key);
        if (!name)
            return document_memory(&l->d);
        l->root = f->description;
        l->bringing = f;
        l->d.file = f->path;
        l->d.err = &why;
        enum status s = load_material(l, f->materials[own], name);
        l->root = root;
        l->bringing = NULL;
        l->d.file = file;
        l->d.err = err;
        if (s != STATUS_OK)
            return json_error(err, file, f->named_by, s == STATUS_MISSING ? STATUS_IO : s,
                              "material \"%.60s\" of the model: %s; \"material\" on the object "
                              "would replace the model's own",
                              f->materials[own]->key, why.msg);
        f->scene_material[own] = (uint32_t)l->material_count - 1;
    }
    *out = f->scene_material[own];
    return STATUS_OK;
}

void close_models(struct loader *l)
{
    for (struct model_file *f = l->files; f; f = f->next)
        model_close(&f->model);
}
