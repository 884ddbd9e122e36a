/* SPDX-License-Identifier: Apache-2.0 */
/* scenes: the scene model, its JSON reader and writer, model importers, images and textures.
 *
 * A scene file (docs/reference/scenes.md, docs/reference/scene.schema.json) is read into one flat,
 * world-space `struct scene`: what the reference and every back end render. Nothing here decides
 * how light moves: that is docs/reference/protocol.md. Also here, because everyone speaks of them:
 * the film, images in files, and the record of one path vertex that lockstep comparison exchanges.
 */
#ifndef ISOPHOTE_SCENES_H
#define ISOPHOTE_SCENES_H

#include "shaders.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- images -------------------------------------------------------------------------------- */

enum texel_format {
    TEXEL_U8,  /* 1 byte a channel, 0..255 means 0..1, in the colour space that `srgb` says */
    TEXEL_F32, /* linear float32 */
    TEXEL_U16, /* 2 bytes, 0..65535 means 0..1, likewise */
    TEXEL_F16, /* linear IEEE 754 binary16 */
};

/* Row-major, row 0 on top, `channels` interleaved (1, 3 or 4), rows without padding. */
struct image {
    uint32_t width, height, channels;
    enum texel_format format;
    bool srgb;    /* U8 and U16 only: values are sRGB-encoded (alpha never is) */
    void *texels; /* in the arena */
};

/* By content, not by name: EXR (scanline and tiled, RGB[A] or Y; F16 where all channels that count
 * are half, else F32), Radiance HDR (F32), PNG (U8, U16), JPEG, WebP, BMP, GIF, TGA (U8), TIFF (U8,
 * U16, F16, F32; of several directories the first). srgb of U8 and U16 is set true; a texture's
 * colour space overrides it. Fails: MISSING, IO, PARSE (with what was expected), LIMIT (over 32768
 * pixels a side or 2^28 pixels), TYPE (0x0, unknown format, non-finite texels), UNSUPPORTED (kinds
 * of a format that docs/reference/scenes.md does not name).
 */
enum status image_read(struct arena *a, const char *path, struct image *out, struct error *err);
enum status image_read_memory(struct arena *a, const void *data, size_t size, const char *name,
                              struct image *out, struct error *err);
/* Bytes of one channel of one texel. */
size_t texel_size(enum texel_format format);
/* Value `at` of all values of all channels, in the order of the file's pixels, as linear light
 * (color) or as the number that it stands for (alpha, which is never decoded). */
double image_value(const struct image *im, size_t at, bool color);
/* One named channel of an EXR file: float32, width*height values, row 0 on top. */
struct image_channel {
    const char *name; /* "R", "albedo.R", "Z" */
    const float *values;
    size_t stride; /* floats from one pixel to the next */
};
/* float32, ZIP-compressed scanlines; written atomically. attributes: name, value pairs ending with
 * NULL, stored as string attributes; may be NULL. */
enum status image_write_exr(const char *path, uint32_t width, uint32_t height,
                            const struct image_channel *channels, size_t count,
                            const char *const *attributes, struct error *err);
/* TIFF 6.0, uncompressed, linear: float32, or whole numbers of 8 bits (clamped to [0, 1], NaN 0, to
 * the nearest share of 255). values: width*height*channels, row 0 on top. Fails: ARG, LIMIT (4
 * GiB), MEMORY, IO. */
enum status image_write_tiff(const char *path, uint32_t width, uint32_t height, const float *values,
                             uint32_t channels, bool bytes, struct error *err);
/* 8-bit RGB PNG in memory (in the arena) from sRGB-encoded bytes, row 0 on top. */
enum status image_encode_png(struct arena *a, uint32_t width, uint32_t height, const uint8_t *rgb,
                             const uint8_t **png, size_t *size, struct error *err);
/* The same with text: attributes as image_write_exr has them, each an iTXt chunk. */
enum status image_encode_png_with(struct arena *a, uint32_t width, uint32_t height,
                                  const uint8_t *rgb, const char *const *attributes,
                                  const uint8_t **png, size_t *size, struct error *err);
/* How light becomes what a display shows (tone.c names the sources): clipped; Reinhard's on
 * luminance; Hable's; AgX. */
#define TONE_LIST(X)                                                                               \
    X(LINEAR, "linear")                                                                            \
    X(REINHARD, "reinhard")                                                                        \
    X(FILMIC, "filmic")                                                                            \
    X(AGX, "agx")
enum tone {
#define X(name, text) TONE_##name,
    TONE_LIST(X)
#undef X
        TONE_COUNT
};
const char *tone_name(enum tone t);
/* sRGB-encoded values in [0, 1] of rgb * exposure; NaN and negative light are black, infinite light
 * is as bright as the curve goes. */
