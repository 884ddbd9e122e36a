/* SPDX-License-Identifier: Apache-2.0 */
#include "shading.h"
#include "reference.h"

#include "textures/texture.h"

#include <stdlib.h>
#include <string.h>

struct shader_thread {
    struct shader_thread *next; /* while idle */
    struct shader_pool *pool;
    struct asl_context **contexts; /* by material; made when first needed */
    struct asl_globals globals;    /* of the point being shaded */
    const struct hit *at;          /* it, normals turned */
    struct random_place place;     /* its random numbers */
    uint32_t width, height;        /* of the picture */
    uint32_t material;             /* its */
    const double *moved;           /* struct reference_vertex's */
    bool asked;                    /* its shader asked for rays */
    struct text *log;              /* gets what the shader prints; may be NULL */
    bool failed;                   /* a shader did not end: none runs any more */
    struct kept_surface *kept;     /* [KEPT_SURFACES]; NULL: none yet */
};

/* What surface_shade_again remembers; the place of a key is its hash. */
struct kept_surface {
    char key[33]; /* "": nothing */
    struct surface at;
};
enum { KEPT_SURFACES = 1024 };

/* ---- services ------------------------------------------------------------------------------- */

static void message(void *ctx, enum asl_message kind, const char *to, const char *text)
{
    struct shader_thread *t = ctx;
    if (t->log)
        text_printf(t->log, "  said: %s%s", text, kind == ASL_PRINT ? "" : "\n");
    (void)pthread_mutex_lock(&t->pool->mutex);
    const struct asl_context *c = t->contexts[t->material];
    asl_sayings_add(&t->pool->said, t->pool->scene->materials[t->material].name,
                    asl_context_layer(c), asl_context_place(c), kind, to, text);
    (void)pthread_mutex_unlock(&t->pool->mutex);
}

static bool object_space(void *ctx, const char *space, float m[16])
{
    (void)ctx;
    if (strcmp(space, "object") != 0 && strcmp(space, "shader") != 0)
        return false;
    for (int i = 0; i < 16; i++)
        m[i] = i % 5 == 0;
    return true;
}

static bool vertex_color_found(const struct scene *s, const struct hit *at, struct asl_type type,
                               union asl_slot *value);

static bool geometry_data(void *ctx, const char *name, struct asl_type type, union asl_slot *value)
{
    const struct shader_thread *t = ctx;
    bool is_s = strcmp(name, "s") == 0;
    if (strcmp(name, "Cd") == 0) {
        if (!vertex_color_found(t->pool->scene, t->at, type, value))
            return false;
        memset(value + 3, 0, 6 * sizeof *value); /* changes */
        return true;
    }
    if (type.base != ASL_FLOAT || type.array || (!is_s && strcmp(name, "t") != 0))
        return false;
    struct asl_dual x = is_s ? t->globals.u : t->globals.v;
    value[0].f = x.v;
    value[1].f = x.dx;
    value[2].f = x.dy;
    return true;
}

static const char *projection(enum camera_type type)
{
    static const char *const names[] = {
#define X(name, text) text,
        CAMERA_TYPE_LIST(X)
#undef X
    };
    return names[type];
}

/* What getattribute() is told (section 18). */
static bool scene_attribute(void *ctx, const char *object, const char *name, int index,
                            struct asl_type type, union asl_slot *v)
{
    const struct shader_thread *t = ctx;
    const struct scene *s = t->pool->scene;
    const struct camera *c = &s->camera;
    const struct instance *in = scene_instance_of(s, t->at->primitive);
    const bool is_int = type.base == ASL_INT, is_float = type.base == ASL_FLOAT;
#define IS(kind, count, text) ((kind) && type.array == (count) && strcmp(name, text) == 0)
    if (*object || index != -1)
        return false;
    if (IS(is_int, 0, "osl:version"))
        v[0].i = 11300;
    else if (IS(is_int, 0, "path:ray_depth"))
        v[0].i = (int32_t)t->place.k - 1;
    else if (IS(is_int, 0, "object:index"))
        v[0].i = in ? (int32_t)(in - s->instances) + 1 : 0;
    else if (IS(is_int, 0, "shading:index"))
        v[0].i = (int32_t)(t->place.y * t->width + t->place.x);
    else if (IS(is_int, 2, "camera:resolution"))
        v[0].i = (int32_t)t->width, v[1].i = (int32_t)t->height;
    else if (IS(is_float, 0, "camera:pixelaspect"))
        v[0].f = 1;
    else if (IS(type.base == ASL_STRING, 0, "camera:projection"))
        v[0].s = projection(c->type);
    else if (IS(is_float, 0, "camera:fov") && c->type == CAMERA_PERSPECTIVE)
        v[0].f = (float)(2 * atan(c->tan_half_fov) * 180 / PI);
    else if (IS(is_float, 4, "camera:screen_window"))
        v[2].f = (float)t->width / (float)t->height, v[0].f = -v[2].f, v[1].f = -1, v[3].f = 1;
    else if (IS(is_float, 0, "s"))
        v[0].f = t->globals.u.v;
    else if (IS(is_float, 0, "t"))
        v[0].f = t->globals.v.v;
    else
        return strcmp(name, "Cd") == 0 && vertex_color_found(s, t->at, type, v);
#undef IS
    return true;
}

