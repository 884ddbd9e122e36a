/* SPDX-License-Identifier: Apache-2.0 */
/* steps_look.h: what the files of steps.h share. Functions named ..._differs compare one quantity
 * of the device with the reference's: true when it is further off than its bound, and the report
 * says so. */
#ifndef CONFORMANCE_STEPS_LOOK_H
#define CONFORMANCE_STEPS_LOOK_H

#include "bounds.h"
#include "margins.h"
#include "steps.h"

struct steps {
    const struct scene *scene;
    const struct reference *reference;
    struct render_job job;
    struct arithmetic arithmetic;
    uint32_t area_lights;
    uint32_t *area_light; /* by primitive of the world: its index as a light */
    uint32_t *emitters;   /* by light: its primitive */
    bool shaded;          /* some material runs a shader: the kind of ray matters */
    bool media;           /* some material has a medium or is an interface */
};

/* One path being looked over. */
struct look {
    const struct steps *s;
    uint32_t x, y, sample, k;
    struct step_report *report;
    double pdf_prev;       /* of the ray that arrives, for MIS; 0: none */
    double pdf_prev_error; /* relative, beside the device's own density */
    double length;         /* sum of t over the vertices up to this one */
    uint32_t raytype;
    double leg_o[3], leg_t; /* the last part of the way to this vertex */
    /* in scenes with media, of the path on its way to this vertex: */
    uint32_t media;
    double beta[3], beta_bound[3]; /* before anything absorbs */
};

/* ---- steps.c: saying what differs ------------------------------------------------------------ */

static inline const struct material *steps_material(const struct scene *s, uint32_t primitive)
{
    return &s->materials[scene_material_of(s, primitive)];
}
/* An id as a number to print: -1 for none. */
static inline double look_id(uint32_t id) { return id == UINT32_MAX ? -1 : (double)id; }
/* Is that light without a surface? */
bool steps_is_delta_light(const struct steps *s, uint32_t light);
double steps_mis_weight(const struct steps *s, double a, double b);
/* The four random numbers of a block. */
void look_numbers(const struct look *l, uint32_t block, double u[4]);
bool look_differs(struct look *l, const char *stage, const char *field, char component,
                  double reference, double device, double margin);
/* True when the numbers are further apart than the bound. NaN always is. */
bool look_scalar_differs(struct look *l, const char *stage, const char *field, double reference,
                         double device, double bound);
bool look_vector_differs(struct look *l, const char *stage, const char *field, const char *names,
                         const double reference[3], const double device[3], const double bound[3]);
bool look_vector_differs_by(struct look *l, const char *stage, const char *field,
                            const double reference[3], const double device[3], double bound);
/* A decision that fell otherwise: benign when the margin is at most 1. */
bool look_flip_differs(struct look *l, const char *stage, const char *field, double reference,
                       double device, double margin);

/* ---- steps_arrival.c: the camera, hits, ways through media, light that is seen ------------- */

/* The protocol's camera ray for four numbers and what rounding may do to it. */
void look_camera_ray(const struct look *l, const double u[4], double o[3], double d[3],
                     double *bound_o, double *bound_d);
bool camera_differs(struct look *l, const struct path_vertex *v);
bool hit_differs(struct look *l, const struct path_vertex *v);
bool flight_differs(struct look *l, const struct path_vertex *v); /* in scenes with media */
bool emission_differs(struct look *l, const struct path_vertex *v,
                      const struct path_vertex *previous);
/* What rounding does to a way, part after part: each hit is off as any is (hit_bounds), and the
 * parts after it start there. */
struct way_errors {
    double position; /* of the ray across itself, where the last part starts */
    double t;        /* of the whole way but for the last part's own hit */
    double tau;      /* of the depth of scattering, and of absorption: */
    double A[3];
    double size; /* of coordinates, times what instances make of them */
};
struct way_errors way_errors_of(const struct steps *s, const struct reference_way *w,
                                const double d[3]);
/* Asks `agrees` of the ray moved by nothing, then by up to 4096 units across and along itself, and
 * of numbers moved as much: the first size that agrees, INFINITY if none. */
double way_margin(const double o[3], const double d[3], double unit,
                  bool (*agrees)(void *ctx, const double from[3], double stretch), void *ctx);

/* The block of the number that says how far the way to vertex k goes (protocol, section 27). */
#define LOOK_FLIGHT_BLOCK(k) (0x80000000u + 8 * (k))

