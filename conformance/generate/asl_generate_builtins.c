/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of builtins in generated programs, from the signatures of builtins.def. A new row is called
 * without a word here, unless its arguments must be something special: then the tables below say
 * what. */
#include "asl_generator.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- signatures ------------------------------------------------------------------------------ */

enum { MAX_SIGNATURES = 1200 };
static struct signature signatures[MAX_SIGNATURES];
static size_t signature_count;

static enum asl_base base_of(char letter, enum asl_base generic)
{
    static const char letters[] = "xifcpvnmsC?";
    static const enum asl_base bases[] = {ASL_VOID,   ASL_INT,     ASL_FLOAT,  ASL_COLOR,
                                          ASL_POINT,  ASL_VECTOR,  ASL_NORMAL, ASL_MATRIX,
                                          ASL_STRING, ASL_CLOSURE, ASL_UNKNOWN};
    const char *at = strchr(letters, letter);
    return at ? bases[at - letters] : generic;
}

/* Builtins whose formula calls functions that the ulp column bounds. */
static const struct {
    const char *name;
    float bound;
} inexact[] = {
    {"rotate", 0x1p-16f}, /* sin and cos within 4 ulp, times coordinates of up to 8, six terms */
};

/* An answer within n ulp of the right one and the interpreter's, within 1/2 ulp of it, are at most
 * n + 1/2 of at most 2^-23 of their size apart; one more for the products that apply the bound. */
static float bound_of(const struct asl_builtin_row *row)
{
    for (size_t i = 0; i < sizeof inexact / sizeof *inexact; i++)
        if (strcmp(inexact[i].name, row->name) == 0)
            return inexact[i].bound;
    double ulp = strtod(row->ulp, NULL);
    return ulp > 0 ? (float)((ulp + 2) * 0x1p-23) : 0;
}

static void read_signature(const struct asl_builtin_row *row, const char *p, size_t n,
                           enum asl_base generic)
{
    if (signature_count == MAX_SIGNATURES)
        abort(); /* the table outgrew this one: seen by the first test */
    struct signature *s = &signatures[signature_count++];
    *s = (struct signature){.row = row, .bound = bound_of(row)};
    s->result = base_of(p[0], generic);
    s->generic = p[0] == 'R';
    for (size_t i = 1; i < n; i++) {
        if (strchr("+*.", p[i])) {
            s->tail = p[i];
            break;
        }
        struct argument *a = &s->arg[s->count++];
        if (p[i] == '!') {
            a->output = true;
            i++;
        }
        a->base = base_of(p[i], generic);
        if (i + 1 < n && p[i + 1] == '[') {
            a->array = true;
            i += 2;
        }
    }
}

static void read_signatures(void)
{
    static const enum asl_base generics[] = {ASL_FLOAT, ASL_COLOR, ASL_POINT, ASL_VECTOR,
                                             ASL_NORMAL};
    size_t rows;
    const struct asl_builtin_row *row = asl_builtin_rows(&rows);
    for (size_t r = 0; r < rows; r++) {
        if (strcmp(row[r].derivatives, "refused") == 0)
            continue;
        for (const char *p = row[r].signatures; *p;) {
            size_t n = strcspn(p, " ");
            bool any = memchr(p, 'T', n) || memchr(p, 'R', n), triple = memchr(p, 't', n) != NULL;
            for (size_t k = any ? 0 : 1; k < (any || triple ? 5u : 2u); k++)
                read_signature(&row[r], p, n, generics[k]);
            p += n + (p[n] == ' ');
        }
    }
}

const struct signature *signatures_all(size_t *count)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, read_signatures);
    *count = signature_count;
    return signatures;
}

/* ---- what arguments must be ------------------------------------------------------------------ */

