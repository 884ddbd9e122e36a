/* SPDX-License-Identifier: Apache-2.0 */
/* The executor: right kernels give right answers, and each check finds what is planted for it and
 * nothing else. */
#include "soft/executor.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define OK(call) assert_int_equal((call), STATUS_OK)

/* ---- a device with a module of executor_test.cl --------------------------------------------- */

struct fixture {
    struct soft_device *device;
    struct soft_stream *stream;
    struct soft_module *module;
    struct soft_finding last;
    size_t findings;
    struct error err;
};

static void finding_keep(void *ctx, const struct soft_finding *f)
{
    struct fixture *x = ctx;
    x->last = *f;
    x->findings++;
}

static const char *module_path = MODULE_BITCODE;

static void fixture_open(struct fixture *x, unsigned checks, double budget_s)
{
    struct soft_options o = {
        .checks = checks, .report = finding_keep, .report_ctx = x, .launch_budget_s = budget_s};
    struct arena a = {0};
    char *data = NULL, log[512];
    size_t size = 0;
    memset(x, 0, sizeof *x);
    OK(soft_device_open(&o, &x->device, &x->err));
    OK(soft_stream_open(x->device, &x->stream, &x->err));
    OK(file_read(&a, module_path, 0, &data, &size, &x->err));
    enum status s =
        soft_module_load(x->device, data, size, NULL, &x->module, log, sizeof log, &x->err);
    if (s != STATUS_OK)
        fail_msg("%s", x->err.msg);
    arena_free(&a);
}
static void fixture_close(struct fixture *x) { soft_device_close(x->device); }

static void *device_memory(struct fixture *x, size_t size)
{
    void *p = NULL;
    OK(soft_alloc(x->device, SOFT_DEVICE_MEMORY, size, 0, &p, &x->err));
    return p;
}
static void *uploaded(struct fixture *x, const void *data, size_t size)
{
    void *p = device_memory(x, size);
    OK(soft_copy(x->stream, p, data, size, &x->err));
    OK(soft_wait(x->device, soft_stream_point(x->stream), &x->err));
    return p;
}
static void download(struct fixture *x, void *to, const void *from, size_t size)
{
    OK(soft_copy(x->stream, to, from, size, &x->err));
    OK(soft_wait(x->device, soft_stream_point(x->stream), &x->err));
}

#define VALUE(v)                                                                                   \
    {                                                                                              \
        .data = &(v), .size = sizeof(v)                                                            \
    }
#define LOCAL(n)                                                                                   \
    {                                                                                              \
        .size = (n)                                                                                \
    }
#define LAUNCH(x, name, groups, group, ...)                                                        \
    launch((x), (name), (groups), (group), (struct soft_value[]){__VA_ARGS__})

static enum status launch_on(struct fixture *x, struct soft_stream *stream, const char *name,
                             uint32_t groups, uint32_t group, const struct soft_value *values)
{
    struct soft_launch l = {.module = x->module,
                            .kernel = soft_module_find(x->module, name),
                            .groups = {groups, 1, 1},
                            .group = {group, 1, 1},
                            .values = values};
    assert_non_null(l.kernel);
    return soft_launch(stream, &l, &x->err);
}
/* Launches and waits. */
static enum status launch(struct fixture *x, const char *name, uint32_t groups, uint32_t group,
                          const struct soft_value *values)
{
    OK(launch_on(x, x->stream, name, groups, group, values));
    return soft_wait(x->device, soft_stream_point(x->stream), &x->err);
}

static void found(struct fixture *x, enum soft_check check, const char *text)
{
    if (x->findings == 0)
        fail_msg("nothing was found; %s was planted", soft_check_name(check));
    if (x->last.check != check || !strstr(x->last.text, text))
        fail_msg("found \"%s\" (%s); \"%s\" was expected", x->last.text,
                 soft_check_name(x->last.check), text);
}

/* ---- right kernels, unchecked and checked --------------------------------------------------- */

