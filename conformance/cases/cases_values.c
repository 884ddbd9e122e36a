/* SPDX-License-Identifier: Apache-2.0 */
/* kernel.values.SUBJECT: functions of values on inputs where they may go either way, in mode strict,
 * by bits: the known answer's, else those of another device or of native's other compiler. Materials
 * are asked at both sides, along and at right angles to their normal and along each other; numbers at 0,
 * just below 1, and where halves and quarters tie; textures at their texels' edges; rays end where they
 * meet something, at the next number before and behind. A few come from behind a material, and a few
 * places of a texture are no numbers or too far. */
#include "answers.h"
#include "cases_image.h"
#include "cases_kernel.h"
#include "steps/offers.h"
#include "tally.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 96, PAIRS = 160, LIGHT_ROWS = 3072, TEXELS = 512, AIRS = 1024, RAYS = 1536 };
enum { TREES = 4, OUTPUTS = 5 + TREES * 3 };

struct values {
    struct run_context *c;
    struct dice dice;
    struct asked {
        enum probe probe;
        enum bvh_kind tree;
        uint32_t *in, *out;
        size_t rows;
    } asked[OUTPUTS];
    size_t count;
};

/* ---- numbers --------------------------------------------------------------------------------- */

static float edge_number(struct dice *d)
{
    static const float edges[] = {0.0f, 0x1p-24f, 0.25f, 0.5f, 0.75f, 0x1.fffffep-1f};
    const double u = dice_u(d) * 12;
    return u < 6 ? edges[(int)u] : (float)dice_u(d);
}

static float signed_zero(struct dice *d) { return dice_u(d) < 0.5 ? 0.0f : -0.0f; }

/* Unit, or as near as floats come; of every fourth one a component or two are zeros of either sign. */
static void edge_direction(struct dice *d, float v[3])
{
    static const float heights[] = {1.0f, 0x1.fffffep-1f, 0.5f, 0.1f, 0x1p-10f, 0x1p-24f, 0x1p-70f};
    double r[3];
    dice_direction(d, r);
    const double pick = dice_u(d) * 4;
    if (pick < 1) {
        const int k = (int)(dice_u(d) * 3);
        r[k] = 0;
        if (dice_u(d) < 0.5)
            r[(k + 1) % 3] = 0;
        if (!(vec_length(r) > 0))
            r[(k + 2) % 3] = dice_u(d) < 0.5 ? 1 : -1;
        vec_normalize(r);
    } else if (pick < 2) {
        const double z = (double)heights[(int)(dice_u(d) * 7)], phi = 6.283185307179586 * dice_u(d),
                     s = sqrt(fmax(0, 1 - z * z));
        r[0] = s * cos(phi);
        r[1] = s * sin(phi);
        r[2] = z;
    }
    for (int k = 0; k < 3; k++) {
        v[k] = (float)r[k];
        if (v[k] == 0)
            v[k] = signed_zero(d);
    }
}

/* Of row i: before the surface; in every sixteenth row behind it or along, where it gives nothing. */
static void edge_wo(struct dice *d, size_t i, float wo[3])
{
    edge_direction(d, wo);
    wo[2] = i % 16 == 15 ? -fabsf(wo[2]) : fmaxf(fabsf(wo[2]), 0x1p-24f);
}

static void put3(uint32_t *row, const float v[3])
{
    for (int k = 0; k < 3; k++)
        row[k] = word_of(v[k]);
}

