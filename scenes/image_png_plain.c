/* PNG files of the plain kind, fast: gray, RGB or RGBA of 8 or 16 bits, not interlaced, without a
 * transparent colour. A large deflate stream is unpacked in parts, one at a time by libdeflate
 * where that does not work out; the rows' filters are undone by all threads. Whatever is not plain,
 * and whatever is wrong, is libpng's to read or to refuse in its own words. W3C, "Portable Network
 * Graphics (PNG) Specification (Second Edition)", 2003. */
#include "image_format.h"
#include "inflate.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <libdeflate.h>

enum { SIGNATURE = 8, CHUNK_HEAD = 8, CHUNK_CRC = 4, IHDR_SIZE = 13 };
enum { FILTER_NONE, FILTER_SUB, FILTER_UP, FILTER_AVERAGE, FILTER_PAETH, FILTER_COUNT };
enum { PIXEL_BYTES_MAX = 8 };

struct plain {
    const struct image_source *source;
    struct arena scratch;
    uint32_t width, height, channels;
    bool deep;                   /* 16 bits */
    size_t pixel, row;           /* bytes of one; row without the filter's byte */
    const unsigned char *packed; /* the zlib stream, whole */
    size_t packed_size;
    const unsigned char **lines;  /* [height], of 1 + row: which filter, then what it made of it */
    unsigned char *out;           /* [height][row], in the file's byte order */
    const unsigned char *nothing; /* a row of zeros, above the first */
};

