/* SPDX-License-Identifier: Apache-2.0 */
/* Running a group on two engines and comparing what they give. */
#include "shader_compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Runs with builtins moved within their bounds; the second number when the first leaves doubt. */
enum { FEW_RUNS = 12, MANY_RUNS = 96 };

/* ---- points ---------------------------------------------------------------------------------- */

struct stream {
    uint32_t counter[4], word[4];
    unsigned left;
};

static double next_number(struct stream *s, double low, double high)
{
    static const uint32_t key[2] = {0x15090407, 0x5ade};
    if (!s->left) {
        philox4x32(s->counter, key, s->word);
        s->counter[0]++;
        s->left = 4;
    }
    return low + (high - low) * u01(s->word[--s->left]);
}

static void random_vector(struct stream *s, double size, float out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = (float)next_number(s, -size, size);
}

static void random_dual3(struct stream *s, double size, struct asl_dual3 *out)
{
    random_vector(s, size, out->v);
    random_vector(s, 0.125, out->dx);
    random_vector(s, 0.125, out->dy);
}

static void random_point(struct stream *s, struct asl_globals *g)
{
    *g = (struct asl_globals){0};
    random_dual3(s, 4, &g->P);
    random_dual3(s, 1, &g->I);
    random_dual3(s, 1, &g->N);
    random_dual3(s, 4, &g->Ps);
    random_vector(s, 1, g->Ng);
    random_vector(s, 2, g->dPdu);
    random_vector(s, 2, g->dPdv);
    random_vector(s, 1, g->dPdtime);
    g->u = (struct asl_dual){(float)next_number(s, -2, 3), (float)next_number(s, -0.1, 0.1),
                             (float)next_number(s, -0.1, 0.1)};
    g->v = (struct asl_dual){(float)next_number(s, -2, 3), (float)next_number(s, -0.1, 0.1),
                             (float)next_number(s, -0.1, 0.1)};
    g->time = (float)next_number(s, 0, 2);
    g->dtime = (float)next_number(s, 0, 0.1);
    g->surfacearea = (float)next_number(s, 0.5, 3);
    g->backfacing = next_number(s, 0, 1) < 0.5;
    g->flip_handedness = next_number(s, 0, 1) < 0.5;
    g->raytype = 1u << (unsigned)next_number(s, 0, 7.99);
}

static void special_point(struct stream *s, uint32_t index, struct asl_globals *g)
{
    static const float values[][2] = {
        {NAN, INFINITY}, {-0.0f, NAN}, {-INFINITY, 0.25f}, {1e38f, -0.0f}};
    random_point(s, g);
    g->u.v = values[index % 4][0];
    g->v.v = values[index % 4][1];
    g->P.v[index % 3] = values[index % 4][1];
    g->N.v[(index + 1) % 3] = values[index % 4][0];
}

enum { SPECIAL_POINTS = 4 };

enum status shader_points(struct arena *a, uint32_t side, uint32_t random, bool special,
                          struct asl_globals **points, size_t *count, struct error *err)
{
    const struct shade_grid grid = {
        .width = side, .height = side, .raytype = asl_raytype_bit("camera")};
    size_t n = (size_t)side * side;
    struct asl_globals *p = ARENA_ARRAY(a, struct asl_globals, n + random + SPECIAL_POINTS);
    struct stream s = {0};
    if (!p)
        return error_msg(err, STATUS_MEMORY, "out of memory for %zu points", n + random);
    for (size_t i = 0; i < n; i++)
        shade_grid_globals(&grid, i, &p[i]);
    for (size_t i = 0; i < random; i++)
        random_point(&s, &p[n + i]);
    for (uint32_t i = 0; special && i < SPECIAL_POINTS; i++)
        special_point(&s, i, &p[n + random + i]);
    *points = p;
    *count = n + random + (special ? SPECIAL_POINTS : 0);
    return STATUS_OK;
}