void tone_map(enum tone t, const float rgb[3], double exposure, double encoded[3]);
/* By the extension of path: .exr, .pfm (linear) or .png (sRGB, through the tone curve). rgb:
 * linear, width*height*3. */
enum status image_write(const char *path, uint32_t width, uint32_t height, const float *rgb,
                        enum tone tone, double exposure, struct error *err);
/* With attributes, in the formats that have room for them: not .pfm. */
enum status image_write_with(const char *path, uint32_t width, uint32_t height, const float *rgb,
                             enum tone tone, double exposure, const char *const *attributes,
                             struct error *err);
bool image_writes(const char *path); /* Is its extension one of those? */
double srgb_encode(double linear);   /* IEC 61966-2-1 */
double srgb_decode(double encoded);  /* its inverse */

/* U8 as devices read it, a word a texel: red in the lowest byte, then green, blue, alpha. */
void image_pack_words(const struct image *im, uint32_t *to);

/* ---- textures on demand --------------------------------------------------------------------- */

/* Of scenes that are loaded from now on, and in processes that are started, textures take at most
 * so many bytes: tiles and strips of files are read when they are looked at, by whatever thread
 * reads the texels, and dropped again. 0: textures are read whole. */
void texture_memory_allow(uint64_t bytes);
uint64_t texture_memory_allowed(void);
/* Where a scene's textures are: of all that may be read in parts (docs/reference/scenes.md). */
struct texture_cache;
/* What these texels are in the cache: their place, in bytes from its first. False: none of it, as
 * where c is NULL. */
bool texture_cache_place(const struct texture_cache *c, const void *texels, uint64_t *at);
/* The words of a buffer of a device that reads the host's memory: own_bytes that may be written, and
 * from word TEXTURE_CACHE_FIRST on the cache's. Fails: LIMIT. _close: with what was given. */
enum { TEXTURE_CACHE_FIRST = 1 << 28 };
enum status texture_cache_view(struct texture_cache *c, uint64_t own_bytes, void **words,
                               struct error *err);
void texture_cache_view_close(struct texture_cache *c, const void *words);
/* What went wrong in reading a texel, which was 0 then: what it was read for is to be dropped. In the
 * readers' words, with the file and the place in it; IO: the file has changed, or is gone. OK also
 * where c is NULL. */
enum status texture_cache_fault(struct texture_cache *c, struct error *err);
/* The same, or LIMIT: the limit is so small that threads would wait for each other. */
enum status texture_cache_check(struct texture_cache *c, struct error *err);
/* It is closed when nobody holds it: the scene does, and every view. */
void texture_cache_hold(struct texture_cache *c);
void texture_cache_release(struct texture_cache *c); /* takes NULL */
struct texture_cache_counts {
    uint64_t limit, peak_bytes;  /* of texels in memory */
    uint64_t texel_bytes;        /* of all */
    uint64_t file_bytes;         /* that were read */
    uint64_t tiles, tiles_again; /* that were read, each once; and how often one was read again */
};
void texture_cache_count(struct texture_cache *c, struct texture_cache_counts *out);

/* ---- the scene ------------------------------------------------------------------------------ */

#define TEXTURE_WRAP_LIST(X)                                                                       \
    X(REPEAT, "repeat")                                                                            \
    X(MIRROR, "mirror")                                                                            \
    X(CLAMP, "clamp")
enum texture_wrap {
#define X(name, text) WRAP_##name,
    TEXTURE_WRAP_LIST(X)
#undef X
};
#define TEXTURE_FILTER_LIST(X)                                                                     \
    X(BILINEAR, "bilinear")                                                                        \
    X(NEAREST, "nearest")
enum texture_filter {
#define X(name, text) FILTER_##name,
    TEXTURE_FILTER_LIST(X)
#undef X
};

struct texture {
    const char *name;
    struct image image; /* image.srgb is final: the texture's colour space is applied to it */
    enum texture_wrap wrap_u, wrap_v;
    enum texture_filter filter;
    /* (u,v) -> turn scale*(u,v) + offset before the lookup */
    float scale[2], offset[2];
    float turn[2]; /* cosine and sine of the rotation, counter-clockwise; both 0: none */
};
/* RGBA there, filtered, as protocol section 7.2 says, in double (the reference has its own). */
void texture_value(const struct texture *t, const double uv[2], double out[4]);

/* value, times the texture's texel where texture >= 0. A scalar input reads channel `channel`. */
struct color_input {
    float value[3];
    int32_t texture; /* -1: none */
};
struct scalar_input {
    float value;
    int32_t texture;
    uint32_t channel; /* 0..2; 3: alpha, 1 in an image that has none */
};

