/* SPDX-License-Identifier: Apache-2.0 */
/* A model file as a scene file: its own description (model.h) with what it lacks: a film, a camera
 * that sees it, light. */
#define _GNU_SOURCE
#include "images/images.h"
#include "import.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct importing {
    struct arena *a;
    struct error *err;
    const char *model_path, *scene_path;
    const struct scene_import_options *options;
    struct scene_import *out;
    struct model model;
    const struct json *root; /* the description */
    const char *model_name;  /* from the scene's folder */
    bool *used_material, *used_texture;
    bool *filled_material;     /* those whose medium has closed meshes around it */
    const char **texture_file; /* as the scene names it; NULL: it cannot be read */
    const char **notes;
    size_t note_cap;
    const char **files;
    size_t file_cap;
    const char *bare_material; /* of meshes that have none */
    bool up_z;
    bool deep; /* some material lets light through */
};

static enum status no_memory(struct importing *m)
{
    return error_msg(m->err, STATUS_MEMORY, "out of memory for the scene of %s", m->model_path);
}

static enum status add_text(struct importing *m, const char ***list, size_t *count, size_t *cap,
                            const char *text)
{
    if (text && *count == *cap) {
        const char **more = ARENA_ARRAY(m->a, const char *, *cap ? 2 * *cap : 32);
        if (more && *count)
            memcpy(more, *list, *count * sizeof *more);
        *list = more;
        *cap = *cap ? 2 * *cap : 32;
    }
    if (!text || !*list)
        return no_memory(m);
    (*list)[(*count)++] = text;
    return STATUS_OK;
}

static enum status add_note(struct importing *m, const char *text)
{
    TRY(add_text(m, &m->notes, &m->out->note_count, &m->note_cap, text));
    m->out->notes = m->notes;
    return STATUS_OK;
}

/* ---- paths ---------------------------------------------------------------------------------- */

/* `path`, which exists, as seen from the folder of the scene. */
static enum status path_from_scene(struct importing *m, const char *path, const char **out)
{
    char from[PATH_MAX], to[PATH_MAX];
    const char *folder = path_folder(m->a, m->scene_path);
    if (!folder)
        return no_memory(m);
    if (!realpath(folder, from))
        return error_msg(m->err, STATUS_IO,
                         "the folder %s, where the scene shall stand, is not there", folder);
    if (!realpath(path, to))
        return error_msg(m->err, STATUS_IO, "cannot open %s", path);
    size_t common = 1; /* after the last slash that both have in the same place */
    size_t n = strlen(from);
    if (from[n - 1] != '/' && n + 1 < sizeof from)
        memcpy(from + n, "/", 2);
    for (size_t i = 1; from[i] && from[i] == to[i]; i++)
        if (from[i] == '/')
            common = i + 1;
    struct text t = {0};
    for (const char *c = from + common; *c; c++)
        if (*c == '/')
            text_puts(&t, "../");
    text_puts(&t, to + common);
    *out = t.failed || !t.data ? NULL : arena_strdup(m->a, t.data);
    text_free(&t);
    return *out ? STATUS_OK : no_memory(m);
}

/* ---- what is used --------------------------------------------------------------------------- */

static void use_textures(struct importing *m, const struct json *v)
{
    const struct json *textures = json_get(m->root, "textures");
    if (v->key && strcmp(v->key, "texture") == 0 && v->type == JSON_STRING) {
        const struct json *t = json_get(textures, v->string);
        if (t)
            m->used_texture[t->index] = true;
    }
    if (v->type == JSON_OBJECT || v->type == JSON_ARRAY)
        for (const struct json *c = v->first; c; c = c->next)
            use_textures(m, c);
}

static void use_materials(struct importing *m, const struct json *v)
{
    const struct json *name = v->type == JSON_OBJECT ? json_get(v, "material") : NULL;
    const struct json *material = name && name->type == JSON_STRING
                                      ? json_get(json_get(m->root, "materials"), name->string)
                                      : NULL;
    if (material && !m->used_material[material->index]) {
        m->used_material[material->index] = true;
        use_textures(m, material);
        m->deep |= json_get(material, "transmission") || json_get(material, "opacity");
    }
    if (v->type == JSON_OBJECT || v->type == JSON_ARRAY)
        for (const struct json *c = v->first; c; c = c->next)
            use_materials(m, c);
}

