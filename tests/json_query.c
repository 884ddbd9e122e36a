/* SPDX-License-Identifier: Apache-2.0 */
/* json_query FILE [PATH]: the value at "rows[2].device" of a JSON file, for shell tests. Strings
 * print bare, numbers in full, arrays and objects as their count. Exit status: 0; 1 no such value;
 * 2 no JSON. */
#include "base.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct json *step(const struct json *v, const char **path, struct arena *a)
{
    const char *p = *path;
    if (*p == '[') {
        char *end;
        unsigned long index = strtoul(p + 1, &end, 10);
        *path = *end == ']' ? end + 1 : end;
        const struct json *c = v->type == JSON_ARRAY && *end == ']' ? v->first : NULL;
        while (c && index--)
            c = c->next;
        return c;
    }
    p += *p == '.';
    size_t n = strcspn(p, ".[");
    *path = p + n;
    return json_get(v, arena_strndup(a, p, n));
}

static void print(const struct json *v)
{
    switch (v->type) {
    case JSON_NULL:
        puts("null");
        break;
    case JSON_BOOL:
        puts(v->boolean ? "true" : "false");
        break;
    case JSON_NUMBER:
        if (v->is_integer)
            printf("%" PRId64 "\n", v->integer);
        else
            printf("%.17g\n", v->number);
        break;
    case JSON_STRING:
        puts(v->string);
        break;
    case JSON_ARRAY:
    case JSON_OBJECT:
        printf("%zu\n", v->count);
        break;
    }
}

int main(int argc, char **argv)
{
    struct arena a = {0};
    struct error err = {0};
    char *data, message[2048];
    size_t size;
    const struct json *v = NULL;
    int status = 0;
    if (argc < 2) {
        fputs("usage: json_query FILE [PATH]\n", stderr);
        return 2;
    }
    if (file_read(&a, argv[1], 0, &data, &size, &err) != STATUS_OK ||
        json_parse(&a, argv[1], data, size, &v, &err) != STATUS_OK) {
        error_format(&err, message, sizeof message);
        fprintf(stderr, "%s\n", message);
        status = 2;
    } else if (argc > 2) {
        for (const char *path = argv[2]; v && *path;)
            v = step(v, &path, &a);
        if (v)
            print(v);
        else
            status = 1;
    }
    arena_free(&a);
    return status;
}
