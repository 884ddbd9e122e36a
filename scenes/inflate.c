/* The order of work in the fast loop is this file's own; the two-step tables are those of zlib's
 * inftrees and of libdeflate. */
#include "inflate.h"
#include "base.h"

#include <stdlib.h>
#include <string.h>

#include <libdeflate.h>

enum {
    CODE_BITS_MAX = 15,
    LITERALS = 288, /* and lengths, and the end of a block */
    DISTANCES = 32,
    LITERAL_BITS = 10, /* of the first table: five such codes fit one filling of the bits */
    DISTANCE_BITS = 8,
    LITERAL_ENTRIES = 1334, /* zlib's enough.c for 288 symbols, 10 and 15 bits */
    DISTANCE_ENTRIES = 402, /* and for 32, 8 and 15 */
    ORDER_BITS = 7,         /* of the codes for lengths of codes */
    ORDERS = 19,            /* symbols of those */
    END = 256,              /* symbol */
    LENGTH_MAX = 258,
    ROOM_IN = 24,   /* bytes: more than a turn of the fast loop takes in */
    ROOM_OUT = 288, /* more than it writes: a group, a match, 24 bytes */
};

/* Entries of the tables. A literal's: the length of its code in bits 0 to 7, 1 in bit 8, itself
 * from bit 16 on; so the sum of five has the sum of their lengths and their number. Others have
 * zeros there, so that looking one up again does nothing; from bit 11 on the length of the code (0:
 * there is none), from bit 16 on the least length or distance (0: the block ends), and how many
 * bits say what to add. In place of codes that are longer than the first table knows: SECOND,
 * where the second begins and how many bits choose there. */
#define LITERAL 0x100U
#define SECOND  0x8000U
#define NONE    (~0U) /* meaning of a symbol that may not occur */
enum { CODE_SHIFT = 11, BASE_SHIFT = 16, MORE_SHIFT = 28, MORE_DISTANCE_SHIFT = 0 };

struct tables {
    uint32_t literals[LITERAL_ENTRIES], distances[DISTANCE_ENTRIES];
};

enum state { HEADER, CODES, DONE, BAD };
struct stream {
    const unsigned char *in, *in_end;
    uint64_t bits; /* the next, from the lowest */
    unsigned have; /* how many of them count */
    unsigned char *base, *out, *out_end;
    struct tables *tables;
    const unsigned char *begin; /* where positions count from */
    uint64_t stop;              /* position of the block that is not ours; 0: all are */
    enum state state;
    bool last; /* no block follows */
};

struct inflater {
    struct tables tables[INFLATE_TOGETHER];
};

struct inflater *inflater_new(void) { return malloc(sizeof(struct inflater)); }
void inflater_free(struct inflater *f) { free(f); }

/* ---- bits ----------------------------------------------------------------------------------- */

/* At least 56 bits. What stands behind the end counts as any: see overrun. */
static inline void fill(struct stream *s)
{
    uint64_t next;
    memcpy(&next, s->in, 8);
    s->bits |= next << s->have;
    s->in += (63 - s->have) >> 3;
    s->have |= 56;
}

static inline uint32_t take(struct stream *s, unsigned n) /* 0 to 31, of bits that are there */
{
    uint32_t v = (uint32_t)s->bits & ((1U << n) - 1);
    s->bits >>= n;
    s->have -= n;
    return v;
}

/* Whether bits were taken from behind the end. */
static bool overrun(const struct stream *s) { return s->in - s->have / 8 > s->in_end; }

/* ---- tables --------------------------------------------------------------------------------- */

static uint32_t literal_meaning(unsigned symbol)
{
    if (symbol < END)
        return LITERAL | symbol << BASE_SHIFT;
    if (symbol == END)
        return 0;
    unsigned k = symbol - END - 1, more = k < 8 || k == 28 ? 0 : k / 4 - 1;
    uint32_t base = k < 8 ? 3 + k : k == 28 ? 258 : 3 + ((4 + k % 4) << more);
    return k > 28 ? NONE : base << BASE_SHIFT | more << MORE_SHIFT;
}

static uint32_t distance_meaning(unsigned symbol)
{
    unsigned more = symbol < 4 ? 0 : symbol / 2 - 1;
    uint32_t base = symbol < 4 ? 1 + symbol : 1 + ((2 + symbol % 2) << more);
    return symbol > 29 ? NONE : base << BASE_SHIFT | more << MORE_DISTANCE_SHIFT;
}

