/* SPDX-License-Identifier: Apache-2.0 */
/* shade_masters.c: a scene's shaders as masters and programs of their calls. */
#include "shade_masters.h"

#include <stdlib.h>
#include <string.h>

/* A layer of a material's group. */
struct shader_layer {
    const struct asl_code *code; /* NULL: it cannot be, for the reason of `why` */
    struct error why;
    struct asl_emitted emitted;
    struct text text;     /* as emitted without a suffix: equal texts are one master */
    const char **outputs; /* names; ends with NULL */
    int *output_of;       /* by parameter: which of them, or -1 */
    uint32_t output_words, args;
    bool needed;
    size_t last_use;
    uint32_t stack; /* where its outputs stand */
    uint32_t master;
};
struct layer_program {
    const struct shading *shading; /* NULL: none */
    struct shader_layer *layers;
    size_t count;
};
struct master {
    struct shader_layer *first;
    size_t table; /* where its tables of messages begin */
};
struct maker {
    const struct scene *scene;
    struct shade_words *words;
    struct shade_scene *out;
    struct error *err;
    struct arena arena;
    struct layer_program *programs; /* by material */
    struct master *masters;
    size_t master_count;
    uint32_t depth; /* of the stack */
};

static enum status no_memory(struct error *err)
{
    return error_msg(err, STATUS_MEMORY, "out of memory for a scene's shaders");
}

/* The reason of `why` with who it is about. */
static enum status refuse(struct maker *m, uint32_t material, size_t layer, const char *why)
{
    const struct shading *shading = m->scene->materials[material].shading;
    return error_msg(m->err, STATUS_UNSUPPORTED,
                     "the model restricted does not take layer '%s' of material '%s': %s",
                     asl_group_layer_name(shading->group, layer),
                     m->scene->materials[material].name, why);
}

/* ---- layers --------------------------------------------------------------------------------- */

/* Can words of the stack hold such a value? */
static bool type_stands(struct asl_type t)
{
    return t.array >= 0 && (t.base == ASL_INT || t.base == ASL_FLOAT || t.base == ASL_COLOR ||
                            t.base == ASL_POINT || t.base == ASL_VECTOR || t.base == ASL_NORMAL ||
                            t.base == ASL_MATRIX);
}

static enum status outputs_list(struct maker *m, const struct asl_shader_info *info,
                                struct shader_layer *x)
{
    size_t n = 0;
    x->outputs = ARENA_ARRAY(&m->arena, const char *, info->param_count + 1);
    x->output_of = ARENA_ARRAY(&m->arena, int, info->param_count + 1);
    if (!x->outputs || !x->output_of)
        return no_memory(m->err);
    for (size_t i = 0; i < info->param_count; i++) {
        const struct asl_param *p = &info->params[i];
        x->output_of[i] = -1;
        if (!p->output || p->any_length || !type_stands(p->type))
            continue;
        x->output_of[i] = (int)n;
        x->outputs[n++] = p->name;
    }
    x->outputs[n] = NULL;
    return STATUS_OK;
}

/* Lowers the layer alone and emits it. What stops that waits in x->why until the layer is needed;
 * MEMORY fails at once. */
static enum status instance_make(struct maker *m, const struct asl_group *group, size_t layer,
                                 struct shader_layer *x)
{
    const struct asl_shader_info *info = asl_group_layer_shader(group, layer);
    struct asl_group *own;
    struct asl_code *code = NULL;
    enum status st = outputs_list(m, info, x);
    size_t n = 0;
    if (st)
        return st;
    while (x->outputs[n])
        n++;
    const char **observed = ARENA_ARRAY(&m->arena, const char *, n + 2);
    if (!observed)
        return no_memory(m->err);
    memcpy(observed, x->outputs, n * sizeof *observed);
    observed[n] = "Ci";
    observed[n + 1] = NULL;
    const struct asl_lower_options lower = {
        .level = 2, .bake_strings = true, .alone = true, .outputs = observed};
    const struct asl_emit_options emit = {.surface = true, .called = true, .outputs = x->outputs};
    const double start = clock_s();
    st = asl_group_alone(&m->arena, group, layer, &own, &x->why);
    if (st == STATUS_OK)
        st = asl_lower(&m->arena, own, &lower, &code, &x->why);
    const double lowered = clock_s();
    if (st == STATUS_OK)
        st = asl_emit_c(&m->arena, code, &emit, &x->text, &x->emitted, &x->why);
    m->out->stats.optimise_s += lowered - start;
    m->out->stats.emit_s += clock_s() - lowered;
    if (st == STATUS_MEMORY || x->text.failed)
        return no_memory(m->err);
    if (st)
        return STATUS_OK;
    x->code = code;
    x->output_words = (uint32_t)x->emitted.out_words;
    return STATUS_OK;
}

