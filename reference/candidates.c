#include "candidates.h"

#include "embree.h"

#include <stdlib.h>

struct candidates {
    const struct scene *scene;
    RTCDevice device;
    RTCScene tree;
    double size; /* the largest absolute coordinate of any primitive */
    double pad;  /* by which every box is larger than its primitive, on each side */
};

/* Rays start inside the cube of half side CUBE * size (others are moved to its border first), and
 * end in it: rounding the origin moves a ray by at most CUBE size 2^-24, rounding the direction by
 * 2^-24 a unit of length, of which the ray runs at most 2 sqrt(3) CUBE size: together below 9 size
 * 2^-24 for CUBE = 2. 32 size 2^-24 leaves room for the rounding of the boxes themselves; Embree's
 * robust mode covers its own. */
static const double CUBE = 2;
static const double PAD = 32 * 0x1p-24;

static void primitive_bounds(const struct scene *s, size_t i, struct vec3 *lower,
                             struct vec3 *upper)
{
    if (i < s->triangle_count) {
        struct vec3 v[3];
        triangle_vertices(s, (uint32_t)i, v);
        *lower = vec3(fmin(v[0].x, fmin(v[1].x, v[2].x)), fmin(v[0].y, fmin(v[1].y, v[2].y)),
                      fmin(v[0].z, fmin(v[1].z, v[2].z)));
        *upper = vec3(fmax(v[0].x, fmax(v[1].x, v[2].x)), fmax(v[0].y, fmax(v[1].y, v[2].y)),
                      fmax(v[0].z, fmax(v[1].z, v[2].z)));
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

static void bounds_callback(const struct RTCBoundsFunctionArguments *args)
{
    const struct candidates *c = args->geometryUserPtr;
    struct vec3 lower, upper;
    primitive_bounds(c->scene, args->primID, &lower, &upper);
    struct RTCBounds *b = args->bounds_o;
    b->lower_x = (float)(lower.x - c->pad), b->upper_x = (float)(upper.x + c->pad);
    b->lower_y = (float)(lower.y - c->pad), b->upper_y = (float)(upper.y + c->pad);
    b->lower_z = (float)(lower.z - c->pad), b->upper_z = (float)(upper.z + c->pad);
}

/* One question to Embree: its context, followed by ours. */
struct query {
    struct RTCIntersectContext context; /* first: the callbacks get its address */
    const struct probe *probe;
    double moved; /* how far along the ray Embree's origin lies */
    double t_max; /* the closest hit so far */
    struct crossing best;
    bool found;
};

/* Not below t, in Embree's parameter: a primitive with an equal t must still be offered. */
static float t_above(double t) { return t < 1e38 ? nextafterf((float)t, INFINITY) : INFINITY; }

static void closest_callback(const struct RTCIntersectFunctionNArguments *args)
{
    if (args->valid[0] == 0)
        return;
    const struct candidates *c = args->geometryUserPtr;
    struct query *q = (struct query *)args->context;
    struct crossing found;
    /* t < t_max, or t equal to the best's with a lesser id */
    if (!primitive_hit(c->scene, args->primID, q->probe, nextafter(q->t_max, INFINITY), &found))
        return;
    if (q->found ? found.t == q->t_max && found.primitive > q->best.primitive : found.t >= q->t_max)
        return;
    q->found = true;
    q->best = found;
    q->t_max = found.t;
    struct RTCRayHit *nearest = (struct RTCRayHit *)args->rayhit; /* N = 1 */
    nearest->ray.tfar = t_above(found.t - q->moved);
    nearest->hit.geomID = args->geomID;
    nearest->hit.primID = args->primID;
}

static void any_callback(const struct RTCOccludedFunctionNArguments *args)
{
    if (args->valid[0] == 0)
        return;
    const struct candidates *c = args->geometryUserPtr;
    struct query *q = (struct query *)args->context;
    if (!primitive_hit(c->scene, args->primID, q->probe, q->t_max, &q->best))
        return;
    q->found = true;
    ((struct RTCRay *)args->ray)->tfar = -INFINITY;
}

/* Where the ray enters the cube [-half, half]^3; 0 if it starts inside, a negative number if it
 * misses. */
static double cube_entry(const struct ray *ray, double half)
{
    if (max_abs(ray->o) <= half)
        return 0;
    const double o[3] = {ray->o.x, ray->o.y, ray->o.z}, d[3] = {ray->d.x, ray->d.y, ray->d.z};
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

/* Embree's ray for the query; false if it cannot meet anything. */
static bool query_start(const struct candidates *c, struct query *q, struct RTCRay *ray)
{
    if (!c->tree)
        return false;
    q->moved = cube_entry(&q->probe->ray, CUBE * c->size);
    if (q->moved < 0)
        return false;
    struct vec3 d = q->probe->ray.d, o = add(q->probe->ray.o, scale(q->moved, d));
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

bool candidates_closest(const struct candidates *c, const struct probe *p, double t_max,
                        struct crossing *out)
{
    struct query q = {.probe = p, .t_max = t_max};
    struct RTCRayHit rayhit;
    if (!query_start(c, &q, &rayhit.ray))
        return false;
    rayhit.hit.geomID = rayhit.hit.primID = RTC_INVALID_GEOMETRY_ID;
    rayhit.hit.instID[0] = RTC_INVALID_GEOMETRY_ID;
    embree.rtcIntersect1(c->tree, &q.context, &rayhit);
    if (q.found)
        *out = q.best;
    return q.found;
}

bool candidates_any(const struct candidates *c, const struct probe *p, double t_max)
{
    struct query q = {.probe = p, .t_max = t_max};
    struct RTCRay ray;
    if (!query_start(c, &q, &ray))
        return false;
    embree.rtcOccluded1(c->tree, &q.context, &ray);
    return q.found;
}

static bool keep_building(void *unused, double share)
{
    (void)unused, (void)share;
    return !cancel_requested;
}

static enum status embree_status(RTCDevice device, struct error *err)
{
    enum RTCError e = embree.rtcGetDeviceError(device);
    if (e == RTC_ERROR_NONE)
        return STATUS_OK;
    if (e == RTC_ERROR_CANCELLED || cancel_requested)
        return error_msg(err, STATUS_CANCELLED, "stopped while Embree was building its tree");
    if (e == RTC_ERROR_OUT_OF_MEMORY)
        return error_msg(err, STATUS_MEMORY, "Embree ran out of memory");
    return error_msg(err, STATUS_MISSING, "Embree refused to work (RTCError %d)", (int)e);
}

static double scene_size(const struct scene *s)
{
    double size = 0;
    for (size_t i = 0; i < scene_primitive_count(s); i++) {
        struct vec3 lower, upper;
        primitive_bounds(s, i, &lower, &upper);
        size = fmax(size, fmax(max_abs(lower), max_abs(upper)));
    }
    return size;
}

enum status candidates_open(const struct scene *s, struct candidates **out, struct error *err)
{
    enum status status = embree_load(err);
    if (status != STATUS_OK)
        return status;
    struct candidates *c = calloc(1, sizeof *c);
    if (!c)
        return error_msg(err, STATUS_MEMORY, "no memory for the reference's tree");
    c->scene = s;
    c->size = scene_size(s);
    c->pad = c->size * PAD;
    if (scene_primitive_count(s) == 0) { /* no tree: nothing is ever hit */
        *out = c;
        return STATUS_OK;
    }
    c->device = embree.rtcNewDevice(NULL);
    if (!c->device) {
        status = error_msg(err, STATUS_MISSING, "Embree refused to start (RTCError %d)",
                           (int)embree.rtcGetDeviceError(NULL));
        goto fail;
    }
    c->tree = embree.rtcNewScene(c->device);
    embree.rtcSetSceneFlags(c->tree, RTC_SCENE_FLAG_ROBUST);
    embree.rtcSetSceneProgressMonitorFunction(c->tree, keep_building, NULL);
    RTCGeometry g = embree.rtcNewGeometry(c->device, RTC_GEOMETRY_TYPE_USER);
    embree.rtcSetGeometryUserPrimitiveCount(g, (unsigned)scene_primitive_count(s));
    embree.rtcSetGeometryUserData(g, c);
    embree.rtcSetGeometryBoundsFunction(g, bounds_callback, NULL);
    embree.rtcSetGeometryIntersectFunction(g, closest_callback);
    embree.rtcSetGeometryOccludedFunction(g, any_callback);
    embree.rtcCommitGeometry(g);
    embree.rtcAttachGeometry(c->tree, g);
    embree.rtcReleaseGeometry(g);
    embree.rtcCommitScene(c->tree);
    status = embree_status(c->device, err);
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
    if (c->tree)
        embree.rtcReleaseScene(c->tree);
    if (c->device)
        embree.rtcReleaseDevice(c->device);
    free(c);
}
