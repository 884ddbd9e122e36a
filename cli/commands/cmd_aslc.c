/* SPDX-License-Identifier: Apache-2.0 */
/* isophote aslc: compiles shaders, or says what is wrong with them. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

#include "shader_info.h"
#include "shaders.h"

enum { DUMP_AST = 1, DUMP_TYPES = 2, DUMP_IR = 4, DUMP_C = 8, DUMP_C_ROWS = 16, DUMP_LLVM = 32 };

struct aslc {
    struct asl_options opt;
    struct asl_lower_options lower;
    struct option_list includes, defines;
    const char *out, *witness;
    uint32_t dump;
    bool preprocess, quiet, json, stats, builtins, check, check_witness, info, verbose;
    bool rule, own_rule, file_rule, file_own_rule; /* -M, -MM, -MD, -MMD */
    const char *depend_file, *depend_target;
    bool force;
    const char *param; /* of --info */
};

static enum status check_use(const struct aslc *c, const struct arguments *args, struct error *err)
{
    if (args->count == 0)
        return error_msg(err, STATUS_ARG,
                         "no source file; 'isophote aslc --help' lists the options");
    if (c->json && (c->rule || c->own_rule || c->check_witness || c->check || c->preprocess))
        return error_msg(err, STATUS_ARG,
                         "--json is of compiling and of --info; -E, -M, -MM, --check and "
                         "--check-witness print text");
    if ((c->out || c->witness) && args->count > 1)
        return error_msg(err, STATUS_ARG, "with several sources there cannot be one output '%s'",
                         c->out ? c->out : c->witness);
    return STATUS_OK;
}

/* The compiled file bears the name of the last shader; without one, that of the source:
 * "dir/marble.osl" -> "marble.aso". p may be NULL. */
static char *object_name(struct arena *a, const struct asl_program *p, const char *file)
{
    size_t shaders = p ? asl_program_shaders(p) : 0;
    if (shaders)
        return arena_printf(a, "%s.aso", asl_program_shader(p, shaders - 1)->name);
    const char *name = path_name(file);
    return arena_printf(a, "%.*s.aso", (int)(path_ending(name) - name), name);
}

static enum status write_object(struct arena *a, const struct aslc *c, const char *file,
                                const struct asl_program *program, const char *out,
                                struct error *err)
{
    struct text source = {0}, object = {0};
    struct asl_diags ignored = {0};
    enum status s = asl_preprocess(a, file, NULL, 0, &c->opt, &ignored, &source, err);
    if (s == STATUS_OK)
        s = asl_object_write(a, program, source.data, source.len, &c->lower, &object, err);
    if (s == STATUS_OK)
        s = output_replaces(out, FILE_OBJECT, c->force, err);
    if (s == STATUS_OK)
        s = file_write(out, object.data, object.len, err);
    text_free(&source);
    text_free(&object);
    return s;
}

/* The IR without its places in the source: preprocessing moves columns. */
static void drop_places(struct text *t)
{
    char *to = t->data;
    for (const char *p = t->data; p && *p;) {
        bool line_start = p == t->data || p[-1] == '\n';
        if (line_start && strncmp(p, "file ", 5) == 0)
            p += strcspn(p, "\n");
        else if (p[0] == ' ' && p[1] == '@' && p[2] >= '0' && p[2] <= '9')
            p += 2 + strspn(p + 2, "0123456789:");
        else
            *to++ = *p++;
    }
    if (to)
        *to = 0;
}

/* "marble.aso: marble.osl \", then a line for each header. */
static enum status write_dependencies(struct arena *a, const struct aslc *c, const char *file,
                                      const char *object, const struct asl_diags *diags,
                                      struct error *err)
{
    struct text rule = {0};
    text_printf(&rule, "%s: %s", c->depend_target ? c->depend_target : object, file);
    for (const struct asl_included *i = diags->included; i; i = i->next)
        if (c->rule || c->file_rule || !i->system)
            text_printf(&rule, " \\\n  %s", i->path);
    text_puts(&rule, "\n");
    const char *to = c->depend_file;
    if (!to && !c->rule && !c->own_rule)
        to = arena_printf(a, "%.*s.d", (int)strlen(object) - 4, object);
    enum status s = STATUS_OK;
    if (rule.failed)
        s = error_msg(err, STATUS_MEMORY, "out of memory");
    else if (to)
        s = output_replaces(to, FILE_RULE, c->force, err);
    if (s == STATUS_OK && to)
        s = file_write(to, rule.data, rule.len, err);
    if (s == STATUS_OK && !to)
        (void)fwrite(rule.data, 1, rule.len, stdout);
    text_free(&rule);
    return s;
}

