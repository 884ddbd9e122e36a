/* SPDX-License-Identifier: Apache-2.0 */
/* What generate/ offers: ASL programs and scenes at random, and smaller ones.
 *   asl_generate.h     programs
 *   asl_generator.h    the dice, for calls of one builtin
 *   asl_reduce.h       delta debugging of programs
 *   scene_generate.h   scenes
 *   scene_reduce.h     delta debugging of scenes
 *   scene_relations.h  scenes that have the same picture
 *   scene_tree.h       a scene's file as a tree
 */
#ifndef ISOPHOTE_CONFORMANCE_GENERATE_OFFERS_H
#define ISOPHOTE_CONFORMANCE_GENERATE_OFFERS_H

#include "asl_generate.h"
#include "asl_generator.h"
#include "asl_reduce.h"
#include "scene_generate.h"
#include "scene_reduce.h"
#include "scene_relations.h"
#include "scene_tree.h"

#endif
