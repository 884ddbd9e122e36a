#include "cli.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void print_options(const struct option *o, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char left[64];
        snprintf(left, sizeof left, "%s%s%s", o[i].name, o[i].value ? " " : "",
                 o[i].value ? o[i].value : "");
        if (strlen(left) > 24)
            printf("  %s\n  %-24s  %s\n", left, "", o[i].help);
        else
            printf("  %-24s  %s\n", left, o[i].help);
    }
}

static void print_help(const struct command_line *c)
{
    printf("usage: %s\n\n%s\n", c->usage, c->summary);
    if (c->option_count) {
        printf("\noptions\n");
        print_options(c->options, c->option_count);
    }
    if (c->common_count) {
        printf("\noptions that mean the same everywhere\n");
        print_options(c->common, c->common_count);
    }
    printf("  %-24s  %s\n", "--help", "show this text");
    if (c->examples)
        printf("\nexamples\n%s", c->examples);
    printf("\nexit status: 0 pass; 1 a finding; 2 bad use or input; 77 nothing could run; 130 "
           "interrupted\n");
}

static bool parse_u64(const char *s, uint64_t max, uint64_t *out)
{
    if (!isdigit((unsigned char)*s))
        return false;
    char *end;
    errno = 0;
    unsigned long long v = strtoull(s, &end, 10);
    if (errno || *end || v > max)
        return false;
    *out = v;
    return true;
}

static bool parse_pair(const char *s, uint32_t out[2])
{
    const char *x = strchr(s, 'x');
    char first[16];
    uint64_t a, b;
    if (!x || (size_t)(x - s) >= sizeof first)
        return false;
    memcpy(first, s, (size_t)(x - s));
    first[x - s] = 0;
    if (!parse_u64(first, 65536, &a) || !parse_u64(x + 1, 65536, &b) || a == 0 || b == 0)
        return false;
    out[0] = (uint32_t)a;
    out[1] = (uint32_t)b;
    return true;
}

/* Finds `value` among the names of an enumeration. */
static bool parse_name(const char *value, const char *(*name)(int), int count, int *out)
{
    for (int i = 0; i < count; i++)
        if (strcmp(value, name(i)) == 0) {
            *out = i;
            return true;
        }
    return false;
}
static const char *mode_name(int i) { return math_mode_name((enum math_mode)i); }
static const char *bvh_name(int i) { return bvh_kind_name((enum bvh_kind)i); }
static const char *model_name(int i) { return exec_model_name((enum exec_model)i); }
static const char *cache_name(int i) { return cache_preference_name((enum cache_preference)i); }
static const char *code_name(int i) { return code_path_name((enum code_path)i); }

/* What was expected, or NULL when the value was taken. */
static const char *option_take(const struct option *o, const char *v)
{
    uint64_t u;
    int e;
    switch (o->type) {
    case OPTION_FLAG:
        *(bool *)o->target = true;
        return NULL;
    case OPTION_STRING:
        if (!*v)
            return "a text that is not empty";
        *(const char **)o->target = v;
        return NULL;
    case OPTION_LIST: {
        struct option_list *l = o->target;
        const char **items = realloc(l->items, (l->count + 1) * sizeof *items);
        if (!items)
            return "more memory";
        items[l->count++] = v;
        l->items = items;
        return NULL;
    }
    case OPTION_UINT:
        if (!parse_u64(v, UINT32_MAX, &u))
            return "a whole number from 0 to 4294967295";
        *(uint32_t *)o->target = (uint32_t)u;
        return NULL;
    case OPTION_COUNT:
        if (!parse_u64(v, UINT32_MAX, &u) || u == 0)
            return "a whole number from 1 to 4294967295";
        *(uint32_t *)o->target = (uint32_t)u;
        return NULL;
    case OPTION_SIDE: /* what files of pictures hold, and scenes may ask for */
        if (!parse_u64(v, 32768, &u) || u == 0)
            return "a whole number from 1 to 32768";
        *(uint32_t *)o->target = (uint32_t)u;
        return NULL;
    case OPTION_UINT64:
        if (!parse_u64(v, UINT64_MAX, &u))
            return "a whole number from 0 to 18446744073709551615";
        *(uint64_t *)o->target = u;
        return NULL;
    case OPTION_DOUBLE: {
        char *end;
        double d = strtod(v, &end);
        if (end == v || *end || !isfinite(d))
            return "a finite number";
        *(double *)o->target = d;
        return NULL;
    }
    case OPTION_PAIR:
        return parse_pair(v, o->target) ? NULL : "two whole numbers from 1 to 65536, as in 8x4";
    case OPTION_MODE:
        if (!parse_name(v, mode_name, MODE_FAST + 1, &e))
            return "strict, device or fast";
        *(enum math_mode *)o->target = (enum math_mode)e;
        return NULL;
    case OPTION_BVH:
        if (!parse_name(v, bvh_name, BVH_COUNT, &e))
            return "auto, bvh2, bvh8 or bvh8c";
        *(enum bvh_kind *)o->target = (enum bvh_kind)e;
        return NULL;
    case OPTION_MODEL:
        if (!parse_name(v, model_name, MODEL_MEGAKERNEL + 1, &e))
            return "megakernel";
        *(enum exec_model *)o->target = (enum exec_model)e;
        return NULL;
    case OPTION_CODE:
        if (!parse_name(v, code_name, CODE_COUNT, &e))
            return "auto, source or llvm";
        *(enum code_path *)o->target = (enum code_path)e;
        return NULL;
    case OPTION_CACHE:
        if (!parse_name(v, cache_name, CACHE_COUNT, &e))
            return "auto, l1, shared or equal";
        *(enum cache_preference *)o->target = (enum cache_preference)e;
        return NULL;
    }
    return "nothing";
}

