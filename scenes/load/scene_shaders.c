/* SPDX-License-Identifier: Apache-2.0 */
/* Materials that run shaders: layers, parameters, connections and what they drive. Compiled here,
 * so that every mistake is shown at its place in the scene. */
#include "scene_loader.h"

#include <float.h>
#include <math.h>
#include <string.h>

const struct drive_info drive_infos[DRIVE_COUNT] = {
#define DIFFUSE          (1u << MATERIAL_DIFFUSE)
#define MIRROR           (1u << MATERIAL_MIRROR)
#define CONDUCTOR        (1u << MATERIAL_ROUGH_CONDUCTOR)
#define DIELECTRIC       (1u << MATERIAL_DIELECTRIC)
#define PRINCIPLED       (1u << MATERIAL_PRINCIPLED)
#define OREN_NAYAR       (1u << MATERIAL_OREN_NAYAR)
#define ROUGH_DIELECTRIC (1u << MATERIAL_ROUGH_DIELECTRIC)
#define THIN_DIELECTRIC  (1u << MATERIAL_THIN_DIELECTRIC)
#define SHEEN            (1u << MATERIAL_SHEEN)
#define ALL              ((1u << MATERIAL_TYPE_COUNT) - 1)
    [DRIVE_BASE_COLOR] = {"base_color", 3, PRINCIPLED},
    [DRIVE_REFLECTANCE] = {"reflectance", 3, DIFFUSE | MIRROR | OREN_NAYAR | SHEEN},
    [DRIVE_ROUGHNESS] = {"roughness", 1, CONDUCTOR | PRINCIPLED | ROUGH_DIELECTRIC | SHEEN},
    [DRIVE_METALLIC] = {"metallic", 1, PRINCIPLED},
    [DRIVE_SPECULAR] = {"specular", 1, PRINCIPLED},
    [DRIVE_SPECULAR_TINT] = {"specular_tint", 1, PRINCIPLED},
    [DRIVE_ANISOTROPY] = {"anisotropy", 1, CONDUCTOR | PRINCIPLED},
    [DRIVE_ROTATION] = {"rotation", 1, CONDUCTOR | PRINCIPLED},
    [DRIVE_SHEEN] = {"sheen", 1, PRINCIPLED},
    [DRIVE_SHEEN_TINT] = {"sheen_tint", 1, PRINCIPLED},
    [DRIVE_CLEARCOAT] = {"clearcoat", 1, PRINCIPLED},
    [DRIVE_CLEARCOAT_GLOSS] = {"clearcoat_gloss", 1, PRINCIPLED},
    [DRIVE_TRANSMISSION] = {"transmission", 1, PRINCIPLED},
    [DRIVE_SUBSURFACE] = {"subsurface", 1, PRINCIPLED},
    [DRIVE_ETA] = {"eta", 3, CONDUCTOR},
    [DRIVE_K] = {"k", 3, CONDUCTOR},
    [DRIVE_IOR] = {"ior", 1, DIELECTRIC | ROUGH_DIELECTRIC | THIN_DIELECTRIC | PRINCIPLED},
    [DRIVE_SIGMA] = {"sigma", 1, OREN_NAYAR},
    [DRIVE_NORMAL] = {"normal", 3, ALL},
    [DRIVE_OPACITY] = {"opacity", 3, ALL},
    [DRIVE_EMISSION] = {"emission", 3, ALL},
};

/* ---- programs ------------------------------------------------------------------------------- */

/* A compiled file, or a text in the scene (path NULL). */
struct shader_program {
    const char *path;
    const struct asl_program *program;
    struct shader_program *next;
};

static enum status does_not_compile(struct document *d, const struct json *at,
                                    const struct asl_diags *diags, const struct error *why)
{
    const struct asl_diag *first = diags->first;
    while (first && first->severity != ASL_ERROR)
        first = first->next;
    if (!first)
        return file_failed(d, at, why);
    char place[320] = "";
    if (first->pos.line)
        snprintf(place, sizeof place, "%s:%u:%u: ", first->pos.file, first->pos.line,
                 first->pos.col);
    return json_error(
        d->err, d->file, at, STATUS_TYPE, "%s%s%s%s%s%s", place, first->text,
        first->hint ? " (" : "", first->hint ? first->hint : "", first->hint ? ")" : "",
        diags->errors > 1 ? "; there are more errors: `isophote aslc` shows all" : "");
}

