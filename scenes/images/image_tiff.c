/* SPDX-License-Identifier: Apache-2.0 */
/* TIFF ("TIFF, Revision 6.0", Adobe 1992; floats by its section 19), read through libtiff from
 * memory or from a file, BigTIFF and OIIO's textures too. */
#include "images.h"

#include <stdatomic.h>
#include <string.h>

#include <tiffio.h>

bool tiff_recognise(const unsigned char *data, size_t size)
{
    static const char magics[4][4] = {"II*", {'M', 'M', 0, '*'}, "II+", {'M', 'M', 0, '+'}};
    for (size_t i = 0; size >= 4 && i < 4; i++)
        if (memcmp(data, magics[i], 4) == 0)
            return true;
    return false;
}

struct tiff_input {
    const struct image_source *source;
    size_t at;
    bool decoding;       /* behind the directory: what libtiff mends there is damage */
    char complaint[256]; /* the library's own words, the first of them */
};

__attribute__((format(printf, 4, 0))) static int on_error(TIFF *tif, void *user, const char *module,
                                                          const char *fmt, va_list ap)
{
    struct tiff_input *in = user;
    (void)tif;
    (void)module;
    if (!in->complaint[0])
        vsnprintf(in->complaint, sizeof in->complaint, fmt, ap);
    return 1; /* nothing on stderr */
}

/* In directories libtiff warns of tags that it does not know; of texels when it makes them up. */
__attribute__((format(printf, 4, 0))) static int
on_warning(TIFF *tif, void *user, const char *module, const char *fmt, va_list ap)
{
    const struct tiff_input *in = user;
    bool old_but_whole = module && strcmp(module, "LZWPreDecode") == 0; /* a code's order of bits */
    return in->decoding && !old_but_whole ? on_error(tif, user, module, fmt, ap) : 1;
}

static tmsize_t input_read(thandle_t handle, void *to, tmsize_t size)
{
    struct tiff_input *in = handle;
    size_t left = in->source->size - in->at, n = (size_t)size < left ? (size_t)size : left;
    if (in->source->data)
        memcpy(to, in->source->data + in->at, n);
    else if (file_read_at(in->source->file, to, n, in->at) != (int64_t)n)
        return -1;
    in->at += n;
    return (tmsize_t)n;
}

static tmsize_t input_write(thandle_t handle, void *from, tmsize_t size)
{
    (void)handle;
    (void)from;
    (void)size;
    return 0;
}

static toff_t input_seek(thandle_t handle, toff_t offset, int whence)
{
    struct tiff_input *in = handle;
    size_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? in->at : in->source->size;
    if (offset > in->source->size - from)
        return (toff_t)-1;
    return in->at = from + (size_t)offset;
}

static int input_close(thandle_t handle)
{
    (void)handle;
    return 0;
}

static toff_t input_size(thandle_t handle)
{
    return ((const struct tiff_input *)handle)->source->size;
}

static int input_map(thandle_t handle, void **base, toff_t *size)
{
    const struct image_source *s = ((const struct tiff_input *)handle)->source;
    *base = (void *)s->data;
    *size = s->size;
    return s->data != NULL;
}

static void input_unmap(thandle_t handle, void *base, toff_t size)
{
    (void)handle;
    (void)base;
    (void)size;
}

static TIFF *open_input(struct tiff_input *in)
{
    static const size_t most = (size_t)1 << 30; /* that a decoder may take at once */
    size_t limit = in->source->arena->limit;
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options)
        return NULL;
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)(limit && limit < most ? limit : most));
    TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, in);
    TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, in);
    TIFF *tif = TIFFClientOpenExt(in->source->name, "r", in, input_read, input_write, input_seek,
                                  input_close, input_size, input_map, input_unmap, options);
    TIFFOpenOptionsFree(options);
    return tif;
}

static enum status tiff_fault(const struct tiff_input *in, const char *what)
{
    return image_fault(in->source, STATUS_PARSE, "%s: %s, expected a whole TIFF file", what,
                       in->complaint[0] ? in->complaint : "libtiff does not say why");
}

