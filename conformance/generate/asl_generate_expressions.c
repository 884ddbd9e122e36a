/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions of generated programs, by type. Every binary operation stands in parentheses: what
 * the parser makes of precedence is not the translators' business. */
#include "asl_generator.h"

#include <string.h>

static const struct kind INT = {ASL_INT, 0, 0}, FLOAT = {ASL_FLOAT, 0, 0},
                         STRING = {ASL_STRING, 0, 0};

/* ---- literals -------------------------------------------------------------------------------- */

static void write_int(struct generator *g)
{
    static const char *const special[] = {
        "0", "1", "2", "3", "31", "255", "(-1)", "2147483647", "(-2147483648)"};
    if (chance(g, 10)) {
        cover(g, CONSTRUCT_HEXADECIMAL);
        put(g, "0x%x", roll(g, 0x7fffffff));
    } else if (g->macros && chance(g, 5)) {
        cover(g, CONSTRUCT_PREDEFINED);
        put(g, "__LINE__");
    } else if (chance(g, 25)) {
        put(g, "%s", special[roll(g, sizeof special / sizeof *special)]);
    } else {
        put(g, chance(g, 20) ? "(-%u)" : "%u", roll(g, 12));
    }
}

static void write_float(struct generator *g)
{
    static const char *const special[] = {"0.0", "1.0", "0.5", "2.0", "-1.0", "0.1", "1e-3", "1e4"};
    if (g->macros && chance(g, 5)) {
        cover(g, CONSTRUCT_PREDEFINED);
        put(g, chance(g, 50) ? "M_PI" : "M_SQRT2");
    } else if (chance(g, 40)) {
        const char *s = special[roll(g, sizeof special / sizeof *special)];
        put(g, *s == '-' ? "(%s)" : "%s", s);
    } else {
        put(g, chance(g, 25) ? "(-%u.%05u)" : "%u.%05u", roll(g, 4), roll(g, 100000));
    }
}

void write_string_literal(struct generator *g)
{
    static const char *const words[] = {"\"\"",    "\"a\"",    "\"abc\"",      "\"Hello World\"",
                                        "\"b c\"", "\"x1y2\"", "\"-12.5e1z\"", "\"common\""};
    if (chance(g, 12)) {
        cover(g, CONSTRUCT_ESCAPES);
        put(g, "\"q\\t\\\"\\x41\\101\" \"z\"");
    } else if (g->macros && chance(g, 10)) {
        cover(g, CONSTRUCT_MACRO_PASTE);
        put(g, "QUOTED(word %u)", roll(g, 9));
    } else {
        put(g, "%s", words[roll(g, sizeof words / sizeof *words)]);
    }
}

void write_literal(struct generator *g, enum asl_base base)
{
    if (base == ASL_INT) {
        write_int(g);
    } else if (base == ASL_FLOAT) {
        write_float(g);
    } else if (base == ASL_STRING) {
        write_string_literal(g);
    } else if (base == ASL_CLOSURE) {
        put(g, "diffuse(N)");
    } else if (base == ASL_MATRIX) {
        put(g, "matrix(");
        write_float(g);
        put(g, ")");
    } else {
        put(g, "%s(", kind_name(g, kind_of(base)));
        for (int i = 0; i < 3; i++) {
            put(g, i ? ", " : "");
            write_float(g);
        }
        put(g, ")");
    }
}

/* ---- leaves ---------------------------------------------------------------------------------- */

