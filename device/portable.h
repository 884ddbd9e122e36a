/* SPDX-License-Identifier: Apache-2.0 */
/* One source, four compilers: C (gcc, clang), OpenCL C 1.2, CUDA (NVRTC) and HIP. Everything that
 * they spell differently is here.
 *
 * K_CPU (always set for C; an option for OpenCL) says that eight lanes of one work-item are cheap.
 * K_MODE selects the arithmetic: 0 strict (docs/reference/protocol.md Part II), 1 device, 2 fast. */
#ifndef K_PORTABLE_H
#define K_PORTABLE_H

#ifndef K_MODE
#define K_MODE 0
#endif
#define K_STRICT (K_MODE == 0)
#define K_FAST   (K_MODE == 2)

#if defined(__OPENCL_C_VERSION__) || defined(__OPENCL_VERSION__)
#define K_OPENCL 1
#if K_STRICT
#pragma OPENCL FP_CONTRACT OFF
#endif
#define K_FN       static inline
#define K_INLINE   static inline
#define K_NOINLINE __attribute__((noinline)) static
#define K_CALL     K_NOINLINE
#define K_UNROLL
#define K_GLOBAL      __global
#define K_CONST       __constant
#define K_AS_UINT(x)  as_uint(x)
#define K_AS_FLOAT(x) as_float(x)
#define K_MULHI(a, b) mul_hi((uint)(a), (uint)(b))
#define K_SQRT(x)     sqrt(x)
#define K_FLOOR(x)    floor(x)
#define K_RINT(x)     rint(x)
#define K_ABS(x)      fabs(x)
#define K_LONG        long
#define K_CLZ(x)      clz(x)
#define K_POPCOUNT(x) popcount(x)
#define K_LIKELY(x)   (x)
#define K_UNLIKELY(x) (x)
typedef float8 k_f8;
typedef int8 k_i8;

#elif defined(__CUDACC__) || defined(__CUDACC_RTC__) || defined(__HIP__) || defined(__HIPCC_RTC__)
#define K_CUDA     1
typedef unsigned int uint;
#define K_FN       static __device__ __forceinline__
#define K_INLINE   K_FN
#define K_NOINLINE K_FN /* a call would put the scene's addresses into memory */
#define K_CALL     static __device__ __noinline__ /* for functions that take no scene */
#define K_UNROLL   _Pragma("unroll")
#define K_GLOBAL
#define K_CONST       static __device__ const
#define K_AS_UINT(x)  __float_as_uint(x)
#define K_AS_FLOAT(x) __uint_as_float(x)
#define K_MULHI(a, b) __umulhi(a, b)
#if K_STRICT && (defined(__HIP__) || defined(__HIPCC_RTC__))
#define K_MENDS_ROOTS 1
#define K_SQRT(x)     k_sqrt_rounded(x)
#else
#define K_SQRT(x) sqrtf(x)
#endif
#define K_FLOOR(x)    floorf(x)
#define K_RINT(x)     rintf(x)
#define K_ABS(x)      fabsf(x)
#define K_LONG        long long
#define K_CLZ(x)      ((uint)__clz((int)(x)))
#define K_POPCOUNT(x) ((uint)__popc(x))
#define K_LIKELY(x)   (x)
#define K_UNLIKELY(x) (x)

#else
#define K_NATIVE   1
#define K_CPU      1
typedef __SIZE_TYPE__ size_t;
typedef unsigned int uint;
#define K_FN       static inline __attribute__((always_inline))
#define K_INLINE   K_FN
#define K_NOINLINE static __attribute__((noinline))
#define K_CALL     K_NOINLINE
#define K_UNROLL
#define K_GLOBAL
#define K_CONST       static const
#define K_MULHI(a, b) ((uint)(((unsigned long long)(uint)(a) * (uint)(b)) >> 32))
#define K_SQRT(x)     __builtin_sqrtf(x)
#define K_FLOOR(x)    __builtin_floorf(x)
#define K_RINT(x)     __builtin_rintf(x)
#define K_ABS(x)      __builtin_fabsf(x)
#define K_LONG        long long
#define K_CLZ(x)      ((uint)__builtin_clz(x))
#define K_POPCOUNT(x) ((uint)__builtin_popcount(x))
#define K_LIKELY(x)   __builtin_expect(!!(x), 1)
#define K_UNLIKELY(x) __builtin_expect(!!(x), 0)
typedef float k_f8 __attribute__((vector_size(32)));
typedef int k_i8 __attribute__((vector_size(32)));
K_FN uint k_as_uint(float x)
{
    union {
        float f;
        uint u;
    } c;
    c.f = x;
    return c.u;
}
K_FN float k_as_float(uint x)
{
    union {
        uint u;
        float f;
    } c;
    c.u = x;
    return c.f;
}
#define K_AS_UINT(x)  k_as_uint(x)
#define K_AS_FLOAT(x) k_as_float(x)
#endif