static uint32_t order_meaning(unsigned symbol) { return symbol << BASE_SHIFT; }

static uint32_t entry(uint32_t meaning, unsigned length)
{
    return meaning == NONE ? 0 : meaning + (meaning & LITERAL ? length : length << CODE_SHIFT);
}

/* The code behind this one in the order of codes of `length` bits, both written from the lowest bit
 * on. */
static unsigned next_code(unsigned code, unsigned length)
{
    unsigned bit = 1U << (length - 1);
    while (code & bit)
        bit >>= 1;
    return bit ? (code & (bit - 1)) + bit : 0;
}

/* False unless the codes fill the tree; `few`: or there is only one of 1 bit, or none. */
static bool build(uint32_t *table, unsigned bits, const uint8_t *lengths, unsigned n,
                  uint32_t (*meaning)(unsigned), unsigned more_shift, bool few)
{
    unsigned count[CODE_BITS_MAX + 1] = {0}, at[CODE_BITS_MAX + 2] = {0}, used = 0;
    uint16_t sorted[LITERALS];
    for (unsigned i = 0; i < n; i++)
        count[lengths[i]]++;
    for (unsigned l = 1; l <= CODE_BITS_MAX; l++) {
        at[l + 1] = at[l] + count[l];
        used += count[l] << (CODE_BITS_MAX - l);
    }
    unsigned codes = at[CODE_BITS_MAX + 1], size = 1U << bits, code = 0;
    if (used != 1U << CODE_BITS_MAX) {
        if (!few || codes > 1 || codes != count[1])
            return false;
        memset(table, 0, size * sizeof *table);
    }
    for (unsigned i = 0; i < n; i++)
        if (lengths[i])
            sorted[at[lengths[i]]++] = (uint16_t)i;
    unsigned end = size, prefix = size; /* of all tables; what leads to the last second one */
    for (unsigned i = 0, second = 0, more = 0; i < codes; i++) {
        unsigned length = lengths[sorted[i]];
        uint32_t e = entry(meaning(sorted[i]), length);
        if (length <= bits) {
            for (unsigned k = code; k < size; k += 1U << length)
                table[k] = e;
        } else {
            if ((code & (size - 1)) != prefix) {
                prefix = code & (size - 1);
                second = end;
                more = length - bits;
                for (int left = 1 << more; bits + more < CODE_BITS_MAX; left *= 2, more++)
                    if ((left -= (int)count[bits + more]) <= 0)
                        break;
                end += 1U << more;
                table[prefix] = SECOND | second << BASE_SHIFT | more << more_shift;
            }
            for (unsigned k = code >> bits; k < 1U << more; k += 1U << (length - bits))
                table[second + k] = e;
            count[length]--;
        }
        code = next_code(code, length);
    }
    return true;
}

static bool build_both(struct tables *t, const uint8_t *lengths, unsigned literals,
                       unsigned distances)
{
    return lengths[END] != 0 &&
           build(t->literals, LITERAL_BITS, lengths, literals, literal_meaning, MORE_SHIFT,
                 false) &&
           build(t->distances, DISTANCE_BITS, lengths + literals, distances, distance_meaning,
                 MORE_DISTANCE_SHIFT, true);
}

/* ---- heads of blocks ------------------------------------------------------------------------ */

static bool read_codes(struct stream *s)
{
    enum { REPEAT_MAX = 138 };
    static const uint8_t order[ORDERS] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                          11, 4,  12, 3, 13, 2, 14, 1, 15};
    uint8_t of_lengths[ORDERS] = {0}, lengths[LITERALS + DISTANCES + REPEAT_MAX] = {0};
    uint32_t table[1 << ORDER_BITS];
    unsigned literals = take(s, 5) + 257, distances = take(s, 5) + 1, orders = take(s, 4) + 4;
    if (literals > 286 || distances > 30)
        return false;
    for (unsigned i = 0; i < orders; i++) {
        if (overrun(s))
            return false;
        fill(s);
        of_lengths[order[i]] = (uint8_t)take(s, 3);
    }
    if (!build(table, ORDER_BITS, of_lengths, ORDERS, order_meaning, MORE_SHIFT, false))
        return false;
    for (unsigned i = 0; i < literals + distances;) {
        if (overrun(s))
            return false;
        fill(s);
        uint32_t e = table[s->bits & ((1U << ORDER_BITS) - 1)], symbol = e >> BASE_SHIFT;
        take(s, e >> CODE_SHIFT & 15);
        if (symbol < 16) {
            lengths[i++] = (uint8_t)symbol;
            continue;
        }
        if (symbol == 16 && i == 0)
            return false;
        unsigned n = symbol == 16   ? 3 + take(s, 2)
                     : symbol == 17 ? 3 + take(s, 3)
                                    : 11 + take(s, 7);
        memset(lengths + i, symbol == 16 ? lengths[i - 1] : 0, n);
        i += n;
        if (i > literals + distances)
            return false;
    }
    return build_both(s->tables, lengths, literals, distances);
}