/* ---- media ---------------------------------------------------------------------------------- */

struct edge {
    uint32_t lo, hi;
    int32_t up; /* 1 from lo to hi, -1 back */
};

static int by_ends(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    if (x->lo != y->lo)
        return x->lo < y->lo ? -1 : 1;
    return x->hi < y->hi ? -1 : x->hi > y->hi;
}

/* Whether the mesh runs every edge between two places as often one way as the other, as
 * scene_media.c will ask of all triangles with the material. */
static enum status is_closed(struct importing *m, const struct model *part, bool *closed)
{
    struct arena scratch = {0};
    size_t count = 3 * part->triangle_count;
    uint32_t *place = ARENA_ARRAY(&scratch, uint32_t, part->vertex_count);
    struct edge *edges = ARENA_ARRAY(&scratch, struct edge, count);
    bool ok = place && edges && model_weld(part, place);
    for (size_t i = 0; ok && i < count; i++) {
        const uint32_t *t = part->triangles[i / 3];
        uint32_t a = place[t[i % 3]], b = place[t[(i + 1) % 3]];
        edges[i] = a < b ? (struct edge){a, b, 1} : (struct edge){b, a, a > b ? -1 : 0};
    }
    if (ok)
        qsort(edges, count, sizeof *edges, by_ends);
    *closed = ok;
    for (size_t i = 0; ok && i < count && *closed;) {
        size_t first = i;
        int64_t sum = 0;
        for (; i < count && by_ends(&edges[first], &edges[i]) == 0; i++)
            sum += edges[i].up;
        *closed = sum == 0;
    }
    arena_free(&scratch);
    return ok ? STATUS_OK : no_memory(m);
}

/* Meshes in v whose material has a medium: where one is open the material has none. */
static enum status check_insides(struct importing *m, const struct json *v)
{
    const struct json *part = v->type == JSON_OBJECT ? json_get(v, "part") : NULL,
                      *name = part ? json_get(v, "material") : NULL,
                      *material = name && name->type == JSON_STRING
                                      ? json_get(json_get(m->root, "materials"), name->string)
                                      : NULL;
    if (material && json_get(material, "medium") && m->filled_material[material->index] &&
        part->is_integer && part->integer >= 0 && (uint64_t)part->integer < m->model.part_count) {
        struct model mesh = model_part(&m->model, (uint64_t)part->integer);
        bool closed;
        TRY(is_closed(m, &mesh, &closed));
        if (!closed)
            TRY(add_note(m,
                         arena_printf(m->a,
                                      "absorption inside (material \"%s\"): a mesh that has it is "
                                      "not closed",
                                      material->key)));
        m->filled_material[material->index] = closed;
    }
    if (v->type == JSON_OBJECT || v->type == JSON_ARRAY)
        for (const struct json *c = v->first; c; c = c->next)
            TRY(check_insides(m, c));
    return STATUS_OK;
}

static enum status find_insides(struct importing *m)
{
    const struct json *materials = json_get(m->root, "materials");
    for (const struct json *v = materials->first; v; v = v->next)
        m->filled_material[v->index] = json_get(v, "medium") != NULL;
    TRY(check_insides(m, json_get(m->root, "groups")));
    return check_insides(m, json_get(m->root, "objects"));
}

/* ---- images --------------------------------------------------------------------------------- */

static const char *image_extension(const unsigned char *data, size_t size)
{
    return exr_recognise(data, size)    ? "exr"
           : hdr_recognise(data, size)  ? "hdr"
           : png_recognise(data, size)  ? "png"
           : jpeg_recognise(data, size) ? "jpg"
           : tiff_recognise(data, size) ? "tif"
           : webp_recognise(data, size) ? "webp"
                                        : "tga";
}

/* An image that a texture can show; a message if it is none. */
static bool readable(const void *data, size_t size, const char *name, struct error *why)
{
    struct arena scratch = {0};
    struct image im;
    bool ok = image_read_memory(&scratch, data, size, name, &im, why) == STATUS_OK;
    arena_free(&scratch);
    return ok;
}