static unsigned checks_now; /* of the tests below */

static void sum_of_vectors(void **state)
{
    (void)state;
    enum { N = 1000 };
    struct fixture x;
    fixture_open(&x, checks_now, 0);
    float a = 3.0f, xs[N], ys[N], out[N];
    for (int i = 0; i < N; i++) {
        xs[i] = (float)i;
        ys[i] = 0.5f * (float)i;
    }
    float *dx = uploaded(&x, xs, sizeof xs), *dy = uploaded(&x, ys, sizeof ys);
    OK(LAUNCH(&x, "saxpy", N / 8, 8, VALUE(a), VALUE(dx), VALUE(dy)));
    download(&x, out, dy, sizeof out);
    for (int i = 0; i < N; i++)
        assert_true(out[i] == 3.5f * (float)i);
    assert_int_equal(x.findings, 0);
    fixture_close(&x);
}

static void work_item_functions(void **state)
{
    (void)state;
    struct fixture x;
    fixture_open(&x, checks_now, 0);
    enum { W = 6, H = 4 };
    uint32_t out[W * H][8];
    uint32_t *d = device_memory(&x, sizeof out);
    struct soft_value values[] = {VALUE(d)};
    struct soft_launch l = {.module = x.module,
                            .kernel = soft_module_find(x.module, "ids"),
                            .groups = {2, 4, 1},
                            .group = {3, 1, 1},
                            .offset = {10, 20, 0},
                            .values = values};
    OK(soft_launch(x.stream, &l, &x.err));
    download(&x, out, d, sizeof out);
    for (uint32_t j = 0; j < H; j++)
        for (uint32_t i = 0; i < W; i++) {
            const uint32_t want[8] = {10 + i, 20 + j, i % 3, 0, i / 3, j, 3001, 2004};
            assert_memory_equal(out[j * W + i], want, sizeof want);
        }
    assert_int_equal(x.findings, 0);
    fixture_close(&x);
}

static void structs_by_value(void **state)
{
    (void)state;
    struct fixture x;
    fixture_open(&x, checks_now, 0);
    struct {
        int32_t a;
        char pad;
        int32_t b;
    } pair = {.a = 40, .b = 2};
    int32_t out[2], *d = device_memory(&x, sizeof out);
    const struct soft_kernel *k = soft_module_find(x.module, "by_value");
    assert_int_equal(k->argument_count, 2);
    assert_int_equal(k->arguments[0].kind, SOFT_VALUE);
    assert_int_equal(k->arguments[0].size, 12);
    assert_int_equal(k->arguments[1].kind, SOFT_GLOBAL);
    OK(LAUNCH(&x, "by_value", 1, 2, VALUE(pair), VALUE(d)));
    download(&x, out, d, sizeof out);
    assert_int_equal(out[0], 82); /* the callee's change is its own */
    assert_int_equal(out[1], 82);
    assert_int_equal(x.findings, 0);
    fixture_close(&x);
}

static void barriers_and_local_memory(void **state)
{
    (void)state;
    enum { GROUP = 64, GROUPS = 5 };
    struct fixture x;
    fixture_open(&x, checks_now, 0);
    int32_t in[GROUP * GROUPS], out[GROUPS];
    for (int i = 0; i < GROUP * GROUPS; i++)
        in[i] = i * i % 91;
    int32_t *din = uploaded(&x, in, sizeof in), *dout = device_memory(&x, sizeof out);
    const struct soft_kernel *k = soft_module_find(x.module, "group_sum");
    assert_true(k->barriers);
    assert_int_equal(k->local_bytes, 16);
    assert_int_equal(k->arguments[2].kind, SOFT_LOCAL);
    OK(LAUNCH(&x, "group_sum", GROUPS, GROUP, VALUE(din), VALUE(dout), LOCAL(4 * GROUP)));
    download(&x, out, dout, sizeof out);
    for (int g = 0; g < GROUPS; g++) {
        int32_t sum = 100;
        for (int i = 0; i < GROUP; i++)
            sum += in[g * GROUP + i];
        assert_int_equal(out[g], sum);
    }
    assert_int_equal(x.findings, 0);
    fixture_close(&x);
}

