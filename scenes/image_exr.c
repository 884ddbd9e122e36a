/* OpenEXR through OpenEXRCore's C API, from memory or chunk by chunk from a file, and to
 * memory. */
#include "image_exr.h"
#include "image_format.h"
#include "inflate.h"

#include <limits.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <libdeflate.h>
#include <openexr.h>

/* ---- reading -------------------------------------------------------------------------------- */

bool exr_recognise(const unsigned char *data, size_t size)
{
    static const unsigned char magic[4] = {0x76, 0x2f, 0x31, 0x01};
    return size >= sizeof magic && memcmp(data, magic, sizeof magic) == 0;
}

struct exr_input {
    const struct image_source *source;
    char complaint[256]; /* the library's own words */
    bool quiet;          /* while threads read, who would write over each other's */
};

static int64_t input_size(exr_const_context_t ctxt, void *userdata)
{
    (void)ctxt;
    return (int64_t)((const struct exr_input *)userdata)->source->size;
}

static int64_t input_read(exr_const_context_t ctxt, void *userdata, void *buffer, uint64_t size,
                          uint64_t offset, exr_stream_error_func_ptr_t error_cb)
{
    (void)ctxt;
    (void)error_cb;
    const struct image_source *s = ((const struct exr_input *)userdata)->source;
    if (offset >= s->size)
        return 0;
    uint64_t n = size < s->size - offset ? size : s->size - offset;
    if (s->data)
        memcpy(buffer, s->data + offset, n);
    return s->data ? (int64_t)n : file_read_at(s->file, buffer, n, offset);
}

static void input_error(exr_const_context_t ctxt, exr_result_t code, const char *msg)
{
    void *user = NULL;
    (void)code;
    if (ctxt && exr_get_user_data(ctxt, &user) == EXR_ERR_SUCCESS && user) {
        struct exr_input *in = user;
        if (!in->quiet && !in->complaint[0] && msg)
            snprintf(in->complaint, sizeof in->complaint, "%s", msg);
    }
}

static enum status exr_fault(const struct exr_input *in, exr_result_t r, const char *what)
{
    enum status s = r == EXR_ERR_OUT_OF_MEMORY ? STATUS_MEMORY : STATUS_PARSE;
    return image_fault(in->source, s, "%s: %s", what,
                       in->complaint[0] ? in->complaint : exr_get_error_code_as_string(r));
}

/* Which of the file's channels make R, G, B, A. */
struct exr_choice {
    int at[4];         /* index in the channel list, -1 for none: G and B of gray with alpha */
    uint32_t channels; /* 1, 3 or 4 */
};

static enum status choose_channels(const struct image_source *s, const exr_attr_chlist_t *list,
                                   struct exr_choice *out)
{
    static const char *const names[] = {"R", "G", "B", "A", "Y", "RY", "BY"};
    int at[7] = {-1, -1, -1, -1, -1, -1, -1};
    for (int i = 0; i < list->num_channels; i++)
        for (int k = 0; k < 7; k++)
            if (strcmp(list->entries[i].name.str, names[k]) == 0) {
                if (k < 5 && (list->entries[i].x_sampling != 1 || list->entries[i].y_sampling != 1))
                    return image_fault(s, STATUS_UNSUPPORTED,
                                       "channel %s is subsampled, expected one value a pixel",
                                       names[k]);
                at[k] = i;
            }
    bool rgb = at[0] >= 0 && at[1] >= 0 && at[2] >= 0;
    if (rgb) {
        memcpy(out->at, at, sizeof out->at);
        out->channels = at[3] >= 0 ? 4 : 3;
        return STATUS_OK;
    }
    if (at[4] >= 0 && (at[5] >= 0 || at[6] >= 0))
        return image_fault(s, STATUS_UNSUPPORTED,
                           "its colours are luminance Y with chroma RY, BY, expected R, G, B");
    if (at[4] >= 0 && at[3] >= 0) {
        *out = (struct exr_choice){{at[4], -1, -1, at[3]}, 4};
        return STATUS_OK;
    }
    /* One channel: luminance, or the file's only one whatever its name. */
    int one = at[4] >= 0 ? at[4] : list->num_channels == 1 ? 0 : -1;
    if (one < 0 || list->entries[one].x_sampling != 1 || list->entries[one].y_sampling != 1)
        return image_fault(s, STATUS_TYPE,
                           "its %d channels are not R, G, B (and A), nor Y, nor a single one",
                           list->num_channels);
    *out = (struct exr_choice){{one, -1, -1, -1}, 1};
    return STATUS_OK;
}

