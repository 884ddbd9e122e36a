/* SPDX-License-Identifier: Apache-2.0 */
/* `mutant:K`: the native device with the K-th edit of the kernel's text; `mutant:none`: with none,
 * compiled as mutants are; `mutant:marked`: with marks that tell what ran. */
#include "edits/edits.h"
#include "native/native.h"

#include <pthread.h>
#include <string.h>

/* Thousands are not listed: who wants one names it. */
static enum status enumerate(void (*found)(void *ctx, const struct device_info *),
                             void (*problem)(void *ctx, const char *text), void *ctx,
                             struct error *err)
{
    (void)found;
    (void)problem;
    (void)ctx;
    (void)err;
    return STATUS_OK;
}

/* It asks for the compiler's version, and thousands of mutants share that. */
static enum status native_known(struct device_info *out, struct error *err)
{
    static struct device_info known;
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    enum status st = known.id[0] ? STATUS_OK : native_describe("native", &known, err);
    *out = known;
    pthread_mutex_unlock(&lock);
    return st;
}

static enum status describe(const char *id, struct device_info *out, struct error *err)
{
    const struct edit *e = NULL;
    TRY(mutant_edit(id, &e, err));
    TRY(native_known(out, err));
    snprintf(out->id, sizeof out->id, "%s", id);
    snprintf(out->api, sizeof out->api, "mutant");
    if (e)
        snprintf(out->name, sizeof out->name, "%s:%u %s", e->file, (unsigned)e->line, e->rule);
    else
        snprintf(out->name, sizeof out->name, "no edit%s", mutant_is_marked(id) ? ", marked" : "");
    out->test_only = true;
    return STATUS_OK;
}

static enum status open(const struct device_info *info, struct backend **out, struct error *err)
{
    const struct edit *e = NULL;
    TRY(mutant_edit(info->id, &e, err));
    return native_open_edited(e, mutant_is_marked(info->id), out, err);
}

const struct backend_api mutant_api = {
    .name = "mutant",
    .test_only = true,
    .keeps_host_memory = true,
    .enumerate = enumerate,
    .describe = describe,
    .open = open,
    NATIVE_FUNCTIONS,
};

/* ---- backends.h ----------------------------------------------------------------------------- */

enum status mutants_count(size_t *count, struct error *err)
{
    struct device_text t;
    TRY(device_text_need(&t, err));
    *count = t.count;
    return STATUS_OK;
}

static enum status text_and_edit(size_t k, struct device_text *t, const struct edit **e,
                                 struct error *err)
{
    TRY(device_text_need(t, err));
    if (k >= t->count)
        return error_msg(err, STATUS_ARG, "there are %zu mutants", t->count);
    *e = &t->edits[k];
    return STATUS_OK;
}

enum status mutant_find(struct arena *a, size_t k, struct mutant *out, struct error *err)
{
    struct device_text t;
    const struct edit *e = NULL;
    struct marks marks;
    TRY(text_and_edit(k, &t, &e, err));
    TRY(device_marks_need(&marks, err));
    *out = (struct mutant){.rule = e->rule,
                           .file = e->file,
                           .line = e->line,
                           .function = e->function,
                           .now = e->now,
                           .of_kernel = e->offset < t.kernel,
                           .of_library = e->twin || e->offset >= t.kernel,
                           .mark = marks_at(&marks, e->offset)};
    out->twin_mark = e->twin ? marks_at(&marks, e->twin) : out->mark;
    out->marked = out->mark != MARK_NONE && out->twin_mark != MARK_NONE;
    out->was = arena_printf(a, "%.*s", (int)e->length, t.text + e->offset);
    return out->was ? STATUS_OK : error_msg(err, STATUS_MEMORY, "out of memory for a mutant");
}

enum status mutants_text_hash(char hash[33], struct error *err)
{
    struct device_text t;
    TRY(device_text_need(&t, err));
    hash_bytes(t.text, strlen(t.text), hash);
    return STATUS_OK;
}

/* A text that has the edit: the kernel's with the library behind it, or the library as grids
 * compile it. */
struct looked_at {
    const char *text;
    const struct body *bodies;
    size_t body_count;
    enum status (*hash)(const char *text, enum math_mode mode, enum code_form form, char hash[33],
                        struct error *err);
};

enum look { LOOK_SAME, LOOK_OTHER, LOOK_REFUSED };

/* The machine code of a text whose functions stay apart; helpers, which others call, only where the
 * edit is in one. */
static enum status apart_hash(struct arena *a, const struct looked_at *l, const char *text,
                              bool helpers, enum math_mode mode, char hash[33], struct error *err)
{
    const char *apart = text ? text_apart(a, text, helpers) : NULL;
    return apart ? l->hash(apart, mode, CODE_APART, hash, err)
                 : error_msg(err, STATUS_MEMORY, "out of memory for a mutant");
}

