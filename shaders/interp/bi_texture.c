/* SPDX-License-Identifier: Apache-2.0 */
/* bi_texture.c: texture, environment, gettextureinfo (Textures). Everything is float, in the order
 * that docs/reference/asl.md writes it. */
#include "interp.h"

#include <math.h>
#include <string.h>

struct options {
    enum asl_wrap wrap[2];
    enum asl_filter filter;
    float width[2], blur[2];
    float fill, missing[3], missing_alpha;
    int32_t first, anisotropic; /* channel; how long a footprint may be, see probes_of */
    int32_t subimage;
    const char *subimage_name;               /* it is called so; NULL: it is a number */
    bool missing_given;                      /* and so nothing is reported */
    const struct asl_place *alpha, *message; /* written; may be NULL */
};

/* ---- images --------------------------------------------------------------------------------- */

/* The part, from *from up to but not *end, of `above` texels that texel i of `below` covers. */
static void covered(uint32_t above, uint32_t below, uint32_t i, uint32_t *from, uint32_t *end)
{
    *from = (uint32_t)((uint64_t)i * above / below);
    *end = (uint32_t)(((uint64_t)(i + 1) * above + below - 1) / below);
}

void asl_image_rows_above(uint32_t above_height, uint32_t height, uint32_t y, uint32_t *from,
                          uint32_t *end)
{
    covered(above_height, height, y, from, end);
}

void asl_image_halve_row(const float *above, uint32_t above_width, uint32_t rows, uint32_t channels,
                         uint32_t width, float *to)
{
    for (uint32_t x = 0; x < width; x++) {
        uint32_t x0, x1;
        covered(above_width, width, x, &x0, &x1);
        for (uint32_t c = 0; c < channels; c++) {
            float sum = 0;
            for (size_t j = 0; j < rows; j++)
                for (size_t i = x0; i < x1; i++)
                    sum = sum + above[(j * above_width + i) * channels + c];
            *to++ = sum / (float)((uint64_t)rows * (x1 - x0));
        }
    }
}

/* The level below. */
static void halve(const struct asl_image_level *from, uint32_t channels, uint32_t w, uint32_t h,
                  float *to)
{
    const size_t row = (size_t)from->width * channels;
    for (uint32_t y = 0; y < h; y++) {
        uint32_t y0, y1;
        covered(from->height, h, y, &y0, &y1);
        asl_image_halve_row(from->texels + y0 * row, from->width, y1 - y0, channels, w,
                            to + (size_t)y * w * channels);
    }
}

enum status asl_image_of_levels(struct arena *a, uint32_t channels,
                                const struct asl_image_level *given, uint32_t given_count,
                                struct asl_image *out, struct error *err)
{
    const struct asl_image_level *last = &given[given_count - 1];
    uint32_t count = given_count;
    for (uint32_t w = last->width, h = last->height; w > 1 || h > 1; count++)
        w = w > 1 ? w / 2 : 1, h = h > 1 ? h / 2 : 1;
    struct asl_image_level *levels = ARENA_ARRAY(a, struct asl_image_level, count);
    if (!levels)
        return error_msg(err, STATUS_MEMORY, "out of memory for an image");
    memcpy(levels, given, given_count * sizeof *levels);
    for (uint32_t l = given_count; l < count; l++) {
        uint32_t w = levels[l - 1].width, h = levels[l - 1].height;
        w = w > 1 ? w / 2 : 1, h = h > 1 ? h / 2 : 1;
        float *to = ARENA_ARRAY(a, float, (size_t)w *h *channels);
        if (!to)
            return error_msg(err, STATUS_MEMORY, "out of memory for an image");
        halve(&levels[l - 1], channels, w, h, to);
        levels[l] = (struct asl_image_level){w, h, to};
    }
    *out = (struct asl_image){.channels = channels,
                              .level_count = count,
                              .given_count = given_count,
                              .levels = levels,
                              .subimage_count = 1};
    return STATUS_OK;
}

enum status asl_image_build(struct arena *a, uint32_t width, uint32_t height, uint32_t channels,
                            const float *texels, struct asl_image *out, struct error *err)
{
    const struct asl_image_level image = {width, height, texels};
    return asl_image_of_levels(a, channels, &image, 1, out, err);
}