/* ---- masters -------------------------------------------------------------------------------- */

static int master_order(const void *a, const void *b)
{
    const struct text *x = &((const struct master *)a)->first->text,
                      *y = &((const struct master *)b)->first->text;
    const int order = memcmp(x->data, y->data, x->len < y->len ? x->len : y->len);
    return order ? order : (x->len > y->len) - (x->len < y->len);
}

/* Every text once, in an order that no network changes. */
static enum status masters_list(struct maker *m)
{
    size_t most = 0, n = 0;
    for (size_t i = 0; i < m->scene->material_count; i++)
        most += m->programs[i].count;
    struct master *all = ARENA_ARRAY(&m->arena, struct master, most + 1);
    if (!all)
        return no_memory(m->err);
    for (size_t i = 0; i < m->scene->material_count; i++)
        for (size_t l = 0; l < m->programs[i].count; l++)
            if (m->programs[i].layers[l].code)
                all[n++].first = &m->programs[i].layers[l];
    qsort(all, n, sizeof *all, master_order);
    for (size_t i = 0; i < n; i++) {
        struct shader_layer *x = all[i].first;
        if (m->master_count == 0 || master_order(&all[i], &all[m->master_count - 1]) != 0)
            all[m->master_count++] = all[i];
        x->master = (uint32_t)m->master_count - 1;
    }
    m->masters = all;
    return STATUS_OK;
}

static void put_master(struct text *t, size_t number, uint32_t first_loop, size_t table,
                       bool traces)
{
    text_printf(
        t,
        "#line 1 \"master_%zu\"\n"
        "A_CALL uint k_master_%zu(K_GLOBAL const uint *words, uint args, const uint *stack, "
        "uint *out, uint lobes, uint *budget, const struct k_globals *g, struct k_lobes *l)\n{\n"
        "struct a_state_%zu s;\ns.words = words;\ns.args = words + args;\ns.stack = stack;\n"
        "s.messages = g->messages ? g->messages + %zuu : (K_GLOBAL uint *)0;\n"
        "#ifdef K_COUNT_RAYS\ns.counting = g->counting;\n#endif\n%s"
        "s.budget = *budget;\ns.failed = 0u;\n"
        "#define A_WORD(i) s.p##i = k_global_word(g, i);\n"
        "A_POINT_USED_%zu(A_WORD)\n#undef A_WORD\na_shade_%zu(&s, 1);\n"
        "if (s.failed) return s.failed == A_TOO_MANY_CLOSURES ? s.failed : s.failed + %uu;\n"
        "*budget -= s.turns;\na_outputs_%zu(&s, 1u, out);\n"
        "#if A_HAS_CLOSURES_%zu\nif (lobes) {\nstruct k_closures c;\nc.l = l;\n"
        "c.backfacing = g->backfacing;\nc.along = g->along;\na_lobes_%zu(&s, &c);\n"
        "if (c.failed) return A_TOO_MANY_CLOSURES;\n}\n#endif\n"
        "(void)lobes;\n(void)l;\nreturn 0u;\n}\n",
        number, number, number, table, traces ? "s.g = g;\n" : "", number, number, first_loop,
        number, number, number);
}