/* How the file holds its texels. A block is a tile or a strip; a plane, where channels stand apart,
 * is one sample of all texels. */
struct tiff_layout {
    uint32_t width, height; /* before the image is turned */
    uint16_t samples, bits, sample_format, photometric, orientation, colors;
    bool tiled, separate;
    uint32_t block_width, block_height;
    size_t row_bytes; /* of a block */
    enum texel_format format;
    uint32_t channels;
    uint16_t from[4]; /* the sample that a channel of the image is */
    uint16_t *map[3]; /* colours of a palette: libtiff's */
    bool plain;       /* strips of the file are rows of the image, as they stand */
};

static enum status check_compression(const struct tiff_input *in, TIFF *tif)
{
    uint16_t compression;
    TIFFGetFieldDefaulted(tif, TIFFTAG_COMPRESSION, &compression);
    const TIFFCodec *codec = TIFFFindCODEC(compression);
    if (TIFFIsCODECConfigured(compression) && compression != COMPRESSION_OJPEG)
        return STATUS_OK;
    return image_fault(in->source, STATUS_UNSUPPORTED,
                       "its compression is %u (%s), expected none, LZW, deflate, PackBits, JPEG or "
                       "another that libtiff here unpacks",
                       compression, codec ? codec->name : "unknown");
}

/* What colours the samples mean; those of JPEG become RGB. */
static enum status read_photometric(const struct tiff_input *in, TIFF *tif, struct tiff_layout *l)
{
    static const struct {
        uint16_t photometric;
        const char *name;
    } refused[] = {{PHOTOMETRIC_MASK, "a mask"},       {PHOTOMETRIC_SEPARATED, "inks (CMYK)"},
                   {PHOTOMETRIC_YCBCR, "YCbCr"},       {PHOTOMETRIC_CIELAB, "CIE L*a*b*"},
                   {PHOTOMETRIC_ICCLAB, "ICC L*a*b*"}, {PHOTOMETRIC_ITULAB, "ITU L*a*b*"},
                   {PHOTOMETRIC_LOGL, "log L"},        {PHOTOMETRIC_LOGLUV, "log LUV"},
                   {PHOTOMETRIC_CFA, "a mosaic"}};
    uint16_t compression;
    TIFFGetFieldDefaulted(tif, TIFFTAG_COMPRESSION, &compression);
    if (!TIFFGetField(tif, TIFFTAG_PHOTOMETRIC, &l->photometric))
        return image_fault(in->source, STATUS_TYPE,
                           "it does not say what its samples mean, expected the tag "
                           "PhotometricInterpretation");
    switch (l->photometric) {
    case PHOTOMETRIC_MINISWHITE:
    case PHOTOMETRIC_MINISBLACK:
        l->colors = 1;
        return STATUS_OK;
    case PHOTOMETRIC_RGB:
        l->colors = 3;
        return STATUS_OK;
    case PHOTOMETRIC_PALETTE:
        l->colors = 1;
        if (TIFFGetField(tif, TIFFTAG_COLORMAP, &l->map[0], &l->map[1], &l->map[2]))
            return STATUS_OK;
        break;
    case PHOTOMETRIC_YCBCR:
        l->colors = 3;
        if (compression == COMPRESSION_JPEG &&
            TIFFSetField(tif, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB))
            return STATUS_OK;
        break;
    default:
        break;
    }
    const char *name = "of an unknown kind";
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (refused[i].photometric == l->photometric)
            name = refused[i].name;
    return image_fault(in->source, STATUS_UNSUPPORTED,
                       "its colours are %s (PhotometricInterpretation %u), expected gray, RGB, a "
                       "palette, or YCbCr in JPEG",
                       name, l->photometric);
}

