/* SPDX-License-Identifier: Apache-2.0 */
/* `mutant:K`: the native device with the K-th edit of the kernel's text; `mutant:none`: with none,
 * compiled as mutants are. */
#include "edits/edits.h"
#include "native/native.h"

#include <pthread.h>
#include <string.h>

/* Of the whole text without an edit, by mode; "" until asked for. */
static char plain_code[MODE_COUNT][33];
static pthread_mutex_t plain_lock = PTHREAD_MUTEX_INITIALIZER;

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
                           .of_library = e->twin || e->offset >= t.kernel};
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

enum status mutant_compile(size_t k, bool *compiles, struct error *err)
{
    struct device_text t;
    const struct edit *e = NULL;
    struct error said = {0};
    enum status st = STATUS_OK;
    TRY(text_and_edit(k, &t, &e, err));
    for (int mode = 0; st == STATUS_OK && mode < MODE_COUNT; mode++)
        st = native_edited_code(e, t.text, (enum math_mode)mode, NULL, &said);
    /* An edit of the library is in no program without shaders. */
    if (st == STATUS_OK && e->offset < t.kernel)
        st = native_edited_build(e, &said);
    *compiles = st == STATUS_OK;
    if (st == STATUS_OK || st == STATUS_BUILD)
        return STATUS_OK; /* the compiler's words are no failure of ours */
    if (err)
        *err = said;
    return st;
}

static enum status plain_need(const char *text, enum math_mode mode, struct error *err)
{
    enum status st = STATUS_OK;
    pthread_mutex_lock(&plain_lock);
    if (!plain_code[mode][0])
        st = native_edited_code(NULL, text, mode, plain_code[mode], err);
    pthread_mutex_unlock(&plain_lock);
    return st;
}

enum status mutant_same_code(size_t k, bool same[MODE_COUNT], struct error *err)
{
    struct device_text t;
    const struct edit *e = NULL;
    TRY(text_and_edit(k, &t, &e, err));
    for (int mode = 0; mode < MODE_COUNT; mode++) {
        char edited[33];
        TRY(plain_need(t.text, (enum math_mode)mode, err));
        TRY(native_edited_code(e, t.text, (enum math_mode)mode, edited, err));
        same[mode] = strcmp(plain_code[mode], edited) == 0;
    }
    return STATUS_OK;
}