/* The program of the file that v names, or whose text v is; each file is compiled once. */
static enum status load_program(struct loader *l, const struct json *v, bool is_text,
                                const struct asl_program **out)
{
    struct document *d = &l->d;
    struct arena *a = &l->scene->arena;
    const char *path = d->file, *text = NULL;
    if (is_text)
        TRY(read_string(d, v, &text));
    else
        TRY(read_path(d, v, &path));
    for (const struct shader_program *p = l->programs; p && !is_text; p = p->next)
        if (p->path && strcmp(p->path, path) == 0) {
            *out = p->program;
            return STATUS_OK;
        }
    struct shader_program *p = ARENA_NEW(&d->arena, struct shader_program);
    /* Places of errors name it, also at run time. */
    char *kept = arena_printf(a, "%s%s", path, is_text ? ":source" : "");
    if (!p || !kept)
        return document_memory(d);
    static const struct asl_options options = {.max_bytes = (size_t)256 << 20};
    struct asl_diags diags = {0};
    struct error why = {0};
    if (asl_compile(a, kept, text, text ? strlen(text) : 0, &options, &diags, &p->program, &why) !=
        STATUS_OK)
        return does_not_compile(d, v, &diags, &why);
    p->path = is_text ? NULL : kept;
    p->next = l->programs;
    l->programs = p;
    *out = p->program;
    return STATUS_OK;
}

/* ---- parameters ----------------------------------------------------------------------------- */

static void put_string(struct text *t, const char *s)
{
    text_puts(t, "\"");
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            text_puts(t, "\\");
        text_append(t, s, 1);
    }
    text_puts(t, "\"");
}

/* One scalar of a parameter's value, as asl_group_param reads it. */
static enum status put_scalar(struct document *d, const struct json *v, enum asl_base base,
                              struct text *t)
{
    double x;
    int64_t i = 0;
    const char *s;
    switch (base) {
    case ASL_STRING:
        if (v->type != JSON_STRING)
            return expected(d, v, "a string");
        s = v->string;
        put_string(t, s);
        return STATUS_OK;
    case ASL_INT:
        if (v->type == JSON_BOOL)
            i = v->boolean;
        else
            TRY(read_integer(d, v, INT32_MIN, INT32_MAX, &i));
        text_printf(t, "%lld", (long long)i);
        return STATUS_OK;
    default:
        TRY(read_number(d, v, -(double)FLT_MAX, (double)FLT_MAX, &x));
        text_printf(t, "%.9g", (double)(float)x);
        return STATUS_OK;
    }
}

/* Appends v's scalars, at most `room` of them; arrays may nest ([[r, g, b], ...]). */
static enum status put_value(struct document *d, const struct json *v, struct asl_type type,
                             size_t room, size_t *used, struct text *t)
{
    char shown[ASL_TYPE_TEXT_SIZE], want[ASL_TYPE_TEXT_SIZE + 64];
    if (v->type == JSON_ARRAY) {
        for (const struct json *e = v->first; e; e = e->next)
            TRY(put_value(d, e, type, room, used, t));
        return STATUS_OK;
    }
    if (*used == room) {
        snprintf(want, sizeof want, "a %s: %zu values", asl_type_text(type, shown, sizeof shown),
                 room);
        return expected(d, v, want);
    }
    if (*used)
        text_puts(t, ",");
    return put_scalar(d, v, asl_type_scalar(type, (*used)++), t);
}

static const struct asl_param *find_param(const struct asl_shader_info *s, const char *name)
{
    for (size_t i = 0; i < s->param_count; i++)
        if (strcmp(s->params[i].name, name) == 0)
            return &s->params[i];
    return NULL;
}

