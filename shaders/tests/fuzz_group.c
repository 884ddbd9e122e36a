/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_group.c: libFuzzer target: the text form of groups, then a run of what it made. */
#include "shaders.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct asl_program *find(void *ctx, const char *name, struct error *err)
{
    static const char source[] = "struct S { float x; string t; };\n"
                                 "shader a(float f = 1, int i = 2, string s = \"x\", color c = u, "
                                 "matrix m = 1, float w[3] = {1, 2, 3}, string z[2] = {\"a\"},\n"
                                 "         float any[] = {1, 2}, string more[] = {\"\"},\n"
                                 "         S st = {1, \"q\"}, output float of = 0, output color oc "
                                 "= 0, output float ow[3] = {0}, output S os = {2, \"r\"})\n"
                                 "{ of = f + i + w[i] + st.x; oc = c * m[0][0] + strlen(s) + "
                                 "strlen(z[1]) + any[1] + arraylength(more); ow = w; os = st; }\n";
    struct arena *a = ctx;
    struct asl_diags diags = {0};
    const struct asl_program *p = NULL;
    if (strlen(name) > 8) {
        error_msg(err, STATUS_MISSING, "no shader '%s'", name);
        return NULL;
    }
    return asl_compile(a, "a.asl", source, sizeof source - 1, NULL, &diags, &p, err) == STATUS_OK
               ? p
               : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {.limit = (size_t)64 << 20};
    struct error err = {0};
    struct text warnings = {0};
    struct asl_group *g = NULL;
    struct asl_context *cx = NULL;
    char *text = arena_strndup(&a, (const char *)data, size);
    if (text && asl_group_new(&a, "fuzz", &g, &err) == STATUS_OK &&
        asl_group_parse(g, "fuzz", text, find, &a, &warnings, &err) == STATUS_OK &&
        asl_group_finish(g, &err) == STATUS_OK &&
        asl_context_new(g, NULL, &cx, &err) == STATUS_OK) {
        struct asl_globals state = {.u = {0.5f, 1, 0}};
        (void)asl_context_run(cx, &state, &err);
    }
    asl_context_free(cx);
    text_free(&warnings);
    arena_free(&a);
    return 0;
}