static bool write_global(struct generator *g, enum asl_base base)
{
    static const struct {
        const char *name;
        enum asl_base base;
    } globals[] = {{"P", ASL_POINT},    {"Ps", ASL_POINT},    {"I", ASL_VECTOR},
                   {"N", ASL_NORMAL},   {"Ng", ASL_NORMAL},   {"u", ASL_FLOAT},
                   {"v", ASL_FLOAT},    {"dPdu", ASL_VECTOR}, {"dPdv", ASL_VECTOR},
                   {"time", ASL_FLOAT}, {"dtime", ASL_FLOAT}, {"dPdtime", ASL_VECTOR},
                   {"Ci", ASL_CLOSURE}, {"u", ASL_FLOAT},     {"v", ASL_FLOAT}};
    enum { COUNT = sizeof globals / sizeof *globals };
    uint32_t start = roll(g, COUNT);
    for (uint32_t i = 0; i < COUNT; i++)
        if (globals[(start + i) % COUNT].base == base) {
            cover(g, CONSTRUCT_GLOBALS);
            put(g, "%s", globals[(start + i) % COUNT].name);
            return true;
        }
    return false;
}

static void write_struct_value(struct generator *g, struct kind k, int depth)
{
    const struct structure *s = &g->structs[k.st];
    cover(g, CONSTRUCT_CONSTRUCT_STRUCT);
    put(g, "%s(", s->name);
    for (unsigned i = 0; i < s->count; i++) {
        put(g, i ? ", " : "");
        write_initial(g, s->field[i].kind, depth - 1);
    }
    put(g, ")");
}

static void write_leaf(struct generator *g, struct kind k)
{
    char place[64];
    if (k.base == ASL_STRUCT) {
        const struct variable *v = pick_variable(g, k, false);
        if (v)
            put(g, "%s", v->name);
        else
            write_struct_value(g, k, 0);
    } else if (chance(g, 65) && pick_place(g, k.base, false, place)) {
        put(g, "%s", place);
    } else if (!chance(g, 50) || !write_global(g, k.base)) {
        write_literal(g, k.base);
    }
}

/* ---- what all types share -------------------------------------------------------------------- */

static void write_choice(struct generator *g, struct kind k, int depth)
{
    cover(g, CONSTRUCT_TERNARY);
    put(g, "(");
    write_condition(g, depth - 1);
    put(g, " ? ");
    char place[64];
    bool effect = k.base == ASL_INT && pick_place(g, ASL_INT, true, place);
    if (effect && chance(g, 30)) {
        cover(g, CONSTRUCT_TERNARY_EFFECT);
        put(g, "(%s += 3)", place);
    } else {
        write_expression(g, k, depth - 1);
    }
    put(g, " : ");
    write_expression(g, k, depth - 1);
    put(g, ")");
}

static bool write_assignment(struct generator *g, struct kind k, int depth)
{
    char place[64];
    if (k.base == ASL_STRUCT || !pick_place(g, k.base, true, place))
        return false;
    cover(g, CONSTRUCT_ASSIGN_VALUE);
    put(g, "(%s = ", place);
    write_expression(g, k, depth - 1);
    put(g, ")");
    return true;
}

/* `x op (x = e)`: the left operand's value counts as it was. */
static bool write_order(struct generator *g, struct kind k, int depth)
{
    const struct variable *v = pick_variable(g, k, true);
    if (!v)
        return false;
    cover(g, CONSTRUCT_ORDER);
    put(g, "(%s - (%s = ", v->name, v->name);
    write_expression(g, k, depth - 1);
    put(g, "))");
    return true;
}

static bool write_increment(struct generator *g, enum asl_base base)
{
    const struct variable *v = pick_variable(g, kind_of(base), true);
    if (!v)
        return false;
    cover(g, CONSTRUCT_INCREMENT);
    switch (roll(g, 4)) {
    case 0:
        put(g, "(%s++)", v->name);
        break;
    case 1:
        put(g, "(%s--)", v->name);
        break;
    case 2:
        put(g, "(++%s)", v->name);
        break;
    default:
        put(g, "(--%s)", v->name);
    }
    return true;
}

