/* SPDX-License-Identifier: Apache-2.0 */
/* diag.c: memory of one compile, places in sources, and what is said about them. */
#include "asl.h"

#include <stdlib.h>
#include <string.h>

void *asl_alloc(struct asl_compile *c, size_t count, size_t size)
{
    if (size != 0 && count > c->max_bytes / size)
        asl_fail(c, STATUS_LIMIT, (struct asl_loc){0},
                 "the program needs more than %zu bytes to compile", c->max_bytes);
    c->used += count * size;
    if (c->used > c->max_bytes)
        asl_fail(c, STATUS_LIMIT, (struct asl_loc){0},
                 "the program needs more than %zu bytes to compile", c->max_bytes);
    void *p = arena_alloc(c->arena, count, size, 0);
    if (!p)
        asl_fail(c, STATUS_MEMORY, (struct asl_loc){0}, "out of memory");
    return p;
}

char *asl_strndup(struct asl_compile *c, const char *s, size_t n)
{
    char *d = asl_alloc(c, n + 1, 1);
    memcpy(d, s, n);
    return d;
}

char *asl_sprintf(struct asl_compile *c, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0)
        n = 0;
    char *d = asl_alloc(c, (size_t)n + 1, 1);
    va_start(ap, fmt);
    (void)vsnprintf(d, (size_t)n + 1, fmt, ap);
    va_end(ap);
    return d;
}

void *asl_grow(struct asl_compile *c, void *old, size_t count, size_t *cap, size_t need,
               size_t size)
{
    if (need <= *cap)
        return old;
    size_t bigger = *cap ? *cap * 2 : 16;
    while (bigger < need)
        bigger *= 2;
    void *p = asl_alloc(c, bigger, size);
    if (count)
        memcpy(p, old, count * size);
    *cap = bigger;
    return p;
}

const struct asl_source *asl_source_new(struct asl_compile *c, const char *name, const char *text,
                                        size_t size)
{
    struct asl_source *s = ASL_NEW(c, struct asl_source);
    s->name = name;
    s->text = text;
    s->size = size;
    return s;
}

/* The start of each line, found when the first message about the source is made. */
static const char *source_line(struct asl_compile *c, struct asl_loc at, uint32_t *caret)
{
    const struct asl_source *src = at.src;
    uint32_t line = at.line;
    struct asl_source *s = (struct asl_source *)(src->base ? src->base : src);
    if (!s->line_start) {
        size_t n = 1;
        for (size_t i = 0; i < s->size; i++)
            n += s->text[i] == '\n';
        uint32_t *start = ASL_ARRAY(c, uint32_t, n);
        size_t k = 0;
        start[k++] = 0;
        for (size_t i = 0; i < s->size && k < n; i++)
            if (s->text[i] == '\n')
                start[k++] = (uint32_t)(i + 1);
        s->line_start = start;
        s->line_count = n;
    }
    if (line == 0 || line > s->line_count)
        return NULL;
    const char *p = s->text + s->line_start[line - 1];
    size_t width = 0, col = at.col ? at.col - 1 : 0;
    while (p + width < s->text + s->size && p[width] != '\n' && p[width] != '\r' &&
           width < col + 400)
        width++;
    if (col > width)
        col = width;
    size_t first = width > 120 && col > 80 ? col - 60 : 0,
           last = width - first > 120 ? first + 120 : width;
    *caret = (uint32_t)(col - first + (first ? 3 : 0) + 1);
    char *d = asl_sprintf(c, "%s%.*s%s", first ? "..." : "", (int)(last - first), p + first,
                          last < width ? "..." : "");
    for (char *q = d; *q; q++) /* control characters would move the caret */
        if ((unsigned char)*q < 32 || *q == 127)
            *q = ' ';
    return d;
}

struct src_pos asl_pos(struct asl_loc at)
{
    struct src_pos pos = {0};
    if (at.src) {
        int64_t line = (int64_t)at.line + at.src->line_delta;
        pos.file = at.src->name;
        pos.line = line > 0 ? (uint32_t)line : 1;
        pos.col = at.col;
    }
    return pos;
}

static void diag_add(struct asl_compile *c, enum asl_severity severity, struct asl_loc at,
                     const char *hint, const char *fmt, va_list ap)
    __attribute__((format(printf, 5, 0)));

static void diag_add(struct asl_compile *c, enum asl_severity severity, struct asl_loc at,
                     const char *hint, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    if (n < 0)
        n = 0;
    struct asl_diag *d = ASL_NEW(c, struct asl_diag);
    char *text = asl_alloc(c, (size_t)n + 1, 1);
    (void)vsnprintf(text, (size_t)n + 1, fmt, ap);
    if (n > 600) { /* a token of megabytes is shown by its beginning */
        text[600] = 0;
        memcpy(text + 597, "...", 3);
    }
    d->severity = severity;
    d->pos = asl_pos(at);
    d->length = at.len ? at.len : 1;
    d->text = text;
    d->hint = hint;
    d->line = at.src ? source_line(c, at, &d->caret) : NULL;
    if (c->diags->last)
        c->diags->last->next = d;
    else
        c->diags->first = d;
    c->diags->last = d;
    if (severity == ASL_ERROR)
        c->diags->errors++;
    else if (severity == ASL_WARNING)
        c->diags->warnings++;
}

