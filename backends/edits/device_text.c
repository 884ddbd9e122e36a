/* SPDX-License-Identifier: Apache-2.0 */
/* The text that devices compile, and its mutants by number. */
#include "api/offers.h"
#include "edits.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct device_text known;
static struct arena known_arena;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Edits of one file of the kernel, in order. */
struct file_edits {
    const char *file;
    size_t next; /* the first that has no twin yet; 0: none is left, or there were none */
};

static struct file_edits *file_find(struct file_edits *files, size_t *count, const char *name)
{
    for (size_t i = *count; i-- > 0;)
        if (strcmp(files[i].file, name) == 0)
            return &files[i];
    files[*count] = (struct file_edits){name, 0};
    return &files[(*count)++];
}

/* Headers stand once in each of the two texts: the same file has the same edits there. Those of the
 * second become twins of the first's, and fall away. */
static enum status join_twins(struct device_text *t, struct edit *edits, struct error *err)
{
    size_t files = 0, kept = 0;
    struct arena a = {0};
    struct file_edits *list = ARENA_ARRAY(&a, struct file_edits, t->count + 1), *f = NULL;
    size_t *after = ARENA_ARRAY(&a, size_t, t->count + 1); /* by edit: the next one of its file */
    if (!list || !after) {
        arena_free(&a);
        return error_msg(err, STATUS_MEMORY, "out of memory for the text of devices");
    }
    while (kept < t->count && edits[kept].offset < t->kernel)
        kept++;
    for (size_t i = kept; i-- > 0;) { /* 1 + index, so that 0 is none */
        f = file_find(list, &files, edits[i].file);
        after[i] = f->next;
        f->next = i + 1;
    }
    const size_t of_kernel = files;
    for (size_t i = kept; i < t->count; i++) {
        f = file_find(list, &files, edits[i].file);
        if (f < list + of_kernel && f->next) {
            edits[f->next - 1].twin = edits[i].offset;
            f->next = after[f->next - 1];
        } else if (f >= list + of_kernel) {
            edits[kept++] = edits[i];
        }
    }
    t->count = kept;
    arena_free(&a);
    return STATUS_OK;
}

enum status device_text_need(struct device_text *out, struct error *err)
{
    enum status st = STATUS_OK;
    pthread_mutex_lock(&lock);
    if (!known.edits) {
        struct device_text t = {.kernel = strlen(kernel_source)};
        t.text = arena_printf(&known_arena, "%s%s", kernel_source, asl_device_source);
        struct edit *edits = NULL;
        st = t.text ? edits_list(&known_arena, t.text, &edits, &t.count, err)
                    : error_msg(err, STATUS_MEMORY, "out of memory for the text of devices");
        t.edits = edits;
        struct body *bodies = NULL;
        if (st == STATUS_OK)
            st = join_twins(&t, edits, err);
        if (st == STATUS_OK)
            st = bodies_list(&known_arena, t.text, &bodies, &t.body_count, err);
        t.bodies = bodies;
        if (st == STATUS_OK)
            known = t;
    }
    *out = known;
    pthread_mutex_unlock(&lock);
    return st;
}

enum status device_marks_need(struct marks *out, struct error *err)
{
    static struct marks marks;
    struct device_text t;
    TRY(device_text_need(&t, err));
    pthread_mutex_lock(&lock);
    const enum status st = marks.list ? STATUS_OK : marks_list(&known_arena, t.text, &marks, err);
    *out = marks;
    pthread_mutex_unlock(&lock);
    return st;
}

bool mutant_is(const char *id) { return strncmp(id, "mutant:", 7) == 0; }

bool mutant_is_marked(const char *id) { return strcmp(id, "mutant:marked") == 0; }

enum status mutant_edit(const char *id, const struct edit **out, struct error *err)
{
    const char *name = strchr(id, ':');
    struct device_text t;
    size_t k = SIZE_MAX;
    TRY(device_text_need(&t, err));
    *out = NULL;
    if (mutant_is_marked(id) || (name && strcmp(name + 1, "none") == 0))
        return STATUS_OK;
    if (name && name[1] && strspn(name + 1, "0123456789") == strlen(name + 1))
        k = strtoull(name + 1, NULL, 10);
    if (k >= t.count)
        return error_msg(err, STATUS_MISSING,
                         "no mutant %s: expected mutant:none, mutant:marked, or mutant:0 to "
                         "mutant:%zu",
                         id, t.count - 1);
    *out = &t.edits[k];
    return STATUS_OK;
}

bool edit_in_library(const struct device_text *t, const struct edit *e, size_t begin,
                     struct edit *out)
{
    const size_t at = e->twin ? e->twin : e->offset;
    if (at < t->kernel)
        return false;
    *out = *e;
    out->offset = at - t->kernel + begin;
    out->twin = 0;
    return true;
}

enum status mutant_library(const char *id, struct text *out, struct error *err)
{
    const struct edit *e = NULL;
    struct device_text t;
    struct arena a = {0};
    struct marks marks = {0};
    const bool marked = mutant_is_marked(id);
    TRY(device_text_need(&t, err));
    if (marked)
        TRY(device_marks_need(&marks, err));
    TRY(mutant_edit(id, &e, err));
    struct edit here;
    const char *library = t.text + t.kernel;
    const char *made = marked ? text_marked(&a, t.text, t.kernel, &marks)
                       : e && edit_in_library(&t, e, 0, &here) ? edit_apply(&a, library, &here)
                                                               : library;
    if (made)
        text_puts(out, made);
    arena_free(&a);
    return made && !out->failed ? STATUS_OK
                                : error_msg(err, STATUS_MEMORY, "out of memory for a mutant");
}
