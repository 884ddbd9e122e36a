/* SPDX-License-Identifier: Apache-2.0 */
/* module_test.c: shaders as modules of LLVM. The oracle is the compiler that compiles this test: the
 * same C goes through clang to a module, at each level of optimisation, and each point must give the
 * same bits. What clang does not write stands as text, beside what it must compute. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <unistd.h>

#include "shaders.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* of the procedure */
#include "../../library/rings.c" // NOLINT(bugprone-suspicious-include): the oracle compiles it here

/* ---- what is compiled twice --------------------------------------------------------------------- */

/* The text, and the function that this compiler makes of it: PROCEDURE() keeps the head. */
#undef PROCEDURE
#define PROCEDURE(name, ...) static void name(__VA_ARGS__)
#define BOTH(name, ...)                                                                            \
    __VA_ARGS__                                                                                    \
    static const char name##_text[] =                                                              \
        "#include \"procedure.h\"\n#include <string.h>\n" #__VA_ARGS__;

// clang-format off
BOTH(ints,
typedef struct { float a; int b; short c; unsigned char d; long long e; } record;
static unsigned mix(unsigned h, unsigned x) { return ((h ^ x) * 16777619u) ^ (h >> 11); }
static int word(float x) { int b; memcpy(&b, &x, 4); return x != x ? 0x7fc00000 : b; }
static long long wide(int n, unsigned k)
{
    long long a = (long long)n * 0x123456789abLL + k;
    unsigned long long b = (unsigned long long)a ^ (0xfedcba9876543210ull >> (k & 63));
    a = (long long)((unsigned long long)a << (k & 31)) - (a >> (k & 63)) + (long long)(b % (k | 1u)) * (long long)(b / 0x10001u);
    return (a < 0) == (b > 0x7000000000000000ull) ? a / (long long)(k | 5u) : a % (long long)(k | 9u);
}
static void change(record *r, const int *table, int n)
{
    r->a += (float)table[n & 7];
    r->c = (short)(r->c * 7 + n);
    r->d = (unsigned char)(r->d + r->c);
    r->e -= wide(r->b, (unsigned)n);
}
PROCEDURE(ints, const procedure_point *at, int n DEFAULT(3), int *out)
{
    static const int table[8] = {3, -1, 4, 1, -5, 9, 2, 6};
    static const unsigned char bytes[6] = {200, 1, 0, 255, 128, 77};
    record r[3] = {{0}}, one = {at->v, n, (short)(int)(at->u * 60000.0f), 250, -1};
    unsigned h = 17;
    int grid[2][5] = {{1, 2, 3}, {0}};
    int k = (int)(at->u * 1000.0f) - 400;
    for (int i = 0; i < 9; i++) {
        int odd = (k + i) & 1;
        grid[odd][(unsigned)(k * i) % 5u] += grid[1 - odd][i % 5] ^ i;
        switch ((k ^ i) & 7) {
        case 0: h += (unsigned)k; break;
        case 1: h -= bytes[(unsigned)i % 6u]; __attribute__((fallthrough));
        case 4: h ^= h << 3; if (i & 2) continue; break;
        case 6: one.b--; change(&one, table, i); break;
        default: change(&r[(unsigned)k % 3u], table, k); break;
        }
        if (h % 13u == 5u) { r[i % 3] = one; one = r[(i + 1) % 3]; }
        h = mix(h, (unsigned)word(one.a) + (unsigned)one.c + one.d);
    }
    for (int i = 0; i < 3; i++)
        h = mix(mix(h, (unsigned)word(r[i].a) + r[i].d), (unsigned)(r[i].e >> 20) ^ (unsigned)r[i].e);
    for (int i = 0; i < 10; i++)
        h = mix(h, (unsigned)grid[i / 5][i % 5]);
    *out = (int)h;
}
)

BOTH(floats,
static float safe(float x) { return x > -1e9f && x < 1e9f ? x : 3.0f; }
static void turn(float *a, float *b) { float t = *a; *a = *b * 0.5f; *b = -t; }
static color tint(color c, float k) { return (color){c.r * k, c.g - k, c.b + c.r}; }
PROCEDURE(floats, const procedure_point *at, color ink DEFAULT(0.5f, 0.25f, -1.0f), vector side DEFAULT(1.0f, 2.0f, -3.0f),
          float k DEFAULT(0.75f), color *Cout, float *value, int *count)
{
    static const float table[5] = {0.1f, -0.0f, 3e38f, 1e-40f, 7.0f};
    float a[8] = {at->u, at->P.x, at->P.y, at->v, k, side.y, ink.g, 1.0f};
    float low = 1e30f, high = -1e30f;
    const float *from = a;
    color c = ink;
    int n = 0;
    for (float *p = a; p != a + 7; p++) {
        turn(p, p + 1);
        low = fminf(low, *p);
        high = fmaxf(high, p[1]);
    }
    for (int i = 0; i < 8; i++) {
        float x = a[i] * 31.0f - table[(unsigned)i % 5u], y = floorf(x);
        n += (int)safe(y) + (x < y + 0.5f) + (int)(unsigned)(fabsf(safe(x)) * 3.0f);
        if (x != x) break;
        if (!(x <= high)) { n -= 3; continue; }
        c = tint(c, x > 0.0f ? sqrtf(x) : ceilf(x));
        do { x = x * 0.25f - 1.0f; n++; } while (x > 2.0f);
    }
    if (n & 1) from = a + 4;
    c.b = c.b * from[n & 3] + truncf(low * 8.0f) - copysignf(high, -at->u);
    *Cout = c;
    value[0] = (float)n / 3.0f + (float)(unsigned)n * 1e-9f + (low < high ? low : -high);
    *count = n;
}
)

/* Loops with two entries, and phis that change places. */
BOTH(jumps,
PROCEDURE(jumps, const procedure_point *at, int *out, float *value)
{
    int a = (int)(at->u * 97.0f), b = (int)(at->v * 53.0f), fuel = 40, t[4] = {1, 2, 3, 4};
    float x = at->u, y = at->v;
    if (a & 1) goto second;
first:
    a += b; b ^= a << 1;
    { float z = x; x = y; y = z; }
    if (fuel-- <= 0) goto end;
    t[a & 3] += b;
    if (a % 3 == 0) goto third;
second:
    b -= 7; a ^= t[b & 3];
    x += 1.0f;
    if (b & 4) goto first;
third:
    { int z = a; a = b; b = z; }
    if (fuel-- > 0 && (a & 8)) goto second;
    if (fuel > 0) goto first;
end:
    for (int i = 0, j = 3; i < 6; i++) { int z = t[i & 3]; t[i & 3] = t[j]; t[j] = z; j = i & 3; a += t[j] * i; }
    *out = a * 31 + b + t[0] * 7 + t[1] * 11 + t[2] * 13 + t[3];
    *value = x * 2.0f - y;
}
)
// clang-format on