const struct asl_image *asl_image_subimage(const struct asl_image *image, int32_t number)
{
    if (number == 0)
        return image;
    if (number < 0 || (uint32_t)number >= image->subimage_count || !image->more)
        return NULL;
    const struct asl_image *one = &image->more[number - 1];
    return one->level_count > 0 ? one : NULL;
}

bool asl_image_has_subimage(const struct asl_image *image, int32_t number)
{
    if (!image || number == 0)
        return image != NULL;
    return image->tiles ? number > 0 && (uint32_t)number < image->subimage_count
                        : asl_image_subimage(image, number) != NULL;
}

/* Of a set; else the image itself. */
static const struct asl_image *first_image(const struct asl_image *image)
{
    for (uint32_t i = 0; image->tiles && i < ASL_TILES; i++)
        if (image->tiles[i])
            return image->tiles[i];
    return image;
}

int32_t asl_image_subimage_number(const struct asl_image *image, const char *name)
{
    image = first_image(image);
    if (!name[0] || (image->subimage_name && strcmp(image->subimage_name, name) == 0))
        return 0;
    for (uint32_t i = 1; image->more && i < image->subimage_count; i++)
        if (strcmp(image->more[i - 1].subimage_name, name) == 0)
            return (int32_t)i;
    return -1;
}

/* ---- texels --------------------------------------------------------------------------------- */

/* The texel that position i of n means; -1: none, it is black. */
static int64_t wrapped(enum asl_wrap wrap, int64_t i, int64_t n)
{
    switch (wrap) {
    case ASL_WRAP_BLACK:
        return i < 0 || i >= n ? -1 : i;
    case ASL_WRAP_CLAMP:
        return i < 0 ? 0 : i >= n ? n - 1 : i;
    default: {
        int64_t period = wrap == ASL_WRAP_MIRROR ? 2 * n : n, m = i % period;
        m = m < 0 ? m + period : m;
        return m < n ? m : 2 * n - 1 - m;
    }
    }
}

struct lookup {
    const struct asl_image *image;
    const struct options *o;
    uint32_t channels; /* wanted */
    float s, t;
};

/* Four values: the wanted channels, then alpha. */
static void texel(const struct lookup *k, const struct asl_image_level *l, int64_t i, int64_t j,
                  float out[4])
{
    int64_t x = wrapped(k->o->wrap[0], i, l->width), y = wrapped(k->o->wrap[1], j, l->height);
    uint32_t n = k->image->channels;
    for (int c = 0; c < 4; c++)
        out[c] = k->o->fill;
    out[3] = 0;
    if (x < 0 || y < 0)
        return;
    const float *t = l->texels + ((size_t)y * l->width + (size_t)x) * n;
    for (uint32_t c = 0; c < k->channels; c++) {
        uint64_t at = n == 1 && k->o->first == 0 ? 0 : (uint64_t)(uint32_t)k->o->first + c;
        if (at < n)
            out[c] = t[at];
    }
    uint64_t alpha = (uint64_t)(uint32_t)k->o->first + 3;
    out[3] = alpha < n ? t[alpha] : 1;
}

/* Beyond this, or not a number: 0. */
static float place(float x) { return fabsf(x) <= 0x1p22f ? x : 0; }

/* The texel whose centre is left of and above the lookup, and how far the lookup is from it. */
struct spot {
    int64_t i, j;
    float fx, fy; /* in [0, 1) */
};
static struct spot spot_of(const struct lookup *k, const struct asl_image_level *l)
{
    float x = place(k->s * (float)l->width) - 0.5f, y = place(k->t * (float)l->height) - 0.5f;
    return (struct spot){(int64_t)floorf(x), (int64_t)floorf(y), x - floorf(x), y - floorf(y)};
}

/* The four texels around it, row by row. */
static struct spot corners(const struct lookup *k, const struct asl_image_level *l, float v[4][4])
{
    const struct spot p = spot_of(k, l);
    for (int c = 0; c < 4; c++)
        texel(k, l, p.i + c % 2, p.j + c / 2, v[c]);
    return p;
}

static void linear(const struct lookup *k, const struct asl_image_level *l, float out[4])
{
    float v[4][4];
    const struct spot p = corners(k, l, v);
    for (int c = 0; c < 4; c++) {
        float top = (1 - p.fx) * v[0][c] + p.fx * v[1][c];
        float low = (1 - p.fx) * v[2][c] + p.fx * v[3][c];
        out[c] = (1 - p.fy) * top + p.fy * low;
    }
}