/* One chunk of the file into its place in the image; `top` and `left` are the data window's origin.
 */
struct exr_reading {
    exr_context_t ctxt;
    struct exr_input *in;
    const exr_attr_chlist_t *list;
    struct exr_choice choice;
    struct image *image;
    exr_decode_pipeline_t pipe;
    bool started;
    exr_result_t (*usual_decompress)(exr_decode_pipeline_t *);
    bool (*undo)(struct exr_reading *, unsigned char *to,
                 size_t size);                /* what was done to a chunk */
    struct libdeflate_decompressor *inflater; /* made when first used */
    unsigned char *inflated;                  /* room for inflated_size bytes */
    size_t inflated_size;
    struct piz_room *piz;
    struct exr_direct *direct; /* NULL: it does not go by that */
    uint32_t *unwanted; /* where channels that nobody asked for go; room for `unwanted_count` */
    size_t unwanted_count;
};

/* Unpacks the chunk's zlib stream into r->inflated; false if it is not `size` bytes. */
static bool inflate_chunk(struct exr_reading *r, size_t size)
{
    if (size > r->inflated_size) {
        unsigned char *more = realloc(r->inflated, size);
        if (!more)
            return false;
        r->inflated = more;
        r->inflated_size = size;
    }
    if (!r->inflater && !(r->inflater = libdeflate_alloc_decompressor()))
        return false;
    return libdeflate_zlib_decompress(r->inflater, r->pipe.packed_buffer, r->pipe.chunk.packed_size,
                                      r->inflated, size, NULL) == LIBDEFLATE_SUCCESS;
}

typedef uint8_t byte_vector __attribute__((vector_size(16)));

/* v, n places later, behind zeros. */
#define DELAY(v, n)                                                                                \
    __builtin_shufflevector((byte_vector){0}, v, 16 - (n), 17 - (n), 18 - (n), 19 - (n), 20 - (n), \
                            21 - (n), 22 - (n), 23 - (n), 24 - (n), 25 - (n), 26 - (n), 27 - (n),  \
                            28 - (n), 29 - (n), 30 - (n), 31 - (n))

/* 16 at a time, whose sums take four steps. */
void exr_sum_differences(unsigned char *b, size_t size)
{
    byte_vector before = (byte_vector){0} + 128; /* the first has none to be taken off */
    size_t i = 0;
    for (; i + sizeof before <= size; i += sizeof before) {
        byte_vector v;
        memcpy(&v, b + i, sizeof v);
        v += 128; /* or less 128 */
        v += DELAY(v, 1);
        v += DELAY(v, 2);
        v += DELAY(v, 4);
        v += DELAY(v, 8);

        byte_vector last = __builtin_shufflevector(v, v, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15,
                                                   15, 15, 15, 15, 15);
        v += before;
        before += last;
        memcpy(b + i, &v, sizeof v);
    }
    for (unsigned sum = before[0]; i < size; i++) {
        sum += b[i] + 128U;
        b[i] = (unsigned char)sum;
    }
}

/* ZIP and ZIPS: what zlib packed are the differences of neighbouring bytes, 128 for none, of the
 * even bytes and then of the odd ones ("OpenEXR File Layout", and ImfZip of the library). */
static bool undo_zip(struct exr_reading *r, unsigned char *to, size_t size)
{
    if ((size & 1) || !inflate_chunk(r, size))
        return false;
    exr_sum_differences(r->inflated, size);
    exr_interleave(r->inflated, r->inflated + size / 2, size / 2, to);
    return true;
}

/* PXR24: zlib packed, line by line and channel by channel, the differences of neighbouring values,
 * from the left, as one row of each of their bytes, the highest first; float32 without its lowest
 * byte (ImfPxr24Compressor of the library). */
