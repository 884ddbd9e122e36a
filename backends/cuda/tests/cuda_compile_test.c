/* SPDX-License-Identifier: Apache-2.0 */
/* What CUDA's compilers make of the kernel and of shaders, with no GPU: NVRTC's and LLVM's PTX has
 * each mode's arithmetic and no other, and the driver's assembler takes it. */
#include "cuda/cuda_compile.h"
#include "cuda/cuda_llvm.h"
#include "layout/layout.h"
#include "shade/shade_program.h"
#include "shade/shade_scene.h"
#include "tests/test_scenes.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static unsigned occurrences(const char *text, const char *word)
{
    unsigned n = 0;
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        n++;
    return n;
}

/* PTX says what the arithmetic is: strict must hold no fused, approximate or flushing operation. */
static void check_operations(const char *ptx, enum math_mode mode)
{
    unsigned fused = occurrences(ptx, "fma.rn.f"), approximate = occurrences(ptx, ".approx"),
             flushed = occurrences(ptx, ".ftz");
    if ((fused > 0) != (mode != MODE_STRICT) || (approximate > 0) != (mode == MODE_FAST) ||
        (flushed > 0) != (mode == MODE_FAST))
        fail_msg("%s: %u fused, %u approximate, %u flushing operations", math_mode_name(mode),
                 fused, approximate, flushed);
    if (mode == MODE_FAST) { /* in each function */
        assert_int_equal(occurrences(ptx, "fma.rn.f32") + occurrences(ptx, "mul.rn.f32"), 0);
        assert_int_equal(occurrences(ptx, "div.rn."), 0);
        assert_int_equal(occurrences(ptx, "sqrt.rn."), 0);
    } else {
        assert_true(occurrences(ptx, "div.rn.f32") > 0);
        assert_true(occurrences(ptx, "sqrt.rn.f32") > 0);
    }
    assert_int_equal(occurrences(ptx, ".f64"), 0); /* no doubles crept in */
}

static void check_arithmetic(const char *ptx, const struct program_request *request)
{
    for (int entry = 0; entry < ENTRY_COUNT; entry++) { /* those of the part and no other */
        char head[64];
        snprintf(head, sizeof head, ".entry %s(", kernel_entries[entry].name);
        assert_true((strstr(ptx, head) != NULL) ==
                    kernel_entry_in(request, (enum kernel_entry)entry));
    }
    /* Items of a group wait for each other only in large kernels of the film. */
    bool together = request->part == PART_RENDER && request->features & K_FEATURE_LOBES;
    assert_true((occurrences(ptx, "red.or.pred") > 0) == together);
    check_operations(ptx, request->mode);
}

/* One division and one root in all of LLVM's strict text, which the others call. */
static void check_calls(const char *ptx)
{
    assert_int_equal(occurrences(ptx, "div.rn.f32") + occurrences(ptx, "rcp.rn.f32"), 1);
    assert_int_equal(occurrences(ptx, "sqrt.rn.f32"), 1);
}

/* What LLVM's kernel has as NVRTC's: the walk's stack (8 bytes an entry) has a second level for
 * instances alone; fast takes boxes' minima and maxima, and reciprocal roots, in one instruction;
 * loads say which memory they are of; samples of a pixel are added by several work-items. */
static void check_kernel(const char *ptx, const struct program_request *r)
{
    if (r->part != PART_RENDER || r->staged || r->features & K_FEATURE_LOBES)
        return;
    char depot[64];
    snprintf(depot, sizeof depot, "__local_depot0[%d]",
             8 * K_STACK2 * (r->features & K_FEATURE_INSTANCES ? 2 : 1));
    assert_non_null(strstr(ptx, depot));
    assert_int_equal(occurrences(ptx, "\tld.f32") + occurrences(ptx, "\tld.u32"), 0);
    assert_true(occurrences(ptx, ".add.u64") > 0);
    if (r->mode != MODE_FAST)
        return;
    assert_true(occurrences(ptx, "min.ftz.f32") >= 2 * 2 * 8); /* two children, two walks */
    assert_true(occurrences(ptx, "rsqrt.approx.ftz.f32") > 0);
}

