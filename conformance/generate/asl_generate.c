/* SPDX-License-Identifier: Apache-2.0 */
/* Statements, functions, shaders and networks of generated programs. Loops count up to a number
 * that is written down, and nothing else writes their counters, so that programs end. */
#include "asl_generator.h"

#include <stdlib.h>
#include <string.h>

static const struct kind INT = {ASL_INT, 0, 0}, FLOAT = {ASL_FLOAT, 0, 0};

static void write_statement(struct generator *g);

static void line(struct generator *g) { put(g, "%*s", 4 * (int)g->indent, ""); }

static enum asl_base any_triple(struct generator *g)
{
    static const enum asl_base triples[] = {ASL_COLOR, ASL_POINT, ASL_VECTOR, ASL_NORMAL};
    return triples[roll(g, 4)];
}

static struct kind any_kind(struct generator *g)
{
    switch (roll(g, 10)) {
    case 0:
    case 1:
        return INT;
    case 2:
        return kind_of(ASL_MATRIX);
    case 3:
        return kind_of(g->what.texts ? ASL_STRING : ASL_FLOAT);
    case 4:
        if (g->struct_count)
            return (struct kind){ASL_STRUCT, 0, (int)roll(g, g->struct_count)};
        return FLOAT;
    case 5:
    case 6:
    case 7:
        return kind_of(any_triple(g));
    default:
        return FLOAT;
    }
}

/* ---- keeping values -------------------------------------------------------------------------- */

/* Folds a value's bits into the output `acc`. */
void write_keep(struct generator *g, const char *name, struct kind k)
{
    if (!g->in_shader || k.base == ASL_CLOSURE || k.base == ASL_VOID)
        return;
    struct text part = {0};
    if (k.array) {
        for (int i = 0; i < k.array && i < 4; i++) {
            part.len = 0;
            text_printf(&part, "%s[%d]", name, i);
            write_keep(g, part.data, (struct kind){k.base, 0, k.st});
        }
    } else if (k.base == ASL_STRUCT) {
        const struct structure *s = &g->structs[k.st];
        for (unsigned i = 0; i < s->count; i++) {
            part.len = 0;
            text_printf(&part, "%s.%s", name, s->field[i].name);
            write_keep(g, part.data, s->field[i].kind);
        }
    } else {
        put(g, "keep(%s); ", name);
    }
    text_free(&part);
}

static void write_keep_line(struct generator *g, const char *name, struct kind k)
{
    line(g);
    write_keep(g, name, k);
    put(g, ";\n");
}

/* ---- statements ------------------------------------------------------------------------------ */

static void write_block(struct generator *g, unsigned statements)
{
    size_t vars = g->var_count;
    unsigned functions = g->function_count;
    put(g, "{\n");
    g->indent++;
    for (unsigned i = 0; i < statements; i++)
        write_statement(g);
    g->indent--;
    line(g);
    put(g, "}");
    g->var_count = vars;
    g->function_count = functions;
}

static void write_declaration(struct generator *g)
{
    struct kind k = any_kind(g);
    if (chance(g, 25) && k.base != ASL_MATRIX) {
        k.array = (int)roll(g, 4) + 2;
        if (k.base == ASL_STRUCT)
            cover(g, CONSTRUCT_ARRAY_OF_STRUCTS);
    }
    if (k.base == ASL_STRUCT && k.st > 0)
        cover(g, CONSTRUCT_STRUCT_NESTED);
    char name[16];
    (void)snprintf(name, sizeof name, "x%u", g->names++);
    if (g->indent > 1 && g->var_count && chance(g, 12)) {
        const struct variable *outer = pick_variable(g, FLOAT, true);
        if (outer && outer->name[0] == 'x') { /* its value does not see the new name */
            cover(g, CONSTRUCT_SHADOWING);
            memcpy(name, outer->name, sizeof name);
            for (size_t i = g->var_count; i-- > 0;) /* two in one block are an error */
                if (strcmp(g->vars[i].name, name) == 0)
                    break;
            put(g, "%*s{ %s %s = ", 4 * (int)g->indent, "", kind_name(g, INT), name);
            write_expression(g, INT, 2);
            put(g, "; %s++; ", name);
            write_keep(g, name, INT);
            put(g, "}\n");
            return;
        }
    }
    line(g);
    bool known = k.array && chance(g, 15);
    put(g, "%s %s", kind_name(g, k), name);
    if (known) {
        cover(g, CONSTRUCT_ARRAY_LENGTH);
        put(g, "[] = { ");
        for (int i = 0; i < k.array; i++) {
            put(g, i ? ", " : "");
            write_expression(g, (struct kind){k.base, 0, k.st}, 2);
        }
        put(g, " };\n");
    } else {
        if (k.array)
            put(g, "[%d]", k.array);
        if (chance(g, 85)) {
            cover(g, CONSTRUCT_DECLARATION_VALUE);
            put(g, " = ");
            write_initial(g, k, 4);
        } else {
            cover(g, CONSTRUCT_DECLARATION_PLAIN);
        }
        put(g, ";\n");
    }
    if (g->var_count < MAX_VARS) {
        struct variable *v = &g->vars[g->var_count++];
        *v = (struct variable){.kind = k, .writable = true};
        memcpy(v->name, name, sizeof name);
    }
}

