/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base.h"

struct folder {
    char path[64];
};

static int folder_make(void **state)
{
    struct folder *f = test_calloc(1, sizeof *f);
    strcpy(f->path, "/tmp/isophote-file-test-XXXXXX");
    assert_non_null(mkdtemp(f->path));
    *state = f;
    return 0;
}

static int folder_remove(void **state)
{
    struct folder *f = *state;
    char cmd[192];
    snprintf(cmd, sizeof cmd, "chmod -R u+w %s && rm -rf %s", f->path, f->path);
    int rc = system(cmd); // NOLINT(cert-env33-c): a name we made
    test_free(f);
    return rc;
}

static char *in(struct folder *f, const char *name)
{
    static char buf[2][512];
    static int turn;
    turn = !turn;
    snprintf(buf[turn], sizeof buf[turn], "%s/%s", f->path, name);
    return buf[turn];
}

static int entries(const char *path)
{
    DIR *d = opendir(path);
    int n = 0;
    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n - 2;
}

static void assert_holds(const char *path, const char *want)
{
    struct arena a = {0};
    struct error err = {0};
    char *data = NULL;
    size_t size = 0;
    assert_int_equal(file_read(&a, path, 0, &data, &size, &err), STATUS_OK);
    assert_int_equal(size, strlen(want));
    assert_string_equal(data, want);
    arena_free(&a);
}

