/* SPDX-License-Identifier: Apache-2.0 */
/* shade_results.c: what all engines make results of: texts, messages, failures, grids, and what
 * shaders ask the renderer for. */
#include "shade_engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum status no_memory(struct error *err)
{
    return error_msg(err, STATUS_MEMORY, "out of memory");
}

/* ---- texts and messages --------------------------------------------------------------------- */

static bool strings_grow(struct shade_strings *s)
{
    size_t n = s->slot_count ? 2 * s->slot_count : 64;
    uint32_t *slots = calloc(n, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < s->count; i++) {
        size_t at = hash_text(s->text[i]) & (n - 1);
        while (slots[at])
            at = (at + 1) & (n - 1);
        slots[at] = (uint32_t)i + 1;
    }
    free(s->slots);
    s->slots = slots;
    s->slot_count = n;
    return true;
}

uint32_t shade_string_id(struct shade_strings *s, const char *text)
{
    if (2 * s->count >= s->slot_count && !strings_grow(s)) {
        s->failed = true;
        return 0;
    }
    size_t at = hash_text(text) & (s->slot_count - 1);
    for (; s->slots[at]; at = (at + 1) & (s->slot_count - 1))
        if (strcmp(s->text[s->slots[at] - 1], text) == 0)
            return s->slots[at] - 1;
    if (s->count == s->cap) {
        size_t cap = s->cap ? 2 * s->cap : 64;
        const char **more = ARENA_ARRAY(s->arena, const char *, cap);
        if (more && s->count)
            memcpy((void *)more, (const void *)s->text, s->count * sizeof *more);
        s->failed = s->failed || !more;
        if (!more)
            return 0;
        s->text = more;
        s->cap = cap;
    }
    char *copy = arena_strdup(s->arena, text);
    s->failed = s->failed || !copy;
    if (!copy)
        return 0;
    s->text[s->count] = copy;
    s->slots[at] = (uint32_t)++s->count;
    return (uint32_t)s->count - 1;
}

void shade_strings_free(struct shade_strings *s)
{
    free(s->slots);
    s->slots = NULL;
}

/* Was it said by this point or one before? Else this one is the first. */
static bool said_before(struct shade_log *log, size_t point, enum asl_message kind, const char *to,
                        const char *text)
{
    const size_t before = log->said.count, room = log->said.cap;
    log->said.arena = &log->arena;
    log->key.len = 0;
    text_printf(&log->key, "%d %s\n%s", (int)kind, to, text);
    const uint32_t id = log->key.failed ? 0 : shade_string_id(&log->said, log->key.data);
    if (log->said.cap > room) {
        size_t *more = ARENA_ARRAY(&log->arena, size_t, log->said.cap);
        if (more && before)
            memcpy(more, log->first, before * sizeof *more);
        log->first = more;
    }
    log->failed = log->failed || log->key.failed || log->said.failed || !log->first;
    if (log->failed || (id < before && log->first[id] <= point))
        return true;
    log->first[id] = point;
    return false;
}

void shade_log_message(struct shade_log *log, size_t point, enum asl_message kind, const char *to,
                       const char *text, bool repeats)
{
    if (!repeats && (kind == ASL_MSG_ERROR || kind == ASL_MSG_WARNING) &&
        said_before(log, point, kind, to, text))
        return;
    unsigned char letter = (unsigned char)kind;
    text_append(&log->text, (const char *)&point, sizeof point);
    text_append(&log->text, (const char *)&letter, 1);
    text_append(&log->text, to, strlen(to) + 1);
    text_append(&log->text, text, strlen(text) + 1);
}

static const char *log_next(const char *p, struct shade_message *m)
{
    memcpy(&m->point, p, sizeof m->point);
    p += sizeof m->point;
    m->kind = (enum asl_message)(unsigned char)*p++;
    m->to = p;
    m->text = m->to + strlen(m->to) + 1;
    return m->text + strlen(m->text) + 1;
}

/* Rows of points speak statement by statement: back into the order of points. */
static int message_order(const void *a, const void *b)
{
    const struct shade_message *x = a, *y = b;
    if (x->point != y->point)
        return x->point < y->point ? -1 : 1;
    return x->text < y->text ? -1 : x->text > y->text; /* both still lie in one log, in order */
}

