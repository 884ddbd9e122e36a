/* SPDX-License-Identifier: Apache-2.0 */
/* A made-up store for the tests: two runs and a sweep of four devices, one of them with a hostile
 * name. Every figure in it is a formula. */
#ifndef ISOPHOTE_REPORTS_SAMPLE_STORE_H
#define ISOPHOTE_REPORTS_SAMPLE_STORE_H

#include "reports.h"

extern const char sample_hostile[]; /* what must never reach a report unescaped */

/* slower: factor on the rates of device 1; broken: cases of device 1 that fail. */
enum status sample_store_fill(struct store *s, double factor, unsigned broken, struct error *err);

/* A PNG of a made-up picture, stored deflate blocks; in the arena. */
const void *sample_png(struct arena *a, uint32_t width, uint32_t height, unsigned look,
                       size_t *size);

#endif