void asl_error(struct asl_compile *c, struct asl_loc at, const char *hint, const char *fmt, ...)
{
    if (at.src && c->shown_at == at.src->name && c->shown_line == at.line && c->shown_col == at.col)
        return;
    if (at.src) {
        c->shown_at = at.src->name;
        c->shown_line = at.line;
        c->shown_col = at.col;
    }
    va_list ap;
    va_start(ap, fmt);
    diag_add(c, ASL_ERROR, at, hint, fmt, ap);
    va_end(ap);
}

/* Sources that #line split are one. */
static const struct asl_source *whole_source(struct asl_loc at)
{
    return at.src && at.src->base ? at.src->base : at.src;
}

void asl_warn_off(struct asl_compile *c, struct asl_loc at)
{
    struct asl_quiet *q = ASL_NEW(c, struct asl_quiet);
    *q = (struct asl_quiet){.src = whole_source(at), .line = at.line + 1, .next = c->quiet};
    c->quiet = q;
}

bool asl_warn(struct asl_compile *c, struct asl_loc at, const char *hint, const char *fmt, ...)
{
    if (c->silent)
        return false;
    for (const struct asl_quiet *q = c->quiet; q; q = q->next)
        if (q->src == whole_source(at) && q->line == at.line)
            return false;
    va_list ap;
    va_start(ap, fmt);
    diag_add(c, c->opt->warn_error ? ASL_ERROR : ASL_WARNING, at, hint, fmt, ap);
    va_end(ap);
    return true;
}

void asl_note(struct asl_compile *c, struct asl_loc at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    diag_add(c, ASL_NOTE, at, NULL, fmt, ap);
    va_end(ap);
}

/* ---- order ---------------------------------------------------------------------------------- */

struct diag_group { /* a diagnostic and the notes that belong to it */
    struct asl_diag *first, *last;
    size_t file, index;
};

static int by_place(const void *pa, const void *pb)
{
    const struct diag_group *a = pa, *b = pb;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    if (a->first->pos.line != b->first->pos.line)
        return a->first->pos.line < b->first->pos.line ? -1 : 1;
    if (a->first->pos.col != b->first->pos.col)
        return a->first->pos.col < b->first->pos.col ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* Stages speak one after another; what they said is shown in the order of the text, file by file.
 */
void asl_diags_sort(struct asl_compile *c)
{
    size_t n = 0;
    for (const struct asl_diag *d = c->diags->first; d; d = d->next)
        n += d->severity != ASL_NOTE;
    if (n < 2)
        return;
    struct diag_group *g = ASL_ARRAY(c, struct diag_group, n);
    size_t k = 0, files = 0;
    for (struct asl_diag *d = c->diags->first; d; d = d->next) {
        if (d->severity == ASL_NOTE && k) {
            g[k - 1].last = d;
            continue;
        }
        if (d->severity == ASL_NOTE)
            continue;
        g[k] = (struct diag_group){d, d, files, k};
        for (size_t i = 0; i < k; i++) {
            const char *a = g[i].first->pos.file, *b = d->pos.file;
            if (a == b || (a && b && strcmp(a, b) == 0)) {
                g[k].file = g[i].file;
                break;
            }
        }
        files = g[k].file == files ? files + 1 : files;
        k++;
    }
    qsort(g, k, sizeof *g, by_place);
    c->diags->first = g[0].first;
    for (size_t i = 0; i < k; i++)
        g[i].last->next = i + 1 < k ? g[i + 1].first : NULL;
    c->diags->last = g[k - 1].last;
}

void asl_fail(struct asl_compile *c, enum status s, struct asl_loc at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    c->fail_status = error_setv(c->err, s, asl_pos(at), fmt, ap);
    va_end(ap);
    longjmp(c->fail, 1);
}

void asl_diags_print(const struct asl_diags *d, struct text *out)
{
    static const char *const names[] = {"note", "warning", "error"};
    for (const struct asl_diag *i = d->first; i; i = i->next) {
        if (i->pos.line)
            text_printf(out, "%s:%u:%u: ", i->pos.file, i->pos.line, i->pos.col);
        text_printf(out, "%s: %s\n", names[i->severity], i->text);
        if (i->line) {
            size_t width = strlen(i->line);
            text_printf(out, "    %s\n    ", i->line);
            for (size_t k = 1; k < i->caret; k++)
                text_puts(out, " ");
            text_puts(out, "^");
            for (size_t k = 1; k < i->length && i->caret + k <= width; k++)
                text_puts(out, "~");
            text_puts(out, "\n");
        }
        if (i->hint)
            text_printf(out, "    hint: %s\n", i->hint);
    }
}

/* Edit distance, counted up to `limit`. Names longer than 40 are not compared. */
static unsigned distance(const char *a, const char *b, unsigned limit)
{
    size_t n = strlen(a), m = strlen(b);
    if (n > 40 || m > 40 || (n > m ? n - m : m - n) > limit)
        return limit + 1;
    unsigned row[41];
    for (size_t j = 0; j <= m; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; i <= n; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            unsigned up = row[j];
            unsigned best = diagonal + (a[i - 1] != b[j - 1]);
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            if (up + 1 < best)
                best = up + 1;
            row[j] = best;
            diagonal = up;
        }
    }
    return row[m];
}

const char *asl_nearest(const char *name, const char *best, const char *candidate)
{
    unsigned limit = strlen(name) < 4 ? 1 : strlen(name) < 8 ? 2 : 3;
    unsigned d = distance(name, candidate, limit);
    if (d > limit)
        return best;
    if (!best || d < distance(name, best, limit))
        return candidate;
    return best;
}