/* "found X; did you mean Y?" among the parameters, or only the outputs, of a shader. */
static enum status no_param(struct document *d, const struct json *at,
                            const struct asl_shader_info *s, bool outputs, const char *name)
{
    const char **names = ARENA_ARRAY(&d->arena, const char *, s->param_count + 1);
    size_t n = 0;
    if (!names)
        return document_memory(d);
    for (size_t i = 0; i < s->param_count; i++)
        if (s->params[i].output || !outputs)
            names[n++] = s->params[i].name;
    const char *near = nearest_name(name, names, n), *kind = outputs ? "output" : "parameter";
    return json_error(d->err, d->file, at, STATUS_TYPE, "shader \"%s\" has no %s \"%.60s\"%s%s%s",
                      s->name, kind, name, near ? "; did you mean \"" : "", near ? near : "",
                      near ? "\"?" : "");
}

/* Sets the parameters of the layer that is added next, and notes them in the signature. */
static enum status load_parameters(struct loader *l, const struct json *v,
                                   const struct asl_shader_info *shader, struct asl_group *group,
                                   struct text *signature)
{
    struct document *d = &l->d;
    if (!v)
        return STATUS_OK;
    if (v->type != JSON_OBJECT)
        return expected(d, v, "an object of values by parameter name");
    for (const struct json *e = v->first; e; e = e->next) {
        const struct asl_param *p = find_param(shader, e->key);
        char shown[ASL_TYPE_TEXT_SIZE];
        if (!p)
            return no_param(d, e, shader, false, e->key);
        size_t slots = asl_type_slots(p->type), used = 0;
        if (p->type.base == ASL_CLOSURE || slots == 0)
            return json_error(d->err, d->file, e, STATUS_TYPE,
                              "parameter \"%s\" is a %s: it cannot be set", e->key,
                              asl_type_text(p->type, shown, sizeof shown));
        struct text t = {0};
        enum status s = put_value(d, e, p->type, slots, &used, &t);
        bool one = used == 1 && !p->type.array && p->type.base != ASL_STRUCT;
        if (s == STATUS_OK && used < slots && !one && p->type.array <= 0) {
            char want[ASL_TYPE_TEXT_SIZE + 64];
            snprintf(want, sizeof want, "a %s: %zu values",
                     asl_type_text(p->type, shown, sizeof shown), slots);
            s = expected(d, e, want);
        }
        struct error why = {0};
        if (s == STATUS_OK && t.failed)
            s = document_memory(d);
        if (s == STATUS_OK &&
            asl_group_param(group, &p->type, e->key, t.data ? t.data : "", &why) != STATUS_OK)
            s = json_error(d->err, d->file, e, why.code, "%s", why.msg);
        text_printf(signature, "param %s %s\n", e->key, t.data ? t.data : "");
        text_free(&t);
        TRY(s);
    }
    return STATUS_OK;
}

/* ---- layers and connections ----------------------------------------------------------------- */

static enum status load_layer(struct loader *l, const struct json *v, const char *name,
                              struct asl_group *group, struct text *signature)
{
    struct document *d = &l->d;
    const struct json *file = json_get(v, "shader"), *source = json_get(v, "source");
    if (!file == !source)
        return json_error(d->err, d->file, v, STATUS_TYPE,
                          "found %s \"shader\" and \"source\", expected one of them",
                          file ? "both" : "neither");
    const struct asl_program *program = NULL;
    struct error why = {0};
    TRY(load_program(l, file ? file : source, !file, &program));
    size_t count = asl_program_shaders(program);
    if (count == 0)
        return json_error(d->err, d->file, file ? file : source, STATUS_TYPE,
                          "there is no shader in it");
    const struct asl_shader_info *info = asl_program_shader(program, count - 1);
    TRY(load_parameters(l, json_get(v, "parameters"), info, group, signature));
    if (asl_group_layer(group, program, info->name, name, NULL, &why) != STATUS_OK)
        return json_error(d->err, d->file, v, why.code, "%s", why.msg);
    text_printf(signature, "layer %s %s\n", name, info->name);
    asl_program_dump(program, true, signature);
    return STATUS_OK;
}

static enum status load_layers(struct loader *l, const struct json *v, struct asl_group *group,
                               struct text *signature)
{
    static const char *const keys[] = {"name", "shader", "source", "parameters", NULL};
    struct document *d = &l->d;
    if (v->type != JSON_ARRAY || v->count == 0)
        return expected(d, v, "an array of layers");
    for (const struct json *e = v->first; e; e = e->next) {
        const struct json *at;
        const char *name;
        TRY(read_object(d, e, keys));
        TRY(read_required(d, e, "name", "the layer's name", &at));
        TRY(read_string(d, at, &name));
        if (strchr(name, '.'))
            return expected(d, at, "a name without a point");
        TRY(load_layer(l, e, name, group, signature));
    }
    return STATUS_OK;
}

