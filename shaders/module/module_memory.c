/* SPDX-License-Identifier: Apache-2.0 */
/* module_memory.c: what pointers point to. Where each pointer points is found when the shader is
 * written: into one variable of known size, by an offset that may move. So memory becomes variables
 * of ASL, and arrays whose indices ASL checks. */
#include "module/writer.h"

#include <string.h>

enum { WORD_USED = 4, POINT_WORDS = 21, POINTER_DEPTH = 500, INDEX_MOST = 16384 };

static const char *const point_words[POINT_WORDS] = {
    "P[0]",    "P[1]",    "P[2]",    "N[0]",    "N[1]", "N[2]",    "Ng[0]",
    "Ng[1]",   "Ng[2]",   "I[0]",    "I[1]",    "I[2]", "dPdu[0]", "dPdu[1]",
    "dPdu[2]", "dPdv[0]", "dPdv[1]", "dPdv[2]", "u",    "v",       "time"};

/* ---- objects -------------------------------------------------------------------------------------- */

static uint32_t words_of(const struct object *o) { return (uint32_t)((o->size + 3) / 4); }

struct object *object_new(struct writer *w, enum object_kind kind, uint64_t size)
{
    if (size > 4 * (uint64_t)ASL_MAX_ARRAY)
        module_refuse(w->m, w->at, NULL, "a variable of more than %d words", ASL_MAX_ARRAY);
    if (w->object_next == WRITER_OBJECTS)
        module_refuse(w->m, w->at, NULL, "more than %d variables in memory", (int)WRITER_OBJECTS);
    if (w->object_next < w->object_count)
        return w->objects[w->object_next++];
    struct object *o = ASL_NEW(w->c, struct object);
    o->kind = kind;
    o->size = size;
    o->kinds = ASL_ARRAY(w->c, uint8_t, words_of(o) + 1);
    o->number = (uint32_t)w->object_next++;
    w->objects = asl_grow(w->c, w->objects, w->object_count, &w->object_cap, w->object_count + 1,
                          sizeof(struct object *));
    w->objects[w->object_count++] = o;
    w->learnt = true;
    return o;
}

static void mark(struct writer *w, struct object *o, uint32_t word, uint8_t kind)
{
    if ((o->kinds[word] & kind) != kind) {
        o->kinds[word] |= kind;
        w->learnt = true;
    }
    if (o->high <= word) {
        o->high = word + 1;
        w->learnt = true;
    }
}

static void learn(struct writer *w, bool *fact)
{
    w->learnt = w->learnt || !*fact;
    *fact = true;
}

/* Is the word a float of ASL, or an int? */
static bool is_real(const struct object *o, uint32_t word)
{
    uint8_t kinds = o->kinds[word];
    if (o->kind == OBJECT_POINT)
        return true;
    if (o->kind == OBJECT_OUTPUT && (!o->guessed || o->high > 1))
        return o->guessed || o->type != ASL_INT;
    if (o->kind == OBJECT_OUTPUT)
        return (kinds & (WORD_INT | WORD_FLOAT)) != WORD_INT;
    for (uint32_t k = 0; o->moving && k < words_of(o); k++)
        kinds |= o->kinds[k];
    return (kinds & (WORD_INT | WORD_FLOAT)) == WORD_FLOAT;
}

enum asl_base object_output_type(const struct object *o)
{
    return o->high > 1 ? ASL_COLOR : is_real(o, 0) ? ASL_FLOAT : ASL_INT;
}

/* The constant at byte `at` of a global's value, into its words. */
static void image_put(struct writer *w, struct object *o, const struct module_value *v, uint64_t at)
{
    const struct module_type *t = v->type;
    if (v->kind == VALUE_AGGREGATE) {
        for (size_t k = 0; k < v->count; k++) {
            uint64_t offset = t->kind == MODULE_STRUCT
                                  ? module_field_offset(w->m, t, k, w->at)
                                  : k * module_type_size(w->m, t->of[0], w->at);
            image_put(w, o, v->ops[k], at + offset);
        }
    } else if (v->kind == VALUE_INT || v->kind == VALUE_FLOAT) {
        uint64_t size = module_type_size(w->m, t, w->at);
        for (uint64_t b = 0; b < size && b < 8; b++)
            o->image[(at + b) / 4] |= (uint32_t)(v->bits >> (8 * b) & 255) << (8 * ((at + b) % 4));
        for (uint64_t b = 0; b < size; b += 4)
            o->kinds[(at + b) / 4] |= v->kind == VALUE_FLOAT ? WORD_FLOAT : WORD_INT;
    } else if (v->kind != VALUE_ZERO) {
        module_refuse(w->m, v->at, NULL, "@%s holds more than numbers", o->global->name);
    }
}

