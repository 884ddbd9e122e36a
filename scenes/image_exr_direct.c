/* Chunks of ZIP and ZIPS compression whose channels are all of the picture's type, some at a time
 * in each thread, from their bytes in the file straight into the picture. */
#include "image_exr.h"
#include "image_format.h"
#include "inflate.h"

#include <stdlib.h>
#include <string.h>

#include <libdeflate.h>

struct exr_direct {
    exr_context_t ctxt;
    const struct image *image;
    size_t channels; /* of the file */
    size_t from[4];  /* which of them the image's are; any for those that others become later */
    size_t value;    /* bytes of a sample */
    struct inflater *inflater;
    struct libdeflate_decompressor *alone;
    unsigned char *room; /* for the chunks of a call */
    size_t room_size;
    unsigned char *line; /* one of the file: channel by channel */
};

struct exr_direct *exr_direct_new(exr_context_t ctxt, const exr_attr_chlist_t *list,
                                  const int at[4], const struct image *im)
{
    exr_compression_t compression;
    exr_pixel_type_t type = im->format == TEXEL_F16 ? EXR_PIXEL_HALF : EXR_PIXEL_FLOAT;
    bool simple = exr_get_compression(ctxt, 0, &compression) == EXR_ERR_SUCCESS &&
                  (compression == EXR_COMPRESSION_ZIP || compression == EXR_COMPRESSION_ZIPS) &&
                  list->num_channels > 0;
    for (int i = 0; simple && i < list->num_channels; i++) {
        const exr_attr_chlist_entry_t *e = &list->entries[i];
        simple = e->pixel_type == type && e->x_sampling == 1 && e->y_sampling == 1;
    }
    struct exr_direct *d = simple ? calloc(1, sizeof *d) : NULL;
    if (!d)
        return NULL;
    d->ctxt = ctxt;
    d->image = im;
    d->channels = (size_t)list->num_channels;
    d->value = texel_size(im->format);
    for (uint32_t k = 0; k < im->channels; k++)
        d->from[k] = at[k] < 0 ? 0 : (size_t)at[k];
    d->inflater = inflater_new();
    d->alone = libdeflate_alloc_decompressor();
    d->line = malloc(im->width * d->channels * d->value);
    if (d->inflater && d->alone && d->line)
        return d;
    exr_direct_free(d);
    return NULL;
}

void exr_direct_free(struct exr_direct *d)
{
    if (!d)
        return;
    inflater_free(d->inflater);
    libdeflate_free_decompressor(d->alone);
    free(d->room);
    free(d->line);
    free(d);
}

static bool make_room(struct exr_direct *d, size_t size)
{
    if (size > d->room_size) {
        free(d->room);
        d->room = malloc(size);
        d->room_size = d->room ? size : 0;
    }
    return d->room != NULL;
}

/* Bytes of the chunk when it is unpacked; 0 if it is not one of ours, or does not fit its place. */
static size_t chunk_size(const struct exr_direct *d, const struct exr_place *p)
{
    const struct image *im = d->image;
    const exr_chunk_info_t *c = &p->chunk;
    if (c->width <= 0 || c->height <= 0 || (uint32_t)c->width > im->width - p->x ||
        (uint32_t)c->height > im->height - p->y)
        return 0;
    size_t size = (size_t)c->width * (size_t)c->height * d->channels * d->value;
    return size == c->unpacked_size && c->packed_size < size ? size : 0;
}

/* Reads packed chunks to the start of the room; their jobs end behind them. */
static bool read_packed(struct exr_direct *d, const struct exr_place *places, size_t count,
                        struct inflate_job *jobs)
{
    size_t total = 0, at = 0;
    for (size_t i = 0; i < count; i++) {
        jobs[i].size = chunk_size(d, &places[i]);
        jobs[i].ok = false;
        total += 2 * jobs[i].size + INFLATE_BEHIND; /* packed ones are smaller */
    }
    if (!make_room(d, total))
        return false;
    for (size_t i = 0; i < count; i++) {
        struct inflate_job *j = &jobs[i];
        j->packed = d->room + at;
        j->packed_size = places[i].chunk.packed_size;
        if (j->size == 0 ||
            exr_read_chunk(d->ctxt, 0, &places[i].chunk, d->room + at) != EXR_ERR_SUCCESS) {
            j->size = 0;
            continue;
        }
        memset(d->room + at + j->packed_size, 0, INFLATE_BEHIND);
        at += j->packed_size + INFLATE_BEHIND;
        j->out = d->room + at;
        at += j->size;
    }
    return true;
}

/* A line whose channels stand one after the other, to pixels; `value` and `channels` are constants
 * where this is inlined. */
static inline __attribute__((always_inline)) void put_values(const struct exr_direct *d,
                                                             size_t width, unsigned char *to,
                                                             size_t value, size_t channels)
{
    const unsigned char *from[4];
    for (size_t k = 0; k < channels; k++)
        from[k] = d->line + d->from[k] * width * value;
    for (size_t i = 0; i < width; i++, to += channels * value)
        for (size_t k = 0; k < channels; k++)
            memcpy(to + k * value, from[k] + i * value, value);
}

static void put_line(const struct exr_direct *d, size_t width, unsigned char *to)
{
    switch (d->value * 8 + d->image->channels) {
#define CASE(value, channels)                                                                      \
    case (value)*8 + (channels):                                                                   \
        put_values(d, width, to, value, channels);                                                 \
        break
        CASE(2, 1);
        CASE(2, 3);
        CASE(2, 4);
        CASE(4, 1);
        CASE(4, 3);
        CASE(4, 4);
#undef CASE
    default:
        break;
    }
}

static void put_chunk(const struct exr_direct *d, const struct exr_place *p, unsigned char *from,
                      size_t size)
{
    const struct image *im = d->image;
    size_t width = (size_t)p->chunk.width, half = width * d->channels * d->value / 2;
    size_t pixel = im->channels * d->value;
    exr_sum_differences(from, size);
    const unsigned char *even = from, *odd = from + size / 2;
    for (size_t y = 0; y < (size_t)p->chunk.height; y++, even += half, odd += half) {
        exr_interleave(even, odd, half, d->line);
        put_line(d, width, (unsigned char *)im->texels + ((p->y + y) * im->width + p->x) * pixel);
    }
}

void exr_direct_read(struct exr_direct *d, struct exr_place *places, size_t count)
{
    struct inflate_job jobs[EXR_TOGETHER_MAX], dense[EXR_TOGETHER_MAX];
    size_t n = 0, which[EXR_TOGETHER_MAX];
    if (!read_packed(d, places, count, jobs))
        return;
    for (size_t i = 0; i < count; i++) /* libdeflate is better at long matches */
        if (jobs[i].size && jobs[i].packed_size > jobs[i].size / 4 * 3) {
            which[n] = i;
            dense[n++] = jobs[i];
        }
    inflate_together(d->inflater, dense, n);
    for (size_t i = 0; i < n; i++)
        jobs[which[i]].ok = dense[i].ok;
    for (size_t i = 0; i < count; i++) {
        struct inflate_job *j = &jobs[i];
        places[i].done =
            j->size &&
            (j->ok || libdeflate_zlib_decompress(d->alone, j->packed, j->packed_size, j->out,
                                                 j->size, NULL) == LIBDEFLATE_SUCCESS);
        if (places[i].done)
            put_chunk(d, &places[i], j->out, j->size);
    }
}
