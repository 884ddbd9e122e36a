/* SPDX-License-Identifier: Apache-2.0 */
/* isophote shade: runs a shader, or a network of shaders, on a grid of points with no scene. The
 * options bear the names that users of OSL's testshade know. */
#include "cli.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends.h"

/* Rows of a grid that are kept at a time when nothing is written to images. */
enum { ROWS_AT_ONCE = 64 };

/* What the command line asks for. Lists that steps fill have room for one entry a step. */
struct shade_command {
    struct arena arena;
    struct asl_group *group;
    struct asl_options copt;
    struct shade_options opt;
    struct shade_grid grid;
    struct option_list includes, defines, entries, entry_outputs;
    const char **outputs, **files;
    size_t output_count, layers;
    uint32_t iters;
    const char *form; /* of shade_form_names */
    bool print, runstats, json, userdata_isconnected;
    /* these layers run, whether they are pulled or not */
    bool every_layer, layers_of_globals, layers_of_errors;
    bool spoke; /* the shaders printed something */
    bool last;  /* iteration: whose outputs count */
    const char *engine, *layer, *depth, *group_name, *osl_options, *raytype, *colorspace;
    struct reparam {
        const char *layer, *name, *value;
        struct asl_type type;
    } * reparams;
    char ***connections; /* layer, output, layer, parameter */
    struct shade_userdata *user;
    struct shade_space spaces[7];
    size_t reparam_count, connection_count, expressions;
    struct text warnings, said, printed;
    double seconds, processor_s; /* processor_s: of this process alone */
    uint64_t steps;
};

/* ---- steps: options that act in their order ------------------------------------------------- */

static bool read_number(const char *s, double lo, double hi, double *out)
{
    char *end;
    double v = strtod(s, &end);
    if (end == s || *end || !(v >= lo && v <= hi))
        return false;
    *out = v;
    return true;
}

/* "--param:type=float:lockgeom=0": the type stays UNKNOWN when none is written, lockgeom -1.
 * `interactive` means nothing here: every parameter is. */
static enum status option_hints(const char *opt, struct asl_type *type, int *lockgeom,
                                struct error *err)
{
    *type = (struct asl_type){0};
    *lockgeom = -1;
    for (const char *t = strchr(opt, ':'); t; t = strchr(t + 1, ':')) {
        char name[64];
        size_t n = strcspn(t + 1, ":");
        (void)snprintf(name, sizeof name, "%.*s", n < 63 ? (int)n : 63, t + 1);
        enum status st = STATUS_OK;
        if (strncmp(name, "type=", 5) == 0)
            st = asl_type_parse(name + 5, type, err);
        else if (strncmp(name, "lockgeom=", 9) == 0)
            *lockgeom = strcmp(name + 9, "0") != 0;
        else if (strncmp(name, "interpolated=", 13) == 0)
            *lockgeom = strcmp(name + 13, "0") == 0;
        else if (strncmp(name, "interactive=", 12) != 0)
            st = error_msg(err, STATUS_ARG,
                           "'%s': expected ':type=', ':lockgeom=', ':interpolated=' or "
                           "':interactive='",
                           opt);
        if (st != STATUS_OK)
            return st;
    }
    return STATUS_OK;
}

static enum status option_type(const char *opt, struct asl_type *type, struct error *err)
{
    int lockgeom;
    return option_hints(opt, type, &lockgeom, err);
}

/* Reads the shader `name`: itself, or with an extension, here or in the folders of --path. */
static const struct asl_program *load_shader(struct shade_command *s, const char *name,
                                             struct error *err)
{
    static const char *const extensions[] = {"", ".aso", ".asl", ".osl"};
    for (size_t d = 0; d <= s->includes.count; d++) {
        for (size_t e = 0; e < sizeof extensions / sizeof *extensions; e++) {
            char *path = d ? arena_printf(&s->arena, "%s/%s%s", s->includes.items[d - 1], name,
                                          extensions[e])
                           : arena_printf(&s->arena, "%s%s", name, extensions[e]);
            if (!path || access(path, R_OK) != 0)
                continue;
            struct asl_diags diags = {0};
            const struct asl_program *p = NULL;
            enum status st = asl_compile(&s->arena, path, NULL, 0, &s->copt, &diags, &p, err);
            struct text t = {0};
            asl_diags_print(&diags, &t);
            if (t.data)
                (void)fputs(t.data, stderr);
            text_free(&t);
            if (st == STATUS_OK)
                return p;
            if (diags.errors)
                error_msg(err, STATUS_TYPE, "%s does not compile", path);
            return NULL;
        }
    }
    error_msg(err, STATUS_MISSING, "there is no shader '%s' (.aso, .asl or .osl)", name);
    err->code = STATUS_ARG; /* a missing file is bad input, not a missing device */
    return NULL;
}

static const struct asl_program *find_shader(void *ctx, const char *name, struct error *err)
{
    return load_shader(ctx, name, err);
}

static enum status add_layer(struct shade_command *s, const struct asl_program *p,
                             struct error *err)
{
    enum status st = asl_group_layer(s->group, p, NULL, s->layer, &s->warnings, err);
    s->layer = NULL;
    s->layers++;
    return st;
}

static enum status add_shader(void *settings, const char *written, char **v, struct error *err)
{
    const struct asl_program *p = load_shader(settings, v[0], err);
    (void)written;
    return p ? add_layer(settings, p, err) : err->code;
}

static enum status add_named_shader(void *settings, const char *written, char **v,
                                    struct error *err)
{
    ((struct shade_command *)settings)->layer = v[1];
    return add_shader(settings, written, v, err);
}

static enum status name_layer(void *settings, const char *written, char **v, struct error *err)
{
    (void)written;
    (void)err;
    ((struct shade_command *)settings)->layer = v[0];
    return STATUS_OK;
}

