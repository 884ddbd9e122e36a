/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel's HIP dialect needs of a HIP or CUDA header, for clang without one: qualifiers,
 * the work-item's place, and the few functions that portable.h's branch for both calls. Targets:
 * amdgcn (tools/code-objects), and nvptx64, from which the HIP runtime in software translates
 * (backends/soft/): its intrinsics say what a work-item asks. */
#ifndef ISOPHOTE_HIP_PRELUDE_H
#define ISOPHOTE_HIP_PRELUDE_H

#define __device__      __attribute__((device))
#define __global__      __attribute__((global))
#define __shared__      __attribute__((shared))
#define __constant__    __attribute__((constant))
#define __noinline__    __attribute__((noinline))
#define __forceinline__ __inline__ __attribute__((always_inline))

#ifndef __HIP__
#define __CUDACC__ 1 /* NVIDIA's wrapper header would */
#endif

typedef __SIZE_TYPE__ size_t;

struct prelude_xyz {
    unsigned x, y, z;
};
struct __attribute__((aligned(16))) float4 {
    float x, y, z, w;
};
#define PRELUDE_FN static __device__ __forceinline__

#ifdef __AMDGCN__
#define PRELUDE_XYZ(builtin)                                                                       \
    {                                                                                              \
        builtin##_x(), builtin##_y(), builtin##_z()                                                \
    }
#define PRELUDE_LOCAL_ID   PRELUDE_XYZ(__builtin_amdgcn_workitem_id)
#define PRELUDE_GROUP_ID   PRELUDE_XYZ(__builtin_amdgcn_workgroup_id)
#define PRELUDE_LOCAL_SIZE PRELUDE_XYZ(__builtin_amdgcn_workgroup_size)
#else
#define PRELUDE_XYZ(what)                                                                          \
    {                                                                                              \
        (unsigned)__nvvm_read_ptx_sreg_##what##_x(), (unsigned)__nvvm_read_ptx_sreg_##what##_y(),  \
            (unsigned)__nvvm_read_ptx_sreg_##what##_z()                                            \
    }
#define PRELUDE_LOCAL_ID   PRELUDE_XYZ(tid)
#define PRELUDE_GROUP_ID   PRELUDE_XYZ(ctaid)
#define PRELUDE_LOCAL_SIZE PRELUDE_XYZ(ntid)
#endif

// clang-format off
PRELUDE_FN prelude_xyz prelude_local_id() { return PRELUDE_LOCAL_ID; }
PRELUDE_FN prelude_xyz prelude_group_id() { return PRELUDE_GROUP_ID; }
PRELUDE_FN prelude_xyz prelude_local_size() { return PRELUDE_LOCAL_SIZE; }
#define threadIdx prelude_local_id()
#define blockIdx  prelude_group_id()
#define blockDim  prelude_local_size()
#ifdef __AMDGCN__ /* elsewhere clang has it built in */
PRELUDE_FN void __syncthreads() { __builtin_amdgcn_s_barrier(); }
#endif

PRELUDE_FN unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
PRELUDE_FN float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
PRELUDE_FN unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
PRELUDE_FN int __ffs(int x) { return __builtin_ffs(x); }
PRELUDE_FN int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
PRELUDE_FN int __popc(unsigned x) { return __builtin_popcount(x); }
#ifdef __NVPTX__
PRELUDE_FN unsigned __activemask()
{
    unsigned lanes;
    asm volatile("activemask.b32 %0;" : "=r"(lanes));
    return lanes;
}
PRELUDE_FN unsigned __match_any_sync(unsigned lanes, unsigned x)
{
    unsigned same;
    asm volatile("match.any.sync.b32 %0, %1, %2;" : "=r"(same) : "r"(x), "r"(lanes));
    return same;
}
PRELUDE_FN unsigned __shfl_sync(unsigned lanes, unsigned x, int from)
{
    unsigned its;
    asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, %3;" : "=r"(its) : "r"(x), "r"(from), "r"(lanes));
    return its;
}
#endif
PRELUDE_FN unsigned atomicAdd(unsigned *at, unsigned n) { return __atomic_fetch_add(at, n, __ATOMIC_RELAXED); }
PRELUDE_FN unsigned long long atomicAdd(unsigned long long *at, unsigned long long n) { return __atomic_fetch_add(at, n, __ATOMIC_RELAXED); }
PRELUDE_FN unsigned atomicCAS(unsigned *at, unsigned from, unsigned to)
{
    __atomic_compare_exchange_n(at, &from, to, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return from;
}
#ifdef PRELUDE_APPROXIMATE_ROOTS /* NVIDIA's instructions, as NVRTC's --use_fast_math has them */
PRELUDE_FN float sqrtf(float x) { return __nvvm_sqrt_approx_ftz_f(x); }
PRELUDE_FN float rsqrtf(float x) { return __nvvm_rsqrt_approx_ftz_f(x); }
#else
PRELUDE_FN float sqrtf(float x) { return __builtin_sqrtf(x); }
PRELUDE_FN float rsqrtf(float x) { return 1.0f / sqrtf(x); }
#endif
PRELUDE_FN float fminf(float a, float b) { return __builtin_fminf(a, b); }
PRELUDE_FN float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
PRELUDE_FN float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
PRELUDE_FN float floorf(float x) { return __builtin_floorf(x); }
PRELUDE_FN float rintf(float x) { return __builtin_rintf(x); }
PRELUDE_FN float fabsf(float x) { return __builtin_fabsf(x); }
// clang-format on

#endif
