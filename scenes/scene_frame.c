/* Where a scene's frame has its origin: 0, unless the scene stands far from there. */
#include "scene_loader.h"

#include <math.h>

/* Far is a middle that lies more than this many half sides from 0: four of float32's 24 bits. */
static const double far_ratio = 16;

static const struct box no_box = {{INFINITY, INFINITY, INFINITY},
                                  {-INFINITY, -INFINITY, -INFINITY}};

static void box_add(struct box *b, const double p[3])
{
    for (int c = 0; c < 3; c++) {
        b->lo[c] = fmin(b->lo[c], p[c]);
        b->hi[c] = fmax(b->hi[c], p[c]);
    }
}

/* The corners of `inner`, moved. */
static void box_add_moved(struct box *b, const struct box *inner, const struct transform *t)
{
    for (int corner = 0; corner < 8 && inner->lo[0] <= inner->hi[0]; corner++) {
        double p[3], q[3];
        for (int c = 0; c < 3; c++)
            p[c] = corner >> c & 1 ? inner->hi[c] : inner->lo[c];
        transform_point(t, p, q);
        box_add(b, q);
    }
}

static struct box model_box_of(const struct model *m)
{
    struct box b = no_box;
    for (uint64_t i = 0; i < m->vertex_count; i++) {
        const double p[3] = {(double)m->P[i][0], (double)m->P[i][1], (double)m->P[i][2]};
        if (isfinite(p[0]) && isfinite(p[1]) && isfinite(p[2]))
            box_add(&b, p);
    }
    return b;
}

/* Those of its models and groups are known. */
static struct box group_box(const struct object_group *g)
{
    struct box b = no_box;
    for (size_t i = 0; i < g->count; i++) {
        const struct object *o = &g->objects[i];
        struct box own;
        if (o->group)
            own = o->group->box;
        else if (o->model)
            own = o->model->box;
        else
            for (int c = 0; c < 3; c++) {
                own.lo[c] = o->center[c] - o->radius;
                own.hi[c] = o->center[c] + o->radius;
            }
        box_add_moved(&b, &own, &o->to_parent);
    }
    return b;
}

/* The middle of the box, rounded to a multiple of a power of two that is at least half its longest
 * side, and to float32, as devices have it: so float32 coordinates there less this are exact. */
static void place_frame(const struct box *b, double origin[3])
{
    double half = 0, away = 0;
    int k;
    for (int c = 0; c < 3; c++) {
        half = fmax(half, (b->hi[c] - b->lo[c]) / 2);
        away = fmax(away, fabs(b->hi[c] + b->lo[c]) / 2);
    }
    if (!(half > 0 && away > far_ratio * half && isfinite(away)))
        return;
    frexp(half, &k);
    for (int c = 0; c < 3; c++)
        origin[c] = (double)(float)ldexp(rint(ldexp((b->hi[c] + b->lo[c]) / 2, -k)), k);
}

void choose_frame(struct loader *l)
{
    for (struct loaded_model *m = l->models; m; m = m->next)
        m->box = model_box_of(&m->model);
    for (size_t i = 0; i < l->read_count; i++)
        l->read[i]->box = group_box(l->read[i]);
    place_frame(&l->objects.box, l->scene->frame_origin);
}
