/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "import_check.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "cli.h"
#include "import_scene.h"
#include "reports.h"

static const double budget_s = 120; /* for one model */

/* ---- the models ----------------------------------------------------------------------------- */

static const char *const formats[] = {"gltf", "glb", "obj", "ply", "stl",
                                      "3ds",  "dae", "fbx", NULL};

static struct model_list {
    struct arena a;
    const char **paths;
    size_t count, cap;
    bool failed;
} models; /* nftw has no context */

static void add_model_path(const char *path)
{
    if (models.count == models.cap) {
        size_t cap = models.cap ? 2 * models.cap : 64;
        const char **more = realloc(models.paths, cap * sizeof *more);
        if (!more) {
            models.failed = true;
            return;
        }
        models.paths = more;
        models.cap = cap;
    }
    char *copy = arena_strdup(&models.a, path);
    models.failed |= !copy;
    if (copy)
        models.paths[models.count++] = copy;
}

static int visit(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    if (type != FTW_F)
        return 0;
    if (at->level == 0) { /* named by the user */
        add_model_path(path);
        return 0;
    }
    const char *ending = path_ending(path);
    for (int i = 0; *ending && formats[i]; i++)
        if (strcasecmp(ending + 1, formats[i]) == 0)
            add_model_path(path);
    return 0;
}

/* Bytes of the folder that all have in common, with its slash. */
static size_t common_folder(void)
{
    size_t n = strlen(models.paths[0]);
    for (size_t i = 0; i < models.count; i++)
        for (size_t k = 0; k < n; k++)
            n = models.paths[i][k] == models.paths[0][k] ? n : k;
    while (n > 0 && models.paths[0][n - 1] != '/')
        n--;
    return n;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* ---- one model ------------------------------------------------------------------------------ */

/* In memory that the child shares. */
struct check {
    bool finished;
    enum status status; /* of the import and its picture */
    bool imported;
    struct import_picture picture;
    size_t triangles, materials, textures, lights, notes;
    char reason[1024], about[1024];
};

static void check_here(const char *path, const char *scene, struct check *c)
{
    struct arena a = {0};
    struct error err = {0};
    struct scene_import s;
    struct scene_import_options o = {0};
    const char *how;
    c->status = import_exposed(&a, path, scene, &o, &s, &c->picture, &how, &err);
    if (c->status == STATUS_OK) {
        c->imported = true;
        c->triangles = s.triangles;
        c->materials = s.materials;
        c->textures = s.textures;
        c->lights = s.lights;
        c->notes = s.note_count;
        size_t n = 0;
        for (size_t i = 0; i < s.note_count && n < sizeof c->about; i++) {
            int more =
                snprintf(c->about + n, sizeof c->about - n, "%s%s", i ? "; " : "", s.notes[i]);
            n += more > 0 ? (size_t)more : 0;
        }
        for (size_t i = 0; i < s.file_count; i++)
            unlink(s.files[i]);
    } else {
        snprintf(c->reason, sizeof c->reason, "%s", err.msg);
    }
    arena_free(&a);
    c->finished = true;
}

static void check_in_child(const char *path, const char *scene, struct check *c)
{
    *c = (struct check){0};
    fflush(NULL);
    pid_t parent = getpid(), child = fork();
    if (child < 0) {
        c->status = STATUS_MEMORY;
        snprintf(c->reason, sizeof c->reason, "cannot start a process");
        return;
    }
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() == parent)
            check_here(path, scene, c);
        _exit(0);
    }
    int how = 0;
    double start = clock_s();
    while (waitpid(child, &how, WNOHANG) == 0) {
        if (clock_s() - start > budget_s || cancel_requested) {
            kill(child, SIGKILL);
            waitpid(child, &how, 0);
            break;
        }
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    if (c->finished)
        return;
    c->imported = false;
    c->status = STATUS_INTERNAL;
    if (WIFSIGNALED(how))
        snprintf(c->reason, sizeof c->reason, "ended by signal %d after %.0f s", WTERMSIG(how),
                 clock_s() - start);
    else
        snprintf(c->reason, sizeof c->reason, "ended without a word");
}

