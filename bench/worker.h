/* SPDX-License-Identifier: Apache-2.0 */
/* One worker process and the words that pass to and from it. Parent and child are one program,
 * forked, so structs travel as they are. */
#ifndef ISOPHOTE_BENCH_WORKER_H
#define ISOPHOTE_BENCH_WORKER_H

#include <sys/types.h>

#include "sensors/offers.h"

/* What a worker does: once setup, then renders and judgements as asked. The back ends' own:
 * rendering.c; tests have others. */
struct worker_ready {
    bool has_job, has_device; /* how far it came: a set-up that fails says what it knows */
    struct device_info device;
    struct render_job job; /* with every default filled in */
    struct scene_times scene;
    struct load_times load;
    struct build_info build;
    struct meter_absence absence;
    struct sensor_source_told sensor;
    char scene_name[128];
    uint64_t triangles, primitives;
    double setup_s;
};
struct worker_render {
    struct render_times times;
    double wall_s;
    struct meter_reading meters;
    struct sensor_reading sensors;
    uint64_t flagged; /* samples clamped or rejected */
    uint64_t peak_bytes;
    char hash[33]; /* of the film */
};
/* The sums of some tiles of the picture that was rendered last. */
enum { WORKER_TILES = 1024 };
struct worker_tiles {
    char job[320];  /* film_job_text */
    uint64_t total; /* tiles of the picture */
    struct sum sums[WORKER_TILES];
};
/* render_statistics_write's object; without shaders where they are too many. */
struct worker_statistics {
    char json[1 << 16];
};
struct worker_work {
    enum status (*setup)(void *ctx, struct worker_ready *out, struct error *err);
    enum status (*render)(void *ctx, const struct settings *set, struct worker_render *out,
                          struct error *err);
    enum status (*judge)(void *ctx, const struct settings *set, struct judgement *out,
                         struct error *err);
    void (*end)(void *ctx); /* may be NULL */
    void *ctx;
    /* from the tile `first` on; may be NULL */
    enum status (*tiles)(void *ctx, uint64_t first, struct worker_tiles *out, struct error *err);
    /* may be NULL */
    enum status (*statistics)(void *ctx, const struct settings *set, struct worker_statistics *out,
                              struct error *err);
};

struct worker {
    pid_t pid; /* 0: not running */
    int socket;
    int output; /* what it printed */
    int inputs; /* what inputs_watch told of the files that it read */
    int guard;  /* guard_group */
};

/* Forks; *ready is what setup said, of a failed one too. Fails like setup; DEVICE when the process
 * died (err says how, with the end of what it printed), TIMEOUT when it was silent for timeout_s,
 * CANCELLED. After a failure the worker is gone. *inputs: the lines that tell of the files read,
 * in the arena; they may be told twice. */
enum status worker_start(struct worker *w, const struct worker_work *work, double timeout_s,
                         struct arena *a, const char **inputs, struct worker_ready *ready,
                         struct error *err);
/* `died` tells a failure of the process from one that the worker reported; after it the worker is
 * gone. */
enum status worker_render(struct worker *w, const struct settings *set, double timeout_s,
                          struct worker_render *out, bool *died, struct error *err);
enum status worker_judge(struct worker *w, const struct settings *set, double timeout_s,
                         struct judgement *out, bool *died, struct error *err);
/* *json NULL: the work has none. */
enum status worker_statistics(struct worker *w, const struct settings *set, double timeout_s,
                              struct arena *a, const char **json, bool *died, struct error *err);
/* All of them, in the arena. *sums NULL: the work has none, or they are more than FILM_TILES_MOST. */
enum status worker_tiles(struct worker *w, double timeout_s, struct arena *a, const char **job,
                         const struct sum **sums, size_t *count, bool *died, struct error *err);
void worker_stop(struct worker *w); /* accepts one that is gone */

/* Calls f in a forked process and gives back the `size` bytes that it left in `result` (memory of
 * the caller's). */
enum status process_call(enum status (*f)(void *ctx, void *result, size_t size, struct error *err),
                         void *ctx, void *result, size_t size, double timeout_s, struct error *err);

/* A device, a scene, a mode and a tree: the real work. ctx of the work is allocated in the arena.
 */
struct worker_work rendering_work(struct arena *a, const struct bench_subject *subject);

#endif
