/* SPDX-License-Identifier: Apache-2.0 */
/* An archive against itself and against this program: nothing is rendered here. */
#include "audit.h"

#include "cases/case.h"

#include <stdlib.h>
#include <string.h>

static void line_put(struct auditing *u, struct audit_line ***last, const char *check,
                     const char *fmt, va_list ap)
{
    char text[1200];
    struct audit_line *l = ARENA_NEW(u->a, struct audit_line);
    vsnprintf(text, sizeof text, fmt, ap);
    if (!l || !(l->text = arena_strdup(u->a, text)))
        return; /* the count tells */
    l->check = check;
    **last = l;
    *last = &l->next;
}

void audit_finding(struct auditing *u, const char *check, const char *fmt, ...)
{
    enum { SHOWN = 200 };
    va_list ap;
    va_start(ap, fmt);
    if (u->out->finding_count++ < SHOWN)
        line_put(u, &u->last_finding, check, fmt, ap);
    va_end(ap);
}

void audit_note(struct auditing *u, const char *check, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    line_put(u, &u->last_note, check, fmt, ap);
    va_end(ap);
}

static int compare_keys(const char *name, const char *device, const struct case_record *c)
{
    const int order = strcmp(name, c->name);
    return order ? order : strcmp(device, c->device);
}

static int by_name(const void *a, const void *b)
{
    const struct case_record *const c = *(const struct case_record *const *)a,
                                    *const d = *(const struct case_record *const *)b;
    const int order = compare_keys(c->name, c->device, d);
    return order ? order : c < d ? -1 : 1;
}

/* The first one, where it stands twice. */
const struct case_record *audit_case(const struct auditing *u, const char *name, const char *device)
{
    size_t low = 0, high = u->case_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare_keys(name, device, u->by_name[middle]) > 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < u->case_count && compare_keys(name, device, u->by_name[low]) == 0 ? u->by_name[low]
                                                                                   : NULL;
}

const struct conform_case *audit_known(const struct auditing *u, const char *name)
{
    for (size_t i = 0; i < u->selected_count; i++)
        if (strcmp(u->selected[i].name, name) == 0)
            return &u->selected[i];
    return NULL;
}

static const char *string_at(const struct json *o, const char *key)
{
    const struct json *v = o && o->type == JSON_OBJECT ? json_get(o, key) : NULL;
    return v && v->type == JSON_STRING ? v->string : NULL;
}

const char *audit_part(const struct identity *id, const char *name)
{
    for (size_t i = 0; id && i < id->count; i++)
        if (strcmp(id->parts[i].name, name) == 0)
            return id->parts[i].value;
    return "";
}

/* ---- reading -------------------------------------------------------------------------------- */

static enum status identities_load(struct auditing *u, struct store *s, struct error *err)
{
    struct identity_record *r;
    size_t n;
    TRY(store_identities(s, u->a, 0, &r, &n, err));
    u->identities = ARENA_ARRAY(u->a, const struct identity *, n);
    if (!u->identities)
        return error_msg(err, STATUS_MEMORY, "out of memory for %zu identities", n);
    for (size_t i = 0; i < n; i++) { /* inner ones stand first */
        const struct json *parts;
        TRY(json_parse(u->a, "parts", r[i].parts, strlen(r[i].parts), &parts, err));
        TRY(identity_read(u->a, "parts", r[i].kind, r[i].key, parts, u->identities,
                          u->identity_count, &u->identities[u->identity_count], err));
        u->identity_count++;
    }
    return STATUS_OK;
}

