/* What image_exr.c has unpacked elsewhere. */
#ifndef ISOPHOTE_SCENES_IMAGE_EXR_H
#define ISOPHOTE_SCENES_IMAGE_EXR_H

#include <stdbool.h>
#include <stddef.h>

#include <openexr.h>

#include "scenes.h"

/* One thread's tables and room for a chunk; NULL before the first. */
struct piz_room;
/* A chunk of PIZ compression, as OpenEXRCore has read it, into `size` bytes at `to`: line by line,
 * channel by channel. False, with anything there, for what it does not take: no memory, subsampled
 * channels, damage. The library then has to look at it. */
bool exr_undo_piz(const exr_decode_pipeline_t *pipe, struct piz_room **room, unsigned char *to,
                  size_t size);
void piz_room_free(struct piz_room *room);

/* One thread's way of its own for chunks of ZIP and ZIPS; NULL for pictures that do not go by it,
 * or if there is no memory. `at`: where the image's channels are in the list, -1 for none. */
struct exr_direct;
struct exr_direct *exr_direct_new(exr_context_t ctxt, const exr_attr_chlist_t *list,
                                  const int at[4], const struct image *im);
void exr_direct_free(struct exr_direct *d);
/* Reads chunks into the image, EXR_TOGETHER_MAX at most; sets `done` of those that it could unpack.
 * The library then has to look at the others. */
enum { EXR_TOGETHER_MAX = 64 };
struct exr_place {
    exr_chunk_info_t chunk;
    uint32_t x, y; /* in the image */
    bool done;
};
void exr_direct_read(struct exr_direct *d, struct exr_place *places, size_t count);

/* Each byte but the first was the difference from the one before it, plus 128. */
void exr_sum_differences(unsigned char *b, size_t size);
/* Bytes in turn. */
static inline void exr_interleave(const unsigned char *restrict even,
                                  const unsigned char *restrict odd, size_t n,
                                  unsigned char *restrict to)
{
    for (size_t i = 0; i < n; i++) {
        to[2 * i] = even[i];
        to[2 * i + 1] = odd[i];
    }
}

#endif
