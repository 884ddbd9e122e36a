/* SPDX-License-Identifier: Apache-2.0 */
/* options.c: a command line by the rows of its command. */
#include "cli.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows ----------------------------------------------------------------------------------- */

#define AT(member) offsetof(struct render_options, member)
static const struct option render_rows[] = {
    {"--device", OPTION_LIST, AT(devices), "ID",
     .help = "reference, native, opencl:0 ..., or a part of a device's name"},
    {"--mode", OPTION_MODE, AT(set.build.mode), "MODE", .help = "arithmetic",
     .otherwise = "strict; of bench and sweep: fast", .given = AT(mode_given)},
    {"--spp", OPTION_COUNT, AT(spp), "N", .help = "samples a pixel", .otherwise = "the scene's"},
    {"--width", OPTION_SIDE, AT(width), "W", .help = "pixels",
     .otherwise = "the scene's; beside --height alone what keeps the picture's shape"},
    {"--height", OPTION_SIDE, AT(height), "H", .help = "pixels",
     .otherwise = "the scene's; beside --width alone what keeps the picture's shape"},
    {"--max-depth", OPTION_COUNT, AT(max_depth), "D",
     .help = "edges of a path: 1 emission only, 2 direct light, 6 five bounces",
     .otherwise = "the scene's"},
    {"--rr-depth", OPTION_COUNT, AT(rr_depth), "D", .help = "first vertex with Russian roulette",
     .otherwise = "the scene's", .given = AT(rr_given)},
    {"--seed", OPTION_UINT64, AT(seed), "S", .help = "of the random numbers",
     .otherwise = "the scene's", .given = AT(seed_given)},
    {"--work-group", OPTION_PAIR, AT(set.launch.work_group), "XxY", .help = "work-items of a group",
     .otherwise = "the device's choice"},
    {"--tile", OPTION_PAIR, AT(set.launch.tile), "XxY", .help = "pixels of one launch",
     .otherwise = "the whole picture"},
    {"--batch", OPTION_UINT, AT(set.launch.batch), "N", .help = "samples a pixel in one launch",
     .otherwise = "the device's choice"},
    {"--paths", OPTION_UINT, AT(set.launch.paths), "N",
     .help = "of a batch, of the models whose stages are kernels of their own",
     .otherwise = "the device's choice"},
    {"--tile-order", OPTION_UINT, AT(set.launch.tile_order), "K",
     .help = "0 by rows, 1 reversed, 2 shuffled", .preset = "0"},
    {"--model", OPTION_MODEL, AT(set.build.model), "M",
     .help = "how a path's stages are run (docs/reference/models.md)", .preset = "auto"},
    {"--bvh", OPTION_BVH, AT(set.load.bvh), "KIND", .help = "tree of the primitives",
     .preset = "auto"},
    {"--registers", OPTION_UINT, AT(set.build.registers), "N",
     .help = "most registers a work-item (CUDA, HIP, NVIDIA's OpenCL)",
     .otherwise = "the device's choice"},
    {"--code-path", OPTION_CODE, AT(set.build.code), "PATH",
     .help = "what the device compiles: source, or llvm (docs/contributor/llvm.md)",
     .preset = "auto"},
    {"--cache", OPTION_CACHE, AT(set.build.cache), "USE",
     .help = "what fast memory is preferred for (CUDA)", .preset = "auto"},
    {"--bake", OPTION_FLAG, AT(set.load.bake),
     .help = "shaders' parameters are constants of the program: faster, and compiled again when "
             "one changes"},
    {"--threads", OPTION_UINT, AT(set.launch.threads), "N",
     .help = "of the reference and native devices", .otherwise = "all"},
    {"--texture-memory", OPTION_TEXTURE_MEMORY, 0, "SIZE",
     .help =
         "texels in memory at most: tiles of TIFF and EXR are read on demand (reference and native "
         "devices): 256M",
     .otherwise = "whole textures are read"},
    JSON_OPTION(AT(json)),
};
#undef AT

static const struct option force_row = {"--force", OPTION_FORCE,
                                        .help = "write also over a file of another kind"};

static const struct option timeout_row = {
    "--timeout", OPTION_TIMEOUT, 0, "S",
    .help = "give up after so many seconds, all in all, with status 1"};