static enum status load(struct auditing *u, struct store *s, struct error *err)
{
    struct run_record *runs;
    size_t n;
    TRY(store_runs(s, u->a, &runs, &n, err));
    if (n != 1)
        return error_msg(err, STATUS_MISMATCH, "the results are of %zu runs; expected one", n);
    u->run = &runs[0];
    const char *kind = u->run->kind;
    u->out->unit = strcmp(kind, "conform") == 0 ? "cases" : "rows";
    if (strcmp(kind, "conform") != 0 && strcmp(kind, "bench") != 0 && strcmp(kind, "sweep") != 0)
        return error_msg(err, STATUS_MISMATCH, "the results are of %s, which nobody can audit",
                         kind);
    const char *selection = u->run->selection ? u->run->selection : "{}";
    if (strcmp(kind, "conform") == 0 && (!u->run->selection || !u->in->members[ARCHIVE_LIST].data))
        return error_msg(err, STATUS_MISMATCH, "the run does not say what it selected");
    TRY(json_parse(u->a, "selection", selection, strlen(selection), &u->selection, err));
    if (u->selection->type != JSON_OBJECT)
        return error_msg(err, STATUS_MISMATCH, "the run's selection is %s, no object",
                         json_type_name(u->selection->type));
    TRY(store_devices(s, u->a, 0, &u->devices, &u->device_count, err));
    TRY(store_cases(s, u->a, 0, &u->cases, &u->case_count, err));
    TRY(store_films(s, u->a, 0, &u->films, &u->film_count, err));
    u->by_name = ARENA_ARRAY(u->a, const struct case_record *, u->case_count);
    if (!u->by_name)
        return error_msg(err, STATUS_MEMORY, "out of memory for %zu cases", u->case_count);
    for (size_t i = 0; i < u->case_count; i++)
        u->by_name[i] = &u->cases[i];
    qsort(u->by_name, u->case_count, sizeof *u->by_name, by_name);
    return identities_load(u, s, err);
}

/* ---- the program ---------------------------------------------------------------------------- */

static void check_program(struct auditing *u)
{
    static const char *const must[] = {"version", "commit", "dirty", "kernel", "protocol"};
    const struct identity *program = NULL, *environment = NULL;
    for (size_t i = 0; i < u->identity_count; i++) {
        const struct identity *id = u->identities[i];
        const struct identity **known = strcmp(id->kind, "program") == 0       ? &program
                                        : strcmp(id->kind, "environment") == 0 ? &environment
                                                                               : NULL;
        if (known && *known && strcmp((*known)->key, id->key) != 0)
            audit_finding(u, "mixed", "results of two %ss are in one run", id->kind);
        else if (known)
            *known = id;
    }
    if (!program) {
        audit_finding(u, "program", "no result names the program that made it");
        return;
    }
    u->program = program;
    for (size_t i = 0; i < sizeof must / sizeof *must; i++)
        if (strcmp(audit_part(program, must[i]), audit_part(u->o->program, must[i])) != 0)
            audit_finding(u, "program", "%s is '%.60s', this program's is '%.60s'", must[i],
                          audit_part(program, must[i]), audit_part(u->o->program, must[i]));
    if (strcmp(audit_part(program, "dirty"), "no") != 0)
        audit_note(u, "program", "it was built of a tree with changes that no commit has");
    if (strcmp(audit_part(program, "build"), audit_part(u->o->program, "build")) != 0)
        audit_note(u, "program", "its bytes are not this program's: another build of the text");
}

/* ---- members that repeat what the results hold ---------------------------------------------- */

static void check_member(struct auditing *u, enum archive_member m, const char *expected)
{
    const char *data = u->in->members[m].data;
    size_t n = expected ? strlen(expected) : 0;
    if (!data != !expected ||
        (data && (u->in->members[m].size != n || memcmp(data, expected, n) != 0)))
        audit_finding(u, "members", "%s is not what results.jsonl says", archive_member_name(m));
}

static const char *rows_text(struct auditing *u, const char *key)
{
    const struct json *v = json_get(u->selection, key);
    struct json_writer w = {0};
    if (!v)
        return NULL;
    struct json plain = *v;
    plain.key = NULL;
    json_copy(&w, &plain);
    text_puts(&w.out, "\n");
    const char *text = w.out.failed ? NULL : arena_strdup(u->a, w.out.data);
    text_free(&w.out);
    return text;
}

static void check_members(struct auditing *u)
{
    check_member(u, ARCHIVE_ENVIRONMENT,
                 u->run->environment ? arena_printf(u->a, "%s\n", u->run->environment) : NULL);
    check_member(u, ARCHIVE_WAIVERS, rows_text(u, "waiver_rows"));
    check_member(u, ARCHIVE_SKIPS, rows_text(u, "skip_rows"));
}

/* ---- the list, and that all of it is there -------------------------------------------------- */

static const char *const *strings_at(struct auditing *u, const char *key, size_t *count)
{
    const struct json *v = json_get(u->selection, key);
    const char **out =
        v && v->type == JSON_ARRAY ? ARENA_ARRAY(u->a, const char *, v->count) : NULL;
    *count = 0;
    for (const struct json *c = out ? v->first : NULL; c; c = c->next)
        if (c->type == JSON_STRING)
            out[(*count)++] = c->string;
    return out;
}