struct object *object_of_global(struct writer *w, const struct module_global *g)
{
    for (size_t i = 0; i < w->global_count; i++)
        if (w->globals[i]->global == g)
            return w->globals[i];
    if (!g->initial)
        module_refuse(w->m, w->at, NULL, "@%s has no value in this file", g->name);
    struct object *o = ASL_NEW(w->c, struct object);
    o->kind = OBJECT_GLOBAL;
    o->global = g;
    o->size = module_type_size(w->m, g->type, g->at);
    if (o->size > 4 * (uint64_t)ASL_MAX_ARRAY)
        module_refuse(w->m, g->at, NULL, "@%s has more than %d words", g->name, ASL_MAX_ARRAY);
    o->kinds = ASL_ARRAY(w->c, uint8_t, words_of(o) + 1);
    o->image = ASL_ARRAY(w->c, uint32_t, words_of(o) + 2);
    image_put(w, o, g->initial, 0);
    o->number = WRITER_OBJECTS + (uint32_t)w->global_count;
    w->globals = asl_grow(w->c, w->globals, w->global_count, &w->global_cap, w->global_count + 1,
                          sizeof(struct object *));
    w->globals[w->global_count++] = o;
    return o;
}

/* The text of a word: a variable, an element, or a component. */
static const char *word_text(struct writer *w, struct object *o, uint32_t word)
{
    if (o->kind == OBJECT_POINT && !o->moving)
        return point_words[word];
    if (o->kind == OBJECT_OUTPUT && (o->guessed ? o->high > 1 : o->size > 4))
        return asl_sprintf(w->c, "%s[%u]", o->name, word);
    if (o->kind == OBJECT_OUTPUT)
        return o->name;
    return asl_sprintf(w->c, o->moving ? "m%u__c[%u]" : "m%u_%u__c", o->number, word);
}

static void declare(struct writer *w, const struct object *o)
{
    uint32_t n = words_of(o);
    if (o->kind == OBJECT_OUTPUT || (!o->moving && o->kind != OBJECT_LOCAL))
        return;
    for (uint32_t k = 0; !o->moving && k < n; k++)
        if (o->kinds[k] & WORD_USED)
            text_printf(&w->declared, "%s m%u_%u__c;\n", is_real(o, k) ? "float" : "int", o->number,
                        k);
    if (!o->moving || n == 0)
        return;
    text_printf(&w->declared, "%s m%u__c[%u]", is_real(o, 0) ? "float" : "int", o->number, n);
    for (uint32_t k = 0; o->kind != OBJECT_LOCAL && k < n; k++)
        text_printf(&w->declared, "%s%s", k ? ", " : " = {",
                    o->kind == OBJECT_POINT ? point_words[k]
                    : is_real(o, 0)         ? float_text(w, o->image[k])
                                            : int_text(w, o->image[k]));
    text_puts(&w->declared, o->kind == OBJECT_LOCAL ? ";\n" : "};\n");
}

void objects_declare(struct writer *w)
{
    for (size_t i = 0; i < w->object_count; i++)
        declare(w, w->objects[i]);
    for (size_t i = 0; i < w->global_count; i++)
        declare(w, w->globals[i]);
}

/* ---- words ------------------------------------------------------------------------------------------ */

