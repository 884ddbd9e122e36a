/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept is taken when it is whole and ours, and else made again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base.h"

static const char key[33] = "0123456789abcdef0123456789abcdef";
static const char other[33] = "0123456789abcdef0123456789abcdee";
static const char text[] = "made with much work";
static char folder[64], path[128];
static int notes;
static char noted[4400];

static void note(const char *said)
{
    notes++;
    snprintf(noted, sizeof noted, "%s", said);
}

static int folder_make(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/isophote-cache-test-XXXXXX");
    if (!mkdtemp(folder) || setenv("ISOPHOTE_CACHE", folder, 1) != 0)
        return -1;
    snprintf(path, sizeof path, "%s/one.bin", folder);
    return 0;
}

static int folder_remove(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command); // NOLINT(cert-env33-c): a name we made
}

static bool kept(const char *under)
{
    struct arena a = {0};
    const void *data = NULL;
    size_t size = 0;
    bool found = cache_read(&a, path, under, &data, &size);
    if (found) {
        assert_int_equal(size, sizeof text);
        assert_memory_equal(data, text, sizeof text);
    }
    arena_free(&a);
    return found;
}

static void what_is_whole_is_found(void **state)
{
    (void)state;
    struct stat st;
    assert_false(kept(key));
    cache_write(path, key, text, sizeof text);
    assert_true(kept(key));
    assert_false(kept(other));
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
}

/* Every bit of the file, every length but its own. */
static void damage_is_noticed(void **state)
{
    (void)state;
    struct arena a = {0};
    char *good, bad[512];
    size_t size;
    cache_write(path, key, text, sizeof text);
    assert_int_equal(file_read(&a, path, 0, &good, &size, NULL), STATUS_OK);
    assert_true(size > sizeof text && size < sizeof bad);
    for (size_t bit = 0; bit < 8 * size; bit++) {
        memcpy(bad, good, size);
        bad[bit / 8] = (char)(bad[bit / 8] ^ 1 << bit % 8);
        assert_int_equal(file_write(path, bad, size, NULL), STATUS_OK);
        assert_false(kept(key));
    }
    memset(bad, 0, sizeof bad);
    memcpy(bad, good, size);
    for (size_t n = 0; n < size + 8; n++) {
        assert_int_equal(file_write(path, bad, n, NULL), STATUS_OK);
        assert_int_equal(kept(key), n == size);
    }
    cache_write(path, key, text, sizeof text);
    assert_true(kept(key));
    arena_free(&a);
}

static void what_others_could_write_is_not_used(void **state)
{
    (void)state;
    char dir[256], link[256];
    struct error err = {0};
    note_say = note;
    cache_write(path, key, text, sizeof text);
    assert_int_equal(chmod(path, 0660), 0);
    assert_false(kept(key));
    assert_int_equal(notes, 1);
    assert_non_null(strstr(noted, path));
    assert_non_null(strstr(noted, "can be written by others"));
    assert_int_equal(chmod(path, 0602), 0);
    assert_false(kept(key));
    assert_int_equal(chmod(path, 0644), 0);
    assert_true(kept(key));
    snprintf(link, sizeof link, "%s.real", path);
    assert_int_equal(rename(path, link), 0);
    assert_int_equal(symlink(link, path), 0);
    assert_false(kept(key));

    assert_int_equal(cache_dir("", dir, sizeof dir, &err), STATUS_OK);
    assert_int_equal(chmod(folder, 0777), 0);
    assert_int_equal(cache_dir("", dir, sizeof dir, &err), STATUS_IO);
    assert_non_null(strstr(err.msg, "can be written by others"));
    assert_int_equal(chmod(folder, 0755), 0);
    if (geteuid() == 0) {
        assert_int_equal(unlink(path), 0);
        assert_int_equal(rename(link, path), 0);
        assert_int_equal(chown(path, 65534, 65534), 0);
        assert_false(kept(key));
        assert_int_equal(chown(folder, 65534, 65534), 0);
        assert_int_equal(cache_dir("", dir, sizeof dir, &err), STATUS_IO);
        assert_non_null(strstr(err.msg, "belongs to somebody else"));
    }
    assert_int_equal(notes, 1); /* once is enough */
    note_say = NULL;
}

/* RLIMIT_FSIZE stands for a disk that is full. */
static void a_full_disk_keeps_nothing(void **state)
{
    (void)state;
    cache_write(path, key, text, sizeof text);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct rlimit lim = {64, 64};
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &lim);
        cache_write(path, other, text, sizeof text);
        _exit(access(path, F_OK) != 0 ? 0 : 1); /* what is not of use makes room */
    }
    int status = 0;
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
}

