/* SPDX-License-Identifier: Apache-2.0 */
/* What the host hands the kernel: fixed layouts of 32-bit words, the same on every device. Host and
 * device include this file. */
#ifndef K_LAUNCH_H
#define K_LAUNCH_H

#include "features.h"

#ifndef K_PORTABLE_H
#include <stdint.h>
typedef uint32_t k_word;
typedef int32_t k_index;
#else
typedef uint k_word;
typedef int k_index;
#endif

/* One launch: a tile of pixels, a run of samples. */
struct k_launch {
    k_word width, height; /* picture */
    k_word tile_x, tile_y, tile_w, tile_h;
    k_word sample_begin, sample_count;
    k_word max_depth, rr_depth;
    k_word seed[2];
    k_word accumulate;   /* 0: store to the film; 1: add to it */
    float film_scale[2]; /* two powers of two whose product is 2^exponent */
    float origin[3], right[3], up[3], forward[3], tan_x, tan_y, lens_radius, focus_distance;
    k_word env_type, env_width, env_height; /* type: 0 none, 1 constant, 2 map */
    float env_radiance[3], env_to_local[9];
    float p_env;
    k_word light_count; /* all but the environment */
    k_word light_last;  /* the last one with a weight; meaningless without lights */
    k_word triangle_count, sphere_count, disk_count;
    k_word bvh;   /* 2: binary; 8: eight-wide; 80: compressed eight-wide; 1: none, each primitive is
                tried; 0: there are none */
    k_word probe; /* enum probe, for k_probe */
    k_word rows;  /* work-items of k_probe */
    k_word trace_x, trace_y, trace_capacity; /* for k_trace; the sample is sample_begin */
    k_word camera_type, filter, blades;      /* K_CAMERA_*, K_FILTER_* */
    float filter_radius;                     /* pixels; 0: positions are x + u */
    float lens_x;            /* the aperture's extent along `right`; along `up` it is lens_radius */
    float clamp;             /* of a sample's largest channel; 0: none */
    k_word cutouts;          /* there are materials with `cutout` */
    k_word media;            /* there are media or interfaces */
    k_word camera_media;     /* where paths start: as media.h lists them */
    k_word area_light_count; /* lights from here on to light_count have no surface */
    k_word light_tree, balance; /* by the tree: 1 + where in light_nodes the wide one starts; 1: the
                                   balance heuristic */
    float p_direct;    /* with a tree, of a light that is not in it; no environment counted */
    float tree_chance; /* (1 - p_env)(1 - p_direct) */
    k_word instance_count, effective_count; /* ids, those of instances too, are below the latter */
    float pass_scale;                       /* 2^D of passes */
    k_word pass_paths;                      /* k_passes: 0: first vertices only */
    float ao_distance;                      /* k_passes: how far occlusion rays go; 0: none do */
    k_word zero[2];                         /* 0, which no compiler can know: K_FIRST_SAMPLE */
    k_word
        slices; /* work-items that share a pixel's samples, by their third index; 0: no sharing */
    k_word messages; /* 1: tables for what shaders say stand behind the film (section 18) */
    /* Of every rows_all rows of the picture those of this device are rows_own, from rows_from on;
     * tile_y and tile_h count them alone (K_ROW). rows_own 0: all rows are. */
    k_word rows_own, rows_all, rows_from;
    float frame_origin[3]; /* of the scene's frame: added to what shaders and passes tell of P */
    /* Where a launch is one stage of many paths (path/batch.h): the slots there is room for, the
     * pixels between the picture's and the batch behind them, the paths' next vertex, and whether
     * stages go by queues. */
    k_word batch_slots, batch_behind, round, queues;
    k_word occlusion_rays; /* the most of a material: a stage of their own; 0: there is none */
    k_word normals;        /* some triangle has normals */
    /* Where a kernel counts: words of its counts behind the tables at which the tiles of the images
     * of shaders begin, and those of materials. */
    k_word tally_shading, tally_texels;
};
/* A batch's memory, in words: counts, and for each slot its own and a place in three queues. */
#define K_BATCH_KINDS  64u
#define K_BATCH_COUNTS (64u + 4u * K_BATCH_KINDS)
#define K_PATH_WORDS   42u
#define K_PATH_QUEUES  3u
/* What a kernel that counts keeps behind the film's tables, besides rays: numbers of two words, the
 * lower first. Then a bit for each word of the images: that of a level's first texel and the tile's
 * number, row by row, stands for a tile. */
#define K_TALLY_QUERIES    0u /* texture() and environment() of shaders */
#define K_TALLY_LOOKUPS    2u /* images of materials */
#define K_TALLY_MATERIALS  4u /* for each material K_HIT_KINDS numbers: hits whose shader ran */
#define K_HIT_COMBINED     0u
#define K_HIT_FIRST        1u
#define K_HIT_OTHER_SHADER 2u
#define K_HIT_OTHER_PLACE  3u /* the same shader with other parameters */
#define K_HIT_KINDS        4u
#define K_TILE_SIDE        64u
#define K_RUN_VERTICES     32u /* of a path; hits at later ones are never combined */
/* The picture's row that is row `j` in a launch's own count. */
#define K_ROW(launch, j)                                                                           \
    ((launch)->rows_own ? (j) / (launch)->rows_own * (launch)->rows_all + (launch)->rows_from +    \
                              (j) % (launch)->rows_own                                             \
                        : (j))

