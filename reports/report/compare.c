/* SPDX-License-Identifier: Apache-2.0 */
/* Two stores against each other, for a CI gate. */
#include <assert.h>
#include <string.h>

#include "markup.h"
#include "store/offers.h"

const char *rate_relation_name(enum rate_relation r)
{
    static const char *const names[] = {RATE_RELATION_LIST(LIST_TEXT)};
    return (unsigned)r < RATE_RELATION_COUNT ? names[r] : "?";
}

enum rate_relation rate_compare(const double a[2], const double b[2], double threshold)
{
    if (!(a[0] > 0 && b[0] > 0 && a[1] >= a[0] && b[1] >= b[0]))
        return RATE_AMBIGUOUS;
    double low = a[0] / b[1], high = a[1] / b[0];
    double up = 1 + threshold, down = 1 / up;
    if (low > up)
        return RATE_FASTER;
    if (high < down)
        return RATE_SLOWER;
    return low >= down && high <= up ? RATE_SAME : RATE_AMBIGUOUS;
}

/* ---- what changed ----------------------------------------------------------------------- */

enum change {
    CHANGE_WORSE,
    CHANGE_GONE,
    CHANGE_BETTER,
    CHANGE_OTHER,
    CHANGE_NEW,
    CHANGE_NONE,
    CHANGE_COUNT
};
static const char *const change_names[] = {"worse", "gone", "better", "changed", "new", "same"};

struct comparison {
    const struct snapshot *old, *new;
    size_t *match; /* old column -> new column, or SIZE_MAX */
    bool *taken;   /* new columns that have an old one */
    double threshold;
    size_t cases[CHANGE_COUNT], rows[CHANGE_COUNT], rates[4];
    size_t findings, pairs; /* pairs: keys that both stores have */
    struct arena *a;
    struct difference {
        const char *device, *what;
        size_t results; /* how many pairs differ so; 0: the devices themselves */
        struct difference *next;
    } * differences, **last_difference;
    struct compiling {
        double old_s, new_s;
        size_t cases;
    } * compiling; /* by old column: of the cases that both have */
    bool no_memory;
    struct text text;          /* lines for people */
    struct json_writer writer; /* or one document */
    bool json;
};

/* The best remaining new column for an old one: same id, name and host; then id and name; then id.
 */
static size_t column_match(const struct comparison *c, const struct snapshot_column *o)
{
    size_t best = SIZE_MAX;
    int best_score = 0;
    for (size_t i = 0; i < c->new->column_count; i++) {
        const struct snapshot_column *n = &c->new->columns[i];
        if (c->taken[i] || text_order(n->device.id, o->device.id) != 0)
            continue;
        int score = 1 + 2 * (text_order(n->device.name, o->device.name) == 0) +
                    (text_order(n->host, o->host) == 0);
        if (score > best_score) {
            best = i;
            best_score = score;
        }
    }
    return best;
}

/* `old` and `new` may be NULL, not both. A waived failure is no worse than what it waives. */
static enum change verdict_change(const enum verdict *old, const enum verdict *new, bool waived)
{
    if (!old)
        return CHANGE_NEW;
    if (!new)
        return *old == VERDICT_PASS ? CHANGE_GONE : CHANGE_OTHER;
    if (*old == *new)
        return CHANGE_NONE;
    if (*old == VERDICT_PASS)
        return waived ? CHANGE_OTHER : CHANGE_WORSE;
    return *new == VERDICT_PASS ? CHANGE_BETTER : CHANGE_OTHER;
}

static bool is_finding(enum change c) { return c == CHANGE_WORSE || c == CHANGE_GONE; }

/* ---- what the two were made of ------------------------------------------------------------- */

static void difference_note(struct comparison *c, const char *device, const char *what,
                            size_t results)
{
    struct difference *d = c->differences;
    while (d && (strcmp(d->device, device) != 0 || strcmp(d->what, what) != 0))
        d = d->next;
    if (d) {
        d->results += results;
        return;
    }
    d = ARENA_NEW(c->a, struct difference);
    if (!d || !(d->what = arena_strdup(c->a, what))) {
        c->no_memory = true;
        return;
    }
    d->device = device;
    d->results = results;
    *c->last_difference = d;
    c->last_difference = &d->next;
}

