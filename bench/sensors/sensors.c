/* SPDX-License-Identifier: Apache-2.0 */
/* The source that fits a device, read by a thread while a repetition runs. */
#include "source.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct sensor_source *const sources[] = {&sensor_host, &sensor_nvml, &sensor_sysman,
                                                      &sensor_rocm_smi};
enum { FIRST_MS = 2, LONGEST_MS = 100 };

struct sensors {
    const struct sensor_source *source; /* NULL: none */
    void *state;
    pthread_t thread;
    bool running;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool stop; /* by lock */
    /* the thread's while it runs: */
    struct sensor_reading reading;
    double sum_mhz;
};

/* ---- reasons ------------------------------------------------------------------------------ */

static const struct {
    const char *text;
    bool cap;
} reasons_known[] = {
#define X(name, text, cap) {text, cap},
    THROTTLE_LIST(X)
#undef X
};

enum clocks clocks_of(uint32_t reasons)
{
    enum clocks c = CLOCKS_FREE;
    for (int i = 0; i < THROTTLE_COUNT; i++)
        if (reasons >> i & 1) {
            const enum clocks its = reasons_known[i].cap ? CLOCKS_CAPPED : CLOCKS_THROTTLED;
            c = its > c ? its : c;
        }
    return c;
}

void throttle_text(uint32_t reasons, char *text, size_t size)
{
    size_t at = 0;
    text[0] = '\0';
    for (int i = 0; i < THROTTLE_COUNT; i++)
        if (reasons >> i & 1 && at < size)
            at += (size_t)snprintf(text + at, size - at, "%s%s", at ? ", " : "",
                                   reasons_known[i].text);
}

/* ---- samples ------------------------------------------------------------------------------ */

static void take(struct sensors *s, enum sensor_moment moment)
{
    struct sensor_sample now = {0};
    struct sensor_reading *r = &s->reading;
    s->source->sample(s->state, moment, &now);
    r->reasons |= now.reasons;
    if (now.has_celsius && (!r->has_celsius || now.celsius > r->hottest_c)) {
        r->has_celsius = true;
        r->hottest_c = now.celsius;
    }
    /* At both ends a device may idle: its clock there says nothing unless there is no other. */
    if (now.mhz > 0 && (moment == MOMENT_WITHIN || (moment == MOMENT_END && !r->clock_samples))) {
        r->least_mhz = r->clock_samples ? fmin(r->least_mhz, now.mhz) : now.mhz;
        s->sum_mhz += now.mhz;
        r->clock_samples++;
    }
}

static struct timespec later(long ms)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_nsec += ms * 1000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

static void *watch(void *ctx)
{
    struct sensors *s = ctx;
    long wait = FIRST_MS;
    pthread_mutex_lock(&s->lock);
    while (!s->stop) {
        const struct timespec until = later(wait);
        int code = 0;
        while (!s->stop && code == 0)
            code = pthread_cond_timedwait(&s->changed, &s->lock, &until);
        if (s->stop)
            break;
        pthread_mutex_unlock(&s->lock);
        take(s, MOMENT_WITHIN);
        wait = 2 * wait < LONGEST_MS ? 2 * wait : LONGEST_MS;
        pthread_mutex_lock(&s->lock);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* ---- the face ----------------------------------------------------------------------------- */

struct sensors *sensors_open(const struct device_info *d, struct sensor_source_told *told)
{
    struct sensors *s = calloc(1, sizeof *s);
    pthread_condattr_t attributes;
    *told = (struct sensor_source_told){.absent =
                                            "no sensors of its vendor's are known to this program"};
    if (!s)
        return NULL;
    for (size_t i = 0; i < sizeof sources / sizeof *sources && !s->source; i++) {
        if (!sources[i]->fits(d))
            continue;
        s->state = sources[i]->open(d, told->absent, sizeof told->absent);
        if (!s->state)
            break;
        s->source = sources[i];
        told->absent[0] = '\0';
        snprintf(told->name, sizeof told->name, "%s", s->source->name);
    }
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&s->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&s->lock, NULL);
    return s;
}

void sensors_begin(struct sensors *s)
{
    if (!s || !s->source)
        return;
    s->reading = (struct sensor_reading){0};
    s->sum_mhz = 0;
    s->stop = false;
    take(s, MOMENT_BEGIN);
    s->running = pthread_create(&s->thread, NULL, watch, s) == 0; /* else both ends must do */
}

void sensors_end(struct sensors *s, struct sensor_reading *out)
{
    *out = (struct sensor_reading){0};
    if (!s || !s->source)
        return;
    if (s->running) {
        pthread_mutex_lock(&s->lock);
        s->stop = true;
        pthread_cond_signal(&s->changed);
        pthread_mutex_unlock(&s->lock);
        pthread_join(s->thread, NULL);
        s->running = false;
    }
    take(s, MOMENT_END);
    *out = s->reading;
    out->mean_mhz = out->clock_samples ? s->sum_mhz / out->clock_samples : 0;
}

void sensors_close(struct sensors *s)
{
    if (!s)
        return;
    struct sensor_reading unused;
    if (s->running)
        sensors_end(s, &unused);
    if (s->source)
        s->source->close(s->state);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s);
}
