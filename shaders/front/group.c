/* SPDX-License-Identifier: Apache-2.0 */
/* group.c: layers, their parameters' values, connections, and the text form of all that. */
#include "group.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static enum status no_memory(struct error *err)
{
    return error_msg(err, STATUS_MEMORY, "out of memory");
}

enum status asl_group_new(struct arena *a, const char *name, struct asl_group **out,
                          struct error *err)
{
    struct asl_group *g = ARENA_NEW(a, struct asl_group);
    char *copy = arena_strdup(a, name);
    if (!g || !copy)
        return no_memory(err);
    g->arena = a;
    g->name = copy;
    *out = g;
    return STATUS_OK;
}

long asl_group_find(const struct asl_group *g, const char *layer)
{
    for (size_t i = g->layer_count; i-- > 0;)
        if (strcmp(g->layers[i]->name, layer) == 0)
            return (long)i;
    return -1;
}

long asl_shader_param(const struct asl_shader *s, const char *name)
{
    for (size_t i = 0; i < s->info.param_count; i++)
        if (strcmp(s->info.params[i].name, name) == 0)
            return (long)i;
    return -1;
}

/* ---- values from text ----------------------------------------------------------------------- */

/* Is the text a list of numbers with commas or blanks between them? Counts them; *whole: all are
 * whole numbers. */
static size_t count_numbers(const char *s, bool *whole)
{
    size_t n = 0;
    *whole = true;
    for (;;) {
        char *end;
        s += strspn(s, " \t\n");
        size_t span = strcspn(s, ", \t\n");
        if (span == 0 || !strpbrk(s, "0123456789"))
            return 0;
        (void)strtod(s, &end);
        if (end != s + span)
            return 0;
        if (memchr(s, '.', span) || memchr(s, 'e', span) || memchr(s, 'E', span) ||
            memchr(s, 'n', span))
            *whole = false;
        n++;
        s = end + strspn(end, " \t\n");
        if (*s == ',')
            s++;
        else if (!*s)
            return n;
    }
}

/* As testshade guesses: one whole number int, another number float, three numbers a triple, sixteen
 * a matrix. */
static struct asl_type guess_type(const char *value)
{
    bool whole;
    size_t n = count_numbers(value, &whole);
    return asl_type_of(n == 1    ? (whole ? ASL_INT : ASL_FLOAT)
                       : n == 3  ? ASL_COLOR
                       : n == 16 ? ASL_MATRIX
                                 : ASL_STRING);
}

/* One word of a list of strings: quoted, or up to a comma or blank; the whole text when there is
 * only one. */
static char *next_string(struct arena *a, const char **p, bool only)
{
    const char *s = *p;
    if (*s == '"') {
        struct text t = {0};
        for (s++; *s && *s != '"'; s++) {
            if (*s == '\\' && s[1])
                s++;
            text_append(&t, s, 1);
        }
        *p = *s ? s + 1 : s;
        char *r = arena_strndup(a, t.data ? t.data : "", t.len);
        text_free(&t);
        return r;
    }
    size_t n = only ? strlen(s) : strcspn(s, ", \t\n");
    *p = s + n;
    return arena_strndup(a, s, n);
}

/* Reads a value of `type`. A float is accepted where an int is written; one number fills a triple.
 */