static enum status add_expr(void *settings, const char *written, char **v, struct error *err)
{
    struct shade_command *s = settings;
    (void)written;
    struct asl_diags diags = {0};
    const struct asl_program *p = NULL;
    char *name = arena_printf(&s->arena, "expr_%zu", s->expressions++);
    char *source =
        arena_printf(&s->arena,
                     "shader %s(float s = u [[ int interpolated = 1 ]], float t = v [[ int "
                     "interpolated = 1 ]],\noutput color result = 0, output float alpha = 1)\n"
                     "{\n#line 1\n%s\n;}\n",
                     name ? name : "", v[0]);
    if (!name || !source)
        return error_msg(err, STATUS_MEMORY, "out of memory");
    enum status st =
        asl_compile(&s->arena, name, source, strlen(source), &s->copt, &diags, &p, err);
    struct text t = {0};
    asl_diags_print(&diags, &t);
    if (t.data)
        (void)fputs(t.data, stderr);
    text_free(&t);
    return st == STATUS_OK ? add_layer(s, p, err) : st;
}

static enum status add_group(void *settings, const char *written, char **v, struct error *err)
{
    struct shade_command *s = settings;
    const char *text = v[0];
    (void)written;
    const char *file = "--group";
    if (!strpbrk(text, " ;\n")) { /* a file's name */
        char *data;
        size_t size;
        enum status st = file_read(&s->arena, text, (size_t)64 << 20, &data, &size, err);
        if (st != STATUS_OK)
            return st;
        file = text;
        text = data;
    }
    enum status st = asl_group_parse(s->group, file, text, find_shader, s, &s->warnings, err);
    s->layers = asl_group_layers(s->group);
    return st == STATUS_MISSING ? err->code : st;
}

static enum status add_userdata(void *settings, const char *written, char **argv, struct error *err)
{
    struct shade_command *s = settings;
    struct shade_userdata *u = &s->user[s->opt.userdata_count];
    struct asl_type type; /* asked for when it is read: only its spelling is checked */
    enum status st = option_type(written, &type, err);
    if (st != STATUS_OK)
        return st;
    u->name = argv[0];
    const char *p = argv[1];
    while (u->count < 16) {
        char *end;
        u->v[u->count++] = strtof(p, &end);
        if (end == p)
            return error_msg(err, STATUS_TYPE, "userdata '%s': expected numbers, found '%s'",
                             argv[0], argv[1]);
        p = end + strspn(end, ", ");
        if (!*p)
            break;
    }
    s->opt.userdata_count++;
    return STATUS_OK;
}

/* --param, or --fparam, --iparam, --vparam, --sparam: a float, an int, a triple, a string. */
static enum status set_param(void *settings, const char *written, char **v, struct error *err)
{
    struct shade_command *s = settings;
    struct asl_type type;
    int lockgeom;
    const char *name = written + strspn(written, "-");
    enum status st = option_hints(written, &type, &lockgeom, err);
    if (name[0] != 'p')
        type.base = name[0] == 'f'   ? ASL_FLOAT
                    : name[0] == 'i' ? ASL_INT
                    : name[0] == 'v' ? ASL_VECTOR
                                     : ASL_STRING;
    if (st == STATUS_OK)
        st = asl_group_param(s->group, &type, v[0], v[1], err);
    if (st == STATUS_OK && lockgeom >= 0)
        asl_group_hint(s->group, lockgeom);
    return st;
}

static enum status add_reparam(void *settings, const char *written, char **v, struct error *err)
{
    struct shade_command *s = settings;
    struct reparam *r = &s->reparams[s->reparam_count++];
    *r = (struct reparam){.layer = v[0], .name = v[1], .value = v[2]};
    return option_type(written, &r->type, err);
}

static enum status add_connection(void *settings, const char *written, char **v, struct error *err)
{
    struct shade_command *s = settings;
    (void)written;
    (void)err;
    s->connections[s->connection_count++] = v;
    return STATUS_OK;
}

static enum status add_output(void *settings, const char *written, char **v, struct error *err)
{
    struct shade_command *s = settings;
    (void)written;
    (void)err;
    s->outputs[s->output_count] = v[0];
    s->files[s->output_count++] = v[1];
    return STATUS_OK;
}

static enum status set_grid(void *settings, const char *written, char **v, struct error *err)
{
    struct shade_grid *grid = &((struct shade_command *)settings)->grid;
    double x, y;
    if (!read_number(v[0], 1, 65536, &x) || !read_number(v[1], 1, 65536, &y))
        return error_msg(err, STATUS_ARG,
                         "%s %s %s: expected two whole numbers from 1 to 65536, as in %s 256 256",
                         written, v[0], v[1], written);
    grid->width = (uint32_t)x;
    grid->height = (uint32_t)y;
    return STATUS_OK;
}

/* --offsetuv, --scaleuv, and their old names. */
static enum status set_uv(void *settings, const char *written, char **v, struct error *err)
{
    struct shade_grid *grid = &((struct shade_command *)settings)->grid;
    double *to = written[strspn(written, "-")] == 'o' ? grid->offset : grid->scale;
    if (read_number(v[0], -1e30, 1e30, &to[0]) && read_number(v[1], -1e30, 1e30, &to[1]))
        return STATUS_OK;
    return error_msg(err, STATUS_ARG, "%s %s %s: expected two numbers", written, v[0], v[1]);
}

