/* SPDX-License-Identifier: Apache-2.0 */
/* How far a float32 renderer may be from the real numbers in one step of a path, and tools to find
 * out.
 *
 * The bounds are mixed: an answer is right when it is the exact answer to inputs moved by a few
 * roundings, itself rounded a few times more (Higham, Accuracy and Stability of Numerical
 * Algorithms, section 1.5). The first half is measured: the reference is asked again with each
 * input moved (answer_spread), so ill-conditioned places get the room that they need, and no other
 * place does. The second half is counted. */
#ifndef CONFORMANCE_BOUNDS_H
#define CONFORMANCE_BOUNDS_H

#include "backends.h"

#define ULP 0x1p-24 /* unit roundoff of float32 */

/* Relative errors of a device's division and square root, in units roundoff. Correctly rounded: 1.
 * Its sums and products are correctly rounded everywhere, and sine, cosine, arcs are the kernel's
 * own sums and products. */
struct arithmetic {
    double divide, root;
};
/* What the device's compiler promises in that mode. strict: correctly rounded, which the device has
 * shown (device_check_strict). Elsewhere:
 *
 *   opencl, hip, level_zero   2.5 and 3 ulp, an ulp being at most 2 u: OpenCL C 3.0, section 7.4,
 *                             table "ULP values for single precision built-in math functions",
 *                             full profile
 *   cuda                      correctly rounded: CUDA C++ Programming Guide, "Mathematical
 *                             Functions", with NVRTC's defaults -prec-div=true -prec-sqrt=true
 *   native                    correctly rounded: IEEE 754, by the processor */
struct arithmetic arithmetic_of(const struct device_info *d, enum math_mode mode);
/* `count` roundings, of which so many are of a division and a root; a bound, so relative. */
double roundings(const struct arithmetic *a, double count, double divisions, double roots);

enum { ANSWER_VALUES = 12, ANSWER_CODES = 8 };

/* The reference's answer to a question with some real inputs: a discrete part and values, with what
 * becomes of both when the inputs move by their steps. */
struct answer {
    int code;
    double value[ANSWER_VALUES], spread[ANSWER_VALUES];
    int other_codes[ANSWER_CODES]; /* discrete answers within the steps, other than code */
    int other_count;
    /* values where other_codes first came up, and their spread about that place, twice: the place
     * is a step away from the question, as what the device saw may be on the other side */
    double moved[ANSWER_CODES][ANSWER_VALUES], moved_spread[ANSWER_CODES][ANSWER_VALUES];
};
typedef int (*answer_function)(void *ctx, const double *in, double *out);
/* spread_i = sum over inputs of the larger change that value i shows when that input moves by + or
 * - its step, where the code stays. */
void answer_spread(answer_function fn, void *ctx, const double *in, const double *step,
                   size_t inputs, size_t values, struct answer *out);
/* Is `code` the answer, or one within the steps? *value and *spread become those of that code. */
bool answer_allows(struct answer *a, int code, size_t values);
/* The same where a device says these bits of the code alone: of the answers that have them a becomes
 * the one whose first three values are nearest to what was seen. */
bool answer_nearest(struct answer *a, int code, int mask, const double seen[3], size_t values);

/* max(|P|, E, 2^-20) of the offset (sections 4 and 25) where the ray (o, d) met the primitive at t,
 * which is P; the offset's length is 2^-19 of it. */
double offset_extent(const struct scene *s, uint32_t primitive, const double o[3],
                     const double d[3], double t, const double P[3]);
bool primitive_is_triangle(const struct scene *s, uint32_t primitive);
const struct sphere *sphere_of(const struct scene *s, uint32_t primitive); /* NULL: it is none */
/* A triangle's vertices in the world, by primitive id: moved, and 1 and 2 exchanged, where it
 * stands in an instance (section 25). */
void triangle_in_world(const struct scene *s, uint32_t primitive, double v[3][3]);
/* Is it a triangle whose vertices have colours? */
bool primitive_has_colors(const struct scene *s, uint32_t primitive);
/* Size of the coordinates that a hit of the primitive is computed from: the primitive's vertices
 * (or |c| + r); in an instance the terms that place them. */
double primitive_extent(const struct scene *s, uint32_t primitive);
/* How much more than in the world rounding moves a ray against the primitive: 1 in the world. In an
 * instance, twice its transform's condition number (largest row sums): a coordinate x of the world
 * is a number of size |inverse| x in the group's space, where it is rounded as many times again,
 * and what that moves there is |M| times as much here. */
