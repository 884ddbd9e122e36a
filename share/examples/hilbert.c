/* SPDX-License-Identifier: Apache-2.0 */
/* hilbert.c: walls along Hilbert's curve (1891), coloured by how far along it a cell is. Of C it has
 * what procedures have not (unsigned, switch, tables), and so it goes through a compiler:
 * shaders/library/hilbert.ll (docs/reference/modules.md) is this file, made by
 *   clang-15 -S -emit-llvm -Os -ffp-contract=off -I shaders/headers share/examples/hilbert.c \
 *            -o shaders/library/hilbert.ll */
#include "procedure.h"

/* Of each of four ways to go through a square: which quarter is which along it, and how that quarter
 * is gone through. */
static const unsigned char quarter[4][4] = {{0, 1, 3, 2}, {0, 3, 1, 2}, {2, 3, 1, 0}, {2, 1, 3, 0}};
static const unsigned char inner[4][4] = {{1, 0, 3, 0}, {0, 2, 1, 1}, {2, 1, 2, 3}, {3, 3, 0, 2}};

/* The number of a cell along the curve of 4^order cells. */
static unsigned along(unsigned x, unsigned y, int order)
{
    unsigned number = 0, way = 0;
    for (int bit = order - 1; bit >= 0; bit--) {
        unsigned at = (y >> bit & 1u) | (x >> bit & 1u) << 1;
        number = number << 2 | quarter[way][at];
        way = inner[way][at];
    }
    return number;
}

/* Is there a wall between cells of these numbers? */
static int is_wall(unsigned a, unsigned b) { return a - b + 1u > 2u; }

PROCEDURE(hilbert, const procedure_point *at, int order DEFAULT(4), float wall DEFAULT(0.2f),
          color first DEFAULT(0.05f, 0.2f, 0.55f), color last DEFAULT(0.95f, 0.7f, 0.25f),
          color *Cout, float *roughness)
{
    int n = order < 1 ? 1 : order > 12 ? 12 : order;
    unsigned cells = 1u << n, side = cells - 1u;
    float u = (at->u - floorf(at->u)) * (float)cells, v = (at->v - floorf(at->v)) * (float)cells;
    unsigned x = (unsigned)u, y = (unsigned)v;
    float fu = u - floorf(u), fv = v - floorf(v);
    unsigned here = along(x & side, y & side, n);
    int inside = 1;
    for (unsigned direction = 0; direction < 4u; direction++) {
        unsigned nx = x, ny = y;
        float to;
        switch (direction) {
        case 0:
            nx--, to = fu;
            break;
        case 1:
            nx++, to = 1.0f - fu;
            break;
        case 2:
            ny--, to = fv;
            break;
        default:
            ny++, to = 1.0f - fv;
            break;
        }
        if (to < 0.5f * wall && (nx > side || ny > side || is_wall(here, along(nx, ny, n))))
            inside = 0;
    }
    float t = (float)here / (float)(cells * cells - 1u);
    color c = {first.r + (last.r - first.r) * t, first.g + (last.g - first.g) * t,
               first.b + (last.b - first.b) * t};
    if (!inside)
        c = (color){c.r * 0.25f, c.g * 0.25f, c.b * 0.25f};
    *Cout = c;
    *roughness = inside ? 0.35f : 0.8f;
}