static int print_dependencies(const struct aslc *c, const char *file)
{
    struct arena a = {0};
    struct error err = {0};
    struct asl_diags diags = {0};
    struct text ignored = {0};
    char *object = object_name(&a, NULL, file);
    enum status s = asl_preprocess(&a, file, NULL, 0, &c->opt, &diags, &ignored, &err);
    text_free(&ignored);
    if (s == STATUS_OK)
        s = write_dependencies(&a, c, file, object ? object : "", &diags, &err);
    asl_diags_print(&diags, &ignored);
    if (ignored.data)
        (void)fwrite(ignored.data, 1, ignored.len, stderr);
    text_free(&ignored);
    arena_free(&a);
    return s == STATUS_OK ? EXIT_PASS : s == STATUS_TYPE ? EXIT_FINDING : report_error(&err, false);
}

/* Does the object hold what its own source gives? */
static int check_object(const struct aslc *c, const char *file)
{
    struct arena a = {0};
    struct error err = {0};
    struct asl_diags diags = {0};
    const struct asl_program *p = NULL;
    struct asl_code *held = NULL, *made = NULL;
    struct text one = {0}, two = {0};
    char *text = NULL;
    size_t size = 0;
    enum status s = file_read(&a, file, 0, &text, &size, &err);
    if (s == STATUS_OK)
        s = asl_object_read(&a, file, text, size, &held, &err);
    if (s == STATUS_OK)
        s = asl_compile(&a, file, text, size, &c->opt, &diags, &p, &err);
    if (s == STATUS_OK)
        s = asl_object_lower(&a, p, &c->lower, &made, &err);
    if (s == STATUS_OK) {
        asl_code_print(held, &one);
        asl_code_print(made, &two);
        drop_places(&one);
        drop_places(&two);
        if (one.failed || two.failed)
            s = error_msg(&err, STATUS_MEMORY, "out of memory");
        else if (strcmp(one.data, two.data) != 0)
            s = error_msg(&err, STATUS_MISMATCH,
                          "%s: its IR is not what its source gives at -O%d%s", file, c->lower.level,
                          c->lower.bake ? " --bake" : "");
    }
    if (s == STATUS_OK)
        printf("Checked %s\n", file);
    int status = s == STATUS_OK         ? EXIT_PASS
                 : s == STATUS_MISMATCH ? (report_error(&err, false), EXIT_FINDING)
                                        : report_error(&err, false);
    text_free(&one);
    text_free(&two);
    arena_free(&a);
    return status;
}

static int check_witness(const char *file)
{
    struct arena a = {0};
    struct error err = {0};
    char *text = NULL;
    size_t size = 0, steps = 0, facts = 0;
    enum status s = file_read(&a, file, 0, &text, &size, &err);
    if (s == STATUS_OK)
        s = asl_witness_check(file, text, size, &steps, &facts, &err);
    if (s == STATUS_OK)
        printf("Checked %s: %zu steps, %zu facts; stores, loads and control flow are not facts\n",
               file, steps, facts);
    else
        (void)report_error(&err, false);
    arena_free(&a);
    return s == STATUS_OK                          ? EXIT_PASS
           : s == STATUS_TYPE || s == STATUS_PARSE ? EXIT_FINDING
                                                   : EXIT_BAD_INPUT;
}

static enum status write_witness(struct arena *a, const struct aslc *c, const struct asl_program *p,
                                 struct error *err)
{
    struct text witness = {0};
    struct asl_code *code = NULL;
    struct asl_lower_options o = c->lower;
    o.witness = &witness;
    enum status s = asl_object_lower(a, p, &o, &code, err);
    if (s == STATUS_OK && witness.failed)
        s = error_msg(err, STATUS_MEMORY, "out of memory");
    if (s == STATUS_OK)
        s = file_write(c->witness, witness.data ? witness.data : "", witness.len, err);
    text_free(&witness);
    return s;
}

static void json_diags(struct json_writer *w, const struct asl_diags *d)
{
    static const char *const names[] = {"note", "warning", "error"};
    json_key(w, "diagnostics");
    json_begin_array(w);
    for (const struct asl_diag *i = d->first; i; i = i->next) {
        json_begin_object(w);
        json_key_string(w, "severity", names[i->severity]);
        json_key_string(w, "file", i->pos.file ? i->pos.file : "");
        json_key_integer(w, "line", i->pos.line);
        json_key_integer(w, "col", i->pos.col);
        json_key_string(w, "text", i->text);
        if (i->hint)
            json_key_string(w, "hint", i->hint);
        json_end_object(w);
    }
    json_end_array(w);
}

