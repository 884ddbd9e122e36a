// Builtins at their special points (docs/reference/asl.md).
shader test(float zero = 0, float one = 1)
{
    printf("%g %g\n", sqrt(-1.0), inversesqrt(zero));       //> 0 0
    printf("%g %g\n", log(zero), log(-one));                //> -87.3365 -87.3365
    printf("%g %g\n", asin(2.0) * 2, acos(-5.0));           //> 3.14159 3.14159
    printf("%g %g %g\n", pow(-2.0, 0.5), pow(zero, -one), pow(-2.0, 3));    //> 0 0 -8
    printf("%g %g\n", pow(10.0, 60), pow(zero, zero));      //> 3.40282e+38 1
    printf("%g %g\n", fmod(-0.25, 1), mod(-0.25, 1));       //> -0.25 0.75
    printf("%d %d %d\n", mod(-7, 3), mod(7, -3), mod(7, 0));    //> 2 -2 7
    printf("%d %d %d\n", abs(-3), min(3, 2), clamp(7, 1, 5));   //> 3 2 5
    printf("%g %g %g\n", min(2.5, 1), max(color(1, 5, 2), 3), clamp(0.5, 0, 1));    //> 1 3 5 3 0.5
    printf("%g %g %g %g\n", floor(-1.5), ceil(-1.5), round(-1.5), trunc(-1.5));     //> -2 -1 -2 -1
    printf("%g %g %g\n", sign(-3.0), sign(zero), sign(color(2, -1, 0)));            //> -1 0 1 -1 0
    printf("%g %g\n", step(1, 0.5), step(1, 1));            //> 0 1
    printf("%g %g %g %g\n", smoothstep(0, 1, 0.5), smoothstep(0, 1, -1), smoothstep(0, 1, 2), smoothstep(1, 1, 1));  //> 0.5 0 1 1
    printf("%g %g %g\n", linearstep(0, 4, 1), linearstep(2, 2, 2), linearstep(2, 2, 1));    //> 0.25 1 0
    printf("%g %g\n", smooth_linearstep(0, 1, 0.5, 0.1), smooth_linearstep(0, 1, 0, 0.1));  //> 0.5 0.025
    printf("%g %g\n", mix(1, 3, 0.25), mix(color(0), color(1, 2, 4), 0.5));         //> 1.5 0.5 1 2
    printf("%g %g\n", select(1, 2, 0), select(color(1), color(2), color(0, 1, 0))); //> 1 1 2 1
    printf("%g %g %g\n", dot(vector(1, 2, 3), vector(4, 5, 6)), cross(vector(1, 0, 0), vector(0, 1, 0)), length(vector(3, 4, 0)));   //> 32 0 0 1 5
    printf("%g %g\n", normalize(vector(0, 3, 4)), normalize(vector(0)));            //> 0 0.6 0.8 0 0 0
    printf("%g %g\n", distance(point(0), point(1, 2, 2)), distance(point(0), point(10, 0, 0), point(3, 4, 0)));     //> 3 4
    printf("%g\n", reflect(vector(1, -1, 0), vector(0, 1, 0)));                     //> 1 1 0
    printf("%g %g\n", refract(vector(0, -1, 0), vector(0, 1, 0), 1.5), refract(normalize(vector(1, -0.1, 0)), vector(0, 1, 0), 1.5));   //> 0 -1 0 0 0 0
    printf("%g %g\n", faceforward(vector(0, 0, 1), vector(0, 0, 1)), faceforward(vector(0, 0, 1), vector(0, 0, -1)));   //> -0 -0 -1 0 0 1
    float kr, kt;
    vector r, t;
    fresnel(vector(0, 0, -1), N, 1 / 1.5, kr, kt, r, t);
    printf("%.4f %.4f %g %g\n", kr, kt * 1.5 * 1.5, r, t);  //> 0.0400 0.9600 0 0 1 0 0 -1
    // At Brewster's angle, atan 1.5, half of ((n^2 - 1) / (n^2 + 1))^2 comes back; beyond the critical angle all.
    fresnel(vector(-sin(atan(1.5)), 0, -cos(atan(1.5))), N, 1 / 1.5, kr, kt, r, t);
    printf("%.5f %d %.5f\n", kr, abs(dot(r, t)) < 1e-6, length(t));   //> 0.07396 1 1.00000
    fresnel(vector(sqrt(0.99), 0, 0.1), N, 1.5, kr, kt, r, t);
    printf("%g %g %g %g\n", kr, kt, t, r[2]);  //> 1 0 0 0 0 -0.1
    fresnel(normalize(vector(one, 0, -1)), N, 1 / 1.5, kr, kt);
    printf("%.5f %.5f\n", kr, kt * 1.5 * 1.5); //> 0.05024 0.94976
    printf("%.5f\n", rotate(point(1, 0, 0), M_PI / 2, point(0), point(0, 0, 1)));   //> -0.00000 1.00000 0.00000
    printf("%g %g\n", degrees(M_PI), radians(180.0) / M_PI);    //> 180 1
    printf("%g %g %g\n", hypot(3, 4), cbrt(-27.0), exp2(10.0)); //> 5 -3 1024
    printf("%g %g %g\n", log(8.0, 2), log2(8.0), log10(1000.0));    //> 3 3 3
    printf("%g %g\n", logb(10.0), erf(zero));               //> 3 0
    printf("%d %d %d\n", isnan(sqrt(-1.0)), isinf(one / zero), isfinite(one));      //> 0 0 1
    printf("%g %g\n", transformu("cm", "m", 250), transformu("in", "cm", 1.0));     //> 2.5 2.54
}