/* The driver's assembler takes the text, where NVIDIA's tools are installed. */
static bool assembles(const char *ptx, const char *arch)
{
    static const char tool[] = "/usr/local/cuda/bin/ptxas";
    char path[] = "/tmp/isophote_ptx_XXXXXX", command[256];
    if (access(tool, X_OK) != 0)
        return true;
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, ptx, strlen(ptx)), (ssize_t)strlen(ptx));
    close(file);
    snprintf(command, sizeof command, "%s -arch=%s -O0 -o /dev/null %s", tool, arch, path);
    bool taken = system(command) == 0;
    unlink(path);
    return taken;
}

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
        struct program_request request = program_request_make((enum math_mode)(i / PART_COUNT));
        request.part = (enum program_part)(i % PART_COUNT);
        if (i == MODE_FAST * PART_COUNT + PART_RENDER) /* the one kind whose items wait */
            request.features |= K_FEATURE_LOBES;
        struct arena a = {0};
        struct gpu_image image = {0};
        struct build_info info = {0};
        struct error err = {0};
        if (cuda_compile(n, &request, 90, true, &a, &image, &info, &err) != STATUS_OK)
            fail_msg("%s: %s", math_mode_name(request.mode), err.msg);
        check_arithmetic(image.data, &request);
        arena_free(&a);
    }
}

/* The text without names that NVRTC makes of the program's hash. */
static void names_drop(char *ptx)
{
    for (char *at = strstr(ptx, "kernel_cu_"); at; at = strstr(at + 1, "kernel_cu_"))
        for (char *c = at + strlen("kernel_cu_"); isxdigit((unsigned char)*c); c++)
            *c = '0';
}

static char *piece_compile(const struct nvrtc_api *n, const struct program_request *r,
                           struct arena *a)
{
    struct gpu_image image = {0};
    struct build_info info = {0};
    struct error err = {0};
    if (cuda_compile(n, r, 90, true, a, &image, &info, &err) != STATUS_OK)
        fail_msg("piece %d: %s", (int)r->piece, err.msg);
    char *ptx = arena_printf(a, "%s", (const char *)image.data);
    assert_non_null(ptx);
    names_drop(ptx);
    return ptx;
}

/* A piece has its stages; the features that it is compiled without would change nothing of it. */
static void pieces_have_what_their_stages_need(void **state)
{
    static const uint32_t scenes[] = {
        K_FEATURE_CAMERAS | K_FEATURE_INSTANCES | K_FEATURE_CUTOUTS | K_FEATURE_TEXTURES |
            K_FEATURE_LOBES | K_FEATURE_LISTED | K_FEATURE_REFLECT | K_FEATURE_TEXELS16 |
            K_FEATURE_NORMAL_MAPS | K_FEATURE_LIGHT_TREE | K_FEATURE_BALANCE | K_FEATURE_COLORS,
        K_FEATURE_CAMERAS | K_FEATURE_MEDIA | K_FEATURE_ROUND | K_FEATURE_LIGHTS |
            K_FEATURE_ENV_MAPS | K_FEATURE_TEXTURED_LIGHTS | K_FEATURE_TEXTURES |
            K_FEATURE_DIELECTRIC};
    (void)state;
    const char *why;
    const struct nvrtc_api *n = nvrtc_load(0, &why);
    if (!n) {
        print_message("%s\n", why);
        skip();
    }
    for (size_t i = 0; i < 2 * (PIECE_COUNT - 1); i++) {
        struct program_request all = program_request_make(MODE_STRICT);
        all.staged = true;
        all.tree = BVH_BINARY;
        all.features = scenes[i / (PIECE_COUNT - 1)];
        struct program_request r = program_request_of_piece(
            &all, (enum program_piece)(PIECE_ENDS + i % (PIECE_COUNT - 1)));
        struct arena a = {0};
        char *ptx = piece_compile(n, &r, &a);
        for (int entry = 0; entry < ENTRY_COUNT; entry++) {
            char head[64];
            snprintf(head, sizeof head, ".entry %s(", kernel_entries[entry].name);
            assert_true((strstr(ptx, head) != NULL) ==
                        kernel_entry_in(&r, (enum kernel_entry)entry));
        }
        assert_true(r.features != all.features);
        r.features = all.features;
        r.tree = all.tree;
        if (strcmp(ptx, piece_compile(n, &r, &a)) != 0)
            fail_msg("piece %d looks at features that it is compiled without", (int)r.piece);
        arena_free(&a);
    }
}