/* Strings that mean something to a builtin, separated by blanks; argument -1: all strings. */
static const struct {
    const char *name;
    int argument;
    const char *words;
} words[] = {
    {"noise", 0, "perlin uperlin simplex usimplex cell hash noise snoise gabor"},
    {"pnoise", 0, "perlin uperlin cell hash gabor"},
    {"spline", 0, "catmull-rom bezier bspline hermite linear constant"},
    {"splineinverse", 0, "linear catmull-rom bspline"},
    {"transform", -1, "common world object shader"},
    {"transformu", -1, "mm cm m km in ft mi common"},
    {"transformc", -1, "rgb hsv hsl YIQ XYZ xyY sRGB"},
    {"getmatrix", -1, "common world object nowhere"},
    {"displace", 0, "common object"},
    {"bump", 0, "common object"},
    {"raytype", 0, "camera shadow glossy nothing"},
    {"microfacet", 0, "ggx beckmann"},
    {"dielectric_bsdf", -1, "ggx"},
    {"conductor_bsdf", -1, "ggx"},
    {"generalized_schlick_bsdf", -1, "ggx beckmann"},
    {"debug", 0, "aov"},
    {"getattribute", -1, "ud_float ud_color osl:version nothing"},
    {"setmessage", 0, "m0 m1 m2"},
    {"getmessage", -1, "m0 m1 m2"},
    {"dict_find", 0, "<a><b/><b/></a> none.xml <a>"},
    {"dict_find", 1, "//b a //c a["},
    {"dict_value", -1, "x"},
};

static bool starts(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

static const char *words_for(const char *name, unsigned argument)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].name, name) == 0 &&
            (words[i].argument < 0 || words[i].argument == (int)argument))
            return words[i].words;
    return NULL;
}

static void write_word(struct generator *g, const char *list)
{
    uint32_t n = 1;
    for (const char *p = list; (p = strchr(p, ' ')) != NULL; p++)
        n++;
    for (uint32_t k = roll(g, n); k > 0; k--)
        list = strchr(list, ' ') + 1;
    put(g, "\"%.*s\"", (int)strcspn(list, " "), list);
}

const char *signature_words(const struct signature *s, unsigned argument)
{
    return s->arg[argument].base == ASL_STRING ? words_for(s->row->name, argument) : NULL;
}

/* Patterns and texts that patterns meet. */
static void write_pattern(struct generator *g)
{
    static const char *const patterns[] = {
        "\"a+\"", "\"([a-z]+)([0-9]*)\"", "\"^.*1\"", "\"(l|o)+\"", "\"\\\\s\"", "\"b?c{1,2}\""};
    put(g, "%s", patterns[roll(g, sizeof patterns / sizeof *patterns)]);
}

/* Where the arguments of a builtin that is not exact lie. */
static const struct {
    const char *name;
    double low, high;
} ranges[] = {
    {"blackbody", 400, 9000}, {"wavelength_color", 350, 800},
    {"transformc", 0, 1},     {"hypot", -100, 100},
    {"sin", -40, 40},         {"cos", -40, 40},
};

static void range_of(const char *name, double *low, double *high)
{
    *low = -4;
    *high = 4;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (strcmp(ranges[i].name, name) == 0) {
            *low = ranges[i].low;
            *high = ranges[i].high;
        }
}

bool signature_is_special(const struct signature *s)
{
    return s->tail == '*' || strcmp(s->row->name, "exit") == 0 || starts(s->row->name, "dict_");
}

/* Does it compute strings, or look into ones that the program computes? */
static bool needs_texts(const struct signature *s)
{
    if (s->result == ASL_STRING)
        return true;
    for (unsigned i = 0; i < s->count; i++)
        if (s->arg[i].base == ASL_STRING && !words_for(s->row->name, i))
            return true;
    return false;
}

static bool needs_closures(const struct signature *s)
{
    bool any = s->result == ASL_CLOSURE;
    for (unsigned i = 0; i < s->count; i++)
        any = any || s->arg[i].base == ASL_CLOSURE;
    return any;
}

/* May it be called here? */
static bool is_allowed(const struct generator *g, const struct signature *s)
{
    if (g->opt.numbers_only && needs_closures(s))
        return false;
    if (signature_is_special(s) || (needs_texts(s) && (g->opt.numbers_only || !g->what.texts)))
        return false;
    if (s->bound > 0 && (g->what.discipline == ASL_EXACT || !g->in_shader))
        return false;
    for (unsigned i = 0; i < s->count; i++) /* parameters of the shader are asked about */
        if (s->arg[i].base == ASL_UNKNOWN && !s->arg[i].output && !g->in_shader)
            return false;
    return true;
}

static bool is_expression(const struct signature *s)
{
    for (unsigned i = 0; i < s->count; i++)
        if (s->arg[i].output || s->arg[i].array || s->arg[i].base == ASL_UNKNOWN)
            return false;
    return s->result != ASL_VOID;
}