/* ---- runs ---------------------------------------------------------------------------------------------- */

struct run {
    struct arena arena;
    struct asl_context *cx;
    unsigned messages;
};

static void on_message(void *ctx, enum asl_message kind, const char *to, const char *text)
{
    (void)kind;
    (void)to;
    (void)text;
    ((struct run *)ctx)->messages++;
}

static void begin(struct run *r, const char *file, const char *text)
{
    struct error err = {0};
    struct asl_diags diags = {0};
    const struct asl_program *program = NULL;
    struct asl_group *g = NULL;
    *r = (struct run){0};
    struct asl_context_options options = {0};
    options.services.ctx = r;
    options.services.message = on_message;
    if (asl_compile(&r->arena, file, text, text ? strlen(text) : 0, NULL, &diags, &program, &err) ||
        asl_group_new(&r->arena, "g", &g, &err) ||
        asl_group_layer(g, program, asl_program_shader(program, 0)->name, "l", NULL, &err) ||
        asl_group_finish(g, &err) || asl_context_new(g, &options, &r->cx, &err))
        fail_msg("%s: line %u: %s", file, err.line, err.msg);
}

static void end(struct run *r)
{
    asl_context_free(r->cx);
    arena_free(&r->arena);
}

static void run_at(struct run *r, const procedure_point *p)
{
    struct error err = {0};
    struct asl_globals g = {0};
    g.u.v = p->u;
    g.v.v = p->v;
    memcpy(g.P.v, &p->P, sizeof p->P);
    if (asl_context_run(r->cx, &g, &err))
        fail_msg("%s", err.msg);
}

static const float edges[] = {0.0f,    -0.0f,         1.0f,    -1.0f,    0.5f,        1e-45f,
                              -1e-39f, 3.4028235e38f, 1e20f,   -7.25f,   16777217.0f, 2147483648.0f,
                              -2e9f,   4294967040.0f, 255.75f, INFINITY, -INFINITY,   NAN};
/* Under a sanitizer as many points as have each edge and each u once. */
enum { EDGES = sizeof edges / sizeof *edges, POINTS = TEST_THINNING > 1 ? 61 : 400 };

static procedure_point point_at(unsigned i)
{
    procedure_point p = {.u = (float)(i % 61) / 61.0f, .v = (float)(i % 17) * 0.37f - 2.0f};
    p.P = (point){edges[i % EDGES], (float)(i % 7) - 2.5f, (float)(i % 13) * 0.4f};
    return p;
}

/* The same bits; all that are not numbers are one. */
static bool same_bits(struct run *r, const char *name, const void *want, size_t count)
{
    struct asl_type t;
    const union asl_slot *v = asl_context_value(r->cx, name, &t, NULL);
    assert_non_null(v);
    for (size_t k = 0; k < count; k++) {
        float x;
        memcpy(&x, (const char *)want + 4 * k, sizeof x);
        bool nan = asl_type_scalar(t, k) == ASL_FLOAT && x != x && v[k].f != v[k].f;
        if (!nan && memcmp(&v[k], (const char *)want + 4 * k, 4) != 0)
            return false;
    }
    return true;
}

/* ---- C through clang ------------------------------------------------------------------------------------- */

static bool judge_ints(struct run *r, const procedure_point *p)
{
    int out = 0;
    ints(p, 3, &out);
    return same_bits(r, "out", &out, 1);
}

static bool judge_floats(struct run *r, const procedure_point *p)
{
    color c = {0};
    float value = 0;
    int count = 0;
    floats(p, (color){0.5f, 0.25f, -1.0f}, (vector){1.0f, 2.0f, -3.0f}, 0.75f, &c, &value, &count);
    return same_bits(r, "Cout", &c, 3) && same_bits(r, "value", &value, 1) &&
           same_bits(r, "count", &count, 1);
}

static bool judge_jumps(struct run *r, const procedure_point *p)
{
    int out = 0;
    float value = 0;
    jumps(p, &out, &value);
    return same_bits(r, "out", &out, 1) && same_bits(r, "value", &value, 1);
}

/* Nothing describes it: names are of numbers, and nobody sets its parameters. */
static bool judge_rings(struct run *r, const procedure_point *p)
{
    color c, black = {0};
    float roughness;
    rings(p, 0.0f, 0.0f, black, black, &c, &roughness);
    return same_bits(r, "arg7", &c, 3) && same_bits(r, "arg8", &roughness, 1);
}

static const struct {
    const char *name, *text;
    bool (*judge)(struct run *, const procedure_point *);
} twice[] = {{"ints", ints_text, judge_ints},
             {"floats", floats_text, judge_floats},
             {"jumps", jumps_text, judge_jumps},
             {"rings", "#include \"../library/rings.c\"\n", judge_rings}};

/* Bitcode that ends early, or has other bits somewhere, is refused or read: no harm. */
static void broken_bits(const char *path)
{
    struct arena file = {0};
    char *data;
    size_t size, n = strlen(path);
    if (strcmp(path + n - 3, ".bc") != 0)
        return;
    assert_int_equal(input_file_read(&file, path, (size_t)1 << 24, &data, &size, NULL), STATUS_OK);
    uint32_t random = 1;
    for (unsigned i = 0; i < 60; i++) {
        struct arena a = {0};
        struct error err = {0};
        struct asl_diags diags = {0};
        const struct asl_program *p = NULL;
        const struct asl_options opt = {.max_bytes = (size_t)64 << 20};
        random = random * 1664525u + 1013904223u;
        size_t at = 4 + random % (size - 4);
        char old = data[at];
        data[at] = (char)(old ^ (char)(1 << (random >> 29)));
        enum status s = asl_compile(&a, path, data, i % 8 == 0 ? at : size, &opt, &diags, &p, &err);
        assert_true((s == STATUS_OK) == (diags.errors == 0 && p));
        data[at] = old;
        arena_free(&a);
    }
    arena_free(&file);
}