static enum status logs_collect(const struct shade_unit *units, size_t count, bool repeats,
                                struct shade_result *out, struct error *err)
{
    struct shade_strings said[2] = {{.arena = &out->arena}, {.arena = &out->arena}};
    struct shade_strings texts = {.arena = &out->arena};
    struct shade_message m;
    size_t n = 0;
    bool failed = false;
    for (size_t i = 0; i < count; i++) {
        const struct text *t = &units[i].log.text;
        failed = failed || t->failed || units[i].log.failed;
        for (const char *p = t->data; p && p < t->data + t->len; n++)
            p = log_next(p, &m);
    }
    struct shade_message *list = ARENA_ARRAY(&out->arena, struct shade_message, n);
    failed = failed || !list;
    n = 0;
    for (size_t i = 0; !failed && i < count; i++) { /* logs follow each other in points */
        const struct text *t = &units[i].log.text;
        size_t first = n;
        for (const char *p = t->data; p && p < t->data + t->len;)
            p = log_next(p, &list[n++]);
        qsort(list + first, n - first, sizeof *list, message_order);
    }
    size_t kept = 0;
    for (size_t i = 0; !failed && i < n; i++) {
        m = list[i];
        if (!repeats && (m.kind == ASL_MSG_ERROR || m.kind == ASL_MSG_WARNING)) {
            struct shade_strings *s = &said[m.kind == ASL_MSG_ERROR];
            size_t before = s->count;
            char *whole = arena_printf(&out->arena, "%s\n%s", m.to, m.text);
            (void)shade_string_id(s, whole ? whole : m.text);
            if (s->count == before)
                continue;
        }
        uint32_t to = shade_string_id(&texts, m.to), text = shade_string_id(&texts, m.text);
        failed = texts.failed || said[0].failed || said[1].failed;
        if (failed)
            break;
        m.to = texts.text[to];
        m.text = texts.text[text];
        list[kept++] = m;
    }
    shade_strings_free(&said[0]);
    shade_strings_free(&said[1]);
    shade_strings_free(&texts);
    if (failed)
        return no_memory(err);
    out->messages = list;
    out->message_count = kept;
    return STATUS_OK;
}

void shade_log_cut(struct shade_log *log, size_t point)
{
    struct shade_message m;
    size_t kept = 0;
    for (const char *p = log->text.data, *next; p && p < log->text.data + log->text.len; p = next) {
        next = log_next(p, &m);
        size_t n = (size_t)(next - p);
        if (m.point < point) {
            memmove(log->text.data + kept, p, n);
            kept += n;
        }
    }
    log->text.len = kept;
    for (size_t i = 0; log->first && i < log->said.count; i++)
        if (log->first[i] >= point)
            log->first[i] = SIZE_MAX; /* it may be said again */
}

static bool is_text(struct asl_type t, size_t slot)
{
    enum asl_base scalar = asl_type_scalar(t, slot);
    return scalar == ASL_STRING || scalar == ASL_CLOSURE;
}

static enum status strings_number(const struct shade_unit *units, size_t unit_points,
                                  struct shade_result *out, struct error *err)
{
    struct shade_strings numbers = {.arena = &out->arena};
    bool failed = false;
    for (size_t k = 0; k < out->output_count; k++) {
        const struct shade_output *o = &out->outputs[k];
        bool texts = false;
        for (size_t j = 0; j < o->slots; j++)
            texts = texts || is_text(o->type, j);
        for (size_t i = 0; texts && i < out->count; i++) {
            const struct text *t = &units[i / unit_points].strings;
            failed = failed || t->failed || t->len > UINT32_MAX;
            for (size_t j = 0; o->ran[i] && !failed && j < o->slots; j++) {
                uint32_t *word = &o->words[i * o->slots + j];
                if (is_text(o->type, j))
                    *word = shade_string_id(&numbers, t->data + *word);
            }
        }
    }
    failed = failed || numbers.failed;
    shade_strings_free(&numbers);
    out->strings = numbers.text;
    out->string_count = numbers.count;
    return failed ? no_memory(err) : STATUS_OK;
}

static enum status failures_collect(const struct shade_unit *units, size_t count,
                                    struct shade_result *out, struct error *err)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        n += units[i].failures.len / sizeof *out->failures;
    out->failures = ARENA_ARRAY(&out->arena, struct shade_failure, n);
    if (!out->failures)
        return no_memory(err);
    for (size_t i = 0; i < count; i++) {
        size_t m = units[i].failures.len / sizeof *out->failures;
        if (m)
            memcpy(out->failures + out->failure_count, units[i].failures.data,
                   m * sizeof *out->failures);
        out->failure_count += m;
    }
    return STATUS_OK;
}

enum status shade_units_collect(const struct shade_unit *units, size_t count, size_t unit_points,
                                bool repeats, struct shade_result *out, struct error *err)
{
    enum status st = strings_number(units, unit_points, out, err);
    if (st == STATUS_OK)
        st = logs_collect(units, count, repeats, out, err);
    return st == STATUS_OK ? failures_collect(units, count, out, err) : st;
}

