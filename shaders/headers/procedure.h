/* SPDX-License-Identifier: Apache-2.0 */
/* procedure.h: what a shader in C99 may use (docs/reference/procedures.md). This file is for
 * compilers of C and for editors: isophote knows what it says, and does not read it. */
#ifndef ISOPHOTE_PROCEDURE_H
#define ISOPHOTE_PROCEDURE_H

#include <math.h>

typedef struct {
    float r, g, b;
} color;
typedef struct {
    float x, y, z;
} point;
typedef point vector, normal;

/* The point that is shaded, in common space. */
typedef struct {
    point P;
    normal N, Ng;
    vector I, dPdu, dPdv;
    float u, v, time;
} procedure_point;

/* void wood(const procedure_point *at, float scale DEFAULT(4.0f), ...): what nobody sets. */
#define DEFAULT(...)

/* PROCEDURE(wood, const procedure_point *at, float scale DEFAULT(4.0f), ...) { ... } is the function
 * wood, and a constant that tells its head where it is compiled (docs/reference/modules.md). */
#define PROCEDURE(name, ...)                                                                       \
    extern const char isophote_procedure[];                                                        \
    const char isophote_procedure[] = #name "(" #__VA_ARGS__ ")";                                  \
    void name(__VA_ARGS__);                                                                        \
    void name(__VA_ARGS__)

#endif
