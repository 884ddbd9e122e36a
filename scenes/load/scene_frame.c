/* SPDX-License-Identifier: Apache-2.0 */
/* Where a scene's frame has its origin, and each group's: 0, unless it stands far from there. */
#include "scene_loader.h"

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

/* Less the model's origin, which is in its objects' transforms. */
static struct box model_box_of(const struct model *m)
{
    struct box b = box_empty;
    for (uint64_t i = 0; i < m->vertex_count; i++)
        box_add(&b, (double[]){(double)m->P[i][0], (double)m->P[i][1], (double)m->P[i][2]});
    return b;
}

/* Those of its models and groups are known. */
static struct box group_box(const struct object_group *g)
{
    struct box b = box_empty;
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

void choose_frame(struct loader *l)
{
    for (struct loaded_model *m = l->models; m; m = m->next)
        m->box = model_box_of(&m->model);
    for (size_t i = 0; i < l->read_count; i++) {
        struct object_group *g = l->read[i];
        g->box = group_box(g);
        box_origin(&g->box, g->origin);
    }
    for (int c = 0; c < 3; c++)
        l->scene->frame_origin[c] = l->objects.origin[c];
}
