/* SPDX-License-Identifier: Apache-2.0 */
/* image.challenge.HEX.N: strict pictures of scenes that the challenge decides, so that an answer to
 * a challenge cannot have been prepared before it was given. Scene N is one of the library's with
 * another camera, other colours, roughness and emission; size, samples and seed are drawn too. All
 * numbers are words of SHA-256 in counter mode over the case's name (docs/reference/archive.md). */
#include "case.h"
#include "steps/offers.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct draw {
    const char *name;
    uint32_t count;
};

static uint64_t draw_word(struct draw *d)
{
    char text[160];
    struct sum s;
    uint64_t word = 0;
    int n = snprintf(text, sizeof text, "isophote challenge 1\n%.100s\n%u\n", d->name, d->count++);
    sum_of(text, (size_t)n, &s);
    for (int i = 0; i < 8; i++)
        word |= (uint64_t)s.bytes[i] << 8 * i;
    return word;
}

static double draw_between(struct draw *d, double low, double high)
{
    return low + (high - low) * ((double)(draw_word(d) >> 11) * 0x1p-53);
}

enum status conform_challenge(struct arena *a, const char *text, const char **out,
                              struct error *err)
{
    const size_t n = strlen(text);
    char *copy = arena_strdup(a, text);
    bool good = copy && n >= 32 && n <= 64 && n % 2 == 0;
    for (size_t i = 0; good && i < n; i++) {
        good = hex_digit(copy[i]) >= 0;
        copy[i] = (char)tolower((unsigned char)copy[i]);
    }
    if (!good)
        return error_msg(err, STATUS_ARG,
                         "the challenge '%.70s' is not 16 to 32 bytes in hexadecimal digits", text);
    *out = copy;
    return STATUS_OK;
}

uint64_t conform_challenge_seed(const char *challenge)
{
    struct draw d = {challenge, 0};
    return draw_word(&d);
}

/* ---- the scene ------------------------------------------------------------------------------ */

static bool is_key(const struct json *v, const char *key) { return v->key && !strcmp(v->key, key); }

/* Three numbers, all from 0 up; at most `most`. */
static bool is_triple(const struct json *v, double most)
{
    bool good = v->type == JSON_ARRAY && v->count == 3;
    for (const struct json *c = good ? v->first : NULL; c; c = c->next)
        good = good && c->type == JSON_NUMBER && c->number >= 0 && c->number <= most;
    return good;
}

static void triple_write(struct json_writer *w, const double v[3])
{
    json_begin_array(w);
    for (int i = 0; i < 3; i++)
        json_number(w, v[i]);
    json_end_array(w);
}

static void triple_vary(struct json_writer *w, const struct json *v, struct draw *d, bool scaled)
{
    double out[3] = {0};
    const double factor = scaled ? draw_between(d, 0.5, 2) : 0;
    int i = 0;
    for (const struct json *c = v->first; c; c = c->next)
        out[i++] = scaled ? c->number * factor : draw_between(d, 0.05, 0.95);
    triple_write(w, out);
}

static void origin_vary(struct json_writer *w, const struct json *v, struct draw *d)
{
    double out[3] = {0}, largest = 0;
    int i = 0;
    for (const struct json *c = v->first; c && i < 3; c = c->next) {
        out[i++] = c->number;
        largest = fmax(largest, fabs(c->number));
    }
    for (i = 0; i < 3; i++)
        out[i] += largest * draw_between(d, -0.03, 0.03);
    triple_write(w, out);
}