static bool undo_pxr24(struct exr_reading *r, unsigned char *to, size_t size)
{
    const exr_decode_pipeline_t *pipe = &r->pipe;
    size_t n = (size_t)pipe->chunk.width, lines = (size_t)pipe->chunk.height, packed = 0, plain = 0;
    for (int16_t c = 0; c < pipe->channel_count; c++) {
        const exr_coding_channel_info_t *ch = &pipe->channels[c];
        if (ch->x_samples != 1 || ch->y_samples != 1)
            return false;
        packed += ch->data_type == EXR_PIXEL_FLOAT ? 3 : (size_t)ch->bytes_per_element;
        plain += (size_t)ch->bytes_per_element;
    }
    if (plain * n * lines != size || !inflate_chunk(r, packed * n * lines))
        return false;
    const unsigned char *b = r->inflated;
    for (size_t line = 0; line < lines; line++)
        for (int16_t c = 0; c < pipe->channel_count; c++) {
            uint32_t sum = 0;
            if (pipe->channels[c].data_type == EXR_PIXEL_HALF) {
                for (size_t i = 0; i < n; i++, to += 2) {
                    sum += (uint32_t)b[i] << 8 | b[n + i];
                    memcpy(to, &(uint16_t){(uint16_t)sum}, 2);
                }
                b += 2 * n;
                continue;
            }
            bool whole = pipe->channels[c].data_type == EXR_PIXEL_UINT;
            for (size_t i = 0; i < n; i++, to += 4) {
                sum +=
                    (uint32_t)b[i] << 24 | (uint32_t)b[n + i] << 16 | (uint32_t)b[2 * n + i] << 8;
                sum += whole ? b[3 * n + i] : 0U;
                memcpy(to, &sum, 4);
            }
            b += (whole ? 4 : 3) * n;
        }
    return true;
}

static bool undo_piz(struct exr_reading *r, unsigned char *to, size_t size)
{
    return exr_undo_piz(&r->pipe, &r->piz, to, size);
}

/* libdeflate takes half of zlib's time. What cannot be unpacked so the library looks at, and says
 * what is wrong. */
static exr_result_t decompress_here(exr_decode_pipeline_t *pipe)
{
    struct exr_reading *r = pipe->decoding_user_data;
    bool packed = pipe->packed_buffer && pipe->unpacked_buffer &&
                  pipe->unpacked_buffer != pipe->packed_buffer &&
                  pipe->chunk.packed_size < pipe->chunk.unpacked_size &&
                  pipe->unpacked_alloc_size >= pipe->chunk.unpacked_size;
    if (packed && r->undo(r, pipe->unpacked_buffer, pipe->chunk.unpacked_size))
        return EXR_ERR_SUCCESS;
    return r->usual_decompress(pipe);
}

/* A chunk that B44 made no smaller (float channels only) is stored as it was, which
 * OpenEXRCore 3.1.5 takes for packed and puts in the wrong order. */
static exr_result_t decompress_b44(exr_decode_pipeline_t *pipe)
{
    const struct exr_reading *r = pipe->decoding_user_data;
    bool here = pipe->unpacked_buffer == pipe->packed_buffer;
    if (pipe->chunk.packed_size != pipe->chunk.unpacked_size || !pipe->packed_buffer ||
        !pipe->unpacked_buffer || (!here && pipe->unpacked_alloc_size < pipe->chunk.unpacked_size))
        return r->usual_decompress(pipe);
    if (!here)
        memcpy(pipe->unpacked_buffer, pipe->packed_buffer, pipe->chunk.unpacked_size);
    return EXR_ERR_SUCCESS;
}

static exr_result_t choose_routines(struct exr_reading *r)
{
    exr_compression_t compression;
    exr_result_t e = exr_get_compression(r->ctxt, 0, &compression);
    if (e == EXR_ERR_SUCCESS)
        e = exr_decoding_choose_default_routines(r->ctxt, 0, &r->pipe);
    if (e != EXR_ERR_SUCCESS)
        return e;
    if (compression == EXR_COMPRESSION_ZIP || compression == EXR_COMPRESSION_ZIPS)
        r->undo = undo_zip;
    else if (compression == EXR_COMPRESSION_PXR24)
        r->undo = undo_pxr24;
    else if (compression == EXR_COMPRESSION_PIZ)
        r->undo = undo_piz;
    else if (compression == EXR_COMPRESSION_B44 || compression == EXR_COMPRESSION_B44A)
        r->undo = NULL;
    else
        return e;
    r->usual_decompress = r->pipe.decompress_fn;
    r->pipe.decoding_user_data = r;
    if (r->usual_decompress)
        r->pipe.decompress_fn = r->undo ? decompress_here : decompress_b44;
    return e;
}

