/* SPDX-License-Identifier: Apache-2.0 */
/* module_values.c: what instructions compute, scalar by scalar. An int of less than 32 bits is kept
 * without sign, one of more in two ints of ASL. Flags such as nsw and fast are not looked at. */
#include "module/writer.h"

#include <string.h>

#define A(...) asl_sprintf(w->c, __VA_ARGS__)

/* ---- parts ------------------------------------------------------------------------------------------ */

const char *int_text(struct writer *w, uint32_t bits)
{
    return bits >> 31 ? A("0x%08x", bits) : A("%u", bits);
}

const char *float_text(struct writer *w, uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u)
        return "(1e38 * 1e38 - 1e38 * 1e38)";
    if (magnitude == 0x7f800000u)
        return bits >> 31 ? "(-1e38 * 1e38)" : "(1e38 * 1e38)";
    const char *text = A("%.9g", (double)f);
    return A(bits >> 31 ? "(%s%s)" : "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
}

static uint64_t mask_of(uint32_t bits)
{
    return bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
}

void part_constant(struct writer *w, struct part *p, uint64_t value)
{
    p->constant = true;
    p->value = p->kind == PART_INT ? value & mask_of(p->bits) : value;
    p->lo =
        p->kind == PART_FLOAT ? float_text(w, (uint32_t)value) : int_text(w, (uint32_t)p->value);
    p->hi = p->kind == PART_INT && p->bits > 32 ? int_text(w, (uint32_t)(p->value >> 32)) : NULL;
}

void part_variable(struct writer *w, struct part *p)
{
    if (p->kind == PART_POINTER)
        module_refuse(w->m, w->at, NULL, "a pointer within another value");
    p->lo = write_variable(w, p->kind == PART_FLOAT);
    p->hi = p->kind == PART_INT && p->bits > 32 ? write_variable(w, false) : NULL;
}

void part_assign(struct writer *w, const struct part *to, const struct part *from)
{
    write_line(w, "%s = %s;", to->lo, from->lo);
    if (to->hi)
        write_line(w, "%s = %s;", to->hi, from->hi);
}

static void parts_add(struct writer *w, const struct module_type *t, struct part *parts, size_t *n)
{
    if (t->kind == MODULE_ARRAY || t->kind == MODULE_VECTOR || t->kind == MODULE_STRUCT) {
        for (uint64_t k = 0; k < t->count; k++)
            parts_add(w, module_element(t, k), parts, n);
        return;
    }
    struct part p = {.kind = PART_INT, .bits = t->bits};
    if (t->kind == MODULE_FLOAT)
        p.kind = PART_FLOAT;
    else if (t->kind == MODULE_POINTER)
        p = (struct part){.kind = PART_POINTER, .object = w->null};
    else if (t->kind != MODULE_INT || t->bits > 64)
        module_refuse(w->m, w->at, NULL, "a value of type %s", module_type_text(w->c, t));
    parts[(*n)++] = p;
}

struct part *parts_of_type(struct writer *w, const struct module_type *t, size_t *count,
                           struct asl_loc at)
{
    size_t n = module_scalars(w->m, t, at);
    struct part *parts = ASL_ARRAY(w->c, struct part, n + 1);
    *count = 0;
    if (t->kind != MODULE_VOID)
        parts_add(w, t, parts, count);
    return parts;
}

static void offsets_add(struct writer *w, const struct module_type *t, uint64_t at,
                        uint64_t *offsets, size_t *n, struct asl_loc place)
{
    bool list = t->kind == MODULE_ARRAY || t->kind == MODULE_VECTOR;
    if (!list && t->kind != MODULE_STRUCT) {
        offsets[(*n)++] = at;
        return;
    }
    uint64_t size = list ? module_type_size(w->m, t->of[0], place) : 0;
    for (uint64_t k = 0; k < t->count; k++)
        offsets_add(w, module_element(t, k),
                    at + (list ? k * size : module_field_offset(w->m, t, k, place)), offsets, n,
                    place);
}

uint64_t *part_offsets(struct writer *w, const struct module_type *t, size_t count,
                       struct asl_loc at)
{
    uint64_t *offsets = ASL_ARRAY(w->c, uint64_t, count + 1);
    size_t n = 0;
    (void)module_type_size(w->m, t, at);
    offsets_add(w, t, 0, offsets, &n, at);
    return offsets;
}