static bool fixed_codes(struct stream *s)
{
    uint8_t lengths[LITERALS + DISTANCES];
    for (unsigned i = 0; i < LITERALS + DISTANCES; i++)
        lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : i < LITERALS ? 8 : 5;
    return build_both(s->tables, lengths, LITERALS, DISTANCES);
}

/* The bytes of a stored block, whose type has just been read; NULL if they are not all there. */
static const unsigned char *stored_bytes(struct stream *s, size_t *n)
{
    take(s, s->have % 8);
    const unsigned char *p = s->in - s->have / 8;
    if (s->in_end - p < 4)
        return NULL;
    *n = p[0] | (size_t)p[1] << 8;
    if ((*n ^ (p[2] | (size_t)p[3] << 8)) != 0xffff || *n > (size_t)(s->in_end - p - 4))
        return NULL;
    s->in = p + 4 + *n;
    s->bits = 0;
    s->have = 0;
    return p + 4;
}

/* In bits, of the next that is not taken. */
static uint64_t position(const struct stream *s)
{
    return (uint64_t)(s->in - s->begin) * 8 - s->have;
}

/* Reads a block's head and, of a stored one, all. */
static enum state begin_block(struct stream *s)
{
    if (overrun(s))
        return BAD;
    if (s->stop != 0 && position(s) >= s->stop)
        return position(s) == s->stop ? DONE : BAD;
    if (s->last)
        return s->stop == 0 ? DONE : BAD;
    fill(s);
    s->last = take(s, 1);
    uint32_t type = take(s, 2);
    if (type != 0)
        return (type == 1 ? fixed_codes(s) : type == 2 && read_codes(s)) ? CODES : BAD;
    size_t n;
    const unsigned char *p = stored_bytes(s, &n);
    if (!p || n > (size_t)(s->out_end - s->out))
        return BAD;
    memcpy(s->out, p, n);
    s->out += n;
    return HEADER;
}

/* ---- symbols -------------------------------------------------------------------------------- */

/* What is no literal has a length (0: the block ends) and a distance (0: damage). */
struct symbol {
    bool is_literal;
    unsigned char literal;
    uint32_t length, distance;
};

/* The symbol whose entry is e; from 48 bits. */
static inline __attribute__((always_inline)) struct symbol take_symbol(struct stream *s, uint32_t e)
{
    const struct tables *t = s->tables;
    if (e & SECOND)
        e = t->literals[(e >> BASE_SHIFT & 0xfff) +
                        (s->bits >> LITERAL_BITS & ((1U << (e >> MORE_SHIFT)) - 1))];
    if (e & LITERAL) {
        take(s, e & 15);
        return (struct symbol){.is_literal = true, .literal = (unsigned char)(e >> BASE_SHIFT)};
    }
    unsigned code = e >> CODE_SHIFT & 15;
    struct symbol m = {.length = code == 0 ? 1 : e >> BASE_SHIFT & 0xfff};
    take(s, code);
    if (code == 0 || m.length == 0)
        return m;
    m.length += take(s, e >> MORE_SHIFT);
    e = t->distances[s->bits & ((1U << DISTANCE_BITS) - 1)];
    if (e & SECOND)
        e = t->distances[(e >> BASE_SHIFT) + (s->bits >> DISTANCE_BITS & ((1U << (e & 15)) - 1))];
    code = e >> CODE_SHIFT & 15;
    take(s, code);
    if (code != 0)
        m.distance = (e >> BASE_SHIFT) + take(s, e & 15);
    return m;
}

static inline void copy_word(unsigned char *to, const unsigned char *from)
{
    uint64_t word;
    memcpy(&word, from, 8);
    memcpy(to, &word, 8);
}

