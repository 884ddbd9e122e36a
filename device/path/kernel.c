/* SPDX-License-Identifier: Apache-2.0 */
/* The device program. The host embeds this file with its includes resolved (embed.cmake). */
// clang-format off
#include "portable.h"
#ifndef K_FEATURES
#define K_FEATURES (K_FEATURE_ALL & ~K_FEATURES_OF_TEXT)
#endif
#include "features.h"
#include "launch.h"
#include "math/vec.h"
#include "math/elementary.h"
#include "faults.h"
#include "math/random.h"
#include "scene/scene.h"
#include "scene/texture.h"
#include "trace/intersect.h"
#include "trace/instance.h"
#include "trace/cutout.h"
#include "math/vec8.h"
#include "trace/traverse2.h"
#include "trace/traverse8.h"
#include "trace/traverse8c.h"
#include "trace/traverse.h"
#include "light/environment.h"
#include "surface/surface.h"
#include "surface/rays.h"
#include "surface/material.h"
#include "math/exponential.h"
#include "surface/lobes.h"
#include "surface/material_lobes.h"
#include "scene/camera.h"
#include "light/light_tree.h"
#include "light/light_wide.h"
#include "surface/normal_map.h"
#include "path/media.h"
#if K_RUNS_SHADERS
#include "surface/shade.h"
#endif
#include "light/light.h"
#include "path/scatter.h"
#include "path/stages.h"
#include "path/path.h"
#include "path/film.h"
#ifdef K_STAGED
#include "path/batch.h"
#endif
#include "path/passes.h"
#include "path/probe.h"
#include "path/entries.h"
