/* SPDX-License-Identifier: Apache-2.0 */
/* Shaders at a hit (protocol sections 18 and 19). The scene's own text, which stands behind the
 * kernel (backends/shade/shade_scene.c), defines k_shade; or it is linked with the kernel afterwards
 * (K_SHADERS_LINKED, device/linked/surface_library.c). */
#ifndef K_SHADE_H
#define K_SHADE_H
#include "light/environment.h"
#include "scene/camera.h"
#include "surface/closure.h"
#include "surface/rays.h"

/* How the ray came to a vertex. */
struct k_arrival {
    struct k_vec3 d;
    struct k_vec3 ox, dx, oy, dy; /* the neighbours' rays; k = 1 only */
    uint k, raytype;
    float t, w; /* w: the footprint of later vertices */
#if K_MAY_HAVE(RAYS)
    const struct k_stream *stream;
    uint blocked; /* of struct k_interaction */
#endif
};
struct k_globals {
    struct k_vec3 P, Px, Py, I, Ix, Iy, N, Ng, U, V, along;
    float u, ux, uy, v, vx, vy, area;
    int backfacing, left_handed;
    uint raytype;
    K_GLOBAL uint *messages; /* of struct k_scene */
#ifdef K_COUNT_RAYS
    const struct k_scene *counting;
#endif
#if K_MAY_HAVE(RAYS)
    /* What rays are traced with, where K_HAS(RAYS); and where those from P start */
    const struct k_scene *scene;
    const struct k_stream *stream;
    struct k_vec3 at;
    float extent;
    uint k, blocked;
    /* What getattribute() asks of the hit: its instance, from 1; the vertices' colour. */
    uint instance, colored;
    struct k_vec3 color;
#endif
};

/* Turns of loops at one point, before its shader counts as endless. */
#define K_SHADE_BUDGET      (1u << 24)
#define A_TOO_MANY_CLOSURES 0xFFFFFFFFu /* in place of a loop's number */

/* Runs group `group` of the scene: adds its lobes and what it emits; args: where its argument area
 * begins. base: its inputs, for shaders that drive one. Returns 0, or 1 + the number of the loop
 * that does not end. */
#ifndef K_SHADERS_LINKED
#define K_SHADE_ENTRY A_CALL
#elif defined(K_CUDA)
#define K_SHADE_ENTRY extern "C" __device__ __attribute__((always_inline))
#else
#define K_SHADE_ENTRY __attribute__((noinline))
#endif
K_SHADE_ENTRY uint k_shade(K_GLOBAL const uint *words, uint group, uint args,
                           const struct k_globals *g, const struct k_inputs *base,
                           struct k_lobes *l);

/* ---- globals -------------------------------------------------------------------------------- */

/* What a shader at vertex k wants to know of the ray along d, which came through the film where the
 * stream's numbers say; length: T of section 18. */
K_FN struct k_arrival k_arrival_make(const struct k_scene *sc, struct k_stream *stream,
                                     struct k_vec3 d, uint k, float t, float length, uint raytype)
{
    K_GLOBAL const struct k_launch *L = sc->launch;
    struct k_arrival from;
    from.d = d;
    from.k = k;
    from.raytype = raytype;
    from.t = t;
#if K_MAY_HAVE(RAYS)
    from.stream = stream;
#endif
    from.w = length * ((2.0f * L->tan_y) / (float)L->height);
    if (K_HAS(CAMERAS) && L->camera_type == K_CAMERA_ORTHOGRAPHIC)
        from.w = (2.0f * L->tan_y) / (float)L->height;
    if (K_HAS(CAMERAS) && L->camera_type == K_CAMERA_EQUIRECTANGULAR)
        from.w = length * (K_PI / (float)L->height);
    if (k != 1u)
        return from;
    struct k_numbers u = k_block(stream, 0);
    float px = k_film_position(sc, stream->x, u.u0), py = k_film_position(sc, stream->y, u.u1);
    k_camera_through(sc, px + 1.0f, py, u.u2, u.u3, &from.ox, &from.dx);
    k_camera_through(sc, px, py + 1.0f, u.u2, u.u3, &from.oy, &from.dy);
    return from;
}