struct part *value_parts(struct writer *w, struct instance *i, const struct module_value *v,
                         size_t *count)
{
    bool kept = (v->kind == VALUE_INSTRUCTION || v->kind == VALUE_ARGUMENT) && v->id != UINT32_MAX;
    *count = 1;
    if (v->type->kind == MODULE_POINTER)
        return pointer_part(w, i, v);
    struct part *parts;
    if (v->kind == VALUE_AGGREGATE) {
        size_t n = 0, each;
        parts = parts_of_type(w, v->type, count, v->at);
        for (size_t k = 0; k < v->count; k++) {
            const struct part *p = value_parts(w, i, v->ops[k], &each);
            memcpy(parts + n, p, each * sizeof *p);
            n += each;
        }
        return parts;
    }
    if (kept && i->values[v->id]) {
        *count = module_scalars(w->m, v->type, v->at);
        return i->values[v->id];
    }
    parts = parts_of_type(w, v->type, count, v->at);
    for (size_t k = 0; k < *count; k++) {
        if (v->kind == VALUE_INT || v->kind == VALUE_FLOAT)
            part_constant(w, &parts[k], v->bits);
        else if (v->kind == VALUE_ZERO && parts[k].kind != PART_POINTER)
            part_constant(w, &parts[k], 0);
        else if (kept)
            part_variable(w, &parts[k]);
        else if (v->kind != VALUE_ZERO)
            module_refuse(w->m, w->at, NULL, "this constant is not taken");
    }
    if (kept)
        i->values[v->id] = parts;
    return parts;
}

/* ---- ints ----------------------------------------------------------------------------------------------- */

