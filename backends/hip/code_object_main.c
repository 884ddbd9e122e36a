/* SPDX-License-Identifier: Apache-2.0 */
/* code_object ARCH MODE PART FEATURES|all|SCENE FILE: the kernel for an AMD GPU through code path
 * llvm, with no GPU; a scene's is that which its device would ask for, `all` has what no scene's
 * text brings. Prints a row for each kernel of what its metadata declares, and what its compiling
 * took. For tools/code-objects. */
#include "code_object.h"
#include "hip_compile.h"
#include "hip_llvm.h"
#include "layout/layout.h"

#include <stdlib.h>
#include <string.h>

static int fail(const char *text)
{
    fprintf(stderr, "code_object: %s\n", text);
    return 2;
}

/* FEATURES, all, or the path of a scene, whose layout knows. */
static enum status request_fill(const char *what, struct program_request *r, struct layout *l,
                                struct error *err)
{
    char *end;
    struct scene *scene = NULL;
    r->features = strcmp(what, "all") == 0 ? K_FEATURE_ALL & ~K_FEATURES_OF_TEXT
                                           : (uint32_t)strtoul(what, &end, 0);
    if (r->features || !*end)
        return STATUS_OK;
    enum status s = scene_load(what, &scene, err);
    if (s == STATUS_OK)
        s = layout_build(scene, r->tree, SHADE_AREAS, false, l, err);
    scene_free(scene);
    r->features = l->features;
    r->shaders = l->shaders.source.len ? l->shaders.llvm.data : NULL;
    return s;
}

static void rows_print(const char *arch, const char *mode, const struct code_object *object,
                       double seconds)
{
    for (size_t i = 0; i < object->kernel_count; i++) {
        const struct code_object_kernel *k = &object->kernels[i];
        printf("| %s | %s | %s | %u | %u | %u | %u | %u | %u + %u | %u | %.1f |\n", arch, mode,
               k->name, k->vgprs, k->agprs, k->sgprs, k->scratch_bytes, k->lds_bytes,
               k->vgpr_spills, k->sgpr_spills, k->wavefront, seconds);
    }
}

int main(int argc, char **argv)
{
    enum math_mode mode;
    struct error err = {0};
    if (argc != 6 || !math_mode_find(argv[2], &mode))
        return fail("usage: code_object ARCH strict|device|fast PART FEATURES|all|SCENE FILE");
    struct program_request request = program_request_make(mode);
    request.code = CODE_LLVM;
    request.tree = BVH_BINARY;
    request.part = (enum program_part)strtoul(argv[3], NULL, 0);
    struct layout layout = {0};
    struct arena a = {0};
    struct gpu_image image = {0};
    struct build_info info = {0};
    struct code_object object;
    enum status s = request_fill(argv[4], &request, &layout, &err);
    const double begin = clock_s();
    if (s == STATUS_OK)
        s = hip_llvm_compile(argv[1], &request, &a, &image, &info, &err);
    const double seconds = clock_s() - begin;
    if (s == STATUS_OK)
        s = code_object_read(image.data, image.size, &object, &err);
    if (s == STATUS_OK)
        s = file_write(argv[5], image.data, image.size, &err);
    if (s == STATUS_OK)
        rows_print(argv[1], argv[2], &object, seconds);
    layout_free(&layout);
    arena_free(&a);
    return s == STATUS_OK ? 0 : fail(err.msg);
}
