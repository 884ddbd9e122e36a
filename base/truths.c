/* SPDX-License-Identifier: Apache-2.0 */
/* What devices are judged by and took long to make: kept in one folder, as cache.c keeps files. What
 * was used longest ago goes when there is more than may be. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "base.h"
#include "files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char ENDING[] = ".truth";
static const uint64_t DEFAULT_MIB = 4096;

enum status truths_dir(char *buf, size_t size, struct error *err)
{
    const char *own = getenv("ISOPHOTE_TRUTHS");
    if (!own || !own[0])
        return cache_dir("truth", buf, size, err);
    const size_t n = strlen(own);
    if (n >= size)
        return error_msg(err, STATUS_LIMIT, "ISOPHOTE_TRUTHS is too long");
    TRY(dir_make(own, err));
    TRY(cache_folder_check(own, err));
    memcpy(buf, own, n + 1);
    return STATUS_OK;
}

static bool path_of(const char key[33], char *path, size_t size)
{
    char folder[PATH_MAX];
    if (truths_dir(folder, sizeof folder, NULL) != STATUS_OK)
        return false;
    int n = snprintf(path, size, "%s/%s%s", folder, key, ENDING);
    return n > 0 && (size_t)n < size;
}

bool truths_read(struct arena *a, const char key[33], const void **data, size_t *size)
{
    char path[PATH_MAX + 64];
    if (!path_of(key, path, sizeof path) || !cache_read(a, path, key, data, size))
        return false;
    (void)utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW); /* it was used now */
    return true;
}

/* ---- the limit ------------------------------------------------------------------------------ */

struct kept {
    char name[64];
    uint64_t bytes;
    struct timespec used;
};

static int by_use(const void *a, const void *b)
{
    const struct timespec *x = &((const struct kept *)a)->used,
                          *y = &((const struct kept *)b)->used;
    if (x->tv_sec != y->tv_sec)
        return x->tv_sec < y->tv_sec ? -1 : 1;
    return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

static uint64_t limit_bytes(void)
{
    const char *given = getenv("ISOPHOTE_TRUTHS_MIB");
    char *end = NULL;
    errno = 0;
    unsigned long long mib =
        given && given[0] >= '0' && given[0] <= '9' ? strtoull(given, &end, 10) : DEFAULT_MIB;
    if ((end && *end) || errno || mib > UINT64_MAX >> 20)
        mib = DEFAULT_MIB;
    return (uint64_t)mib << 20;
}

static bool is_truth(const char *name)
{
    const size_t n = strlen(name), tail = sizeof ENDING - 1;
    return n > tail && n < sizeof((struct kept *)0)->name && strcmp(name + n - tail, ENDING) == 0;
}

/* The truths of an open folder; *all their bytes. The caller frees. */
static struct kept *list(DIR *folder, size_t *count, uint64_t *all)
{
    struct kept *files = NULL;
    size_t n = 0, room = 0;
    *all = 0;
    for (struct dirent *e; (e = readdir(folder));) {
        struct stat st;
        if (!is_truth(e->d_name) ||
            fstatat(dirfd(folder), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(st.st_mode) || st.st_size < 0)
            continue;
        if (n == room) {
            room = room ? 2 * room : 64;
            struct kept *more = realloc(files, room * sizeof *more);
            if (!more)
                break;
            files = more;
        }
        snprintf(files[n].name, sizeof files[n].name, "%s", e->d_name);
        files[n].bytes = (uint64_t)st.st_size;
        files[n].used = st.st_mtim;
        *all += files[n++].bytes;
    }
    *count = n;
    return files;
}

/* Makes room for `more` bytes. */
static void make_room(uint64_t more)
{
    char path[PATH_MAX];
    DIR *folder = truths_dir(path, sizeof path, NULL) == STATUS_OK ? opendir(path) : NULL;
    if (!folder)
        return;
    const uint64_t most = limit_bytes();
    uint64_t all;
    size_t count;
    struct kept *files = list(folder, &count, &all);
    if (files && all + more > most) {
        qsort(files, count, sizeof *files, by_use);
        for (size_t i = 0; i < count && all + more > most; i++)
            if (unlinkat(dirfd(folder), files[i].name, 0) == 0)
                all -= files[i].bytes;
    }
    free(files);
    closedir(folder);
}

void truths_write(const char key[33], const void *data, size_t size)
{
    char path[PATH_MAX + 64];
    if (size > limit_bytes() || !path_of(key, path, sizeof path))
        return;
    make_room(size);
    cache_write(path, key, data, size);
}
