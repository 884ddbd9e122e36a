/* SPDX-License-Identifier: Apache-2.0 */
/* A small path tracer of spheres, triangles (so boxes too) and media that scatter alike in all
 * directions, by linear search, whose numbers are the type's parameters: G of points, directions
 * and distances, L of light along a path, F of the sums in the film. All read the same random
 * numbers, so pictures of one scene differ by their numbers alone. Paths end at light that they
 * meet by chance: no sampling of lights, hence no densities. Sines, cosines and logarithms are
 * those of double, rounded. */
#ifndef BENCH_TRACER_H
#define BENCH_TRACER_H

#include "scenes.h"

#include "number.h"

#include <vector>

/* What counts of a picture beside its numbers; max_depth: edges of a path, as scenes count them. */
struct tracing {
    uint32_t width, height, spp, max_depth;
    uint64_t seed;
    double offset; /* hits nearer than this to a ray's origin do not count */
};

template <typename N> struct vector3 {
    N x, y, z;
    vector3() : x(N(0)), y(N(0)), z(N(0)) {}
    vector3(N a, N b, N c) : x(a), y(b), z(c) {}
    explicit vector3(const float a[3]) : x(N(a[0])), y(N(a[1])), z(N(a[2])) {}
    explicit vector3(const double a[3]) : x(N(a[0])), y(N(a[1])), z(N(a[2])) {}
    vector3 operator-() const { return vector3(-x, -y, -z); }
    vector3 operator+(const vector3 &b) const { return vector3(x + b.x, y + b.y, z + b.z); }
    vector3 operator-(const vector3 &b) const { return vector3(x - b.x, y - b.y, z - b.z); }
    vector3 operator*(const vector3 &b) const { return vector3(x * b.x, y * b.y, z * b.z); }
    vector3 operator*(N b) const { return vector3(x * b, y * b, z * b); }
    N dot(const vector3 &b) const { return x * b.x + y * b.y + z * b.z; }
    vector3 cross(const vector3 &b) const
    {
        return vector3(y * b.z - z * b.y, z * b.x - x * b.z, x * b.y - y * b.x);
    }
    /* `other` where the length is 0. */
    vector3 unit(const vector3 &other) const
    {
        N length = root(dot(*this));
        return N(0) < length ? vector3(x / length, y / length, z / length) : other;
    }
};

