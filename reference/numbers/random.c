/* SPDX-License-Identifier: Apache-2.0 */
#include "random.h"

#include "base.h"

void random_block(uint64_t seed, uint32_t x, uint32_t y, uint32_t sample, uint32_t block,
                  double u[4])
{
    const uint32_t counter[4] = {x, y, sample, block};
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    uint32_t word[4];
    philox4x32(counter, key, word);
    for (int i = 0; i < 4; i++)
        u[i] = u01(word[i]);
}

void map_disk(double u, double v, double *x, double *y)
{
    double a = 2 * u - 1, b = 2 * v - 1, r, phi;
    if (a == 0 && b == 0) {
        *x = *y = 0;
        return;
    }
    if (fabs(a) > fabs(b)) {
        r = a;
        phi = PI / 4 * (b / a);
    } else {
        r = b;
        phi = PI / 2 - PI / 4 * (a / b);
    }
    *x = r * cos(phi);
    *y = r * sin(phi);
}

struct vec3 map_cosine(double u, double v)
{
    double x, y;
    map_disk(u, v, &x, &y);
    return vec3(x, y, sqrt(fmax(0, 1 - x * x - y * y)));
}

void map_triangle(double u, double v, double b[3])
{
    double q = sqrt(u);
    b[1] = 1 - q;
    b[2] = v * q;
    b[0] = 1 - b[1] - b[2];
}

struct vec3 map_sphere(double u, double v)
{
    double z = 1 - 2 * u, r = sqrt(fmax(0, 1 - z * z)), phi = 2 * PI * v;
    return vec3(r * cos(phi), r * sin(phi), z);
}
