/* SPDX-License-Identifier: Apache-2.0 */
/* What checked code asks before it touches memory. An access that must not happen goes to scratch
 * memory instead, so that the kernel goes on and later mistakes are found too. */
#include "soft.h"

#include <string.h>

/* ---- findings ------------------------------------------------------------------------------- */

static bool looked_for(const struct worker *w, enum soft_check check)
{
    return (w->launch->device->options.checks & (unsigned)check) != 0;
}

__attribute__((format(printf, 4, 5))) static void found(struct worker *w, enum soft_check check,
                                                        uint32_t place, const char *fmt, ...)
{
    const struct launch *l = w->launch;
    struct soft_device *d = l->device;
    if (!finding_is_new(d, l->module, place, check))
        return;
    static const struct place nowhere = {"", "", 0};
    const struct place *p = place < l->module->place_count ? &l->module->places[place] : &nowhere;
    char what[240], where[160] = "";
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    if (p->line)
        snprintf(where, sizeof where, " at %s:%u", p->file, p->line);
    bool inner = *p->function && strcmp(p->function, l->kernel->name) != 0;
    soft_finding_add(d, check, "%s%s%s: work-item (%u,%u,%u) of group (%u,%u,%u)%s: %s",
                     l->kernel->name, inner ? " in " : "", inner ? p->function : "", w->local[0],
                     w->local[1], w->local[2], w->group[0], w->group[1], w->group[2], where, what);
}

/* ---- races ---------------------------------------------------------------------------------- */

/* a happened before the access `now`, or is the same work-item's. */
static bool ordered(const struct soft_device *d, const struct access *a, const struct access *now,
                    uint32_t group_size, enum soft_check *check)
{
    if (a->command != now->command) {
        *check = SOFT_WAITS;
        return commands_ordered(d, a->command, now->command);
    }
    *check = SOFT_RACES;
    return a->item == now->item ||
           (a->item / group_size == now->item / group_size && a->epoch < now->epoch);
}

struct conflict {
    enum soft_check check;
    struct access with;
    bool writes; /* the earlier one */
};

static bool conflicts(const struct soft_device *d, const struct access *a, const struct access *now,
                      uint32_t group_size, bool writes, struct conflict *out)
{
    enum soft_check check;
    if (a->command == 0 || !(a->mask & now->mask) || (a->atomic && now->atomic) ||
        ordered(d, a, now, group_size, &check) || !(d->options.checks & (unsigned)check))
        return false;
    *out = (struct conflict){check, *a, writes};
    return true;
}

static bool same_access(const struct access *a, const struct access *b)
{
    return a->command == b->command && a->item == b->item;
}

/* True when the access races with an earlier one; the cell remembers it either way. */
static bool cell_access(const struct soft_device *d, struct cell *c, const struct access *now,
                        uint32_t group_size, bool writes, struct conflict *out)
{
    bool bad = conflicts(d, &c->write, now, group_size, true, out);
    if (writes) {
        for (int i = 0; i < 2; i++) {
            bad = bad || conflicts(d, &c->read[i], now, group_size, false, out);
            c->read[i].mask &= (uint8_t)~now->mask;
        }
        uint8_t mask = same_access(&c->write, now) ? c->write.mask : 0;
        c->write = *now;
        c->write.mask |= mask;
        return bad;
    }
    enum soft_check check;
    for (int i = 0; i < 2; i++) {
        struct access *r = &c->read[i];
        if (r->mask == 0 || same_access(r, now) || ordered(d, r, now, group_size, &check)) {
            uint8_t mask = same_access(r, now) ? r->mask : 0;
            *r = *now;
            r->mask |= mask;
            break;
        }
    }
    return bad;
}

/* Bytes [at, at + size) of memory with cells. */
static bool cells_access(const struct soft_device *d, struct cell *cells, size_t at, size_t size,
                         struct access now, uint32_t group_size, bool writes, struct conflict *out)
{
    bool bad = false;
    for (size_t i = at / 4; i <= (at + size - 1) / 4; i++) {
        size_t first = at > 4 * i ? at - 4 * i : 0;
        size_t last = at + size < 4 * i + 4 ? at + size - 4 * i : 4;
        now.mask = (uint8_t)((1u << last) - (1u << first));
        bad |= cell_access(d, &cells[i], &now, group_size, writes, out);
    }
    return bad;
}

