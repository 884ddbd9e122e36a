/* SPDX-License-Identifier: Apache-2.0 */
/* A device in software: runs kernels given as LLVM modules on CPU threads and, on request, checks
 * what they and their host program do. The drivers of this folder (Level Zero's, HIP's) are thin
 * fronts of it: they translate their API's calls, no more. Code generation is libLLVM-15's, opened
 * at run time (backends/llvm/).
 *
 * Order. Work is queued and runs when somebody waits for it: soft_wait, or an entry of this header
 * that says so. Commands of one stream run, and are ordered, as they were queued. Between streams
 * there is no order but that of soft_stream_after: what only happens to run in the right order is
 * reported as a missing wait.
 *
 * Threads: one soft_device is used by one thread at a time; it starts its own for launches.
 *
 * Failures are statuses (base.h). A finding of a check is kept, printed, and makes the waiting call
 * fail with STATUS_DEVICE, as a fault on real hardware would. */
#ifndef ISOPHOTE_SOFT_EXECUTOR_H
#define ISOPHOTE_SOFT_EXECUTOR_H

#include "base.h"

/* ---- checks -------------------------------------------------------------------------------- */

enum soft_check {
    SOFT_BOUNDS = 1 << 0,        /* each access lies inside one live object of its address space */
    SOFT_FREED = 1 << 1,         /* ... that was not freed; frees of memory that work still uses */
    SOFT_UNINITIALISED = 1 << 2, /* loads of bytes nobody wrote: global, local, private arrays */
    SOFT_RACES = 1 << 3,         /* two work-items, one byte, one of them writes, no barrier */
    SOFT_WAITS = 1 << 4,         /* two commands, or a command and the host, with no order */
    SOFT_ARGUMENTS = 1 << 5,     /* sizes and kinds of kernel arguments; unset ones */
    SOFT_ALL = (1 << 6) - 1,
    SOFT_OVERRUN = 1 << 6 /* only as a finding: a launch passed its budget of time */
};
/* "bounds,races", "all", "" -> bits. ARG names the first word that is none. */
enum status soft_checks_parse(const char *text, unsigned *checks, struct error *err);
const char *soft_check_name(enum soft_check c); /* "bounds" */

struct soft_finding {
    enum soft_check check;
    char text[400]; /* "out of bounds: k_render writes 4 bytes at 16 past the end of film ..." */
};

/* ---- a device ------------------------------------------------------------------------------ */

struct soft_device;

/* A hash of the executor's sources: machine code that other sources made is stale. */
extern const char soft_sources[33];

struct soft_options {
    unsigned checks;        /* of enum soft_check; 0: none, and full speed */
    unsigned threads;       /* 0: parallel_threads(); 1 while races or uninitialised are checked */
    uint64_t memory_bytes;  /* of the device; 0: half of this machine's */
    double launch_budget_s; /* a longer launch is stopped and fails; 0: none. Looked at between
                               work-items and, where there are checks, at accesses */
    unsigned kernel_group;  /* work-items of a group that kernels take, fewer than the device says;
                              0: SOFT_GROUP_MAX */
    /* Called for each finding as it is made; NULL: one line on standard error. */
    void (*report)(void *ctx, const struct soft_finding *f);
    void *report_ctx;
};

/* The options that the environment asks for: ISOPHOTE_SOFT_CHECKS (as soft_checks_parse),
 * ISOPHOTE_SOFT_FINDINGS (a file that findings are appended to), ISOPHOTE_SOFT_MEMORY (bytes),
 * ISOPHOTE_SOFT_WATCHDOG (seconds a launch may take), ISOPHOTE_SOFT_KERNEL_GROUP (work-items). */
enum status soft_options_environment(struct soft_options *out, struct error *err);

/* MISSING when there is no libLLVM-15, with how to get it. */
enum status soft_device_open(const struct soft_options *o, struct soft_device **out,
                             struct error *err);