static void write_comma(struct generator *g, struct kind k, int depth)
{
    cover(g, CONSTRUCT_COMMA);
    put(g, "(");
    if (!write_increment(g, ASL_INT) && !write_increment(g, ASL_FLOAT))
        write_expression(g, INT, 0);
    put(g, ", ");
    write_expression(g, k, depth - 1);
    put(g, ")");
}

static void write_binary(struct generator *g, struct kind a, const char *op, struct kind b,
                         int depth)
{
    put(g, "(");
    write_expression(g, a, depth - 1);
    put(g, " %s ", op);
    write_expression(g, b, depth - 1);
    put(g, ")");
}

/* ---- conditions and ints --------------------------------------------------------------------- */

static void write_comparison(struct generator *g, int depth)
{
    static const char *const order[] = {"<", "<=", ">", ">=", "==", "!="};
    static const char *const equal[] = {"==", "!="};
    switch (roll(g, 7)) {
    case 0:
    case 1:
        cover(g, CONSTRUCT_INT_COMPARE);
        write_binary(g, INT, order[roll(g, 6)], INT, depth);
        break;
    case 2:
        cover(g, CONSTRUCT_FLOAT_COMPARE);
        write_binary(g, FLOAT, order[roll(g, 6)], chance(g, 25) ? INT : FLOAT, depth);
        break;
    case 3:
        cover(g, CONSTRUCT_FLOAT_COMPARE);
        write_binary(g, FLOAT, order[roll(g, 4)], FLOAT, depth);
        break;
    case 4: {
        static const enum asl_base triples[] = {ASL_COLOR, ASL_POINT, ASL_VECTOR, ASL_NORMAL};
        struct kind t = kind_of(triples[roll(g, 4)]);
        cover(g, CONSTRUCT_TRIPLE_COMPARE);
        write_binary(g, t, equal[roll(g, 2)], chance(g, 30) ? FLOAT : t, depth);
        break;
    }
    case 5:
        cover(g, CONSTRUCT_MATRIX_COMPARE);
        write_binary(g, kind_of(ASL_MATRIX), equal[roll(g, 2)], kind_of(ASL_MATRIX), depth - 1);
        break;
    default:
        cover(g, CONSTRUCT_STRING_COMPARE);
        write_binary(g, STRING, equal[roll(g, 2)], STRING, depth - 1);
    }
}

static void write_logic(struct generator *g, int depth)
{
    cover(g, CONSTRUCT_LOGICAL);
    if (chance(g, 20)) {
        put(g, chance(g, 50) ? "(!" : "(not ");
        write_condition(g, depth - 1);
        put(g, ")");
        return;
    }
    static const char *const ops[] = {"&&", "||", "and", "or"};
    put(g, "(");
    write_condition(g, depth - 1);
    put(g, " %s ", ops[roll(g, 4)]);
    if (chance(g, 30) && write_increment(g, ASL_INT))
        cover(g, CONSTRUCT_SHORT_CIRCUIT);
    else
        write_condition(g, depth - 1);
    put(g, ")");
}

void write_condition(struct generator *g, int depth)
{
    if (depth <= 0 || g->budget <= 0) {
        put(g, chance(g, 50) ? "(u < %u.%u)" : "(v >= %u.%u)", 0, roll(g, 10));
        return;
    }
    switch (roll(g, 6)) {
    case 0:
        cover(g, CONSTRUCT_TRUTH);
        switch (roll(g, 4)) {
        case 0:
            write_expression(g, FLOAT, depth - 1);
            break;
        case 1:
            write_expression(g, kind_of(ASL_COLOR), depth - 1);
            break;
        case 2:
            write_expression(g, STRING, depth - 1);
            break;
        default:
            write_expression(g, INT, depth - 1);
        }
        break;
    case 1:
        write_logic(g, depth);
        break;
    default:
        write_comparison(g, depth);
    }
}

