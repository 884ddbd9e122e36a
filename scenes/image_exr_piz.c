/* PIZ, the compression of OpenEXR's that most renderers' textures have: of a chunk's samples, as
 * words of 16 bits, those that occur are numbered; each channel goes through an integer Haar
 * transform; a Huffman code packs what comes of it. OpenEXRCore 3.1.5 spends three quarters of its
 * time on looking codes up in a table that fits no first-level cache; this one's does.
 * "OpenEXR File Layout" and "Technical Introduction to OpenEXR" (names of the parts);
 * ImfPizCompressor, ImfHuf and ImfWav of the library define the bits. Formulae are as there, the
 * program is not. */
#include "image_exr.h"
#include "image_format.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    VALUES = 1 << 16,
    SYMBOLS = VALUES + 1, /* and one that repeats the word before it */
    CODE_BITS_MAX = 56,   /* what one filling of the window surely has; the format's 57 and 58 take
                             more samples than a chunk can have */
    TABLE_BITS = 12,
    USUAL_BITS = 20, /* the longest that the table answers for: noise of floats has some 17 */
    WORDS_OF_A_FILLING = 4, /* as many as codes of TABLE_BITS need, or long and short in turn */
    BITMAP = VALUES / 8,
};

struct piz_room {
    uint16_t value[VALUES];          /* by number */
    uint8_t bits[SYMBOLS];           /* of each symbol's code; 0: it has none */
    uint16_t by_code[SYMBOLS];       /* symbols by the length of their codes, then by their codes */
    uint8_t length[1 << TABLE_BITS]; /* of the codes that begin with these bits; 0: see find */
    uint32_t base[USUAL_BITS + 1];   /* by length: to a code, for its place in by_code; wraps */
    uint64_t first[CODE_BITS_MAX + 1];                           /* code of each length */
    uint32_t count[CODE_BITS_MAX + 1], start[CODE_BITS_MAX + 1]; /* how many; where in by_code */
    uint32_t repeat, repeat_at; /* the symbol that repeats; where in by_code */
    uint16_t *words;            /* [channel][line][sample]: heap */
    size_t word_count;
};

void piz_room_free(struct piz_room *room)
{
    if (room)
        free(room->words);
    free(room);
}

static bool make_room(struct piz_room **room, size_t words)
{
    if (!*room && !(*room = calloc(1, sizeof **room)))
        return false;
    if (words > (*room)->word_count) {
        uint16_t *more = realloc((*room)->words, words * sizeof *more);
        if (!more)
            return false;
        (*room)->words = more;
        (*room)->word_count = words;
    }
    return true;
}

/* ---- bits, the highest first ---------------------------------------------------------------- */

struct bits {
    const unsigned char *data;
    size_t at, size; /* bytes; at may go past size */
    uint64_t window; /* the next bits from the top; zeros behind the end */
    int have;
};

/* At least CODE_BITS_MAX bits. Those behind the end count: bits_left is negative then. */
static inline void fill(struct bits *b)
{
    uint64_t next = 0;
    if (b->at + 8 <= b->size)
        memcpy(&next, b->data + b->at, 8);
    else if (b->at < b->size)
        memcpy(&next, b->data + b->at, b->size - b->at);
    next = __builtin_bswap64(next);
    b->window |= next >> b->have;
    b->at += (size_t)(63 - b->have) >> 3;
    b->have |= CODE_BITS_MAX;
}

static inline uint32_t take(struct bits *b, int n) /* 1 to 32, of bits that are there */
{
    uint32_t v = (uint32_t)(b->window >> (64 - n));
    b->window <<= n;
    b->have -= n;
    return v;
}

static int64_t bits_left(const struct bits *b)
{
    return ((int64_t)b->size - (int64_t)b->at) * 8 + b->have;
}

/* ---- Huffman code --------------------------------------------------------------------------- */

/* Lengths of the codes of symbols [first, last], six bits each; from 59 on runs of symbols that
 * have none: 2 to 5 of them, and 6 and more by 8 bits. */
