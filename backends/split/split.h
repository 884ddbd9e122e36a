/* Several devices that render one picture: "cuda:0+cuda:1". */
#ifndef ISOPHOTE_SPLIT_H
#define ISOPHOTE_SPLIT_H

#include "api/backend_api.h"

/* Is this the id of several devices? */
bool split_is(const char *id);
/* Describes them as one device: id from the members' own ids, sums of units, least of limits. Each
 * part of `id` is an id or a part of a name, as device_find takes. Fails: as device_find; ARG (more
 * than SPLIT_MEMBERS_MAX, or one twice). */
enum status split_describe(const char *id, struct device_info *out, struct error *err);
#define SPLIT_MEMBERS_MAX 16

extern const struct backend_api split_api;

#endif
