/* SPDX-License-Identifier: Apache-2.0 */
/* The scene's buffers and the film on the device. */
#include "opencl.h"

#include <string.h>

enum status opencl_buffer(struct backend *b, cl_mem_flags flags, size_t size, const void *host,
                          const char *what, cl_mem *out, struct error *err)
{
    if (size > b->info.max_alloc_bytes)
        return error_msg(err, STATUS_LIMIT,
                         "%s needs %zu bytes; one buffer on %s holds at most %llu", what, size,
                         b->info.name, (unsigned long long)b->info.max_alloc_bytes);
    if (b->info.kind == DEVICE_CPU && !(flags & CL_MEM_USE_HOST_PTR)) /* it is ours */
        TRY(memory_plan(size, err, "%s on %s", what, b->info.id));
    cl_int code;
    /* A read-only view of host memory: OpenCL's parameter is not const, the buffer's flags are. */
    cl_mem m = b->cl->CreateBuffer(b->context, flags, size, (void *)(uintptr_t)host, &code);
    if (code != CL_SUCCESS) {
        enum status s = cl_error(err, code, "clCreateBuffer");
        if (err && s == STATUS_MEMORY)
            error_msg(err, s, "no memory for %s: %zu bytes; %s has %llu in all (%s)", what, size,
                      b->info.name, (unsigned long long)b->info.global_bytes, cl_code_name(code));
        return s;
    }
    *out = m;
    return STATUS_OK;
}

static void buffers_release(struct backend *b, cl_mem at[SCENE_BUFFER_COUNT])
{
    for (int i = 0; i < SCENE_BUFFER_COUNT; i++) {
        if (at[i])
            b->cl->ReleaseMemObject(at[i]);
        at[i] = NULL;
    }
}

void opencl_scene_release(struct backend *b) { buffers_release(b, b->scene); }

static const char *const buffer_text[SCENE_BUFFER_COUNT] = {
#define SCENE_BUFFER(name, ctype, text) text,
#include "device/buffers.def"
#undef SCENE_BUFFER
};

enum status opencl_upload(struct backend *b, const struct scene_buffers *buffers,
                          uint64_t *device_bytes, struct error *err)
{
    uint64_t total = 0;
    for (int i = 0; i < SCENE_BUFFER_COUNT; i++)
        total += buffers->at[i].size;
    cl_mem made[SCENE_BUFFER_COUNT] = {NULL};
    enum status s = STATUS_OK;
    for (int i = 0; s == STATUS_OK && i < SCENE_BUFFER_COUNT; i++) {
        size_t size = buffers->at[i].size;
        if (size == 0)
            continue;
        const void *data = buffers->at[i].data;
        if (b->shares_memory) {
            s = opencl_buffer(b, CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR, size, data, buffer_text[i],
                              &made[i], err);
            continue;
        }
        s = opencl_buffer(b, CL_MEM_READ_ONLY, size, NULL, buffer_text[i], &made[i], err);
        if (s != STATUS_OK)
            break;
        cl_int code =
            b->cl->EnqueueWriteBuffer(b->queue, made[i], CL_FALSE, 0, size, data, 0, NULL, NULL);
        if (code != CL_SUCCESS) { /* drivers may find the memory when it is first written */
            s = cl_error(err, code, "clEnqueueWriteBuffer");
            if (s == STATUS_MEMORY)
                error_msg(err, s, "no memory for the scene: %llu bytes; %s has %llu in all (%s)",
                          (unsigned long long)total, b->info.name,
                          (unsigned long long)b->info.global_bytes, cl_code_name(code));
        }
    }
    cl_int code = b->cl->Finish(b->queue);
    if (s == STATUS_OK && code != CL_SUCCESS)
        s = cl_error(err, code, "clFinish");
    if (s != STATUS_OK) {
        buffers_release(b, made);
        return s;
    }
    opencl_scene_release(b);
    memcpy(b->scene, made, sizeof made);
    *device_bytes = total;
    return STATUS_OK;
}

enum status opencl_film_begin(struct backend *b, size_t pixels, bool poison, struct error *err)
{
    const size_t pixel_bytes = 4 * sizeof(int64_t);
    if (pixels > b->film_pixels) {
        cl_mem film = NULL;
        enum status s =
            opencl_buffer(b, CL_MEM_READ_WRITE, pixels * pixel_bytes, NULL, "the film", &film, err);
        if (s != STATUS_OK)
            return s;
        if (b->film)
            b->cl->ReleaseMemObject(b->film);
        b->film = film;
        b->film_pixels = pixels;
    }
    const uint8_t byte = poison ? 0xFF : 0;
    uint8_t pattern[16];
    memset(pattern, byte, sizeof pattern);
    cl_int code = b->cl->EnqueueFillBuffer(b->queue, b->film, pattern, sizeof pattern, 0,
                                           pixels * pixel_bytes, 0, NULL, NULL);
    if (code != CL_SUCCESS)
        return cl_error(err, code, "clEnqueueFillBuffer");
    code = b->cl->Finish(b->queue);
    if (code != CL_SUCCESS)
        return cl_error(err, code, "clFinish");
    b->device_s = 0.0;
    return STATUS_OK;
}

enum status opencl_film_read(struct backend *b, int64_t *sums, size_t pixels, struct error *err)
{
    cl_int code = b->cl->EnqueueReadBuffer(b->queue, b->film, CL_TRUE, 0,
                                           pixels * 4 * sizeof(int64_t), sums, 0, NULL, NULL);
    return code == CL_SUCCESS ? STATUS_OK : cl_error(err, code, "clEnqueueReadBuffer");
}
