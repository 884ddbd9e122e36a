/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of the level `shader`: names, and the judging of files and of generated programs. */
#include "cases_shader.h"
#include "equivalence/offers.h"
#include "generate/offers.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCKS = 100, /* shader.generated.block-001 ... */
    BLOCK_SIZE = 16,
    DEVICE_PROGRAMS = 3, /* programs of each */
    SIDE = 4,
    RANDOM_POINTS = 12
};
static const double reduce_s = 45; /* well inside the run budget of 120 s */

/* ---- names ----------------------------------------------------------------------------------- */

struct listing {
    struct arena *arena;
    struct conform_case *list;
    size_t count, cap;
    bool failed;
};

static void add_case(struct listing *l, const char *group, const char *name, const char *engine,
                     const char *text, const char *path)
{
    if (l->count == l->cap) {
        size_t cap = l->cap ? 2 * l->cap : 512;
        struct conform_case *more = ARENA_ARRAY(l->arena, struct conform_case, cap);
        l->failed = l->failed || !more;
        if (!more)
            return;
        if (l->count)
            memcpy(more, l->list, l->count * sizeof *more);
        l->list = more;
        l->cap = cap;
    }
    char *full = arena_printf(l->arena, "shader.%s.%s.%s", group, name, engine);
    l->failed = l->failed || !full;
    l->list[l->count++] = (struct conform_case){full, "shader", text, path, false};
}

static void add_all(struct listing *l, const char *group, const char *name, const char *path)
{
    add_case(l, group, name, "ir",
             "the optimised program gives the interpreter's bits, at every level", path);
    add_case(l, group, name, "device",
             "translated for the device: the interpreter's bits, builtins within their bounds",
             path);
    add_case(l, group, name, "llvm",
             "translated to LLVM IR for the processor: the interpreter's bits, builtins within "
             "their bounds",
             path);
}

/* What ends the names of cases in other modes than strict. */
static const struct {
    const char *tail, *text;
    enum math_mode mode;
} loose_modes[] = {
    {"mode-device", "translated for the device, a * b + c contracted: within what may round",
     MODE_DEVICE},
    {"mode-fast", "translated for the device in mode fast: within what may round", MODE_FAST}};
enum { LOOSE_MODES = sizeof loose_modes / sizeof *loose_modes };

static void add_file(struct listing *l, const char *group, const char *name, const char *path)
{
    add_all(l, group, name, path);
    for (size_t i = 0; i < LOOSE_MODES; i++)
        add_case(l, group, name, loose_modes[i].tail, loose_modes[i].text, path);
}

bool shader_path(const char *path)
{
    static const char *const endings[] = {".asl", ".osl", ".c", ".ll", ".bc"};
    bool is = false;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        is = is || (path_ends(path, endings[i]) && strlen(path) > strlen(endings[i]));
    return is;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* "dir/wood.asl" is wood; a name is one word without points. */
static char *case_word(struct arena *a, const char *path)
{
    char *name = path_stem(a, path);
    for (char *p = name; p && *p; p++)
        if (*p <= ' ' || *p == 127 || *p == '.')
            *p = '_';
    return name;
}

static bool runs(struct arena *a, const char *path)
{
    char *text;
    size_t size;
    return file_read(a, path, (size_t)64 << 20, &text, &size, NULL) != STATUS_OK ||
           !shader_file_refused(text); /* one that cannot be read is told by its case */
}

/* ---- folders --------------------------------------------------------------------------------- */

struct paths {
    struct arena *arena;
    const char **path;
    size_t count, cap;
    bool failed;
};

static void add_path(struct paths *p, const char *path)
{
    if (p->count == p->cap) {
        size_t cap = p->cap ? 2 * p->cap : 64;
        const char **more = ARENA_ARRAY(p->arena, const char *, cap);
        p->failed = p->failed || !more;
        if (!more)
            return;
        if (p->count)
            memcpy((void *)more, (void *)p->path, p->count * sizeof *more);
        p->path = more;
        p->cap = cap;
    }
    p->path[p->count++] = path;
}

/* Shaders in a folder and below, at most `depth` folders deep. */
static void walk_folder(struct paths *p, const char *folder, unsigned depth)
{
    DIR *dir = opendir(folder);
    if (!dir)
        return;
    for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
        if (e->d_name[0] == '.')
            continue;
        const char *path = arena_printf(p->arena, "%s/%s", folder, e->d_name);
        p->failed = p->failed || !path;
        if (path && shader_path(path))
            add_path(p, path);
        else if (path && depth)
            walk_folder(p, path, depth - 1);
    }
    (void)closedir(dir);
}

