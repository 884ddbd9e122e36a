/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of numbers (rows of `sweep --axis number-format`): a table, how far each picture is from
 * double's over the bits of a number, and what a sample costs. */
#include "html.h"

#include <string.h>

static const char *const headers[] = {"format",      "how",
                                      "scene",       "picture",
                                      "host",        "mean G over double's",
                                      "RMSE",        "relMSE",
                                      "us a sample", "time over double's",
                                      "reason"};

static void put_key(struct json_writer *w, const char *key, int digits, double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.*g", digits, value);
    json_key_string(w, key, text);
}

static bool several_hosts(const struct snapshot *s)
{
    for (size_t i = 1; i < s->format_count; i++)
        if (strcmp(s->runs[s->formats[i].run].host, s->runs[s->formats[0].run].host) != 0)
            return true;
    return false;
}

static void row_write(struct json_writer *w, const struct snapshot *s, size_t i)
{
    const struct number_format_record *r = s->formats[i].record;
    char job[96];
    snprintf(job, sizeof job, "%ux%u, %u spp", r->width, r->height, r->spp);
    json_begin_object(w);
    json_key_string(w, "format", r->format);
    json_key_string(w, "how", r->how);
    json_key_string(w, "scene", r->scene);
    json_key_string(w, "picture", job);
    if (several_hosts(s))
        json_key_string(w, "host", s->runs[s->formats[i].run].host);
    if (r->reason) {
        json_key_string(w, "reason", r->reason);
    } else {
        if (r->double_green > 0)
            put_key(w, "mean G over double's", 4, r->mean[1] / r->double_green);
        put_key(w, "RMSE", 2, r->rmse);
        put_key(w, "relMSE", 2, r->relmse);
        put_key(w, "us a sample", 3, r->us_per_sample);
        put_key(w, "time over double's", 3, r->times_double);
    }
    json_end_object(w);
}

/* ---- the plots ------------------------------------------------------------------------------ */

static size_t family_length(const char *format) { return strcspn(format, "0123456789"); }

/* Is it on a line of the plot: of the errors one of each family that has digits only behind its
 * name (float16-f16c has float16's picture), of the costs all. */
static bool plotted(const struct number_format_record *r, bool cost)
{
    return !r->reason && (cost ? r->times_double > 0 : r->relmse > 0 && !strchr(r->format, '-'));
}

static bool same_line(const struct snapshot *s, size_t i, size_t k, bool cost)
{
    const struct number_format_record *a = s->formats[i].record, *b = s->formats[k].record;
    const size_t n = family_length(a->format);
    return strcmp(s->runs[s->formats[i].run].host, s->runs[s->formats[k].run].host) == 0 &&
           strcmp(a->scene, b->scene) == 0 && a->width == b->width && a->height == b->height &&
           a->spp == b->spp && a->max_depth == b->max_depth && n == family_length(b->format) &&
           strncmp(a->format, b->format, n) == 0 && (!cost || text_order(a->how, b->how) == 0);
}

/* Rows stand by their bits, so points do. */
static void line_write(struct json_writer *w, const struct snapshot *s, size_t i, bool cost)
{
    const struct number_format_record *r = s->formats[i].record;
    char name[160];
    snprintf(name, sizeof name, "%.60s %ux%u, %u spp: %.*s%s%.60s", r->scene, r->width, r->height,
             r->spp, (int)family_length(r->format), r->format, cost ? ", " : "",
             cost && r->how ? r->how : "");
    json_begin_object(w);
    json_key_string(w, "name", name);
    json_key(w, "points");
    json_begin_array(w);
    for (size_t k = i; k < s->format_count; k++)
        if (plotted(s->formats[k].record, cost) && same_line(s, i, k, cost)) {
            json_begin_array(w);
            json_number(w, s->formats[k].record->bits);
            json_number(w,
                        cost ? s->formats[k].record->times_double : s->formats[k].record->relmse);
            json_end_array(w);
        }
    json_end_array(w);
    json_end_object(w);
}

static void plot_write(struct json_writer *w, const struct snapshot *s, bool cost)
{
    json_begin_object(w);
    json_key_string(w, "x", "bits of a number");
    json_key_string(w, "y", cost ? "time over double's" : "relMSE");
    json_key(w, "series");
    json_begin_array(w);
    for (size_t i = 0; i < s->format_count; i++) {
        bool first = plotted(s->formats[i].record, cost);
        for (size_t k = 0; k < i && first; k++)
            first = !plotted(s->formats[k].record, cost) || !same_line(s, i, k, cost);
        if (first)
            line_write(w, s, i, cost);
    }
    json_end_array(w);
    json_end_object(w);
}

/* [headers, rows, plot of errors, plot of costs] */
static const struct json *content(struct page *p)
{
    struct json_writer w = {0};
    const struct json *v = NULL;
    json_begin_array(&w);
    json_begin_array(&w);
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        json_string(&w, headers[i]);
    json_end_array(&w);
    json_begin_array(&w);
    for (size_t i = 0; i < p->s->format_count; i++)
        row_write(&w, p->s, i);
    json_end_array(&w);
    plot_write(&w, p->s, false);
    plot_write(&w, p->s, true);
    json_end_array(&w);
    if (w.out.failed || json_parse(p->a, "number formats", w.out.data, w.out.len, &v, NULL))
        p->no_memory = true;
    text_free(&w.out);
    return p->no_memory ? NULL : v;
}

void section_formats(struct page *p)
{
    const struct json *v = p->s->format_count ? content(p) : NULL;
    if (!v)
        return;
    text_puts(p->t,
              "<section id=\"formats\"><h2>Number formats</h2>\n<p class=\"note\">One tracer of "
              "spheres, boxes and media, by linear search on this processor, in several kinds of "
              "numbers: paths and random numbers are the same, so pictures differ from that in "
              "double by the format alone. relMSE is the mean of (x - r)\xc2\xb2/(r\xc2\xb2 + "
              "0.01). Times are the processor's, each over double's in the same process. A format "
              "that the processor has instructions for is there twice: by them, and emulated, with "
              "the same picture.</p>\n");
    const struct json *rows = v->first->next, *error = rows->next;
    html_rows(p, v->first, rows);
    html_plot(p, error);
    html_plot(p, error->next);
    text_puts(p->t, "</section>\n");
}
