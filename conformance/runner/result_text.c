/* SPDX-License-Identifier: Apache-2.0 */
#include "result_text.h"

#include <stdlib.h>
#include <string.h>

static const char *const image_kind_names[] = {"picture", "reference", "difference",
                                               "significance"};

void result_films_write(struct json_writer *w, const struct conform_result *r)
{
    if (!r->film_count)
        return;
    json_key(w, "films");
    json_begin_array(w);
    for (size_t i = 0; i < r->film_count; i++) {
        const struct film_record *f = &r->films[i];
        struct text sums = {0};
        base64_write(&sums, f->sums, f->sums_size);
        json_begin_object(w);
        json_key_string(w, "job", f->job);
        json_key_integer(w, "tile", f->tile);
        json_key_string(w, "root", f->root);
        json_key_string(w, "sums", sums.failed ? NULL : sums.data);
        json_end_object(w);
        text_free(&sums);
    }
    json_end_array(w);
}

void conform_result_write(struct json_writer *w, const struct conform_result *r, bool with_images)
{
    json_key_string(w, "verdict", verdict_name(r->verdict));
    json_key_string(w, "reason", r->reason);
    json_key_string(w, "replay", r->replay);
    json_key_string(w, "detail", r->detail);
    json_key_number(w, "compile_s", r->compile_s);
    json_key_number(w, "run_s", r->run_s);
    if (r->rerun != RERUN_NONE) {
        json_key_string(w, "rerun", rerun_name(r->rerun));
        json_key(w, "runs");
        json_begin_array(w);
        for (size_t i = 0; i < r->run_count; i++) {
            json_begin_object(w);
            conform_result_write(w, &r->runs[i], false);
            json_end_object(w);
        }
        json_end_array(w);
    }
    if (r->shared)
        json_key_string(w, "shared", r->shared);
    if (r->sick)
        json_key_bool(w, "sick", true);
    if (!with_images || !r->image_count)
        return;
    json_key(w, "images");
    json_begin_array(w);
    for (size_t i = 0; i < r->image_count; i++) {
        const struct image_record *m = &r->images[i];
        struct text png = {0};
        base64_write(&png, m->png, m->png_size);
        json_begin_object(w);
        json_key_string(w, "scene", m->scene);
        json_key_string(w, "device", m->device);
        json_key_string(w, "mode", m->mode);
        json_key_string(w, "kind", image_kind_names[m->kind]);
        json_key_integer(w, "width", m->width);
        json_key_integer(w, "height", m->height);
        json_key_string(w, "png", png.failed ? NULL : png.data);
        json_key_string(w, "caption", m->caption);
        json_end_object(w);
        text_free(&png);
    }
    json_end_array(w);
}

static enum status get_string(const char *file, const struct json *o, const char *key,
                              const char **out, struct error *err)
{
    const struct json *v = json_get(o, key);
    *out = NULL;
    if (!v || v->type == JSON_NULL)
        return STATUS_OK;
    if (v->type != JSON_STRING)
        return json_error(err, file, v, STATUS_TYPE, "expected a string, found %s",
                          json_type_name(v->type));
    *out = v->string;
    return STATUS_OK;
}

static enum status get_number(const char *file, const struct json *o, const char *key, double *out,
                              struct error *err)
{
    const struct json *v = json_get(o, key);
    if (!v || v->type != JSON_NUMBER)
        return json_error(err, file, v ? v : o, STATUS_TYPE, "expected a number in \"%s\"", key);
    *out = v->number;
    return STATUS_OK;
}

static enum status image_from_json(struct arena *a, const char *file, const struct json *v,
                                   struct image_record *out, struct error *err)
{
    const char *kind = NULL, *png = NULL;
    double width = 0, height = 0;
    enum status s = STATUS_OK;
    if (v->type != JSON_OBJECT)
        return json_error(err, file, v, STATUS_TYPE, "expected an object");
    if ((s = get_string(file, v, "scene", &out->scene, err)) != STATUS_OK ||
        (s = get_string(file, v, "device", &out->device, err)) != STATUS_OK ||
        (s = get_string(file, v, "mode", &out->mode, err)) != STATUS_OK ||
        (s = get_string(file, v, "caption", &out->caption, err)) != STATUS_OK ||
        (s = get_string(file, v, "kind", &kind, err)) != STATUS_OK ||
        (s = get_string(file, v, "png", &png, err)) != STATUS_OK ||
        (s = get_number(file, v, "width", &width, err)) != STATUS_OK ||
        (s = get_number(file, v, "height", &height, err)) != STATUS_OK)
        return s;
    size_t k = 0, kinds = sizeof image_kind_names / sizeof *image_kind_names;
    while (kind && k < kinds && strcmp(kind, image_kind_names[k]) != 0)
        k++;
    out->png = png ? base64_read(a, png, false, &out->png_size) : NULL;
    if (!kind || k == kinds || !out->png || !(width >= 1 && width <= 65536) ||
        !(height >= 1 && height <= 65536))
        return json_error(err, file, v, STATUS_TYPE, "expected a picture in PNG, base64");
    out->kind = (enum image_kind)k;
    out->width = (uint32_t)width;
    out->height = (uint32_t)height;
    return STATUS_OK;
}

