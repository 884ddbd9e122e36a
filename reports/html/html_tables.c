/* SPDX-License-Identifier: Apache-2.0 */
/* Published tables that were made again, as files of tools/experiments say them: our rows, and the
 * published ones marked. */
#include <string.h>

#include "html.h"

enum { MOST_BYTES = 16 << 20 };

static enum status member(const char *file, const struct json *v, const char *key,
                          enum json_type type, const struct json **out, struct error *err)
{
    *out = json_get(v, key);
    if (*out && (*out)->type == type)
        return STATUS_OK;
    return json_error(err, file, *out ? *out : v, STATUS_TYPE, "expected %s '%s'",
                      json_type_name(type), key);
}

/* Is the file what section_tables reads? */
static enum status table_check(const char *file, const struct json *v, struct error *err)
{
    const struct json *text, *headers, *rows;
    enum status st = STATUS_OK;
    if (v->type != JSON_OBJECT)
        return json_error(err, file, v, STATUS_TYPE, "expected an object of tools/experiments");
    static const char *const texts[] = {"title", "of", "differs"};
    for (size_t i = 0; i < 3 && !st; i++)
        st = member(file, v, texts[i], JSON_STRING, &text, err);
    if (!st)
        st = member(file, v, "headers", JSON_ARRAY, &headers, err);
    if (!st)
        st = member(file, v, "rows", JSON_ARRAY, &rows, err);
    for (const struct json *h = st ? NULL : headers->first; h && !st; h = h->next)
        if (h->type != JSON_STRING)
            st = json_error(err, file, h, STATUS_TYPE, "expected a column's name");
    for (const struct json *r = st ? NULL : rows->first; r && !st; r = r->next)
        if (r->type != JSON_OBJECT)
            st = json_error(err, file, r, STATUS_TYPE, "expected a row, an object");
    return st;
}

enum status tables_read(struct arena *a, const char *const *files, size_t count,
                        const struct json ***out, struct error *err)
{
    const struct json **tables = ARENA_ARRAY(a, const struct json *, count + 1);
    if (!tables)
        return error_msg(err, STATUS_MEMORY, "out of memory for tables");
    for (size_t i = 0; i < count; i++) {
        char *data;
        size_t size;
        enum status st = file_read(a, files[i], MOST_BYTES, &data, &size, err);
        if (!st)
            st = json_parse(a, files[i], data, size, &tables[i], err);
        if (!st)
            st = table_check(files[i], tables[i], err);
        if (st)
            return st;
    }
    *out = tables;
    return STATUS_OK;
}

static void put_value(struct page *p, const struct json *v)
{
    if (v && v->type == JSON_STRING)
        markup_printf(p->t, "%s", v->string);
    else if (v && v->type == JSON_NUMBER && v->is_integer)
        markup_printf(p->t, "%lld", (long long)v->integer);
    else if (v && v->type == JSON_NUMBER)
        markup_printf(p->t, "%.6g", v->number);
}

/* Does a row have something in that column? */
static bool column_used(const struct json *rows, const char *header)
{
    for (const struct json *r = rows->first; r; r = r->next) {
        const struct json *v = json_get(r, header);
        if (v && (v->type == JSON_NUMBER || (v->type == JSON_STRING && v->string[0])))
            return true;
    }
    return false;
}

static void put_row(struct page *p, const struct json *row, const struct json *rows,
                    const struct json *headers)
{
    const struct json *first = row->first;
    const bool published =
        first && first->type == JSON_STRING && strncmp(first->string, "published", 9) == 0;
    markup_printf(p->t, "<tr%!>", published ? " class=\"published\"" : "");
    for (const struct json *h = headers->first; h; h = h->next) {
        const struct json *v = json_get(row, h->string);
        if (!column_used(rows, h->string))
            continue;
        markup_printf(p->t, "<td%!>", h == headers->first ? "" : " class=\"r\"");
        put_value(p, v);
        text_puts(p->t, "</td>");
    }
    text_puts(p->t, "</tr>\n");
}

static void put_table(struct page *p, const struct json *v)
{
    const struct json *headers = json_get(v, "headers"), *rows = json_get(v, "rows");
    markup_printf(p->t,
                  "<h3>%s</h3>\n<p class=\"note\">After %s. What differs: %s</p>\n"
                  "<div class=\"scroll\"><table class=\"matrix\"><thead><tr>",
                  json_get(v, "title")->string, json_get(v, "of")->string,
                  json_get(v, "differs")->string);
    for (const struct json *h = headers->first; h; h = h->next)
        if (column_used(rows, h->string))
            markup_printf(p->t, "<th>%s</th>", h->string);
    text_puts(p->t, "</tr></thead><tbody>\n");
    for (const struct json *r = rows->first; r; r = r->next)
        put_row(p, r, rows, headers);
    text_puts(p->t, "</tbody></table></div>\n");
}

void section_tables(struct page *p)
{
    if (!p->table_count)
        return;
    text_puts(p->t, "<section id=\"tables\"><h2>Published tables</h2>\n<p class=\"note\">Tables "
                    "of papers, made again by tools/experiments. Italic rows are the published "
                    "numbers, of other machines, scenes and programs; all others were measured "
                    "here.</p>\n");
    for (size_t i = 0; i < p->table_count; i++)
        put_table(p, p->tables[i]);
    text_puts(p->t, "</section>\n");
}