static void race_tell(struct worker *w, const struct conflict *c, bool writes, const char *where,
                      uint32_t place)
{
    if (c->check == SOFT_RACES)
        found(w, SOFT_RACES, place,
              "%s %s, which work-item %u of the launch %s with no barrier "
              "between",
              writes ? "writes" : "reads", where, c->with.item, c->writes ? "wrote" : "read");
    else
        found(w, SOFT_WAITS, place, "%s %s, which command %u %s; nothing orders it before this one",
              writes ? "writes" : "reads", where, c->with.command, c->writes ? "wrote" : "read");
}

static struct access access_now(const struct worker *w, bool atomic)
{
    return (struct access){.command = w->launch->command,
                           .item = w->item,
                           .epoch = (uint16_t)w->epoch,
                           .atomic = atomic};
}

void command_touches(struct soft_device *d, uint32_t command, struct object *o, const void *p,
                     size_t size, bool writes)
{
    struct conflict c;
    struct access now = {.command = command};
    size_t at = (size_t)((const unsigned char *)p - o->base);
    if (cells_access(d, o->cells, at, size, now, 1, writes, &c) && c.check == SOFT_WAITS)
        soft_finding_add(d, SOFT_WAITS,
                         "a copy or fill (command %u) %s allocation %u, which command %u %s; "
                         "nothing orders it before this one",
                         command, writes ? "writes" : "reads", o->id, c.with.command,
                         c.writes ? "wrote" : "read");
}

/* ---- where an address points ---------------------------------------------------------------- */

enum region_kind { REGION_NONE, REGION_PRIVATE, REGION_LOCAL, REGION_OBJECT, REGION_ARGUMENTS };
struct region {
    enum region_kind kind;
    struct object *object;
    size_t at; /* from the region's start */
};

static bool within(const void *p, const void *base, size_t size, size_t *at)
{
    *at = (size_t)((uintptr_t)p - (uintptr_t)base);
    return *at < size;
}

static struct region region_find(struct worker *w, const void *p)
{
    struct region r = {0};
    const struct launch *l = w->launch;
    if (within(p, w->private->bytes, PRIVATE_BYTES, &r.at)) {
        r.kind = REGION_PRIVATE;
    } else if (within(p, w->local_bytes, SOFT_LOCAL_MAX, &r.at)) {
        r.kind = REGION_LOCAL;
    } else if (w->last && within(p, w->last->base, w->last->size, &r.at)) {
        r.kind = REGION_OBJECT;
        r.object = w->last;
    } else if ((r.object = memory_find(&l->device->memory, p)) != NULL) {
        r.kind = REGION_OBJECT;
        r.at = (size_t)((const unsigned char *)p - r.object->base);
        w->last = r.object;
    } else if (within(p, l->values, l->value_at[l->kernel->argument_count], &r.at)) {
        r.kind = REGION_ARGUMENTS;
    }
    return r;
}

/* The shadow byte's address for the region's first byte, NULL where all is written. */
static unsigned char *region_shadow(const struct worker *w, const struct region *r)
{
    switch (r->kind) {
    case REGION_PRIVATE:
        return w->private->shadow + r->at;
    case REGION_LOCAL:
        return w->local_shadow + r->at;
    case REGION_OBJECT:
        return r->object->written ? r->object->written + r->at : NULL;
    default:
        return NULL;
    }
}

static size_t region_room(const struct worker *w, const struct region *r)
{
    switch (r->kind) {
    case REGION_PRIVATE:
        return PRIVATE_BYTES - r->at;
    case REGION_LOCAL:
        return SOFT_LOCAL_MAX - r->at;
    case REGION_OBJECT:
        return r->object->size - r->at;
    case REGION_ARGUMENTS:
        return w->launch->value_at[w->launch->kernel->argument_count] - r->at;
    default:
        return 0;
    }
}

/* "allocation 3 (64 bytes) of argument 0": the kernel's first argument that points into it. */
static void object_name(const struct worker *w, const struct object *o, char *buf, size_t size)
{
    const struct launch *l = w->launch;
    object_describe(o, buf, size);
    for (size_t i = 0; !o->name && i < l->kernel->argument_count; i++) {
        uintptr_t p;
        if (l->kernel->arguments[i].kind != SOFT_GLOBAL)
            continue;
        memcpy(&p, l->values + l->value_at[i], sizeof p);
        if (p - (uintptr_t)o->base >= o->size)
            continue;
        const size_t used = strlen(buf);
        snprintf(buf + used, size - used, " of argument %zu", i);
        return;
    }
}

static void region_describe(const struct worker *w, const struct region *r, char *buf, size_t size)
{
    if (r->kind == REGION_OBJECT)
        object_name(w, r->object, buf, size);
    else
        snprintf(buf, size, "%s", r->kind == REGION_LOCAL ? "work-group memory" : "private memory");
}