static enum status masters_emit(struct maker *m)
{
    struct text *t = &m->out->source;
    text_puts(t, "#line 1 \"masters\"\n"
                 "/* Argument i: a word of the scene, or of the stack. */\n"
                 "K_FN uint k_argument(K_GLOBAL const uint *words, K_GLOBAL const uint *args, "
                 "const uint *stack, uint i)\n{\nconst uint at = args[i];\n"
                 "if ((at & 0x80000000u) == 0u) return words[at];\n"
                 "const uint x = stack[at & 0x3FFFFFFFu];\n"
                 "return at & 0x40000000u ? K_AS_UINT((float)(int)x) : x;\n}\n"
                 "#define A_ARGUMENT(s, i) k_argument((s)->words, (s)->args, (s)->stack, i##u)\n");
    for (size_t i = 0; i < m->master_count; i++) {
        const struct shader_layer *x = m->masters[i].first;
        char suffix[24];
        struct asl_emitted emitted;
        snprintf(suffix, sizeof suffix, "_%zu", i);
        const struct asl_emit_options o = {
            .surface = true, .called = true, .suffix = suffix, .outputs = x->outputs};
        m->masters[i].table = m->out->message_words;
        enum status st = asl_emit_c(&m->arena, x->code, &o, t, &emitted, m->err);
        if (st == STATUS_OK) {
            put_master(t, i, (uint32_t)m->out->loop_count, m->out->message_words, emitted.traces);
            m->out->message_words += emitted.message_words;
            st = shade_keep_loops(m->out, &emitted, m->err);
        }
        if (st)
            return st;
        for (size_t k = 0; k < emitted.component_count; k++)
            m->out->features |= closure_features(emitted.components[k]);
        shade_stats_add(&m->out->stats, x->code);
    }
    m->out->stats.programs = m->master_count;
    return STATUS_OK;
}

/* k_shade: the walk over a program. */
static void put_walk(struct maker *m)
{
    struct text *t = &m->out->source;
    uint32_t depth = 64;
    while (depth < m->depth)
        depth *= 2;
    text_printf(t,
                "#line 1 \"shading\"\n"
                "A_CALL uint k_shade(K_GLOBAL const uint *words, uint group, uint args, const "
                "struct k_globals *g, const struct k_inputs *base, struct k_lobes *l)\n{\n"
                "uint stack[%u];\nuint budget = K_SHADE_BUDGET;\n"
                "K_GLOBAL const uint *row = words + args + 1u;\n(void)group;\n"
                "for (uint i = words[args]; i != 0u; i--, row += 4) {\nuint failed = 0u;\n"
                "switch (row[0]) {\n",
                depth);
    for (size_t i = 0; i < m->master_count; i++)
        text_printf(t,
                    "case %zuu: failed = k_master_%zu(words, row[1], stack, stack + row[2], "
                    "row[3], &budget, g, l); break;\n",
                    i, i);
    text_printf(t,
                "default: break;\n}\nif (failed) return failed;\n}\n"
                "uint drives = *row++;\nif (drives == 0x%Xu) return 0u;\n"
                "struct k_drives d = k_drives_start(base, g);\n"
                "for (; drives != 0u; drives--, row += 4) {\n"
                "struct k_vec3 v = k_driven(stack[row[1]], stack[row[2]], stack[row[3]]);\n"
                "switch (row[0]) {\n",
                SHADE_NO_BASE);
    for (size_t i = 0; i < DRIVE_COUNT; i++)
        text_printf(t, "case %zuu: k_drive_%s(&d, v); break;\n", i, drive_infos[i].name);
    text_puts(t, "default: break;\n}\n}\nk_drives_finish(&d, l);\nreturn 0u;\n}\n");
}

/* ---- what a material runs ------------------------------------------------------------------- */

/* The last connection into that slot of the layer's parameter. */
static bool link_find(const struct asl_group *g, size_t layer, const struct asl_code_arg *a,
                      struct asl_group_link *out)
{
    const struct asl_shader_info *s = asl_group_layer_shader(g, layer);
    const size_t n = asl_type_slots(a->type), slot = a->is_set ? 0 : a->slot % n;
    struct asl_group_link k;
    bool found = false;
    for (size_t i = 0; asl_group_link_at(g, layer, i, &k); i++) {
        const size_t first = k.to_slot, count = asl_type_slots(k.to_type);
        if (strcmp(s->params[k.to_param].name, a->param) != 0 ||
            (!a->is_set && (slot < first || slot >= first + count)))
            continue;
        *out = k;
        found = true;
    }
    return found;
}

