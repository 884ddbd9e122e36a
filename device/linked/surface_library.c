/* SPDX-License-Identifier: Apache-2.0 */
/* What shaders inside the kernel run on, as bitcode: the kernel calls k_shade, which calls al_shade
 * of the emitted text (shaders/emit/emit_llvm_surface.c); that calls the functions below, which
 * know the kernel's structures. The text sees a run only as a pointer. Compiled by clang-15 when
 * the program is built, for the features and the modes of the kernel's modules (CMakeLists.txt). */
// clang-format off
#undef K_PART
#define K_PART 99 /* none: no entries */
#include "path/kernel.c"
#include "asl/device.h"
#include "linked/shade_functions.h"
// clang-format on

/* One hit. What functions that stay calls are handed stands apart, so that the rest can live in
 * registers. */
struct al_surface {
    K_GLOBAL const uint *words, *args;
    const struct k_globals *g;
    K_GLOBAL uint *messages; /* of g, until the hit is none (al_ask) */
    uint turns, failed;      /* failed: what k_shade returns */
    struct k_traced traced;
    struct k_drives drives;
    /* the walk of Ci: what waits, the weight of what is met, principled's pairs */
    struct k_closures *closures;
    struct k_vec3 w;
    struct k_principled_pairs *pairs;
};

/* ---- what the emitted text has -------------------------------------------------------------- */

/* Runs the group's layers, then adds what Ci holds, or drives the base. */
AL void al_shade(struct al_surface *s, uint group);

K_SHADE_ENTRY uint k_shade(K_GLOBAL const uint *words, uint group, uint args,
                           const struct k_globals *g, const struct k_inputs *base,
                           struct k_lobes *l)
{
    struct k_closures closures;
    struct k_principled_pairs pairs;
    struct al_surface s;
    s.words = words;
    s.args = words + args;
    s.g = g;
    s.messages = g->messages;
    s.turns = 0u;
    s.failed = 0u;
    s.traced.word[0] = s.traced.word[1] = 0u;
    s.drives = k_drives_start(base, g);
    s.closures = &closures;
    s.pairs = &pairs;
    closures.l = l;
    closures.backfacing = g->backfacing;
    closures.along = g->along;
    closures.failed = 0;
    al_shade(&s, group);
    return s.failed ? s.failed : closures.failed ? A_TOO_MANY_CLOSURES : 0u;
}

/* ---- the point ------------------------------------------------------------------------------ */

AL float al_point(const struct al_surface *s, int word) { return k_global_word(s->g, word); }
AL uint al_argument(const struct al_surface *s, uint k) { return s->args[k]; }
/* A turn of a loop: 1 when the budget is spent. number: what to report, from 1. */
AL uint al_turn(struct al_surface *s, uint number)
{
    if (++s->turns <= K_SHADE_BUDGET)
        return 0u;
    s->failed = number;
    return 1u;
}
AL uint al_failed(const struct al_surface *s) { return s->failed; }

/* The words of a message but the first, which is the argument area; at: its table. */
AL void al_say(const struct al_surface *s, uint at, uint copies, uint words, uint *said)
{
    said[0] = (uint)(s->args - s->words);
    if (s->messages)
        k_say(s->messages + at, copies, words, said);
}

/* A question, whose table is number `table` of its group and stands at `at`: where the reply
 * begins. 0: there is none yet, the picture will be made again, and this hit is none. */
AL uint al_ask(struct al_surface *s, uint table, uint at, uint copies, uint words, uint *said)
{
    said[0] = (uint)(s->args - s->words);
    const uint reply = k_reply(s->words, table, words, said);
    if (s->messages && (reply == 0u || s->words[reply - 1u] != 0u))
        k_say(s->messages + at, copies, words, said);
    if (reply == 0u) {
        s->messages = (K_GLOBAL uint *)0;
        s->turns = K_SHADE_BUDGET;
    }
    return reply;
}
AL uint al_reply_word(const struct al_surface *s, uint reply, uint k)
{
    return reply ? s->words[reply + k] : 0u;
}

/* ---- rays ----------------------------------------------------------------------------------- */