static void write_int_operation(struct generator *g, int depth)
{
    static const char *const arithmetic[] = {"+", "-", "*", "/", "%"};
    static const char *const bits[] = {"&", "|", "^"};
    static const char *const shifts[] = {"<<", ">>"};
    switch (roll(g, 8)) {
    case 0:
        cover(g, CONSTRUCT_INT_BITS);
        write_binary(g, INT, bits[roll(g, 3)], INT, depth);
        break;
    case 1:
        cover(g, CONSTRUCT_INT_SHIFT);
        write_binary(g, INT, shifts[roll(g, 2)], INT, depth);
        break;
    case 2:
        cover(g, CONSTRUCT_INT_BITS);
        put(g, "(~");
        write_expression(g, INT, depth - 1);
        put(g, ")");
        break;
    case 3:
        cover(g, CONSTRUCT_NEGATION);
        put(g, "(-");
        write_expression(g, INT, depth - 1);
        put(g, ")");
        break;
    case 4:
        if (chance(g, 20)) {
            cover(g, CONSTRUCT_INT_DIVIDE_ZERO);
            put(g, "(");
            write_expression(g, INT, depth - 1);
            put(g, chance(g, 50) ? " / int(u - u))" : " %% int(u - u))");
            break;
        }
        /* fall through */
    default:
        cover(g, CONSTRUCT_INT_ARITHMETIC);
        write_binary(g, INT, arithmetic[roll(g, 5)], INT, depth);
    }
}

static void write_int_expression(struct generator *g, int depth)
{
    switch (roll(g, 12)) {
    case 0:
        write_comparison(g, depth);
        return;
    case 1:
        write_logic(g, depth);
        return;
    case 2:
        write_choice(g, INT, depth);
        return;
    case 3:
        cover(g, CONSTRUCT_CAST_INT);
        put(g, chance(g, 50) ? "((int)" : "int(");
        put(g, "tame(");
        write_expression(g, FLOAT, depth - 1);
        put(g, "))");
        return;
    case 4:
        if (write_assignment(g, INT, depth))
            return;
        break;
    case 5:
        if (write_increment(g, ASL_INT))
            return;
        break;
    case 6:
        if (write_function_call(g, INT, depth))
            return;
        break;
    case 7:
    case 8:
        if (write_builtin_call(g, ASL_INT, depth))
            return;
        break;
    case 9:
        if (chance(g, 30)) {
            write_comma(g, INT, depth);
            return;
        }
        if (write_order(g, INT, depth))
            return;
        break;
    default:
        break;
    }
    write_int_operation(g, depth);
}

/* ---- floats ---------------------------------------------------------------------------------- */

static void write_float_operation(struct generator *g, int depth)
{
    static const char *const ops[] = {"+", "-", "*", "+", "-", "*", "/", "%"};
    if (chance(g, 4)) {
        cover(g, CONSTRUCT_FLOAT_DIVIDE_ZERO);
        put(g, "(");
        write_expression(g, FLOAT, depth - 1);
        put(g, " / (u - u))");
        return;
    }
    cover(g, CONSTRUCT_FLOAT_ARITHMETIC);
    if (chance(g, 15))
        write_binary(g, INT, ops[roll(g, 3)], FLOAT, depth);
    else
        write_binary(g, FLOAT, ops[roll(g, 8)], FLOAT, depth);
}

static void write_component(struct generator *g, int depth)
{
    static const enum asl_base triples[] = {ASL_COLOR, ASL_POINT, ASL_VECTOR, ASL_NORMAL};
    enum asl_base base = triples[roll(g, 4)];
    const struct variable *v = pick_variable(g, kind_of(base), false);
    if (!v) {
        put(g, "dot(");
        write_expression(g, kind_of(ASL_VECTOR), depth - 1);
        put(g, ", ");
        write_expression(g, kind_of(ASL_NORMAL), depth - 1);
        put(g, ")");
    } else if (chance(g, 50)) {
        cover(g, CONSTRUCT_COMPONENT_NAME);
        put(g, "%s.%c", v->name, (base == ASL_COLOR ? "rgb" : "xyz")[roll(g, 3)]);
    } else {
        cover(g, CONSTRUCT_COMPONENT_INDEX);
        put(g, "%s[%u]", v->name, roll(g, 3));
    }
}

