// vector4.h: a vector of four floats.
// The names are those of the header that comes with OSL.
#pragma once
#define VECTOR4_H

struct vector4 {
    float x, y, z, w;
};

#define TUPLE                vector4
#define EACH1(f, A1)         vector4(f((A1).x), f((A1).y), f((A1).z), f((A1).w))
#define EACH2(f, A1, A2)     vector4(f((A1).x, (A2).x), f((A1).y, (A2).y), f((A1).z, (A2).z), f((A1).w, (A2).w))
#define EACH3(f, A1, A2, A3) vector4(f((A1).x, (A2).x, (A3).x), f((A1).y, (A2).y, (A3).y), f((A1).z, (A2).z, (A3).z), f((A1).w, (A2).w, (A3).w))
#define WITH(op, A1, A2)     vector4((A1).x op (A2).x, (A1).y op (A2).y, (A1).z op (A2).z, (A1).w op (A2).w)
#define ALL(s)               vector4(s, s, s, s)
#define EQUAL(A1, A2)        ((A1).x == (A2).x && (A1).y == (A2).y && (A1).z == (A2).z && (A1).w == (A2).w)
#include "tuple.h"

float dot(vector4 a, vector4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
float length(vector4 a) { return sqrt(dot(a, a)); }
vector4 normalize(vector4 a) { return a / length(a); }
vector vec4ToVec3(vector4 v) { return vector(v.x, v.y, v.z) / v.w; }

// M times the column p.
vector4 transform(matrix M, vector4 p)
{
    return vector4(M[0][0] * p.x + M[0][1] * p.y + M[0][2] * p.z + M[0][3] * p.w,
                   M[1][0] * p.x + M[1][1] * p.y + M[1][2] * p.z + M[1][3] * p.w,
                   M[2][0] * p.x + M[2][1] * p.y + M[2][2] * p.z + M[2][3] * p.w,
                   M[3][0] * p.x + M[3][1] * p.y + M[3][2] * p.z + M[3][3] * p.w);
}
vector4 transform(string from, string to, vector4 p) { return transform(matrix(from, to), p); }
