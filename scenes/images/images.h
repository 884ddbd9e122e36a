/* SPDX-License-Identifier: Apache-2.0 */
/* The readers of single image formats, for image_read.c. */
#ifndef ISOPHOTE_SCENES_IMAGE_FORMAT_H
#define ISOPHOTE_SCENES_IMAGE_FORMAT_H

#include "scenes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Little-endian numbers of 16 and 32 bits. */

/* How encoded values become light: AUTO takes PNG, JPEG, WebP, BMP, GIF, TGA and TIFF's whole
 * numbers for sRGB, EXR, HDR and TIFF's floats for linear. SHADER: what texture() shows, likewise,
 * but TIFF's whole numbers as they stand: OIIO's textures, which are TIFF, were made for shaders
 * that expect just that. */
enum color_space { COLOR_AUTO, COLOR_SRGB, COLOR_LINEAR, COLOR_SHADER };

enum status image_read_as(struct arena *a, const char *path, enum color_space space,
                          struct image *out, struct error *err);
enum status image_read_memory_as(struct arena *a, const void *data, size_t size, const char *name,
                                 enum color_space space, struct image *out, struct error *err);
/* An image and the smaller levels of its pyramid (MIP map) that the file holds behind it: tiled EXR
 * with mipmap levels; TIFF whose first directories are tiled, as OIIO's maketx writes them. Each has
 * half the sides of the one before, rounded down or up, 1 at least; the first that has not ends the
 * levels, and `ended` says so. */
enum { IMAGE_LEVELS_MAX = 16, IMAGE_PARTS_MAX = 1024 };
struct image_levels {
    uint32_t count; /* 1 at least; 0: of an image_file's `more`, it cannot be read */
    struct image level[IMAGE_LEVELS_MAX];
    char ended[256];  /* why a level of the file is not among them; empty: they all are */
    const char *name; /* that the file gives it, in the arena; "": none */
    uint32_t at;      /* what image_rows_open calls it */
    uint32_t made;    /* of the levels, the last: no file has them, the texture cache makes them */
};
/* Untouched *out on failure; fails as image_read does, of any level. */
enum status image_read_levels(struct arena *a, const char *path, enum color_space space,
                              struct image_levels *out, struct error *err);
/* A file with all its subimages: EXR's parts; in TIFF a directory begins one that is no level of
 * those before it. Others have one. */
struct image_file {
    uint32_t count;            /* in the file, 1 to IMAGE_PARTS_MAX */
    struct image_levels first; /* what image_read_levels gives */
    /* The other count - 1, in the arena; NULL: they were not asked for. Of one that cannot be read
     * `ended` says why. */
    struct image_levels *more;
    char ended[256]; /* why there are no more in the file; empty: it ends there */
};
/* all: with `more`. Untouched *out on failure; fails as image_read does, of the first. */
enum status image_read_file(struct arena *a, const char *path, enum color_space space, bool all,
                            struct image_file *out, struct error *err);
/* The same of a file in memory; `name` is for messages. */
enum status image_read_memory_file(struct arena *a, const void *data, size_t size, const char *name,
                                   enum color_space space, bool all, struct image_file *out,
                                   struct error *err);
/* The same without any texels, which are NULL, of a file whose blocks (tiles, strips) can be read one
 * by one: image_rows_open takes each of its images. Fails: UNSUPPORTED, where that is not so, and as
 * image_read_file; where one of its subimages cannot be read, too. */
enum status image_shape_file(struct arena *a, const char *path, enum color_space space, bool all,
                             struct image_file *out, struct error *err);

/* ---- a row of blocks at a time */

struct image_rows;
struct image_rows_shape {
    struct image image; /* texels are NULL */
    uint32_t
        block_height; /* rows of the image that a row of blocks has; the last one may have less */
    uint32_t across;  /* blocks in a row of them */
};
/* part: image_levels.at; level: of its pyramid. The file stays open. */
enum status image_rows_open(const char *path, enum color_space space, uint32_t part, uint32_t level,
                            struct image_rows **out, struct error *err);
const struct image_rows_shape *image_rows_shape(const struct image_rows *r);
/* Row i of blocks into texels, as image.texels has rows i block_height ... Adds to *file_bytes what
 * of the file that was. Fails as image_read does, with the place in the file; texels are spoilt then.
 * One thread a reader. */
enum status image_rows_read(struct image_rows *r, uint32_t i, void *texels, uint64_t *file_bytes,
                            struct error *err);
void image_rows_close(struct image_rows *r); /* takes NULL */

/* All values as linear float32, alpha as it is: those of *im itself if they are that already, else
 * in the arena. NULL: no memory. */
