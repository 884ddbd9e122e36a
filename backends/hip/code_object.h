/* SPDX-License-Identifier: Apache-2.0 */
/* What a compiled AMD kernel says of itself: the metadata note of a code object (LLVM's "User Guide
 * for AMDGPU Backend", Code Object V3 to V5 metadata: MessagePack in an ELF note). */
#ifndef ISOPHOTE_CODE_OBJECT_H
#define ISOPHOTE_CODE_OBJECT_H

#include "base.h"

struct code_object_kernel {
    char name[64];
    uint32_t vgprs, agprs, sgprs;      /* registers: vector, accumulation (CDNA), scalar */
    uint32_t scratch_bytes, lds_bytes; /* of a work-item; of a work-group */
    uint32_t vgpr_spills, sgpr_spills; /* registers spilt */
    uint32_t wavefront, max_work_group;
};

struct code_object {
    char target[96]; /* "amdgcn-amd-amdhsa--gfx90a"; "" in old ones */
    struct code_object_kernel kernels[16];
    size_t kernel_count;
};

/* `data` is an ELF file, or a clang offload bundle that holds one. PARSE when it is neither or is
 * broken, UNSUPPORTED for an ELF file of another machine, LIMIT for more than 16 kernels. */
enum status code_object_read(const void *data, size_t size, struct code_object *out,
                             struct error *err);
/* By name; NULL if there is none. */
const struct code_object_kernel *code_object_find(const struct code_object *c, const char *name);

#endif
