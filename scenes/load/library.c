/* SPDX-License-Identifier: Apache-2.0 */
/* Where the scenes that come with Isophote are, and how a user names one. */
#include "scenes.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Adds dir/ *.json, sorted, behind the `*count` paths already there. A folder that is absent adds
 * nothing. */
static enum status list_folder(struct arena *a, const char *dir, const char ***paths, size_t *count,
                               struct error *err)
{
    DIR *d = opendir(dir);
    if (!d)
        return STATUS_OK;
    size_t n = 0, cap = 0;
    const char **found = NULL;
    enum status s = STATUS_OK;
    for (struct dirent *e; (e = readdir(d));) {
        if (!path_ends(e->d_name, ".json"))
            continue;
        if (n == cap) {
            cap = cap ? 2 * cap : 32;
            const char **bigger = realloc(found, cap * sizeof *bigger);
            if (!bigger) {
                s = error_msg(err, STATUS_MEMORY, "out of memory while listing %s", dir);
                break;
            }
            found = bigger;
        }
        found[n] = arena_printf(a, "%s/%s", dir, e->d_name);
        if (!found[n++]) {
            s = error_msg(err, STATUS_MEMORY, "out of memory while listing %s", dir);
            break;
        }
    }
    closedir(d);
    if (s == STATUS_OK && n) {
        qsort(found, n, sizeof *found, by_name);
        const char **all = ARENA_ARRAY(a, const char *, *count + n);
        if (all) {
            if (*count)
                memcpy(all, *paths, *count * sizeof *all);
            memcpy(all + *count, found, n * sizeof *all);
            *paths = all;
            *count += n;
        } else {
            s = error_msg(err, STATUS_MEMORY, "out of memory while listing %s", dir);
        }
    }
    free(found);
    return s;
}

enum status scene_library(struct arena *a, bool with_real, const char *const **paths, size_t *count,
                          struct error *err)
{
    const char *library, *real, **all = NULL;
    size_t n = 0;
    TRY(data_path(a, "scenes/library", &library, err));
    TRY(data_path(a, "scenes/real", &real, err));
    TRY(list_folder(a, library, &all, &n, err));
    if (with_real)
        TRY(list_folder(a, real, &all, &n, err));
    if (n == 0)
        return error_msg(err, STATUS_MISSING, "there are no scenes in %s", library);
    *paths = all;
    *count = n;
    return STATUS_OK;
}

enum status scene_resolve(struct arena *a, const char *name, const char **path, struct error *err)
{
    struct stat st; /* a folder's name is no scene's: "cornell" stays the library's beside one */
    const bool is_there = stat(name, &st) == 0 && !S_ISDIR(st.st_mode);
    if (is_there || strchr(name, '/') || path_ends(name, ".json")) {
        *path =
            arena_strdup(a, name); /* absent files are the reader's error: it knows how to say it */
        return *path ? STATUS_OK : error_msg(err, STATUS_MEMORY, "out of memory");
    }
    const char *const *paths = NULL;
    size_t count = 0;
    enum status s = scene_library(a, true, &paths, &count, err);
    if (s != STATUS_OK)
        return s;
    struct text names = {0};
    for (size_t i = 0; i < count; i++) {
        const char *base = path_name(paths[i]);
        size_t len = strlen(base) - strlen(".json");
        if (strlen(name) == len && strncmp(base, name, len) == 0) {
            *path = paths[i];
            text_free(&names);
            return STATUS_OK;
        }
        text_printf(&names, "%s%.*s", i ? " " : "", (int)len, base);
    }
    s = error_msg(err, STATUS_MISSING, "'%s' is neither a file nor a scene of the library (%s)",
                  name, names.data ? names.data : "");
    text_free(&names);
    return s;
}
