/* SPDX-License-Identifier: Apache-2.0 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "compiler.h"
#include "api/offers.h"
#include "edits/edits.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ARGUMENTS_MAX = 64 };

static enum status compiler_try(const char *program, struct compiler *out, struct error *err)
{
    struct compiler c = {0};
    char text[1024];
    int code = -1;
    if ((size_t)snprintf(c.program, sizeof c.program, "%s", program) >= sizeof c.program)
        return error_msg(err, STATUS_ARG, "the compiler's name is too long");
    char *argv[] = {c.program, (char *)"--version", NULL};
    enum status st = child_run(argv, NULL, text, sizeof text, &code, err);
    if (st)
        return st;
    if (code != 0)
        return error_msg(err, STATUS_MISSING, "%s --version fails with status %d", program, code);
    text[strcspn(text, "\n")] = '\0';
    snprintf(c.version, sizeof c.version, "%.127s", text);
    *out = c;
    return STATUS_OK;
}

enum status compiler_find(struct compiler *out, struct error *err)
{
    const char *wanted = getenv("ISOPHOTE_CC");
    struct error why = {0};
    if (wanted && *wanted) {
        if (compiler_try(wanted, out, &why) == STATUS_OK)
            return STATUS_OK;
        return error_msg(err, STATUS_MISSING,
                         "no C compiler for the native device: ISOPHOTE_CC names %s, and %s",
                         wanted, why.msg);
    }
    static const char *const names[] = {"cc", "gcc", "clang"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (compiler_try(names[i], out, &why) == STATUS_OK)
            return STATUS_OK;
    return error_msg(err, STATUS_MISSING,
                     "no C compiler for the native device: tried cc, gcc and clang (on Debian: "
                     "apt-get install gcc libc6-dev)");
}

void processor_describe(char *name, size_t size, uint32_t *mhz, char features_hex[33])
{
    snprintf(name, size, "CPU");
    *mhz = 0;
    char model[256] = "", flags[8192] = "";
    FILE *f = fopen("/proc/cpuinfo", "r"); /* reports size 0, so file_read does not take it */
    char line[8192];
    while (f && fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');
        if (!colon)
            continue;
        const char *value = colon[1] == ' ' ? colon + 2 : colon + 1;
        line[strcspn(line, "\n")] = '\0';
        if (!*model && strncmp(line, "model name", 10) == 0)
            snprintf(model, sizeof model, "%.255s", value);
        else if (!*flags && (strncmp(line, "flags", 5) == 0 || strncmp(line, "Features", 8) == 0))
            snprintf(flags, sizeof flags, "%.8191s", value);
        else if (*mhz == 0 && strncmp(line, "cpu MHz", 7) == 0)
            *mhz = (uint32_t)strtod(value, NULL);
    }
    if (f)
        fclose(f);
    if (*model)
        snprintf(name, size, "%s", model);
    char all[sizeof model + sizeof flags];
    int n = snprintf(all, sizeof all, "%s %s", model, flags);
    hash_bytes(all, n > 0 ? (size_t)n : 0, features_hex);
}

/* What a mode means to gcc and clang. Not -ffast-math as a whole: infinities and NaN must stay what
 * they are. */
static const char *mode_flags(enum math_mode mode)
{
    switch (mode) {
    case MODE_STRICT:
        return "-ffp-contract=off -fno-fast-math";
    case MODE_DEVICE:
        return "-ffp-contract=fast";
    default:
        return "-ffp-contract=fast -fno-signed-zeros -fno-trapping-math "
               "-fassociative-math -freciprocal-math";
    }
}

/* Packing the kernel's three-vectors into registers of four costs more shuffles than it saves work.
 */
static const char common_flags[] =
    "-std=gnu11 -O3 -march=native -fno-math-errno -fno-tree-slp-vectorize -fno-strict-aliasing "
    "-fvisibility=hidden -fPIC -shared -w";

