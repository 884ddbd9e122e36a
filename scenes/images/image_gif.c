/* SPDX-License-Identifier: Apache-2.0 */
/* GIF through giflib: the first picture, in its place on the screen; what is transparent or not
 * covered by it has alpha 0. */
#include "images.h"

#include <string.h>

#include <gif_lib.h>

enum { NONE = 256 };

struct gif {
    const struct image_source *s;
    size_t at;
    unsigned transparent; /* colour; NONE */
};

bool gif_recognise(const unsigned char *data, size_t size)
{
    return size >= 6 && (memcmp(data, "GIF87a", 6) == 0 || memcmp(data, "GIF89a", 6) == 0);
}

static int on_read(GifFileType *file, GifByteType *to, int n)
{
    struct gif *g = file->UserData;
    size_t left = g->s->size - g->at, count = (size_t)n < left ? (size_t)n : left;
    memcpy(to, g->s->data + g->at, count);
    g->at += count;
    return (int)count;
}

static enum status fault(const struct gif *g, int code)
{
    const char *words = GifErrorString(code);
    if (code == D_GIF_ERR_NOT_ENOUGH_MEM)
        return image_fault(g->s, STATUS_MEMORY, "out of memory");
    if (g->at == g->s->size && code != D_GIF_ERR_IMAGE_DEFECT && code != D_GIF_ERR_WRONG_RECORD)
        return image_fault(g->s, STATUS_PARSE, "the file ends before its first picture does");
    /* nothing failed to be read: what was there made no sense */
    bool sense = words && code != D_GIF_ERR_READ_FAILED;
    return image_fault(g->s, STATUS_PARSE, "%s", sense ? words : "its data are damaged");
}

/* An extension, of which a graphic control says which colour is transparent. */
static bool take_extension(GifFileType *file, struct gif *g)
{
    GifByteType *block; /* its size, then its bytes */
    int label;
    GraphicsControlBlock control;
    bool ok = DGifGetExtension(file, &label, &block) == GIF_OK;
    if (ok && block && label == GRAPHICS_EXT_FUNC_CODE &&
        DGifExtensionToGCB(block[0], block + 1, &control) == GIF_OK)
        g->transparent = control.TransparentColor == NO_TRANSPARENT_COLOR
                             ? NONE
                             : (unsigned)control.TransparentColor;
    while (ok && block)
        ok = DGifGetExtensionNext(file, &block) == GIF_OK;
    return ok;
}

/* Up to the data of the first picture. */
static enum status find_picture(GifFileType *file, struct gif *g)
{
    GifRecordType record = UNDEFINED_RECORD_TYPE;
    while (record != IMAGE_DESC_RECORD_TYPE) {
        if (DGifGetRecordType(file, &record) != GIF_OK ||
            (record == EXTENSION_RECORD_TYPE && !take_extension(file, g)))
            return fault(g, file->Error);
        if (record == TERMINATE_RECORD_TYPE)
            return image_fault(g->s, STATUS_PARSE, "it holds no picture");
    }
    if (DGifGetImageDesc(file) != GIF_OK)
        return fault(g, file->Error);
    const GifImageDesc *p = &file->Image;
    if (!p->ColorMap && !file->SColorMap)
        return image_fault(g->s, STATUS_PARSE, "it has no table of colours");
    if (p->Width == 0 || p->Height == 0 || p->Left + p->Width > file->SWidth ||
        p->Top + p->Height > file->SHeight)
        return image_fault(g->s, STATUS_PARSE, "its picture of %dx%d is not on its screen of %dx%d",
                           p->Width, p->Height, file->SWidth, file->SHeight);
    return STATUS_OK;
}

static enum status put_line(const struct gif *g, const GifFileType *file, const GifByteType *line,
                            int y, struct image *im)
{
    const GifImageDesc *p = &file->Image;
    const ColorMapObject *map = p->ColorMap ? p->ColorMap : file->SColorMap;
    size_t first = (size_t)(p->Top + y) * im->width + (size_t)p->Left;
    uint8_t *to = (uint8_t *)im->texels + first * im->channels;
    for (int x = 0; x < p->Width; x++, to += im->channels) {
        if (line[x] == g->transparent)
            continue;
        if (line[x] >= map->ColorCount)
            return image_fault(g->s, STATUS_PARSE,
                               "a texel has colour %d, expected one of the table's %d", line[x],
                               map->ColorCount);
        const GifColorType *c = &map->Colors[line[x]];
        const uint8_t rgba[4] = {c->Red, c->Green, c->Blue, 255};
        memcpy(to, rgba, im->channels);
    }
    return STATUS_OK;
}

/* Interlaced lines come in four turns: every eighth, those between, and so on. */
static enum status read_lines(GifFileType *file, const struct gif *g, struct image *im)
{
    static const int first[4] = {0, 4, 2, 1}, step[4] = {8, 8, 4, 2};
    GifByteType line[UINT16_MAX];
    bool turns = file->Image.Interlace;
    enum status status = STATUS_OK;
    for (int turn = 0; turn < (turns ? 4 : 1); turn++)
        for (int y = turns ? first[turn] : 0; y < file->Image.Height && status == STATUS_OK;
             y += turns ? step[turn] : 1)
            status = DGifGetLine(file, line, file->Image.Width) == GIF_OK
                         ? put_line(g, file, line, y, im)
                         : fault(g, file->Error);
    return status;
}

static enum status read_file(GifFileType *file, struct gif *g, struct image *out)
{
    struct image im;
    enum status status = find_picture(file, g);
    if (status != STATUS_OK)
        return status;
    const GifImageDesc *p = &file->Image;
    /* A code of at least two bits makes 4096 texels at most: no memory for what cannot be there. */
    if ((size_t)p->Width * (size_t)p->Height / (4 * 4096) > g->s->size - g->at)
        return image_fault(g->s, STATUS_PARSE, "the file ends before its first picture does");
    bool whole = p->Width == file->SWidth && p->Height == file->SHeight;
    status = image_allocate(g->s, (uint64_t)file->SWidth, (uint64_t)file->SHeight,
                            whole && g->transparent == NONE ? 3 : 4, TEXEL_U8, &im);
    if (status == STATUS_OK)
        status = read_lines(file, g, &im);
    if (status != STATUS_OK)
        return status;
    im.srgb = true;
    *out = im;
    return STATUS_OK;
}

enum status gif_read(const struct image_source *s, struct image *out)
{
    struct gif g = {.s = s, .transparent = NONE};
    int code = 0;
    GifFileType *file = DGifOpen(&g, on_read, &code);
    if (!file)
        return fault(&g, code);
    enum status status = read_file(file, &g, out);
    DGifCloseFile(file, NULL);
    return status;
}