static enum status choose_format(const struct tiff_input *in, struct tiff_layout *l)
{
    bool whole = l->sample_format == SAMPLEFORMAT_UINT || l->sample_format == SAMPLEFORMAT_VOID;
    bool real = l->sample_format == SAMPLEFORMAT_IEEEFP, palette = l->map[0] != NULL;
    bool small = l->bits == 1 || l->bits == 2 || l->bits == 4 || l->bits == 8;
    if (real && l->photometric == PHOTOMETRIC_MINISWHITE)
        return image_fault(in->source, STATUS_UNSUPPORTED,
                           "its floats have 0 for white, expected 0 for black");
    if (whole && small)
        l->format = TEXEL_U8;
    else if (whole && l->bits == 16 && !palette)
        l->format = TEXEL_U16;
    else if (real && l->bits == 16 && !palette)
        l->format = TEXEL_F16;
    else if (real && l->bits == 32 && !palette)
        l->format = TEXEL_F32;
    else
        return image_fault(in->source, STATUS_UNSUPPORTED,
                           "its samples are %s of %u bits%s, expected unsigned whole numbers of 1, "
                           "2, 4, 8 or%s",
                           whole                                  ? "unsigned whole numbers"
                           : real                                 ? "floats"
                           : l->sample_format == SAMPLEFORMAT_INT ? "signed whole numbers"
                                                                  : "complex numbers",
                           l->bits, palette ? " in a palette" : "",
                           palette ? " 8 bits" : " 16 bits, or floats of 16 or 32 bits");
    return STATUS_OK;
}

/* Alpha is the extra sample that the file calls so, else the first extra one; others are not read.
 * Three samples and more are colours, even of a file that says gray, if it names no alpha. */
static enum status choose_channels(const struct tiff_input *in, TIFF *tif, struct tiff_layout *l)
{
    uint16_t extras, *kinds;
    TIFFGetFieldDefaulted(tif, TIFFTAG_EXTRASAMPLES, &extras, &kinds);
    bool palette = l->map[0] != NULL;
    unsigned alpha = 0; /* 0: none; sample 0 is a colour */
    for (unsigned i = 0; alpha == 0 && i < extras && extras < l->samples; i++)
        if (kinds[i] == EXTRASAMPLE_ASSOCALPHA || kinds[i] == EXTRASAMPLE_UNASSALPHA)
            alpha = l->samples - extras + i;
    if (alpha == 0 && l->colors == 1 && !palette && l->samples >= 3)
        l->colors = 3;
    if (alpha == 0 && l->samples > l->colors && !palette)
        alpha = l->colors;
    if (l->samples < l->colors || (alpha != 0 && alpha < l->colors))
        return image_fault(in->source, STATUS_PARSE,
                           "it has %u samples a pixel with %u extra ones, expected %u and the "
                           "extra ones",
                           l->samples, extras, l->colors);
    bool gray = l->colors == 1 && !palette;
    l->channels = alpha ? 4 : gray ? 1 : 3;
    for (unsigned c = 0; c < 3; c++)
        l->from[c] = (uint16_t)(l->colors == 1 ? 0 : c);
    l->from[3] = (uint16_t)alpha;
    return STATUS_OK;
}

/* Refuses what would take much time to unpack: tiles far beyond the image, hundreds of samples. */
static enum status measure_blocks(const struct tiff_input *in, TIFF *tif, struct tiff_layout *l)
{
    static const uint64_t most = (uint64_t)1 << 33; /* bytes: twice the largest image */
    uint16_t planar;
    TIFFGetFieldDefaulted(tif, TIFFTAG_PLANARCONFIG, &planar);
    l->tiled = TIFFIsTiled(tif);
    l->separate = planar == PLANARCONFIG_SEPARATE && l->samples > 1;
    if (l->tiled) {
        TIFFGetField(tif, TIFFTAG_TILEWIDTH, &l->block_width);
        TIFFGetField(tif, TIFFTAG_TILELENGTH, &l->block_height);
    } else {
        TIFFGetFieldDefaulted(tif, TIFFTAG_ROWSPERSTRIP, &l->block_height);
        l->block_height = l->block_height < l->height ? l->block_height : l->height;
        l->block_width = l->width;
    }
    uint64_t w = l->block_width, h = l->block_height;
    if (w == 0 || h == 0 || (l->tiled && (w > IMAGE_SIDE_MAX || h > IMAGE_SIDE_MAX)))
        return image_fault(in->source, STATUS_LIMIT,
                           "its %s have %llux%llu pixels, expected 1 to %d a side",
                           l->tiled ? "tiles" : "strips", (unsigned long long)w,
                           (unsigned long long)h, IMAGE_SIDE_MAX);
    uint64_t samples = l->separate ? 1 : l->samples, row = (w * samples * l->bits + 7) / 8;
    uint64_t blocks = ((l->width + w - 1) / w) * ((l->height + h - 1) / h);
    if (row * h > most / blocks / (l->separate ? l->channels : 1))
        return image_fault(
            in->source, STATUS_LIMIT,
            "it has %llu %s of %llux%llu pixels of %u samples, expected at most 2^33 "
            "bytes in all",
            (unsigned long long)blocks, l->tiled ? "tiles" : "strips", (unsigned long long)w,
            (unsigned long long)h, l->samples);
    if (row != (l->tiled ? TIFFTileRowSize64(tif) : TIFFScanlineSize64(tif)))
        return tiff_fault(in, "its rows cannot be measured");
    l->row_bytes = (size_t)row;
    return STATUS_OK;
}