static void write_assign(struct generator *g)
{
    static const enum asl_base bases[] = {ASL_INT,   ASL_FLOAT,  ASL_FLOAT,  ASL_COLOR,
                                          ASL_POINT, ASL_VECTOR, ASL_NORMAL, ASL_MATRIX};
    enum asl_base b = g->what.texts && chance(g, 10) ? ASL_STRING : bases[roll(g, 8)];
    char place[64];
    if (!pick_place(g, b, true, place))
        return;
    line(g);
    put(g, "%s", place);
    if (chance(g, 40) && b == ASL_INT) {
        static const char *const ops[] = {"&=", "|=", "^=", "<<=", ">>="};
        cover(g, CONSTRUCT_ASSIGN_BITS);
        put(g, " %s ", ops[roll(g, 5)]);
    } else if (chance(g, 40) && b != ASL_STRING) {
        static const char *const ops[] = {"*=", "/=", "+=", "-=", "%="};
        cover(g, CONSTRUCT_ASSIGN_COMPOUND);
        put(g, " %s ", ops[roll(g, b == ASL_MATRIX ? 2 : 5)]);
    } else {
        put(g, " = ");
        if (is_triple(b) && chance(g, 10)) {
            cover(g, CONSTRUCT_LIST_ARGUMENT);
            put(g, "{ ");
            for (int i = 0; i < 3; i++) {
                put(g, i ? ", " : "");
                write_expression(g, FLOAT, 2);
            }
            put(g, " };\n");
            return;
        }
    }
    write_expression(g, kind_of(b), 4);
    put(g, ";\n");
    if (chance(g, 30))
        write_keep_line(g, place, kind_of(b));
}

static void write_whole_assign(struct generator *g)
{
    for (uint32_t tries = 0; tries < 8 && g->var_count; tries++) {
        const struct variable *to = &g->vars[roll(g, (uint32_t)g->var_count)];
        if (!to->writable || (!to->kind.array && to->kind.base != ASL_STRUCT))
            continue;
        to = pick_variable(g, to->kind, true);
        const struct variable *from = to ? pick_variable(g, to->kind, false) : NULL;
        if (!to || !from)
            continue;
        cover(g, to->kind.array ? CONSTRUCT_ARRAY_COPY : CONSTRUCT_STRUCT_COPY);
        line(g);
        put(g, "%s = %s;\n", to->name, from->name);
        return;
    }
}

/* More slots than translators copy one by one. */
static void write_large_copy(struct generator *g)
{
    uint32_t n = 17 + roll(g, 12), a = g->names++, b = g->names++;
    cover(g, CONSTRUCT_ARRAY_COPY);
    line(g);
    put(g, "float x%u[%u], x%u[%u]; x%u[%u] = ", a, n, b, n, a, n - 1);
    write_expression(g, FLOAT, 2);
    put(g, "; x%u[%u] = 3; x%u = x%u; ", a, roll(g, n - 1), b, a);
    if (g->in_shader)
        put(g, "keep(x%u[%u]); keep(x%u[%u]);\n", b, n - 1, b, roll(g, n));
    else
        put(g, "pulse += x%u[%u];\n", b, n - 1);
}

static void write_if(struct generator *g)
{
    cover(g, CONSTRUCT_IF);
    line(g);
    put(g, "if (");
    write_condition(g, 3);
    put(g, ") ");
    write_block(g, 1 + roll(g, 3));
    if (chance(g, 50)) {
        cover(g, CONSTRUCT_ELSE);
        put(g, " else ");
        write_block(g, 1 + roll(g, 2));
    }
    put(g, "\n");
}

static void write_leave(struct generator *g)
{
    bool leave = chance(g, 50);
    cover(g, leave ? CONSTRUCT_BREAK : CONSTRUCT_CONTINUE);
    line(g);
    put(g, "if (");
    write_condition(g, 2);
    put(g, ") %s;\n", leave ? "break" : "continue");
}

static void write_loop_body(struct generator *g)
{
    g->loops++;
    if (g->loops > 1)
        cover(g, CONSTRUCT_NESTED_LOOPS);
    for (unsigned n = 1 + roll(g, 3); n > 0; n--)
        write_statement(g);
    if (chance(g, 40))
        write_leave(g);
    write_statement(g);
    g->loops--;
}