static bool read_lengths(struct piz_room *r, struct bits *b, uint32_t first, uint32_t last)
{
    enum { SHORT_RUN = 59, LONG_RUN = 63, LONGEST_SHORT = 5 };
    memset(r->bits, 0, sizeof r->bits);
    for (uint32_t s = first; s <= last;) {
        fill(b);
        uint32_t v = take(b, 6);
        if (v < SHORT_RUN)
            r->bits[s++] = (uint8_t)v;
        else if (v < LONG_RUN)
            s += v - SHORT_RUN + 2;
        else
            s += take(b, 8) + LONGEST_SHORT + 1;
        if (s > last + 1 || bits_left(b) < 0)
            return false;
    }
    return true;
}

/* A length for every prefix whose codes all have it; none for what begins the code that repeats. */
static void fill_table(struct piz_room *r)
{
    memset(r->length, 0, sizeof r->length);
    for (int n = 1; n <= USUAL_BITS; n++) {
        r->base[n] = r->start[n] - (uint32_t)r->first[n];
        uint64_t from = r->first[n], to = from + r->count[n]; /* in steps of the table: */
        if (n <= TABLE_BITS) {
            from <<= TABLE_BITS - n;
            to <<= TABLE_BITS - n;
        } else {
            int more = n - TABLE_BITS;
            from = (from + (1U << more) - 1) >> more;
            to >>= more;
        }
        if (r->count[n] != 0 && from < to)
            memset(r->length + from, n, to - from);
    }
    int n = r->bits[r->repeat];
    uint64_t code = r->first[n] + (r->repeat_at - r->start[n]);
    if (n > TABLE_BITS)
        r->length[code >> (n - TABLE_BITS)] = 0;
    else if (n != 0)
        memset(r->length + (code << (TABLE_BITS - n)), 0, (size_t)1 << (TABLE_BITS - n));
}

/* Codes are canonical: the longest begin with 0, and those of a length follow each other in the
 * order of their symbols. False unless they fill the tree. */
static bool assign_codes(struct piz_room *r)
{
    memset(r->count, 0, sizeof r->count);
    for (uint32_t s = 0; s < SYMBOLS; s++) {
        if (r->bits[s] > CODE_BITS_MAX)
            return false;
        r->count[r->bits[s]]++;
    }
    uint64_t code = 0;
    for (int n = CODE_BITS_MAX; n > 0; n--) {
        r->first[n] = code;
        code += r->count[n];
        if (code & 1) /* a code of n bits without its sibling */
            return false;
        code /= 2;
    }
    if (code != 1)
        return false;
    uint32_t next[CODE_BITS_MAX + 1], start = 0;
    for (int n = 1; n <= CODE_BITS_MAX; n++) {
        next[n] = r->start[n] = start;
        start += r->count[n];
    }
    for (uint32_t s = 0; s < SYMBOLS; s++)
        if (r->bits[s] != 0) {
            uint32_t at = next[r->bits[s]]++;
            r->by_code[at] = (uint16_t)s;
            if (s == r->repeat)
                r->repeat_at = at;
        }
    fill_table(r);
    return true;
}

/* Where in by_code the symbol is whose code the window begins with: shorter codes are larger
 * numbers. */
static uint32_t find(const struct piz_room *r, struct bits *b)
{
    bool longer = b->window >> (64 - TABLE_BITS) < r->first[TABLE_BITS];
    int n = longer ? TABLE_BITS + 1 : 1;
    while (r->count[n] == 0 || b->window >> (64 - n) < r->first[n])
        n++;
    uint64_t code = b->window >> (64 - n);
    take(b, n < 32 ? n : 32);
    if (n > 32)
        take(b, n - 32);
    return r->start[n] + (uint32_t)(code - r->first[n]);
}