#define K_CAMERA_PERSPECTIVE     0u
#define K_CAMERA_ORTHOGRAPHIC    1u
#define K_CAMERA_EQUIRECTANGULAR 2u
#define K_FILTER_BOX             0u
#define K_FILTER_TENT            1u
#define K_FILTER_TABLE           2u /* T_0 .. T_1024 at the start of `camera` */
#define K_FILTER_CELLS           1024u
#define K_CAMERA_CORNERS         1026u /* word in `camera`: corners of the aperture, x y each */

#define K_MATERIAL_DIFFUSE    0u
#define K_MATERIAL_MIRROR     1u
#define K_MATERIAL_CONDUCTOR  2u
#define K_MATERIAL_DIELECTRIC 3u
#define K_MATERIAL_PRINCIPLED 4u
#ifndef K_MATERIAL_LISTED
#define K_MATERIAL_LISTED 5u /* this + a type: a list of lobes (section 28, K_FEATURE_LOBES) */
#endif
/* Types that are lists always. */
#define K_MATERIAL_OREN_NAYAR       5u
#define K_MATERIAL_ROUGH_DIELECTRIC 6u
#define K_MATERIAL_THIN_DIELECTRIC  7u
#define K_MATERIAL_SHEEN            8u

/* value, times the texel's channel where texture >= 0. */
struct k_scalar {
    float value;
    k_index texture;
    k_word channel;
};

struct k_material {
    k_word type;
    k_word emits, two_sided;
    float base[3];
    k_index base_texture;
    struct k_scalar roughness, metallic, specular, ior;
    float eta[3], k[3];
    float emission[3];
    k_index normal_map; /* a texture; -1: none */
    float normal_scale;
    k_word medium;     /* its number from 1; 0: none */
    k_word interface_; /* no surface, only the border of a medium */
    k_word cutout;     /* K_CUTOUT_*: not all of its hits count */
    struct k_scalar mask;
    float alpha_cutoff;
    float
        light_density; /* (1 - p_env) Y(Le) sides / w_total: choice probability per unit of area */
    /* of lists; opacity.value is 1 where it does not count */
    struct k_scalar specular_tint, anisotropy, rotation, sheen, sheen_tint, clearcoat,
        clearcoat_gloss, transmission, sigma, opacity, subsurface;
    k_word emission_texture; /* 0: none; else its index + 1 */
    k_word shader;           /* 1 + the group that it runs (K_FEATURE_SHADERS); 0: none */
    k_word shader_args;      /* its argument area: a word of `shading` */
    k_word occlusion_rays;   /* that its occlusion() asks of every point; 0: none, or not alike */
    float occlusion_distance;
    float surface_area; /* of all primitives with the material */
    /* of lists that have layers (section 28) */
    k_word layered, thin;
    float specular_color[3];
    k_index specular_color_texture;
    float fuzz[3];
    k_index fuzz_texture;
    struct k_scalar specular_weight, coat, coat_roughness, fuzz_roughness;
    k_index coat_normal_map; /* -1: none */
    float coat_normal_scale;
};

#define K_CUTOUT_SINGLE 1u /* none from behind */
#define K_CUTOUT_MASK   2u /* none where mask is less than alpha_cutoff */

struct k_medium {
    float density, albedo[3], g, absorption[3];
    k_word material; /* the first that has this medium */
};

#define K_TEXEL_LINEAR8 0u /* a word: r, g, b, alpha (255: none), one byte each */
#define K_TEXEL_SRGB8   1u
#define K_TEXEL_FLOAT1  2u /* a word */
#define K_TEXEL_FLOAT3  3u /* three words */
#define K_TEXEL_FLOAT4  4u /* four */
/* These + channels (1, 3, 4): values of 16 bits, two to a word, the first in its lower half. */
#define K_TEXEL_HALF     8u  /* IEEE 754 binary16 */
#define K_TEXEL_LINEAR16 16u /* 65535 means 1 */
#define K_TEXEL_SRGB16   24u
/* Decode tables at the start of `texels`: 256 floats linear, 256 sRGB; then, where a texture is
 * SRGB16, 65536 for that. */
#define K_TABLE_WORDS   512u
#define K_TABLE16_WORDS 65536u

struct k_texture {
    k_word width, height;
    k_word kind;           /* K_TEXEL_* */
    k_word wrap_u, wrap_v; /* 0 repeat, 1 mirror, 2 clamp */
    k_word nearest;
    k_word first; /* word in `texels` */
    float scale[2], offset[2];
    float turn[2]; /* cosine and sine; both 0: not turned */
};

