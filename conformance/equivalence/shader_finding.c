/* SPDX-License-Identifier: Apache-2.0 */
/* From a difference to the smallest program that shows it, and the statement. */
#include "shader_finding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct showing {
    const char *name;
    uint32_t variation;
    const struct shader_setting *setting;
    const struct asl_globals *points;
    size_t count;
    bool whole; /* the last difference was of the run as such: reduce only to the same kind */
};

static bool differs(const struct showing *s, const char *text, size_t size,
                    struct shader_comparison *c)
{
    struct arena a = {0};
    struct shader_file f;
    bool different =
        shader_file_read(&a, s->name, text, size, s->variation, &f, NULL) == STATUS_OK &&
        shader_compare(&f, s->setting, s->points, s->count, c, NULL) == STATUS_OK && c->different;
    arena_free(&a);
    return different && (strcmp(c->first.output, "the run") == 0) == s->whole;
}

static bool still_shows(void *ctx, const char *text, size_t size)
{
    struct shader_comparison c;
    return differs(ctx, text, size, &c);
}

/* The cache folder's findings/NAME-HASH.asl. */
static enum status write_program(const char *name, const struct text *program, char *path,
                                 size_t size, struct error *err)
{
    char dir[512], hex[33];
    enum status st = cache_dir("findings", dir, sizeof dir, err);
    if (st != STATUS_OK)
        return st;
    const char *base = path_name(name);
    hash_bytes(program->data, program->len, hex);
    (void)snprintf(path, size, "%s/%.*s-%.8s.asl", dir, (int)strcspn(base, "."), base, hex);
    return file_write(path, program->data, program->len, err);
}

/* Do the points hold what only programs at special points meet? */
static bool at_special(const struct asl_globals *points, size_t count)
{
    bool special = false;
    for (size_t i = 0; i < count; i++)
        special = special || !isfinite(points[i].u.v) || !isfinite(points[i].v.v);
    return special;
}

static void tell(const struct shader_setting *s, const struct shader_difference *d,
                 const struct shader_place *place, struct shader_finding *out)
{
    int n = snprintf(out->reason, sizeof out->reason, "%s -O%u%s: ", s->engine, s->level,
                     s->bake ? " baked" : "");
    n += snprintf(out->reason + n, sizeof out->reason - (size_t)n, "%s", d->text);
    if (place && n > 0 && (size_t)n < sizeof out->reason)
        (void)snprintf(out->reason + n, sizeof out->reason - (size_t)n,
                       "; first at line %u of the reduced program, `%s`: %s, the interpreter %s",
                       place->line, place->statement, place->found, place->expected);
}

enum status shader_finding_make(const char *name, const char *text, size_t size, uint32_t variation,
                                const struct shader_setting *s,
                                const struct shader_difference *first,
                                const struct asl_globals *points, size_t count, double seconds,
                                struct shader_finding *out, struct error *err)
{
    struct showing one = {
        name, variation, s, points + first->point, 1, strcmp(first->output, "the run") == 0};
    struct showing all = {name, variation, s, points, count, one.whole};
    struct shader_comparison c = {.first = *first};
    struct shader_place place;
    struct text small = {0};
    struct asl_reduction what = {0};
    *out = (struct shader_finding){0};
    /* one point is enough nearly always; what needs several (texts said once) is reduced on all */
    struct showing *on = differs(&one, text, size, &c) ? &one : &all;
    enum status st = asl_reduce(text, size, still_shows, on, seconds, &small, &what, err);
    if (st == STATUS_OK && differs(on, small.data, small.len, &c)) {
        size_t at = on == &one ? 0 : c.first.point;
        /* elsewhere values differ before the one that is wrong */
        bool located =
            s->mode == MODE_STRICT && shader_locate(name, small.data, s, &on->points[at], &place);
        tell(s, &c.first, located ? &place : NULL, out);
        if (at_special(points, count)) /* so that the file alone shows it */
            text_puts(&small, "\n//! special\n");
        st = write_program(name, &small, out->file, sizeof out->file, err);
    } else { /* MISMATCH: it differs in one run and not in the next, which is a finding too */
        tell(s, first, NULL, out);
        (void)snprintf(out->reason + strlen(out->reason), sizeof out->reason - strlen(out->reason),
                       "; not in a second run");
        st = STATUS_OK;
    }
    out->reduction = what;
    text_free(&small);
    return st;
}
