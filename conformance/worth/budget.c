/* SPDX-License-Identifier: Apache-2.0 */
/* budget_open and the rest: the best seconds of a list, by the order of worth. */
#include "conformance.h"

#include <string.h>

struct judged { /* of one device */
    const char **names;
    size_t count;
};

struct budget {
    struct arena *arena;
    const struct worth *worth;
    const struct conform_options *o;
    double seconds, begin;
    double expected, spent; /* of cases that ended: as the file has them, and here */
    size_t ended, selected;
    struct judged *judged;
};

enum status budget_open(struct arena *a, double seconds, struct conform_options *o,
                        struct budget **out, struct error *err)
{
    const struct conform_case *cases;
    struct budget *b = ARENA_NEW(a, struct budget);
    if (!b)
        return error_msg(err, STATUS_MEMORY, "out of memory for a budget");
    *b = (struct budget){.arena = a, .o = o, .seconds = seconds, .begin = clock_s()};
    TRY(worth_read(a, &b->worth, err));
    TRY(conform_select(a, o, &cases, &b->selected, err));
    b->judged = ARENA_ARRAY(a, struct judged, o->device_count + 1);
    for (size_t i = 0; b->judged && i < o->device_count; i++)
        if (!(b->judged[i].names = ARENA_ARRAY(a, const char *, b->selected + 1)))
            b->judged = NULL;
    if (!b->judged)
        return error_msg(err, STATUS_MEMORY, "out of memory for a budget");
    o->deadline = b->begin + seconds;
    o->by_case = true;
    *out = b;
    return STATUS_OK;
}

/* As many seconds as in the file, times what cases took here so far for one of those. A first case
 * of milliseconds that compiles says little of the others: two seconds that took two come first. */
static double expected_s(const struct budget *b, const struct conform_case *c)
{
    const struct case_worth w = worth_of(b->worth, c->name);
    const double there = w.known ? w.seconds : b->ended ? b->expected / (double)b->ended : 0;
    return there * (b->spent + 2) / (b->expected + 2);
}

bool budget_allows(const struct budget *b, const struct conform_case *c)
{
    return clock_s() - b->begin + expected_s(b, c) <= b->seconds;
}

void budget_note(struct budget *b, const char *device, const struct conform_case *c,
                 const struct conform_result *r)
{
    const struct case_worth w = worth_of(b->worth, c->name);
    size_t d = 0;
    while (d + 1 < b->o->device_count && strcmp(b->o->devices[d], device) != 0)
        d++;
    if (w.known) {
        b->expected += w.seconds;
        b->spent += r->compile_s + r->run_s;
        b->ended++;
    }
    /* a SKIP or an ERROR has noticed nothing, and would not */
    const bool counts = r->verdict == VERDICT_PASS || r->verdict == VERDICT_FAIL;
    const char *name = counts ? arena_strdup(b->arena, c->name) : NULL; /* the run's ends with it */
    if (name && b->judged[d].count < b->selected)
        b->judged[d].names[b->judged[d].count++] = name;
}

static void device_json(const struct budget *b, size_t d, const struct worth_share *s,
                        struct json_writer *w)
{
    json_begin_object(w);
    json_key_string(w, "device", b->o->devices[d]);
    json_key_integer(w, "judged", (int64_t)b->judged[d].count);
    json_key_integer(w, "mutants", (int64_t)s->mutants);
    json_key_integer(w, "noticed", (int64_t)s->noticed);
    json_key_pair(w, "interval", s->interval[0], s->interval[1]);
    json_end_object(w);
}

void budget_json(const struct budget *b, struct json_writer *w)
{
    json_begin_object(w);
    json_key_number(w, "seconds", b->seconds);
    json_key_number(w, "took_s", clock_s() - b->begin);
    json_key_integer(w, "selected", (int64_t)b->selected);
    json_key(w, "devices");
    json_begin_array(w);
    for (size_t d = 0; d < b->o->device_count; d++) {
        struct worth_share s;
        worth_share(b->worth, b->judged[d].names, b->judged[d].count, &s);
        device_json(b, d, &s, w);
    }
    json_end_array(w);
    json_end_object(w);
}

void budget_text(const struct budget *b, struct text *out)
{
    for (size_t d = 0; d < b->o->device_count; d++) {
        const struct judged *j = &b->judged[d];
        struct worth_share s;
        worth_share(b->worth, j->names, j->count, &s);
        text_printf(
            out,
            "%s: %zu of %zu cases judged in %.1f s of %g; they notice %zu of %zu mutants that "
            "the order was not made from (95 %% interval %.0f to %.0f %%)\n",
            b->o->devices[d], j->count, b->selected, clock_s() - b->begin, b->seconds, s.noticed,
            s.mutants, 100 * s.interval[0], 100 * s.interval[1]);
    }
    text_puts(out, "this is not the whole list: it says nothing of the cases that were left out\n");
}
