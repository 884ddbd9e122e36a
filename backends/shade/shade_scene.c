/* SPDX-License-Identifier: Apache-2.0 */
/* shade_scene.c: a scene's shaders as text for the kernel. */
#include "shade_scene.h"
#include "api/offers.h"
#include "shade_masters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct group {
    struct text text; /* as emitted without a suffix: equal texts are one group */
    size_t table;     /* where its tables of messages begin */
};
struct maker {
    const struct scene *scene;
    struct shade_scene *out;
    struct error *err;
    struct arena arena; /* of one material's code */
    enum shade_way form;
    bool no_llvm;         /* a group that LLVM IR cannot have */
    struct text declared; /* of the LLVM IR */
    struct group *groups;
    size_t group_count;
    struct shade_words words;
};

static enum status no_memory(struct error *err)
{
    return error_msg(err, STATUS_MEMORY, "out of memory for a scene's shaders");
}

/* ---- words ---------------------------------------------------------------------------------- */

/* A material's parameters, then where each image that its group reads begins. */
static enum status area_place(struct maker *m, const struct shading *shading,
                              const struct asl_code *code, const struct asl_emitted *emitted,
                              uint32_t *at)
{
    size_t n = asl_code_args(code);
    union asl_slot *area = ARENA_ARRAY(&m->arena, union asl_slot, n + 1);
    if (!area)
        return no_memory(m->err);
    enum status st = shade_words_take(&m->words, n + emitted->image_count + 1, at, m->err);
    if (st)
        return st;
    asl_code_args_fill(code, shading->group, area);
    for (size_t i = 0; i < n; i++) /* strings are constants of the text */
        m->words.words[*at + i] = (uint32_t)area[i].i;
    for (size_t i = 0; i < emitted->image_count; i++) {
        uint32_t word = 0;
        st = shade_words_emitted(&m->words, &m->scene->shader_images, &emitted->images[i], &word,
                                 m->err);
        if (st)
            return st;
        m->words.words[*at + n + i] = word;
    }
    return STATUS_OK;
}

static double number_of(const struct maker *m, const struct asl_emitted_number *n, uint32_t args)
{
    if (!n->is_arg)
        return (double)n->value;
    const uint32_t word = m->words.words[args + n->arg];
    float value;
    memcpy(&value, &word, sizeof value);
    return n->is_int ? (double)(int32_t)word : (double)value;
}

/* What the material's occlusion() asks of every point; its parameters stand in the words. */
static void occlusion_find(const struct maker *m, const struct asl_emitted_occlusion *o,
                           struct shade_scene_material *to)
{
    if (!o->asked)
        return;
    const double rays = number_of(m, &o->samples, to->args);
    to->occlusion_distance = (float)number_of(m, &o->maxdist, to->args);
    if (to->occlusion_distance > 0)
        to->occlusion_rays = rays < 1                    ? 1
                             : rays > ASL_OCCLUSION_RAYS ? ASL_OCCLUSION_RAYS
                                                         : (uint32_t)rays;
}

/* ---- text ----------------------------------------------------------------------------------- */

