/* SPDX-License-Identifier: Apache-2.0 */
/* The suite: every case by name, the lists, and what a run's options select. */
#include "case.h"
#include "cases_image.h"
#include "cases_shader.h"
#include "worth/worth.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

struct level {
    const char *name;
    const struct case_table *plain, *scenes;
};
static const struct case_table none = {NULL, 0}; /* shader_cases() lists that level's cases */
static const struct level levels[] = {
    {"kernel", &kernel_cases, &kernel_scene_cases},
    {"image", &image_cases, &image_scene_cases},
    {"invariance", &invariance_cases, &invariance_scene_cases},
    {"shader", &none, &none},
};
enum { LEVEL_COUNT = sizeof levels / sizeof *levels };

struct named_scene {
    const char *name, *path;
};

/* "dir/cornell.json" is cornell; "dir/kitchen/scene.json" is kitchen. */
static const char *scene_case_name(struct arena *a, const char *path)
{
    const char *base = path_name(path);
    if (strcmp(base, "scene.json") == 0 && base > path) {
        const char *end = base - 1, *start = end;
        while (start > path && start[-1] != '/')
            start--;
        if (end > start)
            return arena_strndup(a, start, (size_t)(end - start));
    }
    size_t len = strlen(base);
    if (len > 5 && strcmp(base + len - 5, ".json") == 0)
        len -= 5;
    char *name = arena_strndup(a, base, len);
    for (char *p = name; p && *p; p++) /* a name is one word */
        if (*p <= ' ' || *p == 127)
            *p = '_';
    return name;
}

static bool same_file(const char *x, const char *y)
{
    char *a = realpath(x, NULL), *b = realpath(y, NULL);
    bool same = strcmp(x, y) == 0 || (a && b && strcmp(a, b) == 0);
    free(a);
    free(b);
    return same;
}

/* The library's scenes, scenes/real, then the user's own with names of their own. */
static enum status collect_scenes(struct arena *a, const char *const *more, size_t more_count,
                                  struct named_scene **out, size_t *count, struct error *err)
{
    const char *const *library;
    size_t n = 0, library_count;
    enum status s = scene_library(a, true, &library, &library_count, err);
    if (s != STATUS_OK)
        return s;
    struct named_scene *list = ARENA_ARRAY(a, struct named_scene, library_count + more_count);
    if (!list)
        return error_msg(err, STATUS_MEMORY, "out of memory for the scenes");
    for (size_t i = 0; i < library_count + more_count; i++) {
        const char *path = i < library_count ? library[i] : more[i - library_count];
        if (shader_path(path))
            continue;
        const char *name = scene_case_name(a, path);
        if (!name)
            return error_msg(err, STATUS_MEMORY, "out of memory for the scenes");
        bool known = false;
        for (size_t k = 0; k < n && !known; k++)
            known = same_file(list[k].path, path);
        if (known)
            continue;
        const char *unique = name;
        for (unsigned number = 2, taken = 1; taken && unique; number++) {
            taken = 0;
            for (size_t k = 0; k < n; k++)
                taken |= strcmp(list[k].name, unique) == 0;
            if (taken)
                unique = arena_printf(a, "%s-%u", name, number);
        }
        if (!unique)
            return error_msg(err, STATUS_MEMORY, "out of memory for the scenes");
        list[n++] = (struct named_scene){unique, path};
    }
    *out = list;
    *count = n;
    return STATUS_OK;
}