const char module_helpers[] =
    "int less__c(int a, int b) { return (a ^ 0x80000000) < (b ^ 0x80000000); }\n"
    "int lshr__c(int a, int s) { return a >> s & ~(-2 << 31 - (s & 31)); }\n"
    "int udiv__c(int a, int b) {\n"
    "    if (b < 0) return !less__c(a, b);\n"
    "    if (b == 0) return 0;\n"
    "    int q = (lshr__c(a, 1) / b) << 1;\n"
    "    return q + !less__c(a - q * b, b);\n"
    "}\n"
    "int urem__c(int a, int b) { return b == 0 ? 0 : a - udiv__c(a, b) * b; }\n"
    "int narrow__c(int lo, int hi) {\n"
    "    return hi == lo >> 31 ? lo : hi < 0 ? 0x80000000 : 0x7fffffff;\n"
    "}\n"
    "void add__c(int a, int b, int c, int d, output int lo, output int hi) {\n"
    "    lo = a + c;\n"
    "    hi = b + d + less__c(lo, a);\n"
    "}\n"
    "void sub__c(int a, int b, int c, int d, output int lo, output int hi) {\n"
    "    lo = a - c;\n"
    "    hi = b - d - less__c(a, c);\n"
    "}\n"
    "void mul__c(int a, int b, int c, int d, output int lo, output int hi) {\n"
    "    int e = a & 65535, f = lshr__c(a, 16), g = c & 65535, h = lshr__c(c, 16);\n"
    "    int x = e * h, y = f * g;\n"
    "    int middle = lshr__c(e * g, 16) + (x & 65535) + (y & 65535);\n"
    "    lo = a * c;\n"
    "    hi = f * h + lshr__c(x, 16) + lshr__c(y, 16) + (middle >> 16) + a * d + b * c;\n"
    "}\n"
    "void shl__c(int a, int b, int s, output int lo, output int hi) {\n"
    "    int n = s & 31;\n"
    "    lo = a << n;\n"
    "    hi = b << n | (n ? lshr__c(a, 32 - n) : 0);\n"
    "    if (s & 32) { hi = lo; lo = 0; }\n"
    "}\n"
    "void lshr__c(int a, int b, int s, output int lo, output int hi) {\n"
    "    int n = s & 31;\n"
    "    hi = lshr__c(b, n);\n"
    "    lo = lshr__c(a, n) | (n ? b << 32 - n : 0);\n"
    "    if (s & 32) { lo = hi; hi = 0; }\n"
    "}\n"
    "void ashr__c(int a, int b, int s, output int lo, output int hi) {\n"
    "    int n = s & 31;\n"
    "    hi = b >> n;\n"
    "    lo = lshr__c(a, n) | (n ? b << 32 - n : 0);\n"
    "    if (s & 32) { lo = hi; hi = b >> 31; }\n"
    "}\n"
    "int less__c(int a, int b, int c, int d) {\n"
    "    return b == d ? less__c(a, c) : less__c(b, d);\n"
    "}\n"
    "void divide__c(int a, int b, int c, int d, output int q, output int p, output int r,\n"
    "               output int s) {\n"
    "    q = a; p = b; r = 0; s = 0;\n"
    "    if ((c | d) == 0) { q = 0; p = 0; return; }\n"
    "    for (int k = 0; k < 64; k++) {\n"
    "        int over = s < 0;\n"
    "        s = s << 1 | (r < 0);\n"
    "        r = r << 1 | (p < 0);\n"
    "        p = p << 1 | (q < 0);\n"
    "        q = q << 1;\n"
    "        if (over || !less__c(r, s, c, d)) {\n"
    "            int t = r - c;\n"
    "            s = s - d - less__c(r, c);\n"
    "            r = t;\n"
    "            q = q | 1;\n"
    "        }\n"
    "    }\n"
    "}\n"
    "void udiv__c(int a, int b, int c, int d, output int lo, output int hi) {\n"
    "    int r, s;\n"
    "    divide__c(a, b, c, d, lo, hi, r, s);\n"
    "}\n"
    "void urem__c(int a, int b, int c, int d, output int lo, output int hi) {\n"
    "    int q, p;\n"
    "    divide__c(a, b, c, d, q, p, lo, hi);\n"
    "}\n"
    "void negative__c(int a, int b, output int lo, output int hi) {\n"
    "    lo = -a;\n"
    "    hi = ~b + (a == 0);\n"
    "}\n"
    "void positive__c(int a, int b, output int lo, output int hi) {\n"
    "    lo = a; hi = b;\n"
    "    if (b < 0) negative__c(a, b, lo, hi);\n"
    "}\n"
    "void sdiv__c(int a, int b, int c, int d, output int lo, output int hi) {\n"
    "    int e, f, g, h, x, y;\n"
    "    positive__c(a, b, e, f);\n"
    "    positive__c(c, d, g, h);\n"
    "    udiv__c(e, f, g, h, x, y);\n"
    "    lo = x; hi = y;\n"
    "    if ((b ^ d) < 0) negative__c(x, y, lo, hi);\n"
    "}\n"
    "void srem__c(int a, int b, int c, int d, output int lo, output int hi) {\n"
    "    int e, f, g, h, x, y;\n"
    "    positive__c(a, b, e, f);\n"
    "    positive__c(c, d, g, h);\n"
    "    urem__c(e, f, g, h, x, y);\n"
    "    lo = x; hi = y;\n"
    "    if (b < 0) negative__c(x, y, lo, hi);\n"
    "}\n"
    "float float__c(int a) {\n"
    "    return a >= 0 ? float(a) : float(lshr__c(a, 1) | a & 1) * 2.0;\n"
    "}\n"
    "float float__c(int a, int b) {\n"
    "    int lo = a, hi = b, rest = 0;\n"
    "    float scale = 1.0;\n"
    "    while (hi != 0 || lo < 0) {\n"
    "        rest = rest | lo & 1;\n"
    "        lo = lshr__c(lo, 1) | hi << 31;\n"
    "        hi = lshr__c(hi, 1);\n"
    "        scale *= 2.0;\n"
    "    }\n"
    "    return float(lo | rest) * scale;\n"
    "}\n"
    "float signed__c(int a, int b) {\n"
    "    int lo, hi;\n"
    "    positive__c(a, b, lo, hi);\n"
    "    return b < 0 ? -float__c(lo, hi) : float__c(lo, hi);\n"
    "}\n"
    "int int__c(float x) {\n"
    "    if (x >= 4294967296.0) return 0xffffffff;\n"
    "    if (x >= 2147483648.0) return int(x - 2147483648.0) ^ 0x80000000;\n"
    "    return x > 0.0 ? int(x) : 0;\n"
    "}\n"
    "void int__c(float x, output int lo, output int hi) {\n"
    "    float high = floor(x / 4294967296.0);\n"
    "    lo = 0; hi = 0;\n"
    "    if (x >= 18446744073709551616.0) { lo = 0xffffffff; hi = 0xffffffff; }\n"
    "    else if (x > 0.0) {\n"
    "        hi = int__c(high);\n"
    "        lo = int__c(x - high * 4294967296.0);\n"
    "    }\n"
    "}\n"
    "void signed__c(float x, output int lo, output int hi) {\n"
    "    int a, b;\n"
    "    int__c(abs(x), a, b);\n"
    "    lo = a; hi = b;\n"
    "    if (x >= 9223372036854775808.0) { lo = 0xffffffff; hi = 0x7fffffff; }\n"
    "    else if (x <= -9223372036854775808.0) { lo = 0; hi = 0x80000000; }\n"
    "    else if (x < 0.0) negative__c(a, b, lo, hi);\n"
    "}\n"
    /* The bits of a float, of which ASL has no operation: exact, all NaNs have one. The sign of 0 is
     * what hash() tells. */
    "float scale__c(float x, int power) {\n"
    "    float y = x;\n"
    "    int n = power;\n"
    "    for (; n >= 24; n -= 24) y *= 16777216.0;\n"
    "    for (; n <= -24; n += 24) y /= 16777216.0;\n"
    "    return n < 0 ? y / float(1 << -n) : y * float(1 << n);\n"
    "}\n"
    "int bits__c(float x) {\n"
    "    float a = abs(x);\n"
    "    int sign = x < 0.0 || (x == 0.0 && hash(x) == hash(-0.0)) ? 0x80000000 : 0;\n"
    "    if (isnan(x)) return 0x7fc00000;\n"
    "    if (isinf(x)) return sign | 0x7f800000;\n"
    "    if (a < 1.17549435e-38) return sign | int(a * 16777216.0 * 16777216.0 * 16777216.0 *\n"
    "                                              16777216.0 * 16777216.0 * 16777216.0 * 32.0);\n"
    "    int power = int(logb(a));\n"
    "    return sign | power + 127 << 23 | int(scale__c(a, 23 - power)) & 0x7fffff;\n"
    "}\n"
    "float copysign__c(float x, float y) {\n"
    "    float a = abs(x);\n"
    "    return y < 0.0 || (y == 0.0 && hash(y) == hash(-0.0)) ? -a : a;\n"
    "}\n"
    "int fshl__c(int a, int b, int s) { int n = s & 31; return n ? a << n | lshr__c(b, 32 - n) : "
    "a; }\n"
    "int fshr__c(int a, int b, int s) { int n = s & 31; return n ? a << 32 - n | lshr__c(b, n) : "
    "b; }\n"
    "int ctpop__c(int a) {\n"
    "    int n = a - (lshr__c(a, 1) & 0x55555555);\n"
    "    n = (n & 0x33333333) + (lshr__c(n, 2) & 0x33333333);\n"
    "    n = n + lshr__c(n, 4) & 0x0f0f0f0f;\n"
    "    return lshr__c(n * 0x01010101, 24);\n"
    "}\n"
    "int ctlz__c(int a) {\n"
    "    int n = a;\n"
    "    n = n | lshr__c(n, 1);\n"
    "    n = n | lshr__c(n, 2);\n"
    "    n = n | lshr__c(n, 4);\n"
    "    n = n | lshr__c(n, 8);\n"
    "    return ctpop__c(~(n | lshr__c(n, 16)));\n"
    "}\n"
    "int cttz__c(int a) { return ctpop__c(~a & a - 1); }\n"
    "int bswap__c(int a) {\n"
    "    return a << 24 | (a & 0xff00) << 8 | (a >> 8 & 0xff00) | lshr__c(a, 24);\n"
    "}\n"
    "float real__c(int b) {\n"
    "    int power = b >> 23 & 255, whole = b & 0x7fffff;\n"
    "    float x = 0.0;\n"
    "    if (power == 255) x = whole ? 1e38 * 1e38 - 1e38 * 1e38 : 1e38 * 1e38;\n"
    "    else if (power == 0) x = float(whole) / 16777216.0 / 16777216.0 / 16777216.0 /\n"
    "                             16777216.0 / 16777216.0 / 16777216.0 / 32.0;\n"
    "    else x = scale__c(float(whole | 0x800000), power - 150);\n"
    "    return b < 0 ? -x : x;\n"
    "}\n";

