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

/* Of the live ones; and of these with those that nothing was found to tell from the text. */
struct share {
    size_t noticed, live, same_bits;
};

static void share_count(struct share *n, enum mutant_class class)
{
    n->live += class < CLASS_EQUIVALENT;
    n->noticed += class < CLASS_EQUIVALENT && class != CLASS_ALIVE;
    n->same_bits += class == CLASS_SAME_BITS;
}

static double share_of(size_t hits, size_t n) { return n ? (double)hits / (double)n : 0; }

static void share_json(struct json_writer *w, const struct share *n)
{
    double interval[2];
    json_key_integer(w, "live", (int64_t)n->live);
    json_key_integer(w, "noticed", (int64_t)n->noticed);
    json_key_number(w, "share", share_of(n->noticed, n->live));
    share_interval(n->noticed, n->live, interval);
    json_key_pair(w, "interval", interval[0], interval[1]);
    json_key_integer(w, "same_bits", (int64_t)n->same_bits);
    json_key_number(w, "share_with_same_bits", share_of(n->noticed, n->live + n->same_bits));
    share_interval(n->noticed, n->live + n->same_bits, interval);
    json_key_pair(w, "interval_with_same_bits", interval[0], interval[1]);
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
    json_key_integer(w, "searched", (int64_t)s->searched);
    json_key_string(w, "shown_by", s->shown ? s->shown->name : "");
    json_key_string(w, "shown", s->shown ? s->shown->reason : "");
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
        struct share n = {0};
        size_t before = 0;
        while (before < i && strcmp(key_of(&r->subjects[before], by_file), key) != 0)
            before++;
        for (size_t k = i; before == i && k < r->count; k++) {
            const struct subject *s = &r->subjects[k];
            if (strcmp(key_of(s, by_file), key) == 0)
                share_count(&n, s->class);
        }
        if (!n.live && !n.same_bits)
            continue;
        json_begin_object(w);
        json_key_string(w, by_file ? "file" : "rule", key);
        share_json(w, &n);
        json_end_object(w);
    }
    json_end_array(w);
}

static bool told_json(const struct mutants_run *r, bool finished, const size_t counts[CLASS_COUNT],
                      const struct share *n)
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
    json_key_integer(&w, "searches", r->m->searches);
    json_key(&w, "unusable");
    json_begin_array(&w);
    for (const struct notice *u = r->unusable; u; u = u->next)
        json_string(&w, u->name);
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
    share_json(&w, n);
    shares_json(&w, r, true);
    shares_json(&w, r, false);
    json_end_object(&w);
    json_end_object(&w);
    bool printed = json_print(&w);
    text_free(&w.out);
    return printed;
}

static void subject_text(const struct subject *s)
{
    printf("%-16s %-12s %s:%u %s %s: %.60s -> %.60s", mutant_class_names[s->class], s->id,
           s->edit.file, (unsigned)s->edit.line, s->edit.function, s->edit.rule, s->edit.was,
           s->edit.now[0] ? s->edit.now : "nothing");
    for (const struct notice *n = s->first; n; n = n->next)
        printf("\n%29s after %.1f s by %s", "", n->after_s, n->name);
    if (s->shown)
        printf("\n%29s shown by %s: %s", "", s->shown->name, s->shown->reason);
    else if (s->class == CLASS_SAME_BITS)
        printf("\n%29s in %zu scenes and grids that run the function", "", s->searched);
    printf("\n");
}

static void share_text(const char *of, size_t hits, size_t n)
{
    double interval[2];
    share_interval(hits, n, interval);
    printf("%zu of %zu %s noticed (%.1f %%, 95 %% interval %.1f to %.1f %%)\n", hits, n, of,
           100 * share_of(hits, n), 100 * interval[0], 100 * interval[1]);
}

static void told_text(const struct mutants_run *r, bool finished, const size_t counts[CLASS_COUNT],
                      const struct share *n)
{
    for (size_t i = 0; i < r->count; i++)
        subject_text(&r->subjects[i]);
    for (const struct notice *u = r->unusable; u; u = u->next)
        printf("not used: %s notices the text without an edit: %s\n", u->name, u->reason);
    if (!finished)
        printf("interrupted: what is alive was not asked by all cases\n");
    for (int c = 0; c < CLASS_PLAIN; c++)
        printf("%s%zu %s", c ? ", " : "", counts[c], mutant_class_names[c]);
    printf("\n");
    share_text("live mutants", n->noticed, n->live);
    if (n->same_bits)
        share_text("live ones and those with the same bits", n->noticed, n->live + n->same_bits);
}

int mutants_told(struct mutants_run *r, bool finished)
{
    size_t counts[CLASS_COUNT] = {0};
    struct share n = {0};
    for (size_t i = 0; i < r->count; i++) {
        struct subject *s = &r->subjects[i];
        if (s->class == CLASS_ALIVE && !s->asked && !s->shown &&
            !s->out_of_reach) /* an interrupt came, or a filter left nothing */
            s->class = CLASS_UNJUDGED;
        counts[s->class]++;
        share_count(&n, s->class);
    }
    if (r->m->json && !told_json(r, finished, counts, &n))
        return EXIT_BAD_INPUT;
    if (!r->m->json)
        told_text(r, finished, counts, &n);
    return counts[CLASS_ALIVE] ? EXIT_FINDING : n.live ? EXIT_PASS : EXIT_NOTHING_RAN;
}