#define MATERIAL_TYPE_LIST(X)                                                                      \
    X(DIFFUSE, "diffuse")                                                                          \
    X(MIRROR, "mirror")                                                                            \
    X(ROUGH_CONDUCTOR, "rough_conductor")                                                          \
    X(DIELECTRIC, "dielectric")                                                                    \
    X(PRINCIPLED, "principled")                                                                    \
    X(OREN_NAYAR, "oren_nayar")                                                                    \
    X(ROUGH_DIELECTRIC, "rough_dielectric")                                                        \
    X(THIN_DIELECTRIC, "thin_dielectric")                                                          \
    X(SHEEN, "sheen")
enum material_type {
#define X(name, text) MATERIAL_##name,
    MATERIAL_TYPE_LIST(X)
#undef X
        MATERIAL_TYPE_COUNT
};
const char *material_type_name(enum material_type t); /* "rough_conductor" */

#define ALPHA_MODE_LIST(X)                                                                         \
    X(OPAQUE, "opaque")                                                                            \
    X(BLEND, "blend")                                                                              \
    X(MASK, "mask")
enum alpha_mode {
#define X(name, text) ALPHA_##name,
    ALPHA_MODE_LIST(X)
#undef X
};

/* What an output of a shader can drive (docs/reference/protocol.md section 19). */
enum drive_input {
    DRIVE_BASE_COLOR,
    DRIVE_REFLECTANCE,
    DRIVE_ROUGHNESS,
    DRIVE_METALLIC,
    DRIVE_SPECULAR,
    DRIVE_SPECULAR_TINT,
    DRIVE_ANISOTROPY,
    DRIVE_ROTATION,
    DRIVE_SHEEN,
    DRIVE_SHEEN_TINT,
    DRIVE_CLEARCOAT,
    DRIVE_CLEARCOAT_GLOSS,
    DRIVE_TRANSMISSION,
    DRIVE_SUBSURFACE,
    DRIVE_ETA,
    DRIVE_K,
    DRIVE_IOR,
    DRIVE_SIGMA,
    DRIVE_NORMAL,
    DRIVE_OPACITY,
    DRIVE_EMISSION,
    DRIVE_COUNT
};
extern const struct drive_info {
    const char *name;  /* its key in scene files */
    unsigned channels; /* 1: a float; 3: a color, which a float may stand for */
    unsigned bases;    /* bits, 1 << enum material_type: what has this input */
} drive_infos[DRIVE_COUNT];

/* An image by the name that shaders call it. */
struct shader_image {
    const char *name;
    struct asl_image image;
    const char *warning; /* of its file; NULL: none */
    struct shader_image *next;
};
struct shader_image_fault; /* a name that turned out to be none, and why */
struct shader_images {     /* zeroed: none */
    struct shader_image *first;
    struct shader_image_fault *faults;
    struct texture_cache **cache; /* images are read on demand into it; NULL: whole */
    size_t whole;                 /* images that are to be read on demand and cannot be */
    const char *first_whole;      /* the path of one, in the arena; NULL: there is none */
};
/* Adds the images that a group can name: every string in its shaders and parameters that is an
 * image file, a relative one beside the file `beside`. They live in the arena. Fails: MEMORY. */
enum status shader_images_load(struct arena *a, const char *beside, const struct asl_group *group,
                               struct shader_images *out, struct error *err);
const struct asl_image *shader_images_find(const struct shader_images *s, const char *name);
/* Why a name that is not found is none, in the reader's words. */
const char *shader_images_fault(const struct shader_images *s, const char *name);

/* What a material with a shader runs at a hit. */
struct shading {
    const struct asl_group *group;   /* finished; in the scene's arena */
    bool has_base;                   /* false: the closure Ci says all */
    const char *drive[DRIVE_COUNT];  /* "layer.output" for an input of the base; NULL: not driven */
    const char *const *entry_layers; /* to run besides the last one; ends with NULL; may be NULL */
    float emission_bound;            /* of what it emits: for the film's exponent */
    float surface_area;              /* of all primitives with the material */
    char hash[33];                   /* of the programs, parameters, connections and drives */
};

/* Tangent-space normals: the texture's texels, x and y times scale (section 26). */
struct normal_map {
    bool present;
    uint32_t texture;
    float scale;
};
/* What fills the closed surface that has the material (section 27). */
enum { MEDIA_MAX = 255 };
struct medium {
    bool present;
    float density;       /* extinction, per unit of length */
    float albedo[3];     /* of one scattering */
    float g;             /* Henyey and Greenstein's mean cosine */
    float absorption[3]; /* without scattering, per unit of length */
};

/* What a principled material has beside Burley's inputs (section 28, Layers); the scalars: */
#define MATERIAL_LAYER_SCALARS(X)                                                                  \
    X(specular_weight)                                                                             \
    X(coat)                                                                                        \
    X(coat_roughness)                                                                              \
    X(fuzz_roughness)
struct material_layers {
    bool present; /* else nothing of it counts */
    bool thin;    /* what is let through goes straight on */
    struct color_input specular_color, fuzz;
#define FIELD(name) struct scalar_input name;
    MATERIAL_LAYER_SCALARS(FIELD)
#undef FIELD
    struct normal_map coat_normal_map;
};

