/* SPDX-License-Identifier: Apache-2.0 */
/* What a scene may need of the kernel. A program is compiled with -DK_FEATURES=BITS for those that
 * its scene uses: the rest is not in it and costs no registers. Host and device include this. */
#ifndef K_FEATURES_H
#define K_FEATURES_H

#define K_FEATURE_LOBES           0x001u /* materials that are lists of lobes */
#define K_FEATURE_SHADERS         0x002u /* materials that run ASL */
#define K_FEATURE_INSTANCES       0x004u /* two-level trees */
#define K_FEATURE_CUTOUTS         0x008u /* hits that do not count: alpha masks, single sides */
#define K_FEATURE_MEDIA           0x010u /* homogeneous media, interfaces */
#define K_FEATURE_LIGHTS          0x020u /* point, spot and directional lights */
#define K_FEATURE_LIGHT_TREE      0x040u /* lights are chosen by a tree */
#define K_FEATURE_TEXTURED_LIGHTS 0x080u /* emission that varies over a surface */
#define K_FEATURE_CAMERAS         0x100u /* anything but a box-filtered perspective */
#define K_FEATURE_NORMAL_MAPS     0x200u
#define K_FEATURE_BALANCE         0x400u  /* MIS by the balance heuristic */
#define K_FEATURE_TEXELS16        0x800u  /* textures of 16 bits a channel */
#define K_FEATURE_COLORS          0x1000u /* vertex colours */
#define K_FEATURE_LAYERS          0x2000u /* principled's coat, fuzz, specular colour, thin walls */
/* K_FEATURES_EXACT: what materials, shaders and lights can ask for, so that the rest is not
 * compiled. */
#define K_FEATURE_TEXTURES   0x4000u /* of materials */
#define K_FEATURE_ENV_MAPS   0x8000u
#define K_FEATURE_ROUND      0x10000u /* spheres and disks */
#define K_FEATURE_LISTED     0x20000u /* lists that no shader makes */
#define K_FEATURE_CONDUCTOR  0x40000u
#define K_FEATURE_DIELECTRIC 0x80000u  /* smooth, of section 7 */
#define K_FEATURE_PRINCIPLED 0x100000u /* of section 7 */
#define K_FEATURE_OREN_NAYAR 0x200000u /* lobes */
#define K_FEATURE_BURLEY     0x400000u /* and principled beyond section 7 */
#define K_FEATURE_SHEEN      0x800000u
#define K_FEATURE_PHONG      0x1000000u
#define K_FEATURE_WARD       0x2000000u
#define K_FEATURE_REFLECT    0x4000000u
#define K_FEATURE_REFRACT    0x8000000u
#define K_FEATURE_BECKMANN   0x10000000u
#define K_FEATURE_COAT       0x20000000u
#define K_FEATURE_VELVET     0x40000000u
#define K_FEATURES_EXACT     0x7FFFC000u
#define K_FEATURE_RAYS       0x80000000u /* of shaders: trace(), occlusion() */
#define K_FEATURE_ALL        0xFFFFFFFFu
/* What a scene may have whose paths go abreast (linked/lanes_library.c): a path's stage then has no
 * loop and no memory of its own. A choice among so many lights takes three steps. */
#define K_FEATURES_ABREAST (K_FEATURE_PRINCIPLED | K_FEATURE_CONDUCTOR)
#define K_LIGHTS_ABREAST   8u
/* What only a scene's own text can bring: no program made before knows it. */
#define K_FEATURES_OF_TEXT (K_FEATURE_SHADERS | K_FEATURE_RAYS)

/* Has this program the feature? For `if`, not for #if: a constant of the text, or of a function
 * that bitcode is linked with (K_LINKED; K_FEATURES then is what it may be asked for). What
 * features need is in every text, and what nothing reads falls away. */
#ifdef K_LINKED
K_EXTERN uint k_features(void);
#define K_HAS(name) ((K_FEATURES & k_features() & K_FEATURE_##name) != 0u)
#else
#define K_HAS(name) ((K_FEATURES & K_FEATURE_##name) != 0u)
#endif
/* For #if: may it have the feature? Shaders alone ask, whose functions come with a scene's text. */
#define K_MAY_HAVE(name) ((K_FEATURES & K_FEATURE_##name) != 0u)

/* -DK_PIECE=N: of a path's stages the program has these alone, so that a compiler makes several
 * pieces at once (enum program_piece of backend_api.h). The text of shaders comes with those that
 * shade, though all know whether there are any. */
#define K_PIECE_ENDS   1 /* a path's start, the sort, the film */
#define K_PIECE_FLY    2
#define K_PIECE_SHADE  3 /* and the rays of occlusion */
#define K_PIECE_SHADOW 4
#ifdef K_PIECE
#define K_HAS_PIECE(name) (K_PIECE == K_PIECE_##name)
#else
#define K_HAS_PIECE(name) 1
#endif
#define K_RUNS_SHADERS (K_MAY_HAVE(SHADERS) && K_HAS_PIECE(SHADE))

#endif