/* The image inside the model into a file beside the scene: scene.textures/NAME.png. */
static enum status extract_image(struct importing *m, const struct json *texture,
                                 const struct model_image *i, const char **file)
{
    const unsigned char *data = m->model.mapping + i->bytes_at;
    struct error why;
    if (!readable(data, i->bytes, texture->key, &why))
        return add_note(m, arena_printf(m->a, "texture %s: %s", texture->key, why.msg));
    const int stem = (int)(path_ending(m->scene_path) - m->scene_path);
    const char *folder = arena_printf(m->a, "%.*s.textures", stem, m->scene_path);
    char *name = arena_strdup(m->a, texture->key);
    if (!folder || !name)
        return no_memory(m);
    for (char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '-' && *c != '_')
            *c = '_';
    const char *path = arena_printf(m->a, "%s/%u-%s.%s", folder, texture->index, name,
                                    image_extension(data, i->bytes));
    if (!path)
        return no_memory(m);
    TRY(dir_make(folder, m->err));
    TRY(file_kind_check(path, data, i->bytes < 4 ? i->bytes : 4, m->err));
    TRY(file_write(path, data, i->bytes, m->err));
    TRY(add_text(m, &m->files, &m->out->file_count, &m->file_cap, path));
    m->out->files = m->files;
    return path_from_scene(m, path, file);
}

static enum status find_image(struct importing *m, const struct json *texture, const char **out)
{
    const struct json *image = json_get(texture, "image"), *file = json_get(texture, "file");
    if (image && image->is_integer && image->integer >= 0 &&
        (uint64_t)image->integer < m->model.image_count)
        return extract_image(m, texture, &m->model.images[image->integer], out);
    if (!file || file->type != JSON_STRING)
        return add_note(m, arena_printf(m->a, "texture %s: it has no image", texture->key));
    const char *path = path_beside(m->a, m->model_path, file->string);
    struct arena scratch = {0};
    struct error why;
    char *data;
    size_t size;
    if (!path)
        return no_memory(m);
    bool ok = file_read(&scratch, path, 0, &data, &size, &why) == STATUS_OK &&
              readable(data, size, path, &why);
    arena_free(&scratch);
    if (!ok)
        return add_note(m, arena_printf(m->a, "texture %s: %s", texture->key, why.msg));
    return path_from_scene(m, path, out);
}

static enum status find_images(struct importing *m)
{
    for (const struct json *t = json_get(m->root, "textures")->first; t; t = t->next)
        if (m->used_texture[t->index]) {
            TRY(find_image(m, t, &m->texture_file[t->index]));
            m->used_texture[t->index] = m->texture_file[t->index] != NULL;
        }
    return STATUS_OK;
}

/* ---- writing -------------------------------------------------------------------------------- */

/* Whether v is an input with a texture that cannot be read. */
static bool is_dead(const struct importing *m, const struct json *v)
{
    const struct json *name = v->type == JSON_OBJECT ? json_get(v, "texture") : NULL;
    const struct json *t = name && name->type == JSON_STRING
                               ? json_get(json_get(m->root, "textures"), name->string)
                               : NULL;
    return t && !m->texture_file[t->index];
}

/* An input whose texture cannot be read is its factor alone. */
static void put_input(const struct importing *m, struct json_writer *w, const struct json *v)
{
    if (!is_dead(m, v)) {
        json_copy(w, v);
        return;
    }
    const struct json *scale = json_get(v, "scale");
    if (strcmp(v->key, "normal_map") == 0 || strcmp(v->key, "coat_normal_map") == 0)
        return;
    json_key(w, v->key);
    if (!scale) {
        json_number(w, 1);
    } else if (scale->type == JSON_NUMBER) {
        json_number(w, scale->number);
    } else {
        json_begin_array(w);
        for (const struct json *c = scale->first; c; c = c->next)
            json_number(w, c->number);
        json_end_array(w);
    }
}

static void put_material(const struct importing *m, struct json_writer *w, const struct json *v)
{
    json_key(w, v->key);
    json_begin_object(w);
    for (const struct json *k = v->first; k; k = k->next)
        if (strcmp(k->key, "medium") != 0 || m->filled_material[v->index])
            put_input(m, w, k);
    json_end_object(w);
}

static void put_texture(const struct importing *m, struct json_writer *w, const struct json *v)
{
    json_key(w, v->key);
    json_begin_object(w);
    json_key_string(w, "file", m->texture_file[v->index]);
    for (const struct json *k = v->first; k; k = k->next)
        if (strcmp(k->key, "file") != 0 && strcmp(k->key, "image") != 0)
            json_copy(w, k);
    json_end_object(w);
}