/* "error_repeats=1,lazylayers=0": those of OSL's options that change what a shader does. */
static void read_options(struct shade_command *s, const char *text)
{
    for (const char *p = text; *p; p += strcspn(p, ","), p += strspn(p, ", ")) {
        if (strncmp(p, "error_repeats=", 14) == 0)
            s->opt.error_repeats = p[14] != '0';
        else if (strncmp(p, "lazylayers=", 11) == 0)
            s->every_layer = p[11] == '0';
        else if (strncmp(p, "lazyglobals=", 12) == 0)
            s->layers_of_globals = p[12] == '0';
        else if (strncmp(p, "lazyerror=", 10) == 0)
            s->layers_of_errors = p[10] == '0';
    }
}

/* The group, and its shaders as the steps say. */
static enum status make_group(struct shade_command *s, const struct arguments *args,
                              struct error *err)
{
    s->copt.include_dirs = s->includes.items;
    s->copt.defines = s->defines.items;
    s->opt.outputs = s->outputs;
    s->opt.userdata = s->user;
    s->grid.raytype = asl_raytype_bit(s->raytype);
    if (!s->grid.raytype)
        return error_msg(err, STATUS_ARG, "--raytype %s: there is no ray type of that name",
                         s->raytype);
    if (s->osl_options)
        read_options(s, s->osl_options);
    enum status st = asl_group_new(&s->arena, s->group_name, &s->group, err);
    if (st == STATUS_OK && s->userdata_isconnected)
        asl_group_userdata_isconnected(s->group);
    if (st == STATUS_OK)
        st = steps_run(args, s, err);
    if (st == STATUS_OK && s->layers == 0)
        st = error_msg(err, STATUS_ARG,
                       "there is no shader; 'isophote shade --help' lists the options");
    return st;
}

/* ---- spaces ---------------------------------------------------------------------------------- */

/* The spaces that OSL's testshade has: matrices to common space, p' = p M. `screen` and those
 * behind it invert its camera of 90 degrees, clipped at 0.1 and 1000. */
static void make_spaces(struct shade_command *s)
{
    const float h = 0.70710678F;     /* 45 degrees about z, then a step in x; 90 and a step in y */
    const float c = -4.37113883e-8F; /* the cosine of half of pi as a float */
    const float w = (float)s->grid.width, t = (float)s->grid.height;
    const float hither = 0.1F, yon = 1000, a = yon / (yon - hither), b = -a * hither;
    const struct shade_space all[] = {
        {"shader", {h, h, 0, 0, -h, h, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1}},
        {"object", {c, 1, 0, 0, -1, c, 0, 0, 0, 0, 1, 0, 0, 1, 0, 1}},
        {"myspace", {1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}},
        {"camera", {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}},
        {"screen", {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1 / b, 0, 0, 1, -a / b}},
        {"NDC", {2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 1 / b, -1, -1, 1, -a / b}},
        {"raster", {2 / w, 0, 0, 0, 0, 2 / t, 0, 0, 0, 0, 0, 1 / b, -1, -1, 1, -a / b}},
    };
    static_assert(sizeof s->spaces == sizeof all, "one place for each");
    memcpy(s->spaces, all, sizeof all);
    s->opt.spaces = s->spaces;
    s->opt.space_count = sizeof all / sizeof *all;
}

/* ---- what was said -------------------------------------------------------------------------- */

static bool said_before(struct shade_command *s, char kind, const char *text)
{
    for (const char *p = s->said.data; p && p < s->said.data + s->said.len; p += strlen(p) + 1)
        if (*p == kind && strcmp(p + 1, text) == 0)
            return true;
    text_append(&s->said, &kind, 1);
    text_append(&s->said, text, strlen(text) + 1);
    return false;
}

/* As testshade says it; where both streams go to one place, in the order of the program. */
static void say_complaint(struct shade_command *s, const struct shade_message *m)
{
    bool error = m->kind == ASL_MSG_ERROR;
    struct text t = {0};
    if (m->to[0])
        text_printf(&t, "Shader %s [%s]: ", error ? "error" : "warning", m->to);
    text_puts(&t, m->text);
    if (t.data && (s->opt.error_repeats || !said_before(s, error ? 'e' : 'w', t.data))) {
        (void)fflush(stdout);
        (void)fprintf(stderr, "%s: %s\n", error ? "ERROR" : "WARNING", t.data);
    }
    text_free(&t);
}

static void say(struct shade_command *s, const struct shade_message *m)
{
    if (m->kind == ASL_PRINT && s->json) {
        text_puts(&s->printed, m->text);
    } else if (m->kind == ASL_PRINT) {
        (void)fputs(m->text, stdout);
    } else if (m->kind == ASL_FPRINT) {
        FILE *f = fopen(m->to, "ab");
        if (f) {
            (void)fputs(m->text, f);
            (void)fclose(f);
        } else if (!said_before(s, 'e', m->to)) {
            (void)fprintf(stderr, "error: fprintf: %s cannot be written\n", m->to);
        }
    } else {
        say_complaint(s, m);
    }
}

static void print_word(struct text *t, const struct shade_result *r, enum asl_base scalar,
                       uint32_t word)
{
    float f;
    memcpy(&f, &word, sizeof f);
    if (scalar == ASL_INT)
        text_printf(t, "%d", (int32_t)word);
    else if (scalar == ASL_FLOAT)
        text_printf(t, "%g", (double)f);
    else
        text_puts(t, r->strings[word]);
}

static void print_outputs(struct shade_command *s, const struct shade_result *r, size_t first,
                          size_t i)
{
    struct text t = {0};
    text_printf(&t, "Pixel (%zu, %zu):\n", (first + i) % s->grid.width,
                (first + i) / s->grid.width);
    for (size_t k = 0; k < r->output_count; k++) {
        const struct shade_output *o = &r->outputs[k];
        text_printf(&t, "  %s :", o->name);
        for (size_t j = 0; o->ran[i] && j < o->slots; j++) {
            text_puts(&t, " ");
            print_word(&t, r, asl_type_scalar(o->type, j), o->words[i * o->slots + j]);
        }
        text_puts(&t, o->ran[i] ? "\n" : " not computed\n");
    }
    say(s, &(struct shade_message){.kind = ASL_PRINT, .to = "", .text = t.data ? t.data : ""});
    text_free(&t);
}

