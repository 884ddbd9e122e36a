/* SPDX-License-Identifier: Apache-2.0 */
#include "base.h"

#include <string.h>

static const char *const names[] = {
#define X(name, text) #name,
    STATUS_LIST(X)
#undef X
};

static const char *const texts[] = {STATUS_LIST(LIST_TEXT)};

int name_index(const char *name, const char *const *all, int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(name, all[i]) == 0)
            return i;
    return -1;
}

const char *status_name(enum status s) { return (unsigned)s < STATUS_COUNT ? names[s] : "?"; }

const char *status_text(enum status s)
{
    return (unsigned)s < STATUS_COUNT ? texts[s] : "no such status";
}

/* A message is one line on a terminal: whatever input it quotes cannot break or repaint it. */
static void clean_line(char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s < 0x20 || *s == 0x7f)
            *s = ' ';
}

enum status error_setv(struct error *err, enum status code, struct src_pos pos, const char *fmt,
                       va_list ap)
{
    if (!err)
        return code;
    /* Arguments may point into *err (wrapping an error in another), so it is written last. */
    struct error e = {.code = code, .line = pos.line, .col = pos.col};
    vsnprintf(e.msg, sizeof e.msg, fmt, ap);
    e.msg[utf8_whole(e.msg, strlen(e.msg))] = '\0';
    clean_line(e.msg);
    if (pos.file) {
        snprintf(e.file, sizeof e.file, "%s", pos.file);
        e.file[utf8_whole(e.file, strlen(e.file))] = '\0';
    }
    *err = e;
    return code;
}

enum status error_set(struct error *err, enum status code, struct src_pos pos, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    error_setv(err, code, pos, fmt, ap);
    va_end(ap);
    return code;
}

enum status error_msg(struct error *err, enum status code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    error_setv(err, code, (struct src_pos){0}, fmt, ap);
    va_end(ap);
    return code;
}

void error_format(const struct error *err, char *buf, size_t size)
{
    char place[300] = "";
    if (err->file[0] && err->line)
        snprintf(place, sizeof place, "%s:%u:%u: ", err->file, err->line, err->col);
    else if (err->file[0])
        snprintf(place, sizeof place, "%s: ", err->file);
    else if (err->line)
        snprintf(place, sizeof place, "%u:%u: ", err->line, err->col);
    const char *msg = err->msg[0] ? err->msg : status_text(err->code);
    struct text all = {0}, shown = {0};
    text_shown(&shown, place, strlen(place), false);
    text_printf(&all, "error: %s%s%s%s", msg, err->path[0] ? " (at " : "", err->path,
                err->path[0] ? ")" : "");
    if (!all.failed) /* what a compiler said has lines */
        text_shown(&shown, all.data, utf8_whole(all.data, all.len), true);
    snprintf(buf, size, "%s", shown.data && !shown.failed ? shown.data : status_text(err->code));
    text_free(&all);
    text_free(&shown);
}