static void put_object(const struct importing *m, struct json_writer *w, const struct json *v)
{
    json_begin_object(w);
    for (const struct json *k = v->first; k; k = k->next) {
        json_copy(w, k);
        if (strcmp(k->key, "type") == 0 && k->type == JSON_STRING && strcmp(k->string, "mesh") == 0)
            json_key_string(w, "file", m->model_name);
    }
    if (!json_get(v, "material") && !json_get(v, "group"))
        json_key_string(w, "material", m->bare_material);
    json_end_object(w);
}

/* A light of the model's, its strength times the option's factor. */
static void put_light(const struct importing *m, struct json_writer *w, const struct json *v)
{
    double factor = m->options->light_scale > 0 ? m->options->light_scale : 1;
    json_begin_object(w);
    for (const struct json *k = v->first; k; k = k->next) {
        bool strength = strcmp(k->key, "intensity") == 0 || strcmp(k->key, "irradiance") == 0;
        if (!strength || factor == 1) {
            json_copy(w, k);
            continue;
        }
        json_key(w, k->key);
        if (k->type == JSON_NUMBER) {
            json_number(w, k->number * factor);
            continue;
        }
        json_begin_array(w);
        for (const struct json *c = k->first; c; c = c->next)
            json_number(w, c->number * factor);
        json_end_array(w);
    }
    json_end_object(w);
}

/* What w wrote, without its outer brackets, with the spaces that people put. Frees w. */
static void put_spaced(struct text *t, struct json_writer *w)
{
    bool quoted = false;
    if (w->out.failed || !w->out.data)
        t->failed = true;
    for (size_t i = 1; i + 1 < w->out.len && !t->failed; i++) {
        char c = w->out.data[i];
        text_append(t, &c, 1);
        if (quoted && c == '\\')
            text_append(t, &w->out.data[++i], 1);
        else if (c == '"')
            quoted = !quoted;
        else if (!quoted && (c == ':' || c == ','))
            text_append(t, " ", 1);
    }
    text_free(&w->out);
}

/* Sections of the file: "key": {entries} or [entries], one a line; `more`: entries that are not the
 * model's, NULL for none. */
typedef void (*put_fn)(const struct importing *m, struct json_writer *w, const struct json *v);

static void put_section(const struct importing *m, struct text *t, const struct json *all,
                        const bool *used, put_fn put, const char *const *more)
{
    bool list = all->type == JSON_ARRAY;
    const char *between = "\n    ";
    text_printf(t, ",\n  \"%s\": %s", all->key, list ? "[" : "{");
    for (const struct json *v = all->first; v; v = v->next) {
        if (used && !used[v->index])
            continue;
        struct json_writer w = {0};
        list ? json_begin_array(&w) : json_begin_object(&w);
        put(m, &w, v);
        list ? json_end_array(&w) : json_end_object(&w);
        text_puts(t, between);
        put_spaced(t, &w);
        between = ",\n    ";
    }
    for (; more && *more; more++) {
        text_printf(t, "%s%s", between, *more);
        between = ",\n    ";
    }
    text_printf(t, "%s%s", *between == ',' ? "\n  " : "", list ? "]" : "}");
}

static void put_group(const struct importing *m, struct json_writer *w, const struct json *v)
{
    json_key(w, v->key);
    json_begin_array(w);
    for (const struct json *o = v->first; o; o = o->next)
        put_object(m, w, o);
    json_end_array(w);
}

/* ---- camera and light ----------------------------------------------------------------------- */

struct view {
    double origin[3], target[3], up[3];
    double fov;
};

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static void unit(double v[3])
{
    double len = sqrt(dot(v, v));
    for (int i = 0; i < 3; i++)
        v[i] /= len;
}

/* Degrees around the up axis from the front (+z; with z up -y), to the right, and above it. */
static void direction_at(bool up_z, double around, double above, double out[3])
{
    double a = around * (M_PI / 180), e = above * (M_PI / 180);
    double right = sin(a) * cos(e), front = cos(a) * cos(e), up = sin(e);
    out[0] = right;
    out[1] = up_z ? -front : up;
    out[2] = up_z ? up : front;
}