static void write_loop(struct generator *g)
{
    size_t vars = g->var_count;
    char i[16];
    uint32_t turns = 1 + roll(g, 4), kind = roll(g, 4);
    (void)snprintf(i, sizeof i, "i%u", g->names++);
    line(g);
    if (kind == 0) {
        cover(g, CONSTRUCT_WHILE);
        put(g, "{ int %s = 0; while (%s < %u && (", i, i, turns);
        write_condition(g, 2);
        put(g, ")) { %s++;\n", i);
    } else if (kind == 1) {
        cover(g, CONSTRUCT_DO);
        put(g, "{ int %s = 0; do { %s++;\n", i, i);
    } else if (kind == 2) {
        cover(g, CONSTRUCT_FOR_PARTS);
        put(g, "{ int %s = %u; for (; %s > 0; %s--, pulse += %s) {\n", i, turns, i, i, i);
    } else {
        cover(g, CONSTRUCT_FOR);
        put(g, "{ for (int %s = 0; %s < %u; %s++) {\n", i, i, turns, i);
    }
    if (g->var_count == MAX_VARS)
        vars = --g->var_count;
    struct variable *v = &g->vars[g->var_count++];
    *v = (struct variable){.kind = INT};
    memcpy(v->name, i, sizeof i);
    g->indent++;
    write_loop_body(g);
    g->indent--;
    line(g);
    g->var_count = vars + 1; /* the condition does not see what the body declared */
    if (kind == 1) {
        put(g, "} while (%s < %u && (", i, turns);
        write_condition(g, 2);
        put(g, ")); }\n");
    } else {
        put(g, "} }\n");
    }
    g->var_count = vars;
}

static void write_print(struct generator *g)
{
    if (!g->prints)
        return;
    g->prints--;
    line(g);
    switch (roll(g, g->what.texts ? 5 : 3)) {
    case 0:
        put(g, "warning(");
        break;
    case 1:
        put(g, "error(");
        break;
    case 3:
        put(g, "fprintf(\"notes.txt\", ");
        break;
    case 4:
        put(g, "keep(format(");
        write_format(g);
        put(g, "));\n");
        return;
    default:
        put(g, "printf(");
    }
    write_format(g);
    put(g, ");\n");
}

static void write_global_assign(struct generator *g)
{
    cover(g, CONSTRUCT_GLOBAL_WRITTEN);
    line(g);
    switch (roll(g, g->opt.numbers_only ? 2 : 3)) {
    case 0:
        put(g, "P += ");
        write_expression(g, kind_of(ASL_VECTOR), 3);
        break;
    case 1:
        put(g, "N = ");
        write_expression(g, kind_of(ASL_NORMAL), 3);
        break;
    default:
        put(g, "Ci = ");
        write_expression(g, kind_of(ASL_CLOSURE), 3);
    }
    put(g, ";\n");
}

static void write_exit(struct generator *g)
{
    cover(g, g->in_function ? CONSTRUCT_EXIT_FUNCTION : CONSTRUCT_EXIT);
    line(g);
    put(g, "if (u > 0.%u && ", 5 + roll(g, 4));
    write_condition(g, 1);
    put(g, ") %s;\n", g->in_function || chance(g, 60) ? "exit()" : "return");
}

static void write_macro_use(struct generator *g)
{
    line(g);
    switch (roll(g, 4)) {
    case 0:
        cover(g, CONSTRUCT_MACRO_FUNCTION);
        put(g, "pulse += SQUARE(");
        write_expression(g, FLOAT, 2);
        put(g, ");\n");
        break;
    case 1:
        cover(g, CONSTRUCT_MACRO_PASTE);
        put(g, "PASTE(pul, se) -= 1;\n");
        break;
    case 2:
        cover(g, CONSTRUCT_MACRO_VARIADIC);
        put(g, "pulse = CALL(max, pulse, u);\n");
        break;
    default:
        cover(g, CONSTRUCT_CONDITIONAL);
        put(g, "\n#if defined(SCALE) && SQUARE(2) == %u\n    pulse *= SCALE;\n", 3 + roll(g, 3));
        put(g,
            "#elif LEVEL > 1 /* not here */\n    pulse -= SCALE;\n#else\n    pulse++;\n#endif\n");
    }
}

static void write_call_statement(struct generator *g)
{
    static const enum asl_base results[] = {ASL_FLOAT, ASL_INT, ASL_COLOR, ASL_VECTOR};
    enum asl_base b = results[roll(g, 4)];
    char name[16];
    struct text call = {0}, *out = g->out;
    g->out = &call;
    bool ok = write_function_call(g, kind_of(b), 3);
    g->out = out;
    if (ok) {
        (void)snprintf(name, sizeof name, "r%u", g->names++);
        line(g);
        put(g, "%s %s = ", kind_name(g, kind_of(b)), name);
        text_append(g->out, call.data, call.len);
        put(g, "; ");
        write_keep(g, name, kind_of(b));
        put(g, "\n");
    }
    text_free(&call);
}

static void write_statement(struct generator *g)
{
    if (g->budget <= 0 || g->indent > 5) {
        line(g);
        put(g, "pulse += 0.25;\n");
        return;
    }
    switch (roll(g, 24)) {
    case 0:
    case 1:
    case 2:
    case 3:
        write_declaration(g);
        break;
    case 4:
    case 5:
        write_if(g);
        break;
    case 6:
    case 7:
        if (g->loops < 2)
            write_loop(g);
        break;
    case 8:
    case 9:
    case 10:
    case 11:
        line(g);
        write_builtin_statement(g);
        break;
    case 12:
        write_call_statement(g);
        break;
    case 13:
        write_print(g);
        break;
    case 14:
        if (chance(g, 25))
            write_large_copy(g);
        else
            write_whole_assign(g);
        break;
    case 15:
        if (chance(g, 40) && g->in_shader)
            write_global_assign(g);
        break;
    case 16:
        if (chance(g, 15))
            write_exit(g);
        break;
    case 17:
        if (g->macros && g->in_shader)
            write_macro_use(g);
        break;
    default:
        write_assign(g);
    }
}