/* What the kernel calls for a group: globals in, lobes out. */
static void put_entry(struct text *t, const struct shading *shading, const char *suffix,
                      const struct asl_type *types, uint32_t first_loop, size_t table, bool traces)
{
    text_printf(
        t,
        "#line 1 \"group%s\"\n"
        "A_CALL uint k_shade%s(K_GLOBAL const uint *words, uint args, "
        "const struct k_globals *g, const struct k_inputs *base, struct k_lobes *l)\n{\n"
        "struct a_state%s s;\ns.words = words;\ns.args = words + args;\n"
        "s.messages = g->messages ? g->messages + %zuu : (K_GLOBAL uint *)0;\n"
        "#ifdef K_COUNT_RAYS\ns.counting = g->counting;\n#endif\n%s"
        "s.budget = K_SHADE_BUDGET;\ns.failed = 0u;\n"
        "#define A_WORD(i) s.p##i = k_global_word(g, i);\n"
        "A_POINT_USED%s(A_WORD)\n#undef A_WORD\na_shade%s(&s, 1);\n"
        "if (s.failed) return s.failed == A_TOO_MANY_CLOSURES ? s.failed : s.failed + %uu;\n",
        suffix, suffix, suffix, table, traces ? "s.g = g;\n" : "", suffix, suffix, first_loop);
    if (!shading->has_base) {
        text_printf(
            t,
            "struct k_closures c;\nc.l = l;\nc.backfacing = g->backfacing;\nc.along = g->along;\n"
            "(void)base;\n#if A_HAS_CLOSURES%s\na_lobes%s(&s, &c);\n"
            "if (c.failed) return A_TOO_MANY_CLOSURES;\n#endif\nreturn 0u;\n}\n",
            suffix, suffix);
        return;
    }
    text_printf(t,
                "uint o[A_OUT_WORDS%s];\nstruct k_drives d = k_drives_start(base, g);\n"
                "a_outputs%s(&s, 1u, o);\n",
                suffix, suffix);
    for (unsigned i = 0, at = 0; i < DRIVE_COUNT; i++) {
        if (!shading->drive[i])
            continue;
        unsigned n = (unsigned)asl_type_slots(types[i]), y = n == 3 ? 1 : 0, z = n == 3 ? 2 : 0;
        text_printf(t, "k_drive_%s(&d, k_driven(o[%u], o[%u], o[%u]));\n", drive_infos[i].name, at,
                    at + y, at + z);
        at += n;
    }
    text_puts(t, "k_drives_finish(&d, l);\nreturn 0u;\n}\n");
}

/* The same for LLVM IR: runs the group, then hands what it drives to the base. */
static void put_entry_llvm(struct text *t, const struct shading *shading, const char *suffix,
                           const struct asl_type *types, size_t words)
{
    text_printf(t,
                "define internal void @group%s(ptr %%run) {\n%%out = alloca [%zu x i32], align 4\n"
                "call void @surface%s(ptr %%run, ptr %%out)\n",
                suffix, words + 1, suffix);
    if (!shading->has_base) {
        text_puts(t, "ret void\n}\n");
        return;
    }
    text_puts(t, "%f = call i32 @al_failed(ptr %run)\n%c = icmp eq i32 %f, 0\n"
                 "br i1 %c, label %well, label %ill\nill:\nret void\nwell:\n");
    for (size_t k = 0; k < words; k++)
        text_printf(t,
                    "%%p%zu = getelementptr i32, ptr %%out, i64 %zu\n"
                    "%%o%zu = load i32, ptr %%p%zu, align 4\n",
                    k, k, k, k);
    for (unsigned i = 0, at = 0; i < DRIVE_COUNT; i++) {
        if (!shading->drive[i])
            continue;
        unsigned n = (unsigned)asl_type_slots(types[i]), y = n == 3 ? 1 : 0, z = n == 3 ? 2 : 0;
        text_printf(t, "call void @al_drive_%s(ptr %%run, i32 %%o%u, i32 %%o%u, i32 %%o%u)\n",
                    drive_infos[i].name, at, at + y, at + z);
        at += n;
    }
    text_puts(t, "call void @al_drives_finish(ptr %run)\nret void\n}\n");
}

bool shade_drive_find(const struct asl_group *g, const char *name, size_t *layer, size_t *param)
{
    const char *dot = strchr(name, '.');
    for (size_t l = 0; dot && l < asl_group_layers(g); l++) {
        const char *is = asl_group_layer_name(g, l);
        if (strlen(is) != (size_t)(dot - name) || strncmp(is, name, strlen(is)) != 0)
            continue;
        const struct asl_shader_info *s = asl_group_layer_shader(g, l);
        for (size_t k = 0; k < s->param_count; k++)
            if (strcmp(s->params[k].name, dot + 1) == 0) {
                *layer = l;
                *param = k;
                return true;
            }
    }
    return false;
}

static struct asl_type output_type(const struct asl_group *g, const char *name)
{
    size_t layer, param;
    return shade_drive_find(g, name, &layer, &param)
               ? asl_group_layer_shader(g, layer)->params[param].type
               : (struct asl_type){ASL_FLOAT, 0, NULL};
}

