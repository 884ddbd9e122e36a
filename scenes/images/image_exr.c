/* SPDX-License-Identifier: Apache-2.0 */
/* OpenEXR through OpenEXRCore's C API, from memory or chunk by chunk from a file, and to
 * memory. */
#include "images.h"

#include <limits.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

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

static enum status read_part(exr_context_t ctxt, struct exr_input *in, struct image *out)
{
    const struct image_source *s = in->source;
    exr_storage_t storage;
    exr_attr_box2i_t window;
    exr_compression_t compression;
    struct exr_reading r = {.ctxt = ctxt, .in = in};
    exr_result_t e = exr_get_storage(ctxt, part_of(in), &storage);
    if (e == EXR_ERR_SUCCESS)
        e = exr_get_data_window(ctxt, part_of(in), &window);
    if (e == EXR_ERR_SUCCESS)
        e = exr_get_channels(ctxt, part_of(in), &r.list);
    if (e == EXR_ERR_SUCCESS)
        e = exr_get_compression(ctxt, part_of(in), &compression);
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
    if (s->level > 0) {
        int32_t w = 0, h = 0;
        e = exr_get_level_sizes(ctxt, part_of(in), (int)s->level, (int)s->level, &w, &h);
        if (e != EXR_ERR_SUCCESS)
            return exr_fault(in, e, "its header cannot be read");
        width = w;
        height = h;
    }
    struct image image;
    status = image_allocate(s, width > 0 ? (uint64_t)width : 0, height > 0 ? (uint64_t)height : 0,
                            r.choice.channels, choose_format(s, r.list, &r.choice), &image);
    if (status != STATUS_OK)
        return status;
    r.image = &image;
    bool tiled = storage == EXR_STORAGE_TILED;
    bool imf = compression == EXR_COMPRESSION_DWAA || compression == EXR_COMPRESSION_DWAB ||
               compression == EXR_COMPRESSION_PIZ;
    e = imf ? check_chunks(&r, &window, tiled) : read_chunks(&r, &window, tiled);
    if (e != EXR_ERR_SUCCESS)
        return exr_fault(in, e, "its pixels cannot be read");
    if (imf) {
        const char *names[4] = {NULL};
        for (uint32_t k = 0; k < r.choice.channels; k++)
            if (r.choice.at[k] >= 0)
                names[k] = r.list->entries[r.choice.at[k]].name.str;
        status = exr_read_by_imf(s, names, &image);
    }
    if (status != STATUS_OK)
        return status;
    if (r.choice.channels == 4 && r.choice.at[1] < 0)
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