/* Word at a pointer: its number, or in *moves the text of an index. */
static uint32_t word_at(struct writer *w, const struct part *p, int64_t at, const char **moves)
{
    struct object *o = p->object;
    int64_t byte = p->offset + at;
    *moves = NULL;
    if (o->kind == OBJECT_NULL)
        module_refuse(w->m, w->at, NULL, "memory behind a null pointer");
    if (!p->moving) {
        if (byte < 0 || (uint64_t)byte + 4 > 4 * (uint64_t)words_of(o))
            module_refuse(w->m, w->at, NULL, "byte %lld of a variable of %llu bytes",
                          (long long)byte, (unsigned long long)o->size);
        return (uint32_t)(byte / 4);
    }
    if (o->kind == OBJECT_OUTPUT && o->size == 4)
        module_refuse(w->m, w->at, NULL, "an output that is one number has an index");
    learn(w, &o->moving);
    mark(w, o, words_of(o) ? words_of(o) - 1 : 0, 0);
    if (o->bytes)
        *moves = asl_sprintf(w->c, "(%s + %s) >> 2", p->moving, int_text(w, (uint32_t)byte));
    else if (byte == 0)
        *moves = p->moving;
    else
        *moves = asl_sprintf(w->c, "%s + %s", p->moving, int_text(w, (uint32_t)(byte / 4)));
    if (byte % 4 != 0 && !o->bytes)
        learn(w, &o->bytes);
    return 0;
}

static const char *element_text(struct writer *w, const struct object *o, const char *moves)
{
    if (o->kind == OBJECT_OUTPUT)
        return asl_sprintf(w->c, "%s[%s]", o->name, moves);
    return asl_sprintf(w->c, "m%u__c[%s]", o->number, moves);
}

/* The word as a float or an int. */
static const char *word_read(struct writer *w, const struct part *p, int64_t at, bool real)
{
    const char *moves;
    struct object *o = p->object;
    uint32_t word = word_at(w, p, at, &moves);
    if (o->kind == OBJECT_GLOBAL && !moves)
        return real ? float_text(w, o->image[word]) : int_text(w, o->image[word]);
    mark(w, o, word, WORD_USED | (real ? WORD_FLOAT : WORD_INT));
    const char *text = moves ? element_text(w, o, moves) : word_text(w, o, word);
    bool is = is_real(o, word);
    return is == real ? text : asl_sprintf(w->c, real ? "real__c(%s)" : "bits__c(%s)", text);
}

static void word_write(struct writer *w, const struct part *p, int64_t at, const char *text,
                       bool real)
{
    const char *moves;
    struct object *o = p->object;
    uint32_t word = word_at(w, p, at, &moves);
    if (o->kind == OBJECT_POINT)
        module_refuse(w->m, w->at, NULL, "the point is written, which is const");
    if (o->kind == OBJECT_GLOBAL)
        module_refuse(w->m, w->at, NULL, "@%s is written: shaders keep nothing", o->global->name);
    mark(w, o, word, WORD_USED | (real ? WORD_FLOAT : WORD_INT));
    const char *to = moves ? element_text(w, o, moves) : word_text(w, o, word);
    bool is = is_real(o, word);
    if (is == real)
        write_line(w, "%s = %s;", to, text);
    else
        write_line(w, is ? "%s = real__c(%s);" : "%s = bits__c(%s);", to, text);
}

/* A constant fits a word of either kind. */
static void word_constant(struct writer *w, const struct part *p, int64_t at, uint32_t bits)
{
    const char *moves;
    uint32_t word = word_at(w, p, at, &moves);
    bool real = p->object->kind != OBJECT_NULL && is_real(p->object, word);
    if (p->object->kind == OBJECT_LOCAL || p->object->kind == OBJECT_OUTPUT) {
        mark(w, p->object, word, WORD_USED);
        write_line(w, "%s = %s;",
                   moves ? element_text(w, p->object, moves) : word_text(w, p->object, word),
                   real ? float_text(w, bits) : int_text(w, bits));
    } else {
        word_write(w, p, at, real ? float_text(w, bits) : int_text(w, bits), real);
    }
}

/* ---- scalars ------------------------------------------------------------------------------------------ */

/* Is the word there one of the object's, not bytes of two? What the module says of a place that moves
 * is believed. */
static bool is_aligned(const struct writer *w, const struct part *p, int64_t at)
{
    if (p->moving && p->odd)
        return w->align == 0 || (w->align % 4 == 0 && at % 4 == 0);
    return (p->offset + at) % 4 == 0;
}

