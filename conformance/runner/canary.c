/* SPDX-License-Identifier: Apache-2.0 */
#include "canary.h"

#include <string.h>

/* A twentieth of the time at most, on devices where one takes long. */
enum { SHARE = 20 };

bool canary_due(const struct canary *c, double interval_s, bool held, bool idle, bool wanted)
{
    if (c->running || c->health == HEALTH_SICK)
        return false;
    if (c->health == HEALTH_UNKNOWN)
        return held || wanted;
    const double took = c->ended - c->started, least = SHARE * took;
    return held && (idle || clock_s() - c->ended >= (least > interval_s ? least : interval_s));
}

static void sick(struct canary *c, const char *now, const char *before)
{
    c->health = HEALTH_SICK;
    snprintf(c->why, sizeof c->why, "its canary gave \"%s\"%s%s%s", now, before ? " after \"" : "",
             before ? before : "", before ? "\"" : "");
}

void canary_take(struct canary *c, const struct conform_result *r)
{
    char said[sizeof c->answer];
    snprintf(said, sizeof said, "%s", r->reason ? r->reason : "");
    c->running = false;
    c->ended = clock_s();
    if (r->verdict ==
        VERDICT_ERROR) { /* a canary may be lost once to what is no fault of its own */
        c->health = HEALTH_UNKNOWN;
        if (++c->errors > 1)
            sick(c, said, "an ERROR");
        return;
    }
    c->errors = 0;
    if (!c->answered && r->verdict == VERDICT_FAIL && !c->first[0]) {
        memcpy(c->first, said, sizeof said);
        return;
    }
    if (!c->answered && c->first[0] && strcmp(c->first, said) != 0) {
        sick(c, said, c->first);
        return;
    }
    if (!c->answered) {
        memcpy(c->answer, said, sizeof said);
        c->answered = true;
        c->known = r->verdict != VERDICT_FAIL;
    }
    if (strcmp(c->answer, said) == 0)
        c->health = HEALTH_WELL;
    else
        sick(c, said, c->answer);
}

void canary_doubt(struct canary *c)
{
    if (c->health == HEALTH_WELL)
        c->health = HEALTH_UNKNOWN;
}

/* Is the part of `a` with that many bytes, less "/llvm", one of those of b? */
static bool part_of(const char *a, size_t n, const char *b)
{
    const char *slash = memchr(a, '/', n);
    n = slash ? (size_t)(slash - a) : n;
    for (const char *at = b;; at++) {
        const size_t len = strcspn(at, "/+");
        if (len == n && memcmp(at, a, n) == 0)
            return true;
        at = strchr(at, '+');
        if (!at)
            return false;
    }
}

bool devices_share(const char *a, const struct device_info *x, const char *b,
                   const struct device_info *y)
{
    for (const char *at = a;; at++) {
        const size_t n = strcspn(at, "+");
        if (part_of(at, n, b))
            return true;
        at += n;
        if (!*at)
            break;
    }
    if (x->uuid[0] && y->uuid[0])
        return strcmp(x->uuid, y->uuid) == 0;
    return x->kind == DEVICE_GPU && y->kind == DEVICE_GPU && x->name[0] &&
           strcmp(x->name, y->name) == 0;
}