/* Emits the group with that suffix, and its entry. */
static enum status emit_group(struct maker *m, const struct shading *shading,
                              const struct asl_code *code, const char *const *outputs,
                              const char *suffix, uint32_t first_loop, size_t table, struct text *t,
                              struct asl_emitted *emitted)
{
    struct asl_type types[DRIVE_COUNT];
    const struct asl_emit_options o = {.surface = true, .suffix = suffix, .outputs = outputs};
    enum status st = asl_emit_c(&m->arena, code, &o, t, emitted, m->err);
    for (int i = 0; i < DRIVE_COUNT; i++)
        if (shading->drive[i])
            types[i] = output_type(shading->group, shading->drive[i]);
    if (st == STATUS_OK)
        put_entry(t, shading, suffix, types, first_loop, table, emitted->traces);
    return st;
}

/* Appends the group to out->llvm. What the emitter cannot say as the text in C does, whose tables
 * take so many words, leaves the scene to source. */
static enum status emit_group_llvm(struct maker *m, const struct shading *shading,
                                   const struct asl_code *code, const char *const *outputs,
                                   const char *suffix, size_t message_words)
{
    struct asl_type types[DRIVE_COUNT];
    struct asl_emitted emitted;
    const struct asl_emit_options o = {.surface = true,
                                       .suffix = suffix,
                                       .outputs = outputs,
                                       .float_flags = SHADE_FLAGS_MARK,
                                       .declared = &m->declared,
                                       .first_loop = (uint32_t)m->out->loop_count,
                                       .first_message = m->out->message_words};
    if (m->no_llvm)
        return STATUS_OK;
    enum status st = asl_emit_llvm(&m->arena, code, &o, &m->out->llvm, &emitted, m->err);
    if (st == STATUS_UNSUPPORTED || (st == STATUS_OK && emitted.message_words != message_words)) {
        m->no_llvm = true;
        return STATUS_OK;
    }
    for (int i = 0; i < DRIVE_COUNT; i++)
        if (shading->drive[i])
            types[i] = output_type(shading->group, shading->drive[i]);
    if (st == STATUS_OK)
        put_entry_llvm(&m->out->llvm, shading, suffix, types, emitted.out_words);
    return st;
}

enum status shade_keep_loops(struct shade_scene *x, const struct asl_emitted *emitted,
                             struct error *err)
{
    void *more = realloc(x->loops, (x->loop_count + emitted->loop_count + 1) * sizeof *x->loops);
    if (!more)
        return no_memory(err);
    x->loops = more;
    for (size_t i = 0; i < emitted->loop_count; i++) {
        const struct asl_emitted_loop *l = &emitted->loops[i];
        snprintf(x->loops[x->loop_count++].place, sizeof x->loops->place,
                 "%.100s:%u:%u (layer '%.30s')", l->at.file ? l->at.file : "", l->at.line,
                 l->at.col, l->layer);
    }
    return STATUS_OK;
}

/* An image without its texels: which subimages there are. What is looked up is known. False: no
 * memory. */
static bool strip_image(struct arena *a, const struct asl_image *from, struct asl_image *out)
{
    static const float texel;
    static const struct asl_image_level level = {1, 1, &texel};
    const char *name = from->subimage_name ? from->subimage_name : "";
    const uint32_t count = from->more ? from->subimage_count - 1 : 0;
    struct asl_image *more = ARENA_ARRAY(a, struct asl_image, count + 1);
    *out = (struct asl_image){.channels = 1,
                              .level_count = from->level_count ? 1 : 0,
                              .given_count = 1,
                              .levels = &level,
                              .subimage_count = from->subimage_count,
                              .more = from->more ? more : NULL,
                              .subimage_name = arena_strdup(a, name)};
    for (uint32_t i = 0; more && i < count; i++)
        if (!strip_image(a, &from->more[i], &more[i]))
            return false;
    return more && out->subimage_name;
}

