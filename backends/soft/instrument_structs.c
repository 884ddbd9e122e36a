/* SPDX-License-Identifier: Apache-2.0 */
/* Structs as values. A compiler copies, passes up and inlines structs by loading them whole, parts
 * that nobody wrote included; that is no read of theirs. So the shadow goes where the value goes:
 * from a load or a call to stores in the same block, and through the worker's returned shadow out
 * of a function. A struct that goes another way is read, as anything else is. */
#include "soft.h"

#include <string.h>

static bool is_struct(const struct making *m, llvm_type type)
{
    unsigned kind = m->llvm->GetTypeKind(type);
    return kind == LLVM_TYPE_STRUCT || kind == LLVM_TYPE_ARRAY;
}
static uint64_t struct_size(const struct making *m, llvm_value v)
{
    return m->llvm->StoreSizeOfType(m->layout, m->llvm->TypeOf(v));
}

/* A call that may run other device code: it may fill the returned shadow. */
static bool is_call(const struct making *m, llvm_value i)
{
    const struct llvm_api *a = m->llvm;
    size_t length;
    if (a->GetInstructionOpcode(i) != LLVM_CALL)
        return false;
    llvm_value callee = a->GetCalledValue(i);
    const char *name = a->GetValueName2(callee, &length);
    return a->GetIntrinsicID(callee) == 0 &&
           (strncmp(name, "soft_", 5) != 0 || strcmp(name, "soft_barrier") == 0);
}
bool struct_returned(const struct making *m, llvm_value call)
{
    const struct llvm_api *a = m->llvm;
    return a->GetInstructionOpcode(call) == LLVM_CALL && is_struct(m, a->TypeOf(call)) &&
           !a->IsDeclaration(a->GetCalledValue(call));
}

/* `user` comes after `value` in its block, with no such call between. */
static bool follows(const struct making *m, llvm_value value, llvm_value user)
{
    llvm_value i = m->llvm->GetNextInstruction(value);
    while (i && i != user && !is_call(m, i))
        i = m->llvm->GetNextInstruction(i);
    return i == user;
}

/* Every use of `part` of `value` is one that the shadow can follow. */
static bool only_moves(const struct making *m, llvm_value value, llvm_value part)
{
    const struct llvm_api *a = m->llvm;
    for (llvm_use u = a->GetFirstUse(part); u; u = a->GetNextUse(u)) {
        llvm_value user = a->GetUser(u);
        unsigned opcode = a->GetInstructionOpcode(user);
        bool moves = opcode == LLVM_EXTRACT_VALUE ? only_moves(m, value, user)
                     : opcode == LLVM_STORE       ? follows(m, value, user)
                     : opcode == LLVM_RET         ? part == value && follows(m, value, user)
                                                  : false;
        if (!moves)
            return false;
    }
    return true;
}

bool struct_moves(const struct making *m, llvm_value value)
{
    return is_struct(m, m->llvm->TypeOf(value)) && struct_size(m, value) <= RETURNED_BYTES &&
           only_moves(m, value, value);
}

/* soft_shadow_move(to, from, offset, size): `from` NULL is the returned shadow. */
static void shadow_move(struct making *m, llvm_value to, llvm_value from, uint64_t offset,
                        uint64_t size)
{
    const struct llvm_api *a = m->llvm;
    llvm_type types[] = {m->pointer, m->pointer, m->i64, m->i64};
    llvm_value arguments[] = {flat_pointer(m, to),
                              from ? flat_pointer(m, from) : a->ConstNull(m->pointer),
                              a->ConstInt(m->i64, offset, 0), a->ConstInt(m->i64, size, 0)};
    call_build(m, runtime_function(m, "soft_shadow_move", m->void_type, types, 4), arguments, 4);
}

static uint64_t part_offset(const struct making *m, llvm_value extract)
{
    const struct llvm_api *a = m->llvm;
    llvm_type type = a->TypeOf(a->GetOperand(extract, 0));
    const unsigned *indices = a->GetIndices(extract);
    uint64_t at = 0;
    for (unsigned i = 0; i < a->GetNumIndices(extract); i++) {
        bool array = a->GetTypeKind(type) == LLVM_TYPE_ARRAY;
        llvm_type inner =
            array ? a->GetElementType(type) : a->StructGetTypeAtIndex(type, indices[i]);
        at += array ? indices[i] * a->ABISizeOfType(m->layout, inner)
                    : a->OffsetOfElement(m->layout, type, indices[i]);
        type = inner;
    }
    return at;
}

static void stores_follow(struct making *m, llvm_value part, llvm_value from, uint64_t offset)
{
    const struct llvm_api *a = m->llvm;
    for (llvm_use u = a->GetFirstUse(part); u; u = a->GetNextUse(u)) {
        llvm_value user = a->GetUser(u);
        unsigned opcode = a->GetInstructionOpcode(user);
        if (opcode == LLVM_EXTRACT_VALUE) {
            stores_follow(m, user, from, offset + part_offset(m, user));
        } else if (opcode == LLVM_STORE) {
            a->PositionBuilderBefore(m->builder, a->GetNextInstruction(user));
            shadow_move(m, a->GetOperand(user, 1), from, offset, struct_size(m, part));
        }
    }
}

void struct_load_follow(struct making *m, llvm_value load)
{
    stores_follow(m, load, m->llvm->GetOperand(load, 0), 0);
}

void struct_call_follow(struct making *m, llvm_value call, llvm_value place)
{
    const struct llvm_api *a = m->llvm;
    if (struct_moves(m, call)) {
        stores_follow(m, call, NULL, 0);
        return;
    }
    llvm_type types[] = {m->i64, m->i32};
    llvm_value arguments[] = {a->ConstInt(m->i64, struct_size(m, call), 0), place};
    a->PositionBuilderBefore(m->builder, a->GetNextInstruction(call));
    call_build(m, runtime_function(m, "soft_returned_check", m->void_type, types, 2), arguments, 2);
}

void struct_return_follow(struct making *m, llvm_value ret)
{
    const struct llvm_api *a = m->llvm;
    llvm_value value = a->GetNumOperands(ret) ? a->GetOperand(ret, 0) : NULL;
    if (!value || !is_struct(m, a->TypeOf(value)))
        return;
    bool instruction = a->IsAInstruction(value) != NULL && struct_moves(m, value);
    if (instruction && struct_returned(m, value))
        return; /* it is there already */
    bool load = instruction && a->GetInstructionOpcode(value) == LLVM_LOAD;
    a->PositionBuilderBefore(m->builder, ret);
    llvm_type types[] = {m->pointer, m->i64};
    llvm_value arguments[] = {load ? flat_pointer(m, a->GetOperand(value, 0))
                                   : a->ConstNull(m->pointer),
                              a->ConstInt(m->i64, struct_size(m, value), 0)};
    call_build(m, runtime_function(m, "soft_shadow_return", m->void_type, types, 2), arguments, 2);
}
