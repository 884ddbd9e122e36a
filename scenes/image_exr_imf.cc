/* EXR through OpenEXR's C++ library: DWA, which OpenEXRCore 3.1.5 does not read, and PIZ, for which
 * it takes twice as long. */
#include "image_format.h"

#include <cstring>
#include <exception>
#include <mutex>
#include <new>

#include <Iex.h>
#include <ImfFrameBuffer.h>
#include <ImfHeader.h>
#include <ImfIO.h>
#include <ImfInputPart.h>
#include <ImfMultiPartInputFile.h>
#include <ImfThreading.h>

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

/* The library's threads, which all files share: there while somebody reads a large one. */
class library_threads
{
  public:
    explicit library_threads(bool worth) : count(worth ? int(parallel_threads()) : 0)
    {
        std::lock_guard<std::mutex> hold(lock);
        if (count > 0 && users++ == 0)
            Imf::setGlobalThreadCount(count);
    }
    ~library_threads()
    {
        std::lock_guard<std::mutex> hold(lock);
        if (count > 0 && --users == 0)
            Imf::setGlobalThreadCount(0);
    }
    library_threads(const library_threads &) = delete;
    library_threads &operator=(const library_threads &) = delete;

    const int count;

  private:
    static std::mutex lock;
    static int users;
};

std::mutex library_threads::lock;
int library_threads::users;

void read_pixels(const image_source *s, const char *const names[4], const image *im)
{
    source_stream stream(s);
    /* pixels: threads take a while to start */
    library_threads threads(size_t(im->width) * im->height >= size_t(1) << 20);
    Imf::MultiPartInputFile file(stream, threads.count, false);
    Imf::InputPart part(file, 0);
    Imath::Box2i window = part.header().dataWindow();
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
    part.setFrameBuffer(to);
    part.readPixels(window.min.y, window.max.y);
}

} // namespace

enum status exr_read_by_imf(const struct image_source *s, const char *const names[4],
                            struct image *im)
{
    try {
        read_pixels(s, names, im);
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
