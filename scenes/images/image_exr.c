/* SPDX-License-Identifier: Apache-2.0 */
/* OpenEXR through OpenEXRCore's C API, from memory or chunk by chunk from a file. */
#include "images.h"

#include <limits.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <openexr.h>

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

static int part_of(const struct exr_input *in) { return (int)in->source->part; }

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

/* How long "layer." is, where all channels' names begin with the same. */
static size_t layer_length(const exr_attr_chlist_t *list)
{
    const char *first = list->num_channels > 0 ? list->entries[0].name.str : "";
    const char *dot = strrchr(first, '.');
    size_t n = dot ? (size_t)(dot - first) + 1 : 0;
    for (int i = 1; i < list->num_channels && n > 0; i++) {
        const char *name = list->entries[i].name.str, *end = strrchr(name, '.');
        if (!end || (size_t)(end - name) + 1 != n || strncmp(name, first, n) != 0)
            n = 0;
    }
    return n;
}

static enum status choose_channels(const struct image_source *s, const exr_attr_chlist_t *list,
                                   struct exr_choice *out)
{
    static const char *const names[] = {"R", "G", "B", "A", "Y", "RY", "BY"};
    int at[7] = {-1, -1, -1, -1, -1, -1, -1};
    const size_t layer = layer_length(list);
    for (int i = 0; i < list->num_channels; i++)
        for (int k = 0; k < 7; k++)
            if (strcmp(list->entries[i].name.str + layer, names[k]) == 0) {
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

/* What one thread reads with. */
struct exr_reading {
    exr_context_t ctxt;
    struct exr_input *in;
    const exr_attr_chlist_t *list;
    struct exr_choice choice;
    struct image *image;
    uint32_t top, rows; /* of the image: those that its texels have */
    exr_decode_pipeline_t pipe;
    bool started;
    exr_result_t (*usual_decompress)(exr_decode_pipeline_t *);
    uint32_t *unwanted; /* where channels that nobody asked for go; room for `unwanted_count` */
    size_t unwanted_count;
};

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
    exr_result_t e = exr_get_compression(r->ctxt, part_of(r->in), &compression);
    if (e == EXR_ERR_SUCCESS)
        e = exr_decoding_choose_default_routines(r->ctxt, part_of(r->in), &r->pipe);
    if (e != EXR_ERR_SUCCESS)
        return e;
    if (compression != EXR_COMPRESSION_B44 && compression != EXR_COMPRESSION_B44A)
        return e;
    r->usual_decompress = r->pipe.decompress_fn;
    r->pipe.decoding_user_data = r;
    if (r->usual_decompress)
        r->pipe.decompress_fn = decompress_b44;
    return e;
}

/* One chunk of the file into its place in the image. */
static exr_result_t read_chunk(struct exr_reading *r, const exr_chunk_info_t *chunk, uint32_t x,
                               uint32_t y)
{
    const struct image *im = r->image;
    exr_result_t e = r->started ? exr_decoding_update(r->ctxt, part_of(r->in), chunk, &r->pipe)
                                : exr_decoding_initialize(r->ctxt, part_of(r->in), chunk, &r->pipe);
    if (e != EXR_ERR_SUCCESS)
        return e;
    /* The header was checked; a chunk that claims more than its place would write past the image.
     */
    if (chunk->width <= 0 || chunk->height <= 0 || (uint32_t)chunk->width > im->width - x ||
        (uint32_t)chunk->height > r->top + r->rows - y)
        return EXR_ERR_BAD_CHUNK_LEADER;
    size_t value = texel_size(im->format), pixel = im->channels * value;
    unsigned char *base =
        (unsigned char *)im->texels + ((size_t)(y - r->top) * im->width + x) * pixel;
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
    return exr_decoding_run(r->ctxt, part_of(r->in), &r->pipe);
}

/* The chunks of an image, in rows of as many as stand side by side. */
struct exr_chunks {
    const struct exr_reading *prototype; /* what every thread's starts as */
    struct exr_reading *readings;        /* by thread */
    int32_t top;
    int level;
    bool tiled;
    uint32_t width, height; /* of a chunk */
    uint32_t across;
    size_t count;
    atomic_int failed; /* exr_result_t of one that did */
};

static exr_result_t find_chunks(exr_context_t ctxt, const exr_attr_box2i_t *window, bool tiled,
                                const struct image *im, struct exr_chunks *out)
{
    int32_t w = (int32_t)im->width, h = 0;
    out->level = (int)out->prototype->in->source->level;
    exr_result_t e = tiled ? exr_get_tile_sizes(ctxt, part_of(out->prototype->in), out->level,
                                                out->level, &w, &h)
                           : exr_get_scanlines_per_chunk(ctxt, part_of(out->prototype->in), &h);
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

/* The chunk and its place in the image. */
static exr_result_t find_nth(const struct exr_chunks *c, size_t i, exr_chunk_info_t *chunk,
                             uint32_t *x, uint32_t *y)
{
    exr_context_t ctxt = c->prototype->ctxt;
    const int part = part_of(c->prototype->in);
    uint32_t column = (uint32_t)(i % c->across), row = (uint32_t)(i / c->across);
    *x = column * c->width;
    *y = row * c->height;
    return c->tiled ? exr_read_tile_chunk_info(ctxt, part, (int)column, (int)row, c->level,
                                               c->level, chunk)
                    : exr_read_scanline_chunk_info(ctxt, part, c->top + (int)*y, chunk);
}

static exr_result_t read_nth(const struct exr_chunks *c, struct exr_reading *r, size_t i)
{
    exr_chunk_info_t chunk;
    uint32_t x, y;
    exr_result_t e = find_nth(c, i, &chunk, &x, &y);
    return e == EXR_ERR_SUCCESS ? read_chunk(r, &chunk, x, y) : e;
}

static void end_reading(struct exr_reading *r)
{
    if (r->started)
        exr_decoding_destroy(r->ctxt, &r->pipe);
    free(r->unwanted);
}

static void read_in_thread(void *ctx, size_t i, unsigned thread)
{
    struct exr_chunks *c = ctx;
    if (atomic_load(&c->failed) != EXR_ERR_SUCCESS)
        return;
    exr_result_t e = read_nth(c, &c->readings[thread], i);
    if (e != EXR_ERR_SUCCESS)
        atomic_store(&c->failed, (int)e);
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
    for (unsigned t = 0; t < threads; t++)
        c->readings[t] = *c->prototype;
    c->prototype->in->quiet = true;
    parallel_for(c->count, threads, read_in_thread, c);
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
    for (size_t i = 0; i < c.count && e == EXR_ERR_SUCCESS; i++)
        e = read_nth(&c, &alone, i);
    end_reading(&alone);
    return e;
}

/* Whether all chunks are there, and hold something: the C++ library shows what was in its memory of
 * one that does not. */
static exr_result_t check_chunks(struct exr_reading *r, const exr_attr_box2i_t *window, bool tiled)
{
    struct exr_chunks c = {.prototype = r};
    exr_chunk_info_t chunk;
    uint32_t x, y;
    exr_result_t e = find_chunks(r->ctxt, window, tiled, r->image, &c);
    for (size_t i = 0; i < c.count && e == EXR_ERR_SUCCESS; i++)
        e = find_nth(&c, i, &chunk, &x, &y);
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

/* What the header says of the image that is to be read. */
struct exr_shape {
    exr_attr_box2i_t window;
    exr_compression_t compression;
    bool tiled;
    uint64_t width, height;
    enum texel_format format;
};

/* Fills in the list of channels and the choice among them, too. */
static enum status read_shape(struct exr_reading *r, struct exr_shape *out)
{
    struct exr_input *in = r->in;
    const struct image_source *s = in->source;
    exr_storage_t storage;
    exr_result_t e = exr_get_storage(r->ctxt, part_of(in), &storage);
    if (e == EXR_ERR_SUCCESS)
        e = exr_get_data_window(r->ctxt, part_of(in), &out->window);
    if (e == EXR_ERR_SUCCESS)
        e = exr_get_channels(r->ctxt, part_of(in), &r->list);
    if (e == EXR_ERR_SUCCESS)
        e = exr_get_compression(r->ctxt, part_of(in), &out->compression);
    if (e != EXR_ERR_SUCCESS)
        return exr_fault(in, e, "its header cannot be read");
    if (storage != EXR_STORAGE_SCANLINE && storage != EXR_STORAGE_TILED)
        return image_fault(s, STATUS_UNSUPPORTED,
                           "it holds deep data, expected an image of scanlines or tiles");
    TRY(choose_channels(s, r->list, &r->choice));
    int64_t width = (int64_t)out->window.max.x - out->window.min.x + 1;
    int64_t height = (int64_t)out->window.max.y - out->window.min.y + 1;
    if (s->level > 0) {
        int32_t w = 0, h = 0;
        e = exr_get_level_sizes(r->ctxt, part_of(in), (int)s->level, (int)s->level, &w, &h);
        if (e != EXR_ERR_SUCCESS)
            return exr_fault(in, e, "its header cannot be read");
        width = w;
        height = h;
    }
    out->tiled = storage == EXR_STORAGE_TILED;
    out->width = width > 0 ? (uint64_t)width : 0;
    out->height = height > 0 ? (uint64_t)height : 0;
    out->format = choose_format(s, r->list, &r->choice);
    return STATUS_OK;
}

static bool is_dwa(const struct exr_shape *shape)
{
    return shape->compression == EXR_COMPRESSION_DWAA || shape->compression == EXR_COMPRESSION_DWAB;
}

static bool is_gray_with_alpha(const struct exr_reading *r)
{
    return r->choice.channels == 4 && r->choice.at[1] < 0;
}

static enum status read_part(exr_context_t ctxt, struct exr_input *in, struct image *out)
{
    const struct image_source *s = in->source;
    struct exr_reading r = {.ctxt = ctxt, .in = in};
    struct exr_shape shape = {0};
    struct image image;
    TRY(read_shape(&r, &shape));
    TRY(image_allocate(s, shape.width, shape.height, r.choice.channels, shape.format, &image));
    r.image = &image;
    r.rows = image.height;
    bool imf = is_dwa(&shape) || shape.compression == EXR_COMPRESSION_PIZ;
    exr_result_t e = imf ? check_chunks(&r, &shape.window, shape.tiled)
                         : read_chunks(&r, &shape.window, shape.tiled);
    if (e != EXR_ERR_SUCCESS)
        return exr_fault(in, e, "its pixels cannot be read");
    if (imf) {
        const char *names[4] = {NULL};
        for (uint32_t k = 0; k < r.choice.channels; k++)
            if (r.choice.at[k] >= 0)
                names[k] = r.list->entries[r.choice.at[k]].name.str;
        TRY(exr_read_by_imf(s, names, &image));
    }
    if (is_gray_with_alpha(&r))
        spread_gray(&image);
    *out = image;
    return STATUS_OK;
}

static exr_result_t start_reading(struct exr_input *in, exr_context_t *ctxt)
{
    exr_context_initializer_t init = EXR_DEFAULT_CONTEXT_INITIALIZER;
    init.user_data = in;
    init.read_fn = input_read;
    init.size_fn = input_size;
    init.error_handler_fn = input_error;
    init.max_image_width = init.max_image_height = IMAGE_SIDE_MAX;
    init.max_tile_width = init.max_tile_height = IMAGE_SIDE_MAX;
    init.flags = EXR_CONTEXT_FLAG_STRICT_HEADER | EXR_CONTEXT_FLAG_DISABLE_CHUNK_RECONSTRUCTION;
    return exr_start_read(ctxt, in->source->name, &init);
}

enum status exr_read(const struct image_source *s, struct image *out)
{
    struct exr_input in = {.source = s};
    exr_context_t ctxt = NULL;
    exr_result_t e = start_reading(&in, &ctxt);
    enum status status = e == EXR_ERR_SUCCESS ? read_part(ctxt, &in, out)
                                              : exr_fault(&in, e, "its header cannot be read");
    exr_finish(&ctxt);
    return status;
}

/* Levels of both sides at once (ripmaps) are none of a pyramid. */
static exr_result_t find_level(exr_context_t ctxt, const struct exr_input *in, int32_t *width,
                               int32_t *height)
{
    const int level = (int)in->source->level;
    exr_storage_t storage;
    exr_tile_level_mode_t mode;
    exr_tile_round_mode_t round;
    uint32_t tile_width, tile_height;
    int32_t across, down;
    exr_result_t e = exr_get_storage(ctxt, part_of(in), &storage);
    if (e != EXR_ERR_SUCCESS || storage != EXR_STORAGE_TILED)
        return e;
    e = exr_get_tile_descriptor(ctxt, part_of(in), &tile_width, &tile_height, &mode, &round);
    if (e != EXR_ERR_SUCCESS || mode != EXR_TILE_MIPMAP_LEVELS)
        return e;
    e = exr_get_tile_levels(ctxt, part_of(in), &across, &down);
    if (e != EXR_ERR_SUCCESS || level >= across || level >= down)
        return e;
    return exr_get_level_sizes(ctxt, part_of(in), level, level, width, height);
}

enum status exr_find_level(const struct image_source *s, uint32_t *width, uint32_t *height)
{
    struct exr_input in = {.source = s};
    exr_context_t ctxt = NULL;
    int32_t w = 0, h = 0;
    exr_result_t e = start_reading(&in, &ctxt);
    if (e == EXR_ERR_SUCCESS)
        e = find_level(ctxt, &in, &w, &h);
    enum status status =
        e == EXR_ERR_SUCCESS ? STATUS_OK : exr_fault(&in, e, "its header cannot be read");
    exr_finish(&ctxt);
    *width = w > 0 ? (uint32_t)w : 0;
    *height = h > 0 ? (uint32_t)h : 0;
    return status;
}

enum status exr_list_parts(const struct image_source *s, struct image_parts *out)
{
    struct exr_input in = {.source = s};
    exr_context_t ctxt = NULL;
    int count = 0;
    exr_result_t e = start_reading(&in, &ctxt);
    if (e == EXR_ERR_SUCCESS)
        e = exr_get_count(ctxt, &count);
    enum status status =
        e == EXR_ERR_SUCCESS ? STATUS_OK : exr_fault(&in, e, "its header cannot be read");
    for (int i = 0; i < count && status == STATUS_OK; i++) {
        const char *name = NULL; /* single parts may have none */
        if (exr_get_name(ctxt, i, &name) != EXR_ERR_SUCCESS)
            name = NULL;
        status = image_add_part(s, out, (uint32_t)i, name);
    }
    exr_finish(&ctxt);
    return status;
}

/* ---- a row of chunks at a time -------------------------------------------------------------- */

struct exr_rows {
    struct exr_input in;
    exr_context_t ctxt;
    struct exr_reading reading;
    struct exr_chunks chunks;
    struct image image;
};

static enum status open_rows(struct exr_rows *t, struct image_rows_shape *out)
{
    static const uint64_t most = (uint64_t)1 << 26; /* bytes of a row of chunks */
    const struct image_source *s = t->in.source;
    struct exr_reading *r = &t->reading;
    struct exr_shape shape = {0};
    exr_result_t e = start_reading(&t->in, &t->ctxt);
    if (e != EXR_ERR_SUCCESS)
        return exr_fault(&t->in, e, "its header cannot be read");
    *r = (struct exr_reading){.ctxt = t->ctxt, .in = &t->in, .image = &t->image};
    TRY(read_shape(r, &shape));
    TRY(image_check_size(s, shape.width, shape.height));
    if (is_dwa(&shape))
        return image_fault(s, STATUS_UNSUPPORTED, "it is packed by DWA");
    t->image = (struct image){.width = (uint32_t)shape.width,
                              .height = (uint32_t)shape.height,
                              .channels = r->choice.channels,
                              .format = shape.format};
    t->chunks.prototype = r;
    e = find_chunks(t->ctxt, &shape.window, shape.tiled, &t->image, &t->chunks);
    if (e != EXR_ERR_SUCCESS)
        return exr_fault(&t->in, e, "its header cannot be read");
    if ((uint64_t)t->chunks.height * t->image.width * 16 > most)
        return image_fault(s, STATUS_UNSUPPORTED, "its tiles are large");
    *out = (struct image_rows_shape){
        .image = t->image, .block_height = t->chunks.height, .across = t->chunks.across};
    return STATUS_OK;
}

enum status exr_open_rows(const struct image_source *s, void **reader, struct image_rows_shape *out)
{
    struct exr_rows *t = ARENA_NEW(s->arena, struct exr_rows);
    if (!t)
        return image_fault(s, STATUS_MEMORY, "out of memory");
    t->in.source = s;
    enum status status = open_rows(t, out);
    if (status == STATUS_OK)
        *reader = t;
    else
        exr_close_rows(t);
    return status;
}

enum status exr_read_row(void *reader, uint32_t row, void *texels, uint64_t *file_bytes)
{
    struct exr_rows *t = reader;
    struct exr_reading *r = &t->reading;
    const uint32_t left = t->image.height - row * t->chunks.height;
    r->top = row * t->chunks.height;
    r->rows = left < t->chunks.height ? left : t->chunks.height;
    t->image.texels = texels;
    for (uint32_t i = 0; i < t->chunks.across; i++) {
        exr_chunk_info_t chunk = {0};
        uint32_t x = 0, y = r->top;
        exr_result_t e = find_nth(&t->chunks, (size_t)row * t->chunks.across + i, &chunk, &x, &y);
        if (e == EXR_ERR_SUCCESS)
            e = read_chunk(r, &chunk, x, y);
        if (e != EXR_ERR_SUCCESS) {
            char what[80];
            (void)snprintf(what, sizeof what, "its pixels at column %u, row %u cannot be read", x,
                           y);
            return exr_fault(&t->in, e, what);
        }
        *file_bytes += chunk.packed_size;
    }
    if (is_gray_with_alpha(r)) {
        struct image band = t->image;
        band.height = r->rows;
        spread_gray(&band);
    }
    return STATUS_OK;
}

void exr_close_rows(void *reader)
{
    struct exr_rows *t = reader;
    end_reading(&t->reading);
    if (t->ctxt)
        exr_finish(&t->ctxt);
}
