/* SPDX-License-Identifier: Apache-2.0 */
#include "blame.h"
#include "judge.h"
#include "vector.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_VERTICES = 256 };

/* ---- what computes a field ------------------------------------------------------------------ */

/* The first row that fits; field "": any. */
static const struct {
    const char *stage, *field, *function;
} functions[] = {
    {"rng", "", "math/random.h k_philox"},
    {"camera", "", "scene/camera.h k_camera_ray"},
    {"traversal", "media", "path/media.h k_media_fly"},
    {"traversal", "", "trace/traverse.h k_closest"},
    {"surface", "offset", "surface/surface.h k_offset"},
    {"surface", "Ns", "path/stages.h k_stage_face"},
    {"surface", "", "surface/surface.h k_surface_make"},
    {"light", "emitted", "path/stages.h k_stage_emission"},
    {"light", "environment", "path/stages.h k_stage_environment"},
    {"light", "direct", "path/stages.h k_stage_light"},
    {"light", "", "light/light.h k_light_sample_make"},
    {"shadow", "visible", "trace/traverse.h k_occluded"},
    {"shadow", "", "path/stages.h k_stage_shadow"},
    {"shader", "direct", "path/scatter.h k_scatter_eval"},
    {"shader", "lit", "path/scatter.h k_scatter_lit"},
    {"shader", "emitted", "path/stages.h k_shade_interaction"},
    {"shader", "", "path/scatter.h k_scatter_sample"},
    {"roulette", "", "path/stages.h k_roulette"},
    {"path", "beta", "path/media.h k_media_fly"},
    {"path", "", "path/stages.h k_stage_scatter"},
    {"sum", "", "path/path.h k_path_result"},
    {"film", "", "path/film.h k_sums_add"},
    {"passes", "", "path/passes.h k_pass_sample"},
};

const char *blame_function(const char *stage, const char *field)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strcmp(functions[i].stage, stage) == 0 &&
            strncmp(functions[i].field, field, strlen(functions[i].field)) == 0)
            return functions[i].function;
    return "path/path.h k_path";
}

void divergence_blame(struct divergence *d, const char *stage)
{
    static const char says[] = "; stage to blame: ";
    char *said = strstr(d->text, says);
    const size_t len = said ? (size_t)(said - d->text) : strlen(d->text);
    if (strcmp(d->stage, stage) != 0) {
        (void)snprintf(d->stage, sizeof d->stage, "%s", stage);
        (void)snprintf(d->function, sizeof d->function, "%s", blame_function(stage, ""));
    }
    (void)snprintf(d->text + len, sizeof d->text - len, "%s%s (%s)", says, d->stage, d->function);
}

enum status conform_lockstep(struct device *d, const struct scene *s, const struct render_job *job,
                             uint64_t max_samples, struct divergence *out, struct error *err)
{
    TRY(lockstep_search(d, s, job, max_samples, out, err));
    if (out->divergent)
        divergence_blame(out, out->stage);
    return STATUS_OK;
}

/* ---- the first bits that differ ------------------------------------------------------------- */

/* One sample of both. */
struct pair {
    struct device *device, *native;
    const struct scene *scene;
    const struct render_job *job;
    bool media;
    uint32_t x, y, sample;
    struct path_vertex *of_device, *of_native;
    size_t device_count, native_count;
    double device_L[3], native_L[3];
};

struct difference {
    bool found;
    uint32_t vertex; /* from 1 */
    const char *stage, *field;
    const char *part; /* of the stage, whose function is named; NULL: that of the field */
    char component;
    double device, native;
};

static bool numbers_differ(struct difference *d, const char *stage, const char *field,
                           const char *names, const double *a, const double *b, int n)
{
    for (int i = 0; i < n && !d->found; i++)
        if (memcmp(&a[i], &b[i], sizeof *a) != 0) {
            d->found = true;
            d->stage = stage;
            d->field = field;
            d->component = names[i];
            d->device = a[i];
            d->native = b[i];
        }
    return d->found;
}

