/* SPDX-License-Identifier: Apache-2.0 */
/* Level invariance: in strict mode the picture does not depend on how it is launched. */
#include "case.h"
#include "steps/offers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Scenes that between them use every material, textures, an environment map and a lens. */
static const char *const scenes[] = {"cornell", "glass", "textured", "hdri", "thin-lens"};
enum { SCENES = sizeof scenes / sizeof *scenes, WIDTH = 41, SPP = 5 };

/* One way to launch a job. */
struct variant {
    char text[96];
    struct render_job job;
};
struct variants {
    struct variant *list;
    size_t count;
};

/* Compares each variant's bits with the plain job's. Variants that the device refuses are counted,
 * not compared. */
static enum status compare_variants(struct run_context *c, const struct render_job *plain,
                                    const struct variants *v, bool compiles, size_t *refused,
                                    bool *failed, struct error *err)
{
    struct film base, film;
    enum bvh_kind loaded = plain->set.load.bvh;
    enum exec_model built = plain->set.build.model;
    enum status s = judge_render(c->device, c->scene, plain, &base, err);
    if (s != STATUS_OK)
        return s;
    for (size_t i = 0; i < v->count && !*failed; i++) {
        struct bit_difference d;
        const struct render_job *job = &v->list[i].job;
        const bool laid = (job->set.build.model == MODEL_RESTRICTED) != (built == MODEL_RESTRICTED);
        if (job->set.load.bvh != loaded || laid) {
            device_model(c->device, job->set.build.model);
            s = device_load(c->device, c->scene, job->set.load.bvh, NULL, err);
            if (laid && s == STATUS_UNSUPPORTED) {
                ++*refused;
                s = STATUS_OK;
                continue;
            }
            if (s != STATUS_OK)
                break;
            loaded = job->set.load.bvh;
        }
        case_compiling(c, compiles);
        if (job->set.build.model != built)
            s = device_build(c->device, &job->set.build, NULL, err);
        built = s == STATUS_OK ? job->set.build.model : MODEL_COUNT;
        if (s == STATUS_OK)
            s = judge_render(c->device, c->scene, job, &film, err);
        case_compiling(c, false);
        if (s == STATUS_UNSUPPORTED) {
            ++*refused;
            s = STATUS_OK;
            continue;
        }
        if (s != STATUS_OK)
            break;
        c->compared += (uint64_t)job->width * job->height;
        if (judge_bits(&film, &base, &d)) {
            case_fail(c,
                      "%s, %s: %zu pixels differ from the default launch; first (%u,%u): %.9g, "
                      "default %.9g",
                      c->scene->name, v->list[i].text, d.pixels, d.x, d.y, d.a, d.b);
            *failed = true;
        }
        film_free(&film);
    }
    device_model(c->device, c->model); /* of what is loaded next */
    film_free(&base);
    return s;
}

typedef enum status (*variants_function)(struct run_context *c, const struct render_job *plain,
                                         struct variants *out, struct error *err);

static enum status work_groups(struct run_context *c, const struct render_job *plain,
                               struct variants *out, struct error *err);

/* All scenes of the list, the variants of `make` on each. */
static enum status over(struct run_context *c, const char *const *names, size_t count,
                        variants_function make, struct error *err)
{
    size_t refused = 0, tried = 0;
    bool failed = false;
    for (size_t i = 0; i < count && !failed; i++) {
        struct render_job job;
        struct variants v = {0};
        enum status s = case_library_scene(c, names[i], err);
        if (s != STATUS_OK || (s = case_ready(c, MODE_STRICT, BVH_AUTO, err)) != STATUS_OK)
            return s;
        judge_job(c->scene, WIDTH, SPP, MODE_STRICT, &job);
        if ((s = make(c, &job, &v, err)) != STATUS_OK ||
            (s = compare_variants(c, &job, &v, make == work_groups && i == 0, &refused, &failed,
                                  err)) != STATUS_OK)
            return s;
        tried += v.count;
    }
    if (failed)
        return STATUS_OK;
    return case_pass(c, "%zu launches of %zu scenes give the same bits; %zu refused by the device",
                     tried - refused, count, refused);
}

static enum status over_scenes(struct run_context *c, variants_function make, struct error *err)
{
    return over(c, scenes, SCENES, make, err);
}

