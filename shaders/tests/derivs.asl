//! grid 3 3
// Derivatives: every line is computed by hand for one step Dx(u) = Dy(v) = 1/2; printed at the last point, u = v = 1.
float half_of(float x) { return x / 2; }
void split_in(float x, output float a, output float b) { a = x * x; b = sin(x); }
shader test()
{
    if (u < 1 || v < 1)
        exit();
    float x = 3 * u + v;
    printf("%g %g %g\n", Dx(x), Dy(x), Dz(x));              //> 1.5 0.5 0
    printf("%g %g\n", Dx(u * v), Dy(u * v * v));            //> 0.5 1
    printf("%g\n", filterwidth(x));                         //> 1.58114
    float ends[5] = { 0, 0, 1, 2, 2 };  // x -> 2 x by "linear", at its ends too; beyond them it stands still
    printf("%g %g %g\n", Dx(spline("linear", u, ends)), Dx(spline("linear", u - 1, ends)), Dx(spline("linear", u + 1, ends)));   //> 1 1 0
    printf("%g %g %g\n", Dx(pow(u - 1, 1)), Dx(pow(u - 1, 2)), Dx(pow(u - 1, 0.5)));    //> 0.5 0 0
    printf("%g %g\n", Dx(max(u, v)), Dx(min(u, v)));        //> 0.5 0.5
    printf("%g\n", Dx(P));                                  //> 0.5 0 0
    printf("%g %g\n", area(P), area(P * 2));                //> 0.25 1
    printf("%g\n", calculatenormal(P));                     //> 0 0 0.25
    printf("%g %g\n", Dx(sqrt(u)), Dx(sqrt(u - 1)));        //> 0.25 0
    int same = 0;
    for (int i = 1; i <= 100; i++) {
        float w = u * i * 0.37;
        same += Dx(sqrt(w)) == Dx(w) / (2 * sqrt(w));
    }
    printf("%d\n", same);                                   //> 100
    printf("%g %g\n", Dx(1 / u), Dx(1 / (u - 1)));          //> -0.5 0
    printf("%g\n", Dx(pow(u + 1, 3)));                      //> 6
    printf("%g %g\n", Dx(exp(u - 1)), Dx(log(u)));          //> 0.5 0.5
    printf("%g %g\n", Dx(half_of(u)), Dx(floor(u)));        //> 0.25 0
    float a, b;
    split_in(u * 2, a, b);
    printf("%g %.5f\n", Dx(a), Dx(b) / cos(2));             //> 4 1.00000
    float s, c;
    sincos(u, s, c);
    printf("%.5f %.5f\n", Dx(s) / cos(1), Dx(c) / sin(1));  //> 0.50000 -0.50000
    float arr[2];
    arr[1] = u * 4;
    color k = color(u, v, 0);
    k.b = u + v;
    printf("%g %g %g\n", Dx(arr[1]), Dx(k), Dy(k[2]));      //> 2 0.5 0 0.5 0.5
    float m = u > 0.5 ? u * 10 : 0;
    m += v;
    printf("%g %g\n", Dx(m), Dy(m));                        //> 5 0.5
    printf("%g %g\n", Dx(mix(u, 5, 0.5)), Dx(clamp(u * 3, 0, 2)));      //> 0.25 0
    printf("%g %g\n", Dx(length(vector(3 * u, 4 * u, 0))), Dx(smoothstep(0, 2, u)));    //> 2.5 0.375
    printf("%g %g\n", aastep(0.9, u), aastep(0.9, u, 0, 0.1));   //> 0.7 1
    printf("%g\n", Dx(abs(u - 2)));                         //> -0.5
    printf("%g\n", Dx(dot(vector(u, 2, 3), vector(4, 5, u))));   //> 3.5
    // 1.055 / 2.4 x^(1 / 2.4 - 1), or 12.92 below 0.0031308; and back
    printf("%.5f\n", Dx(transformc("rgb", "sRGB", u * color(0.5, 0.002, 0.05))));   //> 0.16466 0.01292 0.06308
    printf("%.5f\n", Dx(transformc("sRGB", "rgb", u * color(0.5, 0.03, 0.9))));     //> 0.23140 0.00116 0.89048
    displace(u);
    printf("%g\n", P);                                      //> 1 1 2
}
