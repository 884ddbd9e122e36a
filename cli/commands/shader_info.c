/* SPDX-License-Identifier: Apache-2.0 */
/* shader_info.c: the parameters of a shader, in the form that OSL's oslinfo has. Structs are listed
 * once as a whole and then field by field, as they are set. */
#include "shader_info.h"
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct lister {
    const struct shader_info_options *opt;
    struct text out;
};

/* ---- values --------------------------------------------------------------------------------- */

static void escaped(struct text *t, const char *s)
{
    static const char letters[] = "\n\t\v\b\r\f\a\\\"", names[] = "ntvbrfa\\\"";
    for (; *s; s++) {
        const char *k = strchr(letters, *s);
        if (k)
            text_printf(t, "\\%c", names[k - letters]);
        else
            text_append(t, s, 1);
    }
}

static void print_slot(struct text *t, enum asl_base scalar, union asl_slot v)
{
    if (scalar == ASL_INT)
        text_printf(t, " %d", v.i);
    else if (scalar == ASL_FLOAT)
        text_printf(t, " %g", (double)v.f);
    else {
        text_puts(t, " \"");
        escaped(t, scalar == ASL_STRING ? v.s : "");
        text_puts(t, "\"");
    }
}

static void print_metadata(struct lister *l, const struct asl_metadata *m)
{
    char type[ASL_TYPE_TEXT_SIZE];
    for (; l->opt->verbose && m; m = m->next) {
        text_printf(&l->out, "\t\tmetadata: %s %s =", asl_type_text(m->type, type, sizeof type),
                    m->name);
        for (size_t i = 0; m->value && i < asl_type_slots(m->type); i++)
            print_slot(&l->out, asl_type_scalar(m->type, i), m->value[i]);
        text_puts(&l->out, "\n");
    }
}

static void print_strings(struct lister *l, const union asl_slot *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        text_printf(&l->out, l->opt->verbose ? "\t\tDefault value: \"%s\"\n" : "\"%s\" ", v[i].s);
    text_puts(&l->out, l->opt->verbose ? "" : "\n");
}

/* v: NULL when it is computed, or there is none. */
static void print_default(struct lister *l, struct asl_type type, const union asl_slot *v)
{
    size_t n = asl_type_slots(type);
    enum asl_base scalar = n ? asl_type_scalar(type, 0) : ASL_VOID;
    if (!v || scalar == ASL_CLOSURE) {
        text_puts(&l->out, l->opt->verbose ? "\t\tUnknown default value\n" : "nodefault\n");
        return;
    }
    if (scalar == ASL_STRING) {
        print_strings(l, v, n);
        return;
    }
    bool several = type.array || n > 1;
    text_printf(&l->out, "%s%s", l->opt->verbose ? "\t\tDefault value:" : "", several ? " [" : "");
    for (size_t i = 0; i < n; i++)
        print_slot(&l->out, scalar, v[i]);
    text_puts(&l->out, several ? " ]\n" : "\n");
}

/* ---- parameters ----------------------------------------------------------------------------- */

static void print_head(struct lister *l, const char *name, const char *type, bool output)
{
    const char *out = output ? "output " : "";
    if (l->opt->verbose)
        text_printf(&l->out, "    \"%s\" \"%s%s\"\n", name, out, type);
    else
        text_printf(&l->out, "%s%s %s ", out, type, name);
}

/* `type` of the whole, or of a field: name is then "param.field". */
static void print_param(struct lister *l, struct arena *a, const struct asl_param *p,
                        const char *name, struct asl_type type, const union asl_slot *v)
{
    char text[ASL_TYPE_TEXT_SIZE];
    bool whole = name == p->name, wanted = !l->opt->param || strcmp(l->opt->param, name) == 0;
    if (whole && p->any_length)
        type.array = -1;
    asl_type_text(type, text, sizeof text);
    bool record = type.base == ASL_STRUCT;
    const char *shown = record ? arena_printf(a, "struct %s", text) : text;
    if (wanted)
        print_head(l, name, shown ? shown : text, p->output);
    if (wanted && !record)
        print_default(l, whole ? p->type : type, v);
    size_t fields = asl_struct_fields(type);
    if (wanted && record) {
        text_printf(&l->out, "%sfields: {", l->opt->verbose ? "\t\t" : "");
        for (size_t i = 0; i < fields; i++) {
            struct asl_type_field f = asl_struct_field(type, i);
            text_printf(&l->out, "%s%s %s", i ? ", " : "", asl_type_text(f.type, text, sizeof text),
                        f.name);
        }
        text_puts(&l->out, "}\n");
    }
    if (wanted && whole)
        print_metadata(l, p->metadata);
    for (size_t i = 0; record && !type.array && i < fields; i++) {
        struct asl_type_field f = asl_struct_field(type, i);
        const char *path = arena_printf(a, "%s.%s", name, f.name);
        if (path)
            print_param(l, a, p, path, f.type, v ? v + f.slot : NULL);
    }
}

/* ---- the same as JSON ----------------------------------------------------------------------- */

/* A number, a text, or an array of them. */
static void put_value(struct json_writer *w, const char *key, struct asl_type type,
                      const union asl_slot *v)
{
    size_t n = asl_type_slots(type);
    json_key(w, key);
    if (!v || (n && asl_type_scalar(type, 0) == ASL_CLOSURE)) {
        json_null(w);
        return;
    }
    bool several = type.array || n != 1;
    if (several)
        json_begin_array(w);
    for (size_t i = 0; i < n; i++) {
        enum asl_base scalar = asl_type_scalar(type, i);
        if (scalar == ASL_INT)
            json_integer(w, v[i].i);
        else if (scalar == ASL_FLOAT)
            json_number(w, (double)v[i].f);
        else
            json_string(w, scalar == ASL_STRING ? v[i].s : "");
    }
    if (several)
        json_end_array(w);
}

