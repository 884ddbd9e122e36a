/* SPDX-License-Identifier: Apache-2.0 */
/* Text for people and for parsers: escaping, and numbers with units. */
#ifndef ISOPHOTE_REPORTS_MARKUP_H
#define ISOPHOTE_REPORTS_MARKUP_H

#include "base.h"

/* s as character data or attribute value of HTML and XML 1.0: the five special characters become
 * references, what XML does not allow and bad UTF-8 become U+FFFD. NULL writes nothing. */
void markup_escape(struct text *t, const char *s);
/* printf with {s}-like care: every %s argument is escaped. Knows %s, %d, %zu, %u, %lld, %.Nf, %.Ng
 * and %%; "%!" takes a string as it is. */
void markup_printf(struct text *t, const char *fmt, ...);

/* Numbers as people read them, in a caller's buffer of 32 bytes, which they return. */
const char *rate_text(double samples_per_s, char buf[32]); /* "12.3 M/s" */
const char *seconds_text(double s, char buf[32]);          /* "12.3 ms"; "-" below 0 */
const char *bytes_text(double bytes, char buf[32]);        /* "1.5 GiB" */
const char *ratio_text(double r, char buf[32]);            /* "0.82" */

#endif