/* ---- steps_ties.c: faces that lie on one another ------------------------------------------- */

/* first: the closest hit of (o, d). The next one after *other (primitive UINT32_MAX: after first)
 * in its plane and within twice the bound of t behind it, so that rounding may put it first, that
 * is not like it; false: none. */
bool look_tied_hit(const struct steps *s, const double o[3], const double d[3],
                   const struct reference_hit *first, struct reference_hit *other);

/* A way through media along d, and the others that are right where it passes faces which tie: on
 * each, another of these is met, and the reference goes on from there. */
struct tied_ways {
    const struct steps *s;
    const double *d;
    uint32_t media;
    bool sees; /* a light sample's way, `distance` long; else a flight of the depth tau */
    double distance, tau;
    bool (*agrees)(void *ctx, const struct reference_way *other);
    void *ctx;
};
/* Does any of the others agree? w: the reference's own. */
bool look_tied_ways(const struct tied_ways *q, const struct reference_way *w);

/* ---- steps_light.c: light that is sampled -------------------------------------------------- */

/* The density of a light sample of vertex k from a point on that side, the choice of a side left
 * out; 0 where there is none. */
double light_density_from(const struct look *l, const double from[3], const double normal[3]);
/* The vertex' light sample, from `from`, beside a surface whose normal is turned to it (in a medium
 * zero): the light, its direction, its density, which is times `chance`, off by chance_bound; its
 * own roundings are `relative`. extent: of coordinates. *a, where THERE: wi 3, pdf, distance, Le 3.
 */
enum light_sample { LIGHT_DIFFERS, LIGHT_NONE, LIGHT_THERE };
enum light_sample light_sample_look(struct look *l, const struct path_vertex *v,
                                    const double from[3], const double normal[3], double extent,
                                    double chance, double chance_bound, double relative,
                                    struct answer *a);
/* Bounds of what the sample adds in the open, which has `relative` roundings beside those of the
 * light's radiance. */
void light_bounds(const struct steps *s, const struct path_vertex *v, const double from[3],
                  struct answer *a, const struct answer *direct, double relative, double bound[3]);
/* The shadow ray and what a light sample adds. direct: in the open; height: of the sample above the
 * surface, on the side that counts; distance: to the light, off by `off`. */
bool contribution_differs(struct look *l, const struct path_vertex *v, const double from[3],
                          struct answer *direct, const double bound[3], double height,
                          double distance, double off);
/* offset_extent at a vertex of the path. */
double look_extent(const struct look *l, const struct path_vertex *v);
/* Where the path is beyond the surface of that vertex. */
uint32_t look_media_beyond(const struct look *l, const struct path_vertex *v);
/* Where it is when it leaves the vertex, if it does. */
uint32_t look_media_after(const struct look *l, const struct path_vertex *v);

/* ---- steps_scatter.c: materials of one lobe, and media ------------------------------------- */

/* 0 where the device ends the path, 1 where it is reflected, 2 where it goes through. */
int scatter_code(const struct path_vertex *v);
/* Do both go on, in the same way? Else whether that is more than rounding in *differs. code: the
 * device's, 0 where its path ends; a: the reference's code and numbers, of which the eighth is the
 * cosine between wi and Ng. */
bool scatter_goes_on(struct look *l, const struct path_vertex *v, int code, struct answer *a,
                     size_t values, bool *differs);
/* a: wi 3, weight 3, pdf; grazing and faint as in struct ggx_bounds. */
bool scatter_weight_differs(struct look *l, const struct path_vertex *v, const struct answer *a,
                            double relative, double grazing, double faint);
bool direct_differs(struct look *l, const struct path_vertex *v);
bool scatter_differs(struct look *l, const struct path_vertex *v);
bool medium_direct_differs(struct look *l, const struct path_vertex *v);
bool medium_scatter_differs(struct look *l, const struct path_vertex *v);

/* ---- steps_list.c: lists of lobes, shaders ------------------------------------------------- */

bool runs_list(const struct steps *s, const struct path_vertex *v);
bool list_direct_differs(struct look *l, const struct path_vertex *v);
bool list_scatter_differs(struct look *l, const struct path_vertex *v); /* sets pdf_prev, raytype */
/* What a shader emits at the vertex, and its error. */
void list_glow_add(const struct look *l, const struct path_vertex *v, double L[3], double bound[3]);
/* What kind of ray goes on, by the reference: devices do not say. */
void follow_raytype(struct look *l, const struct path_vertex *v);

#endif
