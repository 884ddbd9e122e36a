/* SPDX-License-Identifier: Apache-2.0 */
/* Checked code: before each access the runtime (checks.c) is asked for the address to use, private
 * arrays come from a stack that has a shadow, and copies carry the shadow along. */
#include "soft.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static enum status place_add(struct making *m, llvm_value function, llvm_value i, llvm_value *index)
{
    const struct llvm_api *a = m->llvm;
    struct soft_module *out = m->out;
    if (out->place_count == m->place_capacity) {
        size_t capacity = m->place_capacity ? 2 * m->place_capacity : 1024;
        struct place *grown = ARENA_ARRAY(&out->arena, struct place, capacity);
        if (!grown)
            return error_msg(m->err, STATUS_MEMORY, "out of memory for places");
        if (out->place_count)
            memcpy(grown, out->places, out->place_count * sizeof *grown);
        out->places = grown;
        m->place_capacity = capacity;
    }
    assert(out->places);
    size_t length;
    unsigned file_length = 0;
    const char *name = a->GetValueName2(function, &length);
    const char *file = a->GetDebugLocFilename(i, &file_length);
    const struct place *last = out->place_count ? &out->places[out->place_count - 1] : NULL;
    struct place *p = &out->places[out->place_count];
    p->function = last && strcmp(last->function, name) == 0 ? last->function
                                                            : arena_strdup(&out->arena, name);
    p->file = file && file_length ? arena_strndup(&out->arena, file, file_length) : "";
    p->line = file && file_length ? a->GetDebugLocLine(i) : 0;
    if (!p->function || !p->file)
        return error_msg(m->err, STATUS_MEMORY, "out of memory for places");
    *index = a->ConstInt(m->i32, out->place_count++, 0);
    return STATUS_OK;
}

/* Operand `at` of an access of `size` bytes goes through soft_check. */
static enum status access_check(struct making *m, llvm_value function, llvm_value i, unsigned at,
                                uint64_t size, uint64_t how)
{
    const struct llvm_api *a = m->llvm;
    llvm_value place, pointer = a->GetOperand(i, at);
    enum status s = place_add(m, function, i, &place);
    if (s != STATUS_OK)
        return s;
    llvm_type type = a->TypeOf(pointer), types[] = {m->pointer, m->i64, m->i32};
    a->PositionBuilderBefore(m->builder, i);
    llvm_value flat = type == m->pointer
                          ? pointer
                          : a->BuildCast(m->builder, LLVM_ADDRSPACE_CAST, pointer, m->pointer, "");
    llvm_value arguments[] = {flat, a->ConstInt(m->i64, size | how, 0), place};
    llvm_value safe =
        call_build(m, runtime_function(m, "soft_check", m->pointer, types, 3), arguments, 3);
    if (type != m->pointer)
        safe = a->BuildCast(m->builder, LLVM_ADDRSPACE_CAST, safe, type, "");
    a->SetOperand(i, at, safe);
    return STATUS_OK;
}

llvm_value flat_pointer(struct making *m, llvm_value p)
{
    return m->llvm->TypeOf(p) == m->pointer
               ? p
               : m->llvm->BuildCast(m->builder, LLVM_ADDRSPACE_CAST, p, m->pointer, "");
}
static llvm_value wide(struct making *m, llvm_value n)
{
    return m->llvm->TypeOf(n) == m->i64 ? n
                                        : m->llvm->BuildCast(m->builder, LLVM_ZEXT, n, m->i64, "");
}

/* llvm.memcpy, memmove and memset become runtime functions. */
static enum status block_check(struct making *m, llvm_value function, llvm_value call,
                               const char *name)
{
    const struct llvm_api *a = m->llvm;
    bool set = strncmp(name, "llvm.memset.", 12) == 0;
    if (!set && strncmp(name, "llvm.memcpy.", 12) != 0 && strncmp(name, "llvm.memmove.", 13) != 0)
        return STATUS_OK;
    llvm_value place;
    enum status s = place_add(m, function, call, &place);
    if (s != STATUS_OK)
        return s;
    a->PositionBuilderBefore(m->builder, call);
    llvm_value second = a->GetOperand(call, 1);
    llvm_value arguments[] = {flat_pointer(m, a->GetOperand(call, 0)),
                              set ? a->BuildCast(m->builder, LLVM_ZEXT, second, m->i32, "")
                                  : flat_pointer(m, second),
                              wide(m, a->GetOperand(call, 2)), place};
    llvm_type types[] = {m->pointer, set ? m->i32 : m->pointer, m->i64, m->i32};
    call_build(
        m,
        runtime_function(m, set ? "soft_memory_set" : "soft_memory_copy", m->void_type, types, 4),
        arguments, 4);
    a->InstructionEraseFromParent(call);
    return STATUS_OK;
}

/* By 0 counts as by 1: a processor ends the process, which no GPU does. What a finding goes on with
 * must not keep the finding from being told. */
static void division_guard(struct making *m, llvm_value i)
{
    const struct llvm_api *a = m->llvm;
    llvm_value by = a->GetOperand(i, 1);
    llvm_type type = a->TypeOf(by);
    if (a->GetTypeKind(type) != LLVM_TYPE_INTEGER || a->IsAConstantInt(by))
        return;
    a->PositionBuilderBefore(m->builder, i);
    llvm_value zero = a->BuildICmp(m->builder, LLVM_INT_EQ, by, a->ConstInt(type, 0, 0), "");
    a->SetOperand(i, 1, a->BuildSelect(m->builder, zero, a->ConstInt(type, 1, 0), by, ""));
}