const float *image_linear(struct arena *a, const struct image *im);
/* F32 with 3 channels, in the arena: what an environment map is. Texels below 0 become 0. */
enum status image_to_rgb32f(struct arena *a, const struct image *in, struct image *out);

/* The largest linear value of each of the first three channels (one channel stands for three), 0 at
 * least. */
void image_largest(const struct image *im, double largest[3]);

enum { IMAGE_SIDE_MAX = 32768, IMAGE_PIXELS_MAX = 1 << 28 };

/* An encoded image: in memory, or (EXR and TIFF only) where `data` is NULL in a regular file. */
struct image_source {
    struct arena *arena;
    const unsigned char *data;
    size_t size;
    int file; /* open for reading */
    const char *name;
    enum color_space space;
    struct error *err;
    uint32_t part;  /* the subimage that is read: its image_part's `at` */
    uint32_t level; /* of its pyramid: which of them is read */
    bool shape;     /* of images nothing is read but what they are: texels are NULL */
};

/* Where the subimages of a file are. */
struct image_parts {
    uint32_t count;
    struct image_part {
        uint32_t at;      /* EXR: its part; TIFF: its first directory */
        const char *name; /* in the source's arena */
    } part[IMAGE_PARTS_MAX];
    char ended[256]; /* as image_file has it */
};
/* name: NULL means none. Where there are IMAGE_PARTS_MAX already, that ends them. */
enum status image_add_part(const struct image_source *s, struct image_parts *to, uint32_t at,
                           const char *name);
/* Is it half of the level above, each side rounded down or up? */
bool image_is_level(const uint32_t above[2], const uint32_t size[2]);

/* Refuses sizes of 0 and over the limits. */
enum status image_check_size(const struct image_source *s, uint64_t width, uint64_t height);
/* The same, then takes memory. */
enum status image_allocate(const struct image_source *s, uint64_t width, uint64_t height,
                           uint32_t channels, enum texel_format format, struct image *out);
/* "NAME: what, expected ...", after the level's number if it is not 0. */
enum status image_fault(const struct image_source *s, enum status code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

bool exr_recognise(const unsigned char *data, size_t size);
bool hdr_recognise(const unsigned char *data, size_t size);
bool png_recognise(const unsigned char *data, size_t size);
bool jpeg_recognise(const unsigned char *data, size_t size);
bool tiff_recognise(const unsigned char *data, size_t size);
bool webp_recognise(const unsigned char *data, size_t size);
bool bmp_recognise(const unsigned char *data, size_t size);
bool gif_recognise(const unsigned char *data, size_t size);
bool tga_recognise(const unsigned char *data, size_t size); /* by its plausibility: ask last */
/* Untouched *out on failure. `srgb` of the result says what the bytes are; F32 results are linear.
 */
enum status exr_read(const struct image_source *s, struct image *out);
/* The size of level s->level, at least 1; 0 x 0: the file has no such level. */
enum status exr_find_level(const struct image_source *s, uint32_t *width, uint32_t *height);
enum status tiff_find_level(const struct image_source *s, uint32_t *width, uint32_t *height);
/* Adds all subimages to an empty *out. */
enum status exr_list_parts(const struct image_source *s, struct image_parts *out);
enum status tiff_list_parts(const struct image_source *s, struct image_parts *out);
/* Rows of blocks, as image_rows_open has them; *reader is in the source's arena, whatever it holds
 * open goes with close. The source stays while it is in use. file_bytes is added to. */
enum status tiff_open_rows(const struct image_source *s, void **reader,
                           struct image_rows_shape *out);
enum status tiff_read_row(void *reader, uint32_t row, void *texels, uint64_t *file_bytes);
void tiff_close_rows(void *reader);
enum status exr_open_rows(const struct image_source *s, void **reader,
                          struct image_rows_shape *out);
enum status exr_read_row(void *reader, uint32_t row, void *texels, uint64_t *file_bytes);
void exr_close_rows(void *reader);
/* Fills an image that is allocated, of F16 or F32, by OpenEXR's C++ library: its channel k is the
 * file's of that name, where there is one. */
enum status exr_read_by_imf(const struct image_source *s, const char *const names[4],
                            struct image *im);
enum status hdr_read(const struct image_source *s, struct image *out);
enum status png_read(const struct image_source *s, struct image *out);
enum status jpeg_read(const struct image_source *s, struct image *out);
enum status tiff_read(const struct image_source *s, struct image *out);
enum status webp_read(const struct image_source *s, struct image *out);
enum status bmp_read(const struct image_source *s, struct image *out);
enum status gif_read(const struct image_source *s, struct image *out);
enum status tga_read(const struct image_source *s, struct image *out);

#ifdef __cplusplus
}
#endif

#endif
