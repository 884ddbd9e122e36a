/* SPDX-License-Identifier: Apache-2.0 */
#include "llvm_spaces.h"

/* NVPTX Usage and the User Guide for AMDGPU, "Address Spaces". UNSEEN: nothing was seen yet. */
enum { ANY = 0, BUFFERS = 1, STACK = 5, UNSEEN = -1 };

/* A parameter, or a function for its result. */
struct place {
    llvm_value value, function;
    int space;
};

enum { PLACES_MOST = 1024, DEPTH_MOST = 8 };

struct spaces {
    const struct llvm_api *llvm;
    llvm_context context;
    llvm_builder builder;
    struct place places[PLACES_MOST];
    int count;
    bool full; /* more places than there is room for: nothing is told */
};

static bool is_plain_pointer(const struct llvm_api *a, llvm_type t)
{
    return a->GetTypeKind(t) == LLVM_TYPE_POINTER && a->GetPointerAddressSpace(t) == ANY;
}

static struct place *place_find(struct spaces *s, llvm_value value)
{
    for (int i = 0; i < s->count; i++)
        if (s->places[i].value == value)
            return &s->places[i];
    return NULL;
}

static int meet(int a, int b) { return a == UNSEEN ? b : b == UNSEEN || a == b ? a : ANY; }

static int space_of(struct spaces *s, llvm_value v, int depth);

/* What all operands of a phi agree on. */
static int space_of_phi(struct spaces *s, llvm_value phi, int depth)
{
    int space = UNSEEN;
    for (int i = 0; i < s->llvm->GetNumOperands(phi); i++)
        space = meet(space, space_of(s, s->llvm->GetOperand(phi, (unsigned)i), depth + 1));
    return space;
}

static int space_of(struct spaces *s, llvm_value v, int depth)
{
    const struct llvm_api *a = s->llvm;
    for (; depth < DEPTH_MOST; depth++) {
        const struct place *known;
        const int named = (int)a->GetPointerAddressSpace(a->TypeOf(v));
        if (named != ANY)
            return named;
        if (!a->IsAInstruction(v)) {
            known = place_find(s, v);
            return known ? known->space : ANY;
        }
        switch (a->GetInstructionOpcode(v)) {
        case LLVM_ALLOCA:
            return STACK;
        case LLVM_GEP:
        case LLVM_ADDRSPACE_CAST:
            v = a->GetOperand(v, 0);
            break;
        case LLVM_PHI:
            return space_of_phi(s, v, depth);
        case LLVM_CALL:
            known = place_find(s, a->GetCalledValue(v));
            return known ? known->space : ANY;
        default:
            return ANY;
        }
    }
    return ANY;
}

/* Only called, and by nobody outside? */
static bool is_only_called(const struct llvm_api *a, llvm_value f)
{
    if (a->GetLinkage(f) != LLVM_INTERNAL_LINKAGE || !a->GetFirstBasicBlock(f))
        return false;
    for (llvm_use u = a->GetFirstUse(f); u; u = a->GetNextUse(u)) {
        llvm_value user = a->GetUser(u);
        if (!a->IsAInstruction(user) || a->GetInstructionOpcode(user) != LLVM_CALL ||
            a->GetCalledValue(user) != f)
            return false;
        for (unsigned i = 0; i < a->CountParams(f); i++)
            if (a->GetOperand(user, i) == f)
                return false;
    }
    return true;
}

static void place_add(struct spaces *s, llvm_value value, llvm_value function, int space)
{
    if (s->count == PLACES_MOST)
        s->full = true;
    else
        s->places[s->count++] = (struct place){value, function, space};
}

static void places_list(struct spaces *s, llvm_module m)
{
    const struct llvm_api *a = s->llvm;
    for (llvm_value f = a->GetFirstFunction(m); f; f = a->GetNextFunction(f)) {
        if (!a->GetFirstBasicBlock(f))
            continue;
        const bool inner = is_only_called(a, f);
        for (unsigned i = 0; i < a->CountParams(f); i++)
            if (is_plain_pointer(a, a->TypeOf(a->GetParam(f, i))) &&
                (inner || a->GetLinkage(f) != LLVM_INTERNAL_LINKAGE))
                place_add(s, a->GetParam(f, i), inner ? f : NULL, inner ? UNSEEN : BUFFERS);
        if (inner && is_plain_pointer(a, a->GetReturnType(a->GlobalGetValueType(f))))
            place_add(s, f, f, UNSEEN);
    }
}

static int space_of_result(struct spaces *s, llvm_value f)
{
    const struct llvm_api *a = s->llvm;
    int space = UNSEEN;
    for (llvm_block b = a->GetFirstBasicBlock(f); b; b = a->GetNextBasicBlock(b)) {
        llvm_value end = a->GetBasicBlockTerminator(b);
        if (a->GetInstructionOpcode(end) == LLVM_RET)
            space = meet(space, space_of(s, a->GetOperand(end, 0), 0));
    }
    return space;
}

static int space_of_parameter(struct spaces *s, const struct place *p)
{
    const struct llvm_api *a = s->llvm;
    unsigned number = 0;
    int space = UNSEEN;
    while (a->GetParam(p->function, number) != p->value)
        number++;
    for (llvm_use u = a->GetFirstUse(p->function); u; u = a->GetNextUse(u))
        space = meet(space, space_of(s, a->GetOperand(a->GetUser(u), number), 0));
    return space;
}

/* Until nothing changes: spaces only go from UNSEEN to a memory to ANY. */
static void places_settle(struct spaces *s)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < s->count; i++) {
            struct place *p = &s->places[i];
            if (!p->function || p->space == ANY)
                continue;
            const int space =
                meet(p->space, p->value == p->function ? space_of_result(s, p->function)
                                                       : space_of_parameter(s, p));
            changed = changed || space != p->space;
            p->space = space;
        }
    }
}

/* Whoever uses v from `before` on uses it by way of its memory. */
static void value_tell(const struct spaces *s, llvm_value v, int space, llvm_value before)
{
    const struct llvm_api *a = s->llvm;
    if (!a->GetFirstUse(v))
        return;
    a->PositionBuilderBefore(s->builder, before);
    llvm_value there = a->BuildCast(s->builder, LLVM_ADDRSPACE_CAST, v,
                                    a->PointerTypeInContext(s->context, (unsigned)space), "");
    a->ReplaceAllUsesWith(v,
                          a->BuildCast(s->builder, LLVM_ADDRSPACE_CAST, there, a->TypeOf(v), ""));
    a->SetOperand(there, 0, v);
}

static void place_tell(const struct spaces *s, const struct place *p)
{
    const struct llvm_api *a = s->llvm;
    if (p->value != p->function) {
        value_tell(s, p->value, p->space,
                   a->GetFirstInstruction(a->GetEntryBasicBlock(p->function)));
        return;
    }
    for (llvm_use u = a->GetFirstUse(p->function); u; u = a->GetNextUse(u))
        value_tell(s, a->GetUser(u), p->space, a->GetNextInstruction(a->GetUser(u)));
}

void llvm_spaces_tell(const struct llvm_api *api, llvm_context context, llvm_module module)
{
    struct spaces s = {.llvm = api, .context = context};
    places_list(&s, module);
    if (s.full)
        return;
    places_settle(&s);
    s.builder = api->CreateBuilderInContext(context);
    for (int i = 0; i < s.count; i++)
        if (s.places[i].function && s.places[i].space > ANY)
            place_tell(&s, &s.places[i]);
    api->DisposeBuilder(s.builder);
}
