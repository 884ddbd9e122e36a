/* isophote: conformance suite and benchmark for path-tracing compute back ends. */
#include "cli.h"

#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *text; /* NULL: not shown */
} commands[] = {
    {"devices", cmd_devices, "list the devices found, and what is missing"},
    {"render", cmd_render, "render one scene on one device"},
    {"conform", cmd_conform, "judge devices: is the picture right?"},
    {"replay", cmd_replay, "show one sample vertex by vertex, on the reference and on a device"},
    {"bench", cmd_bench, "time devices on scenes, with judged pictures"},
    {"sweep", cmd_sweep, "time over work-group shapes and other launch settings"},
    {"report", cmd_report, "make one HTML, Markdown or CSV file of a result store"},
    {"compare", cmd_compare, "compare two result stores: regressions and improvements"},
    {"export", cmd_export, "write a result store as JSON Lines, or a scene for Mitsuba 3"},
    {"import", cmd_import, "make a scene of a model file, or read JSON Lines into a result store"},
    {"aslc", cmd_aslc, "compile shaders, or say what is wrong with them"},
    {"shade", cmd_shade, "run a shader on a grid, with no scene"},
    {"doctor", cmd_doctor, "say what is installed, what is not, and how to get it"},
    {"worker", cmd_worker, NULL},
};

static struct arena line_arena;
static const char *line_text = "";

const char *command_line_text(void) { return line_text; }

static void on_signal(int number)
{
    if (cancel_requested) /* the second time: at once */
        _Exit(128 + number);
    cancel_requested = 1;
}

static void usage(FILE *out)
{
    fprintf(out, "usage: isophote COMMAND [options]     isophote COMMAND --help\n\n");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (commands[i].text)
            fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].text);
    fprintf(out, "\nisophote %s; documentation: README.md and docs/\n", ISOPHOTE_VERSION);
}

/* A standard stream that is closed: else the first file opened would stand in its place. What is
 * written to such an output fails. */
static void open_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_RDWR);
}

/* The exit status, once what was printed is out. */
static int printed(int status)
{
    if ((fflush(stdout) == 0 && !ferror(stdout)) || status != EXIT_PASS)
        return status;
    (void)fputs("isophote: standard output could not be written\n", stderr);
    return EXIT_BAD_INPUT;
}

int main(int argc, char **argv)
{
    open_streams();
    setlocale(LC_ALL, "C");
    struct sigaction act = {.sa_handler = on_signal};
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    signal(SIGPIPE, SIG_IGN);

    if (argc < 2) {
        usage(stderr);
        return EXIT_BAD_INPUT;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        usage(stdout);
        return printed(EXIT_PASS);
    }
    if (strcmp(argv[1], "--version") == 0)
        return printed(cmd_version(argc - 1, argv + 1));
    line_text = command_text(&line_arena, argc, argv);
    int status = -1;
    for (size_t i = 0; i < sizeof commands / sizeof *commands && status < 0; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            status = commands[i].run(argc - 1, argv + 1);
    if (status < 0) {
        fprintf(stderr, "isophote: unknown command '%s'\n", argv[1]);
        usage(stderr);
        status = EXIT_BAD_INPUT;
    }
    arena_free(&line_arena);
    return printed(status);
}
