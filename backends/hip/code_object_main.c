/* code_object ARCH MODE PART FEATURES FILE: the kernel for an AMD GPU through code path llvm, with
 * no GPU; prints a row for each kernel of what its metadata declares. For tools/code-objects. */
#include "code_object.h"
#include "hip_compile.h"
#include "hip_llvm.h"

#include <stdlib.h>
#include <string.h>

static int fail(const char *text)
{
    fprintf(stderr, "code_object: %s\n", text);
    return 2;
}

static bool mode_find(const char *name, enum math_mode *mode)
{
    for (int m = MODE_STRICT; m <= MODE_FAST; m++)
        if (strcmp(name, math_mode_name((enum math_mode)m)) == 0) {
            *mode = (enum math_mode)m;
            return true;
        }
    return false;
}

static void rows_print(const char *arch, const char *mode, const struct code_object *object)
{
    for (size_t i = 0; i < object->kernel_count; i++) {
        const struct code_object_kernel *k = &object->kernels[i];
        printf("| %s | %s | %s | %u | %u | %u | %u | %u | %u + %u | %u |\n", arch, mode, k->name,
               k->vgprs, k->agprs, k->sgprs, k->scratch_bytes, k->lds_bytes, k->vgpr_spills,
               k->sgpr_spills, k->wavefront);
    }
}

int main(int argc, char **argv)
{
    enum math_mode mode;
    struct error err = {0};
    if (argc != 6 || !mode_find(argv[2], &mode))
        return fail("usage: code_object ARCH strict|device|fast PART FEATURES FILE");
    struct program_request request = program_request_make(mode);
    request.code = CODE_LLVM;
    request.part = (enum program_part)strtoul(argv[3], NULL, 0);
    request.features = (uint32_t)strtoul(argv[4], NULL, 0);
    struct arena a = {0};
    struct gpu_image image = {0};
    struct build_info info = {0};
    struct code_object object;
    enum status s = hip_llvm_compile(argv[1], &request, &a, &image, &info, &err);
    if (s == STATUS_OK)
        s = code_object_read(image.data, image.size, &object, &err);
    if (s == STATUS_OK)
        s = file_write(argv[5], image.data, image.size, &err);
    if (s == STATUS_OK)
        rows_print(argv[1], argv[2], &object);
    arena_free(&a);
    return s == STATUS_OK ? 0 : fail(err.msg);
}
