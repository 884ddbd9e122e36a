/* SPDX-License-Identifier: Apache-2.0 */
/* The portable kernel as LLVM saw it when this program was built (clang-15): SPIR-V for drivers
 * that compile no source, bitcode for what LLVM itself makes machine code of at run time. */
#ifndef ISOPHOTE_KERNEL_MODULES_H
#define ISOPHOTE_KERNEL_MODULES_H

#include "api/offers.h"
#include "llvm_compile.h"

enum kernel_format {
    KERNEL_SPIRV,       /* 1.2, OpenCL's kind (llvm-spirv-15, spirv-val) */
    KERNEL_SPIRV_CPU,   /* the same with eight lanes in one work-item (K_CPU) */
    KERNEL_X86_64,      /* bitcode; AVX2 and FMA (x86-64-v3) */
    KERNEL_X86_64_CODE, /* machine code of KERNEL_X86_64, where it takes long: film, with shaders */
    ABREAST_X86_64,     /* bitcode of abreast_kernel.c: film, paths abreast; beside LANES_X86_64 */
    KERNEL_NVPTX,       /* bitcode of the CUDA dialect */
    KERNEL_AMDGCN,      /* bitcode of the HIP dialect */
    KERNEL_SPIR,        /* bitcode of OpenCL C, with a scene's shaders alone (spirv_compile.h) */
    KERNEL_SPIR_CPU,
    SURFACES_X86_64, /* not the kernel but surface_library.c, beside modules with shaders */
    SURFACES_NVPTX,
    SURFACES_AMDGCN,
    SURFACES_SPIR,
    LANES_X86_64,          /* lanes_library.c */
    KERNEL_SHADERS_8,      /* not the kernel but shade_library.c: rows of 8 lanes (x86-64-v3) */
    KERNEL_SHADERS_16,     /* and of 16 (x86-64-v4) */
    KERNEL_SHADERS_CODE_8, /* machine code of shade_code.c, which belongs to them */
    KERNEL_SHADERS_CODE_16,
    KERNEL_FORMAT_COUNT
};

/* The module for the request that has least beyond what it asks for. Of SPIR-V: without features
 * where it asks for none (PART_RENDER, for each tree), else with all of them and for any tree. Of
 * bitcode: the one that is to be linked with what kernel_parts_find adds. Libraries are the same
 * for all parts. In static memory, 16-byte aligned; SPIR-V a multiple of 4 bytes. UNSUPPORTED when
 * the program was built without the tools, naming them, and for what only source can have: a
 * fault; shaders, where the format has no module that takes them. INTERNAL where there is no such
 * module. */
enum status kernel_module_find(enum kernel_format format, const struct program_request *request,
                               const void **data, size_t *size, struct error *err);

/* What makes one program: for one kind of tree (BVH_AUTO: for any). */
struct kernel_parts {
    /* the kernel, and what tells it and the library the tree and the features of the request; where
     * the scene has shaders, their library and they themselves */
    struct llvm_part at[4];
    size_t count;
    char hash[33];             /* of all of them */
    struct text told, shaders; /* texts of parts */
};
enum { KERNEL_PARTS_PLAIN = 2 }; /* so many without shaders */
/* The parts for a format of bitcode. Fails as kernel_module_find, UNSUPPORTED for shaders that only
 * source can have, MEMORY. */
enum status kernel_parts_find(enum kernel_format kernel, const struct program_request *request,
                              struct kernel_parts *out, struct error *err);
void kernel_parts_free(struct kernel_parts *parts); /* takes zeroed ones */

/* NULL, or what was missing when the program was built, with how to get it. */
const char *kernel_module_problem(enum kernel_format format);

#endif
