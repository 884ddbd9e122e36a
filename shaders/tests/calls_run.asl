// Which function a list of values means, functions defined again, prototypes, lists with a space.
struct mask { float a; color rgb; };
struct tint { color rgb; float a; };
struct quad { float a, b, c, d; };
struct four { float a, b, c, d; };
struct named { string s; int n; };
void which(mask m) { printf("mask %g %g\n", m.a, m.rgb); }
void which(tint t) { printf("tint %g %g\n", t.rgb, t.a); }
void which(named n) { printf("named %s %d\n", n.s, n.n); }
float by_result(quad q) { printf("quad\n"); return q.d; }
int by_result(four f) { printf("four\n"); return 4; }
int twice(int a) { return 1; }
int first(int a) { return twice(a); }
int twice(int a) { return 2; }
//! warning 14:5: is defined twice
//! note 12:5: it was defined here
int later(int a);
int later(int a) { return a + 1; }
int later(int a);
point abs(point p) { printf("mine\n"); return abs(p); } // the builtin: a function does not see itself
int narrow(float x) { return 7; }
int narrow(int x) { return narrow(x); }
point common4() { return { "common", 4, 5, 6 }; }
#pragma warning "said by the source"
//! warning 24:2: said by the source
struct pair { float a, b; };
pair both(float a) { pair p; p.a = a; p.b = 2 * a; return p; }
color wrapped(output color x, int size) { x = mod(x, size); return x * 2; }
float spent(output pair p, output float f) { p.a += 1; f += p.a; return f; }
shader test()
{
    which({ 1, { 2, 3, 4 } });                              //> mask 1 2 3 4
    which({ { 6, 7, 8 }, 5 });                              //> tint 6 7 8 5
    string s = "x";
    which({ s, 2 });                                        //> named x 2
    float f = by_result({ 1, 2, 3, 4 });                    //> quad
    int i = by_result({ 1, 2, 3, 4 });                      //> four
    printf("%d %d %d\n", first(0), twice(0), later(1));     //> 1 2 2
    int later(int a);
    int later(int a) { return 64; }
    printf("%d\n", later(1));                               //> 64
    printf("%g\n", abs(point(-1, 2, -3)));
    //> mine
    //> 1 2 3
    printf("%d\n", narrow(1));                              //> 7
    color c = { "hsv", 0.5, 1, 0.5 };
    matrix m = { "common", 2 };
    printf("%g|%g|%g\n", common4(), c, m[3][3]);            //> 4 5 6|0 0.5 0.5|2
    color n = 7, g = 1; // a value is given to an output: what is written there is lost
    printf("%g\n", wrapped(n + g, 5));
//! warning 50:30: what the function writes to this output is lost
    //> 6 6 6
    printf("%g %g\n", spent(both(g.r), n.r), n);
//! warning 53:29: what the function writes to this output is lost
    //> 9 9 7 7
    for (int k = 0; k < 2; k++)
        printf("%g\n", wrapped(-n, 4 + k));
//! warning 57:32: what the function writes to this output is lost
    //> 6 2 2
    //> 2 6 6
}
