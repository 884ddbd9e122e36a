/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of other tools, each in a frame: what cases run of the device's text, which mutants live. */
#include <string.h>

#include "html.h"

enum { MOST_BYTES = 64 << 20 };

/* What stands between <title> and </title>, in the arena; NULL where there is none. */
static const char *title_of(struct arena *a, const char *data)
{
    static const char mark[] = "<title>";
    const char *from = strstr(data, mark), *to = from ? strstr(from, "</title>") : NULL;
    if (!to || to == from + strlen(mark))
        return NULL;
    return arena_strndup(a, from + strlen(mark), (size_t)(to - from) - strlen(mark));
}

enum status pages_read(struct arena *a, const char *const *files, size_t count,
                       const struct framed_page **out, struct error *err)
{
    struct framed_page *pages = ARENA_ARRAY(a, struct framed_page, count + 1);
    if (!pages)
        return error_msg(err, STATUS_MEMORY, "out of memory for pages");
    for (size_t i = 0; i < count; i++) {
        char *data;
        TRY(file_read(a, files[i], MOST_BYTES, &data, &pages[i].size, err));
        pages[i].data = data;
        pages[i].title = title_of(a, data);
        if (!pages[i].title)
            return error_msg(err, STATUS_PARSE,
                             "%s: expected a page of HTML with a title, such as tools/coverage -o "
                             "writes",
                             files[i]);
    }
    *out = pages;
    return STATUS_OK;
}

/* A frame has names and styles of its own, and what it links to in itself is found there. */
void section_pages(struct page *p)
{
    const struct page_extras *e = p->extras;
    if (!e->page_count)
        return;
    text_puts(p->t, "<section id=\"pages\"><h2>For developers of the suite</h2>\n<p "
                    "class=\"note\">How much a PASS would have noticed: lines of the device's text "
                    "that cases run, and mistakes that they notice. The pages are those that the "
                    "tools wrote; they are of no device above.</p>\n");
    for (size_t i = 0; i < e->page_count; i++) {
        const struct framed_page *f = &e->pages[i];
        markup_printf(p->t,
                      "<details class=\"framed\"><summary>%s</summary>\n<iframe title=\"%s\" "
                      "src=\"data:text/html;charset=utf-8;base64,",
                      f->title, f->title);
        base64_write(p->t, f->data, f->size);
        text_puts(p->t, "\"></iframe></details>\n");
    }
    text_puts(p->t, "</section>\n");
}
