/* SPDX-License-Identifier: Apache-2.0 */
/* Images by their content, the colour spaces of their values, and conversions. */
#include "images.h"

#include <fcntl.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

double srgb_encode(double x)
{
    return x <= 0.0031308 ? 12.92 * x : 1.055 * pow(x, 1 / 2.4) - 0.055;
}

double srgb_decode(double x) { return x <= 0.04045 ? x / 12.92 : pow((x + 0.055) / 1.055, 2.4); }

enum status image_fault(const struct image_source *s, enum status code, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (s->level > 0)
        return error_msg(s->err, code, "cannot read the image %s: level %u: %s", s->name, s->level,
                         text);
    return error_msg(s->err, code, "cannot read the image %s: %s", s->name, text);
}

size_t texel_size(enum texel_format format)
{
    return format == TEXEL_U8 ? 1 : format == TEXEL_F32 ? sizeof(float) : sizeof(uint16_t);
}

/* IEEE 754 binary16, finite: exact in binary32. */
static float half_value(uint16_t h)
{
    uint32_t bits = ((h & 0x7fffU) << 13) + 0x38000000U;
    float v;
    memcpy(&v, &bits, sizeof v);
    if ((h & 0x7c00) == 0)
        v = (float)(h & 0x3ff) * 0x1p-24F;
    return h & 0x8000 ? -v : v;
}

double image_value(const struct image *im, size_t at, bool color)
{
    double v = 0;
    switch (im->format) {
    case TEXEL_F32:
        return (double)((const float *)im->texels)[at];
    case TEXEL_F16:
        return (double)half_value(((const uint16_t *)im->texels)[at]);
    case TEXEL_U16:
        v = ((const uint16_t *)im->texels)[at] / 65535.0;
        break;
    case TEXEL_U8:
        v = ((const uint8_t *)im->texels)[at] / 255.0;
    }
    return color && im->srgb ? srgb_decode(v) : v;
}

enum status image_check_size(const struct image_source *s, uint64_t width, uint64_t height)
{
    if (width == 0 || height == 0)
        return image_fault(s, STATUS_TYPE, "it has %llux%llu pixels, expected at least one",
                           (unsigned long long)width, (unsigned long long)height);
    if (width > IMAGE_SIDE_MAX || height > IMAGE_SIDE_MAX || width * height > IMAGE_PIXELS_MAX)
        return image_fault(s, STATUS_LIMIT,
                           "it has %llux%llu pixels, expected at most %d a side and 2^28 in all",
                           (unsigned long long)width, (unsigned long long)height, IMAGE_SIDE_MAX);
    return STATUS_OK;
}

enum status image_allocate(const struct image_source *s, uint64_t width, uint64_t height,
                           uint32_t channels, enum texel_format format, struct image *out)
{
    enum status size = image_check_size(s, width, height);
    if (size != STATUS_OK)
        return size;
    size_t texel = channels * texel_size(format);
    struct error e = {0};
    if (memory_plan(width * height * texel, &e, "%llux%llu texels", (unsigned long long)width,
                    (unsigned long long)height) != STATUS_OK)
        return image_fault(s, STATUS_LIMIT, "%s", e.msg);
    void *texels = arena_alloc(s->arena, (size_t)(width * height), texel, 16);
    if (!texels)
        return image_fault(s, STATUS_MEMORY, "out of memory");
    *out = (struct image){.width = (uint32_t)width,
                          .height = (uint32_t)height,
                          .channels = channels,
                          .format = format,
                          .texels = texels};
    return STATUS_OK;
}

/* Whether all n halves are finite: exponents below the largest. */
static bool all_finite_halves(const uint16_t *t, size_t n)
{
    uint16_t worst = 0;
    for (size_t i = 0; i < n; i++) {
        uint16_t bits = t[i] & 0x7fff;
        worst = bits > worst ? bits : worst;
    }
    return worst < 0x7c00;
}

/* The same for float32. */
static bool all_finite(const float *t, size_t n)
{
    uint32_t worst = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &t[i], sizeof bits);
        bits &= 0x7fffffff;
        worst = bits > worst ? bits : worst;
    }
    return worst < 0x7f800000;
}

struct finishing {
    const struct image *im;
    bool decode;
    atomic_bool bad; /* some row has a texel that is not finite */
};