/* "layer.parameter" into its two parts; names live in the document's arena. */
static enum status split_end(struct document *d, const struct json *v, const char **layer,
                             const char **param)
{
    const char *text, *dot;
    TRY(read_string(d, v, &text));
    dot = strchr(text, '.');
    if (!dot || dot == text || !dot[1])
        return expected(d, v, "\"layer.parameter\"");
    *layer = arena_strndup(&d->arena, text, (size_t)(dot - text));
    *param = dot + 1;
    return *layer ? STATUS_OK : document_memory(d);
}

static enum status load_connections(struct loader *l, const struct json *v, struct asl_group *group,
                                    struct text *signature)
{
    struct document *d = &l->d;
    if (!v)
        return STATUS_OK;
    if (v->type != JSON_ARRAY)
        return expected(d, v, "an array of [\"layer.output\", \"layer.parameter\"]");
    for (const struct json *e = v->first; e; e = e->next) {
        const char *layer[2] = {NULL, NULL}, *param[2] = {NULL, NULL};
        struct error why = {0};
        if (e->type != JSON_ARRAY || e->count != 2)
            return expected(d, e, "[\"layer.output\", \"layer.parameter\"]");
        TRY(split_end(d, e->first, &layer[0], &param[0]));
        TRY(split_end(d, e->first->next, &layer[1], &param[1]));
        if (asl_group_connect(group, layer[0], param[0], layer[1], param[1], &why) != STATUS_OK)
            return json_error(d->err, d->file, e, STATUS_TYPE, "%s", why.msg);
        text_printf(signature, "connect %s %s\n", e->first->string, e->first->next->string);
    }
    return STATUS_OK;
}

enum status load_shader_group(struct loader *l, const struct json *v, const char *name,
                              const struct asl_group **out, struct text *signature)
{
    struct document *d = &l->d;
    const struct json *layers = json_get(v, "layers"), *connections = json_get(v, "connections");
    struct asl_group *group;
    if (layers && (json_get(v, "shader") || json_get(v, "source") || json_get(v, "parameters")))
        return json_error(d->err, d->file, v, STATUS_TYPE,
                          "\"layers\" takes the place of \"shader\", \"source\" and "
                          "\"parameters\"");
    if (!layers && connections)
        return json_error(d->err, d->file, connections, STATUS_TYPE, "connections need \"layers\"");
    TRY(asl_group_new(&l->scene->arena, name, &group, d->err));
    if (layers) {
        TRY(load_layers(l, layers, group, signature));
        TRY(load_connections(l, connections, group, signature));
    } else {
        TRY(load_layer(l, v, name, group, signature));
    }
    *out = group;
    return asl_group_finish(group, d->err);
}

/* ---- what is driven ------------------------------------------------------------------------- */

/* The layer and output that "output" or "layer.output" names; "output" is the last layer's that has
 * it. */
static enum status find_output(struct document *d, const struct json *v,
                               const struct asl_group *group, size_t *layer,
                               const struct asl_param **out)
{
    const char *text, *dot, *name;
    TRY(read_string(d, v, &text));
    dot = strchr(text, '.');
    name = dot ? dot + 1 : text;
    size_t layers = asl_group_layers(group);
    for (size_t i = layers; i-- > 0;) {
        const char *own = asl_group_layer_name(group, i);
        if (dot && (strlen(own) != (size_t)(dot - text) || strncmp(own, text, strlen(own)) != 0))
            continue;
        const struct asl_shader_info *s = asl_group_layer_shader(group, i);
        const struct asl_param *p = find_param(s, name);
        if (p && p->output) {
            *layer = i;
            *out = p;
            return STATUS_OK;
        }
        if (dot)
            return no_param(d, v, s, true, name);
    }
    if (dot)
        return json_error(d->err, d->file, v, STATUS_TYPE, "there is no layer \"%.*s\"",
                          (int)(dot - text), text);
    return no_param(d, v, asl_group_layer_shader(group, layers - 1), true, name);
}

