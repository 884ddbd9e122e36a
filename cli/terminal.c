/* SPDX-License-Identifier: Apache-2.0 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* fopencookie */
#endif
#include "cli.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static bool progress_on;

enum status device_twice(const char *first, const char *second, const char *id, struct error *err)
{
    return error_msg(err, STATUS_ARG, "--device %s and --device %s both name %s; once is enough",
                     first, second, id);
}

double processor_s(void)
{
    struct timespec t = {0};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- what a terminal gets ------------------------------------------------------------------- */

/* A stream whose bytes reach its terminal as text_shown has them. */
struct guard {
    int fd;
    FILE *raw;    /* for the progress line's own controls */
    char tail[4]; /* the start of a character whose rest is still to come */
    size_t tail_size;
};
static struct guard guards[2] = {{STDOUT_FILENO, NULL, "", 0}, {STDERR_FILENO, NULL, "", 0}};

static ssize_t guard_write(void *cookie, const char *data, size_t n)
{
    struct guard *g = cookie;
    struct text whole = {0}, shown = {0};
    text_append(&whole, g->tail, g->tail_size);
    text_append(&whole, data, n);
    size_t size = whole.failed ? 0 : utf8_whole(whole.data, whole.len);
    g->tail_size = whole.len - size;
    if (g->tail_size < sizeof g->tail)
        memcpy(g->tail, whole.data + size, g->tail_size);
    else
        size = whole.len, g->tail_size = 0;
    text_shown(&shown, whole.data, size, true);
    const bool ok = !whole.failed && !shown.failed && write_full(g->fd, shown.data, shown.len);
    text_free(&whole);
    text_free(&shown);
    return ok ? (ssize_t)n : 0;
}

void terminal_guard(void)
{
    FILE **const streams[2] = {&stdout, &stderr};
    for (int i = 0; i < 2; i++) {
        FILE *f = isatty(guards[i].fd)
                      ? fopencookie(&guards[i], "w", (cookie_io_functions_t){.write = guard_write})
                      : NULL;
        if (!f)
            continue;
        (void)setvbuf(f, NULL, i == 0 ? _IOLBF : _IONBF, BUFSIZ);
        guards[i].raw = *streams[i];
        *streams[i] = f;
    }
}

static FILE *progress_stream(void) { return guards[1].raw ? guards[1].raw : stderr; }

enum status output_check(const char *path, struct error *err)
{
    char folder[PATH_MAX] = ".";
    const char *slash = strrchr(path, '/');
    if (slash)
        snprintf(folder, sizeof folder, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    if (access(folder, W_OK | X_OK) == 0)
        return STATUS_OK;
    return error_msg(err, STATUS_IO, "cannot write %s: %s", path, strerror(errno));
}

int limit_say(void)
{
    static bool said;
    if (!said)
        (void)fprintf(stderr, "isophote: the limit of %.6g s passed\n", stop_limit());
    said = true;
    return EXIT_FINDING;
}

int report_error(const struct error *err, bool device_step)
{
    char text[2048];
    progress_end();
    if (stop_limit() > 0)
        (void)limit_say();
    error_format(err, text, sizeof text);
    fprintf(stderr, "isophote: %s\n", text);
    switch (err->code) {
    case STATUS_CANCELLED:
        return EXIT_INTERRUPTED;
    case STATUS_DEVICE:
    case STATUS_BUILD:
    case STATUS_TIMEOUT:
    case STATUS_MISMATCH:
    case STATUS_INTERNAL:
        return EXIT_FINDING;
    case STATUS_MISSING:
    case STATUS_UNSUPPORTED:
        return device_step ? EXIT_NOTHING_RAN : EXIT_BAD_INPUT;
    default:
        return EXIT_BAD_INPUT;
    }
}

void progress_show(const char *what, double share, double left_s)
{
    static int is_terminal = -1;
    static double last;
    if (is_terminal < 0)
        is_terminal = isatty(STDERR_FILENO);
    if (!is_terminal || (progress_on && clock_s() - last < 0.1))
        return;
    last = clock_s();
    progress_on = true;
    struct text shown = {0};
    FILE *out = progress_stream();
    text_shown(&shown, what, strlen(what), false);
    fprintf(out, "\r\033[K%s %3.0f%%", shown.data ? shown.data : "", 100 * share);
    text_free(&shown);
    if (left_s >= 0 && isfinite(left_s))
        fprintf(out, ", %.0f s left", ceil(left_s));
    fflush(out);
}

void progress_end(void)
{
    if (progress_on)
        fprintf(progress_stream(), "\r\033[K");
    progress_on = false;
}

void progress_callback(void *ctx, double share, double left_s)
{
    progress_show(ctx, share, left_s);
}

void warn_of_images(const struct shader_images *s)
{
    for (const struct shader_image *i = s->first; i; i = i->next)
        if (i->warning)
            (void)fprintf(stderr, "warning: %s\n", i->warning);
}

bool json_print(struct json_writer *w)
{
    bool ok = !w->out.failed && w->out.data &&
              fwrite(w->out.data, 1, w->out.len, stdout) == w->out.len &&
              fputc('\n', stdout) != EOF && fflush(stdout) == 0;
    text_free(&w->out);
    if (!ok)
        fprintf(stderr, "isophote: standard output could not be written\n");
    return ok;
}

const char *command_text(struct arena *a, int argc, char **argv)
{
    struct text t = {0};
    for (int i = 0; i < argc; i++) {
        if (i)
            text_puts(&t, " ");
        text_shell(&t, argv[i]);
    }
    const char *s = t.failed || !t.data ? "" : arena_strdup(a, t.data);
    text_free(&t);
    return s ? s : "";
}