void shader_world(struct shade_options *o)
{
    static const struct shade_userdata data[] = {{"ud_float", 1, {0.625f}},
                                                 {"ud_color", 3, {0.25f, -1.5f, 3}}};
    static const struct shade_space spaces[] = {
        {"world", {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}},
        {"object", {2, 0, 0, 0, 0, 0.5f, 0, 0, 0.25f, 0, 2, 0, 1, 2, 3, 1}},
        {"shader", {0, 1, 0, 0, -1, 0, 0, 0, 0, 0, 1, 0, 0.5f, 0, 0, 1}}};
    o->userdata = data;
    o->userdata_count = sizeof data / sizeof *data;
    o->spaces = spaces;
    o->space_count = sizeof spaces / sizeof *spaces;
}

/* ---- running --------------------------------------------------------------------------------- */

struct points {
    const struct asl_globals *g;
    size_t count;
};

static enum status run(const struct shader_file *f, const struct shader_setting *s,
                       uint32_t perturb, struct points p, struct shade_result *out,
                       struct shade_info *info, struct error *err)
{
    struct shade_options o = {.outputs = s->all_layers ? f->all : f->last,
                              .mode = s->mode,
                              .level = s->level,
                              .bake = s->bake,
                              .fault = s->fault,
                              .threads = 1,
                              .perturb = perturb,
                              .step_budget = 300000,
                              .keep_going = strcmp(s->engine, "interp") == 0};
    struct shade_points points = {.globals = p.g, .count = p.count};
    struct shade *shade = NULL;
    shader_world(&o);
    enum status st = shade_open(s->engine, f->group, &o, &shade, err);
    if (st == STATUS_OK)
        st = shade_run(shade, &points, out, err);
    if (st == STATUS_OK && info)
        *info = *shade_describe(shade);
    shade_close(shade);
    return st;
}

/* Engines that run the interpreter's own builtins must give its bits. */
static bool is_exact(const char *engine)
{
    return strcmp(engine, "interp") == 0 || strcmp(engine, "ir") == 0;
}

/* ---- comparing words ------------------------------------------------------------------------- */

static float as_float(uint32_t word)
{
    float f;
    memcpy(&f, &word, sizeof f);
    return f;
}

static bool is_text(enum asl_base scalar) { return scalar == ASL_STRING || scalar == ASL_CLOSURE; }

struct word {
    uint32_t bits;
    const char *text;
};

static struct word word_at(const struct shade_result *r, size_t output, size_t point, size_t slot)
{
    const struct shade_output *o = &r->outputs[output];
    struct word w = {.bits = o->words[point * o->slots + slot], .text = ""};
    if (is_text(asl_type_scalar(o->type, slot)) && o->ran[point] && w.bits < r->string_count)
        w.text = r->strings[w.bits];
    return w;
}

static bool same_word(enum asl_base scalar, struct word a, struct word b)
{
    if (is_text(scalar))
        return strcmp(a.text, b.text) == 0;
    if (a.bits == b.bits)
        return true;
    return scalar == ASL_FLOAT && isnan(as_float(a.bits)) && isnan(as_float(b.bits));
}

/* -0 for 0; in the text of a closure, too. */
static bool only_sign_of_zero(enum asl_base scalar, struct word a, struct word b)
{
    if (scalar != ASL_CLOSURE)
        return scalar == ASL_FLOAT && as_float(a.bits) == 0 && as_float(b.bits) == 0;
    const char *p = a.text, *q = b.text;
    for (; *p || *q; p++, q++) {
        p += p[0] == '-' && p[1] == '0' && p[2] != '.';
        q += q[0] == '-' && q[1] == '0' && q[2] != '.';
        if (*p != *q)
            return false;
    }
    return true;
}

static void show_word(enum asl_base scalar, struct word w, char *buf, size_t size)
{
    if (is_text(scalar))
        (void)snprintf(buf, size, "\"%.120s\"", w.text);
    else if (scalar == ASL_INT)
        (void)snprintf(buf, size, "%d (0x%08x)", (int32_t)w.bits, w.bits);
    else
        (void)snprintf(buf, size, "%.9g (0x%08x)", (double)as_float(w.bits), w.bits);
}

/* ---- what the bounds of builtins allow ------------------------------------------------------- */

struct cloud { /* runs of the interpreter with builtins moved */
    struct shade_result *run;
    size_t count;
};

/* Values of all runs at a place: does the found one lie among them? Three times their spread about
 * their middle: 12 (96) random signs reach the ends of what the bounds allow only now and then.
 * `share` of the value besides: a formula's result that is a whole number is not moved. */