static bool drives(struct asl_type type, const struct drive_info *input)
{
    bool triple = type.base >= ASL_COLOR && type.base <= ASL_NORMAL;
    return type.array == 0 && (type.base == ASL_FLOAT || (triple && input->channels == 3));
}

static enum status load_drive(struct loader *l, const struct json *v, const struct material *m,
                              struct shading *shading, struct text *signature)
{
    struct document *d = &l->d;
    const char *names[DRIVE_COUNT + 1] = {NULL};
    size_t n = 0, layers = asl_group_layers(shading->group), entries = 0;
    for (int i = 0; i < DRIVE_COUNT; i++)
        if (drive_infos[i].bases & (1u << m->type))
            names[n++] = drive_infos[i].name;
    TRY(read_object(d, v, names));
    if (v->count == 0)
        return expected(d, v, "an output of the shader for some input of the base");
    const char **entry = ARENA_ARRAY(&l->scene->arena, const char *, layers + 1);
    if (!entry)
        return document_memory(d);
    for (int i = 0; i < DRIVE_COUNT; i++) {
        const struct json *e = json_get(v, drive_infos[i].name);
        const struct asl_param *p = NULL;
        size_t layer = 0;
        char shown[ASL_TYPE_TEXT_SIZE];
        if (!e)
            continue;
        TRY(find_output(d, e, shading->group, &layer, &p));
        if (!drives(p->type, &drive_infos[i]))
            return json_error(d->err, d->file, e, STATUS_TYPE,
                              "output \"%s\" is a %s, expected a float%s", e->string,
                              asl_type_text(p->type, shown, sizeof shown),
                              drive_infos[i].channels == 3 ? ", color, vector or normal" : "");
        const char *layer_name = asl_group_layer_name(shading->group, layer);
        shading->drive[i] = arena_printf(&l->scene->arena, "%s.%s", layer_name, p->name);
        if (!shading->drive[i])
            return document_memory(d);
        if (layer + 1 < layers)
            entry[entries++] = layer_name;
        text_printf(signature, "drive %s %s\n", drive_infos[i].name, shading->drive[i]);
    }
    shading->entry_layers = entry;
    return STATUS_OK;
}

/* ---- materials ------------------------------------------------------------------------------ */

struct called {
    const char *refused; /* why; NULL: nothing is */
    struct src_pos at;
};

static void note_call(void *ctx, const char *builtin, struct src_pos at)
{
    static const struct {
        const char *builtin, *why;
    } refused[] = {
        {"anisotropic_vdf", "anisotropic_vdf() describes a volume: it belongs in a \"medium\""},
        {"medium_vdf", "medium_vdf() describes a volume: it belongs in a \"medium\""},
        {"closure", "the renderer does not know this closure, which a prototype declares"}};
    struct called *c = ctx;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (!c->refused && strcmp(builtin, refused[i].builtin) == 0)
            *c = (struct called){refused[i].why, at};
}

/* What a renderer cannot do is said before it starts. */
static enum status check_group(struct loader *l, const struct json *v,
                               const struct shading *shading)
{
    struct document *d = &l->d;
    struct called called = {0};
    struct asl_survey survey = {.ctx = &called, .call = note_call};
    TRY(asl_group_survey(shading->group, &survey, d->err));
    if (called.refused && !shading->has_base)
        return json_error(d->err, d->file, v, STATUS_UNSUPPORTED, "%s:%u:%u: %s", called.at.file,
                          called.at.line, called.at.col, called.refused);
    if (!shading->has_base && !survey.uses_Ci)
        return json_error(d->err, d->file, v, STATUS_TYPE,
                          "the shader sets no Ci, expected \"base\" and \"drive\" to say what its "
                          "outputs are for");
    return STATUS_OK;
}