enum status conform_shaders(struct arena *a, const char *path, const char *const **out,
                            size_t *count, struct error *err)
{
    struct paths p = {.arena = a};
    if (shader_path(path))
        add_path(&p, path);
    else
        walk_folder(&p, path, 16);
    if (p.failed)
        return error_msg(err, STATUS_MEMORY, "out of memory for the shaders in %s", path);
    if (p.count)
        qsort((void *)p.path, p.count, sizeof *p.path, by_name);
    *out = p.path;
    *count = p.count;
    return STATUS_OK;
}

/* ending: of the files that count. */
static void add_folder(struct listing *l, const char *group, const char *folder, const char *ending)
{
    const char *const *path = NULL;
    size_t n = 0;
    l->failed = conform_shaders(l->arena, folder, &path, &n, NULL) != STATUS_OK || l->failed;
    for (size_t i = 0; i < n; i++) {
        char *name = case_word(l->arena, path[i]);
        if (name && path_ends(path[i], ending) && runs(l->arena, path[i]))
            add_file(l, group, name, path[i]);
    }
}

static void add_files(struct listing *l, const char *const *paths, size_t count)
{
    size_t first = l->count;
    for (size_t i = 0; i < count; i++) {
        if (!shader_path(paths[i]))
            continue;
        const char *name = case_word(l->arena, paths[i]), *unique = name;
        for (unsigned number = 2, taken = 1; taken && unique; number++) {
            char *full = arena_printf(l->arena, "shader.file.%s.ir", unique);
            taken = 0;
            for (size_t k = first; full && k < l->count; k++)
                taken |= strcmp(l->list[k].name, full) == 0;
            if (taken)
                unique = arena_printf(l->arena, "%s-%u", name, number);
        }
        if (unique)
            add_file(l, "file", unique, paths[i]);
        l->failed = l->failed || !unique;
    }
}

bool shader_builtin_computes(const struct asl_builtin_row *row)
{
    return strcmp(row->derivatives, "refused") != 0 && !strchr(row->signatures, '*') &&
           strcmp(row->name, "exit") != 0;
}

static void add_builtins(struct listing *l)
{
    size_t count;
    const struct asl_builtin_row *row = asl_builtin_rows(&count);
    for (size_t i = 0; i < count; i++) {
        if (!shader_builtin_computes(&row[i]))
            continue;
        add_case(l, "builtin", row[i].name, "ir",
                 "a builtin on special values and at random: the interpreter's bits", NULL);
        add_case(l, "builtin", row[i].name, "device",
                 "a builtin on special values and at random: within its ulp column", NULL);
        add_case(l, "builtin", row[i].name, "llvm",
                 "a builtin through LLVM on special values and at random: within its ulp column",
                 NULL);
    }
    for (unsigned i = 1; i <= SHADER_BUILTIN_PARTS; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "part-%u", i);
        add_all(l, "builtins", name, NULL);
    }
}

static uint32_t blocks_for(uint32_t programs)
{
    return programs / BLOCK_SIZE + (programs % BLOCK_SIZE != 0);
}

static unsigned block_of(const char *name)
{
    static const char prefix[] = "shader.generated.block-";
    return strncmp(name, prefix, sizeof prefix - 1) == 0
               ? (unsigned)strtoul(name + sizeof prefix - 1, NULL, 10)
               : 0;
}

bool shader_is_program(const char *name, uint32_t programs)
{
    unsigned block = block_of(name);
    return block > 0 && block <= blocks_for(programs);
}