static double processor_s(void) { return (double)clock() / CLOCKS_PER_SEC; }

/* A scene whose shaders are long, for a verdict's few samples: strict arithmetic is the mode's
 * whatever NVRTC leaves undone, and machine code comes in a few seconds of its processor's time
 * (with nothing left undone: 40 to 60). Nothing is where more samples may be asked for. */
static void long_text_compiles_soon_in_strict(void **state)
{
    enum { MOST_S = 15 };
    (void)state;
    const struct nvrtc_api *n = nvrtc_load(0, NULL);
    if (!n || n->major < 13)
        skip();
    struct scene *s = scene_from_library("../dense/lookups");
    struct layout l = {0};
    struct arena a = {0};
    struct error err = {0};
    must(layout_build(s, BVH_BINARY, SHADE_AREAS, false, &l, &err), &err);
    struct program_request all = program_request_make(MODE_STRICT);
    all.staged = true;
    all.features = l.features;
    all.registers = 64;
    all.source = l.shaders.source.data;
    struct program_request shade = program_request_of_piece(&all, PIECE_SHADE);
    char options[512];
    must(cuda_options(n, &shade, 90, false, options, sizeof options, &err), &err);
    assert_null(strstr(options, "Ofast-compile"));
    shade.few_samples = true;
    must(cuda_options(n, &shade, 90, false, options, sizeof options, &err), &err);
    assert_non_null(strstr(options, "Ofast-compile"));
    check_operations(piece_compile(n, &shade, &a), MODE_STRICT);
    struct gpu_image image = {0};
    struct build_info info = {0};
    const double begin = processor_s();
    must(cuda_compile(n, &shade, 90, false, &a, &image, &info, &err), &err);
    const double took = processor_s() - begin;
    print_message("%zu bytes of text: %.1f s, %zu bytes\n", strlen(all.source), took, image.size);
    assert_true(took < MOST_S);
    layout_free(&l);
    scene_free(s);
    arena_free(&a);
}