static bool keep_image(struct arena *a, const struct shader_images *images, const char *name,
                       struct shade_scene_image *out)
{
    const struct asl_image *from = shader_images_find(images, name), *first = NULL;
    out->name = arena_strdup(a, name);
    if (!from)
        return out->name && (out->why = arena_strdup(a, shader_images_fault(images, name)));
    if (!out->name || !strip_image(a, from, &out->image))
        return false;
    for (uint32_t i = 0; from->tiles && i < ASL_TILES && !first; i++)
        first = from->tiles[i];
    if (!first)
        return true;
    const struct asl_image **tiles = ARENA_ARRAY(a, const struct asl_image *, ASL_TILES);
    struct asl_image *one = ARENA_NEW(a, struct asl_image);
    if (!tiles || !one || !strip_image(a, first, one))
        return false;
    tiles[0] = one; /* the first is the one that gives subimages their numbers */
    out->image.tiles = tiles;
    return true;
}

/* The material's code as something that stands alone, for when its scene is gone: what the device
 * says is put into words by it. */
static enum status voice_make(const struct asl_code *code, const char *const *outputs,
                              const struct shader_images *images, struct shade_scene_voice *v,
                              struct error *err)
{
    struct text text = {0}, emitted = {0};
    const struct asl_emit_options o = {.surface = true, .outputs = outputs};
    asl_code_print(code, &text);
    enum status st = text.failed ? no_memory(err)
                                 : asl_code_read(&v->arena, "a scene's shader", text.data, text.len,
                                                 &v->code, err);
    if (st == STATUS_OK)
        st = asl_emit_c(&v->arena, v->code, &o, &emitted, &v->emitted, err);
    text_free(&text);
    text_free(&emitted);
    if (st)
        return st;
    v->images = ARENA_ARRAY(&v->arena, struct shade_scene_image, v->emitted.image_count + 1);
    for (size_t i = 0; v->images && i < v->emitted.image_count; i++)
        if (!keep_image(&v->arena, images, v->emitted.images[i].name, &v->images[i]))
            return no_memory(err);
    return v->images ? STATUS_OK : no_memory(err);
}

enum status shade_keep_voice(struct shade_scene *x, const struct scene *s,
                             const struct asl_code *code, const char *const *outputs,
                             const struct shade_voice_place *at, struct error *err)
{
    struct shade_scene_voice v = {.material = at->material, .args = at->args, .table = at->table};
    struct shade_scene_voice *more = realloc(x->voices, (x->voice_count + 1) * sizeof *more);
    if (!more)
        return no_memory(err);
    x->voices = more;
    enum status st = voice_make(code, outputs, &s->shader_images, &v, err);
    x->voices[x->voice_count++] = v;
    for (size_t i = 0; i < v.emitted.host_count; i++)
        x->asks = x->asks || v.emitted.hosts[i].reply;
    return st;
}

/* The number of the group whose text without a suffix is `plain`; a new one is added to the
 * source. */
static enum status group_number(struct maker *m, const struct shading *shading,
                                const struct asl_code *code, const char *const *outputs,
                                struct text *plain, uint32_t *number)
{
    for (size_t i = 0; i < m->group_count; i++)
        if (m->groups[i].text.len == plain->len &&
            memcmp(m->groups[i].text.data, plain->data, plain->len) == 0) {
            *number = (uint32_t)i;
            return STATUS_OK;
        }
    void *more = realloc(m->groups, (m->group_count + 1) * sizeof *m->groups);
    if (!more)
        return no_memory(m->err);
    m->groups = more;
    char suffix[16];
    struct asl_emitted emitted;
    snprintf(suffix, sizeof suffix, "_%zu", m->group_count);
    enum status st = emit_group(m, shading, code, outputs, suffix, (uint32_t)m->out->loop_count,
                                m->out->message_words, &m->out->source, &emitted);
    if (st == STATUS_OK)
        st = emit_group_llvm(m, shading, code, outputs, suffix, emitted.message_words);
    if (st == STATUS_OK)
        st = shade_keep_loops(m->out, &emitted, m->err);
    if (st)
        return st;
    *number = (uint32_t)m->group_count;
    m->groups[m->group_count++] = (struct group){*plain, m->out->message_words};
    m->out->message_words += emitted.message_words;
    *plain = (struct text){0};
    return STATUS_OK;
}

