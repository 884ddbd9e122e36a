/* SPDX-License-Identifier: Apache-2.0 */
/* isophote: conformance suite and benchmark for path-tracing compute back ends. */
#include "cli.h"

#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct command *const commands[] = {
    &command_devices, &command_scenes,  &command_doctor, &command_help,   &command_version,
    &command_render,  &command_conform, &command_replay, &command_bench,  &command_sweep,
    &command_report,  &command_compare, &command_submit, &command_audit,  &command_export,
    &command_import,  &command_aslc,    &command_shade,  &command_worker, NULL,
};

static struct arena line_arena;
static const char *line_text = "";

const char *command_line_text(void) { return line_text; }

static void note(const char *said)
{
    struct text shown = {0};
    text_shown(&shown, said, strlen(said), false);
    (void)fprintf(stderr, "isophote: note: %s\n", shown.data ? shown.data : "");
    text_free(&shown);
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
    identity_begin();
    terminal_guard();
    setlocale(LC_ALL, "C");
    signal(SIGPIPE, SIG_IGN);
    stop_begin();
    stacks_deepen();

    if (argc < 2) {
        commands_say(stderr);
        return EXIT_BAD_INPUT;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        commands_say(stdout);
        return printed(EXIT_PASS);
    }
    line_text = command_text(&line_arena, argc, argv);
    const struct command *c = command_find(strcmp(argv[1], "--version") ? argv[1] : "version");
    if (c != &command_worker) /* whose caller says it */
        note_say = note;
    int status = c ? command_run(c, argc - 1, argv + 1) : command_unknown(argv[1]);
    arena_free(&line_arena);
    status = printed(status);
    /* Whoever sent a signal learns from the status that it came, also where the work was all but
     * done, or where what it ended looks like a failure. */
    if (stop_limit() > 0)
        return limit_say();
    return cancel_requested ? 128 + cancel_requested : status;
}
