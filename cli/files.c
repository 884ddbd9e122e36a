/* SPDX-License-Identifier: Apache-2.0 */
/* files.c: what a command would write, held against what it reads and what is there. Which options name
 * files, and of what kind, stands in the rows of the commands. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scenes.h"

/* ---- kinds ---------------------------------------------------------------------------------- */

enum { HEAD = 512 };

/* By what a file of a kind is known: bytes that it starts with, or that stand in its first 512. */
static const struct signature {
    enum file_kind kind;
    const char *name; /* "a picture" */
    const char *bytes;
    size_t count;
    bool within;
} signatures[] = {
#define STARTS(kind, name, bytes)                                                                  \
    {                                                                                              \
        kind, name, bytes, sizeof(bytes) - 1, false                                                \
    }
#define HOLDS(kind, name, bytes)                                                                   \
    {                                                                                              \
        kind, name, bytes, sizeof(bytes) - 1, true                                                 \
    }
    STARTS(FILE_PICTURE, "a picture", "\x76\x2f\x31\x01"),
    STARTS(FILE_PICTURE, "a picture", "\x89PNG\r\n"),
    STARTS(FILE_PICTURE, "a picture", "PF\n"),
    STARTS(FILE_PICTURE, "a picture", "Pf\n"),
    STARTS(FILE_PICTURE, "a picture", "II*\0"),
    STARTS(FILE_PICTURE, "a picture", "MM\0*"),
    STARTS(FILE_STORE, "a result store", "SQLite format 3\0"),
    STARTS(FILE_JOURNAL, "a journal of conform", "{\"journal\":"),
    STARTS(FILE_RESULTS, "an exported store", "{\"type\":\"isophote-store\""),
    HOLDS(FILE_JUNIT, "JUnit XML of isophote", "<testsuites name=\"isophote"),
    HOLDS(FILE_REPORT, "a report", "<title>Isophote report</title>"),
    STARTS(FILE_REPORT, "a report", "# Isophote report"),
    STARTS(FILE_REPORT, "a report", "record,started_utc,"),
    HOLDS(FILE_SCENE, "a scene", "\"isophote\":"),
    HOLDS(FILE_MITSUBA, "a scene for Mitsuba", "<!-- By isophote export"),
    STARTS(FILE_OBJECT, "a compiled shader", "// Isophote ASL object"),
    STARTS(FILE_WITNESS, "a witness", "isophote-witness "),
    STARTS(FILE_ARCHIVE, "an archive of submit", "manifest.json\0"),
    STARTS(FILE_SIGNATURE, "a signature", "-----BEGIN SSH SIGNATURE-----"),
    STARTS(FILE_SIGNATURE, "a signature", "untrusted comment: signature"),
    STARTS(FILE_CHECKPOINT, "a checkpoint of render", "ISOCKPT\n"),
#undef STARTS
#undef HOLDS
};
static const struct {
    enum file_kind kind;
    const char *name;
} kind_names[] = {{FILE_PICTURE, "picture"},     {FILE_STORE, "store"},
                  {FILE_JOURNAL, "journal"},     {FILE_RESULTS, "results"},
                  {FILE_JUNIT, "junit"},         {FILE_REPORT, "report"},
                  {FILE_SCENE, "scene"},         {FILE_MITSUBA, "mitsuba"},
                  {FILE_OBJECT, "object"},       {FILE_WITNESS, "witness"},
                  {FILE_RULE, "rule"},           {FILE_ARCHIVE, "archive"},
                  {FILE_SIGNATURE, "signature"}, {FILE_CHECKPOINT, "checkpoint"}};

/* A rule of make: its first word ends with a colon. */
static bool is_rule(const char *head, size_t size)
{
    size_t n = 0;
    while (n < size && head[n] > ' ')
        n++;
    return n > 1 && n < size && head[n - 1] == ':';
}

static bool is_kind(const char *head, size_t size, unsigned kinds)
{
    for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++) {
        const struct signature *s = &signatures[i];
        if ((kinds & s->kind) && size >= s->count &&
            (s->within ? memmem(head, size, s->bytes, s->count) != NULL
                       : memcmp(head, s->bytes, s->count) == 0))
            return true;
    }
    return (kinds & FILE_RULE) && is_rule(head, size);
}

static void kinds_print(unsigned kinds, struct text *out)
{
    const char *last = "";
    for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++)
        if ((kinds & signatures[i].kind) && strcmp(last, signatures[i].name) != 0) {
            last = signatures[i].name;
            text_printf(out, "%s%s", out->len ? " or " : "", last);
        }
    if (kinds & FILE_RULE)
        text_printf(out, "%sa rule of make", out->len ? " or " : "");
}