/* Each compiler that is here, at each level, as text and as bitcode. */
static void compiled_and_read_agree(void **state)
{
    (void)state;
    static const char *const compilers[] = {CLANG15, CLANG14};
    static const char *const levels[] = {"-O0", "-O1", "-O2", "-O3", "-Os"};
    static const char *const forms[] = {"-S", "-c"}; /* text, bitcode */
    char folder[] = "/tmp/module_test.XXXXXX", c[64], made[64], command[1024];
    unsigned runs = 0;
    assert_non_null(mkdtemp(folder));
    (void)snprintf(c, sizeof c, "%s/shader.c", folder);
    for (size_t t = 0; t < sizeof twice / sizeof *twice; t++) {
        FILE *f = fopen(c, "w");
        assert_non_null(f);
        (void)fputs(twice[t].text, f);
        assert_int_equal(fclose(f), 0);
        for (size_t k = 0; k < 4 * (sizeof levels / sizeof *levels); k++) {
            const char *compiler = compilers[k % 2], *form = forms[k / 2 % 2];
            const char *level = levels[k / 4];
            if (!*compiler)
                continue;
            (void)snprintf(made, sizeof made, "%s/shader.%s", folder, k / 2 % 2 ? "bc" : "ll");
            (void)snprintf(command, sizeof command,
                           "%s -w %s -emit-llvm %s -fwrapv -fno-strict-aliasing -ffp-contract=off "
                           "-I " SOURCE_DIR "/shaders/headers %s -o %s",
                           compiler, form, level, c, made);
            assert_int_equal(system(command), 0); // NOLINT(concurrency-mt-unsafe)
            struct run r;
            begin(&r, made, NULL);
            for (unsigned i = 0; i < POINTS; i++) {
                procedure_point p = point_at(i);
                run_at(&r, &p);
                if (!twice[t].judge(&r, &p))
                    fail_msg("%s by %s %s %s differs at point %u", twice[t].name, compiler, form,
                             level, i);
            }
            assert_int_equal(r.messages, 0);
            end(&r);
            broken_bits(made);
            (void)unlink(made);
            runs++;
        }
    }
    (void)unlink(c);
    (void)rmdir(folder);
    print_message("%u modules\n", runs);
    if (runs == 0)
        skip();
}

/* ---- ints of all sizes ------------------------------------------------------------------------------------- */

static const uint32_t words[] = {
    0,          1,          2,          3,          7,          31,         32,
    33,         63,         64,         255,        256,        0x7fffffff, 0x80000000,
    0x80000001, 0xffffffff, 0xfffffffe, 0x12345678, 0xdeadbeef, 65535,      0x00ff00ff};
enum { WORDS = sizeof words / sizeof *words };
/* Pairs of words under a sanitizer: every 11th, no divisor of WORDS. */
enum { STEP = TEST_THINNING > 1 ? 11 : 1 };
_Static_assert(WORDS % 11 != 0, "each word comes first in some pair");
static const unsigned widths[] = {1, 5, 8, 16, 31, 32, 33, 47, 64};

/* Words come as the bits of floats, which are all numbers because of this one bit. */
enum { TURNED = 0x40000000 };
#define HEAD                                                                                       \
    "define void @s(ptr %at, ptr %out, ptr %more) {\n"                                             \
    "  %p0 = load i32, ptr %at\n  %w0 = xor i32 %p0, 1073741824\n"                                 \
    "  %g1 = getelementptr i8, ptr %at, i64 4\n  %p1 = load i32, ptr %g1\n"                        \
    "  %w1 = xor i32 %p1, 1073741824\n"                                                            \
    "  %g2 = getelementptr i8, ptr %at, i64 8\n  %p2 = load i32, ptr %g2\n"                        \
    "  %w2 = xor i32 %p2, 1073741824\n"                                                            \
    "  %g3 = getelementptr i8, ptr %at, i64 12\n  %p3 = load i32, ptr %g3\n"                       \
    "  %w3 = xor i32 %p3, 1073741824\n"                                                            \
    "  %x0 = zext i32 %w0 to i64\n  %x1 = zext i32 %w1 to i64\n  %x2 = shl i64 %x1, 32\n"          \
    "  %x = or i64 %x0, %x2\n"                                                                     \
    "  %y0 = zext i32 %w2 to i64\n  %y1 = zext i32 %w3 to i64\n  %y2 = shl i64 %y1, 32\n"          \
    "  %y = or i64 %y0, %y2\n"
#define TAIL                                                                                       \
    "  %l = trunc i64 %r to i32\n  %h0 = lshr i64 %r, 32\n  %h = trunc i64 %h0 to i32\n"           \
    "  store i32 %l, ptr %out\n  store i32 %h, ptr %more\n  ret void\n}\n"

static float turned(uint32_t w)
{
    float f;
    w ^= TURNED;
    memcpy(&f, &w, sizeof f);
    return f;
}

static uint64_t run_words(struct run *r, uint64_t x, uint64_t y)
{
    struct error err = {0};
    struct asl_globals g = {0};
    g.P.v[0] = turned((uint32_t)x);
    g.P.v[1] = turned((uint32_t)(x >> 32));
    g.P.v[2] = turned((uint32_t)y);
    g.N.v[0] = turned((uint32_t)(y >> 32));
    if (asl_context_run(r->cx, &g, &err))
        fail_msg("%s", err.msg);
    const union asl_slot *low = asl_context_value(r->cx, "out", NULL, NULL);
    const union asl_slot *high = asl_context_value(r->cx, "more", NULL, NULL);
    assert_true(low && high);
    return (uint32_t)low->i | (uint64_t)(uint32_t)high->i << 32;
}

static uint64_t low_bits(uint64_t x, unsigned n) { return n == 64 ? x : x & ((1ull << n) - 1); }
static int64_t with_sign(uint64_t x, unsigned n)
{
    uint64_t top = 1ull << (n - 1);
    return (int64_t)((low_bits(x, n) ^ top) - top);
}

static const char *const binary[] = {"add", "sub",  "mul",  "udiv", "sdiv", "urem", "srem",
                                     "shl", "lshr", "ashr", "and",  "or",   "xor"};
/* Division by 0 gives 0; a shift takes the lower five bits of its count, six over 32 bits. */
static uint64_t binary_oracle(unsigned op, uint64_t a, uint64_t b, unsigned n)
{
    int64_t x = with_sign(a, n), y = with_sign(b, n);
    unsigned count = (unsigned)b & (n > 32 ? 63 : 31);
    bool all = count >= n;
    switch (op) {
    case 0:
        return a + b;
    case 1:
        return a - b;
    case 2:
        return a * b;
    case 3:
        return b ? a / b : 0;
    case 4:
        return y == 0 ? 0 : y == -1 ? 0 - (uint64_t)x : (uint64_t)(x / y);
    case 5:
        return b ? a % b : 0;
    case 6:
        return y == 0 || y == -1 ? 0 : (uint64_t)(x % y);
    case 7:
        return all ? 0 : a << count;
    case 8:
        return all ? 0 : a >> count;
    case 9:
        return (uint64_t)(all ? (x < 0 ? -1 : 0) : x >> count);
    case 10:
        return a & b;
    case 11:
        return a | b;
    default:
        return a ^ b;
    }
}