static void finish_row(void *ctx, size_t y, unsigned thread)
{
    (void)thread;
    struct finishing *f = ctx;
    const struct image *im = f->im;
    size_t n = (size_t)im->width * im->channels;
    if (im->format == TEXEL_F16) {
        if (!all_finite_halves((const uint16_t *)im->texels + y * n, n))
            atomic_store(&f->bad, true);
        return;
    }
    float *t = (float *)im->texels + y * n;
    for (size_t i = 0; f->decode && i < n; i++)
        if (!(im->channels == 4 && i % 4 == 3))
            t[i] = (float)srgb_decode((double)t[i]);
    if (!all_finite(t, n))
        atomic_store(&f->bad, true);
}

/* Float texels must be numbers; encoded float32 become light where the caller says that they are
 * (readers that are asked for sRGB make no halves). top: the image's row that *im begins with. */
static enum status finish(const struct image_source *s, bool decode, size_t top, struct image *im)
{
    if (im->format == TEXEL_U8 || im->format == TEXEL_U16) {
        if (s->space == COLOR_SRGB || s->space == COLOR_LINEAR)
            im->srgb = s->space == COLOR_SRGB;
        return STATUS_OK;
    }
    struct finishing f = {.im = im, .decode = decode};
    static const size_t worth = (size_t)1 << 20; /* texels: threads take a while to start */
    size_t row = (size_t)im->width * im->channels;
    parallel_for(im->height, row * im->height < worth ? 1 : 0, finish_row, &f);
    if (!atomic_load(&f.bad))
        return STATUS_OK;
    size_t i = 0;
    while (im->format == TEXEL_F16 ? all_finite_halves((const uint16_t *)im->texels + i, 1)
                                   : isfinite(((const float *)im->texels)[i]))
        i++;
    return image_fault(s, STATUS_TYPE, "the texel at column %zu, row %zu is not a finite number",
                       i % row / im->channels, top + i / row);
}

struct format {
    bool (*recognise)(const unsigned char *, size_t);
    enum status (*read)(const struct image_source *, struct image *);
    /* NULL, both: files hold one image */
    enum status (*find_level)(const struct image_source *, uint32_t *, uint32_t *);
    enum status (*list_parts)(const struct image_source *, struct image_parts *);
    /* NULL, all: only whole images are read */
    enum status (*open_rows)(const struct image_source *, void **, struct image_rows_shape *);
    enum status (*read_row)(void *, uint32_t, void *, uint64_t *);
    void (*close_rows)(void *);
};
static const struct format formats[] = {{.recognise = exr_recognise,
                                         .read = exr_read,
                                         .find_level = exr_find_level,
                                         .list_parts = exr_list_parts,
                                         .open_rows = exr_open_rows,
                                         .read_row = exr_read_row,
                                         .close_rows = exr_close_rows},
                                        {.recognise = hdr_recognise, .read = hdr_read},
                                        {.recognise = png_recognise, .read = png_read},
                                        {.recognise = jpeg_recognise, .read = jpeg_read},
                                        {tiff_recognise, tiff_read, tiff_find_level,
                                         tiff_list_parts, tiff_open_rows, tiff_read_row,
                                         tiff_close_rows},
                                        {.recognise = webp_recognise, .read = webp_read},
                                        {.recognise = bmp_recognise, .read = bmp_read},
                                        {.recognise = gif_recognise, .read = gif_read},
                                        {.recognise = tga_recognise, .read = tga_read}};

/* The colour space that it is looked at in, as finish has it. */
static enum status open_rows(const struct image_source *s, const struct format *f, void **reader,
                             struct image_rows_shape *shape)
{
    if (!f->open_rows)
        return image_fault(s, STATUS_UNSUPPORTED, "files of its format are read whole");
    enum status status = f->open_rows(s, reader, shape);
    const enum texel_format format = shape->image.format;
    const bool whole_numbers = format == TEXEL_U8 || format == TEXEL_U16;
    if (status == STATUS_OK && whole_numbers && s->space <= COLOR_LINEAR && s->space != COLOR_AUTO)
        shape->image.srgb = s->space == COLOR_SRGB;
    return status;
}

static enum status shape_one(const struct image_source *s, const struct format *f,
                             struct image *out)
{
    struct arena scratch = {.limit = s->arena->limit};
    struct image_source here = *s;
    struct image_rows_shape shape = {0};
    void *reader;
    here.arena = &scratch;
    enum status status = open_rows(&here, f, &reader, &shape);
    if (status == STATUS_OK) {
        f->close_rows(reader);
        *out = shape.image;
    }
    arena_free(&scratch);
    return status;
}

