/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of an audit: what its parts share. */
#ifndef CONFORMANCE_AUDIT_AUDIT_H
#define CONFORMANCE_AUDIT_AUDIT_H

#include "conformance.h"

struct auditing {
    struct arena *a;
    const struct audit_options *o;
    const struct archive *in;
    struct audit *out;
    struct audit_line **last_finding, **last_note;
    const struct run_record *run;
    const struct json *selection;
    struct device_record *devices;
    struct case_record *cases;
    struct film_record *films;
    size_t device_count, case_count, film_count;
    const struct case_record **by_name; /* the cases, by name and device */
    const char *challenge;              /* that the run answers; NULL: none */
    const struct identity **identities;
    size_t identity_count;
    const struct conform_case *selected; /* what the run was to judge, by this program */
    size_t selected_count;
    struct conform_options selected_by; /* its list is list.txt's */
};
void audit_finding(struct auditing *u, const char *check, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void audit_note(struct auditing *u, const char *check, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
const struct case_record *audit_case(const struct auditing *u, const char *name,
                                     const char *device);
/* The case in this program; NULL if it has none. */
const struct conform_case *audit_known(const struct auditing *u, const char *name);

/* again.c: tiles and cases, drawn and made again. */
enum status audit_tiles(struct auditing *u, struct error *err);
enum status audit_cases(struct auditing *u, struct error *err);

#endif
