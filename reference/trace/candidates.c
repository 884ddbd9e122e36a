/* SPDX-License-Identifier: Apache-2.0 */
#include "candidates.h"

#include "embree.h"

#include <stdlib.h>

/* A tree over the world, or over a prototype in the space of its own. */
struct tree {
    const struct candidates *owner;
    RTCScene embree;          /* NULL: it holds nothing */
    uint32_t first;           /* of a prototype: its first triangle */
    struct vec3 lower, upper; /* of all that it holds */
    double size;              /* the largest absolute coordinate of that */
    double pad;               /* by which every box is larger than what it holds, on each side */
};

struct candidates {
    const struct scene *scene;
    RTCDevice device;
    struct tree world, *prototypes;
    struct affine *to_object; /* by instance */
    uint64_t room;            /* bytes that Embree may take */
    atomic_llong taken;       /* that it has */
    atomic_bool refused;      /* it wanted more */
};

/* An affine map: rows and what is added. */
struct affine {
    struct vec3 row[3], shift;
};
static struct vec3 affine_direction(const struct affine *a, struct vec3 v)
{
    return vec3(dot(a->row[0], v), dot(a->row[1], v), dot(a->row[2], v));
}

static struct affine instance_inverse(const struct instance *n)
{
    struct vec3 x = from_float(n->to_world[0]), y = from_float(n->to_world[1]),
                z = from_float(n->to_world[2]);
    struct vec3 a = cross(y, z), b = cross(z, x), c = cross(x, y);
    double k = 1 / dot(x, a);
    struct affine r = {.row = {scale(k, vec3(a.x, b.x, c.x)), scale(k, vec3(a.y, b.y, c.y)),
                               scale(k, vec3(a.z, b.z, c.z))}};
    r.shift = negate(affine_direction(
        &r, vec3((double)n->to_world[0][3], (double)n->to_world[1][3], (double)n->to_world[2][3])));
    return r;
}

/* Rays start inside the cube of half side CUBE * size (others are moved to its border first), and
 * end in it. What rounding to float32 moves one by, u being 2^-24:
 *
 *   the origin       CUBE size u
 *   the direction    2 sqrt(3) CUBE size u      u a unit of length, of which it runs so much
 *   together         below 9 size u             for CUBE = 2
 * 32 size u leaves room for the rounding of the boxes themselves; Embree's robust mode covers its
 * own. */
static const double CUBE = 2;
static const double PAD = 32 * 0x1p-24;

static void triangle_bounds(const struct scene *s, const uint32_t index[3], struct vec3 *lower,
                            struct vec3 *upper)
{
    struct vec3 v[3];
    for (int i = 0; i < 3; i++)
        v[i] = from_float(s->P[index[i]]);
    *lower = vec3(fmin(v[0].x, fmin(v[1].x, v[2].x)), fmin(v[0].y, fmin(v[1].y, v[2].y)),
                  fmin(v[0].z, fmin(v[1].z, v[2].z)));
    *upper = vec3(fmax(v[0].x, fmax(v[1].x, v[2].x)), fmax(v[0].y, fmax(v[1].y, v[2].y)),
                  fmax(v[0].z, fmax(v[1].z, v[2].z)));
}

/* Of a primitive of the world's own. */
static void primitive_bounds(const struct scene *s, size_t i, struct vec3 *lower,
                             struct vec3 *upper)
{
    if (i < s->triangle_count) {
        triangle_bounds(s, s->triangles[i], lower, upper);
        return;
    }
    i -= s->triangle_count;
    struct vec3 c, half;
    if (i < s->sphere_count) {
        c = from_float(s->spheres[i].center);
        half = gray((double)s->spheres[i].radius);
    } else { /* a disk reaches r sqrt(1 - n_x^2) along x */
        const struct disk *disk = &s->disks[i - s->sphere_count];
        struct vec3 n = from_float(disk->normal);
        c = from_float(disk->center);
        half = scale((double)disk->radius,
                     vec3(sqrt(fmax(0, 1 - n.x * n.x)), sqrt(fmax(0, 1 - n.y * n.y)),
                          sqrt(fmax(0, 1 - n.z * n.z))));
        half = add(half, gray(1e-6 * (double)disk->radius)); /* n is unit to float32 only */
    }
    *lower = sub(c, half);
    *upper = add(c, half);
}