/* Waits for nothing; frees all memory, modules and streams. Accepts NULL. */
void soft_device_close(struct soft_device *d);
unsigned soft_device_checks(const struct soft_device *d);
uint64_t soft_device_memory(const struct soft_device *d, uint64_t *used);
/* Work-items of a group that a kernel takes. */
unsigned soft_kernel_group(const struct soft_device *d);
/* Findings so far, oldest first; at most SOFT_FINDINGS_MAX are kept, *count goes on. */
enum { SOFT_FINDINGS_MAX = 64 };
const struct soft_finding *soft_findings(const struct soft_device *d, size_t *count);
/* A driver's own finding (a handle destroyed while in use, an argument of the wrong size). */
void soft_finding_add(struct soft_device *d, enum soft_check check, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- memory -------------------------------------------------------------------------------- */

enum soft_memory { SOFT_DEVICE_MEMORY, SOFT_HOST_MEMORY, SOFT_SHARED_MEMORY };

struct soft_allocation {
    void *base;
    size_t size;
    enum soft_memory kind;
    unsigned id; /* from 1, never used twice */
};

/* `align` a power of two or 0. Device memory is host memory underneath, which only copies should
 * touch; host and shared memory count as written (the host may write them unseen). LIMIT when the
 * device has no room, with both numbers. */
enum status soft_alloc(struct soft_device *d, enum soft_memory kind, size_t size, size_t align,
                       void **out, struct error *err);
/* ARG when `p` is no allocation's base. With checks the addresses stay reserved, so that later uses
 * are found. Work that still uses it: a finding. */
enum status soft_free(struct soft_device *d, void *p, struct error *err);
/* The live allocation that holds p; false: none (the host's own memory, or nothing). */
bool soft_allocation_find(const struct soft_device *d, const void *p, struct soft_allocation *out);

/* ---- modules ------------------------------------------------------------------------------- */

struct soft_module;

enum soft_argument_kind {
    SOFT_VALUE,  /* `size` bytes, a by-value struct included */
    SOFT_GLOBAL, /* a pointer to memory of the device (address spaces 1, 2, 4, and 0 for CUDA) */
    SOFT_LOCAL,  /* a pointer to work-group memory: a size at launch, no value */
};
struct soft_argument {
    enum soft_argument_kind kind;
    size_t size, align; /* of the value, or of the pointer */
};
struct soft_kernel {
    const char *name;
    const struct soft_argument *arguments;
    size_t argument_count;
    size_t local_bytes; /* of the module's own work-group variables */
    bool barriers;      /* it, or what it calls, has barriers */
};

/* What is taken, told apart by its first bytes:
 *   LLVM bitcode or textual IR (of LLVM 15 or older),
 *   SPIR-V (translated by llvm-spirv-15 -r in a child process),
 *   what soft_module_native gave (refused as BUILD if made for other checks or another machine).
 * The module is for a 64-bit little-endian target whose pointers all have 64 bits: spir64, x86_64
 * and nvptx64 are. Address spaces: 3 is work-group memory, all others are flat. Kernels are the
 * functions of calling convention spir_kernel, amdgpu_kernel or ptx_kernel, those named in
 * nvvm.annotations, and those named in `kernels` (NULL-terminated, or NULL: none). Parameters with
 * byval are values.
 * What modules may call: LLVM intrinsics of arithmetic and memory, OpenCL C's work-item functions
 * and builtins in soft/builtins.c's tables, llvm.nvvm.read.ptx.sreg.* and llvm.nvvm.barrier0, and
 * for preludes of one's own:
 *   unsigned soft_item(unsigned what, unsigned axis)   enum soft_item below
 *   void soft_barrier(void)                            work-group barrier, all memory
 *   sinf, fmodf, exp ...: C's libm, by name (soft/runtime.c lists them).
 * BUILD when it does not parse or verify, or calls something else (named). `log` (may be NULL)
 * gets what the compiler said. */
enum status soft_module_load(struct soft_device *d, const void *data, size_t size,
                             const char *const *kernels, struct soft_module **out, char *log,
                             size_t log_size, struct error *err);
/* Work that still uses it is run first. Accepts NULL. */
void soft_module_free(struct soft_module *m);
size_t soft_module_kernel_count(const struct soft_module *m);
const struct soft_kernel *soft_module_kernel(const struct soft_module *m, size_t index);
const struct soft_kernel *soft_module_find(const struct soft_module *m,
                                           const char *name); /* NULL */
/* A module-scope variable in global memory, NULL if there is none of this name. */
void *soft_module_variable(const struct soft_module *m, const char *name, size_t *size);
/* The compiled module, to be kept on disk; lives as long as the module. */
void soft_module_native(const struct soft_module *m, const void **data, size_t *size);

enum soft_item {                       /* what soft_item() answers for an axis 0..2 */
                 SOFT_ITEM_LOCAL_ID,   /* threadIdx */
                 SOFT_ITEM_GROUP_ID,   /* blockIdx */
                 SOFT_ITEM_LOCAL_SIZE, /* blockDim */
                 SOFT_ITEM_GROUPS,     /* gridDim */
                 SOFT_ITEM_GLOBAL_ID,
                 SOFT_ITEM_GLOBAL_SIZE,
                 SOFT_ITEM_GLOBAL_OFFSET
};

/* ---- streams, points, waiting ---------------------------------------------------------------- */

/* A stream is a sequence of commands. A point is a place in a stream: "all that was queued so far".
 * Points stay valid, and may be waited for, as long as the device is open. */
struct soft_stream;
struct soft_point {
    uint64_t command; /* 0: the beginning of time, which is always reached */
};

enum status soft_stream_open(struct soft_device *d, struct soft_stream **out, struct error *err);
void soft_stream_close(struct soft_stream *s); /* waits for its commands; accepts NULL */
struct soft_point soft_stream_point(struct soft_stream *s);
/* Commands queued on `s` from now on come after `p`. */
void soft_stream_after(struct soft_stream *s, struct soft_point p);
/* Runs all that must have run for `p` and lets the host know of it. DEVICE when there was a finding
 * or a command failed since the last wait: the first one's text. */
enum status soft_wait(struct soft_device *d, struct soft_point p, struct error *err);
/* All streams. */
enum status soft_wait_all(struct soft_device *d, struct error *err);
bool soft_reached(const struct soft_device *d, struct soft_point p); /* has run; queues nothing */
/* The host has waited for it, or for something that came after it. */
bool soft_host_knows(const struct soft_device *d, struct soft_point p);
/* When `p` was reached, and when the command before it in its stream began and ended, in
 * nanoseconds of a clock that only goes forward; false before it has run. Any output may be NULL.
 */
bool soft_times(const struct soft_device *d, struct soft_point p, uint64_t *reached,
                uint64_t *start, uint64_t *end);

/* ---- commands -------------------------------------------------------------------------------- */

struct soft_value {   /* one argument of a launch */
    const void *data; /* `size` bytes, copied when queued; unused for SOFT_LOCAL */
    size_t size;      /* must be the argument's; for SOFT_LOCAL: bytes wanted; 0: was never set */
};
struct soft_launch {
    const struct soft_module *module;
    const struct soft_kernel *kernel;
    uint32_t groups[3], group[3];    /* all > 0 */
    uint32_t offset[3];              /* of global ids */
    uint32_t dynamic_local;          /* bytes of `extern __shared__` arrays */
    const struct soft_value *values; /* kernel->argument_count */
};
enum { SOFT_GROUP_MAX = 1024, SOFT_LOCAL_MAX = 64 << 10 };

/* ARG (and a finding, when checked) for wrong argument sizes; UNSUPPORTED for a group that is too
 * large. Runs when waited for. */
enum status soft_launch(struct soft_stream *s, const struct soft_launch *l, struct error *err);
/* Either end may be device memory or the host's own; the bytes are read when the command runs, so
 * the host must leave both alone until it has waited. Checked: bounds of allocations, changes of
 * the source before the copy, and copying what nobody wrote counts as not written there. */
enum status soft_copy(struct soft_stream *s, void *to, const void *from, size_t bytes,
                      struct error *err);
/* The pattern (copied; `pattern_size` divides `bytes`) over and over. */
enum status soft_fill(struct soft_stream *s, void *to, const void *pattern, size_t pattern_size,
                      size_t bytes, struct error *err);

#endif