void files_print(const struct command *c, struct text *out)
{
    const struct option *o;
    if (c->reads)
        text_printf(out, "%s %s reads\n", c->name, c->argument);
    for (size_t i = 0; (o = command_option(c, i)) != NULL; i++) {
        if (o->reads)
            text_printf(out, "%s %.*s reads\n", c->name, (int)strcspn(o->names, " "), o->names);
        if (!o->writes)
            continue;
        text_printf(out, "%s %.*s writes", c->name, (int)strcspn(o->names, " "), o->names);
        for (size_t k = 0; k < sizeof kind_names / sizeof *kind_names; k++)
            if (o->writes & kind_names[k].kind)
                text_printf(out, " %s", kind_names[k].name);
        text_puts(out, "\n");
    }
}

/* ---- outputs -------------------------------------------------------------------------------- */

struct output {
    const char *path;
    unsigned kinds;
    bool there; /* a regular file, which the numbers tell */
    dev_t device;
    ino_t node;
    char *real; /* else the name without links; NULL: a folder, a device, or nowhere */
};
struct visited {
    dev_t device;
    ino_t node;
};
struct check {
    struct arena a;
    struct output *outputs;
    size_t count;
    const char *const *folders; /* of -I */
    size_t folder_count;
    struct visited *seen;
    size_t seen_count, seen_room;
    enum status status;
    struct error *err;
};

static void output_fill(struct check *k, struct output *o)
{
    struct stat st;
    if (stat(o->path, &st) == 0) {
        o->there = S_ISREG(st.st_mode);
        o->device = st.st_dev;
        o->node = st.st_ino;
        return;
    }
    char *folder = path_folder(&k->a, o->path), *real = folder ? realpath(folder, NULL) : NULL;
    o->real = real ? arena_printf(&k->a, "%s/%s", real, path_name(o->path)) : NULL;
    free(real);
}

static void say_one(struct check *k, const struct output *o, const char *other)
{
    if (k->status == STATUS_OK)
        k->status = error_msg(k->err, STATUS_ARG, "cannot write %s over %s: they are one file",
                              o->path, other);
}

static bool is_one(const struct output *a, const struct output *b)
{
    if (a->there || b->there)
        return a->there && b->there && a->device == b->device && a->node == b->node;
    return a->real && b->real && strcmp(a->real, b->real) == 0;
}

static enum status kind_check(const struct output *o, struct error *err)
{
    char head[HEAD];
    struct text t = {0};
    int fd = o->there ? open(o->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    int64_t n = fd < 0 ? 0 : file_read_at(fd, head, sizeof head, 0);
    if (fd >= 0)
        close(fd);
    if (n <= 0 || is_kind(head, (size_t)n, o->kinds)) /* an empty file loses nothing */
        return STATUS_OK;
    kinds_print(o->kinds, &t);
    error_msg(err, STATUS_ARG, "%s is there and is not %s, which would replace it; --force does it",
              o->path, t.data ? t.data : "what is written");
    text_free(&t);
    return STATUS_ARG;
}

/* ---- inputs, and the files that they name --------------------------------------------------- */

enum { DEEPEST = 8, READ_MOST = 64 << 20 };
static void visit(struct check *k, const char *path, int depth);

/* A name in the text of `from`: beside it, from here, in the folders of -I, of data. */
static void name_visit(struct check *k, const char *from, const char *name, int depth)
{
    char folder[PATH_MAX];
    if (strncmp(name, "data:", 5) == 0) {
        const char *data = getenv("ISOPHOTE_DATA");
        if (data && *data)
            snprintf(folder, sizeof folder, "%s", data);
        else if (cache_dir("data", folder, sizeof folder, NULL) != STATUS_OK)
            return;
        visit(k, arena_printf(&k->a, "%s/%s", folder, name + 5), depth);
        return;
    }
    visit(k, path_beside(&k->a, from, name), depth);
    if (name[0] == '/')
        return;
    visit(k, name, depth);
    for (size_t i = 0; i < k->folder_count; i++)
        visit(k, arena_printf(&k->a, "%s/%s", k->folders[i], name), depth);
}

/* "a%20b" of a glTF's URI, in place. */
static bool percent_decode(char *s)
{
    char *to = s;
    bool any = false;
    for (; *s; s++) {
        int high = *s == '%' ? hex_digit(s[1]) : -1, low = high < 0 ? -1 : hex_digit(s[2]);
        *to++ = low < 0 ? *s : (char)(high << 4 | low);
        s += low < 0 ? 0 : 2;
        any = any || low >= 0;
    }
    *to = '\0';
    return any;
}

static void word_visit(struct check *k, const char *from, const char *word, size_t n, int depth)
{
    if (n == 0 || n >= 1024 || !memchr(word, '.', n) || strspn(word, "0123456789.eE+-") >= n)
        return;
    char *copy = arena_strndup(&k->a, word, n);
    if (!copy)
        return;
    name_visit(k, from, copy, depth);
    if (percent_decode(copy))
        name_visit(k, from, copy, depth);
}

static void json_visit(struct check *k, const char *from, const struct json *v, int depth)
{
    if (v->type == JSON_STRING)
        word_visit(k, from, v->string, strlen(v->string), depth);
    if (v->type == JSON_ARRAY || v->type == JSON_OBJECT)
        for (const struct json *c = v->first; c; c = c->next)
            json_visit(k, from, c, depth);
}

/* Names between quotes, angle brackets and control characters: of shaders, XML, models. */
static void text_visit(struct check *k, const char *from, const char *text, size_t size, int depth)
{
    for (size_t at = 0, start = 0; at <= size; at++)
        if (at == size || (unsigned char)text[at] < ' ' || strchr("\"<>", text[at])) {
            word_visit(k, from, text + start, at - start, depth);
            start = at + 1;
        }
}

/* Wavefront's: the rest of the lines that name files. */
static void lines_visit(struct check *k, const char *from, const char *text, size_t size, bool all,
                        int depth)
{
    for (size_t at = 0; at < size;) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t n = end ? (size_t)(end - (text + at)) : size - at;
        while (n && (text[at + n - 1] == '\r' || text[at + n - 1] == ' '))
            n--;
        size_t word = 0;
        while (word < n && text[at + word] > ' ')
            word++;
        /* the name may hold blanks, and options may stand before it: each end of the line */
        if (word < n && (all || (word == 6 && memcmp(text + at, "mtllib", 6) == 0)))
            for (size_t i = word; i < n; i++)
                if (text[at + i] <= ' ')
                    word_visit(k, from, text + at + i + 1, n - i - 1, depth);
        at += (end ? (size_t)(end - (text + at)) : size - at) + 1;
    }
}