static bool is_plain(const struct tiff_layout *l)
{
    bool same = l->channels == l->samples && l->bits >= 8 && !l->map[0] &&
                l->photometric != PHOTOMETRIC_MINISWHITE;
    for (uint32_t c = 0; c < l->channels; c++)
        same = same && l->from[c] == c;
    return same && !l->tiled && !l->separate && (l->orientation < 2 || l->orientation > 8);
}

static enum status read_layout(const struct tiff_input *in, TIFF *tif, struct tiff_layout *l)
{
    *l = (struct tiff_layout){0};
    TIFFGetField(tif, TIFFTAG_IMAGEWIDTH, &l->width);
    TIFFGetField(tif, TIFFTAG_IMAGELENGTH, &l->height);
    TRY(image_check_size(in->source, l->width, l->height));
    TIFFGetFieldDefaulted(tif, TIFFTAG_SAMPLESPERPIXEL, &l->samples);
    TIFFGetFieldDefaulted(tif, TIFFTAG_BITSPERSAMPLE, &l->bits);
    TIFFGetFieldDefaulted(tif, TIFFTAG_SAMPLEFORMAT, &l->sample_format);
    TIFFGetFieldDefaulted(tif, TIFFTAG_ORIENTATION, &l->orientation);
    TRY(check_compression(in, tif));
    TRY(read_photometric(in, tif, l));
    TRY(choose_format(in, l));
    TRY(choose_channels(in, tif, l));
    TRY(measure_blocks(in, tif, l));
    l->plain = is_plain(l);
    return STATUS_OK;
}

/* Who reads blocks: libtiff's handles are for one thread each. */
struct tiff_worker {
    struct tiff_input in;
    TIFF *tif;
    struct arena scratch;
    unsigned char *block; /* room for one; NULL where they go to the image as they stand */
};

struct tiff_reading {
    struct tiff_layout layout;
    struct image image;
    unsigned char *first;  /* the texel that the file's first pixel is */
    ptrdiff_t right, down; /* bytes to the one of its next pixel, of its next row */
    uint8_t bytes[4][256]; /* U8: what a sample of the file is in each channel */
    uint16_t flip;         /* U16: bits to be turned in colours */
    uint32_t base_row;     /* of the file: where `first` is */
};

/* Orientations 1 to 8: where row 0 and column 0 of the file are, "top and left" to "left and
 * bottom"; of 5 to 8 its rows are the picture's columns. */
static void place_pixels(struct tiff_reading *r)
{
    static const bool from_right[9] = {[2] = 1, [3] = 1, [6] = 1, [7] = 1};
    static const bool from_bottom[9] = {[3] = 1, [4] = 1, [7] = 1, [8] = 1};
    unsigned o = r->layout.orientation <= 8 ? r->layout.orientation : 1;
    const struct image *im = &r->image;
    ptrdiff_t texel = (ptrdiff_t)(im->channels * texel_size(im->format)),
              row = texel * (ptrdiff_t)im->width;
    r->first = im->texels;
    r->first += from_right[o] ? texel * ((ptrdiff_t)im->width - 1) : 0;
    r->first += from_bottom[o] ? row * ((ptrdiff_t)im->height - 1) : 0;
    texel = from_right[o] ? -texel : texel;
    row = from_bottom[o] ? -row : row;
    r->right = o >= 5 ? row : texel;
    r->down = o >= 5 ? texel : row;
}

