/* Deflate streams (RFC 1951) for pictures: several at a time in one thread, and one on several
 * threads. */
#ifndef ISOPHOTE_SCENES_INFLATE_H
#define ISOPHOTE_SCENES_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Unpacks zlib streams (RFC 1950), three at a time: a symbol of a stream is known only when the one
 * before it has been looked up, but those of other streams can be looked up meanwhile. */
enum { INFLATE_TOGETHER = 3, INFLATE_BEHIND = 16 /* bytes that can be read behind a stream */ };
struct inflate_job {
    const unsigned char *packed;
    size_t packed_size;
    unsigned char *out;
    size_t size; /* exactly so many bytes */
    bool ok;     /* result: all there, and their sum is right */
};
struct inflater; /* tables of INFLATE_TOGETHER streams */
struct inflater *inflater_new(void);
void inflater_free(struct inflater *f);
/* What is not ok may still be a stream that libdeflate unpacks: ask that then. */
void inflate_together(struct inflater *f, struct inflate_job *jobs, size_t count);

/* Unpacks one zlib stream on several threads, as `count` parts (some may turn out to be one): a
 * part begins where codes of a block seem to stand in the stream's middle, and ends where the next
 * has begun, or else nothing comes of it (Kerbiriou and Chikhi, "Parallel decompression of
 * gzip-compressed files and random access to DNA sequences", 2019; Knespel and Brunst, "Rapidgzip",
 * 2023). How many pieces there are, which together are j->size bytes with the right sum, in the
 * arena; 0: ask libdeflate. j's `out` and `ok` do not count. */
struct arena;
struct inflate_piece {
    const unsigned char *bytes;
    size_t size;
};
size_t inflate_in_parts(struct arena *a, const struct inflate_job *j, unsigned count,
                        unsigned threads, struct inflate_piece *pieces);

#endif
