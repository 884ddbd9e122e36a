// vector2.h: a vector of two floats.
// The names are those of the header that comes with OSL.
#pragma once
#define VECTOR2_H

struct vector2 {
    float x, y;
};

#define TUPLE                vector2
#define EACH1(f, A1)         vector2(f((A1).x), f((A1).y))
#define EACH2(f, A1, A2)     vector2(f((A1).x, (A2).x), f((A1).y, (A2).y))
#define EACH3(f, A1, A2, A3) vector2(f((A1).x, (A2).x, (A3).x), f((A1).y, (A2).y, (A3).y))
#define WITH(op, A1, A2)     vector2((A1).x op (A2).x, (A1).y op (A2).y)
#define ALL(s)               vector2(s, s)
#define EQUAL(A1, A2)        ((A1).x == (A2).x && (A1).y == (A2).y)
#include "tuple.h"

float dot(vector2 a, vector2 b) { return a.x * b.x + a.y * b.y; }
float length(vector2 a) { return sqrt(dot(a, a)); }
float distance(vector2 a, vector2 b) { return length(a - b); }
vector2 normalize(vector2 a) { return a / length(a); }
