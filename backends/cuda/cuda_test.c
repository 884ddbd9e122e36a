/* The CUDA back end as far as it goes without a GPU: our declarations against NVIDIA's headers, the
 * kernel through the real NVRTC, the host code against a mock driver (cuda_mock.c), and absence.
 * With a GPU the conformance suite runs on cuda:0 as on every device. */
#include "cuda_compile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#ifdef HAVE_CUDA_HEADERS
#include <cuda.h>
#endif

extern const struct backend_api cuda_api;

static const char *self;

/* ---- our declarations ---------------------------------------------------------------------- */

static void numbers_are_nvidias(void **state)
{
    (void)state;
#ifdef HAVE_CUDA_HEADERS
    assert_int_equal(GPU_OK, CUDA_SUCCESS);
    assert_int_equal(GPU_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(GPU_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(GPU_NO_DEVICE, CUDA_ERROR_NO_DEVICE);
    assert_int_equal(GPU_LAUNCH_OUT_OF_RESOURCES, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    assert_int_equal(cu_attributes[GPU_MAX_THREADS], CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    assert_int_equal(cu_attributes[GPU_MAX_BLOCK_X], CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X);
    assert_int_equal(cu_attributes[GPU_MAX_BLOCK_Y], CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y);
    assert_int_equal(cu_attributes[GPU_MAX_GRID_X], CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
    assert_int_equal(cu_attributes[GPU_MAX_GRID_Y], CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y);
    assert_int_equal(cu_attributes[GPU_CLOCK_KHZ], CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
    assert_int_equal(cu_attributes[GPU_MULTIPROCESSORS], CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    assert_int_equal(cu_attributes[GPU_MAJOR], CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    assert_int_equal(cu_attributes[GPU_MINOR], CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    assert_int_equal(GPU_KERNEL_MAX_THREADS, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    assert_int_equal(GPU_KERNEL_LOCAL_BYTES, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
    assert_int_equal(GPU_KERNEL_REGISTERS, CU_FUNC_ATTRIBUTE_NUM_REGS);
    assert_int_equal(GPU_STREAM_NOT_BLOCKING, CU_STREAM_NON_BLOCKING);
    assert_int_equal(GPU_EVENT_PLAIN, CU_EVENT_DEFAULT);
    assert_int_equal(sizeof(gpu_result), sizeof(CUresult));
    assert_int_equal(sizeof(gpu_device), sizeof(CUdevice));
    assert_int_equal(sizeof(gpu_pointer), sizeof(CUdeviceptr));
#else
    print_message("NVIDIA's headers are not here\n");
    skip();
#endif
}

/* ---- NVRTC --------------------------------------------------------------------------------- */

static unsigned occurrences(const char *text, const char *word)
{
    unsigned n = 0;
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        n++;
    return n;
}

/* PTX says what the arithmetic is: strict must hold no fused, approximate or flushing operation. */
static void modes_compile_to_their_arithmetic(void **state)
{
    (void)state;
    const char *why;
    const struct nvrtc_api *n = nvrtc_load(0, &why);
    if (!n) {
        print_message("%s\n", why);
        skip();
    }
    for (unsigned i = 0; i < 3 * PART_COUNT; i++) {
        const enum math_mode mode = (enum math_mode)(i / PART_COUNT);
        struct program_request request = {.mode = mode,
                                          .part = (enum program_part)(i % PART_COUNT)};
        struct arena a = {0};
        struct gpu_image image = {0};
        struct build_info info = {0};
        struct error err = {0};
        if (cuda_compile(n, &request, BVH_BINARY, 90, true, &a, &image, &info, &err) != STATUS_OK)
            fail_msg("%s: %s", math_mode_name(mode), err.msg);
        const char *ptx = image.data;
        for (int entry = 0; entry < ENTRY_COUNT; entry++) { /* those of the part and no other */
            char head[64];
            snprintf(head, sizeof head, ".entry %s(", kernel_entries[entry].name);
            assert_true((strstr(ptx, head) != NULL) ==
                        (kernel_entries[entry].part == request.part));
        }
        unsigned fused = occurrences(ptx, "fma.rn.f"), approximate = occurrences(ptx, ".approx"),
                 flushed = occurrences(ptx, ".ftz");
        assert_true((fused > 0) == (mode != MODE_STRICT));
        assert_true((approximate > 0) == (mode == MODE_FAST));
        assert_true((flushed > 0) == (mode == MODE_FAST));
        if (mode != MODE_FAST) {
            assert_true(occurrences(ptx, "div.rn.f32") > 0);
            assert_true(occurrences(ptx, "sqrt.rn.f32") > 0);
        }
        assert_int_equal(occurrences(ptx, ".f64"), 0); /* no doubles crept in */
        arena_free(&a);
    }
}

static void machine_code_is_made_without_a_device(void **state)
{
    (void)state;
    const struct nvrtc_api *n = nvrtc_load(0, NULL);
    if (!n)
        skip();
    struct program_request request = {.mode = MODE_FAST};
    struct arena a = {0};
    struct gpu_image image = {0};
    struct build_info info = {0};
    struct error err = {0};
    double begin = clock_s();
    if (cuda_compile(n, &request, BVH_BINARY, 90, false, &a, &image, &info, &err) != STATUS_OK)
        fail_msg("%s", err.msg);
    print_message("sm_90: %.1f s, %zu bytes, %u registers, %u bytes of stack, %u spilt; %s\n",
                  clock_s() - begin, image.size, image.resources.registers,
                  image.resources.stack_bytes, image.resources.spill_bytes, info.options);
    const unsigned char *elf = image.data;
    assert_true(image.size > 1000 && memcmp(elf, "\177ELF", 4) == 0);
    assert_int_equal(elf[18] | elf[19] << 8, 190); /* e_machine: EM_CUDA */
    assert_true(image.resources.registers >= 32 && image.resources.registers <= 255);
    assert_true(image.resources.stack_bytes >= 4 * K_STACK2); /* the traversal's stack */
    assert_non_null(strstr(info.options, "--gpu-architecture=sm_90"));
    /* Compute capability 9.1 does not exist: PTX of the newest below. 2.0 is too old. */
    struct gpu_image other = image;
    assert_int_equal(cuda_compile(n, &request, BVH_BINARY, 20, false, &a, &other, &info, &err),
                     STATUS_UNSUPPORTED);
    assert_non_null(strstr(err.msg, "2.0"));
    assert_ptr_equal(other.data, image.data);
    if (cuda_compile(n, &request, BVH_BINARY, 91, false, &a, &other, &info, &err) != STATUS_OK)
        fail_msg("%s", err.msg);
    assert_non_null(strstr(info.options, "--gpu-architecture=compute_90"));
    arena_free(&a);
}

/* ---- the mock ----------------------------------------------------------------------------------
 */

static void on_found(void *ctx, const struct device_info *info)
{
    *(struct device_info *)ctx = *info;
}
static void on_problem(void *ctx, const char *text)
{
    (void)ctx;
    printf("problem: %s\n", text);
}

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("line %d: %s; %s\n", __LINE__, #condition, err.msg);                            \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

enum { W = 300, H = 500 }; /* 4.8 MB of film: more than one piece of the read-back */

/* Runs in a process of its own, whose libcuda.so.1 and NVRTC are the mock. */
static int mock_run(const char *how)
{
    struct error err = {0};
    struct device_info info = {.id = ""};
    if (cuda_api.enumerate(on_found, on_problem, &info, NULL) != STATUS_OK)
        return 1;
    if (strcmp(how, "none") == 0 || strcmp(how, "absent") == 0) {
        struct device_info none = {.id = "cuda:0"};
        struct backend *b = NULL;
        CHECK(info.id[0] == '\0');
        CHECK(cuda_api.open(&none, &b, &err) == STATUS_MISSING);
        return 0;
    }
    CHECK(strcmp(info.id, "cuda:0") == 0 && strcmp(info.name, "Mock GPU") == 0);
    CHECK(strcmp(info.version, "compute capability 9.0") == 0 && info.max_work_group == 1024);
    CHECK(strstr(info.driver, "CUDA 13.0") && strcmp(info.compiler, "NVRTC 13.0") == 0);
    struct backend *b = NULL;
    struct device_info no_such = {.id = "cuda:1"};
    CHECK(cuda_api.open(&no_such, &b, &err) == STATUS_MISSING);
    CHECK(cuda_api.open(&info, &b, &err) == STATUS_OK);

    struct program_request request = {.mode = MODE_STRICT, .fault = "lost-cosine"};
    struct build_info build = {0};
    CHECK(cuda_api.build(b, &request, &build, &err) == STATUS_BUILD);
    CHECK(strstr(err.msg, "ptxas info") && strstr(build.options, "-DK_FAULT_LOST_COSINE"));
    request.fault = NULL;
    CHECK(cuda_api.build(b, &request, &build, &err) == STATUS_OK && !build.cached);
    CHECK(build.registers == 128 && build.stack_bytes == 432 && build.spill_bytes == 12);
    CHECK(strstr(build.options, "--fmad=false") && strstr(build.options, "-DK_BVH=2") &&
          strstr(build.options, "-DK_PART=0"));
    CHECK(cuda_api.build(b, &request, &build, &err) == STATUS_OK && build.cached);
    CHECK(build.spill_bytes == 12); /* kept with the binary */

    /* probes work before any scene */
    struct k_launch launch = {.rows = 100};
    uint32_t in[100], out[100];
    for (uint32_t i = 0; i < 100; i++) {
        in[i] = 7 * i;
        out[i] = 0;
    }
    if (strcmp(how, "fault") == 0 || strcmp(how, "refuse") == 0) {
        CHECK(cuda_api.run_words(b, ENTRY_PROBE, &launch, in, 100, out, 100, 100, &err) ==
              STATUS_DEVICE);
        CHECK(err.native == (strcmp(how, "fault") == 0 ? 700 : 701) &&
              strstr(err.msg, "CUDA_ERROR_"));
    } else {
        const enum kernel_entry rows[] = {ENTRY_ARITHMETIC, ENTRY_PROBE};
        for (int e = 0; e < 2; e++) { /* of two programs */
            memset(out, 0, sizeof out);
            CHECK(cuda_api.run_words(b, rows[e], &launch, in, 100, out, 100, 100, &err) ==
                  STATUS_OK);
            for (uint32_t i = 0; i < 100; i++)
                CHECK(out[i] == 7 * i + 1);
        }
        CHECK(cuda_api.run_words(b, ENTRY_TRACE, &launch, NULL, 0, out, 4, 1, &err) == STATUS_OK);
        CHECK(out[0] == 1 && out[3] == 4);
    }

    /* two scenes, the second with the other tree; one that the device cannot hold */
    static _Alignas(128) float data[1 << 19];
    struct scene_buffers buffers = {.bvh = BVH_BINARY};
    uint64_t bytes = 0;
    buffers.at[0].data = data;
    buffers.at[0].size = 1024;
    buffers.at[3].data = data;
    buffers.at[3].size = 64;
    if (strcmp(how, "fault") != 0) {
        CHECK(cuda_api.upload(b, &buffers, &bytes, &err) == STATUS_OK && bytes == 1088);
        buffers.bvh = BVH_WIDE8;
        CHECK(cuda_api.upload(b, &buffers, &bytes, &err) == STATUS_OK);
        struct scene_buffers large = buffers;
        large.at[1].data = data;
        large.at[1].size = (size_t)2 << 30;
        CHECK(cuda_api.upload(b, &large, &bytes, &err) == STATUS_LIMIT);
        CHECK(strstr(err.msg, "2147484736") && strstr(err.msg, "1073741824"));
        large.at[1].size = sizeof data;
        CHECK(cuda_api.upload(b, &large, &bytes, &err) ==
              (strcmp(how, "oom") == 0 ? STATUS_MEMORY : STATUS_OK));
    }
    CHECK(cuda_api.film_begin(b, SIZE_MAX / 64, false, &err) == STATUS_LIMIT);

    int64_t *film = calloc((size_t)W * H, 4 * sizeof *film);
    CHECK(film != NULL);
    enum status began = cuda_api.film_begin(b, (size_t)W * H, true, &err);
    if (strcmp(how, "oom") == 0) {
        CHECK(began == STATUS_MEMORY && strstr(err.msg, "4800000"));
    } else if (strcmp(how, "fault") == 0) {
        CHECK(began == STATUS_DEVICE && err.native == 700); /* lost for good, and said so */
    } else {
        CHECK(began == STATUS_OK);
        const uint32_t group[2] = {7, 3};
        launch = (struct k_launch){.width = W, .height = H};
        unsigned launches = 0;
        for (uint32_t batch = 0; batch < 3; batch++)
            for (uint32_t x = 0; x < W; x += 100) {
                /* all but the last row: it keeps the poison */
                launch.tile_x = x;
                launch.tile_w = 100;
                launch.tile_h = H - 1;
                launch.sample_begin = 10 * batch;
                launch.sample_count = 10;
                launch.accumulate = batch > 0;
                const uint32_t grid[2] = {105, 501};
                enum status s = cuda_api.launch(b, &launch, grid, group, &err);
                launches++;
                if (strcmp(how, "refuse") == 0) {
                    CHECK(s == STATUS_UNSUPPORTED && strstr(err.msg, "7x3"));
                    continue;
                }
                CHECK(s == STATUS_OK);
            }
        double seconds = 0.0;
        CHECK(cuda_api.finish(b, &seconds, &err) == STATUS_OK);
        CHECK(cuda_api.film_read(b, film, (size_t)W * H, &err) == STATUS_OK);
        bool drawn = strcmp(how, "refuse") != 0;
        CHECK(drawn ? seconds > 0.0019 * launches && seconds < 0.0021 * launches : seconds == 0.0);
        for (int64_t y = 0; y < H; y++)
            for (int64_t x = 0; x < W; x++) {
                const int64_t *p = film + 4 * (y * W + x);
                if (y < H - 1 && drawn)
                    CHECK(p[0] == 3 * x && p[1] == 3 * y && p[2] == 30 && p[3] == 30);
                else
                    CHECK(p[0] == -1 && p[3] == -1);
            }
        /* groups that the device, then the kernel, then the grid refuses */
        const uint32_t one[2] = {1, 1}, wide[2] = {2048, 1}, many[2] = {1024, 1},
                       tall[2] = {8, 4096};
        CHECK(cuda_api.launch(b, &launch, wide, wide, &err) == STATUS_UNSUPPORTED &&
              strstr(err.msg, "1024 in x"));
        CHECK(cuda_api.launch(b, &launch, many, many, &err) == STATUS_UNSUPPORTED &&
              strstr(err.msg, "512"));
        CHECK(cuda_api.launch(b, &launch, tall, one, &err) == STATUS_UNSUPPORTED &&
              strstr(err.msg, "8x4096"));
    }
    free(film);
    cuda_api.close(b);
    cuda_api.close(NULL);
    return 0;
}

static void mock_case(const char *how, const char *expected)
{
    char command[2048], out[8192], folder[] = "/tmp/isophote-cuda-XXXXXX";
    assert_non_null(mkdtemp(folder));
    bool absent = strcmp(how, "absent") == 0;
    snprintf(command, sizeof command,
             "ISOPHOTE_CACHE=%s CUDA_MOCK='%s' LD_LIBRARY_PATH='%s' ISOPHOTE_NVRTC='%s/%s' '%s' "
             "--mock '%s' 2>&1",
             folder, how, absent ? folder : MOCK_DIR, MOCK_DIR, absent ? "nosuch" : "libcuda.so.1",
             self, how);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    size_t n = fread(out, 1, sizeof out - 1, f);
    out[n] = '\0';
    int status = pclose(f);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    assert_int_equal(system(command), 0);
    if (status != 0 || !strstr(out, expected) || strstr(out, "mistake"))
        fail_msg("mock \"%s\", status %d: %s", how, status, out);
}

static void host_code_keeps_the_drivers_rules(void **state)
{
    (void)state;
    mock_case("", "mock: clean");
}
static void failures_are_reported_and_leave_nothing(void **state)
{
    (void)state;
    mock_case("oom", "mock: clean");
    mock_case("refuse", "mock: clean");
    mock_case("fault", "mock: clean");
    mock_case("none",
              "problem: cuda: the driver is there but finds no GPU: CUDA_ERROR_NO_DEVICE (100)");
}

static void absence_is_explained(void **state)
{
    (void)state;
    /* Where a real driver stands on the library path, there is no absence to see. */
    if (cu_load(NULL))
        skip();
    mock_case("absent", "problem: cuda: no NVIDIA driver");
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "--mock") == 0)
        return mock_run(argv[2]);
    self = argv[0];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_nvidias),
        cmocka_unit_test(host_code_keeps_the_drivers_rules),
        cmocka_unit_test(failures_are_reported_and_leave_nothing),
        cmocka_unit_test(absence_is_explained),
        cmocka_unit_test(modes_compile_to_their_arithmetic),
        cmocka_unit_test(machine_code_is_made_without_a_device),
    };
    return cmocka_run_group_tests_name("cuda", tests, NULL, NULL);
}
