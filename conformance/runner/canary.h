/* SPDX-License-Identifier: Apache-2.0 */
/* Whether devices are well: a small picture with known bits (cases/cases_canary.c), asked for before
 * a device's first case, when the interval is over, after each ERROR, and after its last case. What
 * ended since the last right answer is held back until the next one. */
#ifndef CONFORMANCE_CANARY_H
#define CONFORMANCE_CANARY_H

#include "conformance.h"

enum health {
    HEALTH_UNKNOWN, /* not asked yet, or something happened since: no case is started */
    HEALTH_WELL,
    HEALTH_SICK
};
struct canary {
    enum health health;
    bool running, answered;
    bool known;            /* answered, and with the right answer */
    double started, ended; /* of the last one, by clock_s */
    unsigned errors;       /* in a row */
    char answer[700];      /* what it says each time */
    char first[700];       /* a wrong first answer, which a second one has to confirm */
    char why[1600];        /* of a sick one */
};

/* Is the time for one up? held: results wait; idle: nothing is left to run on the device; wanted:
 * something waits for the device. */
bool canary_due(const struct canary *c, double interval_s, bool held, bool idle, bool wanted);
/* What came back sets health, unless another run is needed to tell. */
void canary_take(struct canary *c, const struct conform_result *r);
/* A result says that the device may not be well. */
void canary_doubt(struct canary *c);
/* Can two devices be one card? By its UUID where both tell one; else two GPUs of one name may. Parts
 * that stand behind an id ("/llvm") and devices joined by '+' are seen through. */
bool devices_share(const char *a, const struct device_info *x, const char *b,
                   const struct device_info *y);

#endif