enum { FILM_WIDTH = 960, FILM_HEIGHT = 720 };
static const double frame_fov = 30, frame_part = 0.88; /* along the shorter axis; of the film */
static const double camera_around = 35, camera_above = 20, key_around = -30, key_above = 45;

/* The film's bounds over the points that frame the scene, seen from `distance` in front of v's
 * target: tangents, [axis][least, most]. The distance from where they would all be in view. */
static double seen_from(const struct scene *s, const struct view *v, const double axes[3][3],
                        double distance, double bounds[2][2])
{
    double tan_y = tan(frame_fov / 2 * (M_PI / 180)) * frame_part, need = 0;
    const double tans[2] = {tan_y * FILM_WIDTH / FILM_HEIGHT, tan_y};
    bool boxed = s->instance_count > 0; /* what is not in the world is in its box */
    size_t count = boxed ? 8 : s->vertex_count;
    bounds[0][0] = bounds[1][0] = INFINITY;
    bounds[0][1] = bounds[1][1] = -INFINITY;
    for (size_t k = 0; k < count; k++) {
        double p[3];
        for (int i = 0; i < 3; i++)
            p[i] = (!boxed         ? (double)s->P[k][i]
                    : (k >> i & 1) ? s->bounds_max[i]
                                   : s->bounds_min[i]) -
                   v->target[i];
        double nearer = dot(p, axes[2]);
        for (int i = 0; i < 2; i++) {
            double at = dot(p, axes[i]);
            need = fmax(need, nearer + fabs(at) / tans[i]);
            if (distance - nearer > 0) {
                bounds[i][0] = fmin(bounds[i][0], at / (distance - nearer));
                bounds[i][1] = fmax(bounds[i][1], at / (distance - nearer));
            }
        }
    }
    return need;
}

/* Seven digits: a file that people read; of lengths in the scene's frame. */
static double rounded(double x)
{
    char text[32];
    snprintf(text, sizeof text, "%.7g", x);
    return strtod(text, NULL);
}

/* From the front, right and above: what there is fills the film but for a margin. NULL: a view that
 * will do for a draft. */
static struct view frame_scene(const struct scene *s, bool up_z)
{
    struct view v = {.origin = {0, 0, 1}, .up = {0, !up_z, up_z}, .fov = frame_fov};
    double axes[3][3], size = 0, bounds[2][2], distance = 0; /* right, up, back */
    if (!s) {
        v.up[1] = 1;
        v.up[2] = 0;
        return v;
    }
    direction_at(up_z, camera_around, camera_above, axes[2]);
    cross(v.up, axes[2], axes[0]);
    unit(axes[0]);
    cross(axes[2], axes[0], axes[1]);
    for (int i = 0; i < 3; i++) {
        v.target[i] = (s->bounds_min[i] + s->bounds_max[i]) / 2;
        size = fmax(size, s->bounds_max[i] - s->bounds_min[i]);
    }
    for (int pass = 0; pass < 4; pass++) { /* moving aside changes what is near: it settles soon */
        distance = fmax(seen_from(s, &v, axes, distance, bounds), size > 0 ? size / 100 : 1);
        seen_from(s, &v, axes, distance, bounds);
        for (int i = 0; i < 3 && pass < 3; i++)
            for (int k = 0; k < 2; k++)
                v.target[i] += (bounds[k][0] + bounds[k][1]) / 2 * distance * axes[k][i];
    }
    for (int i = 0; i < 3; i++) {
        v.origin[i] = s->frame_origin[i] + rounded(v.target[i] + distance * axes[2][i]);
        v.target[i] = s->frame_origin[i] + rounded(v.target[i]);
    }
    return v;
}

static void put_vector(struct text *t, const char *key, const double v[3])
{
    text_printf(t, "\"%s\": [%.15g, %.15g, %.15g]", key, v[0], v[1], v[2]);
}

