/* SPDX-License-Identifier: Apache-2.0 */
/* Model files are read in a child process.
 *
 * Assimp reads some fifty formats and most of its readers were written for friendly files: a
 * hostile one can crash it, hang it or make it take all memory. So each file is read by a forked
 * child with limits of its own, which leaves arrays in shared memory; what is found there is
 * checked again here. A crash costs an error message. It also means that Assimp's own copy of the
 * model is gone, with its heap, before anything else is built. */
#define _GNU_SOURCE
#include "import.h"
#include "import/source/offers.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- the child's side: limits --------------------------------------------------------------- */

/* Bytes of address space that this process has now. */
static uint64_t address_space(void)
{
    unsigned long long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    if (f) {
        if (fscanf(f, "%llu", &pages) != 1) // NOLINT(cert-err34-c): the kernel's own number
            pages = 0;
        fclose(f);
    }
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void limit(int resource, uint64_t value)
{
    struct rlimit r;
    if (getrlimit(resource, &r) != 0)
        return;
    if (r.rlim_max == RLIM_INFINITY || value < r.rlim_max)
        r.rlim_cur = r.rlim_max = (rlim_t)value;
    setrlimit(resource, &r);
}

/* After fork: nothing of the parent's may be touched by a crash here. */
static void child_settle(const struct import_budget *budget, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(CHILD_FAILED);
    static const int signals[] = {SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,  SIGABRT, SIGTERM,
                                  SIGINT,  SIGALRM, SIGXCPU, SIGPIPE, SIGHUP};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null >= 0)
        for (int fd = 0; fd <= 2; fd++)
            dup2(null, fd);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, (uint64_t)budget->seconds + 2);
    limit(RLIMIT_AS, address_space() + budget->bytes);
}

/* ---- the parent's side: waiting ------------------------------------------------------------- */

enum outcome { OUTCOME_EXITED, OUTCOME_TIMEOUT, OUTCOME_CANCELLED };

/* Waits for the child; kills it when its time is up or on cancelling. */
static enum outcome child_wait(pid_t child, double seconds, int *wstatus)
{
    double start = clock_s();
    long nap = 100000; /* ns: short models end at once, long ones are not polled often */
    for (;;) {
        pid_t got = waitpid(child, wstatus, WNOHANG);
        if (got == child)
            return OUTCOME_EXITED;
        if (got < 0 && errno != EINTR) { /* SIGCHLD is ignored in this process: it is gone */
            *wstatus = 0;
            return OUTCOME_EXITED;
        }
        bool late = clock_s() - start > seconds;
        if (late || cancel_requested) {
            kill(child, SIGKILL);
            while (waitpid(child, wstatus, 0) < 0 && errno == EINTR)
                ;
            return late ? OUTCOME_TIMEOUT : OUTCOME_CANCELLED;
        }
        nanosleep(&(struct timespec){.tv_nsec = nap}, NULL);
        nap = nap < 5000000 ? nap * 2 : nap;
    }
}

/* What a child that did not report says by the way it ended. */
static enum status child_died(const char *path, const struct import_budget *budget, int wstatus,
                              struct error *err)
{
    if (WIFSIGNALED(wstatus) && WTERMSIG(wstatus) == SIGXCPU)
        return error_msg(err, STATUS_TIMEOUT, "the importer took more than %.0f s over %s",
                         budget->seconds, path);
    if (WIFSIGNALED(wstatus))
        return error_msg(err, STATUS_PARSE,
                         "the importer crashed on %s (signal %d, %s), so the file is damaged or "
                         "needs more than %" PRIu64 " MiB",
                         path, WTERMSIG(wstatus), sigabbrev_np(WTERMSIG(wstatus)),
                         budget->bytes >> 20);
    return error_msg(err, STATUS_PARSE,
                     "the importer gave up on %s (exit status %d), so the file is damaged or needs "
                     "more than %" PRIu64 " MiB",
                     path, WIFEXITED(wstatus) ? WEXITSTATUS(wstatus) : -1, budget->bytes >> 20);
}

/* ---- the parent's side: what the child left ------------------------------------------------- */

static bool inside(const struct import_result *r, uint64_t at, uint64_t count, uint64_t size)
{
    return at % 4 == 0 && at <= r->total && count <= (r->total - at) / size;
}

/* Whether the triangles from `first` on have vertices below `vertices`. */
static bool indices_are_sound(const unsigned char *map, const struct import_result *r,
                              uint64_t first, uint64_t count, uint64_t vertices)
{
    const uint32_t *index = (const uint32_t *)(map + r->triangles) + 3 * first;
    uint32_t largest = 0;
    for (uint64_t i = 0; i < 3 * count; i++)
        largest = index[i] > largest ? index[i] : largest;
    return count == 0 || largest < vertices;
}

