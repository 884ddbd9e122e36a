/* SPDX-License-Identifier: Apache-2.0 */
/* The models of stages: a launch is a batch of paths, whose stages are started one after the other
 * (device/path/batch.h). */
#ifndef ISOPHOTE_BATCH_H
#define ISOPHOTE_BATCH_H

#include "device.h"

/* Paths that a device is given at once for a tile of `tile` pixels with `samples` of each: all, or
 * `wanted`, 0 for as many as are worth their memory; a row of it at least. */
uint32_t batch_slots(const struct device_info *info, const uint32_t tile[2], uint32_t samples,
                     uint32_t wanted);
/* Memory for so many, in pixels of a film. */
size_t batch_pixels(uint32_t slots);
/* The first piece of a launch that has room in batch_slots: fewer samples, or a sample of fewer
 * rows. */
struct k_launch batch_piece(const struct k_launch *launch);
/* Starts all stages of a piece; queued or done when it returns, as backend_api.launch says. Where
 * timed is not NULL each stage is waited for, and its seconds are added. */
enum status batch_launch(const struct device *d, const struct k_launch *piece,
                         const uint32_t grid[2], const uint32_t work_group[2],
                         struct stage_times *timed, struct error *err);

#endif
