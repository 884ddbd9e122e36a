/* SPDX-License-Identifier: Apache-2.0 */
/* Files and folders that are there for a while: beside an output until it is whole, and for
 * compilers. A name holds who made it, so that what a crash leaves behind is known and removed:
 *
 *     .isophote-PID.START.PLACE.RANDOM-TAIL
 *
 * START is when that process began, PLACE a hash of the machine's boot and the namespace of
 * processes, in which alone a PID means something; TAIL is the end of the output's name. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "base.h"
#include "files.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char PREFIX[] = ".isophote-", FOLDER[] = "folder";
enum { TAIL_MAX = 150, OLD_S = 24 * 3600 };

/* ---- who makes ------------------------------------------------------------------------------ */

/* The start of a file, which may be one of /proc; false: it cannot be read. */
static bool head_read(const char *path, char *to, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int64_t n = fd < 0 ? -1 : file_read_at(fd, to, size - 1, 0);
    if (fd >= 0)
        close(fd);
    to[n > 0 ? n : 0] = '\0';
    return n > 0;
}

/* When a process began, in ticks since the boot; 0: unknown (proc(5), field 22 of stat). */
static uint64_t process_start(long pid)
{
    char path[64], stat[1024];
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    char *at = head_read(path, stat, sizeof stat) ? strrchr(stat, ')') : NULL;
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoull(at, NULL, 10) : 0;
}

/* 0: unknown. */
static uint32_t place(void)
{
    char boot[64], space[64];
    ssize_t n = readlink("/proc/self/ns/pid", space, sizeof space - 1);
    if (n <= 0 || !head_read("/proc/sys/kernel/random/boot_id", boot, sizeof boot))
        return 0;
    space[n] = '\0';
    uint32_t h = hash_text(boot) * 31 + hash_text(space);
    return h ? h : 1;
}

/* Has the process ended that began then? */
static bool is_dead(long pid, uint64_t start)
{
    if (kill((pid_t)pid, 0) != 0 && errno == ESRCH)
        return true;
    uint64_t now = process_start(pid);
    return start && now && now != start;
}

/* ---- what a crash left ---------------------------------------------------------------------- */

static int entry_remove(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st, (void)type, (void)at;
    return remove(path);
}

static void folder_remove(const char *path) { nftw(path, entry_remove, 16, FTW_DEPTH | FTW_PHYS); }

/* The number at *at, in base 10 or 16, and the character behind it; moves *at behind both. */
static bool number_then(const char **at, int base, char behind, uint64_t *out)
{
    char *end;
    if (!isxdigit((unsigned char)**at))
        return false;
    errno = 0;
    *out = strtoull(*at, &end, base);
    if (errno != 0 || *end != behind)
        return false;
    *at = end + 1;
    return true;
}

/* Is `name` one that temp_name gave, for an output of this tail (NULL: of any), by a process that
 * has ended? Of another boot or container nothing can be asked: then its age decides. */
static bool is_leftover(const char *name, const char *tail, uint32_t here, const struct stat *st)
{
    uint64_t pid, start, where, random;
    const char *at = name + sizeof PREFIX - 1;
    if (strncmp(name, PREFIX, sizeof PREFIX - 1) != 0 || !number_then(&at, 10, '.', &pid) ||
        !number_then(&at, 16, '.', &start) || !number_then(&at, 16, '.', &where) ||
        !number_then(&at, 16, '-', &random) || pid == 0 || pid > INT32_MAX || where > UINT32_MAX ||
        (tail && strcmp(at, tail) != 0) || st->st_uid != geteuid())
        return false;
    return where && where == here ? is_dead((long)pid, start) : time(NULL) - st->st_mtime > OLD_S;
}

/* Folders are swept once for each output by each process. */
static bool is_swept(const char *folder, const char *tail)
{
    static _Atomic uint32_t swept[256];
    uint32_t h = hash_text(folder) * 31 + (tail ? hash_text(tail) : 0);
    h = h ? h : 1;
    return atomic_exchange(&swept[h % 256], h) == h;
}

void temporary_sweep(const char *folder, const char *tail)
{
    DIR *d = is_swept(folder, tail) ? NULL : opendir(folder);
    if (!d)
        return;
    const uint32_t here = place();
    for (const struct dirent *e; (e = readdir(d)) != NULL;) {
        struct stat st;
        if (strncmp(e->d_name, PREFIX, sizeof PREFIX - 1) != 0 ||
            fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
            !is_leftover(e->d_name, tail, here, &st))
            continue;
        char path[PATH_MAX];
        int n = snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (S_ISDIR(st.st_mode) && n > 0 && (size_t)n < sizeof path)
            folder_remove(path);
        else if (S_ISREG(st.st_mode))
            (void)unlinkat(dirfd(d), e->d_name, 0);
    }
    closedir(d);
}

/* ---- making --------------------------------------------------------------------------------- */

static const char *temporary_folder(void)
{
    const char *folder = getenv("TMPDIR");
    return folder && folder[0] ? folder : "/tmp";
}