static unsigned possible_flags(const struct import_result *r)
{
    return (r->N ? TRIANGLE_HAS_NORMALS : 0) | (r->UV ? TRIANGLE_HAS_UV : 0) |
           (r->colors ? TRIANGLE_HAS_COLORS : 0);
}

static bool parts_are_sound(const unsigned char *map, const struct import_result *r)
{
    const struct model_part *parts = (const struct model_part *)(map + r->parts);
    for (uint64_t i = 0; i < r->part_count; i++) {
        const struct model_part *p = &parts[i];
        if (p->first_vertex > r->vertex_count ||
            p->vertex_count > r->vertex_count - p->first_vertex ||
            p->first_triangle > r->triangle_count ||
            p->triangle_count > r->triangle_count - p->first_triangle ||
            (p->material != UINT32_MAX && p->material >= r->material_count) ||
            (p->flags & ~possible_flags(r)) ||
            !indices_are_sound(map, r, p->first_triangle, p->triangle_count, p->vertex_count))
            return false;
    }
    return true;
}

/* The child may have been corrupted by the file that it read: believe nothing. */
static bool result_is_sound(const unsigned char *map, const struct import_result *r)
{
    if (!isfinite(r->origin[0]) || !isfinite(r->origin[1]) || !isfinite(r->origin[2]) ||
        r->vertex_count > UINT32_MAX || r->triangle_count > INT32_MAX ||
        r->material_count > UINT32_MAX || !inside(r, r->P, r->vertex_count, 12) ||
        !inside(r, r->N, r->N ? r->vertex_count : 0, 12) ||
        !inside(r, r->UV, r->UV ? r->vertex_count : 0, 8) ||
        !inside(r, r->colors, r->colors ? r->vertex_count : 0, 12) ||
        !inside(r, r->triangles, r->triangle_count, 12) ||
        !inside(r, r->flags, r->flags ? r->triangle_count : 0, 1) ||
        !inside(r, r->material, r->material ? r->triangle_count : 0, 4) ||
        !inside(r, r->parts, r->part_count, sizeof(struct model_part)) || r->parts % 8 != 0 ||
        !inside(r, r->images, r->image_count, sizeof(struct model_image)) || r->images % 8 != 0 ||
        !inside(r, r->description, r->description_size, 1))
        return false;
    if (r->part_count ? !parts_are_sound(map, r)
                      : !indices_are_sound(map, r, 0, r->triangle_count, r->vertex_count))
        return false;
    const uint32_t *material = (const uint32_t *)(map + r->material);
    for (uint64_t i = 0; r->material && i < r->triangle_count; i++)
        if (material[i] >= r->material_count)
            return false;
    const uint8_t *flags = map + r->flags;
    for (uint64_t i = 0; r->flags && i < r->triangle_count; i++)
        if (flags[i] & ~possible_flags(r))
            return false;
    const float *colors = (const float *)(map + r->colors);
    for (uint64_t i = 0; r->colors && i < 3 * r->vertex_count; i++)
        if (!(colors[i] >= 0 && colors[i] <= 1))
            return false;
    const struct model_image *images = (const struct model_image *)(map + r->images);
    for (uint64_t i = 0; i < r->image_count; i++)
        if (images[i].bytes_at > r->total || images[i].bytes > r->total - images[i].bytes_at)
            return false;
    return true;
}

enum status import_take(int fd, const char *path, struct model *out, struct error *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || (uint64_t)st.st_size < sizeof(struct import_result))
        return error_msg(err, STATUS_PARSE, "the importer left nothing for %s", path);
    size_t size = (size_t)st.st_size;
    unsigned char *map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        return error_msg(err, STATUS_MEMORY, "out of memory mapping the %zu bytes of %s", size,
                         path);
    struct import_result r;
    memcpy(&r, map, sizeof r);
    r.message[sizeof r.message - 1] = '\0';
    enum status s = STATUS_OK;
    if (r.magic != IMPORT_MAGIC || r.status >= STATUS_COUNT || r.total > size)
        s = error_msg(err, STATUS_PARSE, "the importer left nothing usable for %s", path);
    else if (r.status != STATUS_OK)
        s = error_msg(err, (enum status)r.status, "%s", r.message);
    else if (!result_is_sound(map, &r))
        s = error_msg(err, STATUS_PARSE,
                      "the importer's arrays for %s contradict each other, so the file is damaged",
                      path);
    if (s != STATUS_OK) {
        munmap(map, size);
        return s;
    }
    *out = (struct model){
        .P = (const float(*)[3])(map + r.P),
        .N = r.N ? (const float(*)[3])(map + r.N) : NULL,
        .UV = r.UV ? (const float(*)[2])(map + r.UV) : NULL,
        .colors = r.colors ? (const float(*)[3])(map + r.colors) : NULL,
        .vertex_count = r.vertex_count,
        .origin = {r.origin[0], r.origin[1], r.origin[2]},
        .triangles = (const uint32_t(*)[3])(map + r.triangles),
        .flags = r.flags ? map + r.flags : NULL,
        .material = r.material ? (const uint32_t *)(map + r.material) : NULL,
        .triangle_count = r.triangle_count,
        .material_count = r.material_count,
        .description = (const char *)(map + r.description),
        .description_size = r.description_size,
        .images = (const struct model_image *)(map + r.images),
        .image_count = r.image_count,
        .parts = (const struct model_part *)(map + r.parts),
        .part_count = r.part_count,
        .mapping = map,
        .mapping_size = size,
    };
    return STATUS_OK;
}

