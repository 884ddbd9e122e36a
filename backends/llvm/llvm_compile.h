/* SPDX-License-Identifier: Apache-2.0 */
/* Bitcode, and IR as text, to machine code or assembly for a target, through libLLVM. */
#ifndef ISOPHOTE_LLVM_COMPILE_H
#define ISOPHOTE_LLVM_COMPILE_H

#include "llvm_api.h"

/* A code generator of LLVM's. LLVM may end the process over a processor that it does not know: only
 * names from here. */
struct llvm_machine_choice {
    const char *architecture; /* as LLVM calls its code generator; NULL: there is none */
    const char *triple, *cpu, *features;
    enum { LLVM_MAKES_OBJECT, LLVM_MAKES_ASSEMBLY, LLVM_MAKES_BITCODE } makes;
    /* For code that is linked in this process: LLVM_CODE_MODEL_FAR. */
    bool far;
    /* Divisions and roots of floats are calls of one copy each, where code in each place would be
     * much to compile: the same bits. */
    bool calls_arithmetic;
    bool gpu;   /* several kinds of memory (llvm_spaces.h) */
    bool lanes; /* what is kept are loops whose turns go abreast (llvm_lanes.h) */
    /* The library's functions are optimised, each by itself, and the rest is written as an optimiser
     * would leave it: few passes do. */
    bool optimised;
    unsigned private_space, call_convention; /* what text of shaders does not say */
    struct { /* attributes that the functions to keep get; key NULL: none */
        const char *key;
        char value[16];
    } attributes[2];
};
/* This machine. */
struct llvm_machine_choice llvm_host_machine(const struct llvm_api *api);
/* NVIDIA's compute capability `arch` (90: 9.0), or the newest below it that this LLVM knows (15
 * stops at 8.6), whose PTX the driver finishes. */
struct llvm_machine_choice llvm_nvptx_machine(const struct llvm_api *api, int arch);
/* AMD's architecture: "gfx90a", or with settings, "gfx90a:sramecc+:xnack-" (which the code does not
 * depend on). Emits a relocatable object, which ld.lld makes a code object of. Each work-item may
 * use `registers` vector registers; 0: what work-groups of 1024 leave it. UNSUPPORTED for one that
 * this LLVM does not know. */
enum status llvm_amdgpu_machine(const struct llvm_api *api, const char *arch, uint32_t registers,
                                struct llvm_machine_choice *out, struct error *err);
/* OpenCL's kind of SPIR-V: bitcode for the translator, not optimised (drivers do that). */
struct llvm_machine_choice llvm_spir_machine(void);

/* A part of the program: bitcode, or IR as text. */
struct llvm_part {
    const char *name; /* for messages */
    const void *data;
    size_t size;
    /* Bitcode of which only what other parts call is taken. It is not verified by itself: it comes
     * with this program. */
    bool library;
};

/* A hash of what makes code of parts: belongs into the key of whatever is kept of it. */
extern const char llvm_compile_sources[33];

/* The parts linked, everything but `keep` made internal, verified, optimised together and emitted:
 * heap at *out, freed by the caller. keep: names, ends with NULL. $ISOPHOTE_LLVM_DUMP is a folder
 * that gets the module after each stage, named for the processor and keep[0]. Fails: BUILD (a part
 * that does not parse or verify, code that the target cannot have, with LLVM's words), UNSUPPORTED
 * (the target), MEMORY. */
enum status llvm_compile(const struct llvm_api *api, const struct llvm_machine_choice *machine,
                         const struct llvm_part *parts, size_t count, const char *const *keep,
                         char **out, size_t *size, struct error *err);

/* ---- machine code of this process ------------------------------------------------------------ */

struct llvm_program;

struct llvm_object {
    const void *data;
    size_t size;
};
/* Links object files of llvm_host_machine in memory. Fails: BUILD. */
enum status llvm_program_load(const struct llvm_api *api, const struct llvm_object *objects,
                              size_t count, struct llvm_program **out, struct error *err);
/* A function's address; NULL if there is none. */
void *llvm_program_symbol(const struct llvm_program *p, const char *name);
void llvm_program_free(struct llvm_program *p); /* takes NULL */

#endif
