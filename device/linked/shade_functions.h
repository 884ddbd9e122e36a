/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of device/asl/ that shaders/emit/emit_llvm.c calls by name, for rows of A_WIDTH
 * points or for one. Duals go through memory: value, change in x, change in y. */
#ifndef ISOPHOTE_SHADE_FUNCTIONS_H
#define ISOPHOTE_SHADE_FUNCTIONS_H

/* Seen by emitted text. */
#ifdef K_CUDA
#define AL extern "C" __device__
#elif defined(K_OPENCL)
#define AL
#else
#define AL __attribute__((visibility("default")))
#endif

/* What is a call or two of a processor stands in the text that shaders are compiled with
 * (AL_INLINED, shade_library.c). What is hundreds of instructions a row is machine code of the
 * program (AL_LINKED, shade_code.c): a compiler that makes it anew for each shader takes longer than
 * for all else. A library without rows has both. */

#define FLOAT1(name)                                                                               \
    AL af al_##name(af x) { return a_##name(x); }
#define FLOAT2(name)                                                                               \
    AL af al_##name(af x, af y) { return a_##name(x, y); }
#define INT2(name)                                                                                 \
    AL ai al_##name(ai x, ai y) { return a_##name(x, y); }
#define ONE(name)                                                                                  \
    FLOAT1(name)                                                                                   \
    AL af al_slope_##name(af x, af v) { return a_slope_##name(x, v); }

/* ---- duals ---------------------------------------------------------------------------------- */

K_INLINE struct ad al_in(const af *in) { return a_dual(in[0], in[1], in[2]); }
K_INLINE struct ad3 al_in3(const af *in)
{
    return a_dual3(al_in(in), al_in(in + 3), al_in(in + 6));
}
K_INLINE void al_back(af *out, struct ad x)
{
    out[0] = x.v;
    out[1] = x.dx;
    out[2] = x.dy;
}
K_INLINE void al_back3(af *out, struct ad3 x)
{
    al_back(out, x.x);
    al_back(out + 3, x.y);
    al_back(out + 6, x.z);
}
#ifndef AL_LINKED

/* ---- operations ----------------------------------------------------------------------------- */

FLOAT1(abs)
FLOAT1(floor)
FLOAT1(ceil)
FLOAT1(round)
FLOAT1(trunc)
FLOAT1(fsqrt)
FLOAT2(fdiv)
INT2(idiv)
INT2(imod)
INT2(ishl)
INT2(ishr)
ONE(logb)
ONE(inversesqrt)

AL af al_chain(af slope, af d) { return a_chain(slope, d); }
AL ai al_f2i(af x) { return a_f2i(x); }
AL af al_hypot(af x, af y, af z) { return a_hypot(x, y, z); }
AL ai al_clamp_index(ai i, int count) { return a_clamp_index(i, count); }
AL af al_gather(const af *row, ai at) { return a_gather(row, at); }
AL ai al_gatheri(const ai *row, ai at) { return a_gatheri(row, at); }
AL void al_scatter(af *row, ai at, af x, am m) { a_scatter(row, at, x, m); }
AL void al_scatteri(ai *row, ai at, ai x, am m) { a_scatteri(row, at, x, m); }
AL ai al_hashed(ai bits) { return a_hashed(A_FLOATS(bits)); }
AL ai al_hash1(ai x) { return A_INTS(a_hash1(x)); }
AL ai al_hash2(ai x, ai y) { return A_INTS(a_hash2(x, y)); }
AL ai al_hash3(ai x, ai y, ai z) { return A_INTS(a_hash3(x, y, z)); }
AL ai al_hash4(ai x, ai y, ai z, ai w) { return A_INTS(a_hash4(x, y, z, w)); }

/* in: the triple, then 16 numbers of the matrix. */
AL void al_transform(af *out, int point, const af *in)
{
    al_back3(out, a_transform(point, al_in3(in), in + 9));
}

/* Inlined, since the channels of a colour share most of it. */
AL void al_spline(af *out, int basis, const af *x, int count, const af *knots, int channels,
                  int channel, int row)
{
    al_back(out, a_spline(basis, al_in(x), count, knots, channels, channel, row));
}
#endif
#ifndef AL_INLINED

/* ---- functions ------------------------------------------------------------------------------ */

ONE(sin)
ONE(cos)
ONE(tan)
ONE(asin)
ONE(acos)
ONE(atan)
ONE(sinh)
ONE(cosh)
ONE(tanh)
ONE(exp)
ONE(exp2)
ONE(expm1)
ONE(log)
ONE(log2)
ONE(log10)
ONE(cbrt)
ONE(erf)
ONE(erfc)
FLOAT2(fmod)
FLOAT2(pow)
FLOAT2(atan2)
FLOAT2(log_base)

