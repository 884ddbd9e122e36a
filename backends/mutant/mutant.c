/* SPDX-License-Identifier: Apache-2.0 */
/* `mutant:K`: the native device with the K-th edit of the kernel's text; `mutant:none`: with none,
 * compiled as mutants are. */
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
        snprintf(out->name, sizeof out->name, "no edit");
    out->test_only = true;
    return STATUS_OK;
}

static enum status open(const struct device_info *info, struct backend **out, struct error *err)
{
    const struct edit *e = NULL;
    TRY(mutant_edit(info->id, &e, err));
    return native_open_edited(e, out, err);
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

static size_t body_number(const struct device_text *t, size_t place)
{
    size_t i = 0;
    while (i < t->body_count && t->bodies[i].at + t->bodies[i].length <= place)
        i++;
    return i;
}

enum status mutant_find(struct arena *a, size_t k, struct mutant *out, struct error *err)
{
    struct device_text t;
    const struct edit *e = NULL;
    TRY(text_and_edit(k, &t, &e, err));
    *out = (struct mutant){.rule = e->rule,
                           .file = e->file,
                           .line = e->line,
                           .function = e->function,
                           .now = e->now,
                           .of_kernel = e->offset < t.kernel,
                           .of_library = e->twin || e->offset >= t.kernel,
                           .body = body_number(&t, e->offset)};
    out->twin_body = e->twin ? body_number(&t, e->twin) : out->body;
    out->helper = edit_in_helper(t.bodies, t.body_count, e);
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

enum status mutant_look(size_t k, bool *compiles, bool same[MODE_COUNT], struct error *err)
{
    struct device_text t;
    const struct edit *e = NULL;
    struct arena a = {0};
    struct error said = {0};
    TRY(text_and_edit(k, &t, &e, err));
    const char *was = edit_alone(&a, t.text, t.bodies, t.body_count, e, false),
               *now = edit_alone(&a, t.text, t.bodies, t.body_count, e, true);
    enum status st =
        was && now ? STATUS_OK : error_msg(&said, STATUS_MEMORY, "out of memory for a mutant");
    *compiles = true;
    memset(same, 0, MODE_COUNT * sizeof *same);
    for (int mode = 0; st == STATUS_OK && *compiles && mode < MODE_COUNT; mode++) {
        char plain[33], edited[33];
        if (mode != MODE_STRICT && !same[MODE_STRICT])
            break; /* it is alive whatever they say */
        st = native_code_hash(was, (enum math_mode)mode, plain, &said);
        if (st == STATUS_BUILD &&
            was != t.text) { /* no mutant's fault: the function needs the rest */
            was = t.text;
            now = edit_apply(&a, t.text, e);
            st = now ? native_code_hash(was, (enum math_mode)mode, plain, &said)
                     : error_msg(&said, STATUS_MEMORY, "out of memory for a mutant");
        }
        if (st == STATUS_BUILD)
            st = said.code = STATUS_INTERNAL;
        if (st == STATUS_OK)
            st = native_code_hash(now, (enum math_mode)mode, edited, &said);
        *compiles = st != STATUS_BUILD; /* the compiler's words are no failure of ours */
        same[mode] = st == STATUS_OK && strcmp(plain, edited) == 0;
        if (st == STATUS_BUILD)
            st = STATUS_OK;
    }
    arena_free(&a);
    if (st != STATUS_OK && err)
        *err = said;
    return st;
}