static const struct option memory_row = {
    "--memory",
    OPTION_MEMORY,
    0,
    "SIZE",
    .help = "refuse what would take more memory in this process: 800M, 12G",
    .otherwise = "nine tenths of what is free"};

static bool writes_files(const struct command *c)
{
    for (size_t i = 0; i < c->option_count; i++)
        if (c->options[i].writes)
            return true;
    return false;
}

const struct option *command_option(const struct command *c, size_t i)
{
    const size_t common = c->common ? sizeof render_rows / sizeof *render_rows : 0;
    if (i < c->option_count)
        return &c->options[i];
    i -= c->option_count;
    if (i < common)
        return &render_rows[i];
    const struct option *rest[3];
    size_t n = 0;
    if (!c->unlimited) {
        rest[n++] = &timeout_row;
        rest[n++] = &memory_row;
    }
    if (writes_files(c))
        rest[n++] = &force_row;
    return i - common < n ? rest[i - common] : NULL;
}

/* ---- values --------------------------------------------------------------------------------- */

static const char *mode_name(int i) { return math_mode_name((enum math_mode)i); }
static const char *bvh_name(int i) { return bvh_kind_name((enum bvh_kind)i); }
static const char *model_name(int i) { return exec_model_name((enum exec_model)i); }
static const char *code_name(int i) { return code_path_name((enum code_path)i); }
static const char *cache_name(int i) { return cache_preference_name((enum cache_preference)i); }
static const char *tone_of(int i) { return tone_name((enum tone)i); }

static const struct {
    const char *(*name)(int);
    int count;
} enumerations[OPTION_IGNORED + 1] = {
    [OPTION_MODE] = {mode_name, MODE_COUNT},    [OPTION_BVH] = {bvh_name, BVH_COUNT},
    [OPTION_MODEL] = {model_name, MODEL_COUNT}, [OPTION_CODE] = {code_name, CODE_COUNT},
    [OPTION_CACHE] = {cache_name, CACHE_COUNT}, [OPTION_TONE] = {tone_of, TONE_COUNT},
};
static const struct {
    uint64_t least, most;
} numbers[OPTION_IGNORED + 1] = {[OPTION_UINT] = {0, UINT32_MAX},
                                 [OPTION_COUNT] = {1, UINT32_MAX},
                                 [OPTION_SIDE] = {1, 32768},
                                 [OPTION_UINT64] = {0, UINT64_MAX},
                                 [OPTION_COUNT64] = {1, UINT64_MAX}};

const char *option_words(const struct option *o, char *buffer, size_t size)
{
    size_t n = 0;
    if (o->words)
        return o->words;
    *buffer = 0;
    for (int i = 0; i < enumerations[o->type].count; i++)
        n += (size_t)snprintf(buffer + n, size - n, "%s%s", i ? " " : "",
                              enumerations[o->type].name(i));
    return buffer;
}

/* The place of the first `n` letters of `word` among `words`; -1: it is none of them. */
static int word_find(const char *words, const char *word, size_t n)
{
    int i = 0;
    for (; *words; words += strcspn(words, " "), words += strspn(words, " "), i++)
        if (strcspn(words, " ") == n && strncmp(words, word, n) == 0)
            return i;
    return -1;
}

static bool parse_u64(const char *s, char **end, uint64_t least, uint64_t most, uint64_t *out)
{
    if (!isdigit((unsigned char)*s))
        return false;
    errno = 0;
    unsigned long long v = strtoull(s, end, 10);
    *out = v;
    return !errno && v >= least && v <= most;
}

static bool parse_two(const char *s, char between, uint64_t least, uint64_t most, uint32_t out[2])
{
    uint64_t a, b;
    char *end;
    if (!parse_u64(s, &end, least, most, &a) || *end != between ||
        !parse_u64(end + 1, &end, least, most, &b) || *end)
        return false;
    out[0] = (uint32_t)a;
    out[1] = (uint32_t)b;
    return true;
}

static bool parse_words(const char *words, const char *list, uint32_t *out)
{
    uint32_t bits = 0;
    for (;; list++) {
        size_t n = strcspn(list, ",");
        int i = word_find(words, list, n);
        if (i < 0)
            return false;
        bits |= 1u << i;
        list += n;
        if (!*list)
            break;
    }
    *out = bits;
    return true;
}

