/* SPDX-License-Identifier: Apache-2.0 */
/* number_formats_run: the tool number_formats, a process for each scene and format, so that one
 * that ends by a signal costs its row alone, and double is timed beside each. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

enum { SAID_MOST = 1 << 16, PATH_MOST = 4096 };

/* What has no instructions on most processors, or no library, is a row that says so. */
const char number_formats_usual[] =
    "double,float32,float16,float16-f16c,float16-avx512fp16,bfloat16,bfloat16-avx512bf16,fixed8.8,"
    "fixed16.16,fixed8.24,fixed16.48,posit8,posit16,posit32";

struct formats {
    const struct number_format_options *o;
    struct arena *a;
    char tool[PATH_MOST];
    char said[SAID_MOST];
};

/* The last line, without the tool's name and its option's. */
static const char *reason_of(struct arena *a, const char *said)
{
    static const char *const names[] = {"number_formats: ", "--formats, "};
    size_t n = strlen(said);
    while (n > 0 && said[n - 1] == '\n')
        n--;
    size_t from = n;
    while (from > 0 && said[from - 1] != '\n')
        from--;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (n - from > strlen(names[i]) && strncmp(said + from, names[i], strlen(names[i])) == 0)
            from += strlen(names[i]);
    return arena_strndup(a, said + from, n - from);
}

/* ---- which formats -------------------------------------------------------------------------- */

/* "NAME\tBITS\tHOW\tLACKS": format, bits, how, and as the reason what is lacking here. */
static bool listed_read(struct arena *a, const char *line, size_t n, struct number_format_record *r)
{
    char *text = arena_strndup(a, line, n), *at = text, *field[4];
    for (int i = 0; text && i < 4; i++) {
        field[i] = at;
        at += strcspn(at, "\t");
        if ((*at == 0) != (i == 3))
            return false;
        *at++ = 0;
    }
    if (!text)
        return false;
    *r = (struct number_format_record){.format = field[0],
                                       .bits = (uint32_t)strtoul(field[1], NULL, 10),
                                       .how = field[2],
                                       .reason = field[3][0] ? field[3] : NULL};
    return r->bits > 0;
}

static enum status formats_list(struct formats *f, struct number_format_record **out, size_t *count,
                                struct error *err)
{
    const char *names = f->o->formats ? f->o->formats : number_formats_usual;
    char *argv[] = {f->tool, (char *)"--list", (char *)"--formats", (char *)names, NULL};
    int code = 0;
    TRY(helper_path("number_formats", f->tool, sizeof f->tool, err));
    TRY(child_run(argv, NULL, f->said, sizeof f->said, &code, err));
    if (code != 0) {
        const char *why = reason_of(f->a, f->said);
        return error_msg(err, code == 2 ? STATUS_TYPE : STATUS_UNSUPPORTED,
                         "axis number-format: %s",
                         code > 0 && why && why[0] ? why : "number_formats did not start");
    }
    size_t n = 0, k = 0;
    for (const char *p = f->said; *p; p++)
        n += *p == '\n';
    struct number_format_record *list = ARENA_ARRAY(f->a, struct number_format_record, n);
    if (!list)
        return error_msg(err, STATUS_MEMORY, "out of memory for formats");
    for (const char *p = f->said; k < n; p += strcspn(p, "\n") + 1, k++)
        if (!listed_read(f->a, p, strcspn(p, "\n"), &list[k]))
            return error_msg(err, STATUS_INTERNAL, "number_formats lists what is no format");
    *out = list;
    *count = n;
    return STATUS_OK;
}

enum status number_formats_check(const char *formats, struct error *err)
{
    struct arena a = {0};
    struct number_format_options o = {.formats = formats};
    struct number_format_record *list;
    size_t n;
    struct formats *f = ARENA_NEW(&a, struct formats);
    if (!f)
        return error_msg(err, STATUS_MEMORY, "out of memory for formats");
    f->o = &o;
    f->a = &a;
    enum status st = formats_list(f, &list, &n, err);
    arena_free(&a);
    return st;
}

/* ---- one row -------------------------------------------------------------------------------- */

static double number_at(const struct json *o, const char *key)
{
    const struct json *v = o && o->type == JSON_OBJECT ? json_get(o, key) : NULL;
    return v && v->type == JSON_NUMBER ? v->number : 0;
}

static void mean_of(const struct json *row, double mean[3])
{
    const struct json *v = row && row->type == JSON_OBJECT ? json_get(row, "mean") : NULL;
    const struct json *at = v && v->type == JSON_ARRAY && v->count == 3 ? v->first : NULL;
    for (int c = 0; c < 3; c++, at = at ? at->next : NULL)
        mean[c] = at && at->type == JSON_NUMBER ? at->number : 0;
}