/* The change of P towards a neighbour's ray; `around` where that ray meets no plane near. */
K_FN struct k_vec3 k_plane_change(const struct k_arrival *from, const struct k_surface *s,
                                  struct k_vec3 o, struct k_vec3 d, struct k_vec3 around)
{
    struct k_vec3 A = v3_sub(s->P, o);
    float den = v3_dot(d, s->Ng), t = v3_dot(A, s->Ng) / den;
    if (den == 0.0f || !(t > 0.0f && t <= 16.0f * from->t))
        return around;
    return v3_sub(v3_scale(d, t), A);
}
K_FN void k_change_of_uv(struct k_vec3 U, struct k_vec3 V, struct k_vec3 P, float *u, float *v)
{
    float a = v3_dot(U, U), b = v3_dot(U, V), c = v3_dot(V, V), det = a * c - b * b;
    float p = v3_dot(U, P), q = v3_dot(V, P);
    *u = 0.0f;
    *v = 0.0f;
    if (det > 0.0f) {
        *u = (c * p - b * q) / det;
        *v = (a * q - b * p) / det;
    }
}
/* s: normals turned to wo's side; turned: Ng was. */
K_FN struct k_globals k_globals_make(const struct k_scene *sc, const struct k_arrival *from,
                                     const struct k_hit *hit, const struct k_surface *s,
                                     int backfacing, int turned, float area)
{
    struct k_globals g;
    struct k_frame f = k_frame_about(s->Ng);
    k_surface_axes(sc, hit, v3_flip(s->Ng, turned ? 0x80000000u : 0u), &g.U, &g.V);
    g.Px = v3_scale(f.s, from->w);
    g.Py = v3_scale(f.t, from->w);
    g.Ix = v3(0.0f, 0.0f, 0.0f);
    g.Iy = g.Ix;
    if (from->k == 1u) {
        g.Px = k_plane_change(from, s, from->ox, from->dx, g.Px);
        g.Py = k_plane_change(from, s, from->oy, from->dy, g.Py);
        g.Ix = v3_sub(from->dx, from->d);
        g.Iy = v3_sub(from->dy, from->d);
    }
    k_change_of_uv(g.U, g.V, g.Px, &g.ux, &g.vx);
    k_change_of_uv(g.U, g.V, g.Py, &g.uy, &g.vy);
    g.P = v3_add(s->P, v3_load(sc->launch->frame_origin));
    g.along = s->along;
    g.I = from->d;
    g.N = s->Ns;
    g.Ng = s->Ng;
    g.u = s->u;
    g.v = s->v;
    g.area = area;
    g.backfacing = backfacing;
    g.left_handed = v3_dot(v3_cross(g.Px, g.Py), s->Ng) < 0.0f;
    g.raytype = from->raytype;
    g.messages = sc->messages;
#ifdef K_COUNT_RAYS
    g.counting = sc;
#endif
#if K_MAY_HAVE(RAYS)
    g.scene = K_HAS(RAYS) ? sc : (const struct k_scene *)0;
    g.stream = K_HAS(RAYS) ? from->stream : (const struct k_stream *)0;
    g.at = s->P;
    g.extent = s->extent;
    g.k = from->k;
    g.blocked = from->blocked;
    g.instance = K_HAS(INSTANCES) ? hit->instance + 1u : 0u;
    g.colored = K_HAS(RAYS) ? k_hit_has_colors(sc, hit) : 0u;
    g.color = s->color;
#endif
    return g;
}

#define K_WORD3(first, a)                                                                          \
    if (i >= (first) && i < (first) + 3)                                                           \
    return i == (first) ? (a).x : i == (first) + 1 ? (a).y : (a).z
/* Word i of a point (device/asl/point.h); i is a constant wherever this is used. */
K_FN float k_global_word(const struct k_globals *g, int i)
{
    K_WORD3(0, g->P);
    K_WORD3(3, g->Px);
    K_WORD3(6, g->Py);
    K_WORD3(9, g->I);
    K_WORD3(12, g->Ix);
    K_WORD3(15, g->Iy);
    K_WORD3(18, g->N);
    K_WORD3(27, g->P);
    K_WORD3(30, g->Px);
    K_WORD3(33, g->Py);
    K_WORD3(36, g->Ng);
    K_WORD3(39, g->U);
    K_WORD3(42, g->V);
    switch (i) {
    case 51:
        return g->u;
    case 52:
        return g->ux;
    case 53:
        return g->uy;
    case 54:
        return g->v;
    case 55:
        return g->vx;
    case 56:
        return g->vy;
    case 59:
        return g->area;
    case 60:
        return K_AS_FLOAT((uint)g->backfacing);
    case 61:
        return K_AS_FLOAT((uint)g->left_handed);
    case 62:
        return K_AS_FLOAT(g->raytype);
    default:
        return 0.0f;
    }
}
#undef K_WORD3

