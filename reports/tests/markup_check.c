/* SPDX-License-Identifier: Apache-2.0 */
#include "markup_check.h"

#include <string.h>

#include <libxml/parser.h>

size_t text_count(const char *s, const char *what)
{
    size_t n = 0;
    for (; (s = strstr(s, what)); s += strlen(what))
        n++;
    return n;
}

static void add_outside(struct markup_facts *f, const char *what)
{
    if (!f->outside[0])
        snprintf(f->outside, sizeof f->outside, "%.100s", what);
}

static bool is_one_of(const xmlChar *name, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp((const char *)name, list[i]) == 0)
            return true;
    return false;
}

/* A link may stay in the document or carry its data with it. */
static void judge_attribute(struct markup_facts *f, const xmlAttr *a)
{
    static const char *const linking[] = {"href", "src", "srcset", "action", "poster", "data"};
    static const char png[] = "data:image/png;base64,";
    if (a->name[0] == 'o' && a->name[1] == 'n')
        snprintf(f->problem, sizeof f->problem, "an event handler in an attribute: %s", a->name);
    if (!is_one_of(a->name, linking, sizeof linking / sizeof *linking))
        return;
    char *value = (char *)xmlNodeGetContent((const xmlNode *)a);
    f->links++;
    if (!value || (value[0] != '#' && strncmp(value, png, sizeof png - 1) != 0))
        add_outside(f, value && value[0] ? value : "an empty link");
    xmlFree(value);
}

/* What <style> and <script> fetch. XML and HTML read their text alike: it has no < or &. */
static void judge_code(struct markup_facts *f, const xmlNode *n)
{
    static const char *const ways[] = {"url(",    "@import", "fetch(", "XMLHttpRequest",
                                       "import(", "http:",   "https:"};
    char *code = (char *)xmlNodeGetContent(n);
    for (size_t i = 0; code && i < sizeof ways / sizeof *ways; i++) {
        const char *at = strstr(code, ways[i]);
        if (at)
            add_outside(f, at);
    }
    if (!code || strpbrk(code, "<&"))
        snprintf(f->problem, sizeof f->problem, "< or & in %s", n->name);
    xmlFree(code);
}

static void judge_element(struct markup_facts *f, const xmlNode *n)
{
    static const char *const code[] = {"script", "style"};
    f->elements++;
    f->scripts += strcmp((const char *)n->name, "script") == 0;
    for (const xmlAttr *a = n->properties; a; a = a->next)
        judge_attribute(f, a);
    if (is_one_of(n->name, code, sizeof code / sizeof *code))
        judge_code(f, n);
}

void markup_check(const char *s, struct markup_facts *out)
{
    *out = (struct markup_facts){0};
    xmlDoc *doc =
        xmlReadMemory(s, (int)strlen(s), NULL, NULL,
                      XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_HUGE);
    if (!doc) {
        const xmlError *e = xmlGetLastError();
        snprintf(out->problem, sizeof out->problem, "line %d, column %d: %.160s", e ? e->line : 0,
                 e ? e->int2 : 0, e && e->message ? e->message : "not well-formed");
        return;
    }
    for (const xmlNode *root = xmlDocGetRootElement(doc), *n = root; n;) {
        if (n->type == XML_ELEMENT_NODE)
            judge_element(out, n);
        if (n->type == XML_ELEMENT_NODE && n->children) {
            n = n->children;
            continue;
        }
        while (n != root && !n->next)
            n = n->parent;
        n = n == root ? NULL : n->next;
    }
    xmlFreeDoc(doc);
}