static void llvm_makes_the_same_arithmetic(void **state)
{
    (void)state;
    char options[512], identity[512];
    struct program_request request = program_request_make(MODE_STRICT);
    struct error err = {0};
    if (cuda_llvm_options(&request, 90, options, sizeof options, identity, sizeof identity, &err) ==
        STATUS_UNSUPPORTED) {
        print_message("%s\n", err.msg);
        skip();
    }
    for (unsigned i = 0; i < 4 * PART_COUNT + 2; i++) {
        /* Plain scenes in every mode; every feature, which takes its time, in one mode a part;
         * instances; stages. */
        bool plain = i < 3 * PART_COUNT || i >= 4 * PART_COUNT;
        request = program_request_make((enum math_mode)(plain ? i / PART_COUNT % 4 : i % 3));
        request.staged = i == 4 * PART_COUNT + 1;
        request.part = request.staged ? PART_RENDER : (enum program_part)(i % PART_COUNT);
        request.features = i == 4 * PART_COUNT ? K_FEATURE_INSTANCES
                           : plain             ? 0
                                               : K_FEATURE_ALL & ~K_FEATURES_OF_TEXT;
        request.registers = 64;
        request.code = CODE_LLVM;
        request.tree = plain ? BVH_BINARY : request.tree;
        struct arena a = {0};
        struct gpu_image image = {0};
        struct build_info info = {0};
        if (cuda_llvm_compile(&request, 90, &a, &image, &info, &err) != STATUS_OK)
            fail_msg("%s: %s", math_mode_name(request.mode), err.msg);
        const char *ptx = image.data;
        assert_int_equal(image.size, strlen(ptx) + 1);
        check_arithmetic(ptx, &request);
        if (request.mode == MODE_STRICT)
            check_calls(ptx);
        check_kernel(ptx, &request);
        assert_int_equal(occurrences(ptx, ".maxnreg 64\n"), occurrences(ptx, ".entry "));
        /* one module for all requests: what this one has no feature for is gone */
        assert_int_equal(strstr(ptx, "k_lobes_") != NULL, !plain && request.part != PART_HIT);
        assert_int_equal(occurrences(ptx, "k_shade"), occurrences(ptx, "k_shade_all"));
        assert_int_equal(occurrences(ptx, "match.any.sync") > 0, request.staged);
        if (request.part == PART_RENDER)
            assert_true(assembles(ptx, "sm_90"));
        arena_free(&a);
    }
    /* Lanes that count together came with 7.0. */
    assert_true(request.staged);
    assert_int_equal(
        cuda_llvm_options(&request, 61, options, sizeof options, identity, sizeof identity, &err),
        STATUS_UNSUPPORTED);
    /* What only source can have. */
    struct gpu_image image = {0};
    struct build_info info = {0};
    request.fault = "lost-cosine";
    assert_int_equal(cuda_llvm_compile(&request, 90, NULL, &image, &info, &err),
                     STATUS_UNSUPPORTED);
}

/* A scene's shaders in LLVM's PTX: within the kernel, with the mode's arithmetic in all of them. */
static void shaders_link_to_the_kernel(void **state)
{
    (void)state;
    struct error err = {0};
    struct scene *s = scene_from_text(
        "{\"isophote\": 1, \"camera\": {\"origin\": [0, 0, 4], \"target\": [0, 0, 0], \"fov\": 20},"
        "\"film\": {\"width\": 8, \"height\": 8}, \"render\": {\"spp\": 1, \"max_depth\": 2},"
        "\"materials\": {\"m\": {\"type\": \"shader\", \"source\": \"surface m(float k = 2) { Ci = "
        "0;"
        "for (int i = 0; i < k; i++) Ci += noise(P * i) / (u + 1) * diffuse(N);"
        "Ci += sqrt(v) * emission(); }\"}},"
        "\"objects\": [{\"type\": \"rectangle\", \"material\": \"m\"}]}");
    struct shade_scene shaders;
    must(shade_scene_make(s, SHADE_AREAS, NULL, &shaders, &err), &err);
    for (int mode = MODE_STRICT; mode <= MODE_FAST; mode++) {
        struct program_request request = program_request_make((enum math_mode)mode);
        struct arena a = {0};
        struct gpu_image image = {0};
        struct build_info info = {0};
        request.code = CODE_LLVM;
        request.features = K_FEATURE_LOBES | K_FEATURE_SHADERS;
        request.shaders = shaders.llvm.data;
        enum status st = cuda_llvm_compile(&request, 90, &a, &image, &info, &err);
        if (st == STATUS_UNSUPPORTED) {
            print_message("%s\n", err.msg);
            skip();
        }
        must(st, &err);
        check_arithmetic(image.data, &request);
        if (mode == MODE_STRICT)
            check_calls(image.data);
        assert_null(strstr(image.data, "_shade")); /* k_shade and al_shade are in the kernel */
        assert_null(strstr(image.data, ".extern .func"));
        if (mode == MODE_STRICT)
            assert_true(assembles(image.data, "sm_90"));
        arena_free(&a);
    }
    shade_scene_free(&shaders);
    scene_free(s);
}

