/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory: the scene, the film, and copies to and from them. */
#include "level_zero.h"

#include <string.h>

enum status level_zero_alloc_error(const struct backend *b, ze_result_t code, const char *call,
                                   size_t size, const char *what, struct error *err)
{
    enum status s = ze_error(err, code, call);
    if (s != STATUS_MEMORY)
        return s;
    return error_msg(err, STATUS_LIMIT, "%s takes %zu bytes, which %s (%llu bytes) has not left",
                     what, size, b->info.name, (unsigned long long)b->info.global_bytes);
}

enum status level_zero_alloc(struct backend *b, size_t size, const char *what, void **out,
                             struct error *err)
{
    if (b->largest_alloc && size > b->largest_alloc)
        return error_msg(err, STATUS_LIMIT, "%s takes %zu bytes; %s gives at most %llu at once",
                         what, size, b->info.name, (unsigned long long)b->largest_alloc);
    ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    ze_result_t code = b->ze->MemAllocDevice(b->context, &desc, size, 64, b->device, out);
    if (code == ZE_RESULT_SUCCESS)
        return STATUS_OK;
    *out = NULL;
    return level_zero_alloc_error(b, code, "zeMemAllocDevice", size, what, err);
}

enum status level_zero_list_run(struct backend *b, struct error *err)
{
    const struct ze_api *ze = b->ze;
    const char *call = "zeCommandListClose";
    ze_result_t code = ze->CommandListClose(b->list);
    if (code == ZE_RESULT_SUCCESS) {
        call = "zeCommandQueueExecuteCommandLists";
        code = ze->CommandQueueExecuteCommandLists(b->queue, 1, &b->list, NULL);
    }
    if (code == ZE_RESULT_SUCCESS) {
        call = "zeCommandQueueSynchronize";
        code = ze->CommandQueueSynchronize(b->queue, UINT64_MAX);
    }
    ze_result_t reset = ze->CommandListReset(b->list);
    if (code == ZE_RESULT_SUCCESS && reset != ZE_RESULT_SUCCESS) {
        call = "zeCommandListReset";
        code = reset;
    }
    return code == ZE_RESULT_SUCCESS ? STATUS_OK : ze_error(err, code, call);
}

void level_zero_scene_release(struct backend *b)
{
    for (int i = 0; i < SCENE_BUFFER_COUNT; i++) {
        if (b->scene[i])
            b->ze->MemFree(b->context, b->scene[i]);
        b->scene[i] = NULL;
    }
}

enum status level_zero_upload(struct backend *b, const struct scene_buffers *buffers,
                              uint64_t *device_bytes, struct error *err)
{
    uint64_t bytes = 0;
    enum status s = STATUS_OK;
    ze_result_t code = ZE_RESULT_SUCCESS;
    level_zero_scene_release(b);
    for (int i = 0; i < SCENE_BUFFER_COUNT && s == STATUS_OK && code == ZE_RESULT_SUCCESS; i++) {
        size_t size = buffers->at[i].size;
        if (size == 0)
            continue;
        s = level_zero_alloc(b, size, "a buffer of the scene", &b->scene[i], err);
        if (s == STATUS_OK)
            code = b->ze->CommandListAppendMemoryCopy(b->list, b->scene[i], buffers->at[i].data,
                                                      size, NULL, 0, NULL);
        bytes += size;
    }
    enum status ran =
        level_zero_list_run(b, s == STATUS_OK && code == ZE_RESULT_SUCCESS ? err : NULL);
    if (s == STATUS_OK && code != ZE_RESULT_SUCCESS)
        s = ze_error(err, code, "zeCommandListAppendMemoryCopy");
    if (s == STATUS_OK)
        s = ran;
    if (s != STATUS_OK) {
        level_zero_scene_release(b);
        return s;
    }
    *device_bytes = bytes;
    return STATUS_OK;
}

enum status level_zero_film_begin(struct backend *b, size_t pixels, bool poison, struct error *err)
{
    size_t bytes = pixels * 4 * sizeof(int64_t);
    b->device_s = b->ticks_per_second ? 0.0 : -1.0;
    if (b->film_pixels < pixels) {
        if (b->film)
            b->ze->MemFree(b->context, b->film);
        b->film = NULL;
        b->film_pixels = 0;
        enum status s = level_zero_alloc(b, bytes, "the film", &b->film, err);
        if (s != STATUS_OK)
            return s;
        b->film_pixels = pixels;
    }
    const unsigned char pattern = poison ? 0xFF : 0;
    ze_result_t code = b->ze->CommandListAppendMemoryFill(b->list, b->film, &pattern,
                                                          sizeof pattern, bytes, NULL, 0, NULL);
    enum status s = level_zero_list_run(b, code == ZE_RESULT_SUCCESS ? err : NULL);
    return code == ZE_RESULT_SUCCESS ? s : ze_error(err, code, "zeCommandListAppendMemoryFill");
}

enum status level_zero_film_read(struct backend *b, int64_t *sums, size_t pixels, struct error *err)
{
    ze_result_t code = b->ze->CommandListAppendMemoryCopy(b->list, sums, b->film,
                                                          pixels * 4 * sizeof *sums, NULL, 0, NULL);
    enum status s = level_zero_list_run(b, code == ZE_RESULT_SUCCESS ? err : NULL);
    return code == ZE_RESULT_SUCCESS ? s : ze_error(err, code, "zeCommandListAppendMemoryCopy");
}
