/* SPDX-License-Identifier: Apache-2.0 */
#include "records.h"

#include <math.h>
#include <string.h>

#define AT(type, member) offsetof(struct type, member)

static const struct field run_fields[] = {
    {"kind", FIELD_KEY, AT(run_record, kind), 1},
    {"started_utc", FIELD_TEXT, AT(run_record, started_utc), 1},
    {"command", FIELD_TEXT, AT(run_record, command), 1},
    {"environment", FIELD_JSON, AT(run_record, environment), 1},
    {"selection", FIELD_JSON, AT(run_record, selection), 2},
};
static const struct field identity_fields[] = {
    {"key", FIELD_KEY, AT(identity_record, key), 2},
    {"kind", FIELD_KEY, AT(identity_record, kind), 2},
    {"parts", FIELD_JSON, AT(identity_record, parts), 2},
};
static const struct field device_fields[] = {
    {"id", FIELD_KEY, AT(device_record, id), 1},
    {"api", FIELD_TEXT, AT(device_record, api), 1},
    {"name", FIELD_TEXT, AT(device_record, name), 1},
    {"vendor", FIELD_TEXT, AT(device_record, vendor), 1},
    {"driver", FIELD_TEXT, AT(device_record, driver), 1},
    {"version", FIELD_TEXT, AT(device_record, version), 1},
    {"compiler", FIELD_TEXT, AT(device_record, compiler), 1},
    {"kind", FIELD_TEXT, AT(device_record, kind), 1},
    {"detail", FIELD_JSON, AT(device_record, detail), 1},
    {"identity", FIELD_TEXT, AT(device_record, identity), 2},
};
static const struct field case_fields[] = {
    {"name", FIELD_KEY, AT(case_record, name), 1},
    {"device", FIELD_KEY, AT(case_record, device), 1},
    {"verdict", FIELD_VERDICT, AT(case_record, verdict), 1},
    {"reason", FIELD_TEXT, AT(case_record, reason), 1},
    {"replay", FIELD_TEXT, AT(case_record, replay), 1},
    {"detail", FIELD_JSON, AT(case_record, detail), 1},
    {"compile_s", FIELD_REAL, AT(case_record, compile_s), 1},
    {"run_s", FIELD_REAL, AT(case_record, run_s), 1},
    {"waived", FIELD_BOOL, AT(case_record, waived), 1},
    {"identity", FIELD_TEXT, AT(case_record, identity), 2},
    {"skip", FIELD_TEXT, AT(case_record, skip), 2},
    {"listed", FIELD_BOOL, AT(case_record, listed), 2},
    {"rerun", FIELD_TEXT, AT(case_record, rerun), 3},
    {"runs", FIELD_JSON, AT(case_record, runs), 3},
    {"shared", FIELD_TEXT, AT(case_record, shared), 3},
};
static const struct field bench_fields[] = {
    {"scene", FIELD_KEY, AT(bench_record, scene), 1},
    {"device", FIELD_KEY, AT(bench_record, device), 1},
    {"mode", FIELD_KEY, AT(bench_record, mode), 1},
    {"bvh", FIELD_TEXT, AT(bench_record, bvh), 1},
    {"model", FIELD_TEXT, AT(bench_record, model), 1},
    {"width", FIELD_U32, AT(bench_record, width), 1},
    {"height", FIELD_U32, AT(bench_record, height), 1},
    {"spp", FIELD_U32, AT(bench_record, spp), 1},
    {"max_depth", FIELD_U32, AT(bench_record, max_depth), 1},
    {"work_group_x", FIELD_U32, AT(bench_record, work_group[0]), 1},
    {"work_group_y", FIELD_U32, AT(bench_record, work_group[1]), 1},
    {"tile_x", FIELD_U32, AT(bench_record, tile[0]), 1},
    {"tile_y", FIELD_U32, AT(bench_record, tile[1]), 1},
    {"batch", FIELD_U32, AT(bench_record, batch), 1},
    {"verdict", FIELD_VERDICT, AT(bench_record, verdict), 1},
    {"reason", FIELD_TEXT, AT(bench_record, reason), 1},
    {"samples_per_s", FIELD_REAL, AT(bench_record, samples_per_s), 1},
    {"interval_low", FIELD_REAL, AT(bench_record, interval[0]), 1},
    {"interval_high", FIELD_REAL, AT(bench_record, interval[1]), 1},
    {"noise", FIELD_REAL, AT(bench_record, noise), 1},
    {"repetitions", FIELD_U32, AT(bench_record, repetitions), 1},
    {"phases", FIELD_JSON, AT(bench_record, phases), 1},
    {"detail", FIELD_JSON, AT(bench_record, detail), 1},
    {"command", FIELD_TEXT, AT(bench_record, command), 1},
    {"identity", FIELD_TEXT, AT(bench_record, identity), 2},
    {"notes", FIELD_TEXT, AT(bench_record, notes), 3},
};
static const struct field image_fields[] = {
    {"scene", FIELD_KEY, AT(image_record, scene), 1},
    {"device", FIELD_KEY, AT(image_record, device), 1},
    {"mode", FIELD_TEXT, AT(image_record, mode), 1},
    {"kind", FIELD_IMAGE, AT(image_record, kind), 1},
    {"width", FIELD_U32, AT(image_record, width), 1},
    {"height", FIELD_U32, AT(image_record, height), 1},
    {"caption", FIELD_TEXT, AT(image_record, caption), 1},
    {"png", FIELD_BYTES, AT(image_record, png), 1},
    {"identity", FIELD_TEXT, AT(image_record, identity), 2},
};
static const struct field film_fields[] = {
    {"name", FIELD_KEY, AT(film_record, name), 4},
    {"device", FIELD_KEY, AT(film_record, device), 4},
    {"job", FIELD_JSON, AT(film_record, job), 4},
    {"tile", FIELD_U32, AT(film_record, tile), 4},
    {"root", FIELD_KEY, AT(film_record, root), 4},
    {"sums", FIELD_BYTES, AT(film_record, sums), 4},
    {"identity", FIELD_TEXT, AT(film_record, identity), 4},
};
static const struct field number_format_fields[] = {
    {"scene", FIELD_KEY, AT(number_format_record, scene), 5},
    {"format", FIELD_KEY, AT(number_format_record, format), 5},
    {"how", FIELD_TEXT, AT(number_format_record, how), 5},
    {"bits", FIELD_U32, AT(number_format_record, bits), 5},
    {"width", FIELD_U32, AT(number_format_record, width), 5},
    {"height", FIELD_U32, AT(number_format_record, height), 5},
    {"spp", FIELD_U32, AT(number_format_record, spp), 5},
    {"max_depth", FIELD_U32, AT(number_format_record, max_depth), 5},
    {"reason", FIELD_TEXT, AT(number_format_record, reason), 5},
    {"mean_r", FIELD_REAL, AT(number_format_record, mean[0]), 5},
    {"mean_g", FIELD_REAL, AT(number_format_record, mean[1]), 5},
    {"mean_b", FIELD_REAL, AT(number_format_record, mean[2]), 5},
    {"double_g", FIELD_REAL, AT(number_format_record, double_green), 5},
    {"rmse", FIELD_REAL, AT(number_format_record, rmse), 5},
    {"relmse", FIELD_REAL, AT(number_format_record, relmse), 5},
    {"us_per_sample", FIELD_REAL, AT(number_format_record, us_per_sample), 5},
    {"times_double", FIELD_REAL, AT(number_format_record, times_double), 5},
    {"command", FIELD_TEXT, AT(number_format_record, command), 5},
};
_Static_assert(AT(film_record, sums_size) == AT(film_record, sums) + sizeof(void *),
               "FIELD_BYTES: the size follows the pointer");
