/* EXR files compressed with DWAA or DWAB, which OpenEXRCore before 3.2 cannot decode: through the C
 * functions of the C++ library, which reads pixels as half RGBA. Nothing is lost: DWA itself keeps
 * colours as half. Those functions open files by name only: an open file has one in /proc, and
 * bytes in memory are given one. */
#define _GNU_SOURCE
#include "image_format.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <ImfCRgbaFile.h>

static enum status dwa_fault(const struct image_source *s)
{
    /* 'Cannot read image file "/proc/self/fd/3". Early end of file ...': without the name */
    const char *why = ImfErrorMessage(), *named = strstr(why, "\". ");
    return image_fault(s, STATUS_PARSE, "its pixels cannot be read: %s", named ? named + 3 : why);
}

/* The pixels of one row, of which the image keeps one, three or four channels. */
static void put_row(const struct image *im, uint32_t y, const ImfRgba *row)
{
    size_t n = im->channels, at = (size_t)y * im->width * n;
    for (uint32_t x = 0; x < im->width; x++, at += n) {
        const ImfHalf rgba[4] = {row[x].r, row[x].g, row[x].b, row[x].a};
        if (im->format == TEXEL_F16)
            memcpy((uint16_t *)im->texels + at, rgba, n * sizeof *rgba);
        else
            ImfHalfToFloatArray((int)n, rgba, (float *)im->texels + at);
    }
}

/* What one thread reads with: the file once more, and room for some lines. */
struct dwa_reader {
    ImfInputFile *file;
    ImfRgba *lines; /* heap */
};

struct dwa_reading {
    const char *path;
    const struct image *im;
    uint32_t lines; /* of a band */
    struct dwa_reader *readers;
    atomic_bool failed;
};

static bool open_reader(const struct dwa_reading *d, struct dwa_reader *r)
{
    int x0, y0, x1, y1;
    if (r->lines)
        return true;
    if (!r->file && !(r->file = ImfOpenInputFile(d->path)))
        return false;
    ImfHeaderDataWindow(ImfInputHeader(r->file), &x0, &y0, &x1, &y1);
    if ((int64_t)x1 - x0 + 1 != d->im->width || (int64_t)y1 - y0 + 1 != d->im->height)
        return false;
    r->lines = malloc((size_t)d->lines * d->im->width * sizeof *r->lines);
    return r->lines != NULL;
}

static bool read_band(const struct dwa_reading *d, struct dwa_reader *r, uint32_t from)
{
    const struct image *im = d->im;
    uint32_t n = im->height - from < d->lines ? im->height - from : d->lines;
    int x0, y0, x1, y1;
    if (!open_reader(d, r))
        return false;
    ImfHeaderDataWindow(ImfInputHeader(r->file), &x0, &y0, &x1, &y1);
    y0 += (int)from;
    /* the library adds x + y * width of the data window's coordinates to the base */
    uintptr_t origin = (uintptr_t)((int64_t)x0 + (int64_t)y0 * im->width) * sizeof *r->lines;
    ImfRgba *base = (ImfRgba *)((uintptr_t)r->lines - origin);
    if (!ImfInputSetFrameBuffer(r->file, base, 1, im->width) ||
        !ImfInputReadPixels(r->file, y0, y0 + (int)n - 1))
        return false;
    for (uint32_t y = 0; y < n; y++)
        put_row(im, from + y, r->lines + (size_t)y * im->width);
    return true;
}

static void close_reader(struct dwa_reader *r)
{
    if (r->file)
        ImfCloseInputFile(r->file);
    free(r->lines);
}

static void read_in_thread(void *ctx, size_t i, unsigned thread)
{
    struct dwa_reading *d = ctx;
    if (!atomic_load(&d->failed) && !read_band(d, &d->readers[thread], (uint32_t)i * d->lines))
        atomic_store(&d->failed, true);
}

/* Bands by threads in turn. What fails is read again by one, whose complaint is then the library's
 * last. */
static enum status read_pixels(const struct image_source *s, const char *path, uint32_t lines,
                               struct image *im)
{
    static const size_t worth = (size_t)1 << 20; /* pixels: threads take a while to start */
    struct dwa_reading d = {.path = path, .im = im};
    d.lines = lines < im->height ? lines : im->height;
    size_t bands = (im->height - 1) / d.lines + 1;
    unsigned threads = (size_t)im->width * im->height < worth ? 1 : parallel_threads();
    d.readers = calloc(threads, sizeof *d.readers);
    if (!d.readers)
        return image_fault(s, STATUS_MEMORY, "out of memory");
    if (threads > 1)
        parallel_for(bands, threads, read_in_thread, &d);
    if (threads == 1 || atomic_load(&d.failed)) {
        atomic_store(&d.failed, false);
        for (size_t i = 0; i < bands && !atomic_load(&d.failed); i++)
            read_in_thread(&d, i, 0);
    }
    enum status status = STATUS_OK;
    if (atomic_load(&d.failed))
        status = d.readers[0].file && !d.readers[0].lines
                     ? image_fault(s, STATUS_PARSE, "its data window is not what its header said")
                     : dwa_fault(s);
    for (unsigned t = 0; t < threads; t++)
        close_reader(&d.readers[t]);
    free(d.readers);
    return status;
}

static enum status read_open_file(const struct image_source *s, int fd, uint32_t lines,
                                  struct image *im)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return read_pixels(s, path, lines, im);
}

enum status exr_read_dwa(const struct image_source *s, uint32_t lines, struct image *im)
{
    if (!s->data)
        return read_open_file(s, s->file, lines, im);
    int fd = memfd_create("isophote-exr", MFD_CLOEXEC);
    if (fd < 0)
        return image_fault(s, STATUS_MEMORY, "cannot make a file in memory");
    enum status status = STATUS_OK;
    for (size_t at = 0; status == STATUS_OK && at < s->size;) {
        ssize_t n = write(fd, s->data + at, s->size - at);
        if (n <= 0)
            status = image_fault(s, STATUS_MEMORY, "cannot fill a file in memory");
        else
            at += (size_t)n;
    }
    if (status == STATUS_OK)
        status = read_open_file(s, fd, lines, im);
    close(fd);
    return status;
}