static bool number_differs(struct difference *d, const char *stage, const char *field, double a,
                           double b)
{
    return numbers_differ(d, stage, field, "", &a, &b, 1);
}

static double id_of(uint32_t id) { return id == UINT32_MAX ? -1 : (double)id; }

/* The fields in the order in which a device comes to them: what stands first depends on nothing
 * that stands after it. */
static bool vertex_differs(const struct pair *p, size_t i, struct difference *d)
{
    const struct path_vertex *a = &p->of_device[i], *b = &p->of_native[i];
    const bool first = i == 0, missed = b->primitive == UINT32_MAX && b->material == UINT32_MAX;
    d->vertex = (uint32_t)i + 1;
    const bool left_surface = !first && p->of_native[i - 1].primitive != UINT32_MAX;
    return numbers_differ(d,
                          first          ? "camera"
                          : left_surface ? "surface"
                                         : "path",
                          left_surface ? "offset" : "origin", "xyz", a->origin, b->origin, 3) ||
           numbers_differ(d, first ? "camera" : "path", "direction", "xyz", a->direction,
                          b->direction, 3) ||
           (!p->media && numbers_differ(d, "roulette", "beta", "rgb", a->beta, b->beta, 3)) ||
           number_differs(d, "traversal", "primitive", id_of(a->primitive), id_of(b->primitive)) ||
           number_differs(d, "traversal", "media", a->media, b->media) ||
           number_differs(d, "traversal", "t", a->t, b->t) ||
           numbers_differ(d, "path", "beta", "rgb", a->beta, b->beta, 3) ||
           number_differs(d, "surface", "material", id_of(a->material), id_of(b->material)) ||
           numbers_differ(d, "surface", "P", "xyz", a->P, b->P, 3) ||
           numbers_differ(d, "surface", "Ng", "xyz", a->Ng, b->Ng, 3) ||
           numbers_differ(d, "surface", "uv", "xy", a->uv, b->uv, 2) ||
           numbers_differ(d, "surface", "Ns", "xyz", a->Ns, b->Ns, 3) ||
           numbers_differ(d, "light", missed ? "environment" : "emitted", "rgb", a->emitted,
                          b->emitted, 3) ||
           number_differs(d, "light", "light", id_of(a->light), id_of(b->light)) ||
           numbers_differ(d, "light", "light_wi", "xyz", a->light_wi, b->light_wi, 3) ||
           number_differs(d, "light", "light_pdf_w", a->light_pdf_w, b->light_pdf_w) ||
           number_differs(d, "shadow", "visible", a->visible, b->visible) ||
           numbers_differ(d, "shader", "direct", "rgb", a->direct, b->direct, 3) ||
           (a->event != EVENT_ROULETTE && b->event != EVENT_ROULETTE &&
            number_differs(d, "shader", "event", a->event, b->event)) ||
           numbers_differ(d, "shader", "wi", "xyz", a->wi, b->wi, 3) ||
           numbers_differ(d, "shader", "weight", "rgb", a->weight, b->weight, 3) ||
           number_differs(d, "shader", "pdf_w", a->pdf_w, b->pdf_w) ||
           number_differs(d, "roulette", "event", a->event, b->event);
}

static bool paths_differ(const struct pair *p, struct difference *d)
{
    *d = (struct difference){0};
    const size_t both = p->device_count < p->native_count ? p->device_count : p->native_count;
    for (size_t i = 0; i < both; i++)
        if (vertex_differs(p, i, d))
            return true;
    d->vertex = 0;
    return number_differs(d, "path", "length", (double)p->device_count, (double)p->native_count) ||
           numbers_differ(d, "sum", "L", "rgb", p->device_L, p->native_L, 3);
}

/* ---- which of several functions made it ----------------------------------------------------- */

