/* SPDX-License-Identifier: Apache-2.0 */
/* isophote replay: one sample of one pixel, vertex by vertex, on the reference and on a device. */
#include "cli.h"
#include "conformance.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the fields of a vertex ----------------------------------------------------------------- */

enum field_type {
    FIELD_EVENT,
    FIELD_ID,
    FIELD_FLAG,
    FIELD_MEDIA,
    FIELD_SCALAR,
    FIELD_PAIR,
    FIELD_VECTOR
};
static const struct {
    const char *name;
    size_t offset;
    enum field_type type;
} fields[] = {
#define FIELD(name, type)                                                                          \
    {                                                                                              \
#name, offsetof(struct path_vertex, name), type                                            \
    }
    FIELD(event, FIELD_EVENT),      FIELD(primitive, FIELD_ID),
    FIELD(material, FIELD_ID),      FIELD(origin, FIELD_VECTOR),
    FIELD(direction, FIELD_VECTOR), FIELD(t, FIELD_SCALAR),
    FIELD(P, FIELD_VECTOR),         FIELD(Ng, FIELD_VECTOR),
    FIELD(Ns, FIELD_VECTOR),        FIELD(uv, FIELD_PAIR),
    FIELD(beta, FIELD_VECTOR),      FIELD(emitted, FIELD_VECTOR),
    FIELD(light, FIELD_ID),         FIELD(visible, FIELD_FLAG),
    FIELD(light_wi, FIELD_VECTOR),  FIELD(light_pdf_w, FIELD_SCALAR),
    FIELD(direct, FIELD_VECTOR),    FIELD(wi, FIELD_VECTOR),
    FIELD(pdf_w, FIELD_SCALAR),     FIELD(weight, FIELD_VECTOR),
    FIELD(media, FIELD_MEDIA),
#undef FIELD
};
enum { FIELD_COUNT = sizeof fields / sizeof *fields };

static const char *const event_names[] = {"miss", "absorb", "scatter", "roulette"};

static uint32_t word_at(const struct path_vertex *v, size_t field)
{
    uint32_t w;
    memcpy(&w, (const char *)v + fields[field].offset, sizeof w);
    return w;
}

static const double *numbers_at(const struct path_vertex *v, size_t field)
{
    return (const double *)(const void *)((const char *)v + fields[field].offset);
}

static size_t number_count(enum field_type t)
{
    return t == FIELD_SCALAR ? 1 : t == FIELD_PAIR ? 2 : t == FIELD_VECTOR ? 3 : 0;
}

static void field_text(const struct path_vertex *v, size_t field, char *buf, size_t size)
{
    size_t n = number_count(fields[field].type), used = 0;
    *buf = 0;
    if (n == 0) {
        uint32_t w = word_at(v, field);
        if (fields[field].type == FIELD_EVENT)
            snprintf(buf, size, "%s", w < 4 ? event_names[w] : "?");
        else if (fields[field].type == FIELD_MEDIA)
            for (int at = 24; at >= 0; at -= 8)
                used += (w >> at) == 0 ? 0
                                       : (size_t)snprintf(buf + used, size - used, "%s%u",
                                                          used ? " " : "", (w >> at) & 0xFF);
        else if (w == UINT32_MAX)
            snprintf(buf, size, "none");
        else
            snprintf(buf, size, "%u", w);
        return;
    }
    for (size_t i = 0; i < n && used < size; i++)
        used += (size_t)snprintf(buf + used, size - used, "%s%.7g", i ? " " : "",
                                 numbers_at(v, field)[i]);
}

/* Largest difference, relative to the larger of the two vectors; 1 for ids that differ. */
static double field_difference(const struct path_vertex *a, const struct path_vertex *b,
                               size_t field)
{
    size_t n = number_count(fields[field].type);
    double apart = 0, size = 0;
    if (n == 0)
        return word_at(a, field) != word_at(b, field);
    for (size_t i = 0; i < n; i++) {
        double x = numbers_at(a, field)[i], y = numbers_at(b, field)[i];
        if (isnan(x) != isnan(y))
            return INFINITY;
        apart = fmax(apart, fabs(x - y));
        size = fmax(size, fmax(fabs(x), fabs(y)));
    }
    return apart == 0 ? 0 : apart / size;
}

/* ---- printing ------------------------------------------------------------------------ */

/* A step that rounding does not explain is marked <<<; "steps.field" may end in a component. */
static bool is_culprit(const struct replay *r, size_t vertex, size_t field)
{
    const char *culprit = r->field ? r->field : "", *name = fields[field].name;
    size_t len = strcspn(culprit, ".");
    if (!r->divergent || r->vertex != vertex + 1)
        return false;
    if (strlen(name) == len && strncmp(name, culprit, len) == 0)
        return true;
    return strcmp(name, "uv") == 0 && len == 1 && (culprit[0] == 'u' || culprit[0] == 'v');
}