/* As who needs what takes long to make; a byte of the file "made" for each time that it is made. */
static void *need(void *unused)
{
    char made[140];
    (void)unused;
    snprintf(made, sizeof made, "%s/made", folder);
    if (kept(key))
        return NULL;
    const int lock = cache_lock(path, key);
    if (lock < 0 || !kept(key)) {
        const int fd = open(made, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        if (write(fd, "x", 1) == 1)
            usleep(100000);
        close(fd);
        cache_write(path, key, text, sizeof text);
    }
    cache_unlock(lock);
    return NULL;
}

static void one_of_many_makes_it(void **state)
{
    (void)state;
    char made[140];
    struct stat st;
    for (int i = 0; i < 4; i++) {
        const pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            pthread_t second;
            if (pthread_create(&second, NULL, need, NULL) != 0)
                _exit(1);
            need(NULL);
            pthread_join(second, NULL);
            _exit(kept(key) ? 0 : 1);
        }
    }
    for (int i = 0; i < 4; i++) {
        int status = -1;
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    snprintf(made, sizeof made, "%s/made", folder);
    assert_int_equal(stat(made, &st), 0);
    assert_int_equal(st.st_size, 1);
}

/* A key's holder holds up nobody else; when it is killed, nobody at all. */
static void who_is_killed_lets_go(void **state)
{
    (void)state;
    int ready[2];
    char told;
    assert_int_equal(pipe(ready), 0);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        const int lock = cache_lock(path, key);
        told = lock >= 0 ? 'y' : 'n';
        if (write(ready[1], &told, 1) == 1)
            pause();
        _exit(1);
    }
    assert_int_equal(read(ready[0], &told, 1), 1);
    assert_int_equal(told, 'y');
    const int free_one = cache_lock(path, other);
    assert_true(free_one >= 0);
    cancel_requested = 1; /* who is stopped waits no longer */
    assert_int_equal(cache_lock(path, key), -1);
    cancel_requested = 0;
    assert_int_equal(kill(pid, SIGKILL), 0);
    const int lock = cache_lock(path, key);
    assert_true(lock >= 0);
    cache_unlock(lock);
    cache_unlock(free_one);
    waitpid(pid, NULL, 0);
    close(ready[0]);
    close(ready[1]);
}

/* No folder, a link in the place of the locks, no room for an open file: nobody waits for a lock. */
static void without_a_lock_it_is_made_all_the_same(void **state)
{
    (void)state;
    char away[140], locks[140], target[140];
    struct rlimit lim, none;
    snprintf(away, sizeof away, "%s/away/one.bin", folder);
    snprintf(locks, sizeof locks, "%s/lock", folder);
    snprintf(target, sizeof target, "%s/target", folder);
    assert_int_equal(cache_lock(away, key), -1);
    assert_int_equal(symlink(target, locks), 0);
    assert_int_equal(cache_lock(path, key), -1);
    assert_int_not_equal(access(target, F_OK), 0);
    assert_int_equal(unlink(locks), 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &lim), 0);
    none = lim;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    const int lock = cache_lock(path, key);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &lim), 0);
    assert_int_equal(lock, -1);
    cache_unlock(lock);
    need(NULL);
    assert_true(kept(key));
}

/* Files of a kind: whole or refused with the reason; a failure leaves what there was. */
static void what_is_sealed_is_refused_with_a_reason(void **state)
{
    (void)state;
    static const char magic[8] = "SOMEKIND", another[8] = "OTHERKIN";
    const struct file_piece pieces[] = {{text, 5}, {"", 0}, {text + 5, sizeof text - 5}};
    struct arena a = {0};
    struct error err = {0};
    char got[33] = "", link[256], *good, bad[512];
    const void *data = NULL;
    size_t size = 0, whole;
    assert_int_equal(sealed_read(&a, path, magic, got, &data, &size, &err), STATUS_MISSING);
    for (int synced = 0; synced < 2; synced++) {
        assert_int_equal(sealed_write(path, magic, key, pieces, 3, synced, &err), STATUS_OK);
        assert_int_equal(sealed_read(&a, path, magic, got, &data, &size, &err), STATUS_OK);
        assert_string_equal(got, key);
        assert_int_equal(size, sizeof text);
        assert_memory_equal(data, text, sizeof text);
    }
    assert_false(kept(key)); /* no cache's */
    assert_int_equal(sealed_read(&a, path, another, got, &data, &size, &err), STATUS_PARSE);
    assert_int_equal(file_read(&a, path, 0, &good, &whole, NULL), STATUS_OK);
    strcpy(got, "untouched");
    for (size_t bit = 0; bit < 8 * whole; bit++) {
        memcpy(bad, good, whole);
        bad[bit / 8] = (char)(bad[bit / 8] ^ 1 << bit % 8);
        assert_int_equal(file_write(path, bad, whole, NULL), STATUS_OK);
        assert_int_equal(sealed_read(&a, path, magic, got, &data, &size, &err), STATUS_PARSE);
    }
    for (size_t n = 0; n < whole; n++) {
        assert_int_equal(file_write(path, good, n, NULL), STATUS_OK);
        assert_int_equal(sealed_read(&a, path, magic, got, &data, &size, &err), STATUS_PARSE);
    }
    assert_string_equal(got, "untouched");
    assert_non_null(strstr(err.msg, "was cut short"));
    assert_int_equal(file_write(path, good, whole, NULL), STATUS_OK);
    assert_int_equal(chmod(path, 0620), 0);
    assert_int_equal(sealed_read(&a, path, magic, got, &data, &size, &err), STATUS_IO);
    assert_non_null(strstr(err.msg, "can be written by others"));
    snprintf(link, sizeof link, "%s.real", path);
    assert_int_equal(rename(path, link), 0);
    assert_int_equal(symlink(link, path), 0);
    assert_int_equal(sealed_read(&a, path, magic, got, &data, &size, &err), STATUS_IO);
    assert_int_equal(sealed_write(path, magic, key, pieces, 3, true, &err), STATUS_IO);
    assert_non_null(strstr(err.msg, "is a link"));
    assert_int_equal(file_read(&a, link, 0, &good, &size, NULL), STATUS_OK);
    assert_int_equal(size, whole);
    arena_free(&a);
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_make, folder_remove)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(what_is_whole_is_found),
        IN_FOLDER(damage_is_noticed),
        IN_FOLDER(what_others_could_write_is_not_used),
        IN_FOLDER(a_full_disk_keeps_nothing),
        IN_FOLDER(one_of_many_makes_it),
        IN_FOLDER(who_is_killed_lets_go),
        IN_FOLDER(without_a_lock_it_is_made_all_the_same),
        IN_FOLDER(what_is_sealed_is_refused_with_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
