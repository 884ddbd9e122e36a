/* SPDX-License-Identifier: Apache-2.0 */
/* sky PATH: a clear sky with a low, bright sun over dark ground, 256 x 128, as Radiance HDR with
 * run-length encoded lines. Our own formula: a smooth gradient from horizon to zenith, a glow about
 * the sun, and a sun of 3 degrees that holds most of the light: what makes environment sampling
 * hard. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { WIDTH = 256, HEIGHT = 128 };

static const double sun[3] = {0.5566703992264194, 0.4226182617406994, -0.7152082602964395};

/* Radiance along the unit vector d, +y up. */
static void sky(const double d[3], double rgb[3])
{
    static const double zenith[3] = {0.16, 0.34, 0.78}, horizon[3] = {0.95, 0.88, 0.80};
    static const double ground[3] = {0.16, 0.13, 0.10}, light[3] = {2200, 1900, 1400};
    double cosine = d[0] * sun[0] + d[1] * sun[1] + d[2] * sun[2];
    double angle = acos(cosine > 1 ? 1 : cosine < -1 ? -1 : cosine);
    double height = d[1] > 0 ? d[1] : 0;
    double haze = pow(1 - height, 4), glow = 0.6 * exp(-angle * 4) + 1.5 * exp(-angle * 20);
    /* the disc's edge is softened over a texel, so that its light does not depend on the grid */
    double disc = 0.5 * (1 - tanh((angle - 0.026) / 0.006));
    for (int c = 0; c < 3; c++) {
        double above = zenith[c] + (horizon[c] - zenith[c]) * haze + glow * (light[c] / light[0]);
        double below = ground[c] * (1 + 0.5 * d[1]);
        double mix = 0.5 * (1 + tanh(d[1] / 0.01));
        rgb[c] = below + (above - below) * mix + light[c] * disc;
    }
}

/* Shared exponent: mantissas of 8 bits, the largest of which is 128 or more. */
static void encode(const double rgb[3], uint8_t out[4])
{
    double largest = fmax(rgb[0], fmax(rgb[1], rgb[2]));
    int exponent;
    frexp(largest, &exponent);
    for (int c = 0; c < 3; c++) {
        double m = floor(ldexp(rgb[c], 8 - exponent));
        out[c] = (uint8_t)(m > 255 ? 255 : m);
    }
    out[3] = (uint8_t)(exponent + 128);
}

/* One component of a line: runs of 3 and more, else literals. */
static void put_component(FILE *f, const uint8_t (*line)[4], int c)
{
    for (int x = 0; x < WIDTH;) {
        int run = 1;
        while (x + run < WIDTH && run < 127 && line[x + run][c] == line[x][c])
            run++;
        if (run >= 3) {
            putc(128 + run, f);
            putc(line[x][c], f);
            x += run;
            continue;
        }
        int n = 1;
        while (x + n < WIDTH && n < 128 &&
               (x + n + 2 >= WIDTH || line[x + n][c] != line[x + n + 1][c] ||
                line[x + n][c] != line[x + n + 2][c]))
            n++;
        putc(n, f);
        for (int i = 0; i < n; i++)
            putc(line[x + i][c], f);
        x += n;
    }
}

static void put_picture(FILE *f)
{
    fprintf(f,
            "#?RADIANCE\n# a sky by formula: scenes/generate/sky.c\nFORMAT=32-bit_rle_rgbe\n\n"
            "-Y %d +X %d\n",
            HEIGHT, WIDTH);
    for (int y = 0; y < HEIGHT; y++) {
        uint8_t line[WIDTH][4];
        double theta = M_PI * (y + 0.5) / HEIGHT;
        for (int x = 0; x < WIDTH; x++) {
            double phi = 2 * M_PI * (x + 0.5) / WIDTH, rgb[3];
            double d[3] = {sin(theta) * sin(phi), cos(theta), -sin(theta) * cos(phi)};
            sky(d, rgb);
            encode(rgb, line[x]);
        }
        putc(2, f);
        putc(2, f);
        putc(WIDTH >> 8, f);
        putc(WIDTH & 255, f);
        for (int c = 0; c < 4; c++)
            put_component(f, line, c);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: sky PATH\n");
        return 2;
    }
    char tmp[4096]; /* two builds at once may want it: written aside, then renamed */
    if (snprintf(tmp, sizeof tmp, "%s.%ld.new", argv[1], (long)getpid()) >= (int)sizeof tmp)
        return 2;
    FILE *f = fopen(tmp, "wb");
    if (!f) {
        perror(tmp);
        return 1;
    }
    put_picture(f);
    bool failed = ferror(f) != 0;
    if (fclose(f) != 0 || failed || rename(tmp, argv[1]) != 0) {
        perror(argv[1]);
        remove(tmp);
        return 1;
    }
    return 0;
}
