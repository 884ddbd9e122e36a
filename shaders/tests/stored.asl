// What OSL takes with a warning: floats stored in ints, parameters of functions that these change; and -closure.
struct pair { float x, y; };
float twice(float x)
{
    x *= 2; //! warning 5:5: this changes parameter 'x' of the function
    return x;
}
void fill(output float x) { x = 7; }
float through(float x)
{
    fill(x); //! warning 11:10: this changes parameter 'x' of the function
    return x + 1;
}
float nested(float x) { return twice(x) + 10 * x; } //! warning 14:38: this changes parameter 'x' of the function
color scaled(vector v)
{
    v[1] = 8; //! warning 17:6: this changes parameter 'v' of the function
    return v;
}
float field(pair p)
{
    p.y += 1; //! warning 22:7: this changes parameter 'p' of the function
    return p.y;
}
void second(float a[])
{
    a[1] = 5; //! warning 27:6: this changes parameter 'a' of the function
}
closure color half(closure color c)
{
    c *= 0.5; //! warning 31:5: this changes parameter 'c' of the function
    return c;
}
string longer(string s)
{
    s = concat(s, "!"); //! warning 36:5: this changes parameter 's' of the function
    return s;
}
void grow(float x)
{
    x *= 3; //! warning 41:5: this changes parameter 'x' of the function
}
shader test(float given = 3, int whole = 2.75, output int out = -1.5)
//! warning 43:42: an int drops the fraction
//! warning 43:65: an int drops the fraction
{
    printf("%d %d\n", whole, out); //> 2 -1
    int i = -2.75, a[2];            //! warning 48:13: an int drops the fraction
    a[1] = 1e10;                    //! warning 49:12: an int drops the fraction
    printf("%d %d\n", i, a[1]);    //> -2 2147483647
    i = floor(2.5) + 0.9;           //! warning 51:20: an int drops the fraction
    printf("%d\n", i);             //> 2
    i += 0.75;                      //! warning 53:7: an int drops the fraction
    i *= 2.5;                       //! warning 54:7: an int drops the fraction
    printf("%d\n", i);             //> 5
    for (int k = ceil(0.5); k < 3; k++) //! warning 56:18: an int drops the fraction
        i = k;
    printf("%d\n", i);             //> 2
    // A variable and its field change with the parameter; elements, converted values and others do not.
    float f = 3, b[3] = { 1, 2, 3 };
    float x = twice(f);
    printf("%g %g\n", x, f);       //> 6 6
    x = twice(b[2]);
    printf("%g %g\n", x, b[2]);    //> 6 3
    x = twice(i);
    printf("%g %d\n", x, i);       //> 4 2
    x = twice(f + 1) + twice(4) + twice(-given);
    printf("%g %g\n", x, f);       //> 16 6
    x = through(f);
    printf("%g %g\n", x, f);       //> 8 7
    x = nested(f);
    printf("%g %g\n", x, f);       //> 154 14
    color c = 3;
    c += scaled(c);
    printf("%g\n", c);             //> 6 11 6
    pair p = { 1, 2 };
    x = field(p) + twice(p.x);
    printf("%g %g %g\n", x, p.x, p.y); //> 5 2 3
    second(b);
    printf("%g\n", b);             //> 1 5 3
    float g = u;
    float d = Dx(twice(g)), e = Dx(g);
    printf("%d %d\n", d == 2 * Dx(u), e == d); //> 1 1
    float h = u;
    grow(h);
    printf("%d\n", Dx(h) == 3 * Dx(u)); //> 1
    string s = "a";
    printf("%s %s\n", longer(s), s);   //> a! a!
    closure color q = emission();
    printf("%s\n", half(q));       //> (0.5, 0.5, 0.5) * emission ()
    printf("%s\n", -q);            //> (-0.5, -0.5, -0.5) * emission ()
    printf("%s\n", -(q + q) * color(1, 2, 3)); //> (-0.5, -1, -1.5) * emission ()
    //> 	+ (-0.5, -1, -1.5) * emission ()
}