static void vary(struct json_writer *w, const struct json *v, struct draw *d)
{
    const bool of_camera = v->parent && is_key(v->parent, "camera");
    if (v->key && v->parent && v->parent->type == JSON_OBJECT)
        json_key(w, v->key);
    if (of_camera && is_key(v, "origin") && v->type == JSON_ARRAY && v->count == 3) {
        origin_vary(w, v, d);
    } else if (of_camera && is_key(v, "fov") && v->type == JSON_NUMBER) {
        json_number(w, v->number * draw_between(d, 0.85, 1.1));
    } else if (is_key(v, "roughness") && v->type == JSON_NUMBER) {
        json_number(w, draw_between(d, 0.05, 0.95));
    } else if ((is_key(v, "reflectance") || is_key(v, "base_color")) && is_triple(v, 1)) {
        triple_vary(w, v, d, false);
    } else if (is_key(v, "emission") && is_triple(v, 1e6)) {
        triple_vary(w, v, d, true);
    } else if (v->type == JSON_OBJECT || v->type == JSON_ARRAY) {
        v->type == JSON_OBJECT ? json_begin_object(w) : json_begin_array(w);
        for (const struct json *c = v->first; c; c = c->next)
            vary(w, c, d);
        v->type == JSON_OBJECT ? json_end_object(w) : json_end_array(w);
    } else {
        struct json plain = *v;
        plain.key = NULL;
        json_copy(w, &plain);
    }
}

enum status challenge_scene(const char *name, struct scene **scene, struct render_job *job,
                            struct error *err)
{
    struct arena a = {0};
    struct draw d = {name, 0};
    struct json_writer w = {0};
    const char *const *paths;
    const char *path = NULL;
    const struct json *root;
    char *data;
    size_t count, size;
    enum status s = scene_library(&a, false, &paths, &count, err);
    if (s == STATUS_OK && count == 0)
        s = error_msg(err, STATUS_MISSING, "the library has no scenes");
    if (s == STATUS_OK) {
        path = paths[draw_word(&d) % count];
        s = input_file_read(&a, path, 0, &data, &size, err);
    }
    if (s == STATUS_OK)
        s = json_parse(&a, path, data, size, &root, err);
    if (s == STATUS_OK) {
        vary(&w, root, &d);
        s = w.out.failed ? error_msg(err, STATUS_MEMORY, "out of memory for a scene")
                         : scene_load_memory(path, w.out.data, w.out.len, scene, err);
    }
    if (s == STATUS_OK) {
        judge_job(*scene, 48 + (uint32_t)(draw_word(&d) % 40), 1 + (uint32_t)(draw_word(&d) % 3),
                  MODE_STRICT, job);
        job->seed = draw_word(&d);
        job->rr_depth = 2;
    }
    text_free(&w.out);
    arena_free(&a);
    return s;
}

/* ---- the case ------------------------------------------------------------------------------- */

static enum status image_challenge(struct run_context *c, struct error *err)
{
    struct render_job job;
    struct film film;
    struct bit_difference b;
    const struct film *native;
    TRY(challenge_scene(c->name, &c->scene, &job, err));
    TRY(case_ready(c, MODE_STRICT, BVH_AUTO, err));
    TRY(judge_native(c->scene, &job, &native, err));
    TRY(judge_render(c->device, c->scene, &job, &film, err));
    c->compared += (uint64_t)job.width * job.height;
    enum status s = case_film(c, &job, &film, err);
    const bool differ = s == STATUS_OK && judge_bits(&film, native, &b);
    film_free(&film);
    if (s != STATUS_OK)
        return s;
    struct divergence v = {0};
    if (differ || is_native(c->device_id))
        TRY(conform_lockstep(c->device, c->scene, &job, UINT64_MAX, &v, err));
    if (differ)
        return case_fail(c,
                         "%zu of %zu pixels differ from native's strict picture; first (%u,%u); %s",
                         b.pixels, (size_t)job.width * job.height, b.x, b.y,
                         v.divergent ? v.text : "in step with the reference, but other bits");
    if (is_native(c->device_id) && v.divergent)
        return case_fail(c, "%s", v.text);
    return case_pass(c, "a variant of %s, %ux%u, %u samples a pixel: %s", c->scene->name, job.width,
                     job.height, job.sample_count,
                     is_native(c->device_id) ? "in step with the reference"
                                             : "bits equal to native's");
}

const struct case_row *challenge_row(const char *name)
{
    static const struct case_row row = {
        "image.challenge", "strict bits of a scene that the challenge decides", image_challenge};
    return strncmp(name, "image.challenge.", 16) == 0 ? &row : NULL;
}

bool challenge_has(const char *challenge, const char *name)
{
    const size_t n = strlen(challenge);
    return challenge_row(name) && strncmp(name + 16, challenge, n) == 0 && name[16 + n] == '.';
}
