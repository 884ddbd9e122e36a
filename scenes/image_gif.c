/* GIF (CompuServe, "Graphics Interchange Format, version 89a", 1990): the first picture, in its
 * place on the screen; what is transparent or not covered by it has alpha 0. */
#include "image_format.h"

#include <string.h>

enum { HEADER = 13, FRAME_HEAD = 9, CODES = 4096, NONE = 256 };

struct gif {
    const struct image_source *s;
    size_t at;
    uint32_t width, height;             /* of the screen */
    uint32_t left, top, columns, lines; /* of the picture */
    bool interlaced;
    const unsigned char *colors; /* R, G, B */
    unsigned color_count;
    unsigned transparent; /* colour; NONE */
};

bool gif_recognise(const unsigned char *data, size_t size)
{
    return size >= 6 && (memcmp(data, "GIF87a", 6) == 0 || memcmp(data, "GIF89a", 6) == 0);
}

static enum status ends_early(const struct gif *g)
{
    return image_fault(g->s, STATUS_PARSE, "the file ends before its first picture does");
}

/* The next n bytes, or NULL. */
static const unsigned char *take(struct gif *g, size_t n)
{
    if (g->s->size - g->at < n)
        return NULL;
    g->at += n;
    return g->s->data + g->at - n;
}

/* The table of colours that the flags of a header promise, if they do. */
static bool take_colors(struct gif *g, unsigned flags)
{
    if (!(flags & 128))
        return true;
    g->color_count = 2U << (flags & 7);
    g->colors = take(g, (size_t)3 * g->color_count);
    return g->colors != NULL;
}

/* An extension, of which a graphic control says which colour is transparent. */
static bool take_extension(struct gif *g)
{
    enum { GRAPHIC_CONTROL = 0xf9 };
    const unsigned char *label = take(g, 1), *size, *block;
    if (!label)
        return false;
    for (bool first = true; (size = take(g, 1)) && (block = take(g, *size)); first = false) {
        if (*size == 0)
            return true;
        if (first && *label == GRAPHIC_CONTROL && *size >= 4)
            g->transparent = block[0] & 1 ? block[3] : NONE;
    }
    return false;
}

/* Up to the data of the first picture. */
static enum status find_picture(struct gif *g)
{
    const unsigned char *p = take(g, HEADER);
    if (!p)
        return ends_early(g);
    g->width = little16(p + 6);
    g->height = little16(p + 8);
    g->transparent = NONE;
    if (!take_colors(g, p[10]))
        return ends_early(g);
    while ((p = take(g, 1)) && *p == '!')
        if (!take_extension(g))
            return ends_early(g);
    if (!p)
        return ends_early(g);
    if (*p != ',')
        return image_fault(g->s, STATUS_PARSE, "block %#x, expected a picture", (unsigned)*p);
    if (!(p = take(g, FRAME_HEAD)) || !take_colors(g, p[8]))
        return ends_early(g);
    g->left = little16(p);
    g->top = little16(p + 2);
    g->columns = little16(p + 4);
    g->lines = little16(p + 6);
    g->interlaced = p[8] & 64;
    if (!g->colors)
        return image_fault(g->s, STATUS_PARSE, "it has no table of colours");
    if (g->columns == 0 || g->lines == 0 || g->left + g->columns > g->width ||
        g->top + g->lines > g->height)
        return image_fault(g->s, STATUS_PARSE, "its picture of %ux%u is not on its screen of %ux%u",
                           g->columns, g->lines, g->width, g->height);
    return STATUS_OK;
}

/* ---- LZW ------------------------------------------------------------------------------------ */

struct lzw {
    struct gif *g;
    size_t block; /* bytes left of it */
    uint32_t window;
    unsigned have, bits, least; /* bits of the window, of a code, of a colour */
    unsigned next;              /* code that the table gets next */
    uint16_t before[CODES];     /* string of a code: that of this one, */
    uint8_t last[CODES];        /* and this colour */
};

/* The next code, or -1 where the data end. */
static int take_code(struct lzw *z)
{
    for (; z->have < z->bits; z->have += 8) {
        const unsigned char *p;
        if (z->block == 0) {
            if (!(p = take(z->g, 1)) || *p == 0)
                return -1;
            z->block = *p;
        }
        if (!(p = take(z->g, 1)))
            return -1;
        z->block--;
        z->window |= (uint32_t)*p << z->have;
    }
    unsigned code = z->window & ((1U << z->bits) - 1);
    z->window >>= z->bits;
    z->have -= z->bits;
    return (int)code;
}