/* Of an instance: about its prototype's box. */
static void instance_bounds(const struct candidates *c, size_t i, struct vec3 *lower,
                            struct vec3 *upper)
{
    const struct instance *n = &c->scene->instances[i];
    const struct tree *t = &c->prototypes[n->prototype];
    struct vec3 middle = scale(0.5, add(t->lower, t->upper));
    struct vec3 half = add(scale(0.5, sub(t->upper, t->lower)), gray(t->pad));
    double at[3], reach[3];
    for (int k = 0; k < 3; k++) {
        struct vec3 m = from_float(n->to_world[k]);
        at[k] = dot(m, middle) + (double)n->to_world[k][3];
        reach[k] = dot(vec3(fabs(m.x), fabs(m.y), fabs(m.z)), half);
    }
    *lower = sub(from_double(at), from_double(reach));
    *upper = add(from_double(at), from_double(reach));
}

static void bounds_store(struct RTCBounds *b, struct vec3 lower, struct vec3 upper, double pad)
{
    b->lower_x = (float)(lower.x - pad), b->upper_x = (float)(upper.x + pad);
    b->lower_y = (float)(lower.y - pad), b->upper_y = (float)(upper.y + pad);
    b->lower_z = (float)(lower.z - pad), b->upper_z = (float)(upper.z + pad);
}

static void world_bounds(const struct RTCBoundsFunctionArguments *args)
{
    const struct tree *tree = args->geometryUserPtr;
    struct vec3 lower, upper;
    primitive_bounds(tree->owner->scene, args->primID, &lower, &upper);
    bounds_store(args->bounds_o, lower, upper, tree->pad);
}

static void instances_bounds(const struct RTCBoundsFunctionArguments *args)
{
    const struct tree *tree = args->geometryUserPtr;
    struct vec3 lower, upper;
    instance_bounds(tree->owner, args->primID, &lower, &upper);
    bounds_store(args->bounds_o, lower, upper, tree->pad);
}

static void prototype_bounds(const struct RTCBoundsFunctionArguments *args)
{
    const struct tree *tree = args->geometryUserPtr;
    const struct scene *s = tree->owner->scene;
    struct vec3 lower, upper;
    triangle_bounds(s, s->triangles[tree->first + args->primID], &lower, &upper);
    bounds_store(args->bounds_o, lower, upper, tree->pad);
}

/* One question to Embree: its context, followed by ours. */
struct query {
    struct RTCIntersectContext context; /* first: the callbacks get its address */
    const struct probe *probe;
    uint32_t first_id;           /* of the instance that is being asked; 0 in the world */
    double moved;                /* how far along the ray Embree's origin lies */
    double t_max;                /* the closest hit so far */
    const struct crossing *last; /* hits up to this one do not count; NULL: all do */
    struct crossing best;
    bool found;
};

static bool query_closest(const struct tree *tree, struct ray in, struct query *q);
static bool query_any(const struct tree *tree, struct ray in, struct query *q);

/* Not below t, in Embree's parameter: a primitive with an equal t must still be offered. */
static float t_above(double t) { return t < 1e38 ? nextafterf((float)t, INFINITY) : INFINITY; }

static void closest_store(const struct RTCIntersectFunctionNArguments *args, const struct query *q)
{
    struct RTCRayHit *nearest = (struct RTCRayHit *)args->rayhit; /* N = 1 */
    nearest->ray.tfar = t_above(q->best.t - q->moved);
    nearest->hit.geomID = args->geomID;
    nearest->hit.primID = args->primID;
}

static void closest_callback(const struct RTCIntersectFunctionNArguments *args)
{
    if (args->valid[0] == 0)
        return;
    const struct tree *tree = args->geometryUserPtr;
    struct query *q = (struct query *)args->context;
    struct crossing found;
    /* t < t_max, or t equal to the best's with a lesser id */
    if (!primitive_hit(tree->owner->scene, q->first_id + args->primID, q->probe,
                       nextafter(q->t_max, INFINITY), &found))
        return;
    if (q->last &&
        (found.t < q->last->t || (found.t == q->last->t && found.primitive <= q->last->primitive)))
        return;
    if (q->found ? found.t == q->t_max && found.primitive > q->best.primitive : found.t >= q->t_max)
        return;
    q->found = true;
    q->best = found;
    q->t_max = found.t;
    closest_store(args, q);
}