static void write_then_read(void **state)
{
    struct folder *f = *state;
    struct error err = {0};
    assert_int_equal(file_write(in(f, "a.txt"), "first", 5, &err), STATUS_OK);
    assert_holds(in(f, "a.txt"), "first");
    assert_int_equal(file_write(in(f, "a.txt"), "second", 6, &err), STATUS_OK);
    assert_holds(in(f, "a.txt"), "second");
    assert_int_equal(file_write(in(f, "empty"), "", 0, &err), STATUS_OK);
    assert_holds(in(f, "empty"), "");
    assert_int_equal(entries(f->path), 2); /* no temporary file stays */
    struct stat st;
    mode_t mask = umask(022);
    umask(mask);
    assert_int_equal(stat(in(f, "a.txt"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0666 & ~mask);
}

/* Large files are read in pieces: none missing, none twice, the last one short. */
static void read_large(void **state)
{
    struct folder *f = *state;
    struct arena a = {0};
    struct error err = {0};
    size_t count = ((40 << 20) + 12) / sizeof(uint32_t), size = 0;
    uint32_t *want = malloc(count * sizeof *want);
    char *data = NULL;
    for (size_t i = 0; i < count; i++)
        want[i] = (uint32_t)i * 2654435761U;
    assert_int_equal(file_write(in(f, "large"), (char *)want, count * sizeof *want, &err),
                     STATUS_OK);
    assert_int_equal(file_read(&a, in(f, "large"), 0, &data, &size, &err), STATUS_OK);
    assert_int_equal(size, count * sizeof *want);
    assert_true(memcmp(data, want, size) == 0 && data[size] == '\0');
    arena_free(&a);
    free(want);
}

static void read_failures(void **state)
{
    struct folder *f = *state;
    struct arena a = {0};
    struct error err = {0};
    char *data = (char *)"untouched";
    size_t size = 77;
    assert_int_equal(file_read(&a, in(f, "none"), 0, &data, &size, &err), STATUS_MISSING);
    assert_int_equal(err.native, ENOENT);
    assert_non_null(strstr(err.msg, "/none: No such file"));
    assert_int_equal(file_read(&a, f->path, 0, &data, &size, &err), STATUS_IO);
    assert_int_equal(err.native, EISDIR);
    assert_int_equal(file_write(in(f, "ten"), "0123456789", 10, &err), STATUS_OK);
    assert_int_equal(file_read(&a, in(f, "ten"), 9, &data, &size, &err), STATUS_LIMIT);
    assert_int_equal(file_read(&a, in(f, "ten/x"), 9, &data, &size, &err), STATUS_MISSING);
    struct arena tiny = {.limit = 10};
    assert_int_equal(file_read(&tiny, in(f, "ten"), 0, &data, &size, &err), STATUS_MEMORY);
    assert_int_equal(file_read(&tiny, in(f, "ten"), 0, &data, &size, NULL), STATUS_MEMORY);
    assert_string_equal(data, "untouched");
    assert_int_equal(size, 77);
    assert_int_equal(file_read(&a, in(f, "ten"), 10, &data, &size, &err), STATUS_OK);
    assert_int_equal(size, 10);
    arena_free(&tiny);
    arena_free(&a);
}

/* Inputs are files: what might never end is refused, and nobody waits for a pipe. */
static void read_what_is_no_file(void **state)
{
    struct folder *f = *state;
    struct arena a = {0};
    struct error err = {0};
    char *data = (char *)"untouched";
    size_t size = 77;
    assert_int_equal(mkfifo(in(f, "fifo"), 0600), 0);
    assert_int_equal(symlink("/dev/zero", in(f, "zero")), 0);
    const char *const paths[] = {in(f, "fifo"), in(f, "zero")};
    for (size_t i = 0; i < 2; i++) {
        double start = clock_s();
        int fd = -1;
        assert_int_equal(file_read(&a, paths[i], 0, &data, &size, &err), STATUS_IO);
        assert_non_null(strstr(err.msg, i ? "it is a device" : "it is a pipe"));
        assert_int_equal(input_open(paths[i], &fd, &err), STATUS_IO);
        assert_int_equal(fd, -1);
        assert_true(clock_s() - start < 1);
    }
    assert_string_equal(data, "untouched");
    assert_int_equal(size, 77);
    /* of no size beforehand, but a file */
    assert_int_equal(file_read(&a, "/proc/self/status", 0, &data, &size, &err), STATUS_OK);
    assert_memory_equal(data, "Name:", 5);
    arena_free(&a);
}

/* Root writes everywhere, so as root the refusal comes from a folder that is a file. */
static void unwritable_folder(void **state)
{
    struct folder *f = *state;
    struct error err = {0};
    assert_int_equal(file_write(in(f, "none/a"), "x", 1, &err), STATUS_MISSING);
    assert_int_equal(file_write(in(f, "file"), "x", 1, &err), STATUS_OK);
    assert_int_equal(file_write(in(f, "file/a"), "x", 1, &err), STATUS_IO);
    assert_int_equal(err.native, ENOTDIR);
    assert_int_equal(file_write(f->path, "x", 1, &err), STATUS_IO);
    assert_int_equal(err.native, EISDIR);
    assert_int_equal(file_write("", "x", 1, &err), STATUS_IO);
    assert_int_equal(entries(f->path), 1);

    assert_int_equal(mkdir(in(f, "closed"), 0755), 0);
    assert_int_equal(file_write(in(f, "closed/a"), "old", 3, &err), STATUS_OK);
    assert_int_equal(chmod(in(f, "closed"), 0555), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) { /* as nobody, whom the mode binds; 0755 lets nobody look inside */
        if (geteuid() == 0 && (chmod(f->path, 0755) != 0 || setuid(65534) != 0))
            _exit(2);
        bool ok = file_write(in(f, "closed/a"), "new", 3, &err) == STATUS_IO &&
                  err.native == EACCES && file_write(in(f, "closed/b"), "b", 1, &err) == STATUS_IO;
        _exit(ok ? 0 : 1);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
    assert_holds(in(f, "closed/a"), "old");
    assert_int_equal(entries(in(f, "closed")), 1);
}

static void full_disk(void **state)
{
    struct folder *f = *state;
    struct error err = {0};
    struct stat st;
    if (stat("/dev/full", &st) != 0 || !S_ISCHR(st.st_mode))
        skip();
    assert_int_equal(file_write("/dev/full", "x", 1, &err), STATUS_IO);
    assert_int_equal(err.native, ENOSPC);
    assert_string_equal(err.msg, "cannot write /dev/full: No space left on device");
    /* through a link as well, and the device stays a device */
    assert_int_equal(symlink("/dev/full", in(f, "link")), 0);
    assert_int_equal(file_write(in(f, "link"), "x", 1, &err), STATUS_IO);
    assert_int_equal(stat("/dev/full", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
    assert_int_equal(file_write("/dev/null", "x", 1, &err), STATUS_OK);
    assert_int_equal(stat("/dev/null", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
    assert_int_equal(entries(f->path), 1);
}

/* RLIMIT_FSIZE stands for a disk that fills up half way. */
static void half_written(void **state)
{
    struct folder *f = *state;
    struct error err = {0};
    char *path = in(f, "a");
    assert_int_equal(file_write(path, "old", 3, &err), STATUS_OK);
    static char big[1 << 16];
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct sigaction ignore = {.sa_handler = SIG_IGN};
        sigaction(SIGXFSZ, &ignore, NULL);
        struct rlimit lim = {4096, 4096};
        setrlimit(RLIMIT_FSIZE, &lim);
        _exit(file_write(path, big, sizeof big, &err) == STATUS_IO && err.native == EFBIG ? 0 : 1);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
    assert_holds(path, "old");
    assert_int_equal(entries(f->path), 1);
}

static void link_keeps_pointing(void **state)
{
    struct folder *f = *state;
    struct error err = {0};
    struct stat st;
    assert_int_equal(file_write(in(f, "target"), "old", 3, &err), STATUS_OK);
    assert_int_equal(symlink("target", in(f, "link")), 0);
    assert_int_equal(file_write(in(f, "link"), "new", 3, &err), STATUS_OK);
    assert_holds(in(f, "target"), "new");
    assert_int_equal(lstat(in(f, "link"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
}

static void temporary_names(void **state)
{
    struct folder *f = *state;
    struct error err = {0};
    char one[4096], two[4096], small[8];
    char *path = in(f, "image.exr");
    assert_int_equal(file_temp_name(path, one, sizeof one, &err), STATUS_OK);
    assert_int_equal(file_temp_name(path, two, sizeof two, &err), STATUS_OK);
    assert_string_not_equal(one, two);
    assert_string_equal(one + strlen(one) - 4, ".exr");
    assert_memory_equal(one, f->path, strlen(f->path));
    file_discard(two);
    assert_int_equal(entries(f->path), 1);
    struct stat st;
    assert_int_equal(stat(one, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600); /* until it is whole */
    FILE *out = fopen(one, "w");
    assert_non_null(out);
    fputs("pixels", out);
    fclose(out);
    assert_int_equal(file_commit(one, path, &err), STATUS_OK);
    assert_holds(path, "pixels");
    assert_int_equal(entries(f->path), 1);
    assert_int_equal(file_temp_name(path, small, sizeof small, &err), STATUS_LIMIT);

    char name[256];
    memset(name, 'n', 250);
    memcpy(name + 250, ".exr", 5);
    char *long_path = in(f, name);
    assert_int_equal(file_write(long_path, "x", 1, &err), STATUS_OK);
    assert_holds(long_path, "x");
}

/* A process that was killed while it wrote `path`: its temporary file stays. */
static void killed_writer(const char *path, bool folder)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        char tmp[4096];
        struct error err;
        _exit(folder ? scratch_make(tmp, sizeof tmp, &err) || mkdir(strcat(tmp, "/in"), 0700) != 0
                     : file_temp_name(path, tmp, sizeof tmp, &err));
    }
    int status = 0;
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
}

static void what_a_crash_left_goes(void **state)
{
    struct folder *f = *state;
    struct error err = {0};
    char mine[4096];
    killed_writer(in(f, "a.png"), false);
    killed_writer(in(f, "b.png"), false);
    assert_int_equal(entries(f->path), 2);
    /* names that are not quite ours, and a file that a live process writes */
    assert_int_equal(file_write(in(f, ".isophote-1.a-a.png"), "", 0, &err), STATUS_OK);
    assert_int_equal(file_write(in(f, ".isophote-notes-a.png"), "", 0, &err), STATUS_OK);
    assert_int_equal(file_temp_name(in(f, "a.png"), mine, sizeof mine, &err), STATUS_OK);
    assert_int_equal(entries(f->path), 4); /* a.png's leftover went, b.png's did not */
    assert_int_equal(file_write(in(f, "b.png"), "", 0, &err), STATUS_OK);
    assert_int_equal(entries(f->path), 4);
    assert_int_equal(access(mine, F_OK), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        _exit(file_write(in(f, "a.png"), "", 0, &err) || access(mine, F_OK) != 0);
    int status = 0;
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
    file_discard(mine);
}

static void scratch_folders(void **state)
{
    struct folder *f = *state;
    struct error err = {0};
    struct stat st;
    char one[4096], two[4096], file[4200];
    setenv("TMPDIR", f->path, 1);
    killed_writer(NULL, true);
    assert_int_equal(entries(f->path), 1);
    assert_int_equal(scratch_make(one, sizeof one, &err), STATUS_OK);
    assert_int_equal(entries(f->path), 1); /* the dead one's went, with what it held */
    assert_int_equal(scratch_make(two, sizeof two, &err), STATUS_OK);
    assert_string_not_equal(one, two);
    assert_int_equal(stat(one, &st), 0);
    assert_true(S_ISDIR(st.st_mode) && (st.st_mode & 07777) == 0700);
    snprintf(file, sizeof file, "%s/x", one);
    assert_int_equal(file_write(file, "x", 1, &err), STATUS_OK);
    assert_int_equal(symlink(f->path, strcat(file, "-link")), 0);
    scratch_remove(one);
    scratch_remove(two);
    scratch_remove("");
    assert_int_equal(access(f->path, F_OK), 0); /* links are removed, not followed */
    assert_int_equal(entries(f->path), 0);
    setenv("TMPDIR", in(f, "none"), 1);
    assert_int_equal(scratch_make(one, sizeof one, &err), STATUS_IO);
    assert_string_equal(one, "");
    unsetenv("TMPDIR");
}

static void folders(void **state)
{
    struct folder *f = *state;
    struct error err = {0};
    struct stat st;
    assert_int_equal(dir_make(in(f, "a/b/c"), &err), STATUS_OK);
    assert_int_equal(dir_make(in(f, "a//b/c/"), &err), STATUS_OK);
    assert_int_equal(stat(in(f, "a/b/c"), &st), 0);
    assert_int_equal(dir_make("/", &err), STATUS_OK);
    assert_int_equal(file_write(in(f, "file"), "", 0, &err), STATUS_OK);
    assert_int_equal(dir_make(in(f, "file/x"), &err), STATUS_IO);
    assert_int_equal(err.native, ENOTDIR);
    assert_int_equal(dir_make("", &err), STATUS_IO);
}

static void cache_folder(void **state)
{
    struct folder *f = *state;
    struct error err = {0};
    struct stat st;
    char buf[512], want[512];
    setenv("ISOPHOTE_CACHE", in(f, "own"), 1);
    setenv("XDG_CACHE_HOME", in(f, "xdg"), 1);
    setenv("HOME", in(f, "home"), 1);
    assert_int_equal(cache_dir("", buf, sizeof buf, &err), STATUS_OK);
    assert_string_equal(buf, in(f, "own"));
    assert_int_equal(cache_dir("a/b", buf, sizeof buf, &err), STATUS_OK);
    assert_string_equal(buf, in(f, "own/a/b"));
    assert_int_equal(stat(buf, &st), 0);
    unsetenv("ISOPHOTE_CACHE");
    assert_int_equal(cache_dir("k", buf, sizeof buf, &err), STATUS_OK);
    assert_string_equal(buf, in(f, "xdg/isophote/k"));
    setenv("XDG_CACHE_HOME", "relative", 1);
    assert_int_equal(cache_dir("k", buf, sizeof buf, &err), STATUS_OK);
    assert_string_equal(buf, in(f, "home/.cache/isophote/k"));
    assert_int_equal(cache_dir("k", buf, 10, &err), STATUS_LIMIT);
    setenv("HOME", "/dev/null/nobody", 1);
    snprintf(want, sizeof want, "/tmp/isophote-%lu", (unsigned long)getuid());
    assert_int_equal(cache_dir("", buf, sizeof buf, &err), STATUS_OK);
    assert_string_equal(buf, want);
}

static void beside(void **state)
{
    (void)state;
    struct arena a = {0};
    static const struct {
        const char *path, *name, *ending, *stem, *folder;
    } rows[] = {{"dir/a.b.json", "a.b.json", ".json", "a.b", "dir"},
                {"a", "a", "", "a", "."},
                {"/a.json", "a.json", ".json", "a", "/"},
                {"/d.x/a", "a", "", "a", "/d.x"},
                {"d/.hidden", ".hidden", "", ".hidden", "d"},
                {"d/", "", "", "", "d"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_string_equal(path_name(rows[i].path), rows[i].name);
        assert_string_equal(path_ending(rows[i].path), rows[i].ending);
        assert_string_equal(path_stem(&a, rows[i].path), rows[i].stem);
        assert_string_equal(path_folder(&a, rows[i].path), rows[i].folder);
    }
    assert_true(path_ends("a.json", ".json") && path_ends("d/A.JSON", ".json"));
    assert_false(path_ends(".json", ".json") || path_ends("ajson", ".json"));
    assert_string_equal(path_beside(&a, "scenes/a.json", "b.ply"), "scenes/b.ply");
    assert_string_equal(path_beside(&a, "/a.json", "b.ply"), "/b.ply");
    assert_string_equal(path_beside(&a, "a.json", "b/c.ply"), "b/c.ply");
    assert_string_equal(path_beside(&a, "scenes/a.json", "/b.ply"), "/b.ply");
    arena_free(&a);
}

/* This program is in its build tree, so that it takes the source tree's files. */
static void files_that_come_along(void **state)
{
    struct folder *f = *state;
    struct arena a = {0};
    struct error err;
    const char *path = NULL;
    char helper[4096];
    unsetenv("ISOPHOTE_DATA_DIR");
    assert_int_equal(data_path(&a, "scenes/library", &path, &err), STATUS_OK);
    assert_string_equal(path, SOURCE_DIR "/scenes/library");
    assert_int_equal(data_path(&a, NULL, &path, &err), STATUS_MEMORY);
    setenv("ISOPHOTE_DATA_DIR", f->path, 1);
    assert_int_equal(data_path(&a, "x", &path, &err), STATUS_OK);
    assert_string_equal(path, in(f, "x"));
    setenv("ISOPHOTE_DATA_DIR", in(f, "absent"), 1);
    assert_int_equal(data_path(&a, "x", &path, &err), STATUS_MISSING);
    assert_non_null(strstr(err.msg, in(f, "absent")));
    unsetenv("ISOPHOTE_DATA_DIR");

    assert_int_equal(helper_path("CMakeCache.txt", helper, sizeof helper, &err), STATUS_OK);
    assert_int_equal(access(helper, R_OK), 0);
    assert_int_equal(helper_path("CMakeCache.txt", helper, 9, &err), STATUS_LIMIT);
    assert_int_equal(helper_path("no-such", helper, sizeof helper, &err), STATUS_MISSING);
    assert_non_null(strstr(err.msg, "/no-such"));
    arena_free(&a);
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_make, folder_remove)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(write_then_read),       IN_FOLDER(read_large),
        IN_FOLDER(read_failures),         IN_FOLDER(read_what_is_no_file),
        IN_FOLDER(unwritable_folder),     IN_FOLDER(full_disk),
        IN_FOLDER(half_written),          IN_FOLDER(link_keeps_pointing),
        IN_FOLDER(temporary_names),       IN_FOLDER(what_a_crash_left_goes),
        IN_FOLDER(scratch_folders),       IN_FOLDER(folders),
        IN_FOLDER(cache_folder),          cmocka_unit_test(beside),
        IN_FOLDER(files_that_come_along),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