/* 1 / sqrt(x): in mode fast one instruction, which not every compiler makes of a division. */
#if K_FAST && defined(K_CUDA)
#define K_RSQRT(x) rsqrtf(x)
#else
#define K_RSQRT(x) (1.0f / K_SQRT(x))
#endif

/* c - a b, rounded alike wherever it stands. Outside strict compilers may contract, and they do
 * so at one place and not at another: there it is asked for, if there is an instruction. */
#if K_STRICT
#define K_LESS_PRODUCT(c, a, b) ((c) - (a) * (b))
#elif defined(K_CUDA)
#define K_LESS_PRODUCT(c, a, b) fmaf(-(a), b, c)
#elif defined(K_OPENCL) && defined(FP_FAST_FMAF)
#define K_LESS_PRODUCT(c, a, b) fma(-(a), b, c)
#elif defined(K_NATIVE) &&                                                                         \
    (defined(__FMA__) || defined(__FP_FAST_FMAF) || defined(__ARM_FEATURE_FMA) ||                  \
     defined(__NVPTX__) || defined(__AMDGCN__) || defined(__SPIR__))
#define K_LESS_PRODUCT(c, a, b) __builtin_fmaf(-(a), b, c)
#else
#define K_LESS_PRODUCT(c, a, b) ((c) - (a) * (b))
#endif

/* Do functions that large kernels need in many places stand once in them? On GPUs whose divisions
 * and roots are rounded to the last bit, which are an instruction or two in mode fast. */
#if defined(K_CUDA) && !K_FAST
#define K_APART 1
#else
#define K_APART 0
#endif

/* A function that another module has. */
#ifdef K_CUDA
#define K_EXTERN extern "C" __device__
#else
#define K_EXTERN extern
#endif

/* Where the sample loop starts counting: 0. On NVIDIA's devices it is read from memory at an
 * address that differs between lanes, so that ptxas (CUDA 13.0, driver 580.159, sm_90) keeps a
 * counter in each lane. It takes the lanes of a warp for reconverged after the inlined path, drops
 * a __syncwarp() there, and counts in one uniform register (UIADD3 UR4, UR4, 1): lanes that come
 * late lose samples. docs/results/ has the evidence. */
#if (defined(K_CUDA) && !defined(__HIP__) && !defined(__HIPCC_RTC__)) ||                           \
    (defined(K_OPENCL) && defined(__NV_CL_C_VERSION))
#define K_FIRST_SAMPLE(launch, x) ((launch)->zero[(x)&1u])
#else
#define K_FIRST_SAMPLE(launch, x) 0u
#endif

/* Work-items may share a pixel (k_launch.slices), each with some of its samples: then they add to
 * the film in one step of the memory. */
#if (defined(__CUDACC_RTC__) && !defined(__HIPCC_RTC__)) ||                                        \
    (defined(K_LINKED) && defined(__NVPTX__))
#define K_SLICED         1
#define K_SLICE          blockIdx.z
#define K_ADD_LONG(p, x) ((void)atomicAdd((unsigned long long *)(p), (unsigned long long)(x)))
#else
#define K_SLICED 0
#endif

/* Is x true in any item of the work-group? All of them ask, until it is not. On NVIDIA's GPUs,
 * whose warps then stay together; elsewhere x itself: items do not wait for each other. */
#if defined(__CUDACC_RTC__) && !defined(__HIPCC_RTC__)
#define K_ANY_OF_GROUP(x) __syncthreads_or(x)
#elif defined(K_LINKED) && defined(__NVPTX__)
#define K_ANY_OF_GROUP(x) __nvvm_bar0_or(x)
#else
#define K_ANY_OF_GROUP(x) (x)
#endif

/* In one step of the memory: stores `to` where the word is `from`. What it was before. */
#if defined(K_OPENCL) && defined(K_SHADERS_LINKED)
/* To SPIR-V, by its own name: llvm-spirv 15 has no atomic_cmpxchg of opaque pointers. Scope and
 * order: the device, relaxed. */
uint __attribute__((overloadable))
__spirv_AtomicCompareExchange(volatile __global uint *word, int scope, int equal, int unequal,
                              uint to, uint from);