static exr_result_t read_chunk(struct exr_reading *r, const exr_chunk_info_t *chunk, uint32_t x,
                               uint32_t y)
{
    const struct image *im = r->image;
    exr_result_t e = r->started ? exr_decoding_update(r->ctxt, 0, chunk, &r->pipe)
                                : exr_decoding_initialize(r->ctxt, 0, chunk, &r->pipe);
    if (e != EXR_ERR_SUCCESS)
        return e;
    /* The header was checked; a chunk that claims more than its place would write past the image.
     */
    if (chunk->width <= 0 || chunk->height <= 0 || (uint32_t)chunk->width > im->width - x ||
        (uint32_t)chunk->height > im->height - y)
        return EXR_ERR_BAD_CHUNK_LEADER;
    size_t value = texel_size(im->format), pixel = im->channels * value;
    unsigned char *base = (unsigned char *)im->texels + ((size_t)y * im->width + x) * pixel;
    /* OpenEXRCore 3.1.5 takes NULL to mean "not wanted" only in some of its routines; others write
     * there. */
    size_t count = (size_t)chunk->width * (size_t)chunk->height;
    if (count > r->unwanted_count) {
        uint32_t *more = realloc(r->unwanted, count * sizeof *more);
        if (!more)
            return EXR_ERR_OUT_OF_MEMORY;
        r->unwanted = more;
        r->unwanted_count = count;
    }
    for (int16_t c = 0; c < r->pipe.channel_count; c++) {
        exr_coding_channel_info_t *ch = &r->pipe.channels[c];
        int32_t size = ch->data_type == EXR_PIXEL_HALF ? 2 : 4;
        ch->user_bytes_per_element = (int16_t)size;
        ch->user_data_type = ch->data_type;
        ch->user_pixel_stride = size;
        ch->user_line_stride = size * chunk->width;
        ch->decode_to_ptr = (unsigned char *)r->unwanted;
        for (uint32_t k = 0; k < im->channels; k++) {
            int at = r->choice.at[k];
            if (at < 0 || strcmp(ch->channel_name, r->list->entries[at].name.str) != 0)
                continue;
            ch->user_bytes_per_element = (int16_t)value;
            ch->user_data_type = im->format == TEXEL_F16 ? EXR_PIXEL_HALF : EXR_PIXEL_FLOAT;
            ch->user_pixel_stride = (int32_t)pixel;
            ch->user_line_stride = (int32_t)(pixel * im->width);
            ch->decode_to_ptr = base + k * value;
        }
    }
    bool first = !r->started;
    r->started = true;
    if (first && (e = choose_routines(r)) != EXR_ERR_SUCCESS)
        return e;
    return exr_decoding_run(r->ctxt, 0, &r->pipe);
}

/* The chunks of an image, in rows of as many as stand side by side. */
struct exr_chunks {
    const struct exr_reading *prototype; /* what every thread's starts as */
    struct exr_reading *readings;        /* by thread */
    int32_t top;
    bool tiled;
    uint32_t width, height; /* of a chunk */
    uint32_t across;
    size_t count, together; /* so many in a thread's turn */
    atomic_int failed;      /* exr_result_t of one that did */
};

static exr_result_t find_chunks(exr_context_t ctxt, const exr_attr_box2i_t *window, bool tiled,
                                const struct image *im, struct exr_chunks *out)
{
    int32_t w = (int32_t)im->width, h = 0;
    exr_result_t e = tiled ? exr_get_tile_sizes(ctxt, 0, 0, 0, &w, &h)
                           : exr_get_scanlines_per_chunk(ctxt, 0, &h);
    if (e == EXR_ERR_SUCCESS && (w <= 0 || h <= 0))
        e = EXR_ERR_BAD_CHUNK_LEADER;
    if (e != EXR_ERR_SUCCESS)
        return e;
    out->top = window->min.y;
    out->tiled = tiled;
    out->width = (uint32_t)w;
    out->height = (uint32_t)h;
    out->across = (im->width - 1) / out->width + 1;
    out->count = (size_t)out->across * ((im->height - 1) / out->height + 1);
    return EXR_ERR_SUCCESS;
}

