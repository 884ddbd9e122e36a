/* SPDX-License-Identifier: Apache-2.0 */
/* Radiance's picture format (Ward, "Real Pixels", Graphics Gems II, 1991, and the format's man
 * page): lines of text, an empty line, a line of resolution, then RGBE pixels, plain or run-length
 * encoded in the old or the new way. */
#include "images.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool hdr_recognise(const unsigned char *data, size_t size)
{
    return (size >= 10 && memcmp(data, "#?RADIANCE", 10) == 0) ||
           (size >= 6 && memcmp(data, "#?RGBE", 6) == 0);
}

struct hdr_input {
    const struct image_source *s;
    size_t at;
};

/* The next line without its end, of at most size - 1 bytes; false at the end of the data. */
static bool next_line(struct hdr_input *in, char *line, size_t size)
{
    const unsigned char *start = in->s->data + in->at;
    const unsigned char *end = memchr(start, '\n', in->s->size - in->at);
    if (!end)
        return false;
    size_t n = (size_t)(end - start);
    in->at += n + 1;
    if (n && start[n - 1] == '\r')
        n--;
    n = n < size ? n : size - 1;
    memcpy(line, start, n);
    line[n] = '\0';
    return true;
}

struct hdr_header {
    uint64_t length, lines; /* pixels in a scan line, scan lines */
    bool columns;           /* scan lines run along y */
    bool flip_x, flip_y;    /* x decreases, y increases along the file */
    double exposure;        /* stored values were multiplied by it */
    bool xyze;
};

/* "-Y 512 +X 1024" and its seven turns and mirrors. */
static bool parse_resolution(const char *line, struct hdr_header *h)
{
    char sign[2], axis[2], *end;
    unsigned long n[2];
    for (int i = 0; i < 2; i++) {
        while (*line == ' ')
            line++;
        sign[i] = *line ? *line++ : '\0';
        axis[i] = *line ? *line++ : '\0';
        n[i] = strtoul(line, &end, 10);
        if ((sign[i] != '+' && sign[i] != '-') || (axis[i] != 'X' && axis[i] != 'Y') || end == line)
            return false;
        line = end;
    }
    while (*line == ' ')
        line++;
    if (*line || axis[0] == axis[1])
        return false;
    h->columns = axis[0] == 'X';
    h->lines = n[0];
    h->length = n[1];
    int x = h->columns ? 0 : 1;
    h->flip_x = sign[x] == '-';
    h->flip_y = sign[1 - x] == '+';
    return true;
}

static enum status read_header(struct hdr_input *in, struct hdr_header *h)
{
    char line[256];
    *h = (struct hdr_header){.exposure = 1};
    for (;;) {
        if (!next_line(in, line, sizeof line))
            return image_fault(in->s, STATUS_PARSE,
                               "its header does not end, expected an empty line");
        if (!line[0])
            break;
        if (strncmp(line, "FORMAT=", 7) == 0) {
            const char *format = line + 7 + strspn(line + 7, " ");
            h->xyze = strcmp(format, "32-bit_rle_xyze") == 0;
            if (!h->xyze && strcmp(format, "32-bit_rle_rgbe") != 0)
                return image_fault(in->s, STATUS_UNSUPPORTED,
                                   "its format is %.40s, expected 32-bit_rle_rgbe or "
                                   "32-bit_rle_xyze",
                                   format);
        } else if (strncmp(line, "EXPOSURE=", 9) == 0) {
            double e = strtod(line + 9, NULL);
            if (!(e > 0 && isfinite(e)))
                return image_fault(in->s, STATUS_PARSE,
                                   "its exposure is \"%.40s\", expected a "
                                   "number above 0",
                                   line + 9);
            h->exposure *= e;
        }
    }
    if (!(h->exposure >= 1e-30 && h->exposure <= 1e30))
        return image_fault(in->s, STATUS_RANGE,
                           "its exposures multiply to %g, expected 1e-30 to "
                           "1e30",
                           h->exposure);
    if (!next_line(in, line, sizeof line) || !parse_resolution(line, h))
        return image_fault(in->s, STATUS_PARSE,
                           "its resolution cannot be read, expected a line like -Y 512 +X 1024");
    return STATUS_OK;
}

