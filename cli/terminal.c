#include "cli.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool progress_on;

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

int report_error(const struct error *err, bool device_step)
{
    char text[2048];
    progress_end();
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
    fprintf(stderr, "\r\033[K%s %3.0f%%", what, 100 * share);
    if (left_s >= 0 && isfinite(left_s))
        fprintf(stderr, ", %.0f s left", ceil(left_s));
    fflush(stderr);
}

void progress_end(void)
{
    if (progress_on)
        fprintf(stderr, "\r\033[K");
    progress_on = false;
}

void progress_callback(void *ctx, double share, double left_s)
{
    progress_show(ctx, share, left_s);
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
        if (argv[i][0] &&
            strspn(argv[i],
                   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,%@") ==
                strlen(argv[i])) {
            text_puts(&t, argv[i]);
            continue;
        }
        text_puts(&t, "'");
        for (const char *p = argv[i]; *p; p++)
            if (*p == '\'')
                text_puts(&t, "'\\''");
            else
                text_append(&t, p, 1);
        text_puts(&t, "'");
    }
    const char *s = t.failed || !t.data ? "" : arena_strdup(a, t.data);
    text_free(&t);
    return s ? s : "";
}
