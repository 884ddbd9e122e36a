// The change of splineinverse: that of the value over the slope of the spline; 0 at the ends.
//! grid 5 1
float near(float a, float b) { return abs(a - b) < 2e-6 * abs(b) ? 1 : 0; }
shader spline_inverse()
{
    // knots 0, 0.8, 1 at x = 0, 1/2, 1: slopes 1.6, then 0.4
    float k[5] = { 0, 0, 0.8, 1, 1 };
    float x = splineinverse("linear", u, k);
    printf("%g: %g %g %g\n", u, x, Dx(x), Dy(x));
    // y = x*x through Bezier's points 0, 0, 1/3, 1: x = sqrt(y), x' = y'/(2 sqrt(y))
    float y = u * u + v;
    float z = splineinverse("bezier", y - v, 0.0, 0.0, 1.0/3, 1.0);
    if (u > 0 && u < 1)
        printf("%g %g %g\n", near(z, u), near(Dx(z), 2 * u * Dx(u) / (2 * u)), Dy(z));
    float f = splineinverse("constant", 0.5, k);
    printf("%g %g\n", Dx(f), Dx(splineinverse("linear", 0.4, k)));
}
//> 0: 0 0 0
//> 0 0
//> 0.25: 0.15625 0.15625 0
//> 1 1 0
//> 0 0
//> 0.5: 0.3125 0.15625 0
//> 1 1 0
//> 0 0
//> 0.75: 0.46875 0.15625 0
//> 1 1 0
//> 0 0
//> 1: 1 0 0
//> 0 0