static const struct asl_image *scene_image(void *ctx, const char *name)
{
    const struct shader_thread *t = ctx;
    return shader_images_find(&t->pool->scene->shader_images, name);
}

static const char *scene_image_fault(void *ctx, const char *name)
{
    const struct shader_thread *t = ctx;
    return shader_images_fault(&t->pool->scene->shader_images, name);
}

static void set3(float out[3], struct vec3 v)
{
    out[0] = (float)v.x, out[1] = (float)v.y, out[2] = (float)v.z;
}

/* Where rays from P to that side of its surface start (section 30). */
static struct vec3 ray_start(const struct shader_thread *t, const float P[3], bool here,
                             struct vec3 side)
{
    if (here)
        return offset_point(t->at->P, t->at->extent, side);
    return sub(from_float(P), from_double(t->pool->scene->frame_origin));
}

static bool is_here(const struct shader_thread *t, const float P[3])
{
    const float *own = t->globals.P.v;
    return P[0] == own[0] && P[1] == own[1] && P[2] == own[2];
}

/* Are they a place and a direction, also to a renderer that computes in float? */
static bool is_ray(const struct asl_ray *ray)
{
    const float *P = ray->P, *d = ray->d;
    float l = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    return isfinite(P[0] * P[0] + P[1] * P[1] + P[2] * P[2]) && l > 0 && isfinite(l);
}

/* How the rays of this point are moved; false: they are not. Those from P itself stay on their side
 * of its surface: they are moved along it. turn: the size of the direction's. Where starts are moved
 * down an axis surfaces that lie together are met in the other order; both are off by as much. */
static bool moves_rays(const struct shader_thread *t, bool here, double turn,
                       struct ray_motion *out)
{
    if (!t->moved)
        return false;
    const struct vec3 Ng = t->at->Ng, start = from_double(t->moved + GLOBAL_RAY_START);
    *out = (struct ray_motion){.start = here ? sub(start, scale(dot(start, Ng), Ng)) : start,
                               .turn = scale(turn, from_double(t->moved + GLOBAL_RAY_TURN)),
                               .depth = fmax(0, -2 * (start.x + start.y + start.z))};
    return max_abs(start) > 0 || max_abs(out->turn) > 0;
}

static bool traced_ray(void *ctx, const struct asl_ray *ray, struct asl_traced *out)
{
    struct shader_thread *t = ctx;
    const struct scene *s = t->pool->scene;
    t->asked = true;
    if (!t->pool->candidates || !is_ray(ray))
        return false;
    struct vec3 d = normalize(from_float(ray->d)), Ng = t->at->Ng;
    double near = ray->mindist > 0 ? (double)ray->mindist : 0, t_max = (double)ray->maxdist - near;
    const bool here = is_here(t, ray->P);
    struct vec3 o = ray_start(t, ray->P, here, dot(d, Ng) < 0 ? negate(Ng) : Ng);
    const struct ray along = {add(o, scale(near, d)), d};
    struct ray_motion motion;
    struct hit hit;
    const struct ray_motion *by = moves_rays(t, here, 1, &motion) ? &motion : NULL;
    if (!(t_max > 0) || !surface_along(s, t->pool->candidates, along, t_max, by, &hit))
        return false;
    const bool behind = dot(hit.Ng, d) > 0;
    Ng = behind ? negate(hit.Ng) : hit.Ng;
    struct vec3 Ns = behind ? negate(hit.Ns) : hit.Ns;
    *out = (struct asl_traced){
        .hitdist = (float)(near + hit.t), .u = (float)hit.uv[0], .v = (float)hit.uv[1]};
    set3(out->P, add(hit.P, from_double(s->frame_origin)));
    set3(out->N, dot(Ns, d) < 0 ? Ns : Ng);
    set3(out->Ng, Ng);
    return true;
}