static void outside_tell(struct worker *w, const struct region *r, const void *p, size_t size,
                         bool writes, uint32_t place)
{
    char name[120];
    const char *verb = writes ? "writes" : "reads";
    if (r->kind == REGION_PRIVATE || r->kind == REGION_LOCAL) {
        region_describe(w, r, name, sizeof name);
        found(w, SOFT_BOUNDS, place, "%s %zu bytes of %s that belong to no variable", verb, size,
              name);
        return;
    }
    const struct object *o =
        r->kind == REGION_OBJECT ? r->object : memory_nearest(&w->launch->device->memory, p);
    if (!o) {
        found(w, SOFT_BOUNDS, place, "%s %zu bytes at %p; there is no memory", verb, size, p);
        return;
    }
    object_name(w, o, name, sizeof name);
    if ((uintptr_t)p >= (uintptr_t)o->base)
        found(w, SOFT_BOUNDS, place, "%s %zu bytes at byte %zu of %s", verb, size,
              (size_t)((uintptr_t)p - (uintptr_t)o->base), name);
    else
        found(w, SOFT_BOUNDS, place, "%s %zu bytes, %zu before %s", verb, size,
              (size_t)((uintptr_t)o->base - (uintptr_t)p), name);
}

/* The access may happen; else it is a finding. */
static bool region_open(struct worker *w, const struct region *r, const void *p, size_t size,
                        bool writes, uint32_t place)
{
    if (r->kind == REGION_OBJECT && r->object->freed) {
        char name[120];
        object_name(w, r->object, name, sizeof name);
        if (looked_for(w, SOFT_FREED))
            found(w, SOFT_FREED, place, "%s %zu bytes of %s, which was freed",
                  writes ? "writes" : "reads", size, name);
        return false;
    }
    bool open = size <= region_room(w, r) &&
                !(writes && ((r->kind == REGION_OBJECT && r->object->constant) ||
                             r->kind == REGION_ARGUMENTS));
    if (open && (r->kind == REGION_PRIVATE || r->kind == REGION_LOCAL))
        open = memchr(region_shadow(w, r), PRIVATE_NONE, size) == NULL;
    if (!open && looked_for(w, SOFT_BOUNDS))
        outside_tell(w, r, p, size, writes, place);
    return open;
}

static bool region_unwritten(const struct worker *w, const struct region *r, size_t size)
{
    const unsigned char *shadow = region_shadow(w, r);
    return shadow && memchr(shadow, r->kind == REGION_OBJECT ? 0 : PRIVATE_UNWRITTEN, size) != NULL;
}

static void region_mark(const struct worker *w, const struct region *r, size_t size)
{
    unsigned char *shadow = region_shadow(w, r);
    if (shadow)
        memset(shadow, r->kind == REGION_OBJECT ? 1 : PRIVATE_WRITTEN, size);
}

/* Whether byte i of what follows the region's place is written; outside memory, as if. */
static bool region_written(const struct worker *w, const struct region *r, size_t i)
{
    const unsigned char *shadow = i < region_room(w, r) ? region_shadow(w, r) : NULL;
    return !shadow || shadow[i] == (r->kind == REGION_OBJECT ? 1 : PRIVATE_WRITTEN);
}
/* Bytes that belong to no variable stay so. */
static void region_note(const struct worker *w, const struct region *r, size_t i, bool written)
{
    unsigned char *shadow = region_shadow(w, r);
    if (shadow && r->kind == REGION_OBJECT)
        shadow[i] = written;
    else if (shadow && shadow[i] != PRIVATE_NONE)
        shadow[i] = written ? PRIVATE_WRITTEN : PRIVATE_UNWRITTEN;
}

static void region_race(struct worker *w, const struct region *r, size_t size, bool writes,
                        bool atomic, uint32_t place)
{
    struct cell *cells = r->kind == REGION_OBJECT  ? r->object->cells
                         : r->kind == REGION_LOCAL ? w->local_cells
                                                   : NULL;
    struct conflict c;
    if (!cells || !cells_access(w->launch->device, cells, r->at, size, access_now(w, atomic),
                                w->launch->group_size, writes, &c))
        return;
    char name[120];
    region_describe(w, r, name, sizeof name);
    race_tell(w, &c, writes, name, place);
}

static void stop_look(struct worker *w)
{
    struct launch *l = w->launch;
    enum { EVERY = 1 << 16 };
    if (++w->accesses % EVERY != 0 || l->deadline_s <= 0.0)
        return;
    if (launch_stops(l))
        longjmp(w->out, 1);
}

