/* SPDX-License-Identifier: Apache-2.0 */
/* emit_llvm_arrays.c: copies and zeros of arrays. */
#include "emit_llvm.h"

#include <string.h>

/* Arrays are written as a whole: LLVM takes long, by more than the square, over stores in a row.
 * NULL: where one lies that is not known. */
enum { WHOLE_WORTH = 32, SURFACE_ROWS_MOST = 1024 };
static const char *whole_at(struct llvm *l, const struct ir_inst *i, const struct ir_place *p)
{
    for (uint32_t k = 0; k < p->index_count; k++) {
        int32_t fixed;
        if (!emit_constant_int(&l->e, i->operands[p->index[k].operand], &fixed))
            return NULL;
    }
    uint32_t base;
    (void)ll_slot_of(l, i, p, 0, &base);
    return ll_row_at(l, ll_cell_base(l, p->cell), base);
}

/* Materials' code has neither memcpy nor calls of its own: other code paths take what is large. */
static bool written_whole(struct llvm *l, const struct ir_inst *i)
{
    if (ll_is_surface(l) && i->u.mem.count > SURFACE_ROWS_MOST)
        emit_fail(&l->e, STATUS_UNSUPPORTED, i->at,
                  "code path llvm copies arrays of up to %d numbers in materials; this is %u",
                  SURFACE_ROWS_MOST, i->u.mem.count);
    return i->u.mem.count >= WHOLE_WORTH && !ll_is_surface(l);
}

/* A function of the module that writes n rows in the lanes of m: those at %from, else zeros. */
static const char *rows_function(struct llvm *l, bool copies)
{
    const char *name = copies ? "rows_copy" : "rows_zero";
    const char *head = TEXT("define internal void @%s(ptr %%to, %si64 %%n, %s %%m) {\n", name,
                            copies ? "ptr %from, " : "", l->b);
    if (l->declared->data && strstr(l->declared->data, head))
        return name;
    const char *from =
        copies
            ? TEXT("%%f = getelementptr %s, ptr %%from, i64 %%k\n%%x = load %s, ptr %%f, align 4\n",
                   l->i, l->i)
            : "";
    text_printf(l->declared,
                "%sentry: br label %%head\n"
                "head: %%k = phi i64 [ 0, %%entry ], [ %%next, %%head ]\n"
                "%%t = getelementptr %s, ptr %%to, i64 %%k\n"
                "%%old = load %s, ptr %%t, align 4\n%s"
                "%%new = select %s %%m, %s %s, %s %%old\n"
                "store %s %%new, ptr %%t, align 4\n"
                "%%next = add i64 %%k, 1\n"
                "%%more = icmp ult i64 %%next, %%n\n"
                "br i1 %%more, label %%head, label %%out\n"
                "out: ret void\n}\n",
                head, l->i, l->i, from, l->b, l->i, copies ? "%x" : "zeroinitializer", l->i, l->i);
    return name;
}

static bool copy_whole(struct llvm *l, const struct ir_inst *i)
{
    const char *from, *to;
    if (!written_whole(l, i) || i->u.mem.to.cell == i->u.mem.from.cell ||
        !(from = whole_at(l, i, &i->u.mem.from)) || !(to = whole_at(l, i, &i->u.mem.to)))
        return false;
    if (!emit_stores_freely(&l->e, i->u.mem.to.cell)) {
        const char *m = ll_mask_now(l), *name = rows_function(l, true);
        L("call void @%s(ptr %s, ptr %s, i64 %u, %s %s)\n", name, to, from, i->u.mem.count, l->b,
          m);
        return true;
    }
    ll_declare(l, "void", "llvm.memcpy.p0.p0.i64", "ptr, ptr, i64, i1");
    L("call void @llvm.memcpy.p0.p0.i64(ptr %s, ptr %s, i64 %u, i1 false)\n", to, from,
      i->u.mem.count * 4 * l->lanes);
    return true;
}

static bool zero_whole(struct llvm *l, const struct ir_inst *i)
{
    const char *to;
    if (!written_whole(l, i) || !(to = whole_at(l, i, &i->u.mem.to)))
        return false;
    if (!emit_stores_freely(&l->e, i->u.mem.to.cell)) {
        const char *m = ll_mask_now(l), *name = rows_function(l, false);
        L("call void @%s(ptr %s, i64 %u, %s %s)\n", name, to, i->u.mem.count, l->b, m);
        return true;
    }
    ll_declare(l, "void", "llvm.memset.p0.i64", "ptr, i8, i64, i1");
    L("call void @llvm.memset.p0.i64(ptr %s, i8 0, i64 %u, i1 false)\n", to,
      i->u.mem.count * 4 * l->lanes);
    return true;
}

void ll_copy(struct llvm *l, const struct ir_inst *i)
{
    if (copy_whole(l, i))
        return;
    for (uint32_t k = 0; k < i->u.mem.count; k++)
        ll_cell_store(l, i, &i->u.mem.to, k, l->i, ll_cell_load(l, i, &i->u.mem.from, k, l->i));
}

/* The number of "" is 0, as is the empty closure's. */
void ll_zero(struct llvm *l, const struct ir_inst *i)
{
    if (zero_whole(l, i))
        return;
    for (uint32_t k = 0; k < i->u.mem.count; k++)
        ll_cell_store(l, i, &i->u.mem.to, k, l->i, "zeroinitializer");
}