/* Samples of less than 8 bits are shares of the largest; colours of a map have 16 bits, but for
 * those of old writers who had 8 in mind. */
static void fill_tables(struct tiff_reading *r)
{
    const struct tiff_layout *l = &r->layout;
    bool white = l->photometric == PHOTOMETRIC_MINISWHITE, wide = false;
    r->flip = white ? 0xffff : 0;
    if (l->bits > 8)
        return;
    unsigned count = 1U << l->bits;
    for (unsigned c = 0; c < 3 && l->map[0]; c++)
        for (unsigned v = 0; v < count; v++)
            wide = wide || l->map[c][v] > 255;
    for (unsigned c = 0; c < 4; c++)
        for (unsigned v = 0; v < count; v++) {
            unsigned share = v * 255 / (count - 1);
            if (c < 3 && l->map[0])
                share = l->map[c][v] >> (wide ? 8 : 0);
            r->bytes[c][v] = (uint8_t)(white && c < 3 ? 255 - share : share);
        }
}

/* Sample i of a row. */
static unsigned small_sample(const unsigned char *row, size_t i, unsigned bits)
{
    size_t at = i * bits;
    return (unsigned)row[at / 8] >> (8 - bits - at % 8) & ((1U << bits) - 1);
}

/* n pixels of a block's row to their texels; (x, y): the first, in the file. */
static void place_row(const struct tiff_reading *r, unsigned plane, const unsigned char *row,
                      uint32_t x, uint32_t y, uint32_t n)
{
    const struct tiff_layout *l = &r->layout;
    size_t size = texel_size(l->format), step = l->separate ? 1 : l->samples;
    for (uint32_t c = 0; c < l->channels; c++) {
        if (l->separate && l->from[c] != plane)
            continue;
        size_t i = l->separate ? 0 : l->from[c];
        unsigned char *to =
            r->first + (ptrdiff_t)x * r->right + (ptrdiff_t)(y - r->base_row) * r->down + c * size;
        const uint16_t flip = c < 3 ? r->flip : 0;
        for (uint32_t k = 0; k < n; k++, i += step, to += r->right)
            if (size == 1) {
                *to = r->bytes[c][l->bits == 8 ? row[i] : small_sample(row, i, l->bits)];
            } else if (size == 2) {
                uint16_t v;
                memcpy(&v, row + 2 * i, 2);
                v ^= flip;
                memcpy(to, &v, 2);
            } else {
                memcpy(to, row + 4 * i, 4);
            }
    }
}

/* The block whose first pixel is (x, y). */
static enum status read_block(const struct tiff_reading *r, struct tiff_worker *w, uint16_t plane,
                              uint32_t x, uint32_t y)
{
    const struct tiff_layout *l = &r->layout;
    uint32_t rows = l->height - y < l->block_height ? l->height - y : l->block_height;
    uint32_t n = l->width - x < l->block_width ? l->width - x : l->block_width;
    tmsize_t size = (tmsize_t)(l->row_bytes * (l->tiled ? l->block_height : rows)), got;
    unsigned char *to = l->plain ? r->first + (size_t)(y - r->base_row) * l->row_bytes : w->block;
    if (l->tiled)
        got = TIFFReadEncodedTile(w->tif, TIFFComputeTile(w->tif, x, y, 0, plane), to, size);
    else
        got = TIFFReadEncodedStrip(w->tif, TIFFComputeStrip(w->tif, y, plane), to, size);
    if (got != size || w->in.complaint[0]) {
        char what[64];
        snprintf(what, sizeof what, "its pixels at column %u, row %u", x, y);
        return tiff_fault(&w->in, what);
    }
    for (uint32_t k = 0; k < rows && !l->plain; k++)
        place_row(r, plane, to + k * l->row_bytes, x, y + k, n);
    return STATUS_OK;
}