#define NO_SUCH_LINK "strings, structures, closures and arrays of any length cannot be connected"

/* NULL, or why a connection cannot be: what the area's words cannot say. */
static const char *link_problem(const struct shader_layer *from, const struct asl_group_link *k)
{
    const size_t n = asl_type_slots(k->from_type), m = asl_type_slots(k->to_type);
    const bool ints = k->from_type.base == ASL_INT;
    if (!type_stands(k->from_type) || !type_stands(k->to_type) ||
        from->output_of[k->from_param] < 0)
        return NO_SUCH_LINK;
    if (k->to_type.base == ASL_INT && !ints)
        return "a float cannot be connected to an int";
    if (n != m && (n != 1 || k->to_type.base == ASL_MATRIX || k->to_type.array))
        return "the connected types differ too much";
    return NULL;
}

/* The word of the argument area for argument `i`. */
static enum status argument_place(struct maker *m, uint32_t material, size_t layer, size_t i,
                                  const union asl_slot *value, uint32_t *word)
{
    const struct layer_program *p = &m->programs[material];
    const struct asl_code_arg a = asl_code_arg_at(p->layers[layer].code, i);
    const size_t n = asl_type_slots(a.type), row = a.is_set ? 0 : a.slot / n;
    struct asl_group_link k;
    uint32_t at;
    const bool linked = link_find(p->shading->group, layer, &a, &k);
    if (linked && !a.is_set) {
        const struct shader_layer *from = &p->layers[k.from_layer];
        const struct asl_emitted_output *o = &from->emitted.outputs[from->output_of[k.from_param]];
        const uint32_t slot =
            (uint32_t)(asl_type_slots(k.from_type) == 1 ? k.from_slot
                                                        : k.from_slot + a.slot % n - k.to_slot);
        const bool converts = k.from_type.base == ASL_INT && k.to_type.base != ASL_INT;
        if (row && (!o->changes || converts)) {
            *word = 0; /* where a 0 stands */
            return STATUS_OK;
        }
        *word = SHADE_ON_STACK | (converts ? SHADE_FROM_INT : 0) |
                (from->stack + o->at + (uint32_t)row * o->n + slot);
        return STATUS_OK;
    }
    if (linked && !k.to_whole && value->i == 0)
        return refuse(m, material, layer,
                      "a part of a parameter is connected whose default is "
                      "computed");
    if (!linked && value->i == 0) {
        *word = 0;
        return STATUS_OK;
    }
    enum status st = shade_words_take(m->words, 1, &at, m->err);
    if (st == STATUS_OK && at >= SHADE_FROM_INT)
        return error_msg(m->err, STATUS_LIMIT, "the scene's shaders take too many words");
    if (st == STATUS_OK)
        m->words->words[at] = linked ? 1u : (uint32_t)value->i;
    *word = at;
    return st;
}

/* The layer's argument area. */
static enum status area_make(struct maker *m, uint32_t material, size_t layer)
{
    struct shader_layer *x = &m->programs[material].layers[layer];
    const size_t n = asl_code_args(x->code), images = x->emitted.image_count;
    struct asl_group *own;
    union asl_slot *values = ARENA_ARRAY(&m->arena, union asl_slot, n + 1);
    enum status st =
        asl_group_alone(&m->arena, m->programs[material].shading->group, layer, &own, m->err);
    if (st == STATUS_OK && !values)
        st = no_memory(m->err);
    if (st == STATUS_OK)
        st = shade_words_take(m->words, n + images + 1, &x->args, m->err);
    if (st)
        return st;
    asl_code_args_fill(x->code, own, values);
    for (size_t i = 0; i < n && st == STATUS_OK; i++) {
        uint32_t word = 0;
        if (x->emitted.reads[i])
            st = argument_place(m, material, layer, i, &values[i], &word);
        m->words->words[x->args + i] = word;
    }
    for (size_t i = 0; i < images && st == STATUS_OK; i++) {
        uint32_t word = 0;
        st = shade_words_emitted(m->words, &m->scene->shader_images, &x->emitted.images[i], &word,
                                 m->err);
        m->words->words[x->args + n + i] = word;
    }
    return st;
}

