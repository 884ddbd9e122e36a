/* SPDX-License-Identifier: Apache-2.0 */
#include "shade_llvm.h"

#include "llvm/offers.h"

static unsigned lanes(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        return 16;
#endif
    return 8;
}

enum status shade_llvm_program(const struct shade *s, struct shade_program *out, struct error *err)
{
    return shade_program_make_llvm(s, lanes(), out, err);
}

enum status shade_llvm_build(const struct shade *s, const struct shade_program *p,
                             struct llvm_program **out, struct build_info *info, struct error *err)
{
    static const char *const keep[] = {"al_shade", "al_uniform", "al_out_words", NULL};
    const struct program_request request = program_request_make(s->opt.mode);
    const bool wide = lanes() == 16;
    struct llvm_part parts[2] = {
        {.name = "the shaders' library", .library = true},
        {.name = "the shader", .data = p->source.data, .size = p->source.len}};
    struct llvm_unit units[2] = {{.parts = parts, .count = 2, .keep = keep, .optimised = true}};
    enum status st = kernel_module_find(wide ? KERNEL_SHADERS_16 : KERNEL_SHADERS_8, &request,
                                        &parts[0].data, &parts[0].size, err);
    if (st == STATUS_OK)
        st = kernel_module_find(wide ? KERNEL_SHADERS_CODE_16 : KERNEL_SHADERS_CODE_8, &request,
                                &units[1].made.data, &units[1].made.size, err);
    return st == STATUS_OK ? native_llvm_program(units, 2, out, info, err) : st;
}