/* ---- functions ------------------------------------------------------------------------------- */

static void write_formals(struct generator *g, const struct function *f)
{
    for (unsigned i = 0; i < f->count; i++)
        put(g, "%s%s%s p%u%s", i ? ", " : "", f->output[i] ? "output " : "",
            kind_name(g, f->formal[i]), i, f->formal[i].array ? "[]" : "");
}

/* The body of f, whose parameters are p0, p1 ... */
static void write_function(struct generator *g, struct function *f, unsigned statements)
{
    size_t vars = g->var_count;
    unsigned loops = g->loops;
    bool inside = g->in_function;
    line(g);
    put(g, "%s %s(", kind_name(g, f->result), f->name);
    write_formals(g, f);
    put(g, ")\n");
    line(g);
    put(g, "{\n");
    g->indent++;
    line(g);
    put(g, "float pulse = 1;\n");
    g->in_function = true;
    g->loops = 1; /* at most one around what is here */
    for (unsigned i = 0; i < f->count; i++) {
        struct kind k = f->formal[i];
        if (k.array)
            k.array = 2; /* the shortest that is passed */
        struct variable *v = declare(g, "p", k, f->output[i]);
        (void)snprintf(v->name, sizeof v->name, "p%u", i);
    }
    for (unsigned i = 0; i < statements; i++)
        write_statement(g);
    if (chance(g, 40) && f->result.base != ASL_VOID) {
        cover(g, CONSTRUCT_FUNCTION_EARLY);
        line(g);
        put(g, "if (");
        write_condition(g, 2);
        put(g, ") return ");
        write_expression(g, f->result, 3);
        put(g, ";\n");
        write_statement(g);
    }
    if (f->result.base != ASL_VOID) {
        line(g);
        put(g, "return ");
        write_expression(g, f->result, 4);
        put(g, ";\n");
    }
    g->indent--;
    line(g);
    put(g, "}\n");
    g->in_function = inside;
    g->loops = loops;
    g->var_count = vars;
}

static struct function *add_function(struct generator *g, struct function f, unsigned statements)
{
    if (g->function_count == MAX_FUNCTIONS)
        return NULL;
    write_function(g, &f, statements);
    g->functions[g->function_count] = f;
    return &g->functions[g->function_count++];
}

static struct kind any_result(struct generator *g)
{
    struct kind k = any_kind(g);
    return k.base == ASL_STRING || k.base == ASL_MATRIX ? FLOAT : k;
}

static void write_any_function(struct generator *g, bool nested)
{
    struct function f = {.result = any_result(g), .nested = nested};
    (void)snprintf(f.name, sizeof f.name, "f%u", g->names++);
    f.count = 1 + roll(g, MAX_FORMALS - 1);
    cover(g, nested ? CONSTRUCT_FUNCTION_NESTED : CONSTRUCT_FUNCTION);
    if (f.result.base == ASL_STRUCT)
        cover(g, CONSTRUCT_FUNCTION_STRUCT);
    for (unsigned i = 0; i < f.count; i++) {
        f.formal[i] = any_kind(g);
        f.output[i] = chance(g, 35) && f.formal[i].base != ASL_STRUCT;
        if (f.output[i])
            cover(g, CONSTRUCT_FUNCTION_OUTPUT);
        else if (f.formal[i].base == ASL_FLOAT && chance(g, 25)) {
            f.formal[i].array = 2;
            cover(g, CONSTRUCT_FUNCTION_ARRAY);
        }
    }
    (void)add_function(g, f, 2 + roll(g, 4));
}

static void write_overloads(struct generator *g)
{
    char name[16];
    (void)snprintf(name, sizeof name, "o%u", g->names++);
    struct function f = {.result = FLOAT, .count = 1, .formal = {FLOAT}};
    memcpy(f.name, name, sizeof name);
    cover(g, CONSTRUCT_OVERLOAD);
    (void)add_function(g, f, 1);
    f.formal[0] = kind_of(any_triple(g));
    (void)add_function(g, f, 1);
    f.formal[0] = INT;
    f.formal[1] = FLOAT;
    f.count = 2;
    (void)add_function(g, f, 1);
    (void)snprintf(f.name, sizeof f.name, "o%u", g->names++);
    f = (struct function){.result = FLOAT, .count = 1, .formal = {FLOAT}, .cast = true};
    (void)snprintf(f.name, sizeof f.name, "w%u", g->names++);
    cover(g, CONSTRUCT_OVERLOAD_RESULT);
    (void)add_function(g, f, 1);
    f.result = kind_of(ASL_COLOR);
    (void)add_function(g, f, 1);
}

