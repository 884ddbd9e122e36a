/* SPDX-License-Identifier: Apache-2.0 */
/* manual.c: manual pages and the page of options, of the rows of the commands. */
#include "cli.h"

#include <ctype.h>
#include <string.h>

static const char about[] =
    "Isophote answers one question for people who write, ship or buy GPU compute stacks: does this "
    "device, driver and compiler produce the right picture, how fast, and with which work-group "
    "size?\n"
    "Each command takes --help. Results go to standard output and messages to standard error; "
    "--json gives one JSON document.";

/* Environment variables that the program heeds. */
static const struct variable {
    const char *name, *meaning, *otherwise;
} variables[] = {
    {"ISOPHOTE_CACHE", "cache folder: compiled kernels, ground truths, data",
     "$XDG_CACHE_HOME/isophote, else ~/.cache/isophote"},
    {"ISOPHOTE_TRUTHS",
     "folder of truths, what devices are judged by and took long to make; files may be copied from "
     "another machine's",
     "truth in the cache folder"},
    {"ISOPHOTE_TRUTHS_MIB", "how much of them is kept at most; what was used longest ago goes",
     "4096"},
    {"ISOPHOTE_DATA_DIR", "folder of what comes with the program: scenes/, shaders/, conformance/",
     "../share/isophote, seen from the program; of a program in its build tree the source tree"},
    {"ISOPHOTE_DATA", "folder of what scenes/real/fetch gets, data: in scene files",
     "data in the cache folder"},
    {"ISOPHOTE_CC", "C compiler of the native back end, which is then taken in place of libLLVM",
     "cc, else gcc, else clang"},
    {"ISOPHOTE_CFLAGS",
     "more flags for that compiler, behind ours, with the same effect; part of the compiled "
     "kernel's key",
     NULL},
    {"ISOPHOTE_THREADS", "threads of the reference, the native back end and all parallel loops",
     "all"},
    {"ISOPHOTE_MEMORY", "as --memory, which sets it for the workers that are started",
     "nine tenths of what is free"},
    {"ISOPHOTE_TEXTURE_MEMORY",
     "as --texture-memory, which sets it for the workers that are started", NULL},
    {"ISOPHOTE_DEVICE_MEMORY",
     "bytes that any device is taken to have at most. A scene that needs more is refused before "
     "anything is copied, with both numbers",
     NULL},
    {"ISOPHOTE_OIDN",
     "file of Open Image Denoise 2, for the pass denoised. PyPI's pyoidn carries one in oidn/lib/",
     "libOpenImageDenoise.so.2 where the system looks"},
    {"ISOPHOTE_LLVM", "libLLVM of the code path llvm: 15, 19 or a path", "15, else 19"},
    {"ISOPHOTE_HIP_LIBRARY",
     "the HIP runtime: a path, nvidia (on NVIDIA's driver) or soft (Isophote's own)", "AMD's"},
    {"ISOPHOTE_NVRTC", "file of NVRTC, the compiler of the cuda back end",
     "the newest libnvrtc.so.13 or .12 that the driver takes, on the library path, in $CUDA_PATH, "
     "$CUDA_HOME and /usr/local/cuda*"},
    {"ISOPHOTE_NVRTC_OPTIONS",
     "more options for it, behind ours, parted by blanks; part of the compiled kernel's key", NULL},
    {"ISOPHOTE_NVML",
     "file of NVIDIA's management library, for energy, memory in use, clocks and throttling",
     "libnvidia-ml.so.1"},
    {"ISOPHOTE_SYSMAN", "file of Level Zero's loader, for clocks and throttling of Intel's GPUs",
     "libze_loader.so.1"},
    {"ISOPHOTE_ROCM_SMI", "file of ROCm SMI, for clocks and throttling of AMD's GPUs",
     "librocm_smi64.so"},
    {"ISOPHOTE_SYS", "folder of what Linux tells of processors: clocks, throttling, energy",
     "/sys"},
    {"OCL_ICD_VENDORS", "of the OpenCL loader: folder of .icd files",
     "opencl-icd in the cache folder, if it names all of the system's drivers; else "
     "/etc/OpenCL/vendors"},
    {"POCL_CACHE_DIR", "of PoCL: where it puts compiled kernels, and loads them without a checksum",
     "an empty folder for each run; what was compiled is kept with a checksum in the cache folder"},
};

/* ---- roff ----------------------------------------------------------------------------------- */