static float occluded_share(void *ctx, const struct asl_ray *about, uint32_t samples)
{
    struct shader_thread *t = ctx;
    t->asked = true;
    if (!t->pool->candidates || !is_ray(about) || !(about->maxdist > 0))
        return 0;
    const bool here = is_here(t, about->P);
    struct ray_motion moved;
    struct vec3 n = normalize(from_float(about->d)), Ng = t->at->Ng, side = n;
    if (here)
        side = dot(n, Ng) < 0 ? negate(Ng) : Ng;
    return (float)occlusion(t->pool->scene, t->pool->candidates, &t->place,
                            ray_start(t, about->P, here, side), side, n, samples,
                            (double)about->maxdist, moves_rays(t, here, 8, &moved) ? &moved : NULL);
}

/* ---- the pool ------------------------------------------------------------------------------- */

struct shader_pool *shader_pool_open(const struct scene *s)
{
    struct shader_pool *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->scene = s;
    (void)pthread_mutex_init(&p->mutex, NULL);
    for (size_t i = 0; i < s->material_count; i++)
        p->shaded = p->shaded || s->materials[i].shading;
    return p;
}

static void thread_free(struct shader_pool *p, struct shader_thread *t)
{
    for (size_t i = 0; t->contexts && i < p->scene->material_count; i++)
        asl_context_free(t->contexts[i]);
    free((void *)t->contexts);
    free(t->kept);
    free(t);
}

void shader_pool_close(struct shader_pool *p)
{
    if (!p)
        return;
    while (p->idle) {
        struct shader_thread *t = p->idle;
        p->idle = t->next;
        thread_free(p, t);
    }
    asl_sayings_free(&p->said);
    (void)pthread_mutex_destroy(&p->mutex);
    free(p);
}

static void pool_fail(struct shader_pool *p, const struct error *why)
{
    (void)pthread_mutex_lock(&p->mutex);
    if (p->status == STATUS_OK) {
        p->status = why->code;
        p->error = *why;
    }
    (void)pthread_mutex_unlock(&p->mutex);
}

bool shader_pool_failed(struct shader_pool *p, struct error *err)
{
    (void)pthread_mutex_lock(&p->mutex);
    bool failed = p->status != STATUS_OK;
    if (failed && err)
        *err = p->error;
    (void)pthread_mutex_unlock(&p->mutex);
    return failed;
}

struct shader_thread *shader_thread_take(struct shader_pool *p)
{
    if (!p->shaded)
        return NULL;
    (void)pthread_mutex_lock(&p->mutex);
    struct shader_thread *t = p->idle;
    if (t)
        p->idle = t->next;
    (void)pthread_mutex_unlock(&p->mutex);
    if (t)
        return t;
    t = calloc(1, sizeof *t);
    if (t)
        t->contexts = calloc(p->scene->material_count + 1, sizeof(struct asl_context *));
    if (t && t->contexts) {
        t->pool = p;
        return t;
    }
    free(t);
    struct error why;
    error_msg(&why, STATUS_MEMORY, "no memory for a thread's shaders");
    pool_fail(p, &why);
    return NULL;
}

void shader_thread_give(struct shader_pool *p, struct shader_thread *t)
{
    if (!t)
        return;
    (void)pthread_mutex_lock(&p->mutex);
    t->next = p->idle;
    p->idle = t;
    (void)pthread_mutex_unlock(&p->mutex);
}

/* ---- globals -------------------------------------------------------------------------------- */

/* U and V of section 18. */
static void triangle_tangents(const struct scene *s, uint32_t triangle, struct vec3 Ng,
                              struct vec3 *U, struct vec3 *V)
{
    struct vec3 v[3];
    triangle_vertices(s, triangle, v);
    struct vec3 E1 = sub(v[1], v[0]), E2 = sub(v[2], v[0]);
    *U = E1, *V = E2;
    const struct triangle at = triangle_at(s, triangle);
    if (!(s->triangle_flags[at.stored] & TRIANGLE_HAS_UV) || !s->UV)
        return;
    const uint32_t *i = at.corner;
    double a = (double)s->UV[i[1]][0] - (double)s->UV[i[0]][0];
    double b = (double)s->UV[i[2]][0] - (double)s->UV[i[0]][0];
    double c = (double)s->UV[i[1]][1] - (double)s->UV[i[0]][1];
    double e = (double)s->UV[i[2]][1] - (double)s->UV[i[0]][1];
    double det = a * e - b * c;
    if (det == 0) {
        struct frame f = frame_about(Ng);
        *U = f.s, *V = f.t;
        return;
    }
    *U = scale(1 / det, sub(scale(e, E1), scale(c, E2)));
    *V = scale(1 / det, sub(scale(a, E2), scale(b, E1)));
}