/* Of the pairs of words, every so many: pairs of long ints. */
static void for_pairs(struct run *r, unsigned n, const char *what,
                      uint64_t (*oracle)(unsigned, uint64_t, uint64_t, unsigned), unsigned op)
{
    for (unsigned i = 0; i < WORDS * WORDS * (n > 32 ? 4 : 1); i += STEP) {
        uint64_t x = words[i % WORDS] | (uint64_t)words[(i * 5 + 3) % WORDS] << 32;
        uint64_t y = words[i / WORDS % WORDS] | (uint64_t)words[i * 7 / WORDS % WORDS] << 32;
        if (i / (WORDS * WORDS) == 1)
            y = (uint32_t)y;
        if (i / (WORDS * WORDS) == 2)
            x = (uint64_t)(int64_t)(int32_t)x;
        uint64_t got = run_words(r, x, y);
        uint64_t want = oracle(op, low_bits(x, n), low_bits(y, n), n);
        if (got != want)
            fail_msg("%s of %llx and %llx is %llx, not %llx", what, (unsigned long long)x,
                     (unsigned long long)y, (unsigned long long)got, (unsigned long long)want);
    }
}

static uint64_t cut_oracle(unsigned op, uint64_t a, uint64_t b, unsigned n)
{
    return low_bits(binary_oracle(op, a, b, n), n);
}

/* HEAD, the instructions that make %r of %x and %y, TAIL; then it runs. */
static void begin_words(struct run *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void begin_words(struct run *r, const char *fmt, ...)
{
    struct text t = {0};
    char middle[1500];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(middle, sizeof middle, fmt, ap);
    va_end(ap);
    text_puts(&t, HEAD);
    text_puts(&t, middle);
    text_puts(&t, TAIL);
    begin(r, "words.ll", t.data);
    text_free(&t);
}

/* %a and %b are the low bits of %x and %y; %q, of `from`, becomes %r. */
static void begin_sized(struct run *r, unsigned n, const char *from, const char *code)
{
    char cut[120] = "  %a = or i64 %x, 0\n  %b = or i64 %y, 0\n";
    if (n < 64)
        (void)snprintf(cut, sizeof cut,
                       "  %%a = trunc i64 %%x to i%u\n  %%b = trunc i64 %%y to i%u\n", n, n);
    bool same = strcmp(from, "i64") == 0;
    begin_words(r, "%s%s  %%r = %s %s %%q%s\n", cut, code, same ? "or" : "zext", from,
                same ? ", 0" : " to i64");
}

static void ints_of_all_sizes_are_exact(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof widths / sizeof *widths; k++)
        for (unsigned op = 0; op < sizeof binary / sizeof *binary; op++) {
            char code[80], what[40], type[8];
            struct run r;
            unsigned n = widths[k];
            (void)snprintf(what, sizeof what, "%s i%u", binary[op], n);
            (void)snprintf(type, sizeof type, "i%u", n);
            (void)snprintf(code, sizeof code, "  %%q = %s %%a, %%b\n", what);
            begin_sized(&r, n, type, code);
            for_pairs(&r, n, what, cut_oracle, op);
            end(&r);
        }
}

static uint64_t compare_oracle(unsigned op, uint64_t a, uint64_t b, unsigned n)
{
    int64_t x = with_sign(a, n), y = with_sign(b, n);
    const bool is[] = {a == b, a != b, a > b, a >= b, a<b, a <= b, x> y, x >= y, x < y, x <= y};
    return is[op];
}

static void ints_of_all_sizes_compare(void **state)
{
    (void)state;
    static const char *const names[] = {"eq",  "ne",  "ugt", "uge", "ult",
                                        "ule", "sgt", "sge", "slt", "sle"};
    for (size_t k = 0; k < sizeof widths / sizeof *widths; k++)
        for (unsigned op = 0; op < sizeof names / sizeof *names; op++) {
            char code[80], what[40];
            struct run r;
            (void)snprintf(what, sizeof what, "icmp %s i%u", names[op], widths[k]);
            (void)snprintf(code, sizeof code, "  %%q = %s %%a, %%b\n", what);
            begin_sized(&r, widths[k], "i1", code);
            for_pairs(&r, widths[k], what, compare_oracle, op);
            end(&r);
        }
}

/* ---- conversions and intrinsics ------------------------------------------------------------------------------ */

static uint32_t float_bits(float x)
{
    uint32_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

static uint64_t to_float_oracle(unsigned op, uint64_t a, uint64_t b, unsigned n)
{
    (void)b;
    return float_bits(op ? (float)with_sign(a, n) : (float)a);
}

static uint64_t widen_oracle(unsigned op, uint64_t a, uint64_t b, unsigned n)
{
    (void)b;
    return op ? (uint64_t)with_sign(a, n) : a;
}

static void ints_convert(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof widths / sizeof *widths; k++)
        for (unsigned op = 0; op < 4; op++) {
            static const char *const names[] = {"uitofp", "sitofp", "zext", "sext"};
            char code[160], what[40];
            struct run r;
            unsigned n = widths[k];
            if (op > 1 && n == 64)
                continue;
            (void)snprintf(what, sizeof what, "%s i%u", names[op], n);
            (void)snprintf(code, sizeof code, "  %%c = %s %%a to %s\n  %%q = %s %%c%s\n", what,
                           op > 1 ? "i64" : "float", op > 1 ? "or i64" : "bitcast float",
                           op > 1 ? ", 0" : " to i32");
            begin_sized(&r, n, op > 1 ? "i64" : "i32", code);
            for_pairs(&r, n, what, op > 1 ? widen_oracle : to_float_oracle, op & 1);
            end(&r);
        }
}

/* Towards 0; beyond the range the nearest int of 32 or 64 bits, for NaN 0. */
static uint64_t from_float_oracle(unsigned op, uint64_t a, uint64_t b, unsigned n)
{
    uint32_t w = (uint32_t)a;
    float x;
    (void)b;
    memcpy(&x, &w, sizeof x);
    double top = n == 32 ? 4294967296.0 : 18446744073709551616.0;
    if (x != x)
        return 0;
    if (op == 0)
        return x <= -1.0f ? 0 : (double)x >= top ? low_bits(UINT64_MAX, n) : (uint64_t)x;
    if ((double)x >= top / 2)
        return low_bits(UINT64_MAX, n - 1);
    return low_bits((double)x <= -top / 2 ? 1ull << (n - 1) : (uint64_t)(int64_t)x, n);
}