/* Text as roff prints it, whatever its letters. */
static void roff(const char *s, struct text *out)
{
    bool line_start = true;
    for (; *s; s++) {
        if (line_start && (*s == '.' || *s == '\''))
            text_puts(out, "\\&");
        line_start = *s == '\n';
        if (*s == '\\')
            text_puts(out, "\\e");
        else if (*s == '-')
            text_puts(out, "\\-");
        else if (*s == '\'')
            text_puts(out, "\\(aq");
        else if (*s == '`')
            text_puts(out, "\\(ga");
        else if (*s == '~')
            text_puts(out, "\\(ti");
        else if (*s == '^')
            text_puts(out, "\\(ha");
        else
            text_append(out, s, 1);
    }
}

/* Lines of `s`, with `between` between them. */
static void roff_lines(const char *between, const char *s, struct text *out)
{
    struct text line = {0};
    while (*s) {
        size_t n = strcspn(s, "\n");
        text_append(&line, s, n);
        roff(line.data ? line.data : "", out);
        text_puts(out, "\n");
        text_free(&line);
        s += n + (s[n] == '\n');
        text_puts(out, *s ? between : "");
    }
}

/* A term in bold, then what it means. */
static void roff_term(const char *term, const char *meaning, const char *otherwise,
                      struct text *out)
{
    text_puts(out, ".TP\n\\fB");
    roff(term, out);
    text_puts(out, "\\fR\n");
    roff(meaning, out);
    if (otherwise) {
        text_puts(out, " (default: ");
        roff(otherwise, out);
        text_puts(out, ")");
    }
    text_puts(out, "\n");
}

static void roff_options(const struct command *c, size_t first, size_t end, struct text *out)
{
    const struct option *o;
    for (size_t i = first; i < end && (o = command_option(c, i)) != NULL; i++) {
        struct text t = {0};
        text_puts(out, ".TP\n\\fB");
        for (const char *p = o->names; *p; p += strspn(p, " ")) {
            size_t n = strcspn(p, " ");
            text_append(&t, p, n);
            text_puts(out, p == o->names ? "" : "\\fR, \\fB");
            roff(t.data ? t.data : "", out);
            text_free(&t);
            p += n;
        }
        text_puts(out, "\\fR");
        if (o->value) {
            text_puts(out, " \\fI");
            roff(o->value, out);
            text_puts(out, "\\fR");
        }
        text_puts(out, "\n");
        option_print_help(o, &t);
        roff(t.data ? t.data : "", out);
        text_puts(out, "\n");
        text_free(&t);
    }
}

static void roff_end(const struct command *self, struct text *out)
{
    text_puts(out, ".SH EXIT STATUS\n");
    for (size_t i = 0; exit_statuses[i][0]; i++)
        roff_term(exit_statuses[i][0], exit_statuses[i][1], NULL, out);
    if (!self) {
        text_puts(out, ".SH ENVIRONMENT\n");
        for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
            roff_term(variables[i].name, variables[i].meaning, variables[i].otherwise, out);
        return;
    }
    text_puts(out, ".SH SEE ALSO\n.BR isophote (1)");
    for (size_t i = 0; commands[i]; i++)
        if (commands[i] != self && commands[i]->group &&
            strcmp(commands[i]->group, self->group) == 0)
            text_printf(out, ",\n.BR isophote\\-%s (1)", commands[i]->name);
    text_puts(out, "\n");
}

static void roff_title(const char *name, const char *line, struct text *out)
{
    text_puts(out, ".\\\" Made by isophote help.\n.TH ");
    for (const char *p = name; *p; p++)
        text_printf(out, "%s%c", *p == '-' ? "\\" : "", toupper((unsigned char)*p));
    text_printf(out, " 1 \"\" \"isophote %s\" \"Isophote\"\n.nh\n.SH NAME\n", ISOPHOTE_VERSION);
    roff(name, out);
    text_puts(out, " \\- ");
    roff(line, out);
    text_puts(out, "\n.SH SYNOPSIS\n.nf\n");
}

static void command_page(const struct command *c, struct text *out)
{
    char name[64];
    snprintf(name, sizeof name, "isophote-%s", c->name);
    roff_title(name, c->line, out);
    roff_lines("", c->usage, out);
    text_puts(out, ".fi\n.SH DESCRIPTION\n");
    roff_lines(".PP\n", c->summary, out);
    text_puts(out, ".SH OPTIONS\n");
    roff_options(c, 0, c->option_count, out);
    roff_term("-h, --help", "show how the command is used", NULL, out);
    if (c->common)
        text_puts(out, ".SS Options that mean the same everywhere\n");
    roff_options(c, c->option_count, SIZE_MAX, out);
    if (c->examples) {
        text_puts(out, ".SH EXAMPLES\n.nf\n");
        roff_lines("", c->examples, out);
        text_puts(out, ".fi\n");
    }
    roff_end(c, out);
}