void surface_axes(const struct scene *s, uint32_t primitive, struct vec3 Ng, struct vec3 *U,
                  struct vec3 *V)
{
    if (is_triangle(s, primitive)) {
        triangle_tangents(s, primitive, Ng, U, V);
        return;
    }
    size_t i = primitive - s->triangle_count;
    if (i < s->sphere_count) {
        double r = (double)s->spheres[i].radius, g = sqrt(Ng.x * Ng.x + Ng.y * Ng.y);
        double p = g > 0 ? Ng.x / g : 1, q = g > 0 ? Ng.y / g : 0;
        *U = scale(2 * PI * r, vec3(-Ng.y, Ng.x, 0));
        *V = scale(PI * r, vec3(-Ng.z * p, -Ng.z * q, g));
        return;
    }
    double r = (double)s->disks[i - s->sphere_count].radius;
    struct frame f = frame_about(Ng);
    *U = scale(2 * r, f.s), *V = scale(2 * r, f.t);
}

static double length_of(struct vec3 v) { return sqrt(dot(v, v)); }

static struct vec3 moved_by(struct vec3 v, double size, const double moved[3])
{
    return add(v, scale(size, vec3(moved[0], moved[1], moved[2])));
}

/* The change of P towards a neighbour's ray, in direction `axis`, or that of a disk, `around`,
 * where that ray does not meet the tangent plane. */
static struct vec3 change_of_P(const struct arrival *from, const struct hit *hit, int axis,
                               struct vec3 around)
{
    const struct ray *neighbour = axis ? &from->dy : &from->dx;
    const double *moved = from->moved ? from->moved + GLOBAL_P_CHANGES + (size_t)3 * axis : NULL;
    struct vec3 A = sub(hit->P, neighbour->o);
    double cosine = dot(neighbour->d, hit->Ng), t = dot(A, hit->Ng) / cosine;
    if (from->k != 1 || !(t > 0 && t <= 16 * hit->t))
        return moved ? moved_by(around, length_of(around), moved) : around;
    struct vec3 change = sub(scale(t, neighbour->d), A);
    if (!moved)
        return change;
    double along = t / fabs(cosine) * from->moved[GLOBAL_RAY_CHANGES + axis];
    return moved_by(add(change, scale(along, neighbour->d)), length_of(A), moved);
}

/* moved (may be NULL): UV_CHANGES, of u and, two further, of v. */
static void change_of_uv(struct vec3 U, struct vec3 V, struct vec3 P, const double *moved,
                         double *u, double *v)
{
    double a = dot(U, U), b = dot(U, V), c = dot(V, V), det = a * c - b * b;
    double p = dot(U, P), q = dot(V, P);
    *u = det > 0 ? (c * p - b * q) / det : 0;
    *v = det > 0 ? (a * q - b * p) / det : 0;
    if (!moved || !(det > 0))
        return;
    double size = length_of(P) / det * (a * c / det);
    *u += moved[0] * size * (c * sqrt(a) + fabs(b) * sqrt(c));
    *v += moved[2] * size * (a * sqrt(c) + fabs(b) * sqrt(a));
}

/* The globals of section 18 at a surface whose normals are turned; U, V: dPdu, dPdv. */
static struct asl_globals surface_globals(const struct scene *s, const struct arrival *from,
                                          const struct surface *at, struct vec3 U, struct vec3 V,
                                          float area)
{
    const struct hit *hit = &at->hit;
    struct asl_globals g = {
        .surfacearea = area, .backfacing = at->backfacing, .raytype = from->raytype};
    struct frame f = frame_about(hit->Ng);
    double w = from->pixel.base + from->length * from->pixel.slope;
    struct vec3 Px = change_of_P(from, hit, 0, scale(w, f.s));
    struct vec3 Py = change_of_P(from, hit, 1, scale(w, f.t));
    struct vec3 Ix = gray(0), Iy = gray(0), N = hit->Ns;
    const double *moved = from->moved;
    if (from->k == 1)
        Ix = sub(from->dx.d, from->ray.d), Iy = sub(from->dy.d, from->ray.d);
    double u[2], v[2];
    change_of_uv(U, V, Px, moved ? moved + GLOBAL_UV_CHANGES : NULL, &u[0], &v[0]);
    change_of_uv(U, V, Py, moved ? moved + GLOBAL_UV_CHANGES + 1 : NULL, &u[1], &v[1]);
    if (moved) {
        Ix = moved_by(Ix, 1, moved + GLOBAL_I_CHANGES);
        Iy = moved_by(Iy, 1, moved + GLOBAL_I_CHANGES + 3);
        U = moved_by(U, length_of(U), moved + GLOBAL_TANGENTS);
        V = moved_by(V, length_of(V), moved + GLOBAL_TANGENTS + 3);
        N = moved_by(N, 1, moved + GLOBAL_NORMAL);
    }

    set3(g.P.v, add(hit->P, from_double(s->frame_origin))), set3(g.P.dx, Px), set3(g.P.dy, Py);
    g.Ps = g.P;
    set3(g.I.v, from->ray.d), set3(g.I.dx, Ix), set3(g.I.dy, Iy);
    set3(g.N.v, N);
    set3(g.Ng, hit->Ng);
    set3(g.dPdu, U), set3(g.dPdv, V);
    g.u = (struct asl_dual){(float)hit->uv[0], (float)u[0], (float)u[1]};
    g.v = (struct asl_dual){(float)hit->uv[1], (float)v[0], (float)v[1]};
    g.flip_handedness = dot(cross(Px, Py), hit->Ng) < 0;
    return g;
}