enum status conform_shader_coverage(uint32_t programs, struct text *out, struct error *err)
{
    struct arena a = {0};
    struct asl_coverage *coverage = NULL;
    enum status st = asl_coverage_new(&a, &coverage, err);
    for (uint64_t seed = 0; st == STATUS_OK && seed < programs; seed++) {
        struct text t = {0};
        st = asl_generate(seed, NULL, &t, coverage, NULL, err);
        text_free(&t);
    }
    if (st == STATUS_OK)
        asl_coverage_print(coverage, false, out);
    arena_free(&a);
    return st;
}

enum status shader_cases(struct arena *a, const char *const *paths, size_t count, uint32_t programs,
                         const struct conform_case **out, size_t *case_count, struct error *err)
{
    struct listing l = {.arena = a};
    const char *library, *golden;
    TRY(data_path(a, "shaders/library", &library, err));
    TRY(data_path(a, "shaders/tests", &golden, err));
    add_case(&l, "generator", "programs", "ir",
             "generated programs compile, run alike twice, and cover every construct", NULL);
    for (unsigned i = 1; i <= BLOCKS || i <= blocks_for(programs); i++) {
        char name[24];
        (void)snprintf(name, sizeof name, "block-%03u", i);
        add_all(&l, "generated", name, NULL);
    }
    add_builtins(&l);
    add_folder(&l, "library", library, "");
    add_folder(&l, "golden", golden, ".asl"); /* C there is tests' own */
    add_files(&l, paths, count);
    *out = l.list;
    *case_count = l.count;
    return l.failed ? error_msg(err, STATUS_MEMORY, "out of memory for the shader cases")
                    : STATUS_OK;
}

/* ---- engines --------------------------------------------------------------------------------- */

static bool ends(const char *s, const char *tail)
{
    size_t n = strlen(s), t = strlen(tail);
    return n > t && strcmp(s + n - t, tail) == 0;
}

static enum math_mode mode_of(const char *name)
{
    for (size_t i = 0; i < LOOSE_MODES; i++)
        if (ends(name, loose_modes[i].tail))
            return loose_modes[i].mode;
    return MODE_STRICT;
}

static bool is_engine(const char *id)
{
    size_t n = strcspn(id, ":");
    const struct shade_engine_info *e;
    for (size_t i = 0; (e = shade_engine_at(i)) != NULL; i++)
        if (strlen(e->name) == n && strncmp(e->name, id, n) == 0)
            return true;
    return false;
}

/* Files are whatever they are. A mistake of the device library is for one case on a device, one of
 * the translator for those of the processor. */
static bool may_find(const struct asl_fault *f, const char *name)
{
    static const char prefix[] = "shader.", file[] = "shader.file.";
    const char *at = name + sizeof prefix - 1;
    if (strncmp(name, file, sizeof file - 1) == 0)
        return true;
    if (!f->found_by)
        return !ends(name, ".device") && mode_of(name) == MODE_STRICT;
    size_t n = strlen(f->found_by);
    return strncmp(at, f->found_by, n) == 0 && strcmp(at + n, ".device") == 0;
}

enum status shader_case_setting(const struct run_context *c, struct shader_setting *out,
                                struct error *err)
{
    const char *own = ends(c->name, ".ir") ? "ir" : ends(c->name, ".llvm") ? "llvm" : NULL;
    const char *id = c->device_id, *mistake = strncmp(id, "faulty:", 7) == 0 ? id + 7 : NULL;
    const struct asl_fault *f = mistake ? asl_fault_find(mistake) : NULL;
    if (case_of_mutant(c))
        mistake = id;
    if (f || mistake == id)
        id = "native"; /* with a mistake in the program that it translates, or its library */
    *out = (struct shader_setting){.engine = own ? own : id,
                                   .mode = mode_of(c->name),
                                   .fault = id == c->device_id ? NULL : mistake};
    if (f && !may_find(f, c->name))
        return error_msg(err, STATUS_UNSUPPORTED, "another case is to find %s", f->name);
    if (own && mistake == c->device_id)
        return error_msg(err, STATUS_UNSUPPORTED, "mutants are of the text that devices compile");
    if (own && !is_native(id))
        return error_msg(err, STATUS_UNSUPPORTED,
                         "the processor translates; it is judged once, with the native device");
    if (!is_engine(out->engine))
        return error_msg(err, STATUS_UNSUPPORTED, "no engine runs shaders on %s", out->engine);
    return STATUS_OK;
}

