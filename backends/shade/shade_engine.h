/* SPDX-License-Identifier: Apache-2.0 */
/* shade.h: what the front of shade_open and its engines share. Not visible outside this folder. */
#ifndef ISOPHOTE_SHADE_H
#define ISOPHOTE_SHADE_H

#include "backends.h"

struct shade_engine {
    struct shade_engine_info info;
    /* Fills s->state, s->info.device and the times. */
    enum status (*open)(struct shade *s, unsigned index, struct error *err);
    /* Runs points[first, first + count) opt.iterations times; words and ran of out->outputs are
     * zeroed and have room. Fills them, messages, failures, run_s, steps. */
    enum status (*run)(struct shade *s, const struct shade_points *points, struct shade_result *out,
                       struct error *err);
    void (*close)(struct shade *s); /* s->state may be NULL */
};

struct shade {
    const struct shade_engine *engine;
    const struct asl_group *group;
    struct arena arena;        /* as long as the shade */
    struct shade_options opt;  /* its own copies of all that it points to */
    const char **entry_layers; /* of the outputs, ends with NULL */
    struct shade_output *outputs;
    size_t output_count;
    struct shade_info info;
    void *state;
};

extern const struct shade_engine shade_interp, shade_ir, shade_grid, shade_native, shade_llvm;
/* The engines of devices, by API: those whose backend_api has job_build. */
enum { SHADE_API_COUNT = 4 };
extern const struct shade_engine shade_apis[SHADE_API_COUNT];

/* Numbers texts in the order in which they come. Zeroed is valid; texts live in the arena. */
struct shade_strings {
    struct arena *arena;
    const char **text;
    size_t count, cap;
    uint32_t *slots; /* 1 + id, 0: free */
    size_t slot_count;
    bool failed;
};
uint32_t shade_string_id(struct shade_strings *s, const char *text);
void shade_strings_free(struct shade_strings *s); /* not the texts */

/* What points said, written by one thread. Zeroed is valid. */
struct shade_log {
    struct text text; /* messages of a run of points; those of one point in order */
    struct text key;  /* of the message that is asked about */
    struct arena arena;
    struct shade_strings said; /* errors and warnings, unless they repeat */
    size_t *first;             /* by number of said: the least point that said it */
    bool failed;
};
/* An error or warning that a point before, or this one, said is dropped, unless `repeats`. Rows of
 * points speak statement by statement: of several the first to speak need not be the least. */
void shade_log_message(struct shade_log *log, size_t point, enum asl_message kind, const char *to,
                       const char *text, bool repeats);
/* Forgets messages of points >= point. */
void shade_log_cut(struct shade_log *log, size_t point);

/* What a run of points that one thread does leaves besides words. Zeroed is valid. */
struct shade_unit {
    struct shade_log log;
    struct text strings;  /* of outputs; words hold offsets into it until all units have run */
    struct text failures; /* struct shade_failure, one after another */
};
/* Units of so many points each, one after another, into *out: messages in the order of points,
 * without repeated texts of errors and warnings unless `repeats`; failures; and of string and closure
 * slots numbers of texts in the order of outputs, points, slots. */
enum status shade_units_collect(const struct shade_unit *units, size_t count, size_t unit_points,
                                bool repeats, struct shade_result *out, struct error *err);
void shade_units_free(struct shade_unit *units, size_t count); /* what they hold; NULL: nothing */

/* Who asks: the first member of what an engine's services get as ctx. */
struct shade_asker {
    const struct shade *shade;
    const struct shade_points *points;
    size_t point; /* its number */
    const struct asl_globals *globals;
};
/* Point i of the run asks from now on; its globals may be made in *room. */
void shade_asker_set(struct shade_asker *a, size_t i, struct asl_globals *room);
/* What the options and the grid answer. */
struct asl_services shade_services(struct shade_asker *a,
                                   void (*message)(void *ctx, enum asl_message kind, const char *to,
                                                   const char *text));

#endif