/* ---- running -------------------------------------------------------------------------------- */

static struct asl_context *context_of(struct shader_thread *t, uint32_t material,
                                      const struct shading *shading)
{
    struct asl_context **c = &t->contexts[material];
    struct error why;
    const struct asl_context_options options = {.services = {.ctx = t,
                                                             .message = message,
                                                             .space = object_space,
                                                             .attribute = scene_attribute,
                                                             .userdata = geometry_data,
                                                             .image = scene_image,
                                                             .image_fault = scene_image_fault,
                                                             .trace = traced_ray,
                                                             .occlusion = occluded_share},
                                                .entry_layers = shading->entry_layers};
    if (!*c && asl_context_new(shading->group, &options, c, &why) != STATUS_OK)
        pool_fail(t->pool, &why);
    return *c;
}

static double finite_or_zero(double x) { return isfinite(x) ? x : 0; }

/* An output that drives an input; a float stands for three. */
static bool driven(const struct asl_context *c, const struct shading *shading,
                   enum drive_input input, struct vec3 *out)
{
    struct asl_type type;
    if (!shading->drive[input])
        return false;
    const union asl_slot *v = asl_context_value(c, shading->drive[input], &type, NULL);
    if (!v)
        return false;
    bool one = type.base == ASL_FLOAT;
    *out = vec3(finite_or_zero((double)v[0].f), finite_or_zero((double)v[one ? 0 : 1].f),
                finite_or_zero((double)v[one ? 0 : 2].f));
    return true;
}

static struct vec3 clamp3(struct vec3 v, double low, double high)
{
    return vec3(clamp(v.x, low, high), clamp(v.y, low, high), clamp(v.z, low, high));
}

/* A number that is driven, held within its bounds. */
static void drive_number(const struct asl_context *c, const struct shading *shading,
                         enum drive_input input, double low, double high, double *out)
{
    struct vec3 v;
    if (driven(c, shading, input, &v))
        *out = clamp(v.x, low, high);
}

/* Section 19, with a base. */
static void drive_base(const struct asl_context *c, const struct shading *shading,
                       struct inputs *in, struct vec3 U, struct surface *out)
{
    const struct {
        enum drive_input input;
        double *number;
    } units[] = {{DRIVE_ROUGHNESS, &in->roughness},
                 {DRIVE_METALLIC, &in->bsdf.metallic},
                 {DRIVE_SPECULAR, &in->bsdf.specular},
                 {DRIVE_SPECULAR_TINT, &in->specular_tint},
                 {DRIVE_ANISOTROPY, &in->anisotropy},
                 {DRIVE_ROTATION, &in->rotation},
                 {DRIVE_SHEEN, &in->sheen},
                 {DRIVE_SHEEN_TINT, &in->sheen_tint},
                 {DRIVE_CLEARCOAT, &in->clearcoat},
                 {DRIVE_CLEARCOAT_GLOSS, &in->clearcoat_gloss},
                 {DRIVE_TRANSMISSION, &in->transmission},
                 {DRIVE_SUBSURFACE, &in->subsurface}};
    struct vec3 v, opacity = gray(1), n = out->hit.Ns;
    if (driven(c, shading, DRIVE_BASE_COLOR, &v) || driven(c, shading, DRIVE_REFLECTANCE, &v))
        in->color = in->bsdf.base = clamp3(v, 0, 1);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        drive_number(c, shading, units[i].input, 0, 1, units[i].number);
    in->bsdf.roughness = in->roughness;
    in->bsdf.alpha = fmax(in->roughness * in->roughness, 0.001);
    drive_number(c, shading, DRIVE_IOR, 0.1, 10, &in->ior);
    in->bsdf.ior = in->ior;
    drive_number(c, shading, DRIVE_SIGMA, 0, PI / 2, &in->sigma);
    if (driven(c, shading, DRIVE_ETA, &v))
        in->bsdf.eta = clamp3(v, 0.001, 100);
    if (driven(c, shading, DRIVE_K, &v))
        in->bsdf.k = clamp3(v, 0, 100);
    if (driven(c, shading, DRIVE_NORMAL, &v))
        n = v;
    if (driven(c, shading, DRIVE_OPACITY, &v))
        opacity = clamp3(v, 0, 1);
    if (driven(c, shading, DRIVE_EMISSION, &v))
        out->emitted = clamp3(v, 0, INFINITY);
    lobes_of_inputs(in, opacity, &(struct placing){n, out->hit.Ns, U}, &out->lobes);
}