static enum status parse_value(struct arena *a, const char *name, struct asl_type type,
                               const char *text, union asl_slot **out, struct error *err)
{
    size_t n = asl_type_slots(type), k = 0;
    char shown[ASL_TYPE_TEXT_SIZE];
    union asl_slot *v = ARENA_ARRAY(a, union asl_slot, n ? n : 1);
    if (!v)
        return no_memory(err);
    const char *p = text;
    while (k < n) {
        p += strspn(p, " \t\n");
        if (k && *p == ',')
            p += 1 + strspn(p + 1, " \t\n");
        enum asl_base b = asl_type_scalar(type, k);
        if (!*p && b != ASL_STRING)
            break;
        if (b == ASL_STRING) {
            if (!*p && k)
                break;
            v[k].s = next_string(a, &p, n == 1);
            if (!v[k].s)
                return no_memory(err);
        } else {
            char *end;
            errno = 0;
            if (b == ASL_INT) {
                long x = strtol(p, &end, 0);
                if (errno || x < INT32_MIN || x > INT32_MAX)
                    return error_msg(err, STATUS_RANGE,
                                     "parameter '%s': %.40s does not fit in 32 bits", name, p);
                v[k].i = (int32_t)x;
            } else {
                v[k].f = strtof(p, &end);
            }
            if (end == p || (*end && !strchr(", \t\n", *end)))
                return error_msg(err, STATUS_TYPE,
                                 "parameter '%s': expected a value of type %s, found '%.40s'", name,
                                 asl_type_text(type, shown, sizeof shown), text);
            p = end;
        }
        k++;
    }
    p += strspn(p, " \t\n");
    if (*p)
        return error_msg(err, STATUS_TYPE, "parameter '%s': more values than a %s holds: '%.40s'",
                         name, asl_type_text(type, shown, sizeof shown), text);
    if (k == 1 && n > 1 && !type.array && type.base != ASL_STRUCT) {
        for (; k < n; k++)
            v[k].f = type.base == ASL_MATRIX && k % 5 ? 0 : v[0].f;
    }
    if (k < n) {
        if (!type.array)
            return error_msg(err, STATUS_TYPE, "parameter '%s': a %s takes %zu values, %zu found",
                             name, asl_type_text(type, shown, sizeof shown), n, k);
        for (; k < n; k++) {
            v[k] = (union asl_slot){.s = NULL};
            if (asl_type_scalar(type, k) == ASL_STRING)
                v[k].s = "";
        }
    }
    *out = v;
    return STATUS_OK;
}

/* May a value given as type `have` set a parameter of type `want`? Any triple sets any triple. */
static bool settable(struct asl_type have, struct asl_type want, bool guessed, const char *value)
{
    bool whole;
    if (asl_same_type(have, want) || (asl_is_triple(have) && asl_is_triple(want)))
        return true;
    if (have.base == want.base && want.array > 0 && have.array)
        return true;
    if (!guessed)
        return asl_is(have, ASL_INT) && asl_is(want, ASL_FLOAT);
    if (want.base == ASL_STRING)
        return true;
    return count_numbers(value, &whole) > 0 && want.base != ASL_CLOSURE && want.base != ASL_STRUCT;
}

/* One step into a value: ".field" or "[2]" at *text. False: there is no such part. */
static bool step_into(const char **text, struct asl_type *type, uint32_t *slot)
{
    const char *p = *text;
    if (*p == '[') {
        char *end;
        long i = strtol(p + 1, &end, 10);
        long limit = type->array > 0 ? type->array : asl_is_triple(*type) ? 3 : 0;
        if (end == p + 1 || *end != ']' || i < 0 || i >= limit)
            return false;
        *type = type->array ? asl_element_type(*type) : asl_type_of(ASL_FLOAT);
        *slot += (uint32_t)i * (uint32_t)asl_type_slots(*type);
        *text = end + 1;
        return true;
    }
    size_t n = strcspn(p + 1, ".[");
    if (*p != '.' || type->array || type->base != ASL_STRUCT)
        return false;
    for (size_t f = 0; f < type->st->field_count; f++) {
        const struct asl_field *field = &type->st->fields[f];
        if (strlen(field->name) == n && strncmp(field->name, p + 1, n) == 0) {
            *slot += field->offset;
            *type = field->type;
            *text = p + 1 + n;
            return true;
        }
    }
    return false;
}

/* What "name", "name[2]", "name.field", "name.field[1]" mean: the parameter, and where in its value
 * what is named begins, and its type. */
static enum status find_end(const struct asl_shader *s, const char *layer, const char *text,
                            size_t *param, uint32_t *slot, struct asl_type *type, struct error *err)
{
    char name[256];
    size_t n = strcspn(text, ".[");
    *slot = 0;
    if (n >= sizeof name)
        return error_msg(err, STATUS_MISSING, "layer '%s' has no parameter '%.60s...'", layer,
                         text);
    memcpy(name, text, n);
    name[n] = 0;
    long i = asl_shader_param(s, name);
    if (i < 0)
        return error_msg(err, STATUS_MISSING, "layer '%s' has no parameter '%s'", layer, name);
    *param = (size_t)i;
    *type = s->info.params[i].type;
    for (const char *p = text + n; *p;)
        if (!step_into(&p, type, slot))
            return error_msg(err, STATUS_RANGE, "'%s' of layer '%s' has no part '%s'", name, layer,
                             p);
    return STATUS_OK;
}