static struct variant *variant_add(struct run_context *c, struct variants *v, size_t room,
                                   const struct render_job *plain)
{
    if (!v->list)
        v->list = ARENA_ARRAY(c->arena, struct variant, room);
    if (!v->list || v->count == room)
        return NULL;
    struct variant *n = &v->list[v->count++];
    n->job = *plain;
    return n;
}

static enum status no_room(struct error *err)
{
    return error_msg(err, STATUS_MEMORY, "out of memory for launch settings");
}

/* ---- work-groups --------------------------------------------------------------------- */

static enum status work_groups(struct run_context *c, const struct render_job *plain,
                               struct variants *out, struct error *err)
{
    const struct device_info *d = c->info;
    uint32_t most, x = d->max_work_group_axis[0], y = d->max_work_group_axis[1];
    TRY(device_group_most(c->device, &most, err));
    uint32_t longest_x = x < most ? x : most, longest_y = y < most ? y : most;
    const uint32_t shapes[][2] = {{1, 1},  {2, 1},  {1, 3},         {4, 4},        {5, 3},
                                  {8, 8},  {13, 1}, {16, 16},       {31, 2},       {1, 32},
                                  {64, 1}, {32, 8}, {longest_x, 1}, {1, longest_y}};
    enum { COUNT = sizeof shapes / sizeof *shapes };
    for (size_t i = 0; i < COUNT; i++) {
        if (!shapes[i][0] || !shapes[i][1] || shapes[i][0] > x || shapes[i][1] > y ||
            (uint64_t)shapes[i][0] * shapes[i][1] > most)
            continue;
        struct variant *v = variant_add(c, out, COUNT, plain);
        if (!v)
            return no_room(err);
        v->job.set.launch.work_group[0] = shapes[i][0];
        v->job.set.launch.work_group[1] = shapes[i][1];
        snprintf(v->text, sizeof v->text, "work-group %ux%u", shapes[i][0], shapes[i][1]);
    }
    return STATUS_OK;
}

static enum status invariance_work_group(struct run_context *c, struct error *err)
{
    return over_scenes(c, work_groups, err);
}

/* ---- tiles, batches, trees, threads -------------------------------------------------- */

static enum status tiles(struct run_context *c, const struct render_job *plain,
                         struct variants *out, struct error *err)
{
    const uint32_t sizes[][2] = {{1, 64},  {64, 1},     {7, 5},      {16, 16},
                                 {17, 31}, {WIDTH, 64}, {1000, 1000}};
    enum { COUNT = 3 * sizeof sizes / sizeof *sizes };
    for (uint32_t i = 0; i < COUNT; i++) {
        struct variant *v = variant_add(c, out, COUNT, plain);
        if (!v)
            return no_room(err);
        v->job.set.launch.tile[0] = sizes[i / 3][0];
        v->job.set.launch.tile[1] = sizes[i / 3][1];
        v->job.set.launch.tile_order = i % 3;
        snprintf(v->text, sizeof v->text, "tile %ux%u, order %u", sizes[i / 3][0], sizes[i / 3][1],
                 i % 3);
    }
    return STATUS_OK;
}

static enum status invariance_tile(struct run_context *c, struct error *err)
{
    return over_scenes(c, tiles, err);
}

static enum status batches(struct run_context *c, const struct render_job *plain,
                           struct variants *out, struct error *err)
{
    const uint32_t sizes[] = {1, 2, 3, 4, 5, 64};
    enum { COUNT = sizeof sizes / sizeof *sizes };
    for (uint32_t i = 0; i < COUNT; i++) {
        struct variant *v = variant_add(c, out, COUNT, plain);
        if (!v)
            return no_room(err);
        v->job.set.launch.batch = sizes[i];
        snprintf(v->text, sizeof v->text, "batch %u", sizes[i]);
    }
    return STATUS_OK;
}

static enum status invariance_batch(struct run_context *c, struct error *err)
{
    return over_scenes(c, batches, err);
}

static enum status trees(struct run_context *c, const struct render_job *plain,
                         struct variants *out, struct error *err)
{
    const enum bvh_kind kinds[] = {BVH_BINARY, BVH_WIDE8, BVH_COMPRESSED8, BVH_LINEAR};
    enum { COUNT = sizeof kinds / sizeof *kinds };
    for (uint32_t i = 0; i < COUNT; i++) {
        struct variant *v = variant_add(c, out, COUNT, plain);
        if (!v)
            return no_room(err);
        v->job.set.load.bvh = kinds[i];
        snprintf(v->text, sizeof v->text, "%s", bvh_kind_name(kinds[i]));
    }
    return STATUS_OK;
}