#define K_SWAP(word, from, to) __spirv_AtomicCompareExchange(word, 1, 0, 0, to, from)
#elif defined(K_OPENCL)
#define K_SWAP(word, from, to) atomic_cmpxchg((volatile K_GLOBAL uint *)(word), from, to)
#elif defined(K_CUDA)
#define K_SWAP(word, from, to) atomicCAS(word, from, to)
#else
K_FN uint k_swap(uint *word, uint from, uint to)
{
    uint was = __atomic_load_n(word, __ATOMIC_RELAXED); /* spares the cache's line */
    if (was == from)
        (void)__atomic_compare_exchange_n(word, &was, to, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return was;
}
#define K_SWAP(word, from, to) k_swap(word, from, to)
#endif

/* Adds 1 to words[i] in one step of the memory. What it was before. On NVIDIA's GPUs the lanes of a
 * warp that are here with the same i take that step together, one for all: many at one address wait
 * for each other. */
#if ((defined(__CUDACC_RTC__) && !defined(__HIPCC_RTC__)) || defined(__NVPTX__)) &&                \
    __CUDA_ARCH__ >= 700
K_FN uint k_count(uint *words, uint i)
{
    const uint peers = __match_any_sync(__activemask(), i), first = (uint)__ffs((int)peers) - 1u;
    uint lane, before, was = 0;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(before));
    if (lane == first)
        was = atomicAdd(words + i, (uint)__popc(peers));
    return __shfl_sync(peers, was, (int)first) + (uint)__popc(peers & before);
}
#define K_COUNT_UP(words, i) k_count(words, i)
#define K_OR(word, mask)     ((void)atomicOr(word, mask))
#elif defined(K_OPENCL)
#define K_OR(word, mask) ((void)atomic_or((volatile K_GLOBAL uint *)(word), mask))
#ifdef K_SHADERS_LINKED /* nor atomic_inc: as K_SWAP */
uint __attribute__((overloadable))
__spirv_AtomicIIncrement(volatile __global uint *word, int scope, int order);
#define K_COUNT_UP(words, i) __spirv_AtomicIIncrement((volatile K_GLOBAL uint *)(words) + (i), 1, 0)
#else
#define K_COUNT_UP(words, i) atomic_inc((volatile K_GLOBAL uint *)(words) + (i))
#endif
#elif defined(K_CUDA)
#define K_COUNT_UP(words, i) atomicAdd((words) + (i), 1u)
#define K_OR(word, mask)     ((void)atomicOr(word, mask))
#else
#define K_OR(word, mask)     ((void)__atomic_fetch_or(word, mask, __ATOMIC_RELAXED))
#define K_COUNT_UP(words, i) __atomic_fetch_add((words) + (i), 1u, __ATOMIC_RELAXED)
#endif

/* Four words at once from an address that is a multiple of 16. */
struct k_f4 {
    float x, y, z, w;
};
K_FN struct k_f4 k_load4(K_GLOBAL const float *p)
{
    struct k_f4 r;
#if defined(K_OPENCL)
    float4 v = *(K_GLOBAL const float4 *)p;
#elif defined(K_CUDA)
    float4 v = *(const float4 *)p;
#endif
#ifdef K_NATIVE
    r.x = p[0];
    r.y = p[1];
    r.z = p[2];
    r.w = p[3];
#else
    r.x = v.x;
    r.y = v.y;
    r.z = v.z;
    r.w = v.w;
#endif
    return r;
}
/* AMD's v_sqrt_f32 is one unit off at times, and ROCm 5.2's hipRTC ignores the option that asks for
 * more. s is within one unit of the root of x, x 0 or in [2^-96, inf]: the neighbour that passes
 * Tuckerman's test, s (s - ulp) < x <= s (s + ulp) (Markstein, IBM J. Res. Dev. 34(1), 1990), is
 * the root correctly rounded. Zeros, infinity and NaN stay what they are. */
#ifdef K_MENDS_ROOTS
K_FN float k_sqrt_mend(float x, float s)
{
    float below = K_AS_FLOAT(K_AS_UINT(s) - 1u), above = K_AS_FLOAT(K_AS_UINT(s) + 1u);
    float root = s;
    if (__builtin_fmaf(-below, s, x) <= 0.0f)
        root = below;
    if (__builtin_fmaf(-above, s, x) > 0.0f)
        root = above;
    return root;
}
#endif
#if defined(K_MENDS_ROOTS) && defined(K_CUDA)
K_FN float k_sqrt_rounded(float x)
{
    float scaled = x < 0x1p-96f ? x * 0x1p32f : x;
    float root = k_sqrt_mend(scaled, sqrtf(scaled));
    return x < 0x1p-96f ? root * 0x1p-16f : root;
}
#endif

/* Memory that will be read soon. */
#ifdef K_NATIVE
#define K_SOON(p) __builtin_prefetch(p)
#else
#define K_SOON(p) ((void)(p))
#endif

#define K_NONE 0xFFFFFFFFu
#define K_INF  K_AS_FLOAT(0x7F800000u)

#endif