/* Arguments of a call; false when an output finds no variable. Text goes to *out. */
static bool write_arguments(struct generator *g, const struct function *f, int depth)
{
    const struct variable *alias = NULL;
    for (unsigned i = 0; i < f->count; i++) {
        struct kind k = f->formal[i];
        char place[64];
        put(g, i ? ", " : "");
        if (k.array) {
            const struct variable *v = NULL;
            for (int n = 2; n <= 5 && !v; n++)
                v = pick_variable(g, (struct kind){k.base, n, 0}, false);
            if (!v)
                return false;
            put(g, "%s", v->name);
        } else if (f->output[i]) {
            const struct variable *v = pick_variable(g, k, true);
            if (v && chance(g, 70)) {
                alias = v;
                put(g, "%s", v->name);
            } else if (pick_place(g, k.base, true, place)) {
                cover(g, CONSTRUCT_FUNCTION_ELEMENT);
                put(g, "%s", place);
            } else {
                return false;
            }
        } else if (alias && same_kind(alias->kind, k) && chance(g, 40)) {
            cover(g, CONSTRUCT_FUNCTION_ALIAS);
            put(g, "%s", alias->name);
        } else if (is_triple(k.base) && chance(g, 8) && !f->cast && f->name[0] == 'f') {
            cover(g, CONSTRUCT_LIST_ARGUMENT);
            put(g, "{ u, v, 0.5 }");
        } else {
            write_expression(g, k, depth - 1);
        }
    }
    return true;
}

bool write_function_call(struct generator *g, struct kind result, int depth)
{
    const struct function *chosen = NULL;
    uint32_t seen = 0;
    if (!g->calls)
        return false;
    for (unsigned i = 0; i < g->function_count; i++)
        if (same_kind(g->functions[i].result, result) && roll(g, ++seen) == 0)
            chosen = &g->functions[i];
    if (!chosen)
        return false;
    struct text call = {0}, *out = g->out;
    g->calls--;
    g->out = &call;
    bool ok = write_arguments(g, chosen, depth);
    g->out = out;
    if (ok) {
        put(g, chosen->cast ? "((%s)%s(" : "%.0s%s(", kind_name(g, result), chosen->name);
        text_append(g->out, call.data ? call.data : "", call.len);
        put(g, chosen->cast ? "))" : ")");
    }
    text_free(&call);
    return ok;
}

/* ---- what a file begins with ----------------------------------------------------------------- */

static const struct kind field_kinds[] = {
    {ASL_FLOAT, 0, 0}, {ASL_INT, 0, 0}, {ASL_COLOR, 0, 0}, {ASL_POINT, 0, 0}, {ASL_FLOAT, 3, 0}};

static void write_structs(struct generator *g)
{
    unsigned count = roll(g, MAX_STRUCTS + 1);
    for (unsigned i = 0; i < count; i++) {
        struct structure *s = &g->structs[i];
        (void)snprintf(s->name, sizeof s->name, "S%u", i);
        s->count = 2 + roll(g, MAX_FIELDS - 1);
        put(g, "struct %s {\n", s->name);
        for (unsigned k = 0; k < s->count; k++) {
            struct field *f = &s->field[k];
            (void)snprintf(f->name, sizeof f->name, "m%u", k);
            f->kind = field_kinds[roll(g, i ? 5 : 4)];
            if (i && k == 0) {
                cover(g, CONSTRUCT_STRUCT_NESTED);
                f->kind = (struct kind){ASL_STRUCT, 0, (int)roll(g, i)};
            }
            put(g, "    %s %s", kind_name(g, f->kind), f->name);
            put(g, f->kind.array ? "[%d];\n" : ";\n", f->kind.array);
        }
        put(g, "};\n");
        g->struct_count = i + 1;
    }
}

/* S0 + S0 field by field. */
static void write_operator(struct generator *g)
{
    const struct structure *s = &g->structs[0];
    g->operators = true;
    put(g, "S0 __operator__add__(S0 a, S0 b)\n{\n    S0 r = a;\n");
    for (unsigned i = 0; i < s->count; i++)
        put(g, "    r.%s += b.%s;\n", s->field[i].name, s->field[i].name);
    put(g, "    return r;\n}\nint __operator__eq__(S0 a, S0 b) { return a.m0 == b.m0; }\n");
}

static void write_macros(struct generator *g)
{
    cover(g, CONSTRUCT_MACRO_OBJECT);
    cover(g, CONSTRUCT_STDOSL);
    cover(g, CONSTRUCT_COMMENTS);
    put(g, "#include \"stdosl.h\"\n#define SCALE 0.5\n#define SQUARE(x) ((x) * (x))\n"
           "#define PASTE(a, b) a ## b\n#define QUOTED(x) #x\n#define CALL(f, ...) \\\n"
           "    f(__VA_ARGS__)\n// a comment that \\\n   goes on\n");
}