/* i8 and i16 within words: the word's first byte from p, and in *shift how far it is. */
static int64_t small_at(struct writer *w, const struct part *p, int64_t at, const char **shift)
{
    int64_t byte = p->offset + at, low = byte & 3;
    if (p->object->kind == OBJECT_NULL)
        module_refuse(w->m, w->at, NULL, "memory behind a null pointer");
    if (p->moving) {
        learn(w, &p->object->bytes);
        *shift = asl_sprintf(w->c, "((%s + %s & 3) * 8)", p->moving, int_text(w, (uint32_t)byte));
        return at;
    }
    *shift = int_text(w, (uint32_t)low * 8);
    return at - low;
}

static uint32_t small_bits(struct writer *w, uint32_t bits)
{
    if (bits > 8 && bits != 16)
        module_refuse(w->m, w->at, NULL, "an i%u in memory", bits);
    return bits > 8 ? 16 : 8;
}

/* Does a number of 16 or 32 bits lie in two words? Then it is moved byte by byte. */
static bool is_split(const struct writer *w, const struct part *p, int64_t at, uint32_t bits)
{
    if (bits == 8)
        return false;
    if (bits == 16 && p->moving)
        return p->odd && w->align == 1;
    return bits == 16 ? (p->offset + at) % 4 == 3 : !is_aligned(w, p, at);
}

static void load_bytes(struct writer *w, const struct part *p, int64_t at, uint32_t bits,
                       const struct part *to)
{
    struct text sum = {0};
    for (uint32_t k = 0; k < bits; k += 8) {
        struct part byte = {.kind = PART_INT, .bits = 8};
        part_variable(w, &byte);
        memory_load(w, p, at + k / 8, &byte);
        text_printf(&sum, "%s%s << %u", k ? " | " : "", byte.lo, k);
    }
    if (to->kind == PART_FLOAT)
        write_line(w, "%s = real__c(%s);", to->lo, sum.data);
    else
        write_line(w, "%s = %s;", to->lo, sum.data);
    text_free(&sum);
}

static void store_bytes(struct writer *w, const struct part *p, int64_t at, uint32_t bits,
                        const struct part *from)
{
    struct part whole = {.kind = PART_INT, .bits = 32};
    part_variable(w, &whole);
    if (from->kind == PART_FLOAT && !from->constant)
        write_line(w, "%s = bits__c(%s);", whole.lo, from->lo);
    else
        write_line(w, "%s = %s;", whole.lo,
                   from->constant ? int_text(w, (uint32_t)from->value) : from->lo);
    for (uint32_t k = 0; k < bits; k += 8) {
        struct part byte = {.kind = PART_INT, .bits = 8};
        byte.lo = asl_sprintf(w->c, "(%s >> %u & 255)", whole.lo, k);
        memory_store(w, p, at + k / 8, &byte);
    }
}

void memory_load(struct writer *w, const struct part *p, int64_t at, struct part *to)
{
    if (to->kind == PART_POINTER)
        module_refuse(w->m, w->at, NULL, "a pointer that is kept in memory");
    uint32_t size = to->kind == PART_FLOAT || to->bits >= 32 ? 32 : small_bits(w, to->bits);
    if (is_split(w, p, at, size)) {
        load_bytes(w, p, at, size, to);
        if (to->kind == PART_INT && to->bits > 32) {
            struct part high = {.kind = PART_INT, .bits = to->bits - 32, .lo = to->hi};
            memory_load(w, p, at + 4, &high);
        }
        return;
    }
    if (to->kind == PART_FLOAT) {
        write_line(w, "%s = %s;", to->lo, word_read(w, p, at, true));
    } else if (to->bits >= 32) {
        write_line(w, "%s = %s;", to->lo, word_read(w, p, at, false));
        if (to->bits > 32)
            write_line(w, "%s = %s & %s;", to->hi, word_read(w, p, at + 4, false),
                       int_text(w, to->bits == 64 ? UINT32_MAX : (1u << (to->bits - 32)) - 1));
    } else {
        const char *shift;
        int64_t first = small_at(w, p, at, &shift);
        write_line(w, "%s = %s >> %s & %s;", to->lo, word_read(w, p, first, false), shift,
                   int_text(w, (1u << to->bits) - 1));
    }
}