static void put(uint32_t *out, const double *v, int n)
{
    for (int i = 0; i < n; i++) {
        const float f = (float)v[i];
        memcpy(&out[i], &f, sizeof f);
    }
}

/* Do both answer one row with the same bits? A device that cannot be asked does. */
static bool probe_differs(const struct pair *p, enum probe probe, const uint32_t *in)
{
    uint32_t a[16] = {0}, b[16] = {0};
    return device_probe(p->device, probe, in, 1, a, NULL) == STATUS_OK &&
           device_probe(p->native, probe, in, 1, b, NULL) == STATUS_OK &&
           memcmp(a, b, sizeof a) != 0;
}

static bool random_differs(const struct pair *p)
{
    const uint64_t seed = p->job->seed;
    const uint32_t in[6] = {p->x, p->y, p->sample, 0, (uint32_t)seed, (uint32_t)(seed >> 32)};
    return probe_differs(p, PROBE_RNG, in);
}

/* The shadow ray of native's light sample. */
static bool occlusion_differs(const struct pair *p, const struct path_vertex *v)
{
    const double side = vec_dot(v->light_wi, v->Ng) < 0 ? -1 : 1, far = 1e4;
    double o[3];
    uint32_t in[8] = {0};
    vec_madd(o, v->P, side * 0x1p-19 * fmax(vec_max_abs(v->P), 0x1p-20), v->Ng);
    put(in, o, 3);
    put(in + 3, v->light_wi, 3);
    put(in + 6, &far, 1);
    return probe_differs(p, PROBE_HIT, in);
}

/* What the ray to the vertex meets, and where on it. */
static bool hit_differs(const struct pair *p, const struct path_vertex *v)
{
    const double far = 1e30;
    uint32_t in[8] = {0};
    put(in, v->origin, 3);
    put(in + 3, v->direction, 3);
    put(in + 6, &far, 1);
    return probe_differs(p, PROBE_HIT, in);
}

static bool environment_differs(const struct pair *p, const struct path_vertex *v)
{
    uint32_t in[3];
    put(in, v->direction, 3);
    return probe_differs(p, PROBE_ENVIRONMENT, in);
}

/* Is its material a shader's? No probe asks for the value of one. */
static bool is_shaded(const struct pair *p, const struct path_vertex *v)
{
    return v->primitive != UINT32_MAX && p->scene->materials[v->material].shading;
}

/* What the vertex' material makes of native's light sample. */
static bool eval_differs(const struct pair *p, const struct path_vertex *v)
{
    double frame[3][3], wo[3], wi[3], back[3];
    uint32_t in[9];
    if (v->primitive == UINT32_MAX || is_shaded(p, v))
        return false;
    vec_frame(v->Ns, frame);
    vec_scale(back, -1, v->direction);
    vec_to_local(wo, frame, back);
    vec_to_local(wi, frame, v->light_wi);
    in[0] = v->material;
    put(in + 1, v->uv, 2);
    put(in + 3, wo, 3);
    put(in + 6, wi, 3);
    return probe_differs(p, PROBE_BSDF_EVAL, in);
}

/* The light sample from native's vertex, for other numbers than the path's. */
static bool light_differs(const struct pair *p, const struct path_vertex *v)
{
    bool differs = false;
    for (int i = 0; i < 8 && !differs; i++) {
        const double u[3] = {(i + 0.5) / 8, (i * 3 % 8 + 0.5) / 8, (i * 5 % 8 + 0.5) / 8};
        uint32_t in[9];
        put(in, v->P, 3);
        put(in + 3, v->Ng, 3);
        put(in + 6, u, 3);
        differs = probe_differs(p, PROBE_LIGHT, in);
    }
    return differs;
}

/* Does the same vertex scatter otherwise too? */
static bool scatter_differs(const struct path_vertex *a, const struct path_vertex *b)
{
    return memcmp(a->wi, b->wi, sizeof a->wi) != 0 ||
           memcmp(a->weight, b->weight, sizeof a->weight) != 0 ||
           memcmp(&a->pdf_w, &b->pdf_w, sizeof a->pdf_w) != 0;
}