/* The model's camera: the one of that name, else the first; NULL if there is none. */
static enum status choose_camera(struct importing *m, const struct json **out)
{
    const struct json *all = json_get(m->root, "cameras"), *found = NULL;
    const char *wanted = m->options->camera;
    struct text names = {0};
    *out = NULL;
    for (const struct json *c = all ? all->first : NULL; c; c = c->next) {
        const struct json *name = json_get(c, "name");
        const char *text = name && name->type == JSON_STRING ? name->string : "";
        if (!found && (!wanted || strcmp(text, wanted) == 0))
            found = c;
        else
            text_printf(&names, "%s\"%s\"", names.len ? ", " : "", text);
    }
    enum status s = STATUS_OK;
    if (wanted && !found)
        s = error_msg(m->err, STATUS_ARG, "%s has no camera \"%s\", expected one of its own: %s",
                      m->model_path, wanted, names.data ? names.data : "it has none");
    else if (names.len)
        s = add_note(m, arena_printf(m->a, "cameras other than the first (--camera takes them): %s",
                                     names.data));
    text_free(&names);
    *out = m->options->frame ? NULL : found;
    return s;
}

/* eye: where it stands. */
static void put_camera(struct importing *m, struct text *t, const struct json *own,
                       const struct scene *draft, double eye[3])
{
    uint32_t width = FILM_WIDTH, height = FILM_HEIGHT;
    m->out->own_camera = own != NULL;
    if (own) {
        const struct json *aspect = json_get(own, "aspect");
        if (aspect && aspect->type == JSON_NUMBER)
            width = (uint32_t)fmin(fmax(round(height * aspect->number), 16), 8 * FILM_HEIGHT);
        struct json_writer w = {0};
        json_begin_object(&w);
        json_copy(&w, json_get(own, "camera"));
        json_end_object(&w);
        text_puts(t, "  ");
        put_spaced(t, &w);
        const struct json *origin = json_get(json_get(own, "camera"), "origin");
        const struct json *x = origin && origin->count == 3 ? origin->first : NULL;
        for (int i = 0; i < 3; i++, x = x ? x->next : NULL)
            eye[i] = x ? x->number : 0;
    } else {
        struct view v = frame_scene(draft, m->up_z);
        memcpy(eye, v.origin, sizeof v.origin);
        text_puts(t, "  \"camera\": {");
        put_vector(t, "origin", v.origin);
        text_puts(t, ", ");
        put_vector(t, "target", v.target);
        text_puts(t, ", ");
        put_vector(t, "up", v.up);
        text_printf(t, ", \"fov\": %.9g}", v.fov);
    }
    text_printf(t,
                ",\n  \"film\": {\"width\": %u, \"height\": %u},\n"
                "  \"render\": {\"spp\": 64, \"max_depth\": %d}",
                width, height, m->deep ? 16 : 8);
}

/* A square lamp above and to the left, which gives the middle of the box an irradiance of 2.2; the
 * camera sees it in mirrors only. *radiance is what it must have. */
static const char *studio_lamp(struct importing *m, const char *material, const struct scene *draft,
                               double *radiance)
{
    const double *lo = draft->bounds_min, *hi = draft->bounds_max;
    double middle[3], back[3], x[3], y[3], size = 0;
    for (int i = 0; i < 3; i++) {
        middle[i] = (lo[i] + hi[i]) / 2;
        size += (hi[i] - lo[i]) * (hi[i] - lo[i]) / 4;
    }
    const double half = size > 0 ? sqrt(size) : 1, distance = 3 * half;
    const double up[3] = {0, !m->up_z, m->up_z};
    direction_at(m->up_z, key_around, key_above, back);
    cross(up, back, x);
    unit(x);
    cross(back, x, y);
    *radiance = rounded(2.2 * distance * distance / (4 * half * half));
    double rows[3][4]; /* the rectangle's +z goes to the middle */
    for (int i = 0; i < 3; i++) {
        rows[i][0] = rounded(-half * x[i]);
        rows[i][1] = rounded(half * y[i]);
        rows[i][2] = rounded(-half * back[i]);
        rows[i][3] = draft->frame_origin[i] + rounded(middle[i] + distance * back[i]);
    }
    return arena_printf(
        m->a,
        "{\"type\": \"rectangle\", \"material\": \"%s\", \"transform\": [{\"matrix\": "
        "[%.15g, %.15g, %.15g, %.15g, %.15g, %.15g, %.15g, %.15g, %.15g, %.15g, %.15g, %.15g, 0, "
        "0, 0, 1]}]}",
        material, rows[0][0], rows[0][1], rows[0][2], rows[0][3], rows[1][0], rows[1][1],
        rows[1][2], rows[1][3], rows[2][0], rows[2][1], rows[2][2], rows[2][3]);
}