static void floats_convert(void **state)
{
    (void)state;
    for (unsigned op = 0; op < 8; op++) {
        struct run r;
        unsigned n = op & 1 ? 64 : 32;
        bool with = op & 2, sat = op & 4;
        char code[200];
        if (sat)
            (void)snprintf(code, sizeof code,
                           "  %%q = call i%u @llvm.fpto%ci.sat.i%u.f32(float %%f)\n", n,
                           with ? 's' : 'u', n);
        else
            (void)snprintf(code, sizeof code, "  %%q = fpto%ci float %%f to i%u\n",
                           with ? 's' : 'u', n);
        struct text t = {0};
        text_puts(&t, HEAD "  %a = trunc i64 %x to i32\n  %f = bitcast i32 %a to float\n");
        text_puts(&t, code);
        text_puts(&t, n == 64 ? "  %r = or i64 %q, 0\n" : "  %r = zext i32 %q to i64\n");
        text_puts(&t, TAIL);
        if (sat)
            text_printf(&t, "declare i%u @llvm.fpto%ci.sat.i%u.f32(float)\n", n, with ? 's' : 'u',
                        n);
        begin(&r, "floats.ll", t.data);
        text_free(&t);
        for (unsigned i = 0; i < 40 * WORDS; i++) {
            uint32_t w = i < EDGES ? float_bits(edges[i]) : words[i % WORDS] ^ i * 0x01f35761u;
            if (w == 0x7fc00000)
                continue; /* turned it is no number, and all those are one */
            float seen = turned(w);
            if (seen != seen)
                continue;
            uint64_t got = run_words(&r, w, 0), want = from_float_oracle(with, w, 0, n);
            if (got != want)
                fail_msg("fpto%ci to i%u of %08x is %llx, not %llx", with ? 's' : 'u', n, w,
                         (unsigned long long)got, (unsigned long long)want);
        }
        end(&r);
    }
}

static uint64_t intrinsic_oracle(unsigned op, uint64_t a, uint64_t b, unsigned n)
{
    int64_t x = with_sign(a, n), y = with_sign(b, n);
    int64_t most = (int64_t)low_bits(UINT64_MAX, n - 1), least = -most - 1;
    uint64_t sum = low_bits(a + b, n), rest = low_bits(a - b, n);
    switch (op) {
    case 0:
        return x > y ? a : b;
    case 1:
        return x < y ? a : b;
    case 2:
        return a > b ? a : b;
    case 3:
        return a < b ? a : b;
    case 4:
        return sum < a ? low_bits(UINT64_MAX, n) : sum;
    case 5:
        return a < b ? 0 : rest;
    case 6:
        return x >= 0 && y > most - x   ? (uint64_t)most
               : x < 0 && y < least - x ? low_bits((uint64_t)least, n)
                                        : sum;
    default:
        return y >= 0 && x < least + y ? low_bits((uint64_t)least, n)
               : y < 0 && x > most + y ? (uint64_t)most
                                       : rest;
    }
}

static void intrinsics_are_exact(void **state)
{
    (void)state;
    static const char *const names[] = {"smax",     "smin",     "umax",     "umin",
                                        "uadd.sat", "usub.sat", "sadd.sat", "ssub.sat"};
    for (size_t k = 1; k < sizeof widths / sizeof *widths; k++)
        for (unsigned op = 0; op < 8; op++) {
            char code[200], what[40], type[8];
            struct run r;
            unsigned n = widths[k];
            (void)snprintf(type, sizeof type, "i%u", n);
            (void)snprintf(what, sizeof what, "@llvm.%s.i%u", names[op], n);
            (void)snprintf(code, sizeof code, "  %%q = call i%u %s(i%u %%a, i%u %%b)\n", n, what, n,
                           n);
            struct text t = {0};
            text_printf(&t, "declare i%u %s(i%u, i%u)\n", n, what, n, n);
            text_puts(&t, HEAD);
            if (n == 64)
                text_puts(&t, "  %a = or i64 %x, 0\n  %b = or i64 %y, 0\n");
            else
                text_printf(&t, "  %%a = trunc i64 %%x to i%u\n  %%b = trunc i64 %%y to i%u\n", n,
                            n);
            text_puts(&t, code);
            if (n == 64)
                text_puts(&t, "  %r = or i64 %q, 0\n");
            else
                text_printf(&t, "  %%r = zext i%u %%q to i64\n", n);
            text_puts(&t, TAIL);
            begin(&r, "intrinsic.ll", t.data);
            text_free(&t);
            for_pairs(&r, n, what, intrinsic_oracle, op);
            end(&r);
        }
}

/* All sixteen predicates of floats at once, and the sign that fneg turns. */
static void floats_compare(void **state)
{
    (void)state;
    static const char *const names[] = {"false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord",
                                        "uno",   "ueq", "ugt", "uge", "ult", "ule", "une", "true"};
    struct text t = {0};
    struct run r;
    text_puts(&t, "define void @s(ptr %at, ptr %out, ptr %turn) {\n  %a = load float, ptr %at\n"
                  "  %g = getelementptr i8, ptr %at, i64 4\n  %b = load float, ptr %g\n"
                  "  %s0 = or i32 0, 0\n");
    for (unsigned k = 0; k < 16; k++)
        text_printf(&t,
                    "  %%c%u = fcmp nnan %s float %%a, %%b\n  %%z%u = zext i1 %%c%u to i32\n"
                    "  %%m%u = shl i32 %%z%u, %u\n  %%s%u = or i32 %%s%u, %%m%u\n",
                    k, names[k], k, k, k, k, k, k + 1, k, k);
    text_puts(&t, "  store i32 %s16, ptr %out\n  %n = fneg float %a\n"
                  "  %i = bitcast float %n to i32\n  store i32 %i, ptr %turn\n  ret void\n}\n");
    begin(&r, "compare.ll", t.data);
    text_free(&t);
    for (unsigned i = 0; i < EDGES * EDGES; i++) {
        procedure_point p = {.P = {edges[i / EDGES], edges[i % EDGES], 0}};
        float a = p.P.x, b = p.P.y;
        unsigned state_of = a != a || b != b ? 8 : a == b ? 1 : a > b ? 2 : 4;
        int want = 0, sign = (int)(a != a ? 0x7fc00000u : float_bits(a) ^ 0x80000000u);
        for (unsigned k = 0; k < 16; k++) /* a predicate is the set of what it is true of */
            want |= (k & state_of ? 1 : 0) << k;
        run_at(&r, &p);
        assert_true(same_bits(&r, "out", &want, 1));
        assert_true(same_bits(&r, "turn", &sign, 1));
    }
    end(&r);
}

/* ---- by hand --------------------------------------------------------------------------------------------------- */

#define POINT                                                                                      \
    "define void @s(ptr %at, ptr %out) {\nentry:\n  %pu = getelementptr i8, ptr %at, i64 72\n"     \
    "  %u = load float, ptr %pu\n  %uk = fmul float %u, 97.0\n  %k = fptosi float %uk to i32\n"

static int k_of(const procedure_point *p) { return (int)(p->u * 97.0f); }