static void builtin_functions(void **state)
{
    (void)state;
    struct fixture x;
    fixture_open(&x, checks_now, 0);
    const float in[5] = {0.25f, -1.5f, 2.5f, 3.75f, NAN};
    const uint32_t u[2] = {0x80001234u, 0x00F0FF03u};
    float f[6];
    uint32_t w[8];
    float *din = uploaded(&x, in, sizeof in), *df = device_memory(&x, sizeof f);
    uint32_t *du = uploaded(&x, u, sizeof u), *dw = device_memory(&x, sizeof w);
    OK(LAUNCH(&x, "builtins", 1, 1, VALUE(din), VALUE(du), VALUE(df), VALUE(dw)));
    download(&x, f, df, sizeof f);
    download(&x, w, dw, sizeof w);
    assert_true(f[0] == 0.5f);
    assert_true(f[1] == -2.0f + 2.0f + 3.75f);
    assert_true(fabsf(f[2] - (sinf(0.25f) + cosf(-1.5f) + atan2f(2.5f, 3.75f) + 52.734375f)) <
                1e-5f);
    assert_true(f[3] == 1.0f);
    /* v < 0.3: x and y take max(v, 0.25), z and w min(v, 0.5) */
    assert_true(f[4] == 0.25f + 10.0f * 0.25f + 100.0f * 0.5f + 1000.0f * 0.5f);
    assert_true(f[5] == 0.25f * -1.5f + 2.5f);
    assert_int_equal(w[0], (uint32_t)(((uint64_t)u[0] * u[1]) >> 32));
    assert_int_equal(w[1], 0 + 100 * 14);
    assert_int_equal(w[2], 0); /* 3 and -3 */
    assert_int_equal(w[3], (u[0] << 7) | (u[0] >> 25));
    assert_int_equal(w[4], u[0]); /* negative as int */
    assert_int_equal(w[5], u[0]);
    float as_float = (float)u[0];
    assert_memory_equal(&w[6], &as_float, 4);
    assert_int_equal(w[7], 1);
    assert_int_equal(x.findings, 0);
    fixture_close(&x);
}

static void atomics(void **state)
{
    (void)state;
    struct fixture x;
    fixture_open(&x, checks_now, 0);
    const uint32_t in[3] = {0, 0, 1000};
    uint32_t out[3], *d = uploaded(&x, in, sizeof in), *low = d + 2;
    OK(LAUNCH(&x, "count", 50, 4, VALUE(d), VALUE(low)));
    download(&x, out, d, sizeof out);
    assert_int_equal(out[0], 200);
    assert_int_equal(out[1], 600);
    assert_int_equal(out[2], 5);
    assert_int_equal(x.findings, 0);
    fixture_close(&x);
}

static void constant_tables(void **state)
{
    (void)state;
    struct fixture x;
    fixture_open(&x, checks_now, 0);
    const uint32_t at[4] = {3, 0, 2, 1};
    int32_t out[4], *d = device_memory(&x, sizeof out);
    uint32_t *da = uploaded(&x, at, sizeof at);
    OK(LAUNCH(&x, "from_table", 2, 2, VALUE(da), VALUE(d)));
    download(&x, out, d, sizeof out);
    assert_int_equal(out[0], 7);
    assert_int_equal(out[1], 2);
    assert_int_equal(out[2], 5);
    assert_int_equal(out[3], 3);
    assert_int_equal(x.findings, 0);
    fixture_close(&x);
}

/* ---- planted mistakes ----------------------------------------------------------------------- */

