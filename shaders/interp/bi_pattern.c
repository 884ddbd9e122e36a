/* SPDX-License-Identifier: Apache-2.0 */
/* bi_pattern.c: noise, hash and spline calls. */
#include "interp.h"

#include <string.h>

static bool noise_kind(const char *name, enum asl_noise *kind)
{
    static const struct {
        const char *name;
        enum asl_noise kind;
    } names[] = {{"perlin", ASL_NOISE_PERLIN},   {"snoise", ASL_NOISE_PERLIN},
                 {"uperlin", ASL_NOISE_UPERLIN}, {"noise", ASL_NOISE_UPERLIN},
                 {"simplex", ASL_NOISE_SIMPLEX}, {"usimplex", ASL_NOISE_USIMPLEX},
                 {"cell", ASL_NOISE_CELL},       {"hash", ASL_NOISE_HASH}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i].name, name) == 0) {
            *kind = names[i].kind;
            return true;
        }
    }
    return false;
}

/* What is not a number counts as the lower end. */
static float within(float x, float low, float high) { return x > low ? x < high ? x : high : low; }

static struct asl_gabor gabor_options(struct asl_run *r, const struct asl_expr *e,
                                      const struct asl_place *args)
{
    struct asl_gabor g = {.direction = {1, 0, 0}, .bandwidth = 1, .impulses = 16, .filter = true};
    for (size_t i = e->overload->count; i + 1 < e->arg_count; i += 2) {
        const char *name = args[i].v[0].s;
        const struct asl_place *v = &args[i + 1];
        enum asl_base b = v->type.base;
        float number = b == ASL_INT ? (float)v->v[0].i : b == ASL_FLOAT ? v->v[0].f : 0;
        bool scalar = b == ASL_INT || b == ASL_FLOAT;
        if (strcmp(name, "anisotropic") == 0 && b == ASL_INT)
            g.anisotropic = v->v[0].i;
        else if (strcmp(name, "do_filter") == 0 && b == ASL_INT)
            g.filter = v->v[0].i != 0;
        else if (strcmp(name, "direction") == 0 && asl_is_triple(v->type))
            for (size_t k = 0; k < 3; k++)
                g.direction[k] = v->v[k].f;
        else if (strcmp(name, "bandwidth") == 0 && scalar)
            g.bandwidth = within(number, 0.01f, 100);
        else if (strcmp(name, "impulses") == 0 && scalar)
            g.impulses = within(number, 1, 32);
        else
            asl_report(r, ASL_MSG_ERROR, "Unknown noise option \"%.60s\", or of a wrong type",
                       name);
    }
    return g;
}

static void bi_noise(struct asl_run *r, const struct asl_expr *e, struct asl_place *args,
                     union asl_slot *out)
{
    enum asl_builtin_id id = e->builtin->id;
    enum asl_noise kind = id == BI_SNOISE || id == BI_PSNOISE ? ASL_NOISE_PERLIN
                          : id == BI_CELLNOISE                ? ASL_NOISE_CELL
                          : id == BI_HASHNOISE                ? ASL_NOISE_HASH
                                                              : ASL_NOISE_UPERLIN;
    bool periodic = id == BI_PNOISE || id == BI_PSNOISE, named = args[0].type.base == ASL_STRING;
    size_t first = named, coords = e->overload->count - first;
    dual x[8], res[3];
    float period[4];
    unsigned dims = 0;
    bool gabor = named && strcmp(args[0].v[0].s, "gabor") == 0;
    bool known = !named || gabor || noise_kind(args[0].v[0].s, &kind);
    if (!known || (periodic && (kind == ASL_NOISE_SIMPLEX || kind == ASL_NOISE_USIMPLEX))) {
        struct src_pos at = asl_pos(e->at);
        asl_report(r, ASL_MSG_ERROR, "%snoise type \"%.100s\" is unknown, called from (%.200s:%u)",
                   periodic ? "periodic " : "", args[0].v[0].s, at.file ? at.file : "", at.line);
        memset(out, 0, asl_room(r, e) * sizeof *out);
        return;
    }
    if (periodic)
        coords /= 2;
    for (size_t i = 0; i < coords; i++)
        for (size_t k = 0; k < args[first + i].n && dims < 4; k++)
            x[dims++] = asl_dual_at(&args[first + i], k);
    unsigned p = 0;
    for (size_t i = coords; periodic && i < 2 * coords; i++)
        for (size_t k = 0; k < args[first + i].n && p < 4; k++)
            period[p++] = args[first + i].v[k].f;
    if (gabor) {
        struct asl_gabor g = gabor_options(r, e, args);
        for (unsigned i = dims; i < 3; i++) {
            x[i] = d_const(0);
            period[i] = 1;
        }
        asl_gabor_eval(&g, x, periodic ? period : NULL, e->slots == 3 ? 3 : 1, res);
    } else {
        asl_noise_eval(kind, dims, x, periodic ? period : NULL, e->slots == 3, res);
    }
    for (size_t i = 0; i < e->slots; i++)
        asl_dual_put(out, e->slots, asl_wants(r, e), i, res[i]);
}

