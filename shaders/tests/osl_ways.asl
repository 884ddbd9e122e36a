// Ways of OSL's compiler and of its headers that its manual does not tell.
#include <vector2.h>
#include "vector4.h"
#include "color2.h"
#include "color4.h"
struct pair {
    float x, y;
};
int __operator__ne__(pair a, pair b) { return a.x != b.x || a.y != b.y; }
shader test(float param[2] = { 3, 4 })
{
    pair p = { 1, 2 }, q = { 1, 3 };
    printf("%d %d\n", p != q, p != p);                             //> 1 0
    // Arrays of other lengths: as many elements as both have.
    float a[2] = { 1, 2 }, b[4] = { 5, 6, 7, 8 }, c[3] = { 9, 9, 9 };
    b = a;
    printf("%g\n", b);                                             //> 1 2 7 8
    c = b;
    printf("%g\n", c);                                             //> 1 2 7
    b = param;
    printf("%g\n", b);                                             //> 3 4 7 8
    pair r[2] = { p, q }, s[1];
    s = r;
    printf("%g %g\n", s[0].x, s[0].y);                             //> 1 2
    float d[3], e[2] = { u, v };
    d = e;
    printf("%d %g\n", Dx(d[0]) == Dx(u), d[2]);                    //> 1 0
    printf("%d %d\n", -2147483648, 2147483648);                    //> -2147483648 -2147483648
//! warning 28:36: 2147483648 does not fit
    string name;
    printf("%d %s\n", getattribute("shader:shadername", name), name);  //> 1 test
    vector2 m = vector2(1, -2), n = m * 2.0 + vector2(1, 1) / 2;
    printf("%g %g %d %d\n", n.x, n.y, m == n, m != n);             //> 2.5 -3.5 0 1
    m = -abs(m);
    printf("%g %g %g %g\n", m.x, m.y, dot(m, n), length(vector2(3, 4)));   //> -1 -2 4.5 5
    color4 t = mix(color4(color(1, 0, 0), 1), color4(color(0, 1, 0), 0.5), 0.25);
    printf("%g %g\n", t.rgb, t.a);                                 //> 0.75 0.25 0 0.875
    vector4 w = transform(matrix(1, 2, 3, 4, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 2), vector4(1, 1, 1, 1));
    printf("%g %g %g %g %g\n", w.x, w.y, w.z, w.w, vec4ToVec3(w));  //> 10 1 1 2 5 0.5 0.5
    color2 x = clamp(2 * max(color2(0.25, 0.875), 0.5), 0.0, 1.5);
    printf("%g %g %g\n", x.r, x.a, smoothstep(0, 2, x).r);         //> 1 1.5 0.5
}