static void mark(struct generator *g, const struct signature *s)
{
    if (g->signatures)
        g->signatures[s - signatures] = true;
}

/* ---- arguments ------------------------------------------------------------------------------- */

static void write_number(struct generator *g, const struct signature *s, enum asl_base base,
                         int depth)
{
    double low, high;
    bool patterns = strstr(s->row->name, "noise") || strcmp(s->row->name, "hash") == 0;
    if (s->bound > 0 && base != ASL_INT && base != ASL_MATRIX) {
        range_of(s->row->name, &low, &high);
        put(g, "within(");
        write_expression(g, kind_of(base), depth - 1);
        put(g, ", %.1f, %.1f)", low, high);
    } else if (patterns && base != ASL_INT) { /* bits of NaN are nobody's business */
        put(g, "tame(");
        write_expression(g, kind_of(base), depth - 1);
        put(g, ")");
    } else {
        write_expression(g, kind_of(base), depth - 1);
    }
}

static void write_argument(struct generator *g, const struct signature *s, unsigned i, int depth)
{
    const struct argument *a = &s->arg[i];
    const char *list = a->base == ASL_STRING ? words_for(s->row->name, i) : NULL;
    if (list)
        write_word(g, list);
    else if (a->base == ASL_STRING && starts(s->row->name, "regex") && i + 1 == s->count)
        write_pattern(g);
    else if (a->base == ASL_STRING || a->base == ASL_CLOSURE)
        write_expression(g, kind_of(a->base), depth - 1);
    else
        write_number(g, s, a->base, depth);
}

/* What may follow the fixed arguments. */
static void write_tail(struct generator *g, const struct signature *s, int depth)
{
    if (s->tail == '+') {
        for (uint32_t n = roll(g, 3); n > 0; n--) {
            put(g, ", ");
            write_argument(g, s, s->count - 1, depth);
        }
    } else if (s->tail == '.' && chance(g, 25)) {
        put(g, s->count ? ", " : "");
        static const char *const of_noise[] = {
            "\"bandwidth\", 1.5", "\"impulses\", 4", "\"do_filter\", 0",
            "\"anisotropic\", 1, \"direction\", vector(0.5, 1, 2)",
            "\"anisotropic\", 2, \"impulses\", 2.5"};
        static const char *const of_rays[] = {"\"maxdist\", 2", "\"mindist\", 0.25",
                                              "\"samples\", 4"};
        static const char *const of_images[] = {"\"missingcolor\", color(1, 0.5, 0.25)",
                                                "\"width\", 0.5"};
        if (strcmp(s->row->name, "texture") == 0 || strcmp(s->row->name, "environment") == 0)
            put(g, "%s", of_images[roll(g, 2)]);
        else if (strstr(s->row->name, "noise"))
            put(g, "%s", of_noise[roll(g, sizeof of_noise / sizeof *of_noise)]);
        else if (strcmp(s->row->name, "trace") == 0)
            put(g, "%s", of_rays[roll(g, 2)]);
        else if (strcmp(s->row->name, "occlusion") == 0)
            put(g, "%s", of_rays[2 * roll(g, 2)]);
        else
            put(g, chance(g, 50) ? "\"label\", \"k\"" : "\"weight\", 0.5");
    }
}

/* ---- calls in expressions -------------------------------------------------------------------- */

/* Rounds a result that is only bounded; colours are off by parts of their largest component. */
static void open_snap(struct generator *g, const struct signature *s)
{
    bool largest = is_triple(s->result) && s->arg[0].base != s->result;
    largest = largest || starts(s->row->name, "transformc") || starts(s->row->name, "rotate");
    put(g, largest ? "snap_largest(" : "snap(");
}

bool write_builtin_call(struct generator *g, enum asl_base result, int depth)
{
    size_t count;
    const struct signature *all = signatures_all(&count);
    const struct signature *of_all = NULL, *of_bounded = NULL;
    uint32_t seen = 0, bounded = 0;
    for (size_t i = 0; i < count; i++) {
        if (all[i].result != result || !is_expression(&all[i]) || !is_allowed(g, &all[i]))
            continue;
        if (roll(g, ++seen) == 0)
            of_all = &all[i];
        if (all[i].bound > 0 && roll(g, ++bounded) == 0)
            of_bounded = &all[i];
    }
    /* bounded ones are in snapped programs alone, so there more often than others */
    const struct signature *chosen = of_bounded && chance(g, 50) ? of_bounded : of_all;
    if (!chosen)
        return false;
    mark(g, chosen);
    if (chosen->bound > 0)
        open_snap(g, chosen);
    if (chosen->generic)
        put(g, "((%s)", kind_name(g, kind_of(result)));
    put(g, "%s(", chosen->row->name);
    for (unsigned i = 0; i < chosen->count; i++) {
        put(g, i ? ", " : "");
        write_argument(g, chosen, i, depth);
    }
    write_tail(g, chosen, depth);
    put(g, chosen->generic ? "))" : ")");
    if (chosen->bound > 0)
        put(g, ", %.9g)", (double)chosen->bound);
    return true;
}

