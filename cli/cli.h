/* SPDX-License-Identifier: Apache-2.0 */
/* cli: the program `isophote`. What its subcommands share: options, exit statuses, the terminal. */
#ifndef ISOPHOTE_CLI_H
#define ISOPHOTE_CLI_H

#include "backends.h"

/* Exit statuses of every subcommand. After a signal it is 128 and
 * the signal's number, as shells expect: INTERRUPTED is SIGINT's, and main knows others. After a
 * time limit it is FINDING. */
enum {
    EXIT_PASS = 0,
    EXIT_FINDING = 1,
    EXIT_BAD_INPUT = 2,
    EXIT_NOTHING_RAN = 77,
    EXIT_INTERRUPTED = 130
};

/* ---- options -------------------------------------------------------------------------------- */

enum option_type {
    OPTION_FLAG,           /* bool */
    OPTION_STRING,         /* const char *, not empty */
    OPTION_WORD,           /* const char *: one of `words` */
    OPTION_WORDS,          /* uint32_t: some of `words`, joined by commas; bit i is the i-th */
    OPTION_LIST,           /* struct option_list: may be given several times */
    OPTION_LEVEL,          /* int: the digit that ends the option's own name, as in -O2 */
    OPTION_UINT,           /* uint32_t */
    OPTION_COUNT,          /* uint32_t, at least 1 */
    OPTION_SIDE,           /* uint32_t, pixels: 1 to 32768, what files of pictures hold */
    OPTION_UINT64,         /* uint64_t */
    OPTION_COUNT64,        /* uint64_t, at least 1 */
    OPTION_FROM_ZERO,      /* double, finite, not below 0 */
    OPTION_ABOVE_ZERO,     /* double, finite, above 0 */
    OPTION_PAIR,           /* uint32_t[2], "8x4", both from 1 to 65536 */
    OPTION_PIXEL,          /* uint32_t[2], "12,34" */
    OPTION_MODE,           /* enum math_mode */
    OPTION_BVH,            /* enum bvh_kind */
    OPTION_MODEL,          /* enum exec_model */
    OPTION_CODE,           /* enum code_path */
    OPTION_CACHE,          /* enum cache_preference */
    OPTION_TONE,           /* enum tone */
    OPTION_FORCE,          /* no target: arguments.force */
    OPTION_TIMEOUT,        /* no target: arguments.timeout_s */
    OPTION_MEMORY,         /* no target: arguments.memory */
    OPTION_TEXTURE_MEMORY, /* no target: arguments.texture_memory */
    OPTION_STEP,           /* no target: `step` is called, in the order of the command line */
    OPTION_IGNORED         /* no target: taken as other programs take it */
};
struct option_list {
    const char **items; /* ends with NULL; NULL when there are none. Heap until the command ends */
    size_t count;
};
/* Kinds of files that are written; a file of another kind is not replaced unless forced. */
enum file_kind {
    FILE_PICTURE = 1 << 0, /* .exr, .png, .pfm, .tif */
    FILE_STORE = 1 << 1,   /* is added to */
    FILE_JOURNAL = 1 << 2,
    FILE_RESULTS = 1 << 3, /* JSON Lines */
    FILE_JUNIT = 1 << 4,
    FILE_REPORT = 1 << 5,
    FILE_SCENE = 1 << 6,
    FILE_MITSUBA = 1 << 7,
    FILE_OBJECT = 1 << 8, /* a compiled shader */
    FILE_WITNESS = 1 << 9,
    FILE_RULE = 1 << 10, /* of make */
    FILE_ARCHIVE = 1 << 11,
    FILE_SIGNATURE = 1 << 12,
    FILE_CHECKPOINT = 1 << 13
};
/* One thing done in its place: an option of the type STEP with what was `written` for it
 * ("--param:type=float") and its values, or an argument ("written" and values[0] are the same). */
typedef enum status option_step(void *settings, const char *written, char **values,
                                struct error *err);