/* The scalars that only lists of lobes have (docs/reference/protocol.md section 28): those that
 * every list's hash knows, and one that came later. */
#define MATERIAL_LIST_SCALARS(X)                                                                   \
    MATERIAL_HASHED_SCALARS(X)                                                                     \
    X(subsurface)
#define MATERIAL_HASHED_SCALARS(X)                                                                 \
    X(specular_tint)                                                                               \
    X(anisotropy)                                                                                  \
    X(rotation)                                                                                    \
    X(sheen)                                                                                       \
    X(sheen_tint)                                                                                  \
    X(clearcoat)                                                                                   \
    X(clearcoat_gloss)                                                                             \
    X(transmission)                                                                                \
    X(sigma)                                                                                       \
    X(opacity)

/* Fields that a type does not use hold their defaults. Meaning: docs/reference/protocol.md sections
 * 7, 28. */
struct material {
    const char *name;
    enum material_type type;
    struct color_input base;       /* principled: base color; others: reflectance */
    struct scalar_input roughness; /* alpha = roughness^2 */
    struct scalar_input metallic;  /* principled */
    struct scalar_input specular;  /* principled; 0.5 is F0 = 0.04 */
    float eta[3], k[3];            /* rough conductor: complex index of refraction */
    struct scalar_input ior;       /* inside over outside */
    float emission[3];             /* radiance, W m^-2 sr^-1; 0 for none */
    bool emission_two_sided;
    struct shading *shading; /* NULL: none; else type and inputs are those of its base */
    bool single_sided;       /* what comes from behind does not meet it (section 26) */
    bool interface;          /* no surface, only the border of a medium (section 27) */
    struct normal_map normal_map;
    struct medium medium;
#define FIELD(name) struct scalar_input name; /* sigma: radians */
    MATERIAL_LIST_SCALARS(FIELD)
#undef FIELD
    enum alpha_mode alpha_mode; /* OPAQUE: opacity does not count */
    float alpha_cutoff;         /* MASK: hits where opacity is less do not count (section 26) */
    uint32_t emission_texture;  /* 0: none; else its index + 1, and emission is the factor on it */
    struct material_layers layers;
};
/* Is it a list of lobes (section 28), or one BSDF of section 7? A shader's is neither. */
bool material_is_list(const struct material *m);
/* The same of its type and inputs, whether a shader drives them or not. */
bool material_inputs_are_list(const struct material *m);

/* Primitive ids: triangles are 0 .. triangle_count-1, then spheres, then disks, then the triangles
 * of instances. */
struct sphere {
    float center[3], radius;
};
struct disk {
    float center[3], normal[3], radius; /* normal has unit length; it emits on that side */
};

/* Triangles that instances share, in the space of their group: triangles [first, first + count) of
 * the scene, behind those of the world. None of their materials emits (emission is 0). */
struct prototype {
    const char *name; /* the group's */
    uint32_t first, count;
};
/* A prototype placed in the world (docs/reference/protocol.md section 25). Its triangle i has
 * primitive id first_id + i. */
struct instance {
    uint32_t prototype, first_id;
    float to_world[3][4]; /* row-major; invertible */
};
/* A light without a surface (docs/reference/protocol.md section 24). */
#define LIGHT_TYPE_LIST(X)                                                                         \
    X(POINT, "point")                                                                              \
    X(SPOT, "spot")                                                                                \
    X(DIRECTIONAL, "directional")
enum light_type {
#define X(name, text) LIGHT_##name,
    LIGHT_TYPE_LIST(X)
#undef X
};
struct light {
    enum light_type type;
    float position[3];         /* point, spot */
    float direction[3];        /* spot, directional: unit, the way that light travels */
    float intensity[3];        /* W sr^-1; directional: irradiance across the direction, W m^-2 */
    double angle, inner_angle; /* spot: half angles in radians, 0 <= inner <= angle <= pi/2 */
};
/* How a light is chosen for a sample, and how samples of lights and of BSDFs are weighed. */
#define LIGHT_CHOICE_LIST(X)                                                                       \
    X(POWER, "power")                                                                              \
    X(TREE, "tree")
enum light_choice {
#define X(name, text) LIGHT_CHOICE_##name,
    LIGHT_CHOICE_LIST(X)
#undef X
};
#define MIS_LIST(X)                                                                                \
    X(POWER, "power")                                                                              \
    X(BALANCE, "balance")
enum mis_heuristic {
#define X(name, text) MIS_##name,
    MIS_LIST(X)
#undef X
};

#define TRIANGLE_HAS_NORMALS 1u
#define TRIANGLE_HAS_UV      2u
#define TRIANGLE_HAS_COLORS  4u