static uint32_t block_rows(const struct tiff_layout *l)
{
    return (l->height + l->block_height - 1) / l->block_height;
}

/* Row i of all rows of blocks, plane by plane. */
static enum status read_blocks(const struct tiff_reading *r, struct tiff_worker *w, size_t i)
{
    const struct tiff_layout *l = &r->layout;
    uint16_t plane = (uint16_t)(i / block_rows(l));
    uint32_t y = (uint32_t)(i % block_rows(l)) * l->block_height;
    bool wanted = !l->separate;
    for (uint32_t c = 0; c < l->channels; c++)
        wanted = wanted || l->from[c] == plane;
    for (uint32_t x = 0; x < l->width && wanted; x += l->block_width)
        TRY(read_block(r, w, plane, x, y));
    return STATUS_OK;
}

/* Opens the file and reads the level's directory. */
static enum status start_worker(struct tiff_worker *w, const struct image_source *s,
                                struct tiff_layout *layout)
{
    w->in.source = s;
    w->scratch.limit = s->arena->limit;
    w->tif = open_input(&w->in);
    if (!w->tif)
        return tiff_fault(&w->in, "its directory cannot be read");
    if (s->part + s->level > 0 && !TIFFSetDirectory(w->tif, (tdir_t)(s->part + s->level)))
        return tiff_fault(&w->in, "its directory cannot be read");
    TRY(read_layout(&w->in, w->tif, layout));
    if (!layout->plain)
        w->block = arena_alloc(&w->scratch, layout->block_height, layout->row_bytes, 16);
    if (!layout->plain && !w->block)
        return image_fault(s, STATUS_MEMORY, "out of memory");
    w->in.complaint[0] = '\0';
    w->in.decoding = true;
    return STATUS_OK;
}

static void end_worker(struct tiff_worker *w)
{
    if (w->tif)
        TIFFClose(w->tif);
    arena_free(&w->scratch);
}

struct tiff_team {
    const struct tiff_reading *r;
    struct image_source source; /* has no place for an error: threads would share it */
    struct tiff_worker *workers;
    atomic_bool failed;
};

static void team_read(void *ctx, size_t i, unsigned thread)
{
    struct tiff_team *team = ctx;
    struct tiff_worker *w = &team->workers[thread];
    struct tiff_layout same;
    if (atomic_load(&team->failed))
        return;
    if ((!w->tif && start_worker(w, &team->source, &same) != STATUS_OK) ||
        read_blocks(team->r, w, i) != STATUS_OK)
        atomic_store(&team->failed, true);
}

/* All `count` rows of blocks on all threads; false if one cannot be read. */
static bool read_by_team(const struct tiff_reading *r, const struct image_source *s, size_t count)
{
    unsigned threads = parallel_threads();
    struct arena scratch = {0};
    struct tiff_team team = {.r = r, .source = *s};
    team.source.err = NULL;
    team.workers = ARENA_ARRAY(&scratch, struct tiff_worker, threads);
    if (team.workers)
        parallel_for(count, threads, team_read, &team);
    for (unsigned i = 0; team.workers && i < threads; i++)
        end_worker(&team.workers[i]);
    arena_free(&scratch);
    return team.workers && !atomic_load(&team.failed);
}

/* What a team cannot read one worker looks at again, and says the first thing that is wrong. */
static enum status read_texels(const struct tiff_reading *r, struct tiff_worker *w)
{
    enum { WORTH = 1 << 20, ROOM = 1 << 24 }; /* texels, bytes: threads take a while and a block */
    const struct tiff_layout *l = &r->layout;
    size_t count = (size_t)block_rows(l) * (l->separate ? l->samples : 1);
    bool large = (uint64_t)l->width * l->height >= WORTH && l->row_bytes * l->block_height <= ROOM;
    if (large && count > 1 && read_by_team(r, w->in.source, count))
        return STATUS_OK;
    for (size_t i = 0; i < count; i++)
        TRY(read_blocks(r, w, i));
    return STATUS_OK;
}

