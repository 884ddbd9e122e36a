/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures beside the reference: a slider over both, and the difference maps. */
#include <string.h>

#include "html.h"

/* One of the four kinds for the same scene, mode and device; NULL if it is not there. */
static const struct image_record *
image_find(const struct snapshot *s, const struct snapshot_image *like, enum image_kind kind)
{
    for (size_t i = 0; i < s->image_count; i++) {
        const struct image_record *r = s->images[i].record;
        if (s->images[i].column == like->column && r->kind == kind &&
            text_order(r->scene, like->record->scene) == 0 &&
            text_order(r->mode, like->record->mode) == 0)
            return r;
    }
    return NULL;
}

static void img(struct text *t, const struct image_record *r, const char *what, const char *label)
{
    markup_printf(
        t, "<img%! width=\"%u\" height=\"%u\" alt=\"%s of %s on %s\" src=\"data:image/png;base64,",
        r->width < 280 ? " class=\"small\"" : "", r->width, r->height, what, r->scene, label);
    base64_write(t, r->png, r->png_size);
    text_puts(t, "\"/>");
}

static void figure(struct text *t, const struct image_record *r, const char *title,
                   const char *label)
{
    if (!r)
        return;
    text_puts(t, "<figure>");
    img(t, r, title, label);
    markup_printf(t, "<figcaption><b>%s</b>%!%s</figcaption></figure>\n", title,
                  r->caption && r->caption[0] ? ": " : "", r->caption);
}

static void pictures(struct page *p, const struct snapshot_image *first)
{
    const struct image_record *k[4];
    const char *label = p->s->columns[first->column].label;
    for (int i = 0; i < 4; i++)
        k[i] = image_find(p->s, first, (enum image_kind)i);
    const struct image_record *picture = k[IMAGE_PICTURE], *reference = k[IMAGE_REFERENCE];
    markup_printf(p->t, "<h4>%s%!%s</h4>\n<div class=\"pictures\">\n", label,
                  first->record->mode ? ", " : "", first->record->mode);
    bool both = picture && reference && picture->width == reference->width &&
                picture->height == reference->height;
    if (both) {
        text_puts(p->t, "<figure><div class=\"slider\">");
        img(p->t, reference, "reference", label);
        img(p->t, picture, "picture", label);
        markup_printf(
            p->t,
            "</div><input type=\"range\" min=\"0\" max=\"100\" value=\"50\" aria-label=\"reference "
            "on the left, device "
            "on the right\"/><figcaption><b>reference | device</b>%!%s</figcaption></figure>\n",
            picture->caption && picture->caption[0] ? ": " : "", picture->caption);
    } else {
        figure(p->t, picture, "picture", label);
        figure(p->t, reference, "reference", label);
    }
    figure(p->t, k[IMAGE_DIFFERENCE], "difference", label);
    figure(p->t, k[IMAGE_SIGNIFICANCE], "significance", label);
    text_puts(p->t, "</div>\n");
}

void section_images(struct page *p)
{
    const struct snapshot *s = p->s;
    const char *scene = NULL;
    for (size_t i = 0; i < s->image_count; i++) {
        const struct snapshot_image *m = &s->images[i];
        bool seen = false;
        for (size_t k = 0; k < i && !seen; k++)
            seen = s->images[k].column == m->column &&
                   text_order(s->images[k].record->scene, m->record->scene) == 0 &&
                   text_order(s->images[k].record->mode, m->record->mode) == 0;
        if (seen)
            continue;
        if (i == 0)
            text_puts(p->t, "<section id=\"images\"><h2>Images</h2>\n<p class=\"note\">Each "
                            "device's picture over the "
                            "reference's; move the slider. The maps show where and by how much "
                            "they differ, with the "
                            "scale in the caption.</p>\n");
        if (!scene || strcmp(scene, m->record->scene) != 0)
            markup_printf(p->t, "<h3>%s</h3>\n", m->record->scene);
        scene = m->record->scene;
        pictures(p, m);
    }
    if (scene)
        text_puts(p->t, "</section>\n");
}
