/* SPDX-License-Identifier: Apache-2.0 */
/* texture.h: texture() and environment() (docs/reference/asl.md, Textures) of one point, where no interpreter
 * can be asked: the reference's operations in its order. An image is a run of words: channels
 * (1, 3 or 4), levels, then for each level its width, height and where its texels begin (all counted
 * from the array's start), as backends/shade/shade_words.c lays them out. A set of images: 0, the first
 * of them, then where each of the 10 x 10 begins, or 0. In front of it stand, from its first word backwards,
 * how many subimages its file has besides it, and where each of them begins or 0; in front of a set
 * only the most of them that an image has. */
#if A_WIDTH == 1

#define A_ANISOTROPIC     1 /* ASL_ANISOTROPIC and ASL_ANISOTROPIC_MAX of the compiler */
#define A_ANISOTROPIC_MAX 64

struct a_texture {    /* options of a call */
    int swrap, twrap; /* 0 black, 1 clamp, 2 periodic, 3 mirror */
    int filter;       /* 0 smart, 1 closest, 2 linear, 3 cubic */
    int anisotropic;  /* how many times as long as wide a footprint may be, see a_probes_of */
    int subimage;
    uint channels; /* wanted */
    uint first;
    float swidth, twidth, sblur, tblur, fill, missing[3], missing_alpha;
#ifdef K_COUNT_RAYS
    const struct k_scene *counting;
#endif
};

K_FN struct a_texture a_texture_start(uint channels)
{
    struct a_texture o;
    o.swrap = 0;
    o.twrap = 0;
    o.filter = 0;
    o.anisotropic = A_ANISOTROPIC;
    o.subimage = 0;
    o.channels = channels;
    o.first = 0u;
    o.swidth = 1.0f;
    o.twidth = 1.0f;
    o.sblur = 0.0f;
    o.tblur = 0.0f;
    o.fill = 0.0f;
    for (int c = 0; c < 3; c++)
        o.missing[c] = 0.0f;
    o.missing_alpha = 0.0f;
    return o;
}

/* The larger of two magnitudes. */
K_FN float a_larger(float a, float b) { return a_abs(a) > a_abs(b) ? a_abs(a) : a_abs(b); }

/* The texel that position i of n means; -1: none. */
K_FN int a_wrapped(int wrap, int i, int n)
{
    if (wrap == 0)
        return i < 0 || i >= n ? -1 : i;
    if (wrap == 1)
        return i < 0 ? 0 : i >= n ? n - 1 : i;
    int period = wrap == 3 ? 2 * n : n, m = i % period;
    m = m < 0 ? m + period : m;
    return m < n ? m : 2 * n - 1 - m;
}

struct a_level {
    K_GLOBAL const uint *texels;
    uint channels;
    int width, height;
#ifdef K_COUNT_RAYS
    uint first; /* of words */
#endif
};
K_FN struct a_level a_level_at(K_GLOBAL const uint *words, uint image, uint level)
{
    K_GLOBAL const uint *l = words + image + 2u + 3u * level;
    struct a_level r;
    r.channels = words[image];
    r.width = (int)l[0];
    r.height = (int)l[1];
    r.texels = words + l[2];
#ifdef K_COUNT_RAYS
    r.first = l[2];
#endif
    return r;
}

K_FN void a_texel(const struct a_level *l, const struct a_texture *o, int i, int j, float out[4])
{
    int x = a_wrapped(o->swrap, i, l->width), y = a_wrapped(o->twrap, j, l->height);
    uint n = l->channels;
    for (int c = 0; c < 3; c++)
        out[c] = o->fill;
    out[3] = 0.0f;
    if (x < 0 || y < 0)
        return;
#ifdef K_COUNT_RAYS
    k_tally_tile(o->counting->tally + o->counting->launch->tally_shading, l->first, (uint)l->width,
                 (uint)x, (uint)y);
#endif
    K_GLOBAL const uint *t = l->texels + ((size_t)y * (size_t)l->width + (size_t)x) * n;
    for (uint c = 0u; c < o->channels; c++) {
        uint at = n == 1u && o->first == 0u ? 0u : o->first + c;
        if (at < n && at >= o->first)
            out[c] = K_AS_FLOAT(t[at]);
    }
    uint alpha = o->first + 3u;
    out[3] = alpha < n && alpha >= o->first ? K_AS_FLOAT(t[alpha]) : 1.0f;
}

