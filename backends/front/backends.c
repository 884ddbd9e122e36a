/* SPDX-License-Identifier: Apache-2.0 */
/* The front: checks arguments once, then drives one API's table of functions. */
#include "batch.h"
#include "llvm/offers.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- life ----------------------------------------------------------------------------------- */

/* A device that others use too, or a test, may have less memory than it says. */
static enum status memory_limit(struct device_info *info, struct error *err)
{
    const char *text = getenv("ISOPHOTE_DEVICE_MEMORY");
    if (!text || !*text)
        return STATUS_OK;
    char *end;
    errno = 0;
    unsigned long long most = strtoull(text, &end, 10);
    if (errno || *end || *text < '0' || *text > '9' || most == 0)
        return error_msg(err, STATUS_ARG, "ISOPHOTE_DEVICE_MEMORY is \"%.60s\": expected bytes",
                         text);
    if (!info->global_bytes || info->global_bytes > most)
        info->global_bytes = most;
    return STATUS_OK;
}

enum status device_open(const char *id, struct device **out, struct error *err)
{
    struct device_info info;
    enum status st = device_find(id, &info, err);
    if (st == STATUS_OK)
        st = memory_limit(&info, err);
    if (st)
        return st;
    struct device *d = calloc(1, sizeof *d);
    if (!d)
        return error_msg(err, STATUS_MEMORY, "out of memory for a device");
    d->info = info;
    size_t bare;
    d->own = device_id_code(info.id, &bare);
    info.id[bare] = '\0'; /* the API knows nothing of it */
    d->api = backend_of_id(info.id);
    st = d->api ? d->api->open(&info, &d->backend, err)
                : error_msg(err, STATUS_INTERNAL, "no API serves %s", info.id);
    if (st) {
        free(d);
        return st;
    }
    *out = d;
    return STATUS_OK;
}

void device_close(struct device *d)
{
    if (!d)
        return;
    d->api->close(d->backend);
    layout_free(&d->layout);
    asl_sayings_free(&d->said);
    counts_free(&d->counts);
    free(d->shader_ids);
    free(d->shapes);
    free(d);
}

const struct device_info *device_describe(const struct device *d) { return &d->info; }

void device_bake(struct device *d, bool bake) { d->bake = bake; }

void device_model(struct device *d, enum exec_model model)
{
    d->masters = model == MODEL_RESTRICTED;
}

void device_messages(const struct device *d, struct text *out) { asl_sayings_print(&d->said, out); }

/* ---- scene ---------------------------------------------------------------------------------- */

static enum status memory_check(const struct device_info *info, const struct layout *l,
                                struct error *err)
{
    uint64_t all = l->bvh_bytes + l->scene_bytes, largest = 0;
    for (int i = 0; i < SCENE_BUFFER_COUNT; i++)
        largest = l->buffers.at[i].size > largest ? l->buffers.at[i].size : largest;
    if (info->global_bytes && all > info->global_bytes)
        return error_msg(err, STATUS_LIMIT, "the scene takes %llu bytes; %s has %llu",
                         (unsigned long long)all, info->id, (unsigned long long)info->global_bytes);
    if (info->max_alloc_bytes && largest > info->max_alloc_bytes)
        return error_msg(err, STATUS_LIMIT,
                         "the scene needs a buffer of %llu bytes; %s gives at most %llu in one",
                         (unsigned long long)largest, info->id,
                         (unsigned long long)info->max_alloc_bytes);
    return STATUS_OK;
}

/* Makes r->code, which is what is asked for, the code path that is meant; UNSUPPORTED when the API
 * does not take it. */
static enum status code_choose(const struct device *d, struct program_request *r, struct error *err)
{
    enum code_path fastest = CODE_SOURCE;
    unsigned source = 1u << CODE_SOURCE,
             takes = d->api->code_paths ? d->api->code_paths(d->backend, &fastest) : source;
    if (takes & source && ((r->features & K_FEATURES_OF_TEXT && !r->shaders) || r->count_rays))
        fastest = CODE_SOURCE;
    const enum code_path chosen = r->code == CODE_AUTO ? fastest : r->code;
    const char *problem = NULL;
    if (!(takes & 1u << chosen) && chosen == CODE_LLVM && !llvm_load(&problem))
        return error_msg(err, STATUS_UNSUPPORTED, "%s", problem);
    if (!(takes & 1u << chosen))
        return error_msg(err, STATUS_UNSUPPORTED, "%s has no code path %s; it has %s", d->info.id,
                         code_path_name(chosen), code_path_name(fastest));
    r->code = chosen;
    return STATUS_OK;
}

/* The model that is meant. Who wants rays counted wants the megakernel. */
static enum exec_model model_choose(const struct device *d, const struct build_settings *settings,
                                    const struct program_request *r)
{
    if (settings->model != MODEL_AUTO)
        return settings->model;
    if (d->layout.shaders.source.len && d->layout.shaders.form == SHADE_MASTERS)
        return MODEL_RESTRICTED;
    if (d->api->abreast_problem && r->code != CODE_SOURCE && !r->count_rays &&
        !d->api->abreast_problem(d->backend, r->features, d->layout.launch.light_count))
        return MODEL_ABREAST;
    if (!d->api->preferred_model || r->count_rays)
        return MODEL_MEGAKERNEL;
    return d->api->preferred_model(d->backend, r);
}

static bool few_samples;

void programs_for_few_samples(bool few) { few_samples = few; }