enum status load_shading(struct loader *l, const struct json *v, struct material *m)
{
    static const char *const keys[] = {"type",           SHADER_GROUP_KEYS, "base",
                                       "drive",          "emission",        "emission_two_sided",
                                       "emission_bound", SURFACE_KEYS,      NULL};
    struct document *d = &l->d;
    const struct json *base = json_get(v, "base"), *drive = json_get(v, "drive");
    struct shading *shading = ARENA_NEW(&l->scene->arena, struct shading);
    struct text signature = {0};
    double bound = 0;
    if (!shading)
        return document_memory(d);
    TRY(read_object(d, v, keys));
    if (!base != !drive)
        return json_error(d->err, d->file, v, STATUS_TYPE,
                          "\"base\" and \"drive\" go together: a material, and which outputs set "
                          "its inputs");
    TRY(field_number(d, v, "emission_bound", 0, 1e12, &bound));
    enum status s = load_shader_group(l, v, v->key, &shading->group, &signature);
    shading->has_base = base != NULL;
    shading->emission_bound = (float)bound;
    if (s == STATUS_OK && drive)
        s = load_drive(l, drive, m, shading, &signature);
    if (s == STATUS_OK)
        s = check_group(l, v, shading);
    if (s == STATUS_OK)
        s = shader_images_load(&l->scene->arena, d->file, shading->group, &l->scene->shader_images,
                               d->err);
    if (s == STATUS_OK && signature.failed)
        s = document_memory(d);
    if (s == STATUS_OK)
        hash_bytes(signature.data, signature.len, shading->hash);
    text_free(&signature);
    m->shading = shading;
    return s;
}

/* ---- areas ---------------------------------------------------------------------------------- */

static double triangle_area(const struct scene *s, const uint32_t index[3])
{
    const float *a = s->P[index[0]], *b = s->P[index[1]], *c = s->P[index[2]];
    double e[3], f[3];
    for (int i = 0; i < 3; i++) {
        e[i] = (double)b[i] - (double)a[i];
        f[i] = (double)c[i] - (double)a[i];
    }
    double x = e[1] * f[2] - e[2] * f[1], y = e[2] * f[0] - e[0] * f[2],
           z = e[0] * f[1] - e[1] * f[0];
    return sqrt(x * x + y * y + z * z) / 2;
}

/* areas[material] += the areas of the shaded triangles of an instance, in the world. */
static void instance_areas(const struct scene *s, const struct instance *n, double *areas)
{
    const struct prototype *p = &s->prototypes[n->prototype];
    for (uint32_t t = p->first; t < p->first + p->count; t++) {
        uint32_t material = s->primitive_material[t + s->sphere_count + s->disk_count];
        double e[2][3], w[2][3], x[3];
        if (!s->materials[material].shading)
            continue;
        for (int k = 0; k < 2; k++)
            for (int c = 0; c < 3; c++)
                e[k][c] =
                    (double)s->P[s->triangles[t][k + 1]][c] - (double)s->P[s->triangles[t][0]][c];
        for (int k = 0; k < 2; k++)
            for (int c = 0; c < 3; c++)
                w[k][c] = (double)n->to_world[c][0] * e[k][0] +
                          (double)n->to_world[c][1] * e[k][1] + (double)n->to_world[c][2] * e[k][2];
        for (int c = 0; c < 3; c++)
            x[c] = w[0][(c + 1) % 3] * w[1][(c + 2) % 3] - w[0][(c + 2) % 3] * w[1][(c + 1) % 3];
        areas[material] += sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]) / 2;
    }
}

static double primitive_area(const struct scene *s, size_t i)
{
    if (i < s->triangle_count)
        return triangle_area(s, s->triangles[i]);
    i -= s->triangle_count;
    if (i < s->sphere_count)
        return 4 * M_PI * (double)s->spheres[i].radius * (double)s->spheres[i].radius;
    i -= s->sphere_count;
    return M_PI * (double)s->disks[i].radius * (double)s->disks[i].radius;
}

enum status measure_shadings(struct loader *l)
{
    struct scene *s = l->scene;
    double *areas = ARENA_ARRAY(&l->d.arena, double, s->material_count + 1);
    if (!areas)
        return document_memory(&l->d);
    for (size_t i = 0, n = scene_primitive_count(s); i < n; i++)
        if (s->materials[s->primitive_material[i]].shading)
            areas[s->primitive_material[i]] += primitive_area(s, i);
    for (size_t i = 0; i < s->instance_count; i++)
        instance_areas(s, &s->instances[i], areas);
    for (size_t i = 0; i < s->material_count; i++)
        if (s->materials[i].shading)
            s->materials[i].shading->surface_area = (float)areas[i];
    return STATUS_OK;
}
