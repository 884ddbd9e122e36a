/* SPDX-License-Identifier: Apache-2.0 */
/* The Level Zero driver in software, called through the real loader with its validation layer:
 * right programs run, and each mistake that a host program can make is found. */
#include "base.h"

#include <level_zero/ze_api.h>

#include <dlfcn.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define FUNCTIONS(X)                                                                               \
    X(Init)                                                                                        \
    X(DriverGet)                                                                                   \
    X(DeviceGet)                                                                                   \
    X(ContextCreate)                                                                               \
    X(ContextDestroy)                                                                              \
    X(CommandQueueCreate)                                                                          \
    X(CommandQueueDestroy)                                                                         \
    X(CommandQueueExecuteCommandLists)                                                             \
    X(CommandQueueSynchronize)                                                                     \
    X(CommandListCreate)                                                                           \
    X(CommandListCreateImmediate)                                                                  \
    X(CommandListDestroy)                                                                          \
    X(CommandListClose)                                                                            \
    X(CommandListReset)                                                                            \
    X(CommandListAppendBarrier)                                                                    \
    X(CommandListAppendMemoryCopy)                                                                 \
    X(CommandListAppendMemoryFill)                                                                 \
    X(CommandListAppendLaunchKernel)                                                               \
    X(CommandListAppendSignalEvent)                                                                \
    X(CommandListAppendWaitOnEvents)                                                               \
    X(EventPoolCreate)                                                                             \
    X(EventPoolDestroy)                                                                            \
    X(EventCreate)                                                                                 \
    X(EventDestroy)                                                                                \
    X(EventHostSignal)                                                                             \
    X(EventHostReset)                                                                              \
    X(EventHostSynchronize)                                                                        \
    X(EventQueryStatus)                                                                            \
    X(EventQueryKernelTimestamp)                                                                   \
    X(FenceCreate)                                                                                 \
    X(FenceDestroy)                                                                                \
    X(FenceHostSynchronize)                                                                        \
    X(MemAllocDevice)                                                                              \
    X(MemAllocShared)                                                                              \
    X(MemFree)                                                                                     \
    X(MemGetAllocProperties)                                                                       \
    X(ModuleCreate)                                                                                \
    X(ModuleDestroy)                                                                               \
    X(ModuleBuildLogGetString)                                                                     \
    X(ModuleBuildLogDestroy)                                                                       \
    X(ModuleGetKernelNames)                                                                        \
    X(KernelCreate)                                                                                \
    X(KernelDestroy)                                                                               \
    X(KernelSetGroupSize)                                                                          \
    X(KernelSetArgumentValue)
static struct { /* NOLINTBEGIN(bugprone-macro-parentheses): declarators */
#define X(name) __typeof__(ze##name) *name;
    FUNCTIONS(X)
#undef X
} ze; /* NOLINTEND(bugprone-macro-parentheses) */

#define OK(call)                                                                                   \
    do {                                                                                           \
        ze_result_t code_ = (call);                                                                \
        if (code_ != ZE_RESULT_SUCCESS)                                                            \
            fail_msg(#call ": 0x%x", (unsigned)code_);                                             \
    } while (0)

static ze_driver_handle_t driver;
static ze_device_handle_t device;
static ze_context_handle_t context;
static ze_module_handle_t module;
static char findings_path[64];

/* ---- findings ------------------------------------------------------------------------------- */

static size_t findings_read; /* bytes of the file that were looked at */

/* What was found since the last call, in the arena. */
static const char *findings_new(struct arena *a)
{
    char *data = NULL;
    size_t size = 0;
    if (file_read(a, findings_path, 0, &data, &size, NULL) != STATUS_OK || size == findings_read)
        return "";
    const char *fresh = data + findings_read;
    findings_read = size;
    return fresh;
}
static void found_nothing(void)
{
    struct arena a = {0};
    const char *text = findings_new(&a);
    if (*text)
        fail_msg("found: %s", text);
    arena_free(&a);
}
static void found(const char *part)
{
    struct arena a = {0};
    const char *text = findings_new(&a);
    if (!strstr(text, part))
        fail_msg("\"%s\" was expected; found: %s", part, *text ? text : "nothing");
    arena_free(&a);
}

/* ---- small helpers -------------------------------------------------------------------------- */

static ze_command_queue_handle_t queue_open(void)
{
    ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                    .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    ze_command_queue_handle_t q;
    OK(ze.CommandQueueCreate(context, device, &desc, &q));
    return q;
}
static ze_command_list_handle_t list_open(void)
{
    ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    ze_command_list_handle_t l;
    OK(ze.CommandListCreate(context, device, &desc, &l));
    return l;
}
static void execute(ze_command_queue_handle_t q, ze_command_list_handle_t l)
{
    OK(ze.CommandListClose(l));
    OK(ze.CommandQueueExecuteCommandLists(q, 1, &l, NULL));
}
static void *device_memory(size_t size)
{
    ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    void *p = NULL;
    OK(ze.MemAllocDevice(context, &desc, size, 64, device, &p));
    return p;
}
static ze_kernel_handle_t kernel_open(const char *name, uint32_t group)
{
    ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
    ze_kernel_handle_t k;
    OK(ze.KernelCreate(module, &desc, &k));
    OK(ze.KernelSetGroupSize(k, group, 1, 1));
    return k;
}
static ze_event_pool_handle_t events_open(ze_event_handle_t *events, uint32_t count)
{
    ze_event_pool_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                 .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE |
                                          ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP,
                                 .count = count};
    ze_event_pool_handle_t pool;
    OK(ze.EventPoolCreate(context, &desc, 1, &device, &pool));
    for (uint32_t i = 0; i < count; i++) {
        ze_event_desc_t event = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC, .index = i};
        OK(ze.EventCreate(pool, &event, &events[i]));
    }
    return pool;
}