AL void al_pow_d(af *out, const af *in) { al_back(out, a_pow_d(al_in(in), al_in(in + 3))); }
AL void al_atan2_d(af *out, const af *in) { al_back(out, a_atan2_d(al_in(in), al_in(in + 3))); }
AL void al_log_base_d(af *out, const af *in)
{
    al_back(out, a_log_base_d(al_in(in), al_in(in + 3)));
}
AL void al_hypot_d(af *out, const af *in)
{
    al_back(out, a_hypot_d(al_in(in), al_in(in + 3), al_in(in + 6)));
}
AL void al_spline_inverse(af *out, int basis, const af *v, int count, const af *knots)
{
    al_back(out, a_spline_inverse_d(basis, al_in(v), count, knots));
}
AL void al_colour_transform(af *out, int from, int to, const af *in)
{
    al_back3(out, a_colour_transform(from, to, al_in3(in)));
}
/* in: v, axis (9 each), angle; with an origin: that too. */
AL void al_rotate(af *out, const af *in)
{
    al_back3(out, a_rotate(al_in3(in), al_in(in + 18), al_in3(in + 9)));
}
AL void al_rotate_about(af *out, const af *in)
{
    struct ad3 o = al_in3(in + 21);
    al_back3(
        out,
        a_d3add(a_rotate(a_d3sub(al_in3(in), o), al_in(in + 18), a_d3sub(al_in3(in + 9), o)), o));
}
AL void al_artistic_ior(af *out, af r, af g) { a_artistic_ior(r, g, out, out + 1); }
AL void al_segment_distance(af *out, const af *in)
{
    al_back(out, a_segment_distance(al_in3(in), al_in3(in + 9), al_in3(in + 18)));
}

/* ---- noise: al_noise_KIND_DIMS_PERIODIC_CHANNELS_DERIVS ------------------------------------- */

/* in: value and changes for each dimension, then periods; out: channels' values, then their changes
 * in x, then in y. */
K_INLINE void al_noise(int kind, int dims, int periodic, int channels, int derivs, const af *in,
                       af *out)
{
    af q[4], v[4], rv[3];
    struct ad d[4], rd[3];
    for (int k = 0; k < 4; k++) {
        d[k] = k < dims ? al_in(in + 3 * k) : a_still(A_F(0.0f));
        v[k] = d[k].v;
        q[k] = periodic && k < dims ? in[3 * dims + k] : A_F(1.0f);
    }
    if (kind >= 4)
        a_word_noise(kind == 4, dims, v, periodic, q, channels, rv);
    else if (derivs)
        a_dgradient_noise(kind, dims, d, periodic, q, channels, rd);
    else
        a_vgradient_noise(kind, dims, v, periodic, q, channels, rv);
    for (int k = 0; k < channels; k++) {
        int dual = derivs && kind < 4;
        out[k] = dual ? rd[k].v : rv[k];
        if (derivs) {
            out[channels + k] = dual ? rd[k].dx : A_F(0.0f);
            out[2 * channels + k] = dual ? rd[k].dy : A_F(0.0f);
        }
    }
}
#define NOISE(k, n, p, c, d)                                                                       \
    AL void al_noise_##k##_##n##_##p##_##c##_##d(af *out, const af *in)                            \
    {                                                                                              \
        al_noise(k, n, p, c, d, in, out);                                                          \
    }
#define NOISE_DERIVS(k, n, p, c) NOISE(k, n, p, c, 0) NOISE(k, n, p, c, 1)
#define NOISE_CHANNELS(k, n, p)  NOISE_DERIVS(k, n, p, 1) NOISE_DERIVS(k, n, p, 3)
#define NOISE_DIMS(k, p)                                                                           \
    NOISE_CHANNELS(k, 1, p) NOISE_CHANNELS(k, 2, p) NOISE_CHANNELS(k, 3, p) NOISE_CHANNELS(k, 4, p)
NOISE_DIMS(0, 0)
NOISE_DIMS(0, 1)
NOISE_DIMS(1, 0)
NOISE_DIMS(1, 1)
NOISE_DIMS(2, 0)
NOISE_DIMS(3, 0)
NOISE_DIMS(4, 0)
NOISE_DIMS(4, 1)
NOISE_DIMS(5, 0)
NOISE_DIMS(5, 1)

/* in: three coordinates (9 rows), three periods, the options of a_gabor; out: channels of 3. */
K_INLINE void al_gabor(int periodic, int channels, int derivs, const af *in, af *out)
{
    struct ad x[3], r[3];
    for (int k = 0; k < 3; k++)
        x[k] = al_in(in + 3 * k);
    a_gabor(x, periodic, in + 9, in + 12, channels, derivs, r);
    for (int k = 0; k < channels; k++)
        al_back(out + 3 * k, r[k]);
}
#define GABOR(p, c, d)                                                                             \
    AL void al_gabor_##p##_##c##_##d(af *out, const af *in) { al_gabor(p, c, d, in, out); }
#define GABOR_DERIVS(p, c) GABOR(p, c, 0) GABOR(p, c, 1)
GABOR_DERIVS(0, 1)
GABOR_DERIVS(0, 3)
GABOR_DERIVS(1, 1)
GABOR_DERIVS(1, 3)

#endif
#endif