/* PASS: a scene and its picture; SKIP: refused, for the reason given; FAIL: neither. */
static enum verdict verdict_of(struct check *c)
{
    if (!c->imported)
        return c->status == STATUS_INTERNAL || c->status == STATUS_TIMEOUT ? VERDICT_FAIL
                                                                           : VERDICT_SKIP;
    if (c->picture.finite && c->picture.bright > 1e-6)
        return VERDICT_PASS;
    snprintf(c->reason, sizeof c->reason, "its picture is %s",
             c->picture.finite ? "black" : "not finite");
    return VERDICT_FAIL;
}

/* ---- the table ------------------------------------------------------------------------------ */

struct table {
    bool json;
    struct json_writer w;
    struct store *store;
    int64_t run;
    size_t verdicts[VERDICT_COUNT];
};

static enum status record(struct table *t, const char *path, const char *name, const char *format,
                          enum verdict v, const struct check *c, double seconds, struct error *err)
{
    struct json_writer w = {0};
    json_begin_object(&w);
    json_key_string(&w, "format", format);
    json_key_string(&w, "file", name);
    json_key_integer(&w, "triangles", (int64_t)c->triangles);
    json_key_integer(&w, "materials", (int64_t)c->materials);
    json_key_integer(&w, "textures", (int64_t)c->textures);
    json_key_integer(&w, "lights", (int64_t)c->lights);
    json_key_string(&w, "not_carried_over", c->about);
    json_end_object(&w);
    struct arena a = {0};
    const char *quoted = shell_word(&a, path);
    struct case_record r = {
        .name = arena_printf(&a, "import.%s.%s", format, name),
        .device = "reference",
        .verdict = v,
        .reason = v == VERDICT_PASS
                      ? arena_printf(&a, "%zu triangles, %zu materials, %zu textures%s%s",
                                     c->triangles, c->materials, c->textures,
                                     c->notes ? "; not carried over: " : "", c->about)
                      : c->reason,
        .replay = arena_printf(&a, "isophote import --check %s", quoted ? quoted : ""),
        .detail = w.out.data,
        .run_s = seconds,
    };
    enum status st = w.out.failed || !r.name || !r.reason || !r.replay
                         ? error_msg(err, STATUS_MEMORY, "out of memory for a case")
                         : store_add_case(t->store, t->run, &r, err);
    text_free(&w.out);
    arena_free(&a);
    return st;
}

static void print_row(struct table *t, const char *name, const char *format, enum verdict v,
                      const struct check *c)
{
    static const char *const words[VERDICT_COUNT] = {[VERDICT_PASS] = "imported",
                                                     [VERDICT_SKIP] = "refused",
                                                     [VERDICT_FAIL] = "FAILED",
                                                     [VERDICT_ERROR] = "FAILED"};
    const char *text = v == VERDICT_PASS ? c->about : c->reason;
    if (!t->json) {
        printf("%-5s %-8s %9zu  %s%s%s\n", format, words[v], c->triangles, name,
               text[0] ? v == VERDICT_PASS ? "  without: " : "  " : "", text);
        return;
    }
    json_begin_object(&t->w);
    json_key_string(&t->w, "format", format);
    json_key_string(&t->w, "file", name);
    json_key_string(&t->w, "verdict", words[v]);
    json_key_integer(&t->w, "triangles", (int64_t)c->triangles);
    json_key_integer(&t->w, "materials", (int64_t)c->materials);
    json_key_integer(&t->w, "textures", (int64_t)c->textures);
    json_key_integer(&t->w, "lights", (int64_t)c->lights);
    json_key_string(&t->w, v == VERDICT_PASS ? "not_carried_over" : "reason", text);
    json_end_object(&t->w);
}