void shade_units_free(struct shade_unit *units, size_t count)
{
    for (size_t i = 0; units && i < count; i++) {
        text_free(&units[i].log.text);
        text_free(&units[i].log.key);
        shade_strings_free(&units[i].log.said);
        arena_free(&units[i].log.arena);
        text_free(&units[i].strings);
        text_free(&units[i].failures);
    }
}

void shade_result_free(struct shade_result *r)
{
    if (!r)
        return;
    arena_free(&r->arena);
    *r = (struct shade_result){0};
}

/* ---- points --------------------------------------------------------------------------------- */

void shade_grid_globals(const struct shade_grid *grid, size_t point, struct asl_globals *g)
{
    *g = (struct asl_globals){0};
    double w = grid->width, h = grid->height;
    size_t row = point / grid->width;
    double x = (double)(point % grid->width), y = (double)row;
    bool natural = grid->scale[0] == 0 && grid->scale[1] == 0;
    double sx = natural ? 1 : grid->scale[0], sy = natural ? 1 : grid->scale[1];
    double u = grid->center ? (x + 0.5) / w : grid->width > 1 ? x / (w - 1) : 0.5;
    double v = grid->center ? (y + 0.5) / h : grid->height > 1 ? y / (h - 1) : 0.5;
    double du = grid->center ? 1 / w : 1 / (grid->width > 1 ? w - 1 : 1);
    double dv = grid->center ? 1 / h : 1 / (grid->height > 1 ? h - 1 : 1);
    g->u.v = (float)(u * sx + grid->offset[0]);
    g->v.v = (float)(v * sy + grid->offset[1]);
    g->u.dx = (float)(du * sx);
    g->v.dy = (float)(dv * sy);
    float a = g->u.v, b = g->v.v;
    double px = grid->width > 1 ? w - 1 : 1,
           py = grid->height > 1 ? h - 1 : 1; /* `center` or not */
    g->P = (struct asl_dual3){{a, b, 1}, {(float)(sx / px), 0, 0}, {0, (float)(sy / py), 0}};
    if (grid->vary_u)
        g->u = (struct asl_dual){a, 1 - a, a};
    if (grid->vary_v)
        g->v = (struct asl_dual){b, 1 - b, b};
    if (grid->vary_p)
        g->P = (struct asl_dual3){{a, b, 1}, {1 - a, 1 - b, a * 0.5f}, {1 - b, 1 - a, b * 0.5f}};
    g->N.v[2] = g->Ng[2] = 1;
    g->dPdu[0] = g->dPdv[1] = 1;
    g->surfacearea = 1;
    g->raytype = grid->raytype;
}

/* ---- what shaders ask for ------------------------------------------------------------------- */

static bool userdata_convert(const struct shade_userdata *u, struct asl_type type,
                             union asl_slot *value)
{
    size_t n = asl_type_slots(type);
    if (u->count != n && u->count != 1)
        return false;
    for (size_t k = 0; k < n; k++) {
        float v = u->v[u->count == 1 ? 0 : k];
        if (asl_type_scalar(type, k) == ASL_INT)
            value[k].i = (int32_t)v;
        else if (asl_type_scalar(type, k) == ASL_FLOAT)
            value[k].f = v;
        else
            return false;
    }
    return true;
}

static struct asl_dual one_minus(struct asl_dual x)
{
    return (struct asl_dual){1 - x.v, -x.dx, -x.dy};
}

/* The data that OSL's testshade has at every point, or at some. */
static bool grid_userdata(const struct asl_globals *g, const char *name, struct asl_dual *out)
{
    if (strcmp(name, "s") == 0)
        *out = g->u;
    else if (strcmp(name, "t") == 0)
        *out = g->v;
    else if (strcmp(name, "red") == 0 && g->P.v[0] > 0.5f)
        *out = g->u;
    else if (strcmp(name, "green") == 0 && g->P.v[0] < 0.5f)
        *out = g->v;
    else if (strcmp(name, "blue") == 0 && fmod(trunc((double)(g->P.v[1] * 12)), 2) == 0)
        *out = one_minus(g->u);
    else
        return false;
    return true;
}

static bool on_userdata(void *ctx, const char *name, struct asl_type type, union asl_slot *value)
{
    const struct shade_asker *a = ctx;
    const struct shade *s = a->shade;
    for (size_t i = 0; i < s->opt.userdata_count; i++)
        if (strcmp(s->opt.userdata[i].name, name) == 0 &&
            (s->opt.userdata[i].count == asl_type_slots(type) || s->opt.userdata[i].count == 1))
            return userdata_convert(&s->opt.userdata[i], type, value);
    struct asl_dual x;
    if (asl_type_slots(type) != 1 || asl_type_scalar(type, 0) != ASL_FLOAT ||
        !grid_userdata(a->globals, name, &x))
        return false;
    value[0].f = x.v;
    value[1].f = x.dx;
    value[2].f = x.dy;
    return true;
}