static void any_callback(const struct RTCOccludedFunctionNArguments *args)
{
    if (args->valid[0] == 0)
        return;
    const struct tree *tree = args->geometryUserPtr;
    struct query *q = (struct query *)args->context;
    if (!primitive_hit(tree->owner->scene, q->first_id + args->primID, q->probe, q->t_max,
                       &q->best))
        return;
    q->found = true;
    ((struct RTCRay *)args->ray)->tfar = -INFINITY;
}

/* The same question to an instance's prototype, in its space. The ray's direction keeps whatever
 * length the transform gives it, so t is the same in both spaces; Embree's rounding of the ray is
 * then covered by the prototype's own padding, however far the instance stands from the origin. */
static struct ray object_ray(const struct candidates *c, uint32_t instance, const struct query *q,
                             struct query *inner, const struct tree **tree)
{
    const struct affine *a = &c->to_object[instance];
    *inner = *q;
    inner->first_id = c->scene->instances[instance].first_id;
    *tree = &c->prototypes[c->scene->instances[instance].prototype];
    return (struct ray){add(affine_direction(a, q->probe->ray.o), a->shift),
                        affine_direction(a, q->probe->ray.d)};
}

static void instance_closest_callback(const struct RTCIntersectFunctionNArguments *args)
{
    if (args->valid[0] == 0)
        return;
    const struct tree *world = args->geometryUserPtr, *tree;
    struct query *q = (struct query *)args->context, inner;
    struct ray ray = object_ray(world->owner, args->primID, q, &inner, &tree);
    if (!query_closest(tree, ray, &inner))
        return;
    if (q->found && inner.best.primitive == q->best.primitive && inner.t_max == q->t_max)
        return; /* nothing better here */
    q->found = true;
    q->best = inner.best;
    q->t_max = inner.t_max;
    closest_store(args, q);
}

static void instance_any_callback(const struct RTCOccludedFunctionNArguments *args)
{
    if (args->valid[0] == 0)
        return;
    const struct tree *world = args->geometryUserPtr, *tree;
    struct query *q = (struct query *)args->context, inner;
    struct ray ray = object_ray(world->owner, args->primID, q, &inner, &tree);
    if (!query_any(tree, ray, &inner))
        return;
    q->found = true;
    q->best = inner.best;
    ((struct RTCRay *)args->ray)->tfar = -INFINITY;
}

/* Where the ray enters the cube [-half, half]^3; 0 if it starts inside, a negative number if it
 * misses. */
static double cube_entry(struct ray ray, double half)
{
    if (max_abs(ray.o) <= half)
        return 0;
    const double o[3] = {ray.o.x, ray.o.y, ray.o.z}, d[3] = {ray.d.x, ray.d.y, ray.d.z};
    double enter = 0, leave = INFINITY;
    for (int i = 0; i < 3; i++) {
        if (d[i] == 0) {
            if (fabs(o[i]) > half)
                return -1;
            continue;
        }
        double t0 = (-half - o[i]) / d[i], t1 = (half - o[i]) / d[i];
        enter = fmax(enter, fmin(t0, t1));
        leave = fmin(leave, fmax(t0, t1));
    }
    return enter <= leave ? enter : -1;
}

/* Embree's ray for the query along `in`, in the tree's space; false if it cannot meet anything. */
static bool query_start(const struct tree *tree, struct ray in, struct query *q, struct RTCRay *ray)
{
    if (!tree->embree)
        return false;
    q->moved = cube_entry(in, CUBE * tree->size);
    if (q->moved < 0)
        return false;
    struct vec3 d = in.d, o = add(in.o, scale(q->moved, d));
    *ray = (struct RTCRay){.org_x = (float)o.x,
                           .org_y = (float)o.y,
                           .org_z = (float)o.z,
                           .dir_x = (float)d.x,
                           .dir_y = (float)d.y,
                           .dir_z = (float)d.z,
                           .tfar = t_above(q->t_max - q->moved),
                           .mask = UINT32_MAX};
    rtcInitIntersectContext(&q->context);
    return ray->tfar > 0;
}

/* q->best is the closest so far, if q->found. */
static bool query_closest(const struct tree *tree, struct ray in, struct query *q)
{
    struct RTCRayHit rayhit;
    if (!query_start(tree, in, q, &rayhit.ray))
        return q->found;
    rayhit.hit.geomID = rayhit.hit.primID = RTC_INVALID_GEOMETRY_ID;
    rayhit.hit.instID[0] = RTC_INVALID_GEOMETRY_ID;
    embree.rtcIntersect1(tree->embree, &q->context, &rayhit);
    return q->found;
}