/* Phis that take each other's values at one edge, one of them an index. */
static const char swap_text[] = POINT
    "  %t = alloca [4 x i32]\n  store [4 x i32] [i32 5, i32 6, i32 7, i32 9], ptr %t\n"
    "  br label %loop\nloop:\n"
    "  %i = phi i32 [ 0, %entry ], [ %j, %loop ]\n  %j = phi i32 [ 3, %entry ], [ %i, %loop ]\n"
    "  %n = phi i32 [ 0, %entry ], [ %n1, %loop ]\n  %s = phi i32 [ %k, %entry ], [ %s2, %loop ]\n"
    "  %p = getelementptr inbounds [4 x i32], ptr %t, i64 0, i32 %i\n  %v = load i32, ptr %p\n"
    "  %s1 = mul i32 %s, 31\n  %s2 = add i32 %s1, %v\n  %n1 = add i32 %n, 1\n"
    "  %more = icmp slt i32 %n1, 5\n  br i1 %more, label %loop, label %end\nend:\n"
    "  %last = add i32 %s2, %i\n  store i32 %last, ptr %out\n  ret void\n}\n";
static int swap_oracle(const procedure_point *p)
{
    static const int t[] = {5, 6, 7, 9};
    unsigned s = (unsigned)k_of(p);
    int i = 0, j = 3, seen = 0;
    for (int n = 0; n < 5; n++) {
        s = s * 31u + (unsigned)t[i];
        seen = i;
        i = j;
        j = seen;
    }
    return (int)(s + (unsigned)seen);
}

/* Pointers of types, a pointer in a loop, a switch of long ints, blocks without names. */
static const char typed_text[] =
    "%pair = type { i32, [3 x float] }\n"
    "define void @s(%pair* %at, i32* %out) {\n"
    "  %1 = bitcast %pair* %at to float*\n  %2 = getelementptr float, float* %1, i32 18\n"
    "  %3 = load float, float* %2\n  %4 = fmul float %3, 9.700000e+01\n  %5 = fptosi float %4 to "
    "i64\n"
    "  %6 = alloca [6 x i32], align 4\n  %7 = getelementptr [6 x i32], [6 x i32]* %6, i64 0, i64 "
    "0\n"
    "  %8 = getelementptr [6 x i32], [6 x i32]* %6, i64 1, i64 0\n  br label %9\n\n"
    "  %10 = phi i32* [ %7, %0 ], [ %13, %9 ]\n  %11 = phi i32 [ 1, %0 ], [ %12, %9 ]\n"
    "  store i32 %11, i32* %10\n  %12 = mul i32 %11, 3\n  %13 = getelementptr i32, i32* %10, i64 "
    "1\n"
    "  %14 = icmp eq i32* %13, %8\n  br i1 %14, label %15, label %9\n\n"
    "  %16 = srem i64 %5, 5\n"
    "  switch i64 %16, label %20 [ i64 0, label %17\n i64 1, label %18\n i64 3, label %17 ]\n\n"
    "17:\n  br label %18\n"
    "18:\n  %19 = phi i64 [ 4, %17 ], [ 2, %15 ]\n  br label %20\n"
    "20:\n  %21 = phi i64 [ %19, %18 ], [ %16, %15 ]\n"
    "  %22 = getelementptr [6 x i32], [6 x i32]* %6, i64 0, i64 %21\n  %23 = load i32, i32* %22\n"
    "  store i32 %23, i32* %out\n  ret void\n}\n";
static int typed_oracle(const procedure_point *p)
{
    static const int powers[] = {1, 3, 9, 27, 81, 243}, at[] = {4, 2, 2, 4, 4};
    return powers[at[k_of(p) % 5]];
}

/* Vectors, and what is put together of parts. */
static const char vector_text[] = POINT
    "  %v0 = insertelement <4 x float> poison, float %u, i32 0\n"
    "  %v1 = shufflevector <4 x float> %v0, <4 x float> undef, <4 x i32> zeroinitializer\n"
    "  %v2 = fadd <4 x float> %v1, <float 1.0, float -2.0, float 0.5, float 4.0>\n"
    "  %w = shufflevector <4 x float> %v2, <4 x float> %v1, <2 x i32> <i32 3, i32 5>\n"
    "  %c = fcmp olt <4 x float> %v2, splat (float 1.0)\n"
    "  %s = select <4 x i1> %c, <4 x float> %v2, <4 x float> <float 8.0, float 9.0, float 1.0, "
    "float 2.0>\n"
    "  %m = and i32 %k, 3\n  %e = extractelement <4 x float> %s, i32 %m\n"
    "  %x = insertelement <4 x float> %s, float %e, i32 %m\n"
    "  %y = extractelement <4 x float> %x, i64 1\n  %b = bitcast <4 x i1> %c to i4\n"
    "  %bz = zext i4 %b to i32\n  %g0 = insertvalue { i32, <2 x float> } undef, i32 %bz, 0\n"
    "  %g = insertvalue { i32, <2 x float> } %g0, <2 x float> %w, 1\n"
    "  %h = extractvalue { i32, <2 x float> } %g, 1\n  %h0 = extractelement <2 x float> %h, i32 0\n"
    "  %h1 = extractelement <2 x float> %h, i32 1\n  %i = extractvalue { i32, <2 x float> } %g, 0\n"
    "  %t0 = fadd float %e, %y\n  %t1 = fadd float %t0, %h0\n  %t2 = fsub float %t1, %h1\n"
    "  %t3 = fmul float %t2, 1000.0\n  %t4 = fptosi float %t3 to i32\n  %t5 = shl i32 %t4, 4\n"
    "  %r = or i32 %t5, %i\n  store i32 %r, ptr %out\n  ret void\n}\n";
static int vector_oracle(const procedure_point *p)
{
    const float add[] = {1.0f, -2.0f, 0.5f, 4.0f}, other[] = {8.0f, 9.0f, 1.0f, 2.0f};
    float v[4], s[4];
    int bits = 0;
    for (int i = 0; i < 4; i++) {
        v[i] = p->u + add[i];
        bits |= (v[i] < 1.0f) << i;
        s[i] = v[i] < 1.0f ? v[i] : other[i];
    }
    float t = s[k_of(p) & 3] + s[1];
    t = t + v[3];
    t = t - p->u;
    return (int)((unsigned)(int)(t * 1000.0f) << 4 | (unsigned)bits);
}