#define FOV_AXIS_LIST(X)                                                                           \
    X(X, "x")                                                                                      \
    X(Y, "y")                                                                                      \
    X(SMALLER, "smaller")                                                                          \
    X(LARGER, "larger")
enum fov_axis {
#define X(name, text) FOV_##name,
    FOV_AXIS_LIST(X)
#undef X
};
#define CAMERA_TYPE_LIST(X)                                                                        \
    X(PERSPECTIVE, "perspective")                                                                  \
    X(ORTHOGRAPHIC, "orthographic")                                                                \
    X(EQUIRECTANGULAR, "equirectangular")
enum camera_type {
#define X(name, text) CAMERA_##name,
    CAMERA_TYPE_LIST(X)
#undef X
};
#define CAMERA_BLADES_MAX 32

struct camera {
    double origin[3];                   /* in the scene's frame */
    double right[3], up[3], forward[3]; /* orthonormal, world space */
    double tan_half_fov;                /* along fov_axis; orthographic: half the film's extent */
    enum fov_axis fov_axis;
    double lens_radius;    /* 0: pinhole */
    double focus_distance; /* along forward, > 0 */
    enum camera_type type;
    uint32_t blades;       /* corners of the aperture; 0: round */
    double blade_rotation; /* radians, of the first corner from `right` towards `up` */
    double anamorphic;     /* the aperture's height over its width; 0 counts as 1 */
};
/* Tangents of half the horizontal and vertical fields of view of a W x H picture
 * (docs/reference/protocol.md section 2): a job's size, which need not be the scene's. */
static inline void camera_tangents(const struct camera *c, uint32_t width, uint32_t height,
                                   double *tan_x, double *tan_y)
{
    double r = (double)width / (double)height, t = c->tan_half_fov;
    bool along_x = c->fov_axis == FOV_X || (c->fov_axis == FOV_SMALLER && width < height) ||
                   (c->fov_axis == FOV_LARGER && width > height);
    *tan_x = along_x ? t : t * r;
    *tan_y = along_x ? t / r : t;
}

/* Of samples within their pixel and beyond (docs/reference/protocol.md section 23). */
#define PIXEL_FILTER_LIST(X)                                                                       \
    X(BOX, "box")                                                                                  \
    X(TENT, "tent")                                                                                \
    X(GAUSSIAN, "gaussian")                                                                        \
    X(BLACKMAN_HARRIS, "blackman-harris")
enum pixel_filter {
#define X(name, text) PIXEL_##name,
    PIXEL_FILTER_LIST(X)
#undef X
};

enum environment_type { ENVIRONMENT_NONE, ENVIRONMENT_CONSTANT, ENVIRONMENT_MAP };

struct environment {
    enum environment_type type;
    float radiance[3]; /* constant; for a map, the factor on its texels */
    struct image map;  /* F32, 3 channels */
    /* orthonormal, row-major: world direction -> the map's frame, +y up; mirrored: determinant -1 */
    float to_local[9];
};

/* Seconds spent while loading, the phases of the field's table of phases. */
struct scene_times {
    double configuration_s; /* reading and parsing the scene file: camera, film, render settings */
    double textures_s;      /* image files */
    double materials_s;
    double objects_s;  /* reading model files */
    double geometry_s; /* transforming, flattening, normals */
};

struct scene {
    struct arena arena;
    const char *path; /* as given to scene_load */
    const char *name; /* file name without folder and extension */
    char hash[33]; /* of everything here that can change a picture, but the render settings below:
                      a job carries those */

    /* render settings the file asks for; the command line may override them */
    uint32_t width, height, spp, max_depth, rr_depth;
    uint64_t seed;

    /* Where the scene's frame has its origin in the file's coordinates: all coordinates here are
     * relative to it, so that float32 serves a scene that stands far away
     * (docs/reference/scenes.md, "Coordinates"). 0 in most scenes. */
    double frame_origin[3];

    struct camera camera;
    struct environment environment;

    struct texture *textures;
    size_t texture_count;
    struct material *materials;
    size_t material_count;
    struct shader_images shader_images; /* of all shaded materials */
    struct texture_cache *cache;        /* of textures that are read on demand; NULL: none are */

    /* vertices, shared by triangles; N, UV and colors are NULL when no triangle has them */
    float (*P)[3];
    float (*N)[3];
    float (*UV)[2];
    float (*colors)[3]; /* linear, 0 to 1 */
    size_t vertex_count;
    uint32_t (*triangles)[3]; /* counter-clockwise seen from the side of the geometric normal */
    uint8_t *triangle_flags;
    size_t triangle_count;
    struct sphere *spheres;
    size_t sphere_count;
    struct disk *disks;
    size_t disk_count;
    /* of the world's primitives by id, then of prototypes' triangles */
    uint32_t *primitive_material;
    /* Of triangles with a normal map, those of prototypes in their group's space: at each corner
     * the tangent and the bitangent's sign (section 26), by tangent_of[triangle], UINT32_MAX for
     * the others. Both NULL when there are none. */
    float (*tangents)[3][4];
    uint32_t *tangent_of;
    size_t tangent_count;