/* Driver, version and compiler as the devices' own records have them: old stores have no more. */
static void device_compare(struct comparison *c, const struct snapshot_column *o,
                           const struct snapshot_column *n)
{
    const struct {
        const char *name, *was, *is;
    } rows[] = {{"name", o->device.name, n->device.name},
                {"driver", o->device.driver, n->device.driver},
                {"version", o->device.version, n->device.version},
                {"compiler", o->device.compiler, n->device.compiler},
                {"host", o->host, n->host}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char what[512];
        if (text_order(rows[i].was, rows[i].is) == 0)
            continue;
        snprintf(what, sizeof what, "%s was %s, is %s", rows[i].name,
                 rows[i].was && rows[i].was[0] ? rows[i].was : "not known",
                 rows[i].is && rows[i].is[0] ? rows[i].is : "not known");
        difference_note(c, o->label, what, 0);
    }
}

static const struct identity *inner(const struct identity *id, const char *kind)
{
    for (size_t i = 0; id && i < id->count; i++)
        if (id->parts[i].of && strcmp(id->parts[i].name, kind) == 0)
            return id->parts[i].of;
    return NULL;
}

/* What differs between two results of one key besides the device, which has been said. */
static void identity_compare(struct comparison *c, const char *device, const char *old_key,
                             const char *new_key)
{
    static const char *const kinds[] = {"program", "environment", "inputs"};
    if (!old_key || !new_key || strcmp(old_key, new_key) == 0)
        return;
    const struct identity *o = identity_find(c->old->identities, c->old->identity_count, old_key),
                          *n = identity_find(c->new->identities, c->new->identity_count, new_key);
    for (size_t i = 0; o && n && i < sizeof kinds / sizeof *kinds; i++) {
        const struct identity *x = inner(o, kinds[i]), *y = inner(n, kinds[i]);
        struct text t = {0};
        if (!x || !y || strcmp(x->key, y->key) == 0)
            continue;
        text_printf(&t, "%s ", kinds[i]);
        identity_difference(x, y, &t);
        c->no_memory |= t.failed;
        if (!t.failed)
            difference_note(c, device, t.data, 1);
        text_free(&t);
    }
}

/* ---- cases ------------------------------------------------------------------------------ */

static void case_say(struct comparison *c, enum change change, const char *device,
                     const struct case_record *o, const struct case_record *n)
{
    const char *name = o ? o->name : n->name;
    const char *from = o ? verdict_name(o->verdict) : NULL,
               *to = n ? verdict_name(n->verdict) : NULL;
    const char *reason = n ? n->reason : NULL;
    if (c->json) {
        json_begin_object(&c->writer);
        json_key_string(&c->writer, "change", change_names[change]);
        json_key_string(&c->writer, "case", name);
        json_key_string(&c->writer, "device", device);
        json_key_string(&c->writer, "old", from);
        json_key_string(&c->writer, "new", to);
        json_key_string(&c->writer, "reason", reason);
        json_key_string(&c->writer, "replay", n ? n->replay : NULL);
        json_end_object(&c->writer);
        return;
    }
    text_printf(&c->text, "  %-8s %s on %s: %s -> %s%s%s\n", change_names[change], name, device,
                from ? from : "absent", to ? to : "absent", reason && reason[0] ? ": " : "",
                reason ? reason : "");
    if (is_finding(change) && n && n->replay)
        text_printf(&c->text, "           replay: %s\n", n->replay);
}

static void case_compare(struct comparison *c, const char *device, const struct case_record *o,
                         const struct case_record *n)
{
    c->pairs += o && n;
    if (o && n)
        identity_compare(c, device, o->identity, n->identity);
    enum change change =
        verdict_change(o ? &o->verdict : NULL, n ? &n->verdict : NULL,
                       n && outcome_of_case(n).counts == COUNTS_NEUTRAL && n->waived);
    c->cases[change]++;
    c->findings += is_finding(change);
    if (change != CHANGE_NONE)
        case_say(c, change, device, o, n);
}

