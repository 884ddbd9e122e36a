/* SPDX-License-Identifier: Apache-2.0 */
/* bi_closure.c: closures: symbolic sums of weighted components, and their text. */
#include "interp.h"

#include <math.h>
#include <string.h>

static void artistic_ior(struct asl_place *args)
{
    for (size_t i = 0; i < 3; i++) {
        float r = args[0].v[i].f, g = args[1].v[i].f;
        r = r < 0 ? 0 : r > 0.99f ? 0.99f : r;
        g = g < 0 ? 0 : g > 1 ? 1 : g;
        float s = sqrtf(r);
        float n = g * ((1 - r) / (1 + r)) + (1 - g) * ((1 + s) / (1 - s));
        float k2 = (r * (n + 1) * (n + 1) - (n - 1) * (n - 1)) / (1 - r);
        asl_dual_store(&args[2], i, d_const(n));
        asl_dual_store(&args[3], i, d_const(k2 > 0 ? sqrtf(k2) : 0));
    }
}

void asl_bi_closure(struct asl_run *r, const struct asl_expr *e, struct asl_place *args,
                    union asl_slot *out)
{
    if (e->builtin->id == BI_ARTISTIC_IOR) {
        artistic_ior(args);
        return;
    }
    struct asl_closure *c = asl_point_alloc(r, 1, sizeof *c);
    bool declared =
        e->builtin->id == BI_COMPONENT; /* its name comes first, pairs stay as they are */
    const char *name = declared ? args++[0].v[0].s : e->builtin->name;
    size_t given = e->arg_count - declared, fixed = declared ? given : e->overload->count,
           count = fixed + (given - fixed) / 2;
    struct asl_place *copy = asl_point_alloc(r, count + 1, sizeof *copy);
    const char **keys = asl_point_alloc(r, count + 1, sizeof *keys);
    for (size_t i = 0; i < count; i++) {
        const struct asl_place *a = &args[i < fixed ? i : fixed + 2 * (i - fixed) + 1];
        keys[i] = i < fixed ? NULL : args[fixed + 2 * (i - fixed)].v[0].s;
        copy[i] = *a;
        copy[i].d = 0;
        copy[i].v = asl_point_alloc(r, a->n, sizeof(union asl_slot));
        memcpy(copy[i].v, a->v, a->n * sizeof(union asl_slot));
    }
    c->kind = CLOSURE_NODE;
    c->name = name;
    c->arg_count = (uint32_t)count;
    c->args = copy;
    c->keys = keys;
    out[0].c = c;
}

/* ---- text ----------------------------------------------------------------------------------- */

struct printer {
    struct text *out;
    bool first;
    unsigned depth;
};

/* printf shows the sign of NaN, which nothing defines (asl.md, Formatting). */
static double shown(float x) { return isnan(x) ? fabs((double)x) : (double)x; }

static void print(struct printer *p, const struct asl_closure *c, const float weight[3]);

/* A triple, a matrix or an element stands in ( ), an array in [ ]. */
static void print_argument(struct printer *p, const struct asl_place *a)
{
    bool array = a->type.array != 0;
    struct asl_type element = a->type;
    element.array = 0;
    size_t n = array ? asl_type_slots(element) : a->n;
    bool row = n > 1;
    if (array)
        text_puts(p->out, "[");
    for (size_t i = 0; i < a->n; i++) {
        if (i)
            text_puts(p->out, ", ");
        if (row && i % n == 0)
            text_puts(p->out, "(");
        switch (asl_type_scalar(a->type, i)) {
        case ASL_INT:
            text_printf(p->out, "%d", a->v[i].i);
            break;
        case ASL_STRING:
            text_printf(p->out, "\"%s\"", a->v[i].s);
            break;
        case ASL_CLOSURE: {
            struct printer inner = {.out = p->out, .first = true, .depth = p->depth + 1};
            static const float one[3] = {1, 1, 1};
            print(&inner, a->v[i].c, one);
            break;
        }
        default:
            text_printf(p->out, "%g", shown(a->v[i].f));
        }
        if (row && i % n == n - 1)
            text_puts(p->out, ")");
    }
    if (array)
        text_puts(p->out, "]");
}

/* How many arguments stand before the pairs. */
static size_t fixed_arguments(const struct asl_closure *c)
{
    size_t n = 0;
    while (n < c->arg_count && !c->keys[n])
        n++;
    return n;
}

/* diffuse and phong have a label, as OSL's testshade knows them, and show it where none is given. */
static bool lacks_label(const struct asl_closure *c, size_t fixed)
{
    if (!(fixed == 1 && strcmp(c->name, "diffuse") == 0) &&
        !(fixed == 2 && strcmp(c->name, "phong") == 0))
        return false;
    for (size_t i = fixed; i < c->arg_count; i++)
        if (strcmp(c->keys[i], "label") == 0)
            return false;
    return true;
}

static void print(struct printer *p, const struct asl_closure *c, const float weight[3])
{
    float w[3] = {weight[0], weight[1], weight[2]};
    if (++p->depth > 2000) {
        text_puts(p->out, "...");
        p->depth--;
        return;
    }
    while (c && c->kind != CLOSURE_NODE) {
        if (c->kind == CLOSURE_MUL) {
            for (size_t i = 0; i < 3; i++)
                w[i] = w[i] * c->weight[i];
            c = c->a;
        } else {
            print(p, c->a, w);
            c = c->b;
        }
    }
    p->depth--;
    if (!c)
        return;
    text_printf(p->out, "%s(%g, %g, %g) * %s (", p->first ? "" : "\n\t+ ", shown(w[0]), shown(w[1]),
                shown(w[2]), c->name);
    p->first = false;
    /* Short forms are shown as the long ones that they stand for (asl.md, Closures as text). */
    size_t fixed = fixed_arguments(c);
    bool one_alpha = fixed == 5 && strcmp(c->name, "microfacet") == 0,
         no_eta = fixed == 1 && strcmp(c->name, "reflection") == 0;
    for (size_t i = 0; i < c->arg_count; i++) {
        if (i)
            text_puts(p->out, ", ");
        if (c->keys[i])
            text_printf(p->out, "\"%s\", ", c->keys[i]);
        if (one_alpha && i == 2) {
            text_puts(p->out, "(0, 0, 0), ");
            print_argument(p, &c->args[i]);
            text_puts(p->out, ", ");
        }
        print_argument(p, &c->args[i]);
        if (no_eta && i == 0)
            text_puts(p->out, ", 0");
    }
    if (lacks_label(c, fixed))
        text_puts(p->out, ", \"label\", \"\"");
    text_puts(p->out, ")");
}

void asl_closure_print(const struct asl_closure *c, struct text *out)
{
    static const float one[3] = {1, 1, 1};
    struct printer p = {.out = out, .first = true};
    print(&p, c, one);
}
