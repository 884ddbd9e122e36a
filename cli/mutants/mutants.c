/* SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"
#include "mutants_run.h"

#include <math.h>
#include <pthread.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

/* Of a mutant: each costs a whole budget, and the next would say no more. */
enum { HANGS_MOST = 3 };
static const double worker_s = 0.05;     /* what a process costs that runs a case */
static const double values_cost = 0.125; /* of a case that looks at values, not at a picture */
/* Only these run the library of shaders (the level's others run on no device); and
 * the machine code of mode strict alone. */
static const char with_shaders[] =
    "^(shader[.].*[.](device|mode-[a-z]+)$|shader[.]search|invariance|"
    "image[.](dense[.]|edges[.]|search[.]|[a-z]+[.]shaded-))";
static const char with_grids[] =
    "^(shader|invariance[.]shader)"; /* the library is compiled otherwise there */
static const char in_mode_strict[] = "^(image[.](strict|passes|dense|edges)|kernel[.]values)";

/* ---- which ---------------------------------------------------------------------------------- */

static bool matches(const regex_t *e, const char *name)
{
    return regexec(e, name, 0, NULL, 0) == 0;
}

static int listed_compare(const void *a, const void *b)
{
    return strcmp(((const struct listed *)a)->name, ((const struct listed *)b)->name);
}

static struct conform_options search_options(const struct mutants_run *r)
{
    struct conform_options o = r->o;
    o.list = o.filter = NULL;
    o.levels = NULL;
    o.level_count = 0;
    o.programs = o.random_scenes = 0;
    o.shard = o.shards = 0;
    o.searches = r->m->searches;
    o.random_seed = r->m->seed;
    return o;
}

/* The list's cases and those of the search, by which one is asked what. */
static enum status select_cases(struct mutants_run *r, const struct conform_case **cases,
                                const struct conform_case **searches, struct error *err)
{
    const struct conform_options search = search_options(r);
    size_t count = 0;
    TRY(conform_select(&r->arena, &r->o, cases, &r->listed_count, err));
    if (search.searches)
        TRY(conform_select(&r->arena, &search, searches, &count, err));
    r->case_count = r->listed_count + count;
    r->cases = ARENA_ARRAY(&r->arena, struct listed, r->case_count + 1);
    return r->cases ? STATUS_OK
                    : error_msg(err, STATUS_MEMORY, "out of memory for %zu cases", r->case_count);
}

struct groups {
    const regex_t *shaders, *strict, *grids;
};

static struct listed case_listed(const struct groups *g, const struct conform_case *c, bool search)
{
    return (struct listed){.name = c->name,
                           .search = search,
                           .with_shaders = matches(g->shaders, c->name),
                           .strict = matches(g->strict, c->name),
                           .grids = matches(g->grids, c->name),
                           .shader_level = strcmp(c->level, "shader") == 0};
}

static enum status list_cases(struct mutants_run *r, struct error *err)
{
    const struct conform_case *cases = NULL, *searches = NULL;
    regex_t shaders, strict, grids;
    TRY(select_cases(r, &cases, &searches, err));
    bool made = regcomp(&shaders, with_shaders, REG_EXTENDED | REG_NOSUB) == 0 &&
                regcomp(&grids, with_grids, REG_EXTENDED | REG_NOSUB) == 0 &&
                regcomp(&strict, in_mode_strict, REG_EXTENDED | REG_NOSUB) == 0;
    const struct groups g = {&shaders, &strict, &grids};
    for (size_t i = 0; made && i < r->listed_count; i++)
        r->cases[i] = case_listed(&g, &cases[i], false);
    for (size_t i = r->listed_count; made && searches && i < r->case_count; i++)
        r->cases[i] = case_listed(&g, &searches[i - r->listed_count], true);
    qsort(r->cases, r->case_count, sizeof *r->cases, listed_compare);
    regfree(&shaders);
    regfree(&strict);
    regfree(&grids);
    return made ? STATUS_OK : error_msg(err, STATUS_INTERNAL, "the groups of cases have no names");
}

static struct listed *listed_find(const struct mutants_run *r, const char *name)
{
    const struct listed key = {.name = name};
    return bsearch(&key, r->cases, r->case_count, sizeof *r->cases, listed_compare);
}