/* ---- attributes ----------------------------------------------------------------------------- */

#if K_MAY_HAVE(RAYS)
/* Word i of what getattribute() may ask (shaders/emit/emit_attribute.c), numbers as their bits;
 * word 3 of the scene's is camera:fov. */
K_FN uint k_attribute(const struct k_globals *g, uint i)
{
    K_GLOBAL const struct k_launch *L = g->scene->launch;
    const float aspect = (float)L->width / (float)L->height;
    switch (i) {
    case 0:
        return g->k - 1u;
    case 1:
        return g->instance;
    case 2:
        return g->stream->y * L->width + g->stream->x;
    case 3:
        return L->width;
    case 4:
        return L->height;
    case 5:
        return L->camera_type;
    case 6:
        return g->scene->shading[3];
    case 7:
        return K_AS_UINT(-aspect);
    case 8:
        return K_AS_UINT(-1.0f);
    case 9:
        return K_AS_UINT(aspect);
    case 10:
        return K_AS_UINT(1.0f);
    case 11:
        return g->colored;
    case 12:
        return K_AS_UINT(g->color.x);
    case 13:
        return K_AS_UINT(g->color.y);
    case 14:
        return K_AS_UINT(g->color.z);
    case 15:
        return K_AS_UINT(g->u);
    case 16:
        return K_AS_UINT(g->v);
    default:
        return 0u;
    }
}
#endif

/* ---- messages ------------------------------------------------------------------------------- */

/* A number made of the words, neither 0 nor K_NONE. */
K_FN uint k_mark(uint words, const uint *said)
{
    uint mark = 0x811C9DC5u;
    for (uint i = 0; i < words; i++) {
        mark = (mark ^ said[i]) * 0x01000193u;
        mark ^= mark >> 15;
    }
    return mark == 0u || mark == K_NONE ? 1u : mark;
}

/* Keeps what a statement said, `words` words, in its table: once, whoever says it again. The
 * table: a word, 1 when something found no room; then `copies` entries of a mark that is made of
 * the words, and the words. Words of 0 and K_NONE (what film_begin leaves) are empty. */
K_CALL void k_say(K_GLOBAL uint *table, uint copies, uint words, const uint *said)
{
    const uint mark = k_mark(words, said);
    for (uint i = 0; i < copies; i++) {
        K_GLOBAL uint *to = table + 1 + ((mark + i) % copies) * (words + 1u);
        uint was = K_SWAP(to, 0u, mark);
        int taken = was == 0u;
        if (was == K_NONE) {
            was = K_SWAP(to, K_NONE, mark);
            taken = was == K_NONE;
        }
        for (uint k = 0; taken && k < words; k++)
            to[1u + k] = said[k];
        if (taken || was == mark)
            return;
    }
    if (K_SWAP(table, 0u, 1u) == K_NONE)
        (void)K_SWAP(table, K_NONE, 1u);
}

#if K_MAY_HAVE(RAYS)
/* ---- rays (protocol section 30) ------------------------------------------------------------- */

/* What the last trace() met, as words: 0: there was one; 1: it met something; then hitdist, P, N,
 * Ng, u, v as floats (shaders/emit/emit_rays.c). */
struct k_traced {
    uint word[14];
};

/* v3, which a shader's text may have as the name of a value. */
K_FN struct k_vec3 k_triple(float x, float y, float z) { return v3(x, y, z); }

/* Does p stand where the point that is shaded does? */
K_FN int k_is_here(const struct k_globals *g, struct k_vec3 p)
{
    return (p.x == g->P.x) & (p.y == g->P.y) & (p.z == g->P.z);
}
/* Where rays from p to that side of its surface start. */
K_FN struct k_vec3 k_ray_start(const struct k_globals *g, struct k_vec3 p, struct k_vec3 side)
{
    if (k_is_here(g, p))
        return v3_madd(g->at, side, k_offset_length(g->at, g->extent));
    return v3_sub(p, v3_load(g->scene->launch->frame_origin));
}