static enum status invariance_bvh(struct run_context *c, struct error *err)
{
    static const char *const on[] = {"cornell", "glass", "textured", "hdri", "thin-lens", "beads"};
    return over(c, on, sizeof on / sizeof *on, trees, err);
}

/* Models take programs of their own: two scenes, which between them have shaders, media, an
 * interface and a light sample of each kind, one whose paths may go abreast, and one for whose shaders
 * a stage shoots rays. */
static enum status invariance_model(struct run_context *c, struct error *err)
{
    static const char *const on[] = {"medium", "shaded-closures", "cornell", "../dense/occlusion"};
    /* Those whose stages are kernels of their own again with a batch of three rows. */
    enum {
        ON = sizeof on / sizeof *on,
        MODELS = MODEL_COUNT - MODEL_MEGAKERNEL,
        VARIANTS = MODELS + 2,
        ROWS = 3
    };
    size_t refused = 0;
    bool failed = false;
    for (size_t i = 0; i < ON && !failed; i++) {
        struct render_job job;
        struct variants v = {0};
        TRY(case_library_scene(c, on[i], err));
        TRY(case_ready(c, MODE_STRICT, BVH_AUTO, err));
        judge_job(c->scene, WIDTH, SPP, MODE_STRICT, &job);
        for (int model = MODEL_MEGAKERNEL; model < MODEL_COUNT; model++)
            for (uint32_t rows = 0; rows <= (model == MODEL_SEPARATE || model == MODEL_WAVEFRONT);
                 rows++) {
                struct variant *n = variant_add(c, &v, VARIANTS, &job);
                if (!n)
                    return no_room(err);
                n->job.set.build.model = (enum exec_model)model;
                n->job.set.launch.paths = rows * ROWS * WIDTH;
                snprintf(n->text, sizeof n->text, "model %s%s",
                         exec_model_name((enum exec_model)model), rows ? ", few paths" : "");
            }
        TRY(compare_variants(c, &job, &v, true, &refused, &failed, err));
    }
    if (failed)
        return STATUS_OK;
    if (refused == (size_t)ON * (VARIANTS - 1))
        return case_skip(c, "the device has the megakernel alone");
    return case_pass(c, "%d models of %d scenes give the same bits; %zu refused by the device",
                     MODELS, ON, refused);
}

static enum status thread_counts(struct run_context *c, const struct render_job *plain,
                                 struct variants *out, struct error *err)
{
    const unsigned counts[] = {1, 2, 3, 5, 8};
    enum { COUNT = sizeof counts / sizeof *counts };
    for (uint32_t i = 0; i < COUNT; i++) {
        struct variant *v = variant_add(c, out, COUNT, plain);
        if (!v)
            return no_room(err);
        v->job.set.launch.threads = counts[i];
        snprintf(v->text, sizeof v->text, "%u threads", counts[i]);
    }
    return STATUS_OK;
}

static enum status invariance_threads(struct run_context *c, struct error *err)
{
    if (!is_native(c->device_id) && strncmp(c->device_id, "faulty:", 7) != 0)
        return case_skip(c, "only the native device takes a number of threads");
    return over_scenes(c, thread_counts, err);
}

/* ---- splits and repeats -------------------------------------------------------------- */

/* Work on a scene's strict job; sets a FAIL or leaves the verdict alone. */
typedef enum status (*scene_check)(struct run_context *c, const struct render_job *job,
                                   bool *failed, struct error *err);

static enum status each_scene(struct run_context *c, scene_check check, const char *what,
                              struct error *err)
{
    bool failed = false;
    for (size_t i = 0; i < SCENES; i++) {
        struct render_job job;
        enum status s = case_library_scene(c, scenes[i], err);
        if (s != STATUS_OK || (s = case_ready(c, MODE_STRICT, BVH_AUTO, err)) != STATUS_OK)
            return s;
        judge_job(c->scene, WIDTH, SPP, MODE_STRICT, &job);
        if ((s = check(c, &job, &failed, err)) != STATUS_OK || failed)
            return s;
    }
    return case_pass(c, "%s, in %d scenes", what, SCENES);
}