/* Does the layer's text read what the connection gives? */
static bool link_is_read(const struct asl_group *g, size_t layer, const struct shader_layer *x,
                         const struct asl_group_link *k)
{
    const struct asl_shader_info *s = asl_group_layer_shader(g, layer);
    for (size_t i = 0; i < asl_code_args(x->code); i++)
        if (x->emitted.reads[i] &&
            strcmp(asl_code_arg_at(x->code, i).param, s->params[k->to_param].name) == 0)
            return true;
    return false;
}

/* Marks what runs, from the last layer to the first, and until which step its outputs are read. */
static enum status needs_find(struct maker *m, uint32_t material)
{
    struct layer_program *p = &m->programs[material];
    const struct shading *shading = p->shading;
    const struct asl_group *g = shading->group;
    size_t layer, param;
    p->layers[p->count - 1].needed = true;
    for (const char *const *e = shading->entry_layers; e && *e; e++)
        for (size_t l = 0; l < p->count; l++)
            p->layers[l].needed |= strcmp(asl_group_layer_name(g, l), *e) == 0;
    for (int i = 0; i < DRIVE_COUNT; i++)
        if (shading->drive[i] && shade_drive_find(g, shading->drive[i], &layer, &param)) {
            p->layers[layer].needed = true;
            p->layers[layer].last_use = p->count;
        }
    for (size_t l = p->count; l-- > 0;) {
        struct shader_layer *x = &p->layers[l];
        struct asl_group_link k;
        if (!x->needed)
            continue;
        if (!x->code)
            return refuse(m, material, l, x->why.msg);
        if (x->emitted.sends)
            return refuse(m, material, l, "it sends or receives messages");
        for (size_t i = 0; i < x->emitted.host_count; i++)
            if (x->emitted.hosts[i].reply)
                return refuse(m, material, l, "it asks the host at run time");
        if (l + 1 < p->count && asl_group_layer_globals(g, l))
            return refuse(m, material, l, "it writes a global variable and is not the last");
        for (size_t i = 0; asl_group_link_at(g, l, i, &k); i++) {
            struct shader_layer *from = &p->layers[k.from_layer];
            const enum asl_base to = asl_group_layer_shader(g, l)->params[k.to_param].type.base;
            const bool argument = to != ASL_STRING && to != ASL_STRUCT && to != ASL_CLOSURE;
            if (argument && !link_is_read(g, l, x, &k))
                continue;
            const char *problem = argument ? link_problem(from, &k) : NO_SUCH_LINK;
            if (problem)
                return refuse(m, material, l, problem);
            from->needed = true;
            if (from->last_use < l)
                from->last_use = l;
        }
    }
    return STATUS_OK;
}

/* The lowest place of the stack that no output takes which a later step reads. */
static void stack_place(struct maker *m, struct layer_program *p, size_t layer)
{
    struct shader_layer *x = &p->layers[layer];
    bool again = true;
    for (x->stack = 0; again;) {
        again = false;
        for (size_t l = 0; l < layer && !again; l++) {
            const struct shader_layer *o = &p->layers[l];
            again = o->needed && o->last_use >= layer && x->stack < o->stack + o->output_words &&
                    o->stack < x->stack + x->output_words;
            if (again)
                x->stack = o->stack + o->output_words;
        }
    }
    if (m->depth < x->stack + x->output_words)
        m->depth = x->stack + x->output_words;
}

/* The rows of a material's drives. */
static enum status drives_make(struct maker *m, const struct layer_program *p, uint32_t at)
{
    const struct asl_group *g = p->shading->group;
    uint32_t *row = &m->words->words[at];
    for (uint32_t i = 0; i < DRIVE_COUNT; i++) {
        size_t layer, param;
        if (!p->shading->drive[i])
            continue;
        if (!shade_drive_find(g, p->shading->drive[i], &layer, &param) ||
            p->layers[layer].output_of[param] < 0)
            return error_msg(m->err, STATUS_UNSUPPORTED,
                             "the model restricted cannot take '%s' to a base",
                             p->shading->drive[i]);
        const struct shader_layer *x = &p->layers[layer];
        const struct asl_emitted_output *o = &x->emitted.outputs[x->output_of[param]];
        const bool three =
            asl_type_slots(asl_group_layer_shader(g, layer)->params[param].type) == 3;
        row[0] = i;
        for (uint32_t k = 0; k < 3; k++)
            row[1 + k] = x->stack + o->at + (three ? k : 0);
        row += 4;
    }
    return STATUS_OK;
}

