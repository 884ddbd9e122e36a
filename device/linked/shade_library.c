/* SPDX-License-Identifier: Apache-2.0 */
/* The run-time library of shaders as bitcode, for rows of A_WIDTH points, beside shade_code.c.
 * Compiled by clang-15 when the program is built (CMakeLists.txt). */
// clang-format off
#define AL_NOISE_APART
#include "portable.h"
#include "asl/device.h"
#include "linked/shade_functions.h"
// clang-format on

/* What a run of points holds besides the emitted module's own cells: the module reads it by byte
 * offsets (enum in emit_llvm.h). */
struct al_run {
    const uint *args;
    const struct a_host *host;
    uint budget, turns, failed, index;
    af point[A_POINT_WORDS] __attribute__((aligned(64)));
};

/* ---- what the emitted module has ------------------------------------------------------------ */

extern const unsigned long long al_point_used; /* bit i: word i of the point is read */
/* Runs the layers in the lanes of the mask, the first n, and writes their rows of al_out_words()
 * words one after another. */
void al_shade(struct al_run *run, am mask, uint n, uint *out);
uint al_out_words(void);
/* What is the same at all points, by the argument area alone, into out. */
void al_uniform(struct al_run *run, uint *out);

/* ---- the host ------------------------------------------------------------------------------- */

/* Call `call` for each lane of the mask: io has `words` words, operands in and results out;
 * from `rows` on those of places. */
AL void al_host(const struct al_run *run, uint call, am mask, ai *io, uint words, uint rows)
{
    uint one[words + 1u];
    for (int lane = 0; lane < A_WIDTH; lane++) {
        if (!A_AT(mask, lane))
            continue;
        for (uint k = 0; k < words; k++)
            one[k] = a_geti(io + k, lane);
        run->host->call(run->host->ctx, call, run->index + (uint)lane, one, one + rows);
        for (uint k = 0; k < words; k++)
            a_puti(io + k, lane, one[k]);
    }
}

/* ---- points --------------------------------------------------------------------------------- */

/* Word `at` of the rows of the first n lanes. */
AL void al_put_row(uint *out, uint n, uint words, uint at, ai x)
{
    for (uint lane = 0; lane < n; lane++)
        out[lane * words + at] = (uint)A_AT(x, (int)lane);
}

K_INLINE am al_first(uint n)
{
    am m = A_NONE;
    for (int i = 0; i < A_WIDTH; i++)
        m[i] = (uint)i < n ? -1 : 0;
    return m;
}

/* As asl_uniform of device/asl/entry.h. */
AL void asl_uniform(const uint *args, uint *out)
{
    struct al_run run;
    run.args = args;
    al_uniform(&run, out);
}

/* As asl_points of device/asl/entry.h. */
AL uint asl_points(const struct a_host *host, const struct a_launch *k, const uint *args,
                   const float *grid, const uint *points, uint *out, uint begin, uint end,
                   uint *failed)
{
    struct al_run run;
    run.args = args;
    run.host = host;
    run.budget = k->budget;
    run.failed = 0u;
    for (uint i = begin; i < end;) {
        uint n = end - i, at = k->first + i, x = at % k->width;
        n = n < A_WIDTH ? n : A_WIDTH;
        run.index = i;
        run.turns = 0u;
        if (!k->listed)
            n = n < k->width - x ? n : k->width - x;
        af u = A_F(0.0f), v = u;
        if (!k->listed) {
            u = A_ROW(grid + x);
            v = A_F(grid[k->width + A_GRID_PAD + at / k->width]);
        }
        for (int w = 0; w < A_POINT_WORDS; w++)
            if (al_point_used >> w & 1u)
                run.point[w] =
                    k->listed ? a_listed_word(w, points, i, end) : a_grid_word(w, u, v, k);
        al_shade(&run, al_first(n), n, out + (i - begin) * al_out_words());
        if (run.failed) {
            failed[0] = run.failed;
            failed[1] = i;
            return i + n;
        }
        i += n;
    }
    return end;
}