/* The k-th vertex of both paths, which may have ended. */
static void print_vertex(const struct replay *r, bool on_device, size_t k)
{
    static const struct path_vertex nothing;
    const bool left = k < r->reference_count, right = on_device && k < r->device_count;
    const struct path_vertex *a = left ? &r->reference[k] : &nothing;
    const struct path_vertex *b = right ? &r->device[k] : &nothing;
    printf("vertex %zu  %-38s %s\n", k + 1, left ? "reference" : "reference: path has ended",
           !on_device ? ""
           : right    ? "device"
                      : "device: path has ended");
    for (size_t f = 0; f < FIELD_COUNT; f++) {
        char x[96] = "", y[96] = "", mark[64] = "";
        if (left)
            field_text(a, f, x, sizeof x);
        if (right)
            field_text(b, f, y, sizeof y);
        double apart = field_difference(a, b, f);
        if (left && right && apart > 0x1p-24)
            snprintf(mark, sizeof mark, "  %.1e", apart);
        printf("  %-11s %-38s %-38s%s%s\n", fields[f].name, x, y, mark,
               is_culprit(r, k, f) ? "  <<< first divergent" : "");
    }
}

static void print_verdict(const struct replay *r)
{
    if (!r->divergent) {
        printf("every step lies within its rounding bound (the worst at %.2f of it; %u flipped "
               "decisions)\n",
               r->worst, r->flips);
        return;
    }
    printf("divergent: vertex %u, %s.%s is %.9g where the reference, from the device's own "
           "state, has %.9g",
           r->vertex, r->stage, r->field, r->device_value, r->reference_value);
    if (isfinite(r->margin))
        printf(": %.3g times the rounding bound\n", r->margin);
    else
        printf(": rounding cannot do that\n");
}

static void print_text(const struct replay *r, bool on_device)
{
    size_t n =
        on_device && r->device_count > r->reference_count ? r->device_count : r->reference_count;
    for (size_t k = 0; k < n; k++)
        print_vertex(r, on_device, k);
    if (*r->shaders)
        printf("shaders on the reference\n%s", r->shaders);
    printf("L            %.9g %.9g %.9g\n", r->reference_L[0], r->reference_L[1],
           r->reference_L[2]);
    if (!on_device)
        return;
    printf("L on device  %.9g %.9g %.9g\n", r->device_L[0], r->device_L[1], r->device_L[2]);
    print_verdict(r);
}

static void json_numbers(struct json_writer *w, const double *v, size_t n)
{
    json_begin_array(w);
    for (size_t i = 0; i < n; i++)
        json_number(w, v[i]);
    json_end_array(w);
}

static void json_path_vertices(struct json_writer *w, const char *key, const struct path_vertex *v,
                               size_t count)
{
    json_key(w, key);
    json_begin_array(w);
    for (size_t k = 0; k < count; k++) {
        json_begin_object(w);
        json_key_integer(w, "k", v[k].k);
        for (size_t f = 0; f < FIELD_COUNT; f++) {
            size_t n = number_count(fields[f].type);
            uint32_t word = n ? 0 : word_at(&v[k], f);
            json_key(w, fields[f].name);
            if (n == 1)
                json_number(w, *numbers_at(&v[k], f));
            else if (n)
                json_numbers(w, numbers_at(&v[k], f), n);
            else if (fields[f].type == FIELD_EVENT)
                json_string(w, word < 4 ? event_names[word] : "?");
            else if (fields[f].type == FIELD_FLAG)
                json_bool(w, word != 0);
            else if (word == UINT32_MAX)
                json_null(w);
            else
                json_integer(w, word);
        }
        json_end_object(w);
    }
    json_end_array(w);
}

static bool print_json(const struct replay *r, bool on_device)
{
    struct json_writer w = {.pretty = true};
    json_begin_object(&w);
    json_key(&w, "reference_L");
    json_numbers(&w, r->reference_L, 3);
    json_path_vertices(&w, "reference", r->reference, r->reference_count);
    json_key_string(&w, "reference_shaders", r->shaders);
    if (on_device) {
        json_key(&w, "device_L");
        json_numbers(&w, r->device_L, 3);
        json_path_vertices(&w, "device", r->device, r->device_count);
        json_key_bool(&w, "divergent", r->divergent);
        if (r->divergent) {
            json_key_integer(&w, "vertex", r->vertex);
            json_key_string(&w, "stage", r->stage);
            json_key_string(&w, "field", r->field);
            json_key_number(&w, "reference_value", r->reference_value);
            json_key_number(&w, "device_value", r->device_value);
            json_key_number(&w, "margin", r->margin);
        } else {
            json_key_integer(&w, "flips", r->flips);
            json_key_number(&w, "worst_error_over_bound", r->worst);
        }
    }
    json_end_object(&w);
    return json_print(&w);
}