/* A name that nobody can foresee. False: too long. */
static bool temp_name(const char *folder, size_t folder_len, const char *tail, char *tmp,
                      size_t size)
{
    uint64_t random = 0;
    if (getrandom(&random, sizeof random, 0) != sizeof random) {
        errno = EIO;
        return false;
    }
    int n = snprintf(tmp, size, "%.*s/%s%ld.%" PRIx64 ".%08" PRIx32 ".%016" PRIx64 "-%s",
                     (int)folder_len, folder, PREFIX, (long)getpid(), process_start(getpid()),
                     place(), random, tail);
    errno = ENAMETOOLONG;
    return n > 0 && (size_t)n < size;
}

/* What `path` names in the end: a symbolic link is followed, so that renaming replaces the file and
 * not the link. True when something that is no regular file stands there (a device, a pipe). */
static bool resolve(const char *path, char out[PATH_MAX])
{
    struct stat st;
    if (!realpath(path, out))
        snprintf(out, PATH_MAX, "%s", path);
    return stat(out, &st) == 0 && !S_ISREG(st.st_mode);
}

/* Links in a folder that all may write are followed only where the kernel would (proc(5),
 * protected_symlinks), which renaming does not ask. */
static bool is_planted(const char *path, const struct stat *link)
{
    char folder[PATH_MAX];
    struct stat st;
    const char *base = path_name(path);
    const int n = snprintf(folder, sizeof folder, "%.*s", base > path ? (int)(base - path) : 1,
                           base > path ? path : ".");
    return n > 0 && (size_t)n < sizeof folder && stat(folder, &st) == 0 && (st.st_mode & S_ISVTX) &&
           (st.st_mode & S_IWOTH) && link->st_uid != geteuid() && link->st_uid != st.st_uid;
}

enum status file_link_check(const char *path, struct error *err)
{
    char target[PATH_MAX];
    struct stat link, st;
    if (lstat(path, &link) != 0 || !S_ISLNK(link.st_mode))
        return STATUS_OK;
    const ssize_t n = readlink(path, target, sizeof target - 1);
    target[n > 0 ? n : 0] = '\0';
    if (is_planted(path, &link))
        return error_msg(err, STATUS_ARG,
                         "%s is a link of another user to %s, in a folder that all can write", path,
                         target);
    if (stat(path, &st) == 0)
        return STATUS_OK;
    return error_msg(err, STATUS_ARG,
                     "%s is a link to %s, which cannot be opened: %s; remove the "
                     "link, or name the file itself",
                     path, target, strerrordesc_np(errno));
}

enum status file_temp_open(const char *path, char *tmp, size_t tmp_size, int *fd, struct error *err)
{
    char target[PATH_MAX], folder[PATH_MAX];
    bool special = resolve(path, target);
    struct stat st;
    tmp[0] = '\0';
    TRY(file_link_check(path, err));
    if (special && stat(target, &st) == 0 && S_ISDIR(st.st_mode))
        return io_error(err, STATUS_IO, "write", path, EISDIR);
    const char *base = path_name(target);
    if (base[0] == '\0')
        return io_error(err, STATUS_IO, "write", path, path[0] ? EISDIR : ENOENT);
    /* A device takes bytes but not a rename: its temporary file stands elsewhere and is copied. */
    if (special)
        snprintf(folder, sizeof folder, "%s", temporary_folder());
    else
        snprintf(folder, sizeof folder, "%.*s", base > target ? (int)(base - target) - 1 : 1,
                 base > target ? target : ".");