/* Gives the parameter T x[] of a layer another length: the shader is checked anew. */
static enum status resize(struct asl_group *g, struct asl_layer *l, size_t param, size_t length,
                          struct error *err)
{
    const struct asl_param *p = &l->shader->info.params[param];
    if (!p->any_length || length == (size_t)p->type.array || length == 0 ||
        length > ASL_MAX_ARRAY || g->finished)
        return STATUS_OK;
    struct asl_length *k = ARENA_NEW(g->arena, struct asl_length);
    if (!k)
        return no_memory(err);
    *k = (struct asl_length){
        .shader = l->shader->info.name, .param = p->name, .length = (int32_t)length};
    k->next = l->lengths;
    const struct asl_program *program;
    enum status s = asl_program_resize(g->arena, l->program, k, &program, err);
    if (s != STATUS_OK)
        return s;
    l->lengths = k;
    l->program = program;
    for (size_t i = 0; i < program->shader_count; i++)
        if (strcmp(program->shaders[i]->info.name, l->shader->info.name) == 0) {
            l->shader = program->shaders[i];
            break;
        }
    return STATUS_OK;
}

/* How many elements of an array the text holds. */
static size_t count_elements(struct arena *a, struct asl_type array, const char *text)
{
    bool whole;
    struct asl_type one = asl_element_type(array);
    if (one.base != ASL_STRING)
        return count_numbers(text, &whole) / asl_type_slots(one);
    size_t n = 0;
    for (const char *p = text; *(p += strspn(p, " \t\n,")); n++)
        if (!next_string(a, &p, false))
            break;
    return n;
}

/* The values that a part of a parameter is written into: what is set, or a copy of the default. */
static enum status values_of(struct asl_group *g, struct asl_layer *l, size_t param,
                             union asl_slot **out, struct error *err)
{
    const struct asl_param *p = &l->shader->info.params[param];
    size_t n = asl_type_slots(p->type);
    const union asl_slot *from = l->values[param] ? l->values[param] : p->default_value;
    if (!from)
        return error_msg(err, STATUS_TYPE,
                         "the default of '%s' is computed: set it as a whole, not by its parts",
                         p->name);
    *out = ARENA_ARRAY(g->arena, union asl_slot, n);
    if (!*out)
        return no_memory(err);
    memcpy(*out, from, n * sizeof **out);
    return STATUS_OK;
}

/* Sets the parameter, or the part of it, that p names: "x", "x[1]", "st.field". */
static enum status set_param(struct asl_group *g, struct asl_layer *l, const struct asl_pending *p,
                             struct text *warnings, bool strict, struct error *err)
{
    size_t i;
    uint32_t slot;
    struct asl_type want;
    enum status s = find_end(l->shader, l->name, p->name, &i, &slot, &want, err);
    if (s != STATUS_OK && strict)
        return s;
    if (s != STATUS_OK) {
        if (warnings)
            text_printf(warnings, "shader '%s' has no parameter '%s': the value is not used\n",
                        l->shader->info.name, p->name);
        *err = (struct error){0};
        return STATUS_OK;
    }
    bool guessed = p->type.base == ASL_UNKNOWN, whole = !strpbrk(p->name, ".[");
    struct asl_type have = guessed ? guess_type(p->value) : p->type;
    if (!settable(have, want, guessed, p->value)) {
        char a[ASL_TYPE_TEXT_SIZE], b[ASL_TYPE_TEXT_SIZE];
        return error_msg(err, STATUS_TYPE,
                         "parameter '%s' of shader '%s' is a %s: it cannot be set to %s '%.60s'",
                         p->name, l->shader->info.name, asl_type_text(want, a, sizeof a),
                         asl_type_text(have, b, sizeof b), p->value);
    }
    if (whole && want.array > 0 && want.base != ASL_STRUCT) {
        s = resize(g, l, i, count_elements(g->arena, want, p->value), err);
        want = l->shader->info.params[i].type;
    }
    union asl_slot *values = NULL, *all = NULL;
    if (s == STATUS_OK)
        s = parse_value(g->arena, p->name, want, p->value, &values, err);
    if (s == STATUS_OK && !whole)
        s = values_of(g, l, i, &all, err);
    if (s != STATUS_OK)
        return s;
    if (all)
        memcpy(all + slot, values, asl_type_slots(want) * sizeof *values);
    l->values[i] = all ? all : values;
    return STATUS_OK;
}