K_CALL uint k_ask_ray(const struct k_globals *g, struct k_vec3 p, struct k_vec3 dir, float mindist,
                      float maxdist, struct k_traced *out)
{
    struct k_hit hit;
    struct k_surface s;
    out->word[0] = 1u;
    out->word[1] = 0u;
    if (!k_is_direction(dir) || !k_finite(v3_dot(p, p)))
        return 0u;
    const struct k_vec3 d = v3_normalize(dir);
    const struct k_vec3 side = v3_dot(d, g->Ng) < 0.0f ? v3_neg(g->Ng) : g->Ng;
    const float near = k_max(mindist, 0.0f), t_max = maxdist - near;
    if (!(t_max > 0.0f) ||
        !k_surface_along(g->scene, v3_madd(k_ray_start(g, p, side), d, near), d, t_max, &hit, &s))
        return 0u;
    const uint turn = v3_dot(s.Ng, d) > 0.0f ? 0x80000000u : 0u;
    struct k_vec3 Ng = v3_flip(s.Ng, turn), Ns = v3_flip(s.Ns, turn);
    if (!(v3_dot(Ns, d) < 0.0f))
        Ns = Ng;
    const struct k_vec3 P = v3_add(s.P, v3_load(g->scene->launch->frame_origin));
    const float found[12] = {near + hit.t, P.x,  P.y,  P.z,  Ns.x, Ns.y,
                             Ns.z,         Ng.x, Ng.y, Ng.z, s.u,  s.v};
    out->word[1] = 1u;
    for (uint i = 0; i < 12u; i++)
        out->word[2u + i] = K_AS_UINT(found[i]);
    return 1u;
}

/* The share of so many rays about n that are blocked. */
K_CALL float k_ask_occlusion(const struct k_globals *g, struct k_vec3 p, struct k_vec3 normal,
                             float maxdist, int samples)
{
    if (!k_is_direction(normal) || !k_finite(v3_dot(p, p)) || !(maxdist > 0.0f))
        return 0.0f;
    const struct k_vec3 n = v3_normalize(normal);
    const struct k_vec3 Ng = v3_dot(n, g->Ng) < 0.0f ? v3_neg(g->Ng) : g->Ng;
    const struct k_vec3 side = k_is_here(g, p) ? Ng : n, o = k_ray_start(g, p, side);
    const uint count = k_ray_count(samples);
    uint blocked = 0;
    for (uint i = 0; i < count; i++)
        blocked += (uint)k_occlusion_ray(g->scene, g->stream, g->k, i, o, side, n, maxdist);
    return (float)blocked / (float)count;
}

/* The same of the point's own P and N, where a stage of its own may have asked before. */
K_FN float k_known_occlusion(const struct k_globals *g, struct k_vec3 p, struct k_vec3 normal,
                             float maxdist, int samples)
{
    if (g->blocked != K_NONE)
        return (float)g->blocked / (float)k_ray_count(samples);
    return k_ask_occlusion(g, p, normal, maxdist, samples);
}
#endif

/* Where in the scene's words the host's reply to a question stands, 0 for none: `count` words that
 * table `table` would keep. Word 1 is how many slots there are, a power of two or 0, and word 2
 * where they begin. A slot is where an entry begins, or 0: the table, the question's words, whether
 * the host has something to say of it, the reply. */
K_CALL uint k_reply(K_GLOBAL const uint *words, uint table, uint count, const uint *said)
{
    const uint slots = words[1], first = words[2], mark = k_mark(count, said);
    for (uint i = 0; i < slots; i++) {
        const uint at = words[first + ((mark + i) & (slots - 1u))];
        uint same = at != 0u && words[at] == table;
        for (uint k = 0; same && k < count; k++)
            same = words[at + 1u + k] == said[k];
        if (same || at == 0u)
            return same ? at + 2u + count : 0u;
    }
    return 0u;
}

/* ---- driven inputs -------------------------------------------------------------------------- */