/* The part that is missing in a sum, or counted twice: whose addition is wrong. */
static void decide_sum(const struct pair *p, struct difference *d)
{
    double off[3], size = 0;
    for (int c = 0; c < 3; c++) {
        off[c] = fabs(p->device_L[c] - p->native_L[c]);
        size = fmax(size, fabs(p->native_L[c]));
    }
    for (size_t i = 0; i < p->native_count; i++) {
        const struct path_vertex *v = &p->of_native[i];
        const double *parts[2] = {v->emitted, v->direct};
        for (int k = 0; k < 2; k++) {
            double apart = 0;
            for (int c = 0; c < 3; c++)
                apart = fmax(apart, fabs(off[c] - fabs(parts[k][c])));
            if (vec_max_abs(parts[k]) > 0 && apart <= 0x1p-18 * size) {
                d->vertex = (uint32_t)i + 1;
                d->stage = k ? "shadow" : "light";
                d->field = k ? "direct" : "emitted";
                return;
            }
        }
    }
}

/* Fields that several stages make. */
static void decide(const struct pair *p, struct difference *d)
{
    const size_t i = d->vertex - 1;
    if (d->vertex == 0) {
        decide_sum(p, d);
        return;
    }
    if (i >= p->device_count || i >= p->native_count)
        return;
    const struct path_vertex *a = &p->of_device[i], *b = &p->of_native[i];
    const bool in_medium = b->primitive == UINT32_MAX;
    if (strcmp(d->stage, "camera") == 0 && random_differs(p)) {
        d->stage = "rng";
    } else if (strcmp(d->stage, "surface") == 0 && strcmp(d->field, "offset") != 0) {
        if (!in_medium && hit_differs(p, b)) /* its place on the primitive is in no record */
            d->stage = "traversal";
    } else if (strcmp(d->field, "environment") == 0) {
        if (i > 0 && p->of_native[i - 1].pdf_w == 0 && !environment_differs(p, b))
            d->stage = "path"; /* a mirrored ray weighs nothing */
    } else if (strcmp(d->field, "emitted") == 0) {
        if (is_shaded(p, b))
            d->stage = "shader";
    } else if (strcmp(d->field, "light") == 0) {
        if (!in_medium && (a->light == UINT32_MAX) != (b->light == UINT32_MAX) &&
            !light_differs(p, b))
            d->stage = a->event != b->event && !eval_differs(p, b) ? "path" : "shader",
            d->part = "lit";
    } else if (strcmp(d->field, "visible") == 0) {
        if (!occlusion_differs(p, b) &&
            (is_shaded(p, b) || eval_differs(p, b) || scatter_differs(a, b)))
            d->stage = "shader", d->part = "direct";
    } else if (strcmp(d->field, "direct") == 0 && !eval_differs(p, b) && !scatter_differs(a, b)) {
        if (!is_shaded(p, b) || light_differs(p, b))
            d->stage = p->media ? "shadow" : "light";
    }
}

/* ---- together ------------------------------------------------------------------------------- */

static enum status native_ready(const struct pair *p, struct device **out, struct error *err)
{
    struct device *d = NULL;
    enum status st = device_open("native", &d, err);
    if (st == STATUS_OK)
        st = device_load(d, p->scene, BVH_AUTO, NULL, err);
    if (st == STATUS_OK)
        st = device_build(d, &(struct build_settings){.mode = MODE_STRICT}, NULL, err);
    if (st != STATUS_OK)
        device_close(d);
    else
        *out = d;
    return st;
}