/* in: P, the direction or normal, then mindist (of a ray alone) and maxdist. */
AL int al_ray(struct al_surface *s, const float *in)
{
    return (int)k_ask_ray(s->g, v3(in[0], in[1], in[2]), v3(in[3], in[4], in[5]), in[6], in[7],
                          &s->traced);
}
AL float al_occlusion(const struct al_surface *s, const float *in, int samples)
{
    return k_ask_occlusion(s->g, v3(in[0], in[1], in[2]), v3(in[3], in[4], in[5]), in[7], samples);
}
AL float al_occlusion_here(const struct al_surface *s, const float *in, int samples)
{
    return k_ask_occlusion(s->g, s->g->P, s->g->N, in[7], samples); /* modules have no stages */
}
AL uint al_attribute(const struct al_surface *s, uint word) { return k_attribute(s->g, word); }
AL uint al_traced(const struct al_surface *s, uint word) { return s->traced.word[word]; }

/* ---- driven inputs -------------------------------------------------------------------------- */

#define DRIVE(name, field, value)                                                                  \
    AL void al_drive_##name(struct al_surface *s, uint x, uint y, uint z)                          \
    {                                                                                              \
        k_drive_##name(&s->drives, k_driven(x, y, z));                                             \
    }
K_DRIVES(DRIVE)
AL void al_drives_finish(struct al_surface *s) { k_drives_finish(&s->drives, s->closures->l); }

/* ---- nodes of closures ---------------------------------------------------------------------- */

/* A copy of a node in a loop; all: 16 (EMIT_NODE_COPIES). */
AL uint al_node_take(struct al_surface *s, uint *used)
{
    uint at = *used < 16u ? (*used)++ : 0u;
    if (*used == 16u)
        s->failed = A_TOO_MANY_CLOSURES;
    return at;
}

AL void al_walk_start(struct al_surface *s, struct k_closure_item *stack, uint capacity, int root)
{
    k_closures_start(s->closures, stack, capacity, root);
}
AL int al_walk_next(struct al_surface *s)
{
    int id = 0;
    return k_closures_pop(s->closures, &id, &s->w) ? id : 0;
}
AL void al_push_both(struct al_surface *s, int left, int right)
{
    k_closures_push(s->closures, right, s->w);
    k_closures_push(s->closures, left, s->w);
}
AL void al_push_scaled(struct al_surface *s, int child, float x, float y, float z)
{
    k_closures_push(s->closures, child, v3_mul(s->w, v3(x, y, z)));
}

AL void al_pairs_start(struct al_surface *s) { *s->pairs = k_principled_defaults(); }
#define PAIR(name)                                                                                 \
    AL void al_pair_##name(struct al_surface *s, float x) { s->pairs->name = x; }
PAIR(specular)
PAIR(specular_tint)
PAIR(anisotropy)
PAIR(rotation)
PAIR(sheen)
PAIR(sheen_tint)
PAIR(clearcoat)
PAIR(clearcoat_gloss)
PAIR(transmission)
PAIR(subsurface)
PAIR(ior)

/* A component: parameters as the text gives them, and as device/surface/closure.h takes them. */
#define V3(a)     float a##x, float a##y, float a##z
#define V(a)      v3(a##x, a##y, a##z)
#define WITH(...) , __VA_ARGS__
#define CLOSURE(name, parameters, arguments)                                                       \
    AL void al_closure_##name(struct al_surface *s parameters)                                     \
    {                                                                                              \
        struct k_vec3 w = s->w;                                                                    \
        if (k_closure_counts(&w))                                                                  \
            k_closure_##name(s->closures, w arguments);                                            \
    }
