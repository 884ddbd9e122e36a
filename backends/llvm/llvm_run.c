/* SPDX-License-Identifier: Apache-2.0 */
/* Object code linked and run in this process, by ORC. */
#include "llvm_compile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct llvm_program {
    const struct llvm_api *llvm;
    llvm_jit jit;
};

/* What compilers call without being asked to, and the mathematics of the modes that allow the
 * system's. */
#define CALLED(name)                                                                               \
    {                                                                                              \
#name, (void (*)(void))(name)                                                              \
    }
static const struct {
    const char *name;
    void (*address)(void);
} called[] = {CALLED(memcpy), CALLED(memmove), CALLED(memset), CALLED(memcmp), CALLED(fmaf),
              CALLED(fmodf),  CALLED(sinf),    CALLED(cosf),   CALLED(acosf),  CALLED(atan2f),
              CALLED(expf),   CALLED(exp2f),   CALLED(logf),   CALLED(log2f),  CALLED(powf),
              CALLED(floorf), CALLED(rintf),   CALLED(sqrtf)};

static enum status called_define(const struct llvm_program *p, struct error *err)
{
    enum { COUNT = sizeof called / sizeof called[0] };
    const struct llvm_api *a = p->llvm;
    struct llvm_symbol symbols[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        symbols[i] =
            (struct llvm_symbol){.name = a->OrcLLJITMangleAndIntern(p->jit, called[i].name),
                                 .to = {.address = (uint64_t)(uintptr_t)called[i].address,
                                        .flags = {.generic = LLVM_EXPORTED}}};
    llvm_failure failure = a->OrcJITDylibDefine(a->OrcLLJITGetMainJITDylib(p->jit),
                                                a->OrcAbsoluteSymbols(symbols, COUNT));
    return failure ? llvm_error(err, a, STATUS_INTERNAL, failure, NULL, "runtime functions")
                   : STATUS_OK;
}

static enum status object_add(const struct llvm_program *p, const struct llvm_object *object,
                              struct error *err)
{
    const struct llvm_api *a = p->llvm;
    llvm_buffer buffer =
        a->CreateMemoryBufferWithMemoryRangeCopy(object->data, object->size, "object");
    llvm_failure failure =
        a->OrcLLJITAddObjectFile(p->jit, a->OrcLLJITGetMainJITDylib(p->jit), buffer);
    return failure ? llvm_error(err, a, STATUS_BUILD, failure, NULL, "object code") : STATUS_OK;
}

enum status llvm_program_load(const struct llvm_api *a, const struct llvm_object *objects,
                              size_t count, struct llvm_program **out, struct error *err)
{
    struct llvm_program *p = calloc(1, sizeof *p);
    if (!p)
        return error_msg(err, STATUS_MEMORY, "out of memory for a program");
    p->llvm = a;
    llvm_failure failure = a->OrcCreateLLJIT(&p->jit, NULL);
    if (failure) {
        free(p);
        return llvm_error(err, a, STATUS_INTERNAL, failure, NULL, "LLVM's linker");
    }
    enum status s = called_define(p, err);
    for (size_t i = 0; i < count && s == STATUS_OK; i++)
        s = object_add(p, &objects[i], err);
    if (s != STATUS_OK) {
        llvm_program_free(p);
        return s;
    }
    *out = p;
    return STATUS_OK;
}

void *llvm_program_symbol(const struct llvm_program *p, const char *name)
{
    uint64_t address = 0;
    llvm_failure failure = p->llvm->OrcLLJITLookup(p->jit, &address, name);
    if (failure) {
        p->llvm->DisposeErrorMessage(p->llvm->GetErrorMessage(failure));
        return NULL;
    }
    return (void *)(uintptr_t)address;
}

void llvm_program_free(struct llvm_program *p)
{
    if (!p)
        return;
    llvm_failure failure = p->llvm->OrcDisposeLLJIT(p->jit);
    if (failure)
        p->llvm->DisposeErrorMessage(p->llvm->GetErrorMessage(failure));
    free(p);
}
