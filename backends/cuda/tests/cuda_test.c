/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA back end as far as it goes without a GPU: our declarations against NVIDIA's headers, the
 * host code against a mock driver (cuda_mock.c), and absence; cuda_compile_test.c has the
 * compilers. With a GPU the conformance suite runs on cuda:0 as on every device. */
#include "cuda/cuda_compile.h"
#include "gpu/tests/mock_run.h"

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

/* What an H100 was measured to run fastest (docs/results/models.md): a medium alone, and one beside
 * layers, as in lacquer. */
static void models_are_the_measured_ones(void **state)
{
    (void)state;
    static const struct {
        const char *arch;
        enum code_path code;
        enum math_mode mode;
        uint32_t features;
        enum exec_model model;
    } rows[] = {
        {"90", CODE_AUTO, MODE_STRICT, 0, MODEL_MEGAKERNEL},
        {"90", CODE_AUTO, MODE_STRICT, K_FEATURE_DIELECTRIC, MODEL_SEPARATE},
        {"90", CODE_AUTO, MODE_DEVICE, K_FEATURE_TEXTURES, MODEL_SEPARATE},
        {"90", CODE_AUTO, MODE_FAST, K_FEATURE_DIELECTRIC, MODEL_MEGAKERNEL},
        {"90", CODE_AUTO, MODE_FAST, K_FEATURE_MEDIA | K_FEATURE_DIELECTRIC, MODEL_SEPARATE},
        {"90", CODE_AUTO, MODE_STRICT, K_FEATURE_LOBES, MODEL_WAVEFRONT},
        {"90", CODE_LLVM, MODE_FAST, K_FEATURE_LOBES, MODEL_WAVEFRONT},
        {"61", CODE_SOURCE, MODE_STRICT, K_FEATURE_LOBES, MODEL_WAVEFRONT},
        {"61", CODE_LLVM, MODE_STRICT, K_FEATURE_LOBES, MODEL_MEGAKERNEL},
        {"90", CODE_AUTO, MODE_STRICT, K_FEATURE_MEDIA | K_FEATURE_CUTOUTS, MODEL_SEPARATE},
        {"90", CODE_AUTO, MODE_STRICT, K_FEATURE_MEDIA | K_FEATURE_LOBES | K_FEATURE_LAYERS,
         MODEL_WAVEFRONT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct backend b = {0};
        struct program_request r = program_request_make(rows[i].mode);
        snprintf(b.arch, sizeof b.arch, "%s", rows[i].arch);
        r.code = rows[i].code;
        r.features = rows[i].features;
        assert_int_equal(cuda_api.preferred_model(&b, &r), rows[i].model);
    }
}

/* ---- the mock ------------------------------------------------------------------------------- */

static void host_code_keeps_the_drivers_rules(void **state)
{
    (void)state;
    mock_case(self, "", "", "mock: clean");
}
static void failures_are_reported_and_leave_nothing(void **state)
{
    (void)state;
    mock_case(self, "", "oom", "mock: clean");
    mock_case(self, "", "refuse", "mock: clean");
    mock_case(self, "", "fault", "mock: clean");
    mock_case(self, "", "timeout", "mock: clean");
    mock_case(self, "", "none",
              "problem: cuda: the driver is there but finds no GPU: CUDA_ERROR_NO_DEVICE (100)");
}

static void kept_kernels_are_of_one_driver(void **state)
{
    (void)state;
    mock_cache_case(self, "");
}

static void absence_is_explained(void **state)
{
    (void)state;
    mock_case(self, "", "driver-12",
              "libcuda.so.1 is NVRTC 13.0; the driver needs one of CUDA 12 to 12");
    /* Where a real driver stands on the library path, there is no absence to see. */
    if (cu_load(NULL))
        skip();
    mock_case(self, "", "absent", "problem: cuda: no NVIDIA driver");
}

int main(int argc, char **argv)
{
    static const struct mock_expect expect = {"cuda:0",       "compute capability 9.0",
                                              "CUDA 13.0",    "NVRTC 13.0",
                                              "--fmad=false", true,
                                              true,           true,
                                              {32, 16}};
    if (argc > 2 && strcmp(argv[1], "--mock") == 0)
        return mock_run(&cuda_api, argv[2], &expect);
    self = argv[0];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_nvidias),
        cmocka_unit_test(models_are_the_measured_ones),
        cmocka_unit_test(host_code_keeps_the_drivers_rules),
        cmocka_unit_test(failures_are_reported_and_leave_nothing),
        cmocka_unit_test(kept_kernels_are_of_one_driver),
        cmocka_unit_test(absence_is_explained),
    };
    return cmocka_run_group_tests_name("cuda", tests, NULL, NULL);
}
