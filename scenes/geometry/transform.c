/* SPDX-License-Identifier: Apache-2.0 */
#include "transform.h"

#include <math.h>

const struct transform transform_identity = {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};

struct transform transform_after(const struct transform *b, const struct transform *a)
{
    struct transform r;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            r.m[i][j] = b->m[i][0] * a->m[0][j] + b->m[i][1] * a->m[1][j] +
                        b->m[i][2] * a->m[2][j] + (j == 3 ? b->m[i][3] : 0.0);
    return r;
}

struct transform transform_translate(const double v[3])
{
    struct transform r = transform_identity;
    for (int i = 0; i < 3; i++)
        r.m[i][3] = v[i];
    return r;
}

/* A multiple of a quarter turn must give exact zeros and ones: architecture is full of them. */
static void sine_cosine(double radians, double *s, double *c)
{
    double quarters = radians / (M_PI / 2), whole = nearbyint(quarters);
    if (fabs(quarters - whole) < 1e-14 && fabs(whole) < 1e9) {
        static const double sines[4] = {0, 1, 0, -1};
        int k = (int)fmod(fmod(whole, 4) + 4, 4);
        *s = sines[k];
        *c = sines[(k + 1) & 3];
    } else {
        *s = sin(radians);
        *c = cos(radians);
    }
}

struct transform transform_rotate(const double axis[3], double radians)
{
    double len = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
    double x = axis[0] / len, y = axis[1] / len, z = axis[2] / len, s, c;
    sine_cosine(radians, &s, &c);
    double d = 1 - c; /* Rodrigues' rotation formula */
    struct transform r = {{{c + x * x * d, x * y * d - z * s, x * z * d + y * s, 0},
                           {y * x * d + z * s, c + y * y * d, y * z * d - x * s, 0},
                           {z * x * d - y * s, z * y * d + x * s, c + z * z * d, 0}}};
    return r;
}

struct transform transform_scale(const double v[3])
{
    struct transform r = transform_identity;
    for (int i = 0; i < 3; i++)
        r.m[i][i] = v[i];
    return r;
}

static void cofactors(const struct transform *t, double c[3][3])
{
    for (int i = 0; i < 3; i++) {
        int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
        for (int j = 0; j < 3; j++) {
            int j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            c[i][j] = t->m[i1][j1] * t->m[i2][j2] - t->m[i1][j2] * t->m[i2][j1];
        }
    }
}

double transform_determinant(const struct transform *t)
{
    double c[3][3];
    cofactors(t, c);
    return t->m[0][0] * c[0][0] + t->m[0][1] * c[0][1] + t->m[0][2] * c[0][2];
}

struct transform transform_inverse(const struct transform *t)
{
    double c[3][3], det = transform_determinant(t);
    struct transform r;
    cofactors(t, c);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            r.m[i][j] = c[j][i] / det;
        r.m[i][3] = -(r.m[i][0] * t->m[0][3] + r.m[i][1] * t->m[1][3] + r.m[i][2] * t->m[2][3]);
    }
    return r;
}

void transform_point(const struct transform *t, const double p[3], double out[3])
{
    transform_direction(t, p, out);
    for (int i = 0; i < 3; i++)
        out[i] += t->m[i][3];
}

void transform_direction(const struct transform *t, const double v[3], double out[3])
{
    double x = v[0], y = v[1], z = v[2];
    for (int i = 0; i < 3; i++)
        out[i] = t->m[i][0] * x + t->m[i][1] * y + t->m[i][2] * z;
}

void transform_normal_matrix(const struct transform *t, double out[3][3])
{
    cofactors(t, out);
    if (transform_determinant(t) >= 0)
        return;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out[i][j] = -out[i][j];
}

bool transform_is_uniform(const struct transform *t, double *factor)
{
    double g[3][3]; /* t^T t, which is factor^2 times the identity */
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            g[i][j] = t->m[0][i] * t->m[0][j] + t->m[1][i] * t->m[1][j] + t->m[2][i] * t->m[2][j];
    double s2 = (g[0][0] + g[1][1] + g[2][2]) / 3;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            if (!(fabs(g[i][j] - (i == j ? s2 : 0)) <= 2e-5 * s2))
                return false;
    *factor = sqrt(s2);
    return true;
}
