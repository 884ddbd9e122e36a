// The preprocessor.
#define ONE 1
#define ADD(a, b) ((a) + (b))
#define STR(x) #x
#define XSTR(x) STR(x)
#define CAT(a, b) a##b
#define EMPTY
#define SHOW(fmt, ...) printf(fmt "\n", __VA_ARGS__)
#define SELF SELF
#define LONG ADD(ONE, \
                 2)
#define F(x) x G
#define G(x) x * F
#define CALL(f, x) f(x)
#if defined(ONE) && (ONE + 1 == 2) && !defined(TWO)
#  define A 10
#elif 1
#  define A 20
#else
#  define A 30
#endif
#ifdef NOTHING
#error not here
#  if 1
"unclosed
#  endif
#elif ONE > 0 ? 1 : (1 / 0)
#  define B 7
#endif
#undef ONE
#ifndef ONE
#define ONE 11
#endif
#include "stdosl.h"
#include "include/twice.h"
#include "include/twice.h"
int SELF(int x) { return x; }
shader test()
{
    SHOW("%d %d %d", ADD(1, 2), LONG, A);                   //> 3 13 10
    SHOW("%s %s %s", STR(a  +  "b\n"), XSTR(ADD(1, 2)), STR());          //> a + "b\n" ((1) + (2)) 
    SHOW("%d %d", CAT(1, 2), CAT(O, NE));                   //> 12 11
    int CAT(x, EMPTY) = B;
    SHOW("%d %d", xEMPTY EMPTY, SELF(4));                   //> 7 4
    SHOW("%d %d", CALL(twice, 21), __LINE__);               //> 42 45
}