void manual_page(const struct command *c, struct text *out)
{
    const char *group = "";
    if (c) {
        command_page(c, out);
        return;
    }
    roff_title("isophote", "conformance suite and benchmark for path-tracing back ends", out);
    text_puts(out, "isophote COMMAND [options]\nisophote help [COMMAND]\n.fi\n.SH DESCRIPTION\n");
    roff_lines(".PP\n", about, out);
    text_puts(out, ".SH COMMANDS\n");
    for (size_t i = 0; commands[i]; i++) {
        if (!commands[i]->group)
            continue;
        if (strcmp(commands[i]->group, group) != 0)
            text_printf(out, ".SS %s\n", commands[i]->group);
        group = commands[i]->group;
        text_printf(out, ".TP\n.BR isophote\\-%s (1)\n", commands[i]->name);
        roff(commands[i]->line, out);
        text_puts(out, "\n");
    }
    roff_end(NULL, out);
}

/* ---- Markdown ------------------------------------------------------------------------------- */

/* A cell of a table. */
static void cell(const char *s, struct text *out)
{
    for (; *s; s++)
        if (strchr("|<>*", *s))
            text_printf(out, "\\%c", *s);
        else
            text_append(out, s, 1);
}

/* Words of `s` in lines that end at column 100. */
static void paragraph(const char *s, struct text *out)
{
    size_t column = 0;
    while (*s) {
        size_t n = strcspn(s, " \n");
        if (column && column + 1 + n > 100) {
            text_puts(out, "\n");
            column = 0;
        }
        text_puts(out, column ? " " : "");
        column += n + (column > 0);
        text_append(out, s, n);
        s += n;
        if (*s == '\n') {
            text_puts(out, "\n\n");
            column = 0;
        }
        s += *s != 0;
    }
    text_puts(out, "\n");
}

static void markdown_options(const struct command *c, size_t first, size_t end, struct text *out)
{
    const struct option *o;
    if (first == end || !command_option(c, first))
        return;
    text_puts(out, "\n| option | meaning | default |\n|---|---|---|\n");
    for (size_t i = first; i < end && (o = command_option(c, i)) != NULL; i++) {
        struct text names = {0}, help = {0};
        const char *otherwise = option_default(o);
        option_print_names(o, &names);
        option_print_meaning(o, &help);
        text_puts(out, "| `");
        for (const char *p = names.data ? names.data : ""; *p; p++)
            text_printf(out, *p == '|' ? "\\%c" : "%c", *p);
        text_puts(out, "` | ");
        cell(help.data ? help.data : "", out);
        text_puts(out, " | ");
        cell(otherwise ? otherwise : "", out);
        text_puts(out, " |\n");
        text_free(&names);
        text_free(&help);
    }
}

void manual_markdown(struct text *out)
{
    const struct command *common = NULL;
    text_puts(out, "# Commands and their options\n\n"
                   "<!-- `isophote help --markdown` makes this page of the tables that the program "
                   "reads. -->\n"
                   "`isophote help COMMAND` prints the same, and so do the manual pages.\n"
                   "What all commands have in common is in [cli.md](cli.md).\n\n"
                   "| command | what it does |\n|---|---|\n");
    for (size_t i = 0; commands[i]; i++)
        if (commands[i]->group)
            text_printf(out, "| [%s](#%s) | %s |\n", commands[i]->name, commands[i]->name,
                        commands[i]->line);
    for (size_t i = 0; commands[i]; i++) {
        const struct command *c = commands[i];
        if (!c->group)
            continue;
        text_printf(out, "\n## %s\n\n", c->name);
        paragraph(c->summary, out);
        text_puts(out, "\n");
        for (const char *p = c->usage; *p; p += *p == '\n') {
            size_t n = strcspn(p, "\n");
            text_printf(out, "- `%.*s`\n", (int)n, p);
            p += n;
        }
        markdown_options(c, 0, c->option_count, out);
        if (c->common)
            text_puts(out, "\nIt takes the [common options](#common-options) too.\n");
        common = c->common && !common ? c : common;
    }
    text_puts(out, "\n## Common options\n\nThese mean the same in each command that takes them.\n");
    if (common)
        markdown_options(common, common->option_count, SIZE_MAX, out);
    text_puts(out, "\n## Environment\n\n| variable | meaning | default |\n|---|---|---|\n");
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const struct variable *v = &variables[i];
        text_printf(out, "| `%s` | ", v->name);
        cell(v->meaning, out);
        text_puts(out, " | ");
        cell(v->otherwise ? v->otherwise : "", out);
        text_puts(out, " |\n");
    }
}
