/* SPDX-License-Identifier: Apache-2.0 */
/* shader_compare.h: one group of shaders on an engine and on the interpreter, value by value. What
 * counts as equal: docs/explanation/equivalence.md. */
#ifndef CONFORMANCE_SHADER_COMPARE_H
#define CONFORMANCE_SHADER_COMPARE_H

#include "backends.h"
#include "shader_file.h"

struct shader_setting {
    const char *engine;  /* of shade_open */
    enum math_mode mode; /* others than strict: what rounds may be off by its bound, too */
    unsigned level;      /* of the optimiser */
    bool bake;           /* parameters are constants of the program */
    bool all_layers;     /* every layer runs at every point, else the last one and what it pulls */
    const char *fault;   /* of shade_faults, or NULL */
};

/* The first difference. */
struct shader_difference {
    size_t point;       /* index into the points */
    char output[96];    /* "layer.Cout[1]", or "" when messages differ */
    char expected[160]; /* the interpreter's: decimal and bits, or the text */
    char found[160];
    char text[640]; /* all of it in one line */
};
struct shader_comparison {
    uint64_t values;    /* words compared */
    uint64_t unsure;    /* points left out because a bound leaves the program's way open */
    uint64_t moved;     /* values that differ and lie where builtins within their bounds put them */
    uint64_t messages;  /* compared */
    bool messages_open; /* messages vary within the builtins' bounds: not compared */
    bool different;
    struct shader_difference first;
    double translate_s, compile_s, run_s;
};
/* Fails as shade_open and shade_run do: UNSUPPORTED, MISSING, BUILD ...; a point that fails on one
 * side only is a difference. */
enum status shader_compare(const struct shader_file *f, const struct shader_setting *s,
                           const struct asl_globals *points, size_t count,
                           struct shader_comparison *out, struct error *err);

/* The points that shaders are run at: a grid over [0,1]^2, then points at random with normals,
 * derivatives, ray types, then (`special`) ones that hold infinities, NaN and -0, for programs that
 * do not look at the bits of NaN, which nothing defines. In the arena. */
enum status shader_points(struct arena *a, uint32_t side, uint32_t random, bool special,
                          struct asl_globals **points, size_t *count, struct error *err);
/* Spaces and data of the geometry that every run has. */
void shader_world(struct shade_options *o);

/* The statement where the values of a program first differ at a point: every assignment is made to
 * print what it wrote, on both sides. `text` has a statement a line (asl_reduce). false when what
 * is printed does not differ, or nothing can be printed there. */
struct shader_place {
    uint32_t line;
    char statement[256], expected[160], found[160];
};
bool shader_locate(const char *name, const char *text, const struct shader_setting *s,
                   const struct asl_globals *point, struct shader_place *out);

#endif