/* Messages and printed outputs in the order of points. */
static void speak(struct shade_command *s, const struct shade_result *r, size_t first)
{
    size_t m = 0;
    for (size_t i = 0; s->print && s->last && i < r->count; i++) {
        while (m < r->message_count && r->messages[m].point <= first + i)
            say(s, &r->messages[m++]);
        print_outputs(s, r, first, i);
    }
    while (m < r->message_count)
        say(s, &r->messages[m++]);
}

/* ---- images --------------------------------------------------------------------------------- */

static bool is_tiff(const char *file)
{
    return path_ends(file, ".tif") || path_ends(file, ".tiff");
}

static bool as_bytes(const struct shade_command *s)
{
    return s->depth && strcmp(s->depth, "uint8") == 0;
}

static enum status check_output(const struct shade_command *s, const struct shade_output *o,
                                const char *file, struct error *err)
{
    if (!is_tiff(file) && !image_writes(file))
        return error_msg(err, STATUS_ARG,
                         "cannot write %s: expected a name ending with .exr, .tif, .pfm or .png",
                         file);
    if (s->depth && !is_tiff(file) && as_bytes(s) != path_ends(file, ".png"))
        return error_msg(err, STATUS_ARG,
                         "%s cannot hold %s; .png holds uint8, .exr and .pfm float, .tif both",
                         file, s->depth);
    enum asl_base scalar = o->slots ? asl_type_scalar(o->type, 0) : ASL_VOID;
    if ((o->slots == 1 || o->slots == 3) && (scalar == ASL_INT || scalar == ASL_FLOAT)) {
        if ((size_t)s->grid.width * s->grid.height > (size_t)1 << 28)
            return error_msg(
                err, STATUS_LIMIT,
                "a grid of %u x %u points is too large for an image; at most 2^28 points",
                s->grid.width, s->grid.height);
        return STATUS_OK;
    }
    char t[ASL_TYPE_TEXT_SIZE];
    return error_msg(err, STATUS_ARG,
                     "output '%s' is a %s: an image holds numbers and triples (--print shows it)",
                     o->name, asl_type_text(o->type, t, sizeof t));
}

/* `channels` floats a point: the slots, or the one slot that there is. */
static float *output_floats(const struct shade_output *o, size_t points, size_t channels)
{
    float *v = malloc(points * channels * sizeof *v);
    for (size_t i = 0; v && i < points * channels; i++) {
        size_t slot = o->slots == channels ? i % channels : 0;
        uint32_t word = o->words[i / channels * o->slots + slot];
        if (asl_type_scalar(o->type, slot) == ASL_INT)
            v[i] = (float)(int32_t)word;
        else
            memcpy(&v[i], &word, sizeof word);
    }
    return v;
}

static enum status write_output(const struct shade_command *s, const struct shade_output *o,
                                const char *file, struct error *err)
{
    size_t points = (size_t)s->grid.width * s->grid.height;
    bool exr = path_ends(file, ".exr"), tiff = is_tiff(file);
    size_t channels = exr || tiff ? o->slots : 3;
    float *v = output_floats(o, points, channels);
    if (!v)
        return error_msg(err, STATUS_MEMORY, "out of memory");
    enum status st;
    if (exr) {
        static const char *const names[] = {"R", "G", "B"};
        struct image_channel c[3];
        for (size_t k = 0; k < channels; k++)
            c[k] = (struct image_channel){channels == 1 ? "Y" : names[k], v + k, channels};
        st = image_write_exr(file, s->grid.width, s->grid.height, c, channels, NULL, err);
    } else if (tiff) {
        st = image_write_tiff(file, s->grid.width, s->grid.height, v, (uint32_t)channels,
                              as_bytes(s), err);
    } else {
        st = image_write(file, s->grid.width, s->grid.height, v, TONE_LINEAR, 1.0, err);
    }
    free(v);
    return st;
}

static enum status write_outputs(struct shade_command *s, const struct shade_result *r,
                                 struct error *err)
{
    enum status st = STATUS_OK;
    for (size_t i = 0; st == STATUS_OK && i < r->output_count; i++) {
        if (strcmp(s->files[i], "null") != 0)
            st = write_output(s, &r->outputs[i], s->files[i], err);
    }
    return st;
}

/* ---- all ------------------------------------------------------------------------------------ */

/* Runs the grid `iterations` times; *images (if not NULL) gets the result. */
static enum status run_grid(struct shade_command *s, struct shade *shade, uint32_t iterations,
                            struct shade_result *images, struct error *err)
{
    size_t all = (size_t)s->grid.width * s->grid.height;
    struct shade_points p = {.grid = s->grid, .iterations = iterations};
    size_t step = images ? all : (size_t)s->grid.width * ROWS_AT_ONCE;
    for (p.first = 0; p.first < all; p.first += step) {
        struct shade_result r = {0};
        p.count = all - p.first < step ? all - p.first : step;
        const double begin = processor_s();
        enum status st = shade_run(shade, &p, &r, err);
        if (st != STATUS_OK)
            return st;
        s->processor_s += processor_s() - begin;
        s->seconds += r.run_s;
        s->steps += r.steps;
        s->spoke = s->spoke || r.message_count;
        speak(s, &r, p.first);
        if (r.failure_count) {
            *err = r.failures[0].error;
            st = err->code;
        }
        if (images && st == STATUS_OK)
            *images = r;
        else
            shade_result_free(&r);
        if (st != STATUS_OK)
            return st;
    }
    return STATUS_OK;
}