static enum status list_cases(struct arena *a, const struct conform_options *o,
                              const struct conform_case **out, size_t *count, struct error *err)
{
    struct named_scene *named = NULL;
    const struct conform_case *shader = NULL, *random = NULL, *search = NULL;
    size_t named_count = 0, n = 0, shader_count = 0, random_count = 0, search_count = 0;
    TRY(collect_scenes(a, o->scenes, o->scene_count, &named, &named_count, err));
    TRY(shader_cases(a, o->scenes, o->scene_count, o->programs, &shader, &shader_count, err));
    TRY(random_cases(a, o->random_scenes, o->random_seed, &random, &random_count, err));
    TRY(search_cases(a, o->searches, o->random_seed, &search, &search_count, err));
    const char *challenge = o->challenge;
    size_t total =
        shader_count + random_count + search_count + (challenge ? (size_t)CHALLENGE_CASES : 0);
    for (size_t l = 0; l < LEVEL_COUNT; l++)
        total += levels[l].plain->count + levels[l].scenes->count * named_count;
    struct conform_case *list = ARENA_ARRAY(a, struct conform_case, total);
    if (!list)
        return error_msg(err, STATUS_MEMORY, "out of memory for %zu cases", total);
    for (size_t l = 0; l < LEVEL_COUNT; l++) {
        const struct level *level = &levels[l];
        for (size_t i = 0; i < level->plain->count; i++)
            list[n++] = (struct conform_case){level->plain->rows[i].name, level->name,
                                              level->plain->rows[i].text, NULL, false};
        for (size_t i = 0; i < level->scenes->count; i++)
            for (size_t k = 0; k < named_count; k++) {
                const struct case_row *row = &level->scenes->rows[i];
                const char *name = arena_printf(a, "%s.%s", row->name, named[k].name);
                if (!name)
                    return error_msg(err, STATUS_MEMORY, "out of memory for %zu cases", total);
                list[n++] =
                    (struct conform_case){name, level->name, row->text, named[k].path, false};
            }
    }
    for (int i = 1; challenge && i <= CHALLENGE_CASES; i++) {
        const char *name = arena_printf(a, "image.challenge.%s.%d", challenge, i);
        if (!name)
            return error_msg(err, STATUS_MEMORY, "out of memory for %zu cases", total);
        list[n++] = (struct conform_case){name, "image", challenge_row(name)->text, NULL, false};
    }
    memcpy(list + n, shader, shader_count * sizeof *list);
    memcpy(list + n + shader_count, random, random_count * sizeof *list);
    memcpy(list + n + shader_count + random_count, search, search_count * sizeof *list);
    *out = list;
    *count = total;
    return STATUS_OK;
}

enum status conform_cases(struct arena *a, const char *const *scenes, size_t scene_count,
                          const struct conform_case **out, size_t *count, struct error *err)
{
    const struct conform_options o = {.scenes = scenes, .scene_count = scene_count};
    return list_cases(a, &o, out, count, err);
}

/* The row whose name is `name`, or begins it up to a dot before a scene's name. */
const struct case_row *suite_row(const char *name)
{
    if (strcmp(name, canary_case.name) == 0)
        return &canary_case;
    for (size_t l = 0; l < LEVEL_COUNT; l++) {
        for (size_t i = 0; i < levels[l].plain->count; i++)
            if (strcmp(levels[l].plain->rows[i].name, name) == 0)
                return &levels[l].plain->rows[i];
        for (size_t i = 0; i < levels[l].scenes->count; i++) {
            size_t len = strlen(levels[l].scenes->rows[i].name);
            if (strncmp(levels[l].scenes->rows[i].name, name, len) == 0 && name[len] == '.' &&
                name[len + 1])
                return &levels[l].scenes->rows[i];
        }
    }
    const struct case_row *row = random_row(name);
    if (!row)
        row = challenge_row(name);
    if (!row)
        row = search_row(name);
    return row ? row : shader_row(name);
}

/* ---- lists and selection -------------------------------------------------------------------- */

static const struct conform_case *find_case(const struct conform_case *list, size_t count,
                                            const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0)
            return &list[i];
    return NULL;
}

/* Marks the cases that a list file names: one name a line, # begins a comment. "all" is every case.
 */
static enum status read_list(struct arena *a, const char *wanted, const struct conform_case *all,
                             size_t count, bool *listed, struct error *err)
{
    const char *path = wanted;
    if (strcmp(wanted, "all") == 0) {
        for (size_t i = 0; i < count; i++)
            listed[i] = true;
        return STATUS_OK;
    }
    if (!strchr(wanted, '/') && !strchr(wanted, '.'))
        TRY(data_path(a, arena_printf(a, "conformance/lists/%s.txt", wanted), &path, err));
    char *data;
    size_t size;
    enum status s = file_read(a, path, (size_t)16 << 20, &data, &size, err);
    if (s != STATUS_OK)
        return s;
    uint32_t line = 1;
    const char *nul = memchr(data, '\0', size);
    for (const char *c = data; nul && c < nul; c++)
        line += *c == '\n';
    if (nul) {
        const char *start = nul;
        while (start > data && start[-1] != '\n')
            start--;
        return error_set(err, STATUS_PARSE,
                         (struct src_pos){path, line, (uint32_t)(nul - start) + 1},
                         "a NUL byte; a list of cases is text, one name a line");
    }
    for (char *at = data, *next; at; at = next, line++) {
        char *end = strchr(at, '\n');
        next = end ? end + 1 : NULL;
        if (end)
            *end = 0;
        at[strcspn(at, "#")] = 0;
        at += strspn(at, " \t\r");
        size_t len = strlen(at);
        while (len && strchr(" \t\r", at[len - 1]))
            at[--len] = 0;
        if (!len)
            continue;
        const struct conform_case *c = find_case(all, count, at);
        if (!c)
            return error_set(err, STATUS_TYPE, (struct src_pos){path, line, 1},
                             "there is no case %s; `isophote conform --list` prints all", at);
        listed[c - all] = true;
    }
    return STATUS_OK;
}