static bool ends_in(const char *path, const char *const *endings)
{
    while (*endings && !path_ends(path, *endings))
        endings++;
    return *endings != NULL;
}

/* Files that name others; and what is read of a folder besides. */
static const char *const naming[] = {".json", ".gltf", ".glb", ".obj", ".mtl", ".asl", ".osl", ".h",
                                     ".aso",  ".c",    ".dae", ".fbx", ".3ds", ".xml", NULL};
static const char *const plain[] = {".ply", ".stl", ".bin", NULL};

static void file_scan(struct check *k, const char *path, int depth)
{
    struct arena a = {0};
    char *data;
    size_t size;
    if (!ends_in(path, naming) || depth >= DEEPEST ||
        file_read(&a, path, READ_MOST, &data, &size, NULL) != STATUS_OK)
        return;
    const struct json *v;
    if ((path_ends(path, ".json") || path_ends(path, ".gltf")) &&
        json_parse(&a, path, data, size, &v, NULL) == STATUS_OK)
        json_visit(k, path, v, depth + 1);
    else if (path_ends(path, ".obj") || path_ends(path, ".mtl"))
        lines_visit(k, path, data, size, path_ends(path, ".mtl"), depth + 1);
    else
        text_visit(k, path, data, size, depth + 1);
    arena_free(&a);
}

static bool is_new(struct check *k, const struct stat *st)
{
    for (size_t i = 0; i < k->seen_count; i++)
        if (k->seen[i].device == st->st_dev && k->seen[i].node == st->st_ino)
            return false;
    if (k->seen_count == k->seen_room) {
        size_t room = k->seen_room ? 2 * k->seen_room : 64;
        struct visited *more = realloc(k->seen, room * sizeof *more);
        if (!more)
            return false;
        k->seen = more;
        k->seen_room = room;
    }
    k->seen[k->seen_count++] = (struct visited){st->st_dev, st->st_ino};
    return true;
}

static struct check *walking; /* nftw has no context */
static int walked;
static int entry_visit(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    if (type == FTW_F && at->level <= DEEPEST && (ends_in(path, naming) || ends_in(path, plain)))
        visit(walking, path, walked);
    return walking->status != STATUS_OK;
}

