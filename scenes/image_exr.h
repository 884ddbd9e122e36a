/* What image_exr.c has unpacked elsewhere. */
#ifndef ISOPHOTE_SCENES_IMAGE_EXR_H
#define ISOPHOTE_SCENES_IMAGE_EXR_H

#include <stdbool.h>
#include <stddef.h>

#include <openexr.h>

/* One thread's tables and room for a chunk; NULL before the first. */
struct piz_room;
/* A chunk of PIZ compression, as OpenEXRCore has read it, into `size` bytes at `to`: line by line,
 * channel by channel. False, with anything there, for what it does not take: no memory, subsampled
 * channels, damage. The library then has to look at it. */
bool exr_undo_piz(const exr_decode_pipeline_t *pipe, struct piz_room **room, unsigned char *to,
                  size_t size);
void piz_room_free(struct piz_room *room);

#endif