static const struct option *option_find(const struct command_line *c, const char *name, size_t len)
{
    for (size_t i = 0; i < c->option_count; i++)
        if (strlen(c->options[i].name) == len && strncmp(c->options[i].name, name, len) == 0)
            return &c->options[i];
    for (size_t i = 0; i < c->common_count; i++)
        if (strlen(c->common[i].name) == len && strncmp(c->common[i].name, name, len) == 0)
            return &c->common[i];
    return NULL;
}

static int bad_use(const struct command_line *c, const char *what, const char *word,
                   const char *expected)
{
    fprintf(stderr, "isophote: %s '%s'%s%s\nusage: %s\n", what, word, expected ? ": expected " : "",
            expected ? expected : "", c->usage);
    return EXIT_BAD_INPUT;
}

int options_parse(int argc, char **argv, const struct command_line *c, size_t *args)
{
    size_t n = 0;
    bool only_args = false;
    for (int i = 1; i < argc; i++) {
        char *word = argv[i];
        if (only_args || word[0] != '-' || !word[1]) {
            argv[++n] = word;
            continue;
        }
        if (strcmp(word, "--") == 0) {
            only_args = true;
            continue;
        }
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            print_help(c);
            return EXIT_PASS;
        }
        const char *eq = strncmp(word, "--", 2) == 0 ? strchr(word, '=') : NULL;
        const struct option *o = option_find(c, word, eq ? (size_t)(eq - word) : strlen(word));
        if (!o)
            return bad_use(c, "unknown option", word, NULL);
        const char *value = eq ? eq + 1 : NULL;
        if (o->type == OPTION_FLAG && value)
            return bad_use(c, "this option takes no value:", word, NULL);
        if (o->type != OPTION_FLAG && !value) {
            if (i + 1 >= argc)
                return bad_use(c, "no value for", word, o->value);
            value = argv[++i];
        }
        const char *expected = option_take(o, value);
        if (expected) {
            fprintf(stderr, "isophote: %s %s: expected %s\n", o->name, value, expected);
            return EXIT_BAD_INPUT;
        }
        if (o->given)
            *o->given = true;
    }
    if (n < c->min_args || n > c->max_args) {
        fprintf(stderr, "isophote: %s\nusage: %s\n",
                n < c->min_args ? "an argument is missing" : "too many arguments", c->usage);
        return EXIT_BAD_INPUT;
    }
    *args = n;
    return -1;
}

void render_options_init(struct render_options *o)
{
    memset(o, 0, sizeof *o);
    o->launch.mode = MODE_STRICT;
    const struct option rows[] = {
        {"--device", OPTION_LIST, &o->devices, "ID",
         "reference, native, opencl:0 ..., or a part of a device's name", NULL},
        {"--mode", OPTION_MODE, &o->launch.mode, "MODE",
         "strict, device or fast arithmetic (default: strict; of bench and sweep: fast)",
         &o->mode_given},
        {"--spp", OPTION_COUNT, &o->spp, "N", "samples a pixel (default: the scene's)", NULL},
        {"--width", OPTION_SIDE, &o->width, "W",
         "pixels (default: the scene's; beside --height alone what keeps the picture's shape)",
         NULL},
        {"--height", OPTION_SIDE, &o->height, "H",
         "pixels (default: the scene's; beside --width alone what keeps the picture's shape)",
         NULL},
        {"--max-depth", OPTION_COUNT, &o->max_depth, "D",
         "edges of a path: 1 emission only, 2 direct light, 6 five bounces", NULL},
        {"--rr-depth", OPTION_COUNT, &o->rr_depth, "D", "first vertex with Russian roulette",
         &o->rr_given},
        {"--seed", OPTION_UINT64, &o->seed, "S", "of the random numbers", &o->seed_given},
        {"--work-group", OPTION_PAIR, o->launch.work_group, "XxY",
         "work-items of a group (default: the device's choice)", NULL},
        {"--tile", OPTION_PAIR, o->launch.tile, "XxY",
         "pixels of one launch (default: the whole picture)", NULL},
        {"--batch", OPTION_UINT, &o->launch.batch, "N",
         "samples a pixel in one launch (default: the device's choice)", NULL},
        {"--tile-order", OPTION_UINT, &o->launch.tile_order, "K",
         "0 by rows, 1 reversed, 2 shuffled", NULL},
        {"--model", OPTION_MODEL, &o->launch.model, "M", "execution model: megakernel", NULL},
        {"--bvh", OPTION_BVH, &o->launch.bvh, "KIND", "auto, bvh2, bvh8 or bvh8c", NULL},
        {"--registers", OPTION_UINT, &o->launch.registers, "N",
         "most registers a work-item (CUDA, HIP, NVIDIA's OpenCL; default: the device's choice)",
         NULL},
        {"--code-path", OPTION_CODE, &o->launch.code, "PATH",
         "what the device compiles: source, or llvm (docs/contributor/llvm.md); default: auto", NULL},
        {"--cache", OPTION_CACHE, &o->launch.cache, "USE",
         "what fast memory is preferred for (CUDA): auto, l1, shared or equal", NULL},
        {"--bake", OPTION_FLAG, &o->launch.bake, NULL,
         "shaders' parameters are constants of the program: faster, and compiled again when one "
         "changes",
         NULL},
        {"--threads", OPTION_UINT, &o->launch.threads, "N",
         "of the reference and native devices (default: all)", NULL},
        {"--json", OPTION_FLAG, &o->json, NULL, "one JSON document on standard output", NULL},
    };
    _Static_assert(sizeof rows / sizeof *rows <= sizeof o->table / sizeof *o->table,
                   "table too small");
    memcpy(o->table, rows, sizeof rows);
    o->count = sizeof rows / sizeof *rows;
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
    job->launch = o->launch;
}