static enum status read_one(const struct image_source *s, const struct format *f, struct image *out)
{
    struct image im;
    if (s->shape)
        return shape_one(s, f, out);
    enum status status = f->read(s, &im);
    if (status == STATUS_OK)
        status = finish(s, s->space == COLOR_SRGB, 0, &im);
    if (status == STATUS_OK)
        *out = im;
    return status;
}

/* Whether `below` is a side of the level after one with a side of `above`. */
static bool halves(uint32_t above, uint32_t below)
{
    return below == (above > 1 ? above / 2 : 1) || below == (above + 1) / 2;
}

bool image_is_level(const uint32_t above[2], const uint32_t size[2])
{
    return (above[0] > 1 || above[1] > 1) && halves(above[0], size[0]) && halves(above[1], size[1]);
}

/* At most `most` levels. */
static enum status read_levels(const struct image_source *image, const struct format *f,
                               uint32_t most, struct image_levels *out)
{
    struct image_source s = *image;
    struct image_levels l;
    enum status status = read_one(&s, f, &l.level[0]);
    l.ended[0] = 0;
    l.name = "";
    l.at = s.part;
    l.made = 0;
    for (l.count = 1; status == STATUS_OK && f->find_level && l.count < most; l.count++) {
        const struct image *above = &l.level[l.count - 1];
        struct image *here = &l.level[l.count];
        uint32_t width, height;
        if (above->width == 1 && above->height == 1)
            break;
        s.level = l.count;
        status = f->find_level(&s, &width, &height);
        if (status == STATUS_OK && !image_is_level((uint32_t[]){above->width, above->height},
                                                   (uint32_t[]){width, height})) {
            bool page = width == l.level[0].width && height == l.level[0].height;
            if (width != 0 && !page)
                (void)snprintf(l.ended, sizeof l.ended,
                               "level %u has %ux%u pixels, expected half of %ux%u: the file's "
                               "levels end before it",
                               s.level, width, height, above->width, above->height);
            break;
        }
        if (status == STATUS_OK)
            status = read_one(&s, f, here);
        if (status == STATUS_OK && here->channels != above->channels)
            status = image_fault(&s, STATUS_TYPE, "it has %u channels, expected the image's %u",
                                 here->channels, above->channels);
    }
    if (status == STATUS_OK)
        *out = l;
    return status;
}

/* Formats that are known but not read, by their first bytes. */
static const char *unread_format(const unsigned char *data, size_t size)
{
    static const struct {
        const char *name, *bytes;
        size_t at, count;
    } unread[] = {{"KTX 2", "\xABKTX 20\xBB", 0, 8},
                  {"KTX", "\xABKTX 11\xBB", 0, 8},
                  {"DDS", "DDS ", 0, 4},
                  {"AVIF", "ftypavif", 4, 8},
                  {"HEIF", "ftyphei", 4, 7},
                  {"JPEG 2000", "jP  \r\n\x87\n", 4, 8},
                  {"JPEG XL", "JXL \r\n\x87\n", 4, 8},
                  {"PSD", "8BPS", 0, 4}};
    for (size_t i = 0; i < sizeof unread / sizeof *unread; i++)
        if (size >= unread[i].at + unread[i].count &&
            memcmp(data + unread[i].at, unread[i].bytes, unread[i].count) == 0)
            return unread[i].name;
    return NULL;
}

enum status image_add_part(const struct image_source *s, struct image_parts *to, uint32_t at,
                           const char *name)
{
    if (to->count == IMAGE_PARTS_MAX) {
        (void)snprintf(to->ended, sizeof to->ended, "it has more than %d subimages",
                       IMAGE_PARTS_MAX);
        return STATUS_OK;
    }
    struct image_part *p = &to->part[to->count];
    *p = (struct image_part){at, arena_strdup(s->arena, name ? name : "")};
    if (!p->name)
        return image_fault(s, STATUS_MEMORY, "out of memory");
    to->count++;
    return STATUS_OK;
}

