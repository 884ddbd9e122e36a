/* SPDX-License-Identifier: Apache-2.0 */
/* One worker process: started with a pipe for its report and one for what it prints, watched,
 * ended; or asked again, through its standard input. */
#ifndef CONFORMANCE_PROCESS_H
#define CONFORMANCE_PROCESS_H

#include "conformance.h"

#include <sys/types.h>

struct process_limits {
    double compile_s, run_s; /* budgets */
    uint64_t memory;         /* resident bytes */
    double inactive_s;       /* with no word and no processor time used; 0: no limit */
};

enum process_phase { WORKER_RUN, WORKER_COMPILE, WORKER_PHASES };

struct process {
    pid_t pid;
    int report, output; /* read ends; -1 at end of file */
    int request;        /* write end of its standard input; -1: it ends after its first answer */
    int guard;          /* guard_group */
    struct text lines;  /* what came through the report pipe */
    size_t scanned;     /* bytes of lines looked at */
    struct text inputs; /* of these, the lines that tell of files */
    char tail[2048];    /* last bytes of standard output and error */
    size_t tail_len;
    enum process_phase phase;
    double phase_start, spent[WORKER_PHASES];
    double active, looked; /* when it last did something, and when that was last looked at */
    uint64_t ticks;        /* of processor time that it and what it started had used by then */
    bool lost;             /* it did not end by itself and well: set by process_result */
    size_t result;         /* offset of the result's line + 1; 0: none */
    char killed[256];      /* why we ended it; "" if we did not */
    char junk[128];        /* a line that is no report; "" if none */
};

/* argv ends with NULL; an argument "@fd" is replaced by the number of the report pipe. The worker
 * leads its own process group and dies with this process. stays: it can be asked again. */
enum status process_start(struct process *p, const char *const *argv, bool stays,
                          struct error *err);
/* Hands the next request, a line, to a worker that has answered well. False: it cannot take it, and
 * is to be closed. `last`: it ends after this answer, and how it ends is looked at. */
bool process_ask(struct process *p, const char *line, bool last);
/* After process_result: has it answered well, and waits for another request? */
bool process_waits(const struct process *p);
/* Reads what is there, follows phases, applies limits. True when the worker has answered and stays,
 * or has ended and all is read. */
bool process_step(struct process *p, const struct process_limits *limits);
/* Ends the worker and what it started. */
void process_kill(struct process *p, const char *why);
/* After that: the result it reported, or an ERROR that says what happened. Strings in the arena.
 */
void process_result(struct process *p, struct arena *a, struct conform_result *out);
/* Kills if need be, reaps, closes. Without `waits` it is not reaped if it is still ending, which
 * takes long where it holds a GPU. */
void process_close(struct process *p, bool waits);

#endif
