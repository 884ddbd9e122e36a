/* Images by their content, the colour spaces of their values, and conversions. */
#include "image_format.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

double srgb_encode(double x)
{
    return x <= 0.0031308 ? 12.92 * x : 1.055 * pow(x, 1 / 2.4) - 0.055;
}

double srgb_decode(double x) { return x <= 0.04045 ? x / 12.92 : pow((x + 0.055) / 1.055, 2.4); }

enum status image_fault(const struct image_source *s, enum status code, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return error_msg(s->err, code, "cannot read the image %s: %s", s->name, text);
}

enum status image_check_size(const struct image_source *s, uint64_t width, uint64_t height)
{
    if (width == 0 || height == 0)
        return image_fault(s, STATUS_TYPE, "it has %llux%llu pixels, expected at least one",
                           (unsigned long long)width, (unsigned long long)height);
    if (width > IMAGE_SIDE_MAX || height > IMAGE_SIDE_MAX || width * height > IMAGE_PIXELS_MAX)
        return image_fault(s, STATUS_LIMIT,
                           "it has %llux%llu pixels, expected at most %d a side and 2^28 in all",
                           (unsigned long long)width, (unsigned long long)height, IMAGE_SIDE_MAX);
    return STATUS_OK;
}

enum status image_allocate(const struct image_source *s, uint64_t width, uint64_t height,
                           uint32_t channels, enum texel_format format, struct image *out)
{
    enum status size = image_check_size(s, width, height);
    if (size != STATUS_OK)
        return size;
    size_t texel = channels * (format == TEXEL_U8 ? 1 : sizeof(float));
    void *texels = arena_alloc(s->arena, (size_t)(width * height), texel, 16);
    if (!texels)
        return image_fault(s, STATUS_MEMORY, "out of memory");
    *out = (struct image){.width = (uint32_t)width,
                          .height = (uint32_t)height,
                          .channels = channels,
                          .format = format,
                          .texels = texels};
    return STATUS_OK;
}

/* Whether all n are finite: exponents below the largest. */
static bool all_finite(const float *t, size_t n)
{
    uint32_t worst = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &t[i], sizeof bits);
        bits &= 0x7fffffff;
        worst = bits > worst ? bits : worst;
    }
    return worst < 0x7f800000;
}

struct finishing {
    const struct image *im;
    bool decode;
    atomic_bool bad; /* some row has a texel that is not finite */
};

static void finish_row(void *ctx, size_t y, unsigned thread)
{
    (void)thread;
    struct finishing *f = ctx;
    const struct image *im = f->im;
    size_t n = (size_t)im->width * im->channels;
    float *t = (float *)im->texels + y * n;
    for (size_t i = 0; f->decode && i < n; i++)
        if (!(im->channels == 4 && i % 4 == 3))
            t[i] = (float)srgb_decode((double)t[i]);
    if (!all_finite(t, n))
        atomic_store(&f->bad, true);
}

/* Float texels must be numbers; encoded ones become light where the caller says that they are. */
static enum status finish(const struct image_source *s, bool decode, struct image *im)
{
    if (im->format == TEXEL_U8) {
        if (s->space != COLOR_AUTO)
            im->srgb = s->space == COLOR_SRGB;
        return STATUS_OK;
    }
    struct finishing f = {.im = im, .decode = decode};
    static const size_t worth = (size_t)1 << 20; /* texels: threads take a while to start */
    size_t row = (size_t)im->width * im->channels;
    parallel_for(im->height, row * im->height < worth ? 1 : 0, finish_row, &f);
    if (!atomic_load(&f.bad))
        return STATUS_OK;
    const float *t = im->texels;
    size_t i = 0;
    while (isfinite(t[i]))
        i++;
    return image_fault(s, STATUS_TYPE, "the texel at column %zu, row %zu is not a finite number",
                       i % row / im->channels, i / row);
}

enum status image_read_memory_as(struct arena *a, const void *data, size_t size, const char *name,
                                 enum color_space space, struct image *out, struct error *err)
{
    static const struct {
        bool (*recognise)(const unsigned char *, size_t);
        enum status (*read)(const struct image_source *, struct image *);
        bool linear; /* float texels come as the file has them; PNG's 16 bits are decoded already */
    } formats[] = {{exr_recognise, exr_read, true},
                   {hdr_recognise, hdr_read, true},
                   {png_recognise, png_read, false},
                   {jpeg_recognise, jpeg_read, false},
                   {tga_recognise, tga_read, false}};
    struct image_source s = {
        .arena = a, .data = data, .size = size, .name = name, .space = space, .err = err};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (!formats[i].recognise(s.data, size))
            continue;
        struct image im;
        enum status status = formats[i].read(&s, &im);
        if (status == STATUS_OK)
            status = finish(&s, formats[i].linear && space == COLOR_SRGB, &im);
        if (status == STATUS_OK)
            *out = im;
        return status;
    }
    return image_fault(&s, STATUS_TYPE, "%s, expected EXR, Radiance HDR, PNG, JPEG or TGA",
                       size ? "its format is not known" : "the file is empty");
}

enum status image_read_as(struct arena *a, const char *path, enum color_space space,
                          struct image *out, struct error *err)
{
    struct arena scratch = {0};
    char *data;
    size_t size;
    enum status s = file_read(&scratch, path, 0, &data, &size, err);
    if (s == STATUS_OK)
        s = image_read_memory_as(a, data, size, path, space, out, err);
    arena_free(&scratch);
    return s;
}

enum status image_read(struct arena *a, const char *path, struct image *out, struct error *err)
{
    return image_read_as(a, path, COLOR_AUTO, out, err);
}

enum status image_read_memory(struct arena *a, const void *data, size_t size, const char *name,
                              struct image *out, struct error *err)
{
    return image_read_memory_as(a, data, size, name, COLOR_AUTO, out, err);
}

enum status image_to_rgb32f(struct arena *a, const struct image *in, struct image *out)
{
    size_t n = (size_t)in->width * in->height;
    float *to = arena_alloc(a, n, 3 * sizeof *to, 16);
    if (!to)
        return STATUS_MEMORY;
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < 3; c++) {
            size_t at = i * in->channels + (in->channels == 1 ? 0 : c);
            double v;
            if (in->format == TEXEL_F32) {
                v = (double)((const float *)in->texels)[at];
            } else {
                v = (double)((const unsigned char *)in->texels)[at] / 255;
                v = in->srgb ? srgb_decode(v) : v;
            }
            to[3 * i + c] = v > 0 ? (float)v : 0;
        }
    *out = (struct image){
        .width = in->width, .height = in->height, .channels = 3, .format = TEXEL_F32, .texels = to};
    return STATUS_OK;
}

void image_largest(const struct image *im, double largest[3])
{
    size_t count = (size_t)im->width * im->height;
    for (uint32_t c = 0; c < 3; c++) {
        uint32_t channel = im->channels < 3 ? 0 : c;
        largest[c] = 0;
        if (im->format == TEXEL_U8) {
            const uint8_t *t = im->texels;
            uint8_t most = 0;
            for (size_t i = 0; i < count; i++)
                most = t[i * im->channels + channel] > most ? t[i * im->channels + channel] : most;
            largest[c] = im->srgb ? srgb_decode(most / 255.0) : most / 255.0;
        } else {
            const float *t = im->texels;
            for (size_t i = 0; i < count; i++)
                largest[c] = fmax(largest[c], (double)t[i * im->channels + channel]);
        }
    }
}
