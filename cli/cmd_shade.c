/* isophote shade: runs a shader, or a network of shaders, on a grid of points with no scene. The
 * options bear the names that users of OSL's testshade know. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenes.h"
#include "shaders.h"

static const char usage[] =
    "usage: isophote shade [options] SHADER...\n\n"
    "Runs shaders (.asl, .osl or .aso) on a grid. Options that set parameters come before the "
    "shader that they are for;\n"
    "each SHADER becomes a layer, the last one is the result.\n\n"
    "  -g W H, -res W H          the grid (default: one point at u = v = 0.5)\n"
    "  --center                  u, v at the centres of pixels: (x+0.5)/W in place of x/(W-1)\n"
    "  --offsetuv U V, --scaleuv U V\n"
    "  --param[:type=T] N V      parameter of the next shader; numbers are separated by commas\n"
    "  --layer NAME              name of the next shader's layer\n"
    "  --shader FILE LAYER       a shader and its layer's name\n"
    "  --connect A x B y         output x of layer A feeds parameter y of layer B; x[1] is an "
    "element\n"
    "  --group TEXT|FILE         a whole network: 'param float a 1 ; shader s l ; connect l.x m.y "
    ";'\n"
    "  --expr TEXT               a shader made of one statement that sets the color `result`\n"
    "  --reparam[:type=T] L N V  changes a parameter of layer L before the last iteration\n"
    "  -o VAR FILE               writes an output as .exr, .pfm or .png; 'layer.out' names a "
    "layer's\n"
    "  -od TYPE                  float (.exr, .pfm) or uint8 (.png)\n"
    "  --print                   prints the outputs in place of writing them\n"
    "  --iters N                 runs the grid N times\n"
    "  --raytype NAME            camera (default), shadow, reflection, refraction, diffuse, glossy "
    "...\n"
    "  --userdata[:type=T] N V   data of the geometry, for parameters with lockgeom=0; s and t are "
    "u and v\n"
    "  --vary_pdxdy, --vary_udxdy, --vary_vdxdy   derivatives of P, u, v that vary over the grid\n"
    "  --engine interp           what runs the shaders: the reference interpreter\n"
    "  -O0, -O1, -O2             accepted; the interpreter does not optimise\n"
    "  -t N                      threads (default: all)\n"
    "  --budget N                steps that one point may take (default: 100 million)\n"
    "  --runstats                times and counts on standard error\n"
    "  -I FOLDER, --path FOLDER  where shaders and #include files are looked for\n"
    "  -D NAME[=TEXT]            define a macro\n"
    "  --json                    one JSON document on standard output\n"
    "  --help                    this text\n\n"
    "examples:\n"
    "  isophote shade -g 512 512 --param freq 9.0 fbm.osl -o Cout fbm.png\n"
    "  isophote shade --print --param scale 3 marble.osl -o Cout x.exr\n";

enum { MAX_OUTPUTS = 64, ROWS_AT_ONCE = 64 };

struct output {
    const char *var, *file;
    struct asl_type type;
    float *values; /* width * height * channels */
    size_t channels;
    bool found;
};

struct user_value {
    const char *name;
    struct asl_type type;
    float v[16];
    size_t n;
};

struct reparam {
    const char *layer, *name, *value;
    struct asl_type type;
};

/* What shaders said in one row, in order. */
struct row {
    struct text text; /* kind, target, 0, text, 0 ... */
};

struct shade {
    struct arena arena;
    struct asl_group *group;
    struct asl_options copt;
    const char **includes, **defines, **entries;
    size_t include_count, define_count, entry_count, layers;
    uint32_t width, height, iters, threads, raytype;
    bool grid, center, print, vary_p, vary_u, vary_v, runstats, json;
    double offset[2], scale[2];
    const char *layer, *depth;
    struct output outputs[MAX_OUTPUTS];
    size_t output_count;
    struct reparam *reparams;
    struct user_value *user;
    size_t reparam_count, user_count;
    uint64_t budget;
    struct text warnings, said, printed;
    /* while it runs */
    struct asl_context **contexts;
    struct row *rows;
    const struct asl_globals **current; /* per thread */
    struct row **current_row;
    struct error *errors; /* per thread */
    uint32_t first_row;
    uint64_t steps;
    double seconds;
};

/* ---- options -------------------------------------------------------------------------------- */

static int misuse(const char *what, const char *arg)
{
    struct error err = {0};
    error_msg(&err, STATUS_ARG, "%s '%s'; 'isophote shade --help' lists the options", what, arg);
    return report_error(&err, false);
}