/* The numbers of the edits of the files that are asked for. */
static enum status list_edits(struct mutants_run *r, size_t *numbers, size_t *count,
                              struct error *err)
{
    const struct option_list *files = r->m->files;
    bool *met = ARENA_ARRAY(&r->arena, bool, files->count + 1);
    if (!met)
        return error_msg(err, STATUS_MEMORY, "out of memory for %zu files", files->count);
    *count = 0;
    for (size_t i = 0; i < r->all; i++) {
        struct mutant m;
        bool one = files->count == 0;
        if (!one)
            TRY(mutant_find(&r->arena, i, &m, err));
        for (size_t k = 0; k < files->count; k++)
            if (strcmp(files->items[k], m.file) == 0)
                one = met[k] = true;
        if (one)
            numbers[(*count)++] = i;
    }
    for (size_t k = 0; k < files->count; k++)
        if (!met[k])
            return error_msg(err, STATUS_ARG,
                             "no mutant is of %s: expected a file of the devices' text, such as "
                             "asl/noise.h",
                             files->items[k]);
    return STATUS_OK;
}

/* As many different numbers as are asked for, by the seed alone: the first of a shuffle. */
static enum status draw(struct mutants_run *r, struct error *err)
{
    size_t all = r->all, *order = ARENA_ARRAY(&r->arena, size_t, all + 1);
    if (!order)
        return error_msg(err, STATUS_MEMORY, "out of memory for %zu mutants", all);
    TRY(list_edits(r, order, &all, err));
    r->count = r->m->count < all ? r->m->count : all;
    r->subjects = ARENA_ARRAY(&r->arena, struct subject, r->count);
    r->by_number = ARENA_ARRAY(&r->arena, struct subject *, r->all);
    r->ids = ARENA_ARRAY(&r->arena, const char *, r->count + 1);
    r->plain.done = ARENA_ARRAY(&r->arena, bool, (r->count + 1) * (r->case_count + 1));
    float *due = ARENA_ARRAY(&r->arena, float, r->count * r->case_count + 1);
    if (!r->subjects || !r->by_number || !r->ids || !r->plain.done || !due)
        return error_msg(err, STATUS_MEMORY, "out of memory for %zu mutants", r->count);
    for (size_t i = 0; i < r->count; i++) {
        const uint32_t counter[4] = {(uint32_t)i, 0, 0, 0},
                       key[2] = {(uint32_t)r->m->seed, (uint32_t)(r->m->seed >> 32)};
        uint32_t word[4];
        philox4x32(counter, key, word);
        const size_t left = all > i ? all - i : 1;
        size_t k = i + (size_t)(((uint64_t)word[0] << 32 | word[1]) % left);
        size_t drawn = order[k];
        order[k] = order[i];
        struct subject *s = &r->subjects[i];
        s->number = drawn;
        s->id = arena_printf(&r->arena, "mutant:%zu", drawn);
        s->done = r->plain.done + (i + 1) * r->case_count;
        s->due_s = due + i * r->case_count;
        r->by_number[drawn] = s;
        if (!s->id)
            return error_msg(err, STATUS_MEMORY, "out of memory for %zu mutants", r->count);
        TRY(mutant_find(&r->arena, drawn, &s->edit, err));
    }
    return STATUS_OK;
}

/* By its id; NULL: none of this run. */
static struct subject *subject_of(struct mutants_run *r, const char *id)
{
    char *end = NULL;
    if (strcmp(id, r->plain.id) == 0)
        return &r->plain;
    if (strncmp(id, "mutant:", 7) != 0 || id[7] < '0' || id[7] > '9')
        return NULL;
    const unsigned long long k = strtoull(id + 7, &end, 10);
    return *end || k >= r->all ? NULL : r->by_number[k];
}

/* ---- what is kept --------------------------------------------------------------------------- */

static void keep(struct mutants_run *r, struct json_writer *w)
{
    json_end_object(w);
    if (!r->journal || r->lost.code)
        text_free(&w->out);
    else if (json_lines_add(r->journal, w, true, &r->lost) != STATUS_OK && !r->lost.code)
        r->lost.code = STATUS_IO;
}

static struct json_writer fact_begin(const struct subject *s)
{
    struct json_writer w = {0};
    json_begin_object(&w);
    json_key_string(&w, "mutant", s->id);
    return w;
}

