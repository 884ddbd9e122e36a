/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors of three doubles: points, directions, and RGB in the order x, y, z. */
#ifndef REFERENCE_VEC_H
#define REFERENCE_VEC_H

#include <math.h>
#include <stdbool.h>

#define PI 3.14159265358979323846

struct vec3 {
    double x, y, z;
};

static inline struct vec3 vec3(double x, double y, double z) { return (struct vec3){x, y, z}; }

static inline struct vec3 gray(double v) { return vec3(v, v, v); }

static inline struct vec3 from_float(const float v[3])
{
    return vec3((double)v[0], (double)v[1], (double)v[2]);
}

static inline struct vec3 from_double(const double v[3]) { return vec3(v[0], v[1], v[2]); }

static inline void to_double(struct vec3 v, double out[3])
{
    out[0] = v.x, out[1] = v.y, out[2] = v.z;
}

static inline struct vec3 add(struct vec3 a, struct vec3 b)
{
    return vec3(a.x + b.x, a.y + b.y, a.z + b.z);
}

static inline struct vec3 sub(struct vec3 a, struct vec3 b)
{
    return vec3(a.x - b.x, a.y - b.y, a.z - b.z);
}

static inline struct vec3 mul(struct vec3 a, struct vec3 b) /* by component */
{
    return vec3(a.x * b.x, a.y * b.y, a.z * b.z);
}

static inline struct vec3 scale(double s, struct vec3 a) { return vec3(s * a.x, s * a.y, s * a.z); }

static inline struct vec3 negate(struct vec3 a) { return vec3(-a.x, -a.y, -a.z); }

static inline double dot(struct vec3 a, struct vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

static inline struct vec3 cross(struct vec3 a, struct vec3 b)
{
    return vec3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

static inline double length(struct vec3 a) { return sqrt(dot(a, a)); }

static inline struct vec3 normalize(struct vec3 a) { return scale(1.0 / length(a), a); }

static inline struct vec3 lerp(struct vec3 a, struct vec3 b, double t)
{
    return add(scale(1 - t, a), scale(t, b));
}

static inline bool is_zero(struct vec3 a) { return a.x == 0 && a.y == 0 && a.z == 0; }

static inline double max3(struct vec3 a) { return fmax(a.x, fmax(a.y, a.z)); }

static inline double max_abs(struct vec3 a) { return fmax(fabs(a.x), fmax(fabs(a.y), fabs(a.z))); }

static inline double clamp(double v, double low, double high) { return fmin(fmax(v, low), high); }

/* Y of protocol section 1. */
static inline double luminance(struct vec3 c) { return 0.2126 * c.x + 0.7152 * c.y + 0.0722 * c.z; }

/* Y, or max3/3 where that is zero and a channel is not (protocol section 5). */
static inline double light_luminance(struct vec3 c)
{
    double y = luminance(c);
    return y > 0 || is_zero(c) ? y : max3(c) / 3;
}

/* An orthonormal frame; z of local coordinates is n. */
struct frame {
    struct vec3 s, t, n;
};

/* Protocol section 6: Duff et al., "Building an Orthonormal Basis, Revisited", JCGT 6(1), 2017. */
static inline struct frame frame_about(struct vec3 n)
{
    double sg = copysign(1.0, n.z), a = -1.0 / (sg + n.z), b = n.x * n.y * a;
    return (struct frame){vec3(1 + sg * n.x * n.x * a, sg * b, -sg * n.x),
                          vec3(b, sg + n.y * n.y * a, -n.y), n};
}

static inline struct vec3 to_local(struct frame f, struct vec3 w)
{
    return vec3(dot(w, f.s), dot(w, f.t), dot(w, f.n));
}

static inline struct vec3 to_world(struct frame f, struct vec3 w)
{
    return add(add(scale(w.x, f.s), scale(w.y, f.t)), scale(w.z, f.n));
}

#endif