static bool query_any(const struct tree *tree, struct ray in, struct query *q)
{
    struct RTCRay ray;
    if (!query_start(tree, in, q, &ray))
        return false;
    embree.rtcOccluded1(tree->embree, &q->context, &ray);
    return q->found;
}

bool candidates_closest(const struct candidates *c, const struct probe *p, double t_max,
                        struct crossing *out)
{
    return candidates_next(c, p, NULL, t_max, out);
}

bool candidates_next(const struct candidates *c, const struct probe *p, const struct crossing *last,
                     double t_max, struct crossing *out)
{
    struct query q = {.probe = p, .t_max = t_max, .last = last};
    if (!query_closest(&c->world, p->ray, &q))
        return false;
    *out = q.best;
    return true;
}

bool candidates_any(const struct candidates *c, const struct probe *p, double t_max)
{
    struct query q = {.probe = p, .t_max = t_max};
    return query_any(&c->world, p->ray, &q);
}

static bool keep_building(void *unused, double share)
{
    (void)unused, (void)share;
    return !cancel_requested;
}

/* What Embree takes while it builds, of which it keeps three quarters: 122 to 126 bytes a box for
 * terrains of 131072 to 8388608 triangles and for blob. BOX_BYTES is asked for before; if it wants
 * more than is allowed all the same, it is refused. */
enum { BOX_BYTES = 128, SMALL = 1 << 20 };

/* Asked by Embree, from any thread, before it takes memory and after it gave some back. */
static bool keep_taking(void *candidates, ssize_t bytes, bool post)
{
    (void)post;
    struct candidates *c = candidates;
    const long long taken = atomic_fetch_add(&c->taken, bytes) + bytes;
    if (bytes <= 0 || (unsigned long long)taken <= c->room)
        return !cancel_requested || bytes <= 0;
    atomic_store(&c->refused, true);
    return false;
}

static enum status embree_status(struct candidates *c, struct error *err)
{
    enum RTCError e = embree.rtcGetDeviceError(c->device);
    if (e == RTC_ERROR_NONE)
        return STATUS_OK;
    if (e == RTC_ERROR_CANCELLED || cancel_requested)
        return error_msg(err, STATUS_CANCELLED, "stopped while Embree was building its tree");
    if (atomic_load(&c->refused)) {
        char room[32];
        return error_msg(err, STATUS_LIMIT,
                         "Embree's tree takes more than the %s that are left (--memory)",
                         memory_text(c->room, room));
    }
    if (e == RTC_ERROR_OUT_OF_MEMORY)
        return error_msg(err, STATUS_MEMORY, "Embree ran out of memory");
    return error_msg(err, STATUS_MISSING, "Embree refused to work (RTCError %d)", (int)e);
}

static void tree_include(struct tree *t, struct vec3 lower, struct vec3 upper)
{
    t->lower =
        vec3(fmin(t->lower.x, lower.x), fmin(t->lower.y, lower.y), fmin(t->lower.z, lower.z));
    t->upper =
        vec3(fmax(t->upper.x, upper.x), fmax(t->upper.y, upper.y), fmax(t->upper.z, upper.z));
    t->size = fmax(max_abs(t->lower), max_abs(t->upper));
}

static void tree_clear(struct tree *t, const struct candidates *owner)
{
    *t = (struct tree){.owner = owner, .lower = gray(INFINITY), .upper = gray(-INFINITY)};
}

/* Adds `count` things, one box each, to the tree that is being made. */
static void tree_add(struct tree *t, size_t count, RTCBoundsFunction bounds,
                     RTCIntersectFunctionN closest, RTCOccludedFunctionN any)
{
    RTCDevice device = t->owner->device;
    if (!t->embree) {
        t->embree = embree.rtcNewScene(device);
        embree.rtcSetSceneFlags(t->embree, RTC_SCENE_FLAG_ROBUST);
        embree.rtcSetSceneProgressMonitorFunction(t->embree, keep_building, NULL);
    }
    RTCGeometry g = embree.rtcNewGeometry(device, RTC_GEOMETRY_TYPE_USER);
    embree.rtcSetGeometryUserPrimitiveCount(g, (unsigned)count);
    embree.rtcSetGeometryUserData(g, t);
    embree.rtcSetGeometryBoundsFunction(g, bounds, NULL);
    embree.rtcSetGeometryIntersectFunction(g, closest);
    embree.rtcSetGeometryOccludedFunction(g, any);
    embree.rtcCommitGeometry(g);
    embree.rtcAttachGeometry(t->embree, g);
    embree.rtcReleaseGeometry(g);
}