/* Coordinates of a texture: anywhere, at whole numbers, or on edges and centres of texels. */
static void edge_uv(struct dice *d, const struct scene *s, float uv[2])
{
    const size_t textures = s->texture_count;
    const struct image *im =
        textures ? &s->textures[(size_t)(dice_u(d) * (double)textures)].image : NULL;
    const uint32_t size[2] = {im ? im->width : 8, im ? im->height : 8};
    for (int k = 0; k < 2; k++) {
        const double pick = dice_u(d) * 4, any = 5 * dice_u(d) - 2;
        uv[k] = (float)(pick < 1   ? any
                        : pick < 2 ? floor(any)
                        : pick < 3 ? floor(any * size[k]) / size[k]
                                   : (floor(any * size[k]) + 0.5) / size[k]);
        if (uv[k] == 0)
            uv[k] = signed_zero(d);
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

static uint32_t *rows_new(struct values *v, enum probe probe, enum bvh_kind tree, size_t rows)
{
    const struct probe_shape *shape = &probe_shapes[probe];
    struct asked *a = &v->asked[v->count];
    uint32_t *in = ARENA_ARRAY(v->c->arena, uint32_t, rows * shape->in_words + 1),
             *out = ARENA_ARRAY(v->c->arena, uint32_t, rows * shape->out_words + 1);
    if (!in || !out || v->count == OUTPUTS)
        return NULL;
    *a = (struct asked){probe, tree, in, out, rows};
    v->count++;
    return in;
}

static bool ask_samples(struct values *v)
{
    const struct scene *s = v->c->scene;
    uint32_t *row = rows_new(v, PROBE_BSDF_SAMPLE, BVH_AUTO, s->material_count * SAMPLES);
    for (size_t i = 0; row && i < s->material_count * SAMPLES; i++, row += 10) {
        float uv[2], wo[3];
        row[0] = (uint32_t)(i / SAMPLES);
        edge_uv(&v->dice, s, uv);
        edge_wo(&v->dice, i, wo);
        row[1] = word_of(uv[0]);
        row[2] = word_of(uv[1]);
        row[3] = i % 2;
        put3(row + 4, wo);
        for (int k = 7; k < 10; k++)
            row[k] = word_of(edge_number(&v->dice));
    }
    return row != NULL;
}

/* Another direction, or the same one, mirrored, straight through, opposite. */
static void other_direction(struct values *v, const float wo[3], float wi[3])
{
    static const float ways[][3] = {{1, 1, 1}, {-1, -1, 1}, {-1, -1, -1}, {1, 1, -1}};
    const double pick = dice_u(&v->dice) * 12;
    edge_direction(&v->dice, wi);
    for (int k = 0; pick < 4 && k < 3; k++)
        wi[k] = wo[k] * ways[(int)pick][k];
}

static bool ask_pairs(struct values *v)
{
    const struct scene *s = v->c->scene;
    uint32_t *row = rows_new(v, PROBE_BSDF_EVAL, BVH_AUTO, s->material_count * PAIRS);
    for (size_t i = 0; row && i < s->material_count * PAIRS; i++, row += 9) {
        float uv[2], wo[3], wi[3];
        row[0] = (uint32_t)(i / PAIRS);
        edge_uv(&v->dice, s, uv);
        edge_wo(&v->dice, i, wo);
        other_direction(v, wo, wi);
        row[1] = word_of(uv[0]);
        row[2] = word_of(uv[1]);
        put3(row + 3, wo);
        put3(row + 6, wi);
    }
    return row != NULL;
}

/* Somewhere in the scene, or as high, as far left or as near as a light or a corner of it. */
static void edge_place(struct values *v, float P[3])
{
    const struct scene *s = v->c->scene;
    double p[3];
    for (int k = 0; k < 3; k++) {
        const double low = s->bounds_min[k], high = s->bounds_max[k], u = dice_u(&v->dice);
        p[k] = !(low <= high) ? u : low + (high - low) * (u < 0.1 ? 0 : u > 0.9 ? 1 : u);
    }
    for (int k = 0; s->light_count && k < 3; k++)
        if (dice_u(&v->dice) < 0.25)
            p[k] =
                (double)s->lights[(size_t)(dice_u(&v->dice) * (double)s->light_count)].position[k];
    for (int k = 0; k < 3; k++)
        P[k] = (float)p[k];
}

static bool ask_lights(struct values *v)
{
    uint32_t *row = rows_new(v, PROBE_LIGHT, BVH_AUTO, LIGHT_ROWS);
    for (size_t i = 0; row && i < LIGHT_ROWS; i++, row += 9) {
        float P[3], Ng[3];
        edge_place(v, P);
        edge_direction(&v->dice, Ng);
        put3(row, P);
        put3(row + 3, Ng);
        for (int k = 6; k < 9; k++)
            row[k] = word_of(edge_number(&v->dice));
    }
    return row != NULL;
}

static bool ask_textures(struct values *v)
{
    const struct scene *s = v->c->scene;
    if (!s->texture_count)
        return true;
    uint32_t *row = rows_new(v, PROBE_TEXTURE, BVH_AUTO, s->texture_count * TEXELS);
    for (size_t i = 0; row && i < s->texture_count * TEXELS; i++, row += 3) {
        static const float far[] = {INFINITY, NAN, 0x1p20f, 0x1.000002p20f};
        float uv[2];
        edge_uv(&v->dice, s, uv);
        if (i % TEXELS < 16)
            uv[i % 2] = far[i / 2 % 4] * (i % TEXELS < 8 ? 1.0f : -1.0f);
        row[0] = (uint32_t)(i / TEXELS);
        row[1] = word_of(uv[0]);
        row[2] = word_of(uv[1]);
    }
    return row != NULL;
}

static bool ask_environment(struct values *v)
{
    if (v->c->scene->environment.type == ENVIRONMENT_NONE)
        return true;
    uint32_t *row = rows_new(v, PROBE_ENVIRONMENT, BVH_AUTO, AIRS);
    for (size_t i = 0; row && i < AIRS; i++, row += 3) {
        float d[3];
        edge_direction(&v->dice, d);
        put3(row, d);
    }
    return row != NULL;
}

/* ---- rays ------------------------------------------------------------------------------------ */

static void ray_row(struct values *v, uint32_t *row)
{
    float o[3], d[3];
    edge_place(v, o);
    edge_direction(&v->dice, d);
    put3(row, o);
    put3(row + 3, d);
    row[6] = word_of(INFINITY);
    row[7] = 0;
}

/* Rays of a tree; then those that met something as far as that, a bit further, a bit less. */
static bool ask_rays(struct values *v, enum bvh_kind tree, uint32_t **in)
{
    uint32_t *row = *in = rows_new(v, PROBE_HIT, tree, RAYS);
    for (size_t i = 0; row && i < RAYS; i++)
        ray_row(v, row + 8 * i);
    return row != NULL;
}

static bool ask_ends(struct values *v, const struct asked *of)
{
    uint32_t *row = rows_new(v, PROBE_HIT, of->tree, of->rows);
    for (size_t i = 0; row && i < of->rows; i++) {
        const float t = float_of(of->out[5 * i + 1]);
        memcpy(row + 8 * i, of->in + 8 * i, 8 * sizeof *row);
        row[8 * i + 6] = word_of(of->out[5 * i] == UINT32_MAX ? INFINITY
                                 : i % 3 == 0                 ? t
                                 : i % 3 == 1                 ? nextafterf(t, INFINITY)
                                                              : nextafterf(t, 0));
    }
    return row != NULL;
}

/* ---- asking ---------------------------------------------------------------------------------- */

/* No standard says which bits a NaN has, nor what a field holds that the first one says is none. */
static void settle(const struct asked *a)
{
    const uint32_t words = probe_shapes[a->probe].out_words;
    for (size_t i = 0; i < a->rows; i++) {
        uint32_t *out = a->out + i * words;
        const bool light = a->probe == PROBE_LIGHT, sample = a->probe == PROBE_BSDF_SAMPLE,
                   hit = a->probe == PROBE_HIT;
        if (((light || sample) && !out[0]) || (hit && out[0] == UINT32_MAX))
            memset(out + 1, 0, (words - 1 - hit) * sizeof *out);
        for (uint32_t k = 0; k < words; k++)
            if ((out[k] & 0x7fffffffu) > 0x7f800000u && !(hit && k == 0))
                out[k] = 0x7fc00000u;
    }
}

/* Trees come one after another, so that a device loads each once. */
static enum status ask(struct device *d, const struct scene *s, const struct asked *a,
                       enum bvh_kind *loaded, struct error *err)
{
    if (*loaded != a->tree && a->tree != BVH_AUTO) {
        TRY(device_load(d, s, a->tree, NULL, err));
        *loaded = a->tree;
    }
    memset(a->out, 0xa5, a->rows * probe_shapes[a->probe].out_words * sizeof *a->out);
    TRY(device_probe(d, a->probe, a->in, a->rows, a->out, err));
    settle(a);
    return STATUS_OK;
}

static enum status ask_last(struct values *v, enum bvh_kind *loaded, struct error *err)
{
    const struct asked *a = &v->asked[v->count - 1];
    const struct probe_shape *shape = &probe_shapes[a->probe];
    TRY(ask(v->c->device, v->c->scene, a, loaded, err));
    answer_note(v->c, shape->name, strlen(shape->name), NULL, 0);
    answer_note(v->c, a->in, a->rows * shape->in_words * sizeof *a->in, a->out,
                a->rows * shape->out_words * sizeof *a->out);
    return STATUS_OK;
}

static enum status no_memory(struct error *err)
{
    return error_msg(err, STATUS_MEMORY, "out of memory for values");
}

static enum status ask_all(struct values *v, struct error *err)
{
    static bool (*const kinds[])(struct values *) = {ask_samples, ask_pairs, ask_lights,
                                                     ask_textures, ask_environment};
    static const enum bvh_kind trees[TREES] = {BVH_BINARY, BVH_WIDE8, BVH_COMPRESSED8, BVH_LINEAR};
    enum bvh_kind loaded = BVH_AUTO;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const size_t before = v->count;
        if (!kinds[k](v))
            return no_memory(err);
        if (v->count > before)
            TRY(ask_last(v, &loaded, err));
    }
    const bool met = scene_effective_count(v->c->scene) > 0;
    for (size_t k = 0; met && k < TREES; k++) {
        uint32_t *in;
        v->dice = (struct dice){.key = 0x7a1}; /* the same rays for each */
        if (!ask_rays(v, trees[k], &in))
            return no_memory(err);
        TRY(ask_last(v, &loaded, err));
        if (!ask_ends(v, &v->asked[v->count - 1]))
            return no_memory(err);
        TRY(ask_last(v, &loaded, err));
    }
    return STATUS_OK;
}

/* ---- judging --------------------------------------------------------------------------------- */

/* Against native; native against what its other compiler makes; a mutant against the text that it is
 * made of. *other NULL: there is none here. */
static enum status open_other(struct run_context *c, struct device **other, struct error *err)
{
    const bool native = is_native(c->device_id);
    const struct build_settings settings = {.mode = MODE_STRICT,
                                            .code = native ? CODE_SOURCE : CODE_AUTO};
    struct error why = {0};
    *other = NULL;
    TRY(device_open(case_of_mutant(c) ? "mutant:none" : "native", other, err));
    /* in this order, as case_ready_to_probe has it: of the scene only what probes ask is compiled */
    enum status s = device_build(*other, &settings, NULL, &why);
    if (s == STATUS_OK)
        s = device_load(*other, c->scene, BVH_AUTO, NULL, &why);
    if (s == STATUS_OK)
        return s;
    device_close(*other);
    *other = NULL;
    if (native && (s == STATUS_UNSUPPORTED || s == STATUS_MISSING))
        return STATUS_OK;
    if (err)
        *err = why;
    return s;
}

static const char *stage_of(enum probe p)
{
    switch (p) {
    case PROBE_HIT:
        return "hit";
    case PROBE_LIGHT:
        return "light";
    case PROBE_TEXTURE:
        return "texture";
    case PROBE_ENVIRONMENT:
        return "environment";
    default:
        return "material";
    }
}

static enum status fail_at(struct run_context *c, const struct asked *mine, const uint32_t *want,
                           size_t word)
{
    const struct probe_shape *shape = &probe_shapes[mine->probe];
    const size_t row = word / shape->out_words;
    struct json_writer w = {0};
    json_begin_object(&w);
    json_key(&w, "first");
    json_begin_object(&w);
    json_key_string(&w, "stage", stage_of(mine->probe));
    json_end_object(&w);
    json_key(&w, "in");
    json_begin_array(&w);
    for (uint32_t k = 0; k < shape->in_words; k++)
        json_integer(&w, mine->in[row * shape->in_words + k]);
    json_end_array(&w);
    json_end_object(&w);
    case_detail(c, &w);
    return case_fail(c, "probe %s, tree %s, row %zu: word %zu is 0x%08x, elsewhere 0x%08x",
                     shape->name, bvh_kind_name(mine->tree), row, word % shape->out_words,
                     mine->out[word], want[word]);
}

/* All trees meet the same, whoever is asked. */
static bool trees_differ(struct values *v, struct error *err, enum status *st)
{
    const struct asked *first = NULL;
    size_t rays = 0;
    for (size_t i = 0; i < v->count; i++) {
        const struct asked *a = &v->asked[i];
        if (a->probe != PROBE_HIT)
            continue;
        if (!first)
            first = a;
        const struct asked *like = first + rays++ % 2;
        for (size_t k = 0; k < a->rows * 5; k++)
            if (memcmp(a->in, like->in, a->rows * 8 * sizeof *a->in) != 0 ||
                a->out[k] != like->out[k]) {
                *st = fail_at(v->c, a, like->out, k);
                return true;
            }
    }
    (void)err;
    return false;
}

static enum status compare(struct values *v, struct device *other, bool *differs, struct error *err)
{
    enum bvh_kind loaded = BVH_AUTO;
    *differs = false;
    for (size_t i = 0; i < v->count && !*differs; i++) {
        const size_t words = v->asked[i].rows * probe_shapes[v->asked[i].probe].out_words;
        struct asked right = v->asked[i];
        right.out = ARENA_ARRAY(v->c->arena, uint32_t, words + 1);
        if (!right.out)
            return no_memory(err);
        TRY(ask(other, v->c->scene, &right, &loaded, err));
        for (size_t k = 0; k < words && !*differs; k++)
            if (right.out[k] != v->asked[i].out[k]) {
                *differs = true;
                TRY(fail_at(v->c, &v->asked[i], right.out, k));
            }
        v->c->compared += words;
    }
    return STATUS_OK;
}

static enum status judge(struct values *v, struct error *err)
{
    struct device *other = NULL;
    bool differs = false;
    enum status s = STATUS_OK;
    if (trees_differ(v, err, &s))
        return s;
    TRY(open_other(v->c, &other, err));
    if (other)
        s = compare(v, other, &differs, err);
    device_close(other);
    if (s != STATUS_OK || differs)
        return s;
    v->c->compared++;
    return case_pass(v->c, "%s",
                     other ? "the bits that another compiler's code gives"
                           : "every tree's bits are alike; no other compiler is here");
}

/* "materials", or "dense-3". */
static enum status values_scene(struct run_context *c, const char *word, struct error *err)
{
    static const char dense[] = "dense-";
    if (strncmp(word, dense, sizeof dense - 1) != 0)
        return materials_scene(c, err);
    return dense_part_load(c, (uint32_t)strtoul(word + sizeof dense - 1, NULL, 10) - 1, err);
}

enum status kernel_values(struct run_context *c, struct error *err)
{
    struct values v = {.c = c, .dice = {.key = 0x7a0}};
    uint64_t words = 0;
    TRY(values_scene(c, strrchr(c->name, '.') + 1, err));
    TRY(case_ready_to_probe(c, MODE_STRICT, BVH_BINARY, err));
    TRY(ask_all(&v, err));
    for (size_t i = 0; i < v.count; i++)
        words += v.asked[i].rows * probe_shapes[v.asked[i].probe].out_words;
    return answer_given(c, words) ? STATUS_OK : judge(&v, err);
}