/* The subimages after the first. */
static enum status read_more(const struct image_source *image, const struct format *f,
                             const struct image_parts *parts, struct image_file *out)
{
    struct image_source s = *image;
    struct error why = {0};
    s.err = &why;
    out->more = ARENA_ARRAY(s.arena, struct image_levels, parts->count - 1);
    if (!out->more)
        return image_fault(image, STATUS_MEMORY, "out of memory");
    for (uint32_t i = 1; i < parts->count; i++) {
        struct image_levels *l = &out->more[i - 1];
        s.part = parts->part[i].at;
        enum status status = read_levels(&s, f, IMAGE_LEVELS_MAX, l);
        if (status != STATUS_OK && s.shape)
            return image_fault(image, STATUS_UNSUPPORTED, "a subimage is read whole: %s", why.msg);
        if (status == STATUS_MEMORY)
            return image_fault(image, STATUS_MEMORY, "out of memory");
        if (status != STATUS_OK) { /* without the file's name */
            const char *name = strstr(why.msg, s.name);
            (void)snprintf(l->ended, sizeof l->ended, "%.255s",
                           name ? name + strlen(s.name) + 2 : why.msg);
        }
        l->name = parts->part[i].name;
    }
    return STATUS_OK;
}

/* What of a file is read. */
struct extent {
    uint32_t levels; /* of an image, at most; 1: and nothing is asked about other subimages */
    bool all;        /* subimages */
};

static enum status read_format(const struct image_source *s, const struct format *f,
                               struct extent extent, struct image_file *out)
{
    struct image_file file = {.count = 1};
    enum status status = read_levels(s, f, extent.levels, &file.first);
    struct arena scratch = {0};
    if (status == STATUS_OK && f->list_parts && extent.levels > 1) {
        struct image_parts *parts = ARENA_NEW(&scratch, struct image_parts);
        status = parts ? f->list_parts(s, parts) : image_fault(s, STATUS_MEMORY, "out of memory");
        if (status == STATUS_OK) {
            file.count = parts->count;
            file.first.name = parts->part[0].name;
            memcpy(file.ended, parts->ended, sizeof file.ended);
        }
        if (status == STATUS_OK && extent.all && file.count > 1)
            status = read_more(s, f, parts, &file);
    }
    arena_free(&scratch);
    if (status == STATUS_OK)
        *out = file;
    return status;
}

static enum status read_memory(const struct image_source *s, struct extent extent,
                               struct image_file *out)
{
    size_t size = s->size;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (formats[i].recognise(s->data, size))
            return read_format(s, &formats[i], extent, out);
    const char *unread = unread_format(s->data, size);
    return image_fault(s, STATUS_TYPE,
                       "%s%s, expected EXR, Radiance HDR, PNG, JPEG, TIFF, WebP, BMP, GIF or TGA",
                       unread ? "it is "
                       : size ? "its format is not known"
                              : "the file is empty",
                       unread ? unread : "");
}

enum status image_read_memory_file(struct arena *a, const void *data, size_t size, const char *name,
                                   enum color_space space, bool all, struct image_file *out,
                                   struct error *err)
{
    const struct image_source s = {
        .arena = a, .data = data, .size = size, .name = name, .space = space, .err = err};
    return read_memory(&s, (struct extent){IMAGE_LEVELS_MAX, all}, out);
}

enum status image_read_memory_as(struct arena *a, const void *data, size_t size, const char *name,
                                 enum color_space space, struct image *out, struct error *err)
{
    struct image_source s = {
        .arena = a, .data = data, .size = size, .name = name, .space = space, .err = err};
    struct image_file file;
    enum status status = read_memory(&s, (struct extent){1, false}, &file);
    if (status == STATUS_OK)
        *out = file.first.level[0];
    return status;
}

/* A regular file that begins as its format wants it: opened, its size in *size; else -1. */
static int open_regular(const char *path, const struct format **format, size_t *size)
{
    unsigned char head[4];
    struct stat st;
    int file;
    if (input_open(path, &file, NULL) != STATUS_OK)
        return -1;
    if (fstat(file, &st) == 0 && pread(file, head, sizeof head, 0) == sizeof head)
        for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
            if (formats[i].open_rows && formats[i].recognise(head, sizeof head)) {
                *format = &formats[i];
                *size = (size_t)st.st_size;
                return file;
            }
    close(file);
    return -1;
}

/* EXR's chunks are read where they stand, by the threads that unpack them: a copy of the file in
 * memory would cost as much as some of them take to unpack. */
