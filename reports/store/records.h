/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of every record, one table for the SQL schema, JSON Lines and the checks. */
#ifndef ISOPHOTE_REPORTS_RECORDS_H
#define ISOPHOTE_REPORTS_RECORDS_H

#include "reports.h"

enum field_type {
    FIELD_TEXT,    /* const char *, NULL allowed */
    FIELD_KEY,     /* const char *, not NULL */
    FIELD_JSON,    /* const char *, NULL or a JSON document */
    FIELD_VERDICT, /* enum verdict, written as its name */
    FIELD_IMAGE,   /* enum image_kind, written as its name */
    FIELD_U32,
    FIELD_REAL, /* double, finite */
    FIELD_BOOL,
    FIELD_BYTES, /* const void *, with the size_t after it; base64 in JSON Lines */
};
struct field {
    const char *name;
    enum field_type type;
    size_t offset;
    int since; /* version of the schema that brought it */
};

enum record_kind {
    RECORD_RUN,
    RECORD_IDENTITY,
    RECORD_DEVICE,
    RECORD_CASE,
    RECORD_BENCH,
    RECORD_IMAGE,
    RECORD_FILM,
    RECORD_NUMBER_FORMAT,
    RECORD_COUNT
};
struct record_layout {
    const char *name;  /* the type key of JSON Lines */
    const char *table; /* in SQL */
    size_t size;
    const struct field *fields;
    size_t count;
    int since;
};
extern const struct record_layout record_layouts[RECORD_COUNT];

const char *image_kind_name(enum image_kind k); /* "picture" */
/* By name; false if there is none. */
bool verdict_parse(const char *name, enum verdict *out);
bool image_kind_parse(const char *name, enum image_kind *out);

/* `text` in compact form, in the arena. ARG when it is not JSON; `what` names it. */
enum status json_compact(struct arena *a, const char *what, const char *text, const char **out,
                         struct error *err);

/* The rules of a record beyond its types (ARG): needed keys, finite numbers, no rate without PASS.
 */
enum status record_check(enum record_kind kind, const void *record, struct error *err);

#endif