static bool level_wanted(const struct conform_options *o, const char *level)
{
    for (size_t i = 0; i < o->level_count; i++)
        if (strcmp(o->levels[i], level) == 0)
            return true;
    return o->level_count == 0;
}

static enum status check_levels(const struct conform_options *o, struct error *err)
{
    for (size_t i = 0; i < o->level_count; i++) {
        size_t l = 0;
        while (l < LEVEL_COUNT && strcmp(levels[l].name, o->levels[i]) != 0)
            l++;
        if (l == LEVEL_COUNT)
            return error_msg(err, STATUS_TYPE,
                             "there is no level '%s'; expected kernel, image, invariance or shader",
                             o->levels[i]);
    }
    if ((o->shards == 0) != (o->shard == 0) || o->shard > o->shards)
        return error_msg(err, STATUS_TYPE, "there is no shard %u of %u; expected 1/N to N/N",
                         o->shard, o->shards);
    return STATUS_OK;
}

/* By name alone, so that a shard is the same on every machine, whatever its devices and filter. */
static uint32_t shard_of(const char *name, uint32_t shards)
{
    char hex[33], head[9] = {0};
    hash_bytes(name, strlen(name), hex);
    memcpy(head, hex, 8);
    return (uint32_t)(strtoul(head, NULL, 16) % shards) + 1;
}

/* A scene or a program that the user named is wanted, whatever the list says. */
static bool is_named(const struct conform_options *o, const struct conform_case *c)
{
    bool named = shader_is_program(c->name, o->programs) || random_is_case(c->name) ||
                 search_is_case(c->name) || (o->challenge && challenge_has(o->challenge, c->name));
    for (size_t k = 0; c->scene && k < o->scene_count && !named; k++)
        named = same_file(c->scene, o->scenes[k]);
    return named;
}

/* All cases, and which of them the list has. */
static enum status list_open(struct arena *a, const struct conform_options *o,
                             const struct conform_case **all, size_t *count, bool **listed,
                             struct error *err)
{
    TRY(check_levels(o, err));
    TRY(list_cases(a, o, all, count, err));
    *listed = ARENA_ARRAY(a, bool, *count);
    if (!*listed)
        return error_msg(err, STATUS_MEMORY, "out of memory for %zu cases", *count);
    if (o->searches || (o->random_scenes && !o->list))
        return STATUS_OK; /* these alone */
    return read_list(a, o->list ? o->list : "core", *all, *count, *listed, err);
}

static void strings_json(struct json_writer *w, const char *key, const char *const *strings,
                         size_t count)
{
    if (!count)
        return;
    json_key(w, key);
    json_begin_array(w);
    for (size_t i = 0; i < count; i++)
        json_string(w, strings[i]);
    json_end_array(w);
}