static uint32_t number_of(const struct json *v)
{
    return v && v->type == JSON_NUMBER && v->is_integer && v->integer >= 0 &&
                   v->integer <= UINT32_MAX
               ? (uint32_t)v->integer
               : 0;
}

/* list.txt as a file of its own, so that a run of any list can be selected again. */
static enum status list_write(struct auditing *u, const char **path, struct error *err)
{
    *path = arena_printf(u->a, "%s/list.txt", u->o->scratch);
    return *path ? file_write(*path, u->in->members[ARCHIVE_LIST].data,
                              u->in->members[ARCHIVE_LIST].size, err)
                 : error_msg(err, STATUS_MEMORY, "out of memory");
}

/* What a stranger's selection may ask of this program. glibc makes copies of what a pattern
 * repeats, so that a short one can take all memory. */
enum { FILTER_MOST = 512, FILTER_REPEATS = 8, MADE_MOST = 100000 };

static bool filter_is_tame(const char *filter)
{
    size_t repeats = 0, n = strlen(filter);
    for (size_t i = 0; i < n; i++) {
        repeats += filter[i] == '+' && i && filter[i - 1] == ')';
        if (filter[i] == '{' || (filter[i] == '\\' && filter[i + 1] >= '0' && filter[i + 1] <= '9'))
            return false;
    }
    return n <= FILTER_MOST && repeats <= FILTER_REPEATS;
}

/* The options that the run was selected by; false, with a finding, where they are none. */
static bool selection_read(struct auditing *u, struct conform_options *o)
{
    const struct json *shard = json_get(u->selection, "shard");
    const char *seed = string_at(u->selection, "random_seed");
    struct error why = {0};
    *o = (struct conform_options){
        .filter = string_at(u->selection, "filter"),
        .challenge = string_at(u->selection, "challenge"),
        .programs = number_of(json_get(u->selection, "programs")),
        .random_scenes = number_of(json_get(u->selection, "random_scenes")),
        .random_seed = seed ? strtoull(seed, NULL, 10) : 0,
    };
    o->levels = strings_at(u, "levels", &o->level_count);
    if (shard && shard->type == JSON_ARRAY && shard->count == 2) {
        o->shard = number_of(shard->first);
        o->shards = number_of(shard->first->next);
    }
    if (o->challenge && conform_challenge(u->a, o->challenge, &o->challenge, &why) != STATUS_OK) {
        audit_finding(u, "challenge", "the run's challenge is none: %s", why.msg);
        return false;
    }
    u->challenge = o->challenge;
    if (o->programs > MADE_MOST || o->random_scenes > MADE_MOST) {
        audit_finding(u, "list", "the run asks for %u programs and %u scenes; an audit takes %d",
                      o->programs, o->random_scenes, (int)MADE_MOST);
        return false;
    }
    if (o->filter && !filter_is_tame(o->filter)) {
        audit_finding(u, "list",
                      "the run's filter has bounds, references or too many repeats: an audit does "
                      "not evaluate it");
        return false;
    }
    return true;
}

static void note_part(struct auditing *u, const struct json *mine, const char *list)
{
    const uint32_t whole = number_of(json_get(mine, "cases"));
    size_t listed = 0;
    for (size_t i = 0; i < u->selected_count; i++)
        listed += u->selected[i].listed;
    if (listed < whole)
        audit_note(u, "list",
                   "the run was to judge %zu of the %u cases of the list '%.100s', not all", listed,
                   whole, list);
}