/* Parsing, --help, manual pages, completion and docs/reference/options.md read these rows. */
struct option {
    const char *names; /* "--spp", or several, blanks between: "-t --threads" */
    enum option_type type;
    size_t at;             /* offset of the target in the command's settings */
    const char *value;     /* how its values are written: "N"; "W H" are two; NULL: takes none */
    const char *help;      /* without the default */
    const char *preset;    /* the default, taken as if it were given */
    const char *otherwise; /* the default in words, where it is no value: "the scene's" */
    const char *words;     /* what WORD and WORDS take; else what completion offers */
    size_t given;          /* offset of a bool set true when the option is used; 0: of none */
    bool joined;           /* the value may follow at once: -Ifolder */
    option_step *step;
    unsigned writes;    /* its last value names a file that is written: bits of enum file_kind */
    bool reads;         /* it names a file that is read, or a scene, with all that those name */
    bool folder;        /* it names a folder where what is read is looked for */
    const char *none;   /* of what is written: the value that means no file; "-" does too */
    const char *beside; /* the option whose value with `ending` is the default */
    const char *ending; /* ".journal" */
};
/* A file that the command line names. */
struct file_use {
    const struct option *option; /* NULL: an argument */
    const char *path;
};
struct arguments {
    char **words; /* what is no option */
    size_t count;
    struct step {
        option_step *run;
        const char *written;
        char **values;
    } * steps;
    size_t step_count;
    struct file_use *files;
    size_t file_count;
    const char **folders;
    size_t folder_count;
    bool force;
    double timeout_s;        /* 0: none */
    uint64_t memory;         /* bytes; 0: the default */
    uint64_t texture_memory; /* bytes; 0: not given */
};
struct command {
    const char *name, *group; /* group: heading in the list of commands; NULL: not shown */
    const char *line;         /* what it does, for the list of commands */
    const char *usage;        /* a line for each form: "isophote render SCENE [options]" */
    const char *summary;      /* a line for each paragraph, however long */
    const char *examples;     /* a line for each; may be NULL */
    const char *argument;     /* what arguments are: SCENE, FILE ...; NULL: there are none */
    bool reads;               /* they name files that are read */
    const char *verbs;        /* what the first may be instead, for completion; may be NULL */
    const struct option *options;
    size_t option_count;
    bool common;    /* has the options of struct render_options, with which its settings start */
    bool unlimited; /* does nothing that could take long */
    bool one_dash;  /* names with one dash or two, as OSL's programs have them */
    size_t settings_size;       /* zeroed, then presets, then what is given */
    size_t min_args, max_args;  /* SIZE_MAX: any number */
    option_step *argument_step; /* arguments are steps too */
    int (*run)(void *settings, const struct arguments *args);
};
#define COMMAND_OPTIONS(rows) .options = (rows), .option_count = sizeof(rows) / sizeof *(rows)
#define JSON_OPTION(at)                                                                            \
    {                                                                                              \
        "--json", OPTION_FLAG, (at), .help = "one JSON document on standard output"                \
    }
extern const struct command *const commands[];        /* ends with NULL; main.c */
const struct command *command_find(const char *name); /* NULL: there is none so named */
int command_unknown(const char *name);                /* says so; the exit status */
/* Parses argv[1..] (`--name value`, `--name=value`; `--` ends options) and runs the command. The
 * exit status: 0 after --help, 2 after bad use, which was said. */
int command_run(const struct command *c, int argc, char **argv);
enum status steps_run(const struct arguments *args, void *settings, struct error *err);

/* Does a command line write over what it reads, write two things to one file, or replace a file of
 * another kind without --force? Nothing has run yet. Fails: ARG. */
enum status files_check(const struct command *c, const struct arguments *args, struct error *err);
/* Is what stands there no file, but a device or a pipe? */
bool output_is_special(const char *path);
/* May an output whose name the command line does not hold replace what is there? Fails: ARG. */
enum status output_replaces(const char *path, unsigned kinds, bool force, struct error *err);
/* "render -o writes picture", a line for each option that names files. */
void files_print(const struct command *c, struct text *out);

/* The i-th row of a command, its own first; NULL behind the last. */
const struct option *command_option(const struct command *c, size_t i);
/* "--a, --b N V" */
void option_print_names(const struct option *o, struct text *out);
/* "samples a pixel" */
void option_print_meaning(const struct option *o, struct text *out);
/* "samples a pixel (default: the scene's)" */
void option_print_help(const struct option *o, struct text *out);
/* What its value may be, blanks between; "" when that is no list. */
const char *option_words(const struct option *o, char *buffer, size_t size);
const char *option_default(const struct option *o); /* NULL: none */
/* "a, b or c" of "a b c" */
void words_print(const char *words, const char *last, struct text *out);
/* "; is render meant?" for a name that is near some of `names` (blanks between), else nothing. */
void nearest_print(const char *name, const char *names, struct text *out);
/* `text` in lines of up to 80 columns that start in column `indent`; the first is there already. */
void wrap_print(const char *text, size_t indent, struct text *out);
void command_print_help(const struct command *c, struct text *out);
void commands_say(FILE *out); /* all, a line each */
extern const char *const exit_statuses[][2];