static enum status prototypes_build(struct candidates *c, struct error *err)
{
    const struct scene *s = c->scene;
    for (size_t i = 0; i < s->prototype_count; i++) {
        struct tree *t = &c->prototypes[i];
        struct vec3 lower, upper;
        tree_clear(t, c);
        t->first = s->prototypes[i].first;
        for (uint32_t k = 0; k < s->prototypes[i].count; k++) {
            triangle_bounds(s, s->triangles[t->first + k], &lower, &upper);
            tree_include(t, lower, upper);
        }
        t->pad = t->size * PAD;
        tree_add(t, s->prototypes[i].count, prototype_bounds, closest_callback, any_callback);
        embree.rtcCommitScene(t->embree);
        enum status status = embree_status(c, err);
        if (status != STATUS_OK)
            return status;
    }
    for (size_t i = 0; i < s->instance_count; i++)
        c->to_object[i] = instance_inverse(&s->instances[i]);
    return STATUS_OK;
}

static enum status world_build(struct candidates *c, struct error *err)
{
    const struct scene *s = c->scene;
    struct tree *t = &c->world;
    struct vec3 lower, upper;
    for (size_t i = 0; i < scene_primitive_count(s); i++) {
        primitive_bounds(s, i, &lower, &upper);
        tree_include(t, lower, upper);
    }
    for (size_t i = 0; i < s->instance_count; i++) {
        instance_bounds(c, i, &lower, &upper);
        tree_include(t, lower, upper);
    }
    t->pad = t->size * PAD;
    if (scene_primitive_count(s) > 0)
        tree_add(t, scene_primitive_count(s), world_bounds, closest_callback, any_callback);
    if (s->instance_count > 0)
        tree_add(t, s->instance_count, instances_bounds, instance_closest_callback,
                 instance_any_callback);
    embree.rtcCommitScene(t->embree);
    return embree_status(c, err);
}

static size_t box_count(const struct scene *s)
{
    size_t n = scene_primitive_count(s) + s->instance_count;
    for (size_t i = 0; i < s->prototype_count; i++)
        n += s->prototypes[i].count;
    return n;
}

enum status candidates_open(const struct scene *s, struct candidates **out, struct error *err)
{
    enum status status = embree_load(err);
    if (status != STATUS_OK)
        return status;
    TRY(memory_plan(box_count(s) * BOX_BYTES, err, "Embree's tree of %zu boxes", box_count(s)));
    struct candidates *c = calloc(1, sizeof *c);
    if (!c)
        return error_msg(err, STATUS_MEMORY, "no memory for the reference's tree");
    c->scene = s;
    tree_clear(&c->world, c);
    if (scene_effective_count(s) == 0) { /* no tree: nothing is ever hit */
        *out = c;
        return STATUS_OK;
    }
    c->prototypes = calloc(s->prototype_count + 1, sizeof *c->prototypes);
    c->to_object = calloc(s->instance_count + 1, sizeof *c->to_object);
    if (!c->prototypes || !c->to_object) {
        status = error_msg(err, STATUS_MEMORY, "no memory for the reference's trees");
        goto fail;
    }
    c->device = embree.rtcNewDevice(NULL);
    if (!c->device) {
        status = error_msg(err, STATUS_MISSING, "Embree refused to start (RTCError %d)",
                           (int)embree.rtcGetDeviceError(NULL));
        goto fail;
    }
    c->room = memory_room() > SMALL ? memory_room() : SMALL;
    embree.rtcSetDeviceMemoryMonitorFunction(c->device, keep_taking, c);
    status = prototypes_build(c, err);
    if (status == STATUS_OK)
        status = world_build(c, err);
    if (status != STATUS_OK)
        goto fail;
    *out = c;
    return STATUS_OK;
fail:
    candidates_close(c);
    return status;
}

void candidates_close(struct candidates *c)
{
    if (!c)
        return;
    if (c->world.embree)
        embree.rtcReleaseScene(c->world.embree);
    for (size_t i = 0; c->prototypes && i < c->scene->prototype_count; i++)
        if (c->prototypes[i].embree)
            embree.rtcReleaseScene(c->prototypes[i].embree);
    if (c->device)
        embree.rtcReleaseDevice(c->device);
    free(c->prototypes);
    free(c->to_object);
    free(c);
}
