// tuple.h: what vector2.h, vector4.h, color2.h and color4.h share: operators and functions of a
// struct that work part by part. Expects macros: TUPLE the struct's name; EACH1(f, a), EACH2(f, a,
// b), EACH3(f, a, b, c) apply f to the parts, WITH(op, a, b) joins them by an operator, ALL(s) is s
// in every part.

TUPLE __operator__neg__(TUPLE a) { return EACH1(-, a); }

#define TUPLE_OPERATOR(name, op)                                                                   \
    TUPLE name(TUPLE a, TUPLE b) { return WITH(op, a, b); }                                        \
    TUPLE name(TUPLE a, int b) { return WITH(op, a, ALL(b)); }                                     \
    TUPLE name(TUPLE a, float b) { return WITH(op, a, ALL(b)); }                                   \
    TUPLE name(int a, TUPLE b) { return WITH(op, ALL(a), b); }                                     \
    TUPLE name(float a, TUPLE b) { return WITH(op, ALL(a), b); }
TUPLE_OPERATOR(__operator__add__, +)
TUPLE_OPERATOR(__operator__sub__, -)
TUPLE_OPERATOR(__operator__mul__, *)
TUPLE_OPERATOR(__operator__div__, /)
#undef TUPLE_OPERATOR

int __operator__eq__(TUPLE a, TUPLE b) { return EQUAL(a, b); }
int __operator__neq__(TUPLE a, TUPLE b) { return !(EQUAL(a, b)); }

#define TUPLE_FUNCTION(f)                                                                          \
    TUPLE f(TUPLE a) { return EACH1(f, a); }
TUPLE_FUNCTION(abs)
TUPLE_FUNCTION(ceil)
TUPLE_FUNCTION(floor)
TUPLE_FUNCTION(sqrt)
TUPLE_FUNCTION(exp)
TUPLE_FUNCTION(log)
TUPLE_FUNCTION(log2)
TUPLE_FUNCTION(sign)
TUPLE_FUNCTION(sin)
TUPLE_FUNCTION(cos)
TUPLE_FUNCTION(tan)
TUPLE_FUNCTION(asin)
TUPLE_FUNCTION(acos)
#undef TUPLE_FUNCTION

#define TUPLE_FUNCTION(f)                                                                          \
    TUPLE f(TUPLE a, TUPLE b) { return EACH2(f, a, b); }                                           \
    TUPLE f(TUPLE a, float b) { return EACH2(f, a, ALL(b)); }
TUPLE_FUNCTION(max)
TUPLE_FUNCTION(min)
TUPLE_FUNCTION(fmod)
TUPLE_FUNCTION(mod)
TUPLE_FUNCTION(pow)
TUPLE_FUNCTION(atan2)
#undef TUPLE_FUNCTION

TUPLE mix(TUPLE a, TUPLE b, float x) { return EACH3(mix, a, b, ALL(x)); }
TUPLE smoothstep(TUPLE low, TUPLE high, TUPLE x) { return EACH3(smoothstep, low, high, x); }
TUPLE smoothstep(float low, float high, TUPLE x)
{
    return EACH3(smoothstep, ALL(low), ALL(high), x);
}
TUPLE clamp(TUPLE x, TUPLE low, TUPLE high) { return EACH3(clamp, x, low, high); }
TUPLE clamp(TUPLE x, float low, float high) { return EACH3(clamp, x, ALL(low), ALL(high)); }

#undef TUPLE
#undef EACH1
#undef EACH2
#undef EACH3
#undef WITH
#undef ALL
#undef EQUAL