/* Writes up to 24 bytes too many. */
static inline void copy_match(unsigned char *to, struct symbol m)
{
    unsigned char *end = to + m.length;
    const unsigned char *from = to - m.distance;
    if (m.distance < 8) {
        for (int i = 0; i < 8; i++)
            to[i] = from[i];
        to += 8;
        from = to - (7 / m.distance + 1) * m.distance; /* as many periods as make a word */
    }
    do { /* few matches are longer than two words */
        copy_word(to, from);
        copy_word(to + 8, from + 8);
        to += 16;
        from += 16;
    } while (to < end);
}

/* ---- where there is room -------------------------------------------------------------------- */

/* One of a group of literals. */
#define TAKE_LITERAL(k)                                                                            \
    uint32_t e##k = t[s->bits & mask];                                                             \
    s->out[k] = (unsigned char)(e##k >> BASE_SHIFT);                                               \
    s->bits >>= e##k & 63

/* Literals, five at most, without a branch between them; then the entry of the first symbol that is
 * none (or not to be found in the first table), or of the last literal. */
static inline __attribute__((always_inline)) uint32_t take_group(struct stream *s)
{
    const uint32_t *t = s->tables->literals, mask = (1U << LITERAL_BITS) - 1;
    fill(s);
    TAKE_LITERAL(0);
    TAKE_LITERAL(1);
    TAKE_LITERAL(2);
    TAKE_LITERAL(3);
    TAKE_LITERAL(4);
    uint32_t sum = e0 + e1 + e2 + e3 + e4;
    s->have -= sum & 63;
    s->out += sum >> 8 & 7;
    return e4;
}

/* False: the block ends here, or is damaged. */
static inline __attribute__((always_inline)) bool take_other(struct stream *s, uint32_t e)
{
    fill(s);
    struct symbol m = take_symbol(s, e);
    if (m.is_literal) {
        *s->out++ = m.literal;
        return true;
    }
    if (m.length == 0 || m.distance == 0 || m.distance > (size_t)(s->out - s->base)) {
        s->state = m.length == 0 ? HEADER : BAD;
        return false;
    }
    copy_match(s->out, m);
    s->out += m.length;
    return true;
}

static inline bool is_roomy(const struct stream *s)
{
    return s->in_end - s->in >= ROOM_IN && s->out_end - s->out >= ROOM_OUT;
}

static inline __attribute__((always_inline)) bool take_turn(struct stream *s)
{
    uint32_t e = take_group(s);
    return (e & LITERAL) || take_other(s, e);
}

/* So many turns have room for sure. */
static size_t turns_of(const struct stream *s)
{
    size_t in = (size_t)(s->in_end - s->in) / ROOM_IN;
    size_t out = (size_t)(s->out_end - s->out) / ROOM_OUT;
    return in < out ? in : out;
}

static void run_one(struct stream *s)
{
    struct stream a = *s;
    bool ok = true;
    for (size_t n; ok && is_roomy(&a);)
        for (n = turns_of(&a); ok && n > 0; n--)
            ok = take_turn(&a);
    *s = a;
}

static void run_three(struct stream *s, struct stream *s2, struct stream *s3)
{
    struct stream a = *s, b = *s2, c = *s3;
    for (bool ok = true; ok && is_roomy(&a) && is_roomy(&b) && is_roomy(&c);) {
        size_t n = turns_of(&a), m = turns_of(&b), k = turns_of(&c);
        n = n < m ? n : m;
        for (n = n < k ? n : k; ok && n > 0; n--) {
            uint32_t e = take_group(&a), f = take_group(&b), g = take_group(&c);
            if (!(e & LITERAL))
                ok = take_other(&a, e);
            if (!(f & LITERAL) && !take_other(&b, f))
                ok = false;
            if (!(g & LITERAL) && !take_other(&c, g))
                ok = false;
        }
    }
    *s = a;
    *s2 = b;
    *s3 = c;
}

/* ---- where there is none -------------------------------------------------------------------- */

static void run_carefully(struct stream *s)
{
    while (s->state == CODES && !is_roomy(s)) {
        if (overrun(s)) {
            s->state = BAD;
            return;
        }
        fill(s);
        size_t room = (size_t)(s->out_end - s->out);
        struct symbol m = take_symbol(s, s->tables->literals[s->bits & ((1U << LITERAL_BITS) - 1)]);
        if (m.is_literal && room > 0) {
            *s->out++ = m.literal;
        } else if (!m.is_literal && m.length == 0) {
            s->state = HEADER;
        } else if (!m.is_literal && m.distance != 0 && m.distance <= (size_t)(s->out - s->base) &&
                   m.length <= room) {
            for (; m.length > 0; m.length--, s->out++)
                *s->out = s->out[-(ptrdiff_t)m.distance];
        } else {
            s->state = BAD;
        }
    }
}

/* Until the stream is in a block's codes with room, or at its end. */
static bool get_ready(struct stream *s)
{
    while (s->state == HEADER || (s->state == CODES && !is_roomy(s)))
        if (s->state == HEADER)
            s->state = begin_block(s);
        else
            run_carefully(s);
    return s->state == CODES;
}

/* ---- zlib streams --------------------------------------------------------------------------- */

enum { HEAD = 2, SUM = 4 };

/* Method 8, a check of five bits, no dictionary. */
static bool is_zlib(const unsigned char *p, size_t size)
{
    return size >= HEAD + SUM && (p[0] & 15) == 8 && p[0] >> 4 <= 7 &&
           (p[0] << 8 | p[1]) % 31 == 0 && !(p[1] & 32);
}

static struct stream begin_zlib(const struct inflate_job *j, struct tables *t)
{
    struct stream s = {.tables = t, .base = j->out, .out = j->out, .out_end = j->out + j->size};
    if (!is_zlib(j->packed, j->packed_size)) {
        s.state = BAD;
        return s;
    }
    s.in = s.begin = j->packed + HEAD;
    s.in_end = j->packed + j->packed_size - SUM;
    return s;
}

static uint32_t sum_behind(const struct stream *s)
{
    const unsigned char *p = s->in - s->have / 8;
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static bool ends_well(const struct stream *s, const struct inflate_job *j)
{
    return s->state == DONE && s->out == s->out_end &&
           sum_behind(s) == libdeflate_adler32(1, j->out, j->size);
}

/* Streams that are ready, as far as all of them go; false: none is. */
static bool run(struct stream *s, const bool *ready)
{
    if (ready[0] && ready[1] && ready[2])
        run_three(&s[0], &s[1], &s[2]);
    else if (ready[0] || ready[1] || ready[2])
        run_one(&s[ready[0] ? 0 : ready[1] ? 1 : 2]);
    else
        return false;
    return true;
}

void inflate_together(struct inflater *f, struct inflate_job *jobs, size_t count)
{
    struct stream s[INFLATE_TOGETHER];
    bool ready[INFLATE_TOGETHER];
    size_t running[INFLATE_TOGETHER], next = 0;
    for (size_t k = 0; k < INFLATE_TOGETHER; k++) {
        s[k].state = DONE;
        running[k] = count;
    }
    do {
        for (size_t k = 0; k < INFLATE_TOGETHER; k++)
            while (!(ready[k] = get_ready(&s[k]))) {
                if (running[k] < count)
                    jobs[running[k]].ok = ends_well(&s[k], &jobs[running[k]]);
                running[k] = next < count ? next++ : count;
                if (running[k] == count)
                    break;
                s[k] = begin_zlib(&jobs[running[k]], &f->tables[k]);
            }
    } while (run(s, ready));
}

/* ---- one stream in parts -------------------------------------------------------------------- */

/* A part begins at the first block with codes of its own that is found behind a place in the middle
 * of the stream. What stands in the 32 KiB before it is not known yet: until so many bytes have
 * come that are known, symbols of 16 bits are made; of them those from MARK on stand for a place in
 * that window. */
enum {
    WINDOW = 1 << 15,
    MARK = 256,
    MARKED_MAX = 2 << 20, /* symbols: flat pictures might go on like that for ever */
    SEARCH_MAX = 8 << 20, /* bits: blocks are seldom longer than a tenth of that */
    STORED_MAX = 1 << 16,
};

struct part {
    struct stream s;
    uint64_t from, to; /* where its start is looked for */
    uint64_t start;    /* where it was found */
    bool started;
    uint16_t *marked;          /* the symbols, heap */
    size_t count, clean, room; /* how many; so many up to the last mark; room for how many */
    unsigned char *out;        /* first of all its bytes */
    size_t out_size;           /* room */
    uint32_t sum;              /* Adler-32 of its bytes */
};

static bool put_marked(struct part *p, struct symbol m)
{
    size_t n = m.is_literal ? 1 : m.length;
    if (n > MARKED_MAX - p->count)
        return false;
    if (n > p->room - p->count) {
        size_t room = p->room ? 4 * p->room : STORED_MAX;
        uint16_t *more = realloc(p->marked, room * sizeof *more);
        if (!more)
            return false;
        p->marked = more;
        p->room = room;
    }
    uint16_t *to = p->marked + p->count;
    p->count += n;
    if (m.is_literal) {
        *to = m.literal;
        return true;
    }
    for (size_t i = 0; i < n; i++, to++) {
        size_t at = (size_t)(to - p->marked);
        if (m.distance > at + WINDOW)
            return false;
        *to = m.distance > at ? (uint16_t)(MARK + WINDOW + at - m.distance)
                              : to[-(ptrdiff_t)m.distance];
        if (*to >= MARK)
            p->clean = at + 1;
    }
    return true;
}

/* Goes on from a block that was begun until the window is known and a block has ended. */
static bool run_marked(struct part *p, unsigned char *stored)
{
    struct stream *s = &p->s;
    bool ended = false; /* a block, and another has begun well */
    p->count = p->clean = 0;
    while (!ended || p->count - p->clean < WINDOW) {
        if (s->state == HEADER) {
            s->out = stored;
            s->state = begin_block(s);
            if (s->state == BAD || s->state == DONE)
                return false;
            ended = true;
            for (const unsigned char *b = stored; b < s->out; b++)
                if (!put_marked(p, (struct symbol){.is_literal = true, .literal = *b}))
                    return false;
            continue;
        }
        if (s->state != CODES || overrun(s))
            return false;
        fill(s);
        struct symbol m = take_symbol(s, s->tables->literals[s->bits & ((1U << LITERAL_BITS) - 1)]);
        if (!m.is_literal && m.length == 0)
            s->state = HEADER;
        else if ((!m.is_literal && m.distance == 0) || !put_marked(p, m))
            return false;
    }
    return true;
}

/* From the bytes that are known on. */
static bool end_marks(struct part *p)
{
    struct stream *s = &p->s;
    if (p->count > p->out_size)
        return false;
    s->out = p->out + p->count;
    s->out_end = p->out + p->out_size;
    s->base = s->out - WINDOW;
    for (size_t i = p->count - WINDOW; i < p->count; i++)
        p->out[i] = (unsigned char)p->marked[i];
    return true;
}

static void find_start(void *ctx, size_t i, unsigned thread)
{
    (void)thread;
    struct part *p = (struct part *)ctx + i;
    struct stream *s = &p->s, fresh = *s;
    if (i == 0) {
        p->started = true;
        return;
    }
    unsigned char *stored = malloc(STORED_MAX);
    for (uint64_t at = p->from; stored && at < p->to && !p->started; at++) {
        uint64_t v;
        memcpy(&v, s->begin + at / 8, 8);
        v >>= at % 8;
        if ((v & 7) != 4 || (v >> 3 & 31) > 29 || (v >> 8 & 31) > 29)
            continue; /* not a block with codes of its own, or the last */
        *s = fresh;
        s->in = s->begin + at / 8;
        s->out = s->base = stored;
        s->out_end = stored + STORED_MAX;
        fill(s);
        take(s, at % 8);
        s->state = begin_block(s);
        p->start = at;
        p->started = s->state == CODES && run_marked(p, stored) && end_marks(p);
        if (p->count > MARKED_MAX - LENGTH_MAX) /* other starts would be no better */
            break;
    }
    free(stored);
}

/* All parts that were found, of which each stops where the next begins. */
struct whole {
    struct part **parts;
    size_t count;
};

static void run_group(void *ctx, size_t i, unsigned thread)
{
    (void)thread;
    const struct whole *w = ctx;
    struct stream s[INFLATE_TOGETHER];
    bool ready[INFLATE_TOGETHER];
    size_t from = i * INFLATE_TOGETHER;
    for (size_t k = 0; k < INFLATE_TOGETHER; k++) {
        s[k].state = DONE;
        if (from + k < w->count)
            s[k] = w->parts[from + k]->s;
    }
    do {
        for (size_t k = 0; k < INFLATE_TOGETHER; k++)
            ready[k] = get_ready(&s[k]);
    } while (run(s, ready));
    for (size_t k = 0; k < INFLATE_TOGETHER && from + k < w->count; k++)
        w->parts[from + k]->s = s[k];
}

static size_t part_size(const struct part *p) { return (size_t)(p->s.out - p->out); }

/* Puts what stood before each part in place of its marks. False if they do not fit together. */
static bool join(struct whole *w, size_t size)
{
    size_t sum = 0;
    for (size_t i = 0; i < w->count; i++) {
        struct part *p = w->parts[i];
        if (p->s.state != DONE || (i > 0 && part_size(w->parts[i - 1]) < WINDOW))
            return false;
        const unsigned char *window = i > 0 ? w->parts[i - 1]->s.out - WINDOW : NULL;
        for (size_t k = 0; window && k < p->count; k++) {
            unsigned v = p->marked[k];
            p->out[k] = v < MARK ? (unsigned char)v : window[v - MARK];
        }
        sum += part_size(p);
    }
    return sum == size;
}

static void sum_part(void *ctx, size_t i, unsigned thread)
{
    (void)thread;
    struct part *p = ((const struct whole *)ctx)->parts[i];
    p->sum = libdeflate_adler32(1, p->out, part_size(p));
}

/* Adler-32 of all parts: of n bytes b, a = 1 + sum b_i and c = sum over i of a after b_i, which is
 * n
 * + sum (n - i) b_i, both modulo 65521. */
static uint32_t sum_all(const struct whole *w)
{
    const uint32_t modulus = 65521;
    uint64_t a = 1, c = 0;
    for (size_t i = 0; i < w->count; i++) {
        const struct part *p = w->parts[i];
        c = (c + (p->sum >> 16) + part_size(p) % modulus * (a + modulus - 1)) % modulus;
        a = (a + (p->sum & 0xffff) + modulus - 1) % modulus;
    }
    return (uint32_t)(c << 16 | a);
}

static bool prepare(struct arena *a, const struct inflate_job *j, struct part *parts,
                    unsigned count)
{
    struct tables *tables = ARENA_ARRAY(a, struct tables, count);
    uint64_t bits = (uint64_t)(j->packed_size - HEAD - SUM) * 8;
    for (unsigned i = 0; tables && i < count; i++) {
        struct part *p = &parts[i];
        p->from = bits / count * i;
        p->to = p->from + (bits / count < SEARCH_MAX ? bits / count : SEARCH_MAX);
        p->out_size = j->size / count * 4 + STORED_MAX; /* more is not worth it */
        p->out_size = p->out_size < j->size ? p->out_size : j->size;
        p->out = arena_alloc(a, p->out_size, 1, 16);
        if (!p->out)
            return false;
        p->s = begin_zlib(&(struct inflate_job){.packed = j->packed,
                                                .packed_size = j->packed_size,
                                                .out = p->out,
                                                .size = p->out_size},
                          &tables[i]);
        if (p->s.state == BAD)
            return false;
    }
    return tables != NULL;
}

static size_t run_parts(struct part *parts, unsigned count, unsigned threads, size_t size,
                        struct whole *w)
{
    parallel_for(count, threads, find_start, parts);
    for (unsigned i = 0; i < count; i++)
        if (parts[i].started)
            w->parts[w->count++] = &parts[i];
    if (2 * w->count <= count)
        return 0;
    for (size_t i = 0; i + 1 < w->count; i++)
        w->parts[i]->s.stop = w->parts[i + 1]->start;
    parallel_for((w->count - 1) / INFLATE_TOGETHER + 1, threads, run_group, w);
    if (!join(w, size))
        return 0;
    parallel_for(w->count, threads, sum_part, w);
    return sum_behind(&w->parts[w->count - 1]->s) == sum_all(w) ? w->count : 0;
}

size_t inflate_in_parts(struct arena *a, const struct inflate_job *j, unsigned count,
                        unsigned threads, struct inflate_piece *pieces)
{
    struct part *parts = ARENA_ARRAY(a, struct part, count);
    struct whole w = {.parts = ARENA_ARRAY(a, struct part *, count)};
    size_t n = 0;
    if (parts && w.parts && j->packed_size > HEAD + SUM && prepare(a, j, parts, count))
        n = run_parts(parts, count, threads, j->size, &w);
    for (size_t i = 0; i < n; i++)
        pieces[i] = (struct inflate_piece){w.parts[i]->out, part_size(w.parts[i])};
    for (unsigned i = 0; parts && i < count; i++)
        free(parts[i].marked);
    return n;
}