static bool cloud_allows(const struct cloud *c, const struct shade_result *want, double share,
                         size_t output, size_t point, size_t slot, struct word found)
{
    const struct shade_output *o = &want->outputs[output];
    enum asl_base scalar = asl_type_scalar(o->type, slot);
    struct word w = word_at(want, output, point, slot);
    double low = (double)as_float(w.bits), high = low;
    if (scalar == ASL_INT)
        low = high = (int32_t)w.bits;
    for (size_t i = 0; i < c->count; i++) {
        struct word x = word_at(&c->run[i], output, point, slot);
        if (same_word(scalar, x, found))
            return true;
        double v = scalar == ASL_INT ? (int32_t)x.bits : (double)as_float(x.bits);
        low = fmin(low, v);
        high = fmax(high, v);
    }
    double room = high - low + (scalar == ASL_FLOAT ? share * fmax(fabs(low), fabs(high)) : 0);
    if (is_text(scalar) || !(room > 0))
        return false;
    double v = scalar == ASL_INT ? (int32_t)found.bits : (double)as_float(found.bits);
    return v >= low - room && v <= high + room;
}

static void cloud_free(struct cloud *c)
{
    for (size_t i = 0; i < c->count; i++)
        shade_result_free(&c->run[i]);
    free(c->run);
    *c = (struct cloud){0};
}

static enum status cloud_fill(struct cloud *c, const struct shader_file *f,
                              const struct shader_setting *s, struct points p, size_t count,
                              struct error *err)
{
    struct shader_setting reference = *s;
    reference.engine = "interp";
    reference.fault = NULL;
    struct shade_result *more = realloc(c->run, count * sizeof *more);
    if (!more)
        return error_msg(err, STATUS_MEMORY, "out of memory for %zu runs", count);
    c->run = more;
    enum status st = STATUS_OK;
    for (; st == STATUS_OK && c->count < count; c->count += st == STATUS_OK)
        st = run(f, &reference, (uint32_t)c->count + 1, p, &c->run[c->count], NULL, err);
    return st;
}

/* ---- messages -------------------------------------------------------------------------------- */

/* Past the sign of a printed zero. */
static const char *past_sign(const char *s)
{
    char *end = NULL;
    return *s == '-' && (s[1] == '0' || s[1] == '.') && strtod(s, &end) == 0 ? s + 1 : s;
}

static bool same_but_zeros(const char *a, const char *b)
{
    for (;; a++, b++) {
        a = past_sign(a);
        b = past_sign(b);
        if (*a != *b || !*a)
            return *a == *b;
    }
}

/* In mode fast a zero may have either sign. */
static bool same_message(const struct shade_message *a, const struct shade_message *b,
                         enum math_mode mode)
{
    bool same =
        mode == MODE_FAST ? same_but_zeros(a->text, b->text) : strcmp(a->text, b->text) == 0;
    return same && a->point == b->point && a->kind == b->kind && strcmp(a->to, b->to) == 0;
}

/* The first index at which the lists differ; SIZE_MAX when they do not. */
static size_t messages_differ(const struct shade_result *a, const struct shade_result *b,
                              enum math_mode mode)
{
    size_t n = a->message_count < b->message_count ? a->message_count : b->message_count;
    for (size_t i = 0; i < n; i++)
        if (!same_message(&a->messages[i], &b->messages[i], mode))
            return i;
    return a->message_count == b->message_count ? SIZE_MAX : n;
}

static void show_message(const struct shade_result *r, size_t i, char *buf, size_t size)
{
    static const char *const kinds[] = {"printf", "fprintf", "warning", "error"};
    if (i >= r->message_count)
        (void)snprintf(buf, size, "nothing");
    else
        (void)snprintf(buf, size, "%s \"%.120s\"", kinds[r->messages[i].kind], r->messages[i].text);
}

/* ---- differences ----------------------------------------------------------------------------- */

struct judging {
    const struct shader_file *file;
    const struct shader_setting *setting;
    struct points points;
    const size_t *index; /* of the points in the caller's array */
    struct shade_result want, have;
    struct cloud cloud;
    struct shader_comparison *out;
};