static void finds_bounds(void **state)
{
    (void)state;
    struct fixture x;
    fixture_open(&x, SOFT_BOUNDS, 0);
    int32_t *d = device_memory(&x, 64), n = 13, inside = 12;
    OK(LAUNCH(&x, "past_the_end", 1, 4, VALUE(d), VALUE(inside)));
    assert_int_equal(x.findings, 0);
    assert_int_equal(LAUNCH(&x, "past_the_end", 1, 4, VALUE(d), VALUE(n)), STATUS_DEVICE);
    found(&x, SOFT_BOUNDS, "writes 4 bytes at byte 64 of allocation 1 (64 bytes) of argument 0");
    n = -1;
    assert_int_equal(LAUNCH(&x, "past_the_end", 1, 4, VALUE(d), VALUE(n)), STATUS_OK);
    assert_int_equal(x.findings, 1); /* one finding a place */
    int32_t room = 8, over = 9;
    OK(LAUNCH(&x, "private_past_the_end", 1, 4, VALUE(d), VALUE(room)));
    assert_int_equal(LAUNCH(&x, "private_past_the_end", 1, 4, VALUE(d), VALUE(over)),
                     STATUS_DEVICE);
    found(&x, SOFT_BOUNDS, "of private memory that belong to no variable");
    assert_int_equal(LAUNCH(&x, "local_past_the_end", 1, 4, VALUE(d), LOCAL(16)), STATUS_DEVICE);
    found(&x, SOFT_BOUNDS, "of work-group memory that belong to no variable");
    const uint32_t at[1] = {1u << 20};
    uint32_t *da = uploaded(&x, at, sizeof at);
    assert_int_equal(LAUNCH(&x, "from_table", 1, 1, VALUE(da), VALUE(d)), STATUS_DEVICE);
    found(&x, SOFT_BOUNDS, "reads 4 bytes");
    fixture_close(&x);
}

static void finds_use_after_free(void **state)
{
    (void)state;
    struct fixture x;
    fixture_open(&x, SOFT_FREED, 0);
    int32_t *d = device_memory(&x, 64), zero = 0;
    OK(LAUNCH(&x, "past_the_end", 1, 4, VALUE(d), VALUE(zero)));
    OK(soft_free(x.device, d, &x.err));
    assert_int_equal(x.findings, 0);
    assert_int_equal(LAUNCH(&x, "past_the_end", 1, 4, VALUE(d), VALUE(zero)), STATUS_DEVICE);
    found(&x, SOFT_FREED,
          "writes 4 bytes of allocation 1 (64 bytes) of argument 0, which was freed");
    assert_int_equal(soft_free(x.device, d, &x.err), STATUS_ARG);
    found(&x, SOFT_FREED, "freed twice");
    /* and before the work that uses it has run */
    int32_t *e = device_memory(&x, 64);
    OK(launch_on(&x, x.stream, "past_the_end", 1, 4, (struct soft_value[]){VALUE(e), VALUE(zero)}));
    OK(soft_free(x.device, e, &x.err));
    found(&x, SOFT_FREED, "freed while queued work may use it");
    fixture_close(&x);
}

static void finds_uninitialised_reads(void **state)
{
    (void)state;
    struct fixture x;
    fixture_open(&x, SOFT_UNINITIALISED, 0);
    int32_t ones[16], n = 16, fewer = 12, eight = 8, seven = 7;
    for (int i = 0; i < 16; i++)
        ones[i] = 1;
    int32_t *d = device_memory(&x, sizeof ones), *out = device_memory(&x, 8);
    OK(soft_copy(x.stream, d, ones, 48, &x.err));
    OK(LAUNCH(&x, "sum_all", 1, 1, VALUE(d), VALUE(out), VALUE(fewer)));
    assert_int_equal(x.findings, 0);
    assert_int_equal(LAUNCH(&x, "sum_all", 1, 1, VALUE(d), VALUE(out), VALUE(n)), STATUS_DEVICE);
    found(&x, SOFT_UNINITIALISED,
          "reads 4 bytes at byte 48 of allocation 1 (64 bytes) of argument 0");
    OK(LAUNCH(&x, "private_unwritten", 1, 1, VALUE(out), VALUE(eight)));
    assert_int_equal(LAUNCH(&x, "private_unwritten", 1, 1, VALUE(out), VALUE(seven)),
                     STATUS_DEVICE);
    found(&x, SOFT_UNINITIALISED, "of private memory that nobody wrote");
    int32_t by[2] = {2, 0}, quotients[2];
    int32_t *divisors = uploaded(&x, by, sizeof by);
    OK(LAUNCH(&x, "quotients", 2, 1, VALUE(out), VALUE(divisors)));
    download(&x, quotients, out, sizeof quotients);
    assert_int_equal(quotients[0], 2 * (4 + 1));
    assert_int_equal(quotients[1], 2 * (9 + 0));
    fixture_close(&x);
}