/* The uniform cubic B-spline's weights at f in [0, 1). */
static void bspline(float f, float w[4])
{
    float g = 1 - f;
    w[0] = ((g * g) * g) / 6;
    w[1] = ((4 - (6 * f) * f) + ((3 * f) * f) * f) / 6;
    w[2] = ((4 - (6 * g) * g) + ((3 * g) * g) * g) / 6;
    w[3] = ((f * f) * f) / 6;
}

static void cubic(const struct lookup *k, const struct asl_image_level *l, float out[4])
{
    const struct spot p = spot_of(k, l);
    float wx[4], wy[4], v[4];
    bspline(p.fx, wx);
    bspline(p.fy, wy);
    for (int c = 0; c < 4; c++)
        out[c] = 0;
    for (int b = 0; b < 4; b++) {
        float row[4] = {0, 0, 0, 0};
        for (int a = 0; a < 4; a++) {
            texel(k, l, p.i - 1 + a, p.j - 1 + b, v);
            for (int c = 0; c < 4; c++)
                row[c] = row[c] + wx[a] * v[c];
        }
        for (int c = 0; c < 4; c++)
            out[c] = out[c] + wy[b] * row[c];
    }
}

static void closest(const struct lookup *k, float out[4])
{
    const struct asl_image_level *l = &k->image->levels[0];
    texel(k, l, (int64_t)floorf(place(k->s * (float)l->width)),
          (int64_t)floorf(place(k->t * (float)l->height)), out);
}

/* ---- slopes: how much a lookup changes by s (out[0..3]) and by t (out[4..7]) ---------------- */

static void linear_slopes(const struct lookup *k, const struct asl_image_level *l, float out[8])
{
    float v[4][4];
    const struct spot p = corners(k, l, v);
    for (int c = 0; c < 4; c++) {
        float across = (1 - p.fy) * (v[1][c] - v[0][c]) + p.fy * (v[3][c] - v[2][c]);
        float down = (1 - p.fx) * (v[2][c] - v[0][c]) + p.fx * (v[3][c] - v[1][c]);
        out[c] = across * (float)l->width;
        out[4 + c] = down * (float)l->height;
    }
}

/* The changes of bspline's weights by f. */
static void bspline_slopes(float f, float w[4])
{
    float g = 1 - f;
    w[0] = -(g * g) / 2;
    w[1] = ((3 * f) * f - 4 * f) / 2;
    w[2] = (4 * g - (3 * g) * g) / 2;
    w[3] = (f * f) / 2;
}

static void cubic_slopes(const struct lookup *k, const struct asl_image_level *l, float out[8])
{
    const struct spot p = spot_of(k, l);
    float wx[4], wy[4], sx[4], sy[4], v[4];
    bspline(p.fx, wx);
    bspline(p.fy, wy);
    bspline_slopes(p.fx, sx);
    bspline_slopes(p.fy, sy);
    for (int c = 0; c < 8; c++)
        out[c] = 0;
    for (int b = 0; b < 4; b++) {
        float row[8] = {0, 0, 0, 0, 0, 0, 0, 0};
        for (int a = 0; a < 4; a++) {
            texel(k, l, p.i - 1 + a, p.j - 1 + b, v);
            for (int c = 0; c < 4; c++) {
                row[c] = row[c] + sx[a] * v[c];
                row[4 + c] = row[4 + c] + wx[a] * v[c];
            }
        }
        for (int c = 0; c < 4; c++) {
            out[c] = out[c] + wy[b] * row[c];
            out[4 + c] = out[4 + c] + sy[b] * row[4 + c];
        }
    }
    for (int c = 0; c < 4; c++) {
        out[c] = out[c] * (float)l->width;
        out[4 + c] = out[4 + c] * (float)l->height;
    }
}

/* ---- levels --------------------------------------------------------------------------------- */

/* What a lookup reads: a level, and, where `more` > 0, that share of the next one. */
struct choice {
    enum asl_filter filter;
    uint32_t level;
    float more;
};