static void log_shading(struct text *log, const struct asl_globals *g, const struct asl_context *c,
                        const struct material *m, const struct surface *at)
{
    static const char *const kinds[] = {
        "base", "diffuse",    "translucent", "oren_nayar",  "burley", "sheen",  "phong",
        "ward", "reflection", "refraction",  "transparent", "coat",   "velvet", "flat"};
    text_printf(log, "  shader of \"%s\": u %.9g v %.9g, Du %.6g %.6g, Dv %.6g %.6g%s\n", m->name,
                (double)g->u.v, (double)g->v.v, (double)g->u.dx, (double)g->u.dy, (double)g->v.dx,
                (double)g->v.dy, g->backfacing ? ", backfacing" : "");
    for (int i = 0; i < DRIVE_COUNT; i++) {
        struct vec3 v;
        if (driven(c, m->shading, (enum drive_input)i, &v))
            text_printf(log, "  %s = %s: %.9g %.9g %.9g\n", drive_infos[i].name,
                        m->shading->drive[i], v.x, v.y, v.z);
    }
    if (!m->shading->has_base) {
        text_puts(log, "  Ci = ");
        asl_closure_print(asl_context_value(c, "Ci", NULL, NULL)->c, log);
        text_puts(log, "\n");
    }
    for (unsigned i = 0; i < at->lobes.count; i++) {
        const struct lobe *l = &at->lobes.lobe[i];
        text_printf(log, "  lobe %u: %s, weight %.9g %.9g %.9g, probability %.6g\n", i + 1,
                    kinds[l->kind], l->weight.x, l->weight.y, l->weight.z, l->p);
    }
    if (!is_zero(at->emitted))
        text_printf(log, "  emits %.9g %.9g %.9g\n", at->emitted.x, at->emitted.y, at->emitted.z);
}

/* The U that lobes are brushed along: none on triangles without texture coordinates. */
static struct vec3 brush_direction(const struct scene *s, uint32_t primitive, struct vec3 U)
{
    if (!is_triangle(s, primitive))
        return U;
    struct triangle at = triangle_at(s, primitive);
    bool has_uv = s->UV && (s->triangle_flags[at.stored] & TRIANGLE_HAS_UV);
    return has_uv ? U : gray(0);
}

/* Runs the material's shader with t->globals: fills the lobes of *out and what it emits. */
static void run_shader(struct shader_thread *t, const struct scene *s,
                       const struct environment_table *environment, uint32_t material,
                       struct vec3 tint, struct vec3 U, uint32_t contract, struct surface *out,
                       struct text *log)
{
    const struct material *m = &s->materials[material];
    struct asl_context *c = context_of(t, material, m->shading);
    struct error why;
    if (!c || t->failed)
        return;
    t->log = log;
    t->material = material;
    asl_context_contract(c, contract);
    if (asl_context_run(c, &t->globals, &why) != STATUS_OK) {
        t->failed = true;
        pool_fail(t->pool, &why);
        return;
    }
    if (m->shading->has_base) {
        struct inputs in = inputs_at(s, m, &out->hit, tint, out->backfacing);
        drive_base(c, m->shading, &in, U, out);
    } else {
        double pdf;
        struct vec3 background =
            environment_radiance(&s->environment, environment, negate(out->lobes.wo), &pdf);
        out->emitted = lobes_of_closure(asl_context_value(c, "Ci", NULL, NULL)->c, out->hit.Ns, U,
                                        out->backfacing, background, &out->lobes);
    }
    if (out->lobes.dropped) {
        char text[64];
        snprintf(text, sizeof text, "more than %d lobes; %d are kept", LOBES_MAX, LOBES_MAX);
        (void)pthread_mutex_lock(&t->pool->mutex);
        asl_sayings_add(&t->pool->said, m->name, NULL, (struct src_pos){0}, ASL_MSG_WARNING, "",
                        text);
        (void)pthread_mutex_unlock(&t->pool->mutex);
    }
    lobes_finish(&out->lobes);
    if (log)
        log_shading(log, &t->globals, c, m, out);
}