/* ---- derivatives ----------------------------------------------------------------------------- */

/* The slope of a bounded builtin, at a place where its formula amplifies no rounding more than 16
 * times: one argument varies in [0.25, 0.75], others are 1.5. 64 units cover slope and products. */
static bool write_bounded_slope(struct generator *g, enum asl_base result, int depth)
{
    size_t count;
    const struct signature *all = signatures_all(&count), *chosen = NULL;
    uint32_t seen = 0;
    for (size_t i = 0; i < count; i++)
        if (all[i].bound > 0 && all[i].result == result && all[i].arg[0].base == result &&
            is_expression(&all[i]) && strcmp(all[i].row->derivatives, "rule") == 0 &&
            roll(g, ++seen) == 0)
            chosen = &all[i];
    if (!chosen)
        return false;
    mark(g, chosen);
    cover(g, CONSTRUCT_DERIVATIVE);
    put(g, "snap(%s(%s(within(", chance(g, 50) ? "Dx" : "Dy", chosen->row->name);
    write_expression(g, kind_of(result), depth - 1);
    put(g, ", 0.25, 0.75)");
    for (unsigned i = 1; i < chosen->count; i++)
        put(g, chosen->arg[i].base == ASL_FLOAT ? ", 1.5" : ", %s(1.5)",
            kind_name(g, kind_of(chosen->arg[i].base)));
    put(g, ")), %.9g)", 64 * 0x1p-23);
    return true;
}

bool write_derivative(struct generator *g, enum asl_base result, int depth)
{
    static const char *const functions[] = {"Dx", "Dy", "Dz", "filterwidth"};
    bool bounded = g->what.discipline == ASL_SNAPPED && g->in_shader;
    if (result == ASL_POINT || result == ASL_NORMAL || !g->in_shader)
        return false;
    if (bounded && chance(g, 60) && result != ASL_VECTOR)
        return write_bounded_slope(g, result, depth);
    cover(g, CONSTRUCT_DERIVATIVE);
    put(g, "%s(", functions[roll(g, 4)]);
    struct kind k = kind_of(result == ASL_VECTOR && chance(g, 40) ? ASL_POINT : result);
    if (k.base == ASL_POINT && chance(g, 40))
        put(g, "P");
    else
        write_expression(g, k, depth - 1);
    put(g, ")");
    return true;
}

/* ---- statements that call builtins ----------------------------------------------------------- */

/* A variable to pass: an array of what the function reads or writes, or an output. */
static void write_place(struct generator *g, const struct signature *s, unsigned i, char *name)
{
    const struct argument *a = &s->arg[i];
    static const enum asl_base any[] = {ASL_FLOAT, ASL_COLOR, ASL_INT};
    struct kind k = kind_of(a->base);
    if (a->base == ASL_UNKNOWN)
        k = kind_of(any[roll(g, 3)]);
    if (a->array)
        k.array = 5 + (int)roll(g, 3);
    char fresh[16];
    (void)snprintf(fresh, sizeof fresh, "b%u", g->names++);
    put(g, "%s %s", kind_name(g, k), fresh);
    if (k.array)
        put(g, "[%d]", k.array);
    if (!a->output || chance(g, 50)) {
        put(g, " = ");
        write_initial(g, k, 2);
    }
    put(g, ";\n%*s", 4 * (int)g->indent, "");
    struct variable *v = &g->vars[g->var_count];
    if (g->var_count < MAX_VARS) {
        g->var_count++;
        *v = (struct variable){.kind = k, .writable = true};
        memcpy(v->name, fresh, sizeof fresh);
    }
    memcpy(name, fresh, sizeof fresh);
}

