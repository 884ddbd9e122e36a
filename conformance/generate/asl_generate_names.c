/* SPDX-License-Identifier: Apache-2.0 */
/* Dice, coverage and the names in scope of generated programs. */
#include "asl_generator.h"

#include <stdarg.h>
#include <string.h>

/* ---- dice ------------------------------------------------------------------------------------ */

void dice_seed(struct dice *d, uint64_t seed)
{
    *d = (struct dice){.key = {(uint32_t)seed, (uint32_t)(seed >> 32)}};
}

uint32_t dice_roll(struct dice *d, uint32_t sides)
{
    if (!d->left) {
        philox4x32(d->counter, d->key, d->word);
        d->counter[0]++;
        d->left = 4;
    }
    return (uint32_t)(((uint64_t)d->word[--d->left] * sides) >> 32);
}

bool dice_chance(struct dice *d, unsigned percent) { return dice_roll(d, 100) < percent; }

uint32_t roll(struct generator *g, uint32_t sides) { return dice_roll(&g->dice, sides); }
bool chance(struct generator *g, unsigned percent) { return dice_chance(&g->dice, percent); }

/* ---- coverage -------------------------------------------------------------------------------- */

static const struct {
    unsigned section;
    const char *text;
} constructs[] = {
#define CONSTRUCT(id, section, text) {section, text},
#include "asl_constructs.def"
#undef CONSTRUCT
};

struct asl_coverage {
    size_t programs, *construct, *signature;
};

enum status asl_coverage_new(struct arena *a, struct asl_coverage **out, struct error *err)
{
    size_t count;
    (void)signatures_all(&count);
    struct asl_coverage *c = ARENA_NEW(a, struct asl_coverage);
    if (c) {
        c->construct = ARENA_ARRAY(a, size_t, CONSTRUCT_COUNT);
        c->signature = ARENA_ARRAY(a, size_t, count);
    }
    if (!c || !c->construct || !c->signature)
        return error_msg(err, STATUS_MEMORY, "out of memory for the coverage table");
    *out = c;
    return STATUS_OK;
}

void coverage_add(struct asl_coverage *c, const bool *construct, const bool *signature)
{
    size_t count;
    (void)signatures_all(&count);
    c->programs++;
    for (size_t i = 0; i < CONSTRUCT_COUNT; i++)
        c->construct[i] += construct[i];
    for (size_t i = 0; i < count; i++)
        c->signature[i] += signature[i];
}

static void signature_text(const struct signature *s, struct text *out)
{
    char type[ASL_TYPE_TEXT_SIZE];
    text_printf(out, "%s %s(",
                asl_type_text((struct asl_type){.base = s->result}, type, sizeof type),
                s->row->name);
    for (unsigned i = 0; i < s->count; i++) {
        struct asl_type t = {.base = s->arg[i].base, .array = s->arg[i].array ? -1 : 0};
        text_printf(out, "%s%s%s", i ? ", " : "", s->arg[i].output ? "output " : "",
                    s->arg[i].base == ASL_UNKNOWN ? "any" : asl_type_text(t, type, sizeof type));
    }
    text_printf(out, "%s)", s->tail ? (s->count ? ", ..." : "...") : "");
}

size_t asl_coverage_missing(const struct asl_coverage *c)
{
    size_t count, missing = 0;
    const struct signature *s = signatures_all(&count);
    for (size_t i = 0; i < CONSTRUCT_COUNT; i++)
        missing += c->construct[i] == 0;
    for (size_t i = 0; i < count; i++)
        missing += !signature_is_special(&s[i]) && c->signature[i] == 0;
    return missing;
}

size_t asl_coverage_programs(const struct asl_coverage *c) { return c->programs; }

void asl_coverage_print(const struct asl_coverage *c, bool only_missing, struct text *out)
{
    size_t count, rows = CONSTRUCT_COUNT;
    const struct signature *s = signatures_all(&count);
    text_printf(out, "%-8s %-52s %s\n", "section", "construct", "programs");
    for (size_t i = 0; i < CONSTRUCT_COUNT; i++)
        if (!only_missing || c->construct[i] == 0)
            text_printf(out, "%-8u %-52s %zu\n", constructs[i].section, constructs[i].text,
                        c->construct[i]);
    for (size_t i = 0; i < count; i++) {
        struct text t = {0};
        if (signature_is_special(&s[i]))
            continue;
        rows++;
        if (only_missing && c->signature[i])
            continue;
        signature_text(&s[i], &t);
        text_printf(out, "%-8u %-52s %zu\n", 20, t.data ? t.data : "", c->signature[i]);
        text_free(&t);
    }
    text_printf(out, "%zu programs, %zu rows, %zu of them in no program\n", c->programs, rows,
                asl_coverage_missing(c));
}

void cover(struct generator *g, enum asl_construct c) { g->constructs[c] = true; }

/* ---- writing --------------------------------------------------------------------------------- */

void put(struct generator *g, const char *fmt, ...)
{
    char buf[512];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(buf, sizeof buf, fmt, ap);
    va_end(ap);
    if (n > 0)
        text_append(g->out, buf, (size_t)n < sizeof buf ? (size_t)n : sizeof buf - 1);
}

