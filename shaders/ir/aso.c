/* SPDX-License-Identifier: Apache-2.0 */
/* aso.c: compiled shader files. They stay readable as source: a comment holds the IR, and what
 * follows is the preprocessed text, so that whatever reads .asl reads .aso. */
#include "ir_build.h"

#include <string.h>

static const char mark[] = "// Isophote ASL object 2\n";
static const char ir_begin[] = "/* IR of the last shader alone (docs/reference/asl_ir.md)\n";
static const char ir_end[] = "*/\n"; /* its first two characters end it */

/* Inside the comment no text may end it: "*" and "/" side by side stand in quotes only. */
static void append_comment(struct text *out, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '/' && i && s[i - 1] == '*')
            text_puts(out, "\\x2f");
        else
            text_append(out, s + i, 1);
    }
}

enum status asl_object_lower(struct arena *a, const struct asl_program *p,
                             const struct asl_lower_options *opt, struct asl_code **out,
                             struct error *err)
{
    struct asl_group *g = NULL;
    enum status s = asl_group_new(a, "", &g, err);
    if (s == STATUS_OK)
        s = asl_group_layer(g, p, NULL, "layer", NULL, err);
    if (s == STATUS_OK)
        s = asl_group_finish(g, err);
    return s == STATUS_OK ? asl_lower(a, g, opt, out, err) : s;
}

enum status asl_object_write(struct arena *a, const struct asl_program *p, const char *source,
                             size_t size, const struct asl_lower_options *opt, struct text *out,
                             struct error *err)
{
    text_puts(out, mark);
    if (asl_program_shaders(p) > 0) {
        struct asl_code *code = NULL;
        struct text ir = {0};
        enum status s = asl_object_lower(a, p, opt, &code, err);
        if (s != STATUS_OK)
            return s;
        asl_code_print(code, &ir);
        text_puts(out, ir_begin);
        append_comment(out, ir.data ? ir.data : "", ir.len);
        text_puts(out, ir_end);
        out->failed = out->failed || ir.failed;
        text_free(&ir);
    }
    text_append(out, source, size);
    return out->failed ? error_msg(err, STATUS_MEMORY, "out of memory") : STATUS_OK;
}

bool asl_object_is(const char *text, size_t size)
{
    return size >= sizeof mark - 1 && memcmp(text, mark, sizeof mark - 1) == 0;
}

enum status asl_object_read(struct arena *a, const char *file, const char *text, size_t size,
                            struct asl_code **out, struct error *err)
{
    struct src_pos at = {file, 1, 1};
    if (!asl_object_is(text, size))
        return error_set(err, STATUS_PARSE, at, "expected an object of aslc: '%.24s'", mark);
    const char *p = text + sizeof mark - 1;
    size_t rest = size - (sizeof mark - 1), n = sizeof ir_begin - 1;
    at.line = 2;
    if (rest < n || memcmp(p, ir_begin, n) != 0)
        return error_set(err, STATUS_PARSE, at, "the object holds no IR: it has no shader");
    p += n;
    const char *end = p, *last = text + size - 1;
    while (end < last && !(end[0] == '*' && end[1] == '/'))
        end++;
    if (end >= last)
        return error_set(err, STATUS_PARSE, at, "the IR has no end: expected '*/'");
    return ir_read_lines(a, file, p, (size_t)(end - p), 3, out, err);
}
