/* SPDX-License-Identifier: Apache-2.0 */
/* The compiled form of a module: a header that says for whom it was compiled, the kernels, places
 * and variables, then object code. Read with suspicion: files rot. */
#include "soft.h"

#include <stdlib.h>
#include <string.h>

static const char magic[] = "ISOSOFT2";
enum { MAGIC = sizeof magic - 1 };

/* What the code depends on besides its source. */
static void maker_hash(const struct soft_device *d, char hex[33])
{
    struct hash *h = hash_open();
    const char *const parts[] = {magic, d->llvm->host_triple, d->llvm->host_cpu,
                                 d->llvm->host_features};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        hash_add(h, parts[i], strlen(parts[i]) + 1);
    uint32_t checked = d->options.checks != 0;
    hash_add(h, &checked, sizeof checked);
    hash_close(h, hex);
}

/* ---- writing -------------------------------------------------------------------------------- */

static void put_number(struct text *t, uint64_t v) { text_append(t, (const char *)&v, sizeof v); }
static void put_string(struct text *t, const char *s)
{
    put_number(t, strlen(s));
    text_append(t, s, strlen(s));
}

enum status native_write(struct soft_module *m, const void *object, size_t size, struct error *err)
{
    struct text body = {0}, all = {0};
    char hash[33], maker[33];
    put_number(&body, m->local_bytes);
    put_number(&body, m->kernel_count);
    for (size_t i = 0; i < m->kernel_count; i++) {
        const struct soft_kernel *k = &m->kernels[i];
        put_string(&body, k->name);
        put_number(&body, k->barriers);
        put_number(&body, k->argument_count);
        for (size_t n = 0; n < k->argument_count; n++) {
            put_number(&body, k->arguments[n].kind);
            put_number(&body, k->arguments[n].size);
            put_number(&body, k->arguments[n].align);
        }
    }
    put_number(&body, m->variable_count);
    for (size_t i = 0; i < m->variable_count; i++) {
        put_string(&body, m->variables[i].name);
        put_number(&body, m->variables[i].size);
        put_number(&body, m->variables[i].constant);
    }
    put_number(&body, m->place_count);
    const char *function = "";
    for (size_t i = 0; i < m->place_count; i++) { /* a function's name stands once */
        const struct place *p = &m->places[i];
        put_string(&body, p->function == function ? "" : p->function);
        function = p->function;
        put_string(&body, p->file);
        put_number(&body, p->line);
    }
    put_number(&body, size);
    text_append(&body, object, size);
    hash_bytes(body.data, body.len, hash);
    maker_hash(m->device, maker);
    text_append(&all, magic, MAGIC);
    text_append(&all, maker, 32);
    text_append(&all, hash, 32);
    text_append(&all, body.data, body.len);
    bool failed = body.failed || all.failed;
    text_free(&body);
    if (failed) {
        text_free(&all);
        return error_msg(err, STATUS_MEMORY, "out of memory for a compiled module");
    }
    m->native = all.data;
    m->native_size = all.len;
    return STATUS_OK;
}

/* ---- reading -------------------------------------------------------------------------------- */

struct reader {
    const unsigned char *at;
    size_t left;
    struct arena *arena;
    bool bad;
};

static uint64_t get_number(struct reader *r)
{
    uint64_t v = 0;
    if (r->left < sizeof v) {
        r->bad = true;
        return 0;
    }
    memcpy(&v, r->at, sizeof v);
    r->at += sizeof v;
    r->left -= sizeof v;
    return v;
}
/* A count of things that take at least `least` bytes each. */
static size_t get_count(struct reader *r, size_t least)
{
    uint64_t n = get_number(r);
    if (n > r->left / least)
        r->bad = true;
    return r->bad ? 0 : (size_t)n;
}
static const char *get_string(struct reader *r)
{
    size_t length = get_count(r, 1);
    const char *s = r->bad ? NULL : arena_strndup(r->arena, (const char *)r->at, length);
    if (!s) {
        r->bad = true;
        return "";
    }
    r->at += length;
    r->left -= length;
    return s;
}

