/* SPDX-License-Identifier: Apache-2.0 */
#include "scene_reduce.h"
#include "scene_tree.h"

#include <math.h>
#include <string.h>

struct reducer {
    struct scene_node *scene;
    scene_reduce_test *test;
    void *ctx;
    double deadline;
    size_t tests;
    bool failed; /* out of memory */
};

static bool is_over(const struct reducer *r)
{
    return r->failed || cancel_requested || clock_s() > r->deadline;
}

/* Does the scene as it is now show it? */
static bool shows(struct reducer *r)
{
    struct text t = {0};
    bool still = false;
    scene_tree_write(r->scene, &t);
    r->failed = r->failed || t.failed;
    if (!t.failed && !is_over(r)) {
        r->tests++;
        still = r->test(r->ctx, t.data, t.len);
    }
    text_free(&t);
    return still;
}

/* ---- entries -------------------------------------------------------------------------------- */

/* Takes `count` children from *at on out of the list; puts them back when they are needed. */
static bool drop_run(struct reducer *r, struct scene_node **at, size_t count)
{
    struct scene_node *first = *at, *last = first;
    for (size_t i = 1; i < count && last->next; i++)
        last = last->next;
    struct scene_node *rest = last->next;
    *at = rest;
    if (shows(r))
        return true;
    *at = first;
    return false;
}

/* Runs of children, halves first, down to single ones. */
static bool drop_children(struct reducer *r, struct scene_node *n)
{
    bool changed = false;
    size_t count = scene_tree_count(n);
    for (size_t run = count > 3 ? (count + 1) / 2 : 1; run >= 1 && !is_over(r); run /= 2) {
        struct scene_node **at = &n->first;
        while (*at && !is_over(r)) {
            struct scene_node **end = at;
            if (drop_run(r, at, run)) {
                changed = true;
                continue;
            }
            for (size_t i = 0; i < run && *end; i++)
                end = &(*end)->next;
            at = end;
        }
    }
    return changed;
}

/* ---- values --------------------------------------------------------------------------------- */

static bool try_number(struct reducer *r, struct scene_node *n, double v)
{
    const double before = n->number;
    if (v == before)
        return false;
    n->number = v;
    if (shows(r))
        return true;
    n->number = before;
    return false;
}

/* 0, 1, or with one digit, or with two. */
static bool round_number(struct reducer *r, struct scene_node *n)
{
    if (n->number == 0 || n->number == 1)
        return false;
    if (try_number(r, n, 0) || try_number(r, n, 1))
        return true;
    for (int digits = 0; digits < 2; digits++) {
        const double step = pow(10, floor(log10(fabs(n->number))) - digits),
                     near = rint(n->number / step) * step;
        /* what has so few digits already stays */
        if (fabs(near - n->number) < 1e-9 * fabs(n->number))
            return false;
        if (try_number(r, n, near))
            return true;
    }
    return false;
}

/* An object or an array as its first plain value; {"texture": ...} as 0.5. */
static bool flatten(struct reducer *r, struct scene_node *n)
{
    const struct scene_node before = *n;
    if (!n->key || !n->first || n->type != JSON_OBJECT || !scene_tree_get(n, "texture"))
        return false;
    *n = (struct scene_node){
        .type = JSON_NUMBER, .key = before.key, .number = 0.5, .next = before.next};
    if (shows(r))
        return true;
    *n = before;
    return false;
}

static bool reduce_node(struct reducer *r, struct scene_node *n, bool values)
{
    bool changed = false;
    if (is_over(r))
        return false;
    if (values && n->type == JSON_NUMBER)
        return round_number(r, n);
    if (values)
        changed = flatten(r, n);
    /* rows of numbers keep their length */
    if (n->first && !(n->type == JSON_ARRAY && n->first->type == JSON_NUMBER))
        changed = drop_children(r, n) || changed;
    for (struct scene_node *c = n->first; c; c = c->next)
        changed = reduce_node(r, c, values) || changed;
    return changed;
}

enum status scene_reduce(const char *text, size_t size, scene_reduce_test *test, void *ctx,
                         double seconds, struct text *out, struct scene_reduction *what,
                         struct error *err)
{
    struct arena a = {0};
    struct reducer r = {.test = test, .ctx = ctx, .deadline = clock_s() + seconds};
    enum status s = scene_tree_read(&a, text, size, &r.scene, err);
    if (s == STATUS_OK && !shows(&r))
        s = error_msg(err, STATUS_MISMATCH, "the scene does not show it");
    if (s == STATUS_OK) {
        while (reduce_node(&r, r.scene, false))
            ;
        while (reduce_node(&r, r.scene, true))
            ;
        const size_t before = out->len;
        scene_tree_write(r.scene, out);
        *what = (struct scene_reduction){r.tests, size, out->len - before,
                                         !cancel_requested && clock_s() <= r.deadline};
        if (out->failed || r.failed)
            s = error_msg(err, STATUS_MEMORY, "out of memory for a smaller scene");
    }
    arena_free(&a);
    return s;
}