static void write_float_expression(struct generator *g, int depth)
{
    switch (roll(g, 14)) {
    case 0:
        write_choice(g, FLOAT, depth);
        return;
    case 1:
        write_component(g, depth);
        return;
    case 2:
        if (write_assignment(g, FLOAT, depth))
            return;
        break;
    case 3:
        if (write_function_call(g, FLOAT, depth))
            return;
        break;
    case 4:
    case 5:
    case 6:
        if (write_builtin_call(g, ASL_FLOAT, depth))
            return;
        break;
    case 7:
        if (write_derivative(g, ASL_FLOAT, depth))
            return;
        break;
    case 8:
        cover(g, CONSTRUCT_NEGATION);
        put(g, "(-");
        write_expression(g, FLOAT, depth - 1);
        put(g, ")");
        return;
    case 9:
        cover(g, CONSTRUCT_CONVERSION_INT);
        put(g, chance(g, 50) ? "((float)" : "float(");
        write_expression(g, INT, depth - 1);
        put(g, ")");
        return;
    case 10:
        if (chance(g, 30)) {
            write_comma(g, FLOAT, depth);
            return;
        }
        if (write_increment(g, ASL_FLOAT))
            return;
        break;
    case 11:
        if (write_order(g, FLOAT, depth))
            return;
        break;
    default:
        break;
    }
    write_float_operation(g, depth);
}

/* ---- triples --------------------------------------------------------------------------------- */

static void write_triple_constructor(struct generator *g, struct kind k, int depth)
{
    static const char *const spaces[] = {"\"common\"", "\"object\"", "\"world\""};
    put(g, "%s(", kind_name(g, k));
    if (chance(g, 12)) {
        cover(g, CONSTRUCT_CONSTRUCT_SPACE);
        put(g, "%s, ", k.base == ASL_COLOR ? "\"rgb\"" : spaces[roll(g, 3)]);
    } else if (chance(g, 20)) {
        write_expression(g, chance(g, 25) ? INT : FLOAT, depth - 1);
        put(g, ")");
        cover(g, CONSTRUCT_CONSTRUCT_TRIPLE);
        return;
    }
    cover(g, CONSTRUCT_CONSTRUCT_TRIPLE);
    for (int i = 0; i < 3; i++) {
        put(g, i ? ", " : "");
        write_expression(g, FLOAT, depth - 1);
    }
    put(g, ")");
}

static void write_triple_operation(struct generator *g, struct kind k, int depth)
{
    static const char *const ops[] = {"+", "-", "*", "/", "%"};
    switch (roll(g, 5)) {
    case 0:
        cover(g, CONSTRUCT_TRIPLE_FLOAT);
        write_binary(g, k, ops[roll(g, 4)], chance(g, 25) ? INT : FLOAT, depth);
        break;
    case 1:
        cover(g, CONSTRUCT_TRIPLE_FLOAT);
        write_binary(g, FLOAT, ops[roll(g, 4)], k, depth);
        break;
    case 2:
        cover(g, CONSTRUCT_NEGATION);
        put(g, "(-");
        write_expression(g, k, depth - 1);
        put(g, ")");
        break;
    case 3:
        if (k.base == ASL_POINT || k.base == ASL_VECTOR) {
            cover(g, CONSTRUCT_TRIPLE_MIXED);
            if (k.base == ASL_POINT)
                write_binary(g, kind_of(ASL_VECTOR), "+", k, depth);
            else
                write_binary(g, kind_of(ASL_POINT), "-", kind_of(ASL_POINT), depth);
            break;
        }
        /* fall through */
    default:
        cover(g, CONSTRUCT_TRIPLE_ARITHMETIC);
        if (k.base == ASL_POINT) /* point - point is a vector */
            put(g, "((point)");
        write_binary(g, k, ops[roll(g, 5)], k, depth);
        if (k.base == ASL_POINT)
            put(g, ")");
    }
}