/* Strings: FNV-1a over the bytes, then the hash of that one word. */
int32_t asl_string_hash(const char *s)
{
    uint32_t h = hash_text(s);
    h = asl_hash_words(&h, 1);
    int32_t i;
    memcpy(&i, &h, sizeof i);
    return i;
}

static int32_t bi_hash(const struct asl_expr *e, const struct asl_place *args)
{
    uint32_t w[4], h;
    unsigned n = 0;
    if (args[0].type.base == ASL_STRING)
        return asl_string_hash(args[0].v[0].s);
    for (size_t i = 0; i < e->arg_count; i++)
        for (size_t k = 0; k < args[i].n && n < 4; k++)
            w[n++] = args[i].type.base == ASL_INT ? (uint32_t)args[i].v[k].i
                                                  : asl_hashed_bits(args[i].v[k].f);
    h = asl_hash_words(w, n);
    int32_t v;
    memcpy(&v, &h, sizeof v);
    return v;
}

struct knots {
    const struct asl_place *places; /* one array, or one place each */
    size_t channels;
    bool array;
};

static dual knot(const void *ctx, size_t i, size_t channel)
{
    const struct knots *k = ctx;
    return k->array ? asl_dual_at(&k->places[0], i * k->channels + channel)
                    : asl_dual_at(&k->places[i], channel);
}

static void bi_spline(struct asl_run *r, const struct asl_expr *e, struct asl_place *args,
                      union asl_slot *out)
{
    bool inverse = e->builtin->id == BI_SPLINEINVERSE;
    size_t last = e->arg_count - 1, channels = inverse ? 1 : e->slots, n;
    struct knots k = {
        .places = &args[2], .channels = channels, .array = args[last].type.array != 0};
    const char *basis = args[0].v[0].s;
    if (k.array) {
        k.places = &args[last];
        n = args[last].n / channels;
        if (e->arg_count == 4) {
            int32_t want = args[2].v[0].i;
            if (want < 0 || (size_t)want > n)
                asl_report(r, ASL_MSG_ERROR, "spline: %d knots asked for, %zu given", want, n);
            else
                n = (size_t)want;
        }
    } else {
        n = e->arg_count - 2;
    }
    dual res[3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    bool ok;
    if (inverse) {
        float *y = asl_point_alloc(r, n + 1, sizeof *y);
        for (size_t i = 0; i < n; i++)
            y[i] = knot(&k, i, 0).v;
        ok = asl_spline_inverse(basis, asl_dual_at(&args[1], 0), n, y, &res[0]);
    } else {
        ok = asl_spline_value(basis, asl_dual_at(&args[1], 0), n, channels, knot, &k, res);
    }
    if (!ok)
        asl_report(
            r, ASL_MSG_ERROR,
            "spline: \"%.60s\" with %zu knots; expected catmull-rom, bezier, bspline, hermite, "
            "linear or constant with at least 4",
            basis, n);
    for (size_t i = 0; i < e->slots; i++)
        asl_dual_put(out, e->slots, asl_wants(r, e), i, res[i]);
}

void asl_bi_pattern(struct asl_run *r, const struct asl_expr *e, struct asl_place *args,
                    union asl_slot *out)
{
    switch (e->builtin->id) {
    case BI_HASH:
        out[0].i = bi_hash(e, args);
        break;
    case BI_SPLINE:
    case BI_SPLINEINVERSE:
        bi_spline(r, e, args, out);
        break;
    default:
        bi_noise(r, e, args, out);
    }
}
