/* SPDX-License-Identifier: Apache-2.0 */
/* Where the files are that come with the program. Nothing is compiled in but how an install tree
 * lies about its program (CMake's GNUInstallDirs), so that the tree may be moved; only a program
 * that runs in its build tree uses the source tree. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "base.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *program_path(void)
{
    static char path[PATH_MAX];
    ssize_t n = path[0] ? (ssize_t)strlen(path) : readlink("/proc/self/exe", path, sizeof path - 1);
    if (n > 0)
        path[n] = 0;
    return path;
}

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The shared library that this code was linked into; NULL if that is the program. */
static const char *own_library(void)
{
    Dl_info info;
    void *map = NULL;
    bool found = dladdr1(program_path, &info, &map, RTLD_DL_LINKMAP) && map;
    const char *name = found ? ((const struct link_map *)map)->l_name : "";
    return name[0] ? name : NULL; /* the loader has no name for the program */
}

/* Writes what "../share/isophote" is, seen from the folder of a file: it need not be there.
 * *in_build: the file is in the tree that this was built in. */
static enum status seen_from(const char *file, const char *relative, char path[PATH_MAX],
                             bool *in_build, struct error *err)
{
    char root[PATH_MAX];
    if (!file[0] || !realpath(file, path))
        return error_msg(err, STATUS_MISSING,
                         "the system does not tell where this program is (/proc/self/exe), so the "
                         "files that come with it are not found: set ISOPHOTE_DATA_DIR");
    size_t n = (size_t)(strrchr(path, '/') - path);
    size_t deep = realpath(ISOPHOTE_BUILD_DIR, root) ? strlen(root) : PATH_MAX;
    *in_build = deep <= n && strncmp(path, root, deep) == 0 && path[deep] == '/';
    for (; strncmp(relative, "../", 3) == 0; relative += 3)
        while (n > 0 && path[--n] != '/')
            ;
    if ((size_t)snprintf(path + n, PATH_MAX - n, "/%s", relative) >= PATH_MAX - n)
        return error_msg(err, STATUS_LIMIT, "the path of %s is too long", relative);
    return STATUS_OK;
}

static enum status data_folder(char path[PATH_MAX], struct error *err)
{
    const char *given = getenv("ISOPHOTE_DATA_DIR"), *library = own_library();
    bool in_build = false;
    if (given && given[0]) {
        if (strlen(given) >= PATH_MAX || !is_folder(given))
            return error_msg(err, STATUS_MISSING,
                             "ISOPHOTE_DATA_DIR names %s, which is no folder: it is to hold "
                             "scenes/, shaders/ and conformance/",
                             given);
        (void)strcpy(path, given);
        return STATUS_OK;
    }
    TRY(library ? seen_from(library, ISOPHOTE_LIBRARY_TO_DATA, path, &in_build, err)
                : seen_from(program_path(), ISOPHOTE_PROGRAM_TO_DATA, path, &in_build, err));
    if (is_folder(path))
        return STATUS_OK;
    if (!in_build)
        return error_msg(err, STATUS_MISSING,
                         "there is no folder %s, which is to hold scenes/, shaders/ and "
                         "conformance/: install Isophote again, or set ISOPHOTE_DATA_DIR to where "
                         "they are",
                         path);
    (void)strcpy(path, ISOPHOTE_SOURCE_DIR);
    return STATUS_OK;
}

enum status data_path(struct arena *a, const char *sub, const char **path, struct error *err)
{
    char dir[PATH_MAX];
    TRY(data_folder(dir, err));
    const char *whole = sub ? arena_printf(a, "%s/%s", dir, sub) : NULL;
    if (!whole)
        return error_msg(err, STATUS_MEMORY, "out of memory for a path in %s", dir);
    *path = whole;
    return STATUS_OK;
}

enum status helper_path(const char *name, char *path, size_t size, struct error *err)
{
    char dir[PATH_MAX];
    bool in_build = false;
    /* A helper has the others beside it. */
    TRY(seen_from(program_path(), name, dir, &in_build, err));
    if (access(dir, R_OK) == 0 && strlen(dir) < size) {
        (void)strcpy(path, dir);
        return STATUS_OK;
    }
    TRY(seen_from(program_path(), ISOPHOTE_PROGRAM_TO_HELPERS, dir, &in_build, err));
    const char *root = in_build && !is_folder(dir) ? ISOPHOTE_BUILD_DIR : dir;
    if ((size_t)snprintf(path, size, "%s/%s", root, name) >= size)
        return error_msg(err, STATUS_LIMIT, "the path of %s is too long", name);
    return access(path, R_OK) == 0
               ? STATUS_OK
               : error_msg(err, STATUS_MISSING,
                           "there is no %s/%s, which comes with Isophote: install that again", root,
                           name);
}
