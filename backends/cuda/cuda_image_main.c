/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_image ARCH MODE PART PATH SCENE FILE [PIECE]: a scene's kernel for an NVIDIA GPU, with no
 * GPU: what NVRTC (PATH source) or LLVM (PATH llvm) make of it. PIECE: of the models that run a
 * path's stages one by one, 0 all stages, else enum program_piece. FILE gets machine code or PTX,
 * or, where it ends with .cu, the text that NVRTC is handed. Prints a row of what the compiling
 * took. */
#include "cuda_compile.h"
#include "cuda_llvm.h"
#include "layout/layout.h"

#include <stdlib.h>
#include <string.h>

static int fail(const char *text)
{
    fprintf(stderr, "cuda_image: %s\n", text);
    return 2;
}

static enum status compile(int arch, const struct program_request *r, struct arena *a,
                           struct gpu_image *image, struct build_info *info, struct error *err)
{
    const char *why;
    if (r->code == CODE_LLVM)
        return cuda_llvm_compile(r, arch, a, image, info, err);
    const struct nvrtc_api *n = nvrtc_load(0, &why);
    return n ? cuda_compile(n, r, arch, false, a, image, info, err)
             : error_msg(err, STATUS_MISSING, "%s", why);
}

/* The request that the device would make for the scene. */
static void request_fill(const struct layout *l, struct program_request *r)
{
    r->features = l->features;
    r->tree = l->bvh;
    r->registers = 64;
    if (l->shaders.source.len) {
        r->source = l->shaders.source.data;
        r->shaders = l->shaders.llvm.data;
    }
}

/* A whole number below `most`. */
static bool number_read(const char *text, unsigned long most, unsigned long *out)
{
    char *end = NULL;
    *out = strtoul(text, &end, 10);
    return end != text && !*end && *out < most;
}

static enum status run(char **argv, struct program_request *r, struct error *err)
{
    struct scene *scene = NULL;
    struct layout layout = {0};
    struct arena a = {0};
    struct gpu_image image = {0};
    struct build_info info = {0};
    enum status s = scene_load(argv[5], &scene, err);
    if (s == STATUS_OK)
        s = layout_build(scene, BVH_BINARY, SHADE_AREAS, false, &layout, err);
    if (s == STATUS_OK)
        request_fill(&layout, r);
    if (r->staged)
        *r = program_request_of_piece(r, r->piece);
    const char *dot = strrchr(argv[6], '.');
    double begin = clock_s();
    if (s == STATUS_OK && dot && strcmp(dot, ".cu") == 0) {
        image.data = r->source;
        image.size = strlen(r->source);
    } else if (s == STATUS_OK) {
        s = compile((int)strtol(argv[1], NULL, 10), r, &a, &image, &info, err);
    }
    double seconds = clock_s() - begin;
    if (s == STATUS_OK && image.size && r->code == CODE_LLVM && image.data != r->source)
        image.size--; /* the zero byte after PTX, which ptxas refuses */
    if (s == STATUS_OK)
        s = file_write(argv[6], image.data, image.size, err);
    if (s == STATUS_OK)
        printf("%s %s part %s %s: %.2f s, %zu bytes, %u registers, %u bytes of stack, %u spilt\n",
               argv[5], argv[2], argv[3], argv[4], seconds, image.size, image.resources.registers,
               image.resources.stack_bytes, image.resources.spill_bytes);
    fprintf(stderr, "%s\n%s\n", info.options, info.log);
    layout_free(&layout);
    scene_free(scene);
    arena_free(&a);
    return s;
}

int main(int argc, char **argv)
{
    enum math_mode mode;
    struct error err = {0};
    unsigned long part, piece = PIECE_WHOLE;
    if (argc < 7 || argc > 8 || !number_read(argv[3], PART_COUNT, &part) ||
        !math_mode_find(argv[2], &mode) ||
        (argc == 8 && (part != PART_RENDER || !number_read(argv[7], PIECE_COUNT, &piece))))
        return fail(
            "usage: cuda_image ARCH strict|device|fast PART source|llvm SCENE FILE [PIECE]\n"
            "PART: 0 render, 1 trace, 2 probe, 3 passes, 4 hit\n"
            "PIECE: 0 all stages, 1 ends, 2 fly, 3 shade, 4 shadow");
    struct program_request request = program_request_make(mode);
    request.part = (enum program_part)part;
    request.piece = (enum program_piece)piece;
    request.staged = argc == 8;
    request.code = strcmp(argv[4], code_path_name(CODE_LLVM)) == 0 ? CODE_LLVM : CODE_SOURCE;
    if (strcmp(argv[4], code_path_name(request.code)) != 0)
        return fail("PATH is source or llvm");
    return run(argv, &request, &err) == STATUS_OK ? 0 : fail(err.msg);
}