void memory_store(struct writer *w, const struct part *p, int64_t at, const struct part *from)
{
    if (from->kind == PART_POINTER)
        module_refuse(w->m, w->at, NULL, "a pointer is stored in memory");
    uint32_t size = from->kind == PART_FLOAT || from->bits >= 32 ? 32 : small_bits(w, from->bits);
    if (is_split(w, p, at, size)) {
        store_bytes(w, p, at, size, from);
        if (from->kind == PART_INT && from->bits > 32) {
            struct part high = {.kind = PART_INT, .bits = 32, .lo = from->hi};
            high.constant = from->constant;
            high.value = from->value >> 32;
            memory_store(w, p, at + 4, &high);
        }
        return;
    }
    if (from->kind == PART_INT && from->bits < 32) {
        const char *shift;
        uint32_t mask = size == 8 ? 255 : 65535;
        int64_t first = small_at(w, p, at, &shift);
        const char *old = word_read(w, p, first, false);
        word_write(
            w, p, first,
            asl_sprintf(w->c, "%s & ~(%u << %s) | %s << %s", old, mask, shift, from->lo, shift),
            false);
    } else if (from->constant) {
        word_constant(w, p, at, (uint32_t)from->value);
        if (from->kind == PART_INT && from->bits > 32)
            word_constant(w, p, at + 4, (uint32_t)(from->value >> 32));
    } else {
        word_write(w, p, at, from->lo, from->kind == PART_FLOAT);
        if (from->kind == PART_INT && from->bits > 32)
            word_write(w, p, at + 4, from->hi, false);
    }
}

/* The kind in which a word is copied: as it is used elsewhere. */
static bool copied_real(struct writer *w, const struct part *to, const struct part *from,
                        int64_t at)
{
    const char *moves;
    const struct part *ends[] = {from, to};
    uint8_t kinds[2];
    for (int k = 0; k < 2; k++) {
        uint32_t word = word_at(w, ends[k], at, &moves);
        struct object *o = ends[k]->object;
        bool used = o->moving || o->kinds[word] & (WORD_INT | WORD_FLOAT);
        kinds[k] = is_real(o, word) ? WORD_FLOAT : used ? WORD_INT : 0;
    }
    return kinds[0] ? kinds[0] == WORD_FLOAT : kinds[1] == WORD_FLOAT;
}

void memory_copy(struct writer *w, const struct part *to, const struct part *from, uint64_t bytes)
{
    if (bytes > 4 * (uint64_t)ASL_MAX_ARRAY)
        module_refuse(w->m, w->at, NULL, "a copy of more than %d words", ASL_MAX_ARRAY);
    struct part *held = ASL_ARRAY(w->c, struct part, bytes + 1);
    for (int turn = 0; turn < 2; turn++) { /* all is read before any is written */
        size_t n = 0;
        for (uint64_t at = 0, step; at < bytes; at += step) {
            struct part *x = &held[n++];
            step = at + 4 <= bytes && is_aligned(w, from, (int64_t)at) &&
                           is_aligned(w, to, (int64_t)at)
                       ? 4
                       : 1;
            if (turn == 0) {
                bool real = step == 4 && copied_real(w, to, from, (int64_t)at);
                *x =
                    (struct part){.kind = real ? PART_FLOAT : PART_INT, .bits = 8 * (uint32_t)step};
                part_variable(w, x);
                memory_load(w, from, (int64_t)at, x);
            } else {
                memory_store(w, to, (int64_t)at, x);
            }
        }
    }
}

void memory_fill(struct writer *w, const struct part *to, const struct part *byte, uint64_t bytes)
{
    if (bytes > 4 * (uint64_t)ASL_MAX_ARRAY)
        module_refuse(w->m, w->at, NULL, "more than %d words are filled", ASL_MAX_ARRAY);
    for (uint64_t at = 0, step; at < bytes; at += step) {
        step = at + 4 <= bytes && is_aligned(w, to, (int64_t)at) ? 4 : 1;
        struct part x = {.kind = PART_INT, .bits = 8 * (uint32_t)step};
        if (byte->constant)
            part_constant(w, &x, byte->value * (step == 4 ? 0x01010101u : 1));
        else
            x.lo = step == 4 ? asl_sprintf(w->c, "%s * 0x01010101", byte->lo) : byte->lo;
        memory_store(w, to, (int64_t)at, &x);
    }
}