/* Parameters change after the first iteration. Iterations of what prints nothing are one run, which
 * times them best. */
static enum status run_all(struct shade_command *s, struct shade *shade,
                           struct shade_result *images, struct error *err)
{
    s->last = s->iters == 1;
    if (s->last)
        return run_grid(s, shade, 1, images, err);
    enum status st = run_grid(s, shade, 1, NULL, err);
    for (size_t k = 0; st == STATUS_OK && k < s->reparam_count; k++)
        st = asl_group_reparam(s->group, s->reparams[k].layer, &s->reparams[k].type,
                               s->reparams[k].name, s->reparams[k].value, err);
    for (uint32_t left = s->iters - 1; st == STATUS_OK && left;) {
        uint32_t n = s->spoke && left > 1 ? 1 : left;
        s->last = left == n;
        st = run_grid(s, shade, n, s->last ? images : NULL, err);
        left -= n;
    }
    return st;
}

static void operations_line(const struct asl_code *code, size_t layer, const char *name)
{
    struct asl_code_stats t = asl_code_stats(code, layer);
    (void)fprintf(stderr,
                  "%s: %zu operations -> %zu, %zu symbols -> %zu, %zu with derivatives -> %zu, "
                  "%zu moved out of loops\n",
                  name, t.ops_before, t.ops_after, t.symbols_before, t.symbols_after,
                  t.derivs_before, t.derivs_after, t.moved);
}

/* Which work a grid shares: of programs that the engine `grid` takes. */
static void uniform_line(const struct asl_code *code)
{
    struct asl_grid *g = NULL;
    if (asl_grid_new(code, NULL, 1, NULL, NULL, &g, NULL) != STATUS_OK)
        return;
    const struct asl_grid_shape shape = asl_grid_shape(g);
    (void)fprintf(stderr, "%zu of %zu operations are the same at all points\n", shape.uniform,
                  shape.operations);
    asl_grid_free(g);
}

/* Of the engine `grid`: what a point asks for, and how much of that its grid did once. */
static void work_line(const struct shade_info *info)
{
    const struct asl_grid_work *w = &info->work;
    const double points = (double)info->work_points;
    if (info->work_points)
        (void)fprintf(stderr, "a point takes %.1f operations: %.1f of its own, %.1f shared\n",
                      (double)(w->varying + w->uniform + w->spared) / points,
                      (double)w->varying / points, (double)(w->uniform + w->spared) / points);
}

/* What the optimiser made of each layer, for the outputs that are asked for. */
static void operations(const struct shade_command *s)
{
    struct arena a = {0};
    struct asl_code *code = NULL;
    const struct asl_lower_options o = {.level = (int)s->opt.level,
                                        .bake = s->opt.bake,
                                        .outputs = s->opt.outputs,
                                        .stay_in_loops = s->opt.stay_in_loops};
    if (asl_lower(&a, s->group, &o, &code, NULL) == STATUS_OK) {
        size_t n = asl_group_layers(s->group);
        for (size_t i = 0; i < n; i++)
            operations_line(code, i, asl_group_layer_name(s->group, i));
        operations_line(code, SIZE_MAX, "all layers");
        struct asl_code_stats t = asl_code_stats(code, SIZE_MAX);
        (void)fprintf(stderr, "%zu of %zu layers run\n", t.layers_after, t.layers_before);
        uniform_line(code);
    }
    arena_free(&a);
}

static void statistics(const struct shade_command *s, const struct shade *shade)
{
    const struct shade_info *info = shade_describe(shade);
    double points = (double)s->grid.width * s->grid.height * s->iters;
    (void)fprintf(stderr,
                  "engine %s (%s), %u threads: %.0f points, %.4f s, %.1f ns a point, %.1f steps a "
                  "point, %zu MB peak\n",
                  info->engine, info->device, info->threads, points, s->seconds,
                  s->seconds / points * 1e9, (double)s->steps / points, memory_peak() >> 20);
    if (info->compile_s > 0)
        (void)fprintf(stderr, "translated in %.4f s, compiled in %.4f s%s\n", info->translate_s,
                      info->compile_s, info->cached ? " (from the cache)" : "");
    if (strcmp(info->engine, "interp") != 0)
        operations(s);
    if (info->uniform_operations)
        (void)fprintf(stderr,
                      "%zu operations run once a grid, and leave %zu values to its points\n",
                      info->uniform_operations, info->uniform_words);
    work_line(info);
}

static bool json_report(struct shade_command *s, const struct shade *shade)
{
    const struct shade_info *info = shade_describe(shade);
    struct json_writer w = {.pretty = true};
    json_begin_object(&w);
    json_key_string(&w, "engine", info->engine);
    json_key_string(&w, "device", info->device);
    json_key_integer(&w, "threads", info->threads);
    json_key_integer(&w, "width", s->grid.width);
    json_key_integer(&w, "height", s->grid.height);
    json_key_integer(&w, "iters", s->iters);
    json_key_number(&w, "translate_s", info->translate_s);
    json_key_number(&w, "compile_s", info->compile_s);
    json_key_bool(&w, "cached", info->cached);
    json_key_integer(&w, "uniform_operations", (int64_t)info->uniform_operations);
    json_key_integer(&w, "uniform_values", (int64_t)info->uniform_words);
    json_key_number(&w, "shade_s", s->seconds);
    json_key_number(&w, "processor_s", s->processor_s);
    json_key_integer(&w, "steps", (int64_t)s->steps);
    json_key_string(&w, "printed", s->printed.data ? s->printed.data : "");
    json_key(&w, "outputs");
    json_begin_array(&w);
    for (size_t i = 0; i < s->output_count; i++) {
        json_begin_object(&w);
        json_key_string(&w, "name", s->outputs[i]);
        json_key_string(&w, "file", s->print ? NULL : s->files[i]);
        json_end_object(&w);
    }
    json_end_array(&w);
    json_end_object(&w);
    bool ok = json_print(&w);
    text_free(&w.out);
    return ok;
}

