/* SPDX-License-Identifier: Apache-2.0 */
/* plants FOLDER: the prototypes of library/instances.json as binary PLY: the crown and the trunk of
 * a conifer, a tuft of grass and a stone. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VERTICES_MAX = 1 << 16, TRIANGLES_MAX = 1 << 16 };

struct mesh {
    float (*P)[3];
    int32_t (*triangles)[3];
    int vertices, count;
};

static uint32_t state;
/* In [0, 1): a linear congruential generator with the constants of Numerical Recipes. */
static double dice(void)
{
    state = state * 1664525U + 1013904223U;
    return (state >> 8) * 0x1p-24;
}

static int vertex(struct mesh *m, double x, double y, double z)
{
    if (m->vertices == VERTICES_MAX)
        abort();
    m->P[m->vertices][0] = (float)x;
    m->P[m->vertices][1] = (float)y;
    m->P[m->vertices][2] = (float)z;
    return m->vertices++;
}

static void triangle(struct mesh *m, int a, int b, int c)
{
    if (m->count == TRIANGLES_MAX)
        abort();
    m->triangles[m->count][0] = a;
    m->triangles[m->count][1] = b;
    m->triangles[m->count++][2] = c;
}

/* A twig from `at` along (x, y) of the given length that droops, with needles as pairs of slim
 * triangles. */
static void branch(struct mesh *m, double z, double angle, double length)
{
    enum { NEEDLES = 16 };
    double x = cos(angle), y = sin(angle);
    for (int i = 0; i < NEEDLES; i++) {
        double f = (i + 0.5) / NEEDLES, r = length * f, drop = -0.45 * length * f * f;
        double wide = 0.2 * length * (1.15 - f), lift = 0.04 * length * (dice() - 0.3);
        for (int side = -1; side <= 1; side += 2) {
            int a = vertex(m, x * r, y * r, z + drop);
            int b = vertex(m, x * (r + 0.07 * length), y * (r + 0.07 * length), z + drop);
            int c = vertex(m, x * (r + wide) - y * wide * side, y * (r + wide) + x * wide * side,
                           z + drop + lift);
            triangle(m, a, b, c);
        }
    }
}

static void crown(struct mesh *m)
{
    enum { LAYERS = 16, BRANCHES = 10 };
    for (int i = 0; i < LAYERS; i++)
        for (int k = 0; k < BRANCHES; k++) {
            /* One throw a statement: compilers evaluate arguments in any order. */
            const double f = (i + dice()) / LAYERS,
                         length = pow(1 - f, 0.85) * (0.8 + 0.4 * dice()) + 0.08,
                         angle = 2 * M_PI * (k + dice()) / BRANCHES;
            branch(m, 0.4 + 2.5 * f, angle, length);
        }
}

static void trunk(struct mesh *m)
{
    enum { SIDES = 10, RINGS = 6 };
    for (int i = 0; i <= RINGS; i++)
        for (int k = 0; k < SIDES; k++) {
            double f = (double)i / RINGS, r = 0.06 * (1 - 0.9 * f) + (i == 0 ? 0.04 : 0);
            vertex(m, r * cos(2 * M_PI * k / SIDES), r * sin(2 * M_PI * k / SIDES), 2.85 * f);
        }
    for (int i = 0; i < RINGS; i++)
        for (int k = 0; k < SIDES; k++) {
            int a = i * SIDES + k, b = i * SIDES + (k + 1) % SIDES;
            triangle(m, a, b, b + SIDES);
            triangle(m, a, b + SIDES, a + SIDES);
        }
}

/* Blades that bend outwards. */
static void tuft(struct mesh *m)
{
    enum { BLADES = 36, PARTS = 4 };
    for (int k = 0; k < BLADES; k++) {
        double angle = 2 * M_PI * dice(), r = 0.12 * sqrt(dice()), tall = 0.22 + 0.2 * dice();
        double bend = 0.1 + 0.22 * dice(), wide = 0.012, x = cos(angle), y = sin(angle);
        int first = m->vertices;
        for (int i = 0; i <= PARTS; i++) {
            double f = (double)i / PARTS, out = r + bend * f * f, w = wide * (1 - f * f);
            vertex(m, x * out - y * w, y * out + x * w, tall * f * (1 - 0.25 * f));
            vertex(m, x * out + y * w, y * out - x * w, tall * f * (1 - 0.25 * f));
        }
        for (int i = 0; i < PARTS; i++) {
            int a = first + 2 * i;
            triangle(m, a, a + 1, a + 3);
            if (i + 1 < PARTS)
                triangle(m, a, a + 3, a + 2);
        }
    }
}

static void stone(struct mesh *m)
{
    enum { U = 24, V = 12 };
    for (int j = 0; j <= V; j++)
        for (int i = 0; i < U; i++) {
            double theta = M_PI * (0.02 + 0.96 * j / V), phi = 2 * M_PI * i / U;
            double x = sin(theta) * cos(phi), y = sin(theta) * sin(phi), z = cos(theta);
            double r = 0.2 + 0.03 * sin(3 * x + 1) * sin(4 * y) + 0.025 * sin(7 * z + 2 * x) +
                       0.012 * sin(13 * y + 3) * sin(11 * x);
            vertex(m, r * x, r * y, 0.6 * r * z + 0.05);
        }
    for (int j = 0; j < V; j++)
        for (int i = 0; i < U; i++) {
            int a = j * U + i, b = j * U + (i + 1) % U;
            triangle(m, a, a + U, b + U);
            triangle(m, a, b + U, b);
        }
}

/* Two builds at once may want it: written aside, then renamed. */
static bool mesh_write(const struct mesh *m, const char *folder, const char *name)
{
    char path[4096], tmp[4200];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return false;
    snprintf(tmp, sizeof tmp, "%s.%ld.new", path, (long)getpid());
    FILE *f = fopen(tmp, "wb");
    if (!f) {
        perror(tmp);
        return false;
    }
    fprintf(f,
            "ply\nformat binary_little_endian 1.0\nelement vertex %d\nproperty float x\n"
            "property float y\nproperty float z\nelement face %d\n"
            "property list uchar int vertex_indices\nend_header\n",
            m->vertices, m->count);
    fwrite(m->P, sizeof *m->P, (size_t)m->vertices, f);
    for (int i = 0; i < m->count; i++) {
        unsigned char three = 3;
        fwrite(&three, 1, 1, f);
        fwrite(m->triangles[i], sizeof *m->triangles, 1, f);
    }
    bool failed = ferror(f) != 0;
    if (fclose(f) != 0 || failed || rename(tmp, path) != 0) {
        perror(path);
        remove(tmp);
        return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*make)(struct mesh *);
    } plants[] = {{"conifer-crown.ply", crown},
                  {"conifer-trunk.ply", trunk},
                  {"tuft.ply", tuft},
                  {"stone.ply", stone}};
    if (argc != 2) {
        fprintf(stderr, "usage: plants FOLDER\n");
        return 2;
    }
    struct mesh m = {.P = malloc(VERTICES_MAX * sizeof *m.P),
                     .triangles = malloc(TRIANGLES_MAX * sizeof *m.triangles)};
    bool ok = m.P && m.triangles;
    for (size_t i = 0; ok && i < sizeof plants / sizeof *plants; i++) {
        state = (uint32_t)i + 1;
        m.vertices = m.count = 0;
        plants[i].make(&m);
        ok = mesh_write(&m, argv[1], plants[i].name);
    }
    free(m.P);
    free(m.triangles);
    return ok ? 0 : 1;
}