/* ---- pointers ------------------------------------------------------------------------------------------- */

/* The values that a pointer may come from. */
struct sources {
    const struct module_value *of, *store;
    size_t next;
};

static struct sources sources_of(const struct module_value *v)
{
    const struct module_value *slot = v->op == OPCODE_LOAD ? v->ops[0] : v;
    return (struct sources){v, slot->op == OPCODE_ALLOCA ? slot->stores : NULL, 0};
}

/* The next one, or NULL. */
static const struct module_value *source(struct sources *s)
{
    const struct module_value *v = s->of;
    if (v->op == OPCODE_PHI)
        while (s->next < v->count) {
            size_t k = s->next++;
            if (v->to[k]->order != UINT32_MAX)
                return v->ops[k];
        }
    else if (v->op == OPCODE_SELECT)
        return s->next < 2 ? v->ops[1 + s->next++] : NULL;
    const struct module_value *store = s->store;
    if (!store)
        return NULL;
    s->store = store->stores;
    return store->ops[0];
}

static bool is_slot_load(const struct module_value *v)
{
    return v->op == OPCODE_LOAD && v->ops[0]->kind == VALUE_INSTRUCTION && v->ops[0]->slot;
}

/* Does the pointer come from several, one of which is taken when the shader runs? */
static bool is_merge(const struct module_value *v)
{
    return v->kind == VALUE_INSTRUCTION && (v->op == OPCODE_PHI || v->op == OPCODE_SELECT ||
                                            is_slot_load(v) || (v->op == OPCODE_ALLOCA && v->slot));
}

static void too_deep(struct writer *w, unsigned depth)
{
    if (depth > POINTER_DEPTH)
        module_refuse(w->m, w->at, NULL, "a pointer that comes from over %d others",
                      (int)POINTER_DEPTH);
}

/* The object that the pointer points into; NULL: nothing tells, but v itself. */
static struct object *root(struct writer *w, struct instance *i, const struct module_value *v,
                           unsigned depth)
{
    too_deep(w, depth);
    while (v->kind == VALUE_INSTRUCTION && v->id != UINT32_MAX && !i->values[v->id] &&
           (v->op == OPCODE_GEP || v->op == OPCODE_BITCAST || v->op == OPCODE_ADDRSPACECAST ||
            v->op == OPCODE_FREEZE))
        v = v->ops[0];
    if (v->kind == VALUE_ZERO)
        return NULL;
    if (!is_merge(v) || i->values[v->id])
        return pointer_part(w, i, v)->object;
    if (i->seen[v->id] == i->stamp)
        return NULL;
    i->seen[v->id] = i->stamp;
    struct object *found = NULL;
    struct sources s = sources_of(v);
    for (const struct module_value *x; (x = source(&s)) != NULL;) {
        struct object *o = root(w, i, x, depth + 1);
        if (found && o && o != found)
            module_refuse(w->m, w->at, "choose values, or an index of one array",
                          "%s may point to two variables", v->name);
        found = found ? found : o;
    }
    return found;
}

/* Is the pointer at the same place whatever happens? Then *to says where. */
static bool is_steady(struct writer *w, struct instance *i, const struct module_value *v,
                      struct part *to, unsigned depth)
{
    too_deep(w, depth);
    if (!is_merge(v)) {
        if (v->kind == VALUE_INSTRUCTION && v->id != UINT32_MAX && !i->values[v->id])
            return false; /* not written yet: it comes round a loop */
        *to = *pointer_part(w, i, v);
        return !to->moving && to->object->kind != OBJECT_NULL;
    }
    if (i->values[v->id]) {
        *to = *i->values[v->id];
        return !to->moving;
    }
    if (i->unsteady[v->id])
        return false;
    i->unsteady[v->id] = true; /* as long as it is looked at */
    struct sources s = sources_of(v);
    bool any = false, same = true;
    for (const struct module_value *x; same && (x = source(&s)) != NULL;) {
        struct part one = {0};
        if (x->kind == VALUE_ZERO)
            continue;
        same = is_steady(w, i, x, &one, depth + 1) &&
               (!any || (one.object == to->object && one.offset == to->offset));
        if (same)
            *to = one;
        any = true;
    }
    i->unsteady[v->id] = !(same && any);
    return same && any;
}

