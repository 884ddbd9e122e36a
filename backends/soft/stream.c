/* SPDX-License-Identifier: Apache-2.0 */
/* Queued commands, the order between them, and the checks of that order.
 *
 * Order is kept as vector clocks (Fidge 1988, Mattern 1989): a command's clock has, for each
 * stream, the number of that stream's commands that are known to come before it. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "soft.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum command_kind { COMMAND_MARK, COMMAND_LAUNCH, COMMAND_COPY, COMMAND_FILL };

struct command {
    enum command_kind kind;
    uint32_t stream, sequence; /* its place: the sequence-th command of the stream, from 1 */
    uint32_t *clock;           /* clock_size entries; later streams: 0. NULL: the host knows it */
    size_t clock_size;
    uint64_t start, end;
    uint64_t before_start, before_end; /* of the command before it in its stream */
    struct launch launch;
    unsigned char *to;
    const unsigned char *from;
    size_t bytes, pattern_size;
    unsigned char *pattern;
    char source_hash[33]; /* of a copy from the host's own memory, as it was queued; "": not kept */
    bool poisoned;        /* the host's memory that it writes was made unlikely */
};

struct soft_stream {
    struct soft_device *device;
    struct soft_stream *next;
    uint32_t index, sequence;
    uint32_t *clock; /* what the next command comes after */
    size_t clock_size;
    uint64_t last; /* command */
};

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- clocks --------------------------------------------------------------------------------- */

static bool clock_grow(uint32_t **clock, size_t *size, size_t wanted)
{
    if (*size >= wanted)
        return true;
    uint32_t *grown = realloc(*clock, wanted * sizeof *grown);
    if (!grown)
        return false;
    memset(grown + *size, 0, (wanted - *size) * sizeof *grown);
    *clock = grown;
    *size = wanted;
    return true;
}

static bool clock_join(uint32_t **clock, size_t *size, const uint32_t *other, size_t other_size)
{
    if (!clock_grow(clock, size, other_size))
        return false;
    for (size_t i = 0; i < other_size; i++)
        if (other[i] > (*clock)[i])
            (*clock)[i] = other[i];
    return true;
}

static uint32_t clock_at(const uint32_t *clock, size_t size, uint32_t stream)
{
    return stream < size ? clock[stream] : 0;
}

/* Joins what command c and all before it are. */
static bool clock_join_command(uint32_t **clock, size_t *size, const struct command *c)
{
    if (!clock_join(clock, size, c->clock, c->clock ? c->clock_size : 0) ||
        !clock_grow(clock, size, (size_t)c->stream + 1))
        return false;
    if ((*clock)[c->stream] < c->sequence)
        (*clock)[c->stream] = c->sequence;
    return true;
}

bool commands_ordered(const struct soft_device *d, uint32_t a, uint32_t b)
{
    const struct command *first = d->commands[a - 1], *second = d->commands[b - 1];
    if (first->stream == second->stream)
        return first->sequence < second->sequence;
    return clock_at(second->clock, second->clock ? second->clock_size : 0, first->stream) >=
           first->sequence;
}

/* ---- streams -------------------------------------------------------------------------------- */

enum status soft_stream_open(struct soft_device *d, struct soft_stream **out, struct error *err)
{
    struct soft_stream *s = calloc(1, sizeof *s);
    if (!s)
        return error_msg(err, STATUS_MEMORY, "out of memory for a stream");
    s->device = d;
    s->index = (uint32_t)d->stream_count++;
    s->next = d->streams;
    d->streams = s;
    *out = s;
    return STATUS_OK;
}

void soft_stream_close(struct soft_stream *s)
{
    if (!s)
        return;
    struct soft_device *d = s->device;
    if (s->last)
        commands_run(d, s->last);
    for (struct soft_stream **at = &d->streams; *at; at = &(*at)->next)
        if (*at == s) {
            *at = s->next;
            break;
        }
    free(s->clock);
    free(s);
}

