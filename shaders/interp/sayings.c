/* SPDX-License-Identifier: Apache-2.0 */
/* sayings.c: what the shaders of a scene said, each text once. */
#include "shaders.h"

#include <stdlib.h>
#include <string.h>

/* Takes the line. */
static void keep(struct asl_sayings *s, char *line)
{
    size_t at = 0;
    while (at < s->count && strcmp(s->lines[at], line) < 0)
        at++;
    if (at < s->count && strcmp(s->lines[at], line) == 0) {
        free(line);
        return;
    }
    char **more = realloc((void *)s->lines, (s->count + 1) * sizeof *more);
    if (!more) {
        free(line);
        return;
    }
    s->lines = more;
    memmove((void *)(more + at + 1), (void *)(more + at), (s->count - at) * sizeof *more);
    more[at] = line;
    if (++s->count > ASL_SAYINGS_MAX) {
        free(s->lines[--s->count]);
        s->more = true;
    }
}

void asl_sayings_add(struct asl_sayings *s, const char *material, const char *layer,
                     struct src_pos at, enum asl_message kind, const char *to, const char *text)
{
    static const char *const kinds[] = {[ASL_PRINT] = "printf",
                                        [ASL_FPRINT] = "fprintf",
                                        [ASL_MSG_WARNING] = "warning",
                                        [ASL_MSG_ERROR] = "error"};
    struct text t = {0};
    size_t n = strlen(text);
    while (n > 0 && text[n - 1] == '\n')
        n--;
    text_printf(&t, "material '%s'", material);
    if (layer)
        text_printf(&t, ", layer '%s'", layer);
    if (at.file && at.line)
        text_printf(&t, ", %s:%u", at.file, at.line);
    text_printf(&t, ": %s", kinds[kind]);
    if (kind == ASL_FPRINT)
        text_printf(&t, " to '%s'", to);
    text_puts(&t, ": ");
    text_append(&t, text, n);
    if (t.failed)
        text_free(&t);
    else
        keep(s, t.data);
}

void asl_sayings_print(const struct asl_sayings *s, struct text *out)
{
    for (size_t i = 0; i < s->count; i++)
        text_printf(out, "%s\n", s->lines[i]);
    if (s->more)
        text_printf(out, "(and more: %d different texts are kept)\n", ASL_SAYINGS_MAX);
}

void asl_sayings_free(struct asl_sayings *s)
{
    for (size_t i = 0; i < s->count; i++)
        free(s->lines[i]);
    free((void *)s->lines);
    *s = (struct asl_sayings){0};
}