/* sum_all over 16 numbers of `in` into `out`. */
static void sum_append(ze_command_list_handle_t l, ze_kernel_handle_t k, void *in, void *out,
                       ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits)
{
    const int32_t n = 16;
    const ze_group_count_t one = {1, 1, 1};
    OK(ze.KernelSetArgumentValue(k, 0, sizeof in, &in));
    OK(ze.KernelSetArgumentValue(k, 1, sizeof out, &out));
    OK(ze.KernelSetArgumentValue(k, 2, sizeof n, &n));
    OK(ze.CommandListAppendLaunchKernel(l, k, &one, signal, wait_count, waits));
}
static const int32_t numbers[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

/* ---- right programs ------------------------------------------------------------------------- */

static void barriers_order_commands(void **state)
{
    (void)state;
    ze_command_queue_handle_t q = queue_open();
    ze_command_list_handle_t l = list_open();
    ze_kernel_handle_t k = kernel_open("sum_all", 1);
    void *in = device_memory(64), *out = device_memory(4);
    int32_t got = 0;
    OK(ze.CommandListAppendMemoryCopy(l, in, numbers, 64, NULL, 0, NULL));
    OK(ze.CommandListAppendBarrier(l, NULL, 0, NULL));
    sum_append(l, k, in, out, NULL, 0, NULL);
    OK(ze.CommandListAppendBarrier(l, NULL, 0, NULL));
    OK(ze.CommandListAppendMemoryCopy(l, &got, out, 4, NULL, 0, NULL));
    execute(q, l);
    OK(ze.CommandQueueSynchronize(q, UINT64_MAX));
    assert_int_equal(got, 136);
    OK(ze.CommandListReset(l));
    OK(ze.CommandListDestroy(l));
    OK(ze.CommandQueueDestroy(q));
    OK(ze.KernelDestroy(k));
    OK(ze.MemFree(context, in));
    OK(ze.MemFree(context, out));
    found_nothing();
}

static void events_order_queues_and_tell_times(void **state)
{
    (void)state;
    ze_event_handle_t e[3];
    ze_event_pool_handle_t pool = events_open(e, 3);
    ze_command_queue_handle_t a = queue_open(), b = queue_open();
    ze_command_list_handle_t la = list_open(), lb = list_open();
    ze_kernel_handle_t k = kernel_open("sum_all", 1);
    void *in = device_memory(64), *out = device_memory(4);
    int32_t got = 0;
    /* The reader is executed first: it waits for the writer, which waits for the host. */
    sum_append(lb, k, in, out, e[1], 1, &e[0]);
    OK(ze.CommandListAppendMemoryCopy(lb, &got, out, 4, NULL, 1, &e[1]));
    execute(b, lb);
    OK(ze.CommandListAppendWaitOnEvents(la, 1, &e[2]));
    OK(ze.CommandListAppendMemoryCopy(la, in, numbers, 64, NULL, 0, NULL));
    OK(ze.CommandListAppendBarrier(la, e[0], 0, NULL));
    execute(a, la);
    assert_int_equal(ze.EventQueryStatus(e[0]), ZE_RESULT_NOT_READY);
    assert_int_equal(ze.CommandQueueSynchronize(b, 1000), ZE_RESULT_NOT_READY);
    OK(ze.EventHostSignal(e[2]));
    OK(ze.CommandQueueSynchronize(b, UINT64_MAX));
    OK(ze.CommandQueueSynchronize(a, UINT64_MAX));
    assert_int_equal(got, 136);
    ze_kernel_timestamp_result_t t;
    OK(ze.EventHostSynchronize(e[1], UINT64_MAX));
    OK(ze.EventQueryKernelTimestamp(e[1], &t));
    assert_true(t.global.kernelEnd > t.global.kernelStart);
    for (int i = 0; i < 3; i++)
        OK(ze.EventDestroy(e[i]));
    OK(ze.EventPoolDestroy(pool));
    OK(ze.CommandListDestroy(la));
    OK(ze.CommandListDestroy(lb));
    OK(ze.CommandQueueDestroy(a));
    OK(ze.CommandQueueDestroy(b));
    OK(ze.KernelDestroy(k));
    OK(ze.MemFree(context, in));
    OK(ze.MemFree(context, out));
    found_nothing();
}

static void immediate_lists_and_shared_memory(void **state)
{
    (void)state;
    ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                    .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    ze_device_mem_alloc_desc_t dd = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    ze_host_mem_alloc_desc_t hd = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    ze_command_list_handle_t l;
    OK(ze.CommandListCreateImmediate(context, device, &desc, &l));
    void *p = NULL;
    OK(ze.MemAllocShared(context, &dd, &hd, 68, 64, device, &p));
    ze_memory_allocation_properties_t properties = {
        .stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
    OK(ze.MemGetAllocProperties(context, p, &properties, NULL));
    assert_int_equal(properties.type, ZE_MEMORY_TYPE_SHARED);
    int32_t *shared = p;
    memcpy(shared, numbers, 64);
    ze_kernel_handle_t k = kernel_open("sum_all", 1);
    sum_append(l, k, shared, shared + 16, NULL, 0, NULL);
    assert_int_equal(shared[16], 136);
    const uint16_t pattern = 0x0102;
    OK(ze.CommandListAppendMemoryFill(l, shared, &pattern, sizeof pattern, 64, NULL, 0, NULL));
    assert_int_equal(shared[7], 0x01020102);
    OK(ze.CommandListDestroy(l));
    OK(ze.KernelDestroy(k));
    OK(ze.MemFree(context, p));
    found_nothing();
}

static void names_and_logs(void **state)
{
    (void)state;
    uint32_t count = 0;
    OK(ze.ModuleGetKernelNames(module, &count, NULL));
    assert_true(count > 10);
    const char **names = calloc(count, sizeof(char *));
    OK(ze.ModuleGetKernelNames(module, &count, names));
    bool seen = false;
    for (uint32_t i = 0; i < count; i++)
        seen |= strcmp(names[i], "group_sum") == 0;
    assert_true(seen);
    free(names);

    uint32_t junk[16] = {0x07230203u, 0x00010200u, 0, 5, 0, 0xFFFFFFFFu};
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = ZE_MODULE_FORMAT_IL_SPIRV,
                             .inputSize = sizeof junk,
                             .pInputModule = (const uint8_t *)junk};
    ze_module_handle_t bad = NULL;
    ze_module_build_log_handle_t log = NULL;
    assert_int_equal(ze.ModuleCreate(context, device, &desc, &bad, &log),
                     ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
    char text[4096] = "";
    size_t size = sizeof text;
    OK(ze.ModuleBuildLogGetString(log, &size, text));
    assert_true(strlen(text) > 10);
    OK(ze.ModuleBuildLogDestroy(log));
    ze_kernel_desc_t none = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "nobody"};
    ze_kernel_handle_t k = NULL;
    assert_int_equal(ze.KernelCreate(module, &none, &k), ZE_RESULT_ERROR_INVALID_KERNEL_NAME);
    k = kernel_open("sum_all", 1);
    assert_int_equal(ze.KernelSetGroupSize(k, 1025, 1, 1),
                     ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION);
    OK(ze.KernelDestroy(k));
    found_nothing();
}

/* ---- mistakes ------------------------------------------------------------------------------- */

/* Device memory with the numbers. */
static void *numbers_on_device(ze_command_queue_handle_t q)
{
    void *in = device_memory(64);
    ze_command_list_handle_t l = list_open();
    OK(ze.CommandListAppendMemoryCopy(l, in, numbers, 64, NULL, 0, NULL));
    execute(q, l);
    OK(ze.CommandQueueSynchronize(q, UINT64_MAX));
    OK(ze.CommandListDestroy(l));
    return in;
}

static void a_missing_barrier_is_found(void **state)
{
    (void)state;
    ze_command_queue_handle_t q = queue_open();
    ze_command_list_handle_t l = list_open();
    ze_kernel_handle_t k = kernel_open("sum_all", 1);
    void *in = numbers_on_device(q), *out = device_memory(4);
    OK(ze.CommandListAppendMemoryCopy(l, in, numbers, 64, NULL, 0, NULL));
    sum_append(l, k, in, out, NULL, 0, NULL);
    execute(q, l);
    assert_int_equal(ze.CommandQueueSynchronize(q, UINT64_MAX), ZE_RESULT_ERROR_DEVICE_LOST);
    found("missing wait");
    OK(ze.CommandListDestroy(l));
    /* and between two lists of a queue: they begin in order, no more */
    ze_command_list_handle_t first = list_open(), second = list_open();
    const int32_t seven = 7;
    OK(ze.CommandListAppendMemoryFill(first, in, &seven, sizeof seven, 64, NULL, 0, NULL));
    OK(ze.CommandListAppendMemoryFill(second, in, &seven, sizeof seven, 32, NULL, 0, NULL));
    execute(q, first);
    execute(q, second);
    assert_int_equal(ze.CommandQueueSynchronize(q, UINT64_MAX), ZE_RESULT_ERROR_DEVICE_LOST);
    found("a copy or fill");
    OK(ze.CommandListDestroy(first));
    OK(ze.CommandListDestroy(second));
    OK(ze.CommandQueueDestroy(q));
    OK(ze.KernelDestroy(k));
    found_nothing();
}

static void use_before_the_wait_is_found(void **state)
{
    (void)state;
    ze_command_queue_handle_t q = queue_open();
    ze_command_list_handle_t l = list_open();
    void *in = numbers_on_device(q);
    int32_t back[16] = {0};
    OK(ze.CommandListAppendMemoryCopy(l, back, in, 64, NULL, 0, NULL));
    execute(q, l);
    assert_int_not_equal(back[0], 1); /* not there yet */
    OK(ze.CommandListReset(l));
    found("a command list is reset before the host waited");
    OK(ze.CommandListAppendMemoryCopy(l, back, in, 64, NULL, 0, NULL));
    execute(q, l);
    OK(ze.MemFree(context, in));
    found("is freed while queued work may use it");
    OK(ze.CommandQueueDestroy(q));
    found("a command queue is destroyed before the host waited");
    OK(ze.CommandListDestroy(l));
    found("a command list is destroyed before the host waited");

    ze_event_handle_t e;
    ze_event_pool_handle_t pool = events_open(&e, 1);
    q = queue_open();
    l = list_open();
    OK(ze.CommandListAppendSignalEvent(l, e));
    execute(q, l);
    OK(ze.EventHostReset(e));
    found("an event is reset before the host waited");
    ze.CommandQueueSynchronize(q, UINT64_MAX);
    OK(ze.CommandListReset(l));
    ze_kernel_handle_t k = kernel_open("sum_all", 1);
    void *twice = numbers_on_device(q), *out = device_memory(4);
    for (int i = 0; i < 2; i++) { /* the first time it is clear */
        sum_append(l, k, twice, out, e, 0, NULL);
        execute(q, l);
        ze.CommandQueueSynchronize(q, UINT64_MAX);
        i ? found("an event that keeps a kernel's times is used again") : found_nothing();
        OK(ze.CommandListReset(l));
    }
    OK(ze.KernelDestroy(k));
    OK(ze.MemFree(context, twice));
    OK(ze.MemFree(context, out));
    OK(ze.EventPoolDestroy(pool));
    found("an event pool is destroyed while 1 of its events live");
    OK(ze.CommandListDestroy(l));
    OK(ze.CommandQueueDestroy(q));
    found_nothing();
}

static void waiting_for_nothing_is_found(void **state)
{
    (void)state;
    ze_event_handle_t e;
    ze_event_pool_handle_t pool = events_open(&e, 1);
    ze_command_queue_handle_t q = queue_open();
    ze_command_list_handle_t l = list_open();
    assert_int_equal(ze.EventHostSynchronize(e, UINT64_MAX), ZE_RESULT_ERROR_DEVICE_LOST);
    found("which nothing that is queued will signal");
    OK(ze.CommandListAppendBarrier(l, NULL, 1, &e));
    execute(q, l);
    assert_int_equal(ze.CommandQueueSynchronize(q, UINT64_MAX), ZE_RESULT_ERROR_DEVICE_LOST);
    found("a queue that waits for an event");
    OK(ze.EventHostSignal(e));
    ze.CommandQueueSynchronize(q, UINT64_MAX);
    OK(ze.CommandListDestroy(l));
    OK(ze.CommandQueueDestroy(q));
    OK(ze.EventDestroy(e));
    OK(ze.EventPoolDestroy(pool));
    found_nothing();
}

static void wrong_arguments_are_found(void **state)
{
    (void)state;
    ze_command_list_handle_t l = list_open();
    ze_kernel_handle_t k = kernel_open("sum_all", 1);
    const ze_group_count_t one = {1, 1, 1};
    void *in = device_memory(64);
    const int64_t n = 16;
    assert_int_equal(ze.KernelSetArgumentValue(k, 2, sizeof n, &n),
                     ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE);
    found("argument 2 of sum_all has 4 bytes; 8 were set");
    assert_int_equal(ze.KernelSetArgumentValue(k, 3, sizeof n, &n),
                     ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX);
    found("argument 3 of sum_all, which has 3");
    OK(ze.KernelSetArgumentValue(k, 0, sizeof in, &in));
    assert_int_equal(ze.CommandListAppendLaunchKernel(l, k, &one, NULL, 0, NULL),
                     ZE_RESULT_ERROR_INVALID_ARGUMENT);
    found("argument 1 of sum_all was never set");
    OK(ze.CommandListDestroy(l));
    OK(ze.KernelDestroy(k));
    OK(ze.MemFree(context, in));
    found_nothing();
}

static void mistakes_of_kernels_are_found(void **state)
{
    (void)state;
    ze_command_queue_handle_t q = queue_open();
    ze_command_list_handle_t l = list_open();
    ze_kernel_handle_t k = kernel_open("sum_all", 1);
    void *short_in = device_memory(60), *out = device_memory(4);
    sum_append(l, k, short_in, out, NULL, 0, NULL); /* unwritten, and four bytes short */
    execute(q, l);
    assert_int_equal(ze.CommandQueueSynchronize(q, UINT64_MAX), ZE_RESULT_ERROR_DEVICE_LOST);
    struct arena a = {0};
    const char *text = findings_new(&a);
    assert_non_null(strstr(text, "uninitialised read: sum_all"));
    assert_non_null(strstr(text, "out of bounds: sum_all"));
    arena_free(&a);
    OK(ze.MemFree(context, short_in)); /* its address is still the kernel's argument */
    OK(ze.CommandListReset(l));
    const ze_group_count_t one = {1, 1, 1};
    OK(ze.CommandListAppendLaunchKernel(l, k, &one, NULL, 0, NULL));
    execute(q, l);
    assert_int_equal(ze.CommandQueueSynchronize(q, UINT64_MAX), ZE_RESULT_ERROR_DEVICE_LOST);
    found("use after free");
    OK(ze.CommandListDestroy(l));
    OK(ze.CommandQueueDestroy(q));
    OK(ze.KernelDestroy(k));
    OK(ze.MemFree(context, out));
    found_nothing();
}

static void races_are_found(void **state)
{
    (void)state;
    static const struct {
        const char *kernel;
        uint32_t group, groups;
        size_t scratch; /* bytes of work-group memory, its second argument */
        const char *text;
    } races[] = {
        {"all_write_one", 1, 2, 0, "race: all_write_one"},
        {"lost_barrier", 8, 1, 32, "race: lost_barrier"},
        {"split_barrier", 4, 1, 0, "of split_barrier stand at a barrier"},
    };
    ze_command_queue_handle_t q = queue_open();
    void *out = device_memory(64);
    for (size_t i = 0; i < sizeof races / sizeof *races; i++) {
        ze_command_list_handle_t l = list_open();
        ze_kernel_handle_t k = kernel_open(races[i].kernel, races[i].group);
        const ze_group_count_t groups = {races[i].groups, 1, 1};
        OK(ze.KernelSetArgumentValue(k, 0, sizeof out, &out));
        if (races[i].scratch)
            OK(ze.KernelSetArgumentValue(k, 1, races[i].scratch, NULL));
        OK(ze.CommandListAppendLaunchKernel(l, k, &groups, NULL, 0, NULL));
        execute(q, l);
        assert_int_equal(ze.CommandQueueSynchronize(q, UINT64_MAX), ZE_RESULT_ERROR_DEVICE_LOST);
        found(races[i].text);
        OK(ze.CommandListDestroy(l));
        OK(ze.KernelDestroy(k));
    }
    OK(ze.CommandQueueDestroy(q));
    OK(ze.MemFree(context, out));
    found_nothing();
}

/* The loader's own layer looks before the driver does. */
static void nulls_are_refused_by_the_layer(void **state)
{
    (void)state;
    assert_int_equal(ze.CommandListClose(NULL), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    ze_command_list_handle_t l = list_open();
    assert_int_equal(ze.CommandListAppendMemoryCopy(l, NULL, numbers, 64, NULL, 0, NULL),
                     ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    OK(ze.CommandListDestroy(l));
    found_nothing();
}

/* ---- set-up --------------------------------------------------------------------------------- */

static int driver_open(void **state)
{
    (void)state;
    struct arena a = {0};
    char *data;
    size_t size;
    struct error err;
    uint32_t count = 1;
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    OK(ze.Init(0));
    OK(ze.DriverGet(&count, &driver));
    OK(ze.DeviceGet(driver, &count, &device));
    OK(ze.ContextCreate(driver, &desc, &context));
    assert_int_equal(file_read(&a, MODULE_SPIRV, 0, &data, &size, &err), STATUS_OK);
    ze_module_desc_t m = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                          .format = ZE_MODULE_FORMAT_IL_SPIRV,
                          .inputSize = size,
                          .pInputModule = (const uint8_t *)data};
    OK(ze.ModuleCreate(context, device, &m, &module, NULL));
    arena_free(&a);
    return 0;
}
static int driver_close(void **state)
{
    (void)state;
    OK(ze.ModuleDestroy(module));
    OK(ze.ContextDestroy(context));
    found_nothing();
    return 0;
}

int main(void)
{
    void *library = dlopen("libze_loader.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        printf("skipped: no libze_loader.so.1 (apt-get install libze1)\n");
        return 77;
    }
#define X(name)                                                                                    \
    *(void **)&ze.name = dlsym(library, "ze" #name);                                               \
    if (!ze.name) {                                                                                \
        printf("the loader lacks ze" #name "\n");                                                  \
        return 1;                                                                                  \
    }
    FUNCTIONS(X)
#undef X
    snprintf(findings_path, sizeof findings_path, "/tmp/isophote-findings-%d", (int)getpid());
    setenv("ZE_ENABLE_ALT_DRIVERS", ZE_DRIVER, 1);
    setenv("ZE_ENABLE_VALIDATION_LAYER", "1", 1);
    setenv("ZE_ENABLE_PARAMETER_VALIDATION", "1", 1);
    setenv("ZE_ENABLE_HANDLE_LIFETIME", "1", 1);
    setenv("ISOPHOTE_SOFT_CHECKS", "all", 1);
    setenv("ISOPHOTE_SOFT_FINDINGS", findings_path, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(barriers_order_commands),
        cmocka_unit_test(events_order_queues_and_tell_times),
        cmocka_unit_test(immediate_lists_and_shared_memory),
        cmocka_unit_test(names_and_logs),
        cmocka_unit_test(a_missing_barrier_is_found),
        cmocka_unit_test(use_before_the_wait_is_found),
        cmocka_unit_test(waiting_for_nothing_is_found),
        cmocka_unit_test(wrong_arguments_are_found),
        cmocka_unit_test(mistakes_of_kernels_are_found),
        cmocka_unit_test(races_are_found),
        cmocka_unit_test(nulls_are_refused_by_the_layer),
    };
    int failed = cmocka_run_group_tests(tests, driver_open, driver_close);
    unlink(findings_path);
    return failed != 0;
}