static void kernels_read(struct reader *r, struct soft_module *m)
{
    size_t count = get_count(r, 24);
    m->kernels = ARENA_ARRAY(r->arena, struct soft_kernel, count);
    m->entries = ARENA_ARRAY(r->arena, kernel_entry, count);
    r->bad |= !m->kernels || !m->entries;
    for (size_t i = 0; !r->bad && i < count; i++) {
        struct soft_kernel *k = &m->kernels[i];
        k->name = get_string(r);
        k->barriers = get_number(r) != 0;
        k->local_bytes = m->local_bytes;
        k->argument_count = get_count(r, 24);
        struct soft_argument *arguments =
            ARENA_ARRAY(r->arena, struct soft_argument, k->argument_count);
        r->bad |= !arguments;
        for (size_t n = 0; !r->bad && n < k->argument_count; n++) {
            arguments[n].kind = (enum soft_argument_kind)get_number(r);
            arguments[n].size = get_number(r);
            arguments[n].align = get_number(r);
        }
        k->arguments = arguments;
        m->kernel_count = i + 1;
    }
}

static void variables_read(struct reader *r, struct soft_module *m)
{
    size_t count = get_count(r, 24);
    m->variables = ARENA_ARRAY(r->arena, struct variable, count);
    r->bad |= !m->variables;
    for (size_t i = 0; !r->bad && i < count; i++) {
        m->variables[i].name = get_string(r);
        m->variables[i].size = get_number(r);
        m->variables[i].constant = get_number(r) != 0;
        m->variable_count = i + 1;
    }
}

static void places_read(struct reader *r, struct soft_module *m)
{
    size_t count = get_count(r, 24);
    const char *function = "", *file = "";
    m->places = ARENA_ARRAY(r->arena, struct place, count);
    r->bad |= !m->places;
    for (size_t i = 0; !r->bad && i < count; i++) {
        const char *name = get_string(r), *in = get_string(r);
        function = *name ? name : function;
        file = strcmp(in, file) == 0 ? file : in;
        m->places[i] = (struct place){function, file, (uint32_t)get_number(r)};
        m->place_count = i + 1;
    }
}

bool native_is(const void *data, size_t size)
{
    return size >= MAGIC + 64 && memcmp(data, magic, MAGIC) == 0;
}

enum status native_read(struct soft_module *m, const void *data, size_t size, const void **object,
                        size_t *object_size, struct error *err)
{
    char maker[33], hash[33];
    if (!native_is(data, size))
        return error_msg(err, STATUS_BUILD, "not a compiled module");
    const char *head = (const char *)data + MAGIC;
    maker_hash(m->device, maker);
    if (memcmp(head, maker, 32) != 0)
        return error_msg(err, STATUS_BUILD,
                         "the module was compiled for another machine or with other checks");
    struct reader r = {(const unsigned char *)data + MAGIC + 64, size - MAGIC - 64, &m->arena,
                       false};
    hash_bytes(r.at, r.left, hash);
    if (memcmp(head + 32, hash, 32) != 0)
        return error_msg(err, STATUS_BUILD, "the compiled module is damaged");
    m->local_bytes = get_number(&r);
    kernels_read(&r, m);
    variables_read(&r, m);
    places_read(&r, m);
    *object_size = get_count(&r, 1);
    *object = r.at;
    if (r.bad || *object_size != r.left)
        return error_msg(err, STATUS_BUILD, "the compiled module is cut");
    if (!m->native) {
        m->native = malloc(size);
        if (!m->native)
            return error_msg(err, STATUS_MEMORY, "out of memory for a compiled module");
        memcpy(m->native, data, size);
        m->native_size = size;
    }
    return STATUS_OK;
}