enum status asl_group_param(struct asl_group *g, const struct asl_type *type, const char *name,
                            const char *value, struct error *err)
{
    struct asl_pending *p = ARENA_NEW(g->arena, struct asl_pending);
    char *n = arena_strdup(g->arena, name), *v = arena_strdup(g->arena, value);
    if (!p || !n || !v)
        return no_memory(err);
    *p = (struct asl_pending){
        .name = n, .value = v, .type = type ? *type : asl_type_of(ASL_UNKNOWN), .lockgeom = -1};
    struct asl_pending **tail = &g->pending;
    while (*tail)
        tail = &(*tail)->next;
    *tail = p;
    return STATUS_OK;
}

const char *asl_group_waiting(const struct asl_group *g)
{
    return g->pending ? g->pending->name : NULL;
}

void asl_group_hint(struct asl_group *g, bool lockgeom)
{
    struct asl_pending *p = g->pending;
    while (p && p->next)
        p = p->next;
    if (p)
        p->lockgeom = lockgeom;
}

static int32_t int_metadata(const struct asl_param *p, const char *name, int32_t otherwise)
{
    for (const struct asl_metadata *m = p->metadata; m; m = m->next)
        if (strcmp(m->name, name) == 0 && asl_is(m->type, ASL_INT))
            return m->value->i;
    return otherwise;
}

static bool lockgeom_of(const struct asl_param *p)
{
    return int_metadata(p, "lockgeom", int_metadata(p, "interpolated", 0) == 0) != 0;
}

enum status asl_group_layer(struct asl_group *g, const struct asl_program *p, const char *shader,
                            const char *layer, struct text *warnings, struct error *err)
{
    const struct asl_shader *s = NULL;
    for (size_t i = 0; i < p->shader_count; i++)
        if (!shader || strcmp(p->shaders[i]->info.name, shader) == 0)
            s = p->shaders[i];
    if (!s)
        return error_msg(err, STATUS_MISSING, "%s holds no shader '%s'", p->file,
                         shader ? shader : "");
    if (g->finished)
        return error_msg(err, STATUS_ARG, "the group is finished");
    size_t n = s->info.param_count;
    struct asl_layer *l = ARENA_NEW(g->arena, struct asl_layer);
    if (!l)
        return no_memory(err);
    l->program = p;
    l->shader = s;
    l->mode = 1;
    l->values = ARENA_ARRAY(g->arena, union asl_slot *, n);
    l->connected = ARENA_ARRAY(g->arena, bool, n);
    l->used_downstream = ARENA_ARRAY(g->arena, bool, n);
    l->lockgeom = ARENA_ARRAY(g->arena, bool, n);
    l->name = layer && *layer ? arena_strdup(g->arena, layer)
                              : arena_printf(g->arena, "%s_%zu", s->info.name, g->layer_count);
    if (!l->values || !l->connected || !l->used_downstream || !l->lockgeom || !l->name)
        return no_memory(err);
    if (asl_group_find(g, l->name) >= 0)
        return error_msg(err, STATUS_ARG, "two layers are named '%s'", l->name);
    for (size_t i = 0; i < n; i++)
        l->lockgeom[i] = lockgeom_of(&s->info.params[i]);
    for (const struct asl_pending *i = g->pending; i; i = i->next) {
        enum status st = set_param(g, l, i, warnings, false, err);
        if (st != STATUS_OK)
            return st;
        long at = asl_shader_param(l->shader, i->name);
        if (at >= 0 && i->lockgeom >= 0)
            l->lockgeom[at] = i->lockgeom;
    }
    g->pending = NULL;
    if (g->layer_count == g->layer_cap) {
        size_t cap = g->layer_cap ? 2 * g->layer_cap : 8;
        struct asl_layer **more = ARENA_ARRAY(g->arena, struct asl_layer *, cap);
        if (!more)
            return no_memory(err);
        if (g->layer_count)
            memcpy((void *)more, (const void *)g->layers,
                   g->layer_count * sizeof(struct asl_layer *));
        g->layers = more;
        g->layer_cap = cap;
    }
    g->layers[g->layer_count++] = l;
    return STATUS_OK;
}