static void put_metadata(struct json_writer *w, const struct asl_metadata *m)
{
    char type[ASL_TYPE_TEXT_SIZE];
    json_key(w, "metadata");
    json_begin_array(w);
    for (; m; m = m->next) {
        json_begin_object(w);
        json_key_string(w, "name", m->name);
        json_key_string(w, "type", asl_type_text(m->type, type, sizeof type));
        put_value(w, "value", m->type, m->value);
        json_end_object(w);
    }
    json_end_array(w);
}

/* "default" is null where it is computed; a struct's fields are parameters of their own too. */
static void put_param(struct json_writer *w, struct arena *a, const char *only,
                      const struct asl_param *p, const char *name, struct asl_type type,
                      const union asl_slot *v)
{
    char text[ASL_TYPE_TEXT_SIZE];
    bool whole = name == p->name, record = type.base == ASL_STRUCT;
    struct asl_type shown = type;
    if (whole && p->any_length)
        shown.array = -1;
    if (!only || strcmp(only, name) == 0) {
        json_begin_object(w);
        json_key_string(w, "name", name);
        json_key_string(w, "type", asl_type_text(shown, text, sizeof text));
        json_key_bool(w, "struct", record);
        json_key_bool(w, "output", p->output);
        if (!record)
            put_value(w, "default", whole ? p->type : type, v);
        if (whole)
            put_metadata(w, p->metadata);
        json_end_object(w);
    }
    for (size_t i = 0; record && !shown.array && i < asl_struct_fields(type); i++) {
        struct asl_type_field f = asl_struct_field(type, i);
        const char *path = arena_printf(a, "%s.%s", name, f.name);
        if (path)
            put_param(w, a, only, p, path, f.type, v ? v + f.slot : NULL);
    }
}

static const char *const kinds[] = {"shader", "surface", "displacement", "volume", "light"};

static void put_shader(struct json_writer *w, struct arena *a, const char *only,
                       const struct asl_shader_info *s)
{
    json_key_string(w, "shader", s->name);
    json_key_string(w, "kind", kinds[s->kind]);
    put_metadata(w, s->metadata);
    json_key(w, "parameters");
    json_begin_array(w);
    for (size_t i = 0; i < s->param_count; i++)
        put_param(w, a, only, &s->params[i], s->params[i].name, s->params[i].type,
                  s->params[i].default_value);
    json_end_array(w);
}

static void print_shader(struct lister *l, struct arena *a, const struct asl_shader_info *s)
{
    if (!l->opt->param) {
        text_printf(&l->out, "%s \"%s\"\n", kinds[s->kind], s->name);
        print_metadata(l, s->metadata);
    }
    for (size_t i = 0; i < s->param_count; i++)
        print_param(l, a, &s->params[i], s->params[i].name, s->params[i].type,
                    s->params[i].default_value);
}

/* ---- files ---------------------------------------------------------------------------------- */

static char *find_file(struct arena *a, const char *name, const char *const *folders)
{
    static const char *const endings[] = {"", ".aso", ".oso", ".osl", ".asl"};
    for (size_t d = 0; d == 0 || (folders && folders[d - 1]); d++) {
        for (size_t e = 0; e < sizeof endings / sizeof *endings; e++) {
            char *path = d ? arena_printf(a, "%s/%s%s", folders[d - 1], name, endings[e])
                           : arena_printf(a, "%s%s", name, endings[e]);
            if (path && access(path, R_OK) == 0)
                return path;
        }
    }
    return NULL;
}

int shader_info_print(const char *name, const struct shader_info_options *opt,
                      struct json_writer *json)
{
    struct arena a = {0};
    struct error err = {0};
    struct asl_diags diags = {0};
    const struct asl_program *p = NULL;
    struct lister l = {.opt = opt};
    const char *path = find_file(&a, name, opt->folders);
    enum status s = STATUS_OK;
    if (!path)
        s = error_msg(&err, STATUS_ARG, "there is no shader '%s' (.aso, .osl or .asl)", name);
    if (s == STATUS_OK)
        s = asl_compile(&a, path, NULL, 0, NULL, &diags, &p, &err);
    size_t shaders = p ? asl_program_shaders(p) : 0;
    if (s == STATUS_OK && shaders == 0)
        s = error_msg(&err, STATUS_ARG, "%s holds no shader", path);
    if (json) {
        json_begin_object(json);
        json_key_string(json, "file", path ? path : name);
    }
    if (s == STATUS_OK && json)
        put_shader(json, &a, opt->param, asl_program_shader(p, shaders - 1));
    else if (s == STATUS_OK)
        print_shader(&l, &a, asl_program_shader(p, shaders - 1));
    if (s == STATUS_OK && l.out.failed)
        s = error_msg(&err, STATUS_MEMORY, "out of memory");
    if (s == STATUS_OK && l.out.data)
        (void)fwrite(l.out.data, 1, l.out.len, stdout);
    if (json) {
        if (s != STATUS_OK)
            json_key_string(json, "error", err.msg);
        json_end_object(json);
    }
    int status = s == STATUS_OK ? EXIT_PASS : report_error(&err, false);
    if (s == STATUS_TYPE)
        status = EXIT_FINDING;
    text_free(&l.out);
    arena_free(&a);
    return status;
}
