/* SPDX-License-Identifier: Apache-2.0 */
#include "conform_mutants.h"
#include "cli.h"

#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

/* LIST(X): X(enum constant's end, name) */
#define CLASS_LIST(X)                                                                              \
    X(ALIVE, "alive")                                                                              \
    X(KILLED, "killed")                                                                            \
    X(CRASH, "crash")                                                                              \
    X(HANG, "hang")                                                                                \
    X(MEMORY, "memory")                                                                            \
    X(ERROR, "error")                                                                              \
    X(EQUIVALENT, "equivalent")                                                                    \
    X(REFUSED, "does not compile")                                                                 \
    X(UNJUDGED, "not judged")                                                                      \
    X(PLAIN, "no edit")

#define X(name, text) CLASS_##name,
enum mutant_class { CLASS_LIST(X) CLASS_COUNT };
#undef X
#define X(name, text) text,
static const char *const class_names[CLASS_COUNT] = {CLASS_LIST(X)};
#undef X

/* The list is run in rounds, a case on all mutants before the next. Most edits change a strict
 * picture whose answer is known, and these cases are the quickest; statistics are the slowest. */
enum { ROUNDS = 5, ROUND_COMPARED = 2 /* before it, code is compared */ };
static const char *const round_names[ROUNDS] = {
    "^image[.](passes|strict[.](glass|medium|many-lights|textured|veach-mis|thin-lens|instances))",
    "^(image[.]dense|kernel[.](rng|math|bsdf-step|texels))", "^(image[.]strict|shader[.])",
    "^(invariance|kernel|image[.](camera|closed))", ""};
/* Only these run the library of shaders; and the machine code of mode strict alone. */
static const char with_shaders[] = "^(shader|invariance|image[.](dense[.]|[a-z]+[.]shaded-))";
static const char in_mode_strict[] = "^image[.](strict|passes|dense)";

/* A case that gave FAIL or ERROR. */
struct notice {
    const char *name;
    enum mutant_class class;
    double after_s; /* of all that was spent on the mutant */
    const char *stage, *reason;
    struct notice *next;
};

/* One mutant of the run. */
struct subject {
    size_t number;
    const char *id;
    struct mutant edit;
    enum mutant_class class;
    bool refused, looked, same[MODE_COUNT];
    struct error error; /* of asking the compiler */
    double spent_s;
    size_t asked; /* cases */
    struct notice *first, *last;
};

struct mutants_run {
    struct arena arena;
    struct conform_options o;
    const struct mutants_options *m;
    struct subject plain, *subjects;
    size_t count;
    const char **ids; /* of those that are judged in this pass, and whose they are */
    struct subject **judged;
    regex_t passes[ROUNDS], of_shaders, strict;
    unsigned pass;
    double begin;
    struct notice *unusable; /* cases that notice the text as it is, or could not judge it */
};

static enum status expressions_make(struct mutants_run *r, struct error *err)
{
    bool made = regcomp(&r->of_shaders, with_shaders, REG_EXTENDED | REG_NOSUB) == 0 &&
                regcomp(&r->strict, in_mode_strict, REG_EXTENDED | REG_NOSUB) == 0;
    for (int i = 0; made && i < ROUNDS; i++)
        made = regcomp(&r->passes[i], round_names[i], REG_EXTENDED | REG_NOSUB) == 0;
    return made ? STATUS_OK : error_msg(err, STATUS_INTERNAL, "the passes have no names");
}

static bool matches(const regex_t *e, const char *name)
{
    return regexec(e, name, 0, NULL, 0) == 0;
}

/* ---- which ---------------------------------------------------------------------------------- */

/* `count` different numbers below `all`, by the seed alone: the first of a shuffle. */
static enum status draw(struct mutants_run *r, size_t all, struct error *err)
{
    size_t *order = ARENA_ARRAY(&r->arena, size_t, all);
    r->count = r->m->count < all ? r->m->count : all;
    r->subjects = ARENA_ARRAY(&r->arena, struct subject, r->count);
    r->ids = ARENA_ARRAY(&r->arena, const char *, r->count + 1);
    r->judged = ARENA_ARRAY(&r->arena, struct subject *, r->count + 1);
    if (!order || !r->subjects || !r->ids || !r->judged)
        return error_msg(err, STATUS_MEMORY, "out of memory for %zu mutants", r->count);
    for (size_t i = 0; i < all; i++)
        order[i] = i;
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
        if (!s->id)
            return error_msg(err, STATUS_MEMORY, "out of memory for %zu mutants", r->count);
        TRY(mutant_find(&r->arena, drawn, &s->edit, err));
    }
    return STATUS_OK;
}

