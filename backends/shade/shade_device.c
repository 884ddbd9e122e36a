/* SPDX-License-Identifier: Apache-2.0 */
/* shade_device.c: runs of emitted programs on devices: launches, results, what they wrote down. */
#include "shade_program.h"

#include <stdlib.h>
#include <string.h>

/* Points of one launch: the output of more is large for a device, and a watchdog may wait. */
enum { LAUNCH_POINTS = 1 << 20, LOG_WORDS = 1 << 12, MOST_QUESTIONS = 1 << 16 };

/* What a point of a launch was told, in the order of its questions. */
struct replies {
    uint32_t *words;
    uint32_t count, len, cap;
};

struct device_run {
    struct shade_asker asker; /* the point that speaks */
    struct asl_globals globals;
    struct shade_program *program;
    struct shade_input input;
    struct shade_result *out;
    struct asl_host *host;
    struct shade_unit unit;   /* all points */
    uint32_t *rows, *records; /* of a launch; records: log_words */
    uint32_t log_words;
    uint32_t *args; /* the input's, then the rows of a launch's points, then replies to them */
    size_t arg_cap;
    struct replies *replies; /* by point of a launch, the longest's */
    size_t reply_count;
};

static void on_message(void *ctx, enum asl_message kind, const char *to, const char *text)
{
    struct device_run *r = ctx;
    shade_log_message(&r->unit.log, r->asker.point, kind, to, text,
                      r->asker.shade->opt.error_repeats);
}

/* ---- what points wrote down ------------------------------------------------------------------ */

struct record {
    uint32_t point, at;
};

static int record_order(const void *a, const void *b)
{
    const struct record *x = a, *y = b;
    if (x->point != y->point)
        return x->point < y->point ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* The records of a launch whose first point is `first`, as the host says them. */
static enum status records_say(struct device_run *r, size_t first, struct error *err)
{
    const uint32_t *log = r->records;
    size_t used = log[0], n = 0;
    for (size_t at = 1; at <= used; at += log[at])
        n++;
    struct record *list = malloc((n + 1) * sizeof *list);
    enum { RESULTS = 64 }; /* nobody reads them */
    uint32_t *io = NULL, most = 0;
    n = 0;
    for (size_t at = 1; list && at <= used; at += log[at]) {
        list[n++] = (struct record){log[at + 1], (uint32_t)at};
        most = log[at] > most ? log[at] : most;
    }
    if (!list || !(io = malloc((most + RESULTS) * sizeof *io))) {
        free(list);
        return error_msg(err, STATUS_MEMORY, "out of memory");
    }
    qsort(list, n, sizeof *list, record_order);
    for (size_t i = 0; i < n; i++) {
        const uint32_t *words = log + list[i].at;
        size_t index = first + words[1];
        const struct asl_emitted_host *h = &r->program->emitted.hosts[words[2]];
        if (i == 0 || words[1] != list[i - 1].point) /* messages that layers set stay */
            asl_host_begin(r->host);
        shade_asker_set(&r->asker, index, &r->globals);
        memcpy(io, words + 3, (words[0] - 3) * sizeof *io);
        asl_host_call(r->host, 0, r->asker.globals, words[2], io, io + h->operands);
    }
    free(io);
    free(list);
    return STATUS_OK;
}

/* ---- what points ask ------------------------------------------------------------------------ */

static enum status reply_to(struct device_run *r, size_t first, const uint32_t *words,
                            struct error *err)
{
    const uint32_t call = words[2] & ~ASL_ASKED, n = r->program->emitted.hosts[call].reply;
    struct replies *p = &r->replies[words[1]];
    size_t point;
    if (p->count == MOST_QUESTIONS)
        return error_msg(err, STATUS_LIMIT,
                         "point %zu asks the host more than %d times of what this device lacks",
                         first + words[1], MOST_QUESTIONS);
    if (p->cap < p->len + n) {
        const uint32_t cap = 2 * (p->len + n);
        uint32_t *more = realloc(p->words, cap * sizeof *more);
        if (!more)
            return error_msg(err, STATUS_MEMORY, "out of memory");
        p->words = more;
        p->cap = cap;
    }
    shade_asker_set(&r->asker, first + words[1], &r->globals);
    asl_host_ask(r->host, r->asker.globals, call, words + 3, words[0] - 3, p->words + p->len);
    p->len += n;
    p->count++;
    return asl_host_failed(r->host, &point, err) ? err->code : STATUS_OK;
}

/* Makes room in the argument area. */
static enum status args_reserve(struct device_run *r, size_t words, struct error *err)
{
    if (words > UINT32_MAX)
        return error_msg(err, STATUS_LIMIT, "what shaders read passes 2^32 words");
    if (words <= r->arg_cap)
        return STATUS_OK;
    uint32_t *more = realloc(r->args, words * sizeof *more);
    if (!more)
        return error_msg(err, STATUS_MEMORY, "out of memory");
    r->args = more;
    r->arg_cap = words;
    return STATUS_OK;
}

/* Puts the replies to all points at word *at, and that in its place; *at: the end. */
static enum status replies_place(struct device_run *r, size_t count, size_t *at, struct error *err)
{
    const size_t table = *at;
    size_t words = table + count, to = words;
    for (size_t k = 0; k < count; k++)
        words += r->replies[k].count ? 1 + (size_t)r->replies[k].len : 0;
    enum status st = args_reserve(r, words, err);
    if (st != STATUS_OK)
        return st;
    r->args[r->input.rows + 1] = (uint32_t)table;
    for (size_t k = 0; k < count; k++) {
        const struct replies *p = &r->replies[k];
        r->args[table + k] = p->count ? (uint32_t)to : 0;
        if (!p->count)
            continue;
        r->args[to++] = p->count;
        memcpy(r->args + to, p->words, p->len * sizeof *p->words);
        to += p->len;
    }
    *at = words;
    return STATUS_OK;
}

/* Answers what the launch asked. *asked: it asked something, and must run again. */
static enum status questions_answer(struct device_run *r, size_t first, bool *asked,
                                    struct error *err)
{
    const uint32_t *log = r->records;
    enum status st = STATUS_OK;
    *asked = false;
    for (size_t at = 1; st == STATUS_OK && at <= log[0]; at += log[at])
        if (log[at + 2] & ASL_ASKED) {
            *asked = true;
            st = reply_to(r, first, log + at, err);
        }
    return st;
}

static void replies_forget(struct device_run *r, size_t count)
{
    for (size_t k = 0; k < count; k++)
        r->replies[k].count = r->replies[k].len = 0;
    r->args[r->input.rows + 1] = 0;
}

/* ---- outputs -------------------------------------------------------------------------------- */

static uint32_t output_word(struct device_run *r, enum asl_base scalar, uint32_t word)
{
    if (scalar == ASL_FLOAT || scalar == ASL_INT)
        return word;
    uint32_t at = (uint32_t)r->unit.strings.len;
    if (scalar == ASL_STRING)
        text_puts(&r->unit.strings, asl_host_text(r->host, word));
    else
        asl_closure_print(NULL, &r->unit.strings);
    text_append(&r->unit.strings, "", 1);
    return at;
}

static void rows_keep(struct device_run *r, size_t first, size_t count)
{
    size_t stride = r->program->emitted.out_words, at = 0;
    for (size_t k = 0; k < r->out->output_count; k++) {
        const struct shade_output *o = &r->out->outputs[k];
        memset(o->ran + first, 1, count);
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; j < o->slots; j++)
                o->words[(first + i) * o->slots + j] =
                    output_word(r, asl_type_scalar(o->type, j), r->rows[i * stride + at + j]);
        at += o->slots;
    }
}