/* A new last command of the stream, after all that the stream and the host know of. */
static enum status command_add(struct soft_stream *s, enum command_kind kind, struct command **out,
                               struct error *err)
{
    struct soft_device *d = s->device;
    if (d->command_count == d->command_capacity) {
        size_t capacity = d->command_capacity ? 2 * d->command_capacity : 256;
        struct command **grown = realloc(d->commands, capacity * sizeof(struct command *));
        if (!grown)
            return error_msg(err, STATUS_MEMORY, "out of memory for commands");
        d->commands = grown;
        d->command_capacity = capacity;
    }
    struct command *c = d->command_count < UINT32_MAX ? calloc(1, sizeof *c) : NULL;
    if (!c || !clock_join(&s->clock, &s->clock_size, d->host_clock, d->host_clock_size) ||
        !clock_grow(&s->clock, &s->clock_size, (size_t)s->index + 1) ||
        !clock_join(&c->clock, &c->clock_size, s->clock, s->clock_size)) {
        if (c)
            free(c->clock);
        free(c);
        return error_msg(err, STATUS_MEMORY, "out of memory for a command");
    }
    c->kind = kind;
    c->stream = s->index;
    c->sequence = ++s->sequence;
    if (s->last) { /* times of what has run already; the others come when it runs */
        const struct command *before = d->commands[s->last - 1];
        c->before_start = before->start;
        c->before_end = before->end;
    }
    s->clock[s->index] = s->sequence;
    d->commands[d->command_count++] = c;
    s->last = d->command_count;
    *out = c;
    return STATUS_OK;
}

struct soft_point soft_stream_point(struct soft_stream *s)
{
    struct command *c;
    if (command_add(s, COMMAND_MARK, &c, NULL) != STATUS_OK)
        return (struct soft_point){s->last};
    return (struct soft_point){s->last};
}

void soft_stream_after(struct soft_stream *s, struct soft_point p)
{
    if (p.command)
        clock_join_command(&s->clock, &s->clock_size, s->device->commands[p.command - 1]);
}

/* ---- the host and queued copies ------------------------------------------------------------- */

/* Memory that is the host's to read and write at any time. */
static bool is_hosts(const struct soft_device *d, const void *p)
{
    const struct object *o = memory_find(&d->memory, p);
    return !o || o->kind == SOFT_HOST_MEMORY;
}

static bool overlaps(const void *p, size_t n, const void *q, size_t m)
{
    return p && q && (uintptr_t)p < (uintptr_t)q + m && (uintptr_t)q < (uintptr_t)p + n;
}

static bool command_uses(const struct command *c, const void *p, size_t size)
{
    switch (c->kind) {
    case COMMAND_MARK:
        return false;
    case COMMAND_LAUNCH:
        for (size_t i = 0; i < c->launch.kernel->argument_count; i++) {
            void *argument;
            if (c->launch.kernel->arguments[i].kind != SOFT_GLOBAL)
                continue;
            memcpy(&argument, c->launch.values + c->launch.value_at[i], sizeof argument);
            if (overlaps(argument, 1, p, size))
                return true;
        }
        return false;
    default:
        return overlaps(c->to, c->bytes, p, size) || overlaps(c->from, c->bytes, p, size);
    }
}

bool commands_use(const struct soft_device *d, const void *p, size_t size)
{
    for (size_t i = d->executed; i < d->command_count; i++)
        if (command_uses(d->commands[i], p, size))
            return true;
    return false;
}

enum { POISON = 0xCB };

/* A copy that is queued: what the host does to its memory before it has waited shows. */
static void host_guard(struct soft_device *d, struct command *c)
{
    if (!(d->options.checks & SOFT_WAITS) || c->kind != COMMAND_COPY)
        return;
    if (is_hosts(d, c->from))
        hash_bytes(c->from, c->bytes, c->source_hash);
    bool used = false;
    for (size_t i = d->executed; i + 1 < d->command_count; i++)
        used |= command_uses(d->commands[i], c->to, c->bytes);
    if (is_hosts(d, c->to) && !used) {
        memset(c->to, POISON, c->bytes);
        c->poisoned = true;
    }
}

static void host_guard_check(struct soft_device *d, const struct command *c)
{
    char hash[33];
    if (c->source_hash[0]) {
        hash_bytes(c->from, c->bytes, hash);
        if (strcmp(hash, c->source_hash) != 0)
            soft_finding_add(d, SOFT_WAITS,
                             "the host changed the %zu bytes at %p after it queued a copy from "
                             "there, before it waited",
                             c->bytes, (const void *)c->from);
    }
    if (!c->poisoned)
        return;
    for (size_t i = 0; i < c->bytes; i++)
        if (c->to[i] != POISON) {
            soft_finding_add(d, SOFT_WAITS,
                             "the host wrote to %p, which a queued copy fills, before it waited",
                             (const void *)(c->to + i));
            return;
        }
}

/* ---- running -------------------------------------------------------------------------------- */