static uint32_t word_at(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* ---- chunks --------------------------------------------------------------------------------- */

struct chunk {
    const unsigned char *type, *data;
    uint32_t size;
};

/* The chunk at *at, which moves behind it; false if it is cut off or its name is none. */
static bool next_chunk(const struct image_source *s, size_t *at, struct chunk *c)
{
    if (s->size - *at < CHUNK_HEAD + CHUNK_CRC)
        return false;
    const unsigned char *p = s->data + *at;
    c->size = word_at(p);
    c->type = p + 4;
    c->data = p + CHUNK_HEAD;
    for (int i = 0; i < 4; i++)
        if ((c->type[i] | 32) < 'a' || (c->type[i] | 32) > 'z')
            return false;
    if (c->size > s->size - *at - CHUNK_HEAD - CHUNK_CRC)
        return false;
    *at += CHUNK_HEAD + (size_t)c->size + CHUNK_CRC;
    return true;
}

static bool is_type(const struct chunk *c, const char *name)
{
    return memcmp(c->type, name, 4) == 0;
}

static bool crc_is_right(const struct chunk *c)
{
    return libdeflate_crc32(0, c->type, 4 + (size_t)c->size) == word_at(c->data + c->size);
}

static bool read_header(struct plain *p, const struct chunk *c)
{
    const unsigned char *d = c->data;
    if (!is_type(c, "IHDR") || c->size != IHDR_SIZE || !crc_is_right(c))
        return false;
    unsigned depth = d[8], type = d[9];
    p->width = word_at(d);
    p->height = word_at(d + 4);
    p->channels = type == 0 ? 1 : type == 2 ? 3 : type == 6 ? 4 : 0;
    p->deep = depth == 16;
    if (p->channels == 0 || (depth != 8 && depth != 16) || d[10] || d[11] || d[12])
        return false;
    if (p->width == 0 || p->height == 0 || p->width > IMAGE_SIDE_MAX ||
        p->height > IMAGE_SIDE_MAX || (uint64_t)p->width * p->height > IMAGE_PIXELS_MAX)
        return false;
    p->pixel = (size_t)p->channels * (p->deep ? 2 : 1);
    p->row = p->pixel * p->width;
    return true;
}

/* Walks the chunks; puts the data of IDAT chunks at `to` where that is not NULL. *size: their sum;
 * *only: the data of the first. False if the file is not whole and plain. */
static bool walk_chunks(struct plain *p, unsigned char *to, size_t *size,
                        const unsigned char **only, size_t *count)
{
    size_t at = SIGNATURE;
    struct chunk c;
    bool ended = false; /* the run of IDAT chunks */
    *size = *count = 0;
    if (!next_chunk(p->source, &at, &c) || !read_header(p, &c))
        return false;
    while (next_chunk(p->source, &at, &c)) {
        if (is_type(&c, "IEND"))
            return c.size == 0 && *count != 0 && crc_is_right(&c);
        if (!is_type(&c, "IDAT")) {
            bool ancillary = (c.type[0] & 32) != 0;
            if (!ancillary || is_type(&c, "tRNS"))
                return false;
            ended = *count != 0;
            continue;
        }
        if (ended || (!to && !crc_is_right(&c)))
            return false;
        if (to)
            memcpy(to + *size, c.data, c.size);
        if (*count == 0)
            *only = c.data;
        *size += c.size;
        ++*count;
    }
    return false;
}

static bool find_stream(struct plain *p)
{
    size_t count;
    if (!walk_chunks(p, NULL, &p->packed_size, &p->packed, &count))
        return false;
    if (count == 1) /* behind it come its sum and IEND: INFLATE_BEHIND bytes */
        return true;
    unsigned char *all = arena_alloc(&p->scratch, p->packed_size + INFLATE_BEHIND, 1, 1);
    p->packed = all;
    return all && walk_chunks(p, all, &p->packed_size, &(const unsigned char *){NULL}, &count);
}

/* Where lines begin in the pieces, which end in the midst of a line as a rule. */
static bool find_lines(struct plain *p, const struct inflate_piece *pieces, size_t count)
{
    size_t size = p->row + 1, k = 0, at = 0; /* the piece, and where in it */
    for (uint32_t y = 0; y < p->height; y++) {
        if (k < count && pieces[k].size - at >= size) {
            p->lines[y] = pieces[k].bytes + at;
            at += size;
            continue;
        }
        unsigned char *line = arena_alloc(&p->scratch, size, 1, 1);
        if (!line)
            return false;
        p->lines[y] = line;
        for (size_t left = size; left > 0 && k < count;) {
            size_t n = pieces[k].size - at < left ? pieces[k].size - at : left;
            memcpy(line + size - left, pieces[k].bytes + at, n);
            left -= n;
            at += n;
            if (left > 0) {
                k++;
                at = 0;
            }
        }
    }
    return true;
}

/* Everything at once, by libdeflate. */
static bool unpack_whole(struct plain *p, size_t size, struct inflate_piece *piece)
{
    unsigned char *all = arena_alloc(&p->scratch, size, 1, 16);
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    bool ok = d && all &&
              libdeflate_zlib_decompress(d, p->packed, p->packed_size, all, size, NULL) ==
                  LIBDEFLATE_SUCCESS;
    libdeflate_free_decompressor(d);
    *piece = (struct inflate_piece){all, size};
    return ok;
}

static bool unpack(struct plain *p, unsigned threads)
{
    enum { WORTH = 4 << 20, PARTS_MAX = 96 };
    struct inflate_piece pieces[PARTS_MAX];
    struct inflate_job j = {.packed = p->packed, .packed_size = p->packed_size};
    unsigned parts = threads * INFLATE_TOGETHER;
    j.size = (p->row + 1) * p->height;
    p->lines = ARENA_ARRAY(&p->scratch, const unsigned char *, p->height);
    p->nothing = arena_alloc(&p->scratch, p->row, 1, 16);
    if (!p->lines || !p->nothing)
        return false;
    parts = parts < PARTS_MAX ? parts : PARTS_MAX;
    /* Long matches are quick, and are no help to find what stood before them. */
    bool worth = threads > 1 && p->packed_size >= WORTH && p->packed_size > j.size / 4;
    size_t count = worth ? inflate_in_parts(&p->scratch, &j, parts, threads, pieces) : 0;
    if (count == 0) {
        count = 1;
        if (!unpack_whole(p, j.size, pieces))
            return false;
    }
    bool ok = find_lines(p, pieces, count);
    for (uint32_t y = 0; ok && y < p->height; y++)
        ok = p->lines[y][0] < FILTER_COUNT;
    return ok;
}

/* ---- filters -------------------------------------------------------------------------------- */

/* Which of left a, above b and above left c is nearest to a + b - c. */
static inline int paeth(int a, int b, int c)
{
    int pa = abs(b - c), pb = abs(a - c), pc = abs(a + b - 2 * c);
    int best = pb <= pc ? b : c;
    return pa <= pb && pa <= pc ? a : best;
}

/* Bytes [from, to) of a row; `above` the row over it. `bytes` of a pixel is a constant where this
 * is inlined, so that the pixel to the left stays in registers. */
static inline __attribute__((always_inline)) void
undo_filter(unsigned filter, size_t bytes, const unsigned char *in, const unsigned char *above,
            unsigned char *out, size_t from, size_t to)
{
    int a[PIXEL_BYTES_MAX] = {0}, c[PIXEL_BYTES_MAX] = {0};
    for (size_t k = 0; k < bytes && from > 0; k++) {
        a[k] = out[from - bytes + k];
        c[k] = above[from - bytes + k];
    }
    switch (filter) {
    case FILTER_NONE:
        memcpy(out + from, in + from, to - from);
        break;
    case FILTER_UP:
        for (size_t i = from; i < to; i++)
            out[i] = (unsigned char)(in[i] + above[i]);
        break;
    case FILTER_SUB:
        for (size_t i = from; i < to; i += bytes)
            for (size_t k = 0; k < bytes; k++)
                out[i + k] = (unsigned char)(a[k] = (in[i + k] + a[k]) & 255);
        break;
    case FILTER_AVERAGE:
        for (size_t i = from; i < to; i += bytes)
            for (size_t k = 0; k < bytes; k++)
                out[i + k] = (unsigned char)(a[k] = (in[i + k] + (a[k] + above[i + k]) / 2) & 255);
        break;
    default: /* FILTER_PAETH */
        for (size_t i = from; i < to; i += bytes)
            for (size_t k = 0; k < bytes; k++) {
                int b = above[i + k];
                out[i + k] = (unsigned char)(a[k] = (in[i + k] + paeth(a[k], b, c[k])) & 255);
                c[k] = b;
            }
    }
}

/* A tile of rows [y0, y1) and bytes [from, to). */
static void undo_filters(const struct plain *p, uint32_t y0, uint32_t y1, size_t from, size_t to)
{
    for (uint32_t y = y0; y < y1; y++) {
        const unsigned char *line = p->lines[y], *in = line + 1;
        unsigned char *out = p->out + y * p->row;
        const unsigned char *above = y ? out - p->row : p->nothing;
        switch (p->pixel) {
#define CASE(bytes)                                                                                \
    case bytes:                                                                                    \
        undo_filter(line[0], bytes, in, above, out, from, to);                                     \
        break
            CASE(1);
            CASE(2);
            CASE(3);
            CASE(4);
            CASE(6);
            CASE(8);
#undef CASE
        default:
            break;
        }
    }
}

/* A row needs the one above it and a pixel the one to its left: bands of rows, from the left to the
 * right in tiles, each of which waits for the one above it. */
enum { BAND_ROWS = 64, TILE_PIXELS = 1024 };
struct bands {
    const struct plain *p;
    atomic_uint *done; /* pixels from the left, of each band */
};

static void undo_band(void *ctx, size_t i, unsigned thread)
{
    (void)thread;
    const struct bands *b = ctx;
    const struct plain *p = b->p;
    uint32_t y = (uint32_t)i * BAND_ROWS;
    uint32_t y1 = p->height - y < BAND_ROWS ? p->height : y + BAND_ROWS;
    for (uint32_t x = 0, x1; x < p->width; x = x1) {
        x1 = p->width - x < TILE_PIXELS ? p->width : x + TILE_PIXELS;
        while (i > 0 && atomic_load(&b->done[i - 1]) < x1)
            sched_yield(); /* bands begin in their order: some thread is at it */
        undo_filters(p, y, y1, x * p->pixel, x1 * p->pixel);
        atomic_store(&b->done[i], x1);
    }
}

static bool undo_all_filters(struct plain *p, unsigned threads)
{
    size_t count = (p->height - 1) / BAND_ROWS + 1;
    struct bands b = {.p = p, .done = ARENA_ARRAY(&p->scratch, atomic_uint, count)};
    if (b.done)
        parallel_for(count, threads, undo_band, &b);
    return b.done != NULL;
}

/* ---- 16 bits -------------------------------------------------------------------------------- */

static void order_row(void *ctx, size_t y, unsigned thread)
{
    (void)thread;
    const struct plain *p = ctx;
    unsigned char *row = p->out + y * p->row;
    png_order_bytes(row, p->row / 2, (uint16_t *)(void *)row);
}

/* ---- the whole ------------------------------------------------------------------------------ */

static bool read_pixels(struct plain *p, struct image *im)
{
    static const size_t worth = (size_t)1 << 18; /* pixels: threads take a while to start */
    if (!find_stream(p))
        return false;
    unsigned threads = (size_t)p->width * p->height < worth ? 1 : parallel_threads();
    if (!unpack(p, threads) || image_allocate(p->source, p->width, p->height, p->channels,
                                              p->deep ? TEXEL_U16 : TEXEL_U8, im) != STATUS_OK)
        return false;
    p->out = im->texels;
    if (!undo_all_filters(p, threads))
        return false;
    if (p->deep)
        parallel_for(p->height, threads, order_row, p);
    im->srgb = true;
    return true;
}

bool png_read_plain(const struct image_source *s, struct image *out)
{
    struct plain p = {.source = s};
    struct image im;
    bool ok = read_pixels(&p, &im);
    arena_free(&p.scratch);
    if (ok)
        *out = im;
    return ok;
}
