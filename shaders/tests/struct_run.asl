// Structs, arrays, initialiser lists, operator overloading, named components.
struct vec4 {
    float x, y, z, w;
};
struct ray {
    point pos;
    vector dir;
    float t[2];
};
vec4 __operator__add__(vec4 a, vec4 b) { return vec4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }
vec4 __operator__mul__(vec4 a, float s) { return vec4(a.x * s, a.y * s, a.z * s, a.w * s); }
vec4 __operator__neg__(vec4 a) { return vec4(-a.x, -a.y, -a.z, -a.w); }
int __operator__eq__(vec4 a, vec4 b) { return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w; }
void show(vec4 a) { printf("%g %g %g %g\n", a.x, a.y, a.z, a.w); }
point at(ray r, int i) { return r.pos + r.dir * r.t[i]; }
shader test()
{
    vec4 a = vec4(1, 2, 3, 4), b = { 10, 20, 30, 40 };
    show(a + b);                                            //> 11 22 33 44
    show(-a * 2.0);                                         //> -2 -4 -6 -8
    a += b;
    show(a);                                                //> 11 22 33 44
    printf("%d %d\n", a == b, a == a);                      //> 0 1
    show({ 5, 6, 7, 8 });                                   //> 5 6 7 8
    ray r = { point(1, 0, 0), vector(0, 2, 0), { 1, 3 } };
    printf("%g | %g\n", at(r, 0), at(r, 1));                //> 1 2 0 | 1 6 0
    ray rs[2];
    rs[1] = r;
    rs[1].pos.y = 9;
    rs[0].t[1] = 4;
    printf("%g %g %g\n", rs[1].pos, rs[0].t, r.pos.y);      //> 1 9 0 0 4 0
    color c = { 0.25, 0.5, 1 };
    c.g = 7;
    c[2] += 1;
    printf("%g %g %g\n", c, c.r, c.b);                      //> 0.25 7 2 0.25 2
    float m[3] = { 1, 2 }, n[3];
    n = m;
    n[0] = 9;
    printf("%g %g\n", m, n);                                //> 1 2 0 9 2 0
    string s[2] = { "a", "b" };
    printf("%s %s\n", s, s[1]);                             //> a b b
    int i = 5;
    printf("%g\n", n[i]);                                   //> 0
    printf("%g\n", c[-1 - i]);                              //> 0.25
}
//! says error Index [5] out of range n[0..2]
//! says error Index [-6] out of range c[0..2]