/* The text of the engine cuda, as its device would be handed it. */
static void shaders_compile_to_their_arithmetic(void **state)
{
    (void)state;
    static const char text[] =
        "shader s(string name = \"a.png\", float k = 2, output color r = 0) {\n"
        "r = noise(\"uperlin\", P * 9) + noise(\"uperlin\", P * 7) + k * sqrt(u / (v + 1)) + Dx(P "
        "* u) * sin(v);\n"
        "r += Dx(noise(\"gabor\", P * 9, \"anisotropic\", (int)k, \"impulses\", k));\n"
        "if (u > 0.5) warning(\"%g\", u); for (int i = 0; i < k; i++) r *= u; }";
    const char *why;
    const struct nvrtc_api *n = nvrtc_load(0, &why);
    if (!n) {
        print_message("%s\n", why);
        skip();
    }
    struct arena a = {0};
    struct error err = {0};
    struct asl_diags diags = {0};
    const struct asl_program *p;
    struct asl_group *group;
    assert_int_equal(asl_compile(&a, "t.asl", text, strlen(text), NULL, &diags, &p, &err), 0);
    assert_int_equal(asl_group_new(&a, "g", &group, &err), 0);
    assert_int_equal(asl_group_layer(group, p, NULL, "l", NULL, &err), 0);
    assert_int_equal(asl_group_finish(group, &err), 0);
    struct shade_output r = {.name = "r", .type = {.base = ASL_COLOR}, .slots = 3};
    const char *layers[] = {NULL};
    const struct shade s = {
        .group = group, .entry_layers = layers, .outputs = &r, .output_count = 1};
    struct shade_program made;
    assert_int_equal(shade_program_make(&s, false, false, &made, &err), STATUS_OK);
    for (int mode = MODE_STRICT; mode <= MODE_FAST; mode++) {
        struct program_request request = program_request_make((enum math_mode)mode);
        struct gpu_image image = {0};
        struct build_info info = {0};
        request.source = made.source.data;
        if (cuda_compile(n, &request, 90, true, &a, &image, &info, &err) != STATUS_OK)
            fail_msg("%s: %s", math_mode_name(request.mode), err.msg);
        assert_non_null(strstr(image.data, ".entry asl_points("));
        /* a kind of noise stands once, however often it is used (A_NOISE_CALL) */
        assert_int_equal(occurrences(image.data, ".func "), 1);
        assert_int_equal(occurrences(image.data, "call.uni \n"), 2);
        check_operations(image.data, request.mode);
        if (mode == MODE_STRICT)
            assert_true(assembles(image.data, "sm_90"));
    }
    shade_program_free(&made);
    arena_free(&a);
}

static void machine_code_is_made_without_a_device(void **state)
{
    (void)state;
    const struct nvrtc_api *n = nvrtc_load(0, NULL);
    if (!n)
        skip();
    struct program_request request = program_request_make(MODE_FAST);
    struct arena a = {0};
    struct gpu_image image = {0};
    struct build_info info = {0};
    struct error err = {0};
    double begin = clock_s();
    if (cuda_compile(n, &request, 90, false, &a, &image, &info, &err) != STATUS_OK)
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
    assert_int_equal(cuda_compile(n, &request, 20, false, &a, &other, &info, &err),
                     STATUS_UNSUPPORTED);
    assert_non_null(strstr(err.msg, "2.0"));
    assert_ptr_equal(other.data, image.data);
    if (cuda_compile(n, &request, 91, false, &a, &other, &info, &err) != STATUS_OK)
        fail_msg("%s", err.msg);
    assert_non_null(strstr(info.options, "--gpu-architecture=compute_90"));
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shaders_link_to_the_kernel),
        cmocka_unit_test(shaders_compile_to_their_arithmetic),
        cmocka_unit_test(modes_compile_to_their_arithmetic),
        cmocka_unit_test(pieces_have_what_their_stages_need),
        cmocka_unit_test(long_text_compiles_soon_in_strict),
        cmocka_unit_test(llvm_makes_the_same_arithmetic),
        cmocka_unit_test(machine_code_is_made_without_a_device),
    };
    return cmocka_run_group_tests_name("cuda compilers", tests, NULL, NULL);
}