/* ---- the scene ------------------------------------------------------------------------------ */

/* Whether a mesh in v has no material. */
static bool is_bare(const struct json *v)
{
    const struct json *type = v->type == JSON_OBJECT ? json_get(v, "type") : NULL;
    if (type && type->type == JSON_STRING && strcmp(type->string, "mesh") == 0)
        return !json_get(v, "material");
    bool any = false;
    for (const struct json *c = v->type == JSON_OBJECT || v->type == JSON_ARRAY ? v->first : NULL;
         c && !any; c = c->next)
        any = is_bare(c);
    return any;
}

/* `name`, or with a number, that no material of the model has. */
static const char *free_name(struct importing *m, const char *name)
{
    const char *n = name;
    for (int k = 2; n && json_get(json_get(m->root, "materials"), n); k++)
        n = arena_printf(m->a, "%s %d", name, k);
    return n;
}

/* draft: the scene as it was loaded; NULL for that draft itself. */
static enum status write_scene(struct importing *m, const struct json *camera,
                               const struct scene *draft, struct text *t)
{
    const struct json *lights = json_get(m->root, "lights"), *groups = json_get(m->root, "groups");
    const char *materials[3] = {0}, *objects[2] = {0}, *key = free_name(m, "key light"),
               *headlight[2] = {0};
    bool own_lights = lights->count > 0, studio = !own_lights || m->options->studio;
    int count = 0;
    double radiance;
    m->bare_material = free_name(m, "default");
    if (!key || !m->bare_material)
        return no_memory(m);
    if (is_bare(m->root)) /* vertex colours say all */
        materials[count++] =
            arena_printf(m->a, "\"%s\": {\"type\": \"diffuse\", \"reflectance\": %s}",
                         m->bare_material, m->model.colors ? "1" : "0.7");
    if (studio && draft) {
        objects[0] = studio_lamp(m, key, draft, &radiance);
        materials[count++] = arena_printf(m->a,
                                          "\"%s\": {\"type\": \"diffuse\", \"reflectance\": 0, "
                                          "\"emission\": %.9g, \"sides\": \"single\"}",
                                          key, radiance);
    }
    if ((count && !materials[count - 1]) || (studio && draft && !objects[0]))
        return no_memory(m);
    m->out->own_lights = own_lights;
    struct json_writer about = {0};
    json_string(&about, path_name(m->model_path));
    text_printf(t, "{\n  \"isophote\": 1,\n  \"about\": %s,\n",
                about.out.failed ? "" : about.out.data);
    text_free(&about.out);
    double eye[3];
    put_camera(m, t, camera, draft, eye);
    if (m->options->headlight > 0)
        headlight[0] = arena_printf(
            m->a, "{\"type\": \"point\", \"position\": [%.9g, %.9g, %.9g], \"intensity\": %.9g}",
            eye[0], eye[1], eye[2], m->options->headlight);
    put_section(m, t, json_get(m->root, "textures"), m->used_texture, put_texture, NULL);
    put_section(m, t, json_get(m->root, "materials"), m->used_material, put_material, materials);
    if (groups->count)
        put_section(m, t, groups, NULL, put_group, NULL);
    put_section(m, t, json_get(m->root, "objects"), NULL, put_object, objects);
    if (own_lights || headlight[0])
        put_section(m, t, lights, NULL, put_light, headlight);
    if (studio)
        text_puts(t, ",\n  \"environment\": {\"radiance\": 0.4}");
    else if (m->options->sky > 0)
        text_printf(t, ",\n  \"environment\": {\"radiance\": %.9g}", m->options->sky);
    text_puts(t, "\n}\n");
    return t->failed ? no_memory(m) : STATUS_OK;
}