static exr_result_t find_nth(const struct exr_chunks *c, struct exr_reading *r, size_t i,
                             struct exr_place *out)
{
    uint32_t column = (uint32_t)(i % c->across), row = (uint32_t)(i / c->across);
    out->x = column * c->width;
    out->y = row * c->height;
    out->done = false;
    return c->tiled ? exr_read_tile_chunk_info(r->ctxt, 0, (int)column, (int)row, 0, 0, &out->chunk)
                    : exr_read_scanline_chunk_info(r->ctxt, 0, c->top + (int)out->y, &out->chunk);
}

/* Chunks [from, to), EXR_TOGETHER_MAX at most. */
static exr_result_t read_some(const struct exr_chunks *c, struct exr_reading *r, size_t from,
                              size_t to)
{
    struct exr_place places[EXR_TOGETHER_MAX];
    exr_result_t e = EXR_ERR_SUCCESS;
    for (size_t i = from; i < to && e == EXR_ERR_SUCCESS; i++)
        e = find_nth(c, r, i, &places[i - from]);
    if (e == EXR_ERR_SUCCESS && r->direct)
        exr_direct_read(r->direct, places, to - from);
    for (size_t i = 0; i < to - from && e == EXR_ERR_SUCCESS; i++)
        if (!places[i].done)
            e = read_chunk(r, &places[i].chunk, places[i].x, places[i].y);
    return e;
}

static void end_reading(struct exr_reading *r)
{
    if (r->started)
        exr_decoding_destroy(r->ctxt, &r->pipe);
    libdeflate_free_decompressor(r->inflater);
    free(r->inflated);
    piz_room_free(r->piz);
    exr_direct_free(r->direct);
    free(r->unwanted);
}

static void read_in_thread(void *ctx, size_t i, unsigned thread)
{
    struct exr_chunks *c = ctx;
    if (atomic_load(&c->failed) != EXR_ERR_SUCCESS)
        return;
    size_t from = i * c->together,
           to = from + c->together < c->count ? from + c->together : c->count;
    exr_result_t e = read_some(c, &c->readings[thread], from, to);
    if (e != EXR_ERR_SUCCESS)
        atomic_store(&c->failed, (int)e);
}

/* A few megabytes' worth, but enough turns for all threads. */
static size_t chunks_together(const struct exr_chunks *c, unsigned threads)
{
    enum { WORTH = 1 << 18 /* pixels */, LEAST = INFLATE_TOGETHER, TURNS = 4 };
    size_t n = WORTH / ((size_t)c->width * c->height), most = c->count / (TURNS * (size_t)threads);
    n = n < LEAST ? LEAST : n > EXR_TOGETHER_MAX ? EXR_TOGETHER_MAX : n;
    n = n < most ? n : most;
    return n < LEAST ? (n < 1 ? 1 : n) : n - n % LEAST;
}

/* Chunks are packed by themselves, so threads take turns. False when it did not work out: one after
 * the other then finds the same fault, and says which chunk has it. */
static bool read_in_parallel(struct exr_chunks *c)
{
    static const size_t worth = (size_t)1 << 20; /* pixels: threads take a while to start */
    const struct image *im = c->prototype->image;
    unsigned threads = parallel_threads();
    if (threads < 2 || c->count < 2 || (size_t)im->width * im->height < worth)
        return false;
    c->readings = malloc(threads * sizeof *c->readings);
    if (!c->readings)
        return false;
    for (unsigned t = 0; t < threads; t++) {
        struct exr_reading *r = &c->readings[t];
        *r = *c->prototype;
        r->direct = exr_direct_new(r->ctxt, r->list, r->choice.at, im);
    }
    c->together = chunks_together(c, threads);
    c->prototype->in->quiet = true;
    parallel_for((c->count - 1) / c->together + 1, threads, read_in_thread, c);
    c->prototype->in->quiet = false;
    for (unsigned t = 0; t < threads; t++)
        end_reading(&c->readings[t]);
    free(c->readings);
    return atomic_load(&c->failed) == EXR_ERR_SUCCESS;
}