static enum status films_must_match(struct run_context *c, const char *what, const struct film *a,
                                    const struct film *b, bool *failed)
{
    struct bit_difference d;
    c->compared += (uint64_t)a->width * a->height;
    if (judge_bits(a, b, &d)) {
        *failed = true;
        case_fail(c, "%s, %s: %zu pixels differ; first (%u,%u): %.9g and %.9g", c->scene->name,
                  what, d.pixels, d.x, d.y, d.a, d.b);
    }
    return STATUS_OK;
}

/* Samples [0, a) and [a, n) rendered apart and added, as two devices would share them. */
static enum status check_split(struct run_context *c, const struct render_job *job, bool *failed,
                               struct error *err)
{
    struct film whole;
    enum status s = judge_render(c->device, c->scene, job, &whole, err);
    for (uint32_t cut = 1; cut < job->sample_count && s == STATUS_OK && !*failed; cut++) {
        struct film first = {0}, second = {0};
        struct render_job part = *job;
        part.sample_count = cut;
        s = judge_render(c->device, c->scene, &part, &first, err);
        if (s == STATUS_OK) {
            part.sample_begin = cut;
            part.sample_count = job->sample_count - cut;
            s = judge_render(c->device, c->scene, &part, &second, err);
        }
        if (s == STATUS_OK)
            s = film_add(&second, &first, err);
        if (s == STATUS_OK)
            films_must_match(c, "samples split in two and merged", &second, &whole, failed);
        film_free(&first);
        film_free(&second);
    }
    film_free(&whole);
    return s;
}

static enum status invariance_split(struct run_context *c, struct error *err)
{
    return each_scene(c, check_split,
                      "samples split in two in every way and merged give the same bits", err);
}

/* The same job again, poisoned and not, after another job that leaves its film behind. */
static enum status check_repeat(struct run_context *c, const struct render_job *job, bool *failed,
                                struct error *err)
{
    struct film first, again = {0}, other = {0};
    struct render_job different = *job;
    enum status s = judge_render(c->device, c->scene, job, &first, err);
    if (s != STATUS_OK)
        return s;
    different.seed++;
    s = judge_render(c->device, c->scene, &different, &other, err);
    film_free(&other);
    for (int poison = 0; poison < 2 && s == STATUS_OK && !*failed; poison++) {
        s = film_init(&again, job->width, job->height, first.exponent, err);
        if (s == STATUS_OK)
            s = device_render(c->device, job, &again, poison, NULL, err);
        if (s == STATUS_OK)
            s = film_check(&again, job->sample_count, NULL, err);
        if (s == STATUS_OK)
            films_must_match(c, poison ? "rendered again, poisoned" : "rendered again", &again,
                             &first, failed);
        film_free(&again);
    }
    film_free(&first);
    return s;
}

/* These parts of the picture, {x, y, width, height} each, rendered by themselves. */
static enum status check_crops(struct run_context *c, const struct render_job *job,
                               const uint32_t (*crops)[4], size_t count, bool *failed,
                               struct error *err)
{
    const uint32_t w = job->width;
    struct film whole, part = {0}, expected = {0};
    enum status s = judge_render(c->device, c->scene, job, &whole, err);
    for (size_t i = 0; i < count && s == STATUS_OK && !*failed; i++) {
        const uint32_t *r = crops[i];
        struct render_job cropped = *job;
        memcpy(cropped.crop, r, sizeof cropped.crop);
        s = film_init(&expected, r[2], r[3], whole.exponent, err);
        for (uint32_t y = 0; s == STATUS_OK && y < r[3]; y++)
            memcpy(expected.sums + 4 * (size_t)y * r[2],
                   whole.sums + 4 * ((size_t)(r[1] + y) * w + r[0]), (size_t)r[2] * 32);
        if (s == STATUS_OK)
            s = judge_render(c->device, c->scene, &cropped, &part, err);
        if (s == STATUS_OK)
            films_must_match(c, "a crop and that part of the whole", &part, &expected, failed);
        film_free(&part);
        film_free(&expected);
    }
    film_free(&whole);
    return s;
}

/* Down to one pixel and one row. */
static enum status check_crop(struct run_context *c, const struct render_job *job, bool *failed,
                              struct error *err)
{
    const uint32_t w = job->width, h = job->height;
    const uint32_t crops[][4] = {{3, 5, w - 7, h - 6}, {w - 1, 0, 1, 1}, {0, h / 2, w, 1}};
    return check_crops(c, job, crops, sizeof crops / sizeof *crops, failed, err);
}