/* New encoding: 2 2 hi lo, then each of the four components on its own, in runs. */
static bool read_new_line(struct hdr_input *in, unsigned char *line, size_t length)
{
    const unsigned char *d = in->s->data;
    size_t size = in->s->size, at = in->at + 4;
    for (size_t c = 0; c < 4; c++)
        for (size_t x = 0; x < length;) {
            if (at + 1 >= size)
                return false;
            size_t n = d[at++];
            bool run = n > 128;
            n = run ? n - 128 : n;
            if (n == 0 || n > length - x || (!run && n > size - at))
                return false;
            for (size_t i = 0; i < n; i++)
                line[4 * x++ + c] = run ? d[at] : d[at + i];
            at += run ? 1 : n;
        }
    in->at = at;
    return true;
}

/* Plain pixels, and the old encoding: 1 1 1 n repeats the pixel before, n counting in base 256. */
static bool read_old_line(struct hdr_input *in, unsigned char *line, size_t length)
{
    const unsigned char *d = in->s->data;
    unsigned shift = 0;
    for (size_t x = 0; x < length;) {
        if (in->s->size - in->at < 4)
            return false;
        const unsigned char *p = d + in->at;
        in->at += 4;
        if (p[0] == 1 && p[1] == 1 && p[2] == 1) {
            if (x == 0 || shift > 24)
                return false;
            size_t n = (size_t)p[3] << shift;
            if (n > length - x)
                return false;
            for (size_t i = 0; i < n; i++, x++)
                memcpy(line + 4 * x, line + 4 * (x - 1), 4);
            shift += 8;
        } else {
            memcpy(line + 4 * x++, p, 4);
            shift = 0;
        }
    }
    return true;
}

static bool read_line(struct hdr_input *in, unsigned char *line, size_t length)
{
    const unsigned char *p = in->s->data + in->at;
    bool packed = length >= 8 && length <= 32767 && in->s->size - in->at >= 4 && p[0] == 2 &&
                  p[1] == 2 && (size_t)(p[2] << 8 | p[3]) == length;
    return packed ? read_new_line(in, line, length) : read_old_line(in, line, length);
}

/* Mantissas share an exponent; 0.5 centres each step (Ward's colr_color). */
static void decode_pixel(const struct hdr_header *h, const unsigned char p[4], float out[3])
{
    double rgb[3] = {0, 0, 0};
    if (p[3]) {
        double f = ldexp(1, (int)p[3] - 136) / h->exposure;
        for (int c = 0; c < 3; c++)
            rgb[c] = ((double)p[c] + 0.5) * f;
        if (h->xyze) { /* CIE XYZ to linear Rec. 709, white point as the file's equal energy */
            static const double m[3][3] = {{3.2404542, -1.5371385, -0.4985314},
                                           {-0.9692660, 1.8760108, 0.0415560},
                                           {0.0556434, -0.2040259, 1.0572252}};
            double xyz[3] = {rgb[0] / 179, rgb[1] / 179, rgb[2] / 179};
            for (int c = 0; c < 3; c++)
                rgb[c] = m[c][0] * xyz[0] + m[c][1] * xyz[1] + m[c][2] * xyz[2];
        }
    }
    for (int c = 0; c < 3; c++)
        out[c] = (float)rgb[c];
}

enum status hdr_read(const struct image_source *s, struct image *out)
{
    struct hdr_input in = {.s = s};
    struct hdr_header h;
    enum status status = read_header(&in, &h);
    if (status != STATUS_OK)
        return status;
    uint64_t width = h.columns ? h.lines : h.length, height = h.columns ? h.length : h.lines;
    /* a pixel takes at least 4 bytes for 2^24 in the old encoding, 8/127 in the new: a header alone
     * cannot ask for much */
    struct image image;
    status = image_allocate(s, width, height, 3, TEXEL_F32, &image);
    if (status != STATUS_OK)
        return status;
    unsigned char *line = arena_alloc(s->arena, h.length, 4, 1);
    if (!line)
        return image_fault(s, STATUS_MEMORY, "out of memory");
    for (uint64_t i = 0; i < h.lines; i++) {
        if (!read_line(&in, line, h.length))
            return image_fault(s, STATUS_PARSE, "scan line %llu of %llu is cut off or damaged",
                               (unsigned long long)i + 1, (unsigned long long)h.lines);
        for (uint64_t k = 0; k < h.length; k++) {
            uint64_t x = h.columns ? i : k, y = h.columns ? k : i;
            x = h.flip_x ? width - 1 - x : x;
            y = h.flip_y ? height - 1 - y : y;
            decode_pixel(&h, line + 4 * k, (float *)image.texels + 3 * (y * width + x));
        }
    }
    *out = image;
    return STATUS_OK;
}
