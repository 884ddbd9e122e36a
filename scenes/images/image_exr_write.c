/* SPDX-License-Identifier: Apache-2.0 */
/* OpenEXR through OpenEXRCore's C API, to memory. */
#include "images.h"

#include <stdlib.h>
#include <string.h>

#include <openexr.h>

/* A file in memory that is written at offsets. */
struct exr_output {
    unsigned char *data;
    size_t size, cap;
    char complaint[256];
};

static int64_t output_write(exr_const_context_t ctxt, void *userdata, const void *buffer,
                            uint64_t size, uint64_t offset, exr_stream_error_func_ptr_t error_cb)
{
    (void)ctxt;
    (void)error_cb;
    struct exr_output *o = userdata;
    uint64_t end = offset + size;
    if (end > o->cap) {
        size_t cap = o->cap ? o->cap : 1 << 16;
        while (cap < end)
            cap *= 2;
        unsigned char *p = realloc(o->data, cap);
        if (!p)
            return -1;
        memset(p + o->cap, 0, cap - o->cap);
        o->data = p;
        o->cap = cap;
    }
    memcpy(o->data + offset, buffer, size);
    if (end > o->size)
        o->size = end;
    return (int64_t)size;
}

static void output_error(exr_const_context_t ctxt, exr_result_t code, const char *msg)
{
    void *user = NULL;
    (void)code;
    if (ctxt && exr_get_user_data(ctxt, &user) == EXR_ERR_SUCCESS && user && msg)
        snprintf(((struct exr_output *)user)->complaint, 256, "%s", msg);
}

static exr_result_t write_header(exr_context_t ctxt, uint32_t width, uint32_t height,
                                 const struct image_channel *channels, size_t count,
                                 const char *const *attributes)
{
    int part;
    exr_result_t e = exr_add_part(ctxt, "isophote", EXR_STORAGE_SCANLINE, &part);
    if (e == EXR_ERR_SUCCESS)
        e = exr_initialize_required_attr_simple(ctxt, part, (int32_t)width, (int32_t)height,
                                                EXR_COMPRESSION_ZIP);
    for (size_t i = 0; e == EXR_ERR_SUCCESS && i < count; i++)
        e = exr_add_channel(ctxt, part, channels[i].name, EXR_PIXEL_FLOAT,
                            EXR_PERCEPTUALLY_LOGARITHMIC, 1, 1);
    for (size_t i = 0; e == EXR_ERR_SUCCESS && attributes && attributes[i]; i += 2)
        e = exr_attr_set_string(ctxt, part, attributes[i], attributes[i + 1]);
    return e == EXR_ERR_SUCCESS ? exr_write_header(ctxt) : e;
}

/* A chunk that is as long packed as unpacked is read as plain pixels, by every reader; OpenEXRCore
 * 3.1.5 writes the packed bytes of one that comes out at just that length. */
static exr_result_t compress_chunk(exr_encode_pipeline_t *pipe)
{
    exr_result_t (*const *zip)(exr_encode_pipeline_t *) = pipe->encoding_user_data;
    exr_result_t e = (*zip)(pipe);
    if (e == EXR_ERR_SUCCESS && pipe->compressed_bytes == pipe->packed_bytes)
        memcpy(pipe->compressed_buffer, pipe->packed_buffer, pipe->packed_bytes);
    return e;
}

static exr_result_t write_pixels(exr_context_t ctxt, uint32_t width, uint32_t height,
                                 const struct image_channel *channels, size_t count)
{
    exr_encode_pipeline_t pipe = {0};
    exr_result_t (*zip)(exr_encode_pipeline_t *) = NULL;
    int32_t lines;
    bool started = false;
    exr_result_t e = exr_get_scanlines_per_chunk(ctxt, 0, &lines);
    for (uint32_t y = 0; e == EXR_ERR_SUCCESS && y < height; y += (uint32_t)lines) {
        exr_chunk_info_t chunk;
        e = exr_write_scanline_chunk_info(ctxt, 0, (int)y, &chunk);
        if (e == EXR_ERR_SUCCESS)
            e = started ? exr_encoding_update(ctxt, 0, &chunk, &pipe)
                        : exr_encoding_initialize(ctxt, 0, &chunk, &pipe);
        if (e != EXR_ERR_SUCCESS)
            break;
        for (int16_t c = 0; c < pipe.channel_count; c++) { /* in the file's order, by name */
            exr_coding_channel_info_t *to = &pipe.channels[c];
            size_t i = 0;
            while (i < count && strcmp(channels[i].name, to->channel_name) != 0)
                i++;
            if (i == count)
                continue;
            to->user_data_type = EXR_PIXEL_FLOAT;
            to->user_bytes_per_element = sizeof(float);
            to->user_pixel_stride = (int32_t)(channels[i].stride * sizeof(float));
            to->user_line_stride = (int32_t)(channels[i].stride * sizeof(float) * width);
            to->encode_from_ptr =
                (const uint8_t *)(channels[i].values + (size_t)y * width * channels[i].stride);
        }
        if (!started) {
            e = exr_encoding_choose_default_routines(ctxt, 0, &pipe);
            zip = pipe.compress_fn;
            pipe.compress_fn = compress_chunk;
            pipe.encoding_user_data = &zip;
        }
        started = true;
        if (e == EXR_ERR_SUCCESS)
            e = exr_encoding_run(ctxt, 0, &pipe);
    }
    if (started)
        exr_encoding_destroy(ctxt, &pipe);
    return e;
}

enum status image_write_exr(const char *path, uint32_t width, uint32_t height,
                            const struct image_channel *channels, size_t count,
                            const char *const *attributes, struct error *err)
{
    if (width == 0 || height == 0 || width > IMAGE_SIDE_MAX || height > IMAGE_SIDE_MAX ||
        count == 0)
        return error_msg(err, STATUS_ARG,
                         "cannot write %s: %ux%u pixels with %zu channels, expected 1 to %d pixels "
                         "a side and at least one channel",
                         path, width, height, count, IMAGE_SIDE_MAX);
    struct exr_output out = {0};
    exr_context_initializer_t init = EXR_DEFAULT_CONTEXT_INITIALIZER;
    init.user_data = &out;
    init.write_fn = output_write;
    init.error_handler_fn = output_error;
    exr_context_t ctxt = NULL;
    exr_result_t e = exr_start_write(&ctxt, path, EXR_WRITE_FILE_DIRECTLY, &init);
    if (e == EXR_ERR_SUCCESS)
        e = write_header(ctxt, width, height, channels, count, attributes);
    if (e == EXR_ERR_SUCCESS)
        e = write_pixels(ctxt, width, height, channels, count);
    exr_result_t finish = exr_finish(&ctxt);
    if (e == EXR_ERR_SUCCESS)
        e = finish;
    enum status s =
        e == EXR_ERR_SUCCESS
            ? file_write(path, out.data, out.size, err)
            : error_msg(err, e == EXR_ERR_OUT_OF_MEMORY ? STATUS_MEMORY : STATUS_ARG,
                        "cannot encode %s: %s", path,
                        out.complaint[0] ? out.complaint : exr_get_error_code_as_string(e));
    free(out.data);
    return s;
}
