/* SPDX-License-Identifier: Apache-2.0 */
/* Protocol sections 20 and 21: the BSDF of a surface as a list of weighted lobes. An ordinary
 * material is a list of one, its base. */
#ifndef REFERENCE_LOBE_H
#define REFERENCE_LOBE_H

#include "bsdf.h"
#include "reference.h"

enum lobe_kind {
    LOBE_BASE,        /* section 7 */
    LOBE_LAMBERT,     /* D */
    LOBE_TRANSLUCENT, /* L */
    LOBE_OREN_NAYAR,  /* O */
    LOBE_BURLEY,      /* B */
    LOBE_SHEEN,       /* H */
    LOBE_PHONG,       /* P */
    LOBE_WARD,        /* W */
    LOBE_REFLECT,     /* M */
    LOBE_REFRACT,     /* T */
    LOBE_STRAIGHT,    /* X */
    LOBE_COAT,        /* C */
    LOBE_VELVET,      /* S */
    LOBE_FLAT         /* K */
};

enum fresnel_kind { FRESNEL_ONE, FRESNEL_DIELECTRIC, FRESNEL_CONDUCTOR, FRESNEL_SCHLICK };
struct fresnel {
    enum fresnel_kind kind;
    double eta;                 /* dielectric: far side over near one */
    struct vec3 a, b;           /* conductor: eta, k; Schlick: f0, f90 */
    double exponent;            /* Schlick */
    double moved, passed_moved; /* LOBE_COSINE, LOBE_PASSED */
};

enum ray_kind { RAY_STRAIGHT, RAY_DIFFUSE, RAY_GLOSSY, RAY_REFLECTION, RAY_REFRACTION };

struct lobe {
    enum lobe_kind kind;
    struct vec3 align_moved; /* LOBE_ALIGN */
    struct vec3 weight;
    struct frame frame; /* about its normal */
    double ax, ay;      /* microfacets, Ward; both 0: delta */
    double shape;       /* sigma, roughness, exponent or the coat's alpha */
    double subsurface;  /* K */
    double eta;         /* refraction: far side over near one */
    bool beckmann;      /* else GGX */
    struct fresnel fresnel;
    struct bsdf base;
    /* by lobes_finish */
    struct vec3 wo; /* in its frame */
    struct vec3 estimate;
    bool delta, transmits;
    double p; /* of being chosen */
};

enum { LOBES_MAX = REFERENCE_LOBES };
struct lobes {
    struct lobe lobe[LOBES_MAX];
    unsigned count, dropped;         /* dropped: beyond LOBES_MAX */
    struct vec3 Ng, wo;              /* world; Ng on wo's side */
    const double *moved;             /* enum reference_motion, until lobes_finish; may be NULL */
    double reflecting, transmitting; /* probabilities of lobes that are not delta */
};

/* Adds a lobe about the normal n (protocol section 20: N where it will not do). Returns it, or NULL
 * when its weight is 0 or the list is full. */
struct lobe *lobes_add(struct lobes *l, enum lobe_kind kind, struct vec3 weight, struct vec3 n,
                       struct vec3 N);
/* Turns the frame's s to X, made perpendicular to n, where that is a direction. */
void lobe_align(struct lobe *l, struct vec3 X);
/* If ax differs from ay: the frame along U (0: as it is), turned by `rotation` turns (section 21).
 */
void lobe_brush(struct lobe *l, struct vec3 U, double rotation);
/* ax and ay of section 21's principled. */
void facet_spread(double roughness, double anisotropy, double *ax, double *ay);

/* Where lobes are put: about n, or N where that will not do; U of section 18, 0 on triangles
 * without texture coordinates. */
struct placing {
    struct vec3 n, N, U;
};
/* Section 21; everything is within its bounds; eta: the far side's index over the near one's. */
struct principled {
    struct vec3 base;
    double metallic, roughness, specular, specular_tint, anisotropy, rotation, sheen, sheen_tint,
        clearcoat, clearcoat_gloss, transmission, subsurface, eta;
    bool behind; /* seen from the side that Ng as stored does not point to */
    /* of section 28's layers; else 1, 1, 0 */
    struct vec3 specular_color;
    double specular_weight;
    double thin_ior; /* > 0: what is let through goes straight on */
};
void lobes_add_principled(struct lobes *l, struct vec3 weight, const struct placing *at,
                          const struct principled *p);

/* Estimates and probabilities, once all lobes are there. */
void lobes_finish(struct lobes *l);
/* e of section 20 in a lobe that needs no finished list. */
struct vec3 lobe_estimate(const struct lobe *lobe, struct vec3 wo);

/* Has it a lobe that light samples can reach? */
bool lobes_lit(const struct lobes *l);
/* Whether this number sends the light sample to -Ng; *q is the probability of the side. */
bool lobes_side(const struct lobes *l, double u, double *q);

/* Sum of weight f |cos|, and the density; directions in world space. */
struct vec3 lobes_eval(const struct lobes *l, struct vec3 wi, double *pdf_w);

struct lobes_sample {
    struct vec3 wi;     /* world */
    struct vec3 weight; /* f |cos| / pdf_w */
    double pdf_w;       /* 0: delta */
    double q;           /* of its side, for MIS; section 20 */
    bool delta, transmitted;
    enum ray_kind ray;
};
/* u: lobe choice, direction, direction. false: the sample fails. */
bool lobes_sample(const struct lobes *l, const double u[3], struct lobes_sample *out);

struct vec3 lobes_albedo(const struct lobes *l);

/* Reflectance at the cosine c, and what it leaves. */
struct vec3 fresnel_at(const struct fresnel *f, double c);
struct vec3 fresnel_passed(const struct fresnel *f, double c);

/* One kind each (lobe_rough.c, lobe_facet.c): f without the cosine and the density of wi, for
 * directions on the right side; directions are local. */
struct vec3 rough_eval(const struct lobe *l, struct vec3 wi, double *pdf_w);
struct vec3 rough_sample(const struct lobe *l, double u, double v);
double sheen_albedo(double roughness, double cosine);
struct vec3 facet_eval(const struct lobe *l, struct vec3 wi, double *pdf_w);
bool facet_sample(const struct lobe *l, double u, double v, struct vec3 *wi);
struct vec3 coat_eval(const struct lobe *l, struct vec3 wi, double *pdf_w);
bool coat_sample(const struct lobe *l, double u, double v, struct vec3 *wi);
/* The one direction of a delta lobe and its weight. */
bool delta_sample(const struct lobe *l, struct vec3 *wi, struct vec3 *weight);

#endif