/* ---- launches ------------------------------------------------------------------------------- */

static enum status log_make(struct device_run *r, uint32_t words, struct error *err)
{
    uint32_t *more = realloc(r->records, words * sizeof *more);
    if (!more)
        return error_msg(err, STATUS_MEMORY, "out of memory");
    r->records = more;
    r->log_words = words;
    return STATUS_OK;
}

/* What the points of a launch are told (asl_host_row); their words. */
static size_t rows_tell(struct device_run *r, size_t first, size_t count)
{
    const size_t words = r->program->emitted.row_words;
    for (size_t i = 0; words && i < count; i++) {
        shade_asker_set(&r->asker, first + i, &r->globals);
        asl_host_row(r->host, r->asker.globals, r->args + r->input.arg_words + i * words);
    }
    return count * words;
}

/* Runs it until its records fit and no point asks any more. */
static enum status launch_answered(struct device_run *r, size_t first, size_t count,
                                   struct shade_launch *k, struct shade_device_launch *l,
                                   shade_device_fn *launch, void *ctx, struct error *err)
{
    const size_t told = l->arg_words;
    bool asked = true;
    replies_forget(r, count);
    for (uint32_t turn = 0; asked;) {
        k->log_words = r->log_words;
        l->failed[0] = l->failed[1] = 0;
        memset(r->records, 0, r->log_words * sizeof *r->records);
        l->log = r->records;
        l->args = r->args;
        /* the first run's messages stay; later ones are for timing */
        l->iterations = 1;
        enum status st =
            cancel_requested ? error_msg(err, STATUS_CANCELLED, "stopped") : launch(ctx, l, err);
        if (st == STATUS_OK && r->records[0] >= r->log_words) {
            if (turn++ > 2)
                return error_msg(err, STATUS_INTERNAL, "a device wrote down more than it said");
            st = log_make(r, r->records[0] + 16, err);
            *l->seconds = 0;
        } else if (st == STATUS_OK) {
            turn = 0;
            l->arg_words = told;
            st = questions_answer(r, first, &asked, err);
            if (st == STATUS_OK && asked)
                st = replies_place(r, count, &l->arg_words, err);
        }
        if (st != STATUS_OK)
            return st;
    }
    return STATUS_OK;
}

