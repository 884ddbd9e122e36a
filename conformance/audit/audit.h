/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of an audit: what its parts share. */
#ifndef CONFORMANCE_AUDIT_AUDIT_H
#define CONFORMANCE_AUDIT_AUDIT_H

#include "conformance.h"
#include "runner/offers.h"

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
    struct input_hashes hashes;         /* of this program's files */
    const struct identity *program;     /* of the run; NULL: it names none */
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

/* A result's identity: is it of the run's program and of that device's, and does it name the scene
 * (its path, here; NULL: none, or not known) and other files as this program has them? */
enum status audit_identity(struct auditing *u, const struct identity *id, const char *name,
                           const char *device, const char *scene, struct error *err);
const struct device_record *audit_device(const struct auditing *u, const char *id);
/* The value of a part; "": it has none so named. */
const char *audit_part(const struct identity *id, const char *name);

/* A picture whose tiles can be rendered here. */
struct picture {
    const struct film_record *f;
    const char *scene;   /* path, here */
    bool of_row;         /* of bench: its job is what the film says; else what the case renders */
    size_t first, count; /* tiles, of all pictures' */
};
/* again.c: draws tiles of pictures and renders them. Pictures of one scene stand together. */
enum status audit_pictures(struct auditing *u, const struct picture *list, size_t count,
                           struct error *err);
enum status audit_tiles(struct auditing *u, struct error *err);
/* rows.c: a run of bench or sweep. */
enum status audit_rows(struct auditing *u, struct store *results, struct error *err);
enum status audit_cases(struct auditing *u, struct error *err);

#endif