// clang-format off
CLOSURE(diffuse_1, WITH(V3(n)), WITH(V(n)))
CLOSURE(subsurface_4, WITH(float eta, float g, V3(mfp), V3(albedo)), WITH(eta, g, V(mfp), V(albedo)))
CLOSURE(subsurface_bssrdf_4, WITH(V3(n), V3(albedo), V3(radius), float g), WITH(V(n), V(albedo), V(radius), g))
CLOSURE(subsurface_bssrdf_5, WITH(V3(n), V3(albedo), float depth, V3(c), float g), WITH(V(n), V(albedo), depth, V(c), g))
CLOSURE(oren_nayar_2, WITH(V3(n), float sigma), WITH(V(n), sigma))
CLOSURE(oren_nayar_diffuse_bsdf_3, WITH(V3(n), V3(albedo), float roughness), WITH(V(n), V(albedo), roughness))
CLOSURE(burley_diffuse_bsdf_3, WITH(V3(n), V3(albedo), float roughness), WITH(V(n), V(albedo), roughness))
CLOSURE(sheen_bsdf_3, WITH(V3(n), V3(albedo), float roughness), WITH(V(n), V(albedo), roughness))
CLOSURE(translucent_1, WITH(V3(n)), WITH(V(n)))
CLOSURE(translucent_bsdf_2, WITH(V3(n), V3(albedo)), WITH(V(n), V(albedo)))
CLOSURE(phong_2, WITH(V3(n), float exponent), WITH(V(n), exponent))
CLOSURE(ward_4, WITH(V3(n), V3(T), float ax, float ay), WITH(V(n), V(T), ax, ay))
CLOSURE(microfacet_7, WITH(int beckmann, V3(n), V3(T), float ax, float ay, float eta, int refract), WITH(beckmann, V(n), V(T), ax, ay, eta, refract))
CLOSURE(microfacet_5, WITH(int beckmann, V3(n), float a, float eta, int refract), WITH(beckmann, V(n), a, eta, refract))
CLOSURE(reflection_1, WITH(V3(n)), WITH(V(n)))
CLOSURE(reflection_2, WITH(V3(n), float eta), WITH(V(n), eta))
CLOSURE(refraction_2, WITH(V3(n), float eta), WITH(V(n), eta))
CLOSURE(dielectric_bsdf_8, WITH(V3(n), V3(T), V3(rt), V3(tt), float ax, float ay, float ior, int beckmann), WITH(V(n), V(T), V(rt), V(tt), ax, ay, ior, beckmann))
CLOSURE(conductor_bsdf_7, WITH(V3(n), V3(T), float ax, float ay, V3(eta), V3(k), int beckmann), WITH(V(n), V(T), ax, ay, V(eta), V(k), beckmann))
CLOSURE(generalized_schlick_bsdf_10, WITH(V3(n), V3(T), V3(rt), V3(tt), float ax, float ay, V3(f0), V3(f90), float exponent, int beckmann), WITH(V(n), V(T), V(rt), V(tt), ax, ay, V(f0), V(f90), exponent, beckmann))
CLOSURE(principled_4, WITH(V3(n), V3(base), float metallic, float roughness), WITH(V(n), V(base), metallic, roughness, s->pairs))
CLOSURE(layer_2, WITH(int a, int b), WITH(a, b))
CLOSURE(transparent_0, , )
CLOSURE(transparent_bsdf_0, , )
CLOSURE(emission_0, , )
CLOSURE(uniform_edf_1, WITH(V3(emittance)), WITH(V(emittance)))
CLOSURE(background_0, , )
CLOSURE(holdout_0, , )
CLOSURE(debug_1, WITH(int unused), WITH(unused))
CLOSURE(microfacet_ggx_2, WITH(V3(n), float a), WITH(V(n), a))
CLOSURE(microfacet_ggx_3, WITH(V3(n), float a, float eta), WITH(V(n), a, eta))
CLOSURE(microfacet_beckmann_2, WITH(V3(n), float a), WITH(V(n), a))
CLOSURE(microfacet_beckmann_3, WITH(V3(n), float a, float eta), WITH(V(n), a, eta))
CLOSURE(microfacet_ggx_aniso_4, WITH(V3(n), V3(T), float ax, float ay), WITH(V(n), V(T), ax, ay))
CLOSURE(microfacet_beckmann_aniso_4, WITH(V3(n), V3(T), float ax, float ay), WITH(V(n), V(T), ax, ay))
CLOSURE(ashikhmin_shirley_4, WITH(V3(n), V3(T), float ax, float ay), WITH(V(n), V(T), ax, ay))
CLOSURE(microfacet_multi_ggx_3, WITH(V3(n), float a, V3(C)), WITH(V(n), a, V(C)))
CLOSURE(microfacet_multi_ggx_aniso_5, WITH(V3(n), V3(T), float ax, float ay, V3(C)), WITH(V(n), V(T), ax, ay, V(C)))
CLOSURE(microfacet_ggx_refraction_3, WITH(V3(n), float a, float eta), WITH(V(n), a, eta))
CLOSURE(microfacet_beckmann_refraction_3, WITH(V3(n), float a, float eta), WITH(V(n), a, eta))
CLOSURE(microfacet_ggx_fresnel_5, WITH(V3(n), float a, float eta, V3(C), V3(f0)), WITH(V(n), a, eta, V(C), V(f0)))
CLOSURE(microfacet_multi_ggx_fresnel_5, WITH(V3(n), float a, float eta, V3(C), V3(f0)), WITH(V(n), a, eta, V(C), V(f0)))
CLOSURE(microfacet_ggx_aniso_fresnel_7, WITH(V3(n), V3(T), float ax, float ay, float eta, V3(C), V3(f0)), WITH(V(n), V(T), ax, ay, eta, V(C), V(f0)))
CLOSURE(microfacet_multi_ggx_aniso_fresnel_7, WITH(V3(n), V3(T), float ax, float ay, float eta, V3(C), V3(f0)), WITH(V(n), V(T), ax, ay, eta, V(C), V(f0)))
CLOSURE(microfacet_f82_tint_7, WITH(int beckmann, V3(n), V3(T), float ax, float ay, V3(f0), V3(f82)), WITH(beckmann, V(n), V(T), ax, ay, V(f0), V(f82)))
CLOSURE(microfacet_multi_ggx_glass_4, WITH(V3(n), float a, float eta, V3(C)), WITH(V(n), a, eta, V(C)))
CLOSURE(microfacet_multi_ggx_glass_fresnel_5, WITH(V3(n), float a, float eta, V3(C), V3(c0)), WITH(V(n), a, eta, V(C), V(c0)))
CLOSURE(principled_diffuse_2, WITH(V3(n), float roughness), WITH(V(n), roughness))
CLOSURE(principled_sheen_1, WITH(V3(n)), WITH(V(n)))
CLOSURE(principled_clearcoat_3, WITH(V3(n), float clearcoat, float a), WITH(V(n), clearcoat, a))
CLOSURE(sheen_2, WITH(V3(n), float roughness), WITH(V(n), roughness))
CLOSURE(ashikhmin_velvet_2, WITH(V3(n), float sigma), WITH(V(n), sigma))
CLOSURE(bssrdf_4, WITH(int unused, V3(n), V3(radius), V3(albedo)), WITH(unused, V(n), V(radius), V(albedo)))
// clang-format on