static void write_any_argument(struct generator *g, const struct signature *s)
{
    if (strcmp(s->row->name, "isconnected") == 0) {
        put(g, chance(g, 50) ? "pf0" : "of0");
    } else if (strcmp(s->row->name, "arraylength") == 0) {
        put(g, "pa0");
    } else if (chance(g, 60)) {
        put(g, chance(g, 50) ? "pf0" : "pi0");
    } else {
        write_literal(g, chance(g, 50) ? ASL_COLOR : ASL_FLOAT);
    }
}

static void keep_result(struct generator *g, const struct signature *s, const char *name,
                        struct kind k)
{
    if (s->bound > 0 && (k.base == ASL_FLOAT || is_triple(k.base)) && !k.array) {
        put(g, "%s = ", name);
        open_snap(g, s);
        put(g, "%s, %.9g);\n%*s", name, (double)s->bound, 4 * (int)g->indent, "");
    }
    write_keep(g, name, k);
}

void write_builtin_statement(struct generator *g)
{
    size_t count;
    const struct signature *all = signatures_all(&count), *s = NULL;
    uint32_t seen = 0;
    bool awkward = chance(g, 60); /* those that expressions cannot hold */
    for (size_t i = 0; i < count; i++)
        if (is_allowed(g, &all[i]) && (!awkward || !is_expression(&all[i])) && roll(g, ++seen) == 0)
            s = &all[i];
    if (!s)
        return;
    char place[MAX_SIGNATURE_ARGS][16] = {{0}};
    size_t first = g->var_count;
    mark(g, s);
    if (strcmp(s->row->name, "displace") == 0 || strcmp(s->row->name, "bump") == 0)
        cover(g, CONSTRUCT_GLOBAL_WRITTEN);
    if (strstr(s->row->name, "message"))
        cover(g, CONSTRUCT_MESSAGES);
    for (unsigned i = 0; i < s->count; i++)
        if (s->arg[i].output || s->arg[i].array)
            write_place(g, s, i, place[i]);
    char result[16] = "";
    struct kind k = kind_of(s->result);
    if (s->result != ASL_VOID) {
        (void)snprintf(result, sizeof result, "r%u", g->names++);
        put(g, "%s %s = ", kind_name(g, k), result);
    }
    put(g, "%s(", s->row->name);
    for (unsigned i = 0; i < s->count; i++) {
        put(g, i ? ", " : "");
        if (*place[i])
            put(g, "%s", place[i]);
        else if (s->arg[i].base == ASL_UNKNOWN)
            write_any_argument(g, s);
        else if (s->arg[i].base == ASL_INT && starts(s->row->name, "spline"))
            put(g, "4");
        else
            write_argument(g, s, i, 3);
    }
    write_tail(g, s, 2);
    put(g, ");\n%*s", 4 * (int)g->indent, "");
    if (*result)
        keep_result(g, s, result, k);
    for (size_t i = first; i < g->var_count; i++)
        for (unsigned a = 0; a < s->count; a++)
            if (strcmp(place[a], g->vars[i].name) == 0 && s->arg[a].output)
                keep_result(g, s, g->vars[i].name, g->vars[i].kind);
    put(g, ";\n");
}

/* ---- formats --------------------------------------------------------------------------------- */

void write_format(struct generator *g)
{
    static const char *const floats[] = {"%g", "%.9g", "%8.3f", "%e", "%+.2f"};
    static const char *const ints[] = {"%d", "%x", "%5d", "%-4d", "%o"};
    struct text values = {0}, *out = g->out;
    cover(g, CONSTRUCT_PRINT_TYPES);
    put(g, "\"[");
    for (uint32_t n = roll(g, 3) + 1; n > 0; n--) {
        static const enum asl_base bases[] = {ASL_INT,    ASL_FLOAT,  ASL_COLOR, ASL_POINT,
                                              ASL_MATRIX, ASL_STRING, ASL_FLOAT};
        enum asl_base b = bases[roll(g, 7)];
        const char *spec = b == ASL_INT      ? ints[roll(g, 5)]
                           : b == ASL_STRING ? "%s"
                                             : floats[roll(g, 5)];
        put(g, "%s|", spec);
        g->out = &values;
        put(g, ", ");
        write_expression(g, kind_of(b), 2);
        g->out = out;
    }
    put(g, "%%%%]\\n\"");
    text_append(g->out, values.data, values.len);
    text_free(&values);
}