    double bounds_min[3], bounds_max[3]; /* of all primitives; min > max when there are none */
    size_t dropped_degenerate; /* zero-area or non-finite triangles left out while loading */
    struct scene_times times;

    struct prototype *prototypes;
    size_t prototype_count, prototype_triangle_count;
    struct instance *instances; /* by first_id */
    size_t instance_count;
    enum pixel_filter filter;
    double filter_radius; /* pixels; 0: the default filter, a box of 0.5 */
    float clamp;          /* of samples: their largest channel; 0: none */
    float ao_distance;    /* of the pass ao; 0: not given */
    uint32_t crop[4]; /* x, y, width, height in pixels of the scene's own film: a render setting;
                         width 0: the whole */
    struct light *lights;
    size_t light_count;
    enum light_choice light_choice; /* these two are part of the scene, and of its hash */
    enum mis_heuristic mis;
};
/* Is every sample's position x + u, y + u, as docs/reference/protocol.md section 2 has it? */
static inline bool scene_default_filter(const struct scene *s)
{
    return s->filter_radius == 0 || (s->filter == PIXEL_BOX && s->filter_radius == 0.5);
}
/* The sides of a picture that are 0: the scene's own if both are, else what gives the picture the
 * shape of the scene's, rounded, at least 1. */
void scene_picture_size(const struct scene *s, uint32_t *width, uint32_t *height);
/* The scene's crop in a picture of width x height: x, y, width, height; all of it without one. */
void scene_crop(const struct scene *s, uint32_t width, uint32_t height, uint32_t crop[4]);
/* Half the diagonal of the box of all primitives; 0 when there are none. */
double scene_radius(const struct scene *s);
/* Does anything with this material emit? */
static inline bool material_emits(const struct material *m)
{
    return m->emission[0] > 0 || m->emission[1] > 0 || m->emission[2] > 0;
}

/* The world's own primitives: those that stand in no instance. All lights are among them. */
static inline size_t scene_primitive_count(const struct scene *s)
{
    return s->triangle_count + s->sphere_count + s->disk_count;
}
/* All primitives that rays can meet; primitive ids are below this. At most 2^31 - 1. */
size_t scene_effective_count(const struct scene *s);
size_t scene_effective_triangles(const struct scene *s);
/* The instance that primitive `id` stands in; NULL: the world. */
const struct instance *scene_instance_of(const struct scene *s, uint32_t id);
/* Index into s->triangles of primitive `id`, which must be a triangle, and the instance it stands
 * in (NULL: the world). */
uint32_t scene_triangle_of(const struct scene *s, uint32_t id, const struct instance **instance);
/* Its material, by index. */
uint32_t scene_material_of(const struct scene *s, uint32_t id);
/* True if the instance turns insides out: its triangles then stand with vertices 1 and 2 exchanged.
 */
bool instance_mirrors(const struct instance *n);

/* Everything a scene needs, read and checked; *out is freed by scene_free. Fails with file, line,
 * column and key path; also LIMIT (more than 2^31 - 1 primitives or 2^32 - 1 vertices, before
 * memory is taken), CANCELLED. */
enum status scene_load(const char *path, struct scene **out, struct error *err);
/* The same from memory; `path` names it in messages and is what relative file names stand beside.
 */
enum status scene_load_memory(const char *path, const char *data, size_t size, struct scene **out,
                              struct error *err);
void scene_free(struct scene *s); /* accepts NULL */
/* Other words for render.light_choice ("power", "tree") and render.mis ("power", "balance") than
 * the file's, NULL for its own; the hash follows. Fails: ARG. */
enum status scene_set_sampling(struct scene *s, const char *light_choice, const char *mis,
                               struct error *err);

/* ---- models as scenes ------------------------------------------------------------------------ */

struct scene_import_options { /* zeroed: the defaults */
    const char *camera;       /* name of one of the model's; NULL: its first */
    bool up_z, up_y; /* which axis is up, for the view and the lamp that are made here; none: what
                        the file says (FBX does), else y */
    double light_scale; /* factor on the model's own lights; 0: 1 */
    bool studio;        /* the lamp and the sky, although the model has lights */
    double headlight;   /* intensity of a light where the camera stands, W/sr; 0: none */
    double sky;         /* radiance all around beside the model's own lights; 0: none */
    bool frame;         /* a camera is made although the model has one */
};
struct scene_import {
    const char *text; /* the scene file */
    size_t size;
    const char *const *notes; /* what is not carried over, a line each */
    size_t note_count;
    const char *const *files; /* images from inside the model, written beside the scene */
    size_t file_count;
    size_t triangles, materials, textures, lights; /* of the model; instances count each time */
    bool own_camera, own_lights;                   /* false: made here */
    double radius;                                 /* half of the bounding box's diagonal */
};
/* A scene file for a model file: its materials, textures, lights, cameras and placed parts in the
 * words of docs/reference/scenes.md, its geometry by reference. A model without a camera gets one
 * that frames it, one without lights a lamp and a gray sky. Images inside the model are written to
 * the folder STEM.textures beside `scene`, the path that the file is for (which is not written);
 * images that cannot be read are noted and their factors stay. The scene loads. In the arena. Fails
 * as model_import and scene_load do; ARG for a camera that is not there. */