/* The camera and the options that OSL's testshade has, so that its users' shaders say the same. */
static const struct attribute {
    const char *object, *name; /* object NULL: whatever it is */
    enum asl_base base;
    int array;
    float v[4];
} attributes[] = {
    {NULL, "osl:version", ASL_INT, 0, {11300}},
    {NULL, "camera:pixelaspect", ASL_FLOAT, 0, {1}},
    {NULL, "camera:fov", ASL_FLOAT, 0, {90}},
    {NULL, "camera:clip", ASL_FLOAT, 2, {0.1F, 1000}},
    {NULL, "camera:clip_near", ASL_FLOAT, 0, {0.1F}},
    {NULL, "camera:clip_far", ASL_FLOAT, 0, {1000}},
    {NULL, "camera:shutter", ASL_FLOAT, 2, {0, 1}},
    {NULL, "camera:shutter_open", ASL_FLOAT, 0, {0}},
    {NULL, "camera:shutter_close", ASL_FLOAT, 0, {1}},
    {"options", "blahblah", ASL_FLOAT, 0, {3.14159F}},
};

static bool of_grid(const struct shade_grid *g, const char *name, struct asl_type type,
                    union asl_slot *value)
{
    if (strcmp(name, "camera:resolution") == 0 && type.base == ASL_INT && type.array == 2) {
        value[0].i = (int32_t)g->width;
        value[1].i = (int32_t)g->height;
        return true;
    }
    if (strcmp(name, "camera:projection") == 0 && type.base == ASL_STRING && !type.array) {
        value[0].s = "perspective";
        return true;
    }
    if (strcmp(name, "camera:screen_window") == 0 && type.base == ASL_FLOAT && type.array == 4) {
        float aspect = (float)g->width / (float)(g->height ? g->height : 1);
        const float window[4] = {-aspect, -1, aspect, 1};
        for (int k = 0; k < 4; k++)
            value[k].f = window[k];
        return true;
    }
    return false;
}

static bool on_attribute(void *ctx, const char *object, const char *name, int index,
                         struct asl_type type, union asl_slot *value)
{
    const struct shade_asker *asker = ctx;
    if (strcmp(name, "shading:index") == 0 && type.base == ASL_INT && !type.array) {
        value[0].i = (int32_t)asker->point;
        return true;
    }
    if (of_grid(&asker->points->grid, name, type, value))
        return true;
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        const struct attribute *a = &attributes[i];
        if (strcmp(a->name, name) != 0 || (a->object && strcmp(a->object, object) != 0) ||
            a->base != type.base || a->array != type.array)
            continue;
        for (int k = 0; k < (a->array ? a->array : 1); k++) {
            if (a->base == ASL_INT)
                value[k].i = (int32_t)a->v[k];
            else
                value[k].f = a->v[k];
        }
        return true;
    }
    return !*object && index == -1 && on_userdata(ctx, name, type, value);
}

static bool on_space(void *ctx, const char *name, float to_common[16])
{
    const struct shade_asker *a = ctx;
    const struct shade_options *o = &a->shade->opt;
    for (size_t i = 0; i < o->space_count; i++)
        if (strcmp(o->spaces[i].name, name) == 0) {
            memcpy(to_common, o->spaces[i].to_common, sizeof o->spaces[i].to_common);
            return true;
        }
    return false;
}

static const struct asl_image *on_image(void *ctx, const char *name)
{
    const struct shade_asker *a = ctx;
    const struct shader_images *images = a->shade->opt.images;
    return images ? shader_images_find(images, name) : NULL;
}

static const char *on_image_fault(void *ctx, const char *name)
{
    const struct shade_asker *a = ctx;
    const struct shader_images *images = a->shade->opt.images;
    return images ? shader_images_fault(images, name) : NULL;
}

struct asl_services shade_services(struct shade_asker *a,
                                   void (*message)(void *ctx, enum asl_message kind, const char *to,
                                                   const char *text))
{
    return (struct asl_services){.ctx = a,
                                 .message = message,
                                 .space = on_space,
                                 .attribute = on_attribute,
                                 .userdata = on_userdata,
                                 .image = on_image,
                                 .image_fault = on_image_fault};
}

void shade_asker_set(struct shade_asker *a, size_t i, struct asl_globals *room)
{
    const struct shade_points *p = a->points;
    a->point = p->first + i;
    a->globals = p->globals ? &p->globals[i] : room;
    if (!p->globals)
        shade_grid_globals(&p->grid, a->point, room);
}