/* A name of which there is none is bad input, not a missing device. */
static enum status bad_name(enum status st, struct error *err)
{
    if (st != STATUS_MISSING)
        return st;
    err->code = STATUS_ARG;
    return STATUS_ARG;
}

/* What testshade writes to standard output beside what shaders print: connections, an empty line,
 * outputs; and an empty line at the end when no output is asked for. */
static enum status connect_layers(struct shade_command *s, struct error *err)
{
    enum status st = STATUS_OK;
    for (size_t i = 0; st == STATUS_OK && i < s->connection_count; i++) {
        char **e = s->connections[i];
        if (!s->json)
            printf("Connect %s.%s to %s.%s\n", e[0], e[1], e[2], e[3]);
        (void)fflush(stdout);
        st = bad_name(asl_group_connect(s->group, e[0], e[1], e[2], e[3], err), err);
    }
    return st;
}

static void note_error(void *ctx, const char *builtin, struct src_pos at)
{
    (void)at;
    *(bool *)ctx |= strcmp(builtin, "error") == 0;
}

/* *eager: do the options let the layer run whether it is pulled or not? The last runs anyway. */
static enum status layer_is_eager(const struct shade_command *s, size_t layer, bool *eager,
                                  struct error *err)
{
    bool errors = false;
    struct asl_survey survey = {.ctx = &errors, .call = note_error};
    if (s->layers_of_errors)
        TRY(asl_group_survey_layer(s->group, layer, &survey, err));
    *eager = s->every_layer || layer + 1 == asl_group_layers(s->group) || errors ||
             (s->layers_of_globals && asl_group_layer_globals(s->group, layer));
    return STATUS_OK;
}

/* The layers that make the outputs named, else those named themselves, else those that the options
 * let run before anything pulls them. */
static enum status add_entries(struct shade_command *s, struct error *err)
{
    enum status st = STATUS_OK;
    size_t n = asl_group_layers(s->group);
    const bool named = s->entries.count || s->entry_outputs.count,
               some = !named && (s->every_layer || s->layers_of_globals || s->layers_of_errors);
    for (size_t i = 0; st == STATUS_OK && some && i < n; i++) {
        bool eager = false;
        st = layer_is_eager(s, i, &eager, err);
        if (st == STATUS_OK && eager)
            st = asl_group_entry(s->group, asl_group_layer_name(s->group, i), err);
    }
    for (size_t i = 0; st == STATUS_OK && i < s->entry_outputs.count; i++) {
        const char *name = s->entry_outputs.items[i], *dot = strchr(name, '.');
        const char *layer = dot ? arena_printf(&s->arena, "%.*s", (int)(dot - name), name)
                                : asl_group_layer_name(s->group, n - 1);
        st = layer ? asl_group_entry(s->group, layer, err)
                   : error_msg(err, STATUS_MEMORY, "out of memory");
    }
    for (size_t i = 0; st == STATUS_OK && s->entry_outputs.count == 0 && i < s->entries.count; i++)
        st = asl_group_entry(s->group, s->entries.items[i], err);
    return bad_name(st, err);
}

static void announce_entries(const struct shade_command *s)
{
    if (s->entries.count == 0 || s->json)
        return;
    (void)fputs("Entry layers:", stdout);
    for (size_t i = 0; i < s->entries.count; i++)
        for (size_t k = 0; k < asl_group_layers(s->group); k++)
            if (strcmp(asl_group_layer_name(s->group, k), s->entries.items[i]) == 0)
                printf(" %s(%zu)", s->entries.items[i], k);
    (void)puts("");
}

static void announce_outputs(const struct shade_command *s)
{
    if (s->output_count && !s->json)
        (void)puts("");
    announce_entries(s);
    if (s->json)
        return;
    for (size_t i = 0; i < s->output_count; i++)
        if (strcmp(s->files[i], "null") != 0)
            printf("Output %s to %s\n", s->outputs[i], s->files[i]);
    if (s->entry_outputs.count)
        (void)fputs("Entry outputs:", stdout);
    for (size_t i = 0; i < s->entry_outputs.count; i++)
        printf(" %s", s->entry_outputs.items[i]);
    if (s->entry_outputs.count)
        (void)puts("");
    (void)fflush(stdout);
}

static bool nothing_is_kept(const struct shade_command *s)
{
    return s->output_count == 0 || (s->output_count == 1 && strcmp(s->files[0], "null") == 0);
}

/* From the group to shaders that can run. `textures` live as long as the arena. */
static enum status open_shade(struct shade_command *s, struct shader_images *textures,
                              struct shade **shade, struct error *err)
{
    enum status st = connect_layers(s, err);
    for (size_t i = 0; st == STATUS_OK && i < s->output_count; i++)
        asl_group_output(s->group, s->outputs[i]);
    if (st == STATUS_OK)
        st = add_entries(s, err);
    if (st == STATUS_OK)
        st = asl_group_finish(s->group, err);
    if (st == STATUS_OK) /* beside the current folder's files */
        st = shader_images_load(&s->arena, "shade", s->group, textures, err);
    warn_of_images(textures);
    s->opt.images = textures;
    for (int i = 0; i < SHADE_FORM_COUNT; i++)
        if (strcmp(s->form, shade_form_names[i]) == 0)
            s->opt.form = (enum shade_form)i;
    if (st == STATUS_OK && s->opt.form != SHADE_ROWS && strcmp(s->engine, "native") != 0)
        return error_msg(err, STATUS_ARG, "--form %s: the engine native alone has forms", s->form);
    return st == STATUS_OK ? shade_open(s->engine, s->group, &s->opt, shade, err) : st;
}

