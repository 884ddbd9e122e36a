// color2.h: one channel and alpha.
// The names are those of the header that comes with OSL.
#pragma once
#define COLOR2_H

struct color2 {
    float r, a;
};

#define TUPLE                color2
#define EACH1(f, A1)         color2(f((A1).r), f((A1).a))
#define EACH2(f, A1, A2)     color2(f((A1).r, (A2).r), f((A1).a, (A2).a))
#define EACH3(f, A1, A2, A3) color2(f((A1).r, (A2).r, (A3).r), f((A1).a, (A2).a, (A3).a))
#define WITH(op, A1, A2)     color2((A1).r op (A2).r, (A1).a op (A2).a)
#define ALL(s)               color2(s, s)
#define EQUAL(A1, A2)        ((A1).r == (A2).r && (A1).a == (A2).a)
#include "tuple.h"