static enum status head_make(struct mutants_run *r, struct error *err)
{
    const char *selection = NULL;
    char hash[33];
    struct arena *a = &r->arena;
    TRY(mutants_text_hash(hash, err));
    TRY(conform_selection(a, &r->o, &selection, err));
    const char *key = r->o.program ? r->o.program->key : "", *files = "";
    for (size_t i = 0; files && i < r->m->files->count; i++)
        files = arena_printf(a, "%s%s\"%s\"", files, i ? "," : "", r->m->files->items[i]);
    if (!files)
        return error_msg(err, STATUS_MEMORY, "out of memory for the journal");
    r->head = arena_printf(
        a,
        "{\"journal\":\"mutants\",\"version\":6,\"mutants\":%u,\"of\":[%s],\"seed\":\"%llu\","
        "\"searches\":%u,\"until_caught\":%s,"
        "\"text\":\"%s\",\"program\":\"%s\",\"selection\":%s}",
        (unsigned)r->m->count, files, (unsigned long long)r->m->seed, (unsigned)r->m->searches,
        r->m->until_caught ? "true" : "false", hash, key, selection);
    return r->head ? STATUS_OK : error_msg(err, STATUS_MEMORY, "out of memory for the journal");
}

/* Is it the first line of this run's journal? */
static enum status head_check(const struct mutants_run *r, const struct json_line *l,
                              struct error *err)
{
    if (l->size == strlen(r->head) - 1 && memcmp(l->text, r->head, l->size) == 0)
        return STATUS_OK;
    return error_set(err, STATUS_TYPE, (struct src_pos){r->m->journal, 1, 1},
                     "the journal of another run of mutants: program, text, seed, number or list "
                     "differ; leave --resume out to begin it anew");
}

static enum status head_write(struct mutants_run *r, struct error *err)
{
    struct json_writer w = {0};
    text_puts(&w.out, r->head);
    return json_lines_add(r->journal, &w, true, err);
}

/* ---- what the compiler says ----------------------------------------------------------------- */

static bool kernel_is_same(const struct subject *s)
{
    return s->code.same[MODE_STRICT] && s->code.same[MODE_DEVICE] && s->code.same[MODE_FAST];
}

static void class_by_code(struct subject *s)
{
    if (s->refused)
        s->class = CLASS_REFUSED;
    else if (s->class == CLASS_ALIVE && s->looked && kernel_is_same(s) && s->code.same_in_grids)
        s->class = s->code.built ? CLASS_EQUIVALENT : CLASS_UNBUILT;
    else if (s->class == CLASS_ALIVE && s->looked && s->code.commutes)
        s->class = CLASS_COMMUTES;
}

/* The compiler is asked in threads, and what it says is kept at once. */
struct questions {
    struct mutants_run *r;
    pthread_mutex_t lock;
    size_t answered;
    struct error error; /* the first */
};

static void answer_keep(struct mutants_run *r, struct subject *s)
{
    struct json_writer w = fact_begin(s);
    s->looked = true;
    s->refused = !s->code.compiles;
    json_key_bool(&w, "compiles", s->code.compiles);
    json_key_bool(&w, "built", s->code.built);
    json_key_bool(&w, "commutes", s->code.commutes);
    json_key(&w, "same");
    json_begin_array(&w);
    for (int mode = 0; mode < MODE_COUNT; mode++)
        json_bool(&w, s->code.same[mode]);
    json_end_array(&w);
    json_key_bool(&w, "grids", s->code.same_in_grids);
    class_by_code(s);
    keep(r, &w);
}

static void ask(void *ctx, size_t i, unsigned thread)
{
    struct questions *q = ctx;
    struct subject *s = &q->r->subjects[i];
    struct error e = {0};
    struct mutant_code code;
    (void)thread;
    if (cancel_requested || s->looked)
        return;
    const enum status st = mutant_look(s->number, &code, &e);
    pthread_mutex_lock(&q->lock);
    if (st == STATUS_OK) {
        s->code = code;
        answer_keep(q->r, s);
    } else if (st != STATUS_CANCELLED && !q->error.code) {
        q->error = e;
    }
    progress_show("compiling mutants", (double)++q->answered / (double)q->r->count, -1);
    pthread_mutex_unlock(&q->lock);
}