/* ---- the command --------------------------------------------------------------------- */

static enum status open_device(const char *id, const struct scene *s, const struct render_job *job,
                               struct device **d, struct error *err)
{
    enum status st = device_open(id, d, err);
    if (st == STATUS_OK) {
        device_model(*d, job->set.build.model);
        st = device_load(*d, s, job->set.load.bvh, NULL, err);
    }
    return st == STATUS_OK ? device_build(*d, &job->set.build, NULL, err) : st;
}

struct replay_command {
    struct render_options common;
    const char *light_choice, *mis;
    uint32_t sample, pixel[2];
    bool pixel_given;
};

static int run(void *settings, const struct arguments *args)
{
    const struct replay_command *c = settings;
    struct arena a = {0};
    struct error err = {0};
    struct scene *scene = NULL;
    struct device *device = NULL;
    struct render_job job;
    struct replay r;
    const char *path = NULL, *id = c->common.devices.count ? c->common.devices.items[0] : "native";
    bool on_device = strcmp(id, "reference") != 0, device_step = false;
    enum status s = STATUS_OK;
    if (!c->pixel_given)
        s = error_msg(&err, STATUS_ARG, "replay needs --pixel X,Y, as in --pixel 12,34");
    else if (c->common.devices.count > 1)
        s = error_msg(&err, STATUS_ARG, "replay takes one --device");
    if (s == STATUS_OK)
        s = scene_resolve(&a, args->words[0], &path, &err);
    if (s == STATUS_OK)
        s = scene_load(path, &scene, &err);
    if (s == STATUS_OK)
        s = scene_set_sampling(scene, c->light_choice, c->mis, &err);
    if (s == STATUS_OK) {
        render_job_fill(&c->common, scene, &job);
        if (c->pixel[0] >= job.width || c->pixel[1] >= job.height)
            s = error_msg(
                &err, STATUS_ARG,
                "--pixel %u,%u: the picture has %ux%u pixels; --width and --height change that",
                c->pixel[0], c->pixel[1], job.width, job.height);
    }
    if (s == STATUS_OK && on_device) {
        device_step = true;
        s = open_device(id, scene, &job, &device, &err);
    }
    if (s == STATUS_OK)
        s = conform_replay(device, scene, &job, c->pixel[0], c->pixel[1], c->sample, &a, &r, &err);
    int status = EXIT_PASS;
    if (s == STATUS_OK) {
        if (!c->common.json)
            print_text(&r, on_device);
        else if (!print_json(&r, on_device))
            status = EXIT_BAD_INPUT;
        if (status == EXIT_PASS && on_device && r.divergent)
            status = EXIT_FINDING;
    } else {
        status = report_error(&err, device_step);
    }
    device_close(device);
    scene_free(scene);
    arena_free(&a);
    return status;
}

#define AT(member) offsetof(struct replay_command, member)
static const struct option options[] = {
    {"--pixel", OPTION_PIXEL, AT(pixel), "X,Y",
     .help = "the pixel, from 0,0 at the top left (needed)", .given = AT(pixel_given)},
    {"--sample", OPTION_UINT, AT(sample), "S", .help = "the sample's index", .preset = "0"},
    {"--light-choice", OPTION_WORD, AT(light_choice), "WORD", .help = "how a light is chosen",
     .otherwise = "the scene's", .words = "power tree"},
    {"--mis", OPTION_WORD, AT(mis), "WORD", .help = "heuristic of multiple importance sampling",
     .otherwise = "the scene's", .words = "power balance"},
};
const struct command command_replay = {
    .name = "replay",
    .group = "pictures and verdicts",
    .line = "show one sample vertex by vertex, on the reference and on a device",
    .usage = "isophote replay SCENE --device ID --pixel X,Y [--sample S] [options]",
    .summary = "Shows one sample of one pixel vertex by vertex, on the reference and on a device, "
               "with how far they are apart. Marks the first field that rounding does not explain. "
               "Width, height, depth and seed belong to the sample: take them from the FAIL's "
               "command.",
    .examples = "isophote replay cornell --device opencl:0 --pixel 12,34 --sample 3 --mode device "
                "--width 64 --height 64",
    .argument = "SCENE",
    .reads = true,
    COMMAND_OPTIONS(options),
    .common = true,
    .settings_size = sizeof(struct replay_command),
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
