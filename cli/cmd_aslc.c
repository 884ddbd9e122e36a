/* isophote aslc: compiles shaders, or says what is wrong with them. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

#include "shader_info.h"
#include "shaders.h"

static const char usage[] =
    "usage: isophote aslc [options] FILE...\n\n"
    "Compiles ASL or OSL source (docs/reference/asl.md). Prints 'Compiled F -> NAME.aso', or the errors and "
    "'FAILED F'; the exit\n"
    "status is then 1. The compiled file lies in the current folder and bears the name of the last "
    "shader in F.\n\n"
    "  -o FILE           where the compiled file goes (one source only; '-': nowhere)\n"
    "  -I FOLDER         look for #include files there too; may be given several times\n"
    "  -D NAME[=TEXT]    define a macro\n"
    "  -include FILE     read that header before the source, as renderers do with theirs\n"
    "  -E                print what the preprocessor makes of the file, and stop\n"
    "  -Wall             warn also of what is only doubtful\n"
    "  -Werror           warnings are errors\n"
    "  -M, -MM           print what the compiled file depends on, as a rule of make, and stop; "
    "-MM: "
    "without\n"
    "                    headers in angle brackets and those that come with Isophote\n"
    "  -MD, -MMD         compile, and write that to NAME.d; -MF FILE, -MT TARGET: another file, "
    "another target\n"
    "  -q                print nothing but messages\n"
    "  --dump=LIST       print the tree: ast, types; of the last shader alone the IR: ir, or its C "
    "for one point:\n"
    "                    c, for rows of points: c-rows, or its LLVM IR: llvm (commas between "
    "them)\n"
    "  -O0 -O1 -O2       how far the IR is optimised (default 2)\n"
    "  --bake            the IR has the parameters' defaults as constants\n"
    "  --stats           print operations and symbols before and after optimisation\n"
    "  --builtins        print the table of builtin functions as Markdown\n"
    "  --witness FILE    write what each step of lowering and optimising did (docs/reference/asl_ir.md)\n"
    "  --check-witness   the files are witnesses: check them\n"
    "  --check           the files are compiled ones: read and verify their IR, and compare it "
    "with "
    "what\n"
    "                    their source gives (at the same -O and --bake)\n"
    "  --info            list the parameters of compiled shaders (NAME, NAME.aso) or sources; -v: "
    "with\n"
    "                    metadata and a line for each default; -p FOLDER: look there too; --param "
    "NAME:\n"
    "                    only that one\n"
    "  --json            one JSON document on standard output\n"
    "  --help            this text\n\n"
    "examples:\n"
    "  isophote aslc marble.osl\n"
    "  isophote aslc -Wall -Iinclude --dump=types fbm.asl\n";

struct aslc {
    struct asl_options opt;
    const char **includes, **defines, **files;
    size_t include_count, define_count, file_count;
    const char *out, *witness;
    bool preprocess, quiet, json, ast, types, ir, c, c_rows, llvm, stats, check, check_witness;
    bool info, verbose;
    bool depend, depend_only, depend_system;
    const char *depend_file, *depend_target;
    const char *param; /* of --info */
    struct asl_lower_options lower;
};

static int misuse(const char *what, const char *arg)
{
    struct error err = {0};
    error_msg(&err, STATUS_ARG, "%s '%s'; 'isophote aslc --help' lists the options", what, arg);
    return report_error(&err, false);
}

/* The value of -Ifoo or -I foo; NULL when it is missing. */
static const char *joined(int argc, char **argv, int *i)
{
    if (argv[*i][2])
        return argv[*i] + 2;
    return *i + 1 < argc ? argv[++*i] : NULL;
}