static void note(struct judging *j, size_t point, const char *output)
{
    struct shader_difference *d = &j->out->first;
    const struct asl_globals *g = &j->points.g[point < j->points.count ? point : 0];
    j->out->different = true;
    d->point = j->index[point < j->points.count ? point : 0];
    (void)snprintf(d->output, sizeof d->output, "%s", output);
    (void)snprintf(d->text, sizeof d->text,
                   "point %zu (u %.9g, v %.9g, P %.9g %.9g %.9g), %s: %s gives %s, the interpreter "
                   "%s",
                   d->point, (double)g->u.v, (double)g->v.v, (double)g->P.v[0], (double)g->P.v[1],
                   (double)g->P.v[2], *output ? output : "messages", j->setting->engine, d->found,
                   d->expected);
}

static void note_value(struct judging *j, size_t output, size_t point, size_t slot)
{
    const struct shade_output *o = &j->want.outputs[output];
    enum asl_base scalar = asl_type_scalar(o->type, slot);
    struct shader_difference *d = &j->out->first;
    char name[96];
    show_word(scalar, word_at(&j->want, output, point, slot), d->expected, sizeof d->expected);
    show_word(scalar, word_at(&j->have, output, point, slot), d->found, sizeof d->found);
    (void)snprintf(name, sizeof name, o->slots > 1 ? "%.80s[%zu]" : "%.80s", o->name, slot);
    note(j, point, name);
}

/* true: allowed, or noted as the difference. */
static enum status judge_value(struct judging *j, size_t output, size_t point, size_t slot,
                               struct error *err)
{
    struct word found = word_at(&j->have, output, point, slot);
    enum asl_base scalar = asl_type_scalar(j->want.outputs[output].type, slot);
    if (j->setting->mode == MODE_FAST &&
        only_sign_of_zero(scalar, word_at(&j->want, output, point, slot), found))
        return STATUS_OK;
    if (!is_exact(j->setting->engine)) {
        for (size_t runs = FEW_RUNS; runs <= MANY_RUNS; runs *= MANY_RUNS / FEW_RUNS) {
            enum status st = cloud_fill(&j->cloud, j->file, j->setting, j->points, runs, err);
            if (st != STATUS_OK)
                return st;
            double share = j->setting->mode == MODE_STRICT ? 0 : 0x1p-21;
            if (cloud_allows(&j->cloud, &j->want, share, output, point, slot, found)) {
                j->out->moved++;
                return STATUS_OK;
            }
        }
    }
    note_value(j, output, point, slot);
    return STATUS_OK;
}

static enum status judge_outputs(struct judging *j, struct error *err)
{
    for (size_t k = 0; k < j->want.output_count; k++) {
        const struct shade_output *a = &j->want.outputs[k], *b = &j->have.outputs[k];
        for (size_t i = 0; i < j->points.count; i++) {
            if (a->ran[i] != b->ran[i]) {
                struct shader_difference *d = &j->out->first;
                (void)snprintf(d->expected, sizeof d->expected, "%s",
                               a->ran[i] ? "a layer that ran" : "a layer that did not run");
                (void)snprintf(d->found, sizeof d->found, "%s",
                               b->ran[i] ? "a layer that ran" : "a layer that did not run");
                note(j, i, a->name);
                return STATUS_OK;
            }
            for (size_t s = 0; s < a->slots; s++) {
                j->out->values++;
                if (same_word(asl_type_scalar(a->type, s), word_at(&j->want, k, i, s),
                              word_at(&j->have, k, i, s)))
                    continue;
                enum status st = judge_value(j, k, i, s, err);
                if (st != STATUS_OK || j->out->different)
                    return st;
            }
        }
    }
    return STATUS_OK;
}

static enum status judge_messages(struct judging *j, struct error *err)
{
    struct shader_difference *d = &j->out->first;
    size_t at = messages_differ(&j->want, &j->have, j->setting->mode);
    j->out->messages = j->want.message_count;
    if (at == SIZE_MAX)
        return STATUS_OK;
    if (!is_exact(j->setting->engine)) {
        enum status st = cloud_fill(&j->cloud, j->file, j->setting, j->points, FEW_RUNS, err);
        if (st != STATUS_OK)
            return st;
        for (size_t i = 0; i < j->cloud.count; i++)
            j->out->messages_open =
                j->out->messages_open ||
                messages_differ(&j->want, &j->cloud.run[i], j->setting->mode) != SIZE_MAX;
        if (j->out->messages_open)
            return STATUS_OK;
    }
    show_message(&j->want, at, d->expected, sizeof d->expected);
    show_message(&j->have, at, d->found, sizeof d->found);
    size_t point = at < j->want.message_count   ? j->want.messages[at].point
                   : at < j->have.message_count ? j->have.messages[at].point
                                                : 0;
    note(j, point, "");
    return STATUS_OK;
}