static enum status select_again(struct auditing *u, struct error *err)
{
    const struct json *mine;
    const char *text = NULL, *hash = string_at(u->selection, "hash");
    const char *list = string_at(u->selection, "list");
    struct conform_options *o = &u->selected_by;
    struct error why = {0};
    if (!selection_read(u, o))
        return STATUS_OK;
    const bool named = list && (strcmp(list, "core") == 0 || strcmp(list, "faults") == 0 ||
                                strcmp(list, "all") == 0);
    const bool random = list && strcmp(list, "random") == 0 && o->random_scenes;
    TRY(list_write(u, &o->list, err));
    if (random && u->in->members[ARCHIVE_LIST].size == 0)
        o->list = NULL; /* scenes at random alone */
    if (conform_select(u->a, o, &u->selected, &u->selected_count, &why) != STATUS_OK ||
        conform_selection(u->a, o, &text, &why) != STATUS_OK ||
        json_parse(u->a, "selection", text, strlen(text), &mine, &why) != STATUS_OK) {
        audit_finding(u, "list", "this program cannot select what was run: %s", why.msg);
        return why.code == STATUS_MEMORY ? error_msg(err, STATUS_MEMORY, "%s", why.msg) : STATUS_OK;
    }
    if (!hash || strcmp(hash, string_at(mine, "hash")) != 0)
        audit_finding(u, "list", "list.txt is not the list that the run says it judged");
    if (!named) {
        if (o->list)
            audit_note(u, "list", "the list '%.100s' is the submitter's own", list ? list : "");
        return STATUS_OK;
    }
    note_part(u, mine, list);
    struct conform_options own = *o;
    own.list = list;
    if (conform_selection(u->a, &own, &text, &why) != STATUS_OK ||
        json_parse(u->a, "selection", text, strlen(text), &mine, &why) != STATUS_OK ||
        strcmp(string_at(mine, "hash"), hash ? hash : "") != 0)
        audit_finding(u, "list", "list.txt is not the list %s of this program", list);
    return STATUS_OK;
}

static void check_complete(struct auditing *u)
{
    const struct json *own = json_get(u->selection, "scenes");
    size_t unknown = 0;
    for (size_t d = 0; d < u->device_count; d++)
        for (size_t i = 0; i < u->selected_count; i++)
            if (!audit_case(u, u->selected[i].name, u->devices[d].id))
                audit_finding(u, "complete", "%s on %s was to be judged, and has no result",
                              u->selected[i].name, u->devices[d].id);
    for (size_t i = 0; i < u->case_count; i++) {
        const struct case_record *c = &u->cases[i];
        size_t d = 0;
        while (d < u->device_count && strcmp(u->devices[d].id, c->device) != 0)
            d++;
        if (d == u->device_count)
            audit_finding(u, "devices", "%s was judged on %s, which the run does not describe",
                          c->name, c->device);
        if (audit_case(u, c->name, c->device) != c)
            audit_finding(u, "complete", "%s on %s stands twice", c->name, c->device);
        const bool known = audit_known(u, c->name) != NULL;
        unknown += !known;
        if (!known && !own)
            audit_finding(u, "complete", "%s was not to be judged", c->name);
    }
    if (own)
        audit_note(u, "complete",
                   "%zu verdicts are of scenes of the submitter's own: none of them is looked at, "
                   "nor what is missing among them",
                   unknown);
}

/* ---- each verdict --------------------------------------------------------------------------- */

const struct device_record *audit_device(const struct auditing *u, const char *id)
{
    for (size_t d = 0; d < u->device_count; d++)
        if (strcmp(u->devices[d].id, id) == 0)
            return &u->devices[d];
    return NULL;
}

static bool same(const char *a, const char *b) { return strcmp(a ? a : "", b ? b : "") == 0; }

static void check_devices(struct auditing *u)
{
    for (size_t d = 0; d < u->device_count; d++) {
        const struct device_record *r = &u->devices[d];
        const struct identity *id =
            r->identity ? identity_find(u->identities, u->identity_count, r->identity) : NULL;
        if (!id || !same(audit_part(id, "id"), r->id) || !same(audit_part(id, "api"), r->api) ||
            !same(audit_part(id, "name"), r->name) || !same(audit_part(id, "vendor"), r->vendor) ||
            !same(audit_part(id, "driver"), r->driver) ||
            !same(audit_part(id, "version"), r->version) ||
            !same(audit_part(id, "compiler"), r->compiler))
            audit_finding(u, "devices", "%s is described otherwise than by its identity", r->id);
    }
}

/* Is it a name of a file of this program's? A stranger's must not make us read others. */
static bool is_own_name(const char *name)
{
    static const char *const roots[] = {"isophote:", "data:"};
    const char *at = name;
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++)
        if (strncmp(name, roots[i], strlen(roots[i])) == 0)
            at = name + strlen(roots[i]);
    if (*at == '/')
        return false;
    for (; at; at = strchr(at, '/')) {
        at += *at == '/';
        if (strcmp(at, "..") == 0 || strncmp(at, "../", 3) == 0)
            return false;
    }
    return true;
}

static bool names(const struct identity *id, const char *part)
{
    for (size_t i = 0; i < id->count; i++)
        if (strcmp(id->parts[i].name, part) == 0)
            return true;
    return false;
}