static const char *signed_text(struct writer *w, const struct part *p)
{
    if (p->bits == 32)
        return p->lo;
    return A("(%s << %u >> %u)", p->lo, 32 - p->bits, 32 - p->bits);
}

/* The upper int of a part of over 32 bits, with its sign. */
static const char *signed_high(struct writer *w, const struct part *p)
{
    if (p->bits == 64)
        return p->hi;
    return A("(%s << %u >> %u)", p->hi, 64 - p->bits, 64 - p->bits);
}

/* `text` becomes the part, whose upper bits are cleared. */
static void set_int(struct writer *w, const struct part *to, bool fits, const char *text)
{
    if (fits || to->bits == 32)
        write_line(w, "%s = %s;", to->lo, text);
    else
        write_line(w, "%s = %s & %s;", to->lo, text, int_text(w, (uint32_t)mask_of(to->bits)));
}

/* Clears what is above the bits of an int in two. */
static void trim_high(struct writer *w, const struct part *to)
{
    if (to->bits < 64)
        write_line(w, "%s = %s & %s;", to->hi, to->hi,
                   int_text(w, (uint32_t)(mask_of(to->bits) >> 32)));
}

static void wide_binary(struct writer *w, enum module_op op, const struct part *a,
                        const struct part *b, const struct part *to)
{
    static const char *const names[] = {"add__c",  "sub__c",  "mul__c", "udiv__c", "sdiv__c",
                                        "urem__c", "srem__c", "shl__c", "lshr__c", "ashr__c"};
    if (op >= OPCODE_AND) {
        const char *sign = op == OPCODE_AND ? "&" : op == OPCODE_OR ? "|" : "^";
        write_line(w, "%s = %s %s %s;", to->lo, a->lo, sign, b->lo);
        write_line(w, "%s = %s %s %s;", to->hi, a->hi, sign, b->hi);
        return;
    }
    const char *name = names[op - OPCODE_ADD];
    bool with_sign = op == OPCODE_SDIV || op == OPCODE_SREM || op == OPCODE_ASHR;
    const char *high = with_sign ? signed_high(w, a) : a->hi;
    if (op >= OPCODE_SHL)
        write_line(w, "%s(%s, %s, %s, %s, %s);", name, a->lo, high, b->lo, to->lo, to->hi);
    else
        write_line(w, "%s(%s, %s, %s, %s, %s, %s);", name, a->lo, high, b->lo,
                   with_sign ? signed_high(w, b) : b->hi, to->lo, to->hi);
    trim_high(w, to);
}