/* "ast,types,ir": false when a word is none of them. */
static bool parse_dump(struct aslc *a, const char *list)
{
    const struct {
        const char *word;
        bool *flag;
    } dumps[] = {{"ast", &a->ast}, {"types", &a->types},   {"ir", &a->ir},
                 {"c", &a->c},     {"c-rows", &a->c_rows}, {"llvm", &a->llvm}};
    const size_t count = sizeof dumps / sizeof *dumps;
    bool any = *list != 0;
    while (*list) {
        size_t n = strcspn(list, ","), k = 0;
        while (k < count && (strlen(dumps[k].word) != n || strncmp(list, dumps[k].word, n) != 0))
            k++;
        if (k == count)
            return false;
        *dumps[k].flag = true;
        list += n + (list[n] == ',');
    }
    return any;
}

/* -1 to go on. */
static int parse(int argc, char **argv, struct aslc *a)
{
    for (int i = 1; i < argc; i++) {
        const char *s = argv[i], *value;
        if (strcmp(s, "--help") == 0 || strcmp(s, "-h") == 0) {
            (void)fputs(usage, stdout);
            return EXIT_PASS;
        }
        if (strcmp(s, "--builtins") == 0) {
            struct text t = {0};
            asl_builtins_print(&t);
            (void)fputs(t.data ? t.data : "", stdout);
            text_free(&t);
            return EXIT_PASS;
        }
        if (strcmp(s, "-Wall") == 0)
            a->opt.warn_all = true;
        else if (strcmp(s, "-Werror") == 0)
            a->opt.warn_error = true;
        else if (strcmp(s, "-q") == 0)
            a->quiet = true;
        else if (strcmp(s, "-E") == 0)
            a->preprocess = true;
        else if (strcmp(s, "--json") == 0)
            a->json = true;
        else if (strcmp(s, "--check-witness") == 0)
            a->check_witness = true;
        else if (strcmp(s, "--witness") == 0) {
            if (i + 1 >= argc)
                return misuse("a file is missing after", s);
            a->witness = argv[++i];
        } else if (strcmp(s, "--check") == 0)
            a->check = true;
        else if (strcmp(s, "--stats") == 0)
            a->stats = true;
        else if (strcmp(s, "--bake") == 0)
            a->lower.bake = true;
        else if (strncmp(s, "-O", 2) == 0 && s[2]) {
            if (s[2] < '0' || s[2] > '2' || s[3])
                return misuse("optimisation has the levels -O0, -O1 and -O2, not", s);
            a->lower.level = s[2] - '0';
        } else if (strncmp(s, "-MF", 3) == 0 || strncmp(s, "-MT", 3) == 0) {
            const char **to = s[2] == 'F' ? &a->depend_file : &a->depend_target;
            *to = s[3] ? s + 3 : i + 1 < argc ? argv[++i] : NULL;
            if (!*to)
                return misuse("a name is missing after", s);
        } else if (strcmp(s, "-M") == 0 || strcmp(s, "-MM") == 0 || strcmp(s, "-MD") == 0 ||
                   strcmp(s, "-MMD") == 0) {
            a->depend = true;
            a->depend_only = s[strlen(s) - 1] == 'M';
            a->depend_system = s[2] != 'M';
        } else if (strcmp(s, "-v") == 0)
            a->verbose = true; /* of --info alone; compiling has no more to say */
        else if (strcmp(s, "-O") == 0)
            ; /* accepted as other compilers do; nothing hangs on it */
        else if (strcmp(s, "--info") == 0)
            a->info = true;
        else if (strcmp(s, "--param") == 0) {
            if (i + 1 >= argc)
                return misuse("a parameter is missing after", s);
            a->param = argv[++i];
        } else if (strcmp(s, "-p") == 0) {
            if (i + 1 >= argc)
                return misuse("a folder is missing after", s);
            a->includes[a->include_count++] = argv[++i];
        } else if (strncmp(s, "--dump=", 7) == 0) {
            if (!parse_dump(a, s + 7))
                return misuse("unknown dump in", s);
        } else if (strncmp(s, "-I", 2) == 0 || strncmp(s, "-D", 2) == 0) {
            bool include = s[1] == 'I';
            if (!(value = joined(argc, argv, &i)))
                return misuse("a value is missing after", s);
            if (include)
                a->includes[a->include_count++] = value;
            else
                a->defines[a->define_count++] = value;
        } else if (strcmp(s, "-o") == 0 || strcmp(s, "-include") == 0) {
            if (i + 1 >= argc)
                return misuse("a file is missing after", s);
            *(s[1] == 'o' ? &a->out : &a->opt.header) = argv[++i];
        } else if (s[0] == '-' && s[1]) {
            return misuse("unknown option", s);
        } else {
            a->files[a->file_count++] = s;
        }
    }
    if (a->file_count == 0)
        return misuse("no source file after", argv[0]);
    if ((a->out || a->witness) && a->file_count > 1)
        return misuse("with several sources there cannot be one output",
                      a->out ? a->out : a->witness);
    for (size_t i = 0; i < a->file_count; i++) {
        struct error err = {0};
        const char *source = a->files[i];
        if (output_apart(a->out, source, &err) || output_apart(a->witness, source, &err) ||
            output_apart(a->depend_file, source, &err))
            return report_error(&err, false);
    }
    return -1;
}