/* cases are sorted by name, then column */
static const struct case_record *case_find(const struct snapshot *s, const char *name,
                                           size_t column)
{
    size_t lo = 0, hi = s->name_count;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (strcmp(s->names[mid], name) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (column == SIZE_MAX || lo == s->name_count || strcmp(s->names[lo], name) != 0)
        return NULL;
    const struct snapshot_case *found = s->matrix[lo * s->column_count + column];
    return found ? found->record : NULL;
}

static size_t old_column(const struct comparison *c, size_t new_column)
{
    for (size_t i = 0; i < c->old->column_count; i++)
        if (c->match[i] == new_column)
            return i;
    return SIZE_MAX;
}

static void cases_compare(struct comparison *c)
{
    if (c->new->case_count == 0)
        return;
    for (size_t i = 0; i < c->old->case_count; i++) {
        const struct snapshot_case *o = &c->old->cases[i];
        const struct case_record *n = case_find(c->new, o->record->name, c->match[o->column]);
        if (n) {
            c->compiling[o->column].old_s += o->record->compile_s;
            c->compiling[o->column].new_s += n->compile_s;
            c->compiling[o->column].cases++;
        }
        case_compare(c, c->old->columns[o->column].label, o->record, n);
    }
    for (size_t i = 0; i < c->new->case_count; i++) {
        const struct snapshot_case *n = &c->new->cases[i];
        if (!case_find(c->old, n->record->name, old_column(c, n->column)))
            case_compare(c, c->new->columns[n->column].label, NULL, n->record);
    }
}

/* ---- rates ------------------------------------------------------------------------------ */

static const struct bench_record *bench_find(const struct snapshot *s, size_t column,
                                             const struct snapshot_bench *like)
{
    for (size_t i = 0; i < s->bench_count; i++)
        if (s->benches[i].column == column && s->benches[i].sweep == like->sweep &&
            bench_key_order(s->benches[i].record, like->record) == 0)
            return s->benches[i].record;
    return NULL;
}

static void bench_name(const struct bench_record *b, char *buf, size_t size)
{
    snprintf(buf, size, "%s %ux%u, %u spp, depth %u, %s, %s, work-group %ux%u", b->scene, b->width,
             b->height, b->spp, b->max_depth, b->mode, b->bvh ? b->bvh : "bvh?", b->work_group[0],
             b->work_group[1]);
    size_t n = strlen(buf);
    if (b->tile[0] && n < size)
        n += (size_t)snprintf(buf + n, size - n, ", tile %ux%u", b->tile[0], b->tile[1]);
    if (b->batch && n < size)
        snprintf(buf + n, size - n, ", batch %u", b->batch);
}

static void rate_say(struct comparison *c, const char *word, bool finding, const char *device,
                     const struct bench_record *o, const struct bench_record *n)
{
    char name[512], old_rate[32], new_rate[32];
    const struct bench_record *row = o ? o : n;
    assert(row);
    bench_name(row, name, sizeof name);
    bool both = o && n && o->samples_per_s > 0 && n->samples_per_s > 0;
    double ratio[3] = {0};
    if (both) {
        ratio[0] = n->samples_per_s / o->samples_per_s;
        ratio[1] = n->interval[0] / o->interval[1];
        ratio[2] = n->interval[1] / o->interval[0];
    }
    if (c->json) {
        json_begin_object(&c->writer);
        json_key_string(&c->writer, "change", word);
        json_key_bool(&c->writer, "finding", finding);
        json_key_string(&c->writer, "scene", row->scene);
        json_key_string(&c->writer, "device", device);
        json_key_string(&c->writer, "mode", row->mode);
        json_key_string(&c->writer, "row", name);
        json_key_string(&c->writer, "old", o ? verdict_name(o->verdict) : NULL);
        json_key_string(&c->writer, "new", n ? verdict_name(n->verdict) : NULL);
        json_key(&c->writer, "ratio");
        if (both)
            json_number(&c->writer, ratio[0]);
        else
            json_null(&c->writer);
        if (both) {
            json_key(&c->writer, "ratio_interval");
            json_begin_array(&c->writer);
            json_number(&c->writer, ratio[1]);
            json_number(&c->writer, ratio[2]);
            json_end_array(&c->writer);
        }
        json_key_string(&c->writer, "reason", n ? n->reason : NULL);
        json_end_object(&c->writer);
        return;
    }
    text_printf(&c->text, "  %-9s %s on %s: ", word, name, device);
    if (both)
        text_printf(&c->text, "%s -> %s, ratio %.3f [%.3f, %.3f]\n",
                    rate_text(o->samples_per_s, old_rate), rate_text(n->samples_per_s, new_rate),
                    ratio[0], ratio[1], ratio[2]);
    else
        text_printf(&c->text, "%s -> %s%s%s\n", o ? verdict_name(o->verdict) : "absent",
                    n ? verdict_name(n->verdict) : "absent", n && n->reason ? ": " : "",
                    n && n->reason ? n->reason : "");
}

static void rate_compare_rows(struct comparison *c, const char *device,
                              const struct bench_record *o, const struct bench_record *n)
{
    c->pairs += o && n;
    if (o && n)
        identity_compare(c, device, o->identity, n->identity);
    enum change change = verdict_change(o ? &o->verdict : NULL, n ? &n->verdict : NULL, false);
    if (o && n && change == CHANGE_NONE && o->verdict == VERDICT_PASS) {
        enum rate_relation r = rate_compare(n->interval, o->interval, c->threshold);
        c->rates[r]++;
        c->findings += r == RATE_SLOWER;
        if (r != RATE_SAME)
            rate_say(c, rate_relation_name(r), r == RATE_SLOWER, device, o, n);
        return;
    }
    c->rows[change]++;
    c->findings += is_finding(change);
    if (change != CHANGE_NONE)
        rate_say(c, change_names[change], is_finding(change), device, o, n);
}

static bool has_rows(const struct snapshot *s, bool sweep)
{
    for (size_t i = 0; i < s->bench_count; i++)
        if (s->benches[i].sweep == sweep)
            return true;
    return false;
}

static void rates_compare(struct comparison *c)
{
    bool kinds[2] = {has_rows(c->new, false), has_rows(c->new, true)};
    for (size_t i = 0; i < c->old->bench_count; i++) {
        const struct snapshot_bench *o = &c->old->benches[i];
        if (kinds[o->sweep])
            rate_compare_rows(c, c->old->columns[o->column].label, o->record,
                              bench_find(c->new, c->match[o->column], o));
    }
    for (size_t i = 0; i < c->new->bench_count; i++) {
        const struct snapshot_bench *n = &c->new->benches[i];
        if (!bench_find(c->old, old_column(c, n->column), n))
            rate_compare_rows(c, c->new->columns[n->column].label, NULL, n->record);
    }
}

/* ---- the whole -------------------------------------------------------------------------- */

static void counts_json(struct comparison *c)
{
    json_key(&c->writer, "counts");
    json_begin_object(&c->writer);
    json_key(&c->writer, "cases");
    json_begin_object(&c->writer);
    for (int i = 0; i < CHANGE_COUNT; i++)
        json_key_integer(&c->writer, change_names[i], (int64_t)c->cases[i]);
    json_end_object(&c->writer);
    json_key(&c->writer, "rates");
    json_begin_object(&c->writer);
    for (int i = 0; i < 4; i++)
        json_key_integer(&c->writer, rate_relation_name((enum rate_relation)i),
                         (int64_t)c->rates[i]);
    for (int i = 0; i < CHANGE_NONE; i++)
        json_key_integer(&c->writer, change_names[i], (int64_t)c->rows[i]);
    json_end_object(&c->writer);
    json_end_object(&c->writer);
}

static void differences_json(struct comparison *c)
{
    struct json_writer *w = &c->writer;
    json_key(w, "differences");
    json_begin_array(w);
    for (const struct difference *d = c->differences; d; d = d->next) {
        json_begin_object(w);
        json_key_string(w, "device", d->device);
        json_key_string(w, "what", d->what);
        if (d->results)
            json_key_integer(w, "results", (int64_t)d->results);
        json_end_object(w);
    }
    json_end_array(w);
    json_key(w, "compile_s");
    json_begin_array(w);
    for (size_t i = 0; i < c->old->column_count; i++) {
        if (!c->compiling[i].cases)
            continue;
        json_begin_object(w);
        json_key_string(w, "device", c->old->columns[i].label);
        json_key_integer(w, "cases", (int64_t)c->compiling[i].cases);
        json_key_number(w, "old", c->compiling[i].old_s);
        json_key_number(w, "new", c->compiling[i].new_s);
        json_end_object(w);
    }
    json_end_array(w);
}

static void differences_text(const struct comparison *c, struct text *t)
{
    for (const struct difference *d = c->differences; d; d = d->next) {
        text_printf(t, "differs on %s: %s", d->device, d->what);
        if (d->results)
            text_printf(t, " (%zu result%s)", d->results, d->results == 1 ? "" : "s");
        text_puts(t, "\n");
    }
    for (size_t i = 0; i < c->old->column_count; i++) {
        const struct compiling *k = &c->compiling[i];
        if (k->old_s + k->new_s > 0)
            text_printf(t, "compile time on %s: was %.3g s, is %.3g s, of %zu case%s\n",
                        c->old->columns[i].label, k->old_s, k->new_s, k->cases,
                        k->cases == 1 ? "" : "s");
    }
}

static void devices_compare(struct comparison *c)
{
    for (size_t i = 0; i < c->old->column_count; i++)
        if (c->match[i] != SIZE_MAX)
            device_compare(c, &c->old->columns[i], &c->new->columns[c->match[i]]);
}

/* The text of one of the two writers, taken away from it. */
static struct text taken_text(struct text *t)
{
    struct text own = *t;
    *t = (struct text){0};
    return own;
}

static void compare_write_json(struct comparison *c)
{
    struct json_writer *w = &c->writer;
    w->pretty = true;
    json_begin_object(w);
    json_key_number(w, "threshold", c->threshold);
    devices_compare(c);
    json_key(w, "cases");
    json_begin_array(w);
    cases_compare(c);
    json_end_array(w);
    json_key(w, "rates");
    json_begin_array(w);
    rates_compare(c);
    json_end_array(w);
    differences_json(c);
    counts_json(c);
    json_key_integer(w, "findings", (int64_t)c->findings);
    json_end_object(w);
    text_puts(&w->out, "\n");
    c->text = w->out;
}

static void compare_write_text(struct comparison *c)
{
    struct text head = {0};
    devices_compare(c);
    cases_compare(c);
    struct text cases = taken_text(&c->text);
    rates_compare(c);
    struct text rates = taken_text(&c->text);
    differences_text(c, &head);
    text_printf(&head,
                "verdicts: %zu same, %zu worse, %zu gone, %zu better, %zu changed, %zu new\n",
                c->cases[CHANGE_NONE], c->cases[CHANGE_WORSE], c->cases[CHANGE_GONE],
                c->cases[CHANGE_BETTER], c->cases[CHANGE_OTHER], c->cases[CHANGE_NEW]);
    text_append(&head, cases.data ? cases.data : "", cases.len);
    text_printf(&head,
                "rates (changes below %g%% do not count): %zu same, %zu slower, %zu faster, %zu "
                "ambiguous; rows: %zu worse, "
                "%zu gone, %zu better, %zu changed, %zu new\n",
                100 * c->threshold, c->rates[RATE_SAME], c->rates[RATE_SLOWER],
                c->rates[RATE_FASTER], c->rates[RATE_AMBIGUOUS], c->rows[CHANGE_WORSE],
                c->rows[CHANGE_GONE], c->rows[CHANGE_BETTER], c->rows[CHANGE_OTHER],
                c->rows[CHANGE_NEW]);
    text_append(&head, rates.data ? rates.data : "", rates.len);
    text_printf(&head, "%zu regression%s\n", c->findings, c->findings == 1 ? "" : "s");
    head.failed |= cases.failed | rates.failed;
    text_free(&cases);
    text_free(&rates);
    c->text = head;
}

enum status report_compare(struct store *old_store, struct store *new_store, double threshold,
                           bool json, struct text *out, size_t *findings, struct error *err)
{
    if (!(threshold >= 0))
        return error_msg(err, STATUS_ARG, "the threshold must not be negative");
    struct arena a = {0};
    struct snapshot old, new;
    enum status st = snapshot_load(&old_store, 1, &a, false, &old, err);
    if (!st)
        st = snapshot_load(&new_store, 1, &a, false, &new, err);
    struct comparison c = {.old = &old, .new = &new, .threshold = threshold, .json = json, .a = &a};
    c.last_difference = &c.differences;
    if (!st) {
        c.match = ARENA_ARRAY(&a, size_t, old.column_count);
        c.taken = ARENA_ARRAY(&a, bool, new.column_count);
        c.compiling = ARENA_ARRAY(&a, struct compiling, old.column_count);
        if (!c.match || !c.taken || !c.compiling)
            st = error_msg(err, STATUS_MEMORY, "out of memory for a comparison");
    }
    if (!st) {
        for (size_t i = 0; i < old.column_count; i++) {
            c.match[i] = column_match(&c, &old.columns[i]);
            if (c.match[i] != SIZE_MAX)
                c.taken[c.match[i]] = true;
        }
        if (json)
            compare_write_json(&c);
        else
            compare_write_text(&c);
        if (c.pairs == 0) {
            st = error_msg(err, STATUS_MISSING,
                           "%s and %s have no case and no benchmark row in common",
                           store_path(old_store), store_path(new_store));
        } else if (c.text.failed || c.no_memory) {
            st = error_msg(err, STATUS_MEMORY, "out of memory for a comparison");
        } else {
            text_append(out, c.text.data, c.text.len);
            *findings = c.findings;
        }
        text_free(&c.text);
    }
    arena_free(&a);
    return st;
}