/* What keeps numbers where builtins are at home. */
static void write_tamers(struct generator *g)
{
    static const enum asl_base triples[] = {ASL_COLOR, ASL_POINT, ASL_VECTOR, ASL_NORMAL};
    put(g, "float tame(float x) { return isfinite(x) ? clamp(x, -1000.0, 1000.0) : 0.5; }\n"
           "float within(float x, float a, float b) { return a + (b - a) * fabs(fmod(tame(x), "
           "1.0)); }\n");
    for (int i = 0; i < 4; i++) {
        const char *t = kind_name(g, kind_of(triples[i]));
        put(g, "%s tame(%s x) { return %s(tame(x[0]), tame(x[1]), tame(x[2])); }\n", t, t, t);
        put(g,
            "%s within(%s x, float a, float b) { return %s(within(x[0], a, b), within(x[1], a, "
            "b), within(x[2], a, b)); }\n",
            t, t, t);
    }
}

/* ---- a shader -------------------------------------------------------------------------------- */

/* Inside the shader, because they write its outputs. */
static void write_keepers(struct generator *g)
{
    put(g, "    float pulse = u;\n"
           "    void keep(int x) { acc = acc * 31 + x; }\n"
           "    void keep(float x) { keep(isnan(x) ? 77 : hash(x)); }\n"
           "    void keep(color x) { keep(x[0]); keep(x[1]); keep(x[2]); }\n"
           "    void keep(matrix x) { for (int i = 0; i < 4; i++) { keep(x[0][i]); keep(x[1][i]); "
           "keep(x[2][i]); keep(x[3][i]); } }\n");
    if (g->what.texts)
        put(g, "    void keep(string x) { keep(hash(x)); }\n");
    else
        put(g, "    void keep(string x) { keep(x == \"abc\"); }\n");
    if (g->what.discipline == ASL_EXACT)
        return;
    put(g, "    float round10(float x) { int k = clamp(9 - int(logb(x)), -30, 30); float s = k < 0 "
           "? 1.0 / (1 << -k) : float(1 << k); return floor(x * s + 0.5) / s; }\n"
           "    float snap_by(float x, float e) { if (round10(x - e) != round10(x + e)) unsure = "
           "1; return round10(x); }\n"
           "    float snap(float x, float b) { return snap_by(x, b * fabs(x)); }\n"
           "    float largest(color x) { return max(max(fabs(x[0]), fabs(x[1])), max(fabs(x[2]), "
           "0.001)); }\n");
    static const enum asl_base triples[] = {ASL_COLOR, ASL_POINT, ASL_VECTOR, ASL_NORMAL};
    for (int i = 0; i < 4; i++) {
        const char *t = kind_name(g, kind_of(triples[i]));
        put(g,
            "    %s snap(%s x, float b) { return %s(snap(x[0], b), snap(x[1], b), snap(x[2], b)); "
            "}\n"
            "    %s snap_largest(%s x, float b) { float e = b * largest(x); return "
            "%s(snap_by(x[0], "
            "e), snap_by(x[1], e), snap_by(x[2], e)); }\n",
            t, t, t, t, t, t);
    }
}

struct shader_parameter {
    const char *text, *name;
    struct kind kind;
    bool writable;
};
static const struct shader_parameter parameters[] = {
    {"float pf0 = 0.75", "pf0", {ASL_FLOAT, 0, 0}, false},
    {"float pl0 = 0.25", "", {ASL_FLOAT, 0, 0}, false},
    {"int pi0 = 3 [[ string label = \"count\", int hidden = 1 ]]", "pi0", {ASL_INT, 0, 0}, false},
    {"color pc0 = color(0.2, pf0, u)", "pc0", {ASL_COLOR, 0, 0}, false},
    {"vector pv0 = vector(1, 2, v)", "pv0", {ASL_VECTOR, 0, 0}, false},
    {"float pa0[3] = { 1, 2.5, -3 }", "pa0", {ASL_FLOAT, 3, 0}, false},
    {"matrix pm0 = 2", "pm0", {ASL_MATRIX, 0, 0}, false},
    {"string ps0 = \"abc\"", "ps0", {ASL_STRING, 0, 0}, false},
    {"float ud_float = 0.125 [[ int lockgeom = 0 ]]", "ud_float", {ASL_FLOAT, 0, 0}, false},
    {"color ud_color = 0 [[ int lockgeom = 0 ]]", "ud_color", {ASL_COLOR, 0, 0}, false},
    {"float s = 0 [[ int lockgeom = 0 ]]", "s", {ASL_FLOAT, 0, 0}, false},
    {"output int acc = 1", "", {ASL_INT, 0, 0}, true},
    {"output int unsure = 0", "", {ASL_INT, 0, 0}, true},
    {"output int oi0 = 2", "oi0", {ASL_INT, 0, 0}, true},
    {"output float of0 = pf0", "of0", {ASL_FLOAT, 0, 0}, true},
    {"output color oc0 = color(1, 0.5, 0)", "oc0", {ASL_COLOR, 0, 0}, true},
    {"output point op0 = P", "op0", {ASL_POINT, 0, 0}, true},
    {"output float oa0[3] = { 0.5 }", "oa0", {ASL_FLOAT, 3, 0}, true},
    {"output string os0 = \"x\"", "os0", {ASL_STRING, 0, 0}, true},
};
enum { PARAMETERS = sizeof parameters / sizeof *parameters };

