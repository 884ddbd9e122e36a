/* The device program. The host embeds this file with its includes resolved (embed.cmake). */
// clang-format off
#include "portable.h"
#ifndef K_FEATURES
#define K_FEATURES (K_FEATURE_ALL & ~K_FEATURES_OF_TEXT)
#endif
#include "features.h"
#include "launch.h"
#include "vec.h"
#include "elementary.h"
#include "faults.h"
#include "random.h"
#include "scene.h"
#include "texture.h"
#include "intersect.h"
#include "instance.h"
#include "cutout.h"
#include "lanes.h"
#include "traverse2.h"
#include "traverse8.h"
#include "traverse8c.h"
#include "traverse.h"
#include "environment.h"
#include "surface.h"
#include "material.h"
#if K_HAS(LOBES) || K_HAS(MEDIA)
#include "exponential.h"
#endif
#if K_HAS(LOBES)
#include "lobes.h"
#include "material_lobes.h"
#endif
#include "camera.h"
#include "light_tree.h"
#include "normal_map.h"
#include "media.h"
#if K_HAS(SHADERS)
#include "shade.h"
#endif
#include "light.h"
#include "scatter.h"
#include "path.h"
#include "film.h"
#include "passes.h"
#include "probe.h"
#include "entries.h"