static enum status check_outputs(const struct shade_command *s, const struct shade_output *o,
                                 size_t n, struct error *err)
{
    enum status st = STATUS_OK;
    for (size_t i = 0; st == STATUS_OK && !s->print && i < n; i++)
        if (strcmp(s->files[i], "null") != 0 &&
            (st = check_output(s, &o[i], s->files[i], err)) == STATUS_OK)
            st = output_check(s->files[i], err);
    return st;
}

static int run_command(struct shade_command *s)
{
    struct error err = {0};
    struct shade *shade = NULL;
    struct shade_result images = {0};
    struct shader_images textures = {0};
    size_t n = 0;
    if (s->warnings.data)
        (void)fprintf(stderr, "warning: %s", s->warnings.data);
    const char *waiting = asl_group_waiting(s->group);
    if (waiting)
        (void)fprintf(stderr, "warning: '%s' is set behind the last shader: no shader takes it\n",
                      waiting);
    enum status st = open_shade(s, &textures, &shade, &err);
    const struct shade_output *o = shade ? shade_outputs(shade, &n) : NULL;
    if (st == STATUS_OK && (st = check_outputs(s, o, n, &err)) == STATUS_OK) {
        announce_outputs(s);
        st = run_all(s, shade, !s->print && n ? &images : NULL, &err);
    }
    if (st == STATUS_OK && !s->json && nothing_is_kept(s))
        (void)puts("");
    (void)fflush(stdout);
    if (st == STATUS_OK)
        st = write_outputs(s, &images, &err);
    int status = st == STATUS_OK ? EXIT_PASS : report_error(&err, st == STATUS_MISSING);
    if (st == STATUS_OK && s->runstats)
        statistics(s, shade);
    if (st == STATUS_OK && s->json && !json_report(s, shade))
        status = EXIT_BAD_INPUT;
    shade_result_free(&images);
    shade_close(shade);
    return status;
}

static int run(void *settings, const struct arguments *args)
{
    struct shade_command *s = settings;
    struct error err = {0};
    size_t n = args->step_count + 1;
    s->outputs = ARENA_ARRAY(&s->arena, const char *, n);
    s->files = ARENA_ARRAY(&s->arena, const char *, n);
    s->reparams = ARENA_ARRAY(&s->arena, struct reparam, n);
    s->connections = ARENA_ARRAY(&s->arena, char **, n);
    s->user = ARENA_ARRAY(&s->arena, struct shade_userdata, n);
    if (s->grid.width == 0)
        s->grid.width = s->grid.height = 1;
    int status;
    bool room = s->outputs && s->files && s->reparams && s->connections && s->user;
    if (!room)
        error_msg(&err, STATUS_MEMORY, "out of memory");
    if (room && make_group(s, args, &err) == STATUS_OK) {
        make_spaces(s);
        status = run_command(s);
    } else {
        status = report_error(&err, false);
    }
    text_free(&s->warnings);
    text_free(&s->said);
    text_free(&s->printed);
    arena_free(&s->arena);
    return status;
}