static enum status invariance_crop(struct run_context *c, struct error *err)
{
    return each_scene(c, check_crop, "a crop has the bits of that part of the whole", err);
}

/* A film of 8.1 MiB, which a driver may read in pieces, the last one short; and its quarters. */
static enum status invariance_large(struct run_context *c, struct error *err)
{
    enum { SIDE = 516, QUARTER = SIDE / 4 };
    static const uint32_t quarters[][4] = {{0, 0, SIDE, QUARTER},
                                           {0, QUARTER, SIDE, QUARTER},
                                           {0, 2 * QUARTER, SIDE, QUARTER},
                                           {0, 3 * QUARTER, SIDE, QUARTER}};
    struct render_job job;
    bool failed = false;
    TRY(case_library_scene(c, "cornell", err));
    TRY(case_ready(c, MODE_STRICT, BVH_AUTO, err));
    judge_job(c->scene, SIDE, 1, MODE_STRICT, &job);
    TRY(check_crops(c, &job, quarters, sizeof quarters / sizeof *quarters, &failed, err));
    return failed ? STATUS_OK : case_pass(c, "a film of 8.1 MiB has the bits of its quarters");
}

static enum status invariance_repeat(struct run_context *c, struct error *err)
{
    return each_scene(c, check_repeat, "a job rendered again gives the same bits", err);
}

/* ---- how texels are stored ----------------------------------------------------------- */

/* The nearest of IEEE 754 binary16, ties to even; |v| at most 65504. */
static uint16_t half_near(double v)
{
    int e = 0;
    double m = frexp(fabs(v), &e); /* in [1/2, 1) */
    unsigned bits = e < -13 ? (unsigned)nearbyint(ldexp(fabs(v), 24))
                            : (unsigned)nearbyint(ldexp(m, 11)) - 1024 + (unsigned)(e + 14) * 1024;
    return (uint16_t)(bits | (signbit(v) ? 0x8000U : 0U));
}

/* Bytes as the same values of 16 bits; anything as the nearest halves; and halves as float32. */
static bool store_texels(struct arena *a, struct image *im, enum texel_format format)
{
    size_t n = (size_t)im->width * im->height * im->channels;
    struct image to = *im;
    if (format == TEXEL_U16 && im->format != TEXEL_U8)
        return true;
    to.format = format;
    to.srgb = format == TEXEL_U16 && im->srgb;
    to.texels = arena_alloc(a, n, texel_size(format), 0);
    for (size_t i = 0; to.texels && i < n; i++) {
        double v = image_value(im, i, !(im->channels == 4 && i % 4 == 3));
        if (format == TEXEL_U16)
            ((uint16_t *)to.texels)[i] = (uint16_t)(257 * ((const uint8_t *)im->texels)[i]);
        else if (format == TEXEL_F16)
            ((uint16_t *)to.texels)[i] = half_near(v);
        else
            ((float *)to.texels)[i] = (float)v;
    }
    *im = to;
    return to.texels != NULL;
}

static enum status render_stored(struct run_context *c, const struct render_job *job,
                                 enum texel_format format, struct film *out, struct error *err)
{
    for (size_t i = 0; format != TEXEL_U8 && i < c->scene->texture_count; i++)
        if (!store_texels(&c->scene->arena, &c->scene->textures[i].image, format))
            return error_msg(err, STATUS_MEMORY, "out of memory for texels");
    enum status s = case_ready(c, MODE_STRICT, BVH_AUTO, err);
    return s == STATUS_OK ? judge_render(c->device, c->scene, job, out, err) : s;
}

/* Bytes, here for as they are, and 16 bits: v / 255 = 257 v / 65535. Then halves and float32. */
static enum status invariance_texels(struct run_context *c, struct error *err)
{
    static const char *const pictures[] = {"textured", "leaves", "textured-lamp"};
    static const enum texel_format pairs[][2] = {{TEXEL_U8, TEXEL_U16}, {TEXEL_F16, TEXEL_F32}};
    bool failed = false;
    for (size_t i = 0; i < 3 * 2 && !failed; i++) {
        struct film first = {0}, second = {0};
        struct render_job job;
        enum status s = case_library_scene(c, pictures[i / 2], err);
        if (s != STATUS_OK)
            return s;
        judge_job(c->scene, WIDTH, SPP, MODE_STRICT, &job);
        s = render_stored(c, &job, pairs[i % 2][0], &first, err);
        if (s == STATUS_OK)
            s = render_stored(c, &job, pairs[i % 2][1], &second, err);
        if (s == STATUS_OK)
            films_must_match(c, i % 2 ? "texels of half and of float" : "texels of 8 and 16 bits",
                             &first, &second, &failed);
        film_free(&first);
        film_free(&second);
        if (s != STATUS_OK)
            return s;
    }
    return failed ? STATUS_OK
                  : case_pass(c, "the same values stored in other ways give the same bits");
}