static exr_result_t read_chunks(struct exr_reading *r, const exr_attr_box2i_t *window, bool tiled)
{
    struct exr_chunks c = {.prototype = r};
    exr_result_t e = find_chunks(r->ctxt, window, tiled, r->image, &c);
    if (e != EXR_ERR_SUCCESS || read_in_parallel(&c))
        return e;
    struct exr_reading alone = *r;
    alone.direct = exr_direct_new(r->ctxt, r->list, r->choice.at, r->image);
    c.together = chunks_together(&c, 1);
    for (size_t i = 0; i < c.count && e == EXR_ERR_SUCCESS; i += c.together)
        e = read_some(&c, &alone, i, c.count - i < c.together ? c.count : i + c.together);
    end_reading(&alone);
    return e;
}

/* Half where the file's channels are: they are read as they stand. What has to be decoded is not.
 */
static enum texel_format choose_format(const struct image_source *s, const exr_attr_chlist_t *list,
                                       const struct exr_choice *choice)
{
    for (uint32_t k = 0; k < choice->channels; k++)
        if (choice->at[k] >= 0 && list->entries[choice->at[k]].pixel_type != EXR_PIXEL_HALF)
            return TEXEL_F32;
    return s->space == COLOR_SRGB ? TEXEL_F32 : TEXEL_F16;
}

/* Lines that are read at once: what is packed together, or a good part of the work. */
static exr_result_t lines_together(exr_context_t ctxt, bool tiled, int32_t *lines)
{
    enum { LINES = 256 }; /* a chunk of DWAB, 8 of DWAA */
    int32_t width;
    *lines = LINES;
    return tiled ? exr_get_tile_sizes(ctxt, 0, 0, 0, &width, lines) : EXR_ERR_SUCCESS;
}

static enum status read_dwa(const struct image_source *s, const exr_attr_chlist_t *list,
                            const struct exr_choice *choice, uint32_t lines, struct image *image)
{
    const char *name = list->entries[choice->at[0]].name.str;
    if (choice->channels == 1 && strcmp(name, "Y") != 0)
        return image_fault(s, STATUS_UNSUPPORTED,
                           "its channel %s has DWA compression, expected R, G, B or Y", name);
    return exr_read_dwa(s, lines, image);
}

/* Gray with alpha becomes RGBA. */
static void spread_gray(const struct image *im)
{
    size_t n = (size_t)im->width * im->height, value = texel_size(im->format);
    unsigned char *t = im->texels;
    for (size_t i = 0; i < n; i++, t += 4 * value) {
        memcpy(t + value, t, value);
        memcpy(t + 2 * value, t, value);
    }
}

static enum status read_part(exr_context_t ctxt, struct exr_input *in, struct image *out)
{
    const struct image_source *s = in->source;
    exr_storage_t storage;
    exr_attr_box2i_t window;
    exr_compression_t compression;
    struct exr_reading r = {.ctxt = ctxt, .in = in};
    exr_result_t e = exr_get_storage(ctxt, 0, &storage);
    if (e == EXR_ERR_SUCCESS)
        e = exr_get_data_window(ctxt, 0, &window);
    if (e == EXR_ERR_SUCCESS)
        e = exr_get_channels(ctxt, 0, &r.list);
    if (e == EXR_ERR_SUCCESS)
        e = exr_get_compression(ctxt, 0, &compression);
    if (e != EXR_ERR_SUCCESS)
        return exr_fault(in, e, "its header cannot be read");
    if (storage != EXR_STORAGE_SCANLINE && storage != EXR_STORAGE_TILED)
        return image_fault(s, STATUS_UNSUPPORTED,
                           "it holds deep data, expected an image of scanlines or tiles");
    enum status status = choose_channels(s, r.list, &r.choice);
    if (status != STATUS_OK)
        return status;
    int64_t width = (int64_t)window.max.x - window.min.x + 1;
    int64_t height = (int64_t)window.max.y - window.min.y + 1;
    struct image image;
    status = image_allocate(s, width > 0 ? (uint64_t)width : 0, height > 0 ? (uint64_t)height : 0,
                            r.choice.channels, choose_format(s, r.list, &r.choice), &image);
    if (status != STATUS_OK)
        return status;
    if (compression == EXR_COMPRESSION_DWAA || compression == EXR_COMPRESSION_DWAB) {
        int32_t lines;
        e = lines_together(ctxt, storage == EXR_STORAGE_TILED, &lines);
        if (e != EXR_ERR_SUCCESS || lines <= 0)
            return exr_fault(in, e, "its header cannot be read");
        status = read_dwa(s, r.list, &r.choice, (uint32_t)lines, &image);
        if (status == STATUS_OK)
            *out = image;
        return status;
    }
    r.image = &image;
    e = read_chunks(&r, &window, storage == EXR_STORAGE_TILED);
    if (e != EXR_ERR_SUCCESS)
        return exr_fault(in, e, "its pixels cannot be read");
    if (r.choice.channels == 4 && r.choice.at[1] < 0)
        spread_gray(&image);
    *out = image;
    return STATUS_OK;
}