/* What the tool printed: {"rows": [double's, the format's], "max_depth": N}. */
static enum status row_read(struct formats *f, struct number_format_record *r, struct error *err)
{
    const struct json *v;
    double means[3];
    TRY(json_parse(f->a, "number_formats", f->said, strlen(f->said), &v, err));
    const struct json *rows = v->type == JSON_OBJECT ? json_get(v, "rows") : NULL;
    if (!rows || rows->type != JSON_ARRAY || rows->count != 2)
        return error_msg(err, STATUS_INTERNAL, "number_formats printed no two rows");
    const struct json *made = rows->first->next;
    const struct json *error = made->type == JSON_OBJECT ? json_get(made, "relmse") : NULL;
    r->max_depth = (uint32_t)number_at(v, "max_depth");
    if (error && error->type == JSON_NULL) {
        r->reason = "the picture is not finite: sums grow beyond the format's largest number";
        return STATUS_OK;
    }
    mean_of(rows->first, means);
    mean_of(made, r->mean);
    r->double_green = means[1];
    r->rmse = number_at(made, "rmse");
    r->relmse = number_at(made, "relmse");
    r->us_per_sample = number_at(made, "us_per_sample");
    r->times_double = number_at(made, "times_double");
    return STATUS_OK;
}

static const char *command_of(struct formats *f, const char *scene,
                              const struct number_format_record *r)
{
    struct text t = {0};
    text_shell(&t, f->o->program ? f->o->program : "isophote");
    text_puts(&t, " sweep ");
    text_shell(&t, scene);
    text_printf(&t, " --axis number-format=%s --width %u --height %u --spp %u", r->format, r->width,
                r->height, r->spp);
    if (f->o->max_depth)
        text_printf(&t, " --max-depth %u", f->o->max_depth);
    if (f->o->seed_given)
        text_printf(&t, " --seed %llu", (unsigned long long)f->o->seed);
    const char *command = t.failed ? NULL : arena_strdup(f->a, t.data);
    text_free(&t);
    return command;
}

/* A picture that cannot be is a row with the reason; *broken: the tool ended as it never should. */
static enum status row_make(struct formats *f, const char *scene, struct number_format_record *r,
                            bool *broken, struct error *err)
{
    char width[16], height[16], spp[16], depth[16], seed[24];
    char *argv[20] = {
        f->tool, (char *)scene,      (char *)"--json", (char *)"--formats", NULL, (char *)"--width",
        width,   (char *)"--height", height,           (char *)"--spp",     spp};
    int n = 11, code = 0;
    argv[4] = (char *)r->format;
    snprintf(width, sizeof width, "%u", r->width);
    snprintf(height, sizeof height, "%u", r->height);
    snprintf(spp, sizeof spp, "%u", r->spp);
    if (f->o->max_depth) {
        snprintf(depth, sizeof depth, "%u", f->o->max_depth);
        argv[n++] = (char *)"--max-depth";
        argv[n++] = depth;
    }
    if (f->o->seed_given) {
        snprintf(seed, sizeof seed, "%llu", (unsigned long long)f->o->seed);
        argv[n++] = (char *)"--seed";
        argv[n++] = seed;
    }
    TRY(child_run(argv, NULL, f->said, sizeof f->said, &code, err));
    if (code == 0)
        return row_read(f, r, err);
    if (code == 2) {
        const char *why = reason_of(f->a, f->said);
        return error_msg(err, STATUS_PARSE, "%s", why ? why : "bad input");
    }
    r->reason = code < 0 ? arena_printf(f->a, "number_formats was ended by signal %d", -code)
                         : reason_of(f->a, f->said);
    *broken = code != 77;
    return r->reason ? STATUS_OK : error_msg(err, STATUS_MEMORY, "out of memory for a row");
}

enum status number_formats_run(const char *const *scenes, size_t count,
                               const struct number_format_options *o, struct number_format_end *end,
                               struct error *err)
{
    struct arena a = {0};
    struct number_format_record *list = NULL;
    size_t n = 0;
    struct formats *f = ARENA_NEW(&a, struct formats);
    enum status st = f ? STATUS_OK : error_msg(err, STATUS_MEMORY, "out of memory for formats");
    *end = (struct number_format_end){0};
    if (!st) {
        f->o = o;
        f->a = &a;
        st = formats_list(f, &list, &n, err);
    }
    for (size_t i = 0; i < count * n && !st; i++) {
        const char *scene = scenes[i / n];
        struct number_format_record r = list[i % n];
        bool broken = false;
        r.scene = path_stem(&a, scene);
        r.width = o->width;
        r.height = o->height;
        r.spp = o->spp;
        r.max_depth = o->max_depth;
        r.command = command_of(f, scene, &r);
        if (!r.scene || !r.command)
            st = error_msg(err, STATUS_MEMORY, "out of memory for a row");
        if (!st && o->progress)
            o->progress(o->ctx, r.format, (double)i / (double)(count * n));
        if (!st && !r.reason)
            st = row_make(f, scene, &r, &broken, err);
        if (!st && o->store)
            st = store_add_number_format(o->store, o->run, &r, err);
        if (st)
            break;
        end->broken += broken;
        end->measured += !r.reason;
        o->each(o->ctx, &r);
    }
    arena_free(&a);
    return st;
}