/* ---- shaders ------------------------------------------------------------------------- */

/* Parameters of shaders read from a buffer, and made constants of the program. */
static enum status invariance_bake(struct run_context *c, struct error *err)
{
    static const char *const pictures[] = {"shaded-principled", "shaded-closures", "shaded-lava"};
    bool failed = false;
    enum status s = case_device(c, err);
    for (int i = 0; i < 3 && s == STATUS_OK && !failed; i++) {
        struct film films[2] = {0};
        struct render_job job;
        s = case_library_scene(c, pictures[i], err);
        for (int bake = 0; bake < 2 && s == STATUS_OK; bake++) {
            judge_job(c->scene, WIDTH, SPP, MODE_STRICT, &job);
            device_bake(c->device, bake);
            s = case_ready(c, MODE_STRICT, BVH_AUTO, err);
            if (s == STATUS_OK)
                s = judge_render(c->device, c->scene, &job, &films[bake], err);
        }
        if (s == STATUS_OK)
            films_must_match(c, "parameters read and baked in", &films[0], &films[1], &failed);
        film_free(&films[0]);
        film_free(&films[1]);
    }
    if (c->device)
        device_bake(c->device, false);
    return s || failed
               ? s
               : case_pass(c,
                           "parameters of shaders baked in keep the bits of those that are read");
}

/* Every kind of message, formats and arguments of every type, an index out of range, what there is
 * none of (an image, spaces), what is asked of the host; one group in two materials. */
static const char talking[] =
    "{\"isophote\": 1, \"camera\": {\"origin\": [0, 0, 4], \"target\": [0, 0, 0], \"fov\": 20},"
    "\"film\": {\"width\": 16, \"height\": 16}, \"environment\": {\"radiance\": 0.5}, "
    "\"materials\":"
    "{\"left\": {\"type\": \"shader\", \"parameters\": {\"k\": 2}, \"source\": %s},"
    "\"right\": {\"type\": \"shader\", \"parameters\": {\"k\": 3}, \"source\": %s}}, \"objects\": ["
    "{\"type\": \"rectangle\", \"material\": \"left\", \"transform\": [{\"translate\": [-1, 0, "
    "0]}]},"
    "{\"type\": \"rectangle\", \"material\": \"right\", \"transform\": [{\"translate\": [1, 0, "
    "0]}]}]}";
static const char talker[] =
    "\"surface talk(int k = 1) {\\n"
    "  int a[4] = {1, 2, 3, 4}; float f[3] = {0.5, 1.5, k}; color c = color(k, 0.25, -1);\\n"
    "  string names[2] = {\\\"one\\\", \\\"two\\\"}; int high = v < 0.5;\\n"
    "  printf(\\\"%d of %s%%\\\\n\\\", k, names[high]);\\n"
    "  if (high) warning(\\\"%g %s\\\", 2.5, \\\"txt\\\"); else error(\\\"array %g, %.2f\\\", f, "
    "c);\\n"
    "  fprintf(\\\"x.log\\\", \\\"filed\\\");\\n"
    "  for (int i = 0; i < 3; i++) warning(\\\"turn %d\\\", i);\\n"
    "  c = texture(\\\"none.png\\\", u, v) + texture(\\\"none.png\\\", u, v, \\\"missingcolor\\\", "
    "c);\\n"
    "  c = transformc(\\\"none\\\", c) + color(transform(\\\"nowhere\\\", P));\\n"
    "  setmessage(\\\"k\\\", k); setmessage(\\\"k\\\", c); string none; int back = 0;\\n"
    "  getmessage(\\\"k\\\", none); getmessage(\\\"k\\\", back); warning(\\\"back %d\\\", back);\\n"
    "  string made = format(\\\"%s%d%d\\\", names[high], k, int(4 * u)), doc = "
    "\\\"<a><b/><b/></a>\\\";\\n"
    "  int r[2], at = regex_search(made, r, \\\"[0-9]+\\\") ? stoi(substr(made, r[0])) : -1;\\n"
    "  int node = dict_find(doc, \\\"//b\\\"), n = 0;\\n"
    "  while (node > 0) { n++; node = dict_next(node); }\\n"
    "  if (high && regex_match(made, \\\"(\\\")) n = 0;\\n"
    "  warning(\\\"%s ends with %d of %d\\\", made, at, n);\\n"
    "  Ci = a[k + 1] * 0.1 * diffuse(N);\\n"
    "}\"";