static void visit(struct check *k, const char *path, int depth)
{
    struct stat st;
    if (k->status != STATUS_OK || !path || stat(path, &st) != 0)
        return;
    if (S_ISDIR(st.st_mode) && depth == 0) { /* an argument: a folder of shaders or models */
        walking = k;
        walked = 1;
        (void)nftw(path, entry_visit, 16, FTW_PHYS);
    }
    if (!S_ISREG(st.st_mode) || !is_new(k, &st))
        return;
    for (size_t i = 0; i < k->count; i++)
        if (k->outputs[i].there && k->outputs[i].device == st.st_dev &&
            k->outputs[i].node == st.st_ino)
            say_one(k, &k->outputs[i], path);
    file_scan(k, path, depth);
}

static void input_visit(struct check *k, const char *name)
{
    static const char *const endings[] = {"", ".aso", ".osl", ".asl"};
    const char *scene = NULL;
    visit(k, name, 0);
    if (scene_resolve(&k->a, name, &scene, NULL) == STATUS_OK)
        visit(k, scene, 0);
    for (size_t e = 0; e < sizeof endings / sizeof *endings;
         e++) { /* shaders without their ending */
        if (e)
            visit(k, arena_printf(&k->a, "%s%s", name, endings[e]), 1);
        for (size_t i = 0; i < k->folder_count; i++)
            visit(k, arena_printf(&k->a, "%s/%s%s", k->folders[i], name, endings[e]), 1);
    }
}

bool output_is_special(const char *path)
{
    struct stat st;
    return strcmp(path, "-") == 0 || (stat(path, &st) == 0 && !S_ISREG(st.st_mode));
}

/* ---- the check ------------------------------------------------------------------------------ */

static void output_add(struct check *k, const char *path, unsigned kinds, const char *none)
{
    if (!path || strcmp(path, "-") == 0 || (none && strcmp(path, none) == 0))
        return;
    k->outputs[k->count] = (struct output){.path = path, .kinds = kinds};
    output_fill(k, &k->outputs[k->count++]);
}

/* An option that takes one value takes the last one given. */
static bool is_overridden(const struct arguments *args, size_t i)
{
    const struct option *o = args->files[i].option;
    for (size_t j = i + 1; o && o->type == OPTION_STRING && j < args->file_count; j++)
        if (args->files[j].option == o)
            return true;
    return false;
}

/* "run.db.journal", where the row of the journal says that it lies beside the store. What is no file
 * has nothing beside it. */
static void beside_add(struct check *k, const struct command *c, const struct arguments *args)
{
    const struct option *o;
    for (size_t i = 0; (o = command_option(c, i)) != NULL; i++) {
        const char *base = NULL;
        bool given = false;
        for (size_t j = 0; o->beside && j < args->file_count; j++) {
            const struct option *other = args->files[j].option;
            given = given || other == o;
            if (other && strcmp(other->names, o->beside) == 0)
                base = args->files[j].path;
        }
        if (base && !given && !output_is_special(base))
            output_add(k, arena_printf(&k->a, "%s%s", base, o->ending), o->writes, NULL);
    }
}

enum status output_replaces(const char *path, unsigned kinds, bool force, struct error *err)
{
    struct check k = {0};
    struct output o = {.path = path, .kinds = kinds};
    output_fill(&k, &o);
    arena_free(&k.a);
    TRY(file_link_check(path, err));
    return force ? STATUS_OK : kind_check(&o, err);
}

enum status files_check(const struct command *c, const struct arguments *args, struct error *err)
{
    struct check k = {.err = err, .folders = args->folders, .folder_count = args->folder_count};
    bool there = false;
    k.outputs = ARENA_ARRAY(&k.a, struct output, args->file_count + c->option_count + 1);
    if (!k.outputs)
        return error_msg(err, STATUS_MEMORY, "out of memory for the names of files");
    for (size_t i = 0; i < args->file_count; i++) {
        const struct option *o = args->files[i].option;
        if (o && o->writes && !is_overridden(args, i))
            output_add(&k, args->files[i].path, o->writes, o->none);
    }
    beside_add(&k, c, args);
    for (size_t i = 0; i < k.count; i++) {
        if (k.status == STATUS_OK)
            k.status = file_link_check(k.outputs[i].path, err);
        there = there || k.outputs[i].there;
        for (size_t j = 0; j < i; j++)
            if (is_one(&k.outputs[i], &k.outputs[j]))
                say_one(&k, &k.outputs[i], k.outputs[j].path);
    }
    for (size_t i = 0; there && i < args->file_count; i++)
        if (!args->files[i].option || args->files[i].option->reads)
            input_visit(&k, args->files[i].path);
    for (size_t i = 0; i < k.count && !args->force && k.status == STATUS_OK; i++)
        k.status = kind_check(&k.outputs[i], err);
    free(k.seen);
    arena_free(&k.a);
    return k.status;
}