struct k_sphere {
    float center[3], radius;
};
struct k_disk {
    float center[3], normal[3], radius, unused;
};
/* Protocol section 25. */
struct k_instance {
    float to_world[12], to_object[12]; /* four columns, row by row */
    float lo[3], hi[3];                /* its box in the world, widened */
    float mix[3];                      /* S of the offset */
    k_word root;                       /* of its prototype's tree */
    k_word shift;                      /* of ids: a triangle's id less its place in `triangles` */
    k_word first_id;                   /* its first triangle's */
    k_word mirrors;                    /* vertices 1 and 2 are exchanged */
};
struct k_light {
    k_word primitive; /* or K_DELTA_LIGHT | its place among those without a surface */
    float cdf;        /* C_i, over the lights that are chosen by power */
};
#define K_DELTA_LIGHT 0x80000000u

/* What area lights of other kinds of choice need besides. */
struct k_light_extra {
    float density;  /* (1 - p_env) Y(E_i) sides / w_total, E_i the mean emission */
    float per_area; /* 1/A_i; 0 without an area */
    k_word place;   /* of its leaf in the tree, from the left; K_NONE: not in it */
    k_word unused;
};

#define K_LIGHT_POINT       0u
#define K_LIGHT_SPOT        1u
#define K_LIGHT_DIRECTIONAL 2u
struct k_delta_light {
    k_word type;
    float position[3], direction[3], intensity[3];
    float cos_outer, falloff; /* 1/(cos(inner) - cos(outer)) */
    float chance;             /* p_i where it is chosen by power */
    float unused[3];
};

/* The light tree: node, left subtree, right subtree. One line of a cache. Behind it stands the same
 * tree eight wide, for light_wide.h: eight nodes transposed are one of those. */
struct k_light_node {
    float center[3], phi;
    float extent[3], extent2; /* half the sides of the box; their squared length */
    float axis[3], cos_e;
    float cos_o, sin_o;
    k_word link;  /* leaves of the left side; K_LEAF | the light; wide: or the node */
    k_word first; /* wide: the place of its first leaf; K_NONE: nothing in this lane */
};
#define K_WIDE_LIGHTS 8u

/* Trees. A binary node is struct bvh2_node of bvh.h. An eight-wide node is struct bvh8_node with
 * child[] recoded: K_LEAF | block, or the node. A
 * binary leaf slot: v0, v1, v2 (9 floats), primitive id, 2 unused. An eight-wide block:
 * float[vertex][axis][lane] and ids[lane]; lanes that hold no triangle have all vertices 0 (which
 * nothing hits); ids of unused lanes are K_NONE. In a block of disks alone a lane's words are the
 * centre, the normal and the radius.
 * Leaves of the world's tree also hold instances, by primitive count + number; block lanes or slots
 * with them have no vertices. Trees of prototypes stand behind it in the same buffers, their leaves
 * hold places in `triangles`. */
#define K_SLOT_WORDS    12u
#define K_NODE8_WORDS   64u
#define K_BLOCK_WORDS   80u
#define K_LEAF          0x80000000u
#define K_LEAF_MIXED    0x40000000u /* the block also holds spheres or disks */
#define K_LEAF_DISKS    0x20000000u /* and nothing but disks */
#define K_LEAF_INDEX    0x1FFFFFFFu
#define K_REF_FIRST_MAX 0x1FFFFFFFu /* first node or slot that a postponed binary node can name */
#define K_STACK2        64          /* entries a level; the binary tree is at most 60 deep */
#define K_STACK8        256

/* One vertex as k_trace writes it (struct path_vertex of scenes.h in 32-bit words). The output of
 * k_trace: L[3], the number of vertices, then the vertices. */
struct k_vertex {
    k_word k, event, primitive, material;
    float origin[3], direction[3], t;
    float P[3], Ng[3], Ns[3], uv[2];
    float beta[3], emitted[3];
    k_word light, visible;
    float light_wi[3], light_pdf_w, direct[3];
    float wi[3], pdf_w, weight[3];
    float albedo[3], normal[3], dPdu[3], dPdv[3]; /* for passes */
    k_word media;
    float extent; /* E of the offset rule */
};
#define K_TRACE_HEADER_WORDS 4u
#define K_VERTEX_WORDS       58u
#define K_EVENT_MISS         0u
#define K_EVENT_ABSORB       1u
#define K_EVENT_SCATTER      2u
#define K_EVENT_ROULETTE     3u

/* What k_passes writes of a pixel: sums of 64 bits, low word first (section 29), then the material.
 */
#define K_PASS_BEAUTY    0u
#define K_PASS_DIRECT    3u
#define K_PASS_SQUARES   6u /* of each channel: sum h^2, sum h l, sum l^2 */
#define K_PASS_ALBEDO    15u
#define K_PASS_NORMAL    18u
#define K_PASS_TANGENT   21u
#define K_PASS_BITANGENT 24u
#define K_PASS_POSITION  27u
#define K_PASS_DEPTH     30u
#define K_PASS_UV        31u
#define K_PASS_AO        33u
#define K_PASS_SUMS      34u
#define K_PASS_MATERIAL  68u /* word; K_NONE: none */
#define K_PASS_WORDS     70u

#endif