/* Words [at, count) from one symbol; how many, 0 if they are too many or there is none before. */
static size_t put_symbol(const struct piz_room *r, struct bits *b, uint16_t *words, size_t at,
                         size_t count)
{
    uint32_t which = find(r, b);
    if (r->bits[r->repeat] == 0 || which != r->repeat_at) {
        words[at] = r->by_code[which];
        return 1;
    }
    fill(b);
    size_t n = take(b, 8);
    if (at == 0 || n > count - at)
        return 0;
    for (size_t i = 0; i < n; i++)
        words[at + i] = words[at - 1];
    return n;
}

/* `count` words from exactly the bits of *b. */
static bool decode_words(const struct piz_room *r, struct bits *b, int64_t spare, uint16_t *words,
                         size_t count)
{
    struct bits in = *b;
    size_t at = 0;
    while (at < count) {
        fill(&in);
        int n = 0;
        if (count - at >= WORDS_OF_A_FILLING)
            for (int k = 0; k < WORDS_OF_A_FILLING && in.have >= USUAL_BITS; k++) {
                n = r->length[in.window >> (64 - TABLE_BITS)];
                if (n == 0)
                    break;
                words[at++] = r->by_code[r->base[n] + (uint32_t)(in.window >> (64 - n))];
                in.window <<= n;
                in.have -= n;
            }
        if (n != 0)
            continue;
        fill(&in);
        size_t put = put_symbol(r, &in, words, at, count);
        if (put == 0 || bits_left(&in) < spare)
            return false;
        at += put;
    }
    return bits_left(&in) == spare;
}

/* Five words (the first and the last symbol, the last being the one that repeats; a size that
 * nobody needs; bits of data; nothing), the lengths of the codes, the data from the next byte on.
 */
static bool unpack_words(struct piz_room *r, const unsigned char *packed, size_t size,
                         uint16_t *words, size_t count)
{
    enum { HEAD = 20 };
    if (size < HEAD)
        return false;
    uint32_t first = little32(packed), last = little32(packed + 4);
    uint64_t data_bits = little32(packed + 12);
    if (first > last || last >= SYMBOLS)
        return false;
    struct bits b = {.data = packed, .at = HEAD, .size = size};
    r->repeat = last;
    if (!read_lengths(r, &b, first, last) || !assign_codes(r))
        return false;
    size_t left = (size_t)bits_left(&b) / 8;
    if (data_bits > (uint64_t)left * 8)
        return false;
    b = (struct bits){.data = packed + size - left, .size = (data_bits + 7) / 8};
    return decode_words(r, &b, (int64_t)(8 - data_bits % 8) % 8, words, count);
}

/* ---- wavelet -------------------------------------------------------------------------------- */

/* A mean and a difference back to two neighbours. Of numbers below 2^14 the mean needs no more than
 * 16 bits, with a sign; of others it is taken modulo 2^16. */
static inline void part_small(uint16_t *mean, uint16_t *difference)
{
    int16_t d = (int16_t)*difference;
    uint16_t a = (uint16_t)(*mean + (d & 1) + (d >> 1));
    *mean = a;
    *difference = (uint16_t)(a - d);
}

static inline void part_large(uint16_t *mean, uint16_t *difference)
{
    uint16_t d = *difference, b = (uint16_t)(*mean - (d >> 1));
    *mean = (uint16_t)(d + b - 0x8000);
    *difference = b;
}

/* n pairs, `step` words apart each from the next; their second members `far` words behind. */
static inline __attribute__((always_inline)) void
part_pairs(uint16_t *restrict at, uint16_t *restrict second, size_t n, size_t step, bool small)
{
    for (size_t i = 0; i < n * step; i += step)
        if (small)
            part_small(at + i, second + i);
        else
            part_large(at + i, second + i);
}

static void part_all(uint16_t *first, uint16_t *second, size_t n, size_t step, bool small)
{
    if (step == 1 && small)
        part_pairs(first, second, n, 1, true);
    else if (step == 1)
        part_pairs(first, second, n, 1, false);
    else
        part_pairs(first, second, n, step, small);
}

/* From the coarsest grid to the finest; on each, lines are parted before columns. Samples are of
 * `size` words, which go through it side by side. What of a side is no pair stays as it is. */