#define AT(member)     offsetof(struct shade_command, member)
#define STEP(function) OPTION_STEP, .step = (function)
static const struct option options[] = {
    {"-g -res", STEP(set_grid), .value = "W H", .help = "the grid",
     .otherwise = "one point at u = v = 0.5"},
    {"--center", OPTION_FLAG, AT(grid.center),
     .help = "u, v at the centres of pixels: (x+0.5)/W in place of x/(W-1)"},
    {"--offsetuv --offsetst", STEP(set_uv), .value = "U V", .help = "added to u and v",
     .otherwise = "0 0"},
    {"--scaleuv --scalest", STEP(set_uv), .value = "U V", .help = "factors on u and v",
     .otherwise = "1 1"},
    {"--param", STEP(set_param), .value = "N V",
     .help = "parameter of the next shader; numbers are separated by commas; a type may be written "
             "as in --param:type=float",
     .reads = true},
    {"--fparam --iparam --vparam --sparam", STEP(set_param), .value = "N V",
     .help = "--param of a float, an int, a triple, a string", .reads = true},
    {"--groupname", OPTION_STRING, AT(group_name), "NAME",
     .help = "what getattribute(\"shader:groupname\") says", .preset = "unnamed_group_1"},
    {"--layer", STEP(name_layer), .value = "NAME", .help = "name of the next shader's layer"},
    {"--shader", STEP(add_named_shader), .value = "SHADER LAYER",
     .help = "a shader and its layer's name"},
    {"--connect", STEP(add_connection), .value = "A X B Y",
     .help = "output X of layer A feeds parameter Y of layer B; X[1] is an element"},
    {"--group", STEP(add_group), .value = "TEXT",
     .help = "a whole network: 'param float a 1 ; shader s l ; connect l.x m.y ;', or the file "
             "that holds it",
     .reads = true},
    {"--entry", OPTION_LIST, AT(entries), "LAYER",
     .help = "runs just the layers named so, in this order, and what they pull"},
    {"--entryoutput", OPTION_LIST, AT(entry_outputs), "LAYER.OUT",
     .help = "the same, naming an output"},
    {"--options", OPTION_STRING, AT(osl_options), "TEXT",
     .help = "of OSL's options, commas between them: error_repeats=1 (texts of error() and "
             "warning() come each time), lazylayers=0 (every layer runs, in order), lazyglobals=0 "
             "(layers that write a global variable run, in order), lazyerror=0 (layers that call "
             "error()); others mean nothing"},
    {"--userdata_isconnected", OPTION_FLAG, AT(userdata_isconnected),
     .help = "isconnected() is true for parameters with lockgeom=0"},
    {"--expr", STEP(add_expr), .value = "TEXT",
     .help = "a shader made of one statement that sets the color `result` (or the float `alpha`)"},
    {"--reparam", STEP(add_reparam), .value = "LAYER N V",
     .help = "changes a parameter of a layer after the first iteration; takes :type= as --param"},
    {"-o", STEP(add_output), .value = "VAR FILE",
     .help =
         "writes an output as .exr, .tif, .pfm or .png; 'layer.out' names a layer's; FILE null: "
         "computed, not written",
     .writes = FILE_PICTURE, .none = "null"},
    {"-od -d", OPTION_WORD, AT(depth), "TYPE",
     .help = "of the files: float (.exr, .tif, .pfm; half is float here) or uint8 (.png, .tif)",
     .words = "float half uint8"},
    {"--print", OPTION_FLAG, AT(print), .help = "prints the outputs in place of writing them"},
    {"--iters", OPTION_COUNT, AT(iters), "N", .help = "runs the grid N times", .preset = "1"},
    {"--raytype", OPTION_STRING, AT(raytype), "NAME",
     .help = "camera, shadow, reflection, refraction, diffuse, glossy ...", .preset = "camera",
     .words = "camera shadow reflection refraction diffuse glossy"},
    {"--userdata", STEP(add_userdata), .value = "N V",
     .help = "data of the geometry, for parameters with lockgeom=0; s and t are u and v"},
    {"--vary_pdxdy", OPTION_FLAG, AT(grid.vary_p),
     .help = "derivatives of P that vary over the grid"},
    {"--vary_udxdy", OPTION_FLAG, AT(grid.vary_u),
     .help = "derivatives of u that vary over the grid"},
    {"--vary_vdxdy", OPTION_FLAG, AT(grid.vary_v),
     .help = "derivatives of v that vary over the grid"},
    {"--engine", OPTION_STRING, AT(engine), "NAME",
     .help = "what runs the shaders: interp (the reference), ir, grid, native, llvm, opencl[:n], "
             "cuda[:n], hip[:n], level_zero[:n]",
     .preset = "interp", .words = "interp ir grid native llvm opencl cuda hip level_zero"},
    {"-O0 -O1 -O2", OPTION_LEVEL, AT(opt.level), .help = "how much engines that translate optimise",
     .preset = "-O2"},
    {"--stay-in-loops", OPTION_FLAG, AT(opt.stay_in_loops),
     .help = "what is the same in each turn of a loop is not moved out of it, to see what that "
             "is worth"},
    {"--stay-at-points", OPTION_FLAG, AT(opt.stay_at_points),
     .help = "of engines that compile: each point does what is the same at all points, to see what "
             "that is worth"},
    {"--mode", OPTION_MODE, AT(opt.mode), "MODE", .help = "arithmetic of compiled engines",
     .preset = "strict"},
    {"--form", OPTION_WORD, AT(form), "FORM",
     .help = "of engine native: compiled for rows of points, for rows with copies of branches that "
             "all points of a row take, or for one point",
     .preset = "rows", .words = "rows copies point"},
    {"--bake", OPTION_FLAG, AT(opt.bake),
     .help = "parameters are constants: faster code, compiled again by --reparam"},
    {"-t --threads", OPTION_UINT, AT(opt.threads), "N", .help = "threads", .otherwise = "all"},
    {"--budget", OPTION_COUNT64, AT(opt.step_budget), "N", .help = "steps that one point may take",
     .otherwise = "100 million"},
    {"--runstats --stats", OPTION_FLAG, AT(runstats), .help = "times and counts on standard error"},
    {"-I --path", OPTION_LIST, AT(includes), "FOLDER", .joined = true,
     .help = "where shaders and #include files are looked for", .folder = true},
    {"-D", OPTION_LIST, AT(defines), "NAME[=TEXT]", .joined = true, .help = "define a macro"},
    JSON_OPTION(AT(json)),
    {"--colorspace", OPTION_WORD, AT(colorspace), "NAME",
     .help = "linear rgb is that of Rec709 here (docs/reference/asl.md)",
     .words = "Rec709 sRGB linear"},
    {"-v --batched --debug --debug2 --debugnan --debuguninit --groupoutputs --inbuffer "
     "--llvm_debug --no-output-placement --noshadeimage --oslquery --print-group-stats "
     "--print-groupdata --profile --raytype_opt --shadeimage --use_rs_bitcode --warmup",
     OPTION_IGNORED, .help = "testshade's, without effect here"},
    {"--jbufferMB --llvm_opt --locale --texoptions", OPTION_IGNORED, .value = "X",
     .help = "testshade's, without effect here"},
};
const struct command command_shade = {
    .name = "shade",
    .group = "shaders",
    .line = "run a shader on a grid, with no scene",
    .usage = "isophote shade [options] SHADER...",
    .summary = "Runs shaders (.aso, .asl, .osl, .c, .ll or .bc) on a grid. Options that set "
               "parameters come "
               "before the shader that they are for; each SHADER becomes a layer, the last one is "
               "the result.\n"
               "The options bear the names that users of OSL's testshade know, with one dash or "
               "two.",
    .examples = "isophote shade -g 512 512 --param freq 9.0 fbm.osl -o Cout fbm.png\n"
                "isophote shade --print --param scale 3 marble.osl -o Cout x.exr",
    .argument = "SHADER",
    .reads = true,
    COMMAND_OPTIONS(options),
    .one_dash = true,
    .settings_size = sizeof(struct shade_command),
    .max_args = SIZE_MAX,
    .argument_step = add_shader,
    .run = run,
};