/* A statement that says `cells` different texts, 8 of them along v; cells / 8 divides 40. */
static const char crowd[] =
    "{\"isophote\": 1, \"camera\": {\"type\": \"orthographic\", \"origin\": [0, 0, 4], "
    "\"target\": [0, 0, 0], \"height\": 2}, \"film\": {\"width\": 40, \"height\": 40}, "
    "\"environment\": {\"radiance\": 0.5}, \"materials\": {\"crowd\": {\"type\": \"shader\", "
    "\"source\": \"surface crowd() { printf(\\\"cell %%d\\\", 100 + int(%d * u) * 8 + int(8 * v)); "
    "Ci = diffuse(N); }\"}}, \"objects\": [{\"type\": \"rectangle\", \"material\": \"crowd\"}]}";
enum { STATEMENT_KEEPS = 64 }; /* docs of device_messages */

/* What the scene's shaders say in a render, on the device and in the reference; frees scene. */
static enum status both_say(struct run_context *c, struct text *scene, struct text *said,
                            struct text *expected, struct error *err)
{
    struct film film = {0};
    struct reference_picture picture = {0};
    struct render_job job;
    TRY(case_materials(c, scene, err));
    TRY(case_reference(c, err));
    TRY(case_ready(c, MODE_STRICT, BVH_AUTO, err));
    judge_job(c->scene, c->scene->width, 4, MODE_STRICT, &job);
    const struct reference_job rj = reference_job_of(&job);
    enum status s = judge_render(c->device, c->scene, &job, &film, err);
    if (s == STATUS_OK)
        s = reference_render(c->reference, &rj, &picture, err);
    device_messages(c->device, said);
    reference_messages(c->reference, expected);
    if (s == STATUS_OK && (said->failed || expected->failed || !expected->data))
        s = error_msg(err, STATUS_INTERNAL, "the reference says nothing");
    if (!said->data)
        text_puts(said, "");
    film_free(&film);
    reference_picture_free(&picture);
    return s;
}

/* Are `said` STATEMENT_KEEPS different lines of `expected`, and that there were more? Both are
 * sorted. */
static bool said_some_of(const char *said, const char *expected)
{
    size_t kept = 0;
    for (; *said && *said != '('; said = strchr(said, '\n') + 1, kept++) {
        const size_t line = strcspn(said, "\n") + 1;
        while (*expected && strncmp(expected, said, line) != 0)
            expected = strchr(expected, '\n') + 1;
        if (!*expected)
            return false;
        expected = strchr(expected, '\n') + 1;
    }
    return kept == STATEMENT_KEEPS && strncmp(said, "(and more: ", 11) == 0;
}

static enum status invariance_messages(struct run_context *c, struct error *err)
{
    static const int columns[] = {0, STATEMENT_KEEPS / 8, STATEMENT_KEEPS / 8 + 2};
    enum status s = STATUS_OK;
    bool failed = false;
    for (size_t i = 0; i < sizeof columns / sizeof *columns && s == STATUS_OK && !failed; i++) {
        struct text scene = {0}, said = {0}, expected = {0};
        if (columns[i])
            text_printf(&scene, crowd, columns[i]);
        else
            text_printf(&scene, talking, talker, talker);
        s = both_say(c, &scene, &said, &expected, err);
        if (s == STATUS_OK) {
            c->compared += expected.len;
            failed = columns[i] > STATEMENT_KEEPS / 8 ? !said_some_of(said.data, expected.data)
                                                      : strcmp(said.data, expected.data) != 0;
        }
        if (failed)
            s = case_fail(c, "shaders say on the device:\n%sbut in the reference:\n%s", said.data,
                          expected.data);
        text_free(&said);
        text_free(&expected);
    }
    return s != STATUS_OK || failed
               ? s
               : case_pass(c, "what shaders print and report arrives, each text once; and that "
                              "there was more than is kept");
}