static void write_triple_cast(struct generator *g, struct kind k, int depth)
{
    static const enum asl_base triples[] = {ASL_COLOR, ASL_POINT, ASL_VECTOR, ASL_NORMAL};
    cover(g, CONSTRUCT_CAST_TRIPLE);
    put(g, "((%s)", kind_name(g, k));
    write_expression(g, kind_of(triples[roll(g, 4)]), depth - 1);
    put(g, ")");
}

static void write_triple_expression(struct generator *g, struct kind k, int depth)
{
    switch (roll(g, 12)) {
    case 0:
        write_choice(g, k, depth);
        return;
    case 1:
    case 2:
        write_triple_constructor(g, k, depth);
        return;
    case 3:
        write_triple_cast(g, k, depth);
        return;
    case 4:
        if (write_assignment(g, k, depth))
            return;
        break;
    case 5:
        if (write_function_call(g, k, depth))
            return;
        break;
    case 6:
    case 7:
        if (write_builtin_call(g, k.base, depth))
            return;
        break;
    case 8:
        if (write_derivative(g, k.base, depth))
            return;
        break;
    case 9:
        if (chance(g, 50) && write_increment(g, k.base))
            return;
        break;
    default:
        break;
    }
    write_triple_operation(g, k, depth);
}

/* ---- matrices, strings, closures, structs ---------------------------------------------------- */

static void write_matrix_expression(struct generator *g, int depth)
{
    struct kind k = kind_of(ASL_MATRIX);
    static const char *const spaces[] = {"\"common\"", "\"object\"", "\"world\""};
    switch (roll(g, 8)) {
    case 0:
        write_choice(g, k, depth);
        return;
    case 1:
        cover(g, CONSTRUCT_CONSTRUCT_MATRIX);
        put(g, "matrix(");
        for (int i = 0; i < 16; i++) {
            put(g, i ? ", " : "");
            if (i % 5 == 0)
                write_expression(g, FLOAT, depth - 2);
            else
                write_float(g);
        }
        put(g, ")");
        return;
    case 2:
        cover(g, CONSTRUCT_CONSTRUCT_MATRIX);
        if (chance(g, 50)) {
            put(g, "matrix(%s, %s)", spaces[roll(g, 3)], spaces[roll(g, 3)]);
        } else {
            put(g, "matrix(");
            write_expression(g, FLOAT, depth - 1);
            put(g, ")");
        }
        return;
    case 3:
        if (write_builtin_call(g, ASL_MATRIX, depth))
            return;
        break;
    case 4:
        cover(g, CONSTRUCT_NEGATION);
        put(g, "(-");
        write_expression(g, k, depth - 1);
        put(g, ")");
        return;
    default:
        break;
    }
    cover(g, CONSTRUCT_MATRIX_ARITHMETIC);
    static const char *const ops[] = {"*", "*", "/"};
    bool scaled = chance(g, 40);
    write_binary(g, k, ops[roll(g, 3)], scaled ? FLOAT : k, depth - 1);
}

static void write_string_expression(struct generator *g, int depth)
{
    if (g->opt.numbers_only || !g->what.texts || (chance(g, 40))) {
        write_leaf(g, STRING);
        return;
    }
    if (chance(g, 30))
        write_choice(g, STRING, depth);
    else if (!write_builtin_call(g, ASL_STRING, depth))
        write_leaf(g, STRING);
}