/* rho: the footprint's longer side in texels of the image. */
static struct choice choose(const struct lookup *k, float rho)
{
    struct choice r = {k->o->filter, 0, 0};
    uint32_t last = k->image->level_count - 1;
    if (r.filter == ASL_FILTER_CLOSEST)
        return r;
    if (r.filter == ASL_FILTER_SMART)
        r.filter = rho < 1 ? ASL_FILTER_CUBIC : ASL_FILTER_LINEAR;
    if (rho > 1) {
        int e;
        r.more = 2 * frexpf(rho, &e) - 1;
        r.level = (uint32_t)(e - 1);
    }
    if (r.level >= last || isinf(rho)) {
        r.level = last;
        r.more = 0;
    }
    return r;
}

static void filtered(const struct lookup *k, struct choice r, float out[4])
{
    const struct asl_image_level *levels = k->image->levels;
    float next[4];
    if (r.filter == ASL_FILTER_CLOSEST) {
        closest(k, out);
        return;
    }
    (r.filter == ASL_FILTER_CUBIC ? cubic : linear)(k, &levels[r.level], out);
    if (r.more == 0)
        return;
    (r.filter == ASL_FILTER_CUBIC ? cubic : linear)(k, &levels[r.level + 1], next);
    for (int c = 0; c < 4; c++)
        out[c] = (1 - r.more) * out[c] + r.more * next[c];
}

static void filtered_slopes(const struct lookup *k, struct choice r, float out[8])
{
    const struct asl_image_level *levels = k->image->levels;
    float next[8];
    if (r.filter == ASL_FILTER_CLOSEST) {
        memset(out, 0, 8 * sizeof *out);
        return;
    }
    (r.filter == ASL_FILTER_CUBIC ? cubic_slopes : linear_slopes)(k, &levels[r.level], out);
    if (r.more == 0)
        return;
    (r.filter == ASL_FILTER_CUBIC ? cubic_slopes : linear_slopes)(k, &levels[r.level + 1], next);
    for (int c = 0; c < 8; c++)
        out[c] = (1 - r.more) * out[c] + r.more * next[c];
}

/* ---- long footprints ------------------------------------------------------------------------ */

/* Where an image is looked up: at `side` places on either side of the middle, each (ds, dt) from the
 * next along the longer axis of the footprint; the k-th weighs 1 - k^2 q. rho: the side, in texels of
 * the image, that each of them has. */
struct probes {
    int side;
    float rho, q, ds, dt;
};

/* The squares of the axes of the ellipse that a circle of diameter 1 becomes, in texels, and twice
 * the direction of the longer one, of any length. d: the changes of s and t in x, then in y. */
struct axes {
    float longer, shorter, x, y;
};
static struct axes axes_of(const struct lookup *k, const float d[4])
{
    const float w = (float)k->image->levels[0].width, h = (float)k->image->levels[0].height;
    const struct options *o = k->o;
    float sx = d[0] * o->width[0] * w, tx = d[1] * o->width[1] * h;
    float sy = d[2] * o->width[0] * w, ty = d[3] * o->width[1] * h;
    float bs = o->blur[0] * w, bt = o->blur[1] * h, area = sx * ty - tx * sy;
    float xx = sx * sx + sy * sy, ss = xx + bs * bs, tt = (tx * tx + ty * ty) + bt * bt;
    float st = sx * tx + sy * ty, mean = 0.5F * (ss + tt), half = 0.5F * (ss - tt);
    float root = sqrtf(half * half + st * st), longer = mean + root;
    bool wide = half >= 0;
    /* The product of both by the longer one: mean - root would be rounding where it is far less. */
    float product = (area * area + (bs * bs) * tt) + (bt * bt) * xx;
    return (struct axes){longer, product / longer, wide ? half + root : st,
                         wide ? st : root - half};
}

/* rho: what one place has. A footprint of at most one texel, and one that is no number or beyond all
 * images, is looked up at one place. */