double primitive_distortion(const struct scene *s, uint32_t primitive);
/* Where the plane or sphere that carries the primitive meets the ray, nearest t > 0, inside or not;
 * false if nowhere. */
bool primitive_carrier(const struct scene *s, uint32_t primitive, const double o[3],
                       const double d[3], double *t);
/* How far the ray's line passes by the primitive, seen along the ray: 0 if it meets it. */
double primitive_miss(const struct scene *s, uint32_t primitive, const double o[3],
                      const double d[3]);
/* The stored geometric normal (section 4) at a point of it. */
void primitive_normal(const struct scene *s, uint32_t primitive, const double P[3], double n[3]);
double primitive_area(const struct scene *s, uint32_t primitive);

/* Bounds of a hit's quantities, see bounds.c. */
struct hit_bounds {
    double position; /* of the ray against an edge: where a flip is a matter of rounding */
    double t, P, Ng, Ns, uv[2];
};
void hit_bounds(const struct arithmetic *a, const struct scene *s, uint32_t primitive,
                const double o[3], const double d[3], double t, const double P[3],
                const double Ng[3], struct hit_bounds *out);

/* How far uv must move to stand for what rounding does to the place in the texture that they say,
 * by the roundings of what is at most |scale uv| + |offset| + 1 (protocol 7.2):
 *
 *   the scaled coordinate, its sum with the offset, 1 - v,       5
 *   the place in texels, its fraction
 *   turned: two products and a sum                               3 more, and both coordinates count
 * The scale brings that back. */
void texture_steps(const struct texture *t, const double uv[2], double step[2]);
/* The largest of them over a material's textures; four roundings of uv where it has none. */
void material_texture_steps(const struct scene *s, const struct material *m, const double uv[2],
                            double step[2]);
/* Error of the cosine under which a triangle or disk that emits is seen from o along d at distance t,
 * which is *cosine. By S, the largest coordinate, and u = 2^-24:
 *
 *   the normal                                                     hit_bounds
 *   the point sampled (weights, products, sums) less o             8 u S / t
 *   normalising d, the sum of products                             8 roundings */
double emitter_cosine_error(const struct arithmetic *a, const struct scene *s, uint32_t primitive,
                            const double o[3], const double d[3], double t, double *cosine);
/* Error of the emission that a light sample has from o along d at distance t on that primitive, 0
 * unless it is textured: what the texture does within the error of the point's uv (hit_bounds). */
void emission_spread(const struct arithmetic *a, const struct scene *s, uint32_t primitive,
                     const double o[3], const double d[3], double t, double spread[3]);
/* The same for a light without a surface that is met along d at distance t: a spot's profile is
 * steep. */
void spot_spread(const struct arithmetic *a, const struct light *l, const double d[3], double t,
                 double spread[3]);
/* The primitive that is area light `light`, else UINT32_MAX and in *count how many there are. */
uint32_t light_primitive(const struct scene *s, uint32_t light, uint32_t *count);
/* GGX alpha of a material at uv: max(roughness^2, 0.001), of a list of lobes the least (along
 * either axis, of a clearcoat too). 1 for materials that have none. */
double material_alpha(const struct scene *s, uint32_t material, const double uv[2]);
/* Errors of GGX in float32 for local wo and wi, with h their half vector, q = h.x^2 + h.y^2 +
 * alpha^2 h.z^2. */
struct ggx_bounds {
    /* Relative, of D(h), which goes with 1/q^2:
     *   wo + wi       8 u, absolutely       roundings of directions of length one; s: its length
     *   h.x, h.y      8 u / s
     *   q             2 * 8 u / (s sqrt(q)), and a few roundings of its own
     *   D             twice that
     * The one normalisation (a root, a division) lengthens h, hence q twice and D four times as
     * much; D ends with a division. */
    double density;
    /* Absolute, of a sampled h: 8 u / (alpha / sqrt(q)).
     *   8 u              roundings of a vector of length one
     *   alpha / sqrt(q)  the length of (alpha n.x, alpha n.y, n.z) before it is normalised
     *   of the frame     two normalisations, one of them twice: v, t1, t2 = v x t1
     *   of coordinates   a root each, of two */
    double half;
    /* Relative, of the density at a sampled h: D moves by 4 |dh| / sqrt(q) of itself at most. */
    double sampled_density;
    /* Relative, of a sampled weight, besides: it holds Smith's terms as they are multiplied,
     *     G2 / G1 = wi.z (wo.z + s_o) / (wo.z s_i + wi.z s_o)
     *     s       = sqrt(alpha^2 + (1 - alpha^2) z^2)
     * whose logarithm moves by less than dz / wi.z. dz: twice dh, and a few roundings. */
    double grazing;
    /* Absolute, of a weight, and of f over the density: what roundings make of a small F, over its
     * lobe's probability, which in a list is 0.05 of 1.05 at least (protocol, section 20). Of a
     * rough dielectric where F is less than they make of 0, else 0; of metals everywhere. */
    double faint;
};
/* Zero for alpha = 1, which says that there is no such lobe (material_alpha). */
struct ggx_bounds ggx_bounds(const struct arithmetic *a, double alpha, const double wo[3],
                             const double wi[3]);
