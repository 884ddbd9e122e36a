// color4.h: a colour and alpha.
// The names are those of the header that comes with OSL.
#pragma once
#define COLOR4_H

struct color4 {
    color rgb;
    float a;
};

#define TUPLE                color4
#define EACH1(f, A1)         color4(f((A1).rgb), f((A1).a))
#define EACH2(f, A1, A2)     color4(f((A1).rgb, (A2).rgb), f((A1).a, (A2).a))
#define EACH3(f, A1, A2, A3) color4(f((A1).rgb, (A2).rgb, (A3).rgb), f((A1).a, (A2).a, (A3).a))
#define WITH(op, A1, A2)     color4((A1).rgb op (A2).rgb, (A1).a op (A2).a)
#define ALL(s)               color4(color(s), s)
#define EQUAL(A1, A2)        ((A1).rgb == (A2).rgb && (A1).a == (A2).a)
#include "tuple.h"
