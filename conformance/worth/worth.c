/* SPDX-License-Identifier: Apache-2.0 */
#include "worth.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct worth_row {
    const char *name;
    double seconds;
    const char *noticed; /* hexadecimal digits: four mutants each, the first one lowest */
    size_t rank;         /* the place in the file */
    uint32_t asked, count, alone;
};

struct kept {
    const char *test, *reason; /* a glob of names */
};

struct worth {
    struct worth_row *rows; /* sorted by name */
    size_t count;
    uint32_t mutants;
    struct kept *kept;
    size_t kept_count;
};

/* ---- the files ------------------------------------------------------------------------------ */

static bool noticed(const struct worth_row *r, uint32_t mutant)
{
    const char c = r->noticed[mutant / 4];
    const int digit = c <= '9' ? c - '0' : c - 'a' + 10;
    return digit >> mutant % 4 & 1;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct worth_row *)a)->name, ((const struct worth_row *)b)->name);
}

static enum status row_read(const char *path, const struct json *v, uint32_t mutants,
                            struct worth_row *out, struct error *err)
{
    const struct json *name = v->type == JSON_OBJECT ? json_get(v, "case") : NULL,
                      *s = name ? json_get(v, "s") : NULL, *asked = s ? json_get(v, "asked") : NULL,
                      *bits = asked ? json_get(v, "notices") : NULL;
    const size_t digits = (mutants + 3) / 4;
    if (!bits || name->type != JSON_STRING || s->type != JSON_NUMBER || !(s->number >= 0) ||
        asked->type != JSON_NUMBER || !asked->is_integer || asked->integer < 0 ||
        asked->integer > 1 << 20 || bits->type != JSON_STRING || strlen(bits->string) != digits ||
        strspn(bits->string, "0123456789abcdef") != digits)
        return json_error(err, path, v, STATUS_TYPE,
                          "expected {\"case\": name, \"s\": seconds, \"asked\": how many, "
                          "\"notices\": %zu lower-case hexadecimal digits}",
                          digits);
    *out = (struct worth_row){.name = name->string,
                              .seconds = s->number,
                              .asked = (uint32_t)asked->integer,
                              .noticed = bits->string,
                              .rank = v->index};
    return STATUS_OK;
}

static enum status document_read(struct arena *a, const char *path, const struct json **root,
                                 struct error *err)
{
    char *data;
    size_t size;
    TRY(file_read(a, path, (size_t)16 << 20, &data, &size, err));
    return json_parse(a, path, data, size, root, err);
}

static enum status rows_read(struct arena *a, struct worth *w, struct error *err)
{
    const char *path;
    const struct json *root;
    TRY(data_path(a, "conformance/lists/worth.json", &path, err));
    TRY(document_read(a, path, &root, err));
    const struct json *n = root->type == JSON_OBJECT ? json_get(root, "mutants") : NULL,
                      *list = n ? json_get(root, "cases") : NULL;
    if (!list || n->type != JSON_NUMBER || !n->is_integer || n->integer < 0 ||
        n->integer > 1 << 20 || list->type != JSON_ARRAY)
        return json_error(err, path, root, STATUS_TYPE,
                          "expected \"mutants\", how many, and \"cases\", an array");
    w->mutants = (uint32_t)n->integer;
    w->rows = ARENA_ARRAY(a, struct worth_row, list->count + 1);
    if (!w->rows)
        return error_msg(err, STATUS_MEMORY, "out of memory for %zu cases", list->count);
    for (const struct json *v = list->first; v; v = v->next)
        TRY(row_read(path, v, w->mutants, &w->rows[w->count++], err));
    qsort(w->rows, w->count, sizeof *w->rows, by_name);
    for (size_t i = 1; i < w->count; i++)
        if (strcmp(w->rows[i - 1].name, w->rows[i].name) == 0)
            return error_msg(err, STATUS_TYPE, "%s: %s stands there twice", path, w->rows[i].name);
    return STATUS_OK;
}

static void rows_count(struct worth *w)
{
    for (uint32_t m = 0; m < w->mutants; m++) {
        struct worth_row *last = NULL;
        uint32_t by = 0;
        for (size_t i = 0; i < w->count; i++)
            if (noticed(&w->rows[i], m)) {
                last = &w->rows[i];
                last->count++;
                by++;
            }
        if (by == 1)
            last->alone++;
    }
}