/* Roundings of f and of the density at given directions, and of the weight f cos / pdf, but for
 * those of ggx_bounds; relative. Of divisions and roots (docs/reference/protocol.md section 16):
 *
 *                                         divisions   roots
 *   Smith's terms of two directions           2         2
 *   f: G2 and the common factor               2
 *   the density: D, G1 and itself             3
 *   the weight                                1
 *   a conductor's reflectance                 3         2
 * 10 and 6 are counted for these 11 and 4: by OpenCL's bounds (arithmetic_of) that is 6 u more. */
double bsdf_roundings(const struct arithmetic *a);
/* ggx_bounds of a material that wo sees from outside, if `entering`. For a direction through the
 * surface h is normalised from wo + eta wi and wi follows h by Snell's law. There f and density
 * hold the transmittance, which is what rounding leaves of 1 - F, and
 *
 *     <wi,h> eta^2 / (<wo,h> + eta <wi,h>)^2. */
struct ggx_bounds scatter_bounds(const struct arithmetic *a, const struct scene *s,
                                 uint32_t material, const double uv[2], bool entering,
                                 const double wo[3], const double wi[3]);
/* Absolute, of a refracted direction's cosine and of a dielectric's reflectance at the cosine c. */
struct refraction_bounds {
    double ct, F;
};
struct refraction_bounds refraction_bounds(const struct arithmetic *a, double eta, double c);
/* Relative, of the reflectance at the facet between wo and wi: near ior 1 F is little beside what
 * it is made of. */
double facet_reflectance(const struct arithmetic *a, double eta, const double wo[3],
                         const double wi[3]);
/* Absolute, of a rough conductor's reflectance there, indices by channel that are constant. */
double conductor_reflectance(const struct arithmetic *a, const double eta[3], const double k[3],
                             const double wo[3], const double wi[3]);
/* The least probability of a lobe beside another one: estimates are 0.05 at least, and 1 at most
 * (protocol, section 20). */
#define LEAST_SHARE (0.05 / 1.05)
/* ggx_bounds.faint at the facet between wo and wi. */
double faint_weight(const struct arithmetic *a, double eta, const double wo[3], const double wi[3]);
/* How far that may move the number that a smooth dielectric's lobe choice is compared with; 0 of
 * other materials. */
double choice_step(const struct arithmetic *a, const struct scene *s, uint32_t material,
                   const double uv[2], bool entering, double c);
/* bsdf_roundings of one, or of a list of lobes: their probabilities hold estimates e of which the
 * least that counts is 0.05, so that the roundings of 1 - F are twenty times as many; exp and log
 * of a clearcoat's exponent, 14 at most, as many as that. */
double material_roundings(const struct arithmetic *a, const struct material *m);
/* Of a sampled direction 2 <wo, h> h - wo, absolute, beside those of ggx_bounds.half: h is
 * normalised, and stands twice. */
double direction_roundings(const struct arithmetic *a);
/* Of a light sample's density, relative: d^2 / (cos A), or a cone's 1 / (2 pi (1 - cos)) with a
 * root and two divisions in it, and the choice's share. */
double light_roundings(const struct arithmetic *a);
/* Of the probability of a light's choice, relative: nothing where a table holds it. Each level of a
 * descent through a light tree divides sums of importances, which take some 16 roundings, 2
 * divisions and 3 roots; 64 levels are more than the trees of a million lights have. */
double choice_roundings(const struct arithmetic *a, const struct scene *s);
/* How far a BSDF's second number moves by the root that is taken of it: a root's error e is an
 * input's error 2 e. */
double root_step(const struct arithmetic *a);

#endif
