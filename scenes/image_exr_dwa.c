/* EXR files compressed with DWAA or DWAB, which OpenEXRCore before 3.2 cannot decode: through the C
 * functions of the C++ library, which reads pixels as half RGBA. Nothing is lost: DWA itself keeps
 * colours as half. Those functions open files by name only, so the bytes are given a name in
 * memory. */
#define _GNU_SOURCE
#include "image_format.h"

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
static void put_row(struct image *im, uint32_t y, const ImfRgba *row)
{
    float *to = (float *)im->texels + (size_t)y * im->width * im->channels;
    for (uint32_t x = 0; x < im->width; x++) {
        float rgba[4];
        ImfHalfToFloatArray(4, (const ImfHalf *)&row[x], rgba);
        memcpy(to + (size_t)x * im->channels, rgba, im->channels * sizeof *rgba);
    }
}

static enum status read_pixels(const struct image_source *s, ImfInputFile *in, struct image *im)
{
    int x0, y0, x1, y1;
    ImfHeaderDataWindow(ImfInputHeader(in), &x0, &y0, &x1, &y1);
    if ((int64_t)x1 - x0 + 1 != im->width || (int64_t)y1 - y0 + 1 != im->height)
        return image_fault(s, STATUS_PARSE, "its data window is not what its header said");
    struct arena scratch = {0};
    ImfRgba *pixels = arena_alloc(&scratch, (size_t)im->width * im->height, sizeof *pixels, 0);
    enum status status = STATUS_OK;
    if (!pixels) {
        status = image_fault(s, STATUS_MEMORY, "out of memory");
    } else {
        /* the library adds x + y * width of the data window's coordinates to the base */
        uintptr_t origin = (uintptr_t)((int64_t)x0 + (int64_t)y0 * im->width) * sizeof *pixels;
        ImfRgba *base = (ImfRgba *)((uintptr_t)pixels - origin);
        if (!ImfInputSetFrameBuffer(in, base, 1, im->width) || !ImfInputReadPixels(in, y0, y1))
            status = dwa_fault(s);
    }
    for (uint32_t y = 0; status == STATUS_OK && y < im->height; y++)
        put_row(im, y, pixels + (size_t)y * im->width);
    arena_free(&scratch);
    return status;
}

enum status exr_read_dwa(const struct image_source *s, struct image *im)
{
    char path[64];
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
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ImfInputFile *in = status == STATUS_OK ? ImfOpenInputFile(path) : NULL;
    if (in) {
        status = read_pixels(s, in, im);
        ImfCloseInputFile(in);
    } else if (status == STATUS_OK) {
        status = dwa_fault(s);
    }
    close(fd);
    return status;
}