/* ---- connections ---------------------------------------------------------------------------- */

/* Structs of two programs are one type when their fields are, in order and by name. */
static bool same_layout(struct asl_type a, struct asl_type b)
{
    if (a.base != ASL_STRUCT || b.base != ASL_STRUCT || a.array != b.array)
        return asl_same_type(a, b);
    bool same = a.st->field_count == b.st->field_count;
    for (size_t i = 0; same && i < a.st->field_count; i++)
        same = strcmp(a.st->fields[i].name, b.st->fields[i].name) == 0 &&
               same_layout(a.st->fields[i].type, b.st->fields[i].type);
    return same;
}

static bool connectable(struct asl_type from, struct asl_type to)
{
    if (from.array || to.array || from.base == ASL_STRUCT)
        return same_layout(from, to);
    return asl_converts(from, to, NULL) && to.base != ASL_MATRIX ? true : asl_same_type(from, to);
}

enum status asl_group_connect(struct asl_group *g, const char *from_layer, const char *from_param,
                              const char *to_layer, const char *to_param, struct error *err)
{
    long a = asl_group_find(g, from_layer), b = asl_group_find(g, to_layer);
    size_t p, q;
    if (a < 0 || b < 0)
        return error_msg(err, STATUS_MISSING, "there is no layer '%s'",
                         a < 0 ? from_layer : to_layer);
    if (a >= b)
        return error_msg(err, STATUS_ARG,
                         "layer '%s' must stand before layer '%s' to be connected to it",
                         from_layer, to_layer);
    struct asl_layer *from = g->layers[a], *to = g->layers[b];
    struct asl_connection *k = ARENA_NEW(g->arena, struct asl_connection);
    if (!k)
        return no_memory(err);
    enum status s =
        find_end(from->shader, from_layer, from_param, &p, &k->from_slot, &k->from_type, err);
    if (s == STATUS_OK)
        s = find_end(to->shader, to_layer, to_param, &q, &k->to_slot, &k->to_type, err);
    k->to_whole = !strpbrk(to_param, ".[");
    if (s == STATUS_OK && k->to_whole && k->from_type.array > 0 && k->to_type.array > 0) {
        s = resize(g, to, q, (size_t)k->from_type.array, err);
        k->to_type = to->shader->info.params[q].type;
    }
    if (s != STATUS_OK)
        return s;
    if (!from->shader->info.params[p].output)
        return error_msg(err, STATUS_TYPE, "'%s' of layer '%s' is not an output", from_param,
                         from_layer);
    if (int_metadata(&to->shader->info.params[q], "allowconnect", 1) == 0)
        return error_msg(err, STATUS_ARG,
                         "cannot connect to %s.%s because it has metadata allowconnect=0", to_layer,
                         to_param);
    if (!connectable(k->from_type, k->to_type)) {
        char x[ASL_TYPE_TEXT_SIZE], y[ASL_TYPE_TEXT_SIZE];
        return error_msg(err, STATUS_TYPE, "cannot connect %s '%s.%s' to %s '%s.%s'",
                         asl_type_text(k->from_type, x, sizeof x), from_layer, from_param,
                         asl_type_text(k->to_type, y, sizeof y), to_layer, to_param);
    }
    if (k->to_type.base == ASL_STRUCT)
        k->to_type = k->from_type; /* as copies know them */
    k->from_layer = (size_t)a;
    k->from_param = p;
    k->to_param = q;
    from->used_downstream[p] = true;
    to->connected[q] = true;
    struct asl_connection **tail = &to->connections;
    while (*tail)
        tail = &(*tail)->next;
    *tail = k;
    return STATUS_OK;
}

/* ---- the text form -------------------------------------------------------------------------- */

struct reader {
    const char *file, *p;
    uint32_t line;
    char word[4096];
    bool quoted;
};

/* Does the comma at p end a command, as a semicolon does, and not stand between values? */
static bool comma_ends(const char *p)
{
    static const char *const commands[] = {"param", "shader", "connect"};
    p += 1 + strspn(p + 1, " \t\r\n");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        size_t n = strlen(commands[i]);
        if (strncmp(p, commands[i], n) == 0 && (!p[n] || strchr(" \t\r\n", p[n])))
            return true;
    }
    return !*p;
}