static void undo_wavelet(uint16_t *words, size_t width, size_t height, size_t size, bool small)
{
    size_t least = width < height ? width : height, grid = 1, line = width * size;
    while (2 * grid <= least)
        grid *= 2;
    while ((grid /= 2) != 0) {
        size_t columns = width / grid, lines = height / grid;
        for (size_t y = 0; y + 1 < lines; y += 2) {
            uint16_t *a = words + y * grid * line, *b = a + grid * line;
            for (size_t k = 0; k < (grid == 1 ? 1 : size); k++)
                part_all(a + k, b + k, grid == 1 ? columns * size : columns,
                         grid == 1 ? 1 : grid * size, small);
        }
        for (size_t y = 0; y < lines; y++)
            for (size_t k = 0; k < size; k++) {
                uint16_t *a = words + y * grid * line + k;
                part_all(a, a + grid * size, columns / 2, 2 * grid * size, small);
            }
    }
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* Which values occur, a bit each, of those from the first to the last byte that is not zero; 0
 * always does. The largest number of one, or -1. */
static int64_t number_values(struct piz_room *r, const unsigned char *packed, size_t size,
                             size_t *used)
{
    if (size < 4)
        return -1;
    uint32_t first = packed[0] | (uint32_t)packed[1] << 8;
    uint32_t last = packed[2] | (uint32_t)packed[3] << 8, n = 0;
    *used = 4;
    r->value[n++] = 0;
    if (first <= last) {
        if (last >= BITMAP || last - first + 1 > size - 4)
            return -1;
        *used += last - first + 1;
        for (uint32_t v = first * 8; v < (last + 1) * 8; v++)
            if (v != 0 && packed[4 + v / 8 - first] >> v % 8 & 1)
                r->value[n++] = (uint16_t)v;
    }
    memset(r->value + n, 0, (VALUES - n) * sizeof *r->value);
    return n - 1;
}

/* Channels' samples one after the other, to lines with all channels. */
static void put_lines(const exr_decode_pipeline_t *pipe, const struct piz_room *r,
                      unsigned char *to)
{
    size_t width = (size_t)pipe->chunk.width, height = (size_t)pipe->chunk.height;
    for (size_t y = 0; y < height; y++) {
        const uint16_t *channel = r->words;
        for (int16_t c = 0; c < pipe->channel_count; c++) {
            size_t line = width * (size_t)pipe->channels[c].bytes_per_element / 2;
            for (size_t i = 0; i < line; i++, to += 2)
                memcpy(to, &r->value[channel[y * line + i]], 2);
            channel += line * height;
        }
    }
}

bool exr_undo_piz(const exr_decode_pipeline_t *pipe, struct piz_room **room, unsigned char *to,
                  size_t size)
{
    const unsigned char *packed = pipe->packed_buffer;
    size_t packed_size = pipe->chunk.packed_size, used, words = 0;
    size_t width = (size_t)pipe->chunk.width, height = (size_t)pipe->chunk.height;
    for (int16_t c = 0; c < pipe->channel_count; c++) {
        if (pipe->channels[c].x_samples != 1 || pipe->channels[c].y_samples != 1)
            return false;
        words += width * height * (size_t)pipe->channels[c].bytes_per_element / 2;
    }
    if (words * 2 != size || !make_room(room, words))
        return false;
    struct piz_room *r = *room;
    int64_t largest = number_values(r, packed, packed_size, &used);
    if (largest < 0 || packed_size - used < 4)
        return false;
    size_t length = little32(packed + used);
    used += 4;
    if (length > packed_size - used || !unpack_words(r, packed + used, length, r->words, words))
        return false;
    uint16_t *channel = r->words;
    for (int16_t c = 0; c < pipe->channel_count; c++) {
        size_t each = (size_t)pipe->channels[c].bytes_per_element / 2;
        undo_wavelet(channel, width, height, each, largest < 1 << 14);
        channel += width * height * each;
    }
    put_lines(pipe, r, to);
    return true;
}
