/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of level kernel, by file: bsdf in cases_bsdf.c and cases_furnace.c,
 * values at edges in cases_values.c, the rest in cases_geometry.c and cases_light.c. */
#ifndef CONFORMANCE_CASES_KERNEL_H
#define CONFORMANCE_CASES_KERNEL_H

#include "case.h"

enum status kernel_bsdf_chi_square(struct run_context *c, struct error *err);
enum status kernel_bsdf_step(struct run_context *c, struct error *err);
enum status kernel_bsdf_furnace(struct run_context *c, struct error *err);
enum status kernel_bsdf_furnace_white(struct run_context *c, struct error *err);
enum status kernel_material(struct run_context *c, struct error *err);
enum status kernel_hit(struct run_context *c, struct error *err);
enum status kernel_trees(struct run_context *c, struct error *err);
enum status kernel_light(struct run_context *c, struct error *err);
enum status kernel_lights(struct run_context *c, struct error *err);
enum status kernel_environment(struct run_context *c, struct error *err);
enum status kernel_texture(struct run_context *c, struct error *err);
enum status kernel_texels(struct run_context *c, struct error *err);
enum status kernel_values(struct run_context *c, struct error *err);
/* The scene of all materials with numbers of their own. */
enum status materials_scene(struct run_context *c, struct error *err);

#endif