static enum status read_file(const struct image_source *image, struct extent extent,
                             struct image_file *out)
{
    struct image_source s = *image;
    const struct format *format = NULL;
    s.file = open_regular(s.name, &format, &s.size);
    if (s.file >= 0 && (s.shape || format->read == exr_read)) {
        input_file_note(s.name, s.file);
        enum status status = read_format(&s, format, extent, out);
        close(s.file);
        return status;
    }
    if (s.file >= 0)
        close(s.file);
    if (s.shape)
        return image_fault(&s, STATUS_UNSUPPORTED, "files of its format are read whole");
    struct arena scratch = {0};
    char *data;
    enum status status = input_file_read(&scratch, s.name, 0, &data, &s.size, s.err);
    s.data = (const unsigned char *)data;
    if (status == STATUS_OK)
        status = read_memory(&s, extent, out);
    arena_free(&scratch);
    return status;
}

enum status image_shape_file(struct arena *a, const char *path, enum color_space space, bool all,
                             struct image_file *out, struct error *err)
{
    const struct image_source s = {
        .arena = a, .name = path, .space = space, .err = err, .shape = true};
    return read_file(&s, (struct extent){IMAGE_LEVELS_MAX, all}, out);
}

/* ---- a row of blocks at a time -------------------------------------------------------------- */

struct image_rows {
    struct image_source source;
    struct arena arena;
    const struct format *format;
    void *reader;
    struct image_rows_shape shape;
};

static enum status rows_start(struct image_rows *r, const char *path, struct error *err)
{
    struct image_source *s = &r->source;
    s->arena = &r->arena;
    s->err = err;
    s->name = arena_strdup(&r->arena, path);
    if (!s->name)
        return error_msg(err, STATUS_MEMORY, "out of memory to read %s", path);
    s->file = open_regular(path, &r->format, &s->size);
    if (s->file < 0)
        return error_msg(err, STATUS_MISSING, "%s is not there, or no image in parts, any longer",
                         path);
    return open_rows(s, r->format, &r->reader, &r->shape);
}

enum status image_rows_open(const char *path, enum color_space space, uint32_t part, uint32_t level,
                            struct image_rows **out, struct error *err)
{
    struct image_rows *r = calloc(1, sizeof *r);
    if (!r)
        return error_msg(err, STATUS_MEMORY, "out of memory to read %s", path);
    r->source = (struct image_source){.space = space, .part = part, .level = level, .file = -1};
    enum status status = rows_start(r, path, err);
    if (status == STATUS_OK)
        *out = r;
    else
        image_rows_close(r);
    return status;
}

const struct image_rows_shape *image_rows_shape(const struct image_rows *r) { return &r->shape; }

enum status image_rows_read(struct image_rows *r, uint32_t i, void *texels, uint64_t *file_bytes,
                            struct error *err)
{
    const struct image_rows_shape *shape = &r->shape;
    struct image band = shape->image;
    const uint32_t top = i * shape->block_height, left = band.height - top;
    r->source.err = err;
    TRY(r->format->read_row(r->reader, i, texels, file_bytes));
    band.height = left < shape->block_height ? left : shape->block_height;
    band.texels = texels;
    return finish(&r->source, r->source.space == COLOR_SRGB, top, &band);
}

void image_rows_close(struct image_rows *r)
{
    if (!r)
        return;
    if (r->reader)
        r->format->close_rows(r->reader);
    if (r->source.file >= 0)
        close(r->source.file);
    arena_free(&r->arena);
    free(r);
}

enum status image_read_file(struct arena *a, const char *path, enum color_space space, bool all,
                            struct image_file *out, struct error *err)
{
    const struct image_source s = {.arena = a, .name = path, .space = space, .err = err};
    return read_file(&s, (struct extent){IMAGE_LEVELS_MAX, all}, out);
}

enum status image_read_levels(struct arena *a, const char *path, enum color_space space,
                              struct image_levels *out, struct error *err)
{
    struct image_file file;
    enum status status = image_read_file(a, path, space, false, &file, err);
    if (status == STATUS_OK)
        *out = file.first;
    return status;
}

enum status image_read_as(struct arena *a, const char *path, enum color_space space,
                          struct image *out, struct error *err)
{
    const struct image_source s = {.arena = a, .name = path, .space = space, .err = err};
    struct image_file file;
    enum status status = read_file(&s, (struct extent){1, false}, &file);
    if (status == STATUS_OK)
        *out = file.first.level[0];
    return status;
}

