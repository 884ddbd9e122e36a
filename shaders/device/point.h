/* point.h: the facts of a point as a row of words, from a grid or from an array. The order is that
 * of struct asl_globals (shaders.h); backends/shade_program.c packs arrays by it. */

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
    float du, dv;
};

/* u, then 16 numbers more so that a row of lanes may be read anywhere, then v. */
#define A_GRID_PAD 16

#if A_WIDTH == 1
#define A_ROW(p) (*(p))
#else
typedef float a_row __attribute__((vector_size(4 * A_WIDTH), aligned(4)));
#define A_ROW(p) ((af)(*(const a_row *)(p)))
#endif

K_FN void a_point_grid(af *p, K_GLOBAL const float *grid, K_GLOBAL const struct a_launch *k, uint x,
                       uint y)
{
    af u = A_ROW(grid + x), v = A_F(grid[k->width + A_GRID_PAD + y]), zero = A_F(0.0f),
       one = A_F(1.0f);
    for (int i = 0; i < A_POINT_WORDS; i++)
        p[i] = zero;
    p[A_P_U] = u;
    p[A_P_V] = v;
    p[A_P_U + 1] = A_F(k->du);
    p[A_P_V + 2] = A_F(k->dv);
    if (k->vary & A_VARY_U) {
        p[A_P_U + 1] = one - u;
        p[A_P_U + 2] = u;
    }
    if (k->vary & A_VARY_V) {
        p[A_P_V + 1] = one - v;
        p[A_P_V + 2] = v;
    }
    p[A_P_P] = u;
    p[A_P_P + 1] = v;
    p[A_P_P + 2] = one;
    p[A_P_P + 3] = p[A_P_U + 1];
    p[A_P_P + 4] = p[A_P_V + 1];
    p[A_P_P + 6] = p[A_P_U + 2];
    p[A_P_P + 7] = p[A_P_V + 2];
    if (k->vary & A_VARY_P) {
        p[A_P_P + 3] = one - u;
        p[A_P_P + 4] = one - v;
        p[A_P_P + 5] = u * 0.5f;
        p[A_P_P + 6] = one - v;
        p[A_P_P + 7] = one - u;
        p[A_P_P + 8] = v * 0.5f;
    }
    p[A_P_N + 2] = p[A_P_NG + 2] = one;
    p[A_P_DPDU] = p[A_P_DPDV + 1] = one;
    p[A_P_SURFACEAREA] = one;
    p[A_P_RAYTYPE] = A_FLOATS(A_I((int)k->raytype));
}

/* Lanes past the end read the last point. */
K_FN void a_point_listed(af *p, K_GLOBAL const uint *points, uint first, uint end)
{
    for (int i = 0; i < A_POINT_WORDS; i++)
        for (int lane = 0; lane < A_WIDTH; lane++) {
            uint at = first + (uint)lane < end ? first + (uint)lane : end - 1u;
            a_put(&p[i], lane, points[at * A_POINT_WORDS + (uint)i]);
        }
}