/* The next word: quoted, ';' (also for a comma that ends a command), or up to white space or one of
 * these. False at the end. */
static bool word(struct reader *r)
{
    for (;;) {
        if (*r->p == '\n')
            r->line++;
        if (*r->p == '#') {
            r->p += strcspn(r->p, "\n");
        } else if (*r->p && strchr(" \t\r\n", *r->p)) {
            r->p++;
        } else {
            break;
        }
    }
    if (!*r->p)
        return false;
    size_t n = 0;
    r->quoted = *r->p == '"';
    if (r->quoted) {
        for (r->p++; *r->p && *r->p != '"' && n + 1 < sizeof r->word; r->p++) {
            if (*r->p == '\\' && r->p[1])
                r->p++;
            r->word[n++] = *r->p;
        }
        if (*r->p == '"')
            r->p++;
    } else if (*r->p == ';' || (*r->p == ',' && comma_ends(r->p))) {
        r->word[n++] = ';';
        r->p++;
    } else {
        while (*r->p && !strchr(" \t\r\n;", *r->p) && !(*r->p == ',' && comma_ends(r->p)) &&
               n + 1 < sizeof r->word)
            r->word[n++] = *r->p++;
    }
    r->word[n] = 0;
    return true;
}

static enum status bad(const struct reader *r, struct error *err, const char *expected)
{
    struct src_pos pos = {r->file, r->line, 1};
    return error_set(err, STATUS_PARSE, pos, "expected %s, found '%.60s'", expected, r->word);
}

static bool end_of_command(const struct reader *r)
{
    return !r->quoted && strcmp(r->word, ";") == 0;
}

/* What stands between [[ and ]]: "int lockgeom=0", "int interpolated = 1"; others say nothing here.
 * The result is the lockgeom meant, or `was`. */
static int8_t parse_hints(struct reader *r, int8_t was)
{
    struct text t = {0};
    while (word(r) && strcmp(r->word, "]]") != 0)
        text_puts(&t, r->word);
    const char *at = t.data ? strstr(t.data, "lockgeom=") : NULL;
    if (at)
        was = strtol(at + 9, NULL, 10) != 0; // no number counts as 0
    at = t.data ? strstr(t.data, "interpolated=") : NULL;
    if (at)
        was = strtol(at + 13, NULL, 10) == 0;
    text_free(&t);
    return was;
}

static enum status parse_param(struct asl_group *g, struct reader *r, struct error *err)
{
    struct asl_type type;
    char name[256];
    if (!word(r))
        return bad(r, err, "a type after 'param'");
    enum status s = asl_type_parse(r->word, &type, err);
    if (s != STATUS_OK)
        return s;
    if (!word(r) || end_of_command(r) || strlen(r->word) >= sizeof name)
        return bad(r, err, "a parameter's name");
    memcpy(name, r->word, strlen(r->word) + 1);
    struct text value = {0};
    bool one = type.base == ASL_STRING && type.array == 0;
    int8_t lockgeom = -1;
    while (word(r) && !end_of_command(r)) {
        if (r->quoted && !one) {
            text_puts(&value, value.len ? " \"" : "\"");
            for (const char *c = r->word; *c; c++) {
                if (*c == '"' || *c == '\\')
                    text_puts(&value, "\\");
                text_append(&value, c, 1);
            }
            text_puts(&value, "\"");
        } else if (strcmp(r->word, "[[") == 0) { /* hints: [[ int lockgeom=0 ]] */
            lockgeom = parse_hints(r, lockgeom);
        } else {
            text_printf(&value, "%s%s", value.len ? " " : "", r->word);
        }
    }
    s = asl_group_param(g, &type, name, value.data ? value.data : "", err);
    if (s == STATUS_OK && lockgeom >= 0)
        asl_group_hint(g, lockgeom);
    text_free(&value);
    return s;
}