void shading_stats_write(struct json_writer *w, const struct shading_stats *s,
                         const struct shading_counts *counts)
{
    json_key_integer(w, "masters", (int64_t)s->masters);
    json_key_integer(w, "groups", (int64_t)s->groups);
    json_key_integer(w, "programs", (int64_t)s->programs);
    json_key_integer(w, "instances", (int64_t)s->instances);
    json_key_integer(w, "instances_run", (int64_t)s->instances_run);
    json_key_integer(w, "instances_skipped", (int64_t)(s->instances - s->instances_run));
    json_key_integer(w, "operations_before", (int64_t)s->ops_before);
    json_key_integer(w, "operations_after", (int64_t)s->ops_after);
    json_key_integer(w, "symbols_before", (int64_t)s->symbols_before);
    json_key_integer(w, "symbols_after", (int64_t)s->symbols_after);
    json_key_integer(w, "derivatives_before", (int64_t)s->derivs_before);
    json_key_integer(w, "derivatives_after", (int64_t)s->derivs_after);
    json_key_integer(w, "images", (int64_t)s->images);
    json_key_integer(w, "image_levels", (int64_t)s->image_levels);
    json_key_integer(w, "image_levels_given", (int64_t)s->image_levels_given);
    json_key_integer(w, "image_bytes", (int64_t)s->image_bytes);
    if (counts) {
        json_key_integer(w, "texture_queries", (int64_t)counts->texture_queries);
    } else {
        json_key(w, "texture_queries");
        json_null(w);
        json_key_string(w, "texture_queries_why", "--statistics counts them");
    }
    json_key_number(w, "optimise_s", s->optimise_s);
    json_key_number(w, "emit_s", s->emit_s);
}

void shade_stats_add(struct shading_stats *s, const struct asl_code *code)
{
    const struct asl_code_stats c = asl_code_stats(code, SIZE_MAX);
    s->instances_run += c.layers_after;
    s->ops_before += c.ops_before;
    s->ops_after += c.ops_after;
    s->derivs_before += c.derivs_before;
    s->derivs_after += c.derivs_after;
    s->symbols_before += c.symbols_before;
    s->symbols_after += c.symbols_after;
}

static int pointer_order(const void *a, const void *b)
{
    const uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;
    return (x > y) - (x < y);
}

/* How many shaders the layers are instances of. */
static enum status masters_count(const struct scene *s, struct shading_stats *stats,
                                 struct error *err)
{
    uintptr_t *all = malloc((stats->instances + 1) * sizeof *all);
    size_t n = 0;
    if (!all)
        return no_memory(err);
    for (size_t i = 0; i < s->material_count; i++) {
        const struct asl_group *g = s->materials[i].shading ? s->materials[i].shading->group : NULL;
        for (size_t l = 0; g && l < asl_group_layers(g); l++)
            all[n++] = (uintptr_t)asl_group_layer_shader(g, l);
    }
    qsort(all, n, sizeof *all, pointer_order);
    for (size_t i = 0; i < n; i++)
        stats->masters += i == 0 || all[i] != all[i - 1];
    free(all);
    return STATUS_OK;
}

static enum status material_make(struct maker *m, uint32_t material)
{
    const struct shading *shading = m->scene->materials[material].shading;
    struct shade_scene_material *to = &m->out->materials[material];
    const char *outputs[DRIVE_COUNT + 1] = {"Ci"};
    struct asl_code *code;
    struct asl_emitted emitted;
    struct text plain = {0};
    uint32_t number = 0;
    size_t n = 0;
    for (int i = 0; i < DRIVE_COUNT; i++)
        if (shading->drive[i])
            outputs[n++] = shading->drive[i];
    const struct asl_lower_options o = {.level = 2,
                                        .bake = m->form == SHADE_BAKED,
                                        .bake_keeps_bits = true,
                                        .bake_strings = true,
                                        .outputs = outputs,
                                        .entry_layers = shading->entry_layers};
    const double start = clock_s();
    enum status st = asl_lower(&m->arena, shading->group, &o, &code, m->err);
    const double lowered = clock_s();
    m->out->stats.groups++;
    m->out->stats.instances += asl_group_layers(shading->group);
    if (st == STATUS_OK)
        shade_stats_add(&m->out->stats, code);
    if (st == STATUS_OK)
        st = emit_group(m, shading, code, shading->has_base ? outputs : NULL, "", 0, 0, &plain,
                        &emitted);
    if (st == STATUS_OK)
        st = area_place(m, shading, code, &emitted, &to->args);
    if (st == STATUS_OK)
        occlusion_find(m, &emitted.occlusion, to);
    for (size_t i = 0; st == STATUS_OK && i < emitted.component_count; i++)
        m->out->features |= closure_features(emitted.components[i]);
    if (st == STATUS_OK && plain.failed)
        st = no_memory(m->err);
    if (st == STATUS_OK)
        st = group_number(m, shading, code, shading->has_base ? outputs : NULL, &plain, &number);
    if (st == STATUS_OK && emitted.message_words) {
        const struct shade_voice_place at = {material, to->args, m->groups[number].table};
        st = shade_keep_voice(m->out, m->scene, code, shading->has_base ? outputs : NULL, &at,
                              m->err);
    }
    to->group = number + 1;
    to->name = strdup(m->scene->materials[material].name);
    if (st == STATUS_OK && !to->name)
        st = no_memory(m->err);
    text_free(&plain);
    arena_free(&m->arena);
    m->arena = (struct arena){0};
    m->out->stats.optimise_s += lowered - start;
    m->out->stats.emit_s += clock_s() - lowered;
    return st;
}

