/* SPDX-License-Identifier: Apache-2.0 */
/* A run of mutants while it is judged, and what it tells. */
#ifndef ISOPHOTE_CLI_MUTANTS_RUN_H
#define ISOPHOTE_CLI_MUTANTS_RUN_H

#include "base.h"
#include "mutants.h"

/* LIST(X): X(enum constant's end, name) */
#define CLASS_LIST(X)                                                                              \
    X(ALIVE, "alive")                                                                              \
    X(KILLED, "killed")                                                                            \
    X(CRASH, "crash")                                                                              \
    X(HANG, "hang")                                                                                \
    X(MEMORY, "memory")                                                                            \
    X(ERROR, "error")                                                                              \
    X(EQUIVALENT, "equivalent")                                                                    \
    X(COMMUTES, "commutes")                                                                        \
    X(SAME_BITS, "same bits")                                                                      \
    X(REFUSED, "does not compile")                                                                 \
    X(UNBUILT, "not built here")                                                                   \
    X(UNJUDGED, "not judged")                                                                      \
    X(PLAIN, "no edit")

#define X(name, text) CLASS_##name,
enum mutant_class { CLASS_LIST(X) CLASS_COUNT };
#undef X
extern const char *const mutant_class_names[CLASS_COUNT];

/* A case that gave FAIL or ERROR. */
struct notice {
    const char *name;
    enum mutant_class class;
    double after_s; /* of all that was spent on the mutant */
    const char *stage, *reason;
    struct notice *next;
};

/* One mutant of the run. */
struct subject {
    size_t number;
    const char *id;
    struct mutant edit;
    enum mutant_class class;
    bool looked;             /* was the compiler asked? */
    struct mutant_code code; /* what it said */
    bool refused;
    double spent_s;
    bool *done;   /* by case of the run */
    float *due_s; /* by case: seconds of those before it in the mutant's order; INFINITY: never */
    size_t asked; /* cases of the list */
    size_t hangs;
    size_t searched;      /* scenes and grids that run the place, of the search behind it */
    struct notice *shown; /* by one of them; the mutant is alive all the same; NULL: none differs */
    bool
        out_of_reach; /* cases of the whole run have it, and what none of them runs none can notice */
    struct notice *first, *last;
};

/* A case of the list, sorted by name: what it can notice, and in which time. */
struct listed {
    const char *name;
    double seconds; /* on the text without an edit */
    bool skipped;   /* likewise */
    bool search;    /* of the search, not of the list */
    bool with_shaders, strict, shader_level, grids;
    const char *reached; /* marks that it passes without an edit, four a digit; NULL: not known */
};

struct mutants_run {
    struct arena arena;
    struct conform_options o;
    const struct mutants_options *m;
    struct subject plain, *subjects, **by_number; /* the latter by number of all there are */
    size_t count, all;
    struct listed *cases;
    size_t case_count, listed_count; /* with those of the search, and without */
    const char **ids;                /* of those that are judged now */
    struct json_lines *journal;      /* NULL: none */
    const char *head;          /* its first line, with all that decides what the others mean */
    struct error lost;         /* the journal cannot be written any more */
    const struct worth *worth; /* which cases take long */
    double begin;
    struct notice *unusable; /* cases that notice the text as it is, or could not judge it */
};

/* Prints, and returns the exit status. */
int mutants_told(struct mutants_run *r, bool finished);

#endif