static void print_text(struct text *t, FILE *to)
{
    if (t->data)
        (void)fwrite(t->data, 1, t->len, to);
    text_free(t);
}

static void print_stats(const struct asl_code *code, const char *name, size_t layer,
                        struct text *out)
{
    struct asl_code_stats s = asl_code_stats(code, layer);
    text_printf(out,
                "%s: %zu operations -> %zu, %zu symbols -> %zu, %zu with derivatives -> %zu, "
                "%zu moved out of loops\n",
                name, s.ops_before, s.ops_after, s.symbols_before, s.symbols_after, s.derivs_before,
                s.derivs_after, s.moved);
}

static enum status dump_ir(struct arena *a, const struct aslc *c, const struct asl_program *p,
                           struct error *err)
{
    struct asl_code *code = NULL;
    struct text text = {0};
    size_t shaders = asl_program_shaders(p);
    if (shaders == 0)
        return STATUS_OK;
    enum status s = asl_object_lower(a, p, &c->lower, &code, err);
    if (s == STATUS_OK && c->dump & DUMP_IR)
        asl_code_print(code, &text);
    if (s == STATUS_OK && c->stats)
        print_stats(code, asl_program_shader(p, shaders - 1)->name, SIZE_MAX, &text);
    print_text(&text, stdout);
    return s;
}

/* The last shader alone as C, or as LLVM IR: its output parameters and Ci are kept. What the device
 * library lacks is a call of the host, so that no shader is refused. */
static enum status dump_emitted(struct arena *a, const struct aslc *c, const struct asl_program *p,
                                bool rows, bool llvm, struct error *err)
{
    size_t shaders = asl_program_shaders(p), n = 0;
    if (shaders == 0)
        return STATUS_OK;
    const struct asl_shader_info *info = asl_program_shader(p, shaders - 1);
    const char **outputs = ARENA_ARRAY(a, const char *, info->param_count + 2);
    if (!outputs)
        return error_msg(err, STATUS_MEMORY, "out of memory");
    for (size_t i = 0; i < info->param_count; i++)
        if (info->params[i].output)
            outputs[n++] = info->params[i].name;
    outputs[n] = "Ci";
    struct asl_lower_options lower = c->lower;
    lower.outputs = outputs;
    const struct asl_emit_options emit = {
        .wide = rows, .host = true, .uniform = rows, .outputs = outputs, .lanes = 8};
    struct asl_code *code = NULL;
    struct asl_emitted emitted;
    struct text text = {0};
    enum status s = asl_object_lower(a, p, &lower, &code, err);
    if (s == STATUS_OK)
        s = (llvm ? asl_emit_llvm : asl_emit_c)(a, code, &emit, &text, &emitted, err);
    print_text(&text, stdout);
    return s;
}

static enum status dump(struct arena *a, const struct aslc *c, const struct asl_program *p,
                        struct error *err)
{
    enum status s = STATUS_OK;
    for (int types = 0; types < 2; types++) {
        struct text text = {0};
        if (c->dump & (types ? DUMP_TYPES : DUMP_AST))
            asl_program_dump(p, types, &text);
        print_text(&text, stdout);
    }
    if (c->dump & DUMP_IR || c->stats)
        s = dump_ir(a, c, p, err);
    if (s == STATUS_OK && c->dump & DUMP_C)
        s = dump_emitted(a, c, p, false, false, err);
    if (s == STATUS_OK && c->dump & DUMP_C_ROWS)
        s = dump_emitted(a, c, p, true, false, err);
    if (s == STATUS_OK && c->dump & DUMP_LLVM)
        s = dump_emitted(a, c, p, true, true, err);
    return s;
}

static int preprocess(const struct aslc *c, const char *file)
{
    struct arena a = {0};
    struct asl_diags diags = {0};
    struct error err = {0};
    struct text text = {0};
    enum status s = asl_preprocess(&a, file, NULL, 0, &c->opt, &diags, &text, &err);
    print_text(&text, stdout);
    asl_diags_print(&diags, &text);
    print_text(&text, stderr);
    arena_free(&a);
    return s == STATUS_OK ? EXIT_PASS : s == STATUS_TYPE ? EXIT_FINDING : report_error(&err, false);
}