static bool list_add(struct option_list *l, const char *v)
{
    const char **items = realloc((void *)l->items, (l->count + 2) * sizeof *items);
    if (!items)
        return false;
    items[l->count++] = v;
    items[l->count] = NULL;
    l->items = items;
    return true;
}

static bool is_number(enum option_type t) { return numbers[t].most != 0; }

/* Puts one value in its place; false: it is none. */
static bool option_take(const struct option *o, const char *v, void *target)
{
    char buffer[256], *end;
    const char *words = option_words(o, buffer, sizeof buffer);
    uint64_t u;
    double d;
    if (is_number(o->type)) {
        if (!parse_u64(v, &end, numbers[o->type].least, numbers[o->type].most, &u) || *end)
            return false;
        if (numbers[o->type].most > UINT32_MAX)
            *(uint64_t *)target = u;
        else
            *(uint32_t *)target = (uint32_t)u;
        return true;
    }
    switch (o->type) {
    case OPTION_FLAG:
        *(bool *)target = true;
        return true;
    case OPTION_LEVEL:
        *(int *)target = *v ? v[strlen(v) - 1] - '0' : 0;
        return *v != 0;
    case OPTION_STRING:
        *(const char **)target = v;
        return *v != 0;
    case OPTION_WORD:
        *(const char **)target = v;
        return word_find(words, v, strlen(v)) >= 0;
    case OPTION_WORDS:
        return parse_words(words, v, target);
    case OPTION_LIST:
        return list_add(target, v);
    case OPTION_FROM_ZERO:
    case OPTION_ABOVE_ZERO:
    case OPTION_TIMEOUT:
        d = strtod(v, &end);
        *(double *)target = d;
        end += *end == 's' && o->value && strcmp(o->value, "S") == 0; /* "60s" */
        return end != v && !*end && isfinite(d) && (o->type == OPTION_ABOVE_ZERO ? d > 0 : d >= 0);
    case OPTION_MEMORY:
    case OPTION_TEXTURE_MEMORY:
        return memory_read(v, target);
    case OPTION_PAIR:
        return parse_two(v, 'x', 1, 65536, target);
    case OPTION_PIXEL:
        return parse_two(v, ',', 0, UINT32_MAX, target);
    default: { /* an enumeration */
        int i = word_find(words, v, strlen(v));
        if (i >= 0)
            *(unsigned *)target = (unsigned)i;
        return i >= 0;
    }
    }
}

static void print_expected(const struct option *o, struct text *out)
{
    char buffer[256];
    const char *words = option_words(o, buffer, sizeof buffer);
    if (is_number(o->type))
        text_printf(out, "a whole number from %llu to %llu",
                    (unsigned long long)numbers[o->type].least,
                    (unsigned long long)numbers[o->type].most);
    else if (o->type == OPTION_STRING)
        text_puts(out, "a text that is not empty");
    else if (o->type == OPTION_LIST)
        text_puts(out, "more memory");
    else if (o->type == OPTION_FROM_ZERO || o->type == OPTION_TIMEOUT)
        text_puts(out, "a number from 0");
    else if (o->type == OPTION_MEMORY || o->type == OPTION_TEXTURE_MEMORY)
        text_puts(out, "bytes, or a number with K, M, G or T");
    else if (o->type == OPTION_ABOVE_ZERO)
        text_puts(out, "a number above 0");
    else if (o->type == OPTION_PAIR)
        text_puts(out, "two whole numbers from 1 to 65536, as in 8x4");
    else if (o->type == OPTION_PIXEL)
        text_puts(out, "X,Y as in 12,34");
    else if (o->type == OPTION_WORDS) {
        text_puts(out, "some of ");
        words_print(words, "and", out);
        text_puts(out, ", joined by commas");
    } else
        words_print(words, "or", out);
}

/* ---- names ---------------------------------------------------------------------------------- */

static size_t dashes(const char *s) { return s[0] == '-' ? 1 + (s[1] == '-') : 0; }

/* Does one of the names of `o` stand in the first `n` letters of `word`, or (`joined`) begin it?
 * The length of that name; 0: no. */
