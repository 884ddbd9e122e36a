/* SPDX-License-Identifier: Apache-2.0 */
/* The HIP back end as far as it goes without an AMD GPU: our declarations against AMD's headers,
 * the host code through our HIP-on-NVIDIA runtime against the mock driver of cuda/, the kernel
 * through the real hipRTC, code objects against LLVM's reader, and absence. */
#include "gpu/tests/mock_run.h"
#include "hip/code_object.h"
#include "hip/hip_compile.h"
#include "hip/hip_llvm.h"
#include "shade/shade_scene.h"
#include "tests/test_scenes.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define K_MENDS_ROOTS 1
#include "device/portable.h"

#ifdef HAVE_HIP_HEADERS
#define __HIP_PLATFORM_AMD__ 1
#include <hip/hip_runtime_api.h>
#include <stddef.h>
#endif

extern const struct backend_api hip_api;

static const char *self;

/* ---- our declarations ----------------------------------------------------------------------- */

static void numbers_are_amds(void **state)
{
    (void)state;
#ifdef HAVE_HIP_HEADERS
    assert_int_equal(GPU_OK, hipSuccess);
    assert_int_equal(GPU_INVALID_VALUE, hipErrorInvalidValue);
    assert_int_equal(GPU_OUT_OF_MEMORY, hipErrorOutOfMemory);
    assert_int_equal(GPU_NO_DEVICE, hipErrorNoDevice);
    assert_int_equal(HIP_INVALID_DEVICE, hipErrorInvalidDevice);
    assert_int_equal(GPU_LAUNCH_OUT_OF_RESOURCES, hipErrorLaunchOutOfResources);
    assert_int_equal(GPU_LAUNCH_TIMEOUT, hipErrorLaunchTimeOut);
    assert_int_equal(hip_attributes[GPU_MAX_THREADS], hipDeviceAttributeMaxThreadsPerBlock);
    assert_int_equal(hip_attributes[GPU_MAX_BLOCK_X], hipDeviceAttributeMaxBlockDimX);
    assert_int_equal(hip_attributes[GPU_MAX_BLOCK_Y], hipDeviceAttributeMaxBlockDimY);
    assert_int_equal(hip_attributes[GPU_MAX_GRID_X], hipDeviceAttributeMaxGridDimX);
    assert_int_equal(hip_attributes[GPU_MAX_GRID_Y], hipDeviceAttributeMaxGridDimY);
    assert_int_equal(hip_attributes[GPU_CLOCK_KHZ], hipDeviceAttributeClockRate);
    assert_int_equal(hip_attributes[GPU_MULTIPROCESSORS], hipDeviceAttributeMultiprocessorCount);
    assert_int_equal(hip_attributes[GPU_MAJOR], hipDeviceAttributeComputeCapabilityMajor);
    assert_int_equal(hip_attributes[GPU_MINOR], hipDeviceAttributeComputeCapabilityMinor);
    assert_int_equal(GPU_KERNEL_MAX_THREADS, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    assert_int_equal(GPU_KERNEL_LOCAL_BYTES, HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
    assert_int_equal(GPU_KERNEL_REGISTERS, HIP_FUNC_ATTRIBUTE_NUM_REGS);
    assert_int_equal(GPU_STREAM_NOT_BLOCKING, hipStreamNonBlocking);
    assert_int_equal(GPU_EVENT_PLAIN, hipEventDefault);
#ifdef hipGetDeviceProperties /* ROCm 6 and newer: a macro for the R0600 form */
    assert_int_equal(HIP_ARCH_AT_R0600, offsetof(hipDeviceProp_t, gcnArchName));
#else
    assert_int_equal(HIP_ARCH_AT_R0000, offsetof(hipDeviceProp_t, gcnArchName));
#endif
    assert_true(sizeof(hipDeviceProp_t) <= HIP_PROPERTIES_SIZE);
    assert_int_equal(sizeof(gpu_result), sizeof(hipError_t));
    assert_int_equal(sizeof(gpu_device), sizeof(hipDevice_t));
    assert_int_equal(sizeof(gpu_pointer), sizeof(hipDeviceptr_t));
#else
    print_message("AMD's headers are not here\n");
    skip();
#endif
}

/* ---- on the mock of NVIDIA's driver ---------------------------------------------------------- */

static const char nvidia[] = "ISOPHOTE_HIP_LIBRARY=nvidia";

static void host_code_keeps_the_drivers_rules(void **state)
{
    (void)state;
    mock_case(self, nvidia, "", "mock: clean");
}

static void failures_are_reported_and_leave_nothing(void **state)
{
    (void)state;
    mock_case(self, nvidia, "oom", "mock: clean");
    mock_case(self, nvidia, "refuse", "mock: clean");
    mock_case(self, nvidia, "fault", "mock: clean");
    mock_case(self, nvidia, "timeout", "mock: clean");
    mock_case(self, nvidia, "none", "is there but finds no GPU: hipErrorNoDevice (100)");
}

static void kept_kernels_are_of_one_driver(void **state)
{
    (void)state;
    mock_cache_case(self, nvidia);
}

static void absence_is_explained(void **state)
{
    (void)state;
    if (access("/opt/rocm", F_OK) == 0)
        skip();
    mock_case(self, "ISOPHOTE_HIP_LIBRARY=/nonexistent/libamdhip64.so.6", "absent",
              "problem: hip: ISOPHOTE_HIP_LIBRARY names /nonexistent/libamdhip64.so.6, which is "
              "not there");
    mock_case(self, "ISOPHOTE_HIP_LIBRARY=/etc/passwd", "absent",
              "problem: hip: /etc/passwd is there but broken: ");
    /* a library, but no HIP runtime */
    mock_case(self, "ISOPHOTE_HIP_LIBRARY=libm.so.6", "absent",
              "problem: hip: libm.so.6 is there but has no hipInit: not a HIP runtime");
}

/* ---- the real hipRTC ------------------------------------------------------------------------- */

/* What LLVM's own reader prints for a key of a kernel, -1 if nothing. */
static long readobj_number(const char *path, const char *kernel, const char *key)
{
    char command[512], line[256], name[64] = "";
    long value = -1, pending = -1;
    snprintf(
        command, sizeof command,
        "for t in llvm-readobj llvm-readobj-19 llvm-readobj-15; do command -v $t >/dev/null && "
        "exec $t --notes '%s'; done",
        path);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    while (
        fgets(line, sizeof line, f)) { /* keys are sorted: .agpr .args .group .. .name .. .vgpr */
        const char *at = line + strspn(line, " -");
        size_t n = strlen(key);
        if (strncmp(line, "  - .", 5) == 0) {
            pending = -1;
            name[0] = '\0';
        }
        if (strncmp(line, "    .name:", 10) == 0)
            sscanf(line + 10, "%63s", name);
        if (strncmp(at, key, n) == 0 && at[n] == ':' && line[4] != ' ')
            pending = strtol(at + n + 1, NULL, 10);
        if (strcmp(name, kernel) == 0 && pending >= 0)
            value = pending;
    }
    pclose(f);
    return value;
}

static bool amd_runtime(void)
{
    const char *why;
    if (getenv("ISOPHOTE_HIP_LIBRARY") || !hiprtc_load(&why)) {
        print_message("no AMD runtime here\n");
        return false;
    }
    return true;
}

static void code_objects_say_what_llvm_reads(void **state)
{
    (void)state;
    static const char *const archs[] = {"gfx90a", "gfx1030"};
    if (!amd_runtime())
        skip();
    for (size_t i = 0; i < sizeof archs / sizeof *archs; i++) {
        struct program_request request = program_request_make(i == 0 ? MODE_STRICT : MODE_FAST);
        struct arena a = {0};
        struct gpu_image image = {0};
        struct build_info info = {0};
        struct error err = {0};
        struct code_object object;
        if (hip_compile(archs[i], &request, &a, &image, &info, &err) != STATUS_OK)
            fail_msg("%s: %s", archs[i], err.msg);
        assert_int_equal(code_object_read(image.data, image.size, &object, &err), STATUS_OK);
        assert_non_null(strstr(object.target, archs[i]));
        for (int e = 0; e < ENTRY_COUNT; e++) /* those of the part and no other */
            assert_true((code_object_find(&object, kernel_entries[e].name) != NULL) ==
                        kernel_entry_in(&request, (enum kernel_entry)e));
        const struct code_object_kernel *k = code_object_find(&object, "k_render");
        assert_non_null(k);
        assert_int_equal(k->wavefront, i == 0 ? 64 : 32); /* CDNA; RDNA */
        assert_int_equal(image.resources.registers, k->vgprs);
        assert_int_equal(image.resources.stack_bytes, k->scratch_bytes);
        assert_true(k->scratch_bytes >= 4 * K_STACK2); /* the traversal's stack */
        print_message("%s: %u VGPR, %u SGPR, %u AGPR, %u bytes of scratch, %u of LDS; %s\n",
                      archs[i], k->vgprs, k->sgprs, k->agprs, k->scratch_bytes, k->lds_bytes,
                      info.options);
        char path[] = "/tmp/isophote-hsaco-XXXXXX";
        int fd = mkstemp(path);
        assert_true(fd >= 0 && write(fd, image.data, image.size) == (ssize_t)image.size);
        close(fd);
        if (readobj_number(path, "k_render", ".vgpr_count") >= 0) {
            for (size_t n = 0; n < object.kernel_count; n++) {
                const char *name = object.kernels[n].name;
                k = &object.kernels[n];
                assert_int_equal(readobj_number(path, name, ".vgpr_count"), k->vgprs);
                assert_int_equal(readobj_number(path, name, ".sgpr_count"), k->sgprs);
                assert_int_equal(readobj_number(path, name, ".private_segment_fixed_size"),
                                 k->scratch_bytes);
                assert_int_equal(readobj_number(path, name, ".group_segment_fixed_size"),
                                 k->lds_bytes);
                assert_int_equal(readobj_number(path, name, ".vgpr_spill_count"), k->vgpr_spills);
            }
        } else {
            print_message("no llvm-readobj to compare with\n");
        }
        unlink(path);
        /* cut anywhere, it is refused, or what was read was whole */
        for (size_t size = 0; size < image.size; size += 1 + size / 64) {
            struct code_object cut;
            char *copy = malloc(size ? size : 1);
            assert_non_null(copy);
            memcpy(copy, image.data, size);
            if (code_object_read(copy, size, &cut, NULL) == STATUS_OK)
                assert_memory_equal(&cut, &object, sizeof cut);
            free(copy);
        }
        arena_free(&a);
    }
}

static void registers_are_limited(void **state)
{
    (void)state;
    if (!amd_runtime())
        skip();
    static const uint32_t limits[] = {48, 120}; /* below and above what full groups have */
    for (int i = 0; i < 2; i++) {
        struct program_request request = program_request_make(MODE_FAST);
        request.registers = limits[i];
        struct arena a = {0};
        struct gpu_image image = {0};
        struct build_info info = {0};
        struct error err = {0};
        if (hip_compile("gfx1030", &request, &a, &image, &info, &err) != STATUS_OK)
            fail_msg("%s", err.msg);
        print_message("at most %u: %u VGPR, %u bytes of scratch, %u spilt\n", limits[i],
                      image.resources.registers, image.resources.stack_bytes,
                      image.resources.spill_bytes);
        assert_true(image.resources.registers <= limits[i]);
        assert_true(image.resources.registers > limits[i] / 2); /* and used */
        arena_free(&a);
    }
}

static void what_hiprtc_cannot_do_is_told(void **state)
{
    (void)state;
    if (!amd_runtime())
        skip();
    struct program_request request = program_request_make(MODE_STRICT);
    struct arena a = {0};
    struct gpu_image image = {0};
    struct build_info info = {0};
    struct error err = {0};
    /* A mistake in the options, and an architecture that no hipRTC knows: an error in either case,
     * and this process lives. */
    assert_int_equal(hip_compile("gfx0", &request, &a, &image, &info, &err), STATUS_BUILD);
    assert_non_null(strstr(err.msg, "gfx0"));
    assert_null(image.data);
    assert_int_equal(hip_compile("", &request, &a, &image, &info, &err), STATUS_UNSUPPORTED);
    arena_free(&a);
}

/* ---- code path llvm -------------------------------------------------------------------------- */

/* Every instruction has a name: llvm-objdump knows all encodings. *count: 0 without the tool. */
static bool disassembles(const char *path, long *count)
{
    char command[512];
    long unknown = 0;
    *count = 0;
    snprintf(command, sizeof command,
             "command -v llvm-objdump-19 >/dev/null && llvm-objdump-19 -d --no-show-raw-insn %s | "
             "awk '/<unknown>|\\.long/ { bad++ } /^[[:space:]]+[a-z]+_/ { n++ } END { print n + 0, "
             "bad + 0 }'",
             path);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    if (fscanf(f, "%ld %ld", count, &unknown) != 2)
        *count = 0;
    pclose(f);
    return unknown == 0;
}

static void llvm_object_check(const char *arch, unsigned wavefront, unsigned version,
                              struct program_request request, const char *entry)
{
    struct arena a = {0};
    struct gpu_image image = {0};
    struct build_info info = {0};
    struct error err = {0};
    struct code_object object;
    enum status s = hip_llvm_compile(arch, &request, &a, &image, &info, &err);
    if (s == STATUS_UNSUPPORTED || s == STATUS_MISSING) {
        print_message("SKIP %s: %s\n", arch, err.msg);
        arena_free(&a);
        return;
    }
    if (s != STATUS_OK)
        fail_msg("%s: %s", arch, err.msg);
    assert_int_equal(code_object_read(image.data, image.size, &object, &err), STATUS_OK);
    assert_non_null(strstr(object.target, arch));
    for (int e = 0; e < ENTRY_COUNT; e++)
        assert_true((code_object_find(&object, kernel_entries[e].name) != NULL) ==
                    kernel_entry_in(&request, (enum kernel_entry)e));
    const struct code_object_kernel *k = code_object_find(&object, entry);
    assert_non_null(k);
    assert_int_equal(k->wavefront, wavefront);
    uint32_t most = 0; /* of the kernels */
    for (size_t n = 0; n < object.kernel_count; n++)
        most = object.kernels[n].vgprs > most ? object.kernels[n].vgprs : most;
    assert_int_equal(image.resources.registers, most);
    assert_true(k->scratch_bytes >= 4 * K_STACK2);
    assert_int_equal(k->lds_bytes, 0); /* arrays of a work-item stay its own */
    char path[] = "/tmp/isophote-hsaco-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, image.data, image.size) == (ssize_t)image.size);
    close(fd);
    long count, vgprs = readobj_number(path, entry, ".vgpr_count");
    assert_true(disassembles(path, &count));
    assert_true(count == 0 || count > 1000);
    assert_true(vgprs < 0 || vgprs == (long)k->vgprs);
    print_message("%s by LLVM (at least %u): %u VGPR, %u SGPR, %u bytes of scratch, %ld "
                  "instructions\n",
                  arch, version, k->vgprs, k->sgprs, k->scratch_bytes, count);
    unlink(path);
    arena_free(&a);
}

/* One that LLVM 15 knows and ROCm 5.2's hipRTC does not, and one that is for LLVM 19 alone. */
static void llvm_makes_code_objects(void **state)
{
    (void)state;
    struct program_request request = program_request_make(MODE_STRICT);
    request.code = CODE_LLVM;
    request.part = PART_TRACE;
    llvm_object_check("gfx1100", 32, 15, request, "k_trace");
    llvm_object_check("gfx942", 64, 19, request, "k_trace");
    request.part = PART_RENDER;
    request.staged = true;
    request.tree = BVH_BINARY;
    llvm_object_check("gfx1100", 32, 15, request, "k_fly_all");
}

/* A scene's shaders linked to the kernel. */
static void llvm_makes_code_objects_with_shaders(void **state)
{
    (void)state;
    struct error err = {0};
    struct scene *s = scene_from_text(
        "{\"isophote\": 1, \"camera\": {\"origin\": [0, 0, 4], \"target\": [0, 0, 0], \"fov\": 20},"
        "\"film\": {\"width\": 8, \"height\": 8}, \"materials\": {\"m\": {\"type\": \"shader\", "
        "\"source\": \"surface m(float k = 2) { float a[8]; for (int i = 0; i < 8; i++) a[i] = u * "
        "i; "
        "Ci = 0; for (int i = 0; i < k; i++) Ci += noise(P * i) * a[i % 8] * diffuse(N);"
        "Ci += sqrt(v) * emission(); }\"}},"
        "\"objects\": [{\"type\": \"rectangle\", \"material\": \"m\"}]}");
    struct shade_scene shaders;
    must(shade_scene_make(s, SHADE_AREAS, NULL, &shaders, &err), &err);
    struct program_request request = program_request_make(MODE_STRICT);
    request.code = CODE_LLVM;
    request.part = PART_PASSES;
    request.features = K_FEATURE_SHADERS;
    request.tree = BVH_BINARY; /* a sixth of the time for any */
    request.shaders = shaders.llvm.data;
    llvm_object_check("gfx1030", 32, 15, request, "k_passes");
    shade_scene_free(&shaders);
    scene_free(s);
}

/* What ld.lld of LLVM 14 answers to an object of LLVM 19. */
static void a_linker_too_old_is_named(void **state)
{
    (void)state;
    static const char script[] =
        "#!/bin/sh\necho \"ld.lld: error: unknown abi version: \" >&2\nexit 1\n";
    struct program_request request = program_request_make(MODE_STRICT);
    request.code = CODE_LLVM;
    request.part = PART_TRACE;
    char path[] = "/tmp/isophote-lld-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, script, sizeof script - 1) == (ssize_t)sizeof script - 1);
    assert_int_equal(fchmod(fd, 0700), 0);
    close(fd);
    setenv("ISOPHOTE_LLD", path, 1);
    struct arena a = {0};
    struct gpu_image image = {0};
    struct build_info info = {0};
    struct error err = {0};
    enum status s = hip_llvm_compile("gfx1030", &request, &a, &image, &info, &err);
    unsetenv("ISOPHOTE_LLD");
    unlink(path);
    assert_null(image.data);
    arena_free(&a);
    if (s == STATUS_UNSUPPORTED) /* no LLVM with AMD's target */
        skip();
    assert_int_equal(s, STATUS_MISSING);
    if (!strstr(err.msg, "is too old") && !strstr(err.msg, "libllvm"))
        fail_msg("%s", err.msg);
}

static void llvm_refuses_what_it_cannot_do(void **state)
{
    (void)state;
    static const struct {
        const char *arch, *says;
    } wrong[] = {{"gfx0", "gfx0"}, {"soft", "AMD's architectures"}, {"sm_90", "AMD's"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct program_request request = program_request_make(MODE_STRICT);
        struct arena a = {0};
        struct gpu_image image = {0};
        struct build_info info = {0};
        struct error err = {0};
        request.code = CODE_LLVM;
        assert_int_equal(hip_llvm_compile(wrong[i].arch, &request, &a, &image, &info, &err),
                         STATUS_UNSUPPORTED);
        assert_null(image.data);
        if (!strstr(err.msg, wrong[i].says) && !strstr(err.msg, "apt-get"))
            fail_msg("%s: %s", wrong[i].arch, err.msg);
        arena_free(&a);
    }
}

/* ---- roots ----------------------------------------------------------------------------------- */

/* From each neighbour of the right root, for every float of two binades and the ends of the range:
 * the hardware's sqrtf is the oracle. */
static void roots_are_mended(void **state)
{
    (void)state;
    static const float more[] = {0.0f,     -0.0f,           0x1p-96f, 0x1.fffffep127f,
                                 INFINITY, 0x1.000002p-95f, 3.0f,     0x1.fffffep-1f};
    for (uint32_t i = 0; i < (1u << 24) + sizeof more / sizeof *more; i++) {
        float x = i < 1u << 24 ? K_AS_FLOAT(0x3F000000u + i) : more[i - (1u << 24)]; /* [0.5, 2) */
        volatile float right = sqrtf(x);
        uint32_t bits = K_AS_UINT(right);
        for (int off = -1; off <= 1; off++) {
            if (off != 0 && (x == 0.0f || isinf(x)))
                continue; /* these the hardware has right */
            float got = k_sqrt_mend(x, K_AS_FLOAT(bits + (uint32_t)off));
            if (K_AS_UINT(got) != bits)
                fail_msg("root of %a from %+d: %a, not %a", (double)x, off, (double)got,
                         (double)right);
        }
    }
    assert_true(isnan(k_sqrt_mend(-1.0f, NAN)));
}

int main(int argc, char **argv)
{
    static const struct mock_expect expect = {
        "hip:0", "sm_90", "HIP 13.0.0", "hipRTC 13.0", "-ffp-contract=off",
        false,   false,   false,        {8, 8}};
    if (argc > 2 && strcmp(argv[1], "--mock") == 0)
        return mock_run(&hip_api, argv[2], &expect);
    self = argv[0];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_amds),
        cmocka_unit_test(host_code_keeps_the_drivers_rules),
        cmocka_unit_test(failures_are_reported_and_leave_nothing),
        cmocka_unit_test(kept_kernels_are_of_one_driver),
        cmocka_unit_test(absence_is_explained),
        cmocka_unit_test(roots_are_mended),
        cmocka_unit_test(code_objects_say_what_llvm_reads),
        cmocka_unit_test(registers_are_limited),
        cmocka_unit_test(what_hiprtc_cannot_do_is_told),
        cmocka_unit_test(llvm_makes_code_objects),
        cmocka_unit_test(llvm_makes_code_objects_with_shaders),
        cmocka_unit_test(a_linker_too_old_is_named),
        cmocka_unit_test(llvm_refuses_what_it_cannot_do),
    };
    return cmocka_run_group_tests_name("hip", tests, NULL, NULL);
}