/* The first sample of the pixel whose record has other bits. */
static enum status search_pixel(struct pair *p, struct difference *d, struct error *err)
{
    for (uint32_t i = 0; i < p->job->sample_count && !d->found; i++) {
        p->sample = p->job->sample_begin + i;
        TRY(device_trace(p->device, p->job, p->x, p->y, p->sample, p->device_L, p->of_device,
                         MAX_VERTICES, &p->device_count, err));
        TRY(device_trace(p->native, p->job, p->x, p->y, p->sample, p->native_L, p->of_native,
                         MAX_VERTICES, &p->native_count, err));
        paths_differ(p, d);
    }
    if (d->found)
        decide(p, d);
    return STATUS_OK;
}

static void take_bits(struct divergence *out, const struct pair *p, const struct difference *d)
{
    const size_t len = strlen(out->text);
    const char component[3] = {d->component ? '.' : 0, d->component, 0};
    if (!d->found) { /* the paths are alike, their sum in the picture is not */
        (void)snprintf(out->stage, sizeof out->stage, "film");
        (void)snprintf(out->field, sizeof out->field, "L");
        (void)snprintf(out->text + len, sizeof out->text - len,
                       "; the paths of pixel (%u,%u) have native's bits, the film has not", p->x,
                       p->y);
    } else {
        (void)snprintf(out->stage, sizeof out->stage, "%s", d->stage);
        (void)snprintf(out->field, sizeof out->field, "%s%s", d->field, component);
        (void)snprintf(out->text + len, sizeof out->text - len,
                       "; the first bits that are not native's: pixel (%u,%u) sample %u, vertex "
                       "%u: %s is %.9g, native has %.9g",
                       p->x, p->y, p->sample, d->vertex, out->field, d->device, d->native);
    }
    if (!out->divergent) { /* the reference found nothing: this is the place */
        out->x = p->x, out->y = p->y, out->sample = p->sample;
        out->vertex = d->vertex;
        out->reference_value = d->native;
        out->device_value = d->device;
    }
    (void)snprintf(out->function, sizeof out->function, "%s",
                   blame_function(out->stage, d->part    ? d->part
                                              : d->found ? d->field
                                                         : ""));
}

enum status judge_cause(struct device *d, const struct scene *s, const struct render_job *job,
                        uint32_t x, uint32_t y, struct divergence *out, struct error *err)
{
    struct pair p = {.device = d, .scene = s, .job = job, .x = x, .y = y};
    struct difference first = {0};
    struct divergence found = {0};
    struct error why = {0};
    const bool native = strcmp(device_describe(d)->id, "native") == 0;
    enum status st = lockstep_search(d, s, job, UINT64_MAX, &found, &why);
    if (st != STATUS_OK) /* not even one sample a pixel comes back right */
        (void)snprintf(found.text, sizeof found.text, "%.255s", why.msg);
    else if (!found.divergent)
        (void)snprintf(found.text, sizeof found.text,
                       "every step is within rounding of the reference, so it is the arithmetic "
                       "that is not strict");
    for (size_t i = 0; i < s->material_count; i++)
        p.media |= s->materials[i].medium.present || s->materials[i].interface;
    p.of_device = calloc(MAX_VERTICES, sizeof *p.of_device);
    p.of_native = calloc(MAX_VERTICES, sizeof *p.of_native);
    st = p.of_device && p.of_native ? STATUS_OK
                                    : error_msg(err, STATUS_MEMORY, "out of memory for two paths");
    if (st == STATUS_OK && cancel_requested)
        st = error_msg(err, STATUS_CANCELLED, "stopped");
    if (st == STATUS_OK && !native)
        st = native_ready(&p, &p.native, err);
    if (st == STATUS_OK && !native) {
        if (search_pixel(&p, &first, NULL) == STATUS_OK)
            take_bits(&found, &p, &first);
    }
    if (st == STATUS_OK && found.stage[0])
        divergence_blame(&found, found.stage);
    device_close(p.native);
    free(p.of_device);
    free(p.of_native);
    if (st == STATUS_OK)
        *out = found;
    return st;
}