/* ---- what compiled code calls --------------------------------------------------------------- */

void *soft_check(void *p, uint64_t size_and_how, uint32_t place)
{
    struct worker *w = worker_self;
    size_t size = HOW_SIZE(size_and_how);
    bool writes = (size_and_how & HOW_WRITE) != 0, atomic = (size_and_how & HOW_ATOMIC) != 0;
    stop_look(w);
    if (size == 0)
        return p;
    struct region r = region_find(w, p);
    if (!region_open(w, &r, p, size, writes, place))
        return size <= SCRATCH_BYTES ? w->scratch : p;
    bool read = (!writes || atomic) && !(size_and_how & HOW_MOVE);
    if (looked_for(w, SOFT_UNINITIALISED) && read && region_unwritten(w, &r, size)) {
        char name[120];
        region_describe(w, &r, name, sizeof name);
        found(w, SOFT_UNINITIALISED, place, "reads %zu bytes at byte %zu of %s that nobody wrote",
              size, r.at, name);
        region_mark(w, &r, size); /* told once */
    }
    if (writes)
        region_mark(w, &r, size);
    region_race(w, &r, size, writes, atomic, place);
    return p;
}

void soft_memory_copy(void *to, const void *from, uint64_t size, uint32_t place)
{
    struct worker *w = worker_self;
    if (size == 0)
        return;
    struct region source = region_find(w, from), target = region_find(w, to);
    bool open = region_open(w, &source, from, size, false, place);
    open &= region_open(w, &target, to, size, true, place);
    if (!open)
        return;
    region_race(w, &source, size, false, false, place);
    region_race(w, &target, size, true, false, place);
    memmove(to, from, size);
    /* Bytes that nobody wrote may be padding: they stay unwritten and nobody is told. */
    for (size_t i = 0; i < size; i++)
        region_note(w, &target, i, region_written(w, &source, i));
}

void soft_shadow_move(void *to, const void *from, uint64_t offset, uint64_t size)
{
    struct worker *w = worker_self;
    struct region target = region_find(w, to), source = {0};
    size_t room = region_room(w, &target);
    if (from)
        source = region_find(w, (const unsigned char *)from + offset);
    for (size_t i = 0; i < size && i < room; i++)
        region_note(w, &target, i, from ? region_written(w, &source, i) : w->returned[offset + i]);
}

void soft_shadow_return(const void *from, uint64_t size)
{
    struct worker *w = worker_self;
    struct region source = {0};
    if (from)
        source = region_find(w, from);
    for (size_t i = 0; i < size && i < RETURNED_BYTES; i++)
        w->returned[i] = !from || region_written(w, &source, i);
}

void soft_returned_check(uint64_t size, uint32_t place)
{
    struct worker *w = worker_self;
    size = size < RETURNED_BYTES ? size : RETURNED_BYTES;
    if (looked_for(w, SOFT_UNINITIALISED) && memchr(w->returned, false, size))
        found(w, SOFT_UNINITIALISED, place,
              "reads %zu bytes that a function returned and nobody wrote", (size_t)size);
}

void soft_memory_set(void *to, uint32_t value, uint64_t size, uint32_t place)
{
    struct worker *w = worker_self;
    struct region target = region_find(w, to);
    if (size == 0 || !region_open(w, &target, to, size, true, place))
        return;
    region_race(w, &target, size, true, false, place);
    region_mark(w, &target, size);
    memset(to, (int)value, size);
}

uint64_t soft_private_enter(void) { return worker_self->private->used; }

void soft_private_leave(uint64_t mark)
{
    struct private_memory *p = worker_self->private;
    memset(p->shadow + mark, PRIVATE_NONE, p->used - mark);
    p->used = mark;
}

void *soft_private_make(uint64_t size, uint64_t align)
{
    struct worker *w = worker_self;
    struct private_memory *p = w->private;
    align = align < PRIVATE_GAP ? PRIVATE_GAP : align;
    size_t at = (p->used + align - 1) & ~(size_t)(align - 1);
    if (size > PRIVATE_BYTES || at + size + PRIVATE_GAP > PRIVATE_BYTES) {
        found(w, SOFT_BOUNDS, UINT32_MAX - 1, "a work-item's variables take more than %d bytes",
              PRIVATE_BYTES);
        longjmp(w->out, 1);
    }
    memset(p->shadow + at, PRIVATE_UNWRITTEN, size);
    p->used = at + size + PRIVATE_GAP;
    return p->bytes + at;
}