enum status model_import_within(const char *path, enum model_layout layout,
                                const struct import_budget *budget, struct model *out,
                                struct error *err)
{
    int fd = memfd_create("isophote-model", MFD_CLOEXEC);
    if (fd < 0)
        return error_msg(err, STATUS_MEMORY, "cannot make shared memory for %s: %s", path,
                         strerrordesc_np(errno));
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        child_settle(budget, parent);
        import_in_child(path, layout, fd);
        _exit(CHILD_DONE);
    }
    if (child < 0) {
        int e = errno;
        close(fd);
        return error_msg(err, STATUS_MEMORY, "cannot start the importer for %s: %s", path,
                         strerrordesc_np(e));
    }
    int wstatus = 0;
    enum status s;
    switch (child_wait(child, budget->seconds, &wstatus)) {
    case OUTCOME_TIMEOUT:
        s = error_msg(err, STATUS_TIMEOUT, "the importer took more than %.0f s over %s",
                      budget->seconds, path);
        break;
    case OUTCOME_CANCELLED:
        s = error_msg(err, STATUS_CANCELLED, "stopped while reading %s", path);
        break;
    default:
        if (!WIFEXITED(wstatus) || WEXITSTATUS(wstatus) != CHILD_DONE)
            s = child_died(path, budget, wstatus, err);
        else
            s = import_take(fd, path, out, err);
    }
    close(fd);
    return s;
}

enum status model_import(const char *path, enum model_layout layout, struct model *out,
                         struct error *err)
{
    static const uint64_t largest_file = UINT64_C(4) << 30;
    struct stat st;
    if (stat(path, &st) != 0)
        return error_msg(err, errno == ENOENT || errno == ENOTDIR ? STATUS_MISSING : STATUS_IO,
                         "cannot open %s: %s", path, strerrordesc_np(errno));
    if (!S_ISREG(st.st_mode))
        return error_msg(err, STATUS_IO, "%s is not a regular file", path);
    if (access(path, R_OK) != 0)
        return error_msg(err, STATUS_IO, "cannot open %s: %s", path, strerrordesc_np(errno));
    if ((uint64_t)st.st_size > largest_file)
        return error_msg(err, STATUS_LIMIT, "%s is larger than the limit of 4 GiB", path);
    /* Assimp was measured to need 3 to 20 bytes for a byte of PLY, OBJ and glTF; a text format may
     * name external buffers, hence the base. */
    uint64_t bytes = (UINT64_C(4) << 30) + 64 * (uint64_t)st.st_size;
    uint64_t physical = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    struct import_budget budget = {
        .seconds = 30 + (double)st.st_size / (1 << 20),
        .bytes = bytes < physical ? bytes : physical,
    };
    return model_import_within(path, layout, &budget, out, err);
}

void model_close(struct model *m)
{
    if (m->mapping)
        munmap((void *)(uintptr_t)m->mapping, (size_t)m->mapping_size);
    *m = (struct model){0};
}

struct model model_part(const struct model *m, uint64_t part)
{
    const struct model_part *p = &m->parts[part];
    return (struct model){
        .P = m->P + p->first_vertex,
        .N = p->flags & TRIANGLE_HAS_NORMALS ? m->N + p->first_vertex : NULL,
        .UV = p->flags & TRIANGLE_HAS_UV ? m->UV + p->first_vertex : NULL,
        .colors = p->flags & TRIANGLE_HAS_COLORS ? m->colors + p->first_vertex : NULL,
        .vertex_count = p->vertex_count,
        .origin = {m->origin[0], m->origin[1], m->origin[2]},
        .triangles = m->triangles + p->first_triangle,
        .material = m->material ? m->material + p->first_triangle : NULL,
        .triangle_count = p->triangle_count,
        .material_count = m->material_count,
    };
}