/* Splits text at blanks into argv[*n...]; the text is cut up in place. */
static enum status arguments_split(char *text, char *argv[ARGUMENTS_MAX], size_t *n,
                                   struct error *err)
{
    char *save = NULL;
    for (char *word = strtok_r(text, " \t\n", &save); word; word = strtok_r(NULL, " \t\n", &save)) {
        if (*n + 1 >= ARGUMENTS_MAX)
            return error_msg(err, STATUS_LIMIT, "more than %d compiler arguments", ARGUMENTS_MAX);
        argv[(*n)++] = word;
    }
    argv[*n] = NULL;
    return STATUS_OK;
}

/* First line of a compiler's output that tells of an error, for the message. */
static void log_first_error(const char *log, char *out, size_t size)
{
    const char *at = strstr(log, "error");
    at = at ? at : log;
    while (at > log && at[-1] != '\n')
        at--;
    snprintf(out, size, "%.*s", (int)strcspn(at, "\n"), at);
}

/* "file:12:5: error: ..." as the error's place. */
static void log_place(const char *line, struct error *err)
{
    const char *colon = strchr(line, ':');
    char *end;
    if (!err || !colon || (size_t)(colon - line) >= sizeof err->file)
        return;
    unsigned long row = strtoul(colon + 1, &end, 10);
    if (end == colon + 1 || *end != ':' || row > UINT32_MAX)
        return;
    snprintf(err->file, sizeof err->file, "%.*s", (int)(colon - line), line);
    err->line = (uint32_t)row;
    err->col = (uint32_t)strtoul(end + 1, NULL, 10);
}

static enum status compiler_call(const struct compiler *c, char *flags, const char *source,
                                 const char *object, const char *folder, struct build_info *info,
                                 struct error *err)
{
    char *argv[ARGUMENTS_MAX] = {(char *)c->program};
    size_t n = 1;
    int code = -1;
    TRY(arguments_split(flags, argv, &n, err));
    if (n + 5 >= ARGUMENTS_MAX)
        return error_msg(err, STATUS_LIMIT, "more than %d compiler arguments", ARGUMENTS_MAX);
    argv[n++] = (char *)"-x";
    argv[n++] = (char *)"c";
    argv[n++] = (char *)source;
    argv[n++] = (char *)"-o";
    argv[n++] = (char *)object;
    argv[n] = NULL;
    TRY(child_run(argv, folder, info->log, sizeof info->log, &code, err));
    if (code == 0)
        return STATUS_OK;
    char first[512];
    log_first_error(info->log, first, sizeof first);
    error_msg(err, STATUS_BUILD, "%s refused the kernel (exit status %d): %s", c->program, code,
              first[0] ? first : "it said nothing");
    log_place(first, err);
    return STATUS_BUILD;
}

/* source: where the text may stay, for who reads the compiler's words; "": nowhere. */
static enum status text_compile(const struct compiler *c, char *flags, const char *text,
                                const char *source, struct arena *a, char **object, size_t *size,
                                struct build_info *info, struct error *err)
{
    char folder[3072], own[3200], made[3200];
    const size_t length = strlen(text);
    TRY(scratch_make(folder, sizeof folder, err));
    snprintf(own, sizeof own, "%s/kernel.c", folder);
    snprintf(made, sizeof made, "%s/kernel.so", folder);
    bool stays = source[0] && file_write(source, text, length, NULL) == STATUS_OK;
    enum status st = stays ? STATUS_OK : file_write(own, text, length, err);
    if (st == STATUS_OK)
        st = compiler_call(c, flags, stays ? source : own, made, folder, info, err);
    if (st == STATUS_OK)
        st = file_read(a, made, (size_t)1 << 30, object, size, err);
    scratch_remove(folder);
    return st;
}

/* ---- loading -------------------------------------------------------------------------------- */

/* The dynamic linker takes two files of one name for one library, and numbers of descriptors come
 * again: so each library has another spelling of its way to a descriptor. */