/* A driven value: what is not finite counts as 0. */
K_FN struct k_vec3 k_driven(uint x, uint y, uint z)
{
    struct k_vec3 v = v3(K_AS_FLOAT(x), K_AS_FLOAT(y), K_AS_FLOAT(z));
    return v3(k_finite(v.x) ? v.x : 0.0f, k_finite(v.y) ? v.y : 0.0f, k_finite(v.z) ? v.z : 0.0f);
}
struct k_drives {
    struct k_inputs in;
    struct k_vec3 n, U, opacity, emission;
};
K_FN struct k_drives k_drives_start(const struct k_inputs *base, const struct k_globals *g)
{
    struct k_drives d;
    d.in = *base;
    d.n = g->N;
    d.U = g->along;
    d.opacity = K_ONE;
    d.emission = v3(0.0f, 0.0f, 0.0f);
    return d;
}
/* X(name, field, value): what a shader can drive by the names of docs/reference/scenes.md, and what becomes
 * of an output v; its first channel for a float. */
#define K_DRIVES(X)                                                                                \
    X(base_color, in.base, k_clamp3(v, 0.0f, 1.0f))                                                \
    X(reflectance, in.base, k_clamp3(v, 0.0f, 1.0f))                                               \
    X(roughness, in.roughness, k_clamp01(v.x))                                                     \
    X(metallic, in.metallic, k_clamp01(v.x))                                                       \
    X(specular, in.specular, k_clamp01(v.x))                                                       \
    X(specular_tint, in.specular_tint, k_clamp01(v.x))                                             \
    X(anisotropy, in.anisotropy, k_clamp01(v.x))                                                   \
    X(rotation, in.rotation, k_clamp01(v.x))                                                       \
    X(sheen, in.sheen, k_clamp01(v.x))                                                             \
    X(sheen_tint, in.sheen_tint, k_clamp01(v.x))                                                   \
    X(clearcoat, in.clearcoat, k_clamp01(v.x))                                                     \
    X(clearcoat_gloss, in.clearcoat_gloss, k_clamp01(v.x))                                         \
    X(transmission, in.transmission, k_clamp01(v.x))                                               \
    X(subsurface, in.subsurface, k_clamp01(v.x))                                                   \
    X(eta, in.eta, k_clamp3(v, 0.001f, 100.0f))                                                    \
    X(k, in.k, k_clamp3(v, 0.0f, 100.0f))                                                          \
    X(ior, in.ior, k_clamp_ior(v.x))                                                               \
    X(sigma, in.sigma, k_clamp_sigma(v.x))                                                         \
    X(normal, n, v)                                                                                \
    X(opacity, opacity, k_clamp3(v, 0.0f, 1.0f))                                                   \
    X(emission, emission, k_weight(v))
#define K_DRIVE(name, field, value)                                                                \
    K_FN void k_drive_##name(struct k_drives *d, struct k_vec3 v) { d->field = value; }
K_DRIVES(K_DRIVE)
#undef K_DRIVE
K_FN void k_drives_finish(const struct k_drives *d, struct k_lobes *l)
{
    struct k_place p;
    p.l = l;
    p.w = d->opacity;
    p.n = d->n;
    p.U = d->U;
    l->emitted = d->emission;
    k_inputs_lobes(&d->in, &p);
    k_lobes_add(l, K_LOBE_STRAIGHT,
                v3(1.0f - d->opacity.x, 1.0f - d->opacity.y, 1.0f - d->opacity.z), l->N);
}

/* ---- a shaded material ---------------------------------------------------------------------- */

/* Fills a list that was started, Le included. s: normals turned, `turned` if they were; backfacing:
 * section 18. Returns what k_shade does. */
K_FN uint k_shade_surface(const struct k_scene *sc, const struct k_arrival *from,
                          const struct k_hit *hit, const struct k_surface *s, int backfacing,
                          int turned, struct k_lobes *l)
{
    K_GLOBAL const struct k_material *m = sc->materials + s->material;
    struct k_globals g = k_globals_make(sc, from, hit, s, backfacing, turned, m->surface_area);
#ifdef K_COUNT_RAYS
    k_tally_hit(sc, from->k, s->material);
#endif
    struct k_inputs base = k_inputs_make(sc, m, m->type, s->u, s->v, !backfacing);
    base.base = k_colored(s, base.base);
    uint failed = k_shade(sc->shading, m->shader - 1u, m->shader_args, &g, &base, l);
    if (!k_is_black(l->background)) {
        float pdf_w;
        l->emitted = v3_add(l->emitted, v3_mul(l->background, k_env_eval(sc, from->d, &pdf_w)));
    }
    return failed;
}

#endif