static bool read_number(const char *s, double lo, double hi, double *out)
{
    char *end;
    double v = strtod(s, &end);
    if (end == s || *end || !(v >= lo && v <= hi))
        return false;
    *out = v;
    return true;
}

/* "--param:type=float" -> FLOAT; the type stays UNKNOWN when none is written. */
static enum status option_type(const char *opt, struct asl_type *type, struct error *err)
{
    *type = (struct asl_type){0};
    const char *t = strchr(opt, ':');
    if (!t)
        return STATUS_OK;
    if (strncmp(t, ":type=", 6) != 0)
        return error_msg(err, STATUS_ARG, "'%s': expected ':type=' and a type", opt);
    return asl_type_parse(t + 6, type, err);
}

static bool is_option(const char *arg, const char *name)
{
    if (arg[0] != '-')
        return false;
    const char *a = arg + 1 + (arg[1] == '-'); /* one dash or two */
    size_t n = strcspn(a, ":");
    return strlen(name) == n && strncmp(a, name, n) == 0;
}

/* Reads the shader `name`: itself, or with an extension, here or in the folders of --path. */
static const struct asl_program *load_shader(struct shade *s, const char *name, struct error *err)
{
    static const char *const extensions[] = {"", ".asl", ".osl", ".aso"};
    for (size_t d = 0; d <= s->include_count; d++) {
        for (size_t e = 0; e < sizeof extensions / sizeof *extensions; e++) {
            char *path =
                d ? arena_printf(&s->arena, "%s/%s%s", s->includes[d - 1], name, extensions[e])
                  : arena_printf(&s->arena, "%s%s", name, extensions[e]);
            FILE *f = path ? fopen(path, "rb") : NULL;
            if (!f)
                continue;
            (void)fclose(f);
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
    error_msg(err, STATUS_MISSING, "there is no shader '%s' (.asl, .osl or .aso)", name);
    err->code = STATUS_ARG; /* a missing file is bad input, not a missing device */
    return NULL;
}

static const struct asl_program *find_shader(void *ctx, const char *name, struct error *err)
{
    return load_shader(ctx, name, err);
}

static enum status add_layer(struct shade *s, const struct asl_program *p, struct error *err)
{
    enum status st = asl_group_layer(s->group, p, NULL, s->layer, &s->warnings, err);
    s->layer = NULL;
    s->layers++;
    return st;
}

static enum status add_shader(struct shade *s, const char *name, struct error *err)
{
    const struct asl_program *p = load_shader(s, name, err);
    return p ? add_layer(s, p, err) : err->code;
}

static enum status add_expr(struct shade *s, const char *text, struct error *err)
{
    struct asl_diags diags = {0};
    const struct asl_program *p = NULL;
    char *source =
        arena_printf(&s->arena, "shader expr(output color result = 0) {\n%s\n;}\n", text);
    enum status st =
        asl_compile(&s->arena, "expr", source, strlen(source), &s->copt, &diags, &p, err);
    struct text t = {0};
    asl_diags_print(&diags, &t);
    if (t.data)
        (void)fputs(t.data, stderr);
    text_free(&t);
    return st == STATUS_OK ? add_layer(s, p, err) : st;
}

static enum status add_group(struct shade *s, const char *text, struct error *err)
{
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

static enum status add_userdata(struct shade *s, const char *opt, char **argv, struct error *err)
{
    struct user_value *u = &s->user[s->user_count];
    enum status st = option_type(opt, &u->type, err);
    if (st != STATUS_OK)
        return st;
    u->name = argv[0];
    const char *p = argv[1];
    while (u->n < 16) {
        char *end;
        u->v[u->n++] = strtof(p, &end);
        if (end == p)
            return error_msg(err, STATUS_TYPE, "userdata '%s': expected numbers, found '%s'",
                             argv[0], argv[1]);
        p = end + strspn(end, ", ");
        if (!*p)
            break;
    }
    s->user_count++;
    return STATUS_OK;
}

struct switch_option {
    const char *name;
    int values;
};
static const struct switch_option known[] = {
    {"g", 2},          {"res", 2},        {"center", 0},  {"offsetuv", 2}, {"scaleuv", 2},
    {"param", 2},      {"layer", 1},      {"shader", 2},  {"connect", 4},  {"group", 1},
    {"expr", 1},       {"reparam", 3},    {"o", 2},       {"od", 1},       {"d", 1},
    {"print", 0},      {"iters", 1},      {"raytype", 1}, {"userdata", 2}, {"vary_pdxdy", 0},
    {"vary_udxdy", 0}, {"vary_vdxdy", 0}, {"engine", 1},  {"O0", 0},       {"O1", 0},
    {"O2", 0},         {"t", 1},          {"threads", 1}, {"budget", 1},   {"runstats", 0},
    {"I", 1},          {"path", 1},       {"D", 1},       {"json", 0},     {"help", 0},
    {"h", 0},
};

static int apply(struct shade *s, const char *opt, const char *name, char **v, struct error *err)
{
    double x, y;
    struct asl_type type;
    enum status st = STATUS_OK;
    if (strcmp(name, "g") == 0 || strcmp(name, "res") == 0) {
        if (!read_number(v[0], 1, 65536, &x) || !read_number(v[1], 1, 65536, &y))
            return misuse("the grid must be two whole numbers from 1 to 65536, found", v[0]);
        s->width = (uint32_t)x;
        s->height = (uint32_t)y;
        s->grid = true;
    } else if (strcmp(name, "offsetuv") == 0 || strcmp(name, "scaleuv") == 0) {
        double *to = name[0] == 'o' ? s->offset : s->scale;
        if (!read_number(v[0], -1e30, 1e30, &to[0]) || !read_number(v[1], -1e30, 1e30, &to[1]))
            return misuse("expected two numbers after", opt);
    } else if (strcmp(name, "param") == 0) {
        st = option_type(opt, &type, err);
        if (st == STATUS_OK)
            st = asl_group_param(s->group, &type, v[0], v[1], err);
    } else if (strcmp(name, "reparam") == 0) {
        struct reparam *r = &s->reparams[s->reparam_count];
        st = option_type(opt, &r->type, err);
        r->layer = v[0];
        r->name = v[1];
        r->value = v[2];
        s->reparam_count++;
    } else if (strcmp(name, "layer") == 0) {
        s->layer = v[0];
    } else if (strcmp(name, "shader") == 0) {
        s->layer = v[1];
        st = add_shader(s, v[0], err);
    } else if (strcmp(name, "connect") == 0) {
        st = asl_group_connect(s->group, v[0], v[1], v[2], v[3], err);
    } else if (strcmp(name, "group") == 0) {
        st = add_group(s, v[0], err);
    } else if (strcmp(name, "expr") == 0) {
        st = add_expr(s, v[0], err);
    } else if (strcmp(name, "userdata") == 0) {
        st = add_userdata(s, opt, v, err);
    } else if (strcmp(name, "o") == 0) {
        if (s->output_count == MAX_OUTPUTS)
            return misuse("too many outputs at", v[0]);
        s->outputs[s->output_count].var = v[0];
        s->outputs[s->output_count++].file = v[1];
    } else if (strcmp(name, "od") == 0 || strcmp(name, "d") == 0) {
        if (strcmp(v[0], "float") != 0 && strcmp(v[0], "uint8") != 0)
            return misuse("-od takes float or uint8, not", v[0]);
        s->depth = v[0];
    } else if (strcmp(name, "iters") == 0 || strcmp(name, "t") == 0 ||
               strcmp(name, "threads") == 0) {
        if (!read_number(v[0], name[0] == 'i' ? 1 : 0, 1e6, &x))
            return misuse("expected a whole number, found", v[0]);
        *(name[0] == 'i' ? &s->iters : &s->threads) = (uint32_t)x;
    } else if (strcmp(name, "budget") == 0) {
        if (!read_number(v[0], 1, 1e18, &x))
            return misuse("expected a whole number, found", v[0]);
        s->budget = (uint64_t)x;
    } else if (strcmp(name, "raytype") == 0) {
        s->raytype = asl_raytype_bit(v[0]);
        if (!s->raytype)
            return misuse("there is no ray type", v[0]);
    } else if (strcmp(name, "engine") == 0) {
        if (strcmp(v[0], "interp") != 0) {
            error_msg(err, STATUS_UNSUPPORTED, "engine '%s' is not here; this version has: interp",
                      v[0]);
            return report_error(err, true);
        }
    } else if (strcmp(name, "I") == 0 || strcmp(name, "path") == 0) {
        s->includes[s->include_count++] = v[0];
    } else if (strcmp(name, "D") == 0) {
        s->defines[s->define_count++] = v[0];
    } else if (strcmp(name, "center") == 0) {
        s->center = true;
    } else if (strcmp(name, "print") == 0) {
        s->print = true;
    } else if (strcmp(name, "vary_pdxdy") == 0) {
        s->vary_p = true;
    } else if (strcmp(name, "vary_udxdy") == 0) {
        s->vary_u = true;
    } else if (strcmp(name, "vary_vdxdy") == 0) {
        s->vary_v = true;
    } else if (strcmp(name, "runstats") == 0) {
        s->runstats = true;
    } else if (strcmp(name, "json") == 0) {
        s->json = true;
    }
    return st == STATUS_OK ? -1 : report_error(err, false);
}

/* -1 to go on, else the exit status. */
static int parse(struct shade *s, int argc, char **argv)
{
    struct error err = {0};
    for (int i = 1; i < argc;
         i++) { /* where files are found must be known before the first shader is read */
        if (is_option(argv[i], "help") || is_option(argv[i], "h")) {
            (void)fputs(usage, stdout);
            return EXIT_PASS;
        }
        if (i + 1 < argc && (is_option(argv[i], "I") || is_option(argv[i], "path")))
            s->includes[s->include_count++] = argv[++i];
        else if (i + 1 < argc && is_option(argv[i], "D"))
            s->defines[s->define_count++] = argv[++i];
        else if (strncmp(argv[i], "-I", 2) == 0)
            s->includes[s->include_count++] = argv[i] + 2;
        else if (strncmp(argv[i], "-D", 2) == 0)
            s->defines[s->define_count++] = argv[i] + 2;
    }
    size_t includes = s->include_count, defines = s->define_count;
    for (int i = 1; i < argc; i++) {
        const struct switch_option *o = NULL;
        for (size_t k = 0; k < sizeof known / sizeof *known && !o; k++)
            if (is_option(argv[i], known[k].name))
                o = &known[k];
        if (!o && (strncmp(argv[i], "-I", 2) == 0 || strncmp(argv[i], "-D", 2) == 0))
            continue;
        if (!o && argv[i][0] == '-' && argv[i][1])
            return misuse("unknown option", argv[i]);
        if (!o) {
            if (add_shader(s, argv[i], &err) != STATUS_OK)
                return report_error(&err, false);
            continue;
        }
        if (i + o->values >= argc)
            return misuse("values are missing after", argv[i]);
        int status = apply(s, argv[i], o->name, argv + i + 1, &err);
        s->include_count = includes;
        s->define_count = defines;
        if (status >= 0)
            return status;
        i += o->values;
    }
    if (s->layers == 0)
        return misuse("no shader after", argv[0]);
    return -1;
}

/* ---- the grid ------------------------------------------------------------------------------- */

static void fill_globals(const struct shade *s, uint32_t x, uint32_t y, struct asl_globals *g)
{
    *g = (struct asl_globals){0};
    double w = s->width, h = s->height;
    double u = s->center ? (x + 0.5) / w : s->width > 1 ? x / (w - 1) : 0.5;
    double v = s->center ? (y + 0.5) / h : s->height > 1 ? y / (h - 1) : 0.5;
    double du = s->center ? 1 / w : 1 / (s->width > 1 ? w - 1 : 1),
           dv = s->center ? 1 / h : 1 / (s->height > 1 ? h - 1 : 1);
    g->u.v = (float)(u * s->scale[0] + s->offset[0]);
    g->v.v = (float)(v * s->scale[1] + s->offset[1]);
    g->u.dx = (float)(du * s->scale[0]);
    g->v.dy = (float)(dv * s->scale[1]);
    if (s->vary_u) {
        g->u.dx = 1 - g->u.v;
        g->u.dy = g->u.v;
    }
    if (s->vary_v) {
        g->v.dx = 1 - g->v.v;
        g->v.dy = g->v.v;
    }
    g->P.v[0] = g->u.v;
    g->P.v[1] = g->v.v;
    g->P.v[2] = 1;
    g->P.dx[0] = g->u.dx;
    g->P.dx[1] = g->v.dx;
    g->P.dy[0] = g->u.dy;
    g->P.dy[1] = g->v.dy;
    if (s->vary_p) {
        float a = g->u.v, b = g->v.v;
        float dx[3] = {1 - a, 1 - b, a * 0.5f}, dy[3] = {1 - b, 1 - a, b * 0.5f};
        memcpy(g->P.dx, dx, sizeof dx);
        memcpy(g->P.dy, dy, sizeof dy);
    }
    g->N.v[2] = g->Ng[2] = 1;
    g->dPdu[0] = g->dPdv[1] = 1;
    g->surfacearea = 1;
    g->raytype = s->raytype;
}

struct thread_services {
    struct shade *shade;
    unsigned thread;
};

static void on_message(void *ctx, enum asl_message kind, const char *to, const char *text)
{
    struct thread_services *t = ctx;
    struct text *out = &t->shade->current_row[t->thread]->text;
    char letter = "pfwe"[kind];
    text_append(out, &letter, 1);
    text_append(out, to, strlen(to) + 1);
    text_append(out, text, strlen(text) + 1);
}

static bool on_userdata(void *ctx, const char *name, struct asl_type type, union asl_slot *value)
{
    const struct thread_services *t = ctx;
    const struct asl_globals *g = t->shade->current[t->thread];
    size_t n = asl_type_slots(type);
    for (size_t i = 0; i < t->shade->user_count; i++) {
        const struct user_value *u = &t->shade->user[i];
        if (strcmp(u->name, name) != 0 || (u->n != n && u->n != 1))
            continue;
        for (size_t k = 0; k < n; k++) {
            float v = u->v[u->n == 1 ? 0 : k];
            if (asl_type_scalar(type, k) == ASL_INT)
                value[k].i = (int32_t)v;
            else if (asl_type_scalar(type, k) == ASL_FLOAT)
                value[k].f = v;
            else
                return false;
        }
        return true;
    }
    if (n == 1 && asl_type_scalar(type, 0) == ASL_FLOAT &&
        (strcmp(name, "s") == 0 || strcmp(name, "t") == 0)) {
        const struct asl_dual *x = name[0] == 's' ? &g->u : &g->v;
        value[0].f = x->v;
        value[1].f = x->dx;
        value[2].f = x->dy;
        return true;
    }
    return false;
}

static bool on_attribute(void *ctx, const char *object, const char *name, int index,
                         struct asl_type type, union asl_slot *value)
{
    (void)object;
    (void)index;
    const struct thread_services *t = ctx;
    if (strcmp(name, "camera:resolution") == 0 && type.base == ASL_INT && type.array == 2) {
        value[0].i = (int32_t)t->shade->width;
        value[1].i = (int32_t)t->shade->height;
        return true;
    }
    if (strcmp(name, "osl:version") == 0 && type.base == ASL_INT && !type.array) {
        value[0].i = 11300;
        return true;
    }
    return on_userdata(ctx, name, type, value);
}

static void keep_outputs(struct shade *s, const struct asl_context *c, uint32_t x, uint32_t y)
{
    for (size_t i = 0; i < s->output_count; i++) {
        struct output *o = &s->outputs[i];
        if (!o->values)
            continue;
        float *to = o->values + ((size_t)y * s->width + x) * o->channels;
        const union asl_slot *v = asl_context_value(c, o->var, NULL, NULL);
        for (size_t k = 0; k < o->channels; k++)
            to[k] = !v ? 0 : asl_type_scalar(o->type, k) == ASL_INT ? (float)v[k].i : v[k].f;
    }
}

static void print_slot(struct text *t, struct asl_type type, const union asl_slot *v, size_t i)
{
    switch (asl_type_scalar(type, i)) {
    case ASL_INT:
        text_printf(t, "%d", v[i].i);
        break;
    case ASL_STRING:
        text_puts(t, v[i].s);
        break;
    case ASL_CLOSURE:
        asl_closure_print(v[i].c, t);
        break;
    default:
        text_printf(t, "%g", (double)v[i].f);
    }
}

static void print_outputs(const struct shade *s, const struct asl_context *c, uint32_t x,
                          uint32_t y, struct row *row)
{
    struct text t = {0};
    text_printf(&t, "Pixel (%u, %u):\n", x, y);
    for (size_t i = 0; i < s->output_count; i++) {
        struct asl_type type = {0};
        bool ran = false;
        const union asl_slot *v = asl_context_value(c, s->outputs[i].var, &type, &ran);
        text_printf(&t, "  %s :", s->outputs[i].var);
        for (size_t k = 0; v && k < asl_type_slots(type); k++) {
            text_puts(&t, " ");
            print_slot(&t, type, v, k);
        }
        text_puts(&t, v ? "\n" : " not computed\n");
    }
    text_append(&row->text, "p", 2); /* the letter and an empty target */
    text_append(&row->text, t.data ? t.data : "", t.len + 1);
    text_free(&t);
}

static void shade_row(void *ctx, size_t i, unsigned thread)
{
    struct shade *s = ctx;
    uint32_t y = s->first_row + (uint32_t)i;
    if (s->errors[thread].code != STATUS_OK || cancel_requested)
        return;
    struct asl_globals g;
    s->current[thread] = &g;
    s->current_row[thread] = &s->rows[i];
    for (uint32_t x = 0; x < s->width; x++) {
        fill_globals(s, x, y, &g);
        if (asl_context_run(s->contexts[thread], &g, &s->errors[thread]) != STATUS_OK)
            return;
        if (s->print)
            print_outputs(s, s->contexts[thread], x, y, &s->rows[i]);
        else
            keep_outputs(s, s->contexts[thread], x, y);
    }
}

/* ---- what was said -------------------------------------------------------------------------- */

static bool said_before(struct shade *s, char kind, const char *text)
{
    for (const char *p = s->said.data; p && p < s->said.data + s->said.len; p += strlen(p) + 1)
        if (*p == kind && strcmp(p + 1, text) == 0)
            return true;
    text_append(&s->said, &kind, 1);
    text_append(&s->said, text, strlen(text) + 1);
    return false;
}

/* Messages of a row in their order; the first iteration speaks, later ones are for timing. */
static void speak(struct shade *s, struct row *row, bool aloud)
{
    for (const char *p = row->text.data; p && p < row->text.data + row->text.len;) {
        char kind = *p;
        const char *to = p + 1, *text = to + strlen(to) + 1;
        p = text + strlen(text) + 1;
        if (!aloud)
            continue;
        if (kind == 'p' && s->json) {
            text_puts(&s->printed, text);
        } else if (kind == 'p') {
            (void)fputs(text, stdout);
        } else if (kind == 'f') {
            FILE *f = fopen(to, "ab");
            if (f) {
                (void)fputs(text, f);
                (void)fclose(f);
            } else if (!said_before(s, 'e', to)) {
                (void)fprintf(stderr, "error: fprintf: %s cannot be written\n", to);
            }
        } else if (!said_before(s, kind, text)) {
            size_t n = strlen(text);
            (void)fprintf(stderr, "%s: %s%s", kind == 'e' ? "error" : "warning", text,
                          n && text[n - 1] == '\n' ? "" : "\n");
        }
    }
    text_free(&row->text);
    row->text = (struct text){0};
}

/* ---- all ------------------------------------------------------------------------------------ */

static enum status run_grid(struct shade *s, unsigned threads, bool aloud, struct error *err)
{
    for (s->first_row = 0; s->first_row < s->height; s->first_row += ROWS_AT_ONCE) {
        uint32_t n =
            s->height - s->first_row < ROWS_AT_ONCE ? s->height - s->first_row : ROWS_AT_ONCE;
        double t = clock_s();
        parallel_for(n, threads, shade_row, s);
        s->seconds += clock_s() - t;
        for (uint32_t i = 0; i < n; i++)
            speak(s, &s->rows[i], aloud);
        for (unsigned k = 0; k < threads; k++) {
            if (s->errors[k].code != STATUS_OK) {
                *err = s->errors[k];
                return err->code;
            }
        }
        if (cancel_requested)
            return error_msg(err, STATUS_CANCELLED, "stopped");
    }
    return STATUS_OK;
}

/* Finds what -o names in the group, and makes room. */
static enum status prepare_outputs(struct shade *s, struct error *err)
{
    for (size_t i = 0; i < s->output_count; i++) {
        struct output *o = &s->outputs[i];
        const char *dot = strchr(o->var, '.'), *param = dot ? dot + 1 : o->var;
        for (size_t l = asl_group_layers(s->group); l-- > 0 && !o->found;) {
            const struct asl_shader_info *info = asl_group_layer_shader(s->group, l);
            const char *layer = asl_group_layer_name(s->group, l);
            if (dot && (strncmp(layer, o->var, (size_t)(dot - o->var)) != 0 || layer[dot - o->var]))
                continue;
            for (size_t k = 0; k < info->param_count; k++) {
                if (strcmp(info->params[k].name, param) != 0 || !info->params[k].output)
                    continue;
                o->found = true;
                o->type = info->params[k].type;
                s->entries[s->entry_count++] = layer;
                break;
            }
        }
        if (!o->found && strcmp(o->var, "Ci") == 0) {
            o->found = true;
            o->type.base = ASL_CLOSURE;
        }
        if (!o->found)
            return error_msg(err, STATUS_ARG, "no layer has an output '%s'", o->var);
        o->channels = asl_type_slots(o->type);
        if (s->print)
            continue;
        if ((o->channels != 1 && o->channels != 3) || asl_type_scalar(o->type, 0) == ASL_STRING ||
            asl_type_scalar(o->type, 0) == ASL_CLOSURE) {
            char t[ASL_TYPE_TEXT_SIZE];
            return error_msg(
                err, STATUS_ARG,
                "output '%s' is a %s: an image holds numbers and triples (--print shows it)",
                o->var, asl_type_text(o->type, t, sizeof t));
        }
        if ((size_t)s->width * s->height > (size_t)1 << 28)
            return error_msg(
                err, STATUS_LIMIT,
                "a grid of %u x %u points is too large for an image; at most 2^28 points", s->width,
                s->height);
        o->values = calloc((size_t)s->width * s->height * o->channels, sizeof *o->values);
        if (!o->values)
            return error_msg(err, STATUS_MEMORY, "out of memory");
    }
    return STATUS_OK;
}

static enum status write_output(const struct shade *s, const struct output *o, struct error *err)
{
    size_t n = strlen(o->file), pixels = (size_t)s->width * s->height;
    bool png = n > 4 && strcmp(o->file + n - 4, ".png") == 0,
         exr = n > 4 && strcmp(o->file + n - 4, ".exr") == 0;
    if (s->depth && (strcmp(s->depth, "uint8") == 0) != png)
        return error_msg(err, STATUS_ARG,
                         "%s cannot hold %s; .png holds uint8, .exr and .pfm float", o->file,
                         s->depth);
    if (exr) {
        static const char *const names[] = {"R", "G", "B"};
        struct image_channel c[3];
        for (size_t k = 0; k < o->channels; k++)
            c[k] = (struct image_channel){o->channels == 1 ? "Y" : names[k], o->values + k,
                                          o->channels};
        return image_write_exr(o->file, s->width, s->height, c, o->channels, NULL, err);
    }
    if (o->channels == 3)
        return image_write(o->file, s->width, s->height, o->values, 1.0, err);
    float *rgb = malloc(pixels * 3 * sizeof *rgb);
    if (!rgb)
        return error_msg(err, STATUS_MEMORY, "out of memory");
    for (size_t i = 0; i < pixels; i++)
        rgb[3 * i] = rgb[3 * i + 1] = rgb[3 * i + 2] = o->values[i];
    enum status st = image_write(o->file, s->width, s->height, rgb, 1.0, err);
    free(rgb);
    return st;
}

static enum status make_contexts(struct shade *s, unsigned threads,
                                 struct thread_services *services, struct error *err)
{
    enum status st = STATUS_OK;
    for (unsigned i = 0; st == STATUS_OK && i < threads; i++) {
        services[i] = (struct thread_services){s, i};
        struct asl_context_options o = {.step_budget = s->budget, .entry_layers = s->entries};
        o.services =
            (struct asl_services){&services[i], on_message, NULL, on_attribute, on_userdata};
        st = asl_context_new(s->group, &o, &s->contexts[i], err);
    }
    return st;
}

static enum status run_all(struct shade *s, unsigned threads, struct error *err)
{
    enum status st = STATUS_OK;
    for (uint32_t i = 0; st == STATUS_OK && i < s->iters; i++) {
        bool last = i + 1 == s->iters;
        for (size_t k = 0; last && st == STATUS_OK && k < s->reparam_count; k++)
            st = asl_group_reparam(s->group, s->reparams[k].layer, &s->reparams[k].type,
                                   s->reparams[k].name, s->reparams[k].value, err);
        if (st == STATUS_OK)
            st = run_grid(s, threads, i == 0 || (last && s->reparam_count), err);
    }
    for (unsigned i = 0; i < threads; i++)
        s->steps += asl_context_steps(s->contexts[i]);
    return st;
}

static void statistics(const struct shade *s, unsigned threads)
{
    double points = (double)s->width * s->height * s->iters;
    (void)fprintf(stderr,
                  "engine interp, %u threads: %.0f points, %.4f s, %.1f ns a point, %.1f steps a "
                  "point, %zu MB peak\n",
                  threads, points, s->seconds, s->seconds / points * 1e9, (double)s->steps / points,
                  memory_peak() >> 20);
}

static bool json_report(struct shade *s, unsigned threads)
{
    struct json_writer w = {.pretty = true};
    json_begin_object(&w);
    json_key_string(&w, "engine", "interp");
    json_key_integer(&w, "threads", threads);
    json_key_integer(&w, "width", s->width);
    json_key_integer(&w, "height", s->height);
    json_key_integer(&w, "iters", s->iters);
    json_key_number(&w, "shade_s", s->seconds);
    json_key_integer(&w, "steps", (int64_t)s->steps);
    json_key_string(&w, "printed", s->printed.data ? s->printed.data : "");
    json_key(&w, "outputs");
    json_begin_array(&w);
    for (size_t i = 0; i < s->output_count; i++) {
        json_begin_object(&w);
        json_key_string(&w, "name", s->outputs[i].var);
        json_key_string(&w, "file", s->print ? NULL : s->outputs[i].file);
        json_end_object(&w);
    }
    json_end_array(&w);
    json_end_object(&w);
    bool ok = json_print(&w);
    text_free(&w.out);
    return ok;
}

static int shade(struct shade *s)
{
    struct error err = {0};
    if (s->warnings.data)
        (void)fprintf(stderr, "warning: %s", s->warnings.data);
    enum status st = asl_group_finish(s->group, &err);
    if (st == STATUS_OK)
        st = prepare_outputs(s, &err);
    unsigned threads = s->threads ? s->threads : parallel_threads();
    if (threads > s->height)
        threads = s->height;
    struct thread_services *services = calloc(threads, sizeof *services);
    s->contexts = calloc(threads, sizeof *s->contexts);
    s->current = calloc(threads, sizeof *s->current);
    s->current_row = calloc(threads, sizeof *s->current_row);
    s->errors = calloc(threads, sizeof *s->errors);
    s->rows = calloc(ROWS_AT_ONCE, sizeof *s->rows);
    if (st == STATUS_OK &&
        (!services || !s->contexts || !s->current || !s->current_row || !s->errors || !s->rows))
        st = error_msg(&err, STATUS_MEMORY, "out of memory");
    if (st == STATUS_OK)
        st = make_contexts(s, threads, services, &err);
    if (st == STATUS_OK)
        st = run_all(s, threads, &err);
    (void)fflush(stdout);
    for (size_t i = 0; st == STATUS_OK && !s->print && i < s->output_count; i++) {
        st = write_output(s, &s->outputs[i], &err);
        if (st == STATUS_OK && !s->json)
            printf("Output %s to %s\n", s->outputs[i].var, s->outputs[i].file);
    }
    int status = st == STATUS_OK ? EXIT_PASS : report_error(&err, false);
    if (st == STATUS_OK && s->runstats)
        statistics(s, threads);
    if (st == STATUS_OK && s->json && !json_report(s, threads))
        status = EXIT_BAD_INPUT;
    for (unsigned i = 0; s->contexts && i < threads; i++)
        asl_context_free(s->contexts[i]);
    for (size_t i = 0; i < s->output_count; i++)
        free(s->outputs[i].values);
    free(services);
    free(s->contexts);
    free((void *)s->current);
    free(s->current_row);
    free(s->errors);
    free(s->rows);
    return status;
}

int cmd_shade(int argc, char **argv)
{
    struct shade *s = calloc(1, sizeof *s);
    size_t n = 2 * (size_t)argc + MAX_OUTPUTS + 2;
    struct error err = {0};
    if (!s)
        return EXIT_BAD_INPUT;
    s->includes = calloc(n, sizeof(char *));
    s->defines = calloc(n, sizeof(char *));
    s->entries = calloc(n, sizeof(char *));
    s->reparams = calloc(n, sizeof *s->reparams);
    s->user = calloc(n, sizeof *s->user);
    s->width = s->height = s->iters = 1;
    s->scale[0] = s->scale[1] = 1;
    s->raytype = asl_raytype_bit("camera");
    int status = EXIT_BAD_INPUT;
    if (s->includes && s->defines && s->entries && s->reparams && s->user &&
        asl_group_new(&s->arena, "group", &s->group, &err) == STATUS_OK) {
        s->copt.include_dirs = s->includes;
        s->copt.defines = s->defines;
        status = parse(s, argc, argv);
        if (status < 0)
            status = shade(s);
    }
    text_free(&s->warnings);
    text_free(&s->said);
    text_free(&s->printed);
    free(s->includes);
    free(s->defines);
    free(s->entries);
    free(s->reparams);
    free(s->user);
    arena_free(&s->arena);
    free(s);
    return status;
}