/* What the compiler makes of the text in a mode, without and with the edit. */
static enum status look(const struct looked_at *l, const struct edit *e, enum math_mode mode,
                        enum look *out, struct error *err)
{
    struct arena a = {0};
    char plain[33], edited[33];
    const struct body *body = edit_body(l->bodies, l->body_count, e);
    const bool helper = body && body->helper;
    const char *was = edit_alone(&a, l->text, l->bodies, l->body_count, e, false),
               *now = edit_alone(&a, l->text, l->bodies, l->body_count, e, true);
    enum status st = apart_hash(&a, l, was, helper, mode, plain, err);
    if (st == STATUS_BUILD) { /* no mutant's fault: the function needs the rest */
        now = edit_apply(&a, l->text, e);
        st = apart_hash(&a, l, l->text, helper, mode, plain, err);
        if (st == STATUS_BUILD)
            st = error_msg(err, STATUS_INTERNAL, "the text without an edit does not compile");
    }
    if (st == STATUS_OK) {
        struct error said = {0};
        st = apart_hash(&a, l, now, helper, mode, edited, &said);
        *out = st == STATUS_BUILD                              ? LOOK_REFUSED
               : st == STATUS_OK && strcmp(plain, edited) == 0 ? LOOK_SAME
                                                               : LOOK_OTHER;
        if (st == STATUS_BUILD)
            st = STATUS_OK; /* the compiler's words are no failure of ours */
        else if (st != STATUS_OK && err)
            *err = said;
    }
    arena_free(&a);
    return st;
}

/* In all modes, until one differs; refused in one is refused. */
static enum status look_in_modes(const struct looked_at *l, const struct edit *e,
                                 bool same[MODE_COUNT], bool *compiles, struct error *err)
{
    for (int mode = 0; *compiles && mode < MODE_COUNT; mode++) {
        enum look said = LOOK_OTHER;
        if (mode != MODE_STRICT && !same[MODE_STRICT])
            break; /* it is alive whatever they say */
        TRY(look(l, e, (enum math_mode)mode, &said, err));
        *compiles = said != LOOK_REFUSED;
        same[mode] = said == LOOK_SAME;
    }
    return STATUS_OK;
}

static bool same_in_all(const bool same[MODE_COUNT])
{
    bool all = true;
    for (int mode = 0; mode < MODE_COUNT; mode++)
        all = all && same[mode];
    return all;
}

/* Does the callee give the same with its first two arguments exchanged? No, where the compiler cannot
 * prove it. *has: is it in this text? */
static enum status look_at_orders(const struct looked_at *l, const char *callee,
                                  enum math_mode mode, bool *has, bool *same, struct error *err)
{
    struct arena a = {0};
    char hash[3][33] = {{0}};
    enum status st = STATUS_OK;
    *has = *same = true;
    for (int second = SECOND_CALL_NONE; *same && second <= SECOND_CALL_EXCHANGED; second++) {
        struct error said = {0};
        const char *text = text_called_twice(&a, l->text, l->bodies, l->body_count, callee,
                                             (enum second_call)second);
        st = text ? l->hash(text, mode, CODE_INLINED, hash[second], &said)
                  : error_msg(&said, STATUS_MEMORY, "out of memory for a mutant");
        *same = st == STATUS_OK;
        if (st == STATUS_BUILD)
            st = STATUS_OK;
        else if (st != STATUS_OK && err)
            *err = said;
    }
    arena_free(&a);
    if (*same) {
        *has = strcmp(hash[SECOND_CALL_NONE], hash[SECOND_CALL_SAME]) != 0;
        *same = !*has || strcmp(hash[SECOND_CALL_SAME], hash[SECOND_CALL_EXCHANGED]) == 0;
    }
    return st;
}

/* In every mode and text; and in one of them it is. */
static enum status look_whether_commutes(const struct looked_at *texts, size_t count,
                                         const char *callee, bool *commutes, struct error *err)
{
    bool same = callee != NULL, met = false;
    for (size_t i = 0; same && i < count; i++)
        for (int mode = 0; same && mode < MODE_COUNT; mode++) {
            bool has = false;
            TRY(look_at_orders(&texts[i], callee, (enum math_mode)mode, &has, &same, err));
            met |= has;
        }
    *commutes = same && met;
    return STATUS_OK;
}

enum status mutant_look(size_t k, struct mutant_code *out, struct error *err)
{
    /* no C: where it stands, a compiler that sees it refuses */
    static const char no_c[] = " @ ";
    struct device_text t;
    const struct edit *e = NULL;
    struct body *bodies = NULL;
    size_t body_count = 0;
    struct arena a = {0};
    bool in_grids[MODE_COUNT] = {false};
    TRY(text_and_edit(k, &t, &e, err));
    struct edit here;
    const bool of_library = edit_in_library(&t, e, 0, &here);
    struct mutant_code code = {.compiles = true, .built = true};
    enum status st =
        of_library ? bodies_list(&a, t.text + t.kernel, &bodies, &body_count, err) : STATUS_OK;
    const struct looked_at texts[] = {
        {t.text, t.bodies, t.body_count, native_code_hash},
        {t.text + t.kernel, bodies, body_count, native_grid_code_hash}};
    const struct looked_at *const whole = &texts[0], *const grids = &texts[1];
    if (st == STATUS_OK)
        st = look_in_modes(whole, e, code.same, &code.compiles, err);
    if (st == STATUS_OK && code.compiles && of_library)
        st = look_in_modes(grids, &here, in_grids, &code.compiles, err);
    code.same_in_grids = !of_library || same_in_all(in_grids);
    if (st == STATUS_OK && code.compiles && code.same_in_grids && same_in_all(code.same)) {
        struct edit broken = *e;
        bool seen[MODE_COUNT] = {false};
        code.built = false;
        broken.now = here.now = no_c;
        bool takes = true;
        st = look_in_modes(whole, &broken, seen, &takes, err);
        if (st == STATUS_OK && takes && of_library)
            st = look_in_modes(grids, &here, seen, &takes, err);
        code.built = !takes;
    } else if (st == STATUS_OK && code.compiles) {
        st = look_whether_commutes(texts, of_library ? 2 : 1, e->callee, &code.commutes, err);
    }
    arena_free(&a);
    if (st == STATUS_OK)
        *out = code;
    return st;
}