static void finds_races(void **state)
{
    (void)state;
    struct fixture x;
    fixture_open(&x, SOFT_RACES, 0);
    int32_t *d = device_memory(&x, 1024);
    OK(LAUNCH(&x, "all_write_one", 1, 1, VALUE(d)));
    assert_int_equal(x.findings, 0);
    assert_int_equal(LAUNCH(&x, "all_write_one", 1, 2, VALUE(d)), STATUS_DEVICE);
    found(&x, SOFT_RACES,
          "writes allocation 1 (1024 bytes) of argument 0, which work-item 0 of the launch wrote");
    assert_int_equal(LAUNCH(&x, "neighbour_read", 4, 1, VALUE(d)), STATUS_DEVICE);
    found(&x, SOFT_RACES, "with no barrier between");
    assert_int_equal(LAUNCH(&x, "lost_barrier", 1, 8, VALUE(d), LOCAL(32)), STATUS_DEVICE);
    found(&x, SOFT_RACES, "work-group memory, which work-item");
    assert_int_equal(LAUNCH(&x, "split_barrier", 1, 4, VALUE(d)), STATUS_DEVICE);
    found(&x, SOFT_RACES, "2 of the 4 items");
    fixture_close(&x);
}

static void finds_missing_waits(void **state)
{
    (void)state;
    struct fixture x;
    fixture_open(&x, SOFT_WAITS, 0);
    struct soft_stream *other;
    OK(soft_stream_open(x.device, &other, &x.err));
    int32_t host[16] = {0}, zero = 0, n = 16;
    int32_t *d = uploaded(&x, host, sizeof host), *out = device_memory(&x, 4);
    struct soft_value writes[] = {VALUE(d), VALUE(zero)},
                      reads[] = {VALUE(d), VALUE(out), VALUE(n)};

    /* ordered: by one stream, by a point, by the host */
    OK(launch_on(&x, x.stream, "past_the_end", 1, 16, writes));
    OK(launch_on(&x, x.stream, "sum_all", 1, 1, reads));
    soft_stream_after(other, soft_stream_point(x.stream));
    OK(launch_on(&x, other, "past_the_end", 1, 16, writes));
    OK(soft_wait(x.device, soft_stream_point(other), &x.err));
    OK(launch(&x, "sum_all", 1, 1, reads));
    assert_int_equal(x.findings, 0);

    /* not ordered */
    OK(launch_on(&x, x.stream, "past_the_end", 1, 16, writes));
    OK(launch_on(&x, other, "sum_all", 1, 1, reads));
    assert_int_equal(soft_wait(x.device, soft_stream_point(other), &x.err), STATUS_DEVICE);
    found(&x, SOFT_WAITS, "nothing orders it before this one");
    OK(soft_wait_all(x.device, &x.err));

    OK(launch_on(&x, x.stream, "past_the_end", 1, 16, writes));
    OK(soft_copy(other, host, d, sizeof host, &x.err));
    size_t before = x.findings;
    assert_int_equal(soft_wait_all(x.device, &x.err), STATUS_DEVICE);
    assert_int_equal(x.findings, before + 1);
    found(&x, SOFT_WAITS, "a copy or fill");

    /* the host in the way of a copy */
    OK(soft_copy(x.stream, d, host, sizeof host, &x.err));
    host[3] = 77;
    assert_int_equal(soft_wait_all(x.device, &x.err), STATUS_DEVICE);
    found(&x, SOFT_WAITS, "the host changed");
    int32_t back[16] = {0};
    OK(soft_copy(x.stream, back, d, sizeof back, &x.err));
    assert_int_not_equal(back[0], 1); /* not yet there: what it shows is poison */
    back[5] = 1;
    assert_int_equal(soft_wait_all(x.device, &x.err), STATUS_DEVICE);
    found(&x, SOFT_WAITS, "the host wrote to");
    fixture_close(&x);
}