static enum status check_inputs(struct auditing *u, const struct identity *inputs, const char *name,
                                const char *device, const char *scene, struct error *err)
{
    const struct identity *least = identity_of_inputs(u->a, scene, "", 0, err), *now;
    if (!least)
        return STATUS_MEMORY;
    if (!inputs || !names(inputs, least->parts[0].name)) {
        audit_finding(u, "inputs", "%s on %s does not say which scene it read", name, device);
        return STATUS_OK;
    }
    for (size_t i = 0; i < inputs->count; i++)
        if (!is_own_name(inputs->parts[i].name)) {
            audit_finding(u, "inputs", "%s on %s read %.200s, which is no file of this program",
                          name, device, inputs->parts[i].name);
            return STATUS_OK;
        }
    now = identity_inputs_now(u->a, &u->hashes, scene, inputs, err);
    if (!now)
        return STATUS_MEMORY;
    if (strcmp(now->key, inputs->key) != 0) {
        struct text t = {0};
        identity_difference(inputs, now, &t);
        audit_finding(u, "inputs", "%s on %s read other files than this program has: %s", name,
                      device, t.data ? t.data : "");
        text_free(&t);
    }
    return STATUS_OK;
}

enum status audit_identity(struct auditing *u, const struct identity *id, const char *name,
                           const char *device, const char *scene, struct error *err)
{
    const struct identity *of = identity_inner(id, "device"),
                          *program = identity_inner(id, "program");
    const struct device_record *r = audit_device(u, device);
    if (!of || !r || !same(of->key, r->identity))
        audit_finding(u, "devices", "%s on %s has the key of another device", name, device);
    if (u->program && (!program || strcmp(program->key, u->program->key) != 0))
        audit_finding(u, "program", "%s on %s has the key of another program", name, device);
    return scene ? check_inputs(u, identity_inner(id, "inputs"), name, device, scene, err)
                 : STATUS_OK;
}

static enum status check_identity(struct auditing *u, const struct case_record *c,
                                  struct error *err)
{
    const struct identity *id =
        c->identity ? identity_find(u->identities, u->identity_count, c->identity) : NULL;
    const struct conform_case *known = audit_known(u, c->name);
    if (!id || strcmp(id->kind, "case") != 0 || strcmp(audit_part(id, "case"), c->name) != 0) {
        audit_finding(u, "keys", "%s on %s has no key of its own", c->name, c->device);
        return STATUS_OK;
    }
    return audit_identity(u, id, c->name, c->device, known ? known->scene : NULL, err);
}

struct rules {
    struct waivers waivers, accepted;
    struct skips skips, accepted_skips;
    bool has_waivers, has_skips;
    size_t *skipped; /* expected SKIPs by device and row of skips.json */
};

static enum status rules_read(struct auditing *u, struct rules *out, struct error *err)
{
    char today[32] = "", now[32];
    const char *path = arena_printf(u->a, "%s/rules.json", u->o->scratch);
    struct error why = {0};
    snprintf(today, sizeof today, "%.10s", u->run->started_utc ? u->run->started_utc : "");
    if (!path)
        return error_msg(err, STATUS_MEMORY, "out of memory");
    out->has_waivers = u->in->members[ARCHIVE_WAIVERS].data != NULL;
    out->has_skips = u->in->members[ARCHIVE_SKIPS].data != NULL;
    if (out->has_waivers) {
        TRY(file_write(path, u->in->members[ARCHIVE_WAIVERS].data,
                       u->in->members[ARCHIVE_WAIVERS].size, err));
        if (waivers_read(u->a, path, today, &out->waivers, &why) != STATUS_OK)
            audit_finding(u, "waivers", "waivers.json: %s", why.msg);
    }
    if (out->has_skips) {
        TRY(file_write(path, u->in->members[ARCHIVE_SKIPS].data, u->in->members[ARCHIVE_SKIPS].size,
                       err));
        if (skips_read(u->a, path, &out->skips, &why) != STATUS_OK)
            audit_finding(u, "skips", "skips.json: %s", why.msg);
    }
    out->skipped = ARENA_ARRAY(u->a, size_t, out->skips.count * u->device_count);
    if (!out->skipped)
        return error_msg(err, STATUS_MEMORY, "out of memory for %zu skips", out->skips.count);
    clock_utc(now);
    now[10] = '\0';
    if (u->o->waivers)
        TRY(waivers_read(u->a, u->o->waivers, now, &out->accepted, err));
    return u->o->skips ? skips_read(u->a, u->o->skips, &out->accepted_skips, err) : STATUS_OK;
}

