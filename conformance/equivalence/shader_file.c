/* SPDX-License-Identifier: Apache-2.0 */
/* Shader sources with directives, made into groups. */
#include "shader_file.h"

#include <stdlib.h>
#include <string.h>

struct reading {
    struct arena *arena;
    struct shader_file *file;
    uint32_t variation;
    const char *const *connections; /* "layer.param" of all, ends with NULL */
    const char **set;               /* parameters that directives set for the next layer */
    size_t set_count, layers;
};

/* The next `//!` line, its text in the arena; NULL at the end. */
static const char *next_directive(struct arena *a, const char **p, uint32_t *line)
{
    while (**p) {
        const char *begin = *p, *end = strchr(begin, '\n');
        size_t n = end ? (size_t)(end - begin) : strlen(begin);
        *p = end ? end + 1 : begin + n;
        (*line)++;
        begin += strspn(begin, " \t");
        if (strncmp(begin, "//!", 3) == 0 && (end ? end : begin + n) > begin)
            return arena_strndup(a, begin + 3 + strspn(begin + 3, " \t"),
                                 strcspn(begin + 3 + strspn(begin + 3, " \t"), "\r\n"));
    }
    return NULL;
}

bool shader_file_refused(const char *text)
{
    for (const char *p = text; (p = strstr(p, "//! ")) != NULL; p += 4)
        if (strncmp(p + 4, "error ", 6) == 0 || strncmp(p + 4, "fails ", 6) == 0 ||
            strncmp(p + 4, "warn-error", 10) == 0)
            return true;
    return false;
}

static bool is_connected(const struct reading *r, const char *layer, const char *param)
{
    size_t l = strlen(layer), n = strlen(param);
    for (const char *const *c = r->connections; *c; c++)
        if (strncmp(*c, layer, l) == 0 && (*c)[l] == '.' && strncmp(*c + l + 1, param, n) == 0 &&
            ((*c)[l + 1 + n] == 0 || (*c)[l + 1 + n] == '['))
            return true;
    for (size_t i = 0; i < r->set_count; i++)
        if (strcmp(r->set[i], param) == 0)
            return true;
    return false;
}

/* A value near the parameter's own, as `--param` writes it; NULL for what is left as it is. */
static const char *moved_value(struct reading *r, const struct asl_param *p, uint32_t index)
{
    const uint32_t key[2] = {r->variation, 0x5eed}, counter[4] = {index, (uint32_t)r->layers};
    uint32_t word[4];
    enum asl_base b = p->type.base;
    size_t n = asl_type_slots(p->type);
    if (p->output || p->type.array || !p->constant || !p->default_value || b < ASL_INT ||
        b > ASL_NORMAL)
        return NULL;
    philox4x32(counter, key, word);
    if (b == ASL_INT)
        return arena_printf(r->arena, "%d",
                            p->default_value[0].i
                                ? abs(p->default_value[0].i % 64) + (int)(word[0] % 3)
                                : (int)(word[0] % 2));
    struct text t = {0};
    for (size_t i = 0; i < n; i++) {
        double own = (double)p->default_value[i].f, share = u01(word[i]);
        text_printf(&t, "%s%.7g", i ? "," : "", own == 0 ? share : own * (0.5 + share));
    }
    const char *value = t.data ? arena_strdup(r->arena, t.data) : NULL;
    text_free(&t);
    return value;
}

static enum status move_parameters(struct reading *r, const struct asl_shader_info *s,
                                   const char *layer, struct error *err)
{
    for (uint32_t i = 0; i < s->param_count; i++) {
        const struct asl_param *p = &s->params[i];
        const char *value = is_connected(r, layer, p->name) ? NULL : moved_value(r, p, i);
        enum status st =
            value ? asl_group_param(r->file->group, &p->type, p->name, value, err) : STATUS_OK;
        if (st != STATUS_OK)
            return st;
    }
    return STATUS_OK;
}

static const struct asl_shader_info *find_shader(const struct asl_program *p, const char *name)
{
    const struct asl_shader_info *found = NULL;
    for (size_t i = 0; i < asl_program_shaders(p); i++)
        if (!name || strcmp(asl_program_shader(p, i)->name, name) == 0)
            found = asl_program_shader(p, i);
    return found;
}

static enum status add_layer(struct reading *r, const char *shader, const char *layer,
                             struct error *err)
{
    const struct asl_shader_info *info = find_shader(r->file->program, shader);
    enum status st = STATUS_OK;
    if (info && r->variation)
        st = move_parameters(r, info, layer, err);
    if (st == STATUS_OK)
        st = asl_group_layer(r->file->group, r->file->program, shader, layer, NULL, err);
    r->set_count = 0;
    r->layers++;
    return st;
}

