/* SPDX-License-Identifier: Apache-2.0 */
/* Protocol section 27: homogeneous media in closed surfaces, and rays that fly through them. */
#ifndef REFERENCE_MEDIA_H
#define REFERENCE_MEDIA_H

#include "trace/offers.h"

/* Where a path is: materials whose media it has entered; the last counts. */
enum { MEDIA_NESTED = 4 };
struct media_list {
    uint32_t material[MEDIA_NESTED];
    unsigned count;
};

/* Does any material have a medium, or is one an interface? */
bool media_used(const struct scene *s);
/* The media that contain the camera's origin. */
struct media_list media_at_camera(const struct scene *s);
/* The path crosses a surface of this material, from the side of the stored Ng if `enters`. */
void media_cross(struct media_list *list, const struct scene *s, uint32_t material, bool enters);
/* The innermost medium and its material; NULL in vacuum. */
const struct medium *media_innermost(const struct media_list *list, const struct scene *s,
                                     uint32_t *material);

/* The list as lockstep records hold it (struct path_vertex), and back. */
uint32_t media_pack(const struct media_list *list, const struct scene *s);
struct media_list media_unpack(uint32_t packed, const struct scene *s);

/* The parts of a way, for those who ask how exact it is: each ends at an interface that was passed,
 * the last at what was found. */
enum { MEDIA_PARTS = 65 };
struct media_parts {
    uint32_t count;
    struct media_part {
        struct vec3 o;
        struct hit hit; /* t: of this part; primitive: NO_PRIMITIVE where nothing was hit */
        const struct medium *medium; /* NULL: vacuum */
    } part[MEDIA_PARTS];
};

enum flight_end { FLIGHT_MISS, FLIGHT_SURFACE, FLIGHT_MEDIUM };
struct flight {
    enum flight_end end;
    struct hit hit; /* surface: t is the whole way, also where it ends in a medium at P */
    struct vec3 transmittance; /* what absorption leaves on the way */
};
/* From ray's origin to the next vertex; u: the number that says how far it goes in media. parts may
 * be NULL. */
struct flight media_fly(const struct scene *s, const struct candidates *c, const struct ray *ray,
                        double u, struct media_list *list, struct media_parts *parts);
/* V of a shadow ray that ends at `distance`. */
struct vec3 media_visible(const struct scene *s, const struct candidates *c, struct ray ray,
                          double distance, struct media_list list, struct media_parts *parts);

/* Henyey and Greenstein's phase function of c = <d, wi>, and a direction with its density. */
double phase_eval(double g, double c);
struct vec3 phase_sample(double g, struct vec3 d, double u, double v, double *pdf_w);

#endif