void int_write(struct writer *w, enum module_op op, const struct part *a, const struct part *b,
               const struct part *to)
{
    bool small = to->bits < 32;
    if (to->bits > 32) {
        wide_binary(w, op, a, b, to);
        return;
    }
    switch (op) {
    case OPCODE_ADD:
        set_int(w, to, false, A("(%s + %s)", a->lo, b->lo));
        return;
    case OPCODE_SUB:
        set_int(w, to, false, A("(%s - %s)", a->lo, b->lo));
        return;
    case OPCODE_MUL:
        set_int(w, to, false, A("%s * %s", a->lo, b->lo));
        return;
    case OPCODE_UDIV:
        set_int(w, to, true, A(small ? "%s / %s" : "udiv__c(%s, %s)", a->lo, b->lo));
        return;
    case OPCODE_UREM:
        set_int(w, to, true, A(small ? "%s %% %s" : "urem__c(%s, %s)", a->lo, b->lo));
        return;
    case OPCODE_SDIV:
        set_int(w, to, false, A("%s / %s", signed_text(w, a), signed_text(w, b)));
        return;
    case OPCODE_SREM:
        set_int(w, to, false, A("%s %% %s", signed_text(w, a), signed_text(w, b)));
        return;
    case OPCODE_SHL:
        set_int(w, to, false, A("(%s << %s)", a->lo, b->lo));
        return;
    case OPCODE_LSHR:
        if (small || b->constant)
            set_int(w, to, true,
                    small || !(b->value & 31)
                        ? A("%s >> %s", a->lo, b->lo)
                        : A("%s >> %s & %u", a->lo, b->lo, 0xffffffffu >> (b->value & 31)));
        else
            set_int(w, to, true, A("lshr__c(%s, %s)", a->lo, b->lo));
        return;
    case OPCODE_ASHR:
        set_int(w, to, false, A("(%s >> %s)", signed_text(w, a), b->lo));
        return;
    default:
        set_int(w, to, true,
                A(op == OPCODE_AND  ? "%s & %s"
                  : op == OPCODE_OR ? "%s | %s"
                                    : "%s ^ %s",
                  a->lo, b->lo));
    }
}

const char *compare_ints(struct writer *w, enum module_predicate p, const struct part *a,
                         const struct part *b)
{
    static const char *const signs[] = {"==", "!=", ">", ">=", "<", "<=", ">", ">=", "<", "<="};
    bool unsigned_ = p >= ICMP_UGT && p <= ICMP_ULE;
    if (a->bits > 32) {
        if (p <= ICMP_NE)
            return A(p == ICMP_EQ ? "%s == %s && %s == %s" : "%s != %s || %s != %s", a->lo, b->lo,
                     a->hi, b->hi);
        const char *flip = unsigned_ ? "" : " ^ 0x80000000";
        const char *ah = unsigned_ ? a->hi : signed_high(w, a);
        const char *bh = unsigned_ ? b->hi : signed_high(w, b);
        bool swap = signs[p][0] == '>', negate = signs[p][1] == '=';
        if (negate) /* a >= b is !(a < b) */
            swap = !swap;
        return swap ? A("%sless__c(%s, %s%s, %s, %s%s)", negate ? "!" : "", b->lo, bh, flip, a->lo,
                        ah, flip)
                    : A("%sless__c(%s, %s%s, %s, %s%s)", negate ? "!" : "", a->lo, ah, flip, b->lo,
                        bh, flip);
    }
    if (unsigned_ && a->bits == 32)
        return A("(%s ^ 0x80000000) %s (%s ^ 0x80000000)", a->lo, signs[p], b->lo);
    if (unsigned_ || p <= ICMP_NE)
        return A("%s %s %s", a->lo, signs[p], b->lo);
    return A("%s %s %s", signed_text(w, a), signs[p], signed_text(w, b));
}

/* Predicates of fcmp: bit 8 is what becomes of NaNs. */
static const char *compare_floats(struct writer *w, unsigned p, const char *a, const char *b)
{
    static const char *const ordered[] = {"", "==", ">", ">=", "<", "<="};
    static const char *const opposite[] = {"", "", "<=", "<", ">=", ">"};
    switch (p) {
    case 0:
        return "0";
    case 6:
        return A("%s < %s || %s > %s", a, b, a, b);
    case 7:
        return A("!isnan(%s) && !isnan(%s)", a, b);
    case 8:
        return A("isnan(%s) || isnan(%s)", a, b);
    case 9:
        return A("!(%s < %s || %s > %s)", a, b, a, b);
    case 14:
        return A("%s != %s", a, b);
    case 15:
        return "1";
    default:
        return p < 6 ? A("%s %s %s", a, ordered[p], b) : A("!(%s %s %s)", a, opposite[p - 8], b);
    }
}