static void finds_wrong_arguments(void **state)
{
    (void)state;
    struct fixture x;
    fixture_open(&x, SOFT_ARGUMENTS, 0);
    double wide = 1.0;
    float a = 1.0f, *d = device_memory(&x, 64);
    struct soft_value values[3] = {VALUE(wide), VALUE(d), VALUE(d)};
    assert_int_equal(launch_on(&x, x.stream, "saxpy", 1, 1, values), STATUS_ARG);
    found(&x, SOFT_ARGUMENTS, "argument 0 of saxpy has 4 bytes; 8 were set");
    values[0] = (struct soft_value)VALUE(a);
    values[2].size = 0;
    assert_int_equal(launch_on(&x, x.stream, "saxpy", 1, 1, values), STATUS_ARG);
    found(&x, SOFT_ARGUMENTS, "argument 2 of saxpy was never set");
    fixture_close(&x);
}

static void stops_late_launches(void **state)
{
    (void)state;
    struct fixture x;
    fixture_open(&x, SOFT_BOUNDS, 0.2);
    int32_t zeros[2] = {0}, *d = uploaded(&x, zeros, sizeof zeros);
    assert_int_equal(LAUNCH(&x, "forever", 1, 1, VALUE(d)), STATUS_DEVICE);
    found(&x, SOFT_OVERRUN, "forever ran longer than its budget");
    fixture_close(&x);
    fixture_open(&x, 0, 1e-9); /* looked at between work-items too; the rest of them is left out */
    float a = 1.0f, *v = device_memory(&x, 256);
    assert_int_equal(LAUNCH(&x, "saxpy", 8, 8, VALUE(a), VALUE(v), VALUE(v)), STATUS_DEVICE);
    found(&x, SOFT_OVERRUN, "saxpy ran longer than its budget");
    assert_int_equal(x.findings, 1);
    fixture_close(&x);
}

/* ---- the rest of the interface -------------------------------------------------------------- */

static void native_form(void **state)
{
    (void)state;
    struct fixture x, checked;
    fixture_open(&x, 0, 0);
    fixture_open(&checked, SOFT_BOUNDS, 0);
    const void *data;
    size_t size;
    soft_module_native(x.module, &data, &size);
    struct soft_module *again = NULL;
    OK(soft_module_load(x.device, data, size, NULL, &again, NULL, 0, &x.err));
    assert_int_equal(soft_module_kernel_count(again), soft_module_kernel_count(x.module));
    soft_module_free(x.module);
    x.module = again;
    float a = 2.0f, one[1] = {1.0f}, out, *d = uploaded(&x, one, sizeof one);
    OK(LAUNCH(&x, "saxpy", 1, 1, VALUE(a), VALUE(d), VALUE(d)));
    download(&x, &out, d, sizeof out);
    assert_true(out == 3.0f);

    soft_module_native(x.module, &data, &size);
    assert_int_equal(soft_module_load(checked.device, data, size, NULL, &again, NULL, 0, &x.err),
                     STATUS_BUILD); /* compiled without checks */
    char *bad = malloc(size);
    for (size_t at = 0; at < size; at += 1 + size / 97) {
        memcpy(bad, data, size);
        bad[at] ^= 4;
        assert_int_equal(soft_module_load(x.device, bad, size, NULL, &again, NULL, 0, &x.err),
                         STATUS_BUILD);
        assert_int_equal(soft_module_load(x.device, data, at, NULL, &again, NULL, 0, &x.err),
                         STATUS_BUILD);
    }
    free(bad);
    fixture_close(&checked);
    fixture_close(&x);
}