static struct part *merge(struct writer *w, struct instance *i, const struct module_value *v)
{
    struct part *p = ASL_NEW(w->c, struct part), steady = {0};
    p->kind = PART_POINTER;
    if (is_steady(w, i, v, &steady, 0)) {
        *p = steady;
        return p;
    }
    i->stamp++;
    p->object = root(w, i, v, 0);
    if (!p->object)
        p->object = w->null;
    p->moving = write_variable(w, false);
    p->odd = p->object->bytes;
    return p;
}

/* The number that an index adds to an offset: text; a constant in *constant. */
static const char *index_text(struct writer *w, struct instance *i, const struct module_value *v,
                              int64_t *constant)
{
    size_t n;
    uint32_t bits = v->type->bits;
    if (v->kind == VALUE_INSTRUCTION && v->op == OPCODE_SEXT && v->id != UINT32_MAX) {
        v = v->ops[0];
        bits = v->type->bits;
    }
    const struct part *p = value_parts(w, i, v, &n);
    uint64_t sign = (uint64_t)1 << (bits - 1);
    *constant = (int64_t)((p->value ^ sign) - sign);
    if (p->constant)
        return NULL;
    if (bits > 32)
        return asl_sprintf(
            w->c, "narrow__c(%s, %s)", p->lo,
            bits == 64 ? p->hi
                       : asl_sprintf(w->c, "(%s << %u >> %u)", p->hi, 64 - bits, 64 - bits));
    if (bits < 32)
        return asl_sprintf(w->c, "(%s << %u >> %u)", p->lo, 32 - bits, 32 - bits);
    return p->lo;
}

/* getelementptr: the offset of what the indices name; `out` gets the moving part's sum. */
static struct part gep(struct writer *w, struct instance *i, const struct module_value *v,
                       struct text *out)
{
    struct part p = *pointer_part(w, i, v->ops[0]);
    const struct module_type *t = v->of;
    const int64_t most = (int64_t)1 << 31;
    if (p.moving)
        text_printf(out, "%s", p.moving);
    for (size_t k = 1; k < v->count; k++) {
        int64_t constant = 0;
        const char *index = index_text(w, i, v->ops[k], &constant);
        uint64_t scale;
        if (k > 1 && t->kind == MODULE_STRUCT) {
            if (index || !module_element(t, (uint64_t)constant))
                module_refuse(w->m, v->at, NULL, "a field that the struct does not have");
            p.offset += (int64_t)module_field_offset(w->m, t, (uint64_t)constant, v->at);
            t = module_element(t, (uint64_t)constant);
            continue;
        }
        if (k > 1) {
            if (t->kind != MODULE_ARRAY && t->kind != MODULE_VECTOR)
                module_refuse(w->m, v->at, NULL, "an index of what is no array");
            t = t->of[0];
        }
        scale = module_type_size(w->m, t, v->at);
        if (!index) {
            if (constant > most || constant < -most)
                module_refuse(w->m, v->at, NULL, "an index of over 32 bits");
            p.offset += constant * (int64_t)scale;
        } else if (scale) {
            struct object *o = p.object;
            if (scale % 4 != 0) {
                learn(w, &o->bytes);
                p.odd = true;
            }
            uint64_t each = o->bytes ? scale : scale / 4;
            text_puts(out, out->len ? " + " : "");
            if (each <= 1)
                text_puts(out, index);
            else
                text_printf(out, "clamp(%s, -%d, %d) * %d", index, INDEX_MOST, INDEX_MOST,
                            (int)(each < 4 * INDEX_MOST ? each : 4 * INDEX_MOST));
            p.moving = "";
        }
        if (p.offset > most || p.offset < -most)
            module_refuse(w->m, v->at, NULL, "an offset of over 32 bits");
    }
    return p;
}

