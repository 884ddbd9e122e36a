/* SPDX-License-Identifier: Apache-2.0 */
/* point.h: the facts of a point as a row of words, from a grid or from an array. The order is that
 * of struct asl_globals (shaders.h); backends/shade/shade_program.c packs arrays by it. */

#define A_P_P           0 /* value, change in x, change in y */
#define A_P_I           9
#define A_P_N           18
#define A_P_PS          27
#define A_P_NG          36
#define A_P_DPDU        39
#define A_P_DPDV        42
#define A_P_DPDTIME     45
#define A_P_DPDZ        48
#define A_P_U           51
#define A_P_V           54
#define A_P_TIME        57
#define A_P_DTIME       58
#define A_P_SURFACEAREA 59
#define A_P_BACKFACING  60 /* ints from here */
#define A_P_FLIP        61
#define A_P_RAYTYPE     62
#define A_POINT_WORDS   63

enum { A_VARY_P = 1, A_VARY_U = 2, A_VARY_V = 4 };

struct a_launch {
    uint width, first, count; /* of the grid's row; the first point; how many */
    uint vary, raytype, budget;
    uint listed; /* points come from the array, not from the grid */
    uint log_words;
    float du, dv, px, py; /* slopes of u, v, P.x, P.y on a grid, where they do not vary */
};

/* u, then 16 numbers more so that a row of lanes may be read anywhere, then v. */
#define A_GRID_PAD 16

#if A_WIDTH == 1
#define A_ROW(p) (*(p))
#else
typedef float a_row __attribute__((vector_size(4 * A_WIDTH), aligned(4)));
#define A_ROW(p) ((af)(*(const a_row *)(p)))
#endif

/* Word i of a point of the grid. */
K_INLINE af a_grid_word(int i, af u, af v, K_GLOBAL const struct a_launch *k)
{
    uint vary_p = k->vary & A_VARY_P, vary_u = k->vary & A_VARY_U, vary_v = k->vary & A_VARY_V;
    switch (i) {
    case A_P_U:
    case A_P_P:
        return u;
    case A_P_V:
    case A_P_P + 1:
        return v;
    case A_P_P + 2:
    case A_P_N + 2:
    case A_P_NG + 2:
    case A_P_DPDU:
    case A_P_DPDV + 1:
    case A_P_SURFACEAREA:
        return A_F(1.0f);
    case A_P_U + 1:
        return vary_u ? 1.0f - u : A_F(k->du);
    case A_P_U + 2:
        return vary_u ? u : A_F(0.0f);
    case A_P_V + 1:
        return vary_v ? 1.0f - v : A_F(0.0f);
    case A_P_V + 2:
        return vary_v ? v : A_F(k->dv);
    case A_P_P + 3:
        return vary_p ? 1.0f - u : A_F(k->px);
    case A_P_P + 4:
        return vary_p ? 1.0f - v : A_F(0.0f);
    case A_P_P + 5:
        return vary_p ? u * 0.5f : A_F(0.0f);
    case A_P_P + 6:
        return vary_p ? 1.0f - v : A_F(0.0f);
    case A_P_P + 7:
        return vary_p ? 1.0f - u : A_F(k->py);
    case A_P_P + 8:
        return vary_p ? v * 0.5f : A_F(0.0f);
    case A_P_RAYTYPE:
        return A_FLOATS(A_I((int)k->raytype));
    default:
        return A_F(0.0f);
    }
}

/* Word i of the listed points from `first` on; lanes past the end read the last point. */
A_CALL af a_listed_word(int i, K_GLOBAL const uint *points, uint first, uint end)
{
    af r = A_F(0.0f);
    for (int lane = 0; lane < A_WIDTH; lane++) {
        uint at = first + (uint)lane < end ? first + (uint)lane : end - 1u;
        a_put(&r, lane, points[at * A_POINT_WORDS + (uint)i]);
    }
    return r;
}