static enum status ask_all(struct mutants_run *r, struct error *err)
{
    struct questions q = {.r = r, .lock = PTHREAD_MUTEX_INITIALIZER};
    parallel_for(r->count, r->o.jobs ? r->o.jobs : 1, ask, &q);
    if (q.error.code) {
        *err = q.error;
        return err->code;
    }
    return cancel_requested ? error_msg(err, STATUS_CANCELLED, "interrupted") : STATUS_OK;
}

/* ---- what the cases say --------------------------------------------------------------------- */

static bool is_reached(const char *digits, size_t mark)
{
    const char c = mark / 4 < strlen(digits) ? digits[mark / 4] : 'f';
    const unsigned digit = c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a' + 10);
    return digit >> mark % 4 & 1;
}

/* Is what is edited in the program that the case runs, in a mode where it is other code? */
static bool may_hold(const struct subject *s, const struct listed *l)
{
    if ((!s->edit.of_kernel && !l->with_shaders) ||
        (l->shader_level && !(s->edit.of_library && l->with_shaders)))
        return false;
    if (s->looked && kernel_is_same(s) && !l->grids)
        return false;
    return !(s->looked && s->code.same[MODE_STRICT] && l->strict);
}

/* Does the case run what is edited? */
static bool may_run(const struct subject *s, const struct listed *l)
{
    return !l->skipped && (!l->reached || !s->edit.marked || is_reached(l->reached, s->edit.mark) ||
                           is_reached(l->reached, s->edit.twin_mark));
}

/* A case that a mutant can be asked, and what its answer is thought to cost. */
struct choice {
    const struct listed *l;
    double cost;
};

static int choice_compare(const void *a, const void *b)
{
    const struct choice *x = a, *y = b;
    if (x->cost != y->cost)
        return x->cost < y->cost ? -1 : 1;
    return strcmp(x->l->name, y->l->name);
}

/* Up to the second dot: image.strict. */
static size_t group_length(const char *name)
{
    const char *dot = strchr(name, '.');
    return dot ? (size_t)(dot - name) + 1 + strcspn(dot + 1, ".") : strlen(name);
}

/* Which of the cases before it in the list is of its group too? Itself, if none. */
static size_t group_of(const struct mutants_run *r, const struct listed *l)
{
    const size_t n = group_length(l->name);
    size_t i = (size_t)(l - r->cases);
    while (i > 0 && group_length(r->cases[i - 1].name) == n &&
           strncmp(r->cases[i - 1].name, l->name, n) == 0)
        i--;
    return i;
}

/* When a mutant is asked what: of the cases that can notice, the quickest first. Each of a group
 * makes the next of it worth less: they look at the same things. Those of the shaders' level are
 * taken for quicker than they are: they compare what the library's functions give. */
static enum status order_cases(struct mutants_run *r, struct error *err)
{
    struct arena a = {0};
    const size_t n = r->case_count;
    struct choice *quick = ARENA_ARRAY(&a, struct choice, n + 1),
                  *own = ARENA_ARRAY(&a, struct choice, n + 1);
    size_t *met = ARENA_ARRAY(&a, size_t, n + 1), *groups = ARENA_ARRAY(&a, size_t, n + 1);
    enum status st = quick && own && met && groups
                         ? STATUS_OK
                         : error_msg(err, STATUS_MEMORY, "out of memory for %zu cases", n);
    for (size_t c = 0; st == STATUS_OK && c < n; c++) {
        quick[c] = (struct choice){&r->cases[c], r->cases[c].seconds + worker_s};
        groups[c] = group_of(r, &r->cases[c]);
    }
    if (st == STATUS_OK)
        qsort(quick, n, sizeof *quick, choice_compare);
    for (size_t i = 0; st == STATUS_OK && i < r->count; i++) {
        struct subject *s = &r->subjects[i];
        size_t count = 0;
        double due_s = 0;
        memset(met, 0, n * sizeof *met);
        for (size_t c = 0; c < n; c++) {
            const struct listed *l = quick[c].l;
            s->due_s[l - r->cases] = INFINITY;
            if (!l->search && may_hold(s, l) && may_run(s, l))
                own[count++] =
                    (struct choice){l, quick[c].cost * (double)++met[groups[l - r->cases]] *
                                           (l->shader_level ? values_cost : 1)};
        }
        qsort(own, count, sizeof *own, choice_compare);
        for (size_t c = 0; c < count; c++) {
            s->due_s[own[c].l - r->cases] = (float)due_s;
            due_s += own[c].l->seconds + worker_s;
        }
    }
    arena_free(&a);
    return st;
}