static struct probes probes_of(const struct lookup *k, const float d[4], float rho)
{
    struct probes r = {.rho = rho};
    if (k->o->anisotropic <= 1 || k->o->filter == ASL_FILTER_CLOSEST)
        return r;
    const struct axes e = axes_of(k, d);
    if (!(e.longer > 1 && e.longer <= 0x1p44F))
        return r;
    float most =
        (float)(k->o->anisotropic < ASL_ANISOTROPIC_MAX ? k->o->anisotropic : ASL_ANISOTROPIC_MAX);
    float a = sqrtf(e.longer), b = e.shorter > 1 ? sqrtf(e.shorter) : 1, ratio = a / b;
    r.rho = ratio > most ? a / most : b;
    ratio = ratio > most ? most : ratio;
    float n = ceilf(ratio) - 1;
    if (!(n >= 1))
        return r;
    /* Places and weights go on and off smoothly with the ratio: the last has the weight 0 where it
     * comes. Along the axis their variance is (a^2 - rho^2)/4; two and four are the sums of k^2 and
     * k^4 up to n. */
    r.q = 1 / (ratio * ratio);
    float two = n * (n + 1) * (2 * n + 1) / 6, four = two * (3 * (n * n) + 3 * n - 1) / 5;
    float total = 1 + 2 * (n - r.q * two);
    float step = r.rho * sqrtf((0.125F * (ratio * ratio - 1)) * total / (two - r.q * four));
    float scale = step / sqrtf(e.x * e.x + e.y * e.y);
    r.side = (int)n;
    r.ds = (scale * e.x) / (float)k->image->levels[0].width;
    r.dt = (scale * e.y) / (float)k->image->levels[0].height;
    return r;
}

/* The weighted mean of `one` at the places; count: of the numbers that it gives. */
static void along(const struct lookup *k, const struct probes *p, struct choice choice,
                  void (*one)(const struct lookup *, struct choice, float *), int count, float *out)
{
    if (p->side == 0) {
        one(k, choice, out);
        return;
    }
    float v[8], total = 0;
    for (int c = 0; c < count; c++)
        out[c] = 0;
    for (int i = -p->side; i <= p->side; i++) {
        float x = (float)i, weight = 1 - (x * x) * p->q;
        struct lookup at = *k;
        at.s = k->s + x * p->ds;
        at.t = k->t + x * p->dt;
        one(&at, choice, v);
        for (int c = 0; c < count; c++)
            out[c] = out[c] + weight * v[c];
        total = total + weight;
    }
    for (int c = 0; c < count; c++)
        out[c] = out[c] / total;
}

/* ---- options -------------------------------------------------------------------------------- */

static void string_option(struct options *o, const struct asl_texture_option *option,
                          const char *value)
{
    if (option && strcmp(option->key, "subimage") == 0)
        o->subimage_name = value;
    if (!option || !option->words)
        return;
    const int number = asl_texture_word(option, value)->number;
    if (!option->wraps)
        o->filter = (enum asl_filter)number;
    else
        for (int k = 0; k < 2; k++)
            if (option->key[0] == "st"[k] || option->key[0] == 'w')
                o->wrap[k] = (enum asl_wrap)number;
}

static void number_option(struct options *o, const char *key, float value)
{
    bool both = strcmp(key, "width") == 0;
    if (both || strcmp(key, "swidth") == 0)
        o->width[0] = value;
    if (both || strcmp(key, "twidth") == 0)
        o->width[1] = value;
    both = strcmp(key, "blur") == 0;
    if (both || strcmp(key, "sblur") == 0)
        o->blur[0] = value;
    if (both || strcmp(key, "tblur") == 0)
        o->blur[1] = value;
    if (strcmp(key, "fill") == 0)
        o->fill = value;
    if (strcmp(key, "missingalpha") == 0) {
        o->missing_alpha = value;
        o->missing_given = true;
    }
}

/* The checker has seen pairs that are literals. */
static void report_pair(struct asl_run *r, const struct asl_expr *e, const char *key,
                        const struct asl_texture_option *o, const struct asl_place *value,
                        bool written)
{
    char type[ASL_TYPE_TEXT_SIZE], taken[ASL_TYPE_TEXT_SIZE];
    const char *name = e->builtin->name;
    const char *s = asl_is(value->type, ASL_STRING) && !written ? value->v[0].s : NULL;
    switch (asl_pair_fault(e->builtin->id, o, value->type, written, s)) {
    case ASL_PAIR_FITS:
        break;
    case ASL_PAIR_NO_OPTION:
        asl_report(r, ASL_MSG_ERROR, "%s: there is no option \"%.200s\"", name, key);
        break;
    case ASL_PAIR_TYPE:
        asl_report(r, ASL_MSG_ERROR, "%s: \"%s\" %s a %s, not %s", name, key,
                   o->written ? "writes" : "takes",
                   asl_type_text(asl_type_of(o->base), taken, sizeof taken),
                   asl_type_text(value->type, type, sizeof type));
        break;
    case ASL_PAIR_UNWRITTEN:
        asl_report(r, ASL_MSG_ERROR, "%s: \"%s\" writes only where its name is a literal", name,
                   key);
        break;
    case ASL_PAIR_VALUE:
        asl_report(r, ASL_MSG_ERROR, "%s: \"%s\" has no value \"%.200s\"", name, key, s);
        break;
    }
}