static void check_rules(struct auditing *u, const struct rules *r, const struct case_record *c)
{
    const struct device_record *d = audit_device(u, c->device);
    const char *name = d && d->name ? d->name : "", *driver = d && d->driver ? d->driver : "";
    const bool failed = c->verdict == VERDICT_FAIL || c->verdict == VERDICT_ERROR;
    const struct waiver *w = failed || c->verdict == VERDICT_PASS
                                 ? waiver_find(&r->waivers, c->device, name, driver, c->name)
                                 : NULL;
    if ((w != NULL) != c->waived)
        audit_finding(u, "waivers", "%s on %s is %s, and by waivers.json it is not so", c->name,
                      c->device, c->waived ? "waived" : "not waived");
    if (failed && c->waived) {
        audit_note(u, "waivers", "%s on %s is waived: %.200s", c->name, c->device,
                   w ? w->reason : "");
        if (u->o->waivers && !waiver_find(&r->accepted, c->device, name, driver, c->name))
            audit_finding(u, "waivers", "%s on %s is waived, and not by %s", c->name, c->device,
                          u->o->waivers);
    }
}

/* What skips.json makes of a SKIP. */
static void check_skip(struct auditing *u, const struct rules *r, const struct case_record *c)
{
    const struct device_record *d = audit_device(u, c->device);
    const char *reason = c->reason ? c->reason : "", *objection = strstr(reason, " [unexpected: ");
    if (objection) /* the runner's words, behind the case's */
        reason = arena_strndup(u->a, reason, (size_t)(objection - reason));
    if (!reason)
        reason = c->reason;
    const struct skip *k =
        c->verdict == VERDICT_SKIP && d ? skip_find(&r->skips, c->device, c->name, reason) : NULL;
    const char *said = c->verdict != VERDICT_SKIP || !r->has_skips ? NULL : "unexpected";
    if (k) {
        const size_t row = (size_t)(k - r->skips.list) + r->skips.count * (size_t)(d - u->devices);
        if (k->at_most < 0 || ++r->skipped[row] <= (uint64_t)k->at_most)
            said = "expected";
    }
    if (!same(said, c->skip))
        audit_finding(u, "skips", "%s on %s counts as %s; by skips.json it is %s", c->name,
                      c->device, c->skip ? c->skip : "no skip of a list", said ? said : "none");
    if (c->verdict == VERDICT_SKIP && u->o->skips &&
        !skip_find(&r->accepted_skips, c->device, c->name, reason))
        audit_finding(u, "skips", "%s on %s was skipped, and %s does not expect that: %.200s",
                      c->name, c->device, u->o->skips, reason);
}

static enum status check_verdicts(struct auditing *u, struct error *err)
{
    struct rules rules = {0};
    size_t findings = 0, flaky = 0;
    TRY(rules_read(u, &rules, err));
    for (size_t i = 0; i < u->case_count; i++) {
        const struct case_record *c = &u->cases[i];
        const struct conform_case *known = audit_known(u, c->name);
        TRY(check_identity(u, c, err));
        check_rules(u, &rules, c);
        check_skip(u, &rules, c);
        if (known && known->listed != c->listed)
            audit_finding(u, "list", "%s %s of the list", c->name, c->listed ? "is not" : "is");
        findings += outcome_of_case(c).counts == COUNTS_FINDING;
        u->out->passed += c->verdict == VERDICT_PASS;
        u->out->failed += c->verdict == VERDICT_FAIL || c->verdict == VERDICT_ERROR;
        u->out->waived += c->waived;
        u->out->skipped += c->verdict == VERDICT_SKIP;
        flaky += same(c->rerun, rerun_name(RERUN_DIFFERED));
    }
    u->out->cases = u->case_count;
    if (findings)
        audit_note(u, "verdicts", "by its own account the run has %zu findings", findings);
    if (flaky)
        audit_note(u, "verdicts", "%zu cases ended otherwise when they were run again", flaky);
    if (u->out->skipped && !u->o->skips)
        audit_note(u, "skips",
                   "%zu cases were skipped: that they had to be is the submitter's word",
                   u->out->skipped);
    return STATUS_OK;
}

/* ---- the journal ---------------------------------------------------------------------------- */