/* What to compile for the scene on the device, if there is one; *model, for which model. */
static enum status request_make(const struct device *d, const struct build_settings *settings,
                                struct program_request *out, enum exec_model *model_out,
                                struct error *err)
{
    struct program_request r = program_request_make(settings->mode);
    r.registers = settings->registers;
    r.cache = settings->cache;
    r.count_rays = settings->count_rays;
    r.few_samples = few_samples;
    if (r.cache != CACHE_AUTO && !d->api->takes_cache_preference)
        return error_msg(err, STATUS_UNSUPPORTED,
                         "%s cannot be asked to prefer %s: CUDA devices can", d->info.id,
                         cache_preference_name(r.cache));
    r.tree = d->loaded ? d->layout.bvh : BVH_BINARY;
    r.features = d->loaded ? d->layout.features : r.features;
    r.code = settings->code == CODE_AUTO ? d->own : settings->code;
    const enum exec_model model = model_choose(d, settings, &r);
    const char *problem = NULL;
    r.staged = model == MODEL_SEPARATE || model == MODEL_WAVEFRONT;
    r.abreast = model == MODEL_ABREAST;
    if (r.abreast)
        problem = !d->api->abreast_problem ? "the device has no lanes to run paths in"
                  : r.count_rays           ? "rays are counted by the megakernel alone"
                  : r.code == CODE_SOURCE  ? "the model abreast is made by code path llvm alone"
                                           : d->api->abreast_problem(d->backend, r.features,
                                                                     d->layout.launch.light_count);
    const struct shade_scene *shaders = &d->layout.shaders;
    if (model == MODEL_RESTRICTED && !shaders->source.len)
        problem = "the scene has no shaders: the model restricted would be the megakernel";
    if (problem)
        return error_msg(err, STATUS_UNSUPPORTED, "%s: %s", d->info.id, problem);
    if (shaders->source.len && (model == MODEL_RESTRICTED) != (shaders->form == SHADE_MASTERS))
        return error_msg(err, STATUS_ARG, "%s: the scene was %sloaded for the model restricted",
                         d->info.id, model == MODEL_RESTRICTED ? "not " : "");
    /* A processor's compiler takes longer to make another program than an unused feature costs. */
    if (d->info.kind == DEVICE_CPU && !r.abreast && !(r.features & K_FEATURES_OF_TEXT))
        r.features |=
            r.features & ~K_FEATURES_EXACT ? K_FEATURE_ALL & ~K_FEATURES_OF_TEXT : K_FEATURES_EXACT;
    if (r.count_rays && r.staged)
        return error_msg(err, STATUS_UNSUPPORTED, "rays are counted by the megakernel alone");
    if (shaders->source.len) {
        r.source = shaders->source.data;
        snprintf(r.source_hash, sizeof r.source_hash, "%s", shaders->hash);
        r.shaders = shaders->llvm.data;
    }
    enum status st = code_choose(d, &r, err);
    if (st == STATUS_OK && model == MODEL_RESTRICTED && r.code != CODE_SOURCE)
        return error_msg(err, STATUS_UNSUPPORTED,
                         "%s: the model restricted is a kernel from source", d->info.id);
    if (st == STATUS_OK) {
        *out = r;
        *model_out = model;
    }
    return st;
}

/* A scene came after the program was built: parts are compiled again when they are first run. */
static enum status request_again(struct device *d, struct error *err)
{
    struct program_request r;
    const struct build_settings again = {.mode = d->request.mode,
                                         .registers = d->request.registers,
                                         .model = d->wanted_model,
                                         .code = d->wanted,
                                         .cache = d->request.cache,
                                         .count_rays = d->request.count_rays};
    enum status st = request_make(d, &again, &r, &d->model, err);
    if (st || program_request_equal(&r, &d->request))
        return st;
    d->request = r;
    d->shape_count = 0;
    d->api->request(d->backend, &r);
    return STATUS_OK;
}

/* Takes the place of the layout before. A text that stays the same stays where it is: the API may
 * hold its address. */
static void layout_replace(struct device *d, struct layout *l)
{
    struct shade_scene *old = &d->layout.shaders, *new = &l->shaders;
    if (old->source.len && new->source.len && strcmp(old->hash, new->hash) == 0) {
        struct text source = old->source, llvm = old->llvm;
        old->source = new->source;
        old->llvm = new->llvm;
        new->source = source;
        new->llvm = llvm;
    }
    layout_free(&d->layout);
    d->layout = *l;
}

enum status device_load(struct device *d, const struct scene *s, enum bvh_kind bvh,
                        struct load_times *times, struct error *err)
{
    struct load_times t = {0};
    struct layout l;
    if (!d || !s || bvh < BVH_AUTO || bvh >= BVH_COUNT)
        return error_msg(err, STATUS_ARG, "device_load needs a device, a scene and a kind of tree");
    enum status st = layout_build(s, bvh == BVH_AUTO ? d->api->preferred_bvh(d->backend) : bvh,
                                  d->masters ? SHADE_MASTERS
                                  : d->bake  ? SHADE_BAKED
                                             : SHADE_AREAS,
                                  d->api->reads_in_place, &l, err);
    if (st)
        return st;
    if ((st = texture_cache_fault(s->cache, err))) {
        layout_free(&l);
        return st;
    }
    if (s->cache && !d->api->reads_in_place && note_say)
        note_say("--texture-memory: the device keeps whole textures; native and the reference do "
                 "not");
    t.shading = l.shaders.stats;
    t.bvh_build_s = l.build_s;
    t.bvh_bytes = l.bvh_bytes;
    t.bvh = l.bvh;
    t.scene_bytes = l.scene_bytes;
    t.sah_cost = l.sah_cost;
    double start = clock_s();
    st = memory_check(&d->info, &l, err);
    if (st == STATUS_OK)
        st = d->api->upload(d->backend, &l.buffers, &t.device_bytes, err);
    if (st) {
        layout_free(&l);
        return st;
    }
    t.upload_s = clock_s() - start;
    if (!d->api->keeps_host_memory && !l.shaders.asks)
        layout_free_buffers(&l);
    layout_replace(d, &l);
    asl_sayings_free(&d->said);
    counts_free(&d->counts);
    d->camera = s->camera;
    d->exponent = film_exponent(s);
    d->position_exponent = passes_position_exponent(s);
    d->ao_distance = passes_ao_distance(s);
    free(d->shader_ids);
    d->shader_ids = scene_shader_ids(s);
    d->loaded = true;
    if (d->wanted_model != MODEL_AUTO && (d->wanted_model == MODEL_RESTRICTED) != d->masters)
        d->built = false; /* for another model than the scene */
    if (d->built && (st = request_again(d, err)))
        return st;
    if (times)
        *times = t;
    return STATUS_OK;
}

/* ---- program -------------------------------------------------------------------------------- */

enum status device_build(struct device *d, const struct build_settings *settings,
                         struct build_info *info, struct error *err)
{
    struct build_info scratch, *out = info ? info : &scratch;
    if (!d || !settings || settings->mode < MODE_STRICT || settings->mode > MODE_FAST ||
        settings->code < CODE_AUTO || settings->code >= CODE_COUNT ||
        settings->cache < CACHE_AUTO || settings->cache >= CACHE_COUNT ||
        settings->model < MODEL_AUTO || settings->model >= MODEL_COUNT)
        return error_msg(err, STATUS_ARG, "device_build needs a device, a mode and a model");
    const enum math_mode mode = settings->mode;
    struct program_request request;
    memset(out, 0, sizeof *out);
    d->built = false;
    d->shape_count = 0;
    enum exec_model model = MODEL_MEGAKERNEL;
    enum status st = request_make(d, settings, &request, &model, err);
    if (st == STATUS_OK)
        st = d->api->build(d->backend, &request, out, err);
    if (st)
        return st;
    d->request = request;
    d->wanted = settings->code;
    d->wanted_model = settings->model;
    d->model = model;
    out->model = model;
    d->built = true;
    if (mode == MODE_STRICT) {
        st = device_check_strict(d, err);
        d->built = st == STATUS_OK;
    }
    return st;
}