static const struct part *allocated(struct writer *w, struct instance *i,
                                    const struct module_value *v)
{
    struct part *p = ASL_NEW(w->c, struct part);
    size_t n;
    uint64_t count = 1;
    if (v->count) {
        const struct part *many = value_parts(w, i, v->ops[0], &n);
        if (!many->constant)
            module_refuse(w->m, v->at, NULL, "a variable of a size that is not known");
        count = many->value;
    }
    uint64_t size = module_type_size(w->m, v->of, v->at);
    if (size && count > 4 * (uint64_t)ASL_MAX_ARRAY / size)
        count = size = 4 * (uint64_t)ASL_MAX_ARRAY;
    *p = (struct part){.kind = PART_POINTER, .object = object_new(w, OBJECT_LOCAL, count * size)};
    return p;
}

struct part *pointer_part(struct writer *w, struct instance *i, const struct module_value *v)
{
    struct part *p;
    bool kept = (v->kind == VALUE_INSTRUCTION || v->kind == VALUE_ARGUMENT) && v->id != UINT32_MAX;
    if (kept && i->values[v->id])
        return i->values[v->id];
    p = ASL_NEW(w->c, struct part);
    *p = (struct part){.kind = PART_POINTER, .object = w->null};
    if (++w->depth > POINTER_DEPTH)
        too_deep(w, w->depth);
    if (v->kind == VALUE_GLOBAL) {
        p->object = object_of_global(w, v->global);
    } else if (v->kind == VALUE_INSTRUCTION && is_merge(v)) {
        p = merge(w, i, v);
    } else if (v->kind == VALUE_INSTRUCTION && v->op == OPCODE_ALLOCA) {
        *p = *allocated(w, i, v);
    } else if (v->kind == VALUE_INSTRUCTION && v->op == OPCODE_GEP) {
        struct text moving = {0};
        *p = gep(w, i, v, &moving);
        if (p->moving && !*p->moving) /* by an index of its own */
            p->moving =
                kept ? write_variable(w, false) : asl_strndup(w->c, moving.data, moving.len);
        text_free(&moving);
    } else if (v->kind == VALUE_INSTRUCTION &&
               (v->op == OPCODE_BITCAST || v->op == OPCODE_ADDRSPACECAST ||
                v->op == OPCODE_FREEZE)) {
        *p = *pointer_part(w, i, v->ops[0]);
    } else if (v->kind != VALUE_ZERO) {
        module_refuse(w->m, v->kind == VALUE_INSTRUCTION ? v->at : w->at, NULL,
                      "%s: where this points is not known", v->name ? v->name : "a pointer");
    }
    w->depth--;
    if (kept)
        i->values[v->id] = p;
    return p;
}

const char *pointer_moves(struct writer *w, const struct part *p)
{
    struct object *o = p->object;
    if (!o->bytes && p->offset % 4 != 0)
        learn(w, &o->bytes);
    uint32_t offset = (uint32_t)(p->offset / (o->bytes ? 1 : 4));
    if (!p->moving)
        return int_text(w, offset);
    return offset ? asl_sprintf(w->c, "%s + %s", p->moving, int_text(w, offset)) : p->moving;
}

void pointer_write(struct writer *w, struct instance *i, const struct module_value *v)
{
    struct part *p = pointer_part(w, i, v);
    if (!p->moving || v->op == OPCODE_PHI)
        return;
    if (v->op == OPCODE_GEP) {
        struct text moving = {0};
        (void)gep(w, i, v, &moving);
        if (moving.data && strcmp(moving.data, p->moving) != 0)
            write_line(w, "%s = %s;", p->moving, moving.data);
        text_free(&moving);
    } else if (v->op == OPCODE_SELECT) {
        size_t n;
        write_line(w, "%s = %s ? %s : %s;", p->moving, value_parts(w, i, v->ops[0], &n)->lo,
                   pointer_moves(w, pointer_part(w, i, v->ops[1])),
                   pointer_moves(w, pointer_part(w, i, v->ops[2])));
    } else if (is_slot_load(v)) {
        const struct part *slot = pointer_part(w, i, v->ops[0]);
        if (slot->moving)
            write_line(w, "%s = %s;", p->moving, slot->moving);
    }
}
