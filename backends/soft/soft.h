/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the executor: what its files share. */
#ifndef ISOPHOTE_SOFT_H
#define ISOPHOTE_SOFT_H

#include "executor.h"
#include "llvm/offers.h"

#include <pthread.h>
#include <setjmp.h>

/* ---- memory (memory.c) ----------------------------------------------------------------------- */

/* Who touched four bytes last. Two readers suffice: when anybody but a writer read, one of two
 * different readers is not the writer. */
struct access {
    uint32_t command; /* 0: nobody */
    uint32_t item;    /* group * group size + place in the group */
    uint16_t epoch;   /* barriers that its group had passed */
    uint8_t mask;     /* bytes of the four */
    uint8_t atomic;
};
struct cell {
    struct access write, read[2];
};

/* Memory that kernels may touch. Shadows are made with the memory when a check needs them. */
struct object {
    unsigned char *base;
    size_t size, reserved; /* reserved: what mmap gave, guard page included; 0: not ours */
    enum soft_memory kind;
    unsigned id;
    bool freed, constant;
    const char *name;       /* of a module's variable, else NULL */
    unsigned char *written; /* a byte for each: 1 once it was written; NULL: all of it was */
    struct cell *cells;     /* one for four bytes; NULL: races are not looked for */
};

struct memory {
    struct object **objects; /* by address */
    size_t count, capacity;
    uint64_t used, limit;
    unsigned next_id;
};

/* The object that p lies in, freed ones too; NULL. */
struct object *memory_find(const struct memory *m, const void *p);
/* The object nearest to p, for messages; NULL when there is none. */
struct object *memory_nearest(const struct memory *m, const void *p);
enum status memory_insert(struct memory *m, struct object *o, struct error *err);
void memory_remove(struct memory *m, struct object *o);
void memory_free_all(struct memory *m);
/* "allocation 3 (4096 bytes)", "the variable table (64 bytes)" */
void object_describe(const struct object *o, char *buf, size_t size);
/* Zeroed pages that take no room until they are touched; NULL when there is no address space. */
void *pages_map(size_t size);
void pages_unmap(void *p, size_t size);

/* ---- modules (module.c, lower.c, instrument.c, native.c) ------------------------------------ */

struct place {                   /* of an access, for findings */
    const char *function, *file; /* file: "" where the module has no line table */
    uint32_t line;
};
struct variable {
    const char *name; /* the symbol */
    size_t size;
    bool constant;
    struct object object;
};
typedef void (*kernel_entry)(
    void *const *arguments); /* one work-item; of each argument the address */

struct soft_module {
    struct soft_device *device;
    struct soft_module *next;
    struct arena arena;
    struct soft_kernel *kernels;
    kernel_entry *entries;
    size_t kernel_count;
    struct place *places;
    size_t place_count;
    struct variable *variables;
    size_t variable_count;
    size_t local_bytes; /* of all work-group variables */
    llvm_jit jit;
    void *native;
    size_t native_size;
};

/* A module while it is made from IR. */
struct making {
    const struct llvm_api *llvm;
    llvm_context context;
    llvm_module module;
    llvm_builder builder;
    llvm_machine machine;
    llvm_layout layout;
    unsigned checks;
    struct soft_module *out;
    size_t place_capacity;
    struct error *err;
    llvm_type void_type, i32, i64, pointer;
};
/* lower.c: kernels found, calls and address spaces turned into this machine's, entries written. */
enum status module_lower(struct making *m, const char *const *kernels);
/* builtins.c: calls of OpenCL C's functions and of targets' intrinsics. */
enum status builtins_lower(struct making *m);
/* instrument.c: every access asks the runtime (checks.c) first. */
enum status module_instrument(struct making *m);
/* Every instruction of a function, in order; `visit` may erase the one that it is given. */
typedef enum status (*visitor)(struct making *m, llvm_value function, llvm_value instruction);
enum status instructions_visit(struct making *m, llvm_value function, visitor visit);
/* void NAME.entry(ptr arguments): loads each argument from its address and calls the kernel. */
enum status kernel_entry_write(struct making *m, const struct soft_kernel *k);
/* The runtime function `name`, declared. */
llvm_value runtime_function(struct making *m, const char *name, llvm_type result,
                            llvm_type *parameters, unsigned count);
llvm_value call_build(struct making *m, llvm_value function, llvm_value *arguments, unsigned count);
llvm_value flat_pointer(struct making *m,
                        llvm_value p); /* in address space 0, at the builder's place */
/* instrument_structs.c: structs and arrays as values; their shadow goes with them. */
bool struct_moves(const struct making *m,
                  llvm_value value); /* a load's or a call's; before its block is checked */
bool struct_returned(const struct making *m,
                     llvm_value i); /* by a call of a function of this module */
void struct_load_follow(struct making *m, llvm_value load);
void struct_call_follow(struct making *m, llvm_value call, llvm_value place);
void struct_return_follow(struct making *m, llvm_value ret);
/* native.c: the module's description and object code as bytes and back. */
enum status native_write(struct soft_module *m, const void *object, size_t size, struct error *err);
enum status native_read(struct soft_module *m, const void *data, size_t size, const void **object,
                        size_t *object_size, struct error *err);
bool native_is(const void *data, size_t size);
/* What the compiled code may call: names and addresses, ended by a NULL name. */
struct runtime_symbol {
    const char *name;
    void *address;
};
extern const struct runtime_symbol runtime_symbols[]; /* runtime.c */