static enum status parse_connect(struct asl_group *g, struct reader *r, struct error *err)
{
    char from[256], to[256];
    for (int i = 0; i < 2; i++) {
        if (!word(r) || !strchr(r->word, '.') || strlen(r->word) >= sizeof from)
            return bad(r, err, "layer.parameter");
        memcpy(i ? to : from, r->word, strlen(r->word) + 1);
    }
    char *a = strchr(from, '.'), *b = strchr(to, '.');
    *a = *b = 0;
    return asl_group_connect(g, from, a + 1, to, b + 1, err);
}

enum status asl_group_parse(struct asl_group *g, const char *file, const char *text,
                            asl_find_shader *find, void *ctx, struct text *warnings,
                            struct error *err)
{
    struct reader *r = calloc(1, sizeof *r);
    if (!r)
        return no_memory(err);
    *r = (struct reader){.file = file, .p = text, .line = 1};
    enum status s = STATUS_OK;
    while (s == STATUS_OK && word(r)) {
        if (end_of_command(r))
            continue;
        if (strcmp(r->word, "param") == 0) {
            s = parse_param(g, r, err);
            continue;
        }
        if (strcmp(r->word, "shader") == 0) {
            char shader[1024];
            if (!word(r) || end_of_command(r) || strlen(r->word) >= sizeof shader) {
                s = bad(r, err, "a shader's name");
                break;
            }
            memcpy(shader, r->word, strlen(r->word) + 1);
            const struct asl_program *p = find(ctx, shader, err);
            bool named = word(r) && !end_of_command(r);
            s = p ? asl_group_layer(g, p, NULL, named ? r->word : NULL, warnings, err)
                  : STATUS_MISSING;
            if (!named)
                continue;
        } else if (strcmp(r->word, "connect") == 0) {
            s = parse_connect(g, r, err);
        } else {
            s = bad(r, err, "'param', 'shader' or 'connect'");
        }
        if (s == STATUS_OK && word(r) && !end_of_command(r))
            s = bad(r, err, "';'");
    }
    free(r);
    return s;
}

/* ---- the rest ------------------------------------------------------------------------------- */

enum status asl_group_finish(struct asl_group *g, struct error *err)
{
    if (g->layer_count == 0)
        return error_msg(err, STATUS_ARG, "the group has no layers");
    /* A layer carries derivatives of its outputs when a layer that reads them needs them: from the
     * last to the first. */
    for (size_t i = g->layer_count; i-- > 0;) {
        const struct asl_layer *to = g->layers[i];
        for (const struct asl_connection *k = to->connections; k; k = k->next) {
            size_t n = 0;
            for (const struct asl_formal *a = to->shader->fn->formals; a; a = a->next, n++)
                if (n == k->to_param && (a->symbol->derivs & to->mode))
                    g->layers[k->from_layer]->mode = 2;
        }
    }
    g->finished = true;
    return STATUS_OK;
}

enum status asl_group_entry(struct asl_group *g, const char *layer, struct error *err)
{
    long i = asl_group_find(g, layer);
    if (i < 0)
        return error_msg(err, STATUS_MISSING, "there is no layer '%s'", layer);
    for (size_t k = 0; k < g->entry_count; k++)
        if (g->entries[k] == (size_t)i)
            return STATUS_OK;
    size_t *more = ARENA_ARRAY(g->arena, size_t, g->entry_count + 1);
    if (!more)
        return no_memory(err);
    if (g->entry_count)
        memcpy(more, g->entries, g->entry_count * sizeof *more);
    more[g->entry_count++] = (size_t)i;
    g->entries = more;
    return STATUS_OK;
}

int32_t asl_layer_isconnected(const struct asl_group *g, const struct asl_layer *l, size_t param)
{
    bool in = l->connected[param] || (g->userdata_isconnected && !l->lockgeom[param]);
    return (in ? 1 : 0) + (l->used_downstream[param] ? 2 : 0);
}

void asl_group_output(struct asl_group *g, const char *name)
{
    const char *dot = strchr(name, '.');
    for (size_t i = g->layer_count; i-- > 0;) {
        struct asl_layer *l = g->layers[i];
        size_t n = dot ? (size_t)(dot - name) : 0;
        if (dot && (strlen(l->name) != n || strncmp(l->name, name, n) != 0))
            continue;
        long p = asl_shader_param(l->shader, dot ? dot + 1 : name);
        if (p >= 0 && l->shader->info.params[p].output) {
            l->used_downstream[p] = true;
            return;
        }
    }
}