static bool notice_find(const struct notice *list, const char *name)
{
    for (; list; list = list->next)
        if (strcmp(list->name, name) == 0)
            return true;
    return false;
}

/* Is a living mutant asked this scene or grid? Until one shows it. */
static bool search_wanted(const struct subject *s, const struct listed *l)
{
    return s->class == CLASS_PLAIN ||
           (s->class == CLASS_ALIVE && !s->shown && may_hold(s, l) && may_run(s, l));
}

static bool wanted(void *ctx, const char *device, const struct conform_case *c)
{
    struct mutants_run *r = ctx;
    const struct subject *s = subject_of(r, device);
    const struct listed *l = listed_find(r, c->name);
    if (r->lost.code || !s || !l || s->done[l - r->cases])
        return false;
    if (l->search)
        return search_wanted(s, l);
    if (s->class != CLASS_PLAIN && (isinf(s->due_s[l - r->cases]) || s->hangs >= HANGS_MOST))
        return false;
    bool left = r->m->until_caught && s->class != CLASS_ALIVE && s->class != CLASS_PLAIN;
    return !left && !notice_find(r->unusable, c->name);
}

/* All mutants are asked what the text without an edit goes through in a second, then in two more,
 * four, and so on: a run that is ended has asked each of them about the same. Of that text the
 * longest go first: one that begins last holds up all. */
static double turn(void *ctx, const char *device, const struct conform_case *c)
{
    const struct mutants_run *r = ctx;
    const struct subject *s = subject_of(ctx, device);
    const struct listed *l = listed_find(r, c->name);
    if (s && s->class == CLASS_PLAIN) {
        const struct case_worth w = worth_of(r->worth, c->name);
        return w.known ? -w.seconds : -INFINITY;
    }
    const float due_s = s && l && !l->search ? s->due_s[l - r->cases] : 0;
    return due_s > 1 ? ceil(log2((double)due_s)) : 0;
}

static enum mutant_class class_of(const struct conform_result *c)
{
    static const struct {
        const char *begin;
        enum mutant_class class;
    } ends[] = {{"the worker crashed", CLASS_CRASH},
                {"hung or too slow", CLASS_HANG},
                {"memory blow-up", CLASS_MEMORY}};
    /* in a mode that was not asked for when mutants were compiled */
    if (c->verdict == VERDICT_FAIL && c->reason && strstr(c->reason, " refused the kernel"))
        return CLASS_REFUSED;
    if (c->verdict == VERDICT_FAIL)
        return CLASS_KILLED;
    if (c->verdict != VERDICT_ERROR)
        return CLASS_ALIVE;
    for (size_t i = 0; c->reason && i < sizeof ends / sizeof ends[0]; i++)
        if (strncmp(c->reason, ends[i].begin, strlen(ends[i].begin)) == 0)
            return ends[i].class;
    return CLASS_ERROR;
}

/* The stage that a FAIL names: lockstep's, else the group of a case of one part. */
static const char *stage_of(struct arena *a, const struct conform_case *c,
                            const struct conform_result *result)
{
    const struct json *detail;
    if (result->detail && json_parse(a, "detail", result->detail, strlen(result->detail), &detail,
                                     NULL) == STATUS_OK) {
        const struct json *first = json_get(detail, "first"),
                          *stage = first ? json_get(first, "stage") : NULL;
        if (stage && stage->type == JSON_STRING)
            return stage->string;
    }
    const char *dot = strchr(c->name, '.');
    if (strcmp(c->level, "kernel") != 0 || !dot)
        return "";
    return arena_printf(a, "%.*s", (int)strcspn(dot + 1, "."), dot + 1);
}

/* A case that notices the text as it is says nothing of mutants: what it said before falls away. */
static void case_void(struct mutants_run *r, struct notice *n)
{
    n->next = r->unusable;
    r->unusable = n;
    for (size_t i = 0; i < r->count; i++) {
        struct subject *s = &r->subjects[i];
        struct notice **at = &s->first;
        s->last = NULL;
        while (*at) {
            if (strcmp((*at)->name, n->name) == 0) {
                *at = (*at)->next;
                continue;
            }
            s->last = *at;
            at = &(*at)->next;
        }
        if (s->class < CLASS_EQUIVALENT)
            s->class = s->first ? s->first->class : CLASS_ALIVE;
    }
}

