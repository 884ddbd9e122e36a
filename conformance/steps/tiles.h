/* SPDX-License-Identifier: Apache-2.0 */
/* The sums of a film's tiles: what of a picture goes into an archive. */
#ifndef CONFORMANCE_STEPS_TILES_H
#define CONFORMANCE_STEPS_TILES_H

#include "backends.h"
#include "reports.h"

enum { TILE_SIDE = 16 };

/* The tile's place in a picture: x, y, width, height. False behind the last. */
bool tile_place(uint32_t width, uint32_t height, uint64_t tile, uint32_t place[4]);
/* Of a part of a film, which lies at (x, y) of the whole picture: pixels from (left, top) on. */
enum status tile_sum(const struct film *f, uint32_t left, uint32_t top, const uint32_t place[4],
                     struct sum *out, struct error *err);
/* What determines the bits of a strict film of a scene, as compact JSON in the arena. */
const char *film_job_text(struct arena *a, const struct render_job *job, int32_t exponent);
/* All but name, device and identity. In the arena. Fails: MEMORY. */
enum status film_record_fill(struct arena *a, const struct render_job *job, const struct film *film,
                             struct film_record *out, struct error *err);

#endif