    /* The end of the name is kept: writers may look at the suffix. */
    size_t len = strlen(base);
    const char *tail = len > TAIL_MAX ? base + (len - TAIL_MAX) : base;
    temporary_sweep(folder[0] ? folder : "/", tail);
    if (!temp_name(folder, strlen(folder), tail, tmp, tmp_size)) {
        tmp[0] = '\0';
        return errno == ENAMETOOLONG
                   ? error_msg(err, STATUS_LIMIT, "the path %.80s... is too long", path)
                   : io_error(err, STATUS_IO, "write", path, errno);
    }
    guard_path(tmp);
    *fd = open(tmp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (*fd >= 0)
        return STATUS_OK;
    int e = errno;
    guard_path_gone(tmp);
    tmp[0] = '\0';
    return io_error(err, e == ENOENT ? STATUS_MISSING : STATUS_IO, "write", path, e);
}

enum status file_temp_name(const char *path, char *tmp, size_t tmp_size, struct error *err)
{
    int fd = -1;
    enum status s = file_temp_open(path, tmp, tmp_size, &fd, err);
    if (s == STATUS_OK)
        close(fd);
    return s;
}

/* ---- from temporary to final ---------------------------------------------------------------- */

bool write_full(int fd, const void *data, size_t size)
{
    const char *at = data;
    while (size) {
        ssize_t n = write(fd, at, size < (1u << 30) ? size : 1u << 30);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

/* What a file has that open(2) makes with 0666. umask(2) can only be asked by setting it, which
 * other threads would see. */
static mode_t usual_mode(void)
{
    char status[4096];
    const char *at =
        head_read("/proc/self/status", status, sizeof status) ? strstr(status, "\nUmask:") : NULL;
    if (at)
        return 0666 & ~(mode_t)strtoul(at + 7, NULL, 8);
    mode_t mask = umask(077);
    umask(mask);
    return 0666 & ~mask;
}

static enum status copy_to_special(int in, const char *target, struct error *err)
{
    static const size_t chunk = 1 << 16;
    int out = open(target, O_WRONLY | O_CLOEXEC);
    char *buf = malloc(chunk);
    enum status s = STATUS_OK;
    if (!buf) {
        s = error_msg(err, STATUS_MEMORY, "out of memory writing %s", target);
    } else if (out < 0) {
        s = io_error(err, STATUS_IO, "write", target, errno);
    } else {
        int64_t n;
        size_t at = 0;
        while ((n = file_read_at(in, buf, chunk, at)) > 0 && write_full(out, buf, (size_t)n))
            at += (size_t)n;
        if (n != 0)
            s = io_error(err, STATUS_IO, "write", target, errno);
    }
    free(buf);
    if (out >= 0 && close(out) != 0 && s == STATUS_OK)
        s = io_error(err, STATUS_IO, "write", target, errno);
    return s;
}

static enum status commit(int fd, const char *tmp, const char *path, mode_t mode, bool synced,
                          struct error *err)
{
    char target[PATH_MAX];
    if (resolve(path, target)) {
        enum status s = copy_to_special(fd, target, err);
        file_discard(tmp);
        return s;
    }
    if ((!synced || fsync(fd) == 0 || errno == EINVAL) && fchmod(fd, mode) == 0 &&
        rename(tmp, target) == 0) {
        guard_path_gone(tmp);
        return STATUS_OK;
    }
    int e = errno;
    file_discard(tmp);
    return io_error(err, STATUS_IO, "write", path, e);
}

enum status file_commit(const char *tmp, const char *path, struct error *err)
{
    int fd = open(tmp, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return io_error(err, STATUS_IO, "write", path, errno);
    enum status s = commit(fd, tmp, path, usual_mode(), true, err);
    close(fd);
    return s;
}

void file_discard(const char *tmp)
{
    if (!tmp[0])
        return;
    unlink(tmp);
    guard_path_gone(tmp);
}

enum status file_write_as(const char *path, const struct file_piece *pieces, size_t count,
                          unsigned mode, bool synced, struct error *err)
{
    char tmp[PATH_MAX];
    int fd = -1;
    size_t done = 0;
    enum status s = file_temp_open(path, tmp, sizeof tmp, &fd, err);
    if (s != STATUS_OK)
        return s;
    while (done < count && write_full(fd, pieces[done].data, pieces[done].size))
        done++;
    if (done == count) {
        s = commit(fd, tmp, path, (mode_t)mode, synced, err);
    } else {
        s = io_error(err, STATUS_IO, "write", path, errno);
        file_discard(tmp);
    }
    close(fd);
    return s;
}

enum status file_write(const char *path, const void *data, size_t size, struct error *err)
{
    const struct file_piece piece = {data, size};
    return file_write_as(path, &piece, 1, usual_mode(), true, err);
}

/* ---- names that nobody said ----------------------------------------------------------------- */

static _Atomic bool kinds_forced;

void file_kinds_forced(void) { kinds_forced = true; }

enum status file_kind_check(const char *path, const void *head, size_t size, struct error *err)
{
    struct stat st;
    char there[8];
    if (kinds_forced || lstat(path, &st) != 0 || (S_ISREG(st.st_mode) && st.st_size == 0))
        return STATUS_OK;
    if (!S_ISREG(st.st_mode))
        return error_msg(err, STATUS_ARG, "%s is there and is %s; --force writes it all the same",
                         path, S_ISLNK(st.st_mode) ? "a link" : "no file");
    size = size < sizeof there ? size : sizeof there;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    const bool same = fd >= 0 && file_read_at(fd, there, size, 0) == (int64_t)size &&
                      memcmp(there, head, size) == 0;
    if (fd >= 0)
        close(fd);
    return same ? STATUS_OK
                : error_msg(err, STATUS_ARG,
                            "%s is there and is of another kind than what would replace it; "
                            "--force does it",
                            path);
}

/* ---- folders -------------------------------------------------------------------------------- */

enum status scratch_make(char *folder, size_t size, struct error *err)
{
    return scratch_make_in(temporary_folder(), folder, size, err);
}

enum status scratch_make_in(const char *in, char *folder, size_t size, struct error *err)
{
    temporary_sweep(in, FOLDER);
    if (!temp_name(in, strlen(in), FOLDER, folder, size)) {
        folder[0] = '\0';
        return error_msg(err, STATUS_LIMIT, "the path %.80s... is too long", in);
    }
    guard_path(folder);
    if (mkdir(folder, 0700) == 0)
        return STATUS_OK;
    int e = errno;
    guard_path_gone(folder);
    folder[0] = '\0';
    return io_error(err, STATUS_IO, "make a folder in", in, e);
}

void scratch_remove(const char *folder)
{
    if (!folder[0])
        return;
    folder_remove(folder);
    guard_path_gone(folder);
}