enum status image_read(struct arena *a, const char *path, struct image *out, struct error *err)
{
    return image_read_as(a, path, COLOR_AUTO, out, err);
}

enum status image_read_memory(struct arena *a, const void *data, size_t size, const char *name,
                              struct image *out, struct error *err)
{
    return image_read_memory_as(a, data, size, name, COLOR_AUTO, out, err);
}

void image_pack_words(const struct image *im, uint32_t *to)
{
    const size_t count = (size_t)im->width * im->height, n = im->channels;
    const uint8_t *from = im->texels;
    for (size_t i = 0; i < count; i++, from += n) {
        uint32_t r = from[0], g = n == 1 ? r : from[1], b = n == 1 ? r : from[2];
        uint32_t a = n == 4 ? from[3] : 255;
        to[i] = r | g << 8 | b << 16 | a << 24;
    }
}

const float *image_linear(struct arena *a, const struct image *im)
{
    size_t n = (size_t)im->width * im->height * im->channels;
    if (im->format == TEXEL_F32)
        return im->texels;
    enum { VALUES = 65536 };
    struct arena scratch = {0};
    float *to = arena_alloc(a, n, sizeof *to, 16), *table = ARENA_ARRAY(&scratch, float, VALUES);
    uint16_t *index = ARENA_ARRAY(&scratch, uint16_t, VALUES);
    bool wide = im->format != TEXEL_U8, room = to && table && index;
    for (unsigned i = 0; room && i < (wide ? VALUES : 256); i++) {
        struct image one = *im; /* of that value alone */
        uint8_t byte = (uint8_t)i;
        index[i] = (uint16_t)i;
        one.texels = wide ? (void *)&index[i] : (void *)&byte;
        table[i] = (float)image_value(&one, 0, true);
    }
    for (size_t i = 0; room && i < n; i++) {
        unsigned v = wide ? ((const uint16_t *)im->texels)[i] : ((const uint8_t *)im->texels)[i];
        bool alpha = im->channels == 4 && i % 4 == 3;
        to[i] = alpha ? (float)image_value(im, i, false) : table[v];
    }
    arena_free(&scratch);
    return room ? to : NULL;
}

enum status image_to_rgb32f(struct arena *a, const struct image *in, struct image *out)
{
    size_t n = (size_t)in->width * in->height;
    struct arena scratch = {0};
    const float *from = image_linear(&scratch, in);
    float *to = arena_alloc(a, n, 3 * sizeof *to, 16);
    for (size_t i = 0; from && to && i < n; i++)
        for (size_t c = 0; c < 3; c++) {
            float v = from[i * in->channels + (in->channels == 1 ? 0 : c)];
            to[3 * i + c] = v > 0 ? v : 0;
        }
    arena_free(&scratch);
    if (!from || !to)
        return STATUS_MEMORY;
    *out = (struct image){
        .width = in->width, .height = in->height, .channels = 3, .format = TEXEL_F32, .texels = to};
    return STATUS_OK;
}

/* Values of a channel grow with their bits, but for halves below 0, which do not count. Where the
 * largest of them is. */
static size_t place_of_largest(const struct image *im, uint32_t channel)
{
    size_t most = channel, end = (size_t)im->width * im->height * im->channels;
    bool wide = im->format != TEXEL_U8, half = im->format == TEXEL_F16;
    unsigned largest = 0;
    for (size_t i = channel; i < end; i += im->channels) {
        unsigned v = wide ? ((const uint16_t *)im->texels)[i] : ((const uint8_t *)im->texels)[i];
        if (v > largest && !(half && v >= 0x8000)) {
            largest = v;
            most = i;
        }
    }
    return most;
}

void image_largest(const struct image *im, double largest[3])
{
    size_t count = (size_t)im->width * im->height;
    for (uint32_t c = 0; c < 3; c++) {
        uint32_t channel = im->channels < 3 ? 0 : c;
        largest[c] = 0;
        if (im->format != TEXEL_F32) {
            largest[c] = fmax(0, image_value(im, place_of_largest(im, channel), true));
        } else {
            const float *t = im->texels;
            for (size_t i = 0; i < count; i++)
                largest[c] = fmax(largest[c], (double)t[i * im->channels + channel]);
        }
    }
}
