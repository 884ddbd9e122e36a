/* SPDX-License-Identifier: Apache-2.0 */
/* EXR through OpenEXR's C++ library: DWA, which OpenEXRCore 3.1.5 does not read, and PIZ, for which
 * it takes twice as long. */
#include "images.h"

#include <atomic>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include <Iex.h>
#include <ImfFrameBuffer.h>
#include <ImfHeader.h>
#include <ImfIO.h>
#include <ImfInputPart.h>
#include <ImfMultiPartInputFile.h>
#include <ImfTileDescription.h>
#include <ImfTiledInputPart.h>

namespace
{

class source_stream : public Imf::IStream
{
  public:
    explicit source_stream(const image_source *s) : Imf::IStream(s->name), source(s) {}

    bool read(char to[], int n) override
    {
        if (n < 0 || uint64_t(n) > source->size - at)
            throw Iex::InputExc("Unexpected end of file.");
        if (source->data)
            std::memcpy(to, source->data + at, size_t(n));
        else if (file_read_at(source->file, to, size_t(n), at) != n)
            throw Iex::IoExc("The file cannot be read.");
        at += uint64_t(n);
        return at < source->size;
    }

    uint64_t tellg() override { return at; }
    void seekg(uint64_t to) override { at = to < source->size ? to : source->size; }

  private:
    const image_source *source;
    uint64_t at = 0; /* at most its size */
};

Imf::FrameBuffer frame(const char *const names[4], const image *im, const Imath::Box2i &window)
{
    size_t value = texel_size(im->format), pixel = value * im->channels;
    Imf::FrameBuffer to;
    if (int64_t(window.max.x) - window.min.x + 1 != im->width ||
        int64_t(window.max.y) - window.min.y + 1 != im->height)
        throw Iex::InputExc("The data window is not what the header said.");
    for (uint32_t k = 0; k < im->channels; k++)
        if (names[k])
            to.insert(names[k], Imf::Slice::Make(im->format == TEXEL_F16 ? Imf::HALF : Imf::FLOAT,
                                                 static_cast<char *>(im->texels) + k * value,
                                                 window, pixel, pixel * im->width));
    return to;
}

/* What one thread reads with. */
class reader
{
  public:
    reader(const image_source *s, const char *const names[4], const image *im)
        : stream(s), file(stream, 0, false), part(file, int(s->part)),
          window(part.header().dataWindow())
    {
        part.setFrameBuffer(frame(names, im, window));
    }

    /* What is packed together, or a good part of the work: 256 lines are a chunk of DWAB. */
    int lines() const
    {
        const Imf::Header &h = part.header();
        return h.hasTileDescription() ? int(h.tileDescription().ySize) : 256;
    }

    void read(int64_t from, int64_t count)
    {
        int64_t first = window.min.y + from, last = first + count - 1;
        part.readPixels(int(first), int(last < window.max.y ? last : window.max.y));
    }

  private:
    source_stream stream;
    Imf::MultiPartInputFile file;
    Imf::InputPart part;
    const Imath::Box2i window;
};

struct reading {
    const image_source *source;
    const char *const *names;
    const image *im;
    int lines;                                    /* of a band */
    std::vector<std::unique_ptr<reader>> readers; /* by thread; NULL before its first band */
    std::atomic<bool> failed;
    std::mutex lock;
    std::exception_ptr failure; /* the first */
};

void read_band(void *context, size_t i, unsigned thread)
{
    reading *r = static_cast<reading *>(context);
    try {
        std::unique_ptr<reader> &own = r->readers[thread];
        if (r->failed)
            return;
        if (!own)
            own.reset(new reader(r->source, r->names, r->im));
        own->read(int64_t(i) * r->lines, r->lines);
    } catch (...) {
        std::lock_guard<std::mutex> hold(r->lock);
        if (!r->failed.exchange(true))
            r->failure = std::current_exception();
    }
}

/* Threads of ours, each with the file for itself: the library's own are one setting of the process. */
void read_pixels(const image_source *s, const char *const names[4], const image *im)
{
    static const size_t worth = size_t(1) << 20; /* pixels: threads take a while to start */
    unsigned threads = size_t(im->width) * im->height < worth ? 1 : parallel_threads();
    std::unique_ptr<reader> first(new reader(s, names, im));
    reading r{};
    r.source = s;
    r.names = names;
    r.im = im;
    r.lines = first->lines();
    r.readers.resize(threads);
    r.readers[0] = std::move(first);
    parallel_for((im->height - 1) / uint32_t(r.lines) + 1, threads, read_band, &r);
    if (r.failed)
        std::rethrow_exception(r.failure);
}

/* A level below the image: a quarter of its work at most. */
void read_level(const image_source *s, const char *const names[4], const image *im)
{
    source_stream stream(s);
    Imf::MultiPartInputFile file(stream, 0, false);
    Imf::TiledInputPart part(file, int(s->part));
    int level = int(s->level);
    part.setFrameBuffer(frame(names, im, part.dataWindowForLevel(level)));
    part.readTiles(0, part.numXTiles(level) - 1, 0, part.numYTiles(level) - 1, level);
}

} // namespace

enum status exr_read_by_imf(const struct image_source *s, const char *const names[4],
                            struct image *im)
{
    try {
        (s->level > 0 ? read_level : read_pixels)(s, names, im);
        return STATUS_OK;
    } catch (const std::bad_alloc &) {
        return image_fault(s, STATUS_MEMORY, "out of memory");
    } catch (const std::exception &e) {
        /* 'Cannot read image file "a.exr". Early end of file ...': without the name */
        const char *named = std::strstr(e.what(), "\". ");
        return image_fault(s, STATUS_PARSE, "its pixels cannot be read: %s",
                           named ? named + 3 : e.what());
    }
}