/* ---- running (group.c, checks.c) ------------------------------------------------------------ */

/* Private memory of one work-item in checked code: a stack with its shadow. */
enum {
    PRIVATE_BYTES = 1 << 20, /* code that no optimiser was at has a variable for everything */
    PRIVATE_GAP = 16,
    SCRATCH_BYTES = 64 << 10,
    RETURNED_BYTES = 16 << 10,
    FIBER_STACK = 512 << 10
};
enum { PRIVATE_NONE, PRIVATE_UNWRITTEN, PRIVATE_WRITTEN }; /* a byte's shadow */
struct private_memory {
    unsigned char *bytes, *shadow; /* PRIVATE_BYTES each */
    size_t used;
};

struct launch { /* a soft_launch as it runs */
    struct soft_device *device;
    const struct soft_module *module;
    const struct soft_kernel *kernel;
    kernel_entry entry;
    uint32_t command;
    uint32_t groups[3], group[3], offset[3];
    uint32_t group_size;
    unsigned char *values; /* all arguments, each at its place */
    size_t *value_at;
    size_t *local_sizes; /* SOFT_LOCAL arguments */
    uint32_t dynamic_local;
    double deadline_s; /* 0: none */
    atomic_bool stop;
};

struct fiber;
struct worker { /* a thread that runs work-groups */
    struct launch *launch;
    uint32_t group[3], local[3];
    uint32_t group_index, item, epoch;
    unsigned char *local_bytes, *local_shadow; /* SOFT_LOCAL_MAX each; shadow as private memory's */
    struct cell *local_cells;
    struct private_memory own, *private;
    struct fiber *fibers;
    size_t fiber_count;
    struct fiber *fiber;           /* that runs; NULL: no fibers */
    unsigned char *scratch;        /* stands for memory that may not be touched */
    bool returned[RETURNED_BYTES]; /* the bytes of the struct that a function gave back: written? */
    jmp_buf out;
    void **arguments;
    struct object *last; /* where the last global access was */
    uint64_t accesses;
    bool trapped;
};
extern _Thread_local struct worker *worker_self;

void launch_run(struct launch *l);
struct worker *workers_make(unsigned count, unsigned checks);
void workers_free(struct worker *w, unsigned count);
void fiber_yield(struct worker *w, uint32_t place); /* at a barrier */
/* Has the launch ended early, or does its budget end now? The first to see that reports it. */
bool launch_stops(struct launch *l);

/* checks.c: what compiled code calls. */
void *soft_check(void *p, uint64_t size_and_how, uint32_t place);
void soft_memory_copy(void *to, const void *from, uint64_t size, uint32_t place);
void soft_memory_set(void *to, uint32_t value, uint64_t size, uint32_t place);
/* The shadow of a struct that was moved as a value: to memory from memory (NULL: from what was
 * returned) at `offset`; and from memory (NULL: all is written) to what is returned. */
void soft_shadow_move(void *to, const void *from, uint64_t offset, uint64_t size);
void soft_shadow_return(const void *from, uint64_t size);
void soft_returned_check(uint64_t size, uint32_t place); /* what was returned is read */
uint64_t soft_private_enter(void);
void soft_private_leave(uint64_t mark);
void *soft_private_make(uint64_t size, uint64_t align);
/* `size_and_how`: the bytes, and above them */
#define HOW_WRITE   (1ull << 60)
#define HOW_ATOMIC  (1ull << 61)
#define HOW_MOVE    (1ull << 62) /* what nobody wrote may be read: its shadow follows it */
#define HOW_SIZE(x) ((x) & ~(7ull << 60))
/* A command (a copy, a fill) touches [p, p+size) of an object. */
void command_touches(struct soft_device *d, uint32_t command, struct object *o, const void *p,
                     size_t size, bool writes);

/* ---- the device (device.c, stream.c) -------------------------------------------------------- */

struct command;
struct soft_device {
    const struct llvm_api *llvm;
    struct soft_options options;
    struct memory memory;
    struct soft_module *modules;
    struct soft_stream *streams;
    struct command **commands; /* [id - 1] */
    size_t command_count, command_capacity, executed;
    unsigned long launches; /* so far, for $ISOPHOTE_SOFT_FAULT */
    uint32_t *host_clock;   /* by stream: the last command that the host knows to be done */
    size_t stream_count, host_clock_size;
    struct worker *workers;
    unsigned worker_count;
    struct soft_finding findings[SOFT_FINDINGS_MAX];
    size_t finding_count, told; /* told: findings that a wait has failed for */
    struct seen {
        const void *module;
        uint32_t place;
        enum soft_check check;
    } * seen;
    size_t seen_count, seen_capacity;
    char findings_path[1024];
    pthread_mutex_t lock; /* of findings */
};
/* True the first time that this check finds something at this place. */
bool finding_is_new(struct soft_device *d, const struct soft_module *m, uint32_t place,
                    enum soft_check check);
/* a came before b by streams and waits; both are commands' ids. */
bool commands_ordered(const struct soft_device *d, uint32_t a, uint32_t b);
/* Runs what is queued up to and with the command. */
void commands_run(struct soft_device *d, uint64_t id);
bool commands_pending(const struct soft_device *d);
/* A pending command's memory overlaps [p, p + size). */
bool commands_use(const struct soft_device *d, const void *p, size_t size);

#endif