static void refusals(void **state)
{
    (void)state;
    struct fixture x;
    fixture_open(&x, 0, 0);
    struct soft_module *m = NULL;
    char log[256];
    static const char unknown[] = "target triple = \"spir64\"\n"
                                  "declare spir_func void @nobody_knows_me(i32)\n"
                                  "define spir_kernel void @k(i32 %a) {\n"
                                  "  call spir_func void @nobody_knows_me(i32 %a)\n  ret void\n}\n";
    assert_int_equal(
        soft_module_load(x.device, unknown, sizeof unknown - 1, NULL, &m, log, sizeof log, &x.err),
        STATUS_BUILD);
    assert_non_null(strstr(x.err.msg, "nobody_knows_me"));
    static const char empty[] = "target triple = \"spir64\"\ndefine void @f() {\n  ret void\n}\n";
    assert_int_equal(
        soft_module_load(x.device, empty, sizeof empty - 1, NULL, &m, log, sizeof log, &x.err),
        STATUS_BUILD);
    OK(soft_module_load(x.device, empty, sizeof empty - 1, (const char *const[]){"f", NULL}, &m,
                        log, sizeof log, &x.err));
    static const char junk[] = "int main(void) { return 0; }";
    assert_int_equal(
        soft_module_load(x.device, junk, sizeof junk - 1, NULL, &m, log, sizeof log, &x.err),
        STATUS_BUILD);
    void *p = NULL;
    uint64_t limit = soft_device_memory(x.device, NULL);
    assert_int_equal(soft_alloc(x.device, SOFT_DEVICE_MEMORY, limit + 1, 0, &p, &x.err),
                     STATUS_LIMIT);
    unsigned checks;
    OK(soft_checks_parse("bounds,races", &checks, &x.err));
    assert_int_equal(checks, SOFT_BOUNDS | SOFT_RACES);
    OK(soft_checks_parse("all", &checks, &x.err));
    assert_int_equal(checks, SOFT_ALL);
    assert_int_equal(soft_checks_parse("bounds,bound", &checks, &x.err), STATUS_ARG);
    fixture_close(&x);
}

/* A CUDA-like module: NVPTX's intrinsics, an extern array in shared memory, nvvm.annotations. */
static void nvptx_modules(void **state)
{
    (void)state;
    static const char text[] =
        "target triple = \"nvptx64-nvidia-cuda\"\n"
        "@smem = external addrspace(3) global [0 x i32], align 4\n"
        "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
        "declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()\n"
        "declare void @llvm.nvvm.barrier0()\n"
        "define void @reverse(ptr %out) {\n"
        "  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
        "  %n = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()\n"
        "  %a = getelementptr i32, ptr addrspacecast (ptr addrspace(3) @smem to ptr), i32 %i\n"
        "  store i32 %i, ptr %a\n"
        "  call void @llvm.nvvm.barrier0()\n"
        "  %m = sub i32 %n, 1\n"
        "  %j = sub i32 %m, %i\n"
        "  %b = getelementptr [0 x i32], ptr addrspace(3) @smem, i32 0, i32 %j\n"
        "  %v = load i32, ptr addrspace(3) %b\n"
        "  %o = getelementptr i32, ptr %out, i32 %i\n"
        "  store i32 %v, ptr %o\n"
        "  ret void\n}\n"
        "!nvvm.annotations = !{!0}\n"
        "!0 = !{ptr @reverse, !\"kernel\", i32 1}\n";
    struct fixture x;
    fixture_open(&x, SOFT_ALL, 0);
    struct soft_module *m = NULL;
    enum status s = soft_module_load(x.device, text, sizeof text - 1, NULL, &m, NULL, 0, &x.err);
    if (s != STATUS_OK)
        fail_msg("%s", x.err.msg);
    uint32_t out[8], *d = device_memory(&x, sizeof out);
    struct soft_value values[] = {VALUE(d)};
    struct soft_launch l = {.module = m,
                            .kernel = soft_module_find(m, "reverse"),
                            .groups = {1, 1, 1},
                            .group = {8, 1, 1},
                            .dynamic_local = 32,
                            .values = values};
    OK(soft_launch(x.stream, &l, &x.err));
    download(&x, out, d, sizeof out);
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(out[i], 7 - i);
    l.dynamic_local = 16; /* half of what it needs */
    OK(soft_launch(x.stream, &l, &x.err));
    assert_int_equal(soft_wait_all(x.device, &x.err), STATUS_DEVICE);
    found(&x, SOFT_BOUNDS, "work-group memory");
    fixture_close(&x);
}

