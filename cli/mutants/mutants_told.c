/* SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"
#include "mutants_run.h"

#include <math.h>
#include <string.h>

#define X(name, text) text,
const char *const mutant_class_names[CLASS_COUNT] = {CLASS_LIST(X)};
#undef X

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
    json_key_string(w, "class", mutant_class_names[s->class]);
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

static const char *key_of(const struct subject *s, bool by_file)
{
    return by_file ? s->edit.file : s->edit.rule;
}

/* The shares of the live ones by file or by rule, in the order in which the run has them. */
static void shares_json(struct json_writer *w, const struct mutants_run *r, bool by_file)
{
    json_key(w, by_file ? "files" : "rules");
    json_begin_array(w);
    for (size_t i = 0; i < r->count; i++) {
        const char *key = key_of(&r->subjects[i], by_file);
        size_t live = 0, noticed = 0, before = 0;
        double interval[2];
        while (before < i && strcmp(key_of(&r->subjects[before], by_file), key) != 0)
            before++;
        for (size_t k = i; before == i && k < r->count; k++) {
            const struct subject *s = &r->subjects[k];
            if (s->class >= CLASS_EQUIVALENT || strcmp(key_of(s, by_file), key) != 0)
                continue;
            live++;
            noticed += s->class != CLASS_ALIVE;
        }
        if (!live)
            continue;
        share_interval(noticed, live, interval);
        json_begin_object(w);
        json_key_string(w, by_file ? "file" : "rule", key);
        json_key_integer(w, "live", (int64_t)live);
        json_key_integer(w, "noticed", (int64_t)noticed);
        json_key_number(w, "share", (double)noticed / (double)live);
        json_key_pair(w, "interval", interval[0], interval[1]);
        json_end_object(w);
    }
    json_end_array(w);
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
        json_key_integer(&w, mutant_class_names[c], (int64_t)counts[c]);
    json_key_integer(&w, "live", (int64_t)live);
    json_key_integer(&w, "noticed", (int64_t)noticed);
    json_key_number(&w, "share", live ? (double)noticed / (double)live : 0);
    json_key_pair(&w, "interval", interval[0], interval[1]);
    shares_json(&w, r, true);
    shares_json(&w, r, false);
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
        printf("%-16s %-12s %s:%u %s %s: %.60s -> %.60s", mutant_class_names[s->class], s->id,
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
        printf("%s%zu %s", c ? ", " : "", counts[c], mutant_class_names[c]);
    printf("\n%zu of %zu live mutants noticed (%.1f %%, 95 %% interval %.1f to %.1f %%)\n", noticed,
           live, live ? 100.0 * (double)noticed / (double)live : 0, 100 * interval[0],
           100 * interval[1]);
}

int mutants_told(struct mutants_run *r, bool finished)
{
    size_t counts[CLASS_COUNT] = {0}, noticed = 0;
    double interval[2] = {0, 1};
    for (size_t i = 0; i < r->count; i++) {
        struct subject *s = &r->subjects[i];
        if (s->class == CLASS_ALIVE && !s->asked &&
            !s->out_of_reach) /* an interrupt came, or a filter left nothing */
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