_Static_assert(AT(image_record, png_size) == AT(image_record, png) + sizeof(void *),
               "FIELD_BYTES: the size follows the pointer");

#define LAYOUT(text, sql_table, type, first)                                                       \
    {                                                                                              \
        .name = (text), .table = (sql_table), .size = sizeof(struct type##_record),                \
        .fields = type##_fields, .count = sizeof type##_fields / sizeof type##_fields[0],          \
        .since = (first)                                                                           \
    }
const struct record_layout record_layouts[RECORD_COUNT] = {
    [RECORD_RUN] = LAYOUT("run", "run", run, 1),
    [RECORD_IDENTITY] = LAYOUT("identity", "identity", identity, 2),
    [RECORD_DEVICE] = LAYOUT("device", "device", device, 1),
    [RECORD_CASE] = LAYOUT("case", "case_result", case, 1),
    [RECORD_BENCH] = LAYOUT("bench", "bench", bench, 1),
    [RECORD_IMAGE] = LAYOUT("image", "image", image, 1),
    [RECORD_FILM] = LAYOUT("film", "film", film, 4),
    [RECORD_NUMBER_FORMAT] = LAYOUT("number_format", "number_format", number_format, 5),
};

/* ---- names ---------------------------------------------------------------------------------- */

static const char *const verdict_names[] = {
#define X(name, text) #name,
    VERDICT_LIST(X)
#undef X
};
static const char *const image_names[] = {IMAGE_KIND_LIST(LIST_TEXT)};

const struct phase_name phase_names[PHASE_COUNT] = {
#define X(key, text) {#key, text},
    PHASE_LIST(X)
#undef X
};

const char *verdict_name(enum verdict v)
{
    return (unsigned)v < VERDICT_COUNT ? verdict_names[v] : "?";
}

const char *image_kind_name(enum image_kind k)
{
    return (unsigned)k < IMAGE_KIND_COUNT ? image_names[k] : "?";
}

bool verdict_parse(const char *name, enum verdict *out)
{
    int i = name_index(name, verdict_names, VERDICT_COUNT);
    if (i >= 0)
        *out = (enum verdict)i;
    return i >= 0;
}

bool image_kind_parse(const char *name, enum image_kind *out)
{
    int i = name_index(name, image_names, IMAGE_KIND_COUNT);
    if (i >= 0)
        *out = (enum image_kind)i;
    return i >= 0;
}

/* ---- JSON inside records -------------------------------------------------------------------- */

enum status json_compact(struct arena *a, const char *what, const char *text, const char **out,
                         struct error *err)
{
    const struct json *root;
    struct error inner = {0};
    enum status st = json_parse(a, what, text, strlen(text), &root, &inner);
    if (st == STATUS_MEMORY)
        return error_msg(err, STATUS_MEMORY, "out of memory for %s", what);
    if (st)
        return error_msg(err, STATUS_ARG, "%s is not JSON: %s", what, inner.msg);
    struct json_writer w = {0};
    json_copy(&w, root);
    char *copy = w.out.failed ? NULL : arena_strdup(a, w.out.data);
    bool deep = w.depth != 0;
    text_free(&w.out);
    if (deep)
        return error_msg(err, STATUS_ARG, "%s is nested too deep", what);
    if (!copy)
        return error_msg(err, STATUS_MEMORY, "out of memory for %s", what);
    *out = copy;
    return STATUS_OK;
}

/* ---- checks --------------------------------------------------------------------------------- */

static enum status field_check(const struct record_layout *l, const struct field *f,
                               const char *value, struct error *err)
{
    const char *text;
    double number;
    int choice;
    switch (f->type) {
    case FIELD_KEY:
        memcpy(&text, value, sizeof text);
        if (!text || !text[0])
            return error_msg(err, STATUS_ARG, "a %s record needs its %s", l->name, f->name);
        break;
    case FIELD_REAL:
        memcpy(&number, value, sizeof number);
        if (!isfinite(number))
            return error_msg(err, STATUS_ARG, "%s of a %s record is not finite", f->name, l->name);
        break;
    case FIELD_VERDICT:
    case FIELD_IMAGE:
        memcpy(&choice, value, sizeof choice);
        if (choice < 0 ||
            choice >= (f->type == FIELD_IMAGE ? (int)IMAGE_KIND_COUNT : (int)VERDICT_COUNT))
            return error_msg(err, STATUS_ARG, "%s of a %s record is %d, which is none", f->name,
                             l->name, choice);
        break;
    default:
        break;
    }
    return STATUS_OK;
}

/* The key is that of the parts. */
static enum status identity_check(const struct identity_record *r, struct error *err)
{
    struct arena a = {0};
    const struct json *parts;
    const struct identity *id;
    struct error inner = {0};
    enum status st =
        r->parts ? json_parse(&a, "parts", r->parts, strlen(r->parts), &parts, &inner) : STATUS_ARG;
    if (!st)
        st = identity_read(&a, "parts", r->kind, r->key, parts, NULL, 0, &id, &inner);
    arena_free(&a);
    return st ? error_msg(err, st == STATUS_MEMORY ? st : STATUS_ARG, "an identity: %s",
                          r->parts ? inner.msg : "it needs its parts")
              : STATUS_OK;
}

static enum status case_check(const struct case_record *c, struct error *err)
{
    enum rerun rerun;
    if (c->rerun && !rerun_parse(c->rerun, &rerun))
        return error_msg(err, STATUS_ARG,
                         "rerun of a case record is \"%.40s\", which is neither \"agreed\" nor "
                         "\"differed\"",
                         c->rerun);
    if (!c->skip)
        return STATUS_OK;
    if (strcmp(c->skip, "expected") != 0 && strcmp(c->skip, "unexpected") != 0)
        return error_msg(err, STATUS_ARG,
                         "skip of a case record is \"%.40s\", which is neither "
                         "\"expected\" nor \"unexpected\"",
                         c->skip);
    if (c->verdict != VERDICT_SKIP)
        return error_msg(err, STATUS_ARG, "%s is an %s skip with the verdict %s", c->name, c->skip,
                         verdict_name(c->verdict));
    return STATUS_OK;
}

static int64_t integer_at(const struct json *o, const char *key)
{
    const struct json *v = o->type == JSON_OBJECT ? json_get(o, key) : NULL;
    return v && v->type == JSON_NUMBER && v->is_integer ? v->integer : -1;
}

/* As many sums as the picture has tiles, and their root. */
static enum status film_check_sums(const struct film_record *f, struct error *err)
{
    struct arena a = {0};
    const struct json *job = NULL;
    const char *text = NULL;
    char root[65] = "";
    int64_t width = -1, height = -1;
    if (f->job && json_compact(&a, "job", f->job, &text, err) == STATUS_OK &&
        json_parse(&a, "job", text, strlen(text), &job, err) == STATUS_OK) {
        width = integer_at(job, "width");
        height = integer_at(job, "height");
    }
    size_t count = f->sums_size / sizeof(struct sum);
    bool sized =
        f->tile > 0 && width > 0 && width <= 65536 && height > 0 && height <= 65536 &&
        f->sums_size % sizeof(struct sum) == 0 &&
        ((uint64_t)width + f->tile - 1) / f->tile * (((uint64_t)height + f->tile - 1) / f->tile) ==
            count;
    if (sized)
        film_root(text, f->tile, f->sums, count, root);
    arena_free(&a);
    if (!sized)
        return error_msg(err, STATUS_ARG, "the film of %s on %s has %zu sums, not one a tile",
                         f->name, f->device, count);
    if (strcmp(root, f->root) != 0)
        return error_msg(err, STATUS_ARG, "the film of %s on %s has a root that is not its tiles'",
                         f->name, f->device);
    return STATUS_OK;
}

/* A row has a picture's figures or the reason why not. */
static enum status number_format_check(const struct number_format_record *r, struct error *err)
{
    const bool figures = r->us_per_sample > 0 && r->times_double > 0 && r->rmse >= 0 &&
                         r->relmse >= 0 && r->bits > 0,
               none =
                   r->us_per_sample == 0 && r->times_double == 0 && r->rmse == 0 && r->relmse == 0;
    return (r->reason ? none : figures)
               ? STATUS_OK
               : error_msg(err, STATUS_ARG, "the row of %s in %s has %s", r->scene, r->format,
                           r->reason ? "figures and a reason why not"
                                     : "no figures, or wrong ones");
}

enum status record_check(enum record_kind kind, const void *record, struct error *err)
{
    const struct record_layout *l = &record_layouts[kind];
    for (size_t i = 0; i < l->count; i++) {
        enum status st =
            field_check(l, &l->fields[i], (const char *)record + l->fields[i].offset, err);
        if (st)
            return st;
    }
    if (kind == RECORD_IDENTITY)
        TRY(identity_check(record, err));
    if (kind == RECORD_CASE)
        TRY(case_check(record, err));
    if (kind == RECORD_FILM)
        TRY(film_check_sums(record, err));
    if (kind == RECORD_NUMBER_FORMAT)
        TRY(number_format_check(record, err));
    if (kind == RECORD_BENCH) {
        const struct bench_record *b = record;
        if (b->verdict != VERDICT_PASS &&
            (b->samples_per_s != 0 || b->interval[0] != 0 || b->interval[1] != 0))
            return error_msg(err, STATUS_ARG, "a row of %s on %s carries a rate and verdict %s",
                             b->scene, b->device, verdict_name(b->verdict));
        if (b->verdict == VERDICT_PASS && !(b->samples_per_s > 0))
            return error_msg(err, STATUS_ARG, "a row of %s on %s passed and carries no rate",
                             b->scene, b->device);
        if (!(b->interval[0] <= b->samples_per_s && b->samples_per_s <= b->interval[1]))
            return error_msg(err, STATUS_ARG,
                             "a row of %s on %s has the rate %g outside its interval, %g to %g",
                             b->scene, b->device, b->samples_per_s, b->interval[0], b->interval[1]);
    }
    if (kind == RECORD_IMAGE) {
        const struct image_record *i = record;
        static const unsigned char signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
        if (!i->png || i->png_size < 8 || memcmp(i->png, signature, 8) != 0)
            return error_msg(err, STATUS_ARG, "the image of %s on %s is not a PNG", i->scene,
                             i->device);
    }
    return STATUS_OK;
}
