/* SPDX-License-Identifier: Apache-2.0 */
/* The run-time library of shaders as machine code that a shader's own is linked with, for rows of
 * A_WIDTH points: the entries, what is handed to the host, and functions that are hundreds of
 * instructions. Compiled by clang-15 when the program is built, so that no shader waits for it. */
// clang-format off
#define AL_LINKED
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

/* ---- what it calls -------------------------------------------------------------------------- */

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

/* A row of colours, by shuffles: 48 stores would cost more than a cheap shader. */
K_INLINE void al_put_colours(uint *restrict out, const uint *restrict x)
{
    const uint *y = x + A_WIDTH, *z = y + A_WIDTH;
#pragma clang loop vectorize(enable) unroll(disable)
    for (uint lane = 0; lane < A_WIDTH; lane++) {
        out[3u * lane] = x[lane];
        out[3u * lane + 1u] = y[lane];
        out[3u * lane + 2u] = z[lane];
    }
}
static __attribute__((noinline)) void al_put_words(uint *out, uint n, uint words, const uint *rows)
{
    for (uint w = 0; w < words; w++)
        for (uint lane = 0; lane < n; lane++)
            out[lane * words + w] = rows[w * A_WIDTH + lane];
}
/* Writes the first n lanes of `words` rows, a lane's words one after another. */
AL void al_put_rows(uint *out, uint n, uint words, const uint *rows)
{
    if (words == 3u && n == A_WIDTH)
        al_put_colours(out, rows);
    else
        al_put_words(out, n, words, rows);
}

/* ---- points --------------------------------------------------------------------------------- */

K_INLINE am al_first(uint n)
{
    am m = A_NONE;
    for (int i = 0; i < A_WIDTH; i++)
        m[i] = (uint)i < n ? -1 : 0;
    return m;
}

/* The words of the points in `used`. */
K_INLINE void al_listed(struct al_run *run, unsigned long long used, const uint *points, uint first,
                        uint end)
{
    for (; used; used &= used - 1u) {
        const int w = __builtin_ctzll(used);
        run->point[w] = a_listed_word(w, points, first, end);
    }
}
K_INLINE void al_grid(struct al_run *run, unsigned long long used, const struct a_launch *k, af u,
                      af v)
{
    for (; used; used &= used - 1u) {
        const int w = __builtin_ctzll(used);
        run->point[w] = a_grid_word(w, u, v, k);
    }
}
/* Where nothing else varies these four alone do: without a loop over words, of which a row of a
 * cheap shader would feel each. */
K_INLINE void al_grid_places(struct al_run *run, const struct a_launch *k, af u, af v)
{
    run->point[A_P_U] = a_grid_word(A_P_U, u, v, k);
    run->point[A_P_V] = a_grid_word(A_P_V, u, v, k);
    run->point[A_P_P] = a_grid_word(A_P_P, u, v, k);
    run->point[A_P_P + 1] = a_grid_word(A_P_P + 1, u, v, k);
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
    const unsigned long long used = al_point_used;
    const uint words = al_out_words();
    struct al_run run;
    run.args = args;
    run.host = host;
    run.budget = k->budget;
    run.failed = 0u;
    if (!k->listed && !k->vary)
        al_grid(&run, used, k, A_F(0.0f), A_F(0.0f));
    uint x = 0u, y = 0u; /* of a grid */
    if (!k->listed) {
        x = (k->first + begin) % k->width;
        y = (k->first + begin) / k->width;
    }
    for (uint i = begin; i < end;) {
        uint n = end - i;
        n = n < A_WIDTH ? n : A_WIDTH;
        run.index = i;
        run.turns = 0u;
        if (k->listed) {
            al_listed(&run, used, points, i, end);
        } else {
            const af u = A_ROW(grid + x), v = A_F(grid[k->width + A_GRID_PAD + y]);
            n = n < k->width - x ? n : k->width - x;
            x += n;
            y += x == k->width;
            x = x == k->width ? 0u : x;
            if (k->vary)
                al_grid(&run, used, k, u, v);
            else
                al_grid_places(&run, k, u, v);
        }
        al_shade(&run, al_first(n), n, out + (i - begin) * words);
        if (run.failed) {
            failed[0] = run.failed;
            failed[1] = i;
            return i + n;
        }
        i += n;
    }
    return end;
}
