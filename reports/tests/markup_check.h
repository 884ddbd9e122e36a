/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: is a document well-formed (libxml2 says), and what does it refer to? */
#ifndef ISOPHOTE_REPORTS_MARKUP_CHECK_H
#define ISOPHOTE_REPORTS_MARKUP_CHECK_H

#include "base.h"

struct markup_facts {
    size_t elements, scripts, links; /* links: href and src attributes */
    char outside[256]; /* the first href, src, url() or @import that leaves the document; "" if none
                        */
    char problem[256]; /* the first breach of well-formedness; "" if none */
};
/* Reads XML 1.0; a leading <!DOCTYPE html> is fine. */
void markup_check(const char *s, struct markup_facts *out);
/* How often `what` occurs. */
size_t text_count(const char *s, const char *what);

#endif