/* A directive's words; value of `param` is the rest of the line. */
static enum status apply(struct reading *r, char *d, struct error *err)
{
    char *word[3] = {d, NULL, NULL};
    for (int i = 0; i < 2 && word[i]; i++) {
        char *blank = strchr(word[i], ' ');
        if (blank) {
            *blank = 0;
            word[i + 1] = blank + 1 + strspn(blank + 1, " ");
        }
    }
    r->file->special = r->file->special || strcmp(d, "special") == 0;
    if (strcmp(d, "param") == 0 && word[2]) {
        if (r->set)
            r->set[r->set_count++] = word[1];
        return asl_group_param(r->file->group, NULL, word[1], word[2], err);
    }
    if (strcmp(d, "layer") == 0 && word[2])
        return add_layer(r, word[1], word[2], err);
    if (strcmp(d, "connect") != 0 || !word[2])
        return STATUS_OK;
    char *from = strchr(word[1], '.'), *to = strchr(word[2], '.');
    if (!from || !to)
        return error_msg(err, STATUS_TYPE, "connect: expected LAYER.OUTPUT LAYER.PARAMETER");
    *from = *to = 0;
    return asl_group_connect(r->file->group, word[1], from + 1, word[2], to + 1, err);
}

static enum status make_group(struct reading *r, struct error *err)
{
    struct shader_file *f = r->file;
    const char *p = f->text, *d;
    uint32_t line = 0;
    size_t count = 0, n = 0;
    while (next_directive(r->arena, &p, &line))
        count++;
    const char **to = ARENA_ARRAY(r->arena, const char *, count + 1);
    r->set = ARENA_ARRAY(r->arena, const char *, count + 1);
    if (!to || !r->set)
        return error_msg(err, STATUS_MEMORY, "out of memory for %s", f->name);
    for (p = f->text; (d = next_directive(r->arena, &p, &line)) != NULL;)
        if (strncmp(d, "connect ", 8) == 0)
            to[n++] = strrchr(d, ' ') + 1;
    r->connections = to;
    enum status st = asl_group_new(r->arena, f->name, &f->group, err);
    line = 0;
    for (p = f->text; st == STATUS_OK && (d = next_directive(r->arena, &p, &line)) != NULL;) {
        struct error e = {0};
        char *own = arena_strdup(r->arena, d);
        st = own ? apply(r, own, &e) : error_msg(&e, STATUS_MEMORY, "out of memory");
        if (st != STATUS_OK)
            st = error_set(err, st, (struct src_pos){f->name, line, 1}, "%s", e.msg);
    }
    if (st == STATUS_OK && !r->layers)
        st = add_layer(r, NULL, "layer", err);
    return st == STATUS_OK ? asl_group_finish(f->group, err) : st;
}

static enum status list_outputs(struct reading *r, struct error *err)
{
    struct shader_file *f = r->file;
    size_t n = 0, k = 0;
    f->layers = asl_group_layers(f->group);
    for (size_t l = 0; l < f->layers; l++)
        n += asl_group_layer_shader(f->group, l)->param_count;
    const char **all = ARENA_ARRAY(r->arena, const char *, n + 2);
    if (!all)
        return error_msg(err, STATUS_MEMORY, "out of memory for %s", f->name);
    f->all = f->last = all;
    for (size_t l = 0; l < f->layers; l++) {
        const struct asl_shader_info *s = asl_group_layer_shader(f->group, l);
        f->last = all + k;
        for (size_t i = 0; i < s->param_count; i++) {
            const struct asl_param *p = &s->params[i];
            if (!p->output)
                continue;
            f->snapped = f->snapped || strcmp(p->name, "unsure") == 0;
            all[k++] = arena_printf(r->arena, "%s.%s", asl_group_layer_name(f->group, l), p->name);
            if (!all[k - 1])
                return error_msg(err, STATUS_MEMORY, "out of memory for %s", f->name);
        }
    }
    all[k] = "Ci";
    return STATUS_OK;
}

enum status shader_file_read(struct arena *a, const char *name, const char *text, size_t size,
                             uint32_t variation, struct shader_file *out, struct error *err)
{
    struct shader_file f = {
        .name = arena_strdup(a, name), .text = arena_strndup(a, text, size), .size = size};
    struct reading r = {.arena = a, .file = &f, .variation = variation};
    struct asl_diags diags = {0};
    if (!f.name || !f.text)
        return error_msg(err, STATUS_MEMORY, "out of memory for %s", name);
    enum status st = asl_compile(a, f.name, f.text, size, NULL, &diags, &f.program, err);
    if (st == STATUS_OK)
        st = make_group(&r, err);
    if (st == STATUS_OK)
        st = list_outputs(&r, err);
    if (st == STATUS_OK)
        *out = f;
    return st;
}