/* Pairs from args[first] on. */
static void read_options(struct asl_run *r, const struct asl_expr *e, const struct asl_place *args,
                         size_t first, struct options *o)
{
    for (size_t i = first; i + 1 < e->arg_count; i += 2) {
        const char *key = args[i].v[0].s;
        const struct asl_place *p = &args[i + 1];
        const struct asl_texture_option *option = asl_texture_option(key);
        report_pair(r, e, key, option, p, asl_writes(e, i + 1));
        if (asl_writes(e, i + 1))
            *(asl_is(p->type, ASL_STRING) ? &o->message : &o->alpha) = p;
        else if (asl_is(p->type, ASL_STRING))
            string_option(o, option, p->v[0].s);
        else if (asl_is(p->type, ASL_INT) && strcmp(key, "firstchannel") == 0)
            o->first = p->v[0].i;
        else if (asl_is(p->type, ASL_INT) && strcmp(key, "anisotropic") == 0)
            o->anisotropic = p->v[0].i;
        else if (asl_is(p->type, ASL_INT) && strcmp(key, "subimage") == 0)
            o->subimage = p->v[0].i, o->subimage_name = NULL;
        else if (asl_is(p->type, ASL_INT))
            number_option(o, key, (float)p->v[0].i);
        else if (asl_is(p->type, ASL_FLOAT))
            number_option(o, key, p->v[0].f);
        else if (asl_is_triple(p->type) && strcmp(key, "missingcolor") == 0) {
            for (size_t c = 0; c < 3; c++)
                o->missing[c] = p->v[c].f;
            o->missing_given = true;
        }
    }
}

/* ---- calls ---------------------------------------------------------------------------------- */

static const struct asl_image *image_named(struct asl_run *r, const char *name)
{
    const struct asl_services *s = &r->cx->services;
    return s->image ? s->image(s->ctx, name) : NULL;
}

static void report_missing(struct asl_run *r, const struct asl_expr *e, const char *name)
{
    const struct asl_services *s = &r->cx->services;
    const char *why = s->image_fault ? s->image_fault(s->ctx, name) : NULL;
    asl_report(r, ASL_MSG_ERROR, "%s: there is no image \"%.200s\"%s%.400s", e->builtin->name, name,
               why ? ": " : "", why ? why : "");
}

/* Which one is asked for: a wrong number is one of many, a name is not. */
static void report_no_subimage(struct asl_run *r, const struct asl_expr *e,
                               const struct asl_image *image, const char *name,
                               const struct options *o)
{
    const char *own = o->subimage_name, *quote = own ? " \"" : "";
    asl_report(r, ASL_MSG_ERROR, "%s: the image \"%.200s\" has no such subimage%s%.200s%s: %s %u",
               e->builtin->name, name, quote, own ? own : "", own ? "\"" : "",
               image->tiles ? "its files have at most" : "its file has", image->subimage_count);
}

static void give(struct asl_run *r, const struct asl_expr *e, const struct options *o,
                 const dual v[4], union asl_slot *out)
{
    for (size_t c = 0; c < e->slots; c++)
        asl_dual_put(out, e->slots, asl_wants(r, e), c, v[c]);
    if (o->alpha)
        asl_dual_store(o->alpha, 0, v[3]);
}

/* For who asks for "errormessage"; nothing is reported then. */
#define NO_SUCH_IMAGE "there is no such image"

static bool wants_changes(struct asl_run *r, const struct asl_expr *e, const struct options *o)
{
    return asl_wants(r, e) || (o->alpha && o->alpha->d);
}

/* The image of a set that s, t lie in, and where there; NULL when there is none. */
static const struct asl_image *tile_at(const struct asl_image *set, float *s, float *t)
{
    float i = floorf(*s), j = floorf(*t);
    if (!(i >= 0 && i < ASL_TILES_ACROSS && j >= 0 && j < ASL_TILES_DOWN))
        return NULL;
    *s = *s - i;
    *t = *t - j;
    return set->tiles[(size_t)j * ASL_TILES_ACROSS + (size_t)i];
}