/* Whole numbers are, but where shaders see them. */
static bool is_encoded(const struct image_source *s, enum texel_format format)
{
    return format != TEXEL_F16 && format != TEXEL_F32 && s->space != COLOR_SHADER;
}

static enum status read_image(struct tiff_reading *r, struct tiff_worker *w,
                              const struct image_source *s)
{
    struct tiff_layout *l = &r->layout;
    struct image *im = &r->image;
    TRY(start_worker(w, s, l));
    bool turned = l->orientation >= 5 && l->orientation <= 8;
    TRY(image_allocate(s, turned ? l->height : l->width, turned ? l->width : l->height, l->channels,
                       l->format, im));
    place_pixels(r);
    fill_tables(r);
    TRY(read_texels(r, w));
    im->srgb = is_encoded(s, im->format);
    if (im->format == TEXEL_F16 && s->space == COLOR_SRGB) { /* halves are never decoded */
        const float *linear = image_linear(s->arena, im);
        if (!linear)
            return image_fault(s, STATUS_MEMORY, "out of memory");
        im->texels = (void *)linear;
        im->format = TEXEL_F32;
    }
    return STATUS_OK;
}

enum status tiff_read(const struct image_source *s, struct image *out)
{
    struct tiff_worker w = {0};
    struct tiff_reading r;
    memset(&r, 0, sizeof r);
    enum status status = read_image(&r, &w, s);
    end_worker(&w);
    if (status == STATUS_OK)
        *out = r.image;
    return status;
}

static void directory_size(TIFF *tif, uint32_t size[2])
{
    uint16_t orientation;
    TIFFGetFieldDefaulted(tif, TIFFTAG_ORIENTATION, &orientation);
    bool turned = orientation >= 5 && orientation <= 8;
    TIFFGetField(tif, TIFFTAG_IMAGEWIDTH, &size[turned ? 1 : 0]);
    TIFFGetField(tif, TIFFTAG_IMAGELENGTH, &size[turned ? 0 : 1]);
}

/* From directory to directory, as long as they have tiles. */
static enum status find_level(struct tiff_input *in, TIFF *tif, uint32_t size[2])
{
    if (in->source->part > 0 && !TIFFSetDirectory(tif, (tdir_t)in->source->part))
        return tiff_fault(in, "its directory cannot be read");
    for (uint32_t level = 0; level < in->source->level; level++) {
        if (!TIFFIsTiled(tif) || TIFFLastDirectory(tif))
            return STATUS_OK;
        if (!TIFFReadDirectory(tif))
            return tiff_fault(in, "its directory cannot be read");
    }
    if (TIFFIsTiled(tif))
        directory_size(tif, size);
    return STATUS_OK;
}

enum status tiff_find_level(const struct image_source *s, uint32_t *width, uint32_t *height)
{
    struct tiff_input in = {.source = s};
    uint32_t size[2] = {0, 0};
    TIFF *tif = open_input(&in);
    if (!tif)
        return tiff_fault(&in, "its directory cannot be read");
    enum status status = find_level(&in, tif, size);
    TIFFClose(tif);
    *width = size[0];
    *height = size[1];
    return status;
}

/* A directory that is no level of the ones before it begins a subimage. */
static enum status list_parts(struct tiff_input *in, TIFF *tif, struct image_parts *out)
{
    uint32_t above[2] = {0, 0}; /* of the pyramid that goes on; 0 x 0: none does */
    for (uint32_t directory = 0;; directory++) {
        uint32_t size[2] = {0, 0};
        bool tiled = TIFFIsTiled(tif);
        char *name = NULL;
        directory_size(tif, size);
        if (!tiled || !image_is_level(above, size)) {
            TIFFGetField(tif, TIFFTAG_PAGENAME, &name);
            TRY(image_add_part(in->source, out, directory, name));
        }
        memcpy(above, size, sizeof above);
        if (!tiled)
            above[0] = above[1] = 0;
        if (TIFFLastDirectory(tif) || out->ended[0])
            return STATUS_OK;
        if (!TIFFReadDirectory(tif)) {
            (void)snprintf(out->ended, sizeof out->ended,
                           "the directory after its subimage %u cannot be read: %.160s",
                           out->count - 1,
                           in->complaint[0] ? in->complaint : "libtiff does not say why");
            return STATUS_OK;
        }
    }
}