static void take_material(const struct scene *s, const struct material *m, struct vec3 tint,
                          struct vec3 coat_normal, struct vec3 U, struct surface *at)
{
    lobes_of_material(s, m, &at->hit, tint, coat_normal, U, at->backfacing, &at->lobes);
    lobes_finish(&at->lobes);
}

/* C of section 4: a vertex that is asked about alone has P and no weights, so they follow from P.
 */
static struct vec3 vertex_color(const struct scene *s, const struct hit *hit)
{
    struct vec3 v[3], C = gray(0);
    if (!s->colors || !is_triangle(s, hit->primitive))
        return gray(1);
    struct triangle at = triangle_at(s, hit->primitive);
    if (!(s->triangle_flags[at.stored] & TRIANGLE_HAS_COLORS))
        return gray(1);
    triangle_vertices(s, hit->primitive, v);
    struct vec3 e1 = sub(v[1], v[0]), e2 = sub(v[2], v[0]), f = sub(hit->P, v[0]);
    struct vec3 n = cross(e1, e2);
    double b[3] = {0, dot(cross(f, e2), n) / dot(n, n), dot(cross(e1, f), n) / dot(n, n)};
    b[0] = 1 - b[1] - b[2];
    for (int i = 0; i < 3; i++)
        C = add(C, scale(b[i], from_float(s->colors[at.corner[i]])));
    return clamp3(C, 0, 1);
}

static bool vertex_color_found(const struct scene *s, const struct hit *at, struct asl_type type,
                               union asl_slot *value)
{
    const bool triple = type.base == ASL_COLOR || type.base == ASL_POINT ||
                        type.base == ASL_VECTOR || type.base == ASL_NORMAL;
    if (!triple || type.array || !s->colors || !is_triangle(s, at->primitive) ||
        !(s->triangle_flags[triangle_at(s, at->primitive).stored] & TRIANGLE_HAS_COLORS))
        return false;
    const struct vec3 C = vertex_color(s, at);
    value[0].f = (float)C.x, value[1].f = (float)C.y, value[2].f = (float)C.z;
    return true;
}

/* M of section 26, while normals are as stored. */
static struct vec3 mapped_normal(const struct scene *s, const struct normal_map *map,
                                 const struct hit *hit)
{
    struct vec3 texel = texture_lookup(&s->textures[map->texture], hit->uv);
    double x = (2 * texel.x - 1) * (double)map->scale, y = (2 * texel.y - 1) * (double)map->scale;
    struct vec3 B = scale(hit->handedness, cross(hit->normal, hit->tangent));
    struct vec3 M =
        add(add(scale(x, hit->tangent), scale(y, B)), scale(2 * texel.z - 1, hit->normal));
    return dot(M, M) > 0 ? normalize(M) : hit->Ns;
}

/* M, turned as Ng is, bent until what it mirrors clears the surface. */
static struct vec3 valid_normal(struct vec3 M, struct vec3 Ng, struct vec3 wo)
{
    double least = fmin(0.9 * dot(Ng, wo), 0.01), m = dot(M, wo);
    struct vec3 R = sub(scale(2 * m, M), wo);
    double a = dot(R, Ng);
    if (m > 0 && a >= least)
        return M;
    struct vec3 H = add(wo, normalize(add(R, scale(fmax(0, least - a), Ng))));
    return dot(H, H) > 0 ? normalize(H) : Ng;
}

static struct vec3 normal_by_map(const struct scene *s, const struct normal_map *map,
                                 const struct hit *hit, struct vec3 wo)
{
    struct vec3 M = mapped_normal(s, map, hit);
    bool turned = !(dot(hit->Ng, wo) > 0);
    return valid_normal(turned ? negate(M) : M, turned ? negate(hit->Ng) : hit->Ng, wo);
}

struct vec3 surface_mapped_normal(const struct scene *s, const struct hit *hit, struct vec3 wo)
{
    const struct material *m = &s->materials[scene_material_of(s, hit->primitive)];
    return normal_by_map(s, &m->normal_map, hit, wo);
}