enum status scene_import(struct arena *a, const char *model, const char *scene,
                         const struct scene_import_options *options, struct scene_import *out,
                         struct error *err);
/* ---- the embedded library ------------------------------------------------------------------- */

/* Paths of library/ *.json, and of real/ *.json with `with_real`, sorted by name. */
enum status scene_library(struct arena *a, bool with_real, const char *const **paths, size_t *count,
                          struct error *err);
/* The path of a file that is there, or the name of a library scene ("cornell"), beside a folder of
 * that name too. MISSING lists the names. */
enum status scene_resolve(struct arena *a, const char *name, const char **path, struct error *err);
/* The folder that "data:" stands for in scenes: $ISOPHOTE_DATA, else "data" in the cache. */
enum status scene_data_dir(char *buf, size_t size, struct error *err);

/* ---- export to Mitsuba 3 -------------------------------------------------------------------- */

/* What of a scene means something else in Mitsuba 3, or has no counterpart there. */
struct mitsuba_note {
    const char *what; /* material "gold", camera ... */
    const char *why;  /* which formula or feature differs, and what was written instead */
    struct mitsuba_note *next;
};
struct mitsuba_export {
    bool lossy;   /* write the nearest that Mitsuba has, and list the differences */
    bool plugins; /* BSDFs that Mitsuba lacks as plugins of scenes/export/isophote_bsdfs.py, which
                     is put beside the scene: `import isophote_bsdfs` before it is loaded */
    /* results, in the arena passed in */
    struct mitsuba_note *notes; /* in the order of the scene; NULL: it means the same */
    const char *xml;            /* the file written */
};
/* Writes the scene as Mitsuba 3 XML (docs/reference/scenes.md, Mitsuba), with PLY and EXR files
 * beside it. `out` is a name that ends in .xml, or a folder (made if need be), which gets
 * scene.xml. The XML file is written last. Fails: UNSUPPORTED without `lossy` when there are notes
 * (they are filled, nothing is written), IO, MEMORY. */
enum status scene_export_mitsuba(struct arena *a, const struct scene *s, const char *out,
                                 struct mitsuba_export *options, struct error *err);

/* ---- film ------------------------------------------------------------------------------------ */

/* The order-free film (docs/reference/protocol.md section 9): per pixel four 64-bit integers, R, G,
 * B in units of 2^-exponent and a count: low 32 bits samples, high 32 bits samples that were
 * clamped or rejected. Adding is exact, so any order, tiling, batching or split over devices gives
 * the same bits. */
struct film {
    uint32_t width, height;
    int32_t exponent;
    int64_t *sums; /* width*height*4, row 0 on top; heap */
};
/* 36 - k, where M = m * 2^k, 0.5 <= m < 1, is the largest emitted radiance in the scene (lights
 * without a surface: section 24); 36 if M = 0. */
int32_t film_exponent(const struct scene *s);
enum status film_init(struct film *f, uint32_t width, uint32_t height, int32_t exponent,
                      struct error *err);
void film_clear(struct film *f);
void film_poison(struct film *f); /* a pattern no render can leave behind: count is UINT32_MAX */
void film_free(struct film *f);
#define FILM_SAMPLES_MAX 131071u /* of one pixel: then no sum can overflow */
/* One sample of value L into pixel (x, y), as section 9 says: rounded half to even, clamped and
 * flagged where it must be. What a renderer on the host would do; devices do the same on their own.
 */
void film_add_sample(struct film *f, uint32_t x, uint32_t y, const double L[3]);
/* dst += src; ARG if shapes or exponents differ; RANGE, naming the pixel, if there would be more
 * than FILM_SAMPLES_MAX samples (a poisoned film has) or a sum would overflow. dst is untouched on
 * failure. */
enum status film_add(struct film *dst, const struct film *src, struct error *err);
/* Means as linear float32 RGB, width*height*3; pixels with no samples are 0. */
void film_rgb(const struct film *f, float *rgb);
/* OK if every pixel holds exactly `spp` samples; MISMATCH names the first that does not. `flagged`
 * (may be NULL) gets the number of clamped or rejected samples. */