/* A file of rows as it is now, for whoever is handed the run. */
static enum status rows_json(struct arena *a, struct json_writer *w, const char *key,
                             const char *path, struct error *err)
{
    char *data;
    size_t size;
    const struct json *root;
    enum status s = path ? file_read(a, path, (size_t)16 << 20, &data, &size, err) : STATUS_OK;
    if (path && s == STATUS_OK)
        s = json_parse(a, path, data, size, &root, err);
    if (path && s == STATUS_OK) {
        json_key(w, key);
        json_copy(w, root);
    } else if (s != STATUS_OK) {
        text_free(&w->out);
    }
    return s;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

enum status conform_list_hash(const struct conform_case *cases, const bool *listed, size_t n,
                              char hash[33], struct error *err)
{
    size_t count = 0;
    const char **names = calloc(n + 1, sizeof *names);
    if (!names)
        return error_msg(err, STATUS_MEMORY, "out of memory for a list of %zu cases", n);
    for (size_t i = 0; i < n; i++)
        if (!listed || listed[i])
            names[count++] = cases[i].name;
    qsort(names, count, sizeof *names, by_name);
    struct hash *h = hash_open();
    for (size_t i = 0; i < count; i++)
        hash_add(h, names[i], strlen(names[i]) + 1);
    hash_close(h, hash);
    free(names);
    return STATUS_OK;
}

enum status conform_selection(struct arena *a, const struct conform_options *o, const char **json,
                              struct error *err)
{
    const struct conform_case *all = NULL, *chosen = NULL;
    size_t all_count = 0, count = 0, cases = 0;
    bool *listed = NULL;
    char hex[33];
    struct json_writer w = {0};
    TRY(list_open(a, o, &all, &all_count, &listed, err));
    TRY(conform_select(a, o, &chosen, &count, err));
    TRY(conform_list_hash(all, listed, all_count, hex, err));
    for (size_t i = 0; i < all_count; i++)
        cases += listed[i];
    json_begin_object(&w);
    json_key_string(&w, "list", o->list ? o->list : o->random_scenes ? "random" : "core");
    json_key_string(&w, "hash", hex);
    json_key_integer(&w, "cases", (int64_t)cases);
    json_key_integer(&w, "selected", (int64_t)count);
    strings_json(&w, "levels", o->levels, o->level_count);
    if (o->filter)
        json_key_string(&w, "filter", o->filter);
    if (o->shards)
        json_key_pair(&w, "shard", o->shard, o->shards);
    strings_json(&w, "scenes", o->scenes, o->scene_count);
    if (o->random_scenes) {
        json_key_integer(&w, "random_scenes", o->random_scenes);
        json_key_string(&w, "random_seed",
                        arena_printf(a, "%llu", (unsigned long long)o->random_seed));
    }
    if (o->programs)
        json_key_integer(&w, "programs", o->programs);
    if (o->challenge)
        json_key_string(&w, "challenge", o->challenge);
    if (o->skips)
        json_key_string(&w, "skips", o->skips);
    TRY(rows_json(a, &w, "skip_rows", o->skips, err));
    TRY(rows_json(a, &w, "waiver_rows", o->waivers, err));
    json_end_object(&w);
    *json = w.out.failed ? NULL : arena_strdup(a, w.out.data);
    text_free(&w.out);
    return *json ? STATUS_OK : error_msg(err, STATUS_MEMORY, "out of memory for a selection");
}

bool case_is_long(const char *name)
{
    static const char *const begins[] = {"image.dense.",          "image.edges.",
                                         "image.masks.",          "image.passes",
                                         "invariance.launch.bvh", "invariance.launch.model",
                                         "invariance.scene.",     "invariance.shader.bake"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (strncmp(name, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}

enum status conform_select(struct arena *a, const struct conform_options *o,
                           const struct conform_case **out, size_t *count, struct error *err)
{
    const struct conform_case *all = NULL;
    const struct worth *w = NULL;
    size_t all_count = 0, n = 0, *order = NULL;
    bool *listed = NULL;
    regex_t filter;
    TRY(list_open(a, o, &all, &all_count, &listed, err));
    struct conform_case *chosen = ARENA_ARRAY(a, struct conform_case, all_count);
    bool *wanted = ARENA_ARRAY(a, bool, all_count + 1);
    if (!chosen || !wanted)
        return error_msg(err, STATUS_MEMORY, "out of memory for %zu cases", all_count);
    if (o->filter) {
        int code = regcomp(&filter, o->filter, REG_EXTENDED | REG_NOSUB);
        if (code != 0) {
            char why[256];
            regerror(code, &filter, why, sizeof why);
            return error_msg(err, STATUS_TYPE, "the filter '%s' is no regular expression: %s",
                             o->filter, why);
        }
    }
    for (size_t i = 0; i < all_count; i++)
        wanted[i] = level_wanted(o, all[i].level) &&
                    (!o->shards || shard_of(all[i].name, o->shards) == o->shard) &&
                    (!o->filter || regexec(&filter, all[i].name, 0, NULL, 0) == 0) &&
                    (listed[i] || is_named(o, &all[i]));
    if (o->filter)
        regfree(&filter);
    TRY(worth_read(a, &w, err));
    TRY(worth_order(a, w, all, all_count, wanted, &order, &n, err));
    for (size_t i = 0; i < n; i++) {
        chosen[i] = all[order[i]];
        chosen[i].listed = listed[order[i]];
    }
    *out = chosen;
    *count = n;
    return STATUS_OK;
}
