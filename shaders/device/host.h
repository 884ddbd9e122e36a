/* host.h: calls of what this library lacks (native texts only). `io` holds the operands and the
 * rows of places, `results` begins in the same words after them (emit_c.c). */
#ifdef K_NATIVE
struct a_host {
    void *ctx;
    void (*call)(void *ctx, uint call, uint point, uint *io, uint *rows);
};
#endif