/* The end of a copy or fill is inside one live allocation, or the host's own; else a finding. */
static bool range_check(struct soft_device *d, const void *p, size_t bytes, const char *what)
{
    struct object *o = memory_find(&d->memory, p);
    if (!o || o->reserved == 0)
        return true;
    size_t room = o->size - (size_t)((const unsigned char *)p - o->base);
    if (o->freed) {
        soft_finding_add(d, SOFT_FREED, "%s allocation %u (%zu bytes) after it was freed", what,
                         o->id, o->size);
        return false;
    }
    if (bytes > room) {
        soft_finding_add(d, SOFT_BOUNDS,
                         "%s %zu bytes, %zu past the end of allocation %u (%zu bytes)", what, bytes,
                         bytes - room, o->id, o->size);
        return false;
    }
    return true;
}

static void written_copy(struct soft_device *d, const void *to, const void *from, size_t bytes)
{
    struct object *target = memory_find(&d->memory, to);
    if (!target || !target->written)
        return;
    unsigned char *shadow = target->written + ((const unsigned char *)to - target->base);
    const struct object *source = from ? memory_find(&d->memory, from) : NULL;
    if (source && source->written)
        memmove(shadow, source->written + ((const unsigned char *)from - source->base), bytes);
    else
        memset(shadow, 1, bytes);
}

static void touches(struct soft_device *d, uint64_t id, const void *p, size_t bytes, bool writes)
{
    struct object *o = memory_find(&d->memory, p);
    if (o && o->cells)
        command_touches(d, (uint32_t)id, o, p, bytes, writes);
}

static void copy_run(struct soft_device *d, uint64_t id, const struct command *c)
{
    host_guard_check(d, c);
    if (!range_check(d, c->to, c->bytes, "a copy writes") ||
        !range_check(d, c->from, c->bytes, "a copy reads"))
        return;
    touches(d, id, c->from, c->bytes, false);
    touches(d, id, c->to, c->bytes, true);
    memmove(c->to, c->from, c->bytes);
    written_copy(d, c->to, c->from, c->bytes);
}

static void fill_run(struct soft_device *d, uint64_t id, const struct command *c)
{
    if (!range_check(d, c->to, c->bytes, "a fill writes"))
        return;
    touches(d, id, c->to, c->bytes, true);
    for (size_t i = 0; i < c->bytes; i += c->pattern_size)
        memcpy(c->to + i, c->pattern, c->pattern_size);
    written_copy(d, c->to, NULL, c->bytes);
}

static void payload_free(struct command *c)
{
    free(c->launch.values);
    free(c->launch.value_at);
    free(c->launch.local_sizes);
    free(c->pattern);
    c->launch = (struct launch){0};
    c->pattern = NULL;
}

static void command_run(struct soft_device *d, uint64_t id)
{
    struct command *c = d->commands[id - 1];
    c->start = now_ns();
    switch (c->kind) {
    case COMMAND_MARK:
        break;
    case COMMAND_LAUNCH:
        c->launch.command = (uint32_t)id;
        launch_run(&c->launch);
        break;
    case COMMAND_COPY:
        copy_run(d, id, c);
        break;
    case COMMAND_FILL:
        fill_run(d, id, c);
        break;
    }
    c->end = now_ns();
    payload_free(c);
}

/* Queue order is a legal order: a command comes after earlier ones only. */
void commands_run(struct soft_device *d, uint64_t id)
{
    while (d->executed < id) {
        struct command *c = d->commands[d->executed];
        for (size_t i = d->executed; c->kind == COMMAND_MARK && c->sequence > 1 && i-- > 0;)
            if (d->commands[i]->stream == c->stream) {
                c->before_start = d->commands[i]->start;
                c->before_end = d->commands[i]->end;
                break;
            }
        command_run(d, d->executed + 1);
        d->executed++;
    }
}

static enum status told(struct soft_device *d, struct error *err)
{
    if (d->told >= d->finding_count)
        return STATUS_OK;
    size_t first = d->told < SOFT_FINDINGS_MAX ? d->told : SOFT_FINDINGS_MAX - 1;
    d->told = d->finding_count;
    return error_msg(err, STATUS_DEVICE, "%s", d->findings[first].text);
}

enum status soft_wait(struct soft_device *d, struct soft_point p, struct error *err)
{
    if (p.command == 0)
        return told(d, err);
    commands_run(d, p.command);
    if (!clock_join_command(&d->host_clock, &d->host_clock_size, d->commands[p.command - 1]))
        return error_msg(err, STATUS_MEMORY, "out of memory for a clock");
    return told(d, err);
}

enum status soft_wait_all(struct soft_device *d, struct error *err)
{
    enum status s = STATUS_OK;
    commands_run(d, d->command_count);
    for (struct soft_stream *at = d->streams; s == STATUS_OK && at; at = at->next)
        if (at->last &&
            !clock_join_command(&d->host_clock, &d->host_clock_size, d->commands[at->last - 1]))
            s = error_msg(err, STATUS_MEMORY, "out of memory for a clock");
    return s == STATUS_OK ? told(d, err) : s;
}