/* ---- what the compiler says ----------------------------------------------------------------- */

static void ask_compile(void *ctx, size_t i, unsigned thread)
{
    struct subject *s = (struct subject *)ctx + i;
    bool compiles = false;
    (void)thread;
    if (!cancel_requested && mutant_compile(s->number, &compiles, &s->error) == STATUS_OK)
        s->refused = !compiles;
}

static void ask_same(void *ctx, size_t i, unsigned thread)
{
    struct subject *s = (struct subject *)ctx + i;
    (void)thread;
    if (!cancel_requested && s->class == CLASS_ALIVE)
        s->looked = mutant_same_code(s->number, s->same, &s->error) == STATUS_OK;
}

static enum status ask_all(struct mutants_run *r, const char *what,
                           void (*ask)(void *, size_t, unsigned), struct error *err)
{
    progress_show(what, 0, -1);
    parallel_for(r->count, r->o.jobs ? r->o.jobs : 1, ask, r->subjects);
    for (size_t i = 0; i < r->count; i++) {
        struct subject *s = &r->subjects[i];
        if (s->error.code) {
            *err = s->error;
            return s->error.code;
        }
        if (s->refused)
            s->class = CLASS_REFUSED;
        else if (s->looked && !s->edit.of_library && s->same[MODE_STRICT] && s->same[MODE_DEVICE] &&
                 s->same[MODE_FAST])
            s->class = CLASS_EQUIVALENT;
    }
    return cancel_requested ? error_msg(err, STATUS_CANCELLED, "interrupted") : STATUS_OK;
}

/* ---- what the cases say --------------------------------------------------------------------- */

static struct subject *subject_of(const struct mutants_run *r, const char *device)
{
    for (size_t i = 0; i < r->o.device_count; i++)
        if (r->ids[i] == device)
            return r->judged[i];
    return r->judged[0];
}

/* Can the case run what is edited? What its program does not hold it cannot notice. */
static bool may_notice(const struct mutants_run *r, const struct subject *s,
                       const struct conform_case *c)
{
    if (s->class == CLASS_PLAIN)
        return true;
    if ((!s->edit.of_kernel && !matches(&r->of_shaders, c->name)) ||
        (!s->edit.of_library && strcmp(c->level, "shader") == 0))
        return false;
    return !(s->looked && s->same[MODE_STRICT] && matches(&r->strict, c->name));
}

static bool notice_find(const struct notice *list, const char *name)
{
    for (; list; list = list->next)
        if (strcmp(list->name, name) == 0)
            return true;
    return false;
}

static bool wanted(void *ctx, const char *device, const struct conform_case *c)
{
    struct mutants_run *r = ctx;
    struct subject *s = subject_of(r, device);
    for (unsigned i = 0; i < r->pass; i++)
        if (matches(&r->passes[i], c->name))
            return false;
    bool left = r->m->until_caught && s->class != CLASS_ALIVE && s->class != CLASS_PLAIN;
    return !left && !notice_find(r->unusable, c->name) && matches(&r->passes[r->pass], c->name) &&
           may_notice(r, s, c);
}