/* s, t: the place, with the changes that the result follows; ds, dt: the footprint, in units of the
 * image; with o->anisotropic > 1 it is that of `changes`, of s and t in x, then in y. */
static void look_up(struct asl_run *r, const struct asl_expr *e, const struct asl_place *args,
                    const struct options *o, dual s, dual t, float ds, float dt,
                    const float changes[4], union asl_slot *out)
{
    const char *name = args[0].v[0].s;
    const struct asl_image *named = image_named(r, name), *image = named;
    const int32_t subimage = named && o->subimage_name
                                 ? asl_image_subimage_number(named, o->subimage_name)
                                 : o->subimage;
    const bool there = asl_image_has_subimage(named, subimage);
    float v[4] = {o->missing[0], o->missing[1], o->missing[2], o->missing_alpha}, slopes[8] = {0};
    dual result[4];
    if (named && named->tiles)
        image = tile_at(named, &s.v, &t.v);
    if (image)
        image = asl_image_subimage(image, subimage);
    if (image) {
        const struct lookup k = {image, o, e->slots, s.v, t.v};
        float x = (ds * o->width[0] + o->blur[0]) * (float)image->levels[0].width;
        float y = (dt * o->width[1] + o->blur[1]) * (float)image->levels[0].height;
        const struct probes p = probes_of(&k, changes, x > y ? x : y);
        const struct choice choice = choose(&k, p.rho);
        along(&k, &p, choice, filtered, 4, v);
        if (wants_changes(r, e, o))
            along(&k, &p, choice, filtered_slopes, 8, slopes);
    }
    if (!there && !o->message && !o->missing_given) {
        if (named)
            report_no_subimage(r, e, named, name, o);
        else
            report_missing(r, e, name);
    }
    if (o->message)
        o->message->v[0].s = there ? "" : NO_SUCH_IMAGE;
    for (int c = 0; c < 4; c++)
        result[c] = (dual){v[c], slopes[c] * s.dx + slopes[4 + c] * t.dx,
                           slopes[c] * s.dy + slopes[4 + c] * t.dy};
    give(r, e, o, result, out);
}

static float larger(float a, float b) { return fabsf(a) > fabsf(b) ? fabsf(a) : fabsf(b); }

static void bi_texture(struct asl_run *r, const struct asl_expr *e, struct asl_place *args,
                       union asl_slot *out)
{
    struct options o = {.width = {1, 1}, .anisotropic = ASL_ANISOTROPIC};
    dual s = asl_dual_at(&args[1], 0), t = asl_dual_at(&args[2], 0);
    if (e->overload->count == 7) /* dsdx, dtdx, dsdy, dtdy follow */
        s.dx = args[3].v[0].f, t.dx = args[4].v[0].f, s.dy = args[5].v[0].f, t.dy = args[6].v[0].f;
    read_options(r, e, args, e->overload->count, &o);
    look_up(r, e, args, &o, s, t, larger(s.dx, s.dy), larger(t.dx, t.dy),
            (float[]){s.dx, t.dx, s.dy, t.dy}, out);
}

static float length3(const float v[3]) { return sqrtf((v[0] * v[0] + v[1] * v[1]) + v[2] * v[2]); }

/* How s and t of a direction change where it changes by d. */
static void direction_changes(const float R[3], const float d[3], float length, float out[2])
{
    float h = R[0] * R[0] + R[2] * R[2];
    out[0] = out[1] = 0;
    if (!(h > 0))
        return;
    out[0] = ((R[0] * d[2] - R[2] * d[0]) / h) / (float)(2 * M_PI);
    out[1] = ((R[1] * (R[0] * d[0] + R[2] * d[2]) - d[1] * h) / ((length * length) * sqrtf(h))) /
             (float)M_PI;
}

