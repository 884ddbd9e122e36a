/* SPDX-License-Identifier: Apache-2.0 */
/* WebP through libwebp: lossy and lossless, still pictures. */
#include "images.h"

#include <string.h>
#include <webp/decode.h>

bool webp_recognise(const unsigned char *data, size_t size)
{
    return size >= 12 && memcmp(data, "RIFF", 4) == 0 && memcmp(data + 8, "WEBP", 4) == 0;
}

static enum status damaged(const struct image_source *s, VP8StatusCode code)
{
    if (code == VP8_STATUS_OUT_OF_MEMORY)
        return image_fault(s, STATUS_MEMORY, "out of memory");
    return image_fault(s, STATUS_PARSE, "%s, expected a whole WebP file",
                       code == VP8_STATUS_NOT_ENOUGH_DATA || code == VP8_STATUS_SUSPENDED
                           ? "it ends too early"
                           : "its data are damaged");
}

enum status webp_read(const struct image_source *s, struct image *out)
{
    WebPDecoderConfig config;
    if (!WebPInitDecoderConfig(&config))
        return image_fault(s, STATUS_UNSUPPORTED, "this libwebp is of another version");
    VP8StatusCode code = WebPGetFeatures(s->data, s->size, &config.input);
    if (code != VP8_STATUS_OK)
        return damaged(s, code);
    if (config.input.has_animation)
        return image_fault(s, STATUS_UNSUPPORTED, "it is animated, expected one picture");
    struct image im;
    uint32_t channels = config.input.has_alpha ? 4 : 3;
    enum status status = image_allocate(s, (uint64_t)config.input.width,
                                        (uint64_t)config.input.height, channels, TEXEL_U8, &im);
    if (status != STATUS_OK)
        return status;
    size_t row = (size_t)im.width * channels;
    config.options.use_threads = 1; /* filters the last rows beside the next ones */
    config.output.colorspace = channels == 4 ? MODE_RGBA : MODE_RGB;
    config.output.is_external_memory = 1;
    config.output.u.RGBA = (WebPRGBABuffer){im.texels, (int)row, row * im.height};
    code = WebPDecode(s->data, s->size, &config);
    WebPFreeDecBuffer(&config.output);
    if (code != VP8_STATUS_OK)
        return damaged(s, code);
    im.srgb = true;
    *out = im;
    return STATUS_OK;
}