/* A text of the detail. */
static const char *detail_of(struct arena *a, const struct conform_result *result, const char *key)
{
    const struct json *detail = NULL;
    const bool read =
        result->detail &&
        json_parse(a, "detail", result->detail, strlen(result->detail), &detail, NULL) == STATUS_OK;
    const struct json *v = read ? json_get(detail, key) : NULL;
    return v && v->type == JSON_STRING ? v->string : NULL;
}

static struct notice *notice_make(struct mutants_run *r, const struct subject *s,
                                  const struct listed *l, enum mutant_class class,
                                  const char *stage, const char *reason)
{
    struct notice *n = ARENA_NEW(&r->arena, struct notice);
    if (!n)
        return NULL; /* the mutant lives: the share is a lower bound */
    *n = (struct notice){.name = l->name,
                         .class = class,
                         .after_s = s->spent_s,
                         .stage = arena_strdup(&r->arena, stage ? stage : ""),
                         .reason = arena_strdup(&r->arena, reason ? reason : "")};
    return n->stage && n->reason ? n : NULL;
}

/* A scene or a grid of the search: it is no case, so the mutant stays alive, with what shows it. One
 * that the text without an edit does not go through says nothing of any. */
static void search_said(struct mutants_run *r, struct subject *s, struct listed *l,
                        enum mutant_class class, const char *reason)
{
    if (s->class == CLASS_PLAIN)
        l->skipped |= class != CLASS_ALIVE;
    else if (class == CLASS_ALIVE)
        s->searched++;
    else if (class != CLASS_REFUSED && !s->shown)
        s->shown = notice_make(r, s, l, class, "", reason);
}

/* What a case said of a mutant, now or in the journal; class ALIVE: it noticed nothing. */
static void case_said(struct mutants_run *r, struct subject *s, struct listed *l,
                      enum mutant_class class, double seconds, const char *stage,
                      const char *reason)
{
    if (s->class == CLASS_PLAIN)
        l->seconds = seconds;
    s->spent_s += seconds;
    s->asked += !l->search && !s->done[l - r->cases];
    s->hangs += class == CLASS_HANG;
    s->done[l - r->cases] = true;
    if (l->search) {
        search_said(r, s, l, class, reason);
        return;
    }
    if (class == CLASS_REFUSED && s->class != CLASS_PLAIN)
        s->refused = true, s->class = CLASS_REFUSED;
    if (class == CLASS_ALIVE || class == CLASS_REFUSED || notice_find(r->unusable, l->name))
        return;
    struct notice *n = notice_make(r, s, l, class, stage, reason);
    if (!n)
        return;
    if (s->class == CLASS_PLAIN) {
        case_void(r, n);
        return;
    }
    if (s->last)
        s->last->next = n;
    else
        s->first = n;
    s->last = n;
    s->class = s->first->class;
}

static void on_case(void *ctx, size_t done, size_t total, const char *device,
                    const struct conform_case *c, const struct conform_result *result)
{
    struct mutants_run *r = ctx;
    struct subject *s = subject_of(r, device);
    struct listed *l = listed_find(r, c->name);
    const enum mutant_class class = class_of(result);
    const double seconds = result->compile_s + result->run_s;
    char what[160];
    if (!s || !l)
        return;
    const char *stage = class == CLASS_ALIVE ? "" : stage_of(&r->arena, c, result);
    struct json_writer w = fact_begin(s);
    json_key_string(&w, "case", l->name);
    json_key_string(&w, "class", mutant_class_names[class]);
    json_key_number(&w, "s", seconds);
    if (s == &r->plain && (l->reached = detail_of(&r->arena, result, "reached")) != NULL)
        json_key_string(&w, "reached", l->reached);
    if (class != CLASS_ALIVE) {
        json_key_string(&w, "stage", stage);
        json_key_string(&w, "reason", result->reason);
    }
    if (s == &r->plain && (l->skipped = result->verdict == VERDICT_SKIP))
        json_key_bool(&w, "skipped", true);
    keep(r, &w);
    case_said(r, s, l, class, seconds, stage, result->reason);
    snprintf(what, sizeof what, "%s on %s", c->name, device);
    progress_show(what, total ? (double)done / (double)total : 1, -1);
}