enum status tiff_list_parts(const struct image_source *s, struct image_parts *out)
{
    struct tiff_input in = {.source = s};
    TIFF *tif = open_input(&in);
    if (!tif)
        return tiff_fault(&in, "its directory cannot be read");
    enum status status = list_parts(&in, tif, out);
    TIFFClose(tif);
    return status;
}

/* ---- a row of blocks at a time -------------------------------------------------------------- */

struct tiff_rows {
    struct tiff_reading reading;
    struct tiff_worker worker;
};

/* A row of blocks is read whole: images that are turned have columns there, and strips that are
 * most of an image save nothing. */
static enum status check_rows(const struct image_source *s, const struct tiff_layout *l)
{
    static const uint64_t most = (uint64_t)1 << 26; /* bytes */
    uint64_t samples = l->separate ? 1 : l->samples;
    if (l->orientation > 1 && l->orientation <= 8)
        return image_fault(s, STATUS_UNSUPPORTED, "it is turned");
    if ((uint64_t)l->row_bytes * l->block_height > most ||
        samples * l->width * l->block_height > most)
        return image_fault(s, STATUS_UNSUPPORTED, "its strips are long");
    if (l->format == TEXEL_F16 && s->space == COLOR_SRGB)
        return image_fault(s, STATUS_UNSUPPORTED, "its halves are encoded");
    return STATUS_OK;
}

static enum status open_rows(const struct image_source *s, struct tiff_rows *t,
                             struct image_rows_shape *out)
{
    struct tiff_reading *r = &t->reading;
    struct tiff_layout *l = &r->layout;
    TRY(start_worker(&t->worker, s, l));
    TRY(check_rows(s, l));
    r->image = (struct image){.width = l->width,
                              .height = l->height,
                              .channels = l->channels,
                              .format = l->format,
                              .srgb = is_encoded(s, l->format)};
    place_pixels(r);
    fill_tables(r);
    *out = (struct image_rows_shape){.image = r->image,
                                     .block_height = l->block_height,
                                     .across = (l->width + l->block_width - 1) / l->block_width *
                                               (l->separate ? l->samples : 1)};
    return STATUS_OK;
}

enum status tiff_open_rows(const struct image_source *s, void **reader,
                           struct image_rows_shape *out)
{
    struct tiff_rows *t = ARENA_NEW(s->arena, struct tiff_rows);
    if (!t)
        return image_fault(s, STATUS_MEMORY, "out of memory");
    enum status status = open_rows(s, t, out);
    if (status == STATUS_OK)
        *reader = t;
    else
        end_worker(&t->worker);
    return status;
}

enum status tiff_read_row(void *reader, uint32_t row, void *texels, uint64_t *file_bytes)
{
    struct tiff_rows *t = reader;
    const struct tiff_layout *l = &t->reading.layout;
    const uint32_t across = (l->width + l->block_width - 1) / l->block_width;
    const uint16_t planes = l->separate ? l->samples : 1;
    t->reading.image.texels = texels;
    place_pixels(&t->reading);
    t->reading.base_row = row * l->block_height;
    for (uint16_t plane = 0; plane < planes; plane++)
        TRY(read_blocks(&t->reading, &t->worker, (size_t)plane * block_rows(l) + row));
    for (uint16_t plane = 0; plane < planes; plane++)
        for (uint32_t i = 0; i < across; i++) {
            const uint32_t block = (plane * block_rows(l) + row) * across + i;
            *file_bytes += TIFFGetStrileByteCount(t->worker.tif, block);
        }
    return STATUS_OK;
}

void tiff_close_rows(void *reader)
{
    struct tiff_rows *t = reader;
    end_worker(&t->worker);
}
