// Functions: output parameters, overloads, nesting, early return, results of different types.
float f(float x) { return x + 1; }
color f(color x) { return x * 2; }
int f(int x) { return x * 10; }
void two(float a, output float x, output float y)
{
    x = a;
    y = a * a;
}
int first(int a[], int limit)
{
    for (int i = 0; i < arraylength(a); i++)
        if (a[i] > limit)
            return i;
    return -1;
}
void fill(output float a[])
{
    for (int i = 0; i < arraylength(a); i++)
        a[i] = i * 0.5;
}
float g() { return 1; }
color g() { return color(3, 4, 5); }
shader test(output color c = 0)
{
    printf("%d %g %g\n", f(1), f(1.0), f(color(1)));        //> 10 2 2 2 2
    float p, q, t[2];
    two(3, p, q);
    printf("%g %g\n", p, q);                                //> 3 9
    two(4, t[1], t[0]);
    printf("%g\n", t);                                      //> 16 4
    two(5, c[2], c[0]);
    printf("%g\n", c);                                      //> 25 0 5
    int v[4] = { 1, 5, 9, 13 }; //! warning 34:9: 'v' hides the global variable
    printf("%d %d\n", first(v, 4), first(v, 20));           //> 1 -1
    float w[3];
    fill(w);
    printf("%g\n", w);                                      //> 0 0.5 1
    int outer = 3;
    int inner(int x)
    {
        int twice(int y) { return y * 2; }
        return twice(x) + outer;
    }
    printf("%d\n", inner(5));                               //> 13
    color x = g();
    float y = g();
    printf("%g %g\n", x, y);                                //> 3 4 5 1
    printf("%g\n", f(f(f(1.5))));                           //> 4.5
    float swap(output float a, output float b)
    {
        float s = a;
        a = b;
        b = s;
        return a - b;
    }
    p = 1;
    q = 2;
    printf("%g %g %g\n", swap(p, q), p, q);                 //> 1 2 1
}