static enum status launch_run(struct device_run *r, size_t first, size_t count,
                              shade_device_fn *launch, void *ctx, struct error *err)
{
    struct shade_launch k = r->input.launch;
    uint32_t failed[2];
    double seconds = 0;
    bool listed = r->input.points != NULL;
    k.first += (uint32_t)first;
    k.count = (uint32_t)count;
    struct shade_device_launch l = {.k = &k,
                                    .args = r->args,
                                    .arg_words = r->input.arg_words + rows_tell(r, first, count),
                                    .uniform_words = r->program->emitted.uniform_words,
                                    .grid = r->input.grid,
                                    .grid_floats = r->input.grid_floats,
                                    .points =
                                        listed ? r->input.points + first * SHADE_POINT_WORDS : NULL,
                                    .point_words = listed ? count * SHADE_POINT_WORDS : 0,
                                    .iterations = 1,
                                    .out = r->rows,
                                    .out_words = count * r->program->emitted.out_words,
                                    .failed = failed,
                                    .seconds = &seconds};
    enum status st = launch_answered(r, first, count, &k, &l, launch, ctx, err);
    if (st != STATUS_OK)
        return st;
    rows_keep(r, first, count);
    st = records_say(r, first, err);
    if (st == STATUS_OK && failed[0]) {
        struct shade_failure f;
        shade_program_failure(r->asker.shade, r->program, failed[0],
                              r->asker.points->first + first + failed[1], &f);
        text_append(&r->unit.failures, (const char *)&f, sizeof f);
    } else if (st == STATUS_OK && r->asker.points->iterations > 1) {
        uint32_t none[1] = {0};
        k.log_words = 1;
        l.log = none;
        l.iterations = r->asker.points->iterations - 1;
        st = launch(ctx, &l, err);
    }
    r->out->run_s += seconds;
    return st;
}

static enum status launches(struct device_run *r, shade_device_fn *launch, void *ctx,
                            struct error *err)
{
    size_t n = r->asker.points->count, most = n < LAUNCH_POINTS ? n : LAUNCH_POINTS;
    enum status st =
        args_reserve(r, r->input.arg_words + most * r->program->emitted.row_words, err);
    if (st != STATUS_OK)
        return st;
    r->rows = malloc((most * r->program->emitted.out_words + 1) * sizeof *r->rows);
    r->replies = calloc(most, sizeof *r->replies);
    if (!r->rows || !r->replies)
        return error_msg(err, STATUS_MEMORY, "out of memory");
    r->reply_count = most;
    memcpy(r->args, r->input.args, r->input.arg_words * sizeof *r->args);
    r->args[r->input.rows] = (uint32_t)r->input.arg_words;
    st = log_make(r, LOG_WORDS, err);
    for (size_t first = 0; st == STATUS_OK && first < n; first += most) {
        if (cancel_requested)
            return error_msg(err, STATUS_CANCELLED, "stopped");
        if (r->unit.failures.len && !r->asker.shade->opt.keep_going)
            break;
        st = launch_run(r, first, n - first < most ? n - first : most, launch, ctx, err);
    }
    return st;
}

enum status shade_device_run(struct shade *s, struct shade_program *p,
                             const struct shade_points *points, shade_device_fn *launch, void *ctx,
                             struct shade_result *out, struct error *err)
{
    struct device_run r = {.asker = {.shade = s, .points = points}, .program = p, .out = out};
    struct asl_context_options o = {.services = shade_services(&r.asker, on_message),
                                    .error_repeats = true}; /* the log looks at points */
    struct arena a = {0};
    enum status st = shade_input_make(s, p, points, &a, &r.input, err);
    if (st == STATUS_OK)
        st = asl_host_new(p->code, &p->emitted, &o, &r.host, err);
    if (st == STATUS_OK) {
        asl_host_answers(r.host, r.input.args + r.input.answers);
        st = launches(&r, launch, ctx, err);
    }
    if (st == STATUS_OK)
        st = shade_units_collect(&r.unit, 1, out->count, s->opt.error_repeats, out, err);
    asl_host_free(r.host);
    shade_units_free(&r.unit, 1);
    for (size_t k = 0; k < r.reply_count; k++)
        free(r.replies[k].words);
    free(r.replies);
    free(r.rows);
    free(r.args);
    free(r.records);
    arena_free(&a);
    return st;
}