static void times_go_forward(void **state)
{
    (void)state;
    struct fixture x;
    fixture_open(&x, 0, 0);
    int32_t *d = device_memory(&x, 64), zero = 0;
    struct soft_value values[] = {VALUE(d), VALUE(zero)};
    struct soft_point begin = soft_stream_point(x.stream);
    OK(launch_on(&x, x.stream, "past_the_end", 1, 16, values));
    struct soft_point end = soft_stream_point(x.stream);
    uint64_t t0, t1, start, stop;
    assert_false(soft_reached(x.device, end));
    assert_false(soft_times(x.device, end, &t1, &start, &stop));
    OK(soft_wait(x.device, end, &x.err));
    assert_true(soft_reached(x.device, end));
    assert_true(soft_times(x.device, begin, &t0, NULL, NULL));
    assert_true(soft_times(x.device, end, &t1, &start, &stop));
    assert_true(t0 <= start && start < stop && stop <= t1);
    fixture_close(&x);
}

int main(void)
{
    const struct CMUnitTest right[] = {
        cmocka_unit_test(sum_of_vectors),    cmocka_unit_test(work_item_functions),
        cmocka_unit_test(structs_by_value),  cmocka_unit_test(barriers_and_local_memory),
        cmocka_unit_test(builtin_functions), cmocka_unit_test(atomics),
        cmocka_unit_test(constant_tables),
    };
    const struct CMUnitTest rest[] = {
        cmocka_unit_test(finds_bounds),
        cmocka_unit_test(finds_use_after_free),
        cmocka_unit_test(finds_uninitialised_reads),
        cmocka_unit_test(finds_races),
        cmocka_unit_test(finds_missing_waits),
        cmocka_unit_test(finds_wrong_arguments),
        cmocka_unit_test(stops_late_launches),
        cmocka_unit_test(native_form),
        cmocka_unit_test(refusals),
        cmocka_unit_test(nvptx_modules),
        cmocka_unit_test(times_go_forward),
    };
    struct soft_device *d = NULL;
    struct error err;
    if (soft_device_open(&(struct soft_options){0}, &d, &err) != STATUS_OK) {
        printf("skipped: %s\n", err.msg);
        return 77;
    }
    soft_device_close(d);
    int failed = cmocka_run_group_tests_name("bitcode", right, NULL, NULL);
    checks_now = SOFT_ALL;
    failed += cmocka_run_group_tests_name("bitcode, checked", right, NULL, NULL);
    failed += cmocka_run_group_tests_name("bitcode, the rest", rest, NULL, NULL);
#ifdef MODULE_SPIRV
    module_path = MODULE_SPIRV;
    failed += cmocka_run_group_tests_name("SPIR-V, checked", right, NULL, NULL);
    checks_now = 0;
    failed += cmocka_run_group_tests_name("SPIR-V", right, NULL, NULL);
    failed += cmocka_run_group_tests_name("SPIR-V, the rest", rest, NULL, NULL);
#endif
    return failed != 0;
}