/* Runs have no runs of their own. */
static enum status get_runs(struct arena *a, const char *file, const struct json *o,
                            struct conform_result *out, struct error *err)
{
    const struct json *runs = json_get(o, "runs");
    const char *rerun = NULL;
    TRY(get_string(file, o, "rerun", &rerun, err));
    if (!runs && !rerun)
        return STATUS_OK;
    if (!runs || runs->type != JSON_ARRAY || runs->count < 2 || !rerun ||
        !rerun_parse(rerun, &out->rerun))
        return json_error(err, file, runs ? runs : o, STATUS_TYPE,
                          "expected a \"rerun\" that is agreed or differed, and two \"runs\" or "
                          "more");
    struct conform_result *list = ARENA_ARRAY(a, struct conform_result, runs->count);
    if (!list)
        return error_msg(err, STATUS_MEMORY, "out of memory for %zu runs", runs->count);
    for (const struct json *m = runs->first; m; m = m->next) {
        if (json_get(m, "runs"))
            return json_error(err, file, m, STATUS_TYPE, "a run has no runs");
        TRY(result_read(a, file, m, &list[out->run_count++], err));
    }
    out->runs = list;
    return STATUS_OK;
}

static enum status films_from_json(struct arena *a, const char *file, const struct json *list,
                                   struct conform_result *out, struct error *err)
{
    if (list->type != JSON_ARRAY)
        return json_error(err, file, list, STATUS_TYPE, "expected an array of films");
    out->films = ARENA_ARRAY(a, struct film_record, list->count);
    if (!out->films)
        return error_msg(err, STATUS_MEMORY, "out of memory for %zu films", list->count);
    for (const struct json *v = list->first; v; v = v->next) {
        struct film_record *f = &out->films[out->film_count++];
        const char *sums = NULL;
        double tile = 0;
        if (v->type != JSON_OBJECT)
            return json_error(err, file, v, STATUS_TYPE, "expected an object");
        TRY(get_string(file, v, "job", &f->job, err));
        TRY(get_string(file, v, "root", &f->root, err));
        TRY(get_string(file, v, "sums", &sums, err));
        TRY(get_number(file, v, "tile", &tile, err));
        f->sums = sums ? base64_read(a, sums, false, &f->sums_size) : NULL;
        if (!f->job || !f->root || !f->sums || !(tile >= 1 && tile <= 65536))
            return json_error(err, file, v, STATUS_TYPE, "expected the sums of a film's tiles");
        f->tile = (uint32_t)tile;
    }
    return STATUS_OK;
}

enum status result_read(struct arena *a, const char *file, const struct json *object,
                        struct conform_result *out, struct error *err)
{
    struct conform_result r = {0};
    const char *verdict = NULL;
    enum status s;
    if (object->type != JSON_OBJECT)
        return json_error(err, file, object, STATUS_TYPE, "expected an object, found %s",
                          json_type_name(object->type));
    if ((s = get_string(file, object, "verdict", &verdict, err)) != STATUS_OK ||
        (s = get_string(file, object, "reason", &r.reason, err)) != STATUS_OK ||
        (s = get_string(file, object, "replay", &r.replay, err)) != STATUS_OK ||
        (s = get_string(file, object, "detail", &r.detail, err)) != STATUS_OK ||
        (s = get_number(file, object, "compile_s", &r.compile_s, err)) != STATUS_OK ||
        (s = get_number(file, object, "run_s", &r.run_s, err)) != STATUS_OK)
        return s;
    int v = 0;
    while (verdict && v < VERDICT_COUNT && strcmp(verdict, verdict_name((enum verdict)v)) != 0)
        v++;
    if (!verdict || v == VERDICT_COUNT)
        return json_error(err, file, object, STATUS_TYPE,
                          "expected a verdict PASS, FAIL, SKIP or ERROR");
    r.verdict = (enum verdict)v;
    const struct json *sick = json_get(object, "sick");
    r.sick = sick && sick->type == JSON_BOOL && sick->boolean;
    if ((s = get_string(file, object, "shared", &r.shared, err)) != STATUS_OK ||
        (s = get_runs(a, file, object, &r, err)) != STATUS_OK)
        return s;
    const struct json *films = json_get(object, "films");
    if (films)
        TRY(films_from_json(a, file, films, &r, err));
    const struct json *images = json_get(object, "images");
    if (images) {
        if (images->type != JSON_ARRAY)
            return json_error(err, file, images, STATUS_TYPE, "expected an array of pictures");
        r.images = ARENA_ARRAY(a, struct image_record, images->count);
        if (!r.images)
            return error_msg(err, STATUS_MEMORY, "out of memory for %zu pictures", images->count);
        for (const struct json *m = images->first; m; m = m->next)
            if ((s = image_from_json(a, file, m, &r.images[r.image_count++], err)) != STATUS_OK)
                return s;
    }
    *out = r;
    return STATUS_OK;
}