static enum status open_run(struct table *t, const char *path, struct error *err)
{
    char now[32];
    struct arena a = {0};
    clock_utc(now);
    enum status st = store_open(path, false, &t->store, err);
    struct run_record run = {.kind = "import",
                             .started_utc = now,
                             .command = command_line_text(),
                             .environment = environment_json(&a)};
    struct device_record d = {
        .id = "reference", .api = "reference", .name = "reference", .detail = "{}"};
    if (!st)
        st = store_add_run(t->store, &run, err);
    if (!st)
        st = store_add_device(t->store, run.id, &d, err);
    t->run = run.id;
    arena_free(&a);
    return st;
}

static enum status check_all(struct table *t, const char *folder, struct check *c,
                             struct error *err)
{
    size_t skip = common_folder();
    for (size_t i = 0; i < models.count && !cancel_requested; i++) {
        const char *path = models.paths[i], *name = path + skip;
        char scene[64], format[16];
        snprintf(scene, sizeof scene, "%s/%zu.json", folder, i);
        const char *ending = path_ending(path);
        snprintf(format, sizeof format, "%s", *ending ? ending + 1 : ending);
        for (char *f = format; *f; f++)
            *f = *f >= 'A' && *f <= 'Z' ? (char)(*f + 32) : *f;
        double start = clock_s();
        check_in_child(path, scene, c);
        enum verdict v = verdict_of(c);
        t->verdicts[v]++;
        print_row(t, name, format, v, c);
        if (t->store) {
            enum status st = record(t, path, name, format, v, c, clock_s() - start, err);
            if (st)
                return st;
        }
    }
    return cancel_requested ? error_msg(err, STATUS_CANCELLED, "stopped while checking models")
                            : STATUS_OK;
}

int import_check(char **paths, size_t count, const char *store, bool json)
{
    struct error err = {0};
    struct table t = {.json = json, .w = {.pretty = true}};
    char folder[3072] = "";
    enum status st = STATUS_OK;
    for (size_t i = 0; i < count && !st; i++)
        if (nftw(paths[i], visit, 16, FTW_PHYS) != 0)
            st = error_msg(&err, STATUS_MISSING, "cannot open %s: %s", paths[i], strerror(errno));
    if (!st && (models.failed || models.count == 0))
        st =
            error_msg(&err, models.failed ? STATUS_MEMORY : STATUS_TYPE,
                      models.failed ? "out of memory for the list of models"
                                    : "no models there, expected files of .gltf, .glb, .obj, .ply, "
                                      ".stl, .3ds, .dae or .fbx");
    if (models.count)
        qsort(models.paths, models.count, sizeof *models.paths, by_name);
    struct check *c =
        mmap(NULL, sizeof *c, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!st && c == MAP_FAILED)
        st = error_msg(&err, STATUS_MEMORY, "out of memory to share with the child that imports");
    if (!st)
        st = scratch_make(folder, sizeof folder, &err);
    if (!st && store)
        st = open_run(&t, store, &err);
    if (!st) {
        if (json)
            json_begin_array(&t.w);
        st = check_all(&t, folder, c, &err);
        if (json)
            json_end_array(&t.w);
    }
    scratch_remove(folder);
    store_close(t.store);
    arena_free(&models.a);
    free(models.paths);
    if (st)
        return report_error(&err, false);
    if (json)
        return json_print(&t.w) && !t.verdicts[VERDICT_FAIL] ? EXIT_PASS : EXIT_FINDING;
    printf("%zu models: %zu imported and rendered, %zu refused, %zu failed\n",
           t.verdicts[VERDICT_PASS] + t.verdicts[VERDICT_SKIP] + t.verdicts[VERDICT_FAIL],
           t.verdicts[VERDICT_PASS], t.verdicts[VERDICT_SKIP], t.verdicts[VERDICT_FAIL]);
    return t.verdicts[VERDICT_FAIL] ? EXIT_FINDING : EXIT_PASS;
}