/* The text as it is goes first, through all cases: one that notices it would notice anything, what
 * one does not run it cannot notice, and one that is skipped notices nothing. */
static enum status plain_run(struct mutants_run *r, const struct conform_options *of,
                             struct error *err)
{
    struct conform_options o = *of;
    struct conform_summary sum;
    r->ids[0] = r->plain.id;
    o.devices = r->ids;
    o.device_count = 1;
    return conform_run(&o, &sum, err);
}

static enum status cases_run(struct mutants_run *r, struct error *err)
{
    struct conform_summary sum;
    size_t n = 0;
    for (size_t i = 0; i < r->count; i++)
        if (r->subjects[i].class < CLASS_EQUIVALENT &&
            (!r->m->until_caught || r->subjects[i].class == CLASS_ALIVE))
            r->ids[n++] = r->subjects[i].id;
    r->o.devices = r->ids;
    r->o.device_count = n;
    return n == 0 ? STATUS_OK : conform_run(&r->o, &sum, err);
}

/* ---- what was known before ------------------------------------------------------------------ */

static const char *string_at(const struct json *fact, const char *key)
{
    const struct json *v = json_get(fact, key);
    return v && v->type == JSON_STRING ? v->string : NULL;
}

/* A line of the journal. Cases that the list no longer has cannot be there: its hash is in the
 * first line. */
static enum status recall(void *ctx, const struct json_line *line, struct error *err)
{
    struct mutants_run *r = ctx;
    const struct json *fact = line->value;
    if (line->number == 1)
        return head_check(r, line, err);
    const char *id = fact->type == JSON_OBJECT ? string_at(fact, "mutant") : NULL;
    struct subject *s = id ? subject_of(r, id) : NULL;
    if (!s)
        return json_error(err, r->m->journal, fact, STATUS_TYPE,
                          "expected an object with a \"mutant\" of this run");
    const struct json *compiles = json_get(fact, "compiles"), *same = json_get(fact, "same"),
                      *built = json_get(fact, "built"), *grids = json_get(fact, "grids"),
                      *commutes = json_get(fact, "commutes");
    const char *name = string_at(fact, "case"), *said = string_at(fact, "class");
    struct listed *l = name ? listed_find(r, name) : NULL;
    const struct json *seconds = json_get(fact, "s");
    int class = 0;
    if (compiles && compiles->type == JSON_BOOL && same && same->type == JSON_ARRAY &&
        same->count == MODE_COUNT && built && built->type == JSON_BOOL && grids &&
        grids->type == JSON_BOOL && commutes && commutes->type == JSON_BOOL) {
        const struct json *v = same->first;
        for (int mode = 0; mode < MODE_COUNT; mode++, v = v->next)
            s->code.same[mode] = v->type == JSON_BOOL && v->boolean;
        s->code.compiles = compiles->boolean;
        s->code.built = built->boolean;
        s->code.same_in_grids = grids->boolean;
        s->code.commutes = commutes->boolean;
        s->refused = !compiles->boolean;
        s->looked = true;
    } else {
        while (said && class < CLASS_UNJUDGED && strcmp(said, mutant_class_names[class]) != 0)
            class ++;
        if (!l || !said || class == CLASS_EQUIVALENT || class == CLASS_COMMUTES ||
            class == CLASS_SAME_BITS || class == CLASS_UNBUILT || class == CLASS_UNJUDGED ||
            !seconds || seconds->type != JSON_NUMBER)
            return json_error(
                err, r->m->journal, fact, STATUS_TYPE,
                "expected \"compiles\", \"built\", \"same\", \"grids\", \"commutes\", or "
                "\"case\", \"class\" and \"s\"");
        if (s == &r->plain) {
            l->reached = string_at(fact, "reached");
            l->skipped = json_get(fact, "skipped") != NULL;
        }
        case_said(r, s, l, (enum mutant_class) class, seconds->number, string_at(fact, "stage"),
                  string_at(fact, "reason"));
    }
    class_by_code(s);
    return STATUS_OK;
}

static enum status known_before(struct mutants_run *r, struct error *err)
{
    TRY(list_cases(r, err));
    TRY(worth_read(&r->arena, &r->worth, err));
    TRY(mutants_count(&r->all, err));
    TRY(draw(r, err));
    if (!r->m->journal)
        return STATUS_OK;
    TRY(head_make(r, err));
    TRY(json_lines_open(r->m->journal, r->m->resume, recall, r, &r->journal, err));
    return json_lines_none(r->journal) ? head_write(r, err) : STATUS_OK;
}