void convert_write(struct writer *w, enum module_op op, const struct part *a, const struct part *to)
{
    bool wide = a->kind == PART_INT && a->bits > 32;
    switch (op) {
    case OPCODE_TRUNC:
        if (to->bits > 32) {
            part_assign(w, to, a);
            trim_high(w, to);
        } else {
            set_int(w, to, false, a->lo);
        }
        return;
    case OPCODE_ZEXT:
        write_line(w, "%s = %s;", to->lo, a->lo);
        if (to->hi)
            write_line(w, "%s = %s;", to->hi, wide ? a->hi : "0");
        return;
    case OPCODE_SEXT:
        if (wide) {
            write_line(w, "%s = %s;", to->lo, a->lo);
            write_line(w, "%s = %s;", to->hi, signed_high(w, a));
        } else if (to->hi) {
            write_line(w, "%s = %s;", to->lo, signed_text(w, a));
            write_line(w, "%s = %s >> 31;", to->hi, to->lo);
        } else {
            set_int(w, to, false, signed_text(w, a));
        }
        if (to->hi)
            trim_high(w, to);
        return;
    case OPCODE_SITOFP:
        if (wide)
            write_line(w, "%s = signed__c(%s, %s);", to->lo, a->lo, signed_high(w, a));
        else
            write_line(w, "%s = float(%s);", to->lo, signed_text(w, a));
        return;
    case OPCODE_UITOFP:
        if (wide)
            write_line(w, "%s = float__c(%s, %s);", to->lo, a->lo, a->hi);
        else
            write_line(w, a->bits == 32 ? "%s = float__c(%s);" : "%s = float(%s);", to->lo, a->lo);
        return;
    default: /* from a float */
        if (to->hi) {
            write_line(w, "%s(%s, %s, %s);", op == OPCODE_FPTOSI ? "signed__c" : "int__c", a->lo,
                       to->lo, to->hi);
            trim_high(w, to);
        } else {
            set_int(w, to, false,
                    A(op == OPCODE_FPTOSI || to->bits < 32 ? "int(%s)" : "int__c(%s)", a->lo));
        }
    }
}

/* ---- bitcast ---------------------------------------------------------------------------------------------- */

/* A value's bits as ints of 32 (or one of fewer), floats where `real` says so, become another's. */
static void bitcast(struct writer *w, const struct part *from, size_t n, const struct part *to,
                    size_t m)
{
    size_t most = 2 * n + 2, count = 0;
    const char **word = ASL_ARRAY(w->c, const char *, most);
    bool *real = ASL_ARRAY(w->c, bool, most);
    uint32_t filled = 0; /* bits of the word that is gathered */
    for (size_t k = 0; k < n; k++) {
        const struct part *p = &from[k];
        if (filled == 0 && (p->kind == PART_FLOAT || p->bits == 32 || p->bits == 64)) {
            real[count] = p->kind == PART_FLOAT;
            word[count++] = p->lo;
            if (p->kind == PART_INT && p->bits == 64)
                word[count++] = p->hi;
            continue;
        }
        if (p->kind == PART_FLOAT || p->bits > 32 || filled + p->bits > 32)
            module_refuse(w->m, w->at, NULL, "a bitcast that takes words apart");
        word[count] = filled ? A("%s | %s << %u", word[count], p->lo, filled) : p->lo;
        filled = (filled + p->bits) % 32;
        count += filled == 0;
    }
    count += filled != 0;
    if (filled) /* as a variable, so that parts of it may be taken */
        word[count - 1] = A("(%s)", word[count - 1]);
    uint32_t used = 0;
    size_t at = 0;
    for (size_t k = 0; k < m; k++) {
        const struct part *p = &to[k];
        uint32_t bits = p->kind == PART_FLOAT ? 32 : p->bits;
        if (at >= count || (used && used + bits > 32) || (bits > 32 && bits != 64) ||
            (bits == 64 && at + 1 >= count))
            module_refuse(w->m, w->at, NULL, "a bitcast that takes words apart");
        if (p->kind == PART_FLOAT) {
            write_line(w, real[at] ? "%s = %s;" : "%s = real__c(%s);", p->lo, word[at]);
            at++;
            continue;
        }
        const char *x = real[at] ? A("bits__c(%s)", word[at]) : A("(%s)", word[at]);
        if (bits >= 32) {
            write_line(w, "%s = %s;", p->lo, x);
            at++;
            if (bits == 64)
                write_line(w, real[at] ? "%s = bits__c(%s);" : "%s = %s;", p->hi, word[at]);
            at += bits == 64;
            continue;
        }
        write_line(w, "%s = %s >> %u & %u;", p->lo, x, used, (uint32_t)mask_of(bits));
        used = (used + bits) % 32;
        at += used == 0;
    }
}