static void write_parameters(struct generator *g)
{
    for (size_t i = 0; i < PARAMETERS; i++) {
        const struct shader_parameter *p = &parameters[i];
        if (g->what.discipline == ASL_EXACT && strstr(p->text, " unsure "))
            continue;
        put(g, "%s    %s", i ? ",\n" : "", p->text);
        if (*p->name && g->var_count < MAX_VARS) {
            struct variable *v = &g->vars[g->var_count++];
            *v = (struct variable){.kind = p->kind, .writable = p->writable};
            (void)snprintf(v->name, sizeof v->name, "%s", p->name);
        }
    }
    cover(g, CONSTRUCT_PARAMETER_DEFAULT);
    cover(g, CONSTRUCT_PARAMETER_ARRAY);
    cover(g, CONSTRUCT_METADATA);
    cover(g, CONSTRUCT_USERDATA);
    if (g->struct_count) {
        struct kind k = {ASL_STRUCT, 0, 0};
        const struct structure *s = &g->structs[0];
        cover(g, CONSTRUCT_PARAMETER_STRUCT);
        put(g, ",\n    S0 pt0 = { ");
        for (unsigned i = 0; i < s->count; i++)
            put(g, "%s%s", i ? ", " : "", s->field[i].kind.array ? "{ 1, 2 }" : "1");
        put(g, " }");
        struct variable *v = declare(g, "pt", k, false);
        (void)snprintf(v->name, sizeof v->name, "pt0");
    }
}

/* A value that changes over the picture goes through a variable, a function and a loop. */
static void write_derivative_flow(struct generator *g)
{
    cover(g, CONSTRUCT_DERIVATIVE_FLOW);
    put(g, "    float d0 = u * v, d1 = 0;\n    for (int k = 0; k < 3; k++)\n"
           "        d1 = d1 * 0.5 + d0 * ");
    write_expression(g, FLOAT, 2);
    put(g, ";\n    color d2 = color(d1, d0, P[0]) / (1 + v);\n"
           "    keep(Dx(d1)); keep(Dy(d2)); keep(filterwidth(d0));\n");
}

static void write_shader(struct generator *g, unsigned layer)
{
    size_t vars = g->var_count;
    unsigned functions = g->function_count;
    put(g, "\n%s L%u\n    [[ string help = \"generated\" ]]\n(\n",
        chance(g, 70) ? "shader" : "surface", layer);
    write_parameters(g);
    put(g, ")\n{\n");
    g->in_shader = true;
    g->indent = 1;
    write_keepers(g);
    g->budget = 250 + (int)roll(g, 350);
    g->calls = 8;
    g->prints = 3;
    if (chance(g, 60))
        write_any_function(g, true);
    if (chance(g, 50))
        write_derivative_flow(g);
    if (layer) {
        cover(g, CONSTRUCT_LAZY);
        put(g, "    if (v < 0.6)\n        keep(pl0);\n");
    }
    for (unsigned n = 8 + roll(g, 14); n > 0; n--)
        write_statement(g);
    if (!g->opt.numbers_only && chance(g, 60)) {
        put(g, "    Ci += ");
        write_expression(g, kind_of(ASL_CLOSURE), 3);
        put(g, ";\n");
    }
    put(g, "    ");
    for (size_t i = vars; i < g->var_count; i++)
        write_keep(g, g->vars[i].name, g->vars[i].kind);
    put(g, "keep(pulse); keep(P); keep(N);\n}\n");
    g->indent = 0;
    g->in_shader = false;
    g->var_count = vars;
    g->function_count = functions;
}

/* ---- networks -------------------------------------------------------------------------------- */

static const struct {
    const char *from, *to;
    enum asl_construct how;
} wires[] = {
    {"of0", "pf0", CONSTRUCT_CONNECTION},
    {"acc", "pi0", CONSTRUCT_CONNECTION},
    {"oc0", "pc0", CONSTRUCT_CONNECTION},
    {"op0", "pv0", CONSTRUCT_CONNECTION_CONVERT},
    {"oa0", "pa0", CONSTRUCT_CONNECTION},
    {"os0", "ps0", CONSTRUCT_CONNECTION},
    {"oc0[1]", "pf0", CONSTRUCT_CONNECTION_PART},
    {"of0", "pa0[1]", CONSTRUCT_CONNECTION_PART},
    {"oa0[2]", "pc0[0]", CONSTRUCT_CONNECTION_PART},
    {"oi0", "pf0", CONSTRUCT_CONNECTION_CONVERT},
    {"of0", "pc0", CONSTRUCT_CONNECTION_CONVERT},
    {"op0", "ud_color", CONSTRUCT_CONNECTION_CONVERT},
};