/* Functions, a struct by value, a table, an index that i8 holds, memory of bytes. */
static const char calls_text[] =
    "@table = private unnamed_addr constant [4 x { i8, i16 }] [{ i8, i16 } { i8 1, i16 -2 },"
    " { i8, i16 } { i8 -3, i16 4 }, { i8, i16 } zeroinitializer, { i8, i16 } { i8 7, i16 300 }]\n"
    "@text = internal constant [4 x i8] c\"a\\FFz\\00\"\n"
    "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n"
    "define internal fastcc i32 @pick(i32 %n, ptr byval([3 x i32]) align 4 %list) {\n"
    "  %i = trunc i32 %n to i8\n  %j = and i8 %i, -126\n  %m = icmp slt i8 %j, 0\n"
    "  br i1 %m, label %no, label %yes\nno:\n  ret i32 -9\nyes:\n"
    "  %p = getelementptr inbounds i32, ptr %list, i8 %j\n  store i32 44, ptr %list\n"
    "  %v = load i32, ptr %p\n  ret i32 %v\n}\n" POINT
    "  %l = alloca [3 x i32]\n  %b = alloca [8 x i8]\n  store [3 x i32] [i32 10, i32 20, i32 30], "
    "ptr %l\n"
    "  %x = call fastcc i32 @pick(i32 %k, ptr byval([3 x i32]) %l)\n  %first = load i32, ptr %l\n"
    "  %m = and i32 %k, 3\n  %tp = getelementptr [4 x { i8, i16 }], ptr @table, i32 0, i32 %m, i32 "
    "1\n"
    "  %t = load i16, ptr %tp\n  %tw = sext i16 %t to i32\n"
    "  %t0p = getelementptr [4 x { i8, i16 }], ptr @table, i32 0, i32 %m\n  %t0 = load i8, ptr "
    "%t0p\n"
    "  %t0w = sext i8 %t0 to i32\n  call void @llvm.memcpy.p0.p0.i64(ptr %b, ptr @text, i64 4, i1 "
    "false)\n"
    "  %bp = getelementptr i8, ptr %b, i32 %m\n  %c = load i8, ptr %bp\n  %cw = zext i8 %c to i32\n"
    "  %r0 = mul i32 %x, 1000\n  %r1 = add i32 %r0, %first\n  %r2 = mul i32 %tw, 7\n"
    "  %r3 = xor i32 %r1, %r2\n  %r4 = add i32 %r3, %t0w\n  %r5 = mul i32 %cw, 65537\n"
    "  %r = sub i32 %r4, %r5\n  store i32 %r, ptr %out\n  ret void\n}\n";
static int calls_oracle(const procedure_point *p)
{
    static const int list[] = {44, 20, 30}, high[] = {-2, 4, 0, 300}, low[] = {1, -3, 0, 7};
    static const int text[] = {'a', 255, 'z', 0};
    int k = k_of(p), j = (k & 0x82) - ((k & 0x80) << 1);
    int x = j < 0 ? -9 : list[j];
    unsigned r = ((unsigned)x * 1000u + 10u) ^ (unsigned)(high[k & 3] * 7);
    return (int)(r + (unsigned)low[k & 3] - (unsigned)text[k & 3] * 65537u);
}

static const struct {
    const char *text;
    int (*oracle)(const procedure_point *);
} by_hand[] = {{swap_text, swap_oracle},
               {typed_text, typed_oracle},
               {vector_text, vector_oracle},
               {calls_text, calls_oracle}};

static void modules_by_hand_agree(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof by_hand / sizeof *by_hand; k++) {
        struct run r;
        begin(&r, "hand.ll", by_hand[k].text);
        for (unsigned i = 0; i < POINTS; i++) {
            procedure_point p = point_at(i);
            int want = by_hand[k].oracle(&p);
            run_at(&r, &p);
            if (!same_bits(&r, "out", &want, 1))
                fail_msg("module %zu: %d at point %u, not %d", k,
                         asl_context_value(r.cx, "out", NULL, NULL)->i, i, want);
        }
        assert_int_equal(r.messages, 0);
        end(&r);
    }
}

/* An index out of range is ASL's: clamped, and reported. */
static void indices_are_checked(void **state)
{
    (void)state;
    struct run r;
    begin(&r, "index.ll",
          POINT "  %t = alloca [4 x i32]\n  store [4 x i32] [i32 5, i32 6, i32 7, i32 9], ptr %t\n"
                "  %w = sext i32 %k to i64\n  %big = mul i64 %w, 4294967296\n"
                "  %p = getelementptr [4 x i32], ptr %t, i64 0, i64 %big\n  %v = load i32, ptr %p\n"
                "  store i32 %v, ptr %out\n  ret void\n}\n");
    for (int i = 0; i < 3; i++) {
        procedure_point p = {.u = 0.5f * (float)(i - 1)};
        int want = i == 2 ? 9 : 5;
        run_at(&r, &p);
        assert_true(same_bits(&r, "out", &want, 1));
        assert_int_equal(r.messages, i == 0 ? 1 : i);
    }
    end(&r);
}

/* ---- what is refused --------------------------------------------------------------------------------------------- */

#define BODY(code)                                                                                 \
    "define void @s(ptr %at, float %x, i32 %n, ptr %out) {\n" code "\n  ret void\n}\n"