/* `count` colours. */
static enum status unpack(struct gif *g, struct lzw *z, uint8_t *to, size_t count)
{
    const unsigned char *least = take(g, 1);
    if (!least)
        return ends_early(g);
    if (*least < 1 || *least > 8)
        return image_fault(g->s, STATUS_PARSE, "colours of %u bits, expected 1 to 8",
                           (unsigned)*least);
    z->g = g;
    z->least = *least;
    z->bits = z->least + 1;
    unsigned clear = 1U << z->least, end = clear + 1, previous = CODES;
    z->next = clear + 2;
    uint8_t string[CODES]; /* backwards */
    for (size_t at = 0; at < count;) {
        int code = take_code(z);
        if (code < 0 || (unsigned)code == end)
            return ends_early(g);
        unsigned c = (unsigned)code;
        if (c == clear) {
            z->bits = z->least + 1;
            z->next = clear + 2;
            previous = CODES;
            continue;
        }
        bool own = previous != CODES && c == z->next && z->next < CODES; /* that it now becomes */
        if (!own && (c >= z->next || (previous == CODES && c >= clear)))
            return image_fault(g->s, STATUS_PARSE, "its data are damaged");
        size_t n = own ? 1 : 0;
        unsigned part = own ? previous : c;
        for (; part > end; part = z->before[part])
            string[n++] = z->last[part];
        string[n++] = (uint8_t)part;
        if (own)
            string[0] = (uint8_t)part;
        if (previous != CODES && z->next < CODES) {
            z->before[z->next] = (uint16_t)previous;
            z->last[z->next++] = (uint8_t)part;
            if (z->next == 1U << z->bits && z->bits < 12)
                z->bits++;
        }
        previous = c;
        while (n > 0 && at < count)
            to[at++] = string[--n];
    }
    return STATUS_OK;
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* Lines come in four turns: every eighth, those between, and so on. */
static uint32_t line_at(const struct gif *g, uint32_t i)
{
    static const uint32_t start[4] = {0, 4, 2, 1}, step[4] = {8, 8, 4, 2};
    for (int turn = 0; g->interlaced && turn < 4; turn++) {
        uint32_t lines = g->lines > start[turn] ? (g->lines - start[turn] - 1) / step[turn] + 1 : 0;
        if (i < lines)
            return start[turn] + i * step[turn];
        i -= lines;
    }
    return i;
}

static enum status put_picture(const struct gif *g, const uint8_t *indices, struct image *im)
{
    for (uint32_t i = 0; i < g->lines; i++) {
        size_t y = g->top + line_at(g, i);
        unsigned char *to =
            (unsigned char *)im->texels + (y * g->width + g->left) * (size_t)im->channels;
        for (uint32_t x = 0; x < g->columns; x++, to += im->channels) {
            unsigned color = *indices++;
            if (color == g->transparent)
                continue;
            if (color >= g->color_count)
                return image_fault(g->s, STATUS_PARSE,
                                   "a texel has colour %u, expected one of the table's %u", color,
                                   g->color_count);
            memcpy(to, g->colors + (size_t)3 * color, 3);
            if (im->channels == 4)
                to[3] = 255;
        }
    }
    return STATUS_OK;
}

enum status gif_read(const struct image_source *s, struct image *out)
{
    struct gif g = {.s = s};
    struct image im;
    struct arena scratch = {0};
    enum status status = find_picture(&g);
    if (status != STATUS_OK)
        return status;
    /* A code of at least two bits makes CODES texels at most: no memory for what cannot be there.
     */
    size_t count = (size_t)g.columns * g.lines;
    if (count / (4 * CODES) > s->size - g.at)
        return ends_early(&g);
    bool whole = g.columns == g.width && g.lines == g.height;
    status =
        image_allocate(s, g.width, g.height, whole && g.transparent == NONE ? 3 : 4, TEXEL_U8, &im);
    if (status != STATUS_OK)
        return status;
    struct lzw *lzw = ARENA_ARRAY(&scratch, struct lzw, 1);
    uint8_t *indices = ARENA_ARRAY(&scratch, uint8_t, count);
    if (!lzw || !indices)
        status = image_fault(s, STATUS_MEMORY, "out of memory");
    else if ((status = unpack(&g, lzw, indices, count)) == STATUS_OK)
        status = put_picture(&g, indices, &im);
    arena_free(&scratch);
    if (status != STATUS_OK)
        return status;
    im.srgb = true;
    *out = im;
    return STATUS_OK;
}