static enum status instruction_check(struct making *m, llvm_value function, llvm_value i)
{
    const struct llvm_api *a = m->llvm;
    size_t length;
    llvm_value callee, place;
    enum status s;
    switch (a->GetInstructionOpcode(i)) {
    case LLVM_LOAD: {
        bool moves = struct_moves(m, i);
        s = access_check(m, function, i, 0, a->StoreSizeOfType(m->layout, a->TypeOf(i)),
                         moves ? HOW_MOVE : 0);
        if (s == STATUS_OK && moves)
            struct_load_follow(m, i);
        return s;
    }
    case LLVM_UDIV:
    case LLVM_SDIV:
    case LLVM_UREM:
    case LLVM_SREM:
        division_guard(m, i);
        return STATUS_OK;
    case LLVM_RET:
        struct_return_follow(m, i);
        return STATUS_OK;
    case LLVM_STORE:
        return access_check(m, function, i, 1,
                            a->StoreSizeOfType(m->layout, a->TypeOf(a->GetOperand(i, 0))),
                            HOW_WRITE);
    case LLVM_ATOMIC_RMW:
    case LLVM_ATOMIC_CMPXCHG:
        return access_check(m, function, i, 0,
                            a->StoreSizeOfType(m->layout, a->TypeOf(a->GetOperand(i, 1))),
                            HOW_WRITE | HOW_ATOMIC);
    case LLVM_CALL:
        callee = a->GetCalledValue(i);
        if (a->GetIntrinsicID(callee) != 0)
            return block_check(m, function, i, a->GetValueName2(callee, &length));
        if (!struct_returned(m, i))
            return STATUS_OK;
        s = place_add(m, function, i, &place);
        if (s == STATUS_OK)
            struct_call_follow(m, i, place);
        return s;
    default:
        return STATUS_OK;
    }
}

/* ---- private memory ------------------------------------------------------------------------- */

static enum status alloca_replace(struct making *m, llvm_value function, llvm_value i)
{
    (void)function;
    const struct llvm_api *a = m->llvm;
    if (a->GetInstructionOpcode(i) != LLVM_ALLOCA)
        return STATUS_OK;
    llvm_type type = a->GetAllocatedType(i), types[] = {m->i64, m->i64};
    unsigned align = a->GetAlignment(i);
    a->PositionBuilderBefore(m->builder, i);
    llvm_value size = a->BuildMul(m->builder, wide(m, a->GetOperand(i, 0)),
                                  a->ConstInt(m->i64, a->ABISizeOfType(m->layout, type), 0), "");
    llvm_value arguments[] = {size, a->ConstInt(m->i64, align ? align : 16, 0)};
    llvm_value made =
        call_build(m, runtime_function(m, "soft_private_make", m->pointer, types, 2), arguments, 2);
    if (a->TypeOf(i) != m->pointer)
        made = a->BuildCast(m->builder, LLVM_ADDRSPACE_CAST, made, a->TypeOf(i), "");
    a->ReplaceAllUsesWith(i, made);
    a->InstructionEraseFromParent(i);
    return STATUS_OK;
}

static bool has_alloca(const struct making *m, llvm_value f)
{
    const struct llvm_api *a = m->llvm;
    for (llvm_block b = a->GetFirstBasicBlock(f); b; b = a->GetNextBasicBlock(b))
        for (llvm_value i = a->GetFirstInstruction(b); i; i = a->GetNextInstruction(i))
            if (a->GetInstructionOpcode(i) == LLVM_ALLOCA)
                return true;
    return false;
}

/* Lifetime markers name allocas, which are going; no other intrinsic does. */
static enum status lifetime_drop(struct making *m, llvm_value function, llvm_value i)
{
    (void)function;
    const struct llvm_api *a = m->llvm;
    size_t length;
    if (a->GetInstructionOpcode(i) == LLVM_CALL &&
        strncmp(a->GetValueName2(a->GetCalledValue(i), &length), "llvm.lifetime.", 14) == 0)
        a->InstructionEraseFromParent(i);
    return STATUS_OK;
}

static void frame_add(struct making *m, llvm_value f)
{
    const struct llvm_api *a = m->llvm;
    a->PositionBuilderBefore(m->builder, a->GetFirstInstruction(a->GetEntryBasicBlock(f)));
    llvm_value mark =
        call_build(m, runtime_function(m, "soft_private_enter", m->i64, NULL, 0), NULL, 0);
    llvm_value leave = runtime_function(m, "soft_private_leave", m->void_type, &m->i64, 1);
    for (llvm_block b = a->GetFirstBasicBlock(f); b; b = a->GetNextBasicBlock(b)) {
        llvm_value end = a->GetBasicBlockTerminator(b);
        if (!end || a->GetInstructionOpcode(end) != LLVM_RET)
            continue;
        a->PositionBuilderBefore(m->builder, end);
        call_build(m, leave, &mark, 1);
    }
}

enum status module_instrument(struct making *m)
{
    const struct llvm_api *a = m->llvm;
    enum status s = STATUS_OK;
    for (llvm_value f = a->GetFirstFunction(m->module); s == STATUS_OK && f;
         f = a->GetNextFunction(f)) {
        if (a->IsDeclaration(f))
            continue;
        bool frame = has_alloca(m, f);
        s = instructions_visit(m, f, lifetime_drop);
        if (s == STATUS_OK)
            s = instructions_visit(m, f, instruction_check);
        if (s == STATUS_OK)
            s = instructions_visit(m, f, alloca_replace);
        if (s == STATUS_OK && frame)
            frame_add(m, f);
    }
    return s;
}
