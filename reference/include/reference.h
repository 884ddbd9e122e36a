/* SPDX-License-Identifier: Apache-2.0 */
/* reference: the oracle. Part I of docs/reference/protocol.md in double precision, slow and
 * obvious.
 *
 * Embree proposes the primitives that a ray may meet; each hit is decided here in double, and is
 * the one that brute force finds. Shares no code with backends/. Same bits for any thread count:
 * each sample is a pure function of (seed, pixel, sample). */
#ifndef ISOPHOTE_REFERENCE_H
#define ISOPHOTE_REFERENCE_H

#include "scenes.h"

#ifdef __cplusplus
extern "C" {
#endif

struct reference; /* a scene made ready: Embree's structures, light tables */

/* The scene must outlive it. Fails: MEMORY, MISSING (Embree refused to start), CANCELLED. */
enum status reference_open(const struct scene *s, struct reference **out, struct error *err);
void reference_close(struct reference *r);           /* accepts NULL */
double reference_build_s(const struct reference *r); /* seconds spent in building Embree's BVH */

/* All that a picture's pixels have gathered so far, to be kept and gone on from bit by bit. Only the
 * program that wrote it reads it. */
struct reference_state {
    uint32_t width, height; /* of the picture */
    uint32_t round;         /* samples of a pixel at the end of the round under way */
    const void *pixels;
    size_t pixel_size;              /* bytes of one */
    const double *more[PASS_COUNT]; /* sums, as struct reference_picture has means */
};
/* The means so far, [h][w][3]; a pixel without samples is 0. */
void reference_state_rgb(const struct reference_state *s, float *rgb);
/* OK if it can be of a picture of that size with at most spp samples a pixel. *samples: of all
 * pixels. Fails: RANGE (a pixel has more), MISMATCH. */
enum status reference_state_check(const struct reference_state *s, uint32_t spp, uint64_t *samples,
                                  struct error *err);

struct reference_job {
    uint32_t width, height; /* of the whole picture */
    uint32_t crop[4];       /* x, y, width, height of the part to make; width 0: all of it */
    uint32_t sample_begin, sample_count; /* samples [begin, begin + count) of every pixel */
    uint32_t max_depth, rr_depth;
    uint64_t seed;
    unsigned passes; /* bits 1u << enum pass of what the picture shall hold beside its own arrays */
    bool rounded;    /* each sample to the film's unit, as section 9 adds it up: what a film is
                        compared    with to the last unit */
    double error_target; /* section 29's: a relative error at which pixels stop; 0: none. Biased */
    unsigned threads;    /* 0: parallel_threads() */
    /* called now and then from one thread at a time with the finished share in [0,1] and the
     * expected seconds left; may be NULL */
    void (*progress)(void *ctx, double share, double left_s);
    void *progress_ctx;
    /* Asks whether it is time to keep what there is, by any thread; NULL: it is not kept. Then `keep`
     * is called, while no sample is under way, and when the job ends at a request (`stopping`). */
    bool (*keep_due)(void *ctx);
    void (*keep)(void *ctx, const struct reference_state *so_far, bool stopping);
    void *keep_ctx;
    const struct reference_state *resumed; /* where the job goes on; NULL: at the beginning */
};

/* Row-major, row 0 on top; of the crop, if the job has one. Arrays belong to the picture, heap;
 * freed by reference_picture_free. */
struct reference_picture {
    uint32_t width, height;
    uint64_t samples;         /* per pixel, at most */
    double *beauty;           /* [h][w][3] mean radiance */
    double *variance;         /* [h][w][3] unbiased variance of one sample; 0 with fewer than two */
    double *albedo, *normal;  /* [h][w][3] */
    double *depth;            /* [h][w] */
    uint32_t *counts;         /* [h][w] samples of each pixel; NULL: all have `samples` */
    double *more[PASS_COUNT]; /* [h][w][channels] of passes that the job asked for and no array
                                 above holds (material: of the first sample); else NULL */
};

/* Fails: CANCELLED (cancel_requested), MEMORY, ARG; TIMEOUT or LIMIT with the place in a shader
 * that does not end or nests too deeply. */
enum status reference_render(const struct reference *r, const struct reference_job *job,
                             struct reference_picture *out, struct error *err);
/* The passes `bits`, which the job named, as floats. */
enum status reference_passes(const struct reference *r, const struct reference_picture *p,
                             unsigned bits, struct passes *out, struct error *err);
void reference_picture_free(struct reference_picture *p);

/* One sample, replayed: L[3] as the film takes it (section 9's clamp), and its vertices in order,
 * at most `capacity` of them; *count is how many were written. vertices and count may be NULL. A
 * picture's beauty is the sum of these L (of a job `rounded`, each rounded) in sample order over
 * their number, bit by bit. */
void reference_sample(const struct reference *r, const struct reference_job *job, uint32_t x,
                      uint32_t y, uint32_t sample, double L[3], struct path_vertex *vertices,
                      size_t capacity, size_t *count);

/* What shaders did along that sample, as text: at each vertex their globals, what they said, their
 * outputs or closure, and the lobes made of them. Fails: as reference_render does when a shader
 * fails. */
enum status reference_sample_shaders(const struct reference *r, const struct reference_job *job,
                                     uint32_t x, uint32_t y, uint32_t sample, struct text *out,
                                     struct error *err);
/* What shaders printed and reported so far: asl_sayings_print's lines. */
void reference_messages(const struct reference *r, struct text *out);

/* The picture of a scene from the cache of ground truths (folder: cache_dir("truth")), rendered and
 * put there when absent. The key hashes the scene's content (s->hash), the job (but for threads)
 * and the sources that the program was built of: another build's picture is not this one's truth. A
 * job with a crop, passes or an error target is ARG. *cached (may be NULL) says which. A damaged
 * file is rendered anew; a cache that cannot be written costs time, not the picture. */
enum status reference_truth(const struct scene *s, const struct reference_job *job,
                            struct reference_picture *out, bool *cached, struct error *err);

/* ---- single parts, for conformance cases and tests; all in double --------------------------- */

/* The camera ray of pixel (x, y) for the four numbers of block 0 (sections 2 and 23). */
void reference_camera_ray(const struct reference *r, uint32_t width, uint32_t height, uint32_t x,
                          uint32_t y, const double u[4], double o[3], double d[3]);

struct reference_hit {
    uint32_t primitive; /* UINT32_MAX: none */
    double t, P[3], Ng[3], Ns[3], uv[2];
    double of_vertices[3]; /* section 4's n or -n, whether Ns goes by it or not; 0 without one */
};
/* Closest hit with 0 < t < t_max by brute force over all primitives (no Embree), least id among
 * equal t. */
void reference_hit_brute(const struct reference *r, const double o[3], const double d[3],
                         double t_max, struct reference_hit *out);
/* The same through Embree. */
void reference_hit_closest(const struct reference *r, const double o[3], const double d[3],
                           double t_max, struct reference_hit *out);
/* The next hit of that ray after `last`, in order of t, then id, with t < t_max. */
void reference_hit_next(const struct reference *r, const double o[3], const double d[3],
                        const struct reference_hit *last, double t_max, struct reference_hit *out);

/* Ns of section 26 where (o, d) hits that primitive, whose material has a normal map: turned to
 * wo's side and bent. `moved` is added to the hit's uv (2), N (3) and T (3) before; `other`: N is
 * Ng where section 4 has the vertices' normal, and the other way about; false if the ray misses. */
bool reference_mapped_normal(const struct reference *r, uint32_t primitive, const double o[3],
                             const double d[3], const double moved[8], bool other, double Ns[3]);

/* BSDF of a material, or of its shader at P = 0, on the frame z = Ns = Ng, at uv; wo, wi local. f
 * excludes the cosine. pdf per sr; both 0 for delta lobes. */
void reference_bsdf_eval(const struct reference *r, uint32_t material, const double uv[2],
                         const double wo[3], const double wi[3], double f[3], double *pdf_w);
/* Returns false when the sample fails. *delta: the lobe has no density; entering matters for
 * dielectrics and shaders only. */
bool reference_bsdf_sample(const struct reference *r, uint32_t material, const double uv[2],
                           bool entering, const double wo[3], const double u[3], double wi[3],
                           double weight[3], double *pdf_w, bool *delta);
/* What is computed on the way to the lobes, and moves by its own roundings: globals of section 18 and
 * parts of lobes. What is added to each, as a share of its size.
 *   P_CHANGES     of P in x and in y: the length of P - o, which was subtracted, or of a disk w
 *   RAY_CHANGES   of P in x and in y along the neighbour's ray: its length over |cos| (no disk)
 *   I_CHANGES     of I in x and in y: 1
 *   UV_CHANGES    of u in x, y and of v: the terms' size over det, times a c / det
 *   TANGENTS      dPdu, dPdv: their lengths
 *   NORMAL        N: 1
 *   RAY_START     where a ray of trace() or occlusion() starts, from P along its surface: the largest
 *                 coordinate of the start and of what may be met there, as section 4's E has it
 *   RAY_TURN      its direction, wherever it starts: 1; of occlusion(), which samples it, 8
 *   ALIGN         of the direction X that a lobe's frame is turned to, once its part along the
 *                 normal is taken away: |X|
 *   COSINE        <wo, h>, as Schlick's F has it: 1
 *   PASSED        1 - F of what is let through: 1 */
enum reference_motion {
    GLOBAL_P_CHANGES = 0,
    GLOBAL_RAY_CHANGES = 6,
    GLOBAL_I_CHANGES = 8,
    GLOBAL_UV_CHANGES = 14,
    GLOBAL_TANGENTS = 18,
    GLOBAL_NORMAL = 24,
    GLOBAL_RAY_START = 27,
    GLOBAL_RAY_TURN = 30,
    LOBE_ALIGN = 33,
    LOBE_COSINE = 36,
    LOBE_PASSED = 37,
    REFERENCE_MOTIONS = 38
};

/* A vertex of a path as a renderer met it, to be judged by itself: with shaders and lists of lobes
 * the material alone does not say what it does. */
struct reference_vertex {
    uint32_t x, y, sample, k; /* k = 1: shaders ask for the neighbours' camera rays */
    uint32_t primitive, raytype;
    double origin[3], direction[3], t, length; /* length: sum of t over the vertices 1 to k */
    double P[3], Ng[3], Ns[3], uv[2];          /* normals as stored, not turned */
    const double *moved;                       /* [REFERENCE_MOTIONS]; NULL: nothing moves */
    uint32_t contract; /* not 0: the shader's results move by this seed (asl_context_contract) */
};
enum { REFERENCE_LOBES = 8 };
struct reference_scattered {
    double F[3], pdf_w; /* eval: sum of weight f |cos|, and the density */
    double through;     /* the chance that a light sample goes to -Ng */
    double emitted[3];  /* by the shader */
    double wi[3], weight[3];
    double q;       /* of a sampled direction's side */
    double least;   /* the smallest alpha of any lobe, 1 when there is none */
    double index;   /* the largest index ratio of any lobe, either way; at least 1 */
    double nearest; /* the index ratio nearest to 1 of any dielectric's F; 0: there is none */
    struct {
        double eta[3], k[3];
    } metal[REFERENCE_LOBES]; /* of its conductors' F */
    uint32_t metals;
    uint32_t raytype; /* of the ray that goes on */
    bool delta, ok, lit;
    bool asked; /* the shader asked for rays: RAY_START and RAY_TURN move something */
};
/* wi (may be NULL): the direction to be evaluated; u (may be NULL): lobe choice, direction. */
void reference_scatter(const struct reference *r, const struct reference_job *job,
                       const struct reference_vertex *v, const double wi[3], const double u[3],
                       struct reference_scattered *out);
/* ---- media (section 27) */

/* Where a path is, as records have it (struct path_vertex.media). */
uint32_t reference_camera_media(const struct reference *r);
uint32_t reference_media_cross(const struct reference *r, uint32_t media, uint32_t material,
                               bool enters);

/* A way through media: its parts end at the interfaces that are passed, the last at what is found.
 */
enum { REFERENCE_PARTS = 65 };
struct reference_way {
    uint32_t count;
    struct {
        uint32_t primitive;          /* UINT32_MAX: none */
        double o[3], t, P[3], Ng[3]; /* t: of this part */
        double density, absorption[3];
    } part[REFERENCE_PARTS];
    struct reference_hit hit; /* what was found; t: the whole way; in a medium only t and P */
    uint32_t material;        /* of what was hit, or of the medium; UINT32_MAX: it leaves */
    uint32_t media;           /* there */
    double left[3];           /* of the light, through what absorbs; for shadow rays V */
};
/* The flight from o by the number u of block 0x80000000 + 8 k. */
void reference_fly(const struct reference *r, const double o[3], const double d[3], double u,
                   uint32_t media, struct reference_way *out);
/* The shadow ray from o to what is `distance` away; hit is what blocks it. */
void reference_see(const struct reference *r, const double o[3], const double d[3], double distance,
                   uint32_t media, struct reference_way *out);
/* reference_scatter in the medium of a material, for a ray along d. */
void reference_phase(const struct reference *r, uint32_t material, const double d[3],
                     const double wi[3], const double u[3], struct reference_scattered *out);

/* Light sample from point P with geometric normal Ng already turned to the lit side (section 5),
 * offset as from a primitive no larger than P's coordinates; u: choice, light, light. Le is
 * unoccluded radiance; false when it cannot contribute. */
/* With Ng = 0 P lies in a medium, and all directions count. */
bool reference_light_sample(const struct reference *r, const double P[3], const double Ng[3],
                            const double u[3], uint32_t *light, double wi[3], double *distance,
                            double *pdf_w, double Le[3]);
/* Probability with which a sample from P, offset to that side (0: none), chooses a light other than
 * the environment. */
double reference_light_chance(const struct reference *r, uint32_t light, const double P[3],
                              const double side[3]);
/* The least and the greatest that it may be where a light tree is gone down `width` nodes at a time (2:
 * as the protocol has it; at most 16), and cosines and quotients are off by `slack`. */
void reference_light_chance_wide(const struct reference *r, uint32_t light, const double P[3],
                                 const double side[3], unsigned width, double slack,
                                 double chance[2]);
/* Radiance of the environment along d and its density (choice included). */
void reference_environment(const struct reference *r, const double d[3], double L[3],
                           double *pdf_w);

#ifdef __cplusplus
}
#endif
#endif