static void descriptor_path(int fd, char *path, size_t size)
{
    static atomic_uint serial;
    unsigned bits = atomic_fetch_add(&serial, 1);
    size_t n = (size_t)snprintf(path, size, "/proc/self/fd");
    for (int i = 0; i < 32; i++, bits >>= 1)
        n += (size_t)snprintf(path + n, size - n, "%s", bits & 1 ? "/." : "/");
    snprintf(path + n, size - n, "/%d", fd);
}

static void *load_from_memory(const void *data, size_t size)
{
    char path[256];
    int fd = memfd_create("isophote kernel", MFD_CLOEXEC);
    void *library = NULL;
    if (fd >= 0 && write(fd, data, size) == (ssize_t)size) {
        descriptor_path(fd, path, sizeof path);
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    if (fd >= 0)
        close(fd);
    return library;
}

static void *load_from_folder(const void *data, size_t size)
{
    char path[3200], folder[3072];
    void *library = NULL;
    if (scratch_make(folder, sizeof folder, NULL) != STATUS_OK)
        return NULL;
    snprintf(path, sizeof path, "%s/kernel.so", folder);
    if (file_write(path, data, size, NULL) == STATUS_OK)
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    scratch_remove(folder);
    return library;
}

/* What was checked is what is loaded: no file that anybody else could have changed since. Memory
 * is first, but for who sets flags, whose debugger reads names from a file; the other way is there
 * for systems that let nothing run from memory, or from /tmp. */
static enum status library_load(const void *data, size_t size, void **library, struct error *err)
{
    const char *flags = getenv("ISOPHOTE_CFLAGS");
    const bool debugged = flags && *flags;
    void *made = debugged ? load_from_folder(data, size) : load_from_memory(data, size);
    if (!made)
        made = debugged ? load_from_memory(data, size) : load_from_folder(data, size);
    const char *why = made ? NULL : dlerror();
    if (!made)
        return error_msg(err, STATUS_BUILD, "the compiled kernel does not load: %s",
                         why ? why : "no memory for it");
    *library = made;
    return STATUS_OK;
}

enum { FLAGS_MAX = sizeof((struct build_info *)0)->options };

static enum status flags_of(const struct compiler *c, const struct program_request *request,
                            char flags[FLAGS_MAX], struct error *err)
{
    const char *extra = getenv("ISOPHOTE_CFLAGS");
    char defines[256];
    TRY(program_defines(request, defines, sizeof defines, err));
    int length =
        snprintf(flags, FLAGS_MAX, "%s %s %s%s%s %s", common_flags, mode_flags(request->mode),
                 defines, c->flags[0] ? " " : "", c->flags, extra ? extra : "");
    if (length < 0 || (size_t)length >= FLAGS_MAX)
        return error_msg(err, STATUS_LIMIT, "ISOPHOTE_CFLAGS is too long");
    return STATUS_OK;
}

enum status compiler_text_hash(const struct compiler *c, const char *options, const char *text,
                               char hash[33], struct error *err)
{
    char flags[FLAGS_MAX];
    struct build_info info = {0};
    struct arena a = {0};
    char *object = NULL;
    size_t size = 0;
    if (strlen(options) >= sizeof flags)
        return error_msg(err, STATUS_LIMIT, "the compiler's options are too long");
    snprintf(flags, sizeof flags, "%s", options); /* they are cut up */
    enum status st = text_compile(c, flags, text, "", &a, &object, &size, &info, err);
    if (st == STATUS_OK)
        hash_bytes(object, size, hash);
    arena_free(&a);
    return st;
}

enum status compiler_object_hash(const struct compiler *c, const struct program_request *request,
                                 char *hash, struct error *err)
{
    char flags[FLAGS_MAX];
    TRY(flags_of(c, request, flags, err));
    return compiler_text_hash(c, flags, request->source, hash, err);
}

enum status compiler_load(const struct compiler *c, const struct program_request *request,
                          void **library, struct build_info *info, struct error *err)
{
    char flags[FLAGS_MAX];
    TRY(flags_of(c, request, flags, err));
    return compiler_load_text(c, flags, request->source, request->source_hash, library, info, err);
}

static enum status key_make(const struct compiler *c, const char *flags, const char text_hash[33],
                            char key[33], struct error *err)
{
    char name[128], features[33];
    uint32_t mhz;
    processor_describe(name, sizeof name, &mhz, features);
    struct hash *h = hash_open();
    if (!h)
        return error_msg(err, STATUS_MEMORY, "out of memory for a hash");
    hash_add(h, text_hash, 33);
    hash_add(h, flags, strlen(flags) + 1);
    hash_add(h, c, sizeof *c);
    hash_add(h, features, sizeof features);
    hash_close(h, key);
    return STATUS_OK;
}

/* What a library is made of. */
struct making {
    const struct compiler *c;
    char flags[FLAGS_MAX];
    const char *text;
    const struct edited_text *edited; /* the text's, where mutants are made of it */
    /* In the arena. source: as text_compile has it. */
    enum status (*make)(struct making *m, const char *source, struct arena *a, char **library,
                        size_t *size, struct build_info *info, struct error *err);
};

static bool library_kept(struct arena *a, const char *path, const char key[33], void **library)
{
    const void *kept;
    size_t size;
    return cache_read(a, path, key, &kept, &size) &&
           library_load(kept, size, library, NULL) == STATUS_OK;
}

/* What was kept under the key; else it is made, and kept. */
static enum status library_need(struct making *m, const char key[33], void **library,
                                struct build_info *info, struct error *err)
{
    char path[4096], source[4096], *made = NULL;
    struct arena a = {0};
    size_t size;
    enum status st = STATUS_OK;
    snprintf(info->options, sizeof info->options, "%s", m->flags);
    const bool keeps = kernel_cache_path(key, ".so", path, sizeof path, NULL) == STATUS_OK &&
                       kernel_cache_path(key, ".c", source, sizeof source, NULL) == STATUS_OK;
    info->cached = keeps && library_kept(&a, path, key, library);
    const int lock = keeps && !info->cached ? cache_lock(path, key) : -1;
    if (lock >= 0)
        info->cached = library_kept(&a, path, key, library);
    if (!info->cached) {
        const double start = clock_s();
        st = m->make(m, keeps ? source : "", &a, &made, &size, info, err);
        info->compile_s = clock_s() - start;
        if (st == STATUS_OK)
            st = library_load(made, size, library, err);
        if (st == STATUS_OK && keeps)
            cache_write(path, key, made, size);
    }
    cache_unlock(lock);
    arena_free(&a);
    return st;
}

static enum status text_make(struct making *m, const char *source, struct arena *a, char **library,
                             size_t *size, struct build_info *info, struct error *err)
{
    return text_compile(m->c, m->flags, m->text, source, a, library, size, info, err);
}

static enum status options_take(struct making *m, const char *options, struct error *err)
{
    if (strlen(options) >= sizeof m->flags)
        return error_msg(err, STATUS_LIMIT, "the compiler's options are too long");
    snprintf(m->flags, sizeof m->flags, "%s", options);
    return STATUS_OK;
}

enum status compiler_load_text(const struct compiler *c, const char *options, const char *text,
                               const char text_hash[33], void **library, struct build_info *info,
                               struct error *err)
{
    struct making m = {.c = c, .text = text, .make = text_make};
    char key[33];
    TRY(options_take(&m, options, err));
    TRY(key_make(c, m.flags, text_hash, key, err));
    return library_need(&m, key, library, info, err);
}

/* ---- a text with an edit -------------------------------------------------------------------- */

struct object {
    const void *data; /* in the arena; NULL: there is none */
    size_t size;
};

/* The object of a text, whose functions stay apart. keep: others need it, too. */
static enum status object_need(const struct making *m, const char *text, bool keep, struct arena *a,
                               struct object *out, struct build_info *info, struct error *err)
{
    char key[33], hash[33], path[4096], own[FLAGS_MAX + sizeof " apart"], *made = NULL;
    const char *apart = text ? text_apart(a, text, m->edited->helpers) : NULL;
    if (!apart)
        return error_msg(err, STATUS_MEMORY, "out of memory for a mutant");
    hash_bytes(text, strlen(text), hash);
    snprintf(own, sizeof own, "%s apart", m->flags);
    keep = keep && key_make(m->c, own, hash, key, NULL) == STATUS_OK &&
           kernel_cache_path(key, ".o", path, sizeof path, NULL) == STATUS_OK;
    if (keep && cache_read(a, path, key, &out->data, &out->size))
        return STATUS_OK;
    const int lock = keep ? cache_lock(path, key) : -1; /* many mutants need one text at a time */
    enum status st = STATUS_OK;
    if (lock < 0 || !cache_read(a, path, key, &out->data, &out->size)) {
        snprintf(own, sizeof own, "%s", m->flags);
        st = text_compile(m->c, own, apart, "", a, &made, &out->size, info, err);
        if (st == STATUS_OK && keep)
            cache_write(path, key, made, out->size);
        out->data = made;
    }
    cache_unlock(lock);
    return st;
}

enum { OBJECT_EDIT, OBJECT_HEAD, OBJECT_TAIL, OBJECT_COUNT };

/* The first definition of a function is taken. */
static enum status objects_link(const struct compiler *c, const struct object objects[OBJECT_COUNT],
                                struct arena *a, char **library, size_t *size,
                                struct build_info *info, struct error *err)
{
    char folder[3072], paths[OBJECT_COUNT + 1][3200];
    enum status st = STATUS_OK;
    int code = -1;
    TRY(scratch_make(folder, sizeof folder, err));
    for (int i = 0; i <= OBJECT_COUNT; i++)
        snprintf(paths[i], sizeof paths[i], "%s/%d.o", folder, i);
    for (int i = 0; i < OBJECT_COUNT && st == STATUS_OK; i++)
        if (objects[i].data)
            st = file_write(paths[i], objects[i].data, objects[i].size, err);
    char *argv[5 + OBJECT_COUNT + 1] = {(char *)c->program, (char *)"-shared", (char *)"-s",
                                        (char *)"-o", paths[OBJECT_COUNT]};
    size_t n = 5;
    for (int i = 0; i < OBJECT_COUNT; i++)
        if (objects[i].data)
            argv[n++] = paths[i];
    if (st == STATUS_OK)
        st = child_run(argv, folder, info->log, sizeof info->log, &code, err);
    if (st == STATUS_OK && code != 0)
        st = error_msg(err, STATUS_BUILD, "%s does not link the kernel (exit status %d): %.300s",
                       c->program, code, info->log);
    if (st == STATUS_OK)
        st = file_read(a, paths[OBJECT_COUNT], (size_t)1 << 30, library, size, err);
    scratch_remove(folder);
    return st;
}

/* Bodies of functions; of helpers as the text's mutants have them. */
static enum status bodies_need(const struct making *m, const char *text, struct arena *a,
                               struct body **bodies, size_t *count, struct error *err)
{
    TRY(bodies_list(a, text, bodies, count, err));
    for (size_t i = 0; i < *count; i++)
        (*bodies)[i].helper = (*bodies)[i].helper && !m->edited->helpers;
    return STATUS_OK;
}

/* The object of what stands behind the head, which is a program's own. */
static enum status tail_need(const struct making *m, const char *text, size_t head, bool keep,
                             struct arena *a, struct object *out, struct build_info *info,
                             struct error *err)
{
    struct body *bodies = NULL;
    size_t count = 0;
    if (!text[head])
        return STATUS_OK;
    TRY(bodies_need(m, text, a, &bodies, &count, err));
    return object_need(m, text_behind(a, text, bodies, count, head), keep, a, out, info, err);
}

/* An edit is compiled alone, and linked with two objects that mutants share. That of a helper stands in
 * both. */
static enum status edited_make(struct making *m, const char *source, struct arena *a,
                               char **library, size_t *size, struct build_info *info,
                               struct error *err)
{
    (void)source; /* its texts stay nowhere */
    const struct edited_text *t = m->edited;
    const struct edit *edit = t->edit;
    struct object objects[OBJECT_COUNT] = {{0}};
    struct body *bodies = NULL;
    size_t count = 0;
    const char *text = t->text, *head = arena_strndup(a, text, t->head);
    if (!head)
        return error_msg(err, STATUS_MEMORY, "out of memory for a mutant");
    TRY(bodies_need(m, head, a, &bodies, &count, err));
    const struct body *body = edit ? edit_body(bodies, count, edit) : NULL;
    const bool whole = body && body->helper;
    if (whole) {
        text = edit_apply(a, text, edit);
        head = edit_apply(a, head, edit);
        if (!text || !head)
            return error_msg(err, STATUS_MEMORY, "out of memory for a mutant");
    } else if (edit) {
        TRY(object_need(m, edit_alone(a, head, bodies, count, edit, true), false, a,
                        &objects[OBJECT_EDIT], info, err));
    }
    TRY(object_need(m, head, true, a, &objects[OBJECT_HEAD], info, err));
    TRY(tail_need(m, text, strlen(head), !whole, a, &objects[OBJECT_TAIL], info, err));
    if (t->marked_head) /* it comes before all mutants: what they need was made beside it */
        TRY(object_need(m, t->marked_head, true, a, &objects[OBJECT_HEAD], info, err));
    return objects_link(m->c, objects, a, library, size, info, err);
}

static enum status edited_load(struct making *m, const struct edited_text *t, void **library,
                               struct build_info *info, struct error *err)
{
    char name[64], key[33];
    m->edited = t;
    m->make = edited_make;
    TRY(key_make(m->c, m->flags, t->hash, key, err));
    snprintf(name, sizeof name, "apart %zu %zu %d ", t->edit ? t->edit->offset : 0,
             t->edit ? t->edit->length : 0, t->marked_head != NULL);
    struct hash *h = hash_open();
    if (!h)
        return error_msg(err, STATUS_MEMORY, "out of memory for a hash");
    hash_add(h, key, sizeof key);
    hash_add(h, name, strlen(name));
    if (t->edit)
        hash_add(h, t->edit->now, strlen(t->edit->now));
    if (t->marked_head)
        hash_add(h, t->marked_head, strlen(t->marked_head));
    hash_close(h, key);
    return library_need(m, key, library, info, err);
}

enum status compiler_load_edited(const struct compiler *c, const struct program_request *request,
                                 const struct edit *edit, bool marked, void **library,
                                 struct build_info *info, struct error *err)
{
    struct device_text device;
    struct making m = {.c = c};
    struct arena a = {0};
    TRY(device_text_need(&device, err));
    const size_t length = strlen(request->source), shared = strlen(device.text);
    struct edited_text t = {.text = request->source,
                            .hash = request->source_hash,
                            .head = strncmp(request->source, device.text, shared) == 0 ? shared
                                                                                       : length};
    /* an edit of the shaders' library leaves the kernel without shaders as it is */
    if (edit && edit->offset < length)
        t.edit = edit;
    TRY(flags_of(c, request, m.flags, err));
    enum status st = STATUS_OK;
    if (marked) {
        struct marks marks;
        const char *head = arena_strndup(&a, t.text, t.head);
        st = head ? marks_list(&a, head, &marks, err)
                  : error_msg(err, STATUS_MEMORY, "out of memory for a mutant");
        t.marked_head = st == STATUS_OK ? text_marked(&a, head, 0, &marks) : NULL;
        if (st == STATUS_OK && !t.marked_head)
            st = error_msg(err, STATUS_MEMORY, "out of memory for a mutant");
    }
    if (st == STATUS_OK)
        st = edited_load(&m, &t, library, info, err);
    arena_free(&a);
    return st;
}

enum status compiler_load_edited_text(const struct compiler *c, const char *options,
                                      const struct edited_text *t, void **library,
                                      struct build_info *info, struct error *err)
{
    struct making m = {.c = c};
    TRY(options_take(&m, options, err));
    return edited_load(&m, t, library, info, err);
}