/* The compiled file bears the name of the last shader; without one, that of the source:
 * "dir/marble.osl" -> "marble.aso". p may be NULL. */
static char *object_name(struct arena *a, const struct asl_program *p, const char *file)
{
    size_t shaders = p ? asl_program_shaders(p) : 0;
    if (shaders)
        return arena_printf(a, "%s.aso", asl_program_shader(p, shaders - 1)->name);
    const char *base = strrchr(file, '/');
    base = base ? base + 1 : file;
    const char *dot = strrchr(base, '.');
    return arena_printf(a, "%.*s.aso", (int)(dot && dot != base ? dot - base : (long)strlen(base)),
                        base);
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
        if (c->depend_system || !i->system)
            text_printf(&rule, " \\\n  %s", i->path);
    text_puts(&rule, "\n");
    const char *to = c->depend_file;
    if (!to && !c->depend_only)
        to = arena_printf(a, "%.*s.d", (int)strlen(object) - 4, object);
    enum status s = STATUS_OK;
    if (rule.failed)
        s = error_msg(err, STATUS_MEMORY, "out of memory");
    else if (to)
        s = file_write(to, rule.data, rule.len, err);
    else
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
        printf("Checked %s: %zu steps, %zu facts\n", file, steps, facts);
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
    text_printf(out, "%s: %zu operations -> %zu, %zu symbols -> %zu\n", name, s.ops_before,
                s.ops_after, s.symbols_before, s.symbols_after);
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
    if (s == STATUS_OK && c->ir)
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
        .wide = rows, .host = true, .outputs = outputs, .lanes = 8};
    struct asl_code *code = NULL;
    struct asl_emitted emitted;
    struct text text = {0};
    enum status s = asl_object_lower(a, p, &lower, &code, err);
    if (s == STATUS_OK)
        s = (llvm ? asl_emit_llvm : asl_emit_c)(a, code, &emit, &text, &emitted, err);
    print_text(&text, stdout);
    return s;
}

static enum status dump_code(struct arena *a, const struct aslc *c, const struct asl_program *p,
                             struct error *err)
{
    enum status s = STATUS_OK;
    if (c->ir || c->stats)
        s = dump_ir(a, c, p, err);
    if (s == STATUS_OK && c->c)
        s = dump_emitted(a, c, p, false, false, err);
    if (s == STATUS_OK && c->c_rows)
        s = dump_emitted(a, c, p, true, false, err);
    if (s == STATUS_OK && c->llvm)
        s = dump_emitted(a, c, p, true, true, err);
    return s;
}