void asl_group_userdata_isconnected(struct asl_group *g) { g->userdata_isconnected = true; }

enum status asl_group_alone(struct arena *a, const struct asl_group *g, size_t layer,
                            struct asl_group **out, struct error *err)
{
    const struct asl_layer *from = g->layers[layer];
    const size_t n = from->shader->info.param_count;
    struct asl_group *own = ARENA_NEW(a, struct asl_group);
    struct asl_layer *to = ARENA_NEW(a, struct asl_layer);
    struct asl_layer **list = ARENA_ARRAY(a, struct asl_layer *, 1);
    bool *lockgeom = ARENA_ARRAY(a, bool, n + 1);
    if (!own || !to || !list || !lockgeom)
        return no_memory(err);
    if (n)
        memcpy(lockgeom, from->lockgeom, n * sizeof *lockgeom);
    for (const struct asl_connection *k = from->connections; k; k = k->next) {
        const struct asl_param *p = &from->shader->info.params[k->to_param];
        if (p->output || (!k->to_whole && !from->lockgeom[k->to_param]))
            return error_msg(err, STATUS_UNSUPPORTED, "%s is connected to parameter '%s'",
                             p->output ? "an output" : "a part of what geometry may give", p->name);
        lockgeom[k->to_param] = lockgeom[k->to_param] || k->to_whole; /* geometry is not asked */
    }
    *to = *from;
    to->lockgeom = lockgeom;
    to->connections = NULL;
    to->mode = 2;
    list[0] = to;
    *own = (struct asl_group){.arena = a,
                              .name = g->name,
                              .layers = list,
                              .layer_count = 1,
                              .userdata_isconnected = g->userdata_isconnected,
                              .finished = true};
    *out = own;
    return STATUS_OK;
}

bool asl_group_link_at(const struct asl_group *g, size_t layer, size_t index,
                       struct asl_group_link *out)
{
    const struct asl_connection *k = g->layers[layer]->connections;
    while (k && index--)
        k = k->next;
    if (k)
        *out = (struct asl_group_link){.from_layer = k->from_layer,
                                       .from_param = k->from_param,
                                       .to_param = k->to_param,
                                       .from_slot = k->from_slot,
                                       .to_slot = k->to_slot,
                                       .from_type = k->from_type,
                                       .to_type = k->to_type,
                                       .to_whole = k->to_whole};
    return k != NULL;
}

size_t asl_group_layers(const struct asl_group *g) { return g->layer_count; }
const char *asl_group_layer_name(const struct asl_group *g, size_t layer)
{
    return layer < g->layer_count ? g->layers[layer]->name : NULL;
}
bool asl_group_layer_globals(const struct asl_group *g, size_t layer)
{
    const struct asl_program *p = layer < g->layer_count ? g->layers[layer]->program : NULL;
    for (size_t i = 0; p && i < p->symbol_count; i++)
        if (p->symbols[i]->kind == SYM_GLOBAL && p->symbols[i]->written)
            return true;
    return false;
}
const struct asl_shader_info *asl_group_layer_shader(const struct asl_group *g, size_t layer)
{
    return layer < g->layer_count ? &g->layers[layer]->shader->info : NULL;
}

enum status asl_group_reparam(struct asl_group *g, const char *layer, const struct asl_type *type,
                              const char *name, const char *value, struct error *err)
{
    long i = asl_group_find(g, layer);
    if (i < 0)
        return error_msg(err, STATUS_MISSING, "there is no layer '%s'", layer);
    struct asl_pending p = {
        .name = name, .value = value, .type = type ? *type : asl_type_of(ASL_UNKNOWN)};
    return set_param(g, g->layers[i], &p, NULL, true, err);
}

const char *asl_group_attribute(const struct asl_group *g, const struct asl_layer *l,
                                const struct asl_expr *call)
{
    if (call->arg_count != 2 || call->args[0]->kind != E_STRING ||
        !asl_is(call->args[1]->type, ASL_STRING))
        return NULL;
    const char *name = call->args[0]->u.s;
    return strcmp(name, "shader:shadername") == 0  ? l->shader->info.name
           : strcmp(name, "shader:layername") == 0 ? l->name
           : strcmp(name, "shader:groupname") == 0 ? g->name
                                                   : NULL;
}