/* k_shade, which chooses among the groups. */
static void put_dispatch(struct maker *m)
{
    struct text *t = &m->out->source;
    text_puts(t, "#line 1 \"shading\"\n"
                 "A_CALL uint k_shade(K_GLOBAL const uint *words, uint group, uint args, const "
                 "struct k_globals *g, const struct k_inputs *base, struct k_lobes *l)\n{\nswitch "
                 "(group) {\n");
    for (size_t i = 0; i < m->group_count; i++)
        text_printf(t, "case %zuu: return k_shade_%zu(words, args, g, base, l);\n", i, i);
    text_puts(t, "default: return 0u;\n}\n}\n");
}

/* al_shade: the same in LLVM IR, and what all of it calls. */
static void put_dispatch_llvm(struct maker *m)
{
    struct text *t = &m->out->llvm;
    text_puts(t, "define void @al_shade(ptr %run, i32 %group) alwaysinline {\nswitch i32 %group, "
                 "label %none [\n");
    for (size_t i = 0; i < m->group_count; i++)
        text_printf(t, "i32 %zu, label %%g%zu\n", i, i);
    text_puts(t, "]\nnone:\nret void\n");
    for (size_t i = 0; i < m->group_count; i++)
        text_printf(t, "g%zu:\ncall void @group_%zu(ptr %%run)\nret void\n", i, i);
    text_puts(t, "}\ndeclare i32 @al_failed(ptr)\ndeclare void @al_drives_finish(ptr)\n");
    for (size_t i = 0; i < DRIVE_COUNT; i++)
        text_printf(t, "declare void @al_drive_%s(ptr, i32, i32, i32)\n", drive_infos[i].name);
    if (m->declared.data)
        text_append(t, m->declared.data, m->declared.len);
}

/* ---- a scene -------------------------------------------------------------------------------- */

enum { FOV_WORD = 3 }; /* k_attribute of device/surface/shade.h */

/* In degrees, as the scene's file has it; 0 where a camera has none. */
static uint32_t fov_word(const struct camera *c)
{
    const double half = c->type == CAMERA_PERSPECTIVE ? atan(c->tan_half_fov) : 0;
    const float fov = (float)(2 * half * 180 / 3.14159265358979323846);
    uint32_t word;
    memcpy(&word, &fov, sizeof word);
    return word;
}

/* Where the levels of all images lie. */
static enum status levels_list(struct maker *m)
{
    struct tiled_level *list = calloc(m->out->stats.image_levels + 1, sizeof *list);
    if (!list)
        return no_memory(m->err);
    m->out->levels = list;
    for (size_t i = 0; i < m->words.image_count; i++) {
        const uint32_t *head = m->words.words + m->words.images[i].at, *level = head + 2;
        for (uint32_t l = 0; l < head[1]; l++, level += 3)
            list[m->out->level_count++] =
                (struct tiled_level){level[2], level[0], level[1], head[0] * 4};
    }
    return STATUS_OK;
}

