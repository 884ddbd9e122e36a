/* SPDX-License-Identifier: Apache-2.0 */
/* The model restricted (Sanzharov, Frolov and Galaktionov's restricted mega-kernel): each master,
 * which is a shader that layers are instances of, is a function of the kernel's text; what a
 * material runs is a program in the scene's words, which k_shade walks. Words of a program:
 *
 *   steps
 *   master, argument area, first word of the stack for its outputs, 1: Ci goes to the lobes
 *   ... one such row a step
 *   drives, or SHADE_NO_BASE where Ci says all
 *   enum drive_id, words of the stack for x, y, z
 *   ... one such row a drive
 *
 * Word i of an argument area says where argument i of the master stands: a word of the scene, or of
 * the stack with the bit SHADE_ON_STACK, as an int that is read as a float with SHADE_FROM_INT.
 * Then come the words of images (shaders.h, asl_emitted). The text depends on the masters alone, on
 * strings among their parameters, and on how deep the stack is, in powers of two. */
#ifndef ISOPHOTE_SHADE_MASTERS_H
#define ISOPHOTE_SHADE_MASTERS_H

#include "shade_scene.h"
#include "shade_words.h"

#define SHADE_ON_STACK 0x80000000u
#define SHADE_FROM_INT 0x40000000u
#define SHADE_NO_BASE  0xFFFFFFFFu

/* Appends to out->source, fills the materials. Fails: UNSUPPORTED (names material and layer),
 * LIMIT, MEMORY. */
enum status shade_masters_make(const struct scene *s, struct shade_words *words,
                               struct shade_scene *out, struct error *err);

/* shade_scene.c, for the making of both forms. */
enum status shade_keep_loops(struct shade_scene *x, const struct asl_emitted *emitted,
                             struct error *err);
struct shade_voice_place {
    uint32_t material, args; /* args: the word where the argument area begins */
    size_t table;
};
enum status shade_keep_voice(struct shade_scene *x, const struct scene *s,
                             const struct asl_code *code, const char *const *outputs,
                             const struct shade_voice_place *at, struct error *err);
void shade_stats_add(struct shading_stats *s, const struct asl_code *code);
/* The layer and parameter that "layer.output" says; false: the group has none. */
bool shade_drive_find(const struct asl_group *g, const char *name, size_t *layer, size_t *param);
#endif
