/* SPDX-License-Identifier: Apache-2.0 */
/* edits_of FILE: all edits of a file of C, a JSON object a line, for tools/host_mutants. */
#include "edits/edits.h"

#include <string.h>

int main(int argc, char **argv)
{
    struct arena a = {0};
    struct error err = {0};
    struct edit *edits = NULL;
    char *text = NULL;
    size_t size, count = 0;
    if (argc != 2)
        return 2;
    if (file_read(&a, argv[1], 0, &text, &size, &err) != STATUS_OK ||
        edits_list(&a, text, &edits, &count, &err) != STATUS_OK) {
        (void)fprintf(stderr, "edits_of: %s\n", err.msg);
        return 2;
    }
    for (size_t i = 0; i < count; i++) {
        const struct edit *e = &edits[i];
        struct json_writer w = {0};
        json_begin_object(&w);
        json_key_string(&w, "rule", e->rule);
        json_key_integer(&w, "offset", (int64_t)e->offset);
        json_key_integer(&w, "length", (int64_t)e->length);
        json_key_string(&w, "now", e->now);
        json_key_integer(&w, "line", e->line);
        json_key_string(&w, "function", e->function);
        json_end_object(&w);
        printf("%s\n", w.out.failed ? "" : w.out.data);
        text_free(&w.out);
    }
    arena_free(&a);
    return 0;
}