static enum status make(struct maker *m)
{
    const struct scene *s = m->scene;
    struct text *t = &m->out->source;
    enum status st = STATUS_OK;
    uint32_t unused;
    m->out->materials = calloc(s->material_count + 1, sizeof *m->out->materials);
    m->out->material_count = m->out->materials ? s->material_count : 0;
    if (!m->out->materials)
        return no_memory(m->err);
    text_puts(t, kernel_source);
    text_puts(t, asl_device_source);
    /* word 0: no image begins there; the next two: where the host's replies do; camera:fov */
    st = shade_words_take(&m->words, 4, &unused, m->err);
    if (st == STATUS_OK)
        m->words.words[FOV_WORD] = fov_word(&s->camera);
    for (size_t i = 0; i < s->material_count && st == STATUS_OK && m->form != SHADE_MASTERS; i++)
        if (s->materials[i].shading)
            st = material_make(m, (uint32_t)i);
    if (st == STATUS_OK && m->form == SHADE_MASTERS)
        st = shade_masters_make(s, &m->words, m->out, m->err);
    if (st == STATUS_OK)
        st = masters_count(s, &m->out->stats, m->err);
    if (st)
        return st;
    if (m->form != SHADE_MASTERS)
        m->out->stats.programs = m->group_count;
    m->out->stats.images = m->words.image_count;
    for (size_t i = 0; i < m->words.image_count; i++) {
        m->out->stats.image_levels += m->words.images[i].image->level_count;
        m->out->stats.image_levels_given += m->words.images[i].image->given_count;
    }
    m->out->stats.image_bytes = sizeof(uint32_t) * m->words.texel_words;
    if ((st = levels_list(m)) != STATUS_OK)
        return st;
    if (m->form != SHADE_MASTERS)
        put_dispatch(m);
    if (m->no_llvm)
        text_free(&m->out->llvm);
    else if (m->form != SHADE_MASTERS)
        put_dispatch_llvm(m);
    if (t->failed || m->out->llvm.failed || m->declared.failed)
        return no_memory(m->err);
    hash_bytes(t->data, t->len, m->out->hash);
    return STATUS_OK;
}

enum status shade_scene_make(const struct scene *s, enum shade_way form,
                             const struct texture_cache *cache, struct shade_scene *out,
                             struct error *err)
{
    struct shade_scene x = {.form = form};
    struct maker m = {.scene = s, .out = &x, .err = err, .form = form, .words.cache = cache};
    bool any = false;
    for (size_t i = 0; i < s->material_count; i++)
        any = any || s->materials[i].shading;
    enum status st = any ? make(&m) : STATUS_OK;
    for (size_t i = 0; i < m.group_count; i++)
        text_free(&m.groups[i].text);
    free(m.groups);
    if (!st) {
        x.words = m.words.words;
        x.word_count = x.own_words = m.words.count;
        m.words.words = NULL;
    }
    shade_words_free(&m.words);
    text_free(&m.declared);
    arena_free(&m.arena);
    if (st)
        shade_scene_free(&x);
    else
        *out = x;
    return st;
}

void shade_scene_free(struct shade_scene *x)
{
    text_free(&x->source);
    text_free(&x->llvm);
    free(x->words);
    for (size_t i = 0; i < x->material_count; i++)
        free(x->materials[i].name);
    for (size_t i = 0; i < x->voice_count; i++) {
        asl_host_free(x->voices[i].host);
        free(x->voices[i].hears);
        arena_free(&x->voices[i].arena);
    }
    free(x->voices);
    shade_scene_replies_free(&x->replies);
    free(x->materials);
    free(x->loops);
    free(x->levels);
    *x = (struct shade_scene){0};
}

enum status shade_scene_failed(const struct shade_scene *x, int64_t sum, struct error *err)
{
    uint64_t loop = (uint64_t)(-1 - sum) - 1;
    if (loop >= x->loop_count)
        return error_msg(err, STATUS_LIMIT,
                         "a shader makes more than 16 closures of one kind in a loop");
    return error_msg(err, STATUS_TIMEOUT,
                     "%s: a shader ran 2^24 turns of loops at one point and was stopped: does this "
                     "loop not end?",
                     x->loops[loop].place);
}

/* ---- what shaders said ----------------------------------------------------------------------- */