/* Beyond this, or not a number: 0. */
K_FN float a_texel_place(float x) { return a_is_finite(x) && a_abs(x) <= 4194304.0f ? x : 0.0f; }

/* The uniform cubic B-spline's weights at f in [0, 1). */
K_FN void a_bspline_weights(float f, float w[4])
{
    float g = 1.0f - f;
    w[0] = ((g * g) * g) / 6.0f;
    w[1] = ((4.0f - (6.0f * f) * f) + ((3.0f * f) * f) * f) / 6.0f;
    w[2] = ((4.0f - (6.0f * g) * g) + ((3.0f * g) * g) * g) / 6.0f;
    w[3] = ((f * f) * f) / 6.0f;
}

/* The texel whose centre is left of and above (s, t), and how far that is from it, in [0, 1). */
struct a_spot {
    int i, j;
    float fx, fy;
};
K_FN struct a_spot a_spot_of(const struct a_level *l, float s, float t)
{
    float x = a_texel_place(s * (float)l->width) - 0.5f;
    float y = a_texel_place(t * (float)l->height) - 0.5f;
    struct a_spot p;
    p.i = (int)a_floor(x);
    p.j = (int)a_floor(y);
    p.fx = x - a_floor(x);
    p.fy = y - a_floor(y);
    return p;
}
/* The four texels around it, row by row. */
A_CALL void a_corners(const struct a_level *l, const struct a_texture *o, struct a_spot p,
                      float v[4][4])
{
    for (int c = 0; c < 4; c++)
        a_texel(l, o, p.i + (c & 1), p.j + (c >> 1), v[c]);
}

A_CALL void a_level_lookup(const struct a_level *l, const struct a_texture *o, int cubic, float s,
                           float t, float out[4])
{
    const struct a_spot p = a_spot_of(l, s, t);
    if (cubic) {
        float wx[4], wy[4], v[4];
        a_bspline_weights(p.fx, wx);
        a_bspline_weights(p.fy, wy);
        for (int c = 0; c < 4; c++)
            out[c] = 0.0f;
        for (int b = 0; b < 4; b++) {
            float row[4] = {0.0f, 0.0f, 0.0f, 0.0f};
            for (int a = 0; a < 4; a++) {
                a_texel(l, o, p.i - 1 + a, p.j - 1 + b, v);
                for (int c = 0; c < 4; c++)
                    row[c] = row[c] + wx[a] * v[c];
            }
            for (int c = 0; c < 4; c++)
                out[c] = out[c] + wy[b] * row[c];
        }
        return;
    }
    float v[4][4];
    a_corners(l, o, p, v);
    for (int c = 0; c < 4; c++) {
        float top = (1.0f - p.fx) * v[0][c] + p.fx * v[1][c];
        float low = (1.0f - p.fx) * v[2][c] + p.fx * v[3][c];
        out[c] = (1.0f - p.fy) * top + p.fy * low;
    }
}

/* The changes of a_bspline_weights by f. */
K_FN void a_bspline_slopes(float f, float w[4])
{
    float g = 1.0f - f;
    w[0] = -(g * g) / 2.0f;
    w[1] = ((3.0f * f) * f - 4.0f * f) / 2.0f;
    w[2] = (4.0f * g - (3.0f * g) * g) / 2.0f;
    w[3] = (f * f) / 2.0f;
}