/* What it says last of each case is what the results say. */
static void check_journal(struct auditing *u)
{
    const char *data = u->in->members[ARCHIVE_JOURNAL].data;
    const size_t size = u->in->members[ARCHIVE_JOURNAL].size;
    bool *met = ARENA_ARRAY(u->a, bool, u->case_count);
    const char **said = ARENA_ARRAY(u->a, const char *, u->case_count);
    if (!data) {
        audit_note(u, "journal", "the archive has no journal");
        return;
    }
    for (size_t at = 0; met && said && at < size;) {
        const char *end = memchr(data + at, '\n', size - at);
        const size_t n = end ? (size_t)(end - (data + at)) : size - at;
        const struct json *o;
        if (n && json_parse(u->a, "journal", data + at, n, &o, NULL) == STATUS_OK) {
            const char *name = string_at(o, "case"), *device = string_at(o, "device");
            const struct case_record *c = name && device ? audit_case(u, name, device) : NULL;
            if (c && same(string_at(o, "key"), c->identity) && !json_get(o, "run")) {
                said[c - u->cases] = string_at(o, "verdict");
                met[c - u->cases] = same(string_at(o, "rerun"), c->rerun);
            }
        }
        at += n + 1;
    }
    for (size_t i = 0; met && said && i < u->case_count; i++) {
        const struct case_record *c = &u->cases[i];
        if (!said[i])
            audit_finding(u, "journal", "%s on %s is not in the journal", c->name, c->device);
        else if (!same(said[i], verdict_name(c->verdict)))
            audit_finding(u, "journal", "%s on %s is %s in the results, %s in the journal", c->name,
                          c->device, verdict_name(c->verdict), said[i]);
        else if (!met[i])
            audit_finding(u, "journal", "%s on %s was run again otherwise in the journal", c->name,
                          c->device);
    }
}

static void check_challenge(struct auditing *u)
{
    const char *answered = u->challenge;
    const struct conform_options *by = &u->selected_by;
    if (answered && by->random_scenes && by->random_seed != conform_challenge_seed(answered))
        audit_finding(u, "challenge",
                      "the seed of the random scenes is %llu; the challenge makes it %llu",
                      (unsigned long long)by->random_seed,
                      (unsigned long long)conform_challenge_seed(answered));
    if (!u->o->challenge) {
        if (answered)
            audit_note(u, "challenge",
                       "the run answers the challenge %.64s; none was asked for here", answered);
        return;
    }
    if (!same(answered, u->o->challenge)) {
        audit_finding(u, "challenge",
                      answered ? "the run answers another challenge, %.64s"
                               : "the run answers no challenge%.1s",
                      answered ? answered : "");
        return;
    }
    for (size_t d = 0; d < u->device_count; d++)
        for (int i = 1; i <= CHALLENGE_CASES; i++) {
            const char *name = arena_printf(u->a, "image.challenge.%s.%d", u->o->challenge, i);
            const struct case_record *c = name ? audit_case(u, name, u->devices[d].id) : NULL;
            if (!c || c->verdict == VERDICT_SKIP || c->verdict == VERDICT_ERROR)
                audit_finding(u, "challenge", "%s on %s is not answered: %s", name ? name : "",
                              u->devices[d].id, c ? verdict_name(c->verdict) : "no result");
        }
}

/* A run of conform. */
static enum status audit_verdicts(struct auditing *u, struct error *err)
{
    TRY(select_again(u, err));
    check_complete(u);
    TRY(check_verdicts(u, err));
    check_journal(u);
    check_challenge(u);
    TRY(audit_tiles(u, err));
    return audit_cases(u, err);
}

enum status conform_audit(struct arena *a, const struct audit_options *o, const struct archive *in,
                          struct store *results, struct audit *out, struct error *err)
{
    struct audit got = {0};
    struct auditing u = {.a = a, .o = o, .in = in, .out = &got};
    u.last_finding = &got.findings;
    u.last_note = &got.notes;
    TRY(load(&u, results, err));
    check_program(&u);
    check_members(&u);
    check_devices(&u);
    if (o->seed_was_given)
        audit_note(&u, "draw", "its seed was given: whoever knew it could foresee the draw");
    TRY(strcmp(u.run->kind, "conform") == 0 ? audit_verdicts(&u, err)
                                            : audit_rows(&u, results, err));
    if (!got.pictures)
        audit_note(&u, "tiles", "nothing that passed has a picture that can be rendered again");
    *out = got;
    return STATUS_OK;
}