struct shade_hearing {
    const char *material;
    const struct shade_scene_voice *voice;
    struct asl_sayings *said;
};

static void on_message(void *ctx, enum asl_message kind, const char *to, const char *text)
{
    const struct shade_hearing *h = ctx;
    const struct asl_host *host = h->voice->host;
    asl_sayings_add(h->said, h->material, asl_host_layer(host), asl_host_place(host), kind, to,
                    text);
}

static const struct shade_scene_image *image_kept(const void *hearing, const char *name)
{
    const struct shade_scene_voice *v = ((const struct shade_hearing *)hearing)->voice;
    for (size_t i = 0; i < v->emitted.image_count; i++)
        if (strcmp(v->images[i].name, name) == 0)
            return &v->images[i];
    return NULL;
}

static const char *on_fault(void *ctx, const char *name)
{
    const struct shade_scene_image *i = image_kept(ctx, name);
    return i ? i->why : NULL;
}

static const struct asl_image *on_image(void *ctx, const char *name)
{
    const struct shade_scene_image *i = image_kept(ctx, name);
    return i && !i->why ? &i->image : NULL;
}

enum status shade_scene_host(const struct shade_scene *x, struct shade_scene_voice *v,
                             struct error *err)
{
    if (!v->hears && !(v->hears = calloc(1, sizeof *v->hears)))
        return no_memory(err);
    *v->hears = (struct shade_hearing){.material = x->materials[v->material].name, .voice = v};
    const struct asl_context_options o = {.services = {.ctx = v->hears,
                                                       .message = on_message,
                                                       .image = on_image,
                                                       .image_fault = on_fault},
                                          .error_repeats = true};
    return v->host ? STATUS_OK : asl_host_new(v->code, &v->emitted, &o, &v->host, err);
}

/* One statement's table. io: room for the words of any call, `most`, and for results, which nobody
 * reads. */
static void table_read(const struct shade_scene_voice *v, size_t number, const uint32_t *table,
                       uint32_t *io, size_t most)
{
    static const struct asl_globals none;
    const struct asl_emitted_host *h = &v->emitted.hosts[number];
    for (uint32_t k = 0; k < h->copies; k++) {
        const uint32_t *entry = table + 1 + k * (1 + (size_t)h->words);
        if (entry[0] == 0 || entry[0] == UINT32_MAX || entry[1] != v->args)
            continue;
        asl_host_begin(v->host);
        if (h->follows && entry[h->words]) {
            const uint32_t first = entry[h->words] - 1;
            memset(io, 0, most * sizeof *io);
            io[v->emitted.hosts[first].name] = entry[2 + h->name];
            asl_host_call(v->host, 0, &none, first, io, io + v->emitted.hosts[first].operands);
        }
        memcpy(io, entry + 2, (h->words - 1) * sizeof *io);
        asl_host_call(v->host, 0, &none, (uint32_t)number, io, io + h->operands);
    }
    v->hears->said->more = v->hears->said->more || table[0] == 1;
}

static enum status voice_hear(const struct shade_scene *x, struct shade_scene_voice *v,
                              const uint32_t *tables, struct asl_sayings *out, struct error *err)
{
    enum { RESULTS = 64 };
    uint32_t most = 0;
    for (size_t i = 0; i < v->emitted.host_count; i++)
        most = v->emitted.hosts[i].words > most ? v->emitted.hosts[i].words : most;
    uint32_t *io = malloc((most + RESULTS) * sizeof *io);
    if (!io)
        return no_memory(err);
    enum status st = shade_scene_host(x, v, err);
    if (st == STATUS_OK)
        v->hears->said = out;
    for (size_t i = 0; i < v->emitted.host_count && st == STATUS_OK; i++)
        if (v->emitted.hosts[i].copies)
            table_read(v, i, tables + v->emitted.hosts[i].table, io, most);
    free(io);
    return st;
}

enum status shade_scene_said(struct shade_scene *x, const uint32_t *tables, struct asl_sayings *out,
                             struct error *err)
{
    enum status st = STATUS_OK;
    for (size_t i = 0; i < x->voice_count && st == STATUS_OK; i++)
        st = voice_hear(x, &x->voices[i], tables + x->voices[i].table, out, err);
    return st;
}
