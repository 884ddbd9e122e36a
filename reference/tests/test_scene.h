/* SPDX-License-Identifier: Apache-2.0 */
/* Scenes made in memory, for tests. */
#ifndef REFERENCE_TEST_SCENE_H
#define REFERENCE_TEST_SCENE_H

#include "lights/light.h"
#include "numbers/vec.h"
#include "reference.h"

enum { TEST_PRIMITIVES = 4096, TEST_MATERIALS = 16 };

/* Empty: no environment; a pinhole camera at the origin that looks along -z with a right angle of
 * view. */
struct scene *test_scene_new(void);
void test_scene_free(struct scene *s);

/* Return the material's index. */
uint32_t test_material(struct scene *s, struct material m);
uint32_t test_diffuse(struct scene *s, double reflectance);
uint32_t test_emitter(struct scene *s, double radiance); /* black, one-sided */

void test_triangle(struct scene *s, uint32_t material, struct vec3 a, struct vec3 b, struct vec3 c);
/* The parallelogram at corner with sides e and f; Ng points along e x f. */
void test_quad(struct scene *s, uint32_t material, struct vec3 corner, struct vec3 e,
               struct vec3 f);
/* The box centre + [-1, 1] of each half axis, seen from outside; right-handed axes. */
void test_box(struct scene *s, uint32_t material, struct vec3 center, struct vec3 x, struct vec3 y,
              struct vec3 z);
/* All triangles before the first sphere, all spheres before the first disk. */
void test_sphere(struct scene *s, uint32_t material, struct vec3 center, double radius);
void test_disk(struct scene *s, uint32_t material, struct vec3 center, struct vec3 normal,
               double radius);
void test_constant(struct scene *s, double radiance);
/* A map of width x height texels in RGB, +y up, not rotated. The scene's arena holds a copy. */
void test_map(struct scene *s, uint32_t width, uint32_t height, const float *rgb);
void test_camera(struct scene *s, struct vec3 origin, struct vec3 target, struct vec3 up,
                 double tan_half_fov);

/* The Cornell box as Mitsuba 3's cornell_box() has it. */
struct scene *test_cornell(void);

/* Each fails the running test if that fails. */
struct reference *test_open(const struct scene *s);
struct lights test_lights(const struct scene *s); /* lights_prepare */

/* Opens, renders, closes; fails the running test if that fails. */
struct reference_picture test_render(const struct scene *s, const struct reference_job *job);

/* Mean of one channel over all pixels, and its standard error from the variance pass. */
double picture_mean(const struct reference_picture *p, int channel, double *standard_error);

/* Fails the running test unless |v - expected| <= relative |expected|. */
void near_relative(double v, double expected, double relative);

#endif
