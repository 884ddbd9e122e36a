/* SPDX-License-Identifier: Apache-2.0 */
/* builtins.c: the table of builtins.def with its signatures read, and the global variables. */
#include "asl.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct asl_builtin table[BI_COUNT] = {
#define BUILTIN(id, name, sigs, deriv, ulp, text)                                                  \
    [BI_##id] = {BI_##id, name, sigs, deriv, ulp, text, NULL, 0, false},
#define BUILTIN_DECLARED(id, name, sigs, deriv, ulp, text)                                         \
    [BI_##id] = {BI_##id, name, sigs, deriv, ulp, text, NULL, 0, true},
#include "builtins.def"
#undef BUILTIN
#undef BUILTIN_DECLARED
#undef BUILTIN_INTERNAL
#undef BUILTIN_SECTION
};

/* Room for all overloads of all builtins: one array, filled once. */
enum { MAX_OVERLOADS = 1200, BUCKETS = 512 };
static struct asl_overload overloads[MAX_OVERLOADS];
static size_t overload_used;
static uint16_t buckets[BUCKETS], chain[BI_COUNT]; /* index + 1 */

static enum asl_base base_of(char code, enum asl_base generic, enum asl_base result)
{
    switch (code) {
    case 'x':
        return ASL_VOID;
    case 'i':
        return ASL_INT;
    case 'f':
        return ASL_FLOAT;
    case 'c':
        return ASL_COLOR;
    case 'p':
        return ASL_POINT;
    case 'v':
        return ASL_VECTOR;
    case 'n':
        return ASL_NORMAL;
    case 'm':
        return ASL_MATRIX;
    case 's':
        return ASL_STRING;
    case 'C':
        return ASL_CLOSURE;
    case 'T':
    case 't':
        return generic;
    case 'R':
        return result;
    default:
        return ASL_UNKNOWN;
    }
}

static void read_overload(const char *p, size_t n, enum asl_base generic)
{
    if (overload_used == MAX_OVERLOADS)
        abort(); /* the table outgrew MAX_OVERLOADS: caught by the first test that compiles anything
                  */
    struct asl_overload *o = &overloads[overload_used++];
    o->ret = asl_type_of(base_of(p[0], generic, generic));
    for (size_t i = 1; i < n; i++) {
        if (p[i] == '+' || p[i] == '*' || p[i] == '.') {
            o->tail = p[i] == '+' ? 'A' : (uint8_t)p[i];
            break;
        }
        if (p[i] == '!') {
            o->outputs |= 1u << o->count;
            i++;
        }
        struct asl_type t = asl_type_of(base_of(p[i], generic, generic));
        if (i + 1 < n && p[i + 1] == '[') {
            t.array = -1;
            i += 2;
        }
        o->args[o->count++] = t;
    }
}

static void read_table(void)
{
    static const enum asl_base generics[] = {ASL_FLOAT, ASL_COLOR, ASL_POINT, ASL_VECTOR,
                                             ASL_NORMAL};
    for (size_t b = 0; b < BI_COUNT; b++) {
        struct asl_builtin *bi = &table[b];
        bi->overloads = &overloads[overload_used];
        size_t first = overload_used;
        for (const char *p = bi->sigs; *p;) {
            size_t n = strcspn(p, " ");
            bool any = memchr(p, 'T', n) || memchr(p, 'R', n), triple = memchr(p, 't', n) != NULL;
            if (any || triple)
                for (size_t g = any ? 0 : 1; g < 5; g++)
                    read_overload(p, n, generics[g]);
            else
                read_overload(p, n, ASL_UNKNOWN);
            p += n + (p[n] == ' ');
        }
        bi->overload_count = overload_used - first;
        uint16_t *slot = &buckets[hash_text(bi->name) % BUCKETS];
        chain[b] = *slot;
        *slot = (uint16_t)(b + 1);
    }
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

const struct asl_builtin *asl_builtin_row_of(const char *name)
{
    (void)pthread_once(&once, read_table);
    for (uint16_t i = buckets[hash_text(name) % BUCKETS]; i; i = chain[i - 1])
        if (strcmp(table[i - 1].name, name) == 0)
            return &table[i - 1];
    return NULL;
}

const struct asl_builtin *asl_builtin_find(const char *name)
{
    const struct asl_builtin *b = asl_builtin_row_of(name);
    return b && !b->declared ? b : NULL;
}

bool asl_takes_derivs(const struct asl_builtin *b)
{
    return strcmp(b->deriv, "takes") == 0 || strcmp(b->deriv, "filters") == 0;
}

const struct asl_builtin *asl_builtin_at(size_t i)
{
    (void)pthread_once(&once, read_table);
    return i < BI_COUNT ? &table[i] : NULL;
}

const struct asl_builtin_row *asl_builtin_rows(size_t *count)
{
    static const struct asl_builtin_row rows[] = {
#define BUILTIN(id, name, sigs, deriv, ulp, text) {name, sigs, deriv, ulp},
#define BUILTIN_DECLARED(id, name, sigs, deriv, ulp, text)
#define BUILTIN_INTERNAL(id, name, sigs, deriv, ulp, text)
#include "builtins.def"
#undef BUILTIN
#undef BUILTIN_DECLARED
#undef BUILTIN_INTERNAL
#undef BUILTIN_SECTION
    };
    *count = sizeof rows / sizeof *rows;
    return rows;
}

/* The last cell of a row: a bar would end it. */
static void cell_print(struct text *out, const char *text)
{
    for (const char *p = text; *p; p++)
        text_printf(out, "%s%c", *p == '|' ? "\\" : "", *p);
    text_puts(out, " |\n");
}

void asl_builtins_print(struct text *out)
{
    static const char *const head =
        "\n| function | signatures | derivatives | ulp | meaning |\n|---|---|---|---|---|\n";
#define BUILTIN(id, name, sigs, deriv, ulp, text)                                                  \
    text_printf(out, "| `%s` | `%s` | %s | %s | ", name, sigs, deriv, ulp);                        \
    cell_print(out, text);
#define BUILTIN_SECTION(text) text_printf(out, "\n### %s\n%s", text, head);
#define BUILTIN_INTERNAL(id, name, sigs, deriv, ulp, text)
#include "builtins.def"
#undef BUILTIN
#undef BUILTIN_DECLARED
#undef BUILTIN_INTERNAL
#undef BUILTIN_SECTION
    text_puts(out, "\n### On devices, in a scene's picture\n\nWhat no row names runs there as "
                   "everywhere.\n\n| functions | | why |\n|---|---|---|\n");
#define BUILTIN(id, name, sigs, deriv, ulp, text)
#define BUILTIN_LIMIT(functions, asks, chosen, what, why)                                          \
    text_printf(out, "| `%s` | %s | %s |\n", functions, what, why);
#include "builtins.def"
#undef BUILTIN
#undef BUILTIN_DECLARED
#undef BUILTIN_INTERNAL
#undef BUILTIN_SECTION
}

/* ---- global variables ----------------------------------------------------------------------- */

static const struct {
    const char *name;
    enum asl_base base;
} globals[GV_COUNT] = {
    [GV_P] = {"P", ASL_POINT},         [GV_I] = {"I", ASL_VECTOR},
    [GV_N] = {"N", ASL_NORMAL},        [GV_Ng] = {"Ng", ASL_NORMAL},
    [GV_u] = {"u", ASL_FLOAT},         [GV_v] = {"v", ASL_FLOAT},
    [GV_dPdu] = {"dPdu", ASL_VECTOR},  [GV_dPdv] = {"dPdv", ASL_VECTOR},
    [GV_Ps] = {"Ps", ASL_POINT},       [GV_time] = {"time", ASL_FLOAT},
    [GV_dtime] = {"dtime", ASL_FLOAT}, [GV_dPdtime] = {"dPdtime", ASL_VECTOR},
    [GV_Ci] = {"Ci", ASL_CLOSURE},
};

int asl_global_find(const char *name)
{
    for (int i = 0; i < GV_COUNT; i++)
        if (strcmp(globals[i].name, name) == 0)
            return i;
    return -1;
}

const char *asl_global_name(enum asl_global g) { return globals[g].name; }

struct asl_type asl_global_type(enum asl_global g) { return asl_type_of(globals[g].base); }