static enum mutant_class class_of(const struct conform_result *c)
{
    static const struct {
        const char *begin;
        enum mutant_class class;
    } ends[] = {{"the worker crashed", CLASS_CRASH},
                {"hung or too slow", CLASS_HANG},
                {"memory blow-up", CLASS_MEMORY}};
    if (c->verdict == VERDICT_FAIL)
        return CLASS_KILLED;
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

static void notice_add(struct mutants_run *r, struct subject *s, const struct conform_case *c,
                       const struct conform_result *result)
{
    struct notice *n = ARENA_ARRAY(&r->arena, struct notice, 1);
    if (!n)
        return; /* the mutant lives: the share is a lower bound */
    *n = (struct notice){.name = arena_strdup(&r->arena, c->name),
                         .class = class_of(result),
                         .after_s = s->spent_s,
                         .stage = stage_of(&r->arena, c, result),
                         .reason = arena_strdup(&r->arena, result->reason ? result->reason : "")};
    if (!n->name || !n->stage || !n->reason)
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
    char what[160];
    s->spent_s += result->compile_s + result->run_s;
    s->asked++;
    if ((result->verdict == VERDICT_FAIL || result->verdict == VERDICT_ERROR) &&
        !notice_find(r->unusable, c->name))
        notice_add(r, s, c, result);
    snprintf(what, sizeof what, "%s on %s", c->name, device);
    progress_show(what, total ? (double)done / (double)total : 1, -1);
}

/* The text as it is goes first: a case that notices that would notice anything. */
static enum status pass_run(struct mutants_run *r, unsigned pass, struct error *err)
{
    struct conform_summary sum;
    size_t n = 1;
    r->ids[0] = r->plain.id;
    r->judged[0] = &r->plain;
    for (size_t i = 0; i < r->count; i++)
        if (r->subjects[i].class < CLASS_EQUIVALENT &&
            (!r->m->until_caught || r->subjects[i].class == CLASS_ALIVE)) {
            r->judged[n] = &r->subjects[i];
            r->ids[n++] = r->subjects[i].id;
        }
    r->pass = pass;
    r->o.devices = r->ids;
    r->o.device_count = n;
    return n == 1 ? STATUS_OK : conform_run(&r->o, &sum, err);
}

static enum status passes_run(struct mutants_run *r, struct error *err)
{
    size_t all;
    TRY(expressions_make(r, err));
    TRY(mutants_count(&all, err));
    TRY(draw(r, all, err));
    TRY(ask_all(r, "compiling mutants", ask_compile, err));
    for (unsigned pass = 0; pass < ROUNDS; pass++) {
        if (pass == ROUND_COMPARED)
            TRY(ask_all(r, "which are the same code", ask_same, err));
        TRY(pass_run(r, pass, err));
    }
    return STATUS_OK;
}

/* ---- what is told --------------------------------------------------------------------------- */

/* Wilson's interval of a share at 95 %: Journal of the American Statistical Association 22 (1927).
 */
static void share_interval(size_t hits, size_t n, double out[2])
{
    const double z = 1.959963984540054, count = (double)n, p = (double)hits / count;
    double middle = p + z * z / (2 * count);
    double half = z * sqrt(p * (1 - p) / count + z * z / (4 * count * count));
    out[0] = n ? (middle - half) / (1 + z * z / count) : 0;
    out[1] = n ? (middle + half) / (1 + z * z / count) : 1;
}

static void subject_json(struct json_writer *w, const struct subject *s)
{
    json_begin_object(w);
    json_key_string(w, "id", s->id);
    json_key_string(w, "file", s->edit.file);
    json_key_integer(w, "line", s->edit.line);
    json_key_string(w, "function", s->edit.function);
    json_key_string(w, "rule", s->edit.rule);
    json_key_string(w, "was", s->edit.was);
    json_key_string(w, "now", s->edit.now);
    json_key_string(w, "class", class_names[s->class]);
    json_key_integer(w, "asked", (int64_t)s->asked);
    json_key(w, "cases");
    json_begin_array(w);
    for (const struct notice *n = s->first; n; n = n->next)
        json_string(w, n->name);
    json_end_array(w);
    json_key_string(w, "stage", s->first ? s->first->stage : "");
    json_key_string(w, "reason", s->first ? s->first->reason : "");
    json_key_number(w, "caught_s", s->first ? s->first->after_s : 0);
    json_key_number(w, "spent_s", s->spent_s);
    json_end_object(w);
}

static bool told_json(const struct mutants_run *r, bool finished, const size_t counts[CLASS_COUNT],
                      size_t noticed, size_t live, const double interval[2])
{
    struct json_writer w = {0};
    json_begin_object(&w);
    char hash[33] = "";
    (void)mutants_text_hash(hash, NULL);
    json_key_string(&w, "text", hash);
    json_key_bool(&w, "finished", finished);
    json_key_number(&w, "wall_s", clock_s() - r->begin);
    json_key_number(&w, "plain_s", r->plain.spent_s);
    json_key_string(&w, "list", r->o.list ? r->o.list : "core");
    json_key_string(
        &w, "seed",
        arena_printf((struct arena *)&r->arena, "%llu", (unsigned long long)r->m->seed));
    json_key_bool(&w, "until_caught", r->m->until_caught);
    json_key(&w, "unusable");
    json_begin_array(&w);
    for (const struct notice *n = r->unusable; n; n = n->next)
        json_string(&w, n->name);
    json_end_array(&w);
    json_key(&w, "mutants");
    json_begin_array(&w);
    for (size_t i = 0; i < r->count; i++)
        subject_json(&w, &r->subjects[i]);
    json_end_array(&w);
    json_key(&w, "summary");
    json_begin_object(&w);
    for (int c = 0; c < CLASS_PLAIN; c++)
        json_key_integer(&w, class_names[c], (int64_t)counts[c]);
    json_key_integer(&w, "live", (int64_t)live);
    json_key_integer(&w, "noticed", (int64_t)noticed);
    json_key_number(&w, "share", live ? (double)noticed / (double)live : 0);
    json_key_pair(&w, "interval", interval[0], interval[1]);
    json_end_object(&w);
    json_end_object(&w);
    bool printed = json_print(&w);
    text_free(&w.out);
    return printed;
}

static void told_text(const struct mutants_run *r, bool finished, const size_t counts[CLASS_COUNT],
                      size_t noticed, size_t live, const double interval[2])
{
    for (size_t i = 0; i < r->count; i++) {
        const struct subject *s = &r->subjects[i];
        printf("%-16s %-12s %s:%u %s %s: %.60s -> %.60s", class_names[s->class], s->id,
               s->edit.file, (unsigned)s->edit.line, s->edit.function, s->edit.rule, s->edit.was,
               s->edit.now[0] ? s->edit.now : "nothing");
        for (const struct notice *n = s->first; n; n = n->next)
            printf("\n%29s after %.1f s by %s", "", n->after_s, n->name);
        printf("\n");
    }
    for (const struct notice *n = r->unusable; n; n = n->next)
        printf("not used: %s notices the text without an edit: %s\n", n->name, n->reason);
    if (!finished)
        printf("interrupted: what is alive was not asked by all cases\n");
    for (int c = 0; c < CLASS_PLAIN; c++)
        printf("%s%zu %s", c ? ", " : "", counts[c], class_names[c]);
    printf("\n%zu of %zu live mutants noticed (%.1f %%, 95 %% interval %.1f to %.1f %%)\n", noticed,
           live, live ? 100.0 * (double)noticed / (double)live : 0, 100 * interval[0],
           100 * interval[1]);
}

static int told(struct mutants_run *r, bool finished)
{
    size_t counts[CLASS_COUNT] = {0}, noticed = 0;
    double interval[2] = {0, 1};
    for (size_t i = 0; i < r->count; i++) {
        struct subject *s = &r->subjects[i];
        if (s->class == CLASS_ALIVE && !s->asked) /* an interrupt came, or a filter left nothing */
            s->class = CLASS_UNJUDGED;
        counts[s->class]++;
    }
    for (int c = CLASS_KILLED; c < CLASS_EQUIVALENT; c++)
        noticed += counts[c];
    size_t live = noticed + counts[CLASS_ALIVE];
    if (live)
        share_interval(noticed, live, interval);
    if (r->m->json && !told_json(r, finished, counts, noticed, live, interval))
        return EXIT_BAD_INPUT;
    if (!r->m->json)
        told_text(r, finished, counts, noticed, live, interval);
    return counts[CLASS_ALIVE] ? EXIT_FINDING : live ? EXIT_PASS : EXIT_NOTHING_RAN;
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
    r.plain = (struct subject){.id = "mutant:none", .class = CLASS_PLAIN};
    r.o.by_case = true;
    r.o.wanted = wanted;
    r.o.each = on_case;
    r.o.again = NULL;
    r.o.begin = NULL;
    r.o.each_ctx = &r;
    enum status st = workshop_make(&r, folder, sizeof folder, &err);
    if (st == STATUS_OK) {
        st = passes_run(&r, &err);
        scratch_remove(folder);
    }
    progress_end();
    bool known = r.count && (st == STATUS_OK || st == STATUS_CANCELLED);
    int status = known ? told(&r, st == STATUS_OK) : report_error(&err, false);
    regfree(&r.of_shaders);
    regfree(&r.strict);
    for (int i = 0; i < ROUNDS; i++)
        regfree(&r.passes[i]);
    arena_free(&r.arena);
    return status;
}