struct vec3 surface_coat_normal(const struct scene *s, const struct hit *hit, struct vec3 wo)
{
    const struct material *m = &s->materials[scene_material_of(s, hit->primitive)];
    if (m->layers.coat_normal_map.present)
        return normal_by_map(s, &m->layers.coat_normal_map, hit, wo);
    bool turned = !(dot(hit->Ng, wo) > 0);
    struct vec3 Ns = turned ? negate(hit->Ns) : hit->Ns;
    return dot(Ns, wo) > 0 ? Ns : turned ? negate(hit->Ng) : hit->Ng;
}

void surface_shade(struct shader_thread *t, const struct scene *s,
                   const struct environment_table *environment, const struct arrival *from,
                   const struct hit *hit, struct surface *out, struct text *log)
{
    struct vec3 wo = negate(from->ray.d), U, V;
    *out = (struct surface){.hit = *hit, .backfacing = !(dot(hit->Ng, wo) > 0)};
    if (out->backfacing) {
        out->hit.Ng = negate(hit->Ng);
        out->hit.Ns = negate(hit->Ns);
    }
    if (dot(out->hit.Ns, wo) <= 0)
        out->hit.Ns = out->hit.Ng;
    uint32_t material = scene_material_of(s, hit->primitive);
    const struct material *m = &s->materials[material];
    struct vec3 coat_normal = from->mapped ? from->coat_normal : surface_coat_normal(s, hit, wo);
    if (m->normal_map.present && !from->mapped)
        out->hit.Ns = surface_mapped_normal(s, hit, wo);
    out->lobes.Ng = out->hit.Ng;
    out->lobes.wo = wo;
    out->lobes.moved = from->moved;
    surface_axes(s, hit->primitive, hit->Ng, &U, &V);
    struct vec3 along = brush_direction(s, hit->primitive, U), tint = vertex_color(s, hit);
    if (!m->shading) {
        take_material(s, m, tint, coat_normal, along, out);
    } else if (t) {
        if (log)
            text_printf(log, "vertex %u\n", from->k);
        t->globals = surface_globals(t->pool->scene, from, out, U, V, m->shading->surface_area);
        t->at = &out->hit;
        t->place = from->place;
        t->place.k = from->k;
        t->width = from->width, t->height = from->height;
        t->moved = from->moved;
        t->asked = false;
        run_shader(t, s, environment, material, tint, along, from->contract, out, log);
        out->asked = t->asked;
    }
    out->normal = out->lobes.count ? out->lobes.lobe[0].frame.n : out->hit.Ns;
}

static struct kept_surface *kept_place(struct shader_thread *t, const char key[33])
{
    if (!key[0]) /* out of memory for a hash */
        return NULL;
    if (!t->kept)
        t->kept = calloc(KEPT_SURFACES, sizeof *t->kept);
    return t->kept ? &t->kept[strtoul(key + 24, NULL, 16) % KEPT_SURFACES] : NULL;
}

void surface_shade_again(struct shader_thread *t, const struct scene *s,
                         const struct environment_table *environment, const struct arrival *from,
                         const struct hit *hit, const char key[33], struct surface *out)
{
    const bool shaded = s->materials[scene_material_of(s, hit->primitive)].shading != NULL;
    struct kept_surface *kept = shaded && t ? kept_place(t, key) : NULL;
    if (kept && strcmp(kept->key, key) == 0) {
        *out = kept->at;
        return;
    }
    surface_shade(t, s, environment, from, hit, out, NULL);
    if (!kept || t->failed)
        return;
    memcpy(kept->key, key, sizeof kept->key);
    kept->at = *out;
}

void surface_probe(struct shader_thread *t, const struct scene *s,
                   const struct environment_table *environment, uint32_t material, bool entering,
                   struct vec3 wo, const struct hit *hit, struct surface *out)
{
    const struct material *m = &s->materials[material];
    const struct arrival from = {
        .ray = {wo, negate(wo)}, .k = 2, .raytype = asl_raytype_bit("camera")};
    *out = (struct surface){.hit = *hit, .backfacing = !entering, .normal = hit->Ns};
    out->lobes.Ng = hit->Ng;
    out->lobes.wo = wo;
    const struct vec3 U = vec3(1, 0, 0), tint = gray(1);
    if (!m->shading) {
        take_material(s, m, tint, hit->Ns, U, out);
    } else if (t) {
        t->globals =
            surface_globals(t->pool->scene, &from, out, U, vec3(0, 1, 0), m->shading->surface_area);
        t->at = &out->hit;
        t->place = from.place;
        t->moved = NULL;
        run_shader(t, s, environment, material, tint, U, 0, out, NULL);
    }
}