/* How much a_level_lookup changes by s (out[0..3]) and by t (out[4..7]). */
A_CALL void a_level_slopes(const struct a_level *l, const struct a_texture *o, int cubic, float s,
                           float t, float out[8])
{
    const struct a_spot p = a_spot_of(l, s, t);
    if (cubic) {
        float wx[4], wy[4], sx[4], sy[4], v[4];
        a_bspline_weights(p.fx, wx);
        a_bspline_weights(p.fy, wy);
        a_bspline_slopes(p.fx, sx);
        a_bspline_slopes(p.fy, sy);
        for (int c = 0; c < 8; c++)
            out[c] = 0.0f;
        for (int b = 0; b < 4; b++) {
            float row[8] = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
            for (int a = 0; a < 4; a++) {
                a_texel(l, o, p.i - 1 + a, p.j - 1 + b, v);
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
    } else {
        float v[4][4];
        a_corners(l, o, p, v);
        for (int c = 0; c < 4; c++) {
            out[c] = (1.0f - p.fy) * (v[1][c] - v[0][c]) + p.fy * (v[3][c] - v[2][c]);
            out[4 + c] = (1.0f - p.fx) * (v[2][c] - v[0][c]) + p.fx * (v[3][c] - v[1][c]);
        }
    }
    for (int c = 0; c < 4; c++) {
        out[c] = out[c] * (float)l->width;
        out[4 + c] = out[4 + c] * (float)l->height;
    }
}

/* Where an image is looked up: at `side` places on either side of the middle, each (ds, dt) from the
 * next along the longer axis of the footprint; the k-th weighs 1 - k^2 q. rho: the side, in texels of
 * the image, that each of them has. */
struct a_probes {
    int side;
    float rho, q, ds, dt;
};
/* Those of a footprint whose axes have the squares `longer` and `shorter`, in texels; (x, y): the
 * direction of the longer one, of any length. Along it the places' variance is
 * (longer - rho^2)/4; two and four are the sums of k^2 and k^4 up to n. */
K_FN void a_probes_place(const struct a_level *l, int anisotropic, float longer, float shorter,
                         float x, float y, struct a_probes *r)
{
    float most = (float)(anisotropic < A_ANISOTROPIC_MAX ? anisotropic : A_ANISOTROPIC_MAX);
    float a = a_root(longer), b = shorter > 1.0f ? a_root(shorter) : 1.0f, ratio = a / b;
    r->rho = ratio > most ? a / most : b;
    ratio = ratio > most ? most : ratio;
    float n = -a_floor(-ratio) - 1.0f;
    if (!(n >= 1.0f))
        return;
    r->q = 1.0f / (ratio * ratio);
    float two = n * (n + 1.0f) * (2.0f * n + 1.0f) / 6.0f;
    float four = two * (3.0f * (n * n) + 3.0f * n - 1.0f) / 5.0f;
    float total = 1.0f + 2.0f * (n - r->q * two);
    float step = r->rho * a_root((0.125f * (ratio * ratio - 1.0f)) * total / (two - r->q * four));
    float scale = step / a_root(x * x + y * y);
    r->side = (int)n;
    r->ds = (scale * x) / (float)l->width;
    r->dt = (scale * y) / (float)l->height;
}
/* place: s, t, the footprint's sides, and the changes of s and t in x, then in y. */
K_FN struct a_probes a_probes_of(const struct a_level *l, const struct a_texture *o,
                                 const float place[8])
{
    struct a_probes r;
    float w = (float)l->width, h = (float)l->height;
    float rho = (place[2] * o->swidth + o->sblur) * w, y = (place[3] * o->twidth + o->tblur) * h;
    r.side = 0;
    r.rho = rho > y ? rho : y;
    r.q = 0.0f;
    r.ds = 0.0f;
    r.dt = 0.0f;
    if (o->anisotropic <= 1)
        return r;
    float sx = place[4] * o->swidth * w, tx = place[5] * o->twidth * h;
    float sy = place[6] * o->swidth * w, ty = place[7] * o->twidth * h;
    float bs = o->sblur * w, bt = o->tblur * h, area = sx * ty - tx * sy;
    float xx = sx * sx + sy * sy, ss = xx + bs * bs, tt = (tx * tx + ty * ty) + bt * bt;
    float st = sx * tx + sy * ty, mean = 0.5f * (ss + tt), part = 0.5f * (ss - tt);
    float root = a_root(part * part + st * st), longer = mean + root;
    /* by the longer one, the other: mean - root would be rounding where it is far less */
    float product = (area * area + (bs * bs) * tt) + (bt * bt) * xx;
    if (longer > 1.0f && longer <= 17592186044416.0f)
        a_probes_place(l, o->anisotropic, longer, product / longer, part >= 0.0f ? part + root : st,
                       part >= 0.0f ? st : root - part, &r);
    return r;
}

/* What a place reads: levels by a linear or cubic filter, and, where more > 0, that share of the
 * next level. */
struct a_level_choice {
    int cubic;
    uint level;
    float more;
};
K_FN struct a_level_choice a_level_choose(K_GLOBAL const uint *words, uint image,
                                          const struct a_texture *o, float rho)
{
    struct a_level_choice r;
    uint last = words[image + 1u] - 1u;
    r.cubic = o->filter == 3 || (o->filter == 0 && rho < 1.0f);
    r.level = 0u;
    r.more = 0.0f;
    if (rho > 1.0f) { /* 2^level <= rho < 2^(level + 1) */
        uint bits = K_AS_UINT(rho);
        r.level = (bits >> 23) - 127u;
        r.more = K_AS_FLOAT((bits & 0x7FFFFFu) | 0x3F800000u) - 1.0f;
    }
    if (r.level >= last) {
        r.level = last;
        r.more = 0.0f;
    }
    return r;
}

/* The image that a place lies in, 0 for none, and the place there. */
K_FN uint a_texture_tile(K_GLOBAL const uint *words, uint image, const float place[8], float at[8])
{
    for (int c = 0; c < 8; c++)
        at[c] = place[c];
    if (image == 0u || words[image] != 0u)
        return image;
    if (!(place[0] >= 0.0f && place[0] < 10.0f && place[1] >= 0.0f && place[1] < 10.0f))
        return 0u;
    uint i = (uint)place[0], j = (uint)place[1];
    at[0] = place[0] - (float)i;
    at[1] = place[1] - (float)j;
    return words[image + 2u + 10u * j + i];
}

/* The subimage of an image that is no set; 0: there is none. */
K_FN uint a_texture_subimage(K_GLOBAL const uint *words, uint image, int subimage)
{
    if (image == 0u || subimage == 0)
        return image;
    return (uint)subimage > words[image - 1u] ? 0u : words[image - 1u - (uint)subimage];
}
/* Is there such an image or set, and in it, or in an image of the set, that subimage? */
K_FN int a_texture_there(K_GLOBAL const uint *words, uint named, const struct a_texture *o)
{
    if (named != 0u && words[named] == 0u)
        return (uint)o->subimage <= words[named - 1u];
    return a_texture_subimage(words, named, o->subimage) != 0u;
}

/* One place of a lookup: the four values (out[0..3]) or, with slopes, the eight of a_level_slopes. */
A_CALL void a_texture_place(K_GLOBAL const uint *words, uint image, const struct a_texture *o,
                            struct a_level_choice r, int slopes, float s, float t, float out[8])
{
    float next[8];
    int count = slopes ? 8 : 4;
    for (int more = 0; more < (r.more == 0.0f ? 1 : 2); more++) {
        struct a_level l = a_level_at(words, image, r.level + (uint)more);
        if (slopes)
            a_level_slopes(&l, o, r.cubic, s, t, more ? next : out);
        else
            a_level_lookup(&l, o, r.cubic, s, t, more ? next : out);
    }
    for (int c = 0; r.more != 0.0f && c < count; c++)
        out[c] = (1.0f - r.more) * out[c] + r.more * next[c];
}

/* The weighted mean of all places. */
A_CALL void a_texture_filter(K_GLOBAL const uint *words, uint image, const struct a_texture *o,
                             const float place[8], int slopes, float out[8])
{
    struct a_level base = a_level_at(words, image, 0u);
    struct a_probes p = a_probes_of(&base, o, place);
    struct a_level_choice r = a_level_choose(words, image, o, p.rho);
    float v[8], total = 0.0f;
    int count = slopes ? 8 : 4;
    if (p.side == 0) {
        a_texture_place(words, image, o, r, slopes, place[0], place[1], out);
        return;
    }
    for (int c = 0; c < count; c++)
        out[c] = 0.0f;
    for (int i = -p.side; i <= p.side; i++) {
        float x = (float)i, weight = 1.0f - (x * x) * p.q;
        a_texture_place(words, image, o, r, slopes, place[0] + x * p.ds, place[1] + x * p.dt, v);
        for (int c = 0; c < count; c++)
            out[c] = out[c] + weight * v[c];
        total = total + weight;
    }
    for (int c = 0; c < count; c++)
        out[c] = out[c] / total;
}

/* where: s, t, how far each changes over the footprint, and the changes of s and t in x, then in y,
 * in units of the image. out: the wanted channels, and alpha in out[3]. */
A_CALL void a_texture_lookup(K_GLOBAL const uint *words, uint named, const struct a_texture *o,
                             const float where[8], float out[4])
{
    float place[8], v[8];
    uint image = a_texture_subimage(words, a_texture_tile(words, named, where, place), o->subimage);
#ifdef K_COUNT_RAYS
    k_tally_up(o->counting->tally, K_TALLY_QUERIES);
#endif
    if (image == 0u) {
        for (int c = 0; c < 3; c++)
            out[c] = o->missing[c];
        out[3] = o->missing_alpha;
        return;
    }
    if (o->filter == 1) {
        struct a_level l = a_level_at(words, image, 0u);
        a_texel(&l, o, (int)a_floor(a_texel_place(place[0] * (float)l.width)),
                (int)a_floor(a_texel_place(place[1] * (float)l.height)), out);
        return;
    }
    a_texture_filter(words, image, o, place, 0, v);
    for (int c = 0; c < 4; c++)
        out[c] = v[c];
}

/* out: the changes in x and in y of the four values of a_texture_lookup. */
A_CALL void a_texture_changes(K_GLOBAL const uint *words, uint named, const struct a_texture *o,
                              const float where[8], float out[8])
{
    float slopes[8], place[8];
    uint image = a_texture_subimage(words, a_texture_tile(words, named, where, place), o->subimage);
    for (int c = 0; c < 8; c++)
        out[c] = 0.0f;
    if (image == 0u || o->filter == 1)
        return;
    a_texture_filter(words, image, o, place, 1, slopes);
    for (int c = 0; c < 4; c++) {
        out[c] = slopes[c] * place[4] + slopes[4 + c] * place[5];
        out[4 + c] = slopes[c] * place[6] + slopes[4 + c] * place[7];
    }
}

/* One word of what gettextureinfo() says of an image, 0 where there is none: whether there is one,
 * width, height, channels, subimages, 0, width - 1, height - 1, then the mean's red, green, blue,
 * alpha. */
K_FN uint a_texture_fact(K_GLOBAL const uint *words, uint image, int fact)
{
    if (image == 0u)
        return 0u;
    image = words[image] != 0u ? image : words[image + 1u];
    uint n = words[image], width = words[image + 2u], height = words[image + 3u];
    K_GLOBAL const uint *mean = words + words[image + 2u + 3u * (words[image + 1u] - 1u) + 2u];
    switch (fact) {
    case 0:
        return 1u;
    case 1:
        return width;
    case 2:
        return height;
    case 3:
        return n;
    case 4:
        return words[image - 1u] + 1u;
    case 5:
        return 0u;
    case 6:
        return width - 1u;
    case 7:
        return height - 1u;
    case 8:
        return mean[0];
    case 9:
        return mean[n > 1u ? 1 : 0];
    case 10:
        return mean[n > 1u ? 2 : 0];
    default:
        return n == 4u ? mean[3] : K_AS_UINT(1.0f);
    }
}

K_FN float a_length3(const float v[3]) { return a_root((v[0] * v[0] + v[1] * v[1]) + v[2] * v[2]); }
/* How s and t of a direction change where it changes by d; h: the square of its distance from the
 * poles' axis, above 0. */
K_FN void a_environment_changes(const float R[3], const float d[3], float length, float h,
                                float out[2])
{
    out[0] = ((R[0] * d[2] - R[2] * d[0]) / h) / 6.28318530717959f;
    out[1] = ((R[1] * (R[0] * d[0] + R[2] * d[2]) - d[1] * h) / ((length * length) * a_root(h))) /
             3.14159265358979f;
}
K_FN void a_environment_place(const float R[3], const float x[3], const float y[3], float place[8])
{
    float length = a_length3(R), spread = a_larger(a_length3(x), a_length3(y));
    place[0] = 0.0f;
    place[1] = 0.0f;
    if (length > 0.0f) {
        float c = R[1] / length, s = a_atan2(R[0], 0.0f - R[2]) / 6.28318530717959f;
        place[0] = s < 0.0f ? s + 1.0f : s;
        place[1] = a_acos(c) / 3.14159265358979f;
        spread = spread / length;
    }
    place[2] = spread / 6.28318530717959f;
    place[3] = spread / 3.14159265358979f;
    for (int c = 4; c < 8; c++)
        place[c] = 0.0f;
    float h = R[0] * R[0] + R[2] * R[2];
    if (h > 0.0f) {
        a_environment_changes(R, x, length, h, place + 4);
        a_environment_changes(R, y, length, h, place + 6);
    }
}

#endif
