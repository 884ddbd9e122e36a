/* SPDX-License-Identifier: Apache-2.0 */
/* Closest and any hits through Embree.
 *
 * All primitives, triangles too, are one Embree user geometry: Embree walks its tree in float32 and
 * calls back for each primitive whose box the ray meets; the callback decides in double (hit.c).
 * Embree rounds a ray's origin and direction to float32, so boxes are padded by a bound on what
 * that moves; then no primitive that the double ray hits can be missed, and the closest hit is the
 * one brute force finds, bit for bit. An instance is one more such thing to Embree: its callback
 * asks the tree of its prototype, in the space of that, for candidates only. */
#ifndef REFERENCE_CANDIDATES_H
#define REFERENCE_CANDIDATES_H

#include "hit.h"

struct candidates;

/* Builds the tree. Fails: MISSING (Embree refused to start), MEMORY, CANCELLED. The scene must
 * outlive it. */
enum status candidates_open(const struct scene *s, struct candidates **out, struct error *err);
void candidates_close(struct candidates *c); /* accepts NULL */

/* The crossing with the least t in (0, t_max), least id among equal t. false: none. */
bool candidates_closest(const struct candidates *c, const struct probe *p, double t_max,
                        struct crossing *out);
/* The next one after `last` (NULL: the first), in order of t, then id, with t below t_max. */
bool candidates_next(const struct candidates *c, const struct probe *p, const struct crossing *last,
                     double t_max, struct crossing *out);
/* Is anything hit with t in (0, t_max)? */
bool candidates_any(const struct candidates *c, const struct probe *p, double t_max);

#endif