bool soft_reached(const struct soft_device *d, struct soft_point p)
{
    return p.command <= d->executed;
}

bool soft_host_knows(const struct soft_device *d, struct soft_point p)
{
    if (p.command == 0)
        return true;
    const struct command *c = d->commands[p.command - 1];
    return clock_at(d->host_clock, d->host_clock_size, c->stream) >= c->sequence;
}

bool soft_times(const struct soft_device *d, struct soft_point p, uint64_t *reached,
                uint64_t *start, uint64_t *end)
{
    if (p.command == 0 || !soft_reached(d, p))
        return false;
    const struct command *c = d->commands[p.command - 1];
    if (reached)
        *reached = c->end;
    if (start)
        *start = c->before_start;
    if (end)
        *end = c->before_end;
    return true;
}

/* ---- queueing ------------------------------------------------------------------------------- */

static enum status values_check(struct soft_device *d, const struct soft_launch *l,
                                struct error *err)
{
    const struct soft_kernel *k = l->kernel;
    for (size_t i = 0; i < k->argument_count; i++) {
        const struct soft_argument *a = &k->arguments[i];
        size_t got = l->values[i].size;
        char text[256] = "";
        if (got == 0)
            snprintf(text, sizeof text, "argument %zu of %s was never set", i, k->name);
        else if (a->kind != SOFT_LOCAL && (got != a->size || !l->values[i].data))
            snprintf(text, sizeof text, "argument %zu of %s has %zu bytes; %zu were set", i,
                     k->name, a->size, got);
        else if (a->kind == SOFT_LOCAL && l->values[i].data)
            snprintf(text, sizeof text,
                     "argument %zu of %s is work-group memory, which takes a size and no value", i,
                     k->name);
        if (!text[0])
            continue;
        if (d->options.checks & SOFT_ARGUMENTS)
            soft_finding_add(d, SOFT_ARGUMENTS, "%s", text);
        return error_msg(err, STATUS_ARG, "%s", text);
    }
    return STATUS_OK;
}

static enum status shape_check(const struct soft_launch *l, unsigned most, struct error *err)
{
    uint64_t items = 1, groups = 1;
    for (int i = 0; i < 3; i++) {
        if (l->group[i] == 0 || l->groups[i] == 0)
            return error_msg(err, STATUS_ARG, "a launch with nothing to do along axis %d", i);
        items *= l->group[i] > SOFT_GROUP_MAX ? SOFT_GROUP_MAX + 1 : l->group[i];
        groups *= l->groups[i];
        if (groups > UINT32_MAX)
            return error_msg(err, STATUS_UNSUPPORTED, "more than 2^32 work-groups");
    }
    if (items > most)
        return error_msg(err, STATUS_UNSUPPORTED, "a work-group of %ux%ux%u; %u items are the most",
                         l->group[0], l->group[1], l->group[2], most);
    if (groups * items > UINT32_MAX)
        return error_msg(err, STATUS_UNSUPPORTED, "more than 2^32 work-items in one launch");
    return STATUS_OK;
}

/* Copies the arguments; their places are aligned to 64 bytes. */
static enum status values_copy(struct launch *out, const struct soft_launch *l, struct error *err)
{
    const struct soft_kernel *k = l->kernel;
    size_t n = k->argument_count, bytes = 0, local = k->local_bytes + l->dynamic_local;
    out->value_at = calloc(n + 1, sizeof *out->value_at);
    out->local_sizes = calloc(n + 1, sizeof *out->local_sizes);
    for (size_t i = 0; out->value_at && i < n; i++) {
        out->value_at[i] = bytes;
        bytes += (k->arguments[i].size + 63) & ~(size_t)63;
        if (k->arguments[i].kind == SOFT_LOCAL)
            local = ((local + 15) & ~(size_t)15) + l->values[i].size;
    }
    out->values = calloc(1, bytes + 64);
    if (!out->value_at || !out->local_sizes || !out->values)
        return error_msg(err, STATUS_MEMORY, "out of memory for a launch");
    if (local > SOFT_LOCAL_MAX)
        return error_msg(err, STATUS_UNSUPPORTED,
                         "%zu bytes of work-group memory; the device has %d", local,
                         SOFT_LOCAL_MAX);
    out->value_at[n] = bytes; /* where they end */
    for (size_t i = 0; i < n; i++)
        if (k->arguments[i].kind == SOFT_LOCAL)
            out->local_sizes[i] = l->values[i].size;
        else
            memcpy(out->values + out->value_at[i], l->values[i].data, k->arguments[i].size);
    return STATUS_OK;
}