enum status exr_read(const struct image_source *s, struct image *out)
{
    struct exr_input in = {.source = s};
    exr_context_initializer_t init = EXR_DEFAULT_CONTEXT_INITIALIZER;
    init.user_data = &in;
    init.read_fn = input_read;
    init.size_fn = input_size;
    init.error_handler_fn = input_error;
    init.max_image_width = init.max_image_height = IMAGE_SIDE_MAX;
    init.max_tile_width = init.max_tile_height = IMAGE_SIDE_MAX;
    init.flags = EXR_CONTEXT_FLAG_STRICT_HEADER | EXR_CONTEXT_FLAG_DISABLE_CHUNK_RECONSTRUCTION;
    exr_context_t ctxt = NULL;
    exr_result_t e = exr_start_read(&ctxt, s->name, &init);
    enum status status = e == EXR_ERR_SUCCESS ? read_part(ctxt, &in, out)
                                              : exr_fault(&in, e, "its header cannot be read");
    exr_finish(&ctxt);
    return status;
}

/* ---- writing -------------------------------------------------------------------------------- */

/* A file in memory that is written at offsets. */
struct exr_output {
    unsigned char *data;
    size_t size, cap;
    char complaint[256];
};

static int64_t output_write(exr_const_context_t ctxt, void *userdata, const void *buffer,
                            uint64_t size, uint64_t offset, exr_stream_error_func_ptr_t error_cb)
{
    (void)ctxt;
    (void)error_cb;
    struct exr_output *o = userdata;
    uint64_t end = offset + size;
    if (end > o->cap) {
        size_t cap = o->cap ? o->cap : 1 << 16;
        while (cap < end)
            cap *= 2;
        unsigned char *p = realloc(o->data, cap);
        if (!p)
            return -1;
        memset(p + o->cap, 0, cap - o->cap);
        o->data = p;
        o->cap = cap;
    }
    memcpy(o->data + offset, buffer, size);
    if (end > o->size)
        o->size = end;
    return (int64_t)size;
}

static void output_error(exr_const_context_t ctxt, exr_result_t code, const char *msg)
{
    void *user = NULL;
    (void)code;
    if (ctxt && exr_get_user_data(ctxt, &user) == EXR_ERR_SUCCESS && user && msg)
        snprintf(((struct exr_output *)user)->complaint, 256, "%s", msg);
}

static exr_result_t write_header(exr_context_t ctxt, uint32_t width, uint32_t height,
                                 const struct image_channel *channels, size_t count,
                                 const char *const *attributes)
{
    int part;
    exr_result_t e = exr_add_part(ctxt, "isophote", EXR_STORAGE_SCANLINE, &part);
    if (e == EXR_ERR_SUCCESS)
        e = exr_initialize_required_attr_simple(ctxt, part, (int32_t)width, (int32_t)height,
                                                EXR_COMPRESSION_ZIP);
    for (size_t i = 0; e == EXR_ERR_SUCCESS && i < count; i++)
        e = exr_add_channel(ctxt, part, channels[i].name, EXR_PIXEL_FLOAT,
                            EXR_PERCEPTUALLY_LOGARITHMIC, 1, 1);
    for (size_t i = 0; e == EXR_ERR_SUCCESS && attributes && attributes[i]; i += 2)
        e = exr_attr_set_string(ctxt, part, attributes[i], attributes[i + 1]);
    return e == EXR_ERR_SUCCESS ? exr_write_header(ctxt) : e;
}

/* A chunk that is as long packed as unpacked is read as plain pixels, by every reader; OpenEXRCore
 * 3.1.5 writes the packed bytes of one that comes out at just that length. */