static size_t name_match(const struct command *c, const struct option *o, const char *word,
                         size_t n, bool joined)
{
    for (const char *p = o->names; *p; p += strcspn(p, " "), p += strspn(p, " ")) {
        size_t length = strcspn(p, " "), skip = c->one_dash ? dashes(p) : 0;
        size_t skipped = c->one_dash ? dashes(word) : 0;
        if (joined ? p[1] != '-' && strncmp(p, word, length) == 0
                   : length - skip == n - skipped &&
                         strncmp(p + skip, word + skipped, n - skipped) == 0)
            return length;
    }
    return 0;
}

/* The row that `word` asks for, and the value that is written in one word with it, or NULL. */
static const struct option *option_find(const struct command *c, char *word, char **value)
{
    const struct option *o;
    bool equals = strncmp(word, "--", 2) == 0;
    size_t n = strcspn(word, equals ? ":=" : ":");
    bool hints = word[n] == ':'; /* of --param:type=float */
    *value = NULL;
    for (size_t i = 0; (o = command_option(c, i)) != NULL; i++)
        if (name_match(c, o, word, n, false) && (!hints || o->type == OPTION_STEP)) {
            *value = word[n] == '=' ? word + n + 1 : NULL;
            return o;
        }
    for (size_t i = 0; (o = command_option(c, i)) != NULL; i++) {
        size_t length = o->joined ? name_match(c, o, word, 0, true) : 0;
        if (length) {
            *value = word + length;
            return o;
        }
    }
    return NULL;
}

/* How many values it takes: "W H" are two. */
static int value_count(const struct option *o)
{
    int n = 0;
    for (const char *p = o->value ? o->value : ""; *p; p += strspn(p, " "), n++)
        p += strcspn(p, " ");
    return n;
}

static int bad_use(const struct command *c, struct text *message)
{
    (void)fprintf(stderr, "isophote: %s\nusage: %s\n", message->data ? message->data : "",
                  c->usage);
    text_free(message);
    return EXIT_BAD_INPUT;
}

static int unknown_option(const struct command *c, const char *word)
{
    struct text t = {0}, names = {0};
    const struct option *o;
    for (size_t i = 0; (o = command_option(c, i)) != NULL; i++)
        text_printf(&names, "%s ", o->names);
    text_printf(&t, "unknown option '%s'", word);
    nearest_print(word, names.data ? names.data : "", &t);
    text_free(&names);
    return bad_use(c, &t);
}

/* ---- parsing -------------------------------------------------------------------------------- */

static bool option_set(const struct option *o, const char *written, char **values, void *settings,
                       struct arguments *args)
{
    char *target = (char *)settings + o->at;
    if (o->given)
        *(bool *)((char *)settings + o->given) = true;
    if (o->type == OPTION_STEP)
        args->steps[args->step_count++] = (struct step){o->step, written, values};
    if (o->value && (o->writes || o->reads))
        args->files[args->file_count++] = (struct file_use){o, values[value_count(o) - 1]};
    if (o->value && o->folder)
        args->folders[args->folder_count++] = values[0];
    if (o->type == OPTION_FORCE) {
        args->force = true;
        file_kinds_forced();
    }
    if (o->type == OPTION_STEP || o->type == OPTION_IGNORED || o->type == OPTION_FORCE)
        return true;
    if (o->type == OPTION_TIMEOUT)
        target = (char *)&args->timeout_s;
    if (o->type == OPTION_MEMORY)
        target = (char *)&args->memory;
    if (o->type == OPTION_TEXTURE_MEMORY)
        target = (char *)&args->texture_memory;
    return option_take(o, o->type == OPTION_LEVEL ? written : o->value ? values[0] : "", target);
}

/* The option at argv[*i], whose last value argv[*i] is then. -1 to go on. */
static int parse_option(const struct command *c, int argc, char **argv, int *i, void *settings,
                        struct arguments *args)
{
    struct text t = {0};
    char *word = argv[*i], *one;
    const struct option *o = option_find(c, word, &one);
    if (!o)
        return unknown_option(c, word);
    int count = value_count(o);
    char **values = one ? &one : argv + *i + 1;
    if (one && count == 0)
        text_printf(&t, "this option takes no value: '%s'", word);
    else if (one && (count > 1 || o->type == OPTION_STEP))
        text_printf(&t, "its values stand behind the option: '%s'", word);
    else if (!one && *i + count >= argc)
        text_printf(&t, "no value for '%s': expected %s", word, o->value);
    if (t.data)
        return bad_use(c, &t);
    *i += one ? 0 : count;
    if (option_set(o, word, values, settings, args))
        return -1;
    print_expected(o, &t);
    (void)fprintf(stderr, "isophote: %.*s %s: expected %s\n",
                  one ? (int)strcspn(o->names, " ") : (int)strlen(word), one ? o->names : word,
                  values[0], t.data ? t.data : "");
    text_free(&t);
    return EXIT_BAD_INPUT;
}