/* The options that mean the same everywhere (docs/reference/cli.md). */
struct render_options {
    struct option_list devices;
    struct settings set;
    uint32_t spp, width, height, max_depth, rr_depth;
    uint64_t seed;
    bool seed_given, rr_given, mode_given;
    bool json;
};
/* The scene's settings with what the command line overrides. */
void render_job_fill(const struct render_options *o, const struct scene *s, struct render_job *job);

/* ---- saying things -------------------------------------------------------------------------- */

/* Prints "isophote: ..." to standard error and returns the exit status that fits: MISSING,
 * UNSUPPORTED when `device_step`: 77; DEVICE, BUILD, TIMEOUT, MISMATCH: 1; CANCELLED: 130; all
 * else 2. */
int report_error(const struct error *err, bool device_step);
/* Says, once, that the time limit passed; the exit status. */
int limit_say(void);
/* Can a file be made at `path`, as far as its folder tells? Asked before minutes of work. Fails:
 * IO. */
enum status output_check(const char *path, struct error *err);
/* The refusal of a device that two options name: "--device 0 and --device ..." */
enum status device_twice(const char *first, const char *second, const char *id, struct error *err);
/* On a terminal, standard output and error show control characters as \x1b from here on. */
void terminal_guard(void);
/* One line that overwrites itself, on a terminal only; `share` in [0,1], left_s < 0: unknown.
 * progress_end clears it. */
void progress_show(const char *what, double share, double left_s);
void progress_end(void);
/* A progress callback for render_job and reference_job: ctx is the text. */
void progress_callback(void *ctx, double share, double left_s);
/* Processor time that all threads of this process took, in seconds. */
double processor_s(void);
/* What is to be said of the images that shaders show, on standard error. */
void warn_of_images(const struct shader_images *s);
/* Prints a finished JSON document to standard output; false (and a message) if it could not be
 * written. */
bool json_print(struct json_writer *w);
/* argv joined as a shell would read it, for records; in the arena. */
const char *command_text(struct arena *a, int argc, char **argv);
/* The whole command line of this process, program name as called. */
const char *command_line_text(void);

/* ---- signatures ----------------------------------------------------------------------------- */

/* signing.c: of archives, by the tool that the key or the file of signers is of. Files are made in
 * `scratch`, a folder of the caller's. */
enum signing_scheme { SIGNING_SSH, SIGNING_MINISIGN };
enum { SIGNING_MOST = 1 << 16 };
const char *signing_ending(enum signing_scheme s); /* ".sig", ".minisig" */
/* Fails: MISSING when the tool does not start, ARG when it does not sign. */
enum status signing_make(struct arena *a, const char *key, const void *data, size_t size,
                         const char *scratch, enum signing_scheme *scheme, const char **signature,
                         size_t *signature_size, struct error *err);
/* The scheme of a file of signers, and, where *signature is NULL, the signature's usual place. */
enum status signing_expected(struct arena *a, const char *signers, const char *archive,
                             const char **signature, enum signing_scheme *scheme,
                             struct error *err);
/* *good: signed by one whom `signers` names; *text says whose signature it is, or what is wrong.
 * Fails: MISSING when the tool does not start, IO. */
enum status signing_check(struct arena *a, const char *signers, const char *signature,
                          const void *data, size_t size, const char *scratch,
                          enum signing_scheme scheme, bool *good, const char **text,
                          struct error *err);

/* ---- identities ----------------------------------------------------------------------------- */

/* What is the same for all results of this process: the program (version, commit, its own bytes,
 * kernel, protocol), and the environment as it was when the process began: drivers change theirs.
 * They live until the process ends. NULL: error. */
void identity_begin(void); /* called by main, before anything else */
const struct identity *identity_of_program(struct error *err);
const struct identity *identity_of_environment(struct error *err);

/* ---- subcommands ---------------------------------------------------------------------------- */

extern const struct command command_devices, command_scenes, command_doctor, command_help,
    command_version, command_render, command_conform, command_replay, command_bench, command_sweep,
    command_report, command_compare, command_export, command_import, command_aslc, command_shade,
    command_submit, command_audit, command_worker;

/* ---- manual.c, completion.c: what is written of the rows of the commands ---------------------- */

/* A manual page of section 1, as roff; c NULL: that of isophote itself. */
void manual_page(const struct command *c, struct text *out);
void manual_markdown(struct text *out); /* docs/reference/options.md */

/* What a shell reads to complete command lines, and where an installation has it, below its folder
 * of data. Ends with a name that is NULL. */
extern const struct completion {
    const char *shell, *path;
    void (*print)(struct text *out);
} completions[];

#endif