/* ---- instructions ------------------------------------------------------------------------------------------- */

void part_choose(struct writer *w, const struct part *to, const char *condition,
                 const struct part *a, const struct part *b)
{
    write_line(w, "%s = %s ? %s : %s;", to->lo, condition, a->lo, b->lo);
    if (to->hi)
        write_line(w, "%s = %s ? %s : %s;", to->hi, condition, a->hi, b->hi);
}

/* v is `parts` of other values: no new variables, but where v has some already. */
void parts_rename(struct writer *w, struct instance *i, const struct module_value *v,
                  const struct part *parts, size_t n)
{
    struct part *had = i->values[v->id];
    struct part *kept = ASL_ARRAY(w->c, struct part, n + 1);
    memcpy(kept, parts, n * sizeof *parts);
    for (size_t k = 0; had && k < n; k++)
        part_assign(w, &had[k], &parts[k]);
    if (!had)
        i->values[v->id] = kept;
}

static void element(struct writer *w, struct instance *i, const struct module_value *v)
{
    size_t n, one, m;
    bool inserts = v->op == OPCODE_INSERTELEMENT;
    const struct part *list = value_parts(w, i, v->ops[0], &n);
    const struct part *x = inserts ? value_parts(w, i, v->ops[1], &one) : NULL;
    const struct part *at = value_parts(w, i, v->ops[inserts ? 2 : 1], &one);
    if (at->constant) {
        size_t k = at->value < n ? (size_t)at->value : n - 1;
        struct part *made = ASL_ARRAY(w->c, struct part, n);
        memcpy(made, list, n * sizeof *made);
        if (inserts)
            made[k] = *x;
        parts_rename(w, i, v, inserts ? made : &list[k], inserts ? n : 1);
        return;
    }
    struct part *to = value_parts(w, i, v, &m);
    if (!inserts)
        part_assign(w, to, &list[0]);
    for (size_t k = 0; k < n; k++)
        if (inserts)
            part_choose(w, &to[k], A("%s == %zu", at->lo, k), x, &list[k]);
        else if (k)
            part_choose(w, to, A("%s == %zu", at->lo, k), &list[k], to);
}

static void shuffle(struct writer *w, struct instance *i, const struct module_value *v)
{
    size_t n, m;
    const struct part *a = value_parts(w, i, v->ops[0], &n);
    const struct part *b = value_parts(w, i, v->ops[1], &m);
    struct part *made = ASL_ARRAY(w->c, struct part, v->index_count + 1);
    for (size_t k = 0; k < v->index_count; k++) {
        uint32_t from = v->indices[k];
        if (from == UINT32_MAX)
            from = 0;
        if (from >= n + m)
            module_refuse(w->m, v->at, NULL, "the mask asks for element %u of %zu", from, n + m);
        made[k] = from < n ? a[from] : b[from - n];
    }
    parts_rename(w, i, v, made, v->index_count);
}

static void field(struct writer *w, struct instance *i, const struct module_value *v)
{
    size_t n, each = 0, first = 0;
    const struct module_type *t = v->ops[0]->type;
    const struct part *all = value_parts(w, i, v->ops[0], &n);
    for (size_t k = 0; k < v->index_count; k++) {
        for (uint32_t e = 0; e < v->indices[k]; e++)
            first += module_scalars(w->m, module_element(t, e), v->at);
        t = module_element(t, v->indices[k]);
    }
    if (v->op == OPCODE_EXTRACTVALUE) {
        if (t->kind == MODULE_POINTER)
            module_refuse(w->m, v->at, NULL, "a pointer within another value");
        parts_rename(w, i, v, all + first, module_scalars(w->m, t, v->at));
        return;
    }
    struct part *made = ASL_ARRAY(w->c, struct part, n + 1);
    const struct part *x = value_parts(w, i, v->ops[1], &each);
    memcpy(made, all, n * sizeof *made);
    memcpy(made + first, x, each * sizeof *x);
    parts_rename(w, i, v, made, n);
}

static void pointers_compare(struct writer *w, struct instance *i, const struct module_value *v)
{
    size_t n;
    const struct part *a = pointer_part(w, i, v->ops[0]), *b = pointer_part(w, i, v->ops[1]);
    const struct part *to = value_parts(w, i, v, &n);
    if (v->predicate > ICMP_NE && a->object != b->object)
        module_refuse(w->m, v->at, NULL, "the order of two variables in memory");
    struct part x = {.kind = PART_INT, .bits = 32}, y = x;
    if (a->object != b->object) {
        write_line(w, "%s = %d;", to->lo, v->predicate == ICMP_NE);
        return;
    }
    x.lo = A("(%s)", pointer_moves(w, a));
    y.lo = A("(%s)", pointer_moves(w, b));
    unsigned p = v->predicate >= ICMP_UGT && v->predicate <= ICMP_ULE
                     ? v->predicate + ICMP_SGT - ICMP_UGT
                     : v->predicate;
    write_line(w, "%s = %s;", to->lo, compare_ints(w, p, &x, &y));
}

