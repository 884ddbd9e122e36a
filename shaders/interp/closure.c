/* SPDX-License-Identifier: Apache-2.0 */
/* closure.c: a closure taken apart for a renderer. */
#include "interp.h"

/* Sums nest to the left as deep as a program writes them. */
enum { CLOSURE_DEPTH = 2000, ARGUMENTS = 64 };

struct walk {
    asl_closure_visitor *visit;
    void *ctx;
    unsigned depth;
};

static void visit_component(const struct walk *w, const struct asl_closure *c,
                            const float weight[3])
{
    struct asl_closure_arg args[ARGUMENTS];
    size_t n = c->arg_count < ARGUMENTS ? c->arg_count : ARGUMENTS;
    for (size_t i = 0; i < n; i++)
        args[i] = (struct asl_closure_arg){c->keys[i], c->args[i].type, c->args[i].v};
    w->visit(w->ctx, c->name, weight, args, n);
}

static void walk(struct walk *w, const struct asl_closure *c, const float weight[3])
{
    float product[3] = {weight[0], weight[1], weight[2]};
    if (++w->depth <= CLOSURE_DEPTH) {
        while (c && c->kind != CLOSURE_NODE) {
            if (c->kind == CLOSURE_MUL) {
                for (size_t i = 0; i < 3; i++)
                    product[i] = product[i] * c->weight[i];
                c = c->a;
            } else {
                walk(w, c->a, product);
                c = c->b;
            }
        }
        if (c)
            visit_component(w, c, product);
    }
    w->depth--;
}

void asl_closure_visit(const struct asl_closure *c, const float weight[3],
                       asl_closure_visitor *visit, void *ctx)
{
    struct walk w = {.visit = visit, .ctx = ctx};
    walk(&w, c, weight);
}