/* What no case noticed is looked for once more, on scenes and grids that no list has. */
static enum status search_run(struct mutants_run *r, struct error *err)
{
    struct conform_options o = search_options(r);
    struct conform_summary sum;
    size_t n = 0;
    for (size_t i = 0; i < r->count; i++)
        n += r->subjects[i].class == CLASS_ALIVE;
    if (!n || !o.searches)
        return STATUS_OK;
    TRY(plain_run(r, &o, err));
    n = 0;
    for (size_t i = 0; i < r->count; i++)
        if (r->subjects[i].class == CLASS_ALIVE && !r->subjects[i].shown)
            r->ids[n++] = r->subjects[i].id;
    o.devices = r->ids;
    o.device_count = n;
    return n == 0 ? STATUS_OK : conform_run(&o, &sum, err);
}

/* Alive, and it gives the same in all that the search has for it, of which there is some. */
static bool search_found_none(const struct mutants_run *r, const struct subject *s)
{
    if (s->class != CLASS_ALIVE || s->shown || !s->searched)
        return false;
    for (size_t c = 0; c < r->case_count; c++)
        if (r->cases[c].search && !s->done[c] && search_wanted(s, &r->cases[c]))
            return false;
    return true;
}

static void class_by_search(struct mutants_run *r)
{
    for (size_t i = 0; i < r->count; i++)
        if (search_found_none(r, &r->subjects[i]))
            r->subjects[i].class = CLASS_SAME_BITS;
}

static enum status all_run(struct mutants_run *r, struct error *err)
{
    TRY(ask_all(r, err));
    TRY(plain_run(r, &r->o, err));
    TRY(order_cases(r, err));
    TRY(cases_run(r, err));
    for (size_t i = 0; i < r->count; i++)
        for (size_t c = 0; c < r->case_count; c++)
            r->subjects[i].out_of_reach |=
                !r->cases[c].search && may_hold(&r->subjects[i], &r->cases[c]);
    return search_run(r, err);
}

/* What thousands of mutants are compiled to is of no use to anybody later; and each worker has one
 * processor where several run. */
static enum status workshop_make(const struct mutants_run *r, char *folder, size_t size,
                                 struct error *err)
{
    TRY(scratch_make(folder, size, err));
    if (setenv("XDG_CACHE_HOME", folder, 1) != 0 ||
        (r->o.jobs > 1 && setenv("ISOPHOTE_THREADS", "1", 0) != 0)) {
        scratch_remove(folder);
        return error_msg(err, STATUS_MEMORY, "out of memory for the environment");
    }
    return STATUS_OK;
}

int mutants_judge(const struct conform_options *o, const struct mutants_options *m)
{
    struct mutants_run r = {.o = *o, .m = m, .begin = clock_s()};
    struct error err = {0};
    char folder[3072];
    if (!(r.o.run_budget_s > 0))
        r.o.run_budget_s = 60;
    r.plain = (struct subject){.id = "mutant:marked", .class = CLASS_PLAIN};
    r.o.by_case = true;
    r.o.journal = NULL; /* mutants have their own */
    r.o.resume = false;
    enum status st = known_before(&r, &err);
    const bool known = st == STATUS_OK;
    r.o.wanted = wanted;
    r.o.turn = turn;
    r.o.each = on_case;
    r.o.again = NULL;
    r.o.begin = NULL;
    r.o.each_ctx = &r;
    if (st == STATUS_OK)
        st = workshop_make(&r, folder, sizeof folder, &err);
    const bool made = st == STATUS_OK;
    if (made)
        st = all_run(&r, &err);
    progress_end();
    if (st == STATUS_OK && r.lost.code) {
        st = r.lost.code;
        err = r.lost;
    }
    int status = EXIT_BAD_INPUT;
    if (known) { /* what was found is told, however it ended; a refused journal leaves nothing */
        class_by_search(&r);
        status = mutants_told(&r, st == STATUS_OK);
    }
    if (st != STATUS_OK && st != STATUS_CANCELLED)
        status = report_error(&err, false);
    if (made) /* after what is told: once time is up there is not much of it left */
        scratch_remove(folder);
    json_lines_close(r.journal);
    arena_free(&r.arena);
    return status;
}