enum status film_check(const struct film *f, uint32_t spp, uint64_t *flagged, struct error *err);
/* Of a film that is not finished: OK if no pixel holds more than `spp` samples, and all can be what
 * theirs add up to. *samples: of all pixels. Fails: RANGE, MISMATCH, naming the pixel. */
enum status film_check_part(const struct film *f, uint32_t spp, uint64_t *samples,
                            struct error *err);
void film_hash(const struct film *f, char hex[33]);

/* ---- passes --------------------------------------------------------------------------------- */

/* What is known of a picture's pixels (docs/reference/protocol.md section 29). */
enum pass {
    PASS_BEAUTY,
    PASS_DIRECT,
    PASS_INDIRECT,
    PASS_VARIANCE,
    PASS_ALBEDO,
    PASS_NORMAL,
    PASS_TANGENT,
    PASS_BITANGENT,
    PASS_DEPTH,
    PASS_POSITION,
    PASS_UV,
    PASS_AO,
    PASS_MATERIAL,
    PASS_SHADER,
    PASS_SAMPLES,
    PASS_DENOISED, /* of beauty, by Open Image Denoise */
    PASS_COUNT
};
#define PASSES_ALL                                                                                 \
    (((1u << PASS_COUNT) - 1u) & ~(1u << PASS_DENOISED)) /* all that need no library */
extern const struct pass_info {
    const char *name; /* "direct" */
    unsigned channels;
    const char *layers[3]; /* EXR channels: "direct.R" */
} pass_infos[PASS_COUNT];

/* "all", or names joined by commas, as bits 1u << enum pass. ARG names those that there are. */
enum status passes_parse(const char *list, unsigned *bits, struct error *err);

struct passes {
    uint32_t width, height;
    float *values[PASS_COUNT]; /* [height][width][channels], row 0 on top; heap; NULL: not asked */
};
enum status passes_init(struct passes *p, uint32_t width, uint32_t height, unsigned bits,
                        struct error *err);
void passes_free(struct passes *p);
/* One file with a layer for each pass that there is. attributes: as image_write_exr has them. */
enum status passes_write_exr(const struct passes *p, const char *path,
                             const char *const *attributes, struct error *err);
/* Open Image Denoise 2, if it is here: the library $ISOPHOTE_OIDN, else libOpenImageDenoise.so.2
 * where the system looks. MISSING says what was looked for. */
enum status denoise_find(struct error *err);
/* Linear rgb without its noise, guided by albedo and normal (either may be NULL); three floats a
 * pixel each. On the processor. Fails: MISSING, DEVICE. */
enum status denoise_picture(uint32_t width, uint32_t height, const float *rgb, const float *albedo,
                            const float *normal, float *out, struct error *err);
/* The shader id of each material, 0 for none. Heap; NULL: out of memory. */
uint32_t *scene_shader_ids(const struct scene *s);
/* D: depths and positions are summed in units of 2^-D. */
int passes_position_exponent(const struct scene *s);
/* How far the rays of the pass ao go. */
float passes_ao_distance(const struct scene *s);

/* ---- lockstep records ----------------------------------------------------------------------- */

enum vertex_event {
    EVENT_MISS,    /* the ray left the scene; emitted is the environment's part */
    EVENT_ABSORB,  /* hit; the path ended here (no sample, zero throughput, depth) */
    EVENT_SCATTER, /* hit; the path went on along wi */
    EVENT_ROULETTE /* hit; roulette ended the path */
};

/* One vertex of one camera path as docs/reference/protocol.md section 8 names its quantities;
 * vertex k = 1 is what the camera ray hits. Plain doubles so that float and double renderers fill
 * the same record.
 */
struct path_vertex {
    uint32_t k;
    uint32_t event;                 /* enum vertex_event */
    uint32_t primitive;             /* UINT32_MAX on a miss */
    uint32_t material;              /* UINT32_MAX on a miss */
    uint32_t media;                 /* where the path is on arrival (section 27): a byte for each
                                       medium, the last entered lowest; their materials are numbered
                                       from 1 */
    double origin[3], direction[3]; /* the ray that arrives: origin after offsetting */
    double t;                       /* the whole way, through interfaces too */
    double P[3], Ng[3],
        Ns[3]; /* normals as the BSDF uses them: turned to wo's side for opaque materials */
    double uv[2];
    double beta[3];    /* throughput on arrival, before scattering */
    double emitted[3]; /* contribution of emission seen here: beta * Le * MIS weight */
    uint32_t light;    /* chosen light, UINT32_MAX if none was sampled */
    uint32_t visible;  /* 1 if the shadow ray reached it */
    double light_wi[3], light_pdf_w; /* density of that direction, choice included */
    double direct[3];                /* contribution of the light sample */
    double wi[3], pdf_w;             /* sampled direction and density (0 for a delta lobe) */
    double weight[3];                /* f cos / pdf of the sampled direction */
};

#ifdef __cplusplus
}
#endif
#endif
