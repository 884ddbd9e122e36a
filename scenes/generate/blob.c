/* SPDX-License-Identifier: Apache-2.0 */
/* blob PATH [N [uv]]: the common heavy mesh, a displaced sphere of 2 N N triangles (N 724:
 * 1,048,352), as binary PLY, with texture coordinates along and across if asked for. Computed in
 * double, stored as float32. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Radius of the surface in the direction (x, y, z). */
static double radius(double x, double y, double z)
{
    return 0.55 + 0.06 * sin(9 * x + 3 * y) * sin(8 * y) * sin(7 * z + 1) +
           0.01 * sin(60 * x) * sin(70 * y) * sin(65 * z);
}

static void put_vertices(FILE *f, int n, bool uv)
{
    const double start = 0.0005, span = M_PI - 2 * start; /* off the poles */
    for (int i = 0; i <= n; i++)
        for (int j = 0; j <= n; j++) {
            double u = i * (2 * M_PI / n), v = start + j * (span / n);
            double d[3] = {cos(u) * sin(v), sin(u) * sin(v), cos(v)};
            double r = radius(d[0], d[1], d[2]);
            float p[5] = {(float)(r * d[0]), (float)(r * d[1]), (float)(r * d[2]),
                          (float)i / (float)n, (float)j / (float)n};
            fwrite(p, sizeof *p, uv ? 5 : 3, f);
        }
}

static void put_triangle(FILE *f, int a, int b, int c)
{
    unsigned char three = 3;
    int32_t v[3] = {a, b, c};
    fwrite(&three, 1, 1, f);
    fwrite(v, sizeof v, 1, f);
}

/* The lower triangles of all quads, then the upper ones. */
static void put_triangles(FILE *f, int n)
{
    for (int half = 0; half < 2; half++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                int a = i * (n + 1) + j, b = a + n + 1, c = a + n + 2, e = a + 1;
                if (half == 0)
                    put_triangle(f, a, c, b);
                else
                    put_triangle(f, a, e, c);
            }
}

int main(int argc, char **argv)
{
    long n = argc > 2 ? strtol(argv[2], NULL, 10) : 724;
    bool uv = argc == 4 && strcmp(argv[3], "uv") == 0;
    if (argc < 2 || argc > 4 || (argc == 4 && !uv) || n < 2 || n > 20000) {
        fprintf(stderr, "usage: blob PATH [N from 2 to 20000 [uv]]\n");
        return 2;
    }
    /* Two builds at once may want it: written aside, then renamed. */
    char tmp[4096];
    if (snprintf(tmp, sizeof tmp, "%s.%ld.new", argv[1], (long)getpid()) >= (int)sizeof tmp)
        return 2;
    FILE *f = fopen(tmp, "wb");
    if (!f) {
        perror(tmp);
        return 1;
    }
    fprintf(f,
            "ply\nformat binary_little_endian 1.0\nelement vertex %ld\nproperty float x\n"
            "property float y\nproperty float z\n%selement face %ld\n"
            "property list uchar int vertex_indices\nend_header\n",
            (n + 1) * (n + 1), uv ? "property float s\nproperty float t\n" : "", 2 * n * n);
    put_vertices(f, (int)n, uv);
    put_triangles(f, (int)n);
    bool failed = ferror(f) != 0;
    if (fclose(f) != 0 || failed || rename(tmp, argv[1]) != 0) {
        perror(argv[1]);
        remove(tmp);
        return 1;
    }
    return 0;
}