/* EXIT_PASS, EXIT_FINDING when the source is wrong, else what report_error says. */
static int compile_one(const struct aslc *c, const char *file, struct json_writer *w)
{
    struct arena a = {0};
    struct asl_diags diags = {0};
    struct error err = {0};
    const struct asl_program *program = NULL;
    struct text text = {0};
    int status = EXIT_PASS;
    if (c->info)
        return shader_info_print(
            file, &(struct shader_info_options){c->opt.include_dirs, c->param, c->verbose});
    if (c->depend && c->depend_only)
        return print_dependencies(c, file);
    if (c->check_witness)
        return check_witness(file);
    if (c->check)
        return check_object(c, file);
    if (c->preprocess) {
        enum status s = asl_preprocess(&a, file, NULL, 0, &c->opt, &diags, &text, &err);
        print_text(&text, stdout);
        asl_diags_print(&diags, &text);
        print_text(&text, stderr);
        arena_free(&a);
        return s == STATUS_OK     ? EXIT_PASS
               : s == STATUS_TYPE ? EXIT_FINDING
                                  : report_error(&err, false);
    }
    enum status s = asl_compile(&a, file, NULL, 0, &c->opt, &diags, &program, &err);
    const char *out = c->out ? c->out : object_name(&a, program, file);
    bool write = out && strcmp(out, "-") != 0;
    if (s == STATUS_OK && write) {
        s = write_object(&a, c, file, program, out, &err);
        if (s != STATUS_OK)
            status = report_error(&err, false);
    } else if (s != STATUS_OK) {
        status = EXIT_FINDING;
    }
    if (s == STATUS_OK && c->depend) {
        s = write_dependencies(&a, c, file, out ? out : "", &diags, &err);
        if (s != STATUS_OK)
            status = report_error(&err, false);
    }
    if (s == STATUS_OK && c->witness) {
        s = write_witness(&a, c, program, &err);
        if (s != STATUS_OK)
            status = report_error(&err, false);
    }
    if (w) {
        json_begin_object(w);
        json_key_string(w, "file", file);
        json_key_bool(w, "ok", s == STATUS_OK);
        if (s == STATUS_OK && write)
            json_key_string(w, "output", out);
        if (s != STATUS_OK && diags.errors == 0)
            json_key_string(w, "error", err.msg);
        json_diags(w, &diags);
        json_end_object(w);
    } else {
        asl_diags_print(&diags, &text);
        print_text(&text, stderr);
        if (s != STATUS_OK && diags.errors == 0 && status == EXIT_FINDING)
            status = report_error(&err, false);
        for (int types = 0; program && s == STATUS_OK && types < 2; types++) {
            if (types ? c->types : c->ast)
                asl_program_dump(program, types, &text);
            print_text(&text, stdout);
        }
        if (s == STATUS_OK) {
            s = dump_code(&a, c, program, &err);
            if (s != STATUS_OK)
                status = report_error(&err, false);
        }
        if (s != STATUS_OK)
            printf("FAILED %s\n", file);
        else if (!c->quiet && write)
            printf("Compiled %s -> %s\n", file, out);
        else if (!c->quiet)
            printf("Compiled %s\n", file);
    }
    arena_free(&a);
    return status;
}

int cmd_aslc(int argc, char **argv)
{
    struct aslc c = {.lower.level = 2};
    size_t n = (size_t)argc + 1;
    c.includes = calloc(n, sizeof(char *));
    c.defines = calloc(n, sizeof(char *));
    c.files = calloc(n, sizeof(char *));
    int status = EXIT_BAD_INPUT;
    if (c.includes && c.defines && c.files)
        status = parse(argc, argv, &c);
    if (status < 0) {
        c.opt.include_dirs = c.includes;
        c.opt.defines = c.defines;
        struct json_writer w = {.pretty = true};
        status = EXIT_PASS;
        if (c.json) {
            json_begin_object(&w);
            json_key(&w, "files");
            json_begin_array(&w);
        }
        for (size_t i = 0; i < c.file_count; i++) {
            int one = compile_one(&c, c.files[i], c.json ? &w : NULL);
            if (one > status)
                status = one;
        }
        if (c.json) {
            json_end_array(&w);
            json_end_object(&w);
            if (!json_print(&w))
                status = EXIT_BAD_INPUT;
        }
        text_free(&w.out);
    }
    free(c.includes);
    free(c.defines);
    free(c.files);
    return status;
}