const char *kind_name(const struct generator *g, struct kind k)
{
    static const char *const names[] = {[ASL_UNKNOWN] = "int",
                                        [ASL_VOID] = "void",
                                        [ASL_INT] = "int",
                                        [ASL_FLOAT] = "float",
                                        [ASL_COLOR] = "color",
                                        [ASL_POINT] = "point",
                                        [ASL_VECTOR] = "vector",
                                        [ASL_NORMAL] = "normal",
                                        [ASL_MATRIX] = "matrix",
                                        [ASL_STRING] = "string",
                                        [ASL_CLOSURE] = "closure color"};
    return k.base == ASL_STRUCT ? g->structs[k.st].name : names[k.base];
}

/* ---- variables and places -------------------------------------------------------------------- */

struct variable *declare(struct generator *g, const char *prefix, struct kind k, bool writable)
{
    if (g->var_count == MAX_VARS)
        g->var_count--; /* the newest name is forgotten, no harm */
    struct variable *v = &g->vars[g->var_count++];
    *v = (struct variable){.kind = k, .writable = writable};
    (void)snprintf(v->name, sizeof v->name, "%s%u", prefix, g->names++);
    return v;
}

static bool is_hidden(const struct generator *g, size_t i)
{
    for (size_t k = i + 1; k < g->var_count; k++)
        if (strcmp(g->vars[k].name, g->vars[i].name) == 0)
            return true;
    return false;
}

const struct variable *pick_variable(struct generator *g, struct kind k, bool writable)
{
    const struct variable *chosen = NULL;
    uint32_t seen = 0;
    for (size_t i = 0; i < g->var_count; i++)
        if (same_kind(g->vars[i].kind, k) && (!writable || g->vars[i].writable) &&
            !is_hidden(g, i) && roll(g, ++seen) == 0)
            chosen = &g->vars[i];
    return chosen;
}

struct search {
    enum asl_base wanted;
    uint32_t seen;
    char *place;
    enum asl_construct how;
    bool found;
};

static void consider(struct generator *g, struct search *s, const char *path,
                     enum asl_construct how)
{
    if (strlen(path) >= 64 || roll(g, ++s->seen) != 0)
        return;
    memcpy(s->place, path, strlen(path) + 1);
    s->how = how;
    s->found = true;
}

/* An index into n elements: a constant, or a variable kept in range, or now and then not. */
static enum asl_construct write_index(struct generator *g, int n, char *index, size_t size)
{
    struct kind k = {ASL_INT, 0, 0};
    const struct variable *v = pick_variable(g, k, false);
    if (v && g->in_shader && chance(g, 4)) {
        (void)snprintf(index, size, "%s %% 7", v->name);
        return CONSTRUCT_INDEX_OUTSIDE;
    }
    if (v && n > 1 && chance(g, 50)) {
        (void)snprintf(index, size, "%s & %d", v->name, n > 3 ? 3 : 1);
        return CONSTRUCT_INDEX_RUNTIME;
    }
    (void)snprintf(index, size, "%u", roll(g, (uint32_t)n));
    return CONSTRUCT_INDEX_CONSTANT;
}

/* Every place of the wanted type inside the place `path` of kind k. */
static void search_places(struct generator *g, struct search *s, struct kind k, const char *path,
                          enum asl_construct how)
{
    char next[128], index[40];
    if (k.array) {
        how = write_index(g, k.array, index, sizeof index);
        (void)snprintf(next, sizeof next, "%s[%s]", path, index);
        search_places(g, s, (struct kind){k.base, 0, k.st}, next, how);
    } else if (k.base == ASL_STRUCT) {
        const struct structure *t = &g->structs[k.st];
        for (unsigned i = 0; i < t->count; i++) {
            (void)snprintf(next, sizeof next, "%s.%s", path, t->field[i].name);
            search_places(g, s, t->field[i].kind, next, how);
        }
    } else if (k.base == s->wanted) {
        consider(g, s, path, how);
    } else if (s->wanted == ASL_FLOAT && is_triple(k.base)) {
        if (chance(g, 50)) {
            (void)write_index(g, 3, index, sizeof index);
            (void)snprintf(next, sizeof next, "%s[%s]", path, index);
            consider(g, s, next, CONSTRUCT_COMPONENT_INDEX);
        } else {
            (void)snprintf(next, sizeof next, "%s.%c", path,
                           (k.base == ASL_COLOR ? "rgb" : "xyz")[roll(g, 3)]);
            consider(g, s, next, CONSTRUCT_COMPONENT_NAME);
        }
    } else if (s->wanted == ASL_FLOAT && k.base == ASL_MATRIX) {
        (void)write_index(g, 4, index, sizeof index);
        (void)snprintf(next, sizeof next, "%s[%u][%s]", path, roll(g, 4), index);
        consider(g, s, next, CONSTRUCT_MATRIX_ELEMENT);
    }
}

bool pick_place(struct generator *g, enum asl_base base, bool writable, char place[64])
{
    struct search s = {.wanted = base, .place = place};
    for (size_t i = 0; i < g->var_count; i++)
        if ((!writable || g->vars[i].writable) && !is_hidden(g, i))
            search_places(g, &s, g->vars[i].kind, g->vars[i].name, CONSTRUCT_COUNT);
    if (s.found && s.how != CONSTRUCT_COUNT)
        cover(g, s.how);
    return s.found;
}
