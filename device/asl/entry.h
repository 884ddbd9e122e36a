/* SPDX-License-Identifier: Apache-2.0 */
/* entry.h: the program's entries, behind the emitted text: points [begin, end) of a launch. */

K_INLINE void a_point_grid(struct a_state *s, K_GLOBAL const float *grid,
                           K_GLOBAL const struct a_launch *k, uint x, uint y)
{
    af u = A_ROW(grid + x), v = A_F(grid[k->width + A_GRID_PAD + y]);
#define A_WORD(i) s->p##i = a_grid_word(i, u, v, k);
    A_POINT_USED(A_WORD)
#undef A_WORD
}
K_INLINE void a_point_listed(struct a_state *s, K_GLOBAL const uint *points, uint first, uint end)
{
#define A_WORD(i) s->p##i = a_listed_word(i, points, first, end);
    A_POINT_USED(A_WORD)
#undef A_WORD
}

#ifdef K_NATIVE

#if A_WIDTH == 1
#define A_FIRST(n) 1
#else
static const union {
    int n[16];
} a_lane_numbers = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}};
/* The first n lanes. */
K_FN am A_FIRST(uint n)
{
    ai lane;
    __builtin_memcpy(&lane, a_lane_numbers.n, sizeof lane);
    return lane < (int)n;
}
#endif

#ifdef A_UNIFORM
/* Of a grid whose points have these arguments, before its points run: its results, which are words
 * of the argument area that asl_points takes (asl_emitted.uniform_first). */
__attribute__((visibility("default"))) void asl_uniform(const uint *args, uint *out)
{
    struct a_state s;
    s.args = args;
    a_uniform(&s, out);
}
#endif

/* `out` begins with the row of point `begin`. failed[0] becomes 1 + the loop that spent the budget,
 * failed[1] the first point of its group. Returns the point after the last that was run. */
__attribute__((visibility("default"))) uint
asl_points(const struct a_host *host, const struct a_launch *k, const uint *args, const float *grid,
           const uint *points, uint *out, uint begin, uint end, uint *failed)
{
    struct a_state s;
    s.args = args;
    s.budget = k->budget;
    s.failed = 0u;
#ifdef A_HOST
    s.host = host;
#endif
    for (uint i = begin; i < end;) {
        uint n = end - i;
        n = n < A_WIDTH ? n : A_WIDTH;
        s.index = i;
        if (k->listed) {
            a_point_listed(&s, points, i, end);
        } else {
            uint at = k->first + i, x = at % k->width;
            n = n < k->width - x ? n : k->width - x;
            a_point_grid(&s, grid, k, x, at / k->width);
        }
        a_shade(&s, A_FIRST(n));
        a_outputs(&s, n, out + (i - begin) * A_OUT_WORDS);
        if (s.failed) {
            failed[0] = s.failed;
            failed[1] = i;
            return i + n;
        }
        i += n;
    }
    return end;
}

#else

#define A_BUFFERS                                                                                  \
    K_GLOBAL const struct a_launch *k, K_GLOBAL const uint *args, K_GLOBAL uint *uniform,          \
        K_GLOBAL const float *grid, K_GLOBAL const uint *points, K_GLOBAL uint *out,               \
        K_GLOBAL uint *failed, K_GLOBAL uint *log
#ifdef K_OPENCL
#define A_KERNEL __kernel void
#else
#define A_KERNEL extern "C" __global__ void
#endif

#if A_UNIFORM
/* One work-item, before the points of a launch. */
A_KERNEL asl_uniform(A_BUFFERS)
{
    struct a_state s;
    s.args = args;
    a_uniform(&s, uniform);
}
#endif

A_KERNEL
asl_points(A_BUFFERS)
{
#ifdef K_OPENCL
    uint i = (uint)get_global_id(0);
#else
    uint i = blockIdx.x * blockDim.x + threadIdx.x;
#endif
    struct a_state s;
    if (i >= k->count)
        return;
    s.args = args;
    s.budget = k->budget;
    s.failed = 0u;
    s.index = i;
#if A_UNIFORM
    s.uniform = uniform;
#endif
    s.log = log; /* the first word counts what records need, whether there is room or not */
    s.log_words = k->log_words;
    if (k->listed)
        a_point_listed(&s, points, i, k->count);
    else
        a_point_grid(&s, grid, k, (k->first + i) % k->width, (k->first + i) / k->width);
    a_shade(&s, 1);
    a_outputs(&s, 1u, out + i * A_OUT_WORDS);
    if (s.failed) { /* whichever comes last is told */
        failed[0] = s.failed;
        failed[1] = i;
    }
}

#endif