/* $ISOPHOTE_SOFT_FAULT is "NAME:N", and this is the Nth launch or a later one. */
static bool fault_wished(const struct soft_device *d, const char *name)
{
    const char *wish = getenv("ISOPHOTE_SOFT_FAULT");
    size_t n = strlen(name);
    return wish && strncmp(wish, name, n) == 0 && wish[n] == ':' &&
           d->launches >= strtoul(wish + n + 1, NULL, 10);
}

static enum status misbehave(struct soft_device *d, struct error *err)
{
    d->launches++;
    if (fault_wished(d, "lost"))
        return error_msg(err, STATUS_DEVICE, "the device stopped answering");
    if (fault_wished(d, "trap")) /* as a driver that breaks down over it */
        raise(SIGILL);
    while (fault_wished(d, "hang")) /* a launch that never ends, where no watchdog looks */
        pause();
    return STATUS_OK;
}

enum status soft_launch(struct soft_stream *s, const struct soft_launch *l, struct error *err)
{
    struct soft_device *d = s->device;
    enum status st = misbehave(d, err);
    if (st == STATUS_OK)
        st = shape_check(l, soft_kernel_group(d), err);
    if (st == STATUS_OK)
        st = values_check(d, l, err);
    if (st != STATUS_OK)
        return st;
    struct launch launch = {.device = d,
                            .module = l->module,
                            .kernel = l->kernel,
                            .entry = l->module->entries[l->kernel - l->module->kernels],
                            .group_size = l->group[0] * l->group[1] * l->group[2],
                            .dynamic_local = l->dynamic_local};
    memcpy(launch.groups, l->groups, sizeof launch.groups);
    memcpy(launch.group, l->group, sizeof launch.group);
    memcpy(launch.offset, l->offset, sizeof launch.offset);
    struct command *c = NULL;
    st = values_copy(&launch, l, err);
    if (st == STATUS_OK)
        st = command_add(s, COMMAND_LAUNCH, &c, err);
    if (st != STATUS_OK) {
        free(launch.values);
        free(launch.value_at);
        free(launch.local_sizes);
        return st;
    }
    c->launch = launch;
    return STATUS_OK;
}

enum status soft_copy(struct soft_stream *s, void *to, const void *from, size_t bytes,
                      struct error *err)
{
    struct command *c;
    if (bytes == 0)
        return STATUS_OK;
    if (!to || !from)
        return error_msg(err, STATUS_ARG, "a copy from %p to %p", from, to);
    enum status st = command_add(s, COMMAND_COPY, &c, err);
    if (st != STATUS_OK)
        return st;
    c->to = to;
    c->from = from;
    c->bytes = bytes;
    host_guard(s->device, c);
    return STATUS_OK;
}

enum status soft_fill(struct soft_stream *s, void *to, const void *pattern, size_t pattern_size,
                      size_t bytes, struct error *err)
{
    struct command *c;
    if (bytes == 0)
        return STATUS_OK;
    if (!to || !pattern || pattern_size == 0 || bytes % pattern_size != 0)
        return error_msg(err, STATUS_ARG, "a fill of %zu bytes with a pattern of %zu", bytes,
                         pattern_size);
    unsigned char *copy = malloc(pattern_size);
    if (!copy)
        return error_msg(err, STATUS_MEMORY, "out of memory for a pattern");
    memcpy(copy, pattern, pattern_size);
    enum status st = command_add(s, COMMAND_FILL, &c, err);
    if (st != STATUS_OK) {
        free(copy);
        return st;
    }
    c->to = to;
    c->bytes = bytes;
    c->pattern = copy;
    c->pattern_size = pattern_size;
    return STATUS_OK;
}

/* ---- the end -------------------------------------------------------------------------------- */

void soft_device_close(struct soft_device *d)
{
    if (!d)
        return;
    d->executed = d->command_count; /* what nobody waited for does not run */
    while (d->modules)
        soft_module_free(d->modules);
    for (struct soft_stream *s = d->streams, *next; s; s = next) {
        next = s->next;
        free(s->clock);
        free(s);
    }
    for (size_t i = 0; i < d->command_count; i++) {
        payload_free(d->commands[i]);
        free(d->commands[i]->clock);
        free(d->commands[i]);
    }
    free(d->commands);
    free(d->host_clock);
    free(d->seen);
    workers_free(d->workers, d->worker_count);
    memory_free_all(&d->memory);
    pthread_mutex_destroy(&d->lock);
    free(d);
}
