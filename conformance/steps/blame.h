/* SPDX-License-Identifier: Apache-2.0 */
/* Which part of the device's text is to blame for a picture that is wrong: the stage of a path, and
 * the function to look at first. docs/explanation/detection_power.md says what counts as right. */
#ifndef CONFORMANCE_BLAME_H
#define CONFORMANCE_BLAME_H

#include "conformance.h"

/* "light/light.h k_light_sample_make": what of device/ computes that field, as the steps name both.
 * Never NULL. */
const char *blame_function(const char *stage, const char *field);

/* conform_lockstep, whose text does not say the blame yet. */
enum status lockstep_search(struct device *d, const struct scene *s, const struct render_job *job,
                            uint64_t max_samples, struct divergence *out, struct error *err);
/* "; stage to blame: light (light/light.h k_light_sample_make)" goes to the text's end, in place of
 * what is said there. */
void divergence_blame(struct divergence *d, const char *stage);

/* The cause of a strict film whose pixel (x, y) has other bits than native's, on the device as it
 * is loaded and built. The reference says what is wrong by more than rounding. In mode strict there
 * is more to be had: native's bits are known to be right, so the first field of a path with others
 * is where the mistake is, however small; where several functions make that field, the device's
 * probes of each are held against native's. The stage, function and text of *out are by these bits
 * where they differ, else by the reference. Fails: as conform_lockstep, and where native cannot be
 * opened. */
enum status judge_cause(struct device *d, const struct scene *s, const struct render_job *job,
                        uint32_t x, uint32_t y, struct divergence *out, struct error *err);

#endif