static enum status program_make(struct maker *m, uint32_t material)
{
    struct layer_program *p = &m->programs[material];
    struct shade_scene_material *to = &m->out->materials[material];
    uint32_t steps = 0, drives = 0, at;
    enum { STACK_MOST = 4096 };
    m->out->stats.groups++;
    m->out->stats.instances += p->count;
    enum status st = needs_find(m, material);
    for (size_t l = 0; st == STATUS_OK && l < p->count; l++) {
        if (!p->layers[l].needed)
            continue;
        steps++;
        stack_place(m, p, l);
        st = area_make(m, material, l);
        if (st == STATUS_OK && m->depth > STACK_MOST)
            st = refuse(m, material, l, "its outputs take too much of the stack");
    }
    for (int i = 0; i < DRIVE_COUNT; i++)
        drives += p->shading->drive[i] != NULL;
    if (st == STATUS_OK)
        st = shade_words_take(m->words, 2 + 4 * ((size_t)steps + drives), &at, m->err);
    if (st)
        return st;
    uint32_t *row = &m->words->words[at];
    *row++ = steps;
    for (size_t l = 0; l < p->count; l++) {
        const struct shader_layer *x = &p->layers[l];
        if (!x->needed)
            continue;
        row[0] = x->master;
        row[1] = x->args;
        row[2] = x->stack;
        row[3] = !p->shading->has_base && l + 1 == p->count;
        row += 4;
    }
    *row++ = p->shading->has_base ? drives : SHADE_NO_BASE;
    if (p->shading->has_base)
        st = drives_make(m, p, (uint32_t)(row - m->words->words));
    to->group = 1;
    to->args = at;
    to->name = strdup(m->scene->materials[material].name);
    if (st == STATUS_OK && !to->name)
        st = no_memory(m->err);
    for (size_t l = 0; st == STATUS_OK && l < p->count; l++) {
        const struct shader_layer *x = &p->layers[l];
        const struct shade_voice_place place = {material, x->args, m->masters[x->master].table};
        if (x->needed && x->emitted.message_words)
            st = shade_keep_voice(m->out, m->scene, x->code, x->outputs, &place, m->err);
    }
    return st;
}

static enum status make(struct maker *m)
{
    const struct scene *s = m->scene;
    enum status st = STATUS_OK;
    m->programs = ARENA_ARRAY(&m->arena, struct layer_program, s->material_count + 1);
    if (!m->programs)
        return no_memory(m->err);
    for (size_t i = 0; i < s->material_count && st == STATUS_OK; i++) {
        struct layer_program *p = &m->programs[i];
        if (!s->materials[i].shading)
            continue;
        p->shading = s->materials[i].shading;
        const size_t n = asl_group_layers(p->shading->group);
        p->layers = ARENA_ARRAY(&m->arena, struct shader_layer, n);
        if (!p->layers)
            return no_memory(m->err);
        for (p->count = 0; p->count < n && st == STATUS_OK; p->count++)
            st = instance_make(m, p->shading->group, p->count, &p->layers[p->count]);
    }
    if (st == STATUS_OK)
        st = masters_list(m);
    if (st == STATUS_OK)
        st = masters_emit(m);
    for (size_t i = 0; i < s->material_count && st == STATUS_OK; i++)
        if (m->programs[i].shading)
            st = program_make(m, (uint32_t)i);
    if (st == STATUS_OK)
        put_walk(m);
    return st;
}

enum status shade_masters_make(const struct scene *s, struct shade_words *words,
                               struct shade_scene *out, struct error *err)
{
    struct maker m = {.scene = s, .words = words, .out = out, .err = err};
    const enum status st = make(&m);
    for (size_t i = 0; m.programs && i < s->material_count; i++)
        for (size_t l = 0; l < m.programs[i].count; l++)
            text_free(&m.programs[i].layers[l].text);
    arena_free(&m.arena);
    return st;
}