template <typename G, typename L, typename F> class tracer
{
    typedef vector3<G> vec;
    typedef vector3<L> color;
    struct ball {
        vec center;
        G radius;
    };
    struct facet {
        vec corner, side[2], normal;
    };
    struct hit {
        G t;
        vec normal; /* the stored one: of a sphere outwards */
        uint32_t material;
        bool found;
    };
    struct surface {
        color base, emission, albedo;
        G ior;
    };
    const struct scene *s;
    tracing with;
    std::vector<ball> balls;
    std::vector<facet> facets;
    std::vector<surface> surfaces;
    vec origin, right, up, forward;
    color sky;
    G least;

    void random(const uint32_t at[3], uint32_t block, double u[4]) const
    {
        const uint32_t counter[4] = {at[0], at[1], at[2], block};
        const uint32_t key[2] = {(uint32_t)with.seed, (uint32_t)(with.seed >> 32)};
        uint32_t words[4];
        philox4x32(counter, key, words);
        for (int i = 0; i < 4; i++)
            u[i] = u01(words[i]);
    }

    static vec sphere_point(const double u[4])
    {
        G z = G(1) - G(2) * G(u[0]), r = root(max0(G(1) - z * z));
        double phi = 2 * M_PI * u[1];
        return vec(r * G(std::cos(phi)), r * G(std::sin(phi)), z);
    }

    static G max0(G x) { return x < G(0) ? G(0) : x; }

    /* Half of the quadratic's b: t^2 + 2 b t + c = 0. */
    bool meet(const ball &k, const vec &o, const vec &d, G most, G *t) const
    {
        vec from = o - k.center;
        G b = from.dot(d), c = from.dot(from) - k.radius * k.radius, rest = b * b - c;
        if (rest < G(0))
            return false;
        G r = root(rest);
        *t = -b - r;
        if (!(least < *t))
            *t = -b + r;
        return least < *t && *t < most;
    }

    /* Moeller and Trumbore, "Fast, Minimum Storage Ray/Triangle Intersection", 1997. */
    bool meet(const facet &k, const vec &o, const vec &d, G most, G *t) const
    {
        vec p = d.cross(k.side[1]), from = o - k.corner, q = from.cross(k.side[0]);
        G det = k.side[0].dot(p);
        if (!(det < G(0)) && !(G(0) < det))
            return false;
        G u = from.dot(p) / det, v = d.dot(q) / det;
        if (u < G(0) || v < G(0) || G(1) < u + v)
            return false;
        *t = k.side[1].dot(q) / det;
        return least < *t && *t < most;
    }

    hit search(const vec &o, const vec &d) const
    {
        hit h = {G(1e30), vec(), 0, false}; /* or the format's largest number */
        G t;
        for (size_t i = 0; i < facets.size(); i++)
            if (meet(facets[i], o, d, h.t, &t))
                h = hit{t, facets[i].normal, s->primitive_material[i], true};
        for (size_t i = 0; i < balls.size(); i++)
            if (meet(balls[i], o, d, h.t, &t))
                h = hit{t, (o + d * t - balls[i].center).unit(-d),
                        s->primitive_material[facets.size() + i], true};
        return h;
    }

    /* The way on from a surface. */
    static vec scatter(const struct material *m, const surface &f, const hit &h, const vec &d,
                       const double u[4])
    {
        bool inside = G(0) < h.normal.dot(d);
        vec n = inside ? -h.normal : h.normal;
        G c = -n.dot(d);
        if (m->type == MATERIAL_DIFFUSE)
            return (n + sphere_point(u)).unit(n);
        vec mirrored = (d + n * (G(2) * c)).unit(n);
        if (m->type == MATERIAL_MIRROR)
            return mirrored;
        G eta = inside ? G(1) / f.ior : f.ior, s2 = (G(1) - c * c) / (eta * eta);
        if (!(s2 < G(1)))
            return mirrored;
        G ct = root(G(1) - s2), rs = (c - eta * ct) / (c + eta * ct),
          rp = (eta * c - ct) / (eta * c + ct), reflected = (rs * rs + rp * rp) / G(2);
        if (G(u[0]) < reflected)
            return mirrored;
        return (d * (G(1) / eta) + n * (c / eta - ct)).unit(d);
    }

    color path(const uint32_t at[3], double tan_x, double tan_y) const
    {
        double u[4];
        random(at, 0, u);
        G a(tan_x * (2 * (at[0] + u[0]) / with.width - 1)),
            b(tan_y * (1 - 2 * (at[1] + u[1]) / with.height));
        vec o = origin, d = (forward + right * a + up * b).unit(forward);
        color light, beta(L(1), L(1), L(1));
        const struct material *fog = nullptr;
        uint32_t depth = 1;
        for (uint32_t step = 1; depth <= with.max_depth && step < 16 * with.max_depth; step++) {
            random(at, step, u);
            hit h = search(o, d);
            if (fog) {
                G free(-std::log1p(-u[2]) / fog->medium.density);
                if (free < h.t) {
                    o = o + d * free;
                    d = sphere_point(u);
                    beta = beta * surfaces[(size_t)(fog - s->materials)].albedo;
                    depth++;
                    continue;
                }
            }
            if (!h.found)
                return light + beta * sky;
            const struct material *m = &s->materials[h.material];
            const surface &f = surfaces[h.material];
            bool front = h.normal.dot(d) < G(0);
            o = o + d * h.t;
            if (m->interface) {
                fog = front ? m : nullptr;
                continue;
            }
            if (front || m->emission_two_sided)
                light = light + beta * f.emission;
            if (m->type != MATERIAL_DIELECTRIC)
                beta = beta * f.base;
            d = scatter(m, f, h, d, u);
            depth++;
        }
        return light;
    }

  public:
    tracer(const struct scene *scene, const tracing &options)
        : s(scene), with(options), origin(scene->camera.origin), right(scene->camera.right),
          up(scene->camera.up), forward(scene->camera.forward), sky(scene->environment.radiance),
          least(G(options.offset))
    {
        for (size_t i = 0; i < s->triangle_count; i++) {
            double side[2][3];
            const uint32_t *t = s->triangles[i];
            for (int k = 0; k < 3; k++)
                for (int j = 0; j < 2; j++)
                    side[j][k] = (double)s->P[t[j + 1]][k] - s->P[t[0]][k];
            vector3<double> n = vector3<double>(side[0]).cross(vector3<double>(side[1]));
            n = n.unit(n);
            facets.push_back(
                facet{vec(s->P[t[0]]), {vec(side[0]), vec(side[1])}, vec(G(n.x), G(n.y), G(n.z))});
        }
        for (size_t i = 0; i < s->sphere_count; i++)
            balls.push_back(ball{vec(s->spheres[i].center), G(s->spheres[i].radius)});
        for (size_t i = 0; i < s->material_count; i++) {
            const struct material *m = &s->materials[i];
            surfaces.push_back(surface{color(m->base.value), color(m->emission),
                                       color(m->medium.albedo), G(m->ior.value)});
        }
    }

    /* Means of all pixels, width * height * 3, row 0 on top; what is no number counts as 0. */
    void render(double *rgb) const
    {
        double tan_x, tan_y;
        camera_tangents(&s->camera, with.width, with.height, &tan_x, &tan_y);
        for (uint32_t y = 0; y < with.height; y++)
            for (uint32_t x = 0; x < with.width; x++, rgb += 3) {
                F sum[3] = {F(0), F(0), F(0)};
                for (uint32_t i = 0; i < with.spp; i++) {
                    const uint32_t at[3] = {x, y, i};
                    color c = path(at, tan_x, tan_y);
                    const double light[3] = {(double)c.x, (double)c.y, (double)c.z};
                    for (int k = 0; k < 3; k++)
                        if (std::isfinite(light[k]))
                            sum[k] = sum[k] + F(light[k]);
                }
                for (int k = 0; k < 3; k++)
                    rgb[k] = (double)sum[k] / with.spp;
            }
    }
};

#endif