/* ---- judging --------------------------------------------------------------------------------- */

struct tally_of_shaders {
    uint64_t programs, unsupported, unsure, points, moved;
    char why[256]; /* the first that the engine could not run */
    double translate_s, compile_s;
};

/* How the optimiser is asked: each level, parameters read and parameters baked in. */
static const struct {
    unsigned level;
    bool bake;
} ways[] = {{0, false}, {1, true}, {2, false}, {2, true}};
enum { WAYS = sizeof ways / sizeof *ways };

static enum status fail_with_finding(struct run_context *c, const char *name, const char *text,
                                     size_t size, uint32_t variation,
                                     const struct shader_setting *s,
                                     const struct shader_comparison *r,
                                     const struct asl_globals *points, size_t count,
                                     struct error *err)
{
    struct shader_finding f;
    if (s->fault && strncmp(c->name, "shader.file.", 12) != 0) /* the self-test asks whether only */
        return case_fail(c, "%s: %s", name, r->first.text);
    enum status st = shader_finding_make(name, text, size, variation, s, &r->first, points, count,
                                         reduce_s, &f, err);
    if (st != STATUS_OK)
        return st;
    struct json_writer w = {0};
    json_begin_object(&w);
    json_key_string(&w, "program", name);
    json_key_string(&w, "reduced", f.file);
    json_key_integer(&w, "tokens", (int64_t)f.reduction.tokens_before);
    json_key_integer(&w, "tokens_reduced", (int64_t)f.reduction.tokens_after);
    json_key_integer(&w, "tests", (int64_t)f.reduction.tests);
    json_end_object(&w);
    case_detail(c, &w);
    const char *id = shell_word(c->arena, c->device_id), *path = shell_word(c->arena, f.file);
    if (*f.file && id && path)
        c->result->replay = arena_printf(c->arena,
                                         "isophote conform --level shader --device %s --filter "
                                         "'^shader\\.file' %s",
                                         id, path);
    return case_fail(c, "%s: %s", name, f.reason);
}

/* One program in the ways [from, to); *different tells that the verdict is FAIL. */
static enum status judge_program(struct run_context *c, const char *name, const char *text,
                                 size_t size, uint32_t variation, size_t from, size_t to,
                                 struct tally_of_shaders *t, bool *different, struct error *err)
{
    struct arena a = {0};
    struct shader_file f;
    struct asl_globals *points = NULL;
    size_t count = 0;
    struct shader_setting s;
    enum status st = shader_case_setting(c, &s, err);
    if (st == STATUS_OK)
        st = shader_file_read(&a, name, text, size, variation, &f, err);
    if (st == STATUS_OK)
        st = shader_points(&a, SIDE, RANDOM_POINTS, !c->scene_path || f.special, &points, &count,
                           err);
    for (size_t w = from; st == STATUS_OK && w < to && !*different; w++) {
        struct shader_comparison r;
        s.level = ways[w].level;
        s.bake = ways[w].bake;
        s.all_layers = (size + w) % 2; /* half of the networks run lazily */
        st = shader_compare(&f, &s, points, count, &r, err);
        if (st != STATUS_OK)
            break;
        t->programs++;
        t->unsure += r.unsure;
        t->points += count;
        t->moved += r.moved;
        t->translate_s += r.translate_s;
        t->compile_s += r.compile_s;
        c->compared += r.values;
        *different = r.different;
        if (r.different)
            st = fail_with_finding(c, name, text, size, variation, &s, &r, points, count, err);
    }
    if (st == STATUS_UNSUPPORTED && !*t->why && err)
        (void)snprintf(t->why, sizeof t->why, "%.250s", err->msg);
    arena_free(&a);
    return st;
}