static void write_closure_expression(struct generator *g, int depth)
{
    struct kind k = kind_of(ASL_CLOSURE);
    switch (roll(g, 4)) {
    case 0:
        cover(g, CONSTRUCT_CLOSURE_SUM);
        write_binary(g, k, "+", k, depth);
        return;
    case 1:
        cover(g, CONSTRUCT_CLOSURE_WEIGHT);
        if (chance(g, 50))
            write_binary(g, k, "*", kind_of(chance(g, 50) ? ASL_FLOAT : ASL_COLOR), depth);
        else
            write_binary(g, kind_of(chance(g, 50) ? ASL_FLOAT : ASL_COLOR), "*", k, depth);
        return;
    case 2:
        if (chance(g, 40)) {
            write_choice(g, k, depth);
            return;
        }
        break;
    default:
        break;
    }
    if (!write_builtin_call(g, ASL_CLOSURE, depth))
        put(g, "emission()");
}

/* ---- all ------------------------------------------------------------------------------------- */

void write_expression(struct generator *g, struct kind k, int depth)
{
    g->budget--;
    if (depth <= 0 || g->budget <= 0) {
        write_leaf(g, k);
        return;
    }
    switch (k.base) {
    case ASL_INT:
        chance(g, 25) ? write_leaf(g, k) : write_int_expression(g, depth);
        break;
    case ASL_FLOAT:
        chance(g, 20) ? write_leaf(g, k) : write_float_expression(g, depth);
        break;
    case ASL_MATRIX:
        chance(g, 40) ? write_leaf(g, k) : write_matrix_expression(g, depth);
        break;
    case ASL_STRING:
        write_string_expression(g, depth);
        break;
    case ASL_CLOSURE:
        write_closure_expression(g, depth);
        break;
    case ASL_STRUCT:
        if (chance(g, 30) && write_function_call(g, k, depth))
            break;
        if (g->operators && k.st == 0 && chance(g, 40)) {
            cover(g, CONSTRUCT_OPERATOR_FUNCTION);
            write_binary(g, k, "+", k, depth);
        } else if (chance(g, 50))
            write_struct_value(g, k, depth);
        else
            write_leaf(g, k);
        break;
    default:
        chance(g, 20) ? write_leaf(g, k) : write_triple_expression(g, k, depth);
    }
}

void write_initial(struct generator *g, struct kind k, int depth)
{
    if (k.array) {
        uint32_t n = chance(g, 30) ? roll(g, (uint32_t)k.array) + 1 : (uint32_t)k.array;
        struct kind element = {k.base, 0, k.st};
        cover(g, CONSTRUCT_ARRAY_LIST);
        put(g, "{ ");
        for (uint32_t i = 0; i < n; i++) {
            put(g, i ? ", " : "");
            write_expression(g, element, depth - 1);
        }
        put(g, " }");
    } else if (k.base == ASL_STRUCT && chance(g, 50)) {
        const struct structure *s = &g->structs[k.st];
        cover(g, CONSTRUCT_STRUCT_LIST);
        put(g, "{ ");
        for (unsigned i = 0; i < s->count; i++) {
            put(g, i ? ", " : "");
            write_initial(g, s->field[i].kind, depth - 1);
        }
        put(g, " }");
    } else if (is_triple(k.base) && chance(g, 10)) {
        put(g, "{ ");
        for (int i = 0; i < 3; i++) {
            put(g, i ? ", " : "");
            write_expression(g, FLOAT, depth - 1);
        }
        put(g, " }");
    } else if ((is_triple(k.base) || k.base == ASL_MATRIX) && chance(g, 10)) {
        cover(g, CONSTRUCT_CONVERSION_FLOAT);
        write_expression(g, FLOAT, depth - 1);
    } else if (is_triple(k.base) && k.base != ASL_COLOR && chance(g, 15)) {
        cover(g, CONSTRUCT_CONVERSION_TRIPLE);
        write_expression(g, kind_of(k.base == ASL_POINT ? ASL_VECTOR : ASL_POINT), depth - 1);
    } else {
        write_expression(g, k, depth);
    }
}
