/* SPDX-License-Identifier: Apache-2.0 */
/* host.h: calls of what this library lacks (native texts only). `io` holds the operands and the
 * rows of places, `results` begins in the same words after them (emit_c.c). */
#ifdef K_NATIVE
struct a_host {
    void *ctx;
    void (*call)(void *ctx, uint call, uint point, uint *io, uint *rows);
};
#endif

/* The word before. */
#ifdef K_OPENCL
#define A_ATOMIC_ADD(word, n) atomic_add(word, n)
#elif defined(K_CUDA)
#define A_ATOMIC_ADD(word, n) atomicAdd(word, n)
#else
#define A_ATOMIC_ADD(word, n) __atomic_fetch_add(word, n, __ATOMIC_RELAXED)
#endif
