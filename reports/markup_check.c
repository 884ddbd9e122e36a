#include "markup_check.h"

#include <ctype.h>
#include <string.h>

enum { NAME_MAX_LENGTH = 64, DEPTH_MAX = 256, ATTRIBUTES_MAX = 32 };

struct reader {
    const char *p;
    struct markup_facts *facts;
    char open[DEPTH_MAX][NAME_MAX_LENGTH];
    size_t depth;
};

size_t text_count(const char *s, const char *what)
{
    size_t n = 0;
    for (; (s = strstr(s, what)); s += strlen(what))
        n++;
    return n;
}

static bool fail(struct reader *r, const char *text)
{
    if (!r->facts->problem[0])
        snprintf(r->facts->problem, sizeof r->facts->problem, "%s at: %.60s", text, r->p);
    return false;
}

/* &amp; &lt; &gt; &quot; &#39; and other numbers. */
static bool read_reference(struct reader *r)
{
    static const char *const names[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(r->p, names[i], strlen(names[i])) == 0) {
            r->p += strlen(names[i]);
            return true;
        }
    if (r->p[1] != '#' || !isdigit((unsigned char)r->p[2]))
        return fail(r, "a bare & or an unknown reference");
    r->p += 2 + strspn(r->p + 2, "0123456789");
    return *r->p++ == ';' || fail(r, "a reference without ;");
}

static bool read_name(struct reader *r, char name[NAME_MAX_LENGTH])
{
    size_t n = 0;
    while (isalnum((unsigned char)r->p[n]) || (r->p[n] && strchr("-_:", r->p[n])))
        n++;
    if (n == 0 || n >= NAME_MAX_LENGTH || !isalpha((unsigned char)r->p[0]))
        return fail(r, "expected a name");
    memcpy(name, r->p, n);
    name[n] = '\0';
    r->p += n;
    return true;
}

/* A link may stay in the document or carry its data with it. */
static void judge_link(struct reader *r, const char *value, size_t n)
{
    static const char png[] = "data:image/png;base64,";
    r->facts->links++;
    if ((n > 0 && value[0] == '#') || strncmp(value, png, sizeof png - 1) == 0)
        return;
    if (!r->facts->outside[0])
        snprintf(r->facts->outside, sizeof r->facts->outside, "%.*s", (int)(n < 100 ? n : 100),
                 value);
}

static bool read_attribute(struct reader *r, char names[][NAME_MAX_LENGTH], size_t *count)
{
    char *name = names[*count];
    if (*count + 1 >= ATTRIBUTES_MAX || !read_name(r, name))
        return fail(r, "a bad attribute");
    for (size_t i = 0; i < *count; i++)
        if (strcmp(names[i], name) == 0)
            return fail(r, "an attribute twice");
    (*count)++;
    if (r->p[0] != '=' || r->p[1] != '"')
        return fail(r, "an attribute without a quoted value");
    r->p += 2;
    const char *from = r->p;
    while (*r->p && *r->p != '"') {
        if (*r->p == '<')
            return fail(r, "< in an attribute");
        if (*r->p == '&') {
            if (!read_reference(r))
                return false;
        } else {
            r->p++;
        }
    }
    if (*r->p != '"')
        return fail(r, "an attribute without an end");
    static const char *const linking[] = {"href",   "src",  "srcset",    "action",
                                          "poster", "data", "xlink:href"};
    for (size_t i = 0; i < sizeof linking / sizeof *linking; i++)
        if (strcmp(name, linking[i]) == 0)
            judge_link(r, from, (size_t)(r->p - from));
    if (name[0] == 'o' && name[1] == 'n')
        return fail(r, "an event handler in an attribute");
    r->p++;
    return true;
}

/* The text of <style> or <script>: up to the end tag, with no < or & in it, so that XML reads the
 * same. */
static bool read_raw(struct reader *r, const char *name)
{
    char end[NAME_MAX_LENGTH + 4];
    snprintf(end, sizeof end, "</%s>", name);
    const char *stop = strstr(r->p, end);
    if (!stop)
        return fail(r, "style or script without an end");
    static const char *const ways[] = {"url(",    "@import", "fetch(", "XMLHttpRequest",
                                       "import(", "http:",   "https:"};
    for (const char *c = r->p; c < stop; c++) {
        if (*c == '<' || *c == '&')
            return fail(r, "< or & in style or script");
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
            if (strncmp(c, ways[i], strlen(ways[i])) == 0 && !r->facts->outside[0])
                snprintf(r->facts->outside, sizeof r->facts->outside, "%.80s", c);
    }
    r->p = stop;
    return true;
}

static bool read_tag(struct reader *r)
{
    char name[NAME_MAX_LENGTH], attributes[ATTRIBUTES_MAX][NAME_MAX_LENGTH];
    size_t count = 0;
    r->p++;
    if (*r->p == '/') {
        r->p++;
        if (!read_name(r, name))
            return false;
        if (r->depth == 0 || strcmp(r->open[r->depth - 1], name) != 0)
            return fail(r, "an end tag that closes nothing");
        r->depth--;
        return *r->p++ == '>' || fail(r, "an end tag without >");
    }
    if (!read_name(r, name))
        return false;
    r->facts->elements++;
    r->facts->scripts += strcmp(name, "script") == 0;
    for (;;) {
        r->p += strspn(r->p, " \n\t");
        if (r->p[0] == '/' && r->p[1] == '>') {
            r->p += 2;
            return true;
        }
        if (*r->p == '>')
            break;
        if (!read_attribute(r, attributes, &count))
            return false;
    }
    r->p++;
    if (r->depth == DEPTH_MAX)
        return fail(r, "too deep");
    snprintf(r->open[r->depth++], NAME_MAX_LENGTH, "%s", name);
    return (strcmp(name, "style") != 0 && strcmp(name, "script") != 0) || read_raw(r, name);
}

void markup_check(const char *s, struct markup_facts *out)
{
    struct reader r = {.p = s, .facts = out};
    *out = (struct markup_facts){0};
    if (strncmp(r.p, "<!DOCTYPE html>", 15) == 0)
        r.p += 15;
    if (strncmp(r.p, "<?xml ", 6) == 0 && strstr(r.p, "?>"))
        r.p = strstr(r.p, "?>") + 2;
    bool ok = true;
    while (ok && *r.p) {
        unsigned char c = (unsigned char)*r.p;
        if (c == '<')
            ok = read_tag(&r);
        else if (c == '&')
            ok = read_reference(&r);
        else if (c < 0x20 && c != '\n' && c != '\t' && c != '\r')
            ok = fail(&r, "a control character");
        else
            r.p++;
    }
    if (ok && r.depth)
        fail(&r, r.open[r.depth - 1]);
    if (ok && out->elements == 0)
        fail(&r, "no element");
}
