/* SPDX-License-Identifier: Apache-2.0 */
/* The scene's buffers and the film on the device. */
#include "gpu.h"

#include <string.h>

static void buffers_release(struct backend *b, gpu_pointer at[SCENE_BUFFER_COUNT])
{
    for (int i = 0; i < SCENE_BUFFER_COUNT; i++) {
        if (at[i])
            b->driver->MemFree(at[i]);
        at[i] = 0;
    }
}

void gpu_scene_release(struct backend *b) { buffers_release(b, b->scene); }

enum status gpu_alloc(struct backend *b, size_t bytes, const char *what, gpu_pointer *out,
                      struct error *err)
{
    size_t free_bytes = 0, all = 0;
    gpu_result code = b->driver->MemGetInfo(&free_bytes, &all);
    if (code != GPU_OK)
        return gpu_error(err, b->driver, code, GPU_CALL_MemGetInfo);
    if (bytes > all)
        return error_msg(err, STATUS_LIMIT, "%s needs %zu bytes; %s has %zu", what, bytes,
                         b->info.name, all);
    code = b->driver->MemAlloc(out, bytes);
    if (code == GPU_OK)
        return STATUS_OK;
    *out = 0;
    enum status s = gpu_error(err, b->driver, code, GPU_CALL_MemAlloc);
    if (code == GPU_OUT_OF_MEMORY) {
        error_msg(err, s, "no memory for %s: %zu bytes, of which %s has %zu free", what, bytes,
                  b->info.name, free_bytes);
        if (err)
            err->native = code;
    }
    return s;
}

static const char *const buffer_text[SCENE_BUFFER_COUNT] = {
#define SCENE_BUFFER(name, ctype, text) text,
#include "device/buffers.def"
#undef SCENE_BUFFER
};

enum status gpu_upload(struct backend *b, const struct scene_buffers *buffers,
                       uint64_t *device_bytes, struct error *err)
{
    enum status s = gpu_select(b, err);
    if (s != STATUS_OK)
        return s;
    uint64_t total = 0;
    for (int i = 0; i < SCENE_BUFFER_COUNT; i++)
        total += buffers->at[i].size;
    /* The old scene goes first: two may not fit. */
    gpu_scene_release(b);
    for (int i = 0; s == STATUS_OK && i < SCENE_BUFFER_COUNT; i++) {
        size_t size = buffers->at[i].size;
        if (size == 0)
            continue;
        s = gpu_alloc(b, size, buffer_text[i], &b->scene[i], err);
        if (s != STATUS_OK)
            break;
        /* On the stream that launches use: a copy on stream 0 may return before it has arrived, and
         * this stream does not wait for that one. */
        gpu_result code =
            b->driver->MemcpyHtoDAsync(b->scene[i], buffers->at[i].data, size, b->stream);
        if (code != GPU_OK)
            s = gpu_error(err, b->driver, code, GPU_CALL_MemcpyHtoDAsync);
    }
    gpu_result code = b->driver->StreamSynchronize(b->stream);
    if (s == STATUS_OK && code != GPU_OK)
        s = gpu_error(err, b->driver, code, GPU_CALL_StreamSynchronize);
    if (s != STATUS_OK) {
        gpu_scene_release(b);
        return s;
    }
    *device_bytes = total;
    return STATUS_OK;
}

enum status gpu_film_begin(struct backend *b, size_t pixels, bool poison, struct error *err)
{
    const size_t pixel_bytes = 4 * sizeof(int64_t);
    enum status s = gpu_select(b, err);
    if (s != STATUS_OK)
        return s;
    if (pixels > b->film_pixels) {
        if (pixels > SIZE_MAX / pixel_bytes)
            return error_msg(err, STATUS_LIMIT, "a film of %zu pixels", pixels);
        gpu_pointer film = 0;
        s = gpu_alloc(b, pixels * pixel_bytes, "the film", &film, err);
        if (s != STATUS_OK)
            return s;
        if (b->film)
            b->driver->MemFree(b->film);
        b->film = film;
        b->film_pixels = pixels;
    }
    gpu_result code =
        b->driver->MemsetD8Async(b->film, poison ? 0xFF : 0, pixels * pixel_bytes, b->stream);
    if (code != GPU_OK)
        return gpu_error(err, b->driver, code, GPU_CALL_MemsetD8Async);
    code = b->driver->StreamSynchronize(b->stream);
    if (code != GPU_OK)
        return gpu_error(err, b->driver, code, GPU_CALL_StreamSynchronize);
    b->device_s = 0.0;
    return STATUS_OK;
}

/* Through two pinned pieces: while one is copied out of, the other is filled by the device. */
enum status gpu_film_read(struct backend *b, int64_t *sums, size_t pixels, struct error *err)
{
    enum status s = gpu_select(b, err);
    if (s != STATUS_OK)
        return s;
    for (int i = 0; i < 2; i++) {
        if (b->staging[i])
            continue;
        gpu_result code = b->driver->pinned_alloc(&b->staging[i], STAGING_BYTES);
        if (code != GPU_OK) {
            b->staging[i] = NULL;
            return gpu_error(err, b->driver, code, GPU_CALL_pinned_alloc);
        }
    }
    size_t bytes = pixels * 4 * sizeof(int64_t),
           pieces = (bytes + STAGING_BYTES - 1) / STAGING_BYTES;
    for (size_t i = 0; i <= pieces; i++) {
        if (i > 0) { /* piece i - 1 has arrived; take it out below, while piece i is on its way */
            gpu_result code = b->driver->StreamSynchronize(b->stream);
            if (code != GPU_OK)
                return gpu_error(err, b->driver, code, GPU_CALL_StreamSynchronize);
        }
        if (i < pieces) {
            size_t at = i * STAGING_BYTES;
            size_t size = bytes - at < STAGING_BYTES ? bytes - at : STAGING_BYTES;
            gpu_result code =
                b->driver->MemcpyDtoHAsync(b->staging[i % 2], b->film + at, size, b->stream);
            if (code != GPU_OK)
                return gpu_error(err, b->driver, code, GPU_CALL_MemcpyDtoHAsync);
        }
        if (i > 0) {
            size_t at = (i - 1) * STAGING_BYTES;
            size_t size = bytes - at < STAGING_BYTES ? bytes - at : STAGING_BYTES;
            memcpy((char *)sums + at, b->staging[(i - 1) % 2], size);
        }
    }
    return STATUS_OK;
}
