/* SPDX-License-Identifier: Apache-2.0 */
/* Which groups stay instances and which are flattened, and the questions that instances make of a
 * primitive's id. */
#include "scene_loader.h"

#include <math.h>

/* ---- the choice ----------------------------------------------------------------------------- */

/* A scene of no more triangles is flattened: rays through one tree are faster. */
static const uint64_t AUTO_TRIANGLES = (uint64_t)1 << 20;
/* Bytes, roughly, with vertices and trees on host and device: what copies cost and save. */
static const double TRIANGLE_BYTES = 200, INSTANCE_BYTES = 600;

/* Lights are found by their place in the world. */
static bool material_able(const struct material *m) { return !material_emits(m); }

/* A model that brings its own materials counts with all of them. */
static bool object_able(const struct loader *l, const struct object *o)
{
    if (!o->model)
        return false;
    for (uint64_t i = 0; o->model->face_material && i < o->model->model.triangle_count; i++)
        if (!material_able(&l->materials[o->model->face_material[i]]))
            return false;
    if (o->model->face_material)
        return true;
    if (o->material != UINT32_MAX)
        return material_able(&l->materials[o->material]);
    return !model_brings(o->model, "emission");
}

/* A group can be a prototype if all that it holds are triangles of materials that can; `kept` says
 * so until the choice is made. */
static void find_able(const struct loader *l, struct object_group *g)
{
    g->kept = true;
    for (size_t i = 0; i < g->count; i++) {
        const struct object *o = &g->objects[i];
        bool able = o->group ? o->group->kept : object_able(l, o);
        g->kept = g->kept && able;
    }
}

/* Is it cheaper to keep g than to let what it holds stand in the world, its parts as they were
 * chosen? Each placing of a kept group bears its share of the prototype. */
static void choose(enum instancing how, struct object_group *g)
{
    double whole = TRIANGLE_BYTES * (double)g->totals.triangles, apart = 0;
    double kept = INSTANCE_BYTES + whole / fmax(1, g->placings);
    for (size_t i = 0; i < g->count; i++) {
        const struct object *o = &g->objects[i];
        apart +=
            o->group ? o->group->cost : TRIANGLE_BYTES * (double)object_own_totals(o).triangles;
    }
    bool pays = how == INSTANCING_TWO_LEVEL || (g->placings > 1 && kept < apart);
    g->kept = g->kept && g->name && how != INSTANCING_FLATTEN && pays;
    g->cost = g->kept ? kept : apart;
}

static void find_placed(struct object_group *g)
{
    for (size_t i = 0; i < g->count; i++) {
        const struct object *o = &g->objects[i];
        struct object_totals more = {.instances = 1};
        if (!o->group)
            more = object_own_totals(o);
        else if (!o->group->kept)
            more = o->group->placed;
        totals_add(&g->placed, &more);
    }
}

enum status choose_prototypes(struct loader *l)
{
    bool few = l->objects.totals.triangles <= AUTO_TRIANGLES;
    enum instancing how =
        l->instancing == INSTANCING_AUTO && few ? INSTANCING_FLATTEN : l->instancing;
    uint32_t prototypes = 0;
    for (size_t i = 0; i < l->read_count; i++) {
        find_able(l, l->read[i]);
        l->read[i]->prototype = UINT32_MAX;
    }
    l->objects.placings = 1;
    for (size_t i = l->read_count; i-- > 0;)
        for (size_t k = 0; k < l->read[i]->count; k++)
            if (l->read[i]->objects[k].group)
                l->read[i]->objects[k].group->placings += l->read[i]->placings;
    for (size_t i = 0; i < l->read_count; i++) {
        choose(how, l->read[i]);
        find_placed(l->read[i]);
    }
    /* Parents first: what is reached through groups that are not kept. */
    l->objects.reached = true;
    for (size_t i = l->read_count; i-- > 0;) {
        struct object_group *g = l->read[i];
        for (size_t k = 0; k < g->count && g->reached && !g->kept; k++)
            if (g->objects[k].group)
                g->objects[k].group->reached = true;
        if (g->reached && g->kept)
            g->prototype = prototypes++;
    }
    struct scene *s = l->scene;
    s->prototype_count = prototypes;
    s->prototypes = ARENA_ARRAY(&s->arena, struct prototype, prototypes);
    return s->prototypes ? STATUS_OK : document_memory(&l->d);
}

/* ---- ids ------------------------------------------------------------------------------------ */

static uint32_t instance_size(const struct scene *s, const struct instance *n)
{
    return s->prototypes[n->prototype].count;
}

size_t scene_effective_count(const struct scene *s)
{
    if (s->instance_count == 0)
        return scene_primitive_count(s);
    const struct instance *last = &s->instances[s->instance_count - 1];
    return (size_t)last->first_id + instance_size(s, last);
}

size_t scene_effective_triangles(const struct scene *s)
{
    return scene_effective_count(s) - s->sphere_count - s->disk_count;
}

const struct instance *scene_instance_of(const struct scene *s, uint32_t id)
{
    if (id < scene_primitive_count(s) || s->instance_count == 0)
        return NULL;
    size_t low = 0, high = s->instance_count - 1; /* the last that starts at id or before */
    while (low < high) {
        size_t middle = high - (high - low) / 2;
        if (s->instances[middle].first_id <= id)
            low = middle;
        else
            high = middle - 1;
    }
    return &s->instances[low];
}

uint32_t scene_triangle_of(const struct scene *s, uint32_t id, const struct instance **instance)
{
    const struct instance *n = scene_instance_of(s, id);
    *instance = n;
    return n ? s->prototypes[n->prototype].first + (id - n->first_id) : id;
}

uint32_t scene_material_of(const struct scene *s, uint32_t id)
{
    const struct instance *n;
    uint32_t at = scene_triangle_of(s, id, &n);
    return s->primitive_material[n ? at + s->sphere_count + s->disk_count : at];
}

bool instance_mirrors(const struct instance *n)
{
    struct transform t;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            t.m[i][j] = (double)n->to_world[i][j];
    return transform_determinant(&t) < 0;
}