/* The compiled file, and what goes beside it. out NULL: not the file itself. */
static enum status write_outputs(struct arena *a, const struct aslc *c, const char *file,
                                 const struct asl_program *p, const char *out, const char *name,
                                 const struct asl_diags *diags, struct error *err)
{
    enum status s = out ? write_object(a, c, file, p, out, err) : STATUS_OK;
    if (s == STATUS_OK && (c->file_rule || c->file_own_rule))
        s = write_dependencies(a, c, file, name ? name : "", diags, err);
    if (s == STATUS_OK && c->witness)
        s = write_witness(a, c, p, err);
    return s;
}

/* EXIT_PASS, EXIT_FINDING when the source is wrong, else what report_error says. */
static int compile(const struct aslc *c, const char *file, struct json_writer *w)
{
    struct arena a = {0};
    struct asl_diags diags = {0};
    struct error err = {0};
    const struct asl_program *program = NULL;
    struct text text = {0};
    enum status s = asl_compile(&a, file, NULL, 0, &c->opt, &diags, &program, &err);
    bool compiled = s == STATUS_OK;
    const char *name = c->out ? c->out : object_name(&a, program, file);
    const char *out = name && strcmp(name, "-") != 0 ? name : NULL;
    if (compiled)
        s = write_outputs(&a, c, file, program, out, name, &diags, &err);
    if (!w) {
        asl_diags_print(&diags, &text);
        print_text(&text, stderr);
        s = s == STATUS_OK ? dump(&a, c, program, &err) : s;
    }
    int status = s == STATUS_OK                     ? EXIT_PASS
                 : !compiled && (diags.errors || w) ? EXIT_FINDING
                                                    : report_error(&err, false);
    if (w) {
        json_begin_object(w);
        json_key_string(w, "file", file);
        json_key_bool(w, "ok", s == STATUS_OK);
        if (s == STATUS_OK && out)
            json_key_string(w, "output", out);
        if (s != STATUS_OK && diags.errors == 0)
            json_key_string(w, "error", err.msg);
        json_diags(w, &diags);
        json_end_object(w);
    } else if (s != STATUS_OK) {
        printf("FAILED %s\n", file);
    } else if (!c->quiet) {
        printf("Compiled %s%s%s\n", file, out ? " -> " : "", out ? out : "");
    }
    arena_free(&a);
    return status;
}

static int process(const struct aslc *c, const char *file, struct json_writer *w)
{
    if (c->info)
        return shader_info_print(
            file, &(struct shader_info_options){c->opt.include_dirs, c->param, c->verbose}, w);
    if (c->rule || c->own_rule)
        return print_dependencies(c, file);
    if (c->check_witness)
        return check_witness(file);
    if (c->check)
        return check_object(c, file);
    return c->preprocess ? preprocess(c, file) : compile(c, file, w);
}

static int run(void *settings, const struct arguments *args)
{
    struct aslc *c = settings;
    struct error err = {0};
    if (c->builtins) {
        struct text t = {0};
        asl_builtins_print(&t);
        print_text(&t, stdout);
        return EXIT_PASS;
    }
    if (check_use(c, args, &err) != STATUS_OK)
        return report_error(&err, false);
    c->force = args->force;
    c->opt.include_dirs = c->includes.items;
    c->opt.defines = c->defines.items;
    int status = EXIT_PASS;
    struct json_writer w = {.pretty = true};
    if (c->json) {
        json_begin_object(&w);
        json_key(&w, "files");
        json_begin_array(&w);
    }
    for (size_t i = 0; i < args->count; i++) {
        int one = process(c, args->words[i], c->json ? &w : NULL);
        if (one > status)
            status = one;
    }
    if (c->json) {
        json_end_array(&w);
        json_end_object(&w);
        if (!json_print(&w))
            status = EXIT_BAD_INPUT;
    }
    text_free(&w.out);
    return status;
}

