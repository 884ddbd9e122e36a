/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <string.h>

size_t level_length(const char *case_name) { return strcspn(case_name, "."); }

const char *shape_text(const uint32_t shape[2], char buf[32])
{
    if (shape[0] || shape[1])
        snprintf(buf, 32, "%ux%u", shape[0], shape[1]);
    else
        snprintf(buf, 32, "default");
    return buf;
}

enum status report_write(struct store *const *stores, size_t count, enum report_format format,
                         bool all_runs, const char *path, struct error *err)
{
    return report_write_with(stores, count, format, all_runs, &(struct report_extras){0}, path,
                             err);
}

enum status report_write_with(struct store *const *stores, size_t count, enum report_format format,
                              bool all_runs, const struct report_extras *extras, const char *path,
                              struct error *err)
{
    struct page_extras read = {.table_count = extras->table_count,
                               .page_count = extras->page_count};
    struct arena a = {0};
    struct snapshot snap;
    struct text t = {0};
    enum status st = snapshot_load(stores, count, &a, all_runs, &snap, err);
    if (!st)
        st = tables_read(&a, extras->tables, extras->table_count, &read.tables, err);
    if (!st)
        st = pages_read(&a, extras->pages, extras->page_count, &read.pages, err);
    if (!st && format == REPORT_HTML)
        st = report_html(&t, &a, &snap, &read, err);
    else if (!st && format == REPORT_MARKDOWN)
        report_markdown(&t, &snap);
    else if (!st)
        report_csv(&t, &snap);
    if (!st)
        st = t.failed ? error_msg(err, STATUS_MEMORY, "out of memory for %s", path)
                      : file_write(path, t.data, t.len, err);
    text_free(&t);
    arena_free(&a);
    return st;
}