/* ---- independence -------------------------------------------------------------------- */

/* Four pictures a, b, c, d of other random numbers: a - b and c - d are symmetric about zero and
 * independent, so the product of their signs is a fair coin at each pixel: a sign test. */
static enum status check_coins(struct run_context *c, struct film f[4], const char *what,
                               bool *failed)
{
    double balance = 0, coins = 0;
    size_t pixels = (size_t)f[0].width * f[0].height;
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < i; k++)
            if (memcmp(f[i].sums, f[k].sums, pixels * 4 * sizeof *f[i].sums) == 0) {
                *failed = true;
                return case_fail(c, "%s: %s %d and %d give the same picture", c->scene->name, what,
                                 k, i);
            }
    for (size_t i = 0; i < pixels; i++) {
        int64_t x = f[0].sums[4 * i + 1] - f[1].sums[4 * i + 1];
        int64_t y = f[2].sums[4 * i + 1] - f[3].sums[4 * i + 1];
        if (x && y) {
            balance += (x > 0) == (y > 0) ? 1 : -1;
            coins++;
        }
    }
    c->compared += (uint64_t)coins;
    double z = coins > 0 ? balance / sqrt(coins) : 0;
    if (fabs(z) > 5) { /* 6e-7 */
        *failed = true;
        return case_fail(c, "%s: %s are correlated: %.0f coins, z = %.2f", c->scene->name, what,
                         coins, z);
    }
    return STATUS_OK;
}

static enum status check_seeds(struct run_context *c, const struct render_job *job, bool *failed,
                               struct error *err)
{
    static const uint64_t seeds[] = {0, 1, UINT64_C(1) << 32, UINT64_C(0x8000000000000001)};
    struct film f[4] = {0};
    enum status s = STATUS_OK;
    for (int round = 0; round < 2 && s == STATUS_OK && !*failed; round++) {
        for (uint32_t i = 0; i < 4 && s == STATUS_OK; i++) {
            struct render_job one = *job;
            one.sample_count = 1;
            if (round == 0)
                one.seed = seeds[i];
            else
                one.sample_begin = i;
            s = judge_render(c->device, c->scene, &one, &f[i], err);
        }
        if (s == STATUS_OK)
            check_coins(c, f, round == 0 ? "seeds" : "samples", failed);
        for (int i = 0; i < 4; i++)
            film_free(&f[i]);
    }
    return s;
}

static enum status invariance_seed(struct run_context *c, struct error *err)
{
    return each_scene(c, check_seeds, "seeds and samples are independent (sign test)", err);
}

static const struct case_row plain_rows[] = {
    {"invariance.launch.work-group",
     "strict: the same bits for any shape of work-group, 1x1 to the device's limit",
     invariance_work_group},
    {"invariance.launch.tile", "strict: the same bits for any launch tile and order",
     invariance_tile},
    {"invariance.launch.batch", "strict: the same bits for any number of samples a launch",
     invariance_batch},
    {"invariance.launch.bvh",
     "strict: the same bits with each acceleration structure, and with none", invariance_bvh},
    {"invariance.launch.model", "strict: the same bits however a path's stages are run",
     invariance_model},
    {"invariance.launch.threads", "strict: the same bits for any number of threads",
     invariance_threads},
    {"invariance.film.split", "strict: samples split over devices and merged give the same bits",
     invariance_split},
    {"invariance.film.crop", "strict: a part rendered by itself has the bits of the whole",
     invariance_crop},
    {"invariance.film.large", "strict: a film of several megabytes has the bits of its parts",
     invariance_large},
    {"invariance.film.repeat",
     "strict: a job rendered again gives the same bits, whatever was in memory", invariance_repeat},
    {"invariance.scene.texels",
     "strict: the same texels give the same bits, stored in 8 or 16 bits, as half or float",
     invariance_texels},
    {"invariance.shader.bake",
     "strict: parameters of shaders baked into the program give the bits of those it reads",
     invariance_bake},
    {"invariance.shader.messages",
     "what shaders print and report in a render is what they say in the reference",
     invariance_messages},
    {"invariance.random.seed", "pictures of other seeds and samples differ and are independent",
     invariance_seed},
};
const struct case_table invariance_cases = CASE_TABLE(plain_rows);
const struct case_table invariance_scene_cases = {NULL, 0};