/* ---- which points ---------------------------------------------------------------------------- */

static bool is_unsure(const struct shade_result *r, size_t point)
{
    for (size_t k = 0; k < r->output_count; k++) {
        const char *dot = strrchr(r->outputs[k].name, '.');
        if (dot && strcmp(dot, ".unsure") == 0 && r->outputs[k].words[point])
            return true;
    }
    return false;
}

static bool is_failed(const struct shade_result *r, size_t point)
{
    for (size_t i = 0; i < r->failure_count; i++)
        if (r->failures[i].point == point)
            return true;
    return false;
}

/* Points at which the interpreter has an answer that the bounds do not leave open. */
static enum status choose_points(struct judging *j, struct points all, struct asl_globals *kept,
                                 size_t *index, struct error *err)
{
    struct shader_setting reference = {.engine = "interp",
                                       .all_layers = j->setting->all_layers || j->file->snapped};
    struct shade_result r = {0};
    enum status st = run(j->file, &reference, 0, all, &r, NULL, err);
    size_t n = 0, failed = 0;
    for (size_t i = 0; st == STATUS_OK && i < all.count; i++) {
        bool open = !is_exact(j->setting->engine) && is_unsure(&r, i);
        j->out->unsure += open;
        failed += is_failed(&r, i);
        if (open || is_failed(&r, i))
            continue;
        kept[n] = all.g[i];
        index[n++] = i;
    }
    if (st == STATUS_OK && n == 0 && failed)
        st = error_msg(err, STATUS_TIMEOUT, "%s: %s", j->file->name, r.failures[0].error.msg);
    j->points = (struct points){kept, n};
    j->index = index;
    shade_result_free(&r);
    return st;
}

static enum status compare(struct judging *j, struct points all, struct asl_globals *kept,
                           size_t *index, struct error *err)
{
    struct shade_info info = {0};
    struct shader_setting reference = *j->setting;
    reference.engine = "interp";
    enum status st = choose_points(j, all, kept, index, err);
    if (st != STATUS_OK || j->points.count == 0)
        return st;
    if ((st = run(j->file, &reference, 0, j->points, &j->want, NULL, err)) != STATUS_OK ||
        (st = run(j->file, j->setting, 0, j->points, &j->have, &info, err)) != STATUS_OK)
        return st;
    j->out->translate_s = info.translate_s;
    j->out->compile_s = info.compile_s;
    j->out->run_s = j->have.run_s;
    if (j->have.failure_count) {
        struct shader_difference *d = &j->out->first;
        (void)snprintf(d->expected, sizeof d->expected, "a result");
        (void)snprintf(d->found, sizeof d->found, "%.120s", j->have.failures[0].error.msg);
        note(j, j->have.failures[0].point, "the run");
        return STATUS_OK;
    }
    st = judge_outputs(j, err);
    return st == STATUS_OK && !j->out->different ? judge_messages(j, err) : st;
}

enum status shader_compare(const struct shader_file *f, const struct shader_setting *s,
                           const struct asl_globals *points, size_t count,
                           struct shader_comparison *out, struct error *err)
{
    struct judging j = {.file = f, .setting = s, .out = out};
    *out = (struct shader_comparison){0};
    struct shader_setting setting = *s;
    setting.all_layers = s->all_layers || f->snapped; /* `unsure` of every layer is looked at */
    j.setting = &setting;
    struct asl_globals *kept = malloc(count * sizeof *kept);
    size_t *index = malloc(count * sizeof *index);
    enum status st = kept && index ? compare(&j, (struct points){points, count}, kept, index, err)
                                   : error_msg(err, STATUS_MEMORY, "out of memory");
    cloud_free(&j.cloud);
    shade_result_free(&j.want);
    shade_result_free(&j.have);
    free(kept);
    free(index);
    return st;
}