static void bi_environment(struct asl_run *r, const struct asl_expr *e, struct asl_place *args,
                           union asl_slot *out)
{
    struct options o = {.width = {1, 1},
                        .anisotropic = ASL_ANISOTROPIC,
                        .wrap = {ASL_WRAP_PERIODIC, ASL_WRAP_CLAMP}};
    float R[3], x[3], y[3];
    for (size_t c = 0; c < 3; c++) {
        dual d = asl_dual_at(&args[1], c);
        bool given = e->overload->count == 4;
        R[c] = d.v;
        x[c] = given ? args[2].v[c].f : d.dx;
        y[c] = given ? args[3].v[c].f : d.dy;
    }
    float length = length3(R), spread = larger(length3(x), length3(y));
    read_options(r, e, args, e->overload->count, &o);
    o.wrap[0] = ASL_WRAP_PERIODIC, o.wrap[1] = ASL_WRAP_CLAMP;
    float s = 0, t = 0, turn = (float)(2 * M_PI), half = (float)M_PI;
    if (length > 0) {
        float c = R[1] / length;
        s = (float)atan2((double)R[0], (double)-R[2]) / turn;
        s = s < 0 ? s + 1 : s;
        t = (float)acos((double)(c < -1 ? -1 : c > 1 ? 1 : c)) / half;
        spread = spread / length;
    }
    float changes[4];
    direction_changes(R, x, length, changes);
    direction_changes(R, y, length, changes + 2);
    look_up(r, e, args, &o, d_const(s), d_const(t), spread / turn, spread / half, changes, out);
}

/* Writes ints to an int or an array of at least `count` of them. */
static bool put_ints(const struct asl_place *to, const int32_t *v, size_t count)
{
    if (to->type.base != ASL_INT || to->n < count)
        return false;
    for (size_t i = 0; i < count; i++)
        to->v[i].i = v[i];
    return true;
}

/* Writes floats to a float, a triple or an array of at least `count` of them. */
static bool put_floats(const struct asl_place *to, const float *v, size_t count)
{
    if ((to->type.base != ASL_FLOAT && !asl_is_triple(to->type)) || to->n < count)
        return false;
    for (size_t i = 0; i < count; i++)
        asl_dual_store(to, i, d_const(v[i]));
    return true;
}

/* The last level's texel: the mean of the image. */
static bool describe_average(const struct asl_image *image, const char *what,
                             const struct asl_place *to)
{
    const float *t = image->levels[image->level_count - 1].texels;
    uint32_t n = image->channels;
    if (strcmp(what, "averagecolor") == 0)
        return put_floats(to,
                          (float[]){t[0], t[n > 1 ? 1 : 0],
                                    n == 1  ? t[0]
                                    : n > 2 ? t[2]
                                            : 0},
                          3);
    return strcmp(what, "averagealpha") == 0 && put_floats(to, (float[]){n == 4 ? t[3] : 1}, 1);
}

static bool describe(const struct asl_image *image, const char *what, const struct asl_place *to)
{
    int32_t w = image ? (int32_t)image->levels[0].width : 0;
    int32_t h = image ? (int32_t)image->levels[0].height : 0;
    if (strcmp(what, "exists") == 0)
        return put_ints(to, (int32_t[]){image != NULL}, 1);
    if (!image)
        return false;
    if (strcmp(what, "resolution") == 0)
        return to->n >= 3 ? put_ints(to, (int32_t[]){w, h, 1}, 3)
                          : put_ints(to, (int32_t[]){w, h}, 2);
    if (strcmp(what, "channels") == 0)
        return put_ints(to, (int32_t[]){(int32_t)image->channels}, 1);
    if (strcmp(what, "subimages") == 0)
        return put_ints(to, (int32_t[]){(int32_t)first_image(image)->subimage_count}, 1);
    if (strcmp(what, "datawindow") == 0 || strcmp(what, "displaywindow") == 0)
        return put_ints(to, (int32_t[]){0, 0, w - 1, h - 1}, 4);
    bool kind = strcmp(what, "type") == 0 || strcmp(what, "texturetype") == 0 ||
                strcmp(what, "textureformat") == 0;
    if (!kind)
        return describe_average(image, what, to);
    if (!asl_is(to->type, ASL_STRING))
        return false;
    to->v[0].s = "Plain Texture";
    return true;
}

void asl_bi_texture(struct asl_run *r, const struct asl_expr *e, struct asl_place *args,
                    union asl_slot *out)
{
    switch (e->builtin->id) {
    case BI_TEXTURE:
        bi_texture(r, e, args, out);
        break;
    case BI_ENVIRONMENT:
        bi_environment(r, e, args, out);
        break;
    default: { /* BI_GETTEXTUREINFO: [s, t] may stand before what is asked for */
        size_t last = e->arg_count - 1;
        out[0].i = describe(image_named(r, args[0].v[0].s), args[last - 1].v[0].s, &args[last]);
    }
    }
}