/* ---- launches ------------------------------------------------------------------------------- */

static void copy3(float out[3], const double in[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = (float)in[i];
}

/* The launch fields that a whole job shares. Doubles of the scene are rounded to float32 here,
 * once. */
struct k_launch device_launch(const struct device *d, const struct render_job *job)
{
    struct k_launch l = d->layout.launch;
    double tan_x, tan_y;
    int half = d->exponent / 2;
    l.width = job->width;
    l.height = job->height;
    l.max_depth = job->max_depth;
    l.rr_depth = job->rr_depth;
    l.seed[0] = (uint32_t)job->seed;
    l.seed[1] = (uint32_t)(job->seed >> 32);
    l.film_scale[0] = (float)ldexp(1.0, half);
    l.film_scale[1] = (float)ldexp(1.0, d->exponent - half);
    camera_tangents(&d->camera, job->width, job->height, &tan_x, &tan_y);
    copy3(l.origin, d->camera.origin);
    copy3(l.right, d->camera.right);
    copy3(l.up, d->camera.up);
    copy3(l.forward, d->camera.forward);
    l.tan_x = (float)tan_x;
    l.tan_y = (float)tan_y;
    l.messages = d->layout.shaders.message_words > 0;
    l.lens_radius = (float)d->camera.lens_radius;
    l.focus_distance = (float)d->camera.focus_distance;
    return l;
}

enum status device_job_check(const struct device *d, const struct render_job *job,
                             struct error *err)
{
    if (!d->loaded)
        return error_msg(err, STATUS_ARG, "%s has no scene: device_load comes first", d->info.id);
    if (!d->built || d->request.mode != job->set.build.mode)
        return error_msg(err, STATUS_ARG, "%s has no kernel for mode %s: device_build comes first",
                         d->info.id, math_mode_name(job->set.build.mode));
    if (job->width == 0 || job->height == 0 || job->width > 65536 || job->height > 65536)
        return error_msg(err, STATUS_ARG, "a picture of %ux%u pixels: sides are 1 to 65536",
                         job->width, job->height);
    if ((uint64_t)job->crop[0] + job->crop[2] > job->width ||
        (uint64_t)job->crop[1] + job->crop[3] > job->height || (job->crop[2] && !job->crop[3]))
        return error_msg(err, STATUS_ARG, "a crop of %ux%u at (%u, %u) of %ux%u pixels",
                         job->crop[2], job->crop[3], job->crop[0], job->crop[1], job->width,
                         job->height);
    if (job->max_depth == 0)
        return error_msg(err, STATUS_ARG, "max_depth is 0: a path has at least one edge");
    if (job->sample_count > UINT32_MAX - job->sample_begin)
        return error_msg(err, STATUS_ARG, "samples %u + %u pass 2^32", job->sample_begin,
                         job->sample_count);
    if (job->set.load.bvh != BVH_AUTO && job->set.load.bvh != d->layout.bvh)
        return error_msg(err, STATUS_ARG, "%s was loaded with %s, not %s", d->info.id,
                         bvh_kind_name(d->layout.bvh), bvh_kind_name(job->set.load.bvh));
    if (job->set.build.model != MODEL_AUTO && job->set.build.model != d->model)
        return error_msg(err, STATUS_ARG, "%s was built for the model %s, not %s", d->info.id,
                         exec_model_name(d->model), exec_model_name(job->set.build.model));
    if (job->set.launch.tile_order > 2)
        return error_msg(err, STATUS_ARG, "tile order %u: 0 rows, 1 reversed, 2 shuffled",
                         job->set.launch.tile_order);
    for (int i = 0; i < 3; i++)
        if (!(fabs(d->camera.origin[i]) <= LAYOUT_COORDINATE_MAX))
            return error_msg(
                err, STATUS_RANGE,
                "the camera stands at %g: float32 renderers take coordinates up to 2^36",
                d->camera.origin[i]);
    return STATUS_OK;
}

/* The part of the picture that a job makes: x, y, width, height. */
void job_area(const struct render_job *job, uint32_t area[4])
{
    const uint32_t whole[4] = {0, 0, job->width, job->height};
    memcpy(area, job->crop[2] ? job->crop : whole, sizeof whole);
}

enum status device_group_most(struct device *d, uint32_t *most, struct error *err)
{
    uint32_t of_program = 0;
    if (!d || !most || !d->built)
        return error_msg(err, STATUS_ARG, "device_group_most needs a device that is built");
    enum status st =
        d->api->group_most ? d->api->group_most(d->backend, &of_program, err) : STATUS_OK;
    if (st == STATUS_OK)
        *most =
            of_program && of_program < d->info.max_work_group ? of_program : d->info.max_work_group;
    return st;
}

/* Counts of runs are of all samples of a pixel: they stay together. */
static uint32_t batch_choose(const struct device *d, const struct launch_settings *s,
                             uint32_t sample_count)
{
    if (s->batch)
        return s->batch;
    if (d->request.count_rays && sample_count)
        return sample_count;
    /* Long enough that starting it costs nothing, short enough that a stop is heard. */
    uint64_t own_samples = d->api->launch_samples ? d->api->launch_samples(d->backend) : 0,
             samples = own_samples                  ? own_samples
                       : d->info.kind == DEVICE_CPU ? 1u << 20
                                                    : 1u << 26,
             pixels = (uint64_t)s->tile[0] * s->tile[1];
    return pixels >= samples ? 1 : (uint32_t)(samples / pixels);
}

/* A job's settings with every default filled in. */
static enum status settings_make(struct device *d, const struct render_job *job,
                                 struct launch_settings *out, struct error *err)
{
    struct launch_settings s = job->set.launch, own = {0};
    uint32_t area[4], most;
    job_area(job, area);
    const uint32_t *size = area + 2;
    enum status st = device_group_most(d, &most, err);
    if (st)
        return st;
    d->api->defaults(d->backend, &own);
    work_group_fit(own.work_group, most);
    for (int i = 0; i < 2; i++) {
        if (s.work_group[0] == 0 && s.work_group[1] == 0)
            continue;
        uint32_t axis = d->info.max_work_group_axis[i];
        if (s.work_group[i] == 0 || (axis && s.work_group[i] > axis))
            return error_msg(err, STATUS_UNSUPPORTED,
                             "a work-group of %ux%u: %s takes 1 to %u along %s", s.work_group[0],
                             s.work_group[1], d->info.id, axis, i ? "y" : "x");
    }
    if (s.work_group[0] == 0)
        memcpy(s.work_group, own.work_group, sizeof s.work_group);
    if ((uint64_t)s.work_group[0] * s.work_group[1] > d->info.max_work_group)
        return error_msg(err, STATUS_UNSUPPORTED,
                         "a work-group of %ux%u has %llu items; %s takes %u", s.work_group[0],
                         s.work_group[1], (unsigned long long)s.work_group[0] * s.work_group[1],
                         d->info.id, d->info.max_work_group);
    for (int i = 0; i < 2; i++) {
        if (s.tile[i] == 0)
            s.tile[i] = own.tile[i] ? own.tile[i] : size[i];
        if (s.tile[i] > size[i])
            s.tile[i] = size[i];
    }
    if (s.batch == 0 && !d->request.count_rays)
        s.batch = own.batch;
    s.batch = batch_choose(d, &s, job->sample_count);
    if (job->sample_count && s.batch > job->sample_count)
        s.batch = job->sample_count;
    *out = s;
    return STATUS_OK;
}

/* Order in which a job's tiles are launched. Shuffled: Fisher-Yates with Philox, one fixed key. */
static enum status tiles_order(uint32_t count, uint32_t how, uint32_t **out, struct error *err)
{
    uint32_t *order = malloc(count * sizeof *order);
    if (!order)
        return error_msg(err, STATUS_MEMORY, "out of memory for %u tiles", count);
    for (uint32_t i = 0; i < count; i++)
        order[i] = how == 1 ? count - 1 - i : i;
    for (uint32_t i = count; how == 2 && i > 1; i--) {
        uint32_t counter[4] = {i, 0, 0, 0}, key[2] = {0x150F0735u, 0}, r[4];
        philox4x32(counter, key, r);
        uint32_t j = r[0] % i, swap = order[i - 1];
        order[i - 1] = order[j];
        order[j] = swap;
    }
    *out = order;
    return STATUS_OK;
}

/* One job on its way. */
struct run {
    struct device *d;
    const struct render_job *job;
    struct launch_settings set;
    uint32_t area[4]; /* job_area */
    struct k_launch launch;
    struct render_times times;
    double start;
    uint64_t work, done,
        unwaited;     /* samples: all, launched, launched since the device was last waited for */
    uint64_t kept;    /* of `done`, what the film held before */
    uint32_t most;    /* samples of the pixel that holds most of them */
    uint64_t share;   /* samples of a launch that is soon over; 0: any */
    double waited_at; /* when the device was last waited for */
    const struct film *film;
    int64_t *sums;         /* room for what is read from the device */
    size_t pixels, behind; /* behind: of each film, first `tables` of what shaders said */
    size_t tables;
    bool again; /* shaders asked: the film is none until they have the replies */
};

/* The tables behind a picture's sums (section 18), of each film that it is made of: questions are
 * answered; without any, what was said is. */
static enum status hear(struct run *r, const int64_t *tables, size_t pixels, struct error *err)
{
    struct device *d = r->d;
    const size_t films = pixels ? d->api->films ? d->api->films(d->backend) : 1 : 0;
    enum status st = STATUS_OK;
    for (size_t i = 0; d->layout.shaders.asks && i < films && st == STATUS_OK; i++) {
        bool asked = false;
        st = layout_answer(&d->layout, (const uint32_t *)(tables + 4 * i * pixels), &asked, err);
        r->again = r->again || asked;
    }
    if (st == STATUS_OK && r->again) {
        uint64_t bytes;
        return d->api->upload(d->backend, &d->layout.buffers, &bytes, err);
    }
    for (size_t i = 0; i < films && st == STATUS_OK; i++)
        st = shade_scene_said(&d->layout.shaders, (const uint32_t *)(tables + 4 * i * pixels),
                              &d->said, err);
    return st;
}

/* What the device has so far; a shader that failed shows. */
static enum status run_read(struct run *r, struct error *err)
{
    struct device *d = r->d;
    enum status st = d->api->film_read(d->backend, r->sums, r->pixels + r->behind, err);
    if (st == STATUS_OK)
        st = hear(r, r->sums + 4 * r->pixels, r->behind, err);
    if (r->again)
        return st;
    for (size_t i = 0; d->layout.shaders.source.len && st == STATUS_OK && i < r->pixels; i++)
        if (r->sums[4 * i] < -1)
            st = shade_scene_failed(&d->layout.shaders, r->sums[4 * i], err);
    return st;
}

/* What a program that counts left behind each of the films. */
static enum status run_counts(struct run *r, size_t films, struct error *err)
{
    uint32_t **tails = malloc(films * sizeof *tails);
    if (!tails)
        return error_msg(err, STATUS_MEMORY, "out of memory for %zu films", films);
    for (size_t i = 0; i < films; i++)
        tails[i] = (uint32_t *)(r->sums + 4 * (r->pixels + i * r->behind + r->tables));
    enum status st = tally_read(&r->d->layout, tails, films, &r->d->counts, err);
    free(tails);
    return st;
}

/* Adds what was read to the sums of a film. */
static void run_add(const struct run *r, int64_t *sums)
{
    for (size_t y = 0; y < r->area[3]; y++) {
        const int64_t *from = r->sums + 4 * ((r->area[1] + y) * r->job->width + r->area[0]);
        int64_t *to = sums + 4 * y * r->area[2];
        for (size_t i = 0; i < 4 * (size_t)r->area[2]; i++) /* poison may wrap: unsigned */
            to[i] = (int64_t)((uint64_t)to[i] + (uint64_t)from[i]);
    }
}

/* Hands all samples so far to who keeps them. Without memory for that nothing is kept. */
static enum status run_keep(struct run *r, bool stopping, struct error *err)
{
    const struct render_keeper *k = r->job->keeper;
    const struct film *f = r->film;
    struct film so_far;
    if (!k || !k->film || (!stopping && !k->due(k->ctx)) ||
        film_init(&so_far, f->width, f->height, f->exponent, NULL) != STATUS_OK)
        return STATUS_OK;
    enum status st = run_read(r, err);
    if (st == STATUS_OK && !r->again) {
        memcpy(so_far.sums, f->sums, 4 * sizeof *f->sums * f->width * f->height);
        run_add(r, so_far.sums);
        k->film(k->ctx, &so_far, stopping);
    }
    film_free(&so_far);
    return st;
}

/* What is kept is kept between launches: those of a job with a keeper are soon over, by what the
 * last ones took. The first of a GPU is as long as any, which is not long. */
enum { SHARE_LEAST = 1 << 12 };
static const double SHARE_S = 0.15;
static void run_share(struct run *r)
{
    const double now = clock_s(), spent = now - r->waited_at;
    if (r->share && r->unwaited) {
        const double next = spent > 0 ? (double)r->unwaited / spent * SHARE_S : 0x1p30;
        r->share = next < SHARE_LEAST ? SHARE_LEAST : next > 0x1p30 ? 1u << 30 : (uint64_t)next;
    }
    r->waited_at = now;
    r->unwaited = 0;
}

/* Samples a pixel of a launch over so many pixels, of those that are left. */
static uint32_t run_batch(const struct run *r, uint64_t pixels, uint32_t left)
{
    uint32_t batch = r->set.batch;
    assert(pixels > 0);
    if (r->share && r->job->set.launch.batch == 0 && batch > r->share / pixels)
        batch = r->share > pixels ? (uint32_t)(r->share / pixels) : 1;
    return batch < left ? batch : left;
}

/* Waits for the device, then looks at the clock and at requests to stop. */
static enum status run_wait(struct run *r, struct error *err)
{
    enum status st = r->d->api->finish(r->d->backend, &r->times.device_s, err);
    if (st)
        return st;
    if ((st = texture_cache_fault(r->d->layout.cache, err)))
        return st;
    run_share(r);
    double spent = clock_s() - r->start, share = (double)r->done / (double)r->work,
           own = (double)(r->done - r->kept) / (double)r->work;
    if (r->job->progress)
        r->job->progress(r->job->progress_ctx, share, own > 0 ? spent * (1 - share) / own : 0);
    if (r->done == r->work)
        return STATUS_OK;
    if (cancel_requested)
        return error_msg(err, STATUS_CANCELLED, "stopped after %.0f%% of the samples", 100 * share);
    if (r->job->timeout_s > 0 && spent > r->job->timeout_s)
        return error_msg(err, STATUS_TIMEOUT,
                         "%.3g s passed after %.0f%% of the samples; the limit is %.3g s", spent,
                         100 * share, r->job->timeout_s);
    st = run_keep(r, false, err);
    r->waited_at = clock_s();
    return st;
}

/* Starts what has room in a batch, where there is one. */
static enum status run_start(struct run *r, const struct k_launch *l, struct error *err)
{
    const uint32_t *wg = r->set.work_group;
    const uint32_t grid[2] = {(l->tile_w + wg[0] - 1) / wg[0] * wg[0],
                              (l->tile_h + wg[1] - 1) / wg[1] * wg[1]};
    struct stage_times *timed = r->job->time_stages ? &r->times.stages : NULL;
    return l->batch_slots ? batch_launch(r->d, l, grid, wg, timed, err)
                          : r->d->api->launch(r->d->backend, ENTRY_RENDER, l, grid, wg, err);
}

static enum status run_piece(struct run *r, const struct k_launch *l, struct error *err)
{
    enum { WAIT_SAMPLES = 1 << 18 };
    const uint64_t samples = (uint64_t)l->tile_w * l->tile_h * l->sample_count,
                   most = r->share && r->share < WAIT_SAMPLES ? r->share : WAIT_SAMPLES;
    TRY(run_start(r, l, err));
    r->times.launches++;
    r->done += samples;
    r->unwaited += samples;
    return r->unwaited >= most || r->done == r->work ? run_wait(r, err) : STATUS_OK;
}

/* Pixels of the job's area: from (x, y) on. */
static enum status run_launch(struct run *r, uint32_t x, uint32_t y, uint32_t width,
                              uint32_t height, uint32_t begin, uint32_t count, struct error *err)
{
    struct k_launch l = r->launch;
    l.tile_x = r->area[0] + x;
    l.tile_w = width;
    for (uint32_t row = 0, rows; row < height; row += rows) {
        l.tile_y = r->area[1] + y + row;
        rows = height - row;
        for (uint32_t done = 0; done < count;) {
            l.tile_h = rows;
            l.sample_begin = begin + done;
            l.sample_count = count - done;
            l.accumulate = r->job->resumed || l.sample_begin > r->job->sample_begin;
            const struct k_launch piece = l.batch_slots ? batch_piece(&l) : l;
            rows = piece.tile_h;
            done += piece.sample_count;
            TRY(run_piece(r, &piece, err));
        }
    }
    return STATUS_OK;
}

static enum status run_tile(struct run *r, uint32_t tile, uint32_t begin, uint32_t count,
                            struct error *err)
{
    const uint32_t *side = r->set.tile, *size = r->area + 2, group = r->set.work_group[1];
    uint32_t tiles_x = (size[0] + side[0] - 1) / side[0];
    uint32_t x = tile % tiles_x * side[0], y = tile / tiles_x * side[1];
    const uint32_t width = side[0] < size[0] - x ? side[0] : size[0] - x,
                   end = side[1] < size[1] - y ? y + side[1] : size[1];
    enum status st = STATUS_OK;
    while (y < end && st == STATUS_OK) {
        uint32_t rows = end - y;
        const uint64_t row = (uint64_t)width * count;
        if (r->share && r->job->set.launch.tile[0] == 0 && row * rows > r->share) {
            const uint64_t groups = r->share / (row * group), cut = (groups ? groups : 1) * group;
            rows = cut < rows ? (uint32_t)cut : rows;
        }
        st = run_launch(r, x, y, width, rows, begin, count, err);
        y += rows;
    }
    return st;
}

/* The rectangle of pixels from (x, y) on, no larger than a tile, that hold as many samples as that
 * one and were not seen yet. */
static void alike(const struct run *r, bool *seen, uint32_t x, uint32_t y, uint32_t size[2])
{
    const uint32_t w = r->area[2], h = r->area[3];
    const int64_t *sums = r->film->sums;
    const uint32_t count = (uint32_t)sums[4 * ((size_t)y * w + x) + 3];
    size[0] = 0;
    for (size[1] = 0; size[1] < r->set.tile[1] && y + size[1] < h; size[1]++) {
        const size_t row = (size_t)(y + size[1]) * w + x;
        const uint32_t most = size[1] ? size[0] : r->set.tile[0];
        uint32_t n = 0;
        while (n < most && x + n < w && !seen[row + n] &&
               (uint32_t)sums[4 * (row + n) + 3] == count)
            n++;
        if (size[1] && n < size[0])
            return;
        size[0] = n;
        memset(seen + row, true, n);
    }
}

/* Gives every pixel of a resumed job as many samples as the one that holds most. */
static enum status run_missing(struct run *r, struct error *err)
{
    const uint32_t w = r->area[2], h = r->area[3];
    bool *seen = calloc((size_t)w * h, sizeof *seen);
    enum status st = seen ? STATUS_OK : error_msg(err, STATUS_MEMORY, "out of memory for pixels");
    for (uint32_t y = 0; y < h; y++) {
        for (uint32_t x = 0; st == STATUS_OK && x < w; x++) {
            uint32_t size[2], has = (uint32_t)r->film->sums[4 * ((size_t)y * w + x) + 3];
            if (seen[(size_t)y * w + x] || has == r->most)
                continue;
            alike(r, seen, x, y, size);
            while (has < r->most && st == STATUS_OK) {
                uint32_t count = run_batch(r, (uint64_t)size[0] * size[1], r->most - has);
                st = run_launch(r, x, y, size[0], size[1], r->job->sample_begin + has, count, err);
                has += count;
            }
        }
    }
    free(seen);
    return st;
}

static enum status run_all(struct run *r, struct error *err)
{
    assert(r->set.tile[0] > 0 && r->set.tile[1] > 0); /* settings_make */
    uint32_t tiles_x = (r->area[2] + r->set.tile[0] - 1) / r->set.tile[0];
    uint32_t tiles_y = (r->area[3] + r->set.tile[1] - 1) / r->set.tile[1], *order = NULL;
    if ((uint64_t)tiles_x * tiles_y > 1u << 24)
        return error_msg(err, STATUS_LIMIT, "%u x %u tiles are more than 2^24", tiles_x, tiles_y);
    enum status st = tiles_order(tiles_x * tiles_y, r->set.tile_order, &order, err);
    if (st || !order)
        return st;
    if (r->job->resumed)
        st = run_missing(r, err);
    for (uint32_t done = r->most; done < r->job->sample_count && st == STATUS_OK;) {
        uint32_t count =
            run_batch(r, (uint64_t)r->set.tile[0] * r->set.tile[1], r->job->sample_count - done);
        for (uint32_t i = 0; i < tiles_x * tiles_y && st == STATUS_OK; i++)
            st = run_tile(r, order[i], r->job->sample_begin + done, count, err);
        done += count;
    }
    free(order);
    return st;
}

/* Some drivers (PoCL, lazy loading on CUDA) finish compiling when a program is first launched, PoCL
 * for each shape of work-group again: that is no part of the render. The film comes back as
 * film_begin left it. */
static enum status run_first_launch(struct run *r, size_t pixels, bool poison, struct error *err)
{
    struct device *d = r->d;
    const uint32_t *wg = r->set.work_group;
    for (size_t i = 0; i < d->shape_count; i++)
        if (memcmp(d->shapes[i], wg, sizeof d->shapes[i]) == 0)
            return STATUS_OK;
    void *longer = realloc(d->shapes, (d->shape_count + 1) * sizeof *d->shapes);
    if (!longer)
        return error_msg(err, STATUS_MEMORY, "out of memory for a work-group's shape");
    d->shapes = longer;
    double start = clock_s();
    struct k_launch l = r->launch;
    l.tile_x = r->area[0];
    l.tile_y = r->area[1];
    l.tile_w = wg[0] < r->area[2] ? wg[0] : r->area[2];
    l.tile_h = wg[1] < r->area[3] ? wg[1] : r->area[3];
    l.sample_begin = r->job->sample_begin;
    l.sample_count = 1;
    double device_s;
    l = l.batch_slots ? batch_piece(&l) : l;
    enum status st = run_start(r, &l, err);
    if (st == STATUS_OK)
        st = d->api->finish(d->backend, &device_s, err);
    if (st == STATUS_OK)
        st = d->api->film_begin(d->backend, pixels, poison, err);
    if (st)
        return st;
    memcpy(d->shapes[d->shape_count++], wg, sizeof *d->shapes);
    r->times.first_launch_s += clock_s() - start;
    return STATUS_OK;
}

/* What a resumed job's film holds. */
static enum status run_resume(struct run *r, bool poison, struct error *err)
{
    struct error why = {0};
    if (poison || r->job->set.build.count_rays)
        return error_msg(err, STATUS_ARG, "a job that poisons or counts is not resumed");
    if (film_check_part(r->film, r->job->sample_count, &r->kept, &why) != STATUS_OK)
        return error_msg(err, STATUS_ARG, "the film is no part of the job: %.200s", why.msg);
    r->done = r->kept;
    for (size_t i = 0; i < (size_t)r->film->width * r->film->height; i++)
        if ((uint32_t)r->film->sums[4 * i + 3] > r->most)
            r->most = (uint32_t)r->film->sums[4 * i + 3];
    return STATUS_OK;
}

/* Film memory, all launches, and what they made, which *sums gets. */
static enum status run_render(struct run *r, bool poison, double start, struct error *err)
{
    struct device *d = r->d;
    const uint32_t slots = r->launch.batch_slots;
    const size_t room = r->pixels + r->behind + (slots ? batch_pixels(slots) : 0);
    enum status st = d->api->film_begin(d->backend, room, poison, err);
    if (st == STATUS_OK)
        st = run_first_launch(r, room, poison, err);
    const bool begun = st == STATUS_OK;
    r->times.stages = (struct stage_times){0};
    r->start = r->waited_at = clock_s();
    if (r->job->keeper)
        r->share = d->info.kind == DEVICE_GPU ? 1u << 30 : SHARE_LEAST;
    r->times.launch_setup_s = r->start - start - r->times.first_launch_s;
    if (st == STATUS_OK)
        st = run_all(r, err);
    double rendered = clock_s();
    r->times.render_s = rendered - r->start;
    if (st == STATUS_OK) {
        st = run_read(r, err);
    } else if (begun && (st == STATUS_CANCELLED || st == STATUS_TIMEOUT)) {
        double device_s; /* nothing may be under way while the film is read */
        if (d->api->finish(d->backend, &device_s, NULL) == STATUS_OK)
            (void)run_keep(r, true, NULL);
    }
    r->times.readback_s = clock_s() - rendered;
    return st;
}

/* The picture, made again as long as shaders ask. */
static enum status run_answered(struct run *r, bool poison, double start, struct error *err)
{
    const uint64_t done = r->done;
    enum status st;
    do {
        r->again = false;
        r->done = done;
        r->unwaited = r->times.launches = 0;
        st = run_render(r, poison, start, err);
    } while (st == STATUS_OK && r->again);
    return st;
}

enum status device_answer(struct device *d, const struct render_job *job, struct error *err)
{
    struct film film;
    struct render_job one = *job;
    uint32_t area[4];
    if (!d->layout.shaders.asks)
        return STATUS_OK;
    job_area(job, area);
    one.resumed = false;
    one.keeper = NULL;
    one.progress = NULL;
    enum status st = film_init(&film, area[2], area[3], d->exponent, err);
    if (st == STATUS_OK)
        st = device_render(d, &one, &film, false, NULL, err);
    film_free(&film);
    return st;
}

enum status device_render(struct device *d, const struct render_job *job, struct film *film,
                          bool poison, struct render_times *times, struct error *err)
{
    struct run r = {.d = d, .job = job, .film = film};
    if (!d || !job || !film)
        return error_msg(err, STATUS_ARG, "device_render needs a device, a job and a film");
    enum status st = device_job_check(d, job, err);
    if (st)
        return st;
    if (job->sample_count > 1 && d->layout.shaders.asks) { /* most that there is to ask */
        struct render_job one = *job;
        one.sample_count = 1;
        if ((st = device_answer(d, &one, err)))
            return st;
    }
    if (job->sample_count == 0 || job->sample_count > FILM_SAMPLES_MAX)
        return error_msg(err, STATUS_ARG, "%u samples a pixel: 1 to %u in one job",
                         job->sample_count, FILM_SAMPLES_MAX);
    job_area(job, r.area);
    if (film->width != r.area[2] || film->height != r.area[3] || film->exponent != d->exponent)
        return error_msg(
            err, STATUS_ARG, "the film is %ux%u with exponent %d; the job needs %ux%u with %d",
            film->width, film->height, film->exponent, r.area[2], r.area[3], d->exponent);
    double start = clock_s();
    st = settings_make(d, job, &r.set, err);
    if (st)
        return st;
    if (d->shape_count == 0) /* what was only requested is compiled now */
        r.times.first_launch_s = clock_s() - start;
    if (job->resumed && (st = run_resume(&r, poison, err)))
        return st;
    enum { PIXEL_WORDS = 8 };
    const size_t films = d->api->films ? d->api->films(d->backend) : 1;
    r.pixels = (size_t)job->width * job->height;
    r.tables = (d->layout.shaders.message_words + PIXEL_WORDS - 1) / PIXEL_WORDS;
    r.behind = r.tables;
    if (d->request.count_rays)
        r.behind += (tally_words(&d->layout) + PIXEL_WORDS - 1) / PIXEL_WORDS;
    r.launch = device_launch(d, job);
    r.launch.batch_behind = (uint32_t)r.tables;
    tally_place(&d->layout, &r.launch);
    r.launch.queues = d->model == MODEL_WAVEFRONT;
    if (d->request.staged)
        r.launch.batch_slots = batch_slots(&d->info, r.set.tile, r.set.batch, r.set.paths);
    r.work = (uint64_t)r.area[2] * r.area[3] * job->sample_count;
    r.times.device_s = -1;
    if (d->api->set_threads)
        d->api->set_threads(d->backend, job->set.launch.threads);
    r.sums = calloc((r.pixels + films * r.behind) * 4, sizeof *r.sums);
    if (!r.sums)
        return error_msg(err, STATUS_MEMORY, "out of memory for a film of %zu pixels", r.pixels);
    if (r.done < r.work) /* else all is there: zeros are added; counts begin at 0 */
        st = run_answered(&r, poison && !d->request.count_rays, start, err);
    counts_free(&d->counts);
    if (st == STATUS_OK && d->request.count_rays)
        st = run_counts(&r, films, err);
    if (st == STATUS_OK)
        run_add(&r, film->sums);
    free(r.sums);
    if (st == STATUS_OK && times) {
        r.times.bvh = d->layout.bvh;
        r.times.batch = r.set.batch;
        memcpy(r.times.work_group, r.set.work_group, sizeof r.times.work_group);
        memcpy(r.times.tile, r.set.tile, sizeof r.times.tile);
        *times = r.times;
    }
    return st;
}

/* ---- one sample ----------------------------------------------------------------------------- */

static void widen(double *out, const float *in, int n)
{
    for (int i = 0; i < n; i++)
        out[i] = (double)in[i];
}

static struct path_vertex vertex_read(const struct k_vertex *v)
{
    struct path_vertex p = {.k = v->k,
                            .event = v->event,
                            .primitive = v->primitive,
                            .material = v->material,
                            .media = v->media,
                            .t = (double)v->t,
                            .light = v->light,
                            .visible = v->visible,
                            .light_pdf_w = (double)v->light_pdf_w,
                            .pdf_w = (double)v->pdf_w};
    widen(p.origin, v->origin, 3);
    widen(p.direction, v->direction, 3);
    widen(p.P, v->P, 3);
    widen(p.Ng, v->Ng, 3);
    widen(p.Ns, v->Ns, 3);
    widen(p.uv, v->uv, 2);
    widen(p.beta, v->beta, 3);
    widen(p.emitted, v->emitted, 3);
    widen(p.light_wi, v->light_wi, 3);
    widen(p.direct, v->direct, 3);
    widen(p.wi, v->wi, 3);
    widen(p.weight, v->weight, 3);
    return p;
}

const char *device_row_owner(const struct device *d, uint32_t y)
{
    const char *owner = d->api->row_owner ? d->api->row_owner(d->backend, y) : NULL;
    return owner ? owner : d->info.id;
}

enum status device_trace(struct device *d, const struct render_job *job, uint32_t x, uint32_t y,
                         uint32_t sample, double L[3], struct path_vertex *vertices,
                         size_t capacity, size_t *count, struct error *err)
{
    static_assert(sizeof(struct k_vertex) == 4 * K_VERTEX_WORDS, "layout");
    if (!d || !job || (capacity && !vertices))
        return error_msg(err, STATUS_ARG,
                         "device_trace needs a device, a job and room for its vertices");
    enum status st = device_job_check(d, job, err);
    if (st)
        return st;
    if (x >= job->width || y >= job->height)
        return error_msg(err, STATUS_ARG, "pixel (%u, %u) is outside %ux%u", x, y, job->width,
                         job->height);
    struct render_job one = *job;
    one.sample_begin = sample;
    one.sample_count = 1;
    memcpy(one.crop, (uint32_t[4]){x, y, 1, 1}, sizeof one.crop);
    if ((st = device_answer(d, &one, err)))
        return st;
    struct k_launch l = device_launch(d, job);
    l.trace_x = x;
    l.trace_y = y;
    l.sample_begin = sample;
    l.sample_count = 1;
    l.trace_capacity = capacity < job->max_depth + 1u ? (uint32_t)capacity : job->max_depth + 1u;
    size_t words = K_TRACE_HEADER_WORDS + (size_t)K_VERTEX_WORDS * l.trace_capacity;
    uint32_t *out = calloc(words, 4), unused = 0;
    if (!out)
        return error_msg(err, STATUS_MEMORY, "out of memory for %zu vertices", capacity);
    st = d->api->run_words(d->backend, ENTRY_TRACE, &l, &unused, 1, out, words, 1, err);
    if (st == STATUS_OK)
        st = texture_cache_fault(d->layout.cache, err);
    if (st == STATUS_OK) {
        float rgb[3];
        memcpy(rgb, out, sizeof rgb);
        if (L)
            widen(L, rgb, 3);
        size_t n = out[3] < l.trace_capacity ? out[3] : l.trace_capacity;
        for (size_t i = 0; i < n; i++) {
            struct k_vertex v;
            memcpy(&v, out + K_TRACE_HEADER_WORDS + K_VERTEX_WORDS * i, sizeof v);
            vertices[i] = vertex_read(&v);
        }
        if (count)
            *count = n;
    }
    free(out);
    return st;
}

/* ---- probes --------------------------------------------------------------------------------- */

const struct probe_shape probe_shapes[PROBE_COUNT] = {
    [PROBE_RNG] = {"rng", 6, 4},
    [PROBE_MATH] = {"math", 3, 1},
    [PROBE_HIT] = {"hit", 8, 5},
    [PROBE_BSDF_SAMPLE] = {"bsdf-sample", 10, 9},
    [PROBE_BSDF_EVAL] = {"bsdf-eval", 9, 4},
    [PROBE_LIGHT] = {"light", 9, 10},
    [PROBE_TEXTURE] = {"texture", 3, 3},
    [PROBE_ENVIRONMENT] = {"environment", 3, 4},
};

/* First words name a function, a material or a texture: they must exist. */
static enum status probe_check(const struct device *d, enum probe probe, const uint32_t *in,
                               size_t rows, struct error *err)
{
    uint32_t limit = probe == PROBE_MATH ? PROBE_FUNCTION_COUNT
                     : probe == PROBE_BSDF_SAMPLE || probe == PROBE_BSDF_EVAL
                         ? d->layout.material_count
                     : probe == PROBE_TEXTURE ? d->layout.texture_count
                                              : UINT32_MAX;
    if (!d->built)
        return error_msg(err, STATUS_ARG, "%s has no kernel: device_build comes first", d->info.id);
    if (probe > PROBE_MATH && !d->loaded)
        return error_msg(err, STATUS_ARG, "%s has no scene: device_load comes first", d->info.id);
    if (probe == PROBE_LIGHT && d->layout.launch.p_env == 0.0f && d->layout.launch.light_count == 0)
        return STATUS_OK;
    for (size_t i = 0; limit != UINT32_MAX && i < rows; i++)
        if (in[i * probe_shapes[probe].in_words] >= limit)
            return error_msg(err, STATUS_ARG, "row %zu of probe %s names number %u of %u", i,
                             probe_shapes[probe].name, in[i * probe_shapes[probe].in_words], limit);
    return STATUS_OK;
}

/* Rows go to the device with one more behind them, which is none of its business. */
static enum status probe_guarded(struct device *d, enum kernel_entry entry,
                                 const struct k_launch *l, const struct probe_shape *shape,
                                 const uint32_t *in, uint32_t *out, struct error *err)
{
    const uint32_t mark = 0x9e3779b9;
    const size_t rows = l->rows, words = rows * shape->out_words;
    uint32_t *room = malloc((words + shape->out_words) * sizeof *room);
    if (!room)
        return error_msg(err, STATUS_MEMORY, "out of memory for %zu rows", rows);
    memcpy(room, out, words * sizeof *room);
    for (uint32_t i = 0; i < shape->out_words; i++)
        room[words + i] = mark;
    enum status st = d->api->run_words(d->backend, entry, l, in, rows * shape->in_words, room,
                                       words + shape->out_words, rows, err);
    for (uint32_t i = 0; st == STATUS_OK && i < shape->out_words; i++)
        if (room[words + i] != mark)
            st = error_msg(err, STATUS_MISMATCH,
                           "%s was asked for %zu rows of probe %s, and wrote word %" PRIu32
                           " of the row behind them",
                           d->info.id, rows, shape->name, i);
    if (st == STATUS_OK)
        memcpy(out, room, words * sizeof *room);
    free(room);
    return st;
}

enum status device_probe(struct device *d, enum probe probe, const uint32_t *in, size_t rows,
                         uint32_t *out, struct error *err)
{
    if (!d || !in || !out || probe < 0 || probe >= PROBE_COUNT || rows > UINT32_MAX / 16)
        return error_msg(err, STATUS_ARG,
                         "device_probe needs a device, a probe, rows and room for what comes out");
    enum status st = probe_check(d, probe, in, rows, err);
    if (st || rows == 0)
        return st;
    struct k_launch l = d->layout.launch;
    l.probe = (uint32_t)probe;
    l.rows = (uint32_t)rows;
    const enum kernel_entry entry = probe <= PROBE_MATH  ? ENTRY_ARITHMETIC
                                    : probe == PROBE_HIT ? ENTRY_HIT
                                                         : ENTRY_PROBE;
    TRY(probe_guarded(d, entry, &l, &probe_shapes[probe], in, out, err));
    return texture_cache_fault(d->layout.cache, err);
}