static enum status pass_with_tally(struct run_context *c, const struct tally_of_shaders *t,
                                   double seconds)
{
    return case_pass(c,
                     "%llu runs of programs at %llu points, %llu points left open by bounds, %llu "
                     "values moved within bounds, %llu programs not for this engine; %.0f a minute",
                     (unsigned long long)t->programs, (unsigned long long)t->points,
                     (unsigned long long)t->unsure, (unsigned long long)t->moved,
                     (unsigned long long)t->unsupported,
                     (double)t->programs * 60 / (seconds > 0 ? seconds : 1));
}

static enum status judge_file(struct run_context *c, struct error *err)
{
    struct tally_of_shaders t = {0};
    char *text;
    size_t size;
    bool different = false;
    double begin = clock_s();
    enum status st = input_file_read(c->arena, c->scene_path, (size_t)64 << 20, &text, &size, err);
    /* its own parameters in every way; two sets at random where nothing is compiled for a device */
    bool host = ends(c->name, ".ir");
    for (uint32_t v = 0; st == STATUS_OK && v < 3 && !different; v++)
        st = judge_program(c, c->scene_path, text, size, v, v || host ? 0 : 1,
                           host || v == 0 ? WAYS - (host ? 0 : 1) : 1, &t, &different, err);
    if (st != STATUS_OK || different)
        return st;
    return pass_with_tally(c, &t, clock_s() - begin);
}

static enum status judge_block(struct run_context *c, struct error *err)
{
    struct tally_of_shaders t = {0};
    unsigned block = block_of(c->name);
    bool host = ends(c->name, ".ir"), different = false;
    bool processor = host || strchr(c->device_id, ':') == NULL;
    double begin = clock_s();
    enum status st = STATUS_OK;
    for (unsigned i = 0; st == STATUS_OK && i < (host ? BLOCK_SIZE : DEVICE_PROGRAMS) && !different;
         i++) {
        uint64_t seed = (uint64_t)(block - 1) * BLOCK_SIZE + i;
        const struct asl_generate_options o = {.numbers_only = !processor};
        struct text text = {0};
        char name[64];
        (void)snprintf(name, sizeof name, "generated-%llu.asl", (unsigned long long)seed);
        st = asl_generate(seed, &o, &text, NULL, NULL, err);
        size_t way = i % WAYS;
        if (st == STATUS_OK)
            st = judge_program(c, name, text.data, text.len, 0, host ? 0 : way,
                               host ? WAYS : way + 1, &t, &different, err);
        if (st == STATUS_UNSUPPORTED) {
            t.unsupported++;
            st = STATUS_OK;
        }
        text_free(&text);
    }
    if (st != STATUS_OK || different)
        return st;
    if (c->compared == 0)
        return case_skip(c, "%s", t.programs ? "bounds leave all points open" : t.why);
    return pass_with_tally(c, &t, clock_s() - begin);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* The word between the second point and the last one: "wood" of shader.library.wood.ir. */
static enum status judge_builtin(struct run_context *c, struct error *err)
{
    const char *begin = c->name + strlen("shader.builtin."), *end = strrchr(begin, '.');
    char *name = arena_strndup(c->arena, begin, (size_t)(end - begin));
    return name ? shader_builtin_case(c, name, err)
                : error_msg(err, STATUS_MEMORY, "out of memory");
}

static enum status judge_builtins(struct run_context *c, struct error *err)
{
    const unsigned part = (unsigned)strtoul(c->name + strlen("shader.builtins.part-"), NULL, 10);
    return shader_builtins_case(c, part - 1, err);
}

static const struct case_row rows[] = {
    {"shader.builtins.part-", "", judge_builtins},
    {"shader.generator.", "", shader_generator_case},
    {"shader.generated.block-", "", judge_block},
    {"shader.builtin.", "", judge_builtin},
    {"shader.library.", "", judge_file},
    {"shader.golden.", "", judge_file},
    {"shader.file.", "", judge_file},
};

const struct case_row *shader_row(const char *name)
{
    if (!ends(name, ".ir") && !ends(name, ".device") && !ends(name, ".llvm") &&
        mode_of(name) == MODE_STRICT)
        return NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strncmp(name, rows[i].name, strlen(rows[i].name)) == 0)
            return &rows[i];
    return NULL;
}