static void write_set(struct generator *g)
{
    cover(g, CONSTRUCT_PARAMETER_SET);
    switch (roll(g, 5)) {
    case 0:
        put(g, "//! param pf0 0.%u\n", roll(g, 100));
        break;
    case 1:
        put(g, "//! param pi0 %u\n", roll(g, 9));
        break;
    case 2:
        put(g, "//! param pc0 0.5,0.%u,2\n", roll(g, 10));
        break;
    case 3:
        put(g, "//! param ps0 q%u\n", roll(g, 3));
        break;
    default:
        put(g, "//! param pf0 1.5\n//! param pv0 1,0,%u\n", roll(g, 4));
    }
}

static void write_network(struct generator *g, unsigned layers)
{
    for (unsigned l = 0; l < layers; l++) {
        if (chance(g, 50))
            write_set(g);
        put(g, "//! layer L%u a%u\n", l, l);
    }
    if (layers > 1)
        cover(g, CONSTRUCT_NETWORK);
    for (unsigned l = 1; l < layers; l++) {
        bool used[sizeof wires / sizeof *wires] = {false};
        put(g, "//! connect a%u.of0 a%u.pl0\n", roll(g, l), l);
        if (chance(g, 40))
            continue; /* then nothing but pl0 needs the layer, at some points */
        for (uint32_t n = 1 + roll(g, 4); n > 0; n--) {
            uint32_t w = roll(g, sizeof wires / sizeof *wires);
            for (size_t i = 0; i < sizeof wires / sizeof *wires; i++) /* one wire for a parameter */
                used[w] = used[w] || (used[i] && strncmp(wires[i].to, wires[w].to, 3) == 0);
            if (used[w])
                continue;
            used[w] = true;
            cover(g, wires[w].how);
            put(g, "//! connect a%u.%s a%u.%s\n", roll(g, l), wires[w].from, l, wires[w].to);
        }
    }
}

/* ---- the core language ----------------------------------------------------------------------- */

static void write_core_expression(struct generator *g, int depth)
{
    static const char *const ops[] = {"+", "-", "*", "/", "%", "&", "|", "^", "<", "=="};
    if (depth == 0 || chance(g, 25)) {
        if (chance(g, 50))
            put(g, "%c", "abc"[roll(g, 3)]);
        else
            put(g, "%u", roll(g, 20));
        return;
    }
    put(g, "(");
    write_core_expression(g, depth - 1);
    put(g, " %s ", ops[roll(g, 10)]);
    write_core_expression(g, depth - 1);
    put(g, ")");
}

static void write_core(struct generator *g)
{
    cover(g, CONSTRUCT_CORE);
    put(g, "var a;\nvar b;\nvar c;\n");
    for (unsigned n = 4 + roll(g, 6); n > 0; n--) {
        char x = "abc"[roll(g, 3)];
        if (chance(g, 20)) {
            put(g, "if (");
            write_core_expression(g, 2);
            put(g, ") ");
        } else if (chance(g, 10)) {
            put(g, "skip;\n");
        }
        put(g, "%c = ", x);
        write_core_expression(g, 4);
        put(g, ";\n");
    }
    put(g, "a += int(u * 100) * b;\n");
}

/* ---- all ------------------------------------------------------------------------------------- */

static void write_program(struct generator *g)
{
    unsigned layers = g->opt.single || chance(g, 60) ? 1 : 2 + roll(g, 2);
    g->what.core = chance(g, 4);
    g->what.network = layers > 1;
    g->what.texts = !g->opt.numbers_only && chance(g, 45);
    g->what.discipline = chance(g, 40) ? ASL_SNAPPED : ASL_EXACT;
    if (g->what.core) {
        g->what = (struct asl_generated){.core = true};
        write_core(g);
        return;
    }
    write_network(g, layers);
    g->macros = chance(g, 50);
    if (g->macros)
        write_macros(g);
    write_structs(g);
    write_tamers(g);
    if (g->struct_count && chance(g, 70))
        write_operator(g);
    g->budget = 150;
    g->calls = 3;
    if (chance(g, 60))
        write_overloads(g);
    for (unsigned n = roll(g, 3); n > 0; n--)
        write_any_function(g, false);
    for (unsigned l = 0; l < layers; l++)
        write_shader(g, l);
}

enum status asl_generate(uint64_t seed, const struct asl_generate_options *opt, struct text *out,
                         struct asl_coverage *coverage, struct asl_generated *what,
                         struct error *err)
{
    size_t count;
    (void)signatures_all(&count);
    struct generator *g = calloc(1, sizeof *g);
    bool *marks = calloc(CONSTRUCT_COUNT + count, sizeof *marks);
    if (g && marks) {
        dice_seed(&g->dice, seed);
        g->out = out;
        g->opt = opt ? *opt : (struct asl_generate_options){0};
        g->constructs = marks;
        g->signatures = marks + CONSTRUCT_COUNT;
        put(g, "// isophote: generated program, seed %llu\n", (unsigned long long)seed);
        write_program(g);
        if (coverage)
            coverage_add(coverage, g->constructs, g->signatures);
        if (what)
            *what = g->what;
    }
    bool ok = g && marks && !out->failed;
    free(g);
    free(marks);
    return ok ? STATUS_OK : error_msg(err, STATUS_MEMORY, "out of memory for a generated program");
}