static void memory(struct writer *w, struct instance *i, const struct module_value *v)
{
    size_t n;
    const struct module_value *x = v->op == OPCODE_LOAD ? v : v->ops[0];
    const struct module_value *place = v->ops[v->op == OPCODE_LOAD ? 0 : 1];
    if (place->kind == VALUE_INSTRUCTION && place->slot) { /* of a pointer */
        const struct part *slot = pointer_part(w, i, place);
        if (v->op == OPCODE_LOAD)
            pointer_write(w, i, v);
        else if (slot->moving)
            write_line(w, "%s = %s;", slot->moving, pointer_moves(w, pointer_part(w, i, x)));
        return;
    }
    const struct part *p = pointer_part(w, i, place);
    struct part *parts = value_parts(w, i, x, &n);
    const uint64_t *offsets = part_offsets(w, x->type, n, v->at);
    w->align = v->align;
    for (size_t k = 0; k < n; k++)
        if (v->op == OPCODE_LOAD)
            memory_load(w, p, (int64_t)offsets[k], &parts[k]);
        else
            memory_store(w, p, (int64_t)offsets[k], &parts[k]);
}

static void scalar_by_scalar(struct writer *w, struct instance *i, const struct module_value *v)
{
    static const char floats[] = "+-*/%"; /* ASL's % of floats is fmod */
    size_t n, m = 0;
    const struct part *a = value_parts(w, i, v->ops[0], &n);
    const struct part *b = v->count > 1 ? value_parts(w, i, v->ops[1], &m) : a;
    struct part *to = value_parts(w, i, v, &m);
    for (size_t k = 0; k < n; k++) {
        if (v->op == OPCODE_FNEG)
            write_line(w, "%s = -%s;", to[k].lo, a[k].lo);
        else if (v->op == OPCODE_ICMP)
            write_line(w, "%s = %s;", to[k].lo, compare_ints(w, v->predicate, &a[k], &b[k]));
        else if (v->op == OPCODE_FCMP)
            write_line(w, "%s = %s;", to[k].lo, compare_floats(w, v->predicate, a[k].lo, b[k].lo));
        else if (v->op >= OPCODE_TRUNC)
            convert_write(w, v->op, &a[k], &to[k]);
        else if (v->op >= OPCODE_FADD)
            write_line(w, "%s = %s %c %s;", to[k].lo, a[k].lo, floats[v->op - OPCODE_FADD],
                       b[k].lo);
        else
            int_write(w, v->op, &a[k], &b[k], &to[k]);
    }
}

static void select_(struct writer *w, struct instance *i, const struct module_value *v)
{
    size_t n, m;
    const struct part *c = value_parts(w, i, v->ops[0], &m);
    const struct part *a = value_parts(w, i, v->ops[1], &n);
    const struct part *b = value_parts(w, i, v->ops[2], &n);
    const struct part *to = value_parts(w, i, v, &n);
    for (size_t k = 0; k < n; k++)
        part_choose(w, &to[k], c[m > 1 ? k : 0].lo, &a[k], &b[k]);
}

void value_write(struct writer *w, struct instance *i, const struct module_value *v)
{
    size_t n, m;
    bool pointer = v->type->kind == MODULE_POINTER;
    switch (v->op) {
    case OPCODE_PHI: /* on the edges */
        (void)value_parts(w, i, v, &n);
        return;
    case OPCODE_CALL:
        call_write(w, i, v);
        return;
    case OPCODE_LOAD:
    case OPCODE_STORE:
        memory(w, i, v);
        return;
    case OPCODE_ICMP:
        if (v->ops[0]->type->kind == MODULE_POINTER)
            pointers_compare(w, i, v);
        else
            scalar_by_scalar(w, i, v);
        return;
    case OPCODE_EXTRACTELEMENT:
    case OPCODE_INSERTELEMENT:
        element(w, i, v);
        return;
    case OPCODE_SHUFFLE:
        shuffle(w, i, v);
        return;
    case OPCODE_EXTRACTVALUE:
    case OPCODE_INSERTVALUE:
        field(w, i, v);
        return;
    default:
        break;
    }
    if (pointer) {
        pointer_write(w, i, v);
    } else if (v->op == OPCODE_SELECT) {
        select_(w, i, v);
    } else if (v->op == OPCODE_FREEZE) {
        const struct part *a = value_parts(w, i, v->ops[0], &n);
        parts_rename(w, i, v, a, n);
    } else if (v->op == OPCODE_BITCAST) {
        const struct part *a = value_parts(w, i, v->ops[0], &n);
        const struct part *to = value_parts(w, i, v, &m);
        bitcast(w, a, n, to, m);
    } else {
        scalar_by_scalar(w, i, v);
    }
}