/* ---- images and spectra --------------------------------------------------------------------- */

AL void al_texture_start(struct a_texture *o, uint channels) { *o = a_texture_start(channels); }
#define OPTION(type, name)                                                                         \
    AL void al_texture_##name(struct a_texture *o, type x) { o->name = x; }
OPTION(int, swrap)
OPTION(int, twrap)
OPTION(int, filter)
OPTION(int, anisotropic)
OPTION(int, subimage)
OPTION(uint, first)
OPTION(float, swidth)
OPTION(float, twidth)
OPTION(float, sblur)
OPTION(float, tblur)
OPTION(float, fill)
OPTION(float, missing_alpha)
AL void al_texture_missing(struct a_texture *o, float x, float y, float z)
{
    o->missing[0] = x;
    o->missing[1] = y;
    o->missing[2] = z;
}
AL float al_larger(float a, float b) { return a_larger(a, b); }
/* The image that word k of the argument area names. */
AL void al_texture_lookup(const struct al_surface *s, uint k, const struct a_texture *o,
                          const float *place, float *out)
{
    a_texture_lookup(s->words, s->args[k], o, place, out);
}
AL void al_texture_changes(const struct al_surface *s, uint k, const struct a_texture *o,
                           const float *place, float *out)
{
    a_texture_changes(s->words, s->args[k], o, place, out);
}
/* The subimage is the one whose number is word k of the argument area. */
AL void al_texture_named(const struct al_surface *s, struct a_texture *o, uint k)
{
    o->subimage = (int)s->args[k];
}
AL uint al_texture_there(const struct al_surface *s, uint k, const struct a_texture *o)
{
    return (uint)a_texture_there(s->words, s->args[k], o);
}
AL uint al_texture_fact(const struct al_surface *s, uint k, int fact)
{
    return a_texture_fact(s->words, s->args[k], fact);
}
/* R: the direction, its change in x, in y. */
AL void al_environment_place(struct a_texture *o, const float *R, float *place)
{
    a_environment_place(R, R + 3, R + 6, place);
    o->swrap = 2;
    o->twrap = 1;
}
AL void al_blackbody(float *out, float kelvin) { a_blackbody(kelvin, out); }
AL void al_wavelength(float *out, float nm) { a_wavelength(nm, out); }
/* m: 16 numbers of a matrix; in: a normal with its changes, then those. */
AL void al_inverse(float *out, const float *m) { (void)a_inverse(m, out); }
AL void al_determinant(float *out, const float *m) { out[0] = a_determinant(m); }
AL void al_transform_normal(float *out, const float *in)
{
    al_back3(out, a_transform_normal(al_in3(in), in + 9));
}

/* The room that emitted text has for them (emit_llvm_surface.c). */
typedef char al_texture_fits[sizeof(struct a_texture) <= 64 ? 1 : -1];
typedef char al_item_fits[sizeof(struct k_closure_item) == 16 ? 1 : -1];