#define AT(member) offsetof(struct aslc, member)
static const struct option options[] = {
    {"-o", OPTION_STRING, AT(out), "FILE",
     .help = "where the compiled file goes (one source only; '-': nowhere)", .writes = FILE_OBJECT},
    {"-I", OPTION_LIST, AT(includes), "FOLDER", .joined = true,
     .help = "look for #include files there too; may be given several times", .folder = true},
    {"-D", OPTION_LIST, AT(defines), "NAME[=TEXT]", .joined = true, .help = "define a macro"},
    {"-include", OPTION_STRING, AT(opt.header), "FILE",
     .help = "read that header before the source, as renderers do with theirs", .reads = true},
    {"-E", OPTION_FLAG, AT(preprocess),
     .help = "print what the preprocessor makes of the file, and stop"},
    {"-Wall", OPTION_FLAG, AT(opt.warn_all), .help = "warn also of what is only doubtful"},
    {"-Werror", OPTION_FLAG, AT(opt.warn_error), .help = "warnings are errors"},
    {"-M", OPTION_FLAG, AT(rule),
     .help = "print what the compiled file depends on, as a rule of make, and stop"},
    {"-MM", OPTION_FLAG, AT(own_rule),
     .help = "the same without headers in angle brackets and those that come with Isophote"},
    {"-MD", OPTION_FLAG, AT(file_rule), .help = "compile, and write what -M prints to NAME.d"},
    {"-MMD", OPTION_FLAG, AT(file_own_rule),
     .help = "compile, and write what -MM prints to NAME.d"},
    {"-MF", OPTION_STRING, AT(depend_file), "FILE", .joined = true,
     .help = "where the rule of make goes", .writes = FILE_RULE},
    {"-MT", OPTION_STRING, AT(depend_target), "TARGET", .joined = true,
     .help = "what the rule of make is for", .otherwise = "the compiled file"},
    {"-q", OPTION_FLAG, AT(quiet), .help = "print nothing but messages"},
    {"--dump", OPTION_WORDS, AT(dump), "LIST",
     .help = "print the tree (ast, with its types: types); of the last shader alone the IR (ir), "
             "its C for one point (c) or for rows of points (c-rows), its LLVM IR (llvm)",
     .words = "ast types ir c c-rows llvm"},
    {"-O0 -O1 -O2", OPTION_LEVEL, AT(lower.level), .help = "how far the IR is optimised",
     .preset = "-O2"},
    {"--stay-in-loops", OPTION_FLAG, AT(lower.stay_in_loops),
     .help = "what is the same in each turn of a loop is not moved out of it"},
    {"--bake", OPTION_FLAG, AT(lower.bake),
     .help = "the IR has the parameters' defaults as constants"},
    {"--stats", OPTION_FLAG, AT(stats),
     .help = "print operations and symbols before and after optimisation"},
    {"--builtins", OPTION_FLAG, AT(builtins),
     .help = "print the table of builtin functions as Markdown, and stop"},
    {"--witness", OPTION_STRING, AT(witness), "FILE",
     .help = "write what each step of lowering and optimising did (docs/reference/asl_ir.md)",
     .writes = FILE_WITNESS},
    {"--check-witness", OPTION_FLAG, AT(check_witness),
     .help = "the files are witnesses: check their form, and replay the rules that can be; stores, "
             "loads and control flow are not looked at, so this proves no translation "
             "(docs/reference/asl_ir.md, Witness)"},
    {"--check", OPTION_FLAG, AT(check),
     .help = "the files are compiled ones: read and verify their IR, and compare it with what "
             "their source gives (at the same -O and --bake)"},
    {"--info", OPTION_FLAG, AT(info),
     .help = "list the parameters of compiled shaders (NAME, NAME.aso) or sources"},
    {"-v", OPTION_FLAG, AT(verbose),
     .help = "of --info: with metadata and a line for each default"},
    {"-p", OPTION_LIST, AT(includes), "FOLDER", .help = "of --info: look there too",
     .folder = true},
    {"--param", OPTION_STRING, AT(param), "NAME", .help = "of --info: only that one"},
    JSON_OPTION(AT(json)),
    {"-O", OPTION_IGNORED, .help = "taken as other compilers take it"},
};
const struct command command_aslc = {
    .name = "aslc",
    .group = "shaders",
    .line = "compile shaders, or say what is wrong with them",
    .usage = "isophote aslc [options] FILE...",
    .summary = "Compiles shaders: source in ASL or OSL (docs/reference/asl.md), a procedure in C "
               "(.c, docs/reference/procedures.md), a module of LLVM (.ll or .bc, "
               "docs/reference/modules.md). Prints 'Compiled F -> "
               "NAME.aso', or the errors and 'FAILED F'; the exit status is then 1. The compiled "
               "file lies in the current folder and bears the name of the last shader in F.",
    .examples = "isophote aslc marble.osl\n"
                "isophote aslc -Wall -Iinclude --dump=types fbm.asl",
    .argument = "SHADER",
    .reads = true,
    COMMAND_OPTIONS(options),
    .settings_size = sizeof(struct aslc),
    .max_args = SIZE_MAX,
    .run = run,
};
