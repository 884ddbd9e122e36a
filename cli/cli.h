/* cli: the program `isophote`. What its subcommands share: options, exit statuses, the terminal. */
#ifndef ISOPHOTE_CLI_H
#define ISOPHOTE_CLI_H

#include "backends.h"

/* Exit statuses of every subcommand. 130 is what shells expect after an interrupt. */
enum {
    EXIT_PASS = 0,
    EXIT_FINDING = 1,
    EXIT_BAD_INPUT = 2,
    EXIT_NOTHING_RAN = 77,
    EXIT_INTERRUPTED = 130
};

/* ---- options ------------------------------------------------------------------------------ */

enum option_type {
    OPTION_FLAG,   /* bool */
    OPTION_STRING, /* const char * */
    OPTION_LIST,   /* struct option_list: may be given several times */
    OPTION_UINT,   /* uint32_t */
    OPTION_COUNT,  /* uint32_t, at least 1 */
    OPTION_SIDE,   /* uint32_t, pixels: 1 to 32768 */
    OPTION_UINT64, /* uint64_t */
    OPTION_DOUBLE, /* double, finite */
    OPTION_PAIR,   /* uint32_t[2], "8x4", both at least 1 */
    OPTION_MODE,   /* enum math_mode */
    OPTION_BVH,    /* enum bvh_kind */
    OPTION_MODEL,  /* enum exec_model */
    OPTION_CODE,   /* enum code_path */
    OPTION_CACHE   /* enum cache_preference */
};
struct option_list {
    const char **items; /* heap until the program ends */
    size_t count;
};
struct option {
    const char *name; /* "--spp" or "-o" */
    enum option_type type;
    void *target;
    const char *value; /* how the value is written in the help: "N"; NULL for flags */
    const char *help;
    bool *given; /* set true when the option was used; may be NULL */
};
struct command_line {
    const char *usage;   /* "isophote render SCENE [options]" */
    const char *summary; /* a paragraph */
    const struct option *options;
    size_t option_count;
    const struct option *common; /* a second table: shared options */
    size_t common_count;
    size_t min_args, max_args; /* positional; max SIZE_MAX: any number */
    const char *examples;      /* shown at the end of the help; may be NULL */
};
/* Parses argv[1..]; `--name value` and `--name=value`; `--` ends options. Returns -1 to go on
 * (positional arguments are moved to the front: argv[1] .. argv[*args]), else the exit status: 0
 * after --help, 2 after an error, which it has printed. */
int options_parse(int argc, char **argv, const struct command_line *c, size_t *args);

/* The options that mean the same everywhere (docs/reference/cli.md). Fill with render_options_init,
 * then use render_options_table as `common`. */
struct render_options {
    struct option_list devices;
    struct launch_settings launch;
    uint32_t spp, width, height, max_depth, rr_depth;
    uint64_t seed;
    bool seed_given, rr_given, mode_given;
    bool json;
    struct option table[20];
    size_t count;
};
void render_options_init(struct render_options *o);
/* The scene's settings with what the command line overrides. */
void render_job_fill(const struct render_options *o, const struct scene *s, struct render_job *job);

/* ---- saying things -------------------------------------------------------------------------- */

/* Prints "isophote: ..." to standard error and returns the exit status that fits: MISSING,
 * UNSUPPORTED when `device_step`: 77; DEVICE, BUILD, TIMEOUT, MISMATCH: 1; CANCELLED: 130; all
 * else 2. */
int report_error(const struct error *err, bool device_step);
/* Can a file be made at `path`, as far as its folder tells? Asked before minutes of work. Fails:
 * IO. */
enum status output_check(const char *path, struct error *err);
/* Is `path` another file than `other`, which is read, or written too? Either may be NULL. Fails:
 * ARG. */
enum status output_apart(const char *path, const char *other, struct error *err);
/* One line that overwrites itself, on a terminal only; `share` in [0,1], left_s < 0: unknown.
 * progress_end clears it. */
void progress_show(const char *what, double share, double left_s);
void progress_end(void);
/* A progress callback for render_job and reference_job: ctx is the text. */
void progress_callback(void *ctx, double share, double left_s);
/* Prints a finished JSON document to standard output; false (and a message) if it could not be
 * written. */
bool json_print(struct json_writer *w);
/* argv joined as a shell would read it, for records; in the arena. */
const char *command_text(struct arena *a, int argc, char **argv);
/* The whole command line of this process, program name as called. */
const char *command_line_text(void);
/* Absolute path of this program. */

/* ---- subcommands ---------------------------------------------------------------------------- */

/* argv[0] is the subcommand's name. */
int cmd_version(int argc, char **argv);
int cmd_devices(int argc, char **argv);
int cmd_render(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_conform(int argc, char **argv);
int cmd_worker(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_bench(int argc, char **argv);
int cmd_sweep(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_import(int argc, char **argv);
int cmd_aslc(int argc, char **argv);
int cmd_shade(int argc, char **argv);

#endif