static const struct {
    const char *text;
    uint32_t line;
    const char *words;
} bad[] = {
    {"", 1, "no function that others see"},
    {"hello\n", 1, "what a module of LLVM holds"},
    {"define void @s(ptr %at)\n", 2, "the file ends"},
    {"define void @s(ptr %at) {\n", 2, "the file ends"},
    {"define internal void @s(ptr %at) {\n  ret void\n}\n", 1, "no function that others see"},
    {"define void @s(ptr %at) {\n  ret void\n}\ndefine void @t(ptr %at) {\n  ret void\n}\n", 4,
     "second function"},
    {"define void @s() {\n  ret void\n}\n", 1, "first parameter"},
    {"define void @s(float %x) {\n  ret void\n}\n", 1, "first parameter"},
    {"define float @s(ptr %at) {\n  ret float 0.0\n}\n", 1, "gives something back"},
    {"define void @s(ptr %at, double %x) {\n  ret void\n}\n", 1, "double"},
    {"define void @s(ptr %at, i64 %x) {\n  ret void\n}\n", 1, "i64"},
    {"define void @s(ptr %at, <2 x float> %x) {\n  ret void\n}\n", 1, "<2 x float>"},
    {"define void @s(ptr %at, ...) {\n  ret void\n}\n", 1, "any number of arguments"},
    {"module asm \"nop\"\n" BODY(""), 1, "assembly"},
    {"target datalayout = \"E-m:e\"\n" BODY(""), 1, "big-endian"},
    {"@a = alias i32, ptr @b\n" BODY(""), 1, "second name"},
    {BODY("  %y = fadd float %x, %z"), 2, "%z is not defined"},
    {BODY("  %x = fadd float %x, %x"), 2, "second time"},
    {BODY("  %y = fadd float %n, %n"), 2, "%n is of type i32"},
    {BODY("  %y = add i32 %n, 4294967296"), 2, "no i32"},
    {BODY("  %y = fadd float %x, 0.1"), 2, "no float has this value"},
    {BODY("  br label %b"), 2, "no block %b"},
    {BODY("  %y = foo float %x"), 2, "do not have this instruction"},
    {BODY("  %y = fpext float %x to double"), 2, "do not have this instruction"},
    {BODY("  %y = fadd double 0.0, 1.0"), 2, "double"},
    {BODY("  %y = add i128 0, 1"), 2, "at most 64 bits"},
    {BODY("  %y = load volatile float, ptr %out"), 2, "no shared memory"},
    {BODY("  %y = load atomic i32, ptr %out seq_cst, align 4"), 2, "no shared memory"},
    {BODY("  fence seq_cst"), 2, "do not have this instruction"},
    {BODY("  %y = atomicrmw add ptr %out, i32 1 seq_cst"), 2, "do not have this instruction"},
    {BODY("  %y = inttoptr i32 %n to ptr"), 2, "do not have this instruction"},
    {BODY("  %y = va_arg ptr %out, i32"), 2, "do not have this instruction"},
    {BODY("  call void asm \"nop\", \"\"()"), 2, "inline assembly"},
    {BODY("  call void %out()"), 2, "known when the shader runs"},
    {"declare i32 @system(ptr)\n" BODY("  %y = call i32 @system(ptr null)"), 3, "no such function"},
    {"declare float @llvm.fma.f32(float, float, float)\n" BODY(
         "  %y = call float @llvm.fma.f32(float %x, float %x, float %x)"),
     3, "no such function"},
    {"declare double @sin(double)\n" BODY("  %y = call double @sin(double 0.0)"), 3, "double"},
    {"declare float @llvm.rint.f32(float)\n" BODY("  %y = call float @llvm.rint.f32(float %x)"), 3,
     "no such function"},
    {"declare float @sinf(float)\n" BODY("  %y = call float @sinf(float %x, float %x)"), 3,
     "do not fit"},
    {"define internal void @f() {\n  call void @f()\n  ret void\n}\n" BODY("  call void @f()"), 2,
     "recursion"},
    {"@g = global i32 0\n" BODY("  store i32 1, ptr @g"), 3, "@g is written"},
    {"@g = external global i32\n" BODY("  %y = load i32, ptr @g"), 3, "no value in this file"},
    {"@g = constant ptr @g\n" BODY("  %y = load i32, ptr @g"), 1, "more than numbers"},
    {BODY("  store float 0.0, ptr %at"), 2, "point is written"},
    {BODY("  store float 0.0, ptr null"), 2, "null pointer"},
    {BODY("  %p = getelementptr i8, ptr %out, i64 12\n  store float %x, ptr %p"), 3, "byte 12"},
    {BODY("  store ptr %at, ptr %out"), 2, "pointer is stored"},
    {BODY("  %a = alloca i32\n  %b = alloca i32\n  %c = icmp eq i32 %n, 0\n"
          "  %p = select i1 %c, ptr %a, ptr %b\n  store i32 1, ptr %p"),
     5, "two variables"},
    {BODY("  %a = alloca i32, i32 %n"), 2, "size that is not known"},
    {BODY("  %a = alloca [100000 x i32]"), 2, "more than 16384 words"},
    {"declare void @llvm.memset.p0.i32(ptr, i8, i32, i1)\n" BODY(
         "  call void @llvm.memset.p0.i32(ptr %out, i8 0, i32 %n, i1 false)"),
     3, "number of bytes"},
    {BODY("  br label %b\nb:\n  %y = phi i32 [ %n, %c ]\n  ret void\nc:\n  br label %d\nd:"), 4,
     "no value for block"},
    {BODY("  %c = icmp eq i32 %n, 0\n  br i1 %c, label %a, label %b\na:\n  %y = add i32 %n, 1\n"
          "  br label %b\nb:\n  %z = add i32 %y, 1"),
     8, "no value yet"},
    {BODY("  %y = trunc i32 %n to i64"), 2, "do not fit"},
    {BODY("  %y = bitcast float %x to i64"), 2, "do not fit"},
    {"BC\xc0\xde", 1, "no names"},
    {"BC\xc0\xde\x35\x14", 1, "no names"},
    {"\xde\xc0\x17\x0b....", 1, "ends early"},
    {"@isophote_procedure = constant i32 0\n" BODY(""), 1, "no constant text"},
    {"@isophote_procedure = constant [4 x i8] c\"s(x)\"\n" BODY(""), 1, "type of a parameter"},
    {"@isophote_procedure = constant [30 x i8] c\"t(const procedure_point *at)  \"\n" BODY(""), 1,
     "is not defined"},
    {"@isophote_procedure = constant [30 x i8] c\"s(const procedure_point *at)  \"\n" BODY(""), 2,
     "more parameters"},
    {"@isophote_procedure = constant [47 x i8] c\"s(const procedure_point *at, color c, int "
     "*out)\"\n" BODY(""),
     2, "no part of c"},
};

static void what_is_no_shader_is_refused_at_its_place(void **state)
{
    (void)state;
    unsigned wrong = 0;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct arena a = {0};
        struct error err = {0};
        struct asl_diags diags = {0};
        const struct asl_program *p = NULL;
        enum status s =
            asl_compile(&a, "bad.ll", bad[i].text, strlen(bad[i].text), NULL, &diags, &p, &err);
        const struct asl_diag *d = diags.first;
        if (s == STATUS_OK || !d || d->pos.line != bad[i].line || !strstr(d->text, bad[i].words)) {
            wrong++;
            print_error("%s\n    expected %u: ...%s...\n    found    %u:%u: %s\n", bad[i].text,
                        bad[i].line, bad[i].words, d ? d->pos.line : 0, d ? d->pos.col : 0,
                        d ? d->text : "no error");
        }
        arena_free(&a);
    }
    assert_int_equal(wrong, 0);
}

/* Every file that ends early, and every file that lacks a byte or has another, is refused or read. */
static void broken_files_do_no_harm(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof by_hand / sizeof *by_hand; k++) {
        size_t size = strlen(by_hand[k].text);
        char *text = malloc(size + 1);
        assert_non_null(text);
        for (size_t cut = 0; cut < 2 * size; cut += 3) {
            size_t at = cut / 2, n = size;
            memcpy(text, by_hand[k].text, size + 1);
            if (cut % 2)
                n = at;
            else
                text[at] = "%@){,0 -x"[at % 9];
            struct arena a = {0};
            struct error err = {0};
            struct asl_diags diags = {0};
            const struct asl_program *p = NULL;
            enum status s = asl_compile(&a, "cut.ll", text, n, NULL, &diags, &p, &err);
            assert_true((s == STATUS_OK) == (diags.errors == 0 && p));
            arena_free(&a);
        }
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compiled_and_read_agree),
        cmocka_unit_test(ints_of_all_sizes_are_exact),
        cmocka_unit_test(ints_of_all_sizes_compare),
        cmocka_unit_test(ints_convert),
        cmocka_unit_test(floats_convert),
        cmocka_unit_test(intrinsics_are_exact),
        cmocka_unit_test(floats_compare),
        cmocka_unit_test(modules_by_hand_agree),
        cmocka_unit_test(indices_are_checked),
        cmocka_unit_test(what_is_no_shader_is_refused_at_its_place),
        cmocka_unit_test(broken_files_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
