/* SPDX-License-Identifier: Apache-2.0 */
/* What a report shows: a store's records, with devices as columns and each key's newest result. */
#ifndef ISOPHOTE_REPORTS_SNAPSHOT_H
#define ISOPHOTE_REPORTS_SNAPSHOT_H

#include "store.h"

struct snapshot_run {
    struct run_record record;
    const struct json *environment; /* NULL if there is none */
    const struct json *selection;   /* of a conformance run; NULL if there is none */
    const char *host;               /* "" if not known */
    size_t store;                   /* of those given */
    bool shown;                     /* some row of it is in the snapshot */
};
/* One device with one driver and compiler on one host. */
struct snapshot_column {
    struct device_record device;
    const struct json *detail; /* NULL if there is none */
    const char *host;
    const char *label; /* its name and driver; unique among the columns */
    size_t run;        /* index of the newest run with it */
    size_t count[VERDICT_COUNT], waived, cases;
    struct outcome_sum outcomes;
    size_t listed,
        unexplained; /* cases of the list, and SKIPs of it that no list of skips expects */
    size_t forgiven; /* what would be a finding without its waiver */
    const struct identity *program; /* that made one of these; NULL: not told */
    bool mixed;                     /* others made others of these */
    bool asked;                     /* of a conformance run, whether or not it has cases */
    bool whole, conformant; /* all of the list is there; nothing in it is a finding or forgiven */
};
struct snapshot_case {
    const struct case_record *record;
    size_t column, run;
};
struct snapshot_bench {
    const struct bench_record *record;
    const struct json *phases, *detail; /* NULL if there are none */
    size_t column, run;
    bool sweep;
};
struct snapshot_image {
    const struct image_record *record;
    size_t column, run;
};
struct snapshot_number_format {
    const struct number_format_record *record;
    size_t run;
};
struct snapshot {
    struct snapshot_run *runs;
    struct snapshot_column *columns;
    struct snapshot_case *cases;    /* by name, then column */
    struct snapshot_bench *benches; /* in the order of adding */
    struct snapshot_image *images;
    struct snapshot_number_format
        *formats; /* by host, scene, job, bits and name; the newest of each */
    size_t run_count, column_count, case_count, bench_count, image_count, format_count;
    const char **names; /* of cases, sorted, each once */
    size_t name_count;
    const char *list, *list_hash; /* of the newest conformance run; NULL: not known */
    size_t list_cases;
    bool same_list;               /* all the runs shown had it */
    bool mixed;                   /* a device's cases were judged by programs that differ */
    size_t judged, judged_listed; /* cases judged on some device; of these, of a list */
    const struct identity **identities;
    size_t identity_count;
    size_t hidden;                       /* results of older drivers and compilers, left out */
    const struct snapshot_case **matrix; /* [name][column]; NULL where there is none */
};

/* Of several stores as of one that holds all their runs, by the time at which they began. */
enum status snapshot_load(struct store *const *stores, size_t count, struct arena *a, bool all_runs,
                          struct snapshot *out, struct error *err);

/* Order of the settings that make a bench row's key, device and run left out: scene, mode, bvh,
 * model, size, spp, depth, work-group, tile, batch. */
int bench_key_order(const struct bench_record *a, const struct bench_record *b);
/* "code-object.KIND.ARCH.MODE.ENTRY" of tools/code-objects: counted for no device. */
bool case_is_code_object(const char *name);
/* strcmp with NULL as "". */
int text_order(const char *a, const char *b);

#endif