/* The description is an object with all its sections. */
static enum status read_description(struct importing *m)
{
    static const char *const objects[] = {"textures", "materials", "groups", NULL},
                             *const arrays[] = {"objects", "cameras", "lights", "notes", NULL};
    TRY(json_parse(m->a, m->model_path, m->model.description, m->model.description_size, &m->root,
                   m->err));
    bool whole = m->root->type == JSON_OBJECT;
    const struct json *up = whole ? json_get(m->root, "up") : NULL;
    m->up_z = m->options->up_z || (up && !m->options->up_y);
    for (int i = 0; objects[i] && whole; i++) {
        const struct json *v = json_get(m->root, objects[i]);
        whole = v && v->type == JSON_OBJECT;
    }
    for (int i = 0; arrays[i] && whole; i++) {
        const struct json *v = json_get(m->root, arrays[i]);
        whole = v && v->type == JSON_ARRAY;
    }
    if (!whole)
        return error_msg(m->err, STATUS_PARSE, "the importer's description of %s is not whole",
                         m->model_path);
    size_t textures = json_get(m->root, "textures")->count,
           materials = json_get(m->root, "materials")->count;
    m->used_texture = ARENA_ARRAY(m->a, bool, textures);
    m->texture_file = ARENA_ARRAY(m->a, const char *, textures);
    m->used_material = ARENA_ARRAY(m->a, bool, materials);
    m->filled_material = ARENA_ARRAY(m->a, bool, materials);
    if (!m->filled_material || !m->used_texture || !m->texture_file || !m->used_material)
        return no_memory(m);
    for (const struct json *n = json_get(m->root, "notes")->first; n; n = n->next)
        if (n->type == JSON_STRING)
            TRY(add_note(m, n->string));
    return STATUS_OK;
}

/* Loads the scene: what does not load is not written, and only here are the bounds known. */
static enum status load_draft(struct importing *m, const struct text *t, struct scene **out)
{
    struct error why;
    if (scene_load_memory(m->scene_path, t->data, t->len, out, &why) == STATUS_OK)
        return STATUS_OK;
    return error_msg(m->err, why.code, "the scene of %s does not load: %s%s%s", m->model_path,
                     why.path, why.path[0] ? ": " : "", why.msg);
}

static enum status draft_scene(struct importing *m, const struct json *camera, struct scene **out)
{
    struct text t = {0};
    enum status st = write_scene(m, camera, NULL, &t);
    if (st == STATUS_OK)
        st = load_draft(m, &t, out);
    text_free(&t);
    return st;
}

/* Triangles without an area are left out of the scene, which can open a mesh. False: there were no
 * media. */
static bool drop_media(struct importing *m)
{
    bool any = false;
    for (size_t i = 0; i < json_get(m->root, "materials")->count; i++) {
        any = any || (m->filled_material[i] && m->used_material[i]);
        m->filled_material[i] = false;
    }
    return any;
}

static enum status import(struct importing *m)
{
    const struct json *camera;
    struct scene *s;
    TRY(read_description(m));
    TRY(path_from_scene(m, m->model_path, &m->model_name));
    use_materials(m, m->root);
    TRY(find_images(m));
    TRY(find_insides(m));
    TRY(choose_camera(m, &camera));
    struct text t = {0};
    enum status st = draft_scene(m, camera, &s);
    if (st != STATUS_OK && st != STATUS_MEMORY && drop_media(m)) {
        TRY(add_note(m, "absorption inside materials: what remains of their meshes in the scene is "
                        "not closed"));
        st = draft_scene(m, camera, &s);
    }
    TRY(st);
    for (int i = 0; i < 3; i++)
        m->out->radius += pow(s->bounds_max[i] - s->bounds_min[i], 2) / 4;
    m->out->radius = sqrt(m->out->radius);
    m->out->triangles = scene_effective_triangles(s);
    m->out->materials = s->material_count;
    m->out->textures = s->texture_count;
    m->out->lights = s->light_count;
    st = write_scene(m, camera, s, &t);
    scene_free(s);
    if (st == STATUS_OK) {
        m->out->text = arena_strndup(m->a, t.data, t.len);
        m->out->size = t.len;
        st = m->out->text ? STATUS_OK : no_memory(m);
    }
    text_free(&t);
    return st;
}

enum status scene_import(struct arena *a, const char *model, const char *scene,
                         const struct scene_import_options *options, struct scene_import *out,
                         struct error *err)
{
    struct error own;
    struct scene_import result = {0};
    struct importing m = {.a = a,
                          .err = err ? err : &own,
                          .model_path = model,
                          .scene_path = scene,
                          .options = options,
                          .out = &result};
    enum status s = model_import(model, MODEL_PARTS, &m.model, m.err);
    if (s == STATUS_OK)
        s = import(&m);
    model_close(&m.model);
    if (s == STATUS_OK)
        *out = result;
    return s;
}