static bool asks_help(const struct command *c, const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 ||
           (c->one_dash && (strcmp(word, "-help") == 0 || strcmp(word, "--h") == 0));
}

/* -1 to go on. */
static int parse(const struct command *c, int argc, char **argv, void *settings,
                 struct arguments *args)
{
    struct text t = {0};
    bool only_args = false;
    for (int i = 1; i < argc; i++) {
        char *word = argv[i];
        if (only_args || word[0] != '-' || !word[1]) {
            args->words[args->count++] = word;
            if (c->reads)
                args->files[args->file_count++] = (struct file_use){NULL, word};
            if (c->argument_step)
                args->steps[args->step_count++] = (struct step){c->argument_step, word, argv + i};
        } else if (strcmp(word, "--") == 0) {
            only_args = true;
        } else if (asks_help(c, word)) {
            command_print_help(c, &t);
            (void)fputs(t.data ? t.data : "", stdout);
            text_free(&t);
            return EXIT_PASS;
        } else {
            int status = parse_option(c, argc, argv, &i, settings, args);
            if (status >= 0)
                return status;
        }
    }
    if (args->count >= c->min_args && args->count <= c->max_args)
        return -1;
    text_puts(&t, args->count < c->min_args ? "an argument is missing" : "too many arguments");
    return bad_use(c, &t);
}

int command_run(const struct command *c, int argc, char **argv)
{
    void *settings = calloc(1, c->settings_size ? c->settings_size : 1);
    struct arguments args = {.words = calloc((size_t)argc, sizeof(char *)),
                             .steps = calloc((size_t)argc, sizeof(struct step)),
                             .files = calloc((size_t)argc, sizeof(struct file_use)),
                             .folders = calloc((size_t)argc, sizeof(char *))};
    struct error err = {0};
    const struct option *o;
    int status = EXIT_BAD_INPUT;
    if (!settings || !args.words || !args.steps || !args.files || !args.folders) {
        (void)fputs("isophote: out of memory\n", stderr);
    } else {
        for (size_t i = 0; (o = command_option(c, i)) != NULL; i++)
            if (o->preset)
                (void)option_take(o, o->preset, (char *)settings + o->at);
        status = parse(c, argc, argv, settings, &args);
        if (status < 0)
            stop_after(args.timeout_s);
        if (status < 0 && args.memory)
            memory_allow(args.memory);
        if (status < 0 && args.texture_memory)
            texture_memory_allow(args.texture_memory);
        if (status < 0)
            status =
                files_check(c, &args, &err) ? report_error(&err, false) : c->run(settings, &args);
        for (size_t i = 0; (o = command_option(c, i)) != NULL; i++)
            if (o->type == OPTION_LIST) { /* two rows may have one list */
                struct option_list *l = (struct option_list *)((char *)settings + o->at);
                free((void *)l->items);
                *l = (struct option_list){0};
            }
    }
    free(settings);
    free((void *)args.words);
    free(args.steps);
    free(args.files);
    free((void *)args.folders);
    return status;
}

enum status steps_run(const struct arguments *args, void *settings, struct error *err)
{
    enum status s = STATUS_OK;
    for (size_t i = 0; i < args->step_count && s == STATUS_OK; i++)
        s = args->steps[i].run(settings, args->steps[i].written, args->steps[i].values, err);
    return s;
}

void render_job_fill(const struct render_options *o, const struct scene *s, struct render_job *job)
{
    memset(job, 0, sizeof *job);
    job->width = o->width;
    job->height = o->height;
    scene_picture_size(s, &job->width, &job->height);
    job->sample_count = o->spp ? o->spp : s->spp;
    job->max_depth = o->max_depth ? o->max_depth : s->max_depth;
    job->rr_depth = o->rr_given ? o->rr_depth : s->rr_depth;
    job->seed = o->seed_given ? o->seed : s->seed;
    job->set = o->set;
}