static enum status kept_read(struct arena *a, struct worth *w, struct error *err)
{
    const char *path;
    const struct json *root;
    TRY(data_path(a, "conformance/lists/kept.json", &path, err));
    TRY(document_read(a, path, &root, err));
    const struct json *list = root->type == JSON_OBJECT ? json_get(root, "kept") : NULL;
    if (!list || list->type != JSON_ARRAY)
        return json_error(err, path, root, STATUS_TYPE, "expected \"kept\", an array");
    w->kept = ARENA_ARRAY(a, struct kept, list->count + 1);
    if (!w->kept)
        return error_msg(err, STATUS_MEMORY, "out of memory for %zu reasons", (size_t)list->count);
    for (const struct json *v = list->first; v; v = v->next) {
        const struct json *test = v->type == JSON_OBJECT ? json_get(v, "case") : NULL,
                          *reason = test ? json_get(v, "reason") : NULL;
        if (!reason || test->type != JSON_STRING || reason->type != JSON_STRING)
            return json_error(err, path, v, STATUS_TYPE,
                              "expected {\"case\": pattern of names, \"reason\": text}");
        w->kept[w->kept_count++] = (struct kept){test->string, reason->string};
    }
    return STATUS_OK;
}

enum status worth_read(struct arena *a, const struct worth **out, struct error *err)
{
    struct worth *w = ARENA_NEW(a, struct worth);
    if (!w)
        return error_msg(err, STATUS_MEMORY, "out of memory for what cases are worth");
    TRY(rows_read(a, w, err));
    TRY(kept_read(a, w, err));
    rows_count(w);
    *out = w;
    return STATUS_OK;
}

/* ---- what they say -------------------------------------------------------------------------- */

static const struct worth_row *row_find(const struct worth *w, const char *name)
{
    const struct worth_row key = {.name = name};
    return w->count ? bsearch(&key, w->rows, w->count, sizeof *w->rows, by_name) : NULL;
}

struct case_worth worth_of(const struct worth *w, const char *name)
{
    const struct worth_row *r = row_find(w, name);
    struct case_worth of = {.mutants = w->mutants};
    if (r) {
        of.known = true;
        of.seconds = r->seconds;
        of.asked = r->asked;
        of.noticed = r->count;
        of.alone = r->alone;
    }
    for (size_t i = 0; r && !r->alone && !of.kept && i < w->kept_count; i++)
        if (fnmatch(w->kept[i].test, name, 0) == 0)
            of.kept = w->kept[i].reason;
    return of;
}

/* Of hits / count, at 95 %: Wilson, Journal of the American Statistical Association 22 (1927). */
static void share_interval(size_t hits, size_t count, double out[2])
{
    const double z = 1.959963984540054, n = (double)count, p = count ? (double)hits / n : 0;
    const double middle = p + z * z / (2 * n),
                 half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    out[0] = count ? (middle - half) / (1 + z * z / n) : 0;
    out[1] = count ? (middle + half) / (1 + z * z / n) : 1;
}

void worth_share(const struct worth *w, const char *const *names, size_t count,
                 struct worth_share *out)
{
    struct worth_share s = {0};
    for (uint32_t m = 1; m < w->mutants; m += 2) { /* the others made the order */
        bool found = false;
        for (size_t i = 0; i < count && !found; i++) {
            const struct worth_row *r = row_find(w, names[i]);
            found = r && noticed(r, m);
        }
        s.mutants++;
        s.noticed += found;
    }
    share_interval(s.noticed, s.mutants, s.interval);
    *out = s;
}

struct placed {
    size_t rank, index;
};

static int by_rank(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

/* Of a case that the file does not know: the first place that one of its group has, such as
 * image.dense, for who adds a case means that it notices what no other does. without: no such
 * group. */
static size_t group_rank(const struct worth *w, const char *name, size_t without)
{
    const char *dot = strchr(name, '.'), *second = dot ? strchr(dot + 1, '.') : NULL;
    size_t rank = SIZE_MAX;
    for (size_t i = 0; second && i < w->count; i++)
        if (strncmp(w->rows[i].name, name, (size_t)(second + 1 - name)) == 0)
            rank = w->rows[i].rank < rank ? w->rows[i].rank : rank;
    return rank == SIZE_MAX ? without : rank;
}

enum status worth_order(struct arena *a, const struct worth *w, const struct conform_case *all,
                        size_t all_count, const bool *marked, size_t **order, size_t *count,
                        struct error *err)
{
    struct placed *placed = ARENA_ARRAY(a, struct placed, all_count + 1);
    size_t *list = ARENA_ARRAY(a, size_t, all_count + 1), n = 0, rank = 0;
    if (!placed || !list)
        return error_msg(err, STATUS_MEMORY, "out of memory for %zu cases", all_count);
    for (size_t i = 0; i < all_count; i++) {
        const struct worth_row *r = row_find(w, all[i].name);
        rank = r ? r->rank : group_rank(w, all[i].name, rank);
        if (marked[i])
            placed[n++] = (struct placed){rank, i};
    }
    qsort(placed, n, sizeof *placed, by_rank);
    for (size_t i = 0; i < n; i++)
        list[i] = placed[i].index;
    *order = list;
    *count = n;
    return STATUS_OK;
}