static exr_result_t compress_chunk(exr_encode_pipeline_t *pipe)
{
    exr_result_t (*const *zip)(exr_encode_pipeline_t *) = pipe->encoding_user_data;
    exr_result_t e = (*zip)(pipe);
    if (e == EXR_ERR_SUCCESS && pipe->compressed_bytes == pipe->packed_bytes)
        memcpy(pipe->compressed_buffer, pipe->packed_buffer, pipe->packed_bytes);
    return e;
}

static exr_result_t write_pixels(exr_context_t ctxt, uint32_t width, uint32_t height,
                                 const struct image_channel *channels, size_t count)
{
    exr_encode_pipeline_t pipe = {0};
    exr_result_t (*zip)(exr_encode_pipeline_t *) = NULL;
    int32_t lines;
    bool started = false;
    exr_result_t e = exr_get_scanlines_per_chunk(ctxt, 0, &lines);
    for (uint32_t y = 0; e == EXR_ERR_SUCCESS && y < height; y += (uint32_t)lines) {
        exr_chunk_info_t chunk;
        e = exr_write_scanline_chunk_info(ctxt, 0, (int)y, &chunk);
        if (e == EXR_ERR_SUCCESS)
            e = started ? exr_encoding_update(ctxt, 0, &chunk, &pipe)
                        : exr_encoding_initialize(ctxt, 0, &chunk, &pipe);
        if (e != EXR_ERR_SUCCESS)
            break;
        for (int16_t c = 0; c < pipe.channel_count; c++) { /* in the file's order, by name */
            exr_coding_channel_info_t *to = &pipe.channels[c];
            size_t i = 0;
            while (i < count && strcmp(channels[i].name, to->channel_name) != 0)
                i++;
            if (i == count)
                continue;
            to->user_data_type = EXR_PIXEL_FLOAT;
            to->user_bytes_per_element = sizeof(float);
            to->user_pixel_stride = (int32_t)(channels[i].stride * sizeof(float));
            to->user_line_stride = (int32_t)(channels[i].stride * sizeof(float) * width);
            to->encode_from_ptr =
                (const uint8_t *)(channels[i].values + (size_t)y * width * channels[i].stride);
        }
        if (!started) {
            e = exr_encoding_choose_default_routines(ctxt, 0, &pipe);
            zip = pipe.compress_fn;
            pipe.compress_fn = compress_chunk;
            pipe.encoding_user_data = &zip;
        }
        started = true;
        if (e == EXR_ERR_SUCCESS)
            e = exr_encoding_run(ctxt, 0, &pipe);
    }
    if (started)
        exr_encoding_destroy(ctxt, &pipe);
    return e;
}

enum status image_write_exr(const char *path, uint32_t width, uint32_t height,
                            const struct image_channel *channels, size_t count,
                            const char *const *attributes, struct error *err)
{
    if (width == 0 || height == 0 || width > IMAGE_SIDE_MAX || height > IMAGE_SIDE_MAX ||
        count == 0)
        return error_msg(err, STATUS_ARG,
                         "cannot write %s: %ux%u pixels with %zu channels, expected 1 to %d pixels "
                         "a side and at least one channel",
                         path, width, height, count, IMAGE_SIDE_MAX);
    struct exr_output out = {0};
    exr_context_initializer_t init = EXR_DEFAULT_CONTEXT_INITIALIZER;
    init.user_data = &out;
    init.write_fn = output_write;
    init.error_handler_fn = output_error;
    exr_context_t ctxt = NULL;
    exr_result_t e = exr_start_write(&ctxt, path, EXR_WRITE_FILE_DIRECTLY, &init);
    if (e == EXR_ERR_SUCCESS)
        e = write_header(ctxt, width, height, channels, count, attributes);
    if (e == EXR_ERR_SUCCESS)
        e = write_pixels(ctxt, width, height, channels, count);
    exr_result_t finish = exr_finish(&ctxt);
    if (e == EXR_ERR_SUCCESS)
        e = finish;
    enum status s =
        e == EXR_ERR_SUCCESS
            ? file_write(path, out.data, out.size, err)
            : error_msg(err, e == EXR_ERR_OUT_OF_MEMORY ? STATUS_MEMORY : STATUS_ARG,
                        "cannot encode %s: %s", path,
                        out.complaint[0] ? out.complaint : exr_get_error_code_as_string(e));
    free(out.data);
    return s;
}
